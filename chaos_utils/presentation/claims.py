"""The tables of `claims.check_claims` and `count_verdicts`, as they are read."""

import math

import pandas as pd

from chaos_utils.report.columns import MISSING, number

PAPERS = {"nie2020": "Nie et al. 2020", "baan2022": "Baan et al. 2022"}
_MARKS = {
    "holds": "✓ holds",
    "holds within noise": "≈ holds within noise",
    "does not hold": "✗ does not hold",
    "cannot be checked with released data": "? cannot be checked with released data",
}


def show_claims(table: pd.DataFrame) -> pd.DataFrame:
    """Set the table of claims: where, what, the number that decides it, and the verdict."""
    return pd.DataFrame(
        {
            "id": row["id"],
            "place": f"{PAPERS.get(row['paper'], row['paper'])}, {row['place']}",
            "claim": row["claim"],
            "verdict": _MARKS[row["verdict"]],
            "value": _with_interval(row["value"], row["low"], row["high"]),
            "what the value is": row["evidence"],
        }
        for row in table.to_dict("records")
    )


def show_counts(counts: pd.DataFrame) -> str:
    """Write the counts of verdicts over all papers as part of a sentence."""
    totals = counts.groupby("verdict", sort=False)["n"].sum()
    plural = {"holds": "hold", "holds within noise": "hold within noise",
              "does not hold": "do not hold"}  # fmt: skip
    parts = [f"{n} {plural.get(str(v), str(v)) if n != 1 else v}" for v, n in totals.items()]
    return ", ".join(parts[:-1]) + f" and {parts[-1]}"


def _with_interval(value: float, low: float, high: float) -> str:
    if math.isnan(value):
        return MISSING
    digits = _digits(value)
    if math.isnan(low):
        return number(value, digits)
    return f"{number(value, digits)} [{number(low, digits)}, {number(high, digits)}]"


def _digits(value: float) -> int:
    """Counts are whole; percentages need two digits, shares and distances four."""
    if abs(value) >= 1 and value == round(value):
        return 0
    return 2 if abs(value) >= 5 else 4

"""The tables of `evaluation.conventions` and `conversions` of one dataset, as they are read."""

import math

import pandas as pd

from chaos_utils.report.columns import MISSING, number


def value_of(value: float, digits: int = 4) -> str:
    """Write a value that may be infinite."""
    return "∞" if math.isinf(value) else number(value, digits)


def show_conventions(table: pd.DataFrame) -> pd.DataFrame:
    """Set the table of conventions: one row per convention, one column per system."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for row in table.to_dict("records"):
        name = row["convention"] + (" ◆" if row["is_reference"] else "")
        cells = rows.setdefault(
            (row["quantity"], name),
            {
                "quantity": row["quantity"],
                "convention": name,
                "used by": row["used_by"] or MISSING,
            },
        )
        cells[row["system"]] = value_of(row["value"])
    shown = pd.DataFrame(list(rows.values()))
    return shown[[*(c for c in shown.columns if c != "used by"), "used by"]]


def show_conversions(table: pd.DataFrame) -> pd.DataFrame:
    """Set the table of conversions: recipe, whether it is exact, and its error here."""
    return pd.DataFrame(
        {
            "quantity": row["quantity"],
            "from": row["from_convention"],
            "to": row["to_convention"],
            "recipe": row["recipe"],
            "applies to": f"each {row['applies_to']}"
            if row["applies_to"] != "mean"
            else "the mean",
            "exact": "yes" if row["exact"] else "no",
            "largest error here": _error(row["largest_error"]),
        }
        for row in table.to_dict("records")
    )


def _error(value: float) -> str:
    return "rounding alone" if value < 1e-9 else number(value, 4)

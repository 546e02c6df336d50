"""What the chapter on the papers' claims says of their verdicts.

`counts` are those of `claims.count_verdicts`, `checked` the rows of `claims.check_claims`.
"""

import pandas as pd

from chaos_utils.analyses.claims import FAILS, HOLDS, NOISE, OPEN
from chaos_utils.analyses.names import listed

_OF_SEVERAL = {HOLDS: "hold", NOISE: "hold within noise", FAILS: "do not hold", OPEN: OPEN}


def say_counts(counts: pd.DataFrame) -> str:
    """Write the counts of verdicts over all papers as part of a sentence."""
    totals = counts.groupby("verdict", sort=False)["n"].sum()
    return listed(f"{n} {_OF_SEVERAL[str(v)] if n != 1 else v}" for v, n in totals.items())


def say_failed(checked: pd.DataFrame) -> str:
    """List the claims that do not hold, with what was found."""
    lines = [
        f"- **{row.claim}** ({row.id}; {{cite:t}}`{row.paper}`, {row.place}) {row.evidence}"
        for row in checked[checked["verdict"] == FAILS].itertuples()
    ]
    return "\n".join(lines) or "There is none."


def say_proper(checked: pd.DataFrame) -> str:
    """Say how much lower the majority alone scores by total variation than the truth."""
    found = checked.set_index("id").loc["c61"]
    if found["verdict"] == OPEN:
        return str(found["evidence"])
    if not found["value"] < 0:
        return "On these data the majority alone does not score lower than the votes' own shares."
    return (
        f"On SNLI the majority alone scores {-found['value']:.3f} lower against single votes than "
        f"the votes' own shares do (95% interval {-found['high']:.3f} to {-found['low']:.3f})."
    )

"""The tables of `evaluation.calibrations`, as they are read: the `shown` of `publish_table`."""

import numpy as np
import pandas as pd

from chaos_utils.plots.calibration import CHOICES
from chaos_utils.plots.panels import system_title
from chaos_utils.report.columns import MISSING, number, signed
from chaos_utils.scoring.recalibration import LIMITS

_HEADINGS = {
    "accuracy": "accuracy",
    "ece": "ECE",
    "rank_cs": "RankCS",
    "ent_ce": "EntCE",
    "dist_ce": "DistCE",
}
_FITTED_ON = {
    "none": "nothing",
    "fixed": "nothing",
    "oracle_nll": "the items judged",
    "oracle_ece": "the items judged",
    "outside": "development items outside ChaosNLI",
    "cross_fitted": "the other folds’ items",
}
_OBJECTIVES = {
    "none": MISSING,
    "fixed": MISSING,
    "oracle_nll": "NLL of the majority label",
    "oracle_ece": "ECE, majority label",
    "outside": "NLL of the gold label",
    "cross_fitted": "NLL of the vote shares",
}
_AT = {
    "ece": "ECE",
    "ece_votes": "ECE, votes",
    "dist_ce": "DistCE",
    "ent_ce": "EntCE",
    "kl": "KL",
}


def show_human_calibration(table: pd.DataFrame) -> pd.DataFrame:
    """Set Table 1: paper, here and difference, with mean and sd over the seeds of a system."""
    rows = []
    for _, group in table.groupby(["origin", "family", "temperature"], sort=False):
        records = group.to_dict("records")
        for row in records:
            rows.append(
                _table_1_row(
                    system_title(row["system"], row["origin"], row["temperature"]),
                    {name: row[f"published_{name}"] for name in _HEADINGS},
                    {name: row[name] for name in _HEADINGS},
                    {name: row[f"difference_{name}"] for name in _HEADINGS},
                )
            )
        if len(records) > 1:
            rows += _over_seeds(group)
    shown = pd.DataFrame(rows)
    shown.columns = pd.MultiIndex.from_tuples(list(rows[0]))
    return shown


def _over_seeds(group: pd.DataFrame) -> list[dict[tuple[str, str], str]]:
    """Return a row of means and one of standard deviations, of the paper's values too."""
    rows = []
    for name, statistic in (("mean", "mean"), ("sd", "std")):
        over = group.agg({c: statistic for c in group.columns if c.endswith(tuple(_HEADINGS))})
        theirs = {measure: over[f"published_{measure}"] for measure in _HEADINGS}
        ours = {measure: over[measure] for measure in _HEADINGS}
        gaps = {measure: ours[measure] - theirs[measure] for measure in _HEADINGS}
        rows.append(_table_1_row(f"{name} over seeds", theirs, ours, gaps))
    return rows


def _table_1_row(
    title: str, theirs: dict[str, float], ours: dict[str, float], gaps: dict[str, float]
) -> dict[tuple[str, str], str]:
    cells = {("system", ""): title}
    for name, heading in _HEADINGS.items():
        cells[heading, "paper"] = number(theirs[name], 3)
        cells[heading, "here"] = number(ours[name], 3)
        cells[heading, "Δ"] = signed(gaps[name], 3)
    return cells


def show_classwise(table: pd.DataFrame) -> pd.DataFrame:
    """Set class-wise errors in percent, the paper's beside them."""
    verdicts = {True: "yes", False: "no"}
    return pd.DataFrame(
        {
            "system": system_title(row["system"], row["origin"], row["temperature"]),
            "probabilities of 0": number(row["n_without_bin"]),
            "by all items (%)": number(100 * row["classwise_ece_all"], 3),
            "by binned items (%)": number(100 * row["classwise_ece_binned"], 3),
            "paper (%)": number(row["published_percent"]),
            "rounds to the paper’s": MISSING
            if pd.isna(row["agrees"])
            else verdicts[bool(row["agrees"])],
        }
        for row in table.to_dict("records")
    )


def show_temperatures(table: pd.DataFrame) -> pd.DataFrame:
    """Set the chosen temperatures and the measures there, each a mean over a system's seeds."""
    rows = []
    for (_, family, choice), group in table.groupby(["origin", "family", "choice"], sort=False):
        seeds = f", {len(group)} seeds" if len(group) > 1 else ""
        row = {
            "system": f"{family}{seeds}",
            "temperature": CHOICES[str(choice)],
            "T": _temperatures(group["temperature"].to_numpy()),
            "objective": _OBJECTIVES[str(choice)],
            "fitted on": _FITTED_ON[str(choice)],
            "items": number(group["n_fitted"].iloc[0]) if group["n_fitted"].iloc[0] else MISSING,
        }
        rows.append(row | {title: number(group[name].mean(), 3) for name, title in _AT.items()})
    return pd.DataFrame(rows)


def _temperatures(values: np.ndarray) -> str:
    """Write temperatures in their order, once where all are equal; † at the limit of the search."""
    ends = [f"{number(v, 2)}{'†' if np.isclose(v, LIMITS).any() else ''}" for v in values]
    return ends[0] if len(set(ends)) == 1 else " / ".join(ends)

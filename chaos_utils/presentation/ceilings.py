"""The tables of the chapter on noise floors and ceilings.

Column names have two levels where a group of columns shares a heading.
"""

from collections.abc import Sequence

import pandas as pd

from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.presentation.annotations import listed, name_of
from chaos_utils.report.columns import MISSING, number, signed, with_interval

_DIGITS = 3


def show_noise_ceiling(table: pd.DataFrame) -> pd.DataFrame:
    """Set the references: floor, both ceilings, uniform; and the check on half crowds.

    Parameters
    ----------
    table : DataFrame
        As `ceilings.reference_scores` gives it, for one or more datasets.

    Returns
    -------
    DataFrame
        Cells as they are read, for the `shown` of `publish_table`.
    """
    rows = [
        {
            ("dataset", ""): name_of(row["dataset"]),
            ("measure", ""): MEASURES[row["measure"]].title,
            ("uniform", ""): number(row["uniform"], 4),
            ("floor", ""): number(row["floor"], 4),
            ("ceiling", "split halves"): number(row["ceiling_halves"], 4),
            ("ceiling", "posterior"): number(row["ceiling_posterior"], 4),
            ("half crowds", "measured"): number(row["half_measured"], 4),
            ("half crowds", "posterior"): number(row["half_drawn"], 4),
            ("half crowds", "Δ"): signed(row["half_measured"] - row["half_drawn"], 4),
        }
        for row in table.to_dict("records")
    ]
    return _two_levels(rows)


def say_beyond(all_votes: Sequence[Votes], sizes: Sequence[int]) -> str:
    """Say in a line which datasets have fewer votes per item than the largest size.

    Returns
    -------
    str
        A paragraph of its own; empty where there are none.
    """
    most = {o.dataset.short: int(o.n_votes.max()) for o in all_votes}
    fewer = [f"{n:,} on {name}" for name, n in most.items() if n < max(sizes)]
    if not fewer:
        return ""
    return (
        f"\n\n*No item has more votes than {listed(fewer)}: what is said of more is "
        "extrapolated from the posterior.*"
    )


def say_uncut(table: pd.DataFrame) -> str:
    """Say in a line which datasets have too few votes for split halves.

    Parameters
    ----------
    table : DataFrame
        As `ceilings.reference_scores` gives it, for one or more datasets.

    Returns
    -------
    str
        A paragraph of its own; empty where there are none.
    """
    # A measure without an upper end has no ceiling of either kind.
    known = table[table["ceiling_posterior"].notna()].groupby("dataset", sort=False)
    halves = known["ceiling_halves"].count()
    uncut = [name_of(str(dataset)) for dataset, n in halves.items() if n == 0]
    if not uncut:
        return ""
    has = "has" if len(uncut) == 1 else "have"
    return (
        f"\n\n*{listed(uncut)} {has} too few votes on some items for split halves: the ceiling "
        "there is the posterior's.*"
    )


def show_normalised_scores(table: pd.DataFrame) -> pd.DataFrame:
    """Set systems × measures: the score, and below 0 and 1 of the rescaled one what they are.

    Each dataset begins with its floor and ceiling, on the items of the system that covers
    most.

    Parameters
    ----------
    table : DataFrame
        As `ceilings.normalised_scores` gives it, for one or more datasets.

    Returns
    -------
    DataFrame
        Cells as they are read, for the `shown` of `publish_table`.
    """
    measures = list(dict.fromkeys(table["measure"]))
    rows = []
    for dataset, of_dataset in table.groupby("dataset", sort=False):
        widest = of_dataset[
            of_dataset["system"] == of_dataset.loc[of_dataset["n_items"].idxmax(), "system"]
        ]
        for reference, name in (("floor", "perfect model (floor)"), ("ceiling", "ceiling")):
            rows.append(_reference_row(str(dataset), name, widest, reference))
        for system, of_system in of_dataset.groupby("system", sort=False):
            source = of_system["source"].iloc[0]
            name = str(system) if source == "computed" else f"{system} ({source})"
            cells = {("dataset", ""): name_of(str(dataset)), ("system", ""): name}
            by_measure = of_system.set_index("measure")
            for measure in measures:
                known = measure in by_measure.index
                row = by_measure.loc[measure] if known else None
                cells |= _score_cells(MEASURES[measure].title, row)
            rows.append(cells)
    return _two_levels(rows)


def _score_cells(title: str, row: "pd.Series | None") -> dict[tuple[str, str], str]:
    if row is None:
        return {(title, "score"): MISSING, (title, "rescaled"): MISSING}
    value, low, high = (
        round(row[name], 2) + 0.0 for name in ("rescaled", "rescaled_low", "rescaled_high")
    )  # + 0.0 turns -0.0 into 0.0
    rescaled = number(value, 2) if pd.isna(low) else with_interval(value, low, high, digits=2)
    return {(title, "score"): number(row["value"], _DIGITS), (title, "rescaled"): rescaled}


def _reference_row(
    dataset: str, name: str, rows: pd.DataFrame, reference: str
) -> dict[tuple[str, str], str]:
    cells = {("dataset", ""): name_of(dataset), ("system", ""): name}
    for row in rows.to_dict("records"):
        title = MEASURES[row["measure"]].title
        room = row["ceiling"] - row["uniform"]
        scale = float("nan") if pd.isna(row["rescaled"]) else room
        cells[(title, "score")] = number(row[reference], _DIGITS)
        cells[(title, "rescaled")] = number((row[reference] - row["uniform"]) / scale, 2)
    return cells


def _two_levels(rows: list[dict[tuple[str, str], str]]) -> pd.DataFrame:
    shown = pd.DataFrame(rows)
    shown.columns = pd.MultiIndex.from_tuples(list(rows[0]))
    return shown

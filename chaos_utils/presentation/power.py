"""The sentences about what n items with v votes each can tell apart."""

import pandas as pd

from chaos_utils.analyses.names import by_dataset, dataset_name, listed
from chaos_utils.analyses.power import PAIRS, first_pair
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.report.columns import number, signed


def say_found(gaps: pd.DataFrame) -> str:
    """Say for each dataset what its items detect, beside the gaps between published models.

    Parameters
    ----------
    gaps : DataFrame
        As `analyses.power.published_gaps` gives it.
    """
    sentences = []
    for dataset, group in by_dataset(gaps[gaps["measure"].isin(["jsd", "new_accuracy"])]):
        first = group.iloc[0]
        rows = group.set_index("measure")
        parts = [f"{_amount(row, 'difference')} in {_name(one)}" for one, row in rows.iterrows()]
        text = (
            f"On {dataset}, {first['n_items']:,} items with {first['n_votes']} votes each detect a "
            f"difference of {listed(parts)} between {PAIRS[first['pair']]}."
        )
        known = rows[rows["gap"].notna()]
        if len(known):
            needed = [
                f"{_amount(row, 'gap')} in {_name(one)} ({_about(row['items_needed'])} items)"
                for one, row in known.iterrows()
            ]
            text += (
                f" The median gap between neighbours among the {first['n_models']} published "
                f"models is {listed(needed)}."
            )
        sentences.append(text)
    if gaps["gap"].notna().any():
        sentences.append("In parentheses: how many items would detect such a gap.")
    return " ".join(sentences)


def say_votes(spread: pd.DataFrame) -> str:
    """Say how much larger the smallest difference is with few votes than with all of them.

    Parameters
    ----------
    spread : DataFrame
        As `analyses.power.spread_of_differences` gives it.
    """
    rows = first_pair(spread)
    few = next((n for n in (5, 2, 1) if n in set(rows["n_votes"])), None)
    parts = []
    for dataset, group in by_dataset(rows[rows["measure"].isin(["jsd", "sq_distance"])]):
        table = group.pivot(index="n_votes", columns="measure", values="variance")
        if few not in table.index or table.index.max() <= few:
            continue
        ratio = (table.loc[few] / table.iloc[-1]) ** 0.5 - 1
        changes = [f"{_percent(ratio[one])} in {_name(one)}" for one in ("jsd", "sq_distance")]
        more = table.loc[few, "sq_distance"] / table["sq_distance"].iloc[-1] - 1
        parts.append(
            f"on {dataset} by {' and '.join(changes)}, which {_percent(more).lstrip('+')} more "
            f"items make up for (against {table.index.max()} votes)"
        )
    if not parts:
        return ""
    one = "one vote" if few == 1 else f"{few} votes"
    return (
        f"With {one} per item, the smallest difference found changes {'; '.join(parts)}. "
        "Items decide what can be told apart; votes decide what is measured."
    )


def say_alike(spread: pd.DataFrame) -> str:
    """Say that the spread is that of these pairs, and how alike systems change it."""
    text = "The spread is that of the pairs available here."
    rows = spread[(spread["measure"] == "jsd") & spread["pair"].isin(["models", "seeds"])]
    most = rows[rows["n_votes"] == rows.groupby("dataset")["n_votes"].transform("max")]
    table = most.pivot(index="dataset", columns="pair", values="variance")
    if not {"models", "seeds"} <= set(table.columns) or table.dropna().empty:
        return text
    parts = [
        f"{number(100 * row['seeds'] / row['models'])}% on {dataset_name(str(dataset))}"
        for dataset, row in table.dropna().iterrows()
    ]
    return (
        f"{text} Models that err on the same items are easier to tell apart than others: to find a "
        f"given difference in JSD, two seeds of a model take {listed(parts)} of the items that two "
        "models take."
    )


def _percent(change: float) -> str:
    return f"{signed(100 * change)}%"


_NAMES = {"jsd": "JSD", "sq_distance": "squared distance"}


def _name(measure: object) -> str:
    return _NAMES.get(str(measure), MEASURES[str(measure)].title)


def _amount(row: pd.Series, column: str) -> str:
    if str(row.name) == "new_accuracy":
        return f"{number(100 * row[column], 1)} points"
    return number(row[column], 4)


def _about(n_items: float) -> str:
    """Return a number of items to two digits."""
    return f"about {float(f'{n_items:.2g}'):,.0f}"

"""The sentences of the chapter on learning distributions: functions of its tables' rows.

`table` is that of `method_scores`, or of `temperatures` where a sentence is about these.
"""

import pandas as pd

from chaos_utils.analyses.learning_distributions import METHODS
from chaos_utils.analyses.names import by_dataset, dataset_name, listed
from chaos_utils.report.columns import number, signed
from chaos_utils.scoring.published import published_models

_DIGITS = 3


def compare_temperatures(table: pd.DataFrame) -> str:
    """Say on which datasets gold labels and votes ask for different temperatures.

    Compares the interval of the one with the range of the other.
    """
    known = table.set_index(["dataset", "method"])
    sentences = []
    for dataset in dict.fromkeys(table["dataset"]):
        if not {(dataset, "held_out"), (dataset, "cross_fitted")} <= set(known.index):
            continue
        gold, votes = known.loc[(dataset, "held_out")], known.loc[(dataset, "cross_fitted")]
        apart = votes["low"] > gold["high"] or votes["high"] < gold["low"]
        word = "higher" if votes["temperature"] > gold["temperature"] else "lower"
        sentences.append(
            f"on {dataset_name(dataset)} votes ask for a {word} temperature than held-out gold "
            f"labels do ({number(votes['temperature'], 2)} against "
            f"{number(gold['temperature'], 2)})"
            if apart
            else f"on {dataset_name(dataset)} the two do not differ beyond their spread"
        )
    if not sentences:
        return ""
    return (
        "Held-out gold labels and votes fit a temperature to different ends, and to different "
        f"items: {'; '.join(sentences)}."
    )


def missing_sentence(table: pd.DataFrame) -> str:
    """Say which methods were not computed on which datasets; nothing where all were."""
    by_list: dict[tuple[str, ...], list[str]] = {}
    for dataset, group in by_dataset(table):
        there = set(group["method"])
        titles = tuple(title for name, title in METHODS.items() if name not in there)
        if titles:
            by_list.setdefault(titles, []).append(dataset)
    parts = []
    for titles, datasets in by_list.items():
        what = "every method" if len(titles) == len(METHODS) else "; ".join(titles)
        parts.append(f"On {listed(datasets)}: {what}")
    return f"**Not computed yet, and wanted:** {'. '.join(parts)}." if parts else ""


def directions(table: pd.DataFrame, measure: str, confidence: float) -> list[str]:
    """Say for each dataset which methods are surely nearer or farther than the plain run.

    Surely: p is below 1 − `confidence` when it is adjusted for all comparisons on the dataset.
    """
    sentences = []
    for dataset, group in by_dataset(_compared(table, measure)):
        sure = group["p_holm"] < round(1 - confidence, 9)
        nearer = group[sure & (group["difference"] < 0)].sort_values("difference")
        farther = group[sure & (group["difference"] > 0)]
        parts = [
            f"{listed(list(rows['title']))} {'is' if len(rows) == 1 else 'are'} {what}"
            for rows, what in ((nearer, "nearer to people"), (farther, "farther"))
            if len(rows)
        ]
        left = len(group) - len(nearer) - len(farther)
        if left:
            parts.append(f"{left} of {len(group)} are indistinguishable from it")
        sentences.append(f"on {dataset}, {'; '.join(parts)}")
    return sentences


def progress(table: pd.DataFrame, measure: str) -> list[str]:
    """Say for each dataset how far from the plain run to the ceiling the best methods come.

    The best of all, and the best of those that saw no vote.
    """
    sentences = []
    for dataset, group in by_dataset(_of(table, measure)):
        known = group.set_index("method")["value"]
        others = group[(group["kind"] == "method") & (group["method"] != "plain")]
        if "plain" not in known or others.empty:
            continue
        plain, ceiling = known["plain"], known["ceiling"]
        room = plain - ceiling
        best = others.loc[others["value"].idxmin()]
        without = others[others["learned_from"] != "votes"]
        if best["value"] >= plain:
            told = ["no method comes below it"]
        elif best["learned_from"] != "votes":
            told = [f"the lowest is {_step(best, plain, room)}, without votes"]
        else:
            told = [f"the lowest is {_step(best, plain, room)}"]
            if len(without):
                nearest = without.loc[without["value"].idxmin()]
                step = _step(nearest, plain, room, "_without_votes")
                told.append(f"the lowest without votes is {step}")
        sentences.append(
            f"on {dataset}, the ceiling has {number(ceiling, _DIGITS)} and plain "
            f"{number(plain, _DIGITS)}; {'; '.join(told)}"
        )
    return sentences


def _step(row: pd.Series, plain: float, room: float, among: str = "") -> str:
    share = (plain - row["value"]) / room
    way = f"{share:.0%} of the way to the ceiling" if share > 0 else "no nearer than plain"
    return f"{number(row['value'], _DIGITS)} by {row['title']} ({how_often(row, among)}), {way}"


def how_often(row: pd.Series, among: str = "") -> str:
    """Say in how many resamples a method is the best of all, or `among` some, and in how many tied.

    Those are the methods ``_without_votes``.
    """
    share, tied = row[f"best{among}"], row[f"tied{among}"]
    ties = f", tied in {tied:.0%}" if round(tied, 2) > 0 else ""
    of_them = " of these" if among else ""
    return f"best{of_them} in {share:.0%} of the resamples{ties}"


def against_chance(table: pd.DataFrame, measure: str) -> list[str]:
    """Count for each dataset the methods below chance in a distance; name those that are not."""
    sentences = []
    for dataset, group in by_dataset(_of(table, measure)):
        rows = group[group["kind"] == "method"]
        if rows.empty:
            continue
        chance = group.loc[group["method"] == "chance", "value"].iloc[0]
        beyond = rows[rows["value"] >= chance]
        but = f", all but {listed(list(beyond['title']))}" if 0 < len(beyond) < len(rows) else ""
        sentences.append(
            f"{len(rows) - len(beyond)} of {len(rows)} on {dataset} "
            f"({number(chance, _DIGITS)}){but}"
        )
    return sentences


def accuracy_changes(table: pd.DataFrame, measure: str, confidence: float) -> list[str]:
    """Name the methods whose accuracy surely differs from the plain run's, with the change.

    Surely is as in `directions`.
    """
    rows = _compared(table, measure)
    sure = rows[rows["p_holm"] < round(1 - confidence, 9)]
    return [
        f"{row['title']} on {dataset_name(row['dataset'])} ({signed(row['difference'], _DIGITS)})"
        for row in sure.to_dict("records")
    ]


def beside_published(table: pd.DataFrame, measure: str) -> list[str]:
    """Set the plain run's value beside the range of the nine published models, for each dataset."""
    ranges = published_models().groupby("dataset")[measure].agg(["min", "max"])
    rows = _of(table, measure)
    return [
        f"{number(row['value'], _DIGITS)} on {dataset_name(row['dataset'])}, where the nine have "
        f"{number(ranges.loc[row['dataset'], 'min'], _DIGITS)} to "
        f"{number(ranges.loc[row['dataset'], 'max'], _DIGITS)}"
        for row in rows[rows["method"] == "plain"].to_dict("records")
    ]


def extremes(table: pd.DataFrame, measure: str) -> list[str]:
    """Say for each dataset which methods have the lowest and the highest value."""
    rows = _of(table, measure)
    sentences = []
    for dataset, group in by_dataset(rows[rows["kind"] == "method"]):
        low, high = (group.loc[place] for place in group["value"].agg(["idxmin", "idxmax"]))
        ends = [f"{number(end['value'], _DIGITS)} ({end['title']})" for end in (low, high)]
        sentences.append(f"on {dataset} from {' to '.join(ends)}")
    return sentences


def sureness(table: pd.DataFrame) -> list[str]:
    """Say for each dataset how much surer, or less sure, than people the plain run is."""
    rows = _of(table, "signed_ent_ce")
    return [
        f"{number(abs(row['value']), 2)} nats {'below' if row['value'] < 0 else 'above'} "
        f"that of people on {dataset_name(row['dataset'])}"
        for row in rows[rows["method"] == "plain"].to_dict("records")
    ]


def _of(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    return table[table["measure"] == measure]


def _compared(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    rows = _of(table, measure)
    return rows[(rows["kind"] == "method") & rows["difference_low"].notna()]

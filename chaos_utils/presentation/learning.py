"""The tables and sentences of the chapter on learning distributions.

`table` is that of `learning.learning_table` or `learning_temperatures.temperature_table`, for one
or more datasets. Column names have two levels where a group of columns shares a heading.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from chaos_utils.datasets.published.tables import read_published
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.presentation.annotations import name_of
from chaos_utils.report.columns import number, signed, with_interval

SHOWN = ("jsd", "kl", "dist_ce", "new_accuracy")
_DIGITS = 3
_LEARNED_FROM = {
    "train": "training labels",
    "dev": "+ development labels",
    "votes": "+ votes on other items",
    "nothing": "",
    "own": "",
}
_TEMPERATURES = {
    "fixed": "fixed",
    "held_out": "held-out labels",
    "cross_fitted": "votes, out of fold",
}
_SPREADS = {"none": "", "bootstrap": "bootstrap over items", "folds": "range over folds"}


def show_learning(table: pd.DataFrame) -> pd.DataFrame:
    """Set methods × measures: each score, and its difference from the plain run."""
    rows = []
    for (dataset, title), group in table.groupby(["dataset", "title"], sort=False):
        cells = {
            ("dataset", ""): name_of(str(dataset)),
            ("method", ""): str(title),
            ("learned from", ""): _LEARNED_FROM[group["learned_from"].iloc[0]],
        }
        by_measure = group.set_index("measure").reindex(list(SHOWN))
        for name, row in zip(SHOWN, by_measure.to_dict("records"), strict=True):
            heading = MEASURES[name].title
            cells[(heading, "score")] = number(row["value"], _DIGITS)
            cells[(heading, "Δ to plain")] = _difference(row)
        rows.append(cells)
    return _two_levels(rows)


def _difference(row: Mapping[str, float]) -> str:
    if pd.isna(row["difference_low"]):
        return signed(row["difference"], _DIGITS)
    low, high = (signed(row[f"difference_{end}"], _DIGITS) for end in ("low", "high"))
    return f"{signed(row['difference'], _DIGITS)} [{low}, {high}]"


def _two_levels(rows: list[dict[tuple[str, str], str]]) -> pd.DataFrame:
    shown = pd.DataFrame(rows)
    shown.columns = pd.MultiIndex.from_tuples(list(rows[0]))
    return shown


def show_temperatures(table: pd.DataFrame) -> pd.DataFrame:
    """Set each dataset's temperatures with their spread, and of what it is."""
    columns = ["dataset", "temperature fitted on", "T", "spread of", "items fitted on"]
    rows = []
    for row in table.to_dict("records"):
        alone = row["spread"] == "none"
        fitted = with_interval(row["temperature"], row["low"], row["high"], 2)
        rows.append(
            (
                name_of(row["dataset"]),
                _TEMPERATURES[row["method"]],
                number(row["temperature"], 2) if alone else fitted,
                _SPREADS[row["spread"]],
                "" if alone else number(row["n_fitted"]),
            )
        )
    return pd.DataFrame(rows, columns=columns)


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
            f"on {name_of(dataset)} votes ask for a {word} temperature than held-out gold "
            f"labels do ({number(votes['temperature'], 2)} against "
            f"{number(gold['temperature'], 2)})"
            if apart
            else f"on {name_of(dataset)} the two do not differ beyond their spread"
        )
    if not sentences:
        return ""
    return (
        "Held-out gold labels and votes fit a temperature to different ends, and to different "
        f"items: {'; '.join(sentences)}."
    )


def missing_sentence(missing: Mapping[str, Sequence[str]], n_methods: int) -> str:
    """Say which methods were not computed; nothing where all were."""
    by_list: dict[tuple[str, ...], list[str]] = {}
    for dataset, titles in missing.items():
        if titles:
            by_list.setdefault(tuple(titles), []).append(name_of(dataset))
    parts = []
    for titles, datasets in by_list.items():
        what = "every method" if len(titles) == n_methods else "; ".join(titles)
        parts.append(f"on {listed(datasets)}: {what}")
    if not parts:
        return ""
    return f"**Not computed yet, and wanted:** {'. '.join(_capital(part) for part in parts)}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def listed(names: Sequence[str]) -> str:
    """Join names as a sentence does: ``a``, ``a and b``, ``a, b and c``; none is *none*."""
    if len(names) < 2:
        return names[0] if names else "none"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def directions(table: pd.DataFrame, measure: str) -> list[str]:
    """Say for each dataset which methods are surely nearer or farther than the plain run.

    Surely: the whole interval of the difference lies on one side of 0.
    """
    sentences = []
    for dataset, group in _compared(table, measure).groupby("dataset", sort=False):
        nearer = group[group["difference_high"] < 0].sort_values("difference")
        farther = group[group["difference_low"] > 0]
        parts = [
            f"{listed(list(rows['title']))} {'is' if len(rows) == 1 else 'are'} {what}"
            for rows, what in ((nearer, "nearer to people"), (farther, "farther"))
            if len(rows)
        ]
        left = len(group) - len(nearer) - len(farther)
        if left:
            parts.append(f"{left} of {len(group)} are indistinguishable from it")
        sentences.append(f"on {name_of(str(dataset))}, {'; '.join(parts)}")
    return sentences


def progress(table: pd.DataFrame, measure: str) -> list[str]:
    """Say for each dataset how far from the plain run to the ceiling the best methods come.

    The best of all, and the best of those that saw no vote.
    """
    sentences = []
    for dataset, group in _of(table, measure).groupby("dataset", sort=False):
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
                told.append(f"the lowest without votes is {_step(nearest, plain, room)}")
        sentences.append(
            f"on {name_of(str(dataset))}, the ceiling has {number(ceiling, _DIGITS)} and plain "
            f"{number(plain, _DIGITS)}; {'; '.join(told)}"
        )
    return sentences


def _step(row: pd.Series, plain: float, room: float) -> str:
    share = (plain - row["value"]) / room
    way = f"{share:.0%} of the way to the ceiling" if share > 0 else "no nearer than plain"
    return f"{number(row['value'], _DIGITS)} by {row['title']}, {way}"


def against_chance(table: pd.DataFrame, measure: str) -> list[str]:
    """Count for each dataset the methods below chance in a distance; name those that are not."""
    sentences = []
    for dataset, group in _of(table, measure).groupby("dataset", sort=False):
        rows = group[group["kind"] == "method"]
        if rows.empty:
            continue
        chance = group.loc[group["method"] == "chance", "value"].iloc[0]
        beyond = rows[rows["value"] >= chance]
        but = f", all but {listed(list(beyond['title']))}" if 0 < len(beyond) < len(rows) else ""
        sentences.append(
            f"{len(rows) - len(beyond)} of {len(rows)} on {name_of(str(dataset))} "
            f"({number(chance, _DIGITS)}){but}"
        )
    return sentences


def accuracy_changes(table: pd.DataFrame, measure: str) -> list[str]:
    """Name the methods whose accuracy surely differs from the plain run's, with the change."""
    rows = _compared(table, measure)
    sure = rows[(rows["difference_low"] > 0) | (rows["difference_high"] < 0)]
    return [
        f"{row['title']} on {name_of(row['dataset'])} ({signed(row['difference'], _DIGITS)})"
        for row in sure.to_dict("records")
    ]


def beside_published(table: pd.DataFrame, measure: str) -> list[str]:
    """Set the plain run's value beside the range of the nine published models, for each dataset."""
    published = read_published("nie2020_table5")
    models = published[~published["model"].isin(["chance", "est-human"])]
    ranges = models.groupby("dataset")[measure].agg(["min", "max"])
    rows = _of(table, measure)
    return [
        f"{number(row['value'], _DIGITS)} on {name_of(row['dataset'])}, where the nine have "
        f"{number(ranges.loc[row['dataset'], 'min'], _DIGITS)} to "
        f"{number(ranges.loc[row['dataset'], 'max'], _DIGITS)}"
        for row in rows[rows["method"] == "plain"].to_dict("records")
    ]


def extremes(table: pd.DataFrame, measure: str) -> list[str]:
    """Say for each dataset which methods have the lowest and the highest value."""
    sentences = []
    for dataset, group in _of(table, measure).groupby("dataset", sort=False):
        rows = group[group["kind"] == "method"]
        if len(rows):
            low, high = rows.loc[rows["value"].idxmin()], rows.loc[rows["value"].idxmax()]
            sentences.append(
                f"on {name_of(str(dataset))} from {number(low['value'], _DIGITS)} ({low['title']}) "
                f"to {number(high['value'], _DIGITS)} ({high['title']})"
            )
    return sentences


def sureness(table: pd.DataFrame) -> list[str]:
    """Say for each dataset how much surer, or less sure, than people the plain run is."""
    rows = _of(table, "signed_ent_ce")
    return [
        f"{number(abs(row['value']), 2)} nats {'below' if row['value'] < 0 else 'above'} "
        f"that of people on {name_of(row['dataset'])}"
        for row in rows[rows["method"] == "plain"].to_dict("records")
    ]


def _of(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    return table[table["measure"] == measure]


def _compared(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    rows = _of(table, measure)
    return rows[(rows["kind"] == "method") & rows["difference_low"].notna()]

"""The tables and sentences of the chapter on scores by human agreement."""

from typing import Literal

import pandas as pd

from chaos_utils.datasets.catalogue import short_of
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.report.columns import MISSING, number, signed, with_interval

_GUESSES = {
    "chance": "the guess",
    "commonest label of the bin": "the commonest label of the bin",
}
_NO_MODEL = "- There is no model here: pass `-p predictions=FILE`."
_SHOWN = ("new_accuracy", "old_accuracy", "jsd", "kl")


def name_of(dataset: str) -> str:
    """Return the name of a dataset, or of several joined by ``+``, as readers know it.

    Parameters
    ----------
    dataset : str
        Its name in tables, such as ``snli+mnli``.
    """
    return short_of(dataset)


def show_entropy_bins(table: pd.DataFrame) -> pd.DataFrame:
    """Set the bins side by side: edges and items, then each measure of each system.

    Published models stand as the range over them.

    Parameters
    ----------
    table : DataFrame
        Rows of `evaluation.bins.drawn`.

    Returns
    -------
    DataFrame
        Cells as they are read, for the `shown` of `publish_table`.
    """
    n_bins = int(table["bin"].max())
    rows = []
    for dataset, group in table.groupby("dataset", sort=False):
        lines = _heads(group)
        for measure in _SHOWN:
            lines |= _scores(group[group["measure"] == measure], MEASURES[measure].title)
        for (quantity, system), cells in lines.items():
            shown = {f"bin {b}": cells.get(b, MISSING) for b in range(1, n_bins + 1)}
            rows.append(
                {"dataset": name_of(str(dataset)), "quantity": quantity, "system": system} | shown
            )
    return pd.DataFrame(rows)


def _heads(group: pd.DataFrame) -> dict[tuple[str, str], dict[int, str]]:
    bins = group.drop_duplicates("bin").set_index("bin")
    lines = {
        ("entropy (bits)", ""): {
            b: f"{number(row.entropy_low_bits, 3)}–{number(row.entropy_high_bits, 3)}"
            for b, row in bins.iterrows()
        },
        ("items", "here"): {b: number(n) for b, n in bins["n"].items()},
    }
    if bins["published_n"].notna().all():
        lines["items", "published"] = {b: number(n) for b, n in bins["published_n"].items()}
        lines["items", "difference"] = {b: signed(n) for b, n in bins["difference_n"].items()}
    return lines


def _scores(group: pd.DataFrame, title: str) -> dict[tuple[str, str], dict[int, str]]:
    computed = group[group["source"] == "computed"]
    lines: dict[tuple[str, str], dict[int, str]] = {}
    for row in computed.to_dict("records"):
        cell = with_interval(row["value"], row["low"], row["high"], digits=3)
        lines.setdefault((title, row["system"]), {})[row["bin"]] = cell
    published = group[group["source"] == "published"]
    if len(published):
        spans = published.groupby("bin")["value"].agg(["min", "max"])
        name = f"{published['system'].nunique()} published models, range"
        lines[title, name] = {
            b: f"{number(span['min'], 3)}–{number(span['max'], 3)}" for b, span in spans.iterrows()
        }
    return lines


def show_all_correct(table: pd.DataFrame) -> pd.DataFrame:
    """Set the counts of items that all systems, or none, get right.

    Parameters
    ----------
    table : DataFrame
        As `evaluation.bins.all_correct` gives it.

    Returns
    -------
    DataFrame
        Cells as they are read, for the `shown` of `publish_table`.
    """
    return pd.DataFrame(
        {
            "dataset": name_of(row["dataset"]),
            "label": row["label"],
            "systems": number(row["n_systems"]),
            "items": number(row["n_items"]),
            "all correct": number(row["n_all_correct"]),
            "all correct (%)": number(100 * row["share_all_correct"], 1),
            "none correct": number(row["n_none_correct"]),
            "none correct (%)": number(100 * row["share_none_correct"], 1),
        }
        for row in table.to_dict("records")
    )


def say_ends(table: pd.DataFrame, compared: pd.DataFrame, measure: str) -> str:
    """Return a Markdown list of each model's score in the first and the last bin.

    Parameters
    ----------
    table, compared : DataFrame
        As `evaluation.bins.drawn` and `evaluation.bins.contrasts` give them.
    measure : {'new_accuracy', 'old_accuracy', 'jsd'}
        Accuracies are given in per cent and points.

    Returns
    -------
    str
        Markdown.
    """
    rows = table[table["measure"] == measure]
    change = compared[(compared["measure"] == measure) & (compared["reference"] == "first bin")]
    change = change.set_index(["dataset", "system"])
    lines = []
    for dataset, group in rows.groupby("dataset", sort=False):
        ends = group.pivot(index="system", columns="bin", values="value").iloc[:, [0, -1]]
        ends.columns = pd.Index(["first", "last"])
        models = group[(group["role"] != "baseline") & (group["source"] == "computed")]
        for system in models["system"].unique():
            first, last = ends.loc[system]
            value, low, high = change.loc[(dataset, system), ["value", "low", "high"]].astype(float)
            lines.append(
                f"- {name_of(str(dataset))}, {system}: from {amount(first, measure)} to "
                f"{amount(last, measure)}, a change of {_change(value, low, high, measure)}."
            )
        published = group.loc[group["source"] == "published", "system"].unique()
        if len(published):
            theirs = ends.loc[published]
            moves = theirs["last"] - theirs["first"]
            lines.append(
                f"- {name_of(str(dataset))}, the {len(published)} published models: from "
                f"{_span(theirs['first'], measure)} to {_span(theirs['last'], measure)}; "
                f"changes from {_move(moves.min(), measure)} to {_move(moves.max(), measure)}."
            )
    return "\n".join(lines) or _NO_MODEL


def say_against_guess(
    table: pd.DataFrame, compared: pd.DataFrame, which: Literal["first", "last"]
) -> str:
    """Return a Markdown list: new accuracy in the first or last bin against the two guesses.

    Parameters
    ----------
    table, compared : DataFrame
        As `evaluation.bins.drawn` and `evaluation.bins.contrasts` give them.
    which : {'first', 'last'}
        The bin of least or of most entropy.

    Returns
    -------
    str
        Markdown.
    """
    lines = []
    for dataset, group in table[table["measure"] == "new_accuracy"].groupby("dataset", sort=False):
        number_of_bin = group["bin"].max() if which == "last" else group["bin"].min()
        chosen = group[group["bin"] == number_of_bin].set_index("system")
        of_dataset = compared[
            (compared["dataset"] == dataset)
            & (compared["measure"] == "new_accuracy")
            & (compared["bin"] == number_of_bin)
        ]
        for system in chosen.index[chosen["role"].isin(["model", "mean of seeds"])]:
            if chosen.loc[system, "source"] == "published":
                continue
            parts = []
            for reference, name in _GUESSES.items():
                row = of_dataset[
                    (of_dataset["system"] == system) & (of_dataset["reference"] == reference)
                ]
                value, low, high = row[["value", "low", "high"]].iloc[0].astype(float)
                verdict = "above" if low > 0 else "below" if high < 0 else "indistinguishable from"
                parts.append(f"{verdict} {name} ({_change(value, low, high, 'new_accuracy')})")
            lines.append(f"- {name_of(str(dataset))}, {system}: {', and '.join(parts)}.")
        published = chosen[chosen["source"] == "published"]
        if len(published):
            guesses = {name: chosen.loc[system, "value"] for system, name in _GUESSES.items()}
            counts = [
                f"{(published['value'] > guess).sum()} lie above {name} "
                f"({amount(guess, 'new_accuracy')})"
                for name, guess in guesses.items()
            ]
            lines.append(
                f"- {name_of(str(dataset))}, the {len(published)} published models, "
                f"{_span(published['value'], 'new_accuracy')}: {', and '.join(counts)}."
            )
    return "\n".join(lines) or _NO_MODEL


def say_nearer_uniform(table: pd.DataFrame, compared: pd.DataFrame) -> str:
    """Return a Markdown list: in which bins the uniform guess has the smaller JSD.

    Parameters
    ----------
    table, compared : DataFrame
        As `evaluation.bins.drawn` and `evaluation.bins.contrasts` give them.

    Returns
    -------
    str
        Markdown.
    """
    lines = []
    for dataset, group in table[table["measure"] == "jsd"].groupby("dataset", sort=False):
        of_dataset = compared[
            (compared["dataset"] == dataset)
            & (compared["measure"] == "jsd")
            & (compared["reference"] == "chance")
            & compared["role"].isin(["model", "mean of seeds"])
        ]
        for system, rows in of_dataset.groupby("system", sort=False):
            lines.append(
                f"- {name_of(str(dataset))}, {system}: {_bins(rows.loc[rows['low'] > 0, 'bin'])}."
            )
        published = group[group["source"] == "published"]
        if len(published):
            chance = group[group["system"] == "chance"].set_index("bin")["value"]
            worse = published[published["value"] > published["bin"].map(chance)]
            counts = worse.groupby("bin").size().reindex(chance.index, fill_value=0)
            told = ", ".join(f"{n} in bin {b}" for b, n in counts.items())
            lines.append(
                f"- {name_of(str(dataset))}, of the {published['system'].nunique()} published "
                f"models, by their values alone: {told}."
            )
    return "\n".join(lines) or _NO_MODEL


def _bins(numbers: pd.Series) -> str:
    if numbers.empty:
        return "in no bin"
    plural = "bins" if len(numbers) > 1 else "bin"
    return f"in {plural} {', '.join(str(b) for b in sorted(numbers))}"


def amount(value: float, measure: str) -> str:
    """Return a score as the text gives it: accuracies in percent, distances to three digits.

    Parameters
    ----------
    measure : str
        Name in `MEASURES`.
    """
    if measure.endswith("accuracy"):
        return f"{number(100 * value, 1)}%"
    return number(value, 3)


def _span(values: pd.Series, measure: str) -> str:
    return f"{amount(values.min(), measure)}–{amount(values.max(), measure)}"


def _move(value: float, measure: str) -> str:
    if measure.endswith("accuracy"):
        return f"{signed(100 * value, 1)} points"
    return signed(value, 3)


def _change(value: float, low: float, high: float, measure: str) -> str:
    scale, digits = (100, 1) if measure.endswith("accuracy") else (1, 3)
    ends = f"[{signed(scale * low, digits)}, {signed(scale * high, digits)}]"
    return f"{_move(value, measure)} {ends}"

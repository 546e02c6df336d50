"""The sentences of the chapter on learning curves.

`growth` is what `trajectory.by_size` or `trajectory.by_look` gives (`sizes` and `looks` where both
are needed), `changes` what `trajectory.changes` makes of it. A `measure` is ``new_accuracy``,
``old_accuracy`` or ``jsd``.
"""

import pandas as pd

from chaos_utils.analyses.names import by_dataset, listed
from chaos_utils.analyses.trajectory import MEASURE_NAMES
from chaos_utils.datasets.catalogue import book_datasets
from chaos_utils.presentation.agreement import amount, say_change
from chaos_utils.report.columns import number

_AS_GOOD_AS_EVEN = 0.005  # in JSD


def say_growth(changes: pd.DataFrame, measure: str) -> str:
    """Return a Markdown list: each dataset's score in each bin, before and after more training."""
    lines = []
    for dataset, group in by_dataset(changes[changes["measure"] == measure]):
        every = group.set_index("bin")
        parts = [
            f"bin {b} from {amount(row['first'], measure)} to {amount(row['last'], measure)} "
            f"({say_change(row, measure, 'change')})"
            for b, row in every.drop(index=0).iterrows()
        ]
        first, last = every.loc[0, ["first_items", "last_items"]]
        lines.append(
            f"- {dataset}, from {number(first)} to {number(last)} items: "
            f"{'; '.join(parts)}; all items {say_change(every.loc[0], measure, 'change')}."
        )
    return "\n".join(lines)


def say_where(changes: pd.DataFrame, measure: str) -> str:
    """Return a sentence for each dataset: in which bins training helped, and in which it harmed."""
    better = 1 if measure.endswith("accuracy") else -1
    sentences = []
    for dataset, group in by_dataset(changes[changes["measure"] == measure]):
        bins = group[group["bin"] > 0]
        helped = bins.loc[(bins[["low", "high"]] * better > 0).all(axis=1), "bin"]
        harmed = bins.loc[(bins[["low", "high"]] * better < 0).all(axis=1), "bin"]
        most = bins.loc[(bins["change"] * better).idxmax(), "bin"]
        sentences.append(
            f"On {dataset}, more training improved {MEASURE_NAMES[measure]} in {_bins(helped)} "
            f"and worsened it in {_bins(harmed)}"
            + (f"; bin {most} profited most." if len(helped) else ".")
        )
    return " ".join(sentences)


def say_against_chance(growth: pd.DataFrame, measure: str) -> str:
    """Return a sentence for each dataset: where its last stage stands against chance, by bin."""
    better = 1 if measure.endswith("accuracy") else -1
    sentences = []
    for dataset, group in by_dataset(growth[growth["measure"] == measure]):
        last = group[group["items"] == group["items"].max()]
        bins = last[last["bin"] > 0]
        ends = bins[["over_chance_low", "over_chance_high"]] * better
        ahead, behind = bins.loc[(ends > 0).all(axis=1)], bins.loc[(ends < 0).all(axis=1)]
        total = last[last["bin"] == 0].iloc[0]
        sentences.append(
            f"On {dataset}, with {number(total['items'])} items, "
            f"{MEASURE_NAMES[measure]} is better than chance in {_bins(ahead['bin'])} and worse in "
            f"{_bins(behind['bin'])}; over all items it is {amount(total['value'], measure)}, "
            f"and chance {amount(total['chance'], measure)}."
        )
    return " ".join(sentences)


def _bins(numbers: pd.Series) -> str:
    if numbers.empty:
        return "no bin"
    return f"{'bins' if len(numbers) > 1 else 'bin'} {listed(map(str, sorted(numbers)))}"


def say_turns(looks: pd.DataFrame) -> str:
    """Return a sentence for each dataset: after how many items each bin's JSD was lowest."""
    sentences = []
    rows = looks[(looks["measure"] == "jsd") & (looks["bin"] > 0)]
    for dataset, group in by_dataset(rows):
        lowest = group.loc[group.groupby("bin")["value"].idxmin()]
        parts = [
            f"{number(row['items'])} in bin {row['bin']} ({number(row['value'], 3)})"
            for row in lowest.to_dict("records")
        ]
        sentences.append(
            f"On {dataset}, JSD was lowest, of all looks, after so many items: {listed(parts)}; "
            f"the last look was after {number(group['items'].max())}."
        )
    return " ".join(sentences)


def say_start(looks: pd.DataFrame) -> str:
    """Return a sentence where the first look, of every dataset, found even probabilities."""
    rows = looks[(looks["measure"] == "jsd") & (looks["bin"] > 0)]
    first = rows[rows["items"] == rows.groupby("dataset")["items"].transform("min")]
    if (first["over_chance"].abs() > _AS_GOOD_AS_EVEN).any():
        return ""
    return (
        "At the first look the model gives all labels about even probabilities, so that its JSD "
        "is that of chance: small where people disagree most, before anything was learned."
    )


def say_stages(sizes: pd.DataFrame, looks: pd.DataFrame, model: str) -> str:
    """Return what the chapter shows, and what it lacks, in Markdown."""
    if sizes.empty and looks.empty:
        return (
            f"> No committed run of `{model}` predicts these items: this page needs the released "
            "ChaosNLI items and our runs, which `make wanted` trains."
        )
    if looks["runs"].str.startswith("synthetic").any():
        return "The sample has no trained models: what this page shows was simulated."
    parts = []
    for dataset, group in by_dataset(sizes):
        seeds = int(group["n_seeds"].max())
        parts.append(
            f"on {dataset}, runs of `{model}` on "
            f"{listed(number(n) for n in sorted(group['items'].unique()))} items"
            + (f" (means of up to {seeds} seeds)" if seeds > 1 else " (one seed each)")
        )
    text = f"This page shows {'; '.join(parts)}." if parts else ""
    if (sizes.groupby("dataset")["items"].nunique() < 2).any():
        text += (
            " Where a dataset has a single size, its smaller runs are wanted and not computed yet "
            "(`make wanted`)."
        )
    shown = "+".join(sizes["dataset"].unique()).split("+")
    absent = [one.short for one in book_datasets() if one.name not in shown]
    if absent:
        text += f" There is no run on {listed(absent)} yet."
    if len(looks):
        names = listed(f"`{name}`" for name in dict.fromkeys(looks["runs"]))
        return f"{text} The trajectory is that of {names}."
    return f"{text} No run was looked at along its way yet."

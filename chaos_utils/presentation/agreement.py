"""The sentences of the chapter on scores by human agreement.

`shown` is what `agreement.drawn` gives, `compared` what `agreement.binned_scores` gives.
"""

from collections.abc import Iterable
from typing import Literal

import pandas as pd

from chaos_utils.analyses.agreement import (
    BIN_GUESS,
    FIRST_BIN,
    GUESS,
    LEVEL,
    MODELS,
    against_guesses,
)
from chaos_utils.analyses.names import dataset_name
from chaos_utils.metrics.resampling import fewest_resamples
from chaos_utils.report.columns import number, signed

_GUESSES = {GUESS: "the guess", BIN_GUESS: "the commonest label of the bin"}
_NO_MODEL = "- There is no model here: pass `-p predictions=FILE`."


def say_ends(shown: pd.DataFrame, compared: pd.DataFrame, measure: str) -> str:
    """Return a Markdown list of each model's score in the first and the last bin.

    Accuracies are given in per cent and points.
    """
    rows = shown[shown["measure"] == measure]
    change = compared[(compared["measure"] == measure) & (compared["reference"] == FIRST_BIN)]
    change = change.set_index(["dataset", "system"])
    lines = []
    for dataset, group in rows.groupby("dataset", sort=False):
        name = dataset_name(str(dataset))
        ends = group.pivot(index="system", columns="bin", values="value").iloc[:, [0, -1]]
        ends.columns = pd.Index(["first", "last"])
        models = group[(group["role"] != "baseline") & (group["source"] == "computed")]
        for system in models["system"].unique():
            first, last = ends.loc[system]
            lines.append(
                f"- {name}, {system}: from {amount(first, measure)} to {amount(last, measure)}, "
                f"a change of {say_change(change.loc[(dataset, system)], measure)}."
            )
        published = group.loc[group["source"] == "published", "system"].unique()
        if len(published):
            theirs = ends.loc[published]
            moves = theirs["last"] - theirs["first"]
            lines.append(
                f"- {name}, the {len(published)} published models: from "
                f"{_span(theirs['first'], measure)} to {_span(theirs['last'], measure)}; "
                f"changes from {_move(moves.min(), measure)} to {_move(moves.max(), measure)}."
            )
    return "\n".join(lines) or _NO_MODEL


def say_against_guess(
    shown: pd.DataFrame, compared: pd.DataFrame, which: Literal["first", "last"]
) -> str:
    """Return a Markdown list: new accuracy in the first or last bin against the two guesses."""
    lines = []
    judged = against_guesses(compared)
    for dataset, group in shown[shown["measure"] == "new_accuracy"].groupby("dataset", sort=False):
        name = dataset_name(str(dataset))
        place = group["bin"].max() if which == "last" else group["bin"].min()
        here = group[group["bin"] == place]
        gaps = judged[
            (judged["dataset"] == dataset)
            & (judged["measure"] == "new_accuracy")
            & (judged["bin"] == place)
        ].set_index(["system", "reference"])
        computed = here[(here["source"] == "computed") & here["role"].isin(MODELS)]
        for system in computed["system"]:
            parts = []
            for reference, guess in _GUESSES.items():
                row = gaps.loc[(system, reference)]
                verdict = "above" if row["value"] > 0 else "below"
                if not row["p_holm"] < LEVEL:
                    verdict = "indistinguishable from"
                parts.append(f"{verdict} {guess} ({say_change(row, 'new_accuracy')})")
            lines.append(f"- {name}, {system}: {', and '.join(parts)}.")
        published = here.loc[here["source"] == "published", "value"]
        if len(published):
            values = here.set_index("system")["value"]
            counts = [
                f"{(published > values[system]).sum()} lie above {guess} "
                f"({amount(values[system], 'new_accuracy')})"
                for system, guess in _GUESSES.items()
            ]
            lines.append(
                f"- {name}, the {len(published)} published models, "
                f"{_span(published, 'new_accuracy')}: {', and '.join(counts)}."
            )
    return "\n".join(lines) or _NO_MODEL


def say_family(compared: pd.DataFrame, n_resamples: int) -> str:
    """Say for how many comparisons p-values are adjusted, and whether the resamples suffice."""
    n = len(against_guesses(compared))
    if not n:
        return ""
    text = f"There are {n} such comparisons; the intervals in brackets are not adjusted."
    fewest = fewest_resamples(1 - LEVEL, n)
    if n_resamples < fewest:
        text += (
            f" {n_resamples:,} resamples may be too few to tell a model of one seed from a guess; "
            f"{fewest:,} are enough."
        )
    return text


def say_nearer_uniform(shown: pd.DataFrame, compared: pd.DataFrame) -> str:
    """Return a Markdown list: in which bins the uniform guess has the smaller JSD."""
    judged = against_guesses(compared)
    gaps = judged[judged["measure"] == "jsd"]
    lines = []
    for dataset, group in shown[shown["measure"] == "jsd"].groupby("dataset", sort=False):
        name = dataset_name(str(dataset))
        for system, rows in gaps[gaps["dataset"] == dataset].groupby("system", sort=False):
            nearer = (rows["value"] > 0) & (rows["p_holm"] < LEVEL)
            lines.append(f"- {name}, {system}: in {bins(rows.loc[nearer, 'bin'])}.")
        published = group[group["source"] == "published"]
        if len(published):
            chance = group[group["system"] == GUESS].set_index("bin")["value"]
            worse = published[published["value"] > published["bin"].map(chance)]
            counts = worse.groupby("bin").size().reindex(chance.index, fill_value=0)
            lines.append(
                f"- {name}, of the {published['system'].nunique()} published models, by their "
                f"values alone: {', '.join(f'{n} in bin {b}' for b, n in counts.items())}."
            )
    return "\n".join(lines) or _NO_MODEL


def bins(numbers: Iterable[int]) -> str:
    """Name bins in a sentence: "bins 1, 2", "no bin"."""
    known = sorted(numbers)
    plural = "bins" if len(known) > 1 else "bin"
    return f"{plural} {', '.join(map(str, known))}" if known else "no bin"


def amount(value: float, measure: str) -> str:
    """Return a score as the text gives it: accuracies in percent, distances to three digits."""
    if measure.endswith("accuracy"):
        return f"{number(100 * value, 1)}%"
    return number(value, 3)


def say_change(row: pd.Series, measure: str, value: str = "value") -> str:
    """Return a difference with its interval in brackets; of accuracies in points."""
    scale, digits = (100, 1) if measure.endswith("accuracy") else (1, 3)
    low, high = (signed(scale * float(row[end]), digits) for end in ("low", "high"))
    return f"{_move(float(row[value]), measure)} [{low}, {high}]"


def _span(values: pd.Series, measure: str) -> str:
    return f"{amount(values.min(), measure)}–{amount(values.max(), measure)}"


def _move(value: float, measure: str) -> str:
    if measure.endswith("accuracy"):
        return f"{signed(100 * value, 1)} points"
    return signed(value, 3)

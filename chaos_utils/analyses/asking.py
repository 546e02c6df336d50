"""How language models are asked: what each way can say, and whether settings bring them nearer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import wasserstein_distance

from chaos_utils.analyses.inputs import AnalysisInputs, gather
from chaos_utils.datasets.auxiliary_data import PROBCOPA, AuxiliaryData
from chaos_utils.datasets.catalogue import bundled_datasets, short_of
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.divergence import Floats, energy_distance
from chaos_utils.metrics.panels import one_hot
from chaos_utils.metrics.resampling import (
    bootstrap_means,
    holm,
    paired_p_value,
    percentile_interval,
)
from chaos_utils.recorded import cached_analysis
from chaos_utils.report.columns import Column, Row
from chaos_utils.scoring.asking import LABEL, LOGPROBS, PERCENTAGES, SAMPLES
from chaos_utils.scoring.evaluate import part_of
from chaos_utils.scoring.recalibration import smoothed
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import computed
from chaos_utils.scoring.worth import PEOPLE, PEOPLE_RECALIBRATED, worth

READS = ("probcopa/*",)

HALF, MEDIAN, BASE_RATE, UNIFORM = (
    "the other half of the people",
    "the other half's median, alone",
    "people's answers to other items",
    "uniform guess",
)
MOST = 100  # of the scale
FEWEST_ITEMS = 20  # with enough readable answers: a setting with fewer is not compared
_TEST_RESAMPLES = 10_000  # resamples for p-values of 34 comparisons
N_SAMPLES = (1, 5, 30, 100)
Key = tuple[str, str, str]  # model, setting and value; a reference and two empty texts
STEPS = 10  # into which stated percentages are rounded: 0, 10, …, 100


def setting_inputs(inputs: AnalysisInputs) -> AnalysisInputs:
    """Return the inputs on the dataset that language models answered in several settings.

    None where `inputs` has other votes than the book's.
    """
    if not inputs.released:
        return AnalysisInputs(())
    datasets = [dataset.name for dataset in bundled_datasets() if dataset.file in PROBCOPA.files]
    return gather(datasets=datasets).with_auxiliary_data(PROBCOPA)


@cached_analysis(keys=("dataset", "model", "setting", "value"))
def settings(
    votes: Votes,
    *,
    answers: AuxiliaryData = PROBCOPA,
    n_splits: int,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Say how far language models' answers on a scale are from people's, by how they were asked.

    With few answers, two samples of one distribution are apart by chance. So all comparisons are of
    equally many answers: people are split into halves, `n_splits` times at random, and one half is
    compared with as many answers of a model, of the other half, or of a guess. On an item, a
    setting needs as many readable answers; one that has them on fewer than `FEWEST_ITEMS` items has
    no distance.

    One row for each model, setting and value, and one for each reference, whose setting is empty:

    * ``kind``: ``setting`` or ``reference``;
    * ``n_items``: the items that are compared; ``n_answers``: readable answers, of ``n_asked``;
    * ``distance``: the Wasserstein distance to half of the people, in points of the scale, mean
      over splits and items; ``over_median``: the same minus that of the other half's median as the
      only answer. Both have ``_low`` and ``_high``, over items;
    * ``p``: the p-value of ``over_median``, by the paired bootstrap; ``p_adjusted``: the same,
      adjusted by Holm's method over the settings; ``is_nearer``: whether ``over_median`` is
      below 0;
    * ``energy``: the energy distance without bias, 0 in expectation for another half;
    * ``all_answers``: the Wasserstein distance of all answers to all people, whose expectation
      depends on how many there are;
    * ``sd``: the standard deviation of an item's answers, mean over items.
    """
    rows = answers.read()
    rows = rows[rows["uid"].isin(votes.uids)]
    asked = {
        key: {uid: group.to_numpy() for uid, group in part.groupby("uid")["answer"]}
        for key, part in rows.groupby(["model", "setting", "value"], sort=False)
    }
    of_people = asked.pop(("", "", ""))
    uids = sorted({uid for of_setting in asked.values() for uid in of_setting})
    people = [of_people[uid] for uid in uids]
    others = [
        np.concatenate([values for other, values in of_people.items() if other != uid])
        for uid in uids
    ]
    samples = {
        key: [_readable(of_setting.get(uid, np.empty(0))) for uid in uids]
        for key, of_setting in asked.items()
    }
    wasserstein, energy = _distances(people, others, samples, n_splits, [seed, 31])
    median = wasserstein[MEDIAN, "", ""]
    table: list[dict[str, Any]] = []
    for key, distances in wasserstein.items():
        is_setting, is_compared = key in samples, ~np.isnan(distances)
        answers_by_item = samples.get(key, people if key[0] == HALF else [])
        row: dict[str, Any] = dict(zip(("model", "setting", "value"), key, strict=True))
        row |= {"kind": "setting" if is_setting else "reference", "n_items": is_compared.sum()}
        if answers_by_item:
            row["n_answers"] = sum(map(len, answers_by_item))
            row["n_asked"] = sum(map(len, asked[key].values())) if is_setting else row["n_answers"]
        if row["n_items"] >= FEWEST_ITEMS:
            if answers_by_item:
                spreads = [one.std(ddof=1) for one in answers_by_item if len(one) > 1]
                row["sd"] = np.mean(spreads)
            columns = np.column_stack([distances, distances - median])[is_compared]
            resampled = bootstrap_means(columns, n_resamples, np.random.default_rng([seed, 32]))
            low, high = percentile_interval(resampled, confidence)
            for k, quantity in enumerate(("distance", "over_median")):
                row |= {quantity: columns[:, k].mean()}
                row |= {f"{quantity}_low": low[k], f"{quantity}_high": high[k]}
            row["energy"] = energy[key][is_compared].mean()
            if is_setting:
                rng = np.random.default_rng([seed, 34])
                resampled = bootstrap_means(columns[:, 1:], _TEST_RESAMPLES, rng)
                (row["p"],) = paired_p_value(resampled)
                pairs = list(zip(people, answers_by_item, strict=True))
                compared = [pairs[item] for item in np.flatnonzero(is_compared)]
                row["all_answers"] = np.mean([wasserstein_distance(*pair) for pair in compared])
        table.append(row)
    result = pd.DataFrame(table).astype({"n_answers": "Int64", "n_asked": "Int64"})
    return result.assign(
        p_adjusted=holm(result["p"].to_numpy()), is_nearer=result["over_median"] < 0
    )


def _distances(
    people: Sequence[Floats],
    others: Sequence[Floats],
    samples: Mapping[Key, Sequence[Floats]],
    n_splits: int,
    seed: list[int],
) -> tuple[dict[Key, Floats], dict[Key, Floats]]:
    """Return the Wasserstein and energy distances to half of the people, (n_items,), by key.

    Those of `people`, `others` (answers to other items) and `samples` are lists of an item's
    answers. NaN where an item has too few.
    """
    rng = np.random.default_rng(seed)
    references: dict[Key, Callable[[int, Floats], Floats]] = {
        (HALF, "", ""): lambda item, half: half,
        (MEDIAN, "", ""): lambda item, half: np.array([np.median(half)], np.float64),
        (BASE_RATE, "", ""): lambda item, half: rng.choice(others[item], len(half), replace=False),
        (UNIFORM, "", ""): lambda item, half: rng.integers(MOST + 1, size=len(half)).astype(
            np.float64
        ),
    }
    keys = [*references, *samples]
    distances = np.full((2, len(keys), len(people), n_splits), np.nan)
    for item, values in enumerate(people):
        size = len(values) // 2
        for split in range(n_splits):
            half, other = np.split(rng.permutation(values)[: 2 * size], 2)
            for k, key in enumerate(keys):
                if key in references:
                    sample = references[key](item, other)
                elif len(samples[key][item]) >= size:
                    sample = rng.choice(samples[key][item], size, replace=False)
                else:
                    continue
                both = wasserstein_distance(half, sample), energy_distance(half, sample)
                distances[:, k, item, split] = both
    means = distances.mean(axis=3)
    wasserstein, energy = (dict(zip(keys, by_item, strict=True)) for by_item in means)
    return wasserstein, energy


def _readable(answers: Floats) -> Floats:
    return answers[~np.isnan(answers)]


@cached_analysis(keys=("dataset", "way", "n_answers"))
def ways(
    votes: Votes,
    systems: Sequence[System],
    *,
    system: str,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Say what each way of asking would show of a system whose probabilities are known.

    The `system` is asked as a language model would be: for its likeliest ``label``; for some
    ``samples`` of its distribution; for the ``logprobs`` of the labels, which are its distribution;
    and for ``percentages`` in tens, which sum to a hundred. Each answer becomes a distribution by
    the rules of `scoring.asking`.

    One row for each way and number of answers: ``n_items``, and the worth in people on top of the
    base rate, as it is (a label has none) and recalibrated, with ``_low`` and ``_high`` over items.
    """
    chosen = [one for one in systems if one.name == system]
    if not chosen:
        return pd.DataFrame(columns=["way", "n_answers"])
    part = part_of(votes, chosen[0].rows_in(votes))
    batch = chosen[0].aligned_to(part)
    shares, rng = batch.model, np.random.default_rng([seed, 33])
    asked: list[tuple[str, int, Floats]] = [
        (LABEL, 1, one_hot(batch.predicted[:, np.newaxis], part.dataset.n_classes)[0]),
        *((SAMPLES, n, smoothed(rng.multinomial(n, shares) / n, n)) for n in N_SAMPLES),
        (PERCENTAGES, 1, _in_steps(shares)),
        (LOGPROBS, 1, shares),
    ]
    table = []
    for way, n_answers, probabilities in asked:
        answered = replace(computed(way, part, probabilities), one_label=way == LABEL)
        shown = worth(part, answered, n_resamples=n_resamples, seed=seed, level=confidence).shown
        row: dict[str, Any] = {"way": way, "n_answers": n_answers, "n_items": len(part)}
        for name in (PEOPLE, PEOPLE_RECALIBRATED):
            if name in shown:
                ends = asdict(shown[name])
                row |= {
                    name: ends["value"],
                    f"{name}_low": ends["low"],
                    f"{name}_high": ends["high"],
                }
        table.append(row)
    return pd.DataFrame(table)


def _in_steps(shares: Floats) -> Floats:
    """Return shares rounded to steps that sum to 1: the largest remainders are rounded up."""
    steps = np.floor(STEPS * shares)
    rank = (steps - STEPS * shares).argsort(axis=1, kind="stable").argsort(axis=1)
    rounded: Floats = (steps + (rank < STEPS - steps.sum(axis=1, keepdims=True))) / STEPS
    return rounded


# How tables show them


def way_name(row: Row) -> str:
    """Return what was asked for, as "30 samples"."""
    names = {LABEL: "one label", PERCENTAGES: "percentages, in tens", LOGPROBS: "log-probabilities"}
    n = row["n_answers"]
    return names.get(str(row["way"]), f"{n} {'sample' if n == 1 else 'samples'}")


def way_columns(rows: pd.DataFrame) -> list[Column]:
    """Return how `ways` are shown: a row for each way, datasets side by side."""
    columns = [Column("asked for", way_name)]
    for dataset in dict.fromkeys(rows["dataset"]):
        look: dict[str, Any] = {"group": short_of(str(dataset)), "at": {"dataset": dataset}}
        columns += [
            Column("as it is", PEOPLE, 1, **look),
            Column("recalibrated", PEOPLE_RECALIBRATED, 1, **look),
        ]
    return columns

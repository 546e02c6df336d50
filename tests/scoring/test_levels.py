"""Every interval has the coverage that is asked for: one of a lower level lies within it."""

import inspect
import pkgutil
from importlib import import_module

import numpy as np
import pytest
from helpers.predictions import blurred

import chaos_utils.metrics
import chaos_utils.scoring
from chaos_utils.metrics import agreement, conformal, ranks, resampling, signals, skill
from chaos_utils.scoring import scores, seeds, systems, worth

RNG = np.random.default_rng(0)
TRUTHS = RNG.dirichlet([0.9, 0.7, 0.5], 120)
COUNTS = RNG.multinomial(9, TRUTHS)
SHARES, MODEL = COUNTS / 9, (TRUTHS + RNG.dirichlet(np.ones(3), 120)) / 2
DISTANCES = skill.distances(COUNTS, MODEL, np.arange(120))
MOMENTS = resampling.Moments.drawn(SHARES, 200, np.random.default_rng(0))
DRAWS = RNG.normal(size=(200, 3))
FIRST, SECOND = np.meshgrid(np.arange(40), np.arange(40))


def ends(signal):
    return signal.low, signal.high


def in_worth(level, estimate):
    found = worth.of_predictions(
        COUNTS, MODEL, np.arange(120), np.arange(120) % 10, n_resamples=200, level=level
    )
    return ends(found.estimates[estimate])


def of_seeds(level, n_seeds):
    given = {"n_items": 120, "level": level}
    return ends(seeds.over_seeds(DRAWS[0, :n_seeds], DRAWS[:, :n_seeds], **given))


# What a level decides: the ends of an interval.
INTERVALS = {
    "percentile_interval": lambda sample, level: resampling.percentile_interval(DRAWS[:, 0], level),
    "Moments.interval": lambda sample, level: MOMENTS.interval(resampling.mean, [0], level),
    "entropy_correlation": lambda _, level: ends(signals.entropy_correlation(SHARES, MODEL, level)),
    "spearman": lambda _, level: ends(signals.spearman(SHARES[:, 0], MODEL[:, 0], level)),
    "auroc": lambda _, level: ends(signals.auroc(MODEL[:, 0], SHARES[:, 0] > 0.5, level)),
    "contested_auroc": lambda _, level: ends(
        signals.contested_auroc(SHARES, MODEL, majority_below=0.7, level=level)
    ),
    "over_seeds": lambda sample, level: of_seeds(level, 3),
    "over_seeds, one": lambda sample, level: np.ravel(of_seeds(level, 1)),
    **{
        f"intervals, {name}": lambda _, level, name=name: skill.intervals(
            DISTANCES, DISTANCES.of_shrunk, n_resamples=200, seed=0, level=level
        )[name]
        for name in ("skill", "skill_recalibrated", "skill_shrunk", "people", "people_shrunk",
                     "people_recalibrated", "pooled")
    },
    "of_predictions": lambda sample, level: in_worth(level, worth.PEOPLE_SHRUNK),
}  # fmt: skip


def of_table(door):
    """Return the ends that a door to scores gives for JSD and for the squared distance."""

    def found(sample, level):
        votes = sample[0]
        table = door(votes, systems.synthetic_systems(votes), level)
        return table["low"].to_numpy(float), table["high"].to_numpy(float)

    return found


MEASURES = ("jsd", "sq_distance")
INTERVALS |= {
    "score": of_table(lambda votes, given, level: scores.score(
        votes, given, measures=MEASURES, comparisons=[(given[1].name, given[0].name)],
        n_resamples=200, level=level)),
    "score_rows": of_table(lambda votes, given, level: scores.as_scores(scores.score_rows(
        votes, given, scores.EvaluationRequest(MEASURES, n_resamples=200, level=level)))),
    "score_over_seeds": of_table(lambda votes, given, level: seeds.score_over_seeds(
        votes, given, measures=MEASURES, n_resamples=200, level=level)),
    "worth": lambda sample, level: ends(worth.worth(
        sample[0], systems.computed("one", sample[0], blurred(sample[0], seed=0)),
        n_resamples=200, level=level).estimates[worth.SKILL]),
}  # fmt: skip


@pytest.mark.parametrize("name", INTERVALS)
def test_a_higher_level_reaches_farther(sample, name):
    (low, high), (lower, higher) = (INTERVALS[name](sample, level) for level in (0.5, 0.8))
    assert (np.asarray(lower) < low).all()
    assert (np.asarray(higher) > high).all()


# What it decides elsewhere: how much must be seen until something counts.
DECISIONS = {
    "leads": lambda level: -agreement.leads(FIRST, SECOND, level).sum(),
    "is_above_zero": lambda level: -skill.is_above_zero(np.array([0.0, 2.0]), level),
    "rank_sets": lambda level: (
        ranks.rank_sets(SHARES, 200, np.random.default_rng(0), level).critical
    ),
    "label_sets": lambda level: conformal.label_sets(MODEL, SHARES, MODEL, level).sum(),
    "fewest_resamples": resampling.fewest_resamples,
}


@pytest.mark.parametrize("name", DECISIONS)
def test_a_higher_level_asks_for_more(name):
    assert DECISIONS[name](0.8) > DECISIONS[name](0.5)


def test_every_function_that_takes_a_level_is_tried_here():
    tried = {name.partition(",")[0] for name in (*INTERVALS, *DECISIONS)}
    taking = {
        name
        for room in (chaos_utils.metrics, chaos_utils.scoring)
        for one in pkgutil.iter_modules(room.__path__, f"{room.__name__}.")
        for name, function in vars(import_module(one.name)).items()
        if inspect.isfunction(function) and not name.startswith("_")
        and "level" in inspect.signature(function).parameters
    }  # fmt: skip
    assert taking <= tried

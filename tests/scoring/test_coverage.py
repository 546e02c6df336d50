"""How often intervals of squared distance, skill and worth hold the truth, by simulation.

The glossary has the table, of 1,000 samples: see *too few items to say*.
"""

import numpy as np
import pytest

from chaos_utils.datasets.splits import folds_of
from chaos_utils.metrics.resampling import Moments, mean
from chaos_utils.metrics.skill import distances
from chaos_utils.scoring.recalibration import fit_affine
from chaos_utils.scoring.worth import PEOPLE, of_predictions

SHARP, GOOD, NEAR = "too sure", "good", "near"
CROWDS = {  # labels overall, times how alike the items are, and the system
    "as on SNLI": ([0.46, 0.41, 0.36], SHARP),
    "nearly unanimous": ([0.07, 0.07, 0.06], GOOD),
    "skewed": ([1.27, 0.15, 0.08], NEAR),
    "two labels": ([0.48, 0.32], NEAR),
}
NAMES = ("distance", "skill", "people", "people_shrunk", "people_recalibrated")
MANY = 20_000
RESAMPLES = 300


def predicted(how, truths, rng):
    """Return what a system says of items."""
    if how == GOOD:
        return 0.9 * truths + 0.1 * rng.dirichlet(np.ones(truths.shape[1]), len(truths))
    if how == SHARP:
        powers = (rng.multinomial(5, truths) + 0.02) ** 3
    else:
        noise = rng.normal(scale=0.5, size=truths.shape)
        powers = np.maximum(truths, 1e-3) ** 1.5 * np.exp(noise)
    return powers / powers.sum(axis=1, keepdims=True)


def expected(alpha, how, n, n_votes, rng):
    """Return the truth of each estimate but the recalibrated one, V, d₀, and items to try maps on.

    The base rate is that of n − 1 other items.
    """
    truths = rng.dirichlet(alpha, 10 * MANY)
    model, center = predicted(how, truths, rng), alpha / alpha.sum()
    person = 1 - (truths**2).sum(axis=1).mean()
    spread = ((truths - center) ** 2).sum(axis=1).mean()
    error = (spread + person / n_votes) / (n - 1)
    away = model - center
    gain, square = (away * (truths - center)).sum(axis=1).mean(), (away**2).sum(axis=1).mean()
    shrink = (gain + error) / (square + error)
    shrunk = spread - 2 * shrink * gain + shrink**2 * square + (1 - shrink) ** 2 * error
    base, plain = spread + error, ((model - truths) ** 2).sum(axis=1).mean()
    found = {"distance": plain, "skill": 1 - plain / base, "people": person / plain - person / base}
    found["people_shrunk"] = person / shrunk - person / base
    return found, person, base, (truths[:MANY], np.log(np.maximum(model[:MANY], 1e-9)))


def of_maps(model, shares, folds, fresh):
    """Return the squared distance on fresh items of the maps that were fitted out of fold."""
    truths, logs = fresh
    found = []
    for fold in np.unique(folds):
        rows = folds != fold
        weights, intercepts = fit_affine(np.log(np.maximum(model[rows], 1e-9)), shares[rows])
        powers = np.exp(logs @ weights + intercepts)
        mapped = powers / powers.sum(axis=1, keepdims=True)
        found.append(((mapped - truths) ** 2).sum(axis=1).mean())
    return np.mean(found)


def coverage(crowd, n, n_votes, n_samples, seed=0):
    """Return how often each interval holds the truth, and in how many samples there is one."""
    alpha, how = np.array(CROWDS[crowd][0]), CROWDS[crowd][1]
    truth, person, base, fresh = expected(alpha, how, n, n_votes, np.random.default_rng(99))
    held = {name: [] for name in NAMES}
    groups = np.arange(n)
    folds = folds_of(groups)
    for sample in range(n_samples):
        rng = np.random.default_rng([seed, sample, n, n_votes])
        truths = rng.dirichlet(alpha, n)
        counts = rng.multinomial(n_votes, truths)
        model = predicted(how, truths, rng)
        found = of_predictions(counts, model, groups, folds, n_resamples=RESAMPLES, seed=sample)
        if found.undefined:
            continue
        of_system = distances(counts, model, groups).of_system[:, np.newaxis]
        moments = Moments.drawn(of_system, RESAMPLES, np.random.default_rng(sample))
        low, high = moments.interval(mean, [0], 0.95)
        held["distance"].append(low <= truth["distance"] <= high)
        known = dict(truth)
        if not found.not_recalibrated:
            mapped = of_maps(model, counts / n_votes, folds, fresh)
            known["people_recalibrated"] = person / mapped - person / base
        for name in NAMES[1:]:
            one = found.estimates[name.replace("people", PEOPLE)]
            if name in known:
                held[name].append(one.low <= known[name] <= one.high)
    n_said = len(held["distance"])
    return {name: np.mean(one) if one else np.nan for name, one in held.items()}, n_said


def test_nothing_is_said_of_few_items_and_intervals_hold_the_truth():
    assert coverage("nearly unanimous", 30, 20, 40)[1] == 0
    held, n_said = coverage("as on SNLI", 200, 5, 150)
    assert n_said == 150
    assert min(one for one in held.values() if one >= 0) >= 0.89  # by chance


@pytest.mark.slow
@pytest.mark.parametrize("size", [(200, 5), (500, 5), (200, 20), (1000, 20)])
@pytest.mark.parametrize("crowd", CROWDS)
def test_intervals_of_worth_hold_the_truth_from_two_hundred_items_on(crowd, size):
    held, n_said = coverage(crowd, *size, 500)
    assert n_said > 400
    assert np.isnan(held["people_recalibrated"]) == (size[0] < 500)
    assert min(one for one in held.values() if one >= 0) >= 0.9  # 0.92 but for chance

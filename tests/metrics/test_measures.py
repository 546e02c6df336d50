"""Every measure: against an independent computation, and by what all measures must have."""

from dataclasses import replace
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
import scipy.stats
from helpers.strategies import distributions
from hypothesis import given, settings
from scipy.spatial.distance import jensenshannon

from chaos_utils.metrics import scores
from chaos_utils.metrics.measures import MEASURES, EvalBatch, by_name, take_items

TIED = [[0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [1, 0, 0]]


def judged(h, m, n_votes=100, **fields):
    top, each = h.argmax(axis=1), np.full(len(h), n_votes)
    return EvalBatch(h, m, m.argmax(axis=1), top, top, each, **fields)


# Independent computations: item by item, label by label, or by SciPy


def hits(h, m):
    """Return what a prediction finds of a crowd; labels that tie for the largest share it."""
    return np.array(
        [ours[theirs >= theirs.max() - 1e-12].mean() for ours, theirs in zip(h, m, strict=True)]
    )


def majority(h):
    return np.eye(h.shape[1])[h.argmax(axis=1)]


def first_hits(h, m):
    return (h.argmax(axis=1) == m.argmax(axis=1)).astype(float)


def binned(confidence, hit, *, zero):
    """Return the gaps in each of ten bins; a confidence of 0 is in the first, or in none."""
    gaps = hit - confidence
    bins = [
        gaps[(confidence > low) & (confidence <= high)]
        for low, high in pairwise(np.arange(11) / 10)
    ]
    if zero:
        bins[0] = np.append(bins[0], gaps[confidence == 0])
    return bins


def first_bins(h, m):
    return binned(m.max(axis=1), first_hits(h, m), zero=False)


def plug_in(bins, n):
    return sum(abs(gaps.sum()) for gaps in bins) / n


def of_pairs(h, m):
    """Return the squared error: the mean product of two items' gaps in a bin."""
    bins = binned(m.max(axis=1), hits(h, m), zero=True)
    products = [len(gaps) * np.mean([a * b for a, b in combinations(gaps, 2)])
                for gaps in bins if len(gaps) > 1]  # fmt: skip
    return sum(products) / len(h)


def classwise(h, m):
    k = h.shape[1]
    return sum(plug_in(binned(m[:, c], h[:, c], zero=True), len(h)) for c in range(k)) / k


def adaptive(h, m):
    gaps = (first_hits(h, m) - m.max(axis=1))[np.argsort(m.max(axis=1), kind="stable")]
    return plug_in(np.array_split(gaps, min(10, len(h))), len(h))


def entropy_gap(h, m):
    return scipy.stats.entropy(m, axis=1) - scipy.stats.entropy(h, axis=1)


def floored(m):
    m = np.maximum(m, 1e-15)
    return m / m.sum(axis=1, keepdims=True)


def same_signs(a, b):
    pairs = combinations(range(len(a)), 2)
    return all(np.sign(a[i] - a[j]) == np.sign(b[i] - b[j]) for i, j in pairs)


def orders(shares):
    """Return every order of the labels that a row's ties leave open."""
    return {
        way for way in permutations(range(len(shares)))
        if all(shares[a] <= shares[b] + 1e-12 for a, b in pairwise(way))
    }  # fmt: skip


def same_order(a, b):
    one, other = orders(a), orders(b)
    return len(one & other) / len(one) / len(other)


def tau(h, m):
    each = [scipy.stats.kendalltau(a, b).statistic for a, b in zip(h, m, strict=True)]
    defined = [value for value in each if not np.isnan(value)]
    return np.mean(defined) if defined else np.nan


def simbench(h, m):
    of_model, of_even = np.abs(h - m).mean(), np.abs(h - 1 / h.shape[1]).mean()
    return 100 * (1 - of_model / of_even) if of_even > 0 else np.nan


def by_item(function):
    return lambda h, m: np.mean([function(a, b) for a, b in zip(h, m, strict=True)])


EXPECTED = {
    "jsd": lambda h, m: np.nan_to_num(jensenshannon(h, m, axis=1)).mean(),
    "kl": lambda h, m: scipy.stats.entropy(h, floored(m), axis=1).mean(),
    "old_accuracy": lambda h, m: hits(majority(h), m).mean(),
    "new_accuracy": lambda h, m: hits(majority(h), m).mean(),
    "dist_ce": lambda h, m: np.maximum(h - m, 0).sum(axis=1).mean(),
    "ent_ce": lambda h, m: np.abs(entropy_gap(h, m)).mean(),
    "signed_ent_ce": lambda h, m: entropy_gap(h, m).mean(),
    "rank_cs": by_item(lambda a, b: (np.argsort(a, kind="stable") == np.argsort(b, kind="stable"))
                       .all()),
    "rank_cs_ties": by_item(same_signs),
    "rank_cs_expected": by_item(same_order),
    "kendall_tau": tau,
    "ece": lambda h, m: plug_in(first_bins(h, m), len(h)),
    "ece_votes": lambda h, m: plug_in(binned(m.max(axis=1), hits(h, m), zero=False), len(h)),
    "classwise_ece": lambda h, m: classwise(majority(h), m),
    "classwise_ece_votes": classwise,
    "mce": lambda h, m: max(abs(gaps.mean()) for gaps in first_bins(h, m) if len(gaps)),
    "adaptive_ece": adaptive,
    "sq_ce": lambda h, m: of_pairs(majority(h), m),
    "sq_ce_votes": of_pairs,
    "soft_accuracy": lambda h, m: np.minimum(h, m).sum(axis=1).mean(),
    "cross_entropy": lambda h, m: -(h * np.log(floored(m))).sum(axis=1).mean(),
    "brier": lambda h, m: (h[:, :, None] * (m[:, None] - np.eye(h.shape[1])) ** 2).sum() / len(h),
    "sq_distance": lambda h, m: ((h - m) ** 2 - h * (1 - h) / 99).sum(axis=1).mean(),
    "manhattan": lambda h, m: np.abs(h - m).sum(axis=1).mean(),
    "simbench": simbench,
    "wasserstein": by_item(
        lambda a, b: scipy.stats.wasserstein_distance(range(len(a)), range(len(a)), a, b)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=25)
@given(pair=distributions(n_arrays=2, min_items=3))
def test_a_measure_is_what_it_says_and_stays_in_its_range(name, pair):
    measure, k = MEASURES[name], pair[0].shape[1]
    found = measure.value(judged(*pair))
    assert found == pytest.approx(EXPECTED[name](*pair), rel=1e-9, abs=5e-8, nan_ok=True)
    assert np.isnan(found) or measure.low_for(k) - 1e-9 <= found <= measure.high_for(k) + 1e-9


@pytest.mark.parametrize("k", [2, 4, 10])
@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_knows_no_order_and_prefers_people_s_own_shares(name, k):
    rng = np.random.default_rng(k)
    measure, h = MEASURES[name], rng.dirichlet(np.ones(k), 30)
    model = rng.dirichlet(np.full(k, 0.5), 30)
    one = replace(judged(h, model), old_label=rng.integers(k, size=30))
    value = measure.value(one)
    assert measure.value(take_items(one, rng.permutation(30))) == pytest.approx(value)
    order = np.arange(k)[::-1] if name == "wasserstein" else rng.permutation(k)
    turned = replace(
        judged(h[:, order], model[:, order]), old_label=np.argsort(order)[one.old_label]
    )
    assert measure.value(turned) == pytest.approx(value)
    if measure.is_mean:
        parts = [measure.value(take_items(one, rows)) for rows in (np.arange(9), np.arange(9, 30))]
        assert np.average(parts, weights=[9, 21]) == pytest.approx(value)
    if name in ("ece", "classwise_ece", "mce", "adaptive_ece", "sq_ce"):
        return  # crowds are less sure than their majority is right
    best = measure.value(judged(h, h))
    sign = {"lower": 1, "higher": -1}.get(measure.better)
    assert abs(best) < 1e-12 if sign is None else sign * best < sign * value


def test_a_stated_label_stands_and_labels_that_tie_share_an_item():
    h, m = np.array([[0.2, 0.8], [0.6, 0.4]]), np.array([[0.7, 0.3], [0.5, 0.5]])
    one = replace(judged(h, m), predicted=np.array([1, 0]))
    assert MEASURES["new_accuracy"].value(one) == pytest.approx((1 + 0.5) / 2)
    assert MEASURES["new_accuracy"].value(replace(one, stated=True)) == 1
    h, m = np.array([[0.5, 0.5, 0], [0.5, 0.5, 0]]), np.array([[0.2, 0.8, 0], [0.4, 0.4, 0.2]])
    drawn = judged(h, m, ties_share=True)
    assert MEASURES["new_accuracy"].columns(drawn)[:, 0].tolist() == [0.5, 0.5]
    stated = replace(drawn, predicted=np.array([1, 2]), stated=True)
    assert MEASURES["new_accuracy"].columns(stated)[:, 0].tolist() == [0.5, 0]
    assert scores.top_label(TIED, ties="first").tolist() == [0, 1, 0]
    assert scores.top_label(TIED, ties="last").tolist() == [1, 2, 0]
    np.testing.assert_allclose(scores.shared_top(TIED)[:2], [[0.5, 0.5, 0], [0, 0.5, 0.5]])


def sharpened(p, power):
    raised = np.maximum(p, 1e-12) ** power
    return raised / raised.sum(axis=1, keepdims=True)


TRUTH = np.random.default_rng(0).dirichlet([1.5, 1, 0.7], 10_000)
FEW = np.random.default_rng(1).multinomial(3, TRUTH)
OVERCONFIDENT = [sharpened(TRUTH, power) for power in (1.2, 1.5, 2, 4)]
OTHERS = [
    *OVERCONFIDENT,
    *(sharpened(TRUTH, power) for power in (0.5, 0.7)),
    0.8 * TRUTH + 0.2 / 3,
    np.broadcast_to(TRUTH.mean(axis=0), TRUTH.shape),
]


def behind_the_truth(measure, human, n_votes):
    """Return how much worse each other prediction is than the truth, judged by these shares."""

    def cost(model):
        top, old = human.argmax(axis=1), TRUTH.argmax(axis=1)
        votes = np.full(len(human), n_votes)
        one = EvalBatch(human, model, model.argmax(axis=1), top, old, votes, ties_share=True)
        value = measure.value(one)
        return {"lower": value, "higher": -value, "zero": abs(value)}[measure.better]

    return np.array([cost(one) for one in OTHERS]) - cost(TRUTH)


def what_few_votes_do(measure):
    """Return, by simulation, what three votes per item do to a comparison by a measure."""
    endless = behind_the_truth(measure, TRUTH, 10**9)
    if endless.min() < 1e-6:
        return ""  # the truth is not best alone
    few = behind_the_truth(measure, FEW / 3, 3)
    if few.min() > 0 and np.allclose(few, endless, rtol=0.12, atol=0.002):
        return "none"
    return "favours_overconfident" if few[: len(OVERCONFIDENT)].min() < 0 else ""


@pytest.mark.parametrize("name", MEASURES)
def test_what_is_said_of_few_votes_is_what_they_do(name):
    simulated = what_few_votes_do(MEASURES[name])
    hint = f"three votes per item: few_votes_bias={simulated!r}"
    assert MEASURES[name].few_votes_bias == simulated, hint


def test_a_measure_that_is_declared_twice_or_badly_named_is_refused():
    jsd = MEASURES["jsd"]
    with pytest.raises(ValueError, match="'jsd' is declared twice"):
        by_name([jsd, MEASURES["kl"], jsd])
    for name in ("", "JSD", "js distance", "2nd", "js-d"):
        with pytest.raises(ValueError, match=f"{name!r}: expected a name such as"):
            by_name([replace(jsd, name=name)])

"""Raw and shrunken shares as targets: a simulation of what each is good for."""

from dataclasses import replace

import numpy as np
from helpers.evidence import evidence_of, with_counts

from chaos_utils.analyses import soft_labels
from chaos_utils.scoring.systems import computed


def simulated(sample, noise=0.5):
    """Return a hundred votes on each item of the sample, and a system that half knows them."""
    rng, n_items = np.random.default_rng(2), len(sample[1])
    truth = rng.dirichlet([0.5, 0.5, 0.5], n_items)
    votes = with_counts(sample[1], rng.multinomial(100, truth))
    votes = replace(votes, texts=())
    logs = np.log(truth + 0.02) + noise * rng.standard_normal(truth.shape)
    shares = np.exp(logs)
    return votes, computed("half", votes, shares / shares.sum(axis=1, keepdims=True))


def test_shrunken_shares_are_nearer_and_raw_ones_better_to_learn(sample):
    votes, system = simulated(sample)
    rows = soft_labels.targets.function(votes, [system], repeats=2, seed=0).set_index("n_votes")
    assert list(rows.index) == [*soft_labels.SIZES]
    assert (rows["label_shrunken"] < rows["label_raw"])[[1, 3, 5]].all()
    assert (rows["difference_low"] > 0)[[1, 3]].all()
    gap = rows["shrunken"] - rows["raw"]
    np.testing.assert_allclose(gap, rows["difference"], atol=1e-12)
    assert abs(gap[20]) < gap[3] < gap[1]


def test_nothing_is_compared_without_a_system_or_without_votes_to_judge(sample):
    votes, system = simulated(sample)
    assert not len(soft_labels.targets(evidence_of(votes, []), repeats=1, seed=0).rows)
    few = with_counts(votes, np.tile([2, 1, 1], (len(votes), 1)))
    assert list(soft_labels.targets.function(few, [system], repeats=1, seed=0)["n_votes"]) == [1]

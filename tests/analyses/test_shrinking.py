from dataclasses import replace

import numpy as np
import pytest
from helpers.evidence import evidence_of, first_items

from chaos_utils.analyses import shrinking
from chaos_utils.datasets.splits import item_groups
from chaos_utils.datasets.votes import frozen
from chaos_utils.metrics.divergence import total_variation
from chaos_utils.scoring.system import votes_of
from chaos_utils.scoring.systems import computed

FEW = {"n_items": 20, "n_each": 5, "n_draws": 3, "seed": 0}


@pytest.fixture(scope="module")
def votes(sample):
    return first_items(sample[0], 200)


def by_system(votes, *systems, **more):
    return shrinking.shrunk(evidence_of(votes, systems), **FEW | more).rows.set_index("system")


def test_an_overconfident_system_is_drawn_to_the_base_rate_and_a_random_one_becomes_it(votes):
    rng = np.random.default_rng(0)
    n_classes = votes.dataset.n_classes
    sure = computed("sure", votes, np.eye(n_classes)[votes.majority])
    random = computed("random", votes, np.eye(n_classes)[rng.integers(n_classes, size=len(votes))])
    rows = by_system(votes, sure, random)
    assert 0 < rows.loc["sure", "weight"] < 1
    assert rows.loc["sure", "shrunk"] < rows.loc["sure", "misplaced"]
    base = rows.loc["base rate", "shrunk"]
    assert rows.loc["sure", "shrunk"] < base < rows.loc["random", "misplaced"]
    assert rows.loc["random", "shrunk"] == pytest.approx(base, abs=3)
    assert (rows["shrunk_low"] <= rows["shrunk"]).all()
    assert (rows["shrunk"] <= rows["shrunk_high"]).all()
    expected = 100 * total_variation(votes.shares, sure.probabilities).mean()
    assert rows.loc["sure", "misplaced"] == pytest.approx(expected)


def test_a_too_cautious_system_keeps_its_own_probabilities(votes):
    base = votes.shares.mean(axis=0)
    cautious = computed("cautious", votes, base + 0.5 * (votes.shares - base))
    rows = by_system(votes, cautious, n_each=50)
    assert rows.loc["cautious", "weight"] == 1
    assert rows.loc["cautious", "shrunk"] == pytest.approx(rows.loc["cautious", "misplaced"], abs=1)


def test_votes_on_the_judged_items_and_their_texts_shrink_nothing(votes):
    """Whichever items are drawn, other votes on items of other texts change the judgement alone."""
    groups = item_groups([votes])[0]
    counts = votes.counts.copy()
    system = computed("sure", votes, np.eye(votes.dataset.n_classes)[votes.majority])
    drawn = np.random.default_rng([0, 0]).permutation(len(votes))[: FEW["n_items"]]
    others = ~np.isin(groups, groups[drawn])
    counts[others] = counts[others][:, ::-1]
    changed = replace(votes, counts=frozen(counts), majority=frozen(counts.argmax(axis=1)))
    before, after = (by_system(one, system, n_draws=1) for one in (votes, changed))
    assert before.loc["sure", "weight"] == after.loc["sure", "weight"]
    assert before.loc["sure", "shrunk"] != after.loc["sure", "shrunk"]


def test_few_votes_few_items_and_systems_that_learned_from_votes_are_left_out(votes, others):
    soft = computed("soft", votes, votes.shares)
    soft = replace(soft, trained_on=(votes_of(votes.dataset),), out_of_fold=True)
    assert list(by_system(votes, soft).index) == ["base rate"]
    assert not len(by_system(first_items(votes, 30)))
    assert not len(by_system(next(some for some in others if some.are_few)))

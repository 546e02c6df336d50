"""The pairs that the title page asks about, and how many votes others misplace."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from helpers.predictions import part_of

from chaos_utils.datasets.loading import load_votes
from chaos_utils.metrics.divergence import entropy, total_variation
from chaos_utils.pages.opening import N_MORE, misplaced_by_people, rounds
from chaos_utils.scoring.systems import load_systems


@pytest.mark.parametrize(("counts", "n"), [([2, 1], 2), ([4, 3, 0], 5), ([6, 1, 2], 3)])
def test_some_of_the_voters_misplace_what_all_ways_to_draw_them_do_on_average(counts, n):
    voters = np.repeat(np.arange(len(counts)), counts)
    shares = np.array(counts) / sum(counts)
    drawn = [np.bincount(few, minlength=len(counts)) / n for few in combinations(voters, n)]
    expected = 100 * total_variation(np.tile(shares, (len(drawn), 1)), drawn).mean()
    assert misplaced_by_people(counts, n) == pytest.approx(expected)


def test_pairs_span_the_items_and_say_what_each_misplaces():
    votes = load_votes("snli", "sample")
    system = load_systems(votes)[0]
    made = rounds(votes, "none of the sample's", system)
    known = {tuple(one.values()): place for place, one in enumerate(votes.texts)}
    chosen = [known[tuple(pair["texts"])] for pair in made["pairs"]]
    bits = entropy(votes.shares, unit="bits").round(10)
    assert bits[chosen[0]] == bits.max()
    ranks = np.sort(bits).searchsorted(sorted(bits[chosen[1:]])) / len(bits)
    assert ranks == pytest.approx((np.arange(N_MORE) + 0.5) / N_MORE, abs=0.05)
    for place, pair in zip(chosen, made["pairs"], strict=True):
        assert pair["votes"] == pytest.approx(100 * votes.shares[place])
        for name, shares, misplaced in pair["others"][:2]:
            apart = total_variation([votes.shares[place]], [np.array(shares) / sum(shares)])[0]
            assert misplaced == pytest.approx(100 * apart, abs=0.51), name


def test_a_given_pair_begins_and_a_system_that_lacks_one_is_left_out():
    sample = load_votes("snli", "sample")
    votes = replace(sample, source=replace(sample.source, synthetic=False))
    made = rounds(votes, votes.uids[7], part_of(load_systems(sample)[0], slice(7)))
    assert made["pairs"][0]["texts"] == list(votes.texts[7].values())
    names = [name for name, *_ in made["pairs"][0]["others"]]
    assert names == ["a uniform guess", "five random people"]

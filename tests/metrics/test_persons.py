"""Noise and persons: exact values, what the shares are by definition, and known simulations."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaos_utils.metrics.persons import repeats, variance_shares

NONE = -1
EXAMPLE = np.array(
    [[0, 0, 1, NONE], [0, 1, 1, 1], [1, 1, 1, 0], [0, 0, 0, NONE], [1, 0, NONE, 1], [0, 1, 0, 0]]
)


def votes_of(labels):
    """Return items, people and labels of a matrix, a row per item and a column per person."""
    item, person = np.nonzero(labels != NONE)
    return item, person, labels[item, person]


def test_the_published_example_comes_out_to_six_digits():
    shares = variance_shares(*votes_of(EXAMPLE), 2)
    assert shares["text"].value == pytest.approx(0.068027, abs=5e-7)
    assert shares["person"].value == pytest.approx(-0.161859, abs=5e-7)


def apart(label, scale):
    if scale is None:
        return (label[:, np.newaxis] != label) * 1.0
    values = np.asarray(scale)[label]
    return (values[:, np.newaxis] - values) ** 2 / 2


def pair_by_pair(item, person, label, scale=None):
    """Compute the text's and the person's share from every pair of votes."""
    difference = apart(label, scale)
    same_item, same_person = (of[:, np.newaxis] == of for of in (item, person))

    def mean(pairs, weighted=True):
        n = pairs.sum(axis=1)
        weights = 1 / np.maximum(n, 1) if weighted else np.ones(len(n))
        return (pairs * difference * weights[:, np.newaxis]).sum() / (n * weights).sum()

    neither = mean(~same_item & ~same_person, weighted=False)
    by_item = mean(same_item & ~same_person)
    return by_item, 1 - by_item / neither, 1 - mean(same_person & ~same_item) / neither


matrices = st.integers(0, 2**32 - 1).map(
    lambda seed: np.where(
        (rng := np.random.default_rng(seed)).random((7, 6)) < 0.3,
        NONE,
        rng.integers(3, size=(7, 6)),
    )
)


@settings(max_examples=50)
@given(matrices, st.sampled_from([None, [0, 1, 5]]))
def test_shares_are_those_of_all_pairs_whatever_the_names(labels, scale):
    item, person, label = votes_of(labels)
    if len(np.unique(label)) < 2 or len(np.unique(person)) < 2:
        return
    shares = variance_shares(item, person, label, 3, scale=scale)
    expected = pair_by_pair(item, person, label, scale)
    found = [shares[name].value for name in ("two_differ", "text", "person")]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert sum(shares[name].value for name in ("text", "person", "rest")) == pytest.approx(1)
    # Names of items and people do not matter, nor the order of the votes.
    order = np.random.default_rng(0).permutation(len(item))
    other = variance_shares(100 - item[order], person[order] * 7, label[order], 3, scale=scale)
    assert other["person"].error == pytest.approx(shares["person"].error, nan_ok=True)
    # Text and person change places with items and people.
    swapped = variance_shares(person, item, label, 3, scale=scale)
    assert swapped["text"].value == pytest.approx(shares["person"].value)


@pytest.mark.parametrize("name", ["text", "person", "again"])
def test_the_closed_form_is_what_leaving_out_gives(name):
    rng = np.random.default_rng(1)
    item, person, label = votes_of(
        np.where(rng.random((12, 7)) < 0.3, NONE, rng.integers(3, size=(12, 7)))
    )
    again = rng.random(len(item)) < 0.5
    item, person = (np.r_[of, of[again]] for of in (item, person))
    label = np.r_[label, rng.integers(3, size=again.sum())]
    stratum = item % 2
    person = person * 2 + stratum

    def value(kept):
        of = (item[kept], person[kept], label[kept], 3)
        return variance_shares(*of, stratum=stratum[kept])[name].value

    found = variance_shares(item, person, label, 3, stratum=stratum)[name]
    for unit, error in ((item, found.items_error), (person, found.people_error)):
        left_out = [value(unit != one) for one in np.unique(unit)]
        assert error == pytest.approx(np.sqrt((len(left_out) - 1) * np.var(left_out)))


def crowd(rng, n_items, n_people, each, leniency, n_rounds=1, slip=0.0):
    """Draw labels of people who differ in leniency, and who slip with a chance in each round."""
    person = np.concatenate([rng.permutation(n_people)[:each] for _ in range(n_items)])
    item = np.repeat(np.arange(n_items), each)
    z = rng.normal(0, 1, n_items)[item] + rng.normal(0, leniency, n_people)[person]
    opinion = rng.random(len(item)) < 1 / (1 + np.exp(-2 * z))
    rounds = [opinion ^ (rng.random(len(item)) < slip) for _ in range(n_rounds)]
    return (
        np.tile(item, n_rounds),
        np.tile(person, n_rounds),
        np.concatenate(rounds).astype(int),
        np.repeat(np.arange(n_rounds), len(item)),
    )


def test_who_differs_in_leniency_has_a_share_and_who_does_not_has_none():
    rng = np.random.default_rng(2)
    lenient, alike = (
        variance_shares(*crowd(rng, 1500, 60, 8, spread)[:3], 2)["person"] for spread in (1.0, 0.0)
    )
    assert lenient.interval(-1, 1)[0] > 0.05
    assert abs(alike.value) < 0.005


def test_each_vote_counts_once_whoever_votes_most():
    """Five people answer all items by lot; who is careless does not make persons differ."""
    rng = np.random.default_rng(3)
    item, person, label, _ = crowd(rng, 800, 150, 6, 0.0)
    busy = np.repeat(np.arange(800), 5)
    item, person = np.r_[item, busy], np.r_[person, 150 + np.tile(np.arange(5), 800)]
    label = np.r_[label, rng.integers(2, size=4000)]
    shares = variance_shares(item, person, label, 2)
    assert abs(shares["person"].value) < 0.02


def test_slips_are_found_beside_opinions():
    rng = np.random.default_rng(4)
    item, person, label, round_ = crowd(rng, 1000, 40, 10, 0.7, n_rounds=2, slip=0.1)
    found = repeats(item, person, label, round_, 2)
    assert found["same"].value == pytest.approx(2 * 0.1 * 0.9, abs=0.01)
    first = round_ == 0
    settled = crowd(np.random.default_rng(4), 1000, 40, 10, 0.7)
    differ = variance_shares(*settled[:3], 2)["two_differ"].value
    assert found["settled"].value == pytest.approx(differ, abs=0.02)
    assert found["ratio"].value == pytest.approx(found["same"].value / found["two"].value)
    assert np.isnan(
        repeats(item[first], person[first], label[first], round_[first], 2)["same"].value
    )
    shares = variance_shares(item, person, label, 2)
    assert shares["rest"].value == pytest.approx(shares["opinion"].value + shares["again"].value)


def test_the_same_person_again_is_not_another_person():
    """Two people twice on two items: four pairs of both on each, of which half and none differ."""
    item, person = np.repeat([0, 1], 4), np.tile([0, 0, 1, 1], 2)
    shares = variance_shares(item, person, np.array([0, 0, 0, 1, 1, 1, 1, 1]), 2)
    assert shares["two_differ"].value == pytest.approx((2 / 4 + 0) / 2)
    # On two items, people differ in all pairs of the first but for the fourth vote's.
    neither = (4 * 3 + 0) / 16 + 0
    assert shares["again"].value == pytest.approx((2 / 8) / neither)


def test_rounds_are_compared_only_where_somebody_was_asked_twice():
    """By hand: item 0 has two people in two rounds, item 1 one person in one."""
    found = repeats(
        *map(np.array, ([0, 0, 0, 0, 1], [0, 0, 1, 1, 0], [0, 1, 0, 0, 1], [0, 1, 0, 1, 0])), 2
    )
    assert found["same"].value == 1 / 2  # one of two people changed
    assert found["two"].value == 1 / 2  # 0 and 0; 1 and 0


def test_what_is_ambiguous_is_refused():
    zeros, ones = np.zeros(2, dtype=int), np.arange(2)
    with pytest.raises(ValueError, match="a person has two votes on an item in one round"):
        repeats(zeros, zeros, ones, zeros, 2)
    with pytest.raises(ValueError, match="stratum: a person is in two"):
        variance_shares(ones, zeros, ones, 2, stratum=ones)


@cache
def known_truth():
    """Return what a very large crowd gives."""
    big = crowd(np.random.default_rng(6), 10_000, 2000, 30, 0.7, n_rounds=2, slip=0.1)
    found = {**variance_shares(*big[:3], 2), **repeats(*big, 2)}
    return {name: of.value for name, of in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_items", "n_people", "each"), [(48, 22, 22), (1500, 262, 9), (500, 40, 6)]
)
def test_intervals_hold_the_truth(n_items, n_people, each):
    rng = np.random.default_rng(5)
    truth = known_truth()
    held = {name: [] for name in ("text", "person", "again", "same", "two", "ratio")}
    for _ in range(150):
        *votes, round_ = crowd(rng, n_items, n_people, each, 0.7, n_rounds=2, slip=0.1)
        found = {**variance_shares(*votes, 2), **repeats(*votes, round_, 2)}
        for name, hits in held.items():
            low, high = found[name].interval(-1, 1)
            hits.append(low <= truth[name] <= high)
    assert min(map(np.mean, held.values())) >= 0.87  # a person's share, of 22 people
    assert np.mean(list(held.values())) >= 0.93

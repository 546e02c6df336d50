"""Groups: the part between them, by hand and in simulations with known differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaos_utils.metrics.groups import group_difference, shuffled_groups_p, skill_in_group
from chaos_utils.metrics.skill import distances


def crowd(rng, n_items=400, n_people=60, each=8, minority=0.3, shift=0.0, spread=0.0):
    """Draw labels of a majority and a minority: what it leans to, and how far its people vary."""
    person = np.concatenate([rng.permutation(n_people)[:each] for _ in range(n_items)])
    item = np.repeat(np.arange(n_items), each)
    in_minority = np.arange(n_people) < minority * n_people
    leaning = rng.normal(0, np.where(in_minority, spread, 0), n_people)
    own = rng.normal(0, 1, (n_items, 2)) * shift  # a view of each item that the minority shares
    z = (
        rng.normal(0, 1, n_items)[item]
        + leaning[person]
        + own[item, in_minority[person].astype(int)]
    )
    label = rng.random(len(item)) < 1 / (1 + np.exp(-2 * z))
    return item, person, label.astype(int), in_minority[person].astype(int)


def test_by_hand_on_items_that_all_groups_judged():
    """Two groups of two people each on two items: group 0 says 0, group 1 says 1 and 0."""
    item = np.repeat(np.arange(50), 4)
    person = np.tile(np.arange(4), 50)
    label = np.tile([0, 0, 1, 0], 50)
    found = group_difference(item, person, label, person // 2, 2)
    assert found.same == pytest.approx((0 + 1) / 2)
    assert found.other == pytest.approx(1 / 2)
    # D00 = 0, D11 = 1, D01 = 1/2: half of the votes each.
    assert found.between.value == pytest.approx(2 / 4 * (1 / 2 - (0 + 1) / 2), abs=1e-12)
    assert found.n_pairs == 50 * 6


def test_by_hand_with_three_groups_of_unlike_size():
    """All of the first say 0, of the second 1; the third is split, as are all who meet it."""
    item, person = np.repeat(np.arange(50), 7), np.tile(np.arange(7), 50)
    label = np.tile([0, 0, 0, 1, 1, 0, 1], 50)
    group = np.tile([0, 0, 0, 1, 1, 2, 2], 50)
    found = group_difference(item, person, label, group, 2)
    # Only the first two differ more from each other than among themselves.
    assert found.between.value == pytest.approx(2 * 3 / 7 * 2 / 7 * 1)


def test_each_vote_counts_once():
    """Nobody differs but on one item in ten, which has five times the votes, 25 times the pairs."""
    sizes = np.where(np.arange(200) % 10, 4, 20)
    item = np.repeat(np.arange(200), sizes)
    person = np.concatenate([np.arange(n) for n in sizes])
    label = np.random.default_rng(0).integers(2, size=len(item)) * (sizes[item] == 20)
    found = group_difference(item, person, label, person % 2, 2)
    expected = 0.5 * (20 * 20) / sizes.sum()
    assert (found.same, found.other) == pytest.approx((expected, expected), abs=0.01)


def test_groups_that_judged_other_items_are_compared_on_what_they_share():
    """The minority judged the divided items: its people differ more, but not the groups."""
    rng = np.random.default_rng(0)
    item = np.repeat(np.arange(600), 6)
    in_minority = rng.random(len(item)) < np.where(item < 300, 0.6, 0.1)
    group_person = np.concatenate([rng.permutation(30)[:6] for _ in range(600)])
    person = group_person + 30 * in_minority
    label = (rng.random(len(item)) < np.where(item < 300, 0.5, 0.02)).astype(int)
    found = group_difference(item, person, label, in_minority.astype(int), 2)
    assert found.same == pytest.approx(found.other, abs=0.02)
    assert abs(found.share.value) < 0.02


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([None, [1, 4, 5]]))
def test_names_and_order_do_not_matter_and_leaving_out_gives_the_errors(seed, scale):
    rng = np.random.default_rng(seed)
    item, person, _, _ = crowd(rng, n_items=60, n_people=20, each=6)
    label, group = rng.integers(3, size=len(item)), person % 3
    found = group_difference(item, person, label, group, 3, scale=scale)
    order = rng.permutation(len(item))
    other = group_difference(
        item[order] * 3, 50 - person[order], label[order], 9 - group[order], 3, scale=scale
    )
    assert other.share.value == pytest.approx(found.share.value, abs=1e-9)
    assert other.share.error == pytest.approx(found.share.error, rel=1e-6)

    def value(kept):
        of = (item[kept], person[kept], label[kept], group[kept])
        return group_difference(*of, 3, scale=scale).between.value

    for unit, error, close in (
        (person, found.between.people_error, 1e-6),
        (item, found.between.items_error, 0.05),
    ):
        left_out = [value(unit != one) for one in np.unique(unit)]
        assert error == pytest.approx(np.sqrt((len(left_out) - 1) * np.var(left_out)), rel=close)


def test_a_difference_is_found_and_shuffled_groups_have_none():
    rng = np.random.default_rng(1)
    item, person, label, group = crowd(rng, shift=0.8)
    found = group_difference(item, person, label, group, 2)
    assert found.share.interval(-1, 1)[0] > 0
    shuffles = {"n_shuffles": 99, "rng": np.random.default_rng(0)}
    assert shuffled_groups_p(item, person, label, group, 2, **shuffles) == 0.01
    mixed = rng.permutation(60)[person] % 2
    low, high = group_difference(item, person, label, mixed, 2).share.interval(-1, 1)
    assert low < 0 < high
    assert shuffled_groups_p(item, person, label, mixed, 2, **shuffles) > 0.05


def test_people_of_two_languages_are_not_compared():
    """Each language has two groups of its own; which language a group has makes no difference."""
    item, person, label, group = crowd(np.random.default_rng(2))
    language = (item >= 200).astype(int)
    label = label ^ language  # they answer the other way round
    person, group = person + 60 * language, group + 2 * language
    together = group_difference(item, person, label, group, 2, stratum=language)
    low, high = together.share.interval(-1, 1)
    assert low < 0 < high
    p = shuffled_groups_p(
        item, person, label, group, 2, n_shuffles=99, rng=np.random.default_rng(0), stratum=language
    )
    assert p > 0.05


@pytest.mark.parametrize(
    ("person", "group", "message"),
    [
        ([0, 0], [0, 1], "a person is in two"),
        ([0, 1], [1, 1], "expected two groups or more, found one"),
    ],
)
def test_groups_that_are_none_are_refused(person, group, message):
    item, label = np.arange(2), np.zeros(2, dtype=int)
    with pytest.raises(ValueError, match=message):
        group_difference(item, np.array(person), label, np.array(group), 2)


def test_several_votes_of_a_person_on_an_item_are_refused():
    zeros = np.zeros(2, dtype=int)
    with pytest.raises(ValueError, match="several votes on an item"):
        group_difference(zeros, zeros, zeros, np.arange(2), 2)


def scaled_crowd(rng, n_items, n_people, each, minority, spread):
    """Draw values around each item's; people of the minority lean and vary more, in all directions.

    Differences are symmetric, so that both groups have the same mean on each item.
    """
    in_minority = np.arange(n_people) < minority * n_people
    person = np.concatenate([rng.permutation(n_people)[:each] for _ in range(n_items)])
    item = np.repeat(np.arange(n_items), each)
    own = np.where(in_minority, spread, 1.0)
    leaning = rng.normal(0, 0.5 * own)
    value = rng.integers(-3, 4, n_items)[item] + leaning[person] + rng.normal(0, own[person])
    label = np.clip(np.rint(value), -15, 15).astype(int) + 15
    return item, person, label, in_minority[person].astype(int)


@pytest.mark.slow
@pytest.mark.parametrize(("n_items", "n_people", "each"), [(400, 120, 6), (1500, 262, 9)])
def test_a_minority_that_merely_varies_more_is_no_difference(n_items, n_people, each):
    """Pairs of two groups are farther apart all the same, and shuffling rejects too often."""
    rng = np.random.default_rng(3)
    gaps, shares, held, rejected = [], [], [], []
    for _ in range(80):
        votes = scaled_crowd(rng, n_items, n_people, each, 0.15, 2.0)
        found = group_difference(*votes, 31, scale=np.arange(31))
        gaps.append(found.other - found.same)
        shares.append(found.share.value)
        low, high = found.share.interval(-1, 1)
        held.append(low <= 0 <= high)
        rejected.append(low > 0)
    assert np.mean(gaps) > 0.5
    assert abs(np.mean(shares)) < 3 * np.std(shares) / np.sqrt(80)
    assert np.mean(held) >= 0.95
    assert np.mean(rejected) <= 0.05


@pytest.mark.slow
def test_intervals_hold_a_difference_of_known_size():
    """Two groups whose shares on an item lie .3 apart, one way or the other."""
    rng = np.random.default_rng(4)
    held, truth = [], 0.7 * 0.3 * (0.3**2 + 0.3**2)
    for _ in range(100):
        item, person, _, group = crowd(rng, n_items=400, n_people=80, each=8)
        base = rng.choice([0.35, 0.65], 400)[item]
        away = rng.choice([-0.3, 0.3], 400)[item]
        p = base + away * (group - 0.5)
        label = (rng.random(len(item)) < p).astype(int)
        found = group_difference(item, person, label, group, 2).between
        low, high = found.interval(-1, 1)
        held.append(low <= truth <= high)
    assert np.mean(held) >= 0.91


def shares_of_groups(rng, n_items):
    """Draw how two groups answer each item, and a model that knows a part of it."""
    first = rng.dirichlet([0.8, 0.8, 0.8], n_items)
    second = 0.7 * first + 0.3 * rng.dirichlet([0.8, 0.8, 0.8], n_items)
    return first, second, 0.6 * first + 0.4 / 3


def drawn_votes(rng, shares, n_people=60, each=9, lean=0.5):
    """Draw votes of people who lean to labels; two fifths are of the second group."""
    n_items = len(shares[0])
    item = np.repeat(np.arange(n_items), each)
    person = np.concatenate([rng.permutation(n_people)[:each] for _ in range(n_items)])
    is_second = person < 0.4 * n_people
    chances = np.where(is_second[:, None], shares[1][item], shares[0][item])
    chances *= np.exp(lean * rng.standard_normal((n_people, 3)))[person]
    chances /= chances.sum(axis=1, keepdims=True)
    label = (chances.cumsum(axis=1) < rng.random((len(item), 1))).sum(axis=1)
    return item, person, np.minimum(label, 2), is_second


def test_a_model_s_skill_in_a_group_is_its_skill_on_the_group_s_votes():
    rng = np.random.default_rng(5)
    *shares, model = shares_of_groups(rng, 80)
    item, person, label, is_second = drawn_votes(rng, shares)
    found = skill_in_group(item, person, label, is_second, model)
    expected = {}
    for is_member in (is_second, ~is_second):
        counts = np.zeros((80, 3), dtype=int)
        np.add.at(counts, (item[is_member], label[is_member]), 1)
        rows = np.flatnonzero(counts.sum(axis=1) > 1)
        by_item = distances(counts[rows], model[rows], rows)
        expected[is_member is is_second] = by_item
    own, others = (
        1 - one.of_system.mean() / one.of_base_rate.mean()
        for one in (expected[True], expected[False])
    )
    assert found["skill"].value == pytest.approx(own)
    assert found["gap"].value == pytest.approx(own - others)
    assert found["two_differ"].value == pytest.approx(expected[True].of_person.mean())
    assert found["base_rate"].value == pytest.approx(expected[True].of_base_rate.mean())
    # Leaving out a person or an item, done by hand.
    gone = person != 3
    without = skill_in_group(item[gone], person[gone], label[gone], is_second[gone], model)
    statistics = [
        skill_in_group(*(of[person != k] for of in (item, person, label, is_second)), model)
        ["skill"].value for k in range(60)
    ]  # fmt: skip
    assert statistics[3] == without["skill"].value
    variance = 59 / 60 * ((statistics - np.mean(statistics)) ** 2).sum()
    assert found["skill"].people_error == pytest.approx(np.sqrt(variance))


@pytest.mark.slow
def test_intervals_of_a_model_s_skill_hold_what_is_known():
    """Truth from many items, over all leanings of people; sixty people, nine votes per item."""
    rng = np.random.default_rng(6)
    *shares, model = shares_of_groups(rng, 4000)
    leanings = np.exp(0.5 * rng.standard_normal((400, 1, 3)))
    skills = []
    for of_group in shares:
        expected = np.zeros_like(of_group)
        for leaning in leanings:
            tilted = of_group * leaning
            expected += tilted / tilted.sum(axis=1, keepdims=True) / len(leanings)
        far = ((model - expected) ** 2).sum(axis=1).mean()
        skills.append(1 - far / expected.var(axis=0).sum())
    truth = {"skill": skills[1], "gap": skills[1] - skills[0]}
    held = []
    for _ in range(60):
        *shares, model = shares_of_groups(rng, 300)
        found = skill_in_group(*drawn_votes(rng, shares), model)
        ends = {name: found[name].interval(-np.inf, np.inf) for name in truth}
        held.append([ends[name][0] <= truth[name] <= ends[name][1] for name in truth])
    assert (np.mean(held, axis=0) >= 0.9).all()

"""The two-way jackknife: its exact values, what it leaves undefined, and its coverage."""

import numpy as np
import pytest

from chaos_utils.metrics.agreement import (
    agreement_columns,
    alike_columns,
    alike_disagreement,
    alpha_of_sums,
    krippendorff_alpha,
    mean_disagreement,
    quadratic_entropy,
)
from chaos_utils.metrics.jackknife import TwoWay, two_way_jackknife

NONE = -1
EXAMPLE = np.array(
    [[0, 0, 1, NONE], [0, 1, 1, 1], [1, 1, 1, 0], [0, 0, 0, NONE], [1, 0, NONE, 1], [0, 1, 0, 0]]
)


def of_matrix(labels, reduce=mean_disagreement, n_classes=2):
    """Return the statistic of a matrix of labels, a row per item, a column per person."""
    item, person = np.nonzero(labels != NONE)
    ballots = np.eye(n_classes)[labels[item, person]]
    return two_way_jackknife(item, person, ballots, agreement_columns, reduce)


def counts_of(labels, n_classes=2):
    return np.array([[(row == k).sum() for k in range(n_classes)] for row in labels])


def test_the_published_example_comes_out_to_six_digits():
    found = of_matrix(EXAMPLE)
    expected = (0.472222, 0.100154, 0.107583, 0.248452)
    errors = (found.value, found.items_error, found.people_error, found.votes_error)
    assert errors == pytest.approx(expected, abs=5e-7)
    assert found.error == found.people_error  # the votes' part exceeds the sum of both
    assert (found.n_items, found.n_people) == (6, 4)
    assert found.of_five == pytest.approx(1)  # there are no more
    low, high = found.interval(0, 1)
    assert (low, high) == pytest.approx((0.472222 - 3.182446 * 0.107583, 0.814599), abs=5e-6)


def test_sums_of_columns_are_the_measures_themselves():
    labels = np.random.default_rng(0).integers(3, size=(40, 7))
    counts = counts_of(labels, 3)
    assert of_matrix(labels, n_classes=3).value == pytest.approx(quadratic_entropy(counts).mean())
    alpha = of_matrix(labels, alpha_of_sums, 3)
    assert alpha.value == pytest.approx(krippendorff_alpha(counts))


@pytest.mark.parametrize("reduce", [mean_disagreement, alpha_of_sums])
def test_the_closed_form_is_what_leaving_out_gives(reduce):
    rng = np.random.default_rng(1)
    labels = np.where(rng.random((30, 9)) < 0.4, NONE, rng.integers(3, size=(30, 9)))

    def value(some):
        return reduce(agreement_columns(counts_of(some, 3).astype(float)).sum(axis=0))

    def error(left_out):
        return np.sqrt((len(left_out) - 1) * np.var(left_out))

    votes = []
    for place in zip(*np.nonzero(labels != NONE), strict=True):
        votes.append(labels.copy())
        votes[-1][place] = NONE
    found = of_matrix(labels, reduce, 3)
    assert found.items_error == pytest.approx(
        error([value(np.delete(labels, i, 0)) for i in range(30)])
    )
    assert found.people_error == pytest.approx(
        error([value(np.delete(labels, j, 1)) for j in range(9)])
    )
    assert found.votes_error == pytest.approx(error([value(one) for one in votes]))


def test_items_with_one_vote_have_no_part_and_an_interval_ends_where_its_range_does():
    table = agreement_columns(np.array([[1.0, 0.0], [1.0, 1.0]]))
    assert table.tolist() == [[0] * 5, [1, 1, 2, 1, 1]]
    assert TwoWay(0.01, 0.3, 0.3, 0.1, 9, 9, 0.5).interval(0, 1)[0] == 0
    assert TwoWay(0.99, 0.3, 0.3, 0.1, 9, 9, 0.5).interval(0, 1)[1] == 1


def test_people_who_are_counted_alike_weigh_the_same():
    """One careless person gives most votes: two people seldom differ, two votes often."""
    rng = np.random.default_rng(2)
    truth = rng.integers(2, size=200)
    labels = np.full((200, 21), NONE)
    for row in range(200):
        labels[row, rng.permutation(20)[:2]] = truth[row]
    labels[:, 20] = rng.integers(2, size=200)
    item, person = np.nonzero(labels != NONE)
    own = np.eye(2)[labels[item, person]]
    weights = 1 / np.bincount(person)[person, np.newaxis]
    ballots = np.concatenate([own * weights, own * weights**2], axis=1)
    alike = two_way_jackknife(item, person, ballots, alike_columns, alike_disagreement)
    assert of_matrix(labels).value == pytest.approx(1 / 3, abs=0.05)
    assert alike.value < 0.12


@pytest.mark.parametrize(
    "labels",
    [
        EXAMPLE[:, :1],  # one person
        EXAMPLE[:, :2],  # without one of them nothing is left
        np.zeros((6, 4), dtype=int),  # nobody differs
        np.where(np.eye(6, dtype=int), 1, NONE),  # no item is shared
        EXAMPLE[:1],  # one item
    ],
)
def test_what_nothing_can_be_said_of_has_no_interval(labels):
    found = of_matrix(labels)
    assert np.isnan(found.error) or found.n_items == 1
    assert np.isnan(found.interval(0, 1)).all()


# How many votes people give: evenly; by six; five of a hundred most of them; as on RTE.
WORKLOADS = {
    "even": np.ones(60),
    "six": np.ones(6),
    "uneven": np.r_[np.full(5, 40), np.ones(95)],
    "RTE": np.r_[800, 760, 700, 540, 420, 280, 180, 140, 100, np.full(155, 20)],
}


def chances(rng, difficulty, n_people, careless):
    """Return how people label items, who differ in leniency, and some of whom label at random."""
    leniency = rng.normal(0, 0.7, n_people)
    found = 1 / (1 + np.exp(-(difficulty + leniency)))
    return np.where(rng.random(n_people) < careless, 0.5, found)


def crowd(rng, n_items, workloads, n_votes, careless, spread):
    p = chances(rng, rng.normal(0, spread, (n_items, 1)), len(workloads), careless)
    # Who judges an item is drawn by workloads, without replacement.
    person = np.argsort(-np.log(rng.random(p.shape)) / workloads, axis=1)[:, :n_votes]
    label = rng.random(person.shape) < np.take_along_axis(p, person, axis=1)
    item = np.repeat(np.arange(n_items), n_votes)
    return item, person.ravel(), label.ravel().astype(int)


def two_differ(careless, spread):
    """Return how often two new people differ on a new item."""
    rng = np.random.default_rng(9)
    pairs = [chances(rng, one, 2, careless) for one in rng.normal(0, spread, (50_000, 1))]
    p, q = np.transpose(pairs)
    return (p * (1 - q) + q * (1 - p)).mean()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_items", "workload", "n_votes", "careless", "spread", "least", "of_items"),
    [
        (300, "even", 9, 0.0, 1.5, 0.93, 1),
        (500, "six", 6, 0.0, 1.5, 0.95, 0.85),
        (300, "uneven", 5, 0.0, 1.5, 0.93, 0.94),
        (400, "RTE", 10, 0.0, 4, 0.90, 1),
        (400, "RTE", 10, 0.1, 4, 0.75, 0.60),  # too short even so, as the pages say
    ],
)
def test_its_intervals_hold_the_truth_where_those_over_items_do_not(
    n_items, workload, n_votes, careless, spread, least, of_items
):
    rng, truth = np.random.default_rng(3), two_differ(careless, spread)
    held, narrow = [], []
    for _ in range(300):
        item, person, label = crowd(rng, n_items, WORKLOADS[workload], n_votes, careless, spread)
        found = two_way_jackknife(
            item, person, np.eye(2)[label], agreement_columns, mean_disagreement
        )
        low, high = found.interval(0, 1)
        held.append(low <= truth <= high)
        narrow.append(abs(found.value - truth) <= 1.96 * found.items_error)
    assert np.mean(held) >= least
    assert np.mean(narrow) <= of_items

"""The alternative annotator test: on simulated annotators, and against SciPy."""

import numpy as np
import pytest
from scipy import stats

from chaos_utils.metrics.replacement import Replacement, alternative_annotator_test


def crowd(rng, *, n_items=200, n_annotators=6, n_classes=3):
    """Return votes of annotators who are all alike, as (item, annotator, label), and the truth."""
    truth = rng.dirichlet(np.full(n_classes, 0.7), n_items)
    item = np.repeat(np.arange(n_items), n_annotators)
    annotator = np.tile(np.arange(n_annotators), n_items)
    return item, annotator, draw(rng, truth[item]), truth


def draw(rng, shares):
    return (rng.random((len(shares), 1)) > shares.cumsum(axis=1)).sum(axis=1).clip(max=2)


def test_one_more_annotator_does_not_win_without_a_margin_and_does_with_one():
    without, with_margin, guessing = [], [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        *votes, truth = crowd(rng)
        system = draw(rng, truth)
        without.append(alternative_annotator_test(*votes, system, n_classes=3, epsilon=0))
        with_margin.append(alternative_annotator_test(*votes, system, n_classes=3, epsilon=0.2))
        guess = rng.integers(0, 3, len(truth))
        guessing.append(alternative_annotator_test(*votes, guess, n_classes=3, epsilon=0.2))
    assert np.mean([one.won.any() for one in without]) <= 0.08
    assert np.mean([one.winning_rate >= 0.5 for one in with_margin]) >= 0.9
    advantages = [np.mean([one.advantage_probability for one in made])
                  for made in (guessing, without)]  # fmt: skip
    assert advantages[0] < advantages[1] < 0.9


@pytest.mark.parametrize("ordered", [False, True])
def test_p_values_and_rejections_equal_scipy_s(ordered):
    rng = np.random.default_rng(0)
    item, annotator, label, truth = crowd(rng, n_annotators=5)
    some = rng.random(len(item)) < 0.7
    item, annotator, label = item[some], annotator[some], label[some]
    system = draw(np.random.default_rng(1), truth)
    found = alternative_annotator_test(
        item, annotator, label, system, n_classes=3, epsilon=0.1, ordered=ordered
    )
    by, bh = (stats.false_discovery_control(found.p, method=one) <= 0.05 for one in ("by", "bh"))
    assert 0 < by.sum() < bh.sum()  # these votes tell the two procedures apart
    assert found.won.tolist() == by.tolist()
    for place, who in enumerate(found.annotator):
        gaps = []
        for i in item[annotator == who]:
            rest = label[(item == i) & (annotator != who)]
            (own,) = label[(item == i) & (annotator == who)]
            if len(rest):
                scores = [
                    -np.sqrt(np.mean((one - rest) ** 2)) if ordered else np.mean(one == rest)
                    for one in (own, system[i])
                ]
                gaps.append(np.sign(round(scores[0] - scores[1], 9)))
        expected = stats.ttest_1samp(gaps, 0.1, alternative="less").pvalue
        assert found.p[place] == pytest.approx(expected)
        assert found.n_items[place] == len(gaps)
        assert found.advantage[place] == pytest.approx(np.mean(np.array(gaps) <= 0))


@pytest.mark.parametrize(("won", "passes"), [([1, 0, 1, 0], True), ([1, 0, 0], False)])
def test_half_of_the_annotators_must_be_beaten(won, passes):
    n = np.ones(len(won))
    assert Replacement(n, n, n, n, np.array(won, dtype=bool)).passed is passes


def test_annotators_with_few_items_and_items_of_one_annotator_are_left_out():
    item = np.array([*range(40), *range(40), *range(10), 40])
    annotator = np.array([0] * 40 + [1] * 40 + [2] * 10 + [0])
    label = np.zeros(91, dtype=int)
    found = alternative_annotator_test(
        item, annotator, label, np.zeros(41, dtype=int), n_classes=2, epsilon=0.1
    )
    assert found.annotator.tolist() == [0, 1]
    assert found.n_items.tolist() == [40, 40]  # nobody else labelled the last item
    assert found.p.tolist() == [0, 0]  # all alike on every item
    assert found.won.all()


def test_items_of_one_group_are_averaged_before_they_are_tested():
    rng = np.random.default_rng(3)
    *votes, truth = crowd(rng, n_items=90)
    system = truth.argmax(axis=1)
    given = {"n_classes": 3, "epsilon": 0.1}
    alone = alternative_annotator_test(*votes, system, **given)
    same = alternative_annotator_test(*votes, system, groups=np.arange(90)[::-1], **given)
    np.testing.assert_allclose(same.p, alone.p)
    # The same thirty items thrice say no more than once.
    thrice = np.concatenate([[item + 30 * k for item in votes[0][:180]] for k in range(3)])
    people, labels = (np.tile(one[:180], 3) for one in votes[1:])
    once = alternative_annotator_test(*(one[:180] for one in votes), system[:30], **given)
    found = alternative_annotator_test(
        thrice, people, labels, np.tile(system[:30], 3), groups=np.arange(90) % 30, **given
    )
    np.testing.assert_allclose(found.p, once.p)
    assert found.n_items.tolist() == [30] * 6
    assert found.advantage_probability == pytest.approx(once.advantage_probability)
    with pytest.raises(ValueError, match="0 annotators labelled 30 items"):
        alternative_annotator_test(*votes, system, groups=np.arange(90) % 29, **given)

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from chaos_utils.metrics import resampling
from chaos_utils.metrics.resampling import bootstrap_means, percentile_interval


def test_one_seed_gives_one_result_whatever_the_chunks(monkeypatch):
    values = np.random.default_rng(1).random((50, 2))
    whole = bootstrap_means(values, 300, np.random.default_rng(7))
    monkeypatch.setattr("chaos_utils.metrics.resampling._CHUNK_CELLS", 50 * 100)
    np.testing.assert_allclose(bootstrap_means(values, 300, np.random.default_rng(7)), whole)


def test_percentile_intervals_agree_with_scipy():
    values = np.random.default_rng(5).exponential(size=80)
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(6)
    ).confidence_interval
    draws = bootstrap_means(values[:, np.newaxis], 20_000, np.random.default_rng(7))
    assert np.ravel(percentile_interval(draws)) == pytest.approx(theirs, abs=0.01)


# Few values, so that many are 0 and many are tied with the ends.
DIFFERENCES = st.lists(st.integers(-3, 3), min_size=2, max_size=400)


@settings(max_examples=50)
@given(DIFFERENCES, st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]), st.integers(-3, 3))
def test_p_is_small_if_and_only_if_the_interval_leaves_out_0(differences, level, shift):
    values = np.array(differences, float)
    values = np.concatenate([np.abs(values) + shift] * 3)
    assume(len(values) >= resampling.fewest_resamples(level))
    low, high = percentile_interval(values, level)
    assert resampling.paired_p_value(0 * values) == 1
    assert (resampling.paired_p_value(values) < round(1 - level, 9)) == (low > 0 or high < 0)


def test_how_many_resamples_a_small_p_needs():
    assert resampling.smallest_p_value(9999) == pytest.approx(0.0002)
    assert resampling.fewest_resamples() == 40
    for level, n in ((0.9, 1), (0.95, 1), (0.95, 144), (0.99, 72)):
        fewest = resampling.fewest_resamples(level, n)
        assert n * resampling.smallest_p_value(fewest) < round(1 - level, 9)
        assert n * resampling.smallest_p_value(fewest - 1) >= round(1 - level, 9)


def test_what_is_not_always_defined_has_no_interval():
    low, high = percentile_interval([[1.0, 1.0], [2.0, np.nan], [3.0, 2.0]])
    np.testing.assert_array_equal([low, high], [[1, np.nan], [3, np.nan]])
    assert np.isnan(resampling.paired_p_value([1.0, np.nan, 2.0]))


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_split_votes_are_disjoint_and_complete(seed):
    rng = np.random.default_rng(seed)
    votes = rng.multinomial(30, [0.6, 0.3, 0.1], size=7)
    first, second, rest = resampling.split_votes(votes, (10, 15), rng)
    assert (first.sum(axis=1) == 10).all()
    assert (second.sum(axis=1) == 15).all()
    assert min(first.min(), second.min(), rest.min()) >= 0
    np.testing.assert_array_equal(first + second + rest, votes)


def test_split_votes_take_each_vote_equally_often():
    votes = np.array([[8, 2, 0]] * 4000)
    first, _ = resampling.split_votes(votes, (5,), np.random.default_rng(0))
    np.testing.assert_allclose(first.mean(axis=0), [4, 1, 0], atol=0.05)
    assert first[:, 1].var() == pytest.approx(5 * 0.2 * 0.8 * 5 / 9, rel=0.1)  # hypergeometric


def test_tables_over_the_same_items_share_their_draws():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 2))
    whole, some = np.arange(40), np.arange(0, 40, 3)
    tables = [(whole, values), (some, values[some]), (whole, values[:, :1] * 2)]
    found = resampling.bootstrap_tables(tables, whole, 30, np.random.default_rng(1))
    assert [block.shape for block in found] == [(30, 2), (30, 2), (30, 1)]
    np.testing.assert_allclose(found[2][:, 0], 2 * found[0][:, 0])
    alone = resampling.bootstrap_tables(tables[1:2], whole, 30, np.random.default_rng(1))
    np.testing.assert_allclose(alone[0], found[1])
    drawn = np.random.default_rng(1).integers(40, size=(30, 40), dtype=np.int32)
    weights = np.stack([np.bincount(row, minlength=40) for row in drawn])
    by_hand = (weights[:, some] @ values[some]) / weights[:, some].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found[1], by_hand)


def test_a_table_without_a_drawn_item_has_no_mean():
    tables = [(np.array([1]), np.ones((1, 1)))]
    (found,) = resampling.bootstrap_tables(tables, np.arange(2), 1000, np.random.default_rng(0))
    assert (found[~np.isnan(found)] == 1).all()
    assert np.isnan(found).mean() == pytest.approx(1 / 4, abs=0.05)  # drawn once is enough


def test_what_is_adjusted_by_a_smaller_p_comes_from_it():
    p = [0.002, 0.003, np.nan, 0.002, 0.4]
    adjusted = resampling.holm(p)
    assert adjusted[:2] == pytest.approx([0.008, 0.008])  # 2 × 0.003 is less
    np.testing.assert_equal(resampling.behind_holm(p, adjusted), [0.002, 0.002, np.nan, 0.002, 0.4])

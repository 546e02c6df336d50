import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from chaos_utils.metrics import resampling
from chaos_utils.metrics.divergence import total_variation
from chaos_utils.metrics.resampling import bootstrap_means, percentile_interval


def test_one_seed_gives_one_result_whatever_the_chunks(monkeypatch):
    values = np.random.default_rng(1).random((50, 2))
    whole = bootstrap_means(values, 300, np.random.default_rng(7))
    monkeypatch.setattr("chaos_utils.metrics.resampling._CHUNK_CELLS", 50 * 100)
    np.testing.assert_allclose(bootstrap_means(values, 300, np.random.default_rng(7)), whole)


def test_spread_agrees_with_the_standard_error():
    values = np.random.default_rng(2).normal(3, 2, size=(400, 1))
    means = bootstrap_means(values, 4000, np.random.default_rng(3))
    assert means.mean() == pytest.approx(values.mean(), abs=0.01)
    assert means.std() == pytest.approx(values.std() / np.sqrt(400), rel=0.05)


def test_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(4)
    hits = 0
    for _ in range(300):
        values = rng.exponential(size=(100, 1))
        low, high = percentile_interval(bootstrap_means(values, 500, rng))
        hits += bool(low[0] <= 1 <= high[0])
    assert 0.89 <= hits / 300 <= 0.98


@given(st.floats(-5, 5), st.integers(1, 20), st.integers(1, 20))
def test_a_constant_has_no_spread(value, n_items, n_resamples):
    means = bootstrap_means(np.full((n_items, 1), value), n_resamples, np.random.default_rng(0))
    np.testing.assert_allclose(means, value)


@pytest.mark.parametrize(
    ("values", "n", "message"),
    [([1.0, 2.0], 10, "shape"), (np.zeros((0, 2)), 10, "shape"), ([[1.0]], 0, "n_resamples")],
)
def test_bad_input(values, n, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_means(values, n, np.random.default_rng(0))


def test_bad_level():
    with pytest.raises(ValueError, match="level"):
        percentile_interval([[1.0]], level=95)


def test_bca_agrees_with_scipy():
    values = np.random.default_rng(5).exponential(size=80)
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(6)
    ).confidence_interval
    means = bootstrap_means(values[:, np.newaxis], 20_000, np.random.default_rng(7))
    left_out = (values.sum() - values)[:, np.newaxis] / 79
    low, high = resampling.bca_interval(means, [values.mean()], left_out)
    assert low[0] == pytest.approx(theirs.low, abs=0.01)
    assert high[0] == pytest.approx(theirs.high, abs=0.01)


def test_bca_of_a_constant_is_the_constant():
    ends = resampling.bca_interval(np.full((50, 1), 2.0), [2.0], np.full((9, 1), 2.0))
    assert [end[0] for end in ends] == [2, 2]


def test_p_values_are_small_for_a_difference_and_uniform_without_one():
    rng = np.random.default_rng(8)
    clear = rng.normal(5, 1, size=(999, 1))
    assert resampling.paired_p_value(clear)[0] == pytest.approx(0.002)
    assert resampling.paired_p_value(np.zeros((99, 1)))[0] == 1
    p = [
        resampling.paired_p_value(bootstrap_means(rng.normal(size=(60, 1)), 299, rng))[0]
        for _ in range(300)
    ]
    assert 0.01 <= np.mean(np.array(p) < 0.05) <= 0.1


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


@pytest.mark.parametrize("sizes", [(0, 5), (20, 20), (31,)])
def test_split_sizes_that_cannot_be(sizes):
    with pytest.raises(ValueError, match="sizes are"):
        resampling.split_votes([[20, 10], [30, 30]], sizes, np.random.default_rng(0))


def test_dirichlet_is_recovered():
    rng = np.random.default_rng(9)
    truth = np.array([0.5, 1.5, 3.0])
    votes = resampling.draw_votes(rng.dirichlet(truth, 4000), 100, rng)
    np.testing.assert_allclose(resampling.fit_dirichlet(votes), truth, rtol=0.07)


def test_the_noise_floor_is_that_of_known_truths():
    """The posterior gives the floor of a perfect model; the votes' own shares would not."""
    rng = np.random.default_rng(10)
    truths = rng.dirichlet([0.5, 0.9, 0.4], 1500)
    votes = resampling.draw_votes(truths, 20, rng)
    known = np.mean([
        total_variation(resampling.draw_votes(truths, 20, rng) / 20, truths).mean()
        for _ in range(20)
    ])  # fmt: skip
    prior = resampling.fit_dirichlet(votes)
    drawn = [resampling.draw_truths(votes, prior, rng) for _ in range(20)]
    floor = np.mean([
        total_variation(resampling.draw_votes(truth, 20, rng) / 20, truth).mean()
        for truth in drawn
    ])  # fmt: skip
    shares = votes / 20
    plug_in = np.mean([
        total_variation(resampling.draw_votes(shares, 20, rng) / 20, shares).mean()
        for _ in range(20)
    ])  # fmt: skip
    assert floor == pytest.approx(known, rel=0.02)
    assert abs(plug_in - known) > 2 * abs(floor - known)


def test_rescaling():
    np.testing.assert_allclose(
        resampling.rescale([0.3, 0.1, 0.2], at_zero=0.3, at_one=0.1), [0, 1, 0.5]
    )
    with pytest.raises(ValueError, match="both references"):
        resampling.rescale(1, at_zero=2, at_one=2)


def test_no_votes_to_draw():
    with pytest.raises(ValueError, match="n_votes is 0"):
        resampling.draw_votes([[0.5, 0.5]], 0, np.random.default_rng(0))


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
    weights = np.random.default_rng(1).multinomial(40, np.full(40, 1 / 40), size=30)
    by_hand = (weights[:, some] @ values[some]) / weights[:, some].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found[1], by_hand)


def test_a_table_without_a_drawn_item_has_no_mean():
    tables = [(np.array([5]), np.ones((1, 1)))]
    (found,) = resampling.bootstrap_tables(tables, np.arange(6), 50, np.random.default_rng(0))
    assert np.isnan(found).any()
    assert (found[~np.isnan(found)] == 1).all()

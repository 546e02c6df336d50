import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from chaos_utils.metrics.divergence import entropy

counts = hnp.arrays(
    np.int64,
    st.tuples(st.integers(1, 30), st.integers(2, 5)),
    elements=st.integers(0, 100),
).filter(lambda votes: (votes.sum(axis=1) > 0).all())


def shares(votes):
    return votes / votes.sum(axis=1, keepdims=True)


@given(counts)
def test_entropy_agrees_with_scipy_and_its_bounds(votes):
    found = entropy(shares(votes), unit="bits")
    np.testing.assert_allclose(
        found, scipy.stats.entropy(shares(votes), base=2, axis=1), atol=1e-12
    )
    assert (found >= 0).all()
    assert (found <= np.log2(votes.shape[1]) + 1e-12).all()


@given(counts, st.randoms())
def test_entropy_does_not_depend_on_the_order_of_labels(votes, random):
    order = list(range(votes.shape[1]))
    random.shuffle(order)
    np.testing.assert_allclose(
        entropy(shares(votes), unit="bits"), entropy(shares(votes)[:, order], unit="bits")
    )


def test_entropy_at_its_ends():
    found = entropy([[1, 0, 0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0]], unit="bits")
    np.testing.assert_allclose(found, [0, np.log2(3), 1])
    assert not np.signbit(found[0])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.5, 0.5], "shape"),
        (np.zeros((0, 3)), "shape"),
        ([[1.0]], "shape"),
        ([[0.5, 0.5], [0.5, 0.4]], "row 1, sums to 0.9"),
        ([[1.5, -0.5]], "row 0, holds .*negative"),
        ([[np.nan, 1.0]], "row 0, holds .*finite"),
        ([[0.5, 0.4], [0.3, 0.3]], "and 1 more"),
    ],
)
def test_what_is_no_distribution_is_refused_with_its_place(values, message):
    with pytest.raises(ValueError, match=message):
        entropy(values, unit="bits")

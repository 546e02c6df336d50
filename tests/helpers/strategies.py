"""Hypothesis strategies that several tests share."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


@st.composite
def distributions(draw, n_arrays=1, max_items=20, min_items=1):
    """Draw arrays of distributions of one shape."""
    n = draw(st.integers(min_items, max_items))
    k = draw(st.integers(2, 4))
    made = []
    for _ in range(n_arrays):
        counts = draw(hnp.arrays(np.int64, (n, k), elements=st.integers(0, 50)))
        counts[:, 0] += counts.sum(axis=1) == 0
        made.append(counts / counts.sum(axis=1, keepdims=True))
    return made[0] if n_arrays == 1 else tuple(made)

"""What tests of analyses share."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from helpers.datasets import write_four_labels
from helpers.rows import write_dataset

from chaos_utils.analyses.inputs import gather
from chaos_utils.base import paths


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    """A machine without the published data."""
    monkeypatch.setattr(paths, "data_roots", lambda: [tmp_path / "nowhere"])


@pytest.fixture
def few(tmp_path):
    """The evidence on three items of each dataset."""
    return gather(str(write_dataset(tmp_path)))


@pytest.fixture
def four(tmp_path):
    """The file of a dataset with four labels and annotators."""
    return write_four_labels(tmp_path)


@pytest.fixture(scope="session")
def truth():
    """Distributions of 3,000 items of three kinds: clear ones, split ones, and all between."""
    rng = np.random.default_rng(0)
    kinds = ([30, 1, 1], [20, 20, 1], [1, 1, 1])
    return np.concatenate([rng.dirichlet(kind, 1000) for kind in kinds])

"""What tests of the engine share: one thread, and a cache of their own."""

import pytest
import torch

from chaos_utils.base import paths
from chaos_utils.datasets import sources


@pytest.fixture(scope="module")
def one_thread():
    """Tiny models gain nothing from more, and the tests run side by side."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def own_work(tmp_path, monkeypatch):
    """Weights and checkpoints of a test's own; encoders and the sample are shared."""
    sources.sample_folder()  # before its folder is linked: a link would be replaced
    shared = paths.cache()
    (tmp_path / "cache").mkdir()
    for name in ("encoders", "synthetic-sample"):
        (shared / name).mkdir(exist_ok=True)
        (tmp_path / "cache" / name).symlink_to(shared / name)
    monkeypatch.setenv("CHAOS_CACHE", str(tmp_path / "cache"))

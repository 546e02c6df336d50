"""What tests of the engine share: PyTorch, loaded once, and a cache for each module."""

import gc

import pytest

from chaos_utils.base import paths
from chaos_utils.training import finetune, notebook, wanted
from chaos_utils.training.encoders import find_encoder, load_model
from chaos_utils.training.recipes import TINY_FAMILIES, get_model


@pytest.fixture(scope="session")
def torch():
    """PyTorch on one thread: imported here, so that collecting the tests does not."""
    import torch

    torch.set_num_threads(1)  # tiny models gain nothing from more, and tests run side by side
    # Made here, where all workers have one cache and so one lock.
    made = {family: find_encoder(get_model(f"tiny-{family}")) for family in TINY_FAMILIES}
    load_model(made["bert"].folder, 3)
    gc.freeze()  # PyTorch's trainer asks for collections of garbage: what was imported is none
    return torch


def _own_cache(folder):
    """Make a cache whose encoders are shared with all tests."""
    shared = paths.cache() / "encoders"
    shared.mkdir(parents=True, exist_ok=True)
    folder.mkdir()
    (folder / shared.name).symlink_to(shared.resolve())
    return folder


@pytest.fixture(scope="module", autouse=True)
def module_cache(torch, tmp_path_factory):
    """A cache of the module's own, in which weights that were trained once are found again."""
    folder = _own_cache(tmp_path_factory.mktemp("module") / "cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHAOS_CACHE", str(folder))
        yield folder


@pytest.fixture
def empty_cache(module_cache, tmp_path, monkeypatch):
    """A cache in which nothing was trained."""
    folder = _own_cache(tmp_path / "cache")
    monkeypatch.setenv("CHAOS_CACHE", str(folder))
    return folder


@pytest.fixture
def in_process(monkeypatch):
    """Train here, in place of a kernel that loads PyTorch again."""
    monkeypatch.setattr(notebook, "finetune_in_notebook", finetune.finetune)
    monkeypatch.setattr(wanted, "finetune_in_notebook", finetune.finetune)


@pytest.fixture
def no_dropout(torch, monkeypatch):
    """No dropout while training: masks are drawn for each part of a step, in each process."""
    functional = torch.nn.functional
    attention = functional.scaled_dot_product_attention

    def without(*given, dropout_p=0.0, **more):
        return attention(*given, **more)

    monkeypatch.setattr(functional, "dropout", lambda values, *rest, **more: values)
    monkeypatch.setattr(functional, "scaled_dot_product_attention", without)


@pytest.fixture
def plans_folder(tmp_path, monkeypatch):
    """The folder of plans of a checkout in which the test runs."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "_toc.yml").write_text("")
    folder = tmp_path / "results" / "plans"
    folder.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return folder

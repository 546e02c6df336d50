"""Tiny trainings on the synthetic sample. PyTorch is imported where it is used."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.scoring.training_records import Run
from chaos_utils.training import finetune, loop
from chaos_utils.training.checkpoints import Progress
from chaos_utils.training.devices import Device
from chaos_utils.training.encoders import find_encoder, load_model, load_tokenizer
from chaos_utils.training.encoding import encode
from chaos_utils.training.progress import Report
from chaos_utils.training.recipes import get_model
from chaos_utils.training.settings import Settings, read_settings

N_STEPS = 4  # of `fit_tiny`


def small(family: str = "bert", **more: Any) -> Settings:
    """Return settings that train for a second."""
    values = {"model": f"tiny-{family}", "max_train_examples": 96, "batch_size": 16, "epochs": 1,
              "dev_examples": 24, "data": "sample", "precision": "fp32"}  # fmt: skip
    return read_settings(values | more)


def shares(run: Run) -> npt.NDArray[np.float64]:
    """Return what a run has predicted."""
    return pd.read_parquet(run.folder / "predictions.parquet").select_dtypes("float").to_numpy()


def stop_at(step: int) -> Report:
    """Return a report of progress that interrupts training after a step."""

    def report(what: str, done: int, total: int, loss: float | None = None) -> None:
        if what == "training" and done == step:
            raise KeyboardInterrupt

    return report


@functools.cache
def _given() -> tuple[Path, dict[str, Any]]:
    folder = find_encoder(get_model("tiny-distilbert")).folder
    corpus = finetune.load_data(small()).train.take(range(64))
    encoded = encode(load_tokenizer(folder), corpus, 64)
    plan = [np.arange(16 * k, 16 * k + 16) for k in range(N_STEPS)]
    settings = small(epochs=2, learning_rate=1e-2, weight_decay=0.0, warmup_ratio=0.0, patience=2)
    return folder, {
        "settings": settings,
        "encoded": encoded,
        "targets": corpus.targets,
        "plan": plan,
    }


def fit_tiny(work: Path, *, stop: int = 0, device: Device | None = None) -> tuple[Any, Progress]:
    """Train a tiny model for two epochs of two steps, of which the first is the better one.

    Goes on from the checkpoint in the folder `work`, and is interrupted after the step `stop`.
    """
    import torch

    device = device or Device("cpu", "fp32", "CPU, 1 thread")
    folder, given = _given()
    work.mkdir(exist_ok=True)
    torch.manual_seed(0)
    model = load_model(folder, 3)
    job = loop.Job(
        **given, device=device, accelerator=finetune._accelerator(device), work=work,
        evaluate=lambda _, step: {"accuracy": 1 / step}, checkpoint_seconds=0, report=stop_at(stop),
    )  # fmt: skip
    return model, loop.fit(model, job)


def weights(model: Any) -> npt.NDArray[np.float64]:
    """Return all the weights of a model, one after the other."""
    return np.concatenate([weight.detach().numpy().ravel() for weight in model.parameters()])


def change_weights(folder: Path, changed: Callable[[str, Any], Any]) -> None:
    """Change each weight of a model's file; None takes it out."""
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    tensors = {name: changed(name, one) for name, one in load_file(path).items()}
    kept = {name: one.contiguous() for name, one in tensors.items() if one is not None}
    save_file(kept, path, {"format": "pt"})

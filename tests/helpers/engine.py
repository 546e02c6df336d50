"""Tiny trainings on the synthetic sample. PyTorch is imported where it is used."""

import csv
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.scoring.training_records import Run
from chaos_utils.training import finetune
from chaos_utils.training.devices import Device
from chaos_utils.training.encoders import find_encoder, load_model, load_tokenizer
from chaos_utils.training.encoding import encode
from chaos_utils.training.progress import Report
from chaos_utils.training.recipes import get_model
from chaos_utils.training.settings import Settings, read_settings

if TYPE_CHECKING:
    from chaos_utils.training import trainer

N_STEPS = 4  # of `fit_tiny`
_WORDS = ["a man", "two dogs", "the old woman", "some children", "nobody", "the boat"]


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

    def report(what: str, done: int, total: int, note: str | None = None) -> None:
        if what == "training" and done == step:
            raise KeyboardInterrupt

    return report


@functools.cache
def _given(folder: Path) -> dict[str, Any]:
    corpus = finetune.load_data(small()).train
    train, dev = corpus.take(range(32)), corpus.take(range(32, 48))
    tokenizer = load_tokenizer(folder)
    settings = small(epochs=2, learning_rate=1e-2, weight_decay=0.0, warmup_ratio=0.0, patience=2)
    return {
        "settings": settings,
        "encoded": encode(tokenizer, train, 64),
        "targets": train.targets,
        "looks_at": encode(tokenizer, dev, 64),
        "look_targets": dev.targets,
    }


def given_tiny() -> dict[str, Any]:
    """Return what `fit_tiny` trains on: fields of its job."""
    return _given(find_encoder(get_model("tiny-distilbert")).folder)


def fit_tiny(
    work: Path,
    *,
    stop: int = 0,
    device: Device | None = None,
    folder: Path | None = None,
    **more: Any,
) -> tuple[Any, "trainer.Account"]:
    """Train a tiny model for two epochs of two steps, of which the first is the better one.

    Goes on from the checkpoint in the folder `work`, and is interrupted after the step `stop`.
    The model is a tiny DistilBERT, or that in a `folder`. `more` are fields of the job; of its
    settings those are given that are others.
    """
    import torch

    from chaos_utils.training import trainer

    device = device or Device("cpu", "fp32", "CPU, 1 thread")
    folder = folder or find_encoder(get_model("tiny-distilbert")).folder
    given = _given(folder)
    work.mkdir(exist_ok=True)
    settings = given["settings"].model_copy(update=more.pop("settings", {}))

    def begin() -> Any:
        torch.manual_seed(0)
        return load_model(folder, 3)

    # Every evaluation is worse than the one before: 1/2, 1/3 and so on.
    steps = [int(path.name.partition("-")[2]) for path in work.glob("checkpoint-*")]
    accuracies = (1 / epoch for epoch in range(max(steps, default=0) // 2 + 2, 100))
    job = trainer.Job(
        **{**given, "settings": settings},
        scores=lambda _: {"accuracy": next(accuracies)}, device=device, work=work,
        **{"checkpoint_seconds": 0, "report": stop_at(stop), **more},
    )  # fmt: skip
    return trainer.fit(begin, job)


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


def write_votes(
    path: Path,
    n_items: int = 24,
    labels: Sequence[str] = ("yes", "no"),
    texts: Sequence[str] = ("post",),
    each: int = 4,
    n_texts: int = 12,
) -> Path:
    """Write a row per vote: `n_texts` first texts, whose items have the first label when even."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["item", *texts, "annotator", "label"])
        for item in range(n_items):
            first = f"{_WORDS[item % n_texts % 6]} sleeps on day {item % n_texts}"
            said = [first, *(f"{_WORDS[item % 6]} {name} {item}" for name in texts[1:])]
            for person in range(each):
                label = labels[(item + (person == 0)) % len(labels)]
                rows.writerow([f"i{item}", *said[: len(texts)], f"p{person}", label])
    return path

"""What decides a fine-tuning run, and what its predictions are called."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.datasets.tasks import get_task
from chaos_utils.training.recipes import Model, get_model, recipe_of


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides what a run predicts; two runs with the same settings are one.

    The recipe's value is taken in `epochs`, `batch_size` and `learning_rate` for 0, and in
    `weight_decay` and `warmup_ratio` for -1. A record holds what `precision`, `revision`,
    `token_budget` and `threads` were in the end.

    Attributes
    ----------
    seed : int
        Of the new head, the order, the dropout, the subset, the folds and what is held out.
    train : {'corpora', 'chaosnli'}
        What is trained on: the task's corpora, or ChaosNLI's votes, folded by premise or
        story and predicted out of fold.
    loss : {'hard', 'soft'}
        Cross-entropy against the gold label (for ChaosNLI the majority's), or against a
        distribution: the vote shares, or the teacher's probabilities.
    label_smoothing : float
        In [0, 1): the share of a target that is spread evenly over the labels.
    teacher : str
        An earlier run whose probabilities on the training items are the soft targets.
    init : str
        An earlier run whose weights are the start.
    max_train_examples : int
        A seeded, class-balanced, nested part of the training items; 0 for all.
    patience : int
        Stop after so many epochs without a better accuracy on dev; 0 for never.
    dev_examples : int
        At most so many development items, and test items, are predicted; 0 for all, and for
        a part of the development items while training.
    trajectory : int
        At how many log-spaced steps ChaosNLI's items are predicted, beside the end; 0 for none.
    token_budget : int
        Padded tokens at once while training, which decides how dropout is drawn; 0 for a default
        of the device.
    threads : int
        Of PyTorch on a CPU, which decide the order of sums; 0 for as many as PyTorch takes.
    data : str
        ``auto``, ``released``, ``sample`` or a folder.
    """

    model: str
    task: str = "nli"
    seed: int = 0
    train: str = "corpora"
    loss: str = "hard"
    label_smoothing: float = 0.0
    teacher: str = ""
    init: str = ""
    max_train_examples: int = 0
    n_folds: int = 5
    epochs: int = 0
    batch_size: int = 0
    learning_rate: float = 0.0
    weight_decay: float = -1.0
    warmup_ratio: float = -1.0
    max_length: int = 128
    patience: int = 0
    dev_examples: int = 0
    trajectory: int = 0
    token_budget: int = 0
    threads: int = 0
    precision: str = "auto"
    revision: str = ""
    data: str = "auto"


_CHOICES = {"train": ("corpora", "chaosnli"), "loss": ("hard", "soft")}
_BOUNDS = {
    "seed": (0, 2**31 - 1), "label_smoothing": (0, 0.999), "max_train_examples": (0, None),
    "n_folds": (2, None), "epochs": (1, 1000), "batch_size": (1, 100_000),
    "learning_rate": (1e-12, 1.0), "weight_decay": (0, 1), "warmup_ratio": (0, 1),
    "max_length": (8, 100_000), "patience": (0, None), "dev_examples": (0, None),
    "trajectory": (0, 1000), "token_budget": (0, None), "threads": (0, 1024),
}  # fmt: skip


def complete(settings: Settings) -> tuple[Settings, Model]:
    """Return settings with the recipe's values filled in, after checking all of them."""
    values = asdict(settings)
    for one in fields(Settings):
        kind = type(one.default) if isinstance(one.default, int | float) else str
        if type(values[one.name]) is int and kind is float:
            values[one.name] = float(values[one.name])
        if type(values[one.name]) is not kind:
            raise ChaosError(
                f"{one.name} is of the wrong kind.",
                found=repr(values[one.name]),
                expected=kind.__name__,
            )
    model = get_model(settings.model)
    get_task(settings.task)
    recipe = recipe_of(model, settings.task)
    for name in ("epochs", "batch_size", "learning_rate"):
        values[name] = values[name] or getattr(recipe, name)
    for name in ("weight_decay", "warmup_ratio"):
        if values[name] == -1:
            values[name] = getattr(recipe, name)
    for name, known in _CHOICES.items():
        if values[name] not in known:
            raise ChaosError(
                f"Unknown value of {name}.", found=values[name], expected=" or ".join(known)
            )
    for name, (least, most) in _BOUNDS.items():
        if not (values[name] >= least and (most is None or values[name] <= most)):  # NaN neither
            upper = f", at most {most:,}" if most is not None else ""
            raise ChaosError(
                f"{name} is out of its range.",
                found=values[name],
                expected=f"at least {least:,}{upper}",
            )
    done = Settings(**values)
    _check_together(done)
    return done, model


def _check_together(settings: Settings) -> None:
    soft, own = settings.loss == "soft", settings.train == "chaosnli"
    if soft and not own and not settings.teacher:
        raise ChaosError(
            "The corpora have no distributions to learn from.",
            found="loss=soft, train=corpora, no teacher",
            expected="soft labels come from ChaosNLI's votes or from a teacher",
            todo="add train=chaosnli, or teacher=RUN",
        )
    if settings.teacher and (not soft or own):
        raise ChaosError(
            "A teacher gives soft labels on the corpora.",
            found=f"loss={settings.loss}, train={settings.train}, teacher={settings.teacher}",
            expected="loss=soft and train=corpora",
        )
    if own and (settings.max_train_examples or settings.trajectory):
        raise ChaosError(
            "Training on ChaosNLI's votes is folded: it has no subset and no trajectory.",
            found=f"max_train_examples={settings.max_train_examples}, "
            f"trajectory={settings.trajectory}",
            todo="leave them out",
        )


def read_settings(values: Mapping[str, Any]) -> Settings:
    """Return the settings that a record or a list of wanted runs holds, their values unchecked."""
    known = {field.name for field in fields(Settings)}
    for name in values:
        if name not in known:
            expected = did_you_mean(name, known)
            raise ChaosError("Unknown setting of a run.", found=name, expected=expected)
    return Settings(**values)


def recorded_settings(record: Mapping[str, Any]) -> Settings:
    """Return the settings in a run's record, also where the record is of an earlier edition."""
    values = dict(record["settings"])
    if "threads" not in values:
        values.pop("dev_examples", None)  # it limited the looks alone, not what was predicted
        threads = re.match(r"CPU, (\d+) thread", record["device"]["title"])
        values["threads"] = int(threads[1]) if threads else 0
    return read_settings(values)


def family_name(settings: Settings, model: Model) -> str:
    """Return what runs that differ in their seed alone are called together."""
    parts = [model.title]
    if settings.train == "chaosnli":
        labels = "vote shares" if settings.loss == "soft" else "majority votes"
        parts.append(f"{labels}, {settings.n_folds} folds")
    if settings.teacher:
        parts.append("distilled")
    if settings.max_train_examples:
        parts.append(f"{settings.max_train_examples:,} items")
    if settings.label_smoothing:
        parts.append(f"smoothing {settings.label_smoothing:g}")
    if settings.init and settings.train == "corpora":
        parts.append(f"from {Path(settings.init).name}")
    recipe = recipe_of(model, settings.task)
    if settings.learning_rate not in (0, recipe.learning_rate):
        parts.append(f"rate {settings.learning_rate:g}")
    return ", ".join(parts)

"""What decides a fine-tuning run, and what its predictions are called."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from chaos_utils.base.validation import StrictModel, validate
from chaos_utils.datasets.tasks import tasks
from chaos_utils.training.trainer_settings import trainer_text

if TYPE_CHECKING:
    from chaos_utils.scoring.training_records import TrainingRecord
    from chaos_utils.training.recipes import Model  # slow to import, and `chaos --help` reads this

    Task = str
else:
    Task = Literal[tuple(tasks())]


class Settings(StrictModel):
    """Everything that decides what a run predicts; two runs with the same settings are one.

    The recipe's value is taken for 0 in `epochs`, `batch_size` and `learning_rate`, and for -1 in
    `weight_decay`, `warmup_ratio` and `patience`. A record holds what these, `head`, `precision`,
    `revision` and `threads` were in the end.

    Where votes are trained on, they are ChaosNLI's, and what is predicted of an item comes from a
    model that saw neither it nor another with its premise, story or image. Gains for `patience`
    are then those of the loss on an inner fold, which is held out of each training part.
    `dev_examples` limits the looks at development items too. `threads` decide the order of sums.
    `trainer` passes any other argument of transformers' `TrainingArguments` through by its name;
    with ``gradient_accumulation_steps`` a step is cut into so many parts, which changes the
    dropout, and keeps its `batch_size`.

    A field's title is what the command line and the notebook say of it. Its limits are those of
    values that are given: a default may lie outside and stand for another.
    """

    model_config = ConfigDict(strict=True)

    model: str = Field(title="a model, such as minilm-l6 or mpnet-base, or owner/name on the hub")
    task: Task = Field("nli", title="three-way pairs, or the choice between two stories")
    seed: int = Field(
        0,
        ge=0,
        le=2**31 - 1,
        title="decides the head, the order, the dropout, the subset and the folds",
    )
    train: Literal["corpora", "chaosnli"] = Field(
        "corpora", title="the task's corpora, or ChaosNLI's votes, folded"
    )
    loss: Literal["hard", "soft", "jsd"] = Field(
        "hard", title="gold labels, or distributions by KL or by JSD"
    )
    label_smoothing: float = Field(
        0.0, ge=0, le=0.999, title="share of each target that is spread over the labels"
    )
    teacher: str = Field("", title="an earlier run whose probabilities are learnt")
    init: str = Field("", title="an earlier run whose weights are the start")
    head: Literal["auto", "kept", "affine"] = Field(
        "auto", title="last layer, kept or first fitted to the votes"
    )
    max_train_examples: int = Field(
        0, ge=0, title="a seeded, balanced, nested part of the data; 0 for all"
    )
    n_folds: int = Field(5, ge=2, title="folds of ChaosNLI, by premise, story and image")
    epochs: int = Field(0, ge=1, le=1000, title="passes over the data; 0 for the recipe's")
    batch_size: int = Field(0, ge=1, le=100_000, title="items of a step; 0 for the recipe's")
    learning_rate: float = Field(
        0.0, ge=1e-12, le=1, title="peak learning rate; 0 for the recipe's"
    )
    weight_decay: float = Field(
        -1.0, ge=0, le=1, title="weight decay of AdamW; -1 for the recipe's"
    )
    warmup_ratio: float = Field(
        -1.0, ge=0, le=1, title="share of the steps in which the rate rises; -1 for the recipe's"
    )
    max_length: int = Field(128, ge=8, le=100_000, title="tokens of a sequence")
    patience: int = Field(
        -1,
        ge=0,
        title="stop after so many epochs without a gain on dev; 0: never, -1: the recipe's",
    )
    dev_examples: int = Field(
        0, ge=0, title="at most so many dev and test items are predicted; 0 for all"
    )
    trainer: str = Field(
        "", title="other arguments of TrainingArguments, as name: value, name: value"
    )
    threads: int = Field(0, ge=0, le=1024, title="threads on a CPU; 0 for as many as PyTorch takes")
    precision: Literal["auto", "fp32", "bf16", "fp16"] = Field(
        "auto", title="arithmetic; auto: the fastest here"
    )
    revision: str = Field("", title="commit, branch or tag of a model on the hub")
    data: str = Field("auto", title="where files are read: auto, released, sample, or a folder")

    @model_validator(mode="before")
    @classmethod
    def _without_defaults(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Leave out what is the default, given or not: it need not lie within the limits."""
        defaults = {name: field.default for name, field in cls.model_fields.items()}
        if values.get("trainer"):
            values = {**values, "trainer": trainer_text(values["trainer"])}
        return {
            name: value
            for name, value in values.items()
            if name not in defaults or value != defaults[name]
        }

    @model_validator(mode="after")
    def _check_together(self) -> "Settings":
        soft, on_votes = self.loss != "hard", self.train == "chaosnli"
        if soft and not on_votes and not self.teacher:
            raise ValueError(
                f"loss={self.loss} needs distributions, which the corpora have not: add "
                "train=chaosnli, whose votes they are, or teacher=RUN"
            )
        if self.teacher and (not soft or on_votes):
            raise ValueError(
                f"a teacher gives soft labels on the corpora, not with loss={self.loss}, "
                f"train={self.train}: use loss=soft or loss=jsd, and train=corpora"
            )
        if self.head == "affine" and not (on_votes and self.init):
            raise ValueError(
                "head=affine is fitted to votes, on the logits of an earlier run: add "
                "train=chaosnli and init=RUN, or leave the head out"
            )
        if on_votes and self.max_train_examples:
            raise ValueError(
                "training on ChaosNLI's votes is folded, it has no subset: leave "
                "max_train_examples out"
            )
        return self


def read_settings(values: Mapping[str, Any]) -> Settings:
    """Return settings by name, as a list of wanted runs holds them, after checking all of them."""
    return validate(values, Settings, None, "A run's settings")


def chosen(values: Mapping[str, Any]) -> Settings:
    """Return the settings among named values, such as a notebook's variables."""
    return read_settings({name: values[name] for name in Settings.model_fields})


def complete(settings: Settings) -> "tuple[Settings, Model]":
    """Return settings with the recipe's values filled in, and the model that they name."""
    from chaos_utils.training.recipes import get_model, recipe_of

    model = get_model(settings.model)
    recipe = asdict(recipe_of(model, settings.task, settings.train, settings.init))
    recipe["head"] = usual_head(settings)
    fields = Settings.model_fields
    defaults = {
        name: recipe[name] for name in recipe if getattr(settings, name) == fields[name].default
    }
    return settings.model_copy(update=defaults), model


def usual_head(settings: Settings) -> str:
    """Return what `head` is where it is ``auto``."""
    return "affine" if settings.train == "chaosnli" and settings.init else "kept"


def recorded_settings(record: "TrainingRecord") -> Settings:
    """Return the settings in a run's record, also where the record is of an earlier edition."""
    values = record.settings.model_dump()
    if "threads" not in values:
        values.pop("dev_examples", None)  # it limited the looks alone, not what was predicted
        threads = re.match(r"CPU, (\d+) thread", record.device.title)
        values["threads"] = int(threads[1]) if threads else 0
    values.setdefault("head", "kept")
    values.pop("trajectory", None)  # looks on the way, which changed nothing
    values.pop("token_budget", None)  # of earlier engines, which cut steps by it
    return read_settings(values)


def family_name(settings: Settings, model: "Model") -> str:
    """Return what runs that differ in their seed alone are called together."""
    from chaos_utils.training.recipes import recipe_of

    parts = [model.title]
    if settings.train == "chaosnli":
        targets = "majority votes" if settings.loss == "hard" else "vote shares"
        parts.append(targets if settings.init else f"{targets} alone")
        parts.append(f"{settings.n_folds} folds")
    if settings.teacher:
        parts.append("distilled")
    if settings.loss == "jsd":
        parts.append("JSD loss")
    if settings.max_train_examples:
        parts.append(f"{settings.max_train_examples:,} items")
    if settings.label_smoothing:
        parts.append(f"smoothing {settings.label_smoothing:g}")
    if settings.init and settings.train == "corpora":
        parts.append(f"from {Path(settings.init).name}")
    recipe = recipe_of(model, settings.task, settings.train, settings.init)
    if settings.learning_rate not in (0, recipe.learning_rate):
        parts.append(f"rate {settings.learning_rate:g}")
    return ", ".join(parts)

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

VOTES = "votes"  # the task that is a dataset's own
_OF_OWN_VOTES = ("text", "pair", "held_out")
_NOT_ON_OWN_VOTES = {
    "teacher": "own votes are learnt themselves, not what an earlier run predicts",
    "max_train_examples": "own votes are folded, they have no subset",
    "dev_examples": "own votes have no development items",
    "data": "own votes are named by train",
}


class Settings(StrictModel):
    """Everything that decides what a run predicts; two runs with the same settings are one.

    The recipe's value is taken for 0 in `epochs`, `batch_size` and `learning_rate`, and for -1 in
    `weight_decay`, `warmup_ratio` and `patience`. A record holds what these, `head`, `precision`,
    `revision` and `threads` were in the end.

    Votes that are trained on are ChaosNLI's, of the task, or those of any one dataset, own ones
    too, whose items are then predicted in place of ChaosNLI's; for these ``auto`` is the loss
    ``soft``, else ``hard``. What is predicted of an item comes from a model that saw neither it nor
    another with its premise, text, story or image. Gains for `patience` are then those of the loss
    on an inner fold, which is held out of each training part.
    `dev_examples` limits the looks at development items too. `threads` decide the order of sums.
    `trainer` passes any other argument of transformers' `TrainingArguments` through by its name;
    with ``gradient_accumulation_steps`` a step is cut into so many parts, which changes the
    dropout, and keeps its `batch_size`.

    A field's title is what the command line and the notebook say of it. Its limits are those of
    values that are given: a default may lie outside and stand for another.
    """

    model_config = ConfigDict(strict=True)

    model: str = Field(title="a model, such as minilm-l6 or mpnet-base, or owner/name on the hub")
    task: Task = Field("nli", title="pairs, a choice of two stories, own votes")
    seed: int = Field(
        0,
        ge=0,
        le=2**31 - 1,
        title="decides the head, the order, the dropout, the subset and the folds",
    )
    train: str = Field(
        "corpora",
        min_length=1,
        title="the task's corpora; chaosnli: its votes; or votes: a file or a dataset",
    )
    text: str = Field(
        "", title="for your own votes: the field of the text, if several are possible"
    )
    pair: str = Field("", title="for your own votes: the field of the second text, if any")
    loss: Literal["auto", "hard", "soft", "jsd"] = Field(
        "auto", title="gold labels, or shares by KL or by JSD"
    )
    label_smoothing: float = Field(
        0.0, ge=0, le=0.999, title="share of each target that is spread over the labels"
    )
    teacher: str = Field("", title="an earlier run whose probabilities are the targets")
    init: str = Field("", title="an earlier run whose weights to start from")
    head: Literal["auto", "kept", "affine"] = Field(
        "auto", title="last layer: kept, or first fitted to votes"
    )
    max_train_examples: int = Field(
        0, ge=0, title="size of a random, balanced, nested part of the data; 0 for all"
    )
    n_folds: int = Field(5, ge=2, title="folds of votes, by premise or text, story and image")
    held_out: float = Field(
        0.0,
        ge=0.01,
        le=0.9,
        title="share of your own items to hold out and predict, instead of folds",
    )
    epochs: int = Field(0, ge=1, le=1000, title="passes over the data; 0 for the recipe's")
    batch_size: int = Field(0, ge=1, le=100_000, title="items per step; 0 for the recipe's")
    learning_rate: float = Field(
        0.0, ge=1e-12, le=1, title="peak learning rate; 0 for the recipe's"
    )
    weight_decay: float = Field(
        -1.0, ge=0, le=1, title="weight decay of AdamW; -1 for the recipe's"
    )
    warmup_ratio: float = Field(
        -1.0, ge=0, le=1, title="share of the steps in which the rate rises; -1 for the recipe's"
    )
    max_length: int = Field(128, ge=8, le=100_000, title="tokens per sequence at most")
    patience: int = Field(
        -1,
        ge=0,
        title="stop after this many epochs without a gain on dev; 0: never, -1: the recipe's",
    )
    dev_examples: int = Field(0, ge=0, title="dev and test items to predict at most; 0 for all")
    trainer: str = Field(
        "", title="other arguments of TrainingArguments, as name: value, name: value"
    )
    threads: int = Field(0, ge=0, le=1024, title="threads on a CPU; 0 for as many as PyTorch takes")
    precision: Literal["auto", "fp32", "bf16", "fp16"] = Field(
        "auto", title="arithmetic; auto: the fastest here"
    )
    revision: str = Field("", title="commit, branch or tag of a model on the hub")
    data: str = Field("auto", title="where files come from: auto, released, sample, or a folder")

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
        if self.on_own_votes:
            _check_own_votes(self)
        elif misplaced := [name for name in _OF_OWN_VOTES if getattr(self, name)]:
            raise ValueError(
                f"{', '.join(misplaced)}: only for your own votes: add train=FILE, or the name of "
                "a dataset"
            )
        elif self.task == VOTES:
            raise ValueError(f"task={VOTES} needs votes: add train=FILE, or the name of a dataset")
        loss = usual_loss(self) if self.loss == "auto" else self.loss
        soft, on_votes = loss != "hard", self.on_votes
        if soft and not on_votes and not self.teacher:
            raise ValueError(
                f"loss={self.loss} needs distributions, which the corpora lack: add train=chaosnli "
                "for its votes, train=FILE for your own, or teacher=RUN"
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
                "training on votes uses folds, not a subset: leave max_train_examples out"
            )
        return self

    @property
    def on_votes(self) -> bool:
        """Whether votes are trained on, ChaosNLI's or others."""
        return self.train != "corpora"

    @property
    def on_own_votes(self) -> bool:
        """Whether it is the votes of one dataset, which `train` names as ``data`` names votes."""
        return self.train not in ("corpora", "chaosnli")


def _check_own_votes(settings: Settings) -> None:
    """Refuse settings that make no sense on own votes; what others refuse too is left to these."""
    defaults = {name: field.default for name, field in Settings.model_fields.items()}
    given = {name for name, value in settings if value != defaults[name]}
    if settings.task not in ("nli", VOTES):
        raise ValueError(f"task={settings.task}: your own votes set the task: leave it out")
    for name, reason in _NOT_ON_OWN_VOTES.items():
        if name in given:
            raise ValueError(f"{name}={getattr(settings, name)}: {reason}: leave it out")
    if settings.pair and settings.pair == settings.text:
        raise ValueError(
            f"text and pair are both {settings.text!r}: name two fields, or text alone"
        )
    if settings.pair and not settings.text:
        raise ValueError(f"pair={settings.pair} is a second text: name the first one with text=…")
    if settings.held_out and "n_folds" in given:
        raise ValueError(
            "votes are folded, or a part is held out: give only one of n_folds and held_out"
        )


def read_settings(values: Mapping[str, Any]) -> Settings:
    """Return settings by name, as a list of wanted runs holds them, after checking all of them."""
    return validate(values, Settings, None, "A run's settings")


def chosen(values: Mapping[str, Any]) -> Settings:
    """Return the settings among named values, such as a notebook's variables; others as usual."""
    return read_settings({name: values[name] for name in Settings.model_fields if name in values})


def complete(settings: Settings) -> "tuple[Settings, Model]":
    """Return settings with the recipe's values filled in, and the model that they name."""
    from chaos_utils.training.recipes import get_model

    fields = Settings.model_fields
    defaults = {
        name: value
        for name, value in usual(settings).items()
        if getattr(settings, name) == fields[name].default
    }
    return settings.model_copy(update=defaults), get_model(settings.model)


def usual(settings: Settings) -> dict[str, Any]:
    """Return what settings are that depend on others where they are left at their defaults."""
    from chaos_utils.training.recipes import get_model, recipe_of

    recipe = recipe_of(get_model(settings.model), settings.task, settings.train, settings.init)
    head = "affine" if settings.on_votes and settings.init else "kept"
    task = {"task": VOTES} if settings.on_own_votes else {}
    return {**asdict(recipe), "head": head, "loss": usual_loss(settings), **task}


def usual_loss(settings: Settings) -> str:
    """Return the loss if none is chosen: shares for own votes, and labels for the rest."""
    return "soft" if settings.on_own_votes else "hard"


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
    if settings.on_votes:
        targets = "majority votes" if settings.loss == "hard" else "vote shares"
        parts.append(targets if settings.init else f"{targets} alone")
        held_out = f"{settings.held_out:.0%} held out"
        parts.append(held_out if settings.held_out else f"{settings.n_folds} folds")
    if settings.teacher:
        parts.append("distilled")
    if settings.loss == "jsd":
        parts.append("JSD loss")
    if settings.max_train_examples:
        parts.append(f"{settings.max_train_examples:,} items")
    if settings.label_smoothing:
        parts.append(f"smoothing {settings.label_smoothing:g}")
    if settings.init and not settings.on_votes:
        parts.append(f"from {Path(settings.init).name}")
    recipe = recipe_of(model, settings.task, settings.train, settings.init)
    if settings.learning_rate not in (0, recipe.learning_rate):
        parts.append(f"rate {settings.learning_rate:g}")
    return ", ".join(parts)

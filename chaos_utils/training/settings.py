"""What decides a fine-tuning run, and what its predictions are called."""

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.datasets.tasks import get_task, tasks

if TYPE_CHECKING:
    from chaos_utils.training.recipes import Model  # slow to import, and `chaos --help` reads this


def _setting(
    meaning: str,
    default: Any = MISSING,
    *,
    choices: tuple[str, ...] = (),
    least: float | None = None,
    most: float | None = None,
) -> Any:
    """Return a field with what the command line, the notebook and `complete` know of it."""
    about = {"meaning": meaning, "choices": choices, "least": least, "most": most}
    return field(default=default, metadata=about)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides what a run predicts; two runs with the same settings are one.

    The recipe's value is taken for 0 in `epochs`, `batch_size` and `learning_rate`, and for -1 in
    `weight_decay`, `warmup_ratio` and `patience`. A record holds what these, `head`, `precision`,
    `revision`, `token_budget` and `threads` were in the end.

    Where votes are trained on, they are ChaosNLI's, and what is predicted of an item comes from a
    model that saw neither it nor another with its premise, story or image. Gains for `patience`
    are then those of the loss on an inner fold, which is held out of each training part.
    `dev_examples` limits the looks at development items too. The `token_budget` decides how
    dropout is drawn, and `threads` the order of sums.
    """

    model: str = _setting("a model, such as minilm-l6 or mpnet-base, or owner/name on the hub")
    task: str = _setting(
        "three-way pairs, or the choice between two stories", "nli", choices=tuple(tasks())
    )
    seed: int = _setting(
        "decides the head, the order, the dropout, the subset and the folds",
        0, least=0, most=2**31 - 1,
    )  # fmt: skip
    train: str = _setting(
        "the task's corpora, or ChaosNLI's votes, folded",
        "corpora", choices=("corpora", "chaosnli"),
    )  # fmt: skip
    loss: str = _setting(
        "gold labels, or distributions by KL or by JSD",
        "hard", choices=("hard", "soft", "jsd"),
    )  # fmt: skip
    label_smoothing: float = _setting(
        "share of each target that is spread over the labels", 0.0, least=0, most=0.999
    )
    teacher: str = _setting("an earlier run whose probabilities are learnt", "")
    init: str = _setting("an earlier run whose weights are the start", "")
    head: str = _setting(
        "last layer, kept or first fitted to the votes",
        "auto", choices=("auto", "kept", "affine"),
    )  # fmt: skip
    max_train_examples: int = _setting(
        "a seeded, balanced, nested part of the data; 0 for all", 0, least=0
    )
    n_folds: int = _setting("folds of ChaosNLI, by premise, story and image", 5, least=2)
    epochs: int = _setting("passes over the data; 0 for the recipe's", 0, least=1, most=1000)
    batch_size: int = _setting("items of a step; 0 for the recipe's", 0, least=1, most=100_000)
    learning_rate: float = _setting(
        "peak learning rate; 0 for the recipe's", 0.0, least=1e-12, most=1.0
    )
    weight_decay: float = _setting(
        "weight decay of AdamW; -1 for the recipe's", -1.0, least=0, most=1
    )
    warmup_ratio: float = _setting(
        "share of the steps in which the rate rises; -1 for the recipe's", -1.0, least=0, most=1
    )
    max_length: int = _setting("tokens of a sequence", 128, least=8, most=100_000)
    patience: int = _setting(
        "stop after so many epochs without a gain on dev; 0: never, -1: the recipe's", -1, least=0
    )
    dev_examples: int = _setting(
        "at most so many dev and test items are predicted; 0 for all", 0, least=0
    )
    token_budget: int = _setting(
        "tokens at once while training; 0 for the device's default", 0, least=0
    )
    threads: int = _setting(
        "threads on a CPU; 0 for as many as PyTorch takes", 0, least=0, most=1024
    )
    precision: str = _setting(
        "arithmetic; auto: the fastest here",
        "auto",
        choices=("auto", "fp32", "bf16", "fp16"),
    )
    revision: str = _setting("commit, branch or tag of a model on the hub", "")
    data: str = _setting("where files are read: auto, released, sample, or a folder", "auto")


KINDS: Mapping[str, type] = get_type_hints(Settings)


def chosen(values: Mapping[str, Any]) -> Settings:
    """Return the settings among named values, such as a notebook's variables."""
    return Settings(**{one.name: values[one.name] for one in fields(Settings)})


def help_of(one: "Field[Any]") -> str:
    """Return a line on a setting for the command line."""
    meaning, choices = str(one.metadata["meaning"]), one.metadata["choices"]
    if choices:
        return f"{', '.join(choices[:-1])} or {choices[-1]}: {meaning}."
    return f"{meaning[0].upper()}{meaning[1:]}."


def as_parameters(**defaults: str) -> str:
    """Return the settings as lines of a notebook's parameters cell.

    `defaults` are for settings that have none.
    """
    lines = []
    for one in fields(Settings):
        about = one.metadata
        choices = ", ".join(f'"{choice}"' for choice in about["choices"])
        kind = f"Literal[{choices}]" if choices else KINDS[one.name].__name__
        default = json.dumps(defaults.get(one.name, one.default))
        lines.append(f"{one.name}: {kind} = {default}  # {about['meaning']}")
    return "\n".join(lines)


def complete(settings: Settings) -> "tuple[Settings, Model]":
    """Return settings with the recipe's values filled in, after checking all of them."""
    from chaos_utils.training.recipes import get_model, recipe_of

    values = {one.name: getattr(settings, one.name) for one in fields(Settings)}
    for one in fields(Settings):
        if type(values[one.name]) is int and KINDS[one.name] is float:
            values[one.name] = float(values[one.name])
        if type(values[one.name]) is not KINDS[one.name]:
            raise ChaosError(
                f"{one.name} is of the wrong kind.",
                found=repr(values[one.name]),
                expected=KINDS[one.name].__name__,
            )
    model = get_model(settings.model)
    get_task(settings.task)
    recipe = recipe_of(model, settings.task, settings.train)
    for name in ("epochs", "batch_size", "learning_rate"):
        values[name] = values[name] or getattr(recipe, name)
    for name in ("weight_decay", "warmup_ratio", "patience"):
        if values[name] == -1:
            values[name] = getattr(recipe, name)
    if values["head"] == "auto":
        values["head"] = usual_head(settings)
    for one in fields(Settings):
        _check(one, values[one.name])
    done = Settings(**values)
    _check_together(done)
    return done, model


def usual_head(settings: Settings) -> str:
    """Return what `head` is where it is ``auto``."""
    return "affine" if settings.train == "chaosnli" and settings.init else "kept"


def _check(one: "Field[Any]", value: Any) -> None:
    about = one.metadata
    if about["choices"] and value not in about["choices"]:
        raise ChaosError(
            f"Unknown value of {one.name}.",
            found=value,
            expected="one of " + ", ".join(about["choices"]),
        )
    least, most = about["least"], about["most"]
    if least is not None and not (value >= least and (most is None or value <= most)):  # nor NaN
        upper = f", at most {most:,}" if most is not None else ""
        raise ChaosError(
            f"{one.name} is out of its range.",
            found=value,
            expected=f"at least {least:,}{upper}",
        )


def _check_together(settings: Settings) -> None:
    soft, own = settings.loss != "hard", settings.train == "chaosnli"
    if soft and not own and not settings.teacher:
        raise ChaosError(
            "The corpora have no distributions to learn from.",
            found=f"loss={settings.loss}, train=corpora, no teacher",
            expected="soft labels come from ChaosNLI's votes or from a teacher",
            todo="add train=chaosnli, or teacher=RUN",
        )
    if settings.teacher and (not soft or own):
        raise ChaosError(
            "A teacher gives soft labels on the corpora.",
            found=f"loss={settings.loss}, train={settings.train}, teacher={settings.teacher}",
            expected="loss=soft or loss=jsd, and train=corpora",
        )
    if settings.head == "affine" and not (own and settings.init):
        raise ChaosError(
            "A head is fitted to votes, on the logits of an earlier run.",
            found=f"head=affine, train={settings.train}, init={settings.init or 'none'}",
            todo="add train=chaosnli and init=RUN, or leave the head out",
        )
    if own and settings.max_train_examples:
        raise ChaosError(
            "Training on ChaosNLI's votes is folded: it has no subset.",
            found=f"max_train_examples={settings.max_train_examples}",
            todo="leave it out",
        )


def read_settings(values: Mapping[str, Any]) -> Settings:
    """Return the settings that a record or a list of wanted runs holds, their values unchecked."""
    known = {field.name for field in fields(Settings)}
    for name in values:
        if name not in known:
            expected = did_you_mean(str(name), known)
            raise ChaosError("Unknown setting of a run.", found=name, expected=expected)
    required = {one.name for one in fields(Settings) if one.default is MISSING}
    if missing := sorted(required - values.keys()):
        raise ChaosError("A run's settings are incomplete.", found=f"no {', '.join(missing)}")
    return Settings(**values)


def recorded_settings(record: Mapping[str, Any]) -> Settings:
    """Return the settings in a run's record, also where the record is of an earlier edition."""
    values = dict(record["settings"])
    if "threads" not in values:
        values.pop("dev_examples", None)  # it limited the looks alone, not what was predicted
        threads = re.match(r"CPU, (\d+) thread", record["device"]["title"])
        values["threads"] = int(threads[1]) if threads else 0
    values.setdefault("head", "kept")
    values.pop("trajectory", None)  # looks on the way, which changed nothing
    return read_settings(values)


def family_name(settings: Settings, model: "Model") -> str:
    """Return what runs that differ in their seed alone are called together."""
    from chaos_utils.training.recipes import recipe_of

    parts = [model.title]
    if settings.train == "chaosnli":
        parts.append("majority votes" if settings.loss == "hard" else "vote shares")
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
    recipe = recipe_of(model, settings.task, settings.train)
    if settings.learning_rate not in (0, recipe.learning_rate):
        parts.append(f"rate {settings.learning_rate:g}")
    return ", ".join(parts)

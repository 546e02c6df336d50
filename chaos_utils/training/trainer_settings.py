"""What passes through to `transformers.TrainingArguments`, by name: read, checked, in one spelling.

This module imports neither PyTorch nor transformers until a name is checked.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import yaml

from chaos_utils.base.errors import ChaosError, did_you_mean

# What decides arguments of the trainer: settings of ours.
_DECIDING = {
    "epochs": ("num_train_epochs", "max_steps"),
    "batch_size and gradient_accumulation_steps": (
        "per_device_train_batch_size", "auto_find_batch_size",
    ),
    "learning_rate": ("learning_rate",),
    "weight_decay": ("weight_decay",),
    "warmup_ratio": ("warmup_steps", "warmup_ratio"),
    "label_smoothing": ("label_smoothing_factor",),
    "precision": ("bf16", "fp16", "tf32", "bf16_full_eval", "fp16_full_eval"),
    "seed": ("seed", "data_seed"),
    "device": ("use_cpu",),
    "patience": ("load_best_model_at_end", "metric_for_best_model", "greater_is_better"),
    "out": ("output_dir",),
    "the same command, which resumes": ("resume_from_checkpoint",),
}  # fmt: skip
_DECIDED = {name: setting for setting, names in _DECIDING.items() for name in names}
_OURS = frozenset(
    {
        "do_eval", "do_predict", "do_train", "eval_delay", "eval_on_start", "eval_steps",
        "eval_strategy", "save_only_model", "save_steps", "save_strategy", "save_total_limit",
        "save_on_each_node", "logging_steps", "logging_strategy", "logging_nan_inf_filter",
        "restore_callback_states_from_checkpoint", "ignore_data_skip", "dataloader_drop_last",
        "train_sampling_strategy", "length_column_name", "remove_unused_columns", "label_names",
        "full_determinism", "disable_tqdm", "accelerator_config", "ddp_find_unused_parameters",
        "ddp_timeout", "local_rank", "place_model_on_device", "prediction_loss_only",
        "include_for_metrics", "batch_eval_metrics", "eval_do_concat_batches",
    }
)  # fmt: skip


def trainer_text(values: object) -> str:
    """Return arguments of the trainer in their one spelling: ``name: value``, by name.

    They are given as a mapping or as text, with braces or without.
    """
    return ", ".join(f"{name}: {_in_yaml(value)}" for name, value in trainer_values(values).items())


def trainer_values(values: object) -> dict[str, Any]:
    """Return the arguments of the trainer, by name, that a mapping or such a text holds."""
    if isinstance(values, str):
        text = values.strip()
        try:
            values = yaml.safe_load(text if text.startswith("{") else "{" + text + "}")
        except yaml.YAMLError as fault:
            raise ValueError("trainer cannot be read; expected name: value, name: value") from fault
    if not isinstance(values, Mapping) or not all(isinstance(name, str) for name in values):
        raise ValueError("trainer needs names and values; expected name: value, name: value")
    if nameless := [name for name, value in values.items() if value is None]:
        raise ValueError(f"trainer gives {nameless[0]} no value; expected name: value, name: value")
    return {name: values[name] for name in sorted(values)}


def _in_yaml(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000).strip()
    return text.removesuffix("...").strip()


def check_trainer(text: str) -> None:
    """Refuse names that `TrainingArguments` has not, and those that settings of ours decide."""
    from dataclasses import fields

    from transformers import TrainingArguments

    values = trainer_values(text)
    known = {one.name for one in fields(TrainingArguments) if one.init}
    for name, value in values.items():
        if name in _DECIDED:
            raise ChaosError(
                f"trainer: {name} has a setting of its own.",
                found=f"{name}: {value}",
                expected=f"{_DECIDED[name]}",
            )
        if name in _OURS or name.startswith(("hub_", "push_to_hub")):
            raise ChaosError(f"trainer: {name} is set by the engine.", found=f"{name}: {value}")
        if name not in known:
            allowed = sorted(known - _OURS - _DECIDED.keys())
            raise ChaosError(
                f"trainer: {name} is not one of TrainingArguments.",
                found=name,
                expected=did_you_mean(name, allowed),
            )
    parts = values.get("gradient_accumulation_steps", 1)
    if not isinstance(parts, int) or parts < 1:
        raise ChaosError(
            "trainer: gradient_accumulation_steps is out of range.",
            found=parts,
            expected="a whole number, 1 or more",
        )


@contextmanager
def launch_environment() -> Iterator[None]:
    """Hide what `accelerate launch` was configured with, and would enter no record."""
    names = [
        name for name in os.environ
        if name in ("ACCELERATE_MIXED_PRECISION", "ACCELERATE_GRADIENT_ACCUMULATION_STEPS")
        or name.startswith("ACCELERATE_DYNAMO_")
    ]  # fmt: skip
    hidden = {name: os.environ.pop(name) for name in names}
    try:
        yield
    finally:
        os.environ.update(hidden)

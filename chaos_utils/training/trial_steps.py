"""One step of training on random tokens: whether it fits into memory, and how long it takes.

The model has its real shape and random weights, so that none are fetched. It is a trial of the
device; what trains is `Trainer`.
"""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaos_utils.training.devices import Device, choose_device, is_out_of_memory
from chaos_utils.training.recipes import Shape

_TIMED = 5  # steps, after two others
_FIRST_TOKEN = 8  # those below are special ones
_NAMES = {  # what configurations call these, by family
    "layers": ("num_hidden_layers", "n_layer", "n_layers"),
    "hidden": ("hidden_size", "d_model", "dim"),
    "heads": ("num_attention_heads", "n_head", "n_heads", "encoder_attention_heads"),
    "intermediate": ("intermediate_size", "d_inner", "hidden_dim", "encoder_ffn_dim"),
}


@dataclass(frozen=True, slots=True)
class TrialStep:
    """A step that is tried: of which configuration, on how many sequences of what length.

    `config` is the JSON of config.json, and `precision` one of the settings. The memory is that of
    sequences of `longest` tokens, the time that of `usual` ones. A step is cut into parts of
    `per_item` sequences at least.
    """

    config: str
    precision: str
    n_outputs: int
    sequences: int
    per_item: int
    longest: int
    usual: int


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What a step took: memory, which is known of a GPU alone, and time.

    `parts` is into how many the step had to be cut; 0 where even one item is too large, or where
    the step failed by a `fault` of another kind.
    """

    parts: int
    peak_gib: float = 0.0
    seconds: float = 0.0
    fault: str = ""


def shape_of(config: str) -> Shape:
    """Return the shape of an encoder from its configuration, counted without making its weights."""
    model = _make(config, 3, "meta")
    values = model.config.to_dict()
    found = {
        name: next((values[one] for one in names if one in values), 0)
        for name, names in _NAMES.items()
    }
    found["layers"] += values.get("decoder_layers", 0)
    if "encoder_layers" in values:
        found["layers"] = values["encoder_layers"] + values.get("decoder_layers", 0)
    return Shape(parameters=sum(weight.numel() for weight in model.parameters()), **found)


def config_in(folder: Path) -> str:
    """Return the configuration in a model's folder."""
    return (folder / "config.json").read_text("utf-8")


def try_steps(steps: list[TrialStep], device: str) -> list[TrialResult]:
    """Try steps on a device (``auto``, ``cpu``, ``cuda``), one after the other."""
    return [_try(step, choose_device(device, step.precision)) for step in steps]


def _try(step: TrialStep, device: Device) -> TrialResult:
    """Try a step, cut into more and more parts until these fit."""
    import torch

    if device.kind == "cuda":  # an operation that is not deterministic is no reason to stop here
        torch.use_deterministic_algorithms(True, warn_only=True)
    parts, at_once = 1, step.sequences
    while True:
        try:
            if device.kind == "cuda":
                torch.cuda.empty_cache()
                torch.cuda.reset_peak_memory_stats()
            model = _make(step.config, step.n_outputs, device.name)
            return _measured(model, step, device, parts, at_once)
        except (RuntimeError, MemoryError, ValueError, LookupError, TypeError) as fault:
            if not is_out_of_memory(fault):
                return TrialResult(0, fault=" ".join(str(fault).split())[:200])
        if at_once <= step.per_item:
            return TrialResult(0)
        parts, at_once = 2 * parts, at_once // 2


def _measured(model: Any, step: TrialStep, device: Device, parts: int, at_once: int) -> TrialResult:
    import torch

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)
    model.train()

    def make_step(length: int) -> None:
        for _ in range(parts):
            batch = _batch(model, step, at_once, length, device)
            with device.autocast():
                logits = model(**batch).logits
            logits = logits.float().reshape(-1, max(2, step.n_outputs))
            targets = torch.zeros(len(logits), dtype=torch.long, device=device.name)
            torch.nn.functional.cross_entropy(logits, targets).backward()
        optimizer.step()
        optimizer.zero_grad()
        if device.kind == "cuda":
            torch.cuda.synchronize()

    make_step(step.longest)
    peak = torch.cuda.max_memory_reserved() / 2**30 if device.kind == "cuda" else 0.0
    make_step(step.usual)
    begun = time.monotonic()
    for _ in range(_TIMED):
        make_step(step.usual)
    return TrialResult(parts, peak, (time.monotonic() - begun) / _TIMED)


def _make(config: str, n_outputs: int, device: str) -> Any:
    """Make a model of a configuration, with random weights, on a device."""
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    values = json.loads(config)
    for name in ("id2label", "label2id", "num_labels", "torch_dtype", "dtype"):
        values.pop(name, None)
    made = AutoConfig.for_model(values.pop("model_type"), **values, num_labels=n_outputs)
    if made.pad_token_id is None:  # a decoder's: its last token is looked for by this one
        made.pad_token_id = 0
    with torch.device(device):
        return AutoModelForSequenceClassification.from_config(made, trust_remote_code=False).float()


def _batch(
    model: Any, step: TrialStep, sequences: int, length: int, device: Device
) -> dict[str, Any]:
    """Return random tokens; what ends a text stands at the end alone, which BART asks for."""
    import torch

    config = model.config
    end, size = config.eos_token_id, config.vocab_size
    tokens = torch.randint(min(_FIRST_TOKEN, size - 1), size, (sequences, length))
    if isinstance(end, int):
        tokens[tokens == end] = size - 1 if end != size - 1 else size - 2
        tokens[:, -1] = end
    mask = torch.ones_like(tokens)
    return {"input_ids": tokens.to(device.name), "attention_mask": mask.to(device.name)}

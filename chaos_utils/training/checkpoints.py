"""Checkpoints of a training run: safetensors alone, whole or not at all, checked when read."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from chaos_utils.base.files import write_bytes


@dataclass(slots=True)
class Progress:
    """Where a run stands: all that a checkpoint holds beside tensors.

    `attention` sums squared padded lengths, for the cost of attention; `seconds` were spent in
    steps, over all the runs that were resumed. `curve` holds the mean training loss since the
    entry before, in nats, and `looks` what `evaluate` returned, by step; of the best of these,
    `best_accuracy` is the accuracy, or minus the inner loss. `window_loss` and `window_items` are
    summed since the curve's last entry. `stopped` says that patience ended the
    run. `token_budget` is what was found to fit into memory; 0 before the first step. `cpu_seconds`
    are those of this process in steps, `calls` the device of the first call and of each that
    resumed, and `scaler` the gradient scaler's state, empty but for fp16.
    """

    step: int = 0
    pairs: int = 0
    tokens: int = 0
    padded_tokens: int = 0
    attention: int = 0
    seconds: float = 0.0
    curve: list[dict[str, Any]] = field(default_factory=list)
    looks: list[dict[str, Any]] = field(default_factory=list)
    best_accuracy: float = -1.0
    epochs_since_best: int = 0
    stopped: bool = False
    window_loss: float = 0.0
    window_items: int = 0
    token_budget: int = 0
    cpu_seconds: float = 0.0
    calls: list[str] = field(default_factory=list)
    scaler: dict[str, Any] = field(default_factory=dict)


def copy_to_cpu(tensors: dict[str, Any]) -> dict[str, Any]:
    """Return tensors on the CPU that share no memory with others: safetensors asks for that."""
    return {name: tensor.detach().cpu().clone() for name, tensor in tensors.items()}


def save(model: Any, optimizer: Any, best: dict[str, Any], state: Progress, work: Path) -> None:
    """Write a checkpoint: one safetensors file, with its own digest in its name.

    Whole or not at all; older ones are removed after. `best` holds the best weights so far, and
    nothing where none are kept.
    """
    from safetensors.torch import save as serialise

    moments = optimizer.state_dict()["state"]
    tensors = {f"model.{name}": tensor for name, tensor in copy_to_cpu(model.state_dict()).items()}
    tensors |= {f"best.{name}": tensor for name, tensor in best.items()}
    for number, values in moments.items():
        tensors |= {f"optimizer.{number}.{k}": t for k, t in copy_to_cpu(values).items()}
    content = serialise(tensors, {"progress": json.dumps(asdict(state))})
    digest = hashlib.sha256(content).hexdigest()[:16]
    path = work / f"checkpoint-{state.step:08d}-{digest}.safetensors"
    write_bytes(path, content)
    for old in work.glob("checkpoint-*.safetensors"):
        if old != path:
            old.unlink(missing_ok=True)


def resume(
    model: Any, optimizer: Any, best: dict[str, Any], work: Path, say: Callable[[str], None]
) -> Progress | None:
    """Load the last whole checkpoint; a damaged one is reported, and goes when the next is written.

    `model`, `optimizer` and `best` are changed in place; None where there is nothing to go on
    from.
    """
    from safetensors.torch import load

    for path in sorted(work.glob("checkpoint-*.safetensors"), reverse=True):
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest()[:16] != path.stem.rpartition("-")[2]:
            say(f"the checkpoint {path} is damaged: its content does not match its name. "
                "Going on without it")  # fmt: skip
            continue
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size])["__metadata__"]
        tensors = load(content)
        parts: dict[str, dict[str, Any]] = {"model": {}, "best": {}, "optimizer": {}}
        for name, tensor in tensors.items():
            kind, _, rest = name.partition(".")
            parts[kind][rest] = tensor
        model.load_state_dict(parts["model"])
        best.update(parts["best"])
        moments: dict[int, dict[str, Any]] = {}
        for name, tensor in parts["optimizer"].items():
            number, _, key = name.partition(".")
            moments.setdefault(int(number), {})[key] = tensor
        groups = optimizer.state_dict()["param_groups"]
        optimizer.load_state_dict({"state": moments, "param_groups": groups})
        state = Progress(**json.loads(header["progress"]))
        say(f"resuming after step {state.step}")
        return state
    return None

"""Steps of training on random tokens: whether they fit into memory, and how long they take.

The model has its real shape and random weights, so that none are fetched; the trainer is that of
all runs.
"""

import gc
import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.tasks import get_task
from chaos_utils.training.devices import Device, choose_device
from chaos_utils.training.encoding import EncodedItems, Integers
from chaos_utils.training.estimates import usual_length
from chaos_utils.training.recipes import Shape
from chaos_utils.training.settings import Settings

if TYPE_CHECKING:
    from chaos_utils.training.trainer import Account  # PyTorch comes with it

_TIMED = 6  # steps, beside one of the longest sequences
_FIRST_TOKEN = 8  # those below are special ones
# What decides how much memory and time a step takes, beside the model.
_OF_A_STEP = ("model", "task", "batch_size", "max_length", "precision", "trainer")
_INTERMEDIATE = ("intermediate_size", "d_inner", "hidden_dim", "encoder_ffn_dim")


@dataclass(frozen=True, slots=True)
class TrialStep:
    """A step that is tried: of which configuration, the JSON of config.json, by which settings.

    The memory is that of sequences of `max_length` tokens, the time that of usual ones.
    """

    config: str
    settings: Settings


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What a step took: memory, which is known of a GPU alone, and time; or why it failed.

    `parts` is into how many the step had to be cut.
    """

    parts: int = 1
    peak_gib: float = 0.0
    seconds: float = 0.0
    fault: str = ""


def step_of(config: str, settings: Settings) -> TrialStep:
    """Return the step of a run with settings as `complete` returns them; equal ones are one."""
    fields = Settings.model_fields.items()
    others = {name: field.default for name, field in fields if name not in _OF_A_STEP}
    others |= {"epochs": 1, "patience": 0, "loss": "hard", "learning_rate": 1e-6,
               "weight_decay": 0.0, "warmup_ratio": 0.0}  # fmt: skip
    return TrialStep(config, settings.model_copy(update=others))


def shape_of(config: str) -> Shape:
    """Return the shape of an encoder from its configuration, counted without making its weights."""
    try:
        model = _make(config, 3, "meta")
        # Where decoders have layers of their own, the usual name counts those of encoders.
        about = model.config
        return Shape(
            sum(weight.numel() for weight in model.parameters()),
            about.num_hidden_layers + getattr(about, "decoder_layers", 0),
            about.hidden_size,
            about.num_attention_heads,
            next(getattr(about, name) for name in _INTERMEDIATE if hasattr(about, name)),
        )
    except (ValueError, LookupError, TypeError, AttributeError, StopIteration) as fault:
        raise ChaosError(
            "This encoder's configuration cannot be read.",
            found=" ".join(str(fault).split())[:200],
            expected="an architecture of transformers that classifies sequences",
        ) from fault


def config_in(folder: Path) -> str:
    """Return the configuration in a model's folder."""
    return (folder / "config.json").read_text("utf-8")


def try_steps(steps: list[TrialStep], device: str) -> list[TrialResult]:
    """Try steps on a device (``auto``, ``cpu``, ``cuda``), one after the other."""
    return [_try(step, choose_device(device, step.settings.precision)) for step in steps]


def _try(step: TrialStep, device: Device) -> TrialResult:
    import torch

    settings = step.settings
    lengths = np.repeat(
        [settings.max_length, *[usual_length(settings)] * _TIMED], settings.batch_size
    )
    try:
        if device.on_gpu:
            gc.collect()  # the trial before, whose parts know each other
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        account, ends = train_at_random(step, lengths, device)
    except (ChaosError, RuntimeError, MemoryError, ValueError, LookupError, TypeError) as fault:
        return TrialResult(fault=" ".join(str(fault).split())[:200])
    peak = torch.cuda.max_memory_reserved() / 2**30 if device.on_gpu else 0.0
    return TrialResult(account.accumulation, peak, float(np.median(np.diff(ends))))


def train_at_random(
    step: TrialStep, lengths: Integers, device: Device
) -> tuple["Account", list[float]]:
    """Train random weights on random tokens, in sequences of these lengths.

    Returns the account of the training, and the seconds after which each of its steps was done.
    """
    import torch

    from chaos_utils.training import trainer

    is_story = get_task(step.settings.task).kind == "stories"
    n_outputs, per_item = (1, 2) if is_story else (3, 1)
    targets = np.eye(max(2, n_outputs))[np.arange(len(lengths)) % 2]
    begun, ends = time.monotonic(), list[float]()

    def make() -> Any:
        torch.manual_seed(0)
        return _make(step.config, n_outputs, device.name)

    def items(lengths: Integers) -> EncodedItems:
        return _random_items(step.config, lengths, per_item)

    paths.cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=paths.cache(), prefix=".trial-") as work:
        job = trainer.Job(
            step.settings, items(lengths), targets, items(lengths[:0]), targets[:0], dict, device,
            Path(work), checkpoint_seconds=24 * 3600,
            report=lambda *given: ends.append(time.monotonic() - begun),
        )  # fmt: skip
        return trainer.fit(make, job)[1], ends


def _make(config: str, n_outputs: int, device: str) -> Any:
    """Make a model of a configuration, with random weights, on a device."""
    import torch
    from transformers import AutoModelForSequenceClassification

    made = _read(config, num_labels=n_outputs)
    with torch.device(device):
        return AutoModelForSequenceClassification.from_config(made, trust_remote_code=False).float()


def _read(config: str, **more: Any) -> Any:
    from transformers import AutoConfig

    values = json.loads(config)
    for name in ("id2label", "label2id", "num_labels", "torch_dtype", "dtype"):
        values.pop(name, None)
    made = AutoConfig.for_model(values.pop("model_type"), **values, **more)
    if made.pad_token_id is None:  # a decoder's: its last token is looked for by this one
        made.pad_token_id = 0
    return made


def _random_items(config: str, lengths: Integers, per_item: int) -> EncodedItems:
    """Return random tokens; what ends a text stands at the end alone, which BART asks for."""
    values = _read(config)
    sizes = np.repeat(lengths, per_item)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    size, end = values.vocab_size, values.eos_token_id
    ids = np.random.default_rng(0).integers(min(_FIRST_TOKEN, size - 1), size, starts[-1])
    if isinstance(end, int):
        ids[ids == end] = size - 1 if end != size - 1 else size - 2
        ids[starts[1:] - 1] = end
    tokenizer = SimpleNamespace(pad_token_id=values.pad_token_id, padding_side="right")
    return EncodedItems(tokenizer, ids.astype(np.uint32), None, starts, per_item, lengths, 0)

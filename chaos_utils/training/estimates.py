"""What a training run costs before it was made: hours, memory and disk, as estimates.

The numbers are from shapes alone, so that they need neither weights nor a GPU, nor PyTorch.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.datasets.catalogue import known_files
from chaos_utils.datasets.tasks import get_task
from chaos_utils.training.recipes import Shape
from chaos_utils.training.settings import Settings

GIB = 2**30
_TOKENS = {"pairs": 32, "stories": 35}  # in the mean sequence, padding included
_KERNELS = 200  # launched by a step for each layer
_LAUNCH_SECONDS = (5e-6, 10e-6)  # of a kernel
_UTILISATION = (0.45, 0.25)  # of a card's peak
_FIXED_HOURS = 0.05  # reading and encoding data, evaluating, predicting
_CONTEXT_BYTES = GIB  # what CUDA and its libraries hold
_STATE_BYTES = 16  # of each parameter, in fp32: weight, gradient, two moments
_HALF_BYTES = 2  # of each parameter, in the copy that autocast makes of the weights
_RESULT_BYTES = 3 * 2**20  # of predictions, record and notebook


@dataclass(frozen=True, slots=True)
class Gpu:
    """A card: its memory, and the peak of dense products in bf16, or fp16 where it has no bf16."""

    name: str
    memory_gib: float
    tflops: float


# By a part of the name that PyTorch gives; the first that fits. From the makers' data sheets.
_GPUS = (
    Gpu("H200", 141, 989), Gpu("H100", 80, 989), Gpu("A100", 40, 312), Gpu("L40", 48, 362),
    Gpu("L4", 24, 121), Gpu("A10", 24, 125), Gpu("V100", 16, 125), Gpu("T4", 16, 65),
    Gpu("RTX 4090", 24, 165), Gpu("RTX 3090", 24, 71),
)  # fmt: skip
GPUS: Mapping[str, Gpu] = MappingProxyType({gpu.name.lower().replace(" ", ""): gpu for gpu in _GPUS})
USUAL_GPU = "h100"  # where none is there and none is named


def gpu_named(name: str) -> Gpu:
    """Return a card by its short name, whatever its case."""
    key = name.lower().replace(" ", "").replace("-", "")
    if key not in GPUS:
        raise ChaosError(
            "The hours on this card cannot be estimated: it is not known here.",
            found=repr(name),
            expected=did_you_mean(key, GPUS),
        )
    return GPUS[key]


def gpu_at_hand(title: str, memory_gib: float) -> Gpu:
    """Return the card that PyTorch calls so; of one that is not known, the peak is 0."""
    known = next((gpu for gpu in _GPUS if gpu.name.lower() in title.lower()), None)
    return Gpu(title, memory_gib, known.tflops if known else 0.0)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run costs; hours as a range, and None where card or shape are not known.

    `disk_gib` is what stays, and `scratch_gib` the checkpoints, which go when the run is done.
    """

    hours: tuple[float, float] | None
    memory_gib: float | None
    disk_gib: float | None
    scratch_gib: float | None


UNKNOWN = Estimate(None, None, None, None)


def training_items(settings: Settings) -> int:
    """Return how many items a run trains on, where all published files are there."""
    files = get_task(settings.task).files_of("train")
    published = sum(known_files()[one.file].items for one in files)
    return min(settings.max_train_examples or published, published)


def steps_of(settings: Settings, n_items: int) -> int:
    """Return how many steps a run makes, for settings as `complete` returns them."""
    return math.ceil(n_items / settings.batch_size) * settings.epochs


def sequences_of(settings: Settings) -> int:
    """Return how many sequences a step has: two of an αNLI item."""
    return settings.batch_size * (2 if get_task(settings.task).kind == "stories" else 1)


def estimate(settings: Settings, shape: Shape | None, gpu: Gpu | None) -> Estimate:
    """Return what a run costs, for settings as `complete` returns them.

    **Hours** are ``steps × max(launches, arithmetic) + 3 minutes``. A step launches about 200
    kernels for each layer (5,000 were counted for 24 layers), which take 5 to 10 µs each whatever
    they compute. Its arithmetic is 6 operations for each token and weight of a layer, and
    ``12 × layers × hidden × length`` for each token in attention, at 45% to 25% of the card's
    dense peak. Sequences have a mean of 32 tokens on NLI and 35 on αNLI, and hardly any padding.
    The first of the two numbers is the faster end.

    Assumed are one GPU, bf16, PyTorch without ``torch.compile`` or CUDA graphs, no evaluation
    during training that counts, and the published files whole. Short batches of encoders are
    bound by launches on a fast card, all but ALBERT-xxlarge's; larger micro-batches would not
    help, since a step has one micro-batch already.

    **Memory** is that of the worst step: 16 bytes for each parameter (fp32 weights, gradients, two
    moments of AdamW), 2 for autocast's copy, 1 GiB for CUDA, and what is kept for the backward
    pass, for each token and layer ``18 × hidden + 4 × intermediate + 5 × heads × length`` bytes
    (Korthikanti et al., 2022, attention not fused), where all sequences have `max_length` tokens.

    **Disk** is 4 bytes for each parameter as it is fetched and 4 as it is kept when trained;
    checkpoints (12 bytes: weights, moments) stand twice while the second is written, and once
    more where the best is kept too.
    """
    if shape is None:
        return UNKNOWN
    n_checkpoints = 3 if settings.patience else 2
    return Estimate(
        _hours(settings, shape, gpu) if gpu and gpu.tflops else None,
        memory_bytes(settings, shape) / GIB,
        (8 * shape.parameters + _RESULT_BYTES) / GIB,
        12 * n_checkpoints * shape.parameters / GIB,
    )


def memory_bytes(settings: Settings, shape: Shape) -> int:
    """Return the bytes that the worst step of a run takes, see `estimate`."""
    tokens = sequences_of(settings) * settings.max_length
    of_token = 18 * shape.hidden + 4 * shape.intermediate + 5 * shape.heads * settings.max_length
    state = (_STATE_BYTES + _HALF_BYTES) * shape.parameters
    return state + tokens * shape.layers * of_token + _CONTEXT_BYTES


def _hours(settings: Settings, shape: Shape, gpu: Gpu) -> tuple[float, float]:
    length = _TOKENS[get_task(settings.task).kind]
    tokens = sequences_of(settings) * length
    weights = shape.layers * (4 * shape.hidden**2 + 2 * shape.hidden * shape.intermediate)
    operations = tokens * (6 * weights + 12 * shape.layers * shape.hidden * length)
    steps = steps_of(settings, training_items(settings))
    fast, slow = (
        steps * max(_KERNELS * shape.layers * launch, operations / (gpu.tflops * 1e12 * share))
        for launch, share in zip(_LAUNCH_SECONDS, _UTILISATION, strict=True)
    )
    return fast / 3600 + _FIXED_HOURS, slow / 3600 + _FIXED_HOURS


def total(estimates: Iterable[Estimate], *, at_once: int = 1) -> Estimate:
    """Return the sum of several runs, of which so many are made `at_once`.

    Hours are those of one GPU. What is not known counts as nothing. Memory is that of the largest,
    and checkpoints are those of the largest that can meet.
    """
    known = [one for one in estimates if one != UNKNOWN]
    hours = [one.hours for one in known if one.hours]
    scratch = sorted((one.scratch_gib or 0 for one in known), reverse=True)[:at_once]
    return Estimate(
        (sum(low for low, _ in hours), sum(high for _, high in hours)) if hours else None,
        max((one.memory_gib or 0 for one in known), default=None),
        sum(one.disk_gib or 0 for one in known) if known else None,
        sum(scratch) if known else None,
    )

"""What a training run costs before it was made: hours, memory and disk, as estimates.

The numbers are from shapes alone, so that they need neither weights nor a GPU, nor PyTorch.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.datasets.catalogue import get_dataset, known_files
from chaos_utils.datasets.tasks import get_task
from chaos_utils.training.recipes import Shape
from chaos_utils.training.settings import Settings

GIB = 2**30
_TOKENS = {"pairs": 32, "stories": 35, "votes": 32}  # in the mean sequence, padding included
_KERNELS = 200  # launched by a step for each layer
_LAUNCH_SECONDS = (5e-6, 10e-6)  # of a kernel
_UTILISATION = (0.45, 0.25)  # of a card's peak
_FIXED_HOURS = 0.05  # reading and encoding data, evaluating, predicting
_CONTEXT_BYTES = GIB  # what CUDA and its libraries hold
_STATE_BYTES = 16  # of each parameter, in fp32: weight, gradient, two moments
_HALF_BYTES = 2  # of each parameter, in the copy that autocast makes of the weights
_SAVED = 1.9  # times what sixteen bits for all would take: of what is kept for the backward pass
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
_BY_NAME = {gpu.name.lower().replace(" ", ""): gpu for gpu in _GPUS}
GPUS: Mapping[str, Gpu] = MappingProxyType(_BY_NAME)
USUAL_GPU = "h100"  # where none is there and none is named


def gpu_named(name: str) -> Gpu:
    """Return a card by its short name, whatever its case."""
    key = name.lower().replace(" ", "").replace("-", "")
    if key not in GPUS:
        raise ChaosError(
            "The hours on this card cannot be estimated, since the card is unknown.",
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
    """What a run costs; hours as a range, and None where card, shape or items are not known.

    `fetched_gib` are the model's weights, which its other runs share, `kept_gib` what the run
    leaves, and `scratch_gib` its checkpoints, which go when it is done.
    """

    hours: tuple[float, float] | None = None
    memory_gib: float | None = None
    fetched_gib: float | None = None
    kept_gib: float | None = None
    scratch_gib: float | None = None

    @property
    def disk_gib(self) -> float | None:
        """What must be free for it."""
        parts = (self.fetched_gib, self.kept_gib, self.scratch_gib)
        known = [part for part in parts if part is not None]
        return sum(known) if known else None

    def as_entry(self) -> dict[str, float | None]:
        """Return it for programs; what is not known is None."""
        low, high = self.hours or (None, None)
        return {
            "hours_low": low and round(low, 2),
            "hours_high": high and round(high, 2),
            "memory_gib": self.memory_gib and round(self.memory_gib, 1),
            "disk_gib": self.disk_gib and round(self.disk_gib, 1),
        }


UNKNOWN = Estimate()


def training_items(settings: Settings) -> int:
    """Return how many items a run trains on, over all its folds, were all published files there."""
    task = get_task(settings.task)
    if settings.train == "chaosnli":
        votes = sum(known_files()[get_dataset(name).file].items for name in task.datasets)
        return votes * (settings.n_folds - 1)
    published = sum(known_files()[one.file].items for one in task.files_of("train"))
    return min(settings.max_train_examples or published, published)


def steps_of(settings: Settings, n_items: int) -> int:
    """Return how many steps a run makes, for settings as `complete` returns them."""
    return math.ceil(n_items / settings.batch_size) * settings.epochs


def sequences_of(settings: Settings) -> int:
    """Return how many sequences a step has: two of an αNLI item."""
    return settings.batch_size * (2 if get_task(settings.task).kind == "stories" else 1)


def estimate(
    settings: Settings, shape: Shape | None, gpu: Gpu | None, *, n_items: int | None = None
) -> Estimate:
    """Return what a run costs, for settings as `complete` returns them.

    `n_items` are those of a pass over the data, by default as `training_items` counts them.

    **Hours** are ``steps × max(launches, arithmetic) + 3 minutes``. A step launches about 200
    kernels for each layer (5,000 were counted for 24 layers), which take 5 to 10 µs each whatever
    they compute. Its arithmetic is 6 operations for each token and weight of a layer, and
    ``12 × layers × hidden × length`` for each token in attention, at 45% to 25% of the card's
    dense peak. Sequences have a mean of 32 tokens on NLI, as is assumed of own votes, and 35 on
    αNLI, and hardly any padding. The first of the two numbers is the faster end.

    Assumed are one GPU, bf16, a step in one piece, PyTorch without ``torch.compile`` or CUDA
    graphs, which are what would help: on a fast card the short batches of all but ALBERT-xxlarge
    are bound by launches. Evaluation during training and waiting for data count as nothing, and
    the published files are whole.

    **Memory** is that of the worst step: 16 bytes for each parameter (fp32 weights, gradients, two
    moments of AdamW), 2 for autocast's copy, 1 GiB for CUDA, and what is kept for the backward
    pass, for each token and layer ``1.9 × (18 × hidden + 4 × intermediate + 5 × heads × length)``
    bytes, where all sequences have `max_length` tokens. In brackets are the bytes in 16 bits with
    attention that is not fused (Korthikanti et al., 2022). Autocast keeps part of it in 32 bits:
    1.2 times as much was counted for BART, 1.9 times for XLNet, the others between.

    **Disk** is 4 bytes for each parameter that is fetched, 4 for each that is kept when trained,
    and 3 MiB of results. Checkpoints (12 bytes: weights, moments) stand twice while the second is
    written, and once more where the best is kept too.
    """
    if shape is None:
        return UNKNOWN
    n_checkpoints = 3 if settings.patience else 2
    is_counted = n_items is not None or not settings.on_own_votes
    return Estimate(
        _hours(settings, shape, gpu, n_items) if gpu and gpu.tflops and is_counted else None,
        memory_bytes(settings, shape) / GIB,
        4 * shape.parameters / GIB,
        (4 * shape.parameters + _RESULT_BYTES) / GIB,
        12 * n_checkpoints * shape.parameters / GIB,
    )


def memory_bytes(settings: Settings, shape: Shape) -> int:
    """Return the bytes that the worst step of a run takes, see `estimate`."""
    tokens = sequences_of(settings) * settings.max_length
    of_token = 18 * shape.hidden + 4 * shape.intermediate + 5 * shape.heads * settings.max_length
    state = (_STATE_BYTES + _HALF_BYTES) * shape.parameters
    return state + int(_SAVED * tokens * shape.layers * of_token) + _CONTEXT_BYTES


def _hours(settings: Settings, shape: Shape, gpu: Gpu, n_items: int | None) -> tuple[float, float]:
    length = usual_length(settings)
    tokens = sequences_of(settings) * length
    weights = shape.layers * (4 * shape.hidden**2 + 2 * shape.hidden * shape.intermediate)
    operations = tokens * (6 * weights + 12 * shape.layers * shape.hidden * length)
    fast, slow = (
        max(_KERNELS * shape.layers * launch, operations / (gpu.tflops * 1e12 * share))
        for launch, share in zip(_LAUNCH_SECONDS, _UTILISATION, strict=True)
    )
    return hours_at(settings, fast, n_items), hours_at(settings, slow, n_items)


def hours_at(settings: Settings, seconds: float, n_items: int | None = None) -> float:
    """Return the hours of a run whose steps take so many seconds each; `n_items` as `estimate`."""
    items = training_items(settings) if n_items is None else n_items
    return steps_of(settings, items) * seconds / 3600 + _FIXED_HOURS


def usual_length(settings: Settings) -> int:
    """Return the tokens of the mean sequence of a task, with padding; of own votes the most."""
    usual = _TOKENS.get(get_task(settings.task).kind, settings.max_length)
    return min(usual, settings.max_length)


def total(estimates: Iterable[Estimate], *, at_once: int = 1) -> Estimate:
    """Return the sum of several runs, of which so many are made `at_once`.

    Hours are those of one GPU, and what is not known counts as nothing. Memory is that of the
    largest run, and checkpoints are those of the largest that can meet.
    """
    known = [one for one in estimates if one != UNKNOWN]
    if not known:
        return UNKNOWN
    hours = [one.hours for one in known if one.hours]
    scratch = sorted((one.scratch_gib or 0 for one in known), reverse=True)
    return Estimate(
        (sum(low for low, _ in hours), sum(high for _, high in hours)) if hours else None,
        max(one.memory_gib or 0 for one in known),
        sum(one.fetched_gib or 0 for one in known),
        sum(one.kept_gib or 0 for one in known),
        sum(scratch[:at_once]),
    )


def hours_in_words(hours: tuple[float, float] | None) -> str:
    """Write hours as a range, or as one number where its ends are the same in print."""
    if hours is None:
        return "–"
    low, high = (f"{value:.1f}" for value in hours)
    return low if low == high else f"{low}–{high}"

"""Conversions of a measure's mean between conventions, for the calculator.

Two conventions of one `group` differ by a scale and an offset, so that a mean can be converted.
Between groups, a conversion needs each item's values, or the distributions.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

_LOG_2 = math.log(2)
_UNITS = {"nats": 1.0, "bits": 1 / _LOG_2}
_SUMS = {"summed over labels": 1.0, "halved": 0.5, "averaged over labels": 1.0}
_JS, _KL, _BRIER = "Jensen–Shannon", "KL", "Brier score"
_TO_MODEL = "human ‖ model, floor 0"
# Conventions that the chapter does not compute: quantity, convention, who uses it.
UNMEASURED = (
    (_KL, f"{_TO_MODEL}, averaged over labels, nats", "torch’s kl_div, reduction='mean'"),
    (_KL, "soft cross-entropy, nats", "torch’s cross_entropy with shares"),
    (_KL, "soft cross-entropy, bits", ""),
    ("EntCE", "signed mean, nats", ""),
    ("EntCE", "signed mean, bits", ""),
    ("DistCE", "TVD", "Baan et al. 2022"),
    ("DistCE", "L1 distance", ""),
    ("DistCE", "soft accuracy", ""),
)
_OFFSETS = {"L1 distance": (2.0, 0.0), "soft accuracy": (-1.0, 1.0)}  # from TVD: scale, offset
_PER_LABEL = ", averaged over labels"
_FLOOR = re.compile(r"floor ([\de.-]+)")


@dataclass(frozen=True, slots=True)
class Form:
    """A quantity under a convention: ``scale * base + offset``, with one base for each group.

    If `per_label`, it is also divided by the number of labels. It lies between `low` and `high`,
    which is None if there is no upper end. If `entropic`, its upper end is the logarithm of the
    number of labels, times `scale`. `floor` is the floor of probabilities in a KL divergence.
    """

    quantity: str
    convention: str
    group: str
    scale: float = 1.0
    offset: float = 0.0
    per_label: bool = False
    low: float = 0.0
    high: float | None = 1.0
    entropic: bool = False
    floor: float | None = None

    @property
    def key(self) -> str:
        """The form's name in addresses of the page."""
        return f"{_slug(self.quantity)}.{_slug(self.convention)}"

    def as_data(self) -> dict[str, Any]:
        """Return the form as data for the page's script."""
        return {"key": self.key, **asdict(self)}


def form_of(quantity: str, convention: str) -> Form:
    """Return the form of a convention; if no rule knows it, it is a group of its own."""
    group, _, last = convention.rpartition(", ")
    if last in _UNITS:
        return _in_unit(quantity, convention, group, last)
    if last in _SUMS:
        scale = _SUMS[last]
        return Form(quantity, convention, group, scale, per_label=last.startswith("averaged"),
                    high=2 * scale)  # fmt: skip
    if quantity == "DistCE":
        scale, offset = _OFFSETS.get(convention, (1.0, 0.0))
        return Form(quantity, convention, "TVD", scale, offset, high=max(scale, 1.0))
    return Form(quantity, convention, convention, high=2.0 if quantity == _BRIER else 1.0)


def _in_unit(quantity: str, convention: str, group: str, unit: str) -> Form:
    """Return the form of a convention that ends in a unit of logarithms."""
    scale = _UNITS[unit]
    if quantity == _JS:
        is_root = group == "distance"
        scale, maximum = (math.sqrt(scale), math.sqrt(_LOG_2)) if is_root else (scale, _LOG_2)
        return Form(quantity, convention, group, scale, high=maximum * scale)
    if quantity == _KL:
        per_label, group = group.endswith(_PER_LABEL), group.removesuffix(_PER_LABEL)
        match = _FLOOR.search(group)
        floor = float(match[1]) if match else None
        return Form(quantity, convention, group, scale, per_label=per_label, high=None, floor=floor)
    low = -1.0 if group.startswith("signed") else 0.0
    return Form(quantity, convention, group or quantity, scale, low=low, high=None, entropic=True)


def forms(measured: Iterable[tuple[str, str]]) -> list[Form]:
    """Return the forms of measured conventions, given as (quantity, convention), and of others.

    The others are `UNMEASURED`. Forms of one quantity stand together.
    """
    unmeasured = [(quantity, convention) for quantity, convention, _ in UNMEASURED]
    pairs = list(dict.fromkeys([*measured, *unmeasured]))
    # Reversed, so that the first index of a quantity counts.
    order = {quantity: index for index, (quantity, _) in reversed([*enumerate(pairs)])}
    return [form_of(*pair) for pair in sorted(pairs, key=lambda pair: order[pair[0]])]


def shifts(oracle_values: Mapping[tuple[str, str], float]) -> list[dict[str, Any]]:
    """Return the constants by which two groups differ, if they depend on the votes alone.

    ``from`` and ``to`` are the groups' names, or begin them; ``value`` is that of one dataset.
    `oracle_values` are the quantities of the votes' own shares as a prediction, by convention.
    """
    entropy = oracle_values["entropy of the predictions", "nats"]
    variance = oracle_values[_BRIER, "single votes, summed over labels"]
    return [
        {"quantity": _KL, "from": "human ‖ model", "to": "soft cross-entropy", "value": entropy,
         "what": "the mean entropy of the votes"},
        {"quantity": _BRIER, "from": "squared distance to the vote shares", "to": "single votes",
         "value": variance, "what": "the mean of 1 − Σh²"},
    ]  # fmt: skip


def _slug(name: str) -> str:
    """Return a name for addresses; half-open intervals, which differ by brackets, get words."""
    name = name.replace("(a, b]", "right").replace("[a, b)", "left").casefold()
    return re.sub(r"[^\w.]+", "-", name).strip("-")

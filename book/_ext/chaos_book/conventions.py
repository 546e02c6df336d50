"""What a number printed under one convention says under another, for the calculator.

Two conventions of one `group` differ by a scale and an offset, so that a mean can be converted;
those of other groups need each item's values, or the distributions.
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
_OFFSETS = {"L1 distance": (2.0, 0.0), "soft accuracy": (-1.0, 1.0)}  # of TVD: scale, offset
_PER_LABEL = ", averaged over labels"
_FLOOR = re.compile(r"floor ([\de.-]+)")


@dataclass(frozen=True, slots=True)
class Form:
    """A quantity under a convention: ``scale * base + offset``, where its group shares the base.

    `per_label` divides by the number of labels too. It lies between `low` and `high`, which is None
    where there is no upper end; `high` of a quantity that is `entropic` is the logarithm of the
    number of labels, times the scale. `floor` is that of a KL divergence.
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
        """What addresses call it."""
        return f"{_slug(self.quantity)}.{_slug(self.convention)}"

    def as_data(self) -> dict[str, Any]:
        """Return it as the page's script has it."""
        return {"key": self.key, **asdict(self)}


def form_of(quantity: str, convention: str) -> Form:
    """Return what a convention is; one that no rule knows is a group of its own."""
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
    scale = _UNITS[unit]
    if quantity == _JS:
        is_root = group == "distance"
        scale, most = (math.sqrt(scale), math.sqrt(_LOG_2)) if is_root else (scale, _LOG_2)
        return Form(quantity, convention, group, scale, high=most * scale)
    if quantity == _KL:
        of = group.removesuffix(_PER_LABEL)
        floor = _FLOOR.search(of)
        least = float(floor[1]) if floor else None
        return Form(quantity, convention, of, scale, per_label=of != group, high=None, floor=least)
    low = -1.0 if group.startswith("signed") else 0.0
    return Form(quantity, convention, group or quantity, scale, low=low, high=None, entropic=True)


def forms(named: Iterable[tuple[str, str]]) -> list[Form]:
    """Return the forms of conventions, by quantity and name, and the `UNMEASURED` ones."""
    pairs = list(dict.fromkeys([*named, *((one, other) for one, other, _ in UNMEASURED)]))
    order = {quantity: place for place, (quantity, _) in reversed([*enumerate(pairs)])}
    return [form_of(*pair) for pair in sorted(pairs, key=lambda pair: order[pair[0]])]


def shifts(of_oracle: Mapping[tuple[str, str], float]) -> list[dict[str, Any]]:
    """Return what groups differ by that depends on the votes alone: ``from`` begins their name.

    ``value`` is that of one dataset, from what its `of_oracle`, the votes' own shares, is given.
    """
    entropy = of_oracle["entropy of the predictions", "nats"]
    spread = of_oracle[_BRIER, "single votes, summed over labels"]
    return [
        {"quantity": _KL, "from": "human ‖ model", "to": "soft cross-entropy", "value": entropy,
         "what": "the mean entropy of the votes"},
        {"quantity": _BRIER, "from": "squared distance to the vote shares", "to": "single votes",
         "value": spread, "what": "the mean of 1 − Σh²"},
    ]  # fmt: skip


def _slug(name: str) -> str:
    name = name.replace("(a, b]", "right").replace("[a, b)", "left").casefold()
    return re.sub(r"[^\w.]+", "-", name).strip("-")

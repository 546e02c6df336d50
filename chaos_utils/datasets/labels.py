"""What looks wrong about the labels of a votes file; it is said, and never mended."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from chaos_utils.datasets.cells import as_identifier, as_number
from chaos_utils.datasets.dataset import Cut, Dataset
from chaos_utils.datasets.faults import shorten

MANY = 50  # labels; more are seldom classes
_SCALE = 20  # different numbers; from here on they are a rating, not classes
_SHOWN = 4
# Scales that are often asked for, from one end to the other.
_SCALES = (
    ("strongly disagree", "disagree", "somewhat disagree", "slightly disagree", "undecided",
     "neutral", "neither agree nor disagree", "slightly agree", "somewhat agree", "agree",
     "strongly agree"),
    ("very negative", "negative", "somewhat negative", "neutral", "somewhat positive", "positive",
     "very positive"),
    ("never", "rarely", "seldom", "sometimes", "often", "usually", "always"),
    ("none", "not at all", "very low", "low", "slight", "mild", "medium", "moderate", "high",
     "strong", "severe", "very high", "extreme"),
    ("very poor", "very bad", "poor", "bad", "fair", "average", "good", "very good", "excellent"),
    ("very unlikely", "unlikely", "neutral", "likely", "very likely"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
)  # fmt: skip
_POINT = re.compile(r"\s*([0-9]{1,3})(?:\s*[-–—:=.)(]\s*[^\W\d].*|\s*)$")  # such as "1 - low"
_BLANK = ("nan", "na", "n/a", "null")


def is_rating(names: Sequence[str]) -> bool:
    """Return whether labels are numbers on a slider, not classes: with decimals, or very many."""
    numbers = [as_number(name) for name in names]
    found = [number for number in numbers if number is not None]
    return len(found) == len(names) > 2 and (
        len(names) > _SCALE or any(number != int(number) for number in found)
    )


def in_order(names: Iterable[str]) -> list[str]:
    """Return labels in their order: numbers by value, a scale as it goes, or the alphabet."""
    known = list(names)
    scale = scale_of(known)

    def order(name: str) -> tuple[int, float, str]:
        number = as_number(name)
        return (1, 0, name) if number is None else (0, number, name)

    return sorted(known, key=(lambda name: scale.index(_words(name))) if scale else order)


def scale_of(names: Sequence[str]) -> Sequence[str]:
    """Return the scale that labels are points of, known or with a number each; empty for none."""
    points = {name: match for name in names if (match := _POINT.match(name))}
    numbers = {int(match[1]): _words(name) for name, match in points.items()}
    if len(numbers) == len(names) > 2 and not all(map(str.isdecimal, names)):
        return [numbers[number] for number in sorted(numbers)]
    words = set(map(_words, names))
    fits = len(words) == len(names) > 2
    return next((scale for scale in _SCALES if fits and words <= set(scale)), ())


def _words(name: str) -> str:
    return " ".join(re.split(r"[\W_]+", name.casefold())).strip()


def remarks_on(names: Sequence[str]) -> list[str]:
    """Say what looks wrong about the labels that occur, a line each."""
    found = []
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault("".join(name.split()).casefold(), []).append(name)
    for same in alike.values():
        if len(same) > 1:
            found.append(
                f"labels that differ by case or blanks alone are kept apart: {_listed(same)}"
            )
    words = [name for name in names if as_number(name) is None]
    numbers = [name for name in names if as_number(name) is not None]
    if words and numbers and not scale_of(names):
        found.append(f"labels are numbers ({_listed(numbers)}) and words ({_listed(words)})")
    blank = [name for name in names if name.casefold() in _BLANK]
    if blank:
        found.append(f"labels that may stand for a missing vote are kept: {_listed(blank)}")
    if len(names) > MANY:
        found.append(
            f"{len(names)} different labels: are they classes, or free answers and identifiers?"
        )
    return found


def notes_on(
    dataset: Dataset,
    n_votes: int,
    left_out: Mapping[str, int],
    trimmed: int = 0,
    second: int = 0,
    rows_left_out: Sequence[str] = (),
) -> tuple[str, ...]:
    """Say what was read otherwise than it stands in the file, a sentence each."""
    notes = [f"left out: {one}" for one in rows_left_out]
    if left_out:
        total = sum(left_out.values())
        ordered = sorted(left_out.items(), key=lambda pair: -pair[1])
        listed = ", ".join(f"{n:,} {answer!r}" for answer, n in ordered)
        notes.append(
            f"{total:,} of {n_votes + total:,} answers are for none of the labels "
            f"and left out ({listed})"
        )
    if trimmed:
        notes.append(
            f"{trimmed:,} of {n_votes:,} labels have blanks around them and are read without"
        )
    if second:
        notes.append(
            f"{second:,} of {n_votes:,} votes counted although the annotator had voted on the item"
        )
    cut = getattr(dataset.reader, "cut", None)
    if cut:
        notes.append(f"numbers become labels by this rule: {cut.rule} ({', '.join(cut.labels)})")
    else:
        notes += remarks_on(dataset.codes)
    return tuple(f"{dataset.short}: {note}." for note in notes)


def cut_of(edges: Sequence[float]) -> Cut:
    """Return the rule that cuts numbers at edges, from the least to the greatest of the scale."""
    inner = ", ".join(f"{edge:g}" for edge in edges[1:-1])
    names = [f"{low:g} to below {high:g}" for low, high in pairwise(edges[:-1])]
    return Cut(
        rule=f"cut at {inner}",
        edges=tuple(edges),
        labels=(*names, f"{edges[-2]:g} to {edges[-1]:g}"),
    )


def label_of(value: object, dataset: Dataset) -> int | None:
    """Return the position of the label that a cell holds; None where it is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_text = isinstance(value, bool | str)  # of a truth value, as JSON spells it
    return dataset.label_index(as_identifier(value) if is_text else value)


def vote_of(value: object, dataset: Dataset, cut: Cut | None) -> int | None:
    """Return the label of a vote; by the rule that cuts numbers, if there is one."""
    if cut is None:
        return label_of(value, dataset)
    number = as_number(value)
    if number is None or not cut.edges[0] <= number <= cut.edges[-1]:
        return None
    return dataset.labels.index(cut.labels[bisect_right(cut.edges[1:-1], number)])


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    return ", ".join(map(shorten, every[:_SHOWN])) + (", …" if every[_SHOWN:] else "")

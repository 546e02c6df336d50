"""What looks wrong about the labels of a votes file; it is said, and never mended."""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from chaos_utils.datasets.cells import as_identifier, as_number
from chaos_utils.datasets.dataset import Cutpoints, Dataset, spelling_of
from chaos_utils.datasets.faults import listed, shorten
from chaos_utils.datasets.words import words_of

MANY = 50  # labels; more are seldom classes
_SCALE = 20  # different numbers; from here on they are a rating, not classes
_SHOWN = 4
_RUN = 3  # whole numbers that are a scale
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
# Words for no answer, as `_words` writes them; the others may also be an answer to the question.
_NO_ANSWER = frozenset((
    "n a", "na", "nan", "null", "undefined", "missing", "none given", "not given", "no answer",
    "no response", "no label", "no vote", "no annotation", "not answered", "unanswered",
    "not annotated", "unannotated", "not labeled", "not labelled", "unlabeled", "unlabelled",
    "skip", "skipped", "ignore", "abstain", "idk", "dk", "dont know", "don t know",
    "i dont know", "i don t know", "do not know", "i do not know", "dunno",
    "prefer not to say", "prefer not to answer", "blank", "empty", "unk",
))  # fmt: skip
_MAYBE_NO_ANSWER = frozenset(("none", "unknown", "not applicable", "not available"))
# Words that are remarked on, since they are as often an answer to the question.
_SEEMS_NO_ANSWER = re.compile(
    r"(i )?(can ?not|can ?t|could ?n ?t|could not|unable to) "
    r"(tell|say|judge|decide|determine|answer|know|see|read)( .*)?"
    r"|unclear|refused?( .*)?|pass|time(d)? ?out|error|to ?do|(skip|ignor)\w* .*"
)
_NO_WORD = re.compile(r"[?.\-–—/_]+")  # such as "?" and "-"
_CODE = re.compile(r"-?([89]|9[789]|88|77|99[789]|9{3,}|8{3,}|7{3,})")  # such as -99, in surveys
_SEPARATORS = ",;|/+&"
_PLAIN = str.maketrans({**dict.fromkeys("−–‐", "-"), **dict.fromkeys("’‘`", "'"), "\ufe0f": ""})
_JOINT = re.compile(r"(?<=[^\W\d_])[\s_-]+(?=[^\W_])")  # between two words
_ONE_WORD = {"true": "1", "yes": "1", "y": "1", "false": "0", "no": "0", "n": "0"}
_IS_LIST = re.compile(r"[\[{(](.*[,'\"].*|\s*-?\d[\d.\s-]*)[\])}]", re.DOTALL)


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


def _point(name: str) -> float | None:
    """Return the number that a label is, or begins with as the point of a scale."""
    match = _POINT.match(name)
    return int(match[1]) if match else as_number(name)


def _words(name: str) -> str:
    return words_of(name, " ")


def remarks_on(names: Sequence[str]) -> list[str]:
    """Say what looks wrong about the labels that occur, a line each."""
    found = [
        f"labels that differ by their spelling alone are kept apart: {_spelled(same)}"
        for same in _alike(names)
    ]
    words = [name for name in names if as_number(name) is None]
    numbers = [name for name in names if as_number(name) is not None]
    if words and numbers and not scale_of(names):
        found.append(
            f"labels are numbers ({listed(numbers, _SHOWN)}) and words ({listed(words, _SHOWN)})"
        )
    none = set(no_votes(names))
    blank = [
        name
        for name in names
        if name in none
        or _words(name) in _MAYBE_NO_ANSWER
        or _SEEMS_NO_ANSWER.fullmatch(_words(name))
    ]
    blank = [] if scale_of(names) else blank
    if blank:
        found.append(f"labels that may stand for no answer are kept: {listed(blank, _SHOWN)}")
    if len(names) > MANY:
        found.append(
            f"{len(names)} different labels: are they classes, or free answers and identifiers?"
        )
    return found


@dataclass(frozen=True, slots=True)
class LabelReading:
    """Labels read otherwise than they stand: why, which, and what a YAML file's reader says."""

    why: tuple[str, ...]
    labels: list[str | dict[str, Any]]
    reader: dict[str, Any]


def other_reading(votes: Mapping[str, int], is_apart: Callable[[str], bool]) -> LabelReading | None:
    """Return how labels may be meant, if not as they stand; None where nothing is in doubt.

    `votes` are those for each label; `is_apart` says whether people agree on where a label that
    may stand for no answer is given no better than by chance.
    """
    why, reader, left = [], dict[str, Any](), dict(votes)
    missing = set(no_votes(list(votes)))
    missing |= {name for name in _maybe_no_votes(list(votes)) if is_apart(name)}
    if missing and len(votes) - len(missing) > 1:
        shown = ", ".join(
            f"{shorten(name)} ({n:,})" for name, n in votes.items() if name in missing
        )
        why.append(f"no answer, or a label: {shown}, of {sum(votes.values()):,} answers?")
        reader["missing"] = [name for name in votes if name in missing]
        left = {name: n for name, n in votes.items() if name not in missing}
    separator, together = _combined(left)
    if separator:
        why.append(
            f"several labels by one person, or a label of their own: {listed(together, _SHOWN)}?"
        )
        reader["separator"] = separator
        parts: Counter[str] = Counter()
        for name, n in left.items():
            parts.update(dict.fromkeys(labels_in(name, separator), n))
        left = dict(parts)
    alike = _alike(left)
    why += [f"one label, or several: {_spelled(same)}?" for same in alike[:_SHOWN]]
    spellings = {}
    for same in alike:
        name = max(same, key=lambda one: (one.isprintable(), left[one]))
        spellings[name] = [other for other in same if other != name]
    others = {other for some in spellings.values() for other in some}
    labels: list[str | dict[str, Any]] = [
        {"name": name, "spellings": spellings[name]} if name in spellings else name
        for name in in_order(left)
        if name not in others
    ]
    return LabelReading(tuple(why), labels, reader) if why else None


def is_code(name: str) -> bool:
    """Return whether a label is a number that files often have for no answer, such as -1."""
    return bool(_CODE.fullmatch(name)) or (as_number(name) or 0) < 0


def are_lists(names: Sequence[str]) -> bool:
    """Return whether some labels look like whole lists of labels."""
    return any(map(_IS_LIST.fullmatch, names))


def labels_in(value: object, separator: str) -> list[Any]:
    """Return the labels that one cell names, each once; the cell itself where it names none."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split(separator) if part.strip()]
    found = {str(one): one for one in value}.values() if isinstance(value, list) else ()
    return list(found) or [value]


def answer_of(value: object) -> str:
    """Return an answer as a YAML file may call it missing; empty for an empty cell."""
    if value is None or value == [] or value != value:
        return ""
    return spelling_of(str(value).strip())


def no_votes(names: Sequence[str]) -> list[str]:
    """Return labels that are known to stand for no answer, or are numbers beyond the others."""
    has_plus = "+" in names
    found = [
        name
        for name in names
        if {_words(name), _words(name.rpartition(".")[2])} & _NO_ANSWER  # a column: kind.skip
        or (_NO_WORD.fullmatch(name) and not has_plus)
    ]
    numbers = {name: _point(name) for name in names if name not in found}
    known = sorted({number for number in numbers.values() if number is not None})
    if len(known) == len(numbers) or len(known) > 2:
        beyond = _beyond(known)
    else:  # a number among words
        beyond = [n for n in known if n < 0 or _CODE.fullmatch(f"{n:g}")]
    return found + [name for name, number in numbers.items() if number in beyond]


def _maybe_no_votes(names: Sequence[str]) -> list[str]:
    """Return labels that may stand for no answer, if people give them by chance.

    These are words, and numbers at an end of the others: -1 beside 0 and 1, 9 of 1 to 9, or 0.
    """
    numbers = {name: number for name in names if (number := as_number(name)) is not None}
    known = sorted(numbers.values())
    ends = [] if len(known) < max(len(names), 3) else [known[-1]]
    ends += known[:1] if ends and (known[0] == 0 or known == [-1, 0, 1]) else []
    return [name for name in names if _words(name) in _MAYBE_NO_ANSWER or
            (numbers.get(name) in ends and (numbers[name] <= 0 or is_code(name)))]  # fmt: skip


def _beyond(numbers: Sequence[float]) -> list[float]:
    """Return the numbers, such as -1 and 99, that lie outside the scale of the others."""
    far = [number for number in numbers if _CODE.fullmatch(f"{number:g}")]
    inner = [number for number in numbers if number not in far]
    if len(inner) < 2:
        return []
    gap, width = max(b - a for a, b in pairwise(inner)), inner[-1] - inner[0]
    away = {number: max(inner[0] - number, number - inner[-1]) for number in far}
    found = [number for number in far if away[number] > 2 * gap and away[number] >= width]
    found += _after_a_gap([number for number in numbers if number not in found])
    below = [number for number in inner if number < 0]
    others = inner[len(below) :]
    if below and len(others) > 1:
        depth, height = -below[0], others[-1]  # a scale goes as far below zero as above
        is_lopsided = height >= 2 * depth if others[0] == 0 else height > depth
        is_alone = len(below) == 1 and others[0] + depth > 1 and height != depth
        found += below if is_lopsided or is_alone else []
    return found


def _after_a_gap(numbers: Sequence[float]) -> list[float]:
    """Return codes, such as 7 to 9, that a gap parts from three whole numbers or more in a row."""
    run = next((k for k, (a, b) in enumerate(pairwise(numbers), 1) if b - a != 1), len(numbers))
    above = [f"{number:g}" for number in numbers[run:]]
    are_codes = all(one == "7" or _CODE.fullmatch(one) for one in above)
    return list(numbers[run:]) if run >= _RUN and are_codes else []


def _combined(names: Iterable[str]) -> tuple[str, list[str]]:
    """Return what separates labels of which others are parts, and these; empty for none."""
    known = list(names)
    for separator in _SEPARATORS:
        parts = {name: [one.strip() for one in name.split(separator)] for name in known}
        times = Counter(one for some in parts.values() for one in set(some))
        together = [name for name, some in parts.items() if len(some) > 1]
        if together and all(one and times[one] > 1 for name in together for one in parts[name]):
            return separator, together
    return "", []


def _alike(names: Iterable[str]) -> list[list[str]]:
    """Return labels that differ by their spelling alone, those of each together."""
    alike: dict[str, list[str]] = {}
    for name in names:
        text = unicodedata.normalize("NFKC", name).translate(_PLAIN).casefold()
        text = "".join(one for one in text if unicodedata.category(one) != "Cf")
        if as_number(text) is None:
            text = _JOINT.sub("", text).strip(" .'\"") or name
        alike.setdefault(_ONE_WORD.get(text) or spelling_of(text), []).append(name)
    return [same for same in alike.values() if len(same) > 1]


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
        answers = ", ".join(f"{n:,} {answer!r}" for answer, n in ordered)
        notes.append(
            f"{total:,} of {n_votes + total:,} answers are for none of the labels "
            f"and left out ({answers})"
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


def cut_of(edges: Sequence[float]) -> Cutpoints:
    """Return the rule that cuts numbers at edges, from the least to the greatest of the scale."""
    inner = ", ".join(f"{edge:g}" for edge in edges[1:-1])
    names = [f"{low:g} to below {high:g}" for low, high in pairwise(edges[:-1])]
    return Cutpoints(
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


def vote_of(value: object, dataset: Dataset, cut: Cutpoints | None) -> int | None:
    """Return the label of a vote; by the rule that cuts numbers, if there is one."""
    if cut is None:
        return label_of(value, dataset)
    number = as_number(value)
    if number is None or not cut.edges[0] <= number <= cut.edges[-1]:
        return None
    return dataset.labels.index(cut.labels[bisect_right(cut.edges[1:-1], number)])


def _spelled(names: Sequence[str]) -> str:
    """List labels; with escapes, where nobody sees how they differ."""
    seen = {unicodedata.normalize("NFC", name) for name in names if name.isprintable()}
    return ", ".join(map(shorten if len(seen) == len(names) else ascii, names))

"""The labels of a votes file: how they are read, and what looks wrong; nothing is repaired."""

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
_SHORTEST_SCALE = 3  # whole numbers in a row
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
# Words for no answer, as `_words` writes them; those in `_MAYBE_NO_ANSWER` may also be an answer.
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
_WORD_BREAK = re.compile(r"(?<=[^\W\d_])[\s_-]+(?=[^\W_])")
_ONE_WORD = {"true": "1", "yes": "1", "y": "1", "false": "0", "no": "0", "n": "0"}
_IS_LIST = re.compile(r"[\[{(](.*[,'\"].*|\s*-?\d[\d.\s-]*)[\])}]", re.DOTALL)


def is_rating(names: Sequence[str]) -> bool:
    """Return whether labels are numbers on a slider, not classes: with decimals, or very many."""
    numbers = [number for name in names if (number := as_number(name)) is not None]
    return len(numbers) == len(names) > 2 and (
        len(names) > _SCALE or any(number != int(number) for number in numbers)
    )


def in_order(names: Iterable[str]) -> list[str]:
    """Return labels in order: numbers by value, a known scale from end to end, or by alphabet."""
    known = list(names)
    scale = scale_of(known)

    def order(name: str) -> tuple[int, float, str]:
        number = as_number(name)
        return (1, 0, name) if number is None else (0, number, name)

    return sorted(known, key=(lambda name: scale.index(_words(name))) if scale else order)


def scale_of(names: Sequence[str]) -> Sequence[str]:
    """Return the scale whose points the labels are, in `_words`; empty for none.

    Either each label begins with a number, or all are among the words of a known scale.
    """
    points = {name: match for name in names if (match := _POINT.match(name))}
    numbers = {int(match[1]): _words(name) for name, match in points.items()}
    if len(numbers) == len(names) > 2 and not all(map(str.isdecimal, names)):
        return [numbers[number] for number in sorted(numbers)]
    words = set(map(_words, names))
    fits = len(words) == len(names) > 2
    return next((scale for scale in _SCALES if fits and words <= set(scale)), ())


def _point(name: str) -> float | None:
    """Return a label as a number, or the number that it begins with; None where it has none."""
    match = _POINT.match(name)
    return int(match[1]) if match else as_number(name)


def _words(name: str) -> str:
    return words_of(name, " ")


def remarks_on(names: Sequence[str]) -> list[str]:
    """Return remarks on labels that look wrong, a line each."""
    remarks = [
        f"labels that differ by their spelling alone are kept apart: {_list_spellings(same)}"
        for same in _alike(names)
    ]
    words = [name for name in names if as_number(name) is None]
    numbers = [name for name in names if as_number(name) is not None]
    if words and numbers and not scale_of(names):
        remarks.append(
            f"labels are numbers ({listed(numbers, _SHOWN)}) and words ({listed(words, _SHOWN)})"
        )
    surely_blank = set(no_votes(names))
    maybe_blank = [
        name
        for name in names
        if name in surely_blank
        or _words(name) in _MAYBE_NO_ANSWER
        or _SEEMS_NO_ANSWER.fullmatch(_words(name))
    ]
    if maybe_blank and not scale_of(names):
        remarks.append(
            f"labels that may stand for no answer are kept: {listed(maybe_blank, _SHOWN)}"
        )
    if len(names) > MANY:
        remarks.append(
            f"{len(names)} different labels: are they classes, or free answers and identifiers?"
        )
    return remarks


@dataclass(frozen=True, slots=True)
class LabelReading:
    """A reading of labels that changes them, as parts of a dataset's YAML file."""

    doubts: tuple[str, ...]  # the questions that this reading answers
    labels: list[str | dict[str, Any]]
    reader: dict[str, Any]  # fields of the reader, such as `missing`


def other_reading(
    votes: Mapping[str, int], seems_no_answer: Callable[[str], bool]
) -> LabelReading | None:
    """Return what the labels may mean, if not what is written; None where nothing is in doubt.

    `votes` has the number of votes for each label; `seems_no_answer` decides, from the votes on
    the items, about a label that may stand for no answer.
    """
    doubts, reader, remaining = [], dict[str, Any](), dict(votes)
    missing = set(no_votes(list(votes)))
    missing |= {name for name in _maybe_no_votes(list(votes)) if seems_no_answer(name)}
    if missing and len(votes) - len(missing) > 1:
        numbers = ", ".join(
            f"{shorten(name)} ({n:,})" for name, n in votes.items() if name in missing
        )
        doubts.append(f"no answer, or a label: {numbers}, of {sum(votes.values()):,} answers?")
        reader["missing"] = [name for name in votes if name in missing]
        remaining = {name: n for name, n in votes.items() if name not in missing}
    separator, combinations = _combined(remaining)
    if separator:
        first_few = listed(combinations, _SHOWN)
        doubts.append(f"several labels by one person, or a label of their own: {first_few}?")
        reader["separator"] = separator
        parts: Counter[str] = Counter()
        for name, n in remaining.items():
            parts.update(dict.fromkeys(labels_in(name, separator), n))
        remaining = dict(parts)
    alike = _alike(remaining)
    doubts += [f"one label, or several: {_list_spellings(same)}?" for same in alike[:_SHOWN]]
    spellings = {}
    for same in alike:
        usual = max(same, key=lambda name: (name.isprintable(), remaining[name]))
        spellings[usual] = [name for name in same if name != usual]
    unusual = {name for names in spellings.values() for name in names}
    labels: list[str | dict[str, Any]] = [
        {"name": name, "spellings": spellings[name]} if name in spellings else name
        for name in in_order(remaining)
        if name not in unusual
    ]
    return LabelReading(tuple(doubts), labels, reader) if doubts else None


def is_code(name: str) -> bool:
    """Return whether a label is a number that often stands for no answer, such as -1."""
    return bool(_CODE.fullmatch(name)) or (as_number(name) or 0) < 0


def are_lists(names: Sequence[str]) -> bool:
    """Return whether some labels look like whole lists of labels."""
    return any(map(_IS_LIST.fullmatch, names))


def labels_in(value: object, separator: str) -> list[Any]:
    """Return the labels that one cell names, each once; the cell itself where it names none."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split(separator) if part.strip()]
    labels = {str(label): label for label in value}.values() if isinstance(value, list) else ()
    return list(labels) or [value]


def answer_of(value: object) -> str:
    """Return an answer as the reader's `missing` in a YAML file spells it; empty for no answer."""
    is_nan = value != value
    if value is None or value == [] or is_nan:
        return ""
    return spelling_of(str(value).strip())


def no_votes(names: Sequence[str]) -> list[str]:
    """Return labels that are known to stand for no answer, or are numbers beyond the others."""
    has_plus = "+" in names  # beside +, the label - is an answer
    words = [
        name
        for name in names
        if {_words(name), _words(name.rpartition(".")[2])} & _NO_ANSWER  # a column: kind.skip
        or (_NO_WORD.fullmatch(name) and not has_plus)
    ]
    numbers = {name: _point(name) for name in names if name not in words}
    known = sorted({number for number in numbers.values() if number is not None})
    if len(known) == len(numbers) or len(known) > 2:
        beyond = _beyond(known)
    else:  # a number among words
        beyond = [n for n in known if n < 0 or _CODE.fullmatch(f"{n:g}")]
    return words + [name for name, number in numbers.items() if number in beyond]


def _maybe_no_votes(names: Sequence[str]) -> list[str]:
    """Return labels that may stand for no answer, if people agree on them no better than by chance.

    These are words such as "unknown", and the least or greatest number: -1 beside 0 and 1, 9 in a
    scale from 1 to 9, or 0.
    """
    numbers = {name: number for name in names if (number := as_number(name)) is not None}
    known = sorted(numbers.values())
    ends = [] if len(known) < max(len(names), 3) else [known[-1]]
    ends += known[:1] if ends and (known[0] == 0 or known == [-1, 0, 1]) else []
    return [name for name in names if _words(name) in _MAYBE_NO_ANSWER or
            (numbers.get(name) in ends and (numbers[name] <= 0 or is_code(name)))]  # fmt: skip


def _beyond(numbers: Sequence[float]) -> list[float]:
    """Return the numbers, such as -1 and 99, that lie outside the scale of the others.

    `numbers` are in ascending order.
    """
    codes = [number for number in numbers if _CODE.fullmatch(f"{number:g}")]
    scale = [number for number in numbers if number not in codes]
    if len(scale) < 2:
        return []
    gap, width = max(b - a for a, b in pairwise(scale)), scale[-1] - scale[0]
    distance = {number: max(scale[0] - number, number - scale[-1]) for number in codes}
    beyond = [
        number for number in codes if distance[number] > 2 * gap and distance[number] >= width
    ]
    beyond += _after_a_gap([number for number in numbers if number not in beyond])
    below_zero = [number for number in scale if number < 0]
    from_zero = scale[len(below_zero) :]
    if below_zero and len(from_zero) > 1:
        depth, height = -below_zero[0], from_zero[-1]  # a scale goes as far below zero as above
        is_lopsided = height >= 2 * depth if from_zero[0] == 0 else height > depth
        is_alone = len(below_zero) == 1 and from_zero[0] + depth > 1 and height != depth
        beyond += below_zero if is_lopsided or is_alone else []
    return beyond


def _after_a_gap(numbers: Sequence[float]) -> list[float]:
    """Return codes, such as 7 to 9, after a gap that follows at least three numbers in a row."""
    steps = enumerate(pairwise(numbers), 1)
    n_in_row = next((k for k, (a, b) in steps if b - a != 1), len(numbers))
    after_gap = list(numbers[n_in_row:])
    texts = [f"{number:g}" for number in after_gap]
    are_codes = all(text == "7" or _CODE.fullmatch(text) for text in texts)
    return after_gap if n_in_row >= _SHORTEST_SCALE and are_codes else []


def _combined(names: Iterable[str]) -> tuple[str, list[str]]:
    """Return the separator of labels that combine others, and these labels; empty for none.

    All parts of such a label must also occur in another one.
    """
    known = list(names)
    for separator in _SEPARATORS:
        parts_of = {name: [part.strip() for part in name.split(separator)] for name in known}
        n_labels = Counter(part for parts in parts_of.values() for part in set(parts))
        combinations = [name for name, parts in parts_of.items() if len(parts) > 1]
        all_parts = [part for name in combinations for part in parts_of[name]]
        if combinations and all(part and n_labels[part] > 1 for part in all_parts):
            return separator, combinations
    return "", []


def _alike(names: Iterable[str]) -> list[list[str]]:
    """Return groups of labels that differ by their spelling alone."""
    alike: dict[str, list[str]] = {}
    for name in names:
        text = unicodedata.normalize("NFKC", name).translate(_PLAIN).casefold()
        text = "".join(char for char in text if unicodedata.category(char) != "Cf")  # invisible
        if as_number(text) is None:
            text = _WORD_BREAK.sub("", text).strip(" .'\"") or name
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
    """Return notes on what was left out or read with a change, a sentence each.

    `left_out` has how often each answer was left out, `trimmed` the number of labels with blanks
    around them, `second` that of second votes by an annotator on an item, and `rows_left_out` what
    the reader leaves out.
    """
    notes = [f"left out: {rows}" for rows in rows_left_out]
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
    """Return the rule that cuts numbers at edges; the outer edges are the ends of the scale."""
    inner = ", ".join(f"{edge:g}" for edge in edges[1:-1])
    names = [f"{low:g} to below {high:g}" for low, high in pairwise(edges[:-1])]
    return Cutpoints(
        rule=f"cut at {inner}",
        edges=tuple(edges),
        labels=(*names, f"{edges[-2]:g} to {edges[-1]:g}"),
    )


def label_of(value: object, dataset: Dataset) -> int | None:
    """Return the index of the label that a cell holds; None where it holds none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_text = isinstance(value, bool | str)  # a truth value becomes text, as JSON spells it
    return dataset.label_index(as_identifier(value) if is_text else value)


def vote_of(value: object, dataset: Dataset, cut: Cutpoints | None) -> int | None:
    """Return the index of a vote's label, by the rule that cuts numbers if there is one.

    None where the value is no vote.
    """
    if cut is None:
        return label_of(value, dataset)
    number = as_number(value)
    if number is None or not cut.edges[0] <= number <= cut.edges[-1]:
        return None
    return dataset.labels.index(cut.labels[bisect_right(cut.edges[1:-1], number)])


def _list_spellings(names: Sequence[str]) -> str:
    """List labels; with escapes, where no one sees how they differ."""
    visible = {unicodedata.normalize("NFC", name) for name in names if name.isprintable()}
    return ", ".join(map(shorten if len(visible) == len(names) else ascii, names))

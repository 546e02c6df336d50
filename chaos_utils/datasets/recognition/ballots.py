"""Recognisers of votes that stand one by one: in a row each, in columns, or in lists."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from chaos_utils.base.errors import counted
from chaos_utils.datasets.cells import as_count, as_list
from chaos_utils.datasets.faults import listed
from chaos_utils.datasets.labels import no_votes
from chaos_utils.datasets.people import VOTER_LISTS, VOTERS, look_like_people, names_annotators
from chaos_utils.datasets.recognition.candidates import (
    Candidate,
    Reader,
    clear,
    columns_of,
    doubt,
    first,
    refused,
    wide_by,
)
from chaos_utils.datasets.recognition.columns import FEW_LABELS, LABELS, Columns, votes_in
from chaos_utils.datasets.recognition.counts import (
    MOST_RATING,
    counts_in_lists,
    counts_in_objects,
    shares_inside,
)
from chaos_utils.datasets.rows import is_set

_NUMBERED = re.compile(r"(.*?)_?([0-9]+)(?:_(.*))?")
_BY_CHANCE = 0.05  # of places: up to here it is as good as none


def named_label(columns: Columns) -> Candidate | None:
    """The column of the votes that the file's owner names."""
    return by_label(columns, columns.long, columns.label) if columns.label else None


def numbered_columns(columns: Columns) -> Candidate | None:
    """Columns such as rater_1 to rater_n, which hold a vote each."""
    if columns.row and columns.repeats(columns.row):
        return None
    beside = _votes_beside_people(columns)
    if beside:
        return beside
    stems: dict[str, list[str]] = {}
    for name, words in columns.words.items():
        match = _NUMBERED.fullmatch(words)
        if match and not match[3] and match[1] in (*VOTERS, *LABELS):
            stems.setdefault(match[1], []).append(name)
    stems = {stem: names for stem, names in stems.items() if len(names) > 1}
    if len(stems) != 1:
        return None
    ((stem, names),) = stems.items()
    reader = {"format": "columns"} | columns.base | {"labels": names}
    values = [{*votes_in([columns.frame.column(name)], in_lists=False)} for name in names]
    times = Counter(value for one in values for value in one)
    are_alike = all(any(times[value] > 1 for value in one) for one in values)
    are_counts = all(as_count(value) is not None for one in values for value in one)
    if are_alike and not (stem in LABELS and are_counts):
        return clear(reader, f"a vote each in {listed(names)}")
    base = {"item": columns.row}
    return doubt(
        f"the columns {listed(names)} may hold a vote each, or the votes for a label each",
        [base | {"format": "columns", "labels": names}, wide_by(base, names)],
    )


def _votes_beside_people(columns: Columns) -> Candidate | None:
    """Columns such as rater_1_label, where rater_1 says who that is.

    No one is named twice in a row, as labels are. Names that stand beside no votes are refused.
    """
    groups: dict[tuple[str, str], dict[str, str]] = {}  # by what stands around the number
    for name, words in columns.words.items():
        if match := _NUMBERED.fullmatch(words):
            groups.setdefault((match[1], match[3] or ""), {})[match[2]] = name
    people = {stem: names for stem, names in groups.items()
              if _are_people(columns, [*names.values()])}  # fmt: skip
    for (head, _), names in people.items():
        numbered = {
            stem: [others[number] for number in names]
            for stem, others in groups.items()
            if stem not in people and names.keys() <= others.keys()
        }
        votes = [
            group for stem, group in numbered.items() if {*"_".join(stem).split("_")} & {*LABELS}
        ]
        values = [value for name in names.values() for value in columns.values(name)]
        if not (votes or look_like_people(values)):
            continue
        votes = votes or [
            group for stem, group in numbered.items()
            if stem[0] == head and len(votes_in(map(columns.frame.column, group), in_lists=False))
            <= min(FEW_LABELS, len(columns.frame))
        ]  # fmt: skip
        if len(votes) == 1:
            reader = {"format": "columns"} | columns.base | {"labels": votes[0]}
            return clear(reader, f"a vote each in {listed(votes[0])}")
        return refused(
            "Columns that may hold votes look like the names of people.",
            listed([*names.values()]),
            "labels",
            "say which columns hold the votes in a dataset's YAML file: reader.format: "
            "columns, and their names as reader.labels",
        )
    return None


def _are_people(columns: Columns, names: Sequence[str]) -> bool:
    """Return whether columns that are called after annotators name another in each place."""
    cells = [columns.frame.column(name).identifiers for name in names]
    if len(names) < 2 or not all(map(names_annotators, names, (one.values for one in cells))):
        return False
    rows = zip(*(one.map(lambda value: value) for one in cells), strict=True)
    several = [people for row in rows if (people := [one for one in row if one is not None])[1:]]
    alike = sum(len(set(people)) < len(people) for people in several)
    return _BY_CHANCE * len(several) >= alike and bool(several)


def lists_of_labels(columns: Columns) -> Candidate | None:
    """A column of lists; of several, one is meant."""
    lists, labels = columns.lists_and_labels
    annotator = columns.annotator
    if len(lists) == 1 and (not annotator or columns.is_by_several(columns.item, lists[0])):
        return by_label(columns, columns.long | columns.base, lists[0])
    if len(lists) < 2 or labels or annotator or not columns.item:
        return None
    return doubt(
        f"several columns may hold the votes: {listed(lists)}",
        [columns.base | {"format": "columns", "labels": name} for name in lists[:2]],
    )


def column_for_each_label(columns: Columns) -> Candidate | None:
    """A row per vote, with an answer's column for each label, of which one is set."""
    _, labels = columns.lists_and_labels
    if not columns.item or len(labels) < 2 or labels != columns.answers:
        return None
    if not all(map(columns.is_one_hot, labels)):
        return None
    return clear(columns.long | {"label": labels}, f"one of {listed(labels)} is set")


def column_of_labels(columns: Columns) -> Candidate | None:
    """A row per vote, with a column that is called label; of several, one is meant."""
    _, labels = columns.lists_and_labels
    if not columns.item or not labels:
        return None
    if len(labels) > 1:
        return doubt(
            f"several columns may hold the votes: {listed(labels)}",
            [columns.long | {"label": name} for name in labels[:2]],
        )
    (label,) = labels
    checks = (_texts_or_counts, _the_same_in_each_item)
    return first(check(columns, label) for check in checks) or by_label(
        columns, columns.long, label
    )


def column_of_another_name(columns: Columns) -> Candidate | None:
    """A row per vote, with a column whose values differ within items as votes do."""
    if not columns.is_row_per_vote:
        return None
    differ = columns.differing()
    votes = [name for name in differ if not columns.holds_objects(name)]
    if differ and not votes:
        return _objects(differ[0])
    if not votes:
        return refused(
            "The column of the votes is not recognised.",
            f"columns {listed(columns.frame.names)}",
            todo="name it: --label",
        )
    ones = [name for name in votes if columns.is_one_hot(name)]
    readers = [columns.long | {"label": name} for name in votes if name not in ones[2:]]
    by = (*columns_of(columns.item), *filter(None, [columns.annotator]))
    if ones[2:]:
        every = [name for name in columns.frame.names if name not in by
                 and not columns.is_measure(name) and columns.is_one_hot(name)]  # fmt: skip
        if fault := _not_one_set(columns, every):
            return fault
        readers = [columns.long | {"label": every}, *readers]
    return doubt(
        f"a row per vote, by {listed(by)}; no column is called label, and {listed(votes)} may be "
        "meant",
        readers[:2],
    )


def _not_one_set(columns: Columns, labels: Sequence[str]) -> Candidate | None:
    """A column for each label, of which some rows set several or none."""
    n_set = np.sum([columns.frame.column(name).map(is_set, int) for name in labels], axis=0)
    n_odd = int((n_set != 1).sum())
    if not n_odd:
        return None
    return refused(
        "Each label has a column, and not every row sets one of them.",
        f"{counted(n_odd, 'row')} of {len(columns.frame):,} that set several or none of "
        f"{listed(labels)}",
        "one label for each vote",
        "write a row for each label that a person gave, and none where they gave none",
    )


def _texts_or_counts(columns: Columns, text: str) -> Candidate | None:
    """Texts under the name of a label, beside columns of numbers that may be votes."""
    if columns.is_row_per_vote or not columns.is_text(text):
        return None
    numbers = [
        name
        for name in columns.frame.names
        if name != text and not columns.is_measure(name) and columns.holds_counts(name)
    ]
    if len(numbers) < 2:
        return None
    return doubt(
        f"texts in {text!r}, and numbers in {listed(numbers)}: which are the votes?",
        [wide_by(columns.base, numbers)],
    )


def _the_same_in_each_item(columns: Columns, label: str) -> Candidate | None:
    """A label that is the same in all rows of each item, where other columns differ."""
    items, cells = columns.frame.key(columns.item), columns.frame.column(label)
    n_items = len(items.values)
    if n_items < 3 or 2 * n_items > len(columns.frame) or not cells.is_same_within(items).all():
        return None
    differ = columns.differing(label)
    if not differ:
        return None
    return doubt(
        f"{label!r} is the same in all rows of an item, as what it is about may be; what "
        f"differs is {listed(differ)}: which column holds the votes?",
        [columns.long | {"label": name} for name in (*differ[:2], label)],
    )


def by_label(columns: Columns, long: Reader, label: str) -> Candidate:
    """Votes in a column: one in each row, or a list; or counts and shares in objects there."""
    base = {key: value for key, value in long.items() if key in ("item", "where")}
    inside = counts_in_objects(columns, base, label) or shares_inside(columns, base, label)
    if inside:
        return inside
    if columns.holds_objects(label):
        return _objects(label)
    one_each = all(len(as_list(value) or [0]) == 1 for value in columns.values(label))
    if one_each or not columns.is_list(label) or _is_by_person(columns, long, label):
        return clear(long | {"label": label}, f"a vote in each row of {label!r}")
    people = next(iter(columns.named(VOTER_LISTS)), "")
    reader = {"format": "columns"} | base | {"labels": label}
    reader |= {"annotators": people} if people else {}
    counts = None if people else _list_of_counts(columns, reader, label)
    if counts:
        return counts
    if columns.has_doubles(label) or people or columns.words[label] not in LABELS:
        return clear(reader, f"lists of votes in {label!r}")
    return doubt(
        f"lists in {label!r}, none of which holds a label twice: the votes of several "
        "people, or several labels by one?",
        [reader, long | {"each": label, "label": label}],
    )


def _objects(label: str) -> Candidate:
    """A column that holds objects, where labels are expected."""
    return refused(
        f"The column {label!r} holds objects, not labels.",
        "an object in a cell",  # whose keys may be annotators' names
        "labels",
        "say where the labels stand in a dataset's YAML file: reader.each, and a dotted "
        "path as reader.label; from Label Studio, export JSON instead of JSON-MIN",
    )


def _is_by_person(columns: Columns, long: Reader, lists: str) -> bool:
    """Return whether each row is one person's, who may have chosen several labels."""
    annotator = long.get("annotator")
    if columns.repeats(long["item"]):
        return True
    is_one = bool(annotator) and not columns.is_list(str(annotator))
    return is_one and not columns.is_by_several(long["item"], lists)


def _list_of_counts(columns: Columns, reader: Reader, label: str) -> Candidate | None:
    """Lists of whole numbers that may be the votes for a label each; or lists of these labels."""
    lists = columns.lists_in(label)
    if _are_counts(lists):
        are_placed = len(set(map(len, lists))) == 1
        names = columns.names_beside(label)
        if are_placed and (names or _may_be_votes(lists) or _has_total(columns, label)):
            return counts_in_lists(columns, reader, label, names)
    elif not columns.has_doubles(label):
        for name in columns.lists_beside(label):
            if not columns.is_measure(name) and _are_counts(columns.lists_in(name)):
                names = columns.names_in(label)
                return counts_in_lists(columns, reader, name, names, are_placed=bool(names))
    return None


def _has_total(columns: Columns, label: str) -> bool:
    """Return whether another column says what the numbers in each list add up to."""
    paths = columns.paths_in(label)
    numbers = columns.numbers_at(paths) if paths else np.zeros((1, 1))
    return bool(numbers.max() > 1 and columns.totals(numbers, [label]))


def _are_counts(lists: Sequence[Sequence[Any]]) -> bool:
    return all(as_count(value) is not None for one in lists for value in one)


def _may_be_votes(lists: Sequence[Sequence[Any]]) -> bool:
    """Return whether whole numbers are more than ratings are, or add up to the same everywhere."""
    counts = [tuple(as_count(value) or 0 for value in one) for one in lists]
    sums = set(map(sum, counts))
    add_up = len(counts) > 2 and len(set(counts)) > 1 and len(sums) == 1 and min(sums) > 1
    numbers = {str(number) for one in counts for number in one}
    return add_up or max(map(int, numbers.difference(no_votes(list(numbers))))) > MOST_RATING

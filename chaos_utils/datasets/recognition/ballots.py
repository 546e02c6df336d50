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
_BY_CHANCE = 0.05  # share of rows: up to here an exception may be a mistake


def named_label(columns: Columns) -> Candidate | None:
    """The column of the votes that the file's owner names."""
    return by_label(columns, columns.long, columns.label) if columns.label else None


def numbered_columns(columns: Columns) -> Candidate | None:
    """Columns such as rater_1 to rater_n, which hold a vote each."""
    if columns.row and columns.repeats(columns.row):
        return None
    candidate = _votes_beside_people(columns)
    if candidate:
        return candidate
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
    labels_by_column = [{*votes_in([columns.frame.column(name)], in_lists=False)} for name in names]
    n_columns = Counter(label for labels in labels_by_column for label in labels)
    # Columns of votes share labels with each other.
    are_alike = all(any(n_columns[label] > 1 for label in labels) for labels in labels_by_column)
    are_counts = all(as_count(label) is not None for label in n_columns)
    if are_alike and not (stem in LABELS and are_counts):
        return clear(reader, f"a vote each in {listed(names)}")
    base = {"item": columns.row}
    return doubt(
        f"the columns {listed(names)} may hold a vote each, or the votes for a label each",
        [base | {"format": "columns", "labels": names}, wide_by(base, names)],
    )


def _votes_beside_people(columns: Columns) -> Candidate | None:
    """Columns such as rater_1_label, where the column rater_1 holds the annotator.

    Columns of annotators without columns of votes are refused.
    """
    # Column by number, by the words before and after the number.
    groups: dict[tuple[str, str], dict[str, str]] = {}
    for name, words in columns.words.items():
        if match := _NUMBERED.fullmatch(words):
            groups.setdefault((match[1], match[3] or ""), {})[match[2]] = name
    people = {stem: names for stem, names in groups.items()
              if _are_people(columns, [*names.values()])}  # fmt: skip
    for (head, _), names in people.items():
        numbered = {
            stem: [group[number] for number in names]
            for stem, group in groups.items()
            if stem not in people and names.keys() <= group.keys()
        }
        votes = [
            group for stem, group in numbered.items() if {*"_".join(stem).split("_")} & {*LABELS}
        ]
        values = [value for name in names.values() for value in columns.values(name)]
        if not (votes or look_like_people(values)):
            continue
        votes = votes or [  # columns of few values, whose names begin alike
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
    """Return whether columns hold annotators: by their names, and as no row names one twice."""
    cells = [columns.frame.column(name).identifiers for name in names]
    values = [column.values for column in cells]
    if len(names) < 2 or not all(map(names_annotators, names, values)):
        return False
    rows = zip(*(column.map(lambda value: value) for column in cells), strict=True)
    filled = [[value for value in row if value is not None] for row in rows]
    several = [people for people in filled if len(people) > 1]
    n_with_repeats = sum(len(set(people)) < len(people) for people in several)
    return _BY_CHANCE * len(several) >= n_with_repeats and bool(several)


def lists_of_labels(columns: Columns) -> Candidate | None:
    """A column of lists of labels; where there are several, it is asked which one is meant."""
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
    """A row per vote, with a column that is called label; several such columns are in doubt."""
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
    """A row per vote, with a column of any name whose values differ within items."""
    if not columns.is_row_per_vote:
        return None
    differ = columns.differing()
    votes = [name for name in differ if not columns.holds_objects(name)]
    if differ and not votes:
        return _refuse_objects(differ[0])
    if not votes:
        return refused(
            "The column of the votes is not recognised.",
            f"columns {listed(columns.frame.names)}",
            todo="name it: --label",
        )
    one_hot = [name for name in votes if columns.is_one_hot(name)]
    readers = [columns.long | {"label": name} for name in votes if name not in one_hot[2:]]
    keys = (*columns_of(columns.item), *filter(None, [columns.annotator]))
    if len(one_hot) > 2:
        labels = [name for name in columns.frame.names if name not in keys
                  and not columns.is_measure(name) and columns.is_one_hot(name)]  # fmt: skip
        if refusal := _not_one_set(columns, labels):
            return refusal
        readers = [columns.long | {"label": labels}, *readers]
    return doubt(
        f"a row per vote, by {listed(keys)}; no column is called label, and {listed(votes)} may be "
        "meant",
        readers[:2],
    )


def _not_one_set(columns: Columns, labels: Sequence[str]) -> Candidate | None:
    """Refuse one-hot columns if some rows set several or none; None if every row sets one."""
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
    """A column called label that holds texts, beside columns of numbers that may be votes."""
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
    """Votes in the column `label`: one in each row, a list, or an object of counts or shares.

    `long` is the reader that takes a row as a vote.
    """
    base = {key: value for key, value in long.items() if key in ("item", "where")}
    inside = counts_in_objects(columns, base, label) or shares_inside(columns, base, label)
    if inside:
        return inside
    if columns.holds_objects(label):
        return _refuse_objects(label)
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


def _refuse_objects(label: str) -> Candidate:
    """A column that holds objects, where labels are expected."""
    return refused(
        f"The column {label!r} holds objects, not labels.",
        "an object in a cell",  # not shown: its keys may be annotators' names
        "labels",
        "say where the labels stand in a dataset's YAML file: reader.each, and a dotted "
        "path as reader.label; from Label Studio, export JSON instead of JSON-MIN",
    )


def _is_by_person(columns: Columns, long: Reader, lists: str) -> bool:
    """Return whether each row is the answer of one person, who may have chosen several labels."""
    annotator = long.get("annotator")
    if columns.repeats(long["item"]):
        return True
    has_one_annotator = bool(annotator) and not columns.is_list(str(annotator))
    return has_one_annotator and not columns.is_by_several(long["item"], lists)


def _list_of_counts(columns: Columns, reader: Reader, label: str) -> Candidate | None:
    """Lists of counts in the column `label`, or in a second column beside lists of labels."""
    lists = columns.lists_in(label)
    if _are_counts(lists):
        same_length = len(set(map(len, lists))) == 1
        names = columns.names_beside(label)
        if same_length and (names or _may_be_votes(lists) or _has_total(columns, label)):
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
    return all(as_count(value) is not None for values in lists for value in values)


def _may_be_votes(lists: Sequence[Sequence[Any]]) -> bool:
    """Return whether some numbers are too large for ratings, or all lists have the same sum."""
    counts = [tuple(as_count(value) or 0 for value in values) for values in lists]
    sums = set(map(sum, counts))
    if len(counts) > 2 and len(set(counts)) > 1 and len(sums) == 1 and min(sums) > 1:
        return True
    numbers = {str(number) for row_counts in counts for number in row_counts}
    answers = numbers.difference(no_votes(list(numbers)))
    return max(map(int, answers)) > MOST_RATING

"""The names and values of a file's columns, before it is known which column holds the votes."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.datasets.cells import as_count, as_identifier, as_list, as_number, as_object
from chaos_utils.datasets.frame import Column, Frame
from chaos_utils.datasets.labels import in_order
from chaos_utils.datasets.people import VOTERS, look_like_people, names_annotators
from chaos_utils.datasets.recognition.candidates import Item, Reader, columns_of
from chaos_utils.datasets.words import words_of

ITEMS = ("item", "uid", "id", "item_id", "example_id", "instance_id", "sample_id", "pair_id",
         "pairid", "question_id", "task_id", "hitid", "hit_id", "assignment_task_id",
         "input_hash", "document_id", "doc_id", "task")  # fmt: skip
LABELS = ("label", "vote", "answer", "response", "annotation", "judgement", "judgment", "rating",
          "accept")  # fmt: skip
LISTS = ("labels", "votes", "answers", "responses", "annotations", "judgements", "judgments",
         "ratings", "annotator_labels", *LABELS)  # fmt: skip
_ROW = ("idx", "index", "unnamed")  # names an item where each row is one
_ANSWERS = ("answer_", "output_")  # as Mechanical Turk and Toloka begin the names of answers
# A column of such a name holds no votes, nor the number of votes for a label of this name.
_MEASURE = re.compile(
    r"(^|_)(ids?|hash|index|number|num|total|score|age|year|date|time|seconds|duration|length"
    r"|hard|gold|majority|mean|std|entropy|name|email|user|worker|annotator|rater|coder"
    r"|(up|down)votes|likes|retweets|fold|split)(_|$)|_at$"
    r"|^(n_)?(words|tokens|char(acter)?s|sentences)$|^(word|token|char(acter)?)_count$"
)
_STATUS = {  # the values of the rows that count, by the name of a column of statuses
    "was_cancelled": (False,),
    "assignmentstatus": ("Approved", "Submitted"),
    "assignment_status": ("APPROVED", "SUBMITTED"),
}
_NOT_COUNTED = {"draft", "discarded", "rejected", "cancelled", "canceled", "skipped"}  # statuses
_SENTENCE = 3  # words, on average
N_VOTES = "n_votes"  # the column that says how many votes each item has
FEW_LABELS = 50
_SHARE_TOLERANCE = 0.25  # of a vote: shares are rounded to a few decimals

Floats = npt.NDArray[np.float64]


class Columns:
    """The columns of a file; `item`, `annotator` and `label` are those that its owner names."""

    def __init__(
        self, frame: Frame, *, item: Item = "", annotator: str = "", label: str = ""
    ) -> None:
        self.frame, self.label = frame, label
        self.is_named, self.is_layout_named = bool(item or annotator or label), bool(item or label)
        self.words = {name: words_of(name) for name in frame.names}
        self.items: list[Any] = [item] if item else self._items()  # several if it is unclear which
        self.item: Item = self.items[0] if self.items else ""
        excluded = [*columns_of(self.item), label]
        self.annotator = annotator or next(iter(self.named(VOTERS, excluded)), "")

    def named(self, names: Sequence[str], excluded: Collection[str] = ()) -> list[str]:
        """Return the columns that have one of these names, in the order of `names`."""
        columns = [name for name in self.frame.names if name not in excluded]
        return [column for name in names for column in columns if self.words[column] == name]

    def values(self, name: str) -> list[Any]:
        """Return the different values of a column, in the order of the file."""
        return self.frame.column(name).values

    @cached_property
    def row(self) -> Item:
        """The column of the items if each row is an item; this may be an index. Empty for none."""
        if self.item or self.annotator:
            return self.item
        return next((name for name in self.named(_ROW) if not self.repeats(name)), "")

    @cached_property
    def base(self) -> Reader:
        """The common fields of all readers of a row per item: the item, and the rows that count."""
        where = self._where()
        return {"item": self.row} | ({"where": where} if where else {})

    @property
    def long(self) -> Reader:
        """The fields of a reader of a row per vote, without the label."""
        annotator = {"annotator": self.annotator} if self.annotator else {}
        return {"format": "long"} | self.base | {"item": self.item} | annotator

    def with_round(self, reader: Reader) -> Reader:
        """Return a reader of a row per vote with the column ``round``, if it numbers the rounds."""
        names = self.named(
            ["round"], [*columns_of(self.item), *columns_of(reader.get("label", ""))]
        )
        if reader["format"] != "long" or not reader.get("annotator") or len(names) != 1:
            return reader
        numbers = [as_number(value) for value in self.values(names[0])]
        are_whole = numbers and all(number is not None and number % 1 == 0 for number in numbers)
        return reader | {"round": names[0]} if are_whole else reader

    def with_batch(self, reader: Reader) -> Reader:
        """Return a reader of a row per vote with the column ``batch``, if it numbers the batches.

        All items have votes of the first batch; where some have none, these are batches of items.
        """
        names = self.named(
            ["batch"], [*columns_of(self.item), *columns_of(reader.get("label", ""))]
        )
        if reader["format"] != "long" or reader.get("round") or len(names) != 1:
            return reader
        numbers = [as_number(value) for value in self.values(names[0])]
        first = min((number for number in numbers if number is not None), default=None)
        if None in numbers or first is None or any(number % 1 for number in numbers if number):
            return reader
        items, cells = self.frame.key(reader["item"]), self.frame.column(names[0])
        is_first = cells.map(lambda value: as_number(value) == first, bool)
        all_have_first = set(items.codes[is_first]) == set(items.codes)
        return reader | {"batch": names[0]} if all_have_first else reader

    @cached_property
    def numbers(self) -> tuple[list[str], list[str]]:
        """The columns of numbers that may count votes, and those that by their names do not.

        Both are empty where no column names the items.
        """
        names = [
            name
            for name in self.frame.names
            if self.row
            and name not in (*columns_of(self.row), N_VOTES)
            and any(as_number(value) is not None for value in self.values(name))
        ]
        measures = [name for name in names if self.is_measure(name)]
        return [name for name in names if name not in measures], measures

    @cached_property
    def is_row_per_vote(self) -> bool:
        """Whether an item has several rows, or a column says who voted."""
        return bool(self.item and (self.annotator or self.repeats(self.item)))

    def _items(self) -> list[str]:
        """Return the columns that may name the items: one, several if in doubt, or none."""
        known = self.named(ITEMS)
        if not known:
            inputs = [name for name, words in self.words.items() if words.startswith("input_")]
            return inputs if len(inputs) == 1 else []
        if len(known) < 2 or self.words[known[0]] in ITEMS[:2]:
            return known[:1]
        repeated = [name for name in known if self.repeats(name)]
        if not repeated:
            return known[:1]  # each row is an item
        codes = [self.frame.column(name).identifiers.codes for name in repeated[:2]]
        return repeated if (codes[0] != codes[-1]).any() else repeated[:1]

    def _where(self) -> dict[str, list[Any]]:
        """Return the values of the rows that count, by column of statuses, if some do not count."""
        where: dict[str, list[Any]] = {}
        for name, words in self.words.items():
            if words in _STATUS:
                where[name] = list(_STATUS[words])
            elif words == "status" or words.endswith("_status"):
                cells = self.frame.column(name).identifiers
                counting = [text for text in cells.values if text.casefold() not in _NOT_COUNTED]
                if 0 < len(counting) < len(cells.values) and (cells.codes >= 0).all():
                    where[name] = counting
        return where

    def repeats(self, name: Item) -> bool:
        """Return whether some value of a column, or of several columns, is in more than one row."""
        cells = self.frame.key(name)
        return bool((cells.codes >= 0).sum() > len(cells.values))

    def is_measure(self, name: str) -> bool:
        """Return whether a column, by its name, holds neither votes nor numbers of votes."""
        words = self.words[name]
        return words in (*ITEMS, *VOTERS) or _MEASURE.search(words) is not None

    @cached_property
    def answers(self) -> list[str]:
        """The columns that a tool's export calls answers."""
        return [name for name, words in self.words.items() if words.startswith(_ANSWERS)]

    @cached_property
    def lists_and_labels(self) -> tuple[list[str], list[str]]:
        """The columns that by their names hold lists of labels, and those that hold a label.

        Where there are several columns, texts are left out, as are lists that only name the labels.
        """
        lists = [name for name in self.named(LISTS) if self.is_list(name)]
        if len(lists) > 1:
            lists = [name for name in lists if not self.names_in(name)]
        labels = self.named(LABELS, [*columns_of(self.item), self.annotator]) or self.answers
        if self.item and len({*lists, *labels}) > 1:
            lists = [name for name in lists if not self.is_text(name)]
            labels = [name for name in labels if not self.is_text(name)]
        return lists, labels

    def is_text(self, name: str) -> bool:
        """Return whether a column holds sentences that differ on most items, and so no labels."""
        cells = self.frame.column(name).identifiers
        words = [len(text.split()) for text in cells.values]
        n_items = len(self.frame.key(self.item).values)
        return 2 * len(words) > n_items > 2 and sum(words) >= _SENTENCE * len(words)

    def is_list(self, name: str) -> bool:
        """Return whether cells hold lists: in JSON, or separated by commas."""
        values = self.values(name)
        if all(as_object(value) is not None for value in values):
            return False
        if any(isinstance(value, list) for value in values):
            return all(isinstance(value, list) for value in values)
        texts = [value for value in values if isinstance(value, str) and value.strip()]
        if len(texts) < len(values) or not any(len(as_list(text) or []) > 1 for text in texts):
            return False
        parts = {str(part) for text in texts for part in as_list(text) or []}
        are_json = all(text.startswith("[") for text in texts)
        return are_json or len(parts) <= min(FEW_LABELS, len(texts))

    def lists_in(self, name: str) -> list[list[Any]]:
        """Return the different lists of a column."""
        return [as_list(value) or [] for value in self.values(name)]

    def has_doubles(self, name: str) -> bool:
        """Return whether some of the lists in a column hold a label twice."""
        return any(len(set(map(str, labels))) < len(labels) for labels in self.lists_in(name))

    def lists_beside(self, name: str) -> list[str]:
        """Return the other columns of lists that are as long in every row."""
        lengths = self.frame.column(name).map(_length, int)
        return [
            column
            for column in self.frame.names
            if column != name
            and self.is_list(column)
            and (self.frame.column(column).map(_length, int) == lengths).all()
        ]

    def names_in(self, name: str) -> list[str]:
        """Return the words that a column lists, the same in every row; empty for others."""
        lists = {tuple(map(str, items)) for items in self.lists_in(name)}
        names = lists.pop()
        are_names = not lists and len(set(names)) == len(names)
        are_words = are_names and all(as_number(name) is None for name in names)
        return list(names) if are_words else []

    def names_beside(self, name: str) -> list[str]:
        """Return the names of the positions in a column's lists, from another column; or none."""
        return next(filter(None, map(self.names_in, self.lists_beside(name))), [])

    def holds_objects(self, name: str) -> bool:
        """Return whether cells are objects, or lists of objects or lists."""
        return any(
            isinstance(value, dict)
            or (isinstance(value, list) and any(isinstance(part, dict | list) for part in value))
            for value in self.values(name)
        )

    def holds_counts(self, name: str) -> bool:
        """Return whether all values are numbers of votes."""
        values = self.values(name)
        return bool(values) and all(as_count(value) is not None for value in values)

    def is_one_hot(self, name: str) -> bool:
        """Return whether all values are true or false, as in a one-hot column."""
        values = {str(value).strip().casefold() for value in self.values(name)}
        return bool(values) and values <= {"true", "false", "0", "1", "0.0", "1.0", ""}

    def has_gaps(self, name: str) -> bool:
        """Return whether a column of numbers has cells without one, as no count has."""
        cells = self.frame.column(name)
        return bool((cells.codes < 0).any()) or any(as_number(v) is None for v in cells.values)

    def is_by_several(self, item: Item, lists: str) -> bool:
        """Return whether each row is an item, and some lists hold a label twice."""
        return self.has_doubles(lists) and bool(item) and not self.repeats(item)

    def differing(self, label: str = "") -> list[str]:
        """Return columns of a few values that differ within items, as votes do."""
        items = self.frame.key(self.item)
        differ = []
        for name in self.frame.names:
            cells = self.frame.column(name)
            values = cells.identifiers.values
            is_known = name in (*columns_of(self.item), self.annotator, label)
            if is_known or self.is_measure(name) or not 1 < len(values) <= FEW_LABELS:
                continue
            if names_annotators(name, values) or look_like_people(values):
                continue
            if not cells.is_same_within(items).all():
                differ.append(name)
        if not self.annotator:
            return differ
        # A column about the annotators, such as their age, is the same in all rows of one.
        people = self.frame.key(self.annotator)
        votes = [
            name for name in differ if not self.frame.column(name).is_same_within(people).all()
        ]
        return votes if label else votes or differ

    def paths_in(self, column: str) -> list[str]:
        """Return the paths of the numbers in a column of objects, or of lists of one length.

        Empty for any other column.
        """
        values = self.values(column)
        objects = [as_object(value) for value in values]
        keys: list[str] = []
        numbers: list[Any] = []
        if values and None not in objects:
            keys = list(dict.fromkeys(key for content in objects for key in content or ()))
            numbers = [number for content in objects for number in (content or {}).values()]
        elif values and self.is_list(column):
            lists = self.lists_in(column)
            keys = list(map(str, range(len(lists[0])))) if len(set(map(len, lists))) == 1 else []
            numbers = [number for numbers_of_row in lists for number in numbers_of_row]
        if not 2 <= len(keys) <= FEW_LABELS or not all(map(_is_number, numbers)):
            return []
        return [f"{column}.{key}" for key in in_order(keys)]

    def labels_in(self, column: str) -> dict[str, str]:
        """Return the labels whose numbers stand in a column, by their paths."""
        paths = self.paths_in(column)
        names = [path.removeprefix(f"{column}.") for path in paths]
        if paths and self.is_list(column):
            names = self.names_beside(column) or paths
        return dict(zip(paths, names, strict=True))

    def numbers_at(self, paths: Sequence[str]) -> Floats:
        """Return the numbers at these paths, shape (rows, paths); 0 for any other cell."""
        return np.stack([self.frame.column(path).map(number_in, float) for path in paths], axis=1)

    def totals(self, numbers: Floats, excluded: Collection[str]) -> list[str]:
        """Return the columns that may hold the number of votes of each row of counts or shares.

        `numbers` has shape (rows, labels).
        """
        are_shares = bool((numbers % 1).any())
        totals = []
        for name in self.frame.names:
            if name in excluded or not self.holds_counts(name):
                continue
            stated = self.frame.column(name).map(number_in, float)
            votes = numbers * stated[:, np.newaxis] if are_shares else numbers
            off = np.abs(votes - np.rint(votes)).max()
            if (
                stated.min() > 0
                and off <= _SHARE_TOLERANCE
                and (np.rint(votes).sum(axis=1) == stated).all()
            ):
                totals.append(name)
        return totals


def votes_in(columns: Iterable[Column], *, in_lists: bool) -> Counter[str]:
    """Return the number of votes for each label in columns of labels, or of lists of labels."""
    votes: Counter[str] = Counter()
    for cells in columns:
        times = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.values))
        for value, n in zip(cells.values, times.tolist(), strict=True):
            if in_lists:
                labels = as_list(value) or []
            else:
                labels = value if isinstance(value, list) else [value]
            for name in map(as_identifier, labels):
                if name is not None:
                    votes[name] += n
    return votes


def _length(value: object) -> int:
    return len(as_list(value) or [])


def _is_number(value: object) -> bool:
    number = None if isinstance(value, str) else as_number(value)
    return value is None or (number is not None and isfinite(number))


def number_in(value: object) -> float:
    """Return a finite number, or 0."""
    number = as_number(value)
    return number if number is not None and isfinite(number) else 0

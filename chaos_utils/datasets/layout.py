"""Votes files without a YAML file: what their columns are, by their names and values.

Where two things could be meant, the file is refused and both are shown as YAML files.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import yaml

from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.files import uncollected
from chaos_utils.base.validation import validate
from chaos_utils.datasets.cells import (
    as_count,
    as_identifier,
    as_list,
    as_number,
    as_object,
    as_share,
    unwrap_single,
)
from chaos_utils.datasets.chaosnli import FIELDS, names_of, order_of
from chaos_utils.datasets.dataset import Dataset, Label
from chaos_utils.datasets.faults import Faults, shorten
from chaos_utils.datasets.frame import Column, FileContent, Frame, read_frame
from chaos_utils.datasets.labels import (
    are_lists,
    in_order,
    is_code,
    is_rating,
    no_votes,
    other_reading,
)
from chaos_utils.datasets.people import look_like_people, names_annotators
from chaos_utils.datasets.rows import is_set
from chaos_utils.datasets.texts import (
    annotators_of,
    are_rounded,
    differs_in,
    is_part_of_key,
    is_rounded,
    shorter_part,
)

# Names are compared in lower case, with "_" for all but letters and digits.
_ITEM = ("item", "uid", "id", "item_id", "example_id", "instance_id", "sample_id", "pair_id",
         "pairid", "question_id", "task_id", "hitid", "hit_id", "assignment_task_id",
         "input_hash", "document_id", "doc_id", "task")  # fmt: skip
_ROW = ("idx", "index", "unnamed")  # names an item where each row is one
_ANNOTATOR = ("annotator", "worker", "annotator_id", "worker_id", "workerid", "rater", "rater_id",
              "coder", "coder_id", "user", "user_id", "participant", "participant_id",
              "completed_by", "worker_name", "annotator_name", "username", "assignment_worker_id",
              "performer", "judge", "expert", "labeler", "labeler_id", "labeller", "labeller_id",
              "evaluator", "evaluator_id", "assessor", "assessor_id", "turker", "turker_id",
              "rater_name", "coder_name", "amt_worker_ids")  # fmt: skip
_LABEL = ("label", "vote", "answer", "response", "annotation", "judgement", "judgment", "rating",
          "accept")  # fmt: skip
_LISTS = ("labels", "votes", "answers", "responses", "annotations", "judgements", "judgments",
          "ratings", "annotator_labels", *_LABEL)  # fmt: skip
_ANNOTATORS = ("annotators", "annotator_ids", "workers", "worker_ids", "raters", "rater_ids",
               "coders", "users", "user_ids", "participants")  # fmt: skip
_ANSWERS = ("answer_", "output_")  # as Mechanical Turk and Toloka begin the names of answers
# A column by such a name holds no votes, and counts none for a label of this name.
_MEASURE = re.compile(
    r"(^|_)(ids?|hash|index|number|num|total|score|age|year|date|time|seconds|duration|length"
    r"|hard|gold|majority|mean|std|entropy|name|email|user|worker|annotator|rater|coder"
    r"|(up|down)votes|likes|retweets|fold|split)(_|$)|_at$"
    r"|^(n_)?(words|tokens|char(acter)?s|sentences)$|^(word|token|char(acter)?)_count$"
)
_PERCENT = re.compile(r"%|(^|[\W_])(percent(age)?s?|pct)([\W_]|$)", re.IGNORECASE)
_COUNTS = re.compile(r"(^|_)(counts?|counter|tally|tallies|votes|distribution)(_|$)")
_SURELY = re.compile(r"(^|_)(counts?|counter|tally|tallies)(_|$)")  # count something, not by people
_TOTAL = re.compile(r"^(n|sum|all)(_|$)|(^|_)(total|votes|annotators|count)(_|$)")
_NO_PERSON = re.compile(  # among annotators
    r"(gold|majority|consensus|adjudicat\w*)(_(labels?|votes?|standard|annotations?|answers?))?"
)
_ID = re.compile(
    r"(?!(?:label|class|option|choice|level|score|star|grade|point)s?[_ -]?[0-9])"
    r"[A-Za-z]+[_ -]?[0-9]+"
)
_NUMBERED = re.compile(r"(.*?)_?([0-9]+)")
_STATUS = {  # which rows count, by the column that says what became of them
    "was_cancelled": (False,),
    "assignmentstatus": ("Approved", "Submitted"),
    "assignment_status": ("APPROVED", "SUBMITTED"),
}
_NOT_COUNTED = {"draft", "discarded", "rejected", "cancelled", "canceled", "skipped"}  # statuses
_TOOLS: Sequence[tuple[set[str], dict[str, Any]]] = (  # columns, and what they mean
    (  # Prodigy's choices: whoever ignores or rejects an item gives no label
        {"_input_hash", "accept", "answer"},
        {"item": "_input_hash", "annotator": "_annotator_id", "label": "accept",
         "where": {"answer": ["accept"]}},
    ),
    (  # Prodigy's binary questions
        {"_task_hash", "label", "answer"},
        {"item": "_task_hash", "annotator": "_annotator_id", "label": "answer",
         "where": {"answer": ["accept", "reject"]}},
    ),
)  # fmt: skip
_N_VOTES = "n_votes"
_MOST_LABELS, _FEW_LABELS = 1000, 50
_MANY_ROWS, _MOST_RATING = 20, 10
_MANY_COLUMNS = 6
_PARTS = 12  # different percentages at most, of a few votes on each item
_OFTEN = 0.2  # of all answers: from here on it is asked whether a label is one
_SENTENCE = 3  # words, on average
_ROUNDED = 0.02  # of 1, the sum of shares
_OFF = 0.25  # of a vote: shares are rounded to a few decimals
_COUNTERS = ("label_counter", "label_count")
_STATED = {"entropy", "old_label", "old_labels"}  # beside the fields that the format must have
_BY_CHANCE = 0.05  # of agreement: up to here it is as good as none
FORMAT = (
    "CSV, TSV, JSON lines or parquet: a row per vote with the columns item, annotator (optional) "
    "and label; or a row per item with the column item and one for each label's votes, or a list"
)
_NAME = (
    "name the columns: --item, --label and, where it is known, --annotator; if each vote of an "
    "item has a column of its own, write a YAML file (reader.format: columns)"
)
_TODO = (
    "rename the columns, or describe them in a dataset's YAML file, which `chaos dataset init` "
    "writes, and pass that as data"
)


Floats = npt.NDArray[np.float64]
Item = str | Sequence[str]  # the column of the items, or several that name them together


@dataclass(frozen=True, slots=True)
class Layout:
    """What the columns of a votes file are."""

    reader: Mapping[str, Any]  # as in a dataset's YAML file
    labels: tuple[str, ...]  # in their order
    others: tuple[str, ...] = ()  # columns that are none of these
    lacks_annotators: bool = False  # whether some rows do not say who voted
    votes: Mapping[str, int] = field(default_factory=dict)  # for each label, as far as known
    several: bool = False  # whether some answers are lists of labels
    finer: str = ""  # a column that tells apart what is read as one item
    names: Mapping[str, str] = field(default_factory=dict)  # of labels that the file spells so

    @property
    def is_cast(self) -> bool:
        """Whether the votes stand one by one, as labels."""
        return self.format in ("long", "columns")

    @property
    def unused(self) -> tuple[str, ...]:
        """Columns beside those of labels that may be labels too."""
        return self.others if self.format == "wide" and not self.names else ()

    @property
    def rating(self) -> str:
        """What is wrong where the labels are numbers on a slider; empty where they are not."""
        if not (self.is_cast and is_rating(self.labels)):
            return ""
        low, high = min(self.labels, key=float), max(self.labels, key=float)
        none = no_votes(self.labels)
        beyond = f"; {_listed(none)} may stand for no answer" if none else ""
        return (
            f"the labels are numbers on a scale, {len(self.labels)} different ones from "
            f"{shorten(low)} to {shorten(high)}: name the rule that cuts it into classes, "
            f"`chaos dataset init --cut`{beyond}"
        )

    @property
    def format(self) -> str:
        """Which of a dataset's readers reads it."""
        return str(self.reader["format"])


@uncollected()
def layout_of(
    path: Path, *, item: str = "", annotator: str = "", label: str = ""
) -> tuple[Layout, FileContent, Frame]:
    """Recognise the columns of a votes file."""
    content = FileContent.of(path)
    faults = Faults(path, "votes", expected=FORMAT, todo="correct the file")
    if content.is_array:
        raise faults.fatal(
            "An npy file names neither items nor labels.",
            todo="describe it in a dataset's YAML file",
        )
    search = _search(path, content, faults)
    frame = search.frame
    if not len(frame):
        faults.check()
        raise faults.fatal("This votes file holds no votes.")
    items: Item = item
    if item and item not in frame:  # several columns, separated by commas
        items = [name.strip() for name in item.split(",")] if "," in item else item
    named = filter(None, (*columns_of(items), annotator, label))
    frame.require(named, faults, "name a column that is there")
    reader = search.reader(items, annotator, label)
    if not annotator:
        search.check_people(reader)
    finer = search.part_of_key(reader)
    if finer and not item:
        search.refuse_key(reader, finer)
    layout = replace(search.layout(reader), finer=finer)
    if len(layout.labels) > _MOST_LABELS and layout.format != "wide" and not layout.rating:
        raise faults.fatal(
            "There are too many labels in this votes file.",
            f"{len(layout.labels):,} labels, such as {_listed(layout.labels[:3])}",
            f"at most {_MOST_LABELS:,}: classes, not free answers or identifiers",
            "name the column of the votes: --label",
        )
    if not layout.labels:
        faults.check()
        found = f"{len(frame)} rows"
        for name, values in layout.reader.get("where", {}).items():
            found += f", none of them where {name!r} is {' or '.join(map(str, values))}"
        raise faults.fatal("This votes file holds no votes.", found)
    if len(layout.labels) == 1:
        raise faults.fatal(
            "There is only one label in this votes file.",
            repr(layout.labels[0]),
            "two labels at least",
        )
    if not item:
        search.check_texts(layout)
    search.check_labels(layout)
    return layout, content, frame


def _search(path: Path, content: FileContent, faults: Faults) -> "_Search":
    """Return the columns of a file; an object whose keys are items has its values as rows."""
    try:
        return _Search(path, read_frame(content, faults), faults)
    except ChaosError as fault:
        with suppress(ChaosError):
            again = Faults(path, "votes", expected=FORMAT, todo="correct the file")
            search = _Search(path, read_frame(content, again, keys=["item"]), again, keys=["item"])
            reader = search.reader("", "", "")
            if {"annotator", "annotators"} & set(reader) and reader.keys() & {"each", "labels"}:
                return search  # several votes in each, by people who have names
        raise fault


def _plain(name: str) -> str:
    """Return a column's name as names are compared."""
    return re.sub(r"[\W_]+", "_", name.strip().lower()).strip("_")


class _Search:
    """The columns of a file, while it is found out what they are."""

    def __init__(self, path: Path, frame: Frame, faults: Faults, keys: Sequence[str] = ()) -> None:
        self.path, self.frame, self.faults, self.keys = path, frame, faults, list(keys)
        self.plain = {name: _plain(name) for name in frame.names}

    def named(self, names: Sequence[str], but: Sequence[str] = ()) -> list[str]:
        """Return the columns of these names, in the order of the names."""
        there = [name for name in self.frame.names if name not in but]
        return [column for name in names for column in there if self.plain[column] == name]

    def reader(self, item: Item, annotator: str, label: str) -> dict[str, Any]:
        """Return what the columns are, as in a YAML file; raise where that is in doubt."""
        if set(self.frame.names) >= FIELDS and not (item or annotator or label):
            return {"format": "chaosnli"}
        tool = None if item or label else self._tool()
        if tool:
            return tool
        item = item or self._item()
        annotator = annotator or next(iter(self.named(_ANNOTATOR, [*columns_of(item), label])), "")
        base = {"item": item} | ({"where": self._status()} if self._status() else {})
        long = {"format": "long"} | base | ({"annotator": annotator} if annotator else {})
        if label:
            return self._by_label(long, label)
        row = item
        if not (item or annotator):
            row = next((name for name in self.named(_ROW) if not self._repeats(name)), "")
            base["item"] = row
        votes = self._columns_of_votes(row)
        if votes:
            return {"format": "columns"} | base | {"labels": votes}
        lists = [name for name in self.named(_LISTS) if _is_list(self.frame.column(name))]
        lists = [name for name in lists if not (lists[1:] and self._names_in(name))]
        answers = [name for name in self.frame.names if self.plain[name].startswith(_ANSWERS)]
        labels = self.named(_LABEL, [*columns_of(item), annotator]) or answers
        if item and len({*lists, *labels}) > 1:
            lists = [name for name in lists if not self._is_text(name, item)]
            labels = [name for name in labels if not self._is_text(name, item)]
        if len(lists) == 1 and (not annotator or self._is_by_several(item, lists[0])):
            return self._by_label(long | base, lists[0])
        if item and len(labels) > 1 and labels == answers and all(map(self._is_one_hot, labels)):
            return long | {"label": labels}
        if item and len(lists) > 1 and not (labels or annotator):
            self._doubt(
                f"several columns may hold the votes: {_listed(lists)}",
                [base | {"format": "columns", "labels": name} for name in lists[:2]],
            )
        if item and len(labels) == 1:
            if not (annotator or self._repeats(item)) and self._is_text(labels[0], item):
                self._text_or_counts(base, labels[0])
            self._refuse_one_each(long, labels[0])
            return self._by_label(long, labels[0])
        if item and labels:
            self._doubt(
                f"several columns may hold the votes: {_listed(labels)}",
                [long | {"label": name} for name in labels[:2]],
            )
        if item and (annotator or self._repeats(item)):
            self._no_label(long, item, annotator)
        return self._wide(row, base)

    def _is_text(self, name: str, item: Item) -> bool:
        """Return whether a column holds sentences, on most items another, and so no labels."""
        cells = self.frame.column(name).identifiers
        words = [len(text.split()) for text in cells.values]
        n_items = len(self.frame.key(item).values)
        return 2 * len(words) > n_items > 2 and sum(words) >= _SENTENCE * len(words)

    def _text_or_counts(self, base: dict[str, Any], text: str) -> None:
        """Refuse texts under the name of a label, beside columns of numbers that may be votes."""
        numbers = [
            name
            for name, plain in self.plain.items()
            if name != text and not self._is_measure(plain) and self._are_counts_in(name)
        ]
        if len(numbers) > 1:
            self._doubt(
                f"texts in {text!r}, and numbers in {_listed(numbers)}: which are the votes?",
                [base | {"format": "wide"}],
                numbers,
            )

    def _refuse_one_each(self, long: dict[str, Any], label: str) -> None:
        """Refuse a label that is the same in all rows of each item, where other columns differ."""
        items, cells = self.frame.key(long["item"]), self.frame.column(label)
        n_items = len(items.values)
        if n_items < 3 or 2 * n_items > len(self.frame) or not cells.is_same_within(items).all():
            return
        differ = self._differing(long, label)
        if differ:
            self._doubt(
                f"{label!r} is the same in all rows of an item, as what it is about may be; what "
                f"differs is {_listed(differ)}: which column holds the votes?",
                [long | {"label": name} for name in (*differ[:2], label)],
            )

    def _differing(self, long: Mapping[str, Any], label: str = "") -> list[str]:
        """Return columns of a few values that differ within items, as votes do."""
        items, who = self.frame.key(long["item"]), long.get("annotator", "")
        found = []
        for name, plain in self.plain.items():
            cells = self.frame.column(name)
            values = cells.identifiers.values
            is_other = name in (*columns_of(long["item"]), who, label) or self._is_measure(plain)
            if is_other or not 1 < len(values) <= _FEW_LABELS:
                continue
            if names_annotators(name, values) or look_like_people(values):
                continue
            if not cells.is_same_within(items).all():
                found.append(name)
        if not who:
            return found
        people = self.frame.key(who)  # what is said of them does not differ within them
        said = [one for one in found if not self.frame.column(one).is_same_within(people).all()]
        return said if label else said or found

    def _are_counts_in(self, name: str) -> bool:
        values = self.frame.column(name).values
        return bool(values) and all(as_count(value) is not None for value in values)

    def _is_by_several(self, item: Item, lists: str) -> bool:
        """Return whether each row is an item, and some lists hold a label twice."""
        given = map(as_list, self.frame.column(lists).values)
        are_doubled = any(len(set(map(str, one or []))) < len(one or []) for one in given)
        return are_doubled and bool(item) and not self._repeats(item)

    def _tool(self) -> dict[str, Any] | None:
        """Return the reader of a tool's export that is known by its columns."""
        names = set(self.frame.names)
        for columns, reader in _TOOLS:
            if columns <= names:
                is_there = reader["annotator"] in names
                return {"format": "long"} | reader | ({} if is_there else {"annotator": ""})
        responses = [name for name in names if name.endswith(".responses")]
        if len(responses) == 1 and f"{responses[0]}.users" in names:  # Argilla's
            (name,) = responses
            lists = [name, f"{name}.users"]
            votes: dict[str, Any] = {"format": "long", "item": self._item(), "each": lists}
            if f"{name}.status" in names:
                votes["each"] = [*lists, f"{name}.status"]
                votes["where"] = {f"{name}.status": ["submitted"]}
            return votes | {"annotator": lists[1], "label": name}
        inside = (self._inside(name) for name in self.named(_LISTS))
        return next((reader for reader in inside if reader), None)

    def _inside(self, column: str) -> dict[str, Any] | None:
        """Return the reader of a column whose cells hold objects, one for each annotation."""
        reader: dict[str, Any] = {"format": "long", "item": self._item(), "each": column}
        cells = self.frame.column(column).values
        is_keyed = all(isinstance(cell, dict) for cell in cells)
        counted = self._counts_in({"item": reader["item"]}, column)
        if counted:
            return counted
        if column == "annotations" and cells and is_keyed:
            return reader | {"annotator": "key", "label": column}
        given = [
            one for cell in cells if isinstance(cell, list) for one in cell if isinstance(one, dict)
        ]
        fields = {name: _plain(name) for one in given for name in one}
        labels = [f"{column}.{name}" for name, plain in fields.items() if plain in _LABEL]
        if labels:
            people = [f"{column}.{name}" for name, plain in fields.items() if plain in _ANNOTATOR]
            reader |= {"annotator": people[0]} if people else {}
            if len(labels) > 1:
                self._doubt(
                    f"several fields may hold the votes: {_listed(labels)}",
                    [reader | {"label": name} for name in labels[:2]],
                )
            return reader | {"label": labels[0]}
        return self._label_studio(reader, given)

    def _paths_in(self, column: str) -> list[str]:
        """Return the paths of numbers in a column's objects, or lists as long; empty for none."""
        values = self.frame.column(column).values
        objects = [as_object(value) for value in values]
        keys: list[str] = []
        numbers: list[Any] = []
        if values and all(one is not None for one in objects):
            keys = list(dict.fromkeys(key for one in objects for key in one or ()))
            numbers = [number for one in objects for number in (one or {}).values()]
        elif values and _is_list(self.frame.column(column)):
            lists = [as_list(value) or [] for value in values]
            keys = list(map(str, range(len(lists[0])))) if len(set(map(len, lists))) == 1 else []
            numbers = [number for one in lists for number in one]
        if not 2 <= len(keys) <= _FEW_LABELS or not all(map(_is_number, numbers)):
            return []
        return [f"{column}.{key}" for key in in_order(keys)]

    def _numbers_at(self, paths: Sequence[str]) -> Floats:
        """Return numbers by row and path; what is not there is 0."""
        return np.stack([self.frame.column(path).map(_number, float) for path in paths], axis=1)

    def _counts_in(self, base: dict[str, Any], column: str) -> dict[str, Any] | None:
        """Return the reader of objects with the votes for each label; None for other objects.

        They may be ratings by people who are the keys: this is asked about, without their names.
        """
        paths = self._paths_in(column)
        if not paths or self.named(_ANNOTATORS) or _is_list(self.frame.column(column)):
            return None
        numbers, plain = self._numbers_at(paths), self.plain[column]
        if numbers.min() < 0 or (numbers % 1).any():
            return None
        keys = [path.removeprefix(f"{column}.") for path in paths]
        wide = {"format": "wide"} | base | {"inside": column}
        is_clear = _add_up(numbers) or not _may_be_people(keys, numbers)
        if _SURELY.search(plain) or (_COUNTS.search(plain) and numbers.max() > 1 and is_clear):
            return wide
        add_up = _add_up(numbers) or bool(self._totals(numbers, [column]))
        if numbers.max() > 1 and (add_up or _COUNTS.search(plain)):
            keyed = {"format": "long"} | base | {"each": column, "annotator": "key"}
            self._doubt(
                f"whole numbers in the objects in {column!r}: the votes for a label each (labels: "
                "`{name: …, code: " + f"{column}.…" + "}`), or a rating by each person?",
                [wide][: 1 if is_clear else 0]
                + [keyed | {"label": column}][: 1 if base["item"] else 0],
            )
        return None

    def _totals(self, numbers: Floats, but: Sequence[str]) -> list[str]:
        """Return the columns that may say how many votes these counts or shares are of."""
        are_shares = bool((numbers % 1).any())
        found = []
        for name in self.frame.names:
            if name in but or not self._are_counts_in(name):
                continue
            stated = self.frame.column(name).map(_number, float)
            votes = numbers * stated[:, np.newaxis] if are_shares else numbers
            off = np.abs(votes - np.rint(votes)).max()
            if stated.min() > 0 and off <= _OFF and (np.rint(votes).sum(axis=1) == stated).all():
                found.append(name)
        return found

    def _ask_shares(
        self, base: dict[str, Any], said: str, paths: Sequence[str], inside: str = ""
    ) -> None:
        """Ask how many votes shares are of, where these numbers are shares."""
        if not (paths and _are_shares(numbers := self._numbers_at(paths))):
            return
        wide = {"format": "wide"} | base | {"values": "shares", "inside": inside}
        stated = self._totals(numbers, [inside, *paths])
        if not stated:
            raise self.faults.fatal(
                "There are shares, and how many votes each item has is not known.",
                f"shares in {said}",
                "a column with the number of votes beside the shares, or numbers of votes instead",
            )
        self._doubt(
            f"shares in {said}: of as many votes as {_listed(stated)} says?",
            [wide | {"n_votes": name} for name in stated[:2]],
            paths,
        )

    def _label_studio(
        self, reader: dict[str, Any], given: Sequence[dict[str, Any]]
    ) -> dict[str, Any] | None:
        """Return the reader of Label Studio's annotations; None where they are none."""
        results = [
            result
            for one in given
            if isinstance(one.get("result"), list)
            for result in one["result"]
            if isinstance(result, dict) and isinstance(result.get("type"), str)
        ]
        if not results:
            return None
        controls = {str(result.get("from_name")): str(result["type"]) for result in results}
        who = "annotations.completed_by"
        if any(isinstance(one.get("completed_by"), dict) for one in given):
            who += ".id"
        reader |= {"annotator": who, "where": {"annotations.was_cancelled": [False]}}
        if len(controls) > 1:
            self._doubt(
                f"people answered several questions: {_listed(list(controls))}",
                [
                    reader | {"label": f"annotations.result.{k}.value.{kind}"}
                    for k, kind in enumerate(list(controls.values())[:2])
                ],
            )
        (kind,) = controls.values()
        return reader | {"label": f"annotations.result.value.{kind}"}

    def part_of_key(self, reader: Mapping[str, Any]) -> str:
        """Return a column that tells apart what the rows of one item hold; empty for none."""
        item = reader.get("item", "")
        if reader["format"] != "long" or not item or reader.get("each"):
            return ""
        items = self.frame.key(item)
        if any(map(is_rounded, items.values)):
            return ""  # which is a fault
        taken = {*columns_of(item), reader.get("annotator"), *reader.get("where", {})}
        taken |= {*columns_of(reader["label"])}
        who = reader.get("annotator")
        people = self.frame.column(who).identifiers if who else None
        names = [name for name in self.frame.names if name not in taken]
        labels = self.frame.key(reader["label"])
        parts = (
            one
            for one in names
            if is_part_of_key(one, self.frame.column(one), items, people, labels)
        )
        finer = next(parts, "")
        if names and not finer and people is not None:
            return self._question(items, people, names)
        return shorter_part(finer, names, columns_of(item), self.frame) if finer else ""

    def _question(self, items: Column, people: Column, names: Sequence[str]) -> str:
        """Return a column that tells apart the votes of each person on an item; empty for none."""
        n_votes = int(((items.codes >= 0) & (people.codes >= 0)).sum())
        if 2 * n_votes < 3 * _n_kinds(items, people):
            return ""  # hardly anyone votes twice
        for name in names:
            cells = self.frame.column(name).identifiers
            is_number = all(as_number(value) is not None for value in cells.values)  # or a round
            if self._is_measure(self.plain[name]) or (is_number and "question" not in name.lower()):
                continue
            is_asked = 2 * _n_kinds(items, cells) > len(cells.values) * len(items.values)
            if is_asked and len(cells.values) > 1 and _n_kinds(items, people, cells) == n_votes:
                return name
        return ""

    def check_people(self, reader: Mapping[str, Any]) -> None:
        """Ask about votes by whoever is called gold or majority, and may be no person."""
        if reader["format"] not in ("long", "columns"):
            return
        people = annotators_of(self.frame, reader)
        none = sorted(name for name in people if _NO_PERSON.fullmatch(_plain(name)))
        if none and len(people) > len(none):
            self._ask(
                "annotators",
                [f"a person's votes, or labels made of others' votes: those by {_listed(none)}?"],
                self._readings(self.layout({"item": ""} | dict(reader)))[1][-1:],
                ", or remove these votes",
            )

    def refuse_key(self, reader: Mapping[str, Any], finer: str) -> None:
        """Refuse votes on several items that the file's columns make one."""
        item = columns_of(reader["item"])
        key = self.key_of(item, finer)
        who = reader.get("annotator")
        is_fault = bool(who) and self._repeats([*item, str(who)])  # a second vote by a person
        self._doubt(
            f"{finer!r} differs within {_listed(item)}, with several votes on each: "
            f"is that one item, or do several columns name an item (--item {','.join(key)})?",
            [{**reader, "item": key}] + ([] if is_fault else [{**reader}]),
        )

    def key_of(self, item: Sequence[str], finer: str) -> list[str]:
        """Return the columns that name an item together: one as a batch stands where it does."""
        places = {name: place for place, name in enumerate(self.frame.names)}
        is_before = all(places.get(finer, -1) < places.get(name, -1) for name in item)
        return [finer, *item] if is_before else [*item, finer]

    def check_texts(self, layout: Layout) -> None:
        """Ask about a text that differs within a few items, and is one within all others."""
        reader = dict(layout.reader)
        if reader["format"] != "long" or not reader["item"] or reader.get("each"):
            return
        frame = self._rows(reader)
        items, people = frame.key(reader["item"]), annotators_of(frame, reader)
        if any(map(is_rounded, items.values)):
            return  # which is a fault
        for name in layout.others:
            ids = differs_in(name, frame.column(name), items, people, layout.labels)
            if not ids:
                continue
            item = columns_of(reader["item"])
            key = self.key_of(item, shorter_part(name, layout.others, item, frame))
            rounded = "identifiers end in zeros, as a spreadsheet rounds long numbers; "
            rounded = rounded if are_rounded(items.values) else ""
            self._doubt(
                f"{rounded}{name!r} differs within {len(ids):,} of "
                f"{counted(len(items.values), 'item')} ({_listed(ids)}), and is one text within "
                "the others: is each one item, or do "
                f"several columns name an item (--item {','.join(key)})?",
                [reader, reader | {"item": key}],
            )

    def _several_ids(self) -> None:
        """Refuse a file whose items two columns name, such as a post and a reply to it."""
        ids = [name for name, plain in self.plain.items() if re.search(r"(^|_)ids?$", plain)]
        names = [name for name in ids if not names_annotators(name) and self._repeats(name)]
        if len(names) < 2:
            return
        base = {"format": "long", "label": next(iter(self.named(_LABEL)), "label")}
        base |= {"annotator": next(iter(self.named(_ANNOTATOR, names)), "")}
        self._doubt(
            f"several columns may name the items, or all of them together (--item "
            f"{','.join(names[:2])}): {_listed(names)}",
            [{**base, "item": one} for one in (names[:2], *names[:2])],
        )

    def _item(self) -> str:
        """Return the column of the items; empty for none."""
        known = self.named(_ITEM)
        inputs = [name for name in self.frame.names if self.plain[name].startswith("input_")]
        if not known and len(inputs) == 1:
            return inputs[0]
        if len(known) < 2 or self.plain[known[0]] in _ITEM[:2]:
            return known[0] if known else ""
        repeated = [name for name in known if self._repeats(name)]
        if not repeated:
            return known[0]  # each row is an item
        if len(repeated) > 1:
            first, second = (self.frame.column(name).identifiers.codes for name in repeated[:2])
            if (first != second).any():
                base = {"format": "long", "label": next(iter(self.named(_LABEL)), "label")}
                readers: list[dict[str, Any]] = [base | {"item": name} for name in repeated[:2]]
                n_pairs = len(self.frame.key(repeated[:2]).values)
                if n_pairs > max(len(self.frame.key(name).values) for name in repeated[:2]):
                    readers.append(base | {"item": repeated[:2]})
                self._doubt(
                    f"several columns may name the items, or all of them together (--item "
                    f"{','.join(repeated[:2])}): {_listed(repeated)}",
                    readers,
                )
        return repeated[0]

    def _repeats(self, name: Item) -> bool:
        """Return whether a value of a column, or of several, stands in several rows."""
        cells = self.frame.key(name)
        return bool((cells.codes >= 0).sum() > len(cells.values))

    def _status(self) -> dict[str, list[Any]]:
        """Return which rows count, where a column says that some do not."""
        counted: dict[str, list[Any]] = {}
        for name, plain in self.plain.items():
            if plain in _STATUS:
                counted[name] = list(_STATUS[plain])
            elif plain == "status" or plain.endswith("_status"):
                cells = self.frame.column(name).identifiers
                kept = [one for one in cells.values if one.casefold() not in _NOT_COUNTED]
                if 0 < len(kept) < len(cells.values) and (cells.codes >= 0).all():
                    counted[name] = kept
        return counted

    def _is_one_hot(self, name: str) -> bool:
        values = {str(value).strip().casefold() for value in self.frame.column(name).values}
        return bool(values) and values <= {"true", "false", "0", "1", "0.0", "1.0", ""}

    def _by_label(self, long: dict[str, Any], label: str) -> dict[str, Any]:
        """Return the reader of votes in this column: one in each row, or a list."""
        cells = self.frame.column(label)
        base = {key: value for key, value in long.items() if key in ("item", "where")}
        counted = self._counts_in(base, label)
        if counted:
            return counted
        self._ask_shares(base, repr(label), self._paths_in(label), label)
        if self._holds_objects(label):
            self._refuse_objects(label)
        one_each = all(len(as_list(value) or [0]) == 1 for value in cells.values)
        if one_each or not _is_list(cells) or self._is_by_person(long, label):
            return long | {"label": label}
        who = next(iter(self.named(_ANNOTATORS)), "")
        columns = {"format": "columns"} | base | {"labels": label}
        columns |= {"annotators": who} if who else {}
        lists = [as_list(value) or [] for value in cells.values]
        if not who:
            self._list_of_counts(columns, label, lists)
        repeated = any(len(set(map(str, one))) < len(one) for one in lists)
        if not (repeated or who or self.plain[label] not in _LABEL):
            self._doubt(
                f"lists in {label!r}, none of which holds a label twice: the votes of several "
                "people, or several labels by one?",
                [columns, long | {"each": label, "label": label}],
            )
        return columns

    def _holds_objects(self, name: str) -> bool:
        values = self.frame.column(name).values
        return any(isinstance(value, dict) or _holds_objects(value) for value in values)

    def _refuse_objects(self, label: str) -> NoReturn:
        raise self.faults.fatal(
            f"The column {label!r} holds objects, not labels.",
            "an object in a cell",  # whose keys may be annotators' names
            "labels",
            "say where the labels stand in a dataset's YAML file: reader.each, and a dotted "
            "path as reader.label; from Label Studio, export JSON instead of JSON-MIN",
        )

    def _is_by_person(self, long: Mapping[str, Any], lists: str) -> bool:
        """Return whether each row is one person's, who may have chosen several labels."""
        who = long.get("annotator")
        if self._repeats(long["item"]):
            return True
        is_one = bool(who) and not _is_list(self.frame.column(str(who)))
        return is_one and not self._is_by_several(long["item"], lists)

    def _list_of_counts(
        self, columns: dict[str, Any], label: str, lists: Sequence[Sequence[Any]]
    ) -> None:
        """Refuse lists of whole numbers that may be the votes for a label each."""
        if _are_counts(lists):
            names = next(filter(None, map(self._names_in, self._lists_beside(label))), [])
            if len(set(map(len, lists))) == 1 and (
                names or _may_be_votes(lists) or self._has_total(label)
            ):
                self._doubt_counts(columns, label, names or [""] * len(lists[0]))
        elif all(len(set(map(str, one))) == len(one) for one in lists):
            for name in self._lists_beside(label):
                if not self._is_measure(self.plain[name]) and _are_counts(
                    [as_list(one) or [] for one in self.frame.column(name).values]
                ):
                    self._doubt_counts(columns, name, self._names_in(label))

    def _has_total(self, label: str) -> bool:
        """Return whether another column says what the numbers in each list add up to."""
        paths = self._paths_in(label)
        numbers = self._numbers_at(paths) if paths else np.zeros((1, 1))
        return bool(numbers.max() > 1 and self._totals(numbers, [label]))

    def _lists_beside(self, label: str) -> list[str]:
        """Return the other columns of lists that are as long in every row."""
        lengths = self.frame.column(label).map(_length, int)
        return [
            name
            for name in self.frame.names
            if name != label
            and _is_list(self.frame.column(name))
            and (self.frame.column(name).map(_length, int) == lengths).all()
        ]

    def _names_in(self, column: str) -> list[str]:
        """Return the words that a column lists, the same in every row; empty for others."""
        lists = {tuple(map(str, as_list(one) or [])) for one in self.frame.column(column).values}
        names = lists.pop()
        are_names = not lists and len(set(names)) == len(names)
        return list(names) if are_names and all(as_number(one) is None for one in names) else []

    def _doubt_counts(self, columns: dict[str, Any], counts: str, names: Sequence[str]) -> None:
        """Refuse lists that may be counts; `names` are of their places, none if rows differ."""
        places = [f"{counts}.{k}" for k in range(len(names))]
        wide = {key: value for key, value in columns.items() if key != "labels"}
        labels = [{"name": name or place, "code": place}
                  for name, place in zip(names, places, strict=True)]  # fmt: skip
        texts = []
        if places:
            layout = self.layout(wide | {"format": "wide"}, places)
            texts = self._texts(layout, [{"labels": labels}])
        why = f"whole numbers are listed in {counts!r}: the votes for a label each"
        if not all(names):
            why += " (say which: `{name: …, code: " + f"{counts}.0" + "}`)"
        texts += self._readings(self.layout(columns))[1]
        self._ask("columns", [f"{why}, or a rating by each person?"], texts)

    def _columns_of_votes(self, item: Item) -> list[str]:
        """Return columns such as rater_1 to rater_n, which hold a vote each."""
        stems: dict[str, list[str]] = {}
        for name, plain in self.plain.items():
            match = _NUMBERED.fullmatch(plain)
            if match and match[1] in (*_ANNOTATOR, *_LABEL):
                stems.setdefault(match[1], []).append(name)
        found = [(stem, names) for stem, names in stems.items() if len(names) > 1]
        if item and self._repeats(item):
            return []
        beside = self._votes_beside_people()
        if beside or len(found) != 1:
            return beside
        stem, names = found[0]
        values = [set(_votes([self.frame.column(name)], in_lists=False)) for name in names]
        columns = Counter(value for one in values for value in one)
        are_like = all(any(columns[value] > 1 for value in one) for one in values)
        are_counts = all(as_count(value) is not None for one in values for value in one)
        if not are_like or (stem in _LABEL and are_counts):
            base = {"item": item}
            self._doubt(
                f"the columns {_listed(names)} may hold a vote each, or the votes for a label each",
                [base | {"format": "columns", "labels": names}, base | {"format": "wide"}],
                names,
            )
        return names

    def _votes_beside_people(self) -> list[str]:
        """Return columns such as rater_1_label, where rater_1 says who that is; empty for none.

        No one is named twice in a row, as labels are. Names that stand beside no votes are refused.
        """
        groups: dict[tuple[str, str], dict[str, str]] = {}
        for name, plain in self.plain.items():
            match = re.fullmatch(r"(.*?)_?([0-9]+)(?:_(.*))?", plain)
            if match:
                groups.setdefault((match[1], match[3] or ""), {})[match[2]] = name
        who = {stem: names for stem, names in groups.items() if self._are_people([*names.values()])}
        for (head, _), people in who.items():
            pairs = {
                stem: [names[number] for number in people]
                for stem, names in groups.items()
                if stem not in who and people.keys() <= names.keys()
            }
            found = [names for stem, names in pairs.items()
                     if {*"_".join(stem).split("_")} & {*_LABEL}]  # fmt: skip
            values = [one for name in people.values() for one in self.frame.column(name).values]
            if not (found or look_like_people(values)):
                continue
            found = found or [
                names for stem, names in pairs.items()
                if stem[0] == head and len(_votes(map(self.frame.column, names), in_lists=False))
                <= min(_FEW_LABELS, len(self.frame))
            ]  # fmt: skip
            if len(found) == 1:
                return found[0]
            raise self.faults.fatal(
                "Columns that may hold votes look like the names of people.",
                _listed([*people.values()]),
                "labels",
                "say which columns hold the votes in a dataset's YAML file: reader.format: "
                "columns, and their names as reader.labels",
            )
        return []

    def _are_people(self, names: Sequence[str]) -> bool:
        """Return whether columns that are called after annotators name another in each place."""
        columns = [self.frame.column(name).identifiers for name in names]
        if len(names) < 2 or not all(map(names_annotators, names, (one.values for one in columns))):
            return False
        rows = zip(*(one.map(lambda value: value) for one in columns), strict=True)
        several = [there for row in rows if (there := [one for one in row if one is not None])[1:]]
        alike = sum(len(set(there)) < len(there) for there in several)
        return _BY_CHANCE * len(several) >= alike and bool(several)

    def _no_label(self, long: dict[str, Any], item: Item, annotator: str) -> None:
        """Say which column may hold the votes."""
        differ = self._differing(long)
        may_be = [name for name in differ if not self._holds_objects(name)]
        if differ and not may_be:
            self._refuse_objects(differ[0])
        if not may_be:
            raise self.faults.fatal(
                "The column of the votes is not recognised.",
                f"columns {_listed(self.frame.names)}",
                todo="name it: --label",
            )
        several = [name for name in may_be if self._is_one_hot(name)]
        readers = [long | {"label": name} for name in may_be if name not in several[2:]]
        if several[2:]:
            taken = (*columns_of(item), annotator)
            every = [name for name, plain in self.plain.items() if name not in taken
                     and not self._is_measure(plain) and self._is_one_hot(name)]  # fmt: skip
            self._refuse_several_set(every)
            readers = [long | {"label": every}, *readers]
        self._doubt(
            f"a row per vote, by {_listed([*columns_of(item), *filter(None, [annotator])])}; no "
            f"column is called label, and {_listed(may_be)} may be meant",
            readers[:2],
        )

    def _refuse_several_set(self, labels: Sequence[str]) -> None:
        """Refuse a column for each label, of which some rows set several or none."""
        n_set = np.sum([self.frame.column(name).map(is_set, int) for name in labels], axis=0)
        n_odd = int((n_set != 1).sum())
        if n_odd:
            raise self.faults.fatal(
                "Each label has a column, and not every row sets one of them.",
                f"{counted(n_odd, 'row')} of {len(self.frame):,} that set several or none of "
                f"{_listed(labels)}",
                "one label for each vote",
                "write a row for each label that a person gave, and none where they gave none",
            )

    def _is_measure(self, plain: str) -> bool:
        """Return whether a column of this name counts no votes, and is none."""
        return plain in (*_ITEM, *_ANNOTATOR) or _MEASURE.search(plain) is not None

    def _wide(self, item: Item, base: dict[str, Any]) -> dict[str, Any]:
        """Return the reader of a table of counts or shares."""
        numbers: list[str] = []
        odd: list[str] = []
        every: list[Any] = []
        for name, plain in self.plain.items():
            if not item or name in (*columns_of(item), _N_VOTES):
                continue
            values = self.frame.column(name).values
            if any(as_number(value) is not None for value in values):
                is_odd = self._is_measure(plain)
                (odd if is_odd else numbers).append(name)
                every += [] if is_odd else values
        if any(_number(value) < 0 for value in every):
            self._doubt(
                f"numbers below 0 in {_listed(numbers)}: the vote of a person in each column?",
                [base | {"format": "columns", "labels": numbers}],
            )
        lists = self.named(_LISTS)
        inside = self._wide_inside(base, item, len(numbers))
        if inside:
            return inside
        if not numbers and not odd:
            self._several_ids()
            raise self.faults.fatal(
                "The columns of items and votes are not recognised.",
                f"columns {_listed(self.frame.names)}",
                todo=_NAME,
            )
        total = self._total_of(base, numbers, odd)
        numbers = [name for name in numbers if name != total]
        odd = [name for name in odd if name != total]
        are_shares = any(as_count(value) is None for value in every) and all(
            as_share(value) is not None for value in every
        )
        stated = {_N_VOTES: _N_VOTES} if _N_VOTES in self.frame.names else {}
        stated |= {_N_VOTES: total} if total else {}
        other = [] if are_shares else self._no_counts(numbers)
        numbers = [name for name in numbers if name not in other]
        if not are_shares:
            self._ask_percentages(base, numbers, is_stated=bool(stated))
        may_be_ratings = not (are_shares or stated) and self._may_be_ratings(numbers)
        self._ask_beside(base, numbers, [*odd, *other], lists, may_be_ratings=may_be_ratings)
        if may_be_ratings:
            self._ask_ratings(base, numbers)
        if are_shares and not stated:
            raise self.faults.fatal(
                "The columns hold shares, and how many votes each item has is not known.",
                f"columns {_listed(numbers)}",
                f"a column {_N_VOTES} beside the shares, or numbers of votes instead",
            )
        return {"format": "wide"} | base | stated | ({"values": "shares"} if are_shares else {})

    def _ask_beside(
        self,
        base: dict[str, Any],
        numbers: Sequence[str],
        odd: Sequence[str],
        lists: Sequence[str],
        *,
        may_be_ratings: bool,
    ) -> None:
        """Ask about counts beside odd numbers, or lists, that may be the votes."""
        if not (odd or lists):
            return
        by_person = {"format": "columns", "labels": numbers}
        readers: list[dict[str, Any]] = [{"format": "columns", "labels": one} for one in lists[:1]]
        if len(numbers) > 1:
            readers += [*([by_person] if may_be_ratings else []), {"format": "wide"}]
        few = [name for name in odd if self._is_measure(self.plain[name])
               and len(self.frame.column(name).values) <= _MOST_RATING]  # fmt: skip
        readers += [
            {"format": "long", "label": name} for name in (few if len(numbers) > 1 else odd)
        ]
        self._doubt(
            f"numbers in {_listed([*numbers, *odd])}: are they votes for these labels?",
            [base | reader for reader in readers[:2]],
            numbers,
        )

    def _ask_ratings(self, base: dict[str, Any], numbers: Sequence[str]) -> None:
        """Refuse small numbers that may be a rating by each person; where some lack, they are."""
        has_gaps = any(map(self._has_gaps, numbers))
        by_person = {"format": "columns", "labels": numbers}
        readers: list[dict[str, Any]] = [by_person, {"format": "wide"}]
        self._doubt(
            f"small numbers in {_listed(numbers)}{', and cells without one' * has_gaps}: the "
            f"votes for each label{' (then write 0 for none)' * has_gaps}, a rating by each "
            "person, or an answer to a question each (name one: --label)?",
            [base | reader for reader in readers[: 1 if has_gaps else 2]],
            numbers,
        )

    def _wide_inside(
        self, base: dict[str, Any], item: Item, n_columns: int
    ) -> dict[str, Any] | None:
        """Return the reader of counts in objects or lists; ask about shares and lists in them."""
        there = [name for name in self.frame.names if name not in columns_of(item)]
        found = {name: paths for name in there if (paths := self._paths_in(name))}
        counted = [reader for name in found if (reader := self._counts_in(base, name))]
        if len(counted) > 1:
            columns = [str(reader["inside"]) for reader in counted]
            self._doubt(f"several columns may hold the votes: {_listed(columns)}", counted[:2])
        if counted:
            return counted[0]
        for name, paths in found.items():
            if len(paths) != n_columns:  # of which they may be the shares
                self._ask_shares(base, repr(name), paths, name)
                if _COUNTS.search(self.plain[name]) and _is_list(self.frame.column(name)):
                    listed = {"format": "columns"} | base | {"labels": name}
                    names = next(filter(None, map(self._names_in, self._lists_beside(name))), [])
                    self._doubt_counts(listed, name, names or [""] * len(paths))
        return None

    def _total_of(self, base: dict[str, Any], numbers: Sequence[str], odd: Sequence[str]) -> str:
        """Return the column that is the sum of the columns of counts; empty for none."""
        if len(numbers) < 2 or len(self.frame) < 3 or _N_VOTES in self.frame.names:
            return ""
        values = self._numbers_at(numbers)
        total = values.sum(axis=1)
        if (values % 1).any():
            for name in numbers if 2 < len(numbers) <= _FEW_LABELS else ():
                rest = [one for one in numbers if one != name]
                self._ask_shares(base, _listed(rest), rest)
            return ""
        if values.max() <= 1 or not np.ptp(values, axis=0).any():
            return ""
        is_sum = [bool((2 * values[:, k] == total).all()) for k in range(len(numbers))]
        found = [name for name, one in zip(numbers, is_sum, strict=True) if one]
        found = found if len(numbers) > 2 else []
        found += [name for name in odd if (self._numbers_at([name])[:, 0] == total).all()]
        is_sure = len(found) == 1 and bool(
            len(self.frame) >= _MANY_ROWS or _TOTAL.search(self.plain[found[0]])
        )
        return found[0] if is_sure else ""

    def _may_be_ratings(self, names: Sequence[str]) -> bool:
        """Return whether columns of numbers look like one rating by each of several people."""
        columns = [self.frame.column(name).map(lambda v: as_count(v) or 0, float) for name in names]
        if len(columns) < 2 or len(self.frame) < _MANY_ROWS:
            return False
        counts = np.stack(columns)
        given = counts > 0  # who has not seen an item may give it 0
        is_rarely_alone = (given.sum(axis=0) < 2).mean() <= _BY_CHANCE
        is_one_scale = 2 * counts.max(axis=1).min() > counts.max()
        are_people = all(map(_ID.fullmatch, names)) or (
            len(names) >= _MANY_COLUMNS and is_rarely_alone
        )
        may_have_gaps = (is_one_scale and are_people) or any(map(self._has_gaps, names))
        are_small = counts.max() == 1 or (
            counts.max() <= _MOST_RATING and bool(given.all() or may_have_gaps)
        )
        return bool(are_small and np.ptp(counts.sum(axis=0)))

    def _has_gaps(self, name: str) -> bool:
        """Return whether a column of numbers has cells without one, as no count has."""
        cells = self.frame.column(name)
        return bool((cells.codes < 0).any()) or any(as_number(v) is None for v in cells.values)

    def _no_counts(self, names: Sequence[str]) -> list[str]:
        """Return columns of numbers that are not counted beside others which are.

        They are percentages, have fractions, or vary where the others have one sum.
        """
        other = [
            name
            for name in names
            if _PERCENT.search(name)
            or any(_number(value) % 1 for value in self.frame.column(name).values)
        ]
        if len(other) + 1 >= len(names):
            return []
        counts = [name for name in names if name not in other]
        values = self._numbers_at(counts)
        if len(counts) < 3 or _add_up(values):
            return other
        return other + [
            name
            for k, name in enumerate(counts)
            if self.plain[name] == "target"
            or (np.ptp(values[:, k]) and _add_up(np.delete(values, k, axis=1)))
        ]

    def _ask_percentages(
        self, base: dict[str, Any], names: Sequence[str], *, is_stated: bool
    ) -> None:
        """Refuse percentages, as it is not known of how many votes; ask where they may be some."""
        if len(names) < 2:
            return
        values = self._numbers_at(names)
        add_up = len(values) > 2 and bool((np.abs(values.sum(axis=1) - 100) <= 1).all())
        if sum(map(bool, map(_PERCENT.search, names))) > 1 or (add_up and (values % 1).any()):
            raise self.faults.fatal(
                "The columns hold percentages, and how many votes each item has is not known.",
                f"columns {_listed(names)}",
                f"shares from 0 to 1 and a column {_N_VOTES}, or numbers of votes instead",
            )
        n_parts = len(np.unique(values))
        are_few = n_parts <= _PARTS and 2 * n_parts < values.size
        if add_up and not is_stated and (are_few or np.gcd.reduce(values.astype(int).flat) > 1):
            self._doubt(
                f"{_listed(names)} add up to 100 on each item: 100 votes, or percentages of fewer? "
                f"(Of percentages, write shares from 0 to 1 and a column {_N_VOTES}.)",
                [base | {"format": "wide"}],
                names,
            )

    def _rows(self, reader: Mapping[str, Any]) -> Frame:
        """Return the rows that a reader reads."""
        frame, each = self.frame, reader.get("each", ())
        if each:
            frame = frame.each((each,) if isinstance(each, str) else tuple(each), self.faults)
        return frame.where(reader["where"], self.faults) if reader.get("where") else frame

    def layout(self, reader: dict[str, Any], numbers: Sequence[str] = ()) -> Layout:
        """Return a reader with the labels that it finds."""
        if reader["format"] == "chaosnli":
            return self._in_chaosnlis_format()
        reader = {key: value for key, value in reader.items() if value or key == "item"}
        inside = reader.pop("inside", "")
        label_names: dict[str, str] = {}
        reader |= {"keys": self.keys} if self.keys else {}
        used = {*columns_of(reader["item"]), reader.get("annotator"), reader.get("n_votes"), "key"}
        used |= {reader.get("annotators"), *reader.get("where", {})}
        each = reader.get("each", ())
        each = (each,) if isinstance(each, str) else tuple(each)
        used |= set(each)
        frame = self._rows(reader)
        answers: list[Column] = []
        if reader["format"] == "wide":
            if inside:
                numbers, label_names = self._labels_inside(inside)
            numbers = numbers or [
                name
                for name in frame.names
                if name not in used
                and any(as_number(value) is not None for value in frame.column(name).values)
            ]
            used |= {*numbers, inside}
            numbers_in = {name: frame.column(name).map(_number, float) for name in numbers}
            votes = Counter({name: int(given.sum()) for name, given in numbers_in.items()})
        elif reader["format"] == "long" and not isinstance(reader["label"], str):
            used |= set(reader["label"])
            votes = Counter(
                {name: int(frame.column(name).map(is_set, bool).sum()) for name in reader["label"]}
            )
        else:
            names = reader.get("labels") or reader["label"]
            names = [names] if isinstance(names, str) else names
            answers = [frame.column(name) for name in names]
            votes = _votes(answers, in_lists=isinstance(reader.get("labels"), str))
            used |= set(names)
        labels = tuple(in_order(votes) if answers else votes)
        others = [name for name in self.frame.names if name not in used]
        who = reader.get("annotator")
        lacks = bool(who and (frame.column(who).identifiers.codes < 0).any())
        several = not isinstance(reader.get("labels"), str) and any(
            isinstance(unwrap_single(value), list) for cells in answers for value in cells.values
        )
        return Layout(reader, labels, tuple(others), lacks, votes, several, names=label_names)

    def _labels_inside(self, column: str) -> tuple[list[str], dict[str, str]]:
        """Return where the numbers of labels stand in a column, and the labels' names."""
        paths = self._paths_in(column)
        if not _is_list(self.frame.column(column)):
            return paths, {path: path.removeprefix(f"{column}.") for path in paths}
        names = next(filter(None, map(self._names_in, self._lists_beside(column))), [])
        return paths, dict(zip(paths, names, strict=False))

    def _in_chaosnlis_format(self) -> Layout:
        """Return what a file in this format holds, whose labels are those of its counters."""
        codes, usual, row = order_of(self.frame, self.faults)
        others = tuple(name for name in self.frame.names if name not in FIELDS | _STATED)
        layout = Layout(
            {"format": "chaosnli"}, tuple(codes), others, names=names_of(codes, self.frame)
        )
        if codes != usual:
            counter, count = (self.frame.column(name)[row] for name in _COUNTERS)
            self._ask(
                "labels",
                [
                    f"{_COUNTERS[1]!r} is in the order {', '.join(codes)}, as {_COUNTERS[0]!r} "
                    f"tells, and not in that of the format, {', '.join(usual)}: on "
                    f"{self.frame.place(row)}, {count} beside {counter}"
                ],
                self._texts(layout, [{"labels": codes}]),
            )
        return layout

    def _doubt(
        self, why: str, readers: Sequence[dict[str, Any]], numbers: Sequence[str] = ()
    ) -> None:
        """Refuse a file that may be read in two ways, and show both."""
        whys, texts = [why], []
        for reader in readers:
            more, described_as = self._readings(self.layout({"item": ""} | reader, numbers))
            whys += [one for one in more if one not in whys]
            texts += described_as
        self._ask("columns", whys, texts, ", or name the columns: --item, --annotator, --label")

    def _ask(self, what: str, why: Sequence[str], texts: Sequence[str], else_: str = "") -> None:
        """Refuse a file in which something may mean two things, or nothing that can be shown."""
        if not texts:
            raise self.faults.fatal(
                f"The {what} of this votes file are not recognised.",
                "; ".join(why),
                todo=_NAME
                if what == "columns"
                else "correct the file: one spelling for each "
                "label, and empty cells for no answer; or describe the dataset in a YAML file",
            )
        raise self.faults.fatal(
            "It is unclear who the annotators in this file are."
            if what == "annotators"
            else f"It is unclear what the {what} in this file mean.",
            "; ".join(why),
            ("one of these YAML files:\n" if texts[1:] else "this YAML file:\n")
            + "# or\n".join(texts),
            ("save the one that is meant" if texts[1:] else "save it, if this is what you mean,")
            + f" beside the votes{else_}",
        )

    def check_labels(self, layout: Layout) -> None:
        """Ask about labels that may be meant otherwise than they stand."""
        if are_lists(layout.labels):
            raise self.faults.fatal(
                "The labels look like whole lists of labels.",
                shorten(layout.labels[0]),
                "lists in JSON, or separated by commas, or a row per vote",
                "correct the file, or name another column: --label",
            )
        why, texts = self._readings(layout)
        if why:
            self._ask("labels", why, texts)

    def _readings(self, layout: Layout) -> tuple[tuple[str, ...], list[str]]:
        """Return what is in doubt about the labels, and the YAML files that they may be."""
        as_they_stand: dict[str, Any] = {"labels": list(layout.labels)}
        if len(layout.labels) > _MOST_LABELS or layout.rating:
            return (), self._texts(layout, [as_they_stand])
        if layout.format == "chaosnli":
            return (), self._texts(layout, [as_they_stand])
        if layout.format == "wide":
            named = {layout.names.get(name, name): name for name in layout.labels}
            none = [named[name] for name in no_votes(list(named))]
            left = [name for name in layout.labels if name not in none]
            if not none or len(left) < 2:
                return (), self._texts(layout, [as_they_stand])
            asked = f"no answers, or votes for a label: {_listed(none)}?"
            return (asked,), self._texts(layout, [{"labels": left}, as_they_stand])
        other = other_reading(layout.votes, partial(self._is_apart, layout))
        why = other.why if other else ()
        meant = {"labels": other.labels, "reader": other.reader} if other else as_they_stand
        if layout.several:
            why = ("some answers are lists: one person may choose several labels?", *why)
            meant |= {"reader": {"separator": ","} | (other.reader if other else {})}
        both = [meant] if layout.several or not other else [meant, as_they_stand]
        return why, self._texts(layout, both)

    def _texts(self, layout: Layout, readings: Sequence[dict[str, Any]]) -> list[str]:
        """Return YAML files with these labels, where they are few and make a dataset."""
        texts = []
        for one in readings:
            with suppress(ChaosError):
                if 2 <= len(one["labels"]) <= _FEW_LABELS:
                    texts.append(yaml_of(to_dataset(self.path, layout, one)))
        return texts

    def _is_apart(self, layout: Layout, name: str) -> bool:
        """Return whether a label looks like no answer by where it stands.

        People agree on where no better than by chance, and it is given often (or below 0); or, if
        it is a number such as -1, it is most of the answers, and never all of those on an item.
        """
        share = layout.votes[name] / sum(layout.votes.values())
        is_table = layout.format == "columns"
        rare = share < _OFTEN and not name.startswith("-")
        if rare or (share <= 1 / 2 and not (is_code(name) or is_table)):
            return False
        given, n = self._by_item(layout.reader, name)
        if len(n) < _MANY_ROWS:
            return False
        differ = 2 * (given * (n - given)).sum() / max((n * (n - 1)).sum(), 1)
        by_chance = bool(1 - differ / (2 * share * (1 - share)) <= _BY_CHANCE)
        if is_code(name):
            return by_chance or bool(share > 1 / 2 and (given < n).all())
        is_padded = is_table and not (np.ptp(given) or np.ptp(n))
        return bool(is_padded or (share > 1 / 2 and by_chance))

    def _by_item(self, reader: Mapping[str, Any], name: str) -> tuple[Any, Any]:
        """Return how often each item has this label, and how many answers it has."""

        def is_it(value: Any) -> bool:
            return as_identifier(unwrap_single(value)) == name

        frame, empty = self._rows(reader), np.empty(0)
        if reader["format"] == "long":
            if not (isinstance(reader["label"], str) and reader["item"]):
                return empty, empty
            items, cells = frame.key(reader["item"]), frame.column(reader["label"])
            there = (items.codes >= 0) & (cells.codes >= 0)
            at = items.codes[there]
            given, n = np.bincount(at, cells.map(is_it, float)[there]), np.bincount(at)
        elif isinstance(reader["labels"], str):
            lists = frame.column(reader["labels"]).map(lambda value: as_list(value) or [])
            given = np.array([sum(map(is_it, one)) for one in lists])
            n = np.array(list(map(len, lists)))
        else:
            columns = [frame.column(one) for one in reader["labels"]]
            given = np.sum([one.map(is_it, float) for one in columns], axis=0)
            n = np.sum(
                [one.map(lambda value: value not in (None, ""), float) for one in columns], 0
            )
        return given[n > 0], n[n > 0]


def _n_kinds(*columns: Column) -> int:
    """Return how many different rows columns have, but for those that lack a value."""
    there = np.all([cells.codes >= 0 for cells in columns], axis=0)
    kind = columns[0].codes[there].astype(np.int64)
    for cells in columns[1:]:
        kind = np.unique(kind * len(cells.values) + cells.codes[there], return_inverse=True)[1]
    return int(kind.max()) + 1 if len(kind) else 0


def columns_of(item: Item) -> tuple[str, ...]:
    """Return the columns that name an item."""
    return tuple(item) if not isinstance(item, str) else (item,) if item else ()


def _is_list(cells: Column) -> bool:
    """Return whether cells hold lists: in JSON, or separated by commas."""
    values = cells.values
    if all(as_object(value) is not None for value in values):
        return False
    if any(isinstance(value, list) for value in values):
        return all(isinstance(value, list) for value in values)
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    if len(texts) < len(values) or not any(len(as_list(one) or []) > 1 for one in texts):
        return False
    parts = {str(part) for one in texts for part in as_list(one) or []}
    return all(one.startswith("[") for one in texts) or len(parts) <= min(_FEW_LABELS, len(texts))


def _length(value: object) -> int:
    return len(as_list(value) or [])


def _are_counts(lists: Iterable[Sequence[Any]]) -> bool:
    return all(as_count(value) is not None for one in lists for value in one)


def _may_be_votes(lists: Sequence[Sequence[Any]]) -> bool:
    """Return whether whole numbers are more than ratings are, or add up to the same everywhere."""
    counts = [tuple(as_count(value) or 0 for value in one) for one in lists]
    sums = set(map(sum, counts))
    add_up = len(counts) > 2 and len(set(counts)) > 1 and len(sums) == 1 and min(sums) > 1
    numbers = {str(number) for one in counts for number in one}
    return add_up or max(map(int, numbers.difference(no_votes(list(numbers))))) > _MOST_RATING


def _holds_objects(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(one, dict | list) for one in value)


def _votes(columns: Iterable[Column], *, in_lists: bool) -> Counter[str]:
    """Return how often each label stands in columns of labels, or of lists of them."""
    votes: Counter[str] = Counter()
    for cells in columns:
        times = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.values))
        for value, n in zip(cells.values, times.tolist(), strict=True):
            if in_lists:
                given = as_list(value) or []
            else:
                given = value if isinstance(value, list) else [value]
            for name in map(as_identifier, given):
                if name is not None:
                    votes[name] += n
    return votes


def _is_number(value: object) -> bool:
    found = None if isinstance(value, str) else as_number(value)
    return value is None or (found is not None and isfinite(found))


def _add_up(numbers: Floats) -> bool:
    """Return whether rows of numbers differ and have one sum, so that they may be counts."""
    differ = len(numbers) > 2 and bool(np.ptp(numbers, axis=0).any())
    return differ and bool(np.ptp(numbers.sum(axis=1)) == 0) and numbers.sum(axis=1)[0] > 1


def _may_be_people(keys: Sequence[str], numbers: Floats) -> bool:
    """Return whether the keys of small numbers may be who gave them, by their look and number."""
    is_like_ids = all(map(_ID.fullmatch, keys)) or len(keys) > _MOST_RATING
    if is_like_ids or numbers.max() > _MOST_RATING:
        return is_like_ids
    is_one_number = bool(np.ptp((numbers > 0).sum(axis=1)) == 0)
    are_called = all(key.isalpha() and key.istitle() for key in keys)
    return is_one_number or (are_called and bool(np.ptp(numbers.sum(axis=1)) > 2))


def _are_shares(numbers: Floats) -> bool:
    """Return whether rows of numbers are shares of a whole, rounded to a few decimals."""
    are_parts = numbers.min() >= 0 and numbers.max() <= 1 and (numbers % 1).any()
    return bool(are_parts and (np.abs(numbers.sum(axis=1) - 1) <= _ROUNDED).all())


def _number(value: object) -> float:
    found = as_number(value)
    return found if found is not None and isfinite(found) else 0


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(shorten, names[:12])) + (", …" if len(names) > 12 else "")


def dataset_of(path: Path) -> tuple[Dataset, tuple[FileContent, Frame]]:
    """Describe a votes file by its columns, and return what was read for it."""
    layout, content, frame = layout_of(path)
    labels, faults = layout.labels, Faults(path, "votes", expected=FORMAT, todo=_TODO)
    if layout.rating:
        raise faults.fatal(
            "The labels are numbers on a scale, not classes.",
            layout.rating,
            "labels, or reader.cut in a dataset's YAML file",
        )
    if layout.unused:
        raise faults.fatal(
            "This is not a votes file in a known format: it has columns that hold no votes.",
            _listed(layout.unused),
            f"the columns {layout.reader['item']!r} and {_listed(labels)} alone, or a YAML file "
            "that says what the others are",
        )
    if len(labels) > _MOST_LABELS:
        raise faults.fatal(
            "This is not a votes file in a known format.",
            f"columns {_listed(frame.names)}, with {len(labels)} different labels",
        )
    return to_dataset(path, layout), (content, frame)


def to_dataset(path: Path, layout: Layout, extra: Mapping[str, Any] | None = None) -> Dataset:
    """Return the dataset that a votes file of this layout is."""
    extra = dict(extra or {})
    content = {
        "name": name_of(path),
        "title": path.stem,
        "labels": list(layout.labels),
        "files": [{"name": path.name}],
        "reader": {**layout.reader, **extra.pop("reader", {})},
    }
    what = "The labels of this votes file"
    content |= extra
    content["labels"] = [
        {"name": layout.names[one], "code": one} if one in [*layout.names] else one
        for one in content["labels"]
    ]
    return validate(content, Dataset, path, what, todo="correct the file")


def yaml_of(dataset: Dataset) -> str:
    """Return what was said of a dataset, in the order of the package's own files."""
    said = dataset.model_dump(mode="json", by_alias=True, exclude_unset=True)
    labels = [_label_of(one) for one in dataset.classes]
    words = [word for one in dataset.classes for word in (one.name, one.code, *one.spellings)]
    kept = {
        "name": dataset.name,
        "title": dataset.title,
        "labels": labels,
        "ordered": dataset.ordered or None,
        "texts": list(dataset.text_fields),
        "files": said["files"],
        "reader": {key: value for key, value in said["reader"].items() if value or key == "item"},
    }
    text: str = yaml.safe_dump(
        {key: value for key, value in kept.items() if value},
        allow_unicode=all(
            one.isprintable() and unicodedata.is_normalized("NFC", one) for one in words
        ),
        sort_keys=False,
        default_flow_style=None,
        width=100,
    )
    return text


def _label_of(label: Label) -> str | dict[str, Any]:
    """Return a label as a YAML file says it: its name, and what is not as its name."""
    said: dict[str, Any] = {"name": label.name}
    if label.code != label.name:
        said["code"] = label.code
    if label.spellings:
        said["spellings"] = list(label.spellings)
    return said if len(said) > 1 else label.name


def name_of(path: Path) -> str:
    """Return the file's stem as a dataset may be called."""
    name = re.sub(r"[^a-z0-9_-]+", "-", path.stem.lower()).strip("-_")
    if not name:
        raise ChaosError(
            "This file's name makes no name for a dataset.",
            where=path,
            expected="letters or digits from a to z and 0 to 9",
            todo="rename the file",
        )
    return name

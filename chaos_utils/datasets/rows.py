"""The rows of a file of votes, on their way to `Votes`.

Each rule is checked for a whole column at a time, and faults are noted with their row. Nothing is
repaired.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from html import unescape
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base import inputs
from chaos_utils.base.errors import counted
from chaos_utils.datasets.about_annotators import People
from chaos_utils.datasets.cells import (
    MOST_VOTES,
    as_count,
    as_identifier,
    as_list,
    as_number,
    as_object,
    as_share,
    as_time,
    unwrap_single,
)
from chaos_utils.datasets.dataset import ColumnsReader, Dataset, LongReader, TableReader, WideReader
from chaos_utils.datasets.faults import Faults, shorten, wrong_value_message
from chaos_utils.datasets.frame import IDENTIFIERS, KEY, Column, Frame, column_of
from chaos_utils.datasets.labels import answer_of, label_of, labels_in, notes_on, vote_of
from chaos_utils.datasets.people import holds_names, names_annotators
from chaos_utils.datasets.texts import (
    annotators_of,
    are_rounded,
    is_rounded,
    one_spelling,
    why_not_apart,
)
from chaos_utils.datasets.votes import Annotations, Ints, Votes, frozen

_SHARE_TOLERANCE = 0.25  # of a vote: shares are rounded to a few decimals
_NONE, _IGNORED, _UNKNOWN = -1, -2, -3  # instead of a label's index
_ALL = slice(None)
_UNSET = ("", "0", "0.0", "false")  # cells of one-hot columns, in lower case
Mask = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.signedinteger[Any]]
Texts = list[list[str]]  # for each field, the texts of all items


def known_labels(dataset: Dataset) -> str:
    """Return the answers that a dataset allows, for a message."""
    cut = getattr(dataset.reader, "cut", None)
    if cut:
        return f"a number from {cut.edges[0]:g} to {cut.edges[-1]:g}"
    codes = list(dataset.codes)
    return f"one of {', '.join(codes[:12])}{', …' if len(codes) > 12 else ''}"


class Rows:
    """The rows of a file on their way to votes.

    `item` has the item of each row (-1 for none), `first` the first row of each item, and `bad`
    marks rows with faults.
    """

    no_majority: tuple[object, ...] = (None, "", "-")  # cells that state no majority label

    def __init__(
        self,
        frame: Frame,
        dataset: Dataset,
        reader: TableReader,
        faults: Faults,
        n_votes: int = 0,
        people: People | None = None,
    ) -> None:
        self.frame, self.dataset, self.reader, self.faults = frame, dataset, reader, faults
        self.people = people  # what a second file says of annotators
        self.n_votes = n_votes  # number that each item must have; 0 for any
        self.later_counts: Ints | None = None  # votes of later batches, where votes have batches
        self.batches: tuple[int, ...] = ()  # their numbers
        self.bad = np.zeros(len(frame), dtype=bool)
        self._check_columns()
        self.item = self._items()
        self.first = self.item.first
        if not isinstance(reader, LongReader):
            is_repeat = (self.item.codes >= 0) & ~self.first_rows()
            self.note(
                is_repeat,
                lambda row: (
                    f"found item {shorten(self.item[row])}, as on "
                    f"{frame.place(self._first_of(row))}; expected each item once"
                ),
            )
            codes = np.where(is_repeat, -1, self.item.codes).astype(np.int32)
            self.item = Column(codes, self.item.values)

    def note(self, mask: Mask, problem: Callable[[int], str], at: Ints | None = None) -> None:
        """Note the problem of the rows in `mask`; of votes, if `at` has the row of each vote."""
        numbers = np.flatnonzero(mask)
        self.faults.rows(numbers, self.frame.place, problem, at)
        self.bad[numbers if at is None else at[numbers]] = True

    def wrong(self, mask: Mask, path: str, column: Column, expected: str) -> None:
        """Note the rows in `mask`, whose cell in a column is not as expected."""
        self.note(mask, lambda row: wrong_value_message(path, column[row], expected))

    def first_rows(self, items: Mask | slice = _ALL) -> Mask:
        """Return which rows are the first row of an item, or of the chosen items."""
        mask = np.zeros(len(self.frame), dtype=bool)
        mask[self.first[items]] = True
        return mask

    def _first_of(self, row: int) -> int:
        return int(self.first[self.item.codes[row]])

    def _check_columns(self) -> None:
        """Raise a ChaosError if a column that the reader names is missing."""
        reader = self.reader
        required: list[str] = [*reader.item_columns, reader.majority, reader.old_label]
        required += reader.item_fields
        if not reader.texts_by:
            required += [reader.texts.get(text, text) for text in self.dataset.text_fields]
        if isinstance(reader, LongReader):
            required += [*reader.label_columns, reader.annotator, *reader.annotator_fields]
            required += [reader.round, reader.time, reader.batch]
        elif isinstance(reader, ColumnsReader):
            required += [reader.labels] if isinstance(reader.labels, str) else reader.labels
            required += [reader.annotators]
        elif isinstance(reader.n_votes, str):
            required += [reader.n_votes]
        self.frame.require(filter(None, required), self.faults)

    def _items(self) -> Column:
        """Return the identifiers of the items; numbers from 0 if no column has them."""
        reader, n = self.reader, len(self.frame)
        if not reader.item:
            return Column(np.arange(n, dtype=np.int32), list(map(str, range(n))))
        for path in reader.item_columns:
            cells = self.frame.column(path)
            self.wrong(cells.identifiers.codes < 0, path, cells, "an identifier")
            rounded = cells.map(is_rounded, bool)
            self.wrong(rounded, path, cells, "an identifier as text: this number is rounded")
        item = self.frame.key(reader.item)
        if len(set(item.values)) < len(item.values):
            raise self.faults.fatal(
                f"Identifiers that are joined by {KEY!r} are the same for two items.",
                next(name for name, times in Counter(item.values).items() if times > 1),
                f"identifiers in {' and '.join(reader.item_columns)} without {KEY!r}",
            )
        return item

    def votes(
        self,
        read: Sequence[inputs.Input],
        texts: Texts | None = None,
    ) -> Votes:
        """Return the votes; `read` are the files, `texts` the texts from a second file."""
        reader, dataset = self.reader, self.dataset
        majority = self._stated(reader.majority, none=self.no_majority)
        old = self._stated(reader.old_label)
        if texts is None:
            texts = self.texts()
        fields = self._item_fields()
        if isinstance(reader, WideReader):
            counts, annotations = self._counts(reader), None
            notes = notes_on(dataset, 0, {}, rows_left_out=self.frame.notes)
        else:
            counts, annotations, notes = self._count_votes(reader)
        notes += tuple(f"{dataset.short}: {note}." for note in self._remarks_on_items(texts))
        self._check_items(counts, majority)
        first_most = counts.argmax(axis=1)
        majority = first_most if majority is None else np.where(majority < 0, first_most, majority)
        decode = unescape if reader.texts_escaped else str
        return Votes(
            dataset=dataset,
            uids=tuple(map(str, range(len(counts)))) if reader.numbered
            else tuple(self.item.values),
            counts=frozen(counts),
            majority=frozen(majority),
            source=read[0],
            given_old_label=None if old is None else frozen(np.maximum(old, 0)),
            given_old_votes=None if old is None else frozen(self._old_votes(old)),
            texts=tuple(
                MappingProxyType(dict(zip(dataset.text_fields, map(decode, text), strict=True)))
                for text in zip(*texts, strict=True)
            ),
            annotations=annotations,
            later_counts=None if self.later_counts is None else frozen(self.later_counts),
            batches=self.batches,
            notes=notes,
            other_sources=tuple(read[1:]),
            fields=fields,
        )  # fmt: skip

    def _remarks_on_items(self, texts: Texts) -> Iterator[str]:
        """Yield remarks on identifiers and texts that look wrong, but are read without a change."""
        if are_rounded(self.item.values):
            yield (
                "the items' identifiers end in zeros, as a spreadsheet rounds numbers of more than "
                "15 digits: items may have become one"
            )
        # What is no text is a fault already.
        found = (text for text in (texts[0] if texts else ()) if isinstance(text, str))
        first_field = column_of(text for text in found if text.strip())
        why = ""
        if len(first_field.codes) > 1:
            why = why_not_apart(first_field, first_field.codes)
        if why:
            field = self.dataset.text_fields[0]
            yield (
                f"the text {field!r} does not tell items apart ({why}); items that share it count "
                "as one text where something is fitted on other items, as the base rate is: let "
                "`texts` begin with another, or leave it out"
            )

    def _stated(self, path: str, none: Sequence[object] = ()) -> Ints | None:
        """Return the label of each item in a column, shape (items,); -1 for cells in `none`."""
        if not path:
            return None

        def code(value: object) -> int:
            label = label_of(value, self.dataset)
            if label is not None:
                return label
            return _NONE if value in none else _UNKNOWN

        cells = self.frame.column(path)
        codes: Ints = cells.map(code, np.int64)
        unknown = self.first_rows() & (codes == _UNKNOWN)
        self.wrong(unknown, path, cells, known_labels(self.dataset))
        self._check_same(path, cells, codes, "label")
        stated: Ints = codes[self.first]
        return stated

    def _check_same(self, path: str, cells: Column, codes: Codes, what: str) -> None:
        """Note rows whose cell differs from that in the first row of the same item."""
        self.note(
            ~Column(codes.astype(np.int32), []).is_same_within(self.item),
            lambda row: wrong_value_message(
                path, cells[row], f"the {what} that {self.frame.place(self._first_of(row))} has"
            ),
        )

    def _old_votes(self, old: Ints) -> Ints:
        """Return the original votes, shape (items, labels): the old label counts as one vote."""
        votes: Ints = np.eye(self.dataset.n_classes, dtype=np.int64)[np.maximum(old, 0)]
        return votes

    def texts(self) -> Texts:
        """Return each text field of all items."""
        texts = []
        for name in self.dataset.text_fields:
            path = self.reader.texts.get(name, name)
            cells = self.frame.column(path)
            is_text = cells.map(lambda value: isinstance(value, str), bool)
            self._refuse_annotators(path, cells.values, "text", "texts")
            self.wrong(self.first_rows() & ~is_text, path, cells, "text")
            is_same = cells.is_same_within(self.item).all()
            codes = cells.codes if is_same else one_spelling(cells).codes
            self._check_same(path, cells, codes, "text")
            texts.append([cells[row] for row in self.first.tolist()])
        return texts

    def _item_fields(self) -> dict[str, tuple[str, ...]]:
        """Return the value of each item, by column; rows that contradict it are noted."""
        fields = {}
        for path in self.reader.item_fields:
            cells = self._identifiers(path)
            self._refuse_annotators(path, cells.values, "field", "item_fields")
            self._check_same(path, cells, cells.codes, "value")
            fields[path] = tuple(cells[row] or "" for row in self.first.tolist())
        return fields

    def _identifiers(self, path: str) -> Column:
        """Return the cells of a column as identifiers; those that are none are noted."""
        cells = self.frame.column(path)
        self.wrong(cells.has_other, path, cells, IDENTIFIERS)
        return cells.identifiers

    def _refuse_annotators(self, path: str, values: Sequence[Any], what: str, key: str) -> None:
        """Raise a ChaosError if a column that `key` names holds annotators' identifiers."""
        if self._names_annotators(path, values):
            raise self.faults.fatal(
                f"The column {path!r} names annotators, and is no {what} of the items.",
                expected=f"{what}s without the annotators' identifiers",
                todo=f"leave it out of `{key}`: who voted is never shown, nor sent to a model",
            )

    def _names_annotators(self, path: str, values: Sequence[Any]) -> bool:
        """Return whether a column holds the annotators' identifiers or names."""
        annotator = getattr(self.reader, "annotator", "")
        annotators = getattr(self.reader, "annotators", "")
        column = annotator or annotators
        people = annotators_of(self.frame, {"annotator": annotator, "annotators": annotators})
        return path == column or names_annotators(path, values) or holds_names(values, people, path)

    def _ballots(self, reader: LongReader | ColumnsReader) -> "_Ballots":
        """Return the answers one by one, from a column of labels, one-hot columns or lists."""
        frame = self.frame
        voters = None
        if isinstance(reader, LongReader) and reader.annotator:
            voters = frame.column(reader.annotator)
        if isinstance(reader, LongReader) and not reader.rounds:
            if isinstance(reader.label, str):
                cells = frame.column(reader.label)
                return _Ballots(None, cells, [reader.label], voters)
            set_columns = [frame.column(name).map(is_set, bool) for name in reader.label]
            one_hot = np.column_stack(set_columns)
            n_set = one_hot.sum(axis=1)
            first_columns = ", ".join(map(shorten, reader.label[:6]))
            self.note(
                n_set != 1,
                lambda row: f"found {n_set[row]} of the columns {first_columns} set; expected one",
            )
            rows = np.flatnonzero(n_set == 1)
            cells = Column(one_hot.argmax(axis=1).astype(np.int32)[rows], list(reader.label))
            voters = voters and Column(voters.codes[rows], voters.values)
            return _Ballots(rows, cells, [", ".join(reader.label)], voters)
        if isinstance(reader, ColumnsReader) and isinstance(reader.labels, str):
            return self._ballots_in_lists(reader.labels, reader)
        names = [*(reader.rounds if isinstance(reader, LongReader) else reader.labels)]
        n = len(frame)
        columns = [frame.column(name) for name in names]
        # The columns' values follow each other in one list: `starts` has where each begins.
        starts = np.cumsum([0, *(len(column.values) for column in columns)])[:-1]
        codes = np.column_stack(
            [
                np.where(
                    column.map(lambda cell: cell in (None, ""), bool), -1, column.codes + start
                )
                for column, start in zip(columns, starts, strict=True)
            ]
        ).ravel()
        is_vote = codes >= 0
        values = [value for column in columns for value in column.values]
        cells = Column(codes[is_vote].astype(np.int32), values)
        rows = np.repeat(np.arange(n), len(names))[is_vote]
        column_index = np.tile(np.arange(len(names)), n)[is_vote]
        if isinstance(reader, LongReader):
            voters = voters and Column(voters.codes[rows], voters.values)
        elif reader.annotators_by_place:
            voters = Column(column_index.astype(np.int32), names)
        return _Ballots(rows, cells, names, voters, column_index)

    def _ballots_in_lists(self, path: str, reader: ColumnsReader) -> "_Ballots":
        """Return the answers that a column lists, with the annotators if the file names them."""
        annotators = reader.annotators
        cells = self.frame.column(path)
        lists = cells.map(as_list)
        is_list = lists != None  # noqa: E711 - compares each element
        n_labels = np.array([0 if labels is None else len(labels) for labels in lists])
        self.wrong(~is_list, path, cells, "a list of labels")
        if annotators:
            people = self.frame.column(annotators).map(as_list)
            n_people = np.array([-1 if names is None else len(names) for names in people])
            self.note(
                is_list & (n_people != n_labels),
                lambda row: (
                    f"field {annotators!r}: expected a list of {n_labels[row]}, one per label"
                ),
            )
            is_list &= n_people == n_labels
        most = int(n_labels.max(initial=0))
        if reader.annotators_by_place:
            self.note(
                is_list & (n_labels != most),
                lambda row: (
                    f"field {path!r}: found a list of {n_labels[row]}, expected {most}, one per "
                    "annotator"
                ),
            )
            is_list &= n_labels == most
        rows = np.flatnonzero(is_list)
        voters = column_of(name for row in rows for name in people[row]) if annotators else None
        if reader.annotators_by_place:
            positions = np.tile(np.arange(most, dtype=np.int32), len(rows))
            voters = Column(positions, list(map(str, range(1, most + 1))))
        votes = column_of(label for labels in lists[rows] for label in labels)
        return _Ballots(np.repeat(rows, n_labels[rows]), votes, [path], voters)

    def _count_votes(
        self, reader: LongReader | ColumnsReader
    ) -> tuple[Ints, Annotations | None, tuple[str, ...]]:
        """Return the counts, shape (items, labels), who voted how, and notes on the reading."""
        dataset, ballots = self.dataset, self._ballots(reader)
        if reader.separator:
            ballots = ballots.split_labels(partial(_labels_in, dataset, reader.separator))
        cells, at = ballots.cells, ballots.rows
        missing = set(map(answer_of, reader.missing))

        def code(value: object) -> int:
            value = unwrap_single(value)
            label = vote_of(value, dataset, reader.cut)
            if label is not None:
                return label
            return _IGNORED if answer_of(value) in missing else _UNKNOWN

        label = cells.map(code, np.int32)
        expected = known_labels(dataset)
        self.note(
            label == _UNKNOWN,
            lambda vote: wrong_value_message(
                ballots.field(vote),
                cells[vote],
                expected if answer_of(cells[vote]) else f'{expected}; or `missing: [""]` in YAML',
            ),
            at,
        )
        item = self.item.codes if at is None else self.item.codes[at]
        is_valid = (label >= 0) & (item >= 0)
        k, n_items = dataset.n_classes, len(self.item.values)

        def counted_where(mask: Mask) -> Ints:
            flat_index = item[mask].astype(np.int64)  # of an item and a label, in the counts
            flat_index *= k
            flat_index += label[mask]
            counts: Ints = np.bincount(flat_index, minlength=n_items * k).reshape(-1, k)
            return counts

        annotations, n_second, remarks = None, 0, list[str]()
        is_counted, batches = is_valid, self._batches(reader, at)
        if batches is not None:
            is_counted = is_valid & (batches == 0)
            self.later_counts = counted_where(is_valid & ~is_counted)
        if len(self.batches) > 1:
            remarks.append(
                f"{int(is_valid.sum() - is_counted.sum()):,} of {int(is_valid.sum()):,} votes are "
                "of later batches, which may have been asked for where earlier votes were close: "
                "they count for majorities, plans and shrunken labels, not where people or systems "
                "are judged"
            )
            if self.batches[-1] - self.batches[0] >= len(self.batches):
                remarks.append(
                    f"the batches are numbered from {self.batches[0]} to {self.batches[-1]}, with "
                    "gaps"
                )
        counts = counted_where(is_counted)
        if ballots.voters is not None:
            voter_cells, voters = ballots.voters, ballots.voters.identifiers
            name = reader.annotator if isinstance(reader, LongReader) else reader.annotators
            self.note(  # a cell that may identify a person is not shown, even in a message
                voters.codes < 0,
                lambda vote: (
                    f"field {name!r}: found {_kind_of_cell(voter_cells[vote])}; "
                    "expected an identifier"
                ),
                at,
            )
            # Several labels in one answer are one vote for the rule of one vote per person.
            counts_as_one = (label != _IGNORED) & (item >= 0) & ~ballots.is_further_label
            rounds = self._rounds(reader, ballots, item, voters)
            n_second = self._second_votes(item, voters, counts_as_one, rounds, at, reader)
            has_name = is_counted & (voters.codes >= 0)
            columns = (item, voters.codes, label, *([] if rounds is None else [rounds]))
            parts = [part if has_name.all() else part[has_name] for part in columns]
            order = np.argsort(parts[0], kind="stable")
            fields = self._annotator_fields(reader) if isinstance(reader, LongReader) else {}
            if self.people:
                more_fields, remark = self.people.fields_of(voters.values)
                fields |= more_fields
                remarks.append(remark)
            items, people, labels, *numbers = (frozen(part[order]) for part in parts)
            annotations = Annotations(items, people, labels, fields, *numbers)
            if rounds is not None:
                counts, note = _first_counts(annotations, counts.shape)
                remarks.append(note)
        ignored = Column(cells.codes[label == _IGNORED], cells.values)
        left_out = ignored.map(lambda value: as_identifier(unwrap_single(value)) or "").tolist()
        trimmed = cells.map(lambda value: isinstance(value, str) and value != value.strip(), bool)
        notes = notes_on(
            dataset,
            int(is_valid.sum()),
            Counter(left_out),
            int((trimmed & is_valid).sum()),
            n_second,
            self.frame.notes,
        )
        notes += tuple(f"{dataset.short}: {remark}." for remark in remarks if remark)
        return counts, annotations, notes

    def _rounds(
        self, reader: LongReader | ColumnsReader, ballots: "_Ballots", item: Codes, voters: Column
    ) -> Ints | None:
        """Return the running number of each vote's round; None where the file gives none."""
        if not isinstance(reader, LongReader):
            return None
        if reader.rounds:
            return ballots.column
        path = reader.round or reader.time
        if not path:
            return None
        cells = self.frame.column(path)
        values = cells.map(or_nan(as_time if reader.time else as_number), np.float64)
        if reader.time:
            are_numbers = cells.map(as_number) != None  # noqa: E711 - compares each element
            is_other = np.isnan(values) | (are_numbers != are_numbers[:1])  # mixed, none is sure
            expected = "a time such as 2026-03-01T18:30 or 1772389800, the same kind in all rows"
            self.wrong(is_other, path, cells, expected)
        else:
            is_whole = values == np.rint(values)  # not for NaN
            self.wrong(~is_whole, path, cells, "a whole number, such as 1 for the first round")
        values = np.nan_to_num(values, nan=np.inf)
        if ballots.rows is not None:
            values = values[ballots.rows]
        if reader.time:
            pair = item.astype(np.int64) * (len(voters.values) + 1) + voters.codes
            return _ranks_within(pair, values)
        rounds: Ints = np.unique(values, return_inverse=True)[1]
        return rounds

    def _batches(self, reader: LongReader | ColumnsReader, at: Ints | None) -> Ints | None:
        """Return the running number of each vote's batch; None where the file gives none."""
        path = getattr(reader, "batch", "")
        if not path:
            return None
        cells = self.frame.column(path)
        numbers = cells.map(or_nan(as_number), np.float64)
        is_whole = numbers == np.rint(numbers)  # not for NaN
        expected = "a whole number, such as 1 for the first batch"
        self.note(
            ~is_whole,
            lambda row: (
                f"item {shorten(self.item[row])}, {wrong_value_message(path, cells[row], expected)}"
            ),
        )
        values, batches = np.unique(np.where(is_whole, numbers, np.inf), return_inverse=True)
        self.batches = tuple(int(value) for value in values if np.isfinite(value))
        running: Ints = batches if at is None else batches[at]
        return running

    def _annotator_fields(self, reader: LongReader) -> dict[str, tuple[str, ...]]:
        """Return the value of each annotator, by column; rows that contradict it are noted."""
        people = self.frame.column(reader.annotator).identifiers
        fields = {}
        for path in reader.annotator_fields:
            cells = self._identifiers(path)
            is_same = cells.is_same_within(people)
            self.wrong(~is_same, path, cells, "what an earlier row says of this annotator")
            fields[path] = tuple(cells[row] or "" for row in people.first.tolist())
        return fields

    def _second_votes(
        self,
        item: Codes,
        voters: Column,
        counts: Mask,
        rounds: Ints | None,
        at: Ints | None,
        reader: TableReader,
    ) -> int:
        """Return how many second votes by an annotator on an item the reader allows.

        Second votes in one round that it does not allow are noted. `item`, `voters` and `rounds`
        are those of each vote, `counts` are the votes that count, and `at` has the row of each vote
        (None: one per row).
        """
        counts &= voters.codes >= 0
        pairs = item[counts].astype(np.int64)
        pairs *= len(voters.values)
        pairs += voters.codes[counts]  # one number for each pair of an item and an annotator
        if rounds is not None:
            pairs *= int(rounds.max(initial=0)) + 1
            pairs += rounds[counts]
        in_order = np.sort(pairs)
        if not (in_order[1:] == in_order[:-1]).any():
            return 0
        votes = np.flatnonzero(counts)
        order = np.argsort(pairs, kind="stable")
        starts = np.append(True, np.diff(pairs[order]) != 0)  # the first vote of each pair
        first = order[np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))]
        # The first vote of the same pair, by second vote.
        first_vote = dict(zip(votes[order[~starts]].tolist(), votes[first[~starts]].tolist(),
                              strict=True))  # fmt: skip
        if getattr(reader, "second_votes", False):
            return len(first_vote)

        expected = "one per item and annotator"
        if isinstance(reader, LongReader):
            expected += (
                " in each round"
                if rounds is not None
                else ("; where people were asked again, name the column of the `round` in YAML")
            )

        def problem(vote: int) -> str:
            row, first_row = vote, first_vote[vote]
            if at is not None:
                row, first_row = int(at[row]), int(at[first_row])
            if row == first_row:
                return f"found two votes by one annotator; expected {expected}"
            is_copy = self.frame.are_same(row, first_row)
            return (
                f"found a second vote on item {shorten(self.item[row])} by the annotator of "
                f"{self.frame.place(first_row)}; "
                + ("the two rows are identical: delete one" if is_copy else f"expected {expected}")
            )

        is_second = np.zeros(len(item), dtype=bool)
        is_second[list(first_vote)] = True
        self.note(is_second, problem, at)
        return 0

    def _counts(self, reader: WideReader) -> Ints:
        """Return the counts from the labels' columns, shape (items, labels)."""
        dataset, frame = self.dataset, self.frame
        not_labels = {*reader.item_columns, reader.n_votes, reader.majority, reader.old_label}
        columns: dict[int, str] = {}
        for name in frame.names:
            label = None if name in not_labels else label_of(name, dataset)
            if label in columns:
                raise self.faults.fatal(
                    f"Two columns stand for the label {dataset.codes[label]!r}.",
                    f"{columns[label]!r} and {name!r}",
                    "one",
                )
            if label is not None:
                columns[label] = name
        for k, code in enumerate(dataset.codes):
            if k not in columns and code in frame:  # in a list or an object, such as votes.0
                columns[k] = code
        missing = [code for k, code in enumerate(dataset.codes) if k not in columns]
        if missing:
            raise self.faults.fatal(
                f"The data file has no column for the label {missing[0]!r}.",
                "columns " + ", ".join(shorten(name) for name in frame.names[:12]),
            )
        read, expected = or_nan(as_count), f"a whole number from 0 to {MOST_VOTES:,}"
        if reader.values == "shares":
            read, expected = or_nan(as_share), "a share from 0 to 1"
        values = np.empty((len(frame), dataset.n_classes))
        known, sparse_objects = set(frame.names), set()
        for k, name in columns.items():
            cells = frame.column(name)
            values[:, k] = cells.map(read, np.float64)
            if name not in known:  # an object may leave out the labels without votes
                absent = (cells.codes < 0) & frame.in_object(name)
                values[absent, k] = 0
                sparse_objects |= {name.rpartition(".")[0]} if absent.any() else set()
            self.wrong(np.isnan(values[:, k]), name, cells, expected)
        for path in sorted(sparse_objects):
            self._check_keys(path, set(columns.values()))
        is_complete = ~np.isnan(values.sum(axis=1))
        if reader.n_votes:
            values = self._with_n_votes(values, is_complete, reader)
        counts: Ints = np.rint(np.nan_to_num(values[self.first])).astype(np.int64)
        return counts

    def _check_keys(self, path: str, columns: set[str]) -> None:
        """Note objects that count votes for a key that is no label."""

        def has_other_keys(value: object) -> bool:
            return any(
                f"{path}.{key}" not in columns and bool(as_count(n))
                for key, n in (as_object(value) or {}).items()
            )

        cells = self.frame.column(path)
        expected = "votes for the dataset's labels alone: " + known_labels(self.dataset)
        self.wrong(cells.map(has_other_keys, bool), path, cells, expected)

    def _with_n_votes(
        self, values: npt.NDArray[np.float64], is_complete: Mask, reader: WideReader
    ) -> npt.NDArray[np.float64]:
        """Return the counts, shape (rows, labels), and note where the number of votes differs.

        `values` are counts, or shares that are multiplied by the number of votes; `is_complete`
        are the rows in which no value is missing.
        """
        cells = Column(np.zeros(len(values), dtype=np.int32), [reader.n_votes])
        if isinstance(reader.n_votes, str):
            cells = self.frame.column(reader.n_votes)
        stated = cells.map(or_nan(as_count), np.float64)
        name = str(reader.n_votes)
        if reader.values == "counts":
            total = values.sum(axis=1)
            self.note(
                is_complete & (total != stated),
                lambda row: wrong_value_message(
                    name, cells[row], f"{total[row]:.0f}, the sum of the columns"
                ),
            )
            return values
        is_positive = stated > 0
        self.wrong(~is_positive, name, cells, "the item's number of votes")
        exact = values * np.where(is_positive, stated, np.nan)[:, np.newaxis]
        whole = np.rint(exact)
        is_off = (whole.sum(axis=1) != stated) | (np.abs(exact - whole) > _SHARE_TOLERANCE).any(
            axis=1
        )
        self.note(
            is_complete & is_positive & is_off,
            lambda row: (
                f"found shares of {stated[row]:.0f} votes that are {_listed(exact[row])}; "
                "expected whole votes"
            ),
        )
        return whole

    def _check_items(self, counts: Ints, majority: Ints | None) -> None:
        """Note items with a wrong number of votes, or a stated majority without the most votes.

        Items with a faulty row are left out. `majority` has the stated labels, -1 for none.
        """
        n_votes, total, most = self.n_votes, counts.sum(axis=1), counts.max(axis=1)
        stated = np.full(len(counts), -1) if majority is None else majority
        votes_for = counts[np.arange(len(counts)), np.maximum(stated, 0)]
        is_sound = np.ones(len(counts), dtype=bool)
        rows = np.flatnonzero(self.bad)
        is_sound[self.item.codes[rows][self.item.codes[rows] >= 0]] = False
        is_sound &= ~self.bad[self.first]

        def problem(row: int) -> str:
            item = int(self.item.codes[row])
            if not total[item] and len(self.batches) > 1:
                name = shorten(self.item[row])
                return f"item {name}: found no votes of the first batch; expected at least 1"
            if not total[item]:
                return "found no votes; expected at least 1 per item"
            if n_votes and total[item] != n_votes:
                return f"found {counted(int(total[item]), 'vote')}; expected {n_votes} per item"
            return (
                f"found the majority label {self.dataset.labels[stated[item]]!r} with "
                f"{votes_for[item]} votes; expected a label with the most votes, {most[item]}"
            )

        wrong_number = (total == 0) | ((total != n_votes) if n_votes else False)
        wrong_items = is_sound & (wrong_number | ((stated >= 0) & (votes_for != most)))
        self.note(self.first_rows(wrong_items), problem)


def _ranks_within(groups: Ints, values: npt.NDArray[np.float64]) -> Ints:
    """Return the rank of each value within its group, from 0; equal values share one."""
    order = np.lexsort((values, groups))
    in_order, grouped = values[order], groups[order]
    is_first = np.append(True, grouped[1:] != grouped[:-1])
    steps = np.cumsum(np.append(False, in_order[1:] != in_order[:-1]) & ~is_first)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = steps - np.maximum.accumulate(np.where(is_first, steps, 0))
    return ranks


def _first_counts(annotations: Annotations, shape: tuple[int, ...]) -> tuple[Ints, str]:
    """Return the counts of each annotator's first vote on an item, and a note on the rounds."""
    first = annotations.first
    counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, (first.item, first.label), 1)
    assert annotations.round is not None
    n_votes, n_rounds = len(annotations.item), len(np.unique(annotations.round))
    n_again = n_votes - len(first.item)
    note = f"{n_votes:,} votes in {counted(n_rounds, 'round')}; nobody judged an item again"
    if n_again:
        note = (
            f"{n_again:,} of {n_votes:,} votes, in {counted(n_rounds, 'round')}, are an "
            "annotator's on an item that the same annotator had judged before; they say how "
            "steadily people answer, and do not count among an item's votes"
        )
    return counts, note


@dataclass(frozen=True, slots=True)
class _Ballots:
    """Answers one by one: the rows and columns where they stand, and who gave them."""

    rows: Ints | None  # the row of each answer; None for one answer in each row
    cells: Column  # the answers
    columns: Sequence[str]  # names of the columns of answers
    voters: Column | None  # the annotator of each answer; None where the file does not say
    column: Ints | None = None  # index in `columns` of each answer; None for one column
    is_further_label: Mask | np.bool_ = np.False_  # not the first of several labels in a cell

    def split_labels(self, labels_in: Callable[[object], list[Any]]) -> "_Ballots":
        """Return an answer for each of the labels that a cell names."""
        labels = [labels_in(value) for value in self.cells.values]
        n_labels = np.array([*map(len, labels), 1])  # the last for a missing cell, whose code is -1
        n_in_cell = n_labels[self.cells.codes]
        answer = np.repeat(np.arange(len(n_in_cell)), n_in_cell)  # the old index of each new answer
        position = np.arange(len(answer)) - np.repeat(np.cumsum(n_in_cell) - n_in_cell, n_in_cell)
        codes = self.cells.codes[answer]
        first_code = np.cumsum(n_labels) - n_labels
        codes = np.where(codes < 0, -1, first_code[codes] + position)
        return _Ballots(
            answer if self.rows is None else self.rows[answer],
            Column(codes.astype(np.int32), [name for names in labels for name in names]),
            self.columns,
            self.voters and Column(self.voters.codes[answer], self.voters.values),
            None if self.column is None else self.column[answer],
            position > 0,
        )

    def field(self, vote: int) -> str:
        """Return the column of an answer."""
        return self.columns[0 if self.column is None else int(self.column[vote])]


def _labels_in(dataset: Dataset, separator: str, value: object) -> list[Any]:
    """Return the labels that a cell names; one label may have the separator in its name."""
    return [value] if label_of(value, dataset) is not None else labels_in(value, separator)


def _kind_of_cell(value: object) -> str:
    """Describe a cell that is no identifier, without its content."""
    is_empty = value is None or not str(value).strip()
    return "an empty cell" if is_empty else "neither text nor a whole number"


def is_set(value: object) -> bool:
    """Return whether a cell of a one-hot column sets the column's label."""
    return str("" if value is None else value).strip().casefold() not in _UNSET


def or_nan(read: Callable[[object], float | None]) -> Callable[[object], float]:
    """Return a function as `read`, but with NaN instead of None."""

    def read_or_nan(value: object) -> float:
        number = read(value)
        return np.nan if number is None else number

    return read_or_nan


def _listed(values: npt.NDArray[np.float64]) -> str:
    first_values = ", ".join(f"{value:g}" for value in values[:6])
    return first_values + (", …" if len(values) > 6 else "")

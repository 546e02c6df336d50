"""The rows of a file of votes, on their way to `Votes`.

What must hold is asked of whole columns, and what does not is noted with its row. Nothing is
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
from chaos_utils.datasets.cells import (
    MOST_VOTES,
    as_count,
    as_identifier,
    as_list,
    as_object,
    as_share,
    unwrap_single,
)
from chaos_utils.datasets.dataset import ColumnsReader, Dataset, LongReader, TableReader, WideReader
from chaos_utils.datasets.faults import Faults, shorten, wrong_value_message
from chaos_utils.datasets.frame import KEY, Column, Frame, column_of
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
_NONE, _IGNORED, _UNKNOWN = -1, -2, -3  # in the place of a label
_ALL = slice(None)
_UNSET = ("", "0", "0.0", "false")  # cells of one-hot columns, in lower case
Mask = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.signedinteger[Any]]
Texts = list[list[str]]  # of each field, those of all items


def known_labels(dataset: Dataset) -> str:
    """Return the answers that a dataset knows, for a message."""
    cut = getattr(dataset.reader, "cut", None)
    if cut:
        return f"a number from {cut.edges[0]:g} to {cut.edges[-1]:g}"
    codes = list(dataset.codes)
    return f"one of {', '.join(codes[:12])}{', …' if len(codes) > 12 else ''}"


class Rows:
    """The rows of a file on their way to votes; rows with faults are marked."""

    no_majority: tuple[object, ...] = (None, "", "-")  # cells that leave it to the votes

    def __init__(
        self,
        frame: Frame,
        dataset: Dataset,
        reader: TableReader,
        faults: Faults,
        n_votes: int = 0,
    ) -> None:
        self.frame, self.dataset, self.reader, self.faults = frame, dataset, reader, faults
        self.n_votes = n_votes  # that each item must have; 0 for any number
        self.bad = np.zeros(len(frame), dtype=bool)
        self._check_columns()
        self.item = self._items()
        self.first = self.item.first
        if not isinstance(reader, LongReader):
            again = (self.item.codes >= 0) & ~self.first_rows()
            self.note(
                again,
                lambda row: (
                    f"found item {shorten(self.item[row])}, as on "
                    f"{frame.place(self._first_of(row))}; expected each item once"
                ),
            )
            codes = np.where(again, -1, self.item.codes).astype(np.int32)
            self.item = Column(codes, self.item.values)

    def note(self, mask: Mask, problem: Callable[[int], str], at: Ints | None = None) -> None:
        """Note what is wrong with rows, or with votes that stand at rows."""
        numbers = np.flatnonzero(mask)
        self.faults.rows(numbers, self.frame.place, problem, at)
        self.bad[numbers if at is None else at[numbers]] = True

    def wrong(self, mask: Mask, path: str, column: Column, expected: str) -> None:
        """Note rows whose cell is not what it should be."""
        self.note(mask, lambda row: wrong_value_message(path, column[row], expected))

    def first_rows(self, of: Mask | slice = _ALL) -> Mask:
        """Return which rows are the first of an item, or of some of the items."""
        mask = np.zeros(len(self.frame), dtype=bool)
        mask[self.first[of]] = True
        return mask

    def _first_of(self, row: int) -> int:
        return int(self.first[self.item.codes[row]])

    def _check_columns(self) -> None:
        reader = self.reader
        wanted: list[str] = [*reader.item_columns, reader.majority, reader.old_label]
        if not reader.texts_by:
            wanted += [reader.texts.get(text, text) for text in self.dataset.text_fields]
        if isinstance(reader, LongReader):
            wanted += [*reader.label_columns, reader.annotator, *reader.annotator_fields]
        elif isinstance(reader, ColumnsReader):
            wanted += [reader.labels] if isinstance(reader.labels, str) else reader.labels
            wanted += [reader.annotators]
        elif isinstance(reader.n_votes, str):
            wanted += [reader.n_votes]
        self.frame.require(filter(None, wanted), self.faults)

    def _items(self) -> Column:
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
        """Return the votes; `texts` are those of another file."""
        reader, dataset = self.reader, self.dataset
        majority = self._stated(reader.majority, none=self.no_majority)
        old = self._stated(reader.old_label)
        if texts is None:
            texts = self.texts()
        annotations, notes = None, notes_on(dataset, 0, {}, rows_left_out=self.frame.notes)
        if isinstance(reader, WideReader):
            counts = self._counts(reader)
        else:
            counts, annotations, notes = self._count_votes(reader)
        notes += tuple(f"{dataset.short}: {note}." for note in self._on_items(texts))
        self._check_items(counts, majority)
        most = counts.argmax(axis=1)
        written = unescape if reader.texts_escaped else str
        return Votes(
            dataset=dataset,
            uids=tuple(map(str, range(len(counts)))) if reader.numbered
            else tuple(self.item.values),
            counts=frozen(counts),
            majority=frozen(most if majority is None else np.where(majority < 0, most, majority)),
            source=read[0],
            given_old_label=None if old is None else frozen(np.maximum(old, 0)),
            given_old_votes=None if old is None else frozen(self._old_votes(old)),
            texts=tuple(
                MappingProxyType(dict(zip(dataset.text_fields, map(written, text), strict=True)))
                for text in zip(*texts, strict=True)
            ),
            annotations=annotations,
            notes=notes,
            other_sources=tuple(read[1:]),
        )  # fmt: skip

    def _on_items(self, texts: Texts) -> Iterator[str]:
        """Say what looks wrong about identifiers and texts, which are read as they stand."""
        if are_rounded(self.item.values):
            yield (
                "the items' identifiers end in zeros, as a spreadsheet rounds numbers of more than "
                "15 digits: items may have become one"
            )
        first = column_of(text for text in (texts[0] if texts else ()) if text.strip())
        why = why_not_apart(first, first.codes) if len(first.codes) > 1 else ""
        if why:
            field = self.dataset.text_fields[0]
            yield (
                f"the text {field!r} does not tell items apart ({why}); items that share it count "
                "as one text where something is fitted on other items, as the base rate is: let "
                "`texts` begin with another, or leave it out"
            )

    def _stated(self, path: str, none: Sequence[object] = ()) -> Ints | None:
        """Return the label that the file states of each item, -1 for none."""
        if not path:
            return None

        def code(value: object) -> int:
            label = label_of(value, self.dataset)
            return label if label is not None else _NONE if value in none else _UNKNOWN

        cells = self.frame.column(path)
        codes: Ints = cells.map(code, np.int64)
        unknown = self.first_rows() & (codes == _UNKNOWN)
        self.wrong(unknown, path, cells, known_labels(self.dataset))
        self._check_same(path, cells, codes, "label")
        stated: Ints = codes[self.first]
        return stated

    def _check_same(self, path: str, cells: Column, codes: Codes, what: str) -> None:
        """Note where a later row says something else about its item than the first one."""
        self.note(
            ~Column(codes.astype(np.int32), []).is_same_within(self.item),
            lambda row: wrong_value_message(
                path, cells[row], f"the {what} that {self.frame.place(self._first_of(row))} has"
            ),
        )

    def _old_votes(self, old: Ints) -> Ints:
        """Return the original votes: the label alone."""
        votes: Ints = np.eye(self.dataset.n_classes, dtype=np.int64)[np.maximum(old, 0)]
        return votes

    def texts(self) -> Texts:
        """Return each text field of all items."""
        found = []
        for name in self.dataset.text_fields:
            path = self.reader.texts.get(name, name)
            cells = self.frame.column(path)
            is_text = cells.map(lambda value: isinstance(value, str), bool)
            if self._names_annotators(path, cells.values):
                raise self.faults.fatal(
                    f"The column {path!r} names annotators, and is no text of the items.",
                    expected="texts without the annotators' identifiers",
                    todo="leave it out of `texts`: who voted is never shown, nor sent to a model",
                )
            self.wrong(self.first_rows() & ~is_text, path, cells, "text")
            is_same = cells.is_same_within(self.item).all()
            codes = cells.codes if is_same else one_spelling(cells).codes
            self._check_same(path, cells, codes, "text")
            found.append([cells[row] for row in self.first.tolist()])
        return found

    def _names_annotators(self, path: str, values: Sequence[Any]) -> bool:
        """Return whether a column is that of the annotators, or lists them."""
        reader = self.reader
        single, several = (getattr(reader, name, "") for name in ("annotator", "annotators"))
        column = single or several
        people = annotators_of(self.frame, {"annotator": single, "annotators": several})
        return path == column or names_annotators(path, values) or holds_names(values, people, path)

    def _ballots(self, reader: LongReader | ColumnsReader) -> "_Ballots":
        """Return the answers one by one, with the rows where they stand."""
        frame = self.frame
        if isinstance(reader, LongReader):
            who = frame.column(reader.annotator) if reader.annotator else None
            if isinstance(reader.label, str):
                cells = frame.column(reader.label)
                return _Ballots(None, cells, [reader.label], who)
            set_columns = [frame.column(name).map(is_set, bool) for name in reader.label]
            chosen = np.column_stack(set_columns)
            n_set = chosen.sum(axis=1)
            listed = ", ".join(map(shorten, reader.label[:6]))
            self.note(
                n_set != 1,
                lambda row: f"found {n_set[row]} of the columns {listed} set; expected one",
            )
            rows = np.flatnonzero(n_set == 1)
            cells = Column(chosen.argmax(axis=1).astype(np.int32)[rows], list(reader.label))
            who = who and Column(who.codes[rows], who.values)
            return _Ballots(rows, cells, [", ".join(reader.label)], who)
        if isinstance(reader.labels, str):
            return self._in_lists(reader.labels, reader)
        names, n = list(reader.labels), len(frame)
        columns = [frame.column(name) for name in names]
        shift = np.cumsum([0, *(len(column.values) for column in columns)])[:-1]
        codes = np.column_stack(
            [
                np.where(
                    column.map(lambda cell: cell in (None, ""), bool), -1, column.codes + start
                )
                for column, start in zip(columns, shift, strict=True)
            ]
        ).ravel()
        there = codes >= 0
        values = [value for column in columns for value in column.values]
        cells = Column(codes[there].astype(np.int32), values)
        rows = np.repeat(np.arange(n), len(names))[there]
        place = np.tile(np.arange(len(names)), n)[there]
        who = Column(place.astype(np.int32), names) if reader.annotators_by_place else None
        return _Ballots(rows, cells, names, who, place)

    def _in_lists(self, path: str, reader: ColumnsReader) -> "_Ballots":
        """Return the answers that a column lists, with who gave them."""
        annotators = reader.annotators
        cells = self.frame.column(path)
        lists = cells.map(as_list)
        is_list = lists != None  # noqa: E711 - of each element
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
        who = column_of(name for row in rows for name in people[row]) if annotators else None
        if reader.annotators_by_place:
            places = np.tile(np.arange(most, dtype=np.int32), len(rows))
            who = Column(places, list(map(str, range(1, most + 1))))
        votes = column_of(label for labels in lists[rows] for label in labels)
        return _Ballots(np.repeat(rows, n_labels[rows]), votes, [path], who)

    def _count_votes(
        self, reader: LongReader | ColumnsReader
    ) -> tuple[Ints, Annotations | None, tuple[str, ...]]:
        """Return the counts, who voted, and what was read otherwise than it stands."""
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
        kept = (label >= 0) & (item >= 0)
        k, n_items = dataset.n_classes, len(self.item.values)
        places = item[kept].astype(np.int64)
        places *= k
        places += label[kept]
        counts = np.bincount(places, minlength=n_items * k).reshape(-1, k)
        del places  # of ten million votes, it takes a tenth of a gigabyte
        annotations, n_second = None, 0
        if ballots.who is not None:
            given, who = ballots.who, ballots.who.identifiers
            name = reader.annotator if isinstance(reader, LongReader) else reader.annotators
            self.note(  # nothing that may say who it is, is shown, not even here
                who.codes < 0,
                lambda vote: f"field {name!r}: found {_empty(given[vote])}; expected an identifier",
                at,
            )
            counts_as_one = (label != _IGNORED) & (item >= 0) & ~ballots.is_further_label
            n_second = self._second_votes(item, who, counts_as_one, at, reader)
            named = kept & (who.codes >= 0)
            parts = [part if named.all() else part[named] for part in (item, who.codes, label)]
            order = np.argsort(parts[0], kind="stable")
            fields = self._of_annotators(reader) if isinstance(reader, LongReader) else {}
            items, people, labels = (frozen(part[order]) for part in parts)
            annotations = Annotations(items, people, labels, fields)
        ignored = Column(cells.codes[label == _IGNORED], cells.values)
        left_out = ignored.map(lambda value: as_identifier(unwrap_single(value)) or "").tolist()
        trimmed = cells.map(lambda value: isinstance(value, str) and value != value.strip(), bool)
        notes = notes_on(
            dataset,
            int(counts.sum()),
            Counter(left_out),
            int((trimmed & kept).sum()),
            n_second,
            self.frame.notes,
        )
        return counts, annotations, notes

    def _of_annotators(self, reader: LongReader) -> dict[str, tuple[str, ...]]:
        """Return by column what is said of each annotator, which must be one thing."""
        people = self.frame.column(reader.annotator).identifiers
        fields = {}
        for path in reader.annotator_fields:
            cells = self.frame.column(path).identifiers
            is_same = cells.is_same_within(people)
            self.wrong(~is_same, path, cells, "what an earlier row says of this annotator")
            fields[path] = tuple(cells[row] or "" for row in people.first.tolist())
        return fields

    def _second_votes(
        self, item: Codes, who: Column, counts: Mask, at: Ints | None, reader: TableReader
    ) -> int:
        """Note votes by an annotator who had judged the item; return how many are allowed."""
        counts &= who.codes >= 0
        pairs = item[counts].astype(np.int64)
        pairs *= len(who.values)
        pairs += who.codes[counts]
        in_order = np.sort(pairs)
        if not (in_order[1:] == in_order[:-1]).any():
            return 0
        votes = np.flatnonzero(counts)
        order = np.argsort(pairs, kind="stable")
        starts = np.append(True, np.diff(pairs[order]) != 0)
        first = order[np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))]
        first_vote = dict(zip(votes[order[~starts]].tolist(), votes[first[~starts]].tolist(),
                              strict=True))  # fmt: skip
        if getattr(reader, "second_votes", False):
            return len(first_vote)

        def problem(vote: int) -> str:
            row, before = vote, first_vote[vote]
            if at is not None:
                row, before = int(at[row]), int(at[before])
            if row == before:
                return "found two votes by one annotator; expected one per item and annotator"
            return (
                f"found a second vote on item {shorten(self.item[row])} by the annotator of "
                f"{self.frame.place(before)}; expected one per item and annotator"
            )

        again = np.zeros(len(item), dtype=bool)
        again[list(first_vote)] = True
        self.note(again, problem, at)
        return 0

    def _counts(self, reader: WideReader) -> Ints:
        """Return the votes from the columns of the labels."""
        dataset, frame = self.dataset, self.frame
        others = {*reader.item_columns, reader.n_votes, reader.majority, reader.old_label}
        columns: dict[int, str] = {}
        for name in frame.names:
            label = None if name in others else label_of(name, dataset)
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
        known, short = set(frame.names), set()
        for k, name in columns.items():
            cells = frame.column(name)
            values[:, k] = cells.map(read, np.float64)
            if name not in known:  # an object may leave out the labels without votes
                absent = (cells.codes < 0) & frame.in_object(name)
                values[absent, k] = 0
                short |= {name.rpartition(".")[0]} if absent.any() else set()
            self.wrong(np.isnan(values[:, k]), name, cells, expected)
        for path in sorted(short):
            self._count_labels_alone(path, set(columns.values()))
        there = ~np.isnan(values.sum(axis=1))
        if reader.n_votes:
            values = self._times(values, there, reader)
        counts: Ints = np.rint(np.nan_to_num(values[self.first])).astype(np.int64)
        return counts

    def _count_labels_alone(self, path: str, columns: set[str]) -> None:
        """Note objects that count votes for what is no label."""

        def has_others(value: object) -> bool:
            return any(
                f"{path}.{key}" not in columns and bool(as_count(n))
                for key, n in (as_object(value) or {}).items()
            )

        cells = self.frame.column(path)
        expected = "votes for the dataset's labels alone: " + known_labels(self.dataset)
        self.wrong(cells.map(has_others, bool), path, cells, expected)

    def _times(
        self, values: npt.NDArray[np.float64], there: Mask, reader: WideReader
    ) -> npt.NDArray[np.float64]:
        """Compare counts with the number of votes, or multiply shares by it."""
        cells = Column(np.zeros(len(values), dtype=np.int32), [reader.n_votes])
        if isinstance(reader.n_votes, str):
            cells = self.frame.column(reader.n_votes)
        stated = cells.map(or_nan(as_count), np.float64)
        name = str(reader.n_votes)
        if reader.values == "counts":
            total = values.sum(axis=1)
            self.note(
                there & (total != stated),
                lambda row: wrong_value_message(
                    name, cells[row], f"{total[row]:.0f}, the sum of the columns"
                ),
            )
            return values
        is_number = stated > 0
        self.wrong(~is_number, name, cells, "the item's number of votes")
        exact = values * np.where(is_number, stated, np.nan)[:, np.newaxis]
        whole = np.rint(exact)
        off = (whole.sum(axis=1) != stated) | (np.abs(exact - whole) > _SHARE_TOLERANCE).any(axis=1)
        self.note(
            there & is_number & off,
            lambda row: (
                f"found shares of {stated[row]:.0f} votes that are {_in_words(exact[row])}; "
                "expected whole votes"
            ),
        )
        return whole

    def _check_items(self, counts: Ints, majority: Ints | None) -> None:
        """Note what only shows when all votes on an item are there."""
        n_votes, total, most = self.n_votes, counts.sum(axis=1), counts.max(axis=1)
        given = np.full(len(counts), -1) if majority is None else majority
        votes_for = counts[np.arange(len(counts)), np.maximum(given, 0)]
        is_sound = np.ones(len(counts), dtype=bool)
        rows = np.flatnonzero(self.bad)
        is_sound[self.item.codes[rows][self.item.codes[rows] >= 0]] = False
        is_sound &= ~self.bad[self.first]

        def problem(row: int) -> str:
            item = int(self.item.codes[row])
            if not total[item]:
                return "found no votes; expected at least 1 per item"
            if n_votes and total[item] != n_votes:
                return f"found {counted(int(total[item]), 'vote')}; expected {n_votes} per item"
            return (
                f"found the majority label {self.dataset.labels[given[item]]!r} with "
                f"{votes_for[item]} votes; expected a label with the most votes, {most[item]}"
            )

        wrong_number = (total == 0) | ((total != n_votes) if n_votes else False)
        wrong_items = is_sound & (wrong_number | ((given >= 0) & (votes_for != most)))
        self.note(self.first_rows(wrong_items), problem)


@dataclass(frozen=True, slots=True)
class _Ballots:
    """Answers one by one: the rows and columns where they stand, and who gave them."""

    rows: Ints | None  # None for one in each row
    cells: Column
    columns: Sequence[str]
    who: Column | None
    column: Ints | None = None  # of each answer, where there are several
    is_further_label: Mask | np.bool_ = np.False_  # of the answer before

    def split_labels(self, labels_in: Callable[[object], list[Any]]) -> "_Ballots":
        """Return an answer for each of the labels that a cell names."""
        labels = [labels_in(value) for value in self.cells.values]
        n_labels = np.array([*map(len, labels), 1])
        each = n_labels[self.cells.codes]
        answer = np.repeat(np.arange(len(each)), each)
        place = np.arange(len(answer)) - np.repeat(np.cumsum(each) - each, each)
        codes = self.cells.codes[answer]
        codes = np.where(codes < 0, -1, (np.cumsum(n_labels) - n_labels)[codes] + place)
        return _Ballots(
            answer if self.rows is None else self.rows[answer],
            Column(codes.astype(np.int32), [name for names in labels for name in names]),
            self.columns,
            self.who and Column(self.who.codes[answer], self.who.values),
            None if self.column is None else self.column[answer],
            place > 0,
        )

    def field(self, vote: int) -> str:
        """Return the column of an answer."""
        return self.columns[0 if self.column is None else int(self.column[vote])]


def _labels_in(dataset: Dataset, separator: str, value: object) -> list[Any]:
    """Return the labels that a cell names; one label may have the separator in its name."""
    return [value] if label_of(value, dataset) is not None else labels_in(value, separator)


def _empty(value: object) -> str:
    """Return what a cell without an identifier is, without what it holds."""
    is_empty = value is None or not str(value).strip()
    return "an empty cell" if is_empty else "neither text nor a whole number"


def is_set(value: object) -> bool:
    """Return whether a cell of a one-hot column says that its label is given."""
    return str("" if value is None else value).strip().casefold() not in _UNSET


def or_nan(read: Callable[[object], float | None]) -> Callable[[object], float]:
    """Return a function that gives NaN for what `read` makes nothing of."""

    def number(value: object) -> float:
        found = read(value)
        return np.nan if found is None else found

    return number


def _in_words(values: npt.NDArray[np.float64]) -> str:
    shown = ", ".join(f"{value:g}" for value in values[:6])
    return shown + (", …" if len(values) > 6 else "")

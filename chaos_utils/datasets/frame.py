"""A file of any format as one frame of columns: CSV, TSV, JSON, JSON lines or parquet.

The format is recognised by the content, not by the file's name. The cells of a column are codes of
its values, so that a rule meets each value once, however many rows there are.
"""

import csv
import hashlib
import io
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError, counted, did_you_mean
from chaos_utils.base.files import decode_text, read_regular
from chaos_utils.datasets.cells import as_identifier, as_list, as_object, dig, parse, unwrap_single
from chaos_utils.datasets.csv_file import CsvFile
from chaos_utils.datasets.faults import Faults, shorten
from chaos_utils.datasets.people import names_annotators

KEY = "/"  # between the identifiers of an item that several columns name
_UNNAMED = "unnamed"  # a column without a name, as pandas writes its index
_MOST_COLUMNS = 25_000
# Cells of a table that objects make, beside so many for each that is filled.
_MOST_CELLS, _SPARSE = 10_000_000, 100
_MOST_PIPED = 200_000_000  # bytes: a pipe may have no end
_HEAD = 1 << 20  # bytes in which text begins
_PARQUET, _NPY = b"PAR1", b"\x93NUMPY"
# How large a parquet file may be once unpacked: so many times its size, within these bytes.
_UNPACKED, _ALLOWED, _MOST_BYTES = 100, 20_000_000, 10**9
_OTHERS = {  # kinds of files by how they begin, and what to do with them
    b"\x1f\x8b": ("packed with gzip", "unpack it"),
    b"BZh": ("packed with bzip2", "unpack it"),
    b"\xfd7zXZ": ("packed with xz", "unpack it"),
    b"PK\x03\x04": ("an archive (zip), or a workbook (Excel)", "unpack it; save a workbook as CSV"),
    b"\xd0\xcf\x11\xe0": ("a workbook (Excel)", "save it as CSV"),
    b"\xff\xfe": ("UTF-16 text", "save it as UTF-8"),
    b"\xfe\xff": ("UTF-16 text", "save it as UTF-8"),
    **dict.fromkeys(
        (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
        ("a pickle, which can run code and is never opened", "save it as CSV"),
    ),
    _NPY: ("numbers without names (npy)", "save them as CSV, with a name for each column"),
    _PARQUET: ("parquet", "save it as text"),
}
# What a row of a CSV file is, or the number of its fields, where it is none.
_SOUND, _NO_VALUE, _HEADER = 0, -1, -2
Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
_MANY_VALUES = 10_000  # which Python takes longer to list one by one than to import pandas
Coded = tuple[Codes, Any]  # the cells of a column, and an Arrow array of the values
Floats = npt.NDArray[np.float64]
_LARGEST = 1e300  # comparing is safe for integers of any length; converting is not
_IN_NUMBERS, _VISIBLE = b"0123456789.eE+-", bytes(range(0x21, 0x7F))


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of a file, read once, so that what is verified is what is used."""

    path: Path
    data: bytes

    @classmethod
    def of(cls, path: Path, *, piped: bool = False) -> "FileContent":
        """Read a regular file; `piped` allows for a pipe, which is read to its end, if it ends."""
        try:
            if not (piped and path.is_fifo()):
                return cls(path, read_regular(path))
            with path.open("rb") as stream:
                data = stream.read(_MOST_PIPED + 1)
        except OSError as fault:
            raise ChaosError("Cannot read this file.", where=path, found=fault.strerror) from fault
        if len(data) > _MOST_PIPED:
            raise ChaosError(
                "This pipe holds too much.",
                where=path,
                found=f"more than {_MOST_PIPED:,} bytes",
                todo="save it to a file",
            )
        return cls(path, data)

    @property
    def sha256(self) -> str:
        """Its digest, hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def is_array(self) -> bool:
        """Whether it is numpy's format, which names no columns."""
        return self.data.startswith(_NPY)

    @property
    def is_parquet(self) -> bool:
        """Whether it is parquet."""
        return self.data.startswith(_PARQUET)

    def first_character(self) -> str:
        """Return the first character that is no blank, if there is one, once all is known as text.

        Of ten million votes, the text takes a third of a gigabyte, which ASCII need not.
        """
        head = self.data[:_HEAD].lstrip()[:1]
        if head and self.data.isascii():
            self._refuse_others()
            return head.decode()
        return self.text().lstrip()[:1]

    def text(self) -> str:
        """Return it as text, without a byte-order mark."""
        self._refuse_others()
        return decode_text(self.data, "The data file", self.path)

    def _refuse_others(self) -> None:
        for start, (kind, todo) in _OTHERS.items():
            if self.data.startswith(start):
                raise ChaosError(
                    f"The data file is {kind}.", where=self.path, expected="UTF-8 text", todo=todo
                )


@dataclass(frozen=True)
class Column:
    """The cells of a column: the place of each row's among the values, -1 where there is none."""

    codes: Codes
    values: list[Any]  # in the order of the file

    @property
    def n_rows(self) -> int:
        """How many cells it has, with those that are missing."""
        return len(self.codes)

    @property
    def is_missing(self) -> npt.NDArray[np.bool_]:
        """In which rows it has no cell."""
        return self.codes < 0

    @property
    def is_numeric(self) -> bool:
        """Whether all its cells are numbers."""
        return {int, float}.issuperset(map(type, self.values))

    def __getitem__(self, row: int) -> Any:
        code = self.codes[row]
        return None if code < 0 else self.values[code]

    def map(self, read: Callable[[Any], Any], kind: Any = object) -> npt.NDArray[Any]:
        """Return for each row what `read` makes of its cell, or of None where there is none."""
        results = np.empty(len(self.values) + 1, dtype=kind)
        for k, value in enumerate([*self.values, None]):
            results[k] = read(value)
        return results[self.codes]

    @cached_property
    def identifiers(self) -> "Column":
        """Its cells as texts, each once; there is none where a cell names nothing."""
        return self.renamed([as_identifier(value) for value in self.values])

    def renamed(self, names: Sequence[str | None]) -> "Column":
        """Return its cells by other names of its values, each name once, and None for no cell."""
        if None not in names and len(set(names)) == len(names):
            return self if names == self.values else Column(self.codes, list(names))
        known: dict[str, int] = {}
        place = [-1 if name is None else known.setdefault(name, len(known)) for name in names]
        return Column(np.array([*place, -1], dtype=np.int32)[self.codes], list(known))

    @cached_property
    def numbers(self) -> Floats:
        """Its cells as numbers, NaN where one is no finite number, as True and texts are not."""
        return np.append(finite_numbers(self.values), np.nan)[self.codes]

    @cached_property
    def first(self) -> npt.NDArray[np.int64]:
        """The row in which each value stands first."""
        rows = np.flatnonzero(self.codes >= 0)[::-1]
        first = np.zeros(len(self.values), dtype=np.int64)
        first[self.codes[rows]] = rows
        return first

    def is_same_within(self, items: "Column") -> npt.NDArray[np.bool_]:
        """Return for each row whether it says here what the first row of its item does."""
        first = np.append(items.first, 0)[items.codes]
        return (items.codes < 0) | (self.codes == self.codes[first])

    def take(self, rows: npt.NDArray[Any]) -> "Column":
        """Return some of the rows, with the values that occur in them."""
        codes = self.codes[rows]
        there, first = np.unique(codes[codes >= 0], return_index=True)
        there = there[np.argsort(first)]
        place = np.full(len(self.values) + 1, -1, dtype=np.int32)
        place[there] = np.arange(len(there))
        return Column(place[codes], [self.values[k] for k in there])


def column_of(cells: Iterable[Any]) -> Column:
    """Return cells of any kind as a column."""
    known: dict[Any, int] = {}
    values: list[Any] = []
    codes = array("i")
    for cell in cells:
        if cell is None:
            codes.append(-1)
            continue
        is_nested = isinstance(cell, dict | list | set | bytearray)
        code = len(values) if is_nested else known.setdefault((type(cell), cell), len(values))
        if code == len(values):
            values.append(cell)
        codes.append(code)
    return Column(np.frombuffer(codes, dtype=np.int32) if codes else np.empty(0, np.int32), values)


class Frame:
    """The rows of a file, by columns.

    `place` says where a row stands, such as ``line 3``; `records` are the rows, where they are
    objects; `notes` say what was left out, and `spread` why there are fewer rows than lines.
    """

    is_sound = True  # whether no fault was noted while it was read

    def __init__(
        self,
        names: Sequence[str],
        n_rows: int,
        column: Callable[[str], Column],
        place: Callable[[int], str],
        *,
        records: Sequence[Mapping[str, Any]] | None = None,
        notes: Sequence[str] = (),
        spread: Callable[[], str] = str,
    ) -> None:
        self.names, self.notes, self.place, self.spread = list(names), tuple(notes), place, spread
        self._known = set(self.names)
        self._n, self._column, self._records = n_rows, column, records

    @classmethod
    def of_records(
        cls,
        records: Sequence[Mapping[str, Any]],
        place: Callable[[int], str],
        notes: Sequence[str] = (),
    ) -> "Frame":
        """Return objects as rows."""
        rows: dict[str, array[int]] = {}
        for row, record in enumerate(records):
            for name in record:
                rows.setdefault(name, array("q")).append(row)

        def column(name: str) -> Column:
            there = column_of(records[row][name] for row in rows[name])
            if len(rows[name]) == len(records):
                return there
            codes = np.full(len(records), -1, dtype=np.int32)
            codes[np.frombuffer(rows[name], dtype=np.int64)] = there.codes
            return Column(codes, there.values)

        return cls(list(rows), len(records), column, place, records=records, notes=notes)

    def __len__(self) -> int:
        return self._n

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._root(path) != ""

    def require(self, paths: Iterable[str], faults: Faults, todo: str = "") -> None:
        """Say at once, not row by row, when a column is not there at all."""
        for path in paths:
            if path not in self:
                raise faults.fatal(
                    f"The data file has no column {path!r}.",
                    "columns " + ", ".join(map(shorten, self.names[:12])),
                    did_you_mean(path, self.names[:12]),
                    todo,
                )

    def _root(self, path: str) -> str:
        """Return the column that a dotted path begins with; empty for none."""
        while path and path not in self._known:
            path = path.rpartition(".")[0]
        return path

    def column(self, path: str) -> Column:
        """Return a column, or what stands at a dotted path in its cells."""
        root = self._root(path)
        if not root:
            return Column(np.full(len(self), -1, dtype=np.int32), [])
        if root == path:
            return self._column(path)
        if self._records is not None:
            return column_of(dig(record, path) for record in self._records)
        cells = self._column(root)
        below = column_of(dig(value, path[len(root) + 1 :]) for value in cells.values)
        return Column(np.append(below.codes, np.int32(-1))[cells.codes], below.values)

    def in_object(self, path: str) -> npt.NDArray[np.bool_]:
        """Return in which rows a dotted path leads into an object, whether or not it is there."""
        inside = self.column(self._root(path))
        return inside.map(lambda value: as_object(value) is not None, bool)

    def key(self, item: str | Sequence[str]) -> Column:
        """Return the identifiers in a column, or those in several, joined by a slash."""
        if isinstance(item, str):
            return self.column(item).identifiers
        parts = [self.column(name).identifiers for name in item]
        codes = np.column_stack([part.codes for part in parts])
        kinds, first, kind = np.unique(codes, axis=0, return_index=True, return_inverse=True)
        place = np.full(len(kinds), -1, dtype=np.int32)
        names: list[str] = []
        for k in np.argsort(first).tolist():
            if (kinds[k] >= 0).all():
                place[k] = len(names)
                texts = (part.values[code] for part, code in zip(parts, kinds[k], strict=True))
                names.append(KEY.join(texts))
        return Column(place[kind.ravel()], names)

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as objects."""
        if self._records is not None:
            return [dict(record) for record in self._records]
        columns = [self._column(name) for name in self.names]
        return [
            {name: cells[row] for name, cells in zip(self.names, columns, strict=True)}
            for row in range(len(self))
        ]

    def each(self, paths: Sequence[str], faults: Faults) -> "Frame":
        """Return a row for each element of lists of equal length, or of an object.

        The element stands in the place of the list; an object's keys are a column ``key``.
        """
        rows: list[dict[str, Any]] = []
        places: list[tuple[int, int]] = []
        n_empty = 0
        path = " and ".join(map(repr, paths))
        for row, record in enumerate(self.records()):
            inside = [dig(record, path) for path in paths]
            keyed = inside[0] if isinstance(inside[0], dict) and len(paths) == 1 else None
            keys = list(keyed or ())
            lists = [list(keyed.values())] if keyed is not None else list(map(as_list, inside))
            lengths = {0 if elements is None else len(elements) for elements in lists}
            is_there = any(value is not None for value in inside)
            if is_there and (None in lists or len(lengths) > 1):
                faults.add(self.place(row), [f"field {path}: expected a list, or lists as long"])
                continue
            n_empty += lengths == {0}
            for k in range(max(lengths)):
                elements = {
                    at: values[k] for at, values in zip(paths, lists, strict=True) if values
                }
                rows.append(record | elements | ({"key": keys[k]} if keyed else {}))
                places.append((row, k))
        note = f"{counted(n_empty, 'row')} with nothing in {path}"
        return Frame.of_records(
            rows,
            lambda row: f"{self.place(places[row][0])}, {paths[0]}[{places[row][1]}]",
            (*self.notes, *([note] if n_empty else [])),
        )

    def where(self, conditions: Mapping[str, Sequence[object]], faults: Faults) -> "Frame":
        """Return the rows whose cells are among these, and note how many are left out."""
        kept = np.ones(len(self), dtype=bool)
        notes = []
        for path, values in conditions.items():
            self.require([path], faults)
            wanted = {_as_condition(value) for value in values}
            there = self.column(path).map(partial(_is_among, wanted), bool)
            left_out = int((kept & ~there).sum())
            kept &= there
            if left_out:
                is_private = names_annotators(path, self.column(path).values)
                expected = "as asked" if is_private else " or ".join(map(str, values))
                notes.append(f"{counted(left_out, 'row')} where {path!r} is not {expected}")
        rows = np.flatnonzero(kept)
        records = self._records
        return Frame(
            self.names,
            len(rows),
            lambda name: self._column(name).take(rows),
            lambda row: self.place(int(rows[row])),
            records=None if records is None else [records[row] for row in rows.tolist()],
            notes=(*self.notes, *notes),
        )


def _as_condition(value: object) -> str:
    """Return a value as `where` compares it: no cell, and an empty one, are false."""
    return str("false" if value in (None, "") else value).strip().casefold()


def _is_among(wanted: Collection[str], value: object) -> bool:
    return _as_condition(unwrap_single(value)) in wanted


def joined(frames: Sequence[Frame], files: Sequence[str]) -> Frame:
    """Return the rows of several files; ``file`` is the column of their names."""
    if len(frames) == 1:
        return frames[0]
    starts = np.cumsum([0, *map(len, frames)])

    def column(name: str) -> Column:
        if name == "file" and not any(name in frame.names for frame in frames):
            parts = [Column(np.zeros(len(frame), np.int32), [Path(file).stem])
                     for frame, file in zip(frames, files, strict=True)]  # fmt: skip
        else:
            parts = [frame.column(name) for frame in frames]
        whole = column_of(value for part in parts for value in part.values)
        ends = np.cumsum([len(part.values) for part in parts])
        codes = [
            np.append(known, np.int32(-1))[part.codes]
            for part, known in zip(parts, np.split(whole.codes, ends[:-1]), strict=True)
        ]
        return Column(np.concatenate(codes), whole.values)

    def place(row: int) -> str:
        file = int(np.searchsorted(starts, row, side="right")) - 1
        return f"{files[file]}, {frames[file].place(row - int(starts[file]))}"

    names = dict.fromkeys([*(name for frame in frames for name in frame.names), "file"])
    notes = [note for frame in frames for note in frame.notes]
    return Frame(list(names), int(starts[-1]), column, place, notes=notes)


def read_frame(
    content: FileContent,
    faults: Faults,
    inside: str = "",
    keys: Sequence[str] = (),
) -> Frame:
    """Return the rows of a file of any format but npy."""
    n_faults = faults.number
    frame = _read(content, faults, inside, keys)
    frame.is_sound = faults.number == n_faults
    return frame


def _read(content: FileContent, faults: Faults, inside: str, keys: Sequence[str]) -> Frame:
    if content.is_parquet:
        return _parquet(content, faults)
    start = content.first_character()
    if not start:
        raise faults.fatal("The data file is empty.")
    if inside or keys or start == "[":
        return _json(content, faults, inside, keys)
    return _json_lines(content, faults) if start == "{" else _csv(content, faults)


def lines(content: FileContent) -> Iterator[tuple[int, str]]:
    r"""Yield the number and text of each line that is not empty; only ``\n`` ends a line."""
    for number, text in enumerate(content.text().split("\n"), start=1):
        if text.strip():
            yield number, text


def _json(content: FileContent, faults: Faults, inside: str, keys: Sequence[str]) -> Frame:
    try:
        whole = parse(content.text())
    except ValueError as fault:  # which may quote a key, and that may be an annotator's name
        found = None if keys else str(fault).removeprefix("found ")
        raise faults.fatal("The data file is not valid JSON.", found) from fault
    rows = dig(whole, inside) if inside else whole
    if keys:
        return _nested(rows, faults, keys)
    if not isinstance(rows, list):
        raise faults.fatal(
            "The data file has no list of records at this place.",
            f"{type(rows).__name__} at {inside or 'the top'}",
            "a list of objects",
        )
    if rows and all(isinstance(row, list) for row in rows):
        raise faults.fatal(
            "The data file is a list of lists, which name no columns.",
            shorten(rows[0]),
            "a list of objects",
            "save it as CSV, with a name for each column",
        )
    return _objects(list(enumerate(rows)), faults, (inside or "record") + "[{}]")


def _nested(value: Any, faults: Faults, keys: Sequence[str]) -> Frame:
    """Return a row for all that nested objects lead to; its place shows no key."""
    rows: list[tuple[dict[str, Any], Any]] = [({}, value)]
    for key in keys:
        if not all(isinstance(below, dict) for _, below in rows):
            raise faults.fatal(
                "The data file has another depth than its dataset's YAML says.",
                expected=f"objects by {', by '.join(keys)}",
            )
        rows = [
            (above | {key: name}, inside) for above, below in rows for name, inside in below.items()
        ]
    records = [
        (below if isinstance(below, dict) else {"value": below}) | above for above, below in rows
    ]
    return _of_objects(records, lambda row: f"entry {row + 1}", faults)


def _json_lines(content: FileContent, faults: Faults) -> Frame:
    values, problems = [], []
    for number, text in lines(content):
        try:
            values.append((number, parse(text)))
        except ValueError as fault:
            problems.append((f"line {number}", str(fault)))
    n_objects = sum(isinstance(value, dict) for _, value in values)
    if problems or n_objects < 2:  # one object over many lines, or in one
        try:
            whole = parse(content.text())
        except ValueError as fault:
            is_damaged = "follows its end" not in str(fault)  # as what follows the first line does
            if is_damaged and not n_objects and len(problems) > 1:
                found = str(fault).removeprefix("found ")
                raise faults.fatal("The data file is not valid JSON.", found) from fault
        else:
            _refuse_an_object(content, whole, faults)
            return _objects([(1, whole)], faults, "line {}")
    for place, problem in problems:
        faults.add(place, [problem])
    return _objects(values, faults, "line {}")


def _refuse_an_object(content: FileContent, whole: dict[str, Any], faults: Faults) -> None:
    """Say of a file that is one JSON object what could be meant."""
    below = list(whole.values())
    are_objects = all(isinstance(value, dict) for value in below)
    by_column = 'save a row each, as pandas does by to_json(FILE, orient="records")'
    lists = _lists_of_objects(whole)
    inside = [f"{key}.{name}" for key in (whole if are_objects else ())
              for name in _lists_of_objects(whole[key])]  # fmt: skip
    lists += inside if len(inside) == 1 else []  # more are items, each with its annotations
    if below and not lists and all(isinstance(value, list) for value in below):
        raise faults.fatal(
            "The data file is one JSON object of lists.",
            counted(len(below), "key"),  # which may be annotators' names, as may those inside
            "a list of objects, or one object per line",
            f"where each list is a column, {by_column}; where keys are items, say so in a "
            "dataset's YAML file: `reader: {format: columns, keys: [item], labels: value}`",
        )
    if below and not lists and are_objects:
        fields = dict.fromkeys(name for value in below[:9] for name in value)
        raise faults.fatal(
            "The data file is one JSON object, whose keys may be the items.",
            f"{counted(len(below), 'key')} of objects with {counted(len(fields), 'key')}",
            "a list of objects, or one object per line",
            by_column
            if next(iter(fields), "") == "0"
            else "name what the keys are in a dataset's YAML file: `reader.keys: [item]`, or "
            "`[item, annotator]` where those below are annotators, beside its format and label",
        )
    if inside or (lists and "\n" in content.text().strip()):
        raise faults.fatal(
            "The data file is one JSON object, with the records inside.",
            f"a list at {', '.join(map(repr, lists[:3]))}",
            "a list of objects, or one object per line",
            f"say so in a dataset's YAML file: `reader.records: {lists[0]}`",
        )


def _lists_of_objects(value: Mapping[str, Any]) -> list[str]:
    """Return the keys of an object at which records may stand."""
    lists = {key: inside for key, inside in value.items() if isinstance(inside, list) and inside}
    return [key for key, inside in lists.items() if isinstance(inside[0], dict)]


def _objects(values: Sequence[tuple[int, Any]], faults: Faults, place: str) -> Frame:
    kept = []
    for number, value in values:
        if isinstance(value, dict):
            kept.append((number, value))
        else:
            faults.add(place.format(number), [f"found {shorten(value)}; expected a JSON object"])
    records = [value for _, value in kept]
    return _of_objects(records, lambda row: place.format(kept[row][0]), faults)


def _of_objects(
    records: Sequence[Mapping[str, Any]], place: Callable[[int], str], faults: Faults
) -> Frame:
    frame = Frame.of_records(records, place)
    _check_names(frame.names, faults)
    if len(frame) * len(frame.names) > _MOST_CELLS + _SPARSE * sum(map(len, records)):
        raise faults.fatal(
            "The data file makes too large a table.",
            f"{len(frame):,} rows and {len(frame.names):,} columns, almost all of it empty",
            "rows that have most of the columns",
            "leave out what is neither votes nor texts",
        )
    return frame


def _csv(content: FileContent, faults: Faults) -> Frame:
    file = CsvFile.of(content.data, faults)
    try:
        header, n_above, n_empty = file.header()
        names = [name.strip() or _UNNAMED for name in header]
        _check_names([name for name in names if name != _UNNAMED], faults)
        columns, ragged = file.columns(n_above, len(header))
    except csv.Error as fault:
        problem = str(fault).replace("unexpected end of data", "a quotation mark is never closed")
        raise faults.fatal(
            "The data file is not valid CSV.",
            problem,
            "fields of less than 131,072 characters, and a closing mark for each quotation mark",
        ) from fault
    cells = [_coded(columns.pop(0)) for _ in header]  # which frees the memory of each
    n_rows = len(cells[0][0]) if cells else 0
    empty, again = _rows_without_value(cells), _rows_like(header, cells)
    kinds = np.zeros(n_rows + len(ragged), dtype=np.int32)  # of all rows but blank lines
    kinds[list(ragged)] = np.maximum(list(ragged.values()), _NO_VALUE)
    in_table = np.flatnonzero(kinds == _SOUND)
    kinds[in_table[empty]], kinds[in_table[again]] = _NO_VALUE, _HEADER
    sound = np.flatnonzero(kinds[in_table] == _SOUND) if len(empty) or again else None
    n_empty += sum(n < -1 for n in ragged.values()) + len(empty) * (len(header) > 1)
    place = _note_rows(file, kinds[kinds != _NO_VALUE], len(header), faults)

    @cache
    def column(k: int) -> Column:
        read = ArrowColumn(*cells[k])
        return read if sound is None else read.take(sound)

    places = _places(names, column, faults)
    return Frame(
        list(places),
        n_rows - len(empty) - len(again),
        lambda name: column(places[name]),
        place,
        notes=[f"{counted(n_empty, 'row')} without any value"] if n_empty else [],
        spread=file.spread,
    )


def _note_rows(file: CsvFile, kinds: Codes, n_columns: int, faults: Faults) -> Callable[[int], str]:
    """Note the rows that are none of the table's; return what tells where these stand."""
    line_of = file.lines()
    faulty = np.flatnonzero(kinds)

    def place(number: int) -> str:
        return f"row {number + 1}, line {line_of(number)}"

    def problem(number: int) -> str:
        if kinds[number] == _HEADER:
            return "found the header again; expected it once: are two files joined?"
        return f"found {kinds[number]} fields; expected {n_columns}, as the header has"

    faults.add_many(len(faulty), lambda k: f"{place(faulty[k])}, {problem(faulty[k])}")
    if not len(faulty):
        return place
    numbers = np.flatnonzero(kinds == _SOUND)
    return lambda row: place(int(numbers[row]))


def _places(
    names: Sequence[str], column: Callable[[int], Column], faults: Faults
) -> dict[str, int]:
    """Return the place of each column; one without a name counts if it holds values."""
    unnamed = [k for k, name in enumerate(names) if name == _UNNAMED]
    bare = [k for k in unnamed if any(map(str.strip, column(k).values))]
    if len(bare) > 1:
        raise faults.fatal(
            "Several columns hold values and have no name.",
            "columns " + ", ".join(str(k + 1) for k in bare),
            "a name for each column that holds values",
            "name them in the first row, or delete them",
        )
    return {name: k for k, name in enumerate(names) if k in bare or name != _UNNAMED}


def _rows_without_value(cells: Sequence[Coded]) -> Ints:
    """Return the rows in which all cells are blank."""
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    is_empty = np.ones(len(cells[0][0]) if cells else 0, dtype=bool)
    for codes, values in cells:
        texts = pc.utf8_trim_whitespace(values)
        blank = _numbers_of(pc.binary_length(texts), np.int32) == 0
        if not blank.any():
            return np.empty(0, dtype=np.int64)
        is_empty &= blank[codes]
    return np.flatnonzero(is_empty)


def _rows_like(header: Sequence[str], cells: Sequence[Coded]) -> list[int]:
    """Return the rows in which two of the header's names stand, in whatever order.

    Labels that are numbers may be counts as well.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not cells:
        return []
    names = sorted(set(header) - {""})
    weights = np.array([*(1 if name.isdecimal() else len(names) for name in names), 0])
    texts = [name.encode() for name in names]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    # Not pa.array, which imports pandas.
    buffers = pa.py_buffer(ends), pa.py_buffer(b"".join(texts))
    arrow_names = pa.StringArray.from_buffers(len(names), *buffers)
    total = np.zeros(len(cells[0][0]), dtype=np.int64)
    for codes, values in cells:
        weight = weights[_numbers_of(pc.index_in(values, value_set=arrow_names), np.int32)]
        if weight.any():
            total += weight[codes]
    rows = []
    for row in np.flatnonzero(total > len(names)).tolist():
        again = set(names).intersection(values[codes[row]].as_py() for codes, values in cells)
        if len(again) > 1 and not all(map(str.isdecimal, again)):
            rows.append(row)
    return rows


def _coded(cells: Any) -> Coded:
    """Return an Arrow column as codes, -1 where there is none, and the values they stand for."""
    import pyarrow as pa

    chunks = cells.dictionary_encode().chunks  # of which the last knows all values
    codes = [_numbers_of(chunk.indices, np.int32) for chunk in chunks]
    values = chunks[-1].dictionary if chunks else pa.array([], cells.type)
    return np.concatenate([np.empty(0, np.int32), *codes]).astype(np.int32, copy=False), values


def _numbers_of(cells: Any, kind: type[np.generic]) -> npt.NDArray[Any]:
    """Return an Arrow array of numbers of a kind, -1 where there is none."""
    import pyarrow as pa

    # Not to_numpy, nor fill_null: they import pandas, which takes longer than a file to evaluate.
    end = cells.offset + len(cells)
    numbers: npt.NDArray[Any] = np.frombuffer(cells.buffers()[1], kind)[cells.offset : end]
    if not cells.null_count:
        return numbers
    is_number = _numbers_of(cells.is_valid().cast(pa.int8()), np.int8) == 1
    return np.where(is_number, numbers, -1)


def _check_names(names: Sequence[str], faults: Faults) -> None:
    if len(names) > _MOST_COLUMNS:
        raise faults.fatal(
            "The data file has too many columns.",
            f"{len(names):,}, such as {', '.join(map(shorten, names[:3]))}",
            f"at most {_MOST_COLUMNS:,}",
            "where columns or keys are items, give each a row",
        )
    double = [name for name, number in Counter(names).items() if number > 1]
    if double:
        raise faults.fatal(
            "A column appears twice in the data file.", shorten(double[0]), "each column once"
        )


def _parquet(content: FileContent, faults: Faults) -> Frame:
    import pyarrow as pa

    def tried(read: Callable[[], Any]) -> Any:
        try:
            return read()
        except MemoryError:
            raise
        except (pa.ArrowException, OSError, ValueError, OverflowError) as fault:
            found = " ".join(str(fault).split())[:160]
            raise faults.fatal("The data file is damaged.", found, "parquet") from fault

    table = tried(lambda: _unpacked(content, faults))
    _check_names(table.column_names, faults)
    plain = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer,
             pa.types.is_floating, pa.types.is_boolean)  # fmt: skip

    def column(name: str) -> Column:
        cells = table.column(name)
        tried(lambda: cells.validate(full=True))  # which finds text that is none
        if any(test(cells.type) for test in plain):
            return ArrowColumn(*tried(lambda: _coded(cells)))
        return column_of(tried(cells.to_pylist))

    return Frame(table.column_names, table.num_rows, column, lambda row: f"row {row + 1}")


def _unpacked(content: FileContent, faults: Faults) -> Any:
    """Return the table of a parquet file that takes a reasonable part of the memory."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    file = pq.ParquetFile(pa.BufferReader(content.data))
    alone = {"use_threads": False}  # one that outlives its file aborts the process
    held = file.metadata
    groups = [held.row_group(i) for i in range(held.num_row_groups)]
    leaves = [held.schema.column(j) for j in range(len(held.schema))]
    most = min(max(_UNPACKED * len(content.data), _ALLOWED), _MOST_BYTES)
    n_bytes = sum(group.total_byte_size for group in groups)
    if n_bytes <= most:
        for i in range(len(groups)):  # a damaged one raises; to look at its columns would abort
            next(file.iter_batches(1, row_groups=[i], **alone), None)
        n_bytes += sum(
            group.column(j).num_values * max(8, leaf.length)
            for group in groups
            for j, leaf in enumerate(leaves)
        )
    if n_bytes <= most:  # a text that is repeated stands in the file once
        texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        packed = pq.ParquetFile(pa.BufferReader(content.data), read_dictionary=texts).read(**alone)
        n_bytes += sum(
            pc.sum(pc.binary_length(chunk.dictionary).take(chunk.indices)).as_py() or 0
            for column in packed.columns
            if pa.types.is_dictionary(column.type)
            and column.type.value_type in (pa.string(), pa.binary())
            for chunk in column.chunks
        )
    if n_bytes > most:
        raise faults.fatal(
            "The data file is too large once it is unpacked.",
            f"at least {n_bytes:,} bytes",
            f"at most {most:,}, for a file of {len(content.data):,}",
        )
    return file.read(**alone)


def read_array(content: FileContent, faults: Faults) -> npt.NDArray[Any]:
    """Return the table of numbers that an npy file holds, shape (n, k)."""
    try:
        numbers: npt.NDArray[Any] = np.load(io.BytesIO(content.data), allow_pickle=False)
    except Exception as fault:  # numpy lets those of Python's tokenizer through, and more
        found = " ".join(str(fault).split())[:160]
        raise faults.fatal("The data file is damaged.", found, "numbers as npy") from fault
    if numbers.ndim != 2 or numbers.dtype.kind not in "iuf":
        raise faults.fatal(
            "The data file holds no table of numbers.",
            f"shape {numbers.shape} of {numbers.dtype}",
            "numbers of shape (items, labels)",
        )
    return numbers


def is_finite_number(value: object) -> bool:
    """Return whether a value is a finite number; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST


def finite_numbers(values: Sequence[Any]) -> Floats:
    """Return values as an array, NaN for what is no finite number."""
    if {int, float}.issuperset(map(type, values)):
        with suppress(OverflowError):  # of an integer of hundreds of digits
            return _bounded(np.array(values, dtype=np.float64))
    numbers = [float(value) if is_finite_number(value) else np.nan for value in values]
    return np.array(numbers, dtype=np.float64)


def _bounded(numbers: Floats) -> Floats:
    return np.where(np.abs(numbers) < _LARGEST, numbers, np.nan)


class ArrowColumn(Column):
    """Cells whose values Arrow holds; Python's are made where a rule asks for them."""

    arrow_values: Any
    are_texts_of_numbers: bool

    def __init__(self, codes: Codes, arrow_values: Any, numbers: Floats | None = None) -> None:
        """Hold values of one type; `numbers` are what their texts stand for."""
        self.__dict__.update(
            codes=codes, arrow_values=arrow_values, are_texts_of_numbers=numbers is not None
        )
        if numbers is not None:
            self.__dict__["values"] = numbers.tolist()

    @property
    def is_numeric(self) -> bool:
        """As that of any column."""
        from pyarrow import types

        kind = self.arrow_values.type
        return self.are_texts_of_numbers or types.is_integer(kind) or types.is_floating(kind)

    @cached_property
    def values(self) -> list[Any]:
        """As those of any column."""
        if len(self.arrow_values) < _MANY_VALUES:
            values: list[Any] = self.arrow_values.to_pylist()
        else:  # faster by far, but imports pandas
            values = self.arrow_values.to_numpy(zero_copy_only=False).tolist()
        return values

    @cached_property
    def numbers(self) -> Floats:
        """As those of any column."""
        if not self.is_numeric:
            return np.full(self.n_rows, np.nan)
        is_plain = self.are_texts_of_numbers or len(self.arrow_values) < _MANY_VALUES
        values = self.values if is_plain else self.arrow_values.to_numpy(zero_copy_only=False)
        return np.append(_bounded(np.asarray(values, dtype=np.float64)), np.nan)[self.codes]

    @cached_property
    def identifiers(self) -> Column:
        """As those of any column."""
        return self if self._has_bytes_of(_VISIBLE, fewest=1) else super().identifiers

    def as_numbers(self) -> Column | None:
        """Return texts as the numbers that they are; None where one may be no number."""
        import pyarrow as pa

        if not self._has_bytes_of(_IN_NUMBERS):
            return None
        try:
            numbers = _numbers_of(self.arrow_values.cast(pa.float64()), np.float64)
        except pa.ArrowInvalid:  # such as an empty cell
            return None
        return ArrowColumn(self.codes, self.arrow_values, numbers)

    def _has_bytes_of(self, plain: bytes, *, fewest: int = 0) -> bool:
        """Return whether its values are texts of these bytes alone, as many as `fewest` or more."""
        import pyarrow as pa

        if self.arrow_values.type != pa.string():
            return False
        _, ends, data = self.arrow_values.buffers()
        if not len(self.arrow_values) or not data:
            return not len(self.arrow_values) or not fewest
        offset = self.arrow_values.offset
        within = np.frombuffer(ends, np.int32)[offset:][: len(self.arrow_values) + 1]
        if np.diff(within).min() < fewest:
            return False
        return not bytes(data[within[0] : within[-1]]).translate(None, plain)

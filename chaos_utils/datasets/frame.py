"""A file of any format as one frame of columns: CSV, TSV, JSON, JSON lines or parquet.

The format is recognised by the content, not by the file's name. A column holds each value once, and
for each cell the index of the value, so that a rule is applied once per value, not per row.
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

IDENTIFIERS = "text or a whole number"  # what `Column.identifiers` takes
KEY = "/"  # between the identifiers of an item that several columns name
_UNNAMED = "unnamed"  # a column without a name, as pandas writes its index
_MOST_COLUMNS = 25_000
# A table of JSON objects may have so many cells, and so many more for each filled cell.
_MOST_CELLS, _CELLS_PER_FILLED = 10_000_000, 100
_MOST_PIPED = 200_000_000  # bytes: a pipe may have no end
_HEAD = 1 << 20  # bytes that are searched for the first character
_PARQUET, _NPY = b"PAR1", b"\x93NUMPY"
# How large a parquet file may be once unpacked: so many times its size, but at least and at most
# so many bytes.
_MOST_TIMES, _ALWAYS_ALLOWED, _MOST_BYTES = 100, 20_000_000, 10**9
_REFUSED = {  # by the first bytes of a file: its kind, and what to do with it
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
# The kind of a row of a CSV file: one of these, or its number of fields, where that is wrong.
_SOUND, _NO_VALUE, _HEADER = 0, -1, -2
Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
_MANY_VALUES = 10_000  # to convert more one by one takes longer than to import pandas
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
        """Read a regular file; `piped` allows for a pipe, which is read to its end."""
        try:
            if not (piped and path.is_fifo()):
                return cls(path, read_regular(path))
            with path.open("rb") as stream:
                data = stream.read(_MOST_PIPED + 1)
        except OSError as fault:
            raise ChaosError("Cannot read this file.", where=path, found=fault.strerror) from fault
        if len(data) > _MOST_PIPED:
            raise ChaosError(
                "The pipe holds too much data.",
                where=path,
                found=f"more than {_MOST_PIPED:,} bytes",
                todo="save it to a file",
            )
        return cls(path, data)

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file, hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def is_array(self) -> bool:
        """Whether the file is in numpy's format, which names no columns."""
        return self.data.startswith(_NPY)

    @property
    def is_parquet(self) -> bool:
        """Whether the file is parquet."""
        return self.data.startswith(_PARQUET)

    def first_character(self) -> str:
        """Return the first character that is no blank, or nothing; a file that is no text fails.

        ASCII is not decoded as a whole: for ten million votes, that saves a third of a gigabyte.
        """
        head = self.data[:_HEAD].lstrip()[:1]
        if head and self.data.isascii():
            self._refuse_known_binaries()
            return head.decode()
        return self.text().lstrip()[:1]

    def text(self) -> str:
        """Return the content as text, without a byte-order mark."""
        self._refuse_known_binaries()
        return decode_text(self.data, "The data file", self.path)

    def _refuse_known_binaries(self) -> None:
        for start, (kind, todo) in _REFUSED.items():
            if self.data.startswith(start):
                raise ChaosError(
                    f"The data file is {kind}.", where=self.path, expected="UTF-8 text", todo=todo
                )


@dataclass(frozen=True)
class Column:
    """The cells of a column: its different values, and for each row the index of the value."""

    codes: Codes  # of each row, an index in `values`; -1 where there is no cell
    values: list[Any]  # in the order of the file

    @property
    def n_rows(self) -> int:
        """Number of rows, also those without a cell."""
        return len(self.codes)

    @property
    def is_missing(self) -> npt.NDArray[np.bool_]:
        """Whether each row has no cell in this column."""
        return self.codes < 0

    @property
    def is_numeric(self) -> bool:
        """Whether all cells are numbers."""
        return {int, float}.issuperset(map(type, self.values))

    def __getitem__(self, row: int) -> Any:
        code = self.codes[row]
        return None if code < 0 else self.values[code]

    def map(self, read: Callable[[Any], Any], kind: Any = object) -> npt.NDArray[Any]:
        """Return `read` of each row's cell, or of None where there is no cell; shape (rows,)."""
        results = np.empty(len(self.values) + 1, dtype=kind)
        for k, value in enumerate([*self.values, None]):
            results[k] = read(value)
        return results[self.codes]

    @cached_property
    def identifiers(self) -> "Column":
        """The cells as identifiers, without those that are none."""
        return self.renamed([as_identifier(value) for value in self.values])

    @property
    def has_other(self) -> npt.NDArray[np.bool_]:
        """Whether each cell holds something that is no identifier, such as 1.5; not if empty."""
        empty = (None, "")
        return self.map(lambda cell: as_identifier(cell) is None and cell not in empty
                        and cell == cell and not str(cell).isspace(), bool)  # fmt: skip

    def renamed(self, names: Sequence[str | None]) -> "Column":
        """Return the cells with a new name for each value; None removes the cells of a value.

        Values with the same name become one.
        """
        if None not in names and len(set(names)) == len(names):
            return self if names == self.values else Column(self.codes, list(names))
        known: dict[str, int] = {}
        codes = [-1 if name is None else known.setdefault(name, len(known)) for name in names]
        return Column(np.array([*codes, -1], dtype=np.int32)[self.codes], list(known))

    @cached_property
    def numbers(self) -> Floats:
        """The cells as numbers, shape (rows,); NaN for others, as for True and texts."""
        return np.append(finite_numbers(self.values), np.nan)[self.codes]

    @cached_property
    def first(self) -> npt.NDArray[np.int64]:
        """The first row of each value."""
        rows = np.flatnonzero(self.codes >= 0)[::-1]
        first = np.zeros(len(self.values), dtype=np.int64)
        first[self.codes[rows]] = rows
        return first

    def is_same_within(self, items: "Column") -> npt.NDArray[np.bool_]:
        """Return for each row whether its cell equals that in the first row of the same item."""
        first = np.append(items.first, 0)[items.codes]
        return (items.codes < 0) | (self.codes == self.codes[first])

    def take(self, rows: npt.NDArray[Any]) -> "Column":
        """Return some of the rows, with the values that occur in them."""
        codes = self.codes[rows]
        used, first = np.unique(codes[codes >= 0], return_index=True)
        used = used[np.argsort(first)]  # in the order of the rows
        new_code = np.full(len(self.values) + 1, -1, dtype=np.int32)  # the last stays -1: no cell
        new_code[used] = np.arange(len(used))
        return Column(new_code[codes], [self.values[k] for k in used])


def column_of(cells: Iterable[Any]) -> Column:
    """Return cells of any kind as a column; None stands for no cell."""
    cells = list(cells)
    kinds = set(map(type, cells))
    if kinds <= {list} or kinds <= {dict}:
        return Column(np.arange(len(cells), dtype=np.int32), cells)
    if len(kinds) == 1 and kinds <= {str, int, float}:
        code_of = {cell: code for code, cell in enumerate(dict.fromkeys(cells))}
        coded = np.fromiter(map(code_of.__getitem__, cells), np.int32, len(cells))
        return Column(coded, list(code_of))
    known: dict[Any, int] = {}
    values: list[Any] = []
    codes = array("i")
    for cell in cells:
        if cell is None:
            codes.append(-1)
            continue
        # Cells that cannot be hashed are values of their own; 1, True and 1.0 are three values.
        is_nested = isinstance(cell, dict | list | set | bytearray)
        code = len(values) if is_nested else known.setdefault((type(cell), cell), len(values))
        if code == len(values):
            values.append(cell)
        codes.append(code)
    return Column(np.frombuffer(codes, dtype=np.int32) if codes else np.empty(0, np.int32), values)


class Frame:
    """The rows of a file, by columns.

    `place` says where a row stands, such as ``line 3``; `records` are the rows of a JSON file;
    `notes` say what was left out; `describe_multiline_rows` tells why a file has more lines than
    rows.
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
        describe_multiline_rows: Callable[[], str] = str,
    ) -> None:
        self.names, self.notes, self.place = list(names), tuple(notes), place
        self.describe_multiline_rows = describe_multiline_rows
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
        names = next(iter(records), {}).keys()
        if all(record.keys() == names for record in records):  # as in most files
            return cls(
                list(names),
                len(records),
                lambda name: column_of([record[name] for record in records]),
                place,
                records=records,
                notes=notes,
            )
        rows: dict[str, array[int]] = {}
        for row, record in enumerate(records):
            for name in record:
                rows.setdefault(name, array("q")).append(row)

        def column(name: str) -> Column:
            filled = column_of(records[row][name] for row in rows[name])
            if len(rows[name]) == len(records):
                return filled
            codes = np.full(len(records), -1, dtype=np.int32)
            codes[np.frombuffer(rows[name], dtype=np.int64)] = filled.codes
            return Column(codes, filled.values)

        return cls(list(rows), len(records), column, place, records=records, notes=notes)

    def __len__(self) -> int:
        return self._n

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._root(path) != ""

    def require(self, paths: Iterable[str], faults: Faults, todo: str = "") -> None:
        """Raise a ChaosError if a column is missing from all rows."""
        for path in paths:
            if path not in self:
                raise faults.fatal(
                    f"The data file has no column {path!r}.",
                    "columns " + ", ".join(map(shorten, self.names[:12])),
                    did_you_mean(path, self.names[:12]),
                    todo,
                )

    @property
    def lacks_header(self) -> bool:
        """Whether a column's name is one of its own values, as where the first line holds data."""
        is_text = self._records is None
        return is_text and any(name in self.column(name).values for name in self.names)

    def _root(self, path: str) -> str:
        """Return the longest beginning of a dotted path that is a column; empty for none."""
        while path and path not in self._known:
            path = path.rpartition(".")[0]
        return path

    def column(self, path: str) -> Column:
        """Return a column, or the values at a dotted path in a column's cells."""
        root = self._root(path)
        if not root:
            return Column(np.full(len(self), -1, dtype=np.int32), [])
        if root == path:
            return self._column(path)
        if self._records is not None:
            return column_of(dig(record, path) for record in self._records)
        cells = self._column(root)
        path_below = path[len(root) + 1 :]
        below = column_of(dig(value, path_below) for value in cells.values)
        return Column(np.append(below.codes, np.int32(-1))[cells.codes], below.values)

    def are_same(self, first: int, second: int) -> bool:
        """Return whether two rows have the same cell in every column."""
        return all(self.column(name)[first] == self.column(name)[second] for name in self.names)

    def in_object(self, path: str) -> npt.NDArray[np.bool_]:
        """Return in which rows a dotted path's column holds an object, with this path or not."""
        inside = self.column(self._root(path))
        return inside.map(lambda value: as_object(value) is not None, bool)

    def key(self, item: str | Sequence[str]) -> Column:
        """Return the identifiers in a column, or those in several, joined by a slash."""
        if isinstance(item, str):
            return self.column(item).identifiers
        parts = [self.column(name).identifiers for name in item]
        codes = np.column_stack([part.codes for part in parts])
        tuples, first, inverse = np.unique(codes, axis=0, return_index=True, return_inverse=True)
        key_of_tuple = np.full(len(tuples), -1, dtype=np.int32)
        keys: list[str] = []
        for k in np.argsort(first).tolist():  # in the order of the file
            if (tuples[k] >= 0).all():
                key_of_tuple[k] = len(keys)
                texts = (part.values[code] for part, code in zip(parts, tuples[k], strict=True))
                keys.append(KEY.join(texts))
        return Column(key_of_tuple[inverse.ravel()], keys)

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

        The element replaces the list; an object's keys are a column ``key``.
        """
        rows: list[dict[str, Any]] = []
        origins: list[tuple[int, int]] = []  # of each new row: the old row, and the element's index
        n_empty = 0
        paths_shown = " and ".join(map(repr, paths))
        for row, record in enumerate(self.records()):
            values = [dig(record, path) for path in paths]
            keyed = values[0] if isinstance(values[0], dict) and len(paths) == 1 else None
            keys = list(keyed or ())
            lists = [list(keyed.values())] if keyed is not None else list(map(as_list, values))
            lengths = {0 if elements is None else len(elements) for elements in lists}
            has_value = any(value is not None for value in values)
            if has_value and (None in lists or len(lengths) > 1):
                problem = f"field {paths_shown}: expected a list, or lists as long"
                faults.add(self.place(row), [problem])
                continue
            n_empty += lengths == {0}
            for k in range(max(lengths)):
                kth_elements = {
                    path: elements[k]
                    for path, elements in zip(paths, lists, strict=True)
                    if elements
                }
                rows.append(record | kth_elements | ({"key": keys[k]} if keyed else {}))
                origins.append((row, k))
        note = f"{counted(n_empty, 'row')} with nothing in {paths_shown}"
        return Frame.of_records(
            rows,
            lambda row: f"{self.place(origins[row][0])}, {paths[0]}[{origins[row][1]}]",
            (*self.notes, *([note] if n_empty else [])),
        )

    def items_across(self, others: Sequence[str]) -> "Frame":
        """Return a row for each filled cell of the columns that are not among `others`.

        Such a column's name becomes the cell of ``item``, and its cell that of ``label``.
        """
        names = [name for name in self.names if name not in others]
        columns = [self._column(name) for name in names]
        filled = [
            np.flatnonzero(~cells.map(lambda cell: cell in (None, ""), bool)) for cells in columns
        ]
        row = np.concatenate([np.empty(0, dtype=np.int64), *filled])
        position = np.repeat(np.arange(len(names)), list(map(len, filled)))
        labels = _stacked([cells.take(rows) for cells, rows in zip(columns, filled, strict=True)])

        def column(name: str) -> Column:
            if name == "item":
                return Column(position.astype(np.int32), names)
            return labels if name == "label" else self._column(name).take(row)

        return Frame(
            ["item", "label", *others],
            len(row),
            column,
            lambda k: f"{self.place(int(row[k]))}, column {shorten(names[position[k]])}",
            notes=self.notes,
        )

    def where(self, conditions: Mapping[str, Sequence[object]], faults: Faults) -> "Frame":
        """Return the rows that meet all conditions, and note how many are left out.

        `conditions` has the values that count by the path of the column.
        """
        is_included = np.ones(len(self), dtype=bool)
        notes = []
        for path, values in conditions.items():
            self.require([path], faults)
            allowed = {_as_condition(value) for value in values}
            meets = self.column(path).map(partial(_is_among, allowed), bool)
            n_left_out = int((is_included & ~meets).sum())
            is_included &= meets
            if n_left_out:
                is_private = names_annotators(path, self.column(path).values)
                expected = "as asked" if is_private else " or ".join(map(str, values))
                notes.append(f"{counted(n_left_out, 'row')} where {path!r} is not {expected}")
        rows = np.flatnonzero(is_included)
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
    """Return a value as `where` compares it: a missing or empty cell counts as false."""
    return str("false" if value in (None, "") else value).strip().casefold()


def _is_among(allowed: Collection[str], value: object) -> bool:
    return _as_condition(unwrap_single(value)) in allowed


def joined(frames: Sequence[Frame], files: Sequence[str]) -> Frame:
    """Return the rows of several files, with a column ``file`` of the files' names."""
    if len(frames) == 1:
        return frames[0]
    starts = np.cumsum([0, *map(len, frames)])

    def column(name: str) -> Column:
        if name == "file" and not any(name in frame.names for frame in frames):
            parts = [Column(np.zeros(len(frame), np.int32), [Path(file).stem])
                     for frame, file in zip(frames, files, strict=True)]  # fmt: skip
        else:
            parts = [frame.column(name) for frame in frames]
        return _stacked(parts)

    def place(row: int) -> str:
        file = int(np.searchsorted(starts, row, side="right")) - 1
        return f"{files[file]}, {frames[file].place(row - int(starts[file]))}"

    names = dict.fromkeys([*(name for frame in frames for name in frame.names), "file"])
    notes = [note for frame in frames for note in frame.notes]
    return Frame(list(names), int(starts[-1]), column, place, notes=notes)


def _stacked(parts: Sequence[Column]) -> Column:
    """Return the cells of several columns, one column below the other."""
    if not parts:
        return column_of(())
    merged = column_of(value for part in parts for value in part.values)
    ends = np.cumsum([len(part.values) for part in parts])
    codes = [  # of a part's values among the merged ones, with -1 at the end for no cell
        np.append(new_codes, np.int32(-1))[part.codes]
        for part, new_codes in zip(parts, np.split(merged.codes, ends[:-1]), strict=True)
    ]
    return Column(np.concatenate(codes), merged.values)


def read_frame(
    content: FileContent,
    faults: Faults,
    inside: str = "",
    keys: Sequence[str] = (),
) -> Frame:
    """Return the rows of a file of any format but npy.

    For JSON, `inside` is the path to the list of records, and `keys` are the columns that the keys
    of nested objects make.
    """
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
    except ValueError as fault:  # the message may quote a key, which may be an annotator's name
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
    """Return a row for each innermost value of nested objects; messages show no keys."""
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
    return _frame_of_records(records, lambda row: f"entry {row + 1}", faults)


def _json_lines(content: FileContent, faults: Faults) -> Frame:
    """Return the rows of JSON lines, or of one JSON object."""
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
            is_damaged = "follows its end" not in str(fault)  # JSON lines read as one JSON do
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
    """Raise a ChaosError that says how to read one JSON object, where it seems to hold records."""
    below = list(whole.values())
    are_objects = all(isinstance(value, dict) for value in below)
    by_column = 'save a row each, as pandas does by to_json(FILE, orient="records")'
    lists = _lists_of_objects(whole)
    inside = [f"{key}.{name}" for key in (whole if are_objects else ())
              for name in _lists_of_objects(whole[key])]  # fmt: skip
    lists += inside if len(inside) == 1 else []  # several may be items with annotations inside
    if below and not lists and all(isinstance(value, list) for value in below):
        raise faults.fatal(
            "The data file is one JSON object of lists.",
            counted(len(below), "key"),  # no key is shown: it may be an annotator's name
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
    """Return the objects among numbered values as rows; `place` is a template for the number."""
    objects = []
    for number, value in values:
        if isinstance(value, dict):
            objects.append((number, value))
        else:
            faults.add(place.format(number), [f"found {shorten(value)}; expected a JSON object"])
    records = [value for _, value in objects]
    return _frame_of_records(records, lambda row: place.format(objects[row][0]), faults)


def _frame_of_records(
    records: Sequence[Mapping[str, Any]], place: Callable[[int], str], faults: Faults
) -> Frame:
    """Return records as rows; columns without sound names, and too sparse a table, are refused."""
    frame = Frame.of_records(records, place)
    _check_names(frame.names, faults)
    if len(frame) * len(frame.names) > _MOST_CELLS + _CELLS_PER_FILLED * sum(map(len, records)):
        raise faults.fatal(
            "The data file makes too large a table.",
            f"{len(frame):,} rows and {len(frame.names):,} columns, almost all of it empty",
            "rows that have most of the columns",
            "leave out what is neither votes nor texts",
        )
    return frame


def _csv(content: FileContent, faults: Faults) -> Frame:
    """Return the rows of a CSV or TSV file; rows without a value are left out and counted."""
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
    cells = [_coded(columns.pop(0)) for _ in header]  # pop frees the memory of each column
    n_rows = len(cells[0][0]) if cells else 0
    empty, header_again = _rows_without_value(cells), _rows_like(header, cells)
    kinds = np.zeros(n_rows + len(ragged), dtype=np.int32)  # of all rows but blank lines
    kinds[list(ragged)] = np.maximum(list(ragged.values()), _NO_VALUE)
    in_table = np.flatnonzero(kinds == _SOUND)
    kinds[in_table[empty]], kinds[in_table[header_again]] = _NO_VALUE, _HEADER
    sound = np.flatnonzero(kinds[in_table] == _SOUND) if len(empty) or header_again else None
    # A blank line that is read as one empty field is no row: -1 in `ragged`, or one column.
    n_empty += sum(n < -1 for n in ragged.values()) + len(empty) * (len(header) > 1)
    place = _note_rows(file, kinds[kinds != _NO_VALUE], len(header), faults)

    @cache
    def column(k: int) -> Column:
        read = ArrowColumn(*cells[k])
        return read if sound is None else read.take(sound)

    if header_again and sum(name in column(k).values for k, name in enumerate(names)) > 1:
        raise faults.fatal(*no_header(names))
    indices = _column_indices(names, column, faults)
    return Frame(
        list(indices),
        n_rows - len(empty) - len(header_again),
        lambda name: column(indices[name]),
        place,
        notes=[f"{counted(n_empty, 'row')} without any value"] if n_empty else [],
        describe_multiline_rows=file.describe_multiline_rows,
    )


def no_header(names: Sequence[str]) -> tuple[str, str, str, str]:
    """Return what `Faults.fatal` takes, for a file whose first line holds data."""
    first = f"first line {shorten(','.join(names))}"
    return "The file has no header.", first, "", "add a first line with the columns' names"


def _note_rows(file: CsvFile, kinds: Codes, n_columns: int, faults: Faults) -> Callable[[int], str]:
    """Note faulty rows; return a function that says where a row of the table stands.

    `kinds` are those of all rows with a value, in the order of the file.
    """
    line_of = file.lines()
    faulty = np.flatnonzero(kinds)

    def place(number: int) -> str:
        return f"line {line_of(number)}"

    def problem(number: int) -> str:
        if kinds[number] == _HEADER:
            return "found the header again; expected it once: are two files joined?"
        return f"found {kinds[number]} fields; expected {n_columns}, as the header has"

    faults.add_many(len(faulty), lambda k: f"{place(faulty[k])}, {problem(faulty[k])}")
    if not len(faulty):
        return place
    numbers = np.flatnonzero(kinds == _SOUND)
    return lambda row: place(int(numbers[row]))


def _column_indices(
    names: Sequence[str], column: Callable[[int], Column], faults: Faults
) -> dict[str, int]:
    """Return each column's index by its name; one without a name counts only if it has values."""
    unnamed = [k for k, name in enumerate(names) if name == _UNNAMED]
    filled = [k for k in unnamed if any(map(str.strip, column(k).values))]
    if len(filled) > 1:
        raise faults.fatal(
            "Several columns hold values and have no name.",
            "columns " + ", ".join(str(k + 1) for k in filled),
            "a name for each column that holds values",
            "name them in the first row, or delete them",
        )
    return {name: k for k, name in enumerate(names) if k in filled or name != _UNNAMED}


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
    """Return the rows that hold at least two of the header's names, in whatever order.

    Names that are numbers do not suffice: these cells may be counts.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not cells:
        return []
    names = sorted(set(header) - {""})
    # A sum above len(names) takes a word and one more name; 0 is the weight of any other cell.
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
        in_row = set(names).intersection(values[codes[row]].as_py() for codes, values in cells)
        if len(in_row) > 1 and not all(map(str.isdecimal, in_row)):
            rows.append(row)
    return rows


def _coded(cells: Any) -> Coded:
    """Return an Arrow column as codes, -1 for a missing cell, and the values of the codes."""
    import pyarrow as pa

    chunks = cells.dictionary_encode().chunks  # the last chunk's dictionary has all values
    codes = [_numbers_of(chunk.indices, np.int32) for chunk in chunks]
    values = chunks[-1].dictionary if chunks else pa.array([], cells.type)
    return np.concatenate([np.empty(0, np.int32), *codes]).astype(np.int32, copy=False), values


def _numbers_of(cells: Any, kind: type[np.generic]) -> npt.NDArray[Any]:
    """Return an Arrow array of numbers as a numpy array of a type, -1 for a missing number."""
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
    repeats = [name for name, number in Counter(names).items() if number > 1]
    if repeats:
        raise faults.fatal(
            "A column appears twice in the data file.", shorten(repeats[0]), "each column once"
        )


def _parquet(content: FileContent, faults: Faults) -> Frame:
    """Return the rows of a parquet file; any error of Arrow's is a fault of the file."""
    import pyarrow as pa

    def attempt(read: Callable[[], Any]) -> Any:
        try:
            return read()
        except MemoryError:
            raise
        except (pa.ArrowException, OSError, ValueError, OverflowError) as fault:
            found = " ".join(str(fault).split())[:160]
            raise faults.fatal("The data file is damaged.", found, "parquet") from fault

    table = attempt(lambda: _unpacked(content, faults))
    _check_names(table.column_names, faults)
    plain = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer,
             pa.types.is_floating, pa.types.is_boolean)  # fmt: skip

    def column(name: str) -> Column:
        cells = table.column(name)
        attempt(lambda: cells.validate(full=True))  # finds text that is no UTF-8
        if any(test(cells.type) for test in plain):
            return ArrowColumn(*attempt(lambda: _coded(cells)))
        return column_of(attempt(cells.to_pylist))

    return Frame(table.column_names, table.num_rows, column, lambda row: f"row {row + 1}")


def _unpacked(content: FileContent, faults: Faults) -> Any:
    """Return the table of a parquet file, unless it takes too much memory once unpacked.

    Its size is estimated in three steps, each only if the earlier ones found it small enough: by
    the file's own metadata, by the number of values, and by the texts, which are stored once each.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    file = pq.ParquetFile(pa.BufferReader(content.data))
    alone = {"use_threads": False}  # a thread that outlives its file aborts the process
    metadata = file.metadata
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    leaves = [metadata.schema.column(j) for j in range(len(metadata.schema))]
    most = min(max(_MOST_TIMES * len(content.data), _ALWAYS_ALLOWED), _MOST_BYTES)
    n_bytes = sum(group.total_byte_size for group in groups)
    if n_bytes <= most:
        for i in range(len(groups)):  # a damaged group raises here, and would abort below
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
    except Exception as fault:  # numpy also raises errors of Python's tokenizer, among others
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
    """Return whether a value is a finite number; True and False are not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST


def finite_numbers(values: Sequence[Any]) -> Floats:
    """Return values as an array, NaN for a value that is no finite number."""
    if {int, float}.issuperset(map(type, values)):
        with suppress(OverflowError):  # an integer of hundreds of digits
            return _bounded(np.array(values, dtype=np.float64))
    numbers = [float(value) if is_finite_number(value) else np.nan for value in values]
    return np.array(numbers, dtype=np.float64)


def _bounded(numbers: Floats) -> Floats:
    return np.where(np.abs(numbers) < _LARGEST, numbers, np.nan)


class ArrowColumn(Column):
    """A column whose values Arrow holds; they become Python objects only when needed."""

    arrow_values: Any
    are_texts_of_numbers: bool

    def __init__(self, codes: Codes, arrow_values: Any, numbers: Floats | None = None) -> None:
        """Hold values of one type; `numbers` are the values of texts that spell numbers."""
        self.__dict__.update(
            codes=codes, arrow_values=arrow_values, are_texts_of_numbers=numbers is not None
        )
        if numbers is not None:
            self.__dict__["values"] = numbers.tolist()

    @property
    def is_numeric(self) -> bool:
        """Whether all cells are numbers."""
        from pyarrow import types

        kind = self.arrow_values.type
        return self.are_texts_of_numbers or types.is_integer(kind) or types.is_floating(kind)

    @cached_property
    def values(self) -> list[Any]:
        """The different values, in the order of the file."""
        if len(self.arrow_values) < _MANY_VALUES:
            values: list[Any] = self.arrow_values.to_pylist()
        else:  # faster by far, but imports pandas
            values = self.arrow_values.to_numpy(zero_copy_only=False).tolist()
        return values

    @cached_property
    def numbers(self) -> Floats:
        """The cells as numbers, shape (rows,); NaN for others."""
        if not self.is_numeric:
            return np.full(self.n_rows, np.nan)
        is_plain = self.are_texts_of_numbers or len(self.arrow_values) < _MANY_VALUES
        values = self.values if is_plain else self.arrow_values.to_numpy(zero_copy_only=False)
        return np.append(_bounded(np.asarray(values, dtype=np.float64)), np.nan)[self.codes]

    @cached_property
    def identifiers(self) -> Column:
        """The cells as identifiers, without those that are none."""
        return self if self._has_bytes_of(_VISIBLE, fewest=1) else super().identifiers

    def as_numbers(self) -> Column | None:
        """Return the column with texts as numbers; None where a text may be no number."""
        import pyarrow as pa

        if not self._has_bytes_of(_IN_NUMBERS):
            return None
        try:
            numbers = _numbers_of(self.arrow_values.cast(pa.float64()), np.float64)
        except pa.ArrowInvalid:  # such as an empty cell
            return None
        return ArrowColumn(self.codes, self.arrow_values, numbers)

    def _has_bytes_of(self, plain: bytes, *, fewest: int = 0) -> bool:
        """Return whether all values are texts of the bytes in `plain`, with at least `fewest`."""
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

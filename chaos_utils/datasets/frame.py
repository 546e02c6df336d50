"""A file of any format as one frame of columns: CSV, TSV, JSON, JSON lines or parquet.

The format is recognised by the content, not by the file's name. The cells of a column are codes of
its values, so that a rule meets each value once, however many rows there are.
"""

import csv
import hashlib
import io
import re
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
from chaos_utils.base.files import read_regular
from chaos_utils.datasets.cells import as_identifier, as_list, as_object, dig, parse, unwrap_single
from chaos_utils.datasets.faults import Faults, shorten
from chaos_utils.datasets.people import names_annotators

LARGE = 1 << 20  # bytes from which on it pays to import pyarrow: its CSV takes a fifth of the time
KEY = "/"  # between the identifiers of an item that several columns name
_UNNAMED = "unnamed"  # the column without a name; one without values is no column
_DELIMITERS = ",\t;"
_SEP = re.compile(r'\s*"?sep=([^"\r\n])"?\r?\n', re.IGNORECASE)  # Excel's first line
_MOST_COLUMNS = 25_000
# Cells of a table that objects make, beside so many for each that is filled.
_MOST_CELLS, _SPARSE = 10_000_000, 100
_MOST_PIPED = 200_000_000  # bytes: a pipe may have no end
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
    b"\x80\x02": ("a pickle, which can run code and is never opened", "save it as CSV"),
    b"\x80\x03": ("a pickle, which can run code and is never opened", "save it as CSV"),
    b"\x80\x04": ("a pickle, which can run code and is never opened", "save it as CSV"),
    b"\x80\x05": ("a pickle, which can run code and is never opened", "save it as CSV"),
    _NPY: ("numbers without names (npy)", "save them as CSV, with a name for each column"),
    _PARQUET: ("parquet", "save it as text"),
}
Codes = npt.NDArray[np.int32]
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

    def text(self) -> str:
        """Return it as text, without a byte-order mark."""
        for start, (kind, todo) in _OTHERS.items():
            if self.data.startswith(start):
                raise ChaosError(
                    f"The data file is {kind}.", where=self.path, expected="UTF-8 text", todo=todo
                )
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError as fault:
            raise ChaosError(
                "The data file is not UTF-8 text.",
                where=self.path,
                found=f"byte {fault.start}: {fault.reason}",
                todo="save it as UTF-8",
            ) from fault


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
        made = np.empty(len(self.values) + 1, dtype=kind)
        for k, value in enumerate([*self.values, None]):
            made[k] = read(value)
        return made[self.codes]

    @cached_property
    def identifiers(self) -> "Column":
        """Its cells as texts, each once; there is none where a cell names nothing."""
        known: dict[str, int] = {}
        names = [as_identifier(value) for value in self.values]
        if None not in names and len(set(names)) == len(names):
            return self if names == self.values else Column(self.codes, names)
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

    `place` says where a row stands, such as ``line 3``, and is None where only another reading
    tells; `records` are the rows, where they are objects; `notes` say what was left out, and
    `balanced_subset` why there are fewer rows than lines.
    """

    def __init__(
        self,
        names: Sequence[str],
        n_rows: int,
        column: Callable[[str], Column],
        place: Callable[[int], str] | None,
        *,
        records: Sequence[Mapping[str, Any]] | None = None,
        notes: Sequence[str] = (),
        spread: str = "",
    ) -> None:
        self.names, self.notes, self.spread = list(names), tuple(notes), spread
        self._known = set(self.names)
        self._n, self._column, self._place, self._records = n_rows, column, place, records

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

    @property
    def is_placed(self) -> bool:
        """Whether it is known where its rows stand."""
        return self._place is not None

    def place(self, row: int) -> str:
        """Return where a row stands, such as ``line 3``."""
        return self._place(row) if self._place else f"row {row + 1}"

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._root(path) != ""

    def with_part(self, paths: Iterable[str], faults: Faults, todo: str = "") -> None:
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
            lengths = {0 if one is None else len(one) for one in lists}
            if any(one is not None for one in inside) and (None in lists or len(lengths) > 1):
                faults.add(self.place(row), [f"field {path}: expected a list, or lists as long"])
                continue
            n_empty += lengths == {0}
            for k in range(max(lengths)):
                made = record | {
                    path: one[k] for path, one in zip(paths, lists, strict=True) if one
                }
                rows.append(made | ({"key": keys[k]} if keyed else {}))
                places.append((row, k))
        said = f"{counted(n_empty, 'row')} with nothing in {path}"
        return Frame.of_records(
            rows,
            lambda row: f"{self.place(places[row][0])}, {paths[0]}[{places[row][1]}]",
            (*self.notes, *([said] if n_empty else [])),
        )

    def where(self, conditions: Mapping[str, Sequence[object]], faults: Faults) -> "Frame":
        """Return the rows whose cells are among these, and note how many are left out."""
        kept = np.ones(len(self), dtype=bool)
        notes = []
        for path, values in conditions.items():
            self.with_part([path], faults)
            wanted = {_as_condition(value) for value in values}
            there = self.column(path).map(partial(_is_among, wanted), bool)
            left_out = int((kept & ~there).sum())
            kept &= there
            if left_out:
                expected = " or ".join(map(str, values))
                expected = (
                    "as asked" if names_annotators(path, self.column(path).values) else expected
                )
                notes.append(f"{counted(left_out, 'row')} where {path!r} is not {expected}")
        rows = np.flatnonzero(kept)
        records = self._records
        return Frame(
            self.names,
            len(rows),
            lambda name: self._column(name).take(rows),
            (lambda row: self.place(int(rows[row]))) if self.is_placed else None,
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

    def at(row: int) -> tuple[int, int]:
        file = int(np.searchsorted(starts, row, side="right")) - 1
        return file, row - int(starts[file])

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
        file, inside = at(row)
        return f"{files[file]}, {frames[file].place(inside)}"

    names = dict.fromkeys([*(name for frame in frames for name in frame.names), "file"])
    notes = [note for frame in frames for note in frame.notes]
    return Frame(list(names), int(starts[-1]), column, place, notes=notes)


def read_frame(
    content: FileContent,
    faults: Faults,
    inside: str = "",
    keys: Sequence[str] = (),
    *,
    careful: bool = True,
) -> Frame:
    """Return the rows of a file of any format but npy."""
    if content.is_parquet:
        return _parquet(content, faults)
    if not careful and len(content.data) >= LARGE and not (inside or keys):
        frame = _large_csv(content)
        if frame is not None:
            return frame
    start = content.text().lstrip()[:1]
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
    numbered = enumerate(rows)
    return _objects([(k, row) for k, row in numbered], faults, (inside or "record") + "[{}]")


def _nested(value: Any, faults: Faults, keys: Sequence[str]) -> Frame:
    """Return a row for all that nested objects lead to; its place shows no key."""
    rows: list[tuple[dict[str, Any], Any]] = [({}, value)]
    for key in keys:
        if not all(isinstance(below, dict) for _, below in rows):
            raise faults.fatal(
                "The data file has another depth than its dataset's YAML says.",
                expected=f"objects by {', by '.join(keys)}",
            )
        rows = [(above | {key: name}, one) for above, below in rows for name, one in below.items()]
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
    by_column = 'save a row each, as pandas does by to_json(FILE, orient="records")'
    lists = [key for key, value in whole.items() if isinstance(value, list) and value
             and isinstance(value[0], dict)]  # fmt: skip
    inside = []
    if below and all(isinstance(value, dict) for value in below):
        inside = [f"{key}.{name}" for key in whole for name, value in whole[key].items()
                  if isinstance(value, list) and value and isinstance(value[0], dict)]  # fmt: skip
    lists += inside if len(inside) == 1 else []  # more are items, each with its annotations
    if below and not lists and all(isinstance(value, list) for value in below):
        raise faults.fatal(
            "The data file is one JSON object of lists.",
            counted(len(below), "key"),  # which may be annotators' names, as may those inside
            "a list of objects, or one object per line",
            f"where each list is a column, {by_column}; where keys are items, say so in a "
            "dataset's YAML file: `reader: {format: columns, keys: [item], labels: value}`",
        )
    if below and not lists and all(isinstance(value, dict) for value in below):
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


def _head(text: str) -> tuple[list[str], str, str]:
    """Return the columns of a CSV file, what separates its fields, and its first line."""
    said = _SEP.match(text)
    first = text[said.end() if said else 0 :].lstrip("\r\n").split("\n", 1)[0]
    delimiter = said[1] if said else max(_DELIMITERS, key=first.count)
    row = [first]
    with suppress(csv.Error):  # which reading on explains
        row = next(csv.reader(io.StringIO(first, newline=""), delimiter=delimiter), [])
    return _names(row), delimiter, first


def _names(header: Sequence[str]) -> list[str]:
    """Return a header's names; a table's own index, which pandas leaves unnamed, is ``unnamed``."""
    return [name.strip() or _UNNAMED for name in header]


def _large_csv(content: FileContent) -> Frame | None:
    """Return the rows of a CSV file, without their lines; None where anything is unusual."""
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyarrow import csv as pc

    if not content.data.isascii():
        content.text()  # which says what is wrong, if it is no text
    data = content.data.lstrip(b"\r\n")
    head = data[: 1 << 20].decode("utf-8-sig", "replace")
    names, delimiter, first = _head(head)
    rarest_first = sorted(names, key=len, reverse=True)
    has_marks = b'"' in data
    is_usual = (
        first.lstrip()[:1] not in ("{", "[", "")
        and not _SEP.match(head)
        and len(set(names)) == len(names) <= _MOST_COLUMNS
        and first.count('"') % 2 == 0
        and not (has_marks and (delimiter == "\t" or data.count(b'"') % 2))
        and not all(_is_cell_of(data, name, delimiter, len(first)) for name in rarest_first)
    )
    if not is_usual:
        return None

    @cache
    def column(name: str) -> Column:
        try:
            blocks = pc.open_csv(
                pa.BufferReader(data),
                pc.ReadOptions(column_names=names, skip_rows=1, block_size=1 << 24),
                pc.ParseOptions(delimiter=delimiter, newlines_in_values=has_marks),
                pc.ConvertOptions(
                    include_columns=[name],
                    column_types={name: pa.string()},
                    strings_can_be_null=False,
                ),
            )
            return ArrowColumn(pa.chunked_array(one.column(0) for one in blocks))
        except MemoryError:  # one of pyarrow's own faults too
            raise
        except (pa.ArrowException, ValueError) as fault:
            raise ChaosError("This CSV file is unusual.", where=content.path) from fault

    try:
        n_rows = column(names[-1]).n_rows
        there = [name for name in names
                 if name != _UNNAMED or any(map(str.strip, column(name).values))]  # fmt: skip
        frame = Frame(there, n_rows, column, None)
    except ChaosError:
        return None
    n_lines = data.count(b"\n") + (not data.endswith(b"\n"))
    return None if has_marks and n_lines > len(frame) + 1 else frame


def _is_cell_of(data: bytes, name: str, delimiter: str, start: int) -> bool:
    """Return whether a cell of a CSV file is a column's name, as where two files are joined."""
    plain, field = name.encode(), delimiter.encode()
    return data.find(plain, start) >= 0 and any(
        data.find(before + plain + after, start) >= 0
        for before in (b"\n", field)
        for after in (field, b"\n", b"\r")
    )


def _csv(content: FileContent, faults: Faults) -> Frame:
    text = content.text()
    names, delimiter, _ = _head(text)
    header: list[str] = []
    wanted: set[str] = set()
    known: list[dict[str, int]] = []
    codes: list[array[int]] = []
    places: tuple[array[int], array[int]] = (array("q"), array("q"))
    spread: list[str] = []
    n_rows = n_lines = n_empty = 0
    try:
        for line, end, row in _records(
            text, delimiter, quoted=_has_quotes(text, delimiter, faults)
        ):
            if not any(map(str.strip, row)):
                n_empty += len(row) > 1
                continue
            if not header:
                header = row
                names = _names(row)
                _check_names([name for name in names if name != _UNNAMED], faults)
                known, codes = [{} for _ in names], [array("i") for _ in names]
                wanted = set(filter(None, header))
                continue
            n_rows += 1  # as in parquet
            n_lines += end - line + 1
            if end > line:
                spread.append(f"row {n_rows}, line {line}")
            problem = ""
            if len(row) != len(names):
                problem = f"found {len(row)} fields; expected {len(names)}, as the header has"
            elif len(again := wanted.intersection(row)) > 1 and not all(map(str.isdecimal, again)):
                # in whatever order; labels that are numbers may be counts as well
                problem = "found the header again; expected it once: are two files joined?"
            if problem:
                faults.add(f"row {n_rows}, line {line}", [problem])
                continue
            for place, number in zip(places, (n_rows, line), strict=True):
                place.append(number)
            for values, column, cell in zip(known, codes, row, strict=True):
                column.append(values.setdefault(cell, len(values)))
    except csv.Error as fault:
        said = str(fault).replace("unexpected end of data", "a quotation mark is never closed")
        raise faults.fatal(
            "The data file is not valid CSV.",
            said,
            "fields of less than 131,072 characters, and a closing mark for each quotation mark",
        ) from fault
    bare = {k for k, name in enumerate(names) if name == _UNNAMED and any(map(str.strip, known[k]))}
    if len(bare) > 1:
        raise faults.fatal(
            "Several columns hold values and have no name.",
            "columns " + ", ".join(str(k + 1) for k in sorted(bare)),
            "a name for each column that holds values",
            "name them in the first row, or delete them",
        )
    columns = {
        name: Column(np.array(cells, dtype=np.int32), list(values))
        for k, (name, values, cells) in enumerate(zip(names, known, codes, strict=False))
        if name != _UNNAMED or k in bare
    }
    n_read = len(places[0])
    why = f"{counted(n_rows, 'row')} on {counted(n_lines, 'line')}: fields hold line ends in "
    why += f"{counted(len(spread), 'row')} ({', '.join(spread[:3])}{', …' * (len(spread) > 3)})"
    return Frame(
        list(columns),
        n_read,
        columns.__getitem__,
        lambda row: f"row {places[0][row]}, line {places[1][row]}",
        notes=[f"{counted(n_empty, 'row')} without any value"] if n_empty else [],
        spread=why if spread else "",
    )


def _records(text: str, delimiter: str, *, quoted: bool) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the first and last line, and the fields, of each row of a CSV file but blank lines."""
    said = _SEP.match(text)
    above = text[: said.end()] if said else ""
    stream = io.StringIO(text[len(above) :], newline="")
    start = shift = above.count("\n") + 1
    reader = csv.reader(
        stream, delimiter=delimiter, strict=True,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
    )  # fmt: skip
    try:
        for row in reader:
            line, start = start, reader.line_num + shift
            if row:
                yield line, start - 1, row
    except csv.Error as fault:
        raise csv.Error(f"line {start}: {fault}") from fault


def _has_quotes(text: str, delimiter: str, faults: Faults) -> bool:
    """Return whether quotation marks stand around fields, or are characters like others.

    Like others they are in TSV whose lines then have as many fields as the header. Where rows would
    vanish by the one reading or the other, the file is refused.
    """
    if '"' not in text:
        return True
    quoted, mixed, is_spread = _shape(text, delimiter, quoted=True)
    if delimiter != "\t" and not is_spread:
        return True
    plain, _, _ = _shape(text, delimiter, quoted=False)
    if delimiter == "\t" and (plain or not quoted):
        return plain == quoted > 0
    if (plain and quoted) or (delimiter == "\t" and mixed):
        raise faults.fatal(
            "It is in doubt what quotation marks mean in this file.",
            f"{counted(quoted, 'row')}, if they stand around fields, which then hold line ends"
            + (f" and tabs ({mixed}); " if mixed else "; ")
            + (f"{counted(plain, 'row')}, one a line, if they are" if plain else "or they are")
            + " characters like others",
            "fields without line ends, or marks around fields alone",
            "write a mark that is a character twice, and its field between marks; or replace "
            "the line ends inside fields by blanks",
        )
    return True


def _shape(text: str, delimiter: str, *, quoted: bool) -> tuple[int, str, bool]:
    """Return how many rows a file has, 0 where a row has more or fewer fields than the header.

    Then, where a field first holds line ends and tabs, and whether rows take several lines.
    """
    n_rows, n_fields, mixed, is_spread = 0, 0, "", False
    try:
        for line, end, row in _records(text, delimiter, quoted=quoted):
            if not any(row):
                continue
            n_fields = n_fields or len(row)
            if len(row) != n_fields or n_fields == 1:
                return 0, mixed, is_spread
            n_rows += 1
            if end > line:
                is_spread = True
                if not mixed and any("\t" in cell and "\n" in cell for cell in row):
                    mixed = f"line {line}"
    except csv.Error:
        return 0, mixed, is_spread
    return n_rows - 1, mixed, is_spread


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
            return ArrowColumn(cells)
        return column_of(tried(cells.to_pylist))

    return Frame(table.column_names, table.num_rows, column, lambda row: f"row {row + 1}")


def _unpacked(content: FileContent, faults: Faults) -> Any:
    """Return the table of a parquet file that takes a reasonable part of the memory."""
    import pyarrow as pa
    import pyarrow.compute as pc  # type: ignore[import-untyped]
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
    """Cells that Arrow holds; codes and values are made where a rule asks for them."""

    cells: Any
    are_texts_of_numbers: bool

    def __init__(self, cells: Any, numbers: Floats | None = None) -> None:
        """Hold cells of one type; `numbers` are what their texts stand for."""
        self.__dict__.update(cells=cells, are_texts_of_numbers=numbers is not None)
        if numbers is not None:
            self.__dict__["numbers"] = _bounded(numbers)

    @property
    def n_rows(self) -> int:
        """As that of any column."""
        return len(self.cells)

    @property
    def is_missing(self) -> npt.NDArray[np.bool_]:
        """As that of any column."""
        missing: npt.NDArray[np.bool_] = self.cells.is_null().to_numpy()
        return missing

    @property
    def is_numeric(self) -> bool:
        """As that of any column."""
        from pyarrow import types

        kind = self.cells.type
        return self.are_texts_of_numbers or types.is_integer(kind) or types.is_floating(kind)

    @cached_property
    def _encoded(self) -> tuple[Codes, list[Any]]:
        chunks = self.cells.dictionary_encode().unify_dictionaries().combine_chunks()
        codes = chunks.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        # Faster than to_pylist, by far.
        values = chunks.dictionary.to_numpy(zero_copy_only=False).tolist()
        return codes, list(map(float, values)) if self.are_texts_of_numbers else values

    @cached_property
    def codes(self) -> Codes:
        """As those of any column."""
        return self._encoded[0]

    @cached_property
    def values(self) -> list[Any]:
        """As those of any column."""
        return self._encoded[1]

    @cached_property
    def numbers(self) -> Floats:
        """As those of any column."""
        if self.is_numeric:
            return _bounded(self.cells.to_numpy().astype(np.float64))
        return np.full(self.n_rows, np.nan)

    @cached_property
    def identifiers(self) -> Column:
        """As those of any column."""
        import pyarrow.compute as pc

        if self._has_bytes_of(_VISIBLE) and not pc.any(pc.equal(self.cells, "")).as_py():
            return self
        return super().identifiers

    def take(self, rows: npt.NDArray[Any]) -> "ArrowColumn":
        """Return some of the rows."""
        numbers = self.numbers[rows] if self.are_texts_of_numbers else None
        return ArrowColumn(self.cells.take(rows), numbers)

    def as_numbers(self) -> Column | None:
        """Return texts as the numbers that they are; None where one may be no number."""
        import pyarrow as pa

        if not self._has_bytes_of(_IN_NUMBERS):
            return None
        try:
            return ArrowColumn(self.cells, self.cells.cast(pa.float64()).to_numpy())
        except pa.ArrowInvalid:  # such as an empty cell
            return None

    def _has_bytes_of(self, plain: bytes) -> bool:
        """Return whether its cells are texts of these bytes alone."""
        import pyarrow as pa

        if self.cells.type != pa.string():
            return False
        for chunk in self.cells.chunks:
            _, ends, data = chunk.buffers()
            within = np.frombuffer(ends, np.int32)[chunk.offset :][: len(chunk) + 1]
            if len(chunk) and data and bytes(data[within[0] : within[-1]]).translate(None, plain):
                return False
        return True

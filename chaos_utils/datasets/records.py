"""Records of a data file, whatever its format: CSV, TSV, JSON, JSON lines, parquet or npy.

The format is recognised by the content, not by the file's name.
"""

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.faults import Faults, shorten

MOST_VOTES = 10**9  # for one label of one item; more is a mistake, or overflows
DELIMITERS = ",\t;"
_PARQUET, _NPY = b"PAR1", b"\x93NUMPY"
# How large a parquet file may be once unpacked: so many times its size, within these bytes.
_UNPACKED, _ALLOWED, _MOST_BYTES = 100, 20_000_000, 10**9
_PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ")  # gzip, zip, bzip2, xz
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_WHOLE = re.compile(r"[0-9]{1,18}(\.0*)?")
_NUMBER = re.compile(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class Record:
    """One row of a file.

    Attributes
    ----------
    place : str
        Where it stands, such as ``line 3``.
    fields : mapping
        Its values by column or key.
    """

    place: str
    fields: Mapping[str, Any]

    def get(self, path: str) -> Any:
        """Return the value of a column, or at a dotted path of keys; None where there is none."""
        return dig(self.fields, path)


def dig(value: Any, path: str) -> Any:
    """Return what stands at a dotted path of keys, or None."""
    if isinstance(value, Mapping) and path in value:
        return value[path]
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file, read once, so that what is verified is what is used."""

    path: Path
    data: bytes

    @classmethod
    def of(cls, path: Path) -> "Content":
        """Read a file."""
        try:
            return cls(path, path.read_bytes())
        except OSError as fault:
            raise ChaosError("Cannot read this file.", where=path, found=fault.strerror) from fault

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
        if self.data.startswith(_PACKED):
            raise ChaosError(
                "The data file is compressed.",
                where=self.path,
                found="an archive, or a workbook",
                todo="unpack it; save a workbook as CSV",
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


def lines(content: Content) -> Iterator[tuple[str, str]]:
    r"""Yield the place and text of each line that is not empty; only ``\n`` ends a line."""
    for number, text in enumerate(content.text().split("\n"), start=1):
        if text.strip():
            yield f"line {number}", text


_IN_WORDS = {
    "Unterminated string starting at": "a string is never closed",
    "Expecting property name enclosed in double quotes": "a name in double quotes is missing",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting value": "a value is missing",
    "Extra data": "something follows its end",
}


def parse(text: str) -> Any:
    """Return the value of a JSON text.

    Raises
    ------
    ValueError
        If it is not JSON, a key appears twice in an object, or it holds what nothing can use;
        the message says what was found and expected.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as fault:
        at = f"column {fault.colno}: " if fault.lineno == 1 else f"JSON line {fault.lineno}: "
        raise ValueError(
            f"{at}found {shorten(text)}; expected JSON ({_IN_WORDS.get(fault.msg, fault.msg)})"
        ) from fault
    except RecursionError as fault:
        raise ValueError(
            f"found {shorten(text)}; expected JSON (it is nested too deeply)"
        ) from fault
    except _DoubledKeyError as fault:
        raise ValueError(
            f"found the key {shorten(fault.args[0])} twice in one object; expected it once"
        ) from fault
    except ValueError as fault:  # an integer of thousands of digits
        raise ValueError(f"found {shorten(text)}; expected JSON (a number is too long)") from fault
    if _SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as fault:
            raise ValueError("found half of a surrogate pair; expected Unicode text") from fault
    return value


class _DoubledKeyError(ValueError):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _DoubledKeyError(next(key for key in keys if keys.count(key) > 1))
    return made


def read_records(
    content: Content, faults: Faults, inside: str = "", keys: Sequence[str] = ()
) -> list[Record]:
    """Return the records of a file of any format but npy.

    Parameters
    ----------
    content : Content
    faults : Faults
        Takes what is wrong with single records, which are left out.
    inside : str
        Dotted path to the list of records in a JSON file; empty for JSON lines.
    keys : sequence of str
        Columns that the keys of nested objects make, where records are no list in a JSON file.

    Raises
    ------
    ChaosError
        If the file cannot be read as a whole.
    """
    if content.is_parquet:
        return _parquet(content, faults)
    start = content.text().lstrip()[:1]
    if not start:
        raise faults.fatal("The data file is empty.")
    if inside or keys or start == "[":
        return _json(content, faults, inside, keys)
    return _json_lines(content, faults) if start == "{" else read_csv(content, faults)[0]


def _json(content: Content, faults: Faults, inside: str, keys: Sequence[str]) -> list[Record]:
    try:
        whole = parse(content.text())
    except ValueError as fault:  # which may quote a key, and that may be an annotator's name
        found = None if keys else str(fault).removeprefix("found ")
        raise faults.fatal("The data file is not valid JSON.", found) from fault
    found = dig(whole, inside) if inside else whole
    if keys:
        return _nested(found, faults, keys)
    if not isinstance(found, list):
        raise faults.fatal(
            "The data file has no list of records at this place.",
            f"{type(found).__name__} at {inside or 'the top'}",
            "a list of objects",
        )
    return _objects([(f"{inside or 'record'}[{i}]", one) for i, one in enumerate(found)], faults)


def _nested(value: Any, faults: Faults, keys: Sequence[str]) -> list[Record]:
    """Return a record for all that nested objects lead to; its place shows no key."""
    rows: list[tuple[dict[str, Any], Any]] = [({}, value)]
    for key in keys:
        if not all(isinstance(below, dict) for _, below in rows):
            raise faults.fatal(
                "The data file has another depth than its dataset's YAML says.",
                expected=f"objects by {', by '.join(keys)}",
            )
        rows = [(above | {key: name}, one) for above, below in rows for name, one in below.items()]
    return [
        Record(f"entry {i}", (below if isinstance(below, dict) else {"value": below}) | above)
        for i, (above, below) in enumerate(rows, start=1)
    ]


def _json_lines(content: Content, faults: Faults) -> list[Record]:
    values = []
    for place, text in lines(content):
        try:
            values.append((place, parse(text)))
        except ValueError as fault:
            faults.add(place, [str(fault)])
    return _objects(values, faults)


def _objects(values: Sequence[tuple[str, Any]], faults: Faults) -> list[Record]:
    records = []
    for place, value in values:
        if isinstance(value, dict):
            records.append(Record(place, value))
        else:
            faults.add(place, [f"found {shorten(value)}; expected a JSON object"])
    return records


def read_csv(content: Content, faults: Faults) -> tuple[list[Record], str]:
    """Return the records of a CSV or TSV file, and what separates its fields.

    Parameters
    ----------
    content : Content
    faults : Faults
        Takes what is wrong with single lines, which are left out.

    Returns
    -------
    records : list of Record
    delimiter : str
        A comma, a semicolon or a tab, whichever is commonest in the header.

    Raises
    ------
    ChaosError
        If the file is empty or is not CSV, or a column stands in it twice.
    """
    text = content.text()
    if not text.strip():
        raise faults.fatal("The data file is empty.")
    head = text.lstrip("\r\n").split("\n", 1)[0]
    delimiter = max(DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] = []
    records = []
    start, n_rows = 1, 0
    try:
        for row in reader:
            line, start = start, reader.line_num + 1
            if not any(row):
                continue
            if not header:
                header = [name.strip() for name in row]
                _check_columns(header, faults)
                continue
            n_rows += 1  # as in parquet, and in the columns that `findings` reads
            place = f"row {n_rows}, line {line}"
            if len(row) != len(header):
                faults.add(
                    place, [f"found {len(row)} fields; expected {len(header)}, as the header has"]
                )
            else:
                records.append(Record(place, dict(zip(header, row, strict=True))))
    except csv.Error as fault:
        raise faults.fatal(
            "The data file is not valid CSV.",
            f"line {start}: {fault}",
            "fields of less than 131,072 characters, and a closing mark for each quotation mark",
        ) from fault
    return records, delimiter


def _check_columns(names: Sequence[str], faults: Faults) -> None:
    double = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if double:
        raise faults.fatal(
            "A column appears twice in the data file.", shorten(double[0]), "each column once"
        )


def read_parquet(content: Content, faults: Faults) -> Any:
    """Return the table of a parquet file that takes a reasonable part of the memory."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.compute as pc  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    held = pq.read_metadata(pa.BufferReader(content.data))
    groups = [held.row_group(i) for i in range(held.num_row_groups)]
    leaves = [held.schema.column(j) for j in range(len(held.schema))]
    n_bytes = sum(group.total_byte_size for group in groups) + sum(
        group.column(j).num_values * max(8, leaf.length)
        for group in groups
        for j, leaf in enumerate(leaves)
    )
    most = min(max(_UNPACKED * len(content.data), _ALLOWED), _MOST_BYTES)
    if n_bytes <= most:  # a text that is repeated stands in the file once
        texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        packed = pq.read_table(pa.BufferReader(content.data), read_dictionary=texts)
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
    return pq.read_table(pa.BufferReader(content.data))


def _parquet(content: Content, faults: Faults) -> list[Record]:
    import pyarrow as pa

    try:
        table = read_parquet(content, faults)
        _check_columns(table.column_names, faults)
        rows = table.to_pylist()
    except (pa.ArrowException, OSError, ValueError) as fault:
        raise faults.fatal("The data file is damaged.", _line(fault), "parquet") from fault
    return [Record(f"row {i}", row) for i, row in enumerate(rows, start=1)]


def read_array(content: Content, faults: Faults) -> npt.NDArray[Any]:
    """Return the table of numbers that an npy file holds, shape (n, k)."""
    try:
        array: npt.NDArray[Any] = np.load(io.BytesIO(content.data), allow_pickle=False)
    except Exception as fault:  # numpy lets those of Python's tokenizer through, and more
        raise faults.fatal("The data file is damaged.", _line(fault), "numbers as npy") from fault
    if array.ndim != 2 or array.dtype.kind not in "iuf":
        raise faults.fatal(
            "The data file holds no table of numbers.",
            f"shape {array.shape} of {array.dtype}",
            "numbers of shape (items, labels)",
        )
    return array


def _line(fault: BaseException) -> str:
    return " ".join(str(fault).split())[:160]


def as_count(value: object) -> int | None:
    """Return a number of votes, from 0 to `MOST_VOTES`; None where the value is none."""
    if isinstance(value, str):
        value = float(value) if _WHOLE.fullmatch(value.strip()) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= MOST_VOTES or value != int(value):
        return None
    return int(value)


def as_number(value: object) -> float | int | None:
    """Return a number; None where the value is none."""
    if isinstance(value, str):
        text = value.strip()
        value = float(text) if _NUMBER.fullmatch(text.removeprefix("-")) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def as_share(value: object) -> float | None:
    """Return a share, from 0 to 1; None where the value is none."""
    found = as_number(value)
    return float(found) if found is not None and 0 <= found <= 1 else None


def as_identifier(value: object) -> str | None:
    """Return the identifier of an item or annotator as text; None where the value is none."""
    if isinstance(value, float) and value == value and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return str(value).strip() or None

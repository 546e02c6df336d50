"""The text of a CSV or TSV file: what separates its fields, and its cells as Arrow columns.

Python's `csv` decides whether a file is valid and on which line a row begins; pyarrow reads the
cells, in a tenth of the time.
"""

import csv
import io
import re
from array import array
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from chaos_utils.base.errors import counted
from chaos_utils.datasets.faults import Faults

_DELIMITERS = ",\t;"
_EXCEL = re.compile(r'\s*"?sep=([^"\r\n])"?\r?\n', re.IGNORECASE)  # the first line that it writes
_FIRST_LINE = re.compile(rb"[\r\n]*([^\n]*)")
BLOCK = 1 << 22  # bytes that are read together
_LARGEST_BLOCK = 2**31 - 1  # that pyarrow allows
_LONGEST_FIELD = csv.field_size_limit()  # characters


@dataclass(frozen=True)
class CsvFile:
    """The bytes of a file, and how fields are separated in them."""

    data: bytes
    start: int  # in bytes, after a byte-order mark and Excel's first line
    n_above: int  # lines before `start`
    delimiter: str
    has_quotes: bool = True  # around fields; else they are characters like others

    @classmethod
    def of(cls, data: bytes, faults: Faults) -> "CsvFile":
        """Find out how the fields of a file are separated."""
        start = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
        excel = _EXCEL.match(data[start : start + BLOCK].decode("utf-8", "ignore"))
        above = excel[0] if excel else ""
        start += len(above.encode())
        match = _FIRST_LINE.match(data, start)
        first_line = match[1].decode() if match else ""
        delimiter = excel[1] if excel else max(_DELIMITERS, key=first_line.count)
        file = cls(data, start, above.count("\n"), delimiter)
        return file if _has_quotes(file, faults) else replace(file, has_quotes=False)

    def _reader(self, text: Any) -> Any:
        quoting: Any = csv.QUOTE_MINIMAL if self.has_quotes else csv.QUOTE_NONE
        return csv.reader(text, delimiter=self.delimiter, quoting=quoting, strict=True)

    def rows(self) -> Iterator[tuple[int, int, list[str]]]:
        """Yield the first line, the last line and the fields of each row; skip blank lines."""
        stream = io.BytesIO(self.data)
        stream.seek(self.start)
        reader = self._reader(io.TextIOWrapper(stream, "utf-8", newline=""))
        line = self.n_above + 1
        try:
            for row in reader:
                last = self.n_above + reader.line_num
                if row:
                    yield line, last, row
                line = last + 1
        except csv.Error as fault:
            raise csv.Error(f"line {line}: {fault}") from fault

    @cached_property
    def is_plain(self) -> bool:
        """Whether quotation marks, if any, only stand around fields, and no field has a line end.

        If not, only `csv` can tell whether the file is valid: pyarrow takes what follows a closing
        mark for a part of the field, and the end of the file for a closing mark.
        """
        if not (self.has_quotes and b'"' in self.data):
            return True
        view, n_marks = np.frombuffer(self.data, np.uint8), 0
        may_be_beside = np.zeros(256, dtype=bool)
        may_be_beside[list(b'\r\n"' + self.delimiter.encode())] = True
        for start in range(self.start, len(view), BLOCK):
            block = view[start : start + BLOCK]
            marks = np.flatnonzero(block == ord('"')) + start
            closes = (np.arange(len(marks)) + n_marks) % 2 == 1  # every second mark closes a field
            before = view[marks[~closes & (marks > self.start)] - 1]
            after = view[marks[closes & (marks < len(view) - 1)] + 1]
            ends = np.flatnonzero((block == ord("\n")) | (block == ord("\r"))) + start
            is_inside = (np.searchsorted(marks, ends) + n_marks) % 2 == 1
            n_marks += len(marks)
            if is_inside.any() or not may_be_beside[np.append(before, after)].all():
                return False
        return n_marks % 2 == 0

    def describe_multiline_rows(self) -> str:
        """Say which rows take several lines; empty if none does."""
        if self.is_plain:
            return ""
        with_header = [(line, end) for line, end, row in self.rows() if any(map(str.strip, row))]
        rows = with_header[1:]
        long = [f"line {line}" for line, end in rows if end > line]
        if not long:
            return ""
        n_lines = sum(end - line + 1 for line, end in rows)
        return (
            f"{counted(len(rows), 'row')} on {counted(n_lines, 'line')}: fields hold line ends in "
            f"{counted(len(long), 'row')} ({', '.join(long[:3])}{', …' * (len(long) > 3)})"
        )

    def header(self) -> tuple[list[str], int, int]:
        """Return the header, its number among the rows, and how many rows above have no value.

        The header is the first row with a value. Rows without a value count only if they have
        several fields.
        """
        n_empty = 0
        for number, (_, _, row) in enumerate(self.rows(), start=1):
            if any(map(str.strip, row)):
                return row, number, n_empty
            n_empty += len(row) > 1
        return [], 0, n_empty

    def lines(self) -> Callable[[int], int]:
        """Return a function from the number of a row below the header to the row's first line.

        Rows without a value do not count. The file is read once, only as far as is asked for.
        """
        lines = array("q")
        starts = (line for line, _, row in self.rows() if any(map(str.strip, row)))
        next(starts, None)  # skip the header

        def line_of(number: int) -> int:
            lines.extend(islice(starts, max(0, number + 1 - len(lines))))
            return lines[number]

        return line_of

    def columns(self, n_above: int, n_columns: int) -> tuple[list[Any], dict[int, int]]:
        """Return the cells below the first `n_above` rows by column, and the rows left out.

        Rows that do not have `n_columns` fields are left out. The dictionary has how many fields
        they have by their index, negative where all fields are empty. A file that is no CSV is a
        `csv.Error`.
        """
        import pyarrow as pa  # type: ignore[import-untyped]
        import pyarrow.compute as pc  # type: ignore[import-untyped]
        from pyarrow import csv as pa_csv

        if not self.delimiter.isascii():  # pyarrow takes ASCII alone
            return self._with_commas().columns(n_above, n_columns)
        names = list(map(str, range(n_columns)))
        ends = [end for _, end, _ in islice(self.rows(), n_above + 1)]
        if len(ends) <= n_above or not names:
            return [pa.chunked_array([], pa.string()) for _ in names], {}
        n_skipped = ends[-2] - self.n_above
        ragged: dict[int, int] = {}
        lengths = [0]  # of the longest row that is left out; below also of each column's cells

        def note_ragged(row: Any) -> str:
            lengths[0] = max(lengths[0], len(row.text))
            fields = next(self._reader([row.text])) if lengths[0] <= _LONGEST_FIELD else ["long"]
            is_empty = not any(map(str.strip, fields))
            ragged[row.number - n_skipped - 1] = row.actual_columns * (-1 if is_empty else 1)
            return "skip"

        def read(block: int) -> Any:
            return pa_csv.read_csv(
                pa.BufferReader(pa.py_buffer(self.data)[self.start :]),
                pa_csv.ReadOptions(
                    use_threads=False, block_size=block, skip_rows=n_skipped, column_names=names
                ),
                pa_csv.ParseOptions(
                    delimiter=self.delimiter,
                    quote_char='"' if self.has_quotes else False,
                    newlines_in_values=not self.is_plain,
                    invalid_row_handler=note_ragged,
                ),
                pa_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    strings_can_be_null=False,
                    check_utf8=False,
                ),
            )

        if not self.is_plain:
            self._check()
        entire = min(len(self.data), _LARGEST_BLOCK)
        try:  # where a block ends inside a line end in a field, pyarrow loses a byte
            table = read(BLOCK if self.is_plain else entire)
        except pa.ArrowInvalid:  # a row is longer than a block
            ragged.clear()
            try:
                table = read(entire)
            except pa.ArrowInvalid as fault:
                raise csv.Error(str(fault)) from fault
        lengths += [pc.max(pc.binary_length(cells)).as_py() or 0 for cells in table.columns]
        if max(lengths) > _LONGEST_FIELD:  # maybe not too long: these are bytes, or whole rows
            self._check()
        return table.columns, ragged

    def _check(self) -> None:
        """Read all rows, so that a file that is no CSV raises a `csv.Error`."""
        deque(self.rows(), maxlen=0)

    def _with_commas(self) -> "CsvFile":
        """Return the same rows with commas between the fields."""
        stream = io.StringIO()
        csv.writer(stream).writerows(row for *_, row in self.rows())
        return CsvFile(stream.getvalue().encode(), 0, 0, ",")


def _has_quotes(file: CsvFile, faults: Faults) -> bool:
    """Return whether quotation marks stand around fields, or are ordinary characters.

    They are ordinary in a TSV file whose lines then have as many fields as the header. Where one
    of the two readings would lose rows, the file is refused.
    """
    is_tsv = file.delimiter == "\t"
    if b'"' not in file.data or (not is_tsv and file.is_plain):
        return True
    n_quoted, mixed, has_long_rows = _shape(file)
    if not is_tsv and not has_long_rows:
        return True
    n_plain, _, _ = _shape(replace(file, has_quotes=False))
    if is_tsv and (n_plain or not n_quoted):
        return n_quoted > 0 and n_plain == n_quoted  # both readings find the same rows
    if (n_plain and n_quoted) or (is_tsv and mixed):
        raise faults.fatal(
            "It is in doubt what quotation marks mean in this file.",
            f"{counted(n_quoted, 'row')}, if they stand around fields, which then hold line ends"
            + (f" and tabs ({mixed}); " if mixed else "; ")
            + (f"{counted(n_plain, 'row')}, one a line, if they are" if n_plain else "or they are")
            + " characters like others",
            "fields without line ends, or marks around fields alone",
            "write a mark that is a character twice, and its field between marks; or replace "
            "the line ends inside fields by blanks",
        )
    return True


def _shape(file: CsvFile) -> tuple[int, str, bool]:
    """Return the number of rows, the line of a field with tabs and line ends, and if rows are long.

    The number is 0 where a row has more or fewer fields than the header. The line is that of the
    first such field, empty for none. Long rows take several lines.
    """
    n_rows, n_fields, mixed, has_long_rows = 0, 0, "", False
    try:
        for line, end, row in file.rows():
            if not any(row):
                continue
            n_fields = n_fields or len(row)
            if len(row) != n_fields or n_fields == 1:
                return 0, mixed, has_long_rows
            n_rows += 1
            if end > line:
                has_long_rows = True
                if not mixed and any("\t" in cell and "\n" in cell for cell in row):
                    mixed = f"line {line}"
    except csv.Error:
        return 0, mixed, has_long_rows
    return n_rows - 1, mixed, has_long_rows  # without the header

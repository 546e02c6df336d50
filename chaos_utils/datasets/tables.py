"""Large files of votes as columns: what has no fault is read at once, not row by row.

A file that has one is left to `readers`, which say where it stands.
"""

import csv
import io
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input
from chaos_utils.datasets.dataset import Dataset, LongReader, WideReader
from chaos_utils.datasets.faults import Faults
from chaos_utils.datasets.labels import label_of, notes_on, vote_of
from chaos_utils.datasets.records import (
    DELIMITERS,
    MOST_VOTES,
    Content,
    as_identifier,
    read_parquet,
    read_records,
)
from chaos_utils.datasets.votes import Annotations, Ints, Votes, frozen

_ONCE = "each column once"
LARGE = 1 << 20  # bytes from which on it pays to import pyarrow


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of identifiers or labels.

    Attributes
    ----------
    codes : ndarray of int, shape (n,)
        Each row's position in `names`; -1 where the cell is empty or no identifier.
    names : list of str
        In the order of the file.
    trimmed : int
        How many stand between blanks.
    """

    codes: Ints
    names: list[str]
    trimmed: int = 0


class Table:
    """The columns of a CSV, TSV, parquet or JSON file.

    Parameters
    ----------
    content : Content
    faults : Faults
        Names the file in messages; takes what is wrong with single JSON lines.
    inside : str
        Dotted path to the list of records in a JSON file.
    """

    def __init__(self, content: Content, faults: Faults, inside: str = "") -> None:
        self._faults, self._content = faults, content
        self._csv: tuple[bytes, str] | None = None
        self._table: Any = None
        start = b"" if content.is_parquet else content.data.lstrip(b"\xef\xbb\xbf \r\n\t")[:1]
        if content.is_parquet:
            self._table = self._try(lambda: read_parquet(content, faults))
            self.columns: list[str] = list(self._table.column_names)
            if len(set(self.columns)) < len(self.columns):
                raise faults.fatal("A column appears twice in the data file.", expected=_ONCE)
        elif not start:
            raise faults.fatal("The data file is empty.")
        elif inside or start in (b"[", b"{"):
            records = read_records(content, faults, inside)
            faults.check()
            names = dict.fromkeys(name for record in records for name in record.fields)
            self.columns = list(names)
            self._lists = {name: [record.get(name) for record in records] for name in names}
        else:
            if not content.data.isascii():
                content.text()  # which says what is wrong, if it is no text
            head = content.data[: 1 << 20].decode("utf-8-sig", "replace").lstrip("\r\n")
            first = head.split("\n", 1)[0]
            delimiter = max(DELIMITERS, key=first.count)
            row = next(csv.reader(io.StringIO(head, newline=""), delimiter=delimiter))
            self.columns = [name.strip() for name in row]
            if len(set(self.columns)) < len(self.columns):
                found = next(name for name in self.columns if self.columns.count(name) > 1)
                raise faults.fatal("A column appears twice in the data file.", repr(found), _ONCE)
            if content.data.count(b'"') % 2:
                raise faults.fatal("A quotation mark is never closed in the data file.")
            self._csv = (content.data, delimiter)

    def _try(self, read: Any) -> Any:
        import pyarrow as pa  # type: ignore[import-untyped]

        try:
            return read()
        except (pa.ArrowException, OSError, ValueError) as fault:
            if self._csv:
                read_records(self._content, self._faults)  # which knows the lines
                self._faults.check()
            found = " ".join(str(fault).split())[:160]
            raise self._faults.fatal("The data file cannot be read.", found) from fault

    def column(self, name: str, kind: Any = None) -> Any:
        """Return a column of pyarrow: texts of a CSV file, unless a type is given."""
        import pyarrow as pa

        if self._table is not None:
            found = self._table.column(name)
            self._try(lambda: found.validate(full=True))  # which finds text that is none
            return found
        if self._csv is None:
            values = self._lists[name]
            kinds = {type(value) for value in values if value is not None}
            return pa.chunked_array([values if len(kinds) < 2 else list(map(str, values))])
        from pyarrow import csv as pc

        data, delimiter = self._csv
        table = self._try(
            lambda: pc.read_csv(
                pa.BufferReader(data.lstrip(b"\r\n")),
                pc.ReadOptions(column_names=self.columns, skip_rows=1, block_size=1 << 24),
                pc.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in data),
                pc.ConvertOptions(
                    include_columns=[name],
                    column_types={name: kind or pa.string()},
                    strings_can_be_null=False,
                ),
            )
        )
        return table.column(0)

    def coded(self, name: str) -> Coded:
        """Return a column as codes of its different identifiers."""
        encoded = self.column(name).combine_chunks().dictionary_encode()
        raw = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        names: dict[str, int] = {}
        values = self._try(encoded.dictionary.to_pylist)
        known = [as_identifier(value) for value in values]
        place = [-1 if one is None else names.setdefault(one, len(names)) for one in known]
        codes = np.array([*place, -1], dtype=np.int32)[raw]  # of -1: the last
        blank = [isinstance(one, str) and one != one.strip() != "" for one in values]
        trimmed = int(np.isin(raw, np.flatnonzero(blank)).sum()) if any(blank) else 0
        return Coded(codes, list(names), trimmed)

    def numbers(self, name: str) -> npt.NDArray[np.float64]:
        """Return a column of numbers; a ChaosError where a cell holds none."""
        import pyarrow as pa

        found = self.column(name, pa.float64())
        if found.null_count or not (
            pa.types.is_floating(found.type) or pa.types.is_integer(found.type)
        ):
            raise self._faults.fatal("A column holds no numbers.", name)
        numbers: npt.NDArray[np.float64] = found.to_numpy().astype(np.float64)
        return numbers

    def values(self, name: str) -> list[Any]:
        """Return the different values of a column, with None for those that are missing."""
        found = self.column(name).unique().to_pylist()
        return found if isinstance(found, list) else list(found)


def votes_at_once(content: Content, dataset: Dataset, name: str, n_votes: int) -> Votes | None:
    """Return the votes of a large file that has no fault, and None for any other.

    Parameters
    ----------
    content : Content
    dataset : Dataset
    name : str
        How records and figures name the file.
    n_votes : int
        That each item must have; 0 where they may differ.

    Returns
    -------
    Votes or None
        As `readers.read_file` gives them; None too where the dataset's YAML file asks for more
        than votes and texts in one table.
    """
    reader = dataset.reader
    if (
        len(content.data) < LARGE
        or content.is_array
        or not isinstance(reader, LongReader | WideReader)
        or reader.texts_by
        or reader.majority
        or reader.old_label
        or len(dataset.files) > 1
        or reader.records
        or reader.keys
        or reader.numbered
        or not reader.item
        or reader.numbered
        or content.data[:1] in (b"{", b"[")
    ):
        return None
    try:
        table = Table(content, Faults(content.path, dataset.title, expected="", todo=""))
        columns = [reader.item, *(reader.texts.get(one, one) for one in dataset.text_fields)]
        if not set(columns) <= set(table.columns):
            return None
        items = table.coded(reader.item)
        if isinstance(reader, WideReader):
            found = _wide(table, dataset, reader, items)
        else:
            found = _long(table, dataset, reader, items)
        first = np.unique(items.codes, return_index=True)[1]
        texts = [_texts(table, column, items, first) for column in columns[1:]]
    except ChaosError:
        return None  # which the readers explain
    if found is None or any(one is None for one in texts):
        return None
    counts, annotations, notes = found
    total = counts.sum(axis=1)
    if not total.size or not total.all() or (n_votes and (total != n_votes).any()):
        return None
    return Votes(
        dataset=dataset,
        uids=tuple(items.names),
        counts=frozen(counts),
        majority=frozen(counts.argmax(axis=1)),
        source=Input(name, content.sha256),
        texts=tuple(
            MappingProxyType(dict(zip(dataset.text_fields, values, strict=True)))
            for values in zip(*filter(None, texts), strict=True)
        ),
        annotations=annotations,
        notes=notes,
    )


def _texts(table: Table, column: str, items: Coded, first: Ints) -> list[str] | None:
    """Return a text for each item; None where two rows of one differ."""
    encoded = table.column(column).combine_chunks().dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    values = encoded.dictionary.to_pylist()
    if (codes < 0).any() or (codes != codes[first][items.codes]).any():
        return None
    texts = [values[code] for code in codes[first]]
    return texts if all(isinstance(text, str) for text in texts) else None


_Found = tuple[Ints, Annotations | None, tuple[str, ...]] | None


def _long(table: Table, dataset: Dataset, reader: LongReader, items: Coded) -> _Found:
    if reader.label not in table.columns or (items.codes < 0).any():
        return None
    labels = table.coded(reader.label)
    if (labels.codes < 0).any():
        return None
    known = [vote_of(label, dataset, reader.cut) for label in labels.names]
    if any(
        k is None and label not in reader.ignore
        for k, label in zip(known, labels.names, strict=True)
    ):
        return None
    label = np.array([-1 if k is None else k for k in known], dtype=np.int32)[labels.codes]
    there = label >= 0
    item = items.codes[there]
    k = dataset.n_classes
    counts = np.bincount(item.astype(np.int64) * k + label[there], minlength=len(items.names) * k)
    annotations = None
    if reader.annotator:
        if reader.annotator not in table.columns:
            return None
        people = table.coded(reader.annotator)
        if (people.codes < 0).any() or second_votes(items, people):
            return None
        order = np.argsort(item, kind="stable")
        annotations = Annotations(
            *(frozen(one[order]) for one in (item, people.codes[there], label[there]))
        )
    outside = np.bincount(labels.codes, minlength=len(labels.names))
    left_out = {
        name: int(n) for name, n, k in zip(labels.names, outside, known, strict=True) if k is None
    }
    notes = notes_on(dataset, int(there.sum()), left_out, labels.trimmed)
    return counts.reshape(-1, k), annotations, notes


def second_votes(items: Coded, people: Coded) -> int:
    """Return how many votes are a further one by an annotator on an item."""
    pairs = items.codes.astype(np.int64) * len(people.names) + people.codes
    pairs = np.sort(pairs[(items.codes >= 0) & (people.codes >= 0)])
    return int((pairs[1:] == pairs[:-1]).sum())


def _wide(table: Table, dataset: Dataset, reader: WideReader, items: Coded) -> _Found:
    if reader.values != "counts" or reader.n_votes or len(items.names) < len(items.codes):
        return None
    columns = [""] * dataset.n_classes
    for column in table.columns:
        k = None if column == reader.item else label_of(column, dataset)
        if k is not None and columns[k]:
            return None
        if k is not None:
            columns[k] = column
    if not all(columns):
        return None
    import pyarrow as pa

    counts = np.empty((len(items.names), dataset.n_classes), dtype=np.int64)
    for k, column in enumerate(columns):
        values = table.column(column, pa.int64())
        if values.null_count or not pa.types.is_integer(values.type):
            return None
        counts[:, k] = values.to_numpy()
    return None if counts.min() < 0 or counts.max() > MOST_VOTES else (counts, None, ())

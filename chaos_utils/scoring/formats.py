"""Files of predictions in any format, as a frame: columns, and the place of each row in the file.

ChaosNLI's JSON, JSON lines (Baan et al. (2022) have another order of labels), CSV and parquet,
and what language models' runs leave behind. Nothing is checked here: cells are as in the file.
"""

import csv
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO, StringIO
from itertools import chain
from operator import eq
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.cells import NestedError, as_identifier, parse, spelled, unwrap_single
from chaos_utils.datasets.dataset import ChaosNLIReader, Dataset
from chaos_utils.datasets.faults import Faults, shorten
from chaos_utils.datasets.frame import (
    ArrowColumn,
    Column,
    FileContent,
    Frame,
    column_of,
    finite_numbers,
    no_header,
    read_frame,
)
from chaos_utils.metrics.divergence import Floats
from chaos_utils.scoring.model_runs import DRAWN, UIDS, WEIGHTS, read_run

Ints = npt.NDArray[np.int64]
ABOUT = ("family", "seed", "trained_on", "out_of_fold")  # columns that say what a system is
PROBABILITIES, LOGITS, STATED = "probs", "logits", "predicted_label"
N_DRAWN = "n_samples"  # number of drawn answers, beside a column per label with its number
FOLD = "fold"  # the fold that an item was left out with
INSIDE = "uid inside"  # an entry's own uid, if its key is a uid too
_TEXTS = ("model", *UIDS, "dataset", STATED, *ABOUT, DRAWN, WEIGHTS, FOLD)
_FIXED_NAMES = (*_TEXTS, PROBABILITIES, LOGITS, N_DRAWN, INSIDE)
# Other names of these columns; until the second edition, files had the dataset in a column `task`.
_ALIASES = {
    "predicted_probabilities": PROBABILITIES,
    "probabilities": PROBABILITIES,
    "percentages": PROBABILITIES,
    "logprobs": PROBABILITIES,
    "task": "dataset",
    "sample": DRAWN,
}
# Columns of a file with a row for each item and label.
_LABEL_COLUMNS = ("label", "labels", "class", "category", "option", "answer", "choice")
_CHANCE_COLUMNS = ("probability", "prob", "p", "score", "share", "likelihood", "logit")
_PIPELINE_KEYS = {"label", "score"}  # keys of what a pipeline of transformers returns
_WITH_IDS = (
    'write the uid beside what it returns: {"uid": …, "probs": [{"label": …, "score": …}, …]}'
)
_PLAIN_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_HEAD = 1 << 16  # bytes that hold the first line
_SHOWN = 5  # missing rows, or columns that are not read, in a message
_LONG = 80  # characters of a column's name in a note
_MOST_LABELS = 200  # distinct values: a column with more has texts, not labels
_LOOKED_AT = 10  # lines: a single damaged line does not decide the format
_ARCHIVES = {  # by the end of a name in an archive: its kind, and what to do
    "xl/workbook.xml": ("an Excel workbook", "save it as CSV"),
    "data.pkl": ("a PyTorch file, which is never opened", "write the probabilities as CSV"),
    ".npy": ("NumPy arrays (npz)", "write the probabilities as CSV, with uids"),
    "header.json": (
        "a log of Inspect (.eval)",
        "convert it: inspect log convert FILE --to json --output-dir DIR",
    ),
}


@dataclass(frozen=True, slots=True)
class PredictionFrame:
    """The content of a file, as columns of equal length, and the place of each row in the file."""

    path: Path
    columns: Mapping[str, Column]
    place: Callable[[int], str]
    are_logits: bool = False  # whether the labels' columns hold logits
    are_named: bool = False  # whether each value names its label, without a header
    lists_in: str = ""  # the column in which lists were found, if its name does not say so
    notes: tuple[str, ...] = ()  # on content of the file that is not predictions

    def __len__(self) -> int:
        return self.columns["uid"].n_rows

    def __contains__(self, column: str) -> bool:
        return column in self.columns

    @property
    def unnamed(self) -> list[str]:
        """The columns without a fixed name: columns of labels, and further columns."""
        return [name for name in self.columns if name not in _FIXED_NAMES]

    def column(self, name: str) -> Column:
        """Return a column; an empty column if the file has none of that name."""
        return self.columns.get(name, Column(np.full(len(self), -1, dtype=np.int32), []))

    def cells(self, name: str) -> list[Any]:
        """Return the cells of a column, None for an empty cell."""
        return cells_of(self.column(name))

    def by_model(self) -> dict[str, "PredictionFrame"]:
        """Return each model's rows by its name; by the file's name without a column model."""
        if "model" not in self:
            return {self.path.stem: self}
        models = self.columns["model"]
        unnamed = models.map(lambda name: not isinstance(name, str) or not name.strip(), bool)
        if unnamed.any():
            raise ChaosError(
                "A row names no model.",
                where=f"{self.path}, {self.place(int(unnamed.argmax()))}",
                found="an empty cell in the column model",
                expected="a model in each row, or no such column",
                todo="correct the column",
            )
        if len(models.values) == 1:
            return {models.values[0]: self}
        return {
            name: self.of(np.flatnonzero(models.codes == k)) for k, name in enumerate(models.values)
        }

    def of(self, rows: Ints) -> "PredictionFrame":
        """Return a frame of the given rows."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return replace(self, columns=columns, place=lambda row: self.place(int(rows[row])))


def read_rows(
    source: FileContent,
    datasets: Sequence[Dataset],
    parts: Mapping[str, str],
) -> PredictionFrame:
    """Return the content of a predictions file, at least one row; the content decides the format.

    `parts` are the filter or scorer of a run to read, as for `read_run`.
    """
    columns = " or ".join(
        dict.fromkeys(", ".join(class_columns(dataset)[:12]) for dataset in datasets)
    )
    faults = Faults(
        source.path,
        "predictions",
        expected="ChaosNLI's JSON {model: {uid: {…}}}, JSON lines with uid and probs, or CSV or "
        f"parquet with a column uid and one per class{f': {columns}' if columns else ''}; one "
        "label per item in columns uid and label; drawn answers in columns uid and sample; or a "
        "run of lm-evaluation-harness (samples_*.jsonl), an OpenAI-compatible batch, or Inspect "
        "(.json)",
        todo="correct this, and check that the file was not cut off",
    )
    _refuse_archives(source)
    text = "" if source.is_parquet else source.text()
    is_json = text.lstrip()[:1] in ("{", "[")
    submission = None if is_json else _lewidi_frame(text, faults)
    frame = _json_frame(source, faults) if is_json else (submission or read_frame(source, faults))
    faults.check()
    run = read_run(source.path, frame, faults, parts) if is_json else None
    without = [kind for kind in parts if run is None or kind != run.parts]
    notes = tuple(f"--{kind} has no effect: this file has no {kind}s" for kind in without)
    if run is not None:
        faults.check()
        frame, notes = run.frame, (*run.notes, *notes)
    if not len(frame):
        why = "; ".join(notes)
        failure = (why, "one prediction at least", "run again what failed") if why else ()
        raise faults.fatal("The predictions file holds no prediction.", *failure)
    read = _number_reader(source) if not (is_json or source.is_parquet) else None
    keys = [
        dataset.reader.item_columns
        for dataset in datasets
        if not isinstance(dataset.reader, ChaosNLIReader)
    ]
    rows = _with_fixed_names(
        source.path, frame, faults, read, [key for key in keys if len(key) > 1]
    )
    if submission is not None:
        rows = replace(rows, lists_in="the second column")
    notes = (*rows.notes, *notes)
    return replace(rows, notes=notes, are_logits=rows.are_logits or bool(run and run.are_logits))


def _refuse_archives(source: FileContent) -> None:
    """Raise for a zip archive, which is not unpacked, and say what it holds."""
    if not source.data.startswith(b"PK\x03\x04"):
        return
    names: list[str] = []
    with suppress(zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        names = zipfile.ZipFile(BytesIO(source.data)).namelist()
    known = (about for end, about in _ARCHIVES.items() if any(n.endswith(end) for n in names))
    kind, todo = next(known, ("a zip archive", "unpack it"))
    raise ChaosError(
        "This file cannot be read as predictions.", where=source.path, found=kind,
        expected="CSV, JSON, JSON lines or parquet", todo=todo,
    )  # fmt: skip


def _number_reader(source: FileContent) -> Callable[[Column], Column]:
    """Return a function that reads a CSV column's numbers; between semicolons, 0,5 is a number."""
    head = source.data[:_HEAD].lstrip(b"\xef\xbb\xbf\r\n").partition(b"\n")[0]
    has_commas = head.count(b";") > head.count(b",")

    def number(cell: str) -> float | str | None:
        text = cell.strip()
        plain = text.replace(",", ".") if has_commas else text
        return float(plain) if _PLAIN_NUMBER.fullmatch(plain) else text or None

    def read(column: Column) -> Column:
        numbers = column.as_numbers() if isinstance(column, ArrowColumn) else None
        return numbers or Column(column.codes, list(map(number, column.values)))

    return read


def _lewidi_frame(text: str, faults: Faults) -> Frame | None:
    """Return the rows of a LeWiDi file: no header, and in each row an id and a list.

    None for any other file; raises for other files without a header.
    """
    first = text.lstrip().partition("\n")[0]
    delimiter = "\t" if "\t" in first else ","

    def fields(lines: str) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(StringIO(lines, newline=""), delimiter=delimiter)
        yield from ((reader.line_num, row) for row in reader if any(row))

    with suppress(csv.Error):
        if any(len(row) == 2 and isinstance(_as_values(row[1]), list) for _, row in fields(first)):
            rows = list(fields(text))
            records = [dict(zip(("uid", PROBABILITIES), row, strict=False)) for _, row in rows]
            return Frame.of_records(records, lambda i: f"line {rows[i][0]}")
        for _, row in fields(first):
            if not set(UIDS) & set(row) and any(map(_PLAIN_NUMBER.fullmatch, row[1:])):
                raise faults.fatal(*no_header(row))
    return None


def _json_frame(source: FileContent, faults: Faults) -> Frame:
    """Return the rows of a JSON array, a JSON object or JSON lines."""
    text = source.text()
    if text.lstrip().startswith("["):
        _refuse_without_ids(text, faults)
        return read_frame(source, faults)
    try:
        rows = list(_rows_in(parse(text)))
    except ValueError as fault:
        if _are_lines(text):
            return read_frame(source, faults)
        found = str(fault).removeprefix("found ")
        raise faults.fatal("The predictions file is not valid JSON.", found) from fault
    return Frame.of_records([fields for _, fields in rows], lambda row: rows[row][0])


def _refuse_without_ids(text: str, faults: Faults) -> None:
    """Raise for the output of a transformers pipeline, which names no items."""
    first: Any = None
    for start in (text, text.lstrip().partition("\n")[0]):
        with suppress(ValueError):
            first = first or parse(start)
    while isinstance(first, list) and first:
        first = first[0]
    if isinstance(first, dict) and first.keys() == _PIPELINE_KEYS:
        raise faults.fatal(
            "What a pipeline returned names no items.", shorten(first),
            "a uid beside each prediction", _WITH_IDS,
        )  # fmt: skip


def _are_lines(text: str) -> bool:
    """Return whether any of the first lines is a JSON object."""
    for line in text.lstrip().split("\n", _LOOKED_AT)[:_LOOKED_AT]:
        try:
            if isinstance(parse(line), dict):
                return True
        except NestedError:
            return True
        except ValueError:
            continue
    return False


def _rows_in(content: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the place and the fields of each row of a JSON object."""
    below = content.values()
    are_labels = all(isinstance(value, str | bool | int) for value in below)
    if are_labels and not set(UIDS) & content.keys():  # {uid: label}
        yield from ((shorten(uid), {"uid": uid, STATED: label}) for uid, label in content.items())
    elif content and all(isinstance(value, list) for value in below):  # {uid: probabilities}
        yield from ((shorten(uid), {"uid": uid, PROBABILITIES: p}) for uid, p in content.items())
    elif "configs" in content or not all(isinstance(value, dict) for value in below):
        yield "line 1", content  # a run's file, or a single row
    elif all(isinstance(entry, dict) for entries in below for entry in entries.values()):
        # {model: {uid: fields}}
        for model, entries in content.items():
            for uid, entry in entries.items():
                keys = {"model": model, "uid": uid, INSIDE: entry.get("uid", uid)}
                yield f"{shorten(model)}, {shorten(uid)}", entry | keys
    else:  # {uid: fields}
        yield from ((shorten(uid), {"uid": uid} | entry) for uid, entry in content.items())


def _with_fixed_names(
    path: Path,
    frame: Frame,
    faults: Faults,
    read: Callable[[Column], Column] | None,
    item_columns: Sequence[tuple[str, ...]],
) -> PredictionFrame:
    """Return the columns under the names used here, with `read` applied to columns of numbers.

    `item_columns` are names of several columns that together name an item, as in votes files.
    """
    key = next((key for key in item_columns if set(key) <= set(frame.names)), None)
    if key is not None:
        other_names = [name for name in frame.names if name not in key]
        by_name = {"uid": frame.key(key), **{name: frame.column(name) for name in other_names}}
        frame = Frame([*by_name], len(frame), by_name.__getitem__, frame.place)
    uid = next((name for name in UIDS if name in frame.names), None)
    names = {name: _ALIASES.get(name, name) for name in frame.names}
    names |= {uid: "uid"} if uid else {}
    if uid is None or len(set(names.values())) < len(names):
        raise _unrecognised_error(frame, uid, faults)
    columns = {names[name]: frame.column(name) for name in frame.names}
    if read is not None:
        columns |= {name: read(column) for name, column in columns.items() if name not in _TEXTS}
    lists_in = "" if {DRAWN, N_DRAWN} & columns.keys() else _read_lists(columns, faults)
    are_logits = are_named = False
    for name in (PROBABILITIES, LOGITS):
        cells = columns[name].values if name in columns else []
        by_label = [cell for cell in cells if isinstance(cell, dict)]
        if 2 * len(by_label) > len(cells):
            nested = columns.pop(name)
            if len(by_label) == len(cells) and all(cell.keys() == _PIPELINE_KEYS for cell in cells):
                pipeline_fields = {STATED: "label", "score": "score"}
                columns |= {
                    key: _values_of_label(nested, label) for key, label in pipeline_fields.items()
                }
                continue
            labels = dict.fromkeys(label for cell in by_label for label in cell)
            columns |= {label: _values_of_label(nested, label) for label in labels}
            are_logits, are_named = name == LOGITS, True
    rows = PredictionFrame(path, columns, frame.place, are_logits, are_named, lists_in)
    return _count_answers(rows, faults) if DRAWN in rows else _one_row_per_item(rows)


def _unrecognised_error(frame: Frame, uid: str | None, faults: Faults) -> ChaosError:
    """Return the error for a file that names no items, or has two columns for the same thing."""
    if uid is None and frame.lacks_header:
        return faults.fatal(*no_header(frame.names))
    todo = "rename the columns: two are for one thing"
    if uid is None:
        todo = "name the column of the items' ids 'uid', and add a header if there is none"
        names = set(frame.names)
        if names >= _PIPELINE_KEYS or names >= {"labels", "scores"}:
            todo = _WITH_IDS
    are_objects = [isinstance(cell, dict) for name in frame.names
                   for cell in frame.column(name).values]  # fmt: skip
    if any(are_objects):
        todo += "; of a run of another tool, write a CSV with a row for each answer, and "
        todo += "columns uid and sample"
    if all(are_objects):
        todo += "; or give each file by itself, if several are joined here"
    columns = ", ".join(map(shorten, frame.names[:8]))
    return faults.fatal("Unrecognised predictions format.", f"columns {columns}", todo=todo)


def _values_of_label(nested: Column, label: str) -> Column:
    """Return the values of a label in cells by label; any other cell unchanged, a later fault."""
    return read_each(nested, lambda cell: cell.get(label) if isinstance(cell, dict) else cell)


def read_each(column: Column, read: Callable[[Any], Any]) -> Column:
    """Return a column with `read` applied to each cell, and to None for an empty cell."""
    has_missing = bool(column.is_missing.any())
    cells = column_of(map(read, [*column.values, *([None] * has_missing)]))
    return Column(cells.codes[column.codes], cells.values)


def _read_lists(columns: dict[str, Column], faults: Faults) -> str:
    """Read lists in any spelling; return the name of their column if it does not announce them."""
    if {"labels", "scores"} <= columns.keys():  # side by side, as zero-shot classification does
        pairs = [cells_of(columns.pop(name)) for name in ("labels", "scores")]
        columns[PROBABILITIES] = column_of(map(_side_by_side, *pairs))
    announced = [name for name in (PROBABILITIES, LOGITS) if name in columns]
    for name in announced:
        columns[name] = _with_lists(columns[name])
    unnamed = {name: column for name, column in columns.items() if name not in _FIXED_NAMES}
    if announced or sum(map(are_shares, unnamed.values())) > 1:
        return ""
    with_lists = {name: _with_lists(column) for name, column in unnamed.items()
                  if not column.is_numeric}  # fmt: skip
    list_columns = [
        name
        for name, column in with_lists.items()
        if 2 * sum(map(_is_by_label, column.values)) > len(column.values)
    ]
    if len(list_columns) > 1:
        raise faults.fatal(
            "Several columns hold a value for each label.", ", ".join(map(shorten, list_columns)),
            "one such column", f"name the model's {PROBABILITIES!r}, and remove the others",
        )  # fmt: skip
    for name in list_columns:
        del columns[name]
        columns[LOGITS if "logit" in name.casefold() else PROBABILITIES] = with_lists[name]
        has_lists = any(isinstance(cell, list) for cell in with_lists[name].values)
        return shorten(name) if has_lists else ""
    return ""


def cells_of(column: Column) -> list[Any]:
    """Return the cells of a column, None for an empty cell."""
    return list(map([*column.values, None].__getitem__, column.codes.tolist()))


def _side_by_side(labels: Any, scores: Any) -> Any:
    """Return a list of labels and a list of scores as scores by label; else the scores alone."""
    labels, scores = _as_values(labels), _as_values(scores)
    is_whole = isinstance(labels, list) and isinstance(scores, list) and len(labels) == len(scores)
    return dict(zip(map(str, labels), scores, strict=True)) if is_whole else scores


def are_shares(column: Column) -> bool:
    """Return whether all cells of a column are numbers from 0 to 1; some may be empty."""
    numbers = column.numbers[~column.is_missing]
    return bool(len(numbers) and ((numbers >= 0) & (numbers <= 1)).all())


def list_table(column: Column, n_labels: int) -> Floats:
    """Return lists as an array of shape (n_rows, n_labels); NaN for anything but such a list."""
    lists = column.values
    if not (_types(lists) == {list} and set(map(len, lists)) == {n_labels}):
        lists = [cell if isinstance(cell, list) and len(cell) == n_labels else [None] * n_labels
                 for cell in lists]  # fmt: skip
    lists = [*lists, [np.nan] * n_labels]
    return finite_numbers([*chain.from_iterable(lists)]).reshape(-1, n_labels)[column.codes]


def _types(cells: Iterable[Any]) -> set[type]:
    return set(map(type, cells))


def _with_lists(column: Column) -> Column:
    """Return a column with texts read as lists, and lists of a single list unwrapped."""
    cells = column.values
    if _types(cells) == {str}:
        if (lists := _plain_lists(cells)) is None:
            text = "".join(cells)
            may_be = any(mark in text for mark in "[{)")
            return Column(column.codes, list(map(_as_values, cells))) if may_be else column
        cells = lists
    is_plain = (
        _types(cells) == {list}
        and 1 not in set(map(len, cells))
        and {int, float}.issuperset(map(type, chain.from_iterable(cells)))
    )
    return Column(column.codes, cells if is_plain else list(map(_as_values, cells)))


def _plain_lists(texts: Sequence[str]) -> list[Any] | None:
    """Return texts parsed together as lists of numbers; None if a text is anything else."""
    joined = ",".join(texts)
    are_lists = (
        joined.count("[") == joined.count("]") == len(texts)
        and all(text.startswith("[") and text.endswith("]") for text in texts)
        and not joined.encode().translate(None, b"0123456789.eE+-,[] ")
    )
    with suppress(ValueError):
        lists: list[Any] | None = json.loads(f"[{joined}]") if are_lists else None
        return lists
    return None


def _is_by_label(value: Any) -> bool:
    """Return whether a value is a list of numbers, or numbers by label."""
    if isinstance(value, list):
        return len(value) > 1 and {int, float}.issuperset(map(type, value))
    return isinstance(value, dict) and (
        value.keys() == _PIPELINE_KEYS or {int, float}.issuperset(map(type, value.values()))
    )


def holds_values(column: Column, n_labels: int) -> bool:
    """Return whether most cells hold `n_labels` numbers, as a list or by label."""
    if column.is_numeric:
        return False
    cells = _with_lists(column).values
    fitting = sum(len(cell) == n_labels for cell in cells if _is_by_label(cell))
    return 2 * fitting > len(cells)


def _as_values(cell: Any) -> Any:
    """Return the list of numbers, or numbers by label, in a cell; any other cell unchanged.

    Lists may be spelled as in JSON, Python or numpy, or be the output of a transformers pipeline.
    """
    parsed = spelled(cell) if isinstance(cell, str) else None
    value = unwrap_single(cell if parsed is None else parsed)
    if isinstance(value, list) and value and all(
        isinstance(pair, dict) and pair.keys() == _PIPELINE_KEYS for pair in value
    ):  # fmt: skip
        by_label = {str(pair["label"]): pair["score"] for pair in value}
        return by_label if len(by_label) == len(value) else cell
    if isinstance(value, dict):
        return {str(name): number for name, number in value.items()}
    return value


def _one_row_per_item(rows: PredictionFrame) -> PredictionFrame:
    """Return a row per item from rows per item and label; any other frame unchanged."""
    uids = rows.columns["uid"].identifiers
    if len(uids.values) == len(rows) or N_DRAWN in rows:
        return rows
    keys = np.zeros(len(rows), dtype=np.int64)
    for column in (uids, *(rows.column(name).identifiers for name in ("model", "dataset"))):
        keys = keys * (len(column.values) + 1) + column.codes + 1
    first_rows, items = np.unique(keys, return_index=True, return_inverse=True)[1:]
    if len(first_rows) == len(rows):
        return rows
    names = [name for name in (*rows.unnamed, STATED, PROBABILITIES, LOGITS) if name in rows]
    item = Column(items.astype(np.int32), list(range(len(first_rows))))
    varying_columns = [name for name in names if not rows.column(name).is_same_within(item).all()]
    chance = _only(
        [name for name in varying_columns if is_chance(name, rows.column(name))], _CHANCE_COLUMNS
    )
    text_columns = [
        name for name in varying_columns if name != chance and _are_names(rows.column(name).values)
    ]
    label = _only(text_columns, _LABEL_COLUMNS)
    if not chance or not label or len(rows.column(label).values) > _MOST_LABELS:
        return rows
    labels, row_of = _rows_of_labels(rows, label, item)
    order = np.sort(first_rows)
    item_rows = rows.of(order)
    # Columns about a label, such as its rank, are not about the item and are left out; further
    # columns of chances stay, to be reported later.
    unread = [
        name for name in varying_columns
        if name in rows.unnamed and name not in (label, chance)
        and not is_chance(name, rows.column(name))
    ]  # fmt: skip
    left_out = (label, chance, *unread)
    columns = {name: column for name, column in item_rows.columns.items() if name not in left_out}
    values = rows.column(chance)
    row_of = row_of[items[order]]
    columns |= {name: values.take(row_of[:, k]) for k, name in enumerate(labels)}
    return replace(
        item_rows, columns=columns, are_logits=rows.are_logits or "logit" in chance,
        are_named=True, notes=not_read(unread, "not the same for all labels of an item"),
    )  # fmt: skip


def _rows_of_labels(rows: PredictionFrame, label: str, item: Column) -> tuple[list[str], Ints]:
    """Return the labels, and the row of each item and label, (n_items, n_labels).

    Raises unless each item has exactly one row for each label.
    """
    faults = Faults(
        rows.path, "predictions", expected=f"one row for each item and {label}",
        todo="keep one of each, and add what is missing, with 0 if it was left out for it; if "
        "these are answers that were drawn, name their column 'sample'",
    )  # fmt: skip
    label_names = read_each(rows.column(label), _label_name)
    row_of = np.full((len(item.values), len(label_names.values)), -1)
    backwards = np.arange(len(rows) - 1, -1, -1)  # so that the first of two rows stays
    row_of[item.codes[backwards], label_names.codes[backwards]] = backwards
    is_repeated = row_of[item.codes, label_names.codes] != np.arange(len(rows))
    for row in np.flatnonzero(is_repeated | label_names.map(partial(eq, ""), bool)).tolist():
        name = label_names[row]
        faults.add(rows.place(row), [f"{label} {shorten(name)} again" if name else f"no {label}"])
    for k in np.argsort(label_names.first).tolist():
        name = label_names.values[k]
        for index in np.flatnonzero(row_of[:, k] < 0)[:_SHOWN].tolist():
            row = int(item.first[index])
            uid = shorten(rows.columns["uid"].identifiers[row])
            faults.add(rows.place(row), [f"uid {uid} has no row for {shorten(name)}"])
    faults.check()
    return label_names.values, row_of


def _only(names: Sequence[str], expected: Sequence[str]) -> str:
    """Return the only column that has an expected name, or the only column; else an empty text."""
    candidates = [name for name in names if name.casefold() in expected] or names
    return candidates[0] if len(candidates) == 1 else ""


def is_chance(name: str, column: Column) -> bool:
    """Return whether a column may hold probabilities of labels, and not numbers of samples."""
    if name.casefold() in (*_CHANCE_COLUMNS, PROBABILITIES, LOGITS):
        return bool({int, float} & _types(column.values))
    return are_shares(column) and bool((column.numbers % 1 > 0).any())


def not_read(names: Sequence[str], why: str = "") -> tuple[str, ...]:
    """Return a note on columns that are not read, by the first few names; none without any."""
    if not names:
        return ()
    shown = ", ".join(map(_in_a_note, names[:_SHOWN]))
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return (f"not read: {shown}{more}{why and f', {why}'}",)


def _in_a_note(name: str) -> str:
    """Return a column's name, never long; quoted if it could break the line or reorder it."""
    if not name.isprintable():
        return shorten(name, _LONG)
    return name if len(name) <= _LONG else f"{name[:_LONG]} …"


def _are_names(values: Sequence[Any]) -> bool:
    return all(map(_label_name, values))


def _label_name(value: object) -> str:
    """Return a label as text, True and False as Python writes them; empty for anything else."""
    return as_identifier(str(value) if isinstance(value, bool) else value) or ""


def _count_answers(rows: PredictionFrame, faults: Faults) -> PredictionFrame:
    """Return a row per model and item of a file with drawn answers: the count of each answer."""
    counts: dict[tuple[Any, str], Counter[str]] = {}
    first_rows: list[int] = []
    cells = zip(*map(rows.cells, ("uid", "model", DRAWN)), strict=True)
    for row, (uid_cell, model, answers) in enumerate(cells):
        uid = as_identifier(uid_cell)
        if not isinstance(answers, Counter):
            samples = answers if isinstance(answers, list) else [answers]
            answers = Counter(text for text in map(as_identifier, samples) if text is not None)
            if answers.total() < max(len(samples), 1):
                answers = Counter()
        if uid is None or not answers:
            faults.add(rows.place(row), ["no uid" if uid is None else "no sample"])
            continue
        key = (shorten(model), uid)
        if key not in counts:
            first_rows.append(row)
            counts[key] = Counter()
        counts[key].update(answers)
    faults.check()
    items = rows.of(np.array(first_rows, dtype=np.int64))
    return replace(items, columns={**items.columns, DRAWN: column_of(counts.values())})


def class_columns(dataset: Dataset) -> list[str]:
    """Return the names of class columns in tables of a dataset, such as ``hypothesis_1``."""
    return [label.replace(" ", "_") for label in dataset.labels]

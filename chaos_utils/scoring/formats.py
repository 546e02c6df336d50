"""Files of predictions, whatever their format, as one frame: columns, and places for messages.

ChaosNLI's JSON, JSON lines (those of Baan et al. (2022) in an order of their own), CSV and parquet,
and what language models' runs leave behind. Nothing is judged here: cells are as the file has them.
"""

import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.cells import as_identifier, parse
from chaos_utils.datasets.dataset import ChaosNLIReader, Dataset
from chaos_utils.datasets.faults import Faults, shorten
from chaos_utils.datasets.frame import Column, Content, Frame, column_of, read_frame
from chaos_utils.scoring.model_runs import DRAWN, UIDS, WEIGHTS, read_run

Ints = npt.NDArray[np.int64]
ABOUT = ("family", "seed", "trained_on", "out_of_fold")  # columns that say what a system is
PROBABILITIES, LOGITS, STATED = "probs", "logits", "predicted_label"
N_DRAWN = "n_samples"  # how many answers were drawn, beside a column of each label's number
INSIDE = "uid inside"  # an entry's own, where its key is one
_TEXTS = ("model", *UIDS, "dataset", STATED, *ABOUT, DRAWN, WEIGHTS)
_NAMED = (*_TEXTS, PROBABILITIES, LOGITS, N_DRAWN, INSIDE)
# What files call these columns; until the second edition they had the dataset in a column `task`.
_OTHER_NAMES = {
    "predicted_probabilities": PROBABILITIES,
    "probabilities": PROBABILITIES,
    "task": "dataset",
    "sample": DRAWN,
}
_PLAIN_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_HEAD = 1 << 16  # bytes
_MANY = 100_000  # numbers
_LOOKED_AT = 10  # lines: one that is damaged does not decide the format
_ARCHIVES = {  # by the end of a name in them: what they are, and what to do
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
    """What a file says, in columns of equal length, and where each row stands in it."""

    path: Path
    columns: Mapping[str, Column]
    place: Callable[[int], str]
    are_logits: bool = False  # what stands in the labels' columns
    notes: tuple[str, ...] = ()  # on what the file holds and is no prediction

    def __len__(self) -> int:
        return len(self.columns["uid"].codes)

    def __contains__(self, column: str) -> bool:
        return column in self.columns

    @property
    def unnamed(self) -> list[str]:
        """The columns that have no name here: those of labels, and others."""
        return [name for name in self.columns if name not in _NAMED]

    def column(self, name: str) -> Column:
        """Return a column; one without cells, where there is none."""
        return self.columns.get(name, Column(np.full(len(self), -1, dtype=np.int32), []))

    def cells(self, name: str) -> list[Any]:
        """Return the cells of a column, None where it has none."""
        column = self.column(name)
        return list(map([*column.values, None].__getitem__, column.codes.tolist()))

    def by_model(self) -> dict[str, "PredictionFrame"]:
        """Return the rows of each model, by its name; the file's, where none is stated."""
        if "model" not in self:
            return {self.path.stem: self}
        models = self.columns["model"]
        unnamed = models.map(lambda name: not isinstance(name, str) or not name.strip(), bool)
        if unnamed.any():
            raise ChaosError(
                "A row names no model.",
                where=f"{self.path}, {self.place(int(unnamed.argmax()))}",
                found="no model in the column model",
                expected="a model in each row, or no such column",
                todo="correct the column",
            )
        if len(models.values) == 1:
            return {models.values[0]: self}
        return {
            name: self.of(np.flatnonzero(models.codes == k)) for k, name in enumerate(models.values)
        }

    def of(self, rows: Ints) -> "PredictionFrame":
        """Return some rows."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return replace(self, columns=columns, place=lambda row: self.place(int(rows[row])))


def read_rows(source: Content, datasets: Sequence[Dataset], *, careful: bool) -> PredictionFrame:
    """Return what a predictions file holds, one row at least; the content decides its format.

    Of a large CSV file, `careful` reading alone says where rows stand.
    """
    columns = " or ".join(dict.fromkeys(", ".join(class_columns(one)[:12]) for one in datasets))
    faults = Faults(
        source.path,
        "predictions",
        expected="ChaosNLI's JSON {model: {uid: {…}}}, JSON lines with uid and probs, or CSV or "
        f"parquet with a column uid and one per class{f': {columns}' if columns else ''}; drawn "
        "answers in columns uid and sample; or a run of lm-evaluation-harness (samples_*.jsonl), "
        "of an OpenAI-compatible batch, or of Inspect (.json)",
        todo="correct this, and check that the file was not cut off",
    )
    _refuse_archives(source)
    is_json = not source.is_parquet and source.text().lstrip()[:1] in ("{", "[")
    frame = _json_frame(source, faults) if is_json else read_frame(source, faults, careful=careful)
    faults.check()
    run = read_run(source.path, frame, faults) if is_json else None
    notes: tuple[str, ...] = ()
    if run is not None:
        faults.check()
        frame, notes = run.frame, run.notes
    if not len(frame):
        why = "; ".join(notes)
        said = (why, "one prediction at least", "run again what failed") if why else ()
        raise faults.fatal("The predictions file holds no prediction.", *said)
    read = _number_reader(source) if not (is_json or source.is_parquet) else None
    keys = [
        one.reader.item_columns for one in datasets if not isinstance(one.reader, ChaosNLIReader)
    ]
    rows = _named(source.path, frame, faults, read, [key for key in keys if len(key) > 1])
    return replace(rows, notes=notes, are_logits=rows.are_logits or bool(run and run.are_logits))


def _refuse_archives(source: Content) -> None:
    """Say what is in a zip, which is not unpacked."""
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


def _number_reader(source: Content) -> Callable[[Column], Column]:
    """Return what reads the numbers of a column of CSV; between semicolons, 0,5 is one."""
    head = source.data[:_HEAD].lstrip(b"\xef\xbb\xbf\r\n").partition(b"\n")[0]
    has_commas = head.count(b";") > head.count(b",")

    def number(cell: str) -> float | str | None:
        text = cell.strip()
        plain = text.replace(",", ".") if has_commas else text
        return float(plain) if _PLAIN_NUMBER.fullmatch(plain) else text or None

    def read(column: Column) -> Column:
        with suppress(ValueError):
            if not "".join(column.values).encode().translate(None, b"0123456789.eE+-"):
                return replace(column, values=_floats(column.values))
        return replace(column, values=list(map(number, column.values)))

    return read


def _floats(texts: Sequence[str]) -> list[float]:
    if len(texts) < _MANY:
        return list(map(float, texts))
    import pyarrow as pa  # type: ignore[import-untyped]  # a quarter of the time, once imported

    found: list[float] = pa.array(texts).cast(pa.float64()).to_numpy().tolist()
    return found


def _json_frame(source: Content, faults: Faults) -> Frame:
    text = source.text()
    if text.lstrip().startswith("["):
        return read_frame(source, faults)
    try:
        rows = list(_rows_in(parse(text)))
    except ValueError as fault:
        if _are_lines(text):
            return read_frame(source, faults)
        found = str(fault).removeprefix("found ")
        raise faults.fatal("The predictions file is not valid JSON.", found) from fault
    return Frame.of_records([fields for _, fields in rows], lambda row: rows[row][0])


def _are_lines(text: str) -> bool:
    """Return whether one of the first lines is an object of its own."""
    for line in text.lstrip().split("\n", _LOOKED_AT)[:_LOOKED_AT]:
        with suppress(ValueError):
            if isinstance(parse(line), dict):
                return True
    return False


def _rows_in(whole: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of one JSON object: its own, or one for each uid, maybe by model."""
    if whole and all(isinstance(one, list) for one in whole.values()):
        yield from ((shorten(uid), {"uid": uid, PROBABILITIES: one}) for uid, one in whole.items())
    elif "configs" in whole or not all(isinstance(one, dict) for one in whole.values()):
        yield "line 1", whole
    elif all(isinstance(entry, dict) for one in whole.values() for entry in one.values()):
        for model, entries in whole.items():
            for uid, entry in entries.items():
                known = {"model": model, "uid": uid, INSIDE: entry.get("uid", uid)}
                yield f"{shorten(model)}, {shorten(uid)}", entry | known
    else:
        yield from ((shorten(uid), {"uid": uid} | entry) for uid, entry in whole.items())


def _named(
    path: Path,
    frame: Frame,
    faults: Faults,
    read: Callable[[Column], Column] | None,
    keys: Sequence[tuple[str, ...]],
) -> PredictionFrame:
    """Return the columns by the names that they have here, their numbers read.

    Several columns may name an item, as in the votes: then `keys` are what they are called.
    """
    key = next((key for key in keys if set(key) <= set(frame.names)), None)
    if key is not None:
        of_items, others = frame.key(key), [name for name in frame.names if name not in key]
        named = {"uid": of_items, **{name: frame.column(name) for name in others}}
        frame = Frame([*named], len(frame), named.__getitem__, frame.place)
    uid = next((name for name in UIDS if name in frame.names), None)
    known = {name: _OTHER_NAMES.get(name, name) for name in frame.names}
    known |= {uid: "uid"} if uid else {}
    if uid is None or len(set(known.values())) < len(known):
        todo = "uid for the items" if uid is None else "two are for one thing"
        cells = [cell for name in frame.names for cell in frame.column(name).values]
        if all(isinstance(cell, dict) for cell in cells):
            todo += "; or give each file by itself, if several are joined here"
        raise faults.fatal(
            "Unrecognised predictions format.",
            f"columns {', '.join(map(shorten, list(known)[:8]))}",
            todo=f"rename the columns: {todo}",
        )
    columns = {known[name]: frame.column(name) for name in frame.names}
    if read is not None:
        columns |= {name: read(one) for name, one in columns.items() if name not in _TEXTS}
    are_logits = False
    for name in (PROBABILITIES, LOGITS):  # by label
        cells = columns[name].values if name in columns else []
        if cells and all(isinstance(cell, dict) for cell in cells):
            nested = columns.pop(name)
            labels = dict.fromkeys(label for cell in cells for label in cell)
            columns |= {label: column_of(nested.map(partial(_of_label, label))) for label in labels}
            are_logits = name == LOGITS
    rows = PredictionFrame(path, columns, frame.place, are_logits)
    return _counted(rows, faults) if DRAWN in rows else rows


def _of_label(label: str, cell: Mapping[str, Any] | None) -> Any:
    return None if cell is None else cell.get(label)


def _counted(rows: PredictionFrame, faults: Faults) -> PredictionFrame:
    """Return a row per item of a file with answers: times each one was given."""
    counts: dict[tuple[Any, str], Counter[str]] = {}
    kept: list[int] = []
    cells = zip(*map(rows.cells, ("uid", "model", DRAWN)), strict=True)
    for i, (stands, model, answers) in enumerate(cells):
        uid = as_identifier(stands)
        if not isinstance(answers, Counter):
            each = answers if isinstance(answers, list) else [answers]
            answers = Counter(text for text in map(as_identifier, each) if text is not None)
            if answers.total() < max(len(each), 1):
                answers = Counter()
        if uid is None or not answers:
            faults.add(rows.place(i), ["no uid" if uid is None else "no sample"])
            continue
        key = (shorten(model), uid)
        if key not in counts:
            kept.append(i)
            counts[key] = Counter()
        counts[key].update(answers)
    faults.check()
    found = rows.of(np.array(kept, dtype=np.int64))
    return replace(found, columns={**found.columns, DRAWN: column_of(counts.values())})


def class_columns(dataset: Dataset) -> list[str]:
    """Return the names of class columns in tables of a dataset, such as ``hypothesis_1``."""
    return [label.replace(" ", "_") for label in dataset.labels]

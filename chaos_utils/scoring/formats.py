"""Files of predictions, whatever their format, as one frame: columns, and places for messages.

ChaosNLI's JSON, JSON lines (those of Baan et al. (2022) in an order of their own), CSV and parquet,
and what language models' runs leave behind. Nothing is judged here: cells are as the file has them.
"""

import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.faults import Faults
from chaos_utils.datasets.records import (
    Content,
    as_identifier,
    parse,
    read_csv,
    read_parquet,
    read_records,
)
from chaos_utils.scoring.model_runs import DRAWN, UIDS, WEIGHTS, read_run

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
_PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_SHOWN_CHARACTERS = 80
_LOOKED_AT = 10  # lines: one that is damaged does not decide the format
_AS_TABLE = "write a CSV with a column uid and a column for each label"
# What files that are no text begin with.
_KINDS = {
    b"\x93NUMPY": ("a NumPy array (.npy)", _AS_TABLE),
    b"\x80": ("a Python pickle (.pkl), which is never opened", _AS_TABLE),
    b"\x1f\x8b": ("a gzip archive", "unpack it: gunzip"),
    b"BZh": ("a bzip2 archive", "unpack it: bunzip2"),
    b"\xfd7zXZ": ("an xz archive", "unpack it: unxz"),
    b"\xd0\xcf\x11\xe0": ("an Excel workbook (.xls)", "save it as CSV"),
    b"\x89HDF": ("an HDF5 file", _AS_TABLE),
    b"ARROW1": ("an Arrow or Feather file", "save it as parquet"),
    b"\xff\xfe": ("text in UTF-16", "save it as UTF-8"),
    b"\xfe\xff": ("text in UTF-16", "save it as UTF-8"),
}
_ARCHIVES = {  # by the end of a name in them
    "xl/workbook.xml": ("an Excel workbook (.xlsx)", "save it as CSV"),
    "data.pkl": ("a PyTorch file, which is never opened", _AS_TABLE),
    ".npy": ("NumPy arrays (.npz)", _AS_TABLE),
    "header.json": (
        "a log of Inspect (.eval)",
        "convert it: inspect log convert FILE --to json --output-dir DIR",
    ),
}


@dataclass(frozen=True, slots=True)
class Frame:
    """What a file says, in columns of equal length, and where each row stands in it."""

    path: Path
    places: Sequence[str]
    columns: Mapping[str, list[Any]]
    are_logits: bool = False  # what stands in the labels' columns
    notes: tuple[str, ...] = ()  # on what the file holds and is no prediction

    def __len__(self) -> int:
        return len(self.places)

    def __contains__(self, column: str) -> bool:
        return column in self.columns

    @property
    def unnamed(self) -> list[str]:
        """The columns that have no name here: those of labels, and others."""
        return [name for name in self.columns if name not in _NAMED]

    @property
    def states_labels(self) -> bool:
        """Whether rows say which label they predict."""
        return any(cell is not None for cell in self.column(STATED))

    def column(self, name: str) -> list[Any]:
        """Return the cells of a column, None where it has none."""
        return self.columns[name] if name in self.columns else [None] * len(self)

    def by_model(self) -> dict[str, "Frame"]:
        """Return the rows of each model, by its name; the file's, where none is stated."""
        if "model" not in self:
            return {self.path.stem: self}
        rows: dict[str, list[int]] = {}
        for i, name in enumerate(self.columns["model"]):
            if not isinstance(name, str) or not name.strip():
                raise ChaosError(
                    "A row names no model.", where=f"{self.path}, {self.places[i]}",
                    found=f"no model in the column model: {shown(name)}",
                    expected="a model in each row, or no such column", todo="correct the column",
                )  # fmt: skip
            rows.setdefault(name, []).append(i)
        return {name: self if len(rows) == 1 else self.of(some) for name, some in rows.items()}

    def of(self, rows: Sequence[int]) -> "Frame":
        """Return some rows."""
        columns = {name: [cells[i] for i in rows] for name, cells in self.columns.items()}
        return replace(self, places=[self.places[i] for i in rows], columns=columns)


def read_frame(source: Content, datasets: Sequence[Dataset]) -> Frame:
    """Return what a predictions file holds, one row at least; the content decides its format."""
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
    _refuse_other_kinds(source)
    if source.is_parquet:
        frame = _of_parquet(source, faults)
    elif source.text().lstrip()[:1] in ("{", "["):
        frame = _of_json(source, faults)
    else:
        frame = _of_csv(source, faults)
    faults.check()
    if not len(frame):
        raise faults.fatal("The predictions file holds no prediction.", "; ".join(frame.notes))
    return _named(frame, faults)


def _refuse_other_kinds(source: Content) -> None:
    """Name a file that is neither text nor parquet."""
    known = next((about for start, about in _KINDS.items() if source.data.startswith(start)), None)
    if source.data.startswith(b"PK\x03\x04"):
        known = ("a zip archive", "unpack it")
        try:
            names = zipfile.ZipFile(BytesIO(source.data)).namelist()
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
            names = []
        known = next((_ARCHIVES[end] for end in _ARCHIVES for n in names if n.endswith(end)), known)
    if source.path.suffix in (".pkl", ".pickle"):
        known = _KINDS[b"\x80"]
    if known is not None:
        raise ChaosError(
            "This is no file of predictions that can be read.",
            where=source.path,
            found=known[0],
            expected="CSV, JSON, JSON lines or parquet",
            todo=known[1],
        )


def _of_parquet(source: Content, faults: Faults) -> Frame:
    import pyarrow as pa  # type: ignore[import-untyped]

    try:
        table = read_parquet(source, faults)
        names = [str(name) for name in table.column_names]
        if len(set(names)) < len(names):
            raise faults.fatal("A column appears twice in the predictions file.", ", ".join(names))
        columns = {name: table.column(i).to_pylist() for i, name in enumerate(names)}
    except (pa.ArrowException, OSError, ValueError) as fault:
        found = " ".join(str(fault).split())[:160]
        raise faults.fatal("The data file is damaged.", found, "parquet") from fault
    return Frame(source.path, [f"row {i}" for i in range(1, table.num_rows + 1)], columns)


def _of_csv(source: Content, faults: Faults) -> Frame:
    records, delimiter = read_csv(source, faults)
    frame = _of_rows(source.path, [(one.place, one.fields) for one in records])
    numbers = {
        name: [_number(cell, with_comma=delimiter == ";") for cell in cells]
        for name, cells in frame.columns.items()
        if _OTHER_NAMES.get(name, name) not in _TEXTS
    }
    return replace(frame, columns={**frame.columns, **numbers})


def _number(text: str, *, with_comma: bool) -> float | str | None:
    """Return the number that a text is; where fields end in semicolons, 0,5 is one."""
    text = text.strip()
    plain = text.replace(",", ".") if with_comma else text
    return float(plain) if _PLAIN_NUMBER.fullmatch(plain) else text or None


def _of_json(source: Content, faults: Faults) -> Frame:
    text = source.text()
    try:
        rows = list(_rows_in(parse(text), faults))
    except ValueError as fault:
        if text.lstrip().startswith("[") or not _are_lines(text):
            found = str(fault).removeprefix("found ")
            raise faults.fatal("The predictions file is not valid JSON.", found) from fault
        rows = [(one.place, one.fields) for one in read_records(source, faults)]
        faults.check()
    if (run := read_run(source.path, rows, faults)) is not None:
        faults.check()
        return replace(_of_rows(source.path, run.rows), notes=run.notes, are_logits=run.are_logits)
    return _of_rows(source.path, rows)


def _are_lines(text: str) -> bool:
    """Return whether one of the first lines is an object of its own."""
    for line in text.lstrip().split("\n", _LOOKED_AT)[:_LOOKED_AT]:
        with suppress(ValueError):
            if isinstance(parse(line), dict):
                return True
    return False


def _rows_in(whole: Any, faults: Faults) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of one JSON value: a list of objects, or objects by uid, maybe by model."""
    if isinstance(whole, list):
        if not all(isinstance(one, dict) for one in whole):
            raise faults.fatal("Unrecognised predictions format.", "a JSON list, not of objects")
        yield from ((f"record {i}", one) for i, one in enumerate(whole, start=1))
    elif "configs" in whole or not all(isinstance(one, dict) for one in whole.values()):
        yield "line 1", whole
    elif all(isinstance(entry, dict) for one in whole.values() for entry in one.values()):
        for model, entries in whole.items():
            for uid, entry in entries.items():
                known = {"model": model, "uid": uid, INSIDE: entry.get("uid", uid)}
                yield f"{shown(model)}, {shown(uid)}", entry | known
    else:
        yield from ((shown(uid), {"uid": uid} | entry) for uid, entry in whole.items())


def _of_rows(path: Path, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> Frame:
    names = dict.fromkeys(name for _, fields in rows for name in fields)
    columns = {name: [fields.get(name) for _, fields in rows] for name in names}
    return Frame(path, [place for place, _ in rows], columns)


def _named(frame: Frame, faults: Faults) -> Frame:
    """Return a frame with the names of columns that are used here."""
    uid = next((name for name in UIDS if name in frame), None)
    known = {name: _OTHER_NAMES.get(name, name) for name in frame.columns}
    known |= {uid: "uid"} if uid else {}
    columns = {known[name]: cells for name, cells in frame.columns.items()}
    if uid is None or len(columns) < len(known):
        raise faults.fatal(
            "Unrecognised predictions format.",
            f"columns {', '.join(map(shown, list(known)[:8]))}",
            todo="rename the columns: "
            + ("uid for the items" if uid is None else "two are for one thing"),
        )
    for name in (PROBABILITIES, LOGITS):  # by label
        for cells in filter(None, [columns.get(name)]):
            if all(isinstance(cell, dict) for cell in cells):
                del columns[name]
                labels = dict.fromkeys(label for cell in cells for label in cell)
                columns |= {label: [cell.get(label) for cell in cells] for label in labels}
                frame = replace(frame, are_logits=name == LOGITS)
    frame = replace(frame, columns=columns)
    return _counted(frame, faults) if DRAWN in frame else frame


def _counted(frame: Frame, faults: Faults) -> Frame:
    """Return a row per item of a file with answers: times each one was given."""
    rows: dict[tuple[Any, str], int] = {}
    counts: list[Counter[str]] = []
    kept: list[int] = []
    for i, place in enumerate(frame.places):
        uid, answers = as_identifier(frame.columns["uid"][i]), frame.columns[DRAWN][i]
        if not isinstance(answers, Counter):
            each = answers if isinstance(answers, list) else [answers]
            answers = Counter(text for text in map(as_identifier, each) if text is not None)
            if answers.total() < max(len(each), 1):
                answers = Counter()
        if uid is None or not answers:
            faults.add(place, ["no uid" if uid is None else "no sample"])
            continue
        key = (shown(frame.column("model")[i]), uid)
        if key not in rows:
            rows[key] = len(kept)
            kept.append(i)
            counts.append(Counter())
        counts[rows[key]].update(answers)
    faults.check()
    found = frame.of(kept)
    return replace(found, columns={**found.columns, DRAWN: counts})


def class_columns(dataset: Dataset) -> list[str]:
    """Return the names of class columns in tables of a dataset, such as ``hypothesis_1``."""
    return [label.replace(" ", "_") for label in dataset.labels]


def shown(value: object) -> str:
    """Return a value from a file for a message: short, and nothing that disturbs a terminal."""
    text = value if isinstance(value, str) and value.isprintable() else ascii(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + " …"

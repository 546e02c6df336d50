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
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.cells import as_identifier, parse
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.faults import Faults
from chaos_utils.datasets.frame import Content, read_frame
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

    def by_model(self) -> dict[str, "PredictionFrame"]:
        """Return the rows of each model, by its name; the file's, where none is stated."""
        if "model" not in self:
            return {self.path.stem: self}
        rows: dict[str, list[int]] = {}
        for i, name in enumerate(self.columns["model"]):
            if not isinstance(name, str) or not name.strip():
                raise ChaosError(
                    "A row names no model.", where=f"{self.path}, {self.places[i]}",
                    found="no model in the column model",
                    expected="a model in each row, or no such column", todo="correct the column",
                )  # fmt: skip
            rows.setdefault(name, []).append(i)
        return {name: self if len(rows) == 1 else self.of(some) for name, some in rows.items()}

    def of(self, rows: Sequence[int]) -> "PredictionFrame":
        """Return some rows."""
        columns = {name: [cells[i] for i in rows] for name, cells in self.columns.items()}
        return replace(self, places=[self.places[i] for i in rows], columns=columns)


def read_rows(source: Content, datasets: Sequence[Dataset]) -> PredictionFrame:
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
    _refuse_archives(source)
    is_json = not source.is_parquet and source.text().lstrip()[:1] in ("{", "[")
    rows = _of_json(source, faults) if is_json else _of_table(source, faults)
    if not len(rows):
        why = "; ".join(rows.notes)
        said = (why, "one prediction at least", "run again what failed") if why else ()
        raise faults.fatal("The predictions file holds no prediction.", *said)
    return _named(rows, faults)


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


def _of_table(source: Content, faults: Faults) -> PredictionFrame:
    """Return the rows of CSV or parquet; in CSV, what may be numbers is."""
    frame = read_frame(source, faults)
    faults.check()
    read = {}
    if not source.is_parquet:
        head = source.text().lstrip("\r\n").split("\n", 1)[0]
        number = partial(_number, with_comma=head.count(";") > head.count(","))
        read = {name: number for name in frame.names if _OTHER_NAMES.get(name, name) not in _TEXTS}
    columns = {
        name: frame.column(name).map(read.get(name, lambda cell: cell)).tolist()
        for name in frame.names
    }
    return PredictionFrame(source.path, [frame.place(i) for i in range(len(frame))], columns)


def _number(cell: str | None, *, with_comma: bool) -> float | str | None:
    """Return the number that a text is; where fields end in semicolons, 0,5 is one."""
    text = (cell or "").strip()
    plain = text.replace(",", ".") if with_comma else text
    return float(plain) if _PLAIN_NUMBER.fullmatch(plain) else text or None


def _of_json(source: Content, faults: Faults) -> PredictionFrame:
    text = source.text()
    try:
        rows = list(_rows_in(parse(text), faults))
    except ValueError as fault:
        if text.lstrip().startswith("[") or not _are_lines(text):
            found = str(fault).removeprefix("found ")
            raise faults.fatal("The predictions file is not valid JSON.", found) from fault
        frame = read_frame(source, faults)
        faults.check()
        rows = [(frame.place(i), fields) for i, fields in enumerate(frame.records())]
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
    elif whole and all(isinstance(one, list) for one in whole.values()):
        yield from ((shown(uid), {"uid": uid, PROBABILITIES: one}) for uid, one in whole.items())
    elif "configs" in whole or not all(isinstance(one, dict) for one in whole.values()):
        yield "line 1", whole
    elif all(isinstance(entry, dict) for one in whole.values() for entry in one.values()):
        for model, entries in whole.items():
            for uid, entry in entries.items():
                known = {"model": model, "uid": uid, INSIDE: entry.get("uid", uid)}
                yield f"{shown(model)}, {shown(uid)}", entry | known
    else:
        yield from ((shown(uid), {"uid": uid} | entry) for uid, entry in whole.items())


def _of_rows(path: Path, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> PredictionFrame:
    names = dict.fromkeys(name for _, fields in rows for name in fields)
    columns = {name: [fields.get(name) for _, fields in rows] for name in names}
    return PredictionFrame(path, [place for place, _ in rows], columns)


def _named(rows: PredictionFrame, faults: Faults) -> PredictionFrame:
    """Return rows with the names of columns that are used here."""
    uid = next((name for name in UIDS if name in rows), None)
    known = {name: _OTHER_NAMES.get(name, name) for name in rows.columns}
    known |= {uid: "uid"} if uid else {}
    columns = {known[name]: cells for name, cells in rows.columns.items()}
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
                rows = replace(rows, are_logits=name == LOGITS)
    rows = replace(rows, columns=columns)
    return _counted(rows, faults) if DRAWN in rows else rows


def _counted(rows: PredictionFrame, faults: Faults) -> PredictionFrame:
    """Return a row per item of a file with answers: times each one was given."""
    place_of: dict[tuple[Any, str], int] = {}
    counts: list[Counter[str]] = []
    kept: list[int] = []
    for i, place in enumerate(rows.places):
        uid, answers = as_identifier(rows.columns["uid"][i]), rows.columns[DRAWN][i]
        if not isinstance(answers, Counter):
            each = answers if isinstance(answers, list) else [answers]
            answers = Counter(text for text in map(as_identifier, each) if text is not None)
            if answers.total() < max(len(each), 1):
                answers = Counter()
        if uid is None or not answers:
            faults.add(place, ["no uid" if uid is None else "no sample"])
            continue
        key = (shown(rows.column("model")[i]), uid)
        if key not in place_of:
            place_of[key] = len(kept)
            kept.append(i)
            counts.append(Counter())
        counts[place_of[key]].update(answers)
    faults.check()
    found = rows.of(kept)
    return replace(found, columns={**found.columns, DRAWN: counts})


def class_columns(dataset: Dataset) -> list[str]:
    """Return the names of class columns in tables of a dataset, such as ``hypothesis_1``."""
    return [label.replace(" ", "_") for label in dataset.labels]


def shown(value: object) -> str:
    """Return a value from a file for a message: short, and nothing that disturbs a terminal."""
    text = value if isinstance(value, str) and value.isprintable() else ascii(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + " …"

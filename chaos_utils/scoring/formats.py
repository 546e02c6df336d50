"""The files that predictions come in: each format becomes rows, recognised by its content.

ChaosNLI's JSON (many models in a file, logits or probabilities), JSON lines (``uid`` and
``probs``; those released by Baan et al. (2022) have a class order of their own), CSV (``uid`` and
a column per class) and parquet (the same columns). Answers drawn from a language model are a crowd
of machine votes: tables with a row per answer (``uid`` or ``item``, ``sample``) or with their
numbers (the same, ``n_samples`` and a column per class), JSON lines with a list ``samples``.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chaos_utils.datasets.catalogue import known_datasets
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.faults import Faults
from chaos_utils.datasets.records import (
    Content,
    Record,
    as_count,
    as_identifier,
    parse,
    read_csv,
    read_records,
)

# Probabilities rounded to three digits pass. What Baan et al. (2022) released agrees to 2e-7.
TOLERANCE = 1e-3
ABOUT = ("family", "seed", "trained_on", "out_of_fold")  # columns that say what a system is

# JSON lines with these fields are in the format of Baan et al. (2022), whose values stand in the
# order of these codes.
_RELEASED_FIELDS = frozenset(("index", "pred", "probs"))
_RELEASED_CODES = ("e", "c", "n")
_PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_PROBABILITIES = "predicted_probabilities"
_SAMPLE, _SAMPLES, _N_SAMPLES = "sample", "samples", "n_samples"
_SHOWN_CHARACTERS = 80
_LOOKED_AT = 10  # lines: one that is damaged does not decide the format
_LARGEST = 1e300  # comparing is safe for integers of any length; converting is not


@dataclass(slots=True)
class Row:
    """One model's raw answer for one item, unchecked."""

    place: str  # where it stands in the file, for messages
    uid: Any  # None, as for label and dataset, where the file states none
    values: Any  # a list in the order of the format, or a mapping from column to value
    are_logits: bool = False  # and not probabilities
    label: Any = None
    dataset: Any = None
    codes: tuple[str, ...] = ()  # the labels' order, where a format has one of its own
    about: Mapping[str, Any] = field(default_factory=dict)  # from the columns `ABOUT`
    samples: Mapping[str, int] | None = None  # times each answer was drawn; None for distributions
    faults: list[str] = field(default_factory=list)  # where the row contradicts itself


def read_rows(path: Path, content: bytes, datasets: Sequence[Dataset]) -> dict[str, list[Row]]:
    """Return the rows of a predictions file by model, one of each at least.

    The path names the file in messages, and the model where the file names none.
    """
    source = Content(path, content)
    faults = Faults(
        path,
        "predictions",
        expected=_formats(datasets),
        todo="correct this, and check that the file was not cut off",
    )
    if source.is_parquet:
        return _from_columns(path, read_records(source, faults), faults, datasets)
    text = source.text()
    first = text.lstrip()[:1]
    if first == "{" and _is_json_lines(text) and _SAMPLE in text:
        records = read_records(source, faults)
        faults.check()
        if all(_SAMPLE in one.fields or _SAMPLES in one.fields for one in records):
            return _from_samples(path, records, faults)
    if first == "{" and not _is_json_lines(text):
        return _read_chaosnli(source, faults)
    if first == "{":
        return {path.stem: _read_json_lines(source, faults)}
    if first == "[":
        raise faults.fatal("Unrecognised predictions format.", "a JSON list")
    records, delimiter = read_csv(source, faults)
    models = _from_columns(path, records, faults, datasets)
    for row in (row for rows in models.values() for row in rows):
        row.values = {
            column: _number(value, with_comma=delimiter == ";")
            for column, value in row.values.items()
        }
    return models


def class_columns(dataset: Dataset) -> list[str]:
    """Return the names of class columns in tables of a dataset, such as ``hypothesis_1``."""
    return [label.replace(" ", "_") for label in dataset.labels]


def shown(value: object) -> str:
    """Return a value from a file for a message: short, and nothing that disturbs a terminal."""
    text = value if isinstance(value, str) and value.isprintable() else ascii(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + " …"


def is_number(value: object) -> bool:
    """Return whether a value is a finite number; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST


def _formats(datasets: Iterable[Dataset]) -> str:
    columns = " or ".join(dict.fromkeys(", ".join(class_columns(one)[:12]) for one in datasets))
    return (
        "ChaosNLI's JSON {model: {uid: {…}}}, JSON lines with uid and probs, or CSV or "
        f"parquet with a column uid and one per class{f': {columns}' if columns else ''}; or drawn "
        "answers in columns uid and sample"
    )


def _is_json_lines(text: str) -> bool:
    """Return whether one of the first lines is an object that holds one prediction."""
    first, *others = text.lstrip().split("\n", _LOOKED_AT)
    if first.strip() == "{":
        return False  # a JSON object over many lines
    return any(map(_is_prediction, [first, *others[: _LOOKED_AT - 1]]))


def _is_prediction(line: str) -> bool:
    """Return whether a line is an object of its own that holds one prediction."""
    try:
        entry = parse(line)
    except ValueError:
        return False
    return isinstance(entry, dict) and (
        _SAMPLE in entry
        or _SAMPLES in entry
        or isinstance(entry.get("probs"), list)
        or not isinstance(entry.get("uid", {}), dict)
    )


def _read_chaosnli(source: Content, faults: Faults) -> dict[str, list[Row]]:
    try:
        content = parse(source.text())
    except ValueError as fault:
        found = str(fault).removeprefix("found ")
        raise faults.fatal("The predictions file is not valid JSON.", found) from fault
    models: dict[str, list[Row]] = {}
    for name, entries in content.items():
        if not isinstance(entries, dict) or not all(isinstance(e, dict) for e in entries.values()):
            raise faults.fatal(
                "Unrecognised predictions format.",
                f"{shown(name)!r} holds no {{uid: {{…}}}}",
            )
        models[name] = [
            _chaosnli_row(name, uid, entry)
            for uid, entry in entries.items()
            if not _lacks_values(f"{shown(name)}, {shown(uid)}", entry, _PROBABILITIES, faults)
        ]
    faults.check()
    if not models or not all(models.values()):
        raise faults.fatal("The predictions file holds no prediction, or none of a model.")
    return models


def _lacks_values(place: str, entry: Mapping[str, Any], probabilities: str, faults: Faults) -> bool:
    """Return whether an entry has neither probabilities nor logits, which is a fault."""
    if {probabilities, "logits"} & entry.keys():
        return False
    keys = ", ".join(map(shown, entry)) or "none"
    return faults.add(place, [f"no `{probabilities}`; keys found: {keys}"])


def _chaosnli_row(name: str, uid: str, entry: Mapping[str, Any]) -> Row:
    probabilities, logits = entry.get(_PROBABILITIES), entry.get("logits")
    are_logits = _PROBABILITIES not in entry
    row = Row(
        place=f"{shown(name)}, {shown(uid)}",
        uid=uid,
        values=logits if are_logits else probabilities,
        are_logits=are_logits,
        label=entry.get("predicted_label"),
    )
    if entry.get("uid", uid) != uid:
        row.faults.append(f"the uid inside is {shown(entry['uid'])}")
    row.faults += _contradictions(probabilities, logits, {})
    return row


def _read_json_lines(source: Content, faults: Faults) -> list[Row]:
    rows = []
    for record in read_records(source, faults):
        entry = record.fields
        if _lacks_values(record.place, entry, "probs", faults):
            continue
        probabilities, logits = entry.get("probs"), entry.get("logits")
        are_logits = "probs" not in entry
        rows.append(
            Row(
                place=record.place,
                uid=entry.get("uid"),
                values=logits if are_logits else probabilities,
                are_logits=are_logits,
                label=entry.get("predicted_label"),
                codes=_RELEASED_CODES if entry.keys() >= _RELEASED_FIELDS else (),
                faults=_contradictions(probabilities, logits, entry),
            )
        )
    faults.check()
    return rows


def _contradictions(probabilities: Any, logits: Any, entry: Mapping[str, Any]) -> list[str]:
    """Return where logits, `conf` (the largest probability) and `pred` (its place) disagree."""
    if not isinstance(probabilities, list) or not probabilities:
        return []
    if not all(map(is_number, probabilities)):
        return []  # a fault of its own
    faults = []
    largest = max(probabilities)
    if logits is not None:
        said = _softmax(logits)
        if len(said) != len(probabilities) or any(
            abs(a - b) > TOLERANCE for a, b in zip(said, probabilities, strict=True)
        ):
            faults.append(
                f"probabilities {shown(probabilities)} are not the softmax of {shown(logits)}"
            )
    conf, pred = entry.get("conf"), entry.get("pred")
    if conf is not None and not (is_number(conf) and abs(conf - largest) <= TOLERANCE):
        faults.append(f"conf is {shown(conf)}, the largest probability {largest:g}")
    if pred is not None:
        is_place = isinstance(pred, int) and not isinstance(pred, bool)
        if not (is_place and 0 <= pred < len(probabilities)):
            faults.append(f"pred is {shown(pred)}, no place in a list of {len(probabilities)}")
        elif probabilities[pred] < largest - TOLERANCE:
            place = probabilities.index(largest)
            faults.append(f"pred is {pred}, the largest probability stands at {place}")
    return faults


def _softmax(logits: Any) -> list[float]:
    """Return the softmax of a list of numbers; of anything else, nothing."""
    if not isinstance(logits, list) or not logits or not all(map(is_number, logits)):
        return []
    powers = [math.exp(value - max(logits)) for value in logits]
    return [power / sum(powers) for power in powers]


def _number(text: str, *, with_comma: bool) -> float | str | None:
    """Return the number that a text is; where fields end in semicolons, 0,5 is one."""
    text = text.strip()
    plain = text.replace(",", ".") if with_comma else text
    return float(plain) if _PLAIN_NUMBER.fullmatch(plain) else text or None


def _from_columns(
    path: Path, records: Sequence[Record], faults: Faults, datasets: Sequence[Dataset]
) -> dict[str, list[Row]]:
    faults.check()
    if not records:
        raise faults.fatal("The predictions file holds no prediction.")
    names = list(records[0].fields)
    if _SAMPLE in names:
        return _from_samples(path, records, faults)
    classes = {name for one in (*datasets, *known_datasets()) for name in class_columns(one)}
    uid = "item" if _N_SAMPLES in names and "uid" not in names else "uid"
    if uid not in names or not classes & set(names):
        raise faults.fatal(
            "Unrecognised predictions format.",
            f"columns {', '.join(map(shown, names[:8]))}",
        )
    # Until the second edition, files had the dataset in a column `task`.
    dataset = "dataset" if "dataset" in names else "task"
    models: dict[str, list[Row]] = {}
    for record in records:
        fields = record.fields
        model = fields.get("model", path.stem)
        row = Row(
            place=record.place,
            uid=fields[uid],
            values={
                name: value
                for name, value in fields.items()
                if name not in ("model", uid, "dataset", "task", "predicted_label", *ABOUT)
                and name != _N_SAMPLES
            },
            label=_stated(fields.get("predicted_label")),
            dataset=_stated(fields.get(dataset)),
            about={name: _stated(fields.get(name)) for name in ABOUT},
        )
        if _N_SAMPLES in fields:
            row.samples = _counts(row, fields[_N_SAMPLES], classes)
        if not isinstance(model, str) or not model.strip():
            row.faults.append("no model in the column model")
            model = path.stem
        models.setdefault(model, []).append(row)
    return models


def _counts(row: Row, stated: Any, classes: Collection[str]) -> dict[str, int]:
    """Return how often each label was drawn; note where the numbers do not add up."""
    columns = [name for name in row.values if name in classes]
    counts = {name: as_count(row.values[name]) for name in columns}
    found = {name: n for name, n in counts.items() if n is not None}
    for name in columns:
        if name not in found:
            row.faults.append(f"{name} is {shown(row.values[name])}, no number of samples")
    if len(found) == len(columns) and sum(found.values()) != as_count(stated):
        row.faults.append(f"n_samples is {shown(stated)}, the columns add up to "
                          f"{sum(found.values())}")  # fmt: skip
    return found


def _from_samples(path: Path, records: Sequence[Record], faults: Faults) -> dict[str, list[Row]]:
    """Return a row per item of a file with answers of a model, drawn one by one or in lists."""
    rows: dict[tuple[str, str], Row] = {}
    for record in records:
        fields = record.fields
        uid = as_identifier(fields.get("uid", fields.get("item")))
        answers = fields[_SAMPLES] if _SAMPLES in fields else [fields.get(_SAMPLE)]
        texts = [as_identifier(one) for one in answers] if isinstance(answers, list) else [None]
        model = _stated(fields.get("model"))
        if uid is None or not texts or None in texts:
            what = "uid" if uid is None else "sample"
            faults.add(record.place, [f"no {what}"])
            continue
        key = (path.stem if model is None else str(model), uid)
        row = rows.setdefault(
            key, Row(record.place, uid, {}, dataset=_stated(fields.get("dataset")), samples={})
        )
        counts = dict(row.samples or {})
        for text in texts:
            counts[str(text)] = counts.get(str(text), 0) + 1
        row.samples = counts
    faults.check()
    models: dict[str, list[Row]] = {}
    for (model, _), row in rows.items():
        models.setdefault(model, []).append(row)
    return models


def _stated(value: Any) -> Any:
    """Return a cell's value; None for an empty one, which CSV and parquet have in several forms."""
    if isinstance(value, str):
        return value.strip() or None
    is_nan = isinstance(value, float) and math.isnan(value)
    return None if value is None or is_nan or type(value).__name__ == "NAType" else value

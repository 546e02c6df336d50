"""The files that predictions come in: each format becomes rows, recognised by its content.

ChaosNLI's JSON (many models in a file, logits or probabilities), JSON lines (``uid`` and
``probs``; those released by Baan et al. (2022) have a class order of their own), CSV (``uid`` and
a column per class) and parquet (the same columns).
"""

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import known_datasets
from chaos_utils.datasets.dataset import Dataset

# Probabilities rounded to three digits pass. What Baan et al. (2022) released agrees to 2e-7.
TOLERANCE = 1e-3
ABOUT = ("family", "seed", "trained_on", "out_of_fold")  # columns that say what a system is

# JSON lines with these fields are in the format of Baan et al. (2022), whose values stand in the
# order of these codes.
_RELEASED_FIELDS = frozenset(("index", "pred", "probs"))
_RELEASED_CODES = ("e", "c", "n")
_PARQUET = b"PAR1"
_PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_SHOWN_CHARACTERS = 80


@dataclass(slots=True)
class Row:
    """One model's raw answer for one item.

    Attributes
    ----------
    place : str
        Where it stands in the file, for messages.
    uid, label, dataset : object
        As the file has them, unchecked; None where it states none.
    values : object
        A list in the order of the format, or a mapping from column to value; unchecked.
    are_logits : bool
        Whether `values` are logits instead of probabilities.
    codes : tuple of str
        The labels' codes in the order of `values`, for a format that has an order of its own and
        a dataset that has these codes; empty for the dataset's order.
    about : mapping
        What the columns `ABOUT` say of the system.
    faults : list of str
        Where the row contradicts itself.
    """

    place: str
    uid: Any
    values: Any
    are_logits: bool = False
    label: Any = None
    dataset: Any = None
    codes: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def read_rows(path: Path, content: bytes, datasets: Sequence[Dataset]) -> dict[str, list[Row]]:
    """Return the rows of a predictions file by model.

    Parameters
    ----------
    path : Path
        Names the file in messages, and the model where the file names none.
    content : bytes
        All of the file, in any of the formats.
    datasets : sequence of Dataset
        That it may be about.

    Returns
    -------
    dict of list of Row
        At least one model; each has at least one row.

    Raises
    ------
    ChaosError
        If the file is empty, damaged, or in none of the formats.
    """
    if content.startswith(_PARQUET):
        return _read_parquet(path, content, datasets)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise _unknown_format(path, "bytes that are not UTF-8 text", datasets) from fault
    first = text.lstrip()[:1]
    if not first:
        raise ChaosError("The predictions file is empty.", where=path)
    if first == "[":
        raise _unknown_format(path, "a JSON list", datasets)
    if first != "{":
        return _read_csv(path, text, datasets)
    if _is_json_lines(path, text):
        return {path.stem: _read_json_lines(path, text)}
    return _read_chaosnli(path, text, datasets)


def class_columns(dataset: Dataset) -> list[str]:
    """Return the names of the class columns in tables of a dataset.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    list of str
        One per label, in order, with ``_`` for spaces: ``entailment``, ``hypothesis_1``.
    """
    return [label.replace(" ", "_") for label in dataset.labels]


def shown(value: object) -> str:
    """Return a value from a file for a message: short, and nothing that disturbs a terminal."""
    text = value if isinstance(value, str) and value.isprintable() else ascii(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + " …"


def is_number(value: object) -> bool:
    """Return whether a value is a finite number; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _unknown_format(path: Path, found: str, datasets: Iterable[Dataset]) -> ChaosError:
    columns = " or ".join(dict.fromkeys(", ".join(class_columns(one)) for one in datasets))
    return ChaosError(
        "This is not a predictions file in a known format.",
        where=path,
        found=found,
        expected="ChaosNLI's JSON {model: {uid: {…}}}, JSON lines with uid and probs, or CSV or "
        f"parquet with a column uid and one per class{f': {columns}' if columns else ''}",
    )


def _no_prediction(path: Path) -> ChaosError:
    return ChaosError("The predictions file holds no prediction.", where=path)


class _DoubledKeyError(Exception):
    """A key that stands twice in one JSON object."""


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _DoubledKeyError(next(key for key in keys if keys.count(key) > 1))
    return entries


def _integer(digits: str) -> int | float:
    # Python refuses to read integers of more than 4,300 digits; as a number these are infinite.
    return int(digits) if len(digits) < 20 else float(digits)


def _parse(path: Path, text: str, line: int | None = None) -> Any:
    """Parse JSON; `line` is the number of a line that is parsed alone."""
    where = f"{path}, line {line}" if line else f"{path}"
    try:
        return json.loads(text, object_pairs_hook=_once_each, parse_int=_integer)
    except json.JSONDecodeError as fault:
        raise ChaosError(
            "A line of the predictions file is not JSON."
            if line
            else "The predictions file is not complete JSON.",
            where=f"{path}, line {line or fault.lineno}, column {fault.colno}",
            found=shown(text) if line else fault.msg,
            todo="check that the file was not cut off",
        ) from fault
    except _DoubledKeyError as fault:
        raise ChaosError(
            "A key occurs twice in one JSON object.",
            where=where,
            found=shown(str(fault)),
            expected="each model, uid and field once",
            todo="remove one of the two entries",
        ) from fault
    except RecursionError as fault:
        raise ChaosError(
            "The JSON is nested too deeply.", where=where, expected="{model: {uid: {…}}}"
        ) from fault


def _is_json_lines(path: Path, text: str) -> bool:
    """Return whether the first line is an object of its own that holds one prediction."""
    try:
        entry = _parse(path, text.lstrip().split("\n", 1)[0], line=1)
    except ChaosError:
        return False  # a JSON object over many lines, or a damaged one: the reader says which
    return isinstance(entry, dict) and (
        isinstance(entry.get("probs"), list) or not isinstance(entry.get("uid", {}), dict)
    )


def _read_chaosnli(path: Path, text: str, datasets: Iterable[Dataset]) -> dict[str, list[Row]]:
    content = _parse(path, text)
    models: dict[str, list[Row]] = {}
    for name, entries in content.items():
        if not isinstance(entries, dict) or not all(isinstance(e, dict) for e in entries.values()):
            raise _unknown_format(path, f"{shown(name)!r} holds no {{uid: {{…}}}}", datasets)
        models[name] = [_chaosnli_row(name, uid, entry) for uid, entry in entries.items()]
        if not models[name]:
            raise ChaosError("A model has no prediction.", where=path, found=shown(name))
    if not models:
        raise _no_prediction(path)
    return models


def _chaosnli_row(name: str, uid: str, entry: Mapping[str, Any]) -> Row:
    probabilities, logits = entry.get("predicted_probabilities"), entry.get("logits")
    are_logits = "predicted_probabilities" not in entry and "logits" in entry
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


def _read_json_lines(path: Path, text: str) -> list[Row]:
    rows = []
    # JSON may hold other characters that Python's splitlines takes for ends of lines.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        entry = _parse(path, line, number)
        if not isinstance(entry, dict):
            raise ChaosError(
                "A line of the predictions file is not a JSON object.",
                where=f"{path}, line {number}",
                found=shown(line),
                expected='an object per line, such as {"uid": …, "probs": […]}',
            )
        probabilities, logits = entry.get("probs"), entry.get("logits")
        are_logits = "probs" not in entry and "logits" in entry
        rows.append(
            Row(
                place=f"line {number}",
                uid=entry.get("uid"),
                values=logits if are_logits else probabilities,
                are_logits=are_logits,
                label=entry.get("predicted_label"),
                codes=_RELEASED_CODES if entry.keys() >= _RELEASED_FIELDS else (),
                faults=_contradictions(probabilities, logits, entry),
            )
        )
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


def _read_csv(path: Path, text: str, datasets: Sequence[Dataset]) -> dict[str, list[Row]]:
    head = text.lstrip().split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    records = []
    names: list[str] = []
    try:
        for fields in reader:
            if not fields:
                continue
            if not names:
                names = [name.strip() for name in fields]
                _check_header(path, names, datasets)
            elif len(fields) == len(names):
                records.append((f"line {reader.line_num}", dict(zip(names, fields, strict=True))))
            else:
                raise ChaosError(
                    "A line of the predictions file does not fit its header.",
                    where=f"{path}, line {reader.line_num}",
                    found=f"{len(fields)} fields",
                    expected=f"{len(names)} fields: {', '.join(map(shown, names[:8]))}",
                )
    except csv.Error as fault:
        raise ChaosError(
            "The predictions file is not CSV that can be read.",
            where=f"{path}, line {reader.line_num}",
            found=str(fault),
            todo="check the quotation marks, and that the file was not cut off",
        ) from fault
    models = _from_columns(path, names, records)
    for row in (row for rows in models.values() for row in rows):
        row.values = {
            column: _number(value, with_comma=delimiter == ";")
            for column, value in row.values.items()
        }
    return models


def _number(text: str, *, with_comma: bool) -> float | str | None:
    """Return the number that a text is; where fields end in semicolons, 0,5 is one."""
    text = text.strip()
    plain = text.replace(",", ".") if with_comma else text
    return float(plain) if _PLAIN_NUMBER.fullmatch(plain) else text or None


def _read_parquet(path: Path, content: bytes, datasets: Sequence[Dataset]) -> dict[str, list[Row]]:
    import pandas as pd

    try:
        table = pd.read_parquet(io.BytesIO(content))
        if any(name is not None for name in table.index.names):
            table = table.reset_index()
        records = table.to_dict("records")
    except Exception as fault:  # pyarrow raises errors of a dozen kinds on damaged files
        raise ChaosError(
            "This parquet file cannot be read.",
            where=path,
            found=shown(" ".join(str(fault).split())),
            todo="check that the file was not cut off, or write it again",
        ) from fault
    names = [str(name) for name in table.columns]
    _check_header(path, names, datasets)
    return _from_columns(path, names, [(f"row {i}", one) for i, one in enumerate(records)])


def _check_header(path: Path, names: Sequence[str], datasets: Sequence[Dataset]) -> None:
    double = next((name for name in names if name and names.count(name) > 1), None)
    if double is not None:
        raise ChaosError("A column occurs twice.", where=path, found=shown(double))
    classes = {name for one in (*datasets, *known_datasets()) for name in class_columns(one)}
    if "uid" not in names or not classes & set(names):
        columns = ", ".join(map(shown, names[:8])) or "none"
        raise _unknown_format(path, f"columns {columns}", datasets)


def _from_columns(
    path: Path, names: Sequence[str], records: Iterable[tuple[str, Mapping[Any, Any]]]
) -> dict[str, list[Row]]:
    # Until the second edition, files had the dataset in a column `task`.
    dataset = "dataset" if "dataset" in names else "task"
    models: dict[str, list[Row]] = {}
    for place, record in records:
        model = record.get("model", path.stem)
        row = Row(
            place=place,
            uid=record["uid"],
            values={
                name: value
                for name, value in record.items()
                if name not in ("model", "uid", "dataset", "task", "predicted_label", *ABOUT)
            },
            label=_stated(record.get("predicted_label")),
            dataset=_stated(record.get(dataset)),
            about={name: _stated(record.get(name)) for name in ABOUT},
        )
        if not isinstance(model, str) or not model.strip():
            row.faults.append("no model in the column model")
            model = path.stem
        models.setdefault(model, []).append(row)
    if not models:
        raise _no_prediction(path)
    return models


def _stated(value: Any) -> Any:
    """Return a cell's value; None for an empty one, which CSV and parquet have in several forms."""
    if isinstance(value, str):
        return value.strip() or None
    is_nan = isinstance(value, float) and math.isnan(value)
    return None if value is None or is_nan or type(value).__name__ == "NAType" else value

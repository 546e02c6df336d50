"""The files that predictions come in: each format becomes rows, told from the content.

ChaosNLI's JSON (many models a file, logits or probabilities), the JSON lines of Baan et
al. (2022; class order e, c, n), CSV (``uid`` and a column a class), and this project's
parquet (``model``, ``uid`` and a column a class).
"""

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import book_datasets
from chaos_utils.datasets.dataset import Dataset

_BAAN_ORDER = (0, 2, 1)  # from (e, c, n) to this project's (e, n, c)


@dataclass(slots=True)
class Row:
    """One model's raw answer for one item.

    Attributes
    ----------
    place : str
        Where it stands in the file, for messages.
    uid, values, label : object
        As the file has them, unchecked; `label` is None where it states none.
    are_logits : bool
        Whether `values` are logits instead of probabilities.
    """

    place: str
    uid: Any
    values: Any
    are_logits: bool
    label: Any = None


def read_rows(path: Path) -> tuple[dict[str, list[Row]], tuple[int, ...] | None]:
    """Return rows by model, and how the columns map to this project's order if it is another.

    Parameters
    ----------
    path : Path
        A file in any of the formats.

    Returns
    -------
    rows : dict of list of Row
        By the model's name; in JSON lines and a nameless CSV that is the file's.
    columns : tuple of int or None
        Where each of this project's classes stands in the file; None for the same order.

    Raises
    ------
    ChaosError
        If the file is empty, broken, or in none of the formats.
    """
    if path.suffix == ".parquet":
        return _read_parquet(path), None
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as fault:
        raise _unknown_format(path, "bytes that are not UTF-8 text") from fault
    first = text.lstrip()[:1]
    if not first:
        raise ChaosError("The predictions file is empty.", where=path)
    if first != "{":
        return _read_csv(path, text), None
    head = text.lstrip().split("\n", 1)[0]
    try:
        one_line = json.loads(head)
    except json.JSONDecodeError:
        one_line = None  # a JSON object over many lines, or a broken one
    if isinstance(one_line, dict) and "uid" in one_line:
        return {path.stem: _read_json_lines(path, text)}, _BAAN_ORDER
    return _read_chaosnli(path, text), None


def _unknown_format(path: Path, found: str) -> ChaosError:
    return ChaosError(
        "This is no predictions file in a format that is known.",
        where=path,
        found=found,
        expected="ChaosNLI's JSON {model: {uid: {…}}}, JSON lines with uid and probs, a CSV with "
        "uid and a column a class, or parquet with model, uid and a column a class",
    )


def _read_chaosnli(path: Path, text: str) -> dict[str, list[Row]]:
    try:
        content = json.loads(text)
    except json.JSONDecodeError as fault:
        raise ChaosError(
            "The predictions file is not whole JSON.",
            where=f"{path}, line {fault.lineno}, column {fault.colno}",
            found=fault.msg,
            todo="check that the file was not cut off",
        ) from fault
    models: dict[str, list[Row]] = {}
    for name, entries in content.items():
        if not isinstance(entries, dict) or not all(isinstance(e, dict) for e in entries.values()):
            raise _unknown_format(path, f"{name!r} holds no {{uid: {{…}}}}")
        models[name] = []
        for uid, entry in entries.items():
            are_logits = "predicted_probabilities" not in entry
            values = entry.get("logits" if are_logits else "predicted_probabilities")
            row = Row(f"{name}, {uid}", uid, values, are_logits, entry.get("predicted_label"))
            models[name].append(row)
    if not models or not any(models.values()):
        raise ChaosError("The predictions file holds no prediction.", where=path)
    return models


def _read_json_lines(path: Path, text: str) -> list[Row]:
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except json.JSONDecodeError as fault:
            raise ChaosError(
                "A line of the predictions file is not JSON.",
                where=f"{path}, line {number}, column {fault.colno}",
                found=line[:60],
                todo="check that the file was not cut off",
            ) from fault
        # `pred` is the argmax in the file's own class order, so it states nothing more.
        rows.append(Row(f"line {number}", entry.get("uid"), entry.get("probs"), are_logits=False))
    return rows


def _read_csv(path: Path, text: str) -> dict[str, list[Row]]:
    reader = csv.DictReader(text.splitlines())
    header = reader.fieldnames or []
    datasets = [
        dataset for dataset in book_datasets() if set(class_columns(dataset)) <= set(header)
    ]
    if "uid" not in header or not datasets:
        raise _unknown_format(path, f"columns {', '.join(header[:8]) or 'none'}")
    models: dict[str, list[Row]] = {}
    for record in reader:
        values = [_number(record[column]) for column in class_columns(datasets[0])]
        row = Row(f"line {reader.line_num}", record["uid"], values, are_logits=False)
        models.setdefault(record.get("model") or path.stem, []).append(row)
    if not models:
        raise ChaosError("The predictions file holds no prediction.", where=path)
    return models


def class_columns(dataset: Dataset) -> list[str]:
    """Return the names of the class columns in tables of a dataset.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    list of str
        One a label, in order, with ``_`` for spaces: ``entailment``, ``hypothesis_1``.
    """
    return [label.replace(" ", "_") for label in dataset.labels]


def _number(text: str | None) -> float | str | None:
    try:
        return float(text) if text else None
    except ValueError:
        return text


def _read_parquet(path: Path) -> dict[str, list[Row]]:
    import pandas as pd

    try:
        table = pd.read_parquet(path)
    except (OSError, ValueError) as fault:
        raise _unknown_format(path, f"parquet that cannot be read: {fault}") from fault
    datasets = [
        dataset for dataset in book_datasets() if set(class_columns(dataset)) <= set(table.columns)
    ]
    if not {"model", "uid"} <= set(table.columns) or not datasets:
        raise _unknown_format(path, f"columns {', '.join(map(str, table.columns[:8]))}")
    values = table[class_columns(datasets[0])].to_numpy().tolist()
    models: dict[str, list[Row]] = {}
    for number, (name, uid) in enumerate(zip(table["model"], table["uid"], strict=True)):
        row = Row(f"row {number}", uid, values[number], are_logits=False)
        models.setdefault(str(name), []).append(row)
    if not models:
        raise ChaosError("The predictions file holds no prediction.", where=path)
    return models

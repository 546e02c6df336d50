"""Rows in ChaosNLI's format, made by hand."""

import json
import math
from pathlib import Path

import pandas as pd

from chaos_utils.datasets.catalogue import get_dataset


def row(dataset="snli", uid="item-1", counts=(70, 20, 10), majority=None, old=None):
    """Return a valid row; `majority` and `old` are label positions."""
    known = get_dataset(dataset)
    total = sum(counts)
    majority = counts.index(max(counts)) if majority is None else majority
    old = majority if old is None else old
    stored = int if dataset == "alphanli" else str
    made = {
        "uid": uid,
        "label_counter": {c: n for c, n in zip(known.codes, counts, strict=True) if n},
        "majority_label": stored(known.codes[majority]),
        "label_dist": [count / total for count in counts],
        "label_count": list(counts),
        "entropy": -sum(n / total * math.log2(n / total) for n in counts if n),
        "example": {"uid": uid, **{field: f"{field} of {uid}" for field in known.text_fields}},
        "old_label": stored(known.codes[old]),
    }
    if known.n_old_labels:
        others = [label for k, label in enumerate(known.labels) if k != old]
        made["old_labels"] = [known.labels[old]] * 3 + [others[0]] * 2
    return made


def write_rows(path: Path, rows) -> Path:
    """Write rows as a file; a text stands for a line of its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [line if isinstance(line, str) else json.dumps(line) for line in rows]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def write_dataset(folder: Path, **changes) -> Path:
    """Write a small file for each dataset; `changes` replaces the rows of a dataset."""
    for name in ("snli", "mnli", "alphanli"):
        counts = [(70, 30), (40, 60), (50, 50)]
        if name != "alphanli":
            counts = [(70, 20, 10), (10, 60, 30), (34, 33, 33)]
        rows = [row(name, f"{name}-{i}", count, old=0) for i, count in enumerate(counts)]
        write_rows(folder / get_dataset(name).file, changes.get(name, rows))
    return folder


def write_table(path: Path, rows) -> Path:
    """Write rows, dicts of the same keys, in the format that the file's name ends in.

    Lists and objects in cells of CSV and TSV are written as their `str`.
    """
    if path.suffix == ".json":
        path.write_text(json.dumps(rows), "utf-8")
    elif path.suffix == ".jsonl":
        write_rows(path, rows)
    elif path.suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)
    else:
        sep = "\t" if path.suffix == ".tsv" else ","
        pd.DataFrame(rows).to_csv(path, index=False, sep=sep)
    return path

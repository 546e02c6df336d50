"""How the readers of votes and predictions grow: in rows, columns, labels and keys.

Run with `python benchmarks/readers.py [FACTOR]`. Each file is read small and `FACTOR` times as
large, in one process; the ratio of the two times is to be no more than the factor.
"""

import csv
import io
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.findings import check_file
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.scoring.predictions import read_predictions

FACTOR = 8
_REPEATS = 3
Made = Iterator[tuple[str, str, Callable[[int], bytes], Callable[[Path], object]]]


def _csv(rows: Iterable[Sequence[object]], delimiter: str = ",") -> bytes:
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode()


def _lines(rows: Iterable[Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _long(n: int, n_labels: int = 3) -> list[dict[str, str]]:
    return [
        {"item": f"i{k // 4}", "annotator": f"a{k % 4}", "label": f"label {k % n_labels}"}
        for k in range(n)
    ]


def _table(rows: list[dict[str, str]], delimiter: str = ",") -> bytes:
    return _csv([list(rows[0]), *(row.values() for row in rows)], delimiter)


def _wide(n_columns: int) -> bytes:
    header = ["item", *(f"label {k}" for k in range(n_columns))]
    return _csv([header, *([f"i{i}", *([i] * n_columns)] for i in range(11, 21))])


def _beside(n_columns: int) -> bytes:
    rows = [row | {f"field {k}": "so" for k in range(n_columns)} for row in _long(20)]
    return _lines(rows)


def _sparse(n_keys: int) -> bytes:
    return _lines(row | {f"field {k}": "so"} for k, row in enumerate(_long(n_keys)))


def _by_item(n: int) -> bytes:
    return json.dumps(
        {f"i{k}": {"annotations": {"a": "yes", "b": "no"}} for k in range(n)}, indent=1
    ).encode()


def _object(n: int) -> bytes:
    return json.dumps({f"i{k}": ["yes", "no"][k % 2] for k in range(n)}).encode()


def _lists(n: int) -> bytes:
    rows = ((f"i{k}", f"['yes', 'no', '{['yes', 'no'][k % 2]}', 'no {k % 5}']") for k in range(n))
    return _csv([("id", "labels"), *rows])


def _predicted(n: int) -> bytes:
    return _csv([("uid", "entailment", "neutral", "contradiction"),
                 *((f"u{k}", 0.5, 0.3, 0.2) for k in range(n))])  # fmt: skip


def _kinds() -> Made:
    """Yield files: what is read, what grows, how a file of that size is made, what reads it."""
    yield "long CSV", "rows", lambda n: _table(_long(n * 20)), check_file
    yield "long TSV", "rows", lambda n: _table(_long(n * 20), "\t"), check_file
    yield "JSON", "rows", lambda n: json.dumps(_long(n * 20), indent=1).encode(), check_file
    yield "JSON lines", "rows", lambda n: _lines(_long(n * 20)), check_file
    yield "parquet", "rows", lambda n: pd.DataFrame(_long(n * 20)).to_parquet(), check_file
    yield "lists in a CSV", "rows", lambda n: _lists(n * 5), check_file
    yield "JSON object by item", "keys", lambda n: _by_item(n * 5), check_file
    yield "JSON object of texts", "keys", lambda n: _object(n * 20), check_file
    yield "wide CSV", "columns", _wide, check_file
    yield "columns beside the votes", "columns", _beside, check_file
    yield "a key of its own in each line", "keys", lambda n: _sparse(n * 2), check_file
    yield "long CSV", "labels", lambda n: _table(_long(n * 20, n * 20)), check_file
    yield "votes", "rows", lambda n: _table(_long(n * 20)), lambda file: load_all_votes(str(file))
    votes = [one for one in load_all_votes("sample") if one.dataset == get_dataset("snli")]

    def judged(file: Path) -> object:
        return read_predictions(file, votes, allow_missing=True, allow_others=True)

    yield "predictions, CSV", "rows", lambda n: _predicted(n * 20), judged
    yield "predictions, parquet", "rows", lambda n: pd.read_csv(
        io.BytesIO(_predicted(n * 20))
    ).to_parquet(), judged  # fmt: skip
    yield "predictions, JSON", "keys", lambda n: json.dumps(
        {f"u{k}": [0.5, 0.3, 0.2] for k in range(n * 10)}
    ).encode(), judged  # fmt: skip
    yield "predictions, JSON lines", "rows", lambda n: _lines(
        {"uid": f"u{k}", "probs": [0.5, 0.3, 0.2]} for k in range(n * 10)
    ), judged  # fmt: skip


def _seconds(read: Callable[[Path], object], file: Path) -> float:
    """Return the CPU time of reading a file, the least of several."""
    taken = []
    for _ in range(_REPEATS):
        begun = time.process_time()
        with suppress(ChaosError):  # a refusal takes its time as well
            read(file)
        taken.append(time.process_time() - begun)
        if taken[-1] > 10:
            break
    return min(taken)


def main() -> None:
    """Measure and print a table."""
    factor = int(sys.argv[1]) if len(sys.argv) > 1 else FACTOR
    print(f"| file | what grows | small | × {factor} | ratio |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for what, grows, made, read in _kinds():
            times = []
            for n in (1000, 1000 * factor):
                file = Path(folder) / "file"
                file.write_bytes(made(n))
                times.append(_seconds(read, file))
            small, large = times
            print(f"| {what} | {grows} | {small:.2f} s | {large:.2f} s | {large / small:.1f} |",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()

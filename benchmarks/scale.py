"""How reading votes and judging predictions grow: up to a million items with ten votes each.

Run with `make bench-scale` or `python benchmarks/scale.py [ITEMS]`. Each step is a process of its
own on made-up data; seconds are the CPU time of all of it, imports included. The two pages are left
below ``runs/``.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

N_ITEMS = 1_000_000
N_VOTES = 10  # per item
N_LABELS = 10
N_ANNOTATORS = 1_000
_READ = "import sys; from chaos_utils.datasets.loading import load_all_votes as load; \
print(load(sys.argv[1])[0].counts.sum())"


def write(votes: Path, predictions: Path, n_items: int) -> None:
    """Write votes in random order, one per row, and predictions."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(N_LABELS, 0.3), n_items)
    chance = rng.random((n_items, N_VOTES, 1))
    labels = (shares.cumsum(axis=1)[:, np.newaxis] < chance).sum(axis=2).clip(0, N_LABELS - 1)
    first = rng.integers(N_ANNOTATORS, size=(n_items, 1))
    people = (first + np.arange(N_VOTES)) % N_ANNOTATORS
    order = rng.permutation(n_items * N_VOTES)
    columns = {
        "item": [f"item-{i:07d}" for i in (order // N_VOTES).tolist()],
        "annotator": [f"worker-{i:04d}" for i in people.ravel()[order].tolist()],
        "label": [f"label {k}" for k in labels.ravel()[order].tolist()],
    }
    plain = pa.csv.WriteOptions(quoting_style="none")
    pa.csv.write_csv(pa.table(columns), votes, plain)
    predicted = 0.7 * shares + 0.3 / N_LABELS
    table = {"uid": [f"item-{i:07d}" for i in range(n_items)]}
    table |= {f"label_{k}": predicted[:, k] for k in range(N_LABELS)}
    pa.parquet.write_table(pa.table(table), predictions)


def written(folder: Path, n_items: int) -> tuple[Path, Path]:
    """Write both files in a process of its own, whose memory no later one is taken to have."""
    files = folder / f"votes-{n_items}.csv", folder / f"model-{n_items}.parquet"
    process = multiprocessing.get_context("spawn").Process(target=write, args=(*files, n_items))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit("the votes could not be made")
    return files


def measured(*command: object) -> tuple[float, float]:
    """Return the CPU seconds and the peak memory in GiB of a process."""
    process = subprocess.Popen([sys.executable, *map(str, command)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[1]} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20


def main() -> None:
    """Measure and print a table."""
    n_items = int(sys.argv[1]) if len(sys.argv) > 1 else N_ITEMS
    with tempfile.TemporaryDirectory() as folder:
        files = {n: written(Path(folder), n) for n in (n_items // 10, n_items)}
        read = {n: measured("-c", _READ, votes) for n, (votes, _) in files.items()}
        judge = {
            n: measured("-m", "chaos_utils.cli", "evaluate", predictions, "--data", votes)
            for n, (votes, predictions) in files.items()
        }
        check = measured("-m", "chaos_utils.cli", "dataset", "check", files[n_items][0])
        page = {
            n: measured("-m", "chaos_utils.cli", "run", "crowd", "-p", f"data={votes}",
                        "-p", f"predictions={predictions}")
            for n, (votes, predictions) in files.items()
        }  # fmt: skip
    print("| what | measured | target |")
    print("| --- | --- | --- |")
    for what, (seconds, memory), target in (
        (f"{n_items * N_VOTES:,} votes read from a long CSV", read[n_items], "30 s"),
        ("`chaos dataset check` of it", check, ""),
        (f"`chaos evaluate` on {n_items // 10:,} items", judge[n_items // 10], ""),
        (f"`chaos evaluate` on {n_items:,} items", judge[n_items], "4 GiB"),
        (f"`chaos run crowd` on {n_items // 10:,} items", page[n_items // 10], ""),
        (f"`chaos run crowd` on {n_items:,} items", page[n_items], "4 GiB"),
    ):
        print(f"| {what} | {seconds:.0f} s of CPU, {memory:.1f} GiB | {target} |")
    for what, used in (("evaluate", judge), ("run crowd", page)):
        growth = used[n_items][0] / used[n_items // 10][0]
        print(f"| `{what}`, against a tenth of the items | {growth:.1f} × the time | 10 × |")


if __name__ == "__main__":
    main()

"""Sweeps: a grid of runs of one notebook, here or on a cluster, and a table of all of them."""

import csv
import hashlib
import io
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import Any

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.files import write_json, write_text
from chaos_utils.base.locks import exclusive_lock
from chaos_utils.base.processes import environment
from chaos_utils.publish import cluster, dependencies, processes
from chaos_utils.publish.processes import Progress, Say
from chaos_utils.report import parameters, provenance, runs
from chaos_utils.report.columns import safe_cell
from chaos_utils.report.scalars import Scalar, read_scalars

SUMMARY_FILE = "summary.csv"
PLAN_FILE = "plan.json"
_COMMA = re.compile(r",(?![^\[]*\])")  # not inside a list
_DONE, _FAILED = "done", "failed"  # folders with a file for each such run


@dataclass(frozen=True, slots=True)
class ParameterSweep:
    """A grid of runs of a notebook.

    `varied` are the parameters that differ between runs; if there is one run, those that the reader
    has set. `runs` has the values of all parameters, by the name of the run's folder.
    """

    source: Path
    varied: tuple[str, ...]
    runs: Mapping[str, Mapping[str, Any]]

    @property
    def folder(self) -> Path:
        """The folder of the summary, which does not depend on the order of values."""
        digest = hashlib.sha256("\n".join(sorted(self.runs)).encode()).hexdigest()[:8]
        return paths.runs() / f"sweep-{self.source.stem}-{digest}"

    def missing(self) -> list[str]:
        """Return the folders' names of runs that do not exist or that another notebook made."""
        return [
            name for name, values in self.runs.items() if not runs.is_there(self.source, values)
        ]

    def title(self, run: str) -> str:
        """Return the name of a run with its varied parameters, for a reader."""
        values = ", ".join(f"{name}={_as_cell(self.runs[run][name])}" for name in self.varied)
        return f"{run} ({values})" if values else run


def _as_cell(value: object) -> object:
    """Return a value for a cell of a table: a list as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


def split_values(text: str) -> list[str]:
    """Split the values of one parameter at commas; those inside a JSON list do not split.

    At least one value is returned; if there are several, none is empty.
    """
    values = [value.strip() for value in _COMMA.split(text)]
    if len(values) > 1 and "" in values:
        raise ChaosError("A value is missing between two commas, or at an end.", found=text)
    return values if len(values) > 1 else [text]


def plan(source: Path, texts: Mapping[str, str]) -> ParameterSweep:
    """Return the runs of a grid, after checking each.

    `texts` has the values of some parameters as text, which `split_values` splits.
    """
    grid = {name: split_values(text) for name, text in texts.items()}
    planned: dict[str, dict[str, Any]] = {}
    for combination in product(*grid.values()):
        chosen = dict(zip(grid, combination, strict=True))
        values = parameters.resolve(source, chosen)
        dependencies.check_available(source, values)
        name = runs.folder_of(source, values).name
        if name in planned:
            raise ChaosError(
                "The grid holds the same run twice.",
                found=", ".join(f"{key}={value}" for key, value in chosen.items()),
                expected="each value of a parameter once",
            )
        planned[name] = values
    varied = tuple(name for name, values in grid.items() if len(values) > 1) or tuple(grid)
    return ParameterSweep(source, varied, planned)


def run(
    sweep: ParameterSweep,
    *,
    profile: Path | None = None,
    cores: int | None = None,
    force: bool = False,
    say: Say,
    progress: Progress,
) -> list[dict[str, Scalar]]:
    """Make the runs of a sweep that are missing; one that fails does not stop the others.

    With a `profile`, `cluster.submit` makes them. Without, they are made on this machine: one at a
    time, since a run may need all of it, or `cores` at once. Parallel runs of a notebook with a
    parameter `threads` share the machine's threads, unless the environment sets OMP_NUM_THREADS;
    runs of other notebooks take one each. `force` makes every run again. `say` is called with lines
    about each run made here, `progress` with the number of runs done and the number of all.

    Return the rows of ``summary.csv``, one for each run: the run, the varied parameters, its status
    (``done``, ``failed``, ``was there``), its seconds, its scalars, and why it failed.
    """
    folder = sweep.folder
    with exclusive_lock(
        folder / "lock", "another sweep of this grid is running: waiting for it to end", say
    ):
        todo = list(sweep.runs) if force else sweep.missing()
        # Relative paths start from the reader's folder, on a cluster too.
        reader = str(paths.from_reader("").absolute())
        plan = {"source": str(sweep.source), "again": force, "reader": reader}
        write_json(folder / PLAN_FILE, plan | {"runs": {name: sweep.runs[name] for name in todo}})
        for kind in (_DONE, _FAILED):
            shutil.rmtree(folder / kind, ignore_errors=True)
        if todo and profile is not None:
            cluster.submit(folder / PLAN_FILE, profile, jobs=cores)
        elif todo:
            _run_here(sweep, todo, cores or 1, say, progress)
        rows = [_row(sweep, name, todo) for name in sweep.runs]
        write_text(folder / SUMMARY_FILE, _as_csv(rows))
    return rows


def _run_here(
    sweep: ParameterSweep, todo: list[str], cores: int, say: Say, progress: Progress
) -> None:
    """Make runs on this machine, `cores` at once; if interrupted, remove their scratch folders."""
    say(f"running {counted(len(todo), 'run')}")
    make, waiting_titles = partial(make_run, sweep.folder), map(sweep.title, todo)
    try:
        with (
            environment(**_threads(cores)),
            closing(processes.run_parallel(make, todo, workers=cores)) as results,
        ):
            for title in islice(waiting_titles, cores):
                say(f"{title}: running")
            for n_done, result in enumerate(results, start=1):
                say(f"{sweep.title(result.name)}: {'failed' if result.fault else 'done'}")
                progress(n_done, len(todo))
                if result.fault:
                    write_text(sweep.folder / _FAILED / result.name, result.fault)
                for title in islice(waiting_titles, 1):  # the next run in order has begun
                    say(f"{title}: running")
    except BaseException:
        for name in todo:
            for scratch in paths.runs().glob(f".{name}-*"):
                shutil.rmtree(scratch, ignore_errors=True)
        raise


def _threads(n_runs: int) -> dict[str, str]:
    """Return the environment variable that shares this machine's threads among parallel runs."""
    if n_runs == 1 or "OMP_NUM_THREADS" in os.environ:
        return {}
    return {"OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // n_runs))}


def make_run(folder: Path, name: str) -> tuple[str, ...]:
    """Make one run of the sweep in a folder, and mark there that it is done."""
    plan = json.loads((folder / PLAN_FILE).read_text("utf-8"))
    runs.run(
        Path(plan["source"]),
        plan["runs"][name],
        again=plan["again"],
        reader=Path(plan["reader"]),
    )
    write_text(folder / _DONE / name, "")
    return ()


def make_job(folder: Path, name: str) -> None:
    """Make one run as a cluster's job; if it fails, write the reason to the sweep's folder."""
    plan_file = folder / PLAN_FILE
    planned = json.loads(plan_file.read_text("utf-8"))["runs"] if plan_file.is_file() else {}
    if name not in planned:
        raise ChaosError("There is no such run of a sweep.", where=plan_file, found=name)
    result = processes.run_job(partial(make_run, folder), name)
    if result.fault:
        write_text(folder / _FAILED / name, result.fault)
        raise ChaosError(result.fault)


def _row(sweep: ParameterSweep, name: str, todo: list[str]) -> dict[str, Scalar]:
    """Return a run's row of the summary; a scalar named like another column gets a suffix."""
    folder, target = sweep.folder, paths.runs() / name
    if name not in todo:
        status = "was there"
    else:
        status = "done" if (folder / _DONE / name).is_file() else "failed"
    values = {key: _as_cell(sweep.runs[name][key]) for key in sweep.varied}
    row: dict[str, Any] = {"run": name, **values, "status": status, "seconds": None}
    if status != "failed":
        record = provenance.read_run_record(target)
        row["seconds"] = record.seconds if record else None
        for key, value in read_scalars(target).items():
            row[f"{key} (scalar)" if key in (*row, "reason") else key] = value
    row["reason"] = _reason(sweep, name) if status == "failed" else None
    return row


def _reason(sweep: ParameterSweep, name: str) -> str:
    """Return why a run failed."""
    file = sweep.folder / _FAILED / name
    if file.is_file():
        return file.read_text("utf-8").rstrip()
    return str(
        ChaosError(
            "The run ended without an error message.",
            found="it was killed from outside, or needed more memory or time than it had",
            todo="read Snakemake's output, and the logs that it names",
        )
    )


def columns(rows: Iterable[Mapping[str, Scalar]]) -> list[str]:
    """Return the columns of all rows of a summary, the reason last."""
    names = dict.fromkeys(name for row in rows for name in row if name != "reason")
    return [*names, "reason"]


def _as_csv(rows: list[dict[str, Scalar]]) -> str:
    """Return the summary as CSV: reasons on one line, no cell that a program takes as a formula."""
    stream = io.StringIO()
    table = csv.DictWriter(stream, columns(rows), restval="", lineterminator="\n")
    table.writeheader()
    for row in rows:
        cells = row | {"reason": " ".join(str(row["reason"] or "").split())}
        table.writerow({name: safe_cell(value) for name, value in cells.items()})
    return stream.getvalue()


def check(sweep: ParameterSweep, rows: Iterable[Mapping[str, Scalar]]) -> None:
    """Raise a ChaosError if runs of a sweep failed."""
    failed = [row for row in rows if row["status"] == "failed"]
    if failed:
        reasons = [f"{sweep.title(str(row['run']))}\n{row['reason']}" for row in failed]
        raise ChaosError(
            f"{len(failed)} of {counted(len(sweep.runs), 'run')} failed; the same command tries "
            "them again." + "".join(f"\n\n{reason}" for reason in reasons)
        )

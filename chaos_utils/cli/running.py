"""`chaos params`, `chaos run` and `chaos sweep`: notebooks with parameters of a reader's own."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.arguments import DryRun, NotebookName, Parameters, assignments
from chaos_utils.cli.console import Grid, Replies, Reply, command, progress, say
from chaos_utils.cli.extras import require


@command(needs="book")
def params(notebook: NotebookName) -> Replies:
    """List a notebook's parameters."""
    from chaos_utils.report.parameters import find_notebook, read_parameters

    declared = [
        {
            "name": parameter.name,
            "type": parameter.kind,
            "default": parameter.default,
            "choices": list(parameter.choices),
            "meaning": parameter.meaning,
        }
        for parameter in read_parameters(find_notebook(notebook))
    ]
    rows = [(row["name"], row["type"], repr(row["default"]), row["meaning"]) for row in declared]
    yield Reply(declared, [Grid(("parameter", "type", "default", "meaning"), rows)])


@command(needs="book")
def run(notebook: NotebookName, parameter: Parameters = None) -> Replies:
    """Run a notebook with your own parameters, in a folder below runs/.

    The book is not changed.
    """
    from chaos_utils.report import parameters

    source = parameters.find_notebook(notebook)
    values = parameters.resolve(source, assignments(parameter))
    from chaos_utils.publish import dependencies
    from chaos_utils.report import runner, runs
    from chaos_utils.report.manifests import figures_of

    dependencies.check_available(source, values)
    with progress(source.stem) as tell:
        target = runs.run(
            source,
            values,
            progress=lambda cell, n_cells: tell(source.stem, cell, n_cells),
            say=say,
        )
    ids = [manifest.stem for manifest in figures_of(target)]
    yield Reply(
        {"run": str(target), "parameters": values, "made": ids},
        [
            str(target),
            f"  {runner.PAGE_FILE}: the whole run on one page",
            f"  figures/: {', '.join(ids)}",
        ],
    )


@command(needs="book")
def runs() -> Replies:
    """List the runs below runs/, and how each differs from the book.

    `chaos cite RUN/ID` cites a figure or table of a run.
    """
    from chaos_utils.report.runs import run_folders

    rows = [_run_row(folder) for folder in run_folders()]
    cells = [
        (row["run"], row["notebook"], row["id"], _differences(row), row["started"][:16])
        for row in rows
    ]
    yield Reply(rows, [Grid(("run", "notebook", "id", "not as in the book", "made (UTC)"), cells)])
    if not rows:
        say("There are no runs: `chaos run NOTEBOOK -p NAME=VALUE` makes one.")


def _run_row(folder: Path) -> dict[str, Any]:
    """Return a run as a row of the list; if its record cannot be read, with the ``fault``."""
    from chaos_utils.report import runs

    row = {"run": folder.name, "notebook": "", "id": "", "changed": {}, "own": [], "started": ""}
    try:
        record = runs.load(folder)
    except ChaosError as fault:
        return row | {"fault": str(fault)}
    return row | {
        "notebook": record.notebook,
        "id": record.id,
        "changed": {
            name: {"here": value, "in_the_book": default}
            for name, (value, default) in record.changed.items()
        },
        "own": [asdict(entry) for entry in record.own_inputs],
        "started": record.started,
    }


def _differences(row: dict[str, Any]) -> str:
    """Return the parameters that differ from the book's, or the fault of the record."""
    if "fault" in row:
        return str(row["fault"]).partition("\n")[0]
    return ", ".join(f"{name}={values['here']}" for name, values in row["changed"].items()) or "–"


@command(needs="book")
def sweep(
    notebook: NotebookName,
    parameter: Parameters = None,
    profile: Annotated[
        str,
        Option(
            metavar="NAME|DIR", help="Run on a cluster: slurm, or the folder of your own profile."
        ),
    ] = "",
    cores: Annotated[
        int | None,
        Option(
            min=1,
            help="Runs at a time, which share the threads; by default 1, or the profile's number.",
        ),
    ] = None,
    dry_run: DryRun = False,
    force: Annotated[bool, Option("--force", help="Also repeat existing runs.")] = False,
) -> Replies:
    """Run a notebook for every combination of values, such as -p seed=0,1,2 -p model=a,b.

    Existing runs are kept, and a run that fails does not stop the others. A list is one
    value: -p 'datasets=["snli","mnli"]'.
    """
    from chaos_utils.publish import cluster
    from chaos_utils.publish import sweep as sweeping
    from chaos_utils.report.parameters import find_notebook

    cluster_profile = cluster.find_profile(profile) if profile else None
    grid = sweeping.plan(find_notebook(notebook), assignments(parameter))
    if dry_run:
        planned = list(grid.runs) if force else grid.missing()
        existing = [run for run in grid.runs if run not in planned]
        lines = [f"would run {grid.title(run)}" for run in planned]
        lines.append(f"{len(existing)} of {len(grid.runs)} runs exist")
        yield Reply({"sweep": str(grid.folder), "planned": planned, "there": existing}, lines)
        return
    with progress("sweeping") as tell:
        rows = sweeping.run(
            grid,
            profile=cluster_profile,
            cores=cores,
            force=force,
            say=say,
            progress=lambda done, n_runs: tell("sweeping", done, n_runs),
        )
    summary = str(grid.folder / sweeping.SUMMARY_FILE)
    names = sweeping.columns(rows)[:-1]  # without the errors, which `sweeping.check` reports
    cells = [[_cell(row.get(name)) for name in names] for row in rows]
    numbers = [
        name for name in names if all(isinstance(row.get(name), int | float | None) for row in rows)
    ]
    answer = {"sweep": str(grid.folder), "summary": summary, "runs": rows}
    yield Reply(answer, [Grid(names, cells, right=numbers), summary])
    sweeping.check(grid, rows)


def _cell(value: object) -> object:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else value


def sweep_run(sweep: str, run: str) -> None:
    """Make one run of a sweep; a job of `chaos sweep` on a cluster."""
    require("book")
    from chaos_utils.publish import sweep as sweeping

    sweeping.make_job(Path(sweep).absolute(), run)

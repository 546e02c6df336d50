"""`chaos sweep`: a grid of runs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from chaos_utils.cli.arguments import Given, NotebookName, assignments
from chaos_utils.cli.console import AsJson, err, harmless, out, print_json, steps_bar
from chaos_utils.cli.extras import need_book


def sweep(
    notebook: NotebookName,
    parameter: Given = None,
    profile: Annotated[
        str,
        typer.Option(
            metavar="NAME|DIR", help="Run on a cluster: slurm, or a profile's folder of your own."
        ),
    ] = "",
    cores: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Runs at a time, which share the threads; by default 1, or as many as the "
            "profile says.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would run.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Repeat runs that exist.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run a notebook for every combination of values, such as -p seed=0,1,2 -p model=a,b.

    Runs that exist are kept, and one that fails does not stop the others. A list is one
    value: -p 'datasets=["snli","mnli"]'.
    """
    need_book()
    from chaos_utils.publish import cluster
    from chaos_utils.publish import sweep as sweeping
    from chaos_utils.report.parameters import find_notebook

    where = cluster.find_profile(profile) if profile else None
    grid = sweeping.plan(find_notebook(notebook), assignments(parameter))
    if dry_run:
        planned = list(grid.runs) if force else grid.missing()
        if as_json:
            there = [run for run in grid.runs if run not in planned]
            print_json({"sweep": str(grid.folder), "planned": planned, "there": there})
            return
        for run in planned:
            out.print(f"would run {grid.title(run)}", markup=False)
        out.print(f"{len(grid.runs) - len(planned)} of {len(grid.runs)} runs exist")
        return
    with steps_bar("sweeping") as progress:
        rows = sweeping.run(
            grid,
            profile=where,
            cores=cores,
            force=force,
            say=lambda text: err.print(text, markup=False),
            progress=progress,
        )
    summary = grid.folder / sweeping.SUMMARY_FILE
    if as_json:
        print_json({"sweep": str(grid.folder), "summary": str(summary), "runs": rows})
    else:
        _print_summary(rows)
        out.print(f"{summary}", markup=False)
    sweeping.check(grid, rows)


def _print_summary(rows: list[dict[str, Any]]) -> None:
    from rich.markup import escape  # slow to import
    from rich.table import Table

    from chaos_utils.publish.sweep import columns

    table = Table(box=None, pad_edge=False)
    names = columns(rows)[:-1]  # `sweeping.check` says why runs failed
    for name in names:
        numbers = all(isinstance(row.get(name), int | float | None) for row in rows)
        table.add_column(
            escape(harmless(name)), justify="right" if numbers else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*(escape(_cell(row.get(name))) for name in names))
    out.print(table)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else harmless(str(value))


def sweep_run(sweep: str, run: str) -> None:
    """Make one run of a sweep; a job of `chaos sweep` on a cluster."""
    need_book()
    from chaos_utils.publish import sweep as sweeping

    sweeping.make_job(Path(sweep).absolute(), run)

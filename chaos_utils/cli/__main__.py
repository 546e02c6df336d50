"""The command itself, and what runs and builds."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.arguments import Given, NotebookName, ProfileName, assignments
from chaos_utils.cli.console import AsJson, Commands, err, harmless, out, print_json, steps_bar
from chaos_utils.cli.data import data_app
from chaos_utils.cli.dataset import dataset_app
from chaos_utils.cli.evaluate import evaluate
from chaos_utils.cli.extras import need_book
from chaos_utils.cli.figures import cite, figures_app
from chaos_utils.cli.reading import pdf, serve
from chaos_utils.cli.records import record, verify
from chaos_utils.cli.release import release
from chaos_utils.cli.steps import chapter, site, sweep_run
from chaos_utils.cli.sweep import sweep
from chaos_utils.cli.train import finetune, predict, wanted
from chaos_utils.cli.votes import votes_app

app = typer.Typer(
    cls=Commands,
    help="The living book of collective human opinions.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(data_app, name="data")
app.add_typer(dataset_app, name="dataset")
app.add_typer(figures_app, name="figures")
app.add_typer(votes_app, name="votes")
app.command()(evaluate)
app.command()(sweep)
for publishing in (cite, pdf, serve, release, record, verify):
    app.command()(publishing)
for training in (finetune, predict, wanted):
    app.command()(training)
for step in (chapter, site, sweep_run):
    app.command(hidden=True)(step)


@app.command()
def params(notebook: NotebookName, as_json: AsJson = False) -> None:
    """List a notebook's parameters."""
    need_book()
    from chaos_utils.report.parameters import find_notebook, read_parameters

    declared = read_parameters(find_notebook(notebook))
    if as_json:
        print_json(
            [
                {
                    "name": parameter.name,
                    "type": parameter.kind,
                    "default": parameter.default,
                    "choices": list(parameter.choices),
                    "meaning": parameter.meaning,
                }
                for parameter in declared
            ]
        )
        return
    from rich.table import Table  # slow to import

    table = Table(box=None, pad_edge=False)
    for heading in ("parameter", "type", "default", "meaning"):
        table.add_column(heading, overflow="fold")
    for parameter in declared:
        row = (parameter.name, parameter.kind, repr(parameter.default), parameter.meaning)
        table.add_row(*(harmless(cell).replace("[", r"\[") for cell in row))
    out.print(table)


@contextmanager
def _cell_progress(notebook: str) -> Iterator[Any]:
    """Show which cell is running, on a terminal only."""
    if not err.is_terminal:
        yield None
        return
    with err.status(f"{notebook}: starting") as status:
        yield lambda cell, of: status.update(f"{notebook}: cell {cell} of {of}")


@app.command()
def run(notebook: NotebookName, parameter: Given = None, as_json: AsJson = False) -> None:
    """Run a notebook with parameters of your own, into a folder below runs/.

    The book is not touched.
    """
    need_book()
    from chaos_utils.report import parameters

    source = parameters.find_notebook(notebook)
    values = parameters.resolve(source, assignments(parameter))
    from chaos_utils.publish import dependencies
    from chaos_utils.report import runner, runs

    dependencies.check_available(source, values)
    with _cell_progress(source.stem) as progress:
        target = runs.run(source, values, progress=progress)
    made = [manifest.stem for manifest in runner.figures_of(target)]
    if as_json:
        print_json({"run": str(target), "parameters": values, "made": made})
        return
    out.print(f"{target}", markup=False)
    out.print(f"  {runner.PAGE_FILE}: the whole run on one page", markup=False)
    out.print(f"  figures/: {', '.join(made)}", markup=False)


@app.command()
def build(
    sample: Annotated[bool, typer.Option(help="Build from the synthetic sample.")] = False,
    strict: Annotated[bool, typer.Option(help="Fail where data is missing.")] = False,
    profile: ProfileName = "local",
    cores: Annotated[
        int,
        typer.Option(
            min=0, help="Chapters at once; 0 for one a core, or as a cluster's profile says."
        ),
    ] = 0,
    dry_run: Annotated[bool, typer.Option(help="Only say what would run.")] = False,
    force: Annotated[bool, typer.Option(help="Run everything again.")] = False,
    url: Annotated[
        str,
        typer.Option(
            help="The address that this build is for, in citations and links; by default that in "
            "CITATION.cff."
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Bring the book up to date in _build/html."""
    need_book()
    from chaos_utils.base import paths
    from chaos_utils.publish import build as builder
    from chaos_utils.publish import citations, snakemake

    if sample and strict:
        raise ChaosError("--sample and --strict exclude each other.", todo="choose one")
    citations.checked_address(url, "--url")
    where = snakemake.find_profile(profile)
    with steps_bar("building") as progress:

        def say(text: str) -> None:
            err.print(text, markup=False)

        data = builder.choose_data(
            sample=sample, strict=strict, dry_run=dry_run, say=say, progress=err.is_terminal
        )
        planned = builder.build(
            data,
            profile=where,
            cores=cores or None,
            dry_run=dry_run,
            force=force,
            url=url,
            say=say,
            progress=progress,
        )
    index = paths.build() / "html" / "index.html"
    if as_json:
        print_json({"data": data, "site": str(index), "dry_run": dry_run, "planned": planned})
    elif dry_run:
        for step in planned:
            out.print(f"would run {step}", markup=False)
    else:
        out.print(f"{index}", markup=False)


if __name__ == "__main__":
    app()

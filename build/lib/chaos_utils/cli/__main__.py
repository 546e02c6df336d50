"""The command itself, and what runs and builds."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.table import Table

from chaos_utils.cli.console import AsJson, Commands, err, out, print_json
from chaos_utils.cli.data import data_app
from chaos_utils.cli.evaluate import evaluate
from chaos_utils.errors import ChaosError

app = typer.Typer(
    cls=Commands,
    help="The living book of collective human opinions.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(data_app, name="data")
app.command()(evaluate)

Given = Annotated[
    list[str] | None,
    typer.Option("--parameter", "-p", metavar="NAME=VALUE", help="Set a parameter; repeatable."),
]
NotebookName = Annotated[str, typer.Argument(help="Name of a notebook, such as annotations.")]


@app.command()
def params(notebook: NotebookName, as_json: AsJson = False) -> None:
    """List a notebook's parameters."""
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
    table = Table(box=None, pad_edge=False)
    for heading in ("parameter", "type", "default", "meaning"):
        table.add_column(heading, overflow="fold")
    for parameter in declared:
        row = (parameter.name, parameter.kind, repr(parameter.default), parameter.meaning)
        table.add_row(*(cell.replace("[", r"\[") for cell in row))
    out.print(table)


def _assignments(given: list[str] | None) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name:
            raise ChaosError(
                "A parameter is given as NAME=VALUE.", found=text, expected="such as -p seed=1"
            )
        if name in pairs:
            raise ChaosError(f"Parameter {name!r} is given twice.", found=text)
        pairs[name] = value
    return pairs


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
    from chaos_utils import paths
    from chaos_utils.report import parameters

    source = parameters.find_notebook(notebook)
    values = parameters.resolve(source, _assignments(parameter))
    target = paths.runs() / f"{source.stem}-{parameters.parameters_digest(values)}"
    from chaos_utils.report import runner

    with _cell_progress(source.stem) as progress:
        runner.run_notebook(source, values, target, progress=progress, standalone=True)
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
    strict: Annotated[bool, typer.Option(help="Fail rather than take the sample.")] = False,
    cores: Annotated[
        int, typer.Option(min=0, help="Chapters that may run at once; 0 for one a core.")
    ] = 0,
    dry_run: Annotated[bool, typer.Option(help="Only say what would run.")] = False,
    force: Annotated[bool, typer.Option(help="Run everything again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the book up to date in _build/html."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from chaos_utils import paths
    from chaos_utils.publish import build as builder

    if sample and strict:
        raise ChaosError("--sample and --strict exclude each other.", todo="choose one")
    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=err,
        disable=not err.is_terminal, transient=True,
    ) as bar:  # fmt: skip
        steps = bar.add_task("building", total=None)

        def say(text: str) -> None:
            err.print(text, markup=False)

        data = builder.choose_data(
            sample=sample, strict=strict, dry_run=dry_run, say=say, progress=err.is_terminal
        )
        planned = builder.build(
            data,
            cores=cores or os.cpu_count() or 1,
            dry_run=dry_run,
            force=force,
            say=say,
            progress=lambda done, of: bar.update(steps, completed=done, total=of),
        )
    index = paths.build() / "html" / "index.html"
    if as_json:
        print_json({"data": data, "site": str(index), "dry_run": dry_run, "planned": planned})
    elif dry_run:
        for step in planned:
            out.print(f"would run {step}", markup=False)
    else:
        out.print(f"{index}", markup=False)


@contextmanager
def _step(name: str) -> Iterator[None]:
    """Tell `chaos build` about a step, and leave it the reason when the step fails."""
    import time
    import traceback

    from chaos_utils import paths
    from chaos_utils.files import write_text

    def tell(text: str) -> None:
        print(f"[chaos] {name}: {text}", flush=True)

    begun = time.monotonic()
    tell("running")
    try:
        yield
    except Exception as fault:
        # A fault of our own making keeps its traceback: there is nothing the reader can act on.
        reason = str(fault) if isinstance(fault, ChaosError) else traceback.format_exc()
        write_text(paths.build() / "logs" / f"{name}.failed", reason)
        tell("failed")
        raise
    tell(f"done in {time.monotonic() - begun:.0f} s")


@app.command(hidden=True)
def chapter(notebook: NotebookName, data: Annotated[str, typer.Option()] = "auto") -> None:
    """Run a notebook for the book; a step of `chaos build`."""
    from chaos_utils import paths
    from chaos_utils.files import write_bytes
    from chaos_utils.report import parameters, runner

    with _step(notebook):
        source = parameters.find_notebook(notebook)
        values = parameters.resolve(source, {"data": data})
        target = paths.build() / "chapters" / notebook
        runner.run_notebook(source, values, target)
        executed = (target / runner.NOTEBOOK_FILE).read_bytes()
        write_bytes(paths.chapters() / f"{notebook}.ipynb", executed)


@app.command(hidden=True)
def site() -> None:
    """Render the executed chapters; a step of `chaos build`."""
    from chaos_utils import paths
    from chaos_utils.publish.site import render

    with _step("pages"):
        render(paths.build() / "html")


if __name__ == "__main__":
    app()

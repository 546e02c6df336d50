"""The command itself, and what runs and builds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.arguments import Given, NotebookName, assignments
from chaos_utils.cli.console import AsJson, Commands, err, harmless, out, print_json, steps_bar
from chaos_utils.cli.data import data_app
from chaos_utils.cli.dataset import dataset_app
from chaos_utils.cli.evaluate import evaluate
from chaos_utils.cli.export import export_app
from chaos_utils.cli.extras import need_book
from chaos_utils.cli.figures import cite, figures_app
from chaos_utils.cli.reading import pdf, serve
from chaos_utils.cli.records import record, verify
from chaos_utils.cli.release import release
from chaos_utils.cli.sweep import sweep, sweep_run
from chaos_utils.cli.train import finetune, predict, wanted
from chaos_utils.cli.votes import votes_app


class _InGroups(Commands):
    """The commands by group: typer would list those that have commands of their own last."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        shown: dict[str, Any] = {name: one for name, one in self.commands.items() if not one.hidden}
        groups = list(_GROUPS)
        return sorted(shown, key=lambda name: groups.index(shown[name].rich_help_panel))


app = typer.Typer(
    cls=_InGroups,
    help="Evaluate models against people's votes, and build the living book about them.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"chaos {version('chaos-utils')}")
        raise typer.Exit


@app.callback()
def chaos(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


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


def run(notebook: NotebookName, parameter: Given = None, as_json: AsJson = False) -> None:
    """Run a notebook with your own parameters, in a folder below runs/.

    The book is not changed.
    """
    need_book()
    from chaos_utils.report import parameters

    source = parameters.find_notebook(notebook)
    values = parameters.resolve(source, assignments(parameter))
    from chaos_utils.publish import dependencies
    from chaos_utils.report import runner, runs
    from chaos_utils.report.manifests import figures_of

    dependencies.check_available(source, values)
    with _cell_progress(source.stem) as progress:
        target = runs.run(source, values, progress=progress)
    made = [manifest.stem for manifest in figures_of(target)]
    if as_json:
        print_json({"run": str(target), "parameters": values, "made": made})
        return
    out.print(f"{target}", markup=False)
    out.print(f"  {runner.PAGE_FILE}: the whole run on one page", markup=False)
    out.print(f"  figures/: {', '.join(made)}", markup=False)


def build(
    sample: Annotated[
        bool, typer.Option("--sample", help="Build from the synthetic sample.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Fail where data is missing.")] = False,
    cores: Annotated[int, typer.Option(min=0, help="Chapters at a time; 0 for one per core.")] = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would run.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Run everything again.")] = False,
    recompute: Annotated[
        bool,
        typer.Option(
            "--recompute", help="Run everything again, and read no table that is recorded."
        ),
    ] = False,
    url: Annotated[
        str,
        typer.Option(
            help="Address of this build, for citations and links; by default the one in "
            "CITATION.cff."
        ),
    ] = "",
    without_pages: Annotated[bool, typer.Option("--without-pages", hidden=True)] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the book up to date in _build/html."""
    need_book()
    from chaos_utils.base import paths
    from chaos_utils.base.authorship import checked_address
    from chaos_utils.publish import build as builder

    if sample and strict:
        raise ChaosError("--sample and --strict exclude each other.", todo="choose one")
    checked_address(url, "--url")
    with steps_bar("building") as progress:

        def say(text: str) -> None:
            err.print(text, markup=False)

        data = builder.choose_data(
            sample=sample, strict=strict, dry_run=dry_run, say=say, progress=err.is_terminal
        )
        planned = builder.build(
            data,
            cores=cores,
            dry_run=dry_run,
            force=force,
            recompute=recompute,
            url=url,
            pages=not without_pages,
            say=say,
            progress=progress,
        )
    index = paths.build() / "html" / "index.html"
    if as_json:
        print_json({"data": data, "site": str(index), "dry_run": dry_run, "planned": planned})
    elif dry_run:
        for step in planned:
            out.print(f"would run {step}", markup=False)
        if not planned:
            err.print("Nothing to do: the book is up to date.")
    else:
        out.print(f"{index}", markup=False)


_GROUPS: dict[str, tuple[Callable[..., None] | typer.Typer, ...]] = {
    "Read": (figures_app, cite, params),
    "Evaluate": (evaluate, dataset_app, data_app, export_app),
    "Build": (build, serve, run, sweep, record, verify),
    "Train": (finetune, predict, wanted),
    "Collect": (votes_app,),
    "Publish": (release, pdf),
}
for group, commands in _GROUPS.items():
    for command in commands:
        if isinstance(command, typer.Typer):
            app.add_typer(command, rich_help_panel=group)
        else:
            app.command(rich_help_panel=group)(command)
app.command(hidden=True)(sweep_run)  # what a cluster's job calls

if __name__ == "__main__":
    app()

"""The command itself: its groups of commands."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from chaos_utils.cli.building import build, pdf, record, release, serve, verify
from chaos_utils.cli.console import Commands
from chaos_utils.cli.data import data
from chaos_utils.cli.dataset import dataset
from chaos_utils.cli.evaluate import evaluate
from chaos_utils.cli.export import export
from chaos_utils.cli.figures import cite, figures
from chaos_utils.cli.plan import plan
from chaos_utils.cli.running import params, run, runs, sweep, sweep_run
from chaos_utils.cli.submit import submit
from chaos_utils.cli.train import finetune, predict, wanted
from chaos_utils.cli.votes import votes

_GROUPS: dict[str, tuple[Callable[..., None] | typer.Typer, ...]] = {
    "Read": (figures, cite, params),
    "Evaluate": (evaluate, submit, dataset, data, export),
    "Build": (build, serve, run, runs, sweep, record, verify),
    "Train": (finetune, predict, wanted),
    "Collect": (votes, plan),
    "Publish": (release, pdf),
}


class _GroupedCommands(Commands):
    """Commands listed by group: typer would list those with subcommands last."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        visible: dict[str, Any] = {
            name: command for name, command in self.commands.items() if not command.hidden
        }
        groups = list(_GROUPS)
        return sorted(visible, key=lambda name: groups.index(visible[name].rich_help_panel))


app = typer.Typer(
    cls=_GroupedCommands,
    help="Evaluate models against people's votes, and build the living book about them.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _show_version(requested: bool) -> None:
    if requested:
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


for group, commands in _GROUPS.items():
    for command in commands:
        if isinstance(command, typer.Typer):
            app.add_typer(command, rich_help_panel=group)
        else:
            app.command(rich_help_panel=group)(command)
app.command(hidden=True)(sweep_run)  # called by a cluster's jobs

if __name__ == "__main__":
    app()

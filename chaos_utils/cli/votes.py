"""`chaos votes`: collected votes."""

from pathlib import Path
from typing import Annotated

import typer

from chaos_utils.base.errors import counted
from chaos_utils.cli.arguments import writable
from chaos_utils.cli.console import AsJson, err, out, print_json

votes_app = typer.Typer(name="votes", help="Check and join collected votes.", no_args_is_help=True)


@votes_app.command("merge")
def merge_votes(
    files: Annotated[list[Path], typer.Argument(help="Files saved by annotators.")],
    to: Annotated[
        Path,
        typer.Option("--out", metavar="DATASET", parser=writable, help="The folder to create."),
    ],
    data: Annotated[
        str, typer.Option(help="Where the items come from: auto, released, sample, or a folder.")
    ] = "auto",
    as_json: AsJson = False,
) -> None:
    """Check saved votes and join them into a dataset in ChaosNLI's format."""
    from chaos_utils.collection.votes import merge

    merged = merge(files, to, data, lambda note: err.print(f"note: {note}", markup=False))
    if as_json:
        print_json({"dataset": str(to), "datasets": merged})
        return
    out.print(f"{to}", markup=False)
    for dataset, counts in merged.items():
        shown = ", ".join(counted(count, name.removesuffix("s")) for name, count in counts.items())
        out.print(f"  {dataset}: {shown}", markup=False)

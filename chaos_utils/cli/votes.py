"""`chaos votes`: collected votes."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from chaos_utils.base.errors import counted
from chaos_utils.cli.arguments import writable
from chaos_utils.cli.console import Replies, Reply, command, say

votes = typer.Typer(name="votes", help="Check and join collected votes.", no_args_is_help=True)


@votes.command("merge")
@command()
def merge_votes(
    files: Annotated[list[Path], Argument(help="Files saved by annotators.")],
    to: Annotated[
        Path, Option("--out", metavar="DATASET", parser=writable, help="The folder to create.")
    ],
    data: Annotated[
        str, Option(help="Where the items come from: auto, released, sample, or a folder.")
    ] = "auto",
) -> Replies:
    """Check saved votes and join them into a dataset in ChaosNLI's format."""
    from chaos_utils.collection.votes import merge

    merged = merge(files, to, data, lambda note: say(f"note: {note}"))
    lines = [str(to)]
    for dataset, counts in merged.items():
        numbers = [counted(count, name.removesuffix("s")) for name, count in counts.items()]
        lines.append(f"  {dataset}: {', '.join(numbers)}")
    yield Reply({"dataset": str(to), "datasets": merged}, lines)

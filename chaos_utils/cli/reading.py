"""`chaos pdf` and `chaos serve`: the book on paper, and on a server of one's own."""

from typing import Annotated

import typer

from chaos_utils.cli.console import err, out
from chaos_utils.cli.extras import need_book


def pdf() -> None:
    """Print the last built book as one PDF (needs Chromium)."""
    need_book()
    from chaos_utils.publish import pdf as printing

    with err.status("printing"):
        made = printing.make()
    out.print(f"{made}", markup=False)


def serve(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on this machine.")] = 8000,
    sample: Annotated[
        bool, typer.Option("--sample", help="Build from the synthetic sample.")
    ] = False,
) -> None:
    """Serve the book while you write: changes are rebuilt, and browsers reload."""
    need_book()
    from chaos_utils.publish import serving

    options = ["--sample"] if sample else []
    try:
        serving.serve(port, options, lambda text: err.print(text, markup=False))
    except KeyboardInterrupt:
        err.print("No longer serving.")

"""`chaos figures` and `chaos cite`: what the book holds, and how it is cited."""

from enum import StrEnum
from typing import Annotated

import typer
from rich.table import Table

from chaos_utils.cli.console import AsJson, err, out, print_json


class CitationFormat(StrEnum):
    """How a citation may be written."""

    plain = "plain"
    bibtex = "bibtex"
    ris = "ris"
    csl = "csl"


def figures(as_json: AsJson = False) -> None:
    """List the book's figures and tables, and how the last build left them.

    Their state is made, synthetic (made from the sample), stale (what it was made from has
    changed since), not made, moved or withdrawn.
    """
    from chaos_utils.publish import collection

    rows = collection.listing()
    if as_json:
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("id", "chapter", "state", "title"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        title = (row["title"] or "").replace("[", r"\[")
        table.add_row(row["id"], row["chapter"] or "", row["state"], title)
    out.print(table)


def cite(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="A figure or table, such as fig-entropy.")
    ],
    format: Annotated[
        CitationFormat, typer.Option(help="How the citation is written.")
    ] = CitationFormat.plain,
) -> None:
    """Print the citation of one figure or table."""
    from chaos_utils import paths
    from chaos_utils.publish import citations, collection

    found = collection.current_id(id)
    if found != id:
        err.print(f"{id} has moved: this cites {found}", markup=False)
    manifest = collection.read(found)
    book = citations.read_book(paths.project() / "CITATION.cff")
    text = citations.FORMATS[format.value](book, manifest)
    typer.echo(text, nl=not text.endswith("\n"))

"""`chaos figures` and `chaos cite`: what the book holds, what changed, how it is cited."""

from dataclasses import asdict
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Annotated

import typer

from chaos_utils.base.errors import counted
from chaos_utils.cli.console import AsJson, err, out, print_json
from chaos_utils.cli.extras import need_book

_SHOWN = 5  # changes of a figure or table


class CitationFormat(StrEnum):
    """How a citation may be written."""

    plain = "plain"
    bibtex = "bibtex"
    ris = "ris"
    csl = "csl"


figures_app = typer.Typer(
    name="figures", help="List the book's figures and tables; compare two builds."
)


@figures_app.callback(invoke_without_command=True)
def listing(context: typer.Context, as_json: AsJson = False) -> None:
    """List the book's figures and tables, and how the last build left them.

    Their state is made, synthetic (made from the sample), stale (what it was made from has
    changed since), not made, moved or withdrawn.
    """
    if context.invoked_subcommand:
        return
    need_book()
    from chaos_utils.publish import contents

    rows = contents.listing()
    if as_json:
        print_json(rows)
        return
    from rich.table import Table  # slow to import

    table = Table(box=None, pad_edge=False)
    for heading in ("id", "chapter", "state", "title"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        title = (row["title"] or "").replace("[", r"\[")
        table.add_row(row["id"], row["chapter"] or "", row["state"], title)
    out.print(table)


@figures_app.command()
def diff(
    old_site: Annotated[Path, typer.Argument(help="A built site, such as _build/html.")],
    new_site: Annotated[Path, typer.Argument(help="The site to compare with it.")],
    tolerance: Annotated[
        float, typer.Option(min=0, help="Relative difference below which numbers count as equal.")
    ] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Show which values behind figures and tables changed between two built sites.

    Exit code 0 when nothing changed, 1 when something did, 2 when they cannot be compared.
    """
    from chaos_utils.publish.diff import compare

    found = compare(old_site, new_site, tolerance=tolerance)
    if as_json:
        print_json([asdict(one) for one in found])
    elif not found:
        out.print("no difference")
    for id, group in groupby([] if as_json else found, key=attrgetter("id")):
        changes = list(group)
        out.print(f"{id}: {counted(len(changes), 'change')}", markup=False)
        for one in changes[:_SHOWN]:
            place = f"{one.column}, {one.row}: " if one.row else ""
            out.print(f"  {place}{one.old or '–'} → {one.new or '–'}", markup=False)
        if len(changes) > _SHOWN:
            out.print(f"  … and {len(changes) - _SHOWN} more: --json prints all")
    if found:
        raise typer.Exit(1)


def cite(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="A figure or table, such as fig-entropy.")
    ],
    format: Annotated[
        CitationFormat, typer.Option(help="Format of the citation.")
    ] = CitationFormat.plain,
) -> None:
    """Print the citation of one figure or table."""
    need_book()
    from chaos_utils.base.authorship import read_citation
    from chaos_utils.publish import citations, contents

    found = contents.current_id(id)
    if found != id:
        err.print(f"{id} has moved: this cites {found}", markup=False)
    manifest = contents.read(found)
    book = read_citation()
    text = citations.FORMATS[format.value](book, manifest)
    typer.echo(text, nl=not text.endswith("\n"))

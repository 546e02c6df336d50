"""`chaos figures` and `chaos cite`: what the book holds, what changed, how it is cited."""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

from chaos_utils.base.errors import counted
from chaos_utils.cli.console import Grid, Replies, Reply, command, say
from chaos_utils.cli.extras import require

if TYPE_CHECKING:
    from chaos_utils.publish.diff import ChangedValue

_MOST_CHANGES = 5  # printed for each figure or table

figures = typer.Typer(
    name="figures", help="List the book's figures and tables; compare two builds."
)


@figures.callback(invoke_without_command=True)
@command()
def listing(context: typer.Context) -> Replies:
    """List the book's figures and tables, with their state after the last build.

    The state is made, synthetic (made from the sample), stale (its sources have changed since),
    not made, moved or withdrawn.
    """
    if context.invoked_subcommand:
        return
    require("book")
    from chaos_utils.publish import contents

    rows = contents.list_ids()
    headings = ("id", "chapter", "state", "title")
    yield Reply(rows, [Grid(headings, [[row[name] or "" for name in headings] for row in rows])])


@figures.command()
@command()
def diff(
    old_site: Annotated[Path, Argument(help="A built site, such as _build/html.")],
    new_site: Annotated[Path, Argument(help="The site to compare with it.")],
    tolerance: Annotated[
        float, Option(min=0, help="Relative difference below which numbers count as equal.")
    ] = 0.0,
) -> Replies:
    """Show which values behind figures and tables changed between two built sites.

    Exit code 0 if nothing changed, 1 if something did, 2 if the sites cannot be compared.
    """
    from chaos_utils.publish.diff import compare

    changes = compare(old_site, new_site, tolerance=tolerance)
    yield Reply([asdict(change) for change in changes], _changes(changes))
    if changes:
        raise typer.Exit(1)


def _changes(changes: "list[ChangedValue]") -> Iterator[str]:
    """Yield lines that say what changed, by figure or table."""
    if not changes:
        yield "no difference"
    for id, group in groupby(changes, key=attrgetter("id")):
        id_changes = list(group)
        yield f"{id}: {counted(len(id_changes), 'change')}"
        for change in id_changes[:_MOST_CHANGES]:
            where = f"{change.column}, {change.row}: " if change.row else ""
            yield f"  {where}{change.old or '–'} → {change.new or '–'}"
        if len(id_changes) > _MOST_CHANGES:
            yield f"  … and {len(id_changes) - _MOST_CHANGES} more: --json prints all"


@command(needs="book", formats=())
def cite(
    id: Annotated[
        str,
        Argument(
            metavar="[RUN/]ID",
            help="A figure or table, such as fig-entropy; for one of your runs, with its folder, "
            "name or id before it.",
        ),
    ],
    format: Annotated[
        Literal["plain", "bibtex", "ris", "csl"], Option(help="Format of the citation.")
    ] = "plain",
) -> Replies:
    """Print the citation of one figure or table: of the book, or of a run with other parameters.

    `chaos runs` lists your runs.
    """
    from chaos_utils.base.authorship import read_citation
    from chaos_utils.publish import contents
    from chaos_utils.report import citations, runs

    run, _, id = id.rpartition("/")
    record = None
    if run:
        folder = runs.find(run)
        record = runs.load(folder)
        manifest = runs.manifest_in(folder, record, id)
    else:
        current_id = contents.current_id(id)
        if current_id != id:
            say(f"{id} has moved: this cites {current_id}")
        manifest = contents.read(current_id)
    text = citations.FORMATS[format](read_citation(), manifest, record)
    yield Reply(text, [text])

"""`chaos data`: find, fetch and verify data."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.console import AsJson, err, out, print_json

data_app = typer.Typer(help="Find, fetch and verify data.", no_args_is_help=True)

Names = Annotated[
    list[str] | None,
    typer.Argument(
        help="Files or folders of the registry; ChaosNLI and the released predictions by default."
    ),
]


def _select(names: list[str] | None) -> list[str]:
    """Expand folders of the registry, and take what the book reads where nothing is named."""
    from chaos_utils.datasets import sources
    from chaos_utils.datasets.registry import registry

    selected: list[str] = []
    for name in names or ["chaosNLI_v1.0", "calibration-on-disagreement-data"]:
        inside = [known for known in registry() if known.startswith(f"{name.rstrip('/')}/")]
        selected += inside or [sources.get(name).name]
    return selected


@data_app.command("status")
def data_status(as_json: AsJson = False) -> None:
    """Show each file of the registry: where it is, whether it is the published one, its size."""
    from chaos_utils.datasets import sources

    rows = sources.status()
    if as_json:
        print_json(
            [
                {
                    "file": row.file.name,
                    "path": str(row.path) if row.path else None,
                    "verified": row.verified,
                    "items": row.items,
                    "published_items": row.file.items or None,
                    "licence": row.file.release.licence,
                }
                for row in rows
            ]
        )
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("file", "found in", "verified"):
        table.add_column(heading, overflow="fold")
    table.add_column("items", justify="right")
    for row in rows:
        words = {True: "yes", False: "NO", None: "unknown digest"}
        items = f"{row.items:,}" if row.items else ""
        if row.items and row.file.items not in (0, row.items):
            items += f" of {row.file.items:,}"
        table.add_row(
            row.file.name,
            str(row.path.parents[len(Path(row.file.name).parts) - 1]) if row.path else "missing",
            words[row.verified] if row.path else "",
            items,
        )
    out.print(table)


@data_app.command("fetch")
def data_fetch(names: Names = None, as_json: AsJson = False) -> None:
    """Download what is not at hand into the cache."""
    from chaos_utils.datasets import sources

    selected = _select(names)
    found = sources.fetch(
        selected, say=lambda text: err.print(text, markup=False), progress=err.is_terminal
    )
    if as_json:
        print_json({name: str(path) for name, path in zip(selected, found, strict=True)})
        return
    for name, path in zip(selected, found, strict=True):
        out.print(f"{name}: {path}", markup=False)


@data_app.command("verify")
def data_verify(names: Names = None, as_json: AsJson = False) -> None:
    """Compare files with the published digests; fail when one differs or is missing."""
    from chaos_utils.datasets import sources

    rows = sources.status(_select(names))
    words = {True: "verified", None: "its published digest is not known", False: "DIFFERS"}
    answers = {row.file.name: words[row.verified] if row.path else "missing" for row in rows}
    if as_json:
        print_json(answers)
    else:
        for name, answer in answers.items():
            out.print(f"{name}: {answer}", markup=False)
    wrong = {name: answer for name, answer in answers.items() if answer in ("missing", "DIFFERS")}
    if wrong:
        raise ChaosError(
            f"{len(wrong)} of {len(answers)} files are not as published.",
            found="\n".join(f"{name}: {answer}" for name, answer in wrong.items()),
            todo="remove a file that differs, then run `chaos data fetch`",
        )

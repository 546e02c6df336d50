"""Arguments that several commands share, and how they are read."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.files import check_free

Parameters = Annotated[
    list[str] | None,
    Option("--parameter", "-p", metavar="NAME=VALUE", help="Set a parameter; repeatable."),
]
NotebookName = Annotated[str, Argument(help="Name of a notebook, such as annotations.")]
Sample = Annotated[bool, Option("--sample", help="Build from the synthetic sample.")]
DryRun = Annotated[bool, Option("--dry-run", help="Only list what would run.")]
Replace = Annotated[bool, Option("--force", help="Replace an existing file.")]


def refuse_several(**options: object) -> None:
    """Refuse a call with more than one of these options, which are passed by name."""
    if sum(map(bool, options.values())) > 1:
        *others, last = (f"--{name}" for name in options)
        raise ChaosError(f"{', '.join(others)} and {last} exclude each other.", todo="choose one")


def assignments(texts: list[str] | None) -> dict[str, str]:
    """Return the values of `-p NAME=VALUE`, by name."""
    pairs: dict[str, str] = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name:
            raise ChaosError(
                "A parameter needs a name and a value.",
                found=text,
                expected="NAME=VALUE, such as seed=1",
            )
        if name in pairs:
            raise ChaosError(f"Parameter {name!r} is given twice.", found=text)
        pairs[name] = value
    return pairs


def writable(text: str) -> Path:
    """Return the folder that an option names, after checking that it can be made and written to."""
    if not text.strip():
        raise ChaosError("No folder is named.", found=repr(text), expected="a folder to write to")
    target = Path(text)
    absolute = target.absolute()
    nearest = next(path for path in (absolute, *absolute.parents) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise ChaosError(
            "Cannot write here.",
            where=target,
            found=f"{nearest} is {'read-only' if nearest.is_dir() else 'not a folder'}",
            todo="change its permissions or choose another place",
        )
    return target


def formula_notes(names: Iterable[str]) -> list[str]:
    """Return a note for a CSV file with names that a spreadsheet would compute, if there are any.

    The names stay as they are, since files are joined by them.
    """
    from chaos_utils.report.columns import safe_cell

    n_formulas = sum(safe_cell(name) != name for name in names)
    if not n_formulas:
        return []
    return [
        f"a spreadsheet would take {counted(n_formulas, 'name')} in this file for formulas, which "
        "begin with =, +, - or @: open it as text"
    ]


def check_result(target: Path, votes: str, force: bool) -> None:
    """Refuse a place for a CSV file about votes, above all that of a file the votes are read from.

    `force` allows it to take another file's place.
    """
    from chaos_utils.datasets.loading import find_votes

    if target.suffix.lower() != ".csv":
        raise ChaosError(
            "The file to write is CSV.",
            found=str(target),
            expected="a name that ends in .csv",
            todo="choose one with --out",
        )
    check_free(target, force)
    if not target.exists():
        return
    found = find_votes(votes)
    described = [files.described_by for files in found if files.described_by]
    for path in (*described, *(path for files in found for path in files.paths)):
        if path.exists() and target.samefile(path):
            raise ChaosError(
                "The votes are in this file.", where=target, todo="write to another: --out"
            )


def beside(votes: str, ending: str) -> Path:
    """Return the path beside votes, named after them with another ending."""
    path = Path(votes)
    return path.parent / f"{path.stem or 'votes'}{ending}"

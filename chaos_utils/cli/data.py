"""`chaos data`: find, fetch and verify data."""

from pathlib import Path
from typing import Annotated

import typer

from chaos_utils.base.errors import ChaosError, counted, did_you_mean
from chaos_utils.cli.console import AsJson, err, out, print_json

data_app = typer.Typer(name="data", help="Find, fetch and verify data.", no_args_is_help=True)

Names = Annotated[
    list[str] | None,
    typer.Argument(
        help="Datasets, their YAML files, or files or folders of the registry; by default "
        "ChaosNLI and the released predictions."
    ),
]


def _select(names: list[str] | None) -> dict[str, Path | None]:
    """Return the files meant (by default the book's), each with a reader's YAML that names it."""
    from chaos_utils.base import paths
    from chaos_utils.datasets.catalogue import (
        bring,
        known_datasets,
        prediction_files,
        registry,
        vote_files,
    )
    from chaos_utils.datasets.dataset import is_dataset_file, read_dataset

    selected: dict[str, Path | None] = {}
    datasets = {one.name: one for one in known_datasets()}
    for name in names or [*vote_files(), *prediction_files(optional=False)]:
        path = paths.from_reader(name)
        described_by = path if is_dataset_file(path) else None
        if described_by:
            if not path.is_file():
                raise ChaosError("There is no such file.", where=path)
            meant = [file.name for file in bring(read_dataset(path), path).files]
        else:
            meant = [file.name for file in datasets[name].files] if name in datasets else []
            meant += [known for known in registry() if known.startswith(f"{name.rstrip('/')}/")]
            meant += [name] if name in registry() else []
        if not meant:
            folders = [file.split("/")[0] for file in registry() if "/" in file]
            raise ChaosError(
                "Unknown dataset, file or folder.",
                found=name,
                expected=did_you_mean(name.split("/")[0], dict.fromkeys([*datasets, *folders])),
            )
        selected |= dict.fromkeys(meant, described_by)
    return selected


def _described(selected: dict[str, Path | None]) -> dict[str, Path]:
    return {name: path for name, path in selected.items() if path}


@data_app.command("status")
def data_status(as_json: AsJson = False) -> None:
    """Show each file: its dataset, its place, its size, and whether it is as published."""
    from chaos_utils.datasets import sources
    from chaos_utils.datasets.catalogue import known_datasets

    dataset_of = {file.name: one.name for one in known_datasets() for file in one.files}
    rows = sources.status()
    if as_json:
        print_json(
            [
                {
                    "file": row.file.name,
                    "dataset": dataset_of.get(row.file.name),
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
    from rich.table import Table  # slow to import

    table = Table(box=None, pad_edge=False)
    for heading in ("file", "dataset", "found in", "verified"):
        table.add_column(heading, overflow="fold")
    table.add_column("items", justify="right")
    for row in rows:
        words = {True: "yes", False: "NO", None: "unknown digest"}
        items = f"{row.items:,}" if row.items else ""
        if row.items and row.file.items not in (0, row.items):
            items += f" of {row.file.items:,}"
        table.add_row(
            row.file.name,
            dataset_of.get(row.file.name, ""),
            str(row.path.parents[len(Path(row.file.name).parts) - 1]) if row.path else "missing",
            words[row.verified] if row.path else "",
            items,
        )
    out.print(table)


@data_app.command("fetch")
def data_fetch(names: Names = None, as_json: AsJson = False) -> None:
    """Download missing files into the cache."""
    from chaos_utils.datasets import sources

    selected = _select(names)
    found = sources.fetch(
        selected,
        described_by=_described(selected),
        say=lambda text: err.print(text, markup=False),
        progress=err.is_terminal,
    )
    if as_json:
        print_json({name: str(path) for name, path in zip(selected, found, strict=True)})
        return
    for name, path in zip(selected, found, strict=True):
        out.print(f"{name}: {path}", markup=False)


@data_app.command("verify")
def data_verify(names: Names = None, as_json: AsJson = False) -> None:
    """Compare files with their published digests; fail if one differs or is missing."""
    from chaos_utils.datasets import sources

    selected = _select(names)
    rows = sources.status(selected, _described(selected))
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
            f"Not as published: {len(wrong):,} of {counted(len(answers), 'file')}.",
            found="\n".join(f"{name}: {answer}" for name, answer in wrong.items()),
            todo=_advice(wrong, _described(selected)),
        )


def _advice(wrong: dict[str, str], described_by: dict[str, Path]) -> str:
    """Say what to do about files that differ or are missing; never to delete a reader's own."""
    own = {str(path): None for name, path in described_by.items() if wrong.get(name) == "DIFFERS"}
    if own:
        return f"correct the sha256 in {', '.join(own)}, if this is the file that is meant"
    if any(answer == "DIFFERS" for answer in wrong.values()):
        return "remove a file that differs, then run `chaos data fetch`"
    return "run `chaos data fetch`"

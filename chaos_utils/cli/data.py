"""`chaos data`: find, fetch and verify data."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument

from chaos_utils.base.errors import ChaosError, counted, did_you_mean
from chaos_utils.cli.console import Grid, Replies, Reply, command, is_terminal, say

data = typer.Typer(name="data", help="Find, fetch and verify data.", no_args_is_help=True)

Names = Annotated[
    list[str] | None,
    Argument(
        help="Datasets, their YAML files, or known files or folders; by default "
        "ChaosNLI and the released predictions."
    ),
]


def _select(names: list[str] | None) -> dict[str, Path | None]:
    """Return the files of `names` (by default the book's), each with the YAML that describes it."""
    from chaos_utils.base import paths
    from chaos_utils.datasets.catalogue import (
        known_datasets,
        known_files,
        prediction_files,
        register_user_dataset,
        vote_files,
    )
    from chaos_utils.datasets.dataset import is_dataset_file, read_dataset

    selected: dict[str, Path | None] = {}
    datasets = {dataset.name: dataset for dataset in known_datasets()}
    for name in names or [*vote_files(), *prediction_files(other_forms=False)]:
        path = paths.from_reader(name)
        described_by = path if is_dataset_file(path) else None
        if described_by:
            if not path.is_file():
                raise ChaosError("There is no such file.", where=path)
            files = [file.name for file in register_user_dataset(read_dataset(path), path).files]
        else:
            files = [file.name for file in datasets[name].files] if name in datasets else []
            files += [file for file in known_files() if file.startswith(f"{name.rstrip('/')}/")]
            files += [name] if name in known_files() else []
        if not files:
            folders = [file.split("/")[0] for file in known_files() if "/" in file]
            raise ChaosError(
                "Unknown dataset, file or folder.",
                found=name,
                expected=did_you_mean(name.split("/")[0], dict.fromkeys([*datasets, *folders])),
            )
        selected |= dict.fromkeys(files, described_by)
    return selected


def _described_files(selected: dict[str, Path | None]) -> dict[str, Path]:
    """Return the files that a reader's own YAML describes, with that YAML."""
    return {name: path for name, path in selected.items() if path}


@data.command("status")
@command()
def data_status() -> Replies:
    """Show each file: its dataset, place and size, and whether it is as published."""
    from chaos_utils.datasets import sources
    from chaos_utils.datasets.catalogue import known_datasets

    dataset_of = {file.name: dataset.name for dataset in known_datasets() for file in dataset.files}
    verdicts = {True: "yes", False: "NO", None: "unknown digest"}
    answer, rows = [], []
    for row in sources.status():
        name = row.file.name
        answer.append(
            {
                "file": name,
                "dataset": dataset_of.get(name),
                "path": str(row.path) if row.path else None,
                "verified": row.verified,
                "items": row.file.items or None,
                "licence": row.file.release.licence,
            }
        )
        folder = row.path.parents[len(Path(name).parts) - 1] if row.path else "missing"
        items = f"{row.file.items:,}" if row.file.items and row.path else ""
        state = verdicts[row.verified] if row.path else ""
        rows.append((name, dataset_of.get(name, ""), folder, state, items))
    headings = ("file", "dataset", "found in", "verified", "items")
    yield Reply(answer, [Grid(headings, rows, right=["items"])])


@data.command("fetch")
@command()
def data_fetch(names: Names = None) -> Replies:
    """Download missing files into the cache."""
    from chaos_utils.datasets import sources

    selected = _select(names)
    paths = sources.fetch(
        selected, described_by=_described_files(selected), say=say, progress=is_terminal()
    )
    answer = {name: str(path) for name, path in zip(selected, paths, strict=True)}
    yield Reply(answer, [f"{name}: {path}" for name, path in answer.items()])


@data.command("verify")
@command()
def data_verify(names: Names = None) -> Replies:
    """Compare files with their published digests; fail if one differs or is missing."""
    from chaos_utils.datasets import sources

    selected = _select(names)
    rows = sources.status(selected, _described_files(selected))
    verdicts = {True: "verified", None: "its published digest is not known", False: "DIFFERS"}
    answers = {row.file.name: verdicts[row.verified] if row.path else "missing" for row in rows}
    yield Reply(answers, [f"{name}: {answer}" for name, answer in answers.items()])
    faulty = {name: answer for name, answer in answers.items() if answer in ("missing", "DIFFERS")}
    if faulty:
        raise ChaosError(
            f"Not as published: {len(faulty):,} of {counted(len(answers), 'file')}.",
            found="\n".join(f"{name}: {answer}" for name, answer in faulty.items()),
            todo=_advice(faulty, _described_files(selected)),
        )


def _advice(faulty: dict[str, str], described_by: dict[str, Path]) -> str:
    """Return what to do about faulty files; never advise to delete a reader's own file."""
    yaml_files = {
        str(path): None for name, path in described_by.items() if faulty.get(name) == "DIFFERS"
    }
    if yaml_files:
        return f"if this is the right file, correct its sha256 in {', '.join(yaml_files)}"
    if any(answer == "DIFFERS" for answer in faulty.values()):
        return "remove the files that differ, then run `chaos data fetch`"
    return "run `chaos data fetch`"

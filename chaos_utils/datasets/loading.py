"""Votes by name, folder or file: what the parameter ``data`` may be, and whether it is here."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.inputs import OWN, digest
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import (
    KEYWORDS,
    book_datasets,
    bundled_datasets,
    get_dataset,
    known_datasets,
    register_own_copy,
    register_released,
    register_user_dataset,
)
from chaos_utils.datasets.dataset import ChaosNLIReader, Dataset, is_dataset_file, read_dataset

if TYPE_CHECKING:
    from chaos_utils.datasets.frame import FileContent, Frame
    from chaos_utils.datasets.votes import Votes


_SHOWN = 3  # missing files that a message names


@dataclass(frozen=True, slots=True)
class VoteFiles:
    """The files with the votes on a dataset."""

    dataset: Dataset
    paths: tuple[Path, ...]
    names: tuple[str, ...]  # of the files, in records and figures
    any_number: bool = False  # whether items may have other numbers of votes than published
    described_by: Path | None = None  # the reader's own YAML file
    content: "tuple[FileContent, Frame] | None" = None  # of a file that is already parsed


def load_votes(dataset: str, data: str = "auto") -> "Votes":
    """Read the votes on one dataset.

    Parameters
    ----------
    dataset : str
        Its name, such as ``snli``.
    data : str
        Where they are:

        * ``auto`` or ``released``: the published file;
        * ``sample``: the synthetic sample;
        * the name of a dataset of the package: as ``auto``, for this one alone;
        * a folder that holds files of such datasets, at their place or under their base name,
          or YAML files of datasets;
        * the YAML file of a dataset, whose files are beside it or where data is looked for;
        * a votes file: CSV, TSV, JSON lines or parquet, with a row per vote (``item``,
          ``annotator``, ``label``) or per item (``item`` and a column for each label).

    Raises
    ------
    ChaosError
        If `data` does not hold the dataset, or a file is not the published one or has faults.
    """
    return read_votes(find_votes_on(dataset, data))


def load_all_votes(data: str = "auto") -> "list[Votes]":
    """Read the votes on every dataset of the book, or on those that `data` holds, in order.

    `data` is as for `load_votes`; data without votes is a ChaosError.
    """
    return [read_votes(files) for files in find_votes(data)]


def find_votes_on(dataset: str, data: str = "auto") -> VoteFiles:
    """Return the files with the votes on one dataset."""
    if data in KEYWORDS:
        return _published(get_dataset(dataset), data)
    all_files = find_votes(data)
    for files in all_files:
        if files.dataset.name == dataset:
            return files
    names = [files.dataset.name for files in all_files]
    known = {one.name: one for one in known_datasets()}
    what = f"are no votes on {dataset!r}"
    if dataset in known and data not in known and sources.own_path(data).is_dir():
        what = f"is no {Path(known[dataset].file).name}"
    raise ChaosError(
        f"There {what} in this data.",
        where=data,
        found=", ".join(names),
        expected=f"votes on {dataset!r}" if dataset in known else did_you_mean(dataset, names),
        todo="check `dataset` and `data`",
    )


def find_votes(data: str = "auto") -> list[VoteFiles]:
    """Return the files of each dataset that `data` holds.

    Datasets of the reader's own are registered, so that their names are known from then on.
    """
    if data == "auto":
        available = [one for one in book_datasets() if sources.find(one.file) is not None]
        return [_published(one, data) for one in available or book_datasets()]
    if data in KEYWORDS:
        return [_published(one, data) for one in book_datasets()]
    if data in [one.name for one in known_datasets()]:
        return [_published(get_dataset(data), "auto")]
    path = sources.own_path(data)
    if path.is_dir():
        return _in_folder(path, data)
    if is_dataset_file(path):
        return [_described(path)]
    if not path.is_file():
        raise ChaosError(
            "Votes must be in a file.",
            where=data,
            expected="a regular file; a pipe can be read only once",
            todo="save the votes to a file",
        )
    if (known := _by_its_name(path)) is not None:
        return [_own(known, (path,))]
    from chaos_utils.datasets.layout import dataset_of  # slow to import

    dataset, content = dataset_of(path)
    return [replace(_own(register_user_dataset(dataset, path), (path,)), content=content)]


def is_in_chaosnlis_format(path: Path) -> bool:
    """Return whether a file has the name of one of ChaosNLI's files, and so is read as one."""
    known = _by_its_name(path)
    return known is not None and isinstance(known.reader, ChaosNLIReader)


def _by_its_name(path: Path) -> Dataset | None:
    """Return the bundled dataset whose only file has this file's name; None if there is none.

    Where several datasets share the base name, the folder must match too.
    """
    for dataset in bundled_datasets():
        name = dataset.file if _is_ambiguous(path.name) else path.name
        if len(dataset.files) == 1 and Path(dataset.file).name == path.name and path.match(name):
            return dataset
    return None


def _published(dataset: Dataset, data: str) -> VoteFiles:
    """Return the published files, or their synthetic sample, by the keyword `data`."""
    dataset, names = register_released(dataset), tuple(file.name for file in dataset.files)
    return VoteFiles(dataset, tuple(sources.locate(name, data) for name in names), names)


def _own(dataset: Dataset, paths: tuple[Path, ...]) -> VoteFiles:
    """Return files in a data folder of the reader's; the published files count as the release."""
    if dataset in bundled_datasets():
        digests = [digest(path) for path in paths]
        is_released = digests == [file.sha256 for file in dataset.files]
        dataset = register_released(dataset) if is_released else register_own_copy(dataset)
    names = tuple(f"{OWN}{path.name}" for path in paths)
    return VoteFiles(dataset, paths, names, any_number=True)


def _is_ambiguous(name: str) -> bool:
    """Return whether files of several datasets of the package have this base name."""
    names = [Path(file.name).name for dataset in bundled_datasets() for file in dataset.files]
    return names.count(name) > 1


def _in_folder(folder: Path, data: str) -> list[VoteFiles]:
    """Return the files of the bundled datasets, and of the reader's own, that a folder holds."""
    own = [
        _described(path)
        for path in sorted(folder.iterdir())
        if path.is_file() and is_dataset_file(path)
    ]
    names = [files.dataset.name for files in own]
    for name in names:
        if names.count(name) > 1:
            raise ChaosError(
                "Two dataset files have the same name.",
                where=folder,
                found=name,
                todo="rename one of the datasets",
            )
    own_paths = {path for files in own for path in files.paths}
    bundled = []
    for dataset in bundled_datasets():
        paths = [sources.in_folder(file.name, folder) for file in dataset.files]
        available = tuple(
            path
            for path, file in zip(paths, dataset.files, strict=True)
            if path is not None and (path == folder / file.name or not _is_ambiguous(path.name))
        )
        is_complete = len(available) == len(paths)
        if is_complete and not own_paths & set(available) and dataset.name not in names:
            bundled.append(_own(dataset, available))
    if not bundled and not own:
        raise ChaosError(
            "There are no votes in this data folder.",
            where=data,
            expected="a file such as "
            + ", ".join(Path(one.file).name for one in book_datasets())
            + ", or the YAML file of a dataset",
            todo="check the parameter `data`",
        )
    return [*bundled, *own]


def _described(path: Path) -> VoteFiles:
    """Return the files of a dataset that the reader's YAML file at `path` describes."""
    dataset = register_user_dataset(read_dataset(path), path)
    paths, names = [], []
    for file in dataset.files:
        beside_yaml = path.parent / file.name
        found = beside_yaml if beside_yaml.is_file() else sources.find(file.name)
        if found is None:
            raise ChaosError(
                f"The file {file.name} of this dataset is not available.",
                where=path,
                expected=f"{beside_yaml}, or a file of this name where data is looked for",
                todo=f"run `chaos data fetch {quote(str(path))}`" if file.url else "put it there",
            )
        if file.sha256:
            sources.check(file.model_copy(update={"release": dataset.release}), found, path)
        paths.append(found)
        names.append(file.name if file.sha256 else f"{OWN}{found.name}")
    if getattr(dataset.reader, "annotator", "") == "file":  # file names are annotators' names
        names = [f"{OWN}{dataset.name}, file {number}" for number in range(1, len(paths) + 1)]
    return VoteFiles(dataset, tuple(paths), tuple(names), described_by=path)


def read_votes(files: VoteFiles) -> "Votes":
    """Read the votes on a dataset where they were found."""
    from chaos_utils.datasets.readers import read_file  # slow to import

    return read_file(
        files.paths,
        files.dataset,
        files.names,
        any_number=files.any_number,
        parsed=files.content,
    )


def datasets_of(data: str) -> list[Dataset]:
    """Return the datasets that a ``data`` parameter stands for."""
    if data == "auto":
        return book_datasets()
    if may_be_recorded(data):
        return [get_dataset(data)]
    return [files.dataset for files in find_votes(data)]


def may_be_recorded(data: str) -> bool:
    """Return whether recorded tables may be used: `data` is all or one of the book's datasets."""
    return data in ("auto", *(one.name for one in book_datasets()))


def is_missing(dataset: Dataset) -> bool:
    """Return whether the votes on one of the package's datasets are not available."""
    missing = any(sources.find(file.name) is None for file in dataset.files)
    return missing and dataset in bundled_datasets()


def missing_predictions(dataset: Dataset) -> list[str]:
    """Return the files of released predictions on a dataset that are not available.

    A system whose other form is available lacks nothing.
    """
    names = (
        name
        for system in dataset.systems
        if not (system.other_form and sources.find(system.other_form))
        for files in system.parts.values()
        for name in files
    )
    return [name for name in names if sources.find(name) is None]


def needs_votes(dataset: Dataset) -> ChaosError:
    """Return the error for a reader's predictions on votes that are not available."""
    return ChaosError(
        f"Your predictions cannot be judged: the votes on {dataset.short} are not available.",
        expected=dataset.file,
        todo="run `chaos data fetch`, or name the votes with -p data=…",
    )


def check_available(values: Mapping[str, object], defaults: Mapping[str, object]) -> None:
    """Raise a ChaosError, before a kernel starts, if a notebook needs data that is missing.

    Without the data, only recorded tables can be shown: there may be no predictions of the
    reader's, and no parameter may differ from its default. A notebook that trains on a reader's
    votes (`train`) needs no other data, and checks these itself.
    """
    if values.get("train", "chaosnli") not in ("corpora", "chaosnli"):
        return
    datasets = datasets_of(str(values["data"]))
    with_systems = "predictions" in values
    names = values.get("datasets", [values["dataset"]] if "dataset" in values else [])
    # Without systems, a chapter that names a dataset looks at the others too.
    if with_systems and names:
        datasets = [get_dataset(str(name)) for name in names]  # type: ignore[attr-defined]
    missing = [dataset for dataset in datasets if is_missing(dataset)]
    files = [dataset.file for dataset in missing]
    if missing and values.get("predictions"):
        raise needs_votes(missing[0])
    if with_systems and not values["predictions"]:
        files += [file for dataset in datasets for file in missing_predictions(dataset)]
    if not files:
        return
    changed = [name for name in values if name != "data" and values[name] != defaults[name]]
    if changed:
        raise ChaosError(
            "Only the book's own parameters are recorded, and data to compute others is missing.",
            where="missing: " + ", ".join(files[:_SHOWN]) + " …" * (len(files) > _SHOWN),
            found=", ".join(f"{name}={values[name]!r}" for name in changed),
            expected=", ".join(f"{name}={defaults[name]!r}" for name in changed),
            todo="run `chaos data fetch` to compute with parameters of your own, or look at the "
            "synthetic sample with -p data=sample",
        )

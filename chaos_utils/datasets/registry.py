"""The registry of every data file: its release, addresses, digest and size."""

from collections.abc import Mapping
from functools import cache

from chaos_utils.base.checked import Strict
from chaos_utils.datasets.catalogue import RELEASES_FILE, book_datasets, known_datasets
from chaos_utils.datasets.dataset import DataFile, Release, package_yaml


class _Released(Strict):
    release: Release
    files: tuple[DataFile, ...]


@cache
def _others() -> tuple[_Released, ...]:
    return tuple(map(_Released.model_validate, package_yaml(RELEASES_FILE)))


def registry() -> Mapping[str, DataFile]:
    """Return every file that is known, by name."""
    groups = [(one.release, one.files) for one in known_datasets()]
    groups += [(one.release, one.files) for one in _others()]
    found: dict[str, DataFile] = {}
    for release, files in groups:
        for file in files:  # the package's come first, and a reader's do not replace them
            found.setdefault(file.name, file.model_copy(update={"release": release}))
    return found


def vote_files() -> list[str]:
    """Return the files of the datasets that the book shows, in order."""
    return [file.name for dataset in book_datasets() for file in dataset.files]


def prediction_files(*, optional: bool = True) -> list[str]:
    """Return the files of predictions that were released on datasets, each once."""
    names = (
        name
        for dataset in known_datasets()
        for system in dataset.systems
        if optional or not system.optional
        for files in system.parts.values()
        for name in files
    )
    return list(dict.fromkeys(names))

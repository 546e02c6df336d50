"""All known datasets and files: those of the package's YAML files, and the reader's own."""

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.inputs import digest
from chaos_utils.base.modules import PACKAGE, source_root
from chaos_utils.base.style import HUES, Hue
from chaos_utils.base.validation import StrictModel
from chaos_utils.datasets.dataset import (
    DASHES,
    TASKS_FILE,
    ChaosNLIReader,
    DataFile,
    Dataset,
    Release,
    is_dataset_file,
    package_yaml,
    read_dataset,
)

RELEASES_FILE = "releases.yml"
_NO_DATASETS = (RELEASES_FILE, TASKS_FILE)  # stand beside the datasets, and are none

KEYWORDS = ("auto", "released", "sample")  # what `data` may be, beside names and paths

# Datasets of the reader's own, and votes of the reader's in the format of a package dataset.
_user_datasets: dict[str, Dataset] = {}


@cache
def _package_datasets() -> dict[str, Dataset]:
    datasets = [
        read_dataset(path)
        for path in sorted(Path(__file__).parent.iterdir())
        if is_dataset_file(path) and path.name not in _NO_DATASETS
    ]
    datasets.sort(key=lambda dataset: (not dataset.in_book, dataset.in_book, dataset.name))
    used_hues = [dataset.colour for dataset in datasets if dataset.in_book]
    return {
        dataset.name: _with_look(dataset, index, used_hues)
        for index, dataset in enumerate(datasets)
    }


def _with_look(dataset: Dataset, index: int, used_hues: Collection[Hue]) -> Dataset:
    """Return a dataset with a colour and a line, by its index among all if it names none."""
    hues = [hue for hue in HUES if hue not in used_hues]
    look = {"colour": hues[index % len(hues)], "dash": DASHES[index % len(DASHES)]}
    update = {name: value for name, value in look.items() if name not in dataset.model_fields_set}
    return dataset.model_copy(update=update)


def bundled_datasets() -> list[Dataset]:
    """Return the datasets of the package: those of the book first, in its order, then by name."""
    return list(_package_datasets().values())


def known_datasets() -> list[Dataset]:
    """Return every dataset: those of the book, in its order, then by name, then the reader's."""
    own = (dataset for name, dataset in _user_datasets.items() if name not in _package_datasets())
    return [*_package_datasets().values(), *own]


def book_datasets() -> list[Dataset]:
    """Return the datasets that the book's chapters show, in order."""
    return [one for one in _package_datasets().values() if one.in_book]


def get_dataset(name: str) -> Dataset:
    """Return the dataset called `name`; a ChaosError names the closest when there is none."""
    dataset = _user_datasets.get(name) or _package_datasets().get(name)
    if dataset is None:
        names = [one.name for one in known_datasets()]
        raise ChaosError("Unknown dataset.", found=repr(name), expected=did_you_mean(name, names))
    return dataset


def register_user_dataset(dataset: Dataset, path: Path | None = None) -> Dataset:
    """Make a reader's `dataset`, from the YAML file `path`, known to this process, and return it.

    Tables name datasets; figures and pages look up how such a name is shown. A dataset whose YAML
    file names no colour or line gets the next free ones. It replaces a dataset of the reader's own
    that has the same name, but never one of the package.
    """
    names = [one.name for one in known_datasets()]
    index = names.index(dataset.name) if dataset.name in names else len(names)
    dataset = _with_look(dataset, index, [one.colour for one in book_datasets()])
    bundled = _package_datasets().get(dataset.name)
    if dataset.name in KEYWORDS or (bundled is not None and bundled != dataset):
        raise ChaosError(
            "This name is taken: a dataset of the package has it, or it is a keyword.",
            where=path,
            found=dataset.name,
            expected="another name",
            todo="rename the dataset in its YAML file, or the votes file that it is named after",
        )
    if dataset.in_book and bundled is None:
        raise ChaosError(
            "Only datasets of the package have a place in the book.",
            where=path,
            found=f"in_book: {dataset.in_book}",
            todo="remove in_book",
        )
    if bundled is None:
        _user_datasets[dataset.name] = dataset
    return dataset


def register_own_copy(dataset: Dataset) -> Dataset:
    """Register and return a copy of a bundled dataset for a reader's own votes in its format.

    The copy keeps the name, labels and fields, and drops the release.
    """
    name, variant = dataset.title, ""
    if isinstance(dataset.reader, ChaosNLIReader):
        name, variant = "ChaosNLI", f" ({dataset.short})"
    title = {"title": f"your votes in {name}'s format{variant}", "short": f"your {dataset.short}"}
    own_dataset = dataset.model_copy(update={**title, "release": Release()})
    _user_datasets[own_dataset.name] = own_dataset
    return own_dataset


def register_released(dataset: Dataset) -> Dataset:
    """Return the released version of a bundled dataset, and drop the reader's copy of it."""
    if dataset.name not in _package_datasets():
        return dataset
    _user_datasets.pop(dataset.name, None)
    return released(dataset.name)


def released(name: str) -> Dataset:
    """Return a dataset of the package as released, even if the reader has a copy of it."""
    return _package_datasets()[name]


def are_own(dataset: Dataset) -> bool:
    """Return whether a dataset is a reader's copy of one of the package (`register_own_copy`)."""
    return dataset.name in _package_datasets() and dataset.title != released(dataset.name).title


def in_order(names: Iterable[str]) -> list[Dataset]:
    """Return the datasets of these names, in the order of `known_datasets`, each once."""
    chosen_names = dict.fromkeys(str(name) for name in names)
    for name in chosen_names:
        get_dataset(name)
    return [get_dataset(one.name) for one in known_datasets() if one.name in chosen_names]


def title_of(group: str) -> str:
    """Return how a dataset, or several that are joined by ``+``, is called on axes."""
    parts = [get_dataset(name) for name in group.split("+")]
    if len(parts) == 1:
        return parts[0].title
    return " and ".join(one.short for one in parts) + " pooled"


def short_of(group: str) -> str:
    """Return how a dataset, or several that are joined by ``+``, is called in prose."""
    return "+".join(get_dataset(name).short for name in group.split("+"))


def shorts_of(groups: Iterable[str]) -> str:
    """Return how several datasets or pools are listed in prose: ``SNLI, MNLI and αNLI``."""
    *names, last = map(short_of, groups)
    return f"{', '.join(names)} and {last}" if names else last


def digest_of_dataset(name: str) -> str:
    """Return a digest of the YAML file of one of the package's datasets, of 16 digits."""
    return digest(_yaml_files() / f"{name}.yml")[:16]


def digests_of_datasets() -> dict[str, str]:
    """Return the `digest_of_dataset` of each of the package's datasets, by its name."""
    return {path.stem: digest_of_dataset(path.stem) for path in sorted(_yaml_files().glob("*.yml"))}


def _yaml_files() -> Path:
    return source_root() / PACKAGE / "datasets"


class _ReleasedFiles(StrictModel):
    release: Release
    files: tuple[DataFile, ...]


@cache
def _other_files() -> tuple[_ReleasedFiles, ...]:
    return tuple(map(_ReleasedFiles.model_validate, package_yaml(RELEASES_FILE)))


def known_files() -> Mapping[str, DataFile]:
    """Return every file that is known, by name, with its release, addresses, digest and size."""
    groups: list[Dataset | _ReleasedFiles] = [*known_datasets(), *_other_files()]
    files: dict[str, DataFile] = {}
    for group in groups:
        for file in group.files:  # a reader's file does not replace one of the package
            files.setdefault(file.name, file.model_copy(update={"release": group.release}))
    return files


def vote_files() -> list[str]:
    """Return the files of the datasets that the book shows, in order."""
    return [file.name for dataset in book_datasets() for file in dataset.files]


def prediction_files(*, other_forms: bool = True) -> list[str]:
    """Return the files of released predictions, each once.

    `other_forms` adds the files that hold the same numbers in another form.
    """
    names: list[str] = []
    for dataset in known_datasets():
        for system in dataset.systems:
            names += [name for files in system.parts.values() for name in files]
            names += [system.other_form] if other_forms and system.other_form else []
    return list(dict.fromkeys(names))

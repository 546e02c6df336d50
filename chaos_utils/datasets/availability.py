"""Whether the votes that a ``data`` parameter asks for are here, or tables may stand in."""

from collections.abc import Mapping

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import book_datasets, bundled_datasets, get_dataset
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.loading import find_votes

_SHOWN = 3  # missing files that a message names


def datasets_of(data: str) -> list[Dataset]:
    """Return the datasets that a ``data`` parameter stands for."""
    if data == "auto":
        return book_datasets()
    if may_be_recorded(data):
        return [get_dataset(data)]
    return [files.dataset for files in find_votes(data)]


def may_be_recorded(data: str) -> bool:
    """Return whether tables may be recorded ones: for the book's datasets, all or one of them."""
    return data in ("auto", *(one.name for one in book_datasets()))


def is_missing(dataset: Dataset) -> bool:
    """Return whether the votes on one of the package's datasets are not available."""
    missing = any(sources.find(file.name) is None for file in dataset.files)
    return missing and dataset in bundled_datasets()


def missing_predictions(dataset: Dataset) -> list[str]:
    """Return the released predictions on a dataset that are not available, but could be."""
    named = [
        name
        for known in dataset.systems
        if not known.optional
        for files in known.parts.values()
        for name in files
    ]
    return [name for name in named if sources.find(name) is None]


def needs_votes(dataset: Dataset) -> ChaosError:
    """Return the error for a reader's predictions on votes that are not available."""
    return ChaosError(
        f"Your predictions cannot be judged: the votes on {dataset.short} are not available.",
        expected=dataset.file,
        todo="run `chaos data fetch`, or name the votes with -p data=…",
    )


def check_available(values: Mapping[str, object], defaults: Mapping[str, object]) -> None:
    """Refuse, before a kernel starts, what only votes that are not available could answer.

    That is, where votes are missing: a reader's predictions, or a parameter of a notebook that
    differs from its default, the book's.
    """
    held = datasets_of(str(values["data"]))
    with_systems = "predictions" in values
    named = values.get("datasets", [values["dataset"]] if "dataset" in values else [])
    # Without systems, a chapter that names a dataset looks at the others too.
    chosen = [get_dataset(str(one)) for one in named] if with_systems else []  # type: ignore[attr-defined]
    missing = [one for one in chosen or held if is_missing(one)]
    files = [one.file for one in missing]
    if missing and values.get("predictions"):
        raise needs_votes(missing[0])
    if with_systems and not values["predictions"]:
        files += [file for one in chosen or held for file in missing_predictions(one)]
    if not files:
        return
    changed = [name for name in values if name != "data" and values[name] != defaults[name]]
    if changed:
        raise ChaosError(
            "Only the book's own parameters are recorded, and data that others need is missing.",
            where="missing: " + ", ".join(files[:_SHOWN]) + " …" * (len(files) > _SHOWN),
            found=", ".join(f"{name}={values[name]!r}" for name in changed),
            expected=", ".join(f"{name}={defaults[name]!r}" for name in changed),
            todo="run `chaos data fetch` to compute with parameters of your own, or look at the "
            "synthetic sample with -p data=sample",
        )

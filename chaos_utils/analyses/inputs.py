"""What is available of each dataset here: its votes, the systems that predict it, or neither."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Generic, TypeVar

from chaos_utils.analyses.names import join_names
from chaos_utils.base import paths
from chaos_utils.base.inputs import Input, digest, merged
from chaos_utils.base.modules import code_digest, digest_of_dataset, library_versions
from chaos_utils.base.record_keys import cached_digest, digest_of_parsed
from chaos_utils.datasets.auxiliary_data import AuxiliaryData
from chaos_utils.datasets.catalogue import (
    book_datasets,
    bundled_datasets,
    get_dataset,
    known_datasets,
    short_of,
)
from chaos_utils.datasets.dataset import ChaosNLIReader, Dataset
from chaos_utils.datasets.loading import (
    datasets_of,
    find_votes_on,
    is_missing,
    load_votes,
    may_be_recorded,
    missing_predictions,
    needs_votes,
)
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.report.literal import in_markdown
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import inputs_of_systems, load_systems, refuse_unused

READS_FOR = ("predictions",)

Value = TypeVar("Value")
T_co = TypeVar("T_co", covariant=True)


@dataclass(eq=False)
class Lazy(Generic[T_co]):
    """What is read when it is first needed; the files that it is read from are known before.

    `read_by` is what else decides what it is, as texts: the kind of thing, other files.
    """

    inputs: tuple[Input, ...]
    read: Callable[[], T_co]
    read_by: tuple[str, ...] = ()

    @cached_property
    def value(self) -> T_co:
        """What was read."""
        return self.read()

    @cached_property
    def parsed(self) -> str:
        """A digest of what was read; where the same code has read these files, nothing is read."""
        made_from = [self.inputs, self.read_by, code_digest(__name__), library_versions()]
        folder = paths.build() / "parsed"
        return cached_digest(folder, made_from, lambda: digest_of_parsed(self.value))


def _states_old_labels(dataset: Dataset) -> bool:
    return isinstance(dataset.reader, ChaosNLIReader) or bool(dataset.reader.old_label)


def _names_annotators(dataset: Dataset) -> bool:
    reader = dataset.reader
    names = ("annotator", "annotators", "annotators_by_place")
    return any(getattr(reader, name, "") for name in names)


# Whether a dataset has a part that one may lack: by its YAML file,
_PARTS_OF_DATASET: Mapping[str, Callable[[Dataset], bool]] = MappingProxyType(
    {
        "old labels": _states_old_labels,
        "old votes": lambda dataset: bool(dataset.n_old_labels),
        "texts": lambda dataset: bool(dataset.text_fields),
        "annotators": _names_annotators,
        "three labels": lambda dataset: dataset.n_classes == 3,
        "published collection": lambda dataset: (
            dataset.name in set(read_published("nie2020_table1")["dataset"])
        ),
        "more than 40 votes per item": lambda dataset: dataset.n_votes > 40,
    }
)
# and once votes were read, by the votes, which may lack the part all the same.
_PARTS_OF_VOTES: Mapping[str, Callable[[Votes], bool]] = MappingProxyType(
    {
        "old labels": lambda votes: votes.has_old_labels,
        "old votes": lambda votes: votes.has_old_labels and votes.has_old_votes,
        "texts": lambda votes: bool(votes.texts),
        "annotators": lambda votes: votes.annotations is not None,
        # Two samples of twenty, and a rest.
        "more than 40 votes per item": lambda votes: bool(votes.n_votes.min() > 40),
    }
)


@dataclass(eq=False)
class LazyVotes(Lazy[Votes]):
    """Votes of the package as they were published, read when they are first needed."""

    dataset: Dataset = field(kw_only=True)


@dataclass(frozen=True, slots=True, eq=False)
class DatasetInputs:
    """What is available of one dataset, or of several that are shown as one.

    `given_votes` and `given_systems` have an entry for each of the datasets, which may be read
    later. Votes are None where they are not available: their tables are then recorded ones. Systems
    are None where the released predictions are not available, and where none were asked for. `own`
    says whether a reader's own votes or predictions are among them, so that no record has them.
    """

    datasets: tuple[Dataset, ...]
    given_votes: tuple[Votes | LazyVotes, ...] | None
    given_systems: tuple[tuple[System, ...] | Lazy[tuple[System, ...]], ...] | None
    own: bool = False

    @property
    def name(self) -> str:
        """As the column ``dataset`` of tables has it, ``snli+mnli`` for a pool."""
        return "+".join(dataset.name for dataset in self.datasets)

    @property
    def votes(self) -> tuple[Votes, ...] | None:
        """The votes on each of the datasets; None where they are not available."""
        return None if self.given_votes is None else tuple(map(_read_value, self.given_votes))

    @property
    def systems(self) -> tuple[tuple[System, ...], ...] | None:
        """The systems that predict each of the datasets; None as above."""
        return None if self.given_systems is None else tuple(map(_read_value, self.given_systems))

    @property
    def has_systems(self) -> bool:
        """Whether there is a system."""
        parts = self.given_systems or ()
        return any(bool(part.inputs if isinstance(part, Lazy) else part) for part in parts)

    @property
    def released(self) -> bool:
        """Whether all votes that are available are, byte for byte, as they were published."""
        parts = self.given_votes or ()
        return all(isinstance(votes, Lazy) or votes.is_released for votes in parts)

    @property
    def synthetic(self) -> bool:
        """Whether votes are those of the synthetic sample."""
        return any(file.synthetic for votes in self.given_votes or () for file in votes.inputs)

    @property
    def recordable(self) -> bool:
        """Whether these are the package's own: the released votes, no system of a reader's."""
        parts, bundled = self.given_votes or (), bundled_datasets()
        return self.released and not self.own and all(votes.dataset in bundled for votes in parts)

    def inputs(self, *, systems: bool = True) -> tuple[Input, ...]:
        """Return the files of votes and, if they are asked for, predictions."""
        files = [votes.inputs for votes in self.given_votes or ()]
        for part in self.given_systems or () if systems else ():
            files += [part.inputs] if isinstance(part, Lazy) else [system.inputs for system in part]
        return merged(*files)

    def parsed(self, *, systems: bool) -> str:
        """Return a digest of all that was, or will be, read of votes and, if asked for, systems.

        They must be known, as `is_known` says.
        """
        given = [*(self.given_votes or ()), *((self.given_systems or ()) if systems else ())]
        return digest_of_parsed([part.parsed for part in given if isinstance(part, Lazy)])

    def is_known(self, *, systems: bool) -> bool:
        """Return whether the digests of `inputs` say all that votes, and systems, are.

        So it is for those that `gather` finds among the package's own files.
        """
        parts = [*(self.given_votes or ()), *((self.given_systems or ()) if systems else ())]
        return self.recordable and all(isinstance(part, Lazy) for part in parts)

    def has(self, part: str) -> bool:
        """Return whether each dataset has a part that one may lack.

        It is ``old labels``, ``old votes``, ``texts``, ``annotators``, ``three labels``,
        ``published collection`` or ``more than 40 votes per item``.
        """
        of_dataset, of_votes = _PARTS_OF_DATASET[part], _PARTS_OF_VOTES.get(part)
        if self.given_votes is None:
            return all(map(of_dataset, self.datasets))
        return all(
            of_dataset(votes.dataset)
            if isinstance(votes, Lazy) or not of_votes
            else of_votes(votes)
            for votes in self.given_votes
        )


def _read_value(value: Value | Lazy[Value]) -> Value:
    return value.value if isinstance(value, Lazy) else value


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisInputs(Sequence[DatasetInputs]):
    """The inputs of a page: what is available of each of its datasets, in order.

    `trained` says whether the models that this project trained are among the systems.
    """

    dataset_inputs: tuple[DatasetInputs, ...]
    trained: bool = False

    def __len__(self) -> int:
        return len(self.dataset_inputs)

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        return self.dataset_inputs[place]

    @property
    def datasets(self) -> list[Dataset]:
        """Each dataset once; pools are left out."""
        return [inputs.datasets[0] for inputs in self._single]

    @property
    def votes(self) -> list[Votes]:
        """The votes that are available."""
        return [inputs.votes[0] for inputs in self._single if inputs.votes]

    @property
    def systems(self) -> list[System]:
        """The systems that are available."""
        several = [inputs.systems[0] for inputs in self._single if inputs.systems]
        return [system for systems in several for system in systems]

    @property
    def _single(self) -> list[DatasetInputs]:
        """Those on one dataset, without pools."""
        return [inputs for inputs in self.dataset_inputs if len(inputs.datasets) == 1]

    @property
    def synthetic(self) -> bool:
        """Whether the votes are those of the synthetic sample."""
        return any(inputs.synthetic for inputs in self.dataset_inputs)

    @property
    def is_book(self) -> bool:
        """Whether these are exactly the datasets that the book shows."""
        names = {dataset.name for dataset in self.datasets}
        return names == {dataset.name for dataset in book_datasets()}

    @property
    def released(self) -> bool:
        """Whether all votes are the book's own, as released; predictions may be others."""
        return all(
            inputs.released and all(votes.dataset.in_book for votes in inputs.given_votes or ())
            for inputs in self._single
        )

    def with_part(self, part: str) -> "AnalysisInputs":
        """Return the inputs on datasets with a part that one may lack (see `DatasetInputs.has`)."""
        return AnalysisInputs(tuple(filter(lambda inputs: inputs.has(part), self)), self.trained)

    def named(self, *names: str) -> "AnalysisInputs":
        """Return the inputs on the datasets of these names, in the order of the names."""
        by_name = {inputs.name: inputs for inputs in self.dataset_inputs}
        return AnalysisInputs(
            tuple(by_name[name] for name in names if name in by_name), self.trained
        )

    def with_auxiliary_data(self, *auxiliary: AuxiliaryData) -> "AnalysisInputs":
        """Return the inputs of tables that need these files of others, too.

        Where one is missing, the package's own votes count as missing as well: the tables are then
        recorded ones.
        """
        if all(data.available for data in auxiliary):
            return self
        without = (
            replace(inputs, given_votes=None, given_systems=None) if inputs.recordable else inputs
            for inputs in self.dataset_inputs
        )
        return replace(self, dataset_inputs=tuple(without))

    def pooled(self) -> "AnalysisInputs":
        """Return the pools that the datasets' YAML files name, where all of a pool are here."""
        pools = []
        for pool in dict.fromkeys(dataset.pooled_as for dataset in self.datasets):
            names = [dataset.name for dataset in known_datasets() if dataset.pooled_as == pool]
            parts = self.named(*names)
            if pool and len(parts) == len(names) > 1:
                pools.append(_pool(parts))
        return AnalysisInputs(tuple(pools), self.trained)

    def missing_note(self, part: str, consequence: str = "left out here") -> str:
        """Say in one line of Markdown which datasets lack a part, and what follows.

        Such as "*DICES-990 has no old labels: left out here.*"; empty where none lacks it.
        """
        names = [short_of(inputs.name) for inputs in self.dataset_inputs if not inputs.has(part)]
        if not names:
            return ""
        verb = "has" if len(names) == 1 else "have"
        return f"*{join_names(map(in_markdown, names))} {verb} no {part}: {consequence}.*"


def _pool(parts: AnalysisInputs) -> DatasetInputs:
    votes = tuple(inputs.given_votes[0] for inputs in parts if inputs.given_votes)
    systems = tuple(inputs.given_systems[0] for inputs in parts if inputs.given_systems is not None)
    return DatasetInputs(
        tuple(inputs.datasets[0] for inputs in parts),
        votes if len(votes) == len(parts) else None,
        systems if len(systems) == len(parts) else None,
        any(inputs.own for inputs in parts),
    )


def gather(
    data: str = "auto",
    predictions: Sequence[str] | None = None,
    *,
    datasets: Sequence[str] = (),
    trained: bool = True,
) -> AnalysisInputs:
    """Return what is available of each dataset.

    Parameters
    ----------
    data : str
        As in `load_votes`; for ``auto``, a dataset whose votes are not available has none here.
    predictions : sequence of str, optional
        A reader's own files; without a list, empty or not, no systems are loaded at all.
    datasets : sequence of str
        Names; by default those of the book, or those that `data` holds.
    trained : bool
        Whether the project's own runs are among the systems.

    Returns
    -------
    AnalysisInputs
        A sequence of `DatasetInputs`: the datasets in order, each with its votes and systems, which
        analyses take. The package's own files are found and compared with the published digests
        here, and read when their votes or systems are first needed.

    Raises
    ------
    ChaosError
        If a file is not the published one, a reader's has faults, or there are predictions and no
        votes.
    """
    inputs = []
    available = datasets_of(data)  # a reader's files bring datasets of their own
    for dataset in [get_dataset(name) for name in datasets] or available:
        if may_be_recorded(data) and is_missing(dataset):
            if predictions:
                raise needs_votes(dataset)
            inputs.append(DatasetInputs((dataset,), None, None))
            continue
        votes = _votes_on(dataset, data)
        own = not (isinstance(votes, Lazy) or votes.is_released)
        systems = None
        # Nothing stands in for released predictions on released votes.
        if predictions or (predictions is not None and (own or not missing_predictions(dataset))):
            systems = (_systems_on(votes, predictions, trained=trained),)
            if not isinstance(systems[0], Lazy):
                own |= any(system.origin == "yours" for system in systems[0])
        inputs.append(DatasetInputs((dataset,), (votes,), systems, own))
    result = AnalysisInputs(tuple(inputs), trained and predictions is not None)
    if predictions:
        refuse_unused(predictions, result.votes, result.systems)
    return result


def _votes_on(dataset: Dataset, data: str) -> Votes | LazyVotes:
    files = find_votes_on(dataset.name, data)
    names = tuple(file.name for file in dataset.files)
    if data == "sample" or files.names != names or dataset not in bundled_datasets():
        return load_votes(dataset.name, data)
    inputs = tuple(Input(name, digest(path)) for name, path in zip(names, files.paths, strict=True))
    if [file.sha256 for file in inputs] != [file.sha256 for file in dataset.files]:
        return load_votes(dataset.name, data)
    read_by = ("votes", dataset.name, digest_of_dataset(dataset.name))
    return LazyVotes(inputs, lambda: load_votes(dataset.name, data), read_by, dataset=dataset)


def _systems_on(
    votes: Votes | LazyVotes, predictions: Sequence[str], *, trained: bool
) -> tuple[System, ...] | Lazy[tuple[System, ...]]:
    def load() -> tuple[System, ...]:
        return tuple(load_systems(_read_value(votes), predictions, trained=trained))

    if predictions or not isinstance(votes, Lazy):
        return load()
    read_by = ("systems", *votes.read_by, *(file.sha256 for file in votes.inputs))
    return Lazy(inputs_of_systems(votes.dataset, trained=trained), load, read_by)

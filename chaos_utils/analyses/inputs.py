"""What is available of each dataset here: its votes, the systems that predict it, or neither."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from chaos_utils.analyses.names import join_names
from chaos_utils.base import paths
from chaos_utils.base.inputs import Input, digest, merged
from chaos_utils.base.modules import code_digest, library_versions
from chaos_utils.base.record_keys import cached_digest, digest_of_parsed
from chaos_utils.datasets.auxiliary_data import AuxiliaryData
from chaos_utils.datasets.catalogue import (
    book_datasets,
    bundled_datasets,
    digest_of_dataset,
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
# Only these modules lead to the code that reads votes and predictions, see `recorded.Evidence`.
READERS = (
    "chaos_utils.analyses.inputs", "chaos_utils.datasets.cells", "chaos_utils.datasets.faults",
    "chaos_utils.datasets.frame", "chaos_utils.datasets.loading", "chaos_utils.scoring.formats",
    "chaos_utils.scoring.logit_rows", "chaos_utils.scoring.predictions",
    "chaos_utils.scoring.submitted",
)  # fmt: skip
# Arguments of an analysis that take evidence; they are no parameters of the record.
ALL = ("votes", "systems", "all_votes", "all_systems")
_SYSTEMS = {"systems", "all_systems"}

Value = TypeVar("Value")
T_co = TypeVar("T_co", covariant=True)


@dataclass(eq=False)
class Lazy(Generic[T_co]):
    """A value that is read when it is first needed, from files that are known before.

    `read_by` are texts that decide the value beside the files: its kind, digests of other files.
    """

    inputs: tuple[Input, ...]
    read: Callable[[], T_co]
    read_by: tuple[str, ...] = ()

    @cached_property
    def value(self) -> T_co:
        """The value, read once."""
        return self.read()

    @cached_property
    def parsed_digest(self) -> str:
        """A digest of the value; remembered where the same code has read these files before."""
        made_from = [self.inputs, self.read_by, code_digest(__name__), library_versions()]
        folder = paths.build() / "parsed"
        return cached_digest(folder, made_from, lambda: digest_of_parsed(self.value))


def _states_old_labels(dataset: Dataset) -> bool:
    return isinstance(dataset.reader, ChaosNLIReader) or bool(dataset.reader.old_label)


def _names_annotators(dataset: Dataset) -> bool:
    reader = dataset.reader
    names = ("annotator", "annotators", "annotators_by_place")
    return any(getattr(reader, name, "") for name in names)


def _has_rounds(dataset: Dataset) -> bool:
    return any(getattr(dataset.reader, name, ()) for name in ("round", "rounds"))


def _says_what_annotators_are(dataset: Dataset) -> bool:
    names = ("annotator_fields", "about_annotators")
    return any(getattr(dataset.reader, name, ()) for name in names)


# Whether a dataset has a part that datasets may lack, by its YAML file.
_PARTS_OF_DATASET: Mapping[str, Callable[[Dataset], bool]] = MappingProxyType(
    {
        "old labels": _states_old_labels,
        "old votes": lambda dataset: bool(dataset.n_old_labels),
        "texts": lambda dataset: bool(dataset.text_fields),
        "annotators": _names_annotators,
        "rounds": _has_rounds,
        "what annotators are": _says_what_annotators_are,
        "three labels": lambda dataset: dataset.n_classes == 3,
        "published collection": lambda dataset: (
            dataset.name in set(read_published("nie2020_table1")["dataset"])
        ),
        "more than 40 votes per item": lambda dataset: dataset.n_votes > 40,
    }
)
# The same by votes that were read, which may lack a part that the YAML file promises.
_PARTS_OF_VOTES: Mapping[str, Callable[[Votes], bool]] = MappingProxyType(
    {
        "old labels": lambda votes: votes.has_old_labels,
        "old votes": lambda votes: votes.has_old_labels and votes.has_old_votes,
        "texts": lambda votes: bool(votes.texts),
        "annotators": lambda votes: votes.annotations is not None,
        "rounds": lambda votes: getattr(votes.annotations, "round", None) is not None,
        "what annotators are": lambda votes: bool(getattr(votes.annotations, "fields", ())),
        # Two samples of twenty, and other votes that judge them.
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

    `given_votes` and `given_systems` have an entry for each dataset, which may be read later. Votes
    are None where they are not available: recorded tables are then shown. Systems are None where
    the released predictions are not available, or were not asked for. `own` says whether a reader's
    own votes or predictions are among the inputs, so that no record covers them.
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
        """The systems that predict each of the datasets; None where they are not available."""
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
        """Whether all inputs are the package's own: released votes, and no system of a reader's."""
        parts, bundled = self.given_votes or (), bundled_datasets()
        return self.released and not self.own and all(votes.dataset in bundled for votes in parts)

    @property
    def readers(self) -> tuple[str, ...]:
        """The modules that lead to the code that reads votes and predictions."""
        return READERS

    def is_available(self, wanted: Collection[str]) -> bool:
        """Return whether the votes are available and, if `wanted`, the systems.

        Systems are wanted by an analysis that takes ``systems`` or ``all_systems``.
        """
        has_systems = self.given_systems is not None or not _SYSTEMS & {*wanted}
        return self.given_votes is not None and has_systems

    def inputs(self, wanted: Collection[str] = ALL) -> tuple[Input, ...]:
        """Return the files of the votes and, if `wanted`, of the predictions."""
        files = []
        for part in self._parts(wanted):
            members = part if isinstance(part, tuple) else (part,)
            files += [member.inputs for member in members]
        return merged(*files)

    def parsed_digest(self, wanted: Collection[str]) -> str:
        """Return a digest of the votes and, if `wanted`, the systems as parsed.

        Call it only where `is_known` holds.
        """
        parts = self._parts(wanted)
        return digest_of_parsed([part.parsed_digest for part in parts if isinstance(part, Lazy)])

    def is_known(self, wanted: Collection[str]) -> bool:
        """Return whether the digests of `inputs` determine all votes and, if `wanted`, systems.

        They do if `gather` has found all of them among the package's own files.
        """
        parts = self._parts(wanted)
        return self.recordable and all(isinstance(part, Lazy) for part in parts)

    def _parts(self, wanted: Collection[str]) -> list[Any]:
        """Return the votes and, if they are `wanted`, the systems."""
        systems = self.given_systems if _SYSTEMS & {*wanted} else None
        return [*(self.given_votes or ()), *(systems or ())]

    def definitions(self) -> Mapping[str, str]:
        """Return the digest of each dataset's YAML file, by its name."""
        names = sorted(dataset.name for dataset in self.datasets)
        return {name: digest_of_dataset(name) for name in names}

    def arguments(self, wanted: Collection[str]) -> Mapping[str, object]:
        """Return votes and systems of one dataset, or of all, by the names that are `wanted`."""
        votes, systems = self.votes, self.systems if _SYSTEMS & {*wanted} else None
        assert votes is not None
        parts = (votes[0], systems and systems[0], votes, systems)
        named_parts = zip(ALL, parts, strict=True)
        return {name: part for name, part in named_parts if name in wanted}

    def has(self, part: str) -> bool:
        """Return whether each dataset has a part that datasets may lack.

        The part is ``old labels``, ``old votes``, ``texts``, ``annotators``, ``rounds``, ``what
        annotators are``, ``three labels``, ``published collection`` or ``more than 40 votes per
        item``.
        """
        dataset_has, votes_have = _PARTS_OF_DATASET[part], _PARTS_OF_VOTES.get(part)
        if self.given_votes is None:
            return all(map(dataset_has, self.datasets))
        return all(
            # Votes that are not read yet are judged by their dataset.
            dataset_has(votes.dataset)
            if isinstance(votes, Lazy) or not votes_have
            else votes_have(votes)
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

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self.dataset_inputs[index]

    @property
    def datasets(self) -> list[Dataset]:
        """Each dataset once; pools are left out."""
        return [inputs.datasets[0] for inputs in self._without_pools]

    @property
    def votes(self) -> list[Votes]:
        """The votes that are available."""
        return [inputs.votes[0] for inputs in self._without_pools if inputs.votes]

    @property
    def systems(self) -> list[System]:
        """The systems that are available."""
        by_dataset = [inputs.systems[0] for inputs in self._without_pools if inputs.systems]
        return [system for systems in by_dataset for system in systems]

    @property
    def _without_pools(self) -> list[DatasetInputs]:
        """The inputs on single datasets."""
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
        """Whether all votes are those of the book, as released; predictions may be a reader's."""
        return all(
            inputs.released and all(votes.dataset.in_book for votes in inputs.given_votes or ())
            for inputs in self._without_pools
        )

    def with_part(self, part: str) -> "AnalysisInputs":
        """Return the inputs on the datasets that have a part (see `DatasetInputs.has`)."""
        return AnalysisInputs(tuple(filter(lambda inputs: inputs.has(part), self)), self.trained)

    def named(self, *names: str) -> "AnalysisInputs":
        """Return the inputs on the datasets of these names, in the order of the names."""
        by_name = {inputs.name: inputs for inputs in self.dataset_inputs}
        return AnalysisInputs(
            tuple(by_name[name] for name in names if name in by_name), self.trained
        )

    def with_auxiliary_data(self, *auxiliary: AuxiliaryData) -> "AnalysisInputs":
        """Return the inputs of tables that also need auxiliary files.

        Where one of these files is missing, the package's own votes count as missing too: recorded
        tables are then shown.
        """
        if all(data.available for data in auxiliary):
            return self
        without = (
            replace(inputs, given_votes=None, given_systems=None) if inputs.recordable else inputs
            for inputs in self.dataset_inputs
        )
        return replace(self, dataset_inputs=tuple(without))

    def pooled(self) -> "AnalysisInputs":
        """Return the pools of which all datasets are among the inputs, see `Dataset.pooled_as`."""
        pools = []
        for pool in dict.fromkeys(dataset.pooled_as for dataset in self.datasets):
            names = [dataset.name for dataset in known_datasets() if dataset.pooled_as == pool]
            parts = self.named(*names)
            if pool and len(parts) == len(names) > 1:
                pools.append(_pool(parts))
        return AnalysisInputs(tuple(pools), self.trained)

    def missing_note(self, part: str, consequence: str = "") -> str:
        """Say in one line of Markdown which datasets lack a part, and what follows from that.

        For example "*DICES-990 has no old labels, so it is left out here.*"; empty where none does.
        """
        names = [short_of(inputs.name) for inputs in self.dataset_inputs if not inputs.has(part)]
        if not names:
            return ""
        verb, subject = ("has", "it is") if len(names) == 1 else ("have", "they are")
        consequence = consequence or f"{subject} left out here"
        return f"*{join_names(map(in_markdown, names))} {verb} no {part}, so {consequence}.*"


def _pool(parts: AnalysisInputs) -> DatasetInputs:
    """Join inputs on single datasets; votes, or systems, are None where one dataset has none."""
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
    submitted: bool = False,
) -> AnalysisInputs:
    """Return what is available of each dataset.

    Parameters
    ----------
    data : str
        As in `load_votes`; for ``auto``, a dataset whose votes are not available has none here.
    predictions : sequence of str, optional
        A reader's own files. With a list, even an empty one, the package's systems are loaded too;
        with None, no systems at all.
    datasets : sequence of str
        Names; by default those of the book, or those that `data` holds.
    trained : bool
        Whether the project's own runs are among the systems.
    submitted : bool
        Whether what others submitted is among them: for pages that rank systems.

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
        # Systems stay None where votes are released and the released predictions are missing.
        if predictions or (predictions is not None and (own or not missing_predictions(dataset))):
            systems = (_systems_on(votes, predictions, trained=trained, submitted=submitted),)
            if not isinstance(systems[0], Lazy):
                own |= any(system.origin == "yours" for system in systems[0])
        inputs.append(DatasetInputs((dataset,), (votes,), systems, own))
    result = AnalysisInputs(tuple(inputs), trained and predictions is not None)
    if predictions:
        refuse_unused(predictions, result.votes, result.systems)
    return result


def _votes_on(dataset: Dataset, data: str) -> Votes | LazyVotes:
    """Return the votes: read later if the files are the published ones, else read now."""
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
    votes: Votes | LazyVotes, predictions: Sequence[str], **origins: bool
) -> tuple[System, ...] | Lazy[tuple[System, ...]]:
    """Return the systems that predict the votes' items: read later if all are the package's own."""

    def load() -> tuple[System, ...]:
        return tuple(load_systems(_read_value(votes), predictions, **origins))

    if predictions or not isinstance(votes, Lazy):
        return load()
    read_by = ("systems", *votes.read_by, *(file.sha256 for file in votes.inputs))
    return Lazy(inputs_of_systems(votes.dataset, **origins), load, read_by)

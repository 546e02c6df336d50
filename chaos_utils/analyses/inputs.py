"""What is available of each dataset here: its votes, the systems that predict it, or neither."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Generic, TypeVar

from chaos_utils.analyses.names import listed
from chaos_utils.base import paths
from chaos_utils.base.inputs import Input, digest, merged
from chaos_utils.base.modules import code_digest, digest_of_dataset, library_versions
from chaos_utils.base.record_keys import digest_of_parsed, remembered
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

Given = TypeVar("Given")
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
        return remembered(paths.build() / "parsed", made_from, lambda: digest_of_parsed(self.value))


def _states_old_labels(dataset: Dataset) -> bool:
    return isinstance(dataset.reader, ChaosNLIReader) or bool(dataset.reader.old_label)


def _names_annotators(dataset: Dataset) -> bool:
    reader = dataset.reader
    names = ("annotator", "annotators", "annotators_by_place")
    return any(getattr(reader, name, "") for name in names)


# What a dataset may lack, by what its YAML file says of it,
_STATED: Mapping[str, Callable[[Dataset], bool]] = MappingProxyType(
    {
        "old labels": _states_old_labels,
        "old votes": lambda dataset: bool(dataset.n_old_labels),
        "texts": lambda dataset: bool(dataset.text_fields),
        "annotators": _names_annotators,
        "three labels": lambda dataset: dataset.n_classes == 3,
        "published collection": lambda dataset: dataset.name in _collected(),
        "more than 40 votes per item": lambda dataset: dataset.n_votes > 40,
    }
)
# and where votes were read, by these, for what they may lack all the same.
_GIVEN: Mapping[str, Callable[[Votes], bool]] = MappingProxyType(
    {
        "old labels": lambda votes: votes.has_old_labels,
        "old votes": lambda votes: votes.has_old_labels and votes.has_old_votes,
        "texts": lambda votes: bool(votes.texts),
        "annotators": lambda votes: votes.annotations is not None,
        # Two samples of twenty, and a rest.
        "more than 40 votes per item": lambda votes: bool(votes.n_votes.min() > 40),
    }
)


def _collected() -> set[str]:
    """Return the datasets on whose collection Nie et al. (2020) report."""
    return set(read_published("nie2020_table1")["dataset"])


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
        return "+".join(one.name for one in self.datasets)

    @property
    def votes(self) -> tuple[Votes, ...] | None:
        """The votes on each of the datasets; None where they are not available."""
        return None if self.given_votes is None else tuple(map(_read, self.given_votes))

    @property
    def systems(self) -> tuple[tuple[System, ...], ...] | None:
        """The systems that predict each of the datasets; None as above."""
        return None if self.given_systems is None else tuple(map(_read, self.given_systems))

    @property
    def has_systems(self) -> bool:
        """Whether there is a system."""
        given = self.given_systems or ()
        return any(bool(one.inputs if isinstance(one, Lazy) else one) for one in given)

    @property
    def released(self) -> bool:
        """Whether all votes that are available are, byte for byte, as they were published."""
        return all(isinstance(one, Lazy) or one.is_released for one in self.given_votes or ())

    @property
    def synthetic(self) -> bool:
        """Whether votes are those of the synthetic sample."""
        return any(entry.synthetic for one in self.given_votes or () for entry in one.inputs)

    @property
    def recordable(self) -> bool:
        """Whether these are the package's own: the released votes, no system of a reader's."""
        given, ours = self.given_votes or (), bundled_datasets()
        return self.released and not self.own and all(one.dataset in ours for one in given)

    def inputs(self, *, systems: bool = True) -> tuple[Input, ...]:
        """Return the files of votes and, if they are asked for, predictions."""
        of_votes = [one.inputs for one in self.given_votes or ()]
        given = self.given_systems or () if systems else ()
        of_systems = [
            one.inputs if isinstance(one, Lazy) else merged(*(each.inputs for each in one))
            for one in given
        ]
        return merged(*of_votes, *of_systems)

    def parsed(self, *, systems: bool) -> str:
        """Return a digest of all that was, or will be, read of votes and, if asked for, systems.

        They must be known, as `is_known` says.
        """
        given = [*(self.given_votes or ()), *((self.given_systems or ()) if systems else ())]
        return digest_of_parsed([one.parsed for one in given if isinstance(one, Lazy)])

    def is_known(self, *, systems: bool) -> bool:
        """Return whether the digests of `inputs` say all that votes, and systems, are.

        So it is for those that `gather` finds among the package's own files.
        """
        given = [*(self.given_votes or ()), *((self.given_systems or ()) if systems else ())]
        return self.recordable and all(isinstance(one, Lazy) for one in given)

    def has(self, what: str) -> bool:
        """Return whether each dataset has a part that one may lack.

        It is ``old labels``, ``old votes``, ``texts``, ``annotators``, ``three labels``,
        ``published collection`` or ``more than 40 votes per item``.
        """
        stated, given = _STATED[what], _GIVEN.get(what)
        if self.given_votes is None:
            return all(map(stated, self.datasets))
        return all(
            given(one) if given and not isinstance(one, Lazy) else stated(one.dataset)
            for one in self.given_votes
        )


def _read(given: Given | Lazy[Given]) -> Given:
    return given.value if isinstance(given, Lazy) else given


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisInputs(Sequence[DatasetInputs]):
    """The evidence on each dataset of a page, in order.

    `trained` says whether the models that this project trained are among the systems.
    """

    evidence: tuple[DatasetInputs, ...]
    trained: bool = False

    def __len__(self) -> int:
        return len(self.evidence)

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        return self.evidence[place]

    @property
    def datasets(self) -> list[Dataset]:
        """Each dataset once; pools are left out."""
        return [one.datasets[0] for one in self.evidence if len(one.datasets) == 1]

    @property
    def votes(self) -> list[Votes]:
        """The votes that are available."""
        return [one.votes[0] for one in self.evidence if one.votes and len(one.votes) == 1]

    @property
    def systems(self) -> list[System]:
        """The systems that are available."""
        several = [one.systems[0] for one in self.evidence if one.systems and len(one.systems) == 1]
        return [system for some in several for system in some]

    @property
    def synthetic(self) -> bool:
        """Whether the votes are those of the synthetic sample."""
        return any(one.synthetic for one in self.evidence)

    @property
    def is_book(self) -> bool:
        """Whether these are exactly the datasets that the book shows."""
        return {one.name for one in self.datasets} == {one.name for one in book_datasets()}

    @property
    def released(self) -> bool:
        """Whether all votes are the book's own, as released; predictions may be others."""
        alone = [one for one in self.evidence if len(one.datasets) == 1]
        return all(
            one.released and all(votes.dataset.in_book for votes in one.given_votes or ())
            for one in alone
        )

    def with_part(self, what: str) -> "AnalysisInputs":
        """Return those datasets that have a part which one may lack (see `DatasetInputs.has`)."""
        return AnalysisInputs(tuple(one for one in self.evidence if one.has(what)), self.trained)

    def named(self, *names: str) -> "AnalysisInputs":
        """Return those of these names, in the order of the names."""
        by_name = {one.name: one for one in self.evidence}
        return AnalysisInputs(
            tuple(by_name[name] for name in names if name in by_name), self.trained
        )

    def beside(self, *companions: AuxiliaryData) -> "AnalysisInputs":
        """Return the evidence as it is where these files of others are available.

        Where one is missing, the package's own votes count as missing too: their tables are then
        recorded ones.
        """
        if all(one.available for one in companions):
            return self
        shown = (
            replace(one, given_votes=None, given_systems=None) if one.recordable else one
            for one in self.evidence
        )
        return replace(self, evidence=tuple(shown))

    def pooled(self) -> "AnalysisInputs":
        """Return the pools that the datasets' YAML files name, where all of a pool are here."""
        pools = dict.fromkeys(one.pooled_as for one in self.datasets if one.pooled_as)
        found = []
        for pool in pools:
            wanted = [one.name for one in known_datasets() if one.pooled_as == pool]
            parts = self.named(*wanted)
            if len(parts) == len(wanted) > 1:
                found.append(_pool(parts))
        return AnalysisInputs(tuple(found), self.trained)

    def left_out(self, what: str, consequence: str = "left out here") -> str:
        """Say in one line of Markdown which datasets lack a part, and what follows.

        Such as "*DICES-990 has no old labels: left out here.*"; empty where none lacks it.
        """
        lacking = [short_of(one.name) for one in self.evidence if not one.has(what)]
        verb = "has" if len(lacking) == 1 else "have"
        return (
            f"*{listed(map(in_markdown, lacking))} {verb} no {what}: {consequence}.*"
            if lacking
            else ""
        )


def _pool(parts: AnalysisInputs) -> DatasetInputs:
    votes = tuple(one.given_votes[0] for one in parts if one.given_votes)
    systems = tuple(one.given_systems[0] for one in parts if one.given_systems is not None)
    return DatasetInputs(
        tuple(one.datasets[0] for one in parts),
        votes if len(votes) == len(parts) else None,
        systems if len(systems) == len(parts) else None,
        any(one.own for one in parts),
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
    Material
        A sequence of `DatasetInputs`: the datasets in order, each with its votes and systems, which
        analyses take. The package's own files are found and compared with the published digests
        here, and read when their votes or systems are first needed.

    Raises
    ------
    ChaosError
        If a file is not the published one, a reader's has faults, or there are predictions and no
        votes.
    """
    found = []
    held = datasets_of(data)  # a reader's files bring datasets of their own
    chosen = [get_dataset(name) for name in datasets] or held
    for dataset in chosen:
        if may_be_recorded(data) and is_missing(dataset):
            if predictions:
                raise needs_votes(dataset)
            found.append(DatasetInputs((dataset,), None, None))
            continue
        votes = _votes_on(dataset, data)
        own = not (isinstance(votes, Lazy) or votes.is_released)
        systems = None
        # Nothing stands in for released predictions on released votes.
        if predictions or (predictions is not None and (own or not missing_predictions(dataset))):
            systems = (_systems_on(votes, predictions, trained=trained),)
            if not isinstance(systems[0], Lazy):
                own |= any(one.origin == "yours" for one in systems[0])
        found.append(DatasetInputs((dataset,), (votes,), systems, own))
    material = AnalysisInputs(tuple(found), trained and predictions is not None)
    if predictions:
        refuse_unused(predictions, material.votes, material.systems)
    return material


def _votes_on(dataset: Dataset, data: str) -> Votes | LazyVotes:
    files = find_votes_on(dataset.name, data)
    names = tuple(file.name for file in dataset.files)
    if data == "sample" or files.names != names or dataset not in bundled_datasets():
        return load_votes(dataset.name, data)
    inputs = tuple(Input(name, digest(path)) for name, path in zip(names, files.paths, strict=True))
    if [one.sha256 for one in inputs] != [file.sha256 for file in dataset.files]:
        return load_votes(dataset.name, data)
    read_by = ("votes", dataset.name, digest_of_dataset(dataset.name))
    return LazyVotes(inputs, lambda: load_votes(dataset.name, data), read_by, dataset=dataset)


def _systems_on(
    votes: Votes | LazyVotes, predictions: Sequence[str], *, trained: bool
) -> tuple[System, ...] | Lazy[tuple[System, ...]]:
    def load() -> tuple[System, ...]:
        return tuple(load_systems(_read(votes), predictions, trained=trained))

    if predictions or not isinstance(votes, Lazy):
        return load()
    read_by = ("systems", *votes.read_by, *(one.sha256 for one in votes.inputs))
    return Lazy(inputs_of_systems(votes.dataset, trained=trained), load, read_by)

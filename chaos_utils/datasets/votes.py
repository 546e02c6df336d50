"""Votes on items: validated where they enter, immutable after."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input
from chaos_utils.datasets.dataset import Dataset

Ints = npt.NDArray[np.int64]
ENOUGH_VOTES = 20  # on an item, from which on JSD and TVD no longer reward overconfidence
FOR_A_VERDICT = 3  # annotators at least, in the test of replacing one of them
FOR_AGREEMENT = 10  # items with two votes at least, to say how far people agree
# What to do where columns hold votes, and nothing names who gave them.
BY_PLACE = (
    "if each column, or place in a list, is always the same person, run `chaos dataset init FILE` "
    "and set reader.annotators_by_place: true"
)


@dataclass(frozen=True, slots=True, eq=False)
class Annotations:
    """Which annotator gave which label.

    Attributes
    ----------
    item, annotator, label : ndarray of int, shape (n_votes,)
        Positions of items and labels; annotators are running numbers from 0, in the order in
        which the file first names them. Their identifiers are not kept.
    fields : mapping of tuples of str
        A value for each annotator, such as a gender, by the column in the dataset's YAML file;
        empty where it is not known.
    round : ndarray of int, shape (n_votes,), or None
        The running number, from 0, of the round in which each vote was given; None where the file
        gives no rounds. An annotator may judge an item once in each round.
    """

    item: Ints
    annotator: Ints
    label: Ints
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    round: Ints | None = None

    @property
    def is_first(self) -> npt.NDArray[np.bool_]:
        """Whether each vote is of the first round in which its annotator judged its item."""
        if self.round is None or not len(self.item):
            return np.ones(len(self.item), dtype=bool)
        pairs = self.item.astype(np.int64) * (int(self.annotator.max()) + 1) + self.annotator
        _, pair = np.unique(pairs, return_inverse=True)
        first_round = np.full(pair.max() + 1, self.round.max())
        np.minimum.at(first_round, pair, self.round)
        is_first: npt.NDArray[np.bool_] = self.round == first_round[pair]
        return is_first

    @property
    def first(self) -> "Annotations":
        """The votes that `is_first` marks: the annotators' first on each item, which count."""
        return self if self.round is None else self.take(self.is_first)

    def take(self, is_kept: npt.NDArray[np.bool_]) -> "Annotations":
        """Return the votes that the mask `is_kept` keeps, of the same annotators."""
        columns = (self.item, self.annotator, self.label)
        item, annotator, label = (frozen(column[is_kept]) for column in columns)
        rounds = None if self.round is None else frozen(self.round[is_kept])
        return Annotations(item, annotator, label, self.fields, rounds)


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """The votes on the items of one dataset.

    Attributes
    ----------
    dataset : Dataset
        Labels and text fields; label k of every array is ``dataset.labels[k]``.
    uids : tuple of str
        Unique item identifiers, in file order; n items.
    counts : ndarray of int, shape (n, k)
        Votes for each label, at least one per item; read-only. Their number may differ from
        item to item. Where annotators judged an item in several rounds, only their first vote on
        it counts: the same person again is not another person.
    majority : ndarray of int, shape (n,)
        The majority label that the data file *states*, where it states one: ChaosNLI broke ties
        by annotation order, so an argmax over `counts` differs on a few items. Otherwise the
        first of the labels with most votes; for accuracy, tied labels share (`ties_share`).
    source : Input
        The file that the votes were read from, with its digest.
    other_sources : tuple of Input
        Further files of votes, or the file of the texts.
    given_old_label : ndarray of int, shape (n,), or None
        The label of the original dataset.
    given_old_votes : ndarray of int, shape (n, k), or None
        The original votes; where only the gold label was released (αNLI), the label counts as
        the single vote.
    texts : tuple of mappings
        Each item's texts by field; empty where the dataset has none. Never written into anything
        that is shared.
    annotations : Annotations or None
        Each annotator's votes, of all rounds; of the first batch, where votes have batches.
    fields : mapping of tuples of str
        A value for each item, such as its language, by the column in the dataset's YAML file.
    later_counts : ndarray of int, shape (n, k), or None
        The votes of later batches, where the file says in which batch each vote was asked. Later
        votes were asked where earlier ones were close, and so do not count among `counts`: people
        would seem to disagree more. None where votes have no batches.
    batches : tuple of int
        The numbers of the batches in the file, ascending; `counts` has the first. Empty for none.
    notes : tuple of str
        What was left out or changed in reading, as the dataset's YAML file says; a sentence each.
    """

    dataset: Dataset
    uids: tuple[str, ...]
    counts: Ints
    majority: Ints
    source: Input
    given_old_label: Ints | None = None
    given_old_votes: Ints | None = None
    texts: tuple[Mapping[str, str], ...] = ()
    annotations: Annotations | None = None
    notes: tuple[str, ...] = ()
    other_sources: tuple[Input, ...] = ()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    later_counts: Ints | None = None
    batches: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.uids)

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The files that the votes were read from."""
        return (self.source, *self.other_sources)

    @property
    def n_votes(self) -> Ints:
        """Votes per item, shape (n,)."""
        return self.counts.sum(axis=1)

    @property
    def all_counts(self) -> Ints:
        """Votes for each label in all batches, shape (n, k): for a prior, and for majorities."""
        return self.counts if self.later_counts is None else self.counts + self.later_counts

    @property
    def n_votes_each(self) -> int | None:
        """How many votes each item has; None where that varies."""
        numbers = np.unique(self.n_votes)
        return int(numbers[0]) if len(numbers) == 1 else None

    @property
    def are_few(self) -> bool:
        """Whether half of the items or more have fewer than `ENOUGH_VOTES` votes.

        JSD and TVD to so few votes reward overconfidence: nothing is fitted or ranked by them.
        """
        return bool(np.median(self.n_votes) < ENOUGH_VOTES)

    @property
    def ties_share(self) -> bool:
        """Whether labels that tie for most votes share an item, since no file breaks the tie."""
        return not self.dataset.states_majority

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """Vote shares, shape (n, k); rows sum to 1."""
        return self.counts / self.counts.sum(axis=1, keepdims=True)

    @property
    def is_released(self) -> bool:
        """Whether these are, byte for byte, the votes that were published."""
        return all(
            read.sha256 and read.sha256 == file.sha256
            for read, file in zip(self.inputs, self.dataset.files, strict=False)
        )

    @property
    def has_old_labels(self) -> bool:
        """Whether the label of an original dataset is there for each item."""
        return self.given_old_label is not None

    @property
    def has_old_votes(self) -> bool:
        """Whether several original votes are there for each item."""
        return self.given_old_votes is not None and bool(self.dataset.n_old_labels)

    @property
    def old_label(self) -> Ints:
        """The label of the original dataset, shape (n,); a ChaosError where there is none."""
        if self.given_old_label is None:
            raise self._missing_part_error("old labels")
        return self.given_old_label

    @property
    def old_votes(self) -> Ints:
        """The original votes, shape (n, k); a ChaosError where there are none."""
        if self.given_old_votes is None:
            raise self._missing_part_error("old votes")
        return self.given_old_votes

    def _missing_part_error(self, part: str) -> ChaosError:
        return ChaosError(
            f"{self.dataset.title} has no {part}.",
            where=self.source.name,
            todo=f"leave out what needs {part}",
        )

    def fields_at(self, items: Iterable[int]) -> dict[str, tuple[str, ...]]:
        """Return the fields of the items at the positions `items`, in this order."""
        positions = list(items)
        return {name: tuple(values[k] for k in positions) for name, values in self.fields.items()}

    def index(self, uid: str) -> int:
        """Return the position of the item `uid`, from 0; a ChaosError where there is none."""
        if uid not in self.uids:
            raise ChaosError("No such item.", where=self.dataset.title, found=uid)
        return self.uids.index(uid)


def frozen(values: npt.ArrayLike, kind: Any = np.int64) -> npt.NDArray[Any]:
    """Return numbers as a read-only array of the type `kind`."""
    array = np.array(values, dtype=kind)
    array.setflags(write=False)
    return array

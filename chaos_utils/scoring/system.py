"""A system: a predicted distribution for each item, with fields that describe the system."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Literal

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.divergence import Floats
from chaos_utils.metrics.measures import EvalBatch
from chaos_utils.scoring.temperature_scaling import temper

Origin = Literal["released", "trained", "submitted", "simulated", "baseline", "reference", "yours"]


_VOTES = "votes of "


def check_names(systems: Sequence["System"], todo: str = "rename one of them") -> None:
    """Raise a ChaosError if two systems have one name."""
    names = [system.name for system in systems]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        title = systems[0].dataset.title
        raise ChaosError("Two systems have the same name.", where=title, found=double, todo=todo)


def votes_of(dataset: Dataset) -> str:
    """Return how `System.trained_on` names the votes of a dataset, as opposed to a corpus."""
    return f"{_VOTES}{dataset.name}"


def are_votes(name: str) -> bool:
    """Return whether a name in `System.trained_on` is that of votes, not of a corpus."""
    return name.startswith(_VOTES)


def shared_rows(votes: Votes, systems: Iterable["System"]) -> Ints:
    """Return the rows in the votes, ascending, of the items that all systems cover."""
    covered = (system.rows_in(votes) for system in systems)
    return reduce(np.intersect1d, covered, np.arange(len(votes)))


def covering_alike(votes: Votes, systems: Iterable["System"]) -> list[list["System"]]:
    """Return the systems in groups that cover the same items."""
    groups: dict[bytes, list[System]] = {}
    for system in systems:
        groups.setdefault(system.rows_in(votes).tobytes(), []).append(system)
    return list(groups.values())


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """A predicted distribution for each item of a dataset.

    Attributes
    ----------
    name : str
        Its name in tables; unique among the systems that are scored together.
    dataset : Dataset
        Class k of every array is ``dataset.labels[k]``.
    uids : tuple of str
        Unique; n items, in any order, maybe not all of the dataset's.
    probabilities : ndarray of float, shape (n, k)
        Rows sum to 1; read-only.
    predicted : ndarray of int, shape (n,)
        The label that the file states; if it states none, the first label of largest
        probability; read-only.
    stated : bool
        Whether the labels are stated. Otherwise labels that tie for the largest probability share
        an item.
    origin : str
        ``released`` with a paper, ``trained`` by this project, ``submitted`` by others,
        ``simulated`` for the synthetic sample, ``baseline`` (needs no model), ``reference`` (drawn
        from the votes themselves), or ``yours``.
    family : str
        Common to systems that differ only in their seed; the name by default.
    seed : int or None
    temperature : float
        The temperature at which the probabilities are; 1 for the system as it is, NaN if it
        differs from item to item.
    trained_on : tuple of str
        Corpora by name, and ``votes of <dataset>`` for votes that it was trained or fitted on.
    out_of_fold : bool
        Whether each item's votes were left out of what its prediction was trained or fitted on.
    one_label : bool
        Whether it gives one label per item. The label then has probability 1, which says nothing
        about distributions.
    n_samples : tuple of int
        Fewest and most answers drawn per item, for a crowd of machine votes; empty for a model
        that gives probabilities.
    n_answers : int
        Most answers per item, if the probabilities are unsmoothed shares of answers; otherwise 0.
    paper : str
        Key in ``book/references.bib`` of the paper on its dataset that it comes from, for a
        released system; otherwise empty.
    asked : str
        How a submitted system was asked: ``label``, ``samples``, ``logprobs``, ``percentages`` or
        ``encoder``; empty for others.
    date, licence, link : str
        Of a submitted system: when its predictions were made, their licence as SPDX names it, and
        an address about it; empty for others.
    may_have_seen : str
        Whether a submitted system may have seen the items: ``no``, ``possible`` or ``yes``; empty
        where nothing is stated.
    folds : tuple of str
        The fold of each item, as the file has it, for predictions out of fold; may be empty.
    caution : str
        A warning to show wherever the system is shown; may be empty.
    notes : tuple of str
        Facts that a reader of the numbers must know.
    inputs : tuple of Input
        The files that it was read from; none for predictions that were computed from the votes.
    """

    name: str
    dataset: Dataset
    uids: tuple[str, ...]
    probabilities: Floats
    predicted: Ints
    stated: bool = field(default=False, kw_only=True)
    origin: Origin = "yours"
    family: str = ""
    seed: int | None = None
    temperature: float = 1.0
    trained_on: tuple[str, ...] = ()
    out_of_fold: bool = False
    one_label: bool = False
    n_samples: tuple[int, ...] = ()
    n_answers: int = 0
    paper: str = ""
    asked: str = ""
    date: str = ""
    licence: str = ""
    link: str = ""
    may_have_seen: str = ""
    folds: tuple[str, ...] = ()
    caution: str = ""
    notes: tuple[str, ...] = ()
    inputs: tuple[Input, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", self.family or self.name)
        for name in ("probabilities", "predicted"):
            values = getattr(self, name)
            if values.flags.writeable:
                values = values.copy()
                values.setflags(write=False)
                object.__setattr__(self, name, values)

    def __len__(self) -> int:
        return len(self.uids)

    def rows_in(self, votes: Votes) -> Ints:
        """Return the rows in the votes, ascending, of the items that this system covers."""
        return self._join(votes)[0]

    def aligned_to(self, votes: Votes, *, in_sample: bool = False) -> EvalBatch:
        """Join the predictions with the votes on the same items.

        This is the only place where predictions and votes are joined.

        Parameters
        ----------
        votes : Votes
            Of this system's dataset.
        in_sample : bool
            Whether to score a system that has learned from these very votes, to show the effect;
            the page must then say so.

        Returns
        -------
        EvalBatch
            On the items that both have, in the order of the votes (`rows_in`).

        Raises
        ------
        ChaosError
            If it predicts another dataset, has none of the items, or was trained or fitted on
            these votes.
        """
        own, judging = self.dataset, votes.dataset
        if (own.name, own.codes) != (judging.name, judging.codes):
            raise ChaosError(
                f"{self.name!r} predicts another dataset, or its labels in another order.",
                found=f"{own.title}: {', '.join(own.labels)}",
                expected=f"{judging.title}: {', '.join(judging.labels)}",
            )
        if votes_of(votes.dataset) in self.trained_on and not (self.out_of_fold or in_sample):
            raise ChaosError(
                f"{self.name!r} was trained or fitted on the votes that are to judge it.",
                found=", ".join(self.trained_on),
                expected="a system that has not seen these votes, or predictions out of fold",
                todo="judge it by other votes, or predict out of fold and say so in the file "
                "(column out_of_fold)",
            )
        rows, own_rows = self._join(votes)
        if len(rows) == 0:
            raise ChaosError(f"{self.name!r} has no item of these votes.", where=votes.source.name)
        old_label = votes.old_label[rows] if votes.has_old_labels else None
        return EvalBatch(
            human=votes.shares[rows],
            model=self.probabilities[own_rows],
            predicted=self.predicted[own_rows],
            old_label=old_label,
            majority=votes.majority[rows],
            n_votes=votes.n_votes[rows],
            stated=self.stated,
            ties_share=votes.ties_share,
        )

    def _join(self, votes: Votes) -> tuple[Ints, Ints]:
        """Return the common items' rows in the votes, ascending, and their rows in this system."""
        row_of_uid = {uid: row for row, uid in enumerate(self.uids)}
        pairs = [(row, row_of_uid[uid]) for row, uid in enumerate(votes.uids) if uid in row_of_uid]
        rows, own_rows = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return rows, own_rows

    @property
    def keys(self) -> dict[str, object]:
        """The columns of tables that identify the system."""
        return {
            "dataset": self.dataset.name,
            "system": self.name,
            "family": self.family,
            "seed": self.seed,
            "origin": self.origin,
            "temperature": self.temperature,
        }

    def at_temperature(self, temperature: npt.ArrayLike, name: str = "") -> "System":
        """Return the system with its distributions sharpened (T < 1) or flattened (T > 1).

        Parameters
        ----------
        temperature : float, or array_like of float, shape (n,)
            Above 0; one for all items, or one per item.
        name : str
            The new system's name; this one's by default.

        Returns
        -------
        System
            With the same labels; the caller must add what the temperature was fitted on.
        """
        factor = float(np.asarray(temperature)) if np.ndim(temperature) == 0 else np.nan
        return replace(
            self,
            name=name or self.name,
            probabilities=temper(self.probabilities, temperature),
            temperature=self.temperature * factor,
        )

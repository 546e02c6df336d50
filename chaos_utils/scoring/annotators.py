"""What each annotator's votes are worth: agreement with the rest, and errors by Dawid and Skene."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import Annotations, Ints, Votes

Floats = npt.NDArray[np.float64]

_TINY = 1e-10  # of a share, in place of 0
_GAIN = 1e-6  # nats per vote: EM stops where a step gains less
_MOST_STEPS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """How often annotators agree with the others who judged the same items; by annotator."""

    n_votes: Ints  # on items that others have judged too
    observed: Floats  # mean share of the others' votes for the annotator's label; NaN without votes
    error: Floats  # standard error of it, over the annotator's votes; NaN with fewer than two
    by_chance: Floats  # what it would be if the same labels were given to these items at random

    @property
    def corrected(self) -> Floats:
        """Agreement beyond chance, as a share of what is possible; NaN where chance is 1."""
        room = 1 - self.by_chance
        undefined = np.full(room.shape, np.nan)
        return np.divide(self.observed - self.by_chance, room, out=undefined, where=room > _TINY)


def agreement_with_rest(votes: Votes) -> Agreement:
    """Compare each annotator's votes with the other votes on the same items."""
    known = _annotations(votes)
    others = np.bincount(known.item, minlength=len(votes))[known.item] - 1
    kept = others > 0
    item, label = known.item[kept], known.label[kept]
    annotator, others = known.annotator[kept], others[kept]
    n_annotators, n_classes = int(known.annotator.max()) + 1, votes.dataset.n_classes
    counts = np.bincount(
        known.item * n_classes + known.label, minlength=len(votes) * n_classes
    ).reshape(-1, n_classes)

    def total(weights: Floats) -> Floats:
        sums = np.bincount(annotator, weights=weights, minlength=n_annotators)
        return sums.astype(np.float64)

    n_votes = np.bincount(annotator, minlength=n_annotators)
    agreed = (counts[item, label] - 1) / others
    by_chance = np.zeros(n_annotators)
    with np.errstate(divide="ignore", invalid="ignore"):
        for k in range(n_classes):
            own = (label == k).astype(np.float64)
            by_chance += total(own) / n_votes * (total((counts[item, k] - own) / others) / n_votes)
        observed = total(agreed) / n_votes
        variance = total((agreed - observed[annotator]) ** 2) / (n_votes - 1)
        return Agreement(n_votes, observed, np.sqrt(variance / n_votes), by_chance)


@dataclass(frozen=True, slots=True, eq=False)
class DawidSkene:
    """Labels and errors that make the votes most likely."""

    chances: Floats  # how likely each label is the item's, (n_items, n_classes)
    prior: Floats  # share of items with each label
    errors: Floats  # (n_annotators, n_classes, n_classes), the label that is given last

    @property
    def accuracy(self) -> Floats:
        """Share of items that an annotator is expected to give their label to."""
        found: Floats = np.einsum("akk,k->a", self.errors, self.prior)
        return found


def dawid_skene(votes: Votes) -> DawidSkene:
    """Estimate each item's label and each annotator's confusion matrix, by EM.

    It supposes that every item has one right label, and that annotators err independently of each
    other: where people rightly differ, dissent counts as error. EM starts from the vote shares and
    stops where a step gains less than 1e-6 nats per vote, or after 200 steps. Dawid, A. P. and
    Skene, A. M. (1979). Maximum likelihood estimation of observer error-rates using the EM
    algorithm.
    """
    known = _annotations(votes)
    n_items, n_classes = votes.counts.shape
    n_annotators = int(known.annotator.max()) + 1
    given = known.annotator * n_classes + known.label  # which annotator gives which label
    totals = np.bincount(known.item * n_classes + known.label, minlength=n_items * n_classes)
    voted = totals.reshape(n_items, n_classes)
    chances = voted / np.maximum(voted.sum(axis=1, keepdims=True), 1)
    before = -np.inf
    for _ in range(_MOST_STEPS):
        prior = np.maximum(chances.mean(axis=0), _TINY)
        logs = np.empty((n_items, n_classes))
        errors = np.empty((n_annotators, n_classes, n_classes))
        for k in range(n_classes):
            of_label = np.bincount(
                given, weights=chances[known.item, k], minlength=n_annotators * n_classes
            ).reshape(n_annotators, n_classes)
            of_label = np.maximum(of_label, _TINY)
            errors[:, k] = of_label / of_label.sum(axis=1, keepdims=True)
            likely = np.log(errors[:, k]).ravel()[given]
            logs[:, k] = np.log(prior[k]) + np.bincount(
                known.item, weights=likely, minlength=n_items
            )
        highest = logs.max(axis=1, keepdims=True)
        chances = np.exp(logs - highest)
        sums = chances.sum(axis=1, keepdims=True)
        chances /= sums
        after = float((np.log(sums) + highest).sum()) / len(given)
        if after - before < _GAIN:
            break
        before = after
    return DawidSkene(chances, prior, errors)


def _annotations(votes: Votes) -> Annotations:
    if votes.annotations is None or not len(votes.annotations.item):
        raise ChaosError(
            f"It is not known who gave which vote on {votes.dataset.title}.",
            where=votes.source.name,
            expected="votes with annotators: a row per vote, or a column that lists them",
        )
    return votes.annotations

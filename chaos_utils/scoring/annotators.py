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
    known = annotations_of(votes)
    kept = votes.n_votes[known.item] > 1
    item, annotator, label = known.item[kept], known.annotator[kept], known.label[kept]
    n_votes = np.bincount(annotator, minlength=int(known.annotator.max()) + 1)

    def mean(values: Floats) -> Floats:
        """Return the mean of votes' values for each annotator."""
        sums = np.zeros((len(n_votes), *values.shape[1:]))
        np.add.at(sums, annotator, values)
        return (sums.T / n_votes).T

    own = np.eye(votes.dataset.n_classes)[label]
    rest = (votes.counts[item] - own) / (votes.n_votes[item] - 1)[:, np.newaxis]
    agreed = (rest * own).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = mean(agreed)
        by_chance = (mean(own) * mean(rest)).sum(axis=1)
        error = np.sqrt(mean((agreed - observed[annotator]) ** 2) / (n_votes - 1))
        return Agreement(n_votes, observed, error, by_chance)


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
    from scipy.sparse import csr_array  # slow to import

    known = annotations_of(votes)
    n_items, k = votes.counts.shape
    n_annotators = int(known.annotator.max()) + 1
    # Which annotator gives which label: a row per item, a column for each of both.
    column = known.annotator * k + known.label
    given = csr_array(
        (np.ones(len(column)), (known.item, column)), shape=(n_items, n_annotators * k)
    )
    chances = votes.shares
    before = -np.inf
    for _ in range(_MOST_STEPS):
        prior = np.maximum(chances.mean(axis=0), _TINY)
        of_labels = np.maximum(given.T @ chances, _TINY).reshape(n_annotators, k, k)
        of_labels /= of_labels.sum(axis=1, keepdims=True)
        logs = np.log(prior) + given @ np.log(of_labels).reshape(-1, k)
        highest = logs.max(axis=1, keepdims=True)
        chances = np.exp(logs - highest)
        sums = chances.sum(axis=1, keepdims=True)
        chances /= sums
        after = float((np.log(sums) + highest).sum()) / len(column)
        if after - before < _GAIN:
            break
        before = after
    return DawidSkene(chances, prior, errors=of_labels.transpose(0, 2, 1))


def annotations_of(votes: Votes) -> Annotations:
    """Return who gave which vote; a ChaosError where that is not known."""
    if votes.annotations is None or not len(votes.annotations.item):
        raise ChaosError(
            f"It is not known who gave which vote on {votes.dataset.title}.",
            where=votes.source.name,
            expected="votes with annotators: a row per vote, or a column that lists them",
        )
    return votes.annotations

"""What each annotator's votes are worth: agreement with the rest, and errors by Dawid and Skene.

And how far people agree, where they are a sample of annotators; and who agrees hardly more with the
rest than by chance.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import Annotations, Ints, Votes, frozen
from chaos_utils.metrics.agreement import (
    agreement_columns,
    alike_columns,
    alike_disagreement,
    alpha_of_sums,
    mean_disagreement,
)
from chaos_utils.metrics.divergence import Floats
from chaos_utils.metrics.jackknife import TwoWay, two_way_jackknife

_TINY = 1e-10  # of a share, in place of 0
_GAIN = 1e-6  # nats per vote: EM stops where a step gains less
_MOST_STEPS = 200
FEWEST_VOTES = 10  # of an annotator, to be one of the usual
ENOUGH_VOTES = 100  # of an annotator, to be called near chance
_ERROR_OF_MEDIAN = 1.2533  # of a normal sample, over that of its mean
_CLEAR = 3  # standard errors


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
        return self._corrected(self.observed)

    @property
    def highest_corrected(self) -> Floats:
        """Upper end of its 95% interval, over the annotator's votes."""
        return self._corrected(self.observed + 1.96 * self.error)

    def _corrected(self, agreement: Floats) -> Floats:
        room = 1 - self.by_chance
        undefined = np.full(room.shape, np.nan)
        return np.divide(agreement - self.by_chance, room, out=undefined, where=room > _TINY)


def agreement_with_rest(votes: Votes) -> Agreement:
    """Compare each annotator's votes with the other votes on the same items."""
    annotations = annotations_of(votes)
    kept = votes.n_votes[annotations.item] > 1
    item, annotator, label = (
        annotations.item[kept],
        annotations.annotator[kept],
        annotations.label[kept],
    )
    n_votes = np.bincount(annotator, minlength=int(annotations.annotator.max()) + 1)

    def mean(values: Floats) -> Floats:
        """Return the mean of votes' values for each annotator."""
        sums = np.zeros((len(n_votes), *values.shape[1:]))
        np.add.at(sums, annotator, values)
        return (sums.T / n_votes).T

    of_annotator = np.eye(votes.dataset.n_classes)[label]
    others = (votes.counts[item] - of_annotator) / (votes.n_votes[item] - 1)[:, np.newaxis]
    agreed = (others * of_annotator).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = mean(agreed)
        by_chance = (mean(of_annotator) * mean(others)).sum(axis=1)
        error = np.sqrt(mean((agreed - observed[annotator]) ** 2) / (n_votes - 1))
        return Agreement(n_votes, observed, error, by_chance)


def over_people(
    votes: Votes, columns: Callable[[Floats], Floats], reduce: Callable[[Floats], Floats]
) -> TwoWay:
    """Return a function of sums over items of columns of counts, over items and annotators."""
    annotations = annotations_of(votes)
    ballots = np.eye(votes.dataset.n_classes)[annotations.label]
    return two_way_jackknife(annotations.item, annotations.annotator, ballots, columns, reduce)


def agreement_over_people(votes: Votes) -> Mapping[str, TwoWay]:
    """Return how far people agree, with errors over items and annotators.

    ``disagreement`` is the chance that two votes on an item differ, ``alpha`` Krippendorff's, and
    ``alike`` the chance that two annotators differ, each of whom is as likely as another. In its
    errors the weights of annotators are held.
    """
    annotations = annotations_of(votes)
    weights = 1 / np.bincount(annotations.annotator)[annotations.annotator, np.newaxis]
    own = np.eye(votes.dataset.n_classes)[annotations.label]
    weighted = np.concatenate([own * weights, own * weights**2], axis=1)
    return {
        "disagreement": over_people(votes, agreement_columns, mean_disagreement),
        "alpha": over_people(votes, agreement_columns, alpha_of_sums),
        "alike": two_way_jackknife(
            annotations.item, annotations.annotator, weighted, alike_columns, alike_disagreement
        ),
    }


@dataclass(frozen=True, slots=True, eq=False)
class AgreementNearChance:
    """Who agrees with the rest less than half as far beyond chance as the median annotator."""

    is_usual: npt.NDArray[np.bool_]  # ten votes or more that chance does not explain alone
    is_judged: npt.NDArray[np.bool_]  # of these, who has votes enough to be called near chance
    is_near: npt.NDArray[np.bool_]
    median: float  # agreement beyond chance, of the usual; NaN where it is not clearly above 0


def near_chance(agreement: Agreement, enough: int = ENOUGH_VOTES) -> AgreementNearChance:
    """Find annotators whose votes say little of the items, without a gold label.

    They have `enough` votes, and agree with the rest less than half as far beyond chance as the
    median of those with ten votes or more, and surely less than it, by their 95% interval. From
    fewer votes, honest annotators would be among them. Where the median is itself not clearly above
    chance, by three standard errors, nobody stands out.
    """
    usual = (agreement.n_votes >= FEWEST_VOTES) & ~np.isnan(agreement.corrected)
    judged = usual & (agreement.n_votes >= enough)
    values, median = agreement.corrected[usual], np.nan
    if len(values) > 1:
        error = _ERROR_OF_MEDIAN * values.std(ddof=1) / np.sqrt(len(values))
        if np.median(values) > _CLEAR * error:
            median = float(np.median(values))
    low = np.where(judged, agreement.corrected, np.inf) < median / 2
    near = low & (agreement.highest_corrected < median)
    return AgreementNearChance(usual, judged, near, median)


def votes_kept(votes: Votes, kept: npt.NDArray[np.bool_]) -> Votes:
    """Return some of the votes of annotators, on the items that have any of these."""
    annotations = annotations_of(votes)
    counts = np.zeros_like(votes.counts)
    np.add.at(counts, (annotations.item[kept], annotations.label[kept]), 1)
    rows = np.flatnonzero(counts.sum(axis=1))
    return replace(
        votes,
        uids=tuple(votes.uids[row] for row in rows),
        counts=frozen(counts[rows]),
        majority=frozen(counts[rows].argmax(axis=1)),
        given_old_label=None,
        given_old_votes=None,
        texts=(),
        annotations=Annotations(
            np.searchsorted(rows, annotations.item[kept]),
            annotations.annotator[kept],
            annotations.label[kept],
        ),
    )


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

    annotations = annotations_of(votes)
    n_items, k = votes.counts.shape
    n_annotators = int(annotations.annotator.max()) + 1
    # Which annotator gives which label: a row per item, a column for each of both.
    column = annotations.annotator * k + annotations.label
    indicators = csr_array(
        (np.ones(len(column)), (annotations.item, column)), shape=(n_items, n_annotators * k)
    )
    chances = votes.shares
    before = -np.inf
    for _ in range(_MOST_STEPS):
        prior = np.maximum(chances.mean(axis=0), _TINY)
        of_labels = np.maximum(indicators.T @ chances, _TINY).reshape(n_annotators, k, k)
        of_labels /= of_labels.sum(axis=1, keepdims=True)
        logs = np.log(prior) + indicators @ np.log(of_labels).reshape(-1, k)
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

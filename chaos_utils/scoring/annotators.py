"""What each annotator's votes are worth: agreement with the rest, and errors by Dawid and Skene.

Also how far people agree, if annotators are a sample of people, and which annotators agree with the
rest hardly more than by chance.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import OWN
from chaos_utils.datasets.votes import BY_PLACE, Annotations, Ints, Votes, frozen
from chaos_utils.metrics.agreement import (
    agreement_columns,
    alike_columns,
    alike_disagreement,
    alpha_of_sums,
    mean_disagreement,
)
from chaos_utils.metrics.divergence import Floats
from chaos_utils.metrics.jackknife import TwoWay, two_way_jackknife

_TINY = 1e-10  # the share that stands in for 0
_GAIN = 1e-6  # nats per vote: EM stops where a step gains less
_MOST_STEPS = 200
FEWEST_VOTES = 10  # of an annotator who counts towards the median
ENOUGH_VOTES = 100  # of an annotator who may be called near chance
_ERROR_OF_MEDIAN = 1.2533  # standard error of a normal sample's median, over its mean's
_CLEAR = 3  # standard errors above 0


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """How often annotators agree with the others who judged the same items; by annotator."""

    n_votes: Ints  # on items that others have judged too
    observed: Floats  # mean share of the others' votes for the annotator's label; NaN without votes
    error: Floats  # standard error of `observed`, over the annotator's votes; NaN below two
    by_chance: Floats  # `observed`, if the annotator gave the same labels to items at random

    @property
    def corrected(self) -> Floats:
        """Agreement beyond chance, as a share of what is possible; NaN where chance is 1."""
        return self._corrected(self.observed)

    @property
    def highest_corrected(self) -> Floats:
        """Upper end of the 95% interval of `corrected`, over the annotator's votes."""
        return self._corrected(self.observed + 1.96 * self.error)

    def _corrected(self, agreement: Floats) -> Floats:
        room = 1 - self.by_chance
        undefined = np.full(room.shape, np.nan)
        return np.divide(agreement - self.by_chance, room, out=undefined, where=room > _TINY)


def agreement_with_rest(votes: Votes) -> Agreement:
    """Compare each annotator's votes with the other votes on the same items."""
    annotations = annotations_of(votes)
    has_others = votes.n_votes[annotations.item] > 1
    item, annotator, label = (
        annotations.item[has_others],
        annotations.annotator[has_others],
        annotations.label[has_others],
    )
    n_votes = np.bincount(annotator, minlength=int(annotations.annotator.max()) + 1)

    def mean(values: Floats) -> Floats:
        """Return each annotator's mean of values, which have a row per vote."""
        sums = np.zeros((len(n_votes), *values.shape[1:]))
        np.add.at(sums, annotator, values)
        return (sums.T / n_votes).T

    own_votes = np.eye(votes.dataset.n_classes)[label]
    other_shares = (votes.counts[item] - own_votes) / (votes.n_votes[item] - 1)[:, np.newaxis]
    share_agreeing = (other_shares * own_votes).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = mean(share_agreeing)
        by_chance = (mean(own_votes) * mean(other_shares)).sum(axis=1)
        error = np.sqrt(mean((share_agreeing - observed[annotator]) ** 2) / (n_votes - 1))
        return Agreement(n_votes, observed, error, by_chance)


def over_people(
    votes: Votes, columns: Callable[[Floats], Floats], reduce: Callable[[Floats], Floats]
) -> TwoWay:
    """Return a statistic of the votes, with errors over items and annotators.

    `columns` turns counts of labels, a row per item, into columns; `reduce` turns the sums of these
    columns over items into the statistic.
    """
    annotations = annotations_of(votes)
    ballots = np.eye(votes.dataset.n_classes)[annotations.label]
    return two_way_jackknife(annotations.item, annotations.annotator, ballots, columns, reduce)


def agreement_over_people(votes: Votes) -> Mapping[str, TwoWay]:
    """Return how far people agree, with errors over items and annotators.

    ``disagreement`` is the chance that two votes on an item differ. ``alpha`` is Krippendorff's
    alpha. ``alike`` is the chance that two annotators differ, if all annotators are equally likely;
    its errors take the annotators' weights as fixed.
    """
    annotations = annotations_of(votes)
    weights = 1 / np.bincount(annotations.annotator)[annotations.annotator, np.newaxis]
    own_votes = np.eye(votes.dataset.n_classes)[annotations.label]
    weighted = np.concatenate([own_votes * weights, own_votes * weights**2], axis=1)
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

    is_usual: npt.NDArray[np.bool_]  # has ten votes or more, and agreement beyond chance is defined
    is_judged: npt.NDArray[np.bool_]  # usual, with votes enough to be called near chance
    is_near: npt.NDArray[np.bool_]
    median: float  # agreement beyond chance of usual annotators; NaN if not clearly above 0


def near_chance(agreement: Agreement, enough: int = ENOUGH_VOTES) -> AgreementNearChance:
    """Find annotators whose votes say little about the items, without a gold label.

    Such annotators have `enough` votes, since from fewer votes honest annotators would be found
    too. They agree with the rest less than half as far beyond chance as the median of annotators
    with ten votes or more, and their 95% interval lies below the median. If the median itself is
    not clearly above chance, by three standard errors, nobody is found.
    """
    is_usual = (agreement.n_votes >= FEWEST_VOTES) & ~np.isnan(agreement.corrected)
    is_judged = is_usual & (agreement.n_votes >= enough)
    values, median = agreement.corrected[is_usual], np.nan
    if len(values) > 1:
        error = _ERROR_OF_MEDIAN * values.std(ddof=1) / np.sqrt(len(values))
        if np.median(values) > _CLEAR * error:
            median = float(np.median(values))
    is_below_half = np.where(is_judged, agreement.corrected, np.inf) < median / 2
    is_near = is_below_half & (agreement.highest_corrected < median)
    return AgreementNearChance(is_usual, is_judged, is_near, median)


def votes_kept(votes: Votes, is_kept: npt.NDArray[np.bool_]) -> Votes:
    """Return the votes that a mask over `annotations_of` keeps, on the items that then have any."""
    kept = annotations_of(votes).take(is_kept)
    counts = np.zeros_like(votes.counts)
    np.add.at(counts, (kept.item, kept.label), 1)
    rows = np.flatnonzero(counts.sum(axis=1))
    return replace(
        votes,
        uids=tuple(votes.uids[row] for row in rows),
        counts=frozen(counts[rows]),
        majority=frozen(counts[rows].argmax(axis=1)),
        given_old_label=None,
        given_old_votes=None,
        later_counts=None,
        texts=(),
        annotations=replace(kept, item=frozen(np.searchsorted(rows, kept.item))),
        fields=votes.fields_at(rows),
    )


@dataclass(frozen=True, slots=True, eq=False)
class DawidSkene:
    """Items' labels and annotators' errors that make the votes most likely."""

    chances: Floats  # how likely each label is the item's, (n_items, n_classes)
    prior: Floats  # share of items with each label
    errors: Floats  # confusion matrices, (n_annotators, true label, label given)

    @property
    def accuracy(self) -> Floats:
        """Share of items to which each annotator is expected to give the right label."""
        accuracy: Floats = np.einsum("akk,k->a", self.errors, self.prior)
        return accuracy


def dawid_skene(votes: Votes) -> DawidSkene:
    """Estimate each item's label and each annotator's confusion matrix, by EM.

    The model supposes that every item has one right label, and that annotators err independently of
    each other: where people rightly differ, dissent counts as error. EM starts from the vote shares
    and stops when a step gains less than 1e-6 nats per vote, or after 200 steps. Dawid, A. P. and
    Skene, A. M. (1979). Maximum likelihood estimation of observer error-rates using the EM
    algorithm.
    """
    from scipy.sparse import csr_array  # slow to import

    annotations = annotations_of(votes)
    n_items, n_classes = votes.counts.shape
    n_annotators = int(annotations.annotator.max()) + 1
    # Which annotator gives which label: a row per item, a column per annotator and label.
    label_column = annotations.annotator * n_classes + annotations.label
    indicators = csr_array(
        (np.ones(len(label_column)), (annotations.item, label_column)),
        shape=(n_items, n_annotators * n_classes),
    )
    posterior = votes.shares
    previous = -np.inf
    for _ in range(_MOST_STEPS):
        prior = np.maximum(posterior.mean(axis=0), _TINY)
        # By label given and true label until the end: (n_annotators, n_classes, n_classes).
        confusion = np.maximum(indicators.T @ posterior, _TINY).reshape(
            n_annotators, n_classes, n_classes
        )
        confusion /= confusion.sum(axis=1, keepdims=True)
        log_joint = np.log(prior) + indicators @ np.log(confusion).reshape(-1, n_classes)
        highest = log_joint.max(axis=1, keepdims=True)
        posterior = np.exp(log_joint - highest)
        sums = posterior.sum(axis=1, keepdims=True)
        posterior /= sums
        likelihood = float((np.log(sums) + highest).sum()) / len(label_column)
        if likelihood - previous < _GAIN:
            break
        previous = likelihood
    return DawidSkene(posterior, prior, errors=confusion.transpose(0, 2, 1))


def annotations_of(votes: Votes, where: str = "") -> Annotations:
    """Return who gave which vote; raise a ChaosError if that is not known.

    `where` is the file as the reader named it, for the error; by default its name alone.

    These are the votes that `Votes.counts` has: where people were asked in several rounds, their
    first vote on each item. All rounds are in `Votes.annotations`.
    """
    if votes.annotations is None or not len(votes.annotations.item):
        todo = "add a column annotator (pseudonyms will do)" if votes.source.is_own else None
        raise ChaosError(
            f"It is not known who gave which vote on {votes.dataset.title}.",
            where=where or votes.source.name.removeprefix(OWN),
            expected="votes with annotators: a row per vote, or a column that lists them",
            todo=BY_PLACE if votes.dataset.reader.format == "columns" else todo,
        )
    return votes.annotations.first

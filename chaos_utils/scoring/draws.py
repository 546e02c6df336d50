"""Crowds that might have been asked: drawn truths, drawn votes, measures under each draw.

The truth behind an item is not known. It is drawn from its posterior, given the votes and
a prior of any shape that is fitted to all items (`metrics.priors`): taking the votes' own
shares for the truth would count their noise twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.divergence import Floats
from chaos_utils.metrics.measures import EvalBatch, Measure, columns_of
from chaos_utils.metrics.resampling import draw_votes
from chaos_utils.metrics.scores import top_label

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class MonteCarloMeasure:
    """A measure on the same items under several draws of votes."""

    measure: Measure
    columns: Floats  # the measure's columns under each draw, (n_draws, n_items, n_columns)
    weights: Floats  # of the draws' values, (n_draws,); they may be negative

    @classmethod
    def once(cls, measure: Measure, judged: EvalBatch) -> "MonteCarloMeasure":
        """Return a measure of the observed votes: a single draw."""
        return cls(measure, columns_of(measure, judged)[np.newaxis], np.ones(1))

    @classmethod
    def weighted(
        cls, parts: Sequence["MonteCarloMeasure"], weights: npt.ArrayLike
    ) -> "MonteCarloMeasure":
        """Return the weighted sum of a measure's estimates on the same items.

        For a measure that is a mean, the result has a single draw: the weighted sum of the items'
        values.
        """
        measure = parts[0].measure
        scale = np.asarray(weights, dtype=np.float64)
        if measure.is_mean:
            by_item = [np.tensordot(part.weights, part.columns, 1) for part in parts]
            return cls(measure, np.tensordot(scale, np.stack(by_item), 1)[np.newaxis], np.ones(1))
        return cls(
            measure,
            np.concatenate([part.columns for part in parts]),
            np.concatenate([w * part.weights for w, part in zip(scale, parts, strict=True)]),
        )

    def on(self, rows: Ints) -> "MonteCarloMeasure":
        """Return the measure on some of the items."""
        # Laid out as before: sums in another order would differ in the last digit.
        return MonteCarloMeasure(self.measure, self.columns.take(rows, axis=1), self.weights)

    @property
    def values(self) -> Floats:
        """The measure under each draw, shape (n_draws,)."""
        return self.measure.reduce(self.columns.mean(axis=1))

    @property
    def value(self) -> float:
        """The estimate."""
        return float(self.weights @ self.values)

    @property
    def table(self) -> Floats:
        """One row per item, shape (n_items, n_draws * n_columns), to be resampled."""
        n_draws, n_items, n_columns = self.columns.shape
        return self.columns.transpose(1, 0, 2).reshape(n_items, n_draws * n_columns)

    def of_means(self, means: Floats) -> Floats:
        """Turn means of the table's columns into n estimates.

        The means are over items, as of n bootstrap resamples, shape (n, n_draws * n_columns).
        """
        shape = (len(means), len(self.weights), self.columns.shape[2])
        return self.measure.reduce(means.reshape(shape)) @ self.weights


def measure_draws(
    measure: Measure, human: Floats, model: Floats, n_votes: npt.ArrayLike | None = None
) -> MonteCarloMeasure:
    """Compute a measure under each draw; arrays are of shape (n_draws, n_items, n_classes).

    Each draw is judged by itself: gaps in a bin of one draw must not make up for gaps of another.
    """
    n_draws, n_items, n_classes = human.shape
    sizes = None
    if n_votes is not None:
        sizes = np.broadcast_to(np.asarray(n_votes, dtype=np.int64), (n_draws, n_items))
    if measure.by_item:  # all draws at once
        flat = _as_batch(
            human.reshape(-1, n_classes),
            model.reshape(-1, n_classes),
            None if sizes is None else sizes.ravel(),
        )
        columns = columns_of(measure, flat).reshape(n_draws, n_items, -1)
    else:
        votes_by_item = None if sizes is None else sizes[0]
        draws = zip(human, model, strict=True)
        columns = np.stack([measure.columns(_as_batch(h, m, votes_by_item)) for h, m in draws])
    return MonteCarloMeasure(measure, columns, np.full(n_draws, 1 / n_draws))


def _as_batch(human: Floats, model: Floats, n_votes: Ints | None) -> EvalBatch:
    """Return a batch of crowds and predictions, in which labels that tie share an item.

    A drawn crowd has no old label, so its majority stands in.
    """
    majority = top_label(human, ties="first")
    predicted = top_label(model, ties="first")
    return EvalBatch(human, model, predicted, majority, majority, n_votes, ties_share=True)


def draw_crowds(truths: Floats, n_votes: npt.ArrayLike, rng: np.random.Generator) -> Floats:
    """Draw the vote shares of a crowd on each item from each draw of its truth.

    `truths` and shares have shape (n_draws, n_items, n_classes).
    """
    flat = truths.reshape(-1, truths.shape[-1])
    sizes = np.broadcast_to(np.asarray(n_votes, dtype=np.int64), truths.shape[:2]).ravel()
    return (draw_votes(flat, sizes, rng) / sizes[:, np.newaxis]).reshape(truths.shape)

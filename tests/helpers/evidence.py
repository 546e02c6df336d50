"""Votes as analyses take them."""

from dataclasses import replace

import numpy as np

from chaos_utils.analyses.inputs import AnalysisInputs, DatasetInputs, Lazy, LazyVotes
from chaos_utils.base.inputs import merged
from chaos_utils.datasets.votes import frozen


def evidence_on(all_votes, systems=None):
    """Return the evidence on some datasets: votes, and the systems that a function gives for each.

    Without a function, predictions are not available.
    """
    return AnalysisInputs(
        tuple(
            DatasetInputs(
                (one.dataset,), (one,), None if systems is None else (tuple(systems(one)),)
            )
            for one in all_votes
        )
    )


def as_released(votes, systems=None, *, of_votes=None, of_systems=None):
    """Return votes and systems taken for the package's own, which records may stand for.

    Their inputs are what was read, or those given.
    """
    name = votes.dataset.name
    given = LazyVotes(
        of_votes or votes.inputs, lambda: votes, ("votes", name), dataset=votes.dataset
    )
    if systems is None:
        return DatasetInputs((votes.dataset,), (given,), None)
    inputs = of_systems or merged(*(one.inputs for one in systems))
    of_them = Lazy(inputs, lambda: tuple(systems), ("systems", name))
    return DatasetInputs((votes.dataset,), (given,), (of_them,))


def evidence_of(votes, systems=(), **more):
    """Return the evidence on a dataset: its votes and these systems."""
    return DatasetInputs((votes.dataset,), (votes,), (tuple(systems),), **more)


def first_items(votes, n):
    """Return the votes on the first items alone."""
    fields = ("uids", "counts", "majority", "given_old_label", "given_old_votes", "texts")
    known = {name: getattr(votes, name) for name in fields}
    return replace(votes, **{name: all_[:n] for name, all_ in known.items() if all_ is not None})


def with_counts(votes, counts):
    """Return other votes in their place, on items without old labels and texts."""
    return replace(
        votes, uids=tuple(f"item-{k}" for k in range(len(counts))), counts=frozen(counts),
        majority=frozen(counts.argmax(axis=1)), given_old_label=None, given_old_votes=None,
        texts=(),
    )  # fmt: skip


def drawn(votes, truth, n_votes, seed=0):
    """Return votes that are drawn from these distributions in the place of others."""
    return with_counts(votes, np.random.default_rng(seed).multinomial(n_votes, truth))


def on_items(system, rows):
    """Return a system's predictions on some of its items, in this order."""
    return replace(
        system, uids=tuple(system.uids[row] for row in rows),
        probabilities=system.probabilities[rows], predicted=system.predicted[rows],
    )  # fmt: skip

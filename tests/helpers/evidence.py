"""Votes as analyses take them."""

from chaos_utils.analyses.evidence import Evidence, ReleasedVotes
from chaos_utils.base.inputs import Later, merged


def evidence_on(all_votes):
    """Return the evidence on some datasets: their votes, and no systems."""
    return [Evidence((votes.dataset,), (votes,), None) for votes in all_votes]


def as_released(votes, systems=None, *, of_votes=None, of_systems=None):
    """Return votes and systems taken for the package's own, which records may stand for.

    Their inputs are what was read, or those given.
    """
    given = ReleasedVotes(of_votes or votes.inputs, lambda: votes, votes.dataset)
    if systems is None:
        return Evidence((votes.dataset,), (given,), None)
    inputs = of_systems or merged(*(one.inputs for one in systems))
    return Evidence((votes.dataset,), (given,), (Later(inputs, lambda: tuple(systems)),))

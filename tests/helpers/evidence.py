"""Votes as analyses take them."""

from chaos_utils.analyses.evidence import Evidence


def evidence_on(all_votes):
    """Return the evidence on some datasets: their votes, and no systems."""
    return [Evidence((votes.dataset,), (votes,), None) for votes in all_votes]

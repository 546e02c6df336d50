"""Votes as analyses take them."""

from dataclasses import replace

from chaos_utils.analyses.evidence import Evidence


def evidence_on(all_votes):
    """Return the evidence on some datasets: their votes, and no systems."""
    return [Evidence((votes.dataset,), (votes,), None) for votes in all_votes]


def first_items(votes, n):
    """Return the votes on the first items alone."""
    fields = ("uids", "counts", "majority", "given_old_label", "given_old_votes", "texts")
    known = {name: getattr(votes, name) for name in fields}
    return replace(votes, **{name: all_[:n] for name, all_ in known.items() if all_ is not None})

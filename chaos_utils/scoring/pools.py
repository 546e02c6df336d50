"""Datasets shown as a single dataset: their votes pooled, and systems that predict all of them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from chaos_utils.base.inputs import merged
from chaos_utils.datasets.votes import Votes, frozen
from chaos_utils.scoring.system import System


def pool_votes(all_votes: Sequence[Votes]) -> Votes:
    """Return the votes on several datasets with the same labels as votes on a single dataset.

    The datasets' names are joined by ``+``; only counts, majorities and old labels are kept. The
    votes on a single dataset are returned unchanged.
    """
    first = all_votes[0]
    if len(all_votes) == 1:
        return first
    old_labels = [votes.given_old_label for votes in all_votes if votes.given_old_label is not None]
    name = "+".join(votes.dataset.name for votes in all_votes)
    return Votes(
        dataset=first.dataset.model_copy(update={"name": name}),
        uids=tuple(f"{votes.dataset.name}/{uid}" for votes in all_votes for uid in votes.uids),
        counts=frozen(np.concatenate([votes.counts for votes in all_votes])),
        majority=frozen(np.concatenate([votes.majority for votes in all_votes])),
        source=first.source,
        given_old_label=frozen(np.concatenate(old_labels))
        if len(old_labels) == len(all_votes)
        else None,
    )


def pool_systems(
    all_votes: Sequence[Votes], all_systems: Sequence[Sequence[System]]
) -> list[System]:
    """Return the systems that predict each of several datasets under one name, for `pool_votes`."""
    if len(all_votes) == 1:
        return list(all_systems[0])
    by_name = [{system.name: system for system in systems} for systems in all_systems]
    dataset = pool_votes(all_votes).dataset
    pooled = []
    for name, first in by_name[0].items():
        parts = [systems[name] for systems in by_name if name in systems]
        if len(parts) < len(by_name):
            continue
        for votes, system in zip(all_votes, parts, strict=True):
            system.aligned_to(votes)  # raises if the system has learned from these votes
        pooled.append(
            replace(
                first,
                dataset=dataset,
                uids=tuple(
                    f"{system.dataset.name}/{uid}" for system in parts for uid in system.uids
                ),
                probabilities=np.concatenate([system.probabilities for system in parts]),
                predicted=np.concatenate([system.predicted for system in parts]),
                stated=all(system.stated for system in parts),
                inputs=merged(*(system.inputs for system in parts)),
            )
        )
    return pooled

"""Whether a system may stand in for one of the annotators of a dataset."""

import numpy as np

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.replacement import Replacement, alternative_annotator_test
from chaos_utils.scoring.human_equivalents import refusal
from chaos_utils.scoring.system import System


def replacement_test(
    votes: Votes,
    system: System,
    *,
    epsilon: float,
    ordered: bool | None = None,
    q: float = 0.05,
    fewest_items: int = 30,
) -> Replacement:
    """Test whether a system agrees with people as well as any one annotator does.

    Parameters
    ----------
    votes : Votes
        With annotators.
    system : System
        Its labels count, not its probabilities.
    epsilon, q, fewest_items
        As for `chaos_utils.metrics.replacement.alternative_annotator_test`.
    ordered : bool, optional
        Whether agreement counts the steps between labels; by default where the dataset's labels
        stand in an order.

    Returns
    -------
    Replacement
        Of the annotators of the items that the system covers, by their running number.

    Raises
    ------
    ChaosError
        If the votes have no annotators, none of them has enough items, or the system was made
        from these votes.
    """
    given = votes.annotations
    if given is None:
        raise ChaosError(
            f"{votes.dataset.title} does not say who gave which label.",
            where=votes.source.name,
            expected="votes with annotators, such as a long votes file with a column for them",
        )
    reason = refusal(votes, system)
    if reason:
        raise ChaosError(
            f"{system.name!r} cannot stand in for an annotator: it was {reason}.",
            where=votes.dataset.title,
        )
    rows = system.rows_in(votes)
    places = np.full(len(votes), -1)
    places[rows] = np.arange(len(rows))
    covered = places[given.item] >= 0
    try:
        return alternative_annotator_test(
            places[given.item[covered]],
            given.annotator[covered],
            given.label[covered],
            system.aligned_to(votes).predicted,
            n_classes=votes.dataset.n_classes,
            epsilon=epsilon,
            ordered=votes.dataset.ordered if ordered is None else ordered,
            q=q,
            fewest_items=fewest_items,
        )
    except ValueError as fault:
        raise ChaosError(
            "The alternative annotator test cannot be made.",
            where=votes.dataset.title,
            found=str(fault),
        ) from fault

"""The items of a dataset cut in two: examples for tests, and items to be judged."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.votes import Votes

UNANIMOUS = 0.95  # the share of votes on one label that a unanimous example must exceed

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Materials:
    """The items that a collection works with: unanimous examples, and items to be judged.

    No item is both. `pool`, of shape (n_pool, k), has the shares of people's answers to each
    unanimous example; `items`, of shape (n_items, k), has the true distribution of each item to be
    judged, as far as the data tells. Rows sum to 1.
    """

    dataset: Dataset
    pool_uids: tuple[str, ...]
    pool: Floats
    item_uids: tuple[str, ...]
    items: Floats

    @property
    def expected(self) -> npt.NDArray[np.int64]:
        """The right label of each unanimous example, shape (n_pool,)."""
        return self.pool.argmax(axis=1)


def is_unanimous(votes: Votes, bar: float = UNANIMOUS) -> npt.NDArray[np.bool_]:
    """Return which items have a share of their votes above the bar on one label."""
    return votes.shares.max(axis=1) > bar


def pool_of(
    dataset: Dataset, all_votes: Iterable[Votes], bar: float = UNANIMOUS
) -> dict[str, Floats]:
    """Return the unanimous examples that a dataset's annotators are tested with: shares by uid.

    Datasets with the same labels share a pool and a test, as SNLI and MNLI did: all datasets in
    `all_votes` with the labels of `dataset` lend their examples, in the book's order.
    """
    lenders = [votes for votes in all_votes if votes.dataset.labels == dataset.labels]
    lenders.sort(key=lambda votes: votes.dataset.in_book)
    return {
        uid: shares
        for votes in lenders
        for uid, shares, unanimous in zip(
            votes.uids, votes.shares, is_unanimous(votes, bar), strict=True
        )
        if unanimous
    }


def cut(
    votes: Votes, all_votes: Iterable[Votes], n_items: int, bar: float = UNANIMOUS, seed: int = 0
) -> Materials:
    """Cut a dataset into unanimous examples and items to be judged.

    The paper's pool was not released, so items of ChaosNLI stand in for it; the datasets in
    `all_votes` lend them, as in `pool_of`. If fewer than `n_items` are left to be judged, some
    occur more than once.
    """
    if n_items < 1:
        raise ChaosError("There is nothing to judge.", found=n_items, expected="at least 1 item")
    pool = pool_of(votes.dataset, all_votes, bar)
    judged_rows = np.flatnonzero(~is_unanimous(votes, bar))
    if not pool or not len(judged_rows):
        raise ChaosError(
            "These items cannot be cut into unanimous examples and items to be judged.",
            where=votes.source.name,
            found=f"{len(pool)} items with more than {bar:.0%} of their votes on one label, "
            f"and {len(judged_rows)} others",
            expected="some of both",
            todo="choose another bar",
        )
    order = np.resize(np.random.default_rng(seed).permutation(judged_rows), n_items)
    return Materials(
        dataset=votes.dataset,
        pool_uids=tuple(pool),
        pool=np.array(list(pool.values())),
        item_uids=tuple(votes.uids[row] for row in order),
        items=votes.shares[order],
    )

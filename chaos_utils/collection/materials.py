"""What is judged and what is tested with: the items of a dataset, cut in two."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.votes import Votes

UNANIMOUS = 0.95

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Materials:
    """The items that a collection works with: unanimous examples, and items to be judged.

    No item is both. `pool` is how people answer the unanimous examples, and `items` the true
    distribution of each item to be judged, as far as the data knows it; rows sum to 1.
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
    """Return which items have more than a share of votes, the bar, on one label."""
    return votes.shares.max(axis=1) > bar


def pool_of(
    dataset: Dataset, all_votes: Iterable[Votes], bar: float = UNANIMOUS
) -> dict[str, Floats]:
    """Return the unanimous examples that a dataset's annotators are tested with: shares by uid.

    Datasets with the same labels share a pool and a test, as SNLI and MNLI did: `all_votes` are
    those that may lend examples, which stand in the book's order.
    """
    lending = [votes for votes in all_votes if votes.dataset.labels == dataset.labels]
    lending.sort(key=lambda votes: votes.dataset.in_book)
    return {
        uid: shares
        for votes in lending
        for uid, shares, fits in zip(
            votes.uids, votes.shares, is_unanimous(votes, bar), strict=True
        )
        if fits
    }


def cut(
    votes: Votes, all_votes: Iterable[Votes], n_items: int, bar: float = UNANIMOUS, seed: int = 0
) -> Materials:
    """Cut a dataset into unanimous examples and items to be judged.

    The papers' pool was not released, so items of ChaosNLI stand in for it: `all_votes` are those
    that may lend some, as in `pool_of`. Where fewer than `n_items` are left to be judged, some
    stand there twice.
    """
    if n_items < 1:
        raise ChaosError("There is nothing to judge.", found=n_items, expected="at least 1 item")
    pool = pool_of(votes.dataset, all_votes, bar)
    judged = np.flatnonzero(~is_unanimous(votes, bar))
    if not pool or not len(judged):
        raise ChaosError(
            "These items cannot be cut into unanimous examples and items to be judged.",
            where=votes.source.name,
            found=f"{len(pool)} items with more than {bar:.0%} of their votes on one label, "
            f"and {len(judged)} others",
            expected="some of both",
            todo="choose another bar",
        )
    order = np.resize(np.random.default_rng(seed).permutation(judged), n_items)
    return Materials(
        dataset=votes.dataset,
        pool_uids=tuple(pool),
        pool=np.array(list(pool.values())),
        item_uids=tuple(votes.uids[row] for row in order),
        items=votes.shares[order],
    )

"""What is judged and what is tested with: the items of a task, cut in two."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import Task
from chaos_utils.datasets.votes import Opinions

UNANIMOUS = 0.95

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Materials:
    """The items that a collection works with.

    Attributes
    ----------
    task : Task
        Whose items are judged.
    pool_uids, item_uids : tuple of str
        Unanimous examples, and the items to be judged. No item is both.
    pool : ndarray of float, shape (n_pool, k)
        How people answer the unanimous examples; rows sum to 1.
    items : ndarray of float, shape (n_items, k)
        The true distribution of each item to be judged, as far as the data knows it.
    """

    task: Task
    pool_uids: tuple[str, ...]
    pool: Floats
    item_uids: tuple[str, ...]
    items: Floats

    @property
    def expected(self) -> npt.NDArray[np.int64]:
        """The right label of each unanimous example, shape (n_pool,)."""
        return self.pool.argmax(axis=1)

    @property
    def n_repeated(self) -> int:
        """How many of the items to be judged stand there once more, for want of others."""
        return len(self.item_uids) - len(set(self.item_uids))


def is_unanimous(opinions: Opinions, bar: float = UNANIMOUS) -> npt.NDArray[np.bool_]:
    """Return which items have more than a share of votes on one label.

    Parameters
    ----------
    opinions : Opinions
    bar : float
        The share, in (0, 1).

    Returns
    -------
    ndarray of bool, shape (n_items,)
    """
    return opinions.shares.max(axis=1) > bar


def pool_of(task: Task, datasets: Iterable[Opinions], bar: float = UNANIMOUS) -> dict[str, Floats]:
    """Return the unanimous examples that a task's annotators are tested with.

    Tasks with the same labels share a pool and a test, as SNLI and MNLI did.

    Parameters
    ----------
    task : Task
        Whose items are judged.
    datasets : iterable of Opinions
        Those that may lend examples.
    bar : float
        Share of votes on one label that an example must exceed, in (0, 1).

    Returns
    -------
    dict of ndarray of float, shape (k,)
        Shares of the votes on each example, by its uid.
    """
    lending = [one for one in datasets if one.task.labels == task.labels]
    return {
        uid: shares
        for one in lending
        for uid, shares, fits in zip(one.uids, one.shares, is_unanimous(one, bar), strict=True)
        if fits
    }


def cut(
    opinions: Opinions,
    datasets: Sequence[Opinions],
    *,
    n_items: int | None = None,
    bar: float = UNANIMOUS,
    seed: int = 0,
) -> Materials:
    """Cut a dataset into unanimous examples and items to be judged.

    The papers' pool was not released, so items of ChaosNLI stand in for it.

    Parameters
    ----------
    opinions : Opinions
        Whose items are judged.
    datasets : sequence of Opinions
        Those that may lend unanimous examples, as in `pool_of`.
    n_items : int, optional
        How many items to judge, at least 1: fewer are drawn; for more, items stand in twice.
        By default as many as the dataset has, so that the unanimous ones are made up for.
    bar : float
        Share of votes on one label that a unanimous example must exceed, in (0, 1).
    seed : int
        Seed of the order of items.

    Returns
    -------
    Materials

    Raises
    ------
    ChaosError
        If no item exceeds the bar, or all do; if no item is wanted.
    """
    n_items = len(opinions) if n_items is None else n_items
    if n_items < 1:
        raise ChaosError("There is nothing to judge.", found=n_items, expected="at least 1 item")
    pool = pool_of(opinions.task, datasets, bar)
    judged = np.flatnonzero(~is_unanimous(opinions, bar))
    if not pool or not len(judged):
        raise ChaosError(
            "These items cannot be cut into unanimous examples and items to be judged.",
            where=opinions.source.name,
            found=f"{len(pool)} items with more than {bar:.0%} of their votes on one label, "
            f"and {len(judged)} others",
            expected="some of both",
            todo="choose another bar",
        )
    order = np.resize(np.random.default_rng(seed).permutation(judged), n_items)
    return Materials(
        task=opinions.task,
        pool_uids=tuple(pool),
        pool=np.array(list(pool.values())),
        item_uids=tuple(opinions.uids[row] for row in order),
        items=opinions.shares[order],
    )

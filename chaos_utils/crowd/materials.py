"""What is judged and what is tested with: the items of a task, cut in two."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from chaos_utils.data.opinions import Opinions, load_opinions
from chaos_utils.errors import ChaosError
from chaos_utils.tasks import Task, get_task

UNANIMOUS = 0.95
_POOLED = ("snli", "mnli")  # they shared one pool of unanimous examples, and one test

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


def materials_of(
    task: str,
    data: str = "auto",
    *,
    n_items: int | None = None,
    bar: float = UNANIMOUS,
    seed: int = 0,
) -> Materials:
    """Cut a dataset into unanimous examples and items to be judged.

    The papers' pool was not released, so items of ChaosNLI stand in for it. SNLI and MNLI
    share a pool.

    Parameters
    ----------
    task : {'snli', 'mnli', 'alphanli'}
        Which items are judged.
    data : str
        As in `load_opinions`.
    n_items : int, optional
        How many items to judge: fewer are drawn; for more, items stand in twice. By
        default as many as the dataset has, so that the unanimous ones are made up for.
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
        If no item exceeds the bar, or all do.
    """
    of_pool = [load_opinions(name, data) for name in _POOLED if task in _POOLED]
    judged = next((one for one in of_pool if one.task.name == task), None)
    judged = judged or load_opinions(task, data)
    return cut(judged, of_pool or [judged], n_items=n_items, bar=bar, seed=seed)


def cut(
    opinions: Opinions,
    of_pool: Sequence[Opinions],
    *,
    n_items: int | None = None,
    bar: float = UNANIMOUS,
    seed: int = 0,
) -> Materials:
    """Do what `materials_of` does, with opinions at hand; those of the pool may be of two tasks.

    Parameters
    ----------
    opinions : Opinions
        Whose items are judged.
    of_pool : sequence of Opinions
        Those that lend unanimous examples.
    n_items, bar, seed
        As in `materials_of`.

    Returns
    -------
    Materials

    Raises
    ------
    ChaosError
        As `materials_of` does.
    """
    chosen = [(one, np.flatnonzero(is_unanimous(one, bar))) for one in of_pool]
    judged = np.flatnonzero(~is_unanimous(opinions, bar))
    n_pool = sum(len(rows) for _, rows in chosen)
    if not n_pool or not len(judged):
        raise ChaosError(
            "These items cannot be cut into unanimous examples and items to be judged.",
            where=opinions.source.name,
            found=f"{n_pool} items with more than {bar:.0%} of their votes on one label, "
            f"and {len(judged)} others",
            expected="some of both",
            todo="choose another bar",
        )
    order = np.random.default_rng(seed).permutation(judged)
    order = np.resize(order, n_items or len(opinions))
    return Materials(
        task=get_task(opinions.task.name),
        pool_uids=tuple(one.uids[row] for one, rows in chosen for row in rows),
        pool=np.concatenate([one.shares[rows] for one, rows in chosen]),
        item_uids=tuple(opinions.uids[row] for row in order),
        items=opinions.shares[order],
    )

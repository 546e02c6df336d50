"""What the page that lets a reader annotate shows: items to judge, and examples to be tested with.

The papers' pool of unanimous examples was not released. Items of ChaosNLI on which nearly all of
the hundred agree stand in for it, and are kept out of the items to judge.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.datasets.votes import Opinions
from chaos_utils.metrics.divergence import entropy
from chaos_utils.publish.scripts import compact

N_ITEMS = 300


def material(
    datasets: Sequence[Opinions],
    is_unanimous: Callable[[Opinions], npt.NDArray[np.bool_]],
    *,
    n_items: int = N_ITEMS,
    seed: int = 0,
) -> dict[str, Any]:
    """Return the items of each task, and the pools of unanimous examples.

    Parameters
    ----------
    datasets : sequence of Opinions
        The votes on each task. Tasks that have their labels in common share a pool.
    is_unanimous : callable
        Says of which items nearly all votes agree, so that they can serve as examples.
    n_items : int
        How many items of a task to draw, where it has as many: at equal distances along the
        items in order of entropy.
    seed : int
        Seed of where along them the draw starts.

    Returns
    -------
    dict
        ``tasks``: by name ``short``, ``labels``, ``codes``, ``fields`` (of the texts), ``pool``
        and ``items``; ``pools``: by name the examples; ``digest`` of all this. An item or example
        is ``uid``, ``votes`` (by label) and ``texts`` (by field).
    """
    pool_of = {opinions.task.codes: opinions.task.name for opinions in reversed(datasets)}
    pools: dict[str, list[Any]] = {name: [] for name in pool_of.values()}
    tasks: dict[str, Any] = {}
    for opinions in datasets:
        task, unanimous = opinions.task, is_unanimous(opinions)
        pool = pool_of[task.codes]
        pools[pool] += _entries(opinions, np.flatnonzero(unanimous))
        tasks[task.name] = {
            "short": task.short,
            "labels": task.labels,
            "codes": task.codes,
            "fields": task.text_fields,
            "pool": pool,
            "items": _entries(opinions, _draw(opinions, ~unanimous, n_items, seed)),
        }
    content = {"tasks": tasks, "pools": pools}
    return content | {"digest": hashlib.sha256(compact(content).encode()).hexdigest()[:16]}


def _draw(
    opinions: Opinions, eligible: npt.NDArray[np.bool_], n: int, seed: int
) -> npt.NDArray[np.intp]:
    rows = np.flatnonzero(eligible)
    # Equal numbers of votes may differ in the last digit of their entropy.
    bits = entropy(opinions.shares[rows], unit="bits").round(10)
    rows = rows[np.argsort(bits, kind="stable")]
    n = min(n, len(rows))
    start = np.random.default_rng(seed).random()
    places = (np.arange(n) + start) * len(rows) / n
    return rows[places.astype(int)]


def _entries(opinions: Opinions, rows: npt.NDArray[np.intp]) -> list[dict[str, Any]]:
    return [
        {
            "uid": opinions.uids[row],
            "votes": opinions.votes[row].tolist(),
            "texts": [opinions.texts[row][field].strip() for field in opinions.task.text_fields],
        }
        for row in rows
    ]

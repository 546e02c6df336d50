"""The items whose votes the title page lets a reader guess, and how far off other guesses are.

All numbers that the page shows are computed here, except those of the reader's own guess.
"""

from math import comb
from typing import Any

import numpy as np

from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.divergence import entropy, total_variation
from chaos_utils.scoring.system import System

N_MORE = 5
_DIGITS = 4


def rounds(votes: Votes, uid: str, system: System | None) -> dict[str, Any]:
    """Return the items to guess: one to begin with, and `N_MORE` from clear to contested.

    The further items are the middles of `N_MORE` equal parts of all items in order of their votes'
    entropy; they are returned in the order of their uids. The first is the item `uid`; on the
    sample, the most contested item. `system` is left out unless it predicts all of them.

    Returns
    -------
    dict
        * ``labels``, and their ``colours``, each for light and dark pages
        * ``titles`` of the texts
        * ``pairs``, the items: each has ``texts``, ``votes`` (percent, by label) and ``others``,
          a list for each other guess: its name, its percent by label (None if not shown), and how
          many of a hundred votes it misplaces
    """
    dataset = votes.dataset
    # Equal numbers of votes may differ in the last digit of their entropy.
    order = entropy(votes.shares, unit="bits").round(10).argsort(kind="stable")
    first = order[-1] if votes.source.synthetic else votes.index(uid)
    candidates = order[order != first]
    positions = (np.arange(N_MORE) + 0.5) * len(candidates) / N_MORE
    more = sorted(candidates[positions.astype(int)], key=lambda row: votes.uids[row])
    rows = [int(first), *map(int, more)]
    if system is not None and not {votes.uids[row] for row in rows} <= set(system.uids):
        system = None
    return {
        "labels": [label.name for label in dataset.classes],
        "colours": [[label.colour.light, label.colour.dark] for label in dataset.classes],
        "titles": list(dataset.text_titles),
        "pairs": [_item_summary(votes, row, system) for row in rows],
    }


def _item_summary(votes: Votes, item_index: int, system: System | None) -> dict[str, Any]:
    """Return an item's texts and votes, and how many of 100 votes other guesses misplace.

    They are those of a system, if any, a uniform guess, and five people.
    """
    shares = votes.shares[item_index]
    predictions = {}
    if system is not None:
        row = system.uids.index(votes.uids[item_index])
        predictions[system.family] = system.probabilities[row]
    predictions["a uniform guess"] = np.full(len(shares), 1 / len(shares))
    guesses = [
        [name, _percent(guess), round(100 * float(total_variation([shares], [guess])[0]))]
        for name, guess in predictions.items()
    ]
    misplaced_by_five = misplaced_by_people(votes.counts[item_index].tolist(), 5)
    return {
        "texts": [text.strip() for text in votes.texts[item_index].values()],
        "votes": _percent(shares),
        "others": [*guesses, ["five random people", None, round(misplaced_by_five)]],
    }


def misplaced_by_people(counts: list[int], n: int) -> float:
    """Return how many of a hundred votes the shares of `n` people misplace: the exact mean.

    The people are drawn without replacement from those whose votes are in `counts`, by label. How
    many of them gave a label is hypergeometric.
    """
    total = sum(counts)
    return 50 * sum(
        comb(count, k) * comb(total - count, n - k) / comb(total, n) * abs(k / n - count / total)
        for count in counts
        for k in range(n + 1)
    )


def _percent(shares: Any) -> list[float]:
    return [round(100 * float(share), _DIGITS) for share in shares]

"""The pairs on whose votes the title page lets a reader guess, and how far off others are.

All numbers that the page shows are computed here, but those of the reader's own guess.
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
    """Return a pair to begin with, and `N_MORE` that span the items from clear to contested.

    Those are the middles of as many equal parts of the items in order of the entropy of their
    votes, and come in the order of their uids. On the sample, the most contested item begins. A
    system that does not predict all of them is left out.

    Returns
    -------
    dict
        ``labels``; ``colours`` (of the labels, in the light and in the dark look); ``titles`` (of
        the texts); ``pairs``: ``texts``, ``votes`` (of a hundred, by label), ``others``. An other
        is a name, shares of a hundred by label (None where there are none to show), and how many
        of a hundred votes it misplaces.
    """
    dataset = votes.dataset
    # Equal numbers of votes may differ in the last digit of their entropy.
    order = entropy(votes.shares, unit="bits").round(10).argsort(kind="stable")
    first = order[-1] if votes.source.synthetic else votes.index(uid)
    candidates = order[order != first]
    places = (np.arange(N_MORE) + 0.5) * len(candidates) / N_MORE
    more = sorted(candidates[places.astype(int)], key=lambda place: votes.uids[place])
    chosen = [int(first), *map(int, more)]
    if system is not None and not {votes.uids[place] for place in chosen} <= set(system.uids):
        system = None
    return {
        "labels": [label.name for label in dataset.classes],
        "colours": [[label.colour.light, label.colour.dark] for label in dataset.classes],
        "titles": list(dataset.text_titles),
        "pairs": [_pair(votes, place, system) for place in chosen],
    }


def _pair(votes: Votes, place: int, system: System | None) -> dict[str, Any]:
    shares = votes.shares[place]
    guesses = {"a uniform guess": np.full(len(shares), 1 / len(shares))}
    if system is not None:
        predicted = system.probabilities[system.uids.index(votes.uids[place])]
        guesses = {system.family: predicted} | guesses
    guess_rows = [
        [name, _percent(guess), round(100 * float(total_variation([shares], [guess])[0]))]
        for name, guess in guesses.items()
    ]
    of_five = misplaced_by_people(votes.counts[place].tolist(), 5)
    return {
        "texts": [text.strip() for text in votes.texts[place].values()],
        "votes": _percent(shares),
        "others": [*guess_rows, ["five random people", None, round(of_five)]],
    }


def misplaced_by_people(counts: list[int], n: int) -> float:
    """Return how many of a hundred votes `n` of the voters misplace on average, exactly.

    They are drawn from the voters without replacement, and their shares set beside all votes.
    """
    total = sum(counts)
    return 50 * sum(
        comb(k, m) * comb(total - k, n - m) / comb(total, n) * abs(m / n - k / total)
        for k in counts
        for m in range(n + 1)
    )


def _percent(shares: Any) -> list[float]:
    return [round(100 * float(share), _DIGITS) for share in shares]

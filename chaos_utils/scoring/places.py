"""The places that a system may have among others, by what they are worth in people.

`chaos evaluate --places` and the page that judges a reader's file say the same: both resample the
items in the order of their uids, by `CountedDraws`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.datasets.splits import folds_of, item_groups
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.divergence import Floats
from chaos_utils.metrics.ranks import RankSets, rank_sets
from chaos_utils.scoring.recalibration import too_few_to_recalibrate
from chaos_utils.scoring.scores import ScoreRow
from chaos_utils.scoring.system import System
from chaos_utils.scoring.worth import PEOPLE, PEOPLE_RECALIBRATED, Worth, worth

RANKINGS = 4000  # resamples of the items, for places
COVERAGE = 0.95  # share of a pool's items that each of its systems covers
RANKED_BY = (PEOPLE_RECALIBRATED, PEOPLE)
SCALE = 10_000  # systems are placed by distances in whole ten-thousandths, which a page can load


class CountedDraws(np.random.Generator):
    """A source of randomness that a page's script can repeat: a counter whose bits are mixed.

    Its integers are those of `draw` in ``book/_evaluate/measures.js``: steps of 2³² divided by the
    golden ratio, mixed by the finalizer of MurmurHash3. It draws nothing but these.

    Parameters
    ----------
    seed : int
        Where the counter begins.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self._state = np.uint32(seed)

    def integers(  # type: ignore[override]
        self, high: int, *, size: tuple[int, int], dtype: npt.DTypeLike
    ) -> npt.NDArray[Any]:
        """Return integers from 0 to `high` − 1, row by row, of shape `size` and type `dtype`."""
        counter = np.arange(1, size[0] * size[1] + 1, dtype=np.uint32) * np.uint32(0x9E3779B9)
        counter += self._state
        self._state = counter[-1]
        counter ^= counter >> 16
        counter *= np.uint32(0x85EBCA6B)
        counter ^= counter >> 13
        counter *= np.uint32(0xC2B2AE35)
        counter ^= counter >> 16
        return (counter / 2**32 * high).astype(dtype).reshape(size)


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Systems that cover the same items of a dataset, but for a few.

    Attributes
    ----------
    name : str
        What the scoreboard calls the items, such as ``all``.
    votes : Votes
        On these items.
    systems : sequence of System
    worths : sequence of Worth
        What each of the systems is worth on these items.
    about : sequence of mapping
        What the scoreboard says of each.
    """

    name: str
    votes: Votes
    systems: Sequence[System]
    worths: Sequence[Worth]
    about: Sequence[Mapping[str, Any]]

    def is_covered_by(self, system: System) -> bool:
        """Return whether a system predicts enough of these items to be placed."""
        return len(system.rows_in(self.votes)) >= COVERAGE * len(self.votes)


@dataclass(frozen=True, slots=True, eq=False)
class Placing:
    """The places that a system may have in a pool, all of whose systems are placed with it.

    Attributes
    ----------
    pool : Pool
    worth : Worth
        Of the system, on the pool's items.
    sets : mapping from str to RankSets
        By the estimates in `RANKED_BY` that the system has. The system is the last one of each; the
        others are those of `ranked`.
    """

    pool: Pool
    worth: Worth
    sets: Mapping[str, RankSets]

    def columns(self, name: str) -> ScoreRow:
        """Return ``place_best``, ``place_worst`` and ``n_placed`` by one of `RANKED_BY`.

        Empty where the system has no places by it.
        """
        if name not in self.sets:
            return {}
        best, worst = self.sets[name].best, self.sets[name].worst
        return {"place_best": int(best[-1]), "place_worst": int(worst[-1]), "n_placed": len(best)}


def ranked(worths: Sequence[Worth], name: str) -> list[int]:
    """Return the indices of what has distances by an estimate: as it is, one label has none."""
    return [
        index
        for index, result in enumerate(worths)
        if name in result.by_item and name in result.shown
    ]


def distances(
    votes: Votes, systems: Sequence[System], worths: Sequence[Worth], name: str
) -> Floats:
    """Return distances to people by an estimate, shape (n_items, n_systems); NaN if not covered."""
    table = np.full((len(votes), len(systems)), np.nan)
    for column, (system, result) in enumerate(zip(systems, worths, strict=True)):
        table[system.rows_in(votes), column] = result.by_item[name]
    return table


def by_uid(votes: Votes) -> Ints:
    """Return the rows of votes in the order of their uids."""
    return np.array(sorted(range(len(votes)), key=votes.uids.__getitem__), dtype=np.int64)


def place(pool: Pool, system: System, *, n_resamples: int = RANKINGS, seed: int = 0) -> Placing:
    """Set a system among those of a pool, by the items that each pair shares.

    A system with the distances of another, such as a copy, shares its places.

    Parameters
    ----------
    pool : Pool
    system : System
        One that covers the pool's items (`Pool.is_covered_by`), and is none of its systems.
    n_resamples : int
        Resamples of the items; see `metrics.ranks.rank_sets`.
    seed : int
        Of the resamples.
    """
    own = worth(pool.votes, system, n_resamples=0)
    sets = {}
    for name in RANKED_BY:
        if ranked([own], name):
            others = ranked(pool.worths, name)
            systems = [*(pool.systems[k] for k in others), system]
            worths = [*(pool.worths[k] for k in others), own]
            table = _whole(distances(pool.votes, systems, worths, name)[by_uid(pool.votes)])
            draws = CountedDraws(seed)
            sets[name] = rank_sets(table / SCALE, n_resamples, draws, highest_first=False)
    return Placing(pool, own, sets)


def has_places(votes: Votes) -> bool:
    """Return whether there are enough items to recalibrate systems, and so to place them."""
    return not too_few_to_recalibrate(len(votes), votes.dataset.n_classes)


def page_pool(pool: Pool, order: Sequence[str]) -> dict[str, Any]:
    """Return what a page needs of a pool to place a reader's system in it.

    Parameters
    ----------
    pool : Pool
    order : sequence of str
        All uids of the dataset, as the page has them.

    Returns
    -------
    dict
        * ``name``; ``scale``, this module's; ``items``, the positions in `order` of its items;
          ``folds``, the digit of each item's fold, as a string
        * ``systems``: of each ``about``; what it is worth, by `RANKED_BY`, as it may be shown; and
          its ``distances``, a column by each of `RANKED_BY` that it has, in units of 1 / `SCALE`,
          None for an item that it does not cover
    """
    rows = by_uid(pool.votes)
    position = {uid: index for index, uid in enumerate(order)}
    entries: list[dict[str, Any]] = []
    for system, result, about in zip(pool.systems, pool.worths, pool.about, strict=True):
        columns = {
            name: _column(distances(pool.votes, [system], [result], name)[rows, 0])
            for name in RANKED_BY
            if ranked([result], name)
        }
        worths = {name: round(result.estimates[name].value, 4) for name in columns}
        entries.append({**about, "worth": worths, "distances": columns})
    return {
        "name": pool.name,
        "scale": SCALE,
        "items": [position[pool.votes.uids[row]] for row in rows],
        "folds": "".join(map(str, folds_of(item_groups([pool.votes])[0])[rows])),
        "systems": entries,
    }


def _whole(values: Floats) -> Floats:
    """Return distances in whole units of 1 / `SCALE`."""
    return np.floor(SCALE * values + 0.5)


def _column(values: Floats) -> list[int | None]:
    return [None if np.isnan(value) else int(value) for value in _whole(values).tolist()]

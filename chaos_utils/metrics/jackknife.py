"""How much a statistic would move with other items *and* other people: the two-way jackknife.

An interval over items alone takes the people as they are. Where it is known who gave which vote,
people are a sample too, and some give many votes.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_LEVEL = 0.95
_N_LARGEST = 5  # people
_SMALLEST_ERROR = 1e-12  # an error that only rounding gives


@dataclass(frozen=True, slots=True)
class TwoWay:
    """A statistic with its standard errors, by what was left out one at a time.

    Attributes
    ----------
    value : float
        The statistic on all votes.
    of_items, of_people, of_votes : float
        Standard errors of the delete-one jackknife over items, people and single votes; NaN where
        the statistic is not defined without one of them.
    n_items, n_people : int
        How many there are.
    of_five : float
        The part of the people's variance, in [0, 1], that comes from the five who move the
        statistic most. Above 0.9 even the interval is too short: other people may hold others like
        these, or none.
    """

    value: float
    of_items: float
    of_people: float
    of_votes: float
    n_items: int
    n_people: int
    of_five: float

    @property
    def error(self) -> float:
        """Standard error over items and people; NaN where it is not defined, or nothing varies.

        The parts of items and of people both hold that of votes, which is taken off once.
        """
        items, people, votes = self.of_items**2, self.of_people**2, self.of_votes**2
        found = float(np.sqrt(max(items + people - votes, items, people)))
        return found if found > _SMALLEST_ERROR else np.nan

    def interval(self, low: float, high: float) -> tuple[float, float]:
        """Return the ends of the 95% interval by Student's t, cut off at `low` and `high`.

        These are the range of the statistic. Degrees of freedom are one less than the items or the
        people, whichever are fewer. NaN where the error is.
        """
        from scipy.special import stdtrit  # slow to import

        degrees = min(self.n_items, self.n_people) - 1
        reach = float(stdtrit(degrees, (1 + _LEVEL) / 2)) * self.error if degrees else np.nan
        return max(self.value - reach, low), min(self.value + reach, high)


def two_way_jackknife(
    item: Ints,
    person: Ints,
    ballots: npt.ArrayLike,
    columns: Callable[[Floats], Floats],
    reduce: Callable[[Floats], Floats],
) -> TwoWay:
    r"""Leave out each item, each person and each vote once, in closed form.

    .. math:: \mathrm{SE}^2 = \max(\mathrm{SE}^2_{\text{items}} + \mathrm{SE}^2_{\text{people}}
              - \mathrm{SE}^2_{\text{votes}}, \mathrm{SE}^2_{\text{items}},
              \mathrm{SE}^2_{\text{people}})

    The statistic is a function of sums over items, of columns that depend on an item's votes alone.
    In simulations, 95% intervals of the chance that two votes differ covered .96 to .99 where such
    over items alone covered .74 to .95; with a tenth of careless people they covered .82, those
    over items .44.

    Parameters
    ----------
    item, person : ndarray of int, shape (n_votes,)
        Which item each vote is on, from 0, and who gave it.
    ballots : array_like of float, shape (n_votes, n_entries)
        What each vote adds to its item: a 1 in its label's place, for counts.
    columns : callable
        From the sums of items' ballots, shape (n_items, n_entries), to columns, shape (n_items,
        n_columns); 0 for items that have no part in the statistic.
    reduce : callable
        From sums of these columns, shape (..., n_columns), to the statistic, shape (...).

    References
    ----------
    Efron, B. and Stein, C. (1981). The jackknife estimate of variance. Owen, A. B. (2007). The
    pigeonhole bootstrap.
    """
    entries = np.asarray(ballots, dtype=np.float64)
    items, item = np.unique(item, return_inverse=True)
    people, person = np.unique(person, return_inverse=True)
    sums = _sums(entries, item, len(items))
    parts = columns(sums)
    total = parts.sum(axis=0)
    without_votes = total - parts[item] + columns(sums[item] - entries)
    # A person's votes on an item go together, if there are several.
    pairs, pair = np.unique(item * len(people) + person, return_inverse=True)
    pair_items, pair_people = np.divmod(pairs, len(people))
    without_pair = columns(sums[pair_items] - _sums(entries, pair, len(pairs)))
    without_people = total - _sums(parts[pair_items] - without_pair, pair_people, len(people))
    of_people = _squares(reduce(without_people))
    largest = np.sort(of_people)[-_N_LARGEST:].sum()
    return TwoWay(
        value=float(reduce(total)),
        of_items=float(np.sqrt(_squares(reduce(total - parts)).sum())),
        of_people=float(np.sqrt(of_people.sum())),
        of_votes=float(np.sqrt(_squares(reduce(without_votes)).sum())),
        n_items=len(items),
        n_people=len(people),
        of_five=float(largest / of_people.sum()) if of_people.sum() > _SMALLEST_ERROR else np.nan,
    )


def _sums(values: Floats, group: Ints, n_groups: int) -> Floats:
    """Return the sums of rows by their group."""
    return np.column_stack([np.bincount(group, one, minlength=n_groups) for one in values.T])


def _squares(left_out: Floats) -> Floats:
    """Return what each of those left out adds to the jackknife's variance."""
    n = len(left_out)
    found: Floats = (n - 1) / n * (left_out - left_out.mean()) ** 2
    return found

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
    """A statistic with its standard errors: over items, over people and over votes.

    Attributes
    ----------
    value : float
        The statistic on all votes.
    items_error, people_error, votes_error : float
        Standard errors of the delete-one jackknife over items, people and single votes; NaN where
        the statistic is not defined without one of them.
    n_items, n_people : int
        The numbers of items and of people.
    of_five : float
        The part of the people's variance, in [0, 1], that comes from the five who move the
        statistic most. Above 0.9 even the interval is too short: another group of people may hold
        more such people, or none.
    """

    value: float
    items_error: float
    people_error: float
    votes_error: float
    n_items: int
    n_people: int
    of_five: float

    @property
    def error(self) -> float:
        """Standard error over items and people; NaN where it is not defined, or nothing varies.

        The variances over items and over people both contain the variance over votes, which is
        subtracted once.
        """
        items, people, votes = self.items_error**2, self.people_error**2, self.votes_error**2
        error = float(np.sqrt(max(items + people - votes, items, people)))
        return error if error > _SMALLEST_ERROR else np.nan

    @classmethod
    def of_left_out(
        cls, value: Floats, *, without_items: Floats, without_people: Floats, without_votes: Floats
    ) -> "TwoWay":
        """Return the errors of a statistic from what it is without each item, person and vote.

        Parameters
        ----------
        value : ndarray of float, shape ()
            The statistic on all votes.
        without_items, without_people, without_votes : ndarray of float, 1-D
            The statistic without one of them each.
        """
        people_parts = _variance_parts(without_people)
        people_variance = people_parts.sum()
        largest = np.sort(people_parts)[-_N_LARGEST:].sum()
        return cls(
            value=float(value),
            items_error=float(np.sqrt(_variance_parts(without_items).sum())),
            people_error=float(np.sqrt(people_variance)),
            votes_error=float(np.sqrt(_variance_parts(without_votes).sum())),
            n_items=len(without_items),
            n_people=len(without_people),
            of_five=float(largest / people_variance)
            if people_variance > _SMALLEST_ERROR
            else np.nan,
        )

    @property
    def degrees(self) -> int:
        """Degrees of freedom: one less than the items or the people, whichever are fewer."""
        return min(self.n_items, self.n_people) - 1

    def interval(self, low: float, high: float) -> tuple[float, float]:
        """Return the ends of the 95% interval by Student's t, cut off at `low` and `high`.

        `low` and `high` are the range of the statistic. NaN where the error is NaN.
        """
        from scipy.special import stdtrit  # slow to import

        half_width = np.nan
        if self.degrees:
            half_width = float(stdtrit(self.degrees, (1 + _LEVEL) / 2)) * self.error
        return max(self.value - half_width, low), min(self.value + half_width, high)


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

    The statistic is a function of sums over items; the columns that are summed depend on an item's
    votes alone. In simulations, 95% intervals of the chance that two votes differ covered .93 to
    .99, where intervals over items alone covered .74 to .95; with a tenth of careless people they
    covered .82, and intervals over items alone .44.

    Parameters
    ----------
    item, person : ndarray of int, shape (n_votes,)
        Which item each vote is on, from 0, and who gave it.
    ballots : array_like of float, shape (n_votes, n_entries)
        What each vote adds to its item's sums; for counts, a 1 in the column of its label.
    columns : callable
        From the sums of items' ballots, shape (n_items, n_entries), to columns, shape (n_items,
        n_columns); 0 for items that do not enter the statistic.
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
    item_sums = group_sums(entries, item, len(items))
    item_columns = columns(item_sums)
    total = item_columns.sum(axis=0)
    without_votes = total - item_columns[item] + columns(item_sums[item] - entries)
    # If a person has several votes on an item, they are left out together.
    pairs, pair = np.unique(item * len(people) + person, return_inverse=True)
    pair_items, pair_people = np.divmod(pairs, len(people))
    without_pair = columns(item_sums[pair_items] - group_sums(entries, pair, len(pairs)))
    pair_parts = item_columns[pair_items] - without_pair
    without_people = total - group_sums(pair_parts, pair_people, len(people))
    return TwoWay.of_left_out(
        reduce(total),
        without_items=reduce(total - item_columns),
        without_people=reduce(without_people),
        without_votes=reduce(without_votes),
    )


def group_sums(values: Floats, group: Ints, n_groups: int) -> Floats:
    """Return the sums of the rows of `values` by their `group`, shape (n_groups, n_columns)."""
    return np.column_stack([np.bincount(group, column, minlength=n_groups) for column in values.T])


def _variance_parts(statistics: Floats) -> Floats:
    """Return the parts of the jackknife's variance; a statistic is without one unit each."""
    n = len(statistics)
    parts: Floats = (n - 1) / n * (statistics - statistics.mean()) ** 2
    return parts

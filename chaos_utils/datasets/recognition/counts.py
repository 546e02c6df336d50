"""Recognisers of numbers of votes: a column for each label, or objects and lists of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chaos_utils.datasets.cells import as_count, as_share
from chaos_utils.datasets.faults import listed
from chaos_utils.datasets.people import VOTER_LISTS
from chaos_utils.datasets.recognition.candidates import (
    Candidate,
    Reader,
    clear,
    columns_of,
    doubt,
    first,
    refused,
    wide_by,
)
from chaos_utils.datasets.recognition.columns import (
    FEW_LABELS,
    LISTS,
    N_VOTES,
    Columns,
    Floats,
    number_in,
)

_PERCENT = re.compile(r"%|(^|[\W_])(percent(age)?s?|pct)([\W_]|$)", re.IGNORECASE)
_COUNTS = re.compile(r"(^|_)(counts?|counter|tally|tallies|votes|distribution)(_|$)")
_SURELY = re.compile(r"(^|_)(counts?|counter|tally|tallies)(_|$)")  # count something, not by people
_TOTAL = re.compile(r"^(n|sum|all)(_|$)|(^|_)(total|votes|annotators|count)(_|$)")
_ID = re.compile(
    r"(?!(?:label|class|option|choice|level|score|star|grade|point)s?[_ -]?[0-9])"
    r"[A-Za-z]+[_ -]?[0-9]+"
)
_MANY_ROWS, _MANY_COLUMNS = 20, 6
MOST_RATING = 10
_PARTS = 12  # different percentages at most, of a few votes on each item
_ROUNDED = 0.02  # of 1, the sum of shares
_BY_CHANCE = 0.05  # of items: up to here it is as good as none


def numbers_below_zero(columns: Columns) -> Candidate | None:
    """Numbers that count nothing, in columns that may be people's."""
    numbers, _ = columns.numbers
    values = (value for name in numbers for value in columns.values(name))
    if _holds_votes(columns) or not any(number_in(value) < 0 for value in values):
        return None
    return doubt(
        f"numbers below 0 in {listed(numbers)}: the vote of a person in each column?",
        [columns.base | {"format": "columns", "labels": numbers}],
    )


def counts_inside(columns: Columns) -> Candidate | None:
    """A column of objects or lists with a number for each label."""
    if _holds_votes(columns):
        return None
    names = [name for name in columns.frame.names if name not in columns_of(columns.row)]
    inside = {name: paths for name in names if (paths := columns.paths_in(name))}
    counts = [one for name in inside if (one := counts_in_objects(columns, columns.base, name))]
    unclear = first(one for one in counts if not one.is_clear)
    if not unclear and len(counts) > 1:
        readers = [one.readers[0] for one in counts]
        which = listed([reader["inside"] for reader in readers])
        return doubt(f"several columns may hold the votes: {which}", readers[:2])
    n_columns = len(columns.numbers[0])  # of which lists as long may be the shares
    shares_or_lists = (
        one
        for name, paths in inside.items()
        if len(paths) != n_columns
        for one in (shares_inside(columns, columns.base, name), _counts_by_name(columns, name))
    )
    return unclear or first(counts) or first(shares_or_lists)


def _counts_by_name(columns: Columns, name: str) -> Candidate | None:
    """Lists of numbers, in a column that is called after counts."""
    if not (_COUNTS.search(columns.words[name]) and columns.is_list(name)):
        return None
    reader = {"format": "columns"} | columns.base | {"labels": name}
    return counts_in_lists(columns, reader, name, columns.names_beside(name))


def counts_in_objects(columns: Columns, base: Reader, column: str) -> Candidate | None:
    """Objects with the votes for each label; None for other objects.

    They may be ratings by people who are the keys: this is asked about, without their names.
    """
    paths = columns.paths_in(column)
    if not paths or columns.named(VOTER_LISTS) or columns.is_list(column):
        return None
    numbers, words = columns.numbers_at(paths), columns.words[column]
    if numbers.min() < 0 or (numbers % 1).any():
        return None
    keys = [path.removeprefix(f"{column}.") for path in paths]
    wide = _wide_inside(columns, base, column)
    is_clear = add_up(numbers) or not _may_be_people(keys, numbers)
    if _SURELY.search(words) or (_COUNTS.search(words) and numbers.max() > 1 and is_clear):
        return clear(wide, f"objects in {column!r}, with the votes for each label")
    sums = add_up(numbers) or bool(columns.totals(numbers, [column]))
    if numbers.max() > 1 and (sums or _COUNTS.search(words)):
        keyed = {"format": "long"} | base | {"each": column, "annotator": "key", "label": column}
        return doubt(
            f"whole numbers in the objects in {column!r}: the votes for a label each (labels: "
            "`{name: …, code: " + f"{column}.…" + "}`), or a rating by each person?",
            ([wide] if is_clear else []) + ([keyed] if base["item"] else []),
        )
    return None


def counts_in_lists(
    columns: Columns, reader: Reader, name: str, labels: Sequence[str], *, are_placed: bool = True
) -> Candidate:
    """Lists of numbers that count the votes for a label each, or are a rating by each person.

    `labels` are those of the places in the lists, as far as the file says them, and `are_placed`
    whether each place has one throughout; `reader` is that of the ratings.
    """
    lengths = {len(one) for one in columns.lists_in(name)}
    n_places = len(labels) or (lengths.pop() if are_placed and len(lengths) == 1 else 0)
    places = [f"{name}.{k}" for k in range(n_places)]
    why = f"whole numbers are listed in {name!r}: the votes for a label each"
    if not labels and places:
        why += " (say which: `{name: …, code: " + f"{name}.0" + "}`)"
    counts = dict(zip(places, labels or places, strict=True))
    wide = {key: value for key, value in reader.items() if key != "labels"}
    wide |= {"format": "wide", "counts": counts}
    readers = [wide, reader] if places else [reader]
    return Candidate(f"{why}, or a rating by each person?", readers, todo="")


def _wide_inside(columns: Columns, base: Reader, column: str) -> Reader:
    """Return the reader of numbers in objects or lists."""
    return {"format": "wide"} | base | {"counts": columns.labels_in(column), "inside": column}


def shares_inside(columns: Columns, base: Reader, column: str) -> Candidate | None:
    """Objects or lists of shares."""
    return _shares(columns, _wide_inside(columns, base, column), repr(column))


def _shares(columns: Columns, wide: Reader, where: str) -> Candidate | None:
    """Shares: of how many votes is stated by another column, or not known."""
    paths = [*wide["counts"]]
    if not (paths and _are_shares(numbers := columns.numbers_at(paths))):
        return None
    totals = columns.totals(numbers, [wide.get("inside", ""), *paths])
    if not totals:
        return refused(
            "There are shares, and how many votes each item has is not known.",
            f"shares in {where}",
            "a column with the number of votes beside the shares, or numbers of votes instead",
        )
    return doubt(
        f"shares in {where}: of as many votes as {listed(totals)} says?",
        [wide | {"values": "shares", "n_votes": name} for name in totals[:2]],
    )


def counts_in_columns(columns: Columns) -> Candidate | None:
    """A column of numbers for each label."""
    if _holds_votes(columns) or not any(columns.numbers) or numbers_below_zero(columns):
        return None
    parts = _shares_beside_others(columns)
    if parts:
        return parts
    table = _Table.of(columns)
    checks = (_percentages, _beside_others, _ratings, _shares_of_unknown)
    stated = {N_VOTES: table.n_votes} if table.n_votes else {}
    reader = wide_by(columns.base, table.numbers) | stated
    reader |= {"values": "shares"} if table.are_shares else {}
    counts = clear(reader, f"numbers in {listed(table.numbers)}")
    return first(check(columns, table) for check in checks) or counts


def _holds_votes(columns: Columns) -> bool:
    """Return whether rows or a column are votes, so that there are no counts."""
    return columns.is_row_per_vote or bool(columns.label)


@dataclass(frozen=True, slots=True)
class _Table:
    """The columns of numbers in a table with a row per item."""

    numbers: list[str]  # which may count votes
    others: list[str]  # which do not, by their name or their values
    n_votes: str  # the column of their sum; empty for none
    are_shares: bool

    @classmethod
    def of(cls, columns: Columns) -> "_Table":
        """Tell the columns of numbers apart."""
        numbers, odd = columns.numbers
        values = [value for name in numbers for value in columns.values(name)]
        are_shares = any(as_count(value) is None for value in values) and all(
            as_share(value) is not None for value in values
        )
        total = _total_of(columns)
        numbers = [name for name in numbers if name != total]
        odd = [name for name in odd if name != total]
        n_votes = total or (N_VOTES if N_VOTES in columns.frame.names else "")
        uncounted = [] if are_shares else _not_counted(columns, numbers)
        counted = [name for name in numbers if name not in uncounted]
        return cls(counted, [*odd, *uncounted], n_votes, are_shares)


def _may_have_total(columns: Columns) -> bool:
    """Return whether one of the columns may be the sum of the others."""
    names, rows = columns.frame.names, len(columns.frame)
    return len(columns.numbers[0]) > 1 and rows > 2 and N_VOTES not in names


def _shares_beside_others(columns: Columns) -> Candidate | None:
    """Columns of shares, beside one that is none of them."""
    numbers, _ = columns.numbers
    if not (_may_have_total(columns) and 2 < len(numbers) <= FEW_LABELS):
        return None
    if not (columns.numbers_at(numbers) % 1).any():
        return None
    rests = ([one for one in numbers if one != name] for name in numbers)
    return first(_shares(columns, wide_by(columns.base, rest), listed(rest)) for rest in rests)


def _total_of(columns: Columns) -> str:
    """Return the column that is the sum of the columns of counts; empty for none."""
    numbers, odd = columns.numbers
    if not _may_have_total(columns):
        return ""
    values = columns.numbers_at(numbers)
    total = values.sum(axis=1)
    if (values % 1).any() or values.max() <= 1 or not np.ptp(values, axis=0).any():
        return ""
    is_sum = (2 * values == total[:, np.newaxis]).all(axis=0) & (len(numbers) > 2)
    sums = [name for name, is_one in zip(numbers, is_sum, strict=True) if is_one]
    sums += [name for name in odd if (columns.numbers_at([name])[:, 0] == total).all()]
    if len(sums) != 1:
        return ""
    is_sure = len(columns.frame) >= _MANY_ROWS or _TOTAL.search(columns.words[sums[0]])
    return sums[0] if is_sure else ""


def _not_counted(columns: Columns, names: Sequence[str]) -> list[str]:
    """Return columns of numbers that are not counted beside others which are.

    They are percentages, have fractions, or vary where the others have one sum.
    """
    others = [
        name
        for name in names
        if _PERCENT.search(name) or any(number_in(value) % 1 for value in columns.values(name))
    ]
    if len(others) + 1 >= len(names):
        return []
    counts = [name for name in names if name not in others]
    values = columns.numbers_at(counts)
    if len(counts) < 3 or add_up(values):
        return others
    return others + [
        name
        for k, name in enumerate(counts)
        if columns.words[name] == "target"
        or (np.ptp(values[:, k]) and add_up(np.delete(values, k, axis=1)))
    ]


def _percentages(columns: Columns, table: _Table) -> Candidate | None:
    """Percentages: it is not known of how many votes; asked about where they may be some."""
    names = table.numbers
    if table.are_shares or len(names) < 2:
        return None
    values = columns.numbers_at(names)
    is_whole = len(values) > 2 and bool((np.abs(values.sum(axis=1) - 100) <= 1).all())
    if sum(map(bool, map(_PERCENT.search, names))) > 1 or (is_whole and (values % 1).any()):
        return refused(
            "The columns hold percentages, and how many votes each item has is not known.",
            f"columns {listed(names)}",
            f"shares from 0 to 1 and a column {N_VOTES}, or numbers of votes instead",
        )
    n_parts = len(np.unique(values))
    are_few = n_parts <= _PARTS and 2 * n_parts < values.size
    if not is_whole or table.n_votes:
        return None
    if not (are_few or np.gcd.reduce(values.astype(int).flat) > 1):
        return None
    return doubt(
        f"{listed(names)} add up to 100 on each item: 100 votes, or percentages of fewer? "
        f"(Of percentages, write shares from 0 to 1 and a column {N_VOTES}.)",
        [wide_by(columns.base, names)],
    )


def _beside_others(columns: Columns, table: _Table) -> Candidate | None:
    """Numbers beside others, or lists, that may be the votes."""
    numbers, lists = table.numbers, columns.named(LISTS)
    if not (table.others or lists):
        return None
    readers: list[Reader] = [{"format": "columns", "labels": name} for name in lists[:1]]
    single = table.others
    if len(numbers) > 1:
        by_person = {"format": "columns", "labels": numbers}
        readers += [by_person] if _may_be_ratings(columns, table) else []
        readers.append(wide_by({}, numbers))
        single = [name for name in single if columns.is_measure(name)
                  and len(columns.values(name)) <= MOST_RATING]  # fmt: skip
    readers += [{"format": "long", "label": name} for name in single]
    return doubt(
        f"numbers in {listed([*numbers, *table.others])}: are they votes for these labels?",
        [columns.base | reader for reader in readers[:2]],
    )


def _ratings(columns: Columns, table: _Table) -> Candidate | None:
    """Small numbers that may be a rating by each person; where some lack, they are."""
    if not _may_be_ratings(columns, table):
        return None
    has_gaps = any(map(columns.has_gaps, table.numbers))
    by_person = columns.base | {"format": "columns", "labels": table.numbers}
    return doubt(
        f"small numbers in {listed(table.numbers)}{', and cells without one' * has_gaps}: the "
        f"votes for each label{' (then write 0 for none)' * has_gaps}, a rating by each "
        "person, or an answer to a question each (name one: --label)?",
        [by_person, *([] if has_gaps else [wide_by(columns.base, table.numbers)])],
    )


def _shares_of_unknown(_: Columns, table: _Table) -> Candidate | None:
    """Shares without the number of votes."""
    if not table.are_shares or table.n_votes:
        return None
    return refused(
        "The columns hold shares, and how many votes each item has is not known.",
        f"columns {listed(table.numbers)}",
        f"a column {N_VOTES} beside the shares, or numbers of votes instead",
    )


def _may_be_ratings(columns: Columns, table: _Table) -> bool:
    """Return whether columns of numbers look like one rating by each of several people."""
    names = table.numbers
    if table.are_shares or table.n_votes or len(names) < 2 or len(columns.frame) < _MANY_ROWS:
        return False
    counts = np.stack(
        [columns.frame.column(name).map(lambda value: as_count(value) or 0, float)
         for name in names]
    )  # fmt: skip
    given = counts > 0  # who has not seen an item may give it 0
    is_rarely_alone = (given.sum(axis=0) < 2).mean() <= _BY_CHANCE
    is_one_scale = 2 * counts.max(axis=1).min() > counts.max()
    are_people = all(map(_ID.fullmatch, names)) or (len(names) >= _MANY_COLUMNS and is_rarely_alone)
    may_have_gaps = (is_one_scale and are_people) or any(map(columns.has_gaps, names))
    are_small = counts.max() == 1 or (
        counts.max() <= MOST_RATING and bool(given.all() or may_have_gaps)
    )
    return bool(are_small and np.ptp(counts.sum(axis=0)))


def add_up(numbers: Floats) -> bool:
    """Return whether rows of numbers differ and have one sum, so that they may be counts."""
    differ = len(numbers) > 2 and bool(np.ptp(numbers, axis=0).any())
    return differ and bool(np.ptp(numbers.sum(axis=1)) == 0) and numbers.sum(axis=1)[0] > 1


def _may_be_people(keys: Sequence[str], numbers: Floats) -> bool:
    """Return whether the keys of small numbers may be who gave them, by their look and number."""
    is_like_ids = all(map(_ID.fullmatch, keys)) or len(keys) > MOST_RATING
    if is_like_ids or numbers.max() > MOST_RATING:
        return is_like_ids
    is_one_number = bool(np.ptp((numbers > 0).sum(axis=1)) == 0)
    are_called = all(key.isalpha() and key.istitle() for key in keys)
    return is_one_number or (are_called and bool(np.ptp(numbers.sum(axis=1)) > 2))


def _are_shares(numbers: Floats) -> bool:
    """Return whether rows of numbers are shares of a whole, rounded to a few decimals."""
    are_parts = numbers.min() >= 0 and numbers.max() <= 1 and (numbers % 1).any()
    return bool(are_parts and (np.abs(numbers.sum(axis=1) - 1) <= _ROUNDED).all())

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
_SURELY_COUNTS = re.compile(r"(^|_)(counts?|counter|tally|tallies)(_|$)")
_TOTAL = re.compile(r"^(n|sum|all)(_|$)|(^|_)(total|votes|annotators|count)(_|$)")
# Names of people or columns that are a word and a number, such as w1, unless the word suggests a
# label, such as class1.
_ID = re.compile(
    r"(?!(?:label|class|option|choice|level|score|star|grade|point)s?[_ -]?[0-9])"
    r"[A-Za-z]+[_ -]?[0-9]+"
)
_MANY_ROWS, _MANY_COLUMNS = 20, 6
MOST_RATING = 10
_MOST_PERCENTAGES = 12  # different ones, if each item has a few votes
_SUM_TOLERANCE = 0.02  # of the sum of shares, which are rounded
_BY_CHANCE = 0.05  # share of items: up to here an exception may be a mistake


def numbers_below_zero(columns: Columns) -> Candidate | None:
    """Numbers below 0, which count nothing: the columns may hold a person's votes each."""
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
    found = [counts_in_objects(columns, columns.base, name) for name in inside]
    counts = [candidate for candidate in found if candidate]
    unclear = first(candidate for candidate in counts if not candidate.is_clear)
    if not unclear and len(counts) > 1:
        readers = [candidate.readers[0] for candidate in counts]
        which = listed([reader["inside"] for reader in readers])
        return doubt(f"several columns may hold the votes: {which}", readers[:2])
    n_columns = len(columns.numbers[0])  # lists of this length may repeat the columns, as shares
    shares_or_lists = (
        candidate
        for name, paths in inside.items()
        if len(paths) != n_columns
        for candidate in (
            shares_inside(columns, columns.base, name),
            _counts_by_name(columns, name),
        )
    )
    return unclear or first(counts) or first(shares_or_lists)


def _counts_by_name(columns: Columns, name: str) -> Candidate | None:
    """Lists of numbers, in a column that is called after counts."""
    if not (_COUNTS.search(columns.words[name]) and columns.is_list(name)):
        return None
    reader = {"format": "columns"} | columns.base | {"labels": name}
    return counts_in_lists(columns, reader, name, columns.names_beside(name))


def counts_in_objects(columns: Columns, base: Reader, column: str) -> Candidate | None:
    """Objects with the number of votes for each label; None for other objects.

    Where the keys may be people and the numbers their ratings, it is asked which, without a name.
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
    if _SURELY_COUNTS.search(words) or (_COUNTS.search(words) and numbers.max() > 1 and is_clear):
        return clear(wide, f"objects in {column!r}, with the votes for each label")
    have_total = add_up(numbers) or bool(columns.totals(numbers, [column]))
    if numbers.max() > 1 and (have_total or _COUNTS.search(words)):
        by_person = (
            {"format": "long"} | base | {"each": column, "annotator": "key", "label": column}
        )
        return doubt(
            f"whole numbers in the objects in {column!r}: the votes for a label each (labels: "
            "`{name: …, code: " + f"{column}.…" + "}`), or a rating by each person?",
            ([wide] if is_clear else []) + ([by_person] if base["item"] else []),
        )
    return None


def counts_in_lists(
    columns: Columns, reader: Reader, name: str, labels: Sequence[str], *, are_placed: bool = True
) -> Candidate:
    """Lists of numbers: each counts the votes for a label, or is a rating by a person.

    `labels` are the labels of the positions in the lists, if the file says them; `are_placed` says
    whether each position has the same label in all rows; `reader` is the reader of ratings.
    """
    lengths = set(map(len, columns.lists_in(name)))
    n_labels = len(labels) or (lengths.pop() if are_placed and len(lengths) == 1 else 0)
    paths = [f"{name}.{k}" for k in range(n_labels)]
    question = f"whole numbers are listed in {name!r}: the votes for a label each"
    if not labels and paths:
        question += " (say which: `{name: …, code: " + f"{name}.0" + "}`)"
    counts = dict(zip(paths, labels or paths, strict=True))
    wide = {key: value for key, value in reader.items() if key != "labels"}
    wide |= {"format": "wide", "counts": counts}
    readers = [wide, reader] if paths else [reader]
    return Candidate(f"{question}, or a rating by each person?", readers, todo="")


def _wide_inside(columns: Columns, base: Reader, column: str) -> Reader:
    """Return the reader of numbers in objects or lists."""
    return {"format": "wide"} | base | {"counts": columns.labels_in(column), "inside": column}


def shares_inside(columns: Columns, base: Reader, column: str) -> Candidate | None:
    """Objects or lists of shares."""
    return _shares(columns, _wide_inside(columns, base, column), repr(column))


def _shares(columns: Columns, wide: Reader, where: str) -> Candidate | None:
    """Shares; they are refused unless another column has the number of votes."""
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
    candidate = _shares_beside_another(columns)
    if candidate:
        return candidate
    table = _Table.of(columns)
    checks = (_percentages, _beside_others, _ratings, _shares_without_number)
    n_votes = {N_VOTES: table.n_votes} if table.n_votes else {}
    reader = wide_by(columns.base, table.numbers) | n_votes
    reader |= {"values": "shares"} if table.are_shares else {}
    counts = clear(reader, f"numbers in {listed(table.numbers)}")
    return first(check(columns, table) for check in checks) or counts


def _holds_votes(columns: Columns) -> bool:
    """Return whether each row is a vote, or the owner names a column of votes: no counts then."""
    return columns.is_row_per_vote or bool(columns.label)


@dataclass(frozen=True, slots=True)
class _Table:
    """The columns of numbers in a table with a row per item."""

    numbers: list[str]  # which may count votes
    others: list[str]  # which do not, by their name or their values
    n_votes: str  # the column with the number of votes; empty for none
    are_shares: bool  # whether `numbers` are shares of the votes

    @classmethod
    def of(cls, columns: Columns) -> "_Table":
        """Divide the columns of numbers into these kinds."""
        numbers, measures = columns.numbers
        values = [value for name in numbers for value in columns.values(name)]
        are_shares = any(as_count(value) is None for value in values) and all(
            as_share(value) is not None for value in values
        )
        total = _total_of(columns)
        numbers = [name for name in numbers if name != total]
        measures = [name for name in measures if name != total]
        n_votes = total or (N_VOTES if N_VOTES in columns.frame.names else "")
        not_counts = [] if are_shares else _not_counts(columns, numbers)
        counts = [name for name in numbers if name not in not_counts]
        return cls(counts, [*measures, *not_counts], n_votes, are_shares)


def _may_have_total(columns: Columns) -> bool:
    """Return whether there are enough columns and rows to find one that is the sum of others."""
    names, rows = columns.frame.names, len(columns.frame)
    return len(columns.numbers[0]) > 1 and rows > 2 and N_VOTES not in names


def _shares_beside_another(columns: Columns) -> Candidate | None:
    """Columns of shares, beside one other column of numbers."""
    numbers, _ = columns.numbers
    if not (_may_have_total(columns) and 2 < len(numbers) <= FEW_LABELS):
        return None
    if not (columns.numbers_at(numbers) % 1).any():
        return None
    choices = ([name for name in numbers if name != left_out] for left_out in numbers)
    return first(_shares(columns, wide_by(columns.base, names), listed(names)) for names in choices)


def _total_of(columns: Columns) -> str:
    """Return the column that is the sum of the columns of counts; empty for none."""
    numbers, measures = columns.numbers
    if not _may_have_total(columns):
        return ""
    values = columns.numbers_at(numbers)
    total = values.sum(axis=1)
    if (values % 1).any() or values.max() <= 1 or not np.ptp(values, axis=0).any():
        return ""
    # A column is the sum of the others if it is half of the sum of all.
    is_sum = (2 * values == total[:, np.newaxis]).all(axis=0) & (len(numbers) > 2)
    sums = [name for name, is_total in zip(numbers, is_sum, strict=True) if is_total]
    sums += [name for name in measures if (columns.numbers_at([name])[:, 0] == total).all()]
    if len(sums) != 1:
        return ""
    is_sure = len(columns.frame) >= _MANY_ROWS or _TOTAL.search(columns.words[sums[0]])
    return sums[0] if is_sure else ""


def _not_counts(columns: Columns, names: Sequence[str]) -> list[str]:
    """Return columns of numbers that are no counts, if at least two of the others may be counts.

    They are percentages, have fractions, or vary where the others have the same sum in all rows.
    """
    not_counts = [
        name
        for name in names
        if _PERCENT.search(name) or any(number_in(value) % 1 for value in columns.values(name))
    ]
    if len(not_counts) + 1 >= len(names):
        return []
    counts = [name for name in names if name not in not_counts]
    values = columns.numbers_at(counts)
    if len(counts) < 3 or add_up(values):
        return not_counts
    return not_counts + [
        name
        for k, name in enumerate(counts)
        if columns.words[name] == "target"
        or (np.ptp(values[:, k]) and add_up(np.delete(values, k, axis=1)))
    ]


def _percentages(columns: Columns, table: _Table) -> Candidate | None:
    """Percentages of an unknown number of votes are refused; numbers that may be are in doubt."""
    names = table.numbers
    if table.are_shares or len(names) < 2:
        return None
    values = columns.numbers_at(names)
    sum_to_100 = len(values) > 2 and bool((np.abs(values.sum(axis=1) - 100) <= 1).all())
    if sum(map(bool, map(_PERCENT.search, names))) > 1 or (sum_to_100 and (values % 1).any()):
        return refused(
            "The columns hold percentages, and how many votes each item has is not known.",
            f"columns {listed(names)}",
            f"shares from 0 to 1 and a column {N_VOTES}, or numbers of votes instead",
        )
    n_different = len(np.unique(values))
    are_few = n_different <= _MOST_PERCENTAGES and 2 * n_different < values.size
    if not sum_to_100 or table.n_votes:
        return None
    if not (are_few or np.gcd.reduce(values.astype(int).flat) > 1):
        return None
    return doubt(
        f"{listed(names)} add up to 100 on each item: 100 votes, or percentages of fewer? "
        f"(Of percentages, write shares from 0 to 1 and a column {N_VOTES}.)",
        [wide_by(columns.base, names)],
    )


def _beside_others(columns: Columns, table: _Table) -> Candidate | None:
    """Columns of numbers beside lists, or beside numbers of another kind: any may be the votes."""
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
    """Small numbers that may be a rating by each person; with empty cells, they are no counts."""
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


def _shares_without_number(_: Columns, table: _Table) -> Candidate | None:
    """Shares without the number of votes."""
    if not table.are_shares or table.n_votes:
        return None
    return refused(
        "The columns hold shares, and how many votes each item has is not known.",
        f"columns {listed(table.numbers)}",
        f"a column {N_VOTES} beside the shares, or numbers of votes instead",
    )


def _may_be_ratings(columns: Columns, table: _Table) -> bool:
    """Return whether columns of numbers look like one rating by each of several people.

    The numbers are small, and without 0, unless the columns look like people who may skip an item.
    """
    names = table.numbers
    if table.are_shares or table.n_votes or len(names) < 2 or len(columns.frame) < _MANY_ROWS:
        return False
    counts = np.stack(
        [columns.frame.column(name).map(lambda value: as_count(value) or 0, float)
         for name in names]
    )  # fmt: skip
    # Shape (columns, items).
    is_rating = counts > 0  # 0 may stand for an item that a person has not seen
    is_rarely_alone = (is_rating.sum(axis=0) < 2).mean() <= _BY_CHANCE
    is_one_scale = 2 * counts.max(axis=1).min() > counts.max()
    are_people = all(map(_ID.fullmatch, names)) or (len(names) >= _MANY_COLUMNS and is_rarely_alone)
    may_have_gaps = (is_one_scale and are_people) or any(map(columns.has_gaps, names))
    are_small = counts.max() == 1 or (
        counts.max() <= MOST_RATING and bool(is_rating.all() or may_have_gaps)
    )
    return bool(are_small and np.ptp(counts.sum(axis=0)))


def add_up(numbers: Floats) -> bool:
    """Return whether rows of numbers differ and all have the same sum, as counts of votes do.

    `numbers` has shape (rows, labels).
    """
    differ = len(numbers) > 2 and bool(np.ptp(numbers, axis=0).any())
    return differ and bool(np.ptp(numbers.sum(axis=1)) == 0) and numbers.sum(axis=1)[0] > 1


def _may_be_people(keys: Sequence[str], numbers: Floats) -> bool:
    """Return whether the keys of objects of small numbers may be the people who gave them."""
    is_like_ids = all(map(_ID.fullmatch, keys)) or len(keys) > MOST_RATING
    if is_like_ids or numbers.max() > MOST_RATING:
        return is_like_ids
    have_same_number = bool(np.ptp((numbers > 0).sum(axis=1)) == 0)  # of ratings per item
    are_like_names = all(key.isalpha() and key.istitle() for key in keys)
    return have_same_number or (are_like_names and bool(np.ptp(numbers.sum(axis=1)) > 2))


def _are_shares(numbers: Floats) -> bool:
    """Return whether rows of numbers are shares of a whole, rounded to a few decimals."""
    are_fractions = numbers.min() >= 0 and numbers.max() <= 1 and (numbers % 1).any()
    return bool(are_fractions and (np.abs(numbers.sum(axis=1) - 1) <= _SUM_TOLERANCE).all())

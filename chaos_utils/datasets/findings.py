"""What a votes file holds, before anything is made of it: what the book can compute, what not."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import counted
from chaos_utils.datasets.faults import Faults
from chaos_utils.datasets.labels import is_rating, remarks_on
from chaos_utils.datasets.plain import EXPECTED_COUNTS, SHARES, Layout, layout_of
from chaos_utils.datasets.records import Content, as_count, as_share
from chaos_utils.datasets.tables import Coded, Table, second_votes
from chaos_utils.datasets.votes import ENOUGH_VOTES, Ints, Votes

_FORMAT = (
    "CSV, TSV, JSON lines or parquet, with a row per vote (item, annotator, label) or per item "
    "(item and a column of votes for each label)"
)
_MOST_ANNOTATORS = 3000  # pairs of more take too much memory
_LITTLE = 0.25  # of the greatest entropy: bias beyond it is no longer as the first term says


@dataclass(frozen=True, slots=True)
class Ability:
    """Something that the book computes, whether it can here, and why not (or how well)."""

    what: str
    possible: bool
    why: str = ""


@dataclass(slots=True)
class Findings:
    """What is found in a votes file.

    Attributes
    ----------
    file : str
    format : str
        ``long`` or ``wide``, or another one that a dataset's YAML file names.
    columns : dict of str
        Column by what it was taken for.
    rows, items, votes : int
    labels : dict of int
        Votes by label.
    votes_per_item : dict of int
        Items by their number of votes.
    unanimous, ties : int
        Items on which all agree (of those with two votes or more), or labels tie for the most.
    annotators : dict
        Their number, ``fewest``, ``median`` and ``most`` votes, the share of ``pairs`` that have
        judged an item in common, and ``median_common`` of these items; empty where not known.
    text_columns : list of str
        With one text per item.
    other_columns : list of str
    faults : list of str
        For which `chaos evaluate` refuses the file.
    remarks : list of str
        What looks odd, and is read as it stands.
    abilities : list of Ability
    """

    file: str
    format: str
    columns: dict[str, str] = field(default_factory=dict)
    rows: int = 0
    items: int = 0
    votes: int = 0
    labels: dict[str, int] = field(default_factory=dict)
    votes_per_item: dict[int, int] = field(default_factory=dict)
    unanimous: int = 0
    ties: int = 0
    annotators: dict[str, Any] = field(default_factory=dict)
    text_columns: list[str] = field(default_factory=list)
    other_columns: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    abilities: list[Ability] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


def check_votes(votes: Votes) -> Findings:
    """Say what was found in votes that a dataset's YAML file describes."""
    found = Findings(votes.source.name.removeprefix("own-data/"), votes.dataset.reader.format)
    found.rows = found.items = len(votes)
    found.text_columns = list(votes.dataset.text_fields)
    known = votes.annotations
    if known is not None:
        found.rows = len(known.item)
        _people(found, known.item, known.annotator, len(votes))
    found.remarks += list(votes.notes)
    _counted(found, votes.counts, votes.dataset.codes)
    _abilities(found, ordered=votes.dataset.ordered, old=votes.has_old_labels)
    return found


def check_file(
    path: Path, *, item: str = "", annotator: str = "", label: str = ""
) -> tuple[Findings, Layout]:
    """Say what stands in a votes file that nothing describes, faults and all.

    Parameters
    ----------
    path : Path
    item, annotator, label : str
        Columns that the reader names; the others are recognised.

    Raises
    ------
    ChaosError
        If no columns of items and votes are there, or the file is damaged.
    """
    content = Content.of(path)
    faults = Faults(
        path,
        "votes",
        expected=_FORMAT,
        todo="correct the file",
    )
    if content.is_array:
        raise faults.fatal(
            "An npy file names neither items nor labels.",
            todo="describe it in a dataset's YAML file",
        )
    table = Table(content, faults)
    layout = layout_of(
        table.columns, table.values, faults, item=item, annotator=annotator, label=label
    )
    if not layout.format:
        raise faults.fatal(
            "The columns of items and votes are not recognised.",
            f"columns {', '.join(map(repr, table.columns[:12]))}",
            todo="name the columns: --item, --label and, where it is known, --annotator; if each "
            "vote of an item has a column of its own, write a YAML file (reader.format: columns)",
        )
    if layout.are_shares and not layout.n_votes:
        columns = ", ".join(map(repr, layout.labels[:12]))
        raise faults.fatal(SHARES, f"columns {columns}", EXPECTED_COUNTS)
    found = Findings(path.name, layout.format)
    named = {"item": layout.item, "annotator": layout.annotator, "label": layout.label,
             "n_votes": layout.n_votes}  # fmt: skip
    found.columns = {what: name for what, name in named.items() if name}
    items = table.coded(layout.item)
    found.rows, found.items = len(items.codes), len(items.names)
    if not (found.items and layout.labels):
        raise faults.fatal("This votes file holds no votes.", f"{counted(found.rows, 'row')}")
    _missing(found, "item", layout.item, items)
    if layout.format == "long":
        counts, labels = _long(found, table, layout, items)
    else:
        counts, labels = _wide(found, table, layout, items)
    _others(found, table, layout, items)
    _counted(found, counts, labels)
    _abilities(found)
    return found, layout


def _missing(found: Findings, what: str, column: str, coded: Coded, todo: str = "") -> None:
    rows = np.flatnonzero(coded.codes < 0)
    if len(rows):
        found.faults.append(
            f"no {what} in the column {column!r} of {len(rows):,} of {len(coded.codes):,} rows "
            f"(first: row {rows[0] + 1:,})" + (f": {todo}" if todo else "")
        )


def _long(
    found: Findings, table: Table, layout: Layout, items: Coded
) -> tuple[Ints, tuple[str, ...]]:
    labels = table.coded(layout.label)
    _missing(found, "label", layout.label, labels, "fill them in, or leave these rows out")
    if labels.trimmed:
        found.remarks.append(
            f"{counted(labels.trimmed, 'label')} with blanks around, read without them"
        )
    if is_rating(layout.labels):
        found.faults.append(
            f"the labels are numbers on a scale, {len(layout.labels)} different ones from "
            f"{min(layout.labels, key=float)} to {max(layout.labels, key=float)}: name the rule "
            "that cuts it into classes, `chaos dataset init --cut`"
        )
    else:
        found.remarks += remarks_on(layout.labels)
    if layout.annotator:
        people = table.coded(layout.annotator)
        _missing(
            found, "annotator", layout.annotator, people,
            "fill them in; `chaos dataset init` leaves the column out",
        )  # fmt: skip
        double = second_votes(items, people)
        if double:
            found.faults.append(
                f"{counted(double, 'vote')} by an annotator who had judged the item: keep only one "
                "(`chaos evaluate --data` names the lines)"
            )
        there = (people.codes >= 0) & (items.codes >= 0)
        _people(found, items.codes[there], people.codes[there], len(items.names))
    position = {name: k for k, name in enumerate(layout.labels)}
    order = np.array([*(position[name] for name in labels.names), -1])
    there = (items.codes >= 0) & (labels.codes >= 0)
    k = len(layout.labels)
    places = items.codes[there].astype(np.int64) * k + order[labels.codes[there]]
    counts = np.bincount(places, minlength=len(items.names) * k).reshape(-1, k)
    return counts, layout.labels


def _wide(
    found: Findings, table: Table, layout: Layout, items: Coded
) -> tuple[Ints, tuple[str, ...]]:
    found.columns["votes"] = ", ".join(layout.labels)
    double = len(items.codes) - len(items.names) - int((items.codes < 0).sum())
    if double:
        found.faults.append(f"{counted(double, 'row')} repeat an item: keep one of each")
    found.remarks += remarks_on(layout.labels)
    counts = np.zeros((len(items.codes), len(layout.labels)), dtype=np.int64)
    stated = None
    if layout.n_votes:
        stated, right = _numbers(table, layout.n_votes, as_count)
        _wrong(found, layout.n_votes, "number of votes", right)
    for k, column in enumerate(layout.labels):
        values, right = _numbers(table, column, as_share if layout.are_shares else as_count)
        if layout.are_shares and stated is not None:
            values = values * stated
        else:
            _wrong(found, column, "number of votes", right)
        counts[:, k] = values.round()
    if stated is not None and (counts.sum(axis=1) != stated).any():
        differ = np.flatnonzero(counts.sum(axis=1) != stated)
        found.faults.append(
            f"the votes do not come to {layout.n_votes!r} in {counted(len(differ), 'row')} "
            f"(first: row {differ[0] + 1:,})"
        )
    return counts, layout.labels


def _numbers(
    table: Table, column: str, read: Callable[[object], float | None]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the numbers of a column, 0 where there is none, and which cells hold one."""
    cells = table.column(column).combine_chunks().dictionary_encode()
    codes = cells.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    known = [read(value) for value in cells.dictionary.to_pylist()]
    numbers = np.array([*(0 if one is None else one for one in known), 0], dtype=np.float64)
    return numbers[codes], np.array([*(one is not None for one in known), False])[codes]


def _wrong(found: Findings, column: str, what: str, right: npt.NDArray[np.bool_]) -> None:
    rows = np.flatnonzero(~right)
    if len(rows):
        found.faults.append(
            f"no {what} in the column {column!r} of {len(rows):,} of {len(right):,} rows "
            f"(first: row {rows[0] + 1:,})"
        )


def _others(found: Findings, table: Table, layout: Layout, items: Coded) -> None:
    """Tell columns with one text per item from the others."""
    there = items.codes >= 0
    first = np.unique(items.codes[there], return_index=True)[1]
    texts = []
    for name in layout.others:
        cells = table.coded(name)
        is_text = any(" " in one for one in cells.names) or len(cells.names) > len(items.names) / 2
        codes = cells.codes[there]
        if is_text and (codes >= 0).all() and (codes == codes[first][items.codes[there]]).all():
            found.text_columns.append(name)
            texts.append(codes[first])
        else:
            found.other_columns.append(name)
    if texts:
        alike = len(first) - len(np.unique(np.column_stack(texts), axis=0))
        if alike:
            found.remarks.append(f"{counted(alike, 'item')} with the texts of another item")


def _counted(found: Findings, counts: Ints, labels: tuple[str, ...]) -> None:
    totals = counts.sum(axis=1)
    found.votes = int(totals.sum())
    found.labels = dict(zip(labels, counts.sum(axis=0).tolist(), strict=True))
    numbers, items = np.unique(totals, return_counts=True)
    found.votes_per_item = dict(zip(numbers.tolist(), items.tolist(), strict=True))
    most = counts.max(axis=1, initial=0)
    several = totals > 1
    found.unanimous = int((several & (most == totals)).sum())
    found.ties = int((several & ((counts == most[:, None]).sum(axis=1) > 1)).sum())
    if found.votes_per_item.get(0):
        found.faults.append(f"no vote on {counted(found.votes_per_item[0], 'item')}")
    if found.votes_per_item.get(1):
        found.remarks.append(f"one vote on {counted(found.votes_per_item[1], 'item')}")
    never = [name for name, n in found.labels.items() if n == 0]
    if never:
        found.remarks.append(f"no vote for {counted(len(never), 'label')}")
    if len(labels) < 2:
        found.faults.append("there is only one label; two at least are needed")


def _people(found: Findings, item: Ints, annotator: Ints, n_items: int) -> None:
    each = np.bincount(annotator)
    each = each[each > 0]
    found.annotators = {
        "number": len(each),
        "fewest": int(each.min()) if len(each) else 0,
        "median": float(np.median(each)) if len(each) else 0.0,
        "most": int(each.max(initial=0)),
    }
    if not 2 <= len(each) <= _MOST_ANNOTATORS:
        return
    from scipy.sparse import coo_array  # slow to import

    ones = np.ones(len(item), dtype=np.int64)
    judged = coo_array((ones, (annotator, item)), shape=(annotator.max() + 1, n_items)).tocsr()
    judged.data[:] = 1
    common = (judged @ judged.T).tocoo()
    common = common.data[common.row < common.col]
    found.annotators["pairs"] = len(common) / (len(each) * (len(each) - 1) / 2)
    found.annotators["median_common"] = float(np.median(common)) if len(common) else 0.0


def _abilities(found: Findings, *, ordered: bool = False, old: bool = False) -> None:
    """Say what the book computes of such votes."""
    k = len(found.labels)
    per_item = {n: items for n, items in found.votes_per_item.items() if n}
    fewest = min(per_item, default=0)
    one = found.votes_per_item.get(1, 0)
    several = sum(items for n, items in per_item.items() if n > 1)
    middle = _median(per_item)
    bias = (k - 1) / (2 * middle) if middle else 0.0
    low = f"low by about {bias:.2g} nats" if bias < _LITTLE * np.log(max(k, 2)) else "far too low"
    people = found.annotators
    add = found.abilities.append
    why = "the faults above come first" if found.faults else ""
    if found.format == "wide" and "votes" in found.columns and not found.faults:
        beside = [*found.text_columns, *found.other_columns]
        why = (
            "by the YAML file of `chaos dataset init`: not all columns are votes" if beside else ""
        )
    add(Ability("predictions judged by `chaos evaluate`", not found.faults, why))
    why = (
        "no item has two votes"
        if not several
        else f"on {counted(several, 'item')} with two votes or more"
    )
    add(Ability("agreement, quadratic entropy and squared distance, unbiased", several > 0, why))
    add(
        Ability(
            "human equivalents, and a second crowd",
            fewest > 1,
            f"one vote on {counted(one, 'item')}" if one else "" if fewest > 1 else "no votes",
        )
    )
    add(
        Ability(
            "Shannon entropy",
            middle >= 2,
            f"plug-in entropy is {low} at {middle} votes per item"
            + ("" if middle >= ENOUGH_VOTES else ": do not rank by it")
            if middle >= 2
            else "most items have no second vote",
        )
    )
    overlap = people.get("pairs", 0.0) > 0 if "pairs" in people else people.get("number", 0) > 1
    why = "" if overlap else "no two judged the same item"
    add(
        Ability(
            "annotators: agreement with the rest, Dawid–Skene",
            bool(people) and overlap and several > 0,
            why if people else "who voted is not known",
        )
    )
    add(
        Ability(
            "items shown with their text",
            bool(found.text_columns),
            "" if found.text_columns else "no column has one text per item",
        )
    )
    why = "" if ordered else "say `ordered: true` in the YAML file if the labels are a scale"
    add(Ability("distances in steps of a scale", ordered, why))
    why = "" if old else "no column is named as reader.old_label in a YAML file"
    add(Ability("comparison with an old gold label", old, why))


def _median(per_item: Mapping[int, int]) -> int:
    numbers = np.repeat(list(per_item), list(per_item.values())) if per_item else [0]
    return int(np.median(numbers))

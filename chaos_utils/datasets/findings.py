"""What a votes file holds, before anything is made of it: what the book can compute, what not."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from chaos_utils.base.errors import counted
from chaos_utils.datasets.cells import as_number
from chaos_utils.datasets.frame import Column, Frame
from chaos_utils.datasets.labels import is_rating
from chaos_utils.datasets.layout import Layout, described, layout_of
from chaos_utils.datasets.readers import read_noting
from chaos_utils.datasets.votes import ENOUGH_VOTES, Ints, Votes

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
        ``long``, ``wide``, ``columns`` or another one that a dataset's YAML file names.
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


def check_votes(votes: Votes, faults: Sequence[str] = ()) -> Findings:
    """Say what was found in votes, and what is wrong with them."""
    found = Findings(votes.source.name.removeprefix("own-data/"), votes.dataset.reader.format)
    found.rows = found.items = len(votes)
    found.faults += faults
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
    """Say what stands in a votes file that nothing describes, faults and all."""
    layout, content, frame = layout_of(path, item=item, annotator=annotator, label=label)
    dataset = described(path, layout)
    texts, others, alike = _others(frame, layout)
    votes, noted = read_noting([path], dataset, any_number=True, given=(content, frame))
    del content, frame  # which may be large
    faults, labels = noted.shown, layout.labels
    if layout.format != "wide" and is_rating(labels):
        faults.append(
            f"the labels are numbers on a scale, {len(labels)} different ones from "
            f"{min(labels, key=float)} to {max(labels, key=float)}: name the rule "
            "that cuts it into classes, `chaos dataset init --cut`"
        )
    beside = "by the YAML file of `chaos dataset init`: not all columns are votes"
    found = check_votes(votes, faults)
    found.text_columns, found.other_columns = texts, others
    found.abilities.clear()
    _abilities(found, beside if layout.format == "wide" and layout.others else "")
    if alike:
        found.remarks.insert(0, f"{counted(alike, 'item')} with the texts of another item")
    shown = ("item", "annotator", "label", "labels", "annotators", "n_votes", "each", "where")
    found.columns = {
        what: _listed(layout.reader[what]) for what in shown if layout.reader.get(what)
    }
    if not layout.reader.get("item"):
        found.columns["items"] = "numbered from 0"
    if layout.format == "wide":
        found.columns["votes"] = ", ".join(labels)
    return found, layout


def _listed(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(
            f"{name} = {' or '.join(map(str, values))}" for name, values in value.items()
        )
    return value if isinstance(value, str) else ", ".join(map(str, value))


def _others(frame: Frame, layout: Layout) -> tuple[list[str], list[str], int]:
    """Return the columns with one text per item, the others, and how many items are alike."""
    items = Column(np.arange(len(frame), dtype=np.int32), list(range(len(frame))))
    if layout.reader.get("item"):
        items = frame.column(layout.reader["item"]).identifiers()
    there = items.codes >= 0
    first = np.zeros(len(items.values), dtype=np.int64)
    rows = np.flatnonzero(there)[::-1]
    first[items.codes[rows]] = rows
    names: list[str] = []
    for name in layout.others:  # an object's parts, one level down
        parts = dict.fromkeys(key for value in frame.column(name).values
                              if isinstance(value, dict) for key in value)  # fmt: skip
        names += [f"{name}.{key}" for key in parts] or [name]
    texts: dict[str, Ints] = {}
    for name in names:
        cells = frame.column(name).identifiers()
        is_text = any(" " in one for one in cells.values)
        is_text |= len(cells.values) > len(items.values) / 2
        is_text &= all(isinstance(value, str) for value in frame.column(name).values)
        is_text &= any(as_number(one) is None for one in cells.values)
        codes = cells.codes[there]
        same = codes == cells.codes[first][items.codes[there]]
        if is_text and (codes >= 0).all() and same.all():
            texts[name] = cells.codes[first].astype(np.int64)
    alike = 0
    if texts:
        alike = len(first) - len(np.unique(np.column_stack(list(texts.values())), axis=0))
    return list(texts), [name for name in names if name not in texts], alike


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
    if found.votes_per_item.get(1):
        found.remarks.append(f"one vote on {counted(found.votes_per_item[1], 'item')}")
    never = [name for name, n in found.labels.items() if n == 0]
    if never:
        found.remarks.append(f"no vote for {counted(len(never), 'label')}")


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


def _abilities(
    found: Findings, beside: str = "", *, ordered: bool = False, old: bool = False
) -> None:
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
    why = "the faults above come first" if found.faults else beside
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

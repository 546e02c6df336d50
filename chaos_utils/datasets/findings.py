"""What a votes file holds, before anything is made of it: what the book can compute, what not."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from chaos_utils.base.errors import counted
from chaos_utils.base.files import uncollected
from chaos_utils.base.inputs import OWN
from chaos_utils.datasets.faults import Faults
from chaos_utils.datasets.frame import Column, Frame
from chaos_utils.datasets.layout import layout_of
from chaos_utils.datasets.people import holds_names, names_annotators
from chaos_utils.datasets.readers import read_noting
from chaos_utils.datasets.recognition.candidates import columns_of
from chaos_utils.datasets.recognition.readings import Layout, to_dataset
from chaos_utils.datasets.texts import annotators_of, why_no_text
from chaos_utils.datasets.votes import ENOUGH_VOTES, Ints, Votes

_MOST_ANNOTATORS = 3000  # pairs of more take too much memory
_LITTLE = 0.25  # of the greatest entropy: bias beyond it is no longer as the first term says


@dataclass(frozen=True, slots=True)
class Capability:
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
        Each tells items apart: it is there on all of them, and seldom the same on two.
    other_columns : list of str
    reasons : dict of str
        Why each of these columns is a text of the items, or is none.
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
    reasons: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    abilities: list[Capability] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


def check_votes(votes: Votes, faults: Sequence[str] = ()) -> Findings:
    """Say what was found in votes, and what is wrong with them."""
    found = Findings(votes.source.name.removeprefix(OWN), votes.dataset.reader.format)
    found.rows = found.items = len(votes)
    found.faults += faults
    found.text_columns = list(votes.dataset.text_fields)
    for name in found.text_columns if votes.texts else ():
        n_texts = len({texts[name] for texts in votes.texts})
        found.reasons[name] = f"{n_texts:,} different on {counted(len(votes), 'item')}"
    known = votes.annotations
    if known is not None:
        found.rows = len(known.item)
        _people(found, known.item, known.annotator, len(votes))
        for field_name, said in known.fields.items():
            groups = Counter(said[k] for k in known.annotator.tolist())
            listed = ", ".join(f"{group or 'not stated'} ({n:,})" for group, n in groups.items())
            if 2 < len(said) == len(groups):  # which is who they are
                listed = f"each annotator's is another, {len(groups):,} of them"
            found.remarks.append(f"votes by {field_name!r}: {listed}")
    found.remarks += list(votes.notes)
    _counted(found, votes.counts, votes.dataset.codes)
    found.abilities = _abilities(found, ordered=votes.dataset.ordered, old=votes.has_old_labels)
    return found


@uncollected()
def check_file(
    path: Path, *, item: str = "", annotator: str = "", label: str = ""
) -> tuple[Findings, Layout]:
    """Say what stands in a votes file that nothing describes, faults and all."""
    layout, content, frame = layout_of(path, item=item, annotator=annotator, label=label)
    dataset = to_dataset(path, layout)
    texts, others, alike = _texts(frame, layout)
    votes, noted = read_noting([path], dataset, any_number=True, given=(content, frame))
    spread = frame.spread()
    del content, frame  # which may be large
    faults = [*noted.shown, *([layout.rating] if layout.rating else [])]
    beside = "by the YAML file of `chaos dataset init`: not all columns are votes"
    found = check_votes(votes, faults)
    found.text_columns, found.other_columns = [*texts], [*others]
    found.reasons = texts | others
    found.abilities = _abilities(found, beside if layout.unused else "")
    if spread:
        found.remarks.append(spread)
    if alike:
        found.remarks.insert(0, f"{counted(alike, 'item')} with the texts of another item")
    shown = ("item", "annotator", "label", "labels", "annotators", "n_votes", "each", "where")
    if layout.finer:
        found.remarks.insert(
            0,
            f"{layout.finer!r} differs within items, with several votes on "
            "each: are these items of their own? then name both columns: "
            f"--item {','.join([*columns_of(layout.reader['item']), layout.finer])}",
        )
    found.columns = {
        what: _listed(layout.reader[what]) for what in shown if layout.reader.get(what)
    }
    if not (layout.reader.get("item") or layout.format == "chaosnli"):
        found.columns["items"] = "numbered from 0"
    if layout.format == "wide":
        found.columns["votes"] = ", ".join(layout.labels)
        found.labels = {layout.names.get(name, name): n for name, n in found.labels.items()}
    return found, layout


def text_columns(path: Path) -> list[str]:
    """Return the columns of a votes file that nothing describes that hold the items' texts."""
    layout, _, frame = layout_of(path)
    return list(_texts(frame, layout)[0])


def _listed(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(
            f"{name} = {' or '.join(map(str, values))}" for name, values in value.items()
        )
    return value if isinstance(value, str) else ", ".join(map(str, value))


def _texts(frame: Frame, layout: Layout) -> tuple[dict[str, str], dict[str, str], int]:
    """Return the columns with texts of the items, and others, with why, and how many items repeat.

    A column of objects has its fields in its place, where most objects have them.
    """
    if not layout.others:
        return {}, {}, 0
    if layout.reader.get("where") and not layout.reader.get("each"):
        frame = frame.where(layout.reader["where"], Faults(None, "votes", expected="", todo=""))
    items = Column(np.arange(len(frame), dtype=np.int32), list(range(len(frame))))
    if layout.reader.get("item"):
        items = frame.key(layout.reader["item"])
    people = annotators_of(frame, layout.reader)
    texts: dict[str, Ints] = {}
    others: dict[str, str] = {}
    spelled: dict[str, int] = {}
    for column in layout.others:
        for name in _fields(frame, column, people):
            cells = frame.column(name)
            why = why_no_text(name, cells, items, people, layout.labels)
            if why:
                others[name] = why
            else:
                texts[name] = cells.identifiers.codes[items.first].astype(np.int64)
                spelled[name] = len(np.unique(items.codes[~cells.is_same_within(items)]))
    alike = 0
    if texts:
        apart = np.unique(np.column_stack(list(texts.values())), axis=0)
        alike = len(items.first) - len(apart)
    n_items = counted(len(items.first), "item")
    found = {}
    for name, codes in texts.items():
        found[name] = f"{len(np.unique(codes)):,} different on {n_items}"
        if spelled[name]:
            said = counted(spelled[name], "item")
            found[name] += f"; white space or Unicode forms alone differ within {said}"
    return found, others, alike


def _fields(frame: Frame, column: str, people: Collection[str]) -> list[str]:
    """Return a column, or what is inside its objects, whose keys may be people's names."""
    values = frame.column(column).values
    objects = [value for value in values if isinstance(value, dict)]
    keys = Counter(key for value in objects for key in value)
    if names_annotators(column) or holds_names([*keys], people):
        return [column]
    usual = [key for key, times in keys.items() if 2 * times > len(objects)]
    return [f"{column}.{key}" for key in usual] or [column]


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

    ones = np.ones(len(item), dtype=np.int32)
    judged = coo_array((ones, (item, annotator)), shape=(n_items, annotator.max() + 1)).tocsr()
    judged.data[:] = 1
    common = (judged.T @ judged).tocoo()
    common = common.data[common.row < common.col]
    found.annotators["pairs"] = len(common) / (len(each) * (len(each) - 1) / 2)
    found.annotators["median_common"] = float(np.median(common)) if len(common) else 0.0


def _abilities(
    found: Findings, beside: str = "", *, ordered: bool = False, old: bool = False
) -> list[Capability]:
    """Return what the book computes of such votes, and what not."""
    k, people = len(found.labels), found.annotators
    per_item = {n: items for n, items in found.votes_per_item.items() if n}
    fewest, single = min(per_item, default=0), found.votes_per_item.get(1, 0)
    several = sum(items for n, items in per_item.items() if n > 1)
    middle = int(np.median(np.repeat(list(per_item), list(per_item.values())))) if per_item else 0
    bias = (k - 1) / (2 * middle) if middle else 0.0
    low = f"low by about {bias:.2g} nats" if bias < _LITTLE * np.log(max(k, 2)) else "far too low"
    entropy = f"plug-in entropy is {low} at {middle} votes per item"
    entropy += "" if middle >= ENOUGH_VOTES else ": do not rank by it"
    overlap = people.get("pairs", people.get("number", 0) > 1) > 0
    apart = "" if overlap else "no two judged the same item"
    with_several = f"on {counted(several, 'item')} with two votes or more"
    with_one = f"one vote on {counted(single, 'item')}" if single else "no votes"
    abilities = (  # what, whether it can be computed, how well, or why not
        ("predictions judged by `chaos evaluate`", not found.faults, beside,
         "the faults above come first"),
        ("agreement, quadratic entropy and squared distance, unbiased", several > 0, with_several,
         "no item has two votes"),
        ("human equivalents, and a second crowd", fewest > 1, "", with_one),
        ("Shannon entropy", middle >= 2, entropy, "most items have no second vote"),
        ("annotators: agreement with the rest, Dawid–Skene", overlap and several > 0, "",
         apart if people else "who voted is not known"),
        ("items shown with their text", bool(found.text_columns), "",
         "no column has one text per item"),
        ("distances in steps of a scale", ordered, "",
         "say `ordered: true` in the YAML file if the labels are a scale"),
        ("comparison with an old gold label", old, "",
         "no column is named as reader.old_label in a YAML file"),
    )  # fmt: skip
    return [Capability(what, can, how if can else why) for what, can, how, why in abilities]

"""What a votes file holds, and what the book can and cannot compute from it."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from chaos_utils.base.errors import counted
from chaos_utils.base.files import uncollected
from chaos_utils.base.inputs import OWN
from chaos_utils.datasets.adaptive import signs_of_adaptive
from chaos_utils.datasets.faults import Faults
from chaos_utils.datasets.frame import Column, Frame
from chaos_utils.datasets.layout import layout_of
from chaos_utils.datasets.people import (
    holds_names,
    look_like_people,
    names_annotators,
    tells_groups,
)
from chaos_utils.datasets.readers import read_noting
from chaos_utils.datasets.recognition.candidates import columns_of
from chaos_utils.datasets.recognition.readings import Layout, to_dataset
from chaos_utils.datasets.splits import item_groups
from chaos_utils.datasets.texts import annotators_of, why_no_text
from chaos_utils.datasets.votes import BY_PLACE, ENOUGH_VOTES, FOR_A_VERDICT, Ints, Votes
from chaos_utils.datasets.words import questions_on_spelling
from chaos_utils.metrics.replacement import FEWEST_ITEMS

_MANY_NAMES = 12  # labels, beyond which they may be names of people
_N_BIASED = 5  # first abilities, which votes asked where the vote is close would bias
_MOST_ANNOTATORS = 3000  # all pairs of more annotators take too much memory
# Of the greatest entropy: a larger bias is no longer close to the first term of its expansion.
_MOST_BIAS = 0.25


@dataclass(frozen=True, slots=True)
class Capability:
    """Something that the book computes: whether it can for these votes, and how well or why not."""

    what: str
    possible: bool
    why: str = ""


@dataclass(slots=True)
class Findings:
    """The content of a votes file.

    Attributes
    ----------
    file : str
    format : str
        ``long``, ``wide``, ``columns`` or another format that a dataset's YAML file names.
    columns : dict of str
        Column by what it was recognised as, such as ``item``.
    rows, items, votes : int
    labels : dict of int
        Votes by label; labels that look like people's names are numbered.
    votes_per_item : dict of int
        Items by their number of votes.
    unanimous, ties : int
        Items with two votes or more on which all votes agree, or on which labels tie for the most.
    annotators : dict
        ``number`` of annotators; ``fewest``, ``median`` and ``most`` votes of an annotator;
        ``tested``, the annotators with enough items that others labelled too for the replacement
        test, where items of one text count as one;
        ``pairs``, the share of pairs of annotators with items in common; ``median_common``, the
        median number of these items. Empty where the annotators are not known.
    text_columns : list of str
        Columns with one text per item that tells items apart: all items have one, and few share it.
    other_columns : list of str
    reasons : dict of str
        Why each text column is a text of the items, and why each other column is not.
    faults : list of str
        Faults for which `chaos evaluate` refuses the file.
    remarks : list of str
        What looks odd, but is read without a change.
    adaptive : str
        What shows that votes were asked where the vote is close, and nothing says which came first;
        empty where nothing does.
    abilities : list of Capability
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
    adaptive: str = ""
    abilities: list[Capability] = field(default_factory=list)


def check_votes(votes: Votes, faults: Sequence[str] = ()) -> Findings:
    """Return the findings on votes, with the faults of their file."""
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
        known = known.first
        _add_annotators(found, known.item, known.annotator, item_groups([votes])[0])
        for field_name, groups in known.fields.items():
            n_votes = Counter(groups[k] for k in known.annotator.tolist())
            listing = ", ".join(f"{group or 'not stated'} ({n:,})" for group, n in n_votes.items())
            if 2 < len(groups) == len(n_votes):  # such a field tells who the annotators are
                listing = f"each annotator's is another, {len(n_votes):,} of them"
            found.remarks.append(f"votes by {field_name!r}: {listing}")
    found.remarks += list(votes.notes)
    _add_counts(found, votes.counts, votes.dataset.codes)
    found.adaptive = signs_of_adaptive(votes)
    found.abilities = _abilities(found, ordered=votes.dataset.ordered, old=votes.has_old_labels)
    return found


@uncollected()
def check_file(
    path: Path, *, item: str = "", annotator: str = "", label: str = ""
) -> tuple[Findings, Layout]:
    """Return the findings on a votes file without a YAML file, and its layout."""
    layout, content, frame = layout_of(path, item=item, annotator=annotator, label=label)
    dataset = to_dataset(path, layout)
    texts, non_texts, n_repeats = _texts(frame, layout)
    for name in filter(partial(_could_be_compared, frame, layout), non_texts):
        non_texts[name] += f"; to compare groups, add annotator_fields: [{name!r}] to reader"
    votes, file_faults = read_noting([path], dataset, any_number=True, parsed=(content, frame))
    multiline_rows = frame.describe_multiline_rows()
    del content, frame  # which may be large
    faults = [*file_faults.shown, *([layout.rating] if layout.rating else [])]
    unused_columns = "by the YAML file of `chaos dataset init`: not all columns are votes"
    found = check_votes(votes, faults)
    found.text_columns, found.other_columns = [*texts], [*non_texts]
    found.reasons = texts | non_texts
    found.abilities = _abilities(found, unused_columns if layout.unused else "")
    if multiline_rows:
        found.remarks.append(multiline_rows)
    if n_repeats:
        found.remarks.insert(0, f"{counted(n_repeats, 'item')} with the texts of another item")
    fields = (
        "item",
        "annotator",
        "round",
        "batch",
        "label",
        "labels",
        "annotators",
        "n_votes",
        "each",
        "where",
    )
    if layout.finer:
        found.remarks.insert(
            0,
            f"{layout.finer!r} differs within items, with several votes on "
            "each: are these items of their own? then name both columns: "
            f"--item {','.join([*columns_of(layout.reader['item']), layout.finer])}",
        )
    found.columns = {
        what: _listed(layout.reader[what]) for what in fields if layout.reader.get(what)
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


def _could_be_compared(frame: Frame, layout: Layout, name: str) -> bool:
    """Return whether a column groups the annotators of rows of votes, such as by their gender."""
    annotator = layout.reader.get("annotator")
    if layout.format != "long" or not annotator or not tells_groups(name):
        return False
    return bool(frame.column(name).is_same_within(frame.key(annotator)).all())


def _listed(value: Any) -> str:
    """Return a field of a reader as a message shows it: a column, several, or conditions."""
    if isinstance(value, dict):
        return ", ".join(
            f"{name} = {' or '.join(map(str, values))}" for name, values in value.items()
        )
    return value if isinstance(value, str) else ", ".join(map(str, value))


def _texts(frame: Frame, layout: Layout) -> tuple[dict[str, str], dict[str, str], int]:
    """Return text columns with why, other columns with why not, and how many items repeat.

    An item repeats if an earlier item has the same texts. A column of objects is replaced by the
    fields that most of the objects have.
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
    non_texts: dict[str, str] = {}
    n_respelled: dict[str, int] = {}  # items whose rows differ in the spelling of the text alone
    for column in layout.others:
        for name in _fields(frame, column, people):
            cells = frame.column(name)
            why = why_no_text(name, cells, items, people, layout.labels)
            if why:
                non_texts[name] = why
            else:
                texts[name] = cells.identifiers.codes[items.first].astype(np.int64)
                n_respelled[name] = len(np.unique(items.codes[~cells.is_same_within(items)]))
    n_repeats = 0
    if texts:
        different = np.unique(np.column_stack(list(texts.values())), axis=0)
        n_repeats = len(items.first) - len(different)
    n_items = counted(len(items.first), "item")
    reasons = {}
    for name, codes in texts.items():
        reasons[name] = f"{len(np.unique(codes)):,} different on {n_items}"
        if n_respelled[name]:
            within = counted(n_respelled[name], "item")
            reasons[name] += f"; white space or Unicode forms alone differ within {within}"
    return reasons, non_texts, n_repeats


def _fields(frame: Frame, column: str, people: Collection[str]) -> list[str]:
    """Return the paths of the usual fields in a column of objects, or else the column itself.

    Objects whose keys may be people's names are not looked into.
    """
    values = frame.column(column).values
    objects = [value for value in values if isinstance(value, dict)]
    keys = Counter(key for value in objects for key in value)
    if names_annotators(column) or holds_names([*keys], people):
        return [column]
    usual = [key for key, times in keys.items() if 2 * times > len(objects)]
    return [f"{column}.{key}" for key in usual] or [column]


def _add_counts(found: Findings, counts: Ints, labels: tuple[str, ...]) -> None:
    """Add the numbers of votes by label and by item; `counts` has shape (items, labels)."""
    totals = counts.sum(axis=1)
    found.votes = int(totals.sum())
    if len(labels) > _MANY_NAMES and look_like_people(labels):
        labels = tuple(f"label {k + 1}" for k in range(len(labels)))
        found.remarks.append(
            "the labels look like people's names, and are not shown: is this the column of the "
            "annotators?"
        )
    found.labels = dict(zip(labels, counts.sum(axis=0).tolist(), strict=True))
    found.remarks += questions_on_spelling(found.labels)
    numbers, items = np.unique(totals, return_counts=True)
    found.votes_per_item = dict(zip(numbers.tolist(), items.tolist(), strict=True))
    most = counts.max(axis=1, initial=0)
    has_several = totals > 1
    found.unanimous = int((has_several & (most == totals)).sum())
    found.ties = int((has_several & ((counts == most[:, None]).sum(axis=1) > 1)).sum())
    if found.votes_per_item.get(1):
        found.remarks.append(f"one vote on {counted(found.votes_per_item[1], 'item')}")
    never = [name for name, n in found.labels.items() if n == 0]
    if never:
        found.remarks.append(f"no vote for {counted(len(never), 'label')}")


def _add_annotators(found: Findings, item: Ints, annotator: Ints, group: Ints) -> None:
    """Add how many votes annotators gave, and how many items they share.

    `item` and `annotator` have shape (n_votes,), `group` (n_items,): items that share a text.
    """
    n_votes = np.bincount(annotator)
    n_votes = n_votes[n_votes > 0]
    n_annotators = len(n_votes)
    found.annotators = {
        "number": n_annotators,
        "fewest": int(n_votes.min()) if n_annotators else 0,
        "median": float(np.median(n_votes)) if n_annotators else 0.0,
        "most": int(n_votes.max(initial=0)),
        "tested": int((_n_shared(item, annotator, group) >= FEWEST_ITEMS).sum()),
    }
    if not 2 <= n_annotators <= _MOST_ANNOTATORS:
        return
    from scipy.sparse import coo_array  # slow to import

    ones = np.ones(len(item), dtype=np.int32)
    judged = coo_array((ones, (item, annotator)), shape=(len(group), annotator.max() + 1)).tocsr()
    judged.data[:] = 1
    products = (judged.T @ judged).tocoo()  # items in common, by pair of annotators
    n_common = products.data[products.row < products.col]
    found.annotators["pairs"] = len(n_common) / (n_annotators * (n_annotators - 1) / 2)
    found.annotators["median_common"] = float(np.median(n_common)) if len(n_common) else 0.0


def _n_shared(item: Ints, annotator: Ints, group: Ints) -> Ints:
    """Return how many items, or groups of items, others labelled too, by annotator."""
    width = annotator.max(initial=0) + 1
    items, people = np.divmod(np.unique(item * width + annotator), width)
    is_shared = np.bincount(items)[items] > 1
    shared = group[items[is_shared]] * width + people[is_shared]
    return np.bincount(np.unique(shared) % width)


def _abilities(
    found: Findings, unused_columns: str = "", *, ordered: bool = False, old: bool = False
) -> list[Capability]:
    """Return what the book can and cannot compute from such votes.

    `unused_columns` is the remark on columns that hold no votes, `ordered` says whether the labels
    are a scale, and `old` whether there are labels of an original dataset.
    """
    k, people = len(found.labels), found.annotators
    per_item = {n: items for n, items in found.votes_per_item.items() if n}
    fewest, n_single = min(per_item, default=0), found.votes_per_item.get(1, 0)
    n_several = sum(items for n, items in per_item.items() if n > 1)
    median = int(np.median(np.repeat(list(per_item), list(per_item.values())))) if per_item else 0
    bias = (k - 1) / (2 * median) if median else 0.0
    is_small = bias < _MOST_BIAS * np.log(max(k, 2))
    low = f"low by about {bias:.2g} nats" if is_small else "far too low"
    entropy = f"plug-in entropy is {low} at {median} votes per item"
    entropy += "" if median >= ENOUGH_VOTES else ": do not rank by it"
    overlap = people.get("pairs", people.get("number", 0) > 1) > 0
    no_overlap = "" if overlap else "no two judged the same item"
    unknown = "who voted is not known"
    by_place = f"; {BY_PLACE}" if found.format == "columns" else ""
    no_verdict = no_overlap or (
        f"a verdict needs {FOR_A_VERDICT} annotators with {FEWEST_ITEMS} shared items each"
    )
    with_several = f"on {counted(n_several, 'item')} with two votes or more"
    with_one = f"one vote on {counted(n_single, 'item')}" if n_single else "no votes"
    adaptive = (
        f"votes were asked where the vote is close: {found.adaptive}; people seem to disagree more "
        "than they do: name the column `reader.batch`, or say `adaptive: false`"
    )
    abilities = [  # what, whether it can be computed, how well, or why not
        ("predictions judged by `chaos evaluate`", not found.faults, unused_columns,
         "the faults above come first"),
        ("agreement, quadratic entropy and squared distance, unbiased", n_several > 0, with_several,
         "no item has two votes"),
        ("human equivalents, and a second crowd", fewest > 1, "", with_one),
        ("Shannon entropy", median >= 2, entropy, "most items have no second vote"),
        ("replacement test: whether a model may replace an annotator",
         people.get("tested", 0) >= FOR_A_VERDICT, "",
         no_verdict if people else unknown + by_place),
        ("annotators: agreement with the rest, Dawid–Skene", overlap and n_several > 0, "",
         no_overlap if people else unknown),
        ("items shown with their text", bool(found.text_columns), "",
         "no column has one text per item"),
        ("distances in steps of a scale", ordered, "",
         "say `ordered: true` in the YAML file if the labels are a scale"),
        ("comparison with an old gold label", old, "",
         "no column is named as reader.old_label in a YAML file"),
    ]  # fmt: skip
    if found.adaptive and not found.faults:
        biased = abilities[:_N_BIASED]
        reasons = [adaptive, *["for the same reason"] * (_N_BIASED - 1)]
        abilities[:_N_BIASED] = [
            (what, False, "", why) for (what, *_), why in zip(biased, reasons, strict=True)
        ]
    return [Capability(what, can, how if can else why) for what, can, how, why in abilities]

"""ChaosNLI's JSON lines as `Votes`: every fault is found, none is repaired."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from chaos_utils.base import inputs
from chaos_utils.datasets.cells import MOST_VOTES, as_count, parse
from chaos_utils.datasets.dataset import ChaosNLIReader, Dataset
from chaos_utils.datasets.faults import Faults, shorten, wrong
from chaos_utils.datasets.frame import Content, lines
from chaos_utils.datasets.votes import Votes, frozen

_Index = Callable[[object], int | None]
SYNTHETIC = "synthetic_sample"  # in an item's `source` field, marks the bundled sample
_TOLERANCE = 1e-6


def read_chaosnli(
    path: Path, dataset: Dataset, name: str | None = None, *, any_number: bool = False
) -> Votes:
    """Read and check a file in ChaosNLI's format."""
    n_votes = None if any_number else dataset.n_votes or None
    content = Content.of(path)
    faults = Faults(
        path,
        dataset.title,
        expected="ChaosNLI's format: one JSON object per line",
        todo="correct these lines, or fetch the published file with `chaos data fetch`",
    )
    rows: list[dict[str, Any]] = []
    place_of: dict[str, str] = {}
    index = _index(dataset)
    for number, text in lines(content):
        place = f"line {number}"
        row, problems = _parse(text)
        if row is not None:
            problems = list(_faults(row, dataset, n_votes, index))
            uid = row.get("uid")
            if isinstance(uid, str) and uid in place_of:
                problems.append(
                    f"field 'uid': found {shorten(uid)}, which {place_of[uid]} has too; "
                    "expected unique uids"
                )
            elif isinstance(uid, str):
                place_of[uid] = place
            rows.append(row)
        faults.add(place, problems)
    faults.check()
    if not rows:
        raise faults.fatal("The data file is empty.")
    return _votes(rows, dataset, name or path.name, content.sha256, index)


def _index(dataset: Dataset) -> _Index:
    """Return `Dataset.label_index`, made fast for the same few labels thousands of times."""
    remembered = lru_cache(typed=True)(dataset.label_index)
    return lambda label: remembered(label) if isinstance(label, str | int) else None


def _votes(
    rows: list[dict[str, Any]], dataset: Dataset, name: str, sha256: str, known: _Index
) -> Votes:
    def index(label: object) -> int:
        found = known(label)
        assert found is not None  # every label was checked
        return found

    old_label = [index(row["old_label"]) for row in rows]
    old_votes = np.zeros((len(rows), dataset.n_classes), dtype=np.int64)
    for i, row in enumerate(rows):
        for label in row["old_labels"] if dataset.n_old_labels else [row["old_label"]]:
            old_votes[i, index(label)] += 1
    synthetic = any(row["example"].get("source") == SYNTHETIC for row in rows)
    if synthetic:
        name = f"synthetic-sample/{Path(name).name}"
    return Votes(
        dataset=dataset,
        uids=tuple(row["uid"] for row in rows),
        counts=frozen([row["label_count"] for row in rows]),
        majority=frozen([index(row["majority_label"]) for row in rows]),
        given_old_label=frozen(old_label),
        given_old_votes=frozen(old_votes),
        texts=tuple(
            MappingProxyType({field: row["example"][field] for field in dataset.text_fields})
            for row in rows
        ),
        source=inputs.Input(name, sha256, synthetic),
    )


def tallied(dataset: Dataset, votes: Sequence[str]) -> dict[str, Any]:
    """Return what a row in this format says of the votes on its item, which are labels' codes.

    Of labels that are as common, the one that was voted first is the majority's.
    """
    tally = Counter(votes)
    counts = [tally[code] for code in dataset.codes]
    shares = [count / len(votes) for count in counts]
    return {
        "label_counter": dict(tally),
        "majority_label": as_stored(dataset, tally.most_common(1)[0][0]),
        "label_dist": shares,
        "label_count": counts,
        "entropy": -sum(share * math.log2(share) for share in shares if share) + 0.0,
    }


def as_stored(dataset: Dataset, code: str) -> str | int:
    """Return a label's code as a row has it: a number in some datasets."""
    is_integer = isinstance(dataset.reader, ChaosNLIReader) and dataset.reader.integer_labels
    return int(code) if is_integer else code


_FIELDS: Mapping[str, type | tuple[type, ...]] = {
    "uid": str,
    "label_counter": dict,
    "majority_label": (str, int),
    "label_dist": list,
    "label_count": list,
    "example": dict,
    "old_label": (str, int),
}


def _parse(text: str) -> tuple[dict[str, Any] | None, list[str]]:
    """Return a line's object, or None and what is wrong with it."""
    try:
        row = parse(text)
    except ValueError as fault:
        return None, [str(fault)]
    if not isinstance(row, dict):
        return None, [f"found {shorten(text)}; expected a JSON object"]
    return row, []


def _faults(
    row: dict[str, Any], dataset: Dataset, n_votes: int | None, index: _Index
) -> Iterator[str]:
    """Yield every fault of one line as 'field …: found …; expected …'."""
    fields = dict(_FIELDS) | ({"old_labels": list} if dataset.n_old_labels else {})
    mistyped = [
        wrong(field, row.get(field), _type_name(kind))
        for field, kind in fields.items()
        if not isinstance(row.get(field), kind)
    ]
    if mistyped:
        yield from mistyped
        return
    if not row["uid"]:
        yield "field 'uid': found an empty text; expected an identifier"
    inner = row["example"].get("uid", row["uid"])
    if inner != row["uid"]:
        yield wrong("example.uid", inner, f"{shorten(row['uid'])}, as in 'uid'")
    for field in dataset.text_fields:
        if not isinstance(row["example"].get(field), str):
            yield wrong(f"example.{field}", row["example"].get(field), "text")
    yield from _label_faults(row, dataset, index)
    yield from _count_faults(row, dataset, n_votes, index)


def _label_faults(row: dict[str, Any], dataset: Dataset, index: _Index) -> Iterator[str]:
    known = f"one of {', '.join(dataset.codes)}"
    for field in ("majority_label", "old_label"):
        if index(row[field]) is None:
            yield wrong(field, row[field], known)
    if not dataset.n_old_labels:
        return
    labels = row["old_labels"]
    if len(labels) not in dataset.n_old_labels:
        yield f"field 'old_labels': found {len(labels)} labels; expected 5, or 4"
    for label in labels:
        if index(label) is None:
            yield wrong("old_labels", label, " or ".join(dataset.labels))
    tally = Counter(map(index, labels))
    old = index(row["old_label"])
    if None not in (old, *tally) and tally[old] != max(tally.values(), default=0):
        yield wrong("old_label", row["old_label"], "a label that most of 'old_labels' are")


def _count_faults(
    row: dict[str, Any], dataset: Dataset, n_votes: int | None, index: _Index
) -> Iterator[str]:
    counts = row["label_count"]
    if len(counts) != dataset.n_classes or not all(
        isinstance(count, int) and as_count(count) is not None for count in counts
    ):
        expected = f"{dataset.n_classes} whole numbers from 0 to {MOST_VOTES:,}"
        yield wrong("label_count", counts, expected)
        return
    total = sum(counts)
    if total != (n_votes or total) or total == 0:
        yield (
            f"field 'label_count': found {counts}, which sums to {total}; "
            f"expected {n_votes or 'at least 1'} votes"
        )
        return
    counter = {code: count for code, count in zip(dataset.codes, counts, strict=True) if count}
    stored = {code: count for code, count in row["label_counter"].items() if count}
    if stored != counter:
        yield (
            f"field 'label_counter': found {shorten(stored)}; "
            f"expected {counter}, to agree with label_count {counts}"
        )
    dist = row["label_dist"]
    shares = [count / total for count in counts]
    if len(dist) != len(shares) or not all(
        _is_near(value, share) for value, share in zip(dist, shares, strict=True)
    ):
        yield (
            f"field 'label_dist': found {shorten(dist)}; expected label_count divided by its "
            f"sum {total}: {[round(share, 6) for share in shares]}"
        )
    entropy = -sum(share * math.log2(share) for share in shares if share) + 0.0
    if "entropy" in row and not _is_near(row["entropy"], entropy):
        yield wrong("entropy", row["entropy"], f"that of label_count in bits, {entropy:.6f}")
    majority = index(row["majority_label"])
    if majority is not None and counts[majority] != max(counts):
        yield (
            f"field 'majority_label': found {shorten(row['majority_label'])} with "
            f"{counts[majority]} votes; expected a label with the most votes, {max(counts)}"
        )


def _is_near(value: object, expected: float) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and expected - _TOLERANCE <= value <= expected + _TOLERANCE
    )


def _type_name(kind: type | tuple[type, ...]) -> str:
    names = {str: "text", int: "an integer", dict: "an object", list: "a list"}
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return " or ".join(names[one] for one in kinds)

"""ChaosNLI's JSON lines as `Votes`: every fault is found, none is repaired."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from chaos_utils.base import inputs
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.votes import Votes, frozen

SYNTHETIC = "synthetic_sample"  # in an item's `source` field, marks the bundled sample
_SHOWN_FAULTS = 5
_DIST_TOLERANCE = 1e-6


def read_chaosnli(
    path: Path, dataset: Dataset, name: str | None = None, *, any_number: bool = False
) -> Votes:
    """Read and check a file in ChaosNLI's format.

    Parameters
    ----------
    path : Path
        A file with one JSON object a line.
    dataset : Dataset
        Which dataset it must be of.
    name : str, optional
        How records and figures name the file; its base name by default.
    any_number : bool
        Whether an item may have another number of votes than the published ones.

    Returns
    -------
    Votes
        Items in the order of the file.

    Raises
    ------
    ChaosError
        If the file is empty or has faults: all are counted, the first few are shown
        with line, field, what was found and what was expected.
    """
    expected = dataset
    n_votes = None if any_number else dataset.n_votes or None
    faults: list[str] = []
    rows: list[dict[str, Any]] = []
    line_of: dict[str, int] = {}
    for number, text in _lines(path):
        row, problems = _parse(text)
        if row is not None:
            problems = list(_faults(row, expected, n_votes))
            uid = row.get("uid")
            if isinstance(uid, str) and uid in line_of:
                problems.append(
                    f"field 'uid': found {uid!r}, which line {line_of[uid]} has too; "
                    "expected unique uids"
                )
            elif isinstance(uid, str):
                line_of[uid] = number
            rows.append(row)
        faults += [f"line {number}, {problem}" for problem in problems]
    if faults:
        more = len(faults) - _SHOWN_FAULTS
        shown = faults[:_SHOWN_FAULTS] + ([f"and {more} more"] if more > 0 else [])
        plural = "s" if len(faults) > 1 else ""
        raise ChaosError(
            f"{len(faults)} fault{plural} in a file of {expected.title}.",
            where=path,
            found="\n".join(shown),
            expected="ChaosNLI's format: one JSON object a line",
            todo="correct these lines, or fetch the published file with `chaos data fetch`",
        )
    if not rows:
        raise ChaosError(
            "The data file is empty.",
            where=path,
            expected=f"items of {expected.title}, one JSON object a line",
            todo="fetch the published file with `chaos data fetch`",
        )
    return _opinions(rows, expected, name or path.name, inputs.digest(path))


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8") as stream:
            for number, text in enumerate(stream, start=1):
                if text.strip():
                    yield number, text
    except UnicodeDecodeError as fault:
        raise ChaosError(
            "The data file is not UTF-8 text.", where=path, found=f"byte {fault.start}: {fault}"
        ) from fault


def _opinions(rows: list[dict[str, Any]], dataset: Dataset, name: str, sha256: str) -> Votes:
    def index(label: object) -> int:
        found = dataset.label_index(label)
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
        source=inputs.record(name, sha256, synthetic=synthetic),
    )


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
        row = json.loads(text)
    except json.JSONDecodeError as fault:
        found = f"column {fault.colno}: found {_shorten(text)}"
        return None, [f"{found}; expected JSON ({fault.msg})"]
    except (ValueError, RecursionError) as fault:  # a number or a nesting beyond any reason
        return None, [f"found {_shorten(text)}; expected JSON ({fault})"]
    if not isinstance(row, dict):
        return None, [f"found {_shorten(text)}; expected a JSON object"]
    return row, []


def _faults(row: dict[str, Any], dataset: Dataset, n_votes: int | None) -> Iterator[str]:
    """Yield every fault of one line as 'field …: found …; expected …'."""
    fields = dict(_FIELDS) | ({"old_labels": list} if dataset.n_old_labels else {})
    wrong = [
        f"field {field!r}: found {_shorten(row[field]) if field in row else 'nothing'}; "
        f"expected {_type_name(kind)}"
        for field, kind in fields.items()
        if not isinstance(row.get(field), kind)
    ]
    if wrong:
        yield from wrong
        return
    if not row["uid"]:
        yield "field 'uid': found an empty text; expected an identifier"
    for field in dataset.text_fields:
        if not isinstance(row["example"].get(field), str):
            found = _shorten(row["example"].get(field, "nothing"))
            yield f"field 'example.{field}': found {found}; expected text"
    yield from _label_faults(row, dataset)
    yield from _count_faults(row, dataset, n_votes)


def _label_faults(row: dict[str, Any], dataset: Dataset) -> Iterator[str]:
    known = f"one of {', '.join(dataset.codes)}"
    for field in ("majority_label", "old_label"):
        if dataset.label_index(row[field]) is None:
            yield f"field {field!r}: found {row[field]!r}; expected {known}"
    if not dataset.n_old_labels:
        return
    labels = row["old_labels"]
    if len(labels) not in dataset.n_old_labels:
        yield f"field 'old_labels': found {len(labels)} labels; expected 5, or 4"
    for label in labels:
        if dataset.label_index(label) is None:
            yield f"field 'old_labels': found {label!r}; expected {' or '.join(dataset.labels)}"


def _count_faults(row: dict[str, Any], dataset: Dataset, n_votes: int | None) -> Iterator[str]:
    counts = row["label_count"]
    if len(counts) != dataset.n_classes or not all(
        isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts
    ):
        yield (
            f"field 'label_count': found {_shorten(counts)}; "
            f"expected {dataset.n_classes} non-negative integers"
        )
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
            f"field 'label_counter': found {stored}; "
            f"expected {counter}, to agree with label_count {counts}"
        )
    dist = row["label_dist"]
    shares = [count / total for count in counts]
    if len(dist) != len(shares) or not all(
        _is_share(value) and abs(value - share) <= _DIST_TOLERANCE
        for value, share in zip(dist, shares, strict=True)
    ):
        yield (
            f"field 'label_dist': found {_shorten(dist)}; expected label_count divided by its "
            f"sum {total}: {[round(share, 6) for share in shares]}"
        )
    majority = dataset.label_index(row["majority_label"])
    if majority is not None and counts[majority] != max(counts):
        yield (
            f"field 'majority_label': found {row['majority_label']!r} with {counts[majority]} "
            f"votes; expected a label with the most votes, {max(counts)}"
        )


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1


def _shorten(value: object, limit: int = 60) -> str:
    text = repr(value.strip() if isinstance(value, str) else value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _type_name(kind: type | tuple[type, ...]) -> str:
    names = {str: "text", int: "an integer", dict: "an object", list: "a list"}
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return " or ".join(names[one] for one in kinds)

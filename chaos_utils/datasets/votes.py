"""ChaosNLI's files as validated, immutable `Opinions`."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base import inputs
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import TASKS, Task, get_task
from chaos_utils.datasets.registry import REGISTRY

SYNTHETIC = "synthetic_sample"  # in an item's `source` field, marks the bundled sample
_SHOWN_FAULTS = 5
_DIST_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Opinions:
    """The votes on the items of one task.

    Attributes
    ----------
    task : Task
        Labels and text fields; label k of every array is ``task.labels[k]``.
    uids : tuple of str
        Unique item identifiers, in file order; n items.
    votes : ndarray of int, shape (n, k)
        New votes for each label; read-only.
    majority : ndarray of int, shape (n,)
        The *stored* majority label. Ties were broken by annotation order when the data
        was made, so an argmax over `votes` differs on a few items.
    old_label : ndarray of int, shape (n,)
        The label of the original dataset.
    old_votes : ndarray of int, shape (n, k)
        The original votes (5 an item, on a few items 4); where only the gold label was
        released (αNLI), that label counts as the single vote.
    texts : tuple of mappings
        The item's text by field; never written into anything that is shared.
    source : Input
        The file that it was read from, with its digest.
    """

    task: Task
    uids: tuple[str, ...]
    votes: npt.NDArray[np.int64]
    majority: npt.NDArray[np.int64]
    old_label: npt.NDArray[np.int64]
    old_votes: npt.NDArray[np.int64]
    texts: tuple[Mapping[str, str], ...]
    source: inputs.Input

    def __len__(self) -> int:
        return len(self.uids)

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """Vote shares, shape (n, k); rows sum to 1."""
        return self.votes / self.votes.sum(axis=1, keepdims=True)

    @property
    def is_released(self) -> bool:
        """Whether these are, byte for byte, the votes that were released with the paper."""
        return self.source.sha256 == REGISTRY[self.task.file].sha256

    def index(self, uid: str) -> int:
        """Return the position of an item.

        Parameters
        ----------
        uid : str

        Returns
        -------
        int
            Counted from 0.

        Raises
        ------
        ChaosError
            If the task has no such item.
        """
        if uid not in self.uids:
            raise ChaosError("No such item.", where=self.task.title, found=uid)
        return self.uids.index(uid)


def load_opinions(task: str, data: str = "auto") -> Opinions:
    """Read the votes on a task.

    Parameters
    ----------
    task : {'snli', 'mnli', 'alphanli'}
        Which task.
    data : str
        ``auto``, ``released``, ``sample`` or a folder; see `sources.locate`.

    Returns
    -------
    Opinions

    Raises
    ------
    ChaosError
        If the file cannot be found, is not the published one, or has faults.
    """
    found = get_task(task)
    path = sources.locate(found.file, data)
    if data in sources.KEYWORDS:
        return read_opinions(path, task, name=found.file)
    return read_opinions(path, task, name=f"own-data/{path.name}", n_votes=None)


def load_datasets(data: str = "auto") -> list[Opinions]:
    """Read the votes on every task; of a folder, on every task that it holds.

    Parameters
    ----------
    data : str
        ``auto``, ``released``, ``sample`` or a folder; see `sources.locate`.

    Returns
    -------
    list of Opinions
        In the order of `TASKS`.

    Raises
    ------
    ChaosError
        As `load_opinions`; if a folder holds no task at all.
    """
    tasks = list(TASKS)
    if data not in sources.KEYWORDS:
        held = [name for name in tasks if sources.holds(TASKS[name].file, data)]
        tasks = held or tasks
    return [load_opinions(name, data) for name in tasks]


def read_opinions(
    path: Path, task: str, name: str | None = None, n_votes: int | None = 100
) -> Opinions:
    """Read and check a file in ChaosNLI's format.

    Parameters
    ----------
    path : Path
        A file with one JSON object a line.
    task : str
        Which task it must be of.
    name : str, optional
        How records and figures name the file; its base name by default.
    n_votes : int or None
        How many votes each item must have; None accepts any number.

    Returns
    -------
    Opinions
        Items in the order of the file.

    Raises
    ------
    ChaosError
        If the file is empty or has faults: all are counted, the first few are shown
        with line, field, what was found and what was expected.
    """
    expected = get_task(task)
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


def _opinions(rows: list[dict[str, Any]], task: Task, name: str, sha256: str) -> Opinions:
    def index(label: object) -> int:
        found = task.label_index(label)
        assert found is not None  # every label was checked
        return found

    old_label = [index(row["old_label"]) for row in rows]
    old_votes = np.zeros((len(rows), task.n_classes), dtype=np.int64)
    for i, row in enumerate(rows):
        for label in row["old_labels"] if task.n_old_labels else [row["old_label"]]:
            old_votes[i, index(label)] += 1
    synthetic = any(row["example"].get("source") == SYNTHETIC for row in rows)
    if synthetic:
        name = f"synthetic-sample/{Path(name).name}"
    return Opinions(
        task=task,
        uids=tuple(row["uid"] for row in rows),
        votes=_frozen([row["label_count"] for row in rows]),
        majority=_frozen([index(row["majority_label"]) for row in rows]),
        old_label=_frozen(old_label),
        old_votes=_frozen(old_votes),
        texts=tuple(
            MappingProxyType({field: row["example"][field] for field in task.text_fields})
            for row in rows
        ),
        source=inputs.record(name, sha256, synthetic=synthetic),
    )


def _frozen(values: Any) -> npt.NDArray[np.int64]:
    array = np.array(values, dtype=np.int64)
    array.setflags(write=False)
    return array


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


def _faults(row: dict[str, Any], task: Task, n_votes: int | None) -> Iterator[str]:
    """Yield every fault of one line as 'field …: found …; expected …'."""
    fields = dict(_FIELDS) | ({"old_labels": list} if task.n_old_labels else {})
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
    for field in task.text_fields:
        if not isinstance(row["example"].get(field), str):
            found = _shorten(row["example"].get(field, "nothing"))
            yield f"field 'example.{field}': found {found}; expected text"
    yield from _label_faults(row, task)
    yield from _count_faults(row, task, n_votes)


def _label_faults(row: dict[str, Any], task: Task) -> Iterator[str]:
    known = f"one of {', '.join(task.codes)}"
    for field in ("majority_label", "old_label"):
        if task.label_index(row[field]) is None:
            yield f"field {field!r}: found {row[field]!r}; expected {known}"
    if not task.n_old_labels:
        return
    labels = row["old_labels"]
    if len(labels) not in task.n_old_labels:
        yield f"field 'old_labels': found {len(labels)} labels; expected 5, or 4"
    for label in labels:
        if task.label_index(label) is None:
            yield f"field 'old_labels': found {label!r}; expected one of {', '.join(task.labels)}"


def _count_faults(row: dict[str, Any], task: Task, n_votes: int | None) -> Iterator[str]:
    counts = row["label_count"]
    if len(counts) != task.n_classes or not all(
        isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts
    ):
        yield (
            f"field 'label_count': found {_shorten(counts)}; "
            f"expected {task.n_classes} non-negative integers"
        )
        return
    total = sum(counts)
    if total != (n_votes or total) or total == 0:
        yield (
            f"field 'label_count': found {counts}, which sums to {total}; "
            f"expected {n_votes or 'at least 1'} votes"
        )
        return
    counter = {code: count for code, count in zip(task.codes, counts, strict=True) if count}
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
    majority = task.label_index(row["majority_label"])
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

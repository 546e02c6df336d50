"""Models' predictions: validated where they enter, and immutable after.

Nothing is repaired in silence: a fault is an error that says where, and what is odd but
may be meant is a note beside the predictions.
"""

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from chaos_utils.base import inputs
from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.files import write_bytes
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.votes import Votes
from chaos_utils.scoring.formats import Row, class_columns, read_rows
from chaos_utils.scoring.system import System

Floats = npt.NDArray[np.float64]
_SUM_TOLERANCE = 1e-3  # files with probabilities rounded to four digits pass
_SHOWN = 5
# Another order of the columns must raise agreement with the old labels by so much to be told.
_ORDER_MARGIN = 0.15


def read_predictions(
    path: Path | str,
    all_votes: Sequence[Votes],
    *,
    model: str | None = None,
    allow_missing: bool = False,
    allow_others: bool = False,
) -> list[System]:
    """Read a file of predictions: one result for each model and dataset that it covers.

    Parameters
    ----------
    path : path
        The file; its format is told from its content.
    all_votes : sequence of Votes
        The datasets that it may cover. Which of them, is told from the uids.
    model : str, optional
        Take this model alone.
    allow_missing : bool
        Whether a dataset may be covered in part: the rest is evaluated, and a note says so.
    allow_others : bool
        Whether the file may hold no item of these datasets; it then gives no predictions.

    Returns
    -------
    list of System
        Items in the order of the dataset's; notes say what was left out.

    Raises
    ------
    ChaosError
        If the file cannot be read in any format; a model is not in it; uids fit no
        dataset, are doubled or are missing; values are no probabilities; or the columns
        seem to stand in another order.
    """
    path = Path(path)
    if not path.is_file():
        raise ChaosError("There is no such predictions file.", where=path)
    rows_by_model, columns = read_rows(path)
    if model is not None:
        if model not in rows_by_model:
            expected = did_you_mean(model, rows_by_model)
            raise ChaosError(
                "No such model in this file.", where=path, found=model, expected=expected
            )
        rows_by_model = {model: rows_by_model[model]}
    source = inputs.record(f"predictions/{path.name}", inputs.digest(path))
    found = []
    for name, rows in rows_by_model.items():
        _check_uids(path, name, rows)
        by_dataset = _split_by_dataset(rows, all_votes)
        if not by_dataset and not allow_others:
            raise _no_item(path, name, rows, all_votes)
        covered = {uid for _, chosen in by_dataset for uid in chosen}
        extra = _extra_note([row.uid for row in rows if row.uid not in covered])
        for votes, chosen in by_dataset:
            one = _predictions(path, name, chosen, votes, columns, allow_missing, source)
            found.append(replace(one, notes=(*one.notes, *extra)))
    return found


def write_predictions(path: Path, predictions: Iterable[System]) -> None:
    """Write predictions as this project's parquet: model, dataset, uid, a column per class.

    All must be of datasets with the same labels.

    Parameters
    ----------
    path : Path
    predictions : iterable of System
        At least one.
    """
    import pandas as pd

    tables = []
    for one in predictions:
        table = pd.DataFrame(one.probabilities, columns=class_columns(one.dataset))
        table.insert(0, "uid", one.uids)
        table.insert(0, "dataset", one.dataset.name)
        table.insert(0, "model", one.name)
        tables.append(table)
    stream = io.BytesIO()
    pd.concat(tables, ignore_index=True).to_parquet(stream, index=False)
    write_bytes(path, stream.getvalue())


def _faulty(path: Path, model: str, faults: Sequence[str], expected: str, todo: str) -> ChaosError:
    more = len(faults) - _SHOWN
    shown = [*faults[:_SHOWN], *([f"and {more} more"] if more > 0 else [])]
    plural = "s" if len(faults) > 1 else ""
    return ChaosError(
        f"{len(faults)} fault{plural} in the predictions of {model!r}.",
        where=path,
        found="\n".join(shown),
        expected=expected,
        todo=todo,
    )


def _check_uids(path: Path, model: str, rows: Sequence[Row]) -> None:
    seen: dict[object, str] = {}
    faults = []
    for row in rows:
        if not isinstance(row.uid, str) or not row.uid:
            faults.append(f"{row.place}: no uid")
        elif row.uid in seen:
            faults.append(f"{row.place}: uid {row.uid!r} again, first at {seen[row.uid]}")
        else:
            seen[row.uid] = row.place
    if faults:
        raise _faulty(path, model, faults, "one prediction for each uid", "remove the others")


def _split_by_dataset(
    rows: Sequence[Row], all_votes: Sequence[Votes]
) -> list[tuple[Votes, dict[str, Row]]]:
    by_uid = {row.uid: row for row in rows}
    parts = []
    for votes in all_votes:
        chosen = {uid: by_uid[uid] for uid in votes.uids if uid in by_uid}
        if chosen:
            parts.append((votes, chosen))
    return parts


def _extra_note(extra: Sequence[str]) -> list[str]:
    if not extra:
        return []
    shown = ", ".join(extra[:_SHOWN]) + (" …" if extra[_SHOWN:] else "")
    return [f"{len(extra)} uids of the file are no items of the dataset ({shown})"]


def _no_item(path: Path, model: str, rows: Sequence[Row], all_votes: Sequence[Votes]) -> ChaosError:
    titles = ", ".join(votes.dataset.title for votes in all_votes)
    return ChaosError(
        f"No uid of {model!r} occurs in {titles}.",
        where=path,
        found=f"{len(rows)} uids, such as {rows[0].uid!r}",
        expected=f"uids such as {all_votes[0].uids[0]!r}",
        todo="check the dataset, and that the uids are ChaosNLI's",
    )


def _predictions(
    path: Path,
    model: str,
    chosen: Mapping[str, Row],
    votes: Votes,
    columns: tuple[int, ...] | None,
    allow_missing: bool,
    source: inputs.Input,
) -> System:
    dataset = votes.dataset
    notes = []
    missing = [uid for uid in votes.uids if uid not in chosen]
    if missing:
        told = f"{len(missing)} of {len(votes)} items of {dataset.title} have no prediction"
        if not allow_missing:
            raise ChaosError(
                f"{told} by {model!r}.",
                where=path,
                found="missing: "
                + ", ".join(missing[:_SHOWN])
                + (" …" if missing[_SHOWN:] else ""),
                expected="a prediction for each item",
                todo="add them, or pass --allow-missing to evaluate the rest",
            )
        notes.append(f"{told}; evaluated on the other {len(chosen)}")
    values = _as_table(path, model, chosen, dataset)
    are_logits = next(iter(chosen.values())).are_logits
    probabilities = _softmax(values) if are_logits else _checked(path, model, chosen, values)
    if columns is not None:
        probabilities = probabilities[:, columns]
    probabilities = probabilities / probabilities.sum(axis=1, keepdims=True)
    predicted, stated = _labels(path, model, chosen, dataset, probabilities)
    top = probabilities.max(axis=1)
    off = int((probabilities[np.arange(len(top)), predicted] < top).sum())
    if stated and off:
        notes.append(
            f"{off} stated labels are not the most probable ones; accuracies use the stated ones"
        )
    _check_order(path, model, dataset, chosen, votes, probabilities)
    probabilities.setflags(write=False)
    predicted.setflags(write=False)
    return System(
        model, dataset, tuple(chosen), probabilities, predicted, notes=tuple(notes), source=source
    )


def _as_table(path: Path, model: str, chosen: Mapping[str, Row], dataset: Dataset) -> Floats:
    faults = []
    for row in chosen.values():
        values = row.values
        if not isinstance(values, list) or len(values) != dataset.n_classes:
            count = f"{len(values)} values" if isinstance(values, list) else repr(values)
            faults.append(f"{row.place}: {count}")
        elif not all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
            faults.append(f"{row.place}: {values}")
        elif not np.isfinite(values).all():
            faults.append(f"{row.place}: {values} is not finite")
    if faults:
        expected = f"{dataset.n_classes} finite numbers for each item of {dataset.title}"
        raise _faulty(path, model, faults, expected, "correct these predictions")
    return np.array([row.values for row in chosen.values()], dtype=np.float64)


def _softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def _checked(path: Path, model: str, chosen: Mapping[str, Row], values: Floats) -> Floats:
    sums = values.sum(axis=1)
    wrong = (values < 0).any(axis=1) | (np.abs(sums - 1) > _SUM_TOLERANCE)
    if wrong.any():
        rows = list(chosen.values())
        faults = [f"{rows[i].place}: {rows[i].values} sums to {sums[i]:.6g}" for i in
                  np.flatnonzero(wrong)]  # fmt: skip
        raise _faulty(
            path, model, faults, "probabilities: none negative, their sum 1 (within 0.001)",
            "apply a softmax if these are logits",
        )  # fmt: skip
    return values


def _labels(
    path: Path, model: str, chosen: Mapping[str, Row], dataset: Dataset, probabilities: Floats
) -> tuple[npt.NDArray[np.int64], bool]:
    """Return the stated labels, or the first argmax where none is stated."""
    if all(row.label is None for row in chosen.values()):
        return probabilities.argmax(axis=1), False
    indices = [dataset.label_index(row.label) for row in chosen.values()]
    faults = [
        f"{row.place}: predicted_label {row.label!r}"
        for row, index in zip(chosen.values(), indices, strict=True)
        if index is None
    ]
    if faults:
        expected = f"one of {', '.join(dataset.labels)} or {', '.join(dataset.codes)}"
        raise _faulty(path, model, faults, expected, "correct these labels")
    return np.array(indices, dtype=np.int64), True


def _check_order(
    path: Path,
    model: str,
    dataset: Dataset,
    chosen: Mapping[str, Row],
    votes: Votes,
    probabilities: Floats,
) -> None:
    """Fail when another order of the columns would fit the old labels far better."""
    where = {uid: i for i, uid in enumerate(votes.uids)}
    old = votes.old_label[[where[uid] for uid in chosen]]
    if len(old) < 30:
        return  # too few to tell
    top = probabilities.argmax(axis=1)
    fits = {
        order: float((np.array(order)[top] == old).mean())
        for order in permutations(range(dataset.n_classes))
    }
    given = fits[tuple(range(dataset.n_classes))]
    best = max(fits, key=lambda order: fits[order])
    if fits[best] < given + _ORDER_MARGIN:
        return
    raise ChaosError(
        f"The columns of {model!r} seem to stand in another order.",
        where=path,
        found=f"read as {', '.join(dataset.labels)}, {given:.0%} of the labels are the old ones; "
        f"read as {', '.join(dataset.labels[k] for k in best)}, {fits[best]:.0%}",
        expected=f"columns in the order {', '.join(dataset.labels)}",
        todo="reorder the columns",
    )


def join(parts: Sequence[System], model: str) -> System:
    """Return the predictions of one system that stand in several files.

    Parameters
    ----------
    parts : sequence of System
        At least one; their notes and sources are not kept.
    model : str
        Name of the system.

    Returns
    -------
    System

    Raises
    ------
    ChaosError
        If the parts are of different datasets, or an item occurs in two of them.
    """
    datasets = {part.dataset.name for part in parts}
    uids = tuple(uid for part in parts for uid in part.uids)
    if len(datasets) != 1 or len(set(uids)) != len(uids):
        raise ChaosError(
            f"These parts of {model!r} do not fit together.",
            found=f"{', '.join(sorted(datasets))}; {len(uids) - len(set(uids))} items twice",
            expected="parts of one dataset that share no item",
        )
    probabilities = np.concatenate([part.probabilities for part in parts])
    predicted = np.concatenate([part.predicted for part in parts])
    probabilities.setflags(write=False)
    predicted.setflags(write=False)
    return System(model, parts[0].dataset, uids, probabilities, predicted)

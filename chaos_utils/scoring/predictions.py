"""Models' predictions: validated where they enter, and immutable after.

Nothing is repaired in silence: a fault is an error that says where, and what is odd but
may be meant is a note beside the predictions.
"""

import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base import inputs
from chaos_utils.base.errors import ChaosError, counted, did_you_mean
from chaos_utils.base.files import write_bytes
from chaos_utils.datasets.catalogue import known_datasets
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.faults import Faults
from chaos_utils.datasets.records import Content
from chaos_utils.datasets.tables import LARGE, Table
from chaos_utils.datasets.votes import Votes
from chaos_utils.scoring.formats import (
    ABOUT,
    TOLERANCE,
    Row,
    class_columns,
    is_number,
    read_rows,
    shown,
)
from chaos_utils.scoring.system import System, votes_of
from chaos_utils.scoring.trained import run_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_MOST_BYTES = 4 * 10**9  # of a file, which is read whole
_SHOWN = 5
_MOST_NAMES = 12  # labels in a message
# Another order of the classes must raise agreement with the labels by so much to be reported. It is
# an error if it surpasses the commonest label, and chance, by so much: a constant prediction has no
# order. A rise that no mere lack of skill explains need only go beyond chance.
_ORDER_MARGIN = 0.15
_ABOVE_CONSTANT = 0.05
_FLAGRANT = 0.5
_BEYOND_CHANCE = 4  # standard deviations
_ENOUGH_FOR_ORDER = 30
_TOLD_APART = 2  # standard errors between two labels as read and exchanged
_SHUFFLES = 20  # of the labels: among many classes, some order fits by chance
_ROUNDING = 1e-9
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
SMOOTHING = "the Krichevsky–Trofimov rule (½ added to each label)"
NAME = "at least one character, all valid Unicode, none a control character"


def read_predictions(
    path: Path | str,
    all_votes: Sequence[Votes],
    *,
    model: str | None = None,
    allow_missing: bool = False,
    allow_others: bool = False,
) -> list[System]:
    """Read a file of predictions: one system for each model and dataset that it covers.

    The format is recognised by the content, and datasets by the uids; by class columns and a column
    ``dataset`` too, where several datasets have the same uids. A file in a run's folder takes what
    the system is from the run's record; CSV and parquet may say it in columns ``family``, ``seed``,
    ``trained_on`` (names separated by ``;``) and ``out_of_fold``.

    Parameters
    ----------
    path : path
        A file or a pipe.
    all_votes : sequence of Votes
        The datasets that it may cover.
    model : str, optional
        Take this model alone.
    allow_missing : bool
        Whether a dataset may be covered in part: the rest is evaluated, and a note says so.
    allow_others : bool
        Whether the file may hold no item of these datasets; it then gives no predictions.

    Raises
    ------
    ChaosError
        If the file cannot be read in any format; a model is not in it; uids fit no dataset, or two,
        occur twice or are missing; values are not probabilities or contradict each other; or the
        classes seem to be in another order.
    """
    path = Path(path)
    if path.is_dir():
        raise ChaosError("This is a folder, not a predictions file.", where=path)
    if not path.exists():
        raise ChaosError("There is no such predictions file.", where=path)
    if not (path.is_file() or path.is_fifo()):
        raise ChaosError(
            "This is not a predictions file.", where=path, found="a device", expected="a file"
        )
    if (size := path.stat().st_size) > _MOST_BYTES:
        raise ChaosError(
            "The predictions file is too large.",
            where=path,
            found=f"{size:,} bytes",
            expected=f"at most {_MOST_BYTES:,}",
        )
    content = Content.of(path).data  # once: a pipe cannot be read again
    run = run_of(path)
    if run is None and len(content) >= LARGE and len(all_votes) == 1:
        at_once = _at_once(path, content, all_votes[0], model)
        if at_once is not None:
            return [at_once]
    rows_by_model = read_rows(path, content, [votes.dataset for votes in all_votes])
    if model is not None:
        if model not in rows_by_model:
            expected = did_you_mean(model, map(shown, rows_by_model))
            raise ChaosError(
                "No such model in this file.", where=path, found=shown(model), expected=expected
            )
        rows_by_model = {model: rows_by_model[model]}
    if run is None:
        digest = hashlib.sha256(content).hexdigest()
        read_from: tuple[inputs.Input, ...] = (inputs.of_predictions(path, digest),)
    else:
        read_from = run.inputs_of(path.resolve().name)
    for name, rows in rows_by_model.items():  # faults of any row before what items are missing
        _check_rows(path, name, rows, all_votes)
    found = []
    for name, rows in rows_by_model.items():
        about = _about(path, name, rows, all_votes)
        if run is not None and name == run.system:
            about = run.about()
        by_dataset = _split_by_dataset(rows, all_votes)
        _check_meant(path, name, by_dataset)
        if not by_dataset and not allow_others:
            raise _no_item(path, name, rows, all_votes)
        covered = {uid for _, chosen in by_dataset for uid in chosen}
        extra = _extra_note([row.uid for row in rows if row.uid not in covered])
        for votes, chosen in by_dataset:
            one = _predictions(path, name, chosen, votes, allow_missing, read_from)
            notes = (*about.get("notes", ()), *one.notes, *extra)
            found.append(replace(one, **(about | {"notes": notes})))
    return found


def _at_once(path: Path, content: bytes, votes: Votes, model: str | None) -> System | None:
    """Return what a large table of one model predicts, if it has no fault; else None.

    What has a fault is read row by row, to say where it stands.
    """
    dataset, source = votes.dataset, Content(path, content)
    if source.is_array or content[:1] in (b"{", b"["):
        return None
    columns = class_columns(dataset)
    try:
        table = Table(source, Faults(path, "predictions", expected="", todo=""))
        name = path.stem
        if set(table.columns) == {"uid", "model", *columns}:
            models = table.coded("model")
            if len(models.names) != 1 or models.codes.min() < 0 or models.trimmed:
                return None
            name = models.names[0]
        elif set(table.columns) != {"uid", *columns}:
            return None
        uids = table.coded("uid")
        values = np.column_stack([table.numbers(column) for column in columns])
    except ChaosError:
        return None
    row_of = {uid: row for row, uid in enumerate(uids.names)}
    if (
        not is_name(name)
        or model not in (None, name)
        or uids.trimmed
        or len(uids.names) != len(values)
        or row_of.keys() != set(votes.uids)
    ):
        return None
    values = values[[row_of[uid] for uid in votes.uids]]
    sums = values.sum(axis=1)
    if not np.isfinite(values).all() or values.min() < 0 or np.abs(sums - 1).max() > TOLERANCE:
        return None
    values /= sums[:, np.newaxis]
    # The check of the order looks at the uids, and at one row, of a table.
    chosen = dict.fromkeys(votes.uids, Row("", "", {}))
    notes = _check_order(path, name, chosen, votes, values)
    return System(
        name,
        dataset,
        votes.uids,
        values,
        values.argmax(axis=1),
        notes=tuple(notes),
        inputs=(inputs.of_predictions(path, hashlib.sha256(content).hexdigest()),),
    )


def write_predictions(path: Path, predictions: Iterable[System]) -> None:
    """Write `predictions` to `path` as parquet: model, dataset, uid, a column per class.

    All must be of datasets with the same labels. What a system was trained on is written where it
    is known, and so is its seed.
    """
    import pandas as pd

    systems = list(predictions)
    tables = []
    for one in systems:
        table = pd.DataFrame(one.probabilities, columns=class_columns(one.dataset))
        table.insert(0, "uid", one.uids)
        table.insert(0, "dataset", one.dataset.name)
        table.insert(0, "model", one.name)
        if any(system.seed is not None or system.trained_on for system in systems):
            table["family"] = one.family
            table["seed"] = pd.array([one.seed] * len(one), dtype="Int64")
            table["trained_on"] = "; ".join(one.trained_on)
            table["out_of_fold"] = one.out_of_fold
        tables.append(table)
    stream = io.BytesIO()
    pd.concat(tables, ignore_index=True).to_parquet(stream, index=False)
    write_bytes(path, stream.getvalue())


def _faulty(path: Path, model: str, faults: Sequence[str], expected: str, todo: str) -> ChaosError:
    more = len(faults) - _SHOWN
    lines = [*faults[:_SHOWN], *([f"and {more} more"] if more > 0 else [])]
    return ChaosError(
        f"{counted(len(faults), 'fault')} in the predictions of {shown(model)!r}.",
        where=path,
        found="\n".join(lines),
        expected=expected,
        todo=todo,
    )


def _check_rows(path: Path, model: str, rows: Sequence[Row], all_votes: Sequence[Votes]) -> None:
    """Raise on what is wrong with a model's rows whatever the dataset."""
    if not is_name(model):
        raise ChaosError(
            "A model's name is not text that can be shown.", where=path, found=shown(ascii(model)),
            expected=NAME, todo="rename it",
        )  # fmt: skip
    faults = [f"{row.place}: {fault}" for row in rows for fault in row.faults]
    if faults:
        expected = "entries that do not contradict themselves"
        raise _faulty(path, model, faults, expected, "correct these entries")
    faults = _uid_faults(rows)
    if faults:
        todo = "correct these uids, and keep one prediction for each"
        raise _faulty(path, model, faults, "one prediction for each uid", todo)
    faults = _dataset_faults(rows, all_votes)
    if faults:
        todo = "correct the column, or remove it: the uids decide"
        raise _faulty(path, model, faults, "uids of the dataset that the row names", todo)
    faults = _mixed(rows)
    if faults:
        raise _faulty(path, model, faults, "entries of one kind", "write all entries alike")


def is_name(value: object) -> bool:
    """Return whether a value can name a system: `NAME` says what that takes."""
    return isinstance(value, str) and _is_text(value) and not _CONTROL.search(value)


def _is_text(value: object) -> bool:
    """Return whether a value is text that is not blank, and valid Unicode."""
    if not isinstance(value, str) or not value.strip():
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False  # a lone surrogate
    return True


def _uid_faults(rows: Sequence[Row]) -> list[str]:
    datasets = {dataset.name for dataset in known_datasets()}
    # The same item of two datasets may stand in one file, if all rows say whose item they mean.
    keyed = all(isinstance(row.dataset, str) and row.dataset in datasets for row in rows)
    seen: dict[object, str] = {}
    faults = []
    for row in rows:
        if row.uid in (None, "") or row.uid != row.uid:  # NaN, an empty cell of parquet
            faults.append(f"{row.place}: no uid")
            continue
        if not _is_text(row.uid):
            faults.append(f"{row.place}: uid {ascii(row.uid)[:80]} is not text")
            continue
        key = (row.dataset, row.uid) if keyed else row.uid
        if key in seen:
            faults.append(f"{row.place}: uid {shown(row.uid)!r} again, first at {seen[key]}")
        seen.setdefault(key, row.place)
    return faults


def _mixed(rows: Sequence[Row]) -> list[str]:
    """Return the rows that are to be read in another way than most."""
    kinds = [
        ("logits" if row.are_logits else "probabilities")
        + (", with index and pred" if row.codes else "")
        for row in rows
    ]
    usual = Counter(kinds).most_common(1)[0][0]
    return [
        f"{row.place}: {kind}; most entries have {usual}"
        for row, kind in zip(rows, kinds, strict=True)
        if kind != usual
    ]


def _dataset_faults(rows: Sequence[Row], all_votes: Sequence[Votes]) -> list[str]:
    if all(row.dataset is None for row in rows):
        return []
    uids = {votes.dataset.name: frozenset(votes.uids) for votes in all_votes}
    return [
        f"{row.place}: dataset is {row.dataset}, but uid {shown(row.uid)!r} is in {name}"
        for row in rows
        if isinstance(row.dataset, str) and row.uid not in uids.get(row.dataset, (row.uid,))
        for name in uids
        if row.uid in uids[name]
    ]


def _split_by_dataset(
    rows: Sequence[Row], all_votes: Sequence[Votes]
) -> list[tuple[Votes, dict[str, Row]]]:
    datasets = {dataset.name for dataset in known_datasets()}
    parts = []
    for votes in all_votes:
        name = votes.dataset.name
        by_uid = {
            row.uid: row for row in rows if row.dataset == name or row.dataset not in datasets
        }
        chosen = {uid: by_uid[uid] for uid in votes.uids if uid in by_uid}
        if chosen:
            parts.append((votes, chosen))
    # Datasets may share uids. Those whose classes are not the file's are then not meant.
    fitting = [(votes, chosen) for votes, chosen in parts if _fits(chosen, votes.dataset)]
    return fitting or parts


def _check_meant(
    path: Path, model: str, by_dataset: Sequence[tuple[Votes, Mapping[str, Row]]]
) -> None:
    """Raise a ChaosError if rows may be about either of two datasets."""
    for (one, here), (other, there) in combinations(by_dataset, 2):
        both = [uid for uid, row in here.items() if there.get(uid) is row]
        if both:
            titles = f"{one.dataset.title} and {other.dataset.title}"
            raise ChaosError(
                f"The predictions of {shown(model)!r} fit two datasets.",
                where=path,
                found=f"{counted(len(both), 'uid')} of both {titles}, such as {shown(both[0])!r}",
                expected="uids of one dataset, or a column dataset",
                todo="say in a column dataset which is meant, or choose it: `--dataset` or "
                "`-p data=…`",
            )


def _fits(chosen: Mapping[str, Row], dataset: Dataset) -> bool:
    first = next(iter(chosen.values()))
    values = first.values
    if first.samples is not None and not values:
        return any(dataset.label_index(text) is not None for text in first.samples)
    if isinstance(values, dict):
        return set(class_columns(dataset)) <= set(values)
    return isinstance(values, list) and len(values) == dataset.n_classes


def _about(
    path: Path, model: str, rows: Sequence[Row], all_votes: Sequence[Votes]
) -> dict[str, Any]:
    """Return the fields of the system that the columns `ABOUT` state."""
    said = {}
    for name in ABOUT:
        values = {
            str(value.tolist() if isinstance(value, np.ndarray) else value): value
            for value in (row.about.get(name) for row in rows)
        }
        if len(values) > 1:
            raise ChaosError(
                f"The column {name} contradicts itself for {shown(model)!r}.",
                where=path,
                found=", ".join(map(shown, list(values)[:_SHOWN])),
                expected="one value for all rows of a model",
                todo="give each system a name of its own in a column model",
            )
        ((text, value),) = values.items()
        if value is not None:
            said[name] = _field(path, name, text, value, all_votes)
    return said


def _field(path: Path, name: str, text: str, value: Any, all_votes: Sequence[Votes]) -> Any:
    if name == "seed" and re.fullmatch(r"\d{1,18}(\.0)?", text, re.ASCII):
        return int(float(text)) if "." in text else int(text)
    if name == "out_of_fold" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if name == "family" and _is_text(value):
        return value
    if name == "trained_on":
        names = re.split("[;,+]", value) if isinstance(value, str) else list(value)
        if all(isinstance(one, str) for one in names):
            return tuple(_trained_on(one.strip(), all_votes) for one in names if one.strip())
    kinds = {"seed": "a whole number, 0 or more", "out_of_fold": "true or false"}
    raise ChaosError(
        f"The column {name} cannot be read.",
        where=path,
        found=shown(text),
        expected=kinds.get(name, "text"),
    )


def _trained_on(name: str, all_votes: Sequence[Votes]) -> str:
    """Return a name in `trained_on` as `System` has it: votes by their dataset's short name."""
    words = name.casefold().split(maxsplit=2)
    if words[:2] == ["votes", "of"] and len(words) == 3:
        for dataset in (*(votes.dataset for votes in all_votes), *known_datasets()):
            if words[2] in {s.casefold() for s in (dataset.name, dataset.short, dataset.title)}:
                return votes_of(dataset)
    return name


def _extra_note(extra: Sequence[str]) -> list[str]:
    if not extra:
        return []
    are = "uid of the file is no item" if len(extra) == 1 else "uids of the file are no items"
    return [f"{len(extra)} {are} of the dataset ({_listed(extra)})"]


def _some(names: Sequence[str]) -> str:
    """List labels for a message: not hundreds of them."""
    return ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")


def _listed(uids: Sequence[str]) -> str:
    return ", ".join(map(shown, uids[:_SHOWN])) + (" …" if uids[_SHOWN:] else "")


def _no_item(path: Path, model: str, rows: Sequence[Row], all_votes: Sequence[Votes]) -> ChaosError:
    titles = ", ".join(votes.dataset.title for votes in all_votes) or "no dataset"
    synthetic = any(votes.source.synthetic for votes in all_votes)
    stated = {row.dataset for row in rows if isinstance(row.dataset, str)}
    return ChaosError(
        f"No uid of {shown(model)!r} occurs in {titles}"
        f"{' as the synthetic sample has it' if synthetic else ''}.",
        where=path,
        found=f"{counted(len(rows), 'uid')}, such as {shown(rows[0].uid)!r}"
        + (f", of the dataset {', '.join(map(shown, sorted(stated)))}" if stated else ""),
        expected=f"uids such as {all_votes[0].uids[0]!r}" if all_votes else None,
        todo="run `chaos data fetch`, if these are predictions on the released items"
        if synthetic
        else "check the dataset, and that the uids are those of its votes",
    )


def _predictions(
    path: Path,
    model: str,
    chosen: Mapping[str, Row],
    votes: Votes,
    allow_missing: bool,
    read_from: tuple[inputs.Input, ...],
) -> System:
    dataset = votes.dataset
    notes = []
    missing = [uid for uid in votes.uids if uid not in chosen]
    if missing:
        have = "has" if len(missing) == 1 else "have"
        fact = f"{len(missing)} of {len(votes)} items of {dataset.title} {have} no prediction"
        if not allow_missing:
            raise ChaosError(
                f"{fact} by {shown(model)!r}.",
                where=path,
                found=f"missing: {_listed(missing)}",
                expected="a prediction for each item",
                todo="add them, or pass --allow-missing to evaluate the rest",
            )
        notes.append(f"{fact}; evaluated on the other {len(chosen)}")
    n_samples: tuple[int, ...] = ()
    if all(row.samples is not None for row in chosen.values()):
        values = _counted(path, model, chosen, dataset)
        totals = values.sum(axis=1)
        n_samples = (int(totals.min()), int(totals.max()))
        notes.append(
            f"machine votes: {'–'.join(f'{n:,}' for n in dict.fromkeys(n_samples))} samples per "
            f"item, smoothed by {SMOOTHING}"
        )
        values = (values + 0.5) / (totals + dataset.n_classes / 2)[:, np.newaxis]
    else:
        values = _as_table(path, model, chosen, dataset)
    are_logits = next(iter(chosen.values())).are_logits
    probabilities = _softmax(values) if are_logits else _checked(path, model, chosen, values)
    probabilities = probabilities / probabilities.sum(axis=1, keepdims=True)
    predicted, stated = _labels(path, model, chosen, dataset, probabilities)
    top = probabilities.max(axis=1)
    off = np.flatnonzero(probabilities[np.arange(len(top)), predicted] < top)
    if stated and len(off):
        _check_labels(path, model, chosen, off)
        notes.append(
            f"{len(off)} stated labels are not the most probable ones; accuracies use the stated "
            "ones"
        )
    notes += _check_order(path, model, chosen, votes, probabilities)
    return System(
        model,
        dataset,
        tuple(chosen),
        probabilities,
        predicted,
        stated=stated,
        n_samples=n_samples,
        notes=tuple(notes),
        inputs=read_from,
    )


def _counted(path: Path, model: str, chosen: Mapping[str, Row], dataset: Dataset) -> Floats:
    """Return how often each label was drawn, shape (n, k)."""
    counts = np.zeros((len(chosen), dataset.n_classes))
    faults = []
    for i, row in enumerate(chosen.values()):
        for text, n in (row.samples or {}).items():
            label = dataset.label_index(text)
            if label is None and text in class_columns(dataset):
                label = class_columns(dataset).index(text)
            if label is None:
                faults.append(f"{row.place}, uid {shown(row.uid)}: sample {shown(text)!r}")
            else:
                counts[i, label] += n
    if faults:
        expected = f"samples that are a label: {_some(dataset.labels)}"
        todo = "turn answers into labels, and leave out rows whose answer is none"
        raise _faulty(path, model, faults, expected, todo)
    if not counts.sum(axis=1).all():
        raise _faulty(path, model, ["an item with no sample"], "one sample per item at least",
                      "leave out items without samples, and pass --allow-missing")  # fmt: skip
    return counts


def _order(row: Row, dataset: Dataset) -> list[int]:
    """Return the class that stands at each place of a row's values."""
    if sorted(row.codes) == sorted(dataset.codes):
        return [dataset.codes.index(code) for code in row.codes]
    return list(range(dataset.n_classes))


def _as_table(path: Path, model: str, chosen: Mapping[str, Row], dataset: Dataset) -> Floats:
    """Return the values in the dataset's order of classes."""
    rows = list(chosen.values())
    columns = class_columns(dataset)
    table, faults = [], []
    others = _others(rows, columns)
    if others:
        raise ChaosError(
            f"There are too many columns for {dataset.title}.",
            where=path,
            found=f"probabilities of {', '.join(map(shown, others))}",
            expected=f"columns uid, {_some(columns)}",
            todo="remove or rename what is no label, or check the dataset",
        )
    for row in rows:
        values = row.values
        if isinstance(values, dict):
            lacking = [column for column in columns if column not in values]
            if lacking:
                raise ChaosError(
                    f"The columns do not fit {dataset.title}.",
                    where=path,
                    found=f"no column {_some(lacking)}",
                    expected=f"columns uid, {_some(columns)}",
                )
            values = [values[column] for column in columns]
        if not isinstance(values, list) or len(values) != dataset.n_classes:
            count = f"{len(values)} values" if isinstance(values, list) else shown(values)
            faults.append(f"{row.place}: {count}")
        elif not all(map(is_number, values)):
            is_infinite = all(isinstance(v, int | float) and not isinstance(v, bool)
                              for v in values)  # fmt: skip
            faults.append(f"{row.place}: {shown(values)}{' is not finite' * is_infinite}")
        else:
            table.append(values)
    if faults:
        expected = (
            f"{dataset.n_classes} finite numbers for each item of {dataset.title}: "
            f"{_some(dataset.labels)}"
        )
        raise _faulty(path, model, faults, expected, "correct these predictions")
    found = np.array(table, dtype=np.float64)
    if not isinstance(rows[0].values, dict):
        found = found[:, np.argsort(_order(rows[0], dataset))]
    return found


def _others(rows: Sequence[Row], columns: Sequence[str]) -> list[str]:
    """Return the columns that hold nothing but numbers from 0 to 1, and are no labels."""
    tables = [row.values for row in rows if isinstance(row.values, dict)]
    if len(tables) < len(rows) or not set(columns) <= set(tables[0]):
        return []  # a list, or too few columns: a fault of its own
    return [
        name
        for name in tables[0]
        if name
        and name not in columns
        and all(is_number(one[name]) and 0 <= one[name] <= 1 for one in tables)
    ]


def _softmax(logits: Floats) -> Floats:
    with np.errstate(over="ignore"):
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def _checked(path: Path, model: str, chosen: Mapping[str, Row], values: Floats) -> Floats:
    with np.errstate(over="ignore"):
        sums = values.sum(axis=1)
    wrong = (values < 0).any(axis=1) | (np.abs(sums - 1) > TOLERANCE)
    if wrong.any():
        rows = list(chosen.values())
        faults = [
            f"{rows[i].place}: {shown(values[i].tolist())} "
            + ("has a negative value" if (values[i] < 0).any() else f"sums to {sums[i]:.6g}")
            for i in np.flatnonzero(wrong)
        ]
        expected = "probabilities: none negative, their sum 1 (within 0.001)"
        todo = "apply a softmax if these are logits"
        if (values >= 0).all() and (np.abs(sums - 100) <= 1).all():
            todo = "divide by 100: these are percentages"
        elif (values >= 0).all() and (values == values.round()).all():
            todo = "add a column n_samples, their sum, if these count answers that were drawn"
        raise _faulty(path, model, faults, expected, todo)
    return values


def _labels(
    path: Path, model: str, chosen: Mapping[str, Row], dataset: Dataset, probabilities: Floats
) -> tuple[Ints, bool]:
    """Return the stated labels, or the first argmax where none is stated."""
    if all(row.label is None for row in chosen.values()):
        return probabilities.argmax(axis=1), False
    indices = [dataset.label_index(row.label) for row in chosen.values()]
    faults = [
        f"{row.place}: predicted_label {shown(row.label)!r}"
        for row, index in zip(chosen.values(), indices, strict=True)
        if index is None
    ]
    if faults:
        expected = f"one of {_some(dataset.labels)} or {_some(dataset.codes)}"
        raise _faulty(path, model, faults, expected, "correct these labels")
    return np.array(indices, dtype=np.int64), True


def _check_labels(path: Path, model: str, chosen: Mapping[str, Row], off: Ints) -> None:
    """Raise where a column of labels contradicts the columns of probabilities beside it.

    ChaosNLI's JSON has labels of their own, so there this is a note.
    """
    rows = list(chosen.values())
    if isinstance(rows[0].values, dict):
        faults = [f"{rows[i].place}: predicted_label {shown(rows[i].label)}, "
                  f"but another label is more probable" for i in off]  # fmt: skip
        expected = "the label with the largest probability"
        todo = "correct the labels, or remove the column predicted_label"
        raise _faulty(path, model, faults, expected, todo)


def _check_order(
    path: Path, model: str, chosen: Mapping[str, Row], votes: Votes, probabilities: Floats
) -> list[str]:
    """Fail when another order of the classes would fit the labels far better; note a doubt."""
    dataset = votes.dataset
    n, k = probabilities.shape
    if n < _ENOUGH_FOR_ORDER:
        are = "item is" if n == 1 else "items are"
        return [f"{n} {are} too few to check the order of the classes"]
    where = {uid: i for i, uid in enumerate(votes.uids)}
    rows = [where[uid] for uid in chosen]
    labels = (votes.old_label if votes.has_old_labels else votes.majority)[rows]
    which = "the old ones" if votes.has_old_labels else "the majority's"
    pairs = np.zeros((k, k))
    np.add.at(pairs, (probabilities.argmax(axis=1), labels), 1 / n)
    # No order can do better than the commonest label of each prediction.
    if pairs.max(axis=1).sum() < pairs.trace() + _ORDER_MARGIN:
        return _untold_order(chosen, pairs, dataset, which)
    from scipy.optimize import linear_sum_assignment  # slow to import

    _, best = linear_sum_assignment(pairs, maximize=True)
    fit, best_fit = pairs.trace(), pairs[np.arange(k), best].sum()
    if best_fit < fit + _ORDER_MARGIN:
        return _untold_order(chosen, pairs, dataset, which)
    first = next(iter(chosen.values()))
    order = _order(first, dataset) if not isinstance(first.values, dict) else list(range(k))
    meant = _some([dataset.labels[c] for c in order])
    better = _some([dataset.labels[best[c]] for c in order])
    found = (
        f"read as {meant}, {fit:.0%} of the labels are {which}; read as {better}, {best_fit:.0%}"
    )
    if best_fit < fit + _FLAGRANT or not _is_beyond_chance(pairs, best, n):
        if best_fit < pairs.sum(axis=0).max() + _ABOVE_CONSTANT:
            return [f"the classes may be in another order: {found}"]
        rng = np.random.default_rng(0)
        top = probabilities.argmax(axis=1)
        for _ in range(_SHUFFLES):
            by_chance = np.zeros((k, k))
            np.add.at(by_chance, (top, rng.permutation(labels)), 1 / n)
            fit_by_chance = by_chance[linear_sum_assignment(by_chance, maximize=True)].sum()
            if best_fit < fit_by_chance + _ABOVE_CONSTANT:
                return []
    is_own = order != list(range(k))
    named = isinstance(first.values, dict)
    todo = "correct the header" if named else "reorder the values"
    if is_own:
        todo += f", or leave index and pred out: the order is then {_some(dataset.labels)}"
    raise ChaosError(
        f"The classes of {shown(model)!r} seem to be in another order.",
        where=path,
        found=found,
        expected=f"the order {meant}, which {'the header' if named else 'this format'} has",
        todo=todo,
    )


def _untold_order(
    chosen: Mapping[str, Row], pairs: Floats, dataset: Dataset, which: str
) -> list[str]:
    """Note two labels that could as well change places, where the file names no order."""
    first = next(iter(chosen.values()))
    if isinstance(first.values, dict) or first.codes or first.label is not None:
        return []
    for a, b in combinations(range(len(pairs)), 2):
        as_read, swapped = pairs[a, a] + pairs[b, b], pairs[a, b] + pairs[b, a]
        spread = as_read + swapped - (as_read - swapped) ** 2
        error = np.sqrt(max(spread, 0) / len(chosen))
        if as_read - swapped < _TOLD_APART * error:
            one, other = dataset.labels[a], dataset.labels[b]
            return [
                f"the order of {one} and {other} cannot be told from the labels: {as_read:.0%} of "
                f"them are {which} as read, {swapped:.0%} the other way round"
            ]
    return []


def _is_beyond_chance(pairs: Floats, best: Ints, n: int) -> bool:
    """Whether labels that were dealt to predictions at random would hardly ever agree as much.

    Mean and variance are those of a linear permutation statistic (Hoeffding 1951).
    """
    of_model, of_labels = pairs.sum(axis=1), pairs.sum(axis=0)
    hits = np.eye(len(pairs))[best]
    mean = of_model @ hits @ of_labels
    centred = hits - (hits @ of_labels)[:, np.newaxis] - of_model @ hits + mean
    spread = np.sqrt(of_model @ centred**2 @ of_labels / (n - 1))
    return bool((pairs * hits).sum() > mean + _BEYOND_CHANCE * spread + _ROUNDING)


def join(parts: Sequence[System], model: str) -> System:
    """Return the predictions of one system that stand in several files.

    It was trained on what any part was trained on, and has the seed and origin of the parts if
    these agree. Their notes are not kept.
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
    dataset, first = parts[0].dataset, parts[0]
    fitted = [part for part in parts if votes_of(dataset) in part.trained_on]
    return System(
        model,
        dataset,
        uids,
        probabilities,
        predicted,
        stated=all(part.stated for part in parts),
        origin=first.origin if len({part.origin for part in parts}) == 1 else "yours",
        seed=first.seed if len({part.seed for part in parts}) == 1 else None,
        trained_on=tuple(dict.fromkeys(name for part in parts for name in part.trained_on)),
        out_of_fold=bool(fitted) and all(part.out_of_fold for part in fitted),
        inputs=inputs.merged(*(part.inputs for part in parts)),
    )

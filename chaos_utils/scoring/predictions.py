"""Models' predictions: validated where they enter, and immutable after.

Nothing is repaired in silence: a fault is an error that says where, and what is odd but
may be meant is a note beside the predictions.
"""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from itertools import combinations, permutations
from operator import eq
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base import inputs
from chaos_utils.base.errors import ChaosError, counted, did_you_mean
from chaos_utils.base.files import uncollected, write_bytes
from chaos_utils.datasets.catalogue import known_datasets
from chaos_utils.datasets.cells import as_count, as_identifier
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.faults import Faults, shorten
from chaos_utils.datasets.frame import Column, FileContent, column_of
from chaos_utils.datasets.votes import Votes
from chaos_utils.scoring.formats import (
    ABOUT,
    INSIDE,
    LOGITS,
    N_DRAWN,
    PROBABILITIES,
    STATED,
    PredictionFrame,
    class_columns,
    holds_values,
    is_chance,
    read_rows,
)
from chaos_utils.scoring.label_mapping import SAY_SO, LabelMapping, check_answers
from chaos_utils.scoring.label_order import ENOUGH, check_order, some_of
from chaos_utils.scoring.model_runs import DRAWN, WEIGHTS
from chaos_utils.scoring.system import System, votes_of
from chaos_utils.scoring.training_records import run_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
_MOST_BYTES = 4 * 10**9  # of a file, which is read whole
_SHOWN = 5
_LOOKED_AT = 200  # values of a column that may hold labels
_COMPARED = 1000  # uids, with one that is unknown
_WIDE = 80  # characters of a row's values
_CHECK = "chaos dataset check FILE"
# What columns of labels are called that people gave, and what those of any file may be.
_OF_PEOPLE = re.compile("gold|target|reference|true|truth|majority|old_label|human", re.IGNORECASE)
_OF_ANSWERS = ("label", "prediction", "predicted", "pred", "answer", "output", "response")
_OF_VOTES = re.compile("annotat|worker|rater|label_count|votes", re.IGNORECASE)  # columns' names
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LARGEST = 1e300  # comparing is safe for integers of any length; converting is not
# Probabilities rounded to three digits pass. What Baan et al. (2022) released agrees to 2e-7.
_TOLERANCE = 1e-3
_ROUNDED = 0.02  # off 1: so far may rows be whose values have two digits
_MOST_UNREAD = 0.1  # of a model's answers
_ENOUGH_OF_TOKEN = 0.5  # of its probability: with less on the labels, the answers drawn are read
# JSON lines with `index` and `pred` are in the format of Baan et al. (2022), whose values stand in
# the order of these codes.
_RELEASED = ", with index and pred"
_RELEASED_CODES = ("e", "c", "n")
NOTE_ON_LABELS = (
    "one label per item: accuracies judge it as it is; of distributions (JSD, KL, calibration) it "
    "says nothing"
)
SMOOTHING = "the Krichevsky–Trofimov rule (½ added to each label)"
NAME = "at least one character, all valid Unicode, none a control character"


@uncollected()
def read_predictions(
    path: Path | str,
    all_votes: Sequence[Votes],
    *,
    model: str | None = None,
    answers: Mapping[str, str] | None = None,
    filter: str | None = None,
    scorer: str | None = None,
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
        A file, or a pipe of at most 200 MB.
    all_votes : sequence of Votes
        The datasets that it may cover.
    model : str, optional
        Take this model alone.
    answers : mapping of str to str, optional
        Labels by what the file calls them: answers, choices or columns.
    filter, scorer : str, optional
        Whose reading of each answer is taken, where a run of lm-evaluation-harness has several
        filters, or one of Inspect several scorers.
    allow_missing : bool
        Whether a dataset may be covered in part: the rest is evaluated, and a note says so.
    allow_others : bool
        Whether the file may hold no item of these datasets; it then gives no predictions.

    Raises
    ------
    ChaosError
        If the file cannot be read in any format; a model is not in it; filters or scorers differ
        and none is named; uids fit no dataset, or two, occur twice or are missing; values are not
        probabilities or contradict each other; too many answers are no label; or the classes seem
        to be in another order.
    """
    path = Path(path)
    content = _content_of(path)
    run = run_of(path)
    if run is None:
        read_from: tuple[inputs.Input, ...] = (inputs.of_predictions(path, content.sha256),)
    else:
        read_from = run.inputs_of(path.resolve().name)
    check_answers(answers or {}, [votes.dataset for votes in all_votes])
    asked = {"filter": filter, "scorer": scorer}
    wanted = {kind: name for kind, name in asked.items() if name is not None}

    def read(careful: bool) -> list[System]:
        every = _read(content, all_votes, model, answers or {}, wanted, careful=careful)
        found = []
        for said in every:
            about = _about(said, all_votes)
            if run is not None and said.name == run.system:
                about = run.about()
            parts = _by_dataset(said, all_votes, answers or {})
            _check_meant(said, parts)
            if not parts and not allow_others:
                raise _no_item(said, all_votes)
            extra = _extra_note(said.outside(all_votes))
            for part in parts:
                system = replace(part.system(allow_missing), inputs=read_from)
                notes = (*about.get("notes", ()), *system.notes, *extra)
                found.append(replace(system, **(about | {"notes": notes})))
        return found

    try:
        return read(careful=False)
    except ChaosError:  # which may not know the lines of a large file
        return read(careful=True)


def _read(
    content: FileContent,
    all_votes: Sequence[Votes],
    model: str | None,
    answers: Mapping[str, str],
    wanted: Mapping[str, str],
    *,
    careful: bool,
) -> list["_ModelRows"]:
    """Return what each model says: faults of any row come before items that are missing."""
    datasets = [votes.dataset for votes in all_votes]
    frame = read_rows(content, datasets, wanted, careful=careful)
    wordings = [LabelMapping(one, answers) for one in (*datasets, *known_datasets())]
    of_labels = _check_columns(frame, wordings)
    by_model = frame.by_model()
    if model is not None:
        if model not in by_model:
            expected = did_you_mean(model, by_model)
            raise ChaosError(
                "No such model in this file.",
                where=content.path,
                found=shorten(model),
                expected=expected,
            )
        by_model = {model: by_model[model]}
    return [_checked(name, rows, all_votes, of_labels) for name, rows in by_model.items()]


def _check_columns(frame: PredictionFrame, wordings: Sequence[LabelMapping]) -> bool:
    """Return whether a file has one label per item; raise if it has nothing of predictions.

    Whatever the dataset.
    """
    if {DRAWN, PROBABILITIES, LOGITS} & frame.columns.keys():
        return False
    if any(one.label(name) is not None for name in frame.unnamed for one in wordings):
        return False
    if not any(_of_labels(frame, one) for one in wordings):
        raise _misfit(frame, wordings[0], [])
    return True


def _of_labels(frame: PredictionFrame, words: LabelMapping) -> list[str]:
    """Return the columns that may hold a label per item, which the model or people gave."""
    if STATED in frame:
        return [STATED]
    return [name for name in frame.unnamed if _are_labels(frame.column(name), words)]


def _are_labels(column: Column, words: LabelMapping) -> bool:
    """Return whether half of a column's cells at least are labels, and so the others are faults."""
    first = column.values[:_LOOKED_AT]
    times = np.bincount(column.codes[column.codes >= 0], minlength=len(first))[: len(first)]
    known = np.array([words.label(one) is not None for one in first], dtype=bool)
    return bool(2 * times[known].sum() >= times.sum() > 0)


def _label_column(frame: PredictionFrame, words: LabelMapping) -> str:
    """Return the column of a model's labels; raise if another may be meant, or people's."""
    found = _of_labels(frame, words)
    if not found or (STATED not in frame and any(map(_OF_VOTES.search, frame.unnamed))):
        raise _misfit(frame, words, [])
    if len(found) > 1 or _OF_PEOPLE.search(found[0]):
        raise ChaosError(
            "It is not clear which column holds the model's labels."
            if len(found) > 1
            else "The column of labels is called as if people had given them.",
            where=frame.path,
            found=f"labels in {some_of([shorten(name) for name in found])}",
            expected=f"one label per item in the column {STATED}",
            todo=f"rename the model's {STATED!r}: the others are then left out",
        )
    return found[0]


def _misfit(frame: PredictionFrame, words: LabelMapping, found: Sequence[str | None]) -> ChaosError:
    """Return the error of a file that lacks columns of labels, or choices."""
    what = "choices" if frame.are_logits else "columns"
    others = [shorten(name) for name in frame.unnamed if name not in found]
    columns = class_columns(words.dataset)
    expected = f"columns uid, {some_of(columns)}"
    if any(map(_OF_VOTES.search, frame.unnamed)):
        return ChaosError(
            "This is a file of votes, not of predictions.",
            where=frame.path,
            found=f"columns {some_of(others)}",
            expected=expected,
            todo=f"check it with `{_CHECK}`, and see its crowd with `chaos run crowd -p data=FILE`",
        )
    lacking = [name for name, there in zip(columns, found, strict=False) if there is None]
    texts = [name for name in frame.unnamed if isinstance(frame.column(name)[0], str | bool)]
    named = [name for name in frame.unnamed if name.casefold() in _OF_ANSWERS] or texts
    if len(named) == 1 and not any(found):
        values = frame.column(named[0]).values
        return _no_label(frame, words, named[0], values)
    todo = None
    if others:
        labels = words.dataset.labels
        label = next((label for label, there in zip(labels, found, strict=False)
                      if there is None), labels[0])  # fmt: skip
        todo = "name the label of each" if words.answers else "rename them, or say which is which"
        todo += f": --answers {others[0]}={label},…"
    return ChaosError(
        f"The {what} do not fit {words.dataset.title}."
        if found
        else f"None of the {what} is a label.",
        where=frame.path,
        found="; ".join(
            [f"no column {some_of(lacking)}"] * bool(lacking)
            + [f"there are {some_of(others) or 'none beside uid'}"] * (bool(others) or not found)
        ),
        expected=expected,
        todo=todo,
    )


def _no_label(
    frame: PredictionFrame, words: LabelMapping, column: str, values: Sequence[Any]
) -> ChaosError:
    """Return the error of a column whose values are labels of another dataset, or none."""
    return ChaosError(
        f"The column {shorten(column)} holds no labels of {words.dataset.title}.",
        where=frame.path,
        found=some_of([shorten(as_identifier(one) or one) for one in values[:_SHOWN]]),
        expected=f"labels: {some_of(words.dataset.labels)}",
        todo=_which_is_which(words, values[:_SHOWN])
        + "; a list of probabilities is read from a column 'probs'",
    )


def _which_is_which(words: LabelMapping, values: Sequence[Any]) -> str:
    """Say how to name the label that stands behind each of some values."""
    if words.answers:
        return "name the label of each in --answers too"
    names = sorted(as_identifier(one) or str(one) for one in values)
    return f"say which is which: --answers {quote(','.join(f'{name}=…' for name in names))}"


def _content_of(path: Path) -> FileContent:
    """Read the bytes of a file of a reasonable size: once, since a pipe cannot be read again."""
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
    return FileContent.of(path, piped=True)


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


def is_name(value: object) -> bool:
    """Return whether a value can name a system: `NAME` says what that takes."""
    if not isinstance(value, str) or not value.strip() or _CONTROL.search(value):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False  # a lone surrogate
    return True


def _is_number(value: object) -> bool:
    """Return whether a value is a finite number; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST


def _as_numbers(values: Sequence[Any]) -> Floats:
    """Return values as an array, NaN for what is no finite number."""
    if set(map(type, values)) == {float}:
        numbers: Floats = np.array(values, dtype=np.float64)
        return np.where(np.abs(numbers) < _LARGEST, numbers, np.nan)
    return np.array([float(one) if _is_number(one) else np.nan for one in values], dtype=np.float64)


def _refuse(
    model: str,
    found: Mapping[int, str],
    place: Callable[[int], str],
    expected: str,
    todo: str,
    where: Path | None = None,
) -> None:
    """Raise one ChaosError that names the first rows with a fault, if there are any."""
    faults = Faults(where, f"predictions of {shorten(model)}", expected=expected, todo=todo)
    faults.rows(np.array(list(found), dtype=np.int64), place, found.__getitem__)
    faults.check()


def _stated(value: Any) -> str | None:
    """Return what a cell states, as text; None for an empty one, which comes in several forms."""
    if value is None or value != value:
        return None
    return str(value).strip() or None


@dataclass(frozen=True, slots=True)
class _ModelRows:
    """What one model says, row by row."""

    name: str
    frame: PredictionFrame
    uids: Column
    datasets: Column
    items: Mapping[str, Ints]  # by dataset, the place of each of its uids among `uids`, or -1
    kind: str = ""  # of lists of values, as `_kinds` says it; empty where labels have columns

    def refuse(self, found: Mapping[int, str], expected: str, todo: str) -> None:
        """Raise one ChaosError that names the first rows with a fault, if there are any."""
        _refuse(self.name, found, self.frame.place, expected, todo, self.frame.path)

    def is_in(self, dataset: str) -> Mask:
        """Return whether each row's uid is that of an item of a dataset."""
        known = np.zeros(len(self.uids.values) + 1, dtype=bool)
        known[self.items[dataset]] = True
        known[-1] = False
        return known[self.uids.codes]

    def outside(self, all_votes: Sequence[Votes]) -> list[str]:
        """Return the uids that are no items of any of the datasets."""
        within = [self.is_in(votes.dataset.name) for votes in all_votes]
        rows = np.flatnonzero(~np.any([np.zeros(len(self.frame), dtype=bool), *within], axis=0))
        return [self.uids[row] for row in rows.tolist()]


def _checked(
    name: str, frame: PredictionFrame, all_votes: Sequence[Votes], of_labels: bool
) -> _ModelRows:
    """Return a model's rows after raising on what is wrong with them whatever the dataset."""
    if not is_name(name):
        raise ChaosError(
            "A model's name is not text that can be shown.", where=frame.path,
            found=shorten(name), expected=NAME, todo="rename it",
        )  # fmt: skip
    uids = frame.columns["uid"].identifiers
    place = {uid: k for k, uid in enumerate(uids.values)}
    items = {
        votes.dataset.name: np.array([place.get(uid, -1) for uid in votes.uids], dtype=np.int64)
        for votes in all_votes
    }
    datasets = column_of(frame.column("dataset").map(_stated))
    said = _ModelRows(name, frame, uids, datasets, items)
    said.refuse(
        _contradictions(frame), "entries that do not contradict themselves", "correct these entries"
    )
    _check_uids(said, of_labels)
    _check_datasets(said)
    kinds = _kinds(frame)
    if not kinds:
        return said
    usual = Counter(kinds).most_common(1)[0][0]
    said.refuse(
        {row: f"{kind}; most entries have {usual}" if kind and usual else _without(frame, row)
         for row, kind in enumerate(kinds) if kind != usual or not kind},
        "entries of one kind" if usual else "a list `probs`, or `logits`, in each entry",
        "write all entries alike",
    )  # fmt: skip
    return replace(said, kind=usual)


def _check_uids(said: _ModelRows, of_labels: bool) -> None:
    uids, datasets, stands = said.uids, said.datasets, said.frame.columns["uid"]
    keys = uids.codes.astype(np.int64) + 1
    # The same item of two datasets may stand in one file, if all rows say whose item they mean.
    known = {dataset.name for dataset in known_datasets()}
    if (datasets.codes >= 0).all() and known.issuperset(datasets.values):
        keys += datasets.codes * keys.max()
    first = np.empty(keys.max() + 1, dtype=np.int64)
    first[keys[::-1]] = np.arange(len(keys))[::-1]
    earlier = first[keys]

    def fault(row: int) -> str:
        if uids[row] is not None:
            return f"uid {shorten(uids[row])} again, first at {said.frame.place(int(earlier[row]))}"
        is_empty = _stated(stands[row]) is None
        return "no uid" if is_empty else f"uid {shorten(stands[row])} is not text"

    wrong = np.flatnonzero((uids.codes < 0) | (earlier < np.arange(len(keys)))).tolist()
    said.refuse(
        {row: fault(row) for row in wrong}, "one prediction for each uid",
        "correct these uids, and keep one prediction for each; those of two models stand in two "
        "files, or beside a column model"
        + f"; if these are answers that were drawn from a model, name their column 'sample'; "
        f"`{_CHECK}` reads people's votes" * of_labels,
    )  # fmt: skip


def _check_datasets(said: _ModelRows) -> None:
    within = {name: said.is_in(name) for name in said.items}
    named = {name: said.datasets.map(partial(eq, name), bool) for name in said.items}
    others = {
        row: f"dataset is {name}, but uid {shorten(said.uids[row])} is in {other}"
        for name, other in permutations(said.items, 2)
        for row in np.flatnonzero(named[name] & ~within[name] & within[other]).tolist()
    }
    said.refuse(
        others, "uids of the dataset that the row names",
        "correct the column, or remove it: the uids decide",
    )  # fmt: skip


def _kinds(frame: PredictionFrame) -> list[str]:
    """Return what list of values each row holds; nothing for a file of columns or answers."""
    if DRAWN in frame or not (PROBABILITIES in frame or LOGITS in frame):
        return []
    rows = zip(*map(frame.cells, (PROBABILITIES, LOGITS, "index", "pred")), strict=True)
    return [
        ("logits" if logits is not None else "")
        if shares is None
        else "probabilities" + _RELEASED * (index is not None and pred is not None)
        for shares, logits, index, pred in rows
    ]


def _without(frame: PredictionFrame, row: int) -> str:
    keys = [name for name, column in frame.columns.items() if column[row] is not None]
    keys = [name for name in keys if name not in ("model", INSIDE)]
    return f"no `probs`; keys found: {', '.join(map(shorten, keys)) or 'none'}"


def _contradictions(frame: PredictionFrame) -> dict[int, str]:
    """Say where uid, logits, `conf` (the largest probability) or `pred` (its place) disagree."""
    found: dict[int, str] = {}
    if INSIDE in frame:
        pairs = zip(frame.cells(INSIDE), frame.cells("uid"), strict=True)
        found = {row: f"the uid inside is {shorten(inside)}"
                 for row, (inside, uid) in enumerate(pairs) if inside != uid}  # fmt: skip
    columns = (PROBABILITIES, LOGITS, "conf", "pred")
    cells = zip(*map(frame.cells, columns), strict=True) if PROBABILITIES in frame else ()
    for row, (shares, logits, conf, pred) in enumerate(cells):
        if not isinstance(shares, list) or not shares or not all(map(_is_number, shares)):
            continue  # a fault of its own
        largest = max(shares)
        if logits is not None:
            said = np.empty(0)
            if isinstance(logits, list) and logits and all(map(_is_number, logits)):
                said = softmax(np.array([logits], dtype=np.float64))[0]
            if len(said) != len(shares) or (np.abs(said - np.array(shares)) > _TOLERANCE).any():
                both = f"{shorten(shares, _WIDE)} are not the softmax of {shorten(logits, _WIDE)}"
                found[row] = f"probabilities {both}"
        if conf is not None and not (_is_number(conf) and abs(conf - largest) <= _TOLERANCE):
            found[row] = f"conf is {shorten(conf)}, the largest probability {largest:g}"
        if pred is not None:
            is_place = isinstance(pred, int) and not isinstance(pred, bool)
            if not (is_place and 0 <= pred < len(shares)):
                found[row] = f"pred is {shorten(pred)}, no place in a list of {len(shares)}"
            elif shares[pred] < largest - _TOLERANCE:
                place = shares.index(largest)
                found[row] = f"pred is {pred}, the largest probability stands at {place}"
    return found


def _about(said: _ModelRows, all_votes: Sequence[Votes]) -> dict[str, Any]:
    """Return the fields of the system that the columns `ABOUT` state."""
    about = {}
    for name in ABOUT:
        if name not in said.frame:
            continue
        values = list(dict.fromkeys(said.frame.column(name).map(_joined_names)))
        if len(values) > 1:
            raise ChaosError(
                f"The column {name} contradicts itself for {shorten(said.name)}.",
                where=said.frame.path,
                found=", ".join(map(shorten, values[:_SHOWN])),
                expected="one value for all rows of a model",
                todo="give each system a name of its own in a column model",
            )
        if values[0] is not None:
            about[name] = _field(said.frame.path, name, values[0], all_votes)
    return about


def _joined_names(value: Any) -> str | None:
    return _stated("; ".join(map(str, value)) if isinstance(value, list) else value)


def _field(path: Path, name: str, text: str, all_votes: Sequence[Votes]) -> Any:
    if name == "seed" and re.fullmatch(r"\d{1,18}(\.0)?", text, re.ASCII):
        return int(text.removesuffix(".0"))
    if name == "out_of_fold" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if name == "family":
        return text
    if name == "trained_on":
        datasets = [*(votes.dataset for votes in all_votes), *known_datasets()]
        names = [one.strip() for one in re.split("[;,+]", text)]
        return tuple(_trained_on(one, datasets) for one in names if one)
    kinds = {"seed": "a whole number, 0 or more", "out_of_fold": "true or false"}
    raise ChaosError(
        f"The column {name} cannot be read.",
        where=path,
        found=shorten(text),
        expected=kinds[name],
    )


def _trained_on(name: str, datasets: Sequence[Dataset]) -> str:
    """Return a name in `trained_on` as `System` has it: votes by their dataset's short name."""
    words = name.casefold().split(maxsplit=2)
    if words[:2] == ["votes", "of"] and len(words) == 3:
        for dataset in datasets:
            if words[2] in {s.casefold() for s in (dataset.name, dataset.short, dataset.title)}:
                return votes_of(dataset)
    return name


def _extra_note(extra: Sequence[str]) -> list[str]:
    if not extra:
        return []
    are = "uid of the file is no item" if len(extra) == 1 else "uids of the file are no items"
    return [f"{len(extra)} {are} of the dataset ({_listed(extra)})"]


def _listed(uids: Sequence[str]) -> str:
    return ", ".join(map(shorten, uids[:_SHOWN])) + (" …" if uids[_SHOWN:] else "")


def _no_item(said: _ModelRows, all_votes: Sequence[Votes]) -> ChaosError:
    titles = ", ".join(votes.dataset.title for votes in all_votes) or "no dataset"
    synthetic = any(votes.source.synthetic for votes in all_votes)
    stated = sorted(said.datasets.values)
    return ChaosError(
        f"No uid of {shorten(said.name)} occurs in {titles}"
        f"{' as the synthetic sample has it' if synthetic else ''}.",
        where=said.frame.path,
        found=f"{counted(len(said.frame), 'uid')}, such as {shorten(said.uids[0])}"
        + (f", of the dataset {', '.join(map(shorten, stated))}" if stated else ""),
        expected=f"uids such as {all_votes[0].uids[0]!r}" if all_votes else None,
        todo="run `chaos data fetch`, if these are predictions on the released items"
        if synthetic
        else "check the dataset, and that the uids are those of its votes",
    )


def _by_dataset(
    said: _ModelRows, all_votes: Sequence[Votes], answers: Mapping[str, str]
) -> list["_Part"]:
    others = {dataset.name for dataset in known_datasets()}
    parts = []
    for votes in all_votes:
        name = votes.dataset.name
        rows = np.flatnonzero(~said.datasets.map((others - {name}).__contains__, bool))
        row_of = np.full(len(said.uids.values) + 1, -1)
        row_of[said.uids.codes[rows]] = rows
        chosen = row_of[said.items[name]]
        items = np.flatnonzero(chosen >= 0)
        if len(items):
            words = LabelMapping(votes.dataset, answers)
            parts.append(_Part(said, votes, words, items, chosen[items]))
    # Datasets may share uids. Those whose classes are not the file's are then not meant.
    return [part for part in parts if part.fits()] or parts


def _check_meant(said: _ModelRows, parts: Sequence["_Part"]) -> None:
    """Raise a ChaosError if rows may be about either of two datasets."""
    for one, other in combinations(parts, 2):
        if len(both := np.intersect1d(one.rows, other.rows)):
            titles = f"{one.votes.dataset.title} and {other.votes.dataset.title}"
            uid = shorten(said.uids[both[0]])
            raise ChaosError(
                f"The predictions of {shorten(said.name)} fit two datasets.",
                where=said.frame.path,
                found=f"{counted(len(both), 'uid')} of both {titles}, such as {uid}",
                expected="uids of one dataset, or a column dataset",
                todo="say in a column dataset which is meant, or choose it: `--dataset` or "
                "`-p data=…`",
            )


@dataclass(frozen=True, slots=True)
class _Part:
    """What one model says of one dataset."""

    said: _ModelRows
    votes: Votes
    words: LabelMapping
    items: Ints  # places in the votes, ascending
    rows: Ints  # those of the same items in the frame

    @property
    def lists(self) -> str:
        """The column that holds a list of values for each row; empty where labels have columns."""
        return self.said.kind and (LOGITS if self.said.kind == "logits" else PROBABILITIES)

    def fits(self) -> bool:
        """Whether the file has this dataset's labels."""
        frame, k = self.said.frame, self.votes.dataset.n_classes
        if DRAWN in frame:
            first = frame.column(DRAWN)[self.rows[0]]
            return any(self.words.label(text) is not None for text in first)
        if self.lists:
            first = frame.column(self.lists)[self.rows[0]]
            return isinstance(first, list) and len(first) == k
        of_classes = self.words.columns(frame.unnamed, frame.path)
        if not any(of_classes):
            return bool(_of_labels(frame, self.words))
        return None not in of_classes

    @property
    def gives_labels(self) -> bool:
        """Whether the file has one label per item, and no values."""
        frame = self.said.frame
        has_values = self.lists or {DRAWN, N_DRAWN} & frame.columns.keys()
        return not (has_values or any(self.words.columns(frame.unnamed, frame.path)))

    def system(self, allow_missing: bool) -> System:
        """Return the predictions, checked."""
        dataset, frame, notes = self.votes.dataset, self.said.frame, list(self.said.frame.notes)
        n_samples: tuple[int, ...] = ()
        if DRAWN in frame or (N_DRAWN in frame and not self.lists):
            part, probabilities, n_samples, more = self._machine_votes()
            notes += more
        elif self.gives_labels:
            return self._of_labels(allow_missing)
        else:
            part, probabilities = self, self._probabilities()
            notes += self._other_choices()
        probabilities = probabilities / probabilities.sum(axis=1, keepdims=True)
        notes[:0] = part._notes_on_missing(notes, allow_missing)
        predicted, is_stated = part._labels(probabilities)
        top = probabilities.max(axis=1)
        off = np.flatnonzero(probabilities[np.arange(len(top)), predicted] < top)
        if is_stated and len(off):
            part._check_stated(off)
            notes.append(
                f"{len(off)} stated labels are not the most probable ones; accuracies use the "
                "stated ones"
            )
        notes += part._check_order(probabilities)
        if (top == 1).all():
            notes.append(
                "each item has probability 1 for one label: if these are labels, write them in a "
                f"column {STATED} instead"
            )
        if unread := self._other_values():
            notes.append(f"not read: {some_of(unread)}, of several with a value for each label")
        if frame.lists_in:
            order = some_of([dataset.labels[k] for k in self._order()])
            notes.append(f"the values in {frame.lists_in} are read in the order {order}")
        return part._made(probabilities, predicted, notes, stated=is_stated, n_samples=n_samples)

    def _of_labels(self, allow_missing: bool) -> System:
        """Return labels as predictions, checked."""
        frame, dataset = self.said.frame, self.votes.dataset
        column = _label_column(frame, self.words)
        predicted = self._read_labels(column)
        probabilities = np.eye(dataset.n_classes)[predicted]
        notes = self._notes_on_missing(frame.notes, allow_missing)
        notes += [*frame.notes, NOTE_ON_LABELS]
        unread = [name for name in frame.unnamed if is_chance(name, frame.column(name))]
        if unread:
            notes.append(f"not read: {some_of(unread)}, since one probability is no distribution")
        if self.words.answers:
            notes += self._check_order(probabilities)
        known = self.votes.old_label if self.votes.has_old_labels else self.votes.majority
        if column != STATED and len(predicted) >= ENOUGH and (predicted == known[self.items]).all():
            which = "the old ones" if self.votes.has_old_labels else "the majority's"
            notes.append(f"all labels in {shorten(column)} are {which}: did the model give them?")
        return self._made(probabilities, predicted, notes, stated=True, one_label=True)

    def _notes_on_missing(self, also: Sequence[str], allow_missing: bool) -> list[str]:
        """Return a note if some items have no prediction; raise if that is not allowed."""
        return notes_on_missing(
            self.said.name, self.votes, self.items, where=self.said.frame.path, also=also,
            unknown=self.said.outside([self.votes]), allowed=allow_missing,
        )  # fmt: skip

    def _made(
        self, probabilities: Floats, predicted: Ints, notes: Sequence[str], **about: Any
    ) -> System:
        """Return the system of these items."""
        uids = tuple(self.votes.uids[i] for i in self.items)
        return System(
            self.said.name, self.votes.dataset, uids, probabilities, predicted,
            notes=tuple(notes), **about,
        )  # fmt: skip

    def _read_labels(self, column: str) -> Ints:
        """Return the labels that a column states; raise if one is none."""
        cells, dataset = self.said.frame.column(column), self.votes.dataset
        read = cells.map(self.words.label)[self.rows]
        wrong = [row for row, k in zip(self.rows.tolist(), read, strict=True) if k is None]
        words = list(dict.fromkeys(text for row in wrong if (text := _stated(cells[row]))))
        todo = _which_is_which(self.words, words[:_SHOWN]) if words else "complete these rows"
        self.said.refuse(
            {row: f"{column} {shorten(cells[row])}" for row in wrong},
            f"one of {some_of(dataset.labels)}"
            + f" or {some_of(dataset.codes)}" * (dataset.codes != dataset.labels),
            f"{todo}; or leave rows without a label out, and evaluate the rest (--allow-missing)",
        )
        return read.astype(np.int64)

    def _machine_votes(self) -> tuple["_Part", Floats, tuple[int, ...], list[str]]:
        """Return what drawn answers come to: part of the items, shares, and what is to be said."""
        notes: list[str] = []
        if N_DRAWN in self.said.frame:
            counts = self._numbers_drawn()
        else:
            tokens, _ = self._weighed(WEIGHTS)
            seen = tokens.sum(axis=1)
            if seen.any():
                notes.append(f"labels have {seen.mean():.1%} of the first token's probability")
            if tokens.any(axis=0).all() and seen.mean() >= _ENOUGH_OF_TOKEN:
                lacks = int((~(tokens > 0).all(axis=1) & (seen > 0)).sum())
                if lacks:
                    notes.append(
                        f"{counted(lacks, 'item')} with a label that is not among the first "
                        "tokens given: it counts as 0"
                    )
                return self._where(seen > 0), tokens[seen > 0], (), notes
            counts, unread = self._weighed(DRAWN)
            notes += self._unread(unread, counts.sum() + unread.total())
        totals = counts.sum(axis=1)
        part, counts, totals = self._where(totals > 0), counts[totals > 0], totals[totals > 0]
        n_samples = (int(totals.min()), int(totals.max()))
        notes.append(
            f"machine votes: {'–'.join(f'{n:,}' for n in dict.fromkeys(n_samples))} "
            f"{'sample' if max(n_samples) == 1 else 'samples'} per item, smoothed by {SMOOTHING}"
        )
        shares = (counts + 0.5) / (totals + counts.shape[1] / 2)[:, np.newaxis]
        return part, shares, n_samples, notes

    def _where(self, mask: Mask) -> "_Part":
        return replace(self, items=self.items[mask], rows=self.rows[mask])

    def _weighed(self, column: str) -> tuple[Floats, Counter[str]]:
        """Return how often each label was answered, shape (n, k), and what else was."""
        counts = np.zeros((len(self.rows), self.votes.dataset.n_classes))
        unread: Counter[str] = Counter()
        cells = self.said.frame.cells(column)
        for i, row in enumerate(self.rows.tolist()):
            for text, weight in (cells[row] or {}).items():
                label = self.words.label(text)
                if label is None:
                    unread[text] += weight
                else:
                    counts[i, label] += weight
        return counts, unread

    def _unread(self, unread: Counter[str], total: float) -> list[str]:
        """Return a note on answers that are none of the labels; raise if they are too many."""
        if not unread:
            return []
        common = "\n".join(f"sample {shorten(text)} ({n:,})" for text, n in unread.most_common(3))
        share = f"{unread.total():,} of {total:,.0f} answers"
        if unread.total() > _MOST_UNREAD * total:
            known = self.votes.dataset.labels
            n_read = total - unread.total()
            few = f"only {n_read:,.0f} are labels" if n_read else "none is a label"
            todo = f"say which answer is which label, such as {SAY_SO}"
            if self.words.answers:
                todo = "name the label of each answer in --answers too"
            raise ChaosError(
                f"Of the {total:,.0f} answers of {shorten(self.said.name)}, {few}.",
                where=self.said.frame.path,
                found=common,
                expected=f"samples that are a label: {some_of(known)}; up to {_MOST_UNREAD:.0%} of "
                "others are counted and left out",
                todo=f"{todo}; or turn answers into labels",
            )
        listed = common.replace("\n", ", ")
        return [f"{share} are none of the labels and left out ({listed})"]

    def _numbers_drawn(self) -> Floats:
        """Return how often each label was drawn, where the file has the numbers."""
        names = class_columns(self.votes.dataset)
        columns = self._columns()
        given = [column.map(as_count)[self.rows] for column in columns]
        stated = self.said.frame.column(N_DRAWN)
        faults: dict[int, str] = {}
        for row, *numbers in zip(self.rows.tolist(), *given, strict=True):
            wrong = [k for k, number in enumerate(numbers) if number is None]
            total = sum(number for number in numbers if number is not None)
            if wrong:
                found = f"{names[wrong[0]]} is {shorten(columns[wrong[0]][row])}"
                faults[row] = f"{found}, no number of samples"
            elif total != as_count(stated[row]):
                found = f"n_samples is {shorten(stated[row])}"
                faults[row] = f"{found}, the columns add up to {total}"
            elif not total:
                faults[row] = "no sample"
        self.said.refuse(faults, "how often each label was drawn", "correct these numbers")
        return np.array(given, dtype=np.float64).T

    def _columns(self) -> list[Column]:
        """Return the column of each label."""
        frame, dataset = self.said.frame, self.votes.dataset
        found = self.words.columns(frame.unnamed, frame.path)
        if None in found:
            raise _misfit(frame, self.words, found)
        more = [name for name in frame.unnamed
                if name and name not in found and _are_shares(frame.column(name))]  # fmt: skip
        if more and N_DRAWN not in frame:
            raise ChaosError(
                f"There are too many columns for {dataset.title}.",
                where=frame.path,
                found=f"probabilities of {', '.join(map(shorten, more))}",
                expected=f"columns uid, {some_of(class_columns(dataset))}",
                todo="remove or rename what is no label, or check the dataset",
            )
        return [frame.column(name) for name in found if name]

    def _probabilities(self) -> Floats:
        """Return the probabilities in the dataset's order of labels, shape (n, k)."""
        frame, dataset, k = self.said.frame, self.votes.dataset, self.votes.dataset.n_classes
        if self.lists:
            lists = frame.column(self.lists)
            fitting = lists.map(lambda one: one if isinstance(one, list) and len(one) == k else ())
            flat = [one for row in self.rows for one in fitting[row] or [None] * k]
            values = _as_numbers(flat).reshape(-1, k)
        else:
            columns = self._columns()
            read = [np.append(_as_numbers(one.values), np.nan)[one.codes] for one in columns]
            values = np.column_stack(read)[self.rows]

        wrong = self.rows[np.isnan(values).any(axis=1)].tolist()
        given = {row: lists[row] if self.lists else [one[row] for one in columns] for row in wrong}
        self.said.refuse(
            {row: _no_numbers(cells, k) for row, cells in given.items()},
            f"{k} finite numbers for each item of {dataset.title}: {some_of(dataset.labels)}",
            "correct these predictions"
            + "; a pipeline says all labels with top_k=None"
            * any(None in cells for cells in given.values() if isinstance(cells, list)),
        )
        if self.lists:
            values = values[:, np.argsort(self._order())]
        if frame.are_logits or self.lists == LOGITS:
            return softmax(values)
        check_shares(self.said.name, lambda i: frame.place(int(self.rows[i])), values, frame.path)
        return values

    def _other_choices(self) -> list[str]:
        """Return a note on choices that are no label, and how much probability they leave."""
        frame = self.said.frame
        if self.lists or not frame.are_logits:
            return []
        known = [one for one in self.words.columns(frame.unnamed, frame.path) if one]
        names = [*known, *(name for name in frame.unnamed if name not in known)]
        logs = [np.append(_as_numbers(one.values), np.nan)[one.codes][self.rows]
                for one in map(frame.column, names)]  # fmt: skip
        logs = [one for one in logs if np.isfinite(one).all()]  # others are about the item
        if len(logs) == len(known):
            return []
        share = softmax(np.column_stack(logs))[:, : len(known)].sum(axis=1).mean()
        others = ", ".join(map(shorten, names[len(known) :][:_SHOWN]))
        return [f"labels have {share:.1%} of the choices' probability; left out: {others}"]

    def _other_values(self) -> list[str]:
        """Return the columns that have values for all labels, too, beside those that are read."""
        frame, k = self.said.frame, self.votes.dataset.n_classes
        labels = {name: self.words.label(name) for name in frame.unnamed if self.lists}
        of_all = {label for label in labels.values() if label is not None}
        return [
            name for name in frame.unnamed
            if holds_values(frame.column(name), k)
            or (len(of_all) == k and labels.get(name) is not None)
        ]  # fmt: skip

    def _order(self) -> list[int]:
        """Return the label that stands at each place of a list of values."""
        codes = self.votes.dataset.codes
        if self.said.kind.endswith(_RELEASED) and sorted(codes) == sorted(_RELEASED_CODES):
            return [codes.index(code) for code in _RELEASED_CODES]
        return list(range(len(codes)))

    def _labels(self, probabilities: Floats) -> tuple[Ints, bool]:
        """Return the stated labels, or the first argmax where none is stated."""
        stated = self.said.frame.column(STATED)
        if not stated.map(lambda cell: _stated(cell) is not None, bool)[self.rows].any():
            return probabilities.argmax(axis=1), False
        return self._read_labels(STATED), True

    def _check_stated(self, off: Ints) -> None:
        """Raise where a column of labels contradicts the columns of probabilities beside it.

        ChaosNLI's JSON has labels of their own, so there this is a note.
        """
        stated = self.said.frame.column(STATED)
        self.said.refuse(
            {row: f"predicted_label {shorten(stated[row])}, but another label is more probable"
             for row in ([] if self.lists else self.rows[off].tolist())},
            "the label with the largest probability",
            "correct the labels, or remove the column predicted_label",
        )  # fmt: skip

    def _check_order(self, probabilities: Floats) -> list[str]:
        """Raise, or note a doubt, where the labels seem to be mixed up."""
        frame, order = self.said.frame, self._order()
        if DRAWN in frame and not self.words.answers:
            return []  # answers in words
        what, todo = "the header", "correct the header"
        if frame.are_named:
            what, todo = "the file", "correct the model's id2label, or the names in the file"
        if self.lists:
            what, todo = "this format", "reorder the values"
        elif self.words.answers:
            what, todo = "--answers", "correct --answers"
        if order != sorted(order):
            todo += ", or leave index and pred out: the order is then "
            todo += some_of(self.votes.dataset.labels)
        states = frame.column(STATED).codes >= 0
        return check_order(
            self.votes, self.items, probabilities, order=order, what=what, todo=todo,
            is_told=not self.lists or order != sorted(order) or bool(states.any()),
            where=frame.path,
            problem=f"The classes of {shorten(self.said.name)} seem to be in another order.",
        )  # fmt: skip


def _are_shares(column: Column) -> bool:
    numbers = _as_numbers([*column.values, *([None] if (column.codes < 0).any() else [])])
    return bool(((numbers >= 0) & (numbers <= 1)).all())


def _no_numbers(cells: Any, k: int) -> str:
    """Say what is wrong with what should be a list of so many numbers."""
    if isinstance(cells, str) and "..." in cells:
        return f"{shorten(cells, _WIDE)}, which leaves numbers out"
    if not isinstance(cells, list) or len(cells) != k:
        return f"{len(cells)} values" if isinstance(cells, list) else shorten(cells, _WIDE)
    are_infinite = all(isinstance(one, int | float) and not isinstance(one, bool) for one in cells)
    return f"{shorten(cells, _WIDE)}{' is not finite' * are_infinite}"


def as_labels(model: str, votes: Votes, labels: Sequence[Any]) -> Ints:
    """Return the labels of all items, from 0; raise on what is none."""
    words = LabelMapping(votes.dataset)
    read = [words.label(one) for one in labels]
    wrong = {row: shorten(labels[row]) for row, label in enumerate(read) if label is None}
    expected = f"labels: {some_of(votes.dataset.labels)}"
    todo = "give labels as the dataset calls them, or an array with a column for each label"
    _refuse(model, wrong, lambda row: f"row {row}, {votes.uids[row]}", expected, todo)
    return np.array(read, dtype=np.int64)


def softmax(logits: Floats) -> Floats:
    """Return the probabilities that logits stand for, shape (n, k)."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def check_shares(
    model: str, place: Callable[[int], str], values: Floats, where: Path | None = None
) -> None:
    """Raise on rows that are no probabilities, and say what they may be."""
    with np.errstate(over="ignore"):
        sums = values.sum(axis=1)
    positive, whole = bool((values >= 0).all()), bool((values == values.round()).all())
    todo = "apply a softmax if these are logits"
    if positive and (np.abs(sums - 100) <= 1).all():
        todo = "divide by 100: these are percentages"
    elif positive and whole and not (sums == 1).all():
        todo = "add a column n_samples, their sum, if these count a model's answers; "
        todo += f"`{_CHECK}` reads people's votes"
    elif positive and (np.abs(sums - 1) <= _ROUNDED).all():
        todo = "divide each row by its sum: rounded?"

    wrong = ~((values >= 0).all(axis=1) & (np.abs(sums - 1) <= _TOLERANCE))
    found = {
        row: f"{shorten(values[row].tolist(), _WIDE)} "
        + ("has a negative value" if (values[row] < 0).any() else f"sums to {sums[row]:.6g}")
        for row in np.flatnonzero(wrong).tolist()
    }
    expected = "probabilities: none negative, their sum 1 (within 0.001)"
    _refuse(model, found, place, expected, todo, where)


def notes_on_missing(
    model: str,
    votes: Votes,
    items: Ints,
    *,
    allowed: bool,
    where: object = None,
    also: Sequence[str] = (),
    unknown: Sequence[str] = (),
) -> list[str]:
    """Return a note if only some items have a prediction; raise if that is not allowed.

    The error names uids of the file that are `unknown`, and what is `also` to be said.
    """
    n_missing = len(votes) - len(items)
    if not n_missing:
        return []
    fact = f"{n_missing} of {len(votes)} items of {votes.dataset.title} "
    fact += f"{'has' if n_missing == 1 else 'have'} no prediction"
    if not allowed:
        missing = [votes.uids[i] for i in np.setdiff1d(np.arange(len(votes)), items)]
        found, todo = [f"missing: {_listed(missing)}"], "add what is missing"
        if unknown:
            found.append(f"no item of the dataset: {_listed(unknown)}")
            close = get_close_matches(unknown[0], missing[:_COMPARED], n=1, cutoff=0)
            todo = f"correct the uids of the file (is {shorten(unknown[0])} {shorten(close[0])}?)"
            todo += ", add what is missing"
        raise ChaosError(
            f"{fact} by {shorten(model)}.",
            where=where,
            found="\n".join([*found, *also]),
            expected="a prediction for each item",
            todo=f"{todo}, or pass --allow-missing to evaluate the rest",
        )
    return [f"{fact}; evaluated on the other {len(items)}"]


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
        one_label=any(part.one_label for part in parts),
        origin=first.origin if len({part.origin for part in parts}) == 1 else "yours",
        seed=first.seed if len({part.seed for part in parts}) == 1 else None,
        trained_on=tuple(dict.fromkeys(name for part in parts for name in part.trained_on)),
        out_of_fold=bool(fitted) and all(part.out_of_fold for part in fitted),
        inputs=inputs.merged(*(part.inputs for part in parts)),
    )

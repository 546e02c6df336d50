"""Models' predictions: validated when they are read, and immutable from then on.

Nothing is repaired in silence: a fault is an error that says where, and what is odd but may be
intended is a note beside the predictions.
"""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from itertools import combinations, permutations, repeat
from operator import eq
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base import inputs
from chaos_utils.base.errors import ChaosError, check_known, counted
from chaos_utils.base.files import uncollected, write_bytes
from chaos_utils.datasets.catalogue import known_datasets
from chaos_utils.datasets.cells import as_count, as_identifier
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.faults import Faults, shorten
from chaos_utils.datasets.frame import Column, FileContent
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.divergence import Floats
from chaos_utils.scoring.asking import (
    GREATEST_SUM,
    LABEL,
    LEAST_SUM,
    LOGPROBS,
    MEANINGS,
    MOST_LOGPROB,
    MOST_MASS,
    NEGLIGIBLE,
    PERCENTAGES,
    SAMPLES,
    check_way,
    from_percentages,
    is_negligible,
    stated_percentages,
)
from chaos_utils.scoring.formats import (
    ABOUT,
    FOLD,
    INSIDE,
    LOGITS,
    N_DRAWN,
    PROBABILITIES,
    STATED,
    PredictionFrame,
    class_columns,
    holds_values,
    is_chance,
    list_table,
    not_read,
    read_each,
    read_rows,
)
from chaos_utils.scoring.label_mapping import SAY_SO, LabelMapping, check_answers
from chaos_utils.scoring.label_order import ENOUGH, check_order, some_of
from chaos_utils.scoring.model_runs import DRAWN, WEIGHTS
from chaos_utils.scoring.system import System, votes_of
from chaos_utils.scoring.temperature_scaling import softmax
from chaos_utils.scoring.training_records import run_of

Mask = npt.NDArray[np.bool_]
_MOST_BYTES = 4 * 10**9  # of a file, which is read whole
_SHOWN = 5  # examples in a message
_LOOKED_AT = 200  # distinct values of a column that may hold labels
_COMPARED = 1000  # missing uids to compare with an unknown uid
_WIDE = 80  # characters of a row's values in a message
_CHECK = "chaos dataset check FILE"
# Names of columns with people's labels, and names of columns that may hold a model's.
_PEOPLE_COLUMN = re.compile(
    "gold|target|reference|true|truth|majority|old_label|human", re.IGNORECASE
)
_ANSWER_COLUMNS = ("label", "prediction", "predicted", "pred", "answer", "output", "response")
# Columns of the item explorer's download (book/_explorer/model.js), and those that it always has.
_EXPLORER_COLUMN = re.compile(
    "n_votes|entropy_bits|majority|old_label|"
    "(votes|old votes|language models|label|share|jsd_nats|tvd): .+",
    re.DOTALL,
)
_IN_EXPLORER = {"n_votes", "entropy_bits", "majority"}
# Names of columns with votes.
_VOTES_COLUMN = re.compile("annotat|worker|rater|label_count|votes", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# Probabilities rounded to three digits pass. What Baan et al. (2022) released agrees to 2e-7.
_TOLERANCE = 1e-3
_MOST_UNREAD = 0.1  # share of a model's answers that may be no label
_ENOUGH_OF_TOKEN = 0.5  # of the first token's probability on labels; else drawn answers are read
# JSON lines with `index` and `pred` are in the format of Baan et al. (2022), whose values are in
# the order of these codes.
_RELEASED = "probabilities, with index and pred"
_KINDS = ("", "probabilities", _RELEASED, "logits")  # of lists of values
_RELEASED_CODES = ("e", "c", "n")
# What a file may hold, in words, and the ways of asking for it.
_HOLDINGS = {
    "answers": ("answers", (LABEL, SAMPLES, LOGPROBS, PERCENTAGES)),
    "counts": ("how often each label was drawn", (SAMPLES,)),
    "labels": ("one label per item", (LABEL,)),
    "logits": ("a log-likelihood for each choice", (LOGPROBS,)),
    "numbers": ("a number for each label", (SAMPLES, LOGPROBS, PERCENTAGES)),
}
NOTE_ON_LABELS = (
    "one label per item: its accuracy is computed from the labels; JSD, KL and calibration need a "
    "distribution and are left out"
)
SMOOTHING = "the Krichevsky–Trofimov rule (½ added to each label)"
OF_OWN_ITEMS = "for items of your own, pass their votes: --data VOTES; else "
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
    asked: str | None = None,
    allow_missing: bool = False,
    allow_others: bool = False,
) -> list[System]:
    """Read a file of predictions: one system for each model and dataset that it covers.

    The format is recognised by the content, and datasets by the uids; also by class columns and a
    column ``dataset`` if several datasets have the same uids. For a file in a run's folder, the
    run's record describes the system; CSV and parquet may describe it in columns ``family``,
    ``seed``, ``trained_on`` (names separated by ``;``) and ``out_of_fold``.

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
        The filter (in a run of lm-evaluation-harness that has several) or scorer (in a log of
        Inspect) whose reading of each answer is used.
    asked : str, optional
        How a language model was asked, one of `scoring.asking.WAYS`: its answers are read as such,
        or refused. Otherwise labels alone are labels, answers are samples (or the probabilities of
        first tokens, where a server gave them), and numbers are probabilities.
    allow_missing : bool
        Whether a dataset may be covered in part: the rest is evaluated, and a note says so.
    allow_others : bool
        Whether a file without an item of the datasets is allowed; the result is then empty.

    Raises
    ------
    ChaosError
        If the file cannot be read in any format; a model is not in it; filters or scorers differ
        and none is named; uids fit no dataset, or two, occur twice or are missing; values are not
        probabilities or contradict each other; too many answers are unread, or are none to what was
        asked; or the classes seem to be in another order.
    """
    check_way(asked, "--asked")
    path = Path(path)
    content = _content_of(path)
    run = run_of(path)
    if run is None:
        read_from: tuple[inputs.Input, ...] = (inputs.of_predictions(path, content.sha256),)
    else:
        read_from = run.inputs_of(path.resolve().name)
    check_answers(answers or {}, [votes.dataset for votes in all_votes])
    options = {"filter": filter, "scorer": scorer}
    run_parts = {kind: name for kind, name in options.items() if name is not None}

    systems = []
    for model_rows in _read(content, all_votes, model, answers or {}, run_parts, asked):
        about = _about(model_rows, all_votes)
        if run is not None and model_rows.name == run.system:
            about = run.about()
        parts = _by_dataset(model_rows, all_votes, answers or {}, asked)
        _check_meant(model_rows, parts)
        if not parts and not allow_others:
            raise _no_item_error(model_rows, all_votes)
        extra = _extra_note(model_rows.outside(all_votes))
        for part in parts:
            system = replace(part.system(allow_missing), inputs=read_from)
            notes = (*about.get("notes", ()), *system.notes, *extra)
            systems.append(replace(system, **(about | {"notes": notes})))
    return systems


def columns_left_out(
    path: Path,
    all_votes: Sequence[Votes],
    *,
    model: str | None = None,
    answers: Mapping[str, str] | None = None,
    asked: str | None = None,
) -> list[str]:
    """Return the columns of a file of which `read_predictions` takes nothing into predictions.

    Parameters
    ----------
    path : Path
        A file that `read_predictions` reads.
    all_votes, model, answers, asked
        As for `read_predictions`.

    Returns
    -------
    list of str
        In the order of the file; `ABOUT` among them, which describe a system.
    """
    known = answers or {}
    names: dict[str, None] = {}
    taken: set[str] = set()
    for model_rows in _read(_content_of(path), all_votes, model, known, {}, asked):
        frame = model_rows.frame
        names |= dict.fromkeys([*frame.unnamed, *(name for name in ABOUT if name in frame)])
        for part in _by_dataset(model_rows, all_votes, known, asked):
            taken |= part.columns_taken()
    return [name for name in names if name not in taken]


def _read(
    content: FileContent,
    all_votes: Sequence[Votes],
    model: str | None,
    answers: Mapping[str, str],
    run_parts: Mapping[str, str],
    asked: str | None,
) -> list["_ModelRows"]:
    """Return the rows of each model, after raising on faulty rows; missing items come later."""
    datasets = [votes.dataset for votes in all_votes]
    frame = _without_explorer(read_rows(content, datasets, run_parts), all_votes)
    mappings = [LabelMapping(dataset, answers) for dataset in (*datasets, *known_datasets())]
    gives_labels = _check_columns(frame, mappings, all_votes)
    by_model = (
        _labels_by_model(frame, mappings[: len(datasets)]) if asked == LABEL else frame.by_model()
    )
    if model is not None:
        problem, found = "No such model in this file.", shorten(model)
        check_known(problem, model, by_model, where=content.path, found=found)
        by_model = {model: by_model[model]}
    return [_check_rows(name, rows, all_votes, gives_labels) for name, rows in by_model.items()]


def _without_explorer(frame: PredictionFrame, all_votes: Sequence[Votes]) -> PredictionFrame:
    """Return a frame without the item explorer's columns, beside which a reader wrote labels.

    Any other frame is returned unchanged. Raises if the download has no single column of labels.
    """
    names = frame.unnamed
    is_download = set(names) >= _IN_EXPLORER and any(one.startswith("votes: ") for one in names)
    if not is_download:
        return frame
    texts = {title for votes in all_votes if votes.texts for title in votes.dataset.text_titles}
    own = [name for name in names if name in texts or _EXPLORER_COLUMN.fullmatch(name)]
    added = [name for name in names if name not in own]
    labels = [name for name in added if name.casefold() in _ANSWER_COLUMNS]
    if STATED not in frame and len(labels) != 1:
        found = "its own columns"
        todo = "keep only the column uid, and add your labels as label or a column for each label"
        if labels:
            found = f"columns {some_of(labels)}"
        elif added:
            found += f", and {some_of(added)}"
            todo = "rename the column with your labels to label; if you added probabilities, keep "
            todo += "only uid and their columns"
        raise ChaosError(
            "This is the item explorer's download, to which no single column of labels was added.",
            where=frame.path, found=found, expected="a column uid and one column label", todo=todo,
        )  # fmt: skip
    columns = {name: column for name, column in frame.columns.items() if name not in own}
    return replace(
        frame,
        columns=columns,
        notes=(*frame.notes, *not_read(["the item explorer's own columns"])),
    )


def _check_columns(
    frame: PredictionFrame, mappings: Sequence[LabelMapping], all_votes: Sequence[Votes]
) -> bool:
    """Return whether a file has one label per item; raise if it has no predictions at all."""
    if {DRAWN, PROBABILITIES, LOGITS} & frame.columns.keys():
        return False
    if any(mapping.label(name) is not None for name in frame.unnamed for mapping in mappings):
        return False
    if not any(_label_columns(frame, mapping) for mapping in mappings):
        fault = _misfit_error(frame, mappings[0], [])
        uids = frame.columns["uid"].identifiers.values
        if not any(votes.source.is_own or {*votes.uids} & {*uids} for votes in all_votes):
            fault = fault.advising(lambda advice: OF_OWN_ITEMS + advice)
        raise fault
    return True


def _labels_by_model(
    frame: PredictionFrame, mappings: Sequence[LabelMapping]
) -> dict[str, PredictionFrame]:
    """Return each model's rows of a file with language models' labels.

    Without a column that names the model, each column of labels is a model's, and an empty cell an
    answer that could not be read. Columns called as if people had given them are left out.
    """
    names = [name for name in frame.unnamed
             if any(_are_labels(frame.column(name), mapping) for mapping in mappings)]  # fmt: skip
    if {STATED, DRAWN} & frame.columns.keys() or any(map(_VOTES_COLUMN.search, names)):
        return frame.by_model()
    if people := [name for name in names if _PEOPLE_COLUMN.search(name)]:
        notes = not_read(people, "called as if people had given it")
        columns = {name: column for name, column in frame.columns.items() if name not in people}
        frame = replace(frame, columns=columns, notes=(*frame.notes, *notes))
        names = [name for name in names if name not in people]
    if len(names) < 2 or "model" in frame:
        return frame.by_model()
    by_model = {}
    for name in names:
        labels = frame.column(name)
        has_label = labels.map(lambda cell: _stated(cell) is not None, bool)
        rows = frame.of(np.flatnonzero(has_label))
        columns = {key: rows.columns[key] for key in ("uid", "dataset") if key in rows}
        by_model[name] = replace(rows, columns=columns | {STATED: rows.column(name)})
    return by_model


def _label_columns(frame: PredictionFrame, mapping: LabelMapping) -> list[str]:
    """Return the columns that may hold a label per item, from the model or from people."""
    if STATED in frame:
        return [STATED]
    return [name for name in frame.unnamed if _are_labels(frame.column(name), mapping)]


def _are_labels(column: Column, mapping: LabelMapping) -> bool:
    """Return whether at least half of a column's cells are labels; other cells are then faults."""
    values = column.values[:_LOOKED_AT]
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(values))[: len(values)]
    are_labels = np.array([mapping.label(value) is not None for value in values], dtype=bool)
    return bool(2 * counts[are_labels].sum() >= counts.sum() > 0)


def _label_column(frame: PredictionFrame, mapping: LabelMapping) -> str:
    """Return the column of a model's labels; raise if it is unclear, or may be people's labels."""
    names = _label_columns(frame, mapping)
    if not names or (STATED not in frame and any(map(_VOTES_COLUMN.search, frame.unnamed))):
        raise _misfit_error(frame, mapping, [])
    if len(names) > 1 or _PEOPLE_COLUMN.search(names[0]):
        raise ChaosError(
            "It is not clear which column holds the model's labels."
            if len(names) > 1
            else "The name of the column suggests that people gave these labels.",
            where=frame.path,
            found=f"labels in {some_of([shorten(name) for name in names])}",
            expected=f"one label per item in the column {STATED}",
            todo=f"call the model's column {STATED!r}: others are then left out; if each column "
            "is a language model's, pass --asked label",
        )
    return names[0]


def _misfit_error(
    frame: PredictionFrame, mapping: LabelMapping, by_label: Sequence[str | None]
) -> ChaosError:
    """Return the error for a file that lacks columns of labels, or choices."""
    columns = "choices" if frame.are_logits else "columns"
    unread = [shorten(name) for name in frame.unnamed if name not in by_label]
    names = class_columns(mapping.dataset)
    expected = f"columns uid, {some_of(names)}"
    if any(map(_VOTES_COLUMN.search, frame.unnamed)):
        return ChaosError(
            "This is a file of votes, not of predictions.",
            where=frame.path,
            found=f"columns {some_of(unread)}",
            expected=expected,
            todo=f"check it with `{_CHECK}`, and see its crowd with `chaos run crowd -p data=FILE`",
        )
    lacking = [k for k, column in enumerate(by_label) if column is None]
    texts = [name for name in frame.unnamed if isinstance(frame.column(name)[0], str | bool)]
    answer_columns = [name for name in frame.unnamed if name.casefold() in _ANSWER_COLUMNS] or texts
    if len(answer_columns) == 1 and not any(by_label):
        column = answer_columns[0]
        return _unknown_labels_error(frame, mapping, column, frame.column(column).values)
    todo = None
    if unread:
        label = mapping.dataset.labels[next(iter(lacking), 0)]
        todo = "name the label of each" if mapping.answers else "rename them, or say which is which"
        todo += f": --answers {unread[0]}={label},…"
    return ChaosError(
        f"The {columns} do not fit {mapping.dataset.title}."
        if by_label
        else f"None of the {columns} is a label.",
        where=frame.path,
        found="; ".join(
            [f"no column {some_of([names[k] for k in lacking])}"] * bool(lacking)
            + [f"there are {some_of(unread) or 'none beside uid'}"] * (bool(unread) or not by_label)
        ),
        expected=expected,
        todo=todo,
    )


def _unknown_labels_error(
    frame: PredictionFrame, mapping: LabelMapping, column: str, values: Sequence[Any]
) -> ChaosError:
    """Return the error for a column whose values are not labels of this dataset."""
    return ChaosError(
        f"The column {shorten(column)} holds no labels of {mapping.dataset.title}.",
        where=frame.path,
        found=some_of([shorten(as_identifier(value) or value) for value in values[:_SHOWN]]),
        expected=f"labels: {some_of(mapping.dataset.labels)}",
        todo=_which_is_which(mapping, values[:_SHOWN])
        + "; a list of probabilities is read from a column 'probs'",
    )


def _which_is_which(mapping: LabelMapping, values: Sequence[Any]) -> str:
    """Say how to name the label for each of some values, with --answers."""
    if mapping.answers:
        return "name the label of each in --answers too"
    names = sorted(as_identifier(value) or str(value) for value in values)
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

    All must be on datasets with the same labels. If a seed or training data is known, there are
    columns for them too.
    """
    import pandas as pd

    systems = list(predictions)
    tables = []
    say_more = any(system.seed is not None or system.trained_on for system in systems)
    for system in systems:
        table = pd.DataFrame(system.probabilities, columns=class_columns(system.dataset))
        table.insert(0, "uid", system.uids)
        table.insert(0, "dataset", system.dataset.name)
        table.insert(0, "model", system.name)
        if say_more:
            table["family"] = system.family
            table["seed"] = pd.array([system.seed] * len(system), dtype="Int64")
            table["trained_on"] = "; ".join(system.trained_on)
            table["out_of_fold"] = system.out_of_fold
        tables.append(table)
    stream = io.BytesIO()
    pd.concat(tables, ignore_index=True).to_parquet(stream, index=False)
    write_bytes(path, stream.getvalue())


def is_name(value: object) -> bool:
    """Return whether a value can name a system; `NAME` has the conditions."""
    if not isinstance(value, str) or not value.strip() or _CONTROL.search(value):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False  # a lone surrogate
    return True


def _refuse(
    model: str,
    rows: Ints,
    place: Callable[[int], str],
    describe: Callable[[int], str],
    expected: str,
    todo: str,
    path: Path | None = None,
) -> None:
    """Raise one ChaosError that describes the first rows with a fault, if there are any."""
    faults = Faults(path, f"predictions of {shorten(model)}", expected=expected, todo=todo)
    faults.rows(rows, place, describe)
    faults.check()


def _stated(value: Any) -> str | None:
    """Return a cell as text; None for an empty cell, which may be None, NaN or blank."""
    if value is None or value != value:
        return None
    return str(value).strip() or None


@dataclass(frozen=True, slots=True)
class _ModelRows:
    """The rows of a model in a file."""

    name: str
    frame: PredictionFrame
    uids: Column
    datasets: Column
    items: Mapping[str, Ints]  # by dataset, the code in `uids` of each of its uids, or -1
    kind: str = ""  # of lists of values, one of `_KINDS`; empty if labels have columns

    def refuse(self, rows: Ints, describe: Callable[[int], str], expected: str, todo: str) -> None:
        """Raise one ChaosError that describes the first rows with a fault, if there are any."""
        _refuse(self.name, rows, self.frame.place, describe, expected, todo, self.frame.path)

    def is_in(self, dataset: str) -> Mask:
        """Return a mask of the rows whose uid is that of an item of a dataset."""
        is_item = np.zeros(len(self.uids.values) + 1, dtype=bool)
        is_item[self.items[dataset]] = True
        is_item[-1] = False
        return is_item[self.uids.codes]

    def outside(self, all_votes: Sequence[Votes]) -> list[str]:
        """Return the uids that are not in any of the datasets."""
        within = np.zeros(len(self.frame), dtype=bool)
        for votes in all_votes:
            within |= self.is_in(votes.dataset.name)
        return [self.uids[row] for row in np.flatnonzero(~within).tolist()]


def _check_rows(
    name: str, frame: PredictionFrame, all_votes: Sequence[Votes], gives_labels: bool
) -> _ModelRows:
    """Return a model's rows, after raising on faults that do not depend on the dataset."""
    if not is_name(name):
        raise ChaosError(
            "A model's name cannot be shown.", where=frame.path,
            found=shorten(name), expected=NAME, todo="rename it",
        )  # fmt: skip
    uids = frame.columns["uid"].identifiers
    code_of_uid = dict(zip(uids.values, range(len(uids.values)), strict=True))
    items = {
        votes.dataset.name: np.fromiter(
            map(code_of_uid.get, votes.uids, repeat(-1)), np.int64, len(votes.uids)
        )
        for votes in all_votes
    }
    model_rows = _ModelRows(name, frame, uids, read_each(frame.column("dataset"), _stated), items)
    _check_entries(model_rows)
    _check_uids(model_rows, gives_labels)
    _check_datasets(model_rows)
    return model_rows if DRAWN in frame else replace(model_rows, kind=_kind(model_rows))


def _check_uids(model_rows: _ModelRows, gives_labels: bool) -> None:
    """Raise if a row has no uid, or the uid of an earlier row."""
    uids, datasets = model_rows.uids, model_rows.datasets
    cells, place = model_rows.frame.columns["uid"], model_rows.frame.place
    keys = uids.codes.astype(np.int64) + 1
    # A uid may occur once for each of several datasets, if all rows name a known dataset.
    names = {dataset.name for dataset in known_datasets()}
    if names.issuperset(datasets.values) and not datasets.is_missing.any():
        keys += datasets.codes * keys.max()
    first = np.empty(keys.max() + 1, dtype=np.int64)
    first[keys[::-1]] = np.arange(len(keys))[::-1]
    earlier = first[keys]

    def describe(row: int) -> str:
        if uids[row] is not None:
            return f"uid {shorten(uids[row])} again, first at {place(int(earlier[row]))}"
        is_empty = _stated(cells[row]) is None
        return "no uid" if is_empty else f"uid {shorten(cells[row])} is not text"

    model_rows.refuse(
        np.flatnonzero((uids.codes < 0) | (earlier < np.arange(len(keys)))), describe,
        "one prediction for each uid",
        "correct these uids, and keep one prediction for each; put two models into two files, or "
            "name them in a column model"
            + f"; if these answers were drawn from one model, call their column 'sample'; "
        f"`{_CHECK}` reads people's votes" * gives_labels,
    )  # fmt: skip


def _check_datasets(model_rows: _ModelRows) -> None:
    """Raise if a row names a dataset but has the uid of another."""
    uids, datasets = model_rows.uids, model_rows.datasets
    within = {name: model_rows.is_in(name) for name in model_rows.items}
    wrong = {
        row: f"dataset is {name}, but uid {shorten(uids[row])} is in {other}"
        for name, other in permutations(model_rows.items, 2)
        if name in datasets.values
        for row in np.flatnonzero(
            datasets.map(partial(eq, name), bool) & ~within[name] & within[other]
        ).tolist()
    }
    model_rows.refuse(
        np.array([*wrong], dtype=np.int64), wrong.__getitem__,
        "uids of the dataset that the row names",
        "correct the column, or remove it: the uids decide",
    )  # fmt: skip


def _kind(model_rows: _ModelRows) -> str:
    """Return the kind of lists that all rows hold; empty for a file with columns of labels."""
    frame = model_rows.frame
    if not (PROBABILITIES in frame or LOGITS in frame):
        return ""
    has_shares, has_logits, has_index, has_pred = (
        _has_cell(frame.column(name)) for name in (PROBABILITIES, LOGITS, "index", "pred")
    )
    # Indices into `_KINDS`.
    kinds = np.where(has_shares, 1 + (has_index & has_pred), 3 * has_logits)
    numbers, first, times = np.unique(kinds, return_index=True, return_counts=True)
    usual = int(numbers[np.lexsort((first, -times))[0]])

    def describe(row: int) -> str:
        kind = _KINDS[kinds[row]]
        return f"{kind}; most entries have {_KINDS[usual]}" if kind and usual else without(row)

    def without(row: int) -> str:
        keys = [name for name, column in frame.columns.items() if column[row] is not None]
        keys = [name for name in keys if name not in ("model", INSIDE)]
        return f"no `probs`; keys found: {', '.join(map(shorten, keys)) or 'none'}"

    model_rows.refuse(
        np.flatnonzero((kinds != usual) | (kinds == 0)), describe,
        "entries of one kind" if usual else "a list `probs`, or `logits`, in each entry",
        "write all entries in the same way",
    )  # fmt: skip
    return _KINDS[usual]


def _check_entries(model_rows: _ModelRows) -> None:
    """Raise if uid, logits, `conf` (the largest probability) or `pred` (its index) disagree."""
    frame = model_rows.frame
    wrong: dict[int, str] = {}
    if INSIDE in frame:
        pairs = enumerate(zip(frame.cells(INSIDE), frame.cells("uid"), strict=True))
        wrong = {row: f"the uid inside is {shorten(inside)}"
                 for row, (inside, uid) in pairs if inside != uid}  # fmt: skip
    lists = [cell for cell in frame.column(PROBABILITIES).values if isinstance(cell, list)]
    contradictions: dict[int, str] = {}
    for n_values in set(map(len, lists)) - {0}:
        contradictions |= _contradictions(frame, n_values)
    wrong |= dict(sorted(contradictions.items()))
    model_rows.refuse(
        np.array([*wrong], dtype=np.int64), wrong.__getitem__,
        "entries that do not contradict themselves", "correct these entries",
    )  # fmt: skip


def _contradictions(frame: PredictionFrame, n_values: int) -> dict[int, str]:
    """Return by row a message on values that contradict a list of `n_values` probabilities."""
    logits, conf, pred = map(frame.column, (LOGITS, "conf", "pred"))
    if not (logits.values or conf.values or pred.values):
        return {}
    shares = list_table(frame.column(PROBABILITIES), n_values)
    largest = shares.max(axis=1)
    is_list = ~np.isnan(largest)  # other rows are reported elsewhere
    is_softmax = (np.abs(softmax(list_table(logits, n_values)) - shares) <= _TOLERANCE).all(axis=1)
    valid = [k if type(k) is int and 0 <= k < n_values else -1 for k in pred.values]
    index = np.array([*valid, -1])[pred.codes]  # a row's `pred`, -1 if it is no index
    share_at_index = shares[np.arange(len(frame)), index]
    messages = {}
    for row in np.flatnonzero(is_list & _has_cell(logits) & ~is_softmax).tolist():
        messages[row] = f"probabilities {shorten(frame.column(PROBABILITIES)[row], _WIDE)} are not "
        messages[row] += f"the softmax of {shorten(logits[row], _WIDE)}"
    is_largest = np.abs(conf.numbers - largest) <= _TOLERANCE
    for row in np.flatnonzero(is_list & _has_cell(conf) & ~is_largest).tolist():
        messages[row] = f"conf is {shorten(conf[row])}, the largest probability {largest[row]:g}"
    is_at_largest = (index >= 0) & ~(share_at_index < largest - _TOLERANCE)
    for row in np.flatnonzero(is_list & _has_cell(pred) & ~is_at_largest).tolist():
        messages[row] = f"pred is {shorten(pred[row])}, no place in a list of {n_values}"
        if index[row] >= 0:
            messages[row] = f"pred is {index[row]}, the largest probability stands at "
            messages[row] += f"{shares[row].argmax()}"
    return messages


def _has_cell(column: Column) -> Mask:
    return np.array([*(value is not None for value in column.values), False])[column.codes]


def _about(model_rows: _ModelRows, all_votes: Sequence[Votes]) -> dict[str, Any]:
    """Return the fields of the system from the columns `ABOUT`; raise if a model's rows differ."""
    about = {}
    for name in ABOUT:
        if name not in model_rows.frame:
            continue
        cells = read_each(model_rows.frame.column(name), _joined_names)
        rows = np.sort(np.unique(cells.codes, return_index=True)[1])
        values = [cells[row] for row in rows.tolist()]
        if len(values) > 1:
            raise ChaosError(
                f"The column {name} contradicts itself for {shorten(model_rows.name)}.",
                where=model_rows.frame.path,
                found=", ".join(map(shorten, values[:_SHOWN])),
                expected="one value for all rows of a model",
                todo="give each system a name of its own in a column model",
            )
        if values[0] is not None:
            about[name] = _field(model_rows.frame.path, name, values[0], all_votes)
    return about


def _joined_names(value: Any) -> str | None:
    return _stated("; ".join(map(str, value)) if isinstance(value, list) else value)


def _field(path: Path, name: str, text: str, all_votes: Sequence[Votes]) -> Any:
    """Return the value of a field of the system from the text of its column."""
    if name == "seed" and re.fullmatch(r"\d{1,18}(\.0)?", text, re.ASCII):
        return int(text.removesuffix(".0"))
    if name == "out_of_fold" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if name == "family":
        return text
    if name == "trained_on":
        datasets = [*(votes.dataset for votes in all_votes), *known_datasets()]
        names = map(str.strip, re.split("[;,+]", text))
        return tuple(_training_source(corpus, datasets) for corpus in names if corpus)
    kinds = {"seed": "a whole number, 0 or more", "out_of_fold": "true or false"}
    raise ChaosError(
        f"The column {name} cannot be read.",
        where=path,
        found=shorten(text),
        expected=kinds[name],
    )


def _training_source(name: str, datasets: Sequence[Dataset]) -> str:
    """Return a name in `trained_on` as `System` has it; votes are named by their dataset's name."""
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


def _no_item_error(model_rows: _ModelRows, all_votes: Sequence[Votes]) -> ChaosError:
    """Return the error for a model none of whose uids is in the datasets."""
    titles = ", ".join(votes.dataset.title for votes in all_votes) or "no dataset"
    synthetic = any(votes.source.synthetic for votes in all_votes)
    is_own = any(votes.source.is_own for votes in all_votes)
    stated = sorted(model_rows.datasets.values)
    n_uids = counted(len(model_rows.frame), "uid")
    return ChaosError(
        f"No uid of {shorten(model_rows.name)} occurs in {titles}"
        f"{' as the synthetic sample has it' if synthetic else ''}.",
        where=model_rows.frame.path,
        found=f"{n_uids}, such as {shorten(model_rows.uids[0])}"
        + (f", of the dataset {', '.join(map(shorten, stated))}" if stated else ""),
        expected=f"uids such as {all_votes[0].uids[0]!r}" if all_votes else None,
        todo="if these are predictions on the released items, leave out --data sample (or -p "
        "data=sample); if the items are missing, run `chaos data fetch` first"
        if synthetic
        else OF_OWN_ITEMS * (not is_own)
        + "check the dataset, and that the uids are those of its votes",
    )


def _by_dataset(
    model_rows: _ModelRows,
    all_votes: Sequence[Votes],
    answers: Mapping[str, str],
    asked: str | None,
) -> list["_DatasetRows"]:
    """Return the rows on each dataset that has items in the file."""
    names = {dataset.name for dataset in known_datasets()}
    parts = []
    for votes in all_votes:
        name = votes.dataset.name
        is_of_other = model_rows.datasets.map((names - {name}).__contains__, bool)
        rows = np.flatnonzero(~is_of_other)
        row_of = np.full(len(model_rows.uids.values) + 1, -1)
        row_of[model_rows.uids.codes[rows]] = rows
        row_of_item = row_of[model_rows.items[name]]
        items = np.flatnonzero(row_of_item >= 0)
        if len(items):
            mapping = LabelMapping(votes.dataset, answers)
            rows = row_of_item[items]
            parts.append(_DatasetRows(model_rows, votes, mapping, items, rows, asked))
    # Datasets may share uids: datasets whose classes are not the file's are left out.
    return [part for part in parts if part.fits()] or parts


def _check_meant(model_rows: _ModelRows, parts: Sequence["_DatasetRows"]) -> None:
    """Raise a ChaosError if rows may be about either of two datasets."""
    for part, second in combinations(parts, 2):
        if len(shared := np.intersect1d(part.rows, second.rows)):
            titles = f"{part.votes.dataset.title} and {second.votes.dataset.title}"
            uid = shorten(model_rows.uids[shared[0]])
            raise ChaosError(
                f"The predictions of {shorten(model_rows.name)} fit two datasets.",
                where=model_rows.frame.path,
                found=f"{counted(len(shared), 'uid')} of both {titles}, such as {uid}",
                expected="uids of one dataset, or a column dataset",
                todo="say in a column dataset which one you mean, or choose it: `--dataset` or "
                "`-p data=…`",
            )


@dataclass(frozen=True, slots=True)
class _DatasetRows:
    """The rows of a model on a dataset."""

    model_rows: _ModelRows
    votes: Votes
    mapping: LabelMapping
    items: Ints  # rows in the votes, ascending
    rows: Ints  # rows of the same items in the frame
    asked: str | None  # how a language model was asked

    @property
    def frame(self) -> PredictionFrame:
        """All rows of the model in the file."""
        return self.model_rows.frame

    @property
    def lists(self) -> str:
        """The column with a list of values in each row; empty if labels have columns."""
        return self.model_rows.kind and (
            LOGITS if self.model_rows.kind == "logits" else PROBABILITIES
        )

    def fits(self) -> bool:
        """Whether the file has this dataset's labels."""
        frame, k = self.frame, self.votes.dataset.n_classes
        if DRAWN in frame:
            first = frame.column(DRAWN)[self.rows[0]]
            return any(self._is_read(text) for text in first)
        if self.lists:
            first = frame.column(self.lists)[self.rows[0]]
            return isinstance(first, list) and len(first) == k
        if self.asked == LOGPROBS:  # several columns may spell a label
            return {*range(k)} <= set(map(self.mapping.label, frame.unnamed))
        class_names = self.mapping.columns(frame.unnamed, frame.path)
        if not any(class_names):
            return bool(_label_columns(frame, self.mapping))
        return None not in class_names

    def _is_read(self, text: str) -> bool:
        """Whether an answer is one to what was asked."""
        if self.asked == PERCENTAGES:
            return self._percentages_in(text) is not None
        return self.mapping.label(text) is not None

    def _percentages_in(self, text: str) -> list[Any] | None:
        return stated_percentages(text, self.mapping.label, self.votes.dataset.n_classes)

    @property
    def holding(self) -> str:
        """What the file has of each item, one of `_HOLDINGS`."""
        frame = self.frame
        if DRAWN in frame:
            return "answers"
        if N_DRAWN in frame and not self.lists:
            return "counts"
        if frame.are_logits or self.lists == LOGITS:
            return "logits"
        # Log-probabilities may have several columns for a label, one for each spelling.
        named = any(self.mapping.label(name) is not None for name in frame.unnamed)
        return "numbers" if self.lists or named else "labels"

    def columns_taken(self) -> set[str]:
        """Return the columns with names of their own that predictions are read from."""
        frame = self.frame
        if self.lists:  # and what only confirms these
            return {"index", "pred", "conf"}
        if DRAWN in frame:
            return set()
        if self.asked == LABEL or self.holding == "labels":
            return {_label_column(frame, self.mapping)}
        if self.asked == LOGPROBS:
            return {name for name in frame.unnamed if self.mapping.label(name) is not None}
        return {name for name in self.mapping.columns(frame.unnamed, frame.path) if name}

    def _check_asked(self) -> None:
        """Raise if the file cannot hold answers to what was asked."""
        words, ways = _HOLDINGS[self.holding]
        if self.asked is not None and self.asked not in ways:
            todo = "leave --asked out, or pass " + " or ".join(f"--asked {way}" for way in ways)
            if self.asked == SAMPLES and self.holding == "labels":
                todo += "; if these labels were drawn at random, name their column 'sample'"
            raise ChaosError(
                f"This file does not hold {MEANINGS[self.asked]}.",
                where=self.frame.path, found=words, expected=MEANINGS[self.asked], todo=todo,
            )  # fmt: skip

    def system(self, allow_missing: bool) -> System:
        """Return the predictions as a system; raise if they are not valid."""
        dataset, frame, notes = self.votes.dataset, self.frame, list(self.frame.notes)
        n_samples: tuple[int, ...] = ()
        self._check_asked()
        if self.asked == LABEL or self.holding == "labels":
            return self._label_system(allow_missing)
        if self.asked == PERCENTAGES:
            part, probabilities, more = self._stated_shares()
        elif self.holding in ("answers", "counts") or self.asked == SAMPLES:
            part, probabilities, n_samples, more = self._machine_votes()
        elif self.asked == LOGPROBS and self.holding == "numbers":
            part, (probabilities, more) = self, self._renormalised()
        else:
            part, probabilities, more = self, self._probabilities(), self._note_on_choices()
        notes += more
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
        other_values, choices = self._other_values(), self._other_choices()
        notes += not_read(other_values, "of several with a value for each label")
        notes += self._not_read([*other_values, *choices])
        if frame.lists_in:
            order = some_of([dataset.labels[k] for k in self._order()])
            notes.append(f"the values in {frame.lists_in} are read in the order {order}")
        return part._as_system(
            probabilities, predicted, notes, stated=is_stated, n_samples=n_samples
        )

    def _label_system(self, allow_missing: bool) -> System:
        """Return labels as a system that gives one label per item; raise if they are not valid."""
        frame, dataset = self.frame, self.votes.dataset
        if DRAWN in frame:
            column, (part, predicted, more) = STATED, self._single_answers()
        else:
            column = _label_column(frame, self.mapping)
            part, predicted, more = self, self._read_labels(column), []
        probabilities = np.eye(dataset.n_classes)[predicted]
        notes = [*frame.notes, *more]
        notes[:0] = part._notes_on_missing(notes, allow_missing)
        notes.append(NOTE_ON_LABELS)
        chances = [name for name in frame.unnamed if is_chance(name, frame.column(name))]
        notes += not_read(chances, "since one probability is no distribution")
        notes += self._not_read(chances)
        if self.mapping.answers:
            notes += part._check_order(probabilities)
        if column != STATED and part._are_known(predicted):
            which = "the old ones" if self.votes.has_old_labels else "the majority's"
            notes.append(f"all labels in {shorten(column)} are {which}: did the model give them?")
        return part._as_system(probabilities, predicted, notes, stated=True, one_label=True)

    def _are_known(self, predicted: Ints) -> bool:
        """Return whether all labels are the old ones or, without these, have the most votes."""
        if self.votes.has_old_labels:
            known = predicted == self.votes.old_label[self.items]
            return len(predicted) >= ENOUGH and bool(known.all())
        counts = self.votes.counts[self.items]
        most = counts.max(axis=1)
        has_most = counts[np.arange(len(predicted)), predicted] == most
        # Where all labels tie, any label has the most votes.
        return int((counts.min(axis=1) < most).sum()) >= ENOUGH and bool(has_most.all())

    def _single_answers(self) -> tuple["_DatasetRows", Ints, list[str]]:
        """Return the items whose only answer is a label, their labels, and notes."""
        counts, unread = self._weighed(DRAWN)
        n_answers = self.frame.column(DRAWN).map(_n_answers)[self.rows]
        self.model_rows.refuse(
            self.rows[n_answers > 1],
            lambda row: f"{_n_answers(self.frame.column(DRAWN)[row])} answers",
            "one answer for each item",
            "leave out --asked label, or pass --asked samples",
        )
        notes = self._unread(unread, counts.sum() + unread.total())
        is_read = counts.sum(axis=1) > 0
        return self._where(is_read), counts.argmax(axis=1)[is_read], notes

    def _stated_shares(self) -> tuple["_DatasetRows", Floats, list[str]]:
        """Return the items with stated percentages, these as shares, and a note.

        Several answers about an item count alike.
        """
        frame, k = self.frame, self.votes.dataset.n_classes
        answers: list[tuple[int, str, int, list[Any] | None]] = []  # item, text, how often, cells
        if DRAWN in frame:
            drawn = frame.cells(DRAWN)
            for i, row in enumerate(self.rows.tolist()):
                answers += [(i, text, n, self._percentages_in(text))
                            for text, n in (drawn[row] or {}).items()]  # fmt: skip
        else:
            columns = [frame.column(self.lists)] if self.lists else self._columns()
            order = self._order() if self.lists else range(k)
            for i, row in enumerate(self.rows.tolist()):
                cells = columns[0][row] if self.lists else [column[row] for column in columns]
                is_whole = isinstance(cells, list) and len(cells) == k
                by_label = [cells[order.index(label)] for label in range(k)] if is_whole else None
                text = ", ".join(map(str, cells)) if isinstance(cells, list) else str(cells)
                answers.append((i, text, 1, by_label))
        shares, is_changed = from_percentages([cells or [None] * k for *_, cells in answers])
        is_read = ~np.isnan(shares.sum(axis=1))
        items, times = (np.array([answer[part] for answer in answers]) for part in (0, 2))
        unread = Counter[str]()
        for (_, text, n, _), is_one in zip(answers, is_read, strict=True):
            unread[text] += 0 if is_one else n
        unread, total = +unread, int(times.sum())
        examples = self._refuse_unread(
            unread, total, ("answer", "states percentages", "state percentages"),
            f"a percentage for each label, from 0 to 100 (or shares from 0 to 1), which sum to "
            f"{LEAST_SUM} to {GREATEST_SUM}: {some_of(self.votes.dataset.labels)}",
            "ask again for what is unread, or leave --asked percentages out if nothing was stated",
        )  # fmt: skip
        sums = np.zeros((len(self.rows), k))
        np.add.at(sums, items[is_read], times[is_read, np.newaxis] * shares[is_read])
        of_all = counted(total, "answer" if DRAWN in frame and total > len(self.rows) else "item")
        note = f"percentages renormalised on {times[is_changed].sum():,} of {of_all}; "
        note += f"{unread.total():,} unread" + f" ({examples})" * bool(unread)
        is_covered = sums.sum(axis=1) > 0
        return self._where(is_covered), sums[is_covered], [note]

    def _log_probabilities(self) -> tuple[Floats, Floats]:
        """Return each label's log-probability, −∞ where it has none, and the highest of an item.

        The probabilities of several spellings of a label are added up.
        """
        frame, k = self.frame, self.votes.dataset.n_classes
        if self.lists:
            logs = list_table(frame.column(self.lists), k)[self.rows][:, np.argsort(self._order())]
            logs[np.isnan(logs)] = -np.inf
            return logs, logs.max(axis=1)
        spellings: list[list[str]] = [[] for _ in range(k)]
        for name in frame.unnamed:
            if (label := self.mapping.label(name)) is not None:
                spellings[label].append(name)
        if not all(spellings):
            firsts = [next(iter(names), None) for names in spellings]
            raise _misfit_error(frame, self.mapping, firsts)
        sums, highest = [], []
        for names in spellings:
            logs = np.column_stack([frame.column(name).numbers[self.rows] for name in names])
            logs[np.isnan(logs)] = -np.inf
            sums.append(np.logaddexp.reduce(logs, axis=1))
            highest.append(logs.max(axis=1))
        return np.column_stack(sums), np.max(highest, axis=0)

    def _renormalised(self) -> tuple[Floats, list[str]]:
        """Return distributions from log-probabilities of labels, and a note on the labels' mass."""
        labels = self.votes.dataset.labels
        logs, highest = self._log_probabilities()
        with np.errstate(over="ignore"):
            mass = np.exp(np.logaddexp.reduce(logs, axis=1))
        is_lacking = np.isneginf(logs.min(axis=1))
        is_fault = is_lacking | (mass > MOST_MASS)
        index_of_row = dict(zip(self.rows.tolist(), range(len(self.rows)), strict=True))

        def describe(row: int) -> str:
            i = index_of_row[row]
            if is_lacking[i]:
                return f"no log-probability for {labels[int(logs[i].argmin())]}"
            if highest[i] > MOST_LOGPROB:
                return f"{highest[i]:g} is above 0"
            return f"the labels' probabilities add up to {mass[i]:.3g}"

        self.model_rows.refuse(
            self.rows[is_fault], describe,
            "natural logarithms of probabilities: a number for each label, none above 0",
            "have the server list more tokens, or score each label; or remove these items, and "
            "pass --allow-missing; if these are probabilities, leave out --asked logprobs",
        )  # fmt: skip
        share = f"{mass.mean():.1%} of the probability, {mass.min():.1%} at least"
        return softmax(logs), [f"renormalised over the labels, which have {share}"]

    def _notes_on_missing(self, also: Sequence[str], allow_missing: bool) -> list[str]:
        """Return a note if some items have no prediction; raise if that is not allowed."""
        return notes_on_missing(
            self.model_rows.name, self.votes, self.items, where=self.frame.path, also=also,
            unknown=self.model_rows.outside([self.votes]), allowed=allow_missing,
        )  # fmt: skip

    def _as_system(
        self, probabilities: Floats, predicted: Ints, notes: Sequence[str], **about: Any
    ) -> System:
        """Return predictions on these items as a system."""
        uids = self.votes.uids
        if len(self.items) < len(uids):
            uids = tuple(uids[i] for i in self.items.tolist())
        folds = self.frame.column(FOLD).identifiers if FOLD in self.frame else None
        return System(
            self.model_rows.name, self.votes.dataset, uids, probabilities, predicted,
            folds=tuple(folds[row] or "" for row in self.rows.tolist()) if folds else (),
            notes=tuple(notes), **about,
        )  # fmt: skip

    def _read_labels(self, column: str) -> Ints:
        """Return the labels in a column; raise if a cell is not a label."""
        cells, dataset = self.frame.column(column), self.votes.dataset
        labels = cells.map(self.mapping.label)[self.rows]
        wrong = self.rows[labels == None]  # noqa: E711 - of each element
        unknown_texts = list(dict.fromkeys(text for row in wrong if (text := _stated(cells[row]))))
        todo = (
            _which_is_which(self.mapping, unknown_texts[:_SHOWN])
            if unknown_texts
            else "complete these rows"
        )
        self.model_rows.refuse(
            wrong,
            lambda row: f"{column} {shorten(cells[row])}",
            f"one of {some_of(dataset.labels)}"
            + f" or {some_of(dataset.codes)}" * (dataset.codes != dataset.labels),
            f"{todo}; or leave out rows without a label, and evaluate the rest (--allow-missing)",
        )
        return labels.astype(np.int64)

    def _machine_votes(self) -> tuple["_DatasetRows", Floats, tuple[int, ...], list[str]]:
        """Return the items with answers, label shares, fewest and most answers per item, and notes.

        Shares are from first tokens if labels have enough of their probability; else from answers.
        """
        notes: list[str] = []
        if DRAWN not in self.frame:
            counts = self._numbers_drawn()
        else:
            tokens, _ = self._weighed(WEIGHTS)
            on_labels = tokens.sum(axis=1)
            if on_labels.any() and self.asked != SAMPLES:
                notes.append(f"labels have {on_labels.mean():.1%} of the first token's probability")
                enough = tokens.any(axis=0).all() and on_labels.mean() >= _ENOUGH_OF_TOKEN
                if enough or self.asked == LOGPROBS:
                    return self._first_tokens(tokens, notes)
            if self.asked == LOGPROBS:
                raise self._no_tokens_error("none for a label")
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

    def _first_tokens(
        self, tokens: Floats, notes: list[str]
    ) -> tuple["_DatasetRows", Floats, tuple[int, ...], list[str]]:
        """Return what `_machine_votes` does, from the first token's probability of each label."""
        labels, on_labels = self.votes.dataset.labels, tokens.sum(axis=1)
        if not (found := tokens.any(axis=0)).all():
            raise self._no_tokens_error(f"none for {labels[int(found.argmin())]} on any item")
        if on_labels.mean() < _ENOUGH_OF_TOKEN:
            raise self._no_tokens_error(notes[-1])
        is_lacking = (tokens == 0).any(axis=1)
        listed = self.frame.column(WEIGHTS)
        may_be_more = ~listed.map(lambda cell: is_negligible(cell or {}), bool)[self.rows]
        is_read = (on_labels > 0) & ~(is_lacking & may_be_more)
        lacking = "with a label that is not among the first tokens given"
        if n_zero := int((is_lacking & is_read).sum()):
            notes.append(f"{counted(n_zero, 'item')} {lacking}: it counts as 0")
        if n_unread := int((~is_read).sum()):
            more = f"and may have more than {NEGLIGIBLE:.1%}"
            notes.append(f"{counted(n_unread, 'item')} unread, {lacking}, {more}")
        return self._where(is_read), tokens[is_read], (), notes

    def _no_tokens_error(self, found: str) -> ChaosError:
        return ChaosError(
            "The log-probabilities of the labels' tokens cannot be read.",
            where=self.frame.path,
            found=found,
            expected=f"log-probabilities of the first token, at least {_ENOUGH_OF_TOKEN:.0%} on "
            f"labels: {some_of(self.votes.dataset.labels)}",
            todo=f"say which token is which label, such as {SAY_SO}; or ask for the letter alone, "
            "without reasoning",
        )

    def _where(self, mask: Mask) -> "_DatasetRows":
        """Return the rows of the items in a mask."""
        return replace(self, items=self.items[mask], rows=self.rows[mask])

    def _weighed(self, column: str) -> tuple[Floats, Counter[str]]:
        """Return the weight of each label in a column of answers, (n, k), and of other answers."""
        counts = np.zeros((len(self.rows), self.votes.dataset.n_classes))
        unread: Counter[str] = Counter()
        cells = self.frame.cells(column)
        for i, row in enumerate(self.rows.tolist()):
            for text, weight in (cells[row] or {}).items():
                label = self.mapping.label(text)
                if label is None:
                    unread[text] += weight
                else:
                    counts[i, label] += weight
        return counts, unread

    def _unread(self, unread: Counter[str], total: float) -> list[str]:
        """Return a note on answers that are not labels; raise if they are too many."""
        if not unread:
            return []
        todo = f"say which answer is which label, such as {SAY_SO}"
        if self.mapping.answers:
            todo = "name the label of each answer in --answers too"
        examples = self._refuse_unread(
            unread, total, ("sample", "is a label", "are labels"),
            f"samples that are a label: {some_of(self.votes.dataset.labels)}; up to "
            f"{_MOST_UNREAD:.0%} of others are counted and left out",
            f"{todo}; or turn answers into labels; of stated percentages, pass --asked percentages",
        )  # fmt: skip
        share = f"{unread.total():,} of {total:,.0f} answers"
        return [f"{share} are none of the labels and left out ({examples})"]

    def _refuse_unread(
        self,
        unread: Counter[str],
        total: float,
        words: tuple[str, str, str],
        expected: str,
        todo: str,
    ) -> str:
        """Return the commonest of unread answers; raise if too many of all answers are unread.

        `words` are what an answer is called, what one that is read does, and what several do.
        """
        noun, does, do = words
        common = [f"{noun} {shorten(text)} ({n:,})" for text, n in unread.most_common(3)]
        if unread.total() > _MOST_UNREAD * total:
            n_read = total - unread.total()
            few = f"only {n_read:,.0f} {do}" if n_read else f"none {does}"
            raise ChaosError(
                f"Of the {total:,.0f} answers of {shorten(self.model_rows.name)}, {few}.",
                where=self.frame.path, found="\n".join(common), expected=expected, todo=todo,
            )  # fmt: skip
        return ", ".join(common)

    def _numbers_drawn(self) -> Floats:
        """Return how often each label was drawn, (n, k), from a file that has these numbers."""
        columns, stated = self._columns(), self.frame.column(N_DRAWN)
        counts = np.column_stack([_counts(column)[self.rows] for column in columns])
        total = np.nansum(counts, axis=1)
        wrong = np.isnan(counts)
        is_fault = wrong.any(axis=1) | (total == 0)
        if N_DRAWN in self.frame:
            is_fault |= total != _counts(stated)[self.rows]
        index_of_row = dict(
            zip(self.rows[is_fault].tolist(), np.flatnonzero(is_fault), strict=True)
        )

        def describe(row: int) -> str:
            i = index_of_row[row]
            if wrong[i].any():
                k = int(wrong[i].argmax())
                name = class_columns(self.votes.dataset)[k]
                return f"{name} is {shorten(columns[k][row])}, no number of samples"
            if N_DRAWN in self.frame and total[i] != as_count(stated[row]):
                return f"n_samples is {shorten(stated[row])}, the columns add up to {total[i]:.0f}"
            return "no sample"

        self.model_rows.refuse(
            self.rows[is_fault], describe, "how often each label was drawn", "correct these numbers"
        )
        return counts

    def _columns(self) -> list[Column]:
        """Return the column of each label; raise if a label has none, or there are others."""
        frame, dataset = self.frame, self.votes.dataset
        names = self.mapping.columns(frame.unnamed, frame.path)
        if None in names:
            raise _misfit_error(frame, self.mapping, names)
        more = [name for name in frame.unnamed
                if name and name not in names and _gives_shares(frame.column(name))]  # fmt: skip
        if more and N_DRAWN not in frame:
            raise ChaosError(
                f"There are too many columns for {dataset.title}.",
                where=frame.path,
                found=f"probabilities of {', '.join(map(shorten, more))}",
                expected=f"columns uid, {some_of(class_columns(dataset))}",
                todo="remove or rename columns that are not labels, or check the dataset",
            )
        return [frame.column(name) for name in names if name]

    def _probabilities(self) -> Floats:
        """Return the probabilities in the dataset's order of labels, shape (n, k)."""
        frame, dataset, k = self.frame, self.votes.dataset, self.votes.dataset.n_classes
        columns = [frame.column(self.lists)] if self.lists else self._columns()
        if self.lists:
            values = list_table(columns[0], k)[self.rows]
        else:
            values = np.column_stack([column.numbers[self.rows] for column in columns])

        def cells(row: int) -> Any:
            return columns[0][row] if self.lists else [column[row] for column in columns]

        wrong = self.rows[np.isnan(values).any(axis=1)]
        lacks_labels = any(isinstance(cells(row), list) and None in cells(row) for row in wrong)
        self.model_rows.refuse(
            wrong,
            lambda row: _no_numbers(cells(row), k, self._shown(row)),
            f"{k} finite numbers for each item of {dataset.title}: {some_of(dataset.labels)}",
            "correct these predictions"
            + "; a pipeline gives all labels with top_k=None" * lacks_labels,
        )
        if self.lists:
            values = values[:, np.argsort(self._order())]
        if frame.are_logits or self.lists == LOGITS:
            return softmax(values)
        in_file = np.argsort(self.rows)  # not the order of the dataset's items
        rows = self.rows[in_file].tolist()
        check_shares(
            self.model_rows.name, lambda i: frame.place(rows[i]), values[in_file], frame.path,
            lambda i: self._shown(rows[i]),
        )  # fmt: skip
        return values

    def _shown(self, row: int) -> str:
        """Return a row's values as a message shows them: with its uid, in the order of the file."""
        frame, uid = self.frame, shorten(self.model_rows.uids[row])
        if self.lists:
            values = shorten(frame.column(self.lists)[row], _WIDE)
        else:
            labels = self.mapping.columns(frame.unnamed, frame.path)
            names = [name for name in frame.unnamed if name in labels]
            values = _cut(", ".join(f"{name} {_cell(frame.column(name)[row])}" for name in names))
        return values if uid in frame.place(row) else f"uid {uid}: {values}"

    def _other_choices(self) -> list[str]:
        """Return the names of choices that are not labels."""
        frame = self.frame
        if self.lists or not frame.are_logits:
            return []
        labels = self.mapping.columns(frame.unnamed, frame.path)
        others = [name for name in frame.unnamed if name not in labels]
        # Columns that are not numbers everywhere are about the item.
        return [name for name in others if np.isfinite(frame.column(name).numbers[self.rows]).all()]

    def _note_on_choices(self) -> list[str]:
        """Return a note on choices that are not labels, with the probability that labels have."""
        frame, others = self.frame, self._other_choices()
        if not others:
            return []
        labels = [name for name in self.mapping.columns(frame.unnamed, frame.path) if name]
        logs = [frame.column(name).numbers[self.rows] for name in [*labels, *others]]
        share = softmax(np.column_stack(logs))[:, : len(labels)].sum(axis=1).mean()
        left_out = ", ".join(map(shorten, others[:_SHOWN]))
        return [f"labels have {share:.1%} of the choices' probability; left out: {left_out}"]

    def _not_read(self, named: Sequence[str]) -> tuple[str, ...]:
        """Return a note on the columns that are not read, but for those that another note named.

        Columns that are empty here may be about the items of another dataset. Columns of labels
        are counted: they may be called after the people who gave them.
        """
        known = {*named, *self.columns_taken(), ""}
        if self.model_rows.kind == _RELEASED:
            known.add("true")  # a part of this format
        names = [name for name in self.frame.unnamed
                 if name not in known and self._has_cells(name)]  # fmt: skip
        others = [name for name in names
                  if not _are_labels(self.frame.column(name), self.mapping)]  # fmt: skip
        n_of_labels = len(names) - len(others)
        of_labels = [f"{counted(n_of_labels, 'column')} of labels"] * bool(n_of_labels)
        return not_read([*of_labels, *others])

    def _has_cells(self, name: str) -> bool:
        is_filled = self.frame.column(name).map(lambda cell: _stated(cell) is not None, bool)
        return bool(is_filled[self.rows].any())

    def _other_values(self) -> list[str]:
        """Return the names of further columns with values for all labels, which are not read."""
        frame, k = self.frame, self.votes.dataset.n_classes
        labels = {name: self.mapping.label(name) for name in frame.unnamed if self.lists}
        labels_found = {label for label in labels.values() if label is not None}
        return [
            name for name in frame.unnamed
            if holds_values(frame.column(name), k)
            or (len(labels_found) == k and labels.get(name) is not None)
        ]  # fmt: skip

    def _order(self) -> list[int]:
        """Return the label at each position of a list of values."""
        codes = self.votes.dataset.codes
        if self.model_rows.kind == _RELEASED and sorted(codes) == sorted(_RELEASED_CODES):
            return [codes.index(code) for code in _RELEASED_CODES]
        return list(range(len(codes)))

    def _labels(self, probabilities: Floats) -> tuple[Ints, bool]:
        """Return labels, and whether they are stated; if not, they are the first likeliest."""
        stated = self.frame.column(STATED)
        if not stated.map(lambda cell: _stated(cell) is not None, bool)[self.rows].any():
            return probabilities.argmax(axis=1), False
        return self._read_labels(STATED), True

    def _check_stated(self, off: Ints) -> None:
        """Raise if stated labels contradict columns of probabilities; `off` are the indices where.

        With lists, as in ChaosNLI's JSON, stated labels may differ: a note says so.
        """
        stated = self.frame.column(STATED)
        self.model_rows.refuse(
            self.rows[off[:0] if self.lists else off],
            lambda row: f"predicted_label {shorten(stated[row])}, but another label is more "
            "probable",
            "the label with the largest probability",
            "correct the labels, or remove the column predicted_label",
        )  # fmt: skip

    def _check_order(self, probabilities: Floats) -> list[str]:
        """Raise if the labels seem to be in another order; return a note if they may be."""
        frame, order = self.frame, self._order()
        if DRAWN in frame and not self.mapping.answers:
            return []  # answers in words
        what, todo = "the header", "correct the header"
        if frame.are_named:
            what, todo = "the file", "correct the model's id2label, or the names in the file"
        if self.lists:
            what, todo = "this format", "reorder the values"
        elif self.mapping.answers:
            what, todo = "--answers", "correct --answers"
        if order != sorted(order):
            todo += ", or leave index and pred out: the order is then "
            todo += some_of(self.votes.dataset.labels)
        states = frame.column(STATED).codes >= 0
        return check_order(
            self.votes, self.items, probabilities, order=order, what=what, todo=todo,
            is_told=not self.lists or order != sorted(order) or bool(states.any()),
            where=frame.path,
            problem=f"The classes of {shorten(self.model_rows.name)} seem to be in another order.",
        )  # fmt: skip


def _gives_shares(column: Column) -> bool:
    return bool(((column.numbers >= 0) & (column.numbers <= 1)).all())


def _n_answers(answers: Counter[str] | None) -> int:
    return answers.total() if answers else 0


def _counts(column: Column) -> Floats:
    """Return a column's numbers of samples, NaN for a cell that is not one."""
    counts = [np.nan if (n := as_count(value)) is None else n for value in column.values]
    return np.array([*counts, np.nan], dtype=np.float64)[column.codes]


def _no_numbers(cells: Any, k: int, shown: str) -> str:
    """Return a message on cells, `shown` as text, that should be k finite numbers."""
    if isinstance(cells, str) and "..." in cells:
        return f"{shown}, which leaves numbers out"
    if not isinstance(cells, list) or len(cells) != k:
        return f"{len(cells)} values" if isinstance(cells, list) else shown
    are_infinite = {int, float}.issuperset(map(type, cells))
    return f"{shown}{' is not finite' * are_infinite}"


def _cell(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else shorten(value)


def _cut(text: str) -> str:
    return text if len(text) <= _WIDE else f"{text[: _WIDE - 1]}…"


def as_labels(model: str, votes: Votes, labels: Sequence[Any]) -> Ints:
    """Return the labels of all items as indices from 0; raise if one is not a label."""
    mapping = LabelMapping(votes.dataset)
    indices = [mapping.label(label) for label in labels]
    wrong = np.array([row for row, index in enumerate(indices) if index is None], dtype=np.int64)
    expected = f"labels: {some_of(votes.dataset.labels)}"
    todo = "give labels as the dataset calls them, or an array with a column for each label"
    _refuse(
        model, wrong, lambda row: f"row {row}, {votes.uids[row]}",
        lambda row: shorten(labels[row]), expected, todo,
    )  # fmt: skip
    return np.array(indices, dtype=np.int64)


def check_shares(
    model: str,
    place: Callable[[int], str],
    values: Floats,
    where: Path | None = None,
    shown: Callable[[int], str] | None = None,
) -> None:
    """Raise if rows are not probabilities, and say what they may be instead.

    `place` says where a row stands, and `shown` how a message shows it.
    """
    with np.errstate(over="ignore"):
        sums = values.sum(axis=1)
    are_positive, are_whole = bool((values >= 0).all()), bool((values == values.round()).all())
    todo = "apply a softmax if these are logits"
    if where:
        todo += "; of log-probabilities, pass --asked logprobs"
    # Most rows decide: a few may be what is wrong.
    if are_positive and np.median(np.abs(sums - 100)) <= GREATEST_SUM - 100:
        off = np.flatnonzero(np.abs(sums - 100) > 100 * _TOLERANCE)
        change = "divide by 100"
        if len(off):
            change = f"divide each row by its sum ({counted(len(off), 'row')} not by 100, such as "
            change += f"{place(int(off[0]))} by {sums[off[0]]:.6g})"
        todo = f"{change}: these are percentages"
        if where:
            todo = f"if these are percentages, {change}, or pass --asked percentages, which does "
            todo += "so; if they count a model's answers, pass --asked samples"
    elif are_positive and are_whole and not (sums == 1).all():
        todo = "add a column n_samples, their sum, if these count a model's answers; "
        todo += f"`{_CHECK}` reads people's votes"
    elif are_positive and np.median(np.abs(sums - 1)) <= (GREATEST_SUM - 100) / 100:
        todo = "if these are rounded, divide each row by its sum"
        if where:
            todo += "; if a language model stated them, pass --asked percentages, which does so"

    def describe(row: int) -> str:
        is_negative = (values[row] < 0).any()
        fault = "a value is negative" if is_negative else f"the sum is {sums[row]:.6g}"
        return f"{shown(row) if shown else shorten(values[row].tolist(), _WIDE)}: {fault}"

    wrong = ~((values >= 0).all(axis=1) & (np.abs(sums - 1) <= _TOLERANCE))
    expected = "probabilities: none negative, their sum 1 (within 0.001)"
    _refuse(model, np.flatnonzero(wrong), place, describe, expected, todo, where)


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

    The error names uids of the file that are `unknown`, and has the notes in `also`.
    """
    n_missing = len(votes) - len(items)
    if not n_missing:
        return []
    fact = f"{n_missing} of {len(votes)} items of {votes.dataset.title} "
    fact += f"{'has' if n_missing == 1 else 'have'} no prediction"
    if not allowed:
        missing = [votes.uids[i] for i in np.setdiff1d(np.arange(len(votes)), items)]
        facts, todo = [f"missing: {_listed(missing)}"], "add what is missing"
        if unknown:
            facts.append(f"no item of the dataset: {_listed(unknown)}")
            close = get_close_matches(unknown[0], missing[:_COMPARED], n=1, cutoff=0)
            todo = f"correct the uids of the file (is {shorten(unknown[0])} {shorten(close[0])}?)"
            todo += ", add what is missing"
        raise ChaosError(
            f"{fact} by {shorten(model)}.",
            where=where,
            found="\n".join([*facts, *also]),
            expected="a prediction for each item",
            todo=f"{todo}, or pass --allow-missing to evaluate the rest",
        )
    return [f"{fact}; evaluated on the other {len(items)}"]


def join(parts: Sequence[System], model: str) -> System:
    """Return one system from parts in several files.

    It has the training data of all parts, and their seed and origin if these agree.
    Notes of the parts are dropped.
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

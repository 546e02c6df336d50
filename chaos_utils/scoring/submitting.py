"""Submitting a result: what is refused and why, what is written, and the row as it will stand."""

import hashlib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.files import write_bytes, write_text
from chaos_utils.datasets.auxiliary_data import JUDGES, judges_file
from chaos_utils.datasets.catalogue import bundled_datasets
from chaos_utils.datasets.faults import Faults, shorten
from chaos_utils.datasets.frame import FileContent, Frame, read_frame
from chaos_utils.datasets.loading import missing_predictions
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.splits import item_groups
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.scoring import worth as worths
from chaos_utils.scoring.copies import (
    are_alike,
    copied_votes,
    gives_labels,
    likeness,
    people_added,
    softens_labels,
)
from chaos_utils.scoring.evaluate import NOT_AVAILABLE, evaluate_systems
from chaos_utils.scoring.formats import FOLD, N_DRAWN, STATED, class_columns
from chaos_utils.scoring.places import COVERAGE
from chaos_utils.scoring.predictions import NOTE_ON_LABELS, read_predictions
from chaos_utils.scoring.references import PERFECT_MODEL, SECOND_CROWD
from chaos_utils.scoring.scores import EvaluationRequest
from chaos_utils.scoring.submitted import (
    PREDICTIONS_FILE,
    RECORD_FILE,
    Submission,
    SystemRecord,
    as_yaml,
    comments_in,
    standing,
    submissions,
)
from chaos_utils.scoring.system import System, are_votes
from chaos_utils.scoring.systems import BASELINES, baselines, load_systems
from chaos_utils.scoring.titles import look_alike
from chaos_utils.scoring.training_records import committed_runs

if TYPE_CHECKING:
    import pandas as pd

MOST_BYTES = 1_000_000
MOST_BYTES_OF_RECORD = 50_000  # a prompt of 10,000 characters in any script
MOST_PEOPLE = 8  # a larger worth, recalibrated, needs code or weights to be seen first
_MOST_VARIANTS = 3  # of a model
_NEARLY_ALIKE = 0.93  # likeness to a known system that a reviewer should look at
# People added to what all known systems know together, from which on a reviewer should look: see
# `copies.people_added`, which says what honest models add, and mixtures with the votes.
_MUCH_ADDED = 1.0
_FETCH_JUDGES = "chaos data fetch judges32"
_FOLD = re.compile(r"[\w.-]{1,20}")
_FRAME_OF_PARQUET = 12  # bytes: its mark at both ends, and the length of what describes it
# As libraries name themselves and their versions in a parquet file, where any text may stand.
_WRITER = re.compile(r"parquet-[a-z-]+ version [\w.+-]{1,20}( \(build [\w.+-]{1,60}\))?")
# What the scoreboard calls its own rows.
_POOLED = "language models, pooled"
OWN_ROWS = re.compile(rf"\d+ people|one person|.*, stacked|{_POOLED}|all systems.*", re.IGNORECASE)
NO_DISTRIBUTION = "–"  # what needs one, where a system gives one label per item
_N_NEIGHBOURS = 2
_TVD, _JSD, _ACCURACY = "dist_ce", "jsd", "new_accuracy"
_COLUMNS = f"dataset, uid, a column for each label or {STATED}, {N_DRAWN}, {FOLD}"
_MEASURES = (worths.PEOPLE_RECALIBRATED, worths.PEOPLE_SHRUNK, worths.PEOPLE, _TVD, _JSD, _ACCURACY)


@dataclass(frozen=True, slots=True)
class ItemSet:
    """A named set of items of a dataset; results on different sets do not compare."""

    name: str
    uids: frozenset[str]

    @property
    def digest(self) -> str:
        """A digest of the sorted uids, by which a set is recognised."""
        return hashlib.sha256("\n".join(sorted(self.uids)).encode()).hexdigest()[:12]


def item_sets(votes: Votes) -> list[ItemSet]:
    """Return the named sets of items of a dataset, the largest first.

    Parameters
    ----------
    votes : Votes
        On all items of the dataset.

    Returns
    -------
    list of ItemSet
        All items; and, for released votes, those that 32 language models labelled, where that file
        is available.
    """
    sets = [ItemSet(f"all items of {votes.dataset.title}", frozenset(votes.uids))]
    if votes.is_released and judges_file(votes.dataset) and JUDGES.available:
        labelled = frozenset(JUDGES.read(votes.dataset.name)["uid"])
        if len(labelled) < len(votes):
            sets.append(ItemSet(f"judges' items of {votes.dataset.title}", labelled))
    return sets


def _lacks_judges(votes: Votes) -> bool:
    """Return whether language models labelled a dataset's items, and are not available."""
    return bool(votes.is_released and judges_file(votes.dataset)) and not JUDGES.available


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A submission on one dataset, as the scoreboard will show it, with what a reviewer looks at.

    Values are texts with their 95% intervals over items, or `NO_DISTRIBUTION`; `neighbours` are
    the known systems most like it, and `flags` what is no reason to refuse it.
    """

    title: str
    dataset: str
    items: str
    recalibrated: str
    as_it_is: str
    misplaced: str
    jsd: str
    accuracy: str
    neighbours: tuple[str, ...]
    flags: tuple[str, ...]


def write_submission(folder: Path, systems: Sequence[System], record: SystemRecord) -> None:
    """Write a submission's two files into an empty folder: no texts, no votes, no people's names.

    All systems must be of one model, on datasets with the same labels.
    """
    import pandas as pd

    if len({system.dataset.labels for system in systems}) != 1:
        raise ChaosError(
            "The datasets of a submission have different labels.",
            found=", ".join(system.dataset.title for system in systems),
            todo="submit each by itself, with its own title: --dataset",
        )
    tables = []
    for system in systems:
        table = pd.DataFrame({"dataset": system.dataset.name, "uid": system.uids})
        names = class_columns(system.dataset)
        if system.one_label:
            table[STATED] = [system.dataset.labels[k] for k in system.predicted]
        elif system.n_samples:
            counts = _counts(system)
            table[names] = counts
            table[N_DRAWN] = counts.sum(axis=1)
        else:
            table[names] = system.probabilities
        if system.folds:
            table[FOLD] = system.folds
        tables.append(table)
    write_bytes(folder / PREDICTIONS_FILE, as_parquet(pd.concat(tables, ignore_index=True)))
    write_text(folder / RECORD_FILE, as_yaml(record))


def as_parquet(table: "pd.DataFrame") -> bytes:
    """Return a table as a parquet file without any metadata, in which texts could stand."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    columns = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
    stream = io.BytesIO()
    pq.write_table(columns, stream, store_schema=False)
    return stream.getvalue()


def _counts(system: System) -> Ints:
    """Return how often each label was drawn: the smallest numbers with these smoothed shares."""
    k = system.dataset.n_classes
    counts = np.zeros(system.probabilities.shape, dtype=np.int64)
    is_open = np.ones(len(system), dtype=bool)
    for n in range(system.n_samples[0], system.n_samples[1] + 1):
        drawn = system.probabilities * (n + k / 2) - 0.5
        fits = is_open & (np.abs(drawn - drawn.round()) < 1e-6).all(axis=1)
        counts[fits] = drawn.round()[fits]
        is_open &= ~fits
    return counts


@lru_cache(maxsize=4)  # for each submission on the same votes
def _published_systems(votes: Votes) -> tuple[System, ...]:
    """Return released systems, language models, and all runs, those on parts of the data too."""
    runs = committed_runs() if votes.is_released else []
    ours = (run.predictions_on(votes) for run in runs)
    return (
        *load_systems(votes, trained=False),
        *_language_models(votes),
        *(system for system in ours if system is not None),
    )


def _language_models(votes: Votes) -> Iterator[System]:
    """Yield the language models whose labels stand beside released votes, where available."""
    if not (votes.is_released and judges_file(votes.dataset) and JUDGES.available):
        return
    code_of_label = {label: k for k, label in enumerate(votes.dataset.labels)}
    for model, rows in JUDGES.read(votes.dataset.name).groupby("model"):
        codes = rows["label"].map(code_of_label).to_numpy(dtype=np.int64)
        one_hot = np.eye(votes.dataset.n_classes)[codes]
        uids = tuple(rows["uid"])
        yield System(str(model), votes.dataset, uids, one_hot, codes, stated=True, one_label=True)


def _means_of_labels(votes: Votes, system: System) -> list[System]:
    """Return what language models say together, as the scoreboard has it.

    A model of labels may well agree with most others, so that it is not compared with them.
    """
    models = list(_language_models(votes))
    if gives_labels(system) or len({model.uids for model in models}) != 1:
        return []
    shares = np.mean([model.probabilities for model in models], axis=0)
    return [System(_POOLED, votes.dataset, models[0].uids, shares, shares.argmax(axis=1))]


def find_derived(submission: Submission, all_votes: Sequence[Votes]) -> str:
    """Return the known system whose likeliest labels a submission of labels is; empty for none."""
    for votes in all_votes:
        system = submission.system_on(votes)
        if system is not None and gives_labels(system):
            for known in _published_systems(votes):
                if not gives_labels(known) and are_alike(system, known):
                    return known.name
    return ""


def check_submission(
    submission: Submission, all_votes: Sequence[Votes], *, n_resamples: int = 2000
) -> list[BoardRow]:
    """Check a submission as a reviewer does, and return its rows.

    Parameters
    ----------
    submission : Submission
        Its folder need not be one of those below ``results/submitted``.
    all_votes : sequence of Votes
        On the datasets that it may cover.
    n_resamples : int
        Resamples of items for intervals; 0 for none.

    Returns
    -------
    list of BoardRow
        One for each dataset that it predicts.

    Raises
    ------
    ChaosError
        If the folder has other files, or columns other than those of predictions; the predictions
        are too large, incomplete, fitted on the votes that judge them, copied from these or from a
        known system; or two submissions have one title.
    """
    n_rows = check_files(submission)
    check_record(submission)
    read = read_predictions(submission.predictions, all_votes, allow_missing=True)
    if n_strange := n_rows - sum(map(len, read)):
        _refuse(
            submission, "A uid is that of no item.", counted(n_strange, "row"),
            "uids of the items of these datasets: "
            + ", ".join(votes.dataset.title for votes in all_votes), "leave the others out",
        )  # fmt: skip
    rows = []
    for system in map(submission.described, read):
        votes = next(votes for votes in all_votes if votes.dataset == system.dataset)
        _check_how(submission, system)
        item_set = covered_set(submission, votes, system)
        _check_folds(submission, votes, system)
        _check_copies(submission, votes, system)
        known = _known_systems(submission, votes)
        _check_duplicates(submission, system, [*known, *_means_of_labels(votes, system)])
        rows.append(_row(submission, votes, system, item_set, known, n_resamples))
    return rows


def _refuse(submission: Submission, problem: str, found: object, expected: str, todo: str) -> None:
    raise ChaosError(
        problem, where=submission.place(PREDICTIONS_FILE), found=found, expected=expected,
        todo=todo,
    )  # fmt: skip


def check_files(submission: Submission) -> int:
    """Check that a folder holds the two files alone, small, without anything but predictions.

    Parameters
    ----------
    submission : Submission
        Withdrawn ones too: their files stay.

    Returns
    -------
    int
        The number of rows of predictions.

    Raises
    ------
    ChaosError
        If there is more, or something else.
    """
    folder = submission.folder
    names = {path.name for path in folder.iterdir()}
    is_linked = any(path.is_symlink() for path in (folder, *folder.iterdir()))
    if names != {PREDICTIONS_FILE, RECORD_FILE} or is_linked:
        raise ChaosError(
            "A submission has exactly two files.", where=submission.folder,
            found=", ".join(sorted(names)) + ", by a link" * is_linked,
            expected=f"{PREDICTIONS_FILE} and {RECORD_FILE}",
            todo="remove the others; `chaos submit` makes both",
        )  # fmt: skip
    n_bytes = sum(path.stat().st_size for path in submission.folder.iterdir())
    if n_bytes > MOST_BYTES:
        _refuse(
            submission, "The files are too large.", f"{n_bytes:,} bytes",
            f"at most {MOST_BYTES:,}", "submit one model, made by `chaos submit`",
        )  # fmt: skip
    text = (folder / RECORD_FILE).read_text("utf-8")
    if comments := comments_in(text):
        raise ChaosError(
            "The record holds comments.", where=submission.place(RECORD_FILE),
            found=shorten(comments[0]), expected="only fields, which are shown and checked",
            todo="say it in a field, such as reason, or in the pull request",
        )  # fmt: skip
    if len(text.encode()) > MOST_BYTES_OF_RECORD:
        raise ChaosError(
            "The record is too long.", where=submission.place(RECORD_FILE),
            found=f"{len(text.encode()):,} bytes", expected=f"at most {MOST_BYTES_OF_RECORD:,}",
            todo="shorten it, and put longer text where its link leads",
        )  # fmt: skip
    content = FileContent.of(submission.predictions)
    faults = Faults(
        submission.predictions, "a submission's predictions",
        expected=f"columns {_COLUMNS}", todo="make it by `chaos submit`",
    )  # fmt: skip
    frame = read_frame(content, faults)
    faults.check()
    if not content.is_parquet:
        _refuse(submission, "This is not parquet.", "text", "parquet", "make it by `chaos submit`")
    if texts := _texts_beside(content.data):
        _refuse(
            submission, "Beside its columns, the file holds text.", ", ".join(map(shorten, texts)),
            "columns alone, without metadata", "make it by `chaos submit`, which writes none",
        )  # fmt: skip
    _check_columns(submission, frame)
    return len(frame)


def _check_columns(submission: Submission, frame: Frame) -> None:
    """Raise unless all columns are parts of predictions, and hold no texts."""
    datasets = {dataset.name: dataset for dataset in bundled_datasets()}
    for column, expected, is_meant in (
        ("dataset", "names of datasets", lambda value: str(value) in datasets),
        (FOLD, "at most 20 letters, digits, dots and hyphens", _is_fold),
    ):
        cells = frame.column(column)
        if wrong := [value for value in cells.values if not is_meant(value)]:
            _refuse(
                submission, f"The column {column} holds something else.", shorten(wrong[0]),
                expected, "correct it; texts stay out",
            )  # fmt: skip
    named = (datasets[name] for name in frame.column("dataset").values)
    labels = {name for dataset in named for name in class_columns(dataset)}
    known = {"dataset", "uid", STATED, N_DRAWN, FOLD} | labels
    if others := [name for name in frame.names if name not in known]:
        _refuse(
            submission, "A column is no part of predictions: texts, votes and labels of people "
            "stay out.", ", ".join(map(shorten, others)),
            _COLUMNS, "remove it; `chaos submit` writes no others",
        )  # fmt: skip


def _is_fold(value: object) -> bool:
    return bool(_FOLD.fullmatch(str(value)))


def _texts_beside(content: bytes) -> list[str]:
    """Return what a parquet file holds beside columns.

    Keys of metadata, bytes of no column, and values of a dictionary that no row has.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(content))
    about, schema = file.metadata, file.schema_arrow
    groups = map(about.row_group, range(about.num_row_groups))
    chunks = [group.column(k) for group in groups for k in range(group.num_columns)]
    keys = {*(about.metadata or ()), *(schema.metadata or ())}
    keys |= {key for field in schema for key in field.metadata or ()} - {b"PARQUET:field_id"}
    keys |= {key for chunk in chunks for key in getattr(chunk, "metadata", None) or ()}
    found = sorted(key.decode(errors="replace") for key in keys)
    if not _WRITER.fullmatch(about.created_by or ""):
        found.append(about.created_by or "no writer")
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    table = pq.read_table(pa.BufferReader(content), columns=texts, read_dictionary=texts)
    for name, column in zip(table.column_names, table.columns, strict=True):
        for chunk in column.chunks:
            if pa.types.is_dictionary(chunk.type):
                unused = {*range(len(chunk.dictionary))} - {*chunk.indices.to_pylist()}
                found += [f"{name}: {chunk.dictionary[k]}, of no row" for k in sorted(unused)[:1]]
    columns = sum(chunk.total_compressed_size for chunk in chunks)
    if n_more := len(content) - columns - about.serialized_size - _FRAME_OF_PARQUET:
        found.append(f"{n_more:,} bytes of no column")
    return found


def check_record(submission: Submission) -> None:
    """Raise if a title is taken, or what a submission replaces is not there or is by others.

    No predictions are read, so that this is found before all that takes long.
    """
    record = submission.record
    others = [one for one in submissions()[0] if one.name != submission.name]
    for other in others:
        is_version = submission.name == other.replaced or submission.replaced == other.name
        if look_alike(other.record.title, record.title) and not is_version:
            raise ChaosError(
                "Two submissions have the same title.", where=submission.place(RECORD_FILE),
                found=f"{shorten(record.title)}, as {other.name} has it",
                todo=f"choose another title, or say that it replaces {other.name}",
            )  # fmt: skip
    if record.replaces:
        _check_replaced(submission, {one.name: one for one in others})
    names = [PERFECT_MODEL, SECOND_CROWD, *BASELINES, *_names_of_models()]
    taken = next((name for name in names if look_alike(name, record.title)), "")
    if taken or OWN_ROWS.fullmatch(record.title):
        raise ChaosError(
            "A known system has this title.", where=submission.place(RECORD_FILE),
            found=shorten(record.title) + f", as {taken} has it" * bool(taken),
            todo="choose another title",
        )  # fmt: skip


def _check_replaced(submission: Submission, others: Mapping[str, Submission]) -> None:
    where, replaced = submission.place(RECORD_FILE), others.get(submission.replaced)
    if replaced is None:
        raise ChaosError(
            "The submission that this one replaces does not exist.",
            where=where, found=submission.replaced,
            expected=", ".join(others) or "none: there are no others",
        )  # fmt: skip
    authors = replaced.record.authors
    if not {*authors} & {*submission.record.authors}:
        raise ChaosError(
            "A submission is replaced by its authors alone.",
            where=where, found=f"{', '.join(submission.record.authors)}, of {replaced.name}",
            expected=f"one of {', '.join(authors)}",
            todo="ask them for a correction, or open an issue that says what is wrong; a result of "
            "your own needs no replaces, but another title",
        )  # fmt: skip
    again = [one.name for one in others.values() if one.replaced == replaced.name]
    if again:
        raise ChaosError(
            "This submission was replaced before.", where=where, found=replaced.name,
            expected=f"the latest, {again[0]}", todo=f"replace that: replaces.name={again[0]}",
        )  # fmt: skip


def _names_of_models() -> Iterator[str]:
    """Yield the names of known systems but baselines, without reading predictions."""
    for dataset in bundled_datasets():
        for released in dataset.systems:
            for name in released.models or (released.family,):
                yield from (
                    name if seed is None else f"{name}, seed {seed}" for seed in released.parts
                )
    yield from (run.system for run in committed_runs())
    yield from read_published("judges32_models")["model"]


def covered_set(submission: Submission, votes: Votes, system: System) -> ItemSet:
    """Return the largest named set that a system covers; raise a ChaosError if there is none."""
    covered = frozenset(system.uids)
    sets = item_sets(votes)
    for item_set in sets:
        if len(covered & item_set.uids) >= COVERAGE * len(item_set.uids):
            return item_set
    parts = [f"{len(covered & one.uids):,} of {len(one.uids):,}: {one.name}" for one in sets]
    more = f"; the items of language models are known after `{_FETCH_JUDGES}`"
    raise ChaosError(
        "The predictions cover no named set of items.",
        where=submission.place(PREDICTIONS_FILE),
        found="\n".join(parts),
        expected=f"at least {COVERAGE:.0%} of a set",
        todo="predict the missing items, or leave this dataset out: --dataset"
        + more * _lacks_judges(votes),
    )


def _check_how(submission: Submission, system: System) -> None:
    """Raise if the predictions are not what the record says was asked."""
    how = submission.record.asked.how
    is_label = gives_labels(system)
    allowed = {"label": is_label, "samples": bool(system.n_samples)}
    if not allowed.get(how, how == "encoder" or not is_label):
        kind = "one label per item" if is_label else "probabilities"
        found = f"{how}, and {'numbers of samples' if system.n_samples else kind}"
        _refuse(
            submission, "The predictions are not what the record says.", found,
            "labels for asked.how: label, numbers of samples for samples, else probabilities",
            "correct asked.how, or the predictions",
        )  # fmt: skip


def _check_folds(submission: Submission, votes: Votes, system: System) -> None:
    """Raise if a system was fitted on the votes that judge it, and not out of fold by text."""
    record = submission.record
    learned = [name for name in record.trained_on if _names_votes(name)]
    if record.votes_used == "none" and (learned or system.folds):
        _refuse(
            submission, "It was fitted on the votes that judge it, and does not say so.",
            f"votes_used: none, {', '.join(learned) or 'and a column fold'}",
            "votes_used: other_items, and the fold of each item",
            "correct system.yml, or leave the folds out",
        )  # fmt: skip
    if record.votes_used == "none":
        return
    todo = "predict each item by a fit on items of other texts, and give its fold in a column fold"
    if not system.folds or len(set(system.folds)) < 2 or "" in system.folds:
        _refuse(
            submission, "Predictions that were fitted on votes need the fold of each item.",
            f"folds: {', '.join(sorted(set(system.folds))) or 'none'}", "two folds or more", todo,
        )  # fmt: skip
    fold_of = dict(zip(system.uids, system.folds, strict=True))
    seen: dict[int, str] = {}
    for uid, group in zip(votes.uids, item_groups([votes])[0].tolist(), strict=True):
        fold = fold_of.get(uid)
        if fold is not None and seen.setdefault(group, fold) != fold:
            _refuse(
                submission, "Items of one text are in two folds.",
                f"{uid} in fold {fold}, another of its text in fold {seen[group]}",
                "all items of a premise, a story or an image in one fold", todo,
            )  # fmt: skip


def _names_votes(name: str) -> bool:
    """Return whether a name of training data is that of votes, however it is written."""
    return are_votes(name) or "chaosnli" in re.sub(r"[\W_]", "", name).lower()


def _check_copies(submission: Submission, votes: Votes, system: System) -> None:
    """Raise if predictions were copied from the votes that judge them."""
    if found := copied_votes(votes, system):
        _refuse(
            submission, f"These predictions seem to be copied from the votes on "
            f"{votes.dataset.title}.", found, "predictions made without these votes",
            "leave the votes out of training, prompt and choice of the model",
        )  # fmt: skip


def other_submissions(submission: Submission, votes: Votes) -> list[System]:
    """Return what other submissions predict, but for those that it replaces or that replace it.

    Those with a fault are left out.
    """
    systems: list[System] = []
    for other in standing(submissions()[0]) if votes.is_released else ():
        own = (submission.name, submission.replaced)
        if other.name not in own and other.replaced != submission.name:
            with suppress(ChaosError):  # which `chaos submit --check` names
                systems += filter(None, [other.system_on(votes)])
    return systems


def _known_systems(submission: Submission, votes: Votes) -> list[System]:
    """Return what a submission is compared with: all other systems but those that it replaces."""
    return [
        *_published_systems(votes), *baselines(votes), *other_submissions(submission, votes)
    ]  # fmt: skip


def _check_duplicates(submission: Submission, system: System, known: Sequence[System]) -> None:
    """Raise if a submission is a known system, or its labels and does not say so."""
    derived = submission.record.derived_from
    for other in known:
        if not are_alike(system, other):
            continue
        alike = likeness(system, other)
        if gives_labels(system) and not gives_labels(other) and other.origin != "baseline":
            if derived != other.name:
                raise ChaosError(
                    "These labels are the most probable ones of a known system.",
                    where=submission.place(RECORD_FILE),
                    found=f"{alike:.1%} of the labels of {other.name}",
                    expected=f"derived_from: {other.name}",
                    todo="say so in system.yml",
                )
            derived = None
        elif (
            gives_labels(system) == gives_labels(other)
            or other.origin == "baseline"
            or softens_labels(system)
        ):
            are_labels = gives_labels(system) or gives_labels(other)
            of = "labels alike" if are_labels else "correlation of log-probabilities or of ranks"
            _refuse(
                submission, f"These predictions are those of a known system: {other.name}.",
                f"{of}: {alike:.3f}", "predictions of another model, or from another seed",
                "correct the file; to correct a submission, say what it replaces",
            )  # fmt: skip
    if derived:
        raise ChaosError(
            "These are not the labels of the system that derived_from names.",
            where=submission.place(RECORD_FILE), found=f"derived_from: {shorten(derived)}",
            expected="the name of a known system with these labels", todo="leave it out",
        )  # fmt: skip


def _row(
    submission: Submission,
    votes: Votes,
    system: System,
    item_set: ItemSet,
    known: Sequence[System],
    n_resamples: int,
) -> BoardRow:
    """Return the row of a system; raise a ChaosError if its worth is too good to go unseen."""
    request = EvaluationRequest(_MEASURES, n_resamples=n_resamples, seed=0)
    scores = {row["measure"]: row for row in evaluate_systems(votes, [system], request)}

    def number(name: str, factor: float, form: str) -> str:
        row = scores[name]
        if np.isnan(row["value"]):
            return NOT_AVAILABLE
        value = format(factor * row["value"], form)
        if np.isnan(row.get("low", np.nan)):
            return value
        return f"{value} [{factor * row['low']:{form}}, {factor * row['high']:{form}}]"

    worth = scores[worths.PEOPLE_RECALIBRATED]
    if np.isnan(worth["value"]):
        worth = scores[worths.PEOPLE_SHRUNK]
    if worth["value"] > MOST_PEOPLE and submission.record.code is None:
        _refuse(
            submission, "It is worth more than any result so far: code or weights first.",
            f"{worth['value']:.1f} people, recalibrated", f"at most {MOST_PEOPLE} without `code`",
            "add the address of code or weights that make the predictions again: code: https://…",
        )  # fmt: skip
    alike = [(likeness(system, other), other.name) for other in known]
    nearest = sorted((pair for pair in alike if pair[0] > 0), reverse=True)[:_N_NEIGHBOURS]
    added = people_added(votes, system, known)
    n_covered = len(item_set.uids.intersection(system.uids))
    return BoardRow(
        system.name,
        votes.dataset.name,
        f"{n_covered:,} of {len(item_set.uids):,}, {item_set.name} ({item_set.digest})",
        worth["text"],
        scores[worths.PEOPLE]["text"] if worths.PEOPLE in scores else NO_DISTRIBUTION,
        NO_DISTRIBUTION if system.one_label else number(_TVD, 100, ".1f"),
        NO_DISTRIBUTION if system.one_label else number(_JSD, 1, ".3f"),
        number(_ACCURACY, 1, ".3f"),
        tuple(f"{name} ({value:.3f})" for value, name in nearest),
        (
            *_flags(submission, votes, system, worth["value"], nearest, added),
            *_left_out(votes, item_set.uids.difference(system.uids), known),
        ),
    )


def _left_out(votes: Votes, uids: frozenset[str], known: Sequence[System]) -> list[str]:
    """Say how hard the items that a submission leaves out are for known systems."""
    if not uids:
        return []
    hits, n_systems = np.zeros(len(votes)), np.zeros(len(votes))
    for system in known:
        rows, batch = system.rows_in(votes), system.aligned_to(votes, in_sample=True)
        hits[rows] += batch.predicted == batch.majority
        n_systems[rows] += 1
    is_out = np.isin(votes.uids, list(uids))
    here, elsewhere = (
        hits[where].sum() / max(n_systems[where].sum(), 1) for where in (is_out, ~is_out)
    )
    return [
        f"{counted(len(uids), 'item')} left out; known systems find the majority's label of "
        f"{here:.0%} there, and of {elsewhere:.0%} elsewhere"
    ]


def _flags(
    submission: Submission,
    votes: Votes,
    system: System,
    worth: float,
    nearest: Sequence[tuple[float, str]],
    added: float,
) -> list[str]:
    """Return what a reviewer should look at.

    `worth` is in people, recalibrated, and so is what was `added` to all known systems; `nearest`
    are the likeness and the names of known systems.
    """
    record = submission.record
    flags = [system.caution] if system.caution else []
    if record.replaces:
        flags.append(
            f"replaces {record.replaces.name}, whose row goes: is it its authors who ask for it?"
        )
    if worth > MOST_PEOPLE:
        flags.append(f"worth more than any result so far: run {record.code} first")
    if added > _MUCH_ADDED:
        flags.append(
            f"it adds {worths.people_in_words(added)} people to what all known systems know "
            "together, more than any model of the book: has it seen these votes?"
        )
    flags += [f"nearly {name}" for value, name in nearest[:1] if value >= _NEARLY_ALIKE]
    if record.votes_used == "other_items":
        flags.append("fitted on the votes on other items: nothing here shows that its folds are so")
    if record.n_tried > _MOST_VARIANTS:
        flags.append(f"the best of {record.n_tried} variants that were scored on these votes")
    same = [one for one in standing(submissions()[0]) if one.record.model.id == record.model.id
            and one.name not in (submission.name, submission.replaced)]  # fmt: skip
    if len(same) >= _MOST_VARIANTS:
        flags.append(f"{counted(len(same), 'other submission')} of this model")
    if lacking := missing_predictions(system.dataset):
        flags.append(f"not compared with {', '.join(lacking)}: `chaos data fetch`")
    if _lacks_judges(votes):
        flags.append(f"not compared with 32 language models: `{_FETCH_JUDGES}`")
    if record.asked.unread:
        flags.append(f"{counted(record.asked.unread, 'answer')} unread")
    return [*flags, *(note for note in system.notes if note != NOTE_ON_LABELS)]

"""The corpora that models are trained and chosen on: SNLI, MNLI, αNLI, and votes."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import OWN, Input, digest, merged
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import KEYWORDS, get_dataset
from chaos_utils.datasets.faults import Faults, wrong_value_message
from chaos_utils.datasets.frame import Column, FileContent, Frame, read_frame
from chaos_utils.datasets.loading import load_votes
from chaos_utils.datasets.tasks import Task, get_task
from chaos_utils.datasets.votes import Votes, frozen

Floats = npt.NDArray[np.float64]
NO_MAJORITY = "-"  # SNLI's and MNLI's gold label where no three of five agreed


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Items with the label distribution that a model is to learn, or be compared with."""

    task: Task
    uids: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]  # premise and hypothesis, a story's four, or one
    targets: Floats  # rows sum to 1: one-hot for hard labels, or vote shares; read-only
    datasets: tuple[str, ...]  # where each item comes from, such as snli
    dropped: int = 0  # number of lines in the files that state no majority label
    inputs: tuple[Input, ...] = ()

    def __len__(self) -> int:
        return len(self.uids)

    @property
    def gold(self) -> npt.NDArray[np.int64]:
        """The first most probable label of each item."""
        return self.targets.argmax(axis=1)

    def take(self, chosen: npt.ArrayLike) -> "Corpus":
        """Return some of the items, by position."""
        rows = [int(i) for i in np.asarray(chosen, dtype=np.int64)]
        return replace(
            self,
            uids=tuple(self.uids[i] for i in rows),
            texts=tuple(self.texts[i] for i in rows),
            targets=frozen(self.targets[rows], float),
            datasets=tuple(self.datasets[i] for i in rows),
        )

    def groups(self) -> list[tuple[str, ...]]:
        """Return each item's group, which folds must not split: its premise, or a story's frame."""
        if self.task.kind == "stories":
            return [(normalise(text[0]), normalise(text[3])) for text in self.texts]
        return [(normalise(text[0]),) for text in self.texts]


def normalise(text: str) -> str:
    """Return a text without case, punctuation and spacing, to tell whether two are the same.

    Releases of one corpus differ in these: some were detokenised. A text of punctuation or symbols
    alone, such as an emoji, only loses its spacing.
    """
    text = unicodedata.normalize("NFKC", text).lower()
    return re.sub(r"[\W_]+", "", text) or re.sub(r"\s+", "", text)


def choose_data(task: str, data: str = "auto") -> str:
    """Return the ``data`` parameter to read every file with: ``released``, ``sample``, a folder.

    ``auto`` becomes ``released``, or a ChaosError if a released file is missing: a model must
    never be trained on the synthetic sample unless the user asks for it.
    """
    if data != "auto":
        return data
    model_task = get_task(task)
    names = [*model_task.files, *(get_dataset(name).file for name in model_task.datasets)]
    missing = [name for name in names if sources.find(name) is None]
    if missing:
        raise ChaosError(
            "The training data is not available.",
            found="missing: " + ", ".join(missing),
            expected="the publishers' files",
            todo="run `chaos data fetch " + " ".join(missing) + "`, "
            "or train on the synthetic sample with data=sample",
        )
    return "released"


def load_corpus(task: str, split: str, data: str = "auto") -> Corpus:
    """Read a split of a task's corpora."""
    model_task = get_task(task)
    data = choose_data(task, data)
    parts = []
    for files in model_task.files_of(split):
        path = sources.locate(files.file, data)
        inputs = [_input(path, files.file, data)]
        if files.labels:
            labels = sources.locate(files.labels, data)
            part = _read_stories(path, labels, files.name, model_task)
            inputs.append(_input(labels, files.labels, data))
        else:
            part = _read_pairs(path, files.name, model_task)
        parts.append(replace(part, inputs=merged(inputs)))
    return join(parts) if parts else empty(model_task)


def _input(path: Path, name: str, data: str) -> Input:
    """Return the entry of a file among the inputs, named after the ``data`` that it is read by."""
    synthetic = data == "sample"
    if synthetic:
        name = f"synthetic-sample/{path.name}"
    elif data not in KEYWORDS:
        name = f"{OWN}{path.name}"
    return Input(name, digest(path), synthetic)


def empty(task: Task) -> Corpus:
    """Return a corpus without items."""
    return Corpus(task, (), (), frozen(np.empty((0, len(task.labels))), float), ())


def join(parts: Sequence[Corpus]) -> Corpus:
    """Return the items of several corpora of one task, in order."""
    return Corpus(
        parts[0].task,
        tuple(uid for part in parts for uid in part.uids),
        tuple(text for part in parts for text in part.texts),
        frozen(np.concatenate([part.targets for part in parts]), float),
        tuple(dataset for part in parts for dataset in part.datasets),
        sum(part.dropped for part in parts),
        merged(*(part.inputs for part in parts)),
    )


def _columns(path: Path, fields: Sequence[str]) -> tuple[Frame, Faults, list[Column]]:
    """Return a file of JSON lines, its faults, and the columns of these fields, all texts."""
    expected = f"one JSON object per line, with the fields {', '.join(fields)}"
    faults = Faults(path, "training items", expected=expected, todo="correct these lines")
    frame = read_frame(FileContent.of(path), faults)
    faults.check()
    frame.require(fields, faults)
    columns = [frame.column(field) for field in fields]
    for field, cells in zip(fields, columns, strict=True):
        is_text = cells.map(lambda value: isinstance(value, str), bool)
        problem = partial(_wrong_cell, field, cells, "text")
        faults.rows(np.flatnonzero(~is_text), frame.place, problem)
    faults.check()
    return frame, faults, columns


def _wrong_cell(field: str, cells: Column, expected: str, row: int) -> str:
    return wrong_value_message(field, cells[row], expected)


def _read_pairs(path: Path, dataset: str, task: Task) -> Corpus:
    """Read SNLI's and MNLI's JSON lines; lines without a majority label are dropped and counted."""
    fields = ("sentence1", "sentence2", "gold_label", "pairID")
    frame, faults, (premises, hypotheses, gold, uids) = _columns(path, fields)
    code_of = {label: k for k, label in enumerate(task.labels)} | {NO_MAJORITY: -1}
    labels = gold.map(lambda label: code_of.get(label, -2), np.int64)  # -2: an unknown label
    expected = f"one of {', '.join(task.labels)}, or {NO_MAJORITY!r} for no majority"
    problem = partial(_wrong_cell, "gold_label", gold, expected)
    faults.rows(np.flatnonzero(labels == -2), frame.place, problem)
    faults.check()
    labelled = np.flatnonzero(labels >= 0).tolist()
    texts = [(premises[row], hypotheses[row]) for row in labelled]
    dropped = len(frame) - len(labelled)
    item_uids = [uids[row] for row in labelled]
    return _one_hot(task, item_uids, texts, labels[labelled], dataset, dropped)


def _read_stories(path: Path, labels: Path, dataset: str, task: Task) -> Corpus:
    """Read αNLI's stories, and the stories' labels from a second file."""
    frame, _, columns = _columns(path, ("story_id", "obs1", "hyp1", "hyp2", "obs2"))
    rows = [tuple(cells[row] for cells in columns) for row in range(len(frame))]
    label_texts = FileContent.of(labels).text().split()
    if len(label_texts) != len(rows):
        raise ChaosError(
            "Stories and labels differ in number.",
            where=labels,
            found=f"{len(label_texts)} labels for {len(rows)} stories in {path.name}",
            expected="one label per line, 1 or 2, for each story",
        )
    for number, label in enumerate(label_texts, start=1):
        if label not in ("1", "2"):
            raise ChaosError(
                "A line of a training file has an unknown label.",
                where=f"{labels}, line {number}",
                found=repr(label),
                expected="1 or 2",
            )
    # A story may stand in several lines, with other hypotheses.
    uids = [f"{row[0]}/{number}" for number, row in enumerate(rows)]
    texts = [row[1:] for row in rows]
    return _one_hot(task, uids, texts, [int(label) - 1 for label in label_texts], dataset, 0)


def _one_hot(
    task: Task,
    uids: Sequence[str],
    texts: Sequence[tuple[str, ...]],
    labels: npt.ArrayLike,
    dataset: str,
    dropped: int,
) -> Corpus:
    """Return a corpus of one dataset whose targets are one-hot; `labels` are indices."""
    targets = np.eye(len(task.labels))[np.array(labels, dtype=np.int64)]
    return Corpus(
        task, tuple(uids), tuple(texts), frozen(targets, float), (dataset,) * len(uids), dropped
    )


def load_chaosnli(task: str, data: str = "auto") -> tuple[Corpus, list[Votes]]:
    """Return ChaosNLI's items of a task with their vote shares, and the votes themselves."""
    model_task = get_task(task)
    all_votes = [load_votes(name, choose_data(task, data)) for name in model_task.datasets]
    return from_votes(all_votes, model_task), all_votes


def from_votes(all_votes: Iterable[Votes], task: Task) -> Corpus:
    """Return the items that were voted on, each with its vote shares as target."""
    parts = []
    for votes in all_votes:
        fields, names = votes.dataset.text_fields, (votes.dataset.name,) * len(votes)
        texts = tuple(tuple(text[field] for field in fields) for text in votes.texts)
        targets = frozen(votes.shares, float)
        parts.append(Corpus(task, votes.uids, texts, targets, names, inputs=votes.inputs))
    return join(parts)

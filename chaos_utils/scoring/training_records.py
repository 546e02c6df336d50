"""Runs of our own: what a fine-tuning run leaves, and where such runs stand."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, model_validator

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError, counted, did_you_mean
from chaos_utils.base.inputs import Input, digest, merged
from chaos_utils.base.validation import validate
from chaos_utils.datasets.catalogue import get_dataset, known_files, released
from chaos_utils.datasets.cells import parse
from chaos_utils.datasets.frame import FileContent
from chaos_utils.datasets.tasks import get_task, tasks
from chaos_utils.datasets.votes import Votes
from chaos_utils.scoring.formats import class_columns
from chaos_utils.scoring.system import System, are_votes, votes_of

READS = ("results/*/*.json", "results/*/*.parquet", "results/*/*.ipynb")

if TYPE_CHECKING:
    import pandas as pd

PREDICTIONS_FILE = "predictions.parquet"  # on ChaosNLI's items, or those of own votes
DEV_FILE = "dev.parquet"  # on development items outside ChaosNLI, with gold labels; own votes: none
RECORD_FILE = "run.json"
NOTEBOOK_FILE = "notebook.ipynb"  # as executed, where a notebook has trained
_RECORD = "A run's record"
UNKNOWN = (  # of a model off the shelf
    "taken as it was published: what it was trained on is not known here, and it may have seen "
    "ChaosNLI's items"
)
KINDS = ("plain", "size", "smoothing", "distilled", "votes", "predicted")


class _Part(BaseModel):
    """What is read of a part of a record; its other entries are kept for those who ask for them."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)


class RecordedSettings(_Part):
    """What decided a run; `training.settings.Settings` says what each of these means."""

    model: str
    task: str
    seed: int
    train: str
    loss: str
    label_smoothing: float
    teacher: str
    init: str
    max_train_examples: int
    n_folds: int
    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    warmup_ratio: float


class TrainingData(_Part):
    """How many items a run was trained on, by dataset and in all, and how many are published."""

    trained_on: dict[str, int]
    n_train: int
    n_published: int


class Score(_Part):
    """What a run reaches on some items."""

    n: int
    accuracy: float


class Loss(_Part):
    """The training loss when so many pairs were seen."""

    pairs: int
    loss: float


class DevCheckpoint(_Part):
    """What was reached on development items by then."""

    pairs: int
    accuracy: float


class Fit(_Part):
    """The course of one training, and its cost; a fold's losses on its inner fold by epoch."""

    curve: list[Loss]
    looks: list[DevCheckpoint]
    train_examples: int = 0
    inner_losses: list[float] = []
    pairs: int
    seconds: float
    pairs_per_second: float
    parameters: int


class Device(_Part):
    """What a run was computed on."""

    title: str
    precision: str


class WeightsSource(_Part):
    """A run that trained nothing: whose weights it took, a run's or a model's off the shelf."""

    run: str = ""
    model: str = ""
    mc_samples: int = 0


class NotebookExecution(_Part):
    """The notebook that trained, its parameters, and what executed it."""

    notebook: str
    parameters: dict[str, Any]
    runner: str


class TrainingRecord(_Part):
    """What a run says of itself. Records of the first edition do not say what it had seen."""

    system: str
    family: str = ""
    synthetic: bool
    command: str
    settings: RecordedSettings
    data: TrainingData
    dev: dict[str, Score]
    test: dict[str, Score] = {}
    fits: list[Fit]
    device: Device
    weights: str
    inputs: list[dict[str, Any]]
    trained_on: list[str] | None = None
    out_of_fold: bool | None = None
    predicted: WeightsSource | None = None
    made_by: NotebookExecution | None = (
        None  # records of earlier editions were made without a notebook
    )
    outputs: dict[str, str]

    @model_validator(mode="after")
    def _check(self) -> "TrainingRecord":
        if (self.trained_on is None) != (self.out_of_fold is None):
            raise ValueError("one of trained_on and out_of_fold without the other")
        return self


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A finished run: its folder, by whose name it is called, and its record."""

    name: str
    folder: Path
    record: TrainingRecord

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The entry of its record."""
        name = f"results/{self.name}/{RECORD_FILE}"
        sha256 = digest(self.folder / RECORD_FILE)
        return (Input(name, sha256, self.record.synthetic),)

    @property
    def data(self) -> tuple[Input, ...]:
        """The files of data that it was trained on, and that it has predicted."""
        return tuple(Input(**entry) for entry in self.record.inputs)

    @property
    def system(self) -> str:
        """What its predictions are called in tables."""
        return self.record.system

    @property
    def settings(self) -> RecordedSettings:
        """What decided the run."""
        return self.record.settings

    @property
    def command(self) -> str:
        """What makes it again."""
        # Earlier editions had an option for looks on the way, which changed nothing else; earlier
        # engines cut steps by a number of tokens.
        return re.sub(r" --(trajectory|token-budget) \d+", "", self.record.command)

    @property
    def notebook(self) -> Path | None:
        """The notebook that trained it, as executed; None where there is none."""
        path = self.folder / NOTEBOOK_FILE
        return path if path.is_file() else None

    @property
    def is_off_the_shelf(self) -> bool:
        """Whether it holds what a model predicts that was not trained here."""
        return bool(self.record.predicted and self.record.predicted.model)

    @property
    def hardware(self) -> str:
        """What it was computed on, such as ``CPU, 2 threads``."""
        # Records of the first edition say "1 threads".
        return re.sub(r"\b1 threads", "1 thread", self.record.device.title)

    def read_table(self, file: str) -> "pd.DataFrame":
        """Return one of its parquet files, such as ``predictions.parquet``, if as recorded."""
        self.inputs_of(file)
        return _table(self.folder / file, self.record.outputs[file]).copy()

    def inputs_of(self, file: str) -> tuple[Input, ...]:
        """Return the entries of its record and one of its files, for what is made from them."""
        path = self.folder / file
        expected = self.record.outputs.get(file)
        found = digest(path) if path.is_file() else "no file"
        if found != expected:
            raise ChaosError(
                "A run's file is not the one that its record names.",
                where=path,
                found=found,
                expected=expected,
                todo="restore the file, or run the record's command again",
            )
        name = f"results/{self.name}/{file}"
        return merged(self.inputs, [Input(name, found, self.record.synthetic)])

    def predictions_on(self, votes: Votes) -> System | None:
        """Return what the run predicts of a dataset's items; None where it predicts none.

        Items are in the order of the file, maybe not all; a note says what it was trained on.
        """
        table = self.read_table(PREDICTIONS_FILE)
        rows = table[(table["dataset"] == votes.dataset.name) & table["uid"].isin(votes.uids)]
        if rows.empty:
            return None
        shares = rows[class_columns(votes.dataset)].to_numpy(dtype=np.float64)
        shares = shares / shares.sum(axis=1, keepdims=True)  # some are stored in single precision
        uids, inputs = tuple(rows["uid"]), self.inputs_of(PREDICTIONS_FILE)
        found = System(self.system, votes.dataset, uids, shares, shares.argmax(axis=1))
        return replace(found, **self.about(), inputs=inputs)

    def about(self) -> dict[str, Any]:
        """Return what its predictions are, as fields of `System`."""
        data, seed = self.record.data, self.settings.seed
        trained_on, out_of_fold = self.learned_from()
        about: dict[str, Any] = {"trained_on": trained_on, "out_of_fold": out_of_fold}
        if self.is_off_the_shelf:
            return about | {"origin": "yours", "family": self.record.family, "notes": (UNKNOWN,)}
        note = (
            f"trained by this project on {data.n_train:,} of the {data.n_published:,} "
            "published training items"
        )
        if own := self.own_training_files:
            note = f"trained on {counted(data.n_train, 'item')} of your own ({', '.join(own)})"
        return about | {
            "origin": "trained",
            "family": self.record.family or self.system.replace(f", seed {seed}", ""),
            "seed": seed,
            "notes": (note,),
        }

    @property
    def own_training_files(self) -> list[str]:
        """Names of the reader's own files that it was trained on, none of which is published.

        Those of its inputs are left out that it was only chosen by, or predicts.
        """
        published = {file.sha256 for file in known_files().values()}
        own = [one for one in self.data if one.is_own and one.sha256 not in published]
        if self.settings.train not in ("corpora", "chaosnli"):
            return [Path(one.name).name for one in own]
        if self.settings.train == "chaosnli":
            wanted = [file.name for name in self.record.data.trained_on
                      for file in get_dataset(name).files]  # fmt: skip
        else:
            task = get_task(self.settings.task)
            wanted = [name for file in task.files_of("train") for name in (file.file, file.labels)]
        names = {Path(name).name for name in wanted}
        return [name for name in (Path(one.name).name for one in own) if name in names]

    def learned_from(self, later: frozenset[Path] = frozenset()) -> tuple[tuple[str, ...], bool]:
        """Return what it was trained on and whether out of fold, as fields of `System`.

        From the record where it says so; records of the first edition do not. `later` are the
        folders of the runs that led here, which are not asked again.
        """
        if self.record.trained_on is not None:
            return tuple(self.record.trained_on), bool(self.record.out_of_fold)
        found = [run for run in self._earlier() if run.folder not in later]
        earlier = [run.learned_from(later | {self.folder}) for run in found]
        return learned(self.settings.train, self.record.data.trained_on, earlier)

    def _earlier(self) -> Iterator["Run"]:
        """Yield the runs that it started from or was taught by, where they are found."""
        for name in filter(None, (self.settings.init, self.settings.teacher)):
            # By name beside it, then where `find_run` looks; a moved folder keeps its name.
            places = (self.folder.parent / name, *_places(name),
                      self.folder.parent / Path(name).name)  # fmt: skip
            folder = next((place for place in places if (place / RECORD_FILE).is_file()), None)
            if folder is not None and folder.resolve() != self.folder.resolve():
                yield read_run(folder.resolve())


@cache  # for each of several datasets; the digest says that the file is still the same
def _table(path: Path, sha256: str) -> "pd.DataFrame":
    import pandas as pd  # slow to import

    # Until the second edition the column was called so.
    return pd.read_parquet(path).rename(columns={"task": "dataset"})


def learned(
    train: str, datasets: Iterable[str], earlier: Iterable[tuple[tuple[str, ...], bool]]
) -> tuple[tuple[str, ...], bool]:
    """Return what a run was trained on and whether out of fold, as fields of `System`.

    Whatever an earlier run has seen, a run that starts from it or learns from it has seen too.
    Earlier votes are never left out of these folds: a run on votes has a model for each of its own
    folds, and what starts from it, or learns its probabilities, mixes them. `train` is the setting
    of the run, and `datasets` those that its own training items belong to; what came first comes
    first.
    """
    folded = train != "corpora"
    own = [votes_of(get_dataset(name)) if folded else released(name).short for name in datasets]
    before = [name for names, _ in earlier for name in names]
    return tuple(dict.fromkeys([*before, *own])), folded and not any(map(are_votes, before))


def read_run(folder: Path) -> Run:
    """Return the run in a folder."""
    path = folder / RECORD_FILE
    if not path.is_file():
        known = [run.name for run in runs_in(folder.parent)] if folder.parent.is_dir() else []
        raise ChaosError(
            "There is no finished run here.",
            where=folder,
            expected=f"a folder with {RECORD_FILE}; {did_you_mean(folder.name, known)}",
            todo="name a folder that `chaos finetune` has made",
        )
    return Run(folder.name, folder, _parse_record(FileContent.of(path)))


@lru_cache(maxsize=1024)  # a chapter asks for the same runs many times
def _parse_record(file: FileContent) -> TrainingRecord:
    todo = "restore it, or run its command again"
    try:
        content = parse(file.text())
    except ValueError as fault:
        found = str(fault).removeprefix("found ")
        raise ChaosError(
            f"{_RECORD} cannot be read.", where=file.path, found=found, todo=todo
        ) from fault
    return validate(content, TrainingRecord, file.path, _RECORD, todo=todo)


def run_of(path: Path) -> Run | None:
    """Return the run that wrote a file, by the record beside it; None where none names the file."""
    path = path.resolve()
    record = path.parent / RECORD_FILE
    if not record.is_file():
        return None
    try:
        content = parse(FileContent.of(record).text())
    except ValueError:
        return read_run(path.parent)  # which reports what is damaged
    fields = content if isinstance(content, dict) else {}
    if isinstance(fields.get("outputs"), dict):
        is_ours = path.name in fields["outputs"]
    else:  # damaged, unless it is another program's file of this name
        ours = paths.find_project() is not None and path.is_relative_to(paths.results().resolve())
        required = {
            name for name, field in TrainingRecord.model_fields.items() if field.is_required()
        }
        is_ours = ours or len(required & fields.keys()) > len(required) / 2
    return read_run(path.parent) if is_ours else None


def find_run(name: str) -> Run:
    """Return a run by its folder, or by its name below ``results/`` or ``runs/``."""
    places = _places(name)
    missing = places[:2][-1]  # in a checkout the message is about results/
    return read_run(next((place for place in places if place.is_dir()), missing).resolve())


def _places(name: str) -> list[Path]:
    """Return where a run that a reader named may be."""
    here = [paths.from_reader(name)]
    if paths.find_project() is not None:
        here += [paths.results() / name, paths.runs() / name]
    return here


def runs_in(folder: Path) -> Iterator[Run]:
    """Yield the runs directly below a folder, by name."""
    for path in sorted(folder.glob(f"*/{RECORD_FILE}")):
        yield read_run(path.parent)


def kind_of(run: Run) -> str:
    """Return what sets a run apart, one of `KINDS`.

    ``plain`` (hard labels, all available pairs), ``size`` (a part of them), ``smoothing``,
    ``distilled`` (a teacher's probabilities), ``votes`` (ChaosNLI's or own, out of fold), or
    ``predicted`` (another run's weights, asked again, or a model off the shelf).
    """
    settings = run.settings
    if run.record.predicted:
        return "predicted"
    if settings.train != "corpora":
        return "votes"
    if settings.teacher:
        return "distilled"
    if settings.label_smoothing:
        return "smoothing"
    return "size" if settings.max_train_examples else "plain"


def of_most_items(runs: Iterable[Run]) -> list[Run]:
    """Return the runs that stand for their encoders: those trained in the ordinary way.

    For each encoder and task the ``plain`` ones; where there is none, those of kind ``size`` with
    the largest number of training items.
    """
    most: dict[tuple[str, str], tuple[str, int]] = {}
    found = []
    for run in ordered(runs):
        kind, encoder = kind_of(run), (run.settings.task, run.settings.model)
        extent = (kind, run.record.data.n_train)
        if kind in ("plain", "size") and most.setdefault(encoder, extent) == extent:
            found.append(run)
    return found


def ordered(runs: Iterable[Run]) -> list[Run]:
    """Return runs by task, model, kind, number of training items (largest first) and seed."""
    return sorted(
        runs,
        key=lambda run: (
            list(tasks()).index(run.settings.task),
            run.settings.model,
            KINDS.index(kind_of(run)),
            -run.record.data.n_train,
            run.settings.seed,
            run.name,
        ),
    )


def committed_runs() -> list[Run]:
    """Return the project's own runs, by name; outside of a checkout there are none."""
    if paths.find_project() is None:
        return []
    return list(runs_in(paths.results()))

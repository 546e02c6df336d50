"""A whole run: data, fit, predictions, record."""

import json
import shutil
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.extras import require_extra
from chaos_utils.base.files import write_json
from chaos_utils.datasets.corpora import Corpus, load_corpus
from chaos_utils.datasets.splits import grouped_folds, refuse_contamination
from chaos_utils.datasets.tasks import get_task
from chaos_utils.scoring.training_records import (
    DEV_FILE,
    RECORD_FILE,
    Run,
    committed_runs,
    find_run,
    read_run,
)
from chaos_utils.training import cache, devices, encoders
from chaos_utils.training.data import load_data, notes_on
from chaos_utils.training.dev_scores import balanced_subset, dev_scores
from chaos_utils.training.inference import Floats
from chaos_utils.training.objectives import fit_head, fold_into_head, mean_loss
from chaos_utils.training.progress import Report, Say, silent
from chaos_utils.training.settings import Settings, complete, recorded_settings
from chaos_utils.training.trainer_settings import check_trainer
from chaos_utils.training.training_run import NewRun, TrainingResult

if TYPE_CHECKING:
    from chaos_utils.training.trainer import Job  # PyTorch comes with it

_INNER_FOLDS = 8  # of the items that are trained on; one of them says when to stop
_HARDLY_DECIDE = {"dev_examples", "threads", "precision", "revision"}  # what is predicted
DEV_EXAMPLES = 2000  # development items, where the settings do not limit them


def check_place(out: Path) -> Path:
    """Return where a run goes, after making sure that nothing else would be lost there."""
    out = out.absolute()
    is_run, is_empty = (out / RECORD_FILE).is_file(), out.is_dir() and not any(out.iterdir())
    if out.exists() and not is_run and not is_empty:
        raise ChaosError(
            "The run's folder holds something else.",
            where=out,
            expected="a new or empty folder, or an earlier run's",
            todo="name another folder with --out",
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-"):
        return out


def finetune(
    settings: Settings,
    out: Path,
    *,
    device: str = "auto",
    checkpoint_seconds: float = 120,
    report: Report = silent,
    say: Say = lambda text: None,
) -> Run:
    """Fine-tune an encoder and predict ChaosNLI's items with it, or those of own votes.

    Can be killed and called again: it goes on from its last checkpoint, and what it writes is the
    same. Trained weights are kept in the cache, so that later runs can start from them. The
    folder `out` appears whole or not at all: predictions, those on the development items where
    there are such, and the record.

    `checkpoint_seconds` is the least time between two checkpoints. `report` is called with what
    is being done, how much of it is done, and of how much; `say` with what a reader must know.
    """
    require_extra("train", "Training")
    from chaos_utils.training.trainer import processes_of

    settings, model = complete(settings)
    check_trainer(settings.trainer)
    out = check_place(out)
    with devices.threads_of(settings.threads):
        place = devices.choose_device(device, settings.precision)
        processes = processes_of(place)
        place = place.taken_by(processes)
        run = _TrainingJob(out, settings, place, report, say, processes, checkpoint_seconds)
        run.data = load_data(settings)
        for note in notes_on(run.data):
            say(note)
        # Earlier runs' weights may have to be made first; they stand apart from this run's.
        run.start, teacher = (
            weights_of(name, run) if name else None for name in (settings.init, settings.teacher)
        )
        run.take(model)
        corpora = (run.data.train, run.data.dev)
        base = cache.run_key(run.settings, run.encoder.origin, corpora, run.start, teacher)
        key = cache.key_of_processes(base, processes.num_processes)
        run.work = cache.work_folder(key)
        with cache.exclusive_run(key, say) if processes.is_main_process else nullcontext():
            cache.refuse_other_processes(base, processes.num_processes)
            processes.wait_for_everyone()
            if teacher:
                run.learn_from(teacher)
            outcome = run.fold_by_fold() if run.data.folds else run.whole()
            processes.wait_for_everyone()
            if outcome:
                run.write(outcome, key)
                shutil.rmtree(run.work)
            processes.wait_for_everyone()
    return read_run(out)


def default_folder(settings: Settings) -> Path:
    """Return where a run goes when no folder was named: one for each set of settings."""
    text = json.dumps(complete(settings)[0].model_dump(), sort_keys=True)
    digest = sha256(text.encode()).hexdigest()[:8]
    name = settings.model.replace("/", "-").lstrip(".~-")
    return paths.runs() / f"{name}-{settings.task}-{digest}"


def recorded_run(settings: Settings) -> Run | None:
    """Return the project's own run of these settings; None where there is none.

    What hardly changes the predictions need not be the same unless the settings name it, and where
    files are read need never be.
    """
    wanted, _ = complete(settings)
    given = {name for name, value in settings if value != Settings.model_fields[name].default}
    compared = Settings.model_fields.keys() - (_HARDLY_DECIDE - given) - {"data"}
    for run in committed_runs():
        theirs = recorded_settings(run.record)
        if not run.record.predicted and all(
            getattr(theirs, name) == getattr(wanted, name) for name in compared
        ):
            return run
    return None


def weights_of(name: str, run: NewRun) -> Path:
    """Return the weights of an earlier run, which are trained again if they are not cached.

    They are for `run`, whose settings and data they must fit.
    """
    earlier, settings = find_run(name), run.settings
    theirs = recorded_settings(earlier.record)
    synthetic = any(one.source.synthetic for one in run.data.votes)
    labels, their_task, todo = run.data.train.task.labels, get_task(theirs.task), ""
    if theirs.on_votes:
        problem = "This run has a model for each fold, which are not kept."
        found, expected = earlier.name, "a run on the corpora"
    elif theirs.task != settings.task and not (
        settings.on_own_votes and their_task.kind == "pairs"
    ):
        problem, found, expected = "This run is of another task.", theirs.task, settings.task
    elif sorted(map(encoders.label_name, labels)) != sorted(their_task.labels):
        problem = "This run answers with other labels."
        found, expected = ", ".join(their_task.labels), ", ".join(labels)
        todo = "leave init out: a new head is then trained on the encoder"
    elif earlier.record.synthetic and not synthetic:
        problem = "This run learnt from the synthetic sample."
        found, expected = earlier.name, "a run on real data, as this one is"
    elif name == settings.init and theirs.model != settings.model:
        problem = "This run is of another encoder."
        found, expected = theirs.model, settings.model
    else:
        if settings.on_own_votes:
            seen = load_corpus(theirs.task, "train", theirs.data)
            refuse_contamination(seen, run.data.predicted, run.data.votes[0].dataset.short)
        return cache.cached_weights(earlier.record.weights) or _train_again(earlier, theirs, run)
    raise ChaosError(problem, where=earlier.folder, found=found, expected=expected, todo=todo)


def _train_again(earlier: Run, settings: Settings, run: NewRun) -> Path:
    run.say(f"the weights of {earlier.name} are not cached: training them first")
    rebuilt = paths.cache() / "rebuilt" / earlier.record.weights
    again = finetune(settings, rebuilt, device=run.device.kind, report=run.report, say=run.say)
    # Its other predictions also hold its name, which depends on the runs beside it.
    if again.record.outputs[DEV_FILE] != earlier.record.outputs.get(DEV_FILE):
        run.say(
            f"the weights of {earlier.name} were trained again, and predict slightly differently: "
            "another version of the code or of its libraries, or other hardware"
        )
    folder = cache.cached_weights(again.record.weights)
    assert folder is not None  # just made
    return folder


@dataclass(slots=True)
class _TrainingJob(NewRun):
    """A run that trains: in one process or several, from a pretrained encoder or a `start`.

    `work` keeps what is unfinished, `processes` is accelerate's state.
    """

    processes: Any
    checkpoint_seconds: float
    start: Path | None = None
    work: Path = field(init=False)

    def learn_from(self, teacher: Path) -> None:
        """Replace the targets by the probabilities of a teacher: a folder of weights."""
        model, tokenizer = self.load(teacher), encoders.load_tokenizer(teacher)
        train = self.data.train
        shares = self.predict(model, train, "asking the teacher", tokenizer=tokenizer)
        self.data = replace(self.data, train=replace(train, targets=shares))

    def whole(self) -> TrainingResult | None:
        """Train on the corpora, once, unless that was done; the main process predicts."""
        folder = cache.cached_weights(self.work.name)
        if folder is not None:
            self.say("these weights were trained before: predicting with them")
            model = self.load(folder)
        else:
            model, fitted = self.fit(self.data.train, self.work)
        if not self.processes.is_main_process:
            return None
        folder = folder or cache.keep_weights(self.work.name, model, self.tokenizer, fitted)
        return self.outcome(model, [cache.read_fitted(folder)], tests=True)

    def fold_by_fold(self) -> TrainingResult | None:
        """Train on the other items for each fold of the votes; the main process predicts that one.

        Items with the same premise, text, story or image are in one fold. With patience, an inner
        fold of the training items is held out from training, and says when to stop.
        """
        settings, data = self.settings, self.data
        assert data.folds is not None
        folds, groups, n_folds = data.folds.of_items, data.folds.groups, data.folds.number
        shares = np.zeros_like(data.train.targets)
        dev = np.zeros_like(data.dev.targets)
        fits = []
        for fold in range(n_folds):
            self.say(f"fold {fold + 1} of {n_folds}" if n_folds > 1 else "a part is held out")
            held, work = np.flatnonzero(folds == fold), self.work / f"fold-{fold}"
            answers_file = work.with_suffix(".json")
            self.processes.wait_for_everyone()  # all of them see the same files
            if not answers_file.is_file():
                rows, inner = np.flatnonzero(folds != fold), None
                if settings.patience:
                    n_inner = min(_INNER_FOLDS, len(np.unique(groups[rows])))
                    inside = grouped_folds(groups[rows], n_inner, settings.seed)
                    rows, inner = rows[inside != 0], data.train.take(rows[inside == 0])
                model, fitted = self.fit(data.train.take(rows), work, inner)
                if not self.processes.is_main_process:
                    continue
                mine = self.predict(model, data.train.take(held), "predicting")
                answers = {"fitted": fitted, "held": mine.tolist()}
                if len(dev):
                    answers["dev"] = self.predict(model, data.dev, "predicting dev").tolist()
                write_json(answers_file, answers)
                shutil.rmtree(work, ignore_errors=True)
            answers = json.loads(answers_file.read_text("utf-8"))
            shares[held] = answers["held"]
            if len(dev):
                dev += np.array(answers["dev"]) / n_folds  # the mean of the folds' models
            fits.append(answers["fitted"])
        if not self.processes.is_main_process:
            return None
        return TrainingResult(shares[folds >= 0], dev if len(dev) else None, None, fits)

    def fit(
        self, train: Corpus, work: Path, inner: Corpus | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Train one model, and return it with an account of its training.

        It is looked at on development items, or on `inner` items, by what it minimises.
        """
        from chaos_utils.training import trainer

        settings, targets, encoded = self.settings, self._targets(train), self.encode(train)
        if encoded.n_full and self.processes.is_main_process:
            sequences = counted(encoded.n_full, "sequence")
            self.say(
                f"{sequences} of {len(train):,} items reach max_length={settings.max_length} "
                "tokens: longer ones are cut"
            )
        looked_at = inner or balanced_subset(self.data.dev, settings.dev_examples or DEV_EXAMPLES)

        def scores(logits: Floats) -> dict[str, Any]:
            if inner:
                return {"inner_loss": round(mean_loss(logits, inner.targets, settings.loss), 6)}
            return dev_scores(softmax(logits, axis=1), looked_at)["all"]

        job = trainer.Job(
            settings, encoded, targets, self.encode(looked_at), looked_at.targets,
            scores, self.device, work, "inner_loss" if inner else "accuracy", bool(inner),
            self.checkpoint_seconds, self.report, self.say,
        )  # fmt: skip
        devices.forget_peak_memory(self.device)
        model, account = trainer.fit(lambda: self._beginning(train, targets), job)
        pairs, seconds = job.plan.seen(account.steps), account.seconds
        return model, {
            "steps": account.steps,
            "planned_steps": job.n_steps,
            "train_examples": len(train),
            "longest_sequences": job.encoded.n_full,
            "curve": account.curve,
            "looks": [] if inner else account.looks,
            **(_inner_account(account.looks, len(inner), job) if inner else {}),
            "pairs": pairs,
            "seconds": round(seconds, 1),  # in steps, of all the calls that the run took
            "cpu_seconds": round(account.cpu_seconds, 1),  # of this process
            "pairs_per_second": round(pairs / max(seconds, 1e-9), 1),
            "calls": len(account.calls),
            "devices": list(dict.fromkeys(account.calls)),
            "processes": account.processes,
            "gradient_accumulation_steps": account.accumulation,
            "attention": account.attention,
            "deterministic": account.deterministic,
            "parameters": sum(p.numel() for p in model.parameters()),
            **devices.peak_memory(self.device),
        }

    def _targets(self, train: Corpus) -> Floats:
        """Return what is learnt: a corpus's targets, smoothed if that is asked for."""
        share, n_labels = self.settings.label_smoothing, train.targets.shape[1]
        return (1 - share) * train.targets + share / n_labels if share else train.targets

    def _beginning(self, train: Corpus, targets: Floats) -> Any:
        """Return the model as it is before the first step."""
        import torch

        torch.manual_seed(self.settings.seed)  # decides the new head
        labels = self.data.train.task.labels
        source = self.encoder
        if self.start:  # whose head may have the labels in another order
            source = replace(source, folder=self.start, labels=encoders.labels_in(self.start))
        model = encoders.load_start(source, self.n_outputs, self.say, labels)
        if self.settings.head == "affine":
            logits = self.logits(devices.to_device(model, self.device), train, "fitting the head")
            fold_into_head(model, fit_head(logits, targets, self.settings.loss, self.n_outputs))
        return model


def _inner_account(looks: list[dict[str, Any]], n_inner: int, job: "Job") -> dict[str, Any]:
    """Return what a record says of the inner fold; the first look is before training."""
    losses = [look["inner_loss"] for look in looks]
    best = looks[int(np.argmin(losses))]
    return {
        "inner_examples": n_inner,
        "inner_losses": losses,
        "kept_epoch": best["step"] // job.plan.steps_per_epoch,
    }

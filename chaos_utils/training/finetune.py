"""A whole run: data, fit, predictions, record."""

import json
import shutil
import tempfile
import warnings
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.extras import require_extra
from chaos_utils.base.files import write_json
from chaos_utils.datasets.corpora import Corpus
from chaos_utils.datasets.splits import grouped_folds, item_groups
from chaos_utils.scoring.training_records import DEV_FILE, RECORD_FILE, Run, find_run, read_run
from chaos_utils.training import cache, loop
from chaos_utils.training.data import load_data
from chaos_utils.training.dev_scores import balanced_subset, dev_scores
from chaos_utils.training.devices import (
    Device,
    choose_device,
    forget_peak_memory,
    peak_memory,
    threads_of,
    to_device,
)
from chaos_utils.training.encoders import load_model, load_start, load_tokenizer
from chaos_utils.training.encoding import plan_batches
from chaos_utils.training.inference import TOKEN_BUDGET
from chaos_utils.training.objectives import fit_head, fold_into_head, mean_loss
from chaos_utils.training.progress import Report, Say, silent
from chaos_utils.training.settings import Settings, complete, recorded_settings
from chaos_utils.training.training_run import NewRun, TrainingResult

_INNER_FOLDS = 8  # of the items that are trained on; one of them says when to stop
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
    """Fine-tune an encoder and predict ChaosNLI's items with it.

    Can be killed and called again: it goes on from its last checkpoint, and what it writes is the
    same. Trained weights are kept in the cache, so that later runs can start from them. The
    folder `out` appears whole or not at all: predictions on ChaosNLI and on the development
    items, and the record.

    `checkpoint_seconds` is the least time between two checkpoints. `report` is called with what
    is being done, how much of it is done, and of how much; `say` with what a reader must know.
    """
    require_extra("train", "Training")
    settings, model = complete(settings)
    out = check_place(out)
    with threads_of(settings.threads):
        place = choose_device(device, settings.precision)
        accelerator = _accelerator(place)
        place = place.taken_by(accelerator)
        run = _TrainingJob(out, settings, place, report, say, accelerator, checkpoint_seconds)
        run.decide(token_budget=settings.token_budget or TOKEN_BUDGET[place.kind])
        run.data = load_data(settings)
        # Earlier runs' weights may have to be made first; they stand apart from this run's.
        run.start, teacher = (
            weights_of(name, run) if name else None for name in (settings.init, settings.teacher)
        )
        run.take(model)
        corpora = (run.data.train, run.data.dev)
        key = cache.run_key(run.settings, run.encoder.origin, corpora, run.start, teacher)
        run.work = cache.work_folder(key)
        with cache.exclusive_run(key, say) if accelerator.is_main_process else nullcontext():
            accelerator.wait_for_everyone()
            if teacher:
                run.learn_from(teacher)
            outcome = run.fold_by_fold() if settings.train == "chaosnli" else run.whole()
            accelerator.wait_for_everyone()
            if outcome:
                run.write(outcome, key)
                shutil.rmtree(run.work)
            accelerator.wait_for_everyone()
    return read_run(out)


def _accelerator(device: Device) -> Any:
    with warnings.catch_warnings():  # of bars that no page could show
        warnings.filterwarnings("ignore", "IProgress not found")
        from accelerate import Accelerator
        from accelerate.utils import InitProcessGroupKwargs

    # Others wait while one process predicts.
    handlers = [InitProcessGroupKwargs(timeout=timedelta(days=1))]
    # Precision and accumulation are ours, whatever `accelerate launch` was configured with.
    return Accelerator(
        cpu=device.kind == "cpu",
        mixed_precision="no",
        gradient_accumulation_steps=1,
        kwargs_handlers=handlers,
    )


def default_folder(settings: Settings) -> Path:
    """Return where a run goes when no folder was named: one for each set of settings."""
    text = json.dumps(complete(settings)[0].model_dump(), sort_keys=True)
    digest = sha256(text.encode()).hexdigest()[:8]
    name = settings.model.replace("/", "-").lstrip(".~-")
    return paths.runs() / f"{name}-{settings.task}-{digest}"


def weights_of(name: str, run: NewRun) -> Path:
    """Return the weights of an earlier run, which are trained again if they are not cached.

    They are for `run`, whose settings and data they must fit.
    """
    earlier, settings = find_run(name), run.settings
    theirs = recorded_settings(earlier.record)
    synthetic = any(one.source.synthetic for one in run.data.votes)
    if theirs.train == "chaosnli":
        problem = "This run has a model for each fold, which are not kept."
        found, expected = earlier.name, "a run on the corpora"
    elif theirs.task != settings.task:
        problem, found, expected = "This run is of another task.", theirs.task, settings.task
    elif earlier.record.synthetic and not synthetic:
        problem = "This run learnt from the synthetic sample."
        found, expected = earlier.name, "a run on real data, as this one is"
    elif name == settings.init and theirs.model != settings.model:
        problem = "This run is of another encoder."
        found, expected = theirs.model, settings.model
    else:
        return cache.cached_weights(earlier.record.weights) or _train_again(earlier, theirs, run)
    raise ChaosError(problem, where=earlier.folder, found=found, expected=expected)


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

    `work` keeps what is unfinished.
    """

    accelerator: Any
    checkpoint_seconds: float
    start: Path | None = None
    work: Path = field(init=False)

    def learn_from(self, teacher: Path) -> None:
        """Replace the targets by the probabilities of a teacher: a folder of weights."""
        model, tokenizer = load_model(teacher, self.n_outputs), load_tokenizer(teacher)
        model, train = to_device(model, self.device), self.data.train
        shares = self.predict(model, train, "asking the teacher", tokenizer=tokenizer)
        self.data = replace(self.data, train=replace(train, targets=shares))

    def whole(self) -> TrainingResult | None:
        """Train on the corpora, once, unless that was done; the main process predicts."""
        folder = cache.cached_weights(self.work.name)
        if folder is not None:
            self.say("these weights were trained before: predicting with them")
            model = to_device(load_model(folder, self.n_outputs), self.device)
        else:
            model, fitted = self.fit(self.data.train, self.work)
        if not self.accelerator.is_main_process:
            return None
        folder = folder or cache.keep_weights(self.work.name, model, self.tokenizer, fitted)
        return self.outcome(model, [cache.read_fitted(folder)], tests=True)

    def fold_by_fold(self) -> TrainingResult | None:
        """Train on ChaosNLI's other folds for each fold; the main process predicts that one.

        Items with the same premise, story or image are in one fold. With patience, an inner fold of
        the training items is held out from training, and says when to stop.
        """
        settings, data = self.settings, self.data
        groups = np.concatenate(item_groups(data.votes))
        folds = grouped_folds(groups, settings.n_folds, settings.seed)
        shares = np.zeros_like(data.chaosnli.targets)
        dev = np.zeros_like(data.dev.targets)
        fits = []
        for fold in range(settings.n_folds):
            self.say(f"fold {fold + 1} of {settings.n_folds}")
            held, work = np.flatnonzero(folds == fold), self.work / f"fold-{fold}"
            answers_file = work.with_suffix(".json")
            if not answers_file.is_file():
                rows, inner = np.flatnonzero(folds != fold), None
                if settings.patience:
                    n_inner = min(_INNER_FOLDS, len(np.unique(groups[rows])))
                    inside = grouped_folds(groups[rows], n_inner, settings.seed)
                    rows, inner = rows[inside != 0], data.train.take(rows[inside == 0])
                model, fitted = self.fit(data.train.take(rows), work, inner)
                if not self.accelerator.is_main_process:
                    continue
                mine = self.predict(model, data.chaosnli.take(held), "predicting")
                others_dev = self.predict(model, data.dev, "predicting dev")
                answers = {"fitted": fitted, "held": mine.tolist(), "dev": others_dev.tolist()}
                write_json(answers_file, answers)
                shutil.rmtree(work, ignore_errors=True)
            answers = json.loads(answers_file.read_text("utf-8"))
            shares[held] = answers["held"]
            dev += np.array(answers["dev"]) / settings.n_folds  # the mean of the folds' models
            fits.append(answers["fitted"])
        return TrainingResult(shares, dev, None, fits) if self.accelerator.is_main_process else None

    def fit(
        self, train: Corpus, work: Path, inner: Corpus | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Train one model, and return it with an account of its training.

        It is looked at on development items, or on `inner` items, by what it minimises.
        """
        import torch

        settings = self.settings
        work.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(settings.seed)  # decides the new head
        if self.start:
            model = load_model(self.start, self.n_outputs)
        else:
            model = load_start(self.encoder, self.n_outputs, self.say)
        encoded = self.encode(train)
        plan = plan_batches(encoded.lengths, settings.batch_size, settings.epochs, settings.seed)
        targets = train.targets
        if settings.label_smoothing:
            uniform = 1 / targets.shape[1]
            targets = (1 - settings.label_smoothing) * targets + settings.label_smoothing * uniform
        if settings.head == "affine":
            logits = self.logits(to_device(model, self.device), train, "fitting the head")
            fold_into_head(model, fit_head(logits, targets, settings.loss, self.n_outputs))
        dev_part = balanced_subset(self.data.dev, settings.dev_examples or DEV_EXAMPLES)

        def evaluate(model: Any, step: int) -> dict[str, Any]:
            if inner:
                logits = self.logits(model, inner, "looking at the inner fold")
                return {"inner_loss": round(mean_loss(logits, inner.targets, settings.loss), 6)}
            return dev_scores(self.predict(model, dev_part, "looking at dev"), dev_part)["all"]

        job = loop.Job(
            settings, encoded, targets, plan, self.device, self.accelerator, work, evaluate,
            bool(inner), self.checkpoint_seconds, self.report, self.say,
        )  # fmt: skip
        forget_peak_memory(self.device)
        state = loop.fit(model, job)
        return model, {
            "steps": state.step,
            "planned_steps": len(plan),
            "train_examples": len(train),
            "longest_sequences": encoded.n_full,
            "token_budget": state.token_budget,  # smaller than in the settings if memory ran out
            "curve": state.curve,
            "looks": [] if inner else state.looks,
            **(_inner_account(state.looks, len(inner), job.steps_per_epoch) if inner else {}),
            "pairs": state.pairs,
            "tokens": state.tokens,
            "padded_tokens": state.padded_tokens,  # this process's, as are its CPU seconds
            "seconds": round(state.seconds, 1),  # in steps, of all the calls that the run took
            "cpu_seconds": round(state.cpu_seconds, 1),
            "pairs_per_second": round(state.pairs / max(state.seconds, 1e-9), 1),
            "calls": len(state.calls),
            "devices": list(dict.fromkeys(state.calls)),
            "processes": self.accelerator.num_processes,
            "parameters": sum(p.numel() for p in model.parameters()),
            **peak_memory(self.device),
        }


def _inner_account(
    looks: list[dict[str, Any]], n_inner: int, steps_per_epoch: int
) -> dict[str, Any]:
    """Return what a record says of the inner fold; the first look is before training."""
    losses = [look["inner_loss"] for look in looks]
    best = looks[int(np.argmin(losses))]
    return {
        "inner_examples": n_inner,
        "inner_losses": losses,
        "kept_epoch": best["step"] // steps_per_epoch,
    }

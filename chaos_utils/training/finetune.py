"""A whole run: data, fit, predictions, record."""

import json
import shutil
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_json
from chaos_utils.datasets.corpora import Corpus
from chaos_utils.datasets.splits import grouped_folds, item_groups
from chaos_utils.datasets.tasks import get_task
from chaos_utils.report import provenance
from chaos_utils.scoring.fitting import FittedMap
from chaos_utils.scoring.trained import DEV_FILE, RECORD_FILE, Run, find_run, read_run
from chaos_utils.training import loop
from chaos_utils.training.cache import (
    cached_weights,
    keep_weights,
    only_one,
    read_fitted,
    run_key,
    work_folder,
)
from chaos_utils.training.data import Data, load_data
from chaos_utils.training.devices import Device, choose_device, deciding_threads, placed, threads_of
from chaos_utils.training.encoders import (
    Encoder,
    check_length,
    find_encoder,
    load_model,
    load_start,
    load_tokenizer,
)
from chaos_utils.training.encoding import encode, plan_batches
from chaos_utils.training.inference import TOKEN_BUDGET, Say, predict_logits
from chaos_utils.training.judging import judge, spread
from chaos_utils.training.objectives import fit_head, fold_into_head, mean_loss
from chaos_utils.training.output import Outcome, write_run
from chaos_utils.training.recipes import Model
from chaos_utils.training.settings import Settings, complete, recorded_settings

Floats = npt.NDArray[np.float64]
_INNER_FOLDS = 8  # of the items that are trained on; one of them says when to stop
LOOKED_AT = 2000  # development items, where the settings do not limit them
Report = Callable[[str, int, int], None]


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


@dataclass(slots=True)
class _Workshop:
    """What the parts of a run share."""

    settings: Settings
    encoder: Encoder
    tokenizer: Any
    device: Device
    accelerator: Any
    data: Data
    work: Path
    report: Report
    say: Say
    checkpoint_seconds: float

    def probabilities(self, model: Any, corpus: Corpus, what: str, tokenizer: Any = None) -> Floats:
        return np.asarray(softmax(self.logits(model, corpus, what, tokenizer), axis=1))

    def logits(self, model: Any, corpus: Corpus, what: str, tokenizer: Any = None) -> Floats:
        encoded = encode(tokenizer or self.tokenizer, corpus, self.settings.max_length)
        done = 0

        def progress(more: int) -> None:
            nonlocal done
            done += more
            self.report(what, done, len(corpus))

        return predict_logits(model, encoded, self.device, progress=progress, say=self.say)


def finetune(
    settings: Settings,
    out: Path,
    *,
    device: str = "auto",
    checkpoint_seconds: float = 120,
    report: Report = lambda what, done, of: None,
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
    settings, model = complete(settings)
    with threads_of(settings.threads):
        return _finetune(settings, model, check_place(out), device, checkpoint_seconds, report, say)


def _finetune(
    settings: Settings,
    model: Model,
    out: Path,
    device: str,
    checkpoint_seconds: float,
    report: Report,
    say: Say,
) -> Run:
    started, code = datetime.now(UTC), provenance.code()
    where = choose_device(device, settings.precision)
    accelerator = _accelerator(where)
    where = where.taken_by(accelerator)
    settings = settings.model_copy(
        update={
            "precision": where.precision,
            "token_budget": settings.token_budget or TOKEN_BUDGET[where.kind],
            "threads": deciding_threads(where),
        }
    )
    data = load_data(settings)
    if settings.dev_examples:
        dev, tests = (spread(part, settings.dev_examples) for part in (data.dev, data.tests))
        data = replace(data, dev=dev, tests=tests)
    # Earlier runs' weights may have to be made first; they stand apart from this run's.
    start, teacher = (
        weights_of(name, settings, data, device, report, say) if name else None
        for name in (settings.init, settings.teacher)
    )
    encoder = find_encoder(model, settings.revision)
    settings = settings.model_copy(update={"revision": encoder.revision})
    key = run_key(settings, encoder.origin, (data.train, data.dev), start, teacher)
    work, tokenizer = work_folder(key), load_tokenizer(encoder.folder)
    check_length(tokenizer, settings.max_length)
    shop = _Workshop(
        settings, encoder, tokenizer, where, accelerator, data, work, report, say,
        checkpoint_seconds,
    )  # fmt: skip
    with only_one(key, say) if accelerator.is_main_process else nullcontext():
        accelerator.wait_for_everyone()
        if teacher:
            shop.data = _taught(shop, teacher)
        own = settings.train == "chaosnli"
        outcome = _fold_by_fold(shop, start) if own else _whole(shop, start)
        accelerator.wait_for_everyone()
        if accelerator.is_main_process:
            write_run(out, settings, encoder, data, outcome, where, key, started, code)
            shutil.rmtree(work)
        accelerator.wait_for_everyone()
    return read_run(out)


def _accelerator(device: Device) -> Any:
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
    return (
        paths.runs() / f"{settings.model.replace('/', '-').lstrip('.~-')}-{settings.task}-{digest}"
    )


def weights_of(
    name: str, settings: Settings, data: Data, device: str, report: Report, say: Say
) -> Path:
    """Return the weights of an earlier run, which are trained again if they are not cached.

    `settings` and `data` are of the run that is to be made with them.
    """
    run = find_run(name)
    earlier = recorded_settings(run.record)
    synthetic = any(one.source.synthetic for one in data.votes)
    if earlier.train == "chaosnli":
        problem = "This run has a model for each fold, which are not kept."
        found, expected = run.name, "a run on the corpora"
    elif earlier.task != settings.task:
        problem, found, expected = "This run is of another task.", earlier.task, settings.task
    elif run.record.synthetic and not synthetic:
        problem = "This run learnt from the synthetic sample."
        found, expected = run.name, "a run on real data, as this one is"
    elif name == settings.init and earlier.model != settings.model:
        problem = "This run is of another encoder."
        found, expected = earlier.model, settings.model
    else:
        return _found_or_made(run, earlier, device, report, say)
    raise ChaosError(problem, where=run.folder, found=found, expected=expected)


def _found_or_made(run: Run, earlier: Settings, device: str, report: Report, say: Say) -> Path:
    folder = cached_weights(run.record.weights)
    if folder is not None:
        return folder
    say(f"the weights of {run.name} are not cached: training them first")
    rebuilt = paths.cache() / "rebuilt" / run.record.weights
    made = finetune(earlier, rebuilt, device=device, report=report, say=say)
    # Its other predictions also hold its name, which depends on the runs beside it.
    if made.record.outputs[DEV_FILE] != run.record.outputs.get(DEV_FILE):
        say(f"the weights of {run.name} were trained again, and predict slightly differently: "
            "another version of the code or of its libraries, or other hardware")  # fmt: skip
    folder = cached_weights(made.record.weights)
    assert folder is not None  # just made
    return folder


def _taught(shop: _Workshop, folder: Path) -> Data:
    """Replace the targets by the probabilities of a teacher, whose weights stand in a folder."""
    model, tokenizer = load_model(folder, n_outputs(shop.settings)), load_tokenizer(folder)
    model = placed(model, shop.device)
    shares = shop.probabilities(model, shop.data.train, "asking the teacher", tokenizer)
    return replace(shop.data, train=replace(shop.data.train, targets=shares))


def n_outputs(settings: Settings) -> int:
    """Return how many logits a sequence has: one for a story of αNLI."""
    return 1 if get_task(settings.task).kind == "stories" else 3


def _whole(shop: _Workshop, start: Path | None) -> Outcome:
    """Train on the corpora, once, unless that was done, and predict."""
    settings, data, is_main = shop.settings, shop.data, shop.accelerator.is_main_process
    folder = cached_weights(shop.work.name)
    if folder is not None:
        shop.say("these weights were trained before: predicting with them")
        model = placed(load_model(folder, n_outputs(settings)), shop.device)
    else:
        model, fitted = _fit(shop, data.train, shop.work, start)
        if is_main:
            folder = keep_weights(shop.work.name, model, shop.tokenizer, fitted)
    if folder is None or not is_main:
        return Outcome.nothing()
    return Outcome(
        shop.probabilities(model, data.chaosnli, "predicting ChaosNLI"),
        shop.probabilities(model, data.dev, "predicting dev"),
        shop.probabilities(model, data.tests, "predicting test") if len(data.tests) else None,
        [read_fitted(folder)],
    )


def _fold_by_fold(shop: _Workshop, start: Path | None) -> Outcome:
    """Train on ChaosNLI's other folds for each fold, and predict that one.

    Items with the same premise, story or image are in one fold. With patience, an inner fold of
    the training items is held out from training, and says when to stop.
    """
    settings, data = shop.settings, shop.data
    groups = np.concatenate(item_groups(data.votes))
    folds = grouped_folds(groups, settings.n_folds, settings.seed)
    shares = np.zeros_like(data.chaosnli.targets)
    dev = np.zeros_like(data.dev.targets)
    fits = []
    for fold in range(settings.n_folds):
        shop.say(f"fold {fold + 1} of {settings.n_folds}")
        held = np.flatnonzero(folds == fold)
        kept = shop.work / f"fold-{fold}.json"
        if not kept.is_file():
            others, inner = np.flatnonzero(folds != fold), None
            if settings.patience:
                n_inner = min(_INNER_FOLDS, len(np.unique(groups[others])))
                inside = grouped_folds(groups[others], n_inner, settings.seed)
                others, inner = others[inside != 0], data.train.take(others[inside == 0])
            train = data.train.take(others)
            model, fitted = _fit(shop, train, shop.work / f"fold-{fold}", start, inner)
            if not shop.accelerator.is_main_process:
                continue
            answers = {
                "fitted": fitted,
                "held": shop.probabilities(model, data.chaosnli.take(held), "predicting").tolist(),
                "dev": shop.probabilities(model, data.dev, "predicting dev").tolist(),
            }
            write_json(kept, answers)
            shutil.rmtree(shop.work / f"fold-{fold}", ignore_errors=True)
        found = json.loads(kept.read_text("utf-8"))
        shares[held] = found["held"]
        dev += np.array(found["dev"]) / settings.n_folds  # the mean of the folds' models
        fits.append(found["fitted"])
    return Outcome(shares, dev, None, fits)


def _fit(
    shop: _Workshop, train: Corpus, work: Path, start: Path | None, inner: Corpus | None = None
) -> tuple[Any, dict[str, Any]]:
    """Train one model, and return it with an account of its training.

    It is looked at on development items, or on `inner` items, by what it minimises.
    """
    import torch

    settings = shop.settings
    work.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(settings.seed)  # decides the new head
    k = n_outputs(settings)
    model = load_model(start, k) if start else load_start(shop.encoder, k, shop.say)
    encoded = encode(shop.tokenizer, train, settings.max_length)
    plan = plan_batches(encoded.lengths, settings.batch_size, settings.epochs, settings.seed)
    targets, steps_per_epoch = train.targets, len(plan) // settings.epochs
    if settings.label_smoothing:
        uniform = 1 / targets.shape[1]
        targets = (1 - settings.label_smoothing) * targets + settings.label_smoothing * uniform
    if settings.head == "affine":
        fold_into_head(model, _fitted_head(shop, model, train, targets))
    job = loop.Job(
        encoded, targets, plan, steps_per_epoch, settings.learning_rate,
        settings.weight_decay, settings.warmup_ratio, settings.seed, settings.patience,
        bool(inner), settings.loss,
    )  # fmt: skip
    few = spread(shop.data.dev, settings.dev_examples or LOOKED_AT)

    def evaluate(model: Any, step: int) -> dict[str, Any]:
        if inner:
            logits = shop.logits(model, inner, "looking at the inner fold")
            return {"inner_loss": round(mean_loss(logits, inner.targets, settings.loss), 6)}
        return judge(shop.probabilities(model, few, "looking at dev"), few)["all"]

    state = loop.fit(
        model,
        job,
        shop.device,
        work,
        evaluate=evaluate,
        accelerator=shop.accelerator,
        checkpoint_seconds=shop.checkpoint_seconds,
        token_budget=settings.token_budget,
        progress=lambda state: shop.report("training", state.step, len(plan)),
        say=shop.say,
    )
    return model, {
        "steps": state.step,
        "planned_steps": len(plan),
        "train_examples": len(train),
        "longest_sequences": encoded.n_full,
        "token_budget": state.token_budget,  # smaller than in the settings if memory ran out
        "curve": state.curve,
        "looks": [] if inner else state.looks,
        **(_inner_account(state.looks, len(inner), steps_per_epoch) if inner else {}),
        "pairs": state.pairs,
        "tokens": state.tokens,
        "padded_tokens": state.padded_tokens,  # this process's, as are its CPU seconds
        "seconds": round(state.seconds, 1),  # in steps, of all the calls that the run took
        "cpu_seconds": round(state.cpu_seconds, 1),
        "pairs_per_second": round(state.pairs / max(state.seconds, 1e-9), 1),
        "calls": len(state.calls),
        "devices": list(dict.fromkeys(state.calls)),
        "processes": shop.accelerator.num_processes,
        "parameters": sum(p.numel() for p in model.parameters()),
    }


def _fitted_head(shop: _Workshop, model: Any, train: Corpus, targets: Floats) -> FittedMap:
    """Return the map that brings a model's logits on its training items closest to the targets."""
    logits = shop.logits(placed(model, shop.device), train, "fitting the head")
    return fit_head(logits, targets, shop.settings.loss, n_outputs(shop.settings))


def _inner_account(
    looks: list[dict[str, Any]], n_inner: int, steps_per_epoch: int
) -> dict[str, Any]:
    """Return what a record says of the inner fold; the first look is before training."""
    losses = [look["inner_loss"] for look in looks]
    kept = looks[int(np.argmin(losses))]
    return {
        "inner_examples": n_inner,
        "inner_losses": losses,
        "kept_epoch": kept["step"] // steps_per_epoch,
    }

"""A whole run: data, fit, predictions, record."""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils import inputs, paths
from chaos_utils.data import corpora, splits
from chaos_utils.data.corpora import Corpus
from chaos_utils.data.opinions import Opinions
from chaos_utils.data.results import Run, find_run
from chaos_utils.errors import ChaosError
from chaos_utils.files import fresh_folder, write_json
from chaos_utils.report import provenance
from chaos_utils.training import loop
from chaos_utils.training.costs import cost_of
from chaos_utils.training.devices import Device, choose_device
from chaos_utils.training.encoders import (
    WEIGHTS,
    Encoder,
    check_weights,
    find_encoder,
    load_model,
    load_tokenizer,
)
from chaos_utils.training.encoding import Encoded, encode, plan_batches
from chaos_utils.training.inference import Say, predict
from chaos_utils.training.judging import judge, spread
from chaos_utils.training.output import Outcome, write_run
from chaos_utils.training.settings import Settings, complete, read_settings

Floats = npt.NDArray[np.float64]
_HELD_OUT = 0.05  # of αNLI's training stories: its development set is ChaosNLI-α
_HELD_OUT_SEED = 0  # one for all runs, so that they are chosen on the same stories
_FIRST_LOOK = 128  # items after which a trajectory begins
Report = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Data:
    """What a run reads.

    Attributes
    ----------
    train, dev, chaosnli : Corpus
        What is trained on, chosen on and predicted; they share no premise or story.
    tests : Corpus
        Test items, on which nothing is chosen; may be empty.
    opinions : list of Opinions
        Behind `chaosnli`.
    """

    train: Corpus
    dev: Corpus
    tests: Corpus
    chaosnli: Corpus
    opinions: list[Opinions]


def load_data(settings: Settings) -> Data:
    """Read and check everything that a run needs, before anything is computed.

    Raises
    ------
    ChaosError
        If a file is missing or faulty, the training set is not so large, or a training item's
        premise or story occurs in ChaosNLI.
    """
    task, data = settings.task, settings.data
    chaosnli, opinions = corpora.load_chaosnli(task, data)
    train = corpora.load_corpus(task, "train", data)
    dev = splits.without(corpora.load_corpus(task, "dev", data), chaosnli)
    tests = corpora.load_corpus(task, "test", data)
    if not len(dev):
        train, dev = splits.hold_out(train, _HELD_OUT, _HELD_OUT_SEED)
    if settings.train == "chaosnli":
        train = chaosnli
        if settings.loss == "hard":
            majority = np.concatenate([one.majority for one in opinions])
            train = replace(train, targets=np.eye(chaosnli.targets.shape[1])[majority])
    else:
        splits.refuse_contamination(train, chaosnli)
        if settings.max_train_examples:
            train = splits.subset(train, settings.max_train_examples, settings.seed)
    return Data(train, dev, tests, chaosnli, opinions)


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
    token_budget: int

    def encoded(self, corpus: Corpus) -> Encoded:
        return encode(self.tokenizer, corpus, self.settings.max_length)

    def probabilities(self, model: Any, corpus: Corpus, what: str) -> Floats:
        done = 0

        def progress(more: int) -> None:
            nonlocal done
            done += more
            self.report(what, done, len(corpus))

        return predict(model, self.encoded(corpus), self.device, progress=progress, say=self.say)


def finetune(
    settings: Settings,
    out: Path,
    *,
    device: str = "auto",
    checkpoint_seconds: float = 120,
    token_budget: int = 0,
    report: Report = lambda what, done, of: None,
    say: Say = lambda text: None,
) -> Run:
    """Fine-tune an encoder and predict ChaosNLI's items with it.

    Can be killed and called again: it goes on from its last checkpoint, and what it writes is
    the same. Trained weights are kept in the cache, so that later runs can start from them.

    Parameters
    ----------
    settings : Settings
    out : Path
        The run's folder, which appears whole or not at all: predictions on ChaosNLI and on
        the development items, the record, and the trajectory where one was asked for.
    device : {'auto', 'cpu', 'cuda'}
    checkpoint_seconds : float
        Least time between two checkpoints.
    token_budget : int
        Padded tokens at once; 0 for a default of the device.
    report : callable
        Is told what is being done, how much of it is done, and of how much.
    say : callable
        Is told what a reader must know.

    Returns
    -------
    Run
        What was written.

    Raises
    ------
    ChaosError
        If settings, data, encoder or hardware are not as they must be.
    """
    started, code = datetime.now(UTC), provenance.code()
    settings, model = complete(settings)
    where = choose_device(device, settings.precision)
    settings = replace(settings, precision=where.precision)
    data = load_data(settings)
    # An earlier run's weights may have to be made first; they stand apart from this run's.
    start = weights_of(settings.init, device, report, say) if settings.init else None
    data = _taught(settings, data, device, report, say)
    encoder = find_encoder(model, settings.revision)
    accelerator = _accelerator(where)
    key = run_key(settings, encoder, data)
    work = paths.cache() / "training" / key
    work.mkdir(parents=True, exist_ok=True)
    shop = _Workshop(
        settings, encoder, load_tokenizer(encoder.folder), where, accelerator, data, work,
        report, say, checkpoint_seconds, token_budget,
    )  # fmt: skip
    outcome = _fold_by_fold(shop, start) if settings.train == "chaosnli" else _whole(shop, start)
    accelerator.wait_for_everyone()
    if accelerator.is_main_process:
        write_run(out, settings, encoder, data, outcome, where, key, started, code)
        shutil.rmtree(work)
    accelerator.wait_for_everyone()
    return find_run(str(out))


def _accelerator(device: Device) -> Any:
    from accelerate import Accelerator
    from accelerate.utils import DistributedDataParallelKwargs

    # XLNet has weights that a classifier does not use.
    spare = DistributedDataParallelKwargs(find_unused_parameters=True)
    return Accelerator(cpu=device.kind == "cpu", kwargs_handlers=[spare])


def run_key(settings: Settings, encoder: Encoder, data: Data) -> str:
    """Return sixteen hexadecimal digits that stand for settings, encoder and data."""
    decided = asdict(settings)
    del decided["data"]  # where the files stand
    digest = hashlib.sha256(json.dumps([decided, encoder.origin], sort_keys=True).encode())
    for corpus in (data.train, data.dev):
        digest.update(json.dumps([corpus.uids, corpus.texts]).encode())
        digest.update(corpus.targets.tobytes())
    return digest.hexdigest()[:16]


def default_folder(settings: Settings) -> Path:
    """Return where a run goes when no folder was named: one for each set of settings."""
    text = json.dumps(asdict(complete(settings)[0]), sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return paths.runs() / f"{settings.model.replace('/', '-')}-{settings.task}-{digest}"


def weights_folder(key: str) -> Path:
    """Return where a finished run's weights are kept."""
    return paths.cache() / "weights" / key


def weights_of(name: str, device: str, report: Report, say: Say) -> Path:
    """Return the weights of an earlier run, which is made again if they are not cached."""
    run = find_run(name)
    folder = weights_folder(run.record["weights"])
    if not (folder / WEIGHTS).is_file():
        say(f"the weights of {run.name} are not cached: training them first")
        rebuilt = paths.cache() / "rebuilt" / run.name
        made = finetune(read_settings(run.settings), rebuilt, device=device, report=report, say=say)
        folder = weights_folder(made.record["weights"])
    check_weights(folder / WEIGHTS, json.loads((folder / "sha256.json").read_text("utf-8")))
    return folder


def _taught(settings: Settings, data: Data, device: str, report: Report, say: Say) -> Data:
    """Replace the targets by a teacher's probabilities, where there is a teacher."""
    if not settings.teacher:
        return data
    run = find_run(settings.teacher)
    if run.settings["task"] != settings.task:
        raise ChaosError(
            "The teacher was trained on another task.",
            found=run.settings["task"],
            expected=settings.task,
        )
    folder = weights_of(settings.teacher, device, report, say)
    where = choose_device(device, settings.precision)
    model, tokenizer = load_model(folder, n_outputs(settings)), load_tokenizer(folder)
    encoded = encode(tokenizer, data.train, settings.max_length)
    shares = predict(model.to(where.name), encoded, where, say=say)
    return replace(data, train=replace(data.train, targets=shares))


def n_outputs(settings: Settings) -> int:
    """Return how many logits a sequence has: one for a story of αNLI."""
    return 1 if settings.task == "alphanli" else 3


def _whole(shop: _Workshop, start: Path | None) -> Outcome:
    """Train on the corpora, once, unless that was done, and predict."""
    settings, folder = shop.settings, weights_folder(shop.work.name)
    done = folder / "outcome.json"
    if done.is_file():
        shop.say("these weights were trained before: predicting with them")
        model = load_model(folder, n_outputs(settings)).to(shop.device.name)
        fitted = json.loads(done.read_text("utf-8"))
    else:
        model, fitted = _fit(shop, shop.data.train, shop.work, start)
        if shop.accelerator.is_main_process:
            _keep(model, shop.tokenizer, fitted, folder)
    data = shop.data
    if not shop.accelerator.is_main_process:
        return Outcome.nothing()
    return Outcome(
        shop.probabilities(model, data.chaosnli, "predicting ChaosNLI"),
        shop.probabilities(model, data.dev, "predicting dev"),
        shop.probabilities(model, data.tests, "predicting test") if len(data.tests) else None,
        [fitted],
        _trajectory(shop.work),
    )


def _keep(model: Any, tokenizer: Any, fitted: dict[str, Any], folder: Path) -> None:
    with fresh_folder(folder) as new:
        model.save_pretrained(new, safe_serialization=True)
        tokenizer.save_pretrained(new)
        write_json(new / "sha256.json", inputs.digest(new / WEIGHTS))
        write_json(new / "outcome.json", fitted)


def _fold_by_fold(shop: _Workshop, start: Path | None) -> Outcome:
    """Train on ChaosNLI's other folds for each fold, and predict that one."""
    settings, data = shop.settings, shop.data
    folds = splits.group_folds(data.chaosnli, settings.n_folds, settings.seed)
    shares = np.zeros_like(data.chaosnli.targets)
    dev = np.zeros_like(data.dev.targets)
    fits = []
    for fold in range(settings.n_folds):
        shop.say(f"fold {fold + 1} of {settings.n_folds}")
        held = np.flatnonzero(folds == fold)
        kept = shop.work / f"fold-{fold}.json"
        if not kept.is_file():
            train = data.train.take(np.flatnonzero(folds != fold))
            model, fitted = _fit(shop, train, shop.work / f"fold-{fold}", start)
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
    return Outcome(shares, dev, None, fits, {})


def _fit(
    shop: _Workshop, train: Corpus, work: Path, start: Path | None
) -> tuple[Any, dict[str, Any]]:
    """Train one model, and return it with what is to be told of its training."""
    import torch

    settings = shop.settings
    work.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(settings.seed)  # decides the new head
    model = load_model(start or shop.encoder.folder, n_outputs(settings))
    encoded = shop.encoded(train)
    plan = plan_batches(encoded.lengths, settings.batch_size, settings.epochs, settings.seed)
    targets = train.targets
    if settings.label_smoothing:
        uniform = 1 / targets.shape[1]
        targets = (1 - settings.label_smoothing) * targets + settings.label_smoothing * uniform
    looks = look_steps(len(plan), settings.batch_size, settings.trajectory)
    job = loop.Job(
        encoded, targets, plan, len(plan) // settings.epochs, settings.learning_rate,
        settings.weight_decay, settings.warmup_ratio, settings.seed, settings.patience, looks,
    )  # fmt: skip
    few = spread(shop.data.dev, settings.dev_examples)

    def evaluate(model: Any, step: int) -> dict[str, Any]:
        if step in looks:
            shares = shop.probabilities(model, shop.data.chaosnli, "predicting ChaosNLI")
            write_json(work / f"look-{step}.json", shares.tolist())
        return judge(shop.probabilities(model, few, "looking at dev"), few)["all"]

    state = loop.fit(
        model,
        job,
        shop.device,
        work,
        evaluate=evaluate,
        accelerator=shop.accelerator,
        checkpoint_seconds=shop.checkpoint_seconds,
        token_budget=shop.token_budget,
        progress=lambda state: shop.report("training", state.step, len(plan)),
        say=shop.say,
    )
    return model, {
        "steps": state.step,
        "planned_steps": len(plan),
        "train_examples": len(train),
        "longest_sequences": encoded.n_full,
        "curve": state.curve,
        "looks": state.looks,
        **cost_of(model, state, shop.device, shop.accelerator.num_processes),
    }


def look_steps(n_steps: int, batch_size: int, n_looks: int) -> frozenset[int]:
    """Return the log-spaced steps of a trajectory, the last step among them."""
    if not n_looks:
        return frozenset()
    first = min(n_steps, max(1, _FIRST_LOOK // batch_size))
    return frozenset(int(step) for step in np.geomspace(first, n_steps, n_looks).round())


def _trajectory(work: Path) -> dict[int, Floats]:
    """Return ChaosNLI's probabilities by step."""
    return {
        int(path.stem.removeprefix("look-")): np.array(json.loads(path.read_text("utf-8")))
        for path in work.glob("look-*.json")
    }

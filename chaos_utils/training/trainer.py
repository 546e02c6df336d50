"""The optimisation itself, which is that of transformers: `Trainer`, with accelerate beneath it.

What is ours here is what a step learns from (distributions over labels), which items stand in it,
when a checkpoint is written, and what is said of it all. This module imports PyTorch.
"""

import errno
import json
import math
import os
import resource
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.distributed
from accelerate.utils import broadcast_object_list, set_seed
from transformers.utils.import_utils import is_datasets_available

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_json
from chaos_utils.base.inputs import digest
from chaos_utils.training import devices
from chaos_utils.training.devices import Device, is_out_of_memory
from chaos_utils.training.encoding import BatchPlan, EncodedItems, Integers, micro_batch_size
from chaos_utils.training.inference import no_memory
from chaos_utils.training.objectives import summed_loss
from chaos_utils.training.progress import Report, Say, silent
from chaos_utils.training.settings import Settings
from chaos_utils.training.trainer_settings import launch_environment, trainer_values

if (_found := find_spec("datasets")) is not None and _found.origin is None:
    # A folder of this name on the path is no package, which transformers takes it for.
    sys.modules["datasets"] = None  # type: ignore[assignment]
    is_datasets_available.cache_clear()
    is_datasets_available()
    del sys.modules["datasets"]

from transformers import (
    EarlyStoppingCallback,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

_CURVE_POINTS = 100
_COST_SHARE = 20  # a checkpoint is written after at least so many times what one has taken
_ACCOUNT_FILE = "account.json"  # marks a checkpoint that is whole
_POSITION_FILE = "position.json"  # how far a call has come
_DAY = 24 * 3600


@dataclass(frozen=True, slots=True)
class Job:
    """One fit: what is trained on what, how, where, and who is told.

    Of the settings those count that decide the steps. Rows of `targets` sum to 1. `looks_at` are
    the items that the model is evaluated on at the ends of epochs, with their targets, and before
    the first one where `looks_first`; `scores` turns their logits, in their order, into a flat
    dict with ``inner_loss`` (lower is better) or ``accuracy``. `work` keeps the checkpoints, of
    which two are at least `checkpoint_seconds` apart, and which the caller removes when all is
    done. `report` and `say` are called in the main process alone.
    """

    settings: Settings
    encoded: EncodedItems
    targets: npt.NDArray[np.float64]
    looks_at: EncodedItems
    look_targets: npt.NDArray[np.float64]
    scores: Callable[[npt.NDArray[np.float64]], dict[str, Any]]
    device: Device
    work: Path
    metric: str = "accuracy"
    looks_first: bool = False
    checkpoint_seconds: float = 120
    report: Report = silent
    say: Say = lambda text: None

    @property
    def plan(self) -> BatchPlan:
        """Which items stand in each step."""
        settings = self.settings
        return BatchPlan(self.encoded.lengths, settings.batch_size, settings.seed)

    @property
    def n_steps(self) -> int:
        """How many steps there are at most."""
        return self.plan.steps_per_epoch * self.settings.epochs


@dataclass(slots=True)
class Account:
    """What a fit has cost and seen, over all the calls that it took; a checkpoint keeps it.

    `seconds` and `cpu_seconds` were spent in steps, the latter by this process. `calls` are the
    device of the first call and of each that resumed, `curve` the mean training loss since the
    entry before, in nats, and `looks` what the evaluations returned, by step. `ended` says that no
    step is left.
    """

    steps: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    calls: list[str] = field(default_factory=list)
    curve: list[dict[str, Any]] = field(default_factory=list)
    looks: list[dict[str, Any]] = field(default_factory=list)
    ended: bool = False
    processes: int = 1
    accumulation: int = 1
    attention: str = ""
    deterministic: str = "yes"


def processes_of(device: Device) -> Any:
    """Return accelerate's state of the processes that share this training; one alone has one too.

    It begins anew with each call: the device of an earlier training in this process is forgotten.
    """
    _join_processes(device)
    arguments = TrainingArguments(
        "unused", use_cpu=device.kind == "cpu", ddp_timeout=_DAY, report_to="none"
    )
    return arguments.distributed_state


def _join_processes(device: Device) -> None:
    """Join the processes that compute on CPUs, with time for one to predict while others wait."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or device.on_gpu:
        return
    # Else accelerate decides how many threads there are.
    os.environ.setdefault("OMP_NUM_THREADS", str(torch.get_num_threads()))
    if not torch.distributed.is_initialized():
        torch.distributed.init_process_group("gloo", timeout=timedelta(seconds=_DAY))


def arguments_for(job: Job, accumulation: int) -> TrainingArguments:
    """Return what `Trainer` is told: what the settings decide, and what they pass through."""
    settings, device = job.settings, job.device
    patient = settings.patience > 0
    processes = processes_of(device).num_processes
    at_once = micro_batch_size(settings.batch_size, processes, accumulation)
    decided = {
        "output_dir": str(job.work),
        "seed": settings.seed,
        "num_train_epochs": settings.epochs,
        "per_device_train_batch_size": at_once,
        "gradient_accumulation_steps": accumulation,
        "learning_rate": settings.learning_rate,
        "weight_decay": settings.weight_decay,
        "warmup_steps": math.ceil(settings.warmup_ratio * job.n_steps),
        "bf16": device.precision == "bf16",
        "fp16": device.precision == "fp16",
        "use_cpu": device.kind == "cpu",
        "eval_strategy": "epoch" if len(job.looks_at) else "no",
        "save_strategy": "epoch" if patient else "no",
        "load_best_model_at_end": patient,
        "metric_for_best_model": job.metric if patient else None,
        "greater_is_better": job.metric == "accuracy" if patient else None,
        "restore_callback_states_from_checkpoint": True,
        "logging_steps": max(1, job.n_steps // _CURVE_POINTS),
        "logging_nan_inf_filter": False,
        "ddp_find_unused_parameters": False,
        "ddp_timeout": _DAY,
        "remove_unused_columns": False,
        "label_names": ["labels"],
        "disable_tqdm": True,
        "dataloader_pin_memory": device.kind == "cuda",
    }
    if device.kind == "cuda":
        decided["tf32"] = False
    # What fits with its gradients fits without.
    usual = {"per_device_eval_batch_size": at_once, "report_to": "none"}
    given = {**usual, **trainer_values(settings.trainer)}
    given.pop("gradient_accumulation_steps", None)
    try:
        arguments = TrainingArguments(**{**given, **decided})
    except (ValueError, TypeError, ImportError, RuntimeError) as fault:
        raise ChaosError(
            "The trainer's arguments cannot be used.",
            where=f"trainer={settings.trainer!r}",
            found=" ".join(str(fault).split())[:200],
            expected="values that transformers.TrainingArguments takes",
        ) from fault
    # One process computes on one GPU, and others on theirs: never DataParallel.
    arguments._n_gpu = min(arguments.n_gpu, 1)
    return arguments


class _Positions(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """Items by their position: what stands in a batch is looked up when it is put together."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, position: int) -> int:
        return position


class _Collator:
    """Puts a batch together from positions; those below 0 are fillers, whose targets are nil."""

    def __init__(
        self, encoded: EncodedItems, targets: npt.NDArray[np.float64], multiple: int
    ) -> None:
        self.encoded, self.multiple = encoded, multiple
        self.targets = targets.astype(np.float32)

    def __call__(self, positions: list[int]) -> dict[str, Any]:
        places = np.array(positions, dtype=np.int64)
        items = np.where(places < 0, ~places, places)
        batch = self.encoded.batch(items, self.multiple)
        targets = self.targets[items] * (places >= 0)[:, np.newaxis]
        # One row for each item, also where it has two sequences.
        shaped = {name: one.unflatten(0, (len(items), -1)) for name, one in batch.items()}
        return {**shaped, "labels": torch.from_numpy(targets)}


class _PlanSampler(torch.utils.data.Sampler[int]):
    """The items of an epoch in the order of the plan; `epoch_number` says which epoch it is."""

    def __init__(self, plan: BatchPlan, epoch_number: Callable[[], int]) -> None:
        self.plan, self.epoch_number = plan, epoch_number

    def __len__(self) -> int:
        return self.plan.batch_size * self.plan.steps_per_epoch

    def __iter__(self) -> Any:
        return iter(self.plan.epoch(self.epoch_number()).ravel().tolist())


class VotesTrainer(Trainer):
    """A `Trainer` whose targets are distributions, and whose batches are those of the job's plan.

    The loss of a step is the mean over its items, however they are shared out.
    """

    loss_is_scaled_for_ga = True

    def __init__(self, job: Job, model: Any, arguments: TrainingArguments, watch: "_Watch") -> None:
        multiple = 8 if job.device.kind == "cuda" else 1
        order = np.argsort(-job.looks_at.lengths, kind="stable")  # longest first, little padding
        self._of_looks = _Collator(job.looks_at, job.look_targets, multiple)
        self._order, self._job = order, job
        stopping = [EarlyStoppingCallback(job.settings.patience)] if job.settings.patience else []
        super().__init__(
            model,
            arguments,
            data_collator=_Collator(job.encoded, job.targets, multiple),
            train_dataset=_Positions(len(job.encoded)),
            eval_dataset=order.tolist(),
            compute_metrics=self._scores,
            callbacks=[*stopping, watch],
        )
        self.remove_callback(PrinterCallback)
        self.model_accepts_loss_kwargs = False  # the number of items is counted here
        self._plan, self._epoch = job.plan, (-1, np.empty((0, 0), dtype=np.int64))

    def _scores(self, answered: Any) -> dict[str, Any]:
        logits = np.empty(answered.predictions.shape)
        logits[self._order] = answered.predictions
        return self._job.scores(logits)

    def _epoch_plan(self, number: int) -> Integers:
        if self._epoch[0] != number:
            self._epoch = (number, self._plan.epoch(number))
        return self._epoch[1]

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        steps = self._plan.steps_per_epoch
        return _PlanSampler(self._plan, lambda: self.state.global_step // steps)

    def get_eval_dataloader(self, eval_dataset: Any = None) -> Any:
        """Return batches of the items that are looked at, which have a collator of their own."""
        mine, self.data_collator = self.data_collator, self._of_looks
        try:
            return super().get_eval_dataloader(eval_dataset)
        finally:
            self.data_collator = mine

    def get_batch_samples(self, epoch_iterator: Any, num_batches: int, device: Any) -> Any:
        """Return the batches of a step, and how many items it has over all processes."""
        batches, _ = super().get_batch_samples(epoch_iterator, num_batches, device)
        epoch, step = divmod(self.state.global_step, self._plan.steps_per_epoch)
        return batches, int((self._epoch_plan(epoch)[step] >= 0).sum())

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """Return the loss of a batch, and its logits too where they are asked for.

        Gradients are averaged over processes, and a step's items are counted over all of them.
        """
        labels = inputs["labels"]
        given = {name: one.flatten(0, 1) for name, one in inputs.items() if name != "labels"}
        logits = model(**given).logits.float().reshape(len(labels), -1)
        loss = summed_loss(logits, labels, self._job.settings.loss)
        if num_items_in_batch is None:
            loss = loss / len(labels)
        else:
            loss = loss * self.accelerator.num_processes / num_items_in_batch
        return (loss, {"logits": logits}) if return_outputs else loss


class _Watch(TrainerCallback):
    """Watches a fit: counts its cost, says how it goes, and asks for checkpoints that are due."""

    def __init__(self, job: Job, account: Account) -> None:
        self.job, self.account, self.plan = job, account, job.plan
        self.trainer: Any = None
        self.mark, self.used = time.monotonic(), time.process_time()
        self.saved = self.began = time.monotonic()
        self.first_step, self.ask_at, self.cost = 0, 0, 0.0
        self.note = ""

    @property
    def is_main(self) -> bool:
        """Whether this process speaks for all."""
        return bool(self.trainer.is_world_process_zero())

    def _resume_clock(self) -> None:
        self.mark, self.used = time.monotonic(), time.process_time()

    def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Look before the first step, where that is asked for: it may stay the best."""
        self.first_step = self.ask_at = state.global_step
        if self.job.looks_first and not state.global_step:
            metrics = self.trainer.evaluate()
            state.best_metric = metrics[f"eval_{self.job.metric}"]
            state.best_global_step = 0
            start = self.job.work / "start"
            self.trainer.save_model(str(start))
            state.best_model_checkpoint = str(start)
        self.began = self.saved = time.monotonic()
        self._resume_clock()

    def on_step_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Report the steps that are done, whose checkpoints are written by now."""
        self._report(state)

    def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Count what the step took."""
        account = self.account
        account.seconds += time.monotonic() - self.mark
        account.cpu_seconds += time.process_time() - self.used
        account.steps = state.global_step
        self._resume_clock()
        # At the end of an epoch the evaluation comes first.
        if state.global_step % self.plan.steps_per_epoch:
            control.should_save = self._is_due(state.global_step)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Ask for a checkpoint after the evaluation."""
        control.should_save = control.should_save or self._is_due(state.global_step)

    def _is_due(self, step: int) -> bool:
        """Whether a checkpoint is due; all processes agree, and seldom have to ask."""
        if step < self.ask_at:
            return False
        waited = time.monotonic() - self.saved
        spaced = max(self.job.checkpoint_seconds, _COST_SHARE * self.cost)
        rest = spaced - waited if self.job.checkpoint_seconds else 0.0
        each = (time.monotonic() - self.began) / max(1, step - self.first_step)
        later = step + max(1, min(1000, int(rest / max(each, 1e-9) / 2)))
        answer = [rest <= 0, step + 1 if rest <= 0 else later]
        if self.account.processes > 1:
            answer = broadcast_object_list(answer)
        self.ask_at = answer[1]
        return bool(answer[0])

    def on_save(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Mark a checkpoint as whole, and remove older ones but the best."""
        self.account.ended = control.should_training_stop
        folder = self.job.work / f"checkpoint-{state.global_step}"
        self.trainer.accelerator.wait_for_everyone()
        if self.is_main:
            _mark_whole(folder, self.account)
            kept = {folder.name, Path(state.best_model_checkpoint or folder).name}
            for old in self.job.work.glob("checkpoint-*"):
                if old.name not in kept:
                    shutil.rmtree(old, ignore_errors=True)
        self.cost = time.monotonic() - self.mark
        self.saved = time.monotonic()
        self._resume_clock()

    def on_evaluate(
        self, args: Any, state: Any, control: Any, metrics: Any = None, **more: Any
    ) -> None:
        """Note what an evaluation has found, and say it."""
        found = {k.removeprefix("eval_"): v for k, v in (metrics or {}).items()}
        kept = {k: v for k, v in found.items() if k in ("n", "accuracy", "loss", "inner_loss")}
        if self.job.metric == "inner_loss":
            kept = {"inner_loss": kept["inner_loss"]}
        pairs = self.plan.seen(state.global_step)
        self.account.looks.append({"step": state.global_step, "pairs": pairs, **kept})
        if self.is_main:
            epoch = math.ceil(state.global_step / self.plan.steps_per_epoch)
            epochs = self.job.settings.epochs
            self.job.say(f"after epoch {epoch} of {epochs}: {_score_in_words(kept)}")
        self._resume_clock()

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **more: Any) -> None:
        """Extend the curve; a loss that is no number ends the fit."""
        if "loss" not in (logs or {}):
            return
        loss, rate = logs["loss"], float(logs["learning_rate"])
        before = self.account.curve[-1]["step"] if self.account.curve else 0
        if not math.isfinite(loss):
            raise ChaosError(
                "The training diverged: the loss is not finite.",
                where=f"steps {before + 1} to {state.global_step} of {state.max_steps}",
                found=f"loss {loss} at learning rate {rate:.2g}",
                todo="take a smaller learning rate"
                + ("" if self.job.device.precision == "fp32" else ", or precision=fp32"),
            )
        pairs = self.plan.seen(state.global_step)
        self.account.curve.append({"step": state.global_step, "pairs": pairs,
                                   "loss": round(loss, 6),
                                   "learning_rate": float(f"{rate:.6g}")})  # fmt: skip
        took = max(self.account.seconds, 1e-9)
        memory = memory_in_use(self.job.device)
        self.note = f"loss {loss:.3f}, rate {rate:.2g}, {pairs / took:.0f} pairs/s, {memory}"
        if self.is_main:
            write_json(self.job.work / _POSITION_FILE, {"step": state.global_step, "at": self.note})

    def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Report the last step."""
        self._report(state)

    def _report(self, state: Any) -> None:
        if self.is_main and state.global_step:
            self.job.report("training", state.global_step, state.max_steps, self.note)


def memory_in_use(device: Device) -> str:
    """Return the most memory that was taken so far: of the GPU, or of this process."""
    if device.kind == "cuda":
        return f"{torch.cuda.max_memory_allocated() / 2**30:.1f} GiB of GPU memory"
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB"


def _score_in_words(reached: Mapping[str, Any]) -> str:
    """Say how good a model is, as an evaluation has found it."""
    if "inner_loss" in reached:
        return f"loss {reached['inner_loss']:.4f} on the inner fold"
    return f"accuracy {reached['accuracy']:.4f} on development items"


def _mark_whole(folder: Path, account: Account) -> None:
    """Write beside a checkpoint's files their digests and the account: it is whole, and sound."""
    digests = {path.name: digest(path) for path in sorted(folder.iterdir()) if path.is_file()}
    digests.pop(_ACCOUNT_FILE, None)
    write_json(folder / _ACCOUNT_FILE, {"sha256": digests, "account": asdict(account)})


def last_checkpoint(work: Path, say: Say) -> tuple[Path, Account] | None:
    """Return the last checkpoint that is whole, and its account; a damaged one is reported."""
    found = {int(path.name.partition("-")[2]): path for path in work.glob("checkpoint-*")}
    for _, folder in sorted(found.items(), reverse=True):
        mark = folder / _ACCOUNT_FILE
        if not mark.is_file():
            continue  # killed while it was written
        content = json.loads(mark.read_text("utf-8"))
        names = {path.name for path in folder.iterdir()}
        digests = content["sha256"]
        if digests.keys() <= names and all(digest(folder / n) == d for n, d in digests.items()):
            return folder, Account(**content["account"])
        say(f"the checkpoint {folder} is damaged: its files are not those that were written. "
            "Continuing without it")  # fmt: skip
    return None


def fit(make_model: Callable[[], Any], job: Job) -> tuple[Any, Account]:
    """Return a trained model, and an account of its training; it goes on from its last checkpoint.

    `make_model` returns the model as it is before the first step. Every random choice follows from
    the seed and the step, so that a run that was killed and resumed ends with the same weights as
    one that was not. With patience these are the best by evaluation; else the last ones. With
    several processes, each takes its share of every batch.

    A batch that does not fit into memory is accumulated in twice as many parts, which is found out
    before the first step, on the longest items.
    """
    with launch_environment():
        accumulation = int(
            trainer_values(job.settings.trainer).get("gradient_accumulation_steps", 1)
        )
        model = make_model()
        deterministic = "yes"
        while True:
            arguments = arguments_for(job, accumulation)
            _check_disk(model, job)
            try:
                _try_longest(model, job, arguments)
                break
            except (RuntimeError, MemoryError) as fault:
                if note := devices.allow_nondeterminism(fault):
                    deterministic = note
                    job.say(note)
                elif is_out_of_memory(fault):
                    accumulation = _more_parts(job, arguments, accumulation, fault)
                else:
                    raise
            model = make_model()
        return _run(model, job, arguments, deterministic)


def _more_parts(
    job: Job, arguments: TrainingArguments, accumulation: int, fault: BaseException
) -> int:
    """Return into how many parts a batch is cut that did not fit; a ChaosError if that is vain."""
    torch.cuda.empty_cache()  # does nothing without a GPU
    longest = int(job.encoded.lengths.max())
    several, size = arguments.world_size > 1, arguments.per_device_train_batch_size
    if size == 1:
        raise no_memory(longest) from fault
    if several or size % 2:
        raise ChaosError(
            "Out of memory.",
            where=job.device.title,
            found=f"{size} items of {longest} tokens at once",
            todo=f"pass trainer='gradient_accumulation_steps: {2 * accumulation}', which cuts "
            "each step into more parts",
        ) from fault
    job.say(
        f"out of memory: continuing with at most {size // 2} items at once, in {2 * accumulation} "
        "parts of each step"
    )
    return 2 * accumulation


def _try_longest(model: Any, job: Job, arguments: TrainingArguments) -> None:
    """Compute the gradients of the longest items that a process may get at once, and forget them.

    Memory that does not suffice, and operations that cannot be computed in the same order each
    time, are found before the first step. Weights that the logits do not depend on, such as
    XLNet's mask, are frozen: processes that exchange gradients would wait for theirs.
    """
    device = job.device
    devices.to_device(model, device)
    model.train()
    longest = np.argsort(-job.encoded.lengths, kind="stable")
    part = longest[: arguments.per_device_train_batch_size]
    collate = _Collator(job.encoded, job.targets, 1)
    batch = {name: one.to(device.name) for name, one in collate(part.tolist()).items()}
    labels = batch.pop("labels")
    try:
        # As AdamW will hold them, and at the same time as the gradients.
        moments = [
            torch.empty_like(w) for w in model.parameters() for _ in range(2 * device.on_gpu)
        ]
        with device.autocast():
            logits = model(**{name: one.flatten(0, 1) for name, one in batch.items()}).logits
        loss = summed_loss(logits.float().reshape(len(part), -1), labels, job.settings.loss)
        loss.backward()
        del moments
        for weight in model.parameters():
            weight.requires_grad_(weight.requires_grad and weight.grad is not None)
    finally:
        model.zero_grad()


def _check_disk(model: Any, job: Job) -> None:
    """Refuse to begin where the disk has no room for the checkpoints: weights and two moments."""
    weights = sum(p.numel() * p.element_size() for p in model.parameters())
    # One is written while the one before is still there, and the best one may be a third.
    needed = 3 * weights * (3 if job.settings.patience else 2) + weights
    job.work.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(job.work).free
    if free < needed:
        raise ChaosError(
            "The disk has no room for the checkpoints of this run.",
            where=job.work,
            found=f"{free / 2**30:.2f} GiB free",
            expected=f"{needed / 2**30:.2f} GiB: weights and moments of AdamW, the last ones and "
            "those before",
            todo="make room, or let CHAOS_CACHE name a folder on a larger disk",
        )


def _run(
    model: Any, job: Job, arguments: TrainingArguments, deterministic: str
) -> tuple[Any, Account]:
    """Train a model that fits, from its last checkpoint."""
    folder, account = last_checkpoint(job.work, job.say) or (None, Account())
    if folder is not None:
        job.say(f"resuming after step {account.steps}{_last_words(job.work, account.steps)}")
    account.calls.append(job.device.title)
    account.processes = arguments.world_size
    account.accumulation = arguments.gradient_accumulation_steps
    account.deterministic = deterministic
    account.attention = model.config._attn_implementation
    watch = _Watch(job, account)
    trainer = VotesTrainer(job, model, arguments, watch)
    watch.trainer = trainer
    if folder is not None and account.ended:  # killed after its last step
        state = json.loads((folder / "trainer_state.json").read_text("utf-8"))
        trainer._load_from_checkpoint(state["best_model_checkpoint"] or str(folder))
    else:
        # Each process draws its own dropout.
        set_seed(job.settings.seed, device_specific=True)
        with _faults_in_words(job, trainer):
            trainer.train(resume_from_checkpoint=None if folder is None else str(folder))
    trainer.accelerator.unwrap_model(trainer.model_wrapped, keep_fp32_wrapper=False)
    trainer.accelerator.free_memory()
    return model, account


def _last_words(work: Path, step: int) -> str:
    """Return how far the call before had come, where that is further than its checkpoint."""
    path = work / _POSITION_FILE
    if not path.is_file():
        return ""
    last = json.loads(path.read_text("utf-8"))
    return f"; the call before ended after step {last['step']}" if last["step"] > step else ""


@contextmanager
def _faults_in_words(job: Job, trainer: Trainer) -> Iterator[None]:
    """Say of what ends a training within the block at which step it was, and why."""
    try:
        yield
    except (RuntimeError, MemoryError, OSError) as fault:
        state = trainer.state
        step = min(state.global_step + 1, state.max_steps)
        where = f"step {step} of {state.max_steps}, on {job.device.title}"
        again = "the same command goes on from the last checkpoint"
        words = " ".join(str(fault).split())[:200] or type(fault).__name__
        if is_out_of_memory(fault):
            parts = 2 * trainer.args.gradient_accumulation_steps
            raise ChaosError(
                "Out of memory.",
                where=where,
                found=words,
                todo=f"end what else fills the memory, and {again}; or pass "
                f"trainer='gradient_accumulation_steps: {parts}', which is another run",
            ) from fault
        if _is_disk_full(fault, job.work):
            raise ChaosError(
                "The disk is full: a checkpoint could not be written.",
                where=f"{job.work}, after step {state.global_step} of {state.max_steps}",
                found=words,
                todo=f"make room, and {again}",
            ) from fault
        if any(name in words for name in ("CUDA", "NCCL", "cuDNN")):
            raise ChaosError(
                "The GPU failed.",
                where=where,
                found=words,
                todo=f"see `nvidia-smi` and the kernel's log; {again}",
            ) from fault
        raise


def _is_disk_full(fault: BaseException, work: Path) -> bool:
    """Whether an exception says that a file could not be written for want of room."""
    if isinstance(fault, OSError):
        return fault.errno in (errno.ENOSPC, errno.EDQUOT)
    words = str(fault)  # PyTorch and safetensors have their own
    return "No space left" in words or (
        "PytorchStreamWriter" in words and shutil.disk_usage(work).free < 2**20
    )

"""The optimisation itself: steps, checkpoints, exact resume."""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError
from chaos_utils.training.checkpoints import Progress, copy_to_cpu, resume, save
from chaos_utils.training.devices import Device, is_out_of_memory, room_for, to_device
from chaos_utils.training.dropout import byte_dropout
from chaos_utils.training.encoding import EncodedItems, Integers, split_by_budget
from chaos_utils.training.inference import TOKEN_BUDGET, no_memory
from chaos_utils.training.objectives import summed_loss
from chaos_utils.training.progress import Report, Say, silent
from chaos_utils.training.settings import Settings

_CURVE_POINTS = 100
_CLIP = 1.0  # norm of the gradient


@dataclass(frozen=True, slots=True)
class Job:
    """One fit: what is trained on what, how, where, and who is told.

    Of the settings those count that decide the steps. Rows of `targets` sum to 1; `plan` holds the
    items of each step, as `encoding.plan_batches` gives them. `work` keeps the checkpoints, of
    which two are at least `checkpoint_seconds` apart, and which the caller removes when all is
    done. `evaluate` is given the model and the step, at the ends of epochs, and before the first
    one where `looks_first`; it returns a flat dict with ``inner_loss`` (lower is better) or
    ``accuracy``. It, `report` and `say` are called in the main process alone.
    """

    settings: Settings
    encoded: EncodedItems
    targets: npt.NDArray[np.float64]
    plan: Sequence[Integers]
    device: Device
    accelerator: Any
    work: Path
    evaluate: Callable[[Any, int], dict[str, Any]]
    looks_first: bool = False
    checkpoint_seconds: float = 120
    report: Report = silent
    say: Say = lambda text: None

    @property
    def steps_per_epoch(self) -> int:
        """How many steps an epoch has."""
        return len(self.plan) // self.settings.epochs

    def rate_at(self, step: int) -> float:
        """Return the learning rate of a step, counted from 0: linear up, then linear down."""
        total, peak = len(self.plan), self.settings.learning_rate
        warm = math.ceil(self.settings.warmup_ratio * total)
        if step < warm:
            return peak * (step + 1) / warm
        return peak * (total - step) / max(1, total - warm)


def fit(model: Any, job: Job) -> Progress:
    """Train a model in place, from its last checkpoint if there is one.

    Every random choice follows from the seed and the step, so that a run that was killed and
    resumed ends with the same weights as one that was not. With patience these are the best by
    `evaluate`; else the last ones. With several processes, each takes its share of every batch.

    A batch of more padded tokens than the settings' `token_budget` is accumulated, which changes
    the rounding, and the dropout, which is drawn for each part. The budget is halved when memory
    runs out, also for what is resumed.
    """
    import torch

    device, accelerator, settings = job.device, job.accelerator, job.settings
    to_device(model, device)
    if accelerator.num_processes > 1:
        freeze_unused(model, job.encoded, device)
    decayed = [p for p in model.parameters() if p.requires_grad and p.ndim > 1]
    undecayed = [p for p in model.parameters() if p.requires_grad and p.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": settings.weight_decay},
         {"params": undecayed, "weight_decay": 0.0}],
        lr=settings.learning_rate, fused=True,
    )  # fmt: skip
    scaler = torch.amp.GradScaler(device.kind, enabled=device.precision == "fp16")
    best: dict[str, Any] = {}
    state = resume(model, optimizer, best, job.work, job.say)
    if state is None:
        state = Progress()
        _make_moments(optimizer, device)
    if state.scaler:
        scaler.load_state_dict(state.scaler)
    state.calls.append(device.title)
    fitting = _FitLoop(job, model, accelerator.prepare(model), optimizer, scaler, best, state)
    state.token_budget = state.token_budget or settings.token_budget or TOKEN_BUDGET[device.kind]
    saved = time.monotonic()
    model.train()
    attention = model.config._attn_implementation
    if device.kind == "cpu":
        model.set_attn_implementation("eager")  # with dropout, faster than the fused one
    if job.looks_first and not state.looks:
        fitting.look()
    while state.step < len(job.plan) and not state.stopped:
        begun, used = time.monotonic(), time.process_time()
        fitting.make_step()
        state.seconds += time.monotonic() - begun
        state.cpu_seconds += time.process_time() - used
        state.step += 1
        if state.step % max(1, len(job.plan) // _CURVE_POINTS) == 0 or state.step == len(job.plan):
            _extend_curve(state, job.rate_at(state.step - 1))
        if state.step % job.steps_per_epoch == 0 or state.step == len(job.plan):
            fitting.look()
        due = time.monotonic() - saved >= job.checkpoint_seconds
        if due and accelerator.is_main_process:
            state.scaler = scaler.state_dict()
            save(model, optimizer, best, state, job.work)
            saved = time.monotonic()
        loss = state.curve[-1]["loss"] if state.curve else state.window_loss / state.window_items
        job.report("training", state.step, len(job.plan), loss)
    if best:
        model.load_state_dict(best)
    model.set_attn_implementation(attention)
    accelerator.free_memory(fitting.wrapped)  # it would keep it
    return state


def freeze_unused(model: Any, encoded: EncodedItems, device: Device) -> None:
    """Freeze weights that the logits do not depend on, such as XLNet's mask.

    Processes that exchange gradients would otherwise wait for theirs, or have to look for them at
    every step.
    """
    model.eval()
    batch = {name: tensor.to(device.name) for name, tensor in encoded.batch([0]).items()}
    model(**batch).logits.sum().backward()
    for weight in model.parameters():
        weight.requires_grad_(weight.requires_grad and weight.grad is not None)
    model.zero_grad()


def _make_moments(optimizer: Any, device: Device) -> None:
    """Give an AdamW its moments, as its first step would: memory must not run out amid a step."""
    import torch

    with room_for("the moments of AdamW, twice the size of the model", device):
        for group in optimizer.param_groups:
            for weight in group["params"]:
                optimizer.state[weight] = {
                    "step": torch.zeros((), dtype=torch.float32, device=weight.device),
                    "exp_avg": torch.zeros_like(weight, memory_format=torch.preserve_format),
                    "exp_avg_sq": torch.zeros_like(weight, memory_format=torch.preserve_format),
                }


@dataclass(slots=True)
class _FitLoop:
    """A fit that has begun: `wrapped` is the model as several processes share it.

    `best` holds the best weights so far, and nothing where none are kept.
    """

    job: Job
    model: Any
    wrapped: Any
    optimizer: Any
    scaler: Any
    best: dict[str, Any]
    state: Progress

    def make_step(self) -> None:
        """Make one step, in parts that fit into memory."""
        import torch

        job, state, accelerator = self.job, self.state, self.job.accelerator
        items, rate = job.plan[state.step], job.rate_at(state.step)
        share = items[accelerator.process_index :: accelerator.num_processes]
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        while True:
            fault: BaseException
            try:
                loss = self.add_gradients(share, len(items))
                break
            except (RuntimeError, MemoryError) as raised:
                if not is_out_of_memory(raised):
                    raise
                fault = raised.with_traceback(None)  # which would hold on to the memory
            state.token_budget = self._smaller_budget(share, fault)
            self.optimizer.zero_grad()
            torch.cuda.empty_cache()  # does nothing without a GPU
            job.say(f"out of memory: going on with at most {state.token_budget:,} tokens at once")
        loss = _sum_over_processes(loss, accelerator)
        if not math.isfinite(loss):
            raise ChaosError(
                "The training diverged: the loss is not finite.",
                where=f"step {state.step + 1} of {len(job.plan)}",
                found=f"loss {loss} at learning rate {rate:.2g}",
                todo="take a smaller learning rate",
            )
        self.scaler.unscale_(self.optimizer)
        accelerator.clip_grad_norm_(self.wrapped.parameters(), _CLIP)
        # Some weights may have changed already, so that this step cannot be made again.
        with room_for(f"the weights' update in step {state.step + 1}", job.device):
            self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()
        state.window_loss += loss
        state.window_items += len(items)
        state.pairs += len(items)
        state.tokens += int(job.encoded.lengths[items].sum()) * job.encoded.per_item

    def _smaller_budget(self, share: Integers, fault: BaseException) -> int:
        """Return half the tokens that did not fit; a ChaosError when that cannot help."""
        encoded, budget = self.job.encoded, self.state.token_budget
        if self.job.accelerator.num_processes > 1:
            # One process alone cannot try again: the others wait for its gradients.
            raise ChaosError(
                "Out of memory.",
                found=f"at most {budget:,} tokens at once, in each of several processes",
                todo="take a smaller --token-budget, which is another run and begins anew",
            ) from fault
        length = int(encoded.lengths[share].max())
        if budget <= encoded.per_item * length:
            raise no_memory(length) from fault
        return min(budget, len(share) * encoded.per_item * length) // 2

    def add_gradients(self, share: Integers, n_items: int) -> float:
        """Add up the gradients of this process's share of a batch; return its summed loss."""
        import torch

        job, state, device, accelerator = (
            self.job,
            self.state,
            self.job.device,
            self.job.accelerator,
        )
        # The same dropout at this step in every run, resumed or not, and another in each process.
        seed = (job.settings.seed * 1_000_003 + state.step) * 64 + accelerator.process_index
        torch.manual_seed(seed)
        if not len(share):  # fewer items than processes: join in with a loss of zero
            share, weight = job.plan[state.step][:1], 0.0
        else:
            weight = accelerator.num_processes / n_items  # gradients are averaged over processes
        total, padded, attention = 0.0, 0, 0
        encoded = job.encoded
        parts = [*split_by_budget(share, encoded.lengths, encoded.per_item, state.token_budget)]
        for number, part in enumerate(parts, start=1):
            batch = encoded.batch(part)
            rows, width = batch["input_ids"].shape
            padded += rows * width
            attention += rows * width**2
            batch = {name: tensor.to(device.name) for name, tensor in batch.items()}
            targets = torch.tensor(job.targets[part], dtype=torch.float32, device=device.name)
            last = number == len(parts)  # with it alone processes exchange gradients
            with nullcontext() if last else accelerator.no_sync(self.wrapped):
                # A GPU's own dropout costs little.
                with device.autocast(), byte_dropout()() if device.kind == "cpu" else nullcontext():
                    logits = self.wrapped(**batch).logits
                logits = logits.float().reshape(len(part), -1)
                loss = summed_loss(logits, targets, job.settings.loss)
                accelerator.backward(self.scaler.scale(loss * weight))
            total += float(loss.detach()) if weight else 0.0
        state.padded_tokens += padded
        state.attention += attention
        return total

    def look(self) -> None:
        """Evaluate; with patience, keep the best epoch's weights, and stop when it ends."""
        job, state = self.job, self.state
        if job.accelerator.is_main_process:
            reached = job.evaluate(self.model, state.step)
            self.model.train()
            state.looks.append({"step": state.step, "pairs": state.pairs, **reached})
            epoch = math.ceil(state.step / job.steps_per_epoch)
            job.say(f"after epoch {epoch} of {job.settings.epochs}: {_score_in_words(reached)}")
            if job.settings.patience:
                score = -reached["inner_loss"] if "inner_loss" in reached else reached["accuracy"]
                if not self.best or score > state.best_accuracy:
                    state.best_accuracy, state.epochs_since_best = score, 0
                    self.best.update(copy_to_cpu(self.model.state_dict()))
                else:
                    state.epochs_since_best += 1
                state.stopped = state.epochs_since_best >= job.settings.patience
        if job.accelerator.num_processes > 1:
            from accelerate.utils import broadcast_object_list

            state.stopped = broadcast_object_list([state.stopped])[0]


def _score_in_words(reached: dict[str, Any]) -> str:
    """Say how good a model is, as `evaluate` has found it."""
    if "inner_loss" in reached:
        return f"loss {reached['inner_loss']:.4f} on the inner fold"
    return f"accuracy {reached['accuracy']:.4f} on development items"


def _sum_over_processes(loss: float, accelerator: Any) -> float:
    """Return the sum of a number over all processes."""
    if accelerator.num_processes == 1:
        return loss
    import torch

    mine = torch.tensor(loss, dtype=torch.float64, device=accelerator.device)
    return float(accelerator.reduce(mine, reduction="sum"))


def _extend_curve(state: Progress, rate: float) -> None:
    loss = state.window_loss / state.window_items
    state.curve.append({"step": state.step, "pairs": state.pairs, "loss": round(loss, 6),
                        "learning_rate": float(f"{rate:.6g}")})  # fmt: skip
    state.window_loss, state.window_items = 0.0, 0

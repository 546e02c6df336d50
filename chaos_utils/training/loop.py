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
from chaos_utils.training.checkpoints import Progress, copied, resume, save
from chaos_utils.training.devices import (
    Device,
    empty_cache,
    is_out_of_memory,
    no_room,
    placed,
)
from chaos_utils.training.dropout import byte_dropout
from chaos_utils.training.encoding import Encoded, Integers, split_by_budget
from chaos_utils.training.inference import TOKEN_BUDGET, Say, no_memory
from chaos_utils.training.objectives import summed_loss

_CURVE_POINTS = 100
_CLIP = 1.0  # norm of the gradient


@dataclass(frozen=True, slots=True)
class Job:
    """One fit: what is trained on what, and how.

    Rows of `targets` sum to 1; `plan` holds the items of each step, as `encoding.plan_batches`
    gives them. `evaluate` is called at the ends of epochs, and before the first one where
    `looks_first`. `loss` is as in `Settings`.
    """

    encoded: Encoded
    targets: npt.NDArray[np.float64]
    plan: Sequence[Integers]
    steps_per_epoch: int
    learning_rate: float
    weight_decay: float
    warmup_ratio: float
    seed: int
    patience: int = 0
    looks_first: bool = False
    loss: str = "hard"


Evaluate = Callable[[Any, int], dict[str, Any]]


def rate_at(step: int, job: Job) -> float:
    """Return the learning rate of a step, counted from 0: linear up, then linear down."""
    total = len(job.plan)
    warm = math.ceil(job.warmup_ratio * total)
    if step < warm:
        return job.learning_rate * (step + 1) / warm
    return job.learning_rate * (total - step) / max(1, total - warm)


def fit(
    model: Any,
    job: Job,
    device: Device,
    work: Path,
    *,
    evaluate: Evaluate,
    accelerator: Any,
    checkpoint_seconds: float = 120,
    token_budget: int = 0,
    progress: Callable[[Progress], None] = lambda state: None,
    say: Say = lambda text: None,
) -> Progress:
    """Train a model in place, from its last checkpoint if there is one.

    Every random choice follows from the seed and the step, so that a run that was killed and
    resumed ends with the same weights as one that was not. With patience these are the best by
    `evaluate`; else the last ones. With several processes, each takes its share of every batch.

    Parameters
    ----------
    work : Path
        Keeps the checkpoints, which are removed by the caller when all is done.
    evaluate : callable
        Is given the model and the step, and returns a flat dict with ``inner_loss`` (lower is
        better) or ``accuracy``; called in the main process alone.
    checkpoint_seconds : float
        Least time between two checkpoints.
    token_budget : int
        Padded tokens at once; a larger batch is accumulated, which changes the rounding, and the
        dropout, which is drawn for each part. Halved when memory runs out, also for what is
        resumed.
    """
    import torch

    placed(model, device)
    if accelerator.num_processes > 1:
        freeze_unused(model, job.encoded, device)
    decayed = [p for p in model.parameters() if p.requires_grad and p.ndim > 1]
    others = [p for p in model.parameters() if p.requires_grad and p.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": job.weight_decay},
         {"params": others, "weight_decay": 0.0}],
        lr=job.learning_rate, fused=True,
    )  # fmt: skip
    scaler = torch.amp.GradScaler(device.kind, enabled=device.precision == "fp16")
    best: dict[str, Any] = {}
    state = resume(model, optimizer, best, work, say)
    if state is None:
        state = Progress()
        _make_moments(optimizer, device)
    if state.scaler:
        scaler.load_state_dict(state.scaler)
    state.calls.append(device.title)
    wrapped = accelerator.prepare(model)
    state.token_budget = state.token_budget or token_budget or TOKEN_BUDGET[device.kind]
    saved = time.monotonic()
    model.train()
    attention = model.config._attn_implementation
    if device.kind == "cpu":
        model.set_attn_implementation("eager")  # with dropout, faster than the fused one
    if job.looks_first and not state.looks:
        _look(model, job, state, best, evaluate, accelerator)
    while state.step < len(job.plan) and not state.stopped:
        begun, used = time.monotonic(), time.process_time()
        for group in optimizer.param_groups:
            group["lr"] = rate_at(state.step, job)
        _step(wrapped, optimizer, scaler, job, device, state, accelerator, say)
        state.seconds += time.monotonic() - begun
        state.cpu_seconds += time.process_time() - used
        state.step += 1
        if _curve_is_due(state, len(job.plan)):
            _extend_curve(state, rate_at(state.step - 1, job))
        if state.step % job.steps_per_epoch == 0 or state.step == len(job.plan):
            _look(model, job, state, best, evaluate, accelerator)
        due = time.monotonic() - saved >= checkpoint_seconds
        if due and accelerator.is_main_process:
            state.scaler = scaler.state_dict()
            save(model, optimizer, best, state, work)
            saved = time.monotonic()
        progress(state)
    if best:
        model.load_state_dict(best)
    model.set_attn_implementation(attention)
    accelerator.free_memory(wrapped)  # it would keep it
    return state


def freeze_unused(model: Any, encoded: Encoded, device: Device) -> None:
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

    try:
        for group in optimizer.param_groups:
            for weight in group["params"]:
                optimizer.state[weight] = {
                    "step": torch.zeros((), dtype=torch.float32, device=weight.device),
                    "exp_avg": torch.zeros_like(weight, memory_format=torch.preserve_format),
                    "exp_avg_sq": torch.zeros_like(weight, memory_format=torch.preserve_format),
                }
    except (RuntimeError, MemoryError) as fault:
        if not is_out_of_memory(fault):
            raise
        raise no_room("the moments of AdamW, twice the size of the model", device) from fault


def _step(
    wrapped: Any,
    optimizer: Any,
    scaler: Any,
    job: Job,
    device: Device,
    state: Progress,
    accelerator: Any,
    say: Say,
) -> None:
    """Make one step, in parts that fit into memory."""
    items = job.plan[state.step]
    share = items[accelerator.process_index :: accelerator.num_processes]
    while True:
        fault: BaseException
        try:
            loss = _gradients(wrapped, scaler, share, len(items), job, device, state, accelerator)
            break
        except (RuntimeError, MemoryError) as raised:
            if not is_out_of_memory(raised):
                raise
            fault = raised.with_traceback(None)  # which would hold on to the memory
        state.token_budget = _smaller_budget(share, job, state.token_budget, accelerator, fault)
        optimizer.zero_grad()
        empty_cache(device)
        say(f"out of memory: going on with at most {state.token_budget:,} tokens at once")
    loss = _summed(loss, accelerator)
    if not math.isfinite(loss):
        raise ChaosError(
            "The training diverged: the loss is not finite.",
            where=f"step {state.step + 1} of {len(job.plan)}",
            found=f"loss {loss} at learning rate {rate_at(state.step, job):.2g}",
            todo="take a smaller learning rate",
        )
    scaler.unscale_(optimizer)
    accelerator.clip_grad_norm_(wrapped.parameters(), _CLIP)
    try:
        scaler.step(optimizer)
    except (RuntimeError, MemoryError) as raised:
        if not is_out_of_memory(raised):
            raise
        # Some weights may have changed already, so that this step cannot be made again.
        raise no_room(f"the weights' update in step {state.step + 1}", device) from raised
    scaler.update()
    optimizer.zero_grad()
    state.window_loss += loss
    state.window_items += len(items)
    state.pairs += len(items)
    state.tokens += int(job.encoded.lengths[items].sum()) * job.encoded.per_item


def _smaller_budget(
    share: Integers, job: Job, budget: int, accelerator: Any, fault: BaseException
) -> int:
    """Return half the tokens that did not fit; a ChaosError when that cannot help."""
    if accelerator.num_processes > 1:
        # One process alone cannot try again: the others wait for its gradients.
        raise ChaosError(
            "Out of memory.",
            found=f"at most {budget:,} tokens at once, in each of several processes",
            todo="take a smaller --token-budget, which is another run and begins anew",
        ) from fault
    length = int(job.encoded.lengths[share].max())
    if budget <= job.encoded.per_item * length:
        raise no_memory(length) from fault
    return min(budget, len(share) * job.encoded.per_item * length) // 2


def _summed(loss: float, accelerator: Any) -> float:
    """Return the sum of a number over all processes."""
    if accelerator.num_processes == 1:
        return loss
    import torch

    mine = torch.tensor(loss, dtype=torch.float64, device=accelerator.device)
    return float(accelerator.reduce(mine, reduction="sum"))


def _gradients(
    wrapped: Any,
    scaler: Any,
    share: Integers,
    n_items: int,
    job: Job,
    device: Device,
    state: Progress,
    accelerator: Any,
) -> float:
    """Add up the gradients of this process's share of a batch; return its summed loss."""
    import torch

    # The same dropout at this step in every run, resumed or not, and another in each process.
    torch.manual_seed((job.seed * 1_000_003 + state.step) * 64 + accelerator.process_index)
    if not len(share):  # fewer items than processes: join in with a loss of zero
        share, weight = job.plan[state.step][:1], 0.0
    else:
        weight = accelerator.num_processes / n_items  # gradients are averaged over processes
    total = 0.0
    parts = list(
        split_by_budget(share, job.encoded.lengths, job.encoded.per_item, state.token_budget)
    )
    padded = attention = 0
    for number, part in enumerate(parts, start=1):
        batch = job.encoded.batch(part)
        rows, width = batch["input_ids"].shape
        padded += rows * width
        attention += rows * width**2
        batch = {name: tensor.to(device.name) for name, tensor in batch.items()}
        wanted = torch.tensor(job.targets[part], dtype=torch.float32, device=device.name)
        with _together(wrapped, accelerator, number == len(parts)):
            with device.autocast(), _cheap_dropout(device):
                logits = wrapped(**batch).logits
            logits = logits.float().reshape(len(part), -1)
            loss = summed_loss(logits, wanted, job.loss)
            accelerator.backward(scaler.scale(loss * weight))
        total += float(loss.detach()) if weight else 0.0
    state.padded_tokens += padded
    state.attention += attention
    return total


def _cheap_dropout(device: Device) -> Any:
    """Return a context in which dropout costs little; a GPU's own costs little."""
    return byte_dropout()() if device.kind == "cpu" else nullcontext()


def _together(wrapped: Any, accelerator: Any, last: bool) -> Any:
    """Return a context in which processes exchange gradients only with a step's last part."""
    return nullcontext() if last else accelerator.no_sync(wrapped)


def _curve_is_due(state: Progress, total: int) -> bool:
    return state.step % max(1, total // _CURVE_POINTS) == 0 or state.step == total


def _extend_curve(state: Progress, rate: float) -> None:
    loss = state.window_loss / state.window_items
    state.curve.append({"step": state.step, "pairs": state.pairs, "loss": round(loss, 6),
                        "learning_rate": float(f"{rate:.6g}")})  # fmt: skip
    state.window_loss, state.window_items = 0.0, 0


def _look(
    model: Any,
    job: Job,
    state: Progress,
    best: dict[str, Any],
    evaluate: Evaluate,
    accelerator: Any,
) -> None:
    """Evaluate; with patience, keep the best epoch's weights, and stop when it ends."""
    if accelerator.is_main_process:
        found = evaluate(model, state.step)
        model.train()
        state.looks.append({"step": state.step, "pairs": state.pairs, **found})
        if job.patience:
            score = -found["inner_loss"] if "inner_loss" in found else found["accuracy"]
            if not best or score > state.best_accuracy:
                state.best_accuracy, state.epochs_since_best = score, 0
                best.update(copied(model.state_dict()))
            else:
                state.epochs_since_best += 1
            state.stopped = state.epochs_since_best >= job.patience
    if accelerator.num_processes > 1:
        from accelerate.utils import broadcast_object_list

        state.stopped = broadcast_object_list([state.stopped])[0]

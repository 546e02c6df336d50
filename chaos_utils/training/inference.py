"""Logits of a model for any corpus: sorted by length, in the largest batches that fit."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from chaos_utils.base.errors import ChaosError
from chaos_utils.training.devices import Device, is_out_of_memory
from chaos_utils.training.encoding import EncodedItems
from chaos_utils.training.progress import Say

Floats = npt.NDArray[np.float64]
TOKEN_BUDGET = {"cpu": 4096, "cuda": 131_072}  # padded tokens at once


def predict_logits(
    model: Any,
    encoded: EncodedItems,
    device: Device,
    *,
    dropout_seed: int | None = None,
    progress: Callable[[int], None] = lambda n: None,
    say: Say = lambda text: None,
) -> Floats:
    """Return a model's logits, of shape (n, k); for αNLI the two stories' side by side.

    When memory runs out, half as many tokens are taken at once, and `say` reports it. A
    `dropout_seed` leaves dropout on, drawn with this seed, for Monte Carlo dropout. `progress` is
    called with the number of items just done.
    """
    import torch

    budget = TOKEN_BUDGET[device.kind]
    # Longest first: if memory runs out it does so at once.
    waiting = np.argsort(-encoded.lengths, kind="stable")
    was_training = model.training
    model.train(dropout_seed is not None)
    if dropout_seed is not None:
        torch.manual_seed(dropout_seed)
    rows: dict[int, Any] = {}
    try:
        with torch.inference_mode():
            while len(waiting):
                longest = encoded.per_item * int(encoded.lengths[waiting[0]])
                items = waiting[: max(1, budget // longest)]
                try:
                    logits = _forward(model, encoded, items, device)
                except (RuntimeError, MemoryError) as fault:
                    if not is_out_of_memory(fault):
                        raise
                    if len(items) == 1:
                        raise no_memory(int(encoded.lengths[items[0]])) from fault
                    budget = len(items) * longest // 2
                    torch.cuda.empty_cache()  # does nothing without a GPU
                    say(f"out of memory: continuing with at most {budget:,} tokens at once")
                    continue
                rows.update(zip(items.tolist(), logits, strict=True))
                waiting = waiting[len(items) :]
                progress(len(items))
    finally:
        model.train(was_training)
    n_classes = logits.shape[1] if len(encoded) else 0
    return np.array([rows[i] for i in range(len(encoded))]).reshape(-1, n_classes)


def _forward(
    model: Any, encoded: EncodedItems, items: npt.NDArray[np.int64], device: Device
) -> Floats:
    batch = {name: tensor.to(device.name) for name, tensor in encoded.batch(items).items()}
    with device.autocast():
        logits = model(**batch).logits
    return np.asarray(logits.float().cpu().numpy().reshape(len(items), -1), dtype=np.float64)


def no_memory(length: int) -> ChaosError:
    """Return the error for a single item whose sequence of `length` tokens is too large."""
    return ChaosError(
        "Out of memory on a single item.",
        found=f"a sequence of {length} tokens",
        todo="take a smaller model, a smaller max_length, or a machine with more memory",
    )


def predict(
    model: Any,
    encoded: EncodedItems,
    device: Device,
    *,
    mc_samples: int = 0,
    seed: int = 0,
    progress: Callable[[int], None] = lambda n: None,
    say: Say = lambda text: None,
) -> Floats:
    """Return a model's probabilities, of shape (n, k).

    They are averaged over `mc_samples` passes with dropout left on, as Gal and Ghahramani (2016,
    "Dropout as a Bayesian approximation") propose; 0 for one pass without dropout. `seed` is the
    dropout's.
    """
    seeds: Sequence[int | None] = [1000 * seed + k for k in range(mc_samples)] or [None]
    passes = [
        predict_logits(model, encoded, device, dropout_seed=one, progress=progress, say=say)
        for one in seeds
    ]
    return np.asarray(np.mean([softmax(logits, axis=1) for logits in passes], axis=0))

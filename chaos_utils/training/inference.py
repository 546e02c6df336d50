"""Logits of a model for any corpus: sorted by length, in the largest batches that fit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from chaos_utils.base.errors import ChaosError
from chaos_utils.training.devices import Device, empty_cache, is_out_of_memory
from chaos_utils.training.encoding import Encoded, split_by_budget

Floats = npt.NDArray[np.float64]
Say = Callable[[str], None]
TOKEN_BUDGET = {"cpu": 4096, "cuda": 131_072}  # padded tokens at once


def predict_logits(
    model: Any,
    encoded: Encoded,
    device: Device,
    *,
    token_budget: int = 0,
    dropout_seed: int | None = None,
    progress: Callable[[int], None] = lambda n: None,
    say: Say = lambda text: None,
) -> Floats:
    """Return a model's logits.

    Parameters
    ----------
    model : object
        A sequence classifier of `transformers`, on the device.
    encoded : Encoded
        n items.
    token_budget : int
        Padded tokens at once; 0 for a default of the device. When memory runs out it is
        halved, and `say` reports it.
    dropout_seed : int, optional
        Leave dropout on, drawn with this seed, for Monte Carlo dropout.
    progress : callable
        Called with the number of items just done.
    say : callable
        Called with what a reader must know.

    Returns
    -------
    ndarray of float, shape (n, k)
        For αNLI the two stories' logits side by side.
    """
    import torch

    budget = token_budget or TOKEN_BUDGET[device.kind]
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
                items = next(split_by_budget(waiting, encoded.lengths, encoded.per_item, budget))
                try:
                    logits = _forward(model, encoded, items, device)
                except (RuntimeError, MemoryError) as fault:
                    if not is_out_of_memory(fault):
                        raise
                    if len(items) == 1:
                        raise no_memory(int(encoded.lengths[items[0]])) from fault
                    budget = len(items) * encoded.per_item * int(encoded.lengths[items[0]]) // 2
                    empty_cache(device)
                    say(f"out of memory: going on with at most {budget:,} tokens at once")
                    continue
                rows.update(zip(items.tolist(), logits, strict=True))
                waiting = waiting[len(items) :]
                progress(len(items))
    finally:
        model.train(was_training)
    n_classes = logits.shape[1] if len(encoded) else 0
    return np.array([rows[i] for i in range(len(encoded))]).reshape(-1, n_classes)


def _forward(model: Any, encoded: Encoded, items: npt.NDArray[np.int64], device: Device) -> Floats:
    batch = {name: tensor.to(device.name) for name, tensor in encoded.batch(items).items()}
    with device.autocast():
        logits = model(**batch).logits
    return np.asarray(logits.float().cpu().numpy().reshape(len(items), -1), dtype=np.float64)


def no_memory(length: int) -> ChaosError:
    """Return the error for a single item that is too large.

    Parameters
    ----------
    length : int
        Of the item's longest sequence, in tokens.
    """
    return ChaosError(
        "Out of memory on a single item.",
        found=f"a sequence of {length} tokens",
        todo="take a smaller model, a smaller max_length, or a machine with more memory",
    )


def predict(
    model: Any,
    encoded: Encoded,
    device: Device,
    *,
    mc_samples: int = 0,
    seed: int = 0,
    progress: Callable[[int], None] = lambda n: None,
    say: Say = lambda text: None,
) -> Floats:
    """Return a model's probabilities.

    Parameters
    ----------
    model, encoded, device, progress, say
        As for `predict_logits`.
    mc_samples : int
        Passes with dropout left on, over which probabilities are averaged; 0 for one pass
        without dropout.
    seed : int
        Of the dropout.

    Returns
    -------
    ndarray of float, shape (n, k)
        Rows sum to 1.

    References
    ----------
    Gal, Y. and Ghahramani, Z. (2016). Dropout as a Bayesian approximation.
    """
    if not mc_samples:
        logits = predict_logits(model, encoded, device, progress=progress, say=say)
        return np.asarray(softmax(logits, axis=1))
    passes = [
        softmax(
            predict_logits(
                model, encoded, device, dropout_seed=1000 * seed + k, progress=progress, say=say
            ),
            axis=1,
        )
        for k in range(mc_samples)
    ]
    return np.asarray(np.mean(passes, axis=0), dtype=np.float64)

"""What training minimises, and the head that minimises it before the encoder is trained."""

from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.scoring.fitting import FittedMap, fit_map
from chaos_utils.training.encoders import last_layer

Floats = npt.NDArray[np.float64]
_SMALLEST_SHARE = 1e-30  # in float32


def summed_loss(logits: Any, targets: Any, loss: str) -> Any:
    """Return the loss, summed over items, of logits against targets: tensors of shape (n, k).

    Cross-entropy for ``hard`` and ``soft``, for ``jsd`` the Jensen–Shannon divergence, in nats.
    An item whose targets are all nil counts nothing.
    """
    import torch

    logs = torch.log_softmax(logits, dim=1)
    if loss != "jsd":
        return -(targets * logs).sum()
    shares = logs.exp()
    middle = ((shares + targets) / 2).clamp_min(_SMALLEST_SHARE).log()
    of_targets = torch.xlogy(targets, targets) - targets * middle
    of_shares = shares * (logs - middle) * (targets.sum(dim=1, keepdim=True) > 0)
    return (of_targets + of_shares).sum() / 2


def mean_loss(logits: Floats, targets: Floats, loss: str) -> float:
    """Return the same, as a mean over items, of arrays."""
    import torch

    return float(summed_loss(torch.tensor(logits), torch.tensor(targets), loss)) / len(logits)


def fit_head(logits: Floats, targets: Floats, loss: str, n_outputs: int) -> FittedMap:
    """Fit a map from logits, of shape (n, k), to targets, which `fold_into_head` can take.

    Affine; a temperature where the model has one logit for each of the k choices.
    """
    return fit_map(
        logits[:, np.newaxis],
        targets,
        kind="affine" if n_outputs > 1 else "temperature",
        objective="jsd" if loss == "jsd" else "kl",
    )


def fold_into_head(model: Any, fitted: FittedMap) -> None:
    """Change a model's last layer so that its logits are those that `fitted` gives."""
    import torch

    n_outputs = model.config.num_labels
    head = model.get_submodule(last_layer(model))
    with torch.no_grad():
        old = head.weight.double()
        bias = torch.zeros(n_outputs).to(old) if head.bias is None else head.bias.double()
        if fitted.kind == "temperature":
            new, shift = old / fitted.temperature, bias / fitted.temperature
        else:
            turn = torch.tensor(fitted.weights.T).to(old)
            new, shift = turn @ old, turn @ bias + torch.tensor(fitted.intercepts).to(old)
        head.weight.copy_(new)
        if head.bias is not None:
            head.bias.copy_(shift)
        elif shift.any():  # of a decoder; only a fold's model is changed so, which is not kept
            head.bias = torch.nn.Parameter(shift.to(head.weight))

"""Dropout from random bytes: on a CPU, drawing a float for each element is the costlier part."""

from typing import Any

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode


class ByteDropout(TorchFunctionMode):
    """Within this context every dropout draws one byte for each element.

    A probability is rounded to a whole number of 256ths (0.1 to 26/256), and what is kept is
    scaled by exactly that, so that its expectation stays the same. The bytes come from PyTorch's
    own generator, whose seed decides them.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Replace `torch.nn.functional.dropout`, and leave every other function as it is."""
        if func is functional.dropout:
            return _dropout(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


def _dropout(values: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    dropped = round(256 * p)
    if not training or not 0 < dropped < 256:
        return functional.dropout(values, p, training, inplace)
    words = torch.empty(-(-values.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
    drawn = words.view(torch.uint8)[: values.numel()].view(values.shape)
    # In the values' own type: a product with truth values takes eight times as long.
    kept = torch.ge(drawn, dropped, out=torch.empty(values.shape, dtype=values.dtype))
    return _Masked.apply(values, kept, 256 / (256 - dropped))


class _Masked(torch.autograd.Function):
    """Values times a mask and a number, keeping nothing for the way back but the mask."""

    @staticmethod
    def forward(ctx: Any, values: Any, kept: Any, scale: float) -> Any:
        ctx.save_for_backward(kept)
        ctx.scale = scale
        return _times(values, kept, scale)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (kept,) = ctx.saved_tensors
        return _times(gradient, kept, ctx.scale), None, None


def _times(values: Any, kept: Any, scale: float) -> Any:
    """Return the product of all three, in one pass."""
    return torch.addcmul(values.new_zeros(()), values, kept, value=scale)

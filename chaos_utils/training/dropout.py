"""Dropout from random bytes: on a CPU, drawing a float for each element is the costlier part."""

from functools import cache
from typing import Any


@cache
def byte_dropout() -> Any:
    """Return a class of contexts in which every dropout draws one byte for each element.

    A probability is rounded to a whole number of 256ths (0.1 to 26/256), and what is kept is
    scaled by exactly that, so that its expectation stays the same. The bytes come from PyTorch's
    own generator, whose seed decides them.
    """
    import torch
    from torch.nn import functional
    from torch.overrides import TorchFunctionMode

    def times(values: Any, mask: Any, scale: float) -> Any:
        return torch.addcmul(values.new_zeros(()), values, mask, value=scale)  # in one pass

    class MaskFunction(torch.autograd.Function):
        """Values times a mask and a number, keeping nothing for the way back but the mask."""

        @staticmethod
        def forward(ctx: Any, values: Any, mask: Any, scale: float) -> Any:
            ctx.save_for_backward(mask)
            ctx.scale = scale
            return times(values, mask, scale)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            (mask,) = ctx.saved_tensors
            return times(gradient, mask, ctx.scale), None, None

    def dropout(values: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        dropped = round(256 * p)
        if not training or not 0 < dropped < 256:
            return functional.dropout(values, p, training, inplace)
        words = torch.empty(-(-values.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
        random_bytes = words.view(torch.uint8)[: values.numel()].view(values.shape)
        # In the values' own type: a product with truth values takes eight times as long.
        mask = torch.ge(random_bytes, dropped, out=torch.empty(values.shape, dtype=values.dtype))
        return MaskFunction.apply(values, mask, 256 / (256 - dropped))

    class ByteDropout(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            called = dropout if func is functional.dropout else func
            return called(*args, **(kwargs or {}))

    return ByteDropout

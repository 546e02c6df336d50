"""Where the arithmetic is done, in which precision, and how fast the hardware could do it."""

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from chaos_utils.base.errors import ChaosError


@dataclass(frozen=True, slots=True)
class Device:
    """A device as PyTorch names it, a precision, and the hardware in words, for the record.

    The precision is ``fp32`` or ``bf16``: weights then stay in fp32, and matrix products are
    computed in bfloat16.
    """

    name: str
    precision: str
    title: str

    @property
    def kind(self) -> str:
        """``cpu`` or ``cuda``."""
        return self.name.partition(":")[0]

    def autocast(self) -> Any:
        """Return a context in which matrix products have this precision."""
        import torch

        bf16 = self.precision == "bf16"
        return torch.autocast(self.kind, dtype=torch.bfloat16, enabled=bf16)


def choose_device(device: str = "auto", precision: str = "auto") -> Device:
    """Return a device (``auto``, ``cpu``, ``cuda``) at a precision (``auto``, ``fp32``, ``bf16``).

    ``auto`` is a GPU where there is one, and bf16 where the hardware multiplies it.
    """
    import torch

    for name, value, known in (
        ("device", device, ("auto", "cpu", "cuda")),
        ("precision", precision, ("auto", "fp32", "bf16")),
    ):
        if value not in known:
            raise ChaosError(f"Unknown {name}.", found=value, expected="one of " + ", ".join(known))
    there = torch.cuda.is_available()
    if device == "cuda" and not there:
        raise ChaosError(
            "A GPU was asked for, and PyTorch sees none.",
            found=f"PyTorch {torch.__version__}",
            expected="an NVIDIA GPU, and a CUDA build of PyTorch",
            todo="leave out the device, or pass cpu; `nvidia-smi` shows whether there is a GPU",
        )
    kind = "cuda" if there and device != "cpu" else "cpu"
    if precision == "auto":
        fast = (
            torch.cuda.is_bf16_supported(including_emulation=False)
            if kind == "cuda"
            else _cpu_multiplies_bf16()
        )
        precision = "bf16" if fast else "fp32"
    if kind == "cuda":
        return Device(kind, precision, torch.cuda.get_device_name())
    n = torch.get_num_threads()
    return Device(kind, precision, f"CPU, {n} thread{'s' if n > 1 else ''}")


@contextmanager
def threads_of(n: int) -> Iterator[None]:
    """Let PyTorch compute with `n` threads within the block; 0 for as many as it takes."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(n or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def deciding_threads(device: Device) -> int:
    """Return the number of threads that decide what is computed: none of a GPU's."""
    import torch

    return torch.get_num_threads() if device.kind == "cpu" else 0


def _cpu_multiplies_bf16() -> bool:
    """Whether the processor has instructions for bfloat16 (AVX-512 BF16, AMX, or Arm's)."""
    import torch

    for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported", "_is_arm_bf16_supported"):
        supported = getattr(torch.cpu, name, None)
        if supported is not None and supported():
            return True
    return False


def is_out_of_memory(fault: BaseException) -> bool:
    """Whether an exception says that memory ran out."""
    import torch

    if isinstance(fault, torch.OutOfMemoryError | MemoryError):
        return True
    message = str(fault).lower()
    return any(words in message for words in ("out of memory", "not enough memory", "alloc_failed"))


def empty_cache(device: Device) -> None:
    """Give memory that PyTorch keeps back to the device."""
    import torch

    if device.kind == "cuda":
        torch.cuda.empty_cache()


def peak_memory_gib(device: Device) -> float:
    """Return the most memory that this process has held: the GPU's, or its own, in GiB."""
    import torch

    if device.kind == "cuda":
        return float(torch.cuda.max_memory_allocated() / 2**30)
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def measured_peak(device: Device, size: int = 0) -> float:
    """Return the fastest that a large matrix product runs here, in FLOP/s.

    Training is compared with this rate, which the hardware reaches in fact, and not with the one
    on its data sheet. The matrices are square, of `size` rows; 0 for a default of the device.
    """
    import torch

    n = size or (8192 if device.kind == "cuda" else 1024)
    dtype = torch.bfloat16 if device.precision == "bf16" else torch.float32
    # Random numbers: hardware draws less power on equal ones, and runs faster than on real ones.
    left = torch.randn((n, n), device=device.name).to(dtype)
    best = float("inf")
    for _ in range(6):
        begun = time.perf_counter()
        left @ left
        if device.kind == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - begun)
    return 2 * n**3 / best

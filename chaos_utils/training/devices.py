"""Where the arithmetic is done, and in which precision."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from chaos_utils.base.errors import ChaosError, counted


@dataclass(frozen=True, slots=True)
class Device:
    """A device as PyTorch names it, a precision, and the hardware in words, for the record.

    The precision is ``fp32``, ``bf16`` or ``fp16``. In the last two weights stay in fp32, and
    matrix products are computed in bfloat16 or float16; fp32 is never rounded to TF32.
    """

    name: str
    precision: str
    title: str
    tf32: bool = False

    @property
    def on_gpu(self) -> bool:
        """Whether it is a GPU."""
        return self.kind == "cuda"

    @property
    def kind(self) -> str:
        """``cpu`` or ``cuda``."""
        return self.name.partition(":")[0]

    def autocast(self) -> Any:
        """Return a context in which matrix products have this precision."""
        import torch

        reduced = self.precision != "fp32"
        return torch.autocast(self.kind, dtype=self.dtype, enabled=reduced)

    @property
    def dtype(self) -> Any:
        """The type of number that matrix products are computed in."""
        import torch

        names = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
        return names[self.precision]

    def taken_by(self, processes: Any) -> "Device":
        """Return the device that accelerate has given this process: of several GPUs, its own."""
        import torch

        if self.kind == "cpu":
            return self
        name = str(processes.device)
        return replace(self, name=name, title=torch.cuda.get_device_name(name))


def choose_device(device: str = "auto", precision: str = "auto") -> Device:
    """Return a device (``auto``, ``cpu``, ``cuda``) at a precision, which is one of the settings.

    ``auto`` is a GPU where there is one, and bf16 where the hardware multiplies matrices of it; on
    a GPU without it fp16, if it has tensor cores. A GPU is then asked to compute the same each
    time: an operation that cannot raises an error, see `allow_nondeterminism`.
    """
    # cuBLAS reads this once, when it starts: without it, sums on a GPU differ from run to run.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    import torch

    if device not in ("auto", "cpu", "cuda"):
        raise ChaosError("Unknown device.", found=device, expected="one of auto, cpu, cuda")
    has_gpu = torch.cuda.is_available()
    if device == "cuda" and not has_gpu:
        raise ChaosError(
            "A GPU was asked for, and PyTorch sees none.",
            found=f"PyTorch {torch.__version__}",
            expected="an NVIDIA GPU, and a CUDA build of PyTorch",
            todo="leave out the device, or pass cpu; `nvidia-smi` shows whether there is a GPU",
        )
    kind = "cuda" if has_gpu and device != "cpu" else "cpu"
    if kind == "cpu" and precision == "fp16":
        raise ChaosError(
            "fp16 gains nothing on a CPU.",
            found="precision=fp16 without a GPU",
            expected="auto, fp32 or bf16",
        )
    if precision == "auto":
        precision = _fastest_on_gpu() if kind == "cuda" else _fastest_on_cpu()
    if kind == "cuda":
        torch.set_float32_matmul_precision("highest")  # no TF32
        # With `warn_only` attention would not take its deterministic backward either.
        torch.use_deterministic_algorithms(True)
        # Nothing reads uninitialised memory here.
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
        return Device(kind, precision, torch.cuda.get_device_name())
    n = torch.get_num_threads()
    return Device(kind, precision, f"CPU, {counted(n, 'thread')}")


def allow_nondeterminism(fault: BaseException) -> str:
    """Let a GPU compute what it cannot compute the same each time; return what is said of that.

    Nothing, and nothing is changed, where an exception says something else.
    """
    import torch

    words = " ".join(str(fault).split())
    if "deterministic" not in words or torch.is_deterministic_algorithms_warn_only_enabled():
        return ""
    torch.use_deterministic_algorithms(True, warn_only=True)
    operation = words.partition(" does not have")[0][:100]
    return f"not deterministic: {operation} cannot be computed the same each time on this GPU"


def gpu_details() -> dict[str, Any]:
    """Describe the GPU that computes and its software: card, memory, driver, CUDA, cuDNN."""
    import torch

    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, check=True)
        driver = done.stdout.splitlines()[0].strip()
    except (OSError, subprocess.CalledProcessError, IndexError):
        driver = "unknown"
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    return {
        "card": properties.name,
        "memory_gib": round(properties.total_memory / 2**30, 1),
        "driver": driver,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
    }


def forget_peak_memory(device: Device) -> None:
    """Begin to watch how much memory of a GPU is taken at most."""
    import torch

    if device.kind == "cuda":
        torch.cuda.reset_peak_memory_stats()


def peak_memory(device: Device) -> dict[str, float]:
    """Return the most memory of a GPU that was taken, for the record; of a CPU, nothing."""
    import torch

    if device.kind != "cuda":
        return {}
    return {"peak_gpu_memory_gib": round(torch.cuda.max_memory_allocated() / 2**30, 2)}


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


def effective_threads(device: Device) -> int:
    """Return the number of threads that decide what is computed: none of a GPU's."""
    import torch

    return torch.get_num_threads() if device.kind == "cpu" else 0


def _fastest_on_gpu() -> str:
    import torch

    if torch.cuda.is_bf16_supported(including_emulation=False):
        return "bf16"
    return "fp16" if torch.cuda.get_device_capability() >= (7, 0) else "fp32"


def _fastest_on_cpu() -> str:
    """Return bf16 where the processor multiplies matrices of it (AMX).

    With the instructions of AVX-512 BF16 alone, MiniLM-L6 trains 1.5 times as long as in fp32.
    """
    import torch

    return "bf16" if torch.cpu.get_capabilities().get("amx_bf16") else "fp32"


def is_out_of_memory(fault: BaseException) -> bool:
    """Whether an exception says that memory ran out."""
    import torch

    if isinstance(fault, torch.OutOfMemoryError | MemoryError):
        return True
    message = str(fault).lower()
    # cuBLAS says the second where its workspace finds no room.
    said = ("out of memory", "cublas_status_not_initialized", "not enough memory", "alloc_failed")
    return any(words in message for words in said)


def to_device(model: Any, device: Device) -> Any:
    """Return a model on a device; a ChaosError says that there is no room for it."""
    try:
        return model.to(device.name)
    except (RuntimeError, MemoryError) as fault:
        if not is_out_of_memory(fault):
            raise
        raise ChaosError(
            "Out of memory: there is no room for the model.",
            found=device.title,
            todo="take a smaller model, end what else fills the memory, or take device=cpu",
        ) from fault

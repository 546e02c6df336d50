"""Hardware: what is chosen, what is said when memory fails, which seconds are counted."""

import os
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from helpers.engine import fit_tiny, given_tiny, small

from chaos_utils.base.errors import ChaosError
from chaos_utils.training import devices
from chaos_utils.training.devices import Device, choose_device
from chaos_utils.training.encoders import find_encoder
from chaos_utils.training.recipes import get_model

CPU = Device("cpu", "fp32", "CPU, 1 thread")


@pytest.fixture
def gpu(torch, monkeypatch):
    """A GPU, as far as choosing it goes: what it can do is set in the dict."""
    can = {"bf16": True, "capability": (8, 0)}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda name=None: f"GPU {name or 0}")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: can["capability"])

    def is_bf16_supported(including_emulation=True):
        return can["bf16"] or including_emulation

    monkeypatch.setattr(torch.cuda, "is_bf16_supported", is_bf16_supported)
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    before = torch.get_float32_matmul_precision()
    yield can
    torch.use_deterministic_algorithms(False)
    torch.utils.deterministic.fill_uninitialized_memory = True
    torch.set_float32_matmul_precision(before)


@pytest.mark.parametrize(
    ("bf16", "capability", "expected"),
    [(True, (8, 0), "bf16"), (False, (7, 5), "fp16"), (False, (6, 1), "fp32")],
)
def test_a_gpu_s_precision_is_what_its_hardware_multiplies(bf16, capability, expected, gpu):
    gpu.update(bf16=bf16, capability=capability)
    found = choose_device()
    assert (found.kind, found.precision, found.tf32) == ("cuda", expected, False)
    assert choose_device(precision="fp32").precision == "fp32"
    assert choose_device("cpu", "fp32").kind == "cpu"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"avx512_f": True, "avx512_bf16": True, "amx_tile": True, "amx_bf16": True}, "bf16"),
        ({"avx512_f": True, "avx512_bf16": True, "amx_tile": False, "amx_bf16": False}, "fp32"),
        ({"architecture": "aarch64"}, "fp32"),
    ],
)
def test_a_cpu_computes_in_bf16_where_it_multiplies_matrices_of_it(
    flags, expected, torch, monkeypatch
):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: flags)
    assert choose_device("cpu").precision == expected
    assert choose_device("cpu", "bf16").precision == "bf16"


def test_a_gpu_is_asked_to_compute_the_same_each_time_and_in_full_fp32(gpu, torch):
    torch.set_float32_matmul_precision("high")
    choose_device("cpu", "fp32")
    assert not torch.are_deterministic_algorithms_enabled()
    choose_device()
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.get_float32_matmul_precision() == "highest"
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"


def test_what_a_gpu_cannot_compute_the_same_each_time_is_said_and_then_allowed(gpu, torch):
    choose_device()
    assert not torch.is_deterministic_algorithms_warn_only_enabled()  # or attention would not be
    words = "scatter_x does not have a deterministic implementation, but you set"
    assert devices.allow_nondeterminism(RuntimeError("something else")) == ""
    found = devices.allow_nondeterminism(RuntimeError(words))
    assert "scatter_x cannot be computed the same each time" in found
    assert torch.is_deterministic_algorithms_warn_only_enabled()
    assert devices.allow_nondeterminism(RuntimeError(words)) == ""  # not for ever


def test_a_process_computes_on_the_gpu_that_accelerate_gave_it(gpu, torch):
    second = SimpleNamespace(device=torch.device("cuda:1"))
    found = choose_device().taken_by(second)
    assert (found.name, found.kind, found.title) == ("cuda:1", "cuda", "GPU cuda:1")
    assert CPU.taken_by(SimpleNamespace(device=torch.device("cpu"))) is CPU


def test_fp16_is_refused_on_a_cpu():
    with pytest.raises(ChaosError, match="fp16 gains nothing"):
        choose_device("cpu", "fp16")


@pytest.fixture
def out_of_memory(torch):
    def raising(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory")

    return raising


def test_memory_that_runs_out_is_one_message(torch, out_of_memory, tmp_path, monkeypatch):
    model = torch.nn.Linear(2, 2)
    monkeypatch.setattr(model, "to", out_of_memory)
    with pytest.raises(ChaosError, match="no room for the model"):
        devices.to_device(model, CPU)
    with monkeypatch.context() as within:
        within.setattr(torch.optim.AdamW, "step", out_of_memory)
        with pytest.raises(ChaosError, match=r"Out of memory(.|\n)*step 1 of 4"):
            fit_tiny(tmp_path / "run")

    def broken(name):
        raise RuntimeError("something else")

    monkeypatch.setattr(model, "to", broken)
    with pytest.raises(RuntimeError, match="something else"):
        devices.to_device(model, CPU)


@pytest.mark.parametrize(("family", "unused"), [("xlnet", ["transformer.mask_emb"]), ("bert", [])])
def test_weights_that_no_logit_depends_on_are_frozen(family, unused, tmp_path):
    folder = find_encoder(get_model(f"tiny-{family}")).folder
    model, _ = fit_tiny(tmp_path, folder=folder)
    assert [name for name, p in model.named_parameters() if not p.requires_grad] == unused


def test_the_seconds_of_a_resumed_run_are_those_of_all_its_calls(tmp_path, monkeypatch):
    from chaos_utils.training.trainer import VotesTrainer

    step = VotesTrainer.training_step

    def slow(*given):
        time.sleep(0.1)
        return step(*given)

    with monkeypatch.context() as within:
        within.setattr(VotesTrainer, "training_step", slow)
        with pytest.raises(KeyboardInterrupt):
            fit_tiny(tmp_path / "run", stop=3)
    _, account = fit_tiny(tmp_path / "run", device=replace(CPU, title="another CPU"))
    assert account.seconds > 0.3
    assert account.cpu_seconds > 0
    assert account.calls == ["CPU, 1 thread", "another CPU"]
    assert account.steps == 4


@pytest.fixture
def four(gpu, torch, monkeypatch):
    """Four GPUs in one process, as far as accelerate looks."""
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device=None: SimpleNamespace(
        major=9, minor=0, total_memory=80 * 2**30
    ))  # fmt: skip


@pytest.mark.usefixtures("four")
def test_a_gpu_is_taken_after_a_run_on_the_cpu_and_one_alone(tmp_path):
    from chaos_utils.training import trainer

    assert trainer.processes_of(CPU).device.type == "cpu"
    place = choose_device()
    processes = trainer.processes_of(place)
    assert processes.device.type == "cuda"
    settings = small(epochs=1, batch_size=16, learning_rate=1e-3, weight_decay=0.0,
                     warmup_ratio=0.0, patience=0)  # fmt: skip
    job = trainer.Job(
        **given_tiny() | {"settings": settings}, scores=dict, device=place, work=tmp_path
    )
    arguments = trainer.arguments_for(job, 2)
    assert arguments.device.type == "cuda"
    assert arguments.n_gpu == 1  # never DataParallel
    assert (arguments.train_batch_size, arguments.gradient_accumulation_steps) == (8, 2)
    assert (arguments.bf16, arguments.fp16, arguments.tf32) == (True, False, False)
    assert trainer.processes_of(CPU).device.type == "cpu"

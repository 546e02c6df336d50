"""Hardware: what is chosen, what is said when memory fails, which seconds are counted."""

import os
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.engine import fit_tiny, small, weights

from chaos_utils.base.errors import ChaosError
from chaos_utils.training import devices, loop
from chaos_utils.training import finetune as engine
from chaos_utils.training.devices import Device, choose_device
from chaos_utils.training.encoders import find_encoder, load_model, load_tokenizer
from chaos_utils.training.encoding import encode
from chaos_utils.training.recipes import get_model

CPU = Device("cpu", "fp32", "CPU, 1 thread")
FP16 = replace(CPU, precision="fp16")


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


def test_a_gpu_is_asked_to_compute_the_same_each_time_and_in_full_fp32(gpu, torch):
    torch.set_float32_matmul_precision("high")
    choose_device("cpu", "fp32")
    assert not torch.are_deterministic_algorithms_enabled()
    choose_device()
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.get_float32_matmul_precision() == "highest"
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"


def test_a_process_computes_on_the_gpu_that_accelerate_gave_it(gpu, torch):
    second = SimpleNamespace(device=torch.device("cuda:1"))
    found = choose_device().taken_by(second)
    assert (found.name, found.kind, found.title) == ("cuda:1", "cuda", "GPU cuda:1")
    assert CPU.taken_by(SimpleNamespace(device=torch.device("cpu"))) is CPU


def test_fp16_is_refused_on_a_cpu():
    with pytest.raises(ChaosError, match="fp16 gains nothing"):
        choose_device("cpu", "fp16")


def test_fp16_scales_the_gradients_and_resumes_exactly(tmp_path, monkeypatch):
    from safetensors import safe_open

    gradients, scales = loop._FitLoop.add_gradients, []

    def watched(fitting, *more):
        scales.append(fitting.scaler.get_scale())
        return gradients(fitting, *more)

    monkeypatch.setattr(loop._FitLoop, "add_gradients", watched)
    with pytest.raises(KeyboardInterrupt):
        fit_tiny(tmp_path / "run", stop=3, device=FP16)
    (path,) = (tmp_path / "run").glob("checkpoint-*")
    with safe_open(path, "pt") as content:
        assert '"_growth_tracker": 3' in content.metadata()["progress"]
    resumed, unbroken = (fit_tiny(tmp_path / name, device=FP16) for name in ("run", "unbroken"))
    assert min(scales) > 1000
    assert resumed[1].curve == unbroken[1].curve
    assert (weights(resumed[0]) == weights(unbroken[0])).all()
    # the loss is the same but for rounding: had a scale been left in, no weight would be so close
    exact, _ = fit_tiny(tmp_path / "exact")
    assert 0 < np.median(np.abs(weights(unbroken[0]) - weights(exact))) < 1e-4


def test_a_step_whose_gradients_overflow_in_fp16_is_left_out(tmp_path, monkeypatch):
    gradients, seen = loop._FitLoop.add_gradients, []

    def overflowing(fitting, *more):
        loss = gradients(fitting, *more)
        seen.append((fitting.scaler.get_scale(), weights(fitting.model)))
        if len(seen) == 1:
            fitting.model.classifier.bias.grad[0] = float("inf")
        return loss

    monkeypatch.setattr(loop._FitLoop, "add_gradients", overflowing)
    model, _ = fit_tiny(tmp_path / "run", device=FP16)
    assert (seen[0][1] == seen[1][1]).all()  # nothing was learnt from it
    assert seen[1][0] == seen[0][0] / 2
    assert (weights(model) != seen[1][1]).any()
    assert np.isfinite(weights(model)).all()


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
        within.setattr(torch, "zeros_like", out_of_memory)
        with pytest.raises(ChaosError, match="moments of AdamW"):
            fit_tiny(tmp_path / "run")
    with monkeypatch.context() as within:
        within.setattr(torch.optim.AdamW, "step", out_of_memory)
        with pytest.raises(ChaosError, match="update in step 1"):
            fit_tiny(tmp_path / "run")

    def broken(name):
        raise RuntimeError("something else")

    monkeypatch.setattr(model, "to", broken)
    with pytest.raises(RuntimeError, match="something else"):
        devices.to_device(model, CPU)


@pytest.mark.parametrize(("family", "unused"), [("xlnet", ["transformer.mask_emb"]), ("bert", [])])
def test_weights_that_no_logit_depends_on_are_frozen(family, unused):
    folder = find_encoder(get_model(f"tiny-{family}")).folder
    model = load_model(folder, 3)
    corpus = engine.load_data(small()).train.take(range(4))
    loop.freeze_unused(model, encode(load_tokenizer(folder), corpus, 64), CPU)
    assert [name for name, p in model.named_parameters() if not p.requires_grad] == unused
    assert all(p.grad is None for p in model.parameters())


def test_the_seconds_of_a_resumed_run_are_those_of_all_its_calls(tmp_path, monkeypatch):
    step = loop._FitLoop.make_step

    def slow(fitting):
        time.sleep(0.1)
        step(fitting)

    with monkeypatch.context() as within:
        within.setattr(loop._FitLoop, "make_step", slow)
        with pytest.raises(KeyboardInterrupt):
            fit_tiny(tmp_path / "run", stop=3)
    _, state = fit_tiny(tmp_path / "run", device=replace(CPU, title="another CPU"))
    assert state.seconds > 0.3
    assert state.cpu_seconds > 0
    assert state.calls == ["CPU, 1 thread", "another CPU"]
    assert state.pairs == 64

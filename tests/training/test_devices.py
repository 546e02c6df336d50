"""Hardware: what is chosen, what is said when memory or locks fail, what is measured."""

import fcntl
import os
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from filelock import FileLock
from helpers.engine import small, stop_at
from safetensors import safe_open

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.training import cache, devices, loop
from chaos_utils.training import finetune as engine
from chaos_utils.training.devices import Device, choose_device
from chaos_utils.training.encoders import find_encoder, load_model, load_tokenizer
from chaos_utils.training.encoding import encode
from chaos_utils.training.recipes import get_model

pytestmark = pytest.mark.usefixtures("one_thread", "own_work")
CPU = Device("cpu", "fp32", "CPU, 1 thread")


@pytest.fixture
def gpu(monkeypatch):
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


def test_a_gpu_is_asked_to_compute_the_same_each_time_and_in_full_fp32(gpu):
    torch.set_float32_matmul_precision("high")
    choose_device("cpu", "fp32")
    assert not torch.are_deterministic_algorithms_enabled()
    choose_device()
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.get_float32_matmul_precision() == "highest"
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"


def test_a_process_computes_on_the_gpu_that_accelerate_gave_it(gpu):
    second = SimpleNamespace(device=torch.device("cuda:1"))
    found = choose_device().taken_by(second)
    assert (found.name, found.kind, found.title) == ("cuda:1", "cuda", "GPU cuda:1")
    assert CPU.taken_by(SimpleNamespace(device=torch.device("cpu"))) is CPU


def test_fp16_is_refused_on_a_cpu():
    with pytest.raises(ChaosError, match="fp16 gains nothing"):
        choose_device("cpu", "fp16")


@pytest.fixture
def fit(tmp_path):
    """A function that trains a tiny model for a few steps, and returns it."""
    folder = find_encoder(get_model("tiny-distilbert")).folder
    corpus = engine.load_data(small()).train.take(range(64))
    encoded = encode(load_tokenizer(folder), corpus, 64)
    plan = [np.arange(16 * k, 16 * k + 16) for k in range(4)]
    job = loop.Job(encoded, corpus.targets, plan, 4, 1e-2, 0.0, 0.0, 0)

    def trained(precision, work, stop=0):
        def progress(state):
            if state.step == stop:
                raise KeyboardInterrupt

        (tmp_path / work).mkdir(exist_ok=True)
        device = replace(CPU, precision=precision)
        torch.manual_seed(0)
        model = load_model(folder, 3)
        loop.fit(
            model, job, device, tmp_path / work, evaluate=lambda *_: {"accuracy": 0.0},
            accelerator=engine._accelerator(device), checkpoint_seconds=0, progress=progress,
        )  # fmt: skip
        return model

    return trained


def weights(model):
    return torch.cat([weight.detach().flatten() for weight in model.parameters()])


def test_fp16_scales_the_gradients_and_resumes_exactly(fit, tmp_path, monkeypatch):
    gradients, scales = loop._gradients, []

    def watched(wrapped, scaler, *more):
        scales.append(scaler.get_scale())
        return gradients(wrapped, scaler, *more)

    monkeypatch.setattr(loop, "_gradients", watched)
    with pytest.raises(KeyboardInterrupt):
        fit("fp16", "run", stop=3)
    (path,) = (tmp_path / "run").glob("checkpoint-*")
    with safe_open(path, "pt") as content:
        assert '"_growth_tracker": 3' in content.metadata()["progress"]
    resumed, unbroken = fit("fp16", "run"), fit("fp16", "unbroken")
    assert min(scales) > 1000
    assert torch.equal(weights(resumed), weights(unbroken))
    # the loss is the same but for rounding: had a scale been left in, no weight would be so close
    exact = weights(fit("fp32", "exact"))
    assert 0 < (weights(unbroken) - exact).abs().median() < 1e-4


def test_a_step_whose_gradients_overflow_in_fp16_is_left_out(fit, monkeypatch):
    gradients, seen = loop._gradients, []

    def overflowing(wrapped, scaler, *more):
        loss = gradients(wrapped, scaler, *more)
        seen.append((scaler.get_scale(), weights(wrapped)))
        if len(seen) == 1:
            wrapped.classifier.bias.grad[0] = float("inf")
        return loss

    monkeypatch.setattr(loop, "_gradients", overflowing)
    model = fit("fp16", "run")
    assert torch.equal(seen[0][1], seen[1][1])  # nothing was learnt from it
    assert seen[1][0] == seen[0][0] / 2
    assert not torch.equal(weights(model), seen[1][1])
    assert weights(model).isfinite().all()


def out_of_memory(*_, **__):
    raise torch.OutOfMemoryError("CUDA out of memory")


def test_a_model_that_does_not_fit_is_one_message(monkeypatch):
    model = torch.nn.Linear(2, 2)
    monkeypatch.setattr(model, "to", out_of_memory)
    with pytest.raises(ChaosError, match="no room for the model"):
        devices.placed(model, CPU)

    def broken(name):
        raise RuntimeError("something else")

    monkeypatch.setattr(model, "to", broken)
    with pytest.raises(RuntimeError, match="something else"):
        devices.placed(model, CPU)


def test_memory_that_runs_out_for_the_optimiser_is_one_message(tmp_path, monkeypatch):
    zeros = torch.zeros_like
    monkeypatch.setattr(torch, "zeros_like", out_of_memory)
    with pytest.raises(ChaosError, match="moments of AdamW"):
        engine.finetune(small(), tmp_path / "run")
    monkeypatch.setattr(torch, "zeros_like", zeros)
    with monkeypatch.context() as within:
        within.setattr(torch.optim.AdamW, "step", out_of_memory)
        with pytest.raises(ChaosError, match="update in step 1"):
            engine.finetune(small(), tmp_path / "run")
    assert engine.finetune(small(), tmp_path / "run").record["fits"][0]["pairs"] == 96


def test_the_moments_that_are_made_first_are_those_of_the_first_step(monkeypatch):
    def stepped(made):
        torch.manual_seed(0)
        layer = torch.nn.Linear(3, 2)
        optimizer = torch.optim.AdamW(layer.parameters(), lr=0.1, fused=True)
        if made:
            loop._make_moments(optimizer, CPU)
            # the step finds them all: it allocates none
            monkeypatch.setattr(torch, "zeros_like", out_of_memory)
        layer(torch.ones(1, 3)).sum().backward()
        optimizer.step()
        return torch.cat([p.detach().flatten() for p in layer.parameters()])

    assert torch.equal(stepped(False), stepped(True))


@pytest.mark.parametrize(("family", "unused"), [("xlnet", ["transformer.mask_emb"]), ("bert", [])])
def test_weights_that_no_logit_depends_on_are_frozen(family, unused):
    folder = find_encoder(get_model(f"tiny-{family}")).folder
    model = load_model(folder, 3)
    corpus = engine.load_data(small()).train.take(range(4))
    loop.freeze_unused(model, encode(load_tokenizer(folder), corpus, 64), CPU)
    assert [name for name, p in model.named_parameters() if not p.requires_grad] == unused
    assert all(p.grad is None for p in model.parameters())


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="Linux alone has it")
def test_the_memory_of_a_run_is_not_that_of_what_ran_before():
    def hold(mib):
        block = np.ones(mib * 2**17)  # of 8 bytes
        return block.sum()

    hold(600)
    before = devices.peak_memory_gib(CPU)
    devices.reset_peak_memory(CPU)
    fresh = devices.peak_memory_gib(CPU)
    assert fresh < before - 0.4
    hold(300)
    assert fresh + 0.2 < devices.peak_memory_gib(CPU) < before


def test_the_speed_is_measured_on_smaller_matrices_where_memory_is_full(monkeypatch):
    randn, asked = torch.randn, []

    def short(size, **more):
        asked.append(size[0])
        return out_of_memory() if size[0] > 100 else randn(size, **more)

    monkeypatch.setattr(torch, "randn", short)
    assert devices.measured_peak(CPU, 256) > 0
    assert asked == [256, 128, 64]


def test_a_run_waits_for_another_process_that_makes_it():
    said = []
    (paths.cache() / "locks").mkdir()
    other = FileLock(paths.cache() / "locks" / "key")
    other.acquire()

    def say(text):
        said.append(text)
        other.release()

    with cache.only_one("key", say):
        assert said == ["another process makes this run: waiting for it"]
        with pytest.raises(TimeoutError):
            other.acquire(timeout=0)
    with cache.only_one("key", said.append):
        pass
    assert len(said) == 1


def test_a_file_system_that_refuses_locks_stops_nothing(monkeypatch):
    def refused(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refused)
    said = []
    with cache.only_one("key", said.append):
        assert cache.work_folder("key").is_dir()
    assert len(said) == 1
    assert "takes no locks" in said[0]


def test_the_seconds_of_a_resumed_run_are_those_of_all_its_calls(tmp_path, monkeypatch):
    step = loop._step

    def slow(*arguments):
        time.sleep(0.3)
        step(*arguments)

    with monkeypatch.context() as within:
        within.setattr(loop, "_step", slow)
        with pytest.raises(KeyboardInterrupt):
            engine.finetune(small(), tmp_path / "run", checkpoint_seconds=0, report=stop_at(4))
    other = replace(CPU, title="another CPU")
    monkeypatch.setattr(engine, "choose_device", lambda *_: other)
    fit = engine.finetune(small(), tmp_path / "run").record["fits"][0]
    assert fit["seconds"] > 1.2 > fit["cpu_seconds"] > 0
    assert fit["pairs_per_second"] < 96 / 1.2
    assert (fit["calls"], fit["devices"]) == (2, ["CPU, 1 thread", "another CPU"])
    assert fit["pairs"] == 96

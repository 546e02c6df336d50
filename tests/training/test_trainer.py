"""What a fit computes, beside plain PyTorch; what passes through; what is said when it fails."""

import errno
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.engine import fit_tiny, given_tiny, weights

from chaos_utils.base.errors import ChaosError
from chaos_utils.training.devices import Device
from chaos_utils.training.encoders import find_encoder, load_model
from chaos_utils.training.encoding import BatchPlan
from chaos_utils.training.recipes import get_model
from chaos_utils.training.settings import read_settings
from chaos_utils.training.trainer_settings import check_trainer

STEADY = {
    "epochs": 1, "patience": 0, "batch_size": 20, "weight_decay": 0.1, "learning_rate": 0.5,
}  # fmt: skip


@pytest.mark.usefixtures("no_dropout")
@pytest.mark.parametrize("trainer", ["optim: sgd", "optim: sgd, gradient_accumulation_steps: 5"])
def test_one_step_and_a_batch_that_is_not_full_are_those_of_plain_pytorch(trainer, torch, tmp_path):
    found, account = fit_tiny(tmp_path, settings=STEADY | {"trainer": trainer})
    given, folder = given_tiny(), find_encoder(get_model("tiny-distilbert")).folder
    torch.manual_seed(0)
    model = load_model(folder, 3).train()
    decayed = [p for p in model.parameters() if p.ndim > 1]  # neither biases nor norms
    others = [p for p in model.parameters() if p.ndim == 1]
    optimizer = torch.optim.SGD(  # AdamW makes much of the last bit of a gradient near 0
        [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    )
    plan = BatchPlan(given["encoded"].lengths, 20, 0).epoch(0)
    losses, sizes = [], []
    for step, batch in enumerate(plan):
        items = batch[batch >= 0]
        for group in optimizer.param_groups:
            group["lr"] = 0.5 * (2 - step) / 2
        optimizer.zero_grad()
        logits = model(**given["encoded"].batch(items)).logits
        targets = torch.tensor(given["targets"][items], dtype=torch.float32)
        loss = torch.nn.functional.cross_entropy(logits, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        sizes.append(len(items))
    assert sorted(sizes) == [12, 20]
    assert [point["loss"] for point in account.curve] == pytest.approx(losses, abs=2e-6)
    assert [point["pairs"] for point in account.curve] == np.cumsum(sizes).tolist()
    assert weights(found) == pytest.approx(weights(model), abs=1e-6)


def test_bf16_learns_what_fp32_learns(tmp_path):
    runs = [
        fit_tiny(tmp_path / precision, device=Device("cpu", precision, "CPU, 1 thread"))
        for precision in ("fp32", "bf16")
    ]
    full, half = ([point["loss"] for point in account.curve] for _, account in runs)
    assert full != half
    assert full == pytest.approx(half, abs=2e-3)
    assert runs[1][0].dtype == runs[0][0].dtype  # weights stay in full precision


def test_arguments_pass_through_and_the_launcher_s_own_do_not(tmp_path, monkeypatch):
    usual, _ = fit_tiny(tmp_path / "usual")
    other, _ = fit_tiny(tmp_path / "other", settings={"trainer": "max_grad_norm: 0.01"})
    assert (weights(usual) != weights(other)).any()
    for name, value in (("DYNAMO_BACKEND", "inductor"), ("MIXED_PRECISION", "bf16"),
                        ("GRADIENT_ACCUMULATION_STEPS", "4")):  # fmt: skip
        monkeypatch.setenv(f"ACCELERATE_{name}", value)
    launched, account = fit_tiny(tmp_path / "launched")
    assert (weights(launched) == weights(usual)).all()
    assert account.accumulation == 1


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("optim: adafactor,adam_beta2: 0.98", "adam_beta2: 0.98, optim: adafactor"),
        ({"max_grad_norm": 0.5, "bf16": True}, "bf16: true, max_grad_norm: 0.5"),
        ("{lr_scheduler_kwargs: {num_cycles: 2}}", "lr_scheduler_kwargs: {num_cycles: 2}"),
        ("", ""),
    ],
)
def test_the_trainer_s_arguments_have_one_spelling(given, found):
    settings = read_settings({"model": "tiny-bert", "trainer": given})
    assert settings.trainer == found
    assert read_settings({"model": "tiny-bert", "trainer": settings.trainer}) == settings


@pytest.mark.parametrize("text", ["optim", "[1]", "a: {", "optim:"])
def test_what_is_no_list_of_names_and_values_is_refused(text):
    with pytest.raises(ChaosError, match="name: value, name: value"):
        read_settings({"model": "tiny-bert", "trainer": text})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("learning_rate: 1", "has a setting of its own(.|\n)*learning_rate"),
        ("fp16: true", "expected: *precision"),
        ("save_steps: 3", "set by the engine"),
        ("push_to_hub: true", "set by the engine"),
        ("max_grad_nrm: 3", "did you mean 'max_grad_norm'"),
        ("gradient_accumulation_steps: 0", "1 or more"),
    ],
)
def test_names_that_are_unknown_or_taken_are_refused(text, message):
    with pytest.raises(ChaosError, match=message):
        check_trainer(text)


def test_values_that_the_trainer_does_not_take_are_one_message(tmp_path):
    with pytest.raises(ChaosError, match="no-such-rule"):
        fit_tiny(tmp_path, settings={"trainer": "optim: no-such-rule"})


def test_a_disk_without_room_is_found_before_the_first_step(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    with pytest.raises(ChaosError, match="no room for the checkpoints"):
        fit_tiny(tmp_path)
    assert not list(tmp_path.iterdir())


def failing(torch, monkeypatch, place, fault, at):
    """Let a function fail in one of its calls."""
    calls, works = [], getattr(*place)

    def called(*given, **more):
        calls.append(given)
        if len(calls) == at:
            raise fault
        return works(*given, **more)

    monkeypatch.setattr(*place, called)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "The disk is full(.|\n)*after step 3 of 4",
        ),
        (RuntimeError("PytorchStreamWriter failed: No space left"), "The disk is full"),
    ],
)
def test_a_disk_that_is_full_is_one_message_and_the_run_goes_on_later(
    fault, message, torch, tmp_path, monkeypatch
):
    with monkeypatch.context() as patch:
        # a checkpoint saves arguments, optimiser, schedule and random state
        failing(torch, patch, (torch, "save"), fault, at=2 + 4 + 4)
        with pytest.raises(ChaosError, match=message):
            fit_tiny(tmp_path)
    said = []
    resumed, _ = fit_tiny(tmp_path, say=said.append)
    assert said[0].startswith("resuming after step 2")
    unbroken, _ = fit_tiny(tmp_path / "unbroken")
    assert (weights(resumed) == weights(unbroken)).all()


def test_a_gpu_that_is_lost_is_one_message(torch, tmp_path, monkeypatch):
    from chaos_utils.training.trainer import VotesTrainer

    lost = RuntimeError("CUDA error: the launch timed out and was terminated")
    failing(torch, monkeypatch, (VotesTrainer, "training_step"), lost, at=2)
    with pytest.raises(ChaosError, match=r"The GPU failed(.|\n)*step 2 of 4"):
        fit_tiny(tmp_path)


def test_a_call_that_ended_without_a_word_says_how_far_it_had_come(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        fit_tiny(tmp_path, stop=4, checkpoint_seconds=1e9)
    said = []
    shutil.rmtree(tmp_path / "checkpoint-4")
    fit_tiny(tmp_path, say=said.append)
    assert said[0] == "resuming after step 2; the call before ended after step 4"


def test_checkpoints_are_as_far_apart_as_they_cost(tmp_path, monkeypatch):
    from chaos_utils.training import trainer

    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(trainer, "time", SimpleNamespace(
        monotonic=lambda: clock.now, process_time=lambda: 0.0,
    ))  # fmt: skip
    job = trainer.Job(**given_tiny(), scores=dict, device=None, work=tmp_path,
                      checkpoint_seconds=100)  # fmt: skip

    def due(cost):
        clock.now = 0.0
        watch = trainer._Watch(job, trainer.Account())
        watch.cost = cost
        found = []
        for step in range(1, 400):
            clock.now += 1.0
            if watch._is_due(step):
                found.append(step)
                watch.saved = clock.now
        return np.diff([0, *found])

    assert set(due(cost=0.0)) <= {100, 101}
    assert set(due(cost=9.0)) <= {180, 181}  # twenty times as long as one takes


def test_what_is_said_while_it_runs_has_loss_rate_throughput_and_memory(tmp_path):
    notes = []
    fit_tiny(tmp_path, report=lambda title, done, total, note: notes.append((done, total, note)))
    assert [done for done, *_ in notes] == [1, 2, 3, 4]
    assert all(total == 4 for _, total, _ in notes)
    for *_, note in notes:
        loss, rate, speed, memory = note.split(", ")
        assert loss.startswith("loss 1.")
        assert rate.startswith("rate 0.0")
        assert speed.endswith(" pairs/s")
        assert memory.endswith(" GiB")


@pytest.mark.slow
def test_a_compiled_model_learns_the_same_and_resumes(tmp_path):
    compiled = {"trainer": "torch_compile: true, torch_compile_backend: aot_eager"}
    plain, _ = fit_tiny(tmp_path / "plain")
    with pytest.raises(KeyboardInterrupt):
        fit_tiny(tmp_path / "compiled", settings=compiled, stop=3)
    resumed, account = fit_tiny(tmp_path / "compiled", settings=compiled)
    assert len(account.calls) == 2
    assert weights(resumed) == pytest.approx(weights(plain), abs=1e-3)

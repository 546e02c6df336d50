"""What is found out before the first step: all of it at once."""

import json
import os
import shutil
from types import SimpleNamespace

import pytest
import yaml
from helpers.engine import small, write_votes

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import digest
from chaos_utils.training import hub, preflight
from chaos_utils.training.estimates import Gpu
from chaos_utils.training.plans import read_plan
from chaos_utils.training.preflight import Site
from chaos_utils.training.recipes import TINY_FAMILIES, get_model
from chaos_utils.training.settings import complete
from chaos_utils.training.trial_steps import TrialResult, config_in, step_of, try_steps

COMMIT = "0123456789abcdef0123456789abcdef01234567"
OFFERED = COMMIT[::-1]
HERE = Site("cpu", Gpu("H100", 80, 989), has_gpu=False)
TINY = {"model": "tiny-bert", "data": "sample"}


@pytest.fixture
def checkout(plans_folder):
    """A function that checks a plan of runs with such settings in it."""

    def check(*settings, site=HERE, models=None, needs="", **more):
        runs = [{"name": f"run-{n}", "why": "x", "settings": one, "needs": needs}
                for n, one in enumerate(settings)]  # fmt: skip
        content = {"title": "t", "runs": runs, "models": models or {}}
        (plans_folder / "mine.yml").write_text(yaml.safe_dump(content))
        plan = read_plan("mine")
        return preflight.preflight(plan, plan.runs, site, **more)

    return check


class Api:
    """A hub with one repository, whose files are named, and maybe an offer of safetensors."""

    def __init__(self, *files, offered=()):
        self.files, self.offered = files, offered

    def model_info(self, repository, *, revision=None, **_):
        files = self.offered if str(revision).startswith("refs/pr/") else self.files
        if not files:
            raise ConnectionError("no network")
        siblings = [SimpleNamespace(rfilename=name, size=7, lfs={"sha256": "f" * 64})
                    for name in files]  # fmt: skip
        return SimpleNamespace(sha=COMMIT if files is self.files else OFFERED, siblings=siblings)

    def get_repo_discussions(self, repository, **_):
        return iter([SimpleNamespace(num=5)] if self.offered else [])


@pytest.fixture
def hub_with(monkeypatch):
    """A function that puts another hub in the place of the real one."""

    def put(*files, **more):
        monkeypatch.setattr(hub, "_api", lambda: Api(*files, **more))
        monkeypatch.setattr(hub, "config_folder", lambda model, revision: None)

    return put


def cached(model, commit=COMMIT):
    """Put a tiny model into the cache as if it had been fetched from the hub."""
    place = paths.cache() / "hub" / f"models--{get_model(model).hub.replace('/', '--')}"
    folder = place / "snapshots" / commit
    shutil.copytree(paths.cache() / "encoders" / "tiny-bert", folder)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(commit)
    return folder


def test_runs_with_nothing_wrong_pass_and_are_costed(checkout, empty_cache):
    runs = checkout(TINY, {**TINY, "task": "alphanli", "seed": 1})
    assert [run.spec.name for run in runs] == ["run-0", "run-1"]
    for run in runs:
        assert 1 < run.cost.memory_gib < 1.1
        assert run.cost.hours[0] < 0.6
    assert not list(paths.results().glob("*/run.json"))


def test_all_problems_are_in_one_message(checkout, hub_with, tmp_path):
    hub_with()
    (tmp_path / "results" / "run-0").mkdir()
    (tmp_path / "results" / "run-0" / "notes.txt").write_text("mine")
    with pytest.raises(ChaosError) as fault:
        checkout(
            {"model": "bert-base", "data": str(tmp_path)},
            {**TINY, "init": "nowhere"},
            {**TINY, "max_length": 100_000},
            {"model": "./nothing", "data": "sample"},
            site=Site("cpu", Gpu("H100", 80, 989), has_gpu=False, max_hours=0.1),
        )
    message = str(fault.value)
    for part in (
        "Nothing was started: 7 problems.", "The run's folder holds something else",
        "no finished run here", "neither in the cache nor within reach", "no network",
        "This folder holds no model", "max_length exceeds", "in this data folder",
        "longer than the machine",
    ):  # fmt: skip
        assert part in message


def test_own_votes_are_read_and_have_no_estimate_of_hours(checkout, tmp_path):
    votes = write_votes(tmp_path / "votes.csv")
    settings = {"model": "tiny-bert", "train": str(votes), "n_folds": 3}
    (run,) = checkout(settings)
    assert run.cost.hours is None
    assert run.cost.disk_gib > 0
    with pytest.raises(ChaosError, match=r"no such text(?s:.)*run-1"):
        checkout(settings, {**settings, "text": "pots"})


def test_a_device_that_is_not_there_is_found_out(checkout):
    with pytest.raises(ChaosError, match="PyTorch sees none"):
        checkout(TINY, site=Site("cuda", None, has_gpu=False))
    with pytest.raises(ChaosError, match="fp16 gains nothing"):
        checkout({**TINY, "precision": "fp16"})


def test_settings_of_all_runs_are_checked_before_anything_else(checkout):
    with pytest.raises(ChaosError, match=r"2 problems(?s:.)*run-0(?s:.)*run-1"):
        checkout({**TINY, "loss": "soft"}, {"model": "tiny-brt"})


def test_a_run_may_start_from_one_that_comes_before(checkout):
    checkout(TINY, {**TINY, "init": "run-0"})
    with pytest.raises(ChaosError, match=r"no finished run(?s:.)*run-0"):
        checkout({**TINY, "init": "run-1"}, TINY)


def test_what_the_hub_resolves_is_kept_beside_the_plan(checkout, hub_with, empty_cache):
    hub_with("model.safetensors", "tokenizer.json")
    checkout({"model": "bert-base", "data": "sample"}, models={"bert-base": {}})
    plan = read_plan("mine")
    assert plan.revision_of("bert-base") == COMMIT
    assert plan.resolved["bert-base"].weights["model.safetensors"].sha256 == "f" * 64
    assert plan.runs[0].settings["revision"] == COMMIT


def test_pickled_weights_are_refused_and_an_offer_of_the_hub_is_named(checkout, hub_with):
    models = {"bart-large": {"note": "Known since 2026."}}
    bart = {"model": "bart-large", "data": "sample"}
    hub_with("pytorch_model.bin", "vocab.json")
    with pytest.raises(ChaosError, match=r"Known since 2026\.(?s:.)*pytorch_model\.bin") as fault:
        checkout(bart, models=models)
    assert "Use in safetensors" in str(fault.value)
    hub_with("pytorch_model.bin", offered=("model.safetensors",))
    with pytest.raises(ChaosError, match=f"pin {OFFERED}"):
        checkout(bart, models=models)
    assert not read_plan("mine").revisions_path.exists()


def test_weights_in_the_cache_need_no_network_and_are_compared(checkout, hub_with, empty_cache):
    hub_with()
    folder = cached("bert-base")
    checkout({"model": "bert-base", "data": "sample"}, models={"bert-base": {}})
    assert read_plan("mine").revision_of("bert-base") == COMMIT
    path = read_plan("mine").revisions_path
    content = json.loads(path.read_text())
    weights = content["models"]["bert-base"]["weights"]["model.safetensors"]
    for sha256, message in ((digest(folder / "model.safetensors"), ""), ("0" * 64, "SHA-256")):
        weights["sha256"] = sha256
        path.write_text(json.dumps(content))
        if not message:
            checkout({"model": "bert-base", "data": "sample"}, models={"bert-base": {}})
            continue
        with pytest.raises(ChaosError, match="SHA-256 differs"):
            checkout({"model": "bert-base", "data": "sample"}, models={"bert-base": {}})


def test_a_tokenizer_that_needs_sentencepiece_is_found_out(checkout, hub_with, monkeypatch):
    hub_with("model.safetensors", "spiece.model")
    monkeypatch.setattr(hub, "find_spec", lambda name: None)
    with pytest.raises(ChaosError, match="pip install sentencepiece"):
        checkout({"model": "xlnet-base", "data": "sample"})


def test_memory_and_disk_are_compared_with_what_is_there(checkout, hub_with, monkeypatch):
    hub_with("model.safetensors", "tokenizer.json")
    large = {"model": "roberta-large", "data": "sample"}
    small_card, said = Site("auto", Gpu("T4", 8, 65), has_gpu=False), []
    checkout(large, site=small_card, needs="gpu", say=said.append)
    assert "T4 has 8.0: it may have to be made in parts" in said[-1]
    tiny_card = Site("auto", Gpu("T4", 4, 65), has_gpu=False)
    with pytest.raises(ChaosError, match=r"where: +run-0, T4(?s:.)*4\.0 GiB(?s:.)*about 7\."):
        checkout(large, site=tiny_card, needs="gpu")
    monkeypatch.setattr(preflight, "available_memory_gib", lambda: 2.5)
    with pytest.raises(ChaosError, match=r"this machine(?s:.)*2\.5 GiB"):
        checkout(large)
    monkeypatch.setattr(preflight, "available_memory_gib", lambda: 64.0)
    free = SimpleNamespace(free=5 * 2**30)
    monkeypatch.setattr(preflight.shutil, "disk_usage", lambda folder: free)
    with pytest.raises(ChaosError, match=r"5\.0 GiB free(?s:.)*10\.6 GiB(?s:.)*CHAOS_CACHE"):
        checkout(large)


def test_on_a_gpu_each_step_is_tried_once_and_its_time_and_memory_count(checkout, monkeypatch):
    tried = []

    def in_own_process(steps, site):
        tried.extend(steps)
        return [TrialResult(2, 7.5, 0.1), TrialResult(fault="no room for 128 tokens")][: len(steps)]

    monkeypatch.setattr(preflight, "in_own_process", in_own_process)
    site, said = Site("auto", Gpu("H100", 80, 989), has_gpu=True), []
    (first, second) = checkout(TINY, {**TINY, "seed": 1}, site=site, say=said.append)
    assert len(tried) == 1
    assert (tried[0].settings.batch_size, tried[0].settings.max_length) == (32, 128)
    assert first.cost.memory_gib == second.cost.memory_gib == 7.5
    assert first.cost.hours[0] == pytest.approx(0.1 * 29465 / 3600 + 0.05)
    assert "will be made in 2 parts" in said[1]
    with pytest.raises(ChaosError, match=r"run-1, H100(?s:.)*128 tokens"):
        checkout(TINY, {**TINY, "task": "alphanli"}, site=site)
    failed = TrialResult(fault="CUDA error: unspecified launch failure")
    monkeypatch.setattr(preflight, "in_own_process", lambda steps, site: [failed])
    with pytest.raises(ChaosError, match=r"step of this run fails(?s:.)*unspecified launch"):
        checkout(TINY, site=site)


def trial(config, task="nli", batch_size=4):
    settings = small(task=task, batch_size=batch_size, max_length=24)
    return step_of(config, complete(settings)[0])


@pytest.mark.parametrize("family", TINY_FAMILIES)
def test_a_step_of_every_architecture_can_be_tried(family, torch):
    config = config_in(paths.cache() / "encoders" / f"tiny-{family}")
    for result in try_steps([trial(config), trial(config, "alphanli")], "cpu"):
        assert (result.parts, result.fault) == (1, "")
        assert 0 < result.seconds < 5


def test_a_step_is_cut_until_its_parts_fit(monkeypatch, torch):
    from chaos_utils.training import trainer

    config = config_in(paths.cache() / "encoders" / "tiny-bert")
    most = 3

    def tried(model, job, arguments):
        if arguments.per_device_train_batch_size > most:
            raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(trainer, "_try_longest", tried)
    assert try_steps([trial(config, batch_size=8)], "cpu")[0].parts == 4
    most = 0
    assert "a sequence of 24 tokens" in try_steps([trial(config, batch_size=8)], "cpu")[0].fault


def test_a_configuration_that_no_model_can_be_made_of_is_a_fault_of_its_step(torch):
    config = config_in(paths.cache() / "encoders" / "tiny-bert")
    strange = json.dumps(json.loads(config) | {"model_type": "no-such-type"})
    odd, good = try_steps([trial(strange), trial(config)], "cpu")
    assert "no-such-type" in odd.fault
    assert good.fault == ""


def test_a_killed_trial_is_one_message(monkeypatch, torch):
    with pytest.raises(ChaosError, match="was killed"):
        preflight.in_own_process([KilledWhenRead()], HERE)


class KilledWhenRead:
    """In the place of a step: ends the process that reads it."""

    def __reduce__(self):
        return os._exit, (9,)


@pytest.mark.slow  # PyTorch is loaded once more; another tries them here, for all architectures
def test_steps_are_tried_in_a_process_of_their_own(torch):
    config = config_in(paths.cache() / "encoders" / "tiny-bert")
    before = torch.are_deterministic_algorithms_enabled()
    (result,) = preflight.in_own_process([trial(config)], HERE)
    assert result.seconds > 0
    assert torch.are_deterministic_algorithms_enabled() == before

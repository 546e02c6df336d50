"""The runs of a plan: what each costs and is called by, and what makes it."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from chaos_utils.scoring.training_records import Run
from chaos_utils.training.estimates import UNKNOWN, Estimate, Gpu, estimate, total
from chaos_utils.training.gpus import GpuJob
from chaos_utils.training.names import command_of, predict_command
from chaos_utils.training.notebook import finetune_in_notebook
from chaos_utils.training.plans import RunSpec
from chaos_utils.training.predicting import predict_again
from chaos_utils.training.progress import Report, Say
from chaos_utils.training.settings import complete, read_settings


@dataclass(frozen=True, slots=True)
class WantedRun:
    """A run of a plan, with what it is estimated to cost on a card."""

    spec: RunSpec
    cost: Estimate = field(default=UNKNOWN)

    @property
    def state(self) -> str:
        """``there``, ``missing``, or ``missing, needs a GPU``."""
        if self.spec.is_there:
            return "there"
        return "missing, needs a GPU" if self.spec.needs == "gpu" else "missing"

    def as_entry(self) -> dict[str, Any]:
        """Return it for programs; what is not known is None."""
        return {
            "run": self.spec.name,
            "model": self.spec.model,
            "task": self.spec.settings.get("task", "nli") if self.spec.settings else "",
            "state": self.state,
            **self.cost.as_entry(),
            "why": self.spec.why,
            "command": command_for(self.spec),
        }


def costed(specs: Sequence[RunSpec], gpu: Gpu | None) -> list[WantedRun]:
    """Return runs with what each costs on a card; nothing is known of what trains nothing."""
    runs = []
    for spec in specs:
        if spec.predict:
            runs.append(WantedRun(spec))
        else:
            settings, model = complete(read_settings(spec.settings))
            runs.append(WantedRun(spec, estimate(settings, model.shape, gpu)))
    return runs


def missing_total(runs: Sequence[WantedRun], *, at_once: int = 1) -> Estimate:
    """Return the sum of what the missing ones of the runs cost; a model is fetched once."""
    fetched: set[str] = set()
    costs = []
    for run in runs:
        if run.spec.is_there:
            continue
        again = run.spec.model in fetched
        costs.append(
            replace(run.cost, fetched_gib=0.0) if again and run.cost.kept_gib else run.cost
        )
        fetched.add(run.spec.model)
    return total(costs, at_once=at_once)


def command_for(spec: RunSpec) -> str:
    """Return the command that makes a run that is wanted."""
    if prediction := spec.predict:
        return predict_command(prediction.run, {"mc-samples": prediction.mc_samples}, spec.name)
    return command_of(complete(read_settings(spec.settings))[0], spec.name)


def job_of(spec: RunSpec, device: str) -> GpuJob:
    """Return a run as a job of its own process, which its command makes on a device."""
    words = shlex.split(command_for(spec))
    command = [sys.executable, "-m", "chaos_utils.cli", *words[1:], "--device", device]
    earlier = frozenset(Path(name).name for name in spec.earlier_runs)
    return GpuJob(spec.name, tuple(command), earlier)


def make(spec: RunSpec, *, device: str, report: Report, say: Say) -> Run:
    """Make a run that is wanted: a notebook trains, and what trains nothing is predicted here."""
    if prediction := spec.predict:
        return predict_again(
            prediction.run,
            spec.folder,
            mc_samples=prediction.mc_samples,
            device=device,
            report=report,
            say=say,
        )
    settings = read_settings(spec.settings)
    return finetune_in_notebook(settings, spec.folder, device=device, say=say)

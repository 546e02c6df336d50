"""What `chaos wanted` does: a plan's runs in a table, checked, made on one GPU or several."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.cli.console import Grid, Replies, Reply, is_terminal, progress_lines, say
from chaos_utils.training import gpus as scheduling
from chaos_utils.training import wanted
from chaos_utils.training.estimates import USUAL_GPU, Gpu, gpu_named, hours_in_words
from chaos_utils.training.gpus import Watch
from chaos_utils.training.plans import Plan, RunSpec, read_plan
from chaos_utils.training.preflight import Site, check_settings, preflight
from chaos_utils.training.wanted import WantedRun

_LOGS = "wanted"  # below _build/
Printing = Callable[[], AbstractContextManager[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class WantedRequest:
    """The options of the command."""

    plan: str
    dry_run: bool
    preflight: bool
    only: str
    limit: int
    device: str
    gpus: str
    card: str
    hours: float


def answer(request: WantedRequest, printing: Printing) -> Replies:
    """Answer the command: list, check or make runs. `printing` shows the progress of one run."""
    plan = read_plan(request.plan)
    listed = _chosen(plan, request.only)
    check_settings(listed)
    card, has_gpu = _card(request), bool(scheduling.visible_gpus()) and request.device != "cpu"
    if request.dry_run:
        yield _table(plan, wanted.costed(listed, card), card, commands=True)
        return
    ids = _gpu_ids(request)
    site = Site(request.device, card, has_gpu, tuple(ids), request.hours)
    missing = _to_make(listed, request, has_gpu)
    if not missing:
        yield _made(plan, listed)
        return
    checked = preflight(plan, missing, site, say=say)
    if request.preflight:
        yield _table(plan, checked, card, commands=False)
        say("the checks found nothing wrong with these runs")
        return
    # Commits are pinned by now.
    names = {spec.name for spec in missing}
    todo = [spec for spec in read_plan(request.plan).runs if spec.name in names]
    faults = _side_by_side(todo, ids, request) if ids else _one_by_one(todo, request, printing)
    scheduling.check(faults, _logs())
    yield _made(plan, listed)


def _chosen(plan: Plan, only: str) -> list[RunSpec]:
    chosen = [spec for spec in plan.runs if spec.name.startswith(only)]
    if only and not chosen:
        raise ChaosError(
            "No run of the plan has a name that begins with this.",
            where=plan.path,
            found=repr(only),
            expected="the beginning of a run's name, such as "
            + ", ".join(spec.name for spec in plan.runs[:3]),
        )
    return chosen


def _card(request: WantedRequest) -> Gpu | None:
    """Return the card in this machine, or without one the card that `--card` names."""
    here = scheduling.card_at_hand()
    if here and request.card:
        raise ChaosError(
            "--card is only for machines without a GPU.",
            where="--card",
            found=request.card,
            expected=f"no --card: costs are for the {here.name} in this machine",
        )
    return here or gpu_named(request.card or USUAL_GPU)


def _gpu_ids(request: WantedRequest) -> list[str]:
    if not request.gpus:
        return []
    return scheduling.choose_gpus(request.gpus, scheduling.visible_gpus())


def _to_make(listed: Sequence[RunSpec], request: WantedRequest, has_gpu: bool) -> list[RunSpec]:
    """Return the missing runs; without a GPU those that need none, but for the checks alone."""
    missing = [spec for spec in listed if not spec.is_there]
    if not has_gpu and not request.preflight:
        left_out = [spec.name for spec in missing if spec.needs == "gpu"]
        if left_out:
            say(
                f"left out, since they need a GPU and there is none: {', '.join(left_out)} "
                "(--preflight checks them anyway)"
            )
        missing = [spec for spec in missing if spec.needs != "gpu"]
    return missing[: request.limit or None]


def _one_by_one(
    specs: Sequence[RunSpec], request: WantedRequest, printing: Printing
) -> dict[str, str]:
    """Make runs one after the other, in this process; return why each failed, or else nothing."""
    faults: dict[str, str] = {}
    for spec in specs:
        lost = next((name for name in spec.earlier_runs if faults.get(Path(name).name)), None)
        faults[spec.name] = f"not started: it needs {lost}" if lost else ""
        if lost:
            continue
        say(wanted.command_for(spec))
        try:
            with printing() as told:
                wanted.make(spec, device=request.device, **told)
        except ChaosError as fault:
            faults[spec.name] = str(fault)
            say(f"{spec.name}: failed")
    return faults


def _side_by_side(
    specs: Sequence[RunSpec], ids: Sequence[str], request: WantedRequest
) -> dict[str, str]:
    """Make runs on several GPUs, one on each; return why each failed, or else nothing."""
    device = "cuda" if request.device == "auto" else request.device
    jobs = [wanted.job_of(spec, device) for spec in specs]
    with _watched() as watch:
        return scheduling.run_jobs(jobs, ids, logs=_logs(), watch=watch)


@contextmanager
def _watched() -> Iterator[Watch]:
    """Yield what shows the last line of each run: in its place on a terminal, else one by one."""
    with progress_lines() if is_terminal() else nullcontext() as show:

        def watch(name: str, gpu: str, line: str) -> None:
            text = f"{name} (GPU {gpu}): {line}"
            if show is None:
                say(text)
            else:
                show(name, text)

        yield watch


def _logs() -> Path:
    return paths.build() / _LOGS


def _made(plan: Plan, listed: Sequence[RunSpec]) -> Reply:
    there = sum(spec.is_there for spec in listed)
    entries = [{"run": spec.name, "there": spec.is_there} for spec in listed]
    return Reply(entries, [f"{there} of {counted(len(listed), 'run')} made: {plan.file.title}"])


def _table(plan: Plan, runs: Sequence[WantedRun], card: Gpu | None, *, commands: bool) -> Reply:
    """Return runs with state and costs, the sum of those that are missing, and their commands."""
    of_all = wanted.missing_total(runs)
    data = {
        "plan": plan.name or plan.path.stem,
        "title": plan.file.title,
        "card": card.name if card else None,
        "recipes": plan.file.recipes,
        "runs": [run.as_entry() for run in runs],
        "missing": of_all.as_entry(),
    }
    missing = [run.spec for run in runs if not run.spec.is_there]
    cells = [(run.spec.name, run.state, *_costs(run.cost)) for run in runs]
    cells.append((f"missing: {len(missing)} of {len(runs)}", "", *_costs(of_all)))
    grid = Grid(_HEADINGS, cells, _HEADINGS[2:])
    lines = map(wanted.command_for, missing) if commands else ()
    return Reply(data, [grid, *_notes(plan, missing, card), *lines])


_HEADINGS = ("run", "state", "GPU-hours", "memory, GiB", "disk, GiB")


def _costs(cost: Any) -> tuple[str, str, str]:
    memory, disk = (
        "–" if one is None else f"{one:.1f}" for one in (cost.memory_gib, cost.disk_gib)
    )
    return hours_in_words(cost.hours), memory, disk


def _notes(plan: Plan, missing: Sequence[RunSpec], card: Gpu | None) -> list[str]:
    notes = [f"Costs are estimates for one {card.name}."] if card and missing else []
    notes += [f"Recipes, {task}: {source}" for task, source in plan.file.recipes.items()]
    models = dict.fromkeys(spec.model for spec in missing if spec.model in plan.file.models)
    open_ones = [name for name in models if not plan.revision_of(name)]
    if open_ones:
        notes.append(f"No commit is pinned for {', '.join(open_ones)}: --preflight resolves it.")
    return notes

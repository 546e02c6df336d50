"""`chaos finetune`, `chaos predict`, `chaos wanted`: what needs PyTorch."""

import inspect
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from pydantic.fields import FieldInfo

from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.cli.arguments import writable
from chaos_utils.cli.console import AsJson, err, out, print_json
from chaos_utils.cli.extras import need_extra
from chaos_utils.training.settings import Settings, chosen

Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        parser=writable,
        help="The run's folder; by default one below runs/, named by its settings.",
    ),
]


_SILENT_SECONDS = 10  # off a terminal, predictions that take less are made without a word


def _is_main_process() -> bool:
    """Whether this is the first of the processes that `accelerate launch` has started."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def _reporting() -> Iterator[tuple[Callable[[str, int, int], None], Callable[[str], None]]]:
    """Yield what shows progress (a bar; off a terminal, lines) and what prints; in one process."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    if not _is_main_process():
        yield (lambda what, done, of: None), (lambda text: None)
        return
    reported: dict[str, int] = {}
    spoken = time.monotonic()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,} of {task.total:,}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err.made, disable=not err.is_terminal, transient=True) as bars:
        bar = bars.add_task("", total=1)

        def report(what: str, done: int, of: int) -> None:
            nonlocal spoken
            bars.update(bar, description=what, completed=done, total=of)
            tenth = 10 * done // max(1, of)
            if err.is_terminal or tenth == reported.get(what, 0):
                return
            reported[what] = tenth
            training, now = what == "training", time.monotonic()
            if training or now - spoken >= _SILENT_SECONDS:
                spoken = now
                err.print(f"{what}: {done:,} of {of:,} {'steps' if training else 'items'}",
                          markup=False)  # fmt: skip

        yield report, lambda text: err.print(text, markup=False)


def _tell(run: Any, as_json: bool) -> None:
    if as_json:
        dev = {name: part.model_dump() for name, part in run.record.dev.items()}
        print_json({"run": str(run.folder), "system": run.system, "dev": dev})
        return
    out.print(f"{run.folder}", markup=False)
    for name, part in run.record.dev.items():
        out.print(f"  dev {name}: accuracy {part.accuracy:.4f} on {part.n:,} items")


def _with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command one option for each field of `Settings`; its own come after them."""
    own = inspect.signature(command).parameters.values()
    options = [_option(name, field) for name, field in Settings.model_fields.items()]
    every = [*options, *(one for one in own if one.kind is one.KEYWORD_ONLY)]
    command.__annotations__ = {one.name: one.annotation for one in every}
    setattr(command, "__signature__", inspect.Signature(every))  # noqa: B010 – mypy knows no such
    return command


def _option(name: str, field: FieldInfo) -> inspect.Parameter:
    meaning, choices = field.title or "", get_args(field.annotation)
    said = f"{meaning[:1].upper()}{meaning[1:]}"
    if choices:
        said = f"{', '.join(choices[:-1])} or {choices[-1]}: {meaning}"
    kind = str if choices else field.annotation  # which values there are is checked with the rest
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if field.is_required() else field.default,
        annotation=Annotated[kind, typer.Option(help=f"{said}.")],
    )


@_with_settings
def finetune(
    *,
    device: Device = "auto",
    checkpoint_seconds: Annotated[float, typer.Option(help="Seconds between checkpoints.")] = 120,
    out: Out = None,
    as_json: AsJson = False,
    **given: Any,
) -> None:
    """Fine-tune an encoder, and predict ChaosNLI's items with it.

    The same command resumes a run that was killed. The book reads runs below results/.
    """
    need_extra("train", "Training")
    settings = chosen(given)
    from chaos_utils.training import finetune as engine

    with _reporting() as (report, say):
        run = engine.finetune(
            settings,
            out or engine.default_folder(settings),
            device=device,
            checkpoint_seconds=checkpoint_seconds,
            report=report,
            say=say,
        )
    if _is_main_process():
        _tell(run, as_json)


def predict(
    run: Annotated[str, typer.Argument(help="A run: its folder, or its name below results/.")] = "",
    model: Annotated[
        str, typer.Option(help="Instead of a run: a model with an NLI head, owner/name or ./name.")
    ] = "",
    labels: Annotated[
        str, typer.Option(help="With --model: labels of the head's outputs, in order: a,b,c.")
    ] = "",
    revision: Annotated[str, typer.Option(help="With --model: a commit, branch or tag.")] = "",
    data: Annotated[
        str, typer.Option(help="With --model: auto, released, sample, or a folder.")
    ] = "auto",
    dev_examples: Annotated[
        int, typer.Option(help="With --model: most dev items to predict; 0 for all.")
    ] = 2000,
    precision: Annotated[
        str, typer.Option(help="With --model: auto, fp32, bf16 or fp16.")
    ] = "auto",
    mc_samples: Annotated[int, typer.Option(help="Passes with dropout on; 0 for none.")] = 0,
    threads: Annotated[int, typer.Option(help="CPU threads; 0 for as many as in training.")] = 0,
    device: Device = "auto",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Predict again with a run's weights, or with a model's own NLI head.

    A run's weights are trained first if they are not cached; a model is taken as it is.
    """
    if bool(run) == bool(model):
        raise ChaosError(
            "Name either a run or a model.",
            found="both" if run else "neither",
            expected="`chaos predict RUN` or `chaos predict --model owner/name`",
        )
    of_model = (labels, revision, data, dev_examples, precision)
    if run and of_model != ("", "", "auto", 2000, "auto"):
        raise ChaosError(
            "--labels, --revision, --data, --dev-examples and --precision go with --model.",
            found=f"the run {run}",
            expected="a run predicts with its own",
        )
    need_extra("train", "Training")
    from chaos_utils.base import paths
    from chaos_utils.training import predicting

    name = Path(run).name or model.replace("/", "-").lstrip(".~-")
    target = out or paths.runs() / f"{name}-mc{mc_samples}"
    with _reporting() as (report, say):
        common: dict[str, Any] = {
            "mc_samples": mc_samples, "threads": threads, "device": device, "report": report,
            "say": say,
        }  # fmt: skip
        if run:
            made = predicting.predict_again(run, target, **common)
        else:
            made = predicting.predict_off_the_shelf(
                model,
                target,
                labels=labels.split(",") if labels else (),
                revision=revision,
                data=data,
                dev_examples=dev_examples,
                precision=precision,
                **common,
            )
    _tell(made, as_json)


def wanted(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what is missing.")] = False,
    limit: Annotated[int, typer.Option(min=0, help="Make at most this many runs; 0 for all.")] = 0,
    device: Device = "auto",
) -> None:
    """Make the runs of results/wanted.yml that are missing, in its order."""
    need_extra("train", "Training")
    from chaos_utils.scoring.trained import wanted_runs
    from chaos_utils.training import wanted as wanting

    missing = [one for one in wanted_runs() if not one.is_there]
    for one in missing[: limit or None]:
        out.print(wanting.command_for(one), markup=False)
        if dry_run:
            continue
        with _reporting() as (report, say):
            run = wanting.make(one, device=device, report=report, say=say)
        _tell(run, as_json=False)
    if dry_run:
        return
    there = sum(one.is_there for one in wanted_runs())
    out.print(f"{counted(there, 'run')} made", markup=False)

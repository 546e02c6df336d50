"""`chaos finetune`, `chaos predict`, `chaos wanted`: what needs PyTorch."""

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic.fields import FieldInfo
from typer import Argument, Option

from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.arguments import writable
from chaos_utils.cli.console import (
    Replies,
    Reply,
    command,
    is_terminal,
    progress,
    say,
    set_parameters,
)
from chaos_utils.cli.extras import require
from chaos_utils.training.settings import Settings, chosen

if TYPE_CHECKING:
    from chaos_utils.scoring.training_records import Run
    from chaos_utils.training.progress import Report

Device = Annotated[str, Option(help="auto, cpu or cuda.")]
Out = Annotated[
    Path | None,
    Option(
        metavar="DIR",
        parser=writable,
        help="The run's folder; by default one below runs/, named after its settings.",
    ),
]


def _is_main_process() -> bool:
    """Whether this is the first of the processes that `accelerate launch` has started."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def _progress_and_prints() -> Iterator[dict[str, Any]]:
    """Yield what shows progress (a bar; off a terminal, lines) and what prints; in one process."""
    from chaos_utils.training.progress import line_report, silent

    if not _is_main_process():
        yield {"report": silent, "say": lambda text: None}
        return
    with progress() as tell:
        yield {"report": _bar_report(tell) if is_terminal() else line_report(say), "say": say}


def _bar_report(tell: Callable[[str, int, int], None]) -> "Report":
    """Return what shows a report on a bar: the note of a training stands beside its name."""

    def report(title: str, done: int, total: int, note: str | None = None) -> None:
        tell(f"{title}: {note}" if note else title, done, total)

    return report


def _run_reply(run: "Run") -> Reply:
    dev = run.record.dev
    lines = [
        f"  dev {name}: accuracy {part.accuracy:.4f} on {part.n:,} items"
        for name, part in dev.items()
    ]
    answer = {"run": str(run.folder), "system": run.system}
    answer["dev"] = {name: part.model_dump() for name, part in dev.items()}  # type: ignore[assignment]
    return Reply(answer, [str(run.folder), *lines])


def _with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command one option for each field of `Settings`; its own come after them."""
    parameters = inspect.signature(command).parameters.values()
    options = [_option(name, field) for name, field in Settings.model_fields.items()]
    options += [parameter for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    set_parameters(command, options)
    return command


def _option(name: str, field: FieldInfo) -> inspect.Parameter:
    meaning, choices = field.title or "", get_args(field.annotation)
    help_text = f"{meaning[:1].upper()}{meaning[1:]}"
    if choices:
        help_text = f"{', '.join(choices[:-1])} or {choices[-1]}: {meaning}"
    kind = str if choices else field.annotation  # which values there are is checked with the rest
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if field.is_required() else field.default,
        annotation=Annotated[kind, Option(help=f"{help_text}.")],
    )


@_with_settings
@command(needs="train")
def finetune(
    *,
    device: Device = "auto",
    checkpoint_seconds: Annotated[float, Option(help="Seconds between checkpoints.")] = 120,
    out: Out = None,
    **values: Any,
) -> Replies:
    """Fine-tune an encoder, and predict ChaosNLI's items with it, or those of your own votes.

    Short for `chaos run finetune` with the same parameters: papermill executes the notebook.
    Repeat the command to resume a run that was killed. The book reads runs below results/.
    """
    settings = chosen(values)
    from chaos_utils.training import finetune as engine
    from chaos_utils.training.notebook import finetune_in_notebook

    target = out or engine.default_folder(settings)
    options: dict[str, Any] = {"device": device, "checkpoint_seconds": checkpoint_seconds}
    if "WORLD_SIZE" not in os.environ:
        require("book")
        yield _run_reply(finetune_in_notebook(settings, target, **options, say=say))
        return
    # Processes that `accelerate launch` has started share one training, which no kernel can.
    with _progress_and_prints() as told:
        run = engine.finetune(settings, target, **options, **told)
    if _is_main_process():
        yield _run_reply(run)


@command(needs="train")
def predict(
    run: Annotated[str, Argument(help="A run: its folder, or its name below results/.")] = "",
    model: Annotated[
        str, Option(help="Instead of a run, a model with an NLI head: owner/name or ./name.")
    ] = "",
    labels: Annotated[
        str, Option(help="With --model: the labels of the head's outputs, in order: a,b,c.")
    ] = "",
    revision: Annotated[str, Option(help="With --model: a commit, branch or tag.")] = "",
    data: Annotated[
        str, Option(help="With --model: auto, released, sample, or a folder.")
    ] = "auto",
    dev_examples: Annotated[
        int, Option(help="With --model: dev items to predict at most; 0 for all.")
    ] = 2000,
    precision: Annotated[str, Option(help="With --model: auto, fp32, bf16 or fp16.")] = "auto",
    mc_samples: Annotated[int, Option(help="Passes with dropout on; 0 for none.")] = 0,
    threads: Annotated[int, Option(help="CPU threads; 0 for as many as in training.")] = 0,
    device: Device = "auto",
    out: Out = None,
) -> Replies:
    """Predict again with a run's weights, or with a model's own NLI head.

    If a run's weights are not cached, they are trained first; a model is used as it is.
    """
    if bool(run) == bool(model):
        raise ChaosError(
            "Name either a run or a model.",
            found="both" if run else "neither",
            expected="`chaos predict RUN` or `chaos predict --model owner/name`",
        )
    if run and (labels, revision, data, dev_examples, precision) != ("", "", "auto", 2000, "auto"):
        raise ChaosError(
            "--labels, --revision, --data, --dev-examples and --precision go with --model.",
            found=f"the run {run}",
            expected="none of these: a run has its own",
        )
    from chaos_utils.base import paths
    from chaos_utils.training import predicting

    name = Path(run).name or model.replace("/", "-").lstrip(".~-")
    target = out or paths.runs() / f"{name}-mc{mc_samples}"
    common: dict[str, Any] = {"mc_samples": mc_samples, "threads": threads, "device": device}
    with _progress_and_prints() as told:
        if run:
            new_run = predicting.predict_again(run, target, **common, **told)
        else:
            new_run = predicting.predict_off_the_shelf(
                model,
                target,
                labels=labels.split(",") if labels else (),
                revision=revision,
                data=data,
                dev_examples=dev_examples,
                precision=precision,
                **common,
                **told,
            )
    yield _run_reply(new_run)


@command(needs="train")
def wanted(
    plan: Annotated[
        str, Option(help="A plan in results/plans/, such as table5; by default results/wanted.yml.")
    ] = "",
    dry_run: Annotated[bool, Option("--dry-run", help="Only list runs and costs.")] = False,
    preflight: Annotated[
        bool, Option("--preflight", help="Only check weights, data, memory, disk and time.")
    ] = False,
    only: Annotated[str, Option(help="Only runs with names that begin with this.")] = "",
    limit: Annotated[int, Option(min=0, help="Make at most this many runs; 0 for all.")] = 0,
    device: Device = "auto",
    gpus: Annotated[
        str, Option(help="GPUs to use, one run on each at a time: all, or ids such as 0,1.")
    ] = "",
    card: Annotated[
        str, Option(help="Without a GPU: the card to estimate for, such as h100 or a100.")
    ] = "",
    hours: Annotated[
        float, Option(min=0, help="Hours for which the machine is available; 0 for no limit.")
    ] = 0,
) -> Replies:
    """Make the missing runs of a plan, in its order, after checking all of them.

    Repeat the command to resume what was interrupted. A run that fails does not stop the others.
    """
    require("book")
    from chaos_utils.cli.wanted import WantedRequest, answer

    request = WantedRequest(plan, dry_run, preflight, only, limit, device, gpus, card, hours)
    yield from answer(request, _progress_and_prints)

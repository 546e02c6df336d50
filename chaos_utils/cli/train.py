"""`chaos finetune`, `chaos predict`, `chaos wanted`: what needs PyTorch."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from chaos_utils.cli.arguments import writable
from chaos_utils.cli.console import AsJson, err, out, print_json
from chaos_utils.cli.extras import need_extra

Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        parser=writable,
        help="The run's folder; by default below runs/, by its settings.",
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
        print_json({"run": str(run.folder), "system": run.system, "dev": run.record["dev"]})
        return
    out.print(f"{run.folder}", markup=False)
    for name, part in run.record["dev"].items():
        out.print(f"  dev {name}: accuracy {part['accuracy']:.4f} on {part['n']:,} items")


def finetune(
    model: Annotated[str, typer.Option(help="A model, such as minilm-l6, or owner/name.")],
    task: Annotated[str, typer.Option(help="nli or alphanli.")] = "nli",
    seed: Annotated[int, typer.Option(help="Decides all that is random.")] = 0,
    train: Annotated[
        str, typer.Option(help="corpora, or chaosnli: its votes, folded by premise or story.")
    ] = "corpora",
    loss: Annotated[str, typer.Option(help="hard or soft labels.")] = "hard",
    label_smoothing: Annotated[float, typer.Option(help="Share spread over the labels.")] = 0.0,
    teacher: Annotated[str, typer.Option(help="An earlier run that gives soft labels.")] = "",
    init: Annotated[str, typer.Option(help="An earlier run to start from.")] = "",
    max_train_examples: Annotated[int, typer.Option(help="A nested subset; 0 for all.")] = 0,
    n_folds: Annotated[int, typer.Option(help="Folds of ChaosNLI.")] = 5,
    epochs: Annotated[int, typer.Option(help="0 for the recipe's.")] = 0,
    batch_size: Annotated[int, typer.Option(help="0 for the recipe's.")] = 0,
    learning_rate: Annotated[float, typer.Option(help="0 for the recipe's.")] = 0.0,
    weight_decay: Annotated[float, typer.Option(help="-1 for the recipe's.")] = -1.0,
    warmup_ratio: Annotated[float, typer.Option(help="-1 for the recipe's.")] = -1.0,
    max_length: Annotated[int, typer.Option(help="Tokens of a sequence.")] = 128,
    patience: Annotated[int, typer.Option(help="Epochs without a better dev; 0: never.")] = 0,
    dev_examples: Annotated[
        int, typer.Option(help="At most so many dev and test items are predicted; 0: all.")
    ] = 0,
    trajectory: Annotated[int, typer.Option(help="Log-spaced looks at ChaosNLI.")] = 0,
    token_budget: Annotated[int, typer.Option(help="Tokens at once; 0: by device.")] = 0,
    threads: Annotated[int, typer.Option(help="On a CPU; 0: as many as PyTorch takes.")] = 0,
    precision: Annotated[str, typer.Option(help="auto, fp32 or bf16.")] = "auto",
    revision: Annotated[str, typer.Option(help="Of a model of the hub.")] = "",
    data: Annotated[str, typer.Option(help="auto, released, sample, or a folder.")] = "auto",
    device: Device = "auto",
    checkpoint_seconds: Annotated[float, typer.Option(help="Between checkpoints.")] = 120,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Fine-tune an encoder, and predict ChaosNLI's items with it.

    Killed, it can be called again and goes on. The book reads runs below results/.
    """
    need_extra("train", "Training")
    given = dict(locals())
    from dataclasses import fields

    from chaos_utils.training.settings import Settings

    settings = Settings(**{one.name: given[one.name] for one in fields(Settings)})
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
    run: Annotated[str, typer.Argument(help="A run, by folder or by name below results/.")],
    mc_samples: Annotated[int, typer.Option(help="Passes with dropout on; 0: off.")] = 0,
    threads: Annotated[int, typer.Option(help="On a CPU; 0: as many as it was trained with.")] = 0,
    device: Device = "auto",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Predict again with a run's weights, which are trained first if they are not cached."""
    need_extra("train", "Training")
    from chaos_utils.base import paths
    from chaos_utils.training.predicting import predict_again

    target = out or paths.runs() / f"{Path(run).name}-mc{mc_samples}"
    with _reporting() as (report, say):
        made = predict_again(
            run,
            target,
            mc_samples=mc_samples,
            threads=threads,
            device=device,
            report=report,
            say=say,
        )
    _tell(made, as_json)


def wanted(
    dry_run: Annotated[bool, typer.Option(help="Only say what is missing.")] = False,
    limit: Annotated[int, typer.Option(min=0, help="Make at most so many; 0 for all.")] = 0,
    device: Device = "auto",
) -> None:
    """Make the runs of results/wanted.yml that are missing, in their order."""
    need_extra("train", "Training")
    from chaos_utils.training import wanted as wanting

    missing = [one for one in wanting.read_wanted() if not one.is_there]
    for one in missing[: limit or None]:
        out.print(one.command, markup=False)
        if dry_run:
            continue
        with _reporting() as (report, say):
            run = wanting.make(one, device=device, report=report, say=say)
        _tell(run, as_json=False)
        wanting.update_listing()
    if dry_run:
        return
    wanting.update_listing()
    out.print(f"{sum(one.is_there for one in wanting.read_wanted())} runs are there", markup=False)

"""`chaos export`: files for a run of a language model on a dataset's items."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.files import decode_text, read_regular
from chaos_utils.cli.arguments import Parameters, Replace, assignments, writable
from chaos_utils.cli.console import Replies, Reply, command

if TYPE_CHECKING:
    from chaos_utils.datasets.votes import Votes

export = typer.Typer(
    name="export",
    help="Write the files that a language model needs to answer items.",
    no_args_is_help=True,
)

_N_ANSWERS = 10  # per item
Name = Annotated[
    str, Argument(metavar="DATASET", help="A dataset's name, its YAML file, or a votes file.")
]
Data = Annotated[str, Option(help="Where the items come from: auto, sample, or a folder.")]
Prompt = Annotated[
    Path | None,
    Option("--prompt", metavar="FILE", help="Your own prompt; `chaos export prompt` prints one."),
]
Ask = Annotated[
    str,
    Option(
        metavar="WAY",
        help="What to ask for: label (the likeliest, once), samples (several labels), logprobs (of "
        "the letters) or percentages (of people, as the model states them). `chaos evaluate "
        "--asked WAY` reads the answers.",
    ),
]


@export.command("prompt")
@command(formats=())
def prompt(name: Name, data: Data = "auto", ask: Ask = "samples") -> Replies:
    """Print the default prompt, to edit: {names} stand for an item's texts."""
    from chaos_utils.scoring.asking import check_way
    from chaos_utils.scoring.exporting import default_prompt, fill

    check_way(ask, "--ask")
    votes = load_dataset(name, data)
    fill(votes, ask)  # fails if the dataset has no texts
    text = default_prompt(votes.dataset, ask)
    yield Reply(text, [text])


@export.command("lm-eval")
@command()
def lm_eval(
    name: Name,
    to: Annotated[
        Path,
        Option("--out", metavar="FOLDER", parser=writable, help="Folder for the task."),
    ],
    data: Data = "auto",
    prompt: Prompt = None,
    force: Replace = False,
) -> Replies:
    """Write a task of lm-evaluation-harness: its YAML file, and the items as JSON Lines.

    The harness asks for the log-likelihoods of the letters.
    """
    from chaos_utils.scoring.asking import LOGPROBS
    from chaos_utils.scoring.exporting import fill, write_task

    votes = load_dataset(name, data)
    task = write_task(votes, fill(votes, LOGPROBS, _read(prompt), prompt), to, force)
    run = (
        "lm_eval run --model hf --model_args pretrained=MODEL --log_samples --output_path runs "
        f"--include_path {shlex.quote(str(to))} --tasks {task}"
    )
    files = [str(to / f"{task}.yaml"), str(to / f"{task}.jsonl")]
    samples = f"runs/*/samples_{task}_*.jsonl"
    yield _reply(files, len(votes), [run, _judge(samples, name, data, votes, LOGPROBS)])


@export.command("batch")
@command()
def batch(
    name: Name,
    to: Annotated[
        Path, Option("--out", metavar="FILE", help="File for the requests, as JSON Lines.")
    ],
    model: Annotated[str, Option(help="The model's name on its server.")],
    data: Data = "auto",
    ask: Ask = "samples",
    prompt: Prompt = None,
    n: Annotated[
        int | None,
        Option("--n", min=1, help=f"Samples for each item; {_N_ANSWERS} by default."),
    ] = None,
    parameter: Parameters = None,
    force: Replace = False,
) -> Replies:
    """Write a batch of requests for an OpenAI-compatible server.

    -p sets another field of each request, such as -p temperature=0.7; null leaves a field out.
    """
    from chaos_utils.scoring.asking import SAMPLES, check_way
    from chaos_utils.scoring.exporting import fill, request_body, write_batch

    check_way(ask, "--ask")
    if n is not None and ask != SAMPLES:
        raise ChaosError(
            "--n goes with --ask samples.", found=f"--ask {ask} --n {n}",
            todo="leave --n out, or pass --ask samples",
        )  # fmt: skip
    votes = load_dataset(name, data)
    body = {"model": model, **request_body(ask, votes.dataset.n_classes, n or _N_ANSWERS)}
    body |= {key: _value(text) for key, text in assignments(parameter).items()}
    body = {key: value for key, value in body.items() if value is not None}
    write_batch(votes, fill(votes, ask, _read(prompt), prompt), body, to, force)
    run = f"vllm run-batch -i {shlex.quote(str(to))} -o answers.jsonl --model {shlex.quote(model)}"
    yield _reply([str(to)], len(votes), [run, _judge("answers.jsonl", name, data, votes, ask)])


def load_dataset(name: str, data: str = "") -> "Votes":
    """Return the votes of one dataset; fail where a name means several.

    `data` is the option ``--data`` of commands that have one.
    """
    from chaos_utils.datasets.loading import load_all_votes, load_votes

    if data not in ("", "auto"):
        return load_votes(name, data)
    first, *more = load_all_votes(name)
    if more:
        raise ChaosError(
            "There are several datasets here.", where=name,
            found=", ".join(votes.dataset.name for votes in (first, *more)),
            todo="name one of them" + (f", with --data {name}" if data else ", or its file"),
        )  # fmt: skip
    return first


def _read(prompt: Path | None) -> str:
    """Return the text of a reader's own prompt, empty for none."""
    if prompt is None:
        return ""
    text = decode_text(read_regular(prompt), "This prompt", prompt).strip()
    if not text:
        raise ChaosError("This prompt is empty.", where=prompt)
    return text


def _value(text: str) -> Any:
    """Return the value of a field: JSON, or else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _judge(answers: str, name: str, data: str, votes: "Votes", ask: str) -> str:
    """Return the command that judges the model's answers."""
    from chaos_utils.datasets.catalogue import bundled_datasets
    from chaos_utils.scoring.exporting import letters

    if data != "auto":
        options = ["--dataset", name, "--data", data]
    else:
        is_bundled = name in [dataset.name for dataset in bundled_datasets()]
        options = ["--dataset" if is_bundled else "--data", name]
    meanings = ",".join(f"{letter}={label}" for letter, label in letters(votes.dataset).items())
    return (
        f"chaos evaluate {answers} {shlex.join([*options, '--asked', ask, '--answers', meanings])}"
    )


def _reply(files: list[str], n_items: int, next_commands: list[str]) -> Reply:
    lines = [f"  {counted(n_items, 'item')}, with their texts"]
    lines += [f"  next: {line}" for line in next_commands]
    return Reply({"files": files, "items": n_items, "next": next_commands}, [*files, *lines])

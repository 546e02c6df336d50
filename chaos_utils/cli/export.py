"""`chaos export`: what a run of a language model on a dataset's items needs."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.cli.arguments import Given, assignments, writable
from chaos_utils.cli.console import AsJson, out, print_json

if TYPE_CHECKING:
    from chaos_utils.datasets.votes import Votes

export_app = typer.Typer(
    name="export", help="Write what a language model needs to answer items.", no_args_is_help=True
)

_DRAWN = 10  # answers for each item
_ANSWER = 16  # tokens
_MOST_LOGPROBS = 20  # that servers give
Name = Annotated[
    str, typer.Argument(metavar="DATASET", help="A dataset's name, its YAML file, or a votes file.")
]
Data = Annotated[str, typer.Option(help="Where its items come from: auto, sample, or a folder.")]
Prompt = Annotated[
    Path | None,
    typer.Option(
        "--prompt", metavar="FILE", help="Your own prompt; `chaos export prompt` prints one."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]


@export_app.command("prompt")
def prompt(name: Name, data: Data = "auto") -> None:
    """Print the prompt that is used, to edit: {names} stand for an item's texts."""
    from chaos_utils.scoring.exporting import default_prompt, fill

    votes = _load(name, data)
    fill(votes)  # or say that there are no texts
    out.print(default_prompt(votes.dataset), markup=False)


@export_app.command("lm-eval")
def lm_eval(
    name: Name,
    to: Annotated[
        Path,
        typer.Option("--out", metavar="FOLDER", parser=writable, help="Where the task is written."),
    ],
    data: Data = "auto",
    prompt: Prompt = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a task of lm-evaluation-harness: its YAML file, and the items as JSON lines."""
    from chaos_utils.scoring.exporting import fill, write_task

    votes = _load(name, data)
    task = write_task(votes, fill(votes, _read(prompt), prompt), to, force)
    run = (
        "lm_eval run --model hf --model_args pretrained=MODEL --log_samples --output_path runs "
        f"--include_path {shlex.quote(str(to))} --tasks {task}"
    )
    files = [str(to / f"{task}.yaml"), str(to / f"{task}.jsonl")]
    samples = f"runs/*/samples_{task}_*.jsonl"
    _answer(as_json, files, len(votes), [run, _judge(samples, name, data, votes)])


@export_app.command("batch")
def batch(
    name: Name,
    to: Annotated[Path, typer.Option("--out", metavar="FILE", help="The requests, JSON lines.")],
    model: Annotated[str, typer.Option(help="The model, as its server calls it.")],
    data: Data = "auto",
    prompt: Prompt = None,
    n: Annotated[
        int | None, typer.Option("--n", min=1, help=f"Answers for each item; {_DRAWN} by default.")
    ] = None,
    logprobs: Annotated[
        bool,
        typer.Option(
            "--logprobs", help="Ask for the probabilities of the letters instead of answers."
        ),
    ] = False,
    parameter: Given = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a batch of requests for an OpenAI-compatible server.

    -p sets another field of each request, such as -p temperature=0.7; null leaves a field out.
    """
    from chaos_utils.scoring.exporting import fill, write_batch

    if logprobs and n is not None:
        raise ChaosError("--logprobs and --n exclude each other.", todo="choose one")
    votes = _load(name, data)
    body = {"model": model, "temperature": 1, "max_tokens": 1 if logprobs else _ANSWER}
    body |= {"logprobs": True, "top_logprobs": _MOST_LOGPROBS} if logprobs else {"n": n or _DRAWN}
    body |= {key: _value(text) for key, text in assignments(parameter).items()}
    body = {key: value for key, value in body.items() if value is not None}
    write_batch(votes, fill(votes, _read(prompt), prompt), body, to, force)
    judge = _judge("answers.jsonl", name, data, votes)
    _answer(as_json, [str(to)], len(votes), [f"vllm run-batch -i {shlex.quote(str(to))} "
            f"-o answers.jsonl --model {shlex.quote(model)}", judge])  # fmt: skip


def _load(name: str, data: str) -> "Votes":
    from chaos_utils.datasets.catalogue import known_datasets
    from chaos_utils.datasets.loading import load_all_votes, load_votes

    if data != "auto" or name in [one.name for one in known_datasets()]:
        return load_votes(name, data)
    first, *others = load_all_votes(name)
    if others:
        raise ChaosError(
            "Here are several datasets.", where=name,
            found=", ".join(one.dataset.name for one in (first, *others)),
            todo=f"name one of them, with --data {name}",
        )  # fmt: skip
    return first


def _read(prompt: Path | None) -> str:
    if prompt is None:
        return ""
    try:
        text = prompt.read_text("utf-8-sig").strip()
    except UnicodeDecodeError as fault:
        raise ChaosError("This prompt is not UTF-8 text.", where=prompt) from fault
    if not text:
        raise ChaosError("This prompt is empty.", where=prompt)
    return text


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _judge(answers: str, name: str, data: str, votes: "Votes") -> str:
    """Return the command that judges what comes back."""
    from chaos_utils.datasets.catalogue import bundled_datasets
    from chaos_utils.scoring.exporting import letters

    if data != "auto":
        of = ["--dataset", name, "--data", data]
    else:
        bundled = name in [one.name for one in bundled_datasets()]
        of = ["--dataset" if bundled else "--data", name]
    meaning = ",".join(f"{letter}={label}" for letter, label in letters(votes.dataset).items())
    return f"chaos evaluate {answers} {shlex.join([*of, '--answers', meaning])}"


def _answer(as_json: bool, files: list[str], n_items: int, then: list[str]) -> None:
    if as_json:
        print_json({"files": files, "items": n_items, "next": then})
        return
    out.print("\n".join(files), markup=False)
    lines = [f"  {counted(n_items, 'item')}, with their texts", *(f"  next: {one}" for one in then)]
    out.print("\n".join(lines), markup=False)

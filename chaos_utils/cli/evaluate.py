"""`chaos evaluate`: judge predictions."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.cli.console import AsJson, err, out, print_json
from chaos_utils.cli.extras import need_extra


def evaluate(
    files: Annotated[list[Path], typer.Argument(help="Prediction files, in any known format.")],
    dataset: Annotated[
        str,
        typer.Option("--dataset", "--task", metavar="NAME", help="A dataset's name, or auto."),
    ] = "auto",
    model: Annotated[str | None, typer.Option(help="Take this model of a file alone.")] = None,
    join: Annotated[
        str, typer.Option(metavar="NAME", help="The files are parts of one system, called NAME.")
    ] = "",
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Evaluate the items that have a prediction.")
    ] = False,
    bootstrap: Annotated[int, typer.Option(help="Resamples for 95% intervals; 0: none.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    against: Annotated[
        str, typer.Option(metavar="NAME", help="Compare the other systems with this one.")
    ] = "",
    data: Annotated[
        str, typer.Option(help="auto, released, sample, a dataset, a votes file, or a folder.")
    ] = "auto",
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Answer in CSV.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Answer in Markdown.")] = False,
    to: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write table and figures there too.")
    ] = None,
) -> None:
    """Judge predictions by every measure, beside published systems, floor and ceiling."""
    from chaos_utils.cli import answers
    from chaos_utils.datasets.loading import load_all_votes, load_votes
    from chaos_utils.scoring import judging

    if bootstrap < 0 or (bootstrap and bootstrap < 20):
        raise ChaosError(
            "So few resamples give no interval.", found=f"--bootstrap {bootstrap}",
            expected="0 for no intervals, or at least 20",
        )  # fmt: skip
    if as_json + as_csv + as_markdown > 1:
        raise ChaosError("--json, --csv and --markdown exclude each other.", todo="choose one")
    if to is not None:
        need_extra("book", "Drawing figures", ", or leave out --out")
    _check_votes(dataset, data)
    all_votes = load_all_votes(data) if dataset == "auto" else [load_votes(dataset, data)]
    found = judging.read_files(
        files, all_votes, model=model, join_as=join, allow_missing=allow_missing
    )
    if against and not bootstrap:
        raise ChaosError("A comparison needs resamples.", found="--bootstrap 0")
    answer = judging.judge_files(
        found, all_votes, n_resamples=bootstrap, seed=seed, against=against or None
    )
    notes = [note for votes in all_votes if votes.dataset.name in found for note in votes.notes]
    notes += [f"{system.name}: {note}" for group in found.values() for system in group
              for note in system.notes]  # fmt: skip
    if to is not None:
        from chaos_utils.presentation.evaluated import write_figures

        write_figures(to, found, all_votes, seed)
        write_text(to / "evaluation.csv", answer.to_csv(index=False, lineterminator="\n"))
    if as_json:
        print_json({"notes": notes, "results": json.loads(answer.to_json(orient="records"))})
    elif as_csv:
        print(answer.to_csv(index=False), end="")
    elif as_markdown:
        print(answers.as_markdown(answer, notes))
    else:
        _print_answer(answer, notes)


def _check_votes(dataset: str, data: str) -> None:
    """Refuse before anything is read where the published votes are missing."""
    from chaos_utils.datasets.catalogue import book_datasets, get_dataset
    from chaos_utils.datasets.sources import find

    if data not in ("auto", "released"):
        return
    wanted = book_datasets() if dataset == "auto" else [get_dataset(dataset)]
    files = [file.name for one in wanted for file in one.files]
    if not any(map(find, files)):
        raise ChaosError(
            "The votes that judge your predictions are not available.",
            expected=", ".join(files),
            todo="run `chaos data fetch`, or try the command on the synthetic sample: "
            "--data sample",
        )


def _print_answer(answer: Any, notes: list[str]) -> None:
    from chaos_utils.cli.answers import by_system

    for title, (header, *body) in by_system(answer):
        # As Text, since a system may be called [/red].
        table = Table(
            title=Text(title, style="table.title"), title_justify="left", box=None, pad_edge=False
        )
        table.add_column(header[0], overflow="fold")
        for heading in header[1:]:
            table.add_column(escape(heading), justify="right", no_wrap=True)
        for cells in body:
            table.add_row(*map(escape, cells))
        out.print(table)
        out.print()
    for note in notes:
        err.print(f"note: {note}", markup=False)

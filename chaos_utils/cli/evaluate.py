"""`chaos evaluate`: judge predictions."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.cli.arguments import writable
from chaos_utils.cli.console import AsJson, err, harmless, print_json
from chaos_utils.cli.extras import need_extra

if TYPE_CHECKING:
    from rich.status import Status

_FEWEST = 40  # resamples for a 95% interval
_MOST = 1_000_000
_NARROWEST = 40  # columns


def evaluate(
    files: Annotated[list[Path], typer.Argument(help="Prediction files in any supported format.")],
    dataset: Annotated[
        str,
        typer.Option("--dataset", "--task", metavar="NAME", help="A dataset's name, or auto."),
    ] = "auto",
    model: Annotated[str | None, typer.Option(help="Use only this model of the files.")] = None,
    answers: Annotated[
        str,
        typer.Option(
            metavar="A=LABEL,…",
            help="What answers, choices or columns of the files mean, such as "
            "A=entailment,B=neutral,C=contradiction.",
        ),
    ] = "",
    join: Annotated[
        str, typer.Option(metavar="NAME", help="Join the files into one system called NAME.")
    ] = "",
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Evaluate the items that have a prediction.")
    ] = False,
    measures: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Measures to show, separated by commas, or all; by default the main ones.",
        ),
    ] = None,
    bootstrap: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Resamples for 95% intervals, 0 for none; by default 1,000, or more for many "
            "p-values.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed for the resampling.")] = 0,
    against: Annotated[
        str, typer.Option(metavar="NAME", help="Compare the other systems with this one.")
    ] = "",
    pairs: Annotated[bool, typer.Option("--pairs", help="Compare every pair of systems.")] = False,
    data: Annotated[
        str, typer.Option(help="auto, released, sample, a dataset, a votes file, or a folder.")
    ] = "auto",
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a Markdown table.")
    ] = False,
    as_latex: Annotated[
        bool, typer.Option("--latex", help="Print a LaTeX table (booktabs).")
    ] = False,
    to: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", parser=writable, help="Also write the table and figures there."
        ),
    ] = None,
) -> None:
    """Score predictions by the measures of both papers, beside a perfect model and baselines."""
    if as_json + as_csv + as_markdown + as_latex > 1:
        raise ChaosError(
            "--json, --csv, --markdown and --latex exclude each other.", todo="choose one"
        )
    if pairs and against:
        raise ChaosError(
            "--pairs and --against exclude each other.", found=f"--pairs --against {against}",
            todo="choose one: --pairs compares with this system too",
        )  # fmt: skip
    if bootstrap is not None and bootstrap != 0 and bootstrap < _FEWEST:
        raise ChaosError(
            "Too few resamples for an interval.", found=f"--bootstrap {bootstrap}",
            expected=f"0 for no intervals, or at least {_FEWEST}",
        )  # fmt: skip
    if bootstrap is not None and bootstrap > _MOST:
        raise ChaosError(
            "Too many resamples.", found=f"--bootstrap {bootstrap}",
            expected=f"at most {_MOST:,}",
        )  # fmt: skip
    if bootstrap == 0 and (pairs or against):
        raise ChaosError(
            "A comparison needs resamples.", found="--bootstrap 0", todo="leave --bootstrap out"
        )
    if to is not None:
        need_extra("book", "Drawing figures", ", or leave out --out")

    from chaos_utils.cli import answers as shown
    from chaos_utils.datasets.loading import load_all_votes, load_votes
    from chaos_utils.scoring import judging
    from chaos_utils.scoring.wording import answers_of

    chosen = judging.USUAL if measures is None else judging.measures_of(measures)
    _check_votes(dataset, data)
    all_votes = load_all_votes(data) if dataset == "auto" else [load_votes(dataset, data)]
    found = judging.read_files(
        files,
        all_votes,
        model=model,
        answers=answers_of(answers) if answers else None,
        join_as=join,
        allow_missing=allow_missing,
    )
    with _progress() as tell:
        answer = judging.judge_files(
            found,
            all_votes,
            measures=chosen,
            n_resamples=bootstrap,
            seed=seed,
            against=against or None,
            pairs=pairs,
            seek_best=as_markdown or as_latex,
            tell=tell,
        )
    if to is not None:
        from chaos_utils.cli.evaluation_figures import write_figures

        n_figures = write_figures(to, found, all_votes, seed)
        write_text(to / "evaluation.csv", shown.as_csv(answer))
        wrote = f"wrote {to / 'evaluation.csv'}, and {n_figures} figures in {to / 'figures'}"
        print(harmless(wrote), file=sys.stderr)
    if as_json:
        results = shown.as_records(answer)
        print_json({"synthetic": answer.synthetic, "notes": answer.notes, "results": results})
    elif as_markdown:
        print(harmless(shown.as_markdown(answer)))
    elif as_latex:
        print(harmless(shown.as_latex(answer)))
    else:
        width = max(shutil.get_terminal_size().columns, _NARROWEST)
        text = shown.as_csv(answer) if as_csv else shown.as_text(answer, width) + "\n"
        print(harmless(text), end="", flush=True)  # before the notes, where both go to one place
        for note in answer.notes:
            print(harmless(f"note: {note}"), file=sys.stderr)


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Say on a terminal what is done now; elsewhere nothing."""
    with ExitStack() as stack:
        shown: list[Status] = []

        def tell(text: str) -> None:
            if not sys.stderr.isatty():
                return
            if not shown:
                shown.append(stack.enter_context(err.status("")))
            shown[0].update(harmless(text).replace("[", r"\["))

        yield tell


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

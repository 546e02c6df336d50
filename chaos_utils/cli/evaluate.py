"""`chaos evaluate`: judge predictions."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.extras import require_extra
from chaos_utils.base.files import write_text
from chaos_utils.cli.arguments import writable
from chaos_utils.cli.console import Replies, Reply, command, progress, say

_FEWEST_RESAMPLES = 40  # for a 95% interval
_MOST_RESAMPLES = 1_000_000


@command(formats=("json", "csv", "markdown", "latex"))
def evaluate(
    files: Annotated[
        list[Path],
        Argument(help="Files with probabilities, with labels, or of language models' runs."),
    ],
    dataset: Annotated[
        str,
        Option("--dataset", "--task", metavar="NAME", help="A dataset's name, or auto."),
    ] = "auto",
    model: Annotated[str | None, Option(help="Use only this model of the files.")] = None,
    answers: Annotated[
        str,
        Option(
            metavar="A=LABEL,…",
            help="What answers, choices, labels or columns in the files mean, such as "
            "A=entailment,B=neutral,C=contradiction.",
        ),
    ] = "",
    filter: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="The filter to read, if a run of lm-evaluation-harness has several; filters "
            "without names are 1, 2, ….",
        ),
    ] = None,
    scorer: Annotated[
        str | None,
        Option(metavar="NAME", help="The scorer to read, if a log of Inspect has several."),
    ] = None,
    asked: Annotated[
        str | None,
        Option(
            metavar="WAY",
            help="How a language model was asked: label, samples, logprobs or percentages. Its "
            "answers are read as such, or refused.",
        ),
    ] = None,
    join: Annotated[
        str, Option(metavar="NAME", help="Join the files into one system called NAME.")
    ] = "",
    allow_missing: Annotated[
        bool, Option("--allow-missing", help="Evaluate only the items that have a prediction.")
    ] = False,
    measures: Annotated[
        str | None,
        Option(
            metavar="NAMES",
            help="Measures to show, separated by commas, or all; by default the main ones.",
        ),
    ] = None,
    bootstrap: Annotated[
        int | None,
        Option(
            metavar="N",
            help="Resamples for 95% intervals, 0 for none; by default 2,000, or more if there are "
            "many p-values.",
        ),
    ] = None,
    seed: Annotated[int, Option(min=0, help="Seed for the resampling.")] = 0,
    against: Annotated[
        str, Option(metavar="NAME", help="Compare the other systems with this one.")
    ] = "",
    pairs: Annotated[bool, Option("--pairs", help="Compare every pair of systems.")] = False,
    places: Annotated[
        bool,
        Option(
            "--places",
            help="Also say which places each system may have among all systems on the scoreboard, "
            "by its worth in people. This takes a few seconds per dataset.",
        ),
    ] = False,
    report: Annotated[
        bool,
        Option("--report", help="Print sentences for a paper instead of tables."),
    ] = False,
    data: Annotated[
        str, Option(help="auto, released, sample, a dataset, a votes file, or a folder.")
    ] = "auto",
    to: Annotated[
        Path | None,
        Option(
            "--out", metavar="DIR", parser=writable, help="Also write the table and figures there."
        ),
    ] = None,
    *,
    form: str,
) -> Replies:
    """Score a model's labels or probabilities against people's votes.

    Shows its worth in people, the usual measures, and baselines.
    """
    if pairs and against:
        raise ChaosError(
            "--pairs and --against exclude each other.", found=f"--pairs --against {against}",
            todo="choose one: --pairs compares with this system too",
        )  # fmt: skip
    if report:
        _check_report(form, measures=measures, pairs=pairs, against=against, places=places)
    if bootstrap and not _FEWEST_RESAMPLES <= bootstrap <= _MOST_RESAMPLES:
        raise ChaosError(
            "The number of resamples is out of range.",
            found=f"--bootstrap {bootstrap}",
            expected=f"0 for no intervals, or {_FEWEST_RESAMPLES} to {_MOST_RESAMPLES:,}",
        )
    if bootstrap == 0 and (pairs or against):
        raise ChaosError(
            "A comparison needs resamples.", found="--bootstrap 0", todo="leave --bootstrap out"
        )
    if to is not None:
        require_extra("book", "Drawing figures", ", or leave out --out")

    from chaos_utils.cli import evaluation_tables as tables
    from chaos_utils.datasets.loading import load_all_votes, load_votes
    from chaos_utils.scoring import evaluate as evaluation
    from chaos_utils.scoring.label_mapping import answers_of

    if places:
        from chaos_utils.analyses.scoreboard import pools
    chosen_measures = evaluation.USUAL if measures is None else evaluation.measures_of(measures)
    _check_votes(dataset, data)
    all_votes = load_all_votes(data) if dataset == "auto" else [load_votes(dataset, data)]
    systems = evaluation.read_files(
        files,
        all_votes,
        model=model,
        answers=answers_of(answers) if answers else None,
        filter=filter,
        scorer=scorer,
        asked=asked,
        join_as=join,
        allow_missing=allow_missing,
    )
    with progress() as tell:
        answer = evaluation.evaluate_files(
            systems,
            all_votes,
            measures=chosen_measures,
            n_resamples=bootstrap,
            seed=seed,
            against=against or None,
            pairs=pairs,
            seek_best=form in ("markdown", "latex"),
            pools_on=pools if places else None,
            tell=tell,
        )
    if to is not None:
        from chaos_utils.cli.evaluation_figures import write_figures

        n_figures = write_figures(to, systems, all_votes, seed)
        write_text(to / "evaluation.csv", tables.as_csv(answer))
        say(f"wrote {to / 'evaluation.csv'}, and {n_figures} figures in {to / 'figures'}")
    content = {"synthetic": answer.synthetic, "notes": answer.notes}
    notes = answer.notes if form in ("text", "csv") else []
    if report:
        from chaos_utils.scoring.methods_sentences import methods_sentences, wordings

        paragraphs = methods_sentences(answer, systems, all_votes, seed=seed)
        content["report"] = paragraphs
        parts = ["\n\n".join(paragraphs)]
        # A warning of copied votes is among the paragraphs.
        notes = [note for note in notes if not any(text.startswith(note) for text in paragraphs)]
        notes = [*notes, wordings()["to_add"]] if form == "text" else []
    else:
        parts = [] if form == "json" else [tables.WRITERS[form](answer)]
    yield Reply(content | {"results": tables.as_records(answer)}, parts)
    for note in notes:
        say(f"note: {note}")


def _check_report(form: str, **options: object) -> None:
    """Refuse what sentences for a paper cannot go with: they have measures of their own."""
    given = [f"--{name}" for name, value in options.items() if value]
    given += [f"--{form}"] if form not in ("text", "json") else []
    if given:
        raise ChaosError(
            "--report has its own measures and form, and does not compare systems.",
            found=f"--report {' '.join(given)}", todo=f"leave {' and '.join(given)} out",
        )  # fmt: skip


def _check_votes(dataset: str, data: str) -> None:
    """Fail before anything is read if the published votes are missing."""
    from chaos_utils.datasets.catalogue import book_datasets, get_dataset
    from chaos_utils.datasets.sources import find

    if data not in ("auto", "released"):
        return
    datasets = book_datasets() if dataset == "auto" else [get_dataset(dataset)]
    files = [file.name for entry in datasets for file in entry.files]
    if not any(map(find, files)):
        raise ChaosError(
            "The votes to judge your predictions by are not available.",
            expected=", ".join(files),
            todo="run `chaos data fetch`, or try the command on the synthetic sample: "
            "--data sample",
        )

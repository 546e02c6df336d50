"""`chaos dataset`: check and describe a reader's own votes."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.cli.arguments import Replace, beside, check_result, formula_notes
from chaos_utils.cli.console import Replies, Reply, command

if TYPE_CHECKING:
    from chaos_utils.datasets.findings import Findings

dataset = typer.Typer(
    name="dataset", help="Check and describe your own votes.", no_args_is_help=True
)

_SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet")
_BAR_LENGTH = 30  # characters
_MOST_ENTRIES = 12  # labels or columns in a list, lines of a histogram

Item = Annotated[
    str,
    Option(
        "--item",
        metavar="COLUMN",
        help="Column of the items; several, separated by commas, if together they identify one.",
    ),
]
Annotator = Annotated[
    str, Option("--annotator", metavar="COLUMN", help="Column of the annotators.")
]
Label = Annotated[str, Option("--label", metavar="COLUMN", help="Column of the votes.")]


@dataset.command("check")
@command()
def check(
    votes: Annotated[
        str, Argument(help="A votes file, a folder, a dataset's YAML file, or its name.")
    ],
    item: Item = "",
    annotator: Annotator = "",
    label: Label = "",
) -> Replies:
    """Report what a votes file holds and what can be computed from it; exit code 2 on faults."""
    from chaos_utils.base import paths
    from chaos_utils.datasets.dataset import is_dataset_file
    from chaos_utils.datasets.findings import check_file, check_votes
    from chaos_utils.datasets.loading import is_in_chaosnlis_format, load_all_votes

    path = paths.from_reader(votes)
    chosen = {"--item": item, "--annotator": annotator, "--label": label}
    options = [word for option in chosen.items() if option[1] for word in option]
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in _SUFFIXES)
    if path.suffix and not path.exists():
        raise ChaosError("There is no such file.", where=path)
    if not path.exists() or any(map(is_dataset_file, path.iterdir() if path.is_dir() else files)):
        findings = [check_votes(part) for part in load_all_votes(votes)]
        options = []  # the YAML file names the columns
    else:
        findings = [
            check_votes(load_all_votes(str(file))[0])
            if is_in_chaosnlis_format(file) and not options
            else check_file(file, item=item, annotator=annotator, label=label)[0]
            for file in files
        ]
        if path.is_dir() and files:  # other commands look for a YAML file in a folder
            votes = str(Path(votes) / files[0].name)
    if not findings:
        raise ChaosError(
            "This folder holds no votes.",
            where=path,
            expected=f"files that end in {', '.join(_SUFFIXES)}, or a dataset's YAML file",
        )
    yield Reply(
        [asdict(finding) for finding in findings],
        [line for finding in findings for line in _lines(finding)]
        + [f"next: {step}" for step in _next_steps(votes, findings, options)],
    )
    if any(finding.faults for finding in findings):
        raise typer.Exit(2)


def _next_steps(votes: str, findings: "Sequence[Findings]", options: Sequence[str]) -> list[str]:
    """Return the command that shows most of what one file holds, if nothing speaks against it."""
    from chaos_utils.datasets.votes import FOR_AGREEMENT

    judged, agreement, *_ = findings[0].abilities
    if len(findings) > 1 or not (judged.possible and agreement.possible):
        return []
    # Other commands know neither columns that were chosen here nor which columns are no votes.
    if options or judged.why:
        return [shlex.join(["chaos", "dataset", "init", votes, *options])]
    if sum(items for n, items in findings[0].votes_per_item.items() if n > 1) < FOR_AGREEMENT:
        return []
    return [shlex.join(["chaos", "run", "crowd", "-p", f"data={votes}"])]


def _lines(result: "Findings") -> list[str]:
    """Return the report on one file: what it holds, its faults, and what can be computed."""
    columns = ", ".join(f"{role} = {name!r}" for role, name in result.columns.items())
    lines = [f"{result.file}: {result.format}" + (f", columns {columns}" if columns else "")]
    mean = result.votes / result.items if result.items else 0
    lines.append(
        f"  {counted(result.items, 'item')}, {counted(result.votes, 'vote')}, {mean:.1f} per item"
    )
    labels = sorted(result.labels.items(), key=lambda pair: -pair[1])  # the most frequent first
    frequent = ", ".join(f"{name} ({n:,})" for name, n in labels[:_MOST_ENTRIES])
    more = f" and {len(labels) - _MOST_ENTRIES} more" if len(labels) > _MOST_ENTRIES else ""
    lines += [f"  {counted(len(labels), 'label')}: {frequent}{more}", "  votes per item:"]
    lines += _histogram(result.votes_per_item)
    lines.append(
        f"  everyone agrees on {counted(result.unanimous, 'item')}; {counted(result.ties, 'tie')}"
    )
    people = result.annotators
    if people:
        text = f"  {counted(people['number'], 'annotator')} with {people['fewest']:,}"
        if people["fewest"] < people["most"]:
            text += f" to {people['most']:,} votes (median {people['median']:g})"
        else:
            text += " votes each" if people["most"] != 1 else " vote each"
        if "pairs" in people:
            text += f"; {people['pairs']:.0%} of their pairs have items in common"
            text += f" (median {people['median_common']:g})" if people["pairs"] else ""
        lines.append(text)
    else:
        lines.append("  annotators: not available")
    for title, names in (("texts", result.text_columns), ("not used", result.other_columns)):
        if names:
            first_names = [
                repr(name) + (f" ({result.reasons[name]})" if name in result.reasons else "")
                for name in names[:_MOST_ENTRIES]
            ]
            more = f" and {len(names) - _MOST_ENTRIES} more" if names[_MOST_ENTRIES:] else ""
            lines.append(f"  {title}: {', '.join(first_names)}{more}")
    if result.faults:
        lines += ["", "faults:", *(f"  {text}" for text in result.faults)]
        lines.append(f"  to do: correct {result.file}, and check it again")
    if result.remarks:
        lines += ["", "remarks:", *(f"  {text}" for text in result.remarks)]
    can = "can be computed once the faults are corrected" if result.faults else "can be computed"
    for title, possible in ((can, True), ("cannot be computed", False)):
        abilities = [ability for ability in result.abilities if ability.possible == possible]
        if abilities:
            lines += ["", f"{title}:"]
            lines += [
                f"  {ability.what}" + (f" ({ability.why})" if ability.why else "")
                for ability in abilities
            ]
    return [*lines, ""]


def _histogram(items_by_votes: dict[int, int]) -> list[str]:
    """Return a bar, as a line, for each number of votes per item, or for ranges of many numbers."""
    numbers = sorted(items_by_votes)
    bins = [(n, n, items_by_votes[n]) for n in numbers]
    if len(numbers) > _MOST_ENTRIES:
        width = -(-(numbers[-1] - numbers[0] + 1) // _MOST_ENTRIES)
        starts = range(numbers[0], numbers[-1] + 1, width)
        bins = [
            (low, low + width - 1, sum(items_by_votes.get(n, 0) for n in range(low, low + width)))
            for low in starts
        ]
    most = max((n for _, _, n in bins), default=1)
    return [
        f"  {(str(low) if low == high else f'{low}–{high}'):>9} "
        f"{'█' * max(round(_BAR_LENGTH * n / most), n > 0)} {n:,}"
        for low, high, n in bins
    ]


@dataset.command("init")
@command()
def init(
    votes: Annotated[Path, Argument(help="A votes file.")],
    to: Annotated[
        Path | None,
        Option("--out", metavar="FILE", help="By default beside the votes, under the same name."),
    ] = None,
    item: Item = "",
    annotator: Annotator = "",
    label: Label = "",
    cut: Annotated[
        str,
        Option(
            metavar="NUMBERS",
            help="Cut a rating into classes at these numbers, from the lowest to the highest of "
            "its scale: 0,25,75,100.",
        ),
    ] = "",
    force: Replace = False,
) -> Replies:
    """Write the YAML file of a dataset, for `-p data=` and `chaos evaluate --data`."""
    from chaos_utils.base.files import check_free, write_text
    from chaos_utils.datasets.dataset import is_dataset_file
    from chaos_utils.datasets.describing import describe

    target = to or votes.with_suffix(".yml")
    if not is_dataset_file(target):
        raise ChaosError(
            "A dataset's file ends in .yml or .yaml.", found=str(target), todo="rename it: --out"
        )
    check_free(target, force)
    text, notes, faults = describe(
        votes, target, item=item, annotator=annotator, label=label, cut=_numbers(cut)
    )
    write_text(target, text)
    next_steps = [f"correct {votes.name}"] if faults else []
    next_steps += [
        shlex.join(["chaos", "run", "crowd", "-p", f"data={target}"]),
        shlex.join(["chaos", "evaluate", "predictions.csv", "--data", str(target)]),
    ]
    lines = [str(target), *(f"  {note}" for note in notes)]
    lines += [f"  fault: {fault}" for fault in faults]
    lines += [f"  next: {step}" for step in next_steps]
    yield Reply({"file": str(target), "notes": notes, "faults": faults}, lines)
    if faults:
        raise typer.Exit(2)


@dataset.command("export")
@command()
def export(
    votes: Annotated[str, Argument(help="A votes file, a dataset's YAML file, or its name.")],
    to: Annotated[
        Path | None,
        Option("--out", metavar="FILE", help="By default beside the votes, named …-soft.csv."),
    ] = None,
    shrunken: Annotated[
        bool,
        Option("--shrunk", help="Shares shrunk by a prior: to look at, not to train on."),
    ] = False,
    force: Replace = False,
) -> Replies:
    """Write soft labels for training: the vote shares of each item, as CSV.

    Raw shares are unbiased, and better to train on than shrunken ones: the chapter *Repairing
    predictions with few votes* compares them (tbl-soft-labels).
    """
    from chaos_utils.base.files import csv_text, write_text
    from chaos_utils.cli.export import load_dataset
    from chaos_utils.datasets.adaptive import refuse_adaptive
    from chaos_utils.scoring.next_votes import label_rows

    target = to or beside(votes, "-soft.csv")
    check_result(target, votes, force)
    loaded = load_dataset(votes)
    refuse_adaptive(loaded)
    write_text(target, csv_text(label_rows(loaded, shrunken=shrunken)))
    notes = [*loaded.notes, *formula_notes([*loaded.uids, *loaded.dataset.codes])]
    if shrunken:
        notes.append(
            "shrunken shares are nearer to people on each item, but worse to train on than raw "
            "ones: a model that learns from raw shares shrinks by itself (tbl-soft-labels)"
        )
    lines = [str(target), f"  {counted(len(loaded), 'item')}, a column for each label"]
    yield Reply(
        {"file": str(target), "items": len(loaded), "shrunk": shrunken, "notes": notes},
        [*lines, *(f"  {note}" for note in notes)],
    )


def _numbers(text: str) -> list[float]:
    """Return the numbers of `--cut`: none, or at least three in ascending order."""
    from chaos_utils.datasets.cells import as_number

    values = [as_number(part) for part in text.split(",") if part.strip()]
    numbers = [float(number) for number in values if number is not None]
    is_ascending = all(low < high for low, high in pairwise(numbers))
    if len(numbers) < len(values) or 0 < len(numbers) < 3 or not is_ascending:
        raise ChaosError(
            "The rating cannot be cut at these numbers.", found=f"--cut {text}",
            expected="at least three in ascending order, separated by commas, such as 0,50,100",
        )  # fmt: skip
    return numbers

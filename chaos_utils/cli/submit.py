"""`chaos submit`: add a result to the scoreboard, and check those that are there."""

import datetime
import re
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.arguments import assignments
from chaos_utils.cli.console import Grid, Replies, Reply, command, is_terminal, say

if TYPE_CHECKING:
    from chaos_utils.datasets.votes import Votes
    from chaos_utils.scoring.submitted import Submission, SystemRecord
    from chaos_utils.scoring.submitting import BoardRow
    from chaos_utils.scoring.system import System

_MOST_BYTES = 200_000_000  # of a file that is read: a hundred times what honest predictions take
_HEADINGS = {
    "system": "title", "dataset": "dataset", "worth, recalibrated": "recalibrated",
    "as it is": "as_it_is", "votes misplaced of 100": "misplaced", "JSD (distance, √nats)": "jsd",
    "accuracy": "accuracy",
}  # fmt: skip

_LISTS = ("authors", "trained_on")
_OF_PROMPTED = ("asked.prompt", "asked.temperature")  # fields of all systems but encoders
_BESIDE = 2  # systems above and below a submission whose places are shown
_MOST_FILES = 20  # changed beside submissions, that are named
_MOST_MOVED = 8  # others whose places are shown, where these change


@command()
def submit(
    file: Annotated[
        str,
        Argument(help="A predictions file; with --check, one submission's name, or none for all."),
    ] = "",
    name: Annotated[str, Option(help="The name of its folder, such as minilm-l6-seed-3.")] = "",
    about: Annotated[
        Path | None, Option(metavar="FILE", help="A system.yml to start from.")
    ] = None,
    field: Annotated[
        list[str] | None,
        Option(
            "--field",
            "-f",
            metavar="NAME=VALUE",
            help="A field of system.yml; repeatable. title, authors, licence, link, model.id, "
            "model.revision, model.open_weights, asked.how (label, samples, logprobs, percentages, "
            "encoder), trained_on, votes_used (none, other_items), may_have_seen (no, possible, "
            "yes), and if they apply date, asked.prompt, asked.temperature, asked.samples, "
            "asked.unread, reason, code, n_tried, replaces.name, replaces.reason. Separate the "
            "entries of a list by semicolons.",
        ),
    ] = None,
    dataset: Annotated[
        str, Option(metavar="NAME", help="A dataset's name, or auto: those of the book.")
    ] = "auto",
    model: Annotated[str | None, Option(help="Use only this model of the file.")] = None,
    answers: Annotated[
        str, Option(metavar="A=LABEL,…", help="What answers in the file mean, as for evaluate.")
    ] = "",
    data: Annotated[str, Option(help="auto; or sample, for a trial that writes nothing.")] = "auto",
    check: Annotated[
        bool, Option("--check", help="Check existing submissions, as a reviewer does.")
    ] = False,
    base: Annotated[
        str,
        Option(
            metavar="BRANCH",
            help="With --check: refuse changes to submissions that are merged in this branch, such "
            "as origin/main.",
        ),
    ] = "",
) -> Replies:
    """Submit predictions to the scoreboard, or check submissions; exit code 2 if one is refused."""
    if check:
        yield from _check(file or name, data, base)
        return
    if base:
        raise ChaosError("--base goes with --check.", todo="add --check, or leave --base out")
    if not file or not name:
        raise ChaosError(
            "A submission needs a file and a name.",
            found=shlex.join(["chaos", "submit", *filter(None, [file])]),
            expected="chaos submit FILE --name NAME",
            todo="name both; to check existing submissions, pass --check",
        )  # fmt: skip
    from chaos_utils.base.files import fresh_folder
    from chaos_utils.base.yaml_files import read_yaml
    from chaos_utils.datasets.frame import FileContent
    from chaos_utils.datasets.loading import load_all_votes, load_votes
    from chaos_utils.scoring import submitting
    from chaos_utils.scoring.formats import ABOUT
    from chaos_utils.scoring.label_mapping import answers_of
    from chaos_utils.scoring.predictions import columns_left_out, read_predictions
    from chaos_utils.scoring.submitted import FOLDER, Submission, folder_of, parse_record

    # What is found without reading votes or predictions comes first.
    target = folder_of(name)
    if target.exists():
        raise ChaosError(
            "A submission has this name already.", where=target,
            todo=f"if it is not merged, remove it; otherwise correct it: --name {name}-v2 "
            f"-f replaces.name={name} -f replaces.reason=…",
        )  # fmt: skip
    path = Path(file)
    if path.is_file() and (n_bytes := path.stat().st_size) > _MOST_BYTES:
        raise ChaosError(
            "The file is too large for predictions on these items.", where=path,
            found=f"{n_bytes:,} bytes", expected=f"at most {_MOST_BYTES:,}",
        )  # fmt: skip
    FileContent.of(path)  # which must be there before anything is asked
    content = read_yaml(about, "A submission's record") if about else {}
    if not isinstance(content, dict):
        raise ChaosError(
            "This is not a submission's record.", where=about, expected="a line `name: value` each"
        )
    record = parse_record(_ask(_with_fields(content, assignments(field))), about or "--field")
    submitting.check_record(Submission(name, target, record))
    all_votes = load_all_votes(data) if dataset == "auto" else [load_votes(dataset, data)]
    synthetic = any(votes.source.synthetic for votes in all_votes)
    for votes in all_votes:
        if not (synthetic or (votes.is_released and votes.dataset.in_book)):
            raise ChaosError(
                "The scoreboard has only the book's datasets, as published.",
                where=votes.source.name, found=votes.dataset.title,
                todo="leave out --data and --dataset; `chaos evaluate` judges other datasets",
            )  # fmt: skip
    how = record.asked.how
    reading: dict[str, Any] = {
        "model": model, "answers": answers_of(answers) if answers else None,
        "asked": None if how == "encoder" else how,
    }  # fmt: skip
    try:
        systems = read_predictions(path, all_votes, allow_missing=True, **reading)
    except ChaosError as fault:
        raise fault.advising(_in_own_options) from fault
    if len({system.name for system in systems}) > 1:
        raise ChaosError(
            "A submission has only one system.", where=file,
            found=", ".join(dict.fromkeys(system.name for system in systems)),
            todo="choose one: --model",
        )  # fmt: skip
    left_out = columns_left_out(path, all_votes, **reading)
    described = [name for name in left_out if name in ABOUT]  # `notes` name the others
    notes = list(dict.fromkeys(note for system in systems for note in system.notes))
    _check_training(systems, record, file)
    trial = tempfile.TemporaryDirectory() if synthetic else None
    with trial or fresh_folder(target) as place:
        folder = Path(place)
        submitting.write_submission(folder, systems, record)
        submission = Submission(name, folder, record)
        if derived := submitting.find_derived(submission, all_votes):
            record = record.model_copy(update={"derived_from": derived})
            submission = Submission(name, folder, record)
            submitting.write_submission(folder, systems, record)
        rows = submitting.check_submission(submission, all_votes)
        places = _places(submission, all_votes)
    shown = f"results/{FOLDER}/{name}"
    steps = [] if synthetic else _steps(shown, record.title)
    yield Reply(
        {"folder": None if synthetic else shown, "rows": [asdict(row) for row in rows],
         "places": places, "columns_left_out": left_out, "notes": notes, "next": steps},
        [*_parts(rows, places),
         *[f"left out, as the record describes the system: {', '.join(described)}"]
         * bool(described),
         *(f"of the file: {note}" for note in notes), *(f"next: {step}" for step in steps)],
    )  # fmt: skip
    if synthetic:
        say("nothing is written, since these items are made up")


def _in_own_options(advice: str) -> str:
    """Return the advice of the reader of predictions in words of this command."""
    from chaos_utils.scoring.predictions import OF_OWN_ITEMS

    advice = advice.removeprefix(OF_OWN_ITEMS)  # the scoreboard has only the book's
    advice = advice.replace("leave --asked out", "pass -f asked.how=encoder")
    advice = advice.replace("leave out --asked logprobs", "pass -f asked.how=encoder")
    advice = advice.replace(", and pass --allow-missing", "")
    return re.sub(r"--asked (\w+)", r"-f asked.how=\1", advice)


def _check_training(systems: "Sequence[System]", record: "SystemRecord", file: str) -> None:
    """Raise if a file says that it was fitted on votes, and the record that it was not."""
    from chaos_utils.scoring.system import are_votes

    fitted = sorted({name for system in systems for name in system.trained_on if are_votes(name)})
    if fitted and record.votes_used == "none":
        raise ChaosError(
            "The file and the record contradict each other.", where=file,
            found=f"trained_on: {', '.join(fitted)}; votes_used: none",
            expected="votes_used: other_items, and the fold of each item in a column fold",
            todo="correct one of them",
        )  # fmt: skip


def _check(name: str, data: str, base: str) -> Replies:
    """Check one submission, or all of them; the faults of each are printed before the exit."""
    from chaos_utils.datasets.catalogue import bundled_datasets
    from chaos_utils.datasets.faults import shorten
    from chaos_utils.datasets.loading import is_missing, load_all_votes, load_votes
    from chaos_utils.scoring.merged_submissions import Changes, changes_since
    from chaos_utils.scoring.submitted import folder_of, read_submission, submissions

    known, faults = submissions()
    changes = changes_since(base) if base else Changes()
    faults |= changes.faults
    chosen = [read_submission(folder_of(name))] if name else known
    all_votes = (
        [load_votes(one.name) for one in bundled_datasets() if one.in_book and not is_missing(one)]
        if data == "auto"
        else load_all_votes(data)
    )
    if not all_votes:
        raise ChaosError(
            "The votes to judge submissions by are not available.", todo="run `chaos data fetch`"
        )
    answers: dict[str, dict[str, Any]] = {}
    parts: list[str | Grid] = []
    for submission in chosen:
        ranked = submission.name in (name, *changes.new)
        if submission.name not in faults:
            try:
                answers[submission.name], lines = _checked(submission, all_votes, ranked=ranked)
                parts += lines
            except ChaosError as fault:
                faults[submission.name] = fault
    refusals = {key: found for key, found in faults.items() if name in ("", key)}
    answers |= {key: {"name": key, "refused": str(found)} for key, found in refusals.items()}
    parts += [
        f"{key}: withdrawn here; was it its authors who asked for this?"
        for key in changes.withdrawn
    ]
    if changes.elsewhere:
        more = f" and {len(changes.elsewhere) - _MOST_FILES} more"
        shown = ", ".join(map(shorten, changes.elsewhere[:_MOST_FILES]))
        parts.append(f"also changed: {shown}" + more * (len(changes.elsewhere) > _MOST_FILES))
    yield Reply([answers[key] for key in sorted(answers)], parts)
    for key, found in faults.items():
        say(str(found) if key in refusals else f"another submission has a fault: {found}")
    if refusals:
        raise typer.Exit(2)


def _checked(
    submission: "Submission", all_votes: "Sequence[Votes]", *, ranked: bool
) -> tuple[dict[str, Any], list[str | Grid]]:
    """Return what a check of one submission finds, for programs and for readers."""
    from chaos_utils.scoring.submitting import check_files, check_submission

    if withdrawn := submission.record.withdrawn:
        check_files(submission)
        line = f"{submission.name}: withdrawn on {withdrawn.date}: {withdrawn.reason}"
        return {"name": submission.name, "withdrawn": withdrawn.reason}, [line]
    rows = check_submission(submission, all_votes)
    places = _places(submission, all_votes) if ranked else []
    answer = {"name": submission.name, "rows": [asdict(row) for row in rows], "places": places}
    said = _said(submission.record) if ranked else []
    return answer, [f"{submission.name}: nothing to refuse", *said, *_parts(rows, places)]


def _said(record: "SystemRecord") -> list[str]:
    """Return what a record says that no program can judge."""
    from chaos_utils.datasets.faults import shorten

    seen = record.may_have_seen + (f", {record.reason}" if record.reason else "")
    values = {
        "authors": "; ".join(record.authors), "licence": record.licence, "link": record.link,
        "may have seen the items": seen,
    }  # fmt: skip
    if record.asked.prompt:
        values["prompt"] = shorten(record.asked.prompt, 2_000)
    return [f"{name}: {value}" for name, value in values.items()]


def _places(submission: "Submission", all_votes: "Sequence[Votes]") -> list[dict[str, Any]]:
    """Return the places on the scoreboard with a submission and without it, by dataset and system.

    Those of the submission, of the systems beside it, and of others that change but for the one
    that it takes.
    """
    from chaos_utils.analyses.fitting import variants
    from chaos_utils.analyses.scoreboard import places_beside
    from chaos_utils.scoring.submitting import other_submissions
    from chaos_utils.scoring.systems import load_systems

    rows: list[dict[str, Any]] = []
    for votes in all_votes:
        system = submission.system_on(votes)
        if system is None:
            continue
        others = [*load_systems(votes), *other_submissions(submission, votes)]
        table = places_beside(votes, system, others, variants=variants())
        if table.empty:
            continue
        own = table["system"] == system.name
        shift = table["place_best"] - table["without_place_best"]
        moves = ~own & (table["place_worst"] - table["without_place_worst"] != shift)
        moves &= moves.cumsum() <= _MOST_MOVED
        beside = abs(table.index - table.index[own][0]) <= _BESIDE
        for row in table[beside | moves].to_dict("records"):
            before = [row["without_place_best"], row["without_place_worst"]]
            rows.append(
                {
                    "dataset": votes.dataset.name,
                    "system": row["system"],
                    "people": row["people_on_top_recalibrated"],
                    "place": [int(row["place_best"]), int(row["place_worst"])],
                    "n_placed": int(row["n_placed"]),
                    "without": None if row["system"] == system.name else list(map(int, before)),
                }
            )
    return rows


def _parts(rows: "Sequence[BoardRow]", places: Sequence[dict[str, Any]]) -> list[str | Grid]:
    """Return rows as a table, and below it what stands beside each, and places."""
    from chaos_utils.scoring.submitting import NO_DISTRIBUTION

    table = [[getattr(row, name) for name in _HEADINGS.values()] for row in rows]
    lines = []
    if any(NO_DISTRIBUTION in cells for cells in table):
        lines.append(
            f"{NO_DISTRIBUTION} needs a distribution, and this system gives one label per item."
        )
    for row in rows:
        lines.append(f"{row.dataset}: {row.items}; most like {', '.join(row.neighbours)}")
        lines += [f"{row.dataset}: check by hand: {flag}" for flag in row.flags]
    parts: list[str | Grid] = [Grid([*_HEADINGS], table), *lines]
    if places:
        cells = [
            [row["dataset"], row["system"], f"{row['people']:.1f}",
             f"{_place(row['place'])} of {row['n_placed']}", _place(row["without"])]
            for row in places
        ]  # fmt: skip
        headings = ["dataset", "system", "worth", "place", "without it"]
        parts.append(Grid(headings, cells, right=["worth"]))
    return parts


def _place(ends: Sequence[int] | None) -> str:
    if ends is None:
        return "–"
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]}–{ends[1]}"


def _steps(folder: str, title: str) -> list[str]:
    """Return what a pull request needs."""
    return [
        f"look at {folder}/system.yml",
        shlex.join(["git", "add", folder]) + " && "
        + shlex.join(["git", "commit", "-m", f"Result: {title}"]),
        "open a pull request with only this folder, and the table above in its description; "
        f"reviewers run `chaos submit --check {Path(folder).name}`",
    ]  # fmt: skip


def _with_fields(content: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    """Return a record's content with the values of fields, which may be those of a part."""
    result = {
        name: dict(part) if isinstance(part, dict) else part for name, part in content.items()
    }
    for path, text in fields.items():
        part, _, name = path.rpartition(".")
        place = result.setdefault(part, {}) if part else result
        if not isinstance(place, dict):
            raise ChaosError("A field is given twice.", where="--field", found=path)
        parts = [part.strip() for part in text.split(";")]
        place[name] = list(filter(None, parts)) if path in _LISTS else text
    return {"date": datetime.datetime.now(datetime.UTC).date(), **result}


def _ask(content: dict[str, Any]) -> dict[str, Any]:
    """Return a record's content with answers to what it lacks, on a terminal."""
    from chaos_utils.scoring.submitted import REQUIRED

    for path in (*REQUIRED, *_OF_PROMPTED) if is_terminal() else ():
        part, _, name = path.rpartition(".")
        fields = content.get(part, {}) if part else content
        if not isinstance(fields, dict) or name in fields:
            continue  # what is no dict is refused with all other faults
        if path not in _OF_PROMPTED or fields.get("how") != "encoder":
            content = _with_fields(content, {path: typer.prompt(path, err=True)})
    return content

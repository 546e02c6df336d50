"""Recorded votes: one file per annotator, joined into a dataset in ChaosNLI's format."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, Field

from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.files import fresh_folder, write_json, write_text
from chaos_utils.base.validation import validate
from chaos_utils.collection.materials import pool_of
from chaos_utils.collection.protocol import Event, load_protocol
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.cells import parse
from chaos_utils.datasets.chaosnli import tallied
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.frame import FileContent
from chaos_utils.datasets.loading import find_votes_on, load_all_votes, load_votes

Json = dict[str, Any]

_TESTS = ("qualification_items", "training_items", "check_rate")
# Files with at least so many answers may be copies if they share so many pairs of neighbours.
_FEWEST_ANSWERS, _COPIED_SHARE = 10, 0.8
_Text = Annotated[str, Field(min_length=1)]


class _SavedFile(BaseModel):
    """The content of a file that the book's page saves."""

    protocol: _Text
    parameters: dict[str, Any]
    # The first edition called the dataset the task.
    dataset: Annotated[_Text, Field(validation_alias=AliasChoices("dataset", "task"))]
    annotator: _Text
    events: list[dict[str, Any]]
    votes: list[Any]


@dataclass(frozen=True, slots=True)
class VoteFile:
    """The answers and votes of one annotator, with all of the protocol's parameters.

    `answers` are the events of type ``answer``, also to tests and checks, as `Protocol.replay`
    takes them. `votes` are the answers on items; none if the protocol discards the votes.
    """

    path: Path
    dataset: Dataset
    annotator: str
    parameters: Mapping[str, float]
    answers: tuple[Event, ...]
    votes: tuple[Event, ...]


def read_votes(path: Path) -> VoteFile:
    """Read and check a votes file.

    The events are replayed, so votes count only if the protocol lets them count.
    """
    try:
        content = parse(FileContent.of(path).text())
    except ValueError as fault:
        raise ChaosError(
            "The votes file is not complete JSON.",
            where=path,
            found=str(fault).removeprefix("found "),
            todo="check that the file was not cut off, and save it again",
        ) from fault
    todo = "take the file as the book's page has saved it"
    saved = validate(content, _SavedFile, path, "The votes file", todo=todo)
    if saved.protocol != load_protocol().version:
        raise ChaosError(
            "The votes were collected under another version of the protocol.",
            where=path,
            found=saved.protocol,
            expected=load_protocol().version,
        )
    try:
        return _replay(path, saved)
    except ChaosError as fault:
        raise fault.within(path) from fault


def _replay(path: Path, saved: _SavedFile) -> VoteFile:
    """Replay the events of a file, and check that its votes are those of the events."""
    dataset = get_dataset(saved.dataset)
    protocol = load_protocol(**saved.parameters)
    end = protocol.replay(saved.events)
    answers, vote_events = [], {}
    for number, event in enumerate(saved.events, start=1):
        if event["type"] != "answer":
            continue
        answers.append(event)
        where = f"event {number}, item {event['item']}"
        unknown = {event["answer"], event.get("expected") or event["answer"]} - set(dataset.codes)
        if unknown:
            raise ChaosError(
                "The dataset has no such label.",
                where=where,
                found=", ".join(sorted(unknown)),
                expected=" or ".join(dataset.codes),
            )
        if event["kind"] == "item":
            if event["item"] in vote_events:
                raise ChaosError("The same annotator votes twice on an item.", where=where)
            vote_events[event["item"]] = event
    votes = [{"item": vote["item"], "label": vote["answer"]} for vote in vote_events.values()]
    if votes != saved.votes:
        raise ChaosError(
            "The votes are not those of the events.",
            found=counted(len(saved.votes), "vote"),
            expected=f"{counted(len(votes), 'vote')}, as the events record",
            todo="save the file again; it is not meant to be edited",
        )
    counted_votes = tuple(vote_events.values()) if end.counted[0] else ()
    return VoteFile(
        path, dataset, saved.annotator, protocol.parameters, tuple(answers), counted_votes
    )


def merge(
    paths: Sequence[Path],
    target: Path,
    data: str = "auto",
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, dict[str, int]]:
    """Join votes files into a folder that the parameter ``data=FOLDER`` reads.

    Items, their texts and their old labels are copied from the reader's own copy of the data. The
    folder must be empty, or not exist; ``protocol.json`` in it names the protocol and all of its
    parameters. Return, for each dataset, how many ``annotators`` have votes that count, how many
    ``items`` they judged, and how many ``votes`` count. `say` is called with each warning for the
    collector.
    """
    if target.is_dir() and any(target.iterdir()):
        raise ChaosError("The folder is not empty.", where=target, todo="name another folder")
    if target.exists() and not target.is_dir():
        raise ChaosError("This is not a folder.", where=target, todo="name another folder")
    files = sorted((read_votes(path) for path in paths), key=lambda file: file.annotator)
    _check_compatible(files)
    _check_tests(files, data)
    for warning in _warnings(files):
        say(warning)
    by_dataset: dict[str, list[VoteFile]] = {}
    for file in files:
        if file.votes:
            by_dataset.setdefault(file.dataset.name, []).append(file)
    if not by_dataset:
        raise ChaosError(
            "No votes count.",
            found=f"{counted(len(files), 'file')}, all of annotators who judged nothing or were "
            "turned away",
        )
    texts, summary = {}, {}
    for name, dataset_files in by_dataset.items():
        rows = _rows(dataset_files, data)
        texts[Path(dataset_files[0].dataset.file).name] = "".join(
            json.dumps(row, ensure_ascii=False) + "\n" for row in rows
        )
        n_votes = sum(len(file.votes) for file in dataset_files)
        summary[name] = {"annotators": len(dataset_files), "items": len(rows), "votes": n_votes}
    with fresh_folder(target) as folder:
        for file_name, text in texts.items():
            write_text(folder / file_name, text)
        protocol = {"protocol": load_protocol().version, "parameters": dict(files[0].parameters)}
        write_json(folder / "protocol.json", protocol)
    return summary


def _check_compatible(files: Sequence[VoteFile]) -> None:
    """Refuse two files of one annotator, with the same answers, or with different parameters."""
    for first, file in _duplicates(files, lambda file: (file.annotator, file.dataset.name)):
        raise ChaosError(
            "Two files have the same annotator.",
            where=f"{first.path} and {file.path}",
            found=f"{file.annotator} on {file.dataset.title}",
            expected="one file per annotator and dataset",
            todo="if both are of one person, keep the longer file; if not, give one of "
            "them another id",
        )
    answered_files = [file for file in files if file.answers]
    for first, file in _duplicates(
        answered_files, lambda file: f"{file.dataset.name} {file.answers}"
    ):
        raise ChaosError(
            "Two files hold the same answers under two names.",
            where=f"{first.path} and {file.path}",
            found=f"{counted(len(file.answers), 'answer')}, the same in both",
            todo="keep one of them",
        )
    first = files[0]
    for file in files:
        differences = [
            f"{name}: {first.parameters[name]:g} and {value:g}"
            for name, value in file.parameters.items()
            if value != first.parameters[name]
        ]
        if differences:
            raise ChaosError(
                "Two files were collected with different parameters of the protocol.",
                where=f"{first.path} and {file.path}",
                found=", ".join(differences),
                expected="the same parameters in all files",
                todo="merge them into two datasets",
            )


def _duplicates(
    files: Sequence[VoteFile], key: Callable[[VoteFile], object]
) -> Iterator[tuple[VoteFile, VoteFile]]:
    """Yield the first file that has a key, with each further file that has the same key."""
    first_of: dict[object, VoteFile] = {}
    for file in files:
        first = first_of.setdefault(key(file), file)
        if first is not file:
            yield first, file


def _warnings(files: Sequence[VoteFile]) -> Iterator[str]:
    """Yield what may be wrong with files, which are merged all the same."""
    if not any(files[0].parameters[name] for name in _TESTS):
        names = ", ".join(_TESTS)
        yield f"The annotators had no test, no training and no hidden checks ({names}: 0)."
    neighbours = [
        (file, set(pairwise((event["item"], event["answer"]) for event in file.answers)))
        for file in files
        if len(file.answers) >= _FEWEST_ANSWERS
    ]
    for (file, pairs), (other_file, other_pairs) in combinations(neighbours, 2):
        share = len(pairs & other_pairs) / min(len(pairs), len(other_pairs))
        if file.dataset == other_file.dataset and share >= _COPIED_SHARE:
            yield (
                f"{file.path} and {other_file.path} may be copies of each other: {share:.0%} of "
                "their answers follow each other in the same order."
            )


def _check_tests(files: Sequence[VoteFile], data: str) -> None:
    """Refuse files whose tests or checks expected other labels than the data's unanimous ones."""
    all_votes = load_all_votes(data)
    expected_labels = {
        file.dataset.name: {
            uid: file.dataset.codes[shares.argmax()]
            for uid, shares in pool_of(file.dataset, all_votes).items()
        }
        for file in files
    }
    for file in files:
        for event in file.answers:
            label = expected_labels[file.dataset.name].get(event["item"])
            if event["kind"] != "item" and event["expected"] != label:
                raise ChaosError(
                    "A test does not expect what nearly all people answer.",
                    where=f"{file.path}, {event['kind']}, item {event['item']}",
                    found=event["expected"],
                    expected=label or "a unanimous example of the data",
                    todo="read the items from where they were judged: --data",
                )


def _rows(files: Sequence[VoteFile], data: str) -> list[Json]:
    """Return the judged items of a dataset, with their votes, in the order of the reader's copy."""
    dataset = files[0].dataset
    load_votes(dataset.name, data)  # checks the copy, and records that it was read
    path = find_votes_on(dataset.name, data).paths[0]
    row_of = {row["uid"]: row for row in map(json.loads, path.open(encoding="utf-8"))}
    votes: dict[str, list[str]] = {}
    for file in files:
        for vote in file.votes:
            if vote["item"] not in row_of:
                raise ChaosError(
                    "A vote is on an unknown item.",
                    where=file.path,
                    found=vote["item"],
                    expected=f"an item of {dataset.title} in {path.name}",
                    todo="read the items from where they were judged: --data",
                )
            votes.setdefault(vote["item"], []).append(vote["answer"])
    return [row | tallied(dataset, votes[uid]) for uid, row in row_of.items() if uid in votes]

"""Recognisers of the files that annotation tools and publishers write, by names of columns."""

from collections.abc import Sequence
from typing import Any

from chaos_utils.datasets.chaosnli import FIELDS
from chaos_utils.datasets.faults import listed
from chaos_utils.datasets.people import VOTERS
from chaos_utils.datasets.recognition.candidates import Candidate, Reader, clear, doubt, first
from chaos_utils.datasets.recognition.columns import LABELS, LISTS, Columns
from chaos_utils.datasets.recognition.counts import counts_in_objects
from chaos_utils.datasets.words import words_of

_PRODIGY: Sequence[tuple[set[str], Reader]] = (  # columns, and the reader of a file with them
    (  # choices: annotators who ignore or reject an item give no label
        {"_input_hash", "accept", "answer"},
        {"item": "_input_hash", "annotator": "_annotator_id", "label": "accept",
         "where": {"answer": ["accept"]}},
    ),
    (  # binary questions
        {"_task_hash", "label", "answer"},
        {"item": "_task_hash", "annotator": "_annotator_id", "label": "answer",
         "where": {"answer": ["accept", "reject"]}},
    ),
)  # fmt: skip


def chaosnli(columns: Columns) -> Candidate | None:
    """ChaosNLI's JSON lines, if the file's owner names no columns."""
    if columns.is_named or not {*columns.frame.names} >= FIELDS:
        return None
    return clear({"format": "chaosnli"}, "all fields of ChaosNLI's format")


def prodigy(columns: Columns) -> Candidate | None:
    """Prodigy's choices and binary questions."""
    names = {*columns.frame.names}
    for required, reader in _PRODIGY:
        if required <= names and not columns.is_layout_named:
            annotator = {} if reader["annotator"] in names else {"annotator": ""}
            reader = {"format": "long"} | reader | annotator
            return clear(reader, "the columns of Prodigy's export")
    return None


def argilla(columns: Columns) -> Candidate | None:
    """Argilla's records: lists of responses and of users."""
    responses = [name for name in {*columns.frame.names} if name.endswith(".responses")]
    if columns.is_layout_named or len(responses) != 1:
        return None
    (label,) = responses
    users, status = f"{label}.users", f"{label}.status"
    if users not in columns.frame.names:
        return None
    reader: Reader = {"format": "long", "item": columns.item, "each": [label, users]}
    if status in columns.frame.names:
        reader |= {"each": [label, users, status], "where": {status: ["submitted"]}}
    return clear(reader | {"annotator": users, "label": label}, "the columns of Argilla's export")


def annotations_inside(columns: Columns) -> Candidate | None:
    """A column that is called after labels and holds objects, or lists of objects."""
    if columns.is_layout_named:
        return None
    recognisers = (_counts, _keyed_by_annotator, _list_of_votes, _label_studio)
    return first(
        recognise(columns, name) for name in columns.named(LISTS) for recognise in recognisers
    )


def _counts(columns: Columns, column: str) -> Candidate | None:
    """Objects with the number of votes for each label."""
    return counts_in_objects(columns, {"item": columns.item}, column)


def _keyed_by_annotator(columns: Columns, column: str) -> Candidate | None:
    """Objects with a label by each annotator."""
    cells = columns.values(column)
    if column != "annotations" or not cells or not all(isinstance(cell, dict) for cell in cells):
        return None
    reader = _each(columns, column) | {"annotator": "key", "label": column}
    return clear(reader, f"objects in {column!r}, with a label by each annotator")


def _list_of_votes(columns: Columns, column: str) -> Candidate | None:
    """Lists of objects that have a label each."""
    fields = {name: words_of(name) for vote in _objects(columns, column) for name in vote}
    labels = [f"{column}.{name}" for name, words in fields.items() if words in LABELS]
    people = [f"{column}.{name}" for name, words in fields.items() if words in VOTERS]
    reader = _each(columns, column) | ({"annotator": people[0]} if people else {})
    if len(labels) > 1:
        return doubt(
            f"several fields may hold the votes: {listed(labels)}",
            [reader | {"label": name} for name in labels[:2]],
        )
    if not labels:
        return None
    return clear(reader | {"label": labels[0]}, f"a list of votes in {column!r}")


def _label_studio(columns: Columns, column: str) -> Candidate | None:
    """Label Studio's annotations, of one question or several."""
    annotations = _objects(columns, column)
    results = [
        result
        for annotation in annotations
        if isinstance(annotation.get("result"), list)
        for result in annotation["result"]
        if isinstance(result, dict) and isinstance(result.get("type"), str)
    ]
    if not results:
        return None
    controls = {str(result.get("from_name")): str(result["type"]) for result in results}
    annotator = "annotations.completed_by"
    if any(isinstance(annotation.get("completed_by"), dict) for annotation in annotations):
        annotator += ".id"
    reader = _each(columns, column)
    reader |= {"annotator": annotator, "where": {"annotations.was_cancelled": [False]}}
    if len(controls) > 1:
        return doubt(
            f"people answered several questions: {listed(list(controls))}",
            [
                reader | {"label": f"annotations.result.{k}.value.{kind}"}
                for k, kind in enumerate(list(controls.values())[:2])
            ],
        )
    (kind,) = controls.values()
    reader |= {"label": f"annotations.result.value.{kind}"}
    return clear(reader, "the annotations of Label Studio's export")


def _each(columns: Columns, column: str) -> Reader:
    """Return the reader of a column whose elements are a vote each, without the label."""
    return {"format": "long", "item": columns.item, "each": column}


def _objects(columns: Columns, column: str) -> list[dict[str, Any]]:
    """Return the objects in the lists of a column."""
    lists = [cell for cell in columns.values(column) if isinstance(cell, list)]
    return [element for cell in lists for element in cell if isinstance(element, dict)]

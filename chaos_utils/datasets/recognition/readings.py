"""The layout of a votes file: its reader and its labels, and the dataset from it."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.validation import validate
from chaos_utils.datasets.cells import unwrap_single
from chaos_utils.datasets.dataset import Dataset, Label
from chaos_utils.datasets.faults import Faults, listed, shorten
from chaos_utils.datasets.frame import Column, Frame
from chaos_utils.datasets.labels import in_order, is_rating, no_votes
from chaos_utils.datasets.recognition.candidates import Reader, columns_of
from chaos_utils.datasets.recognition.columns import Columns, number_in, votes_in
from chaos_utils.datasets.rows import is_set


@dataclass(frozen=True, slots=True)
class Layout:
    """The reader and the labels of a votes file, and the columns that it does not use."""

    reader: Mapping[str, Any]  # as in a dataset's YAML file
    labels: tuple[str, ...]  # in their order
    others: tuple[str, ...] = ()  # columns that the reader does not use
    lacks_annotators: bool = False  # whether some rows do not say who voted
    votes: Mapping[str, int] = field(default_factory=dict)  # for each label, as far as known
    several: bool = False  # whether some answers are lists of labels
    finer: str = ""  # a column that divides what is read as one item into several; or empty
    names: Mapping[str, str] = field(default_factory=dict)  # of labels, by code in the file

    @property
    def is_cast(self) -> bool:
        """Whether the file has a label for each vote, not counts."""
        return self.format in ("long", "columns")

    @property
    def unused(self) -> tuple[str, ...]:
        """Unused columns of a wide table, which may be labels too."""
        return self.others if self.format == "wide" and not self.names else ()

    @property
    def rating(self) -> str:
        """The message that labels are numbers on a slider; empty where they are not."""
        if not (self.is_cast and is_rating(self.labels)):
            return ""
        low, high = min(self.labels, key=float), max(self.labels, key=float)
        no_answers = no_votes(self.labels)
        beyond = f"; {listed(no_answers)} may stand for no answer" if no_answers else ""
        return (
            f"the labels are numbers on a scale, {len(self.labels)} different ones from "
            f"{shorten(low)} to {shorten(high)}: name the rule that cuts it into classes, "
            f"`chaos dataset init --cut`{beyond}"
        )

    @property
    def format(self) -> str:
        """The format of the reader, such as ``long``."""
        return str(self.reader["format"])


def rows_of(frame: Frame, reader: Mapping[str, Any], faults: Faults) -> Frame:
    """Return the rows that count for a reader, by its fields `each` and `where`."""
    each = columns_of(reader.get("each", ()))
    if each:
        frame = frame.each(each, faults)
    return frame.where(reader["where"], faults) if reader.get("where") else frame


def layout_by(columns: Columns, reader: Reader, faults: Faults) -> Layout:
    """Return the layout of a reader, with the labels that it finds in a file's columns."""
    reader = {key: value for key, value in reader.items() if value or key == "item"}
    counts, inside = reader.pop("counts", {}), reader.pop("inside", "")
    frame = rows_of(columns.frame, reader, faults)
    answers: list[Column] = []
    used = {"key", *reader.get("where", {})}
    for field_name in ("item", "annotator", "annotators", "round", "batch", "n_votes", "each"):
        used |= {*columns_of(reader.get(field_name, ""))}
    if reader["format"] == "wide":
        counts = {path: name for path, name in counts.items()
                  if len(frame) and path not in reader.get("where", {})}  # fmt: skip
        used |= {*counts, inside}
        votes = Counter({name: int(frame.column(name).map(number_in, float).sum())
                         for name in counts})  # fmt: skip
    elif isinstance(reader.get("label"), list):
        votes = Counter({name: int(frame.column(name).map(is_set, bool).sum())
                         for name in reader["label"]})  # fmt: skip
        used |= {*reader["label"]}
    else:
        labels = columns_of(reader.get("labels") or reader["label"])
        answers = [frame.column(name) for name in labels]
        votes = votes_in(answers, in_lists=isinstance(reader.get("labels"), str))
        used |= {*labels}
    annotator = reader.get("annotator")
    are_lists = isinstance(reader.get("labels"), str)
    return Layout(
        reader,
        tuple(in_order(votes) if answers else votes),
        tuple(name for name in columns.frame.names if name not in used),
        bool(annotator and (frame.column(annotator).identifiers.codes < 0).any()),
        votes,
        several=not are_lists
        and any(
            isinstance(unwrap_single(value), list) for cells in answers for value in cells.values
        ),
        names={path: name for path, name in counts.items() if path != name},
    )


def to_dataset(path: Path, layout: Layout, extra: Mapping[str, Any] | None = None) -> Dataset:
    """Return the dataset of a votes file with this layout; `extra` are further fields of it."""
    extra = dict(extra or {})
    content = {
        "name": name_of(path),
        "title": path.stem,
        "labels": list(layout.labels),
        "files": [{"name": path.name}],
        "reader": {**layout.reader, **extra.pop("reader", {})},
    }
    content |= extra
    content["labels"] = [  # a label of `extra` may be a dictionary, which has no hash
        {"name": layout.names[label], "code": label} if label in [*layout.names] else label
        for label in content["labels"]
    ]
    return validate(
        content, Dataset, path, "The labels of this votes file", todo="correct the file"
    )


def yaml_of(dataset: Dataset) -> str:
    """Return the YAML text of a dataset, without defaults, in the order of the package's files."""
    stated = dataset.model_dump(mode="json", by_alias=True, exclude_unset=True)
    labels = [_label_of(label) for label in dataset.classes]
    words = [
        word for label in dataset.classes for word in (label.name, label.code, *label.spellings)
    ]
    reader = {key: value for key, value in stated["reader"].items() if value or key == "item"}
    content = {
        "name": dataset.name,
        "title": dataset.title,
        "labels": labels,
        "ordered": dataset.ordered or None,
        "texts": list(dataset.text_fields),
        "files": stated["files"],
        "reader": reader,
    }
    are_plain = all(word.isprintable() and unicodedata.is_normalized("NFC", word) for word in words)
    text: str = yaml.safe_dump(
        {key: value for key, value in content.items() if value},
        allow_unicode=are_plain,
        sort_keys=False,
        default_flow_style=None,
        width=100,
    )
    return text


def _label_of(label: Label) -> str | dict[str, Any]:
    """Return a label as in a YAML file: its name alone, or with a different code and spellings."""
    code = label.code if label.code != label.name else ""
    fields = {"name": label.name, "code": code, "spellings": list(label.spellings)}
    stated = {key: value for key, value in fields.items() if value}
    return stated if len(stated) > 1 else label.name


def name_of(path: Path) -> str:
    """Return a name for the dataset of a file, from the file's stem."""
    name = re.sub(r"[^a-z0-9_-]+", "-", path.stem.lower()).strip("-_")
    if not name:
        raise ChaosError(
            "No dataset can be named after this file.",
            where=path,
            expected="letters or digits from a to z and 0 to 9",
            todo="rename the file",
        )
    return name

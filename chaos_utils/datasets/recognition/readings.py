"""The layout of a votes file: its reader and its labels, and the dataset that it makes."""

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
    """What the columns of a votes file are."""

    reader: Mapping[str, Any]  # as in a dataset's YAML file
    labels: tuple[str, ...]  # in their order
    others: tuple[str, ...] = ()  # columns that are none of these
    lacks_annotators: bool = False  # whether some rows do not say who voted
    votes: Mapping[str, int] = field(default_factory=dict)  # for each label, as far as known
    several: bool = False  # whether some answers are lists of labels
    finer: str = ""  # a column that tells apart what is read as one item
    names: Mapping[str, str] = field(default_factory=dict)  # of labels that the file spells so

    @property
    def is_cast(self) -> bool:
        """Whether the votes stand one by one, as labels."""
        return self.format in ("long", "columns")

    @property
    def unused(self) -> tuple[str, ...]:
        """Columns beside those of labels that may be labels too."""
        return self.others if self.format == "wide" and not self.names else ()

    @property
    def rating(self) -> str:
        """What is wrong where the labels are numbers on a slider; empty where they are not."""
        if not (self.is_cast and is_rating(self.labels)):
            return ""
        low, high = min(self.labels, key=float), max(self.labels, key=float)
        none = no_votes(self.labels)
        beyond = f"; {listed(none)} may stand for no answer" if none else ""
        return (
            f"the labels are numbers on a scale, {len(self.labels)} different ones from "
            f"{shorten(low)} to {shorten(high)}: name the rule that cuts it into classes, "
            f"`chaos dataset init --cut`{beyond}"
        )

    @property
    def format(self) -> str:
        """Which of a dataset's readers reads it."""
        return str(self.reader["format"])


def rows_of(frame: Frame, reader: Mapping[str, Any], faults: Faults) -> Frame:
    """Return the rows that a reader reads."""
    each = columns_of(reader.get("each", ()))
    if each:
        frame = frame.each(each, faults)
    return frame.where(reader["where"], faults) if reader.get("where") else frame


def layout_by(columns: Columns, reader: Reader, faults: Faults) -> Layout:
    """Return a reader with the labels that it finds."""
    reader = {key: value for key, value in reader.items() if value or key == "item"}
    counts, inside = reader.pop("counts", {}), reader.pop("inside", "")
    frame = rows_of(columns.frame, reader, faults)
    answers: list[Column] = []
    used = {"key", *reader.get("where", {})}
    for field_name in ("item", "annotator", "annotators", "n_votes", "each"):
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
        and any(isinstance(unwrap_single(one), list) for cells in answers for one in cells.values),
        names={path: name for path, name in counts.items() if path != name},
    )


def to_dataset(path: Path, layout: Layout, extra: Mapping[str, Any] | None = None) -> Dataset:
    """Return the dataset that a votes file of this layout is."""
    extra = dict(extra or {})
    content = {
        "name": name_of(path),
        "title": path.stem,
        "labels": list(layout.labels),
        "files": [{"name": path.name}],
        "reader": {**layout.reader, **extra.pop("reader", {})},
    }
    content |= extra
    content["labels"] = [
        {"name": layout.names[one], "code": one} if one in [*layout.names] else one
        for one in content["labels"]
    ]
    return validate(
        content, Dataset, path, "The labels of this votes file", todo="correct the file"
    )


def yaml_of(dataset: Dataset) -> str:
    """Return what was said of a dataset, in the order of the package's own files."""
    said = dataset.model_dump(mode="json", by_alias=True, exclude_unset=True)
    labels = [_label_of(one) for one in dataset.classes]
    words = [word for one in dataset.classes for word in (one.name, one.code, *one.spellings)]
    kept = {
        "name": dataset.name,
        "title": dataset.title,
        "labels": labels,
        "ordered": dataset.ordered or None,
        "texts": list(dataset.text_fields),
        "files": said["files"],
        "reader": {key: value for key, value in said["reader"].items() if value or key == "item"},
    }
    text: str = yaml.safe_dump(
        {key: value for key, value in kept.items() if value},
        allow_unicode=all(
            one.isprintable() and unicodedata.is_normalized("NFC", one) for one in words
        ),
        sort_keys=False,
        default_flow_style=None,
        width=100,
    )
    return text


def _label_of(label: Label) -> str | dict[str, Any]:
    """Return a label as a YAML file says it: its name, and what is not as its name."""
    code = label.code if label.code != label.name else ""
    fields = {"name": label.name, "code": code, "spellings": list(label.spellings)}
    stated = {key: value for key, value in fields.items() if value}
    return stated if len(stated) > 1 else label.name


def name_of(path: Path) -> str:
    """Return the file's stem as a dataset may be called."""
    name = re.sub(r"[^a-z0-9_-]+", "-", path.stem.lower()).strip("-_")
    if not name:
        raise ChaosError(
            "This file's name makes no name for a dataset.",
            where=path,
            expected="letters or digits from a to z and 0 to 9",
            todo="rename the file",
        )
    return name

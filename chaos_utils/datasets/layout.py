"""Votes files without a YAML file: their columns are recognised by names and values.

A file with two possible readings is refused, and both are shown as YAML files.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import uncollected
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.faults import Faults, listed
from chaos_utils.datasets.frame import FileContent, Frame, read_frame
from chaos_utils.datasets.recognition.candidates import Item, Reader, columns_of
from chaos_utils.datasets.recognition.columns import Columns
from chaos_utils.datasets.recognition.item_keys import part_of_key, several_items_in_one
from chaos_utils.datasets.recognition.questions import MOST_LABELS, Questions
from chaos_utils.datasets.recognition.readings import Layout, to_dataset
from chaos_utils.datasets.recognition.search import candidates

_FORMAT = (
    "CSV, TSV, JSON lines or parquet: a row per vote with the columns item, annotator (optional) "
    "and label; or a row per item with the column item and one for each label's votes, or a list"
)
_TODO = (
    "rename the columns, or describe them in a dataset's YAML file, which `chaos dataset init` "
    "writes, and pass that as data"
)


@uncollected()
def layout_of(
    path: Path, *, item: str = "", annotator: str = "", label: str = ""
) -> tuple[Layout, FileContent, Frame]:
    """Return the layout of a votes file, its content and its rows.

    `item`, `annotator` and `label` are columns that the file's owner names.
    """
    content = FileContent.of(path)
    faults = Faults(path, "votes", expected=_FORMAT, todo="correct the file")
    if content.is_array:
        raise faults.fatal(
            "An npy file names neither items nor labels.",
            todo="describe it in a dataset's YAML file",
        )
    frame, keys, faults = _frame_of(content, faults)
    if not len(frame):
        faults.check()
        raise faults.fatal("This votes file holds no votes.")
    items: Item = item
    if item and item not in frame:  # several columns, separated by commas
        items = [name.strip() for name in item.split(",")] if "," in item else item
    owner_columns = filter(None, (*columns_of(items), annotator, label))
    frame.require(owner_columns, faults, "name a column that is there")
    columns = Columns(frame, item=items, annotator=annotator, label=label)
    questions = Questions(path, columns, faults, keys)
    reader = _reader(questions)
    if not annotator:
        questions.check_people(reader)
    finer = part_of_key(columns, reader)
    if finer and not item:
        questions.refuse(several_items_in_one(columns, reader, finer))
    reader = columns.with_round(reader)
    layout = replace(questions.layout(reader), finer=finer)
    _check_n_labels(layout, frame, faults)
    if not item:
        questions.check_texts(layout)
    questions.check_labels(layout)
    # Last, since what tells items' texts apart is a part of the key, and no batch.
    with_batch = columns.with_batch(reader)
    if with_batch != reader:
        layout = replace(questions.layout(with_batch), finer=finer)
    return layout, content, frame


def _frame_of(content: FileContent, faults: Faults) -> tuple[Frame, Sequence[str], Faults]:
    """Return the rows of a file, the columns of an object's keys, and the file's faults.

    One JSON object with annotated votes inside is read with its keys as items.
    """
    try:
        return read_frame(content, faults), (), faults
    except ChaosError as fault:
        with suppress(ChaosError):
            new_faults = Faults(content.path, "votes", expected=_FORMAT, todo="correct the file")
            frame = read_frame(content, new_faults, keys=["item"])
            reader = _reader(Questions(content.path, Columns(frame), new_faults))
            has_annotators = {"annotator", "annotators"} & set(reader)
            has_several_votes = reader.keys() & {"each", "labels"}
            if has_annotators and has_several_votes:
                return frame, ["item"], new_faults
        raise fault


def _reader(questions: Questions) -> Reader:
    """Return the reader of the surest candidate; a ChaosError where this is in doubt."""
    best, *weaker = candidates(questions.columns)
    if not best.is_clear:
        questions.refuse(best, weaker)
    return best.readers[0]


def _check_n_labels(layout: Layout, frame: Frame, faults: Faults) -> None:
    """Raise a ChaosError if there are no labels, or one, or too many."""
    if len(layout.labels) > MOST_LABELS and layout.format != "wide" and not layout.rating:
        raise faults.fatal(
            "There are too many labels in this votes file.",
            f"{len(layout.labels):,} labels, such as {listed(layout.labels[:3])}",
            f"at most {MOST_LABELS:,}: classes, not free answers or identifiers",
            "name the column of the votes: --label",
        )
    if not layout.labels:
        faults.check()
        found = f"{len(frame)} rows"
        for name, values in layout.reader.get("where", {}).items():
            found += f", none of them where {name!r} is {' or '.join(map(str, values))}"
        raise faults.fatal("This votes file holds no votes.", found)
    if len(layout.labels) == 1:
        raise faults.fatal(
            "There is only one label in this votes file.",
            repr(layout.labels[0]),
            "two labels at least",
        )


def dataset_of(path: Path) -> tuple[Dataset, tuple[FileContent, Frame]]:
    """Return the dataset that a votes file is, by its columns, with its content and rows."""
    layout, content, frame = layout_of(path)
    labels, faults = layout.labels, Faults(path, "votes", expected=_FORMAT, todo=_TODO)
    if layout.rating:
        raise faults.fatal(
            "The labels are numbers on a scale, not classes.",
            layout.rating,
            "labels, or reader.cut in a dataset's YAML file",
        )
    if layout.unused:
        raise faults.fatal(
            "This is not a votes file in a known format: it has columns that hold no votes.",
            listed(layout.unused),
            f"the columns {layout.reader['item']!r} and {listed(labels)} alone, or a YAML file "
            "that says what the others are",
        )
    if len(labels) > MOST_LABELS:
        raise faults.fatal(
            "This is not a votes file in a known format.",
            f"columns {listed(frame.names)}, with {len(labels)} different labels",
        )
    return to_dataset(path, layout), (content, frame)

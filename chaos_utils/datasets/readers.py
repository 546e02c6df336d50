"""Files of votes as `Votes`, by the format that the dataset's YAML file names."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from chaos_utils.base import inputs
from chaos_utils.base.errors import counted
from chaos_utils.datasets.chaosnli import read_chaosnli
from chaos_utils.datasets.dataset import (
    ChaosNLIReader,
    ColumnsReader,
    Dataset,
    LongReader,
    TableReader,
    WideReader,
)
from chaos_utils.datasets.faults import Faults, shorten, wrong
from chaos_utils.datasets.labels import label_of, notes_on, vote_of
from chaos_utils.datasets.records import (
    MOST_VOTES,
    Content,
    Record,
    as_count,
    as_identifier,
    as_share,
    parse,
    read_array,
    read_records,
)
from chaos_utils.datasets.tables import votes_at_once
from chaos_utils.datasets.votes import Annotations, Votes, frozen

_SHARE_TOLERANCE = 0.25  # of a vote: shares are rounded to a few decimals
_NO_MAJORITY = (None, "", "-")


def read_file(
    paths: Sequence[Path],
    dataset: Dataset,
    names: Sequence[str] | None = None,
    *,
    any_number: bool = False,
) -> Votes:
    """Read and check the files of a dataset.

    Parameters
    ----------
    paths : sequence of Path
        The dataset's files, in its order.
    dataset : Dataset
        Its reader decides the format.
    names : sequence of str, optional
        How records and figures name the files; their base names by default.
    any_number : bool
        Whether an item may have another number of votes than the published ones.

    Returns
    -------
    Votes
        Items in the order of the file.

    Raises
    ------
    ChaosError
        If a file is empty or has faults: all are counted, the first few are shown with line,
        field, what was found and what was expected.
    """
    names = names or [path.name for path in paths]
    if isinstance(dataset.reader, ChaosNLIReader):
        return read_chaosnli(paths[0], dataset, names[0], any_number=any_number)
    with_votes = 1 if _reader(dataset).texts_by else len(dataset.files)
    contents = [Content.of(path) for path in paths[:with_votes]]
    n_votes = 0 if any_number else dataset.n_votes
    if len(contents) == 1:
        at_once = votes_at_once(contents[0], dataset, names[0], n_votes)
        if at_once is not None:
            return at_once
    faults = _faults_of(paths[0], dataset, own=any_number)
    items = read_items(contents, dataset, faults)
    for item in items.values():
        if not item.faulty:
            faults.add(item.place, item.faults_as_a_whole(dataset, n_votes))
    faults.check()
    if not items:
        raise faults.fatal("The data file holds no votes.")
    read = [
        inputs.Input(name, content.sha256) for name, content in zip(names, contents, strict=False)
    ]
    if _reader(dataset).texts_by:
        read.append(_join_texts(paths[1], names[1], dataset, items))
    return _votes(items, dataset, read)


def _faults_of(path: Path, dataset: Dataset, *, own: bool = False) -> Faults:
    """Return where faults are noted; `own` is a reader's file that no YAML file describes."""
    kind = {
        "long": "one row per vote",
        "wide": "one row per item, with the votes for each label",
        "columns": "one row per item, with the label of each vote",
    }[dataset.reader.format]
    todo = "correct the file" + (
        "" if own else ", or what its dataset's YAML says about its columns"
    )
    if any(file.url for file in dataset.files):
        todo = f"correct the file, or fetch the published one: `chaos data fetch {dataset.name}`"
    return Faults(path, dataset.title, expected=kind, todo=todo)


@dataclass(slots=True)
class Item:
    """What a file says about one item.

    Attributes
    ----------
    place : str
        Where it stands first.
    labels : list of int
        Of each vote, where the votes stand one by one.
    annotators : list of int
        Running numbers, parallel to `labels`; empty where they are not known.
    counts : list of int
        Votes by label, where these stand in the file.
    majority, old : int or None
        As stated.
    ignored : list of str
        Answers that are no votes for a label, as the dataset's YAML says.
    text : dict
    trimmed : int
        Labels that stand between blanks.
    second_votes : int
        Votes beside another one by the same annotator, where the dataset's YAML allows them.
    faulty : bool
        Whether its votes have faults, so that their sum means nothing.
    """

    place: str
    labels: list[int] = field(default_factory=list)
    annotators: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    majority: int | None = None
    old: int | None = None
    ignored: list[str] = field(default_factory=list)
    text: dict[str, str] = field(default_factory=dict)
    trimmed: int = 0
    second_votes: int = 0
    faulty: bool = False

    def tally(self, dataset: Dataset) -> list[int]:
        """Return the votes for each label."""
        if self.counts:
            return self.counts
        return np.bincount(self.labels, minlength=dataset.n_classes).tolist()

    def faults_as_a_whole(self, dataset: Dataset, n_votes: int) -> Iterator[str]:
        """Yield what only shows when all its votes are there."""
        counts = self.tally(dataset)
        total = sum(counts)
        if total == 0:
            yield "found no votes; expected at least 1 per item"
        elif n_votes and total != n_votes:
            yield f"found {counted(total, 'vote')}; expected {n_votes} per item"
        elif self.majority is not None and counts[self.majority] != max(counts):
            yield (
                f"found the majority label {dataset.labels[self.majority]!r} with "
                f"{counts[self.majority]} votes; expected a label with the most votes, "
                f"{max(counts)}"
            )


Items = dict[str, Item]


def read_items(contents: Sequence[Content], dataset: Dataset, faults: Faults) -> Items:
    """Read what the files of votes say, by item.

    Parameters
    ----------
    contents : sequence of Content
        Read one after the other.
    dataset : Dataset
    faults : Faults
        Takes what is wrong with single rows.
    """
    reader = _reader(dataset)
    if isinstance(reader, WideReader) and len(contents) == 1 and contents[0].is_array:
        return _array(contents[0], dataset, reader, faults)
    records = []
    for content in contents:
        part = read_records(content, faults, reader.records, reader.keys)
        if part:
            _check_columns(part, dataset, faults)
        if len(contents) > 1:
            part = [Record(f"{content.path.name}, {one.place}", one.fields) for one in part]
        records += part
    if isinstance(reader, LongReader):
        return _long(records, dataset, reader, faults)
    items: Items = {}
    numbers: dict[str, int] = {}
    for number, record in enumerate(records):
        uid = as_identifier(record.get(reader.item)) if reader.item else str(number)
        if uid is None:
            faults.add(record.place, [wrong(reader.item, record.get(reader.item), "an identifier")])
            continue
        if uid in items:
            faults.add(
                record.place,
                [f"found item {shorten(uid)}, as on {items[uid].place}; expected each item once"],
            )
            continue
        item = items[uid] = Item(record.place)
        _describe(item, record, dataset, faults)
        if isinstance(reader, WideReader):
            problems = _count(item, record, dataset, reader)
        else:
            problems = _list(item, record, dataset, reader, numbers)
        item.faulty = faults.add(record.place, problems)
    return items


def _reader(dataset: Dataset) -> TableReader:
    assert not isinstance(dataset.reader, ChaosNLIReader)  # which has a module of its own
    return dataset.reader


def _check_columns(records: Sequence[Record], dataset: Dataset, faults: Faults) -> None:
    """Say at once, not row by row, when a column is not there at all."""
    reader = _reader(dataset)
    wanted = [reader.item, reader.majority, reader.old_label]
    if not reader.texts_by:
        wanted += [reader.texts.get(text, text) for text in dataset.text_fields]
    if isinstance(reader, LongReader):
        wanted += [reader.label, reader.annotator]
    elif isinstance(reader, ColumnsReader):
        wanted += [reader.labels] if isinstance(reader.labels, str) else reader.labels
        wanted += [reader.annotators]
    elif isinstance(reader.n_votes, str):
        wanted += [reader.n_votes]
    known = list(dict.fromkeys(name for record in records for name in record.fields))
    missing = [
        name
        for name in wanted
        if name and name not in known and name.partition(".")[0] not in known
    ]
    if missing:
        raise faults.fatal(
            f"The data file has no column {missing[0]!r}.",
            "columns " + ", ".join(shorten(name) for name in known[:12]),
        )


def _known(dataset: Dataset) -> str:
    cut = getattr(dataset.reader, "cut", None)
    if cut:
        return f"a number from {cut.edges[0]:g} to {cut.edges[-1]:g}"
    codes = list(dataset.codes)
    return f"one of {', '.join(codes[:12])}{', …' if len(codes) > 12 else ''}"


def _describe(item: Item, record: Record, dataset: Dataset, faults: Faults) -> None:
    """Take an item's stated labels and its text from a record."""
    reader = _reader(dataset)
    if reader.majority and record.get(reader.majority) not in _NO_MAJORITY:
        item.majority = _stated(record, reader.majority, dataset, faults)
    if reader.old_label:
        item.old = _stated(record, reader.old_label, dataset, faults)
    if not reader.texts_by:
        item.text = _text(record, dataset, faults)


def _stated(record: Record, column: str, dataset: Dataset, faults: Faults) -> int | None:
    found = label_of(record.get(column), dataset)
    if found is None:
        faults.add(record.place, [wrong(column, record.get(column), _known(dataset))])
    return found


def _text(record: Record, dataset: Dataset, faults: Faults) -> dict[str, str]:
    reader = _reader(dataset)
    text = {}
    for name in dataset.text_fields:
        column = reader.texts.get(name, name)
        value = record.get(column)
        if isinstance(value, str):
            text[name] = value
        else:
            faults.add(record.place, [wrong(column, value, "text")])
    return text


def _long(records: Iterable[Record], dataset: Dataset, reader: LongReader, faults: Faults) -> Items:
    items: Items = {}
    numbers: dict[str, int] = {}
    voted: dict[tuple[str, int], str] = {}
    for record in records:
        uid = as_identifier(record.get(reader.item))
        value = record.get(reader.label)
        label = vote_of(value, dataset, reader.cut)
        problems = []
        if uid is None:
            problems.append(wrong(reader.item, record.get(reader.item), "an identifier"))
        if label is None and value not in reader.ignore:
            problems.append(wrong(reader.label, value, _known(dataset)))
        annotator = None
        if reader.annotator:
            annotator = _number(record.get(reader.annotator), numbers)
            if annotator is None:  # which is never shown, not even here
                problems.append(f"field {reader.annotator!r}: expected an identifier")
        if uid is not None and annotator is not None:
            first = voted.setdefault((uid, annotator), record.place)
            if first != record.place:
                problems.append(
                    f"found a second vote on item {shorten(uid)} by the annotator of {first}; "
                    "expected one per item and annotator"
                )
        if uid is None:
            faults.add(record.place, problems)
            continue
        if uid not in items:
            items[uid] = Item(record.place)
            _describe(items[uid], record, dataset, faults)
        else:
            faults.add(record.place, _contradictions(items[uid], record, dataset))
        items[uid].faulty |= faults.add(record.place, problems)
        if label is not None:
            items[uid].trimmed += isinstance(value, str) and value != value.strip()
            items[uid].labels.append(label)
            items[uid].annotators += [] if annotator is None else [annotator]
        elif value in reader.ignore:
            items[uid].ignored.append(str(value))
    return items


def _contradictions(item: Item, record: Record, dataset: Dataset) -> Iterator[str]:
    """Yield where a later row says something else about its item than the first one."""
    reader = _reader(dataset)
    for column, first in ((reader.majority, item.majority), (reader.old_label, item.old)):
        if column and label_of(record.get(column), dataset) != first:
            yield wrong(column, record.get(column), f"the label that {item.place} has")
    for name, text in item.text.items():
        column = reader.texts.get(name, name)
        if record.get(column) != text:
            yield wrong(column, record.get(column), f"the text that {item.place} has")


def _number(value: object, numbers: dict[str, int]) -> int | None:
    """Return an annotator's running number."""
    found = as_identifier(value)
    return None if found is None else numbers.setdefault(found, len(numbers))


def _list(
    item: Item, record: Record, dataset: Dataset, reader: ColumnsReader, numbers: dict[str, int]
) -> Iterator[str]:
    """Take an item's votes from the columns, or from the list, that hold them."""
    if isinstance(reader.labels, str):
        values = _values(record.get(reader.labels))
        if values is None:
            yield wrong(reader.labels, record.get(reader.labels), "a list of labels")
            return
        given = [(reader.labels, value) for value in values]
    else:
        columns = ((column, record.get(column)) for column in reader.labels)
        given = [(column, value) for column, value in columns if value not in (None, "")]
    people = _values(record.get(reader.annotators)) if reader.annotators else []
    if reader.annotators and (people is None or len(people) != len(given)):
        yield f"field {reader.annotators!r}: expected a list of {len(given)}, one per label"
        return
    for place, (column, value) in enumerate(given):
        label = vote_of(value, dataset, reader.cut)
        if label is None and value in reader.ignore:
            item.ignored.append(str(value))
            continue
        if label is None:
            yield wrong(column, value, _known(dataset))
            continue
        item.labels.append(label)
        if people:
            annotator = _number(people[place], numbers)
            if annotator is None:
                yield f"field {reader.annotators!r}: expected identifiers"
            elif annotator in item.annotators and not reader.second_votes:
                yield "found two votes by one annotator; expected one per item and annotator"
            else:
                item.second_votes += annotator in item.annotators
                item.annotators.append(annotator)


def _values(value: object) -> list[Any] | None:
    """Return a list that a cell holds: in JSON, or separated by commas."""
    if isinstance(value, str):
        if not value.strip().startswith("["):
            return [part.strip() for part in value.split(",") if part.strip()]
        try:
            value = parse(value)
        except ValueError:
            return None
    return value if isinstance(value, list) else None


def _count(item: Item, record: Record, dataset: Dataset, reader: WideReader) -> Iterator[str]:
    """Take an item's votes from the columns of the labels."""
    values: list[Any] = [None] * dataset.n_classes
    columns = [""] * dataset.n_classes
    others = {reader.item, reader.n_votes, reader.majority, reader.old_label}
    for column, value in record.fields.items():
        label = None if column in others else label_of(column, dataset)
        if label is not None and columns[label]:
            yield f"found the columns {columns[label]!r} and {column!r} for one label; expected one"
            return
        if label is not None:
            values[label], columns[label] = value, column
    for code, column in zip(dataset.codes, columns, strict=True):
        if not column:
            yield f"found no column for the label {code!r}; expected one"
            return
    if reader.values == "counts":
        for column, value in zip(columns, values, strict=True):
            count = as_count(value)
            if count is None:
                yield wrong(column, value, f"a whole number from 0 to {MOST_VOTES:,}")
            else:
                item.counts.append(count)
        if not reader.n_votes:
            return
    given = record.get(reader.n_votes) if isinstance(reader.n_votes, str) else reader.n_votes
    n_votes = as_count(given)
    if reader.values == "counts":
        total = sum(item.counts)
        if len(item.counts) == len(values) and total != n_votes:
            yield wrong(str(reader.n_votes), given, f"{total}, the sum of the columns")
        return
    if not n_votes:
        yield wrong(str(reader.n_votes), given, "the item's number of votes")
        return
    shares = [as_share(value) for value in values]
    for column, value, share in zip(columns, values, shares, strict=True):
        if share is None:
            yield wrong(column, value, "a share from 0 to 1")
        else:
            item.counts.append(round(share * n_votes))
    exact = [share * n_votes for share in shares if share is not None]
    if len(exact) == len(shares) and (
        sum(item.counts) != n_votes
        or any(abs(a - b) > _SHARE_TOLERANCE for a, b in zip(exact, item.counts, strict=True))
    ):
        yield f"found shares of {n_votes} votes that are {_listed(exact)}; expected whole votes"


def _listed(values: Sequence[float]) -> str:
    shown = ", ".join(f"{value:g}" for value in values[:6])
    return shown + (", …" if len(values) > 6 else "")


def _array(content: Content, dataset: Dataset, reader: WideReader, faults: Faults) -> Items:
    """Read an array of counts or shares; its rows are named by their numbers from 0."""
    array = read_array(content, faults)
    if array.shape[1] != dataset.n_classes:
        raise faults.fatal(
            "The data file has another number of columns than the dataset has labels.",
            f"shape {array.shape}",
            f"(items, {dataset.n_classes})",
        )
    items: Items = {}
    for i, row in enumerate(array.tolist()):
        record = Record(f"row {i}", dict(zip(dataset.codes, row, strict=True)))
        item = items[str(i)] = Item(record.place)
        item.faulty = faults.add(record.place, _count(item, record, dataset, reader))
    return items


def _join_texts(path: Path, name: str, dataset: Dataset, items: Items) -> inputs.Input:
    """Take the items' texts from a second file, and return its entry."""
    reader = _reader(dataset)
    content = Content.of(path)
    faults = _faults_of(path, dataset)
    seen: dict[str, str] = {}
    for record in read_records(content, faults):
        uid = as_identifier(record.get(reader.texts_by))
        if uid is None:
            found = record.get(reader.texts_by)
            faults.add(record.place, [wrong(reader.texts_by, found, "an identifier")])
        elif uid in seen:
            faults.add(
                record.place,
                [f"found item {shorten(uid)}, as on {seen[uid]}; expected each item once"],
            )
        else:
            seen[uid] = record.place
            if uid in items:
                items[uid].text = _text(record, dataset, faults)
    missing = [uid for uid in items if uid not in seen]
    faults.add("the file as a whole", [f"found no text of item {shorten(uid)}" for uid in missing])
    faults.check()
    return inputs.Input(name, content.sha256)


def _votes(items: Items, dataset: Dataset, read: Sequence[inputs.Input]) -> Votes:
    reader = _reader(dataset)
    everyone = list(items.values())
    counts = [item.tally(dataset) for item in everyone]
    majority = [
        int(np.argmax(count)) if item.majority is None else item.majority
        for item, count in zip(everyone, counts, strict=True)
    ]
    old = [item.old for item in everyone if item.old is not None]
    annotations = None
    if any(item.annotators for item in everyone):
        annotations = Annotations(
            item=frozen([i for i, item in enumerate(everyone) for _ in item.labels]),
            annotator=frozen([number for item in everyone for number in item.annotators]),
            label=frozen([label for item in everyone for label in item.labels]),
        )
    return Votes(
        dataset=dataset,
        uids=tuple(map(str, range(len(items)))) if reader.numbered else tuple(items),
        counts=frozen(counts),
        majority=frozen(majority),
        source=read[0],
        given_old_label=frozen(old) if reader.old_label else None,
        given_old_votes=(
            frozen(np.eye(dataset.n_classes, dtype=np.int64)[old]) if reader.old_label else None
        ),
        texts=(
            tuple(MappingProxyType(item.text) for item in everyone) if dataset.text_fields else ()
        ),
        annotations=annotations,
        notes=notes_on(
            dataset,
            int(np.sum(counts)),
            Counter(answer for item in everyone for answer in item.ignored),
            sum(item.trimmed for item in everyone),
            sum(item.second_votes for item in everyone),
        ),
        other_sources=tuple(read[1:]),
    )

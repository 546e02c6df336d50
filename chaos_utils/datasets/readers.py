"""Files of votes as `Votes`, by the format that the dataset's YAML file names."""

from collections.abc import Sequence
from pathlib import Path

from chaos_utils.base.errors import counted
from chaos_utils.base.files import uncollected
from chaos_utils.base.inputs import Input
from chaos_utils.datasets.chaosnli import ChaosNLIRows, wide_reader_of
from chaos_utils.datasets.dataset import ChaosNLIReader, Dataset, TableReader, WideReader
from chaos_utils.datasets.faults import Faults, listed, shorten
from chaos_utils.datasets.frame import FileContent, Frame, column_of, joined, read_array, read_frame
from chaos_utils.datasets.rows import Rows, Texts
from chaos_utils.datasets.votes import Votes

_SHOWN = 5  # items


def read_file(
    paths: Sequence[Path],
    dataset: Dataset,
    names: Sequence[str] | None = None,
    *,
    any_number: bool = False,
    given: tuple[FileContent, Frame] | None = None,
) -> Votes:
    """Read and check the files of a dataset."""
    votes, faults = read_noting(paths, dataset, names, any_number=any_number, given=given)
    faults.check()
    return votes


@uncollected()
def read_noting(
    paths: Sequence[Path],
    dataset: Dataset,
    names: Sequence[str] | None = None,
    *,
    any_number: bool = False,
    given: tuple[FileContent, Frame] | None = None,
) -> tuple[Votes, Faults]:
    """Return the votes that files hold, as `read_file`, with what is wrong instead of raising it.

    What is `given` is read again only where something is wrong with it, to note that.
    """
    names = names or [path.name for path in paths]
    kind, reader = Rows, dataset.reader
    if isinstance(reader, ChaosNLIReader):
        kind, reader = ChaosNLIRows, wide_reader_of(dataset)
    with_votes = paths[: 1 if reader.texts_by else len(dataset.files)]
    files, where = [path.name for path in with_votes], paths[0]
    if getattr(reader, "annotator", "") == "file":  # whose names are the annotators'
        files = [f"file {number}" for number in range(1, len(files) + 1)]
        where = where.parent
    contents = [given[0]] if given else [FileContent.of(path) for path in with_votes]
    if contents[0].is_array:  # which has no column of items
        reader = reader.model_copy(update={"item": ""})
    n_votes = 0 if any_number else dataset.n_votes
    faults = _faults_of(where, dataset, own=any_number)
    if given and given[1].is_sound:
        frames = [given[1]]
    else:
        frames = [
            _of_array(content, dataset, faults)
            if content.is_array and isinstance(reader, WideReader)
            else read_frame(content, faults, reader.records, reader.keys)
            for content in contents
        ]
    frame = _rows(frames, files, reader, faults)
    if kind is ChaosNLIRows and not dataset.n_old_labels and "old_label" not in frame:
        reader = reader.model_copy(update={"old_label": ""})
    rows = kind(frame, dataset, reader, faults, n_votes)
    read = [Input(name, content.sha256) for name, content in zip(names, contents, strict=False)]
    texts = None
    if reader.texts_by:
        beside, texts = _texts_beside(rows, paths[1], names[1])
        read.append(beside)
    return rows.votes(read, texts), faults


def _faults_of(path: Path, dataset: Dataset, *, own: bool = False) -> Faults:
    """Return where faults are noted; `own` is a reader's file that no YAML file describes."""
    kind = {
        "long": "one row per vote",
        "wide": "one row per item, with the votes for each label",
        "columns": "one row per item, with the label of each vote",
        "chaosnli": "ChaosNLI's format: one JSON object per line",
    }[dataset.reader.format]
    todo = "correct the file" + (
        "" if own else ", or what its dataset's YAML says about its columns"
    )
    if any(file.url for file in dataset.files):
        todo = f"correct the file, or fetch the published one: `chaos data fetch {dataset.name}`"
    return Faults(path, dataset.title, expected=kind, todo=todo)


def _rows(
    frames: Sequence[Frame], files: Sequence[str], reader: TableReader, faults: Faults
) -> Frame:
    """Return the rows of files, as the reader says: a row per annotation, some left out."""
    if reader.each:
        frames = [frame.each(reader.each, faults) for frame in frames]
    frame = joined(frames, files)
    if len(frame) and reader.where:
        every, frame = frame, frame.where(reader.where, faults)
        if reader.item and all(column in every for column in reader.item_columns):
            left = set(frame.key(reader.item).values)
            gone = [item for item in every.key(reader.item).values if item not in left]
            if gone:
                n_items = counted(len(gone), "item")
                frame.notes += (f"{n_items} with no vote left ({listed(gone, _SHOWN)})",)
    if not len(frame):
        faults.check()
        found = f"{', '.join(frame.notes)} left out" if frame.notes else None
        raise faults.fatal("The data file holds no votes.", found)
    return frame


def _of_array(content: FileContent, dataset: Dataset, faults: Faults) -> Frame:
    """Return an array of counts or shares as a frame."""
    numbers = read_array(content, faults)
    if numbers.shape[1] != dataset.n_classes:
        raise faults.fatal(
            "The data file has another number of columns than the dataset has labels.",
            f"shape {numbers.shape}",
            f"(items, {dataset.n_classes})",
        )
    columns = dict(zip(dataset.codes, numbers.T.tolist(), strict=True))
    return Frame(
        dataset.codes,
        len(numbers),
        lambda name: column_of(columns[name]),
        lambda row: f"row {row}",
    )


def _texts_beside(rows: Rows, path: Path, name: str) -> tuple[Input, Texts]:
    """Return a second file, and the texts that it has of the items."""
    reader, dataset, content = rows.reader, rows.dataset, FileContent.of(path)
    faults = _faults_of(path, dataset)
    plain = WideReader(format="wide", item=reader.texts_by, texts=reader.texts)
    there = Rows(read_frame(content, faults), dataset, plain, faults)
    texts = there.texts()
    place = {uid: k for k, uid in enumerate(there.item.values)}
    missing = [uid for uid in rows.item.values if uid not in place]
    faults.add("the file as a whole", [f"found no text of item {shorten(uid)}" for uid in missing])
    faults.check()
    order = [place[uid] for uid in rows.item.values]
    return Input(name, content.sha256), [[text[k] for k in order] for text in texts]

"""Files of votes as `Votes`, by the format that the dataset's YAML file names."""

from collections.abc import Sequence
from pathlib import Path

from chaos_utils.base.errors import counted
from chaos_utils.base.files import uncollected
from chaos_utils.base.inputs import Input
from chaos_utils.datasets.about_annotators import read_people
from chaos_utils.datasets.chaosnli import ChaosNLIRows, wide_reader_of
from chaos_utils.datasets.dataset import (
    ChaosNLIReader,
    Dataset,
    LongReader,
    TableReader,
    WideReader,
)
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
    parsed: tuple[FileContent, Frame] | None = None,
) -> Votes:
    """Read and check the files of a dataset; the parameters are those of `read_noting`."""
    votes, faults = read_noting(paths, dataset, names, any_number=any_number, parsed=parsed)
    faults.check()
    return votes


@uncollected()
def read_noting(
    paths: Sequence[Path],
    dataset: Dataset,
    names: Sequence[str] | None = None,
    *,
    any_number: bool = False,
    parsed: tuple[FileContent, Frame] | None = None,
) -> tuple[Votes, Faults]:
    """Return the votes in a dataset's files, and the files' faults without raising them.

    `names` are the files' names in records, `any_number` allows other numbers of votes than
    published, and `parsed` is the content of the only file; it is parsed again if it has faults,
    so that they are noted.
    """
    names = names or [path.name for path in paths]
    rows_class, reader = Rows, dataset.reader
    if isinstance(reader, ChaosNLIReader):
        rows_class, reader = ChaosNLIRows, wide_reader_of(dataset)
    about = dataset.about_annotators
    about_index = [file.name for file in dataset.files].index(about.file) if about else -1
    is_of_votes = [
        k == 0 if reader.texts_by else k != about_index for k in range(len(dataset.files))
    ]
    vote_paths = [path for path, is_one in zip(paths, is_of_votes, strict=False) if is_one]
    files, where = [path.name for path in vote_paths], paths[0]
    if getattr(reader, "annotator", "") == "file":  # file names are annotators' names: hide them
        files = [f"file {number}" for number in range(1, len(files) + 1)]
        where = where.parent
    contents = [parsed[0]] if parsed else [FileContent.of(path) for path in vote_paths]
    if contents[0].is_array:  # an array has no column of items
        reader = reader.model_copy(update={"item": ""})
    n_votes = 0 if any_number else dataset.n_votes
    faults = _faults_of(where, dataset, own=any_number)
    if parsed and parsed[1].is_sound:
        frames = [parsed[1]]
    else:
        frames = [
            _array_frame(content, dataset, faults)
            if content.is_array and isinstance(reader, WideReader)
            else read_frame(content, faults, reader.records, reader.keys)
            for content in contents
        ]
    frame = _rows(frames, files, reader, faults)
    if rows_class is ChaosNLIRows and not dataset.n_old_labels and "old_label" not in frame:
        reader = reader.model_copy(update={"old_label": ""})
    people = None
    digests = {path: content.sha256 for path, content in zip(vote_paths, contents, strict=True)}
    if about:
        people = read_people(paths[about_index], about, faults.todo)
        digests[paths[about_index]] = people.sha256
    rows = rows_class(frame, dataset, reader, faults, n_votes, people)
    texts = None
    if reader.texts_by:
        digests[paths[1]], texts = _texts_from_second_file(rows, paths[1])
    inputs = [Input(name, digests[path]) for name, path in zip(names, paths, strict=True)]
    return rows.votes(inputs, texts), faults


def _faults_of(path: Path, dataset: Dataset, *, own: bool = False) -> Faults:
    """Return an empty collection of a file's faults; `own` is for a file without a YAML file."""
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
    """Return the rows of files that count, after the reader's fields `each` and `where`.

    Items that lose all their rows are noted.
    """
    if isinstance(reader, LongReader) and reader.items_across:
        for frame in frames:
            frame.require(reader.columns_of_annotator, faults)
        frames = [frame.items_across(reader.columns_of_annotator) for frame in frames]
    if reader.each:
        frames = [frame.each(reader.each, faults) for frame in frames]
    frame = joined(frames, files)
    if len(frame) and reader.where:
        all_rows, frame = frame, frame.where(reader.where, faults)
        if reader.item and all(column in all_rows for column in reader.item_columns):
            with_votes = set(frame.key(reader.item).values)
            items = all_rows.key(reader.item).values
            without_votes = [item for item in items if item not in with_votes]
            if without_votes:
                n_items = counted(len(without_votes), "item")
                frame.notes += (f"{n_items} with no vote left ({listed(without_votes, _SHOWN)})",)
    if not len(frame):
        faults.check()
        found = f"{', '.join(frame.notes)} left out" if frame.notes else None
        raise faults.fatal("The data file holds no votes.", found)
    return frame


def _array_frame(content: FileContent, dataset: Dataset, faults: Faults) -> Frame:
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


def _texts_from_second_file(rows: Rows, path: Path) -> tuple[str, Texts]:
    """Return the digest of the second file, and the texts of the items in it."""
    reader, dataset, content = rows.reader, rows.dataset, FileContent.of(path)
    faults = _faults_of(path, dataset)
    text_reader = WideReader(format="wide", item=reader.texts_by, texts=reader.texts)
    text_rows = Rows(read_frame(content, faults), dataset, text_reader, faults)
    texts = text_rows.texts()
    index_of_uid = {uid: k for k, uid in enumerate(text_rows.item.values)}
    missing = [uid for uid in rows.item.values if uid not in index_of_uid]
    faults.add("the file as a whole", [f"found no text of item {shorten(uid)}" for uid in missing])
    faults.check()
    order = [index_of_uid[uid] for uid in rows.item.values]
    return content.sha256, [[text[k] for k in order] for text in texts]

"""The description of a dataset, as data: one YAML file for each dataset.

The book's page on datasets has a table of all fields.
"""

import re
import unicodedata
from collections import Counter
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from chaos_utils.base.errors import did_you_mean
from chaos_utils.base.style import HUES, Hue, distinct_hues
from chaos_utils.base.validation import StrictModel, validate
from chaos_utils.base.yaml_files import read_yaml

_SUFFIXES = (".yml", ".yaml")
DASHES = ("solid", "dashed", "dashdot", "dotted")
TASKS_FILE = "tasks.yml"
_LONGEST_NAME = 250  # bytes, as file systems have it
_Name = Annotated[
    str,
    Field(
        pattern=r"^[a-z0-9][a-z0-9_-]*$",
        description="lower-case letters, digits, - and _, a letter or digit first",
    ),
]
_Sha256 = Annotated[
    str, Field(pattern=r"^([0-9a-f]{64})?$", description="64 hexadecimal digits, in lower case")
]


def package_yaml(name: str) -> Any:
    """Return the content of a YAML file that stands beside this module."""
    return read_yaml(Path(__file__).parent / name)


class Label(StrictModel):
    """One answer that people could give.

    Attributes
    ----------
    name : str
        For readers.
    code : str
        As the data file and saved votes spell it; the name where nothing else is said.
    spellings : tuple of str
        Other spellings in data files.
    colour : Hue
        In figures and pages; the palette's next colour where nothing is said.
    """

    name: Annotated[str, Field(min_length=1)]
    code: str = ""
    spellings: tuple[str, ...] = ()
    colour: Hue = HUES[0]


class Release(StrictModel):
    """What a publisher released: a set of files under one licence.

    Attributes
    ----------
    title, licence, homepage : str
        As its publisher states them.
    citation : str
        Key in ``book/references.bib``; empty where there is none.
    credit : str
        Whom notices and citations name, with the year; empty for nobody.
    copies : bool
        Whether items may be passed on one by one, in pages. False for files with canary lines,
        which are lost in a copy.
    """

    title: str = ""
    licence: str = "not stated"
    homepage: str = ""
    citation: str = ""
    credit: str = ""
    copies: bool = True


class PredictionColumns(StrictModel):
    """The part of a JSON list of predictions that is kept: identifiers and numbers, but no texts.

    Attributes
    ----------
    key : str
        Key of the list of probabilities in each entry.
    columns : tuple of str
        Names of the probabilities in the CSV that is kept, after ``uid``.
    """

    key: str
    columns: tuple[str, ...]


class DataFile(StrictModel):
    """One file of a release.

    Attributes
    ----------
    name : str
        Path relative to a data folder; also its name in records and figures.
    url : str
        The publisher's address of the file, or of the archive that holds it; empty for a file
        that only its owner has.
    member : str
        Base name inside the archive; empty when `url` is the file itself.
    mirror : str
        A second address of the file itself; empty when there is none.
    kept : PredictionColumns or None
        The part of the downloaded file that is kept; None for all of it.
    sha256 : str
        Digest of the published file, or of the part that is kept; empty when it is not known.
    items : int
        Number of items in the published file; 0 when it is not known.
    release : Release
        The release that the file belongs to; filled in by `catalogue.known_files`.
    """

    name: str
    url: str = ""
    member: str = ""
    mirror: str = ""
    kept: PredictionColumns | None = None
    sha256: _Sha256 = ""
    items: Annotated[int, Field(ge=0)] = 0
    release: Release = Release()  # filled in by `catalogue.known_files`

    @field_validator("name")
    @classmethod
    def _stays_in_its_folder(cls, name: str) -> str:
        if Path(name).is_absolute() or ".." in Path(name).parts or not name:
            raise ValueError(f"{name!r} is no path below a data folder")
        if len(name.encode()) > _LONGEST_NAME:
            raise ValueError(f"the name of a file has {len(name)} characters")
        return name


class ReleasedSystem(StrictModel):
    """A model whose predictions on a dataset were released, or several models in the same files.

    Attributes
    ----------
    family : str
        The model, without its seed; empty where the files name `models` themselves.
    seeds : tuple of int
        Empty for a model without seeds.
    models : tuple of str
        Names of the models in the files, as the files spell them.
    files : tuple of str
        Parts of one system's predictions, ``{seed}`` for the seed.
    trained_on : tuple of str
        Corpora that the model was trained on, and datasets whose votes it was trained on.
    paper : str
        Key in ``book/references.bib`` of the paper on this dataset that the model comes from;
        empty for a model from no such paper.
    caution : str
        What must be said wherever the model is shown, such as that it may have seen these items.
    rows_of : tuple of str
        For files of logits that name no items: the datasets whose items, in the order of the
        datasets' files, are the rows. Empty for files that name the items.
    other_form : str
        A file with the same numbers, which is read where `files` are missing; if both are
        available, they must agree. Empty for none.
    """

    family: str = ""
    seeds: tuple[int, ...] = ()
    models: tuple[str, ...] = ()
    files: Annotated[tuple[str, ...], Field(min_length=1)]
    trained_on: tuple[str, ...]
    paper: str = ""
    caution: str = ""
    rows_of: tuple[str, ...] = ()
    other_form: str = ""

    @model_validator(mode="after")
    def _check(self) -> "ReleasedSystem":
        for name in self.files:
            if re.search("[{}]", name.replace("{seed}", "")):
                raise ValueError(f"{name!r} has braces; only {{seed}} may stand in them")
        if bool(self.family) == bool(self.models):
            raise ValueError("give a family, or the models that the files name")
        return self

    @property
    def parts(self) -> dict[int | None, tuple[str, ...]]:
        """The files of each seed's predictions, by seed; None for a model without seeds."""
        return {
            seed: tuple(file.format(seed=seed) for file in self.files)
            for seed in self.seeds or (None,)
        }


class Annotate(StrictModel):
    """How readers are asked to judge a dataset's items themselves.

    Attributes
    ----------
    kind : {'pairs', 'stories'}
        ``pairs``: whether the second of two texts follows from the first, is open or is false
        (three labels, in this order). ``stories``: which of the two middle texts of four fits
        (two labels).
    invitation : str
        The question, in a line.
    """

    kind: Literal["pairs", "stories"]
    invitation: str


def spelling_of(text: str) -> str:
    """Return the same text for all spellings of a number (1, 1.0, 01) or of a letter (é)."""
    from chaos_utils.datasets.cells import as_number  # slow to import

    number = as_number(text)
    if number is None:
        return unicodedata.normalize("NFC", text)
    return str(int(number)) if number == int(number) else str(number)


@cache
def _tasks() -> tuple[str, ...]:
    return tuple(name for name, one in package_yaml(TASKS_FILE).items() if one["corpora"])


_SHAPES = {"pairs": (2, 3), "stories": (4, 2)}  # numbers of texts and labels


class ChaosNLIReader(StrictModel):
    """ChaosNLI's JSON lines: one object per item, with counts and the old labels.

    Attributes
    ----------
    format : 'chaosnli'
        Names this reader.
    integer_labels : bool
        Whether the file has its labels as integers.
    """

    format: Literal["chaosnli"]
    integer_labels: bool = False


class Cutpoints(StrictModel):
    """A rule that turns numbers, such as the points of a slider, into labels.

    Attributes
    ----------
    rule : str
        The name of the rule.
    edges : tuple of float
        From the least number to the greatest; each label holds the numbers from one edge up to
        the next, and a number outside all of them is a fault.
    labels : tuple of str
        Names of the labels between the edges, from the lowest numbers up.
    """

    rule: Annotated[str, Field(min_length=1)]
    edges: tuple[float, ...]
    labels: Annotated[tuple[str, ...], Field(min_length=2)]

    @model_validator(mode="after")
    def _check(self) -> "Cutpoints":
        if len(self.edges) != len(self.labels) + 1 or list(self.edges) != sorted(set(self.edges)):
            raise ValueError("edges must be one more than the labels, in ascending order")
        return self


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


_Values = Annotated[tuple[bool | int | str, ...], BeforeValidator(_as_list)]


class TableFields(StrictModel):
    """The fields that all readers of tables share; a column may also be a dotted path in JSON.

    Attributes
    ----------
    records : str
        Dotted path to the list of records in a JSON file; empty for other files.
    keys : tuple of str
        Names of the columns that hold the keys of nested JSON objects, the outermost keys first,
        such as annotator and item. The innermost values are records, or a single ``value`` each.
        Empty for lists.
    each : str or tuple of str
        Column of lists, or of objects, whose elements become a row each, as votes inside an
        item; an object's keys are then the column ``key``. Several columns must hold lists of the
        same length.
    where : dict
        Column, with the value or values of the rows that count. Other rows are left out, and their
        number is reported. A missing or empty cell counts as ``false``.
    item : str or tuple of str
        Column of the item's identifier, or several columns, whose identifiers are joined by a
        slash. Where it is empty, and in an ``.npy`` file, the items are numbered from 0.
    numbered : bool
        Whether the items are numbered from 0, in the order in which the file first names them,
        although they have identifiers: these may hold texts.
    majority : str
        Column of the majority label that the file states. For an empty cell or ``-``, and without
        such a column, it is the first of the labels with most votes.
    old_label : str
        Column of the label of an original dataset; empty for none.
    item_fields : tuple of str
        Columns about the item, such as its language; all rows of an item must say the same.
    texts : dict of str
        Column by text field; a field that is not in here is in the column of the same name.
    texts_by : str
        Column of the item's identifier in the second of the dataset's files, which then holds
        the texts; empty where the votes' file does.
    texts_escaped : bool
        Whether texts are written with HTML's entities, such as ``&quot;``.
    """

    records: str = ""
    keys: tuple[str, ...] = ()
    each: tuple[str, ...] = ()
    where: dict[str, _Values] = Field(default_factory=dict)
    item: str | Annotated[tuple[str, ...], Field(min_length=2)] = "item"
    numbered: bool = False
    majority: str = ""
    old_label: str = ""
    item_fields: tuple[str, ...] = ()
    texts: dict[str, str] = Field(default_factory=dict)
    texts_by: str = ""
    texts_escaped: bool = False

    @property
    def item_columns(self) -> tuple[str, ...]:
        """The columns that name the item."""
        return (self.item,) if isinstance(self.item, str) else self.item

    @model_validator(mode="before")
    @classmethod
    def _renamed(cls, content: Any) -> Any:
        if isinstance(content, dict) and "ignore" in content:
            raise ValueError("`ignore` is called `missing` since the fourth edition")
        return content

    @field_validator("each", mode="before")
    @classmethod
    def _as_columns(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


def _as_answers(value: Any) -> Any:
    answers = _as_list(value)
    if any(isinstance(answer, bool) for answer in answers):
        raise ValueError(
            "YAML reads Yes and No as true and false: put 'Yes' and 'No' in quotation marks"
        )
    answers = ["" if answer is None else answer for answer in answers]
    return [str(answer) if isinstance(answer, int | float) else answer for answer in answers]


_Answers = Annotated[tuple[str, ...], BeforeValidator(_as_answers)]


class AboutAnnotators(StrictModel):
    """A second file, which says what annotators are.

    Attributes
    ----------
    file : str
        Its name, as among the dataset's files; it holds no votes.
    key : str
        Column of the annotator's identifier; empty for a JSON object that has its records by
        annotator.
    prefix : str
        What stands before these identifiers in the file of votes, such as ``Ann``.
    fields : tuple of str
        Columns to keep.
    missing : tuple of str
        Values that say nothing, such as ``DATA_EXPIRED``: the field is then empty.
    incomplete : bool
        Whether the file may lack annotators: their fields are then empty, and their number is
        reported. By default they are a fault.
    """

    file: str
    key: str = ""
    prefix: str = ""
    fields: Annotated[tuple[str, ...], Field(min_length=1)]
    missing: _Answers = ()
    incomplete: bool = False


class LongReader(TableFields):
    """One row per vote; the fields of `TableFields` are also allowed.

    Attributes
    ----------
    format : 'long'
        Names this reader.
    annotator : str
        Column of who voted; empty where that is not known. Its values become running numbers.
    annotator_fields : tuple of str
        Columns about the annotator, such as a group; all rows of an annotator must say the same.
    about_annotators : AboutAnnotators or None
        A second file with more such columns.
    label : str or tuple of str
        Column of the label; or one-hot columns, one per label and named as it, with one set.
    round : str
        Column of the round in which the vote was given, a whole number; an annotator may judge an
        item once in each. Empty where each annotator judges an item once.
    time : str
        In place of `round`: column of when the vote was given, a number or a date and time as ISO
        8601 writes it. An annotator's votes on an item are numbered by it.
    rounds : tuple of str
        In place of `label` and `round`: columns of the labels given in each round, the first round
        first, where a row holds all votes of an annotator on an item.
    items_across : bool
        In place of `item` and `label`: whether a row holds all votes of an annotator, so that each
        column but those about the annotator is an item, named as it. An empty cell is no vote.
    batch : str
        Column of the batch in which the vote was asked for, a whole number. All items have votes of
        the first batch, and later ones were asked where earlier votes were close: only the first
        counts where people and systems are judged. Empty where all votes were asked alike.
    second_votes : bool
        Whether an annotator's second vote on an item counts, and is reported; else it is a fault.
    missing : tuple of str
        Answers that are no votes, such as ``-1`` or ``skipped``; an empty text is an empty cell.
    separator : str
        What stands between labels where one person may choose several, each of which is a vote;
        a list in JSON is such a choice too. Empty where a cell holds one label.
    cut : Cut or None
        Turns numbers into labels; None where the answers are labels.
    """

    format: Literal["long"]
    item: Annotated[str, Field(min_length=1)] | Annotated[tuple[str, ...], Field(min_length=2)] = (
        "item"
    )
    annotator: str = ""
    annotator_fields: tuple[str, ...] = ()
    about_annotators: AboutAnnotators | None = None
    label: str | Annotated[tuple[str, ...], Field(min_length=1)] = "label"
    round: str = ""
    time: str = ""
    rounds: Annotated[tuple[str, ...], Field(min_length=2)] | tuple[()] = ()
    batch: str = ""
    second_votes: bool = False
    items_across: bool = False
    missing: _Answers = ()
    separator: str = ""
    cut: Cutpoints | None = None

    @model_validator(mode="after")
    def _check(self) -> "LongReader":
        for name in (
            "annotator_fields", "about_annotators", "round", "time", "rounds", "items_across",
            "second_votes",
        ):  # fmt: skip
            if getattr(self, name) and not self.annotator:
                raise ValueError(f"{name} needs the column of the annotator")
        if self.rounds and {"round", "time", "label"} & self.model_fields_set:
            raise ValueError("rounds names the columns of labels: leave out label, round and time")
        if self.round and self.time:
            raise ValueError("rounds are numbered by round, or by time: not both")
        of_cells = {"item", "label", "round", "time", "rounds"}
        if self.items_across and of_cells & self.model_fields_set:
            raise ValueError("items_across reads each column as an item: leave out item and label")
        if self.items_across and {"item", "label"} & {*self.columns_of_annotator}:
            raise ValueError("items_across needs columns that are not called item or label")
        if self.batch and (self.round or self.rounds or self.time):
            raise ValueError("batch and rounds exclude each other: ask people again in one batch")
        if self.second_votes and (self.round or self.rounds or self.time):
            raise ValueError("second_votes is for votes without rounds")
        if len(set(self.rounds)) < len(self.rounds):
            raise ValueError("rounds names a column twice")
        about = self.about_annotators
        for name in about.fields if about else ():
            if name in self.annotator_fields:
                raise ValueError(f"{name!r} is in annotator_fields and in about_annotators")
        return self

    @property
    def columns_of_annotator(self) -> tuple[str, ...]:
        """The columns about the annotator."""
        return (self.annotator, *self.annotator_fields)

    @property
    def label_columns(self) -> tuple[str, ...]:
        """The columns of labels."""
        label = (self.label,) if isinstance(self.label, str) else self.label
        return self.rounds or label


class WideReader(TableFields):
    """One row per item, with a column for each label's votes, named as the label.

    The fields of `TableFields` are also allowed.

    Attributes
    ----------
    format : 'wide'
        Names this reader.
    values : str
        Whether the columns hold ``counts`` or ``shares``.
    n_votes : int or str
        How many votes each item has, or the column that holds their number. Shares need it;
        counts are compared with it.
    """

    format: Literal["wide"]
    values: Literal["counts", "shares"] = "counts"
    n_votes: Annotated[int, Field(ge=1)] | str = ""

    @model_validator(mode="after")
    def _check(self) -> "WideReader":
        if self.values == "shares" and not self.n_votes:
            raise ValueError("shares need n_votes, a number or a column")
        return self


class ColumnsReader(TableFields):
    """One row per item, with a column for each vote, or one column that lists the labels.

    The fields of `TableFields` are also allowed.

    Attributes
    ----------
    format : 'columns'
        Names this reader.
    labels : str or tuple of str
        Columns that hold a label each, where an empty cell is no vote; or the one column that
        holds a list: in JSON, or separated by commas.
    annotators : str
        Column that lists who gave the labels, in the same order; empty where that is not known.
    annotators_by_place : bool
        Whether each position in the list, or each column, belongs to the same annotator in all
        rows.
    about_annotators : AboutAnnotators or None
        A second file that says what annotators are, by their identifier, place or column.
    second_votes : bool
        Whether an annotator's second vote on an item counts, and is reported; else it is a fault.
    missing : tuple of str
        Answers that are no votes, such as ``-1`` or ``skipped``; an empty text is an empty cell.
    separator : str
        What stands between labels where one person may choose several, each of which is a vote;
        a list in JSON is such a choice too. Empty where a cell holds one label.
    cut : Cut or None
        Turns numbers into labels; None where the answers are labels.
    """

    format: Literal["columns"]
    labels: str | Annotated[tuple[str, ...], Field(min_length=1)]
    annotators: str = ""
    annotators_by_place: bool = False
    about_annotators: AboutAnnotators | None = None
    second_votes: bool = False
    missing: _Answers = ()
    separator: str = ""
    cut: Cutpoints | None = None

    @model_validator(mode="after")
    def _check(self) -> "ColumnsReader":
        if self.annotators and not isinstance(self.labels, str):
            raise ValueError("annotators needs labels to be one column, which lists them")
        if self.annotators and self.annotators_by_place:
            raise ValueError("annotators are named by a column, or by place: not both")
        if self.about_annotators and not (self.annotators or self.annotators_by_place):
            raise ValueError("about_annotators needs annotators, or annotators_by_place")
        return self


TableReader = LongReader | WideReader | ColumnsReader
Reader = Annotated[ChaosNLIReader | TableReader, Field(discriminator="format")]


class Dataset(StrictModel):
    """The description of a set of votes.

    Attributes
    ----------
    name : str
        Short name, as in the ``dataset`` column of every table.
    title : str
        For axes and headings.
    short : str
        For prose and narrow tables; the title where nothing else is said.
    classes : tuple of Label
        The labels in the order of every array; ``labels`` in the file.
    text_fields : tuple of str
        The fields of an item's text, in reading order; empty where there are no texts.
    text_titles : tuple of str
        What readers see instead of the fields' names; the names by default.
    release : Release
    files : tuple of DataFile
        The files that together hold the votes; where the reader has `texts_by`, the first file
        holds the votes, and the second one the texts. The file that `about_annotators` names holds
        no votes.
    reader : ChaosNLIReader, LongReader, WideReader or ColumnsReader
        Turns the files into votes.
    n_votes : int
        How many votes each published item has; 0 where that varies.
    n_old_labels : tuple of int
        How many old votes an item may carry; empty when there are none, or only the
        gold label was released.
    in_book : int
        Position among the datasets that the book's chapters show, from 1; 0 for other datasets.
    task : str
        The task of models for this dataset, as ``tasks.yml`` names it; empty where no model is
        trained here.
    ordered : bool
        Whether the labels stand in an order, each one step from the next, such as the points of a
        scale; distances that count steps need it.
    adaptive : bool or None
        Whether items have more votes where the votes before were close; None where that is judged
        by the votes. Such votes need their batches (`LongReader.batch`).
    pooled_as : str
        Datasets that name the same pool are also shown as one; empty for none.
    colour : Hue
    dash : str
        Colour and line of the dataset in figures; by default the next free ones.
    annotate : Annotate or None
        How the book lets readers judge its items; None where it does not.
    warning : str
        What a reader must know before the texts are shown; empty for nothing.
    systems : tuple of ReleasedSystem
    """

    name: _Name
    title: str
    short: str = ""
    classes: Annotated[tuple[Label, ...], Field(alias="labels", min_length=2)]
    text_fields: Annotated[tuple[str, ...], Field(alias="texts")] = ()
    text_titles: tuple[str, ...] = ()
    release: Release = Release()
    files: Annotated[tuple[DataFile, ...], Field(min_length=1)]
    reader: Reader
    n_votes: Annotated[int, Field(ge=0)] = 0
    n_old_labels: tuple[int, ...] = ()
    in_book: Annotated[int, Field(ge=0)] = 0
    task: str = ""
    ordered: bool = False
    adaptive: bool | None = None
    pooled_as: str = ""
    colour: Hue = HUES[0]
    dash: Literal["solid", "dashed", "dashdot", "dotted"] = "solid"
    annotate: Annotate | None = None
    warning: str = ""
    systems: tuple[ReleasedSystem, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, content: Any) -> Any:
        """Add the default short title, text titles, and labels' codes and colours."""
        if not isinstance(content, dict):
            return content
        content = dict(content)
        content.setdefault("short", content.get("title", ""))
        texts = content.get("texts", ())
        if isinstance(texts, list | tuple):
            titles = [str(field).replace("_", " ").capitalize() for field in texts]
            content.setdefault("text_titles", titles)
        labels = content.get("labels")
        if isinstance(labels, list):
            names = [label.get("name") if isinstance(label, dict) else label for label in labels]
            if any(isinstance(name, bool) for name in names):
                raise ValueError(
                    "YAML reads Yes and No as true and false: put 'Yes' and 'No' in quotation marks"
                )
            classes = [
                {"name": str(label)} if isinstance(label, str | int) else label for label in labels
            ]
            content["labels"] = [
                {"code": label.get("name", ""), "colour": hue} | label
                if isinstance(label, dict)
                else label
                for label, hue in zip(classes, distinct_hues(len(classes), HUES), strict=True)
            ]
        return content

    @model_validator(mode="after")
    def _check(self) -> "Dataset":
        if self.task and self.task not in _tasks():
            raise ValueError(f"task: found {self.task!r}; {did_you_mean(self.task, _tasks())}")
        columns = tuple(name.replace(" ", "_") for name in self.labels)  # in files of predictions
        for what, values in (("name", columns), ("code", self.codes)):
            repeats = sorted(value for value, number in Counter(values).items() if number > 1)
            if repeats:
                raise ValueError(f"the label {what} {repeats[0]!r} occurs twice")
        if len(self.text_titles) != len(self.text_fields):
            raise ValueError("text_titles and texts differ in number")
        shape = (len(self.text_fields), self.n_classes)
        if self.annotate and shape != _SHAPES[self.annotate.kind]:
            n_texts, n_labels = _SHAPES[self.annotate.kind]
            kind = self.annotate.kind
            raise ValueError(f"annotate as {kind} needs {n_texts} texts and {n_labels} labels")
        spellings = [
            spelling
            for label in self.classes
            for spelling in {label.name, label.code, *label.spellings}
        ]
        for spelling, number in Counter(spellings).items():
            if number > 1:
                raise ValueError(f"{spelling!r} stands for two labels")
        for text in (self.title, self.short, *self.labels):
            if text.count("$") > 1 or not text.isprintable():
                raise ValueError(
                    f"{text!r} has dollar signs, which figures take for a formula, or characters "
                    "that cannot be shown"
                )
        for file in self.files:
            if file.url and not file.sha256:
                raise ValueError(f"the file {file.name} has a url but no sha256")
        if not isinstance(self.reader, ChaosNLIReader):
            for field in self.reader.texts:
                if field not in self.text_fields:
                    raise ValueError(
                        f"reader.texts names {field!r}; {did_you_mean(field, self.text_fields)}"
                    )
            if self.reader.texts_by and len(self.files) < 2:
                raise ValueError("reader.texts_by needs a second file")
            names = [file.name for file in self.files]
            later = names[2 if self.reader.texts_by else 1 :]
            if self.about_annotators and self.about_annotators.file not in later:
                raise ValueError(
                    f"reader.about_annotators.file names {self.about_annotators.file!r}, which is "
                    "not one of the files after those of votes and texts"
                )
        if isinstance(self.reader, LongReader | ColumnsReader):
            for answer in self.reader.missing:
                if self.label_index(answer) is not None:
                    raise ValueError(f"reader.missing names {answer!r}, which is a label")
            for name in self.reader.cut.labels if self.reader.cut else ():
                if name not in self.labels:
                    near = did_you_mean(name, self.labels)
                    raise ValueError(f"reader.cut names {name!r}; {near}")
        return self

    @property
    def about_annotators(self) -> AboutAnnotators | None:
        """The second file that says what annotators are; None where there is none."""
        return getattr(self.reader, "about_annotators", None)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels' names, in order."""
        return tuple(label.name for label in self.classes)

    @property
    def states_majority(self) -> bool:
        """Whether the file states majority labels, and so breaks ties between labels."""
        return isinstance(self.reader, ChaosNLIReader) or bool(self.reader.majority)

    @property
    def codes(self) -> tuple[str, ...]:
        """The labels as the data file and saved votes spell them, in order."""
        return tuple(label.code for label in self.classes)

    @property
    def n_classes(self) -> int:
        """Number of labels."""
        return len(self.classes)

    @property
    def file(self) -> str:
        """Name of the file that holds the votes."""
        return self.files[0].name

    def label_index(self, label: object) -> int | None:
        """Return the index of a label from its code, name, spelling or integer; None for no label.

        Parameters
        ----------
        label : object
            As a data file has it, such as ``e`` or ``entailment``; on αNLI 1, ``1`` or ``1.0``.

        Returns
        -------
        int or None
            From 0, in the order of `labels`.
        """
        if isinstance(label, bool) or not isinstance(label, str | int):
            return None
        text = str(label)
        index = self._index_by_spelling.get(text)
        return self._index_by_other_spelling.get(spelling_of(text)) if index is None else index

    @cached_property
    def _index_by_spelling(self) -> dict[str, int]:
        """The index of each label by its code, name and spellings."""
        return {
            spelling: k
            for k, label in enumerate(self.classes)
            for spelling in (label.code, label.name, *label.spellings)
        }

    @cached_property
    def _index_by_other_spelling(self) -> dict[str, int]:
        """The index of each label by `spelling_of` its spellings, unless two labels share it."""
        index: dict[str, int] = {}
        for name, k in self._index_by_spelling.items():
            index[spelling_of(name)] = -1 if index.get(spelling_of(name), k) != k else k
        return {name: k for name, k in index.items() if k >= 0}


def read_dataset(path: Path) -> Dataset:
    """Read and check the YAML file of a dataset at `path`.

    Raises
    ------
    ChaosError
        If the file is no YAML, or a field is unknown, missing or has a wrong value; the message
        names the field.
    """
    what = "This dataset file"
    todo = "correct it; the book's page on datasets explains the fields"
    return validate(read_yaml(path, what), Dataset, path, what, todo=todo)


def is_dataset_file(path: Path) -> bool:
    """Return whether a path has the suffix of a YAML file."""
    return path.suffix.lower() in _SUFFIXES

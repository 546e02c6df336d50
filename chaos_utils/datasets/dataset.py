"""What a set of votes is, as data: one YAML file for each dataset."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.style import HUES, Hue

_SUFFIXES = (".yml", ".yaml")
_DASHES = ("solid", "dashed", "dashdot", "dotted")
_NAME = r"^[a-z0-9][a-z0-9_-]*$"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same, but for speed
_SHA256 = r"^[0-9a-f]{64}$"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Label(_Strict):
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


class Release(_Strict):
    """What a publisher released: a set of files under one licence.

    Attributes
    ----------
    title, licence, homepage : str
        As its publisher states them.
    citation : str
        Key in ``book/references.bib``; empty where there is none.
    credit : str
        Whom notices and citations name, with the year; empty for nobody.
    """

    title: str = ""
    licence: str = "not stated"
    homepage: str = ""
    citation: str = ""
    credit: str = ""


class DataFile(_Strict):
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
    sha256 : str
        Digest of the published file; empty when it is not known.
    items : int
        Number of items in the published file; 0 when it is not known.
    release : Release
        What it belongs to; filled in by `registry.registry`.
    """

    name: str
    url: str = ""
    member: str = ""
    mirror: str = ""
    sha256: Annotated[str, Field(pattern=_SHA256)] | Literal[""] = ""
    items: Annotated[int, Field(ge=0)] = 0
    release: Release = Release()

    @field_validator("name")
    @classmethod
    def _stays_in_its_folder(cls, name: str) -> str:
        if Path(name).is_absolute() or ".." in Path(name).parts or not name:
            raise ValueError(f"{name!r} is no path below a data folder")
        return name


class ReleasedSystem(_Strict):
    """A model whose predictions on a dataset were released.

    Attributes
    ----------
    family : str
        The model, without its seed.
    seeds : tuple of int
    files : tuple of str
        Parts of one system's predictions, ``{seed}`` for the seed.
    trained_on : tuple of str
        Corpora, and datasets whose votes were trained on.
    outside : str
        The part that reaches beyond the dataset's own items; empty where none does.
    """

    family: str
    seeds: tuple[int, ...]
    files: tuple[str, ...]
    trained_on: tuple[str, ...]
    outside: str = ""


class Annotate(_Strict):
    """How readers are asked to judge a dataset's items themselves.

    Attributes
    ----------
    kind : {'pairs', 'stories'}
        Whether the second of two texts follows from the first, is open or is false (three
        labels, in this order); or which of the two middle ones of four texts fits (two labels).
    invitation : str
        What is asked, in a line.
    """

    kind: Literal["pairs", "stories"]
    invitation: str


_SHAPES = {"pairs": (2, 3), "stories": (4, 2)}  # numbers of texts and labels


class ChaosNLIReader(_Strict):
    """ChaosNLI's JSON lines: one object per item, with counts and the old labels.

    Attributes
    ----------
    integer_labels : bool
        Whether the file has its labels as integers.
    """

    format: Literal["chaosnli"]
    integer_labels: bool = False


class Dataset(_Strict):
    """What a set of votes is.

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
        What readers see in place of the fields' names; the names where nothing else is said.
    release : Release
    files : tuple of DataFile
        The first one holds the votes.
    reader : ChaosNLIReader
        Turns the files into votes.
    n_votes : int
        How many votes each published item has; 0 where that varies.
    n_old_labels : tuple of int
        How many original labels an item may carry; empty when there are none, or only the
        gold label was released.
    in_book : int
        Its place among the datasets that the book's chapters show; 0 for the others.
    task : str
        What a model that answers it is trained for, as `corpora.TRAININGS` names it; empty
        where nothing here trains one.
    pooled_as : str
        Datasets that name the same pool are also shown as one; empty for none.
    sample : str
        The kind of items that stand in for it in the synthetic sample; empty for none.
    colour : Hue
    dash : str
        Colour and line of the dataset in figures.
    annotate : Annotate or None
        How the book lets readers judge its items; None where it does not.
    warning : str
        What a reader must know before the texts are shown; empty for nothing.
    systems : tuple of ReleasedSystem
    """

    name: Annotated[str, Field(pattern=_NAME)]
    title: str
    short: str = ""
    classes: Annotated[tuple[Label, ...], Field(alias="labels", min_length=2)]
    text_fields: Annotated[tuple[str, ...], Field(alias="texts")] = ()
    text_titles: tuple[str, ...] = ()
    release: Release
    files: Annotated[tuple[DataFile, ...], Field(min_length=1)]
    reader: ChaosNLIReader
    n_votes: Annotated[int, Field(ge=0)] = 0
    n_old_labels: tuple[int, ...] = ()
    in_book: Annotated[int, Field(ge=0)] = 0
    task: str = ""
    pooled_as: str = ""
    sample: str = ""
    colour: Hue = HUES[0]
    dash: Literal["solid", "dashed", "dashdot", "dotted"] = "solid"
    annotate: Annotate | None = None
    warning: str = ""
    systems: tuple[ReleasedSystem, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, content: Any) -> Any:
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
            named = [{"name": label} if isinstance(label, str) else label for label in labels]
            content["labels"] = [
                {"code": label.get("name", ""), "colour": HUES[k % len(HUES)]} | label
                if isinstance(label, dict)
                else label
                for k, label in enumerate(named)
            ]
        return content

    @model_validator(mode="after")
    def _check(self) -> "Dataset":
        for what, values in (("name", self.labels), ("code", self.codes)):
            double = sorted({value for value in values if values.count(value) > 1})
            if double:
                raise ValueError(f"the label {what} {double[0]!r} stands there twice")
        if len(self.text_titles) != len(self.text_fields):
            raise ValueError("text_titles and texts differ in number")
        shape = (len(self.text_fields), self.n_classes)
        if self.annotate and shape != _SHAPES[self.annotate.kind]:
            raise ValueError(
                f"annotate as {self.annotate.kind} takes {{}} texts and {{}} labels".format(
                    *_SHAPES[self.annotate.kind]
                )
            )
        for file in self.files:
            if file.url and not file.sha256:
                raise ValueError(f"the file {file.name} has an address and no sha256")
        return self

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels' names, in order."""
        return tuple(label.name for label in self.classes)

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
        """Return the position of a label given as code, full name, spelling or integer, else None.

        Parameters
        ----------
        label : object
            As a data file has it, such as ``e`` or ``entailment``; on αNLI 1 or ``1``.

        Returns
        -------
        int or None
            From 0, in the order of `labels`.
        """
        if isinstance(label, bool) or not isinstance(label, str | int):
            return None
        text = str(label)
        for spelling in (self.codes, self.labels):
            if text in spelling:
                return spelling.index(text)
        for k, known in enumerate(self.classes):
            if text in known.spellings:
                return k
        return None


def read_dataset(path: Path) -> Dataset:
    """Read and check the YAML file of a dataset.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Dataset

    Raises
    ------
    ChaosError
        If it is no YAML, or a field is unknown, missing or not what it should be; the message
        names the field.
    """
    try:
        content = yaml.load(path.read_text("utf-8"), _LOADER)  # noqa: S506
    except (yaml.YAMLError, UnicodeDecodeError) as fault:
        raise ChaosError(
            "This dataset file is not YAML.", where=path, found=" ".join(str(fault).split())
        ) from fault
    if not isinstance(content, dict):
        raise ChaosError(
            "This dataset file is not YAML with fields.",
            where=path,
            found=type(content).__name__,
            expected="name, title, labels, files and the rest: see the book's page on datasets",
        )
    try:
        return Dataset.model_validate(content)
    except ValidationError as fault:
        raise _readable(path, fault) from fault


def _readable(path: Path, fault: ValidationError) -> ChaosError:
    """Say what is wrong with a dataset file, a line for each fault."""
    known = [field.alias or name for name, field in Dataset.model_fields.items()]
    lines = []
    for one in fault.errors():
        place = ".".join(str(part) for part in one["loc"]) or "the file as a whole"
        if one["type"] == "extra_forbidden":
            hint = did_you_mean(str(one["loc"][-1]), known) if len(one["loc"]) == 1 else ""
            lines.append(f"{place}: no such field{f'; {hint}' if hint else ''}")
        elif one["type"] == "missing":
            lines.append(f"{place}: is missing")
        else:
            text = re.sub(r"^Value error, ", "", one["msg"])
            shown = repr(one["input"])
            at = f"found {shown}; " if len(shown) <= 60 and one["loc"] else ""
            lines.append(f"{place}: {at}{text[0].lower()}{text[1:]}")
    return ChaosError(
        "This dataset file has faults." if len(lines) > 1 else "This dataset file has a fault.",
        where=path,
        found="\n".join(lines),
        todo="correct these fields; the book's page on datasets explains them",
    )


def is_dataset_file(path: Path) -> bool:
    """Return whether a file is named as the YAML file of a dataset is."""
    return path.suffix.lower() in _SUFFIXES

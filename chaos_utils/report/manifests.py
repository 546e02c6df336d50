"""The manifest of a figure or table: what its page shows of it, as ``<id>.json`` beside its files.

The book makes the figure or table, its page, its citations and its downloads from it.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from chaos_utils.base import paths
from chaos_utils.base.files import write_json
from chaos_utils.base.inputs import Input
from chaos_utils.base.style import Mode
from chaos_utils.base.validation import StrictModel, read_json
from chaos_utils.report.captions import MARK, without_markup

if TYPE_CHECKING:
    import pandas as pd

SYNTHETIC_NOTE = "Synthetic sample"
_WEB_ADDRESS = re.compile(r"https://[^\s\"'<>\\]+")
ID = re.compile(r"(fig|tbl)(-[a-z0-9]+)+")
# Fields that only manifests of one kind have.
_FIELDS_OF_KIND = {"figure": {"alt", "size", "narrow_size"}, "table": {"display"}}


@dataclass(frozen=True, slots=True)
class ItemText:
    """A cell that names an item; the book puts the item's text into it.

    Attributes
    ----------
    dataset : str
        Its name.
    uid : str
        The item's uid in the dataset.
    """

    dataset: str
    uid: str


@dataclass(frozen=True, slots=True)
class VotesBar:
    """A cell that shows an item's votes as a bar.

    Attributes
    ----------
    dataset : str
        Its name.
    counts : tuple of int
        Votes for each label, in the dataset's order.
    """

    dataset: str
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PageLink:
    """A cell that leads to another page of the book.

    Attributes
    ----------
    text : str
        The text of the link.
    page : str
        The page's path below the site's root, such as ``runs/minilm-l6-nli-s0``.
    """

    text: str
    page: str


@dataclass(frozen=True, slots=True)
class WebLink:
    """A cell that leads out of the book.

    Attributes
    ----------
    text : str
        The text of the link.
    address : str
        It begins with ``https://``; any other is a ValueError.
    """

    text: str
    address: str

    def __post_init__(self) -> None:
        if not _WEB_ADDRESS.fullmatch(self.address):
            raise ValueError(f"found {self.address!r}, expected an address like https://…")


class ItemCell(StrictModel):
    """An `ItemText` in the JSON of a manifest."""

    item: ItemText


class VotesCell(StrictModel):
    """A `VotesBar` in the JSON of a manifest."""

    votes: VotesBar


class LinkCell(StrictModel):
    """A `PageLink` in the JSON of a manifest."""

    link: PageLink


class WebCell(StrictModel):
    """A `WebLink` in the JSON of a manifest."""

    web: WebLink


Format = Literal["svg", "png", "pdf", "csv", "json"]
Cell = str | ItemCell | VotesCell | LinkCell | WebCell


class ShownAlone(StrictModel):
    """Some rows of a table, which a reader may ask to see alone, with other texts in some columns.

    `label` says which rows these are. `columns` are the positions of the columns that show other
    texts; `rows` has these texts for each row of the table, None for one that is not among them.
    """

    label: str
    columns: list[int]
    rows: list[list[str] | None]


class Display(StrictModel):
    """What a table shows: headings, of one or two names each, and rows with a cell for each.

    If it is `headed`, rows with the same first cell stand below a row that shows this cell alone.
    Some rows may be shown `alone`.
    """

    header: list[Annotated[list[str], Field(min_length=1, max_length=2)]]
    rows: list[list[Cell]]
    headed: bool = False
    alone: ShownAlone | None = None

    @model_validator(mode="after")
    def _check(self) -> "Display":
        if len({len(names) for names in self.header}) > 1:
            raise ValueError("some headings have one name, some two")
        if any(len(row) != len(self.header) for row in self.rows):
            raise ValueError("a row has more or fewer cells than there are headings")
        if self.alone and len(self.alone.rows) != len(self.rows):
            raise ValueError("not every row says whether it is shown alone")
        return self


class Manifest(StrictModel):
    """What a page shows of a figure or table.

    A figure has `alt` and its sizes in pixels, for a page (`size`) and for a phone (`narrow_size`);
    a table has a `display`. `data` has every row; the columns `keys` tell the rows apart.
    `cautions` are what must be said of systems in the data, by their names; `marked` are the names
    that bear a mark in the picture or the table. `meanings` say what columns of the data are, by
    their names.
    """

    id: Annotated[str, Field(pattern=f"^{ID.pattern}$", description="an id such as fig-entropy")]
    kind: Literal["figure", "table"]
    title: str
    caption: str
    cautions: dict[str, str] = Field(default_factory=dict)
    marked: list[str] = Field(default_factory=list)
    synthetic: bool
    creators: list[str]
    licence: str | None
    notebook: str
    parameters: dict[str, Any]
    inputs: list[Input]
    recorded: list[str]
    outdated: bool
    software: dict[str, str]
    formats: list[Format]
    display: Display = Display(header=[], rows=[])
    alt: str = ""
    size: tuple[int, int] = (0, 0)
    narrow_size: tuple[int, int] = (0, 0)
    keys: list[str]
    columns: list[str]
    meanings: dict[str, str] = Field(default_factory=dict)
    data: list[dict[str, Any]]

    @model_validator(mode="after")
    def _check(self) -> "Manifest":
        fields = self.model_fields_set & set().union(*_FIELDS_OF_KIND.values())
        if fields != _FIELDS_OF_KIND[self.kind]:
            raise ValueError(f"a {self.kind} has {', '.join(sorted(_FIELDS_OF_KIND[self.kind]))}")
        if any(row.keys() != set(self.columns) for row in self.data):
            raise ValueError("a row of its data has other columns")
        if unknown := self.meanings.keys() - set(self.columns):
            raise ValueError(f"its data has no column {', '.join(sorted(unknown))}")
        return self

    @property
    def name(self) -> str:
        """The title as it is cited: without markup, and marked if the data is synthetic."""
        title = without_markup(self.title)
        return f"{SYNTHETIC_NOTE}: {title}" if self.synthetic else title

    @property
    def notes(self) -> list[str]:
        """The cautions about what is shown, a line each.

        What a figure draws without its name is context, and that is grey.
        """
        return [
            (f"{MARK} {name}: " if name in self.marked else f"{name} is one of the grey lines; ")
            + f"{caution}."
            for name, caution in self.cautions.items()
            if name in self.marked or self.kind == "figure"
        ]

    @cached_property
    def rows(self) -> "pd.DataFrame":
        """The data as a frame, which is made once: pages quote many numbers from it."""
        import pandas as pd  # slow to import

        return pd.DataFrame(self.data)

    @property
    def file_names(self) -> list[str]:
        """The names of its files; other pictures of a figure follow the first one."""
        names = [f"{self.id}.{format}" for format in self.formats]
        if self.kind == "figure":
            names[1:1] = [f"{self.id}{end}.svg" for end in ("-dark", "-narrow", "-narrow-dark")]
        return names

    def write(self, folder: Path) -> None:
        """Write the manifest into the folder of its files, without fields of the other kind."""
        write_json(folder / f"{self.id}.json", self.model_dump(exclude_unset=True))


def picture_name(id: str, mode: Mode, narrow: bool = False) -> str:
    """Return the name of a figure's picture for a look and a width of the page."""
    return f"{id}{'-narrow' if narrow else ''}{'-dark' if mode == 'dark' else ''}.svg"


def read_manifest(path: Path) -> Manifest:
    """Return a manifest, unless it is damaged or another version of the package has written it."""
    return read_json(path, Manifest, "The manifest of a figure or table", todo="build it again")


def figures_of(run: Path) -> list[Path]:
    """Return the files of a run's manifests, one for each figure or table, sorted by name."""
    return sorted((run / paths.FIGURES).glob("*.json"))

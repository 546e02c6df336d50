"""What the machinery asks of a book: where its data is, what its tables show, whose work that is.

The machinery (`base`, `report`, `recorded`, `publish`, `sphinx`) knows nothing of votes, labels or
models. A `Project` answers its questions. The key ``project_class`` of ``_config.yml`` names the
class of a checkout's project, as ``module:Class``. Where it names none, and outside a checkout, the
package's own book answers: what must be said of its data is then said wherever its tables are
published.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input
from chaos_utils.base.style import Hue
from chaos_utils.base.yaml_files import read_yaml

if TYPE_CHECKING:
    import pandas as pd

_SETTINGS_FILE, _SETTING = "_config.yml", "project_class"
_PACKAGE_BOOK = f"{__name__.partition('.')[0]}.book:Book"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Licence:
    """A licence of a part of the site.

    Attributes
    ----------
    url, name : str
        Its address, and its short name.
    covers : str
        What is under it, in a sentence.
    results : tuple of str
        Folders below ``results/`` that are under it too.
    """

    url: str
    name: str
    covers: str
    results: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """Data that others have published.

    Attributes
    ----------
    title, credit, homepage, licence : str
        As the publisher states them; empty where nothing is said.
    name, url : str
        Of one file: its name, and its address. Both are empty where all files are meant.
    """

    title: str
    credit: str
    homepage: str
    licence: str
    name: str = ""
    url: str = ""

    def __str__(self) -> str:
        """Return title and credit; empty where there is neither."""
        return f"{self.title} ({self.credit})" if self.credit else self.title


@dataclass(frozen=True, slots=True)
class Group:
    """What rows of tables have in common, such as a dataset.

    Attributes
    ----------
    name : str
        As the column ``dataset`` of tables has it.
    title : str
        For readers, in a few words.
    source : Source
        Where its items come from.
    labels : tuple of (str, Hue)
        The answers that people could give, in order, each with its colour.
    texts : mapping of str
        The titles of an item's texts, by field.
    """

    name: str
    title: str
    source: Source
    labels: tuple[tuple[str, Hue], ...]
    texts: Mapping[str, str]


@contextmanager
def _answering(question: str) -> Iterator[None]:
    """Turn any other error of an answer into a ChaosError that names the question."""
    try:
        yield
    except ChaosError:
        raise
    except Exception as fault:
        found = f"{type(fault).__name__}: {fault}"
        raise ChaosError("A book's project fails.", where=question, found=found) from fault


class Project(ABC):
    """A book's answers.

    What must be said of others' data has no default: a project that does not say it is no project.
    """

    def __init_subclass__(cls) -> None:
        for name, answer in list(vars(cls).items()):
            if callable(answer) and not name.startswith("_"):
                setattr(cls, name, _answering(answer.__qualname__)(answer))

    @abstractmethod
    def licences(self) -> Mapping[str, Licence]:
        """Return the licences of ``text``, ``code`` and, if any are shown, ``items`` of others."""

    def prepare(
        self, *, sample: bool, strict: bool, dry_run: bool, say: Say, progress: bool
    ) -> str:
        """Find or fetch the data, and return the chapters' ``data`` parameter; empty for none.

        With `sample`, invented data is used instead. Data that is missing is told by `say`, or with
        `strict` an error. A `dry_run` fetches nothing; `progress` draws a bar.
        """
        return ""

    def libraries(self) -> tuple[str, ...]:
        """Return modules of other packages that chapters import and that are slow to load.

        Processes are then started with these loaded; those of every book need not be named.
        """
        return ()

    def inputs_of(self, data: str) -> Mapping[str, Path]:
        """Return the available files that every chapter reads, by name, for a ``data`` parameter.

        The names, unlike the paths, are the same on every machine.
        """
        return {}

    def readable(self, patterns: Collection[str], *, sample: bool) -> Mapping[str, Path]:
        """Return the available data files that modules name in their ``READS``, by name.

        `patterns` are patterns of names, or keywords of the book. With `sample`, no published file
        is among them. Files below ``results/`` are found without the project.
        """
        return {}

    def refuse_unavailable(
        self, values: Mapping[str, object], defaults: Mapping[str, object] | None
    ) -> None:
        """Raise a ChaosError, before a kernel starts, if a notebook needs data that is missing.

        `values` are those of its parameters; `defaults` those of a chapter, whose tables may be
        recorded, and None for another notebook.
        """

    def place_of(self, entry: Input) -> Path | None:
        """Return where an input of a record would be on this machine; None if it is not known."""
        return None

    @abstractmethod
    def source_of(self, entry: Input) -> Source | None:
        """Return where a published file comes from, by its digest; None for any other input."""

    @abstractmethod
    def groups(self, names: Iterable[str] | None = None) -> list[Group]:
        """Return the groups of these names in the book's order, each once; an unknown is an error.

        By default, the groups that the book shows.
        """

    @abstractmethod
    def listed(self, names: Iterable[str]) -> str:
        """Return how groups, or several joined by ``+``, are listed in prose: ``A, B and C``."""

    def definitions(self) -> Mapping[str, str]:
        """Return a digest of what defines each known group, by name, for the id of a run."""
        return {}

    @abstractmethod
    def cautions(self, rows: "pd.DataFrame") -> dict[str, str]:
        """Return what must be said of things that the rows name, such as systems, by their names.

        `rows` without a column ``dataset`` may be on any group.
        """

    @abstractmethod
    def shows_other_data(self, inputs: Collection[Input], parameters: Mapping[str, object]) -> bool:
        """Return whether a table shows other data than the book's, so that no finding holds.

        `inputs` are those of the table, `parameters` those of its notebook.
        """

    @abstractmethod
    def neutral_title(self, id: str) -> str:
        """Return a title of a figure or table without findings; empty if its caption has none."""

    def meanings(self, id: str) -> Mapping[str, str]:
        """Return what columns of the data of a figure or table may be, by name."""
        return {}

    def after_record(self, tables: Path) -> None:
        """Make what follows from the recorded tables, which have just been renewed."""

    def before_release(self, site: Path) -> None:
        """Remove from a copy of the site what is not to be released."""


def refuse_unnamed() -> None:
    """Raise a ChaosError if the checkout is another book's, and names no project.

    This package's own licences would else be stated as those of that book.
    """
    root = paths.project()
    if not (root / __name__.partition(".")[0]).is_dir() and not _named(root / _SETTINGS_FILE):
        raise ChaosError(
            "This book does not say who answers for its data and licence.",
            where=_SETTINGS_FILE,
            expected=f"{_SETTING}: module:Class, such as chaos_utils.base.plain:PlainBook, for a "
            "book without data of others",
        )


def current() -> Project:
    """Return the project that answers here: the checkout's, or else the package's own book."""
    return _project_of(paths.find_project())


def module() -> str:
    """Return the dotted name of the module of the current project, which nothing imports."""
    return type(current()).__module__


def _named(path: Path) -> object:
    """Return what a file of settings says of the project; None if it says nothing."""
    settings = read_yaml(path) if path.is_file() else None
    return settings.get(_SETTING) if isinstance(settings, dict) else None


@cache
def _project_of(root: Path | None) -> Project:
    path = root and root / _SETTINGS_FILE
    name = (_named(path) if path else None) or _PACKAGE_BOOK
    module_name, _, class_name = str(name).partition(":")
    try:
        result = getattr(import_module(module_name), class_name)()
    except Exception as fault:  # whatever a module of somebody's own raises
        result = fault
    if not isinstance(result, Project):
        raise ChaosError(
            "The project of this book cannot be asked.",
            where=path,
            found=f"{_SETTING}: {name}" + (f" ({result})" if isinstance(result, Exception) else ""),
            expected="module:Class, a class that answers all questions of "
            "chaos_utils.base.project.Project",
        )
    return result

"""What was published and must stay reachable: the ids of figures and tables, and moved pages.

``book/figures.yml`` holds every id that was ever published. One that is still made has the
version it first appeared in; one that was renamed or withdrawn has an entry of its own kind:

    fig-entropy: 0.1.0
    fig-old-name: {since: 0.1.0, moved_to: fig-entropy}
    fig-wrong: {since: 0.1.0, withdrawn: Its bins were counted twice.}

``book/redirects.yml`` names, for each page that has moved, the page that holds it now.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, model_validator

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.validation import StrictModel, validate
from chaos_utils.base.yaml_files import read_yaml
from chaos_utils.report.manifests import ID

FIGURES = "book/figures.yml"
REDIRECTS = "book/redirects.yml"
_PAGE_NAME = re.compile(r"[\w-]+(/[\w-]+)*")


class RegistryEntry(StrictModel):
    """An id that was ever published: its first version, and its new id or why it was withdrawn."""

    since: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$", description="a version, such as 0.1.0")]
    moved_to: str = ""
    withdrawn: str = ""

    @model_validator(mode="after")
    def _check(self) -> "RegistryEntry":
        if self.moved_to and self.withdrawn:
            raise ValueError("it has either moved_to: ID or withdrawn: REASON")
        return self


@dataclass(frozen=True, slots=True)
class Registry:
    """Every id that was ever published.

    `ids` are those that the notebooks make, in the book's order, and `redirects` the others.
    """

    ids: tuple[str, ...]
    redirects: Mapping[str, RegistryEntry]

    def check(self, made_ids: Collection[str], *, synthetic: bool = False) -> None:
        """Check that the notebooks make exactly the ids that are registered.

        From synthetic votes they may make fewer: only votes are invented, no other data.
        """
        missing = [] if synthetic else [id for id in self.ids if id not in made_ids]
        if missing:
            raise ChaosError(
                f"published ids never change, but no notebook makes: {', '.join(missing)}",
                todo="make it again, or give it a redirect in "
                f"{FIGURES}: {missing[0]}: {{since: …, moved_to: NEW-ID}} or "
                "{since: …, withdrawn: REASON}",
            )
        if reused := sorted(self.redirects.keys() & set(made_ids)):
            raise ChaosError(
                f"made by a notebook, although moved or withdrawn: {', '.join(reused)}",
                where=FIGURES,
                todo="give the new figure or table another id",
            )
        if unregistered := sorted(set(made_ids) - set(self.ids)):
            raise ChaosError(f"register these ids in {FIGURES}: {', '.join(unregistered)}")


def read_registry() -> Registry:
    """Read the ids that were ever published."""
    entries = {id: _entry(id, value) for id, value in _read(FIGURES).items()}
    redirects = {id: entry for id, entry in entries.items() if entry.moved_to or entry.withdrawn}
    ids = tuple(id for id in entries if id not in redirects)
    for id, entry in redirects.items():
        if entry.moved_to and entry.moved_to not in ids:
            raise ChaosError(
                "A redirect must lead to an id that has not moved or gone itself.",
                where=f"{FIGURES}, {id}",
                found=entry.moved_to,
                expected=did_you_mean(entry.moved_to, ids),
            )
    return Registry(ids, redirects)


def _entry(id: object, value: object) -> RegistryEntry:
    """Return the entry of an id, whose value in the file is a mapping or only a version."""
    if not ID.fullmatch(str(id)):
        raise ChaosError(
            "This is not an id.",
            where=FIGURES,
            found=repr(id),
            expected="fig-… or tbl-… in lower-case letters, digits and hyphens",
        )
    content = value if isinstance(value, dict) else {"since": value}
    return validate(content, RegistryEntry, f"{FIGURES}, {id}", "A published id")


def read_moved_pages(pages: Collection[str]) -> dict[str, str]:
    """Return the new name of each page that has moved, by its old name, after checking both.

    `pages` and these are names of the book's pages, such as ``chapters/results``.
    """
    redirects = read_redirects()
    for old, new in redirects.items():
        if old in pages:
            raise ChaosError("A page that has moved is still there.", where=REDIRECTS, found=old)
        if new not in pages:
            raise ChaosError(
                "A redirect leads to no page.",
                where=f"{REDIRECTS}, {old}",
                found=new,
                expected=did_you_mean(new, pages),
            )
    return redirects


def read_redirects() -> dict[str, str]:
    """Return the new name of each page that has moved, by its old name, without checking them."""
    redirects = _read(REDIRECTS)
    for name in (*redirects, *redirects.values()):
        if not isinstance(name, str) or not _PAGE_NAME.fullmatch(name):
            raise ChaosError(
                "This is not the name of a page.",
                where=REDIRECTS,
                found=repr(name),
                expected="its path without .html, such as chapters/results",
            )
    return redirects


def _read(name: str) -> dict[Any, Any]:
    """Return the content of a YAML file of the checkout: a mapping, or empty, or there is none."""
    path = paths.project() / name
    content = (read_yaml(path) if path.is_file() else None) or {}
    if not isinstance(content, dict):
        raise ChaosError("This cannot be read.", where=name, expected="a line `name: value` each")
    return content

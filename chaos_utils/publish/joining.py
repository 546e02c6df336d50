"""The built site's pages joined into one, to be printed."""

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag

from chaos_utils.base import paths
from chaos_utils.base.authorship import read_citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.publish import dependencies, templating

# Pages that are of use on a screen only: the first part of their names.
LEFT_OUT = ("annotate", "explorer", "figures", "reference")
_STYLES = ("pygments.css", "sphinx-design.min.css", "book.css")
_UNPRINTED = (
    "script, button, details.hide, .headerlink, .toctree-wrapper, .only-dark, .published-footer, "
    "source, .evaluate, [role=tooltip]"  # a source is another picture, for screens
)
_REFERRING = ("for", "aria-labelledby", "aria-describedby")
_NOTICE_LETTERS = 160  # in a running head; the title page has all of it


@dataclass(frozen=True, slots=True)
class _Part:
    """A page of the site: its name in the table of contents, how deep it stands, what it says.

    `ids` are the places on it that are printed.
    """

    name: str
    depth: int
    article: Tag
    ids: frozenset[str]

    @property
    def slug(self) -> str:
        return self.name.replace("/", "-")

    @property
    def title(self) -> str:
        heading = self.article.find("h1")
        return heading.get_text().strip() if heading else self.name

    @property
    def content(self) -> str:
        return self.article.decode_contents()

    def place(self, id: str) -> str:
        return f"{self.slug}--{id}" if id else self.slug


def join(site: Path, numbers: Mapping[str, int]) -> str:
    """Return the site's pages as one, in the order of the table of contents.

    `numbers` says on which page of paper each page of the site begins, by its `slugs`; those that
    are missing get no number. Pictures and styles are the site's own files. Every id carries its
    page's name, links between pages lead inside, and what is not printed is no longer linked to.
    """
    parts = {part.name: part for part in _parts(site)}
    for part in parts.values():
        _settle(part, parts)
    notice = _notice(site)
    # Not among the site's static files, which the theme loads on every page.
    style = (paths.project() / "book" / "_print" / "print.css").read_text("utf-8")
    return templating.render(
        "print",
        book=read_citation(),
        notice=notice,
        styles=_STYLES,
        style=f"{style}\n{_running_heads(parts.values(), notice)}",
        parts=parts.values(),
        numbers=numbers,
    )


def slugs() -> list[str]:
    """Return the name that each printed page goes by, in order."""
    return [name.replace("/", "-") for name, _ in _printed()]


def _printed() -> Iterator[tuple[str, int]]:
    for name, depth in dependencies.files():
        if name.split("/")[0] not in LEFT_OUT:
            yield name, depth


def _parts(site: Path) -> Iterator[_Part]:
    for name, depth in _printed():
        path = site / f"{name}.html"
        if not path.is_file():
            raise ChaosError(
                "A page of the book was not built.", where=path, todo="run `chaos build`"
            )
        article = BeautifulSoup(path.read_text("utf-8"), "html.parser").select_one("article")
        assert article is not None, name  # the theme puts one on every page
        for tag in article.select(_UNPRINTED):
            tag.decompose()
        ids = frozenset(str(tag["id"]) for tag in article.find_all(id=True))
        yield _Part(name, depth, article, ids)


def _notice(site: Path) -> str:
    """Return what every page says of a build that is synthetic; empty for others."""
    page = BeautifulSoup((site / "index.html").read_text("utf-8"), "html.parser")
    said = page.select_one(".build-notice")
    return " ".join(said.get_text().split()) if said else ""


def _settle(part: _Part, parts: Mapping[str, _Part]) -> None:
    """Make ids unique, let links lead inside, and files be found from where the print stands."""
    for tag in part.article.find_all(True):
        if "id" in tag.attrs:
            tag["id"] = part.place(str(tag["id"]))
        for name in _REFERRING:
            if name in tag.attrs:
                tag[name] = " ".join(map(part.place, str(tag[name]).split()))
        if tag.name == "img":
            tag["src"] = "../html/" + _resolved(part, str(tag["src"]))
            tag["loading"] = "eager"
        elif tag.name == "details":
            tag["open"] = ""
        elif tag.name == "a" and "href" in tag.attrs:
            _lead(tag, part, parts)


def _resolved(part: _Part, link: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(part.name), unquote(link)))


def _lead(link: Tag, part: _Part, parts: Mapping[str, _Part]) -> None:
    target = urlsplit(str(link["href"]))
    if target.scheme:
        return
    name = _resolved(part, target.path).removesuffix(".html") if target.path else part.name
    place = unquote(target.fragment)
    if name in parts and (not place or place in parts[name].ids):
        link["href"] = "#" + parts[name].place(place)
    else:
        link.name = "span"
        del link["href"]


def _running_heads(parts: Iterable[_Part], notice: str) -> str:
    heads = [
        f'@page {part.slug} {{ @top-right {{ content: "{_css(part.title)}" }} }}' for part in parts
    ]
    if notice:
        said = _css(shorten(notice, _NOTICE_LETTERS, placeholder=" …"))
        heads.append(f'@page {{ @top-left {{ content: "{said}"; color: #9c1230; }} }}')
    return "\n".join(heads)


def _css(text: str) -> str:
    """Return text for a string of CSS inside a `style` element."""
    return "".join(letter if letter.isalnum() else f"\\{ord(letter):x} " for letter in text)

"""The built site's pages joined into one, to be printed."""

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag

from chaos_utils.base.authorship import read_citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.publish import dependencies, templating

# Pages that are of use only on a screen, by the first part of their names.
LEFT_OUT = ("annotate", "explorer", "reference", "changes")
_STYLES = ("pygments.css", "sphinx-design.min.css", "book.css")
_UNPRINTED = (
    "script, button, details.hide, .headerlink, .toctree-wrapper, .only-dark, .published-footer, "
    "source, .evaluate, [role=tooltip], "  # a source is another picture, for screens
    ".page-citation, section:has(> :is(.thumbnails, .table-titles))"
)
_ID_ATTRIBUTES = ("for", "aria-labelledby", "aria-describedby")  # their values are ids
_NOTICE_LENGTH = 160  # characters in a running head; the title page has all of the notice


@dataclass(frozen=True, slots=True)
class _Part:
    """A page of the site: its name and depth in the table of contents, and its article.

    `ids` are those of the article's elements that are printed.
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

    def print_id(self, id: str) -> str:
        """Return the id in the print of an element of the page, or of the page if `id` is empty."""
        return f"{self.slug}--{id}" if id else self.slug


def join(site: Path, numbers: Mapping[str, int]) -> str:
    """Return the site's pages as one, in the order of the table of contents.

    `numbers` has the printed page's number on which each page of the site begins, by its slug (see
    `slugs`); pages without one get no number. Pictures and styles are the site's own files. Every
    id begins with its page's slug, links between pages lead to these ids, and links to what is not
    printed become text.
    """
    parts = {part.name: part for part in _parts(site)}
    for part in parts.values():
        _prepare(part, parts)
    notice = _notice(site)
    # Not among the site's static files, which the theme loads on every page.
    style = (templating.ASSETS / "print.css").read_text("utf-8")
    return templating.render(
        "print",
        book=read_citation(),
        notice=notice,
        styles=_STYLES,
        style=f"{style}\n{_running_heads(parts.values(), notice)}",
        pages=[name for name, _ in dependencies.files()],
        parts=parts.values(),
        numbers=numbers,
    )


def slugs() -> list[str]:
    """Return the slug of each printed page, in order: its name as an id."""
    return [name.replace("/", "-") for name, _ in _printed_pages()]


def _printed_pages() -> Iterator[tuple[str, int]]:
    """Yield the name and depth of each page of the table of contents that is printed."""
    for name, depth in dependencies.files():
        if name.split("/")[0] not in LEFT_OUT:
            yield name, depth


def _parts(site: Path) -> Iterator[_Part]:
    """Yield each printed page, without what only a screen can show."""
    for name, depth in _printed_pages():
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
    """Return the notice on every page of a synthetic build; empty for other builds."""
    page = BeautifulSoup((site / "index.html").read_text("utf-8"), "html.parser")
    notice = page.select_one(".build-notice")
    return " ".join(notice.get_text().split()) if notice else ""


def _prepare(part: _Part, parts: Mapping[str, _Part]) -> None:
    """Adapt an article to the print: unique ids, links inside it, paths of pictures."""
    for tag in part.article.find_all(True):
        if "id" in tag.attrs:
            tag["id"] = part.print_id(str(tag["id"]))
        for name in _ID_ATTRIBUTES:
            if name in tag.attrs:
                tag[name] = " ".join(map(part.print_id, str(tag[name]).split()))
        if tag.name == "img":
            tag["src"] = "../html/" + _site_path(part, str(tag["src"]))
            tag["loading"] = "eager"
        elif tag.name == "details":
            tag["open"] = ""
        elif tag.name == "a" and "href" in tag.attrs:
            _relink(tag, part, parts)


def _site_path(part: _Part, link: str) -> str:
    """Return the path, from the site's root, of what a relative link of a page leads to."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(part.name), unquote(link)))


def _relink(link: Tag, part: _Part, parts: Mapping[str, _Part]) -> None:
    """Let a link lead inside the print; turn it into text if its target is not printed."""
    target = urlsplit(str(link["href"]))
    if target.scheme:
        return
    name = _site_path(part, target.path).removesuffix(".html") if target.path else part.name
    id = unquote(target.fragment)
    if name in parts and (not id or id in parts[name].ids):
        link["href"] = "#" + parts[name].print_id(id)
    else:
        link.name = "span"
        del link["href"]


def _running_heads(parts: Iterable[_Part], notice: str) -> str:
    """Return the CSS of running heads: a page's title on the right, the notice on the left."""
    heads = [
        f'@page {part.slug} {{ @top-right {{ content: "{_css(part.title)}" }} }}' for part in parts
    ]
    if notice:
        text = _css(shorten(notice, _NOTICE_LENGTH, placeholder=" …"))
        heads.append(f'@page {{ @top-left {{ content: "{text}"; color: #9c1230; }} }}')
    return "\n".join(heads)


def _css(text: str) -> str:
    """Escape text for a string of CSS inside a `style` element."""
    return "".join(letter if letter.isalnum() else f"\\{ord(letter):x} " for letter in text)

"""What a figure's files say of themselves, each in its format's own way: nothing of when."""

from dataclasses import dataclass
from typing import Any

from chaos_utils.base.authorship import LICENCE, LICENCE_NAME
from chaos_utils.report import artifacts, provenance
from chaos_utils.report.captions import first_sentence, without_markup

_RIGHTS = f"{LICENCE_NAME}, {LICENCE}"


@dataclass(frozen=True, slots=True)
class About:
    """What is said of a figure, in words without markup.

    The title says of a synthetic figure that it is one. What a reader draws outside the book's
    notebooks has no authors: neither author nor licence is claimed for it.
    """

    id: str
    title: str
    alt: str
    notebook: str
    authors: tuple[str, ...]


def about(id: str, caption: str, alt: str, *, synthetic: bool) -> About:
    """Return what is said of a figure that the running notebook makes.

    `caption` and `alt` are Markdown; the caption's first sentence is the title.
    """
    title = without_markup(first_sentence(caption))
    if synthetic:
        title = f"{artifacts.SYNTHETIC_NOTE}: {title}"
    notebook = provenance.current_context().notebook
    return About(id, title, without_markup(alt), notebook, provenance.authors())


def svg(about: About) -> dict[str, Any]:
    """Return Dublin Core for an SVG, by matplotlib's names, as `Figure.savefig` takes it."""
    return {
        "Identifier": about.id,
        "Title": about.title,
        "Description": about.alt,
        "Source": _source(about),
        "Language": "en",
        "Creator": about.authors or None,
        "Contributor": _software(),
        "Rights": [_RIGHTS] if about.authors else None,
        "Date": None,
    }


def png(about: About) -> dict[str, str]:
    """Return the text keys of a PNG, as `Figure.savefig` takes them."""
    said = {
        "Identifier": about.id,
        "Title": about.title,
        "Description": about.alt,
        "Source": _source(about),
        "Software": _software(),
    }
    if about.authors:
        said |= {"Author": ", ".join(about.authors), "Copyright": _RIGHTS}
    return said


def pdf(about: About) -> dict[str, Any]:
    """Return what a PDF's information holds, which has no field for an id or a licence."""
    keywords = [about.id, _source(about), *([_RIGHTS] if about.authors else [])]
    return {
        "Title": about.title,
        "Author": ", ".join(about.authors) or None,
        "Subject": about.alt,
        "Keywords": ", ".join(keywords),
        "Creator": _software(),
        "CreationDate": None,
    }


def _source(about: About) -> str:
    return f"notebooks/{about.notebook}.py" if about.authors else about.notebook


def _software() -> str:
    return f"chaos-utils {provenance.version()}"

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

    Attributes
    ----------
    id, title, alt : str
        The title says of a synthetic figure that it is one.
    notebook : str
        That makes it.
    authors : tuple of str
        Empty for what a reader draws outside the book's notebooks: neither author nor
        licence is claimed for it.
    """

    id: str
    title: str
    alt: str
    notebook: str
    authors: tuple[str, ...]


def about(id: str, caption: str, alt: str, *, synthetic: bool) -> About:
    """Return what is said of a figure that the running notebook makes.

    Parameters
    ----------
    caption, alt : str
        Markdown; the caption's first sentence is the title.
    synthetic : bool
        Whether it is made from the sample.
    """
    title = without_markup(first_sentence(caption))
    if synthetic:
        title = f"{artifacts.SYNTHETIC_NOTE}: {title}"
    notebook = provenance.current_context().notebook
    return About(id, title, without_markup(alt), notebook, provenance.authors())


def svg(about: About) -> dict[str, Any]:
    """Return Dublin Core for an SVG, by matplotlib's names.

    Returns
    -------
    dict
        What `Figure.savefig` takes as ``metadata``.
    """
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
    """Return the text keys of a PNG.

    Returns
    -------
    dict of str
        What `Figure.savefig` takes as ``metadata``.
    """
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
    """Return what a PDF's information holds, which has no field for an id or a licence.

    Returns
    -------
    dict
        What `Figure.savefig` takes as ``metadata``.
    """
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

"""What a figure's files say of themselves, each in its format's own way: nothing of when.

What a reader draws outside the book's notebooks has no authors: neither author nor licence is
claimed for it.
"""

from typing import Any

from chaos_utils.base.authorship import LICENCE, LICENCE_NAME
from chaos_utils.report import provenance
from chaos_utils.report.captions import without_markup
from chaos_utils.report.manifests import Manifest

_RIGHTS = f"{LICENCE_NAME}, {LICENCE}"


def svg(about: Manifest) -> dict[str, Any]:
    """Return Dublin Core for an SVG, by matplotlib's names, as `Figure.savefig` takes it."""
    return {
        "Identifier": about.id,
        "Title": about.name,
        "Description": without_markup(about.alt),
        "Source": _source(about),
        "Language": "en",
        "Creator": about.creators or None,
        "Contributor": _software(),
        "Rights": [_RIGHTS] if about.creators else None,
        "Date": None,
    }


def png(about: Manifest) -> dict[str, str]:
    """Return the text keys of a PNG, as `Figure.savefig` takes them."""
    keys = {
        "Identifier": about.id,
        "Title": about.name,
        "Description": without_markup(about.alt),
        "Source": _source(about),
        "Software": _software(),
    }
    if about.creators:
        keys |= {"Author": ", ".join(about.creators), "Copyright": _RIGHTS}
    return keys


def pdf(about: Manifest) -> dict[str, Any]:
    """Return what a PDF's information holds, which has no field for an id or a licence."""
    keywords = [about.id, _source(about), *([_RIGHTS] if about.creators else [])]
    return {
        "Title": about.name,
        "Author": ", ".join(about.creators) or None,
        "Subject": without_markup(about.alt),
        "Keywords": ", ".join(keywords),
        "Creator": _software(),
        "CreationDate": None,
    }


def _source(about: Manifest) -> str:
    return f"notebooks/{about.notebook}.py" if about.creators else about.notebook


def _software() -> str:
    return f"chaos-utils {provenance.version()}"

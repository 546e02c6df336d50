"""The metadata inside a figure's files, in the terms of each format, without a date.

A figure that a reader draws outside the book's notebooks has no authors: its files name neither
author nor licence.
"""

from typing import Any

from chaos_utils.base import project
from chaos_utils.report import provenance
from chaos_utils.report.captions import without_markup
from chaos_utils.report.manifests import Manifest


def svg(manifest: Manifest) -> dict[str, Any]:
    """Return Dublin Core for an SVG, by matplotlib's names, as `Figure.savefig` takes it."""
    return {
        "Identifier": manifest.id,
        "Title": manifest.name,
        "Description": without_markup(manifest.alt),
        "Source": _source(manifest),
        "Language": "en",
        "Creator": manifest.creators or None,
        "Contributor": _software(),
        "Rights": [_rights()] if manifest.creators else None,
        "Date": None,
    }


def png(manifest: Manifest) -> dict[str, str]:
    """Return the text keys of a PNG, as `Figure.savefig` takes them."""
    keys = {
        "Identifier": manifest.id,
        "Title": manifest.name,
        "Description": without_markup(manifest.alt),
        "Source": _source(manifest),
        "Software": _software(),
    }
    if manifest.creators:
        keys |= {"Author": ", ".join(manifest.creators), "Copyright": _rights()}
    return keys


def pdf(manifest: Manifest) -> dict[str, Any]:
    """Return a PDF's metadata; it has no field for an id or a licence, so they are keywords."""
    keywords = [manifest.id, _source(manifest), *([_rights()] if manifest.creators else [])]
    return {
        "Title": manifest.name,
        "Author": ", ".join(manifest.creators) or None,
        "Subject": without_markup(manifest.alt),
        "Keywords": ", ".join(keywords),
        "Creator": _software(),
        "CreationDate": None,
    }


def _rights() -> str:
    licence = project.current().licences()["text"]
    return f"{licence.name}, {licence.url}"


def _source(manifest: Manifest) -> str:
    return f"notebooks/{manifest.notebook}.py" if manifest.creators else manifest.notebook


def _software() -> str:
    return f"chaos-utils {provenance.version()}"

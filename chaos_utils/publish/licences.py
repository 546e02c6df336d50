"""Which part of the site is under which licence, and how the pages say so."""

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from chaos_utils.base.authorship import LICENCE, LICENCE_NAME
from chaos_utils.datasets.catalogue import book_datasets, in_order
from chaos_utils.datasets.dataset import Dataset, Release
from chaos_utils.report.manifests import ItemCell, Manifest

CC_BY = LICENCE
CC_BY_NC = "https://creativecommons.org/licenses/by-nc/4.0/"
MIT = "https://spdx.org/licenses/MIT"
NAMES = {CC_BY: LICENCE_NAME, CC_BY_NC: "CC BY-NC 4.0", MIT: "MIT"}
COVERS = {
    CC_BY: "Text, figures, tables, their data, and results.",
    CC_BY_NC: "Texts of items, wherever they are shown, and votes by item.",
    MIT: "Code.",
}
# How the notice begins: of a page or file that holds texts of items, and of one that holds votes by
# item but no texts.
_TEXTS_PREFIX, _VOTES_PREFIX = "Item texts:", "Votes on items:"
_PARAGRAPH = '<p class="licence-notice">'
_TEXT_FILES = {".html", ".js", ".json", ".csv", ".txt"}


def notice(datasets: Sequence[Dataset]) -> str:
    """Return what a page or file that holds texts of items says of their licence.

    Datasets of one release are named together.
    """
    return f"{_TEXTS_PREFIX} {'. '.join(_licence_texts(datasets))}."


def votes_notice(datasets: Sequence[Dataset]) -> str:
    """Return what a file that holds votes by item, and no texts, says of their licence."""
    return f"{_VOTES_PREFIX} {'. '.join(_licence_texts(datasets))}."


def shown_datasets(manifest: Manifest) -> list[Dataset]:
    """Return the datasets whose items a table shows by their uids, with their votes."""
    cells = (cell for row in manifest.display.rows for cell in row)
    return in_order(cell.item.dataset for cell in cells if isinstance(cell, ItemCell))


def licence_of(manifest: Manifest) -> str:
    """Return the address of the licence of a figure or table and its data.

    Aggregates are under the book's own licence; a table of items with their votes is not.
    """
    return CC_BY_NC if shown_datasets(manifest) and not manifest.synthetic else CC_BY


def paragraph(text: str) -> str:
    """Return a notice, escaped, as the HTML paragraph that `files_with_item_texts` recognises."""
    return f"{_PARAGRAPH}{escape(text)}</p>"


def source(release: Release) -> str:
    """Return a release's title and credit; empty where it has neither."""
    return f"{release.title} ({release.credit})" if release.credit else release.title


def _licence_texts(datasets: Sequence[Dataset]) -> list[str]:
    """Return for each release the names of its datasets, its source and its licence."""
    names_by_release: dict[Release, list[str]] = {}
    for dataset in datasets:
        names_by_release.setdefault(dataset.release, []).append(dataset.short)
    texts = []
    for release, names in names_by_release.items():
        origin = f" of {source(release)}" if source(release) else ""
        texts.append(f"{_in_words(names)}{origin}; licence {release.licence}")
    return texts


def _in_words(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def files_with_item_texts(site: Path) -> list[str]:
    """Return the files of a site whose notice says that they hold texts of items.

    Paths are relative to the site's folder, and sorted.
    """
    return _files_with_notice(site, _TEXTS_PREFIX)


def files_with_votes(site: Path) -> list[str]:
    """Return the files of a site whose notice says that they hold votes by item, and no texts.

    Paths are as in `files_with_item_texts`.
    """
    pages = _files_with_notice(site, _VOTES_PREFIX)
    # The files of a table's data have no notice: its page has.
    data = (str(Path(page).with_suffix(suffix)) for page in pages for suffix in (".csv", ".json"))
    return sorted([*pages, *(name for name in data if (site / name).is_file())])


def _files_with_notice(site: Path, prefix: str) -> list[str]:
    """Return the files with a notice: a paragraph of a page, or a script's first comment."""
    pattern = re.compile(rf"({_PARAGRAPH}|^/\* ){prefix}", flags=re.MULTILINE)
    return sorted(
        path.relative_to(site).as_posix()
        for path in site.rglob("*")
        if path.suffix in _TEXT_FILES and path.is_file() and pattern.search(path.read_text("utf-8"))
    )


def overview(site: str, texts: list[str], votes: list[str]) -> str:
    """Return the release's file on licences, in Markdown.

    `site` is the site's folder in the release, `texts` its files that hold texts of items, and
    `votes` those that hold votes alone.
    """
    text_files, vote_files = (
        [f"- `{site}/{name}`" for name in names] or ["None."] for names in (texts, votes)
    )
    lines = [
        "# Licences",
        "",
        "| part | licence |",
        "| --- | --- |",
        f"| text, figures, tables and their data in `{site}/`, except what follows "
        f"| [CC BY 4.0]({CC_BY}) |",
        f"| `results/`: predictions, records and recorded tables | [CC BY 4.0]({CC_BY}) |",
        "| `results/submitted/`: predictions of others | each its own, in its `system.yml` |",
        f"| `results/tables/annotations.examples/`: votes on items | [CC BY-NC 4.0]({CC_BY_NC}) |",
        f"| code, in `{site}/notebooks/` and on pages | [MIT]({MIT}), see `LICENSE` |",
        "| others' texts and votes, in the files below | see there |",
        f"| others' styles, fonts and scripts in `{site}/_static/` | their own, named in them |",
        "",
        "## Files that hold texts of items",
        "",
        *(f"{text}." for text in _licence_texts(book_datasets())),
        "",
        *text_files,
        "",
        "## Files that hold votes by item",
        "",
        "The votes of these datasets on each item, without texts, and what was computed from them;",
        "the licences are the same.",
        "",
        *vote_files,
    ]
    return "\n".join(lines) + "\n"

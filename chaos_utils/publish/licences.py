"""Which part of the site is under which licence, and how the pages say so."""

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from chaos_utils.base import project
from chaos_utils.base.project import Group, Source
from chaos_utils.report.manifests import ItemCell, Manifest

# How the notice begins: of a page or file that holds texts of items, and of one that holds votes by
# item but no texts.
_TEXTS_PREFIX, _VOTES_PREFIX = "Item texts:", "Votes on items:"
_PARAGRAPH = '<p class="licence-notice">'
_TEXT_FILES = {".html", ".js", ".json", ".csv", ".txt"}


def notice(groups: Sequence[Group]) -> str:
    """Return what a page or file that holds texts of items says of their licence.

    Groups of one source are named together.
    """
    return f"{_TEXTS_PREFIX} {'. '.join(_licence_texts(groups))}."


def votes_notice(groups: Sequence[Group]) -> str:
    """Return what a file that holds votes by item, and no texts, says of their licence."""
    return f"{_VOTES_PREFIX} {'. '.join(_licence_texts(groups))}."


def shown_groups(manifest: Manifest) -> list[Group]:
    """Return the groups whose items a table shows by their uids, with their votes."""
    cells = (cell for row in manifest.display.rows for cell in row)
    names = [cell.item.dataset for cell in cells if isinstance(cell, ItemCell)]
    return project.current().groups(names)


def licence_of(manifest: Manifest) -> str:
    """Return the address of the licence of a figure or table and its data.

    Aggregates are under the book's own licence; a table of items with their votes is not.
    """
    kind = "items" if shown_groups(manifest) and not manifest.synthetic else "text"
    return project.current().licences()[kind].url


def paragraph(text: str) -> str:
    """Return a notice, escaped, as the HTML paragraph that `files_with_item_texts` recognises."""
    return f"{_PARAGRAPH}{escape(text)}</p>"


def _licence_texts(groups: Sequence[Group]) -> list[str]:
    """Return for each source the names of its groups, its title and its licence."""
    names_by_source: dict[Source, list[str]] = {}
    for group in groups:
        names_by_source.setdefault(group.source, []).append(group.title)
    texts = []
    for source, names in names_by_source.items():
        origin = f" of {source}" if str(source) else ""
        texts.append(f"{_in_words(names)}{origin}; licence {source.licence}")
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
        if path.suffix in _TEXT_FILES and path.is_file()
        if prefix in (text := path.read_text("utf-8")) and pattern.search(text)
    )


def overview(site: str, texts: list[str], votes: list[str]) -> str:
    """Return the release's file on licences, in Markdown.

    `site` is the site's folder in the release, `texts` its files that hold texts of items, and
    `votes` those that hold votes alone.
    """
    text_files, vote_files = (
        [f"- `{site}/{name}`" for name in names] or ["None."] for names in (texts, votes)
    )
    licences = project.current().licences()
    names = {part: f"[{licence.name}]({licence.url})" for part, licence in licences.items()}
    of_items = licences["items"].results if "items" in licences else ()
    lines = [
        "# Licences",
        "",
        "| part | licence |",
        "| --- | --- |",
        f"| text, figures, tables and their data in `{site}/`, except what follows "
        f"| {names['text']} |",
        f"| `results/`: predictions, records and recorded tables | {names['text']} |",
        "| `results/submitted/`: predictions of others | each its own, in its `system.yml` |",
        *(f"| `results/{folder}/`: votes on items | {names['items']} |" for folder in of_items),
        f"| code, in `{site}/notebooks/` and on pages | {names['code']}, see `LICENSE` |",
        "| others' texts and votes, in the files below | see there |",
        f"| others' styles, fonts and scripts in `{site}/_static/` | their own, named in them |",
        "",
        "## Files that hold texts of items",
        "",
        *(f"{text}." for text in _licence_texts(project.current().groups())),
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

"""Which part of the site is under which licence, and how the pages say so."""

import re
from pathlib import Path

from chaos_utils.base.authorship import LICENCE, LICENCE_NAME

CC_BY = LICENCE
CC_BY_NC = "https://creativecommons.org/licenses/by-nc/4.0/"
MIT = "https://spdx.org/licenses/MIT"
NAMES = {CC_BY: LICENCE_NAME, CC_BY_NC: "CC BY-NC 4.0", MIT: "MIT"}
COVERS = {
    CC_BY: "Text, figures, tables and results.",
    CC_BY_NC: "ChaosNLI: the texts of its items, wherever they are shown, and its votes by item.",
    MIT: "Code.",
}
# Every page or data file that holds texts of items says this; `holding_item_texts` looks for it.
NOTICE = (
    "Item texts: ChaosNLI (Nie, Zhou and Bansal 2020), from SNLI, MultiNLI and αNLI; "
    "licence CC BY-NC 4.0."
)
# A data file that holds votes item by item, and no texts, says this instead.
VOTES_NOTICE = "Votes on items: ChaosNLI (Nie, Zhou and Bansal 2020); licence CC BY-NC 4.0."
_TEXT_FILES = {".html", ".js", ".json", ".csv", ".txt"}


def holding_item_texts(site: Path) -> list[str]:
    """Return the files of a site that say that they hold texts of items.

    Parameters
    ----------
    site : Path
        Its folder.

    Returns
    -------
    list of str
        Paths from there, sorted.
    """
    return _carrying(site, NOTICE)


def holding_votes(site: Path) -> list[str]:
    """Return the files of a site that say that they hold votes by item, and no texts.

    Parameters
    ----------
    site : Path
        Its folder.

    Returns
    -------
    list of str
        Paths from there, sorted.
    """
    return _carrying(site, VOTES_NOTICE)


def _carrying(site: Path, notice: str) -> list[str]:
    return sorted(
        path.relative_to(site).as_posix()
        for path in site.rglob("*")
        if path.suffix in _TEXT_FILES and path.is_file() and _carries(path, notice)
    )


def _carries(path: Path, notice: str) -> bool:
    text = path.read_text("utf-8")
    if NAMES[CC_BY_NC] not in text:
        return False
    text = re.sub(r"<[^>]*>", "", text)
    return notice in " ".join(text.split())


def overview(site: str, texts: list[str], votes: list[str]) -> str:
    """Return the release's file on licences, in Markdown.

    Parameters
    ----------
    site : str
        The site's folder in the release.
    texts, votes : list of str
        Files of the site that hold texts of items, and those that hold votes alone.

    Returns
    -------
    str
    """
    listed = [[f"- `{site}/{name}`" for name in names] or ["None."] for names in (texts, votes)]
    lines = [
        "# Licences",
        "",
        "| part | licence |",
        "| --- | --- |",
        f"| text, figures and tables in `{site}/`, except what follows | [CC BY 4.0]({CC_BY}) |",
        f"| `results/`: predictions and records of runs | [CC BY 4.0]({CC_BY}) |",
        f"| code, in `{site}/notebooks/` and on pages | [MIT]({MIT}), see `LICENSE` |",
        f"| ChaosNLI's texts and votes, in the files below | [CC BY-NC 4.0]({CC_BY_NC}) |",
        f"| others' styles, fonts and scripts in `{site}/_static/` | their own, named in them |",
        "",
        "## Files that hold texts of items",
        "",
        "These texts are part of ChaosNLI (Nie, Zhou and Bansal 2020), from SNLI, MultiNLI and",
        "αNLI. They may not be used commercially.",
        "",
        *listed[0],
        "",
        "## Files that hold votes by item",
        "",
        "ChaosNLI's votes on each item, without texts, and what was computed from them. They may",
        "not be used commercially.",
        "",
        *listed[1],
    ]
    return "\n".join(lines) + "\n"

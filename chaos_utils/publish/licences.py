"""Which part of the site is under which licence, and how the pages say so."""

import re
from pathlib import Path

from chaos_utils.authorship import LICENCE, LICENCE_NAME

CC_BY = LICENCE
CC_BY_NC = "https://creativecommons.org/licenses/by-nc/4.0/"
MIT = "https://spdx.org/licenses/MIT"
NAMES = {CC_BY: LICENCE_NAME, CC_BY_NC: "CC BY-NC 4.0", MIT: "MIT"}
COVERS = {
    CC_BY: "Text, figures, tables and results.",
    CC_BY_NC: "The texts of ChaosNLI's items, wherever they are shown.",
    MIT: "Code.",
}
# Every page or data file that holds texts of items says this; `holding_item_texts` looks for it.
NOTICE = (
    "Item texts: ChaosNLI (Nie, Zhou and Bansal 2020), from SNLI, MultiNLI and αNLI; "
    "licence CC BY-NC 4.0."
)
_TEXT_FILES = {".html", ".js", ".json", ".csv", ".txt"}


def holding_item_texts(site: Path) -> list[str]:
    """Return the files of a site that carry the notice, by name.

    Parameters
    ----------
    site : Path
        Its folder.

    Returns
    -------
    list of str
        Paths from there, sorted.
    """
    return sorted(
        path.relative_to(site).as_posix()
        for path in site.rglob("*")
        if path.suffix in _TEXT_FILES and path.is_file() and _carries_notice(path)
    )


def _carries_notice(path: Path) -> bool:
    text = path.read_text("utf-8")
    if NAMES[CC_BY_NC] not in text:
        return False
    text = re.sub(r"<[^>]*>", "", text)
    return NOTICE in " ".join(text.split())


def overview(site: str, holding: list[str]) -> str:
    """Return the release's file on licences, in Markdown.

    Parameters
    ----------
    site : str
        The site's folder in the release.
    holding : list of str
        Files of the site that hold texts of items.

    Returns
    -------
    str
    """
    texts = [f"- `{site}/{name}`" for name in holding] or ["None."]
    lines = [
        "# Licences",
        "",
        "| part | licence |",
        "| --- | --- |",
        f"| text, figures and tables in `{site}/`, except what follows | [CC BY 4.0]({CC_BY}) |",
        f"| `results/`: predictions and records of runs | [CC BY 4.0]({CC_BY}) |",
        f"| code, in `{site}/notebooks/` and on pages | [MIT]({MIT}), see `LICENSE` |",
        f"| texts of ChaosNLI's items, in the files below | [CC BY-NC 4.0]({CC_BY_NC}) |",
        f"| others' styles, fonts and scripts in `{site}/_static/` | their own, named in them |",
        "",
        "## Files that hold texts of items",
        "",
        "These texts are part of ChaosNLI (Nie, Zhou and Bansal 2020), from SNLI, MultiNLI and",
        "αNLI. They may not be used commercially.",
        "",
        *texts,
    ]
    return "\n".join(lines) + "\n"

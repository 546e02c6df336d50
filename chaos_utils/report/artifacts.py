"""What figures and tables have in common: id, caption, data, and the files beside them.

Each is described by a manifest, ``<id>.json``, from which the book sets it and from
which its landing pages and citations are made.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaos_utils.base import paths
from chaos_utils.base.authorship import LICENCE
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_json, write_text
from chaos_utils.base.style import Mode
from chaos_utils.report import provenance
from chaos_utils.report.captions import first_sentence

if TYPE_CHECKING:
    import pandas as pd

    from chaos_utils.base.table import Table

FOLDER = paths.FIGURES
TITLES = Path(__file__).parent / "titles.yml"
SYNTHETIC_NOTE = "Synthetic sample"
ID = re.compile(r"(fig|tbl)(-[a-z0-9]+)+")


@dataclass(frozen=True, slots=True)
class Published:
    """A figure or table that has been written; shows itself as a cell's result.

    The book takes the Markdown (a directive that sets the object from its manifest); notebook
    viewers and the standalone page take the HTML: the object, its caption and its links.
    """

    id: str
    manifest: dict[str, Any] = field(repr=False)
    html: str = field(repr=False)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {
            "text/markdown": f"```{{published}} {self.id}\n```\n",
            "text/html": self.html,
            "text/plain": f"{self.id}: {self.manifest['title']}",
        }


def picture_name(id: str, mode: Mode, narrow: bool = False) -> str:
    """Return the name of a figure's picture for a look and a width of the page."""
    return f"{id}{'-narrow' if narrow else ''}{'-dark' if mode == 'dark' else ''}.svg"


def without_findings(id: str, table: "Table", caption: str, alt: str = "") -> tuple[str, str]:
    """Return caption and alt text as they may stand over this table.

    What they say was found was found on the book's votes. Of others, the caption gets the title
    that `TITLES` has for the id, and the alt text says no more.
    """
    title = _titles().get(id)
    if not title or not _is_of_others(table):
        return caption, alt
    caption = " ".join(caption.split())
    rest = caption[len(first_sentence(caption)) + 1 :].strip()
    if alt:
        alt = f"{title}, drawn from the table that can be downloaded beside it."
    return f"{title}. {rest}".strip(), alt


@cache
def _titles() -> Mapping[str, str]:
    from chaos_utils.base.yaml_files import read_yaml

    titles: Mapping[str, str] = read_yaml(TITLES)
    return titles


def _is_of_others(table: "Table") -> bool:
    """Whether a table is of a reader's votes, of invented ones, or of a dataset not in the book."""
    from chaos_utils.datasets.catalogue import bundled_datasets

    if table.synthetic or any(one.name.startswith("own-data/") for one in table.inputs):
        return True
    asked = provenance.current_context().parameters.get("data")
    return any(one.name == asked and not one.in_book for one in bundled_datasets())


def prepare(id: str, kind: str, table: "Table", caption: str) -> Path | None:
    """Check what the author gave, and return the folder to write into; None without rows.

    The id is ``fig-…`` or ``tbl-…``, and its own in the notebook; the caption is not empty.
    """
    from chaos_utils.base.table import Table  # slow to import

    prefix = {"figure": "fig", "table": "tbl"}[kind]
    where = f"{kind} {id!r}"
    if not ID.fullmatch(id) or not id.startswith(prefix):
        raise ChaosError(
            f"This id cannot be used for a {kind}.",
            found=repr(id),
            expected=f"{prefix}-… in lower-case letters, digits and hyphens",
        )
    if not isinstance(table, Table):
        raise ChaosError(
            f"A {kind} needs the table behind it.", where=where, found=type(table).__name__
        )
    if not caption.strip():
        raise ChaosError(f"A {kind} needs a caption.", where=where)
    if not len(table):
        return None
    folder = paths.run_folder() / FOLDER
    if paths.in_runner() and (folder / f"{id}.json").exists():
        raise ChaosError("Two figures or tables of this notebook have the same id.", found=id)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write(
    folder: Path,
    id: str,
    kind: str,
    table: "Table",
    caption: str,
    formats: list[str],
    **more: Any,
) -> dict[str, Any]:
    """Write the data and the manifest, and return the manifest.

    The caption of synthetic data is made to say so. `formats` are the suffixes of the files that
    the caller writes, and `more` are further entries of the manifest.
    """
    context = provenance.current_context()
    data, synthetic = table.rows, table.synthetic
    authors = provenance.authors()
    caption = " ".join(caption.split())
    if synthetic:
        caption = f"{SYNTHETIC_NOTE}, not a result. {caption}"
        data = data.assign(synthetic_sample=True)
    write_text(folder / f"{id}.csv", _safe(data).to_csv(index=False, lineterminator="\n"))
    manifest = {
        "id": id,
        "kind": kind,
        "title": first_sentence(caption.removeprefix(f"{SYNTHETIC_NOTE}, not a result. ")),
        "caption": caption,
        "synthetic": synthetic,
        "creators": list(authors),
        "licence": LICENCE if authors else None,
        "notebook": context.notebook,
        "parameters": dict(context.parameters),
        "inputs": [asdict(entry) for entry in table.inputs],
        "recorded": table.recorded,
        "outdated": table.origin.outdated,
        "software": provenance.software(),
        "formats": [*formats, "csv", "json"],
        **more,
        "keys": list(table.keys),
        "columns": list(data.columns),
        "data": json.loads(data.to_json(orient="records", double_precision=15)),
    }
    write_json(folder / f"{id}.json", manifest)
    return manifest


def _safe(data: "pd.DataFrame") -> "pd.DataFrame":
    """Return rows whose texts are as `safe_cell` gives them; all else is as it was."""
    import pandas as pd  # slow to import

    from chaos_utils.report.columns import safe_cell

    texts = [name for name in data if data[name].dtype.kind == "O"]
    return data.assign(
        **{
            name: pd.Series(map(safe_cell, data[name]), index=data.index, dtype=object)
            for name in texts
        }
    )

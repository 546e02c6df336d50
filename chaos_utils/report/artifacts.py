"""What figures and tables have in common: id, caption, data, and the files beside them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from chaos_utils.base import paths, project
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.report import provenance
from chaos_utils.report.captions import first_sentence
from chaos_utils.report.literal import in_html
from chaos_utils.report.manifests import ID, SYNTHETIC_NOTE, Format, Manifest

if TYPE_CHECKING:
    import pandas as pd

    from chaos_utils.base.table import Table

_ENDS = {"low": "lower end", "high": "upper end"}


@dataclass(frozen=True, slots=True)
class Artifact:
    """A figure or table that has been written; shows itself as a cell's result.

    The book takes the Markdown (a directive that sets the object from its manifest); notebook
    viewers and the standalone page take the HTML: the object, its caption and its links.
    """

    manifest: Manifest
    html: str = field(repr=False)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {
            "text/markdown": f"```{{published}} {self.manifest.id}\n```\n",
            "text/html": self.html,
            "text/plain": f"{self.manifest.id}: {self.manifest.title}",
        }


def _without_findings(id: str, table: "Table", caption: str, alt: str) -> tuple[str, str]:
    """Return caption and alt text, without their findings if the table shows other data.

    Findings hold for the book's data. On other data, a title without findings replaces the
    caption's first sentence, and the alt text says no more than the title.
    """
    book, parameters = project.current(), provenance.current_context().parameters
    title = book.shows_other_data(table.inputs, parameters) and book.neutral_title(id)
    if not title:
        return caption, alt
    caption = " ".join(caption.split())
    remainder = caption[len(first_sentence(caption)) + 1 :].strip()
    if alt:
        alt = f"{title}, drawn from the table that can be downloaded beside it."
    return f"{title}. {remainder}".strip(), alt


def has_rows(id: str, kind: str, table: object, caption: str) -> bool:
    """Check the arguments of a figure or table, and return whether it has rows to show.

    The id must be ``fig-…`` or ``tbl-…``, and no other of the notebook may have it; the caption
    must not be empty.
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
    if paths.in_runner() and (folder() / f"{id}.json").exists():
        raise ChaosError("Two figures or tables of this notebook have the same id.", found=id)
    return len(table) > 0


def describe(
    id: str,
    kind: Literal["figure", "table"],
    table: "Table",
    caption: str,
    alt: str = "",
    *,
    formats: Sequence[Format] = (),
    licence: str | None = None,
    code: Sequence[str] = (),
    meanings: Mapping[str, str] | None = None,
    **fields: Any,
) -> Manifest:
    """Return the manifest of a figure or table of the running notebook.

    If the data is synthetic, the caption says so. `formats` are the formats of the pictures,
    `licence` is the data's licence if it is not ours, `code` names the modules that draw,
    `meanings` say what columns are where the book does not, and `fields` are the fields that only a
    manifest of this kind has, other than `alt`, and ``marked``.
    """
    caption, alt = _without_findings(id, table, caption, alt)
    caption = " ".join(caption.split())
    if alt:
        fields["alt"] = " ".join(alt.split())
    context, authors, data = provenance.current_context(), provenance.authors(), _data(table)
    known = {**(meanings or {}), **project.current().meanings(id)}
    return Manifest(
        id=id,
        kind=kind,
        title=first_sentence(caption),
        caption=f"{SYNTHETIC_NOTE}, not a result. {caption}" if table.synthetic else caption,
        cautions=project.current().cautions(table.rows),
        synthetic=table.synthetic,
        creators=list(authors),
        licence=licence or (project.current().licences()["text"].url if authors else None),
        notebook=context.notebook,
        parameters=dict(context.parameters),
        inputs=list(table.inputs),
        recorded=table.recorded,
        outdated=table.origin.outdated,
        software=provenance.software_of(code),
        formats=[*formats, "csv", "json"],
        keys=list(table.keys),
        columns=list(data.columns),
        meanings=_meanings(data.columns, known),
        data=json.loads(data.to_json(orient="records", double_precision=15)),
        **fields,
    )


def _meanings(columns: Iterable[str], known: Mapping[str, str]) -> dict[str, str]:
    """Return what columns are, by name; also the ends of the interval of a known one."""
    meanings = {}
    for name in columns:
        value, _, end = name.rpartition("_")
        if name in known:
            meanings[name] = known[name]
        elif value in known and end in _ENDS:
            meanings[name] = f"{_ENDS[end]} of its interval ({value})"
    return meanings


def notes_html(manifest: Manifest) -> str:
    """Return the cautions about what is shown as HTML, outside the book."""
    return "".join(f"<p>{in_html(note)}</p>" for note in manifest.notes)


def folder() -> Path:
    """Return where the running notebook's figures and tables go."""
    return paths.run_folder() / paths.FIGURES


def write(manifest: Manifest, table: "Table") -> None:
    """Write the data and the manifest."""
    data = _with_safe_cells(_data(table)).to_csv(index=False, lineterminator="\n")
    write_text(folder() / f"{manifest.id}.csv", data)
    manifest.write(folder())


def _data(table: "Table") -> "pd.DataFrame":
    """Return the rows that readers download; a column of its own marks synthetic ones."""
    return table.rows.assign(synthetic_sample=True) if table.synthetic else table.rows


def _with_safe_cells(data: "pd.DataFrame") -> "pd.DataFrame":
    """Return rows with `safe_cell` applied to all texts."""
    import pandas as pd  # slow to import

    from chaos_utils.report.columns import safe_cell

    text_columns = [name for name in data if data[name].dtype.kind == "O"]
    return data.assign(
        **{
            name: pd.Series(map(safe_cell, data[name]), index=data.index, dtype=object)
            for name in text_columns
        }
    )

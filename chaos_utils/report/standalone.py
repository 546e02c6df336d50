"""One HTML file that shows a run, to read, send and cite. Sphinx makes the book's own pages."""

import base64
import copy
import re
from collections.abc import Sequence
from pathlib import Path

import nbformat

from chaos_utils.base import paths
from chaos_utils.base.authorship import read_citation
from chaos_utils.report import citations, policy
from chaos_utils.report.formulas import mathml
from chaos_utils.report.literal import in_html, in_markdown
from chaos_utils.report.manifests import Manifest, picture_name
from chaos_utils.report.provenance import RunRecord
from chaos_utils.report.values import fill_values

_BOOK_STYLES = Path(__file__).parents[1] / "assets" / "static" / "book.css"
# Roles that only the book can resolve, and their replacements on a standalone page.
_ROLES = (
    (re.compile(r"\{(?:numref|ref|eq)\}`(?:[^`]*(?:<|&lt;))?([\w-]+)(?:>|&gt;)?`"), r"`\1`"),
    (re.compile(r"\{cite(?::\w+)?\}`([^`]+)`"), r"[\1]"),
    (re.compile(r"\{doc\}`(?:[\w.-]*/)*([\w-]+)`"), r"`\1`"),
    (re.compile(r"\{(?:doc|term|explorer)\}`([^`<]+?)\s*(?:(?:<|&lt;)[^`]*)?`"), r"\1"),
    (re.compile(r"^\([\w-]+\)=\n", flags=re.MULTILINE), ""),
    (
        re.compile(
            r"^```\{(?:calculator|container|evaluate-file|executed|interactive|sortable)\}[^`]*```$",
            flags=re.MULTILINE,
        ),
        "",
    ),
)
# These override the notebook's styles: texts in tables stand at the left, lines are not too long.
_STYLES = """
.jp-RenderedHTMLCommon table.published :is(th, td):not(.number) { text-align: left; }
.jp-Notebook { max-width: 60rem; margin-inline: auto; }
.jp-RenderedHTMLCommon { overflow-x: auto; }
.jp-OutputArea-child + .jp-OutputArea-child { margin-top: 1.5rem; }
@media (max-width: 600px) {
  .jp-RenderedHTMLCommon figure { margin-inline: 0; }
  .jp-RenderedHTMLCommon table.published :is(th, td:not(.number)) { white-space: normal; }
}
"""
_CITATION_FORMATS = {"plain": "Plain text", "bibtex": "BibTeX", "csl": "CSL-JSON"}
_FORMULA = re.compile(r"(?<![\\$])\$([^\s$](?:[^$\n]*[^\s$])?)\$(?!\d)")


def page(
    notebook: nbformat.NotebookNode,
    name: str,
    record: RunRecord,
    manifests: Sequence[Manifest],
    run: Path,
) -> str:
    """Return a page that needs no other file: no script, and all styles and pictures within.

    It says which run it shows, and how each of its figures and tables is cited.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        The executed notebook.
    name : str
        The run's name.
    record : RunRecord
        The run's record, which need not have its outputs yet.
    manifests : sequence of Manifest
        The manifests of its figures and tables.
    run : Path
        The run's folder, which has the pictures for phones.

    Returns
    -------
    str
        The page, as HTML.
    """
    from nbconvert import HTMLExporter

    by_id = {manifest.id: manifest for manifest in manifests}
    # By the first line of the Markdown that an `Artifact` shows itself as.
    citations_after = {
        f"```{{published}} {manifest.id}": _citations(manifest, record) for manifest in manifests
    }
    notebook = copy.deepcopy(notebook)
    notebook.cells = [
        cell for cell in notebook.cells if "remove-cell" not in cell.metadata.get("tags", [])
    ]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = plain_roles(fill_values(by_id, cell.source))
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            first_line = data.get("text/markdown", "").partition("\n")[0]
            if first_line in citations_after:
                data["text/html"] += citations_after[first_line]
            for media_type in {"text/markdown", "text/html"} & set(data):
                data[media_type] = plain_roles(data[media_type])
    notebook.cells.insert(1, nbformat.v4.new_markdown_cell(_identity(record), id="identity"))
    exporter = HTMLExporter(
        exclude_input=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        mathjax_url="",
        require_js_url="",
        jquery_url="",
        mermaid_js_url="",
        widget_renderer_url="",
        jupyter_widgets_base_url="",
    )
    body, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": name}})
    body = policy.with_single_page_policy(re.sub(r"<script.*?</script>", "", body, flags=re.DOTALL))
    for id in by_id:
        body = _add_narrow_figure(body, id, run / paths.FIGURES)
    book_styles = _BOOK_STYLES.read_text("utf-8")
    body = body.replace("<html", '<html data-theme="light"', 1)
    return body.replace("</head>", f"<style>{book_styles}{_STYLES}</style>\n</head>", 1)


def _identity(record: RunRecord) -> str:
    """Return the line below the title, which says which run this is, in the words of citations."""
    words = citations.run_in_words(record)
    return f'<p class="run-identity">{in_markdown(words[:1].upper() + words[1:])}.</p>'


def _citations(manifest: Manifest, record: RunRecord) -> str:
    """Return the citations of a figure or table of a run, folded."""
    book = read_citation()
    parts = [f"<details><summary>Cite this {manifest.kind} of this run</summary>"]
    for format, title in _CITATION_FORMATS.items():
        text = citations.FORMATS[format](book, manifest, record).rstrip()
        parts.append(f"<h4>{title}</h4><pre>{in_html(text)}</pre>")
    return "".join([*parts, "</details>"])


def _add_narrow_figure(body: str, id: str, figures: Path) -> str:
    """Return the page with a figure's picture for phones, which they show instead."""
    path = figures / picture_name(id, "light", narrow=True)
    if not path.is_file():
        return body
    source = f"data:image/svg+xml;base64,{base64.b64encode(path.read_bytes()).decode()}"
    picture = rf'<picture><source media="(max-width: 600px)" srcset="{source}">\2</picture>'
    return re.sub(rf'(<figure id="{id}">)(<img [^>]*>)', rf"\1{picture}", body, count=1)


def plain_roles(text: str) -> str:
    """Replace roles and formulas in Markdown, which only the book resolves, by text and MathML."""
    for pattern, replacement in _ROLES:
        text = pattern.sub(replacement, text)
    return _FORMULA.sub(_as_mathml, text)


def _as_mathml(formula: re.Match[str]) -> str:
    try:
        return mathml(formula[1])
    except Exception:  # the library raises errors of its own kinds: no formula, then
        return formula[0]

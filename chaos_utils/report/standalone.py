"""One HTML file that shows a run, for reading and sending; the book's pages are made by Sphinx."""

import copy
import re

import nbformat
from latex2mathml.converter import convert

from chaos_utils.base import paths
from chaos_utils.report.values import Manifests, with_values

# Roles that only the book can resolve, and what stands for them on a page of its own.
_ROLES = (
    (re.compile(r"\{(?:numref|ref|eq)\}`(?:[^`]*(?:<|&lt;))?([\w-]+)(?:>|&gt;)?`"), r"`\1`"),
    (re.compile(r"\{cite(?::\w+)?\}`([^`]+)`"), r"[\1]"),
    (re.compile(r"\{doc\}`(?:[\w.-]*/)*([\w-]+)`"), r"`\1`"),
    (re.compile(r"\{(?:doc|term|explorer)\}`([^`<]+?)\s*(?:(?:<|&lt;)[^`]*)?`"), r"\1"),
    (re.compile(r"^\([\w-]+\)=\n", flags=re.MULTILINE), ""),
    (re.compile(r"^```\{(?:interactive|evaluate-file)\}[^`]*```$", flags=re.MULTILINE), ""),
)
_FORMULA = re.compile(r"(?<![\\$])\$([^\s$](?:[^$\n]*[^\s$])?)\$(?!\d)")


def page(notebook: nbformat.NotebookNode, manifests: Manifests) -> str:
    """Return a page with everything in it: no script, style or picture from elsewhere.

    `manifests` are those of the run's figures and tables, by id.
    """
    from nbconvert import HTMLExporter

    shown = copy.deepcopy(notebook)
    shown.cells = [
        cell for cell in shown.cells if "remove-cell" not in cell.metadata.get("tags", [])
    ]
    for cell in shown.cells:
        if cell.cell_type == "markdown":
            cell.source = plain_roles(with_values(manifests, cell.source))
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            for kind in {"text/markdown", "text/html"} & set(data):
                data[kind] = plain_roles(data[kind])
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
    body, _ = exporter.from_notebook_node(shown)
    body = re.sub(r"<script.*?</script>", "", body, flags=re.DOTALL)
    look = (paths.project() / "book" / "_static" / "book.css").read_text("utf-8")
    body = body.replace("<html", '<html data-theme="light"', 1)
    return body.replace("</head>", f"<style>{look}</style>\n</head>", 1)


def plain_roles(text: str) -> str:
    """Replace the book's roles and formulas in Markdown by what shows without the book."""
    for pattern, replacement in _ROLES:
        text = pattern.sub(replacement, text)
    return _FORMULA.sub(_as_mathml, text)


def _as_mathml(formula: re.Match[str]) -> str:
    try:
        return str(convert(formula[1]))
    except Exception:  # the library raises errors of its own kinds: no formula, then
        return formula[0]

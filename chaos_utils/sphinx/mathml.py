"""Formulas as MathML: browsers set it themselves, so pages need no script, font or network."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from chaos_utils.report.formulas import mathml


def _visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def _visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a displayed formula, with its number if any."""
    formula = mathml(node.astext(), display="block")
    # A long formula scrolls in its box, which the keyboard must reach.
    box = {"class": "math-block", "tabindex": "0", "role": "group", "aria-label": "Formula"}
    self.body.append(self.starttag(node, "div", **box))
    self.body.append(formula)
    if node.get("number"):
        self.body.append(f'<span class="equation-number">({node["number"]})</span>')
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))

import re
from html import unescape

import pytest

from chaos_utils.report.captions import caption_html
from chaos_utils.report.formulas import mathml
from chaos_utils.report.standalone import plain_roles


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("see {numref}`fig-a`", "see `fig-a`"),
        ("it says so {cite:p}`a,b`.", "it says so [a,b]."),
        ("{doc}`the chapter <x>`", "the chapter"),
        ("{term}`entropy` and {term}`the error <ECE, majority label>`", "entropy and the error"),
        ("{term}`a temperature &lt;temperature scaling&gt;` of 2", "a temperature of 2"),
        ("(a-place)=\n# Title", "# Title"),
        ("Choose.\n\n```{evaluate-file}\n```\n", "Choose.\n\n\n"),
        ("```{calculator} votes\n```\n", "\n"),
        ("```{interactive} fig-a\n:measures: jsd\n```\n", "\n"),
        ("```{sortable} tbl-a\n```\n", "\n"),
        ("```{container} with-script\nDrag the slider.\n```\n", "\n"),
        ("```{note}\nRead this.\n```\n", "```{note}\nRead this.\n```\n"),
        ("costs $5 and $6", "costs $5 and $6"),
    ],
)
def test_roles_become_text(text, plain):
    assert plain_roles(text) == plain


def test_formulas_become_mathml():
    assert plain_roles(r"is $\log_2 3$ bits").startswith("is <math")


@pytest.mark.parametrize(
    ("formula", "spaces", "shown"),
    [
        (r"p_k \log p_k", 2, "pk log pk"),
        (r"\log_2 3", 1, "log2 3"),
        (r"\log_{10} x", 1, "log10 x"),
        (r"h \log (h / m)", 1, "h log(h/m)"),
        (r"\sqrt{\ln 2} - \ln x", 2, "ln 2−ln x"),
        (r"\ln\left(v\right)", 0, "ln(v)"),
    ],
)
def test_logarithms_are_spaced_as_in_print(formula, spaces, shown):
    made = mathml(formula)
    assert made.count("<mspace") == spaces
    assert re.sub("<[^>]*>", "", re.sub("<mspace[^>]*>", " ", unescape(made))) == shown


def test_a_caption_keeps_its_emphasis_and_shows_its_signs():
    shown = caption_html("*Paper* is **bold** <b>; {term}`x <y>`, 3 * 4 * 5.")
    assert shown.startswith("<em>Paper</em> is <em>bold</em> &lt;b&gt;; ")
    assert plain_roles(shown).endswith("; x, 3 * 4 * 5.")

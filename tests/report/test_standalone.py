import pytest

from chaos_utils.report.standalone import plain_roles


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("see {numref}`fig-a`", "see `fig-a`"),
        ("see {numref}`here <fig-a>`", "see `fig-a`"),
        ("{cite:t}`nie2020` asked", "[nie2020] asked"),
        ("it says so {cite:p}`a,b`.", "it says so [a,b]."),
        ("{doc}`the chapter <x>`", "the chapter"),
        ("{term}`entropy` and {term}`the error <ECE, majority label>`", "entropy and the error"),
        ("(a-place)=\n# Title", "# Title"),
        ("Choose.\n\n```{a-place}\n```\n", "Choose.\n\n\n"),
        ("`code {x}`", "`code {x}`"),
        ("costs $5 and $6", "costs $5 and $6"),
    ],
)
def test_roles_become_text(text, plain):
    assert plain_roles(text) == plain


def test_formulas_become_mathml():
    assert plain_roles(r"is $\log_2 3$ bits").startswith("is <math")

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
        ("(a-place)=\n# Title", "# Title"),
        ("`code {x}`", "`code {x}`"),
    ],
)
def test_roles_become_text(text, plain):
    assert plain_roles(text) == plain

import pytest
from helpers.checkout import PROJECT

from chaos_utils.base.errors import ChaosError
from chaos_utils.report.captions import caption_html
from chaos_utils.report.console import block, transcript
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
        ("```{interactive} fig-a\n:measures: jsd\n```\n", "\n"),
        ("```{note}\nRead this.\n```\n", "```{note}\nRead this.\n```\n"),
        ("costs $5 and $6", "costs $5 and $6"),
    ],
)
def test_roles_become_text(text, plain):
    assert plain_roles(text) == plain


def test_formulas_become_mathml():
    assert plain_roles(r"is $\log_2 3$ bits").startswith("is <math")


def test_a_caption_keeps_its_emphasis_and_shows_its_signs():
    shown = caption_html("*Paper* is **bold** <b>; {term}`x <y>`, 3 * 4 * 5.")
    assert shown.startswith("<em>Paper</em> is <em>bold</em> &lt;b&gt;; ")
    assert plain_roles(shown).endswith("; x, 3 * 4 * 5.")


def test_a_command_is_shown_with_its_answer_and_no_colours(tmp_path, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as a notebook's kernel does
    (tmp_path / "empty.csv").write_text("")
    shown = transcript("chaos evaluate empty.csv --data sample", tmp_path, code=2)
    assert shown.startswith("$ chaos evaluate empty.csv --data sample\n")
    assert "The data file is empty." in shown
    assert "\x1b" not in shown
    assert str(tmp_path) not in shown


def test_only_our_own_commands_that_end_as_said_are_shown(tmp_path):
    with pytest.raises(ChaosError, match=r"exit code 2\n.*No such notebook"):
        transcript("chaos params nothing", PROJECT)
    with pytest.raises(ChaosError, match="Only `chaos` commands"):
        transcript("touch made", tmp_path)
    assert not (tmp_path / "made").exists()


def test_nothing_inside_a_block_ends_it():
    assert block("a\n```\n<b>", "text").data == "````text\na\n```\n<b>\n````"

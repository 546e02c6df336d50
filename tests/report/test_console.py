import pytest
from helpers.checkout import PROJECT

from chaos_utils.base.errors import ChaosError
from chaos_utils.report.console import block, transcript


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

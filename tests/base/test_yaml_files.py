"""YAML that a person may have broken is one error, and never fills the memory."""

import pytest
from helpers.faults import refused

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.yaml_files import read_yaml


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: [", "line 2"),
        ("x: 1\na: 1\na: 2\n", "line 3: 'a' occurs twice"),
        ("a: &a [x]\nb: *a\n", "an alias"),
        ("[" * 100_000, "nested too deeply"),
        ("a: 2026-13-45", "month"),
        ("{a: 1}: 2", "line 1: a name must be one word"),
        (b"a: \xff", "byte 3"),
    ],
)
def test_what_is_not_is_one_error_that_names_the_file(tmp_path, text, found):
    path = tmp_path / "a.yml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with refused(problem="The list ", where=str(path), any=found):
        read_yaml(path, "The list")


def test_a_file_is_read_as_utf_8_and_one_that_is_not_there_is_one_error(tmp_path):
    with pytest.raises(ChaosError, match="cannot be read"):
        read_yaml(tmp_path / "a.yml")
    (tmp_path / "a.yml").write_text("a: [1, é]\n", "utf-8")
    assert read_yaml(tmp_path / "a.yml") == {"a": [1, "é"]}

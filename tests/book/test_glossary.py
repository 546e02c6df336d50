"""The glossary against the measures and functions that it speaks of."""

import importlib
import re
from itertools import groupby

import pytest
from helpers.checkout import PROJECT

from chaos_utils.metrics.measures import MEASURES

TEXT = (PROJECT / "book" / "glossary.md").read_text("utf-8")
BETTER = {"lower": "Lower is better", "higher": "Higher is better", "zero": "Best at 0"}


def definitions():
    """Return the definition of each term; synonyms share one."""
    found = {}
    for block in re.findall(r"```\{glossary\}\n(.*?)```", TEXT, re.DOTALL):
        terms = []
        lines = [line for line in block.splitlines() if line.strip()]
        for indented, group in groupby(lines, key=lambda line: line.startswith("    ")):
            if indented:
                found |= dict.fromkeys(terms, " ".join(line.strip() for line in group))
            else:
                terms = list(group)
    return found


@pytest.mark.parametrize("measure", MEASURES.values(), ids=lambda measure: measure.name)
def test_every_measure_that_is_reported_is_defined(measure):
    text = definitions()[measure.title]
    assert f"`{measure.name}`" in text
    assert BETTER[measure.better] in text
    assert "chaos_utils." in text


def test_every_function_that_it_names_is_there():
    names = re.findall(r"`(chaos_utils[\w.]+)`", TEXT)
    assert len(names) > len(MEASURES)
    for name in names:
        module, _, function = name.rpartition(".")
        assert callable(getattr(importlib.import_module(module), function)), name

"""The reference of the package: what it lists is documented in full, and nothing else is wrong."""

import dataclasses
import importlib
import inspect
import re
import warnings
from itertools import groupby

import pytest
from chaos_book.reference import entries
from helpers.checkout import PROJECT
from numpydoc.docscrape import NumpyDocString

import chaos_utils
from chaos_utils.metrics.measures import MEASURES

PAGE = PROJECT / "book" / "reference.md"
BLOCKS = re.findall(r"^\.\. objects::\n\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.M)
LISTED = [entry for block in BLOCKS for entry in entries(block.splitlines())]
STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def sections_of(docstring):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpydoc warns of sections that it cannot read
        return NumpyDocString(inspect.cleandoc(docstring or ""))


def named_in(sections):
    """Return the names in the sections on parameters and attributes."""
    entries = [*sections["Parameters"], *sections["Attributes"]]
    return {name for entry in entries for name in entry.name.split(", ")}


def taken_by(thing):
    """Return the names of what a function takes, or an object of a class is made of."""
    if dataclasses.is_dataclass(thing):
        return {one.name for one in dataclasses.fields(thing) if not one.name.startswith("_")}
    if hasattr(thing, "model_fields"):
        inherited = {name for base in thing.__bases__ for name in getattr(base, "model_fields", ())}
        return thing.model_fields.keys() - inherited
    parameters = inspect.signature(thing).parameters.values()
    return {STARS.get(one.kind, "") + one.name for one in parameters} - {"self", "cls"}


def functions_in(thing):
    """Return a function, or the public methods of a class."""
    if not inspect.isclass(thing):
        return [thing]
    members = {name: getattr(member, "__func__", member) for name, member in vars(thing).items()}
    return [one for name, one in members.items() if inspect.isfunction(one) and name[0] != "_"]


@pytest.mark.parametrize(("module", "name"), LISTED)
def test_what_is_listed_is_documented_in_full(module, name):
    thing = inspect.unwrap(getattr(importlib.import_module(module), name))
    assert thing.__module__ == module
    if inspect.isclass(thing):
        assert taken_by(thing) == named_in(sections_of(thing.__doc__)) & taken_by(thing)
    for function in functions_in(thing):
        sections = sections_of(function.__doc__)
        assert len(sections["Summary"]) == 1, function
        assert named_in(sections) == taken_by(function), function
        answers = inspect.signature(function).return_annotation not in (None, "None")
        assert answers == bool(sections["Returns"] or sections["Yields"]), function


def test_the_list_is_short_and_holds_all_that_the_package_offers():
    assert len(LISTED) == len(set(LISTED))
    assert 100 < len(LISTED) <= 160
    offered = {getattr(chaos_utils, name) for name in chaos_utils.__all__ if name[0] != "_"}
    assert offered <= {getattr(importlib.import_module(module), name) for module, name in LISTED}


@pytest.mark.slow
def test_the_page_documents_what_is_listed_and_old_addresses_lead_to_it(sample_checkout):
    site = sample_checkout / "_build" / "html"
    text = (site / "reference.html").read_text("utf-8")
    documented = re.findall(r'<dt class="sig[^>]*id="([^"]+)"', text)
    assert {f"{module}.{name}" for module, name in LISTED} <= set(documented)
    assert len(documented) < 250  # with methods
    assert " at 0x" not in text
    moved = (site / "reference" / "metrics.html").read_text("utf-8")
    assert 'location.replace("../reference.html" + location.hash)' in moved


# The glossary, against the measures and functions that it speaks of

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

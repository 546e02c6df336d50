"""The reference of the package: what it lists is told of, and docstrings have no empty headings."""

import ast
import dataclasses
import importlib
import inspect
import re
import warnings
from itertools import groupby

import pytest
from helpers.checkout import PROJECT
from numpydoc.docscrape import NumpyDocString

import chaos_utils
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.sphinx.reference import entries

CODE = re.compile(r"`(\w+)").findall
PAGE = (PROJECT / "book" / "reference.md").read_text("utf-8")
BLOCKS = re.findall(r"^\.\. objects::\n\n(.*?)^```", PAGE, re.DOTALL | re.M)
OFFERED, *REST = (list(entries(block.splitlines())) for block in BLOCKS)
LISTED = [*OFFERED, *(entry for block in REST for entry in block)]
SAID_ONCE = {name for line in PAGE.splitlines() if line[:3] == "| `" for name in CODE(line)}
HEADINGS = ("Parameters", "Attributes", "Returns", "Yields", "Raises")


def sections_of(docstring):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpydoc warns of sections that it cannot read
        return NumpyDocString(inspect.cleandoc(docstring or ""))


def named_in(sections):
    """Return the names in the sections on parameters and attributes."""
    entries = [*sections["Parameters"], *sections["Attributes"]]
    return {name.strip("*") for entry in entries for name in entry.name.split(", ")}


def taken_by(thing):
    """Return the names of what a function takes, or an object of a class is made of."""
    if dataclasses.is_dataclass(thing):
        return {one.name for one in dataclasses.fields(thing) if not one.name.startswith("_")}
    if hasattr(thing, "model_fields"):
        inherited = {name for base in thing.__bases__ for name in getattr(base, "model_fields", ())}
        return thing.model_fields.keys() - inherited
    return set(inspect.signature(thing).parameters) - {"self", "cls"}


def functions_in(thing):
    """Return a function, or the public methods of a class."""
    if not inspect.isclass(thing):
        return [thing]
    members = {name: getattr(member, "__func__", member) for name, member in vars(thing).items()}
    return [one for name, one in members.items() if inspect.isfunction(one) and name[0] != "_"]


def is_told(thing, docstring, *, in_full):
    """Whether one line says what it is, and all that it takes, or is made of, is told of.

    In sections, in the text, or once for all on the page; what the package offers, in sections.
    """
    sections, taken = sections_of(docstring), taken_by(thing)
    named = named_in(sections)
    told = named if in_full else named | set(CODE(docstring)) | SAID_ONCE
    unknown = set() if inspect.isclass(thing) else named - taken  # a class has properties too
    return len(sections["Summary"]) == 1 and taken <= told and not unknown


@pytest.mark.parametrize(("module", "name"), LISTED)
def test_what_is_listed_is_told(module, name):
    thing = inspect.unwrap(getattr(importlib.import_module(module), name))
    assert thing.__module__ == module
    in_full = (module, name) in OFFERED
    if inspect.isclass(thing):
        assert is_told(thing, thing.__doc__, in_full=in_full)
    for function in functions_in(thing):
        assert is_told(function, function.__doc__, in_full=in_full), function
        if in_full and inspect.signature(function).return_annotation not in (None, "None"):
            sections = sections_of(function.__doc__)
            assert sections["Returns"] or sections["Yields"], function


def test_the_list_is_short_and_holds_all_that_the_package_offers():
    assert len(LISTED) == len(set(LISTED))
    assert 100 < len(LISTED) <= 160
    offered = {getattr(chaos_utils, name) for name in chaos_utils.__all__ if name[0] != "_"}
    assert offered <= {getattr(importlib.import_module(module), name) for module, name in LISTED}


def test_no_heading_of_a_docstring_is_without_words():
    empty = []
    for path in sorted((PROJECT / "chaos_utils").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            sections = sections_of(ast.get_docstring(node))
            for heading in HEADINGS:
                if sections[heading] and not any(entry.desc for entry in sections[heading]):
                    empty.append(f"{path.relative_to(PROJECT)}, {node.name}: {heading}")
    assert not empty, "say something, or leave the heading out:\n" + "\n".join(empty)


@pytest.mark.slow
def test_the_page_documents_what_is_listed_and_old_addresses_lead_to_it(sample_checkout):
    site = sample_checkout / "_build" / "html"
    text = (site / "reference.html").read_text("utf-8")
    assert "ConfigDict" not in text  # documented by pydantic, for its own site
    documented = re.findall(r'<dt class="sig[^>]*id="([^"]+)"', text)
    assert {f"{module}.{name}" for module, name in LISTED} <= set(documented)
    assert len(documented) < 250  # with methods
    assert " at 0x" not in text
    moved = (site / "reference" / "metrics.html").read_text("utf-8")
    assert 'location.replace("../reference.html" + location.search + location.hash)' in moved


# The glossary, against the measures and functions that it speaks of

TEXT = (PROJECT / "book" / "glossary.md").read_text("utf-8")
BETTER = {"lower": "Lower is better", "higher": "Higher is better", "zero": "best at 0"}


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

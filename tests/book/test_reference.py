"""The reference of the package: what is in it, and where the chapters' code leads."""

import dataclasses
import inspect
import re
import warnings

import pytest
from chaos_book import reference
from helpers.checkout import PROJECT
from numpydoc.docscrape import NumpyDocString

ROOMS = sorted(
    path.stem
    for path in (PROJECT / "chaos_utils").iterdir()
    if (path / "__init__.py").is_file() or path.suffix == ".py"
)
MODULES = [
    module
    for room in ROOMS
    if room not in ("__init__", "cli")
    for module in reference.modules_of(f"chaos_utils.{room}")
]


def public_things(module):
    """Yield name and thing of a module's functions and classes, and of these classes' methods."""
    for name in reference.public_names(module):
        thing = inspect.unwrap(getattr(module, name))
        yield name, thing
        for member in vars(thing) if inspect.isclass(thing) else ():
            method = getattr(thing, member)
            if not member.startswith("_") and (
                inspect.isfunction(method) or inspect.ismethod(method)
            ):
                yield f"{name}.{member}", method


def parameters_of(thing):
    """Return the names of what a function takes, or a dataclass holds, as numpydoc writes them."""
    if dataclasses.is_dataclass(thing):
        names = [field.name for field in dataclasses.fields(thing)]
        return {name for name in names if not name.startswith("_")}
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    parameters = inspect.signature(thing).parameters.values() if inspect.isroutine(thing) else ()
    return {stars.get(one.kind, "") + one.name for one in parameters} - {"self"}


def documented_in(docstring):
    """Return the names in the sections on parameters and attributes."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpydoc warns of sections that it cannot read
        sections = NumpyDocString(docstring)
    entries = [*sections["Parameters"], *sections["Attributes"]]
    return {name for entry in entries for name in entry.name.split(", ")}


@pytest.fixture(scope="module")
def pages(sample_checkout):
    folder = sample_checkout / "_build" / "html" / "reference"
    return {path.stem: path.read_text("utf-8") for path in folder.glob("*.html")}


@pytest.mark.slow
def test_every_public_function_and_class_is_documented(pages):
    text = "".join(pages.values())
    documented = set(re.findall(r'<dt class="sig[^>]*id="([^"]+)"', text))
    rooms = {path.stem for path in (PROJECT / "book" / "reference").glob("*.rst")}
    assert {"metrics", "datasets", "scoring", "analyses"} <= rooms
    names = {
        f"{module.__name__}.{name}"
        for module in MODULES
        if module.__name__.split(".")[1] in rooms
        for name in reference.public_names(module)
    }
    assert len(names) > 400
    assert names <= documented


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_name_has_a_summary_of_one_line(module):
    for name in reference.public_names(module):
        summary = (getattr(module, name).__doc__ or "").strip().split("\n\n")[0]
        assert summary.endswith((".", ":")), f"{module.__name__}.{name}"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_parameter_is_documented_and_none_that_is_not_there(module):
    for name, thing in public_things(module):
        docstring, taken = inspect.getdoc(thing) or "", parameters_of(thing)
        documented = documented_in(docstring)
        where = f"{module.__name__}.{name}"
        if not inspect.isclass(thing):
            assert documented <= taken, where
        # Elsewhere one good line is enough, and what has no more to it than its type is left out.
        room = module.__name__.split(".")[1]
        if room == "metrics" or (documented and room in ("datasets", "scoring")):
            assert taken <= documented, where


@pytest.mark.slow
def test_no_page_is_too_large_or_shows_an_address_in_memory(pages):
    for name, text in pages.items():
        assert len(text.encode()) < 1_500_000, name
        assert " at 0x" not in text, name


@pytest.mark.slow
def test_code_in_the_chapters_leads_to_the_reference(sample_checkout):
    site = sample_checkout / "_build" / "html"
    for path in (site / "chapters").glob("*.html"):
        assert re.search(r'href="\.\./reference/\w+\.html#chaos_utils\.', path.read_text()), path

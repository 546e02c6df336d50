import pytest
import yaml
from helpers.checkout import PROJECT

from chaos_utils.base.authorship import read_citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.publish import contents, registry

TEXT = """\
fig-b: 0.1.0
fig-a: 0.1.0
fig-old: {since: 0.1.0, moved_to: fig-a}
fig-wrong: {since: 0.1.0, withdrawn: "Counted <twice>."}
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write the registry of a project, and the list of its moved pages."""
    (tmp_path / "book").mkdir()
    monkeypatch.setattr(registry.paths, "project", lambda: tmp_path)

    def call(text="", moved=""):
        (tmp_path / "book" / "figures.yml").write_text(text)
        (tmp_path / "book" / "redirects.yml").write_text(moved)

    return call


def test_what_has_moved_or_gone_is_known(write):
    write(TEXT)
    known = registry.read_registry()
    assert known.ids == ("fig-b", "fig-a")
    assert {id: entry.moved_to for id, entry in known.redirects.items()} == {
        "fig-old": "fig-a",
        "fig-wrong": "",
    }
    assert contents.current_id("fig-old") == "fig-a"
    assert contents.current_id("fig-b") == "fig-b"
    with pytest.raises(ChaosError, match="Counted <twice>"):
        contents.current_id("fig-wrong")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("fig-a: 0.2.0", r"line 5[^$]*'fig-a' occurs twice"),
        ("fig-../x: 0.1.0", "not an id"),
        ("fig-new: 0.1", "expected a version"),
        ("fig-new: {moved_to: fig-a}", "since: is missing"),
        ("fig-new: {since: 0.1.0, withdrawn: }", "withdrawn: found nothing; expected text"),
        ("fig-new: {since: 0.1.0, moved_to: fig-a, withdrawn: x}", "either moved_to: ID or"),
        ("fig-new: {since: 0.1.0, moved_to: fig-aa}", r"fig-new[^$]*did you mean 'fig-a'"),
        ("fig-new: {since: 0.1.0, moved_to: ../../etc}", r"fig-new[^$]*\.\./\.\./etc"),
        ("fig-new: {since: 0.1.0, moved_to: fig-old}", "not moved or gone itself[^$]*fig-old"),
        ("[fig-x, fig-y]: 0.1.0", r"line 5[^$]*no list"),
    ],
)  # fmt: skip
def test_a_registry_that_cannot_be_used_is_refused(write, line, message):
    write(f"{TEXT}{line}\n")
    with pytest.raises(ChaosError, match=message):
        registry.read_registry()


def test_what_is_made_is_what_is_registered(write):
    write(TEXT)
    known = registry.read_registry()
    known.check({"fig-a", "fig-b"})
    for made, message in (
        ({"fig-a"}, r"no notebook makes: fig-b[^$]*moved_to: NEW-ID"),
        ({"fig-a", "fig-b", "fig-c"}, "register these ids in book/figures.yml: fig-c"),
        ({"fig-a", "fig-b", "fig-old"}, "although moved or withdrawn: fig-old"),
    ):
        with pytest.raises(ChaosError, match=message):
            known.check(made)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("index: chapters/results", "still there"),
        ("old: chapters/result", "did you mean 'chapters/results'"),
        ("../old: index", "not the name of a page"),
        ("old: ../../index", "not the name of a page"),
        ("old: index\nold: index", "'old' occurs twice"),
    ],
)
def test_a_moved_page_that_cannot_be_served_is_refused(write, line, message):
    pages = {"index", "chapters/results"}
    write(moved="chapters/outcome: chapters/results\n")
    assert registry.read_moved_pages(pages) == {"chapters/outcome": "chapters/results"}
    write(moved=f"{line}\n")
    with pytest.raises(ChaosError, match=message):
        registry.read_moved_pages(pages)


def test_no_id_is_newer_than_the_book():
    book = read_citation(PROJECT / "CITATION.cff")
    content = yaml.safe_load((PROJECT / "book" / "figures.yml").read_text("utf-8"))
    versions = [one["since"] if isinstance(one, dict) else one for one in content.values()]
    numbers = [tuple(map(int, version.split("."))) for version in (*versions, book.version)]
    assert max(numbers) == numbers[-1]

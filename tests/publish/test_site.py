"""The site as a whole: links inside it, and pages that are made side by side."""

import os
import shutil

import pytest
from helpers.checkout import PROJECT

from chaos_utils.base import inputs
from chaos_utils.base.errors import ChaosError
from chaos_utils.publish import crate, site
from chaos_utils.publish.site import Page, broken_links

SMALL_BOOK = PROJECT / "tests" / "book" / "small_book"


def test_broken_links_are_reported_with_their_page(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.html").write_text(
        '<a href="sub/b.html#there">1</a><a href="sub/b.html#gone">2</a><a href="c.html">3</a>'
        '<a href="#here">4</a><p id="here"></p><a href="https://example.org/x">5</a>'
        '<img src="no.png"><img src="sub/p%20q.png"><a href="sub/">6</a>'
    )
    (tmp_path / "sub" / "b.html").write_text('<p id="there"></p><a href="../a.html">up</a>')
    (tmp_path / "sub" / "p q.png").write_bytes(b"")
    (tmp_path / "sub" / "index.html").write_text("")
    assert list(broken_links(tmp_path)) == [
        "a.html: sub/b.html#gone leads to no place on that page",
        "a.html: c.html leads to no file",
        "a.html: no.png leads to no file",
    ]


def test_links_and_places_are_read_as_a_browser_would(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        "<!-- <a href=\"no\"> --><A HREF='a?x=1&amp;y' title='href=\"no\"'>1</A><p id=b>"
        '<script src="c.js">"<a href=no>" // <!--</script><style>a[href="no"] {}</style>'
        '<img\n alt="a > b" src = "d.svg"><a href="">here</a>'
    )
    found = Page(page)
    assert list(found.links) == ["a?x=1&y", "c.js", "d.svg", ""]
    assert found.ids == {"b"}


@pytest.mark.parametrize("changes", [False, True])
def test_after_a_fault_in_a_draft_pages_are_kept_unless_one_has_changed_meanwhile(
    tmp_path, monkeypatch, changes
):
    book = shutil.copytree(SMALL_BOOK, tmp_path / "book")
    monkeypatch.chdir(book)
    workplace = tmp_path / "work"
    made = workplace / site.HTML / "index.html"
    kept = []

    def make_pages(*_, **__):
        kept.append(made.is_file())
        made.parent.mkdir(parents=True, exist_ok=True)
        made.touch()
        if changes:
            (book / "book" / "index.md").write_text(f"# Version {len(kept)}\n")
        raise ChaosError("A page has a fault.")

    monkeypatch.setattr(site, "make_pages", make_pages)
    for _ in range(2):
        with pytest.raises(ChaosError):
            site.update_pages(workplace, str, draft=True)
    assert kept == [False, not changes]


@pytest.mark.slow
def test_pages_made_by_one_process_or_by_several_are_the_same(
    small_checkout, tmp_path, monkeypatch
):
    monkeypatch.chdir(small_checkout)
    built = inputs.digests(small_checkout / "_build" / "html")  # on all cores
    del built[crate.FILE]
    cores = 1 if (os.cpu_count() or 1) > 1 else 2
    said = []
    site.make_pages(tmp_path / "html", tmp_path / "doctrees", said.append, cores=cores)
    again = inputs.digests(tmp_path / "html")
    del again[".buildinfo"]
    assert again == built
    assert said == []

"""The book on paper."""

import re
import shutil
from html import escape

import pypdf
import pytest
from helpers.checkout import PROJECT

from chaos_utils.base.errors import ChaosError
from chaos_utils.publish import joining, pdf


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A checkout of next to nothing, whose site stands there."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: index\n")
    (tmp_path / "_build" / "html").mkdir(parents=True)
    (tmp_path / "_build" / "html" / "index.html").write_text("<article></article>")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("/nowhere/chromium", "Chromium failed"),
        ("./old-chromium", r"Chromium 130\.0\.6723(?s:.)*131 or newer"),
        ("", "apt-get install chromium"),
    ],
)
def test_without_a_usable_chromium_it_is_said_what_is_needed(project, monkeypatch, named, message):
    (project / "old-chromium").write_text("#!/bin/sh\necho Chromium 130.0.6723.58\n")
    (project / "old-chromium").chmod(0o755)
    monkeypatch.setenv("CHROMIUM", named)
    monkeypatch.setenv("PATH", str(project))
    with pytest.raises(ChaosError, match=message):
        pdf.make()


def test_the_joined_pages_hold_every_place_that_they_link_to(small_checkout, monkeypatch):
    monkeypatch.chdir(small_checkout)
    site = small_checkout / "_build" / "html"
    html = joining.join(site, {})
    ids = re.findall(r'\sid="([^"]+)"', html)
    links = set(re.findall(r'href="#([^"]+)"', html))
    assert len(ids) == len(set(ids))
    assert len(links) > 20
    assert links <= set(ids)
    assert not re.search(r'src="[^"]*-dark\.svg"', html)
    assert "-narrow.svg" not in html
    for file in re.findall(r'(?:src|href)="\.\./html/([^"]+)"', html):
        assert (site / file).is_file(), file


@pytest.mark.parametrize("notice", ["", "Synthetic sample: <b> is invented"])
def test_what_is_said_of_a_build_is_printed_as_it_is(project, notice):
    shutil.copyfile(PROJECT / "CITATION.cff", project / "CITATION.cff")
    bar = f'<strong class="build-notice">{escape(notice)}</strong>' if notice else ""
    page = f'<div class="bd-header-announcement">{bar}</div><article></article>'
    (project / "_build" / "html" / "index.html").write_text(page)
    html = joining.join(project / "_build" / "html", {})
    assert ("@top-left { content:" in html) == bool(notice)
    assert (f'<p class="build-notice">{escape(notice)}</p>' in html) == bool(notice)
    assert ("Synthetic" in html) == ("Synthetic" in notice)


@pytest.mark.slow
@pytest.mark.browser
def test_the_print_is_numbered_marked_and_the_same_each_time(sample_checkout, monkeypatch, browser):
    monkeypatch.chdir(sample_checkout)
    printed = pdf.make()
    reader = pypdf.PdfReader(printed)
    assert len(reader.pages) > 50
    texts = [page.extract_text() for page in reader.pages]
    assert all("Synthetic sample" in text for text in texts)
    for slug in joining.slugs():
        number = reader.get_destination_page_number(reader.named_destinations[f"/{slug}"])
        assert re.search(rf"^{number + 1}$", texts[number], re.MULTILINE), slug
        assert re.search(rf"\s{number + 1}$", texts[1], re.MULTILINE), slug
    assert printed.read_bytes() == pdf.make().read_bytes()
    page = browser.new_page(viewport={"width": 800, "height": 1000})
    page.goto((printed.parent / "book.html").as_uri())
    page.emulate_media(media="print")
    wide = page.evaluate("""() => {
      const right = document.body.getBoundingClientRect().right;
      return [...document.querySelectorAll('table, pre, img')]
        .filter(e => e.getBoundingClientRect().right > right + 2)
        .map(e => e.outerHTML.slice(0, 80));
    }""")
    page.close()
    assert not wide

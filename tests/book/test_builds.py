"""Builds: what runs again and what does not, and that the same comes out."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from helpers.checkout import append, chaos, chaos_environment, planned

from chaos_utils.base.inputs import digests

EVERYTHING = {"chapter annotations", "chapter disagreement", "site"}


def test_only_what_changed_runs_again(checkout):
    assert planned(checkout, url="https://example.org/book") == {"site"}
    assert planned(checkout, data="auto") == EVERYTHING
    (checkout / "notebooks" / "annotations.py").touch()
    append(checkout / "chaos_utils" / "cli" / "console.py")
    assert planned(checkout) == set()  # neither a time nor what no chapter imports
    changed = checkout / "chaos_utils" / "plots" / "annotations.py"
    append(changed)
    os.utime(changed, (0, 0))  # as `cp -p` leaves it
    assert planned(checkout) == {"chapter annotations", "site"}
    append(checkout / "chaos_utils" / "metrics" / "divergence.py")
    done = chaos("build", "--sample", "--dry-run", cwd=checkout)
    assert set(done.stdout.splitlines()) == {f"would run {step}" for step in EVERYTHING}


@pytest.mark.slow
def test_what_changes_while_the_book_is_built_is_built_again(checkout):
    page, notebook = checkout / "book" / "cite.md", checkout / "notebooks" / "annotations.py"
    append(page, "\nFirst words.\n")
    os.utime(page, (4_000_000_000, 4_000_000_000))
    with subprocess.Popen(
        [sys.executable, "-m", "chaos_utils.cli", "build", "--sample"], cwd=checkout,
        env=chaos_environment(checkout), stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        for line in process.stderr:
            if "pages: running" in line:
                break
        append(page, "\nLate words.\n")
        append(notebook)
        os.utime(notebook, (0, 0))
        _, message = process.communicate(timeout=200)
    assert process.returncode == 0, message
    assert "changed while the book was built" in message
    assert "Late words." in (checkout / "_build" / "html" / "cite.html").read_text("utf-8")
    assert planned(checkout) == set()


@pytest.mark.slow
def test_pages_that_have_not_changed_are_kept_and_the_site_is_as_from_nothing(checkout):
    def build():
        done = chaos("build", "--sample", cwd=checkout)
        assert done.returncode == 0, done.stderr
        log = (checkout / "_build" / "logs" / "site.log").read_text("utf-8")
        return re.search("updating environment: (.*)", log)[1], digests(checkout / "_build/html")

    page, notebook = checkout / "book" / "cite.md", checkout / "notebooks" / "annotations.py"
    append(page, "\nFirst words.\n")
    assert not re.search(r"\b0 added", build()[0])  # a copy: all is made where it stands
    append(page, "\nLate words on {cite:t}`nie2020`.\n")
    os.utime(page, (0, 0))
    append(notebook)
    (checkout / "book" / "glossary.md").touch()
    read, _ = build()
    assert read == "0 added, 2 changed, 0 removed"
    page.write_text("# Another title\n\n" + page.read_text("utf-8").partition("\n")[2])
    read, kept = build()
    assert read == "0 added, 1 changed, 0 removed"
    (checkout / "_build" / "site.json").unlink()
    shutil.rmtree(checkout / "_build" / "pages")
    read, made = build()
    assert not re.search(r"\b0 added", read)
    assert made == kept


@pytest.mark.slow
def test_a_chapter_that_left_the_book_leaves_only_redirects(checkout):
    toc, registry = checkout / "_toc.yml", checkout / "book" / "figures.yml"
    toc.write_text(toc.read_text().replace("  - file: chapters/disagreement\n", ""))
    gone = (checkout / "notebooks" / "disagreement.py").read_text()
    lines = registry.read_text().splitlines(keepends=True)
    kept = "".join(line for line in lines if f'"{line.partition(":")[0]}"' not in gone)
    left = "".join(line for line in lines if line not in kept)
    moved = left.replace(": 0.1.0", ": {since: 0.1.0, moved_to: fig-label-transitions}")
    moved = moved.replace("fig-simplex: {since: 0.1.0, moved_to: fig-label-transitions}",
                          "fig-simplex: {since: 0.1.0, withdrawn: It was a <test>.}")  # fmt: skip
    registry.write_text(kept + moved)
    append(checkout / "book" / "redirects.yml", "chapters/disagreement: chapters/annotations\n")
    append(checkout / "CITATION.cff", "url: https://example.org/book\n")
    for page, content in {"index": "", "related": "```{bibliography}\n```\n"}.items():
        # Both refer to what has left.
        (checkout / "book" / f"{page}.md").write_text(f"# A page\n\n{content}")
    notebook = checkout / "notebooks" / "annotations.py"
    referring = "{numref}`fig-original-votes`", "The chapter {doc}`disagreement`"
    source = notebook.read_text()
    for words in referring:
        source = source.replace(words, "Another")
    notebook.write_text(source)
    done = chaos("build", "--sample", cwd=checkout)
    assert done.returncode == 0, done.stderr
    site = checkout / "_build" / "html"
    assert not (site / "figures" / "fig-entropy.svg").exists()
    page = (site / "figures" / "fig-entropy.html").read_text()
    assert "url=fig-label-transitions.html" in page
    withdrawn = (site / "figures" / "fig-simplex.html").read_text()
    assert "It was a &lt;test&gt;." in withdrawn
    assert "noindex" in withdrawn
    assert "url=annotations.html" in (site / "chapters/disagreement.html").read_text()
    known = (site / "sitemap.xml").read_text()
    listed = re.findall("<loc>https://example.org/book/(.*?)</loc>", known)
    left_out = {"404.html", "search.html", "genindex.html"}
    left_out |= {"chapters/disagreement.html", "old/page.html"}
    left_out |= {f"figures/{id}.html" for id in re.findall("(?m)^[a-z]+-[a-z-]+", moved)}
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert set(listed) == {name for name in pages if "_static" not in name} - left_out
    done = chaos("cite", "fig-entropy", cwd=checkout)
    assert "fig-entropy has moved: this cites fig-label-transitions" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("built", ["sample_checkout", "real_checkout"])
def test_the_whole_book_built_twice_is_the_same_to_the_byte(built, request, tmp_path, whole_root):
    """Each reads the recorded tables: what is computed anew may differ from them in last digits."""
    first = request.getfixturevalue(built)
    again = shutil.copytree(first, tmp_path / "elsewhere")
    for made in ("_build", "book/chapters"):
        shutil.rmtree(again / made)
    is_sample = built == "sample_checkout"
    data = {} if is_sample else {"CHAOS_DATA": str(whole_root)}
    done = chaos("build", "--sample" if is_sample else "--strict", cwd=again, **data)
    assert done.returncode == 0, done.stderr
    one, other = first / "_build" / "html", again / "_build" / "html"
    made = digests(one)
    assert ".buildinfo" not in made
    assert made == digests(other)

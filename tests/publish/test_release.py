import json
import re
import subprocess
import warnings
import zipfile

import pytest
from rocrate.rocrate import ROCrate

from chaos_utils.base.errors import ChaosError
from chaos_utils.publish import release, staleness


@pytest.fixture
def unpacked(finished, tmp_path):
    """The release of a small book, unpacked elsewhere."""
    with zipfile.ZipFile(release.make(tmp_path / "out")) as packed:
        packed.extractall(tmp_path / "elsewhere")
    return tmp_path / "elsewhere"


def test_it_holds_site_results_crate_and_licences_and_verifies_elsewhere(
    unpacked, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert release.check(unpacked) == release.check(tmp_path / "out" / "living-book-1.2.3.zip")
    subprocess.run(["sha256sum", "--check", "--quiet", release.SUMS], cwd=unpacked, check=True)
    assert (unpacked / "site" / "index.html").is_file()
    (action,) = ROCrate(unpacked).get_by_type("CreateAction")
    assert "results/run/run.json" in {entity.id for entity in action["object"]}
    licences = (unpacked / release.LICENCES).read_text("utf-8")
    assert "- `site/chapters/one.html`" in licences
    assert "site/index.html" not in licences
    texts, votes = licences.split("## Files that hold votes by item")
    assert "- `site/items.js`" in votes
    assert "items.js" not in texts
    assert "licence CC BY-NC 4.0" in texts


def test_the_same_site_gives_the_same_archive(finished, tmp_path):
    one, other = (release.make(tmp_path / name) for name in ("one", "other"))
    assert one.read_bytes() == other.read_bytes()


def test_an_archive_holds_neither_dates_nor_this_machine_s_rights(finished, tmp_path):
    with zipfile.ZipFile(release.make(tmp_path / "out")) as packed:
        entries = packed.infolist()
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {entry.external_attr >> 16 for entry in entries} == {0o644}


def test_what_a_desktop_leaves_in_a_folder_is_not_of_the_site(finished, tmp_path):
    before = release.make(tmp_path / "before").read_bytes()
    (finished / "_build" / "html" / "figures" / ".DS_Store").touch()
    assert staleness.site_changed_since() == []
    assert release.make(tmp_path / "after").read_bytes() == before


def test_what_a_desktop_leaves_in_an_unpacked_release_is_not_of_it(unpacked):
    n_files = release.check(unpacked)
    (unpacked / "site" / ".DS_Store").touch()
    assert release.check(unpacked) == n_files


def test_zenodo_gets_what_it_requires(finished, unpacked):
    deposit = json.loads((unpacked / release.DEPOSIT).read_text("utf-8"))
    required = ("title", "upload_type", "publication_type", "description", "access_right")
    assert all(deposit[name] for name in required)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", deposit["publication_date"])
    assert deposit["creators"] == [{"name": "Its authors"}]
    assert "&lt;about&gt;" in deposit["description"]
    assert deposit["license"] == "cc-by-nc-4.0"  # a page holds texts of items
    assert deposit["related_identifiers"][0]["identifier"] == "10.1/abc"
    without = release.deposit(finished / "CITATION.cff", holds_items=False)
    assert without["license"] == "cc-by-4.0"


@pytest.mark.parametrize(
    ("references", "identifiers"),
    [
        ("", []),
        ("references:", []),
        ("references: [{type: book, title: A book}]", []),
        ("references: [{type: book, title: A book, url: 'https://a.b'}]", ["https://a.b"]),
    ],
)
def test_a_reference_needs_no_doi(finished, references, identifiers):
    path = finished / "CITATION.cff"
    path.write_text(path.read_text().partition("references:")[0] + references + "\n")
    related = release.deposit(path, holds_items=False)["related_identifiers"]
    assert [one["identifier"] for one in related] == identifiers


@pytest.mark.parametrize("line", ["keywords: one", "references: [one]", "date-released: soon",
                                  "date-released: 2026-13-45"])  # fmt: skip
def test_a_fault_of_the_citation_file_is_one_message(finished, line):
    path = finished / "CITATION.cff"
    field = line.partition(":")[0]
    kept = [text for text in path.read_text().split("\n") if not text.startswith((field, "  - {"))]
    path.write_text("\n".join([*kept, line, ""]))
    with pytest.raises(ChaosError, match=r"CITATION\.cff"):
        release.deposit(path, holds_items=False)


def remove_site(project):
    (project / "_build" / "html" / "index.html").unlink()


def take_sample(project):
    record = project / "_build" / "chapters" / "one" / "record.json"
    record.write_text(record.read_text().replace('"synthetic": false', '"synthetic": true'))


def show_records(project):
    record = project / "_build" / "chapters" / "one" / "record.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"recorded": ["snli"]}))


def change_authors(project):
    path = project / "CITATION.cff"
    path.write_text(path.read_text().replace("Its authors", "Others"))


def change_notebook(project):
    path = project / "notebooks" / "one.py"
    path.write_text(path.read_text() + "\n# changed\n")


def change_page(project):
    (project / "book" / "index.md").write_text("# Another\n")


def change_page_module(project):
    (project / "chaos_utils" / "landing.py").write_text("shown = 200\n")


def lose_the_site_s_record(project):
    (project / "_build" / "site.json").unlink()


def change_site(project):
    (project / "_build" / "html" / "figures" / "fig-a.csv").write_text("x,y\n9,9\n")


def cut_a_page(project):
    page = project / "_build" / "html" / "chapters" / "one.html"
    page.write_text(page.read_text()[:-9])


def delete_a_page(project):
    (project / "_build" / "html" / "items.js").unlink()


def add_a_page(project):
    (project / "_build" / "html" / "more.html").write_text("more")


def lose_the_crate(project):
    (project / "_build" / "html" / "ro-crate-metadata.json").unlink()


def leave_uncommitted(project):
    (project / "LICENSE").write_text("changed")


def leave_git(project):
    (project / ".git").rename(project / "no-git")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (remove_site, "Nothing was built yet"),
        (take_sample, "synthetic sample"),
        (show_records, "shows recorded tables"),
        (change_authors, "has changed since"),
        (change_notebook, "has changed since"),
        (change_page, r"site was made from has changed(?s:.)*book/index\.md(?s:.)*chaos build"),
        (change_page_module, r"site was made from has changed(?s:.)*landing\.py"),
        (lose_the_site_s_record, r"site was made from has changed(?s:.)*site\.json"),
        (cut_a_page, r"not what the chapters(?s:.)*chapters/one\.html"),
        (delete_a_page, r"not what the chapters(?s:.)*items\.js"),
        (add_a_page, r"not what the chapters(?s:.)*more\.html"),
        (lose_the_crate, r"not what the chapters(?s:.)*ro-crate"),
        (change_site, "not what the chapters' last runs have made"),
        (leave_uncommitted, "Not everything is committed"),
        (leave_git, "from a git checkout"),
    ],
)
def test_what_is_not_fit_is_refused_and_nothing_is_written(finished, tmp_path, spoil, message):
    spoil(finished)
    with pytest.raises(ChaosError, match=message):
        release.make(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not list((finished / "_build").glob(".release-*"))


def test_what_was_changed_added_or_taken_out_is_reported(unpacked):
    (unpacked / "site" / "index.html").write_text("other")
    (unpacked / "site" / "more.html").write_text("more")
    (unpacked / "LICENSE").unlink()
    with pytest.raises(ChaosError) as fault:
        release.check(unpacked)
    for message in (
        "site/index.html was changed",
        "site/more.html was added",
        "LICENSE is missing",
    ):
        assert message in str(fault.value)


@pytest.mark.parametrize(
    "name", ["CITATION.cff", "LICENSE", "LICENCES.md", ".zenodo.json", "results/run/run.json"]
)
def test_every_file_that_was_changed_is_reported(unpacked, name):
    (unpacked / name).write_bytes((unpacked / name).read_bytes() + b"\n")
    with pytest.raises(ChaosError, match=f"{name} was changed"):
        release.check(unpacked)


def test_links_are_reported(unpacked, tmp_path):
    (unpacked / "site" / "extra").symlink_to("/etc", target_is_directory=True)
    (unpacked / "LICENSE").unlink()
    (unpacked / "LICENSE").symlink_to(unpacked.parent / "book" / "LICENSE")  # the same bytes
    with pytest.raises(ChaosError) as fault:
        release.check(unpacked)
    for message in ("site/extra was added", "LICENSE is a link"):
        assert message in str(fault.value)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda new: new.writestr("site/more.html", "more"), r"site/more\.html was added"),
        (lambda new: new.writestr("LICENSE", "MIT"), "LICENSE is a link, or appears twice"),
        (lambda new: new.writestr("site/zeros", bytes(2000)), "too large(?s:.)*at most 1,000"),
    ],
)
def test_names_and_sizes_are_checked_before_anything_is_unpacked(
    finished, tmp_path, monkeypatch, spoil, message
):
    archive = release.make(tmp_path / "out")
    with zipfile.ZipFile(archive, "a") as new:
        if "large" in message:
            monkeypatch.setattr(release, "_MOST_BYTES", 1000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a name that appears twice
            spoil(new)
    monkeypatch.setattr(zipfile.ZipFile, "extractall", None)
    with pytest.raises(ChaosError, match=message):
        release.check(archive)


def test_a_link_in_an_archive_is_reported(finished, tmp_path):
    made, other = release.make(tmp_path / "out"), tmp_path / "links.zip"
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(other, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename == "LICENSE":
                entry.external_attr = 0o120777 << 16
            new.writestr(entry, content)
    with pytest.raises(ChaosError, match="LICENSE is a link"):
        release.check(other)


def test_an_archive_that_was_tampered_with_is_reported(finished, unpacked, tmp_path):
    archive = tmp_path / "out" / "living-book-1.2.3.zip"
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            new.writestr(name, b"[]" if name.endswith("run.json") else old.read(name))
    (tmp_path / "cut.zip").write_bytes(archive.read_bytes()[:2000])
    with zipfile.ZipFile(tmp_path / "escaping.zip", "w") as new:
        new.writestr("../outside", "")
    expected = {
        "other.zip": r"results/run/run\.json was changed",
        "cut.zip": "cannot be unpacked",
        "none.zip": "no such archive",
        "escaping.zip": "outside its folder",
    }
    for name, message in expected.items():
        with pytest.raises(ChaosError, match=message):
            release.check(tmp_path / name)
    with pytest.raises(ChaosError, match="This is not a release"):
        release.check(finished)
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [(6, 1, "encrypted"), (8, 99, "compression method")],  # in the header: flags, method
)
def test_an_archive_that_cannot_be_unpacked_is_reported(tmp_path, place, value, message):
    archive = tmp_path / "release.zip"
    with zipfile.ZipFile(archive, "w") as new:
        new.writestr(release.SUMS, "text")
    content = bytearray(archive.read_bytes())
    for start in (content.index(b"PK\3\4"), content.index(b"PK\1\2") + 2):
        content[start + place] = value
    archive.write_bytes(content)
    with pytest.raises(ChaosError, match=rf"cannot be unpacked(?s:.)*{message}"):
        release.check(archive)


def test_checksums_that_are_no_text_are_reported(tmp_path):
    (tmp_path / release.SUMS).write_bytes(b"\xff\xfe")
    with pytest.raises(ChaosError, match=r"checksums are damaged(?s:.)*SHA256SUMS"):
        release.check(tmp_path)


@pytest.mark.browser
def test_unpacked_elsewhere_it_opens(small_checkout, browser, tmp_path, monkeypatch):
    monkeypatch.chdir(small_checkout)
    monkeypatch.setattr(release, "_refuse_unfit", lambda site: None)  # it is the sample's
    archive = release.make(tmp_path)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(tmp_path / "elsewhere")
    page, wrong = browser.new_page(), []
    page.on("requestfailed", lambda request: wrong.append(request.url))
    page.goto((tmp_path / "elsewhere/site/chapters/disagreement.html").as_uri())
    assert page.locator("h1").locator("visible=true").count() == 1
    assert page.evaluate("[...document.images].some(i => i.naturalWidth)")
    assert not wrong
    page.close()

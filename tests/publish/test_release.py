import re
import subprocess
import zipfile

import pytest
from rocrate.rocrate import ROCrate

from chaos_utils.base.authorship import read_citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.publish import release


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
    assert "licence CC BY-NC 4.0" in licences
    named = [re.findall("- `(.*)`", part) for part in licences.split("Files that hold votes")]
    assert named == [["site/chapters/one.html"], ["site/items.js"]]


def test_the_same_site_gives_the_same_archive_without_dates_or_this_machine_s_rights(
    finished, tmp_path
):
    one, other = (release.make(tmp_path / name) for name in ("one", "other"))
    assert one.read_bytes() == other.read_bytes()
    with zipfile.ZipFile(one) as packed:
        entries = packed.infolist()
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {entry.external_attr >> 16 for entry in entries} == {0o644}


def test_a_doi_is_filled_in_and_replaced_and_nothing_else_is_changed(finished):
    path = finished / "CITATION.cff"
    before = path.read_text("utf-8")
    for doi in ("10.5281/zenodo.1", "10.5281/zenodo.22"):
        assert release.fill_doi(doi) == path
        assert path.read_text("utf-8").replace(f"doi: {doi}\n", "", 1) == before
        assert read_citation(path).doi == doi
    with pytest.raises(ChaosError, match=r"not a DOI(?s:.)*--doi(?s:.)*zenodo\.22 "):
        release.fill_doi("zenodo.22 ")
    with pytest.raises(ChaosError, match="--doi"):
        release.fill_doi("")
    assert read_citation(path).doi == "10.5281/zenodo.22"


RECORD, PAGES = "_build/chapters/one/record.json", "_build/html"


def remove(name):
    return lambda folder: (folder / name).unlink()


def write(name, text):
    return lambda folder: (folder / name).write_text(text)


def replace(name, old, new):
    def spoil(folder):
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))

    return spoil


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (remove(f"{PAGES}/index.html"), "Nothing has been built yet"),
        (replace(RECORD, '"synthetic": false', '"synthetic": true'), "synthetic sample"),
        (replace(RECORD, '"recorded": []', '"recorded": ["snli"]'), "shows recorded tables"),
        (replace("CITATION.cff", "Its authors", "Others"), r"one: CITATION\.cff, authors"),
        (replace("notebooks/one.py", "# a seed", "# another"), r"one: notebooks/one\.py"),
        (write("book/index.md", "# Another\n"),
         r"site was made from other sources(?s:.)*book/index\.md(?s:.)*chaos build"),
        (remove("_build/site.json"), "site was made from other sources"),
        (replace(f"{PAGES}/chapters/one.html", "</p>", ""),
         r"was changed since(?s:.)*chapters/one\.html"),
        (write(f"{PAGES}/more.html", "more"), r"was changed since(?s:.)*more\.html"),
        (write("LICENSE", "changed"), "There are uncommitted changes"),
        (lambda project: (project / ".git").rename(project / "no-git"), "from a git checkout"),
    ],
)  # fmt: skip
def test_what_is_not_fit_is_refused_and_nothing_is_written(finished, tmp_path, spoil, message):
    spoil(finished)
    with pytest.raises(ChaosError, match=message):
        release.make(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not list((finished / "_build").glob(".release-*"))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (write("site/index.html", "other"), r"site/index\.html was changed"),
        (write("site/more.html", "more"), r"site/more\.html was added"),
        (remove("LICENSE"), "LICENSE was removed"),
        (remove(release.SUMS), "This is not a release"),
        (lambda folder: (folder / release.SUMS).write_bytes(b"\xff\xfe"),
         "release cannot be read"),
    ],
)  # fmt: skip
def test_what_was_changed_in_a_release_is_reported(unpacked, spoil, message):
    spoil(unpacked)
    with pytest.raises(ChaosError, match=message):
        release.check(unpacked)


def test_what_is_no_archive_of_ours_is_reported(finished, tmp_path):
    archive = release.make(tmp_path / "out")
    (tmp_path / "cut.zip").write_bytes(archive.read_bytes()[:2000])
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as new:
        new.writestr("a", "")
    for name, message in {
        "cut.zip": "cannot be read",
        "none.zip": "no such archive",
        "other.zip": "This is not a release",
    }.items():
        with pytest.raises(ChaosError, match=message):
            release.check(tmp_path / name)
    with zipfile.ZipFile(archive, "a") as more:
        more.writestr("../outside", "MIT")
    with pytest.raises(ChaosError, match=r"\.\./outside was added"):
        release.check(archive)

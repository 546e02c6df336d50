import functools
import hashlib
import http.server
import json
import os
import socket
import sys
import threading
import zipfile

import pytest
from helpers.rows import write_dataset
from typer.testing import CliRunner

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.data import data as app
from chaos_utils.datasets import catalogue, sources
from chaos_utils.datasets.catalogue import get_dataset, known_files
from chaos_utils.datasets.dataset import DataFile
from chaos_utils.datasets.loading import load_votes

CONTENT = b"the published file\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
VOTES = b"item,label\na,x\n"


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """A machine on which no data is available."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CHAOS_DATA", raising=False)
    monkeypatch.setenv("CHAOS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(paths, "find_project", lambda: None)
    return tmp_path


@pytest.fixture
def server(tmp_path):
    """A web server of our own, and the folder that it serves."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, args=[0.01], daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}", folder
        running.shutdown()


def register(monkeypatch, **fields):
    release = get_dataset("snli").release
    file = DataFile(name="set/file.txt", release=release, sha256=SHA256, **fields)
    monkeypatch.setattr(sources, "known_files", lambda: {file.name: file})
    return file


def describe(folder, votes, **file):
    """Describe a dataset whose one file has this content; return its YAML file."""
    digest = hashlib.sha256(votes).hexdigest()
    described = {
        "name": "mine", "title": "Mine", "labels": ["x", "y"], "reader": {"format": "long"},
        "files": [{"name": "v.csv", "sha256": digest} | file],
    }  # fmt: skip
    (folder / "mine.yml").write_text(json.dumps(described))
    return folder / "mine.yml"


def data(*arguments):
    """Call `chaos data`; return what it answers, or the fault in which it ends."""
    done = CliRunner().invoke(app, list(map(str, arguments)))
    return done.stdout if done.exit_code == 0 else f"{done.stdout}{done.exception}"


def zipped(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_every_entry_says_what_a_reader_needs(monkeypatch):
    monkeypatch.setattr(catalogue, "_user_datasets", {})  # by a fixture of a module
    for file in known_files().values():
        # What has no address is made from a release, and known by its digest.
        assert file.url.startswith("https://") or (file.sha256 and not file.url)
        assert file.release.licence
        assert file.release.citation
        if "raw.githubusercontent.com" in file.url:  # at a commit: its bytes are known
            assert file.sha256


def test_search_order(tmp_path, monkeypatch):
    checkout, own, cache = (tmp_path / name for name in ("x/checkout", "own", "cache"))
    monkeypatch.setattr(paths, "find_project", lambda: checkout)
    monkeypatch.setenv("CHAOS_DATA", str(own))
    monkeypatch.setenv("CHAOS_CACHE", str(cache))
    monkeypatch.delenv("CHAOS_DATA_ONLY")
    roots = [own, checkout / "data", tmp_path / "x" / "shared" / "data", cache]
    own.mkdir()
    assert paths.data_roots() == roots
    for root in reversed(roots):
        (root / "set").mkdir(parents=True)
        (root / "set" / "f").write_text("x")
        assert sources.find("set/f") == root / "set" / "f"
    monkeypatch.setenv("CHAOS_DATA_ONLY", "1")
    assert paths.data_roots() == [own, cache]
    monkeypatch.setenv("CHAOS_DATA", str(tmp_path / "no-such"))
    with pytest.raises(ChaosError, match="CHAOS_DATA does not name a folder"):
        sources.find("set/f")


def test_fetch_takes_a_file_out_of_its_archive_or_from_the_mirror(nowhere, server, monkeypatch):
    url, folder = server
    zipped(folder / "a.zip", {"set/file": b"x", "deep/set/file.txt": CONTENT})
    register(monkeypatch, url=f"{url}/a.zip", member="file.txt")
    (path,) = sources.fetch(["set/file.txt"])
    assert path == nowhere / "cache" / "set" / "file.txt"
    assert path.read_bytes() == CONTENT
    (folder / "a.zip").unlink()  # what has arrived is not fetched again
    assert sources.fetch(["set/file.txt"]) == [path]
    path.rename(folder / "m.txt")
    register(monkeypatch, url=f"{url}/a.zip", member="file.txt", mirror=f"{url}/m.txt")
    monkeypatch.setitem(sys.modules, "tqdm", None)  # progress is drawn without it
    assert sources.fetch(["set/file.txt"], progress=True) == [path]
    assert path.read_bytes() == CONTENT


def test_a_dataset_is_fetched_by_its_yaml_file_or_name_and_then_read(nowhere, server):
    url, folder = server
    (folder / "v.csv").write_bytes(VOTES)
    path = describe(nowhere, VOTES, url=f"{url}/v.csv")
    with pytest.raises(ChaosError, match=r"run `chaos data fetch .*mine\.yml`"):
        load_votes("mine", str(path))
    for name in (path, "mine"):
        arrived = json.loads(data("fetch", name, "--json"))
        assert arrived == {"v.csv": str(nowhere / "cache" / "v.csv")}
    assert load_votes("mine", str(path)).is_released
    assert load_votes("mine").source.name == "v.csv"
    assert "did you mean 'mine'" in data("fetch", "mien")


def test_a_file_beside_its_yaml_file_is_found_there(nowhere):
    (nowhere / "v.csv").write_bytes(VOTES)
    path = describe(nowhere, VOTES, url="http://127.0.0.1:9/v.csv", sha256="0" * 64)
    for command in ("fetch", "verify"):
        fault = data(command, path)
        assert f"to do:     if this is the right file, correct its sha256 in {path}" in fault
        assert "remove" not in fault
    with pytest.raises(ChaosError, match=r"not the published v\.csv: (.|\n)*correct its sha256"):
        load_votes("mine", str(path))
    describe(nowhere, VOTES, url="http://127.0.0.1:9/v.csv")
    assert data("fetch", path) == f"v.csv: {nowhere / 'v.csv'}\n"
    assert data("verify", path) == "v.csv: verified\n"
    (nowhere / "v.csv").unlink()
    assert "expected:  the published file\n" in data("fetch", path)
    assert "There is no such file" in data("fetch", "none.yml")


def test_what_is_not_the_published_file_is_not_kept(nowhere, server, monkeypatch):
    url, folder = server
    register(monkeypatch, url=f"{url}/a.zip", member="file.txt")
    (folder / "a.zip").write_bytes(b"PK no zip")
    with pytest.raises(ChaosError, match=r"Cannot fetch set/file\.txt"):
        sources.fetch(["set/file.txt"])
    for content in (b"another version", b""):
        zipped(folder / "a.zip", {"file.txt": content})
        with pytest.raises(ChaosError, match="SHA-256 differs"):
            sources.fetch(["set/file.txt"])
        assert not list((nowhere / "cache").rglob("file.txt"))
    zipped(folder / "a.zip", {"file.txt": CONTENT})
    assert sources.fetch(["set/file.txt"])[0].read_bytes() == CONTENT


def test_without_a_network_the_error_says_where_to_put_the_file(nowhere, monkeypatch):
    register(monkeypatch, url="http://127.0.0.1:9/f.txt")
    with pytest.raises(ChaosError) as fault:
        sources.fetch(["set/file.txt"])
    assert "put the file at" in str(fault.value)
    assert "Connection refused" in str(fault.value)


def test_an_archive_writes_one_file_and_nothing_outside(tmp_path):
    into, archive = tmp_path / "in", tmp_path / "a.zip"
    into.mkdir()
    zipped(archive, {"../../evil.txt": b"1", "__MACOSX/a/evil.txt": b"a resource fork"})
    assert sources.extract_member(archive, "evil.txt", into).read_bytes() == b"1"
    assert [path.name for path in into.iterdir()] == ["evil.txt"]
    assert not (tmp_path.parent / "evil.txt").exists()
    zipped(archive, {"a/f.txt": b"1", "b/f.txt": b"2"})
    with pytest.raises(ValueError, match="2 files named"):
        sources.extract_member(archive, "f.txt", into)


def test_what_would_fill_the_disk_is_not_written(nowhere, server, monkeypatch):
    url, folder = server
    monkeypatch.setattr(sources, "_MOST_BYTES", len(CONTENT) - 1)
    zipped(nowhere / "a.zip", {"f.txt": CONTENT})
    with pytest.raises(ValueError, match="too large: 19 bytes"):
        sources.extract_member(nowhere / "a.zip", "f.txt", nowhere)
    assert not (nowhere / "f.txt").exists()
    (folder / "file.txt").write_bytes(CONTENT)
    register(monkeypatch, url=f"{url}/file.txt")
    for progress in (False, True):
        with pytest.raises(ChaosError, match="the download is too large"):
            sources.fetch(["set/file.txt"], progress=progress)
    assert not [path for path in (nowhere / "cache").rglob("*") if path.is_file()]


@pytest.mark.parametrize("given", ["auto", "released", "snli"])
def test_no_data_or_a_wrong_file_is_an_error_not_the_sample(tmp_path, monkeypatch, given):
    with pytest.raises(ChaosError, match=r"not available(.|\n)*chaos data fetch(.|\n)*data=sample"):
        load_votes("snli", given)
    assert load_votes("snli", "sample").source.synthetic
    monkeypatch.setenv("CHAOS_DATA", str(write_dataset(tmp_path)))
    with pytest.raises(ChaosError, match=r"SHA-256 differs(.|\n)*chaos data fetch"):
        load_votes("snli", given)


def test_a_dataset_or_a_folder_names_all_its_files_and_an_unknown_name_the_closest():
    for name, n_files in (("md-agreement", 3), ("ambient", 1), ("alttest", 4), ("judges32", 3)):
        names = json.loads(CliRunner().invoke(app, ["verify", name, "--json"]).stdout)
        assert list(names.values()) == ["missing"] * n_files
    with pytest.raises(ChaosError, match=r"chaosNLI_snli\.jsonl"):
        sources.get("chaosNLI_v1.0/chaosNLI_snl.jsonl")


def test_a_fetch_removes_what_killed_ones_have_left_and_nothing_of_others(nowhere, server):
    url, folder = server
    (folder / "v.csv").write_bytes(VOTES)
    path = describe(nowhere, VOTES, url=f"{url}/v.csv")
    left, others = (nowhere / "cache" / f".arriving-{name}" for name in ("killed", "running"))
    for one in (left, others):
        one.mkdir(parents=True)
        (one / "half").write_bytes(b"x")
    running = sources._lock(others)
    data("fetch", path)
    assert (left.exists(), others.exists()) == (False, True)
    os.close(running)


def test_a_fetch_ends_however_slowly_a_server_answers(nowhere, monkeypatch):
    monkeypatch.setattr(sources, "_MOST_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as slow:  # which takes calls, and says nothing
        register(monkeypatch, url=f"http://127.0.0.1:{slow.getsockname()[1]}/f.txt")
        with pytest.raises(ChaosError, match="whole fetch takes longer"):
            sources.fetch(["set/file.txt"])

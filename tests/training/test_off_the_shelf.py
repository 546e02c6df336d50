"""Models with an NLI head of their own: asked as they are, and fine-tuned."""

import json
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.engine import shares, small
from scipy.special import softmax
from typer.testing import CliRunner

from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.__main__ import app
from chaos_utils.datasets.corpora import load_chaosnli
from chaos_utils.datasets.loading import load_votes
from chaos_utils.scoring.predictions import read_predictions
from chaos_utils.scoring.trained import UNKNOWN, kind_of, read_run
from chaos_utils.training import cache, encoders, predicting
from chaos_utils.training import finetune as engine
from chaos_utils.training.encoding import encode
from chaos_utils.training.recipes import get_model

pytestmark = pytest.mark.usefixtures("one_thread", "own_work")
ORDER = ["CONTRADICTION", "Entailment", "neutral"]


@pytest.fixture
def shelf(tmp_path):
    """A model that someone has trained for NLI, with the labels in another order than ours."""
    folder = tmp_path / "shelf" / "nli-model"
    torch.manual_seed(5)
    source = encoders.find_encoder(get_model("tiny-bert")).folder
    model = encoders.load_model(source, 3)
    torch.nn.init.normal_(model.classifier.weight)  # it tells items apart
    torch.nn.init.normal_(model.classifier.bias)
    model.config.id2label = dict(enumerate(ORDER))
    model.config.label2id = {name: k for k, name in enumerate(ORDER)}
    model.save_pretrained(folder)
    encoders.load_tokenizer(source).save_pretrained(folder)
    return folder


def name_labels(folder, names):
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config.pop("id2label")
    config.pop("label2id")
    if names:
        config["id2label"] = {str(k): name for k, name in enumerate(names)}
        config["label2id"] = {name: k for k, name in enumerate(names)}
    path.write_text(json.dumps(config))


def own_logits(folder):
    """What transformers computes of ChaosNLI's items, in the head's own order."""
    from transformers import AutoModelForSequenceClassification

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    corpus, _ = load_chaosnli("nli", "sample")
    encoded = encode(encoders.load_tokenizer(folder), corpus.take(range(20)), 128)
    with torch.inference_mode():
        return np.concatenate([model(**encoded.batch([k])).logits.numpy() for k in range(20)])


def small_of(model, **more):
    return replace(small(**more), model=model)


def predict(folder, out, **more):
    values = {"data": "sample", "dev_examples": 20, "precision": "fp32"} | more
    return predicting.predict_off_the_shelf(str(folder), out, **values)


def test_a_head_s_outputs_are_mapped_by_their_names(shelf, tmp_path):
    said = []
    run = predict(shelf, tmp_path / "run", say=said.append)
    expected = softmax(own_logits(shelf), axis=1)[:, [1, 2, 0]]
    assert shares(run)[:20] == pytest.approx(expected, abs=1e-5)
    assert np.ptp(expected, axis=1).min() > 0.1  # another order would be seen
    assert said == [
        "the model's labels are contradiction, entailment, neutral: brought into the order "
        "entailment, neutral, contradiction"
    ]
    assert run.record["predicted"]["labels"] == ["contradiction", "entailment", "neutral"]
    assert "labels contradiction, entailment, neutral" in run.record["encoder"]["origin"]
    assert run.record["dev"]["all"]["n"] == len(run.read_table("dev.parquet")) == 20
    # named by hand, it is the same
    name_labels(shelf, ["LABEL_0", "LABEL_1", "LABEL_2"])
    by_hand = predict(shelf, tmp_path / "by-hand", labels=("contradiction", "entails", "neutral"))
    assert (shares(by_hand) == shares(run)).all()


def test_what_it_was_trained_on_is_said_to_be_unknown(shelf, tmp_path):
    run = predict(shelf, tmp_path / "run")
    assert run.record["predicted"]["note"] == UNKNOWN
    assert "may have seen ChaosNLI's items" in UNKNOWN
    assert (run.record["trained_on"], run.record["fits"]) == ([], [])
    assert run.record["synthetic"] is True
    assert kind_of(run) == "predicted"
    votes = [load_votes(name, "sample") for name in ("snli", "mnli")]
    found = read_predictions(run.folder / "predictions.parquet", votes)
    assert [one.name for one in found] == ["nli-model", "nli-model"]
    for one in found:
        assert UNKNOWN in one.notes
        assert (one.origin, one.seed, one.trained_on) == ("yours", None, ())
    with pytest.raises(ChaosError, match="was not trained"):
        predicting.predict_again(str(run.folder), tmp_path / "again")
    with pytest.raises(ChaosError, match="names no weights"):
        engine.finetune(small_of(str(shelf), init=str(run.folder)), tmp_path / "x")


def test_the_recorded_command_predicts_the_same(shelf, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    name_labels(shelf, None)
    command = (
        "predict --model ./shelf/nli-model --labels contradiction,entailment,neutral --data sample "
        "--dev-examples 20 --mc-samples 2 --out results/run"
    )
    done = CliRunner().invoke(app, shlex.split(command))
    assert done.exit_code == 0, done.stderr
    first = read_run(tmp_path / "results" / "run")
    assert first.system == "nli-model, MC dropout"
    program, *words = shlex.split(first.record["command"])
    assert program == "chaos"
    assert CliRunner().invoke(app, words).exit_code == 0
    again = read_run(first.folder)
    for entry in ("outputs", "command", "settings", "predicted"):
        assert again.record[entry] == first.record[entry]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict"], "neither"),
        (["predict", "run", "--model", "./x"], "both"),
        (["predict", "run", "--labels", "entailment,neutral,contradiction"], "go with --model"),
        (["predict", "--model", "./nowhere"], "no folder"),
        (["predict", "--model", "tiny-bert", "--data", "sample"], "chaos finetune --model tiny"),
    ],
)
def test_what_cannot_predict_is_one_message(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, [*arguments, *(["--out", "made"])])
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["LABEL_0", "LABEL_1", "LABEL_2"], "--labels entailment,neutral,contradiction"),
        (None, "no names"),
        (["negative", "neutral", "positive"], "found: +3: negative, neutral, positive"),
        (["entailment", "not_entailment"], "found: +2: entailment, not_entailment"),
        (["entailment", "neutral", "neutral"], "entailment, neutral, neutral"),
    ],
)
def test_labels_that_are_not_known_are_refused(names, message, shelf, tmp_path):
    name_labels(shelf, names)
    with pytest.raises(ChaosError, match=message):
        predict(shelf, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("lost", ["classifier.weight", "bert.pooler.dense.bias"])
def test_a_head_that_is_not_whole_is_refused(lost, shelf, tmp_path):
    from safetensors.torch import load_file, save_file

    tensors = load_file(shelf / "model.safetensors")
    del tensors[lost]
    save_file(tensors, shelf / "model.safetensors", {"format": "pt"})
    with pytest.raises(ChaosError, match="no NLI head of its own") as raised:
        predict(shelf, tmp_path / "run")
    assert lost in str(raised.value)


def test_fine_tuning_starts_from_the_head_in_the_datasets_order(shelf):
    from safetensors.torch import load_file

    head = load_file(shelf / "model.safetensors")["classifier.weight"]
    encoder = encoders.find_encoder(get_model(str(shelf)))
    said = []
    model = encoders.load_start(encoder, 3, said.append)
    assert torch.equal(model.classifier.weight, head[[1, 2, 0]])
    assert len(said) == 1
    assert encoders.load_start(encoder, 1, said.append).classifier.weight.shape == (1, 32)

    name_labels(shelf, ["entailment", "neutral", "contradiction"])
    same = encoders.find_encoder(get_model(str(shelf)))
    assert torch.equal(encoders.load_start(same, 3, said.append).classifier.weight, head)
    assert len(said) == 1
    assert same.origin != encoder.origin  # which is in the key

    name_labels(shelf, ["LABEL_0", "LABEL_1", "LABEL_2"])
    with pytest.raises(ChaosError, match="which of its outputs is which"):
        encoders.load_start(encoders.find_encoder(get_model(str(shelf))), 3, said.append)

    name_labels(shelf, ["negative", "neutral", "positive"])
    other = encoders.find_encoder(get_model(str(shelf)))
    torch.manual_seed(0)
    new = encoders.load_start(other, 3, said.append).classifier.weight
    assert new.abs().max() < 0.2 < head.abs().max()
    torch.manual_seed(0)
    assert torch.equal(new, encoders.load_start(other, 3, said.append).classifier.weight)
    assert "replaced by a new one" in said[-1]


def test_a_folder_is_fine_tuned_wherever_it_stands_and_its_weights_name_their_labels(
    shelf, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    first = engine.finetune(small_of("./shelf/nli-model"), tmp_path / "first")
    assert first.system == "nli-model, 96 items, seed 0"
    shutil.move(shelf, tmp_path / "a folder")
    said = []
    settings = small_of("./a folder")
    moved = engine.finetune(settings, tmp_path / "moved", say=said.append)
    assert said == ["these weights were trained before: predicting with them"]
    assert (shares(moved) == shares(first)).all()
    assert "--model './a folder' " in moved.record["command"]
    assert not engine.default_folder(settings).name.startswith(".")
    # what was trained can be named as a model, whose labels are known
    weights = cache.weights_folder(first.record["weights"])
    again = predict(weights, tmp_path / "again")
    assert shares(again) == pytest.approx(shares(first), abs=1e-6)
    (tmp_path / "a folder" / "tokenizer_config.json").write_text("{}")
    encoder = encoders.find_encoder(get_model("./a folder"))
    assert encoder.origin != encoders.find_encoder(get_model(str(weights))).origin


@pytest.mark.parametrize("family", ["roberta", "albert", "distilbert", "xlnet", "bart",
                                    "deberta-v2", "modernbert"])  # fmt: skip
def test_every_architecture_s_last_layer_is_found(family):
    model = encoders.load_model(encoders.find_encoder(get_model(f"tiny-{family}")).folder, 3)
    model.eval()
    layer = model.get_submodule(encoders.last_layer(model))
    if layer.bias is None:
        pytest.fail("a head without a bias is another case")
    inputs = {"input_ids": torch.tensor([[2, 7, 8, 3]]), "attention_mask": torch.ones(1, 4).long()}
    with torch.inference_mode():
        before = model(**inputs).logits
        layer.bias += torch.tensor([1.0, 2.0, 3.0])
        after = model(**inputs).logits
    assert torch.allclose(after - before, torch.tensor([[1.0, 2.0, 3.0]]), atol=1e-6)


def test_a_tokenizer_that_needs_sentencepiece_is_reported(tmp_path):
    folder = tmp_path / "model"
    source = encoders.find_encoder(get_model("tiny-deberta-v2")).folder
    shutil.copytree(source, folder)
    (folder / "tokenizer.json").unlink()
    (folder / "spm.model").write_bytes(b"\x0a\x00")
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config["tokenizer_class"] = "DebertaV2Tokenizer"
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    with pytest.raises(ChaosError, match="pip install sentencepiece"):
        encoders.load_tokenizer(Path(folder))

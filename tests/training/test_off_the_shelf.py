"""Models with an NLI head of their own: asked as they are, and fine-tuned."""

import json
import shlex
import shutil

import numpy as np
import pytest
from helpers.engine import change_weights, shares, small
from scipy.special import softmax
from typer.testing import CliRunner

from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.__main__ import app
from chaos_utils.datasets.corpora import load_chaosnli
from chaos_utils.datasets.loading import load_votes
from chaos_utils.scoring.predictions import read_predictions
from chaos_utils.scoring.training_records import UNKNOWN, read_run
from chaos_utils.training import cache, encoders, predicting
from chaos_utils.training import finetune as engine
from chaos_utils.training.encoding import encode
from chaos_utils.training.recipes import get_model

ORDER = ["CONTRADICTION", "Entailment", "neutral"]
NAMELESS = ["LABEL_0", "LABEL_1", "LABEL_2"]


@pytest.fixture(scope="module")
def published(torch, tmp_path_factory):
    """A model that someone has trained for NLI, with the labels in another order than ours."""
    folder = tmp_path_factory.mktemp("published") / "nli-model"
    torch.manual_seed(5)
    source = encoders.find_encoder(get_model("tiny-bert")).folder
    model = encoders.load_model(source, 3)
    torch.nn.init.normal_(model.classifier.weight)  # it tells items apart
    torch.nn.init.normal_(model.classifier.bias)
    model.save_pretrained(folder)
    encoders.load_tokenizer(source).save_pretrained(folder)
    name_labels(folder, ORDER)
    return folder


@pytest.fixture
def shelf(published, tmp_path):
    """A copy of the model, to be changed."""
    return shutil.copytree(published, tmp_path / "nli-model")


def name_labels(folder, names):
    path = folder / "config.json"
    config = json.loads(path.read_text()) | {"id2label": dict(enumerate(names))}
    config["label2id"] = {name: k for k, name in enumerate(names)}
    if not names:
        del config["id2label"], config["label2id"]
    path.write_text(json.dumps(config))


def found_in(folder):
    return encoders.find_encoder(get_model(str(folder)))


def predict(folder, out, **more):
    values = {"data": "sample", "dev_examples": 20, "precision": "fp32"} | more
    return predicting.predict_off_the_shelf(str(folder), out, **values)


def test_outputs_are_mapped_by_their_names_and_nothing_is_said_of_training(
    torch, published, shelf, tmp_path
):
    from transformers import AutoModelForSequenceClassification

    said = []
    run = predict(published, tmp_path / "run", say=said.append)
    model = AutoModelForSequenceClassification.from_pretrained(published).eval()
    corpus, _ = load_chaosnli("nli", "sample")
    encoded = encode(encoders.load_tokenizer(published), corpus.take(range(20)), 128)
    with torch.inference_mode():  # what transformers computes, in the head's own order
        own = np.concatenate([model(**encoded.batch([k])).logits.numpy() for k in range(20)])
    expected = softmax(own, axis=1)[:, [1, 2, 0]]
    assert shares(run)[:20] == pytest.approx(expected, abs=1e-5)
    assert np.ptp(expected, axis=1).min() > 0.1  # another order would be seen
    assert said == [
        "the model's labels are contradiction, entailment, neutral: reordered to "
        "entailment, neutral, contradiction"
    ]
    # named by hand, it is the same
    name_labels(shelf, NAMELESS)
    by_hand = predict(shelf, tmp_path / "by-hand", labels=("contradiction", "entails", "neutral"))
    assert (shares(by_hand) == shares(run)).all()

    # what it was trained on is said to be unknown
    assert run.record.predicted.note == UNKNOWN
    assert (run.record.trained_on, run.record.fits) == ([], [])
    votes = [load_votes(name, "sample") for name in ("snli", "mnli")]
    found = read_predictions(run.folder / "predictions.parquet", votes)
    assert [one.name for one in found] == ["nli-model", "nli-model"]
    assert all(UNKNOWN in one.notes and one.trained_on == () for one in found)
    with pytest.raises(ChaosError, match="was not trained"):
        predicting.predict_again(str(run.folder), tmp_path / "again")
    later = small(init=str(run.folder), model=str(published))
    with pytest.raises(ChaosError, match="names no weights"):
        engine.finetune(later, tmp_path / "x")


@pytest.mark.parametrize(
    ("given", "message"),
    [("", "neither"), ("run --model ./x", "both"), ("--model tiny-bert", "chaos finetune --model")],
)
def test_what_cannot_predict_is_one_message(given, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, f"predict {given} --data sample --out made")
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (NAMELESS, "--labels entailment,neutral,contradiction"),
        ((), "no names"),
        (["entailment", "not_entailment"], "found: +2: entailment, not_entailment"),
        (["entailment", "neutral", "neutral"], "entailment, neutral, neutral"),
    ],
)
def test_labels_that_are_not_known_are_refused(names, message, shelf):
    name_labels(shelf, names)
    with pytest.raises(ChaosError, match=message):
        encoders.load_off_the_shelf(found_in(shelf), (), print)


@pytest.mark.parametrize("lost", ["classifier.weight", "bert.pooler.dense.bias"])
def test_a_head_that_is_not_whole_is_refused(lost, shelf):
    change_weights(shelf, lambda name, one: None if name == lost else one)
    with pytest.raises(ChaosError, match=rf"no NLI head of its own(.|\n)*{lost}"):
        encoders.load_off_the_shelf(found_in(shelf), (), print)


def test_fine_tuning_starts_from_the_head_in_the_datasets_order(torch, shelf):
    encoder, said = found_in(shelf), []

    def start(n_outputs=3):
        torch.manual_seed(0)
        labels = ("yes", "no") if n_outputs == 2 else ()
        model = encoders.load_start(found_in(shelf), n_outputs, said.append, labels)
        return model.classifier.weight

    head = encoders.load_model(shelf, 3).classifier.weight
    assert torch.equal(start(), head[[1, 2, 0]])
    assert len(said) == 1
    for n_outputs in (1, 2):
        assert start(n_outputs).shape == (n_outputs, 32)
        assert "for contradiction, entailment, neutral, is replaced by a new one" in said.pop()

    name_labels(shelf, ["entailment", "neutral", "contradiction"])
    assert torch.equal(start(), head)
    assert len(said) == 1
    assert found_in(shelf).origin != encoder.origin  # which is in the key

    name_labels(shelf, ["negative", "neutral", "positive"])
    new = start()
    assert new.abs().max() < 0.2 < head.abs().max()
    assert torch.equal(new, start())
    assert "replaced by a new one" in said[-1]


def test_a_folder_is_fine_tuned_wherever_it_stands_and_its_weights_name_their_labels(
    shelf, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    first = engine.finetune(small(model="./nli-model"), tmp_path / "first")
    shutil.move(shelf, tmp_path / "a folder")
    settings, said = small(model="./a folder"), []
    moved = engine.finetune(settings, tmp_path / "moved", say=said.append)
    assert said == ["these weights were trained before: predicting with them"]
    assert (shares(moved) == shares(first)).all()
    # what was trained can be named as a model, whose labels are known
    weights = cache.weights_folder(first.record.weights)
    again = predict(weights, tmp_path / "again")
    assert shares(again) == pytest.approx(shares(first), abs=1e-6)


def test_the_command_is_recorded(shelf, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    name_labels(shelf, ())
    command = (
        "predict --model ./nli-model --labels contradiction,entailment,neutral --mc-samples 2 "
        "--threads 1 --data sample --dev-examples 20 --precision fp32 --out results/run"
    )
    done = CliRunner().invoke(app, shlex.split(command))
    assert done.exit_code == 0, done.stderr
    run = read_run(tmp_path / "results" / "run")
    assert run.system == "nli-model, MC dropout"
    assert run.record.command == f"chaos {command}"

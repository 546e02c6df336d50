"""Votes of one's own: any dataset that the reader opens teaches a model, which its votes judge."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from helpers.checkout import PROJECT
from helpers.engine import shares, small, write_votes
from typer.testing import CliRunner

from chaos_utils.analyses.finetuning import RUN_COLUMNS, people_comparison, run_table
from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.__main__ import app
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.datasets.tasks import get_task
from chaos_utils.report import runs
from chaos_utils.scoring.training_records import kind_of, read_run
from chaos_utils.training import finetune as engine
from chaos_utils.training.data import load_data
from chaos_utils.training.settings import complete


def own(path, **more):
    """Return settings of a training on votes that takes a second."""
    values = {"max_train_examples": 0, "dev_examples": 0, "data": "auto", "n_folds": 3}
    return small(train=str(path), **(values | more))


def load(path, **more):
    return load_data(complete(own(path, **more))[0])


def chaos(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


def test_votes_of_any_number_of_labels_are_learnt_and_predicted_out_of_fold_by_text(tmp_path):
    for n_labels, texts in ((2, ["post"]), (40, ["post", "reply"])):
        labels = [f"label {k}" for k in range(n_labels)]
        votes = write_votes(tmp_path / f"of-{n_labels}.csv", 80, labels, texts, n_texts=40)
        data, parts, fit = load(votes), [], engine._TrainingJob.fit

        def fitting(run, train, work, inner, parts=parts, fit=fit):
            parts.append(set(train.uids) | set(inner.uids))
            return fit(run, train, work, inner)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(engine._TrainingJob, "fit", fitting)
            run = engine.finetune(own(votes), tmp_path / f"run-{n_labels}")
        text_of = dict(zip(data.train.uids, [text[0] for text in data.train.texts], strict=True))
        left_out = [set(text_of) - part for part in parts]
        assert sorted(uid for part in left_out for uid in part) == sorted(text_of)
        for inside, outside in zip(parts, left_out, strict=True):
            assert {text_of[uid] for uid in inside}.isdisjoint(text_of[uid] for uid in outside)
        assert shares(run).shape == (80, n_labels)
        (system,) = [run.predictions_on(one) for one in load_all_votes(str(votes))]
        assert (system.out_of_fold, list(system.trained_on)) == (True, [f"votes of of-{n_labels}"])
        assert {len(text) for text in data.train.texts} == {len(texts)}


def test_a_record_of_own_votes_says_that_there_are_no_development_items(tmp_path):
    said = []
    votes = write_votes(tmp_path / "votes.csv")
    run = engine.finetune(own(votes, patience=0), tmp_path / "run", say=said.append)
    record = run.record
    assert (record.dev, record.test, record.data.n_dev) == ({}, {}, 0)
    assert [*record.outputs] == ["predictions.parquet"]
    assert said[0] == "reading 'post' of 24 items; there are no development items"
    assert (record.settings.task, record.settings.loss) == ("votes", "soft")
    assert run.system == "tiny bert, vote shares alone, 3 folds, seed 0"
    assert kind_of(run) == "votes"
    trained_on = next(one for one in RUN_COLUMNS if one.heading.startswith("trained on"))
    (row,) = run_table([run]).rows.to_dict("records")
    folded = "24 items of your own (votes.csv), out of fold (3 folds)"
    assert trained_on.value(row) == folded


def test_a_part_is_held_out_by_text_the_same_for_every_seed(tmp_path):
    votes = write_votes(tmp_path / "votes.csv")
    data, other = (load(votes, held_out=0.3, n_folds=5, seed=seed) for seed in (0, 1))
    held = set(data.predicted.uids)
    assert len(held) == 6  # three texts of two items: as many as do not exceed the share
    assert held == set(other.predicted.uids)
    texts = dict(zip(data.train.uids, data.train.texts, strict=True))
    rest = set(texts) - held
    assert {texts[uid] for uid in held}.isdisjoint(texts[uid] for uid in rest)
    run = engine.finetune(own(votes, held_out=0.3, n_folds=5), tmp_path / "run")
    assert set(pd.read_parquet(run.folder / "predictions.parquet")["uid"]) == held
    assert len(run.record.fits) == 1
    assert run.system == "tiny bert, vote shares alone, 30% held out, seed 0"
    other = write_votes(tmp_path / "other.csv")  # whose runs stand in no table beside these
    names = [
        engine.finetune(own(path, held_out=0.3, n_folds=5, epochs=2), tmp_path / name).system
        for path, name in ((other, "second"), (votes, "third"))
    ]
    assert names == [run.system, f"{run.system.removesuffix(', seed 0')}, epochs 2, seed 0"]
    beside = people_comparison(run, load_all_votes(str(votes)), n_resamples=0, seed=0).rows
    assert set(beside["n_items"]) == {6}  # references are of the same items


def test_shares_are_learnt_unless_majority_labels_are_asked_for(tmp_path):
    votes = write_votes(tmp_path / "votes.csv")
    assert set(np.unique(load(votes).train.targets)) == {0.25, 0.75}
    hard = load(votes, loss="hard").train
    assert set(np.unique(hard.targets)) == {0, 1}
    assert (hard.gold == load(votes).train.gold).all()


def test_texts_are_those_that_are_named_and_folds_are_by_the_first_of_them(tmp_path):
    votes = write_votes(tmp_path / "votes.csv", texts=("post", "reply", "title"))
    data = load(votes, text="reply", pair="post")
    assert data.train.texts[0] == ("a man reply 0", "a man sleeps on day 0")
    assert len(set(data.folds.groups.tolist())) == 24  # replies differ, posts do not
    assert len(set(load(votes, text="post").folds.groups.tolist())) == 12


@pytest.mark.published("lewidi2023/*")
def test_a_dataset_of_the_package_is_trained_on_by_its_name():
    data = load("md-agreement")
    assert len(data.train) == len(data.predicted) == 10_753
    assert not any(entry.is_own for entry in data.inputs)


def test_a_label_without_votes_is_allowed_and_said(tmp_path):
    votes = write_votes(tmp_path / "votes.csv")
    (tmp_path / "votes.yml").write_text(
        "name: mine\ntitle: Mine\nlabels: ['yes', 'no', maybe]\ntexts: [post]\n"
        "files: [{name: votes.csv}]\nreader: {format: long, annotator: annotator}\n"
    )
    said = []
    run = engine.finetune(own(tmp_path / "votes.yml"), tmp_path / "run", say=said.append)
    assert "no item is 'maybe': nothing teaches the model this label" in said
    assert shares(run).shape == (24, 3)
    del votes


def test_long_texts_are_cut_and_counted(tmp_path):
    said = []
    votes = write_votes(tmp_path / "votes.csv")
    run = engine.finetune(
        own(votes, max_length=8, held_out=0.3, n_folds=5), tmp_path / "run", say=said.append
    )
    assert run.record.fits[0].longest_sequences > 0
    assert any("reach max_length=8 tokens: longer ones are cut" in line for line in said)


@pytest.mark.parametrize(
    ("of_votes", "settings", "message"),
    [
        ({"texts": ()}, {}, "have no texts"),
        ({"labels": ("yes",)}, {}, "only one label"),
        ({"n_texts": 1}, {"text": "post"}, "share one text"),
        ({"n_texts": 2}, {"text": "post"}, "3 folds for 2 different texts"),
        ({"n_texts": 2}, {"text": "post", "n_folds": 2}, "no item left to decide when to stop"),
        ({}, {"text": "pots"}, "no such text"),
        ({"texts": ("post", "reply")}, {"text": "post", "pair": "replay"}, "did you mean 'reply'"),
        ({"texts": ("post", "reply", "title")}, {}, "--text post --pair reply"),
    ],
)  # fmt: skip
def test_bad_votes_are_one_clear_error(of_votes, settings, message, tmp_path):
    votes = write_votes(tmp_path / "votes.csv", **of_votes)
    with pytest.raises(ChaosError, match=message):
        load(votes, **settings)


@pytest.mark.parametrize(
    ("several", "message"), [(True, "of one dataset"), (False, "has this name")]
)
def test_what_is_trained_on_is_one_dataset(several, message, tmp_path):
    for name in ("first", "second"):
        write_votes(tmp_path / f"{name}.csv")
        (tmp_path / f"{name}.yml").write_text(
            f"name: {name}\ntitle: Mine\nlabels: ['yes', 'no']\ntexts: [post]\n"
            f"files: [{{name: {name}.csv}}]\nreader: {{format: long, annotator: annotator}}\n"
        )
    with pytest.raises(ChaosError, match=message):
        load(tmp_path if several else tmp_path / "third.csv")


def test_a_start_that_answers_otherwise_or_has_seen_the_items_is_refused(tmp_path):
    earlier = engine.finetune(small(), tmp_path / "earlier")
    record = earlier.folder / "run.json"
    real = json.loads(record.read_text()) | {"synthetic": False}  # else refused with real votes
    record.write_text(json.dumps(real))
    votes = write_votes(tmp_path / "votes.csv")
    as_many = write_votes(tmp_path / "tone.csv", 24, ("rude", "neutral", "friendly"))
    for other in (votes, as_many):
        with pytest.raises(ChaosError, match=r"answers with other labels(.|\n)*leave init out"):
            engine.finetune(own(other, init=str(earlier.folder)), tmp_path / "run")
    stories = write_votes(tmp_path / "stories.csv", 24, get_task("alphanli").labels)
    record.write_text(json.dumps(real | {"settings": real["settings"] | {"task": "alphanli"}}))
    with pytest.raises(ChaosError, match="of another task"):  # a logit for each story, not label
        engine.finetune(own(stories, init=str(earlier.folder)), tmp_path / "run")
    record.write_text(json.dumps(real))
    assert not (tmp_path / "run").exists()
    labels = ("neutral", "contradiction", "entailment")
    other = write_votes(tmp_path / "nli.csv", 24, labels, ("premise", "hypothesis"))
    said = []
    settings = own(other, init=str(earlier.folder), held_out=0.3, n_folds=5)
    run = engine.finetune(settings, tmp_path / "started", say=said.append)
    assert run.settings.head == "affine"
    assert run.record.trained_on == ["SNLI", "MNLI", "votes of nli"]
    assert run.record.out_of_fold
    seen = engine.load_data(small()).train.texts[0][0]
    other.write_text(other.read_text().replace("a man sleeps on day 0", f'"{seen}"'))
    with pytest.raises(ChaosError, match="training items have premises that occur in nli"):
        engine.finetune(own(other, init=str(earlier.folder)), tmp_path / "seen")
    again = own(votes, init=str(run.folder))
    with pytest.raises(ChaosError, match="model for each fold"):
        engine.finetune(again, tmp_path / "again")


@pytest.mark.usefixtures("in_process")
def test_the_command_trains_and_what_it_predicts_is_judged_beside_references(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_votes(tmp_path / "votes.csv")
    command = ["finetune", "--model", "tiny-bert", "--train", "votes.csv", "--n-folds", "2"]
    done = chaos(*command, "--epochs", "1", "--out", "run")
    assert done.exit_code == 0, done.stderr
    command_of = read_run(tmp_path / "run").command
    assert "--train votes.csv" in command_of
    assert "--task" not in command_of
    assert "--loss" not in command_of
    done = chaos("evaluate", "run/predictions.parquet", "--data", "votes.csv", "--bootstrap", "0",
                 "--json")  # fmt: skip
    assert done.exit_code == 0, done.stderr
    systems = {row["system"] for row in json.loads(done.stdout)["results"]}
    assert systems >= {"tiny bert, vote shares alone, 2 folds, seed 0", "base rate"}
    done = chaos(*command, "--text", "pots", "--out", "other")
    assert done.exit_code == 2
    assert "no such text" in done.stderr
    assert not (tmp_path / "other").exists()


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with the chapter, and no run."""
    for name in ("notebooks/train.py", "CITATION.cff", "_toc.yml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(PROJECT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("checkout", "empty_cache")
def test_the_chapter_trains_on_a_votes_file_and_sets_the_run_beside_guesses(tmp_path):
    """Its figure and tables are of the file, and the run can be cited."""
    votes = write_votes(tmp_path / "votes.csv", 80, n_texts=40, each=6)
    words = [f"train={votes}", "model=tiny-bert", "n_folds=2", "epochs=1", "threads=1",
             "resamples=20", f"output={tmp_path / 'mine'}"]  # fmt: skip
    done = chaos("run", "train", *(part for word in words for part in ("-p", word)))
    assert done.exit_code == 0, done.stderr
    assert "loss" in done.stderr
    run = read_run(tmp_path / "mine")
    assert len(run.read_table("predictions.parquet")) == 80
    (folder,) = runs.run_folders()
    made = {id: runs.manifest_in(folder, runs.load(folder), id).data
            for id in ("fig-trained", "tbl-trained", "tbl-training-cost")}  # fmt: skip
    assert {row["kind"] for row in made["fig-trained"]} == {"baseline", "trained"}
    assert "votes" in {row["dataset"] for row in made["tbl-trained"]}
    assert chaos("cite", f"{folder.name}/fig-trained").exit_code == 0

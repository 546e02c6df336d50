"""The engine, whole: tiny models learn from the synthetic sample."""

import hashlib
import json
import shutil
from contextlib import nullcontext
from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.engine import shares, small, stop_at
from helpers.runs import write_run
from scipy.spatial.distance import jensenshannon

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.splits import grouped_folds, item_groups
from chaos_utils.scoring.fitting import FittedMap
from chaos_utils.scoring.trained import read_run
from chaos_utils.training import cache, predicting
from chaos_utils.training import finetune as engine
from chaos_utils.training.data import load_data
from chaos_utils.training.dropout import byte_dropout
from chaos_utils.training.encoders import WEIGHTS, find_encoder, load_model, load_tokenizer
from chaos_utils.training.encoding import encode
from chaos_utils.training.objectives import fold_into_head, mean_loss, summed_loss
from chaos_utils.training.recipes import TINY_FAMILIES, get_model
from chaos_utils.training.settings import complete

PLAIN = small(trajectory=3)
KNOWN = "these weights were trained before: predicting with them"


@pytest.fixture(scope="module")
def trained(module_cache, tmp_path_factory):
    """A run on the corpora, and one that starts from it and learns its probabilities."""
    folder, seen = tmp_path_factory.mktemp("trained"), {}

    def report(what, done, of):
        seen[what] = (done, of)

    plain = engine.finetune(PLAIN, folder / "plain", report=report)
    earlier = {"init": str(plain.folder), "teacher": str(plain.folder)}
    taught = small(loss="soft", seed=1, **earlier)
    student = engine.finetune(taught, folder / "student", report=report)
    return SimpleNamespace(plain=plain, student=student, taught=taught, seen=seen)


# What a run leaves


def test_a_record_says_what_was_read_and_made(trained, tmp_path):
    folder = shutil.copytree(trained.plain.folder, tmp_path / "copy")
    record = trained.plain.record
    assert record["system"] == "tiny bert, 96 items, seed 0"
    assert record["synthetic"] is True
    assert all(entry["synthetic"] for entry in record["inputs"])
    for name, sha256 in record["outputs"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == sha256
    assert str(folder.parents[1]) not in (folder / "run.json").read_text()
    assert record["fits"][0]["pairs"] == 96
    (folder / "dev.parquet").write_bytes(b"")
    with pytest.raises(ChaosError, match="not the one that its record names"):
        read_run(folder).read_table("dev.parquet")


def test_every_prediction_reports_how_far_it_is(trained):
    assert {"training", "looking at dev", "predicting dev", "predicting ChaosNLI",
            "asking the teacher"} < set(trained.seen)  # fmt: skip
    assert trained.seen["asking the teacher"] == (96, 96)
    assert all(done == of for done, of in trained.seen.values())


def test_a_trajectory_ends_where_the_run_ends(trained):
    table = trained.plain.read_table("trajectory.parquet")
    assert table.step.max() == trained.plain.record["fits"][0]["steps"]
    last = table[table.step == table.step.max()].select_dtypes("float").to_numpy()
    assert last == pytest.approx(shares(trained.plain), abs=1e-6)
    assert table.groupby("step").size().nunique() == 1


def test_fewer_development_and_test_items_are_predicted_where_that_is_asked(trained, tmp_path):
    run = trained.plain
    assert run.record["dev"]["all"]["n"] == run.record["test"]["all"]["n"] == 24
    assert len(run.read_table("dev.parquet")) == run.record["data"]["n_dev"] == 24
    run = engine.finetune(small(dev_examples=0), tmp_path / "all")
    data = load_data(small())
    assert run.record["dev"]["all"]["n"] == len(data.dev) > 24
    assert run.record["test"]["all"]["n"] == len(data.tests) > 24


def test_dropout_at_prediction_gives_other_and_repeatable_probabilities(trained, tmp_path):
    plain = trained.plain
    first, again, once = (
        predicting.predict_again(str(plain.folder), tmp_path / name, mc_samples=samples)
        for name, samples in (("first", 2), ("again", 2), ("once", 0))
    )
    assert first.system == "tiny bert, 96 items, seed 0, MC dropout"
    assert (shares(first) == shares(again)).all()
    assert (shares(first) != shares(plain)).any()
    assert (shares(once) == shares(plain)).all()
    assert once.record["dev"] == plain.record["dev"]


# Weights that are kept


def test_what_was_trained_already_is_not_trained_again(trained, tmp_path):
    plain, said = trained.plain, []
    budget = plain.settings["token_budget"]
    settings = replace(PLAIN, token_budget=budget, threads=1)  # a default is its value
    again = engine.finetune(settings, tmp_path / "again", say=said.append)
    assert said == [KNOWN]
    assert again.record["outputs"] == plain.record["outputs"]
    assert "trajectory.parquet" in again.record["outputs"]


def test_weights_are_known_by_all_that_decides_them(tmp_path):
    usual = complete(small())[0]
    data = load_data(usual)
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / WEIGHTS).write_text(name)

    def key(settings=usual, origin="here", train=data.train, dev=data.dev, start="", teacher=""):
        earlier = (tmp_path / name if name else None for name in (start, teacher))
        return cache.run_key(settings, origin, (train, dev), *earlier)

    def changed(settings):
        other = {str: "other", int: 1234, float: 0.1234}
        for one in fields(settings):
            value = "tiny-roberta" if one.name == "model" else other[one.type]
            yield one.name, replace(settings, **{one.name: value})

    folded = replace(usual, train="chaosnli")
    assert {name for name, made in changed(folded) if key(made) == key(folded)} == {
        "data", "init", "teacher"
    }  # fmt: skip
    assert {name for name, made in changed(usual) if key(made) == key()} == {
        "data", "init", "teacher", "n_folds", "head"
    }  # fmt: skip
    others = [
        {"origin": "there"}, {"train": data.dev}, {"dev": data.train},
        {"train": replace(data.train, targets=data.train.targets[::-1])},
        {"start": "one"}, {"start": "other"}, {"teacher": "one"}, {"teacher": "other"},
    ]  # fmt: skip
    assert len({key(), *(key(**more) for more in others)}) == 1 + len(others)


def test_a_later_run_starts_from_an_earlier_one_whose_weights_are_made_again(
    trained, empty_cache, tmp_path
):
    said = []
    again = engine.finetune(trained.taught, tmp_path / "student", say=said.append)
    assert said == ["the weights of plain are not cached: training them first"]
    assert (
        again.record["outputs"]["dev.parquet"] == trained.student.record["outputs"]["dev.parquet"]
    )
    assert (shares(again) == shares(trained.student)).all()
    assert (shares(again) != shares(trained.plain)).any()


def test_a_teacher_s_probabilities_are_learnt(trained):
    run = trained.student
    # the teacher is unsure, so its targets leave a loss near ln 3 and far from one-hot's
    assert run.record["fits"][0]["curve"][0]["loss"] == pytest.approx(np.log(3), abs=0.05)
    assert set(run.record["trained_on"]) == {"SNLI", "MNLI"}
    assert not run.record["out_of_fold"]
    assert f"{run.record['family']}, seed 1" == run.system


def test_weights_that_were_changed_are_refused(trained, module_cache, empty_cache, tmp_path):
    key = trained.plain.record["weights"]
    folder = shutil.copytree(module_cache / "weights" / key, cache.weights_folder(key))
    path = folder / WEIGHTS
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(ChaosError, match="SHA-256 differs"):
        predicting.predict_again(str(trained.plain.folder), tmp_path / "again")


@pytest.mark.parametrize(
    ("recorded", "real", "message"),
    [
        ({"model": "tiny-roberta"}, False, "another encoder"),
        ({"task": "alphanli"}, False, "of another task"),
        ({"train": "chaosnli"}, False, "a model for each fold"),
        ({}, True, "learnt from the synthetic sample"),
    ],
)
def test_a_start_from_something_else_is_refused(recorded, real, message, sample, tmp_path):
    settings = {"model": "tiny-bert"} | recorded
    given = [one.shares for one in sample[:2]]
    run = write_run(tmp_path / "run", sample[:2], given, settings=settings)
    data = load_data(small())
    if real:
        of_people = [replace(one, source=replace(one.source, synthetic=False))
                     for one in data.votes]  # fmt: skip
        data = replace(data, votes=of_people)
    later = small(init=str(run.folder))
    with pytest.raises(ChaosError, match=message):
        engine.weights_of(later.init, later, data, "cpu", print, print)


# What is replaced, and what is refused


def test_nothing_of_the_reader_s_is_replaced_by_a_run(trained, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious.txt").write_text("x")
    (tmp_path / "file").write_text("x")
    for place in ("mine", "file"):
        with pytest.raises(ChaosError, match="holds something else"):
            engine.finetune(PLAIN, tmp_path / place)
    assert (tmp_path / "mine" / "precious.txt").read_text() == "x"
    shutil.copytree(trained.student.folder, tmp_path / "run")
    engine.finetune(PLAIN, tmp_path / "run")  # an earlier run may be
    assert read_run(tmp_path / "run").settings["seed"] == 0
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "file", "run"}


@pytest.mark.parametrize("missing", ["train", "labels", "dev"])
def test_too_few_items_are_reported(missing, tmp_path):
    folder = tmp_path / "data"
    shutil.copytree(sources.sample_folder(), folder)
    for path in folder.glob("*/*_train.jsonl" if missing != "dev" else "*/*_dev*.jsonl"):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        kept = (
            [row for row in rows if row["gold_label"] == "neutral"] if missing == "labels" else []
        )
        path.write_text("".join(json.dumps(row) + "\n" for row in kept))
    with pytest.raises(ChaosError, match="are too few"):
        load_data(small(data=str(folder), max_train_examples=0))


# Training


@pytest.fixture
def distilbert(monkeypatch):
    """A function that puts another forward pass in the place of DistilBERT's."""
    from transformers import DistilBertForSequenceClassification as Classifier

    forward = Classifier.forward

    def replaced(other):
        monkeypatch.setattr(Classifier, "forward", lambda *of, **more: other(forward, *of, **more))

    return replaced


@pytest.fixture
def short_of_memory(distilbert, torch):
    """A function that makes memory run out beyond a number of tokens."""

    def limit(tokens):
        def limited(forward, model, input_ids=None, **more):
            if input_ids.numel() > tokens:
                raise torch.OutOfMemoryError("no more")
            return forward(model, input_ids=input_ids, **more)

        distilbert(limited)

    return limit


@pytest.mark.parametrize("dropout", [False, True])
def test_when_memory_runs_out_a_batch_is_cut(
    dropout, torch, short_of_memory, empty_cache, tmp_path, monkeypatch
):
    if not dropout:
        monkeypatch.setattr("chaos_utils.training.loop.byte_dropout", lambda: nullcontext)
        monkeypatch.setattr(torch.nn.functional, "dropout", lambda values, *rest, **more: values)
    settings = small("distilbert", max_train_examples=32, learning_rate=1e-3)
    whole = engine.finetune(settings, tmp_path / "whole")
    short_of_memory(200)
    monkeypatch.setenv("CHAOS_CACHE", str(empty_cache / "cut"))
    said = []
    cut = engine.finetune(settings, tmp_path / "cut", say=said.append)
    assert any("out of memory: going on with at most" in text for text in said)
    one, other = whole.record["fits"][0], cut.record["fits"][0]
    assert one["pairs"] == other["pairs"]
    assert one["token_budget"] == cut.settings["token_budget"] > 200 >= other["token_budget"]
    same = np.abs(shares(cut) - shares(whole)).max() < 1e-5
    assert same != dropout  # masks are drawn for each part, so that the record names the budget
    if not dropout:
        return
    # a run that is resumed keeps the budget that was cut, although memory is there again
    monkeypatch.setenv("CHAOS_CACHE", str(empty_cache / "resumed"))
    with pytest.raises(KeyboardInterrupt):
        engine.finetune(settings, tmp_path / "run", checkpoint_seconds=0, report=stop_at(1))
    short_of_memory(10**9)
    said.clear()
    run = engine.finetune(settings, tmp_path / "run", say=said.append)
    assert said == ["resuming after step 1"]
    assert run.record["fits"][0]["token_budget"] <= 200
    assert shares(run) == pytest.approx(shares(cut), abs=1e-6)


def test_an_item_that_never_fits_is_an_error(short_of_memory, tmp_path):
    short_of_memory(0)
    with pytest.raises(ChaosError, match="single item"):
        engine.finetune(small("distilbert"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_training_that_diverges_is_an_error(distilbert, tmp_path):
    def broken(forward, *of, **more):
        found = forward(*of, **more)
        found.logits = found.logits * float("nan")
        return found

    distilbert(broken)
    with pytest.raises(ChaosError, match="smaller learning rate"):
        engine.finetune(small("distilbert"), tmp_path / "run")


def test_the_loss_is_cross_entropy_with_the_targets(torch, tmp_path):
    settings = small(batch_size=96, token_budget=10**6)
    run = engine.finetune(settings, tmp_path / "run")
    data, folder = load_data(settings), find_encoder(get_model("tiny-bert")).folder
    torch.manual_seed(0)
    model = load_model(folder, 3).train()
    model.set_attn_implementation("eager")
    torch.manual_seed(0)
    encoded = encode(load_tokenizer(folder), data.train, 128)
    items = engine.plan_batches(encoded.lengths, 96, 1, 0)[0]
    with byte_dropout()():
        logits = model(**encoded.batch(items)).logits
    wanted = torch.tensor(data.train.targets[items], dtype=torch.float32)
    expected = torch.nn.functional.cross_entropy(logits, wanted)
    assert run.record["fits"][0]["curve"][0]["loss"] == pytest.approx(expected.item(), abs=1e-5)


def test_divergence_as_a_loss_is_scipy_s_and_has_a_slope_everywhere(torch):
    rng = np.random.default_rng(0)
    logits, targets = rng.normal(size=(50, 3)) * 4, rng.dirichlet([0.3] * 3, size=50)
    targets[:10] = np.eye(3)[rng.integers(0, 3, 10)]  # shares of nil
    logits[0] = [0, 300, -300]
    targets[0] = [1, 0, 0]
    probabilities = engine.softmax(logits, axis=1)
    wanted = jensenshannon(probabilities, targets, axis=1) ** 2
    assert mean_loss(logits, targets, "jsd") == pytest.approx(wanted.mean(), abs=1e-9)
    assert mean_loss(targets * 0, targets * 0 + 1 / 3, "jsd") == pytest.approx(0, abs=1e-12)
    entropy = -(targets * np.log(probabilities + 1e-300)).sum(axis=1)
    assert mean_loss(logits[1:], targets[1:], "soft") == pytest.approx(entropy[1:].mean())
    given = torch.tensor(logits, dtype=torch.float32, requires_grad=True)
    summed_loss(given, torch.tensor(targets, dtype=torch.float32), "jsd").backward()
    assert torch.isfinite(given.grad).all()
    step = 1e-5
    for item, label in ((1, 0), (12, 2), (30, 1)):
        moved = logits.copy()
        moved[item, label] += step
        slope = 50 * (mean_loss(moved, targets, "jsd") - mean_loss(logits, targets, "jsd")) / step
        assert float(given.grad[item, label]) == pytest.approx(slope, abs=1e-4)


def test_patience_ends_a_run_and_keeps_the_best_epoch(tmp_path):
    settings = small(epochs=9, patience=1, learning_rate=1e-12)
    fit = engine.finetune(settings, tmp_path / "run").record["fits"][0]
    assert fit["steps"] == 2 * fit["planned_steps"] / 9  # no epoch is better than the first
    assert len(fit["looks"]) == 2


# On the votes


def test_runs_on_the_votes_learn_what_the_loss_asks_for_and_are_judged_on_other_premises():
    for loss in ("hard", "soft", "jsd"):
        data = load_data(small(train="chaosnli", loss=loss, max_train_examples=0))
        assert not set(data.dev.groups()) & set(data.chaosnli.groups())
        if loss == "hard":
            assert set(np.unique(data.train.targets)) == {0.0, 1.0}
        else:
            assert (data.train.targets == data.chaosnli.targets).all()


@pytest.mark.parametrize(
    ("loss", "patience"),
    [
        ("jsd", 1),
        pytest.param("hard", 0, marks=pytest.mark.slow),
        pytest.param("soft", 0, marks=pytest.mark.slow),
    ],
)
def test_training_on_the_votes_predicts_every_item_out_of_fold(
    loss, patience, tmp_path, monkeypatch
):
    seen, inside = [], []
    fit = engine._fit

    def watched(shop, train, work, start, inner):
        seen.append(set(train.uids))
        inside.append(set(inner.uids) if inner else set())
        return fit(shop, train, work, start, inner)

    monkeypatch.setattr(engine, "_fit", watched)
    settings = small(train="chaosnli", loss=loss, n_folds=3, max_train_examples=0, epochs=1,
                     batch_size=64, patience=patience)  # fmt: skip
    run = engine.finetune(settings, tmp_path / "run")
    data = load_data(settings)
    groups = dict(zip(data.chaosnli.uids, np.concatenate(item_groups(data.votes)), strict=True))
    assert len(seen) == 3
    left_out = []
    for train, inner, fitted in zip(seen, inside, run.record["fits"], strict=True):
        assert bool(inner) == bool(patience)
        assert fitted.get("inner_examples", 0) == len(inner)
        assert len(inner) == pytest.approx(patience * (len(train) + len(inner)) / 8, rel=0.3)
        outside = set(groups) - train - inner
        left_out += outside
        parts = [{int(groups[uid]) for uid in part} for part in (train, inner, outside)]
        assert sum(map(len, parts)) == len(set.union(*parts))  # no premise is on two sides
    assert sorted(left_out) == sorted(groups)  # every item is left out once
    assert len(shares(run)) == len(data.chaosnli) == 600
    assert run.record["trained_on"] == ["votes of snli", "votes of mnli"]
    assert run.record["out_of_fold"]


def folded(base, **more):
    """Return the settings of a run on the votes, from the weights of another."""
    values = {"train": "chaosnli", "loss": "soft", "init": str(base.folder), "n_folds": 2,
              "max_train_examples": 0, "batch_size": 64}  # fmt: skip
    return small(**(values | more))


@pytest.mark.parametrize(
    ("task", "loss"),
    [
        ("nli", "soft"),
        pytest.param("nli", "jsd", marks=pytest.mark.slow),
        pytest.param("alphanli", "soft", marks=pytest.mark.slow),
    ],
)
def test_a_fitted_head_starts_at_the_map_that_was_fitted(
    task, loss, trained, tmp_path, monkeypatch
):
    is_nli = task == "nli"
    base = trained.plain if is_nli else engine.finetune(small(task=task), tmp_path / "base")
    settings = folded(base, task=task, loss=loss, learning_rate=1e-12, patience=1)
    kinds, fold = [], engine.fold_into_head
    data, cpu = load_data(settings), engine.choose_device("cpu", "fp32")
    tokenizer = load_tokenizer(find_encoder(get_model("tiny-bert")).folder)
    encoded = encode(tokenizer, data.chaosnli, 128)

    def folding(model, found):
        kinds.append(found.kind)
        logits = engine.predict_logits(model, encoded, cpu)
        expected = found.predict(logits[:, np.newaxis])
        fold(model, found)
        given = engine.softmax(engine.predict_logits(model, encoded, cpu), axis=1)
        assert given == pytest.approx(expected, abs=1e-4)
        assert np.abs(given - engine.softmax(logits, axis=1)).max() > 1e-4

    monkeypatch.setattr(engine, "fold_into_head", folding)
    run = engine.finetune(settings, tmp_path / "run")
    assert kinds == ["affine" if is_nli else "temperature"] * 2
    assert run.settings["head"] == "affine"
    if loss == "jsd":  # whose fit is of the distance, not of the divergence
        return
    kept = engine.finetune(replace(settings, head="kept"), tmp_path / "kept")
    for one, other in zip(run.record["fits"], kept.record["fits"], strict=True):
        assert one["inner_losses"][0] < other["inner_losses"][0]  # nearer to votes it has not seen


@pytest.mark.parametrize("family", TINY_FAMILIES)
def test_every_architecture_s_head_can_be_fitted(family, torch):
    model = load_model(find_encoder(get_model(f"tiny-{family}")).folder, 3).eval()
    turn, shift = np.array([[2.0, 0, 1], [0, 1, 0], [0, 3, 1]]), np.array([1.0, -2, 0.5])
    batch = {"input_ids": torch.tensor([[2, 7, 8, 9, 3]]),
             "attention_mask": torch.ones(1, 5, dtype=torch.long)}  # fmt: skip
    if family == "bart":
        batch["input_ids"][:] = model.config.eos_token_id
    logits = model(**batch).logits.detach().numpy()
    fold_into_head(model, FittedMap("affine", turn, shift))
    fitted = model(**batch).logits.detach().numpy()
    assert fitted == pytest.approx(logits @ turn + shift, abs=1e-4)


def test_inner_folds_stop_a_training_and_keep_its_best_epoch(trained, tmp_path, monkeypatch):
    losses = iter([0.9, 0.8, 0.85, 0.86, 0.5, 0.6, 0.7])
    monkeypatch.setattr(engine, "mean_loss", lambda *_: next(losses))
    at_looks = []
    logits = engine._Workshop.logits

    def watched(self, model, corpus, what, *more):
        found = logits(self, model, corpus, what, *more)
        if what == "looking at the inner fold":
            held = logits(self, model, self.data.chaosnli, what)
            at_looks.append(engine.softmax(held, axis=1))
        return found

    monkeypatch.setattr(engine._Workshop, "logits", watched)
    settings = folded(trained.plain, epochs=9, patience=2)
    run = engine.finetune(settings, tmp_path / "run")
    fits = run.record["fits"]
    assert [one["inner_losses"] for one in fits] == [[0.9, 0.8, 0.85, 0.86], [0.5, 0.6, 0.7]]
    assert [one["kept_epoch"] for one in fits] == [1, 0]
    assert [one["steps"] * 9 / one["planned_steps"] for one in fits] == [3, 2]
    fold = grouped_folds(np.concatenate(item_groups(load_data(settings).votes)), 2, 0)
    for k, best in ((0, at_looks[1]), (1, at_looks[4])):
        assert shares(run)[fold == k] == pytest.approx(best[fold == k], abs=1e-4)

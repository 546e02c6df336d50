"""The engine, whole: tiny models of every architecture, on the synthetic sample."""

import hashlib
import json
import os
import shutil
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.engine import shares, small, stop_at
from scipy.spatial.distance import jensenshannon

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.splits import grouped_folds, item_groups
from chaos_utils.scoring.fitting import FittedMap
from chaos_utils.scoring.trained import read_run, runs_in
from chaos_utils.training import cache, predicting
from chaos_utils.training import finetune as engine
from chaos_utils.training.objectives import mean_loss, summed_loss

pytestmark = pytest.mark.usefixtures("one_thread", "own_work")


@pytest.mark.parametrize("dropout", [False, True])
def test_when_memory_runs_out_a_batch_is_cut(dropout, tmp_path, monkeypatch):
    if not dropout:
        monkeypatch.setattr("chaos_utils.training.loop.byte_dropout", lambda: nullcontext)
        monkeypatch.setattr(torch.nn.functional, "dropout", lambda values, *rest, **more: values)
    settings = small("distilbert", max_train_examples=32, learning_rate=1e-3)
    whole = engine.finetune(settings, tmp_path / "whole")
    from transformers import DistilBertForSequenceClassification as Classifier

    forward = Classifier.forward

    def short_of_memory(self, input_ids=None, **more):
        if input_ids.numel() > 200:
            raise torch.OutOfMemoryError("no more")
        return forward(self, input_ids=input_ids, **more)

    monkeypatch.setattr(Classifier, "forward", short_of_memory)
    monkeypatch.setenv("CHAOS_CACHE", os.environ["CHAOS_CACHE"] + "/other")
    messages = []
    cut = engine.finetune(settings, tmp_path / "cut", say=messages.append)
    assert any("out of memory: going on with at most" in text for text in messages)
    one, other = whole.record["fits"][0], cut.record["fits"][0]
    assert one["pairs"] == other["pairs"]
    assert one["token_budget"] == cut.settings["token_budget"] > 200 >= other["token_budget"]
    same = np.abs(shares(cut) - shares(whole)).max() < 1e-5
    assert same != dropout  # masks are drawn for each part, so that the record names the budget


def test_runs_with_other_token_budgets_or_threads_are_not_taken_for_each_other(tmp_path):
    runs = []
    for name, more in (("usual", {}), ("cut", {"token_budget": 200}), ("two", {"threads": 2})):
        with pytest.raises(KeyboardInterrupt):
            engine.finetune(small(**more), tmp_path / name, checkpoint_seconds=0, report=stop_at(2))
    for name, more in (("usual", {}), ("cut", {"token_budget": 200}), ("two", {"threads": 2})):
        said = []
        runs.append(engine.finetune(small(**more), tmp_path / name, say=said.append))
        assert said == ["resuming after step 2"]  # of its own checkpoint
    assert len({run.record["weights"] for run in runs}) == 3
    assert (shares(runs[0]) != shares(runs[1])).any()
    assert [run.settings["threads"] for run in runs] == [1, 1, 2]
    # a default is the same run as its value
    said = []
    budget = runs[0].settings["token_budget"]
    engine.finetune(small(token_budget=budget, threads=1), tmp_path / "again", say=said.append)
    assert said == ["these weights were trained before: predicting with them"]


def test_a_budget_that_was_cut_is_kept_when_the_run_is_resumed(tmp_path, monkeypatch):
    from transformers import DistilBertForSequenceClassification as Classifier

    forward = Classifier.forward

    def short_of_memory(self, input_ids=None, **more):
        if input_ids.numel() > 200:
            raise torch.OutOfMemoryError("no more")
        return forward(self, input_ids=input_ids, **more)

    settings = small("distilbert", max_train_examples=48)
    monkeypatch.setattr(Classifier, "forward", short_of_memory)
    unbroken = engine.finetune(settings, tmp_path / "unbroken")
    monkeypatch.setenv("CHAOS_CACHE", os.environ["CHAOS_CACHE"] + "/other")
    with pytest.raises(KeyboardInterrupt):
        engine.finetune(settings, tmp_path / "run", checkpoint_seconds=0, report=stop_at(1))
    monkeypatch.setattr(Classifier, "forward", forward)
    said = []
    run = engine.finetune(settings, tmp_path / "run", say=said.append)
    assert said == ["resuming after step 1"]
    assert run.record["fits"][0]["token_budget"] <= 200
    assert shares(run) == pytest.approx(shares(unbroken), abs=1e-6)


def test_fewer_development_and_test_items_are_predicted_where_that_is_asked(tmp_path):
    data = engine.load_data(small())
    run = engine.finetune(small(dev_examples=24), tmp_path / "few")
    assert run.record["dev"]["all"]["n"] == run.record["test"]["all"]["n"] == 24
    assert len(run.read_table("dev.parquet")) == run.record["data"]["n_dev"] == 24
    again = predicting.predict_again(str(tmp_path / "few"), tmp_path / "again")
    assert again.record["dev"] == run.record["dev"]
    run = engine.finetune(small(dev_examples=0), tmp_path / "all")
    assert run.record["dev"]["all"]["n"] == len(data.dev) > 24
    assert run.record["test"]["all"]["n"] == len(data.tests) > 24


def test_every_prediction_reports_how_far_it_is(tmp_path):
    seen = {}

    def report(what, done, of):
        seen[what] = (done, of)

    engine.finetune(small(), tmp_path / "teacher", report=report)
    assert {"training", "looking at dev", "predicting dev", "predicting ChaosNLI"} < set(seen)
    settings = small(loss="soft", teacher=str(tmp_path / "teacher"))
    engine.finetune(settings, tmp_path / "student", report=report)
    assert seen["asking the teacher"] == (96, 96)
    assert all(done == of for done, of in seen.values())


def test_a_name_that_is_taken_is_given_the_settings_that_differ(tmp_path):
    def made(name, **more):
        settings = small(max_train_examples=32, **more)
        return engine.finetune(settings, tmp_path / "results" / name)

    plain = made("plain")
    assert plain.system == "tiny bert, 32 items, seed 0"
    longer = made("longer", epochs=2)
    assert longer.system == "tiny bert, 32 items, epochs 2, seed 0"
    assert longer.record["family"] == "tiny bert, 32 items, epochs 2"
    assert longer.about()["family"] == longer.record["family"]
    both = made("both", epochs=2, batch_size=8)
    assert both.system == "tiny bert, 32 items, epochs 2, batch size 8, seed 0"
    # another seed belongs to those that it differs from in nothing else
    assert made("plain-s1", seed=1, threads=2).record["family"] == plain.record["family"]
    assert made("longer-s1", epochs=2, seed=1).record["family"] == longer.record["family"]
    assert made("threads", threads=2).system == "tiny bert, 32 items, threads 2, seed 0"
    again = made("plain")  # which replaces itself
    assert again.record["outputs"] == plain.record["outputs"]
    dropped = [
        predicting.predict_again(str(run.folder), tmp_path / "results" / f"{run.name}-{n}",
                                 mc_samples=n)
        for run, n in ((plain, 2), (plain, 3), (longer, 2))
    ]  # fmt: skip
    assert [run.system for run in dropped] == [
        "tiny bert, 32 items, seed 0, MC dropout",
        "tiny bert, 32 items, mc samples 3, seed 0, MC dropout",
        "tiny bert, 32 items, epochs 2, seed 0, MC dropout",
    ]
    runs = list(runs_in(tmp_path / "results"))
    assert len({run.system for run in runs}) == len(runs) == 9


def test_another_run_s_damaged_record_stops_nothing(tmp_path):
    run = engine.finetune(small(), tmp_path / "first")
    (run.folder / "run.json").write_text("{")
    assert engine.finetune(small(), tmp_path / "second").system == run.system


def test_an_item_that_never_fits_is_an_error(tmp_path, monkeypatch):
    from transformers import DistilBertForSequenceClassification as Classifier

    def no_memory(self, **more):
        raise torch.OutOfMemoryError("no more")

    monkeypatch.setattr(Classifier, "forward", no_memory)
    with pytest.raises(ChaosError, match="single item"):
        engine.finetune(small("distilbert"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_training_that_diverges_is_an_error(tmp_path, monkeypatch):
    from transformers import DistilBertForSequenceClassification as Classifier

    forward = Classifier.forward

    def broken(self, **more):
        found = forward(self, **more)
        found.logits = found.logits * float("nan")
        return found

    monkeypatch.setattr(Classifier, "forward", broken)
    with pytest.raises(ChaosError, match="smaller learning rate"):
        engine.finetune(small("distilbert"), tmp_path / "run")


def test_the_loss_is_cross_entropy_with_the_targets(tmp_path):
    settings = small(batch_size=96, token_budget=10**6)
    run = engine.finetune(settings, tmp_path / "run")
    data = engine.load_data(settings)
    from chaos_utils.training.dropout import byte_dropout
    from chaos_utils.training.encoders import find_encoder, load_model, load_tokenizer
    from chaos_utils.training.encoding import encode
    from chaos_utils.training.recipes import get_model

    folder = find_encoder(get_model("tiny-bert")).folder
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


@pytest.mark.parametrize(
    ("loss", "patience"),
    [
        ("hard", 0),
        ("jsd", 1),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (("soft", 0), ("soft", 1), ("jsd", 0), ("hard", 1))
        ),
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
    data = engine.load_data(settings)
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
    if loss == "hard":
        assert set(np.unique(data.train.targets)) == {0.0, 1.0}
    else:
        assert (data.train.targets == data.chaosnli.targets).all()


def folded(tmp_path, **more):
    """A run on the votes, from the weights of another."""
    if not (tmp_path / "base").exists():
        engine.finetune(small(task=more.get("task", "nli")), tmp_path / "base")
    values = {"train": "chaosnli", "loss": "soft", "init": str(tmp_path / "base"), "n_folds": 2,
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
def test_a_fitted_head_starts_at_the_map_that_was_fitted(task, loss, tmp_path, monkeypatch):
    settings = folded(tmp_path, task=task, loss=loss, learning_rate=1e-12, patience=1)
    before, fitted = {}, {}
    fit_head, fold = engine.fit_head, engine.fold_into_head

    def watched(logits, targets, *more):
        found = fit_head(logits, targets, *more)
        before[id(found)], fitted[id(found)] = logits, found
        return found

    def folding(model, found):
        data = engine.load_data(settings)
        tokenizer = engine.load_tokenizer(engine.find_encoder(engine.complete(settings)[1]).folder)
        encoded = engine.encode(tokenizer, data.chaosnli, 128)
        logits = engine.predict_logits(model, encoded, engine.choose_device("cpu", "fp32"))
        expected = found.predict(logits[:, np.newaxis])
        fold(model, found)
        now = engine.predict_logits(model, encoded, engine.choose_device("cpu", "fp32"))
        given = engine.softmax(now, axis=1)
        assert given == pytest.approx(expected, abs=1e-4)
        assert np.abs(given - engine.softmax(logits, axis=1)).max() > 1e-4

    monkeypatch.setattr(engine, "fit_head", watched)
    monkeypatch.setattr(engine, "fold_into_head", folding)
    run = engine.finetune(settings, tmp_path / "run")
    assert len(fitted) == 2
    kinds = {one.kind for one in fitted.values()}
    assert kinds == ({"temperature"} if task == "alphanli" else {"affine"})
    assert run.settings["head"] == "affine"
    if loss == "jsd":  # whose fit is of the distance, not of the divergence
        return
    settings = replace(settings, head="kept")
    kept = engine.finetune(settings, tmp_path / "kept")
    for one, other in zip(run.record["fits"], kept.record["fits"], strict=True):
        assert one["inner_losses"][0] < other["inner_losses"][0]  # nearer to votes it has not seen


def test_every_architecture_s_head_can_be_fitted(tmp_path):
    from chaos_utils.training.encoders import find_encoder, load_model
    from chaos_utils.training.objectives import fold_into_head
    from chaos_utils.training.recipes import TINY_FAMILIES, get_model

    for family in TINY_FAMILIES:
        model = load_model(find_encoder(get_model(f"tiny-{family}")).folder, 3).eval()
        turn, shift = np.array([[2.0, 0, 1], [0, 1, 0], [0, 3, 1]]), np.array([1.0, -2, 0.5])
        batch = {"input_ids": torch.tensor([[2, 7, 8, 9, 3]]),
                 "attention_mask": torch.ones(1, 5, dtype=torch.long)}  # fmt: skip
        if family == "bart":
            batch["input_ids"][:] = model.config.eos_token_id
        logits = model(**batch).logits.detach().numpy()
        fold_into_head(model, FittedMap("affine", turn, shift))
        assert model(**batch).logits.detach().numpy() == pytest.approx(
            logits @ turn + shift, abs=1e-4
        ), family


def test_inner_folds_stop_a_training_and_keep_its_best_epoch(tmp_path, monkeypatch):
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
    run = engine.finetune(folded(tmp_path, epochs=9, patience=2), tmp_path / "run")
    fits = run.record["fits"]
    assert [one["inner_losses"] for one in fits] == [[0.9, 0.8, 0.85, 0.86], [0.5, 0.6, 0.7]]
    assert [one["kept_epoch"] for one in fits] == [1, 0]
    assert [one["steps"] * 9 / one["planned_steps"] for one in fits] == [3, 2]
    data = engine.load_data(folded(tmp_path))
    fold = grouped_folds(np.concatenate(item_groups(data.votes)), 2, 0)
    for k, best in ((0, at_looks[1]), (1, at_looks[4])):
        assert shares(run)[fold == k] == pytest.approx(best[fold == k], abs=1e-4)


def test_the_recipe_for_votes_is_taken_where_nothing_is_given(tmp_path):
    plain, on_votes = (
        engine.complete(folded(tmp_path, train=train, loss="hard", epochs=0, batch_size=0))[0]
        for train in ("corpora", "chaosnli")
    )
    assert (plain.patience, plain.head) == (0, "kept")
    assert on_votes.patience > 0
    assert on_votes.head == "affine"
    assert on_votes.learning_rate < plain.learning_rate


def test_divergence_as_a_loss_is_scipy_s_and_has_a_slope_everywhere():
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


def test_a_later_run_starts_from_an_earlier_one_whose_weights_are_made_again(tmp_path):
    first = engine.finetune(small(), tmp_path / "first")
    settings = small(init=str(tmp_path / "first"), seed=1)
    second = engine.finetune(settings, tmp_path / "second")
    os.environ["CHAOS_CACHE"] += "/empty"
    messages = []
    again = engine.finetune(settings, tmp_path / "again", say=messages.append)
    assert any("not cached" in text for text in messages)
    assert (shares(second) == shares(again)).all()
    assert (shares(first) != shares(second)).any()


def test_a_teacher_s_probabilities_are_learnt(tmp_path):
    engine.finetune(small(), tmp_path / "teacher")
    settings = small(loss="soft", teacher=str(tmp_path / "teacher"))
    run = engine.finetune(settings, tmp_path / "student")
    # the teacher is unsure, so its targets leave a loss near ln 3 and far from one-hot's
    assert run.record["fits"][0]["curve"][0]["loss"] == pytest.approx(np.log(3), abs=0.05)
    assert set(run.record["trained_on"]) == {"SNLI", "MNLI"}
    assert not run.record["out_of_fold"]
    assert f"{run.record['family']}, seed 0" == run.system
    with pytest.raises(ChaosError, match="of another task"):
        engine.finetune(
            small(task="alphanli", loss="soft", teacher=str(tmp_path / "teacher")), tmp_path / "x"
        )


def test_patience_ends_a_run_and_keeps_the_best_epoch(tmp_path):
    settings = small(epochs=9, patience=1, learning_rate=1e-12)
    run = engine.finetune(settings, tmp_path / "run")
    fit = run.record["fits"][0]
    assert fit["steps"] == 2 * fit["planned_steps"] / 9  # no epoch is better than the first
    assert len(fit["looks"]) == 2


def test_a_trajectory_ends_where_the_run_ends(tmp_path):
    run = engine.finetune(small(trajectory=3), tmp_path / "run")
    table = run.read_table("trajectory.parquet")
    assert table.step.max() == run.record["fits"][0]["steps"]
    last = table[table.step == table.step.max()].select_dtypes("float").to_numpy()
    assert last == pytest.approx(shares(run), abs=1e-6)
    assert table.groupby("step").size().nunique() == 1


def test_dropout_at_prediction_gives_other_and_repeatable_probabilities(tmp_path):
    plain = engine.finetune(small(), tmp_path / "plain")
    first, again = (
        predicting.predict_again(str(tmp_path / "plain"), tmp_path / name, mc_samples=2)
        for name in ("first", "again")
    )
    assert first.system == "tiny bert, 96 items, seed 0, MC dropout"
    assert (shares(first) == shares(again)).all()
    assert (shares(first) != shares(plain)).any()
    once = predicting.predict_again(str(tmp_path / "plain"), tmp_path / "once")
    assert (shares(once) == shares(plain)).all()


def test_what_was_trained_already_is_not_trained_again(tmp_path):
    first = engine.finetune(small(trajectory=3), tmp_path / "run")
    messages = []
    again = engine.finetune(small(trajectory=3), tmp_path / "again", say=messages.append)
    assert messages == ["these weights were trained before: predicting with them"]
    assert again.record["outputs"] == first.record["outputs"]
    assert "trajectory.parquet" in again.record["outputs"]


def test_nothing_of_the_reader_s_is_replaced_by_a_run(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious.txt").write_text("x")
    (tmp_path / "file").write_text("x")
    for place in ("mine", "file"):
        with pytest.raises(ChaosError, match="holds something else"):
            engine.finetune(small(), tmp_path / place)
    assert (tmp_path / "mine" / "precious.txt").read_text() == "x"
    run = engine.finetune(small(), tmp_path / "run")
    engine.finetune(small(seed=1), tmp_path / "run")  # an earlier run may be
    assert read_run(run.folder).settings["seed"] == 1
    assert {path.name for path in tmp_path.iterdir()} == {"cache", "mine", "file", "run"}


def test_weights_are_distinguished_by_what_they_start_from(tmp_path):
    first = engine.finetune(small(), tmp_path / "base")
    then = engine.finetune(small(init=str(tmp_path / "base"), seed=5), tmp_path / "then")
    engine.finetune(small(seed=3), tmp_path / "base")
    later = engine.finetune(small(init=str(tmp_path / "base"), seed=5), tmp_path / "later")
    assert len({run.record["weights"] for run in (first, then, later)}) == 3


def test_a_start_from_something_else_is_refused(tmp_path, monkeypatch):
    engine.finetune(small("roberta"), tmp_path / "roberta")
    with pytest.raises(ChaosError, match="another encoder"):
        engine.finetune(small(init=str(tmp_path / "roberta")), tmp_path / "x")
    folded = small(train="chaosnli", n_folds=2, max_train_examples=0, batch_size=64)
    engine.finetune(folded, tmp_path / "folded")
    for role in ({"init": str(tmp_path / "folded")},
                 {"teacher": str(tmp_path / "folded"), "loss": "soft"}):  # fmt: skip
        with pytest.raises(ChaosError, match="a model for each fold"):
            engine.finetune(small(**role), tmp_path / "x")


def test_what_learnt_from_the_sample_never_passes_as_real(tmp_path, released_root):
    engine.finetune(small(), tmp_path / "synthetic")
    settings = small(init=str(tmp_path / "synthetic"), data=str(released_root))
    with pytest.raises(ChaosError, match="learnt from the synthetic sample"):
        engine.finetune(settings, tmp_path / "x")


def test_runs_on_the_votes_are_judged_on_premises_that_they_did_not_see(tmp_path):
    data = engine.load_data(small(train="chaosnli", max_train_examples=0))
    assert not set(data.dev.groups()) & set(data.chaosnli.groups())


@pytest.mark.parametrize("missing", ["train", "labels", "dev"])
def test_too_few_items_are_reported_before_anything_is_trained(missing, tmp_path):
    from chaos_utils.datasets import sources

    folder = tmp_path / "data"
    shutil.copytree(sources.sample_folder(), folder)
    for path in folder.glob("*/*_train.jsonl" if missing != "dev" else "*/*_dev*.jsonl"):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        kept = (
            [row for row in rows if row["gold_label"] == "neutral"] if missing == "labels" else []
        )
        path.write_text("".join(json.dumps(row) + "\n" for row in kept))
    settings = small(data=str(folder), max_train_examples=0)
    with pytest.raises(ChaosError, match="are too few"):
        engine.finetune(settings, tmp_path / "run")


def test_weights_that_were_changed_are_refused(tmp_path):
    run = engine.finetune(small(), tmp_path / "run")
    path = cache.weights_folder(run.record["weights"]) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(ChaosError, match="SHA-256 differs"):
        predicting.predict_again(str(tmp_path / "run"), tmp_path / "again")


def test_a_record_says_what_was_read_and_made(tmp_path):
    run = engine.finetune(small(), tmp_path / "run")
    record = run.record
    assert record["synthetic"] is True
    assert all(entry["synthetic"] for entry in record["inputs"])
    for name, sha256 in record["outputs"].items():
        assert hashlib.sha256((run.folder / name).read_bytes()).hexdigest() == sha256
    assert str(tmp_path) not in (run.folder / "run.json").read_text()
    assert record["fits"][0]["pairs"] == 96
    (run.folder / "dev.parquet").write_bytes(b"")
    with pytest.raises(ChaosError, match="not the one that its record names"):
        run.read_table("dev.parquet")

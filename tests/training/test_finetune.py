"""The engine, whole: tiny models learn from the synthetic sample."""

import hashlib
import json
import shutil
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from helpers.checkout import append
from helpers.engine import fit_tiny, shares, small
from helpers.runs import write_run
from scipy.spatial.distance import jensenshannon
from scipy.special import softmax

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.datasets.splits import grouped_folds, item_groups
from chaos_utils.scoring.fitting import FittedMap
from chaos_utils.scoring.training_records import read_run
from chaos_utils.training import cache, predicting
from chaos_utils.training import finetune as engine
from chaos_utils.training.data import load_data
from chaos_utils.training.devices import Device
from chaos_utils.training.encoders import WEIGHTS, find_encoder, load_model, load_tokenizer
from chaos_utils.training.encoding import encode
from chaos_utils.training.inference import predict_logits
from chaos_utils.training.objectives import fold_into_head, mean_loss, summed_loss
from chaos_utils.training.recipes import TINY_FAMILIES, get_model
from chaos_utils.training.settings import complete
from chaos_utils.training.training_run import NewRun

PLAIN = small()
CPU = Device("cpu", "fp32", "CPU, 1 thread")


@pytest.fixture(scope="module")
def trained(module_cache, tmp_path_factory):
    """A run on the corpora, and one that starts from it and learns its probabilities."""
    folder = tmp_path_factory.mktemp("trained")
    plain = engine.finetune(PLAIN, folder / "plain")
    earlier = {"init": str(plain.folder), "teacher": str(plain.folder)}
    taught = small(loss="soft", seed=1, **earlier)
    student = engine.finetune(taught, folder / "student")
    return SimpleNamespace(plain=plain, student=student, taught=taught)


def test_a_record_says_what_was_read_and_made(trained, tmp_path):
    folder = shutil.copytree(trained.plain.folder, tmp_path / "copy")
    record = trained.plain.record
    assert record.synthetic is True
    assert record.made_by is None  # no notebook
    assert all(entry["synthetic"] for entry in record.inputs)
    for name, sha256 in record.outputs.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == sha256
    assert str(folder.parents[1]) not in (folder / "run.json").read_text()
    (folder / "dev.parquet").write_bytes(b"")
    with pytest.raises(ChaosError, match="not the one that its record names"):
        read_run(folder).read_table("dev.parquet")


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


def test_weights_are_known_by_all_that_decides_them(tmp_path):
    usual = complete(small())[0]
    data = load_data(usual)
    one, other = (tmp_path / name for name in ("one", "other"))
    for folder in (one, other):
        folder.mkdir()
        (folder / WEIGHTS).write_text(folder.name)

    def key(settings=usual, origin="here", train=data.train, dev=data.dev, **earlier):
        given = (earlier.get(kind) for kind in ("start", "teacher"))
        base = cache.run_key(settings, origin, (train, dev), *given)
        return cache.key_of_processes(base, earlier.get("processes", 1))

    def without_effect(settings):
        other = {str: "other", int: 1234, float: 0.1234}
        for name, value in settings:
            changed = "tiny-roberta" if name == "model" else other[type(value)]
            if key(settings.model_copy(update={name: changed})) == key(settings):
                yield name

    folded = usual.model_copy(update={"train": "chaosnli"})
    places, of_own_votes = {"data", "init", "teacher"}, {"text", "pair", "held_out"}
    own = usual.model_copy(update={"train": "votes.csv"})
    assert set(without_effect(own)) == places | {"train", "text", "pair"}
    assert set(without_effect(folded)) == places | of_own_votes
    assert set(without_effect(usual)) == places | of_own_votes | {"n_folds", "head"}
    others = [
        {"origin": "there"}, {"train": data.dev}, {"dev": data.train},
        {"train": replace(data.train, targets=data.train.targets[::-1])},
        {"start": one}, {"start": other}, {"teacher": one}, {"teacher": other}, {"processes": 2},
    ]  # fmt: skip
    assert len({key(), *(key(**more) for more in others)}) == 1 + len(others)


def test_a_later_run_starts_from_an_earlier_one_whose_weights_are_made_again(
    trained, empty_cache, tmp_path
):
    said = []
    again = engine.finetune(trained.taught, tmp_path / "student", say=said.append)
    assert said[0] == "the weights of plain are not cached: training them first"
    run = trained.student
    assert again.record.outputs == run.record.outputs
    # the teacher is unsure, so its targets leave a loss near ln 3 and far from one-hot's
    assert run.record.fits[0].curve[0].loss == pytest.approx(np.log(3), abs=0.05)
    assert set(run.record.trained_on) == {"SNLI", "MNLI"}
    assert not run.record.out_of_fold


def test_weights_that_were_changed_are_refused(trained, module_cache, empty_cache, tmp_path):
    key = trained.plain.record.weights
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
        votes = [replace(one, source=replace(one.source, synthetic=False)) for one in data.votes]
        data = replace(data, votes=votes)
    later = NewRun(tmp_path, small(init=str(run.folder)), CPU, print, print)
    later.data = data
    with pytest.raises(ChaosError, match=message):
        engine.weights_of(later.settings.init, later)


def test_a_run_replaces_an_earlier_one_alone_and_trains_nothing_again(trained, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious.txt").write_text("x")
    for place in ("mine", "mine/precious.txt"):
        with pytest.raises(ChaosError, match="holds something else"):
            engine.finetune(PLAIN, tmp_path / place)
    assert (tmp_path / "mine" / "precious.txt").read_text() == "x"
    shutil.copytree(trained.student.folder, tmp_path / "run")
    plain, said = trained.plain, []
    settings = PLAIN.model_copy(update={"threads": 1})  # a default is its value
    engine.finetune(settings, tmp_path / "run", say=said.append)
    assert said == ["these weights were trained before: predicting with them"]
    assert read_run(tmp_path / "run").record.outputs == plain.record.outputs
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "run"}


@pytest.mark.parametrize(
    ("part", "kept", "message"), [("train", "neutral", "are too few"), ("dev", "none", "is empty")]
)
def test_too_few_items_are_reported(part, kept, message, tmp_path):
    folder = tmp_path / "data"
    shutil.copytree(sources.SAMPLE, folder)
    for path in folder.glob(f"*/*_{part}*.jsonl"):
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(one for one in lines if json.loads(one)["gold_label"] == kept))
    with pytest.raises(ChaosError, match=message):
        load_data(small(data=str(folder), max_train_examples=0))


@pytest.mark.parametrize("train", ["corpora", "chaosnli"])
def test_nothing_that_is_trained_or_chosen_on_shares_a_premise_with_chaosnli(train, tmp_path):
    folder, (votes, *_) = (
        shutil.copytree(sources.SAMPLE, tmp_path / "data"),
        load_all_votes("sample"),
    )
    part = "dev" if train == "chaosnli" else "train"
    (path,) = folder.glob(f"*/snli*_{part}.jsonl")
    row = {"pairID": "copied", "gold_label": "neutral", "sentence2": "A hypothesis."}
    append(path, json.dumps(row | {"sentence1": votes.texts[5]["premise"].upper()}) + "\n")
    settings = small(train=train, data=str(folder), max_train_examples=0, dev_examples=0)
    if part == "train":
        with pytest.raises(ChaosError, match="1 training items have premises"):
            load_data(settings)
    else:
        data = load_data(settings)
        assert not set(data.dev.groups()) & set(data.predicted.groups())


@pytest.mark.usefixtures("no_dropout")
def test_when_memory_runs_out_a_step_is_cut_into_more_parts(
    torch, empty_cache, tmp_path, monkeypatch
):
    from transformers import DistilBertForSequenceClassification as Classifier

    settings = small("distilbert", max_train_examples=32, learning_rate=1e-3)
    whole = engine.finetune(settings, tmp_path / "whole")
    forward = Classifier.forward

    def short_of_memory(self, input_ids=None, **more):
        if input_ids.numel() > 200:
            raise torch.OutOfMemoryError("no more")
        return forward(self, input_ids=input_ids, **more)

    monkeypatch.setenv("CHAOS_CACHE", str(empty_cache / "cut"))
    monkeypatch.setattr(Classifier, "forward", short_of_memory)
    said = []
    cut = engine.finetune(settings, tmp_path / "cut", say=said.append)
    assert "out of memory: continuing with at most 8 items at once" in said[0]
    one, other = whole.record.fits[0], cut.record.fits[0]
    assert one.pairs == other.pairs
    assert one.gradient_accumulation_steps == 1 < other.gradient_accumulation_steps
    assert shares(cut) == pytest.approx(shares(whole), abs=1e-5)


def test_an_item_that_never_fits_and_a_training_that_diverges_are_errors(
    torch, tmp_path, monkeypatch
):
    from chaos_utils.training import trainer

    summed_loss = trainer.summed_loss
    monkeypatch.setattr(trainer, "summed_loss", Mock(side_effect=torch.OutOfMemoryError))
    with pytest.raises(ChaosError, match="single item"):
        fit_tiny(tmp_path / "run")
    calls = []

    def diverging(*given):
        calls.append(given)
        return summed_loss(*given) * (float("nan") if len(calls) > 2 else 1)

    monkeypatch.setattr(trainer, "summed_loss", diverging)
    with pytest.raises(ChaosError, match=r"steps 2 to 2 of 4(.|\n)*smaller learning rate"):
        fit_tiny(tmp_path / "run")


def test_losses_are_those_of_pytorch_and_scipy_and_have_a_slope_everywhere(torch):
    rng = np.random.default_rng(0)
    logits, targets = rng.normal(size=(50, 3)) * 4, rng.dirichlet([0.3] * 3, size=50)
    targets[:10] = np.eye(3)[rng.integers(0, 3, 10)]  # shares of nil
    logits[0] = [0, 300, -300]
    targets[0] = [1, 0, 0]
    given, wanted = torch.tensor(logits, requires_grad=True), torch.tensor(targets)
    entropy = torch.nn.functional.cross_entropy(given, wanted, reduction="sum").item()
    for loss in ("hard", "soft"):
        assert summed_loss(given, wanted, loss).item() == pytest.approx(entropy)
    for loss in ("soft", "jsd"):  # an item without targets has no weight
        assert summed_loss(given, wanted * 0, loss).item() == 0
    expected = jensenshannon(softmax(logits, axis=1), targets, axis=1) ** 2
    assert mean_loss(logits, targets, "jsd") == pytest.approx(expected.mean(), abs=1e-9)
    assert mean_loss(targets * 0, targets * 0 + 1 / 3, "jsd") == pytest.approx(0, abs=1e-12)
    summed_loss(given, wanted, "jsd").backward()
    assert torch.isfinite(given.grad).all()
    step = 1e-5
    for item, label in ((1, 0), (12, 2), (30, 1)):
        moved = logits.copy()
        moved[item, label] += step
        slope = 50 * (mean_loss(moved, targets, "jsd") - mean_loss(logits, targets, "jsd")) / step
        assert float(given.grad[item, label]) == pytest.approx(slope, abs=1e-4)


@pytest.mark.parametrize("loss", ["hard", "jsd"])
def test_runs_on_the_votes_learn_what_the_loss_asks_for_and_are_judged_on_other_premises(loss):
    data = load_data(small(train="chaosnli", loss=loss, max_train_examples=0))
    assert not set(data.dev.groups()) & set(data.predicted.groups())
    targets = data.train.targets
    asked_for = np.isin(targets, (0, 1)) if loss == "hard" else targets == data.predicted.targets
    assert asked_for.all()


VOTES = small(train="chaosnli", loss="soft", n_folds=3, max_train_examples=0, batch_size=64)
LOSSES = [[0.9, 0.8, 0.85], [0.5, 0.6], [0.9, 0.8, 0.7, 0.6]]  # on inner folds, of three epochs


@pytest.fixture(scope="module")
def folded(trained, tmp_path_factory):
    """A run on the votes, and what each fold was trained on, began with, and saw on the way."""
    from chaos_utils.training.trainer import VotesTrainer

    settings = VOTES.model_copy(
        update={"init": str(trained.plain.folder), "epochs": 3, "patience": 1}
    )
    data, parts, heads, looks = load_data(settings), [], [], []
    losses = iter(np.concatenate(LOSSES).tolist())
    fit, fold = engine._TrainingJob.fit, engine.fold_into_head
    tokenizer = load_tokenizer(find_encoder(get_model("tiny-bert")).folder)
    encoded = encode(tokenizer, data.predicted, 128)
    evaluate = VotesTrainer.evaluate

    def fitting(run, train, work, inner):
        parts.append((set(train.uids), set(inner.uids)))
        looks.append([])
        return fit(run, train, work, inner)

    def folding(model, found):
        before = predict_logits(model, encoded, CPU)
        fold(model, found)
        heads.append((found, before, predict_logits(model, encoded, CPU)))

    def looking(trainer, *given, **more):
        looks[-1].append(predict_logits(trainer.model, encoded, CPU))
        return evaluate(trainer, *given, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine._TrainingJob, "fit", fitting)
        patch.setattr(engine, "mean_loss", lambda *_: next(losses))
        patch.setattr(engine, "fold_into_head", folding)
        patch.setattr(VotesTrainer, "evaluate", looking)
        run = engine.finetune(settings, tmp_path_factory.mktemp("folded") / "run")
    return SimpleNamespace(run=run, data=data, parts=parts, heads=heads, looks=looks)


def test_training_on_the_votes_predicts_every_item_out_of_fold(folded):
    run, data = folded.run, folded.data
    groups = dict(zip(data.predicted.uids, np.concatenate(item_groups(data.votes)), strict=True))
    left_out = []
    for train, inner in folded.parts:
        assert len(inner) == pytest.approx((len(train) + len(inner)) / 8, rel=0.3)
        outside = set(groups) - train - inner
        left_out += outside
        parts = [{int(groups[uid]) for uid in part} for part in (train, inner, outside)]
        assert sum(map(len, parts)) == len(set.union(*parts))  # no premise is on two sides
    assert sorted(left_out) == sorted(groups)  # every item is left out once
    assert len(shares(run)) == len(data.predicted) == 600
    assert run.record.out_of_fold


def test_a_fitted_head_starts_at_the_map_that_was_fitted(folded):
    assert folded.run.settings.head == "affine"
    uids, targets = np.array(folded.data.predicted.uids), folded.data.predicted.targets
    for (found, before, after), (train, _) in zip(folded.heads, folded.parts, strict=True):
        assert found.kind == "affine"
        given = softmax(after, axis=1)
        assert given == pytest.approx(found.predict(before[:, np.newaxis]), abs=1e-4)
        seen = np.isin(uids, list(train))
        losses = [mean_loss(one[seen], targets[seen], "soft") for one in (after, before)]
        assert losses[0] < losses[1]


def test_inner_folds_stop_a_training_and_keep_its_best_epoch(folded):
    fits = folded.run.record.fits
    assert [one.inner_losses for one in fits] == LOSSES
    assert [one.kept_epoch for one in fits] == [1, 0, 3]
    assert [one.steps * 3 / one.planned_steps for one in fits] == [2, 1, 3]
    fold = grouped_folds(np.concatenate(item_groups(folded.data.votes)), 3, 0)
    for k, (one, looks) in enumerate(zip(fits, folded.looks, strict=True)):
        best = softmax(looks[one.kept_epoch], axis=1)
        assert shares(folded.run)[fold == k] == pytest.approx(best[fold == k], abs=1e-4)


@pytest.mark.parametrize("family", TINY_FAMILIES)
def test_every_architecture_s_head_can_be_fitted(family, torch):
    folder = find_encoder(get_model(f"tiny-{family}")).folder
    turn, shift = np.array([[2.0, 0, 1], [0, 1, 0], [0, 3, 1]]), np.array([1.0, -2, 0.5])
    affine = FittedMap("affine", turn, shift)
    temperature = FittedMap("temperature", turn[:0], shift[:0], 2.0)
    for n_outputs, found in ((3, affine), (1, temperature)):
        model = load_model(folder, n_outputs).eval()
        ids = torch.tensor([[2, 7, 8, 9, 3]])
        if family == "bart":
            ids[:] = model.config.eos_token_id
        logits = model(ids, torch.ones_like(ids)).logits.detach().numpy()
        fold_into_head(model, found)
        expected = logits @ turn + shift if n_outputs == 3 else logits / 2
        found = model(ids, torch.ones_like(ids)).logits.detach().numpy()
        assert found == pytest.approx(expected, abs=1e-4)

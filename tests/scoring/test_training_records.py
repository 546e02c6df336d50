"""Runs of our own: what they have seen, which stand for their encoders, damaged records."""

import json
import re

import numpy as np
import pytest
from helpers.faults import fields_of, refused
from helpers.runs import write_run

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.scoring import training_records

VOTES = ("votes of snli", "votes of mnli")
CORPORA = ("SNLI", "MNLI")
ON_VOTES = {"train": "chaosnli", "loss": "soft"}
TAUGHT_BY_VOTES = {"loss": "soft", "teacher": "votes"}


@pytest.fixture
def write(sample, tmp_path):
    rng = np.random.default_rng(4)

    def made(name, settings=None, **record):
        shares = [rng.dirichlet(np.ones(3), size=len(one)) for one in sample[:2]]
        return write_run(tmp_path / name, sample[:2], shares, settings=settings, **record)

    return made


def damage(run, text="", **changes):
    """Write a run's record again, with other entries or as another text; return its folder."""
    record = json.loads((run.folder / training_records.RECORD_FILE).read_text("utf-8")) | changes
    kept = {name: value for name, value in record.items() if value is not ...}
    (run.folder / training_records.RECORD_FILE).write_text(text or json.dumps(kept), "utf-8")
    return run.folder


def fields(run):
    about = run.about()
    return about["trained_on"], about["out_of_fold"]


def test_kinds_follow_from_settings(write):
    for kind, changes in {
        "plain": {},
        "size": {"settings": {"max_train_examples": 1000}},
        "smoothing": {"settings": {"label_smoothing": 0.1, "max_train_examples": 1000}},
        "distilled": {"settings": {"teacher": "a", "loss": "soft"}},
        "votes": {"settings": ON_VOTES},
        "predicted": {"predicted": {"run": "a", "mc_samples": 10}},
    }.items():
        assert training_records.kind_of(write(kind, **changes)) == kind


@pytest.mark.parametrize(
    "settings",  # the last is named from elsewhere, and found beside by its last part
    [TAUGHT_BY_VOTES, {"init": "student"}, {"init": "results/votes"}],
)
def test_what_learns_from_a_run_on_votes_has_seen_them_and_is_not_judged_by_them(
    write, sample, settings
):
    write("votes", ON_VOTES)
    write("student", TAUGHT_BY_VOTES)
    run = write("later", settings)
    assert fields(run) == ((*VOTES, *CORPORA), False)
    for votes in sample[:2]:
        system = run.predictions_on(votes)
        with pytest.raises(ChaosError, match="trained or fitted on the votes"):
            system.aligned_to(votes)
        assert len(system.aligned_to(votes, in_sample=True).human) == len(votes)


def test_folds_are_out_of_fold_unless_they_start_from_a_run_that_saw_the_votes(write, sample):
    assert fields(write("plain")) == (CORPORA, False)
    assert fields(write("votes", ON_VOTES)) == (VOTES, True)
    clean = write("clean", ON_VOTES | {"init": "plain"})
    assert fields(clean) == ((*CORPORA, *VOTES), True)
    assert len(clean.predictions_on(sample[0]).aligned_to(sample[0]).human) == len(sample[0])
    leaking = write("leaking", ON_VOTES | {"init": "clean"})
    assert fields(leaking) == ((*CORPORA, *VOTES), False)
    with pytest.raises(ChaosError, match="trained or fitted on the votes"):
        leaking.predictions_on(sample[0]).aligned_to(sample[0])
    write("one", {"init": "other"})  # in a circle, each says what its own record does
    assert fields(write("other", {"init": "one"})) == (CORPORA, False)


def test_a_record_that_says_what_was_seen_needs_no_other_run(write):
    known = {"trained_on": [*VOTES, *CORPORA], "out_of_fold": False, "family": "MiniLM, distilled"}
    run = write("student", TAUGHT_BY_VOTES, **known)
    assert fields(run) == ((*VOTES, *CORPORA), False)
    assert run.about()["family"] == "MiniLM, distilled"
    assert fields(write("later", {"init": "student"})) == ((*VOTES, *CORPORA), False)
    assert write("old", system="MiniLM-L6, seed 0").about()["family"] == "MiniLM-L6"


def test_a_run_is_found_by_its_path_and_a_missing_one_is_named(write, tmp_path):
    write("plain")
    assert training_records.find_run(str(tmp_path / "plain")).name == "plain"
    with pytest.raises(ChaosError, match="no finished run"):
        training_records.find_run(str(tmp_path / "plian"))


def test_an_encoder_is_represented_by_its_runs_on_most_items(write):
    parts = [write(f"part-{n}", {"max_train_examples": n}) for n in (9, 90)]
    for n, seed in ((9, 0), (90, 0), (90, 1)):
        other = {"max_train_examples": n, "model": "mpnet-base", "seed": seed}
        parts.append(write(f"other-{n}-s{seed}", other))
    smooth, whole = write("smooth", {"label_smoothing": 0.1}), write("whole", {"seed": 3})
    for runs, first in (([smooth, *parts], "part-90"), ([*parts, whole], "whole")):
        names = {run.name for run in training_records.of_most_items(runs)}
        assert names == {first, "other-90-s0", "other-90-s1"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"trained_on": "SNLI", "out_of_fold": False},
        {"trained_on": ["SNLI"]},
        {"data": None},
        {"device": {"title": 3, "precision": "fp32"}},
        {"weights": ...},
        {"text": '{"system": 1'},
        {"text": '{"system": 1, "system": 2}'},
    ],
)
def test_a_record_that_is_damaged_is_reported_in_plain_words(write, wrong):
    with refused(problem="record cannot be read") as fault:
        training_records.read_run(damage(write("run"), **wrong))
    assert not re.search("char |NoneType|object is not", str(fault.value))
    assert fields_of(fault.value)["found"]


def test_a_damaged_record_is_never_passed_over_below_results(write, tmp_path, monkeypatch):
    run = write("run")
    with pytest.raises(ChaosError, match="outputs: is missing"):  # ours, wherever it lies
        training_records.run_of(damage(run, outputs=...) / training_records.PREDICTIONS_FILE)
    of_another_program = '{"settings": {}, "data": "x"}'
    assert (
        training_records.run_of(damage(run, of_another_program) / training_records.PREDICTIONS_FILE)
        is None
    )
    monkeypatch.setattr(paths, "find_project", lambda: tmp_path)
    monkeypatch.setattr(paths, "results", lambda: tmp_path)
    for text in ("[]", '{"outputs'):
        (run.folder / training_records.RECORD_FILE).write_text(text)
        with pytest.raises(ChaosError, match="record cannot be read"):
            training_records.run_of(run.folder / training_records.PREDICTIONS_FILE)

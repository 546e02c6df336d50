import json
import re
import shutil

import numpy as np
import pytest
from helpers.runs import write_run

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.scoring.trained import (
    PREDICTIONS_FILE,
    RECORD_FILE,
    find_run,
    of_most_items,
    read_run,
    run_of,
)

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


def fields(run):
    about = run.about()
    return about["trained_on"], about["out_of_fold"]


def test_a_run_that_learned_from_no_other_says_what_it_was_trained_on(write):
    assert fields(write("plain")) == (CORPORA, False)
    assert fields(write("votes", ON_VOTES)) == (VOTES, True)


@pytest.mark.parametrize(
    "settings",
    [
        TAUGHT_BY_VOTES,
        {"init": "votes"},
        {"init": "results/votes"},  # named from elsewhere, and found beside by its last part
        {"init": "student", "teacher": "votes", "loss": "soft"},
    ],
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
    write("plain")
    clean = write("clean", ON_VOTES | {"init": "plain"})
    assert fields(clean) == ((*CORPORA, *VOTES), True)
    assert len(clean.predictions_on(sample[0]).aligned_to(sample[0]).human) == len(sample[0])
    leaking = write("leaking", ON_VOTES | {"init": "clean"})
    assert fields(leaking) == ((*CORPORA, *VOTES), False)
    with pytest.raises(ChaosError, match="trained or fitted on the votes"):
        leaking.predictions_on(sample[0]).aligned_to(sample[0])


def test_votes_are_followed_over_several_steps_and_round_in_a_circle(write):
    write("votes", ON_VOTES)
    write("student", TAUGHT_BY_VOTES)
    assert fields(write("grandchild", {"init": "student"})) == ((*VOTES, *CORPORA), False)
    write("one", {"init": "other"})
    assert fields(write("other", {"init": "one"})) == (CORPORA, False)


def test_a_run_whose_teacher_is_not_found_says_what_its_own_record_does(write):
    teacher = write("votes", ON_VOTES)
    student = write("student", TAUGHT_BY_VOTES)
    shutil.rmtree(teacher.folder)
    assert fields(student) == (CORPORA, False)


def test_a_record_that_says_what_was_seen_needs_no_other_run(write):
    known = {"trained_on": [*VOTES, *CORPORA], "out_of_fold": False, "family": "MiniLM, distilled"}
    run = write("student", TAUGHT_BY_VOTES, **known)
    assert fields(run) == ((*VOTES, *CORPORA), False)
    assert run.about()["family"] == "MiniLM, distilled"
    assert fields(write("later", {"init": "student"})) == ((*VOTES, *CORPORA), False)
    assert write("old", system="MiniLM-L6, seed 0").about()["family"] == "MiniLM-L6"


@pytest.mark.parametrize(
    "wrong",
    [
        {"trained_on": "SNLI", "out_of_fold": False},
        {"trained_on": [1], "out_of_fold": False},
        {"trained_on": ["SNLI"]},
        {"trained_on": ["SNLI"], "out_of_fold": "no"},
        {"family": 3},
    ],
)
def test_a_record_whose_fields_are_of_the_wrong_kind_is_damaged(write, wrong):
    folder = write("run").folder
    record = json.loads((folder / RECORD_FILE).read_text("utf-8"))
    (folder / RECORD_FILE).write_text(json.dumps(record | wrong), "utf-8")
    with pytest.raises(ChaosError, match="record cannot be read"):
        read_run(folder)


def test_a_run_is_found_by_its_path_and_a_missing_one_is_named(write, tmp_path):
    write("plain")
    assert find_run(str(tmp_path / "plain")).name == "plain"
    with pytest.raises(ChaosError, match="no finished run"):
        find_run(str(tmp_path / "plian"))


def test_an_encoder_is_represented_by_its_runs_on_most_items(write):
    def part(name, n, **settings):
        return write(name, {"max_train_examples": n} | settings)

    other = [part("other-9", 9, model="mpnet-base"), part("other-90", 90, model="mpnet-base")]
    other.append(part("other-90-s1", 90, model="mpnet-base", seed=1))
    smooth = write("smooth", {"label_smoothing": 0.1})
    parts = [part("part-9", 9), part("part-90", 90)]

    def names(*runs):
        return [run.name for run in of_most_items(runs)]

    assert names(smooth, *parts, *other) == ["part-90", "other-90", "other-90-s1"]
    whole = write("whole", {"seed": 3})
    assert names(*parts, whole, *other) == ["whole", "other-90", "other-90-s1"]


@pytest.mark.parametrize("text", ["[]", "5", "null", '{"system": 1', '{"system": 1, "system": 2}'])
def test_a_record_that_is_no_object_is_damaged_in_plain_words(write, text):
    folder = write("run").folder
    (folder / RECORD_FILE).write_text(text, "utf-8")
    with pytest.raises(ChaosError, match="record cannot be read") as fault:
        read_run(folder)
    assert not re.search("char |NoneType|object is not", str(fault.value))
    assert "found:" in str(fault.value)


@pytest.mark.parametrize("text", ["[]", "5", "null", "{}", '{"outputs": 3}', '{"outputs'])
def test_a_damaged_record_below_results_is_never_passed_over(write, tmp_path, monkeypatch, text):
    folder = write("run").folder
    (folder / RECORD_FILE).write_text(text, "utf-8")
    monkeypatch.setattr(paths, "find_project", lambda: tmp_path)
    monkeypatch.setattr(paths, "results", lambda: tmp_path)
    with pytest.raises(ChaosError, match="record cannot be read"):
        run_of(folder / PREDICTIONS_FILE)


def test_a_record_of_ours_without_outputs_is_damaged_anywhere(write):
    folder = write("run").folder
    record = json.loads((folder / RECORD_FILE).read_text("utf-8"))
    del record["outputs"]
    (folder / RECORD_FILE).write_text(json.dumps(record), "utf-8")
    with pytest.raises(ChaosError, match="missing: outputs"):
        run_of(folder / PREDICTIONS_FILE)
    another_program_s = '{"settings": {}, "data": "x"}'
    (folder / RECORD_FILE).write_text(another_program_s, "utf-8")
    assert run_of(folder / PREDICTIONS_FILE) is None

"""`chaos submit`: what it writes and asks for, what it checks, and that nothing is half-written."""

import json
import os
import shlex
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
import yaml
from helpers.commands import call
from helpers.faults import assert_fields
from helpers.predictions import csv_text
from helpers.rows import write_dataset

from chaos_utils.analyses.inputs import gather
from chaos_utils.base import paths
from chaos_utils.cli import submit
from chaos_utils.cli.data import _select
from chaos_utils.datasets.auxiliary_data import JUDGES
from chaos_utils.datasets.catalogue import prediction_files, vote_files
from chaos_utils.scoring.formats import class_columns
from chaos_utils.scoring.submitted import read_submission

PROJECT = paths.project()
FIELDS = {
    "title": "A try", "authors": "someone; another", "licence": "CC0-1.0",
    "link": "https://example.org", "model.id": "maker/model", "model.revision": "1",
    "model.open_weights": "true", "asked.how": "encoder", "trained_on": "SNLI",
    "votes_used": "none", "may_have_seen": "possible",
}  # fmt: skip


def fields(**changes):
    chosen = FIELDS | changes
    return [word for name, value in chosen.items() if value for word in ("-f", f"{name}={value}")]


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "results", lambda: tmp_path / "results")
    return tmp_path / "results" / "submitted"


@pytest.fixture
def file(sample, tmp_path):
    """Predictions on an item set of the sample that know something of it."""
    votes = sample[0]
    logits = np.log(votes.shares + 0.1) + np.random.default_rng(1).normal(size=votes.shares.shape)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    table = pd.DataFrame(shares, columns=class_columns(votes.dataset)).assign(uid=votes.uids)
    table.to_csv(tmp_path / "mine.csv", index=False)
    return tmp_path / "mine.csv"


def test_a_try_on_made_up_items_shows_the_row_and_writes_nothing(results, file):
    done = call("submit", file, "--name", "a-try", "--data", "sample", *fields())
    assert "A try" in done.stdout
    assert "check by hand: it may have seen the items" in done.stdout
    assert "nothing is written" in done.stderr
    assert not list(results.glob("*"))
    as_json = call("submit", file, "--name", "a", "--data", "sample", *fields(), "--json")
    assert json.loads(as_json.stdout)["rows"][0]["title"] == "A try"


def test_answers_are_read_by_how_the_model_was_asked(results, file):
    """Percentages that sum to 98 are shares for whoever asked for percentages, else nothing."""
    table = pd.read_csv(file)
    columns = [name for name in table if name != "uid"]
    table[columns] = (98 * table[columns]).round(2)
    table.to_csv(file, index=False)
    prompt = {"asked.prompt": "how many of a hundred?", "asked.temperature": "0"}
    words = ["submit", file, "--name", "a-try", "--data", "sample"]
    done = call(*words, *fields(**{"asked.how": "percentages"} | prompt))
    assert "A try" in done.stdout
    call(*words, *fields(), code=2)


def test_a_file_that_is_far_too_large_is_not_read(results, file):
    with file.open("ab") as stream:
        stream.truncate(300_000_000)  # without taking room
    done = call("submit", file, "--name", "a-try", "--data", "sample", *fields(), code=2)
    assert_fields(done.stderr, found="300,000,000 bytes")


def test_what_it_cannot_read_it_names_all_at_once(results, file):
    few = fields(licence="", **{"asked.how": "guess", "model.id": ""})
    done = call("submit", file, "--name", "a-try", "--data", "sample", *few, code=2)
    words = ("licence: is missing; expected CC0", "model.id: is missing", "asked.how", "'guess'")
    assert_fields(done.stderr, found=words)
    assert not list(results.glob("*"))


def test_what_a_language_model_needs_is_named_with_the_rest(results, file):
    few = fields(licence="", **{"asked.how": "label"})
    done = call("submit", file, "--name", "a-try", "--data", "sample", *few, code=2)
    assert_fields(done.stderr, found=("licence: is missing", "asked.prompt and asked.temperature"))


def test_what_is_not_submitted_of_a_file_is_said(results, file):
    table = pd.read_csv(file).assign(premise="A man sleeps.", family="mine")
    pd.concat([table, table.iloc[:1].assign(uid="of-no-item")]).to_csv(file, index=False)
    done = call("submit", file, "--name", "a-try", "--data", "sample", *fields())
    assert "left out, as the record describes the system: family" in done.stdout
    assert done.stdout.count("premise") == 1
    assert "of the file: not read: premise" in done.stdout
    assert "1 uid of the file is no item of the dataset ('of-no-item')" in done.stdout


def test_a_file_and_a_record_that_disagree_on_votes_are_refused(results, file, sample):
    trained_on = f"votes of {sample[0].dataset.name}"
    pd.read_csv(file).assign(trained_on=trained_on).to_csv(file, index=False)
    done = call("submit", file, "--name", "a-try", "--data", "sample", *fields(), code=2)
    assert_fields(done.stderr, problem="contradict", found=f"{trained_on}; votes_used: none")


def test_advice_on_how_it_was_asked_names_fields_of_the_record(results, file):
    prompt = {"asked.prompt": "?", "asked.temperature": "0", "asked.how": "label"}
    done = call("submit", file, "--name", "a-try", "--data", "sample", *fields(**prompt), code=2)
    assert_fields(done.stderr, todo=("-f asked.how=encoder", "-f asked.how=percentages"))
    assert "--asked" not in done.stderr
    file.write_text("uid,label\nT1,bug\n")  # on the scoreboard there are no items of one's own
    done = call("submit", file, "--name", "a-try", "--data", "sample", *fields(), code=2)
    assert_fields(done.stderr, todo="say which is which: --answers")
    assert "--data VOTES" not in done.stderr


def test_a_title_that_is_taken_is_found_before_anything_is_read(results, file, monkeypatch):
    monkeypatch.setattr("chaos_utils.datasets.loading.load_all_votes", None)
    words = ["submit", file, "--name", "a-try"]
    done = call(*words, *fields(title="D\u0435BERTa-v3-large"), code=2)
    assert_fields(done.stderr, found="one script")
    done = call(*words, *fields(title="DeBERTa-v3-Large"), code=2)
    assert_fields(done.stderr, problem="known system", found="as DeBERTa-v3-large has it")


def test_on_a_terminal_it_asks_for_what_it_lacks(results, file, monkeypatch):
    monkeypatch.setattr(submit, "is_terminal", lambda: True)
    words = ["submit", file, "--name", "a-try", "--data", "sample", "--json"]
    few = fields(title="", authors="", **{"model.id": ""})
    done = call(*words, *few, input="Asked for\nthe one; another\nmaker/model\n")
    # Click's runner shows prompts in standard output, whatever they are for.
    assert [f"{name}: " in done.output for name in ("title", "authors", "model.id", "link")] == [
        True, True, True, False,
    ]  # fmt: skip
    assert '"title": "Asked for"' in done.stdout
    assert "asked.prompt" not in done.output
    done = call(*words, *fields(**{"asked.how": "percentages"}), input="How many?\n0\n")
    assert "asked.prompt: " in done.output


def test_a_record_to_begin_with_is_taken_and_changed_by_options(results, file, tmp_path):
    about = tmp_path / "about.yml"
    about.write_text("title: From the file\nmodel: {id: a, revision: b, open_weights: yes}\n")
    options = fields(title="", **{"model.id": "", "model.open_weights": ""})
    done = call("submit", file, "--name", "a-try", "--about", about, "--data", "sample", *options)
    assert "From the file" in done.stdout


@pytest.mark.parametrize("name", ["../up", "Upper", "", "a/b", "x" * 61])
def test_a_name_that_is_no_folder_is_refused(results, file, name):
    done = call("submit", file, "--name", name, "--data", "sample", *fields(), code=2)
    assert_fields(done.stderr, any="name")
    assert not results.exists()


def test_votes_of_ones_own_rank_nothing(results, file, tmp_path):
    data = write_dataset(tmp_path / "data")
    (tmp_path / "few.csv").write_text(csv_text([f"snli-{i},0.5,0.25,0.25" for i in range(3)]))
    done = call("submit", tmp_path / "few.csv", "--name", "a", "--data", data, *fields(), code=2)
    assert_fields(done.stderr, problem="as published", todo="chaos evaluate")
    assert not results.exists()


def test_a_merged_folder_never_changes(results, file):
    (results / "a-try").mkdir(parents=True)
    done = call("submit", file, "--name", "a-try", "--data", "sample", *fields(), code=2)
    assert_fields(done.stderr, where="a-try", todo="a-try-v2")


def test_all_that_is_submitted_is_checked_and_each_fault_is_named(results):
    for name in ("minilm-l6-alphanli-3162-rerun", "mpnet-base-nli-10000-labels"):
        shutil.copytree(PROJECT / "results" / "submitted" / name, results / name)
    record = results / "mpnet-base-nli-10000-labels" / "system.yml"
    record.write_text(record.read_text("utf-8") + "withdrawn: {date: 2026-01-01, reason: old}\n")
    done = call("submit", "--check", "--data", "sample", "--json", code=2)
    first, second = json.loads(done.stdout)
    assert "No uid" in first["refused"]  # the sample has other items
    assert second == {"name": "mpnet-base-nli-10000-labels", "withdrawn": "old"}
    assert "No uid" in done.stderr
    assert (
        "withdrawn on 2026-01-01"
        in call("submit", "--check", "mpnet-base-nli-10000-labels", "--data", "sample").stdout
    )


@pytest.fixture
def merged(results, tmp_path, monkeypatch):
    """A repository with two submissions in its branch main, which may be changed."""
    for name in ("minilm-l6-alphanli-3162-rerun", "mpnet-base-nli-10000-labels"):
        shutil.copytree(PROJECT / "results" / "submitted" / name, results / name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "results"], ["commit", "-qm", "merged"],
                  ["switch", "-qc", "mine"]):  # fmt: skip
        subprocess.run([*git, *words], check=True)
    return results / "mpnet-base-nli-10000-labels"


def refused_since(base="main"):
    """Return what is refused of each submission, for changes that a branch lacks."""
    done = call("submit", "--check", "--base", base, "--data", "sample", "--json", code=2)
    return {answer["name"]: answer.get("refused", "") for answer in json.loads(done.stdout)}


CHANGES = {
    "a file is changed": (lambda folder: append(folder / "predictions.parquet", "x"), "changed"),
    "a file is deleted": (lambda folder: (folder / "system.yml").unlink(), "system.yml deleted"),
    "all is deleted": (shutil.rmtree, "predictions.parquet deleted, system.yml deleted"),
    "the record is changed": (
        lambda folder: append(folder / "system.yml", "n_tried: 2\n"), "system.yml changed",
    ),
    "it is withdrawn and changed": (
        lambda folder: append(folder / "system.yml", f"n_tried: 2\n{WITHDRAWN}"), "system.yml",
    ),
}  # fmt: skip
WITHDRAWN = "withdrawn: {date: 2026-01-01, reason: old}\n"


def append(path, text):
    with path.open("a", encoding="utf-8") as stream:
        stream.write(text)


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_merged_does_not_change(merged, name):
    change, found = CHANGES[name]
    change(merged)
    fault = refused_since()[merged.name]
    assert_fields(fault, problem="does not change", found=found, todo=f"{merged.name}-v2")


def test_what_is_merged_may_be_withdrawn_and_that_is_said(merged):
    append(merged / "system.yml", WITHDRAWN)
    done = call("submit", "--check", merged.name, "--base", "main", "--data", "sample")
    assert f"{merged.name}: withdrawn here" in done.stdout


def test_what_is_new_cannot_be_withdrawn_and_what_is_withdrawn_is_two_files(merged):
    shutil.copytree(merged, new := merged.with_name("new"))
    append(new / "system.yml", WITHDRAWN)
    assert_fields(refused_since()["new"], problem="cannot be withdrawn", where="new/system.yml")
    (new / "texts.csv").write_text("A man sleeps.")
    done = call("submit", "--check", "new", "--data", "sample", code=2)
    assert_fields(done.stderr, found="texts.csv")


def test_what_else_a_branch_changes_is_said_and_strays_are_refused(merged, results):
    (results / ".hidden").mkdir()
    (results / ".hidden" / "texts.csv").write_text("A man sleeps.")
    (results / "notes.md").write_text("A man sleeps.")
    (results.parent.parent / "elsewhere.md").write_text("x")
    git = ["git", "-C", str(results.parent.parent)]
    subprocess.run([*git, "add", "results", "elsewhere.md"], check=True)
    faults = refused_since()
    for name in (".hidden", "notes.md"):
        assert_fields(faults[name], problem="not a submission", where=name)
    append(merged / "system.yml", WITHDRAWN)
    done = call("submit", "--check", merged.name, "--base", "main", "--data", "sample")
    assert "also changed: 'elsewhere.md'" in done.stdout


def test_a_branch_that_is_not_there_is_one_message(merged, results):
    done = call("submit", "--check", "--base", "gone", "--data", "sample", code=2)
    assert_fields(done.stderr, where="--base gone", todo="git fetch")
    done = call("submit", "--check", "--base=--output=x", "--data", "sample", code=2)
    assert_fields(done.stderr, where="--output=x")
    assert not list(results.parent.glob("x"))


def test_the_fault_of_another_stands_beside_a_check_by_name(merged):
    append(merged / "system.yml", WITHDRAWN)
    other = merged.with_name("minilm-l6-alphanli-3162-rerun")
    (other / "system.yml").write_text("title: [")
    done = call("submit", "--check", merged.name, "--data", "sample")
    assert "withdrawn on 2026-01-01" in done.stdout
    assert "another submission has a fault" in done.stderr
    assert f"{other.name}/system.yml" in done.stderr


def test_the_workflow_fetches_all_that_submissions_are_compared_with():
    text = (PROJECT / ".github" / "workflows" / "gate.yml").read_text("utf-8")
    steps = yaml.safe_load(text)["jobs"]["submissions"]["steps"]
    commands = [shlex.split(run) for step in steps if (run := step.get("run", ""))]
    ours = [words[1:] for words in commands if words[0] == "chaos"]
    assert ["submit", "--check", "--base", "$BASE"] in ours
    for words in ours:
        call(*words, "--help")  # a command or an option that is not there is a fault
    fetched = [_select(words[2:]) for words in ours if words[:2] == ["data", "fetch"]]
    known = {name for files in fetched for name in files}
    assert {*vote_files(), *prediction_files(other_forms=False), *JUDGES.files} <= known


# The published data


def test_a_row_is_shown_with_the_places_that_change(released, results, tmp_path):
    shutil.copytree(PROJECT / "results" / "submitted" / "minilm-l6-nli-s4", results / "s4")
    (answer,) = json.loads(call("submit", "--check", "s4", "--json").stdout)
    on_snli = [row for row in answer["places"] if row["dataset"] == "snli"]
    (own,) = (row for row in on_snli if row["without"] is None)
    assert own["system"] == answer["rows"][0]["title"]
    assert all(row["n_placed"] == own["n_placed"] for row in on_snli)
    worths = [row["people"] for row in on_snli]
    assert worths == sorted(worths, reverse=True)
    for row in on_snli:
        if row is not own:  # one more system takes one place at most
            for now, before in zip(row["place"], row["without"], strict=True):
                assert now - before in (0, 1)


def test_a_reviewer_reads_what_no_program_can_judge():
    record = read_submission(PROJECT / "results" / "submitted" / "minilm-l6-nli-s4").record
    asked = record.asked.model_copy(update={"prompt": "Which?\nOne word."})
    said = submit._said(record.model_copy(update={"asked": asked}))
    for line in ("licence: CC-BY-4.0", f"link: {record.link}", r"prompt: 'Which?\nOne word.'"):
        assert line in said
    assert any(record.reason in line for line in said)


def test_what_is_submitted_here_stands_a_check(released):
    answers = json.loads(call("submit", "--check", "--json").stdout)
    folders = [path.parent.name for path in PROJECT.glob("results/submitted/*/system.yml")]
    assert sorted(folders) == [answer["name"] for answer in answers]
    assert all(answer["rows"] for answer in answers)


def test_pages_that_rank_systems_have_them_and_others_do_not(released):
    ranking, others = gather(predictions=[], submitted=True), gather(predictions=[])
    files = {path.relative_to(PROJECT).as_posix() for path in PROJECT.glob("results/submitted/*/*")}
    for part, other in zip(ranking, others, strict=True):
        assert files <= {file.name for file in part.inputs()}
        assert not files & {file.name for file in other.inputs()}
        assert part.parsed_digest(["systems"]) != other.parsed_digest(["systems"])
    assert {one.name for one in ranking.systems} - {one.name for one in others.systems} == {
        "MPNet-base, 10,000 items, labels", "MiniLM-L6, 3,162 items, trained again",
        "MiniLM-L6, seed 4",
    }  # fmt: skip


def test_a_recorded_model_is_refused_under_another_name(released, tmp_path):
    shutil.copy(PROJECT / "results/minilm-l6-nli-s1/predictions.parquet", tmp_path / "new.parquet")
    done = call("submit", tmp_path / "new.parquet", "--name", "x-trial", *fields(), code=2)
    assert_fields(done.stderr, problem="MiniLM-L6, seed 1", found="1.000")
    assert not (PROJECT / "results" / "submitted" / "x-trial").exists()


@pytest.mark.published("judges32/*")
def test_a_language_models_labels_are_known_and_its_items_are_a_set(released, results, tmp_path):
    answers = JUDGES.read("snli")
    labels = answers[answers["model"] == answers["model"].iloc[0]]
    labels = labels[["uid", "label"]].rename(columns={"label": "predicted_label"})
    asked = {"asked.how": "label", "asked.prompt": "Which?", "asked.temperature": "0"}
    words = ["submit", tmp_path / "labels.csv", "--name", "a-judge", *fields(**asked)]
    labels.to_csv(tmp_path / "labels.csv", index=False)
    assert_fields(call(*words, code=2).stderr, problem=answers["model"].iloc[0], found="1.000")
    others = {"entailment": "neutral", "neutral": "contradiction", "contradiction": "entailment"}
    changed = np.random.default_rng(0).random(len(labels)) < 0.1
    labels["predicted_label"] = labels["predicted_label"].mask(
        changed, labels["predicted_label"].map(others)
    )
    labels.to_csv(tmp_path / "labels.csv", index=False)
    (row,) = json.loads(call(*words, "--json").stdout)["rows"]
    assert "of 1,000, judges' items" in row["items"]
    assert (results / "a-judge" / "system.yml").is_file()

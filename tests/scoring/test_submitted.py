"""What others submit: what is written and read, what is refused, what a reviewer is shown."""

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from helpers.evidence import drawn, on_items
from helpers.faults import assert_fields, refused
from helpers.predictions import made_votes

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.auxiliary_data import JUDGES
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.dataset import DataFile
from chaos_utils.scoring import submitting
from chaos_utils.scoring.predictions import read_predictions
from chaos_utils.scoring.submitted import (
    parse_record,
    read_submission,
    submissions,
    submitted_systems,
)
from chaos_utils.scoring.submitting import (
    NO_DISTRIBUTION,
    as_parquet,
    check_record,
    check_submission,
    item_sets,
    write_submission,
)
from chaos_utils.scoring.system import System, votes_of
from chaos_utils.scoring.systems import computed, inputs_of_systems, load_systems
from chaos_utils.scoring.temperature_scaling import temper

N = 600
RECORD = {
    "title": "Honest", "authors": ["someone"], "date": "2026-01-31", "licence": "CC-BY-4.0",
    "link": "https://example.org/honest",
    "model": {"id": "maker/honest", "revision": "abc", "open_weights": True},
    "asked": {"how": "encoder"}, "trained_on": ["SNLI"], "votes_used": "none",
    "may_have_seen": "possible",
}  # fmt: skip
TRUTHS = np.random.default_rng(0).dirichlet((0.9, 0.7, 0.5), N)
_HASH = "0" * 64


def errs(seed=1, scale=1.0):
    noise = np.random.default_rng(seed).normal(scale=scale, size=TRUTHS.shape)
    logits = np.log(TRUTHS + 0.05) + noise
    return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def votes():
    """Votes that count as released: the digest of their file is the published one."""
    file = DataFile(name="made.jsonl", sha256=_HASH)
    dataset = get_dataset("snli").model_copy(update={"files": (file,), "systems": ()})
    return replace(drawn(made_votes(dataset), TRUTHS, 100), given_old_label=None)


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "results", lambda: tmp_path)
    submitting._published_systems.cache_clear()
    return tmp_path


@pytest.fixture
def submit(votes, results):
    """Return what writes predictions, and fields of the record, into a folder of the results."""

    def write(values=None, name="honest", *, system=None, **fields):
        folder = results / "submitted" / name
        folder.mkdir(parents=True)
        system = system or computed(name, votes, errs() if values is None else values)
        write_submission(folder, [system], parse_record(RECORD | fields, "made by hand"))
        return read_submission(folder)

    return write


def labels_of(votes, values):
    made = computed("labels", votes, np.eye(3)[np.argmax(values, axis=1)])
    return replace(made, one_label=True, stated=True)


def rewrite(submission, change):
    """Change the table of predictions of a submission."""
    table = change(pd.read_parquet(submission.predictions))
    submission.predictions.write_bytes(as_parquet(table))
    return submission


# What is written, read and shown


def test_what_is_submitted_is_read_again_with_all_that_the_record_says(votes, submit):
    submission = submit(reason="its makers name no training data")
    (system,) = submitted_systems(votes)
    np.testing.assert_allclose(system.probabilities, errs(), atol=1e-12)
    assert (system.name, system.origin, system.asked) == ("Honest", "submitted", "encoder")
    assert not system.out_of_fold
    assert (system.date, system.licence) == ("2026-01-31", "CC-BY-4.0")
    assert (system.link, system.may_have_seen) == ("https://example.org/honest", "possible")
    assert system.caution == "it may have seen the items: its makers name no training data"
    assert {file.name for file in system.inputs} == {
        "results/submitted/honest/predictions.parquet", "results/submitted/honest/system.yml",
    }  # fmt: skip
    assert [one.name for one in load_systems(votes, submitted=True)] == ["Honest"]
    assert load_systems(votes) == []
    known = inputs_of_systems(votes.dataset, submitted=True)
    assert set(system.inputs) <= set(known)
    assert not set(system.inputs) & set(inputs_of_systems(votes.dataset))
    (row,) = check_submission(submission, [votes], n_resamples=100)
    assert row.items.startswith("600 of 600, all items")
    assert row.flags[0] == system.caution
    for text in (row.recalibrated, row.misplaced, row.jsd, row.accuracy):
        assert "[" in text


def test_numbers_of_samples_and_labels_are_written_as_such(votes, results, submit):
    counts = np.random.default_rng(3).multinomial(7, errs())
    counts[0] = (3, 1, 1)  # fewer answers
    table = pd.DataFrame(counts, columns=list(votes.dataset.labels)).assign(uid=votes.uids)
    table.assign(n_samples=counts.sum(axis=1)).to_csv(results / "drawn.csv", index=False)
    (drawn_system,) = read_predictions(results / "drawn.csv", [votes])
    asked = {"how": "samples", "prompt": "…", "temperature": 1, "samples": 7}
    submission = submit(system=drawn_system, asked=asked)
    written = pd.read_parquet(submission.predictions)
    np.testing.assert_array_equal(written[list(votes.dataset.labels)], counts)
    (row,) = check_submission(submission, [votes], n_resamples=0)
    assert row.jsd != NO_DISTRIBUTION
    asked = {"how": "label", "prompt": "…", "temperature": 0}
    labels = submit(system=labels_of(votes, errs(5)), name="labels", title="Labels", asked=asked)
    assert list(pd.read_parquet(labels.predictions)) == ["dataset", "uid", "predicted_label"]
    (row,) = check_submission(labels, [votes], n_resamples=0)
    assert (row.as_it_is, row.jsd, row.misplaced) == (NO_DISTRIBUTION,) * 3


def test_a_correction_replaces_and_what_is_withdrawn_is_not_shown(votes, submit):
    submit()
    replaces = {"name": "honest", "reason": "the labels were in another order"}
    second = submit(errs(scale=1.01), name="honest-v2", replaces=replaces)
    assert [one.inputs[0].name for one in submitted_systems(votes)] == [
        "results/submitted/honest-v2/predictions.parquet"
    ]
    (row,) = check_submission(second, [votes], n_resamples=0)
    assert any(flag.startswith("replaces honest") for flag in row.flags)
    withdrawn = {"date": "2026-02-01", "reason": "trained on the votes"}
    submit(errs(7), name="other", title="Other", withdrawn=withdrawn)
    assert [one.name for one in submitted_systems(votes)] == ["Honest"]
    assert len(submissions()[0]) == 3


def test_what_is_replaced_is_the_latest_of_the_same_authors(votes, submit):
    submit()
    replaces = {"name": "honest", "reason": "the labels were in another order"}
    by_another = submit(name="stolen", title="B", replaces=replaces, authors=["another"])
    with refused(problem="its authors alone", where="stolen/system.yml", expected="someone",
                 todo="ask them"):  # fmt: skip
        check_record(by_another)
    (by_another.folder / "system.yml").unlink()
    submit(name="honest-v2", replaces=replaces, authors=["someone", "another"])
    third = submit(name="honest-v3", title="C", replaces=replaces)
    with refused(problem="replaced before", todo="replaces.name=honest-v2"):
        check_record(third)


def test_predictions_out_of_fold_are_scored_as_such(votes, submit):
    system = replace(computed("f", votes, errs()), folds=tuple(str(k % 2) for k in range(N)))
    submission = submit(system=system, votes_used="other_items")
    (read,) = submitted_systems(votes)
    assert read.out_of_fold
    assert votes_of(votes.dataset) in read.trained_on
    assert check_submission(submission, [votes], n_resamples=0)


def test_the_items_of_a_set_are_known_by_their_digest(votes):
    (whole,) = item_sets(votes)
    shuffled = replace(votes, uids=votes.uids[::-1])
    assert item_sets(shuffled)[0].digest == whole.digest
    assert item_sets(replace(votes, uids=(*votes.uids[1:], "x")))[0].digest != whole.digest


# What is refused


def test_fewer_than_95_of_a_hundred_items_are_refused(votes, submit):
    system = computed("part", votes, errs())
    enough = submit(system=on_items(system, range(570)))
    (row,) = check_submission(enough, [votes], n_resamples=0)
    assert any(flag.startswith("30 items left out") for flag in row.flags)
    too_few = submit(system=on_items(system, range(569)), name="few", title="Few")
    with refused(where="submitted/few", found="569 of 600", expected="95%", todo="--dataset"):
        check_submission(too_few, [votes])


COLUMNS = {
    "texts": lambda t: t.assign(premise="A man sleeps."),
    "votes": lambda t: t.assign(label_counter=1),
    "old labels": lambda t: t.assign(old_label="neutral"),
    "values without the labels' names": lambda t: t[["uid"]].assign(
        probs=t[["entailment", "neutral", "contradiction"]].to_numpy().tolist()
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_anything_but_predictions_is_refused(votes, submit, name):
    with refused(problem="no part of predictions", expected="a column for each label"):
        check_submission(rewrite(submit(), COLUMNS[name]), [votes])


HIDDEN = {
    "the file's metadata": (
        lambda t: with_metadata(t, file={"note": "A man sleeps."}), "Beside its columns",
    ),
    "a column's metadata": (
        lambda t: with_metadata(t, column={"note": "A man sleeps."}), "Beside its columns",
    ),
    "who wrote it": (
        lambda t: as_parquet(t).replace(b"parquet-cpp-arrow", b"A man sleeps here"),
        "Beside its columns",
    ),
    "after its columns": (
        lambda t: insert_text(as_parquet(t)), "Beside its columns",
    ),
    "a value that no row has": (lambda t: with_unused_value(t), "Beside its columns"),
    "parts in the place of a dataset": (
        lambda t: as_parquet(t.assign(dataset=[{"note": "A man sleeps."}] * len(t))),
        "The column dataset",
    ),
    "the name of the dataset": (
        lambda t: as_parquet(t.assign(dataset="A man sleeps.")), "The column dataset",
    ),
    "a fold": (
        lambda t: as_parquet(t.assign(fold=["A man sleeps.", *"1" * (N - 1)])), "The column fold",
    ),
    "a label of another dataset": (
        lambda t: as_parquet(t.assign(funny="A man sleeps.")), "no part of predictions",
    ),
    "no parquet": (lambda t: t.to_csv(index=False).encode(), "not parquet"),
}  # fmt: skip


def insert_text(content):
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")  # of what describes columns
    return content[:start] + b"A man sleeps." + content[start:]


def with_unused_value(table):
    columns = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
    names = pa.array([table["dataset"].iloc[0], "A man sleeps."])
    coded = pa.DictionaryArray.from_arrays(pa.array([0] * len(table), pa.int32()), names)
    columns = columns.set_column(0, "dataset", coded)
    pq.write_table(columns, stream := io.BytesIO(), store_schema=False)
    return stream.getvalue()


def with_metadata(table, file=None, column=None):
    columns = pa.Table.from_pandas(table, preserve_index=False)
    fields = [columns.schema.field(0).with_metadata(column), *list(columns.schema)[1:]]
    columns = columns.cast(pa.schema(fields)).replace_schema_metadata(file)
    pq.write_table(columns, stream := io.BytesIO())
    return stream.getvalue()


@pytest.mark.parametrize("name", HIDDEN)
def test_a_text_has_no_place_in_a_file_of_predictions(votes, submit, name):
    (hide, problem), submission = HIDDEN[name], submit()
    submission.predictions.write_bytes(hide(pd.read_parquet(submission.predictions)))
    with refused(where="predictions.parquet", problem=problem):
        check_submission(submission, [votes])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: f"# A man sleeps.\n{text}", "comments"),
        (
            lambda text: text.replace("may_have_seen: possible", "may_have_seen: possible # A"),
            "comments",
        ),
        (lambda text: text + "\n" * 60_000, "too long"),
    ],
)
def test_a_record_is_its_fields_alone(votes, submit, change, problem):
    submission = submit()
    path = submission.folder / "system.yml"
    path.write_text(change(path.read_text("utf-8")), "utf-8")
    with refused(where="system.yml", problem=problem):
        check_submission(submission, [votes])


def test_a_sign_of_a_comment_in_a_prompt_is_none(votes, submit):
    asked = {"how": "percentages", "prompt": "# Task\n\nHow many? # a number", "temperature": 0}
    assert check_submission(submit(asked=asked), [votes], n_resamples=0)


def test_a_file_that_was_written_here_holds_its_columns_alone(submit):
    about = pq.ParquetFile(submit().predictions)
    assert about.metadata.metadata is None
    assert about.schema_arrow.metadata is None


def test_a_text_in_the_place_of_a_uid_is_refused(votes, submit):
    def hide(table):
        return pd.concat([table, table.iloc[:1].assign(uid="A man sleeps.")])

    with refused(problem="no item", found="1 row"):
        check_submission(rewrite(submit(), hide), [votes])


def test_labels_in_another_order_are_refused(votes, submit):
    swapped = {"entailment": "contradiction", "contradiction": "entailment"}
    with refused(problem="another order"):
        check_submission(rewrite(submit(), lambda t: t.rename(columns=swapped)), [votes])


def test_large_and_further_files_are_refused(votes, submit, monkeypatch):
    submission = submit()
    (submission.folder / "items.csv").write_text("uid\n")
    with refused(found="items.csv", expected="predictions.parquet and system.yml"):
        check_submission(submission, [votes])
    (submission.folder / "items.csv").unlink()
    submission.predictions.rename(aside := submission.folder.parent / "aside.parquet")
    submission.predictions.symlink_to(aside)
    with refused(found="by a link"):
        check_submission(submission, [votes])
    aside.replace(submission.predictions)
    monkeypatch.setattr(submitting, "MOST_BYTES", 1000)
    with refused(found="bytes", expected="1,000"):
        check_submission(submission, [votes])


def test_copies_of_the_votes_are_refused(votes, submit):
    with refused(problem="copied from the votes", found="squared distance"):
        check_submission(submit(votes.shares), [votes])
    majority = labels_of(votes, votes.shares)
    with refused(problem="copied from the votes", found="majority"):
        check_submission(submit(system=majority, name="m", title="M"), [votes])


def test_a_known_system_is_refused_at_any_temperature_and_with_a_factor_for_each_label(
    votes, submit
):
    submit()
    scaled = errs() * [1.0, 2.0, 1.5]
    for name, shares in (
        ("hot", temper(errs(), 2.0)),
        ("scaled", scaled / scaled.sum(axis=1, keepdims=True)),
        ("flatter", 0.7 * errs() + 0.1),
    ):
        with refused(problem="known system: Honest", found="1.000"):
            check_submission(submit(shares, name=name, title=name), [votes])


def test_the_labels_of_a_known_system_are_refused_as_probabilities(votes, submit):
    asked = {"how": "label", "prompt": "…", "temperature": 0}
    labels = labels_of(votes, errs())
    submit(system=labels, asked=asked)
    soft = submit(0.85 * labels.probabilities + 0.05, name="soft", title="Soft")
    with refused(problem="known system: Honest", found="labels alike: 1.000"):
        check_submission(soft, [votes])
    own = submit(errs(), name="own", title="Own")  # says more than labels
    assert check_submission(own, [votes], n_resamples=0)


def test_a_reviewer_is_told_of_what_is_nearly_a_known_system(votes, submit):
    submit()
    noise = np.exp(0.3 * np.random.default_rng(9).normal(size=errs().shape))
    blurred = errs() * noise
    near = submit(blurred / blurred.sum(axis=1, keepdims=True), name="near", title="Near")
    (row,) = check_submission(near, [votes])
    assert "nearly Honest" in row.flags


def test_a_reviewer_is_told_of_what_knows_far_more_than_all_others(votes, submit):
    submit()
    half = submit(0.6 * errs(2) + 0.4 * votes.shares, name="half", title="Half",
                  code="https://github.com/maker/half")  # fmt: skip
    (row,) = check_submission(half, [votes], n_resamples=0)
    assert any("has it seen these votes?" in flag for flag in row.flags)
    honest = submit(errs(3, scale=2), name="third", title="Third")
    (row,) = check_submission(honest, [votes], n_resamples=0)
    assert not any("has it seen" in flag for flag in row.flags)


def test_a_fault_of_another_submission_stops_no_check(votes, submit):
    first, second = submit(), submit(errs(6), name="other", title="Other")
    first.predictions.write_bytes(b"PAR1 broken PAR1")
    assert check_submission(second, [votes], n_resamples=0)
    (first.folder / "system.yml").write_text("title: [")
    assert check_submission(second, [votes], n_resamples=0)
    assert list(submissions()[1]) == ["honest"]
    with refused(where="honest/system.yml"):
        submitted_systems(votes)


def test_labels_of_people_are_refused(votes, submit):
    old = replace(votes, given_old_label=np.random.default_rng(8).integers(0, 3, N))
    system = labels_of(old, np.eye(3)[old.old_label])
    with refused(problem="known system"):
        check_submission(submit(system=system), [old])


def test_the_labels_of_a_known_system_are_derived_if_they_say_so(votes, submit):
    submit()
    labels = labels_of(votes, errs())
    silent = submit(system=labels, name="labels", title="Labels")
    with refused(problem="most probable", expected="derived_from: Honest"):
        check_submission(silent, [votes])
    false = submit(system=labels_of(votes, errs(9)), name="false", title="False",
                   derived_from="Honest")  # fmt: skip
    with refused(problem="not the labels", found="Honest"):
        check_submission(false, [votes])
    told = submit(system=labels, name="told", title="Told", derived_from="Honest")
    with refused(problem="known system: Labels", found="labels alike"):  # labels with labels
        check_submission(told, [votes])
    withdrawn = {"date": "2026-02-01", "reason": "says nothing"}
    (silent.folder / "system.yml").write_text(
        yaml.safe_dump(RECORD | {"title": "Labels", "withdrawn": withdrawn})
    )
    (row,) = check_submission(told, [votes], n_resamples=0)
    assert "the labels of Honest" in row.flags


FITTED = {
    "says so in its training data": ({"trained_on": ["votes of snli"]}, None, "votes of snli"),
    "says so in words of its own": ({"trained_on": ["Chaos NLI"]}, None, "Chaos NLI"),
    "has folds and denies votes": ({}, [str(k % 2) for k in range(N)], "fold"),
    "without folds": ({"votes_used": "other_items"}, None, "none"),
    "in one fold": ({"votes_used": "other_items"}, ["0"] * N, "folds: 0"),
}


@pytest.mark.parametrize("name", FITTED)
def test_what_was_fitted_on_the_judging_votes_is_refused(votes, submit, name):
    fields, folds, found = FITTED[name]
    system = replace(computed("f", votes, errs()), folds=tuple(folds or ()))
    with refused(any=found, todo=("fold", "")):
        check_submission(submit(system=system, **fields), [votes])


def test_a_text_in_two_folds_is_refused(votes, submit):
    texts = tuple({"premise": f"text {k // 2}", "hypothesis": f"h{k}"} for k in range(N))
    system = replace(computed("f", votes, errs()), folds=tuple(str(k % 2) for k in range(N)))
    submission = submit(system=system, votes_used="other_items")
    with refused(problem="in two folds", found="item-1 in fold 1"):
        check_submission(submission, [replace(votes, texts=texts)])


def test_what_is_too_good_needs_code_or_weights(votes, submit):
    nearly = np.random.default_rng(4).multinomial(30, TRUTHS) / 30 * 0.94 + 0.02
    with refused(problem="code or weights", expected="at most 8"):
        check_submission(submit(nearly), [votes], n_resamples=0)
    seen = submit(nearly, name="seen", title="Seen", code="https://github.com/maker/seen")
    (seen.folder.parent / "honest" / "system.yml").write_text(
        yaml.safe_dump(RECORD | {"withdrawn": {"date": "2026-02-01", "reason": "no code"}})
    )
    assert check_submission(seen, [votes], n_resamples=0)


def test_two_submissions_of_one_title_are_refused(votes, submit):
    submit()
    again = submit(errs(6), name="again", title="ＨONEST")
    with refused(problem="the same title", where="again/system.yml", found="honest"):
        check_record(again)
    guess = submit(errs(6), name="guess", title="Uniform guess")
    with refused(problem="known system", where="guess/system.yml"):
        check_record(guess)
    lost = submit(errs(6), name="b", title="B", replaces={"name": "gone", "reason": "x"})
    with refused(found="gone"):
        check_submission(lost, [votes])


def test_what_was_asked_is_what_is_there(votes, submit):
    asked = {"how": "label", "prompt": "…", "temperature": 0}
    with refused(found="label, and probabilities"):
        check_submission(submit(asked=asked), [votes])


TOMORROW = str((datetime.now(UTC) + timedelta(days=3)).date())
RECORDS = {
    "a future date": ({"date": TOMORROW}, "future"),
    "no date": ({"date": "2026-02-30"}, "date"),
    "an unknown licence": ({"licence": "free"}, "CC-BY-4.0"),
    "HTML in the title": ({"title": "<b>best</b>"}, "without < and >"),
    "HTML in an author": ({"authors": ["<script>"]}, "without < and >"),
    "a control character": ({"title": "a\x07b"}, "without < and >"),
    "a mark of direction": ({"title": "a\u202eb"}, "marks of direction"),
    "a space at the end": ({"title": "Honest "}, "spaces at its ends"),
    "a word without an end": ({"title": "x" * 101}, "words of at most 100"),
    "no author": ({"authors": []}, "a list of names"),
    "a link that runs": ({"link": "javascript:alert(1)"}, "https://"),
    "a link without a lock": ({"link": "http://example.org/x"}, "https://"),
    "a link to this machine": ({"link": "https://localhost/x"}, "anyone can open"),
    "a private address": ({"link": "https://192.168.0.1/x"}, "anyone can open"),
    "an address in numbers": ({"link": "https://[::1]/x"}, "anyone can open"),
    "a name of a network": ({"link": "https://wiki.internal/x"}, "anyone can open"),
    "a name before the host": ({"link": "https://example.org@evil.org/x"}, "anyone can open"),
    "code anywhere": ({"code": "https://example.org/maker/code"}, "github.com"),
    "code without its name": ({"code": "https://github.com/maker"}, "owner and name"),
    "code by a way up": ({"code": "https://github.com/a/b/../../"}, "owner and name"),
    "two scripts in a title": ({"title": "H\u043enest"}, "one script"),
    "two scripts in an author": ({"authors": ["s\u043emeone"]}, "one script"),
    "parts that lack fields": ({"model": {}, "asked": {}}, "asked.how: is missing; expected label"),
    "not seen, without a reason": ({"may_have_seen": "no"}, "needs a reason"),
    "asked without a prompt": ({"asked": {"how": "logprobs"}}, "asked.prompt"),
    "samples without their number": (
        {"asked": {"how": "samples", "prompt": "p", "temperature": 1}}, "asked.samples",
    ),
    "another way to ask": ({"asked": {"how": "guess"}}, "encoder"),
    "a field of another file": ({"score": 99}, "no such field"),
}  # fmt: skip


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_that_says_what_cannot_be_is_refused(name):
    fields, expected = RECORDS[name]
    with pytest.raises(ChaosError) as fault:
        parse_record(RECORD | fields, "system.yml")
    assert_fields(fault.value, where="system.yml", found=expected, todo="CONTRIBUTING.md")


@pytest.mark.parametrize("content", [b"PAR1 broken PAR1", b"", b"uid\n", b"\xff\xfe"])
def test_damaged_files_are_one_message(votes, submit, content):
    submission = submit()
    submission.predictions.write_bytes(content)
    with refused(where="predictions.parquet"):
        check_submission(submission, [votes])
    (submission.folder / "system.yml").write_bytes(content)
    with refused(where="system.yml"):
        read_submission(submission.folder)


def test_a_folder_of_a_strange_name_is_refused(submit):
    with refused(problem="cannot have this name", found="Honest One"):
        read_submission(submit().folder.rename(paths.results() / "submitted" / "Honest One"))


def test_yes_and_no_are_words_whatever_yaml_makes_of_them():
    text = yaml.safe_load("may_have_seen: no\nreason: its weights are older\n")
    assert parse_record(RECORD | text, "system.yml").may_have_seen == "no"


# The published data


@pytest.mark.published("judges32/*")
def test_the_judges_items_are_a_set_of_their_own(released):
    assert [len(one.uids) for one in item_sets(released[0])] == [1514, 1000]


@pytest.mark.published("judges32/*")
def test_what_language_models_say_together_is_known(released, submit):
    votes = released[0]
    answers = JUDGES.read("snli")
    table = pd.crosstab(answers["uid"], answers["label"], normalize="index")
    shares = table[list(votes.dataset.labels)].to_numpy()
    pool = System("mine", votes.dataset, tuple(table.index), shares, shares.argmax(axis=1))
    with refused(problem="language models, pooled", found="1.000"):
        check_submission(submit(system=pool), [votes])

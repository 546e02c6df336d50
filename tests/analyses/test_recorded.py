"""The contract of recorded analyses, on a small one."""

import re

import numpy as np
import pandas as pd
import pytest

from chaos_utils.analyses.evidence import Evidence, Material, gather
from chaos_utils.analyses.recorded import (
    FOLDER,
    Record,
    derived,
    differences,
    read_record,
    recorded,
)
from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input
from chaos_utils.base.table import Table
from chaos_utils.datasets import availability
from chaos_utils.datasets.availability import check_available
from chaos_utils.scoring.systems import synthetic_systems


@recorded(keys=("dataset", "label"), published=("nie2020_table2",))
def label_shares(votes, *, scale: float = 1.0) -> pd.DataFrame:
    shares = scale * votes.counts.sum(axis=0) / votes.counts.sum()
    return pd.DataFrame(
        {"dataset": votes.dataset.name, "label": votes.dataset.labels, "share": shares}
    )


@recorded(keys=("dataset", "system"))
def coverage(votes, systems) -> pd.DataFrame:
    rows = [(votes.dataset.name, one.name, len(one)) for one in systems]
    return pd.DataFrame(rows, columns=["dataset", "system", "n_items"])


@recorded(keys=("dataset",), needs="old votes")
def old_votes(votes) -> pd.DataFrame:
    total = int(votes.old_votes.sum())
    return pd.DataFrame({"dataset": [votes.dataset.name], "n": [total]})


@recorded(keys=("dataset",))
def most_frequent(votes, *, shares: pd.DataFrame) -> pd.DataFrame:
    first = shares["label"].iloc[shares["share"].argmax()]
    return pd.DataFrame({"dataset": [votes.dataset.name], "label": [first]})


@derived(keys=("dataset",), published=("nie2020_table5",))
def largest(shares: pd.DataFrame) -> pd.DataFrame:
    return shares.groupby("dataset", sort=False)["share"].max().reset_index()


@pytest.fixture
def evidence(sample, monkeypatch):
    """The sample's votes and systems, taken for the book's own."""
    monkeypatch.setattr(Evidence, "recordable", property(lambda self: not self.own))
    return Material(
        tuple(Evidence((one.dataset,), (one,), (tuple(synthetic_systems(one)),)) for one in sample)
    )


@pytest.fixture
def without(evidence):
    """The same datasets without votes."""
    return Material(tuple(Evidence(one.datasets, None, None) for one in evidence))


@pytest.fixture
def results(run_folder, monkeypatch):
    """The project's results, where what the running notebook records is found again."""
    monkeypatch.setattr(paths, "results", lambda: run_folder)
    return run_folder


def record_of(results, analysis, dataset):
    (path,) = (results / FOLDER / analysis).glob(f"{dataset}*.csv")
    return path


def test_what_is_recorded_is_what_was_computed(evidence, without, results):
    computed, read = (label_shares(one, scale=0.5) for one in (evidence, without))
    pd.testing.assert_frame_equal(computed.rows, read.rows)
    assert computed.inputs == read.inputs
    assert computed.recorded == []
    assert read.recorded == ["snli", "mnli", "alphanli"]
    assert not read.origin.outdated
    assert computed.keys == read.keys == ("dataset", "label")


def test_a_record_names_its_parameters_and_exactly_its_inputs(evidence, results):
    label_shares(evidence)
    coverage(evidence)
    record = read_record(record_of(results, f"{label_shares.name}", "snli"))
    assert record.parameters == {"scale": 1.0}
    assert [one.name for one in record.inputs] == [
        "published/nie2020_table2.csv", "synthetic-sample/chaosNLI_snli.jsonl",
    ]  # fmt: skip
    assert record.keys == ("dataset", "label")
    assert re.fullmatch("[0-9a-f]{16}", record.code)


def test_some_datasets_may_be_computed_and_others_read(evidence, without, results):
    label_shares(evidence)
    mixed = label_shares([evidence[0], *without[1:]])
    assert mixed.recorded == ["mnli", "alphanli"]
    pd.testing.assert_frame_equal(mixed.rows, label_shares(evidence).rows)


def test_other_parameters_are_refused_without_votes(evidence, without, results):
    label_shares(evidence)
    with pytest.raises(ChaosError, match="not recorded for these parameters") as fault:
        label_shares(without, scale=0.25)
    message = str(fault.value)
    assert '{"scale": 0.25}' in message
    assert '{"scale": 1.0}' in message
    assert "chaos data fetch" in message


def test_votes_may_be_here_and_predictions_not(evidence, results):
    coverage(evidence)
    lacking = Evidence(evidence[0].datasets, evidence[0].votes, None)
    assert coverage(lacking).recorded == ["snli"]
    assert label_shares(lacking).recorded == []


def test_a_reader_s_own_systems_are_never_recorded(evidence, results):
    own = Evidence(evidence[0].datasets, evidence[0].votes, evidence[0].systems, own=True)
    assert len(coverage(own))
    assert not (results / FOLDER).exists()
    with pytest.raises(ChaosError, match="not recorded"):
        coverage(Evidence(own.datasets, None, None, own=True))


def test_a_dataset_that_lacks_a_part_is_passed_over(evidence, without, results):
    assert old_votes(evidence).rows["dataset"].tolist() == ["snli", "mnli"]
    assert old_votes(without).rows["dataset"].tolist() == ["snli", "mnli"]
    nobody = old_votes(evidence.named("alphanli"))
    assert (len(nobody), nobody.inputs) == (0, ())


def test_tables_are_handed_on_with_what_they_were_made_from(evidence, without, results):
    shares = label_shares(evidence)
    assert most_frequent(evidence, shares=shares).inputs == shares.inputs
    best = largest(shares)
    assert "published/nie2020_table5.csv" in [one.name for one in best.inputs]
    assert len(best.on("snli").inputs) == 3
    pd.testing.assert_frame_equal(best.rows, largest(label_shares(without)).rows)


DAMAGES = {
    "missing": lambda text: None,
    "cut off": lambda text: text[:-20],
    "cut off in its head": lambda text: text[:40],
    "changed by hand": lambda text: text.replace("entailment,0.", "entailment,9."),
    "of another version": lambda text: text.replace("# record: 1", "# record: 99"),
    "empty": lambda text: "",
    "no text": lambda text: "\0" * 10,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_record_is_one_clear_error(evidence, without, results, damage):
    label_shares(evidence)
    path = record_of(results, label_shares.name, "snli")
    damaged = DAMAGES[damage](path.read_text("utf-8"))
    if damaged is None:
        path.unlink()
    else:
        path.write_text(damaged)
    with pytest.raises(ChaosError, match="recorded table") as fault:
        label_shares(without)
    assert str(path) in str(fault.value)
    assert "restore it with git" in str(fault.value)
    if damage == "of another version":
        assert "version 99, expected 1" in str(fault.value)


def test_a_record_of_other_code_is_shown_and_says_so(evidence, without, results):
    label_shares(evidence)
    path = record_of(results, label_shares.name, "snli")
    path.write_text(re.sub('# code: "[0-9a-f]+"', '# code: "0123"', path.read_text("utf-8")))
    table = label_shares(without)
    assert table.origin.outdated
    assert table.on("snli").origin.outdated
    assert not table.on("mnli").origin.outdated


def record(rows, **changes):
    types = {"dataset": "str", "label": "str", "share": "float", "n": "int"}
    text = "dataset,label,share,n\n" + "".join(f"{row}\n" for row in rows)
    values = {"inputs": (Input("a", "0"),), "code": "1"} | changes
    return Record("a.b", "snli", {}, ("dataset", "label"), types, text=text, **values)


def test_every_cell_that_differs_is_named():
    old = record(["snli,e,0.5,3", "snli,n,0.25,4", "snli,c,,5"])
    new = record(["snli,e,0.5000001,3", "snli,n,0.26,5", "snli,x,0.1,5"])
    assert [str(one) for one in differences(old, new)] == [
        "a.b/snli.csv, snli, c: recorded a row, computed no row",
        "a.b/snli.csv, snli, n, n: recorded 4, computed 5",
        "a.b/snli.csv, snli, n, share: recorded 0.25, computed 0.26",
        "a.b/snli.csv, snli, x: recorded no row, computed a row",
    ]


def test_other_processors_agree():
    old = record(["snli,e,0.333333333,3", "snli,n,,4", "snli,c,1e-17,5"])
    new = record(["snli,e,0.333333334,3", "snli,n,,4", "snli,c,-2e-17,5"], code="2")
    assert differences(old, new) == []
    assert differences(old, record(["snli,e,0.33334,3", "snli,n,,4", "snli,c,0,5"]))


def test_other_inputs_are_a_difference():
    rows = ["snli,e,0.5,3"]
    (found,) = differences(record(rows), record(rows, inputs=(Input("a", "1"),)))
    assert found.place == "inputs"


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    """A machine without the published data."""
    monkeypatch.setattr(paths, "data_roots", lambda: [tmp_path / "nowhere"])


def test_without_data_there_is_evidence_and_no_votes(no_data):
    material = gather("auto", [])
    assert [one.name for one in material] == ["snli", "mnli", "alphanli"]
    assert all(one.votes is None and one.systems is None for one in material)
    assert material.released
    assert [one.name for one in material.having("old votes")] == ["snli", "mnli"]
    assert [one.name for one in material.pooled()] == ["snli+mnli"]
    assert material.left_out("old votes") == "*αNLI has no old votes: left out here.*"


def test_without_votes_predictions_cannot_be_judged(no_data):
    with pytest.raises(ChaosError, match="cannot be judged: the votes on SNLI"):
        gather("auto", ["mine.csv"])


def test_the_sample_must_be_asked_for(no_data):
    assert gather("sample", []).synthetic
    with pytest.raises(ChaosError, match=r"chaosNLI_snli\.jsonl is not available"):
        gather("released")


def test_a_table_without_rows_is_no_error():
    empty = largest(Table(pd.DataFrame({"dataset": [], "share": np.array([])}), ("dataset",)))
    assert len(empty) == 0


BOOK = {"data": "auto", "predictions": [], "seed": 0}


@pytest.mark.parametrize("given", [{"seed": 1}, {"predictions": ["mine.csv"]}])
def test_what_needs_votes_is_refused_before_a_kernel_starts(no_data, given):
    check_available(BOOK, BOOK)
    with pytest.raises(ChaosError, match="chaos data fetch"):
        check_available(BOOK | given, BOOK)


def test_a_chapter_without_systems_needs_the_votes_on_all_datasets(monkeypatch):
    monkeypatch.setattr(availability, "is_missing", lambda dataset: dataset.name == "mnli")
    defaults = {"data": "auto", "dataset": "snli", "collections": 2}
    with pytest.raises(ChaosError, match="chaosNLI_mnli_m"):
        check_available(defaults | {"collections": 3}, defaults)


def test_missing_predictions_are_missing_data_unless_a_reader_brings_some(monkeypatch):
    monkeypatch.setattr(availability, "is_missing", lambda dataset: False)
    monkeypatch.setattr(availability.sources, "find", lambda name: None)
    with pytest.raises(ChaosError, match="data that others need is missing"):
        check_available(BOOK | {"seed": 1}, BOOK)
    check_available(BOOK | {"seed": 1, "predictions": ["mine.csv"]}, BOOK)


def test_predictions_of_a_reader_s_own_make_the_votes_no_others(released):
    votes = released[0]
    own = Evidence((votes.dataset,), (votes,), ((),), own=True)
    assert Material((own,)).released
    assert not own.recordable

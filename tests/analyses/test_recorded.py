"""The contract of recorded analyses, on small ones."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.checkout import append, copy_checkout
from helpers.evidence import as_released

from chaos_utils import recorded as recording
from chaos_utils.analyses import conventions, inputs
from chaos_utils.analyses.inputs import AnalysisInputs, DatasetInputs, Lazy, gather
from chaos_utils.base import modules, paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.base.inputs import Input, digest
from chaos_utils.base.record_keys import read_keys, write_keys
from chaos_utils.base.table import Table
from chaos_utils.base.table_usage import accesses_of
from chaos_utils.datasets import loading
from chaos_utils.datasets.catalogue import bundled_datasets, prediction_files
from chaos_utils.datasets.loading import check_available
from chaos_utils.recorded import Record, cached_analysis, derived_table, read_record
from chaos_utils.scoring.systems import synthetic_systems


@pytest.fixture
def computed():
    """Which analysis was computed on which dataset."""
    _COMPUTED.clear()
    return _COMPUTED


_COMPUTED = set()


@cached_analysis(keys=("dataset", "label"), published=("nie2020_table2",))
def label_shares(votes, *, scale: float = 1.0) -> pd.DataFrame:
    _COMPUTED.add(("label_shares", votes.dataset.name))
    shares = scale * votes.counts.sum(axis=0) / votes.counts.sum()
    dataset = votes.dataset
    return pd.DataFrame({"dataset": dataset.name, "label": dataset.labels, "share": shares})


@cached_analysis(keys=("dataset", "system"))
def coverage(votes, systems, *, beside=()) -> pd.DataFrame:
    _COMPUTED.add(("coverage", votes.dataset.name))
    rows = [(votes.dataset.name, one.name, len(one)) for one in systems]
    return pd.DataFrame(rows, columns=["dataset", "system", "n_items"])


@cached_analysis(keys=("dataset",), needs="old votes")
def old_votes(votes) -> pd.DataFrame:
    total = int(votes.old_votes.sum())
    return pd.DataFrame({"dataset": [votes.dataset.name], "n": [total]})


@cached_analysis(keys=("dataset",))
def most_frequent(votes, *, shares: pd.DataFrame) -> pd.DataFrame:
    _COMPUTED.add(("most_frequent", votes.dataset.name))
    first = shares["label"].iloc[shares["share"].argmax()]
    return pd.DataFrame({"dataset": [votes.dataset.name], "label": [first]})


@cached_analysis(keys=("dataset",))
def in_all(all_votes) -> pd.DataFrame:
    name = "+".join(one.dataset.name for one in all_votes)
    _COMPUTED.add(("in_all", name))
    return pd.DataFrame({"dataset": [name], "n": [sum(map(len, all_votes))]})


@derived_table(keys=("dataset",), published=("nie2020_table5",))
def largest(shares: pd.DataFrame) -> pd.DataFrame:
    return shares.groupby("dataset", sort=False)["share"].max().reset_index()


@pytest.fixture
def evidence(sample, tmp_path, monkeypatch):
    """The sample's votes and systems, taken for the book's own."""
    monkeypatch.setattr(paths, "build", lambda: tmp_path / "_build")
    several = []
    for votes in sample:
        inputs = (Input(f"predictions/{votes.dataset.name}.json", "1" * 64),)
        several.append(as_released(votes, synthetic_systems(votes), of_systems=inputs))
    return AnalysisInputs(tuple(several))


@pytest.fixture
def without(evidence):
    """The same datasets without votes."""
    return AnalysisInputs(tuple(DatasetInputs(one.datasets, None, None) for one in evidence))


@pytest.fixture
def results(run_folder, monkeypatch):
    """The project's results, where what the running notebook records is found again."""
    monkeypatch.setattr(paths, "results", lambda: run_folder)
    return run_folder


def record_of(results, analysis, dataset):
    (path,) = (results / recording.FOLDER / analysis).glob(f"{dataset}*.csv")
    return path


def test_what_is_recorded_is_what_was_computed_with_all_that_decides_it(evidence, without, results):
    computed, read = (label_shares(one, scale=0.5) for one in (evidence, without))
    pd.testing.assert_frame_equal(computed.rows, read.rows)
    assert computed.inputs == read.inputs
    assert computed.recorded == []
    assert read.recorded == ["snli", "mnli", "alphanli"]
    assert not read.origin.outdated
    record = read_record(record_of(results, label_shares.name, "snli"))
    assert record.parameters == {"scale": 0.5}
    files = ["published/nie2020_table2.csv", "synthetic-sample/chaosNLI_snli.jsonl"]
    assert [one.name for one in record.inputs] == files
    assert computed.keys == read.keys == record.keys == ("dataset", "label")
    key = read_keys(results / recording.FOLDER)[record.name]
    for part in (key.made_by, key.parsed):
        assert re.fullmatch("[0-9a-f]{16}", part)
    assert key.tables == {}


# The key


def all_of(material):
    """Ask for every table, as a chapter does."""
    shares = label_shares(material)
    return [
        shares, coverage(material), most_frequent(material, shares=shares),
        in_all([*material, *material.pooled()]),
    ]  # fmt: skip


EVERYTHING = {
    (analysis, dataset)
    for analysis in ("label_shares", "coverage", "most_frequent", "in_all")
    for dataset in ("snli", "mnli", "alphanli")
} | {("in_all", "snli+mnli")}


def test_a_record_with_this_key_is_the_result_and_nothing_is_read(
    evidence, results, computed, monkeypatch
):
    first = all_of(evidence)
    assert computed == EVERYTHING
    computed.clear()

    def never(self):
        raise AssertionError("the votes were read")

    monkeypatch.setattr(Lazy, "value", property(never))
    for before, after in zip(first, all_of(evidence), strict=True):
        pd.testing.assert_frame_equal(before.rows, after.rows)
        assert (before.inputs, before.recorded) == (after.inputs, after.recorded)
        assert not after.origin.outdated
    assert not computed
    n, asked = len(EVERYTHING), [one.how for one in accesses_of(results)]
    assert asked == ["computed"] * n + ["read"] * n


def test_a_run_of_a_reader_takes_what_another_run_has_computed(
    evidence, computed, tmp_path, monkeypatch
):
    monkeypatch.setattr(paths, "runs", lambda: tmp_path / "runs")

    def ask(folder, **parameters):
        (tmp_path / folder).mkdir(parents=True)
        monkeypatch.setenv("CHAOS_RUN", str(tmp_path / folder))
        computed.clear()
        return label_shares(evidence, **parameters)

    first = ask("runs/one", scale=0.25)
    assert computed
    pd.testing.assert_frame_equal(first.rows, ask("runs/.two-scratch", scale=0.25).rows)
    assert not computed
    ask("runs/three", scale=0.75)
    assert computed
    ask("elsewhere/a-chapter", scale=0.25)
    assert computed


def replaced(path, old, new):
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")


def given(**inputs):
    """Change the files that the votes on SNLI, or its systems, were read from."""

    def change(evidence, results, monkeypatch):
        (votes,), (systems,) = evidence[0].votes, evidence[0].systems
        (known,) = evidence[0].given_systems
        snli = as_released(votes, systems, **{"of_systems": known.inputs} | inputs)
        return AnalysisInputs((snli, *evidence[1:]))

    return change


def patched(name, function, where=recording):
    """Change what the key takes from elsewhere."""
    return lambda evidence, results, monkeypatch: monkeypatch.setattr(where, name, function)


def reading(*, of_systems=None, **parts):
    """Let another reader read the same files, and find other votes or systems on SNLI."""

    def change(evidence, results, monkeypatch):
        monkeypatch.setattr(inputs, "code_digest", lambda *names: "0" * 16)
        material = []
        for one in evidence:
            (votes,), (systems,), (known,) = one.votes, one.systems, one.given_systems
            if one.name == "snli":
                votes = replace(votes, **{name: part(votes) for name, part in parts.items()})
                systems = of_systems(systems) if of_systems else systems
            material.append(as_released(votes, systems, of_systems=known.inputs))
        return AnalysisInputs(tuple(material))

    return change


def edited(old, new):
    """Change a record by hand."""
    return lambda evidence, results, monkeypatch: replaced(
        record_of(results, coverage.name, "mnli"), old, new
    )


def without_key_of(analysis, dataset, results):
    keys = read_keys(results / recording.FOLDER)
    del keys[f"{analysis.name}/{record_of(results, analysis.name, dataset).name}"]
    write_keys(results / recording.FOLDER, keys)


def without_key(evidence, results, monkeypatch):
    without_key_of(coverage, "mnli", results)


def unlinked(evidence, results, monkeypatch):
    record_of(results, most_frequent.name, "alphanli").unlink()


def recompute(evidence, results, monkeypatch):
    monkeypatch.setenv(paths.RECOMPUTE, "1")


digest_of_dataset = inputs.digest_of_dataset


def first_counts_swapped(votes):
    return votes.counts[[1, 0, *range(2, len(votes))]]


def flatter(systems):
    return [replace(one, probabilities=one.probabilities * 0.999 + 0.0005) for one in systems]


POOL = {("in_all", "snli+mnli")}
ON_SNLI = {one for one in EVERYTHING if one[1] == "snli"}
OF_SHARES = {one for one in EVERYTHING if one[0] in ("label_shares", "most_frequent")}
OTHER = (Input("other.json", "2" * 64),)
CHANGES = {
    # A table that is given brings its inputs along.
    "other votes": (given(of_votes=OTHER), ON_SNLI | POOL),
    "other predictions": (given(of_systems=OTHER), {("coverage", "snli")}),
    "other published numbers": (patched("published_input", lambda name: OTHER[0]), OF_SHARES),
    "other code": (patched("code_digest", lambda *names, **_: "0" * 16), EVERYTHING),
    "another numpy": (patched("library_versions", lambda: {"numpy": "0"}), EVERYTHING),
    "another YAML": (
        patched(
            "digest_of_dataset",
            lambda name: "0" if name == "snli" else digest_of_dataset(name),
            inputs,
        ),
        ON_SNLI | POOL,
    ),
    "other rows": (edited("seed 0", "seed 9"), {("coverage", "mnli")}),
    "another version": (edited("# record: 3", "# record: 1"), {("coverage", "mnli")}),
    "a key is missing": (without_key, {("coverage", "mnli")}),
    "no record": (unlinked, {("most_frequent", "alphanli")}),
    "recompute": (recompute, EVERYTHING),
    "another reader that reads the same": (reading(), set()),
    "other counts": (reading(counts=first_counts_swapped), ON_SNLI | POOL),
    "other uids": (reading(uids=lambda votes: votes.uids[::-1]), ON_SNLI | POOL),
    "other texts": (reading(texts=lambda votes: votes.texts[::-1]), ON_SNLI | POOL),
    "other probabilities": (reading(of_systems=flatter), {("coverage", "snli")}),
    "other fields": (
        reading(of_systems=lambda systems: [replace(one, caution="!") for one in systems]),
        {("coverage", "snli")},
    ),
    "no old labels": (reading(given_old_label=lambda votes: None), ON_SNLI | POOL),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_changed_is_computed_anew_and_nothing_else(
    evidence, results, computed, monkeypatch, name
):
    first = all_of(evidence)
    change, expected = CHANGES[name]
    changed = change(evidence, results, monkeypatch) or evidence
    computed.clear()
    for before, after in zip(first, all_of(changed), strict=True):
        pd.testing.assert_frame_equal(before.rows, after.rows)
        assert after.recorded == []
    assert computed == expected
    damaged = [one.name for one in accesses_of(results) if one.damaged]
    assert len(damaged) == (name in ("other rows", "another version"))
    if name != "recompute":
        computed.clear()
        all_of(changed)
        assert not computed  # what was computed is recorded now


def test_readers_lead_to_nothing_else_that_decides_rows():
    """Of their modules, those that compute call only what reads: another name may compute."""
    package = paths.project() / modules.PACKAGE
    readers = {name.removeprefix(f"{modules.PACKAGE}.") for name in inputs.READERS}
    left_out = [package / f"{name.replace('.', '/')}.py" for name in sorted(readers)]
    assert all(path.is_file() for path in left_out)
    analyses = [f"{modules.PACKAGE}.analyses.{one.stem}" for one in package.glob("analyses/*.py")]
    called = set()
    for path in modules.transitive_imports(analyses, left_out):
        for name in modules.source_of(path).imports:
            module, _, object = name.removeprefix(f"{modules.PACKAGE}.").rpartition(".")
            called |= {object} if module in readers else set()
    assert called <= {
        "AnalysisInputs", "DatasetInputs", "Lazy", "LazyVotes", "gather",
        "as_number",  # reads a dataset's YAML file, which is in the key
        "datasets_of", "load_all_votes", "load_votes", "needs_votes",
        "join", "notes_on_missing", "read_logit_rows", "read_predictions",
        "inputs_of_submitted", "submitted_systems",
        # A corpus, what stands beside votes, and a run's predictions are read by these.
        "Column", "Faults", "FileContent", "Frame", "class_columns", "parse", "read_frame",
        "shorten", "wrong_value_message",
    }  # fmt: skip


def test_what_is_given_files_to_read_has_the_readers_in_its_key(evidence, monkeypatch):
    given = []

    def code_digest(*names, without=()):
        given.append((names[1:], without))
        return "0" * 16

    monkeypatch.setattr(recording, "code_digest", code_digest)
    coverage(evidence[0])
    coverage(evidence[0], beside=[Lazy((Input("other.json", "1"),), dict)])
    assert given == [((), inputs.READERS), (inputs.READERS, ())]


def test_votes_given_by_hand_are_computed_whatever_is_recorded(
    evidence, results, computed, monkeypatch
):
    label_shares(evidence)
    computed.clear()
    monkeypatch.setattr(DatasetInputs, "recordable", True)  # their file is known, they are not
    votes = evidence[0].votes
    for _ in range(2):  # what the first call computes is no record for the second
        label_shares(DatasetInputs(evidence[0].datasets, votes, None))
        assert computed == {("label_shares", "snli")}
        computed.clear()


def test_other_parameters_and_other_rows_of_a_given_table_are_computed(evidence, results, computed):
    for scale in (1.0, 0.5, 1.0):
        shares = label_shares(evidence, scale=scale)
        most_frequent(evidence, shares=shares)
        assert ("label_shares", "snli") in computed or scale == 1.0
        computed.clear()
    other = shares.with_rows(shares.rows.assign(share=np.where(shares.rows["share"] > 0.4, 0, 1)))
    most_frequent(evidence, shares=other)
    assert ("most_frequent", "snli") in computed
    assert len(list((results / recording.FOLDER / label_shares.name).glob("snli*"))) == 2


def test_what_stands_beside_is_keyed_by_its_inputs_and_read_later(evidence, results, computed):
    def beside(sha256):
        return Lazy((Input("other.json", sha256),), dict)

    for sha256, expected in (("1", True), ("1", False), ("2", True)):
        computed.clear()
        table = coverage(evidence[0], beside=[beside(sha256)])
        assert bool(computed) == expected
        assert Input("other.json", sha256) in table.inputs


@pytest.mark.parametrize(
    "value", [object(), [object()], {"a": object()}, np.int64(1), [Table(pd.DataFrame(), ())]]
)
def test_an_argument_that_no_key_would_hold_is_an_error(evidence, without, results, value):
    for material in (evidence, without):
        with pytest.raises(TypeError, match=r"coverage: argument 'beside' is neither"):
            coverage(material, beside=value)


def test_some_datasets_may_be_computed_and_others_read(evidence, without, results):
    label_shares(evidence)
    mixed = label_shares([evidence[0], *without[1:]])
    assert mixed.recorded == ["mnli", "alphanli"]
    pd.testing.assert_frame_equal(mixed.rows, label_shares(evidence).rows)
    assert [one.how for one in accesses_of(results)][3:6] == ["read", "shown", "shown"]
    # Votes may be here, and predictions not.
    coverage(evidence)
    lacking = DatasetInputs(evidence[0].datasets, evidence[0].given_votes, None)
    assert coverage(lacking).recorded == ["snli"]
    assert label_shares(lacking).recorded == []


def test_other_parameters_are_refused_without_votes(evidence, without, results):
    label_shares(evidence)
    with pytest.raises(ChaosError, match="not recorded for these parameters") as fault:
        label_shares(without, scale=0.25)
    for words in ('{"scale": 0.25}', '{"scale": 1.0}', "chaos data fetch"):
        assert words in str(fault.value)


def test_a_reader_s_own_systems_are_never_recorded_nor_read(evidence, results, computed):
    own = DatasetInputs(
        evidence[0].datasets, evidence[0].given_votes, evidence[0].systems, own=True
    )
    assert len(coverage(own))
    assert not (results / recording.FOLDER).exists()
    coverage(evidence)
    computed.clear()
    coverage(own)
    assert computed
    with pytest.raises(ChaosError, match="not recorded"):
        coverage(DatasetInputs(own.datasets, None, None, own=True))


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
    assert len(largest(shares.with_rows(shares.rows.head(0)))) == 0


DAMAGES = {
    "missing": lambda path: path.unlink(),
    "cut off": lambda path: replaced(path, path.read_text("utf-8")[-20:], ""),
    "changed by hand": lambda path: replaced(path, "entailment,0.", "entailment,9."),
    "of another version": lambda path: replaced(path, "# record: 3", "# record: 99"),
    "no text": lambda path: path.write_text("\0" * 10),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_record_is_one_clear_error(evidence, without, results, damage):
    label_shares(evidence)
    path = record_of(results, label_shares.name, "snli")
    DAMAGES[damage](path)
    with pytest.raises(ChaosError, match="recorded table") as fault:
        label_shares(without)
    assert str(path) in str(fault.value)
    assert "restore it with git" in str(fault.value)
    if damage == "of another version":
        assert "version 99, expected 3" in str(fault.value)


OUTDATED = {
    "other published numbers": {"_current_input": lambda one: replace(one, sha256="00")},
    "other code": {"code_digest": lambda *names, **_: "0" * 16},
    "another numpy": {"library_versions": lambda: {"numpy": "1.0"}},
    "another YAML": {
        "digest_of_dataset": lambda name: "01" if name == "snli" else digest_of_dataset(name)
    },
}


@pytest.mark.parametrize("change", [*OUTDATED, "no key"])
def test_an_outdated_record_is_shown_and_says_so(evidence, without, results, monkeypatch, change):
    label_shares(evidence)
    if change == "no key":
        without_key_of(label_shares, "snli", results)
    for name, function in OUTDATED.get(change, {}).items():
        where = inputs if name == "digest_of_dataset" else recording
        monkeypatch.setattr(where, name, function)
    table = label_shares(without)
    assert table.on("snli").origin.outdated
    assert table.origin.outdated
    assert table.on("mnli").origin.outdated == (change not in ("another YAML", "no key"))


def test_with_damaged_keys_all_is_computed_and_nothing_shown(
    evidence, without, results, computed, monkeypatch, tmp_path
):
    label_shares(evidence)
    (results / recording.FOLDER / "keys.json").write_text("<<<<<<< HEAD\n{}")
    computed.clear()
    (tmp_path / "another").mkdir()
    monkeypatch.setenv("CHAOS_RUN", str(tmp_path / "another"))
    assert label_shares(evidence).recorded == []
    assert {dataset for _, dataset in computed} == {"snli", "mnli", "alphanli"}
    with pytest.raises(ChaosError, match=r"keys(?s:.)*damaged(?s:.)*restore it with git"):
        label_shares(without)


@pytest.mark.parametrize(
    "name",
    [
        "chaosNLI_v1.0/chaosNLI_snli.jsonl", "predictions/model_predictions_for_abdnli.json",
        "results/a-run/predictions.parquet", "judges32/snli.csv",
    ],
)  # fmt: skip
def test_what_went_into_a_shown_record_and_has_changed_here_marks_it(
    evidence, without, results, tmp_path, monkeypatch, name
):
    monkeypatch.setenv("CHAOS_DATA", str(tmp_path))
    places = {name: tmp_path / name, f"results/{name[8:]}": results / name[8:]}
    places |= {f"predictions/{Path(one).name}": tmp_path / one for one in prediction_files()}
    path = places[name]
    write_text(path, "as it was")
    given = (Input(name, digest(path)),)
    votes, systems = evidence[0].votes[0], evidence[0].systems[0]
    coverage(as_released(votes, systems, of_systems=given))
    for text, outdated in (("as it was", False), ("changed", True), ("as it was", False)):
        write_text(path, text)
        assert coverage(without[0]).origin.outdated == outdated
    path.unlink()  # what is not here is not known to have changed
    assert not coverage(without[0]).origin.outdated


def test_a_record_made_from_another_table_than_the_one_here_is_outdated(evidence, without, results):
    shares = label_shares(evidence)
    most_frequent(evidence, shares=shares)
    assert not most_frequent(without, shares=label_shares(without)).origin.outdated
    other = shares.with_rows(shares.rows.assign(share=shares.rows["share"] / 2))
    assert most_frequent(without, shares=other).origin.outdated
    # So is one that was made from an outdated one, though its rows are the same.
    without_key_of(label_shares, "snli", results)
    found = most_frequent(without, shares=label_shares(without))
    assert found.on("snli").origin.outdated
    assert not found.on("mnli").origin.outdated


def record(rows, **changes):
    types = {"dataset": "str", "label": "str", "share": "float", "n": "int"}
    text = "dataset,label,share,n\n" + "".join(f"{row}\n" for row in rows)
    values = {"inputs": (Input("a", "0"),), "keys": ("dataset", "label")} | changes
    return Record("a.b", "snli", {}, types=types, text=text, **values)


def test_every_cell_that_differs_is_named():
    old = record(["snli,e,0.5,3", "snli,n,0.25,4", "snli,c,,5"])
    new = record(["snli,e,0.5000001,3", "snli,n,0.26,5", "snli,x,0.1,5"])
    assert [str(one) for one in recording.differences(old, new)] == [
        "a.b/snli.csv, snli, c: recorded a row, computed no row",
        "a.b/snli.csv, snli, n, n: recorded 4, computed 5",
        "a.b/snli.csv, snli, n, share: recorded 0.25, computed 0.26",
        "a.b/snli.csv, snli, x: recorded no row, computed a row",
    ]
    other = record(old.text.splitlines()[1:], inputs=(Input("a", "1"),))
    (found,) = recording.differences(old, other)
    assert found.place == "inputs"


def test_other_processors_agree():
    old = record(["snli,e,0.333333333,3", "snli,n,,4", "snli,c,1e-17,5"])
    new = record(["snli,e,0.333333334,3", "snli,n,,4", "snli,c,-2e-17,5"])
    assert recording.differences(old, new) == []
    assert recording.differences(old, record(["snli,e,0.33334,3", "snli,n,,4", "snli,c,0,5"]))
    by_share = {"keys": ("dataset", "share")}  # a temperature may tell rows apart
    one, other = (
        record([f"snli,e,{share},3"], **by_share) for share in ("2.48243812", "2.48243811")
    )
    assert recording.differences(one, other) == []
    assert recording.differences(one, record(["snli,e,2.483,3"], **by_share))


def test_without_data_there_is_evidence_and_no_votes(no_data):
    material = gather("auto", [])
    assert [one.name for one in material] == ["snli", "mnli", "alphanli"]
    assert all(one.votes is None and one.systems is None for one in material)
    assert not any(one.has("old labels") for one in gather("auto", datasets=["dices", "wax"]))
    assert material.released
    assert [one.name for one in material.with_part("old votes")] == ["snli", "mnli"]
    assert [one.name for one in material.pooled()] == ["snli+mnli"]
    assert material.missing_note("old votes") == "*αNLI has no old votes, so it is left out here.*"
    with pytest.raises(ChaosError, match="cannot be judged: the votes on SNLI"):
        gather("auto", ["mine.csv"])
    # The sample must be asked for.
    assert gather("sample", []).synthetic
    with pytest.raises(ChaosError, match=r"chaosNLI_snli\.jsonl is not available"):
        gather("released")


BOOK = {"data": "auto", "predictions": [], "seed": 0}


def test_what_needs_votes_or_systems_is_refused_before_a_kernel_starts(monkeypatch, no_data):
    check_available(BOOK, BOOK)
    for given in ({"seed": 1}, {"predictions": ["mine.csv"]}):
        with pytest.raises(ChaosError, match="chaos data fetch"):
            check_available(BOOK | given, BOOK)
    monkeypatch.setattr(loading, "is_missing", lambda dataset: dataset.name == "mnli")
    defaults = {"data": "auto", "dataset": "snli", "collections": 2}
    with pytest.raises(ChaosError, match="chaosNLI_mnli_m"):
        check_available(defaults | {"collections": 3}, defaults)
    monkeypatch.setattr(loading, "is_missing", lambda dataset: False)
    monkeypatch.setattr(loading.sources, "find", lambda name: None)
    with pytest.raises(ChaosError, match="data to compute others is missing"):
        check_available(BOOK | {"seed": 1}, BOOK)
    check_available(BOOK | {"seed": 1, "predictions": ["mine.csv"]}, BOOK)


# The published data


@pytest.mark.published("*")
def test_evidence_knows_before_it_reads_what_it_will_have_read():
    names = [one.name for one in bundled_datasets()]
    for one in gather("auto", [], datasets=names):
        known = DatasetInputs(one.datasets, one.votes, one.systems)
        assert one.released
        assert one.inputs(()) == known.inputs(())
        if one.systems is not None:
            assert one.inputs() == known.inputs(), one.name
            assert one.has_systems == known.has_systems
        for what in ("old labels", "old votes", "texts", "annotators", "three labels"):
            assert one.has(what) == known.has(what), (one.name, what)


@pytest.fixture
def real(released_root, tmp_path, monkeypatch):
    """A checkout beside the published data, whose notebooks leave what they compute as records."""
    checkout = copy_checkout(tmp_path / "book")
    shutil.rmtree(checkout / "results" / "tables")
    monkeypatch.chdir(checkout)
    monkeypatch.setenv("CHAOS_RUN", str(checkout / "results"))
    modules.clear_cache()
    yield checkout
    modules.clear_cache()


def test_on_the_published_data(real, released_root, tmp_path, monkeypatch):
    def ask(expected, *, parsed=False):
        (evidence,) = gather("auto", [], datasets=["snli"])
        table = conventions.under_every_convention(evidence, temperature=2.0)
        *_, asked = accesses_of(real / "results")
        assert asked.how == expected
        was_read = [vars(one) for one in (evidence.given_votes or ()) if "value" in vars(one)]
        assert bool(was_read) == (parsed or expected == "computed")
        return table

    computed, read = ask("computed"), ask("read")
    pd.testing.assert_frame_equal(computed.rows, read.rows)
    assert (computed.inputs, computed.recorded) == (read.inputs, [])
    record = record_of(real / "results", conventions.under_every_convention.name, "snli")

    for name, expected in {
        "analyses/conventions": "computed", "metrics/measures": "computed",
        "datasets/cells": "read", "datasets/rows": "read", "scoring/formats": "read",
    }.items():  # fmt: skip
        append(real / "chaos_utils" / f"{name}.py", "\nMORE = 1\n")
        modules.clear_cache()
        ask(expected, parsed=True)
        ask("read")

    data = tmp_path / "data"
    votes = "chaosNLI_v1.0/chaosNLI_snli.jsonl"
    (data / votes).parent.mkdir(parents=True)
    monkeypatch.setenv("CHAOS_DATA", str(data))
    for there in (False, True):  # an empty folder, and one without predictions
        if there:
            shutil.copy(released_root / votes, data / votes)
        shown = ask("shown")
        assert (shown.recorded, shown.origin.outdated) == (["snli"], False)
        pd.testing.assert_frame_equal(shown.rows, computed.rows)
    (data / votes).write_text("{}\n")  # of another version
    with pytest.raises(ChaosError, match="SHA-256 differs"):
        ask("shown")
    monkeypatch.setenv("CHAOS_DATA", str(released_root))
    record.write_text(record.read_text("utf-8")[:-9], "utf-8")
    (real / "results" / "minilm-l6-nli-s0" / "predictions.parquet").write_bytes(b"other")
    with pytest.raises(ChaosError, match="not the one that its record names"):
        ask("computed")

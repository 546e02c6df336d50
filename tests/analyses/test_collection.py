"""Simulated collections beside the published one, and experiments with the protocol."""

import pytest
from helpers.evidence import evidence_of, evidence_on

from chaos_utils.analyses import collection
from chaos_utils.analyses import inputs as available
from chaos_utils.analyses.inputs import AnalysisInputs, DatasetInputs
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.yaml_files import read_yaml
from chaos_utils.collection.annotators import POPULATIONS, assumed_parameters
from chaos_utils.collection.materials import cut
from chaos_utils.collection.protocol import load_protocol
from chaos_utils.datasets.loading import load_votes
from chaos_utils.datasets.published.tables import read_published

COMMON = {"unanimous": 0.95, "seed": 3}


@pytest.fixture(scope="module")
def stories():
    """The evidence on αNLI, which shares its examples with no other dataset."""
    return evidence_of(load_votes("alphanli", "sample"), own=True)


@pytest.mark.parametrize(
    ("left_out", "opened", "closed"),
    [
        ((), "start-qualification qualification-training training-ready",
         "start-training start-ready qualification-ready"),
        (("training",), "qualification-ready", "qualification-training"),
        (("qualification", "training"), "start-ready", "start-training"),
    ],
)  # fmt: skip
def test_a_stage_that_is_left_out_opens_the_way_round_it_and_none_else(left_out, opened, closed):
    protocol = load_protocol(**{f"{stage}_items": 0 for stage in left_out})
    table = collection.transitions(protocol).rows
    found = set(table["from"] + "-" + table["to"])
    assert found.issuperset(opened.split())
    assert found.isdisjoint(closed.split())


def test_datasets_with_the_same_labels_lend_each_other_examples(sample):
    lent = collection.with_examples(evidence_on(sample))
    assert [one.name for one in lent] == ["snli", "mnli", "alphanli"]
    names = [[v.dataset.name for v in one.votes] for one in lent]
    assert names == [["snli", "mnli"], ["mnli", "snli"], ["alphanli"]]
    for one, votes in zip(lent, sample, strict=True):
        expected, found = (cut(votes, lending, 50) for lending in (sample, one.votes))
        assert (found.pool_uids, found.item_uids) == (expected.pool_uids, expected.item_uids)


def test_where_examples_are_missing_all_is_recorded(sample, monkeypatch):
    snli, mnli, _ = evidence_on(sample)
    without = DatasetInputs(mnli.datasets, None, None)
    lent = collection.with_examples(AnalysisInputs((snli, without)))
    assert [one.votes for one in lent] == [None, None]
    # One of the book's datasets that is shown alone asks for the others' examples too.
    monkeypatch.setattr(available.AnalysisInputs, "released", property(lambda self: True))
    monkeypatch.setattr(collection, "gather", lambda: AnalysisInputs((snli, without)))
    (alone,) = collection.with_examples(AnalysisInputs((snli,)))
    assert (alone.name, alone.votes) == ("snli", None)


def test_applicants_are_stated_for_each_collection_that_the_paper_reports_on():
    assert set(read_yaml(POPULATIONS)) == set(read_published("nie2020_table1")["dataset"])


def test_published_figures_stand_beside_simulated_ones(stories):
    compared = collection.against_paper(stories, collections=1, **COMMON)
    paper = read_published("nie2020_table1").set_index("dataset").loc["alphanli"]
    table = compared.rows.set_index("quantity")
    assert table.loc["annotators", "published"] == paper["annotators"]
    assert table.loc["annotators", "simulated"] == pytest.approx(paper["annotators"], rel=0.1)
    stated = table.loc[table["role"] == "stated", "simulated"]
    assert dict(stated) == assumed_parameters("alphanli")
    (run,) = collection._simulate_collections(*stories.votes, stories.votes, 1, 0.95, 3)
    passed = run.annotators.loc[run.annotators["state"] != "rejected", "state"]
    rate = 100 * passed.isin(["blocked", "dismissed"]).mean()
    assert table.loc["filter_rate_percent", "simulated"] == pytest.approx(rate)
    with pytest.raises(ChaosError, match="Nothing would be simulated"):
        collection.against_paper(stories, collections=0, **COMMON)


def test_the_stages_lower_the_error_and_cost_and_more_votes_do_not_replace_them(stories):
    given = {"items": 60, "replicates": 1, **COMMON}
    rows = collection.stage_effects(stories, careless=[0.5], **given).rows
    table = rows.set_index("without")
    without, more = "every stage", "every stage, 1,000 votes per item"
    assert table["tvd"].idxmax() == without
    assert table["tvd"].min() > table["chance_tvd"].iloc[0]
    assert table.loc["nothing", "tvd"] < table.loc[more, "tvd"]
    assert table.loc[without, "dollars"] == pytest.approx(60 * 100 * 0.05)
    assert table.loc[more, "dollars"] == pytest.approx(10 * table.loc[without, "dollars"])
    with pytest.raises(ChaosError, match="Nothing would be simulated"):
        collection.stage_effects(stories, careless=[], **given)

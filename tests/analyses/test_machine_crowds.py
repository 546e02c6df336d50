"""Language models beside people: what is counted, what is pooled, and the published facts."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_of

from chaos_utils.analyses import machine_crowds as mc
from chaos_utils.analyses.inputs import AnalysisInputs, gather
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input
from chaos_utils.datasets import sources
from chaos_utils.datasets.auxiliary_data import AuxiliaryData
from chaos_utils.metrics.agreement import pairwise_agreement
from chaos_utils.metrics.divergence import squared_distance
from chaos_utils.scoring.replacement import COMMONEST, ONE_MORE
from chaos_utils.scoring.system import votes_of
from chaos_utils.scoring.systems import computed, synthetic_systems
from chaos_utils.scoring.worth import worth

FEW = {"n_resamples": 100, "confidence": 0.95, "seed": 0}


@pytest.fixture(scope="module")
def votes(sample):
    """Votes as if they were the published ones, which alone models have answered."""
    source = Input(sample[0].dataset.file, sample[0].dataset.files[0].sha256)
    return replace(sample[0], source=source, other_sources=())


@pytest.fixture(scope="module")
def systems(votes):
    return synthetic_systems(votes)


@pytest.fixture(scope="module")
def judges(votes):
    """Six models by three makers: near people's majority, and apart from each other."""
    rng = np.random.default_rng(0)
    drawn = [rng.multinomial(1, votes.shares).argmax(axis=1) for _ in range(5)]
    return answers_to(votes, np.stack([votes.majority, *drawn], axis=1))


def of_a_reader(votes):
    return replace(votes, source=replace(votes.source, sha256="0" * 64))


def answers_to(votes, labels):
    """Return answers of models, a column of `labels` each, two by each maker."""
    names = np.array(votes.dataset.labels)
    rows = [
        {"uid": uid, "model": f"m{k}", "maker": f"by {k // 2}", "label": names[label]}
        for uid, given in zip(votes.uids, labels, strict=True) for k, label in enumerate(given)
    ]  # fmt: skip
    return given(pd.DataFrame(rows))


def given(rows):
    return AuxiliaryData("invented/*", lambda dataset: rows)


def test_crowds_are_seeds_all_systems_and_language_models(votes, systems, judges):
    other = replace(systems[0], name="other", family="other", seed=None)
    seen = replace(systems[0], name="seen", seed=8, trained_on=(votes_of(votes.dataset),))
    found = mc.crowds_on(votes, [*systems, other, seen], judges)
    assert [(one.name, one.n_members) for one in found] == [
        (mc.LLMS, 6), (systems[0].family, 3), (mc.ALL, 4)
    ]  # fmt: skip
    yours = [replace(systems[0], name=f"y{k}", family=f"y{k}", origin="yours") for k in (0, 1)]
    more = mc.crowds_on(votes, [*systems, other, *yours], judges)
    assert [(one.name, one.n_members) for one in more][2:] == [(mc.ALL, 4), (mc.WITH_YOURS, 6)]
    # They are no crowd beside a reader's own votes, and single votes judge none.
    own = of_a_reader(votes)
    assert mc.crowds_on(own, systems[:1], judges) == []
    assert not len(mc.crowds(evidence_of(own, []), judges=judges, **FEW))
    single = replace(votes, counts=np.eye(votes.dataset.n_classes, dtype=int)[votes.majority])
    assert mc.crowds_on(single, systems, judges) == []


def test_models_are_judged_on_the_items_that_all_of_them_answered(votes, judges):
    rows = judges.read("")
    some = rows[rows["uid"].isin(votes.uids[5:9])].iloc[::-1]
    crowd = mc.judges_on(votes, given(some))
    assert crowd.votes.uids == votes.uids[5:9]
    assert (crowd.labels[:, 0] == votes.majority[5:9]).all()
    assert crowd.makers == ("by 0", "by 0", "by 1", "by 1", "by 2", "by 2")
    one_left_out = some[(some["uid"] != votes.uids[6]) | (some["model"] != "m3")]
    left = mc.judges_on(votes, given(one_left_out))
    assert left.votes.uids == (votes.uids[5], *votes.uids[7:9])
    with pytest.raises(ChaosError, match="No such item"):
        mc.judges_on(votes, given(some.replace(votes.uids[5], "unheard of")))


def test_a_crowd_is_worth_what_its_pooled_votes_are(votes, systems, judges):
    copies = [replace(systems[0], name=f"c{k}", seed=k, origin="yours") for k in range(3)]
    here = evidence_of(votes, copies)
    rows = mc.crowds(here, judges=judges, **FEW).rows.set_index("crowd")
    one = rows.loc[systems[0].family]
    assert one["agreement"] == 1
    assert one["people_agreement"] < 1
    assert one["limit_people_on_top_shrunk"] == pytest.approx(one["people_on_top_shrunk"])
    crowd = mc.judges_on(votes, judges)
    pooled = worth(votes, computed("pooled", votes, crowd.counts / 6), n_resamples=100, seed=0)
    for name, estimate in pooled.shown.items():
        ends = [estimate.value, estimate.low, estimate.high]
        found = rows.loc[mc.LLMS, [name, f"{name}_low", f"{name}_high"]]
        assert np.allclose(found.astype(float), ends, equal_nan=True)
    pairs = [pairwise_agreement(counts) for counts in (crowd.counts, votes.counts)]
    assert rows.loc[mc.LLMS, "rho"] == pytest.approx(np.corrcoef(*pairs)[0, 1])
    labels = crowd.labels.T
    within = [(labels[k] == labels[k + 1]).mean() for k in (0, 2, 4)]
    assert rows.loc[mc.LLMS, "within_maker"] == pytest.approx(np.mean(within))
    across = [
        (labels[k] == labels[m]).mean() for k, m in combinations(range(6), 2) if k // 2 != m // 2
    ]
    assert rows.loc[mc.LLMS, "across_makers"] == pytest.approx(np.mean(across))


def test_panels_are_the_mean_over_all_ways_to_draw_them(votes, judges):
    table = mc.panels(evidence_of(votes, []), judges=judges, **FEW).rows
    assert table["n_members"].tolist() == [1, 2, 3, 5, 6]
    pairs = [mc.judges_on(votes, judges).one_hot[[k, m]].mean(axis=0)
             for k, m in combinations(range(6), 2)]  # fmt: skip
    far = np.mean([squared_distance(votes.shares, one, votes.n_votes).mean() for one in pairs])
    of_one = 1 - pairwise_agreement(votes.counts).mean()
    assert table["human_equivalent_brier"][1] == pytest.approx(of_one / far)
    assert table["people_on_top_shrunk"].is_monotonic_increasing
    sizes = table["n_members"]
    assert np.allclose(table["people_skill"], sizes / (sizes + table["credibility"]))


def test_each_model_beside_people(votes, judges):
    here = evidence_of(votes, [])
    rows = mc.members(here, judges=judges, **FEW).rows.set_index("model")
    share = votes.shares[np.arange(len(votes)), votes.majority]
    assert rows.loc["m0", "with_people"] == pytest.approx(share.mean())
    pairs = pairwise_agreement(votes.counts).mean()
    assert rows.loc[mc.PEOPLE, "with_people"] == pytest.approx(pairs)
    assert rows.loc["m0", "beyond"] == pytest.approx(share.mean() - pairs)
    assert rows.loc["m0", "side"] == "above"
    assert tuple(rows.loc["m0", ["rank_best", "rank_worst"]]) == (1, 1)
    assert rows.loc[[f"m{k}" for k in range(1, 6)], "rank_best"].ge(2).all()
    # A drawn person's labels are worth about one; the majority's agree more often with people.
    people = rows.loc[[f"m{k}" for k in range(1, 6)], "people_on_top_shrunk"]
    assert people.mean() == pytest.approx(1, abs=0.25)
    assert "people_on_top" not in rows
    assert rows["with_people"].is_monotonic_decreasing


def test_the_best_panel_is_judged_on_other_items(votes, judges):
    rows = mc.best_panels(evidence_of(votes, []), judges=judges, confidence=0.95, seed=0).rows
    people = rows.set_index("panel")["people_on_top"]
    assert people[mc.ON_CHOOSING_ITEMS] > people[mc.ON_OTHER_ITEMS]


def test_where_models_agree_and_part_from_people(votes, judges):
    here = evidence_of(votes, [])
    rows = mc.unanimity(here, judges=judges, **FEW).rows
    assert rows["n_items"].sum() == len(votes)
    counts = mc.judges_on(votes, judges).counts
    whole = counts.max(axis=1) == 6
    last = rows[rows["share"] == 1].iloc[0]
    assert last["n_items"] == whole.sum()
    assert last["people"] == pytest.approx(votes.shares[whole, counts[whole].argmax(axis=1)].mean())
    assert not len(mc.parted(here, judges=judges))  # m0 is with the majority
    wrong = (votes.majority + 1) % votes.dataset.n_classes
    apart = answers_to(votes, np.stack([wrong, wrong], axis=1))
    rows = mc.parted(here, judges=apart).rows
    assert rows["n_items"].iloc[0] == rows["n_agreed"].iloc[0] == len(votes)
    rows = rows.iloc[1:]
    assert rows["n_items"].sum() == len(votes)
    old = (votes.old_label == wrong).mean()
    assert (rows["old"] * rows["n_items"]).sum() == pytest.approx(old * len(votes))


def test_missing_files_leave_recorded_tables(votes, systems, monkeypatch):
    here = AnalysisInputs((evidence_of(votes, systems),))
    monkeypatch.setattr(sources, "find", lambda name: None)
    assert [one.votes for one in here.with_auxiliary_data(mc.JUDGES)] == [None]
    assert [one.votes for one in mc.labelled_inputs(here)] == [None]
    # A reader's own predictions have no record: they are shown without the published answers.
    own = AnalysisInputs((replace(here[0], own=True),))
    assert own.with_auxiliary_data(mc.JUDGES)[0].votes
    assert not len(mc.labelled_inputs(own))
    # Nor are they looked for beside other votes.
    others = AnalysisInputs((replace(evidence_of(of_a_reader(votes), systems), own=True),))
    assert not len(mc.labelled_inputs(others))
    assert not len(mc.annotator_inputs(others))


# What was published (Li, Yu and Li 2026), and what was computed apart from this project's code.
@pytest.mark.parametrize(
    ("name", "missing", "agree", "sides", "whole", "pooled", "shrunk", "mapped", "five"),
    [
        ("snli", {}, (0.657, 0.630, 0.718, 0.747, 0.816), (28, 1), (0.36, 0.85),
         [1.3, 2.9, 3.9, 4.2], 4.8, (5.96, 2.69, 1.96), (3.91, 3.47)),
        ("mnli", {"J": 0.295, "E": 0.0205}, (0.542, 0.527, 0.583, 0.644, 0.757), (13, 0),
         (0.24, 0.70), [1.1, 2.0, 2.4, 2.5], 2.9, (5.56, 2.80, 1.84), (2.81, 2.60)),
        ("alphanli", {"J": 1.347, "E": 0.139}, (0.833, 0.805, 0.867, 0.884, 0.911), (22, 2),
         (0.64, 0.94), [1.3, 2.7, 3.6, 3.8], 4.0, (4.29, 2.13, 1.53), (3.61, 2.99)),
    ],
)  # fmt: skip
@pytest.mark.published("judges32/*")
def test_thirty_two_language_models(
    name, missing, agree, sides, whole, pooled, shrunk, mapped, five
):
    material = gather(name)
    rows = mc.published(material).rows.set_index("quantity")
    ours = rows.drop("nu_H")
    if missing:
        assert np.allclose(rows.loc[["J", "E"], "missing"], [missing["J"], missing["E"]], atol=6e-4)
        assert (ours["difference"] / ours["paper"]).abs().max() < 0.006
    else:
        assert np.allclose(ours["value"], ours["paper"], rtol=1e-12, atol=0)
    alone = evidence_of(material.votes[0], [])
    crowd = mc.crowds(alone, **FEW).rows.iloc[0]
    rows = mc.members(material, **FEW).rows.set_index("model")
    models = rows[rows["maker"] != ""]
    rates = models["with_people"]
    found = [rows.loc[mc.PEOPLE, "with_people"], rates.min(), rates.max()]
    found += [rows.loc[mc.MAJORITY, "with_people"], crowd["agreement"]]
    assert np.allclose(found, agree, atol=5.1e-4)
    assert tuple((models["side"] == side).sum() for side in ("above", "below")) == sides
    # Of any order of the judges; a single step, without going on, finds 17, 11 and 21.
    assert (models["rank_best"] == 1).sum() == {"snli": 17, "mnli": 10, "alphanli": 21}[name]
    assert models["rank_margin"].min() > 1e-4
    last = mc.unanimity(material, **FEW).rows.iloc[-1]
    assert np.allclose(last[["share_of_items", "people"]].astype(float), whole, atol=6e-3)
    rows = mc.panels(material, **FEW).rows.set_index("n_members")
    found = [*rows.loc[[1, 5, 32], "human_equivalent_brier"], crowd["limit_human_equivalent_brier"]]
    assert np.allclose(found, pooled, atol=0.051)
    assert crowd["people_on_top_shrunk"] == pytest.approx(shrunk, abs=0.05)
    each = models["people_on_top_recalibrated"]
    found = [crowd["people_on_top_recalibrated"], each.max(), each.median()]
    assert np.allclose(found, mapped, atol=0.02)
    rows = mc.best_panels(material, confidence=0.95, seed=0).rows.set_index("panel")
    # Without the base rate.
    found = (
        rows.loc[[mc.ON_CHOOSING_ITEMS, mc.ON_OTHER_ITEMS], "people_on_top"] + crowd["credibility"]
    )
    assert np.allclose(found, five, atol=0.06)  # over other random halves


def test_what_models_and_encoders_add_to_each_other(votes, systems, judges):
    how = dict(FEW)
    evidence = evidence_of(votes, systems)
    rng = np.random.default_rng(2)
    blind = answers_to(votes, rng.integers(votes.dataset.n_classes, size=(len(votes), 6)))
    knowing, guessing = (
        mc.with_encoders(evidence, judges=one, **how).rows.set_index("stacked")
        for one in (judges, blind)
    )
    both = "encoders + language models"
    assert knowing.loc[both, "by_models_low"] > 0 > guessing.loc[both, "by_models_low"]
    assert knowing.loc[both, "people"] > knowing.loc["encoders", "people"]
    encoders, models = knowing.loc["encoders", "jsd"], knowing.loc[mc.LLMS, "jsd"]
    together = knowing.loc[both]
    assert together["by_models"] == pytest.approx(encoders - together["jsd"])
    assert together["by_encoders"] == pytest.approx(models - together["jsd"])
    assert guessing.loc[both, "by_encoders_low"] > 0


# What the authors' notebook prints: winning rate, advantage probability.
PUBLISHED = {
    ("wax", "gemini_flash"): (0.38, 0.69),
    ("wax", "gemini_pro"): (0.50, 0.74),
    ("wax", "gpt-4o"): (0.50, 0.73),
    ("wax", "llama-31"): (0.00, 0.57),
    ("wax", "gpt-4o-mini"): (0.00, 0.59),
    ("wax", "mistral-v03"): (0.00, 0.50),
    ("lesion", "gemini_flash"): (0.17, 0.71),
    ("lesion", "gemini_pro"): (1.00, 0.81),
    ("lesion", "gpt-4o"): (0.00, 0.62),
    ("lesion", "gpt-4o-mini"): (0.67, 0.73),
}


@pytest.mark.published("alttest/*")
def test_models_in_an_annotator_s_place_come_out_as_their_authors_print_them():
    rows = mc.stand_ins(mc.annotator_inputs(gather()), **FEW).rows.set_index(["dataset", "model"])
    for (dataset, model), (winning, advantage) in PUBLISHED.items():
        row = rows.loc[dataset, model]
        found = row[["wins_10" if dataset == "wax" else "wins_15", "advantage"]].astype(float)
        assert found.tolist() == pytest.approx([winning, advantage], abs=0.0051)
    # A person nearly always passes, the most frequent label never does.
    people, commonest = (rows.xs(name, level="model") for name in (ONE_MORE, COMMONEST))
    assert people["passed_10"].between(0.8, 1, inclusive="neither").all()
    assert (commonest["wins_20"] == 0).all()
    assert rows["n_annotators"].dropna().groupby("dataset").nunique().eq(1).all()

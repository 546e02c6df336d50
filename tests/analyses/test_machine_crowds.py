"""Crowds of machines beside people: what is counted, what is pooled, and the published facts."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_of

from chaos_utils.analyses import machine_crowds as mc
from chaos_utils.analyses.evidence import Material, gather
from chaos_utils.base.inputs import Input
from chaos_utils.metrics.divergence import squared_distance
from chaos_utils.scoring.system import votes_of
from chaos_utils.scoring.systems import computed, synthetic_systems
from chaos_utils.scoring.worth import worth

FEW = {"n_resamples": 100, "confidence": 0.95, "seed": 0}
NONE = mc.Answers(pd.DataFrame())


@pytest.fixture(scope="module")
def votes(sample):
    return sample[0]


@pytest.fixture(scope="module")
def systems(votes):
    return synthetic_systems(votes)


def as_if_released(votes):
    """Return synthetic votes that pass for the published ones."""
    source = Input(votes.dataset.file, votes.dataset.files[0].sha256)
    return replace(votes, source=source, other_sources=())


def of_a_reader(votes):
    return replace(votes, source=replace(votes.source, synthetic=False))


def five_systems(votes):
    rng = np.random.default_rng(0)
    chances = rng.dirichlet(np.ones(votes.dataset.n_classes), (5, len(votes)))
    return [computed(f"m{k}", votes, one) for k, one in enumerate(chances)]


def answers_to(votes, labels, finished):
    """Return answers of machines, a column of `labels` each, with their shares of whole answers."""
    names = votes.dataset.labels
    rows = [
        {"dataset": votes.dataset.name, "uid": uid, "model": f"m{k}", "label": names[label],
         "finished": i >= len(votes) * (1 - finished[k])}
        for i, uid in enumerate(votes.uids)
        for k, label in enumerate(labels[i])
    ]  # fmt: skip
    return mc.Answers(pd.DataFrame(rows))


def test_crowds_are_seeds_all_systems_and_language_models(votes, systems):
    released = as_if_released(votes)
    other = replace(systems[0], name="other", family="other", seed=None)
    seen = replace(systems[0], name="seen", seed=8, trained_on=(votes_of(votes.dataset),))
    labels = np.zeros((len(votes), 3), dtype=int)
    judges = answers_to(released, labels, (1, 1, 0.2))
    found = mc.crowds_on(released, [*systems, other, seen], judges.on(released))
    assert [(one.name, one.n_members) for one in found] == [
        (mc.LLMS, 3), (mc.FINISHED, 2), (systems[0].family, 3), (mc.ALL, 4)
    ]  # fmt: skip
    assert (found[0].counts[:, 0] == 3).all()
    yours = [replace(systems[0], name=f"y{k}", family=f"y{k}", origin="yours") for k in (0, 1)]
    beside = mc.crowds_on(released, [*systems, other, *yours], judges.on(votes)[:0])
    assert [(one.name, one.n_members) for one in beside][1:] == [(mc.ALL, 4), (mc.WITH_YOURS, 6)]
    assert [one.name for one in mc.crowds_on(released, yours, judges.on(votes)[:0])] == [
        mc.WITH_YOURS
    ]
    # They are no crowd beside a reader's own votes, and single votes judge none.
    own = of_a_reader(votes)
    assert mc.crowds_on(own, systems[:1], judges.on(own)) == []
    single = replace(own, counts=np.eye(3, dtype=int)[own.majority])
    assert mc.crowds_on(single, systems, judges.on(own)) == []


def test_answers_are_set_beside_their_own_items(votes):
    released = as_if_released(votes)
    labels = np.stack([released.majority, released.majority], axis=1)
    judges = answers_to(released, labels, (1, 1))
    some = judges.rows[judges.rows["uid"].isin(released.uids[5:9])].iloc[::-1]
    (crowd,) = mc.crowds_on(released, [], some)
    assert crowd.votes.uids == released.uids[5:9]
    assert (crowd.labels[:, 0] == released.majority[5:9]).all()


def test_people_as_few_as_the_machines(votes):
    two = votes.counts[0]
    n = two.sum()
    expected = (two * (two - 1)).sum() / (n * (n - 1))
    assert np.isclose(mc.chance_of_unanimity(votes, 2)[0], expected)
    assert (mc.chance_of_unanimity(votes, int(n))[votes.counts.max(axis=1) < n] == 0).all()
    assert np.isnan(mc.chance_of_unanimity(votes, int(n) + 1)).all()


def test_a_crowd_of_copies_is_of_one_mind_and_worth_one_of_them(votes, systems):
    one = replace(systems[0], origin="yours")
    copies = [replace(one, name=f"c{k}", seed=k) for k in range(3)]
    here = evidence_of(votes, copies)
    (row,) = mc.crowds(here, judges=NONE, **FEW).rows.to_dict("records")
    assert (row["agreement"], row["unanimous"], row["entropy"]) == (1, 1, 0)
    assert row["people_agreement"] < 1
    assert row["people_entropy"] > 0
    growth = mc.growth(here, judges=NONE, berts=NONE, confidence=0.95).rows
    for _, rows in growth.groupby(["target", "pooled"]):
        assert np.allclose(rows["worth"], rows["limit"])
    soft = growth[(growth["pooled"] == mc.SOFT) & (growth["target"] == mc.LABELS)]
    assert np.allclose(soft["worth"], worth(votes, one).pooled.value)


def test_growth_is_the_mean_over_all_ways_to_draw_members(votes):
    systems = [
        replace(one, family="m", seed=k, origin="yours")
        for k, one in enumerate(five_systems(votes)[:3])
    ]
    growth = mc.growth(evidence_of(votes, systems), judges=NONE, berts=NONE, confidence=0.95).rows
    rows = growth[(growth["target"] == mc.LABELS) & (growth["pooled"] == mc.HARD)]
    one_hot = np.stack([np.eye(votes.dataset.n_classes)[one.predicted] for one in systems])
    p = votes.shares
    n = votes.n_votes
    of_one = ((p * (1 - p)).sum(axis=1) * n / (n - 1)).mean()
    for size, found in zip(rows["n_members"], rows["worth"], strict=True):
        pooled = [one_hot[list(some)].mean(axis=0) for some in combinations(range(3), size)]
        distance = np.mean([squared_distance(p, one, n).mean() for one in pooled])
        assert np.isclose(found, of_one / distance)
    mean = computed("mean", votes, one_hot.mean(axis=0))
    whole = rows[rows["whole"]].iloc[0]
    expected = worth(votes, mean).pooled
    assert np.allclose(whole[["worth", "low", "high"]].astype(float),
                       [expected.value, expected.low, expected.high])  # fmt: skip
    # Endlessly many are as far from people as two of them together, whose errors are their own.
    pairs = [((p - one) * (p - other)).sum(axis=1) for one, other in combinations(one_hot, 2)]
    of_people = (p * (1 - p)).sum(axis=1) / (n - 1)
    assert np.allclose(rows["limit"], of_one / (np.mean(pairs, axis=0) - of_people).mean())
    # More of them help, and never more than endlessly many would.
    assert rows["worth"].is_monotonic_increasing
    assert (rows["worth"] <= rows["limit"]).all()


def berts_on(votes, rng):
    gold = rng.binomial(100, rng.beta(0.2, 0.1, len(votes)))
    rows = pd.DataFrame({"dataset": votes.dataset.name, "uid": votes.uids, "n_correct": gold})
    return mc.Answers(rows)


def test_a_hundred_berts(votes):
    released = as_if_released(votes)
    berts = berts_on(released, np.random.default_rng(0))
    correct = berts.rows["n_correct"]
    here = evidence_of(released, [])
    table = mc.hundred(here, berts=berts, **FEW).rows.set_index("crowd")
    items = np.arange(len(votes))
    people = released.shares[items, released.old_label]
    assert np.isclose(table.loc[mc.BERTS, "all"], (correct == 100).mean())
    assert np.isclose(table.loc[mc.PEOPLE, "nearly_all"], (people >= 0.95).mean())
    assert np.isclose(table.loc[mc.PEOPLE, "distance"], np.abs(people - correct / 100).mean())
    assert np.isclose(
        table.loc[mc.BERTS, "rho"], correct.corr(pd.Series(people), method="spearman")
    )
    cells = mc.gold_shares(here, berts=berts).rows
    assert len(cells) == 100
    assert cells["n_items"].sum() == len(votes)
    high = cells[cells["machines"] == 9]["n_items"].sum()
    assert high == (correct >= 90).sum()
    # Beside a reader's own votes, nothing is said.
    assert not len(mc.hundred(evidence_of(of_a_reader(votes), []), berts=berts, **FEW))
    # Nor is there anything to show without machines.
    nobody = evidence_of(votes, [])
    assert not len(mc.crowds(nobody, judges=NONE, **FEW))
    assert not len(mc.growth(nobody, judges=NONE, berts=NONE, confidence=0.95))
    assert not len(mc.unanimity(nobody, judges=NONE, berts=NONE, **FEW))


def test_unanimity_by_the_majority_s_share(votes, systems):
    table = mc.unanimity(evidence_of(votes, systems), judges=NONE, berts=NONE, **FEW).rows
    assert table["n_items"].sum() == len(votes)
    agree = np.ptp([one.predicted for one in systems], axis=0) == 0
    assert np.isclose((table["unanimous"] * table["n_items"]).sum(), agree.sum())
    assert table["people"].is_monotonic_increasing
    assert ((table["low"] <= table["unanimous"]) & (table["unanimous"] <= table["high"])).all()


def test_missing_files_leave_recorded_tables(votes, systems, monkeypatch):
    released = as_if_released(votes)
    here = Material((evidence_of(released, systems),))
    monkeypatch.setattr(mc.sources, "find", lambda name: None)
    hidden = mc.beside(here)
    assert [one.votes for one in hidden.material] == [None]
    # A reader's own predictions have no record: they are shown without the published answers.
    own = Material((replace(here[0], own=True),))
    assert mc.beside(own).material is own
    # Nor are they looked for beside other votes.
    others = Material((replace(evidence_of(of_a_reader(votes), systems), own=True),))
    assert mc.beside(others).material is others
    assert not len(mc.annotated(others)[0])


def test_stand_ins(released_root):
    material, answers = mc.annotated(gather("snli"))
    assert {one.name for one in material} == {"wax", "lesion"}
    few = Material(tuple(one for one in material if one.name == "lesion"))
    rows = mc.stand_ins(few, answers=answers, **FEW).rows.set_index("model")
    assert len(rows) == 4 + 2
    models = rows.index[:4]
    assert (rows.loc[models, "wins_10"] <= rows.loc[models, "wins_20"]).all()
    pooled = rows.loc[mc.POOLED]
    assert np.isclose(pooled["with_models"], rows.loc[models, "with_models"].mean())
    gap = pooled["with_models"] - rows.loc[mc.PEOPLE, "with_people"]
    assert np.isclose(pooled["beyond"], gap, atol=1e-3)
    # The share of people with a model's label, over items and models.
    assert round(rows.loc[models, "with_people"].mean(), 3) == 0.513

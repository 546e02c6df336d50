"""Whose opinions: small crowds by hand, known simulations, published numbers where data is."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_on
from helpers.predictions import made_dataset, made_votes

from chaos_utils.analyses import persons
from chaos_utils.datasets.loading import load_votes
from chaos_utils.datasets.votes import Annotations, frozen
from chaos_utils.metrics.persons import variance_shares
from chaos_utils.report.columns import MISSING
from chaos_utils.report.tables import lay_out
from chaos_utils.scoring.systems import computed


def crowd(item, annotator, label, *, rounds=None, fields=None, items=None, **dataset):
    """Return votes by named people, who are something, on items that are something."""
    item, annotator, label = map(np.asarray, (item, annotator, label))
    names = dataset.pop("labels", [f"label {k}" for k in range(label.max() + 1)])
    made = made_votes(made_dataset(labels=names, **dataset), item.max() + 1, old_labels=False)
    annotations = Annotations(item, annotator, label, fields or {}, rounds)
    counts = np.zeros((item.max() + 1, len(names)), dtype=int)
    first = annotations.is_first
    np.add.at(counts, (item[first], label[first]), 1)
    return replace(made, annotations=annotations, counts=frozen(counts), fields=items or {})


def many(rng, n_items=300, n_people=40, each=8):
    """Return items, people, and labels of items that are clear to a different degree."""
    annotator = np.concatenate([rng.permutation(n_people)[:each] for _ in range(n_items)])
    item = np.repeat(np.arange(n_items), each)
    label = rng.random(len(item)) < rng.beta(0.4, 0.4, n_items)[item]
    return item, annotator, label.astype(int)


def test_the_same_person_again_by_the_languages_of_the_rounds():
    votes = crowd(
        np.repeat([0, 1, 2], 4), np.tile([0, 1, 0, 1], 3), [0, 0, 1, 0, 0, 1, 0, 1, 1, 1, 1, 0],
        rounds=np.tile([0, 0, 1, 1], 3), items={"condition": ("en-en", "en-en", "en-de")},
    )  # fmt: skip
    rows = persons.again.function(votes).set_index(["part", "quantity"])
    value = rows["value"]
    # Of four second labels in one language, one is another; of four of the other person's, three.
    assert value["same language", "same"] == 1 / 4
    assert value["same language", "two"] == 3 / 4
    assert value["same language", "ratio"] == pytest.approx(1 / 3)
    assert value["another language", "same"] == 1 / 2
    assert rows.loc[("all", "same"), ["n_items", "n_people"]].tolist() == [3, 2]
    alone = persons.again.function(replace(votes, fields={}))
    assert set(alone["part"]) == {"all", persons.CLEAR}  # one other person agrees with themselves
    assert not len(persons.again(evidence_on([crowd([0, 0], [0, 1], [0, 1])])).rows)


def test_changes_where_the_other_people_agree_and_where_they_are_split():
    """Slips are three times as frequent on split items; a person's own votes choose no item."""
    rng = np.random.default_rng(5)
    item, person = (of.ravel() for of in np.indices((120, 20)))
    is_split = item % 2 == 1
    view = np.where(is_split, rng.random(len(item)) < 0.5, item % 4 == 0)
    slips = np.where(is_split, 0.15, 0.05)
    rounds = [view ^ (rng.random(len(item)) < slips) for _ in range(2)]
    votes = crowd(
        np.tile(item, 2), np.tile(person, 2), np.concatenate(rounds).astype(int),
        rounds=np.repeat([0, 1], len(item)),
    )  # fmt: skip
    rows = persons.again.function(votes).set_index(["part", "quantity"])
    for part, slip in ((persons.CLEAR, 0.05), (persons.SPLIT, 0.15)):
        row = rows.loc[(part, "same")]
        assert row["low"] < 2 * slip * (1 - slip) < row["high"]
        assert row["n_items"] == 60
        assert (part, "two") not in rows.index


def test_careless_people_are_left_out_beside_everyone_and_who_is_near_the_bar_is_named():
    rng = np.random.default_rng(0)
    item, annotator, label = many(rng, n_items=700)
    label = np.where(annotator < 3, rng.integers(2, size=len(label)), label)
    rows = persons.shares.function(crowd(item, annotator, label)).set_index("people")
    everyone, without = rows.loc[persons.EVERYONE], rows.loc[persons.WITHOUT]
    assert (everyone["n_left_out"], everyone["n_people"], without["n_people"]) == (3, 40, 37)
    assert everyone["largest_near"] < 0.1 < 0.3 < everyone["smallest_kept"]
    assert without["two_differ"] < everyone["two_differ"]
    assert without["text"] > everyone["text"]
    assert np.isnan(everyone["again"])
    shown = persons.shown_shares(rows.reset_index().assign(dataset="made"))
    assert set(shown["people"]) == {persons.EVERYONE, persons.WITHOUT}


def test_ratings_are_compared_by_value_too_and_words_are_not():
    rng = np.random.default_rng(1)
    item, annotator, _ = many(rng, n_items=60)
    label = rng.integers(3, size=len(item))
    numbers = crowd(item, annotator, label, labels=["1", "2", "3"], ordered=True)
    rows = persons.shares.function(numbers)
    assert list(rows["by"]) == ["labels", "scale"]
    scaled = variance_shares(item, annotator, label, 3, scale=[1, 2, 3])
    assert rows["text"][1] == pytest.approx(scaled["text"].value)
    assert rows["text"][0] != pytest.approx(rows["text"][1])
    words = crowd(item, annotator, label, labels=["low", "middle", "high"], ordered=True)
    assert list(persons.shares.function(words)["by"]) == ["labels"]


def test_parts_of_the_data_are_those_that_nobody_crosses():
    votes = crowd(
        [0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 2, 3], [0, 1, 0, 1, 0, 1],
        items={"lang": ("en", "en", "de"), "source": ("a", "b", "b")},
    )  # fmt: skip
    codes = persons.strata(votes)
    assert codes[0] == codes[1] != codes[2]
    assert persons.strata(replace(votes, fields={})).tolist() == [0, 0, 0]


def test_ages_are_cut_and_small_groups_are_left_out():
    item, annotator, label = many(np.random.default_rng(2), n_items=100)
    ages = [str(20 + one % 30) for one in range(38)] + [">65", ""]
    hair = ["brown"] * 20 + ["black"] * 15 + ["red"] * 5
    votes = crowd(item, annotator, label, fields={"age": tuple(ages), "hair": tuple(hair)})
    rows = persons.groups.function(votes, n_shuffles=19, seed=0).set_index("field")
    # Ages up to 29: 18 people; to 44: 15; four to 49, and one of 65, are too few.
    assert rows.loc["age", ["n_groups", "n_people", "n_left_out"]].tolist() == [2, 33, 7]
    assert rows.loc["hair", ["n_groups", "n_people", "n_left_out"]].tolist() == [2, 35, 5]
    assert ((rows["share_low"] < 0) & (rows["share_high"] > 0)).all()
    alone = crowd(item, annotator, label, fields={"hair": ("brown",) * 40})
    (row,) = persons.groups.function(alone, n_shuffles=19, seed=0).to_dict("records")
    assert (row["n_groups"], row["n_left_out"]) == (0, 40)
    assert np.isnan(row["share"])


def test_a_model_in_each_group_is_judged_by_its_own_people():
    """It knows how the brown-haired answer; the black-haired answer something else."""
    rng = np.random.default_rng(7)
    n_items, hair = 400, np.array(["brown"] * 30 + ["black"] * 26 + ["red"] * 4)
    truths = {name: rng.beta(0.6, 0.6, n_items) for name in ("brown", "black", "red")}
    person = np.concatenate([rng.permutation(60)[:12] for _ in range(n_items)])
    item = np.repeat(np.arange(n_items), 12)
    by_hair = np.column_stack(list(truths.values()))
    chance = by_hair[item, [list(truths).index(hair[one]) for one in person]]
    label = (rng.random(len(item)) < chance).astype(int)
    votes = crowd(item, person, label, fields={"hair": tuple(hair)})
    model = computed("one", votes, np.column_stack([1 - truths["brown"], truths["brown"]]))
    one_label = replace(model, name="labels", probabilities=np.eye(2)[label[::12]])
    rows = persons.models.function(votes, [model, one_label]).set_index("group")
    assert list(rows.index) == ["black", "brown"]
    brown, black = rows.loc["brown"], rows.loc["black"]
    assert brown["skill_low"] < 1 <= brown["skill_high"]
    assert brown["people"] > 10
    assert black["skill_high"] < 0
    assert black["people"] < 0
    assert brown["gap_low"] > 0 > black["gap_high"]
    assert rows["p_holm"].max() < 1e-6
    votes = crowd(item[:900], person[:900], label[:900], fields={"hair": tuple(hair)})
    few = persons.models.function(votes, [part_of_model(model, 75)])
    assert few["few"].all()
    assert few["skill"].isna().all()
    few = few.assign(dataset="rte")
    header, cells = lay_out(few, persons.model_columns(few))
    assert cells[0][header.index(["worth in its people"])] == MISSING


def part_of_model(system, n_items):
    """Return a system's predictions of the first items, for votes on these alone."""
    return replace(
        system, uids=system.uids[:n_items], probabilities=system.probabilities[:n_items],
        predicted=system.predicted[:n_items],
    )  # fmt: skip


def test_all_groupings_hold_at_once():
    rows = pd.DataFrame(
        {"dataset": "made", "field": ["a", "b", "c"], "share": [0.02, 0.0, np.nan],
         "error": [0.01, 0.02, np.nan], "degrees": [1e9, 1e9, np.nan], "p": [0.02, 0.4, np.nan]}
    )  # fmt: skip
    together = persons.jointly(rows).rows
    assert together["p_holm"].tolist() == pytest.approx([0.04, 0.4, np.nan], nan_ok=True)
    expected = [0.02 + 2.2414 * 0.01, 2.2414 * 0.02, np.nan]  # the normal's upper 1/80
    assert together["joint_high"].tolist() == pytest.approx(expected, abs=1e-5, nan_ok=True)
    nobody_known = persons.groups(
        evidence_on([crowd([0, 0], [0, 1], [0, 1])]), n_shuffles=9, seed=0
    )
    assert not len(persons.jointly(nobody_known).rows)


# What was computed apart, by other code, from the same files: shares of text and person.
SHARES = {
    "rte": (0.25, 0.11), "md-agreement": (0.36, 0.12), "dices350": (0.16, 0.17),
    "multipico": (0.27, 0.07), "csc": (0.12, 0.11), "popquorn": (0.13, 0.12),
    "lesion": (0.42, 0.01), "probcopa": (0.43, 0.02),
}  # fmt: skip


@pytest.mark.published("snow2008/*", "lewidi2023/*", "dices/*", "lewidi2025/*", "popquorn/*",
                       "alttest/*", "probcopa/*")  # fmt: skip
def test_shares_are_those_that_were_computed_apart():
    found = {name: persons.shares.function(load_votes(name)) for name in SHARES}
    first = {name: rows.iloc[0] for name, rows in found.items()}
    for name, (text, person) in SHARES.items():
        assert (first[name]["text"], first[name]["person"]) == pytest.approx(
            (text, person), abs=0.0051
        ), name
    assert tuple(found["rte"].iloc[1][["text", "person"]]) == pytest.approx((0.58, 0.04), abs=0.005)
    for name, text, person in (("popquorn", 0.29, 0.19), ("csc", 0.36, 0.11)):
        scale = found[name].set_index("by").loc["scale"]
        assert (scale["text"], scale["person"]) == pytest.approx((text, person), abs=0.0051)


@pytest.mark.published("xhatestability/*")
def test_the_same_people_again_as_computed_apart():
    rows = persons.again.function(load_votes("xhatestability"))
    rows = rows[rows["part"] == "same language"].set_index("quantity")
    assert rows["value"][["same", "two", "ratio"]].tolist() == pytest.approx(
        [0.22727, 0.38709, 0.58714], abs=5e-6
    )
    ends = rows.loc[["same", "two", "ratio"], ["low", "high"]].to_numpy().round(3)
    expected = [[0.185, 0.269], [0.336, 0.438], [0.454, 0.720]]
    np.testing.assert_allclose(ends, expected, atol=0.0011)


@pytest.mark.published("popquorn/*", "lewidi2025/*")
def test_no_group_of_popquorn_or_csc_is_clearly_apart():
    rows = pd.concat(
        [persons.groups.function(load_votes(name), n_shuffles=19, seed=0)
         for name in ("popquorn", "csc")]
    ).set_index("field")  # fmt: skip
    race, gender = rows.loc["race"], rows.loc["gender"]
    assert (race["same"], race["other"]) == pytest.approx((0.526, 0.566), abs=0.001)
    assert (gender["same"], gender["other"]) == pytest.approx((0.536, 0.535), abs=0.001)
    assert (race["share_low"], race["share_high"]) == pytest.approx((-0.01, 0.02), abs=0.005)
    assert (rows["share_low"] < 0).all()
    assert rows["share_high"].max() < 0.04

"""Noise, persons and groups in one's own votes: found where they were put, left out where not."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_of

from chaos_utils.analyses import crowd_persons, your_votes
from chaos_utils.analyses.crowd_findings import data_needed
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.loading import load_all_votes

N_PEOPLE = 20


def judged(n_items=60, *, slip=0.1, lean=0.0, rounds=(1, 2), n_people=N_PEOPLE, more=None):
    """Return rows of votes: people, half of whom lean towards b, have their views and may slip."""
    rng = np.random.default_rng(7)
    rows = []
    for k, truth in enumerate(rng.choice([0.2, 0.8], n_items)):
        for j in range(n_people):
            view = rng.random() < np.clip(truth + (lean if j % 2 else -lean), 0, 1)
            for number in rounds:
                label = "ab"[int(view != (rng.random() < slip))]
                row = {"item": f"i{k}", "annotator": f"w{j}", "round": number, "label": label}
                rows.append(row | (more(k, j) if more else {}))
    return rows


def own_votes(folder, rows, labels=("a", "b"), ordered=False, **reader):
    """Write rows of votes and the YAML file that describes them; return the votes."""
    pd.DataFrame(rows).to_csv(folder / "own.csv", index=False)
    reader = {"format": "long", "annotator": "annotator"} | reader
    reader |= {"round": "round"} if "round" in rows[0] else {}
    described = {
        "name": "own", "title": "Own", "labels": list(labels), "ordered": ordered,
        "files": [{"name": "own.csv"}], "reader": reader,
    }  # fmt: skip
    (folder / "own.yml").write_text(json.dumps(described), "utf-8")
    (votes,) = load_all_votes(str(folder / "own.yml"))
    return votes


def tables(votes, n_shuffles=99):
    here = evidence_of(votes, own=True)
    return {
        "near_chance": your_votes.near_chance(here, n_resamples=40, seed=0),
        "noise": crowd_persons.noise(here),
        "persons": crowd_persons.persons(here),
        "groups": crowd_persons.groups(here, n_shuffles=n_shuffles, seed=0),
    }


def needed(votes):
    return data_needed(votes, **tables(votes))


def test_noise_is_what_the_same_person_changes(tmp_path):
    votes = own_votes(tmp_path, judged(slip=0.1))
    row = crowd_persons.noise.function(votes).set_index("quantity")
    slips = 2 * 0.1 * 0.9
    two = 2 * 0.2 * 0.8 * (1 - 2 * slips) + slips  # of views, then with the slips of both
    for name, truth in (
        ("same", slips), ("two", two), ("ratio", slips / two), ("settled", 2 * 0.2 * 0.8),
    ):  # fmt: skip
        assert row["low"][name] < truth < row["high"][name]
        assert row["high"][name] - row["low"][name] < 0.25
    assert (row["n_items"] == 60).all()
    assert (row["n_annotators"] == N_PEOPLE).all()
    third = own_votes(tmp_path, judged(rounds=(1, 2, 5)))
    again = crowd_persons.noise.function(third).set_index("quantity")
    assert again["low"]["same"] < slips < again["high"]["same"]
    assert not needed(third).count("round:")


def test_without_anybody_asked_again_there_is_no_noise_but_what_to_ask(tmp_path):
    apart = [row | {"round": 1 + int(row["item"] > "i3")} for row in judged(rounds=(1,))]
    votes = own_votes(tmp_path, apart)
    assert not len(crowd_persons.noise.function(votes))
    assert "ask the same people again about some of the same items" in needed(votes)
    plain = tmp_path / "plain.csv"
    pd.DataFrame(judged(rounds=(1,)))[["item", "label"]].to_csv(plain, index=False)
    (plain,) = load_all_votes(str(plain))
    said = needed(plain)
    assert "give `round:`" in said
    assert "say who gave each vote (`annotator:`)" in said
    assert "say what annotators are (`annotator_fields:`" in said


def test_shares_of_the_variance_sum_to_one_and_know_rounds(tmp_path):
    votes = own_votes(tmp_path, judged(lean=0.2))
    shares = crowd_persons.persons.function(votes).set_index("quantity")
    value = shares["value"]
    assert value[["text", "person", "rest"]].sum() == pytest.approx(1)
    assert value["opinion"] + value["again"] == pytest.approx(value["rest"])
    assert shares["low"]["person"] > 0
    assert shares["scale_value"].isna().all()
    once = own_votes(tmp_path, judged(lean=0.2, rounds=(1,)))
    assert set(crowd_persons.persons.function(once)["quantity"]) == {
        "two_differ", "text", "person", "rest",
    }  # fmt: skip
    each = [
        {"item": f"i{k}", "annotator": f"w{k}-{j}", "label": "ab"[(k + j) % 2]}
        for k in range(12) for j in range(3)
    ]  # fmt: skip
    assert "let people judge several items each" in needed(own_votes(tmp_path, each))


def test_ordered_labels_have_shares_on_the_scale(tmp_path):
    rows = [row | {"label": {"a": "1", "b": "3"}[row["label"]]} for row in judged()]
    votes = own_votes(tmp_path, rows, labels=["1", "2", "3"], ordered=True)
    shares = crowd_persons.persons.function(votes).set_index("quantity")
    # Only the ends of the scale were used: shares are the same, distances are 2² / 2 as large.
    assert shares["scale_value"]["text"] == pytest.approx(shares["value"]["text"])
    assert shares["scale_value"]["two_differ"] == pytest.approx(2 * shares["value"]["two_differ"])


def test_who_judges_in_one_language_is_compared_within_it(tmp_path):
    languages = {"item_fields": ["lang"]}
    rows = judged(more=lambda k, j: {"lang": "en" if k % 2 else "de"})
    both = own_votes(tmp_path, rows, **languages)
    assert crowd_persons.strata(both, both.annotations) is None
    for row in rows:
        row["annotator"] += row["lang"]
        row["label"] = {"a": "b", "b": "a"}[row["label"]] if row["lang"] == "de" else row["label"]
    one = own_votes(tmp_path, rows, **languages)
    stratum = crowd_persons.strata(one, one.annotations)
    assert (stratum == np.unique(one.fields["lang"], return_inverse=True)[1][one.annotations.item]
            ).all()  # fmt: skip


def beside(k, j):
    return {
        "side": "left" if j % 2 else "right", "one": "alone" if j == 3 else "other",
        "mail": f"w{j}@example.org", "age": str(20 + j), "any": "xy"[j // 2 % 2],
    }  # fmt: skip


FIELDS = ["side", "one", "mail", "age", "any"]


def test_groups_that_differ_are_found_and_small_ones_left_out(tmp_path):
    rows = judged(lean=0.2, rounds=(1,), n_people=24, more=beside)
    votes = own_votes(tmp_path, rows, annotator_fields=FIELDS)
    found = tables(votes, n_shuffles=199)
    row = found["groups"].rows.set_index("field")
    assert list(row["differs"]) == [True, False, False, False, False]
    assert row["share_low"]["side"] > 0.02
    assert row["p_holm"]["side"] == pytest.approx(3 / 200)  # three were compared
    assert row["share_low"]["any"] < 0 < row["share_high"]["any"]
    assert row["n_groups"].to_dict() == {"side": 2, "one": 0, "mail": 0, "age": 3, "any": 2}
    assert row["is_cut"].to_dict() == dict.fromkeys(FIELDS, False) | {"age": True}
    assert (row["n_known"] == 24).all()
    said = data_needed(votes, **found)
    assert "**Groups by one, mail**: ask at least 8 people of each of two groups" in said


def test_groups_without_common_items_have_nothing_to_compare(tmp_path):
    rows = [row for row in judged(rounds=(1,), more=beside)
            if (row["side"] == "left") == (int(row["item"][1:]) % 2 == 0)]  # fmt: skip
    votes = own_votes(tmp_path, rows, annotator_fields=["side"])
    (row,) = crowd_persons.groups.function(votes, n_shuffles=9, seed=0).itertuples()
    assert (row.n_groups, row.differs) == (0, False)
    assert np.isnan(row.share)


def test_who_is_near_chance_or_close_to_it_has_a_number(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=200)
    skill = [*[0.8] * 10, 0.0, 0.4]
    rows = [
        {"item": f"i{k}", "annotator": f"w{j}", "label": "ab"[truth[k] if rng.random() < one
                                                             else rng.integers(2)]}
        for k in range(200) for j, one in enumerate(skill)
    ]  # fmt: skip
    votes = own_votes(tmp_path, rows)
    table = crowd_persons.near_bar.function(votes)
    assert list(table["annotator"]) == [11, 12]
    assert list(table["is_near"]) == [True, False]
    assert table["low"][1] < table["bar"][1] < table["high"][1]
    assert "Who is careless" not in needed(votes)
    few = own_votes(tmp_path, rows[: 90 * len(skill)])
    assert not len(crowd_persons.near_bar.function(few))
    assert "100 votes or more on items that others judge, too (12 of 12 annotators" in needed(few)


def test_several_votes_of_one_person_in_one_round_are_no_noise_and_no_groups(tmp_path):
    rows = [row | {"label": "a,b" if row["item"] == "i3" else row["label"]}
            for row in judged(rounds=(1,), more=beside)]  # fmt: skip
    votes = own_votes(tmp_path, rows, annotator_fields=["side"], separator=",")
    assert not len(crowd_persons.groups.function(votes, n_shuffles=9, seed=0))
    assert "say in which round each was given" in needed(votes)


def test_a_crowd_of_one_is_refused_even_when_asked_twice(tmp_path):
    own_votes(tmp_path, judged(n_people=1))
    with pytest.raises(ChaosError, match="cannot say how far people agree"):
        your_votes.crowd_inputs(str(tmp_path / "own.yml"), "", [])


def test_two_people_are_two(tmp_path):
    votes = own_votes(tmp_path, judged(n_people=2))
    found = tables(votes)
    assert {"same", "two"} <= set(found["noise"].rows["quantity"])
    assert set(found["persons"].rows["quantity"]) >= {"text", "person", "rest"}
    assert not len(found["groups"])

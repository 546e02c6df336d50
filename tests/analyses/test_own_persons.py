"""Noise, persons and groups in one's own votes: found where they were put, else what to ask for."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_of

from chaos_utils.analyses import persons, your_votes
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


def own_votes(folder, rows, **reader):
    """Write rows of votes and the YAML file that describes them; return the votes."""
    pd.DataFrame(rows).to_csv(folder / "own.csv", index=False)
    reader = {"format": "long", "annotator": "annotator"} | reader
    reader |= {"round": "round"} if "round" in rows[0] else {}
    described = {
        "name": "own", "title": "Own", "labels": ["a", "b"],
        "files": [{"name": "own.csv"}], "reader": reader,
    }  # fmt: skip
    (folder / "own.yml").write_text(json.dumps(described), "utf-8")
    (votes,) = load_all_votes(str(folder / "own.yml"))
    return votes


def tables(votes, n_shuffles=99):
    here = evidence_of(votes, own=True)
    return {
        "near_chance": your_votes.near_chance(here, n_resamples=40, seed=0),
        "again": persons.again(here),
        "shares": persons.shares(here),
        "groups": persons.jointly(persons.groups(here, n_shuffles=n_shuffles, seed=0)),
    }


def needed(votes):
    return data_needed(votes, **tables(votes))


def on_all_items(votes):
    rows = persons.again.function(votes)
    return rows[rows["part"] == persons.ALL].set_index("quantity")


def test_noise_is_what_the_same_person_changes(tmp_path):
    votes = own_votes(tmp_path, judged(slip=0.1))
    row = on_all_items(votes)
    slips = 2 * 0.1 * 0.9
    two = 2 * 0.2 * 0.8 * (1 - 2 * slips) + slips  # of views, then with the slips of both
    for name, truth in (
        ("same", slips), ("two", two), ("ratio", slips / two), ("settled", 2 * 0.2 * 0.8),
    ):  # fmt: skip
        assert row["low"][name] < truth < row["high"][name]
        assert row["high"][name] - row["low"][name] < 0.25
    assert (row["n_items"] == 60).all()
    assert (row["n_people"] == N_PEOPLE).all()
    third = own_votes(tmp_path, judged(rounds=(1, 2, 5)))
    again = on_all_items(third)
    assert again["low"]["same"] < slips < again["high"]["same"]
    assert not needed(third).count("round:")


def test_without_anybody_asked_again_there_is_no_noise_but_what_to_ask(tmp_path):
    apart = [row | {"round": 1 + int(row["item"] > "i3")} for row in judged(rounds=(1,))]
    votes = own_votes(tmp_path, apart)
    assert not len(persons.again.function(votes))
    assert "nobody judged an item in two rounds" in needed(votes)
    plain = tmp_path / "plain.csv"
    pd.DataFrame(judged(rounds=(1,)))[["item", "label"]].to_csv(plain, index=False)
    (plain,) = load_all_votes(str(plain))
    said = needed(plain)
    assert "give `round:`" in said
    assert "say who gave each vote (`annotator:`)" in said
    assert "describe the annotators (`annotator_fields:`" in said


def test_a_view_and_its_slips_are_told_apart_by_rounds(tmp_path):
    votes = own_votes(tmp_path, judged(lean=0.2))
    (row,) = persons.shares.function(votes).to_dict("records")
    assert row["text"] + row["person"] + row["rest"] == pytest.approx(1)
    assert row["opinion"] + row["again"] == pytest.approx(row["rest"])
    assert row["person_low"] > 0
    once = own_votes(tmp_path, judged(lean=0.2, rounds=(1,)))
    assert np.isnan(persons.shares.function(once)["again"]).all()
    each = [
        {"item": f"i{k}", "annotator": f"w{k}-{j}", "label": "ab"[(k + j) % 2]}
        for k in range(12) for j in range(3)
    ]  # fmt: skip
    assert "let each person judge several items" in needed(own_votes(tmp_path, each))


def beside(k, j):
    return {
        "side": "left" if j % 2 else "right", "one": "alone" if j == 3 else "other",
        "mail": f"w{j}@example.org", "age": str(22 + j), "class": str(j % 2),
        "any": "xy"[j // 2 % 2],
    }  # fmt: skip


FIELDS = ["side", "one", "mail", "age", "class", "any"]


def test_groups_that_differ_are_found_and_small_ones_left_out(tmp_path):
    rows = judged(lean=0.2, rounds=(1,), n_people=24, more=beside)
    votes = own_votes(tmp_path, rows, annotator_fields=FIELDS)
    found = tables(votes, n_shuffles=199)
    row = found["groups"].rows.set_index("field")
    assert list(row.index[row["share_low"] > 0]) == ["side", "class"]
    assert row["p_holm"][["side", "class"]].tolist() == pytest.approx([4 / 200] * 2)
    assert row["share_low"]["any"] < 0 < row["share_high"]["any"]
    # Ages are cut at 30 and 45; other numbers are groups.
    assert row["n_groups"].to_dict() == dict.fromkeys(FIELDS, 2) | {"one": 0, "mail": 0}
    assert (row["n_people"] + row["n_left_out"] == 24).all()
    said = data_needed(votes, **found)
    assert "**Groups by one, mail**: ask at least 8 people of each of two groups" in said


def test_groups_without_common_items_have_nothing_to_compare(tmp_path):
    rows = [row for row in judged(rounds=(1,), more=beside)
            if (row["side"] == "left") == (int(row["item"][1:]) % 2 == 0)]  # fmt: skip
    votes = own_votes(tmp_path, rows, annotator_fields=["side"])
    (row,) = persons.groups.function(votes, n_shuffles=9, seed=0).itertuples()
    assert row.n_groups == 0
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
    table = your_votes.near_bar.function(votes)
    assert list(table["annotator"]) == [11, 12]
    assert list(table["is_near"]) == [True, False]
    assert table["low"][1] < table["bar"][1] < table["high"][1]
    assert "Who is careless" not in needed(votes)
    few = own_votes(tmp_path, rows[: 90 * len(skill)])
    assert not len(your_votes.near_bar.function(few))
    assert "100 votes or more on items that others also judge (12 of 12 annotators" in needed(few)


def test_several_votes_of_one_person_in_one_round_are_no_noise_and_no_groups(tmp_path):
    rows = [row | {"label": "a,b" if row["item"] == "i3" else row["label"]}
            for row in judged(rounds=(1,), more=beside)]  # fmt: skip
    votes = own_votes(tmp_path, rows, annotator_fields=["side"], separator=",")
    assert not len(persons.groups.function(votes, n_shuffles=9, seed=0))
    assert "say in which round each was given" in needed(votes)


def test_a_crowd_of_one_is_refused_even_when_asked_twice(tmp_path):
    own_votes(tmp_path, judged(n_people=1))
    with pytest.raises(ChaosError, match="cannot say how far people agree"):
        your_votes.crowd_inputs(str(tmp_path / "own.yml"), "", [])


def test_two_people_are_enough_for_noise_and_for_shares(tmp_path):
    found = tables(own_votes(tmp_path, judged(n_people=2)))
    assert {"same", "two"} <= set(found["again"].rows["quantity"])
    assert found["shares"].rows[["text", "person", "rest"]].notna().all(axis=None)
    assert not len(found["groups"])

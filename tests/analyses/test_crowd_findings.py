"""The findings of a crowd's page: made for its votes, and silent where they are too few."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import drawn, evidence_of
from helpers.predictions import blurred, part_of

from chaos_utils.analyses import ceilings, persons, power, your_votes
from chaos_utils.analyses.crowd_findings import findings, not_tested, vote_warnings
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.report.columns import number
from chaos_utils.scoring.api import make_system
from chaos_utils.scoring.evaluate import copy_warning
from chaos_utils.scoring.replacement import COMMONEST, ONE_MORE


def tables(votes, systems=(), replacement=None):
    here = evidence_of(votes, systems, own=True)
    spread = power.spread_of_differences(here, n_draws=2, seed=0)
    return {
        "agreement": your_votes.agreement(here, n_resamples=100, seed=0),
        "majorities": your_votes.majorities(here),
        "budget": ceilings.annotation_budget(here, n_draws=2, seed=0),
        "near_chance": your_votes.near_chance(here, n_resamples=50, seed=0),
        "again": persons.again(here),
        "shares": persons.shares(here),
        "groups": persons.jointly(persons.groups(here, n_shuffles=19, seed=0)),
        "scores": your_votes.evaluation(here, most=100, n_resamples=50, seed=0),
        "detectable": power.detectable(spread, [len(votes)]),
        "replacement": replacement,
    }


def notice(votes):
    here = evidence_of(votes, own=True)
    agreement = your_votes.agreement(here, n_resamples=100, seed=0)
    near = your_votes.near_chance(here, n_resamples=100, seed=0)
    return vote_warnings(
        votes, agreement=agreement, majorities=your_votes.majorities(here), near_chance=near
    )


def test_sentences_are_made_for_the_votes(four):
    (votes,) = load_all_votes(str(four))
    given = tables(votes)
    said = findings(votes, **given).splitlines()
    assert len(said) == 6
    assert said[0].startswith("* None of 30 annotators has a hundred votes")
    agreed = given["agreement"].rows.set_index("quantity")
    for name, words in (("disagreement", "Two votes on the same item"), ("alike", "Two people")):
        row = agreed.loc[name]
        ends = f"{row['value']:.0%} [{row['low']:.0%}, {row['high']:.0%}] of the time"
        assert f"{words} differ {ends}" in said[1]
    assert said[1].endswith("Intervals are over items and annotators.")
    value = given["shares"].rows.iloc[0]
    text, person, rest = (f"{number(100 * value[name])}%" for name in ("text", "person", "rest"))
    assert said[2] == (
        f"* Of a vote’s variance, {text} is due to the text, {person} to the person, and {rest} "
        "to neither."
    )
    assert "10 votes per item come within" in said[4]
    assert "as far as the prior knows" not in said[4]  # as many as 20 were given
    difference = given["detectable"].rows.query("measure == 'sq_distance'").iloc[-1]["difference"]
    assert said[5].startswith(
        "* To tell the base rate from a uniform guess, their squared distances must differ by "
        f"{difference:.3f} "
    )


def test_a_system_is_said_to_be_worth_what_its_table_says(sample, truth):
    votes = drawn(sample[0], truth[::10], 10)
    systems = [make_system(name, votes, blurred(votes, by))
               for name, by in (("far", 0.9), ("*near*", 0.3))]  # fmt: skip
    said = findings(votes, **tables(votes, systems)).splitlines()
    assert "It is not known who gave which vote" in said[0]
    assert re.match(
        r"\* On SNLI, &#42;near&#42; is worth ∞ people .* on top of the base rate as", said[4]
    )
    assert "a second crowd is worth 10 (skill" in said[4]
    assert said[4].endswith("Of the 2 systems, it comes nearest to people by squared distance.")


@pytest.mark.parametrize(
    ("passed", "of_person", "expected"),
    [
        ((1, 0), 0.9, "Of the 2 systems, a passed the test of replacing one annotator (ε = 0.1; N "
         "items; a won against 2 of 3). The test does not show that it may replace all of them. "
         "One more person would pass in 90% of simulations."),
        ((0,), 0.1, "The system did not pass the test of replacing one annotator (ε = 0.1; N "
         "items; it won against 2 of 3). One more person would pass in 10% of simulations, so "
         "failing says little here."),
        ((0, 0), 0.9, "Neither of the two systems passed the test of replacing one annotator "
         "(ε = 0.1; N items). One more person would pass in 90% of simulations."),
        ((1,), 0.1, "a passed the test of replacing one annotator (ε = 0.1; N items; it won "
         "against 2 of 3). The test does not show that it may replace all of them. One more "
         "person would pass in 10% of simulations."),
        ((1, 1), 0.9, "Of the 2 systems, a and b passed the test of replacing one annotator "
         "(ε = 0.1; N items; a won against 2 of 3; b won against 2 of 3). The test does not show "
         "that they may replace all of them. One more person would pass in 90% of simulations."),
        ((), 0.9, "No system was tested: pass `-p predictions=FILE`. One more person would pass in "
         "90% of simulations."),
        ((np.nan,), np.nan,
         "There are too few annotators for a verdict on whether a model may replace one."),
    ],
)  # fmt: skip
def test_a_verdict_stands_beside_one_more_person(four, passed, of_person, expected):
    (votes,) = load_all_votes(str(four))
    rows = [{"system": name, "origin": "yours", "passed": one, "wins": 2.0}
            for name, one in zip("ab", passed, strict=False)]  # fmt: skip
    rows += [{"system": COMMONEST, "origin": "baseline", "verdict": "does not pass"},
             {"system": ONE_MORE, "origin": "reference", "passed": of_person}]  # fmt: skip
    setting = {"epsilon": 0.1, "n_annotators": 3, "n_items": len(votes)}
    replaced = SimpleNamespace(rows=pd.DataFrame(rows).assign(**setting))
    given = tables(votes, replacement=replaced)
    said = findings(votes, **given).splitlines()[0]
    assert said == f"* {expected.replace('N items', f'{len(votes)} items')}"
    rows[-2]["verdict"] = "passes"
    given["replacement"].rows = pd.DataFrame(rows).assign(**setting)
    said = findings(votes, **given).splitlines()[0]
    assert ("passing says nothing here" in said) == (of_person > 0)


def test_what_covers_a_part_of_the_items_says_so_and_a_copy_is_named_beside_the_verdict(four):
    (votes,) = load_all_votes(str(four))
    n = len(votes)
    copy = part_of(make_system("good", votes, votes.shares), np.arange(n - 5))
    columns = "system origin passed wins verdict n_items epsilon n_annotators"
    setting = (n - 5, 0.1, 3)
    tested = rows_of(
        columns, ("good", "yours", 1, 3.0, "passes", *setting),
        (COMMONEST, "baseline", 0, 0, "does not pass", *setting),
        (ONE_MORE, "reference", 0.9, 2.7, "90% pass", *setting),
    )  # fmt: skip
    said = findings(votes, **tables(votes, [copy], tested), systems=[copy]).splitlines()
    assert said[0].startswith(f"* {copy_warning(votes, copy)} good passed the test of replacing")
    assert f"(ε = 0.1; {n - 5} of {n} items; it won against 3 of 3)" in said[0]
    assert said[-1].startswith(f"* On {n - 5} of {n} items of {votes.dataset.short}, good is worth")


def test_a_system_that_was_not_tested_is_said_not_to_be(four):
    (votes,) = load_all_votes(str(four))
    system = make_system("m", votes, blurred(votes, 0.9))
    first, *_ = findings(votes, **tables(votes, [system]), systems=[system]).splitlines()
    assert first == f"* {not_tested(votes)}"
    assert "pass `-p epsilon=…`" in first
    assert "not known who voted" in not_tested(replace(votes, annotations=None))


def rows_of(columns, *rows):
    return SimpleNamespace(rows=pd.DataFrame(rows, columns=columns.split()))


def test_noise_and_groups_are_said_with_what_they_do_not_show(four):
    (votes,) = load_all_votes(str(four))
    given = tables(votes)
    ends = "part quantity value low high"
    given["again"] = rows_of(
        ends, ("all", "same", 0.227, 0.185, 0.269), ("all", "two", 0.387, 0.336, 0.438),
        ("all", "ratio", 0.587, 0.451, 0.723),
    )  # fmt: skip
    parts = "people by text person rest opinion again"
    given["shares"] = rows_of(
        parts, ("everyone", "labels", 0.23, -0.018, 0.79, 0.34, 0.45),
        ("everyone", "scale", 0, 0, 0, 0, 0),
    )  # fmt: skip
    fields = "field share share_low share_high p_holm joint_high"
    by_a, by_b = ("a*", 0.06, 0.02, 0.1, 0.01, 0.11), ("b", 0.01, -0.02, 0.04, 0.01, 0.05)
    varied, unjudged = ("d", 0.02, 0.01, 0.03, 0.2, 0.04), ("c", *[np.nan] * 5)
    given["groups"] = rows_of(fields, by_b, varied, unjudged)
    said = findings(votes, **given).splitlines()
    assert said[2].startswith(
        "* The same person, asked again, gives another label 23% [18%, 27%] of the time; two "
        "people, in different rounds, differ 39% [34%, 44%] of the time. About 59% [45%, 72%] of "
        "the disagreement would remain if one person answered twice; this includes changes of mind"
    )
    assert "23% is due to the text, −2% to the person, 34% to the person’s own view" in said[3]
    assert said[4] == (
        "* We cannot show that any of the disagreement lies between groups, by any of 2 fields; "
        "the intervals, corrected for all, reach up to 5%. That does not show that groups agree."
    )
    given["again"].rows["part"] = "same language"
    given["groups"] = rows_of(fields, by_a, by_b, unjudged)
    assert "* In the same language, the same person, asked" in findings(votes, **given)
    said = findings(votes, **given).splitlines()[4]
    assert said.startswith("* A part of the disagreement lies between groups of people: 6% [2%, ")
    assert "10%] by a&#42;. It is a mean over texts" in said
    given["groups"] = rows_of(fields, unjudged)
    assert "between groups" not in findings(votes, **given)


def test_what_votes_are_too_few_for_is_said(sample, truth, monkeypatch):
    assert notice(drawn(sample[0], truth, 30)) == ""
    few = notice(drawn(sample[0], truth, 5))
    assert few.startswith("> **What these votes are too few for**\n>\n> * ")
    assert "few votes (median 5 per item)" in few
    assert "too few to say how far" not in few
    assert "12 items with two votes are too few to say how far" in notice(
        drawn(sample[0], truth[1000:1012], 3)
    )
    alike = drawn(sample[0], np.tile([0.5, 0.3, 0.2], (60, 1)), 3)
    assert "do not show that items differ" in notice(alike)
    apart = replace(alike, counts=np.ones_like(alike.counts))
    assert "than people can (67% at most)" in notice(apart)
    assert "has no interval" in notice(apart)


def test_a_prior_that_keeps_too_close_to_the_votes_is_told(tmp_path):
    rng = np.random.default_rng(0)
    truths = rng.dirichlet(np.full(16, 0.4), 240)
    lines = [f"i{k},{chr(97 + label)}" for k, row in enumerate(truths)
             for label in rng.choice(16, 6, p=row)]  # fmt: skip
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(["item,label", *lines]))
    (votes,) = load_all_votes(str(path))
    assert "the votes are too few for the prior" in notice(votes)
    assert "below is too sure" in notice(votes)


def own_votes(tmp_path, rows):
    """Read votes of named annotators: item, annotator and label in each row."""
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(["item,annotator,label", *(",".join(map(str, row)) for row in rows)]))
    (votes,) = load_all_votes(str(path))
    return votes


def people(rng, n_items, accuracies):
    """Return the labels of everyone on every item, who are right with their accuracy or guess."""
    truth = rng.integers(2, size=n_items)
    return [
        (f"i{k}", f"w{j}", "ab"[truth[k] if rng.random() < accuracy else rng.integers(2)])
        for k in range(n_items) for j, accuracy in enumerate(accuracies)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("n_items", "accuracies", "sentence", "notices"),
    [
        (150, [0.9] * 9 + [0], "1 agrees with the rest hardly more than by", ()),
        (150, [0] * 12, "do not clearly agree, so nobody stands out", ()),
        (150, [0.9] * 12, "None of 12 annotators with a hundred .* near chance", ()),
        (150, [0.9, 0.9], "is near chance|nobody stands out", ("cannot say how far others would",)),
        (150, [0.9] * 6, "is near chance", ("too few to speak for others",)),
        (10, [0.9] * 5, "None of 5 annotators has a hundred votes", ("too few to say how far",)),
        (60, [1] * 12, "None of 12 annotators has a hundred", ("Nobody disagrees on any of 60",)),
    ],
)  # fmt: skip
def test_named_annotators_of_every_kind_get_an_answer_in_words(
    tmp_path, n_items, accuracies, sentence, notices
):
    votes = own_votes(tmp_path, people(np.random.default_rng(4), n_items, accuracies))
    given = tables(votes)
    said = findings(votes, **given)
    assert re.search(sentence, said.splitlines()[0])
    assert "nan" not in said
    found = notice(votes)
    assert all(one in found for one in notices)
    rows = given["agreement"].rows
    assert not (rows["low"] == rows["high"]).any()
    held = rows["value"].between(rows["low"], rows["high"]) | rows["low"].isna()
    assert held[rows["quantity"] != "alpha_ordered"].all()


def test_who_labels_at_random_is_found_with_the_share_of_the_votes_and_what_it_changes(tmp_path):
    rng = np.random.default_rng(5)
    rows = people(rng, 200, [0.9] * 8 + [0, 0])
    votes = own_votes(tmp_path, rows)
    row = your_votes.near_chance.function(votes, n_resamples=100, seed=0).iloc[0]
    assert (row["n_annotators"], row["n_judged"], row["n_near"]) == (10, 10, 2)
    assert row["share_of_votes"] == pytest.approx(0.2)
    assert row["largest_near"] < row["median"] / 2 < row["smallest_kept"]
    assert row["disagreement_without"] < row["disagreement_without_high"] < row["disagreement"]
    assert row["disagreement_elsewhere"] == pytest.approx(row["disagreement_without"], abs=0.02)


def test_annotators_who_share_no_item_and_one_alone_are_refused(tmp_path):
    for rows in (
        [(f"i{k}", f"w{k % 3}", "ab"[k % 2]) for k in range(60)],
        [(f"i{k}", "w", "ab"[k % 2]) for k in range(60)],
    ):
        own_votes(tmp_path, rows)
        with pytest.raises(ChaosError, match="cannot say how far people agree"):
            your_votes.crowd_inputs(str(tmp_path / "votes.csv"), "", [])


def test_nearly_all_that_others_would_change_hangs_on_five(tmp_path):
    rng = np.random.default_rng(6)
    truth = rng.integers(2, size=400)
    rows = []
    for k in range(400):
        rows += [(f"i{k}", f"w{j}", "ab"[rng.integers(2) if j < 2 else truth[k]]) for j in range(4)]
        rows += [(f"i{k}", f"v{(3 * k + j) % 90}", "ab"[truth[k]]) for j in range(3)]
    assert "depends on five of these" in notice(own_votes(tmp_path, rows))

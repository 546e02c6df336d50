"""The findings of a crowd's page: made for its votes, and silent where they are too few."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import drawn, evidence_of
from helpers.predictions import blurred

from chaos_utils.analyses import ceilings, power, your_votes
from chaos_utils.analyses.crowd_findings import findings, too_few
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.scoring.api import make_system
from chaos_utils.scoring.replacement import COMMONEST, ONE_MORE


def tables(votes, systems=(), replaced=None):
    here = evidence_of(votes, systems, own=True)
    spread = power.spread_of_differences(here, n_draws=2, seed=0)
    return {
        "agreed": your_votes.agreement(here, n_resamples=100, seed=0),
        "majorities": your_votes.majorities(here),
        "budget": ceilings.annotation_budget(here, n_draws=2, seed=0),
        "annotators": your_votes.annotators_together(here),
        "judged": your_votes.evaluated(here, most=100, n_resamples=50, seed=0),
        "detectable": power.detectable(spread, [len(votes)]),
        "replaced": replaced,
    }


def notice(votes):
    here = evidence_of(votes, own=True)
    agreed = your_votes.agreement(here, n_resamples=100, seed=0)
    return too_few(votes, agreed=agreed, majorities=your_votes.majorities(here))


def test_five_sentences_are_made_for_the_votes(four):
    (votes,) = load_all_votes(str(four))
    given = tables(votes)
    said = findings(votes, **given).splitlines()
    assert len(said) == 5
    apart = given["agreed"].rows.set_index("quantity").loc["disagreement"]
    assert said[0].startswith("* Asked about the same item, two people give different labels")
    assert f" {apart['value']:.0%} [{apart['low']:.0%}, {apart['high']:.0%}] of the time" in said[0]
    assert "10 votes per item come within" in said[2]
    assert "as far as the prior knows" not in said[2]  # as many as 20 were given
    assert said[3].startswith("* Of 30 annotators with ten votes or more, ")
    assert "To tell two systems apart" in said[4]


def test_a_system_is_said_to_be_worth_what_its_table_says(sample, truth):
    votes = drawn(sample[0], truth[::10], 10)
    systems = [make_system(name, votes, blurred(votes, by))
               for name, by in (("far", 0.9), ("*near*", 0.3))]  # fmt: skip
    said = findings(votes, **tables(votes, systems)).splitlines()
    assert "It is not known who gave which vote" in said[3]
    assert said[4].startswith(r"* On SNLI, \*near\* is worth, in people on top of the base rate, ")
    assert "a second crowd is worth 10 (skill" in said[4]
    assert said[4].endswith("Of the 2 systems, it comes nearest to people by squared distance.")


@pytest.mark.parametrize(
    ("passed", "of_person", "expected"),
    [
        ((1, 0), 0.9, "Of the 2 systems, a passed the test of replacing one (ε = 0.1). One more "
         "person would pass in 90% of simulations."),
        ((0,), 0.1, "The system did not pass the test of replacing one (ε = 0.1). One more "
         "person would pass in 10% of simulations, so that not to pass says little here."),
        ((0, 0), 0.9, "Neither of the two systems passed the test of replacing one (ε = 0.1). One "
         "more person would pass in 90% of simulations."),
        ((1,), 0.1, "a passed the test of replacing one (ε = 0.1). One more "
         "person would pass in 10% of simulations."),
        ((np.nan,), np.nan, "They are too few for a verdict on whether a model may replace one."),
    ],
)  # fmt: skip
def test_a_verdict_stands_beside_one_more_person(four, passed, of_person, expected):
    (votes,) = load_all_votes(str(four))
    rows = [{"system": name, "origin": "yours", "passed": one}
            for name, one in zip("ab", passed, strict=False)]  # fmt: skip
    rows += [{"system": COMMONEST, "origin": "baseline", "verdict": "does not pass"},
             {"system": ONE_MORE, "origin": "reference", "passed": of_person}]  # fmt: skip
    replaced = SimpleNamespace(rows=pd.DataFrame(rows).assign(epsilon=0.1))
    said = findings(votes, **tables(votes, replaced=replaced)).splitlines()[3]
    assert said.endswith(expected)
    rows[-2]["verdict"] = "passes"
    replaced = SimpleNamespace(rows=pd.DataFrame(rows).assign(epsilon=0.1))
    said = findings(votes, **tables(votes, replaced=replaced)).splitlines()[3]
    assert ("passing says nothing here" in said) == (of_person > 0)


def test_what_votes_are_too_few_for_is_said(sample, truth, monkeypatch):
    assert notice(drawn(sample[0], truth, 30)) == ""
    few = notice(drawn(sample[0], truth, 5))
    assert few.startswith("> **What these votes are too few for**\n>\n> * ")
    assert "has few votes (median 5 per item)" in few
    assert "too few to say how far" not in few
    assert "12 items with two votes are too few to say how far" in notice(
        drawn(sample[0], truth[1000:1012], 3)
    )
    alike = drawn(sample[0], np.tile([0.5, 0.3, 0.2], (60, 1)), 3)
    assert "do not show that items differ" in notice(alike)
    apart = replace(alike, counts=np.ones_like(alike.counts))
    assert "than they can (67% at most)" in notice(apart)


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

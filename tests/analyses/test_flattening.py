"""Bins that no vote both cuts and judges, and what few votes do to the difference of two models."""

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_of, with_counts

from chaos_utils.analyses import agreement, ceilings, claims
from chaos_utils.scoring.systems import computed, uniform

TRUTH = np.random.default_rng(0).dirichlet([1.2, 1, 0.8], 300)


def test_a_perfect_model_flattens_as_people_do_and_a_constant_one_does_not(sample):
    votes = with_counts(sample[0], np.random.default_rng(1).multinomial(100, TRUTH))
    perfect = computed("perfect", votes, TRUTH)
    constant = computed("constant", votes, np.tile([0.6, 0.3, 0.1], (len(votes), 1)))
    systems = [perfect, constant, uniform(votes)]
    given = {"n_bins": 5, "n_draws": 3, "seed": 0}
    rows = agreement.flattening(evidence_of(votes, systems), **given).rows
    by_people = rows[rows["cut"] == "people"]
    bits = by_people.pivot(index="bin", columns="system", values="model_bits")
    people = by_people.groupby("bin")["people_bits"].first()
    assert people.is_monotonic_increasing
    # Fifty votes make people look a little surer than they are; as a sample they regress.
    np.testing.assert_allclose(bits["perfect"], people, atol=0.06)
    assert np.ptp(bits["constant"]) < 1e-9
    even = rows[rows["system"] == "uniform guess"]
    np.testing.assert_allclose(even["gap"], 0, atol=1e-9)
    near = by_people[by_people["system"] == "perfect"].set_index("bin")
    assert near["uniform"].is_monotonic_decreasing  # by definition
    assert set(rows.groupby("cut")["n_votes"].first()) == {50, 100}
    # Halves of fewer than twenty votes cut no bins.
    thin = with_counts(votes, np.tile([20, 10, 9], (len(votes), 1)))
    assert not len(agreement.flattening(evidence_of(thin, [uniform(thin)]), **given))


def test_the_bias_of_few_votes_is_that_of_the_difference():
    bought = pd.DataFrame(
        [("snli", name, n_votes, truth + bias, bias)
         for n_votes, biases in {5: (0.04, 0.0, 0.1, -0.06), 100: (0, 0, 0, 0)}.items()
         for name, truth, bias in zip(("a", "b", "uniform guess", "old label"),
                                      (0.20, 0.22, 0.3, 0.35), biases, strict=True)],
        columns=["dataset", "system", "n_votes", "value", "bias"],
    )  # fmt: skip
    few, many = ceilings.vote_bias.__wrapped__(bought).to_dict("records")
    assert (few["n_pairs"], few["reversed"], many["reversed"]) == (1, 1, 0)
    assert [few["median"], few["guesses"]] == pytest.approx([0.04, 0.16])
    alone = bought[bought["system"] != "b"]
    assert ceilings.vote_bias.__wrapped__(alone).empty


def test_a_fault_that_two_claims_share_counts_once():
    rows = [("c01", claims.PRINT, ""), ("c02", claims.PRINT, "c01"), ("c03", claims.SUBSTANCE, ""),
            ("c04", claims.HOLDS, "")]  # fmt: skip
    table = pd.DataFrame(rows, columns=["id", "kind", "same_as"]).assign(paper="nie2020")
    table["verdict"] = np.where(table["kind"] == claims.HOLDS, claims.HOLDS, claims.FAILS)
    summed = claims.count_verdicts.__wrapped__(table).set_index("kind")
    assert summed.loc[claims.PRINT, ["claims", "n"]].tolist() == [2, 1]

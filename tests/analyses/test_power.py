from dataclasses import replace

import numpy as np
import pytest
from helpers.evidence import evidence_of, on_items

from chaos_utils.analyses import power
from chaos_utils.scoring import systems

spread_of = power.spread_of_differences.function


@pytest.fixture(scope="module")
def spread(sample):
    here = evidence_of(sample[0], systems.load_systems(sample[0]))
    return power.spread_of_differences(here, n_draws=2, seed=0).rows


def test_pairs_are_sorted_by_how_alike_they_are(sample):
    votes = sample[0]
    seeds = systems.load_systems(votes)
    other = replace(systems.oracle(votes), name="other", family="other", origin="yours")
    found = power.pairs_of(votes, [*seeds, other])
    expected = {"models": 3, "baseline": 4, "baselines": 1, "seeds": 3}
    assert {kind: len(pairs) for kind, pairs in found.items()} == expected
    assert {b.name for _, b in found["baseline"]} == {"mean vote given the old label"}
    bare = replace(votes, given_old_label=None, given_old_votes=None)
    ((mean, uniform),) = power.pairs_of(bare, [])["baselines"]
    assert (mean.name, uniform.name) == ("base rate", "uniform guess")


def test_each_row_has_its_parts(spread):
    ends = spread["least"] - 1e-12, spread["most"] + 1e-12
    assert spread["variance"].between(*ends).all()
    halves = spread[spread["n_votes"] <= 50]
    parts = halves["of_items"] + halves["of_votes"]
    np.testing.assert_allclose(parts, halves["variance"], rtol=0.1)
    of_all = spread[(spread["n_votes"] == 100) & (spread["measure"] != "sq_distance")]
    assert of_all["of_items"].isna().all()
    # Fewer votes never make squared distances steadier.
    squared = spread[spread["measure"] == "sq_distance"].groupby("pair")["variance"]
    assert (squared.diff().dropna() < 0).all()


def test_the_difference_detected_falls_with_the_root_of_the_items(spread):
    found = power.detectable(spread, [100, 400]).rows
    sides = [found.loc[found["judged_items"] == n, "difference"].to_numpy() for n in (100, 400)]
    np.testing.assert_allclose(sides[0], 2 * sides[1])
    drawn = power.drawn_rows(power.detectable(spread, [100]), [1, 100], True).rows
    assert set(drawn["n_votes"]) == {1, 100}
    row = drawn.iloc[-1]
    needed = row["n_items"] * (row["detected"] / row["gap"]) ** 2
    assert row["items_needed_high"] == pytest.approx(needed, rel=0.05)  # two digits
    of_seeds = spread[(spread["pair"] == "seeds") & (spread["measure"] == "jsd")]
    alike = of_seeds.set_index("n_votes")["variance"][100] / row["variance"]
    assert row["items_needed_low"] == pytest.approx(alike * needed, rel=0.05)
    # Without seeds, by the most alike pair.
    others = power.detectable(spread[spread["pair"] != "seeds"], [100])
    row = power.drawn_rows(others, [100], True).rows.iloc[-1]
    needed = row["n_items"] * (row["detected"] / row["gap"]) ** 2 * row["least"] / row["variance"]
    assert row["items_needed_low"] == pytest.approx(needed, rel=0.05)
    others = power.drawn_rows(power.detectable(spread, [100]), [100], False).rows
    assert others["gap"].isna().all()


def test_other_votes_without_systems_have_a_power_too(sample, others):
    for votes in others:
        spread = spread_of(votes, [], n_draws=1, seed=0)
        assert set(spread["pair"]) == {"baselines"}
        assert spread["n_votes"].max() <= votes.n_votes.max()
        assert (spread["variance"] > 0).all()
    # A system on few items is passed over, and votes that are too few.
    votes = sample[0]
    few = on_items(systems.load_systems(votes)[0], np.arange(5))
    assert set(spread_of(votes, [few], n_draws=1, seed=0)["pair"]) == {"baselines"}
    single = replace(votes, counts=np.eye(3, dtype=np.int64)[votes.majority])
    assert spread_of(single, [], n_draws=1, seed=0).empty

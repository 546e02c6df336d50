import math
from dataclasses import replace

import numpy as np
import pytest
from helpers.evidence import evidence_of, first_items

from chaos_utils.analyses import error_distributions as analysis
from chaos_utils.base.errors import ChaosError
from chaos_utils.scoring.systems import computed, load_systems


def test_published_values_lie_among_those_of_many_seeds(released):
    snli, name = released[0], "RoBERTa-base, seed 0"
    (system,) = [one for one in load_systems(snli) if one.name == name]
    systems = [system, system.at_temperature(2.0)]
    by_draw = analysis.errors_by_draw(snli, systems, n_seeds=100, first_seed=0)
    table = analysis.summarise_draws(by_draw)
    summary = table.set_index(["measure", "system", "reference", "temperature"])
    for system, printed in (("H1", 0.092), ("H2", 0.094)):
        row = summary.loc["dist_ce", system, "all", 1.0]
        assert row["n_draws"] == 100
        assert row["mean"] == pytest.approx(0.0705, abs=0.0010)
        assert row["low"] < row["mean"] < row["high"]
        row = summary.loc["dist_ce", system, "outside_both", 1.0]
        assert row["mean"] < printed < row["high"] + 0.0005  # in the upper part of the seeds
    for temperature in (1.0, 2.0):
        assert summary.loc["kl", name, "all", temperature]["infinite_share"] == 0


def test_against_the_other_80_votes_every_error_is_a_quarter_larger(sample):
    # H1 − all = 0.2 H1 + 0.8 others is left out of H1 alone: a known factor, seed by seed.
    by_draw = analysis.errors_by_draw(sample[0], [], n_seeds=3, first_seed=0)
    h1 = by_draw[(by_draw["system"] == "H1") & (by_draw["measure"] == "dist_ce")]
    wide = h1.pivot(index="draw", columns="reference", values="value")
    np.testing.assert_allclose(wide["outside_h1"], wide["all"] * 100 / 80)
    assert (wide["outside_both"] > wide["all"]).all()


def test_the_released_way_of_drawing_takes_any_votes(sample):
    """Without the released predictions items come in the order of the votes; two calls agree."""
    votes = sample[0]
    (h1, h2), judges = analysis.draw_released_samples(votes)
    parts = [(one.probabilities * 20).round().astype(int) for one in (h1, h2)]
    assert (parts[0].sum(axis=1) == 20).all()
    np.testing.assert_array_equal(sum(parts) + judges["outside_both"].counts, votes.counts)
    again = analysis.draw_released_samples(votes)[0]
    np.testing.assert_array_equal(again[1].probabilities, h2.probabilities)
    table = analysis.released_draw.function(votes, load_systems(votes))
    assert set(table["reference"]) == {"all", "outside_h1", "outside_both"}
    with pytest.raises(ChaosError, match="more than 40"):
        analysis.draw_released_samples(replace(votes, counts=votes.counts * 0 + 10))


def test_histograms_count_each_item_once_in_one_bin_on_every_processor(sample):
    evidence = evidence_of(sample[0], load_systems(sample[0]))
    table = analysis.error_histograms(evidence, shown_seed=0, seed=0).rows
    h1 = table[table["system"] == "H1"]
    assert (len(h1), h1["n"].sum()) == (30, len(sample[0]))
    middle = (h1["bin_low"] + h1["bin_high"]) / 2
    assert h1["mean"].iloc[0] == pytest.approx((middle * h1["n"]).sum() / h1["n"].sum(), abs=1 / 60)
    below, above = np.nextafter(0.3, 0), np.nextafter(0.3, 1)
    counts = analysis.bin_counts([below, 0.3, above], np.linspace(0, 1, 11))
    assert counts.tolist() == [0, 0, 0, 3, 0, 0, 0, 0, 0, 0]


def test_too_few_votes_or_seeds_are_a_fault(sample):
    few = replace(sample[0], counts=np.tile([20, 10, 10], (len(sample[0]), 1)))
    with pytest.raises(ChaosError, match="40 votes"):
        analysis.errors_by_draw(few, [], n_seeds=2, first_seed=0)
    with pytest.raises(ChaosError, match="n_seeds"):
        analysis.errors_by_draw(sample[0], [], n_seeds=1, first_seed=0)


def test_histograms_are_compared_bin_by_bin():
    errors = np.random.default_rng(0).random(500)
    found = analysis.compare_histograms(errors, errors)
    assert list(found) == ["kl", "kl_smoothed", "tvd"]
    np.testing.assert_allclose(list(found.values()), 0, atol=1e-12)
    # Two bins, by hand.
    found = analysis.compare_histograms([0.01, 0.01, 0.01, 0.5], [0.01, 0.5])
    assert found["kl"] == pytest.approx(0.75 * np.log(1.5) + 0.25 * np.log(0.5))
    # An empty bin makes KL infinite, and the others not.
    found = analysis.compare_histograms([0.01, 0.01, 0.5, 0.99], [0.01, 0.01, 0.5, 0.5])
    assert found["kl"] == math.inf
    assert found["tvd"] == pytest.approx(0.25)
    # 30 bins, one half in each: (2.5, 1.5, 1.5) against (2.5, 2.5, 0.5) of 19.
    expected = (1.5 * np.log(1.5 / 2.5) + 1.5 * np.log(1.5 / 0.5)) / 19
    assert found["kl_smoothed"] == pytest.approx(expected)
    # Errors that are equal but for rounding share a bin; KL has the notebook's own.
    found = analysis.compare_histograms([np.nextafter(0.1, 0)], [np.nextafter(0.1, 1)])
    assert (found["tvd"], found["kl"]) == (0, math.inf)


def test_errors_by_the_rank_of_a_label(sample):
    votes = first_items(sample[0], 2)
    votes = replace(votes, counts=np.array([[20, 50, 30], [40, 40, 20]]))
    one = computed("mine", votes, [[0.5, 0.5, 0], [0.2, 0.6, 0.2]], origin="yours")
    table = analysis.rank_errors(evidence_of(votes, [one]), shown_seed=0).rows
    means = table[table["temperature"] == 1].groupby("rank")["mean"].first()
    # Ranked by votes: neutral, contradiction, entailment; then, tied, in the order of labels.
    assert means.tolist() == pytest.approx([(0 - 0.2) / 2, (-0.3 + 0.2) / 2, (0.3 + 0) / 2])
    assert (table.groupby(["temperature", "rank"])["n"].sum() == 2).all()

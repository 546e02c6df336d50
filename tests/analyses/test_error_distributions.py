import math
from dataclasses import replace

import numpy as np
import pytest
from helpers.evidence import evidence_of

from chaos_utils.analyses import error_distributions as analysis
from chaos_utils.analyses.evidence import Material
from chaos_utils.base.errors import ChaosError
from chaos_utils.scoring.systems import load_systems

CHOSEN = {"system": "", "temperature": 2.0}


def test_published_values_lie_among_those_of_many_seeds(released):
    snli, name = released[0], "RoBERTa-base, seed 0"
    systems = analysis.lineup(load_systems(snli), system=name, temperature=2.0, trained=False)
    by_draw = analysis.errors_by_draw(snli, systems, n_seeds=100, first_seed=0)
    table = analysis.summarise_draws(snli, by_draw)
    summary = table.set_index(["measure", "system", "reference", "temperature"])
    for system, published in (("H1", 0.092), ("H2", 0.094)):
        row = summary.loc["dist_ce", system, "all", 1.0]
        assert row["n_seeds"] == 100
        assert row["mean"] == pytest.approx(0.0705, abs=0.0010)
        assert row["low"] < row["mean"] < row["high"]
        assert 75 < row["percentile_notebook"] <= 100  # both, in the upper part of the seeds
        row = summary.loc["dist_ce", system, "outside_both", 1.0]
        assert row["published_notebook"] == published
        assert 50 < row["percentile_notebook"] <= 100
    for temperature in (1.0, 2.0):
        row = summary.loc["kl", name, "all", temperature]
        assert row["infinite_share"] == 0
        assert 0 < row["percentile_notebook"] < 50 < row["percentile_text"] <= 100


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
    assert table[["published", "agrees"]].isna().all(axis=None)
    with pytest.raises(ChaosError, match="more than 40"):
        analysis.draw_released_samples(replace(votes, counts=votes.counts * 0 + 10))


def test_histograms_count_each_item_once_in_one_bin_on_every_processor(sample):
    table = analysis.error_histograms(evidence_of(sample[0]), **CHOSEN, seed=0).rows
    h1 = table[table["system"] == "H1"]
    assert (len(h1), h1["n"].sum()) == (30, len(sample[0]))
    middle = (h1["bin_low"] + h1["bin_high"]) / 2
    assert h1["mean"].iloc[0] == pytest.approx((middle * h1["n"]).sum() / h1["n"].sum(), abs=1 / 60)
    below, above = np.nextafter(0.3, 0), np.nextafter(0.3, 1)
    counts = analysis.counted([below, 0.3, above], np.linspace(0, 1, 11))
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


def test_lineup_flattens_the_chosen_system(sample):
    known = load_systems(sample[0])
    name = "synthetic model, seed 1"
    systems = analysis.lineup(known, system=name, temperature=3.0, trained=False)
    assert [(one.name, one.temperature) for one in systems] == [(name, 1.0), (name, 3.0)]
    sharp, flat = (one.probabilities.max(axis=1) for one in systems)
    assert (flat <= sharp + 1e-12).all()
    assert len(analysis.lineup(known, system="", temperature=1.0, trained=False)) == 1
    for temperature in (0.0, math.nan):
        with pytest.raises(ChaosError, match="above 0"):
            analysis.lineup(known, system="", temperature=temperature, trained=False)
    # Systems of the project are beside it where asked.
    ours = [known[0], replace(known[1], origin="trained")]
    assert [len(analysis.lineup(ours, **CHOSEN, trained=one)) for one in (True, False)] == [3, 2]


def test_a_dataset_that_the_system_does_not_predict_has_none(sample):
    only = replace(load_systems(sample[0])[1], name="only there")
    material = Material((evidence_of(sample[0], [only]), evidence_of(sample[1])))
    analysis.check_system(material, "only there")
    with pytest.raises(ChaosError, match="did you mean"):
        analysis.check_system(material, "only thera")
    given = {"system": "only there", "temperature": 2.0, "trained": False}
    assert [len(analysis.lineup(one.systems[0], **given)) for one in material] == [2, 0]

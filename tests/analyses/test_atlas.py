"""The atlas: numbers that compare across labels and votes, and what choosing items does."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import drawn, evidence_of

from chaos_utils.analyses import atlas, disagreement
from chaos_utils.analyses.inputs import gather
from chaos_utils.datasets.catalogue import book_datasets, bundled_datasets
from chaos_utils.datasets.votes import frozen
from chaos_utils.plots.atlas import plot_atlas

FEW = {"most": 500, "n_resamples": 100, "seed": 0}


def evenness(truth):
    return (1 - (truth**2).sum(axis=1)) / (1 - 1 / truth.shape[1])


@pytest.mark.parametrize("n_votes", [3, 40])
def test_a_row_of_the_atlas_is_right_whatever_the_number_of_votes(sample, truth, n_votes):
    (row,) = atlas.atlas.function(drawn(sample[0], truth, n_votes), **FEW).to_dict("records")
    right = evenness(truth).mean()
    assert row["evenness_low"] < right < row["evenness_high"]
    assert row["disagreement"] == pytest.approx(1 - (truth**2).sum(axis=1).mean(), abs=0.02)
    log = -(truth * np.log(truth.clip(1e-300))).sum(axis=1).mean()
    assert row["shannon"] == pytest.approx(log, rel=0.08)
    assert row["shannon_evenness"] == row["shannon"] / np.log(3)


def test_an_item_has_a_majority_only_with_more_than_half_the_votes(sample):
    counts = np.repeat([[4, 0, 0], [2, 2, 0], [2, 1, 1], [3, 1, 0]], [4, 3, 2, 1], axis=0)
    votes = replace(drawn(sample[0], np.full((10, 3), 1 / 3), 4), counts=frozen(counts))
    (row,) = atlas.atlas.function(votes, **FEW).to_dict("records")
    assert (row["unanimous"], row["tied"], row["no_majority"]) == (0.4, 0.3, 0.5)


def test_items_are_spread_over_bins_only_where_they_have_votes_enough(sample, truth):
    table = atlas.spread.function(drawn(sample[0], truth, 200), n_bins=5)
    assert table["share"].sum() == pytest.approx(1)
    seen = np.histogram(evenness(truth), np.linspace(0, 1, 6))[0] / len(truth)
    np.testing.assert_allclose(table["share"], seen, atol=0.05)
    assert not len(atlas.spread.function(drawn(sample[0], truth, 19), n_bins=5))


@pytest.mark.parametrize("n_votes", [5, 30])
def test_choosing_by_five_votes_is_foreseen_by_the_prior(sample, truth, n_votes):
    votes = drawn(sample[0], truth, n_votes)
    (row,) = atlas.selection.function(
        votes, most=len(truth), n_draws=5, n_resamples=30, seed=0
    ).to_dict("records")
    five = np.random.default_rng(7).multinomial(5, np.repeat(truth, 20, axis=0))
    chosen = five.max(axis=1) == 3
    right = np.repeat(evenness(truth), 20)[chosen].mean()
    assert right > evenness(truth).mean() + 0.1  # choosing does something
    assert row["evenness"] == pytest.approx(evenness(truth).mean(), abs=0.03)
    assert (row["chosen"], row["seen"]) == pytest.approx((chosen.mean(),) * 2, abs=0.03)
    assert row["of_chosen"] == pytest.approx(right, abs=0.04)
    for name in ("chosen", "of_chosen"):
        assert row[f"{name}_low"] < row[name] < row[f"{name}_high"] < row[f"{name}_low"] + 0.1
    if n_votes == 5:
        assert np.isnan(row["of_seen"])  # no vote is left to judge
    else:
        assert row["of_seen"] == pytest.approx(right, abs=0.03)
        assert row["of_chosen_low"] < right < row["of_chosen_high"]


def test_the_votes_without_annotators_near_chance_are_drawn_beside_all(sample, truth):
    votes = evidence_of(drawn(sample[0], truth, 30))
    rows = atlas.atlas(votes, **FEW)
    near = pd.DataFrame(
        {"dataset": ["snli", "mnli"], "n_near": [1, 0], "disagreement_without": [0.2, 0.3],
         "disagreement_without_low": [0.1, 0.2], "disagreement_without_high": [0.3, 0.4]}
    )  # fmt: skip
    shown = atlas.drawn_rows(rows, atlas.spread(votes, n_bins=5), near).rows
    without = shown[shown["part"] == "without"]
    assert without[["dataset", "disagreement", "disagreement_high"]].to_numpy().tolist() == [
        ["snli", 0.2, 0.3]
    ]
    none = atlas.drawn_rows(rows, atlas.spread(votes, n_bins=5), near.head(0)).rows
    assert set(none["part"]) == {"mean", "items"}


def test_thinning_shows_the_bias_of_few_votes(sample, truth):
    table = atlas.few_votes.function(drawn(sample[0], truth[::10], 60), seed=0, n_draws=20)
    found = table.set_index(["quantity", "estimate", "n_votes"])["value"].sort_index()
    of_all = table.groupby("quantity")["of_all"].first()
    biased = found["shannon", "miller_madow"]
    assert biased.is_monotonic_increasing
    assert (biased[[3, 5]] < of_all["shannon"] - 0.01).all()
    for quantity in ("quadratic", "squared_distance"):
        assert np.allclose(found[quantity, "unbiased"], of_all[quantity], atol=0.02)
        assert abs(found[quantity, "plain", 3] - of_all[quantity]) > 0.1
    assert not len(atlas.few_votes.function(drawn(sample[0], truth, 29), seed=0))


def test_the_atlas_has_all_datasets_after_a_reader_s_votes_and_the_sample_alone(four, no_data):
    def names(material):
        return [one.name for one in material]

    bundled = [one.name for one in bundled_datasets()]
    material = atlas.atlas_inputs("auto", gather("auto"))
    assert names(material) == bundled
    assert all(one.votes is None and one.recordable for one in material)
    assert names(atlas.book_inputs(material)) == [one.name for one in book_datasets()]
    own = gather(str(four))
    material = atlas.atlas_inputs(str(four), own)
    assert names(material) == ["severity", *bundled]
    assert material[0].votes
    assert not material[0].recordable
    # Four labels are not chosen from.
    assert not len(atlas.selection(own, most=100, n_draws=1, n_resamples=2, seed=0))
    sample = gather("sample")
    assert atlas.atlas_inputs("sample", sample) is sample


def test_datasets_are_drawn_with_those_of_as_many_labels():
    rows = pd.DataFrame(
        {"dataset": ["cifar10h", "snli", "rte", "mnli"], "n_labels": [10, 3, 2, 3],
         "disagreement": [0.1, 0.3, 0.2, 0.4], "disagreement_low": 0.05, "disagreement_high": 0.5,
         "fewest": 5, "median": 5, "most": 5}
    )  # fmt: skip
    bins = pd.DataFrame({"dataset": ["mnli"], "bin": 1, "low": 0.5, "high": 1.0, "share": 1.0})
    near = pd.DataFrame(
        {"dataset": ["mnli"], "n_near": 1, "disagreement_without": 0.25,
         "disagreement_without_low": 0.2, "disagreement_without_high": 0.3}
    )  # fmt: skip
    drawn = disagreement.with_chosen(atlas.drawn_rows(rows, bins, near), ["snli"])
    figure = plot_atlas(drawn.rows)
    (bar,) = figure.axes[1].patches
    assert (bar.get_x(), bar.get_x() + bar.get_width()) == pytest.approx((1 / 3, 2 / 3))
    names = [[label.get_text() for label in axis.get_yticklabels()] for axis in figure.axes]
    # Without whoever is near chance, MNLI lies below SNLI.
    assert names == [
        ["RTE\n5 votes"],
        ["SNLI\n5 votes, chosen", "MNLI\n5 votes"],
        ["CIFAR-10H\n10 labels, 5 votes"],
    ]
    assert atlas.by_disagreement(rows).rows["dataset"].tolist() == [
        "rte", "mnli", "snli", "cifar10h"
    ]  # fmt: skip

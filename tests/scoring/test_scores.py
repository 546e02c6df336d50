from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.predictions import part_of

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import frozen
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.scoring import systems
from chaos_utils.scoring.scores import score, wide


@pytest.fixture
def votes(sample):
    return sample[0]


def test_intervals_hold_their_values_and_depend_on_neither_company_nor_order(votes):
    models = systems.load_systems(votes)
    together = score(votes, models, n_resamples=200, seed=3)
    linear = [m for m in MEASURES if "ece" not in m and m != "mce"]  # bins bias a resample
    rows = together[together["measure"].isin(linear)]
    assert (rows["low"] <= rows["value"]).all()
    assert (rows["value"] <= rows["high"]).all()
    alone = score(votes, models[1:2], n_resamples=200, seed=3)
    same = together[together["system"] == models[1].name]
    np.testing.assert_allclose(same[["value", "low", "high"]], alone[["value", "low", "high"]])

    pairs = [(one.name, models[0].name) for one in models[1:]]
    options = {"comparisons": pairs, "n_resamples": 100, "seed": 2}
    order = np.random.default_rng(1).permutation(len(votes))
    shuffled = [part_of(one, order) for one in models]
    expected = score(votes, models, **options)
    pd.testing.assert_frame_equal(score(votes, shuffled, **options), expected, check_exact=True)
    first, second = (
        one.set_index(["system", "reference", "measure"])[["n_items", "value", "low", "high", "p"]]
        for one in (expected, score(votes, models[::-1], **options))
    )
    pd.testing.assert_frame_equal(first, second, check_like=True, rtol=1e-9, atol=1e-12)


def test_a_comparison_is_paired(votes):
    from statsmodels.stats.multitest import multipletests

    first, second = systems.load_systems(votes)[:2]
    both = [first, second, replace(first, name="same"), systems.uniform(votes)]
    pairs = [(system.name, second.name) for system in both if system is not second]
    table = score(votes, both, comparisons=pairs, n_resamples=400, seed=1)
    values = wide(table).set_index("system")
    gaps = table[table["reference"] == second.name]
    for row in gaps.itertuples():
        expected = values.loc[row.system, row.measure] - values.loc[second.name, row.measure]
        assert row.value == pytest.approx(expected, abs=1e-12, nan_ok=True)
    undefined = gaps.loc[gaps["value"].isna()]  # the uniform prediction has no rank correlation
    assert undefined[["p", "p_holm"]].isna().all(axis=None)
    gaps = gaps[(gaps["interval"] != "") & gaps["p"].notna()]
    np.testing.assert_array_equal(gaps["p"] < 0.05, (gaps["low"] > 0) | (gaps["high"] < 0))
    np.testing.assert_allclose(gaps["p_holm"], multipletests(gaps["p"], method="holm")[1])
    same = score(votes, both[::2], comparisons=[(first.name, "same")], n_resamples=50)
    same = same[same["reference"] == "same"]
    assert (same[["value", "low", "high"]].dropna() == 0).all(axis=None)
    assert (same["p"].dropna() == 1).all()


def test_groups_are_scored_as_if_alone(votes):
    one = systems.load_systems(votes)[0]
    measures = ["jsd", "adaptive_ece"]  # its bins are cut on the items of a group
    groups = {"mask": np.arange(300) < 200, "first": range(200), "rest": range(200, 300)}
    table = score(votes, [one], groups=groups, measures=measures)
    assert table["n_items"].tolist() == [200] * 4 + [100] * 2
    values = table.set_index("group")["value"]
    alone = score(votes, [part_of(one, range(200))], measures=measures)["value"]
    for group in ("mask", "first"):
        np.testing.assert_allclose(values[group], alone, rtol=1e-12)
    # A group of as many other items as the system covers.
    half = part_of(one, range(200))
    table = score(votes, [half], groups={"other": range(100, 300)}, measures=measures)
    assert table["n_items"].tolist() == [100] * 2


@pytest.mark.parametrize(
    ("n_disputed", "kind"), [(29, "too few items to say"), (30, "bootstrap-t")]
)
def test_a_mean_of_few_large_values_has_an_interval_from_thirty_disputed_items_on(
    votes, n_disputed, kind
):
    counts = np.tile([10, 0, 0], (len(votes), 1))
    counts[:n_disputed] = [6, 4, 0]
    few = replace(votes, counts=frozen(counts))
    table = score(few, [systems.uniform(few)], measures=["sq_distance"], n_resamples=50)
    assert table["interval"].tolist() == [kind]


@pytest.mark.parametrize(
    ("lacking", "measure", "message"),
    [
        (lambda votes: replace(votes, counts=np.eye(3, dtype=int)[votes.majority]), "sq_distance",
         "needs at least two votes on each item"),
        (lambda votes: votes, "wasserstein", "needs ordered labels"),
        (lambda votes: replace(votes, given_old_label=None, given_old_votes=None), "old_accuracy",
         "needs old labels"),
    ],
)  # fmt: skip
def test_what_votes_lack_a_measure_asks_for_in_one_way(votes, lacking, measure, message):
    bare = lacking(votes)
    shown = set(score(bare, [systems.uniform(bare)])["measure"])
    assert measure not in shown
    assert "new_accuracy" in shown
    with pytest.raises(ChaosError, match=message):
        score(bare, [systems.uniform(bare)], measures=[measure])

from dataclasses import replace

import numpy as np
import pytest
from helpers.evidence import evidence_of
from helpers.predictions import write_shares

from chaos_utils.analyses import baan, calibration
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.metrics.divergence import total_variation
from chaos_utils.scoring.predictions import read_predictions
from chaos_utils.scoring.systems import computed, load_systems

human_calibration = calibration.human_calibration.function
classwise_errors = calibration.classwise_errors.function
temperature_choices = calibration.temperature_choices.function


@pytest.fixture(scope="module")
def votes(sample):
    return sample[0]


@pytest.fixture(scope="module")
def systems(votes):
    return load_systems(votes, trained=False)


@pytest.fixture(scope="module")
def material(votes, systems):
    return evidence_of(votes, systems)


@pytest.fixture(scope="module")
def real(released):
    known = load_systems(released[0], trained=False)
    return released[0], [one for one in known if one.paper == baan.PAPER]


@pytest.fixture(scope="module")
def choices(material):
    return calibration.temperature_choices(material)


@pytest.fixture
def own(votes, tmp_path):
    """A reader's model, which leaves two items out."""
    path = write_shares(tmp_path / "mine.csv", votes, votes.shares, votes.uids[2:])
    return read_predictions(path, [votes], allow_missing=True)


def test_table_1_is_reproduced_to_three_decimals(real):
    votes, systems = real
    table = calibration.human_calibration(evidence_of(votes, systems))
    rows, published = table.rows, read_published("baan2022_table1")
    assert len(rows) == len(published) == 7
    for name in calibration.TABLE_1:
        np.testing.assert_array_equal(rows[f"published_{name}"], published[name])
        np.testing.assert_allclose(rows[name].round(3), published[name], atol=1e-9)
    means = calibration.seed_means(table).rows.query("origin == 'released'")
    assert means[["ece", "dist_ce"]].round(2).to_numpy().tolist() == [[0.14, 0.26], [0.03, 0.22]]


def test_the_paper_s_numbers_are_about_its_own_dataset_and_models(released):
    votes, mnli, _ = released
    systems = load_systems(mnli, trained=False)
    for table in (human_calibration(mnli, systems), classwise_errors(mnli, systems)):
        assert table.filter(regex="published|difference").isna().all(axis=None)
    posing = computed("RoBERTa-base", votes, votes.shares, origin="yours")
    published = classwise_errors(votes, [posing])["published_classwise_ece_binned"]
    assert published.notna().tolist() == [False, False, True]


def test_the_paper_s_numbers_are_not_about_the_sample(material):
    assert calibration.human_calibration(material).rows["published_ece"].isna().all()


def test_the_reader_s_own_system_stands_beside_the_rest(votes, own):
    systems = baan.comparison_systems(votes, [*load_systems(votes), *own])
    names = [(one.name, one.temperature) for one in systems]
    assert names[-3:] == [("mine", 1), ("mine", 2), ("oracle", 1)]
    whole = human_calibration(votes, [*load_systems(votes), *own])
    mine = whole.set_index(["system", "temperature"]).loc[("mine", 1)]
    assert mine["n_items"] == len(votes) - 2
    assert mine["dist_ce"] == pytest.approx(0, abs=1e-9)
    choices = temperature_choices(votes, own)
    fitted = choices.set_index("choice")["temperature"]
    assert fitted["cross_fitted"] == pytest.approx(1, abs=1e-3)


def test_a_temperature_at_an_end_of_the_search_is_a_bound():
    (column,) = [one for one in calibration.TEMPERATURE_COLUMNS if one.heading == "T"]
    for *values, expected in (
        (2.0, 2.0, 2.0, "2.00"),
        (1.5, 1.25, 20.0, "1.50 [1.25, ≥\u00a020.00]"),
        (np.exp(np.log(0.05)), 0.05, 0.05, "≤\u00a00.05"),
    ):
        names = ("temperature", "temperature_low", "temperature_high")
        assert column.value(dict(zip(names, values, strict=True))) == expected


def test_a_line_up_that_there_cannot_be_says_why(votes, systems, own):
    with pytest.raises(ChaosError, match="pass -p predictions=FILE"):
        baan.comparison_systems(votes, [])
    with pytest.raises(ChaosError, match="rename it"):
        baan.comparison_systems(votes, [replace(own[0], name="oracle")])
    with pytest.raises(ChaosError, match="one of: 0, 1, 2"):
        baan.comparison_systems(votes, systems, 3)
    picked = baan.comparison_systems(votes, [*systems, replace(own[0], seed=7)], 2)
    assert [(one.family, one.temperature, one.seed) for one in picked] == [
        ("synthetic model", 1, 2), ("synthetic model", 2, 2), ("mine", 1, 7), ("mine", 2, 7),
        ("oracle", 1, None),
    ]  # fmt: skip


def test_one_family_is_flattened_beside_others(votes, systems, own):
    several = [*systems, *own, replace(own[0], name="ours", family="ours", origin="trained")]
    chosen = baan.compared_systems(votes, several, 1, ["yours"])
    assert [(one.family, one.seed, one.temperature) for one in chosen] == [
        ("synthetic model", 1, 1), ("synthetic model", 1, 2), ("mine", None, 1),
    ]  # fmt: skip


def test_reliability_bins_add_up_to_the_error(votes, systems):
    bins = calibration.reliability.function(votes, systems, shown_seed=None)
    keys = ["system", "temperature"]
    gaps = (bins["n"] * (bins["hits"] - bins["confidence"]).abs()).groupby([bins[k] for k in keys])
    table = human_calibration(votes, systems).set_index(keys)
    errors = gaps.sum() / len(votes)
    np.testing.assert_allclose(errors, table["ece"].loc[errors.index])
    assert set(bins.groupby(keys)["n"].sum()) == {len(votes)}
    # The last digits of a confidence do not decide its bin.
    shares = np.tile([0.6, 0.3, 0.1], (len(votes), 1))
    shares[::2] += [[1e-14, -1e-14, 0]]  # 0.6 is an edge, and belongs to the bin below
    edge = computed("edge", votes, shares, origin="yours")
    found = calibration.reliability.function(votes, [edge], shown_seed=0)
    filled = found[(found["n"] > 0) & (found["system"] == "edge") & (found["temperature"] == 1)]
    assert filled["bin_high"].tolist() == [pytest.approx(0.6)]


def test_shares_of_items_that_scaling_moves(votes, systems):
    table = calibration.distance_histogram.function(votes, systems, shown_seed=1)
    rows = table.groupby("temperature").first()
    both = (systems[1], systems[1].at_temperature(2))
    before, after = (total_variation(votes.shares, one.aligned_to(votes).model) for one in both)
    assert rows["far"].tolist() == [(before > 0.5).mean(), (after > 0.5).mean()]
    assert rows["further"].tolist() == pytest.approx([0, (after > before).mean()])


def test_errors_of_appendices_b_and_d(real):
    table = classwise_errors(*real)
    gaps = table.groupby("temperature")["difference_classwise_ece_binned"].agg(["min", "max"]).abs()
    assert (gaps.loc[1] <= 0.005).all()
    assert (gaps.loc[2] > 0.005).all()
    of_oracle = table.set_index("system").loc["oracle"]
    assert of_oracle["classwise_ece_binned"] == pytest.approx(0.1650, abs=5e-5)
    assert of_oracle["classwise_ece_all"] == pytest.approx(0.1475, abs=5e-5)
    signed = calibration.signed_entropy_errors.function(*real)
    assert signed["mean"].round(3).tolist() == [-0.258, -0.184, -0.267, 0.054, 0.137, 0.058]
    assert (signed["difference_mean"].abs() <= 0.005).tolist() == [True] + [False] * 5


def test_temperatures_do_what_they_were_fitted_for(votes, systems, choices):
    table = choices.rows
    assert "outside" not in set(table["choice"])  # there are no such items for the sample
    for _, rows in table.groupby("seed"):
        at = rows.set_index("choice")
        assert at["ece"].idxmin() == "oracle_ece"
        assert at.loc["none", "temperature"] == 1
        assert at.loc["fixed", "temperature"] == 2
        assert at["kl"].idxmin() == "cross_fitted"
        crossed = at.loc["cross_fitted"]
        assert crossed["temperature_low"] < crossed["temperature"] < crossed["temperature_high"]
    # The oracle temperatures are scored in sample on purpose, cross-fitted ones out of fold.
    fitted = {
        choice: scaled for choice, _, _, scaled in calibration.temperature_fits(votes, systems[0])
    }
    with pytest.raises(ChaosError, match="fitted on the votes"):
        fitted["oracle_nll"].aligned_to(votes)
    fitted["cross_fitted"].aligned_to(votes)
    with pytest.raises(ChaosError, match="no temperature"):
        calibration.temperature_curves.function(votes, systems, choices=table, n_temperatures=0)


def test_temperatures_are_fitted_on_what_was_released_of_other_items(real):
    votes, systems = real
    (known,) = [one for one in systems if one.name == "RoBERTa-base, seed 0"]
    sets = calibration.development_predictions(votes, known)
    assert {name: len(gold) for name, (_, gold) in sets.items()} == {
        "outside": 8328, "development": 9842,
    }  # fmt: skip
    choices = temperature_choices(votes, [known]).set_index("choice")
    assert choices.loc["outside", "n_fitted"] == 8328
    assert calibration.development_predictions(votes, replace(known, paper="")) == {}

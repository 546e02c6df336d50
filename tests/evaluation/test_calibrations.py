import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.evaluation import calibrations
from chaos_utils.metrics.agreement import majority_share
from chaos_utils.plots import calibration as plots
from chaos_utils.presentation import calibration as presentation
from chaos_utils.scoring.predictions import read_predictions
from chaos_utils.scoring.recalibration import negative_log_likelihood
from chaos_utils.scoring.system import votes_of
from chaos_utils.scoring.systems import computed, load_systems


@pytest.fixture
def votes(sample):
    return sample[0]


@pytest.fixture
def systems(votes):
    return calibrations.line_up(votes, load_systems(votes, trained=False))


@pytest.fixture
def real(released):
    systems = load_systems(released[0], trained=False)
    if not systems:
        pytest.skip("the released predictions are not available")
    return released[0], calibrations.line_up(released[0], systems)


@pytest.fixture
def own(votes, tmp_path):
    """A reader's model, which leaves two items out."""
    path = tmp_path / "mine.csv"
    table = pd.DataFrame(votes.shares, columns=["entailment", "neutral", "contradiction"])
    table.insert(0, "uid", votes.uids)
    table.iloc[2:].to_csv(path, index=False)
    return read_predictions(path, [votes], allow_missing=True)


def test_simulated_models_stand_in_without_the_paper_s_numbers(votes, systems):
    table = calibrations.human_calibration(votes, systems)
    assert list(table.columns[:11]) == [
        "dataset", "system", "family", "seed", "origin", "temperature",
        "accuracy", "ece", "rank_cs", "ent_ce", "dist_ce",
    ]  # fmt: skip
    assert list(table["family"]) == ["synthetic model"] * 6 + ["oracle"]
    assert list(table["temperature"]) == [1, 1, 1, 2, 2, 2, 1]
    assert table["seed"].tolist()[:6] == [0, 1, 2, 0, 1, 2]
    assert table["seed"].isna().tolist() == [False] * 6 + [True]
    assert table.filter(regex="published|difference").isna().all(axis=None)
    assert calibrations.rounded_values(votes, table).empty


def test_table_1_is_reproduced_to_three_decimals(real):
    table = calibrations.human_calibration(*real)
    published = read_published("baan2022_table1")
    assert len(table) == len(published) == 7
    for name in calibrations.TABLE_1:
        np.testing.assert_array_equal(table[f"published_{name}"], published[name])
        np.testing.assert_allclose(table[name].round(3), published[name], atol=1e-9)
        np.testing.assert_array_equal(table[f"difference_{name}"], table[name] - published[name])
    assert calibrations.rounded_values(real[0], table)["agrees"].tolist() == [True] * 5


def test_the_paper_s_numbers_are_about_its_own_dataset(released):
    mnli = released[1]
    systems = calibrations.line_up(mnli, load_systems(mnli, trained=False))
    table = calibrations.human_calibration(mnli, systems)
    assert table["published_ece"].isna().all()
    assert calibrations.classwise_errors(mnli, systems)["agrees"].isna().all()


def test_the_oracle_s_error_is_what_the_majority_lacks(votes, systems):
    table = calibrations.human_calibration(votes, systems).set_index("system")
    lacking = 1 - majority_share(votes.counts).mean()
    assert table.loc["oracle", "ece"] == pytest.approx(lacking, abs=1e-12)
    assert table.loc["oracle", "accuracy"] == 1
    targets = calibrations.two_targets(votes, systems).set_index("system")
    assert targets.loc["oracle", "ece_votes"] == pytest.approx(0, abs=1e-12)
    assert targets.loc["oracle", "ece"] == pytest.approx(lacking, abs=1e-12)


def test_the_reader_s_own_system_stands_beside_the_rest(votes, own):
    systems = calibrations.line_up(votes, [*load_systems(votes), *own])
    names = [(one.name, one.temperature) for one in systems]
    assert names[-3:] == [("mine", 1), ("mine", 2), ("oracle", 1)]
    whole = calibrations.human_calibration(votes, systems)
    mine = whole.set_index(["system", "temperature"]).loc[("mine", 1)]
    assert mine["n_items"] == len(votes) - 2
    assert mine["dist_ce"] == pytest.approx(0, abs=1e-9)
    assert np.isnan(mine["published_ece"])
    alone = calibrations.line_up(votes, own)
    assert [(one.name, one.temperature) for one in alone] == names[-3:]
    choices = calibrations.temperature_choices(votes, alone, 5, 0).set_index("choice")
    assert choices.loc["cross_fitted", "temperature"] == pytest.approx(1, abs=1e-3)
    curves = calibrations.temperature_curves(votes, alone, choices.reset_index(), np.ones(1))
    assert set(curves["system"]) == {"mine"}
    plots.plot_temperatures(curves)
    plots.plot_distances(calibrations.item_distances(votes, alone[:2]))
    assert presentation.show_human_calibration(whole).iloc[-3, 1] == "–"


def test_a_reader_s_model_of_the_paper_s_family_is_not_the_paper_s(released):
    shares = released[0].shares
    posing = computed("RoBERTa-base", released[0], shares, origin="yours")
    table = calibrations.classwise_errors(released[0], calibrations.line_up(released[0], [posing]))
    assert table["agrees"].notna().tolist() == [False, False, True]


def test_without_predictions_the_reader_is_told_what_to_pass(votes):
    with pytest.raises(ChaosError, match="pass -p predictions=FILE"):
        calibrations.line_up(votes, [])


def test_a_reader_s_system_may_not_be_called_like_the_oracle(votes, own):
    with pytest.raises(ChaosError, match="rename it"):
        calibrations.line_up(votes, [replace(own[0], name="oracle")])


def test_a_seed_is_picked_or_the_known_ones_are_named(votes, systems, own):
    picked = calibrations.with_seed([*systems, replace(own[0], seed=7)], 2)
    assert [(one.family, one.temperature, one.seed) for one in picked] == [
        ("synthetic model", 1, 2), ("synthetic model", 2, 2), ("oracle", 1, None), ("mine", 1, 7),
    ]  # fmt: skip
    with pytest.raises(ChaosError, match="one of: 0, 1, 2"):
        calibrations.with_seed(systems, 3)


def test_reliability_bins_add_up_to_the_error(votes, systems):
    bins = calibrations.reliability(votes, systems)
    keys = ["system", "temperature"]
    gaps = (bins["n"] * (bins["hits"] - bins["confidence"]).abs()).groupby([bins[k] for k in keys])
    table = calibrations.human_calibration(votes, systems).set_index(keys)
    errors = gaps.sum() / len(votes)
    np.testing.assert_allclose(errors, table["ece"].loc[errors.index])
    np.testing.assert_array_equal(bins.groupby(keys)["ece"].first(), table["ece"][errors.index])
    assert set(bins.groupby(keys)["n"].sum()) == {len(votes)}
    of_oracle = bins[(bins["system"] == "oracle") & (bins["n"] > 0)]
    assert (of_oracle["hits"] == 1).all()


def test_item_distances_have_the_mean_of_table_1(votes, systems):
    items = calibrations.item_distances(votes, systems)
    means = items.groupby(["system", "temperature"], sort=False)["dist_ce"].mean()
    table = calibrations.human_calibration(votes, systems)
    np.testing.assert_allclose(means, table["dist_ce"], atol=1e-12)


def test_class_wise_errors_of_appendix_d(real):
    table = calibrations.classwise_errors(*real)
    agrees = table.groupby(["family", "temperature"])["agrees"].all()
    assert agrees.to_dict() == {
        ("oracle", 1): True, ("RoBERTa-base", 1): True, ("RoBERTa-base", 2): False,
    }  # fmt: skip
    of_oracle = table.set_index("system").loc["oracle"]
    assert of_oracle["classwise_ece_binned"] == pytest.approx(0.1650, abs=5e-5)
    assert of_oracle["classwise_ece_all"] == pytest.approx(0.1475, abs=5e-5)
    scaled = table[table["temperature"] == 2]
    assert round(100 * scaled["classwise_ece_binned"].iloc[0]) == 7
    without_zeros = table[table["n_without_bin"] == 0]
    np.testing.assert_allclose(
        without_zeros["classwise_ece_binned"], without_zeros["classwise_ece_all"]
    )


def test_temperatures_do_what_they_were_fitted_for(votes, systems):
    table = calibrations.temperature_choices(votes, systems, 10, 0)
    assert "outside" not in set(table["choice"])  # there are no such items for the sample
    for _, rows in table.groupby("seed"):
        at = rows.set_index("choice")
        assert at["ece"].idxmin() == "oracle_ece"
        assert at.loc["none", "temperature"] == 1
        assert at.loc["fixed", "temperature"] == 2
        assert at["kl"].idxmin() == "cross_fitted"
        assert at.loc["cross_fitted", "temperature_low"] < at.loc["cross_fitted", "temperature"]
        assert at.loc["cross_fitted", "temperature"] < at.loc["cross_fitted", "temperature_high"]
    again = calibrations.temperature_choices(votes, systems, 10, 0)
    pd.testing.assert_frame_equal(table, again)
    for n_folds in (1, len(votes) + 1):
        with pytest.raises(ChaosError, match="number of folds"):
            calibrations.temperature_choices(votes, systems, n_folds, 0)


def test_what_was_fitted_on_the_votes_is_judged_by_them_on_purpose_alone(votes, systems):
    """The oracle temperatures are scored in sample, cross-fitted ones out of fold."""
    found = calibrations.fits(votes, systems[0], 5, 0)
    fitted = {choice: scaled for choice, _, _, scaled in found}
    known = {choice: votes_of(votes.dataset) in one.trained_on for choice, one in fitted.items()}
    assert known == {
        "none": False, "fixed": False, "oracle_nll": True, "oracle_ece": True, "cross_fitted": True,
    }  # fmt: skip
    with pytest.raises(ChaosError, match="fitted on the votes"):
        fitted["oracle_nll"].aligned_to(votes)
    fitted["cross_fitted"].aligned_to(votes)


def test_two_comes_out_only_on_the_items_that_are_judged(real):
    table = calibrations.temperature_choices(*real, 10, 0)
    found = table.pivot(index="seed", columns="choice", values="temperature")
    assert found["oracle_nll"].between(1.75, 2.15).all()
    assert found["oracle_ece"].between(1.85, 2.15).all()
    assert found["outside"].between(0.9, 1.1).all()
    assert (found["cross_fitted"] > 2.4).all()
    assert set(table.loc[table["choice"] == "outside", "n_fitted"]) == {4921 - 729}


def test_curves_pass_through_the_table(votes, systems):
    choices = calibrations.temperature_choices(votes, systems, 3, 0)
    curves = calibrations.temperature_curves(votes, systems, choices, np.array([1.0, 2.0]))
    assert set(curves["measure"]) == set(calibrations.BY_TEMPERATURE)
    grid = curves[curves["choice"] == ""].set_index(["seed", "temperature", "measure"])["value"]
    for row in choices[choices["choice"].isin(["none", "fixed"])].to_dict("records"):
        for name in calibrations.BY_TEMPERATURE:
            assert grid[row["seed"], row["temperature"], name] == pytest.approx(row[name])
    with pytest.raises(ChaosError, match="no temperature"):
        calibrations.temperature_curves(votes, systems, choices, np.array([]))


def test_predictions_outside_the_dataset_are_those_of_the_same_model(real):
    votes, systems = real
    for one in systems[:3]:
        assert calibrations.outside_file(votes, one).stem.endswith(f"roberta-base_{one.seed}")
    assert calibrations.outside_file(votes, systems[-1]) is None


def line(uid, **changes):
    entry = {"index": 0, "true": 2, "pred": 0, "probs": [0.7, 0.1, 0.2], "uid": uid}
    return json.dumps(entry | changes)


def test_only_items_outside_are_read(votes, tmp_path):
    path = tmp_path / "dev.json"
    path.write_text("\n".join([line(votes.uids[0]), line("a"), line("b", true=0)]))
    probabilities, gold = calibrations.read_outside(path, votes)
    np.testing.assert_allclose(probabilities, [[0.7, 0.1, 0.2]] * 2)
    assert gold.tolist() == [2, 0]
    expected = -np.log([0.2, 0.7]).mean()
    assert negative_log_likelihood(probabilities, gold) == pytest.approx(expected)
    path.write_text(line(votes.uids[0]))
    with pytest.raises(ChaosError, match="is in ChaosNLI-SNLI"):
        calibrations.read_outside(path, votes)


@pytest.mark.parametrize(
    "second",
    [
        line("a"), line("b", true=3), line("b", probs=[0.5, 0.5]), line("b", probs=[0.5, 0.5, 0.5]),
        line("b", probs=[1.2, -0.2, 0.0]), line("b", probs=[float("nan"), 0.5, 0.5]),
        line("b", probs=None), line(None), '{"uid": "b"', "[]", '{"uid": "b"}',
    ],
)  # fmt: skip
def test_an_unsound_line_is_named(votes, tmp_path, second):
    path = tmp_path / "dev.json"
    path.write_text(f"{line('a')}\n{second}\n")
    with pytest.raises(ChaosError, match=r"dev\.json, line 2"):
        calibrations.read_outside(path, votes)


def test_two_classes_have_two_probabilities(sample, tmp_path):
    path = tmp_path / "dev.json"
    path.write_text(line("a", true=1, probs=[0.7, 0.3]))
    assert calibrations.read_outside(path, sample[2])[0].shape == (1, 2)
    path.write_text(line("a", true=2, probs=[0.7, 0.3]))
    with pytest.raises(ChaosError, match="true from 0 to 1"):
        calibrations.read_outside(path, sample[2])


def test_released_development_items_fit_as_the_conventions_say(real):
    votes, systems = real
    path = calibrations.outside_file(votes, systems[1])
    probabilities, gold = calibrations.read_outside(path, votes)
    assert probabilities.shape == (4192, 3)
    assert (probabilities.argmax(axis=1) == gold).mean() > 0.9


def test_what_is_shown_says_what_was_computed(votes, systems):
    table = calibrations.human_calibration(votes, systems)
    shown = presentation.show_human_calibration(table)
    assert len(shown) == 7 + 2 * 2  # mean and sd of either group of seeds
    here = shown[("accuracy", "here")]
    assert here.iloc[3] == f"{table['accuracy'][:3].mean():.3f}"
    assert here.iloc[4] == f"{table['accuracy'][:3].std():.3f}"
    assert shown[("system", "")].iloc[0] == "synthetic model, seed 0, T = 1"
    choices = calibrations.temperature_choices(votes, systems, 3, 0)
    rows = presentation.show_temperatures(choices)
    assert rows["T"].tolist()[:2] == ["1.00", "2.00"]
    assert rows["T"].iloc[2].count("/") == 2
    at_limit = choices.assign(temperature=20.0)
    assert set(presentation.show_temperatures(at_limit)["T"]) == {"20.00†"}
    classwise = presentation.show_classwise(calibrations.classwise_errors(votes, systems))
    assert set(classwise["rounds to the paper’s"]) == {"–"}  # the paper is about other votes


def test_figures_show_every_system(votes, systems):
    bins = calibrations.reliability(votes, calibrations.with_seed(systems, 0))
    figure = plots.plot_reliability(bins)
    assert [axis.get_title().replace("\n", " ") for axis in figure.axes[:3]] == [
        "synthetic model, seed 0, T = 1", "synthetic model, seed 0, T = 2", "oracle (the votes)",
    ]  # fmt: skip
    for axis in figure.axes[3:]:
        assert sum(bar.get_height() for bar in axis.patches) == len(votes)
    axis = plots.plot_two_targets(calibrations.two_targets(votes, systems)).axes[0]
    assert len(axis.get_yticklabels()) == len(systems)

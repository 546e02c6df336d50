import json

import numpy as np
import pandas as pd
import pytest

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.evaluation import calibrations
from chaos_utils.metrics.agreement import majority_share
from chaos_utils.plots import calibration as plots
from chaos_utils.presentation import calibration as presentation
from chaos_utils.scoring.predictions import read_predictions
from chaos_utils.scoring.recalibration import negative_log_likelihood, temper
from chaos_utils.scoring.systems import load_systems


@pytest.fixture
def votes(sample):
    return sample[0]


@pytest.fixture
def cases(votes):
    return calibrations.line_up(votes, load_systems(votes, trained=False))


@pytest.fixture
def real(released):
    systems = load_systems(released[0], trained=False)
    if not systems:
        pytest.skip("the released predictions are not at hand")
    return released[0], calibrations.line_up(released[0], systems)


@pytest.fixture
def own(votes, tmp_path):
    """A reader's model, which leaves two items out."""
    path = tmp_path / "mine.csv"
    table = pd.DataFrame(votes.shares, columns=["entailment", "neutral", "contradiction"])
    table.insert(0, "uid", votes.uids)
    table.iloc[2:].to_csv(path, index=False)
    return read_predictions(path, [votes], allow_missing=True)


def test_simulated_models_play_the_seeds(votes, cases):
    table = calibrations.human_calibration(votes, cases)
    assert list(table.columns[:8]) == [
        "dataset", "system", "seed", "accuracy", "ece", "rank_cs", "ent_ce", "dist_ce",
    ]  # fmt: skip
    published = read_published("baan2022_table1")
    assert list(table["system"]) == list(published["system"])
    assert table["seed"].tolist()[:6] == [0, 1, 2, 0, 1, 2]
    assert table["seed"].isna().tolist() == [False] * 6 + [True]
    np.testing.assert_array_equal(table["published_ece"], published["ece"])
    np.testing.assert_allclose(table["difference_ece"], table["ece"] - published["ece"])
    assert all(model.startswith("synthetic") for model in table["model"][:6])


def test_table_1_is_reproduced_to_three_decimals(real):
    table = calibrations.human_calibration(*real)
    published = read_published("baan2022_table1")
    both = table.merge(published, on=["system", "seed"], suffixes=("", "_theirs"))
    assert len(both) == 7
    for name in calibrations.TABLE_1:
        np.testing.assert_allclose(both[name].round(3), both[f"{name}_theirs"], atol=1e-9)
        np.testing.assert_array_equal(both[f"published_{name}"], both[f"{name}_theirs"])
    assert calibrations.rounded_values(table)["agrees"].tolist() == [True] * 5


def test_the_oracle_s_error_is_what_the_majority_lacks(votes, cases):
    table = calibrations.human_calibration(votes, cases).set_index("system")
    lacking = 1 - majority_share(votes.counts).mean()
    assert table.loc["oracle", "ece"] == pytest.approx(lacking, abs=1e-12)
    assert table.loc["oracle", "accuracy"] == 1
    targets = calibrations.two_targets(votes, cases).set_index("system")
    assert targets.loc["oracle", "ece_votes"] == pytest.approx(0, abs=1e-12)
    assert targets.loc["oracle", "ece"] == pytest.approx(lacking, abs=1e-12)


def test_the_reader_s_own_system_stands_beside_the_rest(votes, own):
    cases = calibrations.line_up(votes, [*load_systems(votes), *own])
    names = [case.system for case in cases]
    assert names[-3:] == ["mine", "mine-ts", "oracle"]
    table = calibrations.human_calibration(votes, cases).set_index("system")
    assert table.loc["mine", "n_items"] == len(votes) - 2
    assert table.loc["mine", "dist_ce"] == pytest.approx(0, abs=1e-9)
    assert np.isnan(table.loc["mine", "published_ece"])
    alone = calibrations.line_up(votes, own)
    assert [case.system for case in alone] == names[-3:]
    choices = calibrations.temperature_choices(votes, alone, 5, 0).set_index("choice")
    assert choices.loc["cross_fitted", "temperature"] == pytest.approx(1, abs=1e-3)
    curves = calibrations.temperature_curves(votes, alone, choices.reset_index(), np.ones(1))
    assert set(curves["system"]) == {"mine"}
    plots.plot_temperatures(curves)
    plots.plot_distances(calibrations.item_distances(votes, alone[:2]))
    shown = presentation.show_human_calibration(table.reset_index())
    assert shown.iloc[-3, 1] == "–"


def test_without_predictions_the_reader_is_told_what_to_pass(votes):
    with pytest.raises(ChaosError, match="pass -p predictions=FILE"):
        calibrations.line_up(votes, [])


def test_a_reader_s_system_may_not_pose_as_a_row_of_the_paper(votes, own, tmp_path):
    named = tmp_path / "oracle.csv"
    (tmp_path / "mine.csv").rename(named)
    posing = read_predictions(named, [votes], allow_missing=True)
    with pytest.raises(ChaosError, match="rename it"):
        calibrations.line_up(votes, posing)


def test_a_seed_is_picked_or_the_known_ones_are_named(cases):
    picked = calibrations.with_seed(cases, 2)
    assert [(case.system, case.seed) for case in picked] == [
        ("roberta", 2), ("roberta-ts", 2), ("oracle", None),
    ]  # fmt: skip
    with pytest.raises(ChaosError, match="one of: 0, 1, 2"):
        calibrations.with_seed(cases, 3)


def test_reliability_bins_add_up_to_the_error(votes, cases):
    bins = calibrations.reliability(votes, cases)
    gaps = (bins["n"] * (bins["hits"] - bins["confidence"]).abs()).groupby(bins["model"])
    table = calibrations.human_calibration(votes, cases)
    for model in ("synthetic model, seed 0", "oracle"):
        of_model = bins["model"] == model
        total = gaps.sum()[model] / len(votes)
        assert total == pytest.approx(table.loc[table["model"] == model, "ece"].sum())
        assert set(bins[of_model].groupby("temperature")["n"].sum()) == {len(votes)}
    of_oracle = bins[(bins["system"] == "oracle") & (bins["n"] > 0)]
    assert (of_oracle["hits"] == 1).all()


def test_item_distances_have_the_mean_of_table_1(votes, cases):
    items = calibrations.item_distances(votes, cases)
    means = items.groupby(["system", "seed"], dropna=False, sort=False)["dist_ce"].mean()
    table = calibrations.human_calibration(votes, cases)
    np.testing.assert_allclose(means, table["dist_ce"], atol=1e-12)


def test_class_wise_errors_of_appendix_d(real):
    table = calibrations.classwise_errors(*real)
    agrees = table.groupby("system")["agrees"].all()
    assert agrees.to_dict() == {"oracle": True, "roberta": True, "roberta-ts": False}
    of_oracle = table.set_index("system").loc["oracle"]
    assert of_oracle["classwise_ece_binned"] == pytest.approx(0.1650, abs=5e-5)
    assert of_oracle["classwise_ece_all"] == pytest.approx(0.1475, abs=5e-5)
    scaled = table[table["system"] == "roberta-ts"]
    assert round(100 * scaled["classwise_ece_binned"].iloc[0]) == 7
    without_zeros = table[table["n_without_bin"] == 0]
    np.testing.assert_allclose(
        without_zeros["classwise_ece_binned"], without_zeros["classwise_ece_all"]
    )


def test_temperatures_do_what_they_were_fitted_for(votes, cases):
    table = calibrations.temperature_choices(votes, cases, 10, 0)
    assert "outside" not in set(table["choice"])  # there are no such items for the sample
    for _, rows in table.groupby("seed"):
        at = rows.set_index("choice")
        assert at["ece"].idxmin() == "oracle_ece"
        assert at.loc["none", "temperature"] == 1
        assert at.loc["fixed", "temperature"] == 2
        assert at["kl"].idxmin() == "cross_fitted"
        assert at.loc["cross_fitted", "temperature_low"] < at.loc["cross_fitted", "temperature"]
        assert at.loc["cross_fitted", "temperature"] < at.loc["cross_fitted", "temperature_high"]
    again = calibrations.temperature_choices(votes, cases, 10, 0)
    pd.testing.assert_frame_equal(table, again)
    for n_folds in (1, len(votes) + 1):
        with pytest.raises(ChaosError, match="number of folds"):
            calibrations.temperature_choices(votes, cases, n_folds, 0)


def test_two_comes_out_only_on_the_items_that_are_judged(real):
    table = calibrations.temperature_choices(*real, 10, 0)
    found = table.pivot(index="seed", columns="choice", values="temperature")
    assert found["oracle_nll"].between(1.75, 2.15).all()
    assert found["oracle_ece"].between(1.85, 2.15).all()
    assert found["outside"].between(0.9, 1.1).all()
    assert (found["cross_fitted"] > 2.4).all()
    assert set(table.loc[table["choice"] == "outside", "n_fitted"]) == {4921 - 729}


def test_curves_pass_through_the_table(votes, cases):
    choices = calibrations.temperature_choices(votes, cases, 3, 0)
    curves = calibrations.temperature_curves(votes, cases, choices, np.array([1.0, 2.0]))
    assert set(curves["measure"]) == set(calibrations.BY_TEMPERATURE)
    grid = curves[curves["choice"] == ""].set_index(["seed", "temperature", "measure"])["value"]
    for row in choices[choices["choice"].isin(["none", "fixed"])].to_dict("records"):
        for name in calibrations.BY_TEMPERATURE:
            assert grid[row["seed"], row["temperature"], name] == pytest.approx(row[name])
    with pytest.raises(ChaosError, match="no temperature"):
        calibrations.temperature_curves(votes, cases, choices, np.array([]))


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
    with pytest.raises(ChaosError, match="in ChaosNLI"):
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


def test_released_development_items_fit_as_the_conventions_say(real):
    name = "calibration-on-disagreement-data/predictions/SNLI_dev_roberta-base_1.json"
    probabilities, gold = calibrations.read_outside(sources.locate(name, "released"), real[0])
    assert probabilities.shape == (4192, 3)
    assert (probabilities.argmax(axis=1) == gold).mean() > 0.9


def test_what_is_shown_says_what_was_computed(votes, cases):
    table = calibrations.human_calibration(votes, cases)
    shown = presentation.show_human_calibration(table)
    assert len(shown) == 7 + 2 * 2  # mean and sd of either group of seeds
    here = shown[("accuracy", "here")]
    assert here.iloc[3] == f"{table['accuracy'][:3].mean():.3f}"
    assert here.iloc[4] == f"{table['accuracy'][:3].std():.3f}"
    assert shown[("system", "")].iloc[0] == "synthetic model, seed 0, T = 1"
    choices = calibrations.temperature_choices(votes, cases, 3, 0)
    rows = presentation.show_temperatures(choices)
    assert rows["T"].tolist()[:2] == ["1.00", "2.00"]
    assert rows["T"].iloc[2].count("/") == 2
    at_limit = choices.assign(temperature=20.0)
    assert set(presentation.show_temperatures(at_limit)["T"]) == {"20.00†"}
    classwise = presentation.show_classwise(calibrations.classwise_errors(votes, cases))
    assert set(classwise["rounds to the paper’s"]) <= {"yes", "no"}


def test_figures_show_every_case(votes, cases):
    bins = calibrations.reliability(votes, calibrations.with_seed(cases, 0))
    figure = plots.plot_reliability(bins)
    assert [axis.get_title().replace("\n", " ") for axis in figure.axes[:3]] == [
        "synthetic model, seed 0, T = 1", "synthetic model, seed 0, T = 2", "oracle (the votes)",
    ]  # fmt: skip
    for axis in figure.axes[3:]:
        assert sum(bar.get_height() for bar in axis.patches) == len(votes)
    axis = plots.plot_two_targets(calibrations.two_targets(votes, cases)).axes[0]
    assert len(axis.get_yticklabels()) == len(cases)


def test_temperatures_are_applied_alike_here_and_to_systems(cases):
    as_it_is, scaled = cases[0].predictions, cases[3].predictions
    tempered = temper(as_it_is.probabilities, 2.0)
    np.testing.assert_allclose(tempered, scaled.probabilities, atol=1e-12)

import math

import numpy as np
import pytest
from helpers.evidence import evidence_of, first_items, on_items

from chaos_utils.analyses import ceilings
from chaos_utils.base.errors import ChaosError
from chaos_utils.metrics.measures import MEASURES, EvalBatch
from chaos_utils.metrics.priors import draw_truths, fit_grid
from chaos_utils.report.columns import lay_out
from chaos_utils.scoring import systems
from chaos_utils.scoring.draws import draw_crowds, measure_draws
from chaos_utils.scoring.references import UNSETTLED, References
from chaos_utils.scoring.scores import score

budgets = ceilings.annotation_budget.function
bounds = ceilings.noise_ceiling.function
normalised = ceilings.normalised_scores.function
bought = ceilings.items_by_votes.function


def test_rescaled_scores_put_the_uniform_prediction_at_0_and_agree_with_evaluate(sample):
    votes = sample[0]
    several = systems.load_systems(votes)
    table = normalised(votes, several, n_draws=4, n_resamples=50, seed=0)
    everyone = [*several, *systems.baselines(votes)]
    uniform = table[(table["system"] == "uniform guess") & table["rescaled"].notna()]
    assert {"jsd", "dist_ce", "ent_ce"} <= set(uniform["measure"])
    np.testing.assert_allclose(uniform[["rescaled", "rescaled_low", "rescaled_high"]], 0)
    computed = score(votes, everyone, measures=["jsd", "rank_cs_expected"], n_resamples=50)
    merged = computed.merge(table, on=["dataset", "system", "measure"], suffixes=("", "_here"))
    assert len(merged) == 2 * len(everyone)
    for column in ("value", "low", "high"):  # one interval on every page
        np.testing.assert_allclose(merged[f"{column}_here"], merged[column])


def test_chance_and_plug_in_errors_of_systems_are_shown_as_they_are(sample):
    for votes in sample[1:]:
        table = normalised(votes, [], n_draws=2, n_resamples=20, seed=0)
        k = votes.dataset.n_classes
        for name, chance in (("new_accuracy", 1 / k), ("rank_cs_expected", 1 / math.factorial(k))):
            np.testing.assert_allclose(table.loc[table["measure"] == name, "uniform"], chance)
    of_bins = table["measure"] == "ece_votes"
    assert table.loc[of_bins, ["low", "high"]].isna().all(axis=None)


def test_a_crowd_as_a_system_scores_about_1(sample):
    # It is as one draw of the second crowd.
    votes = sample[0]
    truth = draw_truths(votes.counts, fit_grid(votes.counts), np.random.default_rng(1))
    (shares,) = draw_crowds(truth, 100, np.random.default_rng(2))
    crowd = systems.computed("crowd", votes, shares, origin="yours")
    table = normalised(votes, [crowd], n_draws=8, n_resamples=50, seed=0)
    by_measure = table[table["system"] == "crowd"].set_index("measure")["rescaled"]
    assert by_measure[["jsd", "dist_ce", "ent_ce"]].tolist() == pytest.approx([1] * 3, abs=0.05)


def test_a_system_is_set_beside_references_on_its_own_items(sample):
    votes = sample[0]
    rows = np.arange(len(votes))[::-2]
    turned = systems.computed("part", votes, votes.shares[:, ::-1], origin="yours")
    part = on_items(turned, rows)
    table = normalised(votes, [part], n_draws=3, n_resamples=20, seed=0)
    jsd = table[table["measure"] == "jsd"].set_index("system")
    assert jsd.loc["part", "n_items"] == len(rows)
    expected = References(votes, 3).perfect_model("jsd").columns[:, np.sort(rows)].mean()
    assert jsd.loc["part", "perfect_model"] == pytest.approx(expected)
    assert jsd.loc["part", "uniform"] != jsd.loc["old label", "uniform"]


def test_the_budget_table_falls_towards_0_and_is_symmetric_where_the_measure_is(sample):
    table = budgets(sample[0], n_draws=3, seed=0)
    values = table.set_index(["measure", "n_votes", "quantity"])["value"].unstack()
    assert (values.loc["jsd", "perfect_model"].diff().dropna() < 0).all()
    # Ties share an item on either side, so which labels come first has no say.
    for measure in ("jsd", "new_accuracy"):
        of_measure = values.loc[measure]
        np.testing.assert_allclose(of_measure["perfect_model"], of_measure["error"])
    assert values.loc[("ece_votes", 2), "error"] > values.loc[("ece_votes", 2), "perfect_model"]
    assert values.loc["kl", "error"].isna().all()


def test_one_budget_buys_bias_or_standard_error(sample):
    with pytest.raises(ChaosError, match="budget"):
        bought(sample[0], [], budget=0, n_draws=2, seed=0)
    table = bought(sample[0], [], budget=1000, n_draws=4, seed=0)
    assert list(table["system"].unique()) == ["uniform guess", "old label"]
    assert (table["n_items"] == 1000 // table["n_votes"]).all()
    uniform = table[table["system"] == "uniform guess"].set_index("n_votes")
    # With one vote the uniform guess scores the same on every item.
    vote, even, label = np.eye(3)[:1], np.full((1, 3), 1 / 3), np.zeros(1, int)
    one_hot = MEASURES["jsd"].value(EvalBatch(vote, even, label, label, label))
    assert uniform.loc[1, "value"] == pytest.approx(one_hot)
    assert uniform.loc[1, "standard_error"] == pytest.approx(0, abs=1e-9)
    assert uniform.loc[1, "bias"] > uniform.loc[10, "bias"] > uniform.loc[100, "bias"]
    total = np.hypot(table["bias"], table["standard_error"])
    np.testing.assert_allclose(table["total_error"], total)


def test_bias_and_standard_error_are_those_of_repeated_studies(sample):
    votes = sample[0]
    table = bought(votes, [], budget=500, n_draws=20, seed=0)
    said = table[table["system"] == "old label"].set_index("n_votes").loc[5]
    rng = np.random.default_rng(9)
    truths = draw_truths(votes.counts, fit_grid(votes.counts), rng, 20)
    items = rng.integers(len(votes), size=(600, 100))
    chosen = truths[rng.integers(20, size=items.shape), items]
    certain = systems.old_label(votes).probabilities
    jsd = MEASURES["jsd"]
    studies = measure_draws(jsd, draw_crowds(chosen, 5, rng), certain[items]).values
    exact = measure_draws(jsd, truths, np.broadcast_to(certain, (20, *certain.shape)))
    assert said["n_items"] == 100
    assert studies.std() == pytest.approx(said["standard_error"], rel=0.1)
    assert studies.mean() - exact.value == pytest.approx(said["bias"], abs=0.004)


@pytest.mark.slow
def test_the_posterior_predicts_measured_half_crowds(released):
    names = ["jsd", "dist_ce", "ent_ce", "new_accuracy", "rank_cs_expected"]
    for votes in released:
        table = bounds(votes, n_draws=4, seed=0).set_index("measure").loc[names]
        assert (table["n_half"] == 50).all()
        np.testing.assert_allclose(table["half_drawn"], table["half_measured"], rtol=0.03)


def test_references_are_set_as_text_but_for_one_that_is_all_noise(sample):
    few = evidence_of(first_items(sample[0], 60))
    table = ceilings.noise_ceiling(few, n_draws=3, seed=0).rows
    at = table.index[table["measure"] == "ece_votes"]
    columns = [f"second_crowd_{name}" for name in ("halves", "posterior", "se")]
    table.loc[at, columns] = 0.001, 0.004, 0.0015
    assert _second_crowds(table)[MEASURES["ece_votes"].title] == UNSETTLED
    table.loc[at, columns] = float("nan"), 0.004, 0.0015  # without halves
    ends = _second_crowds(table)
    assert ends[MEASURES["ece_votes"].title] == "0.004"
    assert ends[MEASURES["kl"].title] == "–"


def _second_crowds(table):
    """Return how the second crowd is written, by measure."""
    header, cells = lay_out(table, ceilings.CEILING_COLUMNS)
    column = header.index(["second crowd"])
    return {row[1]: row[column] for row in cells}

from dataclasses import replace

import numpy as np
import pytest

from chaos_utils.base.errors import ChaosError
from chaos_utils.evaluation import budgets, ceilings
from chaos_utils.metrics.measures import MEASURES, Judged
from chaos_utils.presentation import ceilings as presentation
from chaos_utils.scoring import systems
from chaos_utils.scoring.draws import draw_crowds, draw_posterior, repeated
from chaos_utils.scoring.references import References, extrapolation_weights, split_sizes
from chaos_utils.scoring.scores import score

ALPHA = (0.4, 0.7, 0.3)  # about what fits SNLI
SMOOTH = ("jsd", "dist_ce", "ent_ce")


def truths_of(shares, n_draws):
    return np.broadcast_to(shares, (n_draws, *shares.shape))


def floors(truths, n_votes, rng, names=SMOOTH):
    crowd = draw_crowds(truths, n_votes, rng)
    return np.array([repeated(MEASURES[name], crowd, truths).value for name in names])


@pytest.fixture(scope="module")
def world():
    """Items whose true distributions are known, and a few votes on each."""
    rng = np.random.default_rng(5)
    truth = rng.dirichlet(ALPHA, size=3000)
    return truth, rng.multinomial(15, truth), rng


def test_floor_from_the_posterior_is_the_true_one_and_from_vote_shares_is_not(world):
    truth, counts, rng = world
    true = floors(truths_of(truth, 8), 15, rng)
    posterior = floors(draw_posterior(counts, 8, rng), 15, rng)
    plugged_in = floors(truths_of(counts / 15, 8), 15, rng)
    np.testing.assert_allclose(posterior, true, rtol=0.04)
    assert (plugged_in < 0.92 * true).all()


def test_votes_drawn_from_vote_shares_count_the_noise_twice(world):
    truth, counts, rng = world
    new = draw_crowds(truths_of(truth, 4), 15, rng)
    model = truths_of(truth, 4)
    again = draw_crowds(truths_of(counts / 15, 4), 15, rng)
    for name in ("jsd", "dist_ce"):
        # Two layers of sampling noise instead of one: about √2 as much.
        true = repeated(MEASURES[name], new, model).value
        assert repeated(MEASURES[name], again, model).value > 1.25 * true


def test_both_ceilings_find_the_true_one(sample):
    rng = np.random.default_rng(6)
    truth = truths_of(rng.dirichlet(ALPHA, size=3000), 8)
    counts = rng.multinomial(100, truth[0])
    votes = replace(sample[0], uids=tuple(map(str, range(3000))), counts=counts)
    found = References(votes, 2)
    for name in SMOOTH:
        crowds = (draw_crowds(truth, 100, rng) for _ in range(2))
        true = repeated(MEASURES[name], *crowds).value
        assert found.crowds(name).value == pytest.approx(true, rel=0.04)
        assert found.halves(name).value == pytest.approx(true, rel=0.04)


def test_extrapolation_recovers_a_curve_of_its_form():
    sizes = np.array([10, 20, 30, 40, 50])

    def curve(m):
        return 0.01 + 0.3 * m**-0.5 - 0.2 / m

    weights = extrapolation_weights(list(sizes), 100)
    assert weights.sum() == pytest.approx(1)
    assert weights @ curve(sizes) == pytest.approx(curve(100))


def test_extrapolation_needs_three_sizes():
    with pytest.raises(ValueError, match="sizes"):
        extrapolation_weights([10, 20, 20], 100)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [([[60, 30, 10]], [10, 20, 30, 40, 50]), ([[3, 2, 1]], [1, 2, 3]), ([[3, 1, 1]], [])],
)
def test_split_sizes(counts, expected):
    assert split_sizes(counts) == expected


def test_a_binned_measure_is_judged_draw_by_draw():
    # Two draws miss in opposite directions: their gaps must not cancel.
    model = np.full((2, 4, 2), [0.6, 0.4])
    human = np.stack([np.full((4, 2), [1.0, 0.0]), np.full((4, 2), [0.2, 0.8])])
    found = repeated(MEASURES["ece_votes"], human, model)
    np.testing.assert_allclose(found.values, [0.4, 0.4])
    assert found.value == pytest.approx(0.4)


def test_means_of_the_table_give_the_value(sample):
    crowd = draw_posterior(sample[0].counts, 3, np.random.default_rng(0))
    model = truths_of(sample[0].shares, 3)
    for measure in MEASURES.values():
        found = repeated(measure, crowd, model)
        assert found.of_means(found.table.mean(axis=0)[np.newaxis])[0] == pytest.approx(found.value)


def test_any_measure_has_references(sample):
    table = ceilings.reference_scores(References(sample[0], 2), MEASURES).set_index("measure")
    assert list(table.index) == list(MEASURES)
    assert table["floor"].notna().all()
    assert (table["ceiling_halves_error"].dropna() > 0).any()
    without = table.index[table["ceiling_halves"].isna()]
    assert set(without) == {"kl", "cross_entropy"}


def test_what_cannot_be_read_off_split_halves_is_drawn(others):
    for votes in others:  # halves of three votes for 13; five votes
        found = References(votes, 2)
        assert found.halves("jsd") is None
        assert found.second_crowd("jsd").value == found.crowds("jsd").value
    assert References(others[0], 2).measured_half("jsd") is not None


def test_no_draws_are_refused():
    with pytest.raises(ValueError, match="n_draws"):
        draw_posterior([[3, 2]], 0, np.random.default_rng(0))


def test_normalised_scores_put_the_uniform_prediction_at_0_and_agree_with_evaluate(sample):
    votes = sample[0]
    found = References(votes, 4)
    several = [*systems.load_systems(votes), systems.uniform(votes)]
    table = ceilings.normalised_scores(several, found, 50, 0)
    assert list(dict.fromkeys(table["system"])) == [system.name for system in several]
    uniform = table[(table["system"] == "uniform") & table["rescaled"].notna()]
    assert {"jsd", "dist_ce", "ent_ce"} <= set(uniform["measure"])
    np.testing.assert_allclose(uniform[["rescaled", "rescaled_low", "rescaled_high"]], 0)
    computed = score(votes, several, measures=["jsd", "rank_cs"], n_resamples=50)
    merged = computed.merge(table, on=["dataset", "system", "measure"], suffixes=("", "_here"))
    assert len(merged) == 2 * len(several)
    for column in ("value", "low", "high"):  # one interval on every page
        np.testing.assert_allclose(merged[f"{column}_here"], merged[column])
    given = table[table["rescaled"].notna()]
    assert (given["rescaled_low"] <= given["rescaled"] + 1e-12).all()
    assert (given["rescaled"] <= given["rescaled_high"] + 1e-12).all()


def test_a_crowd_as_a_system_scores_about_1(sample):
    # A second crowd is just what the ceiling is.
    votes = sample[0]
    found = References(votes, 8)
    truth = draw_posterior(votes.counts, 1, np.random.default_rng(1))
    crowd = draw_crowds(truth, 100, np.random.default_rng(2))[0]
    table = ceilings.normalised_scores([systems.computed("crowd", votes, crowd)], found, 50, 0)
    by_measure = table.set_index("measure")["rescaled"]
    for name in ("jsd", "dist_ce", "ent_ce"):
        assert by_measure[name] == pytest.approx(1, abs=0.05)


def test_a_system_is_set_beside_references_on_its_own_items(sample):
    votes = sample[0]
    found = References(votes, 3)
    whole = systems.load_systems(votes)[0]
    rows = np.arange(len(votes))[::-2]
    part = type(whole)(
        "part", whole.dataset, tuple(whole.uids[i] for i in rows), whole.probabilities[rows],
        whole.predicted[rows],
    )  # fmt: skip
    table = ceilings.normalised_scores([whole, part], found, 20, 0)
    jsd = table[table["measure"] == "jsd"].set_index("system")
    assert jsd.loc["part", "n_items"] == len(rows)
    expected = found.perfect_model("jsd").columns[:, np.sort(rows)].mean()
    assert jsd.loc["part", "floor"] == pytest.approx(expected)
    assert jsd.loc["part", "uniform"] != jsd.loc[whole.name, "uniform"]


def test_the_budget_table_falls_towards_0_and_is_symmetric_where_the_measure_is(sample):
    table = budgets.annotation_budget(sample[0], 3, 0)
    jsd = table[table["measure"] == "jsd"].pivot(
        index="n_votes", columns="quantity", values="value"
    )
    assert (jsd["floor"].diff().dropna() < 0).all()
    np.testing.assert_allclose(jsd["floor"], jsd["error"])
    ece = table[(table["measure"] == "ece_votes") & (table["n_votes"] == 2)]
    by_quantity = ece.set_index("quantity")["value"]
    assert by_quantity["error"] > by_quantity["floor"]
    assert "error" not in set(table.loc[table["measure"] == "kl", "quantity"])


def test_one_budget_buys_bias_or_standard_error(sample):
    votes = sample[0]
    several = [systems.uniform(votes), systems.old_label(votes)]
    table = budgets.items_by_votes(votes, several, 1000, 4, 0)
    assert (table["n_items"] == 1000 // table["n_votes"]).all()
    uniform = table[table["system"] == "uniform"].set_index("n_votes")
    # With one vote the uniform prediction scores the same on every item.
    vote, even, label = np.eye(3)[:1], np.full((1, 3), 1 / 3), np.zeros(1, int)
    one_hot = MEASURES["jsd"].value(Judged(vote, even, label, label, label))
    assert uniform.loc[1, "value"] == pytest.approx(one_hot)
    assert uniform.loc[1, "standard_error"] == pytest.approx(0, abs=1e-9)
    assert uniform.loc[1, "bias"] > uniform.loc[10, "bias"] > uniform.loc[100, "bias"]
    assert uniform.loc[10, "standard_error"] < uniform.loc[100, "standard_error"]
    np.testing.assert_allclose(
        table["total_error"] ** 2, table["bias"] ** 2 + table["standard_error"] ** 2
    )


def test_bias_and_standard_error_are_those_of_repeated_studies(sample):
    votes = sample[0]
    table = budgets.items_by_votes(votes, [systems.old_label(votes)], 500, 20, 0)
    said = table.set_index("n_votes").loc[5]
    rng = np.random.default_rng(9)
    truths = draw_posterior(votes.counts, 20, rng)
    items = rng.integers(len(votes), size=(600, 100))
    chosen = truths[rng.integers(20, size=items.shape), items]
    model = systems.old_label(votes).probabilities[items]
    jsd = MEASURES["jsd"]
    studies = repeated(jsd, draw_crowds(chosen, 5, rng), model).values
    exact = repeated(jsd, truths, truths_of(systems.old_label(votes).probabilities, 20))
    assert said["n_items"] == 100
    assert studies.std() == pytest.approx(said["standard_error"], rel=0.1)
    assert studies.mean() - exact.value == pytest.approx(said["bias"], abs=0.004)


def test_a_budget_without_a_vote(sample):
    with pytest.raises(ChaosError, match="budget"):
        budgets.items_by_votes(sample[0], [systems.uniform(sample[0])], 0, 2, 0)


def test_published_humans_stand_at_our_ceiling(released):
    for votes in released:
        found = References(votes, 4)
        table = ceilings.estimated_human(found).set_index("measure")
        assert table.loc["jsd", "rescaled"] == pytest.approx(1, abs=0.04)
        assert table.loc["new_accuracy", "value"] < table.loc["new_accuracy", "floor"]
        assert np.isnan(table.loc["kl", "rescaled"])


def test_the_posterior_predicts_measured_half_crowds(released):
    names = ["jsd", "dist_ce", "new_accuracy", "rank_cs"]
    for votes in released:
        found = References(votes, 4)
        table = ceilings.reference_scores(found, names).set_index("measure")
        assert (table["n_half"] == 50).all()
        np.testing.assert_allclose(table["half_drawn"], table["half_measured"], rtol=0.09)


def test_tables_are_set_as_text(sample):
    votes = sample[0]
    found = References(votes, 3)
    bounds = presentation.show_noise_ceiling(ceilings.reference_scores(found))
    assert len(bounds) == len(ceilings.NAMES)
    scores = ceilings.normalised_scores([systems.uniform(votes)], found, 20, 0)
    shown = presentation.show_normalised_scores(scores)
    # Floor, ceiling and the system; the ceiling is 1, a perfect model above it.
    assert len(shown) == 3
    cells = shown[(MEASURES["jsd"].title, "rescaled")]
    assert cells[1] == "1.00"
    assert float(cells[0]) > 1
    assert cells[2].startswith("0.00 [")

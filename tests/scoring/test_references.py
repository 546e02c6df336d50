from dataclasses import replace

import numpy as np
import pytest
from helpers.predictions import votes_from

from chaos_utils.analyses.references import write_package_data
from chaos_utils.metrics.agreement import pairwise_agreement
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.resampling import split_votes
from chaos_utils.publish import records
from chaos_utils.scoring import references
from chaos_utils.scoring.draws import draw_crowds, measure_draws


def test_both_second_crowds_find_the_true_one(sample):
    rng = np.random.default_rng(6)
    truth = rng.dirichlet((0.4, 0.7, 0.3), size=2000)  # about what fits SNLI
    counts = rng.multinomial(100, truth)
    truth = np.stack([truth] * 8)
    found = references.References(votes_from(sample[0], counts), 2)
    for name in ("jsd", "dist_ce", "ent_ce"):
        crowds = (draw_crowds(truth, 100, rng) for _ in range(2))
        true = measure_draws(MEASURES[name], *crowds).value
        assert found.crowds(name).value == pytest.approx(true, rel=0.04)
        assert found.halves(name).value == pytest.approx(true, rel=0.04)


def test_a_few_other_people_differ_from_the_crowd_as_people_do(sample):
    found = references.References(sample[0], 20)
    apart = (1 - pairwise_agreement(sample[0].counts)).mean()
    # One person's distance is the chance of another answer; a hundred are a second crowd.
    assert found.people("dist_ce", 1).value == pytest.approx(apart, rel=0.02)
    crowd = found.crowds("dist_ce").value
    assert found.people("dist_ce", found.n_votes).value == pytest.approx(crowd, rel=0.02)
    assert found.people("dist_ce", 1).value > found.people("dist_ce", 5).value > crowd
    assert found.people("kl", 5) is None


def test_extrapolation_recovers_a_curve_of_its_form():
    sizes = np.array([10, 20, 30, 40, 50])

    def curve(m):
        return 0.01 + 0.3 * m**-0.5 - 0.2 / m

    weights = references.extrapolation_weights(list(sizes), 100)
    assert weights.sum() == pytest.approx(1)
    assert weights @ curve(sizes) == pytest.approx(curve(100))


def test_a_binned_measure_is_judged_draw_by_draw():
    # Two draws miss in opposite directions: their gaps must not cancel.
    model = np.full((2, 4, 2), [0.6, 0.4])
    human = np.stack([np.full((4, 2), [1.0, 0.0]), np.full((4, 2), [0.2, 0.8])])
    found = measure_draws(MEASURES["ece_votes"], human, model)
    np.testing.assert_allclose(found.values, [0.4, 0.4])
    assert found.value == pytest.approx(0.4)


def test_what_cannot_be_read_off_split_halves_is_drawn(others):
    several, few = (
        references.References(votes, 2) for votes in others
    )  # 3 of 13 votes are half; 5 votes
    for found in (several, few):
        assert found.halves("jsd") is None
        assert found.second_crowd("jsd").value == found.crowds("jsd").value
    assert several.checks("jsd")["half_measured"] > 0


def test_any_measure_has_references(sample, monkeypatch):
    monkeypatch.setattr(references, "REFITS", 20)
    found = references.References(sample[0], 10)
    assert all(np.isfinite(found.perfect_model(name).value) for name in MEASURES)
    without = {name for name in MEASURES if found.second_crowd(name) is None}
    assert without == {"kl", "cross_entropy"}
    low, high = found.perfect_model_interval("dist_ce")
    assert low < found.perfect_model("dist_ce").value < high
    assert np.isnan(found.perfect_model_interval("ece_votes")).all()
    # The perfect model is at no distance from all people; a crowd's is its own noise.
    assert found.perfect_model("sq_distance").value == pytest.approx(0, abs=0.0005)
    noise = (1 - (sample[0].shares ** 2).sum(axis=1)).mean() / 99
    assert found.crowds("sq_distance").value == pytest.approx(noise, rel=0.15)


@pytest.mark.parametrize("n_votes", [5, 20])
def test_few_votes_give_a_second_crowd_that_is_close_to_the_true_one(released, n_votes):
    for votes in released:
        rng = np.random.default_rng(3)
        known = split_votes(votes.counts, (n_votes,), rng)[0]
        found = references.References(
            replace(votes, counts=known, majority=known.argmax(axis=1)), 8
        )
        pairs = [split_votes(votes.counts, (n_votes, n_votes), rng)[:2] for _ in range(8)]
        one, other = np.swapaxes(pairs, 0, 1) / n_votes
        for name in ("jsd", "dist_ce", "ent_ce", "new_accuracy", "ece_votes"):
            assert found.halves(name) is None  # their curve would be wrong by far
            measured = measure_draws(MEASURES[name], one, other).value
            value = found.second_crowd(name).value
            assert 0 <= value <= MEASURES[name].high_for(votes.dataset.n_classes)
            assert value == pytest.approx(measured, rel=0.12, abs=0.02), (votes.dataset.name, name)


def test_a_second_crowd_indistinguishable_from_0_is_said_to_be_so(sample):
    assert references.is_settled("ece_votes", 0.005, 0.001)
    assert not references.is_settled("ece_votes", 0.0015, 0.001)
    assert references.is_settled("signed_ent_ce", 0.0, 0.1)  # 0 is what it should be
    assert references.is_settled("new_accuracy", 0.9, 1.0)
    assert references.is_settled("jsd", 0.06, np.nan)


def test_the_standard_error_is_that_of_other_items(sample):
    rng = np.random.default_rng(0)
    values = []
    for _ in range(30):
        counts = rng.multinomial(50, rng.dirichlet((0.4, 0.7, 0.3), size=200))
        found = references.References(votes_from(sample[0], counts), 5)
        values.append(found.second_crowd("jsd").value)
    assert found.second_crowd_error("jsd") == pytest.approx(np.std(values), rel=0.4)


def test_the_package_s_data_are_those_of_the_recorded_tables(tmp_path):
    written = write_package_data(records.folder(), tmp_path)
    assert {path.name for path in written} == {path.name for path in references.KNOWN.glob("*.csv")}
    assert all(path.read_bytes() == (references.KNOWN / path.name).read_bytes() for path in written)


def test_other_votes_and_other_seeds_are_not_known(released, sample):
    votes = released[0]
    assert references.known_rows(votes)
    assert not references.known_rows(votes, seed=1)
    assert not references.known_rows(sample[0])
    half = replace(votes, uids=votes.uids[::2], counts=votes.counts[::2])
    assert not references.known_rows(half)

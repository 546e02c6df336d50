"""Claims, the rules that judge them, and what the released data say."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from chaos_utils.evaluation import claims, error_distributions
from chaos_utils.evaluation.claims_numbers import (
    classwise_columns,
    classwise_percent,
    votes_scored,
)
from chaos_utils.evaluation.claims_rules import (
    FAILS,
    HOLDS,
    NOISE,
    OPEN,
    VERDICTS,
    Claim,
    Estimate,
    Evidence,
    UnavailableError,
    by_count,
    by_number,
    by_order,
    least_favourable,
    not_checkable,
    weakest,
)
from chaos_utils.metrics import scores
from chaos_utils.metrics.calibration import classwise_calibration_error
from chaos_utils.metrics.divergence import total_variation
from chaos_utils.metrics.measures import BAAN_BINS, MEASURES
from chaos_utils.plots.claims import plot_claims
from chaos_utils.presentation.claims import show_claims, show_counts
from chaos_utils.report.parameters import find_notebook, read_parameters
from chaos_utils.scoring.recalibration import temper
from chaos_utils.scoring.systems import load_systems, oracle, uniform


def gather(all_votes, systems=None, n_resamples=200, n_splits=10):
    if systems is None:
        systems = {o.dataset.name: load_systems(o, trained=False) for o in all_votes}
    return claims.gather(all_votes, systems, n_resamples=n_resamples, n_splits=n_splits, seed=0)


@pytest.fixture(scope="module")
def material(released):
    found = gather(released)
    if not found.systems["snli"]:
        pytest.skip("the released predictions are not available")
    return found


@pytest.fixture(scope="module")
def table(material):
    return claims.check_claims(material).set_index("id")


def check(number, material):
    (claim,) = (claim for claim in claims.CLAIMS if claim.id == f"c{number:02d}")
    return claim.decide(material)


@pytest.mark.parametrize(
    ("estimate", "verdict"),
    [
        (Estimate(0.7496, 0.7, 0.8), HOLDS),
        (Estimate(0.7495, 0.7, 0.8), HOLDS),
        (Estimate(0.74, 0.7, 0.8), NOISE),
        (Estimate(0.74, 0.73, 0.7494), FAILS),
        (Estimate(0.74, 0.73, 0.7495), NOISE),
        (Estimate(0.74), FAILS),
        (Estimate(0.75), HOLDS),
    ],
)
def test_a_number_is_judged_by_its_digits_then_by_its_interval(estimate, verdict):
    assert by_number(estimate, 0.75, 0.0005, "").verdict == verdict


@pytest.mark.parametrize(
    ("estimate", "verdict"),
    [
        (Estimate(2, 1.1, 3), HOLDS),
        (Estimate(2, 0.9, 3), NOISE),
        (Estimate(0.9, 0.5, 1.2), NOISE),
        (Estimate(0.5, 0.2, 0.9), FAILS),
        (Estimate(1.5), HOLDS),
        (Estimate(1), FAILS),
    ],
)
def test_an_order_is_judged_by_the_side_that_the_interval_is_on(estimate, verdict):
    assert by_order(estimate, 1, "").verdict == verdict


def test_a_claim_about_all_falls_with_one_exception():
    assert by_count(9, 9, "").verdict == HOLDS
    assert by_count(8, 9, "").verdict == FAILS


def test_the_parts_of_a_claim_are_joined_by_the_worst():
    def part(value, verdict):
        return Evidence(value, np.nan, np.nan, verdict, "part")

    parts = [part(1, HOLDS), part(2, FAILS), part(3, NOISE), part(4, FAILS)]
    joined = least_favourable(parts, "all")
    assert (joined.value, joined.verdict, joined.text) == (2, FAILS, "all")
    assert least_favourable(parts[:1], "").verdict == HOLDS
    assert weakest([Estimate(2), Estimate(1), Estimate(3)]).value == 1


def test_what_is_not_at_hand_is_left_open():
    def missing(material):
        raise UnavailableError("no votes")

    evidence = Claim("c00", "nie2020", "", "", missing).decide(None)
    assert (evidence.verdict, evidence.text) == (OPEN, "no votes")
    assert np.isnan(not_checkable("").value)


def test_claims_are_numbered_told_in_words_and_many():
    ids = [claim.id for claim in claims.CLAIMS]
    assert ids == [f"c{number:02d}" for number in range(1, len(ids) + 1)]
    assert len(ids) >= 25
    assert {claim.paper for claim in claims.CLAIMS} == {"nie2020", "baan2022"}
    assert all(claim.claim.endswith(".") and claim.place for claim in claims.CLAIMS)


def test_verdicts_on_the_released_data(table):
    verdicts = table["verdict"]
    assert set(verdicts) == set(VERDICTS)
    expected = {
        HOLDS: ["c01", "c02", "c03", "c04", "c07", "c08", "c09", "c10", "c12", "c19", "c21", "c22",
                "c27", "c31", "c33", "c38", "c40", "c41", "c42", "c43", "c44", "c45", "c46", "c47",
                "c53", "c56", "c59"],
        FAILS: ["c06", "c14", "c15", "c23", "c24", "c32", "c34", "c36", "c48", "c57", "c60",
                "c61"],
        NOISE: ["c16"],
        OPEN: ["c20", "c39", "c55"],
    }  # fmt: skip
    for verdict, ids in expected.items():
        assert (verdicts[ids] == verdict).all(), verdicts[ids]


def test_numbers_of_the_released_data(table):
    value = table["value"]
    assert value["c01"] == 464_500
    assert value[["c04", "c02", "c03"]].round(2).tolist() == [10.64, 24.97, 31.77]
    assert value["c15"] == pytest.approx(0.8326, abs=5e-5)
    assert value["c40"] == pytest.approx(0.245, abs=5e-4)
    assert value["c43"] == 35
    assert value["c51"] == pytest.approx(0.0705, abs=0.001)
    assert value["c58"] == pytest.approx(16.50, abs=0.01)
    assert 1.0 < value["c48"] < 1.3
    known = table.dropna(subset="low")
    assert (known["low"] <= known["value"]).all()
    assert (known["value"] <= known["high"]).all()


def test_a_verdict_follows_the_votes(material, released):
    """With nothing changed, or all of it, the change rates of Table 2 do not hold."""
    assert check(2, material).verdict == HOLDS
    snli = released[0]
    same = gather([replace(snli, majority=snli.old_label), *released[1:]], material.systems)
    assert check(2, same).verdict == FAILS
    assert check(7, same).verdict == FAILS
    assert check(12, material).verdict == HOLDS
    swapped = replace(
        material, by_dataset={"snli": released[1], "mnli": released[0], "alphanli": released[2]}
    )
    assert check(12, swapped).verdict == FAILS
    assert check(9, swapped).verdict == FAILS


def test_a_shape_follows_the_votes(material, released):
    assert check(10, material).verdict == HOLDS
    alphanli = released[2]
    flat = np.column_stack([np.full(len(alphanli), 90), np.full(len(alphanli), 10)])
    peaked = replace(
        material, by_dataset={**material.by_dataset, "alphanli": replace(alphanli, counts=flat)}
    )
    assert check(10, peaked).verdict == FAILS
    uneven = replace(released[0], counts=np.tile([100, 0, 0], (len(released[0]), 1)))
    unanimous = replace(material, by_dataset={**material.by_dataset, "snli": uneven})
    assert check(11, material).verdict == HOLDS
    assert check(11, unanimous).verdict != HOLDS
    assert check(13, unanimous).verdict == FAILS


def test_verdicts_on_models_follow_the_predictions(material, released):
    """A perfect model is not better calibrated than the oracle, nor worse than twenty people."""
    snli = released[0]
    perfect = replace(material, systems={"snli": [oracle(snli)]})
    assert check(42, material).verdict == HOLDS
    assert check(42, perfect).verdict == FAILS
    assert check(53, material).verdict == HOLDS
    assert check(53, perfect).verdict == FAILS
    assert check(45, perfect).verdict == FAILS
    assert check(44, perfect).verdict == FAILS
    assert check(35, perfect).verdict != HOLDS
    assert check(38, perfect).verdict == OPEN


def test_a_reader_s_model_takes_part_in_claims_about_all(material, released):
    snli = released[0]
    both = replace(material, systems={"snli": [*material.systems["snli"], oracle(snli)]})
    assert check(42, both).verdict == FAILS
    assert check(43, both).verdict == HOLDS  # the printed table is of the paper's models alone


def test_without_predictions_claims_about_models_are_open(released):
    bare = gather(released, {votes.dataset.name: [] for votes in released})
    for number in (35, 38, 42, 43, 44, 53, 54, 56, 59):
        evidence = check(number, bare)
        assert evidence.verdict == OPEN
        assert evidence.text
    assert check(2, bare).verdict == HOLDS


def test_on_the_sample_every_claim_has_a_verdict(sample):
    table = claims.check_claims(gather(sample))
    assert len(table) == len(claims.CLAIMS)
    assert set(table["verdict"]) <= set(VERDICTS)
    open_ids = set(table.loc[table["verdict"] == OPEN, "id"])
    assert {"c07", "c08", "c43", "c48"} <= open_ids


def test_intervals_are_seeded_and_narrow_with_paired_items(material):
    one, other = material.everyone("snli")[:2]
    assert material.gain("jsd", one, other) == material.gain("jsd", one, other)
    gain = material.gain("jsd", one, other)
    apart = [material.score("jsd", [judged]) for judged in (one, other)]
    assert gain.value == pytest.approx(apart[1].value - apart[0].value)
    assert gain.high - gain.low < sum(e.high - e.low for e in apart)
    assert material.gain("ece", one, one).value == 0
    scaled = replace(one, model=temper(one.model, 2.0))
    expected = MEASURES["ece"].value(scaled) - MEASURES["ece"].value(one)
    assert material.gain("ece", one, scaled).value == pytest.approx(expected)


def test_a_percentile_is_that_of_the_chapter_on_errors(material, released):
    """Both chapters draw H1 and H2 alike, so a printed value has one place among the draws."""
    by_draw = error_distributions.errors_by_draw(
        released[0], [], n_seeds=material.n_splits, first_seed=0
    )
    summary = error_distributions.summarise_draws(released[0], by_draw).set_index(
        ["measure", "system"]
    )
    for number, name in ((51, "H1"), (52, "H2")):
        row = summary.loc[("dist_ce", name)].query("reference == 'all'").iloc[0]
        evidence = check(number, material)
        assert evidence.value == pytest.approx(row["mean"], abs=1e-12)
        assert f"{row['percentile_notebook']:.0f}% of the splits" in evidence.text
    chapters = [
        {one.name: one.default for one in read_parameters(find_notebook(name))}
        for name in ("claims", "error_distributions")
    ]
    assert (chapters[0]["splits"], chapters[0]["seed"]) == (
        chapters[1]["n_seeds"],
        chapters[1]["seed"],
    )


@pytest.mark.parametrize("divide_by", ["all", "binned"])
def test_classwise_error_from_means_is_the_measure(released, divide_by):
    judged = oracle(released[0]).aligned_to(released[0])
    found = classwise_percent(classwise_columns(judged).mean(axis=0), divide_by=divide_by)
    expected = classwise_calibration_error(
        judged.model, judged.first_majority, BAAN_BINS, divide_by=divide_by
    )
    assert found == pytest.approx(100 * expected)


def test_total_variation_to_single_votes_prefers_the_majority():
    """1 − h·m is smallest with all of m on the majority; the Brier score is smallest at h."""
    human = np.array([[0.6, 0.3, 0.1], [0.5, 0.5, 0.0]])
    rng = np.random.default_rng(0)
    majority = np.eye(3)[human.argmax(axis=1)]
    by_tvd = votes_scored(human, majority, total_variation)
    assert by_tvd == pytest.approx([0.4, 0.5])
    assert votes_scored(human, human, total_variation) == pytest.approx([0.54, 0.5])
    for model in rng.dirichlet(np.ones(3), size=(100, 2)):
        assert (votes_scored(human, model, total_variation) >= by_tvd - 1e-12).all()
        truthful = votes_scored(human, human, scores.brier_of_votes)
        assert (votes_scored(human, model, scores.brier_of_votes) >= truthful - 1e-12).all()


def test_counts_and_their_figure(table):
    counts = claims.count_verdicts(table.reset_index())
    assert counts["n"].sum() == len(table)
    assert len(counts) == 2 * len(VERDICTS)
    (axis,) = plot_claims(counts).axes
    widths = sum(patch.get_width() for patch in axis.patches)
    assert widths == len(table)
    assert "do not hold" in show_counts(counts)


def test_the_table_is_set_with_marks_and_intervals():
    table = pd.DataFrame(
        {
            "id": ["c01", "c02", "c03"],
            "paper": "nie2020",
            "place": "Table 2",
            "claim": "It is so.",
            "evidence": "A rate.",
            "value": [24.967, 35, np.nan],
            "low": [22.9, np.nan, np.nan],
            "high": [27.1, np.nan, np.nan],
            "verdict": [HOLDS, FAILS, OPEN],
        }
    )
    shown = show_claims(table)
    assert shown["value"].tolist() == ["24.97 [22.90, 27.10]", "35", "–"]
    assert shown["verdict"].iloc[1] == "✗ does not hold"
    assert shown["place"].iloc[0] == "Nie et al. 2020, Table 2"


def test_the_uniform_guess_ranks_nothing(sample):
    """A claim's check takes a system whose labels are all tied."""
    snli = sample[0]
    even = gather(sample, {"snli": [uniform(snli)]})
    assert check(47, even).verdict == HOLDS
    assert check(42, even).verdict in VERDICTS


def test_too_few_items_for_bins_are_said(material):
    few = [
        replace(
            o, uids=o.uids[:3], counts=o.counts[:3], majority=o.majority[:3],
            given_old_label=o.old_label[:3], given_old_votes=o.old_votes[:3], texts=o.texts[:3],
        )
        for o in material.by_dataset.values()
    ]  # fmt: skip
    evidence = check(37, gather(few, {}))
    assert evidence.verdict == OPEN
    assert "3 items" in evidence.text

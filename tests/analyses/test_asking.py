"""How language models are asked: equal numbers of answers, references, and what each way shows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_of
from helpers.pictures import smallest_letters

from chaos_utils.analyses import asking
from chaos_utils.analyses.inputs import gather
from chaos_utils.base import style
from chaos_utils.datasets.auxiliary_data import AuxiliaryData
from chaos_utils.plots.machine_crowds import plot_asking
from chaos_utils.scoring.systems import synthetic_systems

FEW = {"n_resamples": 100, "confidence": 0.95, "seed": 0}
N = asking.FEWEST_ITEMS


def answers_of(rows):
    """Return answers on a scale: of each model and item, a list."""
    table = [
        {"uid": uid, "model": model, "setting": "temperature" if model else "", "value": "1"
         if model else "", "answer": answer}
        for model, by_uid in rows.items() for uid, answers in by_uid.items() for answer in answers
    ]  # fmt: skip
    return AuxiliaryData("invented/*", lambda: pd.DataFrame(table))


@pytest.fixture(scope="module")
def rows(sample):
    """What comes out for people around an item's own number, and models of four kinds."""
    votes, rng = sample[0], np.random.default_rng(3)
    means = dict(zip(votes.uids[: N + 5], rng.uniform(25, 75, N + 5), strict=True))
    asked = dict(list(means.items())[:N])

    def drawn(n, spread=12, shift=0, of=asked):
        return {uid: rng.normal(mean + shift, spread, n).clip(0, 100) for uid, mean in of.items()}

    unread = {uid: [*values, *[np.nan] * 30] for uid, values in drawn(5).items()}
    answers = answers_of(
        {"": drawn(24, of=means), "alike": drawn(30), "many": drawn(300), "sure": drawn(30, 0.01),
         "shifted": drawn(30, shift=20), "unread": unread}
    )  # fmt: skip
    found = asking.settings(evidence_of(votes), answers=answers, n_splits=8, **FEW).rows
    return found.set_index("model")


def test_people_s_own_spread_is_as_near_as_other_people_however_many_answers_it_has(rows):
    distance, energy = rows["distance"], rows["energy"]
    half = distance[asking.HALF]
    assert distance["alike"] == pytest.approx(half, rel=0.12)
    assert distance["many"] == pytest.approx(half, rel=0.12)
    # All answers against all people, as the first look had it: the more, the nearer.
    assert rows.loc["many", "all_answers"] < rows.loc["alike", "all_answers"] < half
    assert abs(energy[["alike", "many", asking.HALF]]).max() < 0.4
    assert rows.loc["alike", "sd"] == pytest.approx(rows.loc[asking.HALF, "sd"], rel=0.1)
    assert rows["distance_low"].le(distance)[distance.notna()].all()
    assert rows["distance_high"].ge(distance)[distance.notna()].all()


def test_a_sure_model_is_a_single_number_and_guesses_are_far(rows):
    distance = rows["distance"]
    assert distance["sure"] == pytest.approx(distance[asking.MEDIAN], rel=0.1)
    assert rows.loc["sure", "sd"] < 0.02
    assert rows.loc[asking.MEDIAN, "over_median"] == 0
    assert distance["shifted"] == pytest.approx(20, abs=2)
    assert distance["alike"] < distance["sure"] < distance["shifted"]
    assert min(distance[asking.UNIFORM], distance[asking.BASE_RATE]) > distance["sure"]
    beyond = rows["over_median"]
    assert beyond["alike"] < 0 < beyond["shifted"]
    assert rows.loc[["alike", "many", "shifted"], "p_adjusted"].max() < 0.05


def test_too_few_readable_answers_are_not_compared(rows):
    unread = rows.loc["unread"]
    assert (unread["n_items"], unread["n_answers"], unread["n_asked"]) == (0, 5 * N, 35 * N)
    assert unread[["distance", "energy", "sd", "p"]].isna().all()
    assert (rows.drop("unread")["n_items"] == N).all()
    figure = plot_asking(rows.reset_index())
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names[1::2] == ["temperature 1"] * 4
    assert sorted(names[::2]) == ["alike", "many", "shifted", "sure"]
    assert smallest_letters(figure) >= style.smallest_type()


def test_a_model_s_settings_stand_below_its_name_by_effort_and_number(rows):
    settings = {"thinking_budget": ("512", "2048", "4096"), "reasoning_effort": ("low", "high")}
    asked = [
        {"model": "kimi-k2.6", "setting": setting, "value": value, "kind": "setting"}
        for setting, values in settings.items()
        for value in sorted(values)
    ]
    table = pd.concat([rows.reset_index(), pd.DataFrame(asked).assign(distance=30.0, sd=1.0)])
    (left, _) = plot_asking(table).axes
    labels = left.get_yticklabels()[:6]
    assert [label.get_text() for label in labels] == [
        "Kimi K2.6", "effort low", "effort high", "budget 512", "budget 2048", "budget 4096"
    ]  # fmt: skip
    assert [label.get_fontweight() for label in labels] == ["bold", *["normal"] * 5]


def test_a_way_shows_what_it_can(sample):
    votes = sample[0]
    (system, *_) = synthetic_systems(votes)
    found = asking.ways(evidence_of(votes, [system]), system=system.name, **FEW).rows
    whole = found.set_index(["way", "n_answers"])
    as_it_is = whole["people_on_top"]
    assert as_it_is.isna().tolist() == [way == "label" for way, _ in whole.index]
    by_samples = as_it_is["samples"]
    assert by_samples.index.tolist() == list(asking.N_SAMPLES)
    assert by_samples[100] == pytest.approx(as_it_is["logprobs", 1], abs=0.3)
    # A system that is not among these, as beside votes of a reader's own.
    assert not len(asking.ways(evidence_of(votes, [system]), system="other", **FEW))
    part = replace(
        system, uids=system.uids[5:], probabilities=system.probabilities[5:],
        predicted=system.predicted[5:],
    )  # fmt: skip
    found = asking.ways(evidence_of(votes, [part]), system=system.name, **FEW).rows
    assert set(found["n_items"]) == {len(votes) - 5}
    heads = [column.heading for column in asking.way_columns(found)]
    assert heads == ["asked for", "as it is", "recalibrated"]
    assert [asking.way_name(row) for row in found.to_dict("records")] == [
        "one label", "1 sample", "5 samples", "30 samples", "100 samples", "percentages, in tens",
        "log-probabilities",
    ]  # fmt: skip


def test_percentages_in_tens_sum_to_a_hundred():
    shares = np.random.default_rng(0).dirichlet((0.5, 0.7, 0.9), 400)
    tens = asking._in_steps(shares)
    assert np.allclose(tens.sum(axis=1), 1)
    assert np.allclose(tens * asking.STEPS, np.round(tens * asking.STEPS))
    assert np.abs(tens - shares).max() < 1 / asking.STEPS
    assert asking._in_steps(np.array([[0.34, 0.33, 0.33]])).tolist() == [[0.4, 0.3, 0.3]]


def test_other_votes_than_the_book_s_have_no_settings(sample):
    assert not asking.setting_inputs(gather("sample"))


@pytest.mark.published("probcopa/*")
def test_every_setting_is_about_as_far_from_people_as_their_median():
    found = asking.settings(asking.setting_inputs(gather()), n_splits=10, **FEW).rows
    rows = found.set_index("model")
    references = rows.loc[[asking.HALF, asking.MEDIAN, asking.UNIFORM], "distance"].astype(float)
    assert references.tolist() == pytest.approx([7.5, 15.2, 26.5], abs=0.7)
    settings = rows[rows["kind"] == "setting"]
    assert (len(settings), settings["distance"].notna().sum()) == (35, 34)
    assert settings["distance"].between(12, 18).sum() == 34
    assert settings["sd"].max() < 9
    # The first look: 30 answers against all people, uncorrected.
    first = settings.set_index(["setting", "value"], append=True)["all_answers"]
    assert first["gpt-5", "reasoning_effort", "low"] == pytest.approx(14.1, abs=0.05)
    assert first["GLM-4.6", "structured_personas", "psychological"] == pytest.approx(12.4, abs=0.05)
    assert settings["all_answers"].mean() < settings["distance"].mean()


@pytest.mark.published
def test_few_samples_flatter_a_model_that_is_too_sure():
    (mnli,) = gather("auto", [], datasets=["mnli"])
    found = asking.ways(mnli, system="roberta-large", n_resamples=0, confidence=0.95, seed=0).rows
    rows = found.set_index(["way", "n_answers"])
    read, mapped = rows["people_on_top"], rows["people_on_top_recalibrated"]
    assert read["samples"].tolist() == pytest.approx([0.37, -0.37, -0.84, -0.93], abs=0.06)
    assert mapped["samples"].tolist() == pytest.approx([1.46, 2.22, 2.96, 3.30], abs=0.06)
    assert (read["logprobs", 1], mapped["logprobs", 1]) == pytest.approx((-0.96, 3.85), abs=0.01)

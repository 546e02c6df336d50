"""What few votes can judge: nothing is fitted or ranked by what rewards overconfidence there."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_of
from helpers.predictions import write_shares

from chaos_utils.analyses import fitting
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.loading import load_votes
from chaos_utils.scoring.evaluate import BIASED, USUAL, evaluate_files
from chaos_utils.scoring.fitting import fit_map, log_probabilities
from chaos_utils.scoring.predictions import read_predictions
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.systems import computed
from chaos_utils.scoring.worth import RECALIBRATED

LABELS = ("good", "fair", "bad")
N = 300
RNG = np.random.default_rng(0)
TRUTH = RNG.dirichlet([1, 0.8, 0.6], N)
COUNTS = np.array([RNG.multinomial(RNG.integers(3, 6), one) for one in TRUTH])


def own_votes(folder, counts=COUNTS, labels=LABELS, name="own"):
    index = pd.Index([f"i{row}" for row in range(len(counts))], name="item")
    pd.DataFrame(counts, index, list(labels)).to_csv(folder / f"{name}.csv")
    return load_votes(name, str(folder / f"{name}.csv"))


@pytest.fixture
def votes(tmp_path):
    return own_votes(tmp_path)


def system(votes, name="mine", power=2.0):
    sharp = (TRUTH**power + 1e-4)[:, [LABELS.index(label) for label in votes.dataset.labels]]
    return computed(name, votes, sharp / sharp.sum(axis=1, keepdims=True), origin="yours")


def test_evaluate_says_that_votes_are_few_and_puts_the_unbiased_distance_first(votes, sample):
    both = [system(votes), system(votes, "sharper", 6.0)]
    answer = evaluate_files({"own": both}, [votes], n_resamples=200, seek_best=True)
    measures = list(dict.fromkeys(row["measure"] for row in answer.rows))
    assert measures[:2] == ["sq_distance", "kl"]
    assert answer.notes[0].startswith("own: few votes (median 4 per item)")
    assert {measure for _, _, measure, _ in answer.best}.isdisjoint(BIASED)
    assert not any(one.ties_share or one.are_few for one in sample)
    one = computed("m", sample[0], sample[0].shares)
    many = evaluate_files({"snli": [one]}, sample[:1], n_resamples=0)
    usual = [name for name in USUAL if name not in RECALIBRATED]  # of 300 items
    assert list(dict.fromkeys(row["measure"] for row in many.rows)) == usual
    assert not [note for note in many.notes if "few votes" in note or "tie" in note]


def test_a_second_crowd_that_beats_the_perfect_model_is_explained(tmp_path):
    """People are split about evenly, so two votes are either sure or even, and so is the crowd."""
    rng = np.random.default_rng(4)
    votes = own_votes(tmp_path, rng.multinomial(2, [0.45, 0.45, 0.1], size=N))
    one = computed("mine", votes, np.full((N, 3), 1 / 3), origin="yours")
    answer = evaluate_files({"own": [one]}, [votes], measures=["jsd", "ent_ce"], n_resamples=40)
    (note,) = (note for note in answer.notes if "second crowd scores better" in note)
    assert "EntCE" in note


def test_accuracy_does_not_depend_on_the_order_of_the_labels(votes, tmp_path):
    order = [2, 0, 1]
    other = own_votes(tmp_path, COUNTS[:, order], [LABELS[k] for k in order], name="turned")
    one, again = (score(v, [system(v)], measures=["new_accuracy"]) for v in (votes, other))
    assert one["value"].item() == pytest.approx(again["value"].item())
    n_tied = ((COUNTS.max(axis=1, keepdims=True) == COUNTS).sum(axis=1) > 1).sum()
    notes = evaluate_files({"own": [system(votes)]}, [votes], n_resamples=0).notes
    assert any(f"tie for most votes on {n_tied} of {N} items" in note for note in notes)


def test_three_votes_ask_for_the_right_temperature_by_kl_and_not_by_jsd():
    """Models twice as sure as people: T is 2, whatever the votes; JSD to few asks for less."""
    truth = np.random.default_rng(1).dirichlet([2, 1.5, 1], 4000)
    sure = truth**2 / (truth**2).sum(axis=1, keepdims=True)
    drawn = np.random.default_rng(2)
    few = np.array([drawn.multinomial(3, one) / 3 for one in truth])
    given = {"kind": "temperature"}
    logs = log_probabilities(sure)
    assert fit_map(logs, few, objective="kl", **given).temperature == pytest.approx(2, abs=0.1)
    assert fit_map(logs, few, objective="jsd", **given).temperature < 1.2


def test_maps_on_few_votes_are_fitted_for_kl_and_ranked_by_the_squared_distance(votes):
    given = {"n_resamples": 20, "confidence": 0.9, "seed": 0}
    evidence = evidence_of(votes, [system(votes, "mine", 4.0)])
    rows = fitting.methods(evidence, **given).rows
    assert set(rows["by"]) == {"sq_distance"}
    assert "jsd" not in set(rows["objective"])
    shown = fitting.by_map(rows)
    by_recipe = shown[(shown["access"] == "text") & (shown["map"] == "quadratic")]
    assert by_recipe["distance"].is_monotonic_increasing
    assert fitting.measure_names(rows) == "Squared distance (unbiased)"
    single = replace(votes, counts=np.eye(3, dtype=int)[COUNTS.argmax(axis=1)])
    assert fitting.ranked_by(single) == "kl"
    curve = fitting.curve(evidence, repeats=1, seed=0).rows
    assert set(curve["by"]) == {"sq_distance"}
    assert curve["distance"].notna().all()


@pytest.mark.parametrize(("skill", "refused"), [(0.92, True), (0.0, False)])
def test_swapped_labels_of_own_votes_are_refused_and_a_constant_guess_is_doubted(
    skill, refused, tmp_path
):
    rng = np.random.default_rng(3)
    good = rng.random(N) < 0.9
    votes = own_votes(tmp_path, np.where(good[:, None], [4, 1], [1, 4]), ("ok", "not"))
    right = rng.random(N) < skill
    p = np.where(good == right, 0.9, 0.2) if skill else np.full(N, 0.9)  # of ok, then swapped
    path = write_shares(tmp_path / "m.csv", votes, np.stack([1 - p, p], axis=1))
    if refused:
        with pytest.raises(ChaosError, match="in another order"):
            read_predictions(path, [votes])
    else:
        assert "may be in another order" in read_predictions(path, [votes])[0].notes[0]


def test_a_base_rate_below_a_uniform_guess_is_explained(tmp_path, votes):
    """Where labels are equally frequent, an item's own label seems the rarer one without it."""
    balanced = own_votes(tmp_path, np.tile([[4, 1, 0], [0, 4, 1], [1, 0, 4]], (20, 1)))
    for one, is_said in ((balanced, True), (votes, False)):
        answer = evaluate_files({"own": [computed("m", one, one.shares)]}, [one], n_resamples=20)
        why = "less accurate than a uniform guess because it leaves out each item's own votes"
        assert any(why in note for note in answer.notes) == is_said


def test_labels_with_the_most_votes_are_asked_about_however_ties_are_broken(votes, tmp_path):
    most = COUNTS.max(axis=1, keepdims=True) == COUNTS
    last_of_ties = most.shape[1] - 1 - most[:, ::-1].argmax(axis=1)
    names = np.array(LABELS)
    for labels, is_asked in ((last_of_ties, True), (TRUTH.argmax(axis=1), False)):
        table = pd.DataFrame({"uid": votes.uids, "label": names[labels]})
        table.to_csv(tmp_path / "m.csv", index=False)
        (one,) = read_predictions(tmp_path / "m.csv", [votes])
        assert any("did the model give them?" in note for note in one.notes) == is_asked


def test_where_all_labels_tie_no_label_is_asked_about(tmp_path):
    votes = own_votes(tmp_path, np.tile([1, 1], (60, 1)), ["good", "bad"])
    pd.DataFrame({"uid": votes.uids, "label": "bad"}).to_csv(tmp_path / "m.csv", index=False)
    (one,) = read_predictions(tmp_path / "m.csv", [votes])
    assert not any("did the model give them?" in note for note in one.notes)

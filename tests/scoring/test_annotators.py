"""Annotators: agreement with the rest, and Dawid and Skene's errors."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.predictions import made_dataset, made_votes

from chaos_utils.datasets.loading import load_votes
from chaos_utils.datasets.votes import Annotations, frozen
from chaos_utils.scoring import annotators
from chaos_utils.scoring.annotators import (
    agreement_over_people,
    agreement_with_rest,
    dawid_skene,
    near_chance,
    votes_kept,
)


def crowd(item, annotator, label):
    item, annotator, label = map(np.asarray, (item, annotator, label))
    counts = np.zeros((item.max() + 1, label.max() + 1), dtype=int)
    np.add.at(counts, (item, label), 1)
    dataset = made_dataset(labels=[f"label {k}" for k in range(counts.shape[1])])
    return replace(
        made_votes(dataset, len(counts), old_labels=False),
        annotations=Annotations(item, annotator, label),
        counts=frozen(counts),
    )


@pytest.fixture(scope="module")
def simulated():
    """600 items of three labels; ten annotators with known errors, the last one a guesser."""
    rng = np.random.default_rng(1)
    truth = rng.choice(3, 600, p=[0.5, 0.3, 0.2])
    errors = np.array([np.eye(3) * a + (1 - a) / 3 for a in np.linspace(0.9, 0.4, 9)])
    errors = np.concatenate([errors, np.full((1, 3, 3), 1 / 3)])
    item = np.repeat(np.arange(600), 5)
    annotator = np.concatenate([rng.permutation(10)[:5] for _ in range(600)])
    chances = errors[annotator, truth[item]]
    label = (chances.cumsum(axis=1) < rng.random((len(item), 1))).sum(axis=1)
    return crowd(item, annotator, label), truth, errors


def test_agreement_is_that_of_each_vote_with_the_others():
    votes = crowd([0, 0, 0, 1, 1, 2], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 0])
    found = agreement_with_rest(votes)
    assert found.n_votes.tolist() == [2, 2, 1]  # the third has one vote that nobody shares
    np.testing.assert_allclose(found.observed, [(0.5 + 1) / 2, (0.5 + 1) / 2, 0])
    # The first gives each label once; the others on its items half 0, half 1, then all 1.
    np.testing.assert_allclose(found.by_chance[0], 0.5 * 0.25 + 0.5 * 0.75)
    np.testing.assert_allclose(found.corrected[0], (0.75 - 0.5) / 0.5)
    np.testing.assert_allclose(found.error[0], np.std([0.5, 1], ddof=1) / np.sqrt(2))
    assert np.isnan(found.error[2])


def test_dawid_and_skene_find_the_errors_and_beat_the_majority(simulated):
    votes, truth, errors = simulated
    found = dawid_skene(votes)
    np.testing.assert_allclose(found.errors.sum(axis=2), 1)
    np.testing.assert_allclose(found.chances.sum(axis=1), 1)
    assert np.abs(found.errors - errors).mean() < 0.04
    np.testing.assert_allclose(found.prior, [0.5, 0.3, 0.2], atol=0.05)
    right = (found.chances.argmax(axis=1) == truth).mean()
    assert right > (votes.counts.argmax(axis=1) == truth).mean() + 0.01
    accuracy = np.einsum("akk,k->a", errors, [0.5, 0.3, 0.2])
    np.testing.assert_allclose(found.accuracy, accuracy, atol=0.08)
    # A step from there is that of Dawid and Skene (1979), vote by vote.
    known, chances = votes.annotations, np.tile(found.prior, (len(votes), 1))
    for item, annotator, label in zip(known.item, known.annotator, known.label, strict=True):
        chances[item] *= found.errors[annotator, :, label]
    chances /= chances.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.chances, chances, atol=1e-9)


def people(rng, n_people, careless, spread):
    """Draw nine votes on each of 600 items by people who differ in leniency, some by lot."""
    item = np.repeat(np.arange(600), 9)
    annotator = np.concatenate([rng.permutation(n_people)[:9] for _ in range(600)])
    leniency, easiness = rng.normal(0, 0.7, n_people), rng.normal(0, spread, 600)
    p = 1 / (1 + np.exp(-(easiness[item] + leniency[annotator])))
    p = np.where(annotator < careless, 0.5, p)
    return crowd(item, annotator, (rng.random(len(item)) < p).astype(int))


@pytest.mark.parametrize(
    ("n_people", "careless", "spread", "fewest", "most"),
    [
        (40, 4, 3, 4, 4),  # who labels by lot, and nobody else
        (40, 0, 3, 0, 0),
        (40, 0, 0.6, 0, 4),  # where all agree little, honest people are hardly accused
        (40, 40, 3, 0, 0),  # nobody stands out
        (400, 40, 3, 0, 0),  # nobody has a hundred votes
    ],
)
def test_who_labels_by_lot_is_near_chance(n_people, careless, spread, fewest, most):
    rng = np.random.default_rng(7)
    found = near_chance(agreement_with_rest(people(rng, n_people, careless, spread)))
    assert fewest <= found.is_near.sum() <= most
    if fewest:
        assert found.is_near[:careless].all()
    assert np.isnan(found.median) == (careless == n_people)
    assert found.is_judged.any() == (n_people < 400)


def test_the_majority_is_that_of_the_votes_that_are_kept():
    votes = crowd(np.repeat([0, 1], 3), np.tile([0, 1, 2], 2), np.array([0, 0, 1, 1, 1, 0]))
    kept = votes_kept(votes, votes.annotations.annotator == 2)
    assert kept.majority.tolist() == [1, 0]
    assert kept.counts.sum() == 2


@pytest.mark.published("snow2008/*")
def test_rte_s_five_are_those_that_gold_labels_show():
    rte = load_votes("rte")
    known = rte.annotations
    near = near_chance(agreement_with_rest(rte)).is_near
    assert near.sum() == 5
    assert near[known.annotator].sum() == 2980
    right = known.label == rte.old_label[known.item]
    of_five = [right[known.annotator == one].mean() for one in np.flatnonzero(near)]
    assert max(of_five) < 0.6
    agreed = agreement_over_people(rte)
    assert agreed["disagreement"].error == pytest.approx(0.03850, abs=5e-6)
    assert agreed["alike"].value == pytest.approx(0.23, abs=0.005)
    without = agreement_over_people(votes_kept(rte, ~near[known.annotator]))["disagreement"]
    assert (without.value, *without.interval(0, 1)) == pytest.approx(
        [0.208, 0.187, 0.230], abs=5e-4
    )


@pytest.mark.published("lewidi2023/*", "dices/*")
@pytest.mark.parametrize(("dataset", "error"), [("md-agreement", 0.00646), ("dices350", 0.01476)])
def test_errors_over_annotators_are_those_that_were_computed_apart(dataset, error):
    found = agreement_over_people(load_votes(dataset))["disagreement"]
    assert found.error == pytest.approx(error, abs=5e-6)


@pytest.mark.slow  # its library is slow to import
def test_dawid_and_skene_agree_with_crowd_kit(simulated, monkeypatch):
    from crowdkit.aggregation.classification import DawidSkene

    monkeypatch.setattr(annotators, "_GAIN", 1e-9)  # near the end, steps are small
    known = simulated[0].annotations
    few = known.item < 120
    votes = crowd(known.item[few], known.annotator[few], known.label[few])
    known = votes.annotations
    table = pd.DataFrame({"task": known.item, "worker": known.annotator, "label": known.label})
    theirs = DawidSkene(n_iter=200, tol=1e-9).fit_predict_proba(table).sort_index()
    assert np.abs(dawid_skene(votes).chances - theirs[[0, 1, 2]].to_numpy()).max() < 0.002


@pytest.mark.published("snow2008/*")
def test_snow_s_annotators_are_cleaned_as_published():
    rte = load_votes("rte")
    right = (dawid_skene(rte).chances.argmax(axis=1) == rte.old_label).mean()
    assert right == pytest.approx(0.927, abs=0.002)
    assert right > (rte.counts.argmax(axis=1) == rte.old_label).mean() + 0.02

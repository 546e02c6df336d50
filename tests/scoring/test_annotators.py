"""Annotators: agreement with the rest, and Dawid and Skene's errors."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.predictions import made_dataset, made_votes

from chaos_utils.datasets.loading import load_votes
from chaos_utils.datasets.votes import Annotations, frozen
from chaos_utils.scoring import annotators
from chaos_utils.scoring.annotators import agreement_with_rest, dawid_skene


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


def test_snow_s_annotators_are_cleaned_as_published(released_root):
    rte = load_votes("rte")
    right = (dawid_skene(rte).chances.argmax(axis=1) == rte.old_label).mean()
    assert right == pytest.approx(0.927, abs=0.002)
    assert right > (rte.counts.argmax(axis=1) == rte.old_label).mean() + 0.02

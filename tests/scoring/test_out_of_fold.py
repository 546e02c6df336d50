"""No prediction knows the votes on its own item's texts, whatever is fitted on votes."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.predictions import blurred

from chaos_utils.analyses.calibration import temperature_fits
from chaos_utils.datasets.splits import folds_of, item_groups
from chaos_utils.datasets.votes import frozen
from chaos_utils.metrics.divergence import squared_distance
from chaos_utils.metrics.skill import leave_one_out_mean
from chaos_utils.scoring import evaluate, fitting
from chaos_utils.scoring.recalibration import recalibrated
from chaos_utils.scoring.systems import (
    base_rate,
    class_prior,
    computed,
    mean_vote_given_old_label,
)
from chaos_utils.scoring.temperature_scaling import cross_fit_temperatures
from chaos_utils.scoring.worth import worth

ITEM = 7


@pytest.fixture(scope="module")
def votes(sample):
    """Votes on items of which most share their premise, and one alone has the last label."""
    known = sample[0]
    assert 1 < alike(known).sum() < 9
    old_label = known.old_label % 2
    old_label[ITEM] = 2
    return replace(known, given_old_label=frozen(old_label))


def alike(votes):
    """Say which items share their text with one of them."""
    groups = item_groups([votes])[0]
    return groups == groups[ITEM]


def folds(votes):
    return folds_of(item_groups([votes])[0])


def map_of(kind):
    def fitted(votes, model):
        logs = fitting.log_probabilities(model)
        old_label = None if kind == "temperature" else votes.old_label
        return fitting.predict_out_of_fold(
            logs, votes.shares, folds(votes), kind=kind, objective="kl", old_label=old_label
        )

    return fitted


def cross_fitted(votes, model):
    """What the chapter on calibration shows."""
    for choice, _, _, system in temperature_fits(votes, computed("one", votes, model)):
        if choice == "cross_fitted":
            return system.probabilities
    raise AssertionError("nothing is fitted out of fold")


def given_label(votes, model):
    """Return the mean vote given one label per item, such as the old one."""
    return recalibrated(np.eye(3)[votes.old_label], votes.shares, folds(votes))


MAPS = {
    "base rate": lambda votes, model: base_rate(votes).probabilities,
    "mean vote given the old label": lambda votes, _: (
        mean_vote_given_old_label(votes).probabilities
    ),
    "mean vote given a label": given_label,
    "recalibrated": lambda votes, model: recalibrated(model, votes.shares, folds(votes)),
    "temperature": lambda votes, model: cross_fit_temperatures(model, votes.shares, folds(votes)),
    "cross-fitted": cross_fitted,
    **{kind: map_of(kind) for kind in fitting.KINDS},
}


@pytest.mark.parametrize("name", MAPS)
def test_the_votes_on_a_text_have_no_say_in_what_is_predicted_of_its_items(votes, name):
    own, model = alike(votes), blurred(votes, 0.1, seed=0)
    counts = votes.counts.copy()
    counts[own] = counts[own][:, ::-1] + [200, 0, 0]
    changed = replace(votes, counts=frozen(counts))
    before, after = (MAPS[name](one, model) for one in (votes, changed))
    np.testing.assert_allclose(after[own], before[own], rtol=1e-9)
    assert np.abs(after - before)[~own].max() > 1e-4  # while those of others do


def test_nor_have_their_old_labels_in_the_prior(votes):
    own = alike(votes)
    changed = replace(votes, given_old_label=frozen(np.where(own, 0, votes.old_label)))
    before, after = (class_prior(one).probabilities for one in (votes, changed))
    np.testing.assert_array_equal(after[own], before[own])
    assert not np.array_equal(after[~own], before[~own])


def shrunk(model, shares, groups):
    """Return b + λ (m − b), with λ and the base rate b of each group fitted without it."""
    found = np.empty_like(model)
    for group in np.unique(groups):
        others = groups != group
        base = shares[others].mean(axis=0)
        away = model[others] - base
        by = max((away * (shares[others] - base)).sum() / (away**2).sum(), 0)
        found[~others] = base + by * (model[~others] - base)
    return found


@pytest.mark.parametrize("kind", ["recalibrated", "shrunk"])
def test_worth_is_of_what_is_fitted_on_other_texts(votes, kind):
    some = np.resize(np.arange(len(votes)), 600)
    many = evaluate.part_of(votes, some)
    many = replace(many, uids=tuple(map(str, range(600))))
    sharp = blurred(many, 0.3, seed=1) ** 2  # λ below 1 leaves what it makes in [0, 1]
    model = sharp / sharp.sum(axis=1, keepdims=True)
    groups, n_votes = item_groups([many])[0], many.n_votes
    assert len(set(groups)) < 200
    fitted = {
        "recalibrated": lambda: recalibrated(model, many.shares, folds_of(groups)),
        "shrunk": lambda: shrunk(model, many.shares, groups),
    }[kind]()
    base = leave_one_out_mean(many.shares, groups)
    away = [squared_distance(many.shares, one, n_votes).mean() for one in (fitted, base)]
    found = worth(many, computed("one", many, model), n_resamples=0).estimates[f"skill_{kind}"]
    assert found.value == pytest.approx(1 - away[0] / away[1], rel=1e-9)

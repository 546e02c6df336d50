"""What the metrics refuse: each fault is named."""

from dataclasses import replace

import numpy as np
import pytest

from chaos_utils.metrics.agreement import majority_share, quadratic_entropy
from chaos_utils.metrics.calibration import (
    Binning,
    equal_mass_bins,
    murphy_decomposition,
    same_ranking,
)
from chaos_utils.metrics.conformal import label_sets
from chaos_utils.metrics.divergence import entropy, kl_divergence, squared_distance, total_variation
from chaos_utils.metrics.measures import MEASURES, EvalBatch
from chaos_utils.metrics.priors import bootstrap_masses, draw_truths, fit_grid, simplex_grid
from chaos_utils.metrics.replacement import alternative_annotator_test
from chaos_utils.metrics.resampling import (
    bootstrap_means,
    draw_votes,
    percentile_interval,
    rescale,
    split_votes,
)
from chaos_utils.metrics.scores import expected_correct, top_label
from chaos_utils.metrics.signals import auroc, spearman

EVEN, CERTAIN, VOTES = np.full((2, 2), 0.5), np.eye(2), [[3, 1], [0, 2]]
ITEMS, RNG = np.arange(2), np.random.default_rng(0)
JUDGED = EvalBatch(CERTAIN, CERTAIN, ITEMS, ITEMS, ITEMS, np.ones(2, dtype=int))


def replaced(**change):
    fits = {"item": [0, 0, 1], "annotator": [0, 1, 0], "label": [0, 1, 1], "predicted": [0, 1]}
    alternative_annotator_test(**{**fits, "n_classes": 2, "epsilon": 0.1, **change})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        # agreement
        (lambda: quadratic_entropy([[0, 1, 0]]), "row 0, has one vote"),
        (lambda: majority_share([[0, 0, 0]]), "at least one vote"),
        (lambda: majority_share([[1.5, 1, 1]]), "whole counts"),
        (lambda: majority_share([[1, 2, np.inf]]), "finite"),
        # calibration
        (lambda: Binning(1, "right", zero_in_bin=True), "at least 2"),
        (lambda: equal_mass_bins([0.5, 0.6], 0), "expected 1 to"),
        (lambda: murphy_decomposition(CERTAIN, CERTAIN, Binning(2, "right", zero_in_bin=False)),
         "zero_in_bin"),
        (lambda: same_ranking(EVEN, EVEN, ties="none"), "ties"),
        # conformal
        (lambda: label_sets(EVEN, EVEN, EVEN, 90), "level is 90"),
        (lambda: label_sets(EVEN, EVEN, EVEN, 0.9, held=1.0), "held is 1.0"),
        (lambda: label_sets(EVEN, EVEN, VOTES, 0.9), "row 0, sums to 4"),
        (lambda: label_sets(EVEN, EVEN, np.eye(3), 0.9), "differ"),
        (lambda: label_sets(np.eye(3), EVEN, EVEN, 0.9), "3 classes, known ones 2"),
        # distributions
        (lambda: entropy([[1.0]], unit="bits"), "shape"),
        (lambda: entropy([[0.5, 0.5], [0.5, 0.4]], unit="bits"), "row 1, sums to 0.9"),
        (lambda: entropy([[1.5, -0.5]], unit="bits"), "row 0, holds .*negative"),
        (lambda: entropy([[np.nan, 1.0]], unit="bits"), "row 0, holds .*finite"),
        (lambda: entropy(EVEN, unit="dits"), "unit is 'dits'"),
        (lambda: total_variation(EVEN, np.eye(3)[:2]), "differ"),
        (lambda: kl_divergence(EVEN, EVEN, unit="nats", floor=-1), "floor is -1"),
        (lambda: squared_distance(EVEN, EVEN, [2, 1]), "item 1, is 1, expected at least"),
        # measures
        (lambda: top_label(EVEN, ties="middle"), "ties"),
        (lambda: expected_correct(EVEN, [0, 3], [0, 1]), "row 1, is 3"),
        (lambda: expected_correct(EVEN, [0.5, 1], [0, 1]), "integers"),
        (lambda: MEASURES["sq_distance"].value(JUDGED), "item 0, is 1, expected at least 2"),
        (lambda: MEASURES["sq_distance"].value(replace(JUDGED, n_votes=None)), "not known"),
        (lambda: MEASURES["old_accuracy"].value(replace(JUDGED, old_label=None)), "no old label"),
        # priors
        (lambda: simplex_grid(1, 4), "expected at least 2 classes"),
        (lambda: fit_grid(VOTES, CERTAIN), "no point of the grid"),
        (lambda: draw_truths(VOTES, fit_grid(VOTES), RNG, 0), "n_draws"),
        (lambda: bootstrap_masses(VOTES, fit_grid(VOTES), 0, RNG), "n_resamples"),
        # replacement
        (lambda: replaced(epsilon=2), "epsilon is 2"),
        (lambda: replaced(item=[0, 0, 0]), "labelled an item twice"),
        (lambda: replaced(label=[0, 0, 5]), "label"),
        (replaced, "0 annotators labelled 30 items"),
        # resampling
        (lambda: bootstrap_means(np.zeros((0, 2)), 10, RNG), "shape"),
        (lambda: bootstrap_means([[1.0]], 0, RNG), "n_resamples"),
        (lambda: percentile_interval([[1.0]], level=95), "level"),
        (lambda: split_votes(VOTES, (3,), RNG), "sizes are"),
        (lambda: rescale(1, at_zero=2, at_one=2), "both references"),
        (lambda: draw_votes(EVEN, 0, RNG), "n_votes is 0"),
        # signals
        (lambda: spearman([1, 2], [1, 2, 3]), "shapes"),
        (lambda: spearman([1, np.nan], [1, 2]), "finite"),
        (lambda: spearman([1, 2], [1, 2], level=95), "level is 95"),
        (lambda: auroc([1, 2], [True]), "as many marks"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

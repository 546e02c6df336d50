"""What scoring refuses: numbers that do not fit, and systems that votes cannot judge."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.predictions import part_of, votes_from

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.loading import load_votes
from chaos_utils.metrics.measures import MEASURES, EvalBatch
from chaos_utils.scoring.annotators import agreement_with_rest, dawid_skene
from chaos_utils.scoring.fitting import KINDS, fit_map, log_probabilities, predict_out_of_fold
from chaos_utils.scoring.human_equivalents import TVD, Crowds
from chaos_utils.scoring.power import difference_variances, squared_distance_variance
from chaos_utils.scoring.references import extrapolation_weights
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.seeds import over_seeds, score_over_seeds
from chaos_utils.scoring.system import votes_of
from chaos_utils.scoring.systems import load_systems, oracle, uniform
from chaos_utils.scoring.temperature_scaling import cross_fit_temperatures, temper
from chaos_utils.scoring.worth import worth

LOGS, EVEN, ONE_FOLD = np.zeros((4, 1, 3)), np.full((4, 3), 1 / 3), np.zeros(4, dtype=int)
COUNTS, RNG = np.ones((4, 3), dtype=int), np.random.default_rng(0)
SIDES = [EvalBatch(EVEN, EVEN, ONE_FOLD, ONE_FOLD)] * 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: extrapolation_weights([10, 20, 20], 100), "sizes"),
        (lambda: over_seeds([1.0, 2.0], np.ones((5, 3)), n_items=10), "at least 1 seed"),
        # fitting
        (lambda: log_probabilities(2 * EVEN), "sum"),
        (lambda: fit_map(LOGS, 2 * EVEN, kind="affine"), "shares"),
        (lambda: fit_map(LOGS, EVEN, kind="affine", penalty=-1), "penalty"),
        (lambda: predict_out_of_fold(LOGS, EVEN, [0, 1], kind="affine"), "folds have shape"),
        # temperature scaling
        (lambda: temper(EVEN, np.nan), "temperature is"),
        (lambda: temper(EVEN, [1.0, 2.0, 3.0]), "temperature has shape"),
        (lambda: cross_fit_temperatures(EVEN, [0, 1, 0, 1], ONE_FOLD), "single fold"),
        # power
        (lambda: difference_variances(COUNTS, *SIDES, [MEASURES["jsd"]], 4, RNG),
         "at most 3 votes"),
        (lambda: difference_variances(COUNTS, *SIDES, [MEASURES["ece"]], 1, RNG),
         "ece: expected means"),
        (lambda: squared_distance_variance(np.eye(2, dtype=int), np.eye(2), np.eye(2), 5),
         "at least 2, 2"),
    ],
)  # fmt: skip
def test_numbers_that_do_not_fit_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def single(votes):
    return votes_from(votes, [[1, 0, 0], [5, 5, 0]])


def fitted(system):
    return replace(system, name="fitted", trained_on=(votes_of(system.dataset),))


def in_other_order(votes):
    return votes.dataset.model_copy(update={"classes": votes.dataset.classes[::-1]})


PART = {"measures": ["jsd"], "n_resamples": 40}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        # scores
        (lambda votes, one: score(votes, [one], measures=["jds"]), "did you mean 'jsd'"),
        (lambda votes, one: score(votes, [one], seed=-1), "The seed is out of range"),
        (lambda votes, one: score(votes, [one], level=95), "between 0 and 1"),
        (lambda votes, one: score(votes, [one], comparisons=[(one.name, "other")]),
         "no such system"),
        (lambda votes, one: score(votes, [one, oracle(votes)],
                                  comparisons=[(one.name, "oracle")], n_resamples=39),
         "at least 40"),
        (lambda votes, one: score(votes, [one], groups={"part": [300]}),
         "no items, or names one that does not exist"),
        (lambda votes, one: score(votes, [one, one]), "same name"),
        (lambda votes, one: score(votes, [part_of(one, range(9))], groups={"rest": range(9, 300)}),
         "no item in common"),
        (lambda votes, one: score(votes, [part_of(one, range(3), name="a"),
                                          part_of(one, range(3, 6))],
                                  comparisons=[(one.name, "a")], **PART),
         "share no item"),
        (lambda votes, one: score(load_votes("mnli", "sample"), [one]), "predicts another dataset"),
        (lambda votes, one: replace(one, dataset=in_other_order(votes)).aligned_to(votes),
         "labels in another order"),
        # scores over seeds
        (lambda votes, one: score_over_seeds(votes, [one], n_resamples=1), "Too few resamples"),
        (lambda votes, one: score_over_seeds(
            votes, [part_of(load_systems(votes)[0], slice(9)), *load_systems(votes)[1:]], **PART),
         "cover different items"),
        # what systems are worth in people
        (lambda votes, one: Crowds(votes_from(votes, [[3, 1, 0], [5, 5, 0]]), 4),
         "4 on the item with fewest"),
        (lambda votes, one: Crowds(single(votes)), "needs two votes per item"),
        (lambda votes, one: worth(single(votes), uniform(single(votes))),
         "1 of 2 items have a single vote"),
        (lambda votes, one: worth(votes, oracle(votes)), "the votes that judge it"),
        (lambda votes, one: worth(votes, fitted(one)), "the votes that judge it"),
        (lambda votes, one: Crowds(votes, n_draws=1).equivalents(fitted(one)),
         "the votes that judge it"),
        (lambda votes, one: Crowds(votes, n_draws=1).equivalents(one, [f"{TVD[:-1]}s"]),
         "did you mean 'human_equivalent_tvd'"),
        (lambda votes, one: agreement_with_rest(votes), "not known who gave which vote"),
        (lambda votes, one: dawid_skene(votes), "not known who gave which vote"),
        # maps
        (lambda *_: fit_map(LOGS, EVEN, kind="afine"), r"no such map[\s\S]*affine"),
        (lambda *_: fit_map(LOGS, EVEN, kind="affine", objective="tvd"), "no such objective"),
        (lambda *_: fit_map(LOGS, EVEN, kind=KINDS[0], old_label=ONE_FOLD), "systems alone"),
        (lambda *_: predict_out_of_fold(LOGS, EVEN, ONE_FOLD, kind="affine"), "single fold"),
    ],
)  # fmt: skip
def test_what_votes_cannot_judge_is_one_error(sample, call, message):
    with pytest.raises(ChaosError, match=message):
        call(sample[0], uniform(sample[0]))

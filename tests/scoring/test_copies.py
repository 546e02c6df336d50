"""Copies: of the votes that judge, of predictions that are there; and what is none."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from helpers.evidence import drawn
from helpers.predictions import made_dataset, made_votes

import chaos_utils as chaos
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.metrics.divergence import squared_distance
from chaos_utils.scoring.copies import COPIED, are_alike, copied_votes, likeness, people_added
from chaos_utils.scoring.evaluate import USUAL, evaluate_files
from chaos_utils.scoring.systems import (
    base_rate,
    baselines,
    computed,
    load_systems,
    oracle,
    released_systems,
)
from chaos_utils.scoring.temperature_scaling import temper

N = 400


def crowd(dataset, n_votes, seed=0):
    """Return truths, and votes that are drawn from them."""
    truths = np.random.default_rng(seed).dirichlet(np.full(dataset.n_classes, 0.7), N)
    return truths, drawn(made_votes(dataset), truths, n_votes, seed)


def errs(truths, seed=1):
    """Return predictions that know much of the truth, and not all."""
    noise = np.random.default_rng(seed).normal(scale=0.8, size=truths.shape)
    logits = np.log(truths + 0.05) + noise
    return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def simulated():
    return crowd(get_dataset("snli"), 100)


def test_a_copy_of_the_votes_is_found_however_it_was_changed(simulated):
    truths, votes = simulated
    shares, rng = votes.shares, np.random.default_rng(2)

    def why(values, **more):
        return copied_votes(votes, computed("one", votes, values, **more))

    assert "squared distance of −" in why(shares)
    assert "majority" in why(temper(shares * 0.98 + 0.02 / 3, 3.0))
    # A tenth of the items copied, the others honest.
    mixed = np.where(rng.random((N, 1)) < 0.1, shares, errs(truths))
    assert "within 0.005 on" in why(mixed)
    assert "majority" in why(np.eye(3)[votes.majority])


@pytest.mark.parametrize(("name", "n_votes"), [("snli", 100), ("alphanli", 100), ("snli", 5)])
def test_what_is_not_copied_is_not_said_to_be(name, n_votes):
    truths, votes = crowd(get_dataset(name), n_votes)
    other_people = np.random.default_rng(9).multinomial(n_votes, truths) / n_votes
    honest = [errs(truths), np.full(truths.shape, 1 / truths.shape[1]), np.eye(len(truths[0]))[
        errs(truths).argmax(axis=1)]]  # fmt: skip
    honest += [other_people] if n_votes == 5 or name == "alphanli" else []
    for values in honest:
        assert not copied_votes(votes, computed("one", votes, values))


def test_nearer_than_the_truth_is_found_with_few_votes_too():
    truths, votes = crowd(made_dataset(), 5)
    n_votes = votes.n_votes
    assert squared_distance(votes.shares, votes.shares, n_votes).mean() < 0
    assert "expected to have 0" in copied_votes(votes, computed("one", votes, votes.shares))
    assert not copied_votes(votes, computed("one", votes, errs(truths)))


@pytest.mark.parametrize("n_votes", [3, 5, 9])
def test_labels_of_the_majority_are_found_with_few_votes_however_ties_are_broken(n_votes):
    truths, votes = crowd(made_dataset(), n_votes)
    most = votes.counts == votes.counts.max(axis=1, keepdims=True)
    for of_ties in (most.argmax(axis=1), most.shape[1] - 1 - most[:, ::-1].argmax(axis=1)):
        copy = np.eye(most.shape[1])[of_ties]
        assert "majority's label on 100%" in copied_votes(votes, computed("one", votes, copy))
    knows = np.eye(most.shape[1])[truths.argmax(axis=1)]
    assert not copied_votes(votes, computed("one", votes, knows))


def test_labels_of_two_votes_each_which_tie_wherever_people_disagree_show_nothing():
    truths, votes = crowd(made_dataset(labels=["a", "b"]), 2)
    labels = np.eye(2)[truths.argmax(axis=1)]
    assert not copied_votes(votes, computed("one", votes, labels))


def test_few_disputed_items_show_nothing():
    votes = drawn(made_votes(get_dataset("snli")), np.full((20, 3), 1 / 3), 100)
    assert not copied_votes(votes, computed("one", votes, votes.shares))


def test_predictions_are_alike_at_any_temperature_and_labels_are_compared_with_labels(simulated):
    truths, votes = simulated
    one = computed("one", votes, errs(truths))
    assert are_alike(one, computed("two", votes, temper(one.probabilities, 4.0)))
    assert not are_alike(one, computed("two", votes, errs(truths, seed=5)))
    labels = np.eye(3)[one.predicted]
    assert likeness(computed("two", votes, labels), one) == 1
    changed = labels.copy()
    changed[: N // 20] = np.roll(changed[: N // 20], 1, axis=1)
    assert not are_alike(computed("two", votes, changed), one)
    flat = computed("flat", votes, np.full((N, 3), 1 / 3))
    assert likeness(flat, flat) == 1
    assert likeness(flat, one) == 0


def test_a_copy_is_named_where_it_is_evaluated(simulated):
    truths, votes = simulated
    name = votes.dataset.name
    copy = chaos.make_system("too good", votes, votes.shares)
    honest = chaos.make_system("honest", votes, errs(truths))
    answer = evaluate_files({name: [copy, honest]}, [votes], measures=USUAL, n_resamples=0)
    (note,) = (note for note in answer.notes if COPIED in note.lower())
    where = f"On {votes.dataset.short}, too good has an unbiased squared distance of"
    assert note.startswith(f"Copied from these votes? {where}")
    assert ", where the truth is expected to have 0. If so" in note
    copied, other = chaos.methods_sentences(votes, [copy, honest], resamples=0)
    assert copied.startswith(f"{note}\n\ntoo good was evaluated")
    assert other.startswith("honest was evaluated")
    table = chaos.worth(votes, [copy, honest], resamples=0).query("measure == 'people_on_top'")
    texts = table.set_index("system")["text"]
    assert texts["too good"].endswith(COPIED)
    assert COPIED not in texts["honest"]


def test_what_knows_far_more_than_all_others_has_seen_votes(released):
    """A model adds little to what all others know together; with votes mixed in, it adds more."""
    votes = released[0]
    systems = released_systems(votes)
    own = next(one for one in systems if one.name == "roberta-large")
    others = [one for one in systems if one is not own] + baselines(votes)
    row_of = {uid: row for row, uid in enumerate(own.uids)}
    model = own.probabilities[[row_of[uid] for uid in votes.uids]]
    added = [
        people_added(votes, computed("m", votes, (1 - part) * model + part * votes.shares), others)
        for part in (0, 0.1, 0.3, 0.5)
    ]
    assert added == sorted(added)
    assert added[0] < 0.6
    assert added[2] > 1.5
    # The mean of all other votes gives an item's own away.
    assert people_added(votes, base_rate(votes), others) > 1


def test_no_released_system_and_no_guess_counts_as_a_copy(released):
    for votes in released:
        systems = [*released_systems(votes), *baselines(votes)]
        assert len(systems) > 10
        assert not [one.name for one in systems if copied_votes(votes, one)]
        assert copied_votes(votes, oracle(votes))
        known = load_systems(votes)  # ours too
        two = [(one.name, other.name) for one, other in combinations(known, 2)
               if are_alike(one, other)]  # fmt: skip
        assert not two


CHANGED = {
    "hotter": lambda shares: temper(shares, 2.0),
    "colder": lambda shares: temper(shares, 0.5),
    "flatter": lambda shares: 0.7 * shares + 0.3 / shares.shape[1],
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_released_system_is_known_again_however_it_is_calibrated(released, name):
    for votes in released:
        for one in released_systems(votes):
            again = replace(one, probabilities=CHANGED[name](one.probabilities))
            assert are_alike(one, again), one.name

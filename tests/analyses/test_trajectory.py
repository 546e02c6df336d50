"""How agreement with people grows with training: stages, scores in entropy bins, the table."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_on
from helpers.runs import write_run

from chaos_utils.analyses import trajectory
from chaos_utils.analyses.evidence import Evidence, Material
from chaos_utils.scoring.systems import uniform


def mixed(votes, share):
    """Between the uniform guess and the human distribution."""
    return [share * one.shares + (1 - share) * uniform(one).probabilities for one in votes]


@pytest.fixture(scope="module")
def runs(tmp_path_factory, sample):
    """Two sizes, each with two seeds, and other kinds; by name."""
    folder = tmp_path_factory.mktemp("results")
    nli, stories = sample[:2], sample[2:]

    def write(name, votes, share, settings=None, **changes):
        return write_run(folder / name, votes, mixed(votes, share), settings=settings, **changes)

    small = {"max_train_examples": 1000, "epochs": 10}
    made = [
        write("large", nli, 0.9),
        write("later", nli, 0.9, {"seed": 1}),
        write("second", nli, 0.3, small | {"seed": 1}),
        write("small", nli, 0.2, small),
        write("smooth", nli, 0.5, {"label_smoothing": 0.1}),
        write("other", nli, 0.5, {"model": "mpnet-base"}),
        write("soft", nli, 1.0, {"train": "chaosnli", "loss": "soft"}),
        write("again", nli, 0.5, predicted={"run": "large", "mc_samples": 2}),
        write("stories", stories, 0.5),
        write("twin", nli, 0.7),  # of two runs alike, the first counts
    ]
    return {run.name: run for run in made}


@pytest.fixture(scope="module")
def known(runs, sample):
    """A function that gives the sample's votes stages."""

    def given(model="minilm-l6", chosen=None, votes=sample):
        return trajectory.with_sizes(evidence_on(votes), model, chosen or runs.values())

    return given


def growth(known):
    stages = trajectory.with_pools(known)
    return trajectory.by_size(stages, model="minilm-l6", n_bins=4, n_resamples=50, seed=0)


def chosen(table, **values):
    return table[(table[list(values)] == pd.Series(values)).all(axis=1)]


def test_stages_are_runs_of_one_model_with_hard_labels_alone(known, sample):
    found = [[(one.run, one.items, one.seed) for one in each.systems[0]] for each in known()]
    of_nli = [("small", 1000, 0), ("second", 1000, 1), ("large", 4000, 0), ("later", 4000, 1)]
    assert found == [of_nli, of_nli, [("stories", 4000, 0)]]
    others = known(model="mpnet-base")
    assert [[one.run for one in each.systems[0]] for each in others] == [["other"], ["other"], []]
    assert len(growth(others)) == 0  # stages of other models are passed over


def test_without_votes_or_on_other_items_there_are_no_stages(known, runs, sample):
    nothing = Material(tuple(Evidence((one.dataset,), None, None) for one in sample))
    found = trajectory.with_sizes(nothing, "minilm-l6", runs.values())
    assert [one.systems for one in found] == [None, None, None]
    others = [replace(one, uids=tuple(f"other-{uid}" for uid in one.uids)) for one in sample]
    assert len(growth(known(votes=others))) == 0


def test_seeds_are_averaged_and_widen_the_intervals(known, runs):
    sizes = growth(known()).rows
    first, second = (growth(known(chosen=[runs[name]])).rows for name in ("small", "second"))
    mine = chosen(sizes, dataset="snli+mnli", items=1000)
    assert set(mine["runs"]) == {"small second"}
    assert set(mine["epochs"]) == {10}
    mean = (first["value"] + second["value"]).to_numpy() / 2
    np.testing.assert_allclose(mine["value"], mean)
    several, alone = (chosen(one, bin=0, measure="jsd").iloc[0] for one in (mine, first))
    assert (several["n_seeds"], alone["n_seeds"]) == (2, 1)
    # The two seeds differ by far more than items do.
    assert several["high"] - several["low"] > 3 * (alone["high"] - alone["low"])

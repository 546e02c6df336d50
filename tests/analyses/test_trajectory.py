"""How agreement with people grows with training: stages, scores in entropy bins, the table."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_on
from helpers.runs import write_run

from chaos_utils.analyses import trajectory
from chaos_utils.scoring.systems import uniform
from chaos_utils.scoring.training_records import kind_of


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
def growth(runs, sample):
    """A function that scores some of the runs on some votes, by default all."""

    def scored(names=None, model="minilm-l6", votes=sample):
        several = [runs[name] for name in names or runs]
        given = {"runs": [run for run in several if kind_of(run) in ("plain", "size")]}
        pools = trajectory.with_pools(evidence_on(votes))
        return trajectory.by_size(
            pools, model=model, n_bins=4, n_resamples=50, seed=0, **given
        ).rows

    return scored


def chosen(table, **values):
    return table[(table[list(values)] == pd.Series(values)).all(axis=1)]


def test_stages_are_runs_by_size_and_seed(runs, sample):
    some = [runs[name] for name in ("large", "later", "second", "small", "stories", "twin")]
    found = trajectory.systems_by_size(some, sample[0])
    assert [(one.family, one.seed) for one in found] == [
        ("1000", 0), ("1000", 1), ("4000", 0), ("4000", 1),
    ]  # fmt: skip
    expected = np.concatenate(mixed(sample[:1], 0.9))
    np.testing.assert_allclose(found[2].probabilities, expected, atol=1e-6)
    assert {kind_of(run) for run in trajectory.runs_by_size()} == {"plain", "size"}


def test_of_other_models_and_on_other_items_there_is_nothing(growth, sample):
    assert set(growth(model="mpnet-base")["dataset"]) == {"snli+mnli"}
    assert len(growth(model="another")) == 0
    others = [replace(one, uids=tuple(f"other-{uid}" for uid in one.uids)) for one in sample]
    assert len(growth(votes=others)) == 0


def test_seeds_are_averaged_and_widen_the_intervals(growth):
    sizes = growth()
    first, second = (growth([name]) for name in ("small", "second"))
    mine = chosen(sizes, dataset="snli+mnli", items=1000)
    mean = (first["value"] + second["value"]).to_numpy() / 2
    np.testing.assert_allclose(mine["value"], mean)
    several, alone = (chosen(one, bin=0, measure="jsd").iloc[0] for one in (mine, first))
    assert (several["n_seeds"], alone["n_seeds"]) == (2, 1)
    # The two seeds differ by far more than items do.
    assert several["high"] - several["low"] > 3 * (alone["high"] - alone["low"])
    large = chosen(sizes, dataset="snli+mnli", items=4000).reset_index(drop=True)
    np.testing.assert_allclose(large["change"], large["value"] - mean)
    assert (large["change"].between(large["change_low"], large["change_high"])).all()

"""Runs on votes beside people, guesses and systems, and what another training would cost."""

import numpy as np
import pytest
from helpers.evidence import evidence_of, evidence_on, first_items
from helpers.runs import fit, write_run

from chaos_utils.analyses import finetuning, train
from chaos_utils.scoring.systems import computed
from chaos_utils.scoring.worth import worth
from chaos_utils.training.finetune import recorded_run
from chaos_utils.training.settings import read_settings

ON_VOTES = {"train": "chaosnli", "loss": "soft"}


@pytest.fixture
def write(tmp_path, sample):
    """Write a run on the votes of SNLI and MNLI: the votes, blurred, or other predictions."""

    def write(name, blur=0.5, **changes):
        shares = [(1 - blur) * one.shares + blur / 3 for one in sample[:2]]
        record = {"trained_on": [f"votes of {one.dataset.name}" for one in sample[:2]],
                  "out_of_fold": True, "settings": ON_VOTES, "system": name} | changes  # fmt: skip
        return write_run(tmp_path / "results" / name, sample[:2], shares, **record)

    return write


def other(votes):
    """Return a system that has seen no votes."""
    noise = np.random.default_rng(0).dirichlet(np.ones(votes.dataset.n_classes), len(votes))
    return computed("other", votes, (votes.shares + noise) / 2, origin="yours")


def beside(votes, systems, runs):
    evidence = evidence_of(votes, systems)
    return train.beside_systems(evidence, runs=runs, n_resamples=20, seed=0)


def test_a_run_has_the_worth_of_its_predictions_beside_guesses_and_systems(write, sample):
    votes, run = sample[0], write("learnt")
    rows = beside(votes, [other(votes)], [run]).rows
    assert set(rows["kind"]) == {"baseline", "model", "trained"}
    mine = rows[rows["run"] == "learnt"].set_index("measure")["value"]
    known = worth(votes, run.predictions_on(votes), n_resamples=0)
    assert mine["people_on_top"] == pytest.approx(known.estimates["people_on_top"].value)
    assert mine["dist_ce"] == pytest.approx(np.abs(votes.shares - 1 / 3).sum(axis=1).mean() / 4)


def test_all_are_judged_on_the_items_that_every_run_predicts(write, sample, tmp_path):
    votes, run = sample[0], write("learnt")
    some = first_items(votes, 30)
    settings = ON_VOTES | {"task": "nli"}
    part = write_run(tmp_path / "part", [some], [some.shares], settings=settings, system="part")
    rows = beside(votes, [other(votes)], [run, part]).rows
    assert set(rows["n_items"]) == {30}


def test_without_a_run_on_these_votes_there_is_nothing_to_show(write, sample):
    assert not len(beside(sample[2], [], [write("learnt")]))


def test_the_figure_has_one_mark_for_a_run_and_two_for_a_system(write, sample):
    votes = sample[0]
    scores, shown = beside(votes, [other(votes)], [write("learnt")]), evidence_on([votes])
    drawn = train.drawn_skill(scores, shown).rows.groupby("kind")["how"].agg(set)
    assert drawn["trained"] == {"as it is"}
    assert len(drawn["model"]) == 2


def test_the_table_sets_worth_and_misplaced_votes_beside_what_was_learnt(write, sample):
    runs = [write("near", blur=0.1), write("far", blur=0.9)]
    table = train.trained_table(beside(sample[0], [], runs), finetuning.run_table(runs)).rows
    by_run = table.set_index("run")
    assert by_run.loc["near", "misplaced"] < by_run.loc["far", "misplaced"]
    assert by_run.loc["near", "worth"] > by_run.loc["far", "worth"]
    assert set(by_run["n_items"]) == {len(sample[0])}


def test_costs_follow_the_arithmetic_and_the_number_of_votes(write):
    run = write("learnt", fits=[fit(1000, seconds=1800.0), fit(1000, seconds=1800.0)])
    costs = train.cost_table(run).rows.set_index(["model", "factor"])
    assert costs.loc[("minilm-l6", 1), "cpu_hours"] == pytest.approx(1)
    assert costs.loc[("minilm-l6", 10), "cpu_hours"] == pytest.approx(10)
    # Twelve layers of width 768 have eight times the weights of six of width 384.
    assert costs.loc[("bert-base", 1), "cpu_hours"] == pytest.approx(8)
    assert (costs["gpu_low"] <= costs["gpu_high"]).all()
    assert (costs.xs(10, level="factor")["gpu_low"] > costs.xs(1, level="factor")["gpu_low"]).all()


def test_of_a_run_on_a_gpu_no_hours_of_a_processor_are_claimed(write):
    device = {"name": "cuda", "precision": "bf16", "title": "NVIDIA H200"}
    assert train.cost_table(write("learnt", device=device)).rows["cpu_hours"].isna().all()


def test_a_recorded_run_is_found_by_what_decides_its_predictions():
    settings = {"model": "minilm-l6", "train": "chaosnli", "loss": "soft"}
    found = recorded_run(read_settings(settings))
    assert found.name == "minilm-l6-nli-votes-s0"
    for same in ({"threads": 1, "precision": "fp32"}, {"data": "sample"}):
        assert recorded_run(read_settings(settings | same)).name == found.name
    for other in ({"seed": 7}, {"loss": "hard"}, {"precision": "fp16"}, {"model": "tiny-bert"}):
        assert recorded_run(read_settings(settings | other)) is None

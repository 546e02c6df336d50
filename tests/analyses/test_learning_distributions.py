"""What moves an encoder toward the human distribution: methods and their scores."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_of
from helpers.runs import write_run

from chaos_utils.analyses import learning_distributions as learning
from chaos_utils.analyses.evidence import Evidence
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import Votes
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.systems import synthetic_systems

NUMBERS = {"n_folds": 4, "n_resamples": 60, "confidence": 0.95, "seed": 0}
CHOSEN = {"model": "minilm-l6", "run_seed": 0}
SETTINGS = {
    "plain-s0": {},
    "plain-s1": {"seed": 1},
    "size": {"max_train_examples": 1000},
    "smooth": {"label_smoothing": 0.1},
    "smooth-s1": {"label_smoothing": 0.2, "seed": 1},
    "soft": {"train": "chaosnli", "loss": "soft", "init": "plain-s0"},
    "majority": {"train": "chaosnli", "loss": "hard", "init": "plain-s0"},
    "further": {"init": "plain-s0", "epochs": 1},
    "distilled": {"teacher": "plain-s0", "loss": "soft"},
}


@pytest.fixture(scope="module")
def runs(sample, tmp_path_factory):
    """Runs of every kind on SNLI and MNLI, each with probabilities of its own."""
    folder = tmp_path_factory.mktemp("results")
    pair = sample[:2]
    rng = np.random.default_rng(1)

    def made(name, **options):
        shares = [rng.dirichlet(np.ones(3), size=len(one)) for one in pair]
        return write_run(folder / name, pair, shares, system=name, family="MiniLM-L6", **options)

    found = [made(name, settings=changes) for name, changes in SETTINGS.items()]
    again = {"run": "plain-s0", "mc_samples": 10}
    return [*found, made("mc", predicted=again), made("again", predicted=again | {"mc_samples": 0})]


def chosen(runs, run_seed=0):
    return learning.chosen_runs(runs, "nli", run_seed)


def scored(votes, runs, **changes):
    given = CHOSEN | NUMBERS | changes
    return learning.method_scores(evidence_of(votes), runs=runs, **given).rows


@pytest.fixture(scope="module")
def scores(sample, runs):
    return scored(sample[0], chosen(runs))


@pytest.fixture(scope="module")
def made(sample, runs):
    """The methods on SNLI, by name, and the plain predictions."""
    seeds = [learning.predictions_of(run, sample[0]) for run in chosen(runs).seeds]
    return learning.methods(sample[0], chosen(runs), seeds, n_folds=4, seed=0), seeds


def test_each_method_comes_from_the_run_that_was_made_for_it(sample, runs, made):
    found = chosen(runs)
    assert found.plain.system == "plain-s0"
    assert [run.system for run in found.seeds] == ["plain-s0", "plain-s1"]
    assert {kind: run.system for kind, run in found.others.items()} == {
        "smoothing": "smooth", "soft": "soft", "mc": "mc",
    }  # fmt: skip
    titles = {name: title for name, (title, _) in made[0].items()}
    assert titles["smoothing"] == "label smoothing (0.1)"
    assert (titles["soft"], titles["mc"]) == ("soft labels (5 folds)", "MC dropout (10 passes)")
    for votes in sample[:2]:
        assert learning.predictions_of(found.plain, votes).uids == votes.uids
        probabilities, gold = learning.development_of(found.plain, votes)
        assert len(probabilities) == len(gold) == 20
    other = chosen(runs, 1)
    assert other.plain.system == "plain-s1"
    assert {kind: run.system for kind, run in other.others.items()} == {"smoothing": "smooth-s1"}
    nothing = learning.chosen_runs(runs, "alphanli", 0)
    assert (nothing.plain, len(nothing.seeds), nothing.others) == (None, 0, {})
    assert nothing.inputs == ()
    assert len(scored(sample[2], nothing)) == 0


def test_a_run_that_lacks_an_item_is_refused(sample, tmp_path):
    pair = [replace(one, uids=("other", *one.uids[1:])) for one in sample[:2]]
    run = write_run(tmp_path / "run", pair, [one.shares for one in pair])
    with pytest.raises(ChaosError, match=r"1 items are missing, such as"):
        learning.predictions_of(run, sample[0])


def test_runs_are_found_on_released_votes_by_their_encoder(sample, runs, monkeypatch):
    real = [replace(run, record={**run.record, "synthetic": False}) for run in runs]
    monkeypatch.setattr(learning, "committed_runs", lambda: real)
    monkeypatch.setattr(Votes, "is_released", True)
    evidence = Evidence((sample[0].dataset,), (sample[0],), None)
    assert learning.runs_on(evidence, **CHOSEN).plain.system == "plain-s0"
    with pytest.raises(ChaosError, match=r"did you mean 'minilm-l6'\?"):
        learning.runs_on(evidence, model="minilm-l", run_seed=0)
    without_votes = Evidence(evidence.datasets, None, None)
    assert learning.runs_on(without_votes, **CHOSEN).plain is not None
    with monkeypatch.context() as patch:
        patch.setattr(Votes, "is_released", False)  # on a reader's votes there are none
        assert learning.runs_on(evidence, **CHOSEN).plain is None
    monkeypatch.setattr(learning, "committed_runs", lambda: runs)  # of synthetic votes
    assert learning.runs_on(evidence, **CHOSEN).plain is None


def test_the_ensemble_is_the_mean_of_the_seeds_and_needs_two(sample, runs, made):
    methods, seeds = made
    mean = np.mean([one.probabilities for one in seeds], axis=0)
    assert methods["ensemble"][1].probabilities == pytest.approx(mean)
    alone = replace(chosen(runs), seeds=[chosen(runs).plain])
    assert "ensemble" not in learning.methods(sample[0], alone, seeds[:1], n_folds=4, seed=0)


def test_a_method_s_system_says_what_it_learned_from(made):
    systems = {name: system for name, (_, system) in made[0].items()}
    assert {name: learning.learned_from(system) for name, system in systems.items()} == {
        "plain": "train", "fixed": "train", "held_out": "dev", "cross_fitted": "votes",
        "smoothing": "train", "ensemble": "train", "mc": "train", "soft": "votes",
    }  # fmt: skip
    assert systems["fixed"].temperature == 2
    assert np.isnan(systems["cross_fitted"].temperature)
    assert systems["cross_fitted"].out_of_fold
    assert systems["soft"].out_of_fold
    assert systems["plain"].origin == systems["ensemble"].origin != "baseline"


def test_no_item_s_votes_decide_its_own_temperature(sample):
    votes, shares = sample[0], synthetic_systems(sample[0])[0].probabilities

    def by_item(counts):
        return learning.cross_fitted(replace(votes, counts=counts), shares, 4, 0)

    before = by_item(votes.counts)
    premises = pd.Series([text["premise"] for text in votes.texts])
    assert (pd.Series(before).groupby(premises).nunique() == 1).all()
    assert len(np.unique(before)) == 4
    counts = votes.counts.copy()
    counts[0] = [0, 0, 100] if counts[0, 2] < 50 else [100, 0, 0]
    changed = by_item(counts) != before
    assert not changed[0]
    assert changed[before != before[0]].all()


def test_values_and_differences_are_those_of_the_scoring_module(sample, scores, made):
    votes, (methods, seeds) = sample[0], made
    plain, soft = methods["plain"][1], methods["soft"][1]
    both = score(votes, [soft, plain], measures=learning.NAMES, reference=plain.name)
    alone = both[(both["system"] == soft.name) & (both["reference"] == "")]
    rows = scores.set_index(["method", "measure"])
    values, gaps = rows.loc["soft", "value"], both[both["reference"] != ""]
    assert values.to_dict() == pytest.approx(alone.set_index("measure")["value"].to_dict())
    assert rows.loc["soft", "difference"].to_numpy() == pytest.approx(gaps["value"].to_numpy())
    of_seeds = score(votes, seeds, measures=["jsd"])["value"]
    assert rows.loc[("seeds", "jsd"), "value"] == pytest.approx(of_seeds.mean())
    assert rows.loc[("seeds", "jsd"), "n_seeds"] == 2
    chance, beside = rows.loc[("chance", "jsd")], rows.loc[("plain", "jsd"), "value"]
    assert chance["difference"] == pytest.approx(chance["value"] - beside)


@pytest.mark.parametrize("changed", [{"n_resamples": 0}, {"confidence": 1.0}, {"n_folds": 1}])
def test_numbers_out_of_their_range_are_refused(changed, sample, runs):
    with pytest.raises(ChaosError):
        scored(sample[0], chosen(runs), **changed)

"""What moves an encoder toward the human distribution: methods, scores, tables, figure."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_of, on_items
from helpers.runs import write_run

from chaos_utils.analyses import learning_distributions as learning
from chaos_utils.analyses.evidence import Evidence
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import Votes
from chaos_utils.scoring.predictions import write_predictions
from chaos_utils.scoring.recalibration import fit_temperature, temper
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.systems import computed, own_systems, synthetic_systems

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
        return write_run(folder / name, pair, shares, system=name, **options)

    found = [made(name, settings=changes) for name, changes in SETTINGS.items()]
    again = {"run": "plain-s0", "mc_samples": 10}
    return [*found, made("mc", predicted=again), made("again", predicted=again | {"mc_samples": 0})]


def of_people(votes):
    """Return votes of the sample as if they were none of it."""
    return replace(votes, source=replace(votes.source, synthetic=False))


def scored(votes, runs=learning.Runs(), **changes):  # noqa: B008 (it is frozen)
    given = CHOSEN | NUMBERS | changes
    return learning.method_scores(evidence_of(votes), runs=runs, **given).rows


@pytest.fixture(scope="module")
def scores(sample):
    return scored(sample[0])


def predicted(votes, runs, run_seed):
    """Return what runs on synthetic votes predict, instead of simulated ones."""
    chosen = learning.chosen_runs(runs, "nli", run_seed)
    return learning.predictions_of(of_people(votes), chosen, run_seed)


def test_each_method_comes_from_the_run_that_was_made_for_it(sample, runs):
    for votes in sample[:2]:
        found = predicted(votes, runs, 0)
        assert found.plain.name == "plain-s0"
        assert {one.seed: one.name for one in found.seeds} == {0: "plain-s0", 1: "plain-s1"}
        assert {kind: (setting, one.name) for kind, (setting, one) in found.others.items()} == {
            "smoothing": ("0.1", "smooth"), "soft": ("5 folds", "soft"), "mc": ("10 passes", "mc"),
        }  # fmt: skip
        assert found.plain.uids == votes.uids
        probabilities, gold = found.development
        assert len(probabilities) == len(gold) == 20
    other = predicted(sample[0], runs, 1)
    assert other.plain.name == "plain-s1"
    assert {kind: one.name for kind, (_, one) in other.others.items()} == {"smoothing": "smooth-s1"}
    nothing = learning.chosen_runs(runs, "alphanli", 0)
    assert (nothing.plain, len(nothing.seeds), nothing.others) == (None, 0, {})
    assert nothing.inputs == ()


def test_a_run_that_lacks_an_item_is_refused(sample, tmp_path):
    pair = [replace(one, uids=("other", *one.uids[1:])) for one in sample[:2]]
    run = write_run(tmp_path / "run", pair, [one.shares for one in pair])
    with pytest.raises(ChaosError, match=r"1 items are missing, such as"):
        predicted(sample[0], [run], 0)


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
    with pytest.raises(ChaosError, match="cannot be judged"):
        learning.runs_on(without_votes, **CHOSEN, predictions=["mine.csv"])
    with monkeypatch.context() as patch:
        patch.setattr(Votes, "is_released", False)  # on a reader's votes there are none
        assert learning.runs_on(evidence, **CHOSEN).plain is None
    monkeypatch.setattr(learning, "committed_runs", lambda: runs)  # of synthetic votes
    assert learning.runs_on(evidence, **CHOSEN).plain is None


def test_the_ensemble_is_the_mean_of_the_seeds_and_needs_two(sample):
    found = learning.simulated(sample[0], 0)
    made = {one.name: one for one in learning.methods(found, {})}
    mean = np.mean([one.probabilities for one in found.seeds], axis=0)
    assert made["ensemble"].system.probabilities == pytest.approx(mean)
    alone = replace(found, seeds=[found.plain])
    assert "ensemble" not in {one.name for one in learning.methods(alone, {})}


def test_a_method_s_system_says_what_it_learned_from(sample, runs):
    votes = sample[0]
    for found in (learning.simulated(votes, 0), predicted(votes, runs, 0)):
        fitted = learning.fixed_and_fitted(votes, found, 4, 0)
        values = {name: one for name, (one, _) in fitted.items()}
        made = {one.name: one.system for one in learning.methods(found, values)}
        assert {name: learning.learned_from(system) for name, system in made.items()} == {
            "plain": "train", "fixed": "train", "held_out": "dev", "cross_fitted": "votes",
            "smoothing": "train", "ensemble": "train", "mc": "train", "soft": "votes",
        }  # fmt: skip
        assert made["fixed"].temperature == 2
        assert np.isnan(made["cross_fitted"].temperature)
        assert made["soft"].out_of_fold
        assert made["plain"].origin == made["ensemble"].origin != "baseline"


def test_the_held_out_temperature_is_found_with_its_interval():
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(3), size=1000)
    gold = rng.multinomial(1, truth).argmax(axis=1)
    sharp = temper(truth, 1 / 2)
    low, high = learning.temperature_interval(sharp, gold, 100, 0.95, seed=0)
    picks = [rng.integers(len(gold), size=len(gold)) for _ in range(100)]
    by_hand = np.quantile([fit_temperature(sharp[i], gold[i]) for i in picks], [0.025, 0.975])
    assert low < 2 < high
    assert (low, high) == pytest.approx(tuple(by_hand), rel=0.05)
    narrow = learning.temperature_interval(sharp, gold, 100, 0.5, seed=0)
    assert low < narrow[0] < narrow[1] < high


def test_no_item_s_votes_decide_its_own_temperature(sample):
    votes, found = sample[0], learning.simulated(sample[0], 0)

    def by_item(counts):
        changed = replace(votes, counts=counts)
        return learning.fixed_and_fitted(changed, found, 4, 0)["cross_fitted"][0]

    before = by_item(votes.counts)
    premises = pd.Series([text["premise"] for text in votes.texts])
    assert (pd.Series(before).groupby(premises).nunique() == 1).all()
    assert len(np.unique(before)) == 4
    counts = votes.counts.copy()
    counts[0] = [0, 0, 100] if counts[0, 2] < 50 else [100, 0, 0]
    changed = by_item(counts) != before
    assert not changed[0]
    assert changed[before != before[0]].all()


def test_values_and_differences_are_those_of_the_scoring_module(sample, scores):
    votes, found = sample[0], learning.simulated(sample[0], 0)
    soft = found.others["soft"][1]
    both = score(votes, [soft, found.plain], measures=learning.NAMES, reference=found.plain.name)
    alone = both[(both["system"] == soft.name) & (both["reference"] == "")]
    rows = scores.set_index(["method", "measure"])
    values, gaps = rows.loc["soft", "value"], both[both["reference"] != ""]
    assert values.to_dict() == pytest.approx(alone.set_index("measure")["value"].to_dict())
    assert rows.loc["soft", "difference"].to_numpy() == pytest.approx(gaps["value"].to_numpy())
    of_seeds = score(votes, found.seeds, measures=["jsd"])["value"]
    assert rows.loc[("seeds", "jsd"), "value"] == pytest.approx(of_seeds.mean())
    assert rows.loc[("seeds", "jsd"), "n_seeds"] == 3


def test_a_reader_s_system_is_compared_on_the_items_that_it_covers(sample, scores, tmp_path):
    votes, plain = sample[0], learning.simulated(sample[0], 0).plain
    whole = computed("mine", votes, synthetic_systems(votes)[1].probabilities)
    chosen = np.arange(len(votes))[::-2]
    part = on_items(whole, chosen)
    path = str(tmp_path / "mine.parquet")
    write_predictions(tmp_path / "mine.parquet", [part])
    assert own_systems(sample[2], [path]) == []
    runs = learning.runs_on(evidence_of(votes), **CHOSEN, predictions=[path])
    rows = scored(votes, runs, confidence=0.5).set_index(["method", "measure"])
    expected = score(votes, [part, plain], measures=["kl"], reference=plain.name).iloc[-1]
    assert rows.loc[("own", "kl"), "n_items"] == len(chosen)
    assert rows.loc[("own", "kl"), "difference"] == pytest.approx(expected["value"])
    # where less confidence is asked for, intervals are narrower
    wide, narrow = scores.set_index(["method", "measure"]).loc["mc"], rows.loc["mc"]
    widths = [(one["difference_high"] - one["difference_low"])["jsd"] for one in (narrow, wide)]
    assert widths[0] < widths[1]


def test_numbers_out_of_their_range_and_a_name_of_a_method_are_refused(sample):
    for changed in ({"n_resamples": 0}, {"confidence": 1.0}, {"n_folds": 1}):
        for analysis in (learning.method_scores, learning.temperatures):
            given = CHOSEN | NUMBERS | changed
            with pytest.raises(ChaosError, match="out of its range"):
                analysis(evidence_of(sample[0]), runs=learning.Runs(), **given)
    own = computed("plain", sample[0], sample[0].shares, origin="yours")
    with pytest.raises(ChaosError, match="same name"):
        scored(sample[0], learning.Runs(own=(own,)))

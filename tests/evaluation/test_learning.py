from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.runs import write_run

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.evaluation import learning, learning_runs, learning_temperatures
from chaos_utils.evaluation.learning_runs import Material, from_runs, gather, simulated
from chaos_utils.presentation import learning as presentation
from chaos_utils.scoring.predictions import write_predictions
from chaos_utils.scoring.recalibration import fit_temperature, temper
from chaos_utils.scoring.references import References
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.systems import computed, own_systems, synthetic_systems

NUMBERS = {"n_folds": 4, "n_resamples": 60, "confidence": 0.95, "seed": 0}
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


@pytest.fixture(scope="module")
def comparison(sample):
    return learning.compare_methods(sample[0], simulated(sample[0], 0), **NUMBERS)


def test_each_method_comes_from_the_run_that_was_made_for_it(sample, runs):
    for votes in sample[:2]:
        found = from_runs(votes, runs, run_seed=0)
        assert found.plain.name == "plain-s0"
        assert {one.seed: one.name for one in found.seeds} == {0: "plain-s0", 1: "plain-s1"}
        assert {kind: (told, one.name) for kind, (told, one) in found.others.items()} == {
            "smoothing": ("0.1", "smooth"), "soft": ("5 folds", "soft"), "mc": ("10 passes", "mc"),
        }  # fmt: skip
        assert found.plain.uids == votes.uids
        probabilities, gold = found.development
        assert len(probabilities) == len(gold) == 20


def test_another_seed_is_set_beside_its_own_runs(sample, runs):
    found = from_runs(sample[0], runs, run_seed=1)
    assert found.plain.name == "plain-s1"
    assert {kind: one.name for kind, (_, one) in found.others.items()} == {"smoothing": "smooth-s1"}


def test_runs_of_another_task_leave_nothing(sample, runs):
    found = from_runs(sample[2], runs, run_seed=0)
    assert found.plain is None
    assert not found.seeds
    assert not found.others


def test_a_run_that_lacks_an_item_is_refused(sample, tmp_path):
    pair = [replace(one, uids=("other", *one.uids[1:])) for one in sample[:2]]
    shares = [one.shares for one in pair]
    run = write_run(tmp_path / "run", pair, shares)
    with pytest.raises(ChaosError, match=r"1 items are missing, such as"):
        from_runs(sample[0], [run], run_seed=0)


def test_votes_of_a_reader_have_no_runs_and_an_unknown_encoder_is_named(
    released, runs, monkeypatch
):
    own = replace(released[0], source=replace(released[0].source, sha256="0" * 64))
    assert gather(own, "minilm-l6", 0).plain is None
    real = [replace(run, record={**run.record, "synthetic": False}) for run in runs]
    monkeypatch.setattr(learning_runs, "committed_runs", lambda: real)
    with pytest.raises(ChaosError, match=r"did you mean 'minilm-l6'\?"):
        gather(released[0], "minilm-l", 0)
    monkeypatch.setattr(learning_runs, "committed_runs", lambda: runs)  # of synthetic votes
    assert gather(released[0], "minilm-l6", 0).plain is None


def test_the_ensemble_is_the_mean_of_the_seeds_and_needs_two(sample):
    material = simulated(sample[0], 0)
    made = {one.name: one for one in learning.methods(sample[0], material, [])}
    mean = np.mean([one.probabilities for one in material.seeds], axis=0)
    assert made["ensemble"].system.probabilities == pytest.approx(mean)
    assert made["ensemble"].title == "seed ensemble (3 seeds)"
    alone = replace(material, seeds=[material.plain])
    assert "ensemble" not in {one.name for one in learning.methods(sample[0], alone, [])}


def test_a_method_s_system_says_what_it_learned_from(sample, runs):
    votes = sample[0]
    for material in (simulated(votes, 0), from_runs(votes, runs, run_seed=0)):
        options = {"n_folds": 4, "n_resamples": 5, "confidence": 0.95, "seed": 0}
        fitted = learning_temperatures.temperatures(votes, material, **options)
        made = {one.name: one.system for one in learning.methods(votes, material, fitted)}
        assert {name: learning.learned_from(system) for name, system in made.items()} == {
            "plain": "train", "fixed": "train", "held_out": "dev", "cross_fitted": "votes",
            "smoothing": "train", "ensemble": "train", "mc": "train", "soft": "votes",
        }  # fmt: skip
        assert made["fixed"].temperature == 2
        assert np.isnan(made["cross_fitted"].temperature)
        assert made["soft"].out_of_fold
        assert made["plain"].origin == made["ensemble"].origin != "baseline"


def test_missing_methods_are_named_and_the_references_remain(sample):
    found = learning.compare_methods(sample[0], Material(), **NUMBERS)
    assert found.missing == list(learning.METHODS.values())
    assert set(found.scores["kind"]) == {"reference"}
    assert found.scores["difference"].isna().all()
    assert list(found.temperatures["method"]) == ["fixed"]
    assert "every method" in presentation.missing_sentence({"snli": found.missing}, 8)
    assert len(presentation.show_learning(found.scores)) == 3
    assert presentation.progress(found.scores, "jsd") == []


def test_the_held_out_temperature_is_found_with_its_interval():
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(3), size=2000)
    gold = rng.multinomial(1, truth).argmax(axis=1)
    sharp = temper(truth, 1 / 2)
    low, high = learning_temperatures.temperature_interval(sharp, gold, 200, 0.95, seed=0)
    picks = [rng.integers(len(gold), size=len(gold)) for _ in range(200)]
    by_hand = np.quantile([fit_temperature(sharp[i], gold[i]) for i in picks], [0.025, 0.975])
    assert low < 2 < high
    assert (low, high) == pytest.approx(tuple(by_hand), rel=0.02)
    narrow = learning_temperatures.temperature_interval(sharp, gold, 200, 0.5, seed=0)
    assert low < narrow[0] < narrow[1] < high


def test_no_item_s_votes_decide_its_own_temperature(sample):
    votes, material = sample[0], simulated(sample[0], 0)
    options = {"n_folds": 4, "n_resamples": 5, "confidence": 0.95, "seed": 0}

    def by_item(counts):
        changed = replace(votes, counts=counts)
        return learning_temperatures.temperatures(changed, material, **options)[-1].values

    before = by_item(votes.counts)
    premises = pd.Series([text["premise"] for text in votes.texts])
    assert (pd.Series(before).groupby(premises).nunique() == 1).all()
    assert len(np.unique(before)) == 4
    counts = votes.counts.copy()
    counts[0] = [0, 0, 100] if counts[0, 2] < 50 else [100, 0, 0]
    changed = by_item(counts) != before
    assert not changed[0]
    assert changed[before != before[0]].all()


def test_values_and_differences_are_those_of_the_scoring_module(sample, comparison):
    votes, material = sample[0], simulated(sample[0], 0)
    soft = material.others["soft"][1]
    both = score(votes, [soft, material.plain], measures=learning.NAMES,
                 reference=material.plain.name)  # fmt: skip
    expected = both[(both["system"] == soft.name) & (both["reference"] == "")].set_index("measure")[
        "value"
    ]
    gaps = both[both["reference"] != ""]
    rows = comparison.scores.set_index(["method", "measure"]).loc["soft"]
    assert rows["value"].to_dict() == pytest.approx(expected.to_dict())
    assert rows["difference"].to_numpy() == pytest.approx(gaps["value"].to_numpy())


def test_intervals_are_paired_and_hold_their_values(comparison):
    rows = comparison.scores[comparison.scores["difference_low"].notna()]
    for name in ("", "difference_"):
        value = rows["difference" if name else "value"]
        assert (rows[f"{name}low"] <= value + 1e-12).all()
        assert (value <= rows[f"{name}high"] + 1e-12).all()
    one = rows[(rows["method"] == "mc") & (rows["measure"] == "jsd")].iloc[0]
    assert one["difference_high"] - one["difference_low"] < one["high"] - one["low"]


def test_confidence_widens_intervals(sample):
    material = simulated(sample[0], 0)
    widths = []
    for confidence in (0.5, 0.99):
        options = NUMBERS | {"confidence": confidence}
        found = learning.compare_methods(sample[0], material, **options)
        rows = found.scores[found.scores["method"] == "mc"].set_index("measure").loc["jsd"]
        widths.append(
            (rows["high"] - rows["low"], rows["difference_high"] - rows["difference_low"])
        )
    assert widths[0][0] < widths[1][0]
    assert widths[0][1] < widths[1][1]


def test_a_temperature_changes_no_ranking(comparison):
    rows = comparison.scores[
        comparison.scores["method"].isin(["fixed", "held_out", "cross_fitted"])
        & comparison.scores["measure"].isin(["new_accuracy", "old_accuracy", "rank_cs"])
    ]
    assert len(rows) == 9
    assert (rows[["difference", "difference_low", "difference_high"]] == 0).all(axis=None)


def test_temperatures_reach_the_scores_of_the_methods(sample, comparison):
    plain = simulated(sample[0], 0).plain
    two = computed("two", sample[0], temper(plain.probabilities, 2))
    expected = score(sample[0], [two], measures=["jsd"])["value"].iloc[0]
    rows = comparison.scores.set_index(["method", "measure"])["value"]
    assert rows["fixed", "jsd"] == pytest.approx(expected)
    assert set(comparison.temperatures["spread"]) == {"none", "bootstrap", "folds"}
    assert comparison.missing == []


def test_chance_is_the_paper_s_and_references_need_no_system(released):
    published = read_published("nie2020_table5").set_index(["dataset", "model"])
    for votes in released:
        found = References(votes, 1)
        table = learning.learning_table(
            votes, [], found, n_resamples=1, confidence=0.95, seed=0
        )  # fmt: skip
        rows = table.set_index(["method", "measure"])["value"]
        theirs = published.loc[(votes.dataset.name, "chance")]
        for measure in ("jsd", "kl", "new_accuracy", "old_accuracy"):
            assert rows["chance", measure] == pytest.approx(theirs[measure], abs=3e-4)
        assert rows["floor", "jsd"] < rows["ceiling", "jsd"] < rows["chance", "jsd"]
        assert ("floor", "old_accuracy") not in rows.index


def test_a_reader_s_system_is_compared_on_the_items_that_it_covers(sample, tmp_path):
    votes, material = sample[0], simulated(sample[0], 0)
    whole = computed("mine", votes, synthetic_systems(votes)[1].probabilities)
    chosen = np.arange(len(votes))[::-2]
    part = replace(
        whole,
        uids=tuple(votes.uids[i] for i in chosen),
        probabilities=whole.probabilities[chosen],
        predicted=whole.predicted[chosen],
    )
    write_predictions(tmp_path / "mine.parquet", [part])
    own = own_systems(votes, [str(tmp_path / "mine.parquet")])
    assert own_systems(sample[2], [str(tmp_path / "mine.parquet")]) == []
    found = learning.compare_methods(votes, material, own, **NUMBERS)
    row = found.scores.set_index(["method", "measure"]).loc[("own", "kl")]
    name = material.plain.name
    expected = score(votes, [part, material.plain], measures=["kl"], reference=name).iloc[-1]
    assert row["n_items"] == len(chosen)
    assert row["difference"] == pytest.approx(expected["value"])
    assert row["kind"] == "own"
    shown = presentation.show_learning(found.scores)
    assert "mine" in set(shown[("method", "")])


@pytest.mark.parametrize(
    ("name", "value"), [("n_resamples", 0), ("confidence", 1.0), ("n_folds", 1)]
)
def test_numbers_out_of_their_range_are_told(sample, name, value):
    with pytest.raises(ChaosError, match="out of its range"):
        learning.compare_methods(sample[0], Material(), **(NUMBERS | {name: value}))


def test_a_system_must_not_take_a_method_s_name(sample):
    own = [computed("plain", sample[0], sample[0].shares)]
    with pytest.raises(ChaosError, match="same name"):
        learning.compare_methods(sample[0], simulated(sample[0], 0), own, **NUMBERS)


def rows_of(*rows):
    columns = ["method", "title", "learned_from", "value", "difference_low", "difference_high"]
    table = pd.DataFrame(rows, columns=columns).assign(dataset="snli", measure="jsd")
    table["kind"] = np.where(table["learned_from"] == "nothing", "reference", "method")
    return table.assign(difference=(table["difference_low"] + table["difference_high"]) / 2)


def test_sentences_follow_the_numbers():
    nan = float("nan")
    references_ = [
        ("chance", "chance", "nothing", 0.4, nan, nan),
        ("ceiling", "ceiling", "nothing", 0.1, nan, nan),
        ("plain", "plain", "train", 0.3, nan, nan),
    ]
    table = rows_of(
        *references_,
        ("fixed", "T = 2", "train", 0.25, -0.06, -0.04),
        ("smoothing", "smoothing", "train", 0.45, 0.1, 0.2),
        ("mc", "dropout", "train", 0.3, -0.1, 0.1),
        ("soft", "soft", "votes", 0.2, -0.12, -0.08),
    )
    assert presentation.directions(table, "jsd") == [
        "on SNLI, soft and T = 2 are nearer to people; smoothing is farther; "
        "1 of 4 are indistinguishable from it"
    ]
    assert presentation.progress(table, "jsd") == [
        "on SNLI, the ceiling has 0.100 and plain 0.300; the lowest is 0.200 by soft, 50% of the "
        "way to the ceiling; the lowest without votes is 0.250 by T = 2, 25% of the way to the "
        "ceiling"
    ]
    assert presentation.against_chance(table, "jsd") == [
        "4 of 5 on SNLI (0.400), all but smoothing"
    ]
    assert presentation.accuracy_changes(table, "jsd")[0] == "T = 2 on SNLI (−0.050)"
    worse = rows_of(*references_, ("smoothing", "smoothing", "train", 0.45, 0.1, 0.2))
    assert presentation.progress(worse, "jsd")[0].endswith("0.300; no method comes below it")


def test_the_plain_run_stands_beside_the_published_models():
    table = rows_of(("plain", "plain", "train", 0.5, 0, 0)).assign(measure="new_accuracy")
    models = read_published("nie2020_table5").set_index("dataset").loc["snli"]
    nine = models[~models["model"].isin(["chance", "est-human"])]["new_accuracy"]
    assert presentation.beside_published(table, "new_accuracy") == [
        f"0.500 on SNLI, where the nine have {nine.min():.3f} to {nine.max():.3f}"
    ]


def test_temperatures_are_told_apart_only_beyond_their_spread():
    def table(counts):
        return pd.DataFrame(
            {
                "dataset": "snli",
                "method": ["fixed", "held_out", "cross_fitted"],
                "temperature": [2, 1.2, counts],
                "low": [2, 1.1, counts - 0.05],
                "high": [2, 1.3, counts + 0.05],
                "spread": ["none", "bootstrap", "folds"],
                "n_fitted": [0, 1000, 90],
            }
        )

    assert "higher temperature" in presentation.compare_temperatures(table(3.0))
    assert "lower temperature" in presentation.compare_temperatures(table(0.5))
    assert "do not differ" in presentation.compare_temperatures(table(1.25))
    assert presentation.compare_temperatures(table(3.0).head(1)) == ""
    shown = presentation.show_temperatures(table(3.0))
    assert list(shown["T"]) == ["2.00", "1.20 [1.10, 1.30]", "3.00 [2.95, 3.05]"]


def test_what_is_missing_is_told_by_dataset():
    told = presentation.missing_sentence(
        {"snli": ["MC dropout"], "mnli": ["MC dropout"], "alphanli": []}, 8
    )
    assert told == "**Not computed yet, and wanted:** On SNLI and MNLI: MC dropout."
    assert presentation.missing_sentence({"snli": []}, 8) == ""

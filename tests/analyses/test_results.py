from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_of, evidence_on, first_items, on_items
from scipy.stats import spearmanr

from chaos_utils.analyses import results
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import frozen
from chaos_utils.metrics.agreement import pairwise_agreement
from chaos_utils.metrics.divergence import total_variation
from chaos_utils.metrics.resampling import holm
from chaos_utils.metrics.signals import contested_auroc, entropy_correlation
from chaos_utils.scoring import human_equivalents as people
from chaos_utils.scoring import worth as worths
from chaos_utils.scoring.published import published_models
from chaos_utils.scoring.recalibration import too_few_to_recalibrate
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.systems import (
    computed,
    oracle,
    original_votes,
    released_systems,
    synthetic_systems,
    uniform,
)


def signals(votes, systems):
    return results.disagreement_signal.function(votes, systems, majority_below=0.6, seed=0)


@pytest.fixture(scope="module")
def table(sample):
    """Results with a reader's model on each dataset, whose seeds are of different quality."""

    def systems(votes):
        noise = np.random.default_rng(0).dirichlet(np.ones(votes.dataset.n_classes), len(votes))
        for seed, share in enumerate((0.4, 0.6, 0.8)):
            mixed = (1 - share) * votes.shares + share * noise
            one = computed(f"mine, seed {seed}", votes, mixed, origin="yours")
            yield replace(one, family="mine", seed=seed)

    return results.main_results(evidence_on(sample, systems), n_resamples=50, seed=0)


def test_chance_is_the_paper_s_and_simple_guesses_beat_its_models(released):
    evidence = evidence_on(released, released_systems)
    table = results.main_results(evidence, n_resamples=20, seed=0)
    chance = table.rows[table.rows["kind"] == "chance"].set_index("dataset")
    printed = read_published("nie2020_table5").query("model == 'chance'").set_index("dataset")
    for measure in results.TABLE_5:
        assert (chance[measure] - printed[measure]).abs().max() < 3e-4
    drawn = results.drawn_results(table, pd.DataFrame(columns=["measure", "system", "dataset"]))
    paired = results.models_against_guesses(evidence, n_resamples=20_000, seed=0)
    nine = results.nine_models(drawn, paired, dataset="mnli").rows
    models = nine[nine["kind"] == "model"]
    assert len(models) == 9
    assert (nine["source"] == "computed").all()
    # The interval is that of the difference on the same items, set at the guess's own JSD.
    guess = nine.loc[nine["kind"] == "chance", "value"].item()
    np.testing.assert_allclose(models["value"] - guess, models["difference"], atol=1e-8)
    assert models["value"].between(models["low"], models["high"]).all()
    assert nine.loc[nine["kind"] != "model", ["low", "high"]].isna().all(axis=None)
    against = results.baselines_against_models(paired)
    jsd = against.rows[against.rows["measure"] == "jsd"].set_index(["system", "dataset"])
    beaten = jsd["n_beaten"]
    assert beaten["chance", "mnli"] == beaten["base rate", "mnli"] == 9
    assert beaten["chance", "snli"] == beaten["base rate", "snli"] == 0
    for dataset in ("mnli", "alphanli"):
        assert jsd["n_surely_beaten"]["mean vote given the old label", dataset] == 9
    assert (jsd["n_surely_beaten"] <= beaten).all()
    rows = paired.rows.set_index(["dataset", "baseline", "measure", "system"])["verdict"]
    worse = rows.sort_index()["mnli", "chance", "jsd"] == "farther"  # ordered by name
    assert worse.index[worse].tolist() == ["albert-xxlarge", "bart-large"]
    farther = against.rows.query("dataset == 'mnli' and system == 'chance'")
    farther = farther.set_index("measure")["n_surely_beaten"]
    assert farther[["kl", "brier", "dist_ce"]].tolist() == [9, 9, 2]


def test_differences_from_guesses_are_paired_and_corrected_for_the_models(sample):
    votes = sample[0]
    systems = [replace(one, paper="nie2020") for one in synthetic_systems(votes)[:2]]
    other = replace(computed("other", votes, votes.shares), origin="released")
    found = results.models_against_guesses.function(
        votes, [*systems, other], n_resamples=200, seed=0
    )
    assert set(found["system"]) == {one.name for one in systems}  # the paper's alone
    expected = score(
        votes, [systems[0], uniform(votes)], measures=["jsd"], n_resamples=0,
        comparisons=[(systems[0].name, "uniform guess")],
    )["value"].iloc[-1]  # fmt: skip
    one = found[(found["baseline"] == "chance") & (found["measure"] == "jsd")]
    assert one["value"].iloc[0] == pytest.approx(expected)
    np.testing.assert_allclose(one["p_holm"], holm(one["p"]))
    assert set(found["measure"]) == {"jsd", "kl", "dist_ce", "brier"}
    # Brier scores differ by as much as the squared distances that worth rests on.
    squared = score(votes, [systems[0], uniform(votes)], measures=["sq_distance"], n_resamples=0)
    brier = found[(found["baseline"] == "chance") & (found["measure"] == "brier")]
    assert brier["value"].iloc[0] == pytest.approx(-squared["value"].diff().iloc[-1])
    alone = results.models_against_guesses.function(votes, [other], n_resamples=200, seed=0)
    assert set(alone["system"]) == {"other"}
    assert results.models_against_guesses.function(votes, [], n_resamples=200, seed=0).empty


def test_a_large_model_is_compared_with_the_base_of_its_family(sample):
    votes = sample[0]
    one, other, more = synthetic_systems(votes)
    named = [
        replace(system, name=name, paper="nie2020")
        for system, name in ((one, "bert-base"), (other, "bert-large"), (more, "xlnet-large"))
    ]
    found = results.size_effects.function(votes, named, n_resamples=200, seed=0)
    assert set(found["family"]) == {"BERT"}
    means = score(votes, [one, other], measures=["jsd"], n_resamples=0)["value"]
    value = found.set_index("measure")["value"]["jsd"]
    assert value == pytest.approx(means.iloc[1] - means.iloc[0])


def test_correlations_are_those_of_nine_models_and_corrected_together():
    models, found = published_models(), results.rank_correlations().rows
    assert len(found) == 6
    raw = []
    for row in found.to_dict("records"):
        group = models[models["dataset"] == row["dataset"]]
        expected = spearmanr(group["new_accuracy"], group[row["distance"]])
        assert row["value"] == pytest.approx(expected.statistic)
        assert row["low"] < row["value"] < row["high"]
        raw.append(expected.pvalue)
    np.testing.assert_allclose(found["p"], holm(raw))
    assert (found["p"] < 0.05).sum() == 1


def test_intervals_hold_their_values(table):
    rows = table.rows[(table.rows["source"] == "computed") & (table.rows["kind"] == "model")]
    assert rows["jsd"].between(rows["jsd_low"], rows["jsd_high"], inclusive="neither").all()
    snli = table.on("snli").rows.set_index("system")
    seeds = snli[snli.index.str.startswith("mine, seed")]
    mean = snli.loc["mine, mean of 3 seeds"]
    assert mean["n_seeds"] == len(seeds) == 3
    assert mean["jsd"] == pytest.approx(seeds["jsd"].mean(), rel=1e-8)
    width = mean["jsd_high"] - mean["jsd_low"]
    assert width > (seeds["jsd_high"] - seeds["jsd_low"]).max()  # other seeds count too


def test_a_system_that_was_made_from_the_votes_has_a_note_and_no_value(sample):
    given = {"n_draws": 2, "n_resamples": 20, "seed": 0}
    votes = sample[0]
    rows = results.human_equivalents(evidence_of(votes, [oracle(votes)]), **given).rows
    refused = rows[rows["system"] == "oracle"]
    assert refused["measure"].tolist() == [*worths.NAMES, *people.NAMES]
    assert refused["value"].isna().all()
    assert set(refused["note"]) == {"made from the votes that judge it"}
    assert "oracle" not in set(results.drawn_skill(rows).rows["system"])
    # Votes of one person give empty tables.
    single = replace(votes, counts=frozen(np.eye(3)[votes.majority]))
    assert results.human_equivalents.function(single, [], **given).empty
    scores = evidence_on([single], lambda votes: ())
    none = results.human_equivalents(scores, **given)
    table = results.add_worth(results.main_results(scores, n_resamples=20, seed=0), none)
    assert table.rows["people"].isna().all()


def test_a_system_is_worth_the_same_on_either_table(sample):
    given = {"n_resamples": 20, "seed": 0}

    def systems(votes):
        return [synthetic_systems(votes)[0],
                computed("wrong", votes, np.roll(votes.shares, 1, axis=1))]  # fmt: skip

    evidence = evidence_on(sample[:1], systems)
    equivalents = results.human_equivalents(evidence, n_draws=2, **given)
    table = results.add_worth(results.main_results(evidence, **given), equivalents).rows
    worth = equivalents.rows.set_index(["measure", "system"]).loc[worths.PEOPLE]
    said = worth["text"].copy()
    # Below the base rate, the table has the number.
    assert said["wrong"].startswith(f"{worths.BELOW} [−")
    said["wrong"] = said["wrong"].replace(worths.BELOW, f"−{-worth['value']['wrong']:.1f}")
    here = table[table["source"] == "computed"].set_index("system")["people"].dropna()
    assert here["chance"] == said["uniform guess"]
    others = here.drop("chance")
    assert others.to_dict() == said.loc[others.index].to_dict()


def test_a_signal_is_what_the_metrics_give(sample):
    votes = sample[0]
    systems = synthetic_systems(votes)[:2]
    rows = signals(votes, systems).set_index("system")
    means = np.array([votes.shares[votes.old_label == k].mean(axis=0) for k in range(3)])
    guess = computed("mean vote given the old label", votes, means[votes.old_label], origin="yours")
    guesses = [guess, original_votes(votes)]
    assert list(rows.index) == ["five people", *(one.name for one in [*guesses, *systems])]
    assert list(rows["kind"]) == ["people", "baseline", "baseline", "model", "model"]
    n_contested = (votes.shares.max(axis=1) < 0.6 - 1e-9).sum()
    assert 0 < n_contested < len(votes)
    for one in [*guesses, *systems]:
        row = rows.loc[one.name]
        assert (row["n_items"], row["n_contested"]) == (len(votes), n_contested)
        pair = one.aligned_to(votes).human, one.aligned_to(votes).model
        for name, expected in (
            ("spearman", entropy_correlation(*pair)),
            ("auroc", contested_auroc(*pair, majority_below=0.6)),
        ):
            found = row[[name, f"{name}_low", f"{name}_high"]].astype(float)
            np.testing.assert_array_equal(found, [expected.value, expected.low, expected.high])
    # Five of the people know it better than a guess that has three answers; another seed draws
    # others, whose mean lies well inside the spread.
    five = rows.loc["five people"]
    assert five["spearman_low"] < five["spearman"] < five["spearman_high"]
    assert five["spearman"] > rows["spearman"].iloc[1]
    again = results.disagreement_signal.function(votes, systems, majority_below=0.6, seed=1)
    away = abs(again["spearman"].iloc[0] - five["spearman"])
    assert 0 < away < 0.2 * (five["spearman_high"] - five["spearman_low"])
    # Without systems or many votes there are fewer rows.
    assert signals(votes, []).empty
    few = replace(votes, counts=frozen(np.minimum(votes.counts, 3)))
    assert signals(few, synthetic_systems(few)[:1])["kind"].tolist() == ["baseline"] * 2 + ["model"]


def test_people_are_judged_by_the_others_who_voted(sample):
    counts = np.array([[12, 6, 2], [20, 0, 0]])
    votes = replace(first_items(sample[0], 2), counts=frozen(counts))
    rows = results.misplaced.function(votes, [], n_resamples=20, seed=0).set_index("system")
    voters = np.repeat(np.arange(3), counts[0])
    five = [np.bincount(voters[list(few)], minlength=3) for few in combinations(range(20), 5)]
    others = (counts[0] - np.array(five)) / 15
    expected = total_variation(others, np.array(five) / 5).mean() / 2  # nobody differs on the other
    assert rows.loc["five people", "misplaced"] == pytest.approx(100 * expected)
    two_differ = 1 - pairwise_agreement(counts).mean()
    assert rows.loc["one person", "misplaced"] == pytest.approx(100 * two_differ)
    few = replace(votes, counts=frozen(counts // 2))
    assert results.misplaced.function(few, [], n_resamples=20, seed=0).empty


def test_systems_misplace_what_their_distance_says_as_they_are_and_recalibrated(sample):
    votes = sample[0]
    near, far = synthetic_systems(votes)[:2]
    part = on_items(far, np.arange(20, len(votes)))
    rows = results.misplaced.function(votes, [near, part], n_resamples=200, seed=0)
    rows = rows.set_index(["system", "how"])
    expected = score(votes, [near, part, uniform(votes)], measures=["dist_ce"])
    as_they_are = rows.xs("as it is", level="how")
    for row in expected.to_dict("records"):
        assert as_they_are.loc[row["system"], "misplaced"] == pytest.approx(100 * row["value"])
    labels = as_they_are.loc[["majority label", "old label"], "misplaced"]
    given = (votes.majority, votes.old_label)
    shares = [votes.shares[np.arange(len(votes)), label].mean() for label in given]
    assert labels.tolist() == pytest.approx([100 * (1 - share) for share in shares])
    has_map = too_few_to_recalibrate(len(votes), 3) == ""
    assert ((near.name, "recalibrated") in rows.index) == has_map
    ends = rows.dropna(subset="misplaced_low")
    assert ends["misplaced"].between(ends["misplaced_low"], ends["misplaced_high"]).all()


def test_the_figure_has_people_the_range_of_the_models_and_the_nearest_once_recalibrated():
    def row(system, how, misplaced, kind="model", of_paper=True):
        ends = {"misplaced_low": misplaced - 1, "misplaced_high": misplaced + 1}
        about = {"dataset": "mnli", "system": system, "how": how, "kind": kind}
        return about | {"of_paper": of_paper, "misplaced": misplaced} | ends

    table = pd.DataFrame([
        row("second crowd", "as it is", 6, "reference", False),
        row("five people", "as it is", 20, "people", False),
        row("one person", "as it is", 46, "people", False),
        row("uniform guess", "as it is", 34, "baseline", False),
        row("bert-base", "as it is", 35), row("bert-base", "recalibrated", 23),
        row("roberta-large", "as it is", 36), row("roberta-large", "recalibrated", 18),
        row("later", "as it is", 30, of_paper=False),
        row("later", "recalibrated", 10, of_paper=False),
    ])  # fmt: skip
    drawn = results.drawn_misplaced(table, dataset="snli").rows.set_index(["label", "how"])
    assert list(drawn.index) == [
        ("second crowd", "as it is"), ("five people", "as it is"), ("uniform guess", "as it is"),
        ("the two models of 2020", "range"), ("RoBERTa-large", "as it is"),
        ("RoBERTa-large", "recalibrated"),
    ]  # fmt: skip
    models = drawn.loc[("the two models of 2020", "range")]
    assert models[["low", "high"]].tolist() == [35, 36]
    assert np.isnan(models["misplaced"])  # the middle of a range is no model's
    assert {*results.DRAWN_MISPLACED} == {*drawn.reset_index()}
    own = results.drawn_misplaced(table[~table["of_paper"]], dataset="mnli").rows
    assert own.query("kind == 'model'")["label"].tolist() == ["later", "later"]
    assert results.drawn_misplaced(table.head(0), dataset="mnli").rows.empty


def test_a_worth_is_drawn_in_people_beside_its_skill(sample):
    evidence = evidence_on(sample[:1], lambda votes: synthetic_systems(votes)[:1])
    table = results.human_equivalents(evidence, n_draws=2, n_resamples=20, seed=0)
    drawn = results.drawn_worth(table.rows).rows
    said = table.rows.set_index(["system", "measure"])["value"]
    for row in drawn[drawn["how"] == "as it is"].to_dict("records"):
        assert row["people"] == pytest.approx(said[row["system"], worths.PEOPLE])
        assert row["skill"] == pytest.approx(said[row["system"], worths.SKILL])
    assert "original votes" in set(drawn["system"])
    assert not {"uniform guess", "base rate", "class prior", "old label"} & set(drawn["system"])


def test_five_people_misplace_fewer_votes_than_models_and_the_nine_more_than_a_guess_on_mnli(
    released,
):
    evidence = evidence_on(released, released_systems)
    table = results.misplaced(evidence, n_resamples=20, seed=0)
    rows = table.rows.set_index(["system", "how"])
    as_they_are = rows.xs("as it is", level="how").pivot(columns="dataset", values="misplaced")
    people = as_they_are.loc[["second crowd", "five people", "one person", "uniform guess"]]
    assert people[["snli", "mnli", "alphanli"]].round().to_numpy().tolist() == [
        [5, 6, 3], [16, 20, 9], [34, 46, 18], [44, 34, 38],
    ]  # fmt: skip
    nine = table.rows[table.rows["of_paper"] & (table.rows["how"] == "as it is")]
    ends = nine.groupby("dataset")["misplaced"].agg(["min", "max"]).round()
    assert ends.loc["mnli"].tolist() == [35, 37]
    assert ends.loc["snli"].tolist() == [23, 26]
    assert (
        round(rows.query("dataset == 'mnli'").loc[("roberta-large", "recalibrated"), "misplaced"])
        == 18
    )

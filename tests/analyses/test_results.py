from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_of, evidence_on
from scipy.stats import spearmanr

from chaos_utils.analyses import results
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import frozen
from chaos_utils.metrics.resampling import holm
from chaos_utils.metrics.signals import contested_auroc, entropy_correlation
from chaos_utils.scoring import human_equivalents as people
from chaos_utils.scoring import worth as worths
from chaos_utils.scoring.published import published_models
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
    nine = results.nine_models(drawn, dataset="mnli").rows
    assert (nine["kind"] == "model").sum() == 9
    assert (nine["source"] == "computed").all()
    paired = results.models_against_guesses(evidence, n_resamples=20_000, seed=0)
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
    evidence = evidence_on(sample[:1], lambda votes: synthetic_systems(votes)[:1])
    equivalents = results.human_equivalents(evidence, n_draws=2, **given)
    table = results.add_worth(results.main_results(evidence, **given), equivalents).rows
    said = equivalents.rows.set_index(["measure", "system"])["text"][worths.PEOPLE]
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

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from chaos_utils.analyses import results
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.references import reference_scores
from chaos_utils.datasets.votes import frozen
from chaos_utils.metrics.signals import contested_auroc, entropy_correlation
from chaos_utils.plots.results import plot_human_equivalents, plot_results
from chaos_utils.report.columns import lay_out
from chaos_utils.scoring.human_equivalents import BRIER, JSD, NAMES, TVD
from chaos_utils.scoring.systems import (
    computed,
    oracle,
    original_votes,
    synthetic_systems,
)


@pytest.fixture(scope="module")
def table(released):
    return results.main_results(gather("auto", []), n_resamples=50, seed=0)


def test_every_row_of_the_paper_is_there(table):
    counts = table.rows.groupby(["dataset", "kind", "source"]).size()
    for dataset in ("snli", "mnli", "alphanli"):
        assert counts[dataset, "chance", "computed"] == 1
        assert counts[dataset, "model", "published"] == 9
        assert counts[dataset, "human", "published"] == 1
        n_baselines = 4 if dataset == "alphanli" else 5  # αNLI has no original votes
        assert counts[dataset, "baseline", "computed"] == n_baselines
    assert counts["snli", "model", "computed"] >= 5


def test_chance_rows_equal_the_paper_s(table):
    chance = table.rows[table.rows["kind"] == "chance"]
    for measure in results.TABLE_5:
        assert chance[f"difference_{measure}"].abs().max() < 3e-4


def test_intervals_hold_their_values(table):
    rows = table.rows[(table.rows["source"] == "computed") & (table.rows["kind"] == "model")]
    for measure in results.TABLE_5:
        assert (rows[f"{measure}_low"] < rows[measure]).all()
        assert (rows[measure] < rows[f"{measure}_high"]).all()


def test_on_mnli_no_published_model_is_nearer_than_the_uniform_guess(table):
    counts = results.better_than_chance(table).rows.set_index(["dataset", "measure"])["n_better"]
    assert counts["mnli", "jsd"] == 0
    assert counts["mnli", "kl"] == 0
    assert counts["snli", "jsd"] == 9


def test_sizes_and_ranks():
    sizes = results.size_effects()
    rows = sizes.rows.set_index(["dataset", "family"])
    assert rows.loc[("snli", "RoBERTa"), "change_jsd"] == pytest.approx(0.2210 - 0.2294)
    assert [one.name for one in sizes.inputs] == ["published/nie2020_table5.csv"]
    ranks = results.rank_correlations().rows
    assert ranks["spearman"].between(-1, 1).all()
    assert len(ranks) == 12
    assert set(ranks["n_models"]) == {9}


@pytest.fixture(scope="module")
def references(released):
    return reference_scores(gather("auto"), seed=0, measures=["jsd", "kl"])


def test_the_figure_draws_every_system_and_the_references(table, references):
    drawn = results.drawn_results(table, references)
    kinds = drawn.rows.groupby("measure")["kind"].value_counts()
    assert (kinds["jsd", "floor"], kinds["jsd", "ceiling"], kinds["kl", "floor"]) == (3, 3, 3)
    assert ("kl", "ceiling") not in kinds.index
    floor = references.rows.query("system == 'perfect model' and measure == 'jsd'")["value"]
    assert (
        floor.tolist() == drawn.rows.query("kind == 'floor' and measure == 'jsd'")["value"].tolist()
    )
    assert "BERT-large" in set(drawn.rows["system"])


def test_a_published_row_has_no_interval_and_chance_stands_beside_the_paper_s(table):
    header, cells = lay_out(table.on("snli").rows, results.COLUMNS)
    assert [names[0] for names in header][:4] == ["dataset", "system", "source", "JSD"]
    by_system = {row[1]: row for row in cells}
    assert "[paper" in by_system["chance"][3]
    assert "[" not in by_system["BART-large"][3]
    assert "[" in by_system["RoBERTa-base, seed 0"][3]
    assert by_system["BART-large"][-1] == "–"
    assert by_system["RoBERTa-base, seed 0"][-1].startswith("1.6 [")


def test_simple_guesses_that_beat_every_published_model(table):
    against = results.baselines_against_models(table)
    assert len(against) == 2 * (6 + 6 + 5)
    assert set(against.rows["n_models"]) == {9}
    jsd = against.rows[against.rows["measure"] == "jsd"].set_index(["system", "dataset"])
    beaten = jsd["n_beaten"]
    for dataset in ("mnli", "alphanli"):
        assert beaten["mean vote given the old label", dataset] == 9
    assert beaten["mean vote", "mnli"] == beaten["original votes", "mnli"] == 9
    assert beaten["old label", "alphanli"] == 9
    assert beaten["old label", "mnli"] == beaten["mean vote", "snli"] == 0
    assert (jsd["n_beyond"] <= beaten).all()
    beside = results.counts_beside(against.rows).set_index("system")
    assert beside.loc["mean vote given the old label", "snli"] == f"{beaten.iloc[3]} of 9"
    assert beside.loc["original votes", "alphanli"] == "–"


def test_no_published_models_give_no_counts(sample):
    rows = results.main_results.function(sample[0], [], n_resamples=20, seed=0)
    own = rows[rows["source"] == "computed"]
    assert results.baselines_against_models(own).rows.empty
    assert results.counts_beside(results.baselines_against_models(own).rows).empty


@pytest.fixture(scope="module")
def worth(released):
    given = {"temperatures": [1.0, 2.0], "n_draws": 4, "n_resamples": 40, "seed": 0}
    return results.human_equivalents(gather("auto", []), **given)


def test_what_systems_are_worth_in_people(worth):
    rows = worth.rows.set_index(["dataset", "system", "temperature", "measure"])
    assert rows.loc[("snli", "RoBERTa-base, seed 1", 2, BRIER), "text"] == "2.5 [2.3, 2.7]"
    assert rows.loc[("mnli", "original votes", 1, BRIER), "value"] == pytest.approx(4.8, abs=0.1)
    assert "other items" in rows.loc[("mnli", "mean vote", 1, BRIER), "note"]
    judges = worth.rows.groupby("measure")["n_judges"].first()
    assert judges[TVD] == judges[JSD] == 50
    header, cells = lay_out(
        results.equivalents_beside(worth.rows), results.equivalent_columns(worth.rows)
    )
    assert [names[0] for names in header][2:] == ["squared distance", "TVD, m = 50", "JSD, m = 50"]
    assert ["SNLI", "RoBERTa-base, seed 1, T = 2", "2.5 [2.3, 2.7]"] in [row[:3] for row in cells]


def test_a_system_that_was_made_from_the_votes_has_a_note_and_no_value(sample):
    given = {"temperatures": [1.0], "n_draws": 2, "n_resamples": 20, "seed": 0}
    votes = sample[0]
    rows = results.human_equivalents.function(votes, [oracle(votes)], **given)
    refused = rows[rows["system"] == "oracle"]
    assert refused["measure"].tolist() == list(NAMES)
    assert refused["value"].isna().all()
    assert set(refused["note"]) == {"made from the votes that judge it"}
    beside = results.equivalents_beside(rows).set_index("system")
    assert beside.loc["oracle", BRIER] == "made from the votes that judge it"
    drawn = results.drawn_equivalents(results.crowd_curves(gather("sample").named("snli"),
                                                           n_draws=2, seed=0), rows)  # fmt: skip
    assert "oracle" not in set(drawn.rows["system"])


def test_a_curve_falls_with_the_crowd(sample):
    curves = results.crowd_curves.function(sample[0], n_draws=3, seed=0)
    for measure, rows in curves.groupby("measure"):
        assert rows["value"].is_monotonic_decreasing
        assert rows["n_judges"].isna().all() == (measure == BRIER)
    brier = curves[curves["measure"] == BRIER].set_index("n_people")["value"]
    assert brier[10] == pytest.approx(brier[1] / 10)


def test_votes_of_one_person_give_empty_tables(sample):
    single = replace(sample[0], counts=frozen(np.eye(3)[sample[0].majority]))
    given = {"n_draws": 2, "n_resamples": 20, "seed": 0}
    assert results.crowd_curves.function(single, n_draws=2, seed=0).empty
    assert results.human_equivalents.function(single, [], temperatures=[1.0], **given).empty
    rows = results.main_results.function(single, [], n_resamples=20, seed=0)
    assert rows["people"].isna().all()


def test_the_figures_place_systems_by_their_values(table, worth, references):
    curves = results.crowd_curves(gather("auto", []), n_draws=2, seed=0)
    drawn = results.drawn_equivalents(curves, worth)
    rows = drawn.rows
    of_one = rows[(rows["kind"] == "crowd") & (rows["n_people"] == 1)].set_index("dataset")["value"]
    expected = rows["dataset"].map(of_one) / rows["n_people"]
    np.testing.assert_allclose(rows["value"], expected)
    figure = plot_human_equivalents(rows)
    texts = [{text.get_text() for text in axis.texts} for axis in figure.axes]
    assert {"RoBERTa-base", "RoBERTa-base, T = 2", "mean vote", "50 people"} <= texts[0]
    plt.close(figure)
    shown = results.drawn_results(table, references).rows
    figure = plot_results(shown)
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()][::-1]
    assert names[:2] == ["estimated human", "mean vote given the old label"]
    jsd = shown[(shown["dataset"] == "snli") & (shown["measure"] == "jsd")].set_index("system")
    models = [name for name in names if jsd.loc[name, "kind"] == "model"]
    assert jsd.loc[models, "value"].is_monotonic_increasing
    plt.close(figure)


def signals(votes, systems):
    return results.disagreement_signal.function(votes, systems, majority_below=0.6, seed=0)


def test_a_signal_is_what_the_metrics_give(sample):
    votes = sample[0]
    systems = synthetic_systems(votes)[:2]
    rows = signals(votes, systems).set_index("system")
    of_label = np.array([votes.shares[votes.old_label == k].mean(axis=0) for k in range(3)])
    guesses = [
        computed("mean vote given the old label", votes, of_label[votes.old_label], origin="yours"),
        original_votes(votes),
    ]
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
    # Five of the people know it better than a guess that has three answers.
    assert rows.loc["five people", "spearman_low"] > rows["spearman_high"].iloc[1]


def test_models_know_less_of_disagreement_than_five_people(released):
    material = gather("auto", [])
    rows = results.disagreement_signal(material, majority_below=0.6, seed=0).rows
    for _, group in rows.groupby("dataset"):
        people = group[group["kind"] == "people"].iloc[0]
        models = group[group["kind"] == "model"]
        for name in ("spearman", "auroc"):
            assert (models[f"{name}_high"] < people[f"{name}_low"]).all()
    header, cells = lay_out(rows, results.SIGNAL_COLUMNS)
    assert header == [["dataset"], ["system"], ["Spearman"], ["AUROC"]]
    assert ["SNLI", "RoBERTa-base, seed 0", "0.37 [0.32, 0.41]", "0.64 [0.61, 0.68]"] in cells


def test_without_systems_or_many_votes_a_signal_has_fewer_rows(sample):
    assert signals(sample[0], []).empty
    few = replace(sample[0], counts=frozen(np.minimum(sample[0].counts, 3)))
    rows = signals(few, synthetic_systems(few)[:1])
    assert "people" not in set(rows["kind"])
    assert len(rows) == 3


def test_several_seeds_have_a_row_of_their_mean(table):
    rows = table.on("snli").rows.set_index("system")
    seeds = rows[rows.index.str.startswith("RoBERTa-base, seed")]
    mean = rows.loc["RoBERTa-base, mean of 3 seeds"]
    assert mean["n_seeds"] == len(seeds) == 3
    assert mean["jsd"] == pytest.approx(seeds["jsd"].mean(), rel=1e-8)
    width = mean["jsd_high"] - mean["jsd_low"]
    assert width > (seeds["jsd_high"] - seeds["jsd_low"]).max()  # other seeds count too

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.rows import row, write_rows
from helpers.runs import write_run

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.chaosnli import read_chaosnli
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.metrics import measures
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.scoring import systems
from chaos_utils.scoring.scores import COLUMNS, how_often_best, score, wide


@pytest.fixture
def votes(sample):
    return sample[0]


def test_baselines_score_as_they_must(votes):
    table = wide(score(votes, [systems.oracle(votes), systems.old_label(votes),
                                     systems.uniform(votes)]))  # fmt: skip
    scores = table.set_index("system")
    assert scores.loc["oracle", ["jsd", "kl", "dist_ce", "ece_votes"]].abs().max() < 1e-12
    assert scores.loc["old label", "old_accuracy"] == 1
    assert scores.loc["uniform", "ent_ce"] > 0
    assert list(table["system"]) == ["oracle", "old label", "uniform"]


def test_intervals_hold_their_values_and_do_not_depend_on_company(votes):
    models = systems.load_systems(votes)
    together = score(votes, models, n_resamples=200, seed=3)
    linear = [m for m in MEASURES if "ece" not in m and m != "mce"]  # bins bias a resample
    rows = together[together["measure"].isin(linear)]
    assert (rows["low"] <= rows["value"]).all()
    assert (rows["value"] <= rows["high"]).all()
    alone = score(votes, models[1:2], n_resamples=200, seed=3)
    same = together[together["system"] == models[1].name]
    np.testing.assert_allclose(same[["value", "low", "high"]], alone[["value", "low", "high"]])


def test_neither_the_order_of_a_system_s_items_nor_that_of_systems_matters(votes):
    models = systems.load_systems(votes)
    options = {"reference": models[0].name, "n_resamples": 100, "seed": 2}
    order = np.random.default_rng(1).permutation(len(votes))
    shuffled = [
        replace(one, uids=tuple(one.uids[i] for i in order), predicted=one.predicted[order],
                probabilities=one.probabilities[order])
        for one in models
    ]  # fmt: skip
    expected = score(votes, models, **options)
    pd.testing.assert_frame_equal(score(votes, shuffled, **options), expected, check_exact=True)
    keys = ["system", "reference", "measure"]
    turned = score(votes, models[::-1], **options)
    numbers = [*keys, "n_items", "value", "low", "high", "p"]
    first, second = (
        one[numbers].sort_values(keys, ignore_index=True) for one in (expected, turned)
    )
    pd.testing.assert_frame_equal(first, second, rtol=1e-9, atol=1e-12)


def test_an_interval_covers_the_population_s_value_as_often_as_it_says(votes):
    # Each of 300 groups is a sample of 40 items with 20 votes each, from a known population.
    rng = np.random.default_rng(7)

    def counts(n):
        return rng.multinomial(20, rng.dirichlet((0.4, 0.7, 0.3), size=n))

    n_samples, n_items = 300, 40
    drawn = counts(n_samples * n_items)
    many = replace(
        votes, uids=tuple(map(str, range(len(drawn)))), counts=drawn, majority=drawn.argmax(axis=1),
        given_old_label=None, given_old_votes=None, texts=(),
    )  # fmt: skip
    groups = {str(i): range(i * n_items, (i + 1) * n_items) for i in range(n_samples)}
    table = score(many, [systems.uniform(many)], measures=["dist_ce"], groups=groups,
                  n_resamples=400)  # fmt: skip
    truth = np.abs(counts(400_000) / 20 - 1 / 3).sum(axis=1).mean() / 2
    covered = ((table["low"] <= truth) & (truth <= table["high"])).mean()
    assert 0.90 <= covered <= 0.98


def test_systems_that_cover_other_items_are_judged_on_theirs(votes):
    whole = systems.oracle(votes)
    part = systems.System(
        "part", votes.dataset, votes.uids[:50], whole.probabilities[:50], whole.predicted[:50]
    )
    table = score(votes, [whole, part], measures=["jsd"], n_resamples=20)
    assert table["n_items"].tolist() == [300, 50]


def test_bad_company(votes, sample):
    one = systems.uniform(votes)
    with pytest.raises(ChaosError, match="same name"):
        score(votes, [one, one])
    with pytest.raises(ChaosError, match="predicts another dataset"):
        score(votes, [systems.uniform(sample[1])])


def test_temperature_keeps_the_ranking_and_moves_the_entropy(votes):
    model = systems.load_systems(votes)[0]
    flat, sharp = model.at_temperature(3.0), model.at_temperature(0.5)
    table = wide(score(votes, [model, _named(flat, "flat"), _named(sharp, "sharp")]))
    assert table["rank_cs"].nunique() == 1
    assert table["new_accuracy"].nunique() == 1
    entropies = table.set_index("system")["signed_ent_ce"]
    assert entropies["sharp"] < entropies[model.name] < entropies["flat"]
    same = model.at_temperature(1.0)
    np.testing.assert_allclose(same.probabilities, model.probabilities, atol=1e-12)
    with pytest.raises(ValueError, match="temperature"):
        model.at_temperature(0)


def _named(system, name):
    return replace(system, name=name)


def test_a_reader_s_file_stands_beside_the_rest(votes, tmp_path, reader_in):
    header = "uid,entailment,neutral,contradiction"
    lines = [f"{uid},0.4,0.4,0.2" for uid in votes.uids]
    (tmp_path / "mine.csv").write_text("\n".join([header, *lines]))
    reader_in(tmp_path)
    names = [system.name for system in systems.load_systems(votes, ["mine.csv"])]
    assert names == [f"synthetic model, seed {seed}" for seed in range(3)] + ["mine"]
    with pytest.raises(ChaosError, match="same name"):
        systems.load_systems(votes, ["mine.csv", "mine.csv"])


def test_own_data_has_no_systems_but_one_s_own(tmp_path):
    rows = [row(uid=f"u{i}") for i in range(3)]
    votes = read_chaosnli(write_rows(tmp_path / "f", rows), get_dataset("snli"))
    assert systems.load_systems(votes) == []


def test_the_project_s_ordinary_runs_stand_beside_the_released_systems(
    released, tmp_path, monkeypatch
):
    snli, mnli, alphanli = released
    shares = [one.shares[:, ::-1] for one in (snli, mnli)]
    write_run(tmp_path / "plain", [snli, mnli], shares, system="Ours, seed 0")
    write_run(tmp_path / "part", [snli, mnli], shares, settings={"max_train_examples": 9})
    write_run(tmp_path / "smooth", [snli, mnli], shares, settings={"label_smoothing": 0.1})
    for size in (5, 9):  # of this encoder there is nothing larger
        settings = {"model": "mpnet-base", "max_train_examples": size}
        write_run(tmp_path / f"{size}", [snli, mnli], shares, settings=settings, system=f"{size}")
    monkeypatch.setattr(paths, "results", lambda: tmp_path)
    for votes in (snli, mnli):
        ours, larger = systems.trained_systems(votes)
        assert larger.name == "9"
        assert [one.name for one in systems.load_systems(votes)[-2:]] == [ours.name, "9"]
        assert ours.name == "Ours, seed 0"
        assert ours.uids == votes.uids
        np.testing.assert_allclose(ours.probabilities, votes.shares[:, ::-1], atol=1e-6)
        assert [entry.name for entry in ours.inputs] == [
            "results/plain/predictions.parquet", "results/plain/run.json",
        ]  # fmt: skip
    assert systems.trained_systems(alphanli) == []


def test_chance_equals_table_5(released):
    published = read_published("nie2020_table5").query("model == 'chance'").set_index("dataset")
    for votes in released:
        table = wide(score(votes, [systems.uniform(votes)], measures=["jsd", "kl"]))
        for measure in ("jsd", "kl"):
            theirs = published.loc[votes.dataset.name, measure]
            assert table.loc[0, measure] == pytest.approx(theirs, abs=3e-4)


def test_the_prior_does_not_know_its_own_item(votes):
    prior = systems.class_prior(votes)
    assert 1 < len(np.unique(prior.probabilities, axis=0)) <= 10  # one a fold
    np.testing.assert_allclose(prior.probabilities.sum(axis=1), 1)


def test_a_comparison_is_paired(votes):
    from statsmodels.stats.multitest import multipletests

    first, second = systems.load_systems(votes)[:2]
    table = score(votes, [first, second], reference=second.name, n_resamples=400, seed=1)
    gaps = table[table["reference"] == second.name].set_index("measure")
    values = wide(table).set_index("system")
    for measure in gaps.index:
        expected = values.loc[first.name, measure] - values.loc[second.name, measure]
        assert gaps.loc[measure, "value"] == pytest.approx(expected, abs=1e-12)
    assert set(gaps["system"]) == {first.name}
    gaps = gaps[gaps["interval"] != ""]
    assert set(gaps["interval"]) == {"percentile"}
    assert set(gaps["n_resamples"]) == {400}
    assert gaps["p"].between(0, 1).all()
    np.testing.assert_array_equal(gaps["p"] < 0.05, (gaps["low"] > 0) | (gaps["high"] < 0))
    np.testing.assert_allclose(gaps["p_holm"], multipletests(gaps["p"], method="holm")[1])
    assert table.loc[table["reference"] == "", ["p", "p_holm"]].isna().all(axis=None)
    same = score(votes, [first, replace(first, name="same")], reference="same", n_resamples=50)
    same = same[same["reference"] == "same"]
    assert (same["value"] == 0).all()
    assert (same["p"].dropna() == 1).all()
    assert (same[["low", "high"]].dropna() == 0).all(axis=None)
    clear = score(votes, [first, systems.uniform(votes)], measures=["jsd"], reference="uniform",
                  n_resamples=400).iloc[-1]  # fmt: skip
    assert clear["high"] < 0
    assert clear["p"] < 0.01


def test_each_row_says_what_the_system_is_and_what_its_interval_is_for(votes):
    models = systems.load_systems(votes)
    table = score(votes, [models[1], systems.uniform(votes)], measures=["jsd"], n_resamples=20)
    assert tuple(table.columns) == COLUMNS
    row = table.iloc[0]
    assert (row["family"], row["seed"], row["origin"]) == ("synthetic model", 1, "simulated")
    assert table["origin"].tolist() == ["simulated", "baseline"]
    assert set(table["estimand"]) == {"items resampled, each with its votes"}
    assert set(score(votes, models, measures=["jsd"])["estimand"]) == {""}


def test_groups_are_scored_as_if_alone(votes):
    one = systems.load_systems(votes)[0]
    groups = {"first": range(100), "rest": range(100, 300)}
    table = score(votes, [one], groups=groups, measures=["jsd", "ece"], n_resamples=50)
    part = replace(
        one, uids=one.uids[:100], probabilities=one.probabilities[:100],
        predicted=one.predicted[:100],
    )  # fmt: skip
    alone = score(votes, [part], measures=["jsd", "ece"])
    np.testing.assert_allclose(table[table["group"] == "first"]["value"], alone["value"])
    assert table["n_items"].tolist() == [100, 100, 200, 200]
    with pytest.raises(ChaosError, match="no item in common"):
        score(votes, [part], groups={"rest": range(100, 300)})


def test_only_what_covers_its_truth_has_an_interval(votes):
    both = [systems.uniform(votes), systems.oracle(votes)]
    table = score(votes, both, reference="uniform", n_resamples=50)
    assert set(table["reference"]) == {"", "uniform"}
    for name, rows in table.groupby("measure"):
        ends = rows[["low", "high"]].to_numpy()
        if MEASURES[name].has_interval:
            assert np.isfinite(ends).all() or name == "kendall_tau"
            assert rows["estimand"].str.endswith(MEASURES[name].estimand).all()
            assert rows["estimand"].str.startswith("items resampled").all()
        else:
            assert np.isnan(ends).all()
            assert rows[["p", "p_holm"]].isna().all(axis=None)
            assert set(rows["interval"]) == set(rows["estimand"]) == {""}


def test_what_votes_lack_a_measure_asks_for_in_one_way(votes):
    single = replace(votes, counts=np.eye(3, dtype=int)[votes.majority])
    assert "sq_distance" in set(score(votes, [systems.uniform(votes)])["measure"])
    assert "sq_distance" not in set(score(single, [systems.uniform(single)])["measure"])
    with pytest.raises(ChaosError, match="needs at least two votes on each item"):
        score(single, [systems.uniform(single)], measures=["sq_distance"])
    with pytest.raises(ChaosError, match="needs ordered labels"):
        score(votes, [systems.uniform(votes)], measures=["wasserstein"])
    ordered = votes.dataset.model_copy(update={"ordered": True})
    scale = replace(votes, dataset=ordered)
    (row,) = score(scale, [systems.oracle(scale)], measures=["wasserstein"]).to_dict("records")
    assert row["value"] == 0


def test_a_measure_that_needs_old_labels_is_left_out_where_there_are_none(votes):
    bare = replace(votes, given_old_label=None, given_old_votes=None)
    one = [systems.uniform(bare)]
    assert "old_accuracy" not in set(score(bare, one)["measure"])
    assert "new_accuracy" in set(score(bare, one)["measure"])
    with pytest.raises(ChaosError, match="needs old labels"):
        score(bare, one, measures=["old_accuracy"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": ["jds"]}, "did you mean 'jsd'"),
        ({"seed": -1}, "The seed is out of its range"),
        ({"n_resamples": -1}, "number of resamples"),
        ({"level": 95}, "between 0 and 1"),
        ({"reference": "other"}, "no such system"),
        ({"reference": "uniform", "n_resamples": 39}, "at least 40"),
        ({"reference": "uniform", "n_resamples": 40, "level": 0.99}, "at least 200"),
    ],
)
def test_bad_options(votes, options, message):
    with pytest.raises(ChaosError, match=message):
        score(votes, [systems.uniform(votes)], **options)


def test_one_item_has_scores(votes):
    one = replace(
        votes, uids=votes.uids[:1], counts=votes.counts[:1], majority=votes.majority[:1],
        given_old_label=votes.old_label[:1], given_old_votes=votes.old_votes[:1],
        texts=votes.texts[:1],
    )  # fmt: skip
    table = score(one, [systems.uniform(one), systems.oracle(one)], reference="oracle",
                  n_resamples=40)  # fmt: skip
    assert table["n_items"].eq(1).all()
    undefined = table[(table["reference"] == "") & table["value"].isna()]
    assert set(undefined["measure"]) <= {"kendall_tau"}  # of even shares there is no ranking


def test_systems_without_a_common_item(votes):
    one = systems.uniform(votes)
    parts = [
        systems.System(name, one.dataset, uids, one.probabilities[:3], one.predicted[:3])
        for name, uids in (("a", one.uids[:3]), ("b", one.uids[3:6]))
    ]
    with pytest.raises(ChaosError, match="share no item"):
        score(votes, parts, reference="a", n_resamples=40)


def test_labels_in_another_order_are_another_dataset(votes):
    one = systems.uniform(votes)
    swapped = votes.dataset.model_copy(update={"classes": votes.dataset.classes[::-1]})
    with pytest.raises(ChaosError, match="labels in another order"):
        replace(one, dataset=swapped).aligned_to(votes)


def test_an_undefined_difference_has_no_p_value(votes):
    both = [systems.load_systems(votes)[0], systems.uniform(votes)]
    table = score(votes, both, measures=["kendall_tau", "jsd"], reference="uniform",
                  n_resamples=50)  # fmt: skip
    gaps = table[table["reference"] == "uniform"].set_index("measure")
    assert np.isnan(gaps.loc["kendall_tau", ["value", "p", "p_holm"]].astype(float)).all()
    assert gaps.loc["jsd", "p_holm"] == gaps.loc["jsd", "p"]


def test_a_group_is_a_mask_or_positions(votes):
    one = systems.load_systems(votes)[:1]
    mask = np.arange(len(votes)) < 200
    options = {"measures": ["jsd", "adaptive_ece"], "n_resamples": 20}
    first = score(votes, one, groups={"part": mask}, **options)
    same = score(votes, one, groups={"part": np.flatnonzero(mask)}, **options)
    assert first["n_items"].eq(200).all()
    np.testing.assert_array_equal(first[["value", "low", "high"]], same[["value", "low", "high"]])
    with pytest.raises(ChaosError, match="no items, or names one that does not exist"):
        score(votes, one, groups={"part": [len(votes)]})


def test_bins_of_a_group_are_cut_on_its_items(votes):
    one = systems.load_systems(votes)[0]
    part = replace(
        one, uids=one.uids[:200], probabilities=one.probabilities[:200],
        predicted=one.predicted[:200],
    )  # fmt: skip
    of_group = score(votes, [one], groups={"g": range(200)}, measures=["adaptive_ece"])
    alone = score(votes, [part], measures=["adaptive_ece"])
    assert of_group["value"].iloc[0] == pytest.approx(alone["value"].iloc[0], abs=1e-12)


def test_p_and_interval_agree_with_the_data_s_own_verdict(votes):
    models = systems.load_systems(votes)
    table = score(votes, models, measures=["jsd", "new_accuracy"], reference=models[0].name,
                  n_resamples=60, level=0.9)  # fmt: skip
    gaps = table[table["reference"] != ""]
    out = (gaps["low"] > 0) | (gaps["high"] < 0)
    np.testing.assert_array_equal(gaps["p"] < 0.1, out)


def test_the_best_system_is_said_with_how_often_it_is(votes):
    first, second = systems.load_systems(votes)[:2]
    same = replace(first, name="same")
    names = ["jsd", "new_accuracy", "signed_ent_ce"]
    options = {"measures": names, "n_resamples": 300, "seed": 1}
    table = how_often_best(votes, [first, second, same], **options)
    wide_table = table.pivot(index="system", columns="measure", values="best")
    np.testing.assert_allclose(wide_table.sum(), 1)
    tied = table.pivot(index="system", columns="measure", values="tied")
    # Two systems that are one share each resample in which they are best.
    np.testing.assert_allclose(wide_table.loc["same"], wide_table.loc[first.name])
    np.testing.assert_allclose(tied.loc["same", "jsd"], 2 * wide_table.loc["same", "jsd"])
    perfect = how_often_best(votes, [first, systems.oracle(votes)], **options)
    of_jsd = perfect[perfect["measure"] == "jsd"].set_index("system")["best"]
    assert of_jsd.to_dict() == {first.name: 0, "oracle": 1}
    values = score(votes, [first], measures=["jsd"])
    assert table["value"].iloc[0] == pytest.approx(values["value"].iloc[0])


def test_systems_are_best_on_the_items_that_all_cover(votes):
    whole = systems.load_systems(votes)[0]
    part = systems.System(
        "part", votes.dataset, votes.uids[:50], whole.probabilities[:50], whole.predicted[:50]
    )
    table = how_often_best(votes, [whole, part], measures=["jsd"], n_resamples=20)
    assert set(table["n_items"]) == {50}
    assert table["tied"].tolist() == [1, 1]
    other = replace(part, name="other", uids=votes.uids[50:100])
    with pytest.raises(ChaosError, match="covered by all systems"):
        how_often_best(votes, [part, other], n_resamples=20)
    with pytest.raises(ChaosError, match="Finding the best"):
        how_often_best(votes, [], n_resamples=20)


def test_columns_do_not_depend_on_how_many_items_are_held_at_once(votes, monkeypatch):
    judged = systems.mean_vote(votes).aligned_to(votes)
    for name in ("jsd", "rank_cs_expected", "ece", "sq_ce"):
        whole = MEASURES[name].columns(judged)
        with monkeypatch.context() as few:
            few.setattr(measures, "_CELLS", 7 * 9)
            np.testing.assert_array_equal(measures.columns_of(MEASURES[name], judged), whole)

import numpy as np
import pandas as pd
import pytest
from helpers.runs import write_run

from chaos_utils.analyses import trajectory
from chaos_utils.analyses.agreement import entropy_bins, score_bins
from chaos_utils.analyses.evidence import Evidence, Material
from chaos_utils.metrics.divergence import entropy
from chaos_utils.metrics.scores import expected_correct
from chaos_utils.scoring.systems import uniform


def mixed(votes, share):
    """Between the uniform guess and the human distribution."""
    return [share * one.shares + (1 - share) * uniform(one).probabilities for one in votes]


@pytest.fixture
def runs(tmp_path, sample):
    """Two sizes, one of them with two seeds, all pairs with a trajectory, and other kinds."""
    nli, stories = sample[:2], sample[2:]

    def write(name, votes, share, settings=None, **changes):
        return write_run(
            tmp_path / name, votes, mixed(votes, share), settings=settings or {}, **changes
        )

    course = {128: mixed(nli, 0.1), 1024: mixed(nli, 0.4), 8000: mixed(nli, 0.9)}
    return [
        write("large", nli, 0.9, trajectory=course),
        write("later", nli, 0.9, {"seed": 1}, trajectory={5: mixed(nli, 0.5)}),
        write("second", nli, 0.3, {"max_train_examples": 1000, "seed": 1, "epochs": 10}),
        write("small", nli, 0.2, {"max_train_examples": 1000, "epochs": 10}),
        write("smooth", nli, 0.5, {"label_smoothing": 0.1}),
        write("other", nli, 0.5, {"model": "mpnet-base"}),
        write("soft", nli, 1.0, {"train": "chaosnli", "loss": "soft"}),
        write("again", nli, 0.5, predicted={"run": "large", "mc_samples": 2}),
        write("stories", stories, 0.5),
    ]


def material(all_votes):
    return Material(tuple(Evidence((one.dataset,), (one,), None) for one in all_votes))


@pytest.fixture
def of_release(released):
    return material(released)


@pytest.fixture
def made(monkeypatch, sample):
    """The sample's votes as if they were not synthetic, so that runs are looked for."""
    monkeypatch.setattr(Material, "synthetic", False)
    return material(sample)


def growth(known, analysis=trajectory.by_size, pooled=True, n_bins=4, n_resamples=50):
    return analysis(
        trajectory.shown_as(known, pooled=pooled),
        model="minilm-l6", n_bins=n_bins, n_resamples=n_resamples, seed=0, level=0.95,
    )  # fmt: skip


def test_stages_with_several_seeds_have_intervals_for_other_seeds_too(runs, made):
    both = growth(trajectory.with_sizes(made, "minilm-l6", runs)).rows
    one_seed = [run for run in runs if run.settings["seed"] == 0]
    one = growth(trajectory.with_sizes(made, "minilm-l6", one_seed)).rows
    small = {"dataset": "snli+mnli", "items": 1000, "bin": 0, "measure": "jsd"}

    def row(table):
        (found,) = table[(table[list(small)] == pd.Series(small)).all(axis=1)].to_dict("records")
        return found

    several, alone = row(both), row(one)
    assert (several["n_seeds"], alone["n_seeds"]) == (2, 1)
    # The two seeds differ by far more than items do.
    assert several["high"] - several["low"] > 3 * (alone["high"] - alone["low"])
    assert several["change"] == several["change_low"] == several["change_high"] == 0


def course(made, runs, **options):
    return growth(trajectory.with_looks(made, "minilm-l6", runs), trajectory.by_look, **options)


def test_sizes_are_runs_of_one_model_with_hard_labels_alone(runs, made):
    known = trajectory.with_sizes(made, "minilm-l6", runs)
    found = [[(one.run, one.items, one.seed) for one in each.systems[0]] for each in known]
    of_nli = [("small", 1000, 0), ("second", 1000, 1), ("large", 4000, 0), ("later", 4000, 1)]
    assert found == [of_nli, of_nli, [("stories", 4000, 0)]]
    others = trajectory.with_sizes(made, "mpnet-base", runs)
    assert [[one.run for one in each.systems[0]] for each in others] == [["other"], ["other"], []]


def test_of_two_runs_alike_the_first_counts(runs, made, tmp_path, sample):
    twin = write_run(tmp_path / "twin", sample[:2], mixed(sample[:2], 0.7))
    known = trajectory.with_sizes(made, "minilm-l6", [*runs, twin])
    assert "twin" not in {one.run for one in known[0].systems[0]}


def test_a_trajectory_is_that_of_the_first_seed(runs, made, sample):
    stages = trajectory.with_looks(made, "minilm-l6", runs)[0].systems[0]
    found = [(stage.run, stage.items) for stage in stages]
    assert found == [("large", 128), ("large", 1024), ("large", 8000)]
    np.testing.assert_allclose(stages[1].probabilities, mixed(sample, 0.4)[0], atol=1e-6)


def test_tables_name_the_files_that_were_read(runs, made):
    table = growth(trajectory.with_sizes(made, "minilm-l6", runs))
    names = {entry.name for entry in table.on("alphanli").inputs}
    assert {name for name in names if name.startswith("results/")} == {
        "results/stories/run.json",
        "results/stories/predictions.parquet",
    }
    names = {entry.name for entry in course(made, runs).inputs}
    assert "results/large/trajectory.parquet" in names
    assert not {name for name in names if name.endswith("predictions.parquet")}


def test_runs_of_other_items_give_nothing(runs, of_release):
    sizes = growth(trajectory.with_sizes(of_release, "minilm-l6", runs))
    looks = course(of_release, runs)
    assert len(sizes) == len(looks) == 0


def test_scores_of_bins_are_those_of_the_chapter_on_agreement(runs, made, sample):
    table = course(made, runs, pooled=False).rows
    one = trajectory.with_looks(made, "minilm-l6", runs)[0].systems[0][0]
    scores = score_bins(sample[:1], [[one]], n_bins=4, n_resamples=5, seed=0)
    rows = table[(table["dataset"] == "snli") & (table["items"] == 128) & (table["bin"] > 0)]
    for measure, k in (("jsd", 0), ("old_accuracy", 2), ("new_accuracy", 3)):
        ours = rows[rows["measure"] == measure]
        np.testing.assert_allclose(ours["value"], scores.values[:, 0, k], rtol=1e-8)
        np.testing.assert_allclose(ours["chance"], scores.values[:, 1, k], rtol=1e-8)
        gap = scores.values[:, 0, k] - scores.values[:, 1, k]
        np.testing.assert_allclose(ours["over_chance"], gap, atol=1e-8)
        assert ours["n"].tolist() == scores.n_scored[:, 0].tolist()
    assert (rows["low"] <= rows["value"] + 1e-9).all()
    assert (rows["value"] <= rows["high"] + 1e-9).all()


def test_all_items_are_the_mean_of_the_bins(runs, made, sample):
    table = growth(trajectory.with_sizes(made, "minilm-l6", runs)).rows
    one = table[(table["dataset"] == "alphanli") & (table["measure"] == "new_accuracy")]
    shares, gold = mixed(sample[2:], 0.5)[0], sample[2].majority
    right = expected_correct(shares, shares.argmax(axis=1), gold)
    assert one.set_index("bin").loc[0, "value"] == pytest.approx(right.mean())
    assert one.set_index("bin").loc[0, "n"] == len(sample[2])


def test_pools_are_shown_as_one_on_request(runs, made, sample):
    known = trajectory.with_sizes(made, "minilm-l6", runs)
    pooled = growth(known).rows
    assert list(pooled["dataset"].unique()) == ["snli+mnli", "alphanli"]
    entropies = np.concatenate([entropy(one.shares, unit="bits") for one in sample[:2]])
    rows = pooled[(pooled["dataset"] == "snli+mnli") & (pooled["bin"] > 0)].drop_duplicates("bin")
    assert rows["n"].tolist() == np.bincount(entropy_bins(entropies, 4).of_item).tolist()
    alone = growth(known, pooled=False).rows
    assert list(alone["dataset"].unique()) == ["snli", "mnli", "alphanli"]


def test_seeds_are_averaged(runs, made):
    table = growth(trajectory.with_sizes(made, "minilm-l6", runs)).rows
    singles = [
        growth(trajectory.with_sizes(made, "minilm-l6", [run])).rows
        for run in runs
        if run.name in ("small", "second")
    ]
    mine = table[(table["dataset"] == "snli+mnli") & (table["items"] == 1000)]
    assert set(mine["n_seeds"]) == {2}
    assert set(mine["runs"]) == {"small second"}
    assert set(mine["epochs"]) == {10}
    mean = (singles[0]["value"] + singles[1]["value"]).to_numpy() / 2
    np.testing.assert_allclose(mine["value"], mean)


def test_stages_of_other_models_are_passed_over(runs, made):
    known = trajectory.with_sizes(made, "mpnet-base", runs)
    assert len(growth(known)) == 0


def test_changes_are_those_since_the_first_stage(runs, made):
    rows = course(made, runs).rows
    rows = rows[rows["measure"] == "jsd"]
    values = rows.pivot(index="bin", columns="items", values="value")
    last = rows[rows["items"] == 8000].set_index("bin")
    np.testing.assert_allclose(last["change"], values[8000] - values[128], atol=1e-8)
    # Nearer to humans on every item, so in every resample.
    assert (last["change_high"] < 0).all()
    first = rows[rows["items"] == 128]
    assert (first[["change", "change_low", "change_high"]] == 0).all(axis=None)


def test_the_table_shows_every_stage_and_chance(runs, made, sample):
    table = growth(trajectory.with_sizes(made, "minilm-l6", runs)).rows
    shown = trajectory.side_by_side(table)
    assert list(shown.columns[-5:]) == ["all items", "bin 1", "bin 2", "bin 3", "bin 4"]
    assert len(shown.columns) == 8
    jsd = shown[(shown["quantity"] == "JSD") & (shown["dataset"] == "SNLI+MNLI")]
    assert jsd["training items"].tolist() == ["1,000", "4,000", "chance"]
    counts = shown[(shown["quantity"] == "items scored") & (shown["dataset"] == "αNLI")]
    assert counts["all items"].tolist() == [str(len(sample[2]))]
    accuracy = shown[(shown["quantity"] == "new accuracy (%)") & (shown["dataset"] == "αNLI")]
    one = table[(table["dataset"] == "alphanli") & (table["measure"] == "new_accuracy")]
    one = one[one["bin"] == 2].iloc[0]
    expected = f"{100 * one['value']:.0f} [{100 * one['low']:.0f}, {100 * one['high']:.0f}]"
    assert accuracy["bin 2"].tolist() == [expected, f"{100 * one['chance']:.0f}"]


def test_the_sample_s_stages_are_simulated(sample):
    sizes = growth(trajectory.with_sizes(material(sample), "minilm-l6"))
    looks = growth(trajectory.with_looks(material(sample), "minilm-l6"), trajectory.by_look)
    for table in (sizes, looks):
        assert set(table.rows["runs"]) == {"synthetic run"}
        assert table.synthetic
    rows = sizes.rows
    every = rows[(rows["bin"] == 0) & (rows["measure"] == "new_accuracy")]
    last = every[every["items"] == every["items"].max()]
    assert (last["change"] > 0).all()


def test_without_votes_there_are_no_stages(runs, sample):
    known = Material(tuple(Evidence((one.dataset,), None, None) for one in sample))
    for found in (
        trajectory.with_sizes(known, "minilm-l6", runs),
        trajectory.with_looks(known, "minilm-l6", runs),
    ):
        assert [one.systems for one in found] == [None, None, None]

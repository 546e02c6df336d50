import numpy as np
import pytest
from helpers.runs import write_run

from chaos_utils.base import inputs
from chaos_utils.evaluation import growth
from chaos_utils.evaluation.bins import binned_scores, entropy_bins
from chaos_utils.metrics.divergence import entropy
from chaos_utils.presentation import training as presentation
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


def score(all_votes, stages, pooled=True, n_bins=4, n_resamples=50):
    return growth.growth_table(
        all_votes, stages, pooled=pooled, n_bins=n_bins, n_resamples=n_resamples, seed=0, level=0.95
    )


def test_sizes_are_runs_of_one_model_with_hard_labels_alone(runs, sample):
    stages = growth.size_stages(runs, sample, "minilm-l6")
    found = [(stage.run, stage.items, stage.seed) for stage in stages]
    assert found == [
        ("stories", 4000, 0), ("small", 1000, 0), ("second", 1000, 1), ("large", 4000, 0),
        ("later", 4000, 1),
    ]  # fmt: skip
    assert [stage.run for stage in growth.size_stages(runs, sample, "mpnet-base")] == ["other"]
    assert [p.dataset.name for p in stages[1].predictions] == ["snli", "mnli"]


def test_a_trajectory_is_that_of_the_first_seed(runs, sample):
    stages = growth.trajectory_stages(runs, sample, "minilm-l6")
    assert [(stage.run, stage.items) for stage in stages] == [
        ("large", 128), ("large", 1024), ("large", 8000)
    ]  # fmt: skip
    np.testing.assert_allclose(
        stages[1].predictions[0].probabilities, mixed(sample, 0.4)[0], atol=1e-6
    )


def test_files_that_were_read_are_noted(runs, sample):
    growth.load_stages(runs, [], "minilm-l6")
    names = {entry.name for entry in inputs.opened()}
    assert {"results/small/predictions.parquet", "results/large/trajectory.parquet"} <= names
    assert "results/soft/predictions.parquet" not in names


def test_runs_of_other_items_give_nothing(runs, released):
    assert growth.load_stages(runs, released, "minilm-l6") == ([], [])
    table, changes = score(released, [])
    assert table.empty
    assert changes.empty
    assert "needs the released" in presentation.say_stages(table, table, "minilm-l6")


def test_scores_of_bins_are_those_of_the_chapter_on_agreement(runs, sample):
    stages = growth.trajectory_stages(runs, sample, "minilm-l6")
    table, _ = score(sample, stages, pooled=False)
    one = stages[0].predictions[0]
    (scores,) = binned_scores(sample[:1], {"snli": [one]}, n_bins=4, n_resamples=5, seed=0)
    rows = table[(table["dataset"] == "snli") & (table["items"] == 128) & (table["bin"] > 0)]
    for measure, k in (("jsd", 0), ("old_accuracy", 2), ("new_accuracy", 3)):
        ours = rows[rows["measure"] == measure]
        np.testing.assert_allclose(ours["value"], scores.values[:, 0, k])
        np.testing.assert_allclose(ours["chance"], scores.values[:, 1, k])
        assert ours["n"].tolist() == scores.n_scored[:, 0].tolist()
    assert (rows["low"] <= rows["value"] + 1e-9).all()
    assert (rows["value"] <= rows["high"] + 1e-9).all()


def test_all_items_are_the_mean_of_the_bins(runs, sample):
    table, _ = score(sample, growth.size_stages(runs, sample, "minilm-l6"))
    one = table[(table["dataset"] == "alphanli") & (table["measure"] == "new_accuracy")]
    right = mixed(sample[2:], 0.5)[0].argmax(axis=1) == sample[2].majority
    assert one.set_index("bin").loc[0, "value"] == pytest.approx(right.mean())
    assert one.set_index("bin").loc[0, "n"] == len(sample[2])


def test_snli_and_mnli_are_pooled_on_request(runs, sample):
    stages = growth.size_stages(runs, sample, "minilm-l6")
    pooled, _ = score(sample, stages)
    assert list(pooled["dataset"].unique()) == ["snli+mnli", "alphanli"]
    entropies = np.concatenate([entropy(one.shares, unit="bits") for one in sample[:2]])
    rows = pooled[(pooled["dataset"] == "snli+mnli") & (pooled["bin"] > 0)].drop_duplicates("bin")
    assert rows["n"].tolist() == np.bincount(entropy_bins(entropies, 4).of_item).tolist()
    alone, _ = score(sample, stages, pooled=False)
    assert list(alone["dataset"].unique()) == ["snli", "mnli", "alphanli"]


def test_seeds_are_averaged(runs, sample):
    stages = growth.size_stages(runs, sample, "minilm-l6")
    table, _ = score(sample, stages)
    singles = [
        score(sample, [stage for stage in stages if stage.run == name])[0]
        for name in ("small", "second")
    ]
    mine = table[(table["dataset"] == "snli+mnli") & (table["items"] == 1000)]
    assert set(mine["n_seeds"]) == {2}
    assert set(mine["runs"]) == {"small second"}
    assert set(mine["epochs"]) == {10}
    mean = (singles[0]["value"] + singles[1]["value"]).to_numpy() / 2
    np.testing.assert_allclose(mine["value"], mean)


def test_changes_are_of_the_last_stage_against_the_first(runs, sample):
    stages = growth.trajectory_stages(runs, sample, "minilm-l6")
    table, changes = score(sample, stages)
    assert set(zip(changes["first_items"], changes["last_items"], strict=True)) == {(128, 8000)}
    jsd = table[table["measure"] == "jsd"].pivot(index="bin", columns="items", values="value")
    found = changes[changes["measure"] == "jsd"].set_index("bin")
    np.testing.assert_allclose(found["change"], jsd[8000] - jsd[128])
    # Nearer to humans on every item, so in every resample.
    assert (found["high"] < 0).all()
    single, none = score(sample, stages[:1])
    assert none.empty
    assert len(single) == 5 * 3


def test_sentences_choose_their_words_from_the_intervals(runs, sample):
    stages = growth.trajectory_stages(runs, sample, "minilm-l6")
    table, changes = score(sample, stages)
    text = presentation.say_where(changes, "jsd")
    assert text.startswith(
        "On SNLI+MNLI, more training improved JSD in bins 1, 2, 3 and 4 and wors"
    )
    worse = changes.assign(low=0.1, high=0.2)
    assert "improved JSD in no bin and worsened it in bins 1" in presentation.say_where(
        worse, "jsd"
    )
    assert presentation.say_growth(changes, "jsd").startswith(
        "- SNLI+MNLI, from 128 to 8,000 items"
    )
    for low, high, words in [
        (-0.2, -0.1, "better than chance in bins 1, 2, 3 and 4 and worse in no bin"),
        (0.1, 0.2, "better than chance in no bin and worse in bins 1, 2, 3 and 4"),
        (-0.1, 0.1, "better than chance in no bin and worse in no bin"),
    ]:
        changed = table.assign(over_chance_low=low, over_chance_high=high)
        assert words in presentation.say_against_chance(changed, "jsd")
    assert "8,000 in bin 1" in presentation.say_turns(table)
    assert presentation.say_start(table) == ""
    assert "even probabilities" in presentation.say_start(table.assign(over_chance=0.001))
    told = presentation.say_stages(table, table, "minilm-l6")
    assert "runs of `minilm-l6` on 128, 1,024 and 8,000 items" in told
    assert "`large`" in told
    assert "There is no run on αNLI yet." in told


def test_the_table_shows_every_stage_and_chance(runs, sample):
    table, _ = score(sample, growth.size_stages(runs, sample, "minilm-l6"))
    shown = presentation.show_training_size(table)
    assert list(shown.columns[-4:]) == ["bin 1", "bin 2", "bin 3", "bin 4"]
    jsd = shown[(shown["quantity"] == "JSD") & (shown["dataset"] == "SNLI+MNLI")]
    assert jsd["training items"].tolist() == ["1,000", "4,000", "chance"]
    counts = shown[(shown["quantity"] == "items scored") & (shown["dataset"] == "αNLI")]
    assert counts["all items"].tolist() == [str(len(sample[2]))]


def test_the_sample_s_stages_are_simulated(sample):
    sizes, looks = growth.load_stages([], sample, "minilm-l6")
    assert {stage.run for stage in [*sizes, *looks]} == {"synthetic run"}
    table, changes = score(sample, sizes)
    every = changes[(changes["bin"] == 0) & (changes["measure"] == "new_accuracy")]
    assert (every["change"] > 0).all()
    assert "simulated" in presentation.say_stages(table, table, "minilm-l6")

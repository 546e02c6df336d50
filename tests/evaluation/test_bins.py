from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.evaluation import bins
from chaos_utils.metrics.divergence import entropy
from chaos_utils.plots.bins import plot_accuracy_by_entropy, plot_jsd_by_entropy
from chaos_utils.presentation import bins as presentation
from chaos_utils.scoring.systems import computed, load_systems, oracle, uniform


def score(all_votes, systems, n_bins=5, n_resamples=100):
    return bins.binned_scores(all_votes, systems, n_bins=n_bins, n_resamples=n_resamples, seed=0)


@pytest.fixture(scope="module")
def of_sample(sample):
    return score(sample, {votes.dataset.name: load_systems(votes) for votes in sample})


@pytest.fixture(scope="module")
def of_release(released):
    return score(released, {votes.dataset.name: load_systems(votes) for votes in released})


def test_bins_take_their_lower_edge_and_the_last_one_both():
    found = bins.entropy_bins([0.0, 0.5, 1.0, 0.5, 1.0, 0.0], 2)
    assert found.low.tolist() == [0.0, 0.5]
    assert found.high.tolist() == [0.5, 1.0]
    assert found.of_item.tolist() == [0, 1, 1, 1, 1, 0]


def test_entropies_that_differ_by_rounding_share_a_bin():
    values = np.repeat([0.2, 0.4, 0.6], 2)
    values[2] -= 1e-15  # the median is now between the two
    assert bins.entropy_bins(values, 2).of_item.tolist() == [0, 0, 1, 1, 1, 1]


def test_bins_without_an_item_are_left_out():
    found = bins.entropy_bins([0.0] * 8 + [1.0] * 2, 5)
    assert found.of_item.tolist() == [0] * 8 + [1] * 2
    assert len(found.low) == len(found.high) == 2


@pytest.mark.parametrize("n_bins", [-1, 0, 1, 4])
def test_too_few_bins_or_items(n_bins):
    with pytest.raises(ValueError, match=f"n_bins is {n_bins}, expected 2 to .* 3"):
        bins.entropy_bins([0.1, 0.2, 0.3], n_bins)


@given(st.lists(st.integers(0, 30), min_size=5, max_size=60), st.integers(2, 5))
def test_every_item_lies_in_its_bin_and_no_bin_is_empty(values, n_bins):
    values = np.array(values) / 20
    found = bins.entropy_bins(values, n_bins)
    last = found.of_item == len(found.low) - 1
    assert (found.low[found.of_item] <= values + 1e-9).all()
    assert ((values < found.high[found.of_item]) | last).all()
    assert (values <= found.high[found.of_item] + 1e-9).all()
    assert set(found.of_item) == set(range(len(found.low)))


def test_every_published_bin_is_reproduced(of_release):
    table = bins.bin_table(of_release)
    published = read_published("nie2020_entropy_bins")
    ours = table[table["source"] == "computed"].drop_duplicates(["dataset", "bin"])
    both = published.merge(ours, on=["dataset", "bin"], suffixes=("", "_ours"))
    assert len(both) == len(published) == 135
    assert (both["n"] == both["n_ours"]).all()
    for end in ("entropy_low_bits", "entropy_high_bits"):
        np.testing.assert_allclose(both[end], both[f"{end}_ours"], atol=1e-6)
    rows = table[table["source"] == "published"]
    assert len(rows) == 4 * 135
    assert rows[["low", "high"]].isna().all(axis=None)


def test_the_pooled_edges_are_those_of_the_figures(of_release):
    pooled = next(scores for scores in of_release if scores.dataset == "snli+mnli")
    np.testing.assert_allclose(pooled.bins.low, [0, 0.663, 0.912, 1.045, 1.206], atol=5e-4)
    assert pooled.bins.high[-1] == pytest.approx(1.584, abs=5e-4)
    assert np.bincount(pooled.bins.of_item).sum() == 1514 + 1599


def test_bins_that_are_not_the_published_ones_stand_alone(of_sample, released):
    tables = [bins.bin_table(of_sample), bins.bin_table(score(released, {}, n_bins=4))]
    for table in tables:
        assert set(table["source"]) == {"computed"}
        assert table["published_n"].isna().all()


def test_bins_average_to_the_score_of_all_items(sample):
    votes = sample[0]
    system = load_systems(votes)[0]
    (scores,) = score([votes], {"snli": [system]})
    k = scores.systems.index(system.name)
    weights = scores.n_scored[:, k] / len(votes)
    new = (system.predicted == votes.majority).mean()
    assert weights @ scores.values[:, k, 3] == pytest.approx(new)
    assert scores.n_scored[:, k].sum() == len(votes)


def test_the_oracle_has_no_distance_in_any_bin(sample):
    (scores,) = score([sample[0]], {"snli": [oracle(sample[0])]})
    k = scores.systems.index("oracle")
    np.testing.assert_allclose(scores.values[:, k, :2], 0, atol=1e-7)


def test_a_system_is_scored_on_the_items_it_covers(sample):
    votes = sample[0]
    whole = oracle(votes)
    of_item = bins.entropy_bins(entropy(votes.shares, unit="bits"), 5).of_item
    kept = np.flatnonzero(of_item != 2)[::2]
    part = replace(
        whole,
        uids=tuple(votes.uids[i] for i in kept),
        probabilities=whole.probabilities[kept],
        predicted=1 - np.minimum(votes.majority[kept], 1),  # never the majority
    )
    (scores,) = score([votes], {"snli": [part]})
    k = scores.systems.index("oracle")
    assert scores.n_scored[:, k].tolist() == np.bincount(of_item[kept], minlength=5).tolist()
    assert np.isnan(scores.values[2, k]).all()
    assert (np.delete(scores.values[:, k, 3], 2) == 0).all()
    assert (np.delete(scores.draws[:, :, k, 3], 2, axis=0) == 0).all()


def test_seeds_are_averaged_and_told(of_sample):
    scores = of_sample[0]
    name = "synthetic model, mean of 3 seeds"
    roles = dict(zip(scores.systems, scores.roles, strict=True))
    assert roles[name] == "mean of seeds"
    seeds = [k for k, role in enumerate(scores.roles) if role == "seed"]
    assert len(seeds) == 3
    mean = scores.values[:, scores.systems.index(name)]
    np.testing.assert_allclose(scores.values[:, seeds].mean(axis=1), mean)


def test_guesses_are_the_commonest_labels(of_sample, sample):
    scores, majority = of_sample[0], sample[0].majority
    commonest = np.bincount(majority).argmax()
    for b in range(5):
        labels = majority[scores.bins.of_item == b]
        chance = scores.values[b, scores.systems.index("chance")]
        best = scores.values[b, scores.systems.index("commonest label of the bin")]
        assert chance[3] == pytest.approx((labels == commonest).mean())
        assert best[3] == pytest.approx(np.bincount(labels).max() / len(labels))
        assert np.isnan(best[:2]).all()


def test_systems_are_pooled_under_one_name(sample):
    snli, mnli, _ = sample
    one, other = oracle(snli), oracle(mnli)
    alone = replace(uniform(snli), name="alone")
    pooled = score(sample, {"snli": [one, alone], "mnli": [other]})[-1]
    assert pooled.dataset == "snli+mnli"
    assert "oracle" in pooled.systems
    assert "alone" not in pooled.systems
    k = pooled.systems.index("oracle")
    assert pooled.n_scored[:, k].sum() == len(snli) + len(mnli)


def test_a_system_named_like_a_baseline(sample):
    named = replace(oracle(sample[0]), name="chance")
    with pytest.raises(ChaosError, match="name of a baseline"):
        score(sample, {"snli": [named]})


def test_intervals_hold_their_values_and_repeat(sample, of_sample):
    table = bins.bin_table(of_sample).dropna(subset="value")
    assert (table["low"] <= table["value"] + 1e-12).all()
    assert (table["value"] <= table["high"] + 1e-12).all()
    assert (table["low"] < table["high"]).mean() > 0.9
    again = score(sample, {o.dataset.name: load_systems(o) for o in sample})
    pd.testing.assert_frame_equal(bins.bin_table(again), bins.bin_table(of_sample))


def test_contrasts_are_differences(of_sample):
    table = bins.contrasts(of_sample)
    scores = of_sample[0]
    name = scores.systems[0]
    rows = table[
        (table["dataset"] == scores.dataset)
        & (table["system"] == name)
        & (table["measure"] == "new_accuracy")
    ].set_index(["reference", "bin"])["value"]
    accuracy = scores.values[..., 3]
    chance = accuracy[:, scores.systems.index("chance")]
    assert rows["first bin", 5] == pytest.approx(accuracy[4, 0] - accuracy[0, 0])
    assert rows["chance", 2] == pytest.approx(accuracy[1, 0] - chance[1])
    own = table[(table["system"] == "chance") & (table["reference"] == "chance")]
    assert (own[["value", "low", "high"]] == 0).all(axis=None)


def test_all_correct_counts_items_that_all_and_none_get_right(sample):
    votes = sample[0]
    answers = np.eye(3)
    right = computed("right", votes, answers[votes.majority])
    wrong = computed("wrong", votes, answers[(votes.majority + 1) % 3])
    half = np.where(np.arange(len(votes)) < 4, votes.majority, (votes.majority + 1) % 3)
    some = computed("some", votes, answers[half])
    few = replace(
        right, uids=right.uids[2:], probabilities=right.probabilities[2:],
        predicted=right.predicted[2:],
    )  # fmt: skip

    def counts(*systems):
        table = bins.all_correct(sample, {"snli": systems}).set_index("label")
        assert set(table["dataset"]) == {"snli"}
        return table.loc["new", ["n_items", "n_all_correct", "n_none_correct"]].tolist()

    n = len(votes)
    assert counts(right, some) == [n, 4, 0]
    assert counts(some, wrong) == [n, 0, n - 4]
    assert counts(few, some) == [n - 2, 2, 0]
    assert bins.all_correct(sample, {}).empty


def test_all_correct_on_the_released_predictions(released):
    systems = {votes.dataset.name: load_systems(votes) for votes in released}
    if not systems["snli"]:
        pytest.skip("the predictions of Baan et al. are not available")
    table = bins.all_correct(released, systems).set_index(["dataset", "label"])
    for votes in released[:2]:
        dataset = votes.dataset.name
        majority = dict(zip(votes.uids, votes.majority, strict=True))
        sets = [
            {
                uid
                for uid, label in zip(system.uids, system.predicted, strict=True)
                if label == majority[uid]
            }
            for system in systems[dataset]
        ]
        assert table.loc[(dataset, "new"), "n_all_correct"] == len(set.intersection(*sets))
    assert table.loc[("mnli", "new"), "n_items"] == 1569


def test_the_table_shows_published_beside_computed(of_release):
    shown = presentation.show_entropy_bins(bins.drawn(bins.bin_table(of_release)))
    assert list(shown["dataset"].unique()) == ["SNLI", "MNLI", "αNLI", "SNLI+MNLI"]
    items = shown[(shown["dataset"] == "MNLI") & (shown["quantity"] == "items")]
    assert items.set_index("system").loc["published", "bin 1"] == "318"
    assert set(items.set_index("system").loc["difference"].iloc[2:]) == {"0"}
    spans = shown[shown["system"] == "9 published models, range"].groupby("dataset").size()
    assert spans.to_dict() == {"SNLI": 4, "MNLI": 4, "αNLI": 4}
    accuracy = shown[(shown["dataset"] == "SNLI") & (shown["quantity"] == "new accuracy")]
    spans = accuracy.set_index("system").loc["9 published models, range"]
    assert spans["bin 1"] == "0.898–0.983"


def test_sentences_name_every_model_and_choose_their_words(of_sample):
    table, compared = bins.drawn(bins.bin_table(of_sample)), bins.contrasts(of_sample)
    text = presentation.say_ends(table, compared, "new_accuracy")
    assert text.count("synthetic model, mean of 3 seeds") == len(of_sample)
    guess = (compared["bin"] == 5) & (compared["measure"] == "new_accuracy")
    for low, high, words in [(0.1, 0.2, "above the"), (-0.2, -0.1, "below the"), (-1, 1, "indist")]:
        changed = compared.copy()
        changed.loc[guess, ["low", "high"]] = (low, high)
        lines = presentation.say_against_guess(table, changed, "last").splitlines()
        assert all(f"seeds: {words}" in line for line in lines)
    nearer = compared.assign(low=np.where(compared["bin"] == 3, 0.1, -0.1))
    lines = presentation.say_nearer_uniform(table, nearer).splitlines()
    assert all(line.endswith("in bin 3.") for line in lines)


@pytest.mark.parametrize("plot", [plot_accuracy_by_entropy, plot_jsd_by_entropy])
def test_figures_have_a_panel_for_each_grouping(of_release, plot):
    measure = "jsd" if plot is plot_jsd_by_entropy else "new_accuracy"
    figure = plot(bins.drawn(bins.bin_table(of_release), measure))
    titles = [axis.get_title() for axis in figure.axes]
    assert titles == ["ChaosNLI-αNLI", "SNLI and MNLI pooled", "ChaosNLI-SNLI", "ChaosNLI-MNLI"]
    published = [
        sum(line.get_label().endswith("(published)") for line in axis.lines) for axis in figure.axes
    ]
    assert published == [9, 0, 9, 9]
    ticks = [tick.get_text() for tick in figure.axes[1].get_xticklabels()]
    assert ticks == ["0.00", "0.66", "0.91", "1.04", "1.21", "1.58"]
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "models of Nie et al. (published)" in legend
    assert "chance (computed)" in legend
    plt.close(figure)


def test_without_a_model_the_sentences_ask_for_one(sample):
    scores = score(sample, {})
    table, compared = bins.drawn(bins.bin_table(scores)), bins.contrasts(scores)
    assert set(table["role"]) == {"baseline"}
    for text in (
        presentation.say_ends(table, compared, "jsd"),
        presentation.say_against_guess(table, compared, "first"),
        presentation.say_nearer_uniform(table, compared),
    ):
        assert "pass `-p predictions=FILE`" in text


def test_what_is_drawn_has_no_seed_and_no_gap(of_sample):
    rows = bins.drawn(bins.bin_table(of_sample))
    assert "seed" not in set(rows["role"])
    assert rows["value"].notna().all()
    of_prior = rows.loc[rows["system"] == "class prior", "measure"]
    assert set(of_prior) == {"jsd", "kl"}
    assert set(bins.drawn(rows, "jsd")["measure"]) == {"jsd"}


def test_one_task_alone_is_one_panel(sample):
    table = bins.bin_table(score([sample[2]], {"alphanli": [oracle(sample[2])]}))
    figure = plot_jsd_by_entropy(bins.drawn(table, "jsd"))
    assert [axis.get_title() for axis in figure.axes] == ["ChaosNLI-αNLI"]
    plt.close(figure)


def test_seeds_are_averaged_within_an_origin_alone(sample):
    released = load_systems(sample[0])[:2]
    mine = replace(released[0], name="mine", origin="yours", seed=None)
    found = score(sample[:1], {sample[0].dataset.name: [*released, mine]})[0]
    assert "synthetic model, mean of 2 seeds" in found.systems
    assert found.roles[found.systems.index("mine")] == "model"

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_of, evidence_on, first_items, on_items
from hypothesis import given
from hypothesis import strategies as st

from chaos_utils.analyses import agreement
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import frozen
from chaos_utils.metrics.divergence import entropy
from chaos_utils.metrics.resampling import holm
from chaos_utils.scoring.published import TABLE_5
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.systems import computed, load_systems, oracle


def binned(all_votes, systems, n_bins=5):
    """Return scores in bins of the systems that a function gives for each dataset."""
    known = evidence_on(all_votes, systems)
    several = [*known, *known.pooled()]
    return agreement.binned_scores(several, n_bins=n_bins, n_resamples=100, seed=0)


def in_bins(votes, systems):
    return agreement.score_bins([votes], [systems], n_bins=5, n_resamples=100, seed=0)


@pytest.fixture(scope="module")
def of_sample(sample):
    return binned(sample, load_systems)


def test_a_bin_takes_what_lies_on_its_lower_edge_but_for_rounding_and_none_is_empty():
    for values, n_bins, expected in (
        ([0.2, 0.2, 0.4 - 1e-15, 0.4, 0.6, 0.6], 2, [0, 0, 1, 1, 1, 1]),
        ([0] * 8 + [1] * 2, 5, [0] * 8 + [1] * 2),
    ):
        found = agreement.cut_by_entropy(values, n_bins)
        assert found.of_item.tolist() == expected
        assert len(found.low) == len(found.high) == 2
    for n_bins in (1, 4):
        with pytest.raises(ValueError, match=f"n_bins is {n_bins}, expected 2 to .* 3"):
            agreement.cut_by_entropy([0.1, 0.2, 0.3], n_bins)


@given(st.lists(st.integers(0, 30), min_size=5, max_size=60), st.integers(2, 5))
def test_every_item_lies_in_its_bin_and_no_bin_is_empty(values, n_bins):
    values = np.array(values) / 20
    found = agreement.cut_by_entropy(values, n_bins)
    last = found.of_item == len(found.low) - 1
    assert (found.low[found.of_item] <= values + 1e-9).all()
    assert ((values < found.high[found.of_item]) | last).all()
    assert (values <= found.high[found.of_item] + 1e-9).all()
    assert set(found.of_item) == set(range(len(found.low)))


def test_every_published_bin_is_reproduced(released):
    found = binned(released, lambda votes: load_systems(votes, trained=False))
    table = agreement.scores_with_change(found).rows
    published = read_published("nie2020_entropy_bins")
    ours = table[table["source"] == "computed"].drop_duplicates(["dataset", "bin"])
    both = published.merge(ours, on=["dataset", "bin"], suffixes=("", "_ours"))
    assert len(both) == len(published) == 135
    assert (both["n"] == both["n_ours"]).all()
    for end in ("entropy_low_bits", "entropy_high_bits"):
        np.testing.assert_allclose(both[end], both[f"{end}_ours"], atol=1e-6)
    rows = table[table["source"] == "computed"].pivot(
        index=["dataset", "bin", "system"], columns="measure", values="value"
    )
    theirs = published.set_index(["dataset", "bin", "model"])[list(TABLE_5)]
    values = rows.reindex(theirs.index.rename(rows.index.names))[list(TABLE_5)]
    assert values.size == 540  # which are printed half up, to four digits
    np.testing.assert_allclose(values, theirs, atol=5.1e-5, rtol=0)
    assert set(published["model"]) <= set(rows.loc["snli+mnli"].index.unique("system"))
    pooled = ours[ours["dataset"] == "snli+mnli"]
    of_figures = [0, 0.663, 0.912, 1.045, 1.206]
    np.testing.assert_allclose(pooled["entropy_low_bits"], of_figures, atol=5e-4)
    assert pooled["n"].sum() == 1514 + 1599


def test_bins_hold_what_the_table_of_scores_has(sample):
    votes = sample[0]
    one = replace(load_systems(votes)[0], seed=None)
    rows = agreement.scores_with_change(binned([votes], lambda votes: [one])).rows
    ours = rows[rows["system"] == one.name].set_index(["bin", "measure"])
    of_item = agreement.cut_by_entropy(entropy(votes.shares, unit="bits"), 5).of_item
    groups = {str(b + 1): of_item == b for b in range(5)}
    table = score(votes, [one], measures=["jsd", "kl", "old_accuracy", "new_accuracy"],
                  groups=groups, n_resamples=100)  # fmt: skip
    table = table.assign(bin=table["group"].astype(int)).set_index(["bin", "measure"])
    for column in ("value", "low", "high"):
        np.testing.assert_allclose(ours[column], table[column].loc[ours.index], rtol=1e-7)


def test_a_system_is_scored_on_the_items_it_covers(sample):
    votes = sample[0]
    of_item = agreement.cut_by_entropy(entropy(votes.shares, unit="bits"), 5).of_item
    kept = np.flatnonzero(of_item != 2)[::2]
    never = 1 - np.minimum(votes.majority[kept], 1)  # the majority
    part = replace(on_items(oracle(votes), kept), predicted=never, stated=True)
    scores = in_bins(votes, [part])
    k = scores.systems.index("oracle")
    assert scores.n_scored[:, k].tolist() == np.bincount(of_item[kept], minlength=5).tolist()
    assert np.isnan(scores.values[2, k]).all()
    assert (np.delete(scores.values[:, k, 3], 2) == 0).all()
    assert (np.delete(scores.draws[:, :, k, 3], 2, axis=0) == 0).all()


def test_guesses_are_the_commonest_labels(sample):
    scores = in_bins(sample[0], [])
    for k, labels in ((3, sample[0].majority), (2, sample[0].old_label)):
        commonest = np.bincount(labels).argmax()
        for b in range(5):
            inside = labels[scores.bins.of_item == b]
            chance = scores.values[b, scores.systems.index("chance")]
            best = scores.values[b, scores.systems.index("commonest label of the bin")]
            assert chance[k] == pytest.approx((inside == commonest).mean())
            assert best[k] == pytest.approx(np.bincount(inside).max() / len(inside))
            assert np.isnan(best[:2]).all()


def test_what_was_fitted_on_one_of_the_pool_or_is_named_like_a_baseline_is_refused(sample):
    snli, mnli, _ = sample
    taught = replace(oracle(mnli), trained_on=("votes of mnli",))
    with pytest.raises(ChaosError, match="trained or fitted on the votes"):
        binned([snli, mnli], lambda votes: [oracle(snli) if votes is snli else taught], n_bins=2)
    with pytest.raises(ChaosError, match="name of a baseline"):
        binned([snli], lambda votes: [replace(oracle(votes), name="chance")])


def test_a_verdict_on_a_system_and_a_guess_needs_a_side_and_a_small_adjusted_p(of_sample):
    rows = agreement.against_guesses(of_sample).rows
    np.testing.assert_allclose(rows["p_holm"], holm(rows["p"]))
    # Alone, a p-value is below 0.05 just where the interval leaves out 0.
    np.testing.assert_array_equal(rows["p"] < 0.05, (rows["low"] > 0) | (rows["high"] < 0))
    compared = of_sample.rows
    gap = compared["reference"] == "chance"
    for value, p, accuracy, distance in (
        (0.1, 1e-9, "better", "worse"), (-0.2, 1e-9, "worse", "better"),
        (0.1, 0.04, "indistinguishable", "indistinguishable"),
    ):  # fmt: skip
        changed = compared.copy()
        changed.loc[gap, ["value", "p"]] = (value, p)
        rows = agreement.against_guesses(changed).rows
        rows = rows[rows["reference"] == "chance"].groupby("measure")["verdict"].unique()
        assert rows["new_accuracy"].tolist() == [accuracy]
        assert rows["jsd"].tolist() == [distance]


def test_the_nine_are_drawn_as_a_band_and_shown_as_their_mean_in_a_pool_too(sample):
    nine = [("bert-base", 0.4), ("distilbert", 0.7)]

    def systems(votes):
        for name, share in (*nine, ("mine", 0.2)):
            mixed = (1 - share) * votes.shares + share / votes.dataset.n_classes
            yield computed(name, votes, mixed, origin="yours")

    found = binned(sample[:2], systems)
    drawn = agreement.drawn_rows(found, "jsd").rows
    roles = drawn.groupby("system")["role"].unique()
    assert list(roles["bert-base"]) == list(roles["distilbert"]) == [agreement.PAPER_ROLE]
    assert list(roles["mine"]) == ["model"]
    assert not drawn.duplicated(["dataset", "bin", "system"]).any()  # published values are left out
    shown = agreement.shown_rows(agreement.scores_with_change(found).rows, "jsd")
    first = "dataset == 'snli+mnli' and bin == 1"
    (mean,) = shown.query(f"{first} and system.str.startswith('2 models')").to_dict("records")
    two = drawn.query(first).set_index("system")["value"][[one for one, _ in nine]]
    assert mean["value"] == pytest.approx(two.mean())
    assert np.isnan(mean["low"])


def test_half_a_crowd_predicts_the_other_half_but_for_ties(sample):
    counts = np.repeat([[40, 0, 0], [20, 20, 0], [14, 13, 13]], 20, axis=0)
    votes = replace(first_items(sample[0], 60), counts=frozen(counts))
    given = {"n_bins": 3, "n_draws": 200, "seed": 0}
    found = agreement.half_crowds(evidence_of(votes, []), **given).rows
    accuracy = found[found["measure"] == "new_accuracy"].set_index("bin")["value"]
    # All agree; one half has a majority where the other has none for it; who leads is chance.
    drawn = np.random.default_rng(0).hypergeometric(20, 20, 20, 100_000)
    expected = [1, np.mean(drawn == 10) / 2]
    assert accuracy.tolist()[:2] == pytest.approx(expected, abs=0.01)
    assert 0 < accuracy.iloc[2] < 0.4
    assert found["n_votes"].unique().tolist() == [20]
    whole = agreement.binned_scores(
        evidence_of(votes, []), n_bins=3, n_resamples=20, seed=0
    ).rows.drop_duplicates("bin")
    assert found.drop_duplicates("bin")["n"].tolist() == whole["n"].tolist()
    thin = replace(votes, counts=frozen(counts // 2))
    assert not len(agreement.half_crowds(evidence_of(thin, []), **given))


def test_two_models_are_in_colour_those_that_were_chosen_first():
    names = ["a, seed 0", "a, mean of 3 seeds", "", "b", "c", "b"]
    systems = pd.Series(names)
    for chosen, expected in (([], ["a", "b"]), (["c"], ["c", "a"]), (["no", "b", "c"], ["b", "c"])):
        found = systems[agreement.in_colour(systems, chosen)]
        assert {name.partition(",")[0] for name in found} == set(expected)


def test_people_are_drawn_beside_models_in_the_same_bins(of_sample, sample):
    evidence = evidence_on(sample, load_systems)
    halves = agreement.half_crowds([*evidence, *evidence.pooled()], n_bins=5, n_draws=1, seed=0)
    drawn = agreement.drawn_rows(of_sample, "jsd", halves).rows
    people = drawn[drawn["system"] == agreement.HALF_CROWD]
    assert set(people["dataset"]) == set(drawn["dataset"])
    edges = ["dataset", "bin", "entropy_low_bits", "entropy_high_bits"]
    assert not drawn[edges].drop_duplicates().duplicated(["dataset", "bin"]).any()
    assert len(people) == len(drawn[edges].drop_duplicates())
    assert not people["in_colour"].any()
    assert drawn.loc[drawn["in_colour"], "role"].isin(["model", "mean of seeds"]).all()

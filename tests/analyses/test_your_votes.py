"""One crowd: estimates from few votes against known truths, and the page that shows them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import drawn

from chaos_utils.analyses import your_votes
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.metrics.divergence import entropy
from chaos_utils.metrics.priors import fit_grid, posterior_means
from chaos_utils.metrics.scores import shared_top
from chaos_utils.scoring.api import make_system


@pytest.mark.parametrize("n_votes", [2, 5])
def test_what_is_unbiased_is_right_from_two_votes_on(sample, truth, n_votes):
    table = your_votes.agreement.function(drawn(sample[0], truth, n_votes), n_resamples=100, seed=0)
    row = table.set_index("quantity").loc["disagreement"]
    apart = (1 - (truth**2).sum(axis=1)).mean()
    assert row["low"] < apart < row["high"]
    assert row["high"] - row["low"] < 0.06
    assert row["plain"] < apart - 0.05


def test_an_interval_holds_its_estimate_or_is_left_out(sample):
    for seed in range(10):
        votes = drawn(sample[0], np.full((12, 3), 1 / 3), 3, seed)
        table = your_votes.agreement.function(votes, n_resamples=200, seed=0)
        assert ((table["low"] <= table["value"]) & (table["value"] <= table["high"])).all()
        items = your_votes.divided_items.function(votes, n_items=12, most=2000, seed=0)
        inside = (items["low"] <= items["disagreement"]) & (items["disagreement"] <= items["high"])
        assert inside.all() or items["low"].isna().all()


def test_the_same_votes_have_the_same_intervals(sample, truth):
    votes = drawn(sample[0], truth[:200], 3)
    back = replace(votes, counts=votes.counts[::-1], uids=votes.uids[::-1])
    one, other = (your_votes.agreement.function(v, n_resamples=50, seed=0) for v in (votes, back))
    pd.testing.assert_frame_equal(one, other)
    items = your_votes.divided_items.function(votes, n_items=100, most=2000, seed=0)
    assert (items.groupby("counts")[["low", "high"]].nunique() == 1).all(axis=None)


def test_items_with_a_single_vote_say_nothing_of_agreement(sample, truth):
    votes = drawn(sample[0], truth, np.where(np.arange(len(truth)) % 2, 1, 4))
    few = your_votes.agreement.function(votes, n_resamples=50, seed=0)
    assert (few["n_items"] == len(truth) // 2).all()
    paired = replace(votes, counts=votes.counts[::2], uids=votes.uids[::2])
    alone = your_votes.agreement.function(paired, n_resamples=50, seed=0)
    np.testing.assert_allclose(few["value"], alone["value"])


@pytest.mark.parametrize("n_votes", [3, 10])
def test_the_prior_is_nearer_to_shannon_s_entropy_than_miller_and_madow(sample, truth, n_votes):
    table = your_votes.entropies.function(drawn(sample[0], truth, n_votes), seed=0)
    found = table.set_index("quantity")["value"]
    right = entropy(truth, unit="nats").mean()
    assert table["plain"].iloc[0] < found["miller_madow"] < right
    assert abs(found["prior"] - right) < 0.4 * (right - found["miller_madow"])


def test_majorities_are_as_often_right_as_the_prior_says(sample, truth):
    votes = drawn(sample[0], truth, 5)
    found = your_votes.majorities.function(votes).set_index("quantity")["value"]
    right = shared_top(votes.shares)[np.arange(len(truth)), truth.argmax(axis=1)].mean()
    assert found["right"] == pytest.approx(right, abs=0.02)
    assert found["majority_share"] == pytest.approx(truth.max(axis=1).mean(), abs=0.015)
    sizes = your_votes.majority_sizes.function(votes, n_bins=4)
    seen = np.histogram(truth.max(axis=1), [*sizes["low"], 1.0])[0] / len(truth)
    assert sizes["value"].sum() == pytest.approx(1)
    assert np.abs(sizes["value"] - seen).sum() < np.abs(sizes["plain"] - seen).sum()


def test_the_most_divided_items_are_not_those_with_fewest_votes(sample, truth):
    n_votes = np.where(np.arange(len(truth)) % 2, 2, 40)
    votes = drawn(sample[0], truth, n_votes)
    table = your_votes.divided_items.function(votes, n_items=50, most=2000, seed=0)
    rows = [votes.index(uid) for uid in table["uid"]]
    apart = 1 - (truth[rows] ** 2).sum(axis=1)
    assert (n_votes[rows] == 40).all()  # thousands of the others are tied, one to one
    assert ((table["low"] <= apart) & (apart <= table["high"])).mean() > 0.88
    assert table["counts"][0] == " ".join(map(str, votes.counts[rows[0]]))
    # Items as divided are counted whatever their labels.
    votes = drawn(sample[0], truth, 3)
    first = your_votes.divided_items.function(votes, n_items=1, most=2000, seed=0).iloc[0]
    assert sorted(map(int, first["counts"].split())) == [1, 1, 1]
    assert first["n_alike"] == (votes.counts == 1).all(axis=1).sum()


def test_no_two_systems_are_ranked_whose_difference_the_votes_leave_open(sample, truth):
    few = slice(0, None, 10)
    votes = drawn(sample[0], truth[few], 3)
    rng = np.random.default_rng(5)
    near, twin = (0.9 * truth[few] + 0.1 * rng.dirichlet([1, 1, 1], 300) for _ in range(2))
    made = {"near": near, "twin": twin, "far": np.roll(truth[few], 1, axis=1)}
    systems = [make_system(name, votes, shares) for name, shares in made.items()]
    table = your_votes.comparisons.function(votes, systems, n_resamples=500, seed=0)
    said = table.set_index(["system", "reference"])["verdict"]
    assert said["near", "twin"] == your_votes.OPEN
    assert said["near", "far"] == "near"
    assert said["far", "base rate"] == "base rate"
    judged = your_votes.evaluation.function(votes, systems, most=200, n_resamples=100, seed=0)
    exact = ((near - truth[few]) ** 2).sum(axis=1).mean()
    assert judged["system"][0] == "perfect model"
    of_near = judged[judged["system"] == "near"].set_index("measure")
    assert of_near["value"]["sq_distance"] == pytest.approx(exact, abs=0.04)
    assert "[" in of_near["text"]["people_on_top"]


def test_annotators_come_with_least_agreement_first(four):
    (votes,) = load_all_votes(str(four))
    table = your_votes.annotators.function(votes)
    assert table["n_votes"].sum() == votes.n_votes.sum()
    usual = table[~table["few"]]
    assert usual["corrected"].is_monotonic_increasing
    assert len(your_votes.first_and_last(table, 3)) == 6
    together = your_votes.annotator_totals.function(votes).iloc[0]
    assert together["n_annotators"] == 30
    assert 0 < together["relabelled"] < 0.5


def test_who_can_only_agree_stands_at_neither_end(tmp_path):
    lines = [f"i{k},w{k % 4},{'ab'[k % 3 == 0]}" for k in range(60)]
    lines += [f"i{k},v{j},{'ab'[k % 2]}" for k in range(60) for j in range(2)]
    lines += [f"j{k},{name},a" for k in range(12) for name in ("alike", "twin")]
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(["item,annotator,label", *lines]))
    (votes,) = load_all_votes(str(path))
    table = your_votes.annotators.function(votes)
    assert table["corrected"].isna().sum() == 2
    assert table["few"][table["corrected"].isna()].all()
    assert your_votes.first_and_last(table, 10)["corrected"].notna().all()


def test_votes_without_pairs_and_files_for_another_dataset_are_refused(four, tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("uid,none,mild,severe,fatal\nx1,0.25,0.25,0.25,0.25\n")
    with pytest.raises(ChaosError, match=r"No uid of 'other' occurs in(.|\n)*uids such as"):
        your_votes.crowd_inputs(str(four), "", [str(path)])
    path = tmp_path / "single.csv"
    path.write_text("item,label\n" + "".join(f"i{k},{'ab'[k % 2]}\n" for k in range(30)))
    with pytest.raises(ChaosError, match=f"cannot say how far people agree(.|\\n)*{path}"):
        your_votes.crowd_inputs(str(path), "", [])


def test_advice_about_predictions_says_which_options_a_notebook_lacks(four, tmp_path):
    path = tmp_path / "judge.csv"
    path.write_text("uid,label\nx1,nothing\nx2,much\n")
    lacks = r"--answers 'much=…(.|\n)*`chaos run` lacks --answers: correct the file"
    with pytest.raises(ChaosError, match=lacks):
        your_votes.crowd_inputs(str(four), "", [str(path)])
    path.write_text("uid,label\nitem-1,none\nitem-2,none\nitem-3,much\n")
    with pytest.raises(ChaosError) as fault:
        your_votes.crowd_inputs(str(four), "", [str(path)])
    assert "and evaluate the rest (`chaos run` lacks --answers:" in str(fault.value)


def test_a_replacement_test_without_annotators_is_refused_before_it_is_made(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("item,label\n" + "".join(f"i{k // 2},{'ab'[k % 3 == 0]}\n" for k in range(60)))
    your_votes.crowd_inputs(str(path), "", [])
    words = rf"not known who gave(.|\n)*{path}(.|\n)*add a column annotator(.|\n)*leave out epsilon"
    with pytest.raises(ChaosError, match=words):
        your_votes.crowd_inputs(str(path), "", [], tests=True)


def test_a_margin_is_one_and_has_a_reason():
    assert your_votes.replacement_margin([], "") is None
    assert your_votes.replacement_margin([0.1], "cheap") == 0.1
    for epsilon, why in (([], "cheap"), ([0.1, 0.2], "cheap"), ([0.1], ""), ([1.5], "cheap")):
        with pytest.raises(ChaosError, match="margin"):
            your_votes.replacement_margin(epsilon, why)


def test_nothing_is_resampled_less_than_once():
    your_votes.check_positive(resamples=1)
    with pytest.raises(ChaosError, match=r"'draws' has the wrong value(.|\n)*1 or more"):
        your_votes.check_positive(resamples=1, draws=0)


@pytest.mark.parametrize("n_votes", [3, 10])
def test_a_majority_that_is_called_sure_is_right(truth, n_votes):
    few, right, converged = 50, [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        of_all = truth[rng.choice(len(truth), few, replace=False)]
        counts = rng.multinomial(n_votes, of_all)
        shares = shared_top(counts / n_votes)
        hits = (shares * shared_top(of_all)).sum(axis=1)
        right += [*hits[your_votes.chance_right(counts) >= 0.95]]
        prior = fit_grid(counts)
        chances = posterior_means(counts, prior, shared_top(prior.points))
        converged += [*hits[(shares * chances).sum(axis=1) >= 0.95]]
    assert len(right) > 200
    assert np.mean(right) > 0.93
    assert np.mean(converged) < np.mean(right)

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_on
from helpers.rows import row, write_rows
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from chaos_utils.analyses import disagreement
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.readers import read_file


def votes_of(folder, counts):
    """Return SNLI votes of these counts."""
    rows = [row(uid=str(i), counts=one) for i, one in enumerate(counts)]
    return read_file([write_rows(folder / "votes", rows)], get_dataset("snli"))


def test_bins_hold_every_item_and_end_at_the_largest_entropy(sample, others):
    table = disagreement.entropy_bins(evidence_on([*sample, *others]), n_bins=20).rows
    for votes in [*sample, *others]:
        bins = table[table["dataset"] == votes.dataset.name]
        assert bins["n_items"].sum() == len(votes)
        assert bins["share"].sum() == pytest.approx(1)
        assert bins["high_bits"].iloc[-1] == pytest.approx(math.log2(votes.dataset.n_classes))
        bits = entropy(votes.shares, base=2, axis=1)
        assert bins["mean_bits"].tolist() == pytest.approx([bits.mean()] * 20)
        below = (bits[:, None] < bins["high_bits"].to_numpy()[:-1] - 1e-9).sum(axis=0)
        assert bins["n_items"].cumsum().tolist()[:-1] == below.tolist()
    # What equally frequent splits would give: 37 to 63 of 100, and 2 and 3 of 5, have 0.95 bits.
    splits = table.groupby("dataset")["share_of_splits"]
    assert splits.sum()[["alphanli", "pairs"]].tolist() == pytest.approx([1, 1])
    assert splits.last()[["alphanli", "pairs"]].tolist() == pytest.approx([27 / 101, 2 / 6])
    assert splits.count()[["snli", "mnli", "severity"]].tolist() == [0, 0, 0]


def test_majority_shares_count_those_at_least_and_at_most(tmp_path):
    votes = votes_of(tmp_path, [(100, 0, 0), (57, 43, 0), (57, 20, 23), (34, 33, 33)])
    table = disagreement.majority_shares.function(votes).set_index("percent")
    assert (table.index[0], table.index[-1]) == (33, 100)
    assert table["n_at_least"][[33, 34, 35, 57, 58, 100]].tolist() == [4, 4, 3, 3, 1, 1]
    at_most = table["share_at_most"]
    assert at_most[[33, 34, 56, 57, 99, 100]].tolist() == [0, 0.25, 0.25, 0.75, 0.75, 1]


def test_cells_with_fewer_than_five_items_have_no_place(tmp_path):
    counts = [(100, 0, 0)] * 6 + [(3, 95, 2)] * 3 + [(0, 96, 4)] * 2 + [(50, 0, 50)] * 4
    table = disagreement.vote_cells.function(votes_of(tmp_path, counts), step=10)
    columns = ["percent_1", "percent_2", "percent_3", "n_items"]
    places = table[columns].to_numpy(float, na_value=-1).tolist()
    assert places == [[0, 100, 0, 5], [100, 0, 0, 6], [-1, -1, -1, 4]]
    assert table["majority_label"].fillna("").tolist() == ["neutral", "entailment", ""]


@given(st.lists(st.tuples(*[st.integers(0, 40)] * 3).filter(any), min_size=1), st.integers(1, 20))
def test_the_place_of_an_item_is_the_nearest_there_is(counts, n):
    counts = np.array(counts)
    shares = counts / counts.sum(axis=1, keepdims=True)
    places = disagreement._nearest(counts, n)
    assert (places.sum(axis=1) == n).all()
    assert (places >= 0).all()
    grid = np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]) / n
    distances = np.linalg.norm(shares[:, None] - grid, axis=2).min(axis=1)
    np.testing.assert_allclose(np.linalg.norm(shares - places / n, axis=1), distances, atol=1e-9)


def test_contested_pairs_count_the_two_leading_labels(few, others):
    table = disagreement.contested_pairs(few).rows.set_index(["dataset", "first", "second"])
    # (70, 20, 10), (10, 60, 30) and (34, 33, 33), whose tie counts for the earlier label
    share = table["share"]["snli"]
    assert share["entailment", "neutral"] == pytest.approx(2 / 3)
    assert share["neutral", "contradiction"] == pytest.approx(1 / 3)
    assert share["entailment", "contradiction"] == 0
    for votes in others:
        unanimous = (votes.counts.max(axis=1) == votes.n_votes).mean()
        pairs = disagreement.contested_pairs.function(votes)
        assert unanimous > 0
        assert pairs["share"].sum() == pytest.approx(1 - unanimous)


def test_people_who_differ_are_counted_by_pairs_and_not_by_leading_labels(tmp_path, others):
    votes = votes_of(tmp_path, [(50, 0, 50), (0, 20, 80), (100, 0, 0)])  # 2500 and 1600 pairs
    table = disagreement.contested_pairs.function(votes).set_index(["first", "second"])
    apart = table["share_of_differing"]
    assert apart["entailment", "contradiction"] == pytest.approx(25 / 41)
    assert apart["entailment", "neutral"] == 0
    for more in others:  # with items of different numbers of votes
        assert disagreement.contested_pairs.function(more)["share_of_differing"].sum() == (
            pytest.approx(1)
        )
    agreed = disagreement.contested_pairs.function(votes_of(tmp_path, [(100, 0, 0)]))
    assert agreed["share_of_differing"].isna().all()


def test_original_votes_by_pattern_make_up_all_items(sample, tmp_path):
    for votes in sample[:2]:
        table = disagreement.original_votes.function(votes).set_index("pattern")
        assert set(table.index) <= {"all", "3-2", "3-1-1", "3-1"}
        weights = table["n_items"].drop("all")
        assert weights.sum() == table.loc["all", "n_items"] == len(votes)
        after = votes.shares[np.arange(len(votes)), votes.old_label]
        assert table.loc["all", "mean_share_after"] == pytest.approx(after.mean())
        assert table.loc["all", "n_nearly_all"] == (after >= 0.95 - 1e-9).sum()
    # An item twenty points off is not yet far.
    votes = votes_of(tmp_path, [(80, 20, 0), (81, 19, 0), (40, 30, 30), (39, 61, 0)])
    votes = replace(votes, given_old_label=np.zeros(4, dtype=int))
    assert disagreement.original_votes.function(votes).loc[0, "share_far"] == 0.5


def test_evenness_becomes_the_chance_that_two_votes_differ():
    rows = pd.DataFrame(
        {"dataset": ["snli", "rte"], "evenness": [0.6, 0.6], "of_chosen": 0.9, "of_chosen_low": 0.8,
         "of_chosen_high": 1.0, "of_seen": [0.9, np.nan]}
    )  # fmt: skip
    found = disagreement.with_disagreement(rows).rows
    assert found["disagreement"].tolist() == pytest.approx([0.4, 0.3])
    assert found["chosen_disagreement_high"].tolist() == pytest.approx([2 / 3, 1 / 2])
    assert found["seen_disagreement"].isna().tolist() == [False, True]

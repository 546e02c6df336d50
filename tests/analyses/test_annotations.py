from dataclasses import replace

import pytest
from helpers.evidence import evidence_on
from helpers.rows import row, write_rows
from scipy.stats import entropy

from chaos_utils.analyses import annotations, your_votes
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.datasets.readers import read_file


def test_data_statistics_count_changes_and_take_the_difference(few):
    table = annotations.data_statistics(few).rows.set_index("dataset")
    # Of three items with the first label as the old one, one or two have another majority.
    assert table["n_changed"].to_dict() == {"snli": 1, "mnli": 1, "alphanli": 1}
    assert table.loc["snli", "change_rate_percent"] == pytest.approx(100 / 3)
    assert table.loc["snli", "difference_n_examples"] == 3 - 1514
    assert table["n_overruled"].le(table["n_changed"]).all()
    parts = table["overruled_percent"] + table["too_close_percent"]
    assert parts.tolist() == pytest.approx(table["change_rate_percent"].tolist())
    # Own data has no full development set.
    assert table["change_rate_full_dev_percent"].isna().all()


def test_fewer_old_labels_are_outvoted_when_all_items_are_tested_together(tmp_path):
    # p is 0.02 on the first item, which five tests of twenty allow only up to 0.0125.
    counts = [(38, 62, 0), *[(30, 70, 0)] * 4, *[(60, 40, 0)] * 15]
    rows = [row(uid=str(i), counts=one, old=0) for i, one in enumerate(counts)]
    votes = read_file([write_rows(tmp_path / "votes", rows)], get_dataset("snli"))
    table = annotations.data_statistics.function(votes).iloc[0]
    assert table["overruled_percent"] == 25
    assert table["overruled_all_tested_percent"] == 20


def test_examples_follow_their_rules(sample):
    table = annotations.examples(evidence_on(sample), n_each=2).rows
    assert (table.groupby(["dataset", "reason"]).size() == 2).all()
    for votes in sample:
        of_dataset = table[table["dataset"] == votes.dataset.name]
        least = of_dataset[of_dataset["reason"] == "least agreement"]
        bits = entropy(votes.shares, base=2, axis=1)
        assert sorted(least["entropy_bits"]) == pytest.approx(sorted(bits)[-2:])
        changed = of_dataset[of_dataset["reason"] == "majority changed"]
        largest = [votes.counts[votes.index(uid)].max() for uid in changed["uid"]]
        moved = votes.counts[votes.majority != votes.old_label].max(axis=1)
        assert largest == sorted(moved, reverse=True)[:2]
        assert (changed["old_label"] != changed["majority_label"]).all()
    with pytest.raises(ChaosError, match="negative"):
        annotations.examples(evidence_on(sample), n_each=-1)


def test_no_label_and_no_vote_is_lost_whatever_their_number(others):
    table = annotations.examples(evidence_on(others), n_each=3).rows.set_index("dataset")
    assert set(table["reason"]) == {"least agreement"}
    assert table["old_label"].isna().all()
    for votes in others:
        picked = table.loc[votes.dataset.name]
        counts, k = picked.filter(like="votes_"), votes.dataset.n_classes
        of_items = votes.counts[[votes.index(uid) for uid in picked["uid"]]]
        assert counts.iloc[:, :k].to_numpy().tolist() == of_items.tolist()
        assert counts.iloc[:, k:].isna().to_numpy().all()


def test_intervals_are_over_annotators_too_where_these_are_named(four):
    (votes,) = load_all_votes(str(four))
    how = {"n_resamples": 300, "seed": 0}
    named = annotations.agreement.function(votes, **how).iloc[0]
    alone = annotations.agreement.function(replace(votes, annotations=None), **how).iloc[0]
    assert (named["over"], alone["over"]) == ("items and annotators", "items")
    agreed = your_votes.agreement.function(votes, **how).set_index("quantity").loc["disagreement"]
    for name in annotations.INTERVAL_STATISTICS:
        assert named[name] == alone[name]
        assert named[f"{name}_low"] < named[name] < named[f"{name}_high"]
    if (votes.n_votes >= 2).all():  # the same pairs, by two ways
        pairs = [named[f"mean_pairwise_agreement{end}"] for end in ("_low", "", "_high")]
        assert pairs == pytest.approx(1 - agreed[["high", "value", "low"]].to_numpy(float))

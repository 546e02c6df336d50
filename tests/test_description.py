import numpy as np
import pandas as pd
import pytest
from helpers.rows import row, write_dataset, write_rows
from helpers.runs import write_run

from chaos_utils import description
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import book_datasets, get_dataset
from chaos_utils.datasets.chaosnli import read_chaosnli
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.presentation import annotations as presentation
from chaos_utils.scoring.systems import uniform


@pytest.fixture
def all_votes(tmp_path):
    write_dataset(tmp_path)
    return load_all_votes(str(tmp_path))


def test_data_statistics_count_changes_and_take_the_difference(all_votes):
    table = description.data_statistics(all_votes).set_index("dataset")
    # Of three items with the first label as the old one, one or two have another majority.
    assert table["n_changed"].to_dict() == {"snli": 1, "mnli": 1, "alphanli": 1}
    assert table.loc["snli", "change_rate_percent"] == pytest.approx(100 / 3)
    assert table.loc["snli", "difference_n_examples"] == 3 - 1514
    # Own data has no full development set.
    assert table["change_rate_full_dev_percent"].isna().all()


def test_data_that_is_not_the_release_is_told(all_votes, sample, released):
    assert description.data_notice(released) == ""
    assert "`own-data/chaosNLI_snli.jsonl`" in description.data_notice(all_votes)
    assert "`synthetic-sample/" in description.data_notice(sample)


def test_a_negative_number_of_examples(sample):
    with pytest.raises(ChaosError, match="negative"):
        description.examples(sample, -1)


def test_label_counts_count_every_vote_and_every_item(all_votes):
    table = description.label_counts(all_votes)
    sums = table.groupby(["dataset", "statistic"])["value"].sum()
    for dataset in (one.name for one in book_datasets()):
        assert sums[dataset, "old_majority"] == sums[dataset, "new_majority"] == 3
        assert sums[dataset, "new_raw_count"] == 300
    assert table[table["dataset"] == "alphanli"]["published"].isna().all()


def test_transitions_are_counts_with_shares_of_their_row(all_votes):
    table = description.label_transitions(all_votes)
    assert (table.groupby("dataset")["n"].sum() == 3).all()
    sums = table.dropna().groupby(["dataset", "old_label"])["row_share"].sum()
    np.testing.assert_allclose(sums, 1)


def test_agreement_holds_its_values_between_their_intervals(sample):
    table = description.agreement(sample, n_resamples=300, seed=1)
    for name in description.INTERVAL_STATISTICS:
        assert (table[f"{name}_low"] <= table[name]).all()
        assert (table[name] <= table[f"{name}_high"]).all()
        assert (table[f"{name}_low"] < table[f"{name}_high"]).all()
    again = description.agreement(sample, n_resamples=300, seed=1)
    pd.testing.assert_frame_equal(table, again)
    other = description.agreement(sample, n_resamples=300, seed=2)
    assert (other["fleiss_kappa_low"] != table["fleiss_kappa_low"]).any()


def test_ties_and_unanimous_items_are_counted(tmp_path):
    rows = [
        row(uid=str(i), counts=c) for i, c in enumerate([(50, 50, 0), (100, 0, 0), (60, 20, 20)])
    ]
    votes = read_chaosnli(write_rows(tmp_path / "f", rows), get_dataset("snli"))
    table = description.agreement([votes], 10, 0)
    assert table.loc[0, ["n_ties", "n_unanimous"]].tolist() == [1, 1]


def test_original_votes_leave_out_the_task_without_any(sample):
    table = description.original_votes(sample)
    assert set(table["dataset"]) == {"snli", "mnli"}
    assert set(table["pattern"]) <= {"3-2", "3-1-1", "3-1"}
    assert (table["old_label_share_before"] == 0.6).all()
    assert table["chance_of_selection"].between(0, 1).all()


def test_examples_follow_their_rules(sample):
    table = description.examples(sample, 2)
    assert (table.groupby(["dataset", "reason"]).size() == 2).all()
    items = description.items(sample).set_index(["dataset", "uid"])
    least = table[table["reason"] == "least agreement"]
    for dataset, rows in least.groupby("dataset"):
        assert rows["entropy_bits"].min() >= items.loc[dataset]["entropy_bits"].nlargest(2).min()
    changed = table[table["reason"] == "majority changed"]
    assert (changed["old_label"] != changed["majority_label"]).all()


def test_no_table_holds_a_sentence(sample):
    sentences = {sentence for o in sample for text in o.texts for sentence in text.values()}
    for table in (description.items(sample), description.examples(sample, 3),
                  description.original_votes(sample)):  # fmt: skip
        cells = {cell for column in table for cell in table[column] if isinstance(cell, str)}
        assert not cells & sentences


def test_thirds_even_splits_and_contested_pairs(all_votes):
    assert description.entropy_thirds(pd.Series([0, 0.2, 0.5, 1.0])) == (0.5, 0.25, 0.25)
    assert description.even_splits(0, 100) == (1, 100)
    assert description.even_splits(0.95, 100) == (27 / 101, 63)
    assert description.even_splits(0.95, 5) == (2 / 6, 3)
    pairs = description.contested_pairs(all_votes).set_index(["dataset", "first", "second"])
    assert list(pairs.index.unique("dataset")) == ["snli", "mnli"]
    # (70, 20, 10), (10, 60, 30) and (34, 33, 33), whose tie counts for the earlier label
    share = pairs["share"]["snli"]
    assert share["entailment", "neutral"] == pytest.approx(2 / 3)
    assert share["neutral", "contradiction"] == pytest.approx(1 / 3)
    assert share["entailment", "contradiction"] == 0


def test_tables_are_set_for_reading(sample):
    counts = presentation.show_label_counts(description.label_counts(sample))
    assert counts.columns.nlevels == 2
    assert len(counts) == 8  # αNLI has no published counts
    agreement = presentation.show_agreement(description.agreement(sample, 50, 0))
    assert agreement.loc[0, "Fleiss’ κ"].count(",") == 1
    statistics = presentation.show_data_statistics(description.data_statistics(sample))
    assert statistics["difference"].iloc[-1] == "–"


def test_systems_of_our_own_are_told_with_what_they_were_trained_on(released, tmp_path):
    snli, mnli = released[:2]
    run = write_run(tmp_path / "one", [snli, mnli], [snli.shares, mnli.shares], system="Ours")
    ours = run.predictions_on(snli)
    told = description.systems_notice([ours, ours, uniform(snli)])
    assert told.count("**Ours** was trained by this project on 4,000 of the 942,854") == 1
    assert "uniform" not in told
    assert description.systems_notice([uniform(snli)]) == ""


def test_no_label_and_no_vote_is_lost_whatever_their_number(others):
    items = description.items(others).set_index("dataset")
    examples = description.examples(others, 3).set_index("dataset")
    for votes in others:
        name, k = votes.dataset.name, votes.dataset.n_classes
        shares = items.loc[name].filter(like="share_").to_numpy()
        np.testing.assert_allclose(shares[:, :k], votes.shares)
        assert np.isnan(shares[:, k:]).all()
        picked = examples.loc[name]
        of_items = votes.counts[[votes.index(uid) for uid in picked["uid"]]]
        counts = picked.filter(like="votes_")
        assert counts.iloc[:, :k].to_numpy().tolist() == of_items.tolist()
        assert counts.iloc[:, k:].isna().to_numpy().all()
    assert items["changed"].isna().all()
    assert set(examples["reason"]) == {"least agreement"}
    sums = description.contested_pairs(others).groupby("dataset")["share"].sum()
    unanimous = (others[0].counts.max(axis=1) == others[0].n_votes).mean()
    assert unanimous > 0
    assert sums.to_dict() == pytest.approx({"severity": 1 - unanimous})


def test_agreement_of_few_and_unequal_votes(others):
    table = description.agreement(others, 50, 0).set_index("dataset")
    assert table["fleiss_kappa"].between(-1, 1).all()
    for votes in others:
        one = votes.counts.max(axis=1) == votes.n_votes
        assert table.loc[votes.dataset.name, "n_unanimous"] == one.sum()


def test_what_needs_old_labels_is_left_out_and_named(others, sample):
    both = [*sample, *others]
    assert description.having(both, "old labels") == sample
    assert description.left_out(both, "old labels") == (
        "*Severity and Pairs have no old labels: left out here.*"
    )
    assert description.left_out(sample, "old labels") == ""
    assert description.left_out(sample, "old votes") == "*αNLI has no old votes: left out here.*"
    assert description.left_out(others, "annotators") == "*Pairs has no annotators: left out here.*"
    assert description.without_triangle(sample).startswith("*αNLI is left out here")
    for table in (description.data_statistics, description.label_transitions,
                  description.original_votes):  # fmt: skip
        assert table(others).empty
        pd.testing.assert_frame_equal(table(both), table(sample))
    counts = description.label_counts(others)
    assert set(counts["statistic"]) == {"new_majority", "new_raw_count"}
    assert counts["published"].isna().all()
    of_votes = counts[counts["statistic"] == "new_raw_count"].groupby("dataset")["value"].sum()
    assert of_votes.to_dict() == {o.dataset.name: o.counts.sum() for o in others}


def test_the_number_of_votes_is_given_only_where_there_is_one(others, sample):
    four, two = others
    assert description.votes_per_item(sample) == 100
    assert description.votes_per_item([two]) == 5
    assert description.votes_per_item([four]) == description.votes_per_item([*sample, two]) == 0
    assert description.shows_the_book(sample)
    assert not description.shows_the_book(sample[:1])
    assert not description.shows_the_book([*sample, two])


def test_tables_of_any_dataset_are_set_for_reading(others, sample):
    counts = presentation.show_label_counts(description.label_counts(others))
    assert len(counts) == 4
    assert counts.loc[0, ("yes", "here")] == "–"
    assert set(counts.columns.get_level_values(1)) == {"", "here"}
    chosen = presentation.show_examples(description.examples(others, 1))
    assert len(chosen.loc[0, "votes"].counts) == 4
    assert "→" not in chosen.loc[0, "majority"]
    chosen = presentation.show_examples(description.examples([*sample, *others], 1))
    assert chosen["old label → majority"].iloc[-1].startswith("– → ")
    assert len(presentation.show_agreement(description.agreement(others, 10, 0))) == 2

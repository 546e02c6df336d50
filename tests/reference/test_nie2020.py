"""The published numbers of Nie, Zhou and Bansal (2020), from the released data."""

import pytest
from helpers.evidence import evidence_on

from chaos_utils.analyses import annotations
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.scoring.published import TABLE_5
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.systems import released_systems, uniform


def test_change_rates_equal_table_2(released):
    ours = annotations.data_statistics(evidence_on(released)).rows.set_index("dataset")
    theirs = read_published("nie2020_table2").set_index("dataset")
    assert (ours["n_examples"] == theirs["n_examples"].reindex(ours.index)).all()
    expected = {"snli": 24.97, "mnli": 31.77, "alphanli": 10.64}
    assert ours["change_rate_percent"].round(2).to_dict() == expected
    of_all = ours["change_rate_full_dev_percent"].round(2).dropna()
    assert of_all.to_dict() == {"snli": 3.78, "mnli": 5.08}


def test_label_counts_equal_table_7_but_for_the_votes_that_were_not_released(released):
    table = annotations.label_counts(evidence_on(released)).rows
    table = table.set_index(["dataset", "statistic", "label"]).sort_index()
    labels = ["entailment", "neutral", "contradiction"]
    for dataset, majorities in {"snli": [421, 813, 280], "mnli": [741, 583, 275]}.items():
        assert table.loc[(dataset, "new_majority"), "value"][labels].tolist() == majorities
        for statistic in ("old_majority", "new_majority", "old_raw_count"):
            assert (table.loc[(dataset, statistic), "difference"] == 0).all()
    new = table.xs("new_raw_count", level="statistic")
    new = new.groupby("dataset")[["value", "published"]].sum()
    assert new.loc["snli"].tolist() == [151_400, 151_361]
    assert new.loc["mnli"].tolist() == [159_900, 159_868]


def test_agreement(released):
    table = annotations.agreement(evidence_on(released), n_resamples=10, seed=0).rows
    assert table["dataset"].tolist() == ["snli", "mnli", "alphanli"]
    assert table["n_ties"].tolist() == [14, 14, 8]
    assert table["mean_entropy_bits"].round(3).tolist() == [0.798, 1.072, 0.414]
    assert table["fleiss_kappa"].round(3).tolist() == [0.447, 0.283, 0.648]


def test_the_papers_examples_are_all_in_the_data(released):
    table = annotations.examples(evidence_on(released), n_each=1).rows
    printed = table[table["reason"].str.startswith("printed in")]
    assert sorted(printed["uid"]) == sorted(read_published("example_items")["uid"])


def test_chance_equals_table_5(released):
    published = read_published("nie2020_table5").query("model == 'chance'").set_index("dataset")
    for votes in released:
        ours = score(votes, [uniform(votes)], measures=["jsd", "kl"]).set_index("measure")
        theirs = published.loc[votes.dataset.name, ["jsd", "kl"]].astype(float)
        assert ours["value"].to_dict() == pytest.approx(theirs.to_dict(), abs=3e-4)


def test_the_nine_models_equal_table_5(released):
    published = read_published("nie2020_table5").set_index(["dataset", "model"])
    n_values = 0
    for votes in released:
        nine = [one for one in released_systems(votes) if one.paper == "nie2020"]
        ours = score(votes, nine, measures=TABLE_5, n_resamples=0)
        for row in ours.to_dict("records"):
            theirs = published.loc[(row["dataset"], row["system"]), row["measure"]]
            assert row["value"] == pytest.approx(theirs, abs=5.1e-5), row["system"]
            n_values += 1
    assert n_values == 108


def test_published_tables_are_read_by_name():
    with pytest.raises(ChaosError, match="did you mean 'nie2020_table2'"):
        read_published("nie2020_table_2")

import pytest

from chaos_utils.evaluation import results
from chaos_utils.scoring.systems import load_systems


@pytest.fixture(scope="module")
def table(released):
    return results.main_results(released, [load_systems(o) for o in released], 50, 0)


def test_every_row_of_the_paper_is_there(table):
    counts = table.groupby(["dataset", "kind", "source"]).size()
    for dataset in ("snli", "mnli", "alphanli"):
        assert counts[dataset, "chance", "computed"] == 1
        assert counts[dataset, "model", "published"] == 9
        assert counts[dataset, "human", "published"] == 1
        assert counts[dataset, "baseline", "computed"] == 3
    assert counts["snli", "model", "computed"] >= 5


def test_chance_rows_equal_the_paper_s(table):
    chance = table[table["kind"] == "chance"]
    for measure in results.TABLE_5:
        assert chance[f"difference_{measure}"].abs().max() < 3e-4


def test_intervals_hold_their_values(table):
    rows = table[(table["source"] == "computed") & (table["kind"] == "model")]
    for measure in results.TABLE_5:
        assert (rows[f"{measure}_low"] < rows[measure]).all()
        assert (rows[measure] < rows[f"{measure}_high"]).all()


def test_on_mnli_no_published_model_is_nearer_than_the_uniform_guess(table):
    counts = results.better_than_chance(table).set_index(["dataset", "measure"])["n_better"]
    assert counts["mnli", "jsd"] == 0
    assert counts["mnli", "kl"] == 0
    assert counts["snli", "jsd"] == 9


def test_sizes_and_ranks():
    sizes = results.size_effects().set_index(["dataset", "family"])
    assert sizes.loc[("snli", "RoBERTa"), "change_jsd"] == pytest.approx(0.2210 - 0.2294)
    ranks = results.rank_correlations()
    assert ranks["spearman"].between(-1, 1).all()
    assert len(ranks) == 12
    assert set(ranks["n_models"]) == {9}

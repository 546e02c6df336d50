import pytest

from chaos_utils.analyses import results
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.references import reference_scores
from chaos_utils.report.columns import lay_out


@pytest.fixture(scope="module")
def table(released):
    return results.main_results(gather("auto", []), n_resamples=50, seed=0)


def test_every_row_of_the_paper_is_there(table):
    counts = table.rows.groupby(["dataset", "kind", "source"]).size()
    for dataset in ("snli", "mnli", "alphanli"):
        assert counts[dataset, "chance", "computed"] == 1
        assert counts[dataset, "model", "published"] == 9
        assert counts[dataset, "human", "published"] == 1
        assert counts[dataset, "baseline", "computed"] == 3
    assert counts["snli", "model", "computed"] >= 5


def test_chance_rows_equal_the_paper_s(table):
    chance = table.rows[table.rows["kind"] == "chance"]
    for measure in results.TABLE_5:
        assert chance[f"difference_{measure}"].abs().max() < 3e-4


def test_intervals_hold_their_values(table):
    rows = table.rows[(table.rows["source"] == "computed") & (table.rows["kind"] == "model")]
    for measure in results.TABLE_5:
        assert (rows[f"{measure}_low"] < rows[measure]).all()
        assert (rows[measure] < rows[f"{measure}_high"]).all()


def test_on_mnli_no_published_model_is_nearer_than_the_uniform_guess(table):
    counts = results.better_than_chance(table).rows.set_index(["dataset", "measure"])["n_better"]
    assert counts["mnli", "jsd"] == 0
    assert counts["mnli", "kl"] == 0
    assert counts["snli", "jsd"] == 9


def test_sizes_and_ranks():
    sizes = results.size_effects()
    rows = sizes.rows.set_index(["dataset", "family"])
    assert rows.loc[("snli", "RoBERTa"), "change_jsd"] == pytest.approx(0.2210 - 0.2294)
    assert [one.name for one in sizes.inputs] == ["published/nie2020_table5.csv"]
    ranks = results.rank_correlations().rows
    assert ranks["spearman"].between(-1, 1).all()
    assert len(ranks) == 12
    assert set(ranks["n_models"]) == {9}


def test_the_figure_draws_every_system_and_the_references(table):
    references = reference_scores(gather("auto"), seed=0, measures=["jsd", "kl"])
    drawn = results.drawn_results(table, references)
    kinds = drawn.rows.groupby("measure")["kind"].value_counts()
    assert (kinds["jsd", "floor"], kinds["jsd", "ceiling"], kinds["kl", "floor"]) == (3, 3, 3)
    assert ("kl", "ceiling") not in kinds.index
    floor = references.rows.query("system == 'perfect model' and measure == 'jsd'")["value"]
    assert (
        floor.tolist() == drawn.rows.query("kind == 'floor' and measure == 'jsd'")["value"].tolist()
    )
    assert "BERT-large" in set(drawn.rows["system"])


def test_a_published_row_has_no_interval_and_chance_stands_beside_the_paper_s(table):
    header, cells = lay_out(table.on("snli").rows, results.COLUMNS)
    assert [names[0] for names in header][:4] == ["dataset", "system", "source", "JSD"]
    by_system = {row[1]: row for row in cells}
    assert "[paper" in by_system["chance"][3]
    assert "[" not in by_system["BART-large"][3]
    assert "[" in by_system["RoBERTa-base, seed 0"][3]

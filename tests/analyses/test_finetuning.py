"""What the chapter on our own runs shows of their records."""

import pytest
from helpers.runs import fit, write_run

from chaos_utils.analyses import finetuning
from chaos_utils.scoring.systems import uniform
from chaos_utils.training.plans import read_plan


@pytest.fixture
def write(tmp_path, sample):
    """Write a run of SNLI and MNLI, or of αNLI, that predicts nothing in particular."""

    def write(name, task="nli", **changes):
        votes = sample[:2] if task == "nli" else sample[2:]
        shares = [uniform(one).probabilities for one in votes]
        return write_run(tmp_path / "results" / name, votes, shares, **changes)

    return write


def test_a_row_has_data_recipe_accuracies_and_cost(write):
    score = {"n": 10, "accuracy": 0.625, "loss": 1.0}
    run = write("a", test={"all": score, "snli": score, "mnli-mismatched": score})
    (row,) = finetuning.run_table([run]).rows.to_dict("records")
    assert row["trained_share"] == pytest.approx(4000 / 942854)
    assert row["dev_accuracy_mnli"] == 0.75
    assert (row["n_test_mnli_mismatched"], row["test_accuracy_mnli_mismatched"]) == (10, 0.625)
    assert row["items_per_second"] == 400


def test_folds_are_summed_and_weighed_by_their_time(write):
    fits = [fit(1000, seconds=10.0), fit(1000, seconds=30.0)]
    run = write("a", settings={"train": "chaosnli", "loss": "soft"}, fits=fits)
    (row,) = finetuning.run_table([run]).rows.to_dict("records")
    assert (row["n_fits"], row["items_seen"]) == (2, 2000)
    assert row["training_minutes"] == pytest.approx(2 / 3)
    assert row["items_per_second"] == 50
    curves = finetuning.curve_table([run]).rows
    assert curves.groupby(["fold", "measure"]).size().tolist() == [3, 3, 3, 3]
    assert set(curves["kind"]) == {"votes"}


def test_a_run_that_only_predicts_costs_no_training_and_has_no_curve(write):
    run = write("mc", predicted={"run": "a", "mc_samples": 10})
    other = write("b")
    table = finetuning.run_table([run, other])
    assert table.rows["n_fits"].tolist() == [0, 1]
    assert table.rows.loc[0, ["training_minutes", "items_per_second", "items_seen"]].isna().all()
    assert set(finetuning.curve_table([run, other]).rows["run"]) == {"b"}
    assert set(finetuning.recipe_table([run, other]).rows["runs"]) == {"", "b"}


def test_recipes_name_the_runs_that_used_them_and_what_they_were_made_from(write):
    run = write("a")
    more = [write("seed", settings={"seed": 1}), write("epochs", settings={"epochs": 10})]
    recipes = finetuning.recipe_table([run, *more])
    runs = recipes.rows.groupby("source", sort=False)["runs"].unique().map(list)
    assert runs.to_dict() == {"published": [""], "ours": ["a seed", "epochs"]}
    names = [entry.name for entry in finetuning.recipe_table([run]).inputs]
    assert names == ["published/nie2020_table8.csv", "results/a/run.json"]


def test_a_plan_says_which_of_its_runs_are_there_and_what_makes_the_others(write):
    plan = read_plan("table5")
    made = [write("roberta-base-nli-s0"), write("roberta-base-alphanli-s0", "alphanli"),
            write("bert-large-nli-s0")]  # fmt: skip
    table = finetuning.plan_table(plan, made)
    rows = table.rows.set_index("model")
    assert len(rows) == 9
    assert rows.loc["roberta-base", "command"] == ""
    assert rows.loc["bert-large", "command"] == "chaos wanted --plan table5 --only bert-large"
    assert rows.loc["bert-large", ["there_nli", "there_alphanli"]].tolist() == [True, False]
    assert rows.loc["bert-large", "dev_accuracy_nli"] == made[2].record.dev["all"].accuracy
    columns = {column.heading: column for column in finetuning.PLAN_COLUMNS}
    (large,) = (row for row in table.rows.to_dict("records") if row["model"] == "bert-large")
    assert columns["NLI"].value(large).startswith("finished, accuracy 0.")
    assert columns["αNLI"].value(large) == "0.2–0.4 h"
    assert {entry.name for entry in table.inputs} >= {"results/plans/table5.yml"}

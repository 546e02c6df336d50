import json

import pandas as pd
import pytest
from helpers.runs import fit, write_run

from chaos_utils.base import inputs, paths
from chaos_utils.evaluation import finetuning as records
from chaos_utils.presentation import training as presentation
from chaos_utils.scoring.systems import uniform
from chaos_utils.scoring.trained import committed_runs, kind_of, ordered, runs_in


@pytest.fixture
def write(tmp_path, sample):
    """Write a run of SNLI and MNLI, or of αNLI, that predicts nothing in particular."""

    def write(name, task="nli", **changes):
        votes = sample[:2] if task == "nli" else sample[2:]
        shares = [uniform(one).probabilities for one in votes]
        return write_run(tmp_path / "results" / name, votes, shares, **changes)

    return write


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("plain", {}),
        ("size", {"settings": {"max_train_examples": 1000}}),
        ("smoothing", {"settings": {"label_smoothing": 0.1, "max_train_examples": 1000}}),
        ("distilled", {"settings": {"teacher": "a", "loss": "soft"}}),
        ("votes", {"settings": {"train": "chaosnli", "loss": "soft"}}),
        ("predicted", {"predicted": {"run": "a", "mc_samples": 10}}),
    ],
)
def test_kinds_are_told_from_settings(write, kind, changes):
    assert kind_of(write("a", **changes)) == kind


def test_runs_stand_in_an_order_of_their_own(write):
    write("a", settings={"max_train_examples": 1000})
    write("b", "alphanli")
    write("c", predicted={"run": "e", "mc_samples": 10})
    write("d", settings={"max_train_examples": 3162})
    write("e")
    write("f", settings={"seed": 1})
    found = ordered(runs_in(write("g", settings={"seed": 2}).folder.parent))
    assert [run.name for run in found] == ["e", "f", "g", "d", "a", "c", "b"]


def test_a_row_has_data_recipe_accuracies_and_cost(write):
    score = {"n": 10, "accuracy": 0.625, "loss": 1.0}
    run = write("a", test={"all": score, "snli": score, "mnli-mismatched": score})
    (row,) = records.run_table([run]).to_dict("records")
    assert row["trained_share"] == pytest.approx(4000 / 942854)
    assert (row["n_train_snli"], row["n_train_mnli"]) == (2000, 2000)
    assert (row["learning_rate"], row["batch_size"], row["epochs"]) == (1e-4, 32, 2)
    assert row["dev_accuracy_mnli"] == 0.75
    assert (row["n_test_mnli_mismatched"], row["test_accuracy_mnli_mismatched"]) == (10, 0.625)
    assert row["items_per_second"] == 400
    assert row["peak_share"] == pytest.approx(0.1)
    assert row["flops"] == 1e12


def test_folds_are_summed_and_weighed_by_their_time(write):
    fits = [fit(1000, seconds=10.0), fit(1000, seconds=30.0, flops=9e12, peak_memory_gib=3.0)]
    run = write("a", settings={"train": "chaosnli", "loss": "soft"}, fits=fits)
    (row,) = records.run_table([run]).to_dict("records")
    assert (row["n_fits"], row["items_seen"], row["training_seconds"]) == (2, 2000, 40)
    assert row["items_per_second"] == 50
    assert row["peak_share"] == pytest.approx(1e13 / 40e12)
    assert row["peak_memory_gib"] == 3
    curves = records.curve_table([run])
    assert curves.groupby(["fold", "measure"]).size().tolist() == [3, 3, 3, 3]


def test_a_run_that_only_predicts_costs_no_training_and_has_no_curve(write):
    run = write("mc", predicted={"run": "a", "mc_samples": 10})
    other = write("b")
    table = records.run_table([run, other])
    assert table["n_fits"].tolist() == [0, 1]
    assert table.loc[0, ["flops", "items_per_second", "items_seen"]].isna().all()
    assert set(records.curve_table([run, other])["run"]) == {"b"}
    assert set(records.recipe_table([run, other])["runs"]) == {"", "b"}
    shown = presentation.show_runs(table).set_index("trained on")
    assert shown.loc["weights of a", "recipe"] == "10 passes with dropout"
    assert (shown.loc["weights of a", ["pairs/s", "minutes", "TFLOP", "GiB"]] == "–").all()


def test_the_table_tells_what_was_trained_on(write):
    shown = presentation.show_runs(
        records.run_table(
            [
                write("a", fits=[fit(4000, seconds=200.0)]),
                write("b", "alphanli", settings={"label_smoothing": 0.1}),
                write("c", settings={"train": "chaosnli", "loss": "soft", "init": "a"}),
            ]
        )
    )
    first, second, third = shown.to_dict("records")
    assert first["trained on"] == "4,000 of 942,854 pairs (0.4%): 2,000 SNLI + 2,000 MNLI"
    assert first["recipe"] == "rate 1e-4, batch 32, 2 epochs, hard labels"
    assert first["dev accuracy"] == "SNLI 0.750, MNLI 0.750"
    assert first["test accuracy"] == "–"
    assert (first["pairs/s"], first["minutes"], first["share of peak"]) == ("20", "3.3", "0%")
    assert second["trained on"] == "4,000 of 169,654 pairs (2.4%): 4,000 αNLI"
    assert second["recipe"].endswith("smoothing 0.1")
    assert third["trained on"].endswith("items of ChaosNLI, out of fold (5 folds)")
    assert third["recipe"].endswith("soft labels, from a")


def test_recipes_stand_beside_table_8(write):
    runs = [write("a"), write("b", settings={"seed": 1}), write("c", settings={"epochs": 10})]
    table = records.recipe_table(runs)
    theirs = table[table["source"] == "published"].set_index("model")
    assert list(theirs.index) == ["bert", "xlnet", "roberta", "bart", "albert", "distilbert"]
    assert theirs.loc["bert", ["learning_rate", "epochs"]].tolist() == [5e-5, 5]
    assert theirs.loc["bart", ["batch_size", "weight_decay"]].tolist() == [64, 0.01]
    assert theirs.loc["roberta", "epochs"] == 3
    assert table.loc[table["source"] == "ours", "runs"].tolist() == ["a b", "c"]
    shown = presentation.show_recipes(table)
    assert shown["learning rate"].tolist() == ["5e-5", *["5e-6"] * 5, "1e-4", "1e-4"]
    assert len(records.recipe_table([])) == 6


def test_wanted_runs_that_are_not_there_are_named(write, monkeypatch):
    run = write("a")
    monkeypatch.setattr(paths, "results", lambda: run.folder.parent)
    assert records.missing_runs([run]) == []
    entries = "- {name: b, why: x, settings: {}}\n- {name: a, why: y, settings: {}}\n"
    (run.folder.parent / "wanted.yml").write_text(entries)
    assert records.missing_runs(committed_runs()) == ["b"]
    assert "`b`" in presentation.say_missing(["b"])
    assert presentation.say_missing([]) == ""
    assert "`c` and 5 more" in presentation.say_missing(list("abcdefgh"))


def test_reading_a_record_is_noted_with_its_digest(write, monkeypatch):
    run = write("a")
    monkeypatch.setattr(inputs, "_opened", {})
    monkeypatch.setattr(paths, "results", lambda: run.folder.parent)
    committed_runs()
    (entry,) = inputs.opened()
    path = run.folder / "run.json"
    assert (entry.name, entry.sha256) == ("results/a/run.json", inputs.digest(path))
    assert entry.synthetic
    record = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(record | {"synthetic": False}), "utf-8")
    committed_runs()
    assert not inputs.any_synthetic()


def test_sentences_are_computed(write):
    table = records.run_table([write("a"), write("b", "alphanli")])
    assert "all-MiniLM-L6-v2" in presentation.say_encoders(table)
    assert "22.7 million parameters" in presentation.say_encoders(table)
    assert presentation.say_reached(table).splitlines()[1].endswith("(αNLI): αNLI 0.750.")
    stories = presentation.say_stories(table[table["task"] == "alphanli"])
    assert "right on 75.0% of 40 pairs" in stories
    assert "saw 8,000 pairs in 0 minutes of training steps, at 400 pairs per second" in (
        presentation.say_cost(table)
    )
    slower = pd.DataFrame([{**row, "items_per_second": 77.7} for row in table.to_dict("records")])
    both = pd.concat([table, slower])
    assert "at 78 to 400 pairs per second" in presentation.say_cost(both)
    course = presentation.say_course(records.curve_table([write("c")]))
    assert course == (
        "NLI, 1 run: the loss begins between 0.90 and 0.90 and ends between 0.50 and 0.50; "
        "the accuracy ends between 60% and 60%."
    )

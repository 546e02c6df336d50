import pandas as pd

from chaos_utils.plots import training


def curves(*runs):
    """Rows of two folds of a run: a loss and an accuracy at 100 and 1,000 items."""
    rows = [
        (dataset, name, f"size {name}", fold, measure, items, value)
        for dataset, name, folds in runs
        for fold in range(folds)
        for measure, values in (("loss", (1.0, 0.5)), ("dev_accuracy", (0.4, 0.8)))
        for items, value in zip((100, 1000), values, strict=True)
    ]
    columns = ["task", "run", "label", "fold", "measure", "items", "value"]
    return pd.DataFrame(rows, columns=columns)


def grown(*datasets, n_bins=4):
    rows = [
        {"dataset": dataset, "items": items, "bin": b, "measure": measure,
         "entropy_low_bits": b / 4, "entropy_high_bits": (b + 1) / 4, "n": 100 + b,
         "value": 0.5 + b / 20,
         "low": 0.4, "high": 0.9, "chance": 0.3 + b / 100}
        for dataset in datasets
        for items in (1000, 3162, 10000)
        for b in range(1, n_bins + 1)
        for measure in ("new_accuracy", "jsd")
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_runs_are_distinguished_without_colour():
    table = curves(*(("nli", f"run {k}", 1) for k in range(6)))
    lines = training.plot_training_curves(table).axes[1].lines[:6]
    assert len({str(line._dash_pattern) for line in lines}) == 6


def test_sizes_are_named_on_their_axis_where_they_do_not_touch():
    for second, names in ((3162, ["1,000", "3,162", "10,000"]), (9000, ["1,000", "10,000"])):
        table = grown("snli").replace({"items": {3162: second}})
        axis = training.plot_training_size(table).axes[0]
        assert [tick.get_text() for tick in axis.get_xticklabels()] == names

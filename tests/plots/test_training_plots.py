import math

import numpy as np
import pandas as pd
import pytest

from chaos_utils.base.style import colour
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


def test_curves_have_a_line_a_fold_and_a_name_a_run():
    table = curves(("nli", "a", 1), ("nli", "b", 3), ("alphanli", "c", 1))
    figure = training.plot_training_curves(table)
    assert len(figure.axes) == 4
    losses, accuracies, _, of_stories = figure.axes
    assert len(losses.lines) == 2 * (1 + 3) + 1  # raw and smoothed, and the even guess
    assert losses.lines[-1].get_ydata()[0] == pytest.approx(math.log(3))
    assert of_stories.lines[-1].get_ydata()[0] == 0.5
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["size a", "size b", "size c"]
    assert losses.get_xscale() == "log"
    np.testing.assert_array_equal(accuracies.lines[0].get_ydata(), [0.4, 0.8])


def test_losses_are_smoothed_over_the_raw_ones_in_grey():
    n = 100
    noisy = pd.DataFrame(
        {
            "task": "nli", "run": "a", "label": "all", "fold": 0, "measure": "loss",
            "items": np.arange(1, n + 1) * 10, "value": 1 + 0.2 * (-1.0) ** np.arange(n),
        }
    )  # fmt: skip
    raw, smooth, _ = training.plot_training_curves(noisy).axes[0].lines
    np.testing.assert_array_equal(raw.get_ydata(), noisy["value"])
    assert np.std(smooth.get_ydata()) < 0.3 * np.std(raw.get_ydata())
    assert raw.get_color() == colour("grid")
    assert raw.get_zorder() < smooth.get_zorder()


def test_runs_are_distinguished_without_colour():
    table = curves(*(("nli", f"run {k}", 1) for k in range(6)))
    lines = training.plot_training_curves(table).axes[1].lines[:6]
    assert len({str(line._dash_pattern) for line in lines}) == 6


def test_sizes_are_named_on_their_axis_where_they_do_not_touch():
    for second, names in ((3162, ["1,000", "3,162", "10,000"]), (9000, ["1,000", "10,000"])):
        table = grown("snli").replace({"items": {3162: second}})
        axis = training.plot_training_size(table).axes[0]
        assert [tick.get_text() for tick in axis.get_xticklabels()] == names

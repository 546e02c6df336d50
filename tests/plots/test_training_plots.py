import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from chaos_utils.plots import training


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def curves(*runs):
    """Rows of two folds of a run: a loss and an accuracy at 100 and 1,000 items."""
    rows = [
        (dataset, name, name, fold, measure, items, value)
        for dataset, name, folds in runs
        for fold in range(folds)
        for measure, values in (("loss", (1.0, 0.5)), ("dev_accuracy", (0.4, 0.8)))
        for items, value in zip((100, 1000), values, strict=True)
    ]
    columns = ["task", "run", "system", "fold", "measure", "items", "value"]
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
    assert len(losses.lines) == 1 + 3 + 1  # the last is the even guess
    assert losses.lines[-1].get_ydata()[0] == pytest.approx(math.log(3))
    assert of_stories.lines[-1].get_ydata()[0] == 0.5
    legend = [text.get_text() for text in accuracies.get_legend().get_texts()]
    assert legend == ["a", "b", "even guess"]
    assert losses.get_xscale() == "log"
    np.testing.assert_array_equal(accuracies.lines[0].get_ydata(), [0.4, 0.8])


def test_runs_are_told_apart_without_colour():
    table = curves(*(("nli", f"run {k}", 1) for k in range(12)))
    lines = training.plot_training_curves(table).axes[1].lines[:12]
    assert len({(line.get_marker(), line.get_linestyle()) for line in lines}) == 12


@pytest.mark.parametrize(
    "plot", [training.plot_training_size, training.plot_training_trajectory]
)  # fmt: skip
def test_growth_has_a_row_a_task_and_a_line_a_bin_with_its_chance(plot):
    figure = plot(grown("snli+mnli", "alphanli"))
    titles = [axis.get_title() for axis in figure.axes]
    assert titles == ["SNLI and MNLI pooled"] * 2 + ["ChaosNLI-αNLI"] * 2
    for axis in figure.axes:
        assert len(axis.containers) == 4
        ends = [line.get_ydata()[0] for line in axis.lines if list(line.get_xdata()) == [1]]
        assert ends == pytest.approx([0.31, 0.32, 0.33, 0.34])
    legend = figure.axes[1].get_legend().get_texts()
    assert legend[0].get_text() == "0.25–0.50, 101"
    assert len(legend) == 4


def test_sizes_are_named_on_their_axis():
    axis = training.plot_training_size(grown("snli")).axes[0]
    ticks = [tick.get_text() for tick in axis.get_xticklabels()]
    assert ticks == ["1,000", "3,162", "10,000"]

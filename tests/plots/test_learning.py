import matplotlib.pyplot as plt
import pytest

from chaos_utils.evaluation.learning import compare_methods
from chaos_utils.evaluation.learning_runs import Material, simulated
from chaos_utils.plots.learning import plot_learning

NUMBERS = {"n_folds": 3, "n_resamples": 20, "confidence": 0.95, "seed": 0}


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def scores(votes, material):
    table = compare_methods(votes, material, **NUMBERS).scores
    return table[table["measure"].isin(["jsd", "kl"])]


def test_every_method_has_a_mark_and_an_interval_where_its_values_are(sample):
    table = scores(sample[0], simulated(sample[0], 0))
    figure = plot_learning(table)
    jsd, kl = figure.axes
    assert kl.get_xscale() == "log"
    names = [label.get_text() for label in jsd.get_yticklabels()]
    assert len(names) == 8
    rows = table[(table["kind"] == "method") & (table["measure"] == "jsd")].set_index("title")
    marks = {
        line.get_ydata()[0]: line for line in jsd.lines if line.get_marker() in ("o", "s", "D")
    }
    spans = [
        line for line in jsd.lines if line.get_linestyle() == "-" and len(line.get_ydata()) > 1
    ]
    assert len(spans) == 8
    for height, name in enumerate(names):
        assert marks[height].get_xdata()[0] == rows.loc[name, "value"]
        assert list(spans[height].get_xdata()) == list(rows.loc[name, ["low", "high"]])


def test_what_a_method_learned_from_is_told_by_its_marker(sample):
    figure = plot_learning(scores(sample[0], simulated(sample[0], 0)))
    looks = {
        handle.get_label(): (handle.get_marker(), handle.get_linestyle())
        for handle in figure.legends[0].legend_handles
    }
    assert len(set(looks.values())) == len(looks) == 6


def test_a_task_without_runs_shows_its_references(sample):
    figure = plot_learning(scores(sample[2], Material()))
    assert [len(axis.lines) for axis in figure.axes] == [3, 2]  # KL has no ceiling

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from chaos_utils.plots import bins, ceilings


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_no_dataset_and_no_pool_is_dropped_from_the_bins(others):
    rows = [
        {"dataset": name, "bin": b, "entropy_low_bits": b - 1, "entropy_high_bits": b,
         "system": "chance", "role": "baseline", "source": "computed", "value": 0.5}
        for name in ("snli", "severity", "alphanli", "snli+mnli", "mnli")
        for b in (1, 2)
    ]  # fmt: skip
    titles = [axis.get_title() for axis in bins.plot_jsd_by_entropy(pd.DataFrame(rows)).axes]
    assert titles == [
        "ChaosNLI-αNLI", "Severity", "SNLI and MNLI pooled", "ChaosNLI-SNLI", "ChaosNLI-MNLI",
    ]  # fmt: skip


def test_numbers_of_items_keep_clear_of_each_other(others):
    rows = [
        {"dataset": "severity", "system": "uniform", "n_votes": k, "n_items": 600 // k,
         "bias": 0.1, "standard_error": 0.2}
        for k in (1, 2, 3, 5)
    ]  # fmt: skip
    axis = ceilings.plot_items_by_votes(pd.DataFrame(rows)).axes[0]
    ticks = [text.get_text() for text in axis.get_xticklabels()]
    assert ticks == ["1\n600", "2\n300", "3", "5\n120"]


def test_no_two_systems_have_one_colour(others):
    names = [f"system {i}" for i in range(14)]
    rows = [
        {"dataset": "severity", "system": name, "n_votes": k, "n_items": 600 // k, "bias": 0.1,
         "standard_error": 0.2}
        for name in names
        for k in (1, 2)
    ]  # fmt: skip
    figure = ceilings.plot_items_by_votes(pd.DataFrame(rows))
    assert len({line.get_color() for line in figure.axes[0].lines}) == len(names)
    bounds = {"floor": 0.1, "ceiling": 0.2, "uniform": 0.9, "n_items": 40, "value": 0.5}
    rows = [
        {"dataset": "severity", "system": name, "measure": "jsd", "low": 0.4, "high": 0.6,
         "source": "published" if name == names[-1] else "computed", **bounds}
        for name in names
    ]  # fmt: skip
    axis = ceilings.plot_noise_ceiling(pd.DataFrame(rows)).axes[0]
    marked = [line for line in axis.lines if line.get_marker() not in ("None", "")]
    assert len({line.get_color() for line in marked}) == len(names)
    assert [line.get_markerfacecolor() == "none" for line in marked] == [False] * 13 + [True]

import pandas as pd

from chaos_utils.plots import bins, ceilings


def test_no_dataset_and_no_pool_is_dropped_from_the_bins(others):
    rows = [
        {"dataset": name, "bin": b, "entropy_low_bits": b - 1, "entropy_high_bits": b,
         "system": "chance", "role": "baseline", "source": "computed", "value": 0.5, "n_seeds": 1}
        for name in ("snli", "severity", "alphanli", "snli+mnli", "mnli")
        for b in (1, 2)
    ]  # fmt: skip
    axes = bins.plot_jsd_by_entropy(pd.DataFrame(rows)).axes
    titles = [axis.get_title() for axis in axes if axis.get_visible()]
    assert titles == [
        "ChaosNLI-αNLI", "Severity", "SNLI and MNLI pooled", "ChaosNLI-SNLI", "ChaosNLI-MNLI",
    ]  # fmt: skip


def bought(names, sizes):
    rows = [
        {"dataset": "severity", "system": name, "n_votes": k, "n_items": 600 // k, "bias": 0.1 / k,
         "standard_error": 0.01 * k, "total_error": 0.1 / k + 0.01 * k}
        for name in names
        for k in sizes
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_numbers_of_items_keep_clear_of_each_other(others):
    axis = ceilings.plot_items_by_votes(bought(["uniform guess"], (1, 2, 3, 5, 20))).axes[0]
    ticks = [text.get_text() for text in axis.get_xticklabels()]
    assert ticks == ["1\n600", "5\n120", "20\n30"]


def test_a_few_systems_are_drawn_each_in_its_own_colour(others):
    names = [*(f"system {i}" for i in range(6)), "uniform guess", "old label"]
    figure = ceilings.plot_items_by_votes(bought(names, (1, 2, 5)))
    named = {text.get_text() for text in figure.legends[0].get_texts()}
    assert named == {"system 0", "system 5", "uniform guess", "old label"}
    totals = [line for line in figure.axes[0].lines if line.get_linewidth() > 1.5]
    totals = [line for line in totals if len(line.get_xdata()) > 1]
    assert len(totals) == len({line.get_color() for line in totals}) == 4
    least = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert len(least) == 4
    assert {line.get_ydata()[0] for line in least} == {0.07}

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from helpers.pictures import smallest_letters
from helpers.widgets import recorded

from chaos_utils.analyses.collection import transitions
from chaos_utils.base.style import NARROW, WIDE, colour, drawing_look
from chaos_utils.collection.protocol import load_protocol
from chaos_utils.plots.bins import plot_jsd_by_entropy
from chaos_utils.plots.ceilings import plot_annotation_budget, plot_items_by_votes
from chaos_utils.plots.collection import plot_protocol
from chaos_utils.plots.marks import key, write
from chaos_utils.plots.panels import legible, row_panels
from chaos_utils.plots.why import plot_again


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.mark.parametrize("narrow", [False, True])
def test_no_two_labels_of_the_machine_overlap(narrow):
    with drawing_look("light", narrow=narrow):
        figure = plot_protocol(transitions(load_protocol()).rows)
        figure.draw_without_rendering()
    assert figure.get_size_inches()[0] == (NARROW if narrow else WIDE)
    axis = figure.axes[0]
    written = [text for text in axis.texts if text.get_text()]
    boxes = [text.get_window_extent() for text in written]
    for number, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[:number]), written[number]
        assert figure.bbox.containsx(one.x0), written[number]
        assert figure.bbox.containsx(one.x1), written[number]
    assert min(text.get_fontsize() for text in written) >= 7


@pytest.mark.parametrize(("narrow", "shown"), [(False, 662), (True, 342)])
def test_letters_are_eleven_pixels_high_at_the_size_that_is_shown(narrow, shown):
    with drawing_look("light", narrow=narrow):
        figure, axes = row_panels([["one", "two"]], 2)
        for axis in axes:
            axis.plot([0, 1], [0, 1])
            axis.set(xlabel="x", title="t")
            write(axis, "a note", (0, 0), (1, 1))
        key(figure, {"one": {"hue": "blue", "marker": "o"}}, title="title")
        smallest = 11 * 72 * figure.get_figwidth() / shown
        assert smallest_letters(figure) == pytest.approx(smallest)
        axes[0].tick_params(labelsize=6)
        legible(figure)
        axes[0].set_xlim(0, 30)  # other ticks
        assert smallest_letters(figure) == pytest.approx(smallest)
        assert axes[0].title.get_fontsize() > smallest_letters(figure)


def test_scores_by_votes_have_three_datasets_in_colour_and_each_named_in_each_panel():
    table = recorded("ceilings.annotation_budget")
    with drawing_look("light"):
        figure = plot_annotation_budget(table)
        for axis in figure.axes:
            assert len({line.get_color() for line in axis.get_lines()} - {colour("muted")}) == 3
            named = {text.get_text() for text in axis.texts}
            assert {"SNLI", "MNLI", "αNLI"} <= named


def test_no_dataset_and_no_pool_is_dropped_from_the_bins(others):
    rows = [
        {"dataset": name, "bin": b, "entropy_low_bits": b - 1, "entropy_high_bits": b,
         "system": "chance", "role": "baseline", "source": "computed", "value": 0.5,
         "low": 0.4, "high": 0.6, "in_colour": False}
        for name in ("snli", "severity", "alphanli", "snli+mnli", "mnli")
        for b in (1, 2)
    ]  # fmt: skip
    axes = plot_jsd_by_entropy(pd.DataFrame(rows)).axes
    titles = [axis.get_title() for axis in axes if axis.get_visible()]
    assert titles == [
        "SNLI", "MNLI", "αNLI", "Severity", "SNLI and MNLI pooled",
    ]  # fmt: skip


def test_a_few_systems_are_drawn_each_in_its_own_colour(others):
    names = [*(f"system {i}" for i in range(6)), "uniform guess", "old label"]
    rows = [
        {"dataset": "severity", "system": name, "n_votes": k, "n_items": 600 // k, "bias": 0.1 / k,
         "standard_error": 0.01 * k, "total_error": 0.1 / k + 0.01 * k}
        for name in names
        for k in (1, 2, 5)
    ]  # fmt: skip
    figure = plot_items_by_votes(pd.DataFrame(rows))
    named = {text.get_text() for text in figure.legends[0].get_texts()}
    assert named == {"system 0", "system 5", "uniform guess", "old label"}
    totals = [line for line in figure.axes[0].lines
              if line.get_linewidth() > 1.5 and len(line.get_xdata()) > 1]  # fmt: skip
    assert len(totals) == len({line.get_color() for line in totals}) == 4
    least = [line.get_ydata()[0] for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert least == [0.07] * 4


@pytest.mark.parametrize("narrow", [False, True])
def test_the_same_person_again_has_a_row_for_each_part_and_its_ratio(others, narrow):
    rows = [
        {"dataset": "severity", "part": part, "n_items": 30, "n_people": 9, "quantity": quantity,
         "value": value, "low": value - 0.1, "high": value + 0.1}
        for part in ("same language", "all")
        for quantity, value in (("same", 0.2), ("two", 0.4), ("ratio", 0.5), ("settled", 0.3))
    ]  # fmt: skip
    with drawing_look("light", narrow=narrow):
        figure = plot_again(pd.DataFrame(rows))
    differ, ratio = figure.axes
    assert [text.get_text() for text in differ.get_yticklabels()] == [
        "same language\n30 items", "all\n30 items",
    ]  # fmt: skip
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named == ["same person", "two people"]
    assert [text.get_text() for text in ratio.texts] == ["50%", "50%"]

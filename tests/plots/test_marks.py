import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers.widgets import recorded
from matplotlib.colors import to_hex
from matplotlib.text import Text

from chaos_utils.analyses.calibration import is_drawn
from chaos_utils.base.style import HUES, drawing_look
from chaos_utils.plots.bins import plot_flattening
from chaos_utils.plots.calibration import plot_temperatures
from chaos_utils.plots.ceilings import plot_items_by_votes
from chaos_utils.plots.marks import (
    histogram,
    intervals,
    key,
    label_lines,
    line,
    logarithmic,
    looks,
    reference,
    system_hues,
)
from chaos_utils.plots.panels import panel_grid, row_panels
from chaos_utils.plots.systems import SYSTEM_NAMES


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("heights", [(0.5,) * 6, (1, 1, 0.01), (0.9, 0.01, 0.012, 0.011)])
def test_names_of_lines_that_end_together_do_not_overlap(heights, scale):
    with drawing_look("light"):
        figure, (axis, _) = panel_grid(2, columns=2, height=2.0)
        axis.set(ylim=(0.01, 1), yscale=scale)
        ends = [(1, y, f"line {k}" + "\nand another" * (k == 0), "#0072b2")
                for k, y in enumerate(heights)]  # fmt: skip
        label_lines(axis, ends)
        figure.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in axis.texts]  # without the lines to them
    assert len(boxes) == len(heights)
    for number, one in enumerate(boxes):
        # Letters have a little room above and below them.
        assert not any(abs(one.y0 + one.y1 - other.y0 - other.y1)
                       < 0.8 * (one.height + other.height) for other in boxes[:number])  # fmt: skip


@pytest.mark.parametrize(
    ("sizes", "named"),
    [
        ((1, 2, 3, 5, 10, 20, 50, 100), [1, 5, 20, 100]),
        ((1_000, 3_162, 10_000, 31_623, 101_717), [1_000, 3_162, 10_000, 31_623, 101_717]),
        ((1, 2, 3, 5, 8, 12, 20, 32), [1, 5, 12, 32]),
        ((7,), [7]),
    ],
)
def test_the_ends_of_a_logarithmic_axis_are_named_and_what_stands_apart(sizes, named):
    _, (axis,) = panel_grid(1, columns=1, height=2.0)
    assert logarithmic(axis, sizes) == named
    assert [text.get_text() for text in axis.get_xticklabels()] == [f"{n:,}" for n in named]


@pytest.mark.parametrize("narrow", [False, True])
def test_rows_stand_from_the_top_and_are_named_once_in_a_line_of_panels(narrow):
    with drawing_look("light", narrow=narrow):
        figure, axes = row_panels([["one", "another"], ["two"]], 2)
        figure.draw_without_rendering()
    assert len(axes) == len(figure.axes) == 4
    named = [[text.get_text() for text in axis.get_yticklabels() if text.get_visible()]
             for axis in axes]  # fmt: skip
    low, high = axes[0].get_ylim()
    assert low > 1 > 0 > high
    assert named[0] == ["one", "another"]
    assert (named[1] == named[0]) == narrow  # on a phone they stand below each other


def test_intervals_and_bands_are_those_of_the_table_and_some_rows_have_none():
    _, (axis, other) = panel_grid(2, columns=2, height=2.0)
    rows = pd.DataFrame({"y": [0, 1.5], "n": [1, 10], "value": [0.3, 0.5],
                         "low": [0.25, np.nan], "high": [0.6, np.nan]})  # fmt: skip
    intervals(axis, rows, "value", "blue", hollow=True)
    points, *bars = axis.lines
    assert [*zip(*points.get_data(), strict=True)] == [(0.3, 0), (0.5, 1.5)]
    drawn = [bar.get_xydata().tolist() for bar in bars if np.isfinite(bar.get_xdata()).all()]
    assert drawn == [[[0.25, 0], [0.6, 0]]]
    other.set_xscale("log")
    named = rows.rename(columns={"low": "value_low", "high": "value_high"})
    assert line(other, named, "n", "value", "here", "blue") == (10, 0.5, "here", "#0072b2")
    assert other.lines[0].get_ydata().tolist() == [0.3, 0.5]
    assert other.collections[0].get_datalim(other.transData).intervaly.tolist() == [0.25, 0.6]
    assert not other.get_xlabel() + other.get_ylabel() + axis.get_xlabel() + axis.get_ylabel()


def test_a_histogram_has_the_heights_and_edges_of_the_table():
    _, (axis,) = panel_grid(1, columns=1, height=2.0)
    rows = pd.DataFrame({"bin_low": [0, 0.1, 0.4], "bin_high": [0.1, 0.4, 1.0]})
    histogram(axis, rows, pd.Series([2, 0.5, 3]), "blue")
    edges, heights = axis.lines[0].get_data()
    assert edges.tolist() == pytest.approx([0, 0.1, 0.4, 1.0])
    assert heights.tolist() == [2, 0.5, 3, 3]
    assert axis.get_ylabel() == ""


def test_no_line_stands_for_what_has_no_value():
    _, (axis,) = row_panels([["a", "b", "c"]])
    reference(axis, "second crowd", float("nan"))
    assert not axis.lines


def test_looks_differ_without_their_colour_and_the_key_has_each():
    drawn = looks([f"system {k}" for k in range(6)], ["blue"] * 6)
    assert len({str(look["linestyle"]) for look in drawn.values()}) == 6
    assert len({look["marker"] for look in drawn.values()}) == 6
    figure, _ = panel_grid(1, columns=1, height=2.0)
    key(figure, drawn, title="systems")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(drawn)


FAMILIES = ("RoBERTa-base", "roberta-large", "DeBERTa-v3-large", "ModernBERT-large", "BERT-base",
            "MPNet-base", "MiniLM-L6")  # fmt: skip


def colours_by_name(figure):
    """Return the colour of each name in a figure's key and beside its lines, without its seeds."""
    marks = [(handle.get_label(), handle.get_color()) for legend in figure.legends
             for handle in legend.legend_handles]  # fmt: skip
    marks += [(text.get_text(), text.arrow_patch.get_edgecolor()) for axis in figure.axes
              for text in axis.texts if getattr(text, "arrow_patch", None)]  # fmt: skip
    return {(name.partition(",")[0], to_hex(shade)) for name, shade in marks}


def test_a_system_has_one_colour_in_the_whole_book_and_no_two_share_one():
    curves = recorded("calibration.temperature_curves").assign(seed=None).fillna({"choice": ""})
    flat = recorded("agreement.flattening").query("cut == 'people'")
    budget = recorded("ceilings.items_by_votes")
    drawn = [plot_temperatures(curves[is_drawn(curves)]), plot_items_by_votes(budget)]
    known = {SYSTEM_NAMES.get(family, family) for family in FAMILIES}
    shown = [name for name in flat["system"].unique()
             if SYSTEM_NAMES.get(name, name).partition(",")[0] in known]  # fmt: skip
    pairs = [*itertools.pairwise(shown)]
    for pair in [*pairs[::2], pairs[-1]]:  # as the chapter's parameter may choose
        drawn.append(plot_flattening(flat.assign(in_colour=flat["system"].isin(pair))))
    named = [{pair for pair in colours_by_name(figure) if pair[0] in known} for figure in drawn]
    assert {name for name, _ in set.union(*named)} >= known - {"MiniLM-L6"}
    for figure in named:
        assert len({shade for _, shade in figure}) == len(figure)
    assert len(set.union(*named)) == len({name for name, _ in set.union(*named)})


@pytest.mark.parametrize("order", [FAMILIES, FAMILIES[::-1]])
def test_families_that_stand_in_several_figures_own_their_colours(order):
    alone = {family: system_hues([f"{family}, seed 0"])[0] for family in FAMILIES}
    assert len(set(alone.values())) == len(FAMILIES)
    assert dict(zip(order, system_hues(order), strict=True)) == alone
    assert system_hues(["RoBERTa-base (2020)"])[0] not in alone.values()  # another system


@pytest.mark.parametrize("n", [1, 25])
def test_a_family_keeps_its_colour_and_no_two_systems_of_a_figure_share_one(n):
    names = [f"{family}, seed {k}" for k in range(n) for family in ("RoBERTa-base", "x", "y")]
    assert system_hues(names)[0] == system_hues(["RoBERTa-base, seed 0"])[0]
    hues = system_hues(names, reserved=HUES[:3])
    assert len({*hues, *HUES[:3]}) == len(names) + 3

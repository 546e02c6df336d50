"""Figures on the collection, from small tables."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from chaos_utils.analyses.collection import open_ways
from chaos_utils.crowd.protocol import load_protocol
from chaos_utils.plots import collection as plots


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def texts(axis):
    return [text.get_text() for text in axis.texts]


def test_the_machine_shows_each_state_once_and_its_thresholds():
    protocol = load_protocol(max_wrong_in_a_row=7)
    drawn = texts(plots.plot_protocol(open_ways(protocol).rows).axes[0])
    for state in protocol.table["states"]:
        assert drawn.count(state) == 1, state
    assert "answer: wrong in a row ≥ 7" in drawn
    assert drawn.count("feedback on mistakes") == 2
    assert drawn.count("no votes count") == 3


def test_no_two_boxes_or_labels_of_the_machine_overlap():
    figure = plots.plot_protocol(open_ways(load_protocol()).rows)
    figure.draw_without_rendering()
    axis = figure.axes[0]
    boxes = [text.get_window_extent() for text in axis.texts if text.get_text()]
    for number, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[:number])
        assert figure.bbox.containsx(one.x0)
        assert figure.bbox.containsx(one.x1)


def test_accuracy_curves_keep_to_their_dataset():
    table = pd.DataFrame(
        {
            "dataset": dataset,
            "who": who,
            "items": [25.0, 75.0],
            "accuracy_percent": [start, 92.0],
            "low": [start - 2, 90.0],
            "high": [start + 2, 94.0],
            "plateau_percent": 92.0,
            "settled_after": 50,
            "settled_percent": 91.5,
        }
        for dataset, who, start in (("snli", "all", 70.0), ("snli", "careful", 85.0),
                                    ("alphanli", "all", 90.0), ("alphanli", "careful", 91.0))
    )  # fmt: skip
    table = table.explode(["items", "accuracy_percent", "low", "high"]).infer_objects()
    figure = plots.plot_annotator_accuracy(table)
    first = [axis.lines[0].get_ydata()[0] for axis in figure.axes]
    assert first == [70, 90]


def test_effects_are_drawn_with_their_range():
    mean = {"tvd": 0.2, "dollars": 100.0, "hours": 10.0}
    table = pd.DataFrame(
        {"careless": share, "without": without, "floor_tvd": 0.03}
        | {name: value * (1 + share) for name, value in mean.items()}
        | {f"{name}_low": value * share for name, value in mean.items()}
        | {f"{name}_high": value * 2 for name, value in mean.items()}
        for share in (0.5, 0.1)
        for without in ("nothing", "hidden checks", "every stage")
    )
    errors, cost, _ = plots.plot_protocol_effect(table).axes
    lines = {line.get_label(): line for line in errors.containers}
    assert list(lines) == ["published protocol", "without hidden checks", "without any stage"]
    full, _, (bars,) = lines["published protocol"].lines
    assert full.get_ydata() == pytest.approx([0.22, 0.3])
    assert [list(ends[:, 1]) for ends in bars.get_segments()] == [
        pytest.approx([0.02, 0.4]),
        pytest.approx([0.1, 0.4]),
    ]
    assert errors.lines[-1].get_ydata()[0] == 0.03
    assert cost.containers[0].lines[0].get_ydata() == pytest.approx([110, 150])

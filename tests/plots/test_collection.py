"""Figures and sentences on the collection, from small tables."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from chaos_utils.crowd.comparison import open_ways
from chaos_utils.crowd.protocol import load_protocol
from chaos_utils.plots import collection as plots
from chaos_utils.presentation import collection as presentation


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture
def effects():
    tvd = {"nothing": 0.05, "the on-boarding test": 0.08, "hidden checks": 0.1, "every stage": 0.2}
    return pd.DataFrame(
        {
            "careless": share,
            "without": without,
            "tvd": share + error,
            "floor_tvd": 0.03,
            "dollars": 150.0 if without == "nothing" else 100.0,
            "hours": 20.0 if without == "nothing" else 10.0,
        }
        for share in (0.1, 0.5)
        for without, error in tvd.items()
    )


@pytest.fixture
def advice():
    return pd.DataFrame(
        {
            "check_rate": [0.0, 0.1, 0.2, 0.2],
            "min_check_accuracy": [float("nan"), 0.75, 0.75, 0.85],
            "dollars_per_vote": [0.05, 0.06, 0.07, 0.09],
            "votes_per_item": [20, 17, 1, 0],
            "tvd": [0.2, 0.1, 0.15, float("nan")],
            "bias_squared": [0.04, 0.01, 0.005, 0.005],
            "best": [False, True, False, False],
        }
    )


def texts(axis):
    return [text.get_text() for text in axis.texts]


def test_the_machine_shows_each_state_once_and_its_thresholds():
    protocol = load_protocol(max_wrong_in_a_row=7)
    drawn = texts(plots.plot_protocol(open_ways(protocol)).axes[0])
    for state in protocol.table["states"]:
        assert drawn.count(state) == 1, state
    assert "answer: wrong in a row ≥ 7" in drawn
    assert drawn.count("feedback on mistakes") == 2
    assert drawn.count("no votes count") == 3


def test_no_two_boxes_or_labels_of_the_machine_overlap():
    figure = plots.plot_protocol(open_ways(load_protocol()))
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
    told = presentation.say_accuracy(table, 50)
    assert "from 70.0% to 91.5% on SNLI and from 90.0% to 91.5% on αNLI" in told
    assert "from 85.0% to 91.5% on SNLI" in told


def test_effects_average_what_was_repeated(effects):
    twice = pd.concat([effects, effects.assign(tvd=effects["tvd"] + 0.02)])
    axis = plots.plot_protocol_effect(twice).axes[0]
    lines = {line.get_label(): line for line in axis.containers}
    full = lines["published protocol"].lines[0]
    assert full.get_ydata() == pytest.approx([0.16, 0.56])
    assert "without any stage" in lines


def test_effects_are_told_at_the_nearest_share(effects):
    told = presentation.say_effects(effects, 0.45)
    assert told.startswith("With 50% careless applicants")
    assert "leaving out hidden checks hurts most (0.600)" in told
    assert "the cost by +50%" in told
    assert "time by +100%" in told


def test_guidance_names_the_best_and_marks_it(advice):
    told = presentation.say_guidance(advice, 500, 50, (0.2, 0.75))
    assert "lowest with a chance of 10% for a hidden check and 75% of them" in told
    assert "17 votes per item, at an expected distance of 0.100" in told
    assert "As published, the same money buys 1 vote per item" in told
    assert "Without hidden checks, the same money buys 20 votes" in told
    shown = presentation.show_guidance(advice)
    assert shown.iloc[:, -1].tolist() == ["", "lowest error", "", ""]
    assert shown["accuracy asked for"].tolist() == ["–", "75%", "75%", "85%"]


def test_guidance_admits_that_more_checks_were_not_tried(advice):
    last = advice.assign(best=advice["check_rate"] == 0.2).iloc[[0, 1, 2]]
    assert "more might serve better" in presentation.say_guidance(last, 500, 50, (0.1, 0.75))
    assert "As published" not in presentation.say_guidance(advice, 500, 50, (0.1, 0.75))

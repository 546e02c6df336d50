"""Figures on the collection, from small tables."""

import pandas as pd
import pytest

from chaos_utils.analyses.collection import open_ways
from chaos_utils.base import style
from chaos_utils.crowd.protocol import load_protocol
from chaos_utils.plots import collection as plots


@pytest.mark.parametrize("narrow", [False, True])
def test_no_two_labels_of_the_machine_overlap(narrow):
    with style.look("light", narrow=narrow):
        figure = plots.plot_protocol(open_ways(load_protocol()).rows)
        figure.draw_without_rendering()
    assert figure.get_size_inches()[0] == (style.NARROW if narrow else style.WIDE)
    axis = figure.axes[0]
    written = [text for text in axis.texts if text.get_text()]
    boxes = [text.get_window_extent() for text in written]
    for number, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[:number]), written[number]
        assert figure.bbox.containsx(one.x0), written[number]
        assert figure.bbox.containsx(one.x1), written[number]
    assert min(text.get_fontsize() for text in written) >= 7


@pytest.mark.parametrize("narrow", [False, True])
def test_errors_are_named_by_the_share_they_are_of(narrow):
    table = pd.DataFrame(
        {
            "without": without, "careless": share, "n_votes": n, "bias_squared": bias,
            "squared_error": bias + 1 / n,
        }
        for without in ("nothing", "every stage")
        for share, bias in ((0.0, 0.01), (0.1, 0.0101), (0.6, 0.1))
        for n in (5, 100)
    )  # fmt: skip
    with style.look("light", narrow=narrow):
        figure = plots.plot_bias_variance(table)
        figure.draw_without_rendering()
    for axis in figure.axes:
        names = [text for text in axis.texts if text.get_text().endswith("%")]
        assert [text.get_text() for text in names] == ["0%", "10%", "60%"]
        boxes = [text.get_window_extent() for text in names]
        assert not boxes[0].overlaps(boxes[1])
        assert all(figure.bbox.containsx(box.x1) for box in boxes)

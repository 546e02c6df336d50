import pandas as pd
import pytest

from chaos_utils.base.style import look
from chaos_utils.datasets.catalogue import book_datasets, bundled_datasets
from chaos_utils.plots.crowds import plot_atlas


@pytest.mark.parametrize("narrow", [False, True])
def test_datasets_stand_by_disagreement_and_the_book_s_own_in_colour(narrow):
    ours, other = book_datasets()[0], bundled_datasets()[-1]
    means = pd.DataFrame(
        {"part": "mean", "dataset": [ours.name, other.name], "evenness": [0.2, 0.7],
         "evenness_low": 0.1, "evenness_high": 0.8, "n_labels": 3, "fewest": [2, 5],
         "most": [5, 5]}
    )  # fmt: skip
    items = pd.DataFrame({"part": "items", "dataset": ours.name, "low": [0, 0.5],
                          "high": [0.5, 1], "share": [0.9, 0.1]})  # fmt: skip
    with look("light", narrow):
        (axis,) = plot_atlas(pd.concat([means, items], ignore_index=True)).axes
    labels = axis.get_yticklabels()
    assert [one.get_text() for one in labels] == [
        f"{other.short}\n3 labels, 5 votes", f"{ours.short}\n3 labels, 2–5 votes",
    ]  # fmt: skip
    assert labels[1].get_color() == ours.colour.light != labels[0].get_color()
    assert axis.get_ylim()[0] > axis.get_ylim()[1]  # the first at the top
    heights = [bar.get_height() for bar in axis.patches]
    assert heights[0] / heights[1] == pytest.approx(9)
    assert all(bar.get_y() == 1 for bar in axis.patches)  # on the row of their dataset

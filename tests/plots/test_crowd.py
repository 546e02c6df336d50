import pandas as pd
import pytest

from chaos_utils.base.style import look
from chaos_utils.plots.crowd import plot_crowd


def rows(median, most):
    sizes = pd.DataFrame({"part": "sizes", "low": [0.5, 0.75], "high": [0.75, 1.0],
                          "plain": [0.4, 0.6], "value": [0.7, 0.3]})  # fmt: skip
    votes = pd.DataFrame({"part": "votes", "n_votes": [1, 5, 100], "value": [0.4, 0.2, 0.1],
                          "most_votes": most, "median": median})  # fmt: skip
    return pd.concat([sizes, votes], ignore_index=True)


@pytest.mark.parametrize(("most", "n_dotted"), [(5, 2), (100, 1), (3, 3)])
def test_numbers_beyond_the_votes_there_are_are_dotted(most, n_dotted):
    with look("light"):
        left, right = plot_crowd(rows(3, most)).axes
    assert [bar.get_height() for bar in left.patches[:2]] == [0.4, 0.6]
    dotted = next(line for line in right.lines if line.get_linestyle() == ":")
    assert len(dotted.get_xdata()) == n_dotted

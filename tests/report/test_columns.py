import numpy as np
import pandas as pd
import pytest

from chaos_utils.plots.columns import DATASET, p_value
from chaos_utils.report import columns
from chaos_utils.report.columns import Column, lay_out, number, signed


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (number(1234.5, 1), "1,234.5"),
        (number(-0.0004, 3), "0.000"),
        (number(-0.0006, 3), "−0.001"),
        (number(float("nan")), "–"),
        (signed(-0.004, 2), "0.00"),
        (signed(3), "+3"),
        (columns.with_interval(0.5, 0.4, 0.6, 2), "0.50 [0.40, 0.60]"),
        # The smallest p is a bound.
        (p_value(2 / 10_001, 10_000), "≤ 0.0002"),
        (p_value(20 / 10_001, 10_000, raw=2 / 10_001), "≤ 0.002"),
        (p_value(1.0, 10, raw=2 / 11), "≤ 1"),
        (p_value(4 / 10_001, 10_000), "< 0.001"),
        (p_value(0.0312, 1000), "0.031"),
        (p_value(float("nan"), 1000), ""),
    ],
)
def test_numbers_are_written_for_readers(written, expected):
    assert written == expected


def test_a_published_number_stands_beside_ours_under_one_heading():
    rows = pd.DataFrame(
        [("snli", 0.2497, 0.25, -0.0003), ("new", *[np.nan] * 3)],
        columns=["dataset", "share", "published_share", "difference_share"],
    )
    beside = columns.paper_here_delta("share", "share", 2, percent=True)
    header, cells = lay_out(rows, [Column("dataset", "dataset"), *beside])
    assert header == [["dataset", ""], ["share", "paper"], ["share", "here"], ["share", "Δ"]]
    assert cells == [["snli", "25.00", "24.97", "**−0.03**"], ["new", "–", "–", "–"]]


def test_rows_alike_in_the_index_stand_in_one_and_columns_say_which_they_show():
    rows = pd.DataFrame(
        [("snli", "one", "jsd", 0.2, 0.1, 0.3), ("snli", "one", "accuracy", 0.7, 0.6, 0.8),
         ("snli", "two", "jsd", 0.4, 0.3, 0.5), ("alphanli", "one", "accuracy", 0.9, 0.8, 1.0)],
        columns=["dataset", "system", "measure", "value", "low", "high"],
    )  # fmt: skip
    jsd, accuracy = {"measure": "jsd"}, {"measure": "accuracy"}
    shown = [
        DATASET,
        Column("system", "system"),
        Column("JSD", "value", 1, "low", "high", at=jsd, best="lowest"),
        Column("twice", lambda row: f"{2 * row['value']:.1f}", at=jsd),
        Column("accuracy", "value", 1, at=accuracy, best="highest"),
    ]
    _, cells = lay_out(rows, shown, ["dataset"], ["dataset", "system"])
    assert cells == [
        ["SNLI", "one", "**0.2** [0.1, 0.3]", "0.4", "0.7"],
        ["SNLI", "two", "0.4 [0.3, 0.5]", "0.8", "–"],
        ["αNLI", "one", "–", "–", "0.9"],
    ]


def test_the_best_of_each_group_is_bold_with_those_in_its_interval():
    rows = pd.DataFrame(
        {
            "dataset": ["a", "a", "a", "b", "b"],
            "jsd": [0.30, 0.31, 0.40, 0.9, np.nan],
            "low": [0.28, 0.29, 0.38, 0.8, np.nan],
            "high": [0.32, 0.33, 0.42, 1.0, np.nan],
            "accuracy": [0.5, 0.5, 0.7, 0.1, 0.2],
        }
    )
    jsd = Column("JSD", "jsd", 2, low="low", high="high", best="lowest")
    accuracy = Column("accuracy", "accuracy", 1, best="highest")
    _, cells = lay_out(rows, [jsd, accuracy], ["dataset"])
    assert cells == [
        ["**0.30** [0.28, 0.32]", "0.5"],
        ["**0.31** [0.29, 0.33]", "0.5"],
        ["0.40 [0.38, 0.42]", "**0.7**"],
        ["0.90 [0.80, 1.00]", "0.1"],
        ["–", "**0.2**"],
    ]
    in_percent = Column("accuracy", "share", 1, best="highest", percent=True)
    _, cells = lay_out(pd.DataFrame({"share": [0.7762, 0.7758, 0.771]}), [in_percent])
    assert [cell for (cell,) in cells] == ["**77.6**", "**77.6**", "77.1"]

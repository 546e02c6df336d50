"""What the figures share: panels for each dataset, and what systems and votes are called."""

from collections.abc import Iterable
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaos_utils.base.style import is_narrow, width
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.datasets.dataset import Dataset


def panel_grid(n: int, *, columns: int, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """Return a figure of the page's width with some panels, row by row.

    On a phone they stand in one column. `height` is that of a panel in inches, and `options` are
    those of `matplotlib.pyplot.subplots`.
    """
    columns = 1 if is_narrow() else min(n, columns)
    rows = -(-n // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(width(), height * rows), squeeze=False, **options
    )
    for unused in axes.flat[n:]:
        unused.set_visible(False)
    return figure, list(axes.flat[:n])


def dataset_panels(
    datasets: Iterable[str], *, height: float, **options: Any
) -> tuple[Figure, list[tuple[Axes, Dataset]]]:
    """Return a figure with one titled panel for each dataset, in the project's order.

    Each dataset counts once; the rest is as in `panel_grid`.
    """
    shown = in_order(datasets)
    figure, axes = panel_grid(len(shown), columns=3, height=height, **options)
    pairs = list(zip(axes, shown, strict=True))
    for axis, dataset in pairs:
        axis.set_title(dataset.title)
    return figure, pairs


def system_title(system: str, origin: str, temperature: float) -> str:
    """Return how figures and tables call a system; references have no temperature to speak of."""
    if origin == "reference":
        return "oracle (the votes)" if system == "oracle" else system
    return f"{system}, T = {temperature:g}"


def the_votes(table: pd.DataFrame) -> str:
    """Name the votes of a dataset's items on an axis: "the 100 votes", or "the votes".

    ``n_votes`` in the table is how many each item has; missing where that varies.
    """
    n_votes = table["n_votes"].iloc[0]
    return "the votes" if pd.isna(n_votes) else f"the {n_votes:,} votes"

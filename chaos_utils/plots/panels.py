"""What the figures share: panels for each dataset, and what systems and votes are called."""

from collections.abc import Iterable

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaos_utils.datasets.catalogue import in_order
from chaos_utils.datasets.dataset import Dataset


def dataset_panels(
    datasets: Iterable[str], *, panel: tuple[float, float]
) -> tuple[Figure, list[tuple[Axes, Dataset]]]:
    """Return a figure with one titled panel for each dataset, in the project's order.

    Each dataset counts once, and `panel` is the width and height of one panel in inches.
    """
    shown = in_order(datasets)
    figure, axes = plt.subplots(
        1, len(shown), figsize=(panel[0] * len(shown), panel[1]), squeeze=False
    )
    pairs = list(zip(axes[0], shown, strict=True))
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

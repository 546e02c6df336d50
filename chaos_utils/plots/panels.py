"""What the figures share: panels for each dataset, and what systems and votes are called."""

from collections.abc import Iterable

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaos_utils.datasets.catalogue import in_order
from chaos_utils.datasets.dataset import Dataset


def dataset_panels(
    datasets: Iterable[str], *, panel: tuple[float, float]
) -> tuple[Figure, list[tuple[Axes, Dataset]]]:
    """Return a figure with one titled panel for each dataset, in the project's order.

    Parameters
    ----------
    datasets : iterable of str
        Names, in any order; each counts once.
    panel : (float, float)
        Width and height of one panel in inches.
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


def the_votes(n_votes: int) -> str:
    """Name an item's votes on an axis.

    Parameters
    ----------
    n_votes : int
        How many each item that is shown has; 0 where that varies.

    Returns
    -------
    str
        For instance "the 100 votes", or "the votes".
    """
    return f"the {n_votes:,} votes" if n_votes else "the votes"

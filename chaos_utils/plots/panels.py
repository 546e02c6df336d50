"""What the figures share: panels for each task."""

from collections.abc import Iterable

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaos_utils.datasets.catalogue import TASKS, Task


def task_panels(
    tasks: Iterable[str], *, panel: tuple[float, float]
) -> tuple[Figure, list[tuple[Axes, Task]]]:
    """Return a figure with one titled panel for each task, in the project's order.

    Parameters
    ----------
    tasks : iterable of str
        Names, in any order; each counts once.
    panel : (float, float)
        Width and height of one panel in inches.

    Returns
    -------
    figure : Figure
    panels : list of (Axes, Task)
    """
    wanted = set(tasks)
    names = [name for name in TASKS if name in wanted]
    figure, axes = plt.subplots(
        1, len(names), figsize=(panel[0] * len(names), panel[1]), squeeze=False
    )
    pairs = [(axis, TASKS[name]) for axis, name in zip(axes[0], names, strict=True)]
    for axis, task in pairs:
        axis.set_title(task.title)
    return figure, pairs

"""Figures about the papers' claims."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from chaos_utils.base.style import colour

# Distinguished by hatching too: full, striped one way, the other way, empty.
_LOOKS = (("green", ""), ("blue", "//"), ("accent", "\\\\"), ("grid", ""))


def plot_claims(table: pd.DataFrame) -> Figure:
    """Draw how many claims of each paper got each verdict: one bar a paper.

    The table's columns are ``paper`` (as it is to be shown), ``verdict`` and ``n``; each verdict
    stands in the order to be drawn, for every paper.
    """
    papers = list(dict.fromkeys(table["paper"]))
    verdicts = list(dict.fromkeys(table["verdict"]))
    counts = table.pivot(index="paper", columns="verdict", values="n").loc[papers, verdicts]
    figure, axis = plt.subplots(figsize=(7.2, 1.3 + 0.75 * len(papers)))
    left = pd.Series(0, index=papers)
    for verdict, (name, hatch) in zip(verdicts, _LOOKS, strict=True):
        axis.barh(
            papers, counts[verdict], left=left, height=0.62, label=verdict, color=colour(name),
            hatch=hatch, edgecolor=colour("low"), linewidth=0.8,
        )  # fmt: skip
        for row, paper in enumerate(papers):
            n = int(counts.loc[paper, verdict])
            if n:
                axis.text(
                    left[paper] + n / 2, row, str(n), ha="center", va="center",
                    color=colour("text"), fontweight="bold",
                    bbox={"boxstyle": "round,pad=0.2", "fc": colour("low"), "ec": "none"},
                )  # fmt: skip
        left = left + counts[verdict]
    axis.set(xlabel="claims", ylim=(len(papers) - 0.5, -0.5))
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    figure.legend(loc="outside lower center", ncols=2)
    return figure

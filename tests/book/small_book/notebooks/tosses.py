# %% [markdown]
# # The share of heads
#
# *How soon is it near one half?*
#
# A fair coin is tossed again and again. The share of heads moves towards one half, and its distance from it shrinks
# with the square root of the number of tosses.

# %% tags=["parameters"]
tosses: int = 1000  # how many
seed: int = 1  # of the random numbers

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from chaos_utils.base.style import colour, width
from chaos_utils.base.table import Table
from chaos_utils.report.columns import Column
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

# %%
heads = np.random.default_rng(seed).integers(0, 2, tosses)
numbers = np.arange(1, tosses + 1)
shares = Table(
    pd.DataFrame({"n_tosses": numbers, "share": heads.cumsum() / numbers}), keys=("n_tosses",)
)


def plot_shares(rows: pd.DataFrame) -> plt.Figure:
    """Draw the share of heads against the number of tosses."""
    figure, axes = plt.subplots(figsize=(width(), 0.6 * width()))
    axes.axhline(0.5, color=colour("muted"), linewidth=1)
    axes.plot(rows["n_tosses"], rows["share"], color=colour("accent"))
    axes.set(xscale="log", ylim=(0, 1), xlabel="tosses", ylabel="share of heads")
    return figure


publish_figure(
    "fig-shares",
    plot_shares,
    shares,
    caption="""The share of heads comes near one half within a few hundred tosses. One sequence of tosses; the line is
    at one half.""",
    alt="""A line that jumps between 0 and 1 at first and then runs along one half.""",
)

# %% [markdown]
# {numref}`tbl-shares` has some of the numbers that {numref}`fig-shares` draws.

# %%
publish_table(
    "tbl-shares",
    shares.where(shares.rows["n_tosses"].isin([1, 10, 100, tosses])),
    columns=[Column("tosses", "n_tosses", 0), Column("heads, %", "share", percent=True, digits=1)],
    caption="""The share of heads after the first, ten, a hundred and all tosses.""",
)

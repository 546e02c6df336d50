# %% [markdown]
# # What the chapter is about, in a few words
#
# *What does the chapter ask?*
#
# The question in one sentence, in a paragraph that other data keeps.
#
# Then the answer, with the one number that carries it: on the SNLI items that ChaosNLI chose for their disagreement,
# 90 people or more agree on
# {value}`fig-template dataset=snli percent=90 share_at_least .0%` of the items.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
bins: int = 4  # of entropy, in the table

# %%
from IPython.display import Markdown

# Tables come from `chaos_utils/analyses/<chapter>.py`, drawings from `chaos_utils/plots/<chapter>.py`.
from chaos_utils.analyses import disagreement
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.columns import DATASET
from chaos_utils.plots.disagreement import plot_majority_share
from chaos_utils.report.columns import Column
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

# Each dataset with what is available: votes, systems, or recorded tables alone.
inputs = gather(data)

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# ## What the figure shows

# %%
publish_figure(
    "fig-template",  # registered in `book/figures.yml`, and never changed once published
    plot_majority_share,
    disagreement.majority_shares(inputs),
    caption="""The finding, in a sentence. Then what is drawn, its unit and its intervals, and which
    figure of {cite:t}`nie2020` to compare it with.""",
    alt="""What someone sees who cannot see it: three falling curves, that of αNLI on top.""",
)

# %% [markdown]
# A paragraph says what the figure bears ({numref}`fig-template`). Its numbers come from tables, so it is left out where
# other data is shown: {value}`fig-template dataset=mnli percent=90 share_at_least .0%` of the MNLI items.

# %%
publish_table(
    "tbl-template",
    disagreement.entropy_bins(inputs, n_bins=bins),
    columns=[DATASET, Column("from, bits", "low_bits", 2), Column("items", "n_items", 0)],
    groups=["dataset"],
    caption="""The finding, in a sentence. At most twelve rows are shown; the data has the rest.""",
)

# %% [markdown]
# ## Limitations
#
# * What these items, votes and systems cannot show.

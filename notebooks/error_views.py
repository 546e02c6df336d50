# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Errors from several sides
#
# A model is not simply too sure of itself. The label that most people chose gets *less* from RoBERTa-base
# than from people: on SNLI the mean difference is
# {value}`tbl-error-views dataset=snli view=rank part=1st temperature=1 mean +.3f`, on MNLI
# {value}`tbl-error-views dataset=mnli view=rank part=1st temperature=1 mean +.3f`. Yet its distributions are
# sharper than people's on both datasets. On many items it is sure of a label that most people did not
# choose.
#
# One distance per item says how wrong a model is, not how. {cite:t}`baan2022` take the errors apart in
# their Appendix B: by class, by the rank that people give a label, and by {term}`entropy`. This chapter
# does the same, for the model as it was released and with its logits divided by a {term}`temperature`.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
datasets: list[str] = ["snli", "mnli"]  # which datasets, in this order
system: str = ""  # name of a system; the first available when empty
temperature: float = 2.0  # of the flattened version of that system

# %%
from dataclasses import replace

from IPython.display import Markdown

from chaos_utils.analyses import error_views
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.error_distributions import plot_error_views
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table

material = gather(data, predictions, datasets=datasets)
error_views.check_systems(material, system)
chosen = {"system": system, "temperature": temperature}
histograms = error_views.view_histograms(material, **chosen)

# %% tags=["remove-input"]
trained = bool((histograms.rows["origin"] == "trained").any())
Markdown(notices(replace(material, trained=trained)))

# %% [markdown]
# The model that {cite:t}`baan2022` released was trained on SNLI, so that MNLI is out of distribution for
# it; {value}`tbl-error-views dataset=mnli view=entropy temperature=1 n_items ,d` of its items have a
# released prediction, and these are shown. The figures show one side of each error;
# their data also has the others, signed and absolute.
#
# ## Class by class
#
# The mean errors of a dataset's classes sum to zero, since what one class gets too much the others lack.
#
# On SNLI contradiction is over-predicted most, by
# {value}`tbl-error-views dataset=snli view=class part=contradiction temperature=1 mean .3f` on average, at the
# cost of neutral. But these biases are small beside the errors on single items: the probability of
# neutral is off by {value}`tbl-error-views dataset=snli view=class part=neutral temperature=1 mean_absolute .2f`
# on average, whatever the sign. {numref}`fig-error-classes` shows why: people rarely agree that a sentence
# is, or is not, neutral, and the model mostly decides for one or the other.

# %%
publish_figure(
    "fig-error-classes",
    plot_error_views,
    histograms.where(histograms.rows["view"] == "class"),
    caption="""The model decides where people are split. Share of the people’s votes for a class, and
    the probability that a system gives it, in 25 bins over items; marks on the axis are means.""",
    alt="""Six histograms: the three classes on SNLI, then on MNLI. At temperature 1 the model's
    probabilities pile up near 0, and less near 1, more than the people's shares do, most plainly for
    neutral; at a temperature of 2 the piles are lower, and for neutral on MNLI follow the people's.""",
)

# %% [markdown]
# ## Rank by rank
#
# Now the labels are sorted by the people's votes: the label with most votes is first. Labels with
# equally many votes keep their usual order. A system that was only too sure of itself would give the
# first label too much. Where it is wrong about which label is first, it gives that label too little.
#
# Both happen. On SNLI the median error of the first label is
# {value}`tbl-error-views dataset=snli view=rank part=1st temperature=1 median +.3f`, the mean
# {value}`tbl-error-views dataset=snli view=rank part=1st temperature=1 mean +.3f`: overconfidence on most
# items, and a second hump of items in {numref}`fig-error-ranks` on which the model chose another label. A
# temperature pulls both humps together and goes too far: at T = 2 the median is
# {value}`tbl-error-views dataset=snli view=rank part=1st temperature=2 median +.3f`, the mean
# {value}`tbl-error-views dataset=snli view=rank part=1st temperature=2 mean +.3f`.

# %%
publish_figure(
    "fig-error-ranks",
    plot_error_views,
    histograms.where(histograms.rows["view"] == "rank"),
    caption="""People’s first choice gets too much on some items and far too little on others. A
    system’s probability minus the people’s share, for the label with most votes of the item (1st) and
    those after it, whatever their class; marks on the axis are means.""",
    alt="""Six histograms of signed errors: first, second and third label on SNLI, then on MNLI. At
    temperature 1 the first label's errors have two humps, a little above zero and near minus one half,
    on MNLI about equally high; second labels mirror them. At a temperature of 2 the humps run together
    below zero. Third labels are near zero.""",
)

# %% [markdown]
# ## Entropy
#
# Without scaling the model is surer than people: its entropy is lower, on SNLI by a mean difference of
# {value}`tbl-error-views dataset=snli view=entropy temperature=1 mean +.2f` nats and on MNLI of
# {value}`tbl-error-views dataset=mnli view=entropy temperature=1 mean +.2f`. At T = 2 it is slightly higher,
# by {value}`tbl-error-views dataset=snli view=entropy temperature=2 mean .2f` on SNLI.
#
# A mean near zero is not agreement. Flattening moves all entropies by one rule, so that errors of both
# signs cancel while their absolute value stays: at T = 2 it is still
# {value}`tbl-error-views dataset=snli view=entropy temperature=2 mean_absolute .2f` nats on SNLI.

# %%
publish_figure(
    "fig-error-entropy",
    plot_error_views,
    histograms.where(histograms.rows["view"] == "entropy"),
    caption="""A temperature of 2 moves the model's entropy to where people's lies, but not item by item.
    Entropy of the people’s votes and of a system’s distribution, and their difference; a negative error
    means that the system is surer than people are. Marks on the axis are means.""",
    alt="""Four histograms, SNLI above MNLI: entropy, then its error. On SNLI the model's entropies pile
    up near 0, on MNLI they spread evenly up to 0.7 nats; few items are that low by the people's votes. At
    a temperature of 2 they lie where the people's do, a little higher. Signed errors lie mostly left of
    zero, and after flattening on both sides of it.""",
)

# %% [markdown]
# The paper gives one number for mean and median of the entropy error, on SNLI. Its
# {value}`tbl-error-views view=entropy dataset=snli temperature=1 published +.2f` comes out of the released
# predictions, its {value}`tbl-error-views view=entropy dataset=snli temperature=2 published +.2f` at T = 2 does
# not: there the mean is {value}`tbl-error-views view=entropy dataset=snli temperature=2 mean +.2f` and the
# median {value}`tbl-error-views view=entropy dataset=snli temperature=2 median +.2f`.

# %%
publish_table(
    "tbl-error-views",
    error_views.error_views(material, **chosen),
    columns=error_views.COLUMNS,
    caption="""Mean errors hide most of the error on single items. Mean and median of the signed error, model minus
    people, and mean of its absolute value; shares, and nats for entropy, where the last is
    {term}`EntCE`. The paper is {cite:t}`baan2022`, Appendix B; Δ is bold where it exceeds rounding.""",
)

# %% [markdown]
# ## Limitations
#
# All of this is one seed of one model on {value}`tbl-error-views dataset=snli view=entropy temperature=1 n_items ,d`
# SNLI and {value}`tbl-error-views dataset=mnli view=entropy temperature=1 n_items ,d` MNLI items, chosen because
# their first votes were split; {doc}`calibration` shows how much the other two seeds differ.
#
# Which label is first depends on the votes that were drawn, so part of what the first label gets too
# little is chance in the votes. Entropy of a hundred votes is slightly too low on average.

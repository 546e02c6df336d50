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
# # Learning curves by agreement
#
# More training data makes a model better: on which items? {cite:t}`nie2020` followed accuracy
# and distance from humans as training grew, on four bins of human agreement (their
# Figure 8). Here the same is done with a model of this project.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
model: str = "minilm-l6"  # whose committed runs are shown
pooled: bool = True  # SNLI and MNLI as one, with common bins; else each alone
bins: int = 4  # quantile bins of the entropy of the votes
resamples: int = 1000  # bootstrap resamples of each bin's items, for the intervals
seed: int = 0  # seed of the bootstrap
confidence: float = 0.95  # coverage of the intervals

# %%
from IPython.display import Markdown

from chaos_utils.analyses import trajectory
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.training import plot_training_size, plot_training_trajectory
from chaos_utils.presentation import trajectory as presentation
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table

material = gather(data)
options = {"model": model, "n_bins": bins, "n_resamples": resamples, "seed": seed}
by_size = trajectory.by_size(
    trajectory.shown_as(trajectory.with_sizes(material, model), pooled=pooled),
    level=confidence,
    **options,
)
by_look = trajectory.by_look(
    trajectory.shown_as(trajectory.with_looks(material, model), pooled=pooled),
    level=confidence,
    **options,
)
sizes, looks = by_size.rows, by_look.rows
growth, changes = trajectory.changes(by_size).rows, trajectory.changes(by_look).rows
several = ", and over seeds where a size has several" if (sizes["n_seeds"] > 1).any() else ""
intervals = f"{confidence:.0%} intervals over items ({resamples:,} resamples){several}"

# %% tags=["remove-input"]
Markdown(notices(material))

# %% tags=["remove-input"]
Markdown(presentation.say_stages(sizes, looks, model))

# %% [markdown]
# ## How it is measured
#
# Items are cut into bins at the quantiles of their votes' {term}`entropy` in bits, as in
# {doc}`agreement`, but into four instead of five: the first bin holds the items on which people
# agree most. Accuracy is agreement with the {term}`majority <majority label>` of the hundred votes;
# {term}`JSD` is the Jensen–Shannon distance between the model's probabilities and the shares of the
# votes. {term}`Chance <chance>` is, for accuracy, the label that is the majority of most items; for
# JSD, the uniform distribution. It is another in each bin.
#
# Two ways to have less training are shown, and they differ. Runs of different *sizes* are whole
# runs on parts of the available pairs, each of which holds the smaller ones. Small runs repeat their
# pairs more often. A *trajectory* looks at one single run, on all available pairs, while it goes on;
# there an early look is at a model whose learning rate has not come down yet.
#
# ## More training data

# %%
publish_figure(
    "fig-training-size",
    plot_training_size,
    by_size.where(sizes["bin"] > 0),
    caption=f"""Accuracy and distance from humans by number of training items, in bins of human
    agreement. One line for each of {bins} quantile bins of the votes' entropy; bars are {intervals}.
    Dotted, with a hollow mark at the right edge: chance in the bin of the same mark. Compare
    Figure 8 of {{cite:t}}`nie2020`.""",
    alt="Line plots with a logarithmic axis of training items, accuracy on the left and "
    "Jensen–Shannon distance on the right, a line for each bin. "
    f"{presentation.say_where(growth, 'new_accuracy')} {presentation.say_where(growth, 'jsd')}",
) if len(by_size) else Markdown("")

# %% tags=["remove-input"]
Markdown(
    f"{presentation.say_where(growth, 'new_accuracy')} From the smallest to the largest run of "
    "{numref}`fig-training-size`, accuracy on the new majority changed as follows, with intervals of "
    f"the paired differences in brackets:\n\n{presentation.say_growth(growth, 'new_accuracy')}\n\n"
    f"{presentation.say_where(growth, 'jsd')} The distances themselves:\n\n"
    f"{presentation.say_growth(growth, 'jsd')}"
    if len(growth)
    else ""
)

# %% tags=["remove-input"]
Markdown(
    "A change counts as better or worse here where its interval lies on one side of 0; likewise for "
    "what is distinguishable from chance.\n\n"
    f"{presentation.say_against_chance(sizes, 'new_accuracy')}\n\n"
    f"{presentation.say_against_chance(sizes, 'jsd')}\n\n"
    "The models were trained to give the labels of the original datasets. "
    f"{presentation.say_against_chance(sizes, 'old_accuracy')}"
    if len(by_size)
    else ""
)

# %%
publish_table(
    "tbl-training-size",
    by_size,
    shown=trajectory.side_by_side(sizes),
    caption=f"""Scores by number of training items, in bins of human agreement. In brackets,
    {intervals}, drawn within each bin. Bins are those of {{numref}}`fig-training-size`. *Epochs* are
    passes over the training items. JSD is the distance in √nats, where lower is better.""",
) if len(by_size) else Markdown("")

# %% [markdown]
# ## One run, step by step

# %%
publish_figure(
    "fig-training-trajectory",
    plot_training_trajectory,
    by_look.where(looks["bin"] > 0),
    caption=f"""Accuracy and distance from humans by training items seen in a single run, in bins of
    human agreement. Items count each time that they are seen. Lines, bars, dotted lines and marks
    as in {{numref}}`fig-training-size`; bins and {intervals} likewise.""",
    alt="Line plots with a logarithmic axis of training items seen, accuracy on the left and "
    "Jensen–Shannon distance on the right, a line for each bin. "
    f"{presentation.say_where(changes, 'new_accuracy')} {presentation.say_where(changes, 'jsd')}",
) if len(by_look) else Markdown("")

# %% tags=["remove-input"]
Markdown(
    "From the first look of {numref}`fig-training-trajectory` to the last:\n\n"
    f"{presentation.say_growth(changes, 'new_accuracy')}\n\nand in JSD:\n\n"
    f"{presentation.say_growth(changes, 'jsd')}\n\n{presentation.say_start(looks)} {presentation.say_turns(looks)}"
    if len(changes)
    else ""
)

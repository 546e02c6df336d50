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
# # Fine-tuning
#
# The other chapters show models that this project trained itself. What were they trained on, how,
# at what cost, and how good are they at what they were trained for?

# %% tags=["parameters"]
data: str = "auto"  # nothing here depends on it: this page reads run records only

# %%
from IPython.display import Markdown

from chaos_utils.analyses import finetuning
from chaos_utils.plots.training import plot_training_curves
from chaos_utils.presentation import training as presentation
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table
from chaos_utils.scoring.trained import committed_runs, ordered, wanted_runs

runs = ordered(committed_runs())
table = finetuning.run_table(runs)

# %% tags=["remove-input"]
missing = finetuning.missing_runs(wanted_runs(), runs)
Markdown(
    presentation.say_missing(missing.rows["run"])
    if runs
    else "> No run is committed yet, so this page has recipes alone; `make wanted` trains what it "
    "would show."
)

# %% tags=["remove-input"]
Markdown(
    "> The rest of this build is made from the synthetic sample; the runs on this page are real ones."
    if data == "sample"
    else ""
)

# %% [markdown]
# ## What was trained
#
# Every run starts from a pretrained encoder and gives it a new head. For SNLI and MNLI the head
# reads premise and hypothesis together and gives a logit to each of the three labels; one such model
# answers for both datasets. For αNLI it reads one story at a time, that is both observations with
# one hypothesis between them, and gives it one logit; the softmax over the two stories is the
# prediction.

# %% tags=["remove-input"]
Markdown(
    f"The encoder{'s' if table.rows['model'].nunique() > 1 else ''} of the runs on this page: "
    f"{presentation.say_encoders(table.rows)} Training pairs of SNLI and MNLI were among those sentence "
    "pairs, so such an encoder has met more of these corpora than the pairs that it is fine-tuned on "
    "here. None of this makes it one of the nine models of {cite:t}`nie2020`; it stands in this "
    "book under its own name."
    if runs
    else ""
)

# %% [markdown]
# The available pairs are *parts* of the published corpora, for SNLI, MNLI and αNLI alike, so that a
# model which was trained on all of them can be expected to do better. A run on fewer pairs than
# there are takes a seeded part with the labels in balance, and a larger part holds the smaller
# ones. Lines of SNLI and MNLI without a majority label are left out, as is usual.
#
# ## What no run has seen
#
# *No training item shares its premise with an item of ChaosNLI*, and for αNLI no training story
# occurs there. That is compared on texts without case, spacing and punctuation each time that a run
# begins, and a single match stops it. The one exception has a name: runs on *vote shares* learn
# from ChaosNLI's own votes, and are asked only about items whose premise or story was in none of
# the folds that they learned from.
#
# *No choice was made on ChaosNLI.* Recipes were chosen by accuracy on development items: those of
# SNLI and of MNLI (matched) that are not in ChaosNLI. αNLI leaves no such items, since its whole
# development set became ChaosNLI-α. The paper tuned on that set, which was the natural one to take
# before it was annotated again; here 5% of the training stories are {term}`held out <held-out>` for
# the purpose instead.

# %%
publish_table(
    "tbl-runs",
    table,
    columns=finetuning.RUN_COLUMNS,
    caption="""What was trained on what, how, and at what cost. One row a committed run. Development
    items are those outside ChaosNLI, for αNLI held-out training stories; for runs in folds their
    accuracy is that of the folds' mean prediction. Minutes, floating-point operations (TFLOP,
    10¹²) and pairs per second are of the training steps alone, over all folds; operations are
    counted from the model's size and the padded tokens. *Share of peak* divides their rate by that
    of a large matrix product, measured on the same machine after training. Memory is the process's
    highest.""",
) if runs else Markdown("")

# %% [markdown]
# ## How they learn

# %%
curves = finetuning.curve_table(runs)
publish_figure(
    "fig-training-curves",
    plot_training_curves,
    curves,
    caption="""Training loss and accuracy on development items, by training items seen. One line per
    run; runs in folds have one per fold. An item counts each time that it is seen. Losses are
    cross-entropies against each run's own targets, whose lowest value is above 0 where labels
    are smoothed or vote shares. Accuracy along the way is on a fixed part of the development
    items. Dotted: an even guess.""",
    alt="Line plots on a logarithmic axis of items seen, training loss on the left and accuracy on "
    f"development items on the right. {presentation.say_course(curves.rows)}",
) if runs else Markdown("")

# %% tags=["remove-input"]
rows = table.rows
plain = rows[rows["kind"] == "plain"] if runs else rows
Markdown(
    "On all development items and, where the corpora have some, on test items, the runs with hard "
    "labels on all available pairs reach these accuracies; {numref}`tbl-runs` has the others:\n\n"
    f"{presentation.say_reached(plain)}"
    if len(plain)
    else ""
)

# %% tags=["remove-input"]
stories = plain[plain["task"] == "alphanli"] if runs else plain
Markdown(
    f"{presentation.say_stories(stories)} Little of it should be expected on ChaosNLI-α. The items of "
    "αNLI's development set were filtered against models, so that what gives an answer away in the "
    "training pairs helps less there, and the available training pairs come from few stories: the "
    "plausible end of a story beside an implausible one. {doc}`trajectory` shows what is left."
    if len(stories)
    else ""
)

# %% [markdown]
# ## What it costs
#
# A batch is made of pairs of like length, so that few of the tokens computed are padding; the order
# of the batches, and which pairs meet in one, are drawn anew in each pass. Where the hardware can,
# matrix products are computed in bf16 while weights, sums and losses stay in 32 bits. A run that
# was stopped goes on from its last checkpoint, and ends with the same predictions.

# %% tags=["remove-input"]
trained = rows[rows["n_fits"] > 0] if runs else rows
Markdown(presentation.say_cost(trained) if len(trained) else "")

# %% [markdown]
# ## Recipes
#
# For αNLI the paper prints the settings of each family of models. All of ours use AdamW; the learning
# rate rises linearly over the first steps, the share that is headed *warm-up*, and then falls
# linearly to 0. Runs on few pairs make more passes over them, or they would end after a few dozen
# steps.

# %%
recipes = finetuning.recipe_table(runs)
publish_table(
    "tbl-recipes",
    recipes,
    columns=finetuning.RECIPE_COLUMNS,
    caption="""Recipes of the paper for αNLI, and of our runs. Published: Table 8 of
    {cite:t}`nie2020`. Ours are read from the runs' records; a row is one set of values, with the runs
    that used it.""",
)

# %% [markdown]
# The record of every run stands in `results/`, with its command, the digests of its inputs and of its
# predictions, the code's version and the hardware. {doc}`../rebuild` explains how to run them again.

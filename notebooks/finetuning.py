# %% [markdown]
# # Fine-tuning, run by run
#
# *What did we train for this book, on what, and at what cost?*
#
# **We trained two small encoders; every run is listed below with its data and its cost, and can be repeated with one
# command.** The first MiniLM-L6 model took {value}`tbl-runs run=minilm-l6-nli-s0 training_minutes .0f` minutes to train
# on one CPU core and is right on {value}`tbl-runs run=minilm-l6-nli-s0 dev_accuracy_snli .0%` of SNLI's development
# items. On the SNLI items of ChaosNLI, MiniLM-L6 {term}`misplaces <TVD>`
# {value}`tbl-misplaced dataset=snli "system=MiniLM-L6, seed 0" "how=as it is" misplaced .0f` of every hundred votes,
# more than any of the nine models of {cite:t}`nie2020` does. Our small models serve as negative controls in
# {doc}`fitting`.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
model: str = "minilm-l6"  # model whose runs on growing subsets of the training items are shown
seed: int = 0  # seed of the bootstrap for the scores of these runs

# %%
from IPython.display import Markdown

from chaos_utils.analyses import finetuning, trajectory
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.training import plot_training_curves, plot_training_size
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.literal import in_markdown
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table
from chaos_utils.scoring.training_records import committed_runs, ordered
from chaos_utils.training.plans import plan_names, read_plan

check_parameters(globals())

inputs = gather(data)
runs = ordered(committed_runs())
table = finetuning.run_table(runs)
curves = finetuning.curve_table(runs)

# %% tags=["remove-input"]
notes = [notices(inputs)]
if not runs:
    notes.append("> No run is committed yet, so this page shows only recipes.")
if not inputs.released:
    notes.append("> The runs on this page are always those of the book, not runs on your data.")
Markdown("\n\n".join(notes))

# %% [markdown]
# ## What was trained
#
# Every run starts from a pretrained encoder with a new head. For SNLI and MNLI together, a single model reads the
# premise and the hypothesis and outputs a logit for each of the three labels. For αNLI, the model reads one story at a
# time, which consists of two observations with a hypothesis between them, and outputs a single logit. A softmax over
# the logits of the two stories gives the prediction.
#
# The first encoder, all-MiniLM-L6-v2, has six layers of width 384 and, with its head,
# {value}`tbl-runs run=minilm-l6-nli-s0 million_parameters .1f` million parameters. The encoder was distilled from BERT
# and then trained on sentence pairs with a contrastive loss. Because the sentence pairs included training pairs of SNLI
# and MNLI, the encoder has seen more of the two corpora than we fine-tune it on.
#
# The second encoder, all-mpnet-base-v2, went through the same contrastive training as the first and has twelve layers
# of width 768 and {value}`tbl-runs run=mpnet-base-alphanli-10000-s0 million_parameters .0f` million parameters. MPNet
# needs eight times as much computation per pair as MiniLM, so we trained it on only
# {value}`tbl-runs run=mpnet-base-alphanli-10000-s0 n_train ,d` items of each task. Even so, MPNet is right more often
# than MiniLM is on MNLI and αNLI. On pairs from held-out αNLI stories, MPNet is right
# {value}`tbl-runs run=mpnet-base-alphanli-10000-s0 dev_accuracy_alphanli .0%` of the time, and the first MiniLM model
# {value}`tbl-runs run=minilm-l6-alphanli-s0 dev_accuracy_alphanli .0%`. On SNLI, MPNet is not clearly more accurate.
#
# We train on *parts* of the published corpora: {value}`tbl-runs run=minilm-l6-nli-s0 n_train ,d` pairs of SNLI and MNLI
# ({value}`tbl-runs run=minilm-l6-nli-s0 trained_share .0%` of the two corpora) and
# {value}`tbl-runs run=minilm-l6-alphanli-s0 n_train ,d` pairs of αNLI
# ({value}`tbl-runs run=minilm-l6-alphanli-s0 trained_share .0%`). Runs on fewer pairs use a seeded random subset with
# balanced labels, and each larger subset contains the smaller ones. As is usual, we leave out SNLI and MNLI pairs
# without a majority label.
#
# ## What no run has seen
#
# *In runs on labels, no training item shares its premise with an item of ChaosNLI*, and no αNLI training story occurs
# in ChaosNLI. Before training, each run compares its training texts with those of ChaosNLI, ignoring case, spacing and
# punctuation, and a single match stops the run. Runs on *vote shares* learn from ChaosNLI's own votes, but each of
# their models predicts only items whose premise, story or image was in none of the folds that the model learned from.
#
# *No training setting was chosen on ChaosNLI*, except in the runs on its votes. In runs on vote shares, training stops
# when the loss on an inner fold of the training items no longer falls, and the learning rate was chosen on one such
# fold. We chose all other settings by accuracy on the development items of SNLI and MNLI (matched) that are not in
# ChaosNLI. αNLI has no development items outside ChaosNLI, because its whole development set became ChaosNLI-α.
# {cite:t}`nie2020` tuned their models on αNLI's development set, whereas we {term}`hold out <held-out>` 5% of the
# training stories.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All runs, as a table", "code_prompt_hide": "Fold the table"}
headline = "The table shows what each run was trained on, what it achieved and what it cost."
first, larger = "minilm-l6-alphanli-s0", "mpnet-base-alphanli-10000-s0"
if {first, larger} <= {run.name for run in runs}:
    named = table.rows.set_index("run")
    headline = f"""On αNLI, MiniLM reaches an accuracy of {named.at[first, "dev_accuracy_alphanli"]:.0%}, and MPNet reaches
    {named.at[larger, "dev_accuracy_alphanli"]:.0%} with about a quarter as many training items."""
publish_table(
    "tbl-runs",
    table,
    columns=finetuning.RUN_COLUMNS,
    groups=["task"],
    caption=f"""{headline} Accuracies are on development items that are not in ChaosNLI. For αNLI, the development items come from held-out
    training stories. Runs that use folds, runs with dropout and runs of MPNet-base are evaluated on only some of the development items, so
    their accuracies are only roughly comparable with those of the other runs. If a run uses folds, the predictions of the models trained in
    the different folds are averaged. Times are in minutes, summed over all folds, and cover only the training steps. The downloadable table also
    gives the recipes, accuracies on test items, the number of parameters, the items per second and the hardware.""",
) if runs else Markdown("")

# %% [markdown]
# (one-training-run-from-start-to-end)=
# ## One training run, from start to finish
#
# Models are trained by a notebook: papermill executes `notebooks/finetune.py` with the parameters of the run, and the
# executed notebook is kept with the predictions. Older runs, which are marked *script*, used the same code without a
# notebook. Below is the output of one run, in which MiniLM-L6 learns only from ChaosNLI's votes. Each item is predicted
# by a model that has seen neither the item nor its premise.
#
# ```{executed} minilm-l6-nli-votes-s0
# ```
#
# Trained on votes alone, the model is {term}`worth`
# {value}`fig-distribution-learning dataset=snli "label=MiniLM-L6, vote shares alone" people .2f` people on SNLI and
# {value}`fig-distribution-learning dataset=mnli "label=MiniLM-L6, vote shares alone" people .2f` on MNLI, so it hardly
# differs from the base rate. A model that is trained first on the labelled pairs of SNLI and MNLI and then on the same
# votes is worth {value}`fig-distribution-learning dataset=snli "label=MiniLM-L6, vote shares" people .2f` people on
# SNLI and {value}`fig-distribution-learning dataset=mnli "label=MiniLM-L6, vote shares" people .2f` on MNLI
# ({numref}`fig-distribution-learning`).
#
# (how-they-learn)=
# ## How MiniLM learns
#
# MiniLM soon memorises a small training set ({numref}`fig-training-curves`). With a thousand pairs of SNLI and MNLI,
# MiniLM's training loss falls to {value}`fig-training-curves run=minilm-l6-nli-1000-s0 measure=loss min:value .2f`, but
# the model is right on only {value}`tbl-runs run=minilm-l6-nli-1000-s0 dev_accuracy_all .0%` of the development items.
# Each roughly threefold increase in the number of pairs raises the accuracy on the development items, up to
# {value}`tbl-runs run=minilm-l6-nli-s0 dev_accuracy_all .0%`.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Loss and accuracy during training, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-training-curves",
    plot_training_curves,
    curves.where(
        curves.rows["kind"].isin(["plain", "size"]) & (curves.rows["model"] == "minilm-l6")
    ),
    caption="""MiniLM memorises a small training set, but its accuracy on new items is higher only if it has more training items. Each
    line shows a run and is labelled with the number of training items. Runs that were measured only once are shown as
    dots. On the horizontal axis, an item is counted each time it is seen. The loss curves are smoothed, and the raw
    losses are drawn behind them in grey. Accuracy during training is measured on a fixed part of the development items.""",
    alt="""Line plots on a logarithmic axis of items seen show first training loss and then accuracy on development
    items, for SNLI with MNLI and for αNLI. The fewer training items a run has, the sooner and the lower
    its loss falls. The more items it has, the higher its final accuracy is, most clearly on SNLI and MNLI.""",
) if runs else Markdown("")

# %% [markdown]
# ## More training data
#
# {cite:t}`nie2020` measured accuracy and distance from people for training sets of increasing size, in four bins of
# items sorted by how much people agree (Figure 8 of the paper). We repeat this experiment with MiniLM
# ({numref}`fig-training-size`). When the training set grows from a thousand to
# {value}`tbl-training-size dataset=snli+mnli bin=0 measure=jsd max:items ,d` pairs, accuracy rises from
# {value}`tbl-training-size dataset=snli+mnli items=1000 bin=1 measure=new_accuracy value .0%` to
# {value}`tbl-training-size dataset=snli+mnli items=101717 bin=1 measure=new_accuracy value .0%` on the quarter of the
# SNLI and MNLI items on which people agree most. On the quarter on which people agree least, MiniLM ends up no more
# accurate than a guess that always gives the most common label. On αNLI, more data hardly helps MiniLM.

# %%
growth = trajectory.by_size(
    trajectory.with_pools(inputs), runs=trajectory.runs_by_size(), model=model, n_bins=4,
    n_resamples=1000, seed=seed,
)  # fmt: skip
publish_figure(
    "fig-training-size",
    plot_training_size,
    growth.where(growth.rows["bin"] > 0),
    caption="""On SNLI and MNLI, more training data raises accuracy most where people agree most. Items are sorted by
    the entropy of their votes, and each line stands for a quarter of the items. Bars are 95% intervals from 1,000
    resamples of the items. Hollow marks on the right show the score of a guess in each bin. For accuracy, the guess is
    always the most common label; for JSD, it is the uniform distribution. The figure can be compared with Figure 8 of
    {cite:t}`nie2020`.""",
    alt="""Line plots with a logarithmic axis of training items show first accuracy and then Jensen–Shannon distance,
    with a line for each bin. On SNLI and MNLI, accuracy rises steeply in the bin where people agree most and
    only slightly in the bin where they agree least. Distances fall in all bins, but no longer at the last step where
    people agree least. On αNLI, the lines are nearly flat.""",
) if len(growth) else Markdown(
    f"> No committed run of {in_markdown(model)} predicts these items, so this part is left out."
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All scores by training items, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-training-size",
    growth,
    shown=trajectory.shown_sizes(growth.rows),
    columns=trajectory.size_columns(growth.rows),
    groups=["dataset"],
    index=["dataset", "measure", "items"],
    caption="""On SNLI and MNLI, more training data raises accuracy and mostly lowers JSD, but on αNLI, it changes
    little. The table shows how scores depend on the number of training items and on how much people agree. Items are
    sorted into four bins by the entropy of their votes. JSD is given in √nats, and lower is better. The downloadable
    table also gives the edges and sizes of the bins, 95% intervals over items, the accuracy on the old labels, and the
    differences from the smallest run.""",
) if len(growth) else Markdown("")

# %% [markdown]
# On αNLI, MiniLM is right on {value}`tbl-runs run=minilm-l6-alphanli-s0 dev_accuracy_alphanli .0%` of the
# {value}`tbl-runs run=minilm-l6-alphanli-s0 n_dev_alphanli ,.0f` pairs from held-out training stories, whereas a random
# guess is right on half of them. MiniLM is right less often on ChaosNLI-α. The items of ChaosNLI-α were filtered
# adversarially, so cues that give the answer away in the training pairs help less on these items.
#
# ## What it costs
#
# The training steps of all {value}`tbl-runs count:training_minutes d` runs together took
# {value}`tbl-runs sum:training_minutes ,.0f` minutes on one or two CPU cores. An interrupted run can be resumed from
# its last checkpoint and then gives the same predictions as an uninterrupted run.
#
# ## Recipes
#
# For αNLI, {cite:t}`nie2020` report the settings for each family of models. All our runs use AdamW with a learning rate
# that rises linearly over the first steps and then falls linearly to 0. *Warm-up* is the share of steps in which the
# learning rate rises. Runs with few training pairs make more passes over the data, because they would otherwise end
# after a few dozen steps.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Recipes, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-recipes",
    finetuning.recipe_table(runs),
    columns=finetuning.RECIPE_COLUMNS,
    caption="""Most of our learning rates are higher than those in the paper, because higher rates suit small models.
    The table lists the paper's recipes for αNLI (Table 8 of {cite:t}`nie2020`) and the recipes of our runs. Each row
    shows one set of values, and the downloadable table names the runs that used it.""",
)

# %% [markdown]
# ## The nine models, trained again
#
# This book evaluates the released predictions of the nine models of {cite:t}`nie2020`. Training the nine models again
# would take about {value}`tbl-plan sum:hours_low .0f` to {value}`tbl-plan sum:hours_high .0f` hours on one GPU
# ({numref}`tbl-plan`). The command `chaos wanted --plan table5` checks weights, data, memory, disk space and time, and
# then carries out the missing runs. With the option `--only roberta-large`, the command trains only RoBERTa-large.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Finished and missing runs of the nine models, as a table", "code_prompt_hide": "Fold the table"}
nine = finetuning.plan_table(read_plan("table5"), runs) if "table5" in plan_names() else None
publish_table(
    "tbl-plan",
    nine,
    columns=finetuning.PLAN_COLUMNS,
    caption=f"""Training all nine models again takes about {nine.rows["hours_low"].sum():.0f} to
    {nine.rows["hours_high"].sum():.0f} hours on one GPU. Each model is to be trained once on SNLI and MNLI together and
    once on αNLI. The table gives the accuracy on development items for finished runs and the estimated hours on one
    H100 for missing runs. The recipes for αNLI are those in Table 8 of {{cite:t}}`nie2020`. For SNLI and MNLI, the paper used
    the recipes of the models' authors but did not print them, so we use the same recipe for all nine models. The
    accuracies can be compared with those in Table 5 of the paper but are not a reproduction of them.""",
) if nine else Markdown("")

# %% [markdown]
# The record of each run in `results/` lists the command, the digests of the inputs and predictions, the code version
# and the hardware used. To repeat a run, see {doc}`../rebuild`.
#
# ## Limitations
#
# We trained two small encoders on parts of the corpora. We used three seeds for MiniLM on all our labelled pairs and a
# single seed in every other setting. Three seeds say little about other seeds. Training times were measured on machines
# that also did other work, so the times are only roughly comparable.

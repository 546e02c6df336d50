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
# More training data makes a model right more often where people agree, and much less so where they don't.
# From {value}`tbl-training-size dataset=snli+mnli bin=0 measure=jsd min:items ,d` to
# {value}`tbl-training-size dataset=snli+mnli bin=0 measure=jsd max:items ,d` training pairs, accuracy on the
# SNLI and MNLI items that people agree on most rises from
# {value}`tbl-training-size dataset=snli+mnli items=1000 bin=1 measure=new_accuracy value .0%` to
# {value}`tbl-training-size dataset=snli+mnli items=101717 bin=1 measure=new_accuracy value .0%`. Where they
# disagree most it ends at
# {value}`tbl-training-size dataset=snli+mnli items=101717 bin=4 measure=new_accuracy value .0%`, no better
# than always naming the commonest label
# ({value}`tbl-training-size dataset=snli+mnli items=101717 bin=4 measure=new_accuracy chance .0%`;
# {numref}`fig-training-size`).
#
# {cite:t}`nie2020` followed accuracy and distance from humans as training grew, on four bins of human
# agreement (their Figure 8). We repeat this with MiniLM-L6, a small model of our own ({doc}`finetuning`).

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

from chaos_utils.analyses import agreement, trajectory
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.training import plot_training_size, plot_training_trajectory
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
intervals = f"{confidence:.0%} intervals over items ({resamples:,} resamples)"

# %% tags=["remove-input"]
Markdown(notices(material))

# %% tags=["remove-input"]
if material.synthetic:
    said = "> The sample has no trained models: what this page shows was simulated."
elif len(by_size) or len(by_look):
    said = ""
else:
    said = (
        f"> No committed run of `{model}` predicts these items: this page needs the released "
        "ChaosNLI items and our runs, which `make wanted` trains."
    )
Markdown(said)

# %% [markdown]
# ## How it is measured
#
# Items are cut into four bins at the quantiles of their votes' {term}`entropy`, as in {doc}`agreement`: the
# first bin holds the items on which people agree most. *New accuracy* is agreement with the
# {term}`majority <majority label>` of the hundred votes; {term}`JSD` is the distance between the model's
# probabilities and the shares of the votes. The *guess* beside them is, for accuracy, the most
# frequent majority label, and for JSD the {term}`uniform guess`. Its score differs from bin to bin.
#
# There are two ways to have less training. Runs of different *sizes* are whole runs on parts of the available
# pairs, each of which holds the smaller ones; small runs repeat their pairs more often. A *trajectory*
# follows one single run on all available pairs; early in it, the learning rate is still high.
#
# ## More training data

# %%
publish_figure(
    "fig-training-size",
    plot_training_size,
    by_size.where(by_size.rows["bin"] > 0),
    caption=f"""On SNLI and MNLI, more training data raises accuracy most where people agree. One line for each of {bins} quantile
    bins of the votes' entropy; bars are {intervals}. Hollow marks at the right: the guess in the bin of
    that mark. Compare Figure 8 of {{cite:t}}`nie2020`.""",
    alt="""Line plots with a logarithmic axis of training items, accuracy on the left and
    Jensen–Shannon distance on the right, a line for each bin. On SNLI and MNLI, accuracy rises steeply in
    the bin where people agree most and little in the bin where they agree least, and distances fall in all
    bins; on αNLI the lines are nearly flat.""",
) if len(by_size) else Markdown("")

# %% [markdown]
# On SNLI and MNLI, the largest run is closer to people than the smallest in every bin
# ({numref}`fig-training-size`), yet with all
# {value}`tbl-training-size dataset=snli+mnli bin=4 measure=jsd max:items ,d` pairs the model is still
# further from people than a uniform guess where they disagree most, where that guess is near by definition: JSD
# {value}`tbl-training-size dataset=snli+mnli items=101717 bin=4 measure=jsd value .3f` against
# {value}`tbl-training-size dataset=snli+mnli items=101717 bin=4 measure=jsd chance .3f`. Where they agree most
# it is {value}`tbl-training-size dataset=snli+mnli items=101717 bin=1 measure=jsd value .3f` against
# {value}`tbl-training-size dataset=snli+mnli items=101717 bin=1 measure=jsd chance .3f`.
#
# On αNLI, more data buys this encoder next to nothing: accuracy is
# {value}`tbl-training-size dataset=alphanli items=1000 bin=0 measure=new_accuracy value .0%` after a thousand
# stories and {value}`tbl-training-size dataset=alphanli items=37395 bin=0 measure=new_accuracy value .0%` after
# all of them (difference {value}`tbl-training-size dataset=alphanli items=37395 bin=0 measure=new_accuracy change +.3f`,
# 95% interval {value}`tbl-training-size dataset=alphanli items=37395 bin=0 measure=new_accuracy change_low .3f` to
# {value}`tbl-training-size dataset=alphanli items=37395 bin=0 measure=new_accuracy change_high .3f`), where the
# commonest label alone gets
# {value}`tbl-training-size dataset=alphanli items=37395 bin=0 measure=new_accuracy chance .0%`. These items
# were filtered against models. Another encoder learns more from fewer stories: MPNet-base, trained on ten thousand,
# is right on
# {value}`tbl-fitting dataset=alphanli "inputs=MPNet-base, 10,000 items, seed 0" "map=as it is" new_accuracy .0%`
# ({doc}`finetuning`).

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All scores as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-training-size",
    by_size,
    shown=trajectory.side_by_side(by_size.rows),
    caption=f"""Scores by number of training items, in bins of human agreement. In brackets,
    {intervals}, drawn within each bin. Bins are those of {{numref}}`fig-training-size`. JSD is the
    distance in √nats, where lower is better. The download also has the accuracy on the old labels, and the
    differences from the guess and from the smallest run.""",
) if len(by_size) else Markdown("")

# %% [markdown]
# ## One run, step by step

# %%
publish_figure(
    "fig-training-trajectory",
    plot_training_trajectory,
    by_look.where(by_look.rows["bin"] > 0),
    caption=f"""While a model learns, it leaves the uniform guess: nearer to people where they agree and, as it must
    when it grows surer, further where they do not. Scores by
    training items seen in a single run, in {bins} bins of human agreement; items count each time that
    they are seen. Bars are {intervals}; hollow marks: the guess.""",
    alt="""Line plots with a logarithmic axis of training items seen, accuracy on the left and
    Jensen–Shannon distance on the right, a line for each bin. At first all distances are those of the uniform guess.
    Then the distance falls in the bins where people agree, and rises in the bin where they agree
    least.""",
) if len(by_look) else Markdown("")

# %% [markdown]
# At first the model gives all labels about the same probability. Its distance from people is then that of a
# {term}`uniform guess`, which is near where people disagree by definition: a model that becomes surer moves away from
# people there. As it learns on SNLI and MNLI ({numref}`fig-training-trajectory`),
# its distance falls from {value}`fig-training-trajectory dataset=snli+mnli items=128 bin=1 measure=jsd value .3f`
# to {value}`fig-training-trajectory dataset=snli+mnli items=203434 bin=1 measure=jsd value .3f` where people agree
# most, and rises from {value}`fig-training-trajectory dataset=snli+mnli items=128 bin=4 measure=jsd value .3f` to
# {value}`fig-training-trajectory dataset=snli+mnli items=203434 bin=4 measure=jsd value .3f` where they agree least.
#
# What training should teach is where to be sure.

# %%
surer = trajectory.along(
    agreement.flattening(trajectory.with_looks(material, model), n_bins=bins, n_draws=10, seed=seed)
)
result = None
if len(surer):
    result = publish_table(
        "tbl-training-flattening",
        surer,
        shown=trajectory.first_and_last(surer.rows),
        columns=trajectory.FLAT_COLUMNS,
        groups=["dataset"],
        caption=f"""The trained model's entropy rises less than people's where they disagree. Mean entropy of people and of the
        model in {bins} equal bins, cut by the entropy of one half of the votes and judged by the other, at the first and
        the last look at the run. The data has all looks.""",
    )
result

# %% [markdown]
# The trained model's entropy follows people's only faintly ({numref}`tbl-training-flattening`). On SNLI people's
# rises from {value}`tbl-training-flattening dataset=snli items=203434 bin=1 people_bits .2f` bits in the first bin to
# {value}`tbl-training-flattening dataset=snli items=203434 bin=4 people_bits .2f` in the last, the model's from
# {value}`tbl-training-flattening dataset=snli items=203434 bin=1 model_bits .2f` to
# {value}`tbl-training-flattening dataset=snli items=203434 bin=4 model_bits .2f`. On MNLI people's rises from
# {value}`tbl-training-flattening dataset=mnli items=203434 bin=1 people_bits .2f` to
# {value}`tbl-training-flattening dataset=mnli items=203434 bin=4 people_bits .2f`, the model's from
# {value}`tbl-training-flattening dataset=mnli items=203434 bin=1 model_bits .2f` to
# {value}`tbl-training-flattening dataset=mnli items=203434 bin=4 model_bits .2f`.
#
# ## Limitations
#
# This is one small encoder, with two seeds of the largest size on SNLI and MNLI and one of every other, so most
# bars leave out how much another seed would change. The training pairs are parts of the published corpora
# ({value}`tbl-runs run=minilm-l6-nli-s0 trained_share .0%` of SNLI and MNLI,
# {value}`tbl-runs run=minilm-l6-alphanli-s0 trained_share .0%` of αNLI), so the curves may not have
# flattened. We use four bins because the paper does, and the items were chosen because their first annotators
# disagreed.

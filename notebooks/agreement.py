# %% [markdown]
# # Scores by level of agreement
#
# *How far does human agreement decide a model’s score?*
#
# A model's score is a mean over items on which people agree and items on which they do not.
# {cite:t}`nie2020` cut the items into five bins by the {term}`entropy` of their hundred votes. How
# much of a score is decided by human agreement, and is anything left where people disagree most?
#
# Little accuracy is left. And where people disagree, models' entropy rises too little: that of the nine models of the
# paper on SNLI about half as much as people's, on MNLI at most a third. From the first to the last fifth of SNLI, these
# models fall from
# {value}`tbl-entropy-bins dataset=snli source=published measure=new_accuracy bin=1 mean:value .0%` to
# {value}`tbl-entropy-bins dataset=snli source=published measure=new_accuracy bin=5 mean:value .0%` accuracy
# on average, close to always giving the commonest label
# ({value}`tbl-entropy-bins dataset=snli system=chance measure=new_accuracy bin=5 value .0%`). More training data
# does not change this: it makes a model right more often where people agree, and hardly where they do not.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
bins: int = 5  # quantile bins of the entropy; the published numbers have five
resamples: int = 50_000  # bootstrap resamples of each bin's items, for intervals and p-values
cuts: int = 10  # cuts of the votes into halves, one of which cuts the bins
model: str = "minilm-l6"  # whose committed runs on growing parts of the training items are shown
seed: int = 0  # seed of the bootstrap

# %%
from IPython.display import Markdown

from chaos_utils.analyses import agreement, trajectory
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.names import SYSTEM
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.bins import (
    plot_accuracy_by_entropy,
    plot_flattening,
    plot_jsd_by_entropy,
)
from chaos_utils.plots.training import plot_training_size
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.literal import in_markdown
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data, predictions)
scores = agreement.binned_scores(
    [*inputs, *inputs.pooled()], n_bins=bins, n_resamples=resamples, seed=seed
)

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# ## Accuracy falls

# %%
publish_figure(
    "fig-accuracy-by-entropy",
    plot_accuracy_by_entropy,
    agreement.drawn_rows(scores, "new_accuracy"),
    caption=f"""Accuracy falls where people disagree; in the last bin of SNLI and αNLI it is close to that of a guess.
    {bins} quantile bins of entropy, as in Figure 4 of {{cite:t}}`nie2020`; grey, the range of its models. Bars are
    95% intervals, over items and seeds; a mean of two seeds has none, since two say little about others.""",
    alt="""Four panels: SNLI, MNLI, αNLI, SNLI and MNLI pooled. In each, accuracy falls from bin to
    bin. On αNLI and SNLI it starts above ninety per cent for most models and ends near the dotted line
    of the commonest label; on MNLI it starts lower and falls less. The original votes end highest,
    on SNLI level with DeBERTa.""",
)

# %% [markdown]
# On αNLI the average of the nine falls nearly as steeply as on SNLI, to
# {value}`tbl-entropy-bins dataset=alphanli source=published measure=new_accuracy bin=5 mean:value .0%`, and
# on MNLI, where it starts at
# {value}`tbl-entropy-bins dataset=mnli source=published measure=new_accuracy bin=1 mean:value .0%`, to
# {value}`tbl-entropy-bins dataset=mnli source=published measure=new_accuracy bin=5 mean:value .0%`
# ({numref}`tbl-entropy-bins`).
#
# People's old labels, scored like a model, agree with the new majority on
# {value}`tbl-entropy-bins dataset=snli "system=original votes" measure=new_accuracy bin=1 value .0%` of
# the first SNLI bin and
# {value}`tbl-entropy-bins dataset=snli "system=original votes" measure=new_accuracy bin=5 value .0%` of
# the last: where votes are nearly tied, people miss the majority as well.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All bins as a table", "code_prompt_hide": "Fold the table"}
in_bins = agreement.scores_with_change(scores)
publish_table(
    "tbl-entropy-bins",
    in_bins,
    shown=agreement.shown_rows(in_bins.rows, "new_accuracy", "jsd"),
    columns=[*agreement.BIN_COLUMNS, SYSTEM, *agreement.bin_columns(in_bins.rows, change=True)],
    groups=["dataset"],
    index=["dataset", "measure", "system"],
    caption="""From the first bin to the last, new accuracy falls and most models' JSD grows: the change with its 95%
    interval over items. The nine models of {cite:t}`nie2020` are shown as their mean, as are seeds. The data has the
    bins' edges and sizes, 95% intervals over items, every seed, every model, what is published beside what is computed,
    old accuracy, and KL in nats with the paper's floor of 1e-15.""",
)

# %% [markdown]
# ### Better than a guess?
#
# The paper says that models barely beat a random guess where people agree least. *Which* guess is
# meant can decide the answer: the label that is the commonest over all items need not be the commonest
# in the last bin. The commonest label of the bin is the best that a single answer can do there, but it
# is chosen with hindsight, so it is a little too good.

# %%
against = agreement.against_guesses(scores)
publish_table(
    "tbl-against-guesses",
    against,
    shown=agreement.shown_guesses(against.rows),
    columns=agreement.guess_columns(resamples),
    groups=["dataset"],
    index=["dataset", "system"],
    caption=f"""In the last bin, models that differ significantly from a guess do so mostly on MNLI, from the label that
    is the commonest over all items; these do. New accuracy,
    model minus guess, with 95% intervals over items; *p* is adjusted (Holm) for all comparisons in the data, which
    has all models, the first bin, and JSD against the uniform guess in every bin. After ≤ stands the smallest
    *p* that {resamples:,} resamples allow, times the number of comparisons: how much smaller it is, they cannot
    say. The data has published values too.""",
)

# %% [markdown]
# On MNLI the commonest label of all items has
# {value}`tbl-entropy-bins dataset=mnli system=chance measure=new_accuracy bin=5 value .0%` accuracy in
# the last bin, the commonest label of that bin
# {value}`tbl-entropy-bins dataset=mnli "system=commonest label of the bin" measure=new_accuracy bin=5 value .0%`.
# All nine lie above the first, but not all above the second. On αNLI the two guesses agree in that bin, and
# {value}`tbl-against-guesses dataset=alphanli source=published measure=new_accuracy reference=chance bin=5 sum:better d`
# of the nine lie above it.
#
# Once p is adjusted, no model differs significantly from a guess in the last bin of SNLI or αNLI, among them all of
# the nine. On MNLI, {value}`tbl-against-guesses dataset=mnli source=computed measure=new_accuracy bin=5 verdict=better count:system d`
# of {value}`tbl-against-guesses dataset=mnli source=computed measure=new_accuracy reference=chance bin=5 count:system d`
# models lie above the commonest label of all items, seven of the nine among them: RoBERTa-large lies above it by
# {value}`tbl-against-guesses dataset=mnli source=computed system=roberta-large measure=new_accuracy reference=chance bin=5 value .0%`
# of the items, DeBERTa-v3-large by
# {value}`tbl-against-guesses dataset=mnli system=DeBERTa-v3-large measure=new_accuracy reference=chance bin=5 value .0%`.
# None is significantly above that of the bin; on SNLI and MNLI pooled, DeBERTa-v3-large alone is
# ({numref}`tbl-against-guesses`), and none of the nine.
#
# ## Distance grows
#
# Accuracy asks for one label. The Jensen–Shannon distance ({term}`JSD`) asks for the whole
# distribution, so a split crowd need not cost a model anything, if it splits its probability likewise. The
# {term}`uniform guess` is shown beside the models, but that it is near where people disagree is no finding: its
# distance from people is how much they agree, so it must fall from bin to bin.

# %%
publish_figure(
    "fig-jsd-by-entropy",
    plot_jsd_by_entropy,
    agreement.drawn_rows(scores, "jsd"),
    caption=f"""Most models' distance from people grows with disagreement. {bins} quantile bins of entropy, as in Figure 5 of {{cite:t}}`nie2020`; grey, the range of its
    models. Bars are 95% intervals, over items and seeds; a mean of two seeds has none.""",
    alt="""Four panels: SNLI, MNLI, αNLI, SNLI and MNLI pooled. Most models' lines rise from bin to
    bin, on MNLI less steeply; on αNLI those of MiniLM and MPNet rise and fall. All the while the line of the uniform guess falls and ends below them in every
    panel.""",
)

# %% [markdown]
# From the first bin of SNLI to the last, the closest of the nine goes from a JSD of
# {value}`tbl-entropy-bins dataset=snli source=published measure=jsd bin=1 min:value .3f` to
# {value}`tbl-entropy-bins dataset=snli source=published measure=jsd bin=5 min:value .3f`
# ({numref}`fig-jsd-by-entropy`). In the first bin all {value}`tbl-against-guesses dataset=mnli source=published measure=jsd bin=1 sum:better d` models
# of the paper beat the uniform guess even on MNLI; in the last one none does on any dataset, as any prediction that
# stays sure must lose there.
#
# ## Models flatten too little
#
# Are models less sure where people are? To ask that fairly, one half of each item's votes cuts the items into
# fifths, and the other half judges: votes that do both make the last fifth look more divided than it is.

# %%
flattening = agreement.flattening(inputs, n_bins=5, n_draws=cuts, seed=seed)
publish_figure(
    "fig-flattening",
    plot_flattening,
    flattening.where(flattening.rows["cut"] == "people"),
    caption=f"""Models flatten too little where people disagree. Mean entropy of people and of models in fifths
    of the items by the entropy of one half of the votes; people's is that of the other half. Means over {cuts}
    cuts, and over seeds. Below the diagonal, a model is surer than people.""",
    alt="""A panel for each dataset: entropy of models against entropy of people, five marks on each line. All
    lines rise less steeply than the diagonal. On SNLI those of MiniLM, MPNet and DistilBERT begin above it and end
    below; all others lie below it, that of DeBERTa farthest. On MNLI those of MiniLM, MPNet and DistilBERT begin above it,
    and that of the RoBERTa which was trained on SNLI alone. On αNLI most lie far below.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "The first and last fifths as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-flattening",
    flattening,
    shown=agreement.outer_bins(flattening.rows),
    columns=agreement.FLATTENING_COLUMNS,
    groups=["dataset"],
    caption="""How sure a model is says more about its distance from people on MNLI than on SNLI. The first and the
    last fifth of the items, by the entropy of one half of the votes, judged by the other half, and by the model's
    own entropy, judged by all votes. In brackets, 95% intervals over items of the difference in JSD. The data has
    all fifths.""",
) if len(flattening) else Markdown(
    "*Fifths by one half of the votes need halves of twenty votes, and models: left out here.*"
)

# %% [markdown]
# Across the fifths of MNLI, people's entropy rises to
# {value}`tbl-flattening dataset=mnli system=RoBERTa-base cut=people bin=5 people_bits .2f` bits and RoBERTa's from
# {value}`tbl-flattening dataset=mnli system=RoBERTa-base cut=people bin=1 model_bits .2f` to
# {value}`tbl-flattening dataset=mnli system=RoBERTa-base cut=people bin=5 model_bits .2f`
# ({numref}`fig-flattening`). Cutting by one half hardly moves the distances.
#
# Cut by the model's *own* entropy, the comparison with the uniform guess is no tautology
# ({numref}`tbl-flattening`). On SNLI, RoBERTa is nearer to people than the guess in the fifth where it is surest
# as in the one where it is least sure. On MNLI it is farther where it is surest
# (JSD {value}`tbl-flattening dataset=mnli system=RoBERTa-base cut=model bin=1 jsd .3f` against
# {value}`tbl-flattening dataset=mnli system=RoBERTa-base cut=model bin=1 uniform .3f`) and nearer where it is least
# sure: it is farthest from people where it is surest. So are the nine on MNLI, each farther than the guess by at least
# {value}`tbl-flattening dataset=mnli system=bert-base|xlnet-base|roberta-base|bert-large|xlnet-large|roberta-large|bart-large|albert-xxlarge|distilbert cut=model bin=1 min:gap .3f`
# where they are surest. On αNLI they are nearest where they are surest.
#
# ## More training data
#
# {cite:t}`nie2020` also followed accuracy and distance as training grew, on four bins (their Figure 8). We repeat this
# with MiniLM-L6, a small model of our own ({doc}`finetuning`): whole runs on parts of the available pairs, each of
# which holds the smaller ones; small runs repeat their pairs more often.

# %%
growth = trajectory.by_size(
    trajectory.with_pools(inputs), runs=trajectory.runs_by_size(), model=model, n_bins=4,
    n_resamples=1000, seed=seed,
)  # fmt: skip
publish_figure(
    "fig-training-size",
    plot_training_size,
    growth.where(growth.rows["bin"] > 0),
    caption="""On SNLI and MNLI, more training data raises accuracy most where people agree. One line for each of four
    quantile bins of the votes' entropy; bars are 95% intervals over items (1,000 resamples). Hollow marks at the right:
    the guess in the bin of that mark. Compare Figure 8 of {cite:t}`nie2020`.""",
    alt="""Line plots with a logarithmic axis of training items, accuracy on the left and
    Jensen–Shannon distance on the right, a line for each bin. On SNLI and MNLI, accuracy rises steeply in
    the bin where people agree most and little in the bin where they agree least, and distances fall in all
    bins; on αNLI the lines are nearly flat.""",
) if len(growth) else Markdown(
    f"> No committed run of {in_markdown(model)} predicts these items: left out here."
)

# %% [markdown]
# From a thousand to {value}`tbl-training-size dataset=snli+mnli bin=0 measure=jsd max:items ,d` pairs, accuracy on the
# SNLI and MNLI items that people agree on most rises from
# {value}`tbl-training-size dataset=snli+mnli items=1000 bin=1 measure=new_accuracy value .0%` to
# {value}`tbl-training-size dataset=snli+mnli items=101717 bin=1 measure=new_accuracy value .0%`
# ({numref}`fig-training-size`). Where they disagree most it ends no better than the commonest label.
#
# The largest run is closer to people than the smallest in every bin, yet still further from them than a uniform
# guess where they disagree most, where that guess is near by definition: JSD
# {value}`tbl-training-size dataset=snli+mnli items=101717 bin=4 measure=jsd value .3f` against
# {value}`tbl-training-size dataset=snli+mnli items=101717 bin=4 measure=jsd chance .3f`. What training should teach is
# where to be sure.
#
# On αNLI, more data buys this encoder next to nothing: from a thousand stories to all of them, accuracy changes by
# {value}`tbl-training-size dataset=alphanli items=37395 bin=0 measure=new_accuracy change +.3f`
# (95% interval {value}`tbl-training-size dataset=alphanli items=37395 bin=0 measure=new_accuracy change_low .3f` to
# {value}`tbl-training-size dataset=alphanli items=37395 bin=0 measure=new_accuracy change_high .3f`). These items
# were filtered against models.
#
# Another encoder learns more from fewer stories: MPNet-base, trained on ten thousand, is right on
# {value}`tbl-fitting dataset=alphanli "inputs=MPNet-base, 10,000 items, seed 0" "map=as it is" new_accuracy .0%`,
# MiniLM-L6 on {value}`tbl-training-size dataset=alphanli items=37395 bin=0 measure=new_accuracy value .0%`.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All scores by training items", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-training-size",
    growth,
    shown=trajectory.shown_sizes(growth.rows),
    columns=trajectory.size_columns(growth.rows),
    groups=["dataset"],
    index=["dataset", "measure", "items"],
    caption="""Scores by number of training items, in bins of human agreement. JSD is the
    distance in √nats, where lower is better. The data has the bins' edges and sizes, 95% intervals over items, the accuracy
    on the old labels, and the differences from the smallest run.""",
) if len(growth) else Markdown("")

# %% [markdown]
# ## How the published bins are made
#
# The edges are quantiles of the entropy in bits, so that the bins hold about equally many items.
# A bin takes its lower edge and leaves its upper one to the next; the last bin takes both. Many
# items share an entropy, hence the unequal sizes. SNLI and MNLI are pooled, as in the paper's figures,
# and shown one by one as well, as the numbers that were published are. A system is pooled if it predicts both under one name.
#
# Intervals come from resampling the items of each bin ({term}`bootstrap interval`). The mean of several seeds has an
# {term}`interval over seeds` too; where there is one seed, the interval says nothing of others.
#
# Four baselines stand beside the models: {term}`chance`, the uniform guess for {term}`JSD` and {term}`KL` and the
# commonest label of all items for an accuracy; the *commonest label of the bin*; the *class prior*, the frequencies of
# the old labels; and the *original votes*, five for most SNLI and MNLI items, and the old label on αNLI. Their new
# accuracy is the share of old labels that stand.
#
# The sizes of the published bins are reproduced to the item, and all scores of the nine models to the last digit, on
# all three datasets. Edges are cut on all items, and a system is scored on
# those that it covers: those of RoBERTa-base have
# {value}`tbl-main-results dataset=mnli "system=RoBERTa-base, seed 0" n_items ,.0f` of MNLI's
# {value}`tbl-main-results dataset=mnli system=chance n_items ,.0f` items.
#
# The paper's script also prints a number of items that all models get right. As released, it counts the correct
# answers of the last model only, an easy slip, so we do not reproduce that number.
#
# ## Limitations
#
# The published bins are five quantiles of the same votes that score the models, so the last bin looks a little more
# divided than it is. Items of SNLI and MNLI were chosen because the original annotators disagreed, so people rarely
# agree even in the first bin: on MNLI it reaches up to
# {value}`tbl-entropy-bins dataset=mnli system=chance measure=jsd bin=1 entropy_high_bits .2f` bits.
# The nine models are single runs; {doc}`results` says how many seeds the others have.
# RoBERTa-base and BERT-base were trained on SNLI alone, so that MNLI is out of domain for them.
#
# Learning curves are those of one small encoder, with three seeds of the largest size and one of every other. The training pairs are parts of the published corpora
# ({value}`tbl-runs run=minilm-l6-nli-s0 trained_share .0%` of SNLI and MNLI,
# {value}`tbl-runs run=minilm-l6-alphanli-s0 trained_share .0%` of αNLI), so the curves may not have flattened.

# %% tags=["remove-input"]
Markdown(inputs.missing_note("old labels"))

# %% [markdown]
# # Models’ doubt and people’s disagreement
#
# *Do models know where people disagree?*
#
# **Only in part: most models become less certain as people disagree more, but not nearly enough.** Both a model's
# uncertainty and people's disagreement can be measured by {term}`entropy`, which is 0 if one label gets all the
# probability or all the votes, and largest if all labels get the same share. On the fifth of the SNLI items where
# people disagree most, the entropy of people's votes is
# {value}`tbl-flattening dataset=snli system=RoBERTa-base cut=people bin=5 people_bits .2f` bits on average, but the
# entropy of RoBERTa-base's predictions is only
# {value}`tbl-flattening dataset=snli system=RoBERTa-base cut=people bin=5 model_bits .2f` bits. RoBERTa-base, which was
# trained on SNLI alone, is hardly less certain on MNLI items where people disagree than on MNLI items where they agree.
#
# A model that knew where people disagree could point to the items that need more votes. This chapter shows how certain
# models are where people disagree, how often they are right there, and whether they at least rank the items correctly
# by disagreement.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files with your own predictions, shown with the other systems
bins: int = 5  # quantile bins of the entropy; the published numbers have five
resamples: int = 50_000  # bootstrap resamples of each bin's items, for intervals and p-values
cuts: int = 10  # splits of the votes into halves; one half defines the bins or predicts the other
seed: int = 0  # seed of the bootstrap

# %%
from IPython.display import Markdown

from chaos_utils.analyses import agreement, results
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.names import SYSTEM
from chaos_utils.analyses.notices import are_our_own, names_of_yours, notices
from chaos_utils.plots.bins import (
    plot_accuracy_by_entropy,
    plot_flattening,
    plot_jsd_by_entropy,
)
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data, predictions)
pools = [*inputs, *inputs.pooled()]
scores = agreement.binned_scores(pools, n_bins=bins, n_resamples=resamples, seed=seed)
halves = agreement.half_crowds(pools, n_bins=bins, n_draws=cuts, seed=seed)
in_colour = [*names_of_yours(inputs), "RoBERTa-base", "roberta-large"]

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# (models-flatten-too-little)=
# ## Models flatten their predictions too little
#
# We sort the items into fifths by the entropy of one half of the votes on each item and compare models with the other
# half of the votes. If the same votes were used for sorting and for comparing, people would look more divided in the
# last fifth than they are.

# %%
flattening = agreement.flattening(inputs, n_bins=5, n_draws=cuts, seed=seed)
publish_figure(
    "fig-flattening",
    plot_flattening,
    agreement.drawn_flattening(
        flattening.where(~are_our_own(flattening.rows["system"])), chosen=in_colour
    ),
    caption=f"""The entropy of models' predictions rises too little as people disagree more. The items are sorted into
    fifths by the entropy of one half of their votes. For each fifth, the figure compares the mean entropy of a model's
    predictions with the mean entropy of the other half of the votes. All values are averages over {cuts} splits of the
    votes and over seeds. Below the diagonal, a model is more certain than people are. Thin grey lines show models that
    are not named.""",
    alt="""A panel for each dataset plots the entropy of models against the entropy of people, with five marks on each
    line. All lines rise less steeply than the diagonal, and on MNLI, they hardly rise at all. On SNLI, RoBERTa-base
    begins at 0.24 bits, below people's 0.34, and ends at 0.64, far below people's 1.17. On αNLI, RoBERTa-large stays
    below 0.2 bits.""",
)

# %% [markdown]
# From the first fifth of the SNLI items to the last, the entropy of people's votes rises from
# {value}`tbl-flattening dataset=snli system=RoBERTa-base cut=people bin=1 people_bits .2f` to
# {value}`tbl-flattening dataset=snli system=RoBERTa-base cut=people bin=5 people_bits .2f` bits, and the entropy of
# RoBERTa-base's predictions rises from
# {value}`tbl-flattening dataset=snli system=RoBERTa-base cut=people bin=1 model_bits .2f` to
# {value}`tbl-flattening dataset=snli system=RoBERTa-base cut=people bin=5 model_bits .2f` bits
# ({numref}`fig-flattening`). On MNLI, on which this RoBERTa-base was not trained {cite:p}`baan2022`, the entropy of its
# predictions rises only slightly, from
# {value}`tbl-flattening dataset=mnli system=RoBERTa-base cut=people bin=1 model_bits .2f` to
# {value}`tbl-flattening dataset=mnli system=RoBERTa-base cut=people bin=5 model_bits .2f` bits. On SNLI, the entropy of
# the nine models' predictions rises about half as much as people's entropy does, and on MNLI, it rises at most a third
# as much.
#
# A model that is certain is not always near to people, either. We measure the distance from people by {term}`JSD`,
# where 0 is best and 0.83 is worst. On the fifth of the MNLI items where RoBERTa-base is surest, it has a JSD of
# {value}`tbl-flattening dataset=mnli system=RoBERTa-base cut=model bin=1 jsd .3f`, and a uniform guess has a JSD of
# {value}`tbl-flattening dataset=mnli system=RoBERTa-base cut=model bin=1 uniform .3f`. On the fifth of the MNLI items
# where RoBERTa-base is least sure, it is nearer to people than the guess is. Each of the nine models is farther from
# people than the guess is, by at least
# {value}`tbl-flattening dataset=mnli system=bert-base|xlnet-base|roberta-base|bert-large|xlnet-large|roberta-large|bart-large|albert-xxlarge|distilbert cut=model bin=1 min:gap .3f`,
# on the fifth of the MNLI items where that model is surest. On αNLI, most models are nearest to people where the models
# are surest.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "The first and last fifths, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-flattening",
    flattening,
    shown=agreement.outer_bins(flattening.rows),
    columns=agreement.FLATTENING_COLUMNS,
    groups=["dataset"],
    caption="""A model's certainty reveals more about its distance from people on MNLI than on SNLI. The table shows the
    first and the last fifth of the items. Where the items are sorted by the entropy of one half of the votes, models
    are scored against the other half. Where the items are sorted by a model's own entropy, the model is scored against
    all votes. Brackets contain 95% intervals over items for the difference in JSD. The downloadable data include all
    fifths.""",
) if len(flattening) else Markdown(
    "*This table is left out here, because it needs models and items with at least twenty votes in each half.*"
)

# %% [markdown]
# ## Accuracy falls for people, too
#
# {term}`New accuracy <new accuracy>` is the share of items on which a model predicts the label that got the most of the
# hundred votes. Nobody can predict this label well where the votes are nearly tied. To see how well people do, we let
# the majority label of half a crowd predict the majority label of the other half. For accuracy, we follow
# {cite:t}`nie2020` and sort the items into five bins by the entropy of all hundred votes.

# %%
publish_figure(
    "fig-accuracy-by-entropy",
    plot_accuracy_by_entropy,
    agreement.drawn_rows(
        scores.where(~are_our_own(scores.rows["system"])), "new_accuracy", halves, in_colour
    ),
    caption=f"""In every bin, half of the crowd predicts the majority label better than any model does. The figure shows
    new accuracy in {bins} quantile bins of the votes' entropy, as in Figure 4 of {{cite:t}}`nie2020`. The dashed line
    compares one half of a crowd with the other, and the dotted line shows the result of always choosing the label that
    is commonest over all items. Each half of a crowd is scored against the other half's fifty votes, and models against
    a hundred votes. In the first bins, both halves have the same majority on every item, because their votes also
    define the bins. The grey band spans the nine models, and thin grey lines show other models. Bars are 95% intervals
    over items, and also over seeds if a line is the mean over three seeds.""",
    alt="""The four panels are for SNLI, MNLI, αNLI, and SNLI and MNLI pooled. In each, accuracy falls from bin to bin.
    On SNLI, all models start at about ninety per cent or higher, and on αNLI, most do. On both datasets, models end near
    the dotted line of the commonest label. On MNLI, models start lower and fall less. The dashed line of half a crowd
    starts at one hundred per cent and ends well above the models.""",
)

# %% [markdown]
# In the first fifth of the SNLI items, the nine models are, on average, right on
# {value}`tbl-entropy-bins dataset=snli source=published measure=new_accuracy bin=1 mean:value .0%` of the items, nearly
# as often as half a crowd is. In the last fifth, where people disagree most, the nine models are, on average, right on
# {value}`tbl-entropy-bins dataset=snli source=published measure=new_accuracy bin=5 mean:value .0%` of the items, and
# half a crowd is right on {value}`fig-accuracy-by-entropy dataset=snli "system=half a crowd" bin=5 value .0%`
# ({numref}`fig-accuracy-by-entropy`). A baseline that always guesses the commonest label is right on
# {value}`tbl-entropy-bins dataset=snli system=chance measure=new_accuracy bin=5 value .0%` of the items in the last
# fifth, and the old label matches the new majority on
# {value}`tbl-entropy-bins dataset=snli "system=original votes" measure=new_accuracy bin=5 value .0%` of these items. In
# the last fifth of the MNLI items, the nine models are, on average, right on
# {value}`tbl-entropy-bins dataset=mnli source=published measure=new_accuracy bin=5 mean:value .0%` of the items, and
# half a crowd is right on {value}`fig-accuracy-by-entropy dataset=mnli "system=half a crowd" bin=5 value .0%`.
#
# {cite:t}`nie2020` report that models barely beat a guess in the last bin. On SNLI and αNLI, after correction for all
# comparisons, no model is significantly more or less accurate in the last bin than a baseline that always guesses the
# commonest label of the dataset. On MNLI,
# {value}`tbl-against-guesses dataset=mnli source=computed measure=new_accuracy bin=5 verdict=better count:system d` of
# the
# {value}`tbl-against-guesses dataset=mnli source=computed measure=new_accuracy reference=chance bin=5 count:system d`
# models are clearly more accurate in the last bin than a baseline that always guesses the commonest label. However,
# none of these models clearly beats a baseline that guesses the commonest label of the bin itself, which can be known
# only in hindsight.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All bins, as a table", "code_prompt_hide": "Fold the table"}
in_bins = agreement.scores_with_change(scores)
publish_table(
    "tbl-entropy-bins",
    in_bins,
    shown=agreement.shown_rows(in_bins.rows, "new_accuracy", "jsd"),
    columns=[agreement.PART, SYSTEM, *agreement.bin_columns(in_bins.rows, change=True)],
    groups=["part"],
    index=["dataset", "measure", "system"],
    caption="""From the first bin to the last, new accuracy falls and most models' JSD grows. *Change* is the value in
    the last bin minus the value in the first, with a 95% interval over items. The table shows the mean over the nine
    models of {cite:t}`nie2020` and, for models with several seeds, the mean over seeds. The downloadable data also
    include the edges and sizes of the bins, 95% intervals, every model and seed, published values, old accuracy, and KL
    in nats, computed with the paper's floor of 1e-15.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Models compared with two guesses, as a table", "code_prompt_hide": "Fold the table"}
against = agreement.against_guesses(scores)
publish_table(
    "tbl-against-guesses",
    against,
    shown=agreement.shown_guesses(against.rows),
    columns=agreement.guess_columns(resamples),
    groups=["dataset"],
    index=["dataset", "system"],
    caption=f"""In the last bin, hardly any model clearly beats a baseline that guesses the bin's commonest label, but
    on MNLI, most beat one that always guesses the dataset's commonest label. The table shows the new accuracy of a
    model minus the accuracy of a guess, with 95% intervals over items. The *p*-values are adjusted by Holm's method for
    all comparisons in the downloadable data, which also cover all models, the first bin, JSD against the uniform guess
    in every bin, and published values. The sign ≤ marks the smallest *p* possible with {resamples:,} resamples,
    multiplied by the number of comparisons, so the true *p* may be smaller.""",
)

# %% [markdown]
# (do-models-order-the-items)=
# ## Do models rank the items by disagreement?
#
# A model may be too sure everywhere and still be surer where people agree than where they disagree. Two measures show
# how well a model {term}`signals disagreement <disagreement as a signal>`. Spearman's correlation shows whether a
# model's entropy ranks the items as people's entropy does. The area under the ROC curve (AUROC) shows whether a model's
# entropy separates contested items from all other items.

# %%
threshold = 0.6  # an item is contested where no label has this share of the votes
signal = results.disagreement_signal(inputs, majority_below=threshold, seed=seed)
publish_table(
    "tbl-disagreement-signal",
    signal,
    shown=results.shown_signal(signal.rows),
    columns=results.SIGNAL_COLUMNS,
    groups=["dataset"],
    caption=f"""By Spearman's correlation, the votes of five people rank items by other people's disagreement better
    than any model that was not fitted to votes. By AUROC, their lead on SNLI may be due to chance. For each dataset,
    the table shows the guesses and, of the models, only the one with the highest correlation. The downloadable data
    include all models. Brackets contain 95% intervals over items. *Spearman* is the rank correlation of a system's
    entropy with the entropy of the votes. An item is contested if no label reaches {threshold:.0%} of the votes.
    *AUROC* is the probability that a contested item gets a higher entropy than an item that is not contested, and 0.5
    is chance. *Five people* are drawn a hundred times for each item and compared with the remaining people. For five
    people, the table shows the mean and the range of the middle 95% of the draws. Baselines that make the same
    prediction for all items are left out.""",
)

# %% [markdown]
# The highest rank correlation that any model reaches without being fitted to votes is
# {value}`tbl-disagreement-signal dataset=snli kind=model max:spearman .2f` on SNLI and
# {value}`tbl-disagreement-signal dataset=mnli kind=model max:spearman .2f` on MNLI. Five people reach a correlation of
# {value}`tbl-disagreement-signal dataset=snli "system=five people" spearman .2f` on SNLI and
# {value}`tbl-disagreement-signal dataset=mnli "system=five people" spearman .2f` on MNLI
# ({numref}`tbl-disagreement-signal`). A combination of all systems, fitted to the votes on other items, does better
# than five people do on SNLI
# ({value}`tbl-fitting dataset=snli access=text "inputs=all systems" map=quadratic objective=kl spearman .2f`) and MNLI
# ({value}`tbl-fitting dataset=mnli access=text "inputs=all systems" map=quadratic objective=kl spearman .2f`), but not
# on αNLI ({doc}`fitting`). On MNLI, a guess based only on the old label reaches a correlation of
# {value}`tbl-disagreement-signal dataset=mnli "system=mean vote given the old label" spearman .2f`, and no model is
# clearly better, not even ModernBERT-large, which may have seen the items.
#
# ## Distance from people
#
# A model that split its probability as people split their votes would be near to people even where they disagree. Yet
# the JSD of most models grows as people disagree more. From the first bin to the last on SNLI, the lowest JSD among the
# nine models rises from {value}`tbl-entropy-bins dataset=snli source=published measure=jsd bin=1 min:value .3f` to
# {value}`tbl-entropy-bins dataset=snli source=published measure=jsd bin=5 min:value .3f`. The {term}`uniform guess`, by
# definition, gets nearer to people as they disagree more, so its lower JSD in the last bin is not a finding.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Distance from people by bin, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-jsd-by-entropy",
    plot_jsd_by_entropy,
    agreement.drawn_rows(
        scores.where(~are_our_own(scores.rows["system"])), "jsd", halves, in_colour
    ),
    caption=f"""Most models' distance from people grows with disagreement. The figure shows JSD in {bins} quantile bins
    of entropy, as in Figure 5 of {{cite:t}}`nie2020`. The dashed line compares one half of a crowd with the other. The
    dotted line shows the uniform guess, which by definition is near to people where they disagree. The grey band spans
    the nine models, and thin grey lines show other models. Bars are 95% intervals over items, and also over seeds if a
    line is the mean over three seeds.""",
    alt="""The four panels are for SNLI, MNLI, αNLI, and SNLI and MNLI pooled. Most models' lines rise from bin to bin,
    though less steeply on MNLI. The line of the uniform guess falls and ends below the models' lines in every panel.
    The line of half a crowd lies far below all others.""",
)

# %% [markdown]
# ## How the bins are made
#
# The edges of the bins are quantiles of the entropy in bits. The bins do not all hold the same number of items, because
# many items have the same entropy. Each bin includes its lower edge, and the last bin includes its upper edge as well.
# SNLI and MNLI are pooled as in the figures of {cite:t}`nie2020` and shown separately as in the tables of that paper.
# We reproduce the sizes of the published bins exactly, and all scores of the nine models to the last digit.
#
# ## Limitations
#
# In the published bins, the same votes sort the items and score the models, so people in the last bin look a little
# more divided than they are. The SNLI and MNLI items were chosen because the original annotators disagreed, so people
# rarely agree fully even in the first bin. On MNLI, the first bin extends up to an entropy of
# {value}`tbl-entropy-bins dataset=mnli system=chance measure=jsd bin=1 entropy_high_bits .2f` bits. Each of the nine
# models is represented by a single run. The RoBERTa-base and BERT-base of {cite:t}`baan2022` were trained on SNLI
# alone, so MNLI is out of domain for these two models.
#
# (more-training-data)=
# The chapter {doc}`finetuning` shows the effect of more training data.

# %% tags=["remove-input"]
Markdown(inputs.missing_note("old labels"))

# %% [markdown]
# # Fitting predictions to votes
#
# *What do the votes on other items buy?*
#
# The model with the best {term}`new accuracy` on SNLI is among the farthest from people, until a small map is fitted on
# the votes on other items. As it is, DeBERTa-v3-large has a {term}`JSD` of
# {value}`tbl-fitting dataset=snli inputs=DeBERTa-v3-large "map=as it is" jsd .3f` on SNLI; after a map that takes
# seconds to fit, {value}`tbl-fitting dataset=snli access=text inputs=DeBERTa-v3-large map=quadratic objective=jsd jsd .3f`,
# about where the same map takes ModernBERT-large, the nearest single model as it is.
#
# Nor need the model be recent: RoBERTa-large, as {cite:t}`nie2020` trained it, then has
# {value}`tbl-fitting dataset=snli access=text inputs=roberta-large map=quadratic objective=jsd jsd .3f`, the least of all
# single models on SNLI.
#
# From the text alone, all systems together reach
# {value}`tbl-fitting dataset=snli access=text "inputs=all systems" map=quadratic objective=jsd jsd .3f` on SNLI and
# {value}`tbl-fitting dataset=mnli access=text "inputs=all systems" map=quadratic objective=jsd jsd .3f` on MNLI. A second
# crowd of people is still far away: on SNLI it has
# {value}`tbl-fitting dataset=snli "map=second crowd" jsd .3f`.
#
# Training a model further on the votes buys about as much as such a map, in the one case tried ({doc}`train`). It brings MiniLM-L6, a
# small encoder, from
# {value}`tbl-fitting dataset=snli "inputs=MiniLM-L6, seed 0" "map=as it is" jsd .3f` to
# {value}`tbl-fitting dataset=snli "inputs=MiniLM-L6, vote shares, 5 folds, JSD loss, seed 0" jsd .3f` on SNLI; a map of
# twelve numbers, fitted to what the model predicted before, to
# {value}`tbl-fitting dataset=snli access=text "inputs=MiniLM-L6, seed 0" map=affine objective=jsd jsd .3f`.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, fitted and shown beside the rest
repeats: int = 2  # draws of items and votes for the learning curve
resamples: int = 1000  # bootstrap resamples of the items, for the intervals
comparisons: int = 20_000  # the same, for paired differences and their p-values
encoder: str = "MiniLM-L6"  # whose ways of learning are compared
confidence: float = 0.95  # coverage of the intervals
splits: int = 20  # splits of the items into halves, for sets of labels
seed: int = 0  # seed of draws and resamples

# %%
from IPython.display import Markdown

from chaos_utils.analyses import fitting
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.analyses.soft_labels import TARGET_COLUMNS, targets
from chaos_utils.datasets.votes import ENOUGH_VOTES
from chaos_utils.plots.fitting import plot_fitting, plot_fitting_curve
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data, predictions)
methods = fitting.methods(
    inputs,
    variants=fitting.variants(),
    n_resamples=resamples,
    confidence=confidence,
    seed=seed,
)

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# ## The maps
#
# A map takes the log-probabilities of one system, or of several side by side, to a distribution over
# the labels, and is fitted to the votes of many items:
#
# * **temperature**: one number divides the log-probabilities ({term}`temperature scaling`);
# * **affine**: any matrix and intercept. On log-probabilities this is
#   {term}`Dirichlet calibration` {cite:p}`kull2019`;
# * **quadratic**: affine in the log-probabilities, the probabilities, and all products of two of a
#   system's centred logits.
#
# For several systems, a temperature takes the mean of their log-probabilities; affine
# and quadratic {term}`stack <stacking>` them, the seeds of one model as their mean. A ridge penalty keeps weights
# small, the more so the fewer items there are. Maps are fitted for the mean JSD itself, or for KL (the cross-entropy
# with the votes). *As it is* means without any map: a system's probabilities, or the mean of
# several. With fewer than twenty votes per item, JSD and TVD reward overconfidence, so maps are fitted for KL alone
# and systems ranked by the unbiased squared distance.
#
# Every prediction is {term}`cross-fitted`: the votes on an item, and on all items with the same premise,
# story or image, are left out of the fit that predicts it. Two choices are ours, made after seeing the results of
# both: the quadratic map for the headlines, and the mean of a model's seeds in a stack. Of each encoder the largest
# training size counts as its system. Models trained on votes ({term}`soft labels`) are shown without a map: one fitted
# to their predictions would have seen the votes on the items that it is tested on.
#
# ## From the text alone

# %%
nearness = fitting.measure_names(methods.rows)
publish_figure(
    "fig-fitting",
    plot_fitting,
    methods.with_rows(fitting.drawn_rows(methods.rows)),
    caption=f"""Fitted on other items' votes, DeBERTa is no longer among the farthest from people. {nearness} out of fold (ten folds) of systems as they are, with a quadratic map that was fitted on votes,
    and with the item's old label as well: three kinds of methods that are not to be ranked together. One seed of
    each family, and all together. Bars are {100 * confidence:g}% intervals over items. Perfect model and second crowd
    as in {{doc}}`ceilings`.""",
    alt="""Dot plots with a panel for each dataset and a row for each system, whose marks a bar joins: as it is, with a map
    that was fitted on votes, and with the old label too. The marks move left from kind to kind; on SNLI and MNLI those of DeBERTa move farthest. Two lines at
    the left, perfect model and second crowd, are far from all marks.""",
)

# %% [markdown]
# ModernBERT-large may have seen the items of MNLI, and how far people agree on them. Without it the stacks have
# {value}`tbl-fitting dataset=snli access=text "inputs=all but ModernBERT-large" map=quadratic objective=jsd jsd .3f` on SNLI and
# {value}`tbl-fitting dataset=mnli access=text "inputs=all but ModernBERT-large" map=quadratic objective=jsd jsd .3f` on MNLI.
#
# A model need not be recent. On top of the {term}`base rate`, one RoBERTa-base is {term}`worth`
# {value}`tbl-fitting dataset=snli access=text "inputs=RoBERTa-base, seed 0" "map=as it is" people .1f` people on SNLI as it
# is, and {value}`tbl-fitting dataset=snli access=text "inputs=RoBERTa-base, seed 0" map=affine objective=kl people .1f` with
# an affine map fitted for KL; the stack of all systems, with a quadratic one, is worth
# {value}`tbl-fitting dataset=snli access=text "inputs=all systems" map=quadratic objective=kl people .1f`.
#
# Most of the gain is in being less sure, the rest in changing labels by different amounts. For one RoBERTa-base on
# MNLI, a temperature brings the JSD from
# {value}`tbl-fitting dataset=mnli "inputs=RoBERTa-base, seed 0" "map=as it is" jsd .3f` to
# {value}`tbl-fitting dataset=mnli "inputs=RoBERTa-base, seed 0" map=temperature objective=jsd jsd .3f`, a matrix to
# {value}`tbl-fitting dataset=mnli access=text "inputs=RoBERTa-base, seed 0" map=affine objective=jsd jsd .3f`.
#
# For RoBERTa-large, too, one number does most: a temperature fitted to the votes on other items takes its JSD to
# {value}`tbl-fitting dataset=snli access=text inputs=roberta-large map=temperature objective=jsd jsd .3f` on SNLI and
# {value}`tbl-fitting dataset=mnli access=text inputs=roberta-large map=temperature objective=jsd jsd .3f` on MNLI; an affine
# map fitted for KL makes it worth
# {value}`tbl-fitting dataset=snli access=text inputs=roberta-large map=affine objective=kl people .1f` and
# {value}`tbl-fitting dataset=mnli access=text inputs=roberta-large map=affine objective=kl people .1f` people.
#
# On αNLI there are two labels, and a temperature does nearly all. The nine models of {cite:t}`nie2020` saw no votes, so
# their gain is what votes are worth, and no ranking of models.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Every system by every map, as a table", "code_prompt_hide": "Fold the table"}
shown = fitting.by_map(methods.rows)
publish_table(
    "tbl-fitting",
    methods,
    shown=shown,
    columns=fitting.columns_of(shown),
    groups=["dataset"],
    index=["dataset", "inputs"],
    caption=f"""A temperature brings systems nearer to people; on SNLI and MNLI, a matrix brings them nearer still.
    {nearness} out of fold (ten folds), on the items that all systems predict, nearest first; one seed of each
    family, and the stacks. In brackets,
    {100 * confidence:g}% bootstrap intervals over items ({resamples:,} resamples). *Worth*: people to ask on top of the
    base rate, by the quadratic map fitted for KL. *None*: the mean vote, without any system, or that given the old
    label. The data has all seeds, both objectives, KL, TVD and accuracy, perfect model and second crowd.""",
)

# %% [markdown]
# The accuracy of the stack grows as well. On MNLI, {term}`new accuracy` rises from
# {value}`tbl-fitting dataset=mnli "inputs=all systems" "map=as it is" new_accuracy .0%` to
# {value}`tbl-fitting dataset=mnli access=text "inputs=all systems" map=quadratic objective=jsd new_accuracy .0%`.
#
# The objective matters, too. Fitted for KL, the quadratic map of the same stack on SNLI has a lower KL
# ({value}`tbl-fitting dataset=snli access=text "inputs=all systems" map=quadratic objective=kl kl .3f` instead of
# {value}`tbl-fitting dataset=snli access=text "inputs=all systems" map=quadratic objective=jsd kl .3f`) and a higher
# JSD ({value}`tbl-fitting dataset=snli access=text "inputs=all systems" map=quadratic objective=kl jsd .3f`).
#
# On αNLI, MiniLM's accuracy is little above that of a uniform guess, one half. It is
# a negative control: a map finds little in its output. By JSD, the affine map has
# {value}`tbl-fitting dataset=alphanli access=text "inputs=MiniLM-L6, seed 0" map=affine objective=jsd jsd .3f`, the best constant
# {value}`tbl-fitting dataset=alphanli access=text "map=base rate" objective=jsd jsd .3f`.
#
# ### What each system adds
#
# A stack of all systems is not the sum of what each knows. We leave each out, fit the map anew, and compare the two on
# the same items.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "What each system adds, as a table", "code_prompt_hide": "Fold the table"}
contributions = fitting.contributions(inputs, n_resamples=comparisons, seed=seed)
publish_table(
    "tbl-fitting-added",
    contributions,
    columns=fitting.contribution_columns(comparisons),
    groups=["dataset"],
    index=["dataset", "left_out"],
    caption=f"""Few systems add to the others, and on MNLI the nine models of 2020 together cost. How far the stack of all
    systems is from people when some are left out of it, minus how far it is with them: above 0, they add. {nearness}, by
    the quadratic map out of fold (ten folds). In brackets, 95% intervals over items ({comparisons:,} resamples), the
    fits held fixed; *p* is adjusted (Holm) for all that are left out on a dataset.""",
) if len(contributions) else Markdown("*There are no two families of systems to stack.*")

# %% [markdown]
# On SNLI, DeBERTa-v3-large, ModernBERT-large and RoBERTa-large each add something that no other system has
# ({numref}`tbl-fitting-added`), and the nine of {cite:t}`nie2020` together add
# {value}`tbl-fitting-added dataset=snli "left_out=those of Nie et al. 2020" value .4f`. On MNLI only the two encoders of
# today add, and the nine together cost
# ({value}`tbl-fitting-added dataset=mnli "left_out=those of Nie et al. 2020" value .4f`), perhaps because a map of more
# systems has more weights to fit; with as many weights, they add on SNLI. On αNLI, ALBERT-xxlarge and RoBERTa-large add. Seeds of the RoBERTa
# and BERT that were trained on SNLI alone add nothing that shows.
#
# ## With the old label
#
# An item's {term}`old label` can be an input as well: as an indicator for each label, and times the
# log-probabilities, so that a map may differ from label to label. Methods with it know one human
# answer to the very item (the majority of five or, on αNLI, the way the item was written), and are not ranked with
# those that do not.
#
# The old label and the systems complement each other. With it the stacks reach
# {value}`tbl-fitting dataset=snli "access=old label" "inputs=all systems" map=quadratic objective=jsd jsd .3f` on SNLI,
# {value}`tbl-fitting dataset=mnli "access=old label" "inputs=all systems" map=quadratic objective=jsd jsd .3f` on MNLI and
# {value}`tbl-fitting dataset=alphanli "access=old label" "inputs=all systems" map=quadratic objective=jsd jsd .3f` on αNLI.
# What is read in the text is worth more than the label on SNLI and MNLI; on αNLI the label alone says about as much as
# all {value}`tbl-fitting dataset=alphanli "inputs=all systems" "map=as it is" n_systems d` models.

# %% tags=["remove-input"]
Markdown(inputs.missing_note("old labels"))

# %% [markdown]
# ## How many items, how many votes
#
# How much labelling does a map take? Here it is fitted on fewer items of the other folds, with fewer votes on
# each, and always judged by all votes on the items that it did not see.

# %%
curve = fitting.curve(inputs, repeats=repeats, seed=seed)
publish_figure(
    "fig-fitting-curve",
    plot_fitting_curve,
    curve.with_rows(fitting.drawn_curve_rows(curve.rows)),
    caption=f"""Twenty votes on each item do nearly as well as a hundred. The quadratic map on all
    systems, fitted on fewer items of the other folds, with fewer votes on each (drawn without
    replacement). {nearness}; fitted for JSD from
    {ENOUGH_VOTES} votes on, for KL below, where the JSD to a few votes misleads. Means over
    {repeats} draws; every fold draws its own items.""",
    alt="""Line plots with a panel for each dataset: JSD against the number of labelled items on a
    logarithmic axis, a line for each number of votes on an item. All lines fall and flatten. Those of
    twenty and a hundred votes lie close together; fewer votes lie higher, most so where items are few.""",
) if len(curve) else None

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Raw and shrunken shares as targets, as a table", "code_prompt_hide": "Fold the table"}
learnt = targets(inputs, repeats=repeats, seed=seed)
publish_table(
    "tbl-soft-labels",
    learnt,
    columns=TARGET_COLUMNS,
    groups=["dataset"],
    caption=f"""Few votes' shares are better learnt raw than shrunken, though these are nearer to people: raw shares are unbiased,
    and a map learns to shrink by itself. Squared distances, without bias: of the shares of
    few votes, raw or as a prior expects them, from the other votes; and of an affine map of all systems, fitted to
    these shares for KL, from all votes on items of other folds. Means over {repeats} draws of the votes; in brackets, 95%
    intervals over items.""",
) if len(learnt) else None

# %% [markdown]
# With all items of the other folds, five votes on each, as many as the AmbiNLI of {cite:t}`meissner2021`
# takes from SNLI and MNLI, give
# {value}`fig-fitting-curve dataset=mnli whole=true n_votes=5 distance .3f` on MNLI; a hundred give
# {value}`fig-fitting-curve dataset=mnli whole=true n_votes=100 distance .3f`. Little of that is the objective: fitted for KL,
# as five votes must be, a hundred still give
# {value}`tbl-fitting dataset=mnli access=text "inputs=all systems" map=quadratic objective=kl jsd .3f`.
#
# For the same number of votes, more items are better than more votes on each, down to about five; below that nothing
# is gained. A
# thousand votes on SNLI give {value}`fig-fitting-curve dataset=snli n_fitted=50 n_votes=20 distance .3f` as 50
# items with twenty, {value}`fig-fitting-curve dataset=snli n_fitted=200 n_votes=5 distance .3f` as 200 items
# with five, and {value}`fig-fitting-curve dataset=snli n_fitted=1000 n_votes=1 distance .3f` as 1,000 items with
# one.
#
# ## Does a map carry over?
#
# Only in part. SNLI and MNLI, which have the same labels, can lend each other their maps, and much of the gain is lost.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Maps that are carried over, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-fitting-pooled",
    fitting.carried_over(inputs.pooled()),
    columns=fitting.CARRIED_COLUMNS,
    caption="""A map belongs to its dataset. JSD of the mean of the systems that predict both datasets, and of their
    quadratic map, fitted on the other dataset alone. {numref}`tbl-fitting` has a map
    fitted on the same one; on SNLI its stack has BERT-base's two seeds as well.""",
)

# %% [markdown]
# On SNLI nearly all of the gain is lost ({numref}`tbl-fitting-pooled`), on MNLI about half, where a map of its own brings the
# stack to {value}`tbl-fitting dataset=mnli access=text "inputs=all systems" map=quadratic objective=jsd jsd .3f`. Part of
# what a map learns may be how one dataset's items were chosen. Fifty items of the dataset itself, with twenty votes on
# each, give more ({numref}`fig-fitting-curve`).
#
# ## Which labels to show
#
# Where a person needs a few labels rather than probabilities, show those to which the prediction gives at least some
# probability. How much, can be set on items with votes so that the {term}`sets <label set>` hold a stated share of the
# votes on new items (split conformal prediction {cite:p}`sadinle2019,angelopoulos2024`).

# %%
sets = fitting.label_sets(inputs, n_splits=splits, seed=seed)
publish_table(
    "tbl-label-sets",
    sets,
    shown=fitting.shown_sets(sets.rows),
    columns=fitting.SETS_COLUMNS,
    groups=["dataset"],
    caption=f"""From all systems together, sets that hold nine of ten new votes have fewer than two labels; where people
    disagree most, they hold fewer votes. *90% of new votes*: of all votes on items that the threshold has not seen, 90% fall in the sets. *90% of the votes on 90% of
    items*: so many items have a set that holds so many of their votes. *Labels*: mean size of a set; *held*: how many of
    the votes, or of the items. Predictions are fitted on other texts,
    thresholds on half of the texts for the other half, means over {splits} splits. *Most disputed fifth*: by the
    entropy of the votes. The single system is the one with the smallest sets, recalibrated; *the votes themselves* stand as if they were a
    prediction. The data has all systems.""",
)

# %% [markdown]
# Offer the sets for a new vote: they are small, with
# {value}`tbl-label-sets dataset=snli "system=all systems" new_vote_size .2f` labels on SNLI and
# {value}`tbl-label-sets dataset=mnli "system=all systems" new_vote_size .2f` on MNLI for all systems together, and they hold what
# they promise also if the other items have few votes each. Sets that are to hold most of an item's votes need
# {value}`tbl-label-sets dataset=snli "system=all systems" most_votes_size .2f` and
# {value}`tbl-label-sets dataset=mnli "system=all systems" most_votes_size .2f`, where sets from the votes themselves
# need a little less ({value}`tbl-label-sets dataset=snli "system=the votes themselves" most_votes_size .2f` and
# {value}`tbl-label-sets dataset=mnli "system=the votes themselves" most_votes_size .2f`).
#
# We do not promise 90% for a disputed item. In the fifth of the MNLI items that divides people most, sets for a new
# vote hold {value}`tbl-label-sets dataset=mnli "system=all systems" new_vote_held_disputed .0%` of the votes, and those for
# most votes hold them on {value}`tbl-label-sets dataset=mnli "system=all systems" most_votes_held_disputed .0%` of the items.
#
# ## Other ways to learn distributions
#
# A model's confidence can also be changed without votes, its targets softened during training, its runs averaged; or it
# can be trained further on votes. We compare these on one encoder, MiniLM-L6. Four ways need nothing but training labels:
#
# * *T = 2*, the {term}`temperature` in the code that {cite:t}`baan2022` released;
# * *{term}`label smoothing`*: targets that give some of their mass to all labels alike, here a tenth;
# * *{term}`MC dropout`*: the average over ten passes through the network with dropout left on;
# * *{term}`seed ensemble`*: the average over three seeds.
#
# *{term}`Soft labels`* use ChaosNLI's votes: they train its first seed further on the vote shares of the other folds, until
# an inner fold says when to stop, by the cross-entropy or by the JSD itself (*JSD loss*). {doc}`calibration` compares
# temperatures that are fitted to labels.

# %%
training_rows = fitting.drawn_training_rows(methods.rows, encoder)
publish_figure(
    "fig-distribution-learning",
    plot_fitting,
    methods.with_rows(training_rows),
    caption=f"""Once a map is fitted on other items' votes, how MiniLM was trained hardly matters. {nearness} of its
    first seed, of the mean of its seeds, and of runs that learned or predict otherwise: as they are, and with a quadratic
    map. *Vote shares*: trained on votes, without a map. Marks and intervals are as in {{numref}}`fig-fitting`.""",
    alt="""Dot plots with a panel for each dataset and a row for each way, whose marks a bar joins: as it is, and with a map
    that was fitted on votes. On SNLI and MNLI the marks with a map stand one below the other, at the left, and soft labels
    with them or right of them; on αNLI all marks lie together. Perfect model and second crowd are far to the left.""",
) if len(training_rows) else Markdown(
    "*No runs of ours predict these items: there is nothing to compare.*"
)

# %% [markdown]
# Without votes, the best way on MNLI is the simplest: a temperature of 2, with a JSD of
# {value}`tbl-fitting dataset=mnli "inputs=MiniLM-L6, seed 0" "map=T = 2" jsd .3f`, where a uniform guess has
# {value}`tbl-main-results dataset=mnli system=chance jsd .3f`. On SNLI the same temperature changes nothing, while label
# smoothing and dropout gain a hundredth or less. On αNLI all ways stay near the uniform guess, whose JSD is
# {value}`tbl-main-results dataset=alphanli system=chance jsd .2f`; another encoder helps more there.
#
# KL ranks the ways differently, since it punishes confident mistakes: on SNLI, a temperature of 2 alone lowers it from
# {value}`tbl-fitting dataset=snli "inputs=MiniLM-L6, seed 0" "map=as it is" kl .2f` to
# {value}`tbl-fitting dataset=snli "inputs=MiniLM-L6, seed 0" "map=T = 2" kl .2f`, and soft labels to
# {value}`tbl-fitting dataset=snli "inputs=MiniLM-L6, vote shares, 5 folds, seed 0" kl .2f`, about as low as a map that
# is fitted for KL.
#
# Temperatures leave the order of the labels as it is, and with it accuracy. Soft labels and maps change it: on MNLI,
# soft labels raise {term}`new accuracy` from
# {value}`tbl-fitting dataset=mnli "inputs=MiniLM-L6, seed 0" "map=as it is" new_accuracy .0%` to
# {value}`tbl-fitting dataset=mnli "inputs=MiniLM-L6, vote shares, 5 folds, seed 0" new_accuracy .0%`, a quadratic map to
# {value}`tbl-fitting dataset=mnli access=text "inputs=MiniLM-L6, seed 0" map=quadratic objective=jsd new_accuracy .0%`.
#
# ## Fit it to your model
#
# A map needs votes on some hundred items, and the probabilities of the systems for these and for the new items; no
# text, no training and no GPU. Your predictions, in any format that {doc}`../your_model` explains, are fitted by every map,
# alone and stacked with all others, and shown among them:
#
# ```console
# $ chaos run fitting -p predictions=my-model.csv
# $ chaos run fitting -p data=my-votes.csv -p predictions=my-model.csv
# ```
#
# In Python, `fit_map(log_probabilities(probabilities), shares, kind="quadratic")` of `chaos_utils.scoring.fitting`
# fits a map to the predictions of some items and the vote shares on them, and `predict` of what it returns takes the
# `log_probabilities` of new items. Several systems are stacked along the second of three axes; `predict_out_of_fold` does
# what this page does.
#
# ## Limitations
#
# * A map needs votes on items like those that it will be used on, and learns how these were chosen:
#   ChaosNLI holds items of SNLI and MNLI whose old votes were split.
# * On MNLI, all systems are judged on the items that every one of them predicts
#   ({value}`tbl-fitting dataset=mnli "inputs=all systems" "map=as it is" n_items ,d`). The RoBERTa and BERT of
#   {cite:t}`baan2022` were trained on SNLI alone, the nine of {cite:t}`nie2020` on SNLI and MNLI, DeBERTa on MNLI and others, ours on SNLI and MNLI, pairs
#   which their encoders had met before.
# * Sizes, training data and seeds differ between the models, so nothing here says what makes one nearer. Intervals are
#   over items, with systems and folds as they are: another training seed may reverse a small difference.
# * The ways of learning are compared on MiniLM-L6 alone, which is none of the nine models of {cite:t}`nie2020`. A map
#   learns from nine tenths of the items; soft labels, with five folds and an inner one, from seven tenths. Label
#   smoothing was trained by an earlier version of the code than the first seed, so that a part of its difference may be
#   that of another training.

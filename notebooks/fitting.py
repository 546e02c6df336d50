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
# # What fitting on votes buys
#
# The model with the best {term}`new accuracy` on SNLI is among the furthest from people, until a small map is fitted on
# the votes on other items. As it is, DeBERTa-v3-large has a {term}`JSD` of
# {value}`tbl-fitting dataset=snli inputs=DeBERTa-v3-large "map=as it is" jsd .3f` on SNLI and
# {value}`tbl-fitting dataset=mnli inputs=DeBERTa-v3-large "map=as it is" jsd .3f` on MNLI; after a map that takes
# seconds to fit, {value}`tbl-fitting dataset=snli inputs=DeBERTa-v3-large map=quadratic objective=jsd jsd .3f` and
# {value}`tbl-fitting dataset=mnli inputs=DeBERTa-v3-large map=quadratic objective=jsd jsd .3f`, about where the
# same map takes ModernBERT-large, the nearest single model on SNLI as it is.
#
# From the text alone, all available systems together reach
# {value}`tbl-fitting dataset=snli "inputs=all systems" map=chosen jsd .3f` on SNLI, where the best published model
# has {value}`tbl-fitting dataset=snli map=published jsd .3f`, and
# {value}`tbl-fitting dataset=mnli "inputs=all systems" map=chosen jsd .3f` on MNLI, against
# {value}`tbl-fitting dataset=mnli map=published jsd .3f`. ModernBERT-large may have seen the items of MNLI; without
# it the stacks have {value}`tbl-fitting dataset=snli "inputs=all but ModernBERT-large" map=chosen jsd .3f` and
# {value}`tbl-fitting dataset=mnli "inputs=all but ModernBERT-large" map=chosen jsd .3f`.
#
# On αNLI the nine published models are among the systems: one temperature takes ALBERT-xxlarge from
# {value}`tbl-fitting dataset=alphanli inputs=albert-xxlarge "map=as it is" jsd .3f` to
# {value}`tbl-fitting dataset=alphanli inputs=albert-xxlarge map=temperature objective=jsd jsd .3f`, and all together
# reach {value}`tbl-fitting dataset=alphanli "inputs=all systems" map=chosen jsd .3f`. As published they saw no
# votes, so this is what votes are worth, and no ranking of models.
#
# An item's {term}`old label` adds to what models read. With it the stacks come to
# {value}`tbl-fitting-old-label dataset=snli "inputs=all systems" map=chosen jsd .3f` on SNLI,
# {value}`tbl-fitting-old-label dataset=mnli "inputs=all systems" map=chosen jsd .3f` on MNLI and
# {value}`tbl-fitting-old-label dataset=alphanli "inputs=all systems" map=chosen jsd .3f` on αNLI. A second crowd has
# {value}`tbl-fitting dataset=snli "map=second crowd" jsd .3f`,
# {value}`tbl-fitting dataset=mnli "map=second crowd" jsd .3f` and
# {value}`tbl-fitting dataset=alphanli "map=second crowd" jsd .3f`.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, fitted and shown beside the rest
folds: int = 10  # folds by premise, story and image
repeats: int = 2  # draws of items and votes for the learning curve
resamples: int = 1000  # bootstrap resamples of the items, for the intervals
confidence: float = 0.95  # coverage of the intervals
seed: int = 0  # seed of folds, draws and resamples

# %%
from IPython.display import Markdown

from chaos_utils.analyses import fitting
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.datasets.votes import ENOUGH_VOTES
from chaos_utils.plots.fitting import plot_fitting, plot_fitting_curve
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table

material = gather(data, predictions)
methods = fitting.methods(
    material,
    variants=fitting.variants(),
    n_folds=folds,
    n_resamples=resamples,
    confidence=confidence,
    seed=seed,
)
has_old_labels = methods.rows["access"] == "old label"

# %% tags=["remove-input"]
Markdown(notices(material))

# %% [markdown]
# ## The maps
#
# A map takes the log-probabilities of one system, or of several side by side, to a distribution over
# the labels, and is fitted to the votes of many items:
#
# * **temperature**: one number divides the log-probabilities ({term}`temperature scaling`);
# * **vector**: a weight for each label, and an intercept;
# * **isotonic**: for each label by itself, the rising step function of its probability that is nearest
#   to the votes {cite:p}`zadrozny2002`, then divided by their sum;
# * **affine**: any matrix and intercept. On log-probabilities this is
#   {term}`Dirichlet calibration` {cite:p}`kull2019`;
# * **quadratic**: affine in the log-probabilities, the probabilities, and all products of two of a
#   system's centred logits.
#
# For several systems, temperature, vector and isotonic take the mean of their log-probabilities; affine
# and quadratic {term}`stack <stacking>` them. Where several models are stacked, the seeds of one enter as the mean
# of their log-probabilities. A ridge penalty keeps weights small, the more so the fewer
# items there are. Maps are fitted for KL (the cross-entropy with the votes) or for the mean JSD itself;
# isotonic has no such choice. *As it is* means without any map: a system's probabilities, or the mean of
# several. To fewer than twenty votes per item, JSD and TVD reward overconfidence: such votes are fitted
# for KL alone, and rank by the unbiased squared distance.
#
# Every prediction is {term}`cross-fitted`: the votes on an item, and on all items with the same premise,
# story or image, are left out of the fit that predicts it. For a stack we let folds *within* the fitted
# items choose between affine and quadratic and among five penalties, so that neither is chosen with
# the predicted items in sight. Such a map is called *chosen*, and our headline is its score.
#
# Of each encoder the largest training size counts as its system, with all its seeds. Label smoothing and
# {term}`MC dropout` make systems of their own, in no stack. Models trained on votes
# ({term}`soft labels`) are shown without a map: what they predict of the items that a map would be
# fitted on comes from the votes on the item that it then predicts.
#
# ## From the text alone

# %%
of_text = methods.where(~has_old_labels)
nearness = fitting.in_words(methods.rows)
shown = fitting.shown(methods.rows, "text")
publish_table(
    "tbl-fitting",
    of_text,
    shown=shown,
    columns=fitting.columns_of(shown),
    groups=["dataset"],
    caption=f"""Maps fitted on votes bring systems closer to people. Out of fold ({folds} folds), on the
    items that all systems predict, nearest first; one seed of each family and the stacks. In brackets,
    {100 * confidence:g}% bootstrap intervals over items ({resamples:,} resamples). *Base rate*: the mean
    vote, without any system. *Worth*: people to ask on top of the base rate. The data
    has all systems, maps and objectives, perfect model, second crowd and the best published model.""",
)

# %% [markdown]
# A model need not be of today. One RoBERTa-base with an affine map already has
# {value}`tbl-fitting dataset=snli "inputs=RoBERTa-base, seed 0" map=affine objective=jsd jsd .3f` on SNLI
# and {value}`tbl-fitting dataset=mnli "inputs=RoBERTa-base, seed 0" map=affine objective=jsd jsd .3f` on
# MNLI, which it was not trained on. On top of the {term}`base rate`, the full stack is {term}`worth`
# {value}`tbl-fitting dataset=snli "inputs=all systems" map=chosen people .1f` people on
# SNLI, where that RoBERTa as it is is worth
# {value}`tbl-fitting dataset=snli "inputs=RoBERTa-base, seed 0" "map=as it is" people .1f`
# ({numref}`tbl-fitting`).
#
# The accuracy of the stack grows as well. On MNLI, {term}`new accuracy` rises from
# {value}`tbl-fitting dataset=mnli "inputs=all systems" "map=as it is" new_accuracy .0%` to
# {value}`tbl-fitting dataset=mnli "inputs=all systems" map=chosen new_accuracy .0%`.
# A temperature leaves a single system's accuracy as it is, since it keeps the order of its labels.
#
# What is fitted for matters, too. Fitted for KL, the quadratic map of the same stack on SNLI has a lower KL
# ({value}`tbl-fitting dataset=snli "inputs=all systems" map=quadratic objective=kl kl .3f` instead of
# {value}`tbl-fitting dataset=snli "inputs=all systems" map=quadratic objective=jsd kl .3f`) and a higher
# JSD ({value}`tbl-fitting dataset=snli "inputs=all systems" map=quadratic objective=kl jsd .3f`).

# %%
publish_figure(
    "fig-fitting",
    plot_fitting,
    methods.having(fitting.drawn(methods.rows)),
    caption=f"""Fitted on other items' votes, DeBERTa is among the nearest to people; as it is, among the
    furthest. {nearness} out of fold, a row for each
    system, in three states that are not to be ranked together: without any votes, fitted on
    votes, and fitted on votes with the item's old label as well. Single systems by the affine map, all
    together by the map that inner folds choose. Bars
    are {100 * confidence:g}% intervals over items. Hollow: the best model of {{cite:t}}`nie2020`, where its
    predictions are not available. Perfect model and second crowd as in {{doc}}`ceilings`.""",
    alt="""Dot plots with a panel for each dataset and a row for each system, whose marks a bar joins: as
    it is, with a map that was fitted on votes, and, for all systems together, with the old label too. Fitted
    marks lie left of those as they are; on SNLI and MNLI, DeBERTa's bar is the longest of a
    system. Two lines at the left, perfect model and second crowd, are far from all marks.""",
)

# %% [markdown]
# On αNLI, MiniLM's accuracy is little above that of a uniform guess, one half
# ({value}`tbl-fitting dataset=alphanli "inputs=MiniLM-L6, seed 0" "map=as it is" new_accuracy .0%`). It is
# a negative control: a map finds little in its output. By JSD, the affine map has
# {value}`tbl-fitting dataset=alphanli "inputs=MiniLM-L6, seed 0" map=affine objective=jsd jsd .3f`, the best constant
# {value}`tbl-fitting dataset=alphanli "map=base rate" objective=jsd jsd .3f`; mapped, it is worth
# {value}`tbl-fitting dataset=alphanli "inputs=MiniLM-L6, seed 0" map=affine objective=jsd people .1f` people.
#
# ## Each system by each map

# %%
maps = fitting.by_map(methods)
result = None
if len(maps):
    result = publish_table(
        "tbl-fitting-maps",
        maps,
        columns=fitting.MAP_COLUMNS,
        groups=["dataset"],
        caption=f"""A temperature does most for models that are too sure; changing labels by different amounts does
        the rest. {nearness} from the text alone, out
        of fold; maps but the isotonic one are fitted for JSD, and for KL where votes are few. Seeds, their ensembles, label smoothing and
        MC dropout each by themselves. Intervals are in the data of the first table.""",
    )
result

# %% [markdown]
# For one RoBERTa-base on MNLI, a temperature brings the JSD from
# {value}`tbl-fitting-maps dataset=mnli "inputs=RoBERTa-base, seed 0" as_it_is .3f` to
# {value}`tbl-fitting-maps dataset=mnli "inputs=RoBERTa-base, seed 0" temperature .3f`, a weight and an
# intercept for each label to {value}`tbl-fitting-maps dataset=mnli "inputs=RoBERTa-base, seed 0" vector .3f`,
# and a whole matrix adds little: {value}`tbl-fitting-maps dataset=mnli "inputs=RoBERTa-base, seed 0" affine .3f`
# ({numref}`tbl-fitting-maps`). On αNLI there are two labels, and a temperature does nearly all:
# {value}`tbl-fitting-maps dataset=alphanli inputs=roberta-large temperature .3f` for RoBERTa-large, where
# it has {value}`tbl-fitting-maps dataset=alphanli inputs=roberta-large as_it_is .3f` as it is. Isotonic steps, one label at a time, give
# {value}`tbl-fitting-maps dataset=mnli "inputs=RoBERTa-base, seed 0" isotonic .3f`. Stacking all systems brings that to
# {value}`tbl-fitting-maps dataset=mnli "inputs=all systems" affine .3f`.
#
# ## With the old label
#
# An item's {term}`old label` can be an input as well: as an indicator for each label, and times the
# log-probabilities, so that a map may differ from label to label. Methods with it know one human
# answer to the very item, and are not ranked with those that do not.

# %%
result = Markdown(material.left_out("old labels"))
if has_old_labels.any():
    result = publish_table(
        "tbl-fitting-old-label",
        methods.where(has_old_labels),
        shown=fitting.shown(methods.rows, "old label"),
        columns=fitting.columns_of(fitting.shown(methods.rows, "old label")),
        groups=["dataset"],
        caption="""The old label and the systems add to each other. As the table from the text alone; here
        each item's old label is an input too, by itself and times the log-probabilities. *Base rate*: the
        mean vote given the old label, fitted for the same objective.""",
    )
result

# %% [markdown]
# An old label is the majority of five or, on αNLI, the way the item was written, for the very item that is predicted.
# With base
# rates alone it is worth
# {value}`tbl-fitting-old-label dataset=mnli "map=base rate" objective=jsd people .1f` people on MNLI; all
# that our systems read in the text is worth
# {value}`tbl-fitting dataset=mnli "inputs=all systems" map=chosen people .1f`. The JSD of
# the text differs by
# {value}`tbl-fitting dataset=mnli "inputs=all systems" map=chosen difference .3f`, from
# {value}`tbl-fitting dataset=mnli "inputs=all systems" map=chosen difference_low .3f` to
# {value}`tbl-fitting dataset=mnli "inputs=all systems" map=chosen difference_high .3f`. On αNLI the label alone says
# about as much as all {value}`tbl-fitting dataset=alphanli "inputs=all systems" map=chosen n_systems d` models:
# {value}`tbl-fitting-old-label dataset=alphanli "map=base rate" objective=jsd jsd .3f`
# against {value}`tbl-fitting dataset=alphanli "inputs=all systems" map=chosen jsd .3f`.
#
# ## How many items, how many votes
#
# How much labelling does a map take? Here it is fitted on fewer items of the other folds, with fewer votes on
# each, and always judged by all votes on the items that it did not see.

# %%
curve = fitting.curve(material, n_folds=folds, repeats=repeats, seed=seed)
result = None
if len(curve):
    result = publish_figure(
        "fig-fitting-curve",
        plot_fitting_curve,
        curve.having(fitting.curve_drawn(curve.rows)),
        caption=f"""Twenty votes on each item do nearly as well as a hundred. The quadratic map on all
        systems, fitted on fewer items of the other folds, with fewer votes on each (drawn without
        replacement). {nearness}; fitted for JSD from
        {ENOUGH_VOTES} votes on, for KL below, where the JSD to a few votes misleads. Means over
        {repeats} draws; every fold draws its own items.""",
        alt="""Line plots with a panel for each dataset: JSD against the number of labelled items on a
        logarithmic axis, a line for each number of votes on an item. All lines fall and flatten. Those of
        twenty and a hundred votes lie close together; fewer votes lie higher, most so where items are few.""",
    )
result

# %% [markdown]
# With all items of the other folds, five votes on each, as many as the AmbiNLI of {cite:t}`meissner2021`
# takes from SNLI and MNLI, give
# {value}`fig-fitting-curve dataset=snli whole=true n_votes=5 jsd .3f` on SNLI and
# {value}`fig-fitting-curve dataset=mnli whole=true n_votes=5 jsd .3f` on MNLI; a hundred give
# {value}`fig-fitting-curve dataset=snli whole=true n_votes=100 jsd .3f` and
# {value}`fig-fitting-curve dataset=mnli whole=true n_votes=100 jsd .3f`. Much of that is the objective: fitted for KL
# as five votes must be, a hundred give
# {value}`tbl-fitting dataset=snli "inputs=all systems" map=quadratic objective=kl jsd .3f` and
# {value}`tbl-fitting dataset=mnli "inputs=all systems" map=quadratic objective=kl jsd .3f`.
#
# For the same number of votes, more items are better than more votes on each, here down to a single one. A
# thousand votes on SNLI give {value}`fig-fitting-curve dataset=snli n_fitted=50 n_votes=20 jsd .3f` as 50
# items with twenty, {value}`fig-fitting-curve dataset=snli n_fitted=200 n_votes=5 jsd .3f` as 200 items
# with five, and {value}`fig-fitting-curve dataset=snli n_fitted=1000 n_votes=1 jsd .3f` as 1,000 items with
# one; on MNLI these are {value}`fig-fitting-curve dataset=mnli n_fitted=50 n_votes=20 jsd .3f`,
# {value}`fig-fitting-curve dataset=mnli n_fitted=200 n_votes=5 jsd .3f` and
# {value}`fig-fitting-curve dataset=mnli n_fitted=1000 n_votes=1 jsd .3f`. Where two hundred items can be
# labelled by twenty people each, SNLI is at
# {value}`fig-fitting-curve dataset=snli n_fitted=200 n_votes=20 jsd .3f` already.
#
# ## One map for two datasets
#
# Datasets that are pooled elsewhere in this book can share a map, or lend it to each other.

# %%
pooling = fitting.pooling(material.pooled(), n_folds=folds, seed=seed)
result = None
if len(pooling):
    result = publish_table(
        "tbl-fitting-pooled",
        pooling,
        columns=fitting.POOL_COLUMNS,
        caption="""A map belongs to its dataset. JSD of maps that are fitted for it on the same dataset,
        on both together without being given which is which, and on the other one alone; out of fold, with
        the systems that predict both.""",
    )
result

# %% [markdown]
# Pooled, the quadratic map has {value}`tbl-fitting-pooled judged_on=snli access=text map=quadratic jsd_pooled .3f`
# instead of {value}`tbl-fitting-pooled judged_on=snli access=text map=quadratic jsd_each .3f` on SNLI and
# {value}`tbl-fitting-pooled judged_on=mnli access=text map=quadratic jsd_pooled .3f` instead of
# {value}`tbl-fitting-pooled judged_on=mnli access=text map=quadratic jsd_each .3f` on MNLI. Carried over from
# the other dataset it has {value}`tbl-fitting-pooled judged_on=snli access=text map=quadratic jsd_other .3f` and
# {value}`tbl-fitting-pooled judged_on=mnli access=text map=quadratic jsd_other .3f`; the mean of the same
# systems without a map has {value}`tbl-fitting-pooled judged_on=snli "map=as it is" jsd_each .3f` and
# {value}`tbl-fitting-pooled judged_on=mnli "map=as it is" jsd_each .3f`. Part of what a map learns may be how one dataset's items were chosen. Fifty
# items of the dataset itself, with twenty votes on each, give more:
# {value}`fig-fitting-curve dataset=snli n_fitted=50 n_votes=20 jsd .3f` and
# {value}`fig-fitting-curve dataset=mnli n_fitted=50 n_votes=20 jsd .3f`.
#
# ## What our choices cost

# %%
choices = fitting.choices(material, n_folds=folds, seed=seed)
result = None
if len(choices):
    result = publish_table(
        "tbl-fitting-choices",
        choices,
        shown=fitting.with_distance(choices.rows),
        columns=fitting.CHOICE_COLUMNS,
        caption=f"""Neither the penalty nor the folds matter much. {nearness} from the text alone of the quadratic
        map on all systems.""",
    )
result

# %% [markdown]
# Inner folds choose the headline's map. One choice is ours, made after seeing the results of both: a stack of several
# models takes the mean of a model's seeds instead of each seed. The quadratic map with one penalty for all, as elsewhere on this
# page, does as well: over a hundredfold range of penalties and three ways to deal the folds, the JSD stays between
# {value}`tbl-fitting-choices dataset=snli min:jsd .3f` and
# {value}`tbl-fitting-choices dataset=snli max:jsd .3f` on SNLI and between
# {value}`tbl-fitting-choices dataset=mnli min:jsd .3f` and
# {value}`tbl-fitting-choices dataset=mnli max:jsd .3f` on MNLI.
#
# ## What the recipe needs
#
# Votes on some hundred items, and the probabilities of the systems for these and for the new items; no
# text, no training and no GPU. On one core of a laptop's class, choosing and fitting the map for all
# systems takes less than a CPU-second on SNLI and two with the old label; with ten outer folds around it, about
# six and twenty-two. This whole page takes about three CPU-minutes.
#
# ## Fit it to your model
#
# Your predictions, in any format that {doc}`../your_model` explains, are fitted by every map, alone and stacked
# with all others, and shown among them:
#
# ```console
# $ chaos run fitting -p predictions=my-model.csv
# $ chaos run fitting -p data=my-votes.csv -p predictions=my-model.csv
# ```
#
# In Python, a map that was fitted on items with votes predicts items without:
#
# ```python
# from chaos_utils.scoring.fitting import choose_map, fit_map, log_probabilities
#
# logs = log_probabilities(probabilities)
# kind, penalty = choose_map(logs, shares, groups)
# fitted = fit_map(logs, shares, kind=kind, penalty=penalty)
# predicted = fitted.predict(log_probabilities(new_probabilities))
# ```
#
# `probabilities` has a row for each item, `shares` the vote shares of the same items; several systems are
# stacked along the second of three axes. `groups` numbers what items share, such as a premise: an item's row
# number if nothing, else what `item_groups` gives. `predict_nested` does what this page does.
#
# ## Limitations
#
# * A map needs votes on items like those that it will be used on, and learns how these were chosen.
#   ChaosNLI holds items of SNLI and MNLI whose old votes were split; carried over even between
#   these two, the map loses all of its gain on SNLI
#   ({value}`tbl-fitting-pooled judged_on=snli access=text map=quadratic jsd_other .3f`) and about half of it on MNLI
#   ({value}`tbl-fitting-pooled judged_on=mnli access=text map=quadratic jsd_other .3f`).
# * On MNLI, all systems are judged on the items that every one of them predicts
#   ({value}`tbl-fitting dataset=mnli "inputs=all systems" map=quadratic objective=jsd n_items ,d`), the best
#   published model on all of them ({value}`tbl-fitting dataset=mnli map=published n_items ,d`). The released
#   RoBERTa and BERT were trained on SNLI alone, DeBERTa on MNLI and others, ours on SNLI and MNLI, pairs that
#   their encoders had already met in contrastive pretraining. All of this is training data; ChaosNLI's items come
#   from the development sets. ModernBERT may have seen those of MNLI with how far people agree on them, as its
#   makers' list of training tasks names them.
# * Sizes, training data and seeds differ between the models, so nothing here says what makes one nearer.
# * Intervals are over items, with systems and folds as they are. They say nothing of other training seeds.
# * A stack needs the predictions of all its systems for every new item.

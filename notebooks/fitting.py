# %% [markdown]
# # Repairing predictions with few votes
#
# *What can I do with a few votes?*
#
# **Five votes on each of a hundred items are enough to fit one number that models need on SNLI and MNLI: how far to
# shrink their probabilities towards the {term}`base rate`.** On MNLI this takes RoBERTa-large from
# {value}`tbl-fitting-shrunk dataset=mnli system=roberta-large misplaced .0f` misplaced votes of a hundred to
# {value}`tbl-fitting-shrunk dataset=mnli system=roberta-large shrunk .0f`; the base rate alone misplaces
# {value}`tbl-fitting-shrunk dataset=mnli "system=base rate" shrunk .0f`. A map of twelve numbers, fitted on the votes
# on other items, takes DeBERTa-v3-large from
# {value}`tbl-misplaced dataset=mnli system=DeBERTa-v3-large "how=as it is" misplaced .0f` to
# {value}`tbl-misplaced dataset=mnli system=DeBERTa-v3-large how=recalibrated misplaced .0f` and makes it {term}`worth`
# {value}`tbl-human-equivalents dataset=mnli system=DeBERTa-v3-large measure=people_on_top_recalibrated value .1f`
# people: on top of the base rate, it says as much as that many people's votes would. A second crowd misplaces
# {value}`tbl-misplaced dataset=mnli "system=second crowd" misplaced .0f`.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, fitted and shown beside the rest
few_items: int = 100  # labelled items that shrink a system
few_votes: int = 5  # votes on each of these, at least two
draws: int = 100  # draws of these items and votes
repeats: int = 2  # draws of items and votes for the learning curve
resamples: int = 1000  # bootstrap resamples of the items, for the intervals
comparisons: int = 20_000  # the same, for paired differences and their p-values
encoder: str = "MiniLM-L6"  # a small encoder of ours that figures show, as a negative control
confidence: float = 0.95  # coverage of the intervals
splits: int = 20  # splits of the items into halves, for sets of labels
seed: int = 0  # seed of draws and resamples

# %%
from IPython.display import Markdown

from chaos_utils.analyses import fitting, shrinking
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import are_our_own, notices
from chaos_utils.analyses.soft_labels import TARGET_COLUMNS, targets
from chaos_utils.datasets.votes import ENOUGH_VOTES
from chaos_utils.plots.fitting import plot_fitting, plot_fitting_curve
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data, predictions)

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# ## One number from five hundred votes
#
# Models trained on one label per item are too sure of it. To shrink a model, mix each prediction with the base rate, how
# often people give each label overall. One number sets the proportions of the mix, and fitting it takes few votes. We
# draw a hundred items with five votes each, estimate the base rate and the number from these votes, and test on all votes
# on items with other texts; then we draw again.

# %%
shrunk = shrinking.shrunk(inputs, n_items=few_items, n_each=few_votes, n_draws=draws, seed=seed)
shown = shrinking.shown_shrunk(shrunk.rows[~are_our_own(shrunk.rows["system"])])
publish_table(
    "tbl-fitting-shrunk",
    shrunk,
    shown=shown,
    columns=shrinking.shrunk_columns(shown),
    index=["system"],
    caption=f"""Shrunk by five hundred votes, every model misplaces fewer votes on MNLI, and fewer
    on average on SNLI; on αNLI none does. Votes misplaced of a hundred, as it is and shrunk towards
    the base rate by one number, fitted to {few_votes} votes on each of {few_items} items: the mean
    over {draws} draws and, in brackets, the middle 95% of these draws (not an interval over items).
    Bold: the best of each dataset, with ties within its interval. One seed of each family. The base
    rate comes from the same votes. The data has all systems, and the weight that each keeps.""",
) if len(shrunk) else Markdown(
    "*Shrinking by few votes can only be tested where items have many votes. It is left out here.*"
)

# %% [markdown]
# On MNLI, shrinking misplaces fewer votes in nearly every draw ({numref}`tbl-fitting-shrunk`). On SNLI it saves a vote
# or two for most models on average, and an unlucky draw can cost some. On MNLI RoBERTa-large's own probabilities get a
# weight of {value}`tbl-fitting-shrunk dataset=mnli system=roberta-large weight .2f`. On αNLI, where people agree more,
# shrinking makes RoBERTa-large worse, from
# {value}`tbl-fitting-shrunk dataset=alphanli system=roberta-large misplaced .0f` to
# {value}`tbl-fitting-shrunk dataset=alphanli system=roberta-large shrunk .0f`, perhaps because the number is fitted to
# squared distances, which give the most weight to items that the model gets badly wrong.
#
# (fitting-predictions-to-votes)=
# ## The maps
#
# With votes on all other items, we can fit more than one number. A map turns the log-probabilities of one system, or of
# several together, into a distribution over the labels:
#
# * **temperature**: one number divides the log-probabilities ({term}`temperature scaling`);
# * **affine**: a matrix and an intercept, twelve numbers for three labels. On log-probabilities this is
#   {term}`Dirichlet calibration` {cite:p}`kull2019`;
# * **quadratic**: affine in the log-probabilities, the probabilities, and all pairwise products of a system's centred
#   logits.
#
# For several systems, a temperature takes the mean of their log-probabilities; affine and quadratic maps
# {term}`stack <stacking>` them. Maps are fitted for the mean {term}`JSD`, the distance that the papers report, or for
# {term}`KL`. With fewer than twenty votes per item we use KL alone, since JSD and TVD then reward overconfidence.
#
# Every prediction is {term}`cross-fitted`: the votes on an item, and on all items with the same premise, story or image,
# are left out of the fit that predicts it. We made two choices after seeing the results of the alternatives: to show the
# quadratic map in the figures, and to average a model's seeds in a stack.
#
# ## From the text alone

# %%
methods = fitting.methods(
    inputs,
    variants=fitting.variants(),
    n_resamples=resamples,
    confidence=confidence,
    seed=seed,
)
families = methods.rows["family"]
nearness = fitting.measure_names(methods.rows)
publish_figure(
    "fig-fitting",
    plot_fitting,
    methods.with_rows(
        fitting.drawn_rows(methods.rows[~are_our_own(families) | (families == encoder)])
    ),
    caption=f"""Fitted on other items' votes, DeBERTa is no longer among the farthest from people.
    {nearness} out of fold (ten folds) of systems as they are, with a quadratic map fitted on votes,
    and with the item's old label as well: three kinds of methods that should not be ranked
    together. One seed of each family, and all systems together; {encoder}, a small encoder of ours,
    is a negative control. Bars are {100 * confidence:g}% intervals over items. Perfect model and
    second crowd as in {{doc}}`ceilings`.""",
    alt="""Dot plots with a panel for each dataset and a row for each system. A bar joins the marks
    of a row: as it is, with a map fitted on votes, and with the old label too. Each mark lies left
    of the one before; DeBERTa's move farthest on SNLI and MNLI. Two lines at the left, perfect
    model and second crowd, are far from all marks.""",
)

# %% [markdown]
# DeBERTa-v3-large has the highest {term}`new accuracy` on SNLI, if by no more than chance, but is among the farthest
# from people. A map that takes seconds to fit brings its JSD from
# {value}`tbl-fitting dataset=snli inputs=DeBERTa-v3-large "map=as it is" jsd .3f` to
# {value}`tbl-fitting dataset=snli access=text inputs=DeBERTa-v3-large map=quadratic objective=jsd jsd .3f`
# ({numref}`fig-fitting`). With a map, RoBERTa-large as trained by {cite:t}`nie2020` has
# {value}`tbl-fitting dataset=snli access=text inputs=roberta-large map=quadratic objective=jsd jsd .3f`, and BART-large
# {value}`tbl-fitting dataset=snli access=text inputs=bart-large map=quadratic objective=jsd jsd .3f`, the lowest of all
# single models on SNLI; these items do not tell the two apart. These models know more than their probabilities show.
#
# All systems together misplace
# {value}`tbl-fitting dataset=snli access=text "inputs=all systems" map=quadratic objective=jsd dist_ce .0%` of the
# votes on SNLI and
# {value}`tbl-fitting dataset=mnli access=text "inputs=all systems" map=quadratic objective=jsd dist_ce .0%` on MNLI by
# a quadratic map fitted for JSD, and
# {value}`tbl-fitting dataset=snli access=text "inputs=all systems" map=quadratic objective=kl dist_ce .0%` and
# {value}`tbl-fitting dataset=mnli access=text "inputs=all systems" map=quadratic objective=kl dist_ce .0%` by one
# fitted for KL. The latter makes them worth
# {value}`tbl-fitting dataset=snli access=text "inputs=all systems" map=quadratic objective=kl people .1f` and
# {value}`tbl-fitting dataset=mnli access=text "inputs=all systems" map=quadratic objective=kl people .1f` people.
# Without ModernBERT-large, which may have seen the MNLI items, they are worth
# {value}`tbl-fitting dataset=mnli access=text "inputs=all but ModernBERT-large" map=quadratic objective=kl people .1f`
# there.
#
# Most of the gain comes from being less sure. For RoBERTa-large on MNLI, a temperature lowers the JSD from
# {value}`tbl-fitting dataset=mnli inputs=roberta-large "map=as it is" jsd .3f` to
# {value}`tbl-fitting dataset=mnli access=text inputs=roberta-large map=temperature objective=jsd jsd .3f`, and an affine
# map to {value}`tbl-fitting dataset=mnli access=text inputs=roberta-large map=affine objective=jsd jsd .3f`. On αNLI,
# with two labels, a temperature brings nearly all of the gain.
#
# A map finds nothing where there is nothing to find. On αNLI MiniLM is right hardly more often than a uniform guess; with
# a map it has a JSD of
# {value}`tbl-fitting dataset=alphanli access=text "inputs=MiniLM-L6, seed 0" map=affine objective=jsd jsd .2f`, and the
# best constant prediction has {value}`tbl-fitting dataset=alphanli access=text "map=base rate" objective=jsd jsd .2f`.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Every system by every map, as a table", "code_prompt_hide": "Fold the table"}
shown = fitting.by_map(methods.rows)
publish_table(
    "tbl-fitting",
    methods,
    shown=shown,
    columns=fitting.columns_of(shown),
    groups=["dataset"],
    index=["dataset", "inputs"],
    caption=f"""A temperature brings systems nearer to people; on SNLI and MNLI, an affine map
    brings them nearer still. {nearness} out of fold (ten folds), on the items that all systems
    predict, nearest first; one seed of each family, and the stacks. In brackets,
    {100 * confidence:g}% bootstrap intervals over items ({resamples:,} resamples). *Worth*: people
    to ask on top of the base rate, by the quadratic map fitted for KL. *None*: the mean vote
    without any system, or the mean vote given the old label. The data has all seeds, both
    objectives, KL, TVD and accuracy, perfect model and second crowd.""",
)

# %% [markdown]
# ### What each system adds
#
# On SNLI, DeBERTa-v3-large, ModernBERT-large and RoBERTa-large each add something to the stack that no other system has
# ({numref}`tbl-fitting-added`); on MNLI only the first two do. There the nine models of {cite:t}`nie2020` even hurt a
# little (without them, the JSD changes by
# {value}`tbl-fitting-added dataset=mnli "left_out=those of Nie et al. 2020" value .4f`), perhaps because a map for more
# systems has more numbers to fit.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "What each system adds, as a table", "code_prompt_hide": "Fold the table"}
contributions = fitting.contributions(inputs, n_resamples=comparisons, seed=seed)
publish_table(
    "tbl-fitting-added",
    contributions,
    columns=fitting.contribution_columns(comparisons),
    groups=["dataset"],
    index=["dataset", "left_out"],
    caption=f"""Few systems add to the others, and on MNLI the nine models of 2020 together hurt.
    The stack's distance from people without some systems, minus its distance with them: above 0,
    they help. {nearness}, by the quadratic map out of fold (ten folds). In brackets, 95% intervals
    over items ({comparisons:,} resamples), with fits held fixed; *p* is adjusted (Holm) for all
    comparisons on a dataset.""",
) if len(contributions) else Markdown("*Stacking needs at least two families of systems.*")

# %% [markdown]
# ## With the old label
#
# An item's {term}`old label` can be an input as well. Methods that use it know one person's answer to this very item, so
# we do not rank them with methods that do not. With the old label, the stacks misplace
# {value}`tbl-fitting dataset=snli "access=old label" "inputs=all systems" map=quadratic objective=jsd dist_ce .0%` of the
# votes on SNLI and
# {value}`tbl-fitting dataset=mnli "access=old label" "inputs=all systems" map=quadratic objective=jsd dist_ce .0%` on
# MNLI. On αNLI the label alone is about as informative as all models.

# %% tags=["remove-input"]
Markdown(inputs.missing_note("old labels"))

# %% [markdown]
# ## How many items, how many votes
#
# Here we fit the map on fewer items of the other folds, with fewer votes on each, and always test it on all votes on
# items that it has not seen.

# %%
curve = fitting.curve(inputs, repeats=repeats, seed=seed)
publish_figure(
    "fig-fitting-curve",
    plot_fitting_curve,
    curve.with_rows(fitting.drawn_curve_rows(curve.rows)),
    caption=f"""Twenty votes per item do nearly as well as a hundred. The lines below {ENOUGH_VOTES}
    votes are fitted for another distance, which on αNLI makes the whole difference: fitted for KL
    throughout, five votes do as well there as a hundred. The quadratic map on all systems, fitted
    on fewer items of the other folds, with fewer votes on each (drawn without replacement).
    {nearness}; fitted for JSD from {ENOUGH_VOTES} votes on, for KL below, where the JSD from a few
    votes misleads. Means over {repeats} draws; every fold draws its own items.""",
    alt="""Line plots with a panel for each dataset: JSD against the number of labelled items on a
    logarithmic axis, with a line for each number of votes per item. All lines fall and flatten. The
    lines for twenty and a hundred votes lie close together; lines for fewer votes, which are fitted
    for KL and not for JSD, lie higher, especially where items are few.""",
) if len(curve) else None

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Raw and shrunk shares as training targets, as a table", "code_prompt_hide": "Fold the table"}
learnt = targets(inputs, repeats=repeats, seed=seed)
publish_table(
    "tbl-soft-labels",
    learnt,
    columns=TARGET_COLUMNS,
    groups=["dataset"],
    caption=f"""From one to five votes on SNLI and MNLI, and one to three on αNLI, an affine map
    learns more from raw shares than from shrunk ones, though the latter are nearer to people;
    at twenty there is no difference. Squared distances, corrected for bias: of the shares of few
    votes, raw or as expected under a prior, from the other votes; and of an affine map of all
    systems, fitted to these shares for KL, from all votes on items of other folds. Means over
    {repeats} draws of the votes; in brackets, 95% intervals over items. Bold: the better of each
    pair.""",
) if len(learnt) else None

# %% [markdown]
# With five votes on every other item, as many as AmbiNLI {cite:p}`meissner2021` takes, the stack misplaces
# {value}`fig-fitting-curve dataset=mnli whole=true n_votes=5 recipe=true misplaced .1f` of a hundred votes on MNLI; with
# a hundred votes, {value}`fig-fitting-curve dataset=mnli whole=true n_votes=100 recipe=true misplaced .1f`
# ({numref}`fig-fitting-curve`). From so few votes, a map learns more from raw shares than from shrunken ones
# ({numref}`tbl-soft-labels`), we think because raw shares are unbiased; we have not tried this with training an encoder.
#
# On SNLI and MNLI, for the same total number of votes, use more items with fewer votes each, down to about five votes
# per item. On SNLI, a thousand votes leave {value}`fig-fitting-curve dataset=snli n_fitted=50 n_votes=20 misplaced .1f`
# votes of a hundred misplaced when spent as 20 on each of 50 items, and
# {value}`fig-fitting-curve dataset=snli n_fitted=200 n_votes=5 misplaced .1f` as five on each of 200. One on each of
# 1,000 leaves {value}`fig-fitting-curve dataset=snli n_fitted=1000 n_votes=1 misplaced .1f`, which is no better. On
# αNLI even one vote on each of a thousand items does better
# ({value}`fig-fitting-curve dataset=alphanli n_fitted=1000 n_votes=1 misplaced .1f` against
# {value}`fig-fitting-curve dataset=alphanli n_fitted=200 n_votes=5 misplaced .1f`). All this rests on two draws.
#
# ## Does a map carry over?
#
# Not to SNLI, and only in part to MNLI. The two datasets have the same labels, so each can borrow the other's map. On
# SNLI the mean of the systems misplaces {value}`tbl-fitting-pooled judged_on=snli misplaced_as_it_is .0f` of a hundred
# votes as it is, with the borrowed map {value}`tbl-fitting-pooled judged_on=snli misplaced_other .0f` and with a map of
# its own {value}`tbl-fitting-pooled judged_on=snli misplaced_same .0f`; on MNLI the numbers are
# {value}`tbl-fitting-pooled judged_on=mnli misplaced_as_it_is .0f`,
# {value}`tbl-fitting-pooled judged_on=mnli misplaced_other .0f` and
# {value}`tbl-fitting-pooled judged_on=mnli misplaced_same .0f`. Part of what a map learns may be how one dataset's items
# were chosen. On SNLI, fifty of its own items with twenty votes each work better than a borrowed map.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Borrowed maps, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-fitting-pooled",
    fitting.carried_over(inputs.pooled()),
    columns=fitting.CARRIED_COLUMNS,
    caption="""A map works best on its own dataset. The mean of the systems that predict both
    datasets, and their quadratic map, fitted for JSD on the other dataset alone or on the other
    folds of the same dataset. Votes misplaced of a hundred, and JSD.""",
)

# %% [markdown]
# ## Which labels to show
#
# If a person needs a few labels rather than probabilities, show every label whose predicted probability reaches a
# threshold. Items with votes can set this threshold so that the {term}`sets <label set>` hold a stated share of the votes
# on new items (split conformal prediction {cite:p}`sadinle2019,angelopoulos2024`).

# %%
sets = fitting.label_sets(inputs, n_splits=splits, seed=seed)
publish_table(
    "tbl-label-sets",
    sets,
    shown=fitting.shown_sets(sets.rows),
    columns=fitting.SETS_COLUMNS,
    groups=["dataset"],
    caption=f"""With all systems together, sets that hold nine of ten new votes have fewer than two
    labels; where people disagree most, they hold fewer votes. *90% of new votes*: of all votes on
    items that did not set the threshold, 90% fall in the sets. *90% of the votes on 90% of items*:
    on 90% of these items, the set holds at least 90% of the votes. *Labels*: mean size of a set;
    *held*: the share of votes, or of items, actually reached. Predictions are fitted on other
    texts, thresholds on half of the texts and tested on the other half; means over {splits} splits.
    *Most disputed fifth*: by the entropy of the votes. The single system is the one with the
    smallest sets, recalibrated; *the votes themselves* are used as if they were a prediction. The
    data has all systems.""",
)

# %% [markdown]
# Sets for a new vote are small: with all systems together,
# {value}`tbl-label-sets dataset=snli "system=all systems" new_vote_size .1f` labels on SNLI and
# {value}`tbl-label-sets dataset=mnli "system=all systems" new_vote_size .1f` on MNLI, little more than sets from the
# votes themselves ({numref}`tbl-label-sets`). They keep their promise even if the other items have few votes each.
#
# We do not promise 90% for disputed items. In the fifth of the MNLI items that divides people most, sets for a new vote
# hold {value}`tbl-label-sets dataset=mnli "system=all systems" new_vote_held_disputed .0%` of the votes, and sets for 90%
# of the votes succeed on {value}`tbl-label-sets dataset=mnli "system=all systems" most_votes_held_disputed .0%` of the
# items.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Other ways to train MiniLM, as a figure", "code_prompt_hide": "Fold the figure"}
training_rows = fitting.drawn_training_rows(methods.rows, encoder)
publish_figure(
    "fig-distribution-learning",
    plot_fitting,
    methods.with_rows(training_rows),
    caption=f"""Once a map is fitted on other items' votes, how MiniLM was trained hardly matters.
    {fitting.measure_names(methods.rows)} of its first seed, of the mean of its seeds, and of runs with other ways of training
    or prediction: as they are, and with a quadratic map. *Vote shares*: trained on votes, without a
    map. Marks and intervals are as in {{numref}}`fig-fitting`.""",
    alt="""Dot plots with a panel for each dataset and a row for each way of training. A bar joins
    the two marks of a row: as it is, and with a map fitted on votes. On SNLI and MNLI the marks
    with a map are aligned at the left, with soft labels at the same place or farther right; on αNLI
    all marks lie together. Perfect model and second crowd are far to the left.""",
) if len(training_rows) else None

# %% [markdown]
# ## Fit it to your model
#
# A map needs votes on about a hundred items, and the system's probabilities for these and for the new items. It needs no
# text, no training and no GPU. These commands fit every map to your predictions, alone and stacked with all others;
# {doc}`../your_model` explains the formats:
#
# ```console
# $ chaos run fitting -p predictions=my-model.csv
# $ chaos run fitting -p data=my-votes.csv -p predictions=my-model.csv
# ```
#
# In Python, `chaos_utils.scoring.fitting` has `fit_map` for new items and `predict_out_of_fold` for what this page does.
#
# (other-ways-to-learn-distributions)=
# {doc}`train` compares a map with training on the votes.
#
# ## Limitations
#
# * A map needs votes on items like the ones it will be used on, and it also learns how these were chosen: ChaosNLI has
#   SNLI and MNLI items whose old votes were split.
# * On MNLI, all maps are tested on the {value}`tbl-fitting dataset=mnli "inputs=all systems" "map=as it is" n_items ,d`
#   items that every system predicts.
# * Sizes, training data and seeds differ between the models, so nothing here shows what makes one model nearer. Intervals
#   cover items, with systems and folds held fixed: another training seed may reverse a small difference.

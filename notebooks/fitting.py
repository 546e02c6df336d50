# %% [markdown]
# # Repairing predictions with few votes
#
# *What can I do with a few votes?*
#
# **On SNLI and MNLI, five hundred votes are enough to learn how far a model's probabilities should be shrunk towards
# the {term}`base rate`, which is how often people give each label overall.** On MNLI, shrinking reduces the misplaced
# votes of RoBERTa-large from {value}`tbl-fitting-shrunk dataset=mnli system=roberta-large misplaced .0f` to
# {value}`tbl-fitting-shrunk dataset=mnli system=roberta-large shrunk .0f` out of a hundred, whereas a second crowd of a
# hundred people misplaces {value}`tbl-misplaced dataset=mnli "system=second crowd" misplaced .0f`.
#
# On MNLI, a map of twelve numbers, fitted to the votes on all other items, reduces the misplaced votes of
# DeBERTa-v3-large from {value}`tbl-misplaced dataset=mnli system=DeBERTa-v3-large "how=as it is" misplaced .0f` to
# {value}`tbl-misplaced dataset=mnli system=DeBERTa-v3-large how=recalibrated misplaced .0f`. The model is then
# {term}`worth`
# {value}`tbl-human-equivalents dataset=mnli system=DeBERTa-v3-large measure=people_on_top_recalibrated value .1f`
# people: its predictions are as informative as the base rate combined with that many people's answers.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files with your own predictions, fitted and shown with the others
few_items: int = 100  # labelled items from which the shrinking of a system is estimated
few_votes: int = 5  # votes on each of these items, at least two
draws: int = 100  # draws of these items and votes
repeats: int = 2  # draws of items and votes for the learning curve
resamples: int = 1000  # bootstrap resamples of the items, for the intervals
comparisons: int = 20_000  # bootstrap resamples for paired differences and their p-values
encoder: str = "MiniLM-L6"  # small encoder of ours that the figures show as a negative control
confidence: float = 0.95  # coverage of the intervals
splits: int = 20  # splits of the items into halves, for the label sets
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
# Models trained on one label per item are overconfident. Shrinking mixes each prediction with the base rate, and the
# model's weight in this mixture is the one number that is fitted for each model.

# %%
shrunk = shrinking.shrunk(inputs, n_items=few_items, n_each=few_votes, n_draws=draws, seed=seed)
shown = shrinking.shown_shrunk(shrunk.rows[~are_our_own(shrunk.rows["system"])])
publish_table(
    "tbl-fitting-shrunk",
    shrunk,
    shown=shown,
    columns=shrinking.shrunk_columns(shown),
    index=["system"],
    caption=f"""On average over the draws, shrinking with five hundred votes makes every model misplace fewer votes on
    MNLI and SNLI, but helps no model on αNLI, where people agree more. The table gives the number of votes out of a
    hundred that a system misplaces before and after shrinking towards the base rate. The base rate and the weight are
    estimated from {few_votes} votes on each of {few_items} items, and the shrunk predictions are evaluated against all
    votes on the items with other texts. Values are means over {draws} draws; the brackets show the range of the middle
    95% of these draws and are not intervals over items. For each dataset, the best value and the values within its
    interval are shown in bold. The table shows one seed for each family of models. The downloadable table lists all
    systems and their weights.""",
) if len(shrunk) else Markdown(
    "*Shrinking can be tested only on items with many votes, so it is left out here.*"
)

# %% [markdown]
# On MNLI, where the base rate by itself misplaces
# {value}`tbl-fitting-shrunk dataset=mnli "system=base rate" shrunk .0f` votes out of a hundred, shrinking helps in
# nearly every draw and gives RoBERTa-large a weight of
# {value}`tbl-fitting-shrunk dataset=mnli system=roberta-large weight .2f` ({numref}`tbl-fitting-shrunk`). On SNLI,
# shrinking makes most models misplace one or two votes fewer on average, but an unlucky draw can make them worse.
#
# (fitting-predictions-to-votes)=
# ## The maps
#
# A map turns the log-probabilities of one or more systems into a distribution over the labels. Every prediction is
# {term}`cross-fitted`: the map was fitted to the votes on items with other texts, so as to minimise the mean of
# {term}`JSD` or of {term}`KL`. We compare three kinds of maps:
#
# * A **temperature** divides the log-probabilities, or the mean log-probabilities of several systems, by one number
#   ({term}`temperature scaling`).
# * An **affine** map multiplies the log-probabilities by a matrix and adds an intercept, which takes twelve numbers for
#   three labels ({term}`Dirichlet calibration`; {cite:alp}`kull2019`).
# * A **quadratic** map is affine in the log-probabilities, the probabilities, and all pairwise products of a system's
#   centred logits.
#
# Affine and quadratic maps can also {term}`stack <stacking>` several systems.
#
# ## From the text alone

# %%
methods = fitting.methods(
    inputs, variants=fitting.variants(), n_resamples=resamples, confidence=confidence, seed=seed
)
families = methods.rows["family"]
nearness = fitting.measure_names(methods.rows)
publish_figure(
    "fig-fitting",
    plot_fitting,
    methods.with_rows(
        fitting.drawn_rows(methods.rows[~are_our_own(families) | (families == encoder)])
    ),
    caption=f"""With a map fitted on other items' votes, DeBERTa is no longer among the systems farthest from people.
    Marks show {nearness}, computed out of fold (ten folds), without a map, with a quadratic map fitted on votes, and
    with a map that also uses the item's old label. These three kinds of methods should not be ranked together. The
    figure shows one seed of each family and the stack of all systems; {encoder}, a small encoder that we trained, is a
    negative control. Bars are {100 * confidence:g}% intervals over items. The perfect model and the second crowd are
    explained in {{doc}}`ceilings`.""",
    alt="""Dot plots with a panel for each dataset and a row for each system. A bar joins the three marks of a row:
    without a map, with a map fitted on votes, and with a map that also uses the old label. Each mark lies to the left
    of the previous one; the marks of DeBERTa move farthest on SNLI and MNLI. Two lines on the left, for the perfect
    model and the second crowd, are far from all marks.""",
)

# %% [markdown]
# On SNLI, DeBERTa-v3-large has the highest {term}`new accuracy` (its lead may be due to chance), but it is among the
# systems farthest from people. A map that takes seconds to fit lowers the model's JSD from
# {value}`tbl-fitting dataset=snli inputs=DeBERTa-v3-large "map=as it is" jsd .3f` to
# {value}`tbl-fitting dataset=snli access=text inputs=DeBERTa-v3-large map=quadratic objective=jsd jsd .3f`
# ({numref}`fig-fitting`), so the model knows more than its probabilities show. With a map, RoBERTa-large and BART-large
# of {cite:t}`nie2020` have the lowest JSD of all single models on SNLI
# ({value}`tbl-fitting dataset=snli access=text inputs=roberta-large map=quadratic objective=jsd jsd .3f` and
# {value}`tbl-fitting dataset=snli access=text inputs=bart-large map=quadratic objective=jsd jsd .3f`).
#
# Stacked by a quadratic map that minimises KL, all systems together misplace
# {value}`tbl-fitting dataset=snli access=text "inputs=all systems" map=quadratic objective=kl dist_ce .0%` of the votes
# on SNLI and {value}`tbl-fitting dataset=mnli access=text "inputs=all systems" map=quadratic objective=kl dist_ce .0%`
# on MNLI. The stack is worth
# {value}`tbl-fitting dataset=snli access=text "inputs=all systems" map=quadratic objective=kl people .1f` people on
# SNLI and {value}`tbl-fitting dataset=mnli access=text "inputs=all systems" map=quadratic objective=kl people .1f` on
# MNLI. On MNLI, the stack without ModernBERT-large, which may have seen these items, is worth
# {value}`tbl-fitting dataset=mnli access=text "inputs=all but ModernBERT-large" map=quadratic objective=kl people .1f`
# people.
#
# For large models, most of the gain from a map comes from lower confidence. For RoBERTa-large on MNLI, temperature
# scaling lowers the JSD from {value}`tbl-fitting dataset=mnli inputs=roberta-large "map=as it is" jsd .3f` to
# {value}`tbl-fitting dataset=mnli access=text inputs=roberta-large map=temperature objective=jsd jsd .3f`, and an
# affine map lowers it to {value}`tbl-fitting dataset=mnli access=text inputs=roberta-large map=affine objective=jsd jsd .3f`.
# On SNLI, lower confidence accounts for less than half of the gain for DistilBERT, our small encoders and the stack.
# A map cannot add what a system does not know. On αNLI, where MiniLM is barely more accurate than a uniform guess, its
# JSD with a map is
# {value}`tbl-fitting dataset=alphanli access=text "inputs=MiniLM-L6, seed 0" map=affine objective=jsd jsd .2f`,
# compared with {value}`tbl-fitting dataset=alphanli access=text "map=base rate" objective=jsd jsd .2f` for the best
# constant prediction.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Every system with every map, as a table", "code_prompt_hide": "Fold the table"}
shown = fitting.by_map(methods.rows)
publish_table(
    "tbl-fitting",
    methods,
    shown=shown,
    columns=fitting.columns_of(shown),
    groups=["dataset"],
    index=["dataset", "inputs"],
    caption=f"""A temperature brings systems nearer to people, and on SNLI and MNLI, an affine map brings them nearer
    still. {nearness} is computed out of fold (ten folds) on the items for which all systems have predictions; the
    systems nearest to people come first. The table shows all stacks, and one seed of each family. Intervals are
    {100 * confidence:g}% bootstrap intervals over items ({resamples:,} resamples). *Worth* is the number of people
    whose votes, taken together and combined with the base rate, would be as informative as the system after
    recalibration by a quadratic map, fitted by minimising KL. The row *none* uses no system: it predicts the mean vote
    shares, either overall or given the old label. After seeing the results of the alternatives, we chose to show the quadratic map in the figures, and to
    average the seeds of each model in a stack. The downloadable table adds all seeds, both objectives, KL, TVD,
    accuracy, the perfect model and the second crowd.""",
)

# %% [markdown]
# ### What each system adds
#
# On SNLI, DeBERTa-v3-large, ModernBERT-large and RoBERTa-large each add something to the stack that no other system
# adds ({numref}`tbl-fitting-added`). On MNLI, only DeBERTa-v3-large and ModernBERT-large do. Without the nine models of
# {cite:t}`nie2020`, the JSD of the stack on MNLI changes by
# {value}`tbl-fitting-added dataset=mnli "left_out=those of Nie et al. 2020" value .4f`, a slight improvement.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "What each system adds, as a table", "code_prompt_hide": "Fold the table"}
contributions = fitting.contributions(inputs, n_resamples=comparisons, seed=seed)
publish_table(
    "tbl-fitting-added",
    contributions,
    columns=fitting.contribution_columns(comparisons),
    groups=["dataset"],
    index=["dataset", "left_out"],
    caption=f"""Few systems add anything to the others, and on MNLI the nine models of 2020, taken together, make the
    stack worse. Each row leaves out some systems and gives the stack's distance from people without them minus its
    distance with them; a positive value means that the systems help. {nearness} is computed out of fold (ten folds)
    with the quadratic map. Intervals are 95% intervals over items ({comparisons:,} resamples), with fits held fixed;
    *p* is Holm-adjusted for all comparisons on a dataset.""",
) if len(contributions) else Markdown("*Stacking needs at least two families of systems.*")

# %% [markdown]
# ## With the old label
#
# A map can also use an item's {term}`old label`. Such a map is not ranked with the other methods, because the old label
# is somebody's answer to the same item. With the old label, the stack of all systems misplaces
# {value}`tbl-fitting dataset=snli "access=old label" "inputs=all systems" map=quadratic objective=kl dist_ce .0%` of
# the votes on SNLI and
# {value}`tbl-fitting dataset=mnli "access=old label" "inputs=all systems" map=quadratic objective=kl dist_ce .0%` on
# MNLI. On αNLI, the old label alone is about as informative as all models combined.

# %% tags=["remove-input"]
Markdown(inputs.missing_note("old labels"))

# %% [markdown]
# ## How many items, how many votes

# %%
curve = fitting.curve(inputs, repeats=repeats, seed=seed)
publish_figure(
    "fig-fitting-curve",
    plot_fitting_curve,
    curve.with_rows(fitting.drawn_curve_rows(curve.rows)),
    caption=f"""Maps fitted on twenty votes per item do nearly as well as maps fitted on a hundred. The figure shows
    {nearness} for the quadratic map of all systems when it is fitted on fewer items from the other folds and on fewer
    votes per item (drawn without replacement). The map minimises JSD if there are {ENOUGH_VOTES} or more votes per
    item, and KL if there are fewer, because a JSD computed from only a few votes is misleading. On αNLI, this difference in
    objectives explains the whole gap between the lines: if all maps minimise KL, five votes do as well as a hundred.
    Values are means over {repeats} draws; items are drawn separately for each fold.""",
    alt="""Line plots with a panel for each dataset: JSD against the number of labelled items on a logarithmic axis,
    with a line for each number of votes per item. All lines fall and flatten. The lines for twenty and a hundred votes
    lie close together; the lines for fewer votes, where the maps minimise KL, lie higher, especially if there are few
    items.""",
) if len(curve) else None

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Raw and shrunk shares as training targets, as a table", "code_prompt_hide": "Fold the table"}
learnt = targets(inputs, repeats=repeats, seed=seed)
publish_table(
    "tbl-soft-labels",
    learnt,
    columns=TARGET_COLUMNS,
    groups=["dataset"],
    caption=f"""With a few votes per item, an affine map learns more from raw shares than from shrunk shares, although
    shrunk shares are nearer to people. Raw shares are better with one to five votes per item on SNLI and MNLI and with
    one to three votes on αNLI; with twenty votes, there is no difference. We have not tested whether an encoder also
    learns more from raw shares. All values are squared distances, corrected for bias. The first pair of columns
    compares the label shares among a few votes, either raw or as expected under a prior, with the shares among the
    remaining votes. For the second pair, an affine map that combines all systems was fitted to these label
    shares on the other folds by minimising KL, and its predictions are compared with the shares among all votes. Values
    are means over {repeats} draws of the votes. Intervals are 95% intervals over items. The better value of each pair is shown in bold.""",
) if len(learnt) else None

# %% [markdown]
# A stack fitted on five votes per item misplaces
# {value}`fig-fitting-curve dataset=mnli whole=true n_votes=5 recipe=true misplaced .1f` votes out of a hundred on MNLI,
# and a stack fitted on a hundred votes per item misplaces
# {value}`fig-fitting-curve dataset=mnli whole=true n_votes=100 recipe=true misplaced .1f`
# ({numref}`fig-fitting-curve`). With few votes per item, a map learns more from raw shares than from shrunk shares
# ({numref}`tbl-soft-labels`).
#
# A fixed number of votes on SNLI or MNLI is best spent on more items with fewer votes each, down to about five votes
# per item. On SNLI, a map fitted on twenty votes on each of 50 items misplaces
# {value}`fig-fitting-curve dataset=snli n_fitted=50 n_votes=20 misplaced .1f` votes out of a hundred, and a map fitted
# on five votes on each of 200 items misplaces
# {value}`fig-fitting-curve dataset=snli n_fitted=200 n_votes=5 misplaced .1f`. Collecting one vote on each of 1,000
# items instead is no better on SNLI ({value}`fig-fitting-curve dataset=snli n_fitted=1000 n_votes=1 misplaced .1f`),
# but it is better on αNLI. These numbers are means over only two draws.
#
# ## Does a map carry over?
#
# A map fitted on MNLI does not carry over to SNLI, and a map fitted on SNLI carries over to MNLI only in part. On SNLI,
# the mean prediction of the systems misplaces {value}`tbl-fitting-pooled judged_on=snli misplaced_as_it_is .0f` votes
# out of a hundred without a map, {value}`tbl-fitting-pooled judged_on=snli misplaced_other .0f` with a map fitted on
# MNLI, and {value}`tbl-fitting-pooled judged_on=snli misplaced_same .0f` with a map fitted on SNLI. On MNLI, a map
# fitted on SNLI reduces the misplaced votes from {value}`tbl-fitting-pooled judged_on=mnli misplaced_as_it_is .0f` to
# {value}`tbl-fitting-pooled judged_on=mnli misplaced_other .0f`, and a map fitted on MNLI to
# {value}`tbl-fitting-pooled judged_on=mnli misplaced_same .0f`.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Borrowed maps, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-fitting-pooled",
    fitting.carried_over(inputs.pooled()),
    columns=fitting.CARRIED_COLUMNS,
    caption="""A map works best on the dataset that it was fitted on. The table scores the mean prediction of the
    systems that have predictions on both datasets. The quadratic map is fitted to minimise JSD, either only on the
    other dataset or on the other folds of the same dataset. The table shows the number of misplaced votes out of a
    hundred, and the JSD.""",
)

# %% [markdown]
# ## Which labels to show
#
# Where labels are needed rather than probabilities, show every label whose predicted probability reaches a threshold.
# Split conformal prediction {cite:p}`sadinle2019,angelopoulos2024` chooses this threshold so that the
# {term}`label sets <label set>` cover a stated share of the votes on new items.

# %%
sets = fitting.label_sets(inputs, n_splits=splits, seed=seed)
publish_table(
    "tbl-label-sets",
    sets,
    shown=fitting.shown_sets(sets.rows),
    columns=fitting.SETS_COLUMNS,
    groups=["dataset"],
    caption=f"""With all systems combined, sets that cover nine in ten new votes contain on average fewer than two of
    the three labels on SNLI and MNLI. On the items on which people disagree most, such sets cover fewer than nine in
    ten votes. Sets designed for *90% of new votes* should cover 90% of all votes on the items that were not used to set
    the threshold. Sets designed for *90% of the votes on 90% of items* should cover at least 90% of the votes on at
    least nine in ten of these items. The column *Labels* gives the mean number of labels per set. *Held* is the share
    of votes that the sets actually cover, or the share of items for which they cover enough votes. Predictions come
    from maps fitted on other texts; the threshold is set on half of the texts and tested on the other half. Values are
    means over {splits} splits. The *most disputed fifth* contains the items whose votes have the highest entropy. The
    single system shown is the recalibrated system with the smallest sets. In the row *the votes themselves*, the vote
    shares are used as if they were a prediction. The downloadable table lists all systems.""",
)

# %% [markdown]
# With all systems combined, sets that should cover 90% of new votes contain on average
# {value}`tbl-label-sets dataset=snli "system=all systems" new_vote_size .1f` labels on SNLI and
# {value}`tbl-label-sets dataset=mnli "system=all systems" new_vote_size .1f` on MNLI, hardly more than sets made from
# the votes themselves ({numref}`tbl-label-sets`). Such sets cover 90% of new votes even if the threshold is set on
# items with only a few votes each. On the most disputed fifth of the MNLI items, however, they cover only
# {value}`tbl-label-sets dataset=mnli "system=all systems" new_vote_held_disputed .0%` of the votes. Sets that should
# cover 90% of an item's votes do so on only
# {value}`tbl-label-sets dataset=mnli "system=all systems" most_votes_held_disputed .0%` of these disputed items.

# %% [markdown]
# ## Fit it to your model
#
# A map needs votes on about a hundred items, and the system's probabilities for these items and for the new ones, but
# no text, training or GPU. These commands fit every map to your predictions ({doc}`../your_model` explains the
# formats), both alone and stacked with those of all other systems.
#
# ```console
# $ chaos run fitting -p predictions=my-model.csv
# $ chaos run fitting -p data=my-votes.csv -p predictions=my-model.csv
# ```
#
# In Python, `chaos_utils.scoring.fitting.fit_map` fits a map that can be applied to new items.
#
# (other-ways-to-learn-distributions)=
# For a comparison of maps with training on the votes, see {doc}`train`.
#
# Once a map is fitted, it hardly matters how MiniLM was trained ({numref}`fig-distribution-learning`). On SNLI, the JSD
# with a quadratic map is between {value}`fig-distribution-learning dataset=snli map=quadratic min:jsd .2f` and
# {value}`fig-distribution-learning dataset=snli map=quadratic max:jsd .2f` √nats for every way of training on labels.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Other ways to train MiniLM, as a figure", "code_prompt_hide": "Fold the figure"}
training_rows = fitting.drawn_training_rows(methods.rows, encoder)
publish_figure(
    "fig-distribution-learning",
    plot_fitting,
    methods.with_rows(training_rows),
    caption=f"""Once a map is fitted on other items' votes, it hardly matters how MiniLM was trained. The figure shows
    {nearness} for MiniLM's first seed, for the mean of its seeds, and for runs with other ways of training or
    predicting, each with and without a quadratic map. In the runs with *vote shares*, MiniLM was trained on votes, so
    the marks of these runs are hollow, and no map is fitted for them. Marks and intervals are as in
    {{numref}}`fig-fitting`.""",
    alt="""Dot plots with a panel for each dataset and a row for each way of training. A bar joins the two marks of a
    row: without a map, and with a map fitted on votes. On SNLI and MNLI, the marks with a map are aligned on the left,
    and the marks of soft labels lie at the same place or farther right; on αNLI, all marks lie close together. The
    perfect model and the second crowd are far to the left.""",
) if len(training_rows) else None

# %% [markdown]
# ## Limitations
#
# * A map also learns how its training items were chosen, so it must be fitted to votes on items like those that it will
#   be applied to. ChaosNLI's SNLI and MNLI items were chosen because their old votes were split.
# * The models differ in size, training data and seeds, so nothing here shows what makes one model nearer to people than
#   another. Intervals cover only the variation between items, with systems and folds held fixed, so another seed may
#   reverse a small difference.

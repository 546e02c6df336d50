# %% [markdown]
# # How many votes, how many items
#
# *How many votes do I need, and how many items?*
#
# **For a majority label that is right on 95% of items, ten votes per item are enough on αNLI
# ({value}`fig-annotation-budget dataset=alphanli measure=new_accuracy quantity=perfect_model n_votes=10 value .0%`), and about fifty on
# SNLI ({value}`fig-annotation-budget dataset=snli measure=new_accuracy quantity=perfect_model n_votes=50 value .0%`).
# On MNLI, even a hundred are too few
# ({value}`fig-annotation-budget dataset=mnli measure=new_accuracy quantity=perfect_model n_votes=100 value .0%`).**
# Three votes give the right label on
# {value}`fig-annotation-budget dataset=snli measure=new_accuracy quantity=perfect_model n_votes=3 value .0%`,
# {value}`fig-annotation-budget dataset=mnli measure=new_accuracy quantity=perfect_model n_votes=3 value .0%` and
# {value}`fig-annotation-budget dataset=alphanli measure=new_accuracy quantity=perfect_model n_votes=3 value .0%` of the
# items of SNLI, MNLI and αNLI, respectively. The SNLI and MNLI items were chosen because five people had been split on
# them; items of these datasets that were not chosen in this way should need fewer votes.
#
# These shares are for the label that an infinitely large crowd would choose most often. Judged by the majority of the
# hundred votes instead, five votes per item that are spread evenly give the same majority label on
# {value}`fig-next-vote dataset=snli rule=even quantity=right n_votes=5 value .0%`,
# {value}`fig-next-vote dataset=mnli rule=even quantity=right n_votes=5 value .0%` and
# {value}`fig-next-vote dataset=alphanli rule=even quantity=right n_votes=5 value .0%` of the items. If they are spent
# where the vote is close, they do so on
# {value}`fig-next-vote dataset=snli rule=majority quantity=right n_votes=5 value .0%`,
# {value}`fig-next-vote dataset=mnli rule=majority quantity=right n_votes=5 value .0%` and
# {value}`fig-next-vote dataset=alphanli rule=majority quantity=right n_votes=5 value .0%`.
#
# (calculator-votes-and-items)=
# To compare two models, add items rather than votes. Avoid {term}`JSD` with fewer than twenty votes per item, because
# it then favours overconfident models.
#
# ```{calculator} votes
# ```

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files with your own predictions, shown with the other systems
thinned: str = "mnli"  # dataset whose thinning is shown, if available; the data has all datasets
most: int = 3000  # most items that the nonparametric prior is fitted on; of more, a sample is drawn
draws: int = 20  # draws of the items' true distributions, and of splits into half crowds
budget: int = 10000  # total number of votes, to be spent on many items or on few
seed: int = 0  # seed of all draws

# %%
from IPython.display import Markdown

from chaos_utils.analyses import atlas, ceilings, forecasts, next_vote, power
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import are_our_own, notices
from chaos_utils.analyses.references import baseline_scores, reference_scores
from chaos_utils.plots.atlas import plot_few_votes
from chaos_utils.plots.ceilings import plot_annotation_budget, plot_items_by_votes
from chaos_utils.plots.next_vote import plot_next_vote
from chaos_utils.plots.power import plot_power
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data, predictions)
crowds = atlas.atlas_inputs(data, inputs) if inputs.released else inputs
# Not shown here: their records are what `chaos evaluate` sets a reader's model beside.
for analysis in (reference_scores, baseline_scores):
    analysis(inputs, seed=seed)

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# ## Measurement error at k votes
#
# A {term}`perfect model` predicts each item's true distribution, that is, the shares that infinitely many votes would
# have. When it is judged by a few votes, even this model seems to err, because votes are a sample. No model can be
# expected to score better than this one.

# %%
budgets = ceilings.annotation_budget(inputs, n_draws=draws, seed=seed)
publish_figure(
    "fig-annotation-budget",
    plot_annotation_budget,
    budgets,
    caption=f"""The more divided people are, the more votes a majority label needs, and the larger the apparent error of
    a perfect model. Filled points show a perfect model judged by k votes per item; the first panel shows its accuracy.
    In the last panel, open circles show k votes that are used as a prediction and judged by the truth. The truth is
    drawn from a posterior whose prior may have any shape, because raw vote shares would mistake sampling noise for
    disagreement. Values are means over {draws} draws. The downloadable data also include KL, EntCE and RankCS.""",
    alt="""Four panels with votes per item from 1 to 100 on a logarithmic axis and a line for each dataset. Majority
    labels are right on more items the more votes there are: αNLI passes 95% before ten votes, SNLI at about fifty, MNLI
    not by a hundred. JSD and TVD fall steeply at first, then flatten. In the panel for the calibration error, the lines
    for the perfect model lie near 0, and the circles for a few votes as a prediction start far above them.""",
)

# %% [markdown]
# Judged by a hundred votes per item, a perfect model has a JSD of
# {value}`fig-annotation-budget dataset=snli measure=jsd quantity=perfect_model n_votes=100 value .3f` on SNLI. Judged
# by two votes per item, it has a JSD of
# {value}`fig-annotation-budget dataset=snli measure=jsd quantity=perfect_model n_votes=2 value .2f`, which is worse
# than the JSD of the best model in {doc}`results` when that model is judged by a hundred votes
# ({value}`tbl-normalised-scores dataset=snli measure=jsd kind=model min:value .2f`). The majority of five votes is the label that most
# people would choose on only
# {value}`fig-annotation-budget dataset=mnli measure=new_accuracy quantity=perfect_model n_votes=5 value .0%` of the
# MNLI items ({numref}`fig-annotation-budget`). As a prediction, a few votes are also overconfident: five votes per SNLI
# item have a calibration error (ECE) of
# {value}`fig-annotation-budget dataset=snli measure=ece_votes quantity=error n_votes=5 value .3f`, compared with
# {value}`fig-annotation-budget dataset=snli measure=ece_votes quantity=perfect_model n_votes=5 value .3f` for a perfect
# model judged by five votes.
#
# (noise-ceilings-and-sample-sizes)=
# ## Perfect model and second crowd
#
# A {term}`second crowd` consists of another hundred people, whose votes are used to predict those of the first hundred.
# Both crowds are samples, so a model that knew the true distributions would be nearer to either crowd than the other
# crowd is.

# %%
references = ceilings.noise_ceiling(inputs, n_draws=draws, seed=seed)
chosen = references.rows["measure"].isin(["jsd", "dist_ce", "ent_ce", "new_accuracy"])
publish_table(
    "tbl-noise-ceiling",
    references,
    shown=references.rows[chosen],
    columns=ceilings.CEILING_COLUMNS,
    groups=["dataset"],
    caption="""A second crowd scores worse than a perfect model, and both score far better than a uniform guess. Brackets contain 95%
    intervals for items like these. To compute them, items are resampled and the prior is refitted; intervals for errors are widened by 2%
    of the score in each direction, because the votes leave the prior uncertain. In simulations with known truths, our estimate of the
    perfect model's JSD is within 3% of the true value on average. The downloadable data also include two estimates of the second crowd,
    RankCS, a calibration error (by which the uniform guess is best), and KL (which is undefined for the second crowd, because some labels
    receive none of its votes).""",
)

# %% [markdown]
# Only one crowd per item was released, so we estimate how a second crowd would score. For *split halves*
# ({numref}`tbl-noise-ceiling`), crowds of 10 to 50 of an item's votes predict each other, and we extrapolate their
# scores to crowds of a hundred. For *drawn crowds*, we draw both crowds from the same true distribution. On SNLI, the
# two methods give a JSD of {value}`tbl-noise-ceiling dataset=snli measure=jsd second_crowd_halves .3f` and
# {value}`tbl-noise-ceiling dataset=snli measure=jsd second_crowd_posterior .3f` respectively. {cite:t}`nie2020`
# published {value}`tbl-normalised-scores dataset=snli measure=jsd system="estimated human" value .3f` for a second
# crowd that was not released.
#
# We also use halves of the crowd to test our prior. One half of SNLI's votes predicts the other half with a JSD of
# {value}`tbl-noise-ceiling dataset=snli measure=jsd half_measured .4f`. Halves drawn under our prior score
# {value}`tbl-noise-ceiling dataset=snli measure=jsd half_drawn .4f`, and halves drawn under the usual
# [Dirichlet](https://en.wikipedia.org/wiki/Dirichlet_distribution) prior score
# {value}`tbl-noise-ceiling dataset=snli measure=jsd half_dirichlet .4f`.
#
# (which-differences-n-items-and-v-votes-can-detect)=
# ## Many items or many votes
#
# To measure by JSD *how far one* model is from people, it is best to spread 10,000 votes over about 200 items, with
# about fifty votes on each. With five votes on each of 2,000 SNLI items, the mean JSD of one run of RoBERTa-base has an
# error of {value}`fig-items-by-votes dataset=snli system="RoBERTa-base, seed 0" n_votes=5 total_error .3f`, most of
# which is bias. With fifty votes on each of 200 items, the error is
# {value}`fig-items-by-votes dataset=snli system="RoBERTa-base, seed 0" n_votes=50 total_error .3f`. DeBERTa-v3-large,
# which is overconfident, needs far fewer votes, because its biases cancel.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Error by how 10,000 votes are spent, as a figure", "code_prompt_hide": "Fold the figure"}
item_budgets = ceilings.items_by_votes(inputs, budget=budget, n_draws=draws, seed=seed)
publish_figure(
    "fig-items-by-votes",
    plot_items_by_votes,
    item_budgets.where(~are_our_own(item_budgets.rows["system"])),
    caption=f"""To measure a mean distance, most systems need many votes per item. The lines show the total error of a
    system's mean JSD when it is measured with {budget:,} votes; the lowest point of each line is marked. Thin lines
    split one system's error (in its colour) into bias and standard error. Where the budget would pay for more items
    than the dataset contains, we assume that further items like these are available. Both axes are logarithmic. The
    downloadable data include all systems.""",
    alt="""Three panels, one for each dataset, with votes per item from 1 to 100. The total error of each system falls to a
    lowest point at twenty to a hundred votes per item, then rises a little. For the first system a dashed line of bias falls
    from left to right and a dotted line of standard error rises.""",
)

# %% [markdown]
# To find out *which* of two models is nearer to people, add items: beyond twenty votes per item, more votes hardly help
# ({numref}`tbl-power`). ChaosNLI's {value}`fig-power dataset=snli min:n_items ,.0f` SNLI items are enough to detect a difference of
# {value}`fig-power dataset=snli min:detected .3f` in JSD (with 80% power at the 5% level), but neighbours in the
# published ranking are typically only {value}`fig-power dataset=snli min:gap .3f` apart. To detect a difference of that
# size, you need {value}`fig-power dataset=snli min:items_needed_low ,.0f` items for models whose errors are as similar
# as those of two seeds of one model, and {value}`fig-power dataset=snli min:items_needed_high ,.0f` items for an
# average pair. On MNLI, you need {value}`fig-power dataset=mnli min:items_needed_low ,.0f` to
# {value}`fig-power dataset=mnli min:items_needed_high ,.0f` items.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Differences that 1,000 items detect, as a table", "code_prompt_hide": "Fold the table"}
spread = power.spread_of_differences(inputs, n_draws=max(draws // 2, 1), seed=seed)
at_most = power.shown_votes(spread.rows) if len(spread) else []
detectable = power.detectable(spread, [1000])
publish_table(
    "tbl-power",
    detectable,
    shown=power.shown_rows(power.first_pairs(detectable.rows), at_most),
    columns=power.COLUMNS,
    index=power.INDEX,
    caption="""Beyond twenty votes per item, more votes hardly help to detect smaller differences. The table shows the smallest difference
    that 1,000 items are enough to detect with 80% power at the 5% level (two-sided), averaged over all pairs of models. With n items, this
    difference is √(1000/n) times as large. Smaller crowds are random subsets of an item's votes. The share of the variance that is due to
    votes is computed for the squared distance, in closed form. The downloadable data also include the range over pairs, comparisons of two
    seeds of a model, and comparisons of a model with the base rate.""",
) if len(spread) else Markdown("This section needs at least two votes on each of ten items.")

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Differences by votes and items, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-power",
    plot_power,
    power.drawn_rows(power.detectable(spread, power.DRAWN_ITEMS), at_most, inputs.released),
    caption="""It takes more items, not more votes, to distinguish systems. The lines show the smallest difference in JSD that can be
    detected with 80% power at the 5% level, by votes per item, for three numbers of items. The grey line is the median gap between
    neighbours in the ranking given by Table 5 of {cite:t}`nie2020`. Both axes are logarithmic.""",
    alt="""A panel for each dataset, with a line for a hundred, a thousand and ten thousand items. The lines fall a little up to five votes
    per item and are flat beyond that; ten times the items put a line at a third of the difference. On SNLI and MNLI the grey line for the
    gap between published models lies below the line for ten thousand items.""",
) if len(spread) else None

# %% [markdown]
# Choose a measure that is not biased by small numbers of votes. With JSD, judging by five votes per SNLI item favours
# overconfident models: it shifts the difference between two models by
# {value}`tbl-vote-bias dataset=snli n_votes=5 median .3f` (median) and ranks
# {value}`tbl-vote-bias dataset=snli n_votes=5 reversed d` of {value}`tbl-vote-bias dataset=snli n_votes=5 n_pairs d`
# pairs in the wrong order, however many items there are. With twenty votes,
# {value}`tbl-vote-bias dataset=snli n_votes=20 reversed d` pairs are still ranked in the wrong order. KL and the
# unbiased squared distance do not have this bias.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "What few votes do to comparisons by JSD, as a table", "code_prompt_hide": "Fold the table"}
shifts = ceilings.vote_bias(item_budgets)
publish_table(
    "tbl-vote-bias",
    shifts,
    shown=shifts.rows[shifts.rows["n_votes"].isin(power.SHOWN_VOTES)],
    columns=ceilings.BIAS_COLUMNS,
    groups=["dataset"],
    caption="""With JSD, judging by five votes per item ranks some pairs of models in the wrong order. The table shows how far a small
    number of votes shifts the difference between two models from its value under the items' true distributions, and how many pairs are
    ranked in the wrong order. More items do not help. All pairs of models are counted, including seeds and the small models that we
    trained. The downloadable data also include other numbers of votes, and the largest shift of all, which is between the old label and the
    uniform guess.""",
)

# %% [markdown]
# ## What few votes do to each estimate
#
# From three votes per item, the Shannon entropy of MNLI's vote shares is estimated at
# {value}`tbl-few-votes dataset=mnli quantity=shannon estimate=plain n_votes=3 value .2f` nats; from all hundred votes,
# it is estimated at {value}`tbl-few-votes dataset=mnli quantity=shannon estimate=plain n_votes=3 of_all .2f` nats. The
# Miller–Madow correction {cite:p}`miller1955` closes less than half of the gap, and the {term}`nonparametric prior`
# closes nearly all of it. The chance that two people differ needs no correction
# ({value}`tbl-few-votes dataset=mnli quantity=quadratic estimate=unbiased n_votes=3 value .3f` from three votes and
# {value}`tbl-few-votes dataset=mnli quantity=quadratic estimate=unbiased n_votes=3 of_all .3f` from all), and neither
# does {term}`Krippendorff’s α`.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Estimates by votes per item, as a figure", "code_prompt_hide": "Fold the figure"}
few_votes = atlas.few_votes(atlas.book_inputs(crowds), seed=seed)
thinnings = few_votes.on(thinned)
publish_figure(
    "fig-few-votes",
    plot_few_votes,
    thinnings.where(thinnings.rows["estimate"] != "usual"),
    caption="""Unbiased estimates are accurate with as few as three votes, whereas raw vote shares are misleading.
    Points are estimates from 3, 5, 10 and 20 of the hundred votes per MNLI item; dashed lines are the values from all
    votes. Shannon entropy is estimated in three ways: from the raw votes, with the {term}`Miller–Madow correction`, and
    with a {term}`nonparametric prior` (*prior*). The other panels show quadratic entropy and the squared distance between
    people and the mean vote.""",
    alt="""Three panels. For Shannon entropy, the raw votes and Miller–Madow lie far below the dashed line at three votes
    and rise towards it; the prior lies just below it. For quadratic entropy and squared distance the unbiased estimates
    lie on the dashed line at every number of votes; the others miss it widely at three votes.""",
) if len(thinnings) else None

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Estimates by votes per item, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-few-votes",
    few_votes,
    shown=thinnings.rows,
    columns=atlas.FEW_VOTES_COLUMNS,
    groups=["dataset"],
    index=atlas.FEW_VOTES_INDEX,
    caption="""Quadratic entropy, squared distance and α can be estimated from as few as three votes, but ties and unanimity cannot. Values
    are means over fifty draws of a few votes per item, and are shown next to the value from all votes. The downloadable data also include
    the other datasets with a hundred votes.""",
) if len(thinnings) else None

# %% [markdown]
# How many votes it takes to find the majority depends on how divided people are: twenty votes are enough to find it on
# {value}`tbl-crowds-votes dataset=cifar10h quantity=label n_votes=20 value .1%` of CIFAR-10H's pictures, but on only
# {value}`tbl-crowds-votes dataset=mnli quantity=label n_votes=20 value .0%` of the MNLI items.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Majorities and shares by votes per item, on ten datasets, as a table", "code_prompt_hide": "Fold the table"}
votes_needed = atlas.by_votes(crowds, most=most, n_draws=draws, seed=seed)
publish_table(
    "tbl-crowds-votes",
    votes_needed,
    columns=atlas.BY_VOTES_COLUMNS,
    index=atlas.BY_VOTES_INDEX,
    caption="""Except on αNLI and CIFAR-10H, five votes give the wrong majority on more than a tenth of the items. For datasets with at
    least twenty votes on most items, the table shows the share of items on which k votes have the same majority as infinitely many votes
    would, and how far the label shares among k votes are from those among infinitely many. The downloadable data also cover up to a hundred
    votes per item, and include standard deviations over draws.""",
) if len(votes_needed) else Markdown("This needs at least twenty votes on half of the items.")

# %% [markdown]
# ## Tested on a thousand votes
#
# All of the estimates above could be wrong in the same way, so we test them. {cite:t}`lalor2016` showed each of 180
# SNLI pairs, none of which is in ChaosNLI, to about a thousand people. We make forecasts from 5, 20 and 100 of these
# votes, and compare the forecasts with the remaining votes.

# %%
tested = forecasts.forecasts(forecasts.inputs_of_many_votes(inputs), n_draws=draws, seed=seed)
publish_table(
    "tbl-thousand-votes",
    tested,
    columns=forecasts.COLUMNS,
    index=forecasts.INDEX,
    caption=f"""Forecasts of means are accurate with twenty or more votes per item, and nearly accurate with five; for a single item, only
    forecasts under a smooth prior come close. The table compares forecasts that are made under the {{term}}`nonparametric prior` from 5, 20
    and 100 votes per item with what the remaining votes show. Intervals are for a label's share. Values are means over items and {draws}
    draws of the votes. The downloadable data also include 95% intervals over items for the differences.""",
) if len(tested) else Markdown(f"This section needs {forecasts.FEWEST} votes on each item.")

# %% [markdown]
# Forecasts of means are accurate ({numref}`tbl-thousand-votes`). From five votes, the perfect model's distance is
# forecast slightly too low
# (a TVD of {value}`tbl-thousand-votes n_votes=5 quantity=perfect_model forecast .3f`, compared with an observed
# {value}`tbl-thousand-votes n_votes=5 quantity=perfect_model seen .3f`). With twenty or more votes, we see no error in
# any mean. A hundred people misplace fewer than four of every hundred votes (a TVD of
# {value}`tbl-thousand-votes n_votes=100 quantity=perfect_model seen .3f`; forecast:
# {value}`tbl-thousand-votes n_votes=100 quantity=perfect_model forecast .3f`). With only 180 pairs, we could not detect
# an error of a few percent.
#
# For a single item, the nonparametric prior is overconfident, so we use it only for averages. With twenty votes,
# {value}`tbl-thousand-votes n_votes=20 quantity=interval seen .0%` of its 95% intervals contain the label's share. With
# a smooth Dirichlet prior, {value}`tbl-thousand-votes n_votes=20 quantity=interval_dirichlet seen .0%` of the intervals
# do (with a hundred votes, {value}`tbl-thousand-votes n_votes=100 quantity=interval_dirichlet seen .1%`).
#
# ## Where to spend the next vote
#
# A majority label needs few votes where people agree and many where they do not. We replay a collection in which each
# item first gets three of its votes, and a rule then decides where to ask for more. The rule *open majorities* asks
# about items for which $(1 - P)/\sqrt{n}$ is largest; $P$ is the probability that an item's leading label is the
# majority, given its $n$ votes and a prior fitted to all votes so far. The rule *small margins* needs no prior: it asks
# about items for which $(n_1 - n_2)/\sqrt{n_1 + n_2 + 1}$ is smallest, where $n_1$ and $n_2$ are the votes for the two
# leading labels.

# %%
replays = max(draws // 2, 2)
replayed = next_vote.replay(next_vote.replay_inputs(inputs), n_replays=replays, seed=seed)
publish_figure(
    "fig-next-vote",
    plot_next_vote,
    replayed,
    caption=f"""When votes are spent where the majority is open, about half as many are enough to find it. The lines show the share of items
    whose votes so far have the same majority as all of their votes, for each way of spending votes. Evenly spread votes are averaged over
    all ways to draw them, and the other rules over {replays} replays. Bands extend two standard deviations of a single replay to each side
    (not drawn for small margins). The thin line marks the share that is reached with ten votes on every item. The downloadable data also
    include replays whose rounds ask about a third of the items, a rule for shares, majorities judged by other votes, and the effect on
    estimates.""",
    alt="""Four panels, one for each dataset, with votes per item from 3 to 10. The line of votes spread evenly rises
    slowly; two lines of votes spent where the majority is open or the margin small lie above it from four votes on, close
    to each other. At about five votes they cross the level that evenly spread votes reach at ten.""",
) if len(replayed) else Markdown("This section needs at least twenty votes on each item.")

# %% [markdown]
# When votes are spent where majorities are open,
# {value}`fig-next-vote dataset=snli rule=majority quantity=votes_for_majority n_votes=10 value .1f`,
# {value}`fig-next-vote dataset=mnli rule=majority quantity=votes_for_majority n_votes=10 value .1f` and
# {value}`fig-next-vote dataset=alphanli rule=majority quantity=votes_for_majority n_votes=10 value .1f` votes per item
# find as many majorities on SNLI, MNLI and αNLI as ten votes that are spread evenly ({numref}`fig-next-vote`; the
# standard deviation of a single replay is at most
# {value}`fig-next-vote dataset=snli|mnli|alphanli rule=majority quantity=votes_for_majority n_votes=10 max:sd .1f`).
# The margin rule does nearly as well.
#
# **For vote shares, spread votes evenly.** The best rule for shares still needs
# {value}`fig-next-vote dataset=snli rule=shares quantity=votes_for_shares n_votes=10 value .1f` and
# {value}`fig-next-vote dataset=mnli rule=shares quantity=votes_for_shares n_votes=10 value .1f` votes instead of ten on
# SNLI and MNLI, and {value}`fig-next-vote dataset=alphanli rule=shares quantity=votes_for_shares n_votes=10 value .1f`
# on αNLI. With eight or more votes per item on average, the rule *open majorities* estimates shares less accurately
# than even spreading does.
#
# Votes that are spent where people disagree bias later estimates. With five such votes per SNLI item, two people seem
# to differ {value}`fig-next-vote dataset=snli rule=majority quantity=disagreement n_votes=5 value .0%` of the time, but
# in truth they differ {value}`fig-next-vote dataset=snli rule=majority quantity=disagreement_true n_votes=5 value .0%`
# of the time. The first three votes, which all items receive, give an estimate of
# {value}`fig-next-vote dataset=snli rule=majority quantity=disagreement_first n_votes=5 value .0%`. A file of votes
# collected in this way therefore names each vote's batch, so that people and systems can be judged by the votes of the
# first batch. The command `chaos plan votes.csv --votes 1000` lists the items to ask about next ({doc}`../datasets`).
#
# ## Where the numbers come from
#
# The calculator interpolates between the points of {numref}`fig-annotation-budget`, {numref}`tbl-crowds-votes`,
# {numref}`tbl-power` and {numref}`tbl-vote-bias`, and never extrapolates. Shares of right labels are interpolated
# linearly in the logarithm of the number of votes, distances linearly in both logarithms, and variances linearly in the
# reciprocal of the number of votes. A label is “right” if an infinitely large crowd would choose it more often than any
# other. The command `chaos run ceilings -p data=my-votes.csv` computes this page from your votes.
#
# ## Limitations
#
# All of these results apply only to items like these. The SNLI and MNLI items were chosen because the original
# annotators disagreed, and each has {value}`tbl-noise-ceiling dataset=snli measure=jsd n_votes` votes from one crowd.
# The models are not a random sample, and several differ only in their seed. The perfect model's score depends on a
# prior that is fitted to the same votes.

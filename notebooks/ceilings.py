# %% [markdown]
# # How many votes, how many items
#
# *How many votes do I need, and how many items?*
#
# **For a majority label that is right on 95% of items, ten votes each are enough on αNLI
# ({value}`fig-annotation-budget dataset=alphanli measure=new_accuracy quantity=perfect_model n_votes=10 value .0%`) and
# about fifty on SNLI ({value}`fig-annotation-budget dataset=snli measure=new_accuracy quantity=perfect_model n_votes=50 value .0%`);
# on MNLI a hundred are too few
# ({value}`fig-annotation-budget dataset=mnli measure=new_accuracy quantity=perfect_model n_votes=100 value .0%`).** Three are
# right on {value}`fig-annotation-budget dataset=snli measure=new_accuracy quantity=perfect_model n_votes=3 value .0%`,
# {value}`fig-annotation-budget dataset=mnli measure=new_accuracy quantity=perfect_model n_votes=3 value .0%` and
# {value}`fig-annotation-budget dataset=alphanli measure=new_accuracy quantity=perfect_model n_votes=3 value .0%` of the
# items of SNLI, MNLI and αNLI. The items of SNLI and MNLI were chosen because five people had been split; texts that
# were not need fewer.
#
# Spread evenly, five votes find the hundred's majority on
# {value}`fig-next-vote dataset=snli rule=even quantity=right n_votes=5 value .0%`,
# {value}`fig-next-vote dataset=mnli rule=even quantity=right n_votes=5 value .0%` and
# {value}`fig-next-vote dataset=alphanli rule=even quantity=right n_votes=5 value .0%` of the items; spent where the
# vote is close, on {value}`fig-next-vote dataset=snli rule=majority quantity=right n_votes=5 value .0%`,
# {value}`fig-next-vote dataset=mnli rule=majority quantity=right n_votes=5 value .0%` and
# {value}`fig-next-vote dataset=alphanli rule=majority quantity=right n_votes=5 value .0%`.
#
# (calculator-votes-and-items)=
# To compare two models, add items rather than votes, and avoid {term}`JSD` below twenty votes: it favours overconfident models.
#
# ```{calculator} votes
# ```

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
thinned: str = "mnli"  # whose thinning is shown, if it is here; the data has all
most: int = 3000  # items that the nonparametric prior is fitted on; of more, some are drawn
draws: int = 20  # draws of the items' true distributions, and of cuts into half crowds
budget: int = 10000  # votes to spend, on many items or on few
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
# Imagine a {term}`perfect model`, which predicts each item's true distribution: the shares that infinitely many votes
# would have. Judged by a few votes it still seems to err, because votes are a sample. No model can be expected to score
# better.

# %%
budgets = ceilings.annotation_budget(inputs, n_draws=draws, seed=seed)
publish_figure(
    "fig-annotation-budget",
    plot_annotation_budget,
    budgets,
    caption=f"""The more divided people are, the more votes a majority label needs, and the more even a perfect model
    seems to err. Filled points: a perfect model, judged by k votes per item; the first panel is its accuracy. Open
    circles: k votes as a prediction, judged by the truth. Means over {draws} draws; the data has KL, EntCE and RankCS
    too.""",
    alt="""Four panels with votes per item from 1 to 100 on a logarithmic axis and a line for each dataset. Majority
    labels are right on more items the more votes there are: αNLI passes 95% before ten votes, SNLI at about fifty, MNLI
    not by a hundred. JSD and TVD fall steeply at first, then flatten. In the panel for the calibration error, the lines
    for the perfect model lie near 0, and the circles for a few votes as a prediction start far above them.""",
)

# %% [markdown]
# Judged by a hundred votes per item, a perfect model has a JSD of
# {value}`fig-annotation-budget dataset=snli measure=jsd quantity=perfect_model n_votes=100 value .3f` on SNLI; judged by
# two, it has {value}`fig-annotation-budget dataset=snli measure=jsd quantity=perfect_model n_votes=2 value .2f`, which is
# worse than the best model in {doc}`results` judged by a hundred
# ({value}`tbl-normalised-scores dataset=snli measure=jsd kind=model min:value .2f`). The majority of five votes is what
# most people would choose on only
# {value}`fig-annotation-budget dataset=mnli measure=new_accuracy quantity=perfect_model n_votes=5 value .0%` of the MNLI
# items ({numref}`fig-annotation-budget`). A few votes are also overconfident as a prediction: five per SNLI item have a
# calibration error (ECE) of
# {value}`fig-annotation-budget dataset=snli measure=ece_votes quantity=error n_votes=5 value .3f`; a perfect model judged
# by five votes has
# {value}`fig-annotation-budget dataset=snli measure=ece_votes quantity=perfect_model n_votes=5 value .3f`.
#
# We draw the truth from its posterior. A prior of any shape (weights on a grid of distributions) is fitted to all items of a
# dataset, and each item's votes update it. Raw vote shares would mistake sampling noise for disagreement.
#
# (noise-ceilings-and-sample-sizes)=
# ## Perfect model and second crowd
#
# A {term}`second crowd` is another hundred people, used to predict the first hundred. It carries the noise of both
# crowds, so a model that knew the truth would come nearer.

# %%
references = ceilings.noise_ceiling(inputs, n_draws=draws, seed=seed)
chosen = references.rows["measure"].isin(["jsd", "dist_ce", "ent_ce", "new_accuracy"])
publish_table(
    "tbl-noise-ceiling",
    references,
    shown=references.rows[chosen],
    columns=ceilings.CEILING_COLUMNS,
    groups=["dataset"],
    caption="""A second crowd scores worse than a perfect model, and both score far better than a uniform guess. Brackets:
    95% intervals for items like these (resampled, with the prior refitted; errors widened by 2% each way, because the
    votes leave the prior uncertain). The data has two estimates of the second crowd, RankCS, a calibration error, by
    which the uniform guess is best, and KL, for which the second crowd is undefined: some labels get no vote from it, and
    the cost of that depends on the number that replaces 0.""",
)

# %% [markdown]
# Only one crowd per item was released, so we estimate the second. *Split halves* ({numref}`tbl-noise-ceiling`): crowds of
# 10 to 50 of the votes predict each other, and we extrapolate the curve to a hundred. *Drawn crowds*: we draw a truth,
# and both crowds from it; below forty votes per item, this is the only way. On SNLI the two methods give a JSD of
# {value}`tbl-noise-ceiling dataset=snli measure=jsd second_crowd_halves .3f` and
# {value}`tbl-noise-ceiling dataset=snli measure=jsd second_crowd_posterior .3f`; {cite:t}`nie2020` published
# {value}`tbl-normalised-scores dataset=snli measure=jsd system="estimated human" value .3f` for a second crowd that was
# not released.
#
# Half crowds also test the prior. One half of SNLI's votes predicts the other with a JSD of
# {value}`tbl-noise-ceiling dataset=snli measure=jsd half_measured .4f`; crowds drawn under our prior score
# {value}`tbl-noise-ceiling dataset=snli measure=jsd half_drawn .4f`, and under the usual
# [Dirichlet](https://en.wikipedia.org/wiki/Dirichlet_distribution) prior
# {value}`tbl-noise-ceiling dataset=snli measure=jsd half_dirichlet .4f`. No prior can know exactly how small a small
# share is. In simulations with known truths, our estimate of the perfect model's JSD is within 3% of the true one on
# average.
#
# (which-differences-n-items-and-v-votes-can-detect)=
# ## Many items or many votes
#
# To measure *how far one* model is from people by JSD (not to compare two), 10,000 votes are best spent at about fifty
# per item. Five votes on each of 2,000 SNLI items leave an error of
# {value}`fig-items-by-votes dataset=snli system="RoBERTa-base, seed 0" n_votes=5 total_error .3f` in the mean JSD of
# one RoBERTa-base, most of it bias; fifty on each of 200 leave
# {value}`fig-items-by-votes dataset=snli system="RoBERTa-base, seed 0" n_votes=50 total_error .3f`. DeBERTa-v3-large,
# which is overconfident, needs far fewer: its biases cancel.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Error by how 10,000 votes are spent, as a figure", "code_prompt_hide": "Fold the figure"}
item_budgets = ceilings.items_by_votes(inputs, budget=budget, n_draws=draws, seed=seed)
publish_figure(
    "fig-items-by-votes",
    plot_items_by_votes,
    item_budgets.where(~are_our_own(item_budgets.rows["system"])),
    caption=f"""To measure a mean distance, most systems need many votes per item. Total error of a system's mean JSD from
    {budget:,} votes, with its lowest point marked; thin lines split the first system's error into bias and standard
    error. We assume items drawn from a population like this one, which may have fewer items than the budget could buy.
    Both axes are logarithmic; the data has all systems.""",
    alt="""Three panels, one for each dataset, with votes per item from 1 to 100. The total error of each system falls to a
    lowest point at twenty to a hundred votes per item, then rises a little. For the first system a dashed line of bias falls
    from left to right and a dotted line of standard error rises.""",
)

# %% [markdown]
# To find out *which* of two models is nearer, add items: beyond twenty votes per item, more votes hardly reduce how much
# the difference varies from item to item. ChaosNLI's {value}`fig-power dataset=snli min:n_items ,.0f` SNLI items detect a
# difference of {value}`fig-power dataset=snli min:detected .3f` in JSD (with 80% power, at 5%), but neighbours in the
# published ranking are typically {value}`fig-power dataset=snli min:gap .3f` apart. Detecting that takes
# {value}`fig-power dataset=snli min:items_needed_low ,.0f` items for models whose errors are as similar as those of two
# seeds of one model, and {value}`fig-power dataset=snli min:items_needed_high ,.0f` for an average pair; on MNLI,
# {value}`fig-power dataset=mnli min:items_needed_low ,.0f` to {value}`fig-power dataset=mnli min:items_needed_high ,.0f`.

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
    caption="""Beyond twenty votes per item, more votes hardly help to detect smaller differences. The smallest difference
    that 1,000 items detect, with 80% power at 5% (two-sided); with n items it is √(1000/n) times as large. Means over all
    pairs; the data has their range. Votes are thinned: a part of an item's votes is what as many people would have given.
    The share of the variance that is due to votes is for the squared distance, in closed form. The data also compares two
    seeds of a model, and a model with the base rate.""",
) if len(spread) else Markdown("This section needs at least two votes on each of ten items.")

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Differences by votes and items, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-power",
    plot_power,
    power.drawn_rows(power.detectable(spread, power.DRAWN_ITEMS), at_most, inputs.released),
    caption="""More items, not more votes, distinguish systems. The smallest difference in JSD that can be detected with
    80% power at 5%, by votes per item, for three numbers of items. Grey: the median gap between neighbours in the ranking
    of Table 5 in {cite:t}`nie2020`. Both axes are logarithmic.""",
    alt="""A panel for each dataset, with a line for a hundred, a thousand and ten thousand items. The lines fall a little
    up to five votes per item and are flat from there; ten times the items put a line at a third of the difference. On
    SNLI and MNLI the grey line for the gap between published models lies below the line for ten thousand items.""",
) if len(spread) else None

# %% [markdown]
# Choose a measure that is not biased by few votes. By JSD, five votes per SNLI item favour overconfident models: they
# shift the difference between two models by {value}`tbl-vote-bias dataset=snli n_votes=5 median .3f` (median), and rank
# {value}`tbl-vote-bias dataset=snli n_votes=5 reversed d` of {value}`tbl-vote-bias dataset=snli n_votes=5 n_pairs d`
# pairs the wrong way, however many items there are. Twenty votes still misrank
# {value}`tbl-vote-bias dataset=snli n_votes=20 reversed d`. KL and the unbiased squared distance are not shifted.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "What few votes do to comparisons by JSD, as a table", "code_prompt_hide": "Fold the table"}
shifts = ceilings.vote_bias(item_budgets)
publish_table(
    "tbl-vote-bias",
    shifts,
    shown=shifts.rows[shifts.rows["n_votes"].isin(power.SHOWN_VOTES)],
    columns=ceilings.BIAS_COLUMNS,
    groups=["dataset"],
    caption="""By JSD, five votes per item rank some pairs of models the wrong way. How far few votes shift the difference
    between two models from its value under the items' true distributions, and how many pairs they rank the wrong way;
    more items do not help. Over all pairs of models, including seeds and the small models that we trained. The data has
    more numbers of votes, and the largest shift of all, between the old label and the uniform guess.""",
)

# %% [markdown]
# ## What few votes do to each estimate
#
# From three votes per item, the Shannon entropy of MNLI's vote shares is
# {value}`tbl-few-votes dataset=mnli quantity=shannon estimate=plain n_votes=3 value .2f` nats; from all hundred,
# {value}`tbl-few-votes dataset=mnli quantity=shannon estimate=plain n_votes=3 of_all .2f`. The Miller–Madow correction
# {cite:p}`miller1955` closes less than half of the gap, the {term}`nonparametric prior` nearly all of it. The chance that
# two people differ needs no correction
# ({value}`tbl-few-votes dataset=mnli quantity=quadratic estimate=unbiased n_votes=3 value .3f` and
# {value}`tbl-few-votes dataset=mnli quantity=quadratic estimate=unbiased n_votes=3 of_all .3f`), nor does
# {term}`Krippendorff’s α`. How many items are unanimous or tied depends on the number of votes.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Estimates by votes per item, as a figure", "code_prompt_hide": "Fold the figure"}
few_votes = atlas.few_votes(atlas.book_inputs(crowds), seed=seed)
thinnings = few_votes.on(thinned)
publish_figure(
    "fig-few-votes",
    plot_few_votes,
    thinnings.where(thinnings.rows["estimate"] != "usual"),
    caption="""Unbiased estimates hold from three votes on; raw vote shares mislead. Estimates from 3, 5, 10 and 20 of the
    hundred votes per MNLI item, compared with the value of all votes (dashed): Shannon entropy from the raw votes, with
    the {term}`Miller–Madow correction`, and by a {term}`nonparametric prior`; quadratic entropy; and the squared distance
    between people and the mean vote.""",
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
    caption="""Quadratic entropy, squared distance and α can be estimated from three votes; ties and unanimity cannot.
    Means over fifty draws of a few votes per item, and the value of all votes. The data has the other datasets with a
    hundred votes.""",
) if len(thinnings) else None

# %% [markdown]
# How many votes a majority needs depends on how divided people are: twenty votes find it on
# {value}`tbl-crowds-votes dataset=cifar10h quantity=label n_votes=20 value .1%` of CIFAR-10H's pictures, but on
# {value}`tbl-crowds-votes dataset=mnli quantity=label n_votes=20 value .0%` of the MNLI items.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Majorities and shares by votes per item, on ten datasets, as a table", "code_prompt_hide": "Fold the table"}
votes_needed = atlas.by_votes(crowds, most=most, n_draws=draws, seed=seed)
publish_table(
    "tbl-crowds-votes",
    votes_needed,
    columns=atlas.BY_VOTES_COLUMNS,
    index=atlas.BY_VOTES_INDEX,
    caption="""Except on αNLI and CIFAR-10H, five votes find the wrong majority on more than a tenth of the items. For
    datasets with at least twenty votes on most items: the share of items on which k votes have the majority of infinitely
    many, and how far the shares of k votes are from everyone's. The data has up to a hundred votes and the standard
    deviations over draws.""",
) if len(votes_needed) else Markdown("This needs at least twenty votes on half of the items.")

# %% [markdown]
# ## Tested on a thousand votes
#
# These forecasts all come from votes, and could all be wrong together. {cite:t}`lalor2016` showed each of 180 SNLI pairs,
# none of them in ChaosNLI, to about a thousand people. We forecast from 5, 20 and 100 of their votes, and compare with
# the others.

# %%
tested = forecasts.forecasts(forecasts.inputs_of_many_votes(inputs), n_draws=draws, seed=seed)
publish_table(
    "tbl-thousand-votes",
    tested,
    columns=forecasts.COLUMNS,
    index=forecasts.INDEX,
    caption=f"""Forecasts of means hold from twenty votes per item on, and nearly from five; for a single item, only
    those of a smooth prior come close. Forecasts from 5, 20 and 100 votes per item by the
    {{term}}`nonparametric prior`, and what the other votes show. Intervals are for a label's share. Means over items
    and {draws} draws of the votes; the data has 95% intervals over items for the differences.""",
) if len(tested) else Markdown(f"This section needs {forecasts.FEWEST} votes on each item.")

# %% [markdown]
# Forecasts of means hold. From five votes, the perfect model's distance is forecast slightly too low
# ({value}`tbl-thousand-votes n_votes=5 quantity=perfect_model forecast .3f` in TVD, seen
# {value}`tbl-thousand-votes n_votes=5 quantity=perfect_model seen .3f`); from twenty on, we see no error in any mean.
# Five people's majority is everyone's on {value}`tbl-thousand-votes n_votes=5 quantity=majority seen .0%` of the pairs
# (forecast: {value}`tbl-thousand-votes n_votes=5 quantity=majority forecast .0%`), and a hundred people misplace fewer
# than four votes of a hundred ({value}`tbl-thousand-votes n_votes=100 quantity=perfect_model seen .3f` in TVD;
# forecast: {value}`tbl-thousand-votes n_votes=100 quantity=perfect_model forecast .3f`). With 180 pairs, we could not
# see an error of a few percent.
#
# For a single item the nonparametric prior promises too much. From twenty votes, only
# {value}`tbl-thousand-votes n_votes=20 quantity=interval seen .0%` of its 95% intervals contain the label's share:
# fitted to so few items, the prior puts all its weight on a few points. With a smooth Dirichlet prior,
# {value}`tbl-thousand-votes n_votes=20 quantity=interval_dirichlet seen .0%` do, and from a hundred votes slightly
# fewer
# ({value}`tbl-thousand-votes n_votes=100 quantity=interval_dirichlet seen .1%`; {numref}`tbl-thousand-votes`). Of the
# majority labels that the nonparametric prior is at least 95% sure of
# ({value}`tbl-thousand-votes n_votes=20 quantity=sure forecast .1%` on average),
# {value}`tbl-thousand-votes n_votes=20 quantity=sure seen .1%` are right. So we use it for averages, not for single
# items.
#
# ## Where to spend the next vote
#
# A majority label needs few votes where people agree and many where they do not. We replay a collection that uses this:
# each item gets three of its votes, and a rule decides where to ask for more. *Open majorities* asks where $(1 -
# P)/\sqrt{n}$ is largest; $P$ is the chance that an item's leading label is the majority, given its $n$ votes and a prior
# fitted to all votes so far. *Small margins* needs no prior: it asks where $(n_1 - n_2)/\sqrt{n_1 + n_2 + 1}$ is
# smallest, for the two leading labels.

# %%
replays = max(draws // 2, 2)
replayed = next_vote.replay(next_vote.replay_inputs(inputs), n_replays=replays, seed=seed)
publish_figure(
    "fig-next-vote",
    plot_next_vote,
    replayed,
    caption=f"""Spending votes where the majority is open finds it with about half as many. The share of items whose
    votes so far have the majority of all votes, by how votes are spent. For even votes, over all ways to draw them;
    otherwise means over {replays} replays. Bands are two standard deviations of a replay (not drawn for small margins);
    the thin line is what ten votes on every item reach. The data also has rounds of a third of the items, a rule for
    shares, majorities judged by other votes, and the effect on estimates.""",
    alt="""Four panels, one for each dataset, with votes per item from 3 to 10. The line of votes spread evenly rises
    slowly; two lines of votes spent where the majority is open or the margin small lie above it from four votes on, close
    to each other. At about five votes they cross the level that evenly spread votes reach at ten.""",
) if len(replayed) else Markdown("This section needs at least twenty votes on each item.")

# %% [markdown]
# Spent where majorities are open,
# {value}`fig-next-vote dataset=snli rule=majority quantity=votes_for_majority n_votes=10 value .1f`,
# {value}`fig-next-vote dataset=mnli rule=majority quantity=votes_for_majority n_votes=10 value .1f` and
# {value}`fig-next-vote dataset=alphanli rule=majority quantity=votes_for_majority n_votes=10 value .1f` votes per item
# find as many majorities on SNLI, MNLI and αNLI as ten spread evenly ({numref}`fig-next-vote`; the standard deviation
# of a single replay is at most
# {value}`fig-next-vote dataset=snli|mnli|alphanli rule=majority quantity=votes_for_majority n_votes=10 max:sd .1f`).
# The margin rule does nearly as well, and so do rounds of a third of the items.
#
# **For vote shares, spread votes evenly.** The best rule for shares saves little on SNLI and MNLI, where it needs
# {value}`fig-next-vote dataset=snli rule=shares quantity=votes_for_shares n_votes=10 value .1f` and
# {value}`fig-next-vote dataset=mnli rule=shares quantity=votes_for_shares n_votes=10 value .1f` votes instead of ten (on
# αNLI {value}`fig-next-vote dataset=alphanli rule=shares quantity=votes_for_shares n_votes=10 value .1f`), and the rule
# for majorities makes shares worse.
#
# Votes spent where people disagree bias later estimates. With five per SNLI item, two people seem to differ
# {value}`fig-next-vote dataset=snli rule=majority quantity=disagreement n_votes=5 value .0%` of the time; in truth they
# differ {value}`fig-next-vote dataset=snli rule=majority quantity=disagreement_true n_votes=5 value .0%` of the time. The
# first three votes, asked about all items, give
# {value}`fig-next-vote dataset=snli rule=majority quantity=disagreement_first n_votes=5 value .0%`. So a file of votes
# collected this way names each vote's batch, and people and systems are judged by the first batch.
# `chaos plan votes.csv --votes 1000` lists the items to ask about next ({doc}`../datasets`).
#
# ## Where the numbers come from
#
# The calculator interpolates between the points of {numref}`fig-annotation-budget`, {numref}`tbl-crowds-votes`,
# {numref}`tbl-power` and {numref}`tbl-vote-bias`: shares of right labels linearly in the logarithm of the number of
# votes, distances linearly in both logarithms, and variances linearly in one over the number of votes. It never
# extrapolates. “Right” is the label that most of infinitely many people would choose; the majority of the hundred, which
# includes the few votes ({numref}`fig-next-vote`), is found up to one point more often. Your own counts are thinned by an
# exact formula and compared with all votes on each item, so the curve ends at a third of them, and distances are divided
# by √(1 − k/n) for k of n votes. `chaos run ceilings -p data=my-votes.csv` computes this page on your votes.
#
# ## Limitations
#
# All of this holds for items like these: SNLI and MNLI items were chosen because the original annotators disagreed, and
# each has {value}`tbl-noise-ceiling dataset=snli measure=jsd n_votes` votes from one crowd. The models are not a random
# sample, several differ only in their seed, and the perfect model's score depends on a prior fitted to the same votes.

# %% [markdown]
# # How many votes, how many items
#
# *How many votes do I need, and how many items?*
#
# **To get majority labels that are right on 95% of items, a few votes per item are enough where people agree, but not
# where they disagree.** A label is right if an infinitely large crowd would choose it more often than any other. Ten
# votes per item give the right label on
# {value}`fig-annotation-budget dataset=alphanli measure=new_accuracy quantity=perfect_model n_votes=10 value .0%` of
# the αNLI items, fifty votes on
# {value}`fig-annotation-budget dataset=snli measure=new_accuracy quantity=perfect_model n_votes=50 value .0%` of the
# SNLI items, and a hundred votes on only
# {value}`fig-annotation-budget dataset=mnli measure=new_accuracy quantity=perfect_model n_votes=100 value .0%` of the
# MNLI items.
#
# ChaosNLI chose SNLI and MNLI items on which five people had been split, but items that were not chosen in this way may
# need almost as many votes. On 180 other SNLI pairs, for which at least four of five people had given the same label,
# three votes from other people {cite:p}`lalor2016` give the right label on
# {value}`tbl-crowds-votes dataset=lalor quantity=label n_votes=3 value .0%` of the pairs, compared with
# {value}`tbl-crowds-votes dataset=snli quantity=label n_votes=3 value .0%` of ChaosNLI's SNLI items
# ({numref}`tbl-crowds-votes`).
#
# (calculator-votes-and-items)=
# To compare two models, add items rather than votes. With fewer than twenty votes per
# item, report the unbiased {term}`squared distance` or {term}`worth` instead of {term}`JSD`, which then favours
# overconfident models.
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
from chaos_utils.scoring.evaluate import SEED
from chaos_utils.scoring.methods_sentences import wordings

check_parameters(globals())

inputs = gather(data, predictions)
crowds = atlas.atlas_inputs(data, inputs) if inputs.released else inputs
# Not shown here: their records are what `chaos evaluate` and the explorer set a reader's model beside.
for analysis in (reference_scores, baseline_scores):
    analysis(inputs, seed=seed)
own_names = {own.name for own in inputs}
others = [crowd for crowd in crowds if crowd.name not in own_names]
if others:
    reference_scores(others, seed=SEED, measures=list(wordings()["measures"]))
    baseline_scores(others, seed=SEED)

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# ## Measurement error at k votes
#
# A {term}`perfect model` predicts each item's true distribution, that is, the label shares among infinitely many votes.
# Because the votes are only a sample, even a perfect model seems to err.

# %%
budgets = ceilings.annotation_budget(inputs, n_draws=draws, seed=seed)
publish_figure(
    "fig-annotation-budget",
    plot_annotation_budget,
    budgets,
    caption=f"""The more divided people are, the more votes it takes to find the majority label. Filled points show a
    perfect model that is judged against *k* votes per item;
    the first panel shows its accuracy. Open circles in the last panel show that the label shares among *k* votes are
    overconfident if used as a prediction and judged against the true distribution. True distributions are drawn from a
    posterior whose prior may have any shape, because raw vote shares contain sampling noise, which looks like
    disagreement. Values are means over {draws} draws. The downloadable data also include KL, EntCE and RankCS.""",
    alt="""Four panels with votes per item from 1 to 100 on a logarithmic axis and a line for each dataset. The share of
    items with the right majority label rises with the number of votes: αNLI passes 95% before ten votes, SNLI reaches
    it at about fifty, and MNLI stays below it up to a hundred. JSD and TVD fall steeply at first and then flatten. In
    the panel for the calibration error, the lines for the perfect model lie near 0, and the circles for vote shares as
    a prediction start far above them.""",
)

# %% [markdown]
# On SNLI, a perfect model has a JSD of
# {value}`fig-annotation-budget dataset=snli measure=jsd quantity=perfect_model n_votes=100 value .3f` against a hundred
# votes per item ({numref}`fig-annotation-budget`). Against two votes per item, a perfect model has a JSD of
# {value}`fig-annotation-budget dataset=snli measure=jsd quantity=perfect_model n_votes=2 value .2f`, more than the
# {value}`tbl-normalised-scores dataset=snli measure=jsd kind=model min:value .2f` that the best model in {doc}`results`
# has against a hundred votes.
#
# (noise-ceilings-and-sample-sizes)=
# ## Perfect model and second crowd
#
# A {term}`second crowd` consists of a hundred other people, whose votes are used as the prediction.

# %%
references = ceilings.noise_ceiling(inputs, n_draws=draws, seed=seed)
chosen = references.rows["measure"].isin(["jsd", "dist_ce", "ent_ce", "new_accuracy"])
publish_table(
    "tbl-noise-ceiling",
    references,
    shown=references.rows[chosen],
    columns=ceilings.CEILING_COLUMNS,
    groups=["dataset"],
    caption="""A second crowd scores worse than a perfect model, and both score far better than a uniform guess. The
    second crowd's votes are themselves only a sample. Brackets contain 95% intervals for items like these; the
    intervals are computed from resampled items and refitted priors. Intervals for measures of error are widened by 2%
    of the score in each direction, and by more if there are fewer than 1,500 items, because the votes leave the prior
    uncertain. In simulations of 1,500 items whose true distributions are known, our estimate of the perfect model's JSD
    is, on average, within 3% of the true value; with 300 items, it is about 4% too low. The downloadable data also
    include both estimates of the second crowd's score, RankCS, a calibration error, and KL,
    which is undefined for the second crowd.""",
)

# %% [markdown]
# Only one crowd per item was released, so we estimate a second crowd's score in two ways. On SNLI, the JSD of a second
# crowd is {value}`tbl-noise-ceiling dataset=snli measure=jsd second_crowd_halves .3f` when extrapolated from
# *split halves*, in which disjoint crowds of 10 to 50 votes per item predict each other
# ({numref}`tbl-noise-ceiling`). If both crowds are drawn under our prior, the JSD is
# {value}`tbl-noise-ceiling dataset=snli measure=jsd second_crowd_posterior .3f`. {cite:t}`nie2020` published a JSD of
# {value}`tbl-normalised-scores dataset=snli measure=jsd system="estimated human" value .3f` for a second crowd
# whose votes were not released.
#
# In a test of our prior on SNLI, the mean JSD between two halves of a crowd is
# {value}`tbl-noise-ceiling dataset=snli measure=jsd half_measured .4f`. Our prior predicts
# {value}`tbl-noise-ceiling dataset=snli measure=jsd half_drawn .4f`, and the usual
# [Dirichlet](https://en.wikipedia.org/wiki/Dirichlet_distribution) prior predicts
# {value}`tbl-noise-ceiling dataset=snli measure=jsd half_dirichlet .4f`.
#
# (which-differences-n-items-and-v-votes-can-detect)=
# ## Many items or many votes
#
# If you can collect 10,000 votes to measure the JSD between *one* model and people, collect about fifty votes on each
# item. The mean JSD of one run of RoBERTa-base on SNLI has an error of
# {value}`fig-items-by-votes dataset=snli system="RoBERTa-base, seed 0" n_votes=50 total_error .3f` if 200 items get
# fifty votes each, and of
# {value}`fig-items-by-votes dataset=snli system="RoBERTa-base, seed 0" n_votes=5 total_error .3f`, mostly bias, if
# 2,000 items get five votes each. DeBERTa-v3-large, which is overconfident, needs far fewer votes per item than
# RoBERTa-base.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Error by number of votes per item, as a figure", "code_prompt_hide": "Fold the figure"}
item_budgets = ceilings.items_by_votes(inputs, budget=budget, n_draws=draws, seed=seed)
publish_figure(
    "fig-items-by-votes",
    plot_items_by_votes,
    item_budgets.where(~are_our_own(item_budgets.rows["system"])),
    caption=f"""Measuring a mean distance takes many votes per item for most systems. Each line shows the total error of
    one system's mean JSD when {budget:,} votes are spent; the lowest point of each line is marked. For one system, thin
    lines in its colour split the error into bias and standard error. Where the votes are enough for more items than the
    dataset contains, we assume that further items of the same kind are available. Both axes are logarithmic. The
    downloadable data include all systems.""",
    alt="""Three panels, one for each dataset, with votes per item from 1 to 100. The total error of each system falls
    to a lowest point at twenty to a hundred votes per item and then rises a little. For the first system, a dashed line
    for bias falls from left to right, and a dotted line for standard error rises.""",
)

# %% [markdown]
# To find out *which* of two models is nearer to people, add items rather than votes: going beyond twenty votes
# per item hardly helps ({numref}`tbl-power`). ChaosNLI's {value}`fig-power dataset=snli min:n_items ,.0f` SNLI items
# are enough to detect a difference of {value}`fig-power dataset=snli min:detected .3f` in JSD with a statistical power
# of 80%, but neighbours in the published ranking are typically only
# {value}`fig-power dataset=snli min:gap .3f` apart. To tell such neighbours apart, you need
# {value}`fig-power dataset=snli min:items_needed_low ,.0f` SNLI items if their errors are as similar as those of two
# seeds of one model, and {value}`fig-power dataset=snli min:items_needed_high ,.0f` if the errors are only as similar
# as those of an average pair of models. On MNLI, you need {value}`fig-power dataset=mnli min:items_needed_low ,.0f` to
# {value}`fig-power dataset=mnli min:items_needed_high ,.0f` items.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Differences that 1,000 items detect, as a table", "code_prompt_hide": "Fold the table"}
spread = power.spread_of_differences(inputs, n_draws=max(draws // 2, 1), seed=seed)
at_most = power.shown_votes(spread.rows) if len(spread) else []
detectable = power.detectable(spread, [1000])
publish_table(
    "tbl-power",
    detectable,
    shown=power.shown_rows(power.first_pairs(detectable.rows), at_most),
    columns=[
        column
        for column in power.COLUMNS
        # The caption says that two models are compared.
        if column.value != "pair" or set(power.first_pairs(detectable.rows)["pair"]) != {"models"}
    ],
    index=power.INDEX,
    caption="""Beyond twenty votes per item, more votes hardly help to detect smaller differences. The table shows the
    smallest difference that can be detected on 1,000 items with 80% power at the 5% level (two-sided), averaged over
    all pairs of models. On *n* items, this difference is √(1000/n) times as large. Smaller numbers of votes are drawn
    at random from each item's votes. The share of the variance that is due to votes is computed in closed form for the
    squared distance. The downloadable data also include the range over pairs, comparisons of two seeds of a model, and
    comparisons of a model with the base rate.""",
) if len(spread) else Markdown("This section needs at least two votes on each of ten items.")

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Differences by votes and items, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-power",
    plot_power,
    power.drawn_rows(power.detectable(spread, power.DRAWN_ITEMS), at_most, inputs.released),
    caption="""It takes more items, not more votes, to distinguish systems. For each of three numbers of items, a line
    shows the smallest difference in JSD that can be detected with 80% power at the 5% level. The grey line is the
    median gap between neighbours in the ranking in Table 5 of {cite:t}`nie2020`. Both axes are logarithmic.""",
    alt="""A panel for each dataset, with a line for a hundred, a thousand and ten thousand items. The lines fall a
    little up to five votes per item and are flat beyond that; ten times as many items reduce the difference to a third.
    On SNLI and MNLI, the grey line for the gap between published models lies below the line for ten thousand items.""",
) if len(spread) else None

# %% [markdown]
# With five votes per SNLI item, JSD favours overconfident models: the difference in JSD between two models shifts by a
# median of {value}`tbl-vote-bias dataset=snli n_votes=5 median .3f`, and
# {value}`tbl-vote-bias dataset=snli n_votes=5 reversed d` of the
# {value}`tbl-vote-bias dataset=snli n_votes=5 n_pairs d` pairs are ranked in the wrong order, however many items there
# are. With twenty votes per item, {value}`tbl-vote-bias dataset=snli n_votes=20 reversed d` pairs are still ranked in
# the wrong order. KL and the unbiased squared distance do not have this bias.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Effect of few votes on comparisons by JSD, as a table", "code_prompt_hide": "Fold the table"}
shifts = ceilings.vote_bias(item_budgets)
publish_table(
    "tbl-vote-bias",
    shifts,
    shown=shifts.rows[shifts.rows["n_votes"].isin(power.SHOWN_VOTES)],
    columns=ceilings.BIAS_COLUMNS,
    groups=["dataset"],
    caption="""When it is computed from five votes per item, JSD ranks some pairs of models in the wrong order, and more
    items do not help. The table shows how far a small number of votes shifts the difference between two models from its
    value under the items' true distributions, and how many pairs are then ranked in the wrong order. All pairs of
    models are counted, including pairs of seeds of one model and pairs with the small models that we trained. The
    downloadable data also include other numbers of votes, and the largest shift, that of the old label relative to the uniform guess.""",
)

# %% [markdown]
# ## What few votes do to each estimate
#
# The Shannon entropy of MNLI's vote shares is
# {value}`tbl-few-votes dataset=mnli quantity=shannon estimate=plain n_votes=3 value .2f` nats when computed from three
# votes per item, but {value}`tbl-few-votes dataset=mnli quantity=shannon estimate=plain n_votes=3 of_all .2f` nats when
# computed from all votes. The Miller–Madow correction {cite:p}`miller1955` closes less than half of this gap, whereas
# the {term}`nonparametric prior` closes nearly all of it. The chance that two people differ can be estimated without
# bias: {value}`tbl-few-votes dataset=mnli quantity=quadratic estimate=unbiased n_votes=3 value .3f` from three votes
# per item and {value}`tbl-few-votes dataset=mnli quantity=quadratic estimate=unbiased n_votes=3 of_all .3f` from all
# votes.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Estimates by votes per item, as a figure", "code_prompt_hide": "Fold the figure"}
few_votes = atlas.few_votes(atlas.book_inputs(crowds), seed=seed)
thinnings = few_votes.on(thinned)
publish_figure(
    "fig-few-votes",
    plot_few_votes,
    thinnings.where(thinnings.rows["estimate"] != "usual"),
    caption="""Unbiased estimates are accurate with as few as three votes per item, whereas estimates from raw vote
    shares are misleading. Points show estimates from 3, 5, 10 and 20 of the hundred votes per MNLI item; dashed lines
    show the values from all votes. Shannon entropy is estimated in three ways: from the raw votes, with the
    {term}`Miller–Madow correction`, and with a {term}`nonparametric prior` (*prior*). The other panels show quadratic
    entropy and the squared distance between people and the mean vote.""",
    alt="""Three panels. For Shannon entropy, the raw votes and Miller–Madow lie far below the dashed line at three
    votes and rise towards it; the prior lies just below it. For quadratic entropy and squared distance, the unbiased
    estimates lie on the dashed line at every number of votes, whereas the other estimates lie far from the line at
    three votes.""",
) if len(thinnings) else None

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Estimates by votes per item, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-few-votes",
    few_votes,
    shown=thinnings.rows,
    columns=atlas.FEW_VOTES_COLUMNS,
    groups=["dataset"],
    index=atlas.FEW_VOTES_INDEX,
    caption="""Quadratic entropy, squared distance and {term}`Krippendorff’s α` can be estimated from as few as three
    votes per item, but the shares of tied and unanimous items cannot. Values are means over fifty draws of a few votes
    per item, and are shown next to the value from all votes. The downloadable data also include the other datasets with
    a hundred votes per item.""",
) if len(thinnings) else None

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Majorities and vote shares by votes per item, as a table", "code_prompt_hide": "Fold the table"}
votes_needed = atlas.by_votes(crowds, most=most, n_draws=draws, seed=seed)
publish_table(
    "tbl-crowds-votes",
    votes_needed,
    columns=atlas.BY_VOTES_COLUMNS,
    index=atlas.BY_VOTES_INDEX,
    caption="""On all datasets except αNLI and CIFAR-10H, five votes give the wrong majority on more than a tenth of the
    items. The table shows the share of items on which *k* votes have the same majority as infinitely many votes would,
    and how far the label shares among *k* votes are from the shares among infinitely many votes. The table covers the
    datasets with at least twenty votes on most items. The downloadable data go up to a hundred votes per item and
    include standard deviations over draws.""",
) if len(votes_needed) else Markdown("This table needs at least twenty votes on half of the items.")

# %% [markdown]
# ## Tested on a thousand votes
#
# The estimates above could all be wrong in the same way, so we test them on the 180 SNLI pairs of {cite:t}`lalor2016`,
# which were each judged by about a thousand people.

# %%
tested = forecasts.forecasts(forecasts.inputs_of_many_votes(inputs), n_draws=draws, seed=seed)
publish_table(
    "tbl-thousand-votes",
    tested,
    columns=forecasts.COLUMNS,
    index=forecasts.INDEX,
    caption=f"""Forecasts of means are accurate with twenty or more votes per item, and nearly accurate with five; for
    individual items, only a smooth prior gives accurate intervals. The table compares forecasts, made under the
    {{term}}`nonparametric prior` from 5, 20 and 100 votes per item, with what the remaining votes show. Intervals are
    for the share of a label. Values are means over items and {draws} draws of the votes. The downloadable data also
    include 95% intervals over items for the differences.""",
) if len(tested) else Markdown(f"This section needs {forecasts.FEWEST} votes on each item.")

# %% [markdown]
# With five votes per item, the forecast of the perfect model's distance is slightly too low: the forecast TVD is
# {value}`tbl-thousand-votes n_votes=5 quantity=perfect_model forecast .3f`, and the observed TVD is
# {value}`tbl-thousand-votes n_votes=5 quantity=perfect_model seen .3f` ({numref}`tbl-thousand-votes`). With twenty or
# more votes per item, we find no error in the forecast of any mean, but 180 pairs are too few to detect an error of a
# few percent. A hundred people misplace fewer than four votes out of a hundred: the forecast TVD is
# {value}`tbl-thousand-votes n_votes=100 quantity=perfect_model forecast .3f`, and the observed TVD is
# {value}`tbl-thousand-votes n_votes=100 quantity=perfect_model seen .3f`.
#
# For individual items, the nonparametric prior is overconfident, so we use it only for averages. With twenty votes,
# only {value}`tbl-thousand-votes n_votes=20 quantity=interval seen .0%` of the 95% intervals for a label's share contain
# its share among the remaining votes under this prior, compared with
# {value}`tbl-thousand-votes n_votes=20 quantity=interval_dirichlet seen .0%` under a
# smooth Dirichlet prior.
#
# ## Where to spend the next vote
#
# We replay the collection of the votes: each item first gets three of its votes, and a rule then decides which items
# get more. The rule *open majorities* chooses the items with the largest $(1 - P)/\sqrt{n}$, where $P$ is the
# probability that an item's leading label is the majority, given the item's $n$ votes and a prior fitted to all votes
# so far. The rule *small margins* chooses the items with the smallest $(n_1 - n_2)/\sqrt{n_1 + n_2 + 1}$, where $n_1$
# and $n_2$ count the votes for the two leading labels.

# %%
replays = max(draws // 2, 2)
replayed = next_vote.replay(next_vote.replay_inputs(inputs), n_replays=replays, seed=seed)
publish_figure(
    "fig-next-vote",
    plot_next_vote,
    replayed,
    caption=f"""To find as many majorities as ten evenly spread votes per item do, about half as many votes are enough
    if they are spent where the majority is open. For each way of spending votes, a line shows the share of items on
    which the votes collected
    so far have the same majority as all votes. Values are means over all ways to draw evenly spread votes, and over {replays}
    replays of each rule. Bands extend two standard deviations of a single replay to each side; none is drawn for small
    margins. The thin line marks the share that is reached with ten votes on every item. The downloadable data also
    include replays in which each round covers a third of the items, a rule for shares, majorities judged against other
    votes, and the effect on estimates.""",
    alt="""Four panels, one for each dataset, with votes per item from 3 to 10. The line for evenly spread votes rises
    slowly; the two lines for votes spent where the majority is open or the margin is small lie above it from four votes
    on, close to each other. At about five votes, they cross the level that evenly spread votes reach at ten.""",
) if len(replayed) else Markdown("This section needs at least twenty votes on each item.")

# %% [markdown]
# To find as many majorities as ten evenly spread votes per item do, the rule *open majorities* needs
# {value}`fig-next-vote dataset=snli rule=majority quantity=votes_for_majority n_votes=10 value .1f` votes per item on
# SNLI, {value}`fig-next-vote dataset=mnli rule=majority quantity=votes_for_majority n_votes=10 value .1f` on MNLI and
# {value}`fig-next-vote dataset=alphanli rule=majority quantity=votes_for_majority n_votes=10 value .1f` on αNLI
# ({numref}`fig-next-vote`). The rule *small margins*, which does without a prior, needs hardly any more
# votes than *open majorities*.
#
# **To estimate vote shares, uneven spending saves little where people disagree.** To match ten evenly spread votes per
# item, the best rule for shares still needs
# {value}`fig-next-vote dataset=snli rule=shares quantity=votes_for_shares n_votes=10 value .1f` votes per item on SNLI,
# {value}`fig-next-vote dataset=mnli rule=shares quantity=votes_for_shares n_votes=10 value .1f` on MNLI and
# {value}`fig-next-vote dataset=alphanli rule=shares quantity=votes_for_shares n_votes=10 value .1f` on αNLI.
#
# Spending votes where the majority is open biases later estimates. When five votes per SNLI item are spent in this way,
# two people seem to differ {value}`fig-next-vote dataset=snli rule=majority quantity=disagreement n_votes=5 value .0%`
# of the time, compared with
# {value}`fig-next-vote dataset=snli rule=majority quantity=disagreement_true n_votes=5 value .0%` according to all
# votes. The first three votes on every item give an unbiased estimate of
# {value}`fig-next-vote dataset=snli rule=majority quantity=disagreement_first n_votes=5 value .0%`. The command
# `chaos plan votes.csv --votes 1000` lists the items to ask about next. People and systems can then be judged from
# the first batch of votes alone ({doc}`../datasets`).
#
# ## Where the numbers come from
#
# The calculator interpolates between the values in {numref}`fig-annotation-budget`, {numref}`tbl-crowds-votes`,
# {numref}`tbl-power` and {numref}`tbl-vote-bias`; it never extrapolates. If you have too few votes for this, it
# compares how often two people differ on your items with the values for other datasets in {doc}`disagreement`.
#
# ## Limitations
#
# The results on this page may not hold for other items or other crowds. The models are not a random sample, and several
# differ only in their seed. The perfect model's score depends on a prior that is fitted to the same votes.

# %% [markdown]
# # Noise ceilings and sample sizes
#
# *How many votes are enough?*
#
# A hundred votes per item are a sample of what people would say, so even a model that knew the
# truth would miss them a little: on the SNLI items that ChaosNLI chose for their disagreement its
# JSD would be {value}`tbl-noise-ceiling dataset=snli measure=jsd perfect_model .3f`, where the best model
# in {doc}`results` scores
# {value}`tbl-normalised-scores dataset=snli measure=jsd kind=model min:value .3f`. Judged by only
# two votes per item, the same perfect model would score
# {value}`fig-annotation-budget dataset=snli measure=jsd quantity=perfect_model n_votes=2 value .2f`, worse
# than that model judged by a hundred.
#
# How many votes are enough depends on the question. To measure *how far* a model is from people, about fifty votes
# per item make good use of a budget of 10,000 for most systems. (DeBERTa-v3-large needs far fewer: its biases cancel.) To
# find out *which* of two models is nearer, more items help most; beyond twenty votes per item, more votes hardly do. The
# {doc}`calculator of votes and items <../votes_and_items>` reads these curves for the votes, items and budget that you
# have in mind.
#
# The measure has to be one that few votes do not bias. JSD favours overconfident models: five votes per item shift the difference of two models
# by {value}`tbl-vote-bias dataset=snli n_votes=5 median .3f` (the median on SNLI), and rank
# {value}`tbl-vote-bias dataset=snli n_votes=5 reversed d` of
# {value}`tbl-vote-bias dataset=snli n_votes=5 n_pairs d` pairs the wrong way however many items there are.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
draws: int = 20  # draws of the items' true distributions, and of cuts into half crowds
budget: int = 10000  # votes to spend, on many items or on few
seed: int = 0  # seed of all draws

# %%
from IPython.display import Markdown

from chaos_utils.analyses import ceilings, forecasts, next_vote, power
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.analyses.references import baseline_scores, reference_scores
from chaos_utils.plots.ceilings import plot_annotation_budget, plot_items_by_votes
from chaos_utils.plots.next_vote import plot_next_vote
from chaos_utils.plots.power import plot_power
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data, predictions)
# Not shown here: their records are what `chaos evaluate` sets a reader's model beside.
for analysis in (reference_scores, baseline_scores):
    analysis(inputs, seed=seed)

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# ## Measurement error at k votes
#
# Imagine a {term}`perfect model`: it predicts each item's true distribution, the one that endless
# votes would show. Judged by a few votes it still seems to err, because those votes are a sample.
# No model can be expected to score better than that.
#
# The truth is unknown, so we draw it from its posterior: a prior is fitted to all items of a
# dataset, and each item's votes update it. The prior may have any shape; it is a set of weights on
# a grid of distributions (861 of them for three labels), fitted by maximum likelihood. Taking the
# vote shares themselves for the truth would mistake sampling noise for disagreement. Beyond as many
# votes as an item has, the curves extrapolate from that posterior.

# %%
budgets = ceilings.annotation_budget(inputs, n_draws=draws, seed=seed)
publish_figure(
    "fig-annotation-budget",
    plot_annotation_budget,
    budgets,
    caption=f"""With few votes per item, even a perfect model seems to err. Lines: the score of a
    perfect model judged by k votes per item, on each dataset. Open circles, where they differ: k
    votes as a prediction, judged by the truth. Means over {draws} draws; the data has KL too.""",
    alt="""Six panels, one for each measure, with votes per item from 1 to 100 on a logarithmic
    axis and a curve for each dataset. Errors fall steeply at first and flatten; accuracy and
    rank agreement rise towards 1. The curve of αNLI lies on the better side of the two others.
    In the panel of the calibration error, circles start far above the curves.""",
)

# %% [markdown]
# On SNLI, a perfect model's JSD is
# {value}`fig-annotation-budget dataset=snli measure=jsd quantity=perfect_model n_votes=5 value .2f` when
# five votes judge each item and
# {value}`fig-annotation-budget dataset=snli measure=jsd quantity=perfect_model n_votes=100 value .3f` when
# a hundred do ({numref}`fig-annotation-budget`).
#
# The majority of five votes is the label that most people would choose on only
# {value}`fig-annotation-budget dataset=mnli measure=new_accuracy quantity=perfect_model n_votes=5 value .0%`
# of the MNLI items; the majority of a hundred is on
# {value}`fig-annotation-budget dataset=mnli measure=new_accuracy quantity=perfect_model n_votes=100 value .0%`.
#
# Few votes are a poor *prediction* in one more way: they are overconfident. Five votes taken as
# each item's distribution have a calibration error of
# {value}`fig-annotation-budget dataset=snli measure=ece_votes quantity=error n_votes=5 value .3f` against
# the truth on SNLI, while a perfect model judged by five votes has
# {value}`fig-annotation-budget dataset=snli measure=ece_votes quantity=perfect_model n_votes=5 value .3f`, since
# noise cancels within a bin.
#
# ## Perfect model and second crowd
#
# The other reference is what people themselves reach: the {term}`second crowd`,
# one hundred other people as the prediction of the first hundred. It carries the noise of both
# crowds, so a model that knew the truth would beat it.
#
# The release holds one crowd per item, so we estimate the second one's score in two ways. *Split
# halves*: the votes are cut at random into two disjoint crowds of 10, 20, 30, 40 and 50, one judges
# the other, and a curve $a + b\,m^{-1/2} + c\,m^{-1}$ through the five scores is read at a hundred.
# *Drawn crowds*: two crowds are drawn from a drawn truth. The first assumes a curve, the second a
# prior. With fewer than forty votes per item the curve misleads, and only drawn crowds are used.

# %%
references = ceilings.noise_ceiling(inputs, n_draws=draws, seed=seed)
chosen = references.rows["measure"].isin(["jsd", "dist_ce", "ent_ce", "new_accuracy"])
publish_table(
    "tbl-noise-ceiling",
    references,
    shown=references.rows[chosen],
    columns=ceilings.CEILING_COLUMNS,
    caption="""A second crowd scores worse than a perfect model, and both far better than a
    uniform guess. Brackets: 95% intervals for such items (resampled, the prior refitted; errors
    widened by 2% each way, because the votes leave the prior uncertain). The data has RankCS, a
    calibration error, in which the uniform guess is best, and KL, for which the second crowd is
    undefined: it leaves some labels without a vote, and what that costs depends on the number that
    replaces 0.""",
)

# %% [markdown]
# The two estimates of the second crowd agree ({numref}`tbl-noise-ceiling`): by JSD on SNLI,
# {value}`tbl-noise-ceiling dataset=snli measure=jsd second_crowd_halves .3f` from split halves and
# {value}`tbl-noise-ceiling dataset=snli measure=jsd second_crowd_posterior .3f` from drawn crowds. Both agree with the
# estimated human that {cite:t}`nie2020` published from a second crowd that was not released,
# {value}`tbl-normalised-scores dataset=snli measure=jsd system="estimated human" value .3f`. {doc}`results` sets every
# system between the uniform guess and the second crowd, by split halves where both exist.
#
# Half crowds need no extrapolation, so they can check the prior. On SNLI, one half of the votes predicts
# the other with a JSD of {value}`tbl-noise-ceiling dataset=snli measure=jsd half_measured .4f`. Crowds drawn
# under the prior of any shape score {value}`tbl-noise-ceiling dataset=snli measure=jsd half_drawn .4f`; under
# the usual [Dirichlet](https://en.wikipedia.org/wiki/Dirichlet_distribution) prior, with one parameter per
# label, {value}`tbl-noise-ceiling dataset=snli measure=jsd half_dirichlet .4f`. The data of
# {numref}`tbl-noise-ceiling` has the other measures.
#
# No prior can know how small a small share is: a hundred votes do not distinguish 0 from one in a
# thousand, and JSD depends on it. In simulations with known truths, the perfect model's JSD is
# within 3% of the true one on average.
#
# ## Many items or many votes
#
# A study has votes to spend. Spread over many items, they measure a system's *mean* error
# precisely, but each item's votes are few, and their noise shifts the mean: a bias. Spent on few
# items, they remove the bias and leave the chance of the items.

# %%
item_budgets = ceilings.items_by_votes(inputs, budget=budget, n_draws=draws, seed=seed)
publish_figure(
    "fig-items-by-votes",
    plot_items_by_votes,
    item_budgets,
    caption=f"""To measure a mean distance, most systems need many votes per item. Total error of
    a system's mean JSD from {budget:,} votes, its lowest point marked; thin lines are the two
    parts of the first system's. Items are taken to be drawn from a population like this one,
    which may have fewer than the budget could buy. Both axes are logarithmic; the data has all
    systems.""",
    alt="""Three panels, one for each dataset, with votes per item from 1 to 100. The total error
    of each system falls to a lowest point at twenty to a hundred votes per item, then rises a
    little. For the first system a dashed line of bias falls from left to right and a dotted line
    of standard error rises.""",
)

# %% [markdown]
# With 10,000 votes, five votes on each of 2,000 SNLI items leave an error of
# {value}`fig-items-by-votes dataset=snli system="RoBERTa-base, seed 0" n_votes=5 total_error .3f`
# in the mean JSD of one RoBERTa-base; fifty on each of 200 leave
# {value}`fig-items-by-votes dataset=snli system="RoBERTa-base, seed 0" n_votes=50 total_error .3f`
# ({numref}`fig-items-by-votes`).

# %%
shifts = ceilings.vote_bias(item_budgets)
publish_table(
    "tbl-vote-bias",
    shifts,
    shown=shifts.rows[shifts.rows["n_votes"].isin(power.SHOWN_VOTES)],
    columns=ceilings.BIAS_COLUMNS,
    groups=["dataset"],
    caption="""By JSD, five votes per item rank some pairs of models the wrong way. By how much
    so many votes per item shift the difference of two models from the one by the items' true
    distributions, over all pairs of models, seeds included, and how many pairs change places;
    more items do not mend this. The data has more numbers of votes.""",
)

# %% [markdown]
# Nor does the bias cancel when two systems are compared, since it favours the surer one
# ({numref}`tbl-vote-bias`). With five votes per SNLI item, the difference of two models shifts by
# up to {value}`tbl-vote-bias dataset=snli n_votes=5 largest .3f`, where half of the pairs differ by
# less than {value}`tbl-vote-bias dataset=snli n_votes=5 difference .3f`; with twenty,
# {value}`tbl-vote-bias dataset=snli n_votes=20 reversed d` of the pairs are still ranked the wrong
# way.
#
# The shift is largest between guesses: {value}`tbl-vote-bias dataset=snli n_votes=5 guesses .3f`
# between the old label, which bets on one label, and the uniform guess. KL and the unbiased squared
# distance have no such shift from the first or second vote on, and are what to compare models by
# when votes are few.
#
# ## Which differences n items and v votes can detect
#
# That was bias; this is chance. Two systems are judged on the same items, so what counts is how
# much their *difference* varies from item to item. That variance has two parts: items differ, and
# the votes on each are a sample, $\sigma^2=\sigma^2_{\text{items}}+\sigma^2_{\text{votes}}/v$. A
# mean over $n$ items has $1/n$ of it, and a two-sided test at 5% finds a true difference in 80% of
# studies if that is 2.8 standard errors: the smallest difference that a study can count on.
#
# For the squared distance the two parts have unbiased estimates in closed form. For the other
# measures we thin the votes: some of an item's votes, drawn without replacement, are what as many
# people would have given, and two disjoint sets of them are two crowds, so nothing is assumed about
# the truth. A measure judged by few votes is another quantity than the same measure judged by many;
# what is found is a difference in that quantity.

# %%
spread = power.spread_of_differences(inputs, n_draws=max(draws // 2, 1), seed=seed)
at_most = power.shown_votes(spread.rows) if len(spread) else []
detectable = power.detectable(spread, [1000])
publish_table(
    "tbl-power",
    detectable,
    shown=power.shown_rows(power.first_pairs(detectable.rows), at_most),
    columns=power.COLUMNS,
    index=power.INDEX,
    caption="""Beyond twenty votes per item, more votes detect hardly smaller differences. The
    smallest difference that 1,000 items detect, with 80% power at 5% (two-sided); with n items
    it is √(1000/n) times as large. Means over all pairs, whose range the data has. The share of
    the variance that is due to votes is that of the squared distance. The data also has two seeds
    of a model, and a model and the base rate.""",
) if len(spread) else Markdown("This section needs at least two votes on each of ten items.")

# %%
publish_figure(
    "fig-power",
    plot_power,
    power.drawn_rows(power.detectable(spread, power.DRAWN_ITEMS), at_most, inputs.released),
    caption="""More items, not more votes, distinguish systems. The smallest difference in JSD
    that is found with 80% power at 5%, by the votes on each item, for three numbers of items.
    Grey: the median gap between neighbours in the ranking of Table 5 in {cite:t}`nie2020`. Both
    axes are logarithmic.""",
    alt="""A panel for each dataset, with a line for a hundred, a thousand and ten thousand items.
    The lines fall a little up to five votes per item and are flat from there; ten times the items
    put a line at a third of the difference. On SNLI and MNLI the grey line of the gap between
    published models lies below that of ten thousand items.""",
) if len(spread) else None

# %% [markdown]
# ChaosNLI is too small to rank models that are close. Its
# {value}`fig-power dataset=snli min:n_items ,.0f` SNLI items detect a difference of
# {value}`fig-power dataset=snli min:detected .3f` in JSD between two models, but neighbours in the
# published ranking are typically {value}`fig-power dataset=snli min:gap .3f` apart
# ({numref}`fig-power`).
#
# To distinguish such neighbours would take from
# {value}`fig-power dataset=snli min:items_needed_low ,.0f` to
# {value}`fig-power dataset=snli min:items_needed_high ,.0f` items like those of SNLI, and from
# {value}`fig-power dataset=mnli min:items_needed_low ,.0f` to
# {value}`fig-power dataset=mnli min:items_needed_high ,.0f` like those of MNLI: fewer if the two err as alike as two
# seeds of a model, more if they are as unlike as two models on average. Both extrapolate beyond any development set
# that there is.
#
# Models that err on the same items are easier to distinguish: with 1,000 SNLI items, two different
# models need to differ by
# {value}`tbl-power dataset=snli pair=models measure=jsd n_votes=100 difference .3f`
# ({numref}`tbl-power`), two seeds of one model by only
# {value}`tbl-power dataset=snli pair=seeds measure=jsd n_votes=100 difference .3f`. Items decide
# which systems can be distinguished; votes decide what is measured.
#
# ## Tested on a thousand votes
#
# All of these forecasts are made from votes, and could be wrong together. {cite:t}`lalor2016` asked about a thousand people
# for each of 180 SNLI pairs, none of them in ChaosNLI. We draw 5, 20 and 100 of the votes on each pair,
# forecast from these alone, and let all others say what is true.

# %%
tested = forecasts.forecasts(forecasts.inputs_of_many_votes(inputs), n_draws=draws, seed=seed)
publish_table(
    "tbl-thousand-votes",
    tested,
    columns=forecasts.COLUMNS,
    index=forecasts.INDEX,
    caption=f"""Forecasts of means hold from five votes per item on; those for a single item do not, unless the prior is
    smooth. What is forecast from 5, 20 and 100 votes per item by the {{term}}`nonparametric prior`, and what the other
    votes say. Means over items and {draws} draws of the votes; the data has 95% intervals over items for the differences.""",
) if len(tested) else Markdown(f"This section needs {forecasts.FEWEST} votes on each item.")

# %% [markdown]
# Means hold. The shares of five votes are {value}`tbl-thousand-votes n_votes=5 quantity=perfect_model seen .3f` from those
# of everyone, where {value}`tbl-thousand-votes n_votes=5 quantity=perfect_model forecast .3f` was forecast; their majority
# label is everyone's on {value}`tbl-thousand-votes n_votes=5 quantity=majority seen .0%` of the pairs, where
# {value}`tbl-thousand-votes n_votes=5 quantity=majority forecast .0%` was ({numref}`tbl-thousand-votes`). People's mean
# entropy, {value}`tbl-thousand-votes n_votes=5 quantity=entropy seen .2f` nats, is forecast as
# {value}`tbl-thousand-votes n_votes=5 quantity=entropy forecast .2f` from five votes, whose own shares give
# {value}`tbl-thousand-votes n_votes=5 quantity=entropy_plain forecast .2f`. Since all of these are of 180 pairs, an error of a
# few percent could not be seen.
#
# For a single item the nonparametric prior promises too much. Of its 95% intervals of a label's share, by twenty votes, only
# {value}`tbl-thousand-votes n_votes=20 quantity=interval seen .0%` hold it: fitted to so few items, it has a few points
# alone, and allows nothing between them. Of the intervals by a Dirichlet prior, which is smooth,
# {value}`tbl-thousand-votes n_votes=20 quantity=interval_dirichlet seen .0%` hold it. Majority labels to which the
# nonparametric prior gives a chance of 95% or more, on average
# {value}`tbl-thousand-votes n_votes=20 quantity=sure forecast .1%`, are right in
# {value}`tbl-thousand-votes n_votes=20 quantity=sure seen .1%`: by twenty votes, several times as many are wrong as it
# says. So averages in this book come from the nonparametric prior, and what is said of a single item should not.
#
# ## Where to spend the next vote
#
# A majority label needs few votes where people agree and many where they do not. Spread evenly, five votes per item find
# the hundred's majority on {value}`fig-next-vote dataset=snli rule=even quantity=right n_votes=5 value .0%` of the items
# of SNLI, {value}`fig-next-vote dataset=mnli rule=even quantity=right n_votes=5 value .0%` of MNLI and
# {value}`fig-next-vote dataset=alphanli rule=even quantity=right n_votes=5 value .0%` of αNLI; spent where the majority
# is open, on {value}`fig-next-vote dataset=snli rule=majority quantity=right n_votes=5 value .0%`,
# {value}`fig-next-vote dataset=mnli rule=majority quantity=right n_votes=5 value .0%` and
# {value}`fig-next-vote dataset=alphanli rule=majority quantity=right n_votes=5 value .0%`.
#
# We replay such a collection: each item gets three of its votes, and the rest are drawn where the rule asks. *Open
# majorities* asks where $(1 - P)/\sqrt{n}$ is largest; $P$ is the chance that the likeliest label is the majority, given
# the item's $n$ votes and a prior fitted to all votes so far. *Small margins* needs no prior: it asks where the two
# leading labels are fewest standard errors apart, $(n_1 - n_2)/\sqrt{n_1 + n_2 + 1}$.

# %%
replays = max(draws // 2, 2)
replayed = next_vote.replay(next_vote.replay_inputs(inputs), n_replays=replays, seed=seed)
publish_figure(
    "fig-next-vote",
    plot_next_vote,
    replayed,
    caption=f"""Votes spent where the majority is open find it with about half as many. The share of items whose
    majority of votes is that of all votes, by how votes are spent. Means over {replays} replays, bands, not for small margins, of
    two standard deviations; the thin line is what ten even votes reach. The data also has rounds of a third of the
    items, a rule for shares, majorities judged by other votes, and what such votes do to estimates.""",
    alt="""Four panels, one for each dataset, with votes per item from 3 to 10. The line of votes spread evenly rises
    slowly; two lines of votes spent where the majority is open or the margin small lie above it from four votes on,
    close to each other, and cross the level that ten even votes reach at about five.""",
) if len(replayed) else Markdown("This section needs at least twenty votes on each item.")

# %% [markdown]
# Spent where the majority is open,
# {value}`fig-next-vote dataset=snli rule=majority quantity=votes_for_majority n_votes=10 value .1f`,
# {value}`fig-next-vote dataset=mnli rule=majority quantity=votes_for_majority n_votes=10 value .1f` and
# {value}`fig-next-vote dataset=alphanli rule=majority quantity=votes_for_majority n_votes=10 value .1f` votes per item find
# as many majorities as ten spread evenly ({numref}`fig-next-vote`), and
# {value}`fig-next-vote dataset=lalor rule=majority quantity=votes_for_majority n_votes=10 value .1f` on Lalor's items
# with their thousand votes. The margin rule does nearly as well, and so do rounds of a third of the items:
# {value}`fig-next-vote dataset=mnli rule="majority in large rounds" quantity=votes_for_majority n_votes=10 value .1f` on
# MNLI.
#
# For vote *shares*, spread them evenly. The best rule for shares saves little on SNLI and MNLI, and on αNLI more (it needs
# {value}`fig-next-vote dataset=snli rule=shares quantity=votes_for_shares n_votes=10 value .1f`,
# {value}`fig-next-vote dataset=mnli rule=shares quantity=votes_for_shares n_votes=10 value .1f` and
# {value}`fig-next-vote dataset=alphanli rule=shares quantity=votes_for_shares n_votes=10 value .1f` votes for ten), and
# the rule for majorities makes them worse.
#
# Such votes bias what follows. With five of them per item on SNLI, two people seem to differ on
# {value}`fig-next-vote dataset=snli rule=majority quantity=disagreement n_votes=5 value .0%` of the items where
# {value}`fig-next-vote dataset=snli rule=majority quantity=disagreement_true n_votes=5 value .0%` is true. The first
# three votes, which were asked of all items, are sound
# ({value}`fig-next-vote dataset=snli rule=majority quantity=disagreement_first n_votes=5 value .0%`), and so is a prior
# fitted to all votes ({value}`fig-next-vote dataset=snli rule=majority quantity=disagreement_prior n_votes=5 value .0%`).
# A file of such votes therefore says in which batch each was asked; people and systems are judged by the first.
# `chaos plan votes.csv --votes 1000` writes which items to ask about next: {doc}`../datasets` shows how.
#
# ## Limitations
#
# All of this holds for items like these: SNLI and MNLI items were chosen because the original
# annotators disagreed, and each has
# {value}`tbl-noise-ceiling dataset=snli measure=jsd n_votes` votes from one crowd. The models
# here are no sample of models, and several on SNLI and MNLI differ only in their seed.
#
# The variances of differences are those of the pairs available, not of models in general, and the
# perfect model's score depends on a prior fitted to the same votes.

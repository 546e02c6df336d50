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
# # How many votes are enough
#
# A hundred votes per item are a sample of what people would say. So how low can an error go
# that is measured against them, how well does one crowd predict another, and how many votes
# would have been enough?

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
draws: int = 20  # draws of the items' true distributions, and of cuts into half crowds
resamples: int = 500  # bootstrap resamples of the items, for the 95% intervals
budget: int = 10000  # votes to spend, on many items or on few
seed: int = 0  # seed of all draws and resamples

# %%
from IPython.display import Markdown

from chaos_utils.analyses import ceilings, power
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.analyses.references import baseline_scores, reference_scores
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.plots.ceilings import (
    plot_annotation_budget,
    plot_items_by_votes,
    plot_noise_ceiling,
)
from chaos_utils.plots.power import plot_power
from chaos_utils.presentation import ceilings as presentation
from chaos_utils.presentation import power as of_power
from chaos_utils.report.columns import signed
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table

material = gather(data, predictions)
# Not shown here: their records are what `chaos evaluate` sets a reader's model beside.
for analysis in (reference_scores, baseline_scores):
    analysis(material, seed=seed)

# %% tags=["remove-input"]
Markdown(notices(material))

# %% [markdown]
# ## Measurement error at k votes
#
# Take a perfect model: it predicts each item's true distribution, the one that endless votes
# would show. Judged by a few votes it still seems to err, because the votes do not fall exactly
# as the truth has it. That apparent error is the {term}`noise floor` of a measure at k votes, and
# no model can be expected to score below it.
#
# The truth is not known, only votes. We draw it from its posterior: a prior is fitted to all items
# of a dataset, and each item's votes update it. The prior may have any shape. It is a set of weights
# on a grid of distributions (861 of them for three labels, closer together where a label has few
# votes), fitted by maximum likelihood. To take the vote shares themselves for the truth would let
# the noise of the votes pass for disagreement.

# %%
budgets = ceilings.annotation_budget(material, n_draws=draws, seed=seed)
publish_figure(
    "fig-annotation-budget",
    plot_annotation_budget,
    budgets,
    caption=f"""What k votes per item leave of each measure. Lines: the noise floor, the score of a
    perfect model that is judged by k votes. Open circles: the shares of k votes, judged by the
    truth. Means over {draws} draws of truth and votes; measures as in {{cite:t}}`nie2020` and
    {{cite:t}}`baan2022`.""",
    alt="""Seven panels, one for each measure, with votes per item from 1 to 100 on a logarithmic
    axis and a curve for each dataset. Errors fall steeply at first and flatten; accuracy and rank
    agreement rise towards 1. Circles lie on the lines, but for the calibration error, where they
    start far above them. The curve of αNLI lies at the better side of the two others.""",
)

# %% tags=["remove-input"]
votes_left = budgets.rows
floor = votes_left[votes_left["quantity"] == "floor"].set_index(["measure", "dataset", "n_votes"])
names = {one.name: one.short for one in material.datasets}
jsd = [
    f"{floor.loc[('jsd', dataset, 1), 'value']:.2f} with one vote, "
    f"{floor.loc[('jsd', dataset, 5), 'value']:.2f} with five, "
    f"{floor.loc[('jsd', dataset, 20), 'value']:.3f} with twenty and "
    f"{floor.loc[('jsd', dataset, 100), 'value']:.3f} with a hundred on {name}"
    for dataset, name in names.items()
]
top = [
    f"{floor.loc[('new_accuracy', dataset, 5), 'value']:.0%} with five votes and "
    f"{floor.loc[('new_accuracy', dataset, 100), 'value']:.0%} with a hundred on {name}"
    for dataset, name in names.items()
]
shares = votes_left[votes_left["quantity"] == "error"].set_index(["measure", "dataset", "n_votes"])
calibration = [
    f"{shares.loc[('ece_votes', dataset, 5), 'value']:.3f} against "
    f"{floor.loc[('ece_votes', dataset, 5), 'value']:.3f} on {name}"
    for dataset, name in names.items()
]
Markdown(
    f"In {{numref}}`fig-annotation-budget`, the JSD of a perfect model is {'; '.join(jsd)}. Its "
    f"accuracy against the majority of the votes is {'; '.join(top)}: that is how often a majority "
    "is the label that most people would choose. With an even number of votes, ties are common and "
    "decided by chance, so a second vote adds nothing there.\n\n"
    "For a measure that treats both sides alike, the error of k votes *as an estimate of the truth* "
    "is the same number as the floor. Calibration does not: judged by few votes, a perfect model is "
    "still nearly calibrated, since noise cancels within a bin, but few votes used as a prediction "
    f"are much too sure of themselves. With five votes, their calibration error is "
    f"{'; '.join(calibration)}. KL has no such value, because a label without a vote makes it "
    "infinite." + presentation.say_beyond(votes_left)
)

# %% [markdown]
# ## Perfect model and second crowd
#
# A second reference is what people reach. One crowd of a hundred as a prediction of another crowd
# of a hundred carries the noise of both: the {term}`second crowd <human ceiling>`, or ceiling, of
# this book. A model that knew the truth would do better than it.
#
# The release holds one crowd per item, so we estimate its score in two ways. *Split halves*: the
# votes are cut at random into two disjoint crowds of 10, 20, 30, 40 and 50, one judges the other,
# and a curve $a + b\,m^{-1/2} + c\,m^{-1}$ through the five scores is read at a hundred. *Drawn
# crowds*: two crowds are drawn from a drawn truth. The first assumes a curve, the second a prior.
# With fewer than forty votes per item the curve misleads, and only drawn crowds are used.

# %%
references = ceilings.noise_ceiling(material, n_draws=draws, seed=seed)
publish_table(
    "tbl-noise-ceiling",
    references,
    columns=ceilings.CEILING_COLUMNS,
    caption="""Perfect model and second crowd by each measure, for crowds as large as the released
    ones. The uniform prediction is judged by the released votes. Intervals (95%) are for the
    population that the items are drawn from: items resampled and the prior refitted; those of errors
    are widened by 2% each way, because the votes leave the prior uncertain. A calibration error has none. A second crowd whose error is less than twice its standard error is
    called not distinguishable from 0. KL has no second crowd: a crowd leaves some labels without a
    vote, and what that costs it as a prediction depends on the number that replaces 0.""",
)

# %% tags=["remove-input"]
bounds = references.rows
of = bounds[bounds["measure"] == "jsd"].set_index("dataset")
cut = of[of["ceiling_halves"].notna()]
Markdown(
    "By JSD, a second crowd has "
    + "; ".join(
        (f"{of.loc[dataset, 'ceiling_halves']:.3f} by split halves and " * (dataset in cut.index))
        + f"{of.loc[dataset, 'ceiling_posterior']:.3f} by drawn crowds on {name}"
        for dataset, name in names.items()
    )
    + "."
    + " Scores below are rescaled by the split halves." * bool(len(cut))
    + presentation.say_uncut(bounds)
)

# %% [markdown]
# ## What the prior's shape costs
#
# Half crowds need no extrapolation, so there the prior can be checked against measured scores.
# A [Dirichlet](https://en.wikipedia.org/wiki/Dirichlet_distribution) prior, the usual choice, has
# one parameter per label; people's answers do not keep to its shape.

# %%
publish_table(
    "tbl-prior",
    references,
    columns=ceilings.PRIOR_COLUMNS,
    caption="""The perfect model's score under a prior of any shape, which the book uses, and under a
    Dirichlet prior. Half crowds: the measured score of one half of the votes as a prediction of
    the other, and by how much crowds of that size that are drawn under each prior miss it.""",
)

# %% tags=["remove-input"]
halved = bounds.dropna(subset=["half_measured"])
misses = {
    prior: (halved[f"half_{column}"] / halved["half_measured"] - 1)
    .abs()
    .groupby(halved["measure"])
    .max()
    for prior, column in (("any shape", "drawn"), ("Dirichlet", "dirichlet"))
}
lower = of["floor_dirichlet"] / of["floor"] - 1
text = "With a Dirichlet prior, the perfect model's JSD would change by " + ", ".join(
    f"{signed(100 * lower[dataset], 1)} % on {name}" for dataset, name in names.items()
)
if "jsd" in misses["any shape"]:
    text += (
        f". Its half crowds miss the measured JSD by up to {misses['Dirichlet']['jsd']:.1%}, those of "
        f"the prior of any shape by up to {misses['any shape']['jsd']:.1%}"
    )
Markdown(
    text
    + ". No prior can know how small a small share is: a hundred votes do not distinguish 0 from "
    "one in a thousand, and JSD depends on it. In simulations with known truths, the perfect model's "
    "JSD is within 3 % of the true one on average."
)

# %%
between = ceilings.normalised_scores(material, n_draws=draws, n_resamples=resamples, seed=seed)
publish_figure(
    "fig-noise-ceiling",
    plot_noise_ceiling,
    between.where(between.rows["measure"].isin(["jsd", "dist_ce"])),
    caption="""Every system between perfect model, second crowd and uniform prediction. JSD (distance, natural
    logarithm) and DistCE, lower is better; bars are 95% bootstrap intervals over items. The
    estimated human is the published one of Table 5 in {cite:t}`nie2020`, from a second crowd that
    was not released; the paper gives no DistCE.""",
    alt="""Dot plots with a row for each system, for three datasets, in JSD and in DistCE. Three
    vertical lines mark floor, ceiling and uniform prediction. Floor and ceiling stand close
    together at the left. The published estimated human lies at the ceiling; all other systems
    lie far to the right of it, and on MNLI the models lie about the line of the uniform
    prediction.""",
)

# %% tags=["remove-input"]
scores = between.rows
human = scores[(scores["source"] == "published") & (scores["measure"] == "jsd")].set_index(
    "dataset"
)
no_model = {"uniform", "class prior", "mean vote", "mean vote given the old label"}
no_model |= {"old label", "original votes"}
at_hand = scores[(scores["source"] == "computed") & ~scores["system"].isin(no_model)]
ceiling = scores[scores["measure"] == "jsd"].groupby("dataset")["ceiling"].last()
best = (
    at_hand[(at_hand["measure"] == "jsd") & at_hand["rescaled"].notna()]
    .sort_values("value")
    .groupby("dataset")
    .first()
)
few = scores[(scores["measure"] == "jsd") & (scores["system"] == "original votes")]
few = few[few["rescaled"].notna()].set_index("dataset")


def as_bad_as(dataset):
    k = [
        k
        for k in ceilings.VOTES
        if floor.loc[("jsd", dataset, k), "value"] > best.loc[dataset, "value"]
    ]
    return (
        f" (even a perfect model scores worse when {max(k)} votes or fewer judge an item)"
        if k
        else ""
    )


sentences = [
    f"on {name}, "
    + (
        f"the published estimated human has {human.loc[dataset, 'value']:.4f} and "
        if dataset in human.index
        else ""
    )
    + f"the ceiling here is {ceiling[dataset]:.4f}"
    + (
        f"; the best available model has {best.loc[dataset, 'value']:.3f}, "
        f"{best.loc[dataset, 'rescaled']:.0%} of the way from the uniform prediction to the ceiling"
        f"{as_bad_as(dataset)}"
        if dataset in best.index
        else ""
    )
    + (
        f", the few original votes {few.loc[dataset, 'value']:.3f} and {few.loc[dataset, 'rescaled']:.0%}"
        if dataset in few.index
        else ""
    )
    for dataset, name in names.items()
]
Markdown(
    f"JSD in {{numref}}`fig-noise-ceiling`: {'. '.join(s[0].upper() + s[1:] for s in sentences)}."
)

# %% [markdown]
# ## Scores from guess to crowd
#
# A rescaled score is 0 for the uniform prediction and 1 for the ceiling, whichever way a measure
# points. It can be below 0 (worse than guessing evenly) and above 1 (a perfect model is).

# %%
publish_table(
    "tbl-normalised-scores",
    between,
    shown=ceilings.side_by_side(scores),
    columns=ceilings.score_columns(scores),
    caption=f"""Scores and rescaled scores, with 95% intervals. Rescaled so that the uniform
    prediction is 0 and the ceiling (split halves) is 1. *Excess*: JSD or KL minus what a perfect model
    has on the same items. Intervals are from {resamples:,} resamples
    of the items, in which system, uniform prediction and ceiling are resampled together. A dash:
    the ceiling is not surely better than the uniform prediction. KL has no ceiling. Calibration
    errors have no interval, since a bootstrap interval would not cover the true value. RankCS breaks ties
    at random, and tied labels share an item's accuracy, so that the uniform prediction has what
    chance has.""",
)

# %% tags=["remove-input"]
worse = at_hand[at_hand["rescaled_high"] < 0]  # a calibration error has no interval
n_models = at_hand.groupby("dataset")["system"].nunique()
listed = [
    f"{MEASURES[measure].title} on {names[dataset]} ({n} of {n_models[dataset]})"
    for (dataset, measure), n in worse.groupby(["dataset", "measure"], sort=False).size().items()
]
Markdown(
    (
        "Available models that are worse than the uniform prediction, their whole interval below 0 in "
        f"{{numref}}`tbl-normalised-scores`: {'; '.join(listed)}. "
        if listed
        else "No available model has a whole interval below 0 in {numref}`tbl-normalised-scores`. "
    )
    + "The calibration error against vote shares cannot be rescaled: a prediction that says nothing is "
    "perfectly calibrated where people, on average, use every label alike. The less room there is between "
    "guess and second crowd, the larger the rescaled values and the wider their intervals; where there is "
    "none, no value is given. Calibration alone does not tell a good model from an empty one."
)

# %% [markdown]
# ## Many items or many votes
#
# A study has votes to spend. Spread over many items, they measure a system's *mean* error
# precisely, but each item's votes are few, and their noise shifts the mean: a bias. Spent on few
# items, they remove the bias and leave the chance of the items.

# %%
bought = ceilings.items_by_votes(material, budget=budget, n_draws=draws, seed=seed)
publish_figure(
    "fig-items-by-votes",
    plot_items_by_votes,
    bought,
    caption=f"""What {budget:,} votes are worth, on many items or on few. For each system, solid:
    the standard error of its mean JSD over the items that the budget buys; dashed: the bias from
    judging by few votes, expected JSD minus JSD against the truth, its size. Where the two cross,
    both harm alike. Items are taken to be drawn from a population like this one, which may
    have fewer than a budget could buy. Both axes are logarithmic.""",
    alt="""Three panels, one for each dataset, with votes per item from 1 to 100. Dashed lines of bias
    fall from left to right, solid lines of standard error rise. They cross between ten and
    a hundred votes per item; with few votes, the bias is many times the standard error.""",
)

# %% tags=["remove-input"]
spent = bought.rows
lowest = spent.loc[spent.groupby(["dataset", "system"], sort=False)["total_error"].idxmin()]
sizes = lowest.groupby("dataset", sort=False)["n_votes"].agg(["min", "max"])
k = 5 if 5 in set(spent["n_votes"]) else spent["n_votes"].max()
few_votes = spent[spent["n_votes"] == k].sort_values("bias").groupby("dataset")
first, last = few_votes.first(), few_votes.last()
shifts = [
    f"{signed(first.loc[dataset, 'bias'], 3)} ({first.loc[dataset, 'system']}) to "
    f"{signed(last.loc[dataset, 'bias'], 3)} ({last.loc[dataset, 'system']}) on {name}"
    for dataset, name in names.items()
    if first.loc[dataset, "system"] != last.loc[dataset, "system"]
]
Markdown(
    f"With {budget:,} votes, the total error of mean JSD in {{numref}}`fig-items-by-votes` is lowest "
    + ", ".join(
        f"at {row['min']} votes per item on {names[dataset]}"
        if row["min"] == row["max"]
        else f"at {row['min']} to {row['max']} votes per item, by system, on {names[dataset]}"
        for dataset, row in sizes.iterrows()
    )
    + ". Nor does the bias cancel when two systems are compared, since it is not the same for both."
    + (f" With {k} votes per item it ranges from {', from '.join(shifts)}." if shifts else "")
    + " A system that spreads its probability and one that bets on a label are not shifted alike, "
    "so a ranking by few votes may not be the ranking by many."
)

# %% [markdown]
# ## What n items and v votes can tell apart
#
# Two systems are judged on the same items, so what counts is how much their *difference* varies from
# item to item. That variance has two parts: items differ, and the votes on each are a sample,
# $\sigma^2 = \sigma^2_{\text{items}} + \sigma^2_{\text{votes}} / v$. A mean over $n$ items has
# $1/n$ of it, and a two-sided test at 5% finds a true difference in 80% of studies if that is 2.8
# standard errors: the smallest difference that a study can count on.
#
# For the squared distance the two parts have unbiased estimates in closed form. For the other measures
# we thin the votes: some of an item's votes, drawn without replacement, are what as many people
# would have given, and two disjoint sets of them are two crowds, so that nothing is assumed about the
# truth. A measure judged by few votes is another quantity than the same measure judged by many (its
# bias is the subject of the sections above); what is found is a difference in that quantity.

# %%
spread = power.spread_of_differences(material, n_draws=draws, seed=seed)
at_most = power.shown_votes(spread.rows) if len(spread) else []
publish_table(
    "tbl-power",
    power.detectable(spread, [1000]),
    shown=power.side_by_side(power.detectable(spread, [1000]).rows, at_most),
    columns=power.COLUMNS,
    caption="""The smallest difference that 1,000 items detect, with 80% power at 5% (two-sided), by
    votes per item. With n items it is √(1000/n) times as large. The variances are means over all
    pairs of a kind, which the CSV has with their range and parts; the mean vote is that given the old
    label, where there is one, out of fold. The variance that votes have is that of the squared
    distance, the rest is between items.""",
) if len(spread) else Markdown("This section needs at least two votes on each of ten items.")

# %%
gaps = power.published_gaps(spread, material.released) if len(spread) else None
publish_figure(
    "fig-power",
    plot_power,
    power.drawn(power.detectable(spread, power.DRAWN_ITEMS), gaps, at_most),
    caption="""More items, not more votes, tell systems apart. The smallest difference that is found
    with 80% power at 5%, by the number of items judged; lines for votes per item, which nearly
    coincide from five on in JSD. The dot is a dataset's items with as many votes as there are. Grey:
    the median gap between models of Table 5 in {cite:t}`nie2020` that are neighbours by their score.
    Both axes are logarithmic.""",
    alt="""Two rows of panels, JSD and squared distance, one column per dataset. In each, nearly
    parallel lines fall from left to right as items increase: ten times the items, a third of the
    difference. Lines for different numbers of votes lie close together, that for one vote on top. The
    dot of the whole dataset lies above the grey line of the gap between published models.""",
) if len(spread) else Markdown("")

# %% tags=["remove-input"]
Markdown(
    f"{of_power.say_found(gaps.rows)}\n\n{of_power.say_votes(spread.rows)}\n\n"
    f"{of_power.say_alike(spread.rows)}"
    if len(spread)
    else ""
)

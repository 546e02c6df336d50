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
# # Calibrated to whom
#
# A model is called calibrated when its confidence matches how often it is right. {cite:t}`baan2022`
# ask what that means where people disagree on what is right, and measure instead how far a
# model's distribution is from people's, item by item. How do the two ways of keeping score rank
# the same predictions?

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
dataset: str = "snli"  # which dataset
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
shown_seed: int = 0  # which of the model's seeds the diagrams and histograms show
n_folds: int = 10  # folds of the cross-fitted temperature
resamples: int = 2000  # bootstrap resamples of the items, for the 95% intervals
seed: int = 0  # seed that deals the folds, and of the bootstrap
n_temperatures: int = 61  # temperatures from 0.5 to 4 at which the measures are computed

# %%
import numpy as np
from IPython.display import Markdown

from chaos_utils.analyses import calibration
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.names import dataset_name, listed
from chaos_utils.analyses.notices import notices
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.plots.calibration import (
    plot_distances,
    plot_reliability,
    plot_temperatures,
    plot_two_targets,
)
from chaos_utils.plots.panels import system_title
from chaos_utils.report.columns import number
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table

material = gather(data, predictions, datasets=[dataset])
others = calibration.table_1_datasets(data, dataset)[1:]
in_table_1 = [*material, *(gather(data, predictions, datasets=others) if others else ())]

# %% tags=["remove-input"]
Markdown(notices(material))

# %% [markdown]
# ## What calibration asks
#
# Take all items to which a model gives its answer with confidence 0.7. It is calibrated when seven
# in ten of these answers are right, and likewise for every other confidence. The expected
# calibration error ({term}`ECE`) sorts the items into bins by confidence and averages the gap, in
# each, between mean confidence and accuracy. Both halves of the promise concern a *set* of items,
# and accuracy needs one right label for each of them. For that, the majority of the votes is taken.
#
# A promise to people can be made for a single item: the model gives each label the probability with
# which a person would choose it. The votes on the item are then all that is needed to check it. In
# the terms of {cite:t}`baan2022`, {term}`DistCE` is the {term}`total variation distance` between
# the two distributions, {term}`EntCE` the difference of their {term}`entropies <entropy>` (here in
# nats, without its sign), and {term}`RankCS` the share of items on which model and people put the
# labels in the same order.
#
# ## The oracle paradox
#
# No prediction can be nearer to people than their own votes. Call that prediction the {term}`oracle`,
# and compute its ECE. Its answer is always the majority label, so its accuracy is 1; its
# confidence is the majority's share of the votes. No confidence is above 1, so no two gaps cancel
# inside a bin, and what is left is $1 - \bar{s}$, with $\bar{s}$ the mean majority share.

# %%
table_1 = calibration.human_calibration(in_table_1)
agreement = calibration.majority_shares(material)

# %% tags=["remove-input"]
of_oracle = table_1.on(dataset).rows.iloc[-1]
shares = agreement.rows.iloc[0]
Markdown(
    f"On the {shares['n_items']:,} {dataset_name(dataset)} items the mean majority share is "
    f"{shares['majority_share']:.4f}, so the "
    f"oracle's error should be {1 - shares['majority_share']:.4f}; binned and averaged like any other system's, it is "
    f"{of_oracle['ece']:.4f}. It says nothing about a fault of the oracle. It says how far people "
    "are from agreeing, and a model that learned to share their doubts would be charged for it."
)

# %% [markdown]
# ## The same predictions, scored twice
#
# {cite:t}`baan2022` released the predictions of RoBERTa-base, fine-tuned on SNLI with three
# seeds. Their second system is the same model with its logits divided by a {term}`temperature` of 2.
# MNLI is out of distribution for it; the paper shows figures of that, and prints no table.

# %%
publish_table(
    "tbl-human-calibration",
    table_1,
    columns=calibration.CALIBRATION_COLUMNS,
    shown=calibration.with_means(table_1.rows),
    caption="""Calibration to the majority label and to people, published beside reproduced. The
    published values are those of Table 1 in {cite:t}`baan2022`, and its means and sds over seeds are
    computed from those rounded values; Δ is here minus paper. Accuracy
    takes the last of tied labels, for prediction and gold alike, and ECE the first, with ten bins
    $(a, b]$, as the released code does. EntCE is in nats. Lower is better for ECE, EntCE and
    DistCE, higher for accuracy and RankCS. The sd is that of a sample. The models were trained on
    SNLI; of the MNLI items, 30 have no released prediction.""",
)

# %% tags=["remove-input"]
scores = table_1.on(dataset).rows
known = scores[scores["published_ece"].notna()]
ours = known[[*calibration.TABLE_1]].round(3).to_numpy()
theirs = known[[f"published_{name}" for name in calibration.TABLE_1]].to_numpy()
n_equal = int(np.isclose(ours, theirs, atol=1e-9).sum())
rounded = calibration.rounded_values(table_1.on(dataset)).rows
names = calibration.GROUP
means = scores.groupby(names)[["ece", "dist_ce", "rank_cs", "rank_cs_ties"]].mean()
by_ece, by_distance = (
    "; ".join(system_title(*keys) for keys in means.sort_values(name).index)
    for name in ("ece", "dist_ce")
)
model, origin = scores["family"].iloc[0], scores["origin"].iloc[0]
plain, scaled = (means.loc[(model, origin, t)] for t in (1.0, calibration.FIXED_TEMPERATURE))
Markdown(
    (
        f"Rounded to three decimals, {n_equal} of the {theirs.size} values in "
        "{numref}`tbl-human-calibration` that are published there are equal to it. The paper's section 5.2 gives "
        f"some with two digits; the means over seeds round to {rounded['agrees'].sum()} of those "
        f"{len(rounded)}.\n\n"
        if len(known)
        else ""
    )
    + f"From best to worst by ECE, the systems are: {by_ece}. By DistCE, they are: {by_distance}. Scaling takes "
    f"the mean ECE of {model} from {plain['ece']:.3f} to {scaled['ece']:.3f}, and its mean DistCE from "
    f"{plain['dist_ce']:.3f} to {scaled['dist_ce']:.3f}. It cannot "
    "change accuracy or RankCS, since the order of the labels stays as it is. RankCS orders tied "
    "labels by their position; where a tie counts as a tie instead, "
    f"{plain['rank_cs']:.3f} becomes {plain['rank_cs_ties']:.3f}."
)

# %%
bins = calibration.reliability(material, shown_seed=shown_seed)
publish_figure(
    "fig-reliability",
    plot_reliability,
    bins,
    caption=f"""Reliability against the majority label. Above, the accuracy in each bin of
    confidence; the hatched piece leads from there to the bin's mean confidence, which lies on the
    dashed line up to the width of the bin. Below, the items in each bin. Of several seeds, seed
    {shown_seed} is shown. Compare Figures 1c and 1d of {{cite:t}}`baan2022`.""",
    alt="""Three reliability diagrams. At temperature 1 the model's bars stay below the diagonal,
    but for a first one that holds a single item; most items are in the last bin. At temperature 2
    the bars follow the diagonal, and the items spread over the bins. The oracle's bars all reach
    1, far above the diagonal except at its end; its items spread over the bins from 0.4 up.""",
)

# %% tags=["remove-input"]
in_bins = bins.rows.groupby(["system", "temperature"])["n"].transform("sum")
last = bins.rows.assign(share=bins.rows["n"] / in_bins)
last = last[(last["bin_high"] == 1) & (last["n"] > 0)]
sentences = [
    f"{row.share:.0%} of the items for {system_title(row.family, row.origin, row.temperature)}, "
    f"right on {row.hits:.0%} of them at a mean "
    f"confidence of {row.confidence:.0%}"
    for row in last.itertuples()
]
Markdown(
    f"In {{numref}}`fig-reliability`, confidences above 0.9 are given to {'; '.join(sentences)}. "
    "The oracle is right in every bin, by construction, so every gap of its bars counts as "
    "underconfidence. A diagram that separates doubt from error would need to know what people think "
    "of each item."
)

# %%
distances = calibration.distance_histogram(material, shown_seed=shown_seed)
publish_figure(
    "fig-distce",
    plot_distances,
    distances,
    caption=f"""Distance to the votes, item by item. DistCE of each item before and after
    scaling, in bins of 0.04; dashed lines mark the means. The oracle's distances would all be 0.
    Of several seeds, seed {shown_seed} is shown. Compare Figures 1a and 1b of
    {{cite:t}}`baan2022`.""",
    alt="""Two histograms of DistCE. At temperature 1 many items lie near 0 and a long tail reaches
    almost to 1. At temperature 2 the tail is shorter, fewer items lie next to 0, and the mean is
    a little smaller.""",
)

# %% tags=["remove-input"]
of_first = calibration.distance_shares(material, shown_seed=shown_seed).rows.iloc[0]
Markdown(
    f"{{numref}}`fig-distce` shows what a mean over items hides. From T = 1 to T = 2, items "
    f"more than 0.5 away from the votes go from {of_first['far']:.0%} to {of_first['far_scaled']:.0%}, and those within "
    f"0.1 of them from {of_first['near']:.0%} to {of_first['near_scaled']:.0%}. One temperature flattens every "
    f"item, those on which people agree too: {of_first['further']:.0%} of the items are further from the votes "
    "than before."
)

# %% [markdown]
# ## Class by class
#
# ECE looks at the probability of the predicted label alone. The {term}`class-wise <class-wise ECE>`
# error does the same for every label's probability and averages over labels. Now the votes hold
# many shares of exactly 0, which the bins $(a, b]$ leave out, and it matters whether the average
# divides by all items or by those in a bin. The released code does the latter.

# %%
classwise = calibration.classwise_errors(material)
publish_table(
    "tbl-classwise-ece",
    classwise,
    columns=calibration.CLASSWISE_COLUMNS,
    caption="""Class-wise ECE against the majority label, under both denominators. In percent;
    ten bins $(a, b]$ for each label. The published values are those of Appendix D in
    {cite:t}`baan2022`, which gives one for each system. The last column says whether the error by
    binned items rounds to it.""",
)

# %% tags=["remove-input"]
stated = classwise.rows[classwise.rows["agrees"].notna()].groupby(names, sort=False)
verdicts = [
    f"{rows['published_percent'].iloc[0]:.0f} for {system_title(*keys)} is what {rows['agrees'].sum()} of "
    f"{len(rows)} rows here round to ("
    + ", ".join(f"{100 * value:.3f}" for value in rows["classwise_ece_binned"])
    + ")"
    for keys, rows in stated
]
oracle_errors = classwise.rows.iloc[-1]
Markdown(
    (f"Of the published values, {'; '.join(verdicts)}. " if verdicts else "")
    + f"For the oracle, {oracle_errors['n_without_bin']:,} shares of 0 move the error from "
    f"{100 * oracle_errors['classwise_ece_all']:.3f}% over all items to "
    f"{100 * oracle_errors['classwise_ece_binned']:.3f}% over binned ones "
    "({numref}`tbl-classwise-ece`). Where a system gives no exact 0, the two are the "
    "same."
)

# %% [markdown]
# ## Too sure, or not sure enough?
#
# {term}`EntCE` ignores the sign of an error. With it, a value below 0 says that a model is surer than
# people are. Appendix B of the paper gives one value before scaling and one after, for mean and
# median alike.

# %%
signed = calibration.signed_entropy_errors(in_table_1)
publish_table(
    "tbl-signed-entropy-error",
    signed,
    columns=calibration.SIGNED_COLUMNS,
    caption="""Signed entropy error, H(model) − H(human) in nats, over items, for every seed. Below
    0, the model is surer than people. The paper gives one value for mean and median, and does not
    say for which seed.""",
)

# %% tags=["remove-input"]
with_paper = signed.rows.dropna(subset="published")
Markdown(
    " ".join(
        f"At T = {t:g} the paper has {number(rows['published'].iloc[0], 2)}; the seeds run from "
        f"{number(rows['mean'].min(), 3)} to {number(rows['mean'].max(), 3)}, and "
        f"{int(rows['agrees'].sum())} of the {len(rows)} round to it."
        for t, rows in with_paper.groupby("temperature")
    )
)

# %% [markdown]
# ## Change the target, not the measure
#
# Nothing in ECE demands a majority label. Let an answer be right to the degree in which people
# gave it: replace 1 or 0 by the answer's share of the votes. Then the mean share in a bin is the
# accuracy against a person drawn at random.

# %%
targets = calibration.two_targets(material)
publish_figure(
    "fig-ece-against-votes",
    plot_two_targets,
    targets,
    caption="""ECE against the majority label and against vote shares. The same predictions and
    the same bins; only what counts as right differs. A line joins the two errors of a system.""",
    alt="""A dot chart with a row for each system. Against vote shares the oracle's error is 0,
    against the majority label it is the largest of all. RoBERTa has it the other way round: at both
    temperatures and for every seed its error is larger against vote shares.""",
)

# %% tags=["remove-input"]
both = targets.rows.groupby(names, sort=False)[["ece", "ece_votes"]].mean()
pairs = [
    f"{system_title(*row.Index)}, {row.ece:.3f} and {row.ece_votes:.3f}"
    for row in both.iloc[:-1].itertuples()
]
Markdown(
    "The paradox disappears. By {numref}`fig-ece-against-votes`, the oracle's error falls from "
    f"{both['ece'].iloc[-1]:.3f} to {both['ece_votes'].iloc[-1]:.3f}. The means over "
    f"seeds, against the majority label and against the votes, are: {'; '.join(pairs)}. So it was "
    "the target that charged people for their doubts. ECE remains a statement about sets of items, "
    "though: a model could reach 0 here and be wrong about each single one, which DistCE would "
    "show."
)

# %% [markdown]
# ## With intervals
#
# ECE as printed is biased upward: on a finite sample the gaps of the bins are never all 0, so even
# a calibrated model scores above it, and resampling moves it further up. In simulations, nominal 95%
# intervals of a calibrated model's ECE covered the truth half of the time. So ECE has no
# interval here. The *squared* error can be debiased: the sampling variance that each bin adds is
# subtracted, and the result may be negative for a calibrated system.

# %%
families = calibration.family_scores(in_table_1, n_resamples=resamples, seed=seed)
publish_table(
    "tbl-calibration-intervals",
    families,
    columns=calibration.INTERVAL_COLUMNS,
    shown=calibration.in_columns(families.rows),
    caption=f"""Calibration over seeds, with 95% intervals. Means over the seeds of a model. Where
    there are several, intervals allow for other seeds and other items (t, with Satterthwaite's
    degrees of freedom); with one, for other items alone ({resamples:,} bootstrap resamples). Items
    bring their votes with them. ECE in ten bins has no interval, because its sampling distribution is biased; the
    squared error in the same bins is debiased and may be negative.""",
)

# %% [markdown]
# The bins say whether a model's probabilities are right on average, not whether they differ where
# people do. {term}`Murphy's decomposition <Murphy decomposition>` of the Brier score of the votes
# separates the two: *reliability* is a squared calibration error over all labels, *resolution* what
# the predictions reveal about the votes.

# %%
parts = calibration.murphy(in_table_1)
by_family = calibration.murphy_over_seeds(parts.rows)
publish_table(
    "tbl-murphy",
    parts,
    columns=calibration.MURPHY_COLUMNS,
    shown=by_family,
    caption="""The Brier score of the votes and its parts. Means over the seeds of a model; ten bins for
    each label's probability. Reliability and the Brier score are better the lower, resolution the
    higher. Uncertainty is the score of the mean vote. The *within bins* term is below 0 where finer ones
    would resolve more, as for the oracle.""",
)

# %% tags=["remove-input"]
of_model = by_family[(by_family["family"] == model) & (by_family["origin"] == origin)]
at = of_model.pivot(index="dataset", columns="temperature", values=["reliability", "resolution"])


def change(part):
    from_to = at[part].loc[of_model["dataset"].unique(), [1.0, calibration.FIXED_TEMPERATURE]]
    return listed(
        f"from {number(before, 3)} to {number(after, 3)} on {dataset_name(name)}"
        for name, before, after in from_to.itertuples()
    )


Markdown(
    f"With T = 2 instead of 1, the reliability of {model} goes {change('reliability')}; its resolution "
    f"goes {change('resolution')} ({{numref}}`tbl-murphy`). A temperature decides how far "
    "probabilities are from the votes. It hardly adds knowledge of the items."
)

# %% [markdown]
# ## Which temperature
#
# A temperature of 2 was fixed in the released code. Where could such a number come from? Fitted on
# the very items that are then judged, a temperature is an *oracle* temperature, and depends on what
# it minimises: the negative log-likelihood (NLL) of the majority label, or ECE. A fair one is
# fitted elsewhere: on the model's released predictions for development items that are not in
# ChaosNLI, by NLL of the gold label, as is usual. And where some votes may be used for fitting, a
# temperature can be {term}`cross-fitted` by NLL of the vote shares, so that no item has a say in
# its own.

# %%
outside = calibration.find_outside(material)
choices = calibration.temperature_choices(material, outside=outside, n_folds=n_folds, seed=seed)
publish_table(
    "tbl-temperatures",
    choices,
    columns=calibration.TEMPERATURE_COLUMNS,
    shown=calibration.over_seeds(choices.rows),
    caption=f"""Temperatures, what they were fitted to, and the measures there. T is given for
    each seed in turn; the measures are means over seeds. Cross-fitting uses {n_folds} folds, and
    its T is the mean over items. A dagger marks an end of the range that was searched. NLL and KL
    are in nats.""",
)

# %% tags=["remove-input"]
fitted = choices.rows
of_main = fitted[(fitted["family"] == model) & (fitted["origin"] == origin)]
temperatures = {
    name: ", ".join(f"{value:.2f}" for value in rows["temperature"])
    for name, rows in of_main.groupby("choice")
}
at = of_main.groupby("choice")[[*calibration.BY_TEMPERATURE]].mean()
on_others = (
    f"On the {of_main.loc[of_main['choice'] == 'outside', 'n_fitted'].iloc[0]:,} development "
    f"items outside ChaosNLI it is {temperatures['outside']}: those were not chosen for dispute, "
    f"as the items of ChaosNLI were. On ChaosNLI it leaves a mean ECE of {at.loc['outside', 'ece']:.3f}, where T = 2 "
    f"gives {at.loc['fixed', 'ece']:.3f}."
    if "outside" in temperatures
    else "Released predictions for items outside ChaosNLI are not available for these votes, so "
    "that temperature is left out."
)
Markdown(
    f"For {model} in {{numref}}`tbl-temperatures`, the oracle temperature is "
    f"{temperatures['oracle_nll']} by NLL and {temperatures['oracle_ece']} by ECE, seed by seed. "
    f"{on_others} Fitted to votes, it is {temperatures['cross_fitted']}, with a mean KL of "
    f"{at.loc['cross_fitted', 'kl']:.3f} against {at.loc['fixed', 'kl']:.3f} at T = 2, a mean ECE "
    f"against votes of {at.loc['cross_fitted', 'ece_votes']:.3f} against "
    f"{at.loc['fixed', 'ece_votes']:.3f}, and a mean ECE against the majority label of "
    f"{at.loc['cross_fitted', 'ece']:.3f} against {at.loc['fixed', 'ece']:.3f}."
)

# %%
curves = calibration.temperature_curves(material, choices=choices, n_temperatures=n_temperatures)
publish_figure(
    "fig-temperature",
    plot_temperatures,
    curves,
    caption="""Each measure against the temperature. One curve per seed; marks show the temperatures
    that were chosen and the measure there. The horizontal axis is logarithmic; each
    measure is better the lower it is.""",
    alt="""Five panels with curves that fall and rise again. ECE against the majority label is lowest
    near temperature 2, where the fixed and the oracle temperatures lie; DistCE near 2 as
    well, but flatter, and entropy error a little lower. ECE against votes and KL fall on to a higher
    temperature, where the cross-fitted marks are. Those fitted outside ChaosNLI lie near 1, high on
    every curve.""",
)

# %% tags=["remove-input"]
drawn = curves.rows
is_main = (drawn["family"] == model) & (drawn["origin"] == origin)
on_grid = drawn[is_main & (drawn["choice"] == "")]
mean_curves = on_grid.pivot_table(index="temperature", columns="measure", values="value")
best = mean_curves.idxmin()[[*calibration.BY_TEMPERATURE]]
Markdown(
    f"By the means over the curves of {model} in {{numref}}`fig-temperature`, the best of the temperatures "
    "from 0.5 to 4 "
    + ", ".join(f"for {MEASURES[name].title} is {value:.2f}" for name, value in best.items())
    + f". They span {best.min():.2f} to {best.max():.2f}. "
    "No temperature brings the mean DistCE below "
    f"{mean_curves['dist_ce'].min():.3f} on these curves. A temperature turns a model's doubt up or down for all "
    "items alike. It cannot show which items people doubt."
)

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
# A model can look well calibrated and still be far from what people say. Dividing the logits of
# RoBERTa-base by two takes its expected calibration error ({term}`ECE`) on SNLI from
# {value}`tbl-human-calibration dataset=snli family=RoBERTa-base temperature=1 mean:ece .3f` to
# {value}`tbl-human-calibration dataset=snli family=RoBERTa-base temperature=2 mean:ece .3f`. Its mean
# distance from the votes on an item falls only from
# {value}`tbl-human-calibration dataset=snli family=RoBERTa-base temperature=1 mean:dist_ce .3f` to
# {value}`tbl-human-calibration dataset=snli family=RoBERTa-base temperature=2 mean:dist_ce .3f`. And the
# vote shares themselves, the best prediction of people that there can be, have an ECE of
# {value}`tbl-human-calibration dataset=snli system=oracle ece .3f`.
#
# {cite:t}`baan2022` made this argument: calibration to a majority label asks the wrong question
# where people disagree. This chapter reproduces their numbers, looks at what a temperature can and
# cannot mend, and measures ECE against the votes as well.

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
from IPython.display import Markdown

from chaos_utils.analyses import calibration
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.calibration import (
    plot_distances,
    plot_reliability,
    plot_temperatures,
    plot_two_targets,
)
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
# in ten of these answers are right, and likewise at every other confidence. ECE sorts the items
# into bins by confidence and averages, over the bins, the gap between mean confidence and accuracy.
# This is a promise about *sets* of items, and accuracy needs one right label for each item: the
# majority of the votes.
#
# A promise to people can be made for a single item: each label gets the probability with which a
# person would choose it. The votes on the item suffice to check it. {cite:t}`baan2022` do so in
# three ways. {term}`DistCE` is the {term}`total variation distance` between the two distributions.
# {term}`EntCE` is the difference of their {term}`entropies <entropy>`, here in nats and without its
# sign. {term}`RankCS` is the share of items on which model and people put the labels in the same
# order.
#
# ## The oracle paradox
#
# No prediction is nearer to the votes than the votes' own shares. Call that prediction the
# {term}`oracle`. Its answer is always the majority label, so its accuracy is 1, and its confidence
# is the majority's share of the votes. Confidence never exceeds accuracy, no two gaps cancel inside
# a bin, and so its ECE is one minus the mean majority share.
#
# On SNLI that is {value}`tbl-human-calibration dataset=snli system=oracle ece .3f`, and on MNLI
# {value}`tbl-human-calibration dataset=mnli system=oracle ece .3f`, more than the ECE of any model on
# this page. It is no fault of the oracle. It measures how far people are from agreeing, and a model
# that learned to share their doubts would be charged for it.
#
# ## The same predictions, scored twice
#
# ECE and DistCE disagree about how much a temperature of 2 achieves. On MNLI it takes the ECE of
# RoBERTa-base from
# {value}`tbl-human-calibration dataset=mnli family=RoBERTa-base temperature=1 mean:ece .3f` to
# {value}`tbl-human-calibration dataset=mnli family=RoBERTa-base temperature=2 mean:ece .3f`, and DistCE only
# from {value}`tbl-human-calibration dataset=mnli family=RoBERTa-base temperature=1 mean:dist_ce .3f` to
# {value}`tbl-human-calibration dataset=mnli family=RoBERTa-base temperature=2 mean:dist_ce .3f`.
#
# Dividing the logits by a {term}`temperature` keeps the order of the labels, so accuracy and RankCS
# stay as they are.

# %%
table_1 = calibration.human_calibration(in_table_1)
publish_table(
    "tbl-human-calibration",
    table_1,
    columns=calibration.CALIBRATION_COLUMNS,
    shown=calibration.over_seeds(table_1.rows, calibration.TABLE_1),
    groups=["dataset", "kind"],
    caption="""The best prediction of people has the worst calibration error. Means over the seeds of
    a model; the best model on each dataset is bold. The conventions are those of the code of
    {cite:t}`baan2022`: accuracy takes the last of tied labels, ECE the first, with ten bins
    $(a, b]$; EntCE is in nats.""",
)

# %% [markdown]
# RoBERTa-base stands for the {value}`tbl-calibration-intervals dataset=snli "system=RoBERTa-base, T = 1, 3 seeds" measure=ece n_seeds d`
# models that {cite:t}`baan2022` trained on SNLI and released; MNLI is out of distribution for them.
# Two seeds of BERT-base were released too, for SNLI alone. They are not on this page because the
# paper's tables leave them out; {doc}`results` scores them. DeBERTa-v3-large and ModernBERT-large are
# encoders of today, with one run each; {doc}`results` says where they come from, and that ModernBERT-large
# may have seen the items of MNLI. MiniLM-L6 and MPNet-base are small models of our own, trained on both
# datasets, with two seeds and one.
#
# Table 1 of the paper comes out of the released predictions. No value of any seed is further from ours
# than {value}`tbl-human-calibration-published max:largest_difference .4f`, which is within the rounding to
# three decimals.

# %%
beside_paper = calibration.beside_table_1(table_1.on(dataset))
published = None
if len(beside_paper):
    published = publish_table(
        "tbl-human-calibration-published",
        beside_paper,
        columns=calibration.TABLE_1_COLUMNS,
        caption="""The published Table 1 is reproduced within its rounding. Means over
        seeds of the values of {cite:t}`baan2022` and of ours, and the largest difference of a single seed.
        On SNLI, for the systems that the paper tabulates.""",
    )
published

# %% [markdown]
# ### Where the confidence goes
#
# Before scaling, one model gives
# {value}`fig-reliability family=RoBERTa-base temperature=1 bin_low=0.9 n ,d` of the
# {value}`fig-reliability family=RoBERTa-base temperature=1 sum:n ,d` SNLI items a confidence above 0.9, and
# is right on {value}`fig-reliability family=RoBERTa-base temperature=1 bin_low=0.9 hits .0%` of them.
# At a temperature of 2 its dots lie close to the diagonal of {numref}`fig-reliability`. The oracle is
# right in every bin, by construction, so each of its gaps counts as underconfidence. The diagram
# cannot separate doubt from error without knowing what people think of each item.

# %%
diagrams = calibration.reliability(material, shown_seed=shown_seed)
is_first = diagrams.rows["family"] == diagrams.rows["family"].iloc[0]
publish_figure(
    "fig-reliability",
    plot_reliability,
    diagrams.where(is_first | (diagrams.rows["temperature"] == 1)),
    caption=f"""A temperature of 2 brings RoBERTa-base close to the diagonal; the oracle stays above it. Dots
    are the accuracy in a bin of confidence, against the majority label; lines lead to the
    bin's mean confidence, thicker where there are more items. Seed {shown_seed} where there are
    several. Compare Figures 1c and 1d of {{cite:t}}`baan2022`.""",
    alt="""Seven reliability diagrams. At temperature 1 RoBERTa's dots stay below the diagonal, but for
    a first one that holds a single item; most items are in the last bin. At temperature 2 the dots
    follow the diagonal, and the items spread over the bins. The other models, shown before
    scaling alone, are overconfident too, and nearly all of DeBERTa's items are in the last bin. The oracle's dots are all at 1, far above the diagonal except at its
    end.""",
)

# %% [markdown]
# ### What a mean hides
#
# A temperature helps where the model is badly wrong and harms where it is nearly right. For one
# RoBERTa-base, items more than 0.5 away from the votes (total variation) go from
# {value}`fig-distce family=RoBERTa-base temperature=1 max:far .0%` to
# {value}`fig-distce family=RoBERTa-base temperature=1 max:far_scaled .0%` in {numref}`fig-distce`. But one
# temperature flattens every item, those on which people agree too:
# {value}`fig-distce family=RoBERTa-base temperature=1 max:further .0%` of the items end up further from the
# votes than before.

# %%
publish_figure(
    "fig-distce",
    plot_distances,
    calibration.with_shares(
        calibration.distance_histogram(material, shown_seed=shown_seed),
        calibration.distance_shares(material, shown_seed=shown_seed),
    ),
    caption=f"""A temperature of 2 shortens the tail; items very close to the votes become fewer, but for
    DeBERTa's. Total
    variation distance (DistCE) between model and votes, item by item; dashed lines are means. The
    oracle's distances would all be 0. Seed {shown_seed} where there are several. Compare Figures
    1a and 1b of {{cite:t}}`baan2022`.""",
    alt="""Five panels, each with two histograms of DistCE. At temperature 1 many of RoBERTa's items lie
    near 0 and a long tail reaches almost to 1; at temperature 2 the tail is shorter, fewer items lie
    next to 0, and the mean is a little smaller. ModernBERT changes likewise; DeBERTa gains items near 0. MiniLM and
    MPNet lose their items near 0, and their means stay.""",
)

# %% [markdown]
# ## Change the target, not the measure
#
# Nothing in ECE demands a majority label. Let an answer be right to the degree in which people gave
# it: replace 1 or 0 by the answer's share of the votes. The mean share in a bin is then the accuracy
# against a person drawn at random.
#
# Against this target the paradox is gone, by construction: the oracle's confidence *is* the share
# that it is compared with. For a model the change of target is a finding. RoBERTa-base at a
# temperature of 2, with an ECE of
# {value}`tbl-human-calibration dataset=snli family=RoBERTa-base temperature=2 mean:ece .3f` against the
# majority, has one of
# {value}`fig-ece-against-votes family=RoBERTa-base temperature=2 mean:ece_votes .3f` against the votes: it
# still expects more people to agree with its answers than do.
#
# ECE remains a statement about sets of items, whatever the target. A model could reach 0 and be
# wrong about every single item, which DistCE would show.

# %%
publish_figure(
    "fig-ece-against-votes",
    plot_two_targets,
    calibration.two_targets(material),
    caption="""RoBERTa-base is calibrated worse to the votes than to their majority. ECE of the same
    predictions in the same bins; only what counts as right differs. Large marks are means over
    seeds, small ones single seeds. The oracle's 0 holds by construction.""",
    alt="""A row for each system, with two marks joined by a line. Against vote shares the oracle's error
    is 0, against the majority label it is the largest of all. RoBERTa has it the other way round: at
    both temperatures and for every seed its error is larger against vote shares. Those of MiniLM,
    MPNet and ModernBERT are larger at temperature 1 and smaller at temperature 2; DeBERTa's error
    against vote shares is the largest.""",
)

# %% [markdown]
# ## With intervals
#
# ECE as printed is biased upward: on a finite sample the gaps of the bins are never all 0, so even a
# calibrated model scores above it, and resampling moves it further up. In our simulations, nominal
# 95% intervals of a calibrated model's ECE covered the truth about half of the time. So ECE has no
# interval here. The *squared* error can be debiased: the sampling variance that each bin adds is
# subtracted, and the result may be negative for a calibrated system.
#
# At a temperature of 2 the squared error of RoBERTa-base on SNLI, against the majority label, has an
# interval from
# {value}`tbl-calibration-intervals dataset=snli "system=RoBERTa-base, T = 2, 3 seeds" measure=sq_ce low .3f` to
# {value}`tbl-calibration-intervals dataset=snli "system=RoBERTa-base, T = 2, 3 seeds" measure=sq_ce high .3f`,
# which holds the 0 of a calibrated model. Against the votes it does not: there the interval begins at
# {value}`tbl-calibration-intervals dataset=snli "system=RoBERTa-base, T = 2, 3 seeds" measure=sq_ce_votes low .4f`.

# %%
families = calibration.family_scores(in_table_1, n_resamples=resamples, seed=seed)
publish_table(
    "tbl-calibration-intervals",
    families,
    columns=calibration.INTERVAL_COLUMNS,
    shown=calibration.in_columns(families.rows),
    caption=f"""Calibration over seeds, with 95% intervals. Intervals of several seeds allow for
    other seeds and other items (t, with Satterthwaite's degrees of freedom), those of one for other
    items alone ({resamples:,} bootstrap resamples). *Squared* is the debiased squared error in the
    same bins as ECE.""",
)

# %% [markdown]
# The bins say whether probabilities are right on average, not whether they differ where people do.
# {term}`Murphy's decomposition <Murphy decomposition>` of the Brier score of the votes separates the
# two: *reliability* is a squared calibration error over all labels, *resolution* what the predictions
# reveal about the votes.
#
# A temperature decides how far probabilities are from the votes; it hardly adds knowledge of the
# items. At T = 2 the reliability term of RoBERTa-base on SNLI goes from
# {value}`tbl-murphy dataset=snli family=RoBERTa-base temperature=1 mean:reliability .3f` to
# {value}`tbl-murphy dataset=snli family=RoBERTa-base temperature=2 mean:reliability .3f`, and its
# resolution from {value}`tbl-murphy dataset=snli family=RoBERTa-base temperature=1 mean:resolution .3f` to
# {value}`tbl-murphy dataset=snli family=RoBERTa-base temperature=2 mean:resolution .3f`. The oracle, with
# {value}`tbl-murphy dataset=snli system=oracle resolution .3f`, shows how much there is to know.

# %%
parts = calibration.murphy(in_table_1)
publish_table(
    "tbl-murphy",
    parts,
    columns=calibration.MURPHY_COLUMNS,
    shown=calibration.over_seeds(parts.rows, calibration.BRIER),
    groups=["dataset", "kind"],
    caption="""A temperature mends reliability and leaves resolution almost as it was. The Brier score
    of the votes and its parts; means over the seeds of a model, ten bins for each label's
    probability; the best model on each dataset is bold. *Within bins* is below 0 where finer bins
    would resolve more.""",
)

# %% [markdown]
# ## Which temperature
#
# A temperature of 2 was fixed in the released code. Where could such a number come from? Fitted on
# the very items that are then judged, a temperature is an *oracle* temperature, and depends on what
# it minimises: the negative log-likelihood (NLL) of the majority label, or ECE. A fair one is fitted
# elsewhere, for example on the model's released predictions for development items that are not in
# ChaosNLI, by the NLL of the old label. And where some votes may be used for fitting, it can be
# {term}`cross-fitted` by the NLL of the vote shares, so that no item has a say in its own.
#
# For RoBERTa-base, about 2 comes out only on the items that are judged. Fitted on the
# {value}`tbl-temperatures family=RoBERTa-base choice=outside max:n_fitted ,d` SNLI development items
# outside ChaosNLI, the temperature is
# {value}`tbl-temperatures family=RoBERTa-base choice=outside mean:temperature .2f` on average over the seeds,
# and ECE stays at {value}`tbl-temperatures family=RoBERTa-base choice=outside mean:ece .3f`. Those items
# were not chosen for dispute, as the items of ChaosNLI were, and on them the model is as sure as it is
# right.
#
# Votes ask for more. Cross-fitted, the temperature is
# {value}`tbl-temperatures family=RoBERTa-base choice=cross_fitted mean:temperature .2f`: ECE against the
# votes falls to {value}`tbl-temperatures family=RoBERTa-base choice=cross_fitted mean:ece_votes .3f`, and ECE
# against the majority is {value}`tbl-temperatures family=RoBERTa-base choice=cross_fitted mean:ece .3f`, well
# above that of a temperature of 2. DeBERTa-v3-large, the surest of the models here, asks for
# {value}`tbl-temperatures family=DeBERTa-v3-large choice=cross_fitted temperature .1f`.

# %%
outside = calibration.find_outside(material)
choices = calibration.temperature_choices(material, outside=outside, n_folds=n_folds, seed=seed)
publish_table(
    "tbl-temperatures",
    choices,
    columns=calibration.TEMPERATURE_COLUMNS,
    shown=calibration.choices_over_seeds(choices.rows),
    groups=["family"],
    caption=f"""The temperature depends on what it is fitted to. T is given from the lowest to the
    highest of the seeds; measures are means over seeds, all better the lower, and the best of each
    model is bold. Cross-fitting uses {n_folds} folds. KL is in nats.""",
)

# %% [markdown]
# No temperature is best for all measures in {numref}`fig-temperature`. For RoBERTa-base, ECE against the
# majority is lowest near 2, where the paper fixed it; ECE against the votes and {term}`KL` ask for more.
# And none brings the DistCE of any seed below
# {value}`fig-temperature family=RoBERTa-base measure=dist_ce min:value .3f`. A temperature turns a model's
# doubt up or down for all items alike. It cannot show which items people doubt.

# %%
publish_figure(
    "fig-temperature",
    plot_temperatures,
    calibration.temperature_curves(material, choices=choices, n_temperatures=n_temperatures),
    caption="""Each measure has a temperature of its own. Thin lines are seeds, thick ones their means;
    marks show three chosen temperatures and the measure there. The oracle temperatures of
    {numref}`tbl-temperatures` lie in the valleys. The horizontal axis is logarithmic.""",
    alt="""Five panels with curves that fall and rise again. ECE against the majority label is lowest
    near temperature 2 for RoBERTa; DistCE near 2 as well, but flatter, and entropy error a little
    lower. ECE against votes and KL fall on to a higher temperature, where the cross-fitted mark is.
    The one fitted outside ChaosNLI lies near 1, high on every curve. The valleys of MiniLM and MPNet
    are at lower temperatures, DeBERTa's at higher ones.""",
)

# %% [markdown]
# ```{interactive} fig-temperature
# :slider: temperature
# :where: choice=
# ```
#
# ## Numbers of the appendices
#
# ECE looks at the probability of the predicted label alone. The {term}`class-wise <class-wise ECE>`
# error does the same for every label's probability and averages over labels. Votes hold many shares
# of exactly 0, which the bins $(a, b]$ leave out, and it matters whether the average divides by all
# items or by those in a bin. The released code does the latter.
#
# One of the three published class-wise errors does not come out. For RoBERTa-base at a temperature of
# 2 the paper gives
# {value}`tbl-classwise-ece family=RoBERTa-base temperature=2 max:published_percent .0f`%; its seeds have
# {value}`tbl-classwise-ece family=RoBERTa-base temperature=2 min:classwise_ece_binned .1%` to
# {value}`tbl-classwise-ece family=RoBERTa-base temperature=2 max:classwise_ece_binned .1%`. The oracle's
# {value}`tbl-classwise-ece system=oracle n_without_bin ,d` shares of 0 move its error from
# {value}`tbl-classwise-ece system=oracle classwise_ece_all .1%` over all items to
# {value}`tbl-classwise-ece system=oracle classwise_ece_binned .1%` over binned ones.

# %%
publish_table(
    "tbl-classwise-ece",
    calibration.classwise_errors(material),
    columns=calibration.CLASSWISE_COLUMNS,
    caption="""The denominator decides the oracle's class-wise ECE. In percent, against the majority
    label, with ten bins $(a, b]$ for each label. Appendix D of {cite:t}`baan2022` gives one value for
    each system, over binned items; Δ is bold where it exceeds rounding.""",
)

# %% [markdown]
# {term}`EntCE` ignores the sign of an error. With it, a value below 0 says that a model is surer than
# people are.
#
# RoBERTa-base is surer than people before scaling, and less sure after it. On SNLI its seeds lie between
# {value}`tbl-signed-entropy-error dataset=snli family=RoBERTa-base temperature=1 min:mean .2f` and
# {value}`tbl-signed-entropy-error dataset=snli family=RoBERTa-base temperature=1 max:mean .2f` nats at T = 1,
# where the paper has
# {value}`tbl-signed-entropy-error dataset=snli family=RoBERTa-base temperature=1 max:published .2f`. At T = 2
# they lie between {value}`tbl-signed-entropy-error dataset=snli family=RoBERTa-base temperature=2 min:mean .2f` and
# {value}`tbl-signed-entropy-error dataset=snli family=RoBERTa-base temperature=2 max:mean .2f`, and no seed
# gives the paper's
# {value}`tbl-signed-entropy-error dataset=snli family=RoBERTa-base temperature=2 max:published .2f`.

# %%
publish_table(
    "tbl-signed-entropy-error",
    calibration.signed_entropy_errors(in_table_1),
    columns=calibration.SIGNED_COLUMNS,
    caption="""By entropy, a temperature of 2 makes RoBERTa-base less sure than people. Signed entropy
    error, H(model) − H(human) in nats, over items, for every seed. Appendix B of {cite:t}`baan2022` gives one
    value for mean and median together; Δ is bold where it exceeds rounding.""",
)

# %% [markdown]
# ## Limitations
#
# These findings rest on one architecture with
# {value}`tbl-calibration-intervals dataset=snli "system=RoBERTa-base, T = 1, 3 seeds" measure=ece n_seeds d`
# seeds, on two larger ones with one run each, and on two small ones with two seeds and one. The items of
# ChaosNLI were chosen because their five original votes were split, so both error and disagreement are higher than on the whole development
# sets.
#
# All calibration errors depend on ten bins of equal width. The votes are a sample, so a perfect model,
# which knows each item's true distribution, would have a DistCE above 0 as well.

# %% [markdown]
# # Calibration to a majority and to people
#
# *My model is calibrated. Is that not enough?*
#
# **No. Where people disagree, measuring calibration against the majority label penalises a model for predicting
# people's votes well.** The expected calibration error ({term}`ECE`) is the average gap between a model's confidence,
# which is the probability of its most probable label, and its accuracy. A model that knew the exact vote shares would
# have an ECE of {value}`tbl-human-calibration dataset=snli system=oracle ece .2f` on SNLI, because on average,
# {value}`tbl-misplaced dataset=snli "system=majority label" misplaced .0f` people in a hundred do not choose the
# majority label.
#
# A low ECE does not mean that a model is near to people, either. Halving the *logits* of RoBERTa-base (the scores that
# are turned into probabilities; halving them makes a model less sure) lowers its ECE from
# {value}`tbl-human-calibration dataset=snli family=RoBERTa-base temperature=1 mean:ece .2f` to
# {value}`tbl-human-calibration dataset=snli family=RoBERTa-base temperature=2 mean:ece .2f`, averaged over
# {value}`tbl-human-calibration dataset=snli family=RoBERTa-base temperature=1 count:ece d` training runs. However,
# RoBERTa-base then still misplaces
# {value}`tbl-human-calibration dataset=snli family=RoBERTa-base temperature=2 mean:dist_ce .0%` of the votes, compared
# with {value}`tbl-human-calibration dataset=snli family=RoBERTa-base temperature=1 mean:dist_ce .0%` before.
# {cite:t}`baan2022` therefore argue that calibration should not be measured against the majority label where people
# disagree.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
dataset: str = "snli"  # the dataset that is shown
predictions: list[str] = []  # files with your own predictions, shown with the other systems
shown_seed: int = 0  # which of the model's seeds the diagrams and histograms show
n_temperatures: int = 61  # temperatures from 0.5 to 4 at which the measures are computed

# %%
from dataclasses import replace

from IPython.display import Markdown

from chaos_utils.analyses import calibration, error_distributions
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.calibration import plot_reliability, plot_temperatures, plot_two_targets
from chaos_utils.plots.error_distributions import plot_distances, plot_rank_errors
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

in_table_1 = gather(data, predictions, datasets=calibration.table_1_datasets(data, dataset))
inputs = in_table_1.named(dataset)

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# (drag-until-ece-is-perfect)=
# ## Choose a temperature with the slider
#
# A {term}`temperature` is a number by which all logits of a model are divided.
#
# ```{container} with-script
# Drag the slider until ECE is lowest, and watch how many votes are still misplaced.
# ```

# %%
choices = calibration.temperature_choices(inputs)
curves = calibration.temperature_curves(inputs, choices=choices, n_temperatures=n_temperatures)
publish_figure(
    "fig-temperature",
    plot_temperatures,
    curves.where(calibration.is_drawn(curves.rows)),
    caption="""A temperature can bring ECE close to 0 and still leave the model far from people. In the printed version,
    thick curves are means over a model's training runs (seeds), and marks show three ways of choosing the temperature
    ({numref}`tbl-temperatures`).""",
    alt="""In five panels, curves fall and rise again. ECE against the majority label is lowest near temperature 2 for
    RoBERTa. DistCE is also lowest near 2, but its curve is flatter, and entropy error is lowest at a slightly lower
    temperature. ECE against votes and KL keep falling up to a higher temperature, where the cross-fitted mark is. The
    mark for the temperature fitted outside ChaosNLI lies near 1, high on every curve. DeBERTa's minima are at higher
    temperatures.""",
)

# %% [markdown]
# ```{interactive} fig-temperature
# :slider: temperature
# :where: choice=
# :diagrams: fig-reliability
# ```
#
# (where-the-confidence-goes)=
# A temperature above 1 makes a model less confident but never changes how it ranks the labels. At a temperature of 1,
# one run of RoBERTa-base has a confidence above 0.9 on
# {value}`fig-reliability family=RoBERTa-base temperature=1 bin_low=0.9 n ,d` of the
# {value}`fig-reliability family=RoBERTa-base temperature=1 sum:n ,d` SNLI items, but it is right on only
# {value}`fig-reliability family=RoBERTa-base temperature=1 bin_low=0.9 hits .0%` of these items. At a temperature of 2,
# the dots in RoBERTa-base's reliability diagram lie close to the diagonal, and the model's ECE is close to its minimum.
# The share of misplaced votes falls much less than the ECE does. In every run of RoBERTa-base and at every temperature,
# at least {value}`fig-temperature family=RoBERTa-base measure=dist_ce min:value .0%` of the votes are misplaced.
#
# (what-a-mean-hides)=
# A single temperature flattens every prediction, even where people agree. Raising the temperature
# from 1 to 2 lowers the share of items on which more than half of the votes are misplaced, from
# {value}`fig-distce family=RoBERTa-base temperature=1 max:far .0%` to
# {value}`fig-distce family=RoBERTa-base temperature=2 max:far .0%`, but moves the predictions for
# {value}`fig-distce family=RoBERTa-base temperature=2 max:further .0%` of all items farther from the votes. A
# temperature raises or lowers a model's uncertainty everywhere, so it adds no information about which items people
# disagree on. For RoBERTa-base, the temperature that minimises ECE is close to the one that minimises the number of
# misplaced votes, so tuning the temperature for ECE does little harm; what misleads is taking a low ECE for nearness to
# people.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Reliability diagrams, as a figure", "code_prompt_hide": "Fold the figure"}
diagrams = calibration.reliability(inputs, shown_seed=shown_seed, n_temperatures=n_temperatures)
publish_figure(
    "fig-reliability",
    plot_reliability,
    diagrams.where(calibration.is_drawn(diagrams.rows)),
    caption=f"""A temperature of 2 brings the dots of RoBERTa-base close to the diagonal, whereas the oracle's dots lie
    above it. Each dot shows the accuracy in one confidence bin, measured against the majority label. A line connects
    each dot to the bin's mean confidence, and a thicker line means that the bin holds more items. If a model has
    several seeds, seed {shown_seed} is shown. The downloadable data cover all the temperatures shown in
    {{numref}}`fig-temperature`. Compare Figures 1c and 1d of {{cite:t}}`baan2022`.""",
    alt="""The figure has six reliability diagrams. At temperature 1, RoBERTa's dots stay below the diagonal, except for
    the first, which stands for a single item, and most items are in the last bin. At temperature 2, the dots follow the
    diagonal. The other models, shown only before scaling, are overconfident, too. The oracle's dots are all at 1, far
    above the diagonal except at its end.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Distances for each item, as a figure", "code_prompt_hide": "Fold the figure"}
distances = calibration.distance_histogram(inputs, shown_seed=shown_seed)
publish_figure(
    "fig-distce",
    plot_distances,
    distances.where(calibration.is_drawn(distances.rows)),
    caption=f"""A temperature of 2 shortens the tail of large distances, but for RoBERTa-base and ModernBERT, it leaves
    fewer predictions within 0.04 of the votes. Within 0.08, there are fewer only for ModernBERT. The histograms show
    the total variation distance (DistCE) between a model's prediction and the votes on each item, and dashed lines mark
    the means. The oracle is not drawn because all of its distances are 0. If a model has several seeds, seed
    {shown_seed} is shown. Compare Figures 1a and 1b of {{cite:t}}`baan2022`.""",
    alt="""Each of four panels has two histograms of DistCE. At temperature 1, many of RoBERTa's items lie near 0, and a
    long tail reaches almost to 1. At temperature 2, the tail is shorter, fewer items lie next to 0, and the mean is a
    little smaller. ModernBERT changes in the same way, but RoBERTa-large and DeBERTa gain items near 0.""",
)

# %% [markdown]
# ## What calibration asks
#
# A model is calibrated if 70% of the answers that it gives with a confidence of 0.7 are right, and likewise for every
# other confidence. ECE sorts the items into ten bins by confidence and averages the gaps between mean confidence and
# accuracy. ECE describes *sets* of items: even if it is 0, the confidence may be wrong for every single item. ECE also
# needs one right label per item, and the majority label serves as that label.
#
# Calibration to people can be checked on each item separately: each label should get the probability with which a
# person would choose it. {cite:t}`baan2022` propose three measures of calibration to people. {term}`DistCE`, the
# {term}`total variation distance`, is the share of the votes that a prediction misplaces. {term}`EntCE` is the absolute
# difference between the {term}`entropies <entropy>` of the prediction and of the votes, in nats. {term}`RankCS` is the
# share of items on which the model and people rank the labels in the same order.
#
# ## The oracle paradox
#
# The {term}`oracle` predicts exactly the vote shares of each item, so no prediction is nearer to the votes. The oracle
# always answers with the majority label, so its accuracy is 1, and its confidence is the majority label's share of the
# votes. The oracle's ECE is therefore one minus the mean share of the majority label. On MNLI, the oracle's ECE is
# {value}`tbl-human-calibration dataset=mnli system=oracle ece .2f`, higher than the ECE of any model on this page.
# Measured against the majority label, ECE reflects people's disagreement, and it penalises a model for being as
# uncertain as people are.

# %%
table_1 = calibration.human_calibration(in_table_1)
main_systems = table_1.where(
    (table_1.rows["dataset"] == dataset) & calibration.is_drawn(table_1.rows)
)
system, accuracy, ece, rank_cs, ent_ce, dist_ce = calibration.CALIBRATION_COLUMNS
publish_table(
    "tbl-human-calibration",
    table_1,
    columns=[system, replace(ece, best=""), dist_ce, ent_ce, rank_cs, accuracy],
    shown=calibration.means_over_seeds(main_systems.rows, calibration.TABLE_1).sort_values(
        ["kind", "temperature", "dist_ce"]
    ),
    groups=["kind"],
    caption="""The best prediction of people's votes has the worst calibration error. The table gives means over each
    model's seeds on SNLI. The best model by each measure is shown in bold, except by ECE: the two lowest differ by less
    than RoBERTa-base's runs do, so they count as tied. The downloadable table also gives results, on both SNLI and
    MNLI, for every seed and for all nine models of {cite:t}`nie2020`. As in the code of {cite:t}`baan2022`, accuracy is
    computed with the last of several tied labels, and ECE with the first. ECE is computed with ten bins $(a, b]$, and
    EntCE is in nats.""",
)

# %% [markdown]
# (the-same-predictions-scored-twice)=
# RoBERTa-base stands for the runs that {cite:t}`baan2022` trained on SNLI and released. RoBERTa-large represents the
# nine models of {cite:t}`nie2020`, which were trained on SNLI and MNLI. DeBERTa-v3-large and ModernBERT-large are
# introduced in {doc}`results`. The numbers that {cite:t}`baan2022` report are compared with ours in {doc}`claims`.
#
# ## Change the target, not the measure
#
# ECE does not require a majority label. Instead of scoring each answer of a model as 1 or 0, we can score it by the
# share of people who gave the same answer. The accuracy in a bin is then the model's mean agreement with a person drawn
# at random.
#
# Measured against the vote shares, the oracle's ECE is 0 by construction. At a temperature of 2, RoBERTa-base has an
# ECE of {value}`tbl-human-calibration dataset=snli family=RoBERTa-base temperature=2 mean:ece .2f` against the majority
# but {value}`fig-ece-against-votes family=RoBERTa-base temperature=2 mean:ece_votes .2f` against the votes, because
# fewer people agree with its answers than its confidence implies.

# %%
publish_figure(
    "fig-ece-against-votes",
    plot_two_targets,
    main_systems,
    caption="""At a temperature of 1 or 2, RoBERTa-base is less well calibrated to the votes than to the majority label.
    Each row gives the ECE of the same predictions in the same bins against two targets. Large marks show means over
    seeds, and small marks show single seeds.""",
    alt="""Each system has a row with two marks joined by a line. The oracle's error is 0 against vote shares and the
    largest of all against the majority label. For RoBERTa-base, the order is reversed: at both temperatures and for
    every seed, the error is larger against vote shares. RoBERTa-large's error is larger against vote shares, too.
    ModernBERT's error is larger against vote shares at temperature 1 and smaller at temperature 2. DeBERTa's error
    against vote shares is the largest.""",
)

# %% [markdown]
# ## Which temperature
#
# The code that {cite:t}`baan2022` released fixes the temperature at 2. For RoBERTa-base, a fitted temperature is about
# 2 only if it is fitted to the items on which the model is scored. When the temperature is fitted to the
# {value}`tbl-temperatures family=RoBERTa-base choice=outside max:n_fitted ,d` SNLI development items outside ChaosNLI,
# which were not selected for disagreement, it is
# {value}`tbl-temperatures family=RoBERTa-base choice=outside mean:temperature .2f` on average and hardly changes the
# ECE. When the temperature is {term}`cross-fitted` to vote shares, so that no item influences the temperature applied
# to it, the result is {value}`tbl-temperatures family=RoBERTa-base choice=cross_fitted mean:temperature .2f` for
# RoBERTa-base and {value}`tbl-temperatures family=DeBERTa-v3-large choice=cross_fitted temperature .1f` for
# DeBERTa-v3-large. The best temperature is higher for {term}`KL` and for ECE against the votes than for ECE against the
# majority.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Temperatures by fitting target, as a table", "code_prompt_hide": "Fold the table"}
by_model = calibration.choices_over_seeds(choices.rows)
is_first = by_model["family"] == by_model["family"].iloc[0]
publish_table(
    "tbl-temperatures",
    choices,
    columns=calibration.TEMPERATURE_COLUMNS,
    shown=by_model[
        (by_model["origin"] != "trained") & (is_first | (by_model["choice"] == "cross_fitted"))
    ],
    groups=["family"],
    caption="""The temperature depends on what it is fitted to. All values are means over seeds. Brackets give the
    lowest and the highest temperature over all seeds and folds. Lower is better for every measure, and the first
    model's best values are shown in bold. For the other models, only the cross-fitted temperature is shown. The
    downloadable table lists every choice for every model. Cross-fitting uses ten folds, and items with the same text
    are in the same fold. KL is in nats.""",
)

# %% [markdown]
# (beside-twenty-people)=
# ## Compared with twenty people
#
# People do not predict each other perfectly, either. As a prediction, the vote shares of twenty people
# misplace {value}`tbl-error-divergence measure=dist_ce system=H1 reference=outside_both mean .0%` of the votes of sixty
# other people. RoBERTa-base misplaces
# {value}`tbl-error-divergence measure=dist_ce origin=released temperature=1 reference=outside_both mean .0%` of the
# sixty people's votes at a temperature of 1 and
# {value}`tbl-error-divergence measure=dist_ce origin=released temperature=2 reference=outside_both mean .0%` at a
# temperature of 2. Twenty people are close to the crowd on nearly every item. RoBERTa-base is close to the crowd on
# some items but far from it on others, where it is confident in a label that few people chose.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Errors by the rank of a label, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-error-ranks",
    plot_rank_errors,
    error_distributions.rank_errors(in_table_1, shown_seed=shown_seed),
    caption="""RoBERTa-base gives people’s first choice too much probability on some items and far too little on others.
    The histograms show the probability that RoBERTa-base gives a label minus the share of people who chose that label.
    Labels are ranked on each item by their votes, starting with the majority label (rank 1). Tied labels keep their
    usual order. Marks on the axis show means.""",
    alt="""Six histograms show the signed errors of first, second and third labels, first on SNLI and then on MNLI. At
    temperature 1, the errors of first labels have two humps, one a little above zero and one near minus one half, which
    are about equally high on MNLI. The errors of second labels mirror them. At temperature 2, the humps merge below
    zero. The errors of third labels are near zero.""",
)

# %% [markdown]
# ## Limitations
#
# These findings rest on a few seeds of one architecture and on single runs of other models. The items were chosen
# because their five original votes were split, so errors and disagreement are larger than they would be on whole
# development sets. All calibration errors depend on how the ten bins are chosen. Because the votes are a sample, even a
# perfect model would misplace {value}`tbl-misplaced dataset=snli "system=perfect model" misplaced .0f` out of a hundred
# votes. Corrections with more than one parameter are the subject of {doc}`fitting`.

# %% [markdown]
# # Calibration to a majority and to people
#
# *My model is calibrated. Is that not enough?*
#
# **No. Where people disagree, calibration to the majority penalises a model for being right about them.** A model that
# knew the exact vote shares would have a calibration error ({term}`ECE`) of
# {value}`tbl-human-calibration dataset=snli system=oracle ece .2f` on SNLI, because
# {value}`tbl-misplaced dataset=snli "system=majority label" misplaced .0f` people in a hundred do not choose the majority
# label. Halve the logits of RoBERTa-base, and its ECE drops, on average over
# {value}`tbl-human-calibration dataset=snli family=RoBERTa-base temperature=1 count:ece d` runs, from
# {value}`tbl-human-calibration dataset=snli family=RoBERTa-base temperature=1 mean:ece .2f` to
# {value}`tbl-human-calibration dataset=snli family=RoBERTa-base temperature=2 mean:ece .2f`, but it still misplaces
# {value}`tbl-human-calibration dataset=snli family=RoBERTa-base temperature=2 mean:dist_ce .0%` of the votes, down from
# {value}`tbl-human-calibration dataset=snli family=RoBERTa-base temperature=1 mean:dist_ce .0%`.
#
# {cite:t}`baan2022` made this argument for models trained on one label per item. Here you can try it yourself, with a
# slider.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
dataset: str = "snli"  # which dataset
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
shown_seed: int = 0  # which of the model's seeds the diagrams and histograms show
n_temperatures: int = 61  # temperatures from 0.5 to 4 at which the measures are computed

# %%
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
# ## Drag until ECE is perfect
#
# A {term}`temperature` divides all logits. Move it until ECE is lowest, then look at the votes misplaced.

# %%
choices = calibration.temperature_choices(inputs)
curves = calibration.temperature_curves(inputs, choices=choices, n_temperatures=n_temperatures)
publish_figure(
    "fig-temperature",
    plot_temperatures,
    curves.where(calibration.is_drawn(curves.rows)),
    caption="""A temperature can make ECE almost perfect and still leave the model far from people.
    Measures by temperature, as means over the seeds of each model, and at three chosen
    temperatures ({numref}`tbl-temperatures`).""",
    alt="""Five panels with curves that fall and rise again. ECE against the majority label is
    lowest near temperature 2 for RoBERTa; DistCE is also lowest near 2, but its curve is flatter,
    and entropy error is lowest a little before. ECE against votes and KL keep falling up to a
    higher temperature, where the cross-fitted mark is. The mark fitted outside ChaosNLI lies near
    1, high on every curve. DeBERTa's valleys are at higher temperatures.""",
)

# %% [markdown]
# ```{interactive} fig-temperature
# :slider: temperature
# :where: choice=
# :diagrams: fig-reliability
# ```
#
# (where-the-confidence-goes)=
# Above 1, a temperature makes a model less sure, and it never changes the order of the
# labels. Unscaled, this RoBERTa-base gives {value}`fig-reliability family=RoBERTa-base temperature=1 bin_low=0.9 n ,d` of
# the {value}`fig-reliability family=RoBERTa-base temperature=1 sum:n ,d` SNLI items a confidence above 0.9, and is right
# on {value}`fig-reliability family=RoBERTa-base temperature=1 bin_low=0.9 hits .0%` of these. At a temperature of 2 the
# model's dots lie close to the diagonal, and ECE is nearly as low as it gets. The number of misplaced votes falls much
# less: no temperature takes any of its runs below
# {value}`fig-temperature family=RoBERTa-base measure=dist_ce min:value .0%`.
#
# (what-a-mean-hides)=
# One temperature flattens every prediction, even where people agree. The share of items with more than half of their
# votes misplaced falls from {value}`fig-distce family=RoBERTa-base temperature=1 max:far .0%` to
# {value}`fig-distce family=RoBERTa-base temperature=2 max:far .0%`, but
# {value}`fig-distce family=RoBERTa-base temperature=2 max:further .0%` of all items end up farther from the votes than
# before. A temperature turns a model's doubt up or down. It cannot show which items people disagree on. ECE is not to
# blame here: the temperature that is best for RoBERTa-base's ECE is nearly the one that misplaces fewest votes. One
# number is too little.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Reliability diagrams, as a figure", "code_prompt_hide": "Fold the figure"}
diagrams = calibration.reliability(inputs, shown_seed=shown_seed, n_temperatures=n_temperatures)
publish_figure(
    "fig-reliability",
    plot_reliability,
    diagrams.where(calibration.is_drawn(diagrams.rows)),
    caption=f"""A temperature of 2 brings RoBERTa-base close to the diagonal; the oracle stays above
    it. Dots show the accuracy in a bin of confidence, against the majority label; lines connect
    them to the bin's mean confidence and are thicker where there are more items. Seed {shown_seed}
    where there are several; the data has all temperatures of {{numref}}`fig-temperature`. Compare
    Figures 1c and 1d of {{cite:t}}`baan2022`.""",
    alt="""Six reliability diagrams. At temperature 1 RoBERTa's dots stay below the diagonal, except
    for the first, which stands for a single item; most items are in the last bin. At temperature 2
    the dots follow the diagonal. The other models, shown only before scaling, are overconfident
    too. The oracle's dots are all at 1, far above the diagonal except at its end.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Distances for each item, as a figure", "code_prompt_hide": "Fold the figure"}
distances = calibration.distance_histogram(inputs, shown_seed=shown_seed)
publish_figure(
    "fig-distce",
    plot_distances,
    distances.where(calibration.is_drawn(distances.rows)),
    caption=f"""A temperature of 2 shortens the tail but leaves fewer items very close to the votes,
    except for RoBERTa-large and DeBERTa. Total variation distance (DistCE) between model and votes
    on each item; dashed lines are means. The oracle's distances would all be 0. Seed {shown_seed}
    where there are several. Compare Figures 1a and 1b of {{cite:t}}`baan2022`.""",
    alt="""Four panels, each with two histograms of DistCE. At temperature 1 many of RoBERTa's items lie
    near 0 and a long tail reaches almost to 1; at temperature 2 the tail is shorter, fewer items lie
    next to 0, and the mean is a little smaller. RoBERTa-large and ModernBERT change likewise; DeBERTa gains items near 0.""",
)

# %% [markdown]
# ## What calibration asks
#
# A model is calibrated if seven in ten of the answers that it gives with confidence 0.7 are right, and likewise for every
# other confidence. ECE sorts the items into ten bins by confidence and averages the gaps between mean confidence and
# accuracy. This is a promise about *sets* of items, and it needs one right label per item: the majority of the votes.
#
# Calibration to people can be checked item by item: each label should get the probability with which a person would
# choose it. {cite:t}`baan2022` measure this in three ways. {term}`DistCE` is the share of the votes that a prediction
# misplaces ({term}`total variation distance`). {term}`EntCE` is the absolute difference between the two
# {term}`entropies <entropy>`, in nats. {term}`RankCS` is the share of items on which model and people put the labels in
# the same order.
#
# ## The oracle paradox
#
# No prediction is nearer to the votes than the votes' own shares. Call that prediction the {term}`oracle`. Its answer is
# always the majority label, so its accuracy is 1, and its confidence is the majority's share of the votes. Confidence
# never exceeds accuracy, so no two gaps cancel, and ECE is one minus the mean majority share. On MNLI it is
# {value}`tbl-human-calibration dataset=mnli system=oracle ece .2f`, more than the ECE of any model on this page. Here ECE
# measures disagreement, and penalises a model for sharing people's doubt.

# %%
table_1 = calibration.human_calibration(in_table_1)
main_systems = table_1.where(
    (table_1.rows["dataset"] == dataset) & calibration.is_drawn(table_1.rows)
)
publish_table(
    "tbl-human-calibration",
    table_1,
    columns=calibration.CALIBRATION_COLUMNS,
    shown=calibration.means_over_seeds(main_systems.rows, calibration.TABLE_1).sort_values(
        ["kind", "temperature", "dist_ce"]
    ),
    groups=["kind"],
    caption="""The best prediction of people has the worst calibration error. Means over each
    model's seeds, on SNLI; the best model is bold. The data has every seed, all nine models of
    {cite:t}`nie2020`, and MNLI. We follow the code of {cite:t}`baan2022`: of tied labels, accuracy
    takes the last and ECE the first; there are ten bins $(a, b]$; EntCE is in nats.""",
)

# %% [markdown]
# (the-same-predictions-scored-twice)=
# RoBERTa-base stands for the runs that {cite:t}`baan2022` trained on SNLI and released. RoBERTa-large represents the nine
# models of {cite:t}`nie2020`, which were trained on SNLI and MNLI; {doc}`results` introduces DeBERTa-v3-large and
# ModernBERT-large. {doc}`claims` compares the paper's numbers with ours.
#
# ## Change the target, not the measure
#
# ECE does not require a majority label. Count an answer as right to the degree that people gave it: replace 1 or 0 by the
# answer's share of the votes. Accuracy in a bin is then agreement with a person drawn at random.
#
# Against this target the oracle's ECE is 0 by construction; a model's must be measured. At a temperature of 2
# RoBERTa-base has an ECE of {value}`tbl-human-calibration dataset=snli family=RoBERTa-base temperature=2 mean:ece .2f`
# against the majority, and of {value}`fig-ece-against-votes family=RoBERTa-base temperature=2 mean:ece_votes .2f` against
# the votes: it still expects more people to agree with its answers than actually do. And ECE remains a statement about
# sets of items: a model with an ECE of 0 may be wrong about every single item.

# %%
publish_figure(
    "fig-ece-against-votes",
    plot_two_targets,
    main_systems,
    caption="""At a temperature of 1 or 2, RoBERTa-base is less well calibrated to the votes
    than to their majority. ECE of the same predictions in the same bins; only what counts as
    right differs. Large marks are means over seeds, small marks single seeds. The oracle's 0
    holds by construction.""",
    alt="""A row for each system, with two marks joined by a line. Against vote shares the oracle's
    error is 0, against the majority label it is the largest of all. For RoBERTa it is the other way
    round: at both temperatures and for every seed its error is larger against vote shares, and so
    is RoBERTa-large's. ModernBERT's error against vote shares is larger at temperature 1 and
    smaller at temperature 2; DeBERTa's is the largest.""",
)

# %% [markdown]
# ## Which temperature
#
# The released code fixes the temperature at 2. For RoBERTa-base, fitting gives about 2 only on the very items that are
# scored. Fitted on the {value}`tbl-temperatures family=RoBERTa-base choice=outside max:n_fitted ,d` SNLI development
# items outside ChaosNLI, the temperature is
# {value}`tbl-temperatures family=RoBERTa-base choice=outside mean:temperature .2f` on average, and ECE hardly moves:
# these items were not chosen for their disagreement. {term}`Cross-fitted <cross-fitted>` to vote shares, so that no item
# influences its own temperature, it is
# {value}`tbl-temperatures family=RoBERTa-base choice=cross_fitted mean:temperature .2f`, and for DeBERTa-v3-large
# {value}`tbl-temperatures family=DeBERTa-v3-large choice=cross_fitted temperature .1f`. It also depends on the measure:
# ECE against the votes and {term}`KL` call for a higher temperature than ECE against the majority.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Temperatures by what they are fitted to, as a table", "code_prompt_hide": "Fold the table"}
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
    caption="""The temperature depends on what it is fitted to. All values are means over seeds, T
    with its lowest and highest value in any seed and fold. Lower is better for every measure, and
    the best value of the first model is bold. For the other models one choice is shown; the data
    has all of them. Cross-fitting uses ten folds by text. KL is in nats.""",
)

# %% [markdown]
# (beside-twenty-people)=
# ## Compared with twenty people
#
# People do not agree perfectly with each other, either. Compared with sixty others, twenty people misplace
# {value}`tbl-error-divergence measure=dist_ce system=H1 reference=outside_both mean .0%` of the votes. Compared with the
# same sixty, RoBERTa-base misplaces
# {value}`tbl-error-divergence measure=dist_ce origin=released temperature=1 reference=outside_both mean .0%`, and
# {value}`tbl-error-divergence measure=dist_ce origin=released temperature=2 reference=outside_both mean .0%` at a
# temperature of 2. Twenty people are close to the crowd on nearly every item; RoBERTa-base is close on some items and far
# off on others, where it is sure of a label that few people chose.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Errors by the rank of a label, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-error-ranks",
    plot_rank_errors,
    error_distributions.rank_errors(in_table_1, shown_seed=shown_seed),
    caption="""Systems give people’s first choice too much probability on some items and far too
    little on others. A system’s probability minus people’s share, for each item’s label with the
    most votes (rank 1) and the labels that follow, whatever their class; tied labels keep their
    usual order. Marks on the axis are means.""",
    alt="""Six histograms of signed errors: first, second and third label on SNLI, then on MNLI. At
    temperature 1 the first label's errors have two humps, a little above zero and near minus one
    half, about equally high on MNLI; second labels mirror them. At temperature 2 the humps merge
    below zero. Errors of third labels are near zero.""",
)

# %% [markdown]
# ## Limitations
#
# These findings rest on one architecture with a few seeds, and on models with one run each. The items were chosen because
# their five original votes were split, so errors and disagreement are larger than on whole development sets. All
# calibration errors depend on the ten bins. The votes are a sample: even a perfect model would misplace
# {value}`tbl-misplaced dataset=snli "system=perfect model" misplaced .0f` of a hundred. {doc}`fitting` repairs
# predictions with more than one number.

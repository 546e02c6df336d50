# %% [markdown]
# # Language models as a crowd
#
# *May a language model stand in for annotators?*
#
# **The pooled labels of 32 language models do not reproduce how a crowd disagrees. Whether one model can replace one
# annotator depends on the model and the task.** We pooled one label from each of 32 models. The pooled labels misplace
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" misplaced .0f` of every hundred votes on SNLI and
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" misplaced .0f` on MNLI; the votes of five people
# misplace {value}`tbl-machine-crowds dataset=snli "crowd=language models" five_people_misplaced .0f` and
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" five_people_misplaced .0f`. When each model is asked
# for its most likely label, two models agree on
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" agreement .0%` of the MNLI items, whereas two people
# agree on {value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_agreement .0%`. Most models therefore
# add little that the others do not already provide.
#
# {term}`Recalibrated <worth, recalibrated>` on other items' votes, the panel is worth
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" people_on_top_recalibrated .1f` people on SNLI and
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_on_top_recalibrated .1f` on MNLI. The best
# single model is worth {value}`tbl-machine-models dataset=snli max:people_on_top_recalibrated .1f` and
# {value}`tbl-machine-models dataset=mnli max:people_on_top_recalibrated .1f` respectively, and one person is worth
# about 1. The models may have seen these items during training.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files with your own predictions, counted as machines
resamples: int = 1000  # bootstrap resamples of the items, for the intervals
confidence: float = 0.95  # coverage of the intervals
seed: int = 0  # seed of draws and resamples

# %%
from IPython.display import Markdown

from chaos_utils.analyses import asking, machine_crowds
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import are_our_own, notices
from chaos_utils.datasets.auxiliary_data import JUDGES
from chaos_utils.plots.machine_crowds import (
    plot_asking,
    plot_machine_worth,
    plot_members,
    plot_unanimity,
)
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data, predictions)
labelled = machine_crowds.labelled_inputs(inputs)
resampling = {"n_resamples": resamples, "confidence": confidence, "seed": seed}

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# ## One label each
#
# {cite:t}`li2026` asked 32 models from 2025 and 2026 for one label per item at temperature 0, on about a thousand items
# each of SNLI, MNLI and αNLI. We compare these labels with the hundred votes on the same items. On items that they did
# not see in training, the models may be worth less. The model names are those used in the queries; nobody has verified
# the versions.
#
# ## Each model and a person

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Each model compared with a person, as a figure", "code_prompt_hide": "Fold the figure"}
members = machine_crowds.members(labelled, **resampling)
publish_figure(
    "fig-machine-models",
    plot_members,
    members,
    caption=f"""On SNLI and αNLI, most models agree with a person more often than another person does. No model agrees with a person as
    often as the majority label of the other people does, but this is nearly true by definition. Each dot shows how often a randomly chosen
    person gives the model's label, with {100 * confidence:g}% intervals over items. Blue dots mark rates that differ significantly from the
    rate at which *two people* agree (paired bootstrap, with Holm's correction over the models). *Majority* is the label that most of the
    other people gave.""",
    alt="""Three panels of dots, one row per model, for SNLI, MNLI and αNLI. On SNLI nearly all dots lie between the lines for
    two people and for the majority; on MNLI many lie close to the line for two people; on αNLI two lie clearly below it and
    most above it.""",
)

# %% [markdown]
# On SNLI, {value}`tbl-machine-models dataset=snli side=above count:with_people d` of the 32 models agree with a random
# person significantly more often than a second person does; on MNLI,
# {value}`tbl-machine-models dataset=mnli side=above count:with_people d` do ({numref}`fig-machine-models`). This does
# not make them better than people, because the comparison rewards ignoring every minority view.
#
# We therefore work out how many people's votes you would need in order to learn as much as the model tells you, if you
# already knew how often each label is given overall ({term}`worth`; {numref}`tbl-machine-models`). These items do not
# settle which model agrees with people most often: on SNLI, any of
# {value}`tbl-machine-models dataset=snli rank_best=1 count:with_people d` models may rank first (with 95% confidence
# for all ranks jointly).

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All models, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-machine-models",
    members,
    columns=machine_crowds.member_columns(members.rows),
    index=["model"],
    caption=f"""These items do not settle which model agrees with people most often. *Agrees* is how often a random person gives the same
    label as the model; values in bold differ significantly from how often two people give the same label. *Worth* is the number of people
    whose votes, combined with the base rate, would match the model after each of its labels is replaced by the mean vote shares on other
    items to which the model gave that label. One person is worth about 1. The downloadable data also include {100 * confidence:g}%
    intervals (for which items are resampled and out-of-fold predictions are held fixed), p-values, each model's possible ranks, skill, and
    shrunk values.""",
)

# %% [markdown]
# ## How many people a panel is worth
#
# Pooling helps when the members of a panel err independently, as people do: a panel of *k* people is worth *k* people.
# An error that all models share does not average out.

# %%
publish_figure(
    "fig-machine-worth",
    plot_machine_worth,
    machine_crowds.panels(labelled, **resampling),
    caption=f"""Adding more models to a panel soon stops helping, whereas adding more people keeps helping. Solid lines
    show what the pooled votes of a given number of models are worth, averaged over all possible panels. The dashed line
    shows the result for equally many people who also know the base rate. The vertical axis counts people; its spacing
    follows {{term}}`skill <skill>`, which is 0 for the base rate and 1 for knowing everyone's answers. *Shrunk* panels
    are mixed with the base rate, with a single weight that is fitted on other items. Bands are {100 * confidence:g}%
    intervals over items. Values far below the base rate are not shown.""",
    alt="""Line plots for SNLI, MNLI and αNLI. The dashed line for people rises steadily. Shrunk panels of models start at or above one
    person and flatten between two and five people. Without shrinkage, panels start near the base rate on SNLI; on MNLI they stay below it
    even with all 32 models.""",
)

# %% [markdown]
# On SNLI, a single model that is shrunk towards the base rate is worth
# {value}`fig-machine-worth dataset=snli n_members=1 people_on_top_shrunk .1f` people on average; all 32 models together
# are worth {value}`fig-machine-worth dataset=snli n_members=32 people_on_top_shrunk .1f` ({numref}`fig-machine-worth`).
# Infinitely many models like these would be worth
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" limit_people_on_top_shrunk .1f`.
#
# Without shrinkage, the models are overconfident: all 32 together are worth
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" people_on_top .1f` people on SNLI and none on MNLI
# ({value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_on_top .1f`). On MNLI, it is best to mix their votes and the base
# rate in about equal parts (weight {value}`tbl-machine-crowds dataset=mnli "crowd=language models" shrinkage .2f`).

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Each crowd, as a table", "code_prompt_hide": "Fold the table"}
crowds = machine_crowds.crowds(inputs.with_auxiliary_data(JUDGES), **resampling)
publish_table(
    "tbl-machine-crowds",
    crowds,
    shown=crowds.rows[~are_our_own(crowds.rows["crowd"])],
    columns=machine_crowds.CROWD_COLUMNS,
    groups=["dataset"],
    caption=f"""Language models agree with each other more often than people do, and so do runs of one model with different seeds. Without
    recalibration, these crowds are worth only a few people. Each member gives one label per item, and the pooled labels are judged on the
    items that all members answered. *Misplaced* is the number of misplaced votes per hundred. *Worth* is the number of people whose votes,
    combined with the base rate, would match the crowd, before and after it is *recalibrated* by a map fitted on other items; a negative
    value means that the crowd is worse than the base rate. Brackets contain {100 * confidence:g}% intervals, for which items are resampled
    ({resamples:,} times) and out-of-fold predictions are held fixed. The downloadable data also include skill and shrunk values.""",
)

# %% [markdown]
# The developer matters little: on MNLI, two models from the same developer agree
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" within_maker .0%` of the time, and two from different
# developers {value}`tbl-machine-crowds dataset=mnli "crowd=language models" across_makers .0%` of the time
# ({numref}`tbl-machine-crowds`). Selecting models helps only on MNLI, where the best panel of five, chosen on half of
# the items, is worth {value}`tbl-machine-panels dataset=mnli "panel=the best, on the other items" people_on_top .1f`
# people on the other half, compared with {value}`tbl-machine-panels dataset=mnli "panel=all models" people_on_top .1f`
# for all 32 ({numref}`tbl-machine-panels`).

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Panels of five, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-machine-panels",
    machine_crowds.best_panels(labelled, confidence=confidence, seed=seed),
    columns=machine_crowds.PANEL_COLUMNS,
    groups=["dataset"],
    caption=f"""A panel of five that is chosen for its score loses part of that score on other items. *Worth* is the number of people whose
    votes, combined with the base rate, would match the panel in squared distance, without recalibration. Values are means over 20 random
    splits of the items; each half is used once to choose a panel and once to judge the panel chosen on the other half. Brackets give the
    range of the middle {100 * confidence:g}% of the values from these choices.""",
)

# %% [markdown]
# ### Language models and encoders
#
# On SNLI and MNLI, language models provide information that encoders ({doc}`results`) lack, and vice versa. A single
# map that combines both groups and is fitted to the votes on other items ({doc}`fitting`) is worth
# {value}`tbl-machine-stacked dataset=snli "stacked=encoders + language models" people .1f` people on SNLI and
# {value}`tbl-machine-stacked dataset=mnli "stacked=encoders + language models" people .1f` on MNLI
# ({numref}`tbl-machine-stacked`). Without ModernBERT-large, which may have seen the MNLI items, it is worth
# {value}`tbl-machine-stacked dataset=mnli "stacked=encoders without ModernBERT-large + language models" people .1f`
# people on MNLI.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Language models and encoders, as a table", "code_prompt_hide": "Fold the table"}
stacked = machine_crowds.with_encoders(labelled, **resampling)
publish_table(
    "tbl-machine-stacked",
    stacked,
    shown=stacked.rows[~stacked.rows["stacked"].str.contains("without")],
    columns=machine_crowds.STACKED_COLUMNS,
    groups=["dataset"],
    caption=f"""On SNLI and MNLI, combining language models and encoders is better than using either group alone; on αNLI, the encoders add
    almost nothing. Each row shows one map, evaluated out of fold (ten folds) on the items that all systems answered. *Worth* is the number
    of people whose votes, combined with the base rate, would match this map, which is fitted to minimise KL. The columns on the right show
    how much JSD falls when language models are added to the encoders, and when encoders are added to the language models. Brackets contain
    {100 * confidence:g}% intervals over items. The downloadable data also include the encoders without ModernBERT-large.""",
)

# %% [markdown]
# ## What it means that models agree

# %%
publish_figure(
    "fig-machine-unanimity",
    plot_unanimity,
    machine_crowds.unanimity(labelled, **resampling),
    caption=f"""Even where all models agree, people may not. Each point shows the share of people who give the models'
    most frequent label, against the share of models that give it, with {100 * confidence:g}% intervals over items. The
    last point covers the items on which all models agree. The number beside each point is the share of the items that
    the point covers. On the dashed line, as many people as models give the label.""",
    alt="""Three panels. The share of people rises with the share of models but stays below the diagonal: where all models agree, the share
    of people is about 85 percent on SNLI, 70 percent on MNLI and 94 percent on αNLI.""",
)

# %% [markdown]
# Even where all models agree, many people disagree with them. On such MNLI items,
# {value}`fig-machine-unanimity dataset=mnli bin=4 people .0%` of people give the models' label, compared with
# {value}`fig-machine-unanimity dataset=snli bin=4 people .0%` on SNLI and
# {value}`fig-machine-unanimity dataset=alphanli bin=4 people .0%` on αNLI ({numref}`fig-machine-unanimity`). The
# unanimous label is usually also the majority label of the people (on
# {value}`fig-machine-unanimity dataset=mnli bin=4 majority .0%` of these MNLI items), but that does not mean that
# people agree.
#
# Nearly all models agree on {value}`tbl-machine-parted dataset=mnli max:n_agreed d` MNLI items. On
# {value}`tbl-machine-parted dataset=mnli people_label=any n_items d` of these, people's majority label is a different
# one, and the models' label is most often *neutral* ({numref}`tbl-machine-parted`). On the MNLI items whose majority
# label differs from the {term}`old label`,
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" old_label .0%` of the models' answers match the old
# label, but only {value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_old_label .0%` of people's
# answers do. This may be a sign that the models saw these items in training.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Where models and people differ, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-machine-parted",
    machine_crowds.parted(labelled),
    columns=machine_crowds.PARTED_COLUMNS,
    groups=["dataset"],
    caption="""Where nearly all models differ from people's majority label, people's vote is close, and on MNLI the models
    mostly say *neutral*. The table covers items on which at least 90% of the models give one label while people's majority
    label is another. It shows how many such items there are, the share of people who give each of the two labels, and how often the models give the
    old label. Pairs of labels with fewer than five items are counted only under *any*.""",
)

# %% [markdown]
# ## The published values
#
# {cite:t}`li2026` describe the panel by $\nu_{\mathrm{MSE}}$, the number of people whose vote shares would be as near
# to the crowd's as the panel's are. We reproduce their values ({numref}`tbl-machine-published`), but the measure has no
# zero point: on MNLI, once the bias of a hundred votes is removed, the base rate alone counts as
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" credibility .2f` people and the 32 models as
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" human_equivalent_brier .2f`.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Published and computed values, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-machine-published",
    machine_crowds.published(labelled),
    columns=machine_crowds.PUBLISHED_COLUMNS,
    groups=["dataset"],
    caption="""We reproduce the published values. On SNLI, all digits agree. We leave out one MNLI item and five αNLI items for which a
    model's reply could not be read; the published values count a placeholder label instead. *J* is how often two people would differ if the
    vote shares were the true distribution. *PR* is the participation ratio of the models' residuals. *n_eff* is the effective number of
    independent models, computed from their errors against ChaosNLI's majority label. *γ_co* is the share of deviations that the models have
    in common. *ν_H* depends on a simulated curve that was not released. *Missing* is what the omitted items would have to contribute to the
    sum over items for the two values to agree.""",
)

# %% [markdown]
# ## In an annotator's place
#
# Whether a model may replace an annotator depends on the model, the task and the margin ε that you allow.
# {cite:t}`calderon2025` released the labels of language models together with those of each annotator, for six models on
# word associations (WAX {cite:p}`liu2022`) and four models on pictures of skin lesions {cite:p}`cheplygina2018`. For
# each annotator, their {term}`replacement test` asks whether the model agrees with the other annotators about as well
# as that annotator does. The share of annotators for whom it does, within a margin ε, is called *ω*. The model passes
# if *ω* is at least 0.5.

# %%
publish_table(
    "tbl-machine-stand-ins",
    machine_crowds.stand_ins(machine_crowds.annotator_inputs(inputs), **resampling),
    columns=machine_crowds.STAND_IN_COLUMNS,
    groups=["dataset"],
    caption=f"""Whether a model may replace an annotator depends on the model and on the margin ε that we allow. The columns *a person* and
    *a model* show how often another person and another model, respectively, gave the same label. The row *all of them, plurality* uses the
    label that the models gave most often (the first in case of a tie); here, *worth* is computed from all their votes pooled, and *a model*
    is how often two models agree. The row *people* shows how often two people agree. The last two rows are benchmarks for the test. One is
    the label that people choose most often overall, given to every item. The other is a hundred additional people, simulated from the
    votes, whose ρ and ω are averaged. *Worth* is computed after votes are mixed with the base rate, with a single weight that is fitted on
    other items. Brackets contain {100 * confidence:g}% intervals over items.""",
)

# %% [markdown]
# On WAX, Gemini Pro passes at ε = 0.1, the margin proposed for crowd workers, with ω =
# {value}`tbl-machine-stand-ins dataset=wax model=gemini_pro wins_10 .2f` ({numref}`tbl-machine-stand-ins`). Mistral
# fails even at ε = 0.2 (ω = {value}`tbl-machine-stand-ins dataset=wax model=mistral-v03 wins_20 .2f`), as does GPT-4o
# on the skin lesions. People do not always pass either: an additional person, simulated from the votes on WAX, passes
# at ε = 0.1 in {value}`tbl-machine-stand-ins dataset=wax "model=one more person, simulated" passed_10 .0%` of the
# simulations.
#
# The test compares one model with one person, not a panel with a crowd. Pooled and shrunk, all models together are
# worth {value}`tbl-machine-stand-ins dataset=wax "model=all of them, plurality" people_on_top_shrunk .1f` people on WAX
# and {value}`tbl-machine-stand-ins dataset=lesion "model=all of them, plurality" people_on_top_shrunk .1f` on the
# lesions. To test a model of your own, you need votes with named annotators:
# `chaos run crowd -p data=VOTES -p predictions=FILE -p epsilon=0.1 -p why=REASON`
# ({doc}`../datasets`).
#
# ## Other ways to ask
#
# A language model can also provide samples, log-probabilities or percentages ({doc}`../your_model`). We found no public
# run on ChaosNLI that reports these for each item, so we simulate them from the RoBERTa-large model of
# {cite:t}`nie2020`.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Ways of asking, as a table", "code_prompt_hide": "Fold the table"}
ways = asking.ways(labelled, system="roberta-large", **resampling)
publish_table(
    "tbl-asking",
    ways,
    columns=asking.way_columns(ways.rows),
    index=["way", "n_answers"],
    caption=f"""After recalibration, one label is worth about half as much as the full probabilities, and thirty samples about three
    quarters as much. *Worth* is the number of people whose votes, combined with the base rate, would match the answers, before and after
    recalibration on other items. The answers are simulated from RoBERTa-large's probabilities; the percentages that a language model states
    may differ from its own probabilities. For samples, ½ is added to the count of each label; percentages are rounded to the nearest ten.
    Worth before recalibration is undefined for a single label. The downloadable data also include {100 * confidence:g}% intervals over
    items, for one draw of the samples.""",
)

# %% [markdown]
# After recalibration, the probabilities of RoBERTa-large are worth
# {value}`tbl-asking dataset=mnli way=logprobs people_on_top_recalibrated .1f` people on MNLI, thirty samples
# {value}`tbl-asking dataset=mnli way=samples n_answers=30 people_on_top_recalibrated .1f`, and one label
# {value}`tbl-asking dataset=mnli way=label people_on_top_recalibrated .1f` ({numref}`tbl-asking`). Without
# recalibration, a small number of samples flatters an overconfident model, because the ½ added to each label's count
# draws the model's answers towards a uniform guess.
#
# ### Temperature, effort, personas
#
# {cite:t}`kamath2026` asked people how likely an inference is, on a scale from 0 to 100. They asked seven reasoning
# models the same question thirty times in each of several settings. Does any setting make a model's answers as varied
# as people's?

# %%
settings = asking.settings(asking.setting_inputs(inputs), n_splits=100, **resampling)
publish_figure(
    "fig-asking",
    plot_asking,
    settings,
    caption=f"""No setting makes a model's answers as varied as people's or brings them close to people's. *Distance* is
    the Wasserstein distance between a model's answers and an equal number of answers from one half of the people.
    Values are means over 28 to 30 items of ProbCOPA, with {100 * confidence:g}% intervals over items. The vertical
    lines mark the distances of the other half of the people (*people*), of that half's median used as a single answer
    (*median*), and of a
    uniform guess (*uniform*). *Spread* is the standard deviation of the answers to an item. We leave out one setting,
    because most of its replies could not be read. All distances compare equal numbers of answers, because two samples
    of the same distribution differ by chance {{cite:p}}`bellemare2017`. The energy distance, which is not biased in
    this way {{cite:p}}`szekely2013`, leads to the same conclusion.""",
    alt="""Two panels of dots, one row for each setting of seven models. On the left, all dots lie between 12 and 18 points,
    around the line for people's median at 15, far from people at 7.5 and from a uniform guess at 26.5. On the right, all lie
    below 10 points, with people at 18.""",
)

# %% [markdown]
# None does. The answers in the {value}`fig-asking kind=setting count:distance d` settings are
# {value}`fig-asking kind=setting min:distance .0f` to {value}`fig-asking kind=setting max:distance .0f` points from
# people's
# ({numref}`fig-asking`). The answers of one half of the people are {value}`fig-asking "model=the other half of the people" distance .1f`
# points away from those of the other half, and a uniform guess is
# {value}`fig-asking "model=uniform guess" distance .1f` points away. In every setting, a model's thirty answers to an
# item have an average standard deviation of at most {value}`fig-asking kind=setting max:sd .0f` points, compared with
# {value}`fig-asking "model=the other half of the people" sd .0f` points for people's answers.
#
# The median of people's answers, used as a single answer, is
# {value}`fig-asking "model=the other half's median, alone" distance .1f` points away. We cannot show that any setting
# brings a model nearer to people than this single number is (the smallest *p* for a nearer setting, after Holm's
# correction, is {value}`fig-asking kind=setting is_nearer=true min:p_adjusted .2f`).
#
# ## Limitations
#
# * The SNLI and MNLI items were chosen for their disagreement. On the αNLI items used here, two people agree
#   {value}`tbl-machine-crowds dataset=alphanli "crowd=language models" people_agreement .0%` of the time, slightly more often than on the
#   rest of αNLI ({value}`tbl-machine-crowds dataset=alphanli "crowd=language models" left_out_agreement .0%`).
# * Each of the 32 models was asked once, with one prompt, for one label. At temperature 0, even perfect models would agree with each
#   other, so agreement is not in itself a flaw. Our only evidence that settings change little comes from thirty items of another task.
# * The models are not a random sample of all models, and the intervals are over items only.
# * Few annotators of WAX and of the lesions judged enough items for the test, so ω can take only a few values.

# %% [markdown]
# # Language models as a crowd
#
# *May a language model stand in for annotators?*
#
# **The pooled labels of 32 language models do not reproduce the way people disagree, but on two other tasks, some
# models pass a test of whether they may replace one of six or eight annotators.** If one label per item from each model
# is pooled, the pooled labels {term}`misplace <total variation distance>`
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" misplaced .0f` of every hundred votes on SNLI and
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" misplaced .0f` on MNLI. A prediction from the votes of
# five people misplaces {value}`tbl-machine-crowds dataset=snli "crowd=language models" five_people_misplaced .0f` on
# SNLI and {value}`tbl-machine-crowds dataset=mnli "crowd=language models" five_people_misplaced .0f` on MNLI.
#
# {term}`Recalibrated <worth, recalibrated>` by a map that was fitted to a hundred votes on each of about 900 other
# items, the panel of models is {term}`worth` the votes of
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" people_on_top_recalibrated .1f` people (95% interval:
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" people_on_top_recalibrated_low .1f` to
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" people_on_top_recalibrated_high .1f`) on SNLI and
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_on_top_recalibrated .1f`
# ({value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_on_top_recalibrated_low .1f` to
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_on_top_recalibrated_high .1f`) on MNLI if we
# already know how often each label is given overall (the {term}`base rate`). {term}`Shrunk <worth, shrunk>` towards the
# base rate by a single number, it is worth only
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" people_on_top_shrunk .1f` and
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_on_top_shrunk .1f` people. The best single
# model (the best of 32, chosen on these items) is worth about half as much as the recalibrated panel.
#
# More models help less and less: a shrunk panel of five is already worth
# {value}`fig-machine-worth dataset=snli n_members=5 people_on_top_shrunk .1f` people on SNLI and
# {value}`fig-machine-worth dataset=mnli n_members=5 people_on_top_shrunk .1f` on MNLI. On average, two models agree on
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" agreement .0%` of the MNLI items, whereas two people
# agree on {value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_agreement .0%`. The models may have
# seen these items during training and may be worth less on unseen items.

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
# {cite:t}`li2026` asked 32 models from 2025 and 2026 to label about a thousand items from each of SNLI, MNLI and αNLI,
# at temperature 0.
#
# ## Each model and a person

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Each model compared with a person, as a figure", "code_prompt_hide": "Fold the figure"}
members = machine_crowds.members(labelled, **resampling)
publish_figure(
    "fig-machine-models",
    plot_members,
    members,
    caption=f"""On SNLI and αNLI, most models agree with a person more often than another person does. No model agrees with a person as
    often as the majority label of the other people does, which is true almost by definition. Each dot shows how often a randomly chosen
    person gives the model's label, with {100 * confidence:g}% intervals over items. Blue dots mark rates that differ significantly from the
    rate at which *two people* agree (paired bootstrap, with Holm's correction over the models). *Majority* is the label that the other
    people chose most often.""",
    alt="""Three panels of dots, one row per model, for SNLI, MNLI and αNLI. On SNLI, nearly all dots lie between the lines for
    two people and for the majority. On MNLI, many dots lie close to the line for two people. On αNLI, two dots lie clearly
    below the line for two people, and most dots lie above it.""",
)

# %% [markdown]
# On SNLI, {value}`tbl-machine-models dataset=snli side=above count:with_people d` of the 32 models agree with a
# randomly chosen person significantly more often than a second person does, and on MNLI,
# {value}`tbl-machine-models dataset=mnli side=above count:with_people d` do ({numref}`fig-machine-models`). On SNLI,
# any one of {value}`tbl-machine-models dataset=snli rank_best=1 count:with_people d` models may be the one that agrees
# with people most often (95% confidence, for all ranks jointly; {numref}`tbl-machine-models`). A higher rate of
# agreement does not mean that a model is better than a person, because agreement is highest if a model ignores all
# minority views.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All models, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-machine-models",
    members,
    columns=machine_crowds.member_columns(members.rows),
    index=["model"],
    caption=f"""On these items, we cannot tell which model agrees with people most often. *Agrees* is the percentage of people who give the
    same label as the model. Values in bold differ significantly from the rate at which two people give the same label. *Worth* is the
    number of people whose votes, taken together and combined with the base rate, would match the model once each of its labels is replaced
    by the mean vote shares of other items with that label. The downloadable data also include {100 * confidence:g}% intervals over items,
    for which out-of-fold predictions are held fixed, as well as p-values, each model's possible ranks, its skill, and its worth when
    shrunk. Models are listed under the names used in the queries, and the model versions have not been verified.""",
)

# %% [markdown]
# ## How many people a panel is worth
#
# Pooling averages out errors that the members of a panel make independently, but not errors that all members share.

# %%
publish_figure(
    "fig-machine-worth",
    plot_machine_worth,
    machine_crowds.panels(labelled, **resampling),
    caption=f"""Adding more models to a panel helps less and less. Solid lines show how many people the pooled labels of a given number of models are worth, on average over all possible panels. The dashed line shows panels of people,
    whose votes are combined with the base rate. The vertical axis shows worth, in people, on a scale that is linear in
    {{term}}`skill <skill>`, which is 0 for the base rate and 1 for a system that knows everyone's answers. The pooled labels of *shrunk*
    panels are mixed with the base rate in a single proportion fitted on other items. Bands show {100 * confidence:g}% intervals over items.
    Values far below the base rate are not shown.""",
    alt="""Line plots for SNLI, MNLI and αNLI. The dashed line for people rises steadily. Shrunk panels of models start at or above one
    person and flatten between two and five people. Without shrinkage, panels start near the base rate on SNLI. On MNLI, they stay
    below the base rate even with all 32 models.""",
)

# %% [markdown]
# On SNLI, a single model that is shrunk towards the base rate is worth
# {value}`fig-machine-worth dataset=snli n_members=1 people_on_top_shrunk .1f` people on average, and a shrunk panel of
# infinitely many similar models would be worth
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" limit_people_on_top_shrunk .1f` people
# ({numref}`fig-machine-worth`).
#
# Without shrinkage, the panel is overconfident: it is worth
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" people_on_top .1f` people on SNLI and
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_on_top .1f` people on MNLI, where it is no better than the base
# rate.
#
# On MNLI, two models from the same developer agree on {value}`tbl-machine-crowds dataset=mnli "crowd=language models" within_maker .0%` of
# the items, hardly more often than two models from different developers do
# ({value}`tbl-machine-crowds dataset=mnli "crowd=language models" across_makers .0%`; {numref}`tbl-machine-crowds`).

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Each crowd, as a table", "code_prompt_hide": "Fold the table"}
crowds = machine_crowds.crowds(inputs.with_auxiliary_data(JUDGES), **resampling)
publish_table(
    "tbl-machine-crowds",
    crowds,
    shown=crowds.rows[~are_our_own(crowds.rows["crowd"])],
    columns=machine_crowds.CROWD_COLUMNS,
    groups=["dataset"],
    caption=f"""Language models agree with each other more often than people do, and so do copies of one model that were trained with
    different seeds. Without recalibration, each crowd in this table is worth at most a few people. Each member of a crowd gives one label
    per item, and the pooled labels are judged on the items that all members answered. *Misplaced* is the number of misplaced votes per
    hundred. *Worth* is the number of people whose votes, taken together and combined with the base rate, would match the crowd; it is
    negative for a crowd that is worse than the base rate. *Recalibrated* crowds are corrected by a map fitted on other items. Brackets
    contain {100 * confidence:g}% intervals from {resamples:,} resamples of the items, with out-of-fold predictions held fixed. The
    downloadable data also include each crowd's skill and its worth when shrunk.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Panels of five, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-machine-panels",
    machine_crowds.best_panels(labelled, confidence=confidence, seed=seed),
    columns=machine_crowds.PANEL_COLUMNS,
    groups=["dataset"],
    caption=f"""The panel of five models that is best on one half of the items is worth less on the other half. Only on MNLI is the best
    panel of five worth more on the other half than all 32 models together are. *Worth* is the number of people whose votes, taken together
    and combined with the base rate, would match the panel in squared distance, without recalibration. Values are means over 20 random
    splits of the items into halves. Each half is used once to choose a panel, which is then judged on the other half. Brackets give the
    range of the middle {100 * confidence:g}% of the values.""",
)

# %% [markdown]
# ### Language models and encoders
#
# On SNLI and MNLI, combining language models with encoders ({doc}`results`) is better than using either group alone. A
# single map for both groups, fitted to the votes on other items ({doc}`fitting`), is worth
# {value}`tbl-machine-stacked dataset=snli "stacked=encoders + language models" people .1f` people on SNLI and
# {value}`tbl-machine-stacked dataset=mnli "stacked=encoders + language models" people .1f` on MNLI
# ({numref}`tbl-machine-stacked`). Without ModernBERT-large, which may have seen the MNLI items, the combined map is
# worth
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
    caption=f"""On SNLI and MNLI, combining language models and encoders is better than using either group alone. On αNLI, the encoders add
    almost nothing to the language models. Each row shows one map, evaluated by ten-fold cross-validation on the items that all systems
    answered. *Worth* is the number of people whose votes, taken together and combined with the base rate, would match the map when it is
    fitted to minimise KL. The last two columns show how much JSD falls when language models are added to the encoders, and when encoders
    are added to the language models. Brackets contain {100 * confidence:g}% intervals over items. The downloadable data also include
    results without ModernBERT-large.""",
)

# %% [markdown]
# (what-it-means-that-models-agree)=
# ## What agreement among models means

# %%
publish_figure(
    "fig-machine-unanimity",
    plot_unanimity,
    machine_crowds.unanimity(labelled, **resampling),
    caption=f"""Even where all models agree, people may disagree. Each point shows the share of people who give the models' most frequent
    label, plotted against the share of models that give it, with {100 * confidence:g}% intervals over items. The last point in each panel
    covers the items on which all models agree. The number beside each point is the share of the items that the point covers. On the dashed
    line, the two shares are equal.""",
    alt="""Three panels. The share of people rises with the share of models but stays below the diagonal: where all models agree, the share
    of people is about 85 percent on SNLI, 70 percent on MNLI and 94 percent on αNLI.""",
)

# %% [markdown]
# Where all models agree, their label is given by {value}`fig-machine-unanimity dataset=mnli bin=4 people .0%` of people
# on MNLI, {value}`fig-machine-unanimity dataset=snli bin=4 people .0%` on SNLI and
# {value}`fig-machine-unanimity dataset=alphanli bin=4 people .0%` on αNLI ({numref}`fig-machine-unanimity`). On
# {value}`fig-machine-unanimity dataset=mnli bin=4 majority .0%` of the MNLI items on which all models agree, the
# models' label is also people's majority label.
#
# On {value}`tbl-machine-parted dataset=mnli people_label=any n_items d` of the
# {value}`tbl-machine-parted dataset=mnli max:n_agreed d` MNLI items on which at least 90% of the models agree, people's
# majority label differs from the models' label, which is most often *neutral* ({numref}`tbl-machine-parted`).

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Where models and people differ, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-machine-parted",
    machine_crowds.parted(labelled),
    columns=machine_crowds.PARTED_COLUMNS,
    groups=["dataset"],
    caption="""Where nearly all models contradict people's majority label, people are divided, and on MNLI the models
    mostly say *neutral*. The table covers items on which at least 90% of the models give one label while people's
    majority label is another. The columns show the number of these items, the share of people who give each of the two
    labels, and how often the models give the old label. Pairs of labels that occur on fewer than five items are counted
    only under *any*.""",
)

# %% [markdown]
# ## The published values
#
# {cite:t}`li2026` evaluate the panel by $\nu_{\mathrm{MSE}}$, the number of people whose pooled vote shares would be as
# near to the crowd's as the panel's are. We reproduce the published values exactly on SNLI and closely on MNLI and αNLI
# ({numref}`tbl-machine-published`). On this scale, however, the base rate alone, after correction for the limited number
# of votes, is equivalent to {value}`tbl-machine-crowds dataset=mnli "crowd=language models" credibility .2f` people on
# MNLI, more than the 32 models are
# ({value}`tbl-machine-crowds dataset=mnli "crowd=language models" human_equivalent_brier .2f`).

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Published and computed values, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-machine-published",
    machine_crowds.published(labelled),
    columns=machine_crowds.PUBLISHED_COLUMNS,
    groups=["dataset"],
    caption="""On SNLI, our values agree with the published values to the last printed digit, and on MNLI and αNLI, they
    agree closely. We leave out one MNLI item and five αNLI items for which a model's reply could not be read; the
    published values count a placeholder label instead. *J* is the probability that two people would give different labels if the vote shares were the true distribution. *PR* is the
    participation ratio of the models' residuals. *Effective models* is the number of independent models to which the panel is equivalent,
    computed from the models' errors against ChaosNLI's majority label. *Shared deviation* is the share of deviations that the models have
    in common. We do not compute *νH*, because it depends on a simulated curve that was not released. *Missing* is what the omitted items
    would have to contribute to the sum over items for the published value and our value to agree.""",
)

# %% [markdown]
# ## In an annotator's place
#
# {cite:t}`calderon2025` released each annotator's labels for two tasks, together with those of six language models on
# word associations (WAX {cite:p}`liu2022`) and of four on pictures of skin lesions {cite:p}`cheplygina2018`. For each
# annotator, the {term}`replacement test` asks whether a model agrees with the other annotators about as well as that
# annotator does, within a margin *ε*. The share of annotators whom the model beats in this way is called *ω*, and a
# model passes if *ω* is at least 0.5.

# %%
publish_table(
    "tbl-machine-stand-ins",
    machine_crowds.stand_ins(machine_crowds.annotator_inputs(inputs), **resampling),
    columns=machine_crowds.STAND_IN_COLUMNS,
    groups=["dataset"],
    caption=f"""Whether a model may replace an annotator depends on the model and on the margin ε that we allow. The columns *a person* and
    *a model* show how often another person and another model, respectively, gave the same label as that row's model.
    *ρ* is the share of items on which a model agrees with the other annotators at least as well as the omitted
    annotator does, averaged over annotators. The row *all of them, plurality* uses the label that the models gave most
    often (in case of a tie, the first label). In this row, *worth* is computed for the pooled labels, and *a model*
    shows how often two models agree. The row *people* shows how often two people agree. The last two rows are baselines
    for the test. The first baseline gives every item the label that people choose most often overall. The second
    consists of a hundred additional people, whom we simulate and whose ρ and ω are averaged. For *worth*, votes are
    mixed with the base rate in a single proportion fitted on other items. Brackets contain {100 * confidence:g}%
    intervals over items.""",
)

# %% [markdown]
# On WAX, Gemini Pro and GPT-4o just pass the test at ε = 0.1, the margin proposed for crowd workers: each beats half of
# the {value}`tbl-machine-stand-ins dataset=wax model=gemini_pro n_annotators .0f` annotators
# ({numref}`tbl-machine-stand-ins`). Mistral fails on WAX even at ε = 0.2 (ω =
# {value}`tbl-machine-stand-ins dataset=wax model=mistral-v03 wins_20 .2f`), and GPT-4o fails on the skin lesions at the
# same margin. An additional person, simulated from the votes on WAX, passes at ε = 0.1 in only
# {value}`tbl-machine-stand-ins dataset=wax "model=one more person, simulated" passed_10 .0%` of the simulations.
#
# The test compares one model with one person, not a panel with a crowd. With their labels pooled and shrunk, all models together are
# worth {value}`tbl-machine-stand-ins dataset=wax "model=all of them, plurality" people_on_top_shrunk .1f` people on WAX
# and {value}`tbl-machine-stand-ins dataset=lesion "model=all of them, plurality" people_on_top_shrunk .1f` on the
# lesions. To test your own model on your own votes, see
# {ref}`May my model replace an annotator? <replace-an-annotator>`
#
# ## Other ways to ask
#
# A language model can also provide samples, log-probabilities or percentages ({doc}`../your_model`). We found no public results on ChaosNLI
# that include such answers for each item, so we simulate them from the RoBERTa-large model of {cite:t}`nie2020`.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Ways of asking, as a table", "code_prompt_hide": "Fold the table"}
ways = asking.ways(labelled, system="roberta-large", **resampling)
publish_table(
    "tbl-asking",
    ways,
    columns=asking.way_columns(ways.rows),
    index=["way", "n_answers"],
    caption=f"""After recalibration, one label is worth about half as much as the full probabilities, and thirty samples are worth about
    three quarters as much. *Worth* is the number of people whose votes, taken together and combined with the base rate, would match the
    answers, before and after recalibration on other items. The answers are simulated from RoBERTa-large's probabilities, and percentages
    are rounded to the nearest ten. A language model may state percentages that differ from its own probabilities. For samples, ½ is added
    to the count of each label. If there are only a few samples from an overconfident model, this addition flatters the model by drawing its
    answers towards a uniform guess. Worth before recalibration is undefined for a single label. The downloadable data also include
    {100 * confidence:g}% intervals over items, for one draw of the samples.""",
)

# %% [markdown]
# After recalibration, the probabilities of RoBERTa-large are worth
# {value}`tbl-asking dataset=mnli way=logprobs people_on_top_recalibrated .1f` people on MNLI, thirty samples from them
# {value}`tbl-asking dataset=mnli way=samples n_answers=30 people_on_top_recalibrated .1f`, and the most likely label
# {value}`tbl-asking dataset=mnli way=label people_on_top_recalibrated .1f` ({numref}`tbl-asking`).
#
# ### Temperature, effort, personas
#
# {cite:t}`kamath2026` asked people and seven reasoning models how likely an inference is, on a scale from 0 to 100. In each of several
# settings, a model answered every question thirty times.

# %%
settings = asking.settings(asking.setting_inputs(inputs), n_splits=100, **resampling)
publish_figure(
    "fig-asking",
    plot_asking,
    settings,
    caption=f"""No setting makes a model's answers as varied as people's or brings them close to people's answers.
    *Distance* is the Wasserstein distance between a model's answers and an equal number of answers from one half of the
    people. Values are means over 28 to 30 items of ProbCOPA, with {100 * confidence:g}% intervals over items. The
    vertical lines mark the distances of the other half of the people (*people*), of that half's median used as a single
    answer (*median*), and of a uniform guess (*uniform*). *Spread* is the standard deviation of the answers to an item.
    People's spread is between different people, whereas a model's is between repeated answers of one model; how much
    one person's answers would vary is not known. We leave out one setting in which most replies could not be read. All
    distances are computed from equal numbers of answers, because even two samples from one distribution differ by
    chance {{cite:p}}`bellemare2017`. By the energy distance, which is not biased in this way {{cite:p}}`szekely2013`,
    every setting is far from people, too.""",
    alt="""Two panels of dots, one row for each setting of seven models. In the first, all dots lie between 12 and 18 points,
    around the line for people's median at 15, far from people at 7.5 and from a uniform guess at 26.5. In the second, all dots lie
    below 10 points, and people lie at 18.""",
)

# %% [markdown]
# The answers in the {value}`fig-asking kind=setting count:distance d` settings are, on average,
# {value}`fig-asking kind=setting min:distance .0f` to {value}`fig-asking kind=setting max:distance .0f` points from
# people's answers ({numref}`fig-asking`), whereas the answers of two halves of the people are only
# {value}`fig-asking "model=the other half of the people" distance .1f` points apart. In every setting, a model's
# answers to an item have an average standard deviation of at most {value}`fig-asking kind=setting max:sd .0f` points,
# compared with {value}`fig-asking "model=the other half of the people" sd .0f` points for people's answers.
#
# In {value}`fig-asking kind=setting is_nearer=true count:distance d` of these settings, a model's answers are nearer to
# one half of the people than the other half's median answer is
# ({value}`fig-asking "model=the other half's median, alone" distance .1f` points away), but in none significantly (the
# smallest Holm-corrected *p* is {value}`fig-asking kind=setting is_nearer=true min:p_adjusted .2f`). With thirty items,
# small differences cannot be detected.
#
# ## Limitations
#
# * The SNLI and MNLI items were chosen because annotators disagreed on them.
# * Each of the 32 models was asked only once per item, with one prompt. At temperature 0, even perfect models would
#   agree with each other, so agreement is not in itself a flaw. Our only evidence that other settings would make little
#   difference comes from thirty items of another task. There, people's answers vary from person to person, whereas a
#   model's vary from one answer to its next.
# * The 32 models are not a random sample of all models, and the intervals reflect only the choice of items.
# * Few annotators of WAX and of the lesions judged enough items for the test, so ω can take only a few values. The items
#   on lesions are five questions about each of a hundred images, so intervals over these items are too narrow.

# %% [markdown]
# # Language models as a crowd
#
# *May a language model stand in for annotators?*
#
# **Not for a crowd's disagreement; in place of one annotator, it depends on the model and the task.** Pooled, one label from each
# of 32 language models misplaces {value}`tbl-machine-crowds dataset=snli "crowd=language models" misplaced .0f` of a hundred votes
# on SNLI and {value}`tbl-machine-crowds dataset=mnli "crowd=language models" misplaced .0f` on MNLI; five people misplace
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" five_people_misplaced .0f` and
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" five_people_misplaced .0f`. Asked for their likeliest label, two
# models give the same one to {value}`tbl-machine-crowds dataset=mnli "crowd=language models" agreement .0%` of the MNLI items,
# where two people agree on {value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_agreement .0%`: so most models
# add little to the others.
#
# {term}`Recalibrated <worth, recalibrated>` on other items' votes, the panel is worth
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" people_on_top_recalibrated .1f` people on SNLI and
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_on_top_recalibrated .1f` on MNLI, the best single model
# {value}`tbl-machine-models dataset=snli max:people_on_top_recalibrated .1f` and
# {value}`tbl-machine-models dataset=mnli max:people_on_top_recalibrated .1f`; a person is worth about 1. The models may have seen
# these items.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, counted among the machines
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
# {cite:t}`li2026` asked 32 models of 2025 and 2026, from ten makers, for one label per item at temperature 0, on about a
# thousand items each of SNLI, MNLI and αNLI. We compare these labels with the hundred votes on the same items. On new items,
# models may be worth less. The names are those used in the queries; nobody verified the versions.
#
# ## Each model and a person

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Each model compared with a person, as a figure", "code_prompt_hide": "Fold the figure"}
members = machine_crowds.members(labelled, **resampling)
publish_figure(
    "fig-machine-models",
    plot_members,
    members,
    caption=f"""On SNLI and αNLI most models agree with a person more often than another person does. None agrees as often as
    the label that most other people gave, but this is nearly true by definition. Each dot is how often a random person gives
    the model's label, with {100 * confidence:g}% intervals over items. Blue: significantly different from how often *two
    people* agree (paired bootstrap, Holm's method over the models). *Majority*: the label that most other people gave.""",
    alt="""Three panels of dots, one row per model, for SNLI, MNLI and αNLI. On SNLI nearly all dots lie between the lines for
    two people and for the majority; on MNLI many lie close to the line for two people; on αNLI two lie clearly below it and
    most above it.""",
)

# %% [markdown]
# That a model agrees with a random person significantly more often than a second person does
# ({value}`tbl-machine-models dataset=snli side=above count:with_people d` of the 32 do on SNLI,
# {value}`tbl-machine-models dataset=mnli side=above count:with_people d` on MNLI; {numref}`fig-machine-models`) does not make it
# better than people: this count rewards leaving out every minority view. The label that most other people gave does better still.
#
# So we ask how many people you would need to learn as much as from the model, on top of how often each label is given overall
# ({term}`worth`). A model's label is replaced by the mean vote on the other items with that label. A person is worth about 1,
# the best single model {value}`tbl-machine-models dataset=snli max:people_on_top_recalibrated .1f` on SNLI and
# {value}`tbl-machine-models dataset=mnli max:people_on_top_recalibrated .1f` on MNLI ({numref}`tbl-machine-models`). We cannot
# say which model agrees best with people: on SNLI any of
# {value}`tbl-machine-models dataset=snli rank_best=1 count:with_people d` may be first (95%, for all ranks at once).

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All models, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-machine-models",
    members,
    columns=machine_crowds.member_columns(members.rows),
    index=["model"],
    caption=f"""Which model agrees best with people, the items do not decide. *Agrees*: how often a random person gives the same label; bold where this differs
    significantly from how often another person does. *Worth*: in people on top of the base rate, recalibrated, so that a label
    stands for the mean vote on other items with that label; a person is worth about 1. The data has {100 * confidence:g}%
    intervals over items, with out-of-fold predictions held fixed, p-values, each model's possible ranks, skill, and values
    shrunk by one weight.""",
)

# %% [markdown]
# ## How many people a panel is worth
#
# Pooling helps where members err independently, as people do: *k* people are worth *k*. Where models share an error, more models
# only confirm it.

# %%
publish_figure(
    "fig-machine-worth",
    plot_machine_worth,
    machine_crowds.panels(labelled, **resampling),
    caption=f"""Pooling more models soon stops helping; pooling more people does not. What the pooled votes of so many models
    are worth, averaged over all ways to draw them; dashed, the same number of people who know the base rate. The axis counts
    people and is linear in {{term}}`skill <skill>`, where 0 is the base rate and 1 is knowing all people's answers. *Shrunk*:
    mixed with the base rate by one weight, fitted on other items; a panel drawn at random cannot be recalibrated. With
    {100 * confidence:g}% intervals over items; values far below the base rate are not shown.""",
    alt="""Line plots for SNLI, MNLI and αNLI. The dashed line for people rises steadily. Shrunk panels of models start at or
    above one person and flatten between two and five people. Panels as they are start near the base rate on SNLI; on MNLI they
    stay below it even with all 32 models.""",
)

# %% [markdown]
# On SNLI a single model, shrunk towards the base rate by one number, is worth
# {value}`fig-machine-worth dataset=snli n_members=1 people_on_top_shrunk .1f` people on average, and all 32 together
# {value}`fig-machine-worth dataset=snli n_members=32 people_on_top_shrunk .1f` ({numref}`fig-machine-worth`). Infinitely many
# models like these would be worth
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" limit_people_on_top_shrunk .1f`.
#
# The gap between the two lines for models is overconfidence. As they are, all 32 models are worth
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" people_on_top .1f` people on SNLI and none on MNLI
# ({value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_on_top .1f`). On MNLI their votes are best mixed half
# and half with the base rate (weight {value}`tbl-machine-crowds dataset=mnli "crowd=language models" shrinkage .2f`).

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Each crowd, as a table", "code_prompt_hide": "Fold the table"}
crowds = machine_crowds.crowds(inputs.with_auxiliary_data(JUDGES), **resampling)
publish_table(
    "tbl-machine-crowds",
    crowds,
    shown=crowds.rows[~are_our_own(crowds.rows["crowd"])],
    columns=machine_crowds.CROWD_COLUMNS,
    groups=["dataset"],
    caption=f"""Language models agree with each other more often than people do, and so do seeds of one model; without
    recalibration, these crowds are worth few people. Each member gives one label per item; the pooled labels are judged on the
    items that all members answered. *Misplaced*: of a hundred votes. *Worth*: in people on top of the base rate, as it is and
    *recalibrated* by a map fitted on other items; negative means below the base rate. In brackets, {100 * confidence:g}%
    intervals that resample items ({resamples:,} times), with out-of-fold predictions held fixed. The data has skill, shrunk
    values, and more.""",
)

# %% [markdown]
# Two runs of RoBERTa-base agree even more often, on {value}`tbl-machine-crowds dataset=mnli crowd=RoBERTa-base agreement .0%` of
# the MNLI items. There, two language models from one maker agree on
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" within_maker .0%`, two from different makers on
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" across_makers .0%`: the maker matters little
# ({numref}`tbl-machine-crowds`).
#
# Choosing helps on MNLI alone. The best panel of five, chosen on half of the SNLI items, is worth
# {value}`tbl-machine-panels dataset=snli "panel=the best, on the other items" people_on_top .1f` people on the other half; all 32
# models are worth {value}`tbl-machine-panels dataset=snli "panel=all models" people_on_top .1f`. On MNLI it is worth
# {value}`tbl-machine-panels dataset=mnli "panel=the best, on the other items" people_on_top .1f`, all 32
# {value}`tbl-machine-panels dataset=mnli "panel=all models" people_on_top .1f` ({numref}`tbl-machine-panels`).

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Panels of five, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-machine-panels",
    machine_crowds.best_panels(labelled, confidence=confidence, seed=seed),
    columns=machine_crowds.PANEL_COLUMNS,
    groups=["dataset"],
    caption=f"""A panel of five that is chosen for its score loses part of that score on other items. Worth in people on top of
    the base rate, without recalibration, by squared distance. Means over 20 random splits of the items; each half is used once
    to choose and once to judge. In brackets, the range of {100 * confidence:g}% of these choices.""",
)

# %% [markdown]
# ### Language models and encoders
#
# On SNLI and MNLI, language models and the encoders of {doc}`results` each know something about people that the others do not; on
# αNLI the encoders add next to nothing. A map of both, fitted on the votes on other items ({doc}`fitting`), is worth
# {value}`tbl-machine-stacked dataset=snli "stacked=encoders + language models" people .1f` people on SNLI and
# {value}`tbl-machine-stacked dataset=mnli "stacked=encoders + language models" people .1f` on MNLI
# ({numref}`tbl-machine-stacked`); without ModernBERT-large, which may have seen the MNLI items,
# {value}`tbl-machine-stacked dataset=mnli "stacked=encoders without ModernBERT-large + language models" people .1f` on MNLI.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Language models and encoders, as a table", "code_prompt_hide": "Fold the table"}
stacked = machine_crowds.with_encoders(labelled, **resampling)
publish_table(
    "tbl-machine-stacked",
    stacked,
    shown=stacked.rows[~stacked.rows["stacked"].str.contains("without")],
    columns=machine_crowds.STACKED_COLUMNS,
    groups=["dataset"],
    caption=f"""On SNLI and MNLI, language models and encoders each know something about people that the others do not; on αNLI the
    encoders add next to nothing. Each row is one map, out of fold (ten folds), on the items that all systems answered. *Worth*: in
    people on top of the base rate, from the same map fitted for KL. On the right, how much JSD falls when language models are added
    to the encoders, and encoders to the language models. In brackets, {100 * confidence:g}% intervals over items. The data also has
    the encoders without ModernBERT-large.""",
)

# %% [markdown]
# ## What it means that models agree

# %%
publish_figure(
    "fig-machine-unanimity",
    plot_unanimity,
    machine_crowds.unanimity(labelled, **resampling),
    caption=f"""Where all models agree, people need not. The share of people who give the models' most frequent label, by the
    share of models that give it, with {100 * confidence:g}% intervals over items. The last point is for the items on which all
    models agree; the number beside each point is its share of the items.""",
    alt="""Three panels. The share of people rises with the share of models but stays below the diagonal: where all
    models agree it is about 85 percent on SNLI, 70 percent on MNLI and 94 percent on αNLI.""",
)

# %% [markdown]
# On MNLI, even where all models agree, many people do not: {value}`fig-machine-unanimity dataset=mnli bin=4 people .0%` of the
# people asked about these items give the models' label, compared with
# {value}`fig-machine-unanimity dataset=snli bin=4 people .0%` on SNLI and
# {value}`fig-machine-unanimity dataset=alphanli bin=4 people .0%` on αNLI ({numref}`fig-machine-unanimity`). Unanimous models
# usually name people's majority label (on {value}`fig-machine-unanimity dataset=mnli bin=4 majority .0%` of these MNLI items).
# That does not mean that people agree.
#
# Of the {value}`tbl-machine-parted dataset=mnli max:n_agreed d` MNLI items on which nearly all models agree, people's majority
# chooses another label on {value}`tbl-machine-parted dataset=mnli people_label=any n_items d`; the models' label is then most
# often *neutral* ({numref}`tbl-machine-parted`). Where people have left the {term}`old label` on MNLI,
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" old_label .0%` of the models' answers are the old label, but
# only {value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_old_label .0%` of people's: perhaps a trace of
# items seen in training.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Where models and people part, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-machine-parted",
    machine_crowds.parted(labelled),
    columns=machine_crowds.PARTED_COLUMNS,
    groups=["dataset"],
    caption="""Where nearly all models differ from most people, the votes are close, and on MNLI the models mostly say
    *neutral*. Items on which at least 90% of the models give one label and people's majority is another: their number, the
    share of people for each of the two labels, and how often the models give the old label. Pairs of labels with fewer than
    five items are counted only under *any*.""",
)

# %% [markdown]
# ## The published values
#
# {cite:t}`li2026` describe the panel by $\nu_{\mathrm{MSE}}$, the number of people whose vote shares come as near. We reproduce it
# ({numref}`tbl-machine-published`). It has no zero: corrected for the bias of a hundred votes, the base rate alone counts as
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" credibility .2f` people on MNLI, and the 32 models as
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" human_equivalent_brier .2f`.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Published and computed values, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-machine-published",
    machine_crowds.published(labelled),
    columns=machine_crowds.PUBLISHED_COLUMNS,
    groups=["dataset"],
    caption="""We reproduce the published values. On SNLI all digits agree. We leave out one MNLI item and five αNLI items,
    where a model's reply could not be read; the published values count a placeholder there. *J*: how often two people differ
    (taking the votes as the truth). *PR*: participation ratio of the models' residuals. *n_eff*: number of independent models,
    from their errors against ChaosNLI's majority label. *γ_co*: share of deviations that the models have in common. *ν_H* rests
    on a simulated curve that was not released. *Missing*: what the left-out items would have to add to the sum over items.""",
)

# %% [markdown]
# ## In an annotator's place
#
# {cite:t}`calderon2025` released the labels of language models together with those of each annotator: six models on word
# associations (WAX {cite:p}`liu2022`), four on pictures of skin lesions {cite:p}`cheplygina2018`. Their
# {term}`replacement test` asks, for each annotator, whether the model agrees with the others about as well as this annotator
# does. *ω* is the share of annotators for whom it does, within a margin ε; the model passes if *ω* is at least 0.5.

# %%
publish_table(
    "tbl-machine-stand-ins",
    machine_crowds.stand_ins(machine_crowds.annotator_inputs(inputs), **resampling),
    columns=machine_crowds.STAND_IN_COLUMNS,
    groups=["dataset"],
    caption=f"""Whether a model may replace an annotator depends on the model and on the margin ε that we allow. *A person* and
    *a model*: how often another person or model gave the same label. *All of them, plurality*: the label that most models gave
    (the first of those that tie); in this row, *worth* is for all their votes, pooled, and *a model* is how often two models
    agree. *People*: how often two people agree. The last two rows are yardsticks for the test: people's most frequent label,
    given to every item, and a hundred more people, simulated from the votes (ρ and ω are their means). *Worth* is shrunk: votes
    are mixed with the base rate by one weight, fitted on other items. In brackets, {100 * confidence:g}% intervals over items.""",
)

# %% [markdown]
# On WAX, Gemini Pro passes at ε = 0.1, the margin proposed for crowd workers, with ω =
# {value}`tbl-machine-stand-ins dataset=wax model=gemini_pro wins_10 .2f` ({numref}`tbl-machine-stand-ins`). Mistral fails even
# at ε = 0.2 ({value}`tbl-machine-stand-ins dataset=wax model=mistral-v03 wins_20 .2f`), as does GPT-4o on the skin lesions.
# People do not always pass either: one more person, simulated from the votes on WAX, passes at ε = 0.1 in
# {value}`tbl-machine-stand-ins dataset=wax "model=one more person, simulated" passed_10 .0%` of the cases.
#
# The test judges one model in place of one person, not a crowd in place of a crowd. All models together, shrunk, are worth
# {value}`tbl-machine-stand-ins dataset=wax "model=all of them, plurality" people_on_top_shrunk .1f` people on WAX and
# {value}`tbl-machine-stand-ins dataset=lesion "model=all of them, plurality" people_on_top_shrunk .1f` on the lesions, fewer
# people than judged each item.
#
# ## Other ways to ask
#
# A language model can also give samples, log-probabilities or percentages ({doc}`../your_model`). We found no public run on
# ChaosNLI that reports these item by item, so we simulate them with RoBERTa-large of {cite:t}`nie2020`.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Ways of asking, as a table", "code_prompt_hide": "Fold the table"}
ways = asking.ways(labelled, system="roberta-large", **resampling)
publish_table(
    "tbl-asking",
    ways,
    columns=asking.way_columns(ways.rows),
    index=["way", "n_answers"],
    caption=f"""Recalibrated, one label is worth about half as much as the full probabilities, and thirty samples about three
    quarters as much. Worth in people on top of the base rate, as it is and recalibrated on other items. Answers are simulated
    from RoBERTa-large's probabilities; the percentages that a language model states may differ from its own probabilities.
    Samples are counted with ½ added to each label; percentages are rounded to tens. A single label has no worth as it is. The
    data has {100 * confidence:g}% intervals over items, for one draw of the samples.""",
)

# %% [markdown]
# Recalibrated, the probabilities of RoBERTa-large are worth
# {value}`tbl-asking dataset=mnli way=logprobs people_on_top_recalibrated .1f` people on MNLI, one label
# {value}`tbl-asking dataset=mnli way=label people_on_top_recalibrated .1f` and thirty samples
# {value}`tbl-asking dataset=mnli way=samples n_answers=30 people_on_top_recalibrated .1f` ({numref}`tbl-asking`). Without
# recalibration, a few samples flatter an overconfident model, since the ½ added to each label draws it towards a uniform guess.
# So compare equal numbers of samples, or recalibrate.
#
# ### Temperature, effort, personas
#
# {cite:t}`kamath2026` asked people how likely an inference is, on a scale from 0 to 100. They asked seven reasoning models the
# same question, thirty times each, in several settings. Does any setting spread a model's answers like people's?

# %%
settings = asking.settings(asking.setting_inputs(inputs), n_splits=100, **resampling)
publish_figure(
    "fig-asking",
    plot_asking,
    settings,
    caption=f"""No setting spreads a model's answers like people's, or brings them near people's. *Distance*: the Wasserstein distance
    between a model's answers and as many answers from half of the people; means over 28 to 30 items of ProbCOPA, with
    {100 * confidence:g}% intervals over items. *People*: the other half. *Median*: the other half's median, as the only answer.
    *Uniform*: numbers drawn at random. *Spread*: the standard deviation of the answers to an item. One setting, most of whose
    replies could not be read, is left out.""",
    alt="""Two panels of dots, one row for each setting of seven models. On the left, all dots lie between 12 and 18 points,
    around the line for people's median at 15, far from people at 7.5 and from a uniform guess at 26.5. On the right, all lie
    below 10 points, with people at 18.""",
)

# %% [markdown]
# None does ({numref}`fig-asking`). The {value}`fig-asking kind=setting count:distance d` settings stay
# {value}`fig-asking kind=setting min:distance .0f` to {value}`fig-asking kind=setting max:distance .0f` points away from
# people. The other half of the people is {value}`fig-asking "model=the other half of the people" distance .1f` points away, a
# uniform guess {value}`fig-asking "model=uniform guess" distance .1f`. A model's thirty answers to an item have a standard
# deviation of at most {value}`fig-asking kind=setting max:sd .0f` points; people's answers have one of
# {value}`fig-asking "model=the other half of the people" sd .0f`.
#
# People's own median, as the only answer, is {value}`fig-asking "model=the other half's median, alone" distance .1f` points
# away. We cannot show that any setting is nearer than this one number (smallest *p* of a nearer setting, by Holm's method:
# {value}`fig-asking kind=setting is_nearer=true min:p_adjusted .2f`). All distances are between equal numbers of answers, since
# two samples of one distribution differ by chance {cite:p}`bellemare2017`. The energy distance, which has no such bias
# {cite:p}`szekely2013`, gives the same picture.
#
# ## Limitations
#
# * The items of SNLI and MNLI were chosen for their disagreement; the αNLI items used here divide people less than the rest
#   (two people agree on {value}`tbl-machine-crowds dataset=alphanli "crowd=language models" people_agreement .0%` of these
#   items, but on {value}`tbl-machine-crowds dataset=alphanli "crowd=language models" left_out_agreement .0%` of the rest).
# * Each of the 32 models was asked once, with one prompt, for one label. At temperature 0 even perfect models would agree with each
#   other; so agreement alone is not a flaw. Only thirty items of another task show that settings change little.
# * Thirty-two models from ten makers are not a sample of all models; intervals are over items only.
# * WAX and the lesions have few annotators with enough items, so ω can take only a few values.

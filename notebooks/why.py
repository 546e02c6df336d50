# %% [markdown]
# # Whose opinions are these?
#
# *Is it noise, ambiguity, or who was asked?*
#
# **It is all three, as far as the available datasets show. No broad grouping of people that we could test (such as
# gender, age, race, education or country) accounts for more than about {value}`tbl-groups max:joint_high .0%` of the
# disagreement about irony, sarcasm and offensiveness, but even so, two groups could differ by ten to twenty percentage
# points.** When {value}`fig-again dataset=xhatestability "part=same language" quantity=same n_people .0f` people judged
# twice whether {value}`fig-again dataset=xhatestability "part=same language" quantity=same n_items .0f` posts were
# hateful, two people gave different labels
# {value}`fig-again dataset=xhatestability "part=same language" quantity=two value .0%` of the time, and a person who
# was asked again gave a different label
# {value}`fig-again dataset=xhatestability "part=same language" quantity=same value .0%` of the time. In that study, the
# text accounts for {value}`tbl-persons dataset=xhatestability people=everyone by=labels text .0%` of the variance of a
# vote, the person for {value}`tbl-persons dataset=xhatestability people=everyone by=labels person .0%`, the person's
# reading of the text for {value}`tbl-persons dataset=xhatestability people=everyone by=labels opinion .0%`, and noise
# for {value}`tbl-persons dataset=xhatestability people=everyone by=labels again .0%`.
#
# Nobody can say whose opinions ChaosNLI contains. Its votes come from up to {value}`tbl-annotators sum:annotators ,.0f`
# Mechanical Turk workers, whose age, country and language were not released ({doc}`collection`). To ask the same
# questions of your own votes, see {ref}`Noise, persons, groups <noise-or-people>`.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files with your own predictions, compared with the other systems
shuffles: int = 499  # times that people are shuffled between groups
resamples: int = 2000  # bootstrap resamples of the items, in the part on reasons
confidence: float = 0.95  # coverage of the intervals in the part on reasons
seed: int = 0  # seed of resamples and shuffles

# %%
from dataclasses import replace

from IPython.display import Markdown

from chaos_utils.analyses import persons, why
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.why import plot_again, plot_readings, plot_reasons
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())
drawn = {"n_resamples": resamples, "confidence": confidence, "seed": seed}

inputs = gather(data, predictions)
crowds = persons.persons_inputs(data, inputs)
items = why.explained_inputs(inputs.named("mnli"))
pairs = gather(datasets=["ambient"]) if len(items) else []

# %% tags=["remove-input"]
without = "*No explanations are available for these items, so the part on reasons is empty.*"
Markdown(f"{notices(inputs)}\n\n{'' if len(items) else without}")

# %% [markdown]
# ## The same person again
#
# {cite:t}`abercrombie2023` asked
# {value}`fig-again dataset=xhatestability "part=same language" quantity=ratio n_people .0f` people to label 95 posts
# twice. For {value}`fig-again dataset=xhatestability "part=same language" quantity=ratio n_items .0f` of these posts,
# both rounds were in the same language.

# %%
again = persons.again(crowds)
publish_figure(
    "fig-again",
    plot_again,
    again,
    caption="""In one study of 22 people, the same person changes the label about three fifths as often as two people
    differ. The first panel shows how often a label from the second round differs from a label that the same person or
    somebody else gave in the first round. In both cases, the two labels come from different rounds, so they are equally
    far apart in time. The second panel shows the ratio of these two rates. Rows group the posts by the languages of the
    two rounds, where these are known. The last two rows group a person's labels by whether at least four in five of the
    *other* people's votes are for one label. Bars are 95% {term}`intervals <interval over annotators>` over items and
    people.""",
    alt="""A row for each group of posts. In the first panel, the value for the same person lies at about a fifth, and the
    value for two people between a third and two fifths. In the second, the ratio lies a little below three fifths, with
    intervals from under a half to about 70%. The last two rows show only the same person.""",
) if len(again) else Markdown("This section needs people who were asked in several rounds.")

# %% [markdown]
# On posts judged twice in the same language, people change their own label
# {value}`fig-again dataset=xhatestability "part=same language" quantity=ratio value .0%` as often as two people differ
# (95% interval: {value}`fig-again dataset=xhatestability "part=same language" quantity=ratio low .0%` to
# {value}`fig-again dataset=xhatestability "part=same language" quantity=ratio high .0%`; {numref}`fig-again`). The data
# cannot distinguish a slip from a change of mind. People may also remember their first answer, and the time between the
# rounds was not recorded. People change
# {value}`fig-again dataset=xhatestability "part=where others agree" quantity=same value .0%` of their labels
# ({value}`fig-again dataset=xhatestability "part=where others agree" quantity=same low .0%` to
# {value}`fig-again dataset=xhatestability "part=where others agree" quantity=same high .0%`) on posts where the other
# people agree, and {value}`fig-again dataset=xhatestability "part=where others are split" quantity=same value .0%`
# ({value}`fig-again dataset=xhatestability "part=where others are split" quantity=same low .0%` to
# {value}`fig-again dataset=xhatestability "part=where others are split" quantity=same high .0%`) on posts where the
# other people are split. Suppose that every change were a slip, equally likely on every post and in either direction
# (the two rates suggest otherwise). Then people's *settled* opinions would still differ
# {value}`fig-again dataset=xhatestability "part=same language" quantity=settled value .0%` of the time
# ({value}`fig-again dataset=xhatestability "part=same language" quantity=settled low .0%` to
# {value}`fig-again dataset=xhatestability "part=same language" quantity=settled high .0%`). ChaosNLI's annotators were
# not asked twice.
#
# ## Text or person

# %%
shares = persons.shares(crowds)
publish_table(
    "tbl-persons",
    shares,
    shown=persons.shown_shares(shares.rows),
    columns=persons.SHARES_COLUMNS,
    caption="""On DICES-350, the person who answers matters as much as the text, unless raters whose agreement is near
    chance are left out. The table shows the shares of a vote’s variance that come from the text and from the person,
    with 95% intervals over items and people. These shares are estimated from how often two votes agree when they have
    the text, the person, or neither in common. All votes have the same weight. In rows marked *by value*, the variance
    is that of a numerical rating. Rows marked *without* leave out annotators whose agreement is near chance; these rows
    flatter the remaining annotators, because the same votes were used to decide whom to leave out. The downloadable
    data also include crowds of fewer than ten people and, where people were asked twice, a breakdown of the remaining
    variance.""",
) if len(shares) else Markdown("This section needs to know who gave each vote.")

# %% [markdown]
# On DICES-350, where people judge whether a chatbot's answer is safe, the person accounts for
# {value}`tbl-persons dataset=dices350 people=everyone by=labels person .0%` of the variance of a vote, about as much as
# the text ({value}`tbl-persons dataset=dices350 people=everyone by=labels text .0%`; {numref}`tbl-persons`). If the
# {value}`tbl-persons dataset=dices350 people=everyone by=labels n_left_out .0f` raters who are {term}`near chance` are
# left out, the person accounts for less
# ({value}`tbl-persons dataset=dices350 "people=without those near chance" by=labels person .0%`) than the text
# ({value}`tbl-persons dataset=dices350 "people=without those near chance" by=labels text .0%`). On the inference items
# that about a thousand people each judged {cite:p}`lalor2016`, the person accounts for only
# {value}`tbl-persons dataset=lalor people=everyone by=labels person .0%` of the variance.
#
# In most crowds, most of the variance is due neither to the text nor to the person. This remainder consists of each
# person's reading of each text, and of noise that would not recur if that person were asked again. Only asking people
# twice can separate the two. On the {value}`tbl-persons dataset=xhatestability people=everyone by=labels n_items .0f`
# posts judged twice, {value}`fig-again dataset=xhatestability "part=another language" quantity=same n_items .0f` of
# them in two languages, the person's reading accounts for
# {value}`tbl-persons dataset=xhatestability people=everyone by=labels opinion .0%` of the variance (95% interval:
# {value}`tbl-persons dataset=xhatestability people=everyone by=labels opinion_low .0%` to
# {value}`tbl-persons dataset=xhatestability people=everyone by=labels opinion_high .0%`) and noise for
# {value}`tbl-persons dataset=xhatestability people=everyone by=labels again .0%`
# ({value}`tbl-persons dataset=xhatestability people=everyone by=labels again_low .0%` to
# {value}`tbl-persons dataset=xhatestability people=everyone by=labels again_high .0%`).
#
# Annotators near chance can make a dataset look more divided than it is. Without the
# {value}`tbl-persons dataset=rte people=everyone by=labels n_left_out .0f` annotators near chance, two people differ on
# RTE {value}`tbl-persons dataset=rte "people=without those near chance" by=labels two_differ .0%` of the time instead
# of {value}`tbl-persons dataset=rte people=everyone by=labels two_differ .0%` ({doc}`disagreement`). The agreement
# beyond chance of those left out is at most
# {value}`tbl-persons dataset=rte people=everyone by=labels largest_near .2f`, that of other frequent annotators at
# least {value}`tbl-persons dataset=rte people=everyone by=labels smallest_kept .2f`. On DICES-350, there is no such
# gap, so the raters who are left out may be careless people or a careful minority. Elsewhere in the book, annotators
# are left out only in {numref}`fig-atlas`.
#
# ## Groups
#
# Perspectivists want datasets to record who gave which label {cite:p}`prabhakaran2021,cabitza2023`, because labels
# depend on who gives them {cite:p}`sap2022,aroyo2023`. We measure the part of the disagreement that lies *between*
# groups, that is, how much less often people would differ if they were compared only with members of their own group.

# %%
groups = persons.jointly(persons.groups(crowds, n_shuffles=shuffles, seed=seed))
publish_table(
    "tbl-groups",
    groups,
    columns=persons.GROUPS_COLUMNS,
    groups=["dataset"],
    caption=f"""No grouping accounts for more than a few percent of the disagreement. The table shows how often two
    people differ on an item, and how much of this disagreement lies between groups of at least
    {persons.FEWEST_IN_GROUP} people. MultiPICo's groups are compared within languages. Intervals are 95% intervals over
    items and people. The estimates are adjusted for differences between items, and being unbiased, they may fall below
    0. The p-values come from {shuffles:,} permutations of people among groups, with Holm's correction.""",
) if len(groups) else Markdown("This section needs to know which groups annotators belong to.")

# %% [markdown]
# None of the {value}`tbl-groups count:field d` groupings stands out: the smallest p-value after Holm's correction is
# {value}`tbl-groups min:p_holm .2f` ({numref}`tbl-groups`). Even at the upper ends of intervals that hold for all
# groupings at once, no grouping accounts for more than about {value}`tbl-groups max:joint_high .0%` of the
# disagreement. {cite:t}`pei2023` find that annotators' background plays a significant role in POPQUORN. Both results
# can be true, as the next paragraph shows. {cite:t}`orlikowski2023` find that group information brings no significant
# gain in predicting how individuals judge toxicity.
#
# These results do not show that groups agree. Within the limits in the table, two groups of equal size could differ, on
# every text, by ten to twenty percentage points in how often they choose a label. A small group adds little to this
# share: on POPQUORN, Black raters
# ({value}`tbl-group-models dataset=popquorn field=race "group=Black or African American" n_people .0f` of
# {value}`tbl-groups dataset=popquorn field=race n_people .0f`) could differ from all others by more than twenty points
# on every text within the interval for race. Beliefs were not recorded, and smaller groups could not be tested.
#
# We also trained MiniLM on POPQUORN's votes, in a single run, and judged the model against each group's own votes on
# comments that it had not seen ({numref}`tbl-group-models`). No group stands out, but the intervals are wide: the
# model's {term}`skill` for Black raters minus its skill for everybody else may lie anywhere from
# {value}`tbl-group-models dataset=popquorn field=race "group=Black or African American" gap_low .2f` to
# {value}`tbl-group-models dataset=popquorn field=race "group=Black or African American" gap_high .2f`.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "A model judged by each group, as a table", "code_prompt_hide": "Fold the table"}
models = persons.models(crowds, runs=persons.runs_in_groups(crowds))
publish_table(
    "tbl-group-models",
    models,
    columns=persons.model_columns(models.rows),
    groups=["field"],
    caption=f"""The model is not clearly nearer to any group of people than to everybody else. The model
    ({"; ".join(models.rows["system"].unique())}) is judged against the votes of each group's own members. *Skill* is 0
    for the group's base rate and 1 for a system that knows how all of the group's members answer. *Worth* is the number
    of group members whose votes, taken together and combined with the base rate, would be as informative as the model.
    *More than elsewhere* is the skill in this group minus the skill among everybody else, with p-values after Holm's
    correction over all groups. Brackets contain 95% intervals over items and people. A dash means that there are too
    few votes.""",
) if len(models) else Markdown("No system predicts items whose annotators' groups are known.")

# %% [markdown]
# ## Reasons: error or variation
#
# In VariErr {cite:p}`weber2024`, four people labelled 500 MNLI items, explained each label that they gave, and then
# judged all the explanations. A label is an *error* if nobody who gave it stands by an explanation for it.

# %%
judges, *found = why.ERROR_COLUMNS
publish_table(
    "tbl-why-errors",
    errors := why.errors(items, **drawn),
    shown=errors.rows[errors.rows["holder"] == why.PEOPLE],
    columns=[replace(judges, names="judged by {}".format), *found],
    groups=["judges"],
    caption=f"""On average, minority labels judged to be errors receive fewer votes than those with a valid explanation,
    but more than those that no VariErr annotator gave. The table groups
    ChaosNLI's votes for each label by how VariErr's annotators judged that label; whether an explanation holds is decided either by its
    author or by most of the other annotators. Minority votes are those for any label other than the item's majority label. The last two
    columns leave out labels that none of the four annotators gave. Brackets contain {100 * confidence:g}% bootstrap intervals over items
    ({resamples:,} resamples). The downloadable data also include the models' probabilities.""",
)

# %% [markdown]
# On average, a minority label that its author took back receives
# {value}`tbl-why-errors judges=authors status=error holder=people each .0%` of its item's votes, whereas one whose
# explanation holds receives {value}`tbl-why-errors judges=authors status=plausible holder=people each .0%`
# ({numref}`tbl-why-errors`). Of the minority labels given by at least one VariErr annotator,
# {value}`tbl-why-errors judges=authors status=error holder=people given_labels .0%` are errors, which receive
# {value}`tbl-why-errors judges=authors status=error holder=people given_share .0%` of the votes for all such minority
# labels. An error is not always a minority label:
# {value}`tbl-why-errors judges=authors status=error holder=people n_majority d` of the
# {value}`tbl-why-errors judges=authors status=error holder=people n_labels d` errors are ChaosNLI's majority label. Of
# all minority votes, {value}`tbl-why-errors judges=authors "status=not given" holder=people minority_share .0%` are for
# labels that no VariErr annotator gave or judged.
#
# ## Ten reasons
#
# {cite:t}`jiang2022` sorted disputed items by ten reasons for disagreement. A meaning may be uncertain, the guidelines
# may leave a question open (such as whether both sentences are about the same thing), or annotators may have habits
# (such as *accommodating* small additions).

# %%
publish_figure(
    "fig-why-reasons",
    plot_reasons,
    reasons := why.reasons(items, confidence=confidence),
    shown=reasons.rows[reasons.rows["holder"] == why.PEOPLE],
    caption=f"""Among items chosen because people disagree, how much they disagree hardly differs between reasons, but
    which labels they choose does. Points show means over the items with each reason, with {100 * confidence:g}%
    intervals over items from Student's t distribution. The number of items is given in brackets; several reasons may
    apply to an item. Reasons with at least {why.FEWEST_ITEMS} items are shown, sorted by the share of votes for
    contradiction. The downloadable data also include rarer reasons, and the models' answers for each reason.""",
    alt="""Two dot plots with a row for each frequent reason. The entropies lie close together, around one bit. The
    shares of the three labels differ widely: contradiction leads where it is unclear what the sentences refer to.""",
)

# %% [markdown]
# Among these items, which were chosen because people disagree, the reasons explain only
# {value}`tbl-why-explained holder=people quantity=entropy by_reason .1%` (adjusted R²) of the variance in entropy, but
# they predict which labels people choose. Where it is unclear whether both sentences are about the same thing,
# {value}`fig-why-reasons holder=people quantity=contradiction reason=coreference mean .0%` of the votes are for
# contradiction, compared with
# {value}`fig-why-reasons holder=people quantity=contradiction reason=accommodating mean .0%` where people accommodate
# small additions. The reasons hardly predict how large a model's error is: they explain at most
# {value}`tbl-why-explained quantity=jsd max:by_reason .1%` of the variance in any model's JSD
# ({numref}`tbl-why-explained`).

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "What reasons explain, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-why-explained",
    explained := why.explained(items),
    shown=explained.rows if predictions else explained.rows.head(12),
    columns=why.EXPLAINED_COLUMNS,
    groups=["holder"],
    caption=f"""Among these items, reasons predict which labels people choose, but they hardly predict how much people
    disagree or how large the errors of models are. The table shows the share of the variance between items
    that the ten reasons explain (adjusted R²), with p-values of F tests after Holm's correction. *Lowest* and *highest*
    are the reasons with the lowest and the highest mean among those with at least {why.FEWEST_ITEMS} items. *Above
    people's* is the probability that the model gives a label minus the label's share of the votes. The downloadable
    data also include the other models.""",
)

# %% [markdown]
# Each pair in AmbiEnt {cite:p}`liu2023` contains an ambiguous sentence. When this sentence is rewritten to express one
# of its readings, two people differ {value}`fig-why-readings "shown=a reading" majority=9 apart .0%` of the time,
# instead of {value}`fig-why-readings "shown=as written" majority=9 apart .0%` ({numref}`fig-why-readings`). Replacing
# it with a *distractor*, which is not one of the readings, has about three quarters of this effect
# ({value}`fig-why-readings "shown=a distractor" majority=9 apart .0%` of the time), so most of the drop may be due to something
# other than knowing which reading is meant.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Votes on disambiguated sentences, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-why-readings",
    plot_readings,
    why.readings(pairs, confidence=confidence),
    caption="""Once a reading is given, unanimity is twice as frequent as it is for the pair as written, but a
    distractor has about three quarters of this effect. The lines show the share of pairs whose majority label received
    each number of votes, from three to nine of nine. Pairs are shown as written, rewritten to express one reading, and rewritten
    to express a distractor.""",
    alt="""Three lines, from three to nine of nine votes. For pairs as written, the shares are about equal for five or
    more votes. For readings and distractors, the shares rise with the number of votes, and more than a third of the
    pairs have all nine votes on one label.""",
)

# %% [markdown]
# For {value}`tbl-stated predictor=stated n_items d` of ChaosNLI's SNLI items, UNLI {cite:p}`chen2020` asked people for a
# probability instead of a label. The mean of a few people's probabilities says as much about the share of *entailment*
# among a hundred votes as {value}`tbl-stated predictor=stated votes_worth .1f` votes do ({numref}`tbl-stated`).

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "A stated probability compared with votes, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-stated",
    why.stated(why.stated_inputs(inputs.named("snli")), **drawn),
    columns=why.STATED_COLUMNS,
    caption=f"""The mean of the probabilities that a few people stated orders items about as well as two votes do. The
    table shows each predictor's correlation with the share of entailment among a hundred votes, over the SNLI items
    that are also in UNLI. For one, two or three votes, the table shows unbiased estimates of the expected correlation.
    The released file does not say how many people each mean is based on, so the table does not show that a probability
    is worth more than a vote. Brackets contain {100 * confidence:g}% bootstrap intervals over items.""",
)

# %% [markdown]
# ## Limitations
#
# * The items on skin lesions are five questions about each of a hundred images, so the intervals for these items are
#   too narrow. VariErr has only four judges. Both VariErr's items and the items with reasons were selected.
# * DICES records its raters' gender, race, age and education, but the copy that we use (JUDGE-BENCH's) does not, so
#   these are not tested.
# * We tested few models, most of them in a single run.

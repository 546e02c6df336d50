# %% [markdown]
# # Whose opinions are these?
#
# *Is it noise, ambiguity, or whom I asked?*
#
# **All three, as far as any dataset shows; groups, where we could test them, matter little.** Asked whether a post is hateful,
# people who differ from each other {value}`fig-again dataset=xhatestability "part=same language" quantity=two value .0%` of the
# time differ from themselves {value}`fig-again dataset=xhatestability "part=same language" quantity=ratio value .0%` as often
# [{value}`fig-again dataset=xhatestability "part=same language" quantity=ratio low .0%`,
# {value}`fig-again dataset=xhatestability "part=same language" quantity=ratio high .0%`] when asked again
# ({value}`fig-again dataset=xhatestability "part=same language" quantity=ratio n_people .0f` people,
# {value}`fig-again dataset=xhatestability "part=same language" quantity=ratio n_items .0f` posts); slips and changes of mind count
# alike. On DICES-350 who answers accounts for as much of the variance of a vote as what was asked
# ({value}`tbl-persons dataset=dices350 people=everyone by=labels person .0%` and
# {value}`tbl-persons dataset=dices350 people=everyone by=labels text .0%`), but for less
# ({value}`tbl-persons dataset=dices350 "people=without those near chance" by=labels person .0%` and
# {value}`tbl-persons dataset=dices350 "people=without those near chance" by=labels text .0%`) without
# {value}`tbl-persons dataset=dices350 people=everyone by=labels n_left_out .0f` raters near chance. No grouping that we could test
# (gender, age, ethnicity, education, country and others) accounts for more than about {value}`tbl-groups max:share_high .0%` of the
# disagreement ({value}`tbl-groups max:joint_high .0%` for all at once).
#
# Whose opinions ChaosNLI holds, nobody can say: they come from up to {value}`tbl-annotators sum:annotators ,.0f` Mechanical Turk
# workers, of whom no age, country or language was released ({doc}`collection`).

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, compared beside the rest
shuffles: int = 499  # times that people are shuffled between groups
resamples: int = 2000  # bootstrap resamples of the items, in the part on reasons
confidence: float = 0.95  # coverage of the intervals in the part on reasons
seed: int = 0  # seed of resamples and shuffles

# %%
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
without = "*For the items here, no explanations are available: the part on reasons is empty.*"
Markdown(f"{notices(inputs)}\n\n{'' if len(items) else without}")

# %% [markdown]
# ## The same person again
#
# When two people differ, would they also differ from themselves if asked again? {cite:t}`abercrombie2023` asked 22 people about
# 95 posts, and asked them again later; on 48 posts both rounds were in one language. We compare a person with themselves, and two
# people *across* the rounds, so that both pairs of labels are equally far apart in time.

# %%
again = persons.again(crowds)
publish_figure(
    "fig-again",
    plot_again,
    again,
    caption="""People asked twice change their label about three fifths as often as two people differ. Left: how often a label of
    the second round differs from one of the first, by the same person or by somebody else. Right: the ratio. Rows: items by the
    languages of their rounds, where known; below, a person's labels by whether four in five of the *other* people agree. 95%
    {term}`intervals <interval over annotators>` over items and people.""",
    alt="""A row for each part of the posts. Left, the same person lies at about a fifth, two people between a third and two
    fifths. Right, the ratio lies a little below three fifths, with intervals from under a half to about 70%. The last two rows
    show only the same person.""",
) if len(again) else Markdown("This section needs people who were asked in several rounds.")

# %% [markdown]
# The ratio is {value}`fig-again dataset=xhatestability "part=same language" quantity=ratio value .2f`, with an interval from
# {value}`fig-again dataset=xhatestability "part=same language" quantity=ratio low .2f` to
# {value}`fig-again dataset=xhatestability "part=same language" quantity=ratio high .2f` ({numref}`fig-again`). Not all of this is
# noise: a slip and a change of mind look the same, memory hides slips, and the time between rounds is not recorded. People change
# {value}`fig-again dataset=xhatestability "part=where others agree" quantity=same value .0%` of their labels where the others
# agree, and {value}`fig-again dataset=xhatestability "part=where others are split" quantity=same value .0%` where the others are
# split. If every change were a slip, equally likely in both directions, *settled* opinions would still differ
# {value}`fig-again dataset=xhatestability "part=same language" quantity=settled value .0%` of the time. We cannot carry the ratio
# over to other tasks: ChaosNLI's annotators were not asked twice.
#
# ## Text or person
#
# Some people say *yes* more often, whatever the text. How much does a single vote depend on the text, and how much on the person?
# We compare the chance that two votes agree when they share the text, the person, or neither.

# %%
shares = persons.shares(crowds)
publish_table(
    "tbl-persons",
    shares,
    shown=persons.shown_shares(shares.rows),
    columns=persons.SHARES_COLUMNS,
    caption="""On DICES-350, who answers matters as much as what is asked, unless raters near chance are left out. Shares of a vote’s
    variance by text and by person, each vote counted once, with 95% intervals over items and people; *by value*, of the variance
    of a rating. *Without*: annotators near chance are left out, which flatters the others, since the same votes identified them.
    The data also has crowds of fewer than ten people, and how the rest divides where people were asked twice.""",
) if len(shares) else Markdown("This section needs to know who gave each vote.")

# %% [markdown]
# Differences between persons account for {value}`tbl-persons dataset=lalor people=everyone by=labels person .0%` of the variance
# where a thousand people judge inference {cite:p}`lalor2016`, and for
# {value}`tbl-persons dataset=dices350 people=everyone by=labels person .0%` where people judge whether a chatbot's answer is safe
# ({numref}`tbl-persons`). In most crowds, most of the variance is due to neither text nor person: it is a person's own view of
# the text, and what the same person would not say again. Only asking twice separates these two. On the posts they are
# {value}`tbl-persons dataset=xhatestability people=everyone by=labels opinion .0%` and
# {value}`tbl-persons dataset=xhatestability people=everyone by=labels again .0%` of the variance, each to within about ten
# points.
#
# Careless annotators can make a dataset look divided. They can be found without a gold label: over a hundred votes or more, their
# agreement with the rest, beyond what their habits alone would give, is less than half the median person's. RTE has
# {value}`tbl-persons dataset=rte people=everyone by=labels n_left_out .0f` of them; without them, two people differ
# {value}`tbl-persons dataset=rte "people=without those near chance" by=labels two_differ .0%` of the time instead of
# {value}`tbl-persons dataset=rte people=everyone by=labels two_differ .0%`. A gap separates them from the others: their agreement
# beyond chance is at most {value}`tbl-persons dataset=rte people=everyone by=labels largest_near .2f`, the next person's
# {value}`tbl-persons dataset=rte people=everyone by=labels smallest_kept .2f`. DICES-350 has no gap like this
# ({value}`tbl-persons dataset=dices350 people=everyone by=labels largest_near .2f` and
# {value}`tbl-persons dataset=dices350 people=everyone by=labels smallest_kept .2f`). Without the
# {value}`tbl-persons dataset=dices350 people=everyone by=labels n_left_out .0f` raters below the bar, persons account for
# {value}`tbl-persons dataset=dices350 "people=without those near chance" by=labels person .0%` there, but these raters may be a
# careful minority, and votes alone cannot show which. The book's other numbers keep everyone, except in {numref}`fig-atlas`.
#
# ## Groups
#
# Perspectivists want datasets to record who said what {cite:p}`prabhakaran2021,cabitza2023`, since labels depend on who gives
# them {cite:p}`sap2022,aroyo2023`. Is it enough to know a person's group? We measure the part of the disagreement that lies
# *between* groups: how much less people would differ if each met only their own group. Comparing pairs within one group and pairs
# across two is not enough, since they also differ when the members of a minority merely vary more.

# %%
groups = persons.jointly(persons.groups(crowds, n_shuffles=shuffles, seed=seed))
publish_table(
    "tbl-groups",
    groups,
    columns=persons.GROUPS_COLUMNS,
    groups=["dataset"],
    caption=f"""No grouping accounts for more than a few percent of the disagreement. How often two people differ on an item, and
    which part of this disagreement lies between groups of {persons.FEWEST_IN_GROUP} people or more (for MultiPICo, within
    languages), with 95% intervals over items and people; differences between items are removed. The estimate is unbiased, so it
    may fall below 0. p by {shuffles:,} shuffles of people between groups, adjusted by Holm.""",
) if len(groups) else Markdown("This section needs to know which groups annotators belong to.")

# %% [markdown]
# None of the {value}`tbl-groups count:field d` groupings stands out (smallest p by Holm {value}`tbl-groups min:p_holm .2f`;
# {numref}`tbl-groups`). Taken one by one, none accounts for more than about {value}`tbl-groups max:share_high .0%` of the
# disagreement; the limit that holds for all at once is {value}`tbl-groups max:joint_high .0%`. {cite:t}`pei2023` find that
# background plays a significant role in POPQUORN. Both can be true: a clear difference in means can be a small part of how much
# people differ. {cite:t}`orlikowski2023` find no significant gain from groups in predicting how individuals judge toxicity.
#
# This does not show that groups agree. Two groups' shares of a label could differ by ten points on every text, and by more on
# some, within these limits. The groups are broad and recruited by platforms, *race* and *gender* are loose proxies for what
# people have lived through, beliefs were not asked for, and smaller groups could not be tested.
#
# Is a *model* nearer to one group than to another? We trained MiniLM on POPQUORN's votes, and judge it on comments that it has not
# seen, by each group's own votes ({numref}`tbl-group-models`). Its {term}`skill` is
# {value}`tbl-group-models dataset=popquorn field=gender group=Man skill .2f`
# [{value}`tbl-group-models dataset=popquorn field=gender group=Man skill_low .2f`,
# {value}`tbl-group-models dataset=popquorn field=gender group=Man skill_high .2f`] for men and
# {value}`tbl-group-models dataset=popquorn field=gender group=Woman skill .2f`
# [{value}`tbl-group-models dataset=popquorn field=gender group=Woman skill_low .2f`,
# {value}`tbl-group-models dataset=popquorn field=gender group=Woman skill_high .2f`] for women. No group stands out, but small
# differences could not be seen: between men and everybody else, skill may differ by
# {value}`tbl-group-models dataset=popquorn field=gender group=Man gap_low .2f` to
# {value}`tbl-group-models dataset=popquorn field=gender group=Man gap_high .2f`; between Black raters and everybody else, by
# {value}`tbl-group-models dataset=popquorn field=race "group=Black or African American" gap_low .2f` to
# {value}`tbl-group-models dataset=popquorn field=race "group=Black or African American" gap_high .2f`. This is one run, with one
# seed.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "A model in each group, as a table", "code_prompt_hide": "Fold the table"}
models = persons.models(crowds, runs=persons.runs_in_groups(crowds))
publish_table(
    "tbl-group-models",
    models,
    columns=persons.model_columns(models.rows),
    groups=["field"],
    caption=f"""No group's people are clearly nearer to the model than everybody else's. {"; ".join(models.rows["system"].unique())},
    judged by each group's own people. *Skill*: 0 is the group's base rate, and 1 is knowing how all of its
    people answer. *Worth*: how many of its people you would have to ask about each item, on top of the base rate, to come as
    near. *More than elsewhere*: skill in this group minus skill among everybody else, with p by Holm over all groups. 95%
    intervals over items and people. A dash: too few votes.""",
) if len(models) else Markdown("No system predicts items whose annotators' groups are known.")

# %% [markdown]
# ## Reasons: error or variation
#
# Votes show that people disagree, not why. In VariErr {cite:p}`weber2024`, four people explained each label that they gave to 500
# MNLI items, then judged all explanations. A label is an *error* if nobody who gave it stands by an explanation for it. The
# explanations come without a licence, so we do not reprint them ({doc}`/datasets`).

# %%
publish_table(
    "tbl-why-errors",
    errors := why.errors(items, **drawn),
    shown=errors.rows[errors.rows["holder"] == why.PEOPLE],
    columns=why.ERROR_COLUMNS,
    caption=f"""A label judged to be an error draws more minority votes than one that nobody gave, and fewer than one with an
    explanation that holds. Labels by how VariErr's annotators judged them, according to an explanation's author or to most peers,
    and ChaosNLI's votes for them. The minority is every label except an item's majority; the last two columns leave out labels
    that none of the four gave. In brackets, {100 * confidence:g}% bootstrap intervals over items ({resamples:,} resamples). The
    data also has the models' probabilities.""",
)

# %% [markdown]
# A minority label that its author took back has {value}`tbl-why-errors judges=authors status=error holder=people each .0%` of its
# item's votes on average; one whose explanation holds has
# {value}`tbl-why-errors judges=authors status=plausible holder=people each .0%` ({numref}`tbl-why-errors`). Among minority labels
# that somebody gave, errors are {value}`tbl-why-errors judges=authors status=error holder=people given_labels .0%` of the labels
# and receive {value}`tbl-why-errors judges=authors status=error holder=people given_share .0%` of the votes. Much of the dissent,
# {value}`tbl-why-errors judges=authors "status=not given" holder=people minority_share .0%`, was never judged.
#
# ## Ten reasons
#
# {cite:t}`jiang2022` sorted disputed items by ten reasons: the meaning is uncertain, the guidelines leave it open (are both
# sentences about the same thing?), or annotators have habits (*accommodating* small additions).

# %%
publish_figure(
    "fig-why-reasons",
    plot_reasons,
    reasons := why.reasons(items, confidence=confidence),
    shown=reasons.rows[reasons.rows["holder"] == why.PEOPLE],
    caption=f"""People disagree about as much for each reason, but between different labels. Means over the items with each reason
    (their number in brackets; an item may have several), with {100 * confidence:g}% intervals over items by Student's t. Reasons
    with at least {why.FEWEST_ITEMS} items, sorted by the share of contradiction; the data also has rarer ones, and the models'
    answers for each.""",
    alt="""Two dot plots with a row for each frequent reason. The entropies lie close together, around one bit. The shares of the
    three labels differ widely: contradiction leads where it is unclear what the sentences refer to.""",
)

# %% [markdown]
# Reasons explain {value}`tbl-why-explained holder=people quantity=entropy by_reason .1%` of the variance of entropy between
# items; what differs is the direction. Where it is unclear whether both sentences are about the same thing,
# {value}`fig-why-reasons holder=people quantity=contradiction reason=coreference mean .0%` of the votes are for contradiction;
# where people accommodate small additions,
# {value}`fig-why-reasons holder=people quantity=contradiction reason=accommodating mean .0%`. The reason hardly predicts how
# large a model's error is (at most {value}`tbl-why-explained quantity=jsd max:by_reason .1%` of the variance, for any model;
# {numref}`tbl-why-explained`).

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "What reasons explain, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-why-explained",
    explained := why.explained(items),
    shown=explained.rows if predictions else explained.rows.head(12),
    columns=why.EXPLAINED_COLUMNS,
    groups=["holder"],
    caption=f"""Reasons predict which labels people choose and models miss, but hardly how much people disagree or models err.
    Share of the variance between items that the ten reasons explain (adjusted R²), with p of the F test by Holm. *Lowest* and
    *highest*: the reasons with the extreme means, among those with {why.FEWEST_ITEMS} items or more. *Above people's*: the
    model's share of a label minus the votes' share. The data has the other models.""",
)

# %% [markdown]
# Each of AmbiEnt's pairs {cite:p}`liu2023` has an ambiguous sentence. Once it is rewritten as one of its readings, two people
# differ {value}`fig-why-readings "shown=a reading" majority=9 apart .0%` of the time, not
# {value}`fig-why-readings "shown=as written" majority=9 apart .0%` ({numref}`fig-why-readings`). A *distractor*, which is not one
# of the readings, does nearly as much ({value}`fig-why-readings "shown=a distractor" majority=9 apart .0%`), so most of the drop
# need not come from knowing which reading is meant.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Once the sentence is disambiguated, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-why-readings",
    plot_readings,
    why.readings(pairs, confidence=confidence),
    caption="""Once the reading is given, unanimity is twice as frequent, and nearly so with a distractor. Pairs by how many of
    nine votes the majority label has: as written, rewritten as one reading, and rewritten as a distractor.""",
    alt="""Three lines, from three to nine of nine votes. As written, the shares are about equal from five votes on; for readings
    and distractors they rise, and more than a third of the pairs have all nine on one label.""",
)

# %% [markdown]
# Why not ask people for a probability instead of a label? UNLI {cite:p}`chen2020` did, on
# {value}`tbl-stated predictor=stated n_items d` of the SNLI items. The mean of a few people's answers says as much about the
# share of *entailment* among a hundred votes as {value}`tbl-stated predictor=stated votes_worth .1f` plain votes do
# (correlation {value}`tbl-stated predictor=stated correlation .2f`; {numref}`tbl-stated`). How many people each mean has is not
# in the file, so nothing here says that a probability is worth more than a vote.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "A stated probability compared with votes, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-stated",
    why.stated(why.stated_inputs(inputs.named("snli")), **drawn),
    columns=why.STATED_COLUMNS,
    caption=f"""The mean of the probabilities that a few people state orders items about as well as two votes. Correlation with the
    share of entailment among a hundred votes, over the SNLI items that are also in UNLI; for one, two or three votes, the unbiased
    expected correlation. In brackets, {100 * confidence:g}% bootstrap intervals over items.""",
)

# %% [markdown]
# ## Limitations
#
# * Only 22 people were asked again, about 95 posts on hate. The lesions' items are five questions on each of a hundred images, so
#   their intervals are too short. VariErr has four judges, and its items were chosen, as were those with reasons.
# * There are few models, and most are single runs.

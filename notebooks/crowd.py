# %% [markdown]
# # Your crowd
#
# Do the people behind these votes agree? How certain is each majority? Would fewer votes have been enough? The command
# `chaos run crowd -p data=my.yml` answers these questions on one page for any set of votes, however small. With
# `-p predictions=FILE`, it also judges a model by the votes and tests whether the model could replace an annotator. The
# findings come first, and the tables below give the details.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, a YAML file, or a folder
dataset: str = ""  # which of these datasets; empty for the first
predictions: list[str] = []  # files with predictions to be evaluated against the votes
epsilon: list[
    float
] = []  # one number: by how much a model may be behind an annotator, such as 0.1; no default
why: str = ""  # the reason for this margin, without which nothing is tested
shown: int = 10  # how many divided items, and annotators at either end, are shown
most: int = 3000  # most items that priors and references are fitted on; of more, a sample is drawn
draws: int = 20  # draws of the truth behind the votes
shuffles: int = 499  # times that people are shuffled between groups, for p-values
resamples: int = 500  # bootstrap resamples of the items, for intervals
seed: int = 0  # seed of all resampling

# %%
from IPython.display import Markdown, display

from chaos_utils.analyses import ceilings, crowd_findings, persons, power, your_votes
from chaos_utils.analyses.notices import system_notes
from chaos_utils.base.table import together
from chaos_utils.datasets.words import questions_on_spelling
from chaos_utils.plots.your_votes import plot_majorities
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.literal import in_markdown
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table
from chaos_utils.scoring.replacement import setting

check_parameters(globals())
your_votes.check_positive(most=most, draws=draws, shuffles=shuffles, resamples=resamples)

margin = your_votes.replacement_margin(epsilon, why)
inputs = your_votes.crowd_inputs(data, dataset, predictions, tests=margin is not None)
dataset_inputs = inputs[0]
votes = dataset_inputs.votes[0]
sampled_inputs = your_votes.sample_items(dataset_inputs, most, seed)
replacement = None
if margin is not None:
    replacement = your_votes.replacement(dataset_inputs, epsilon=margin, reason=why, seed=seed)
agreement = your_votes.agreement(dataset_inputs, n_resamples=resamples, seed=seed)
majorities = your_votes.majorities(sampled_inputs)
budget = ceilings.annotation_budget(sampled_inputs, n_draws=draws, seed=seed)
near_chance = your_votes.near_chance(inputs, n_resamples=resamples, seed=seed)
again = persons.again(inputs)
shares = persons.shares(inputs)
groups = persons.jointly(persons.groups(inputs, n_shuffles=shuffles, seed=seed))
in_groups = persons.models(inputs)
spread = power.spread_of_differences(sampled_inputs, n_draws=draws, seed=seed)
detectable = power.detectable(spread, [len(votes)])
scores = your_votes.evaluation(dataset_inputs, most=most, n_resamples=resamples, seed=seed)

# %% tags=["remove-input"]
spelling = questions_on_spelling(
    dict(zip(votes.dataset.codes, votes.counts.sum(axis=0).tolist(), strict=True))
)
notes = [
    f"> {in_markdown(note)}" for note in (votes.dataset.warning, *votes.notes, *spelling) if note
]
warnings = crowd_findings.vote_warnings(
    votes, agreement=agreement, majorities=majorities, near_chance=near_chance
)
Markdown("\n\n".join(filter(None, [*notes, system_notes(inputs), warnings])))

# %% tags=["remove-input"]
Markdown(
    crowd_findings.findings(
        votes,
        agreement=agreement,
        majorities=majorities,
        budget=budget,
        near_chance=near_chance,
        again=again,
        shares=shares,
        groups=groups,
        replacement=replacement,
        scores=scores,
        detectable=detectable,
        systems=inputs.systems,
    )
)

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd",
    your_votes.contents(dataset_inputs),
    columns=your_votes.CONTENTS_COLUMNS,
    caption="""The votes at a glance. If the number of votes varies between items, the table gives the median and the
    range.""",
)

# %% [markdown]
# ## Annotators
#
# Before you interpret votes as disagreement, look at who voted. An annotator's agreement is the share of other people's
# votes on the same items that are for the same label. An annotator is *near chance* if their agreement beyond chance is
# less than half the median annotator's, and clearly less than the median. We require a hundred votes for this, because with
# fewer votes some careful annotators would also be flagged. The flag is a reason to look more closely, not to exclude: a
# careful minority also agrees little. Excluding people who disagree raises agreement on the same items by selection alone,
# so the last column uses only items that played no part in the selection.

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-near-chance",
    near_chance,
    columns=your_votes.NEAR_COLUMNS[1:],
    caption="""Annotators near chance, their votes, and how often two votes on an item differ with and without them. The
    columns under *beyond chance* give the agreement of the median annotator, the highest among annotators near chance,
    and the lowest among the others with a hundred votes. Brackets show 95% intervals over items and annotators.""",
) if len(near_chance) else None

# %% tags=["remove-input"]
near_bar = your_votes.near_bar(inputs)
publish_table(
    "tbl-crowd-bar",
    near_bar,
    shown=near_bar.rows.head(2 * shown),
    columns=your_votes.BAR_COLUMNS,
    caption=f"""Annotators who are or may be near chance, with the lowest agreement first. The bar,
    {near_bar.rows["bar"].iloc[0]:.2f}, is half of the median annotator's agreement beyond chance. Brackets show 95%
    intervals over the annotator's own votes, which include the bar or lie below it.""",
) if len(near_bar) else None

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-annotators-together",
    your_votes.annotator_totals(inputs),
    columns=your_votes.TOTAL_COLUMNS,
    caption="""All annotators, and how many majority labels Dawid–Skene would change. The Dawid–Skene model (Dawid and
    Skene 1979) assumes that every item has one correct label, so it mistakes legitimate disagreement for error.""",
) if len(near_chance) else None

# %% tags=["remove-input"]
annotators = your_votes.annotators(inputs)
publish_table(
    "tbl-crowd-annotators",
    annotators,
    shown=your_votes.first_and_last(annotators.rows, shown),
    columns=your_votes.ANNOTATOR_COLUMNS,
    caption=f"""Annotators sorted by their agreement with the others beyond chance. If there are many, the table shows the
    {shown} with the least agreement and the {shown} with the most. Annotators are numbered in the order of the file.
    Brackets show 95% intervals over the annotator's own votes.""",
) if len(annotators) else None

# %% tags=["remove-input"]
Markdown(inputs.missing_note("annotators"))

# %% [markdown]
# ## How much people agree
#
# With few votes, people appear to agree more than they do, because a single vote always agrees with itself. Some measures
# can be corrected exactly. The probability that two votes on an item differ (quadratic entropy) has an unbiased estimate
# from two votes per item, and so does the squared distance between a prediction and people. Use these to compare datasets
# and systems. *Krippendorff's α* measures the same agreement, corrected for chance. Shannon entropy has no unbiased
# estimate: the Miller–Madow correction removes part of its bias, and a nonparametric prior fitted to all items removes
# more.

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-agreement",
    together([agreement, your_votes.entropies(sampled_inputs, seed=seed)]),
    columns=your_votes.AGREEMENT_COLUMNS,
    caption="""How far people agree. Vote shares without correction understate disagreement. Brackets show 95% intervals
    over the units in the last column: items and annotators if the annotators are known (two-way jackknife), and items
    otherwise.""",
)

# %% [markdown]
# ## Noise, persons or groups
#
# Disagreement may be noise (the same person would not give the same answer again), it may depend on the person (some
# people lean one way on every item), or it may depend on the group that you ask. To separate these sources, the data must
# include annotation rounds, annotators and their groups. The chapter {doc}`why` separates them for published crowds.

# %% tags=["remove-input"]
needed = crowd_findings.data_needed(
    votes, again=again, shares=shares, groups=groups, near_chance=near_chance
)
Markdown(f"You could learn more with additional data:\n\n{needed}" if needed else "")

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-again",
    again,
    columns=your_votes.AGAIN_COLUMNS,
    index=your_votes.AGAIN_INDEX,
    caption="""How often votes differ across rounds, for the same person and for two people. The *ratio* of the two rates
    is not the share of noise. People also change their minds, they repeat a slip if they remember their answer, and
    changes between rounds count as well. The rates apply to these items and to the time between these rounds. Brackets
    show 95% intervals over items and people.""",
) if len(again) else None

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-shares",
    shares,
    columns=your_votes.shares_columns(shares.rows),
    caption="""How much a vote depends on the text (people agree on it), on the person (who votes the same way on other
    texts), or on neither. Each vote counts once. The estimates are unbiased, so a share can be below 0. *By value* refers
    to the variance of a rating. *Without* leaves out annotators near chance, which flatters the others because the same
    votes identified them. Brackets show 95% intervals over items and people.""",
) if len(shares) else None

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-groups",
    groups,
    columns=your_votes.GROUPS_COLUMNS,
    caption=f"""The part of the disagreement between two people that lies between groups. It is zero if groups give the
    same answers on average, even if one group varies more. We say that groups differ if the 95% interval over items and
    people is above 0 and p is below 0.05, based on {shuffles} shuffles of people and with Holm's adjustment for all rows.
    An interval that includes 0 does not show that groups agree. A dash marks too few people or too few pairs of votes.""",
) if len(groups) else None

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-group-models",
    in_groups,
    columns=your_votes.GROUP_MODEL_COLUMNS,
    caption="""What a model is worth as a prediction of each group, judged by people in that group. *Skill* is 0 for the
    group's base rate and 1 for full knowledge of its answers. *Worth* is the number of people in the group you would have
    to ask about each item, in addition to knowing the base rate, to come as near. *More than elsewhere* is the skill in
    this group minus the skill among everybody else, with p adjusted over all groups of a model (Holm). Groups differ if
    the interval excludes 0 and p is below 0.05. Brackets show 95% intervals over items and people, and a dash marks too few
    votes.""",
) if len(in_groups) else None

# %% [markdown]
# ## The majority, and how sure it is
#
# The majority label of a few votes is not always the most common label among all people. We estimate the probability that
# it is from the item's votes and from a prior, which describes how people answer the other items of this dataset.

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-majority",
    majorities,
    columns=your_votes.MAJORITY_COLUMNS,
    caption="""How clear the majorities are. The right column shows what the nonparametric prior expects among all people.
    Labels that tie for the majority share the item equally.""",
)

# %% tags=["remove-input"]
publish_figure(
    "fig-crowd",
    plot_majorities,
    your_votes.majority_sizes(sampled_inputs, n_bins=10),
    caption="""How large the majorities are. The bars count items by the share of their own votes that the majority label
    received (grey). The line shows the shares that the prior expects among all people.""",
    alt="A histogram of the size of items' majorities, among their own votes and among all people.",
)

# %% [markdown]
# ## How many votes would have been enough
#
# The answer depends on what you need the votes for. A majority label needs few votes if people agree, whereas a
# distribution always needs many. Results for more votes than you have are based on the prior alone and are marked. The
# chapter {doc}`ceilings` shows how few votes affect these estimates on ChaosNLI's items.

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-votes",
    budget,
    columns=your_votes.BUDGET_COLUMNS,
    index=your_votes.BUDGET_INDEX,
    caption="""How well a given number of votes per item represents all people: the distance of the vote shares from
    everyone's, and how often the majority label is the same.""",
)

# %% [markdown]
# To compare systems, you can collect more items as well as more votes. The next table gives the difference between systems
# that these items would detect in 80% of studies, for each number of votes per item.

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-power",
    detectable,
    shown=power.shown_rows(detectable.rows, power.shown_votes(spread.rows)),
    columns=power.COLUMNS[1:],
    index=power.INDEX,
    caption="""The smallest difference between two systems that these items detect in 80% of studies, with a two-sided test
    at 5%.""",
) if len(spread) else None

# %% [markdown]
# ## The items that divide people most
#
# Items are ranked by the probability that two people give different labels, which the prior estimates from the item's
# votes. If the intervals of two items overlap, their order is uncertain.

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-items",
    your_votes.divided_items(dataset_inputs, n_items=shown, most=most, seed=seed),
    columns=your_votes.ITEM_COLUMNS,
    texts=your_votes.texts_of(votes),
    caption="""The items on which people are most divided, with their votes for each label, a 95% interval over other votes
    on the item, and the number of items with the same votes. If more items tie than fit in the table, it shows the first in
    the file. Intervals are missing if two priors contradict each other; there are then too few votes to rank items.""",
)

# %% tags=["remove-input"]
Markdown("Labels: " + your_votes.label_key(votes))

# %% [markdown]
# ## May a model replace an annotator?
#
# The *alternative annotator test* (Calderon et al. 2025) leaves out each annotator in turn and asks whether the annotator
# or the model agrees better with the others. Because the model costs less, it wins if it is at most ε behind. It passes the
# test if it wins against at least half of the annotators. You have to choose ε yourself. The authors of the test propose
# 0.2 for experts, 0.15 for skilled annotators and 0.1 for crowd workers. Use a smaller value if people agree little, and
# choose it before you look at the results: `-p epsilon=0.1 -p why="crowd workers, paid by the item"`.
#
# For comparison, the table also includes a system that gives the most frequent label to every item, and one more person,
# simulated from these votes. The simulation does not reproduce the habits of real annotators. If the simulated person
# rarely passes, there are too few items to conclude much when a model fails. A failure never shows that the model is worse
# than people. ρ is the share of items on which a system agrees with the others at least as well as the annotator does. It
# counts ties as wins, so even guesses reach half or more. The p-values are adjusted for the number of annotators
# (Benjamini–Yekutieli) but not for the number of models, so use other items to choose among models.

# %% tags=["remove-input"]
if replacement is not None:
    display(
        publish_table(
            "tbl-crowd-replacement",
            replacement,
            columns=your_votes.REPLACEMENT_COLUMNS,
            caption=f"Whether each system may replace an annotator. {in_markdown(setting(replacement.rows.iloc[0]))}",
        )
    )
else:
    display(Markdown(crowd_findings.not_tested(votes)))

# %% [markdown]
# ## What a model can reach, and what models reach
#
# A *perfect model* predicts the true distribution of each item. Its score is still above zero because the votes that judge
# it are a sample. A *second crowd* predicts the votes with those of as many other people. If there are few votes, the second
# crowd can score better than the perfect model by JSD or TVD, because its distributions are as sharp as the votes that
# judge them. For so few votes, we rank systems by the unbiased squared distance instead.
#
# With `-p predictions=FILE`, systems are judged by these votes. Two systems are ranked only if their difference exceeds the
# uncertainty from votes and items. Items with a single vote are left out. Answers sampled from a language model are marked
# as *machine votes*, and their counts are smoothed by adding ½ to each label (Krichevsky–Trofimov).

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-systems",
    scores,
    columns=your_votes.SYSTEM_COLUMNS,
    index=your_votes.SYSTEM_INDEX,
    caption="""How near the perfect model, the second crowd, guesses and systems come to people, with 95% intervals over
    items. Rows are sorted by the estimates, but this order is not a ranking. The last columns give the number of people who,
    in addition to the base rate, come as near as the system does: as it is, recalibrated by a map of its log-probabilities
    fitted on other items, and shrunk towards the base rate by one number.""",
)

# %% tags=["remove-input"]
if dataset_inputs.has_systems:
    display(
        publish_table(
            "tbl-crowd-pairs",
            your_votes.comparisons(dataset_inputs, n_resamples=10 * resamples, seed=seed),
            columns=your_votes.pair_columns(10 * resamples),
            caption="""The systems that these votes can rank. The third column names the system that is nearer to people,
            or says that the votes do not decide. Differences in squared distance are paired over the same resampled items;
            if they are negative, the first system is nearer. p is adjusted for all comparisons (Holm), and ≤ marks the
            smallest value that the number of resamples allows.""",
        )
    )

# %% [markdown]
# ## Limitations
#
# Intervals of agreement are over items, and over annotators if these are known. Intervals of systems are over items only.
# If a few people gave nearly all of the votes, even the intervals for agreement are too short. The prior assumes that the
# votes on an item are independent draws from one distribution. If annotators differ in their habits, the prior mistakes
# part of this difference for uncertainty about the item. Unbiased estimates do not need this assumption.

# %% [markdown]
# # Your crowd
#
# How far do the people behind these votes agree, how sure is each majority, and would fewer votes have been enough?
# `chaos run crowd -p data=my.yml` answers these questions for any set of votes, however few, on one page; with
# `-p predictions=FILE`, it judges a model by the votes, and asks whether the model may replace an annotator. The
# findings come first; the tables below give the details.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, a YAML file, or a folder
dataset: str = ""  # which dataset of these; empty for the first
predictions: list[str] = []  # files of predictions, to be judged by the votes
epsilon: list[float] = []  # by how much a model may be behind an annotator, such as 0.1; no default
why: str = ""  # the reason for this margin, without which nothing is tested
shown: int = 10  # how many divided items, and annotators at either end, are shown
most: int = 3000  # items that priors and references are fitted on; more are drawn from
draws: int = 20  # draws of the truth behind the votes
shuffles: int = 499  # of people between groups, for p-values
resamples: int = 500  # bootstrap resamples of the items, for intervals
seed: int = 0  # of all resampling

# %%
from IPython.display import Markdown, display

from chaos_utils.analyses import ceilings, crowd_findings, persons, power, your_votes
from chaos_utils.analyses.notices import system_notes
from chaos_utils.base.table import together
from chaos_utils.plots.your_votes import plot_majorities
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.literal import in_markdown
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table
from chaos_utils.scoring.replacement import setting

check_parameters(globals())
your_votes.check_positive(most=most, draws=draws, shuffles=shuffles, resamples=resamples)

margin = your_votes.replacement_margin(epsilon, why)
inputs = your_votes.crowd_inputs(data, dataset, predictions)
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
notes = [f"> {in_markdown(note)}" for note in (votes.dataset.warning, *votes.notes) if note]
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
    )
)

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd",
    your_votes.contents(dataset_inputs),
    columns=your_votes.CONTENTS_COLUMNS,
    caption="The votes at a glance. Where the number of votes varies, the median is given before the range.",
)

# %% [markdown]
# ## Annotators
#
# Before you read votes as disagreement, look at who voted. An annotator's agreement is the share of the other votes
# on the same items that are for the same label. An annotator is *near chance* if their agreement beyond chance is
# clearly less than half the median annotator's, over a hundred votes or more; with fewer votes, honest people would
# be among them. This is a reason to look, not to exclude: a careful minority also agrees little. And leaving out
# people who disagree makes the others agree better on the same items by selection alone, so the last column uses
# items that played no part in the selection.

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-near-chance",
    near_chance,
    columns=your_votes.NEAR_COLUMNS[1:],
    caption="""Annotators near chance, their votes, and how often two votes on an item differ with and without them.
    *Beyond chance*: the agreement of the median annotator, the largest among those near chance, and the smallest
    among the others with a hundred votes. In brackets, 95% intervals over items and annotators.""",
) if len(near_chance) else None

# %% tags=["remove-input"]
near_bar = your_votes.near_bar(inputs)
publish_table(
    "tbl-crowd-bar",
    near_bar,
    shown=near_bar.rows.head(2 * shown),
    columns=your_votes.BAR_COLUMNS,
    caption=f"""Annotators near chance, and those who may be, with the lowest agreement first. The bar,
    {near_bar.rows["bar"].iloc[0]:.2f}, is half of the median annotator's agreement beyond chance. In brackets, 95%
    intervals over the annotator's own votes, which include the bar or lie below it.""",
) if len(near_bar) else None

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-annotators-together",
    your_votes.annotator_totals(inputs),
    columns=your_votes.TOTAL_COLUMNS,
    caption="""All annotators, and how many majority labels Dawid–Skene would change. *Dawid–Skene* (Dawid and Skene
    1979) assumes that every item has one right label; where people rightly differ, it mistakes dissent for error.""",
) if len(near_chance) else None

# %% tags=["remove-input"]
annotators = your_votes.annotators(inputs)
publish_table(
    "tbl-crowd-annotators",
    annotators,
    shown=your_votes.first_and_last(annotators.rows, shown),
    columns=your_votes.ANNOTATOR_COLUMNS,
    caption=f"""Annotators by their agreement with the rest beyond chance: where there are more, the {shown} with the
    least and the {shown} with the most. They are numbered in the order of the file; in brackets, 95% intervals over
    the annotator's own votes.""",
) if len(annotators) else None

# %% tags=["remove-input"]
Markdown(inputs.missing_note("annotators"))

# %% [markdown]
# ## How much people agree
#
# With few votes, people seem to agree more than they do: a single vote always agrees with itself. Some measures can
# be corrected exactly. The chance that two votes on an item differ (quadratic entropy) has an unbiased estimate from
# two votes per item, and so does the squared distance between a prediction and people; compare datasets and systems
# by these. *Krippendorff's α* is the same agreement, corrected for chance. Shannon entropy has no unbiased estimate.
# The Miller–Madow term removes only part of its bias; a nonparametric prior, fitted to all items, removes more, but
# is still an estimate.

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-agreement",
    together([agreement, your_votes.entropies(sampled_inputs, seed=seed)]),
    columns=your_votes.AGREEMENT_COLUMNS,
    caption="""How far people agree. Uncorrected vote shares understate disagreement. In brackets, 95% intervals over
    what the last column says: where the annotators are known, over both items and annotators (two-way jackknife);
    otherwise over items only.""",
)

# %% [markdown]
# ## Noise, persons or groups
#
# Disagreement may be noise (would the same person say the same again?), persons (some lean one way on every item) or
# groups (does it matter whom you ask?). To separate these, votes must record more than labels: rounds, annotators,
# and annotators' groups. The chapter {doc}`why` separates them for published crowds.

# %% tags=["remove-input"]
needed = crowd_findings.data_needed(
    votes, again=again, shares=shares, groups=groups, near_chance=near_chance
)
Markdown(f"With more data, you could learn more:\n\n{needed}" if needed else "")

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-again",
    again,
    columns=your_votes.AGAIN_COLUMNS,
    index=your_votes.AGAIN_INDEX,
    caption="""How often the same person, and two people, differ across rounds. The *ratio* of the two is not the
    share of noise: people also change their minds, those who remember an answer repeat a slip, and changes between
    rounds also count. It holds for these items and the time between these rounds. In brackets, 95% intervals over
    items and people.""",
) if len(again) else None

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-shares",
    shares,
    columns=your_votes.shares_columns(shares.rows),
    caption="""What a vote depends on: the text (people agree on it), the person (who votes the same way on other
    texts), or neither. Each vote counts once; estimates are unbiased, so a share may fall below 0. *By value*: of the
    variance of a rating. *Without*: annotators near chance are left out, which flatters the others, since the same
    votes identified them. In brackets, 95% intervals over items and people.""",
) if len(shares) else None

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-groups",
    groups,
    columns=your_votes.GROUPS_COLUMNS,
    caption=f"""Which part of two people's disagreement on an item lies between groups: none where groups answer alike
    on average, even if one group varies more. We say that groups differ where the 95% interval, over items and
    people, is above 0 and p is below 0.05, by {shuffles} shuffles of people and Holm's adjustment for all rows. An
    interval that includes 0 does not show that groups agree. A dash: too few people, or too few pairs of votes.""",
) if len(groups) else None

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-group-models",
    in_groups,
    columns=your_votes.GROUP_MODEL_COLUMNS,
    caption="""What a model is worth as a prediction of each group, judged by that group's own people. *Skill*: 0 is
    the group's base rate, and 1 is knowing how all of its people answer. *Worth*: how many of its people you would
    have to ask about each item, on top of the base rate, to come as near. *More than elsewhere*: skill in this group
    minus skill among everybody else, with p by Holm over all groups of a model; groups differ where the interval
    excludes 0 and p is below 0.05. In brackets, 95% intervals over items and people.
    A dash: too few votes.""",
) if len(in_groups) else None

# %% [markdown]
# ## The majority, and how sure it is
#
# The majority label of a few votes need not be the commonest label among all people. How likely it is to be depends
# on the item's votes, and on how people answer other items of this dataset, which the prior knows.

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-majority",
    majorities,
    columns=your_votes.MAJORITY_COLUMNS,
    caption="""How clear the majorities are. The right column is what the nonparametric prior expects among all
    people. Where labels tie for the majority, they share the item equally.""",
)

# %% tags=["remove-input"]
publish_figure(
    "fig-crowd",
    plot_majorities,
    your_votes.majority_sizes(sampled_inputs, n_bins=10),
    caption="""How large the majorities are: items by the share of their majority label, among their own votes (grey)
    and among all people, by the prior (line).""",
    alt="A histogram of items by the size of their majority, among the votes and among all people.",
)

# %% [markdown]
# ## How many votes would have been enough
#
# That depends on what the votes are for. A majority label needs few votes where people agree, and a distribution
# needs many everywhere. Results for more votes than you have rest on the prior alone, and are marked. {doc}`ceilings`
# shows what few votes do to the estimates above, on ChaosNLI's items with only some of their hundred votes.

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-votes",
    budget,
    columns=your_votes.BUDGET_COLUMNS,
    index=your_votes.BUDGET_INDEX,
    caption="""How good the given number of votes per item is: how far their shares are from all people's, and how
    often their majority label is that of all people.""",
)

# %% [markdown]
# To compare systems, more items help as well as more votes. The next table gives the difference that these items
# would detect in 80% of studies, by votes per item.

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-power",
    detectable,
    shown=power.shown_rows(detectable.rows, power.shown_votes(spread.rows)),
    columns=power.COLUMNS[1:],
    index=power.INDEX,
    caption="""The smallest difference between two systems that these items detect, with a two-sided test at 5%, in
    80% of studies.""",
) if len(spread) else None

# %% [markdown]
# ## The items that divide people most
#
# Items are ranked by the chance that two people give different labels, as the prior expects from the item's votes.
# Where intervals overlap, the order is uncertain.

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-items",
    your_votes.divided_items(dataset_inputs, n_items=shown, most=most, seed=seed),
    columns=your_votes.ITEM_COLUMNS,
    texts=your_votes.texts_of(votes),
    caption="""The items on which people are most divided, with their votes by label, a 95% interval over other votes
    on the item, and how many items have the same votes. If there are more than fit here, the first in the file are
    shown. Where intervals are missing, two priors contradict each other, and there are too few votes to rank items.""",
)

# %% tags=["remove-input"]
Markdown("Labels: " + your_votes.label_key(votes))

# %% [markdown]
# ## May a model replace an annotator?
#
# The *alternative annotator test* (Calderon et al. 2025) leaves out each annotator in turn, and asks who agrees
# better with the others: the annotator, or the model. The model wins if it is at most ε behind, since it costs less,
# and passes if it wins against half of the annotators. ε has no default. The test's authors propose 0.2 for experts,
# 0.15 for skilled annotators and 0.1 for crowd workers. Use less where people agree little, and choose before you
# look: `-p epsilon=0.1 -p why="crowd workers, paid by the item"`.
#
# For comparison, the table also has the most frequent label, given to each item, and one more person, simulated from
# these votes; real annotators may have habits that a simulation does not know. Where the simulated person rarely
# passes, there are too few items, and a model's failure says little; failing never shows that the model is worse than
# people. ρ is the share of items on which a system agrees with the others at least as well as the annotator does. It
# counts ties as wins, so even guesses reach half or more. p-values are adjusted for annotators (Benjamini–Yekutieli),
# not for models, so choose among models on other items.

# %% tags=["remove-input"]
if replacement is not None:
    display(
        publish_table(
            "tbl-crowd-replacement",
            replacement,
            columns=your_votes.REPLACEMENT_COLUMNS,
            caption=f"Who may stand in for an annotator. {in_markdown(setting(replacement.rows.iloc[0]))}",
        )
    )

# %% [markdown]
# ## What a model can reach, and what models reach
#
# A *perfect model* predicts each item's true distribution, and still scores above zero, because the votes that judge
# it are a sample. A *second crowd* is a prediction made of as many other people as voted. Where there are few votes,
# it can score better than the perfect model by JSD or TVD: a few votes are as sharp as the few that judge them, and
# the truth is not. With so few votes, we rank systems by the unbiased squared distance.
#
# With `-p predictions=FILE`, systems are judged by these votes. Two systems are ranked only where their difference
# exceeds the uncertainty from votes and items. Items with a single vote are left out here. Answers sampled from a
# language model are marked as *machine votes*: their shares are smoothed by adding ½ to each label
# (Krichevsky–Trofimov).

# %% tags=["remove-input"]
publish_table(
    "tbl-crowd-systems",
    scores,
    columns=your_votes.SYSTEM_COLUMNS,
    index=your_votes.SYSTEM_INDEX,
    caption="""How near the perfect model, the second crowd, guesses and systems come to people, with 95% intervals
    over items. Rows are sorted by the estimates; this is not a ranking. The last columns give how many people, on top
    of the base rate, come as near as the system: as it is, recalibrated by a map of its log-probabilities that is
    fitted on other items, and shrunk towards the base rate by one number.""",
)

# %% tags=["remove-input"]
if dataset_inputs.has_systems:
    display(
        publish_table(
            "tbl-crowd-pairs",
            your_votes.comparisons(dataset_inputs, n_resamples=10 * resamples, seed=seed),
            columns=your_votes.pair_columns(10 * resamples),
            caption="""Which systems these votes can rank: the third column names the system that is nearer to people,
            or says that the votes leave it open. Differences in squared distance are paired over the same resampled
            items; below zero, the first system is nearer. p is adjusted for all comparisons (Holm); ≤ marks the
            smallest value that the number of resamples allows.""",
        )
    )

# %% [markdown]
# ## Limitations
#
# Intervals of agreement are over items, and over annotators where these are known; intervals of systems are over
# items only. Where a few people gave nearly all votes, even the intervals of agreement are too short. The prior
# assumes that the votes on an item are independent draws from one distribution; where annotators differ in their
# habits, it mistakes part of this for uncertainty about the item. Unbiased estimates do not need this assumption.

# %% [markdown]
# # What one label hides
#
# *What do I lose with one label per item?*
#
# **Give every item its {term}`old label` and you misplace
# {value}`tbl-misplaced dataset=snli "system=old label" misplaced .0f` of a hundred votes on SNLI,
# {value}`tbl-misplaced dataset=mnli "system=old label" misplaced .0f` on MNLI and
# {value}`tbl-misplaced dataset=alphanli "system=old label" misplaced .0f` on αNLI.** Even the best single label, the majority
# of the hundred, misplaces {value}`tbl-misplaced dataset=snli "system=majority label" misplaced .0f`,
# {value}`tbl-misplaced dataset=mnli "system=majority label" misplaced .0f` and
# {value}`tbl-misplaced dataset=alphanli "system=majority label" misplaced .0f`. On
# {value}`tbl-data-statistics dataset=snli overruled_percent .0f`% of the SNLI items and
# {value}`tbl-data-statistics dataset=mnli overruled_percent .0f`% of the MNLI items the new majority clearly outvotes the
# old label; on another {value}`tbl-data-statistics dataset=snli too_close_percent .0f`% and
# {value}`tbl-data-statistics dataset=mnli too_close_percent .0f`% it leads or ties, too narrowly to say.
#
# Datasets for natural language inference (NLI) give each item one label, settled by a handful of annotators.
# {cite:t}`nie2020` asked a hundred people per item instead and released the counts as ChaosNLI. Votes that fall on another
# label than the one an item is given are *misplaced*: the label says that they do not exist.
#
# In SNLI {cite:p}`bowman2015` and MNLI {cite:p}`williams2018` a premise is given, and the question is whether a
# hypothesis is entailed by it, contradicted by it, or neither. In αNLI {cite:p}`bhagavatula2020` two observations are
# given, and the question is which of two hypotheses better explains how one led to the other. The SNLI and MNLI items
# of ChaosNLI were chosen among those on which the original annotators were split; the αNLI items are its whole
# development set.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
resamples: int = 2000  # bootstrap resamples of the items, for the 95% intervals
examples: int = 2  # items shown for each dataset and rule
seed: int = 0  # seed of the bootstrap

# %%
from IPython.display import Markdown

from chaos_utils.analyses import annotations, disagreement
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.names import join_names
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.annotations import plot_label_transitions
from chaos_utils.plots.disagreement import plot_original_votes
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.literal import in_markdown
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data)

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# ## How many majorities changed
#
# An item's {term}`majority <majority label>` has *changed* when the most frequent of its new votes is not the old label.
# Where two labels tie, the file's stored majority decides, as it did for the authors. The new majority *clearly outvotes* the
# old label when so uneven a split between the two would come about in fewer than 5 of 100 items whose people favour neither
# (exact two-sided binomial test). The other changes are too close to call.

# %% tags=["remove-input"]
Markdown(inputs.missing_note("old labels"))

# %%
publish_table(
    "tbl-data-statistics",
    annotations.data_statistics(inputs),
    columns=annotations.DATA_STATISTICS,
    caption="""A hundred people change up to a third of the old labels, and clearly outvote up to a fifth.
    *Paper* is Table 2 of {cite:t}`nie2020`. *Clearly outvoted*: the new majority leads the old label beyond chance
    (binomial test). The last rate divides by the published size of the whole
    development set; the paper gives none for αNLI, which was annotated whole.""",
)

# %% [markdown]
# The majority changes on
# {value}`tbl-data-statistics dataset=snli change_rate_percent .0f`% of the SNLI items, on
# {value}`tbl-data-statistics dataset=mnli change_rate_percent .0f`% of the MNLI items and on
# {value}`tbl-data-statistics dataset=alphanli change_rate_percent .0f`% of the αNLI items ({numref}`tbl-data-statistics`). Our
# rates are the published ones to the last printed digit. They say how
# fragile these labels are, not how wrong the datasets are: SNLI and MNLI items were chosen because only three of
# the five original annotators stood behind the label. Even if no label outside this choice were to change, the rates
# over the full development sets would be
# {value}`tbl-data-statistics dataset=snli change_rate_full_dev_percent .1f`% on SNLI and
# {value}`tbl-data-statistics dataset=mnli change_rate_full_dev_percent .1f`% on MNLI.
#
# ## Where the labels went

# %%
publish_figure(
    "fig-label-transitions",
    plot_label_transitions,
    annotations.label_transitions(inputs),
    caption="""On SNLI, many entailments and contradictions turn neutral; on MNLI, many neutral
    items turn out to be entailments. Each bar holds the items with one old label, cut by the
    majority of the new votes; numbers are items.""",
    alt="""A bar for each old label of each dataset, cut by the new majority. The largest
    piece is the old label itself in every bar. On SNLI about a third of the entailments and
    of the contradictions have become neutral. On MNLI about a third of the neutral items
    have become entailments, and a third of the contradictions neutral. On αNLI about a tenth
    of either hypothesis has changed.""",
)

# %% [markdown]
# The labels do not change evenly ({numref}`fig-label-transitions`). On SNLI the most common change
# is from entailment to neutral, on
# {value}`fig-label-transitions dataset=snli old_label=entailment new_majority=neutral row_share .0%`
# of the entailments. On MNLI it is the opposite one, from neutral to entailment, on
# {value}`fig-label-transitions dataset=mnli old_label=neutral new_majority=entailment row_share .0%`
# of the neutral items. αNLI, whose two labels are only places in a list, changes about as often one
# way as the other.
#
# The explorer lists
# {explorer}`the SNLI items whose label changed <dataset=snli&change=changed>`, and those of the others.

# %% [markdown]
# ## What five votes could show
#
# The SNLI and MNLI items were taken from those whose old label had exactly three of the original
# votes, of five on all but a few items. By that count all these items are equally contested, 60%
# to 40%.

# %%
publish_figure(
    "fig-original-votes",
    plot_original_votes,
    disagreement.original_votes_bins(inputs),
    caption="""A three-to-two split among five says little about a hundred. Items by the old
    label's share of the new votes; the dashed line is its share of the old ones.""",
    alt="""Two histograms of the old label's share among a hundred votes. They spread from almost
    none to almost all, far to both sides of the 60% that the five votes gave.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Old votes and new ones, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-original-votes",
    disagreement.original_votes(inputs),
    columns=disagreement.ORIGINAL_VOTES,
    caption="""How the five split hardly predicts how the hundred do. Old votes are sorted
    counts, such as 3-1-1. *Chosen again* is the expected share of items whose largest label
    would have just as many votes if as few people were asked again.""",
)

# %% tags=["remove-input"]
Markdown(inputs.missing_note("old votes"))

# %% [markdown]
# On average, the old label keeps about the share it had: it gets
# {value}`tbl-original-votes dataset=snli pattern=all mean_share_after .0%` of the new votes on SNLI
# and {value}`tbl-original-votes dataset=mnli pattern=all mean_share_after .0%` on MNLI. On single items its share is often far off, by more
# than 20 points on {value}`tbl-original-votes dataset=snli pattern=all share_far .0%` of the SNLI items and
# {value}`tbl-original-votes dataset=mnli pattern=all share_far .0%` of the MNLI items
# ({numref}`fig-original-votes`). How the five split adds little: MNLI items that split 3-1-1 have a mean entropy of
# {value}`tbl-original-votes dataset=mnli pattern=3-1-1 mean_entropy_bits_after .2f` bits, those
# that split 3-2 {value}`tbl-original-votes dataset=mnli pattern=3-2 mean_entropy_bits_after .2f`.
#
# Five votes also call items disputed that are not. On
# {value}`tbl-original-votes dataset=snli pattern=all n_nearly_all` SNLI items, 95 or more of the
# hundred choose the old label; these items are here because two of the first five annotators
# did not. If five new people were asked about each item, we would expect only
# {value}`tbl-original-votes dataset=snli pattern=all chance_of_selection .0%` of the SNLI items
# and {value}`tbl-original-votes dataset=mnli pattern=all chance_of_selection .0%` of the MNLI items
# to pass the three-of-five rule again.

# %% [markdown]
# ## Items to read

# %%
chosen = annotations.examples(inputs, n_each=examples)
items = annotations.by_item(chosen.rows)
labels = dict.fromkeys(in_markdown(join_names(dataset.labels)) for dataset in inputs.datasets)
publish_table(
    "tbl-examples",
    chosen,
    shown=items[~items["reason"].str.startswith("printed")],
    columns=annotations.EXAMPLES,
    caption=f"""Some old labels look like slips; some items have no single answer. For each
    dataset, the {examples} items whose new majority is largest among those that changed, and
    the {examples} of highest entropy. A bar shows the votes, from the left
    {", or ".join(labels)}; a majority that differs from the old label is bold. The data also
    has the items that {{cite:t}}`nie2020` and {{cite:t}}`baan2022` print.""",
)

# %% tags=["remove-input"]
Markdown(inputs.missing_note("texts", "items are shown without them"))

# %% tags=["remove-input"]
Markdown(inputs.missing_note("texts", "items are shown without them"))

# %% [markdown]
# {numref}`tbl-examples` holds two kinds of item that a single rate of change mixes. Where
# the majority changed most clearly, the old label is almost alone: on one SNLI item
# {value}`tbl-examples dataset=snli reason="majority changed" max:votes_1` of the hundred chose
# another. Where people agree least, no label gets
# more than {value}`tbl-examples dataset=snli reason="least agreement" max:votes_1` votes on SNLI, and every
# majority is a matter of a few people. You can read all items in {doc}`the explorer <../explorer>`,
# and judge some under the annotators' rules: {doc}`be one of the hundred <../annotate>`.
#
# ## How far people agree
#
# Two people who read the same item give the same answer
# {value}`tbl-agreement dataset=snli mean_pairwise_agreement .0%` of the time on SNLI,
# {value}`tbl-agreement dataset=mnli mean_pairwise_agreement .0%` on MNLI and
# {value}`tbl-agreement dataset=alphanli mean_pairwise_agreement .0%` on αNLI. Full agreement is rare: all hundred votes are on
# one label for {value}`tbl-agreement dataset=snli n_unanimous` SNLI items and
# {value}`tbl-agreement dataset=alphanli n_unanimous` αNLI items, and for no MNLI item. {doc}`disagreement` shows between which
# labels people are divided.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "How far people agree, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-agreement",
    annotations.agreement(inputs, n_resamples=resamples, seed=seed),
    columns=annotations.AGREEMENT,
    caption=f"""People agree most on αNLI and least on MNLI, by every statistic. In brackets, 95%
    intervals over items ({resamples:,} resamples); over annotators too where these are named
    ({{term}}`jackknife <interval over annotators>`). {{term}}`Fleiss’ κ` is 0 where people
    agree no more than by chance; {{term}}`entropy` is 0 where all agree. Unanimous items have all
    votes on one label; on a tie, two labels share the first place.""",
)

# %% [markdown]
# ## Limitations
#
# The votes are those of up to {value}`tbl-annotators sum:annotators ,.0f` workers on Amazon Mechanical Turk; who they were
# was not released ({doc}`collection`).
#
# These numbers describe one crowd, asked once. SNLI's
# {value}`tbl-data-statistics dataset=snli n_examples ,d` and MNLI's
# {value}`tbl-data-statistics dataset=mnli n_examples ,d` items were chosen for dispute among five
# people, so neither their rates of change nor their agreement are those of the whole datasets.
#
# Intervals say how much a number would move with other items chosen in the same way, not with
# other people. Statistics that need to know who voted, such as Cohen's κ between two annotators,
# cannot be computed from counts.

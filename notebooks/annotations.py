# %% [markdown]
# # What one label hides
#
# *What do I lose with one label per item?*
#
# **Give every item its {term}`old label` and you misplace
# {value}`tbl-misplaced dataset=snli "system=old label" misplaced .0f` of a hundred votes on SNLI,
# {value}`tbl-misplaced dataset=mnli "system=old label" misplaced .0f` on MNLI and
# {value}`tbl-misplaced dataset=alphanli "system=old label" misplaced .0f` on αNLI.** Even the best single label, the
# majority of the hundred, misplaces {value}`tbl-misplaced dataset=snli "system=majority label" misplaced .0f`,
# {value}`tbl-misplaced dataset=mnli "system=majority label" misplaced .0f` and
# {value}`tbl-misplaced dataset=alphanli "system=majority label" misplaced .0f`. On
# {value}`tbl-data-statistics dataset=snli overruled_percent .0f`% of the SNLI items and
# {value}`tbl-data-statistics dataset=mnli overruled_percent .0f`% of the MNLI items the new majority clearly outvotes the
# old label. On another {value}`tbl-data-statistics dataset=snli too_close_percent .0f`% and
# {value}`tbl-data-statistics dataset=mnli too_close_percent .0f`% it leads or ties, but the votes are too close to call.
#
# Datasets for natural language inference (NLI) give each item one label, settled by a handful of annotators.
# {cite:t}`nie2020` asked a hundred people per item instead and released the counts as ChaosNLI. A vote is *misplaced*
# when it differs from the item's label, because a single label implies that nobody chose another answer.
#
# In SNLI {cite:p}`bowman2015` and MNLI {cite:p}`williams2018`, people read a premise and say whether a hypothesis is
# entailed by it, contradicted by it, or neither. In αNLI {cite:p}`bhagavatula2020` they read two observations and say
# which of two hypotheses better explains how one led to the other. ChaosNLI took its SNLI and MNLI items from those on
# which the original annotators were split; its αNLI items are the whole development set.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder

# %%
from IPython.display import Markdown

from chaos_utils.analyses import annotations, disagreement
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.annotations import plot_label_transitions
from chaos_utils.plots.disagreement import plot_original_votes
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data)

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# ## How many majorities changed
#
# An item's {term}`majority <majority label>` has *changed* when a label other than the old one gets the most new votes.
# If two labels tie, the majority stored in the file counts, as it did for the authors. Not every change means much: in
# a hundred votes, 52 to 48 may be chance. The old label is {term}`clearly outvoted` when a split this uneven would
# occur on fewer than 5 items in 100 if people favoured neither label (exact two-sided binomial test). All other changes
# are too close to call. Each item is tested alone here. Allowing for all items (false discovery rate 5%), the old label
# is still outvoted on {value}`tbl-data-statistics dataset=snli overruled_all_tested_percent .0f`% of the SNLI items and
# {value}`tbl-data-statistics dataset=mnli overruled_all_tested_percent .0f`% of the MNLI items.

# %% tags=["remove-input"]
Markdown(inputs.missing_note("old labels"))

# %%
publish_table(
    "tbl-data-statistics",
    annotations.data_statistics(inputs),
    columns=annotations.DATA_STATISTICS,
    caption="""A hundred people change up to a third of the old labels; up to a fifth are
    clearly outvoted. *Paper* is Table 2 of {cite:t}`nie2020`. *Clearly outvoted*: the new
    majority leads the old label by more than chance would explain (binomial test, each item
    alone). The data also has the share that remains if all items are tested together. The last
    rate is relative to the published size of the whole development set; the paper gives none
    for αNLI, whose development set was annotated in full.""",
)

# %% [markdown]
# The majority changes on {value}`tbl-data-statistics dataset=snli change_rate_percent .0f`% of the SNLI items, on
# {value}`tbl-data-statistics dataset=mnli change_rate_percent .0f`% of the MNLI items and on
# {value}`tbl-data-statistics dataset=alphanli change_rate_percent .0f`% of the αNLI items
# ({numref}`tbl-data-statistics`), matching the paper to the last printed digit. This shows how fragile these labels are,
# not how wrong the datasets are: the SNLI and MNLI items were chosen because only three of the five original annotators
# had given the old label. Even if no other label in the development sets changed,
# {value}`tbl-data-statistics dataset=snli change_rate_full_dev_percent .1f`% of SNLI's labels and
# {value}`tbl-data-statistics dataset=mnli change_rate_full_dev_percent .1f`% of MNLI's would still change.
#
# ## Where the labels went

# %%
publish_figure(
    "fig-label-transitions",
    plot_label_transitions,
    annotations.label_transitions(inputs),
    caption="""On SNLI, many entailments and contradictions turn neutral; on MNLI, many neutral
    items become entailments. Each bar shows the items with one old label, divided by the majority
    of the new votes; numbers count items.""",
    alt="""A bar for each old label of each dataset, divided by the new majority. In every bar the
    largest part is the old label itself. On SNLI about a third of the entailments and of the
    contradictions have become neutral. On MNLI about a third of the neutral items have become
    entailments, and a third of the contradictions neutral. On αNLI about a tenth of the labels of
    each hypothesis have changed.""",
)

# %% [markdown]
# Some changes are far more common than others ({numref}`fig-label-transitions`). On SNLI the most common change is from
# entailment to neutral: it affects
# {value}`fig-label-transitions dataset=snli old_label=entailment new_majority=neutral row_share .0%` of the entailments.
# On MNLI it is the reverse, from neutral to entailment, on
# {value}`fig-label-transitions dataset=mnli old_label=neutral new_majority=entailment row_share .0%` of the neutral
# items. On αNLI, where a label only refers to the order in which the hypotheses are listed, both changes are about
# equally common.
#
# The explorer lists {explorer}`the SNLI items whose label changed <dataset=snli&change=changed>`, and those of the other
# datasets.
#
# ## What five votes could show
#
# The SNLI and MNLI items were drawn from those on which exactly three of (almost always) five original annotators gave
# the old label. By that count, all items are equally contested: 60% to 40%.

# %%
publish_figure(
    "fig-original-votes",
    plot_original_votes,
    disagreement.original_votes_bins(inputs),
    caption=f"""A three-to-two split among five people says little about a hundred. Items by the old
    label's share of the new votes; the dashed line is its share of the old votes.
    {inputs.missing_note("old votes").strip("*")}""",
    alt="""Two histograms of the old label's share among a hundred votes. They stretch from almost
    none to almost all, far to both sides of the 60% among the five old votes.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Old and new votes, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-original-votes",
    disagreement.original_votes(inputs),
    columns=disagreement.ORIGINAL_VOTES,
    caption="""Among items chosen for three votes of five, the way the other two split says
    little about a hundred people. Old votes are sorted counts, for example 3-1-1. *Chosen
    again* is the expected share of items whose leading label would get the same number of votes
    if equally few people were asked again.""",
)

# %% [markdown]
# On average, the old label keeps about this share: it gets
# {value}`tbl-original-votes dataset=snli pattern=all mean_share_after .0%` of the new votes on SNLI and
# {value}`tbl-original-votes dataset=mnli pattern=all mean_share_after .0%` on MNLI. On a single item its share may be
# almost anything ({numref}`fig-original-votes`): it is more than 20 points away from the old share on
# {value}`tbl-original-votes dataset=snli pattern=all share_far .0%` of the SNLI items and
# {value}`tbl-original-votes dataset=mnli pattern=all share_far .0%` of the MNLI items. Knowing how the other two voted
# helps a little on SNLI, where the old label gets
# {value}`tbl-original-votes dataset=snli pattern=3-2 mean_share_after .0%` of the votes after a 3-2 split and
# {value}`tbl-original-votes dataset=snli pattern=3-1-1 mean_share_after .0%` after 3-1-1. On MNLI it hardly helps
# ({value}`tbl-original-votes dataset=mnli pattern=3-2 mean_share_after .0%` and
# {value}`tbl-original-votes dataset=mnli pattern=3-1-1 mean_share_after .0%`).
#
# Five votes also make clear items look disputed. On {value}`tbl-original-votes dataset=snli pattern=all n_nearly_all`
# SNLI items, at least 95 of the hundred people choose the old label; these items are here only because two of the first
# five people did not. If we asked five new people about each item, we would expect just
# {value}`tbl-original-votes dataset=snli pattern=all chance_of_selection .0%` of the SNLI items and
# {value}`tbl-original-votes dataset=mnli pattern=all chance_of_selection .0%` of the MNLI items to split three to two, or
# three to one to one, again.
#
# (how-far-people-agree)=
# (items-to-read)=
# {doc}`disagreement` shows how far people agree and has items to read, clear ones and divided ones; {doc}`collection`
# shows who gave the votes, and how. Next: {doc}`do models predict how people split? <results>`

# %% [markdown]
# ## Limitations
#
# These numbers describe one crowd, asked once: up to {value}`tbl-annotators sum:annotators ,.0f` workers on Amazon
# Mechanical Turk. The release does not identify them, so we cannot say how much other people would change these numbers,
# nor compute statistics that need to know who voted, for example Cohen's κ.
#
# SNLI's {value}`tbl-data-statistics dataset=snli n_examples ,d` and MNLI's
# {value}`tbl-data-statistics dataset=mnli n_examples ,d` items were chosen because five people had been split, so the
# change rates do not hold for the whole datasets.

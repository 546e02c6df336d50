# %% [markdown]
# # What one label hides
#
# *What do I lose with one label per item?*
#
# **If you keep only the {term}`old label` of each SNLI item in ChaosNLI, you misplace
# {value}`tbl-misplaced dataset=snli "system=old label" misplaced .0f` of every hundred votes, because these votes are
# for other labels.** Even the best single label, which is the majority label of the hundred people, misplaces
# {value}`tbl-misplaced dataset=snli "system=majority label" misplaced .0f` votes. On
# {value}`tbl-data-statistics dataset=snli overruled_percent .0f`% of the SNLI items, the old label is clearly outvoted.
#
# On MNLI, the old label misplaces {value}`tbl-misplaced dataset=mnli "system=old label" misplaced .0f` of every hundred
# votes, and the majority label misplaces {value}`tbl-misplaced dataset=mnli "system=majority label" misplaced .0f`. On
# αNLI, the old label misplaces {value}`tbl-misplaced dataset=alphanli "system=old label" misplaced .0f` votes, and the
# majority label misplaces {value}`tbl-misplaced dataset=alphanli "system=majority label" misplaced .0f`.
#
# Datasets for natural language inference (NLI) usually give each item one label, chosen by a handful of annotators. For
# ChaosNLI, {cite:t}`nie2020` instead asked a hundred people about each item and released the number of votes for each
# label.
#
# In SNLI {cite:p}`bowman2015` and MNLI {cite:p}`williams2018`, people read a premise and say whether it entails a
# hypothesis, contradicts it, or does neither. In αNLI {cite:p}`bhagavatula2020`, people read two observations and say
# which of two hypotheses better explains how the first observation led to the second. ChaosNLI's SNLI and MNLI items
# were chosen from those on which the original annotators were split. ChaosNLI's αNLI items are the whole development
# set of αNLI.

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
# We say that the {term}`majority <majority label>` has *changed* if a label other than the old label gets the most new
# votes. If two labels tie, we use the majority label stored in the data file, as ChaosNLI's authors did. Some changes
# may be due to chance: if people are evenly split between two labels, a hundred of them could easily vote 52 to 48. We
# call the old label {term}`clearly outvoted` if the lead of the new majority label is larger than chance would explain:
# people who leaned to neither of the two labels would split so unevenly on fewer than 5 in 100 items (exact two-sided
# binomial test). A label that is outvoted need not be wrong. For all other changes, on
# {value}`tbl-data-statistics dataset=snli too_close_percent .0f`% of the SNLI items and
# {value}`tbl-data-statistics dataset=mnli too_close_percent .0f`% of the MNLI items, the vote is *too close to call*.
#
# The old label is clearly outvoted on {value}`tbl-data-statistics dataset=mnli overruled_percent .0f`% of the MNLI
# items. After correction for multiple testing across items (false discovery rate 5%), the old label is still clearly
# outvoted on {value}`tbl-data-statistics dataset=snli overruled_all_tested_percent .0f`% of the SNLI items and
# {value}`tbl-data-statistics dataset=mnli overruled_all_tested_percent .0f`% of the MNLI items.

# %% tags=["remove-input"]
Markdown(inputs.missing_note("old labels"))

# %%
publish_table(
    "tbl-data-statistics",
    annotations.data_statistics(inputs),
    columns=annotations.DATA_STATISTICS,
    caption="""A hundred people change up to a third of the old labels and clearly outvote up to a fifth of them. The
    *paper* columns repeat Table 2 of {cite:t}`nie2020`. An old label is *clearly outvoted* if the new majority label
    leads it by more votes than chance would explain (binomial test, without correction). The downloadable data also
    include the share of items on which the lead remains significant after correction for multiple testing. The last
    rate in the table is relative to the whole development set, whose size is taken from the paper. The paper gives no
    such rate for αNLI, whose development set was annotated in full.""",
)

# %% [markdown]
# The majority changes on {value}`tbl-data-statistics dataset=snli change_rate_percent .0f`% of the SNLI items,
# {value}`tbl-data-statistics dataset=mnli change_rate_percent .0f`% of the MNLI items and
# {value}`tbl-data-statistics dataset=alphanli change_rate_percent .0f`% of the αNLI items
# ({numref}`tbl-data-statistics`). Our change rates match those in the paper to the last printed digit. The change rates
# show how fragile the old labels are, but not how many labels in SNLI and MNLI are wrong, because ChaosNLI chose items
# on which only three of the five original annotators had given the old label. Even if no other label in the development
# sets changed, {value}`tbl-data-statistics dataset=snli change_rate_full_dev_percent .1f`% of the labels in SNLI's
# development set and {value}`tbl-data-statistics dataset=mnli change_rate_full_dev_percent .1f`% of those in MNLI's
# would still change.
#
# ## Where the labels went

# %%
publish_figure(
    "fig-label-transitions",
    plot_label_transitions,
    annotations.label_transitions(inputs),
    caption="""Many contradictions turn neutral; on SNLI, so do many entailments, and on MNLI, many neutral items become
    entailments. Each bar shows the items with the same old label, coloured by the majority label of the new votes. The
    numbers are counts of items.""",
    alt="""A bar for each old label of each dataset, divided by the new majority. In every bar, the largest part is the
    old label itself. On SNLI, about a third of the entailments and of the contradictions have become neutral. On MNLI,
    about a third of the neutral items have become entailments, and a third of the contradictions have become neutral.
    On αNLI, about a tenth of the labels for each hypothesis have changed.""",
)

# %% [markdown]
# Some changes are far more common than others ({numref}`fig-label-transitions`). On SNLI, the most common change is
# from entailment to neutral
# ({value}`fig-label-transitions dataset=snli old_label=entailment new_majority=neutral n d` items,
# {value}`fig-label-transitions dataset=snli old_label=entailment new_majority=neutral row_share .0%` of the
# entailments), and the share of contradictions that turn neutral is the same
# ({value}`fig-label-transitions dataset=snli old_label=contradiction new_majority=neutral n d` items,
# {value}`fig-label-transitions dataset=snli old_label=contradiction new_majority=neutral row_share .0%`). On MNLI, the
# most common change is from neutral to entailment
# ({value}`fig-label-transitions dataset=mnli old_label=neutral new_majority=entailment n d` items,
# {value}`fig-label-transitions dataset=mnli old_label=neutral new_majority=entailment row_share .0%` of the neutral
# items), and the share of contradictions that turn neutral is almost the same
# ({value}`fig-label-transitions dataset=mnli old_label=contradiction new_majority=neutral n d` items,
# {value}`fig-label-transitions dataset=mnli old_label=contradiction new_majority=neutral row_share .0%`). On αNLI,
# where the labels only number the two hypotheses, the two possible changes are about equally common. In the explorer,
# you can read {explorer}`the SNLI items whose label changed <dataset=snli&change=changed>`.
#
# ## What five votes could show
#
# For each SNLI and MNLI item in ChaosNLI, exactly three of the original annotators (there were almost always five)
# had given the old label. According to the old votes, almost all SNLI and MNLI items in ChaosNLI are equally contested,
# with 60% of the votes for the old label.

# %%
publish_figure(
    "fig-original-votes",
    plot_original_votes,
    disagreement.original_votes_bins(inputs),
    caption=f"""A three-to-two split among five people says little about how a hundred people vote. Each histogram shows
    the number of items by the old label's share of the new votes. Dashed lines mark the old label's share of the old
    votes. {inputs.missing_note("old votes", "it is not shown here").strip("*")}""",
    alt="""Two histograms of the old label's share among a hundred votes. They stretch from almost none to almost all,
    far to both sides of the 60% among the five old votes.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Old and new votes, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-original-votes",
    disagreement.original_votes(inputs),
    columns=disagreement.ORIGINAL_VOTES,
    groups=["dataset"],
    caption="""For items that were chosen because three of five people agreed, the votes of the other two people say
    little about how a hundred people vote. Old votes are given as sorted counts, for example 3-1-1. *Chosen again* is
    the share of items that we would expect to be chosen again if we asked the same number of other people. An item
    would be chosen again if its leading label got as many votes as before.""",
)

# %% [markdown]
# The old label's average share of the new votes,
# {value}`tbl-original-votes dataset=snli pattern=all mean_share_after .0%` on SNLI and
# {value}`tbl-original-votes dataset=mnli pattern=all mean_share_after .0%` on MNLI, is similar to its share of the old
# votes. On a single item, however, the old label's share of the new votes can be almost anything
# ({numref}`fig-original-votes`). The old label's shares of the old and the new votes differ by more than 20 percentage
# points on {value}`tbl-original-votes dataset=snli pattern=all share_far .0%` of the SNLI items and
# {value}`tbl-original-votes dataset=mnli pattern=all share_far .0%` of the MNLI items. Knowing how the other two
# original annotators voted helps a little on SNLI, where the old label gets
# {value}`tbl-original-votes dataset=snli pattern=3-2 mean_share_after .0%` of the new votes if these two chose the same label and
# {value}`tbl-original-votes dataset=snli pattern=3-1-1 mean_share_after .0%` if they did not. On MNLI, knowing their
# votes hardly helps: the old label gets {value}`tbl-original-votes dataset=mnli pattern=3-2 mean_share_after .0%` of
# the new votes if they agreed and {value}`tbl-original-votes dataset=mnli pattern=3-1-1 mean_share_after .0%` if they
# did not.
#
# With only five votes, even clear items can look disputed. On
# {value}`tbl-original-votes dataset=snli pattern=all n_nearly_all` SNLI items, at least 95 of the hundred people choose
# the old label, and ChaosNLI includes these items only because two of the original annotators had not chosen it. If we
# asked five new people about each item, we would expect only
# {value}`tbl-original-votes dataset=snli pattern=all chance_of_selection .0%` of ChaosNLI's SNLI items and
# {value}`tbl-original-votes dataset=mnli pattern=all chance_of_selection .0%` of its MNLI items to be chosen again by
# the same criterion.
#
# (how-far-people-agree)=
# (items-to-read)=
# The chapter {doc}`disagreement` shows examples of clear and divided items, and {doc}`collection` describes what is
# known about the annotators. The next chapter asks whether {doc}`models predict how people split <results>`.

# %% [markdown]
# ## Limitations
#
# The numbers on this page describe a single crowd of up to {value}`tbl-annotators sum:annotators ,.0f` workers on
# Amazon Mechanical Turk, who were asked once. The released data do not identify the workers. We therefore cannot say
# how much the numbers would change with other people, and we cannot compute statistics such as Cohen's κ that depend on
# who gave which vote.
#
# The change rates do not hold for all of SNLI and MNLI: ChaosNLI chose its
# {value}`tbl-data-statistics dataset=snli n_examples ,d` SNLI items and
# {value}`tbl-data-statistics dataset=mnli n_examples ,d` MNLI items because five people had been split over them.

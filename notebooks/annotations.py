# %% [markdown]
# # What one label hides
#
# *What do I lose with one label per item?*
#
# **If you give every item its {term}`old label`, you misplace
# {value}`tbl-misplaced dataset=snli "system=old label" misplaced .0f` of a hundred votes on SNLI,
# {value}`tbl-misplaced dataset=mnli "system=old label" misplaced .0f` on MNLI and
# {value}`tbl-misplaced dataset=alphanli "system=old label" misplaced .0f` on αNLI.** Even the best single label, the
# majority label of the hundred people, misplaces
# {value}`tbl-misplaced dataset=snli "system=majority label" misplaced .0f`,
# {value}`tbl-misplaced dataset=mnli "system=majority label" misplaced .0f` and
# {value}`tbl-misplaced dataset=alphanli "system=majority label" misplaced .0f` votes. The new majority clearly outvotes
# the old label on {value}`tbl-data-statistics dataset=snli overruled_percent .0f`% of the SNLI items and
# {value}`tbl-data-statistics dataset=mnli overruled_percent .0f`% of the MNLI items. On a further
# {value}`tbl-data-statistics dataset=snli too_close_percent .0f`% and
# {value}`tbl-data-statistics dataset=mnli too_close_percent .0f`%, the new majority also differs from the old label,
# but the votes are too close to call.
#
# Datasets for natural language inference (NLI) give each item one label, decided on by a handful of annotators.
# {cite:t}`nie2020` asked a hundred people about each item instead and released the counts as ChaosNLI. A single label
# implies that nobody chose another answer, so it *misplaces* every vote for another label.
#
# In SNLI {cite:p}`bowman2015` and MNLI {cite:p}`williams2018`, people read a premise and say whether it entails a
# hypothesis, contradicts it, or does neither. In αNLI {cite:p}`bhagavatula2020`, they read two observations and say
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
# We say that the {term}`majority <majority label>` has *changed* if a label other than the old one gets the most new
# votes. If two labels tie, we use the majority label stored in the file, as the authors did. Some changes may be due to
# chance: if people were evenly split, a hundred of them could easily vote 52 to 48. We call the old label
# {term}`clearly outvoted` if people who favoured neither label would split this unevenly on fewer than 5 items in 100
# (exact two-sided binomial test). All other changes are too close to call. After correcting for multiple testing across
# items (false discovery rate 5%), the old label is still clearly outvoted on
# {value}`tbl-data-statistics dataset=snli overruled_all_tested_percent .0f`% of the SNLI items and
# {value}`tbl-data-statistics dataset=mnli overruled_all_tested_percent .0f`% of the MNLI items.

# %% tags=["remove-input"]
Markdown(inputs.missing_note("old labels"))

# %%
publish_table(
    "tbl-data-statistics",
    annotations.data_statistics(inputs),
    columns=annotations.DATA_STATISTICS,
    caption="""A hundred people change up to a third of the old labels and clearly outvote up to a fifth. The *paper*
    columns repeat Table 2 of {cite:t}`nie2020`. An old label is *clearly outvoted* if the new majority leads it by more
    than chance would explain (binomial test, without correction for the number of items). The downloadable data also
    include the share of items on which this remains significant after correction. The last rate is a share of the whole
    development set, at its published size. The paper gives no such rate for αNLI, whose development set was annotated
    in full.""",
)

# %% [markdown]
# The majority changes on {value}`tbl-data-statistics dataset=snli change_rate_percent .0f`% of the SNLI items,
# {value}`tbl-data-statistics dataset=mnli change_rate_percent .0f`% of the MNLI items and
# {value}`tbl-data-statistics dataset=alphanli change_rate_percent .0f`% of the αNLI items
# ({numref}`tbl-data-statistics`). These rates match the paper's to the last printed digit. They show how fragile these
# labels are, not how many labels in SNLI and MNLI are wrong, because ChaosNLI chose items on which only three of five
# original annotators had given the old label. Even if no other label in the development sets changed,
# {value}`tbl-data-statistics dataset=snli change_rate_full_dev_percent .1f`% of SNLI's labels and
# {value}`tbl-data-statistics dataset=mnli change_rate_full_dev_percent .1f`% of MNLI's would still change.
#
# ## Where the labels went

# %%
publish_figure(
    "fig-label-transitions",
    plot_label_transitions,
    annotations.label_transitions(inputs),
    caption="""On SNLI, many entailments and contradictions turn neutral, while on MNLI many neutral items become
    entailments. Each bar shows the items with the same old label, coloured by the majority of the new votes. Numbers
    are counts of items.""",
    alt="""A bar for each old label of each dataset, divided by the new majority. In every bar the largest part is the
    old label itself. On SNLI about a third of the entailments and of the contradictions have become neutral. On MNLI
    about a third of the neutral items have become entailments, and a third of the contradictions neutral. On αNLI
    about a tenth of the labels of each hypothesis have changed.""",
)

# %% [markdown]
# Some changes are far more common than others ({numref}`fig-label-transitions`). On SNLI, the most common change is
# from entailment to neutral, which affects
# {value}`fig-label-transitions dataset=snli old_label=entailment new_majority=neutral row_share .0%` of the
# entailments. On MNLI, the most common change is the reverse: neutral becomes entailment on
# {value}`fig-label-transitions dataset=mnli old_label=neutral new_majority=entailment row_share .0%` of the neutral
# items. On αNLI, where the labels only number the two hypotheses, both changes are about equally common. You can read
# {explorer}`the SNLI items whose label changed <dataset=snli&change=changed>` in the explorer.
#
# ## What five votes could show
#
# On the SNLI and MNLI items, exactly three of (almost always) five original annotators had given the old label. By that
# count, all these items are equally contested, with 60% of the votes for the old label.

# %%
publish_figure(
    "fig-original-votes",
    plot_original_votes,
    disagreement.original_votes_bins(inputs),
    caption=f"""A three-to-two split among five people says little about how a hundred people vote. The histograms show
    how the items are distributed by the old label's share of the new votes. Dashed lines mark its share of the old
    votes. {inputs.missing_note("old votes", "it is not shown here").strip("*")}""",
    alt="""Two histograms of the old label's share among a hundred votes. They stretch from almost none to almost all,
    far to both sides of the 60% among the five old votes.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Old and new votes, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-original-votes",
    disagreement.original_votes(inputs),
    columns=disagreement.ORIGINAL_VOTES,
    caption="""Among items that were chosen because three of five people agreed, the votes of the other two say little
    about how a hundred people vote. Old votes are given as sorted counts, for example 3-1-1. *Chosen again* is the share of items that we would expect to be
    chosen again because their leading label gets as many votes as before, if we asked the same number of other
    people.""",
)

# %% [markdown]
# On average, the hundred people give the old label a similar share:
# {value}`tbl-original-votes dataset=snli pattern=all mean_share_after .0%` of the votes on SNLI and
# {value}`tbl-original-votes dataset=mnli pattern=all mean_share_after .0%` on MNLI. On a single item, however, its
# share may be almost anything ({numref}`fig-original-votes`). It differs from the old share by more than 20 percentage
# points on {value}`tbl-original-votes dataset=snli pattern=all share_far .0%` of the SNLI items and
# {value}`tbl-original-votes dataset=mnli pattern=all share_far .0%` of the MNLI items. Knowing how the other two
# original annotators voted helps a little on SNLI, where the old label gets
# {value}`tbl-original-votes dataset=snli pattern=3-2 mean_share_after .0%` of the new votes if they agreed and
# {value}`tbl-original-votes dataset=snli pattern=3-1-1 mean_share_after .0%` if they did not. On MNLI it hardly helps:
# the shares are {value}`tbl-original-votes dataset=mnli pattern=3-2 mean_share_after .0%` and
# {value}`tbl-original-votes dataset=mnli pattern=3-1-1 mean_share_after .0%`.
#
# With only five votes, clear items can also look disputed. On
# {value}`tbl-original-votes dataset=snli pattern=all n_nearly_all` SNLI items, at least 95 of the hundred people choose
# the old label. ChaosNLI includes these items only because two of the first five people did not choose that label. If
# we asked five new people about each item, we would expect only
# {value}`tbl-original-votes dataset=snli pattern=all chance_of_selection .0%` of the SNLI items and
# {value}`tbl-original-votes dataset=mnli pattern=all chance_of_selection .0%` of the MNLI items to meet the same
# criterion again.
#
# (how-far-people-agree)=
# (items-to-read)=
# The chapter {doc}`disagreement` shows clear and divided items to read, and {doc}`collection` describes who gave the
# votes. The next chapter asks whether {doc}`models predict how people split <results>`.

# %% [markdown]
# ## Limitations
#
# These numbers describe one crowd, which was asked once: up to {value}`tbl-annotators sum:annotators ,.0f` workers on
# Amazon Mechanical Turk. The released data do not identify them, so we cannot say how much the numbers would change
# with other people, nor compute statistics such as Cohen's κ that depend on who gave which vote.
#
# The change rates do not hold for all of SNLI and MNLI: the {value}`tbl-data-statistics dataset=snli n_examples ,d`
# SNLI and {value}`tbl-data-statistics dataset=mnli n_examples ,d` MNLI items were chosen because five people had been
# split over them.

# %% [markdown]
# # How a hundred people answer
#
# *How much do people disagree, and on what?*
#
# **Two people who read the same item choose different labels
# {value}`tbl-misplaced dataset=snli "system=one person" misplaced .0f` times in a hundred on SNLI,
# {value}`tbl-misplaced dataset=mnli "system=one person" misplaced .0f` on MNLI and
# {value}`tbl-misplaced dataset=alphanli "system=one person" misplaced .0f` on αNLI.** Most do not contradict each other: they
# differ over whether something follows or merely might. Entailment and contradiction lead together on only
# {value}`tbl-contested-pairs dataset=snli first=entailment second=contradiction share .0%` of the SNLI items and
# {value}`tbl-contested-pairs dataset=mnli first=entailment second=contradiction share .0%` of the MNLI items. ChaosNLI chose
# its SNLI and MNLI items because five people had been split; by our estimate, the same choice would take the disagreement on
# OCNLI from {value}`tbl-crowds-selection dataset=ocnli evenness .0%` to
# {value}`tbl-crowds-selection dataset=ocnli of_chosen .0%` of its maximum ({doc}`crowds`).
#
# Disagreement on an item may be a few slips, a matter of degree, or a question with two answers. This is the subject of work
# on *human label variation*. A hundred votes show which shapes occur; five hardly do.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder

# %%
from IPython.display import Markdown

from chaos_utils.analyses import disagreement
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.names import join_names
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.disagreement import (
    plot_entropy,
    plot_majority_share,
    plot_simplex,
)
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.literal import in_markdown
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data)

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# ## Between which labels
#
# With three labels, an item's votes are a point in a triangle. At a corner all votes are for one label; in the middle each
# label has a third of them.

# %%
step = 10  # percentage points from cell to cell
publish_figure(
    "fig-simplex",
    plot_simplex,
    disagreement.vote_cells(inputs, step=step),
    caption=f"""Few items lie between entailment and contradiction. At a corner all votes are
    for that label; on an edge none are for the opposite one. A dot's area is the number of
    items whose votes are nearest to its place, its colour the majority of most of them; places
    are {step} percentage points apart, and those with fewer than {disagreement.MIN_ITEMS}
    items are left empty.""",
    alt="""Two triangles of dots. On SNLI the large dots lie at the corners and along the
    edges from neutral to entailment and from neutral to contradiction, with few in the middle
    and fewest between entailment and contradiction. On MNLI they spread more into the middle,
    above all between entailment and neutral.""",
)

# %% [markdown]
# The commonest contest is between entailment and neutral: these two lead on
# {value}`tbl-contested-pairs dataset=snli first=entailment second=neutral share .0%` of the SNLI
# items and on {value}`tbl-contested-pairs dataset=mnli first=entailment second=neutral share .0%`
# of the MNLI items ({numref}`fig-simplex`). That is what one would
# expect where people differ in *how much* must follow, rather than in whether the sentences
# contradict each other; the votes alone cannot prove it. The explorer opens
# {explorer}`the same triangle with an item behind every dot <dataset=snli>`.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Items by their two leading labels, as a table", "code_prompt_hide": "Fold the table"}
several_labels = [part for part in inputs if part.datasets[0].n_classes > 2]
publish_table(
    "tbl-contested-pairs",
    disagreement.contested_pairs(several_labels),
    columns=disagreement.CONTESTED_PAIRS,
    caption="""Disagreement turns on *neutral*. Items by their two most frequent labels;
    unanimous items count for no pair, and of labels that tie, the earlier one counts.""",
)

# %% tags=["remove-input"]
without_triangle = [
    in_markdown(dataset.short) for dataset in inputs.datasets if dataset.n_classes != 3
]
Markdown(
    f"*The triangle leaves out {join_names(without_triangle)}: it needs three labels.*"
    if without_triangle
    else ""
)

# %% [markdown]
# ## How large the majority is

# %%
publish_figure(
    "fig-majority-share",
    plot_majority_share,
    disagreement.majority_shares(inputs),
    caption="""Large majorities are common on αNLI and rare on MNLI. Each line shows the share of items whose
    {term}`majority label` has at least that many of the votes.""",
    alt="""Three falling curves. αNLI stays highest: most items have a majority of more than 90%.
    SNLI falls steadily from half to all of the votes, and MNLI lies below it throughout.""",
)

# %% [markdown]
# Nine in ten people or more agree on
# {value}`fig-majority-share dataset=snli percent=90 share_at_least .0%` of the SNLI items,
# {value}`fig-majority-share dataset=mnli percent=90 share_at_least .0%` of the MNLI items and
# {value}`fig-majority-share dataset=alphanli percent=90 share_at_least .0%` of the αNLI items ({numref}`fig-majority-share`). At the
# other end, no label has more than 60% of the votes on
# {value}`fig-majority-share dataset=mnli percent=60 share_at_most .0%` of the MNLI items: there,
# any single label misplaces at least two votes in five.
#
# The {term}`entropy` of an item's votes says the same with one number. It is 0 when all agree, and largest where all labels have equally
# many votes: $\log_2 3 = 1.58$ bits with three labels, 1 bit with two. Its mean is
# {value}`fig-entropy dataset=snli bin=1 mean_bits .2f` bits on SNLI,
# {value}`fig-entropy dataset=mnli bin=1 mean_bits .2f` on MNLI and
# {value}`fig-entropy dataset=alphanli bin=1 mean_bits .2f` on αNLI. {cite:t}`nie2020` describe αNLI as U-shaped: people are
# either certain or split. The right arm of that U is largely an artefact of the scale. With two labels, entropy is flat
# around an even split, so many different splits share the last bin. If every split were
# equally frequent, {value}`fig-entropy dataset=alphanli bin=20 share_of_splits .0%` of the items
# would fall into it; {value}`fig-entropy dataset=alphanli bin=20 share .0%` do.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Items by entropy, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-entropy",
    plot_entropy,
    disagreement.entropy_bins(inputs, n_bins=20),
    caption="""People disagree on most SNLI and MNLI items, and much less on αNLI. Items by the
    entropy of their votes, in twenty equal bins; the dashed line is the mean. With two
    labels, an outline shows the items there would be in a bin if all splits were equally frequent.
    Compare Figure 3 of {cite:t}`nie2020`.""",
    alt="""Three histograms of entropy in bits. SNLI and MNLI have one broad peak at or above
    one bit; the αNLI histogram falls from a high left side and rises again in its last bin, where
    an outline that stands for equally frequent splits is higher still.""",
)

# %% [markdown]
# ## Limitations
#
# Entropies in this book describe items *chosen for dispute among five people*. They are neither
# those of all SNLI and MNLI, nor those of items on which the crowd is known to be split. The two leading labels are counted on all
# {value}`tbl-contested-pairs dataset=snli sum:n_items ,d` SNLI and
# {value}`tbl-contested-pairs dataset=mnli sum:n_items ,d` MNLI items that are not unanimous, however
# few the votes for the second.
#
# Votes are a sample, too. The entropy of a hundred votes is slightly too low on average, and a share
# of one half among a hundred is uncertain by about ten points either way. {doc}`../related` leads
# to work on *why* people disagree.

# %% [markdown]
# # How a hundred people answer
#
# *How much do people disagree, and on what?*
#
# **Two people who read the same item choose different labels
# {value}`tbl-misplaced dataset=snli "system=one person" misplaced .0f` times in a hundred on SNLI,
# {value}`tbl-misplaced dataset=mnli "system=one person" misplaced .0f` on MNLI and
# {value}`tbl-misplaced dataset=alphanli "system=one person" misplaced .0f` on αNLI.** On SNLI and MNLI, most who differ
# do not contradict each other. One says entailment and the other contradiction in only
# {value}`tbl-contested-pairs dataset=snli first=entailment second=contradiction share_of_differing .0%` of such pairs
# on SNLI and {value}`tbl-contested-pairs dataset=mnli first=entailment second=contradiction share_of_differing .0%` on
# MNLI; in the others, one of the two says neutral. ChaosNLI chose its SNLI and MNLI items because five people had been
# split; we estimate that the same choice would roughly double the disagreement on OCNLI, a Chinese dataset, from
# {value}`tbl-crowds-selection dataset=ocnli disagreement .0%` to
# {value}`tbl-crowds-selection dataset=ocnli chosen_disagreement .0%`.
#
# People may disagree on an item because a few of them slipped, because the answer is a matter of degree, or because the
# item has two answers. Research on *human label variation* asks which. A hundred votes show which patterns occur; five
# votes hardly do.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
examples: int = 2  # items shown for each dataset and rule
resamples: int = 2000  # bootstrap resamples of the items, for the 95% intervals
most: int = 3000  # items that the nonparametric prior is fitted on; of more, some are drawn
fives: int = 10  # draws of five votes per item
refits: int = 300  # bootstrap resamples on which the prior is fitted anew
seed: int = 0  # seed of all draws

# %%
from IPython.display import Markdown

from chaos_utils.analyses import annotations, atlas, disagreement, your_votes
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.names import join_names
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.atlas import plot_atlas
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
crowds = atlas.atlas_inputs(data, inputs)

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# ## Between which labels
#
# With three labels, an item's votes are a point in a triangle. At a corner all votes are for one label; in the middle each
# label has a third of them.

# %%
step = 10  # percentage points from cell to cell
without_triangle = join_names(
    [in_markdown(dataset.short) for dataset in inputs.datasets if dataset.n_classes != 3]
)
publish_figure(
    "fig-simplex",
    plot_simplex,
    disagreement.vote_cells(inputs, step=step),
    caption=f"""Few items lie between entailment and contradiction. At a corner all votes are for
    that label; on an edge, the label opposite has no votes. A dot's area is the number of items
    whose votes are nearest to it, its colour the majority label of most of them. Dots are {step}
    percentage points apart; those with fewer than {disagreement.MIN_ITEMS} items are not drawn.{
        f" Left out, as a triangle needs three labels: {without_triangle}."
        if without_triangle
        else ""
    }""",
    alt="""Two triangles of dots. On SNLI the large dots lie at the corners and along the edges from
    neutral to entailment and from neutral to contradiction; few are in the middle and fewest
    between entailment and contradiction. On MNLI more of them are in the middle, above all between
    entailment and neutral.""",
)

# %% [markdown]
# Most often people are torn between entailment and neutral: these two labels lead on
# {value}`tbl-contested-pairs dataset=snli first=entailment second=neutral share .0%` of the SNLI items and on
# {value}`tbl-contested-pairs dataset=mnli first=entailment second=neutral share .0%` of the MNLI items
# ({numref}`fig-simplex`). This is what we would expect if people differed in *how strictly* they judge what follows,
# rather than over whether the sentences contradict each other, but votes alone cannot prove it. The explorer shows
# {explorer}`the same triangle with an item behind every dot <dataset=snli>`.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Items by their two leading labels, as a table", "code_prompt_hide": "Fold the table"}
several_labels = [part for part in inputs if part.datasets[0].n_classes > 2]
publish_table(
    "tbl-contested-pairs",
    disagreement.contested_pairs(several_labels),
    columns=disagreement.CONTESTED_PAIRS,
    caption="""Most disagreement involves *neutral*. Items by their two most frequent labels;
    unanimous items belong to no pair, and ties go to the label listed first. Last column: of
    two people who give different labels to the same item, how often they give these two.""",
)

# %% [markdown]
# ## How large the majority is

# %%
publish_figure(
    "fig-majority-share",
    plot_majority_share,
    disagreement.majority_shares(inputs),
    caption="""Large majorities are common on αNLI and rare on MNLI. Each line shows the share of
    items whose {term}`majority label` has at least a given percentage of the votes.""",
    alt="""Three falling curves. αNLI stays highest: most items have a majority of more than 90%.
    SNLI falls steadily from half to all of the votes, and MNLI lies below it throughout.""",
)

# %% [markdown]
# At least nine in ten people agree on {value}`fig-majority-share dataset=snli percent=90 share_at_least .0%` of the SNLI
# items, {value}`fig-majority-share dataset=mnli percent=90 share_at_least .0%` of the MNLI items and
# {value}`fig-majority-share dataset=alphanli percent=90 share_at_least .0%` of the αNLI items
# ({numref}`fig-majority-share`). On {value}`fig-majority-share dataset=mnli percent=60 share_at_most .0%` of the MNLI
# items no label gets more than 60% of the votes: whichever label you give them, you misplace at least forty votes in a
# hundred. All hundred people agree on {value}`tbl-agreement dataset=snli n_unanimous` SNLI items and
# {value}`tbl-agreement dataset=alphanli n_unanimous` αNLI items, but on no MNLI item.
#
# The {term}`entropy` of an item's votes sums this up. It is 0 where all people agree and largest where all labels get the
# same number of votes: $\log_2 3 = 1.58$ bits with three labels, 1 bit with two. Its mean is
# {value}`fig-entropy dataset=snli bin=1 mean_bits .2f` bits on SNLI,
# {value}`fig-entropy dataset=mnli bin=1 mean_bits .2f` on MNLI and
# {value}`fig-entropy dataset=alphanli bin=1 mean_bits .2f` on αNLI. {cite:t}`nie2020` call the entropies on αNLI
# U-shaped: people are either certain or split. Much of the right arm comes from the scale. Near an even split, entropy
# hardly changes, so many different splits fall into the last bin:
# {value}`fig-entropy dataset=alphanli bin=20 share_of_splits .0%` of all possible splits, but only
# {value}`fig-entropy dataset=alphanli bin=20 share .0%` of the items.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Items by entropy, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-entropy",
    plot_entropy,
    disagreement.entropy_bins(inputs, n_bins=20),
    caption="""People disagree on most SNLI and MNLI items, and much less on αNLI. Items by the
    entropy of their votes, in twenty equal bins; the dashed line is the mean. With two labels, an
    outline shows how many items each bin would hold if all splits were equally frequent. Compare
    Figure 3 of {cite:t}`nie2020`.""",
    alt="""Three histograms of entropy in bits. SNLI and MNLI have one broad peak at or above one
    bit; the αNLI histogram falls from a high left side and rises again in its last bin, where the
    outline for equally frequent splits is higher still.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "How much people agree, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-agreement",
    annotations.agreement(inputs, n_resamples=resamples, seed=seed),
    columns=annotations.AGREEMENT,
    caption=f"""People agree most on αNLI and least on MNLI, by every statistic. In brackets, 95%
    intervals over items ({resamples:,} resamples), and over annotators where they are named
    ({{term}}`jackknife <interval over annotators>`). {{term}}`Fleiss’ κ` is 0 where people agree no
    more often than by chance; {{term}}`entropy` is 0 where all agree. Unanimous items have all
    votes on one label; in a tie, two labels share first place.""",
)

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
    groups=["reason"],
    caption=f"""Some old labels look like slips; some items have no single answer. For each dataset,
    the {examples} changed items with the largest new majority, and the {examples} items with the
    highest entropy. A bar shows the votes, from left to right {", or ".join(labels)}; a majority
    that differs from the old label is bold, unless it is tied. The data also has the items printed by
    {{cite:t}}`nie2020` and {{cite:t}}`baan2022`.""",
)

# %% tags=["remove-input"]
has_triangle = any(dataset.n_classes == 3 for dataset in inputs.datasets)
no_triangle = f"*The triangle leaves out {without_triangle}: it needs three labels.*\n\n"
Markdown(
    no_triangle * (not has_triangle) + inputs.missing_note("texts", "items are shown without them")
)

# %% [markdown]
# On some items hardly anyone chooses the old label ({numref}`tbl-examples`): on one SNLI item,
# {value}`tbl-examples dataset=snli reason="majority changed" max:votes_1` of the hundred chose another. On others, people
# are as divided as they can be: on the most divided SNLI items, no label gets more than
# {value}`tbl-examples dataset=snli reason="least agreement" max:votes_1` votes, and a few people decide which label
# leads. You can read all items in {doc}`the explorer <../explorer>`, and answer some yourself:
# {doc}`be one of the hundred <../annotate>`.

# %% [markdown]
# (an-atlas-of-disagreement)=
# (the-atlas)=
# ## The atlas: how other people answer
#
# How divided is ChaosNLI compared with other datasets? The atlas shows {value}`tbl-crowds count:n_items d` datasets with
# several votes per item, from other inference datasets to entirely different tasks. The chance that two votes on an item
# differ (its {term}`quadratic entropy`) can be estimated without bias even from few votes. But a dataset with two labels
# cannot be compared with one that has ten, so datasets with two, three, and more labels have separate panels.

# %%
near_chance = your_votes.near_chance(crowds, n_resamples=resamples, seed=seed)
datasets = atlas.by_disagreement(atlas.atlas(crowds, most=most, n_resamples=resamples, seed=seed))
drawn = atlas.drawn_rows(datasets, atlas.spread(crowds, n_bins=20), near_chance)
publish_figure(
    "fig-atlas",
    plot_atlas,
    disagreement.with_chosen(drawn, ["snli", "mnli", "ambient"]),
    caption="""Among datasets with three labels, people are most divided on the MNLI items, then
    on the two DICES datasets. Points are means with 95% intervals over items, and over
    annotators where they are named. Filled points leave out annotators near chance; hollow
    points include them. Bars show the distribution of the items, where most have at least
    twenty votes; the highest bar is equally tall for every dataset. A tick marks an even split
    over all labels. *Chosen*: items picked because people had been split over them, or for
    their ambiguity.""",
    alt="""Three panels, for two labels, three, and four or more; each has a row for every dataset,
    with a point for the chance that two votes on an item differ, and bars for its items. With two
    labels XHateStability stands at the top, RTE and αNLI at the bottom; a hollow point shows RTE
    with all its workers far to the right. With three labels, MNLI stands at the top, SNLI in the
    lower half, OCNLI far below. With more labels, CSC and WAX stand at the top, and CIFAR-10H far
    below all others. The interval of WAX is very wide. The items of SNLI and of the slider data
    spread over the whole range; those of CIFAR-10H are nearly all at the lower end.""",
)

# %% [markdown]
# Inference divides people everywhere, but not equally ({numref}`fig-atlas`). Two people differ on
# {value}`tbl-crowds dataset=ocnli disagreement .0%` of the items of OCNLI {cite:p}`hu2020`, on
# {value}`tbl-crowds dataset=lalor disagreement .0%` of the 180 SNLI pairs that a thousand people judged
# {cite:p}`lalor2016`, and on {value}`tbl-crowds dataset=mnli disagreement .0%` of the MNLI items that ChaosNLI chose.
# AmbiEnt, whose sentences were picked for their ambiguity {cite:p}`liu2023`, ProbCOPA {cite:p}`kamath2026` and the slider
# data {cite:p}`pavlick2019` lie in between.
#
# Whether a chatbot's answer is safe (DICES, {cite:alp}`aroyo2023`) divides people nearly as much as the MNLI items do:
# two people differ on {value}`tbl-crowds-annotators dataset=dices350 disagreement_without .0%` of the items of
# DICES-350 and on {value}`tbl-crowds dataset=dices disagreement .0%` of those of DICES-990. When people judge whether a
# tweet is offensive (MD-Agreement, {cite:alp}`leonardelli2021`), a reply ironic (MultiPICo, {cite:alp}`casola2024`) or
# a post hateful (XHateStability, {cite:alp}`abercrombie2023`),
# {value}`tbl-crowds dataset=md-agreement disagreement .0%` to
# {value}`tbl-crowds dataset=xhatestability disagreement .0%` of pairs differ; with two labels, half is the maximum. On
# scales of five or six points (POPQUORN, {cite:alp}`pei2023`; CSC, {cite:alp}`jang2024`) most pairs differ, often by a
# single step. Hardly anyone disagrees about what a small picture shows: on CIFAR-10H {cite:p}`peterson2019`, only
# {value}`tbl-crowds dataset=cifar10h disagreement .0%` of pairs differ.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All datasets, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-crowds",
    datasets,
    columns=atlas.ATLAS_COLUMNS,
    caption="""Which crowd agrees least depends on the measure. How often two votes on an item
    differ, this rate as a share of its maximum (an even split), and {term}`Krippendorff’s α`.
    Annotators are counted where the file names them or always lists them in the same order; there,
    the 95% intervals in brackets cover items and annotators, elsewhere items alone. Where people
    judged an item in two rounds, the first round counts. The data also has unanimous items, ties,
    and the Shannon {term}`entropy` expected by a {term}`nonparametric prior` fitted to each
    dataset.""",
)

# %% [markdown]
# (who-gave-the-votes)=
# ## Before you call it disagreement
#
# Look at who gave the votes. Taken at face value, the votes of RTE {cite:p}`snow2008` make it the most divided dataset
# with two labels, at {value}`tbl-crowds dataset=rte disagreement .0%`. But
# {value}`tbl-crowds-annotators dataset=rte n_near d` of its {value}`tbl-crowds-annotators dataset=rte n_annotators d`
# workers, who gave {value}`tbl-crowds-annotators dataset=rte share_of_votes .0%` of the votes, answered almost at random.
# Without them RTE is at {value}`tbl-crowds-annotators dataset=rte disagreement_without .0%`, between αNLI and
# MD-Agreement. This is not merely because we left out people who disagree: when we identify the five on one half of the
# items, the other half changes just as much.
#
# Where annotators are named, the votes themselves show who may be careless. An annotator with at least a hundred votes is
# {term}`near chance` if their agreement with the others, beyond chance, is significantly less than half the median
# person's. On DICES-350, leaving out {value}`tbl-crowds-annotators dataset=dices350 n_near d` of
# {value}`tbl-crowds-annotators dataset=dices350 n_annotators d` annotators changes little, and these may be a careful
# minority: the votes alone cannot settle it.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Annotators near chance, as a table", "code_prompt_hide": "Fold the table"}
has_judged = near_chance.rows["n_judged"] > 0 if len(near_chance) else []
publish_table(
    "tbl-crowds-annotators",
    near_chance,
    shown=near_chance.rows[has_judged] if any(has_judged) else near_chance.rows,
    columns=your_votes.NEAR_COLUMNS,
    caption="""Five workers account for over two fifths of RTE’s disagreement. Annotators near
    chance, in datasets where some people gave at least a hundred votes: their share of the votes,
    and how often two votes on an item differ with and without them. *Beyond chance*: the median
    annotator’s agreement, the highest among those near chance, and the lowest among the others with
    a hundred votes. In brackets, 95% intervals over items and annotators. The data also has the
    other datasets, evenness and {term}`Krippendorff’s α`.""",
) if len(near_chance) else Markdown("This section needs named annotators.")

# %% [markdown]
# (what-choosing-divided-items-does)=
# ## What choosing divided items does
#
# ChaosNLI's SNLI and MNLI items are those whose old label had just three of five votes {cite:p}`nie2020`. What would this
# rule do to a dataset whose items were not chosen? A {term}`nonparametric prior`, fitted to its votes, predicts how five
# people would vote, and how divided everyone is on the items that these five would split three to two, or three to one to
# one. Where items have more than five votes, we can also count this directly.
#
# The rule selects a sixth of OCNLI's items ({value}`tbl-crowds-selection dataset=ocnli seen .0%`). According to the
# prior, it roughly doubles disagreement, from {value}`tbl-crowds-selection dataset=ocnli disagreement .0%` to
# {value}`tbl-crowds-selection dataset=ocnli chosen_disagreement .0%` ({numref}`tbl-crowds-selection`), a value between
# those of SNLI and MNLI. OCNLI's own votes cannot confirm this, since the rule uses up all five; in datasets with votes
# left over, these agree with the prior. So for SNLI and MNLI the atlas shows only the chosen items; the whole datasets
# should lie lower. We cannot compute how much lower: the items on which five people agreed are missing.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "What choosing does to each dataset, as a table", "code_prompt_hide": "Fold the table"}
selection = atlas.selection(crowds, most=most, n_draws=fives, n_resamples=refits, seed=seed)
selection = disagreement.with_disagreement(atlas.by_evenness(selection))
dataset_column, *in_shares = atlas.SELECTION_COLUMNS
publish_table(
    "tbl-crowds-selection",
    selection,
    columns=[dataset_column, *disagreement.SPLIT_ITEMS, *in_shares],
    caption="""Items that split five people three to two, or three to one to one, divide everyone
    else more, too. For datasets with two or three labels: the share of items that are split this
    way, and how divided people are on all items and on the split items. *By votes*: five votes
    drawn at random choose the items and the remaining votes judge them; with no votes left, we have
    only the prior. In brackets, 95% intervals over items; five votes do not determine the prior, so
    the truth may lie outside them. The SNLI and MNLI items had already been chosen this way
    once.""",
)

# %% [markdown]
# (your-crowd-in-the-atlas)=
# ## Your votes in the atlas
#
# `chaos run disagreement -p data=my-votes.csv` adds your votes to the atlas; {doc}`../datasets` explains the formats.
# `chaos run crowd -p data=my-votes.csv` analyses your votes alone.
#
# (what-few-votes-do-to-each-estimate)=
# (how-many-votes-a-dataset-takes)=
# (how-far-this-goes)=
# ## Limitations
#
# ChaosNLI's SNLI and MNLI items were *chosen because five people disagreed*: they are neither the whole of SNLI and MNLI
# nor items known to split a crowd. We count the two leading labels of every item that is not unanimous, however few votes
# the second label has.
#
# Votes are also a sample. The entropy of a hundred votes is slightly too low on average, and a share of one half is
# uncertain by about ten points either way. Where annotators are not named, as in ChaosNLI, intervals cannot show how
# different other people's answers would be. {doc}`ceilings` shows what fewer votes do to each estimate.
#
# The {value}`tbl-crowds count:n_items d` datasets differ in everything at once: task, language, guidelines, people, and
# how items were chosen. The atlas shows how divided these votes are, not which task is harder. WAX's eight annotators are
# too few to represent others: its true value may lie anywhere from {value}`tbl-crowds dataset=wax disagreement_low .0%`
# to {value}`tbl-crowds dataset=wax disagreement_high .0%`. Other measures give a different order: with three labels,
# {term}`Krippendorff’s α` is lowest on the two DICES datasets, where every conversation gets a similar mix of answers.
# Next: {doc}`what one label hides <annotations>`.

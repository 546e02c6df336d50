# %% [markdown]
# # How a hundred people answer
#
# *How much do people disagree, and on what?*
#
# **Two people who read the same MNLI item of ChaosNLI choose different labels
# {value}`tbl-misplaced dataset=mnli "system=one person" misplaced .0f`% of the time, and in most of these cases, one of
# them chooses *neutral*.** For each SNLI and MNLI item, ChaosNLI asked a hundred people whether one sentence follows
# from another (*entailment*), contradicts it (*contradiction*) or does neither (*neutral*). On ChaosNLI's SNLI items,
# two people differ {value}`tbl-misplaced dataset=snli "system=one person" misplaced .0f`% of the time. ChaosNLI chose
# its SNLI and MNLI items because the five original annotators of each had been split. On the αNLI items, which
# have only two labels, two people differ
# {value}`tbl-misplaced dataset=alphanli "system=one person" misplaced .0f`% of the time.
#
# Of the pairs of people who differ, only
# {value}`tbl-contested-pairs dataset=snli first=entailment second=contradiction share_of_differing .0%` on SNLI and
# {value}`tbl-contested-pairs dataset=mnli first=entailment second=contradiction share_of_differing .0%` on MNLI are
# divided between the opposite labels *entailment* and *contradiction*.
#
# Research on *human label variation* asks whether people disagree on an item because a few of them made a mistake,
# because the answer is a matter of degree, or because there are two defensible answers.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
examples: int = 2  # items shown for each dataset and rule
resamples: int = 2000  # bootstrap resamples of the items, for the 95% intervals
most: int = 3000  # most items that the nonparametric prior is fitted on; of more, a sample is drawn
fives: int = 10  # draws of five votes per item
refits: int = 300  # bootstrap resamples to which the prior is fitted anew
seed: int = 0  # seed of all draws

# %%
from IPython.display import Markdown

from chaos_utils.analyses import annotations, atlas, disagreement, your_votes
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.names import join_names
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.atlas import plot_atlas
from chaos_utils.plots.disagreement import plot_entropy, plot_majority_share, plot_simplex
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
# (between-which-labels)=
# ## Labels that divide people

# %%
step = 10  # percentage points from cell to cell
others = [in_markdown(dataset.short) for dataset in inputs.datasets if dataset.n_classes != 3]
no_triangle = f"A triangle needs three labels, so we leave out {join_names(others)}." * bool(others)
publish_figure(
    "fig-simplex",
    plot_simplex,
    disagreement.vote_cells(inputs, step=step),
    caption=f"""Few items lie between entailment and contradiction. The nearer an item is to a corner, the larger the
    share of its votes that went to that corner's label. An item on an edge has no votes for the label of the opposite
    corner. Each dot's area is proportional to the number of items that it represents, and its colour shows the most
    frequent majority label among these items. Dots are spaced {step} percentage points apart, and dots for fewer than
    {disagreement.MIN_ITEMS} items are not drawn. {no_triangle}""",
    alt="""Two triangles contain dots. On SNLI, the large dots lie at the corners and along the edges from neutral to
    entailment and from neutral to contradiction. Few dots are in the middle, and fewest are between entailment and
    contradiction. On MNLI, more dots are in the middle, above all between entailment and neutral.""",
)

# %% [markdown]
# On {value}`tbl-contested-pairs dataset=snli first=entailment second=neutral share .0%` of the SNLI items and
# {value}`tbl-contested-pairs dataset=mnli first=entailment second=neutral share .0%` of the MNLI items, the two most
# frequent labels are entailment and neutral ({numref}`fig-simplex`). The explorer shows
# {explorer}`a triangle with one dot for every SNLI item <dataset=snli>`.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Items by their two leading labels, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-contested-pairs",
    disagreement.contested_pairs([part for part in inputs if part.datasets[0].n_classes > 2]),
    columns=disagreement.CONTESTED_PAIRS,
    caption="""Most disagreement involves the label *neutral*. Items are grouped by their two most frequent labels,
    however few votes the second label has. Unanimous items belong to no pair, and a tie is resolved in favour of the
    label that is listed first. Among all pairs of people who differ on an item, the last column gives the share divided
    between the row's two labels.""",
)

# %% [markdown]
# ## How large the majority is

# %%
publish_figure(
    "fig-majority-share",
    plot_majority_share,
    disagreement.majority_shares(inputs),
    caption="""Large majorities are common on αNLI and rare on MNLI. Each line shows the share of items whose
    {term}`majority label` has at least a given percentage of the votes.""",
    alt="""Three curves fall from left to right. The αNLI curve stays highest, because most items have a majority of
    more than 90%. The SNLI curve falls steadily from half to all of the votes, and the MNLI curve lies below it
    throughout.""",
)

# %% [markdown]
# At least 90% of people choose the same label on {value}`fig-majority-share dataset=snli percent=90 share_at_least .0%`
# of the SNLI items, {value}`fig-majority-share dataset=mnli percent=90 share_at_least .0%` of the MNLI items and
# {value}`fig-majority-share dataset=alphanli percent=90 share_at_least .0%` of the αNLI items
# ({numref}`fig-majority-share`). On {value}`fig-majority-share dataset=mnli percent=60 share_at_most .0%` of the MNLI
# items, no label gets more than 60% of the votes.
#
# The mean {term}`entropy` of an item's votes is {value}`fig-entropy dataset=snli bin=1 mean_bits .2f` bits on SNLI,
# {value}`fig-entropy dataset=mnli bin=1 mean_bits .2f` on MNLI and
# {value}`fig-entropy dataset=alphanli bin=1 mean_bits .2f` on αNLI. Entropy is at most $\log_2 3 = 1.58$ bits with
# three labels and 1 bit with two labels. {cite:t}`nie2020` describe the distribution of entropies on αNLI as U-shaped,
# with people either certain or split. However, much of the peak at high entropy is an artefact of the entropy scale. If
# all splits of the votes were equally frequent,
# {value}`fig-entropy dataset=alphanli bin=20 share_of_splits .0%` of the αNLI items would fall into the last of twenty
# bins, but only {value}`fig-entropy dataset=alphanli bin=20 share .0%` do.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Items by entropy, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-entropy",
    plot_entropy,
    disagreement.entropy_bins(inputs, n_bins=20),
    caption="""People disagree on most SNLI and MNLI items, but much less on αNLI. The histograms show the entropy of
    the items' votes in twenty bins of equal width, and dashed lines mark the means. For two labels, an outline shows
    how many items each bin would hold if all splits of the votes were equally frequent. Compare this figure with Figure
    3 of {cite:t}`nie2020`.""",
    alt="""Three histograms show entropy in bits. SNLI and MNLI have one broad peak at or above one bit. The αNLI
    histogram falls from a high left side and rises again in its last bin, where the outline is higher still.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "How much people agree, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-agreement",
    annotations.agreement(inputs, n_resamples=resamples, seed=seed),
    columns=annotations.AGREEMENT,
    caption=f"""By every measure in the table but ties, people agree most on αNLI and least on MNLI. Brackets
    contain 95% intervals over items ({resamples:,} resamples). Where annotators are identified, the intervals also
    account for the sampling of annotators ({{term}}`jackknife <interval over annotators>`). {{term}}`Fleiss’ κ` is 0 if
    people agree only as often as expected by chance. An item is unanimous if all votes are for one label, and tied if
    two labels share first place.""",
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
    caption=f"""Some old labels look like mistakes, and some items have no single right answer. From each dataset, the
    table shows the {examples} items with the largest majority against the old label and the {examples} items with the
    highest entropy. From left to right, each bar shows the votes for {", or for ".join(labels)}. A majority label that
    differs from the old label is shown in bold, unless it is tied. The downloadable data also include the items that
    {{cite:t}}`nie2020` and {{cite:t}}`baan2022` print as examples.""",
)

# %% tags=["remove-input"]
no_texts = inputs.missing_note("texts", "we show items without them")
is_all_left_out = len(others) == len(inputs.datasets)
Markdown(f"*{no_triangle}*\n\n" * is_all_left_out + no_texts)

# %% [markdown]
# On one SNLI item, {value}`tbl-examples dataset=snli reason="majority changed" max:votes_1` of the hundred people agree
# on a label that differs from the old label ({numref}`tbl-examples`). On the most divided SNLI items, no label gets
# more than {value}`tbl-examples dataset=snli reason="least agreement" max:votes_1` votes, so a few votes decide which
# label leads. You can read all items in {doc}`the explorer <../explorer>` and
# {doc}`label some of them yourself <../annotate>`.

# %% [markdown]
# (an-atlas-of-disagreement)=
# (the-atlas)=
# ## The atlas: how other people answer
#
# For {value}`tbl-crowds count:n_items d` datasets with several votes per item, the atlas shows the
# {term}`quadratic entropy`, which is the chance that two votes on an item differ. The chance can be estimated without
# bias even from few votes, but its maximum grows with the number of labels, so there are separate panels for two,
# three, and four or more labels.

# %%
near_chance = your_votes.near_chance(crowds, n_resamples=resamples, seed=seed)
datasets = atlas.by_disagreement(atlas.atlas(crowds, most=most, n_resamples=resamples, seed=seed))
drawn = atlas.drawn_rows(datasets, atlas.spread(crowds, n_bins=20), near_chance)
publish_figure(
    "fig-atlas",
    plot_atlas,
    disagreement.with_chosen(drawn, ["snli", "mnli", "ambient"]),
    caption="""Among datasets with three labels, people are most divided on the MNLI items and on DICES-350. Points are
    means with 95% intervals over items. Where annotators are identified, the intervals also
    account for the sampling of annotators. Filled points leave out annotators near chance, and hollow points include
    them. Where most items have at least twenty votes, bars show the distribution over items. A tick marks the value
    that would result if all labels were equally frequent. *Chosen* marks datasets whose items were selected because
    they had divided people or because they are ambiguous.""",
    alt="""The three panels are for two labels, for three labels, and for four or more labels. In each, a row for every
    dataset has a point for the chance that two votes on an item differ, and bars for its items. With two labels,
    XHateStability is at the top, and RTE and αNLI are at the bottom; a hollow point shows RTE with all its workers far
    to the right. With three labels, MNLI is at the top, SNLI is in the lower half, and OCNLI is far below. With more
    labels, CSC and WAX are at the top, and CIFAR-10H is far below all others. The interval of WAX is very wide. The
    items of SNLI and of the slider data spread over the whole range.""",
)

# %% [markdown]
# People disagree on every inference dataset in the atlas, but much more often on some than on others
# ({numref}`fig-atlas`). Two people differ {value}`tbl-crowds dataset=ocnli disagreement .0%` of the time on OCNLI
# {cite:p}`hu2020`, {value}`tbl-crowds dataset=lalor disagreement .0%` on the 180 SNLI pairs that a thousand people
# judged {cite:p}`lalor2016`, and {value}`tbl-crowds dataset=mnli disagreement .0%` on the MNLI items that ChaosNLI
# chose. In AmbiEnt {cite:p}`liu2023`, ProbCOPA {cite:p}`kamath2026` and the slider data {cite:p}`pavlick2019`, people
# differ more often than in OCNLI but less often than on the MNLI items.
#
# People are nearly as divided over whether a chatbot's answer is safe as they are over the MNLI items. Two people
# differ {value}`tbl-crowds dataset=dices350 disagreement .0%` of the time on DICES-350 and
# {value}`tbl-crowds dataset=dices disagreement .0%` on DICES-990 {cite:p}`aroyo2023`. When people judge whether a tweet
# is offensive (MD-Agreement, {cite:alp}`leonardelli2021`), whether a reply is ironic (MultiPICo,
# {cite:alp}`casola2024`) or whether a post is hateful (XHateStability, {cite:alp}`abercrombie2023`), two people differ
# {value}`tbl-crowds dataset=md-agreement disagreement .0%` to
# {value}`tbl-crowds dataset=xhatestability disagreement .0%` of the time; 50% would be the maximum. On scales of five
# or six points (POPQUORN, {cite:alp}`pei2023`; CSC, {cite:alp}`jang2024`), most pairs of people differ, but often by
# only one point. When people name what a small picture shows (CIFAR-10H, {cite:alp}`peterson2019`), two people differ
# only {value}`tbl-crowds dataset=cifar10h disagreement .0%` of the time.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All datasets, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-crowds",
    datasets,
    columns=atlas.ATLAS_COLUMNS,
    caption="""Which dataset has the least agreement depends on the measure. The table shows the rate at which two votes
    on an item differ, that rate as a fraction of its maximum, and {term}`Krippendorff’s α`. The rate at which two votes
    differ is highest if all labels are equally frequent. Annotators are counted if the file names them or always lists
    them in the same order. The 95% intervals in brackets are over items and, where annotators are counted, also over
    annotators. Where people judged an item in two rounds, only the first round is used. The downloadable data also
    include the shares of unanimous and of tied items, and the Shannon {term}`entropy` expected under a
    {term}`nonparametric prior`.""",
)

# %% [markdown]
# (who-gave-the-votes)=
# (before-you-call-it-disagreement)=
# ## Check who gave the votes
#
# With all votes counted, RTE {cite:p}`snow2008` has one of the two highest rates of disagreement among datasets with
# two labels: two people differ {value}`tbl-crowds dataset=rte disagreement .0%` of the time. However,
# {value}`tbl-crowds-annotators dataset=rte n_near d` of RTE's {value}`tbl-crowds-annotators dataset=rte n_annotators d`
# workers answered almost at random, and these five gave {value}`tbl-crowds-annotators dataset=rte share_of_votes .0%`
# of the votes. Without these five workers, two people differ only
# {value}`tbl-crowds-annotators dataset=rte disagreement_without .0%` of the time. If the five workers are chosen by
# their votes on one half of the items alone, the rate of disagreement on the other half falls just as far without them.
#
# Where annotators are named, the votes themselves show whose answers are {term}`near chance`, but not why. On
# DICES-350, {value}`tbl-crowds-annotators dataset=dices350 n_near d` of the
# {value}`tbl-crowds-annotators dataset=dices350 n_annotators d` annotators are near chance, but may be a careful
# minority, and leaving them out changes little.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Annotators near chance, as a table", "code_prompt_hide": "Fold the table"}
has_judged = near_chance.rows["n_judged"] > 0 if len(near_chance) else []
publish_table(
    "tbl-crowds-annotators",
    near_chance,
    shown=near_chance.rows[has_judged] if any(has_judged) else near_chance.rows,
    columns=your_votes.NEAR_COLUMNS,
    caption="""Without five workers, disagreement on RTE falls by more than two fifths. The table covers datasets in
    which some people gave at least a hundred votes. For each dataset, it shows the share of votes from annotators near
    chance, and how often two votes on an item differ with and without these annotators. *Beyond chance* is an
    annotator's agreement with the other annotators, corrected for chance. For agreement beyond chance, the table gives
    the median over annotators, the highest value among annotators near chance, and the lowest value among all other
    annotators with at least a hundred votes. Brackets contain 95% intervals over items and annotators. The downloadable
    data also include evenness and {term}`Krippendorff’s α`, and cover all other datasets with named annotators.""",
) if len(near_chance) else Markdown("This section needs named annotators.")

# %% [markdown]
# (what-choosing-divided-items-does)=
# ## The effect of choosing divided items
#
# ChaosNLI's SNLI and MNLI items are those on which the old label got only three of the five original votes
# {cite:p}`nie2020`. What would happen if we chose from other datasets only the items on which people were split? A
# {term}`nonparametric prior` fitted to the votes of a dataset predicts how often five people would be split on an item,
# and how divided other people would be on such items.
#
# On OCNLI, {value}`tbl-crowds-selection dataset=ocnli seen .0%` of the items split their five annotators three to two
# or three to one to one. According to the prior, two people differ
# {value}`tbl-crowds-selection dataset=ocnli chosen_disagreement .0%` of the time on such items, compared with
# {value}`tbl-crowds-selection dataset=ocnli disagreement .0%` on all items ({numref}`tbl-crowds-selection`). OCNLI's
# own votes cannot confirm this estimate, because choosing an item already uses all five of its votes. On datasets with
# more than five votes per item, the remaining votes agree with the prior. People should therefore disagree less often
# on SNLI and MNLI as a whole than on the items that ChaosNLI chose, but we cannot compute how much less often, because
# ChaosNLI left out the items on which five people agreed.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "The effect of choosing divided items on each dataset, as a table", "code_prompt_hide": "Fold the table"}
selection = atlas.selection(crowds, most=most, n_draws=fives, n_resamples=refits, seed=seed)
selection = disagreement.with_disagreement(atlas.by_evenness(selection))
dataset_column, *in_shares = atlas.SELECTION_COLUMNS
publish_table(
    "tbl-crowds-selection",
    selection,
    columns=[dataset_column, *disagreement.SPLIT_ITEMS, *in_shares],
    caption="""Items that split five people three to two or three to one to one also divide other people more than the
    average item does. For datasets with two or three labels, the table shows the share of items that are split in this
    way, and how divided people are on all items and on the split items. *By votes* means that five votes drawn at
    random determine which items are chosen, and that the remaining votes show how divided people are on these items.
    Where no votes remain, only the prior's estimate is available. Brackets contain 95% intervals over items. Five votes
    do not determine the prior, so the true values may lie outside the intervals. ChaosNLI's SNLI and MNLI items had
    themselves been chosen because the five earlier votes on each were split.""",
)

# %% [markdown]
# (your-crowd-in-the-atlas)=
# ## Your votes in the atlas
#
# `chaos run disagreement -p data=my-votes.csv` adds your votes to the atlas, and `chaos run crowd -p data=my-votes.csv`
# analyses your votes on their own. The page {doc}`../datasets` explains the file formats.
#
# (what-few-votes-do-to-each-estimate)=
# (how-many-votes-a-dataset-takes)=
# (how-far-this-goes)=
# ## Limitations
#
# ChaosNLI's SNLI and MNLI items do not represent all of SNLI and MNLI, nor are they items on which a crowd is known to
# be split.
#
# Because a hundred votes are only a sample of people's answers, their entropy is slightly too low on average, and a
# vote share of one half has a margin of error of about ten percentage points. Where annotators are not named, as in
# ChaosNLI, intervals cannot show how much the results would change if other people had voted. The chapter
# {doc}`ceilings` shows how each estimate changes with fewer votes.
#
# The {value}`tbl-crowds count:n_items d` datasets differ in task, language, guidelines, annotators and selection of
# items, so the atlas shows how divided the votes in each dataset are, not which tasks are harder. WAX has only eight
# annotators, so its true rate of disagreement may lie anywhere between
# {value}`tbl-crowds dataset=wax disagreement_low .0%` and {value}`tbl-crowds dataset=wax disagreement_high .0%`. Among
# datasets with three labels, {term}`Krippendorff’s α` is lowest on the two DICES datasets, where every conversation
# gets a similar mix of answers.

# %% [markdown]
# # How a hundred people answer
#
# *How much do people disagree, and on what?*
#
# **Two people who read the same item choose different labels
# {value}`tbl-misplaced dataset=snli "system=one person" misplaced .0f`% of the time on SNLI,
# {value}`tbl-misplaced dataset=mnli "system=one person" misplaced .0f`% on MNLI and
# {value}`tbl-misplaced dataset=alphanli "system=one person" misplaced .0f`% on αNLI.** On SNLI and MNLI, few of these
# disagreements are between opposite labels: only
# {value}`tbl-contested-pairs dataset=snli first=entailment second=contradiction share_of_differing .0%` of them on SNLI
# and {value}`tbl-contested-pairs dataset=mnli first=entailment second=contradiction share_of_differing .0%` on MNLI are
# between *entailment* and *contradiction*, and in all others, one of the two people says *neutral*. ChaosNLI chose its
# SNLI and MNLI items because five earlier annotators had been split over them. We estimate that choosing items in the
# same way would roughly double the disagreement on OCNLI, a Chinese dataset, from
# {value}`tbl-crowds-selection dataset=ocnli disagreement .0%` to
# {value}`tbl-crowds-selection dataset=ocnli chosen_disagreement .0%`.
#
# People may disagree on an item because a few of them made a mistake, because the answer is a matter of degree, or
# because the item has two defensible answers. Research on *human label variation* asks which of these explanations
# applies.

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
# ## Between which labels

# %%
step = 10  # percentage points from cell to cell
others = [in_markdown(dataset.short) for dataset in inputs.datasets if dataset.n_classes != 3]
no_triangle = f"A triangle needs three labels, so we leave out {join_names(others)}." * bool(others)
publish_figure(
    "fig-simplex",
    plot_simplex,
    disagreement.vote_cells(inputs, step=step),
    caption=f"""Few items lie between entailment and contradiction. The nearer an item is to a corner, the larger the
    share of its votes for that corner's label; on an edge, the label of the opposite corner has no votes. The area of a
    dot is proportional to the number of items whose votes are nearest to it, and its colour shows their most frequent
    majority label. Dots are {step} percentage points apart, and dots for fewer than {disagreement.MIN_ITEMS} items are
    not drawn. {no_triangle}""",
    alt="""Two triangles of dots. On SNLI the large dots lie at the corners and along the edges from neutral to
    entailment and from neutral to contradiction; few are in the middle, and fewest between entailment and
    contradiction. On MNLI more of them are in the middle, above all between entailment and neutral.""",
)

# %% [markdown]
# Most often, people are divided between entailment and neutral. These two labels lead on
# {value}`tbl-contested-pairs dataset=snli first=entailment second=neutral share .0%` of the SNLI items and on
# {value}`tbl-contested-pairs dataset=mnli first=entailment second=neutral share .0%` of the MNLI items
# ({numref}`fig-simplex`). We would expect this if people differed in *how strictly* they judge what follows rather than
# in whether they see a contradiction, but votes alone cannot prove that this is the reason. The explorer shows
# {explorer}`the same triangle with a dot for every item <dataset=snli>`.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Items by their two leading labels, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-contested-pairs",
    disagreement.contested_pairs([part for part in inputs if part.datasets[0].n_classes > 2]),
    columns=disagreement.CONTESTED_PAIRS,
    caption="""Most disagreement involves *neutral*. Items are counted by their two most frequent labels, however few
    votes the second label has. Unanimous items belong to no pair, and ties go to the label that is listed first. The
    last column shows how often two people who give different labels to the same item choose these two labels.""",
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
    alt="""Three falling curves. αNLI stays highest: most items have a majority of more than 90%. SNLI falls steadily
    from half to all of the votes, and MNLI lies below it throughout.""",
)

# %% [markdown]
# At least 90% of people agree on {value}`fig-majority-share dataset=snli percent=90 share_at_least .0%` of the SNLI
# items, {value}`fig-majority-share dataset=mnli percent=90 share_at_least .0%` of the MNLI items and
# {value}`fig-majority-share dataset=alphanli percent=90 share_at_least .0%` of the αNLI items
# ({numref}`fig-majority-share`). On {value}`fig-majority-share dataset=mnli percent=60 share_at_most .0%` of the MNLI
# items, no label gets more than 60% of the votes, so any single label misplaces at least forty votes in a hundred.
#
# The mean {term}`entropy` of an item's votes is {value}`fig-entropy dataset=snli bin=1 mean_bits .2f` bits on SNLI,
# {value}`fig-entropy dataset=mnli bin=1 mean_bits .2f` on MNLI and
# {value}`fig-entropy dataset=alphanli bin=1 mean_bits .2f` on αNLI. Entropy is 0 if everyone agrees; its maximum is
# $\log_2 3 = 1.58$ bits with three labels and 1 bit with two. {cite:t}`nie2020` describe the distribution of entropies
# on αNLI as U-shaped: people are either certain or split. However, much of the second peak comes from the scale of
# entropy itself. If all splits were equally frequent, {value}`fig-entropy dataset=alphanli bin=20 share_of_splits .0%`
# of the items would fall into the last bin; in fact, only {value}`fig-entropy dataset=alphanli bin=20 share .0%` do.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Items by entropy, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-entropy",
    plot_entropy,
    disagreement.entropy_bins(inputs, n_bins=20),
    caption="""People disagree on most SNLI and MNLI items, but much less on αNLI. The histograms show the entropy of
    the items' votes in twenty equal bins; dashed lines mark the means. For two labels, an outline shows how many items
    each bin would hold if all splits were equally frequent. Compare this figure with Figure 3 of {cite:t}`nie2020`.""",
    alt="""Three histograms of entropy in bits. SNLI and MNLI have one broad peak at or above one bit; the αNLI
    histogram falls from a high left side and rises again in its last bin, where the outline is higher still.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "How much people agree, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-agreement",
    annotations.agreement(inputs, n_resamples=resamples, seed=seed),
    columns=annotations.AGREEMENT,
    caption=f"""By every statistic, people agree most on αNLI and least on MNLI. Brackets contain 95% intervals over
    items ({resamples:,} resamples), and over annotators where they are named
    ({{term}}`jackknife <interval over annotators>`). {{term}}`Fleiss’ κ` is 0 if people agree no more often than
    expected by chance. All votes on a unanimous item are for one label; in a tie, two labels share first place.""",
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
    caption=f"""Some old labels look like mistakes, and some items have no single answer. The table shows two kinds of
    items from each dataset: the {examples} changed items with the largest new majority, and the {examples} items with
    the highest entropy. From left to right, a bar shows the votes for {", or for ".join(labels)}. A majority that
    differs from the old label is shown in bold, unless it is tied. The downloadable data also include the items that
    {{cite:t}}`nie2020` and {{cite:t}}`baan2022` print.""",
)

# %% tags=["remove-input"]
no_texts = inputs.missing_note("texts", "we show items without them")
is_all_left_out = len(others) == len(inputs.datasets)
Markdown(f"*{no_triangle}*\n\n" * is_all_left_out + no_texts)

# %% [markdown]
# On some items, hardly anyone chooses the old label ({numref}`tbl-examples`). On one SNLI item,
# {value}`tbl-examples dataset=snli reason="majority changed" max:votes_1` of the hundred people choose another label.
# Other items divide people almost evenly: on the most divided SNLI items, no label gets more than
# {value}`tbl-examples dataset=snli reason="least agreement" max:votes_1` votes, so a few votes decide which label
# leads. You can read all items in {doc}`the explorer <../explorer>`, or {doc}`be one of the hundred <../annotate>` and
# answer some of them yourself.

# %% [markdown]
# (an-atlas-of-disagreement)=
# (the-atlas)=
# ## The atlas: how other people answer
#
# Are people more divided on ChaosNLI than on other datasets? The atlas shows {value}`tbl-crowds count:n_items d`
# datasets with several votes per item, some of which are for tasks other than inference. The chance that two votes on
# an item differ (its {term}`quadratic entropy`) can be estimated without bias even from few votes. Its maximum grows
# with the number of labels, so there are separate panels for two, three, and four or more labels.

# %%
near_chance = your_votes.near_chance(crowds, n_resamples=resamples, seed=seed)
datasets = atlas.by_disagreement(atlas.atlas(crowds, most=most, n_resamples=resamples, seed=seed))
drawn = atlas.drawn_rows(datasets, atlas.spread(crowds, n_bins=20), near_chance)
publish_figure(
    "fig-atlas",
    plot_atlas,
    disagreement.with_chosen(drawn, ["snli", "mnli", "ambient"]),
    caption="""Among datasets with three labels, people are most divided on the MNLI items, followed by the two DICES
    datasets. Points are means with 95% intervals over items, and over annotators where they are named. Filled points
    leave out annotators near chance, and hollow points include them. Where most items have at least twenty votes, bars
    show how the items are distributed. A tick marks the value if all labels were equally frequent. *Chosen* means that
    items were selected because people had been split over them, or because they are ambiguous.""",
    alt="""Three panels, for two labels, three, and four or more, each with a row for every dataset: a point for the
    chance that two votes on an item differ, and bars for its items. With two labels XHateStability is at the top, RTE
    and αNLI at the bottom; a hollow point shows RTE with all its workers far to the right. With three labels, MNLI is
    at the top, SNLI in the lower half, OCNLI far below. With more labels, CSC and WAX are at the top and CIFAR-10H
    far below all others. The interval of WAX is very wide. The items of SNLI and of the slider data spread over the
    whole range.""",
)

# %% [markdown]
# People disagree on every inference dataset in the atlas, but not equally ({numref}`fig-atlas`). Two people differ on
# {value}`tbl-crowds dataset=ocnli disagreement .0%` of the items in OCNLI {cite:p}`hu2020`, on
# {value}`tbl-crowds dataset=lalor disagreement .0%` of the 180 SNLI pairs that a thousand people judged
# {cite:p}`lalor2016`, and on {value}`tbl-crowds dataset=mnli disagreement .0%` of the MNLI items that ChaosNLI chose.
# AmbiEnt, whose sentences were picked for their ambiguity {cite:p}`liu2023`, ProbCOPA {cite:p}`kamath2026` and the
# slider data {cite:p}`pavlick2019` lie between these values.
#
# Whether a chatbot's answer is safe divides people nearly as much as the MNLI items do: two people differ on
# {value}`tbl-crowds-annotators dataset=dices350 disagreement_without .0%` of the items in DICES-350 and on
# {value}`tbl-crowds dataset=dices disagreement .0%` of the items in DICES-990 {cite:p}`aroyo2023`. When people judge
# whether a tweet is offensive (MD-Agreement, {cite:alp}`leonardelli2021`), a reply is ironic (MultiPICo,
# {cite:alp}`casola2024`) or a post is hateful (XHateStability, {cite:alp}`abercrombie2023`),
# {value}`tbl-crowds dataset=md-agreement disagreement .0%` to
# {value}`tbl-crowds dataset=xhatestability disagreement .0%` of pairs of people differ; with two labels, the maximum is
# 50%. On scales of five or six points (POPQUORN, {cite:alp}`pei2023`; CSC, {cite:alp}`jang2024`), most pairs differ,
# often by a single step. When people say what a small picture shows (CIFAR-10H, {cite:alp}`peterson2019`), only
# {value}`tbl-crowds dataset=cifar10h disagreement .0%` of pairs differ.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All datasets, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-crowds",
    datasets,
    columns=atlas.ATLAS_COLUMNS,
    caption="""Which dataset has the least agreement depends on the measure. The table shows how often two votes on an
    item differ, this rate as a share of its maximum (all labels equally frequent), and {term}`Krippendorff’s α`.
    Annotators are counted if the file names them or always lists them in the same order. If so, the 95% intervals in
    brackets are over items and annotators; if not, they are over items only. Where people judged an item in two rounds,
    only the first round is used. The downloadable data also include unanimous items, ties, and the Shannon
    {term}`entropy` expected under a {term}`nonparametric prior`.""",
)

# %% [markdown]
# (who-gave-the-votes)=
# ## Before you call it disagreement
#
# Look at who gave the votes. If we count all votes, RTE {cite:p}`snow2008` is the most divided dataset with two labels,
# at {value}`tbl-crowds dataset=rte disagreement .0%`. However, {value}`tbl-crowds-annotators dataset=rte n_near d` of
# its {value}`tbl-crowds-annotators dataset=rte n_annotators d` workers, who gave
# {value}`tbl-crowds-annotators dataset=rte share_of_votes .0%` of the votes, answered almost at random. Without them,
# the rate falls to {value}`tbl-crowds-annotators dataset=rte disagreement_without .0%`, which lies between αNLI and
# MD-Agreement. The rate does not fall merely because we left out people who disagree: if we identify the five workers
# from one half of the items, it falls just as much on the other half.
#
# Where annotators are named, the votes themselves show whose answers are {term}`near chance`, but not why. On
# DICES-350, leaving out {value}`tbl-crowds-annotators dataset=dices350 n_near d` of
# {value}`tbl-crowds-annotators dataset=dices350 n_annotators d` annotators changes little, and these annotators may in
# fact be a careful minority.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Annotators near chance, as a table", "code_prompt_hide": "Fold the table"}
has_judged = near_chance.rows["n_judged"] > 0 if len(near_chance) else []
publish_table(
    "tbl-crowds-annotators",
    near_chance,
    shown=near_chance.rows[has_judged] if any(has_judged) else near_chance.rows,
    columns=your_votes.NEAR_COLUMNS,
    caption="""Five workers account for more than two fifths of the disagreement on RTE. The table covers datasets in
    which some people gave at least a hundred votes. It shows what share of the votes come from annotators near chance,
    and how often two votes on an item differ with and without these annotators. *Beyond chance* is agreement with the
    other annotators, corrected for chance. The table gives the median over annotators, the highest value among those
    near chance, and the lowest value among all others with at least a hundred votes. Brackets contain 95% intervals
    over items and annotators. The downloadable data also include the other datasets, evenness and
    {term}`Krippendorff’s α`.""",
) if len(near_chance) else Markdown("This section needs named annotators.")

# %% [markdown]
# (what-choosing-divided-items-does)=
# ## What choosing divided items does
#
# ChaosNLI's SNLI and MNLI items are those whose old label got only three of five votes {cite:p}`nie2020`. What would
# this rule do to a dataset whose items were not chosen? A {term}`nonparametric prior`, fitted to its votes, predicts
# how often five people would split three to two, or three to one to one, and how divided people in general are on those
# items.
#
# The rule selects {value}`tbl-crowds-selection dataset=ocnli seen .0%` of OCNLI's items and, according to the prior,
# roughly doubles the disagreement, which then lies between SNLI's and MNLI's ({numref}`tbl-crowds-selection`). OCNLI's
# own votes cannot confirm this, because the rule uses all five of them. For datasets with more votes per item, the
# remaining votes agree with the prior. SNLI and MNLI as a whole should therefore lie lower in the atlas than the chosen
# items do. We cannot compute how much lower, because ChaosNLI left out the items on which five people agreed.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "What choosing divided items does to each dataset, as a table", "code_prompt_hide": "Fold the table"}
selection = atlas.selection(crowds, most=most, n_draws=fives, n_resamples=refits, seed=seed)
selection = disagreement.with_disagreement(atlas.by_evenness(selection))
dataset_column, *in_shares = atlas.SELECTION_COLUMNS
publish_table(
    "tbl-crowds-selection",
    selection,
    columns=[dataset_column, *disagreement.SPLIT_ITEMS, *in_shares],
    caption="""Items that split five people three to two, or three to one to one, also divide everyone else more. For
    datasets with two or three labels, the table shows the share of items that are split this way, and how divided
    people are on all items and on the split items. *By votes* means that the items are chosen by five votes drawn at
    random, and that the remaining votes show how divided people are on these items. Where no votes remain, only the
    prior is available. Brackets contain 95% intervals over items. Five votes do not determine the prior, so the truth
    may lie outside these intervals. The SNLI and MNLI items had already been chosen in this way once.""",
)

# %% [markdown]
# (your-crowd-in-the-atlas)=
# ## Your votes in the atlas
#
# `chaos run disagreement -p data=my-votes.csv` adds your votes to the atlas, and `chaos run crowd -p data=my-votes.csv`
# analyses your votes alone. The page {doc}`../datasets` explains the formats.
#
# (what-few-votes-do-to-each-estimate)=
# (how-many-votes-a-dataset-takes)=
# (how-far-this-goes)=
# ## Limitations
#
# ChaosNLI's SNLI and MNLI items were *chosen because five people disagreed*, so they represent neither all of SNLI and
# MNLI nor items that are known to split a crowd. The votes are also a sample. The entropy of a hundred votes is
# slightly too low on average, and a share of one half is uncertain by about ten percentage points either way. Where
# annotators are not named, as in ChaosNLI, intervals cannot show how much the answers of other people would differ. The
# chapter {doc}`ceilings` shows how each estimate changes if there are fewer votes.
#
# The {value}`tbl-crowds count:n_items d` datasets differ in task, language, guidelines, people and choice of items all
# at once, so the atlas shows how divided these votes are, not which task is harder. WAX has only eight annotators, so
# its true rate of disagreement may lie anywhere between {value}`tbl-crowds dataset=wax disagreement_low .0%` and
# {value}`tbl-crowds dataset=wax disagreement_high .0%`. Other measures give a different order: among datasets with
# three labels, {term}`Krippendorff’s α` is lowest on the two DICES datasets, where every conversation gets a similar
# mix of answers.
#
# The next chapter asks {doc}`what one label hides <annotations>`.

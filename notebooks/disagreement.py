# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The shape of disagreement
#
# An item on which people disagree may be a slip, a matter of degree, or a question with two
# answers. The hundred votes show which shapes occur, and how little of them five votes could
# show.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder

# %%
from IPython.display import Markdown

from chaos_utils.analyses import disagreement
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.names import dataset_name, listed
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.disagreement import (
    plot_entropy,
    plot_majority_share,
    plot_original_votes,
    plot_simplex,
)
from chaos_utils.report.columns import number
from chaos_utils.report.figures import publish_figure

material = gather(data)

# %% tags=["remove-input"]
Markdown(notices(material))

# %% [markdown]
# ## Entropy
#
# The {term}`entropy` of an item's votes is 0 when all agree. Its largest value is
# $\log_2 3 = 1.58$ bits with three labels and 1 bit with two.

# %%
entropies = disagreement.entropy_bins(material, n_bins=20)
publish_figure(
    "fig-entropy",
    plot_entropy,
    entropies,
    caption="""Entropy of the votes, item by item. Twenty equal bins over each dataset's whole
    range; the dashed line is the mean. Compare Figure 3 of {cite:t}`nie2020`.""",
    alt="""Three histograms of entropy in bits. SNLI and MNLI have one broad peak at or above
    one bit; the αNLI histogram falls from a high left side and rises again in its last bin.""",
)

# %% tags=["remove-input"]
majorities = disagreement.majority_shares(material)
each = entropies.rows.drop_duplicates("dataset")
means = [f"{row.mean_bits:.3f} bits on {dataset_name(row.dataset)}" for row in each.itertuples()]
text = f"In {{numref}}`fig-entropy`, the mean entropy is {listed(means)}."
n_votes = each.set_index("dataset")["n_votes"]
if material.is_book and n_votes.notna().all():
    thirds = disagreement.entropy_bins(material.named("alphanli"), n_bins=3).rows["share"]
    even, most = disagreement.even_splits(0.95, n_votes["alphanli"])
    top = entropies.on("alphanli").rows["share"].iloc[-1]
    at_least = majorities.on("alphanli").rows.set_index("percent")["share_at_least"]
    tens = [at_least[low] - at_least[low + 10] for low in (50, 60, 70, 80, 90)]
    text = (
        "The paper reads two shapes from this figure: one peak for SNLI and MNLI, and a U for "
        f"αNLI. {{numref}}`fig-entropy` shows both. Mean entropies are {listed(means)}, "
        f"where {thirds[0]:.0%} of the items lie in the lowest third of the range, "
        f"{thirds[1]:.0%} in the middle third and {thirds[2]:.0%} in the highest.\n\n"
        "Read the right arm of the U with care. With two labels, entropy is flat around an even "
        "split, so that many different splits share the last bin: all that give the larger label "
        f"up to {most} votes. If every split were equally frequent, {even:.0%} of the items would "
        f"lie at 0.95 bits or more; {top:.1%} do. The arm is in the scale as much as in the "
        f"people: counted by the votes for the majority, {tens[0]:.0%} of the αNLI items have 50 "
        f"to 59, {tens[1]:.0%} have 60 to 69, {tens[2]:.0%} have 70 to 79, {tens[3]:.0%} have 80 "
        f"to 89 and {tens[4]:.0%} have 90 to 99 ({{numref}}`fig-majority-share`)."
    )
Markdown(text)

# %%
publish_figure(
    "fig-majority-share",
    plot_majority_share,
    majorities,
    caption="""Share of items on which at least so many of the votes are for the majority
    label. A line that stays high to the right means agreement.""",
    alt="""Three falling curves. αNLI stays highest: most items have a majority of more than 90%.
    SNLI falls steadily from half to all of the votes, and MNLI lies below it throughout.""",
)

# %% tags=["remove-input"]
strong = majorities.rows[majorities.rows["percent"] == 90]
agreed = [
    f"{row.share_at_least:.0%} of the {dataset_name(row.dataset)} items"
    for row in strong.itertuples()
]
bare = majorities.rows[majorities.rows["percent"] == 60]["share_at_most"]
Markdown(
    f"Nine of ten votes agree on {listed(agreed)}. At the other end, no label has more than 60% of "
    f"the votes on {listed([f'{share:.0%}' for share in bare])} ({{numref}}`fig-majority-share`)."
)

# %% [markdown]
# ## Between which labels
#
# Entropy does not say between *which* labels people are torn. With three labels, an item's votes
# are a point in a triangle.

# %%
step = 10  # percentage points from cell to cell
cells = disagreement.vote_cells(material, step=step)
result = None
if len(cells):
    corners = dict.fromkeys(listed(one.labels) for one in material.datasets if one.n_classes == 3)
    rest = cells.rows[cells.rows["percent_1"].isna()]
    fewer = [f"{row.n_items} of {dataset_name(row.dataset)}" for row in rest.itertuples()]
    not_drawn = f"items elsewhere ({listed(fewer)}) are not drawn" if fewer else "all are drawn"
    result = publish_figure(
        "fig-simplex",
        plot_simplex,
        cells,
        caption=f"""Every item's votes in the triangle of {"; ".join(corners)}. At a corner all votes
        are for that label, on an edge none are for the opposite one; grid lines mark quarters of the
        votes. A dot's area is the number of items whose votes are nearest to its place, its colour
        the majority of most of them. The places are {step} percentage points apart; those with fewer
        than {disagreement.MIN_ITEMS} items are left empty: {not_drawn}.""",
        alt="""Two triangles of dots. On SNLI the large dots lie at the corners and along the
        edges from neutral to entailment and from neutral to contradiction, with few in the middle
        and fewest between entailment and contradiction. On MNLI they spread more into the middle,
        above all between entailment and neutral.""",
    )
result

# %% tags=["remove-input"]
several = [one for one in material if one.datasets[0].n_classes > 2]
contested = disagreement.contested_pairs(several).rows
sentences = []
for dataset in contested["dataset"].unique() if len(contested) else ():
    pairs = contested[contested["dataset"] == dataset]
    largest = pairs.loc[pairs["share"].nlargest(3).index.sort_values()]
    shares = [f"{row.first} and {row.second} on {row.share:.0%}" for row in largest.itertuples()]
    shares[0] += " of the items"
    sentences.append(
        f"on {dataset_name(dataset)} the two leading labels are {', '.join(shares[:-1])}, and {shares[-1]}"
    )
text = f"{'; '.join(sentences)}." if sentences else ""
text = text[:1].upper() + text[1:]
if material.is_book:
    text = (
        f"In {{numref}}`fig-simplex`, {'; '.join(sentences)}. Neutral is where most disagreement "
        "turns."
    )
others = [one.short for one in material.datasets if one.n_classes != 3]
if others:
    verb = "is" if len(others) == 1 else "are"
    text += f"\n\n*{listed(others)} {verb} left out here: a triangle needs three labels.*"
Markdown(text)

# %% [markdown]
# ## What five votes could show
#
# ChaosNLI took its SNLI and MNLI items from those whose old label had exactly three of the
# original votes, of five on all but a few items. By that count, all these items are equally
# contested: 60% to 40%.

# %%
binned = disagreement.original_votes_bins(material)
result = None
if len(binned):
    result = publish_figure(
        "fig-original-votes",
        plot_original_votes,
        binned,
        caption="""What the old votes said against what the new ones say. Upper row: the old label's
        share of the new votes; the dashed line is its share of the old ones (on SNLI and MNLI 60%,
        but for the few items with four old votes). Lower row: entropy of the new votes, cumulated,
        by how the old ones split, for items with the usual number of them; dotted lines mark the
        entropy of the old votes themselves.""",
        alt="""Four panels. Above, histograms of the old label's share among a hundred votes spread
        from almost none to almost all, far to both sides of the 60% that the five votes gave.
        Below, cumulative curves of entropy for items with old votes split 3-2 and 3-1-1: the two
        curves lie close together, though the five votes' own entropies, which dotted lines mark,
        are far apart.""",
    )
result

# %% tags=["remove-input"]
original = disagreement.original_votes(material).rows
of_all = original[original["pattern"] == disagreement.ALL].set_index("dataset")
if material.is_book:
    after, kept, far, n_sure = (
        of_all[name]
        for name in ("mean_share_after", "chance_of_selection", "share_far", "n_nearly_all")
    )
    pattern = (
        original.pivot(index="dataset", columns="pattern", values="mean_entropy_bits_after")
        .reindex(index=["snli", "mnli"], columns=["3-2", "3-1-1"])
        .map(lambda mean: number(mean, 2))
    )
    text = (
        f"{{numref}}`fig-original-votes` takes that apart. The old label's share among a hundred "
        f"votes has mean {after['snli']:.0%} on SNLI and {after['mnli']:.0%} on MNLI, but "
        f"lies more than 20 points from 60% on {far['snli']:.0%} and {far['mnli']:.0%} of the "
        "items: a split of three to two is weak evidence of a split crowd.\n\n"
        f"The selection itself bends the picture. {n_sure['snli']} SNLI and {n_sure['mnli']} MNLI "
        "items have a crowd that stands behind the old label with 95 votes or more; they are here "
        "because two of their five first annotators did not. If five new votes were drawn from "
        f"each item's crowd, only {kept['snli']:.0%} of the SNLI items and {kept['mnli']:.0%} of "
        "the MNLI items would be expected to pass the three-of-five rule again. So entropies in "
        "this book describe items *chosen for dispute among five people*; they are neither those "
        "of the whole datasets nor those of items on which the crowd is known to be split.\n\n"
        "Nor does the pattern of the five say much: items that split 3-1-1 have a mean entropy of "
        f"{pattern.loc['snli', '3-1-1']} bits on SNLI and {pattern.loc['mnli', '3-1-1']} on MNLI, "
        f"those that split 3-2 {pattern.loc['snli', '3-2']} and {pattern.loc['mnli', '3-2']}."
    )
else:
    means = [
        f"{row.mean_share_after:.0%} on {dataset_name(row.Index)}" for row in of_all.itertuples()
    ]
    text = f"The old label's mean share of the new votes is {listed(means)}." if means else ""
Markdown(f"{text}\n\n{material.left_out('old votes')}")

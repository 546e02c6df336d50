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
from functools import partial

from IPython.display import Markdown

from chaos_utils import description
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.plots.disagreement import (
    plot_entropy,
    plot_majority_share,
    plot_original_votes,
    plot_simplex,
)
from chaos_utils.presentation.annotations import listed, name_of
from chaos_utils.report.columns import number
from chaos_utils.report.figures import publish_figure

all_votes = load_all_votes(data)
n_votes = description.votes_per_item(all_votes)
is_book = description.shows_the_book(all_votes)
items = description.items(all_votes)

# %% tags=["remove-input"]
Markdown(description.data_notice(all_votes))

# %% [markdown]
# ## Entropy
#
# The {term}`entropy` of an item's votes is 0 when all agree. Its largest value is
# $\log_2 3 = 1.58$ bits with three labels and 1 bit with two.

# %%
publish_figure(
    "fig-entropy",
    partial(plot_entropy, n_votes=n_votes),
    items[["dataset", "uid", "entropy_bits"]],
    caption="""Entropy of the votes, item by item. Twenty equal bins over each dataset's whole
    range; the dashed line is the mean. Compare Figure 3 of {cite:t}`nie2020`.""",
    alt="""Three histograms of entropy in bits. SNLI and MNLI have one broad peak at or above
    one bit; the αNLI histogram falls from a high left side and rises again in its last bin.""",
)

# %% tags=["remove-input"]
means = [
    f"{bits:.3f} bits on {name_of(dataset)}"
    for dataset, bits in items.groupby("dataset", sort=False)["entropy_bits"].mean().items()
]
text = f"In {{numref}}`fig-entropy`, the mean entropy is {listed(means)}."
if is_book and n_votes:
    alpha = items[items["dataset"] == "alphanli"]
    thirds = description.entropy_thirds(alpha["entropy_bits"])
    even, most = description.even_splits(0.95, n_votes)
    top = (alpha["entropy_bits"] >= 0.95).mean()
    tens = [
        alpha["majority_share"].between(low, low + 0.095).mean()
        for low in (0.5, 0.6, 0.7, 0.8, 0.9)
    ]
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
    items[["dataset", "uid", "majority_share"]],
    caption="""Share of items on which at least so many of the votes are for the majority
    label. A line that stays high to the right means agreement.""",
    alt="""Three falling curves. αNLI stays highest: most items have a majority of more than 90%.
    SNLI falls steadily from half to all of the votes, and MNLI lies below it throughout.""",
)

# %% tags=["remove-input"]
majority = items.groupby("dataset", sort=False)["majority_share"]
strong = majority.agg(lambda shares: (shares >= 0.9).mean())
bare = majority.agg(lambda shares: (shares <= 0.6).mean())
agreed = [f"{share:.0%} of the {name_of(dataset)} items" for dataset, share in strong.items()]
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
three_way = [o for o in all_votes if o.dataset.n_classes == 3]
result = None
if three_way:
    points = description.items(three_way)
    corners = dict.fromkeys(listed(o.dataset.labels) for o in three_way)
    result = publish_figure(
        "fig-simplex",
        plot_simplex,
        points[["dataset", "uid", "share_1", "share_2", "share_3", "majority_label"]],
        caption=f"""Every item's votes in the triangle of {"; ".join(corners)}.
        At a corner all votes are for that label, on an edge none are for the opposite one; grid
        lines mark quarters of the votes. Colours show the majority; larger points are several items
        with the same votes.""",
        alt="""Two triangles full of points. On SNLI the points crowd at the corners and along the
        edges from neutral to entailment and from neutral to contradiction, with few in the middle
        and fewest between entailment and contradiction. On MNLI they spread more into the middle,
        above all between entailment and neutral.""",
    )
result

# %% tags=["remove-input"]
sentences = []
for dataset, pairs in description.contested_pairs(all_votes).groupby("dataset", sort=False):
    largest = pairs.loc[pairs["share"].nlargest(3).index.sort_values()]
    shares = [f"{row.first} and {row.second} on {row.share:.0%}" for row in largest.itertuples()]
    shares[0] += " of the items"
    sentences.append(
        f"on {name_of(dataset)} the two leading labels are {', '.join(shares[:-1])}, and {shares[-1]}"
    )
text = f"{'; '.join(sentences)}." if sentences else ""
text = text[:1].upper() + text[1:]
if is_book:
    text = (
        f"In {{numref}}`fig-simplex`, {'; '.join(sentences)}. Neutral is where most disagreement "
        "turns."
    )
Markdown(f"{text}\n\n{description.without_triangle(all_votes)}")

# %% [markdown]
# ## What five votes could show
#
# ChaosNLI took its SNLI and MNLI items from those whose old label had exactly three of the
# original votes, of five on all but a few items. By that count, all these items are equally
# contested: 60% to 40%.

# %%
original = description.original_votes(all_votes)
result = None
if len(original):
    result = publish_figure(
        "fig-original-votes",
        partial(plot_original_votes, n_votes=n_votes),
        original,
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
if is_book:
    by_dataset = original.groupby("dataset")
    after, kept = (
        by_dataset["old_label_share_after"].mean(),
        by_dataset["chance_of_selection"].mean(),
    )
    points = (100 * original["old_label_share_after"] - 60).abs().round(6)
    far = original.assign(far=points > 20).groupby("dataset")["far"].mean()
    sure = original[original["old_label_share_after"] >= 0.95]
    n_sure = sure.groupby("dataset").size().reindex(["snli", "mnli"], fill_value=0)
    pattern = (
        original.pivot_table(index="dataset", columns="pattern", values="entropy_bits_after")
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
    shares = (
        original.groupby("dataset", sort=False)["old_label_share_after"] if len(original) else []
    )
    means = [f"{values.mean():.0%} on {name_of(dataset)}" for dataset, values in shares]
    text = f"The old label's mean share of the new votes is {listed(means)}." if means else ""
Markdown(f"{text}\n\n{description.left_out(all_votes, 'old votes')}")

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
# # What a hundred votes change
#
# Natural language inference datasets give each item one label, settled by a handful of
# annotators. {cite:t}`nie2020` asked a hundred people instead. How often does the crowd
# overrule the label that models were trained and scored on, and how far do people agree at all?

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
resamples: int = 2000  # bootstrap resamples of the items, for the 95% intervals
examples: int = 3  # items shown for each dataset and rule
seed: int = 0  # seed of the bootstrap

# %%
from IPython.display import Markdown

from chaos_utils.analyses import annotations
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.names import dataset_name, listed
from chaos_utils.analyses.notices import notices
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.plots.annotations import plot_label_transitions
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table

material = gather(data)

# %% tags=["remove-input"]
Markdown(notices(material))

# %% [markdown]
# ## How many majorities changed
#
# An item's {term}`majority <majority label>` has *changed* when the most frequent of its hundred
# new labels is not the label of the original dataset. Where two labels tie, the file's stored
# majority decides, as it did for the authors.

# %% tags=["remove-input"]
Markdown(material.left_out("old labels"))

# %%
statistics = annotations.data_statistics(material)
result = None
if len(statistics):
    result = publish_table(
        "tbl-data-statistics",
        statistics,
        columns=annotations.DATA_STATISTICS,
        caption="""Items and changed majorities, published beside reproduced. The columns headed
        *paper* hold Table 2 of {cite:t}`nie2020`, those headed *here* what these files hold. The last rate of a dataset divides by the
        published size of the whole development set; for αNLI the paper gives none.""",
    )
result

# %% tags=["remove-input"]
overruled = [
    f"{row.change_rate_percent:.2f}% of the {dataset_name(row.dataset)} labels"
    for row in statistics.rows.itertuples()
]
gap = statistics.rows.filter(regex="difference_change_rate").abs().max().max()
parts = []
if overruled:
    parts.append(f"On {{numref}}`tbl-data-statistics`, the crowd overrules {listed(overruled)}.")
    if gap >= 0:
        parts.append(f"The largest distance from a published rate is {gap:.3f} percentage points.")
Markdown(" ".join(parts))

# %% [markdown]
# The SNLI and MNLI items were not drawn at random: they are ones on which the five original
# annotators were split, exactly three of them behind the label ({numref}`fig-original-votes`
# shows what that does). The rates say how fragile such labels are, not how wrong the datasets
# are as a whole; that is what the rate over
# the full development set is for.

# %% [markdown]
# ## Where the labels went

# %%
counts = annotations.label_counts(material)
shown, columns = annotations.by_label(counts.rows)
publish_table(
    "tbl-label-counts",
    counts,
    shown=shown,
    columns=columns,
    caption="""Majorities and single votes for each label, published beside reproduced. The
    columns headed *paper* hold Table 7 of {cite:t}`nie2020`, those headed *here* what these
    files hold, and Δ is here minus paper. In parentheses, the change from the old majority.""",
)

# %% tags=["remove-input"]
off = counts.rows[counts.rows["difference"].fillna(0) != 0]
new_votes = counts.rows[counts.rows["statistic"] == "new_raw_count"]
totals = new_votes.groupby("dataset", sort=False)[["value", "published"]].sum()
in_paper = totals.index[totals["published"] > 0]
parts = [
    "In {numref}`tbl-label-counts`, what differs from the paper is "
    f"{', '.join(annotations.COUNT_NAMES[name] for name in off['statistic'].unique())}."
    if len(off)
    else "Every count in {numref}`tbl-label-counts` equals the paper's."
]
parts += [
    f"The paper's new votes for {dataset_name(dataset)} sum to "
    f"{totals.loc[dataset, 'published']:,.0f}; the file here holds {totals.loc[dataset, 'value']:,}."
    for dataset in in_paper
]
parts.append(
    "Released data and paper are not vote for vote the same: every item of the released files "
    "has exactly one hundred votes, so their sums are multiples of the number of items, and the "
    "paper's are not."
)
Markdown(" ".join(parts) if len(in_paper) else "")

# %%
transitions = annotations.label_transitions(material)
result = None
if len(transitions):
    result = publish_figure(
        "fig-label-transitions",
        plot_label_transitions,
        transitions,
        caption="""From old label to new majority. Items by the label of the original dataset
        (rows) and the majority of the new votes (columns); below each count, its share of
        the row.""",
        alt="""Three heat maps, one for each dataset. Most items lie on the diagonal, where the old
        label is still the majority. On SNLI the largest shares off the diagonal lead to neutral;
        on MNLI neutral items move to entailment, and contradictions to neutral.""",
    )
result

# %% tags=["remove-input"]
text = ""
if len(transitions):
    moved = transitions.rows.query("old_label != new_majority and n > 0")
    largest = moved.loc[moved.groupby("dataset", sort=False)["n"].idxmax()]
    routes = [
        f"from {row.old_label} to {row.new_majority} on {dataset_name(row.dataset)} "
        f"({row.n} items, {row.row_share:.0%} of that old label)"
        for row in largest.itertuples()
    ]
    text = (
        "The labels do not change places evenly. The most travelled ways off the diagonal of "
        f"{{numref}}`fig-label-transitions` lead {'; '.join(routes)}."
        if routes
        else "No majority differs from the old label."
    )
Markdown(f"{text}\n\n{material.left_out('old labels')}")

# %% [markdown]
# ## How far people agree

# %%
agreement = annotations.agreement(material, n_resamples=resamples, seed=seed)
publish_table(
    "tbl-agreement",
    agreement,
    columns=annotations.AGREEMENT,
    caption=f"""Agreement among the annotators of an item. In brackets, 95% bootstrap
    intervals over items ({resamples:,} resamples, percentile method). Ties are items whose two
    most frequent labels have equally many votes; unanimous items have all votes on one label.
    Fleiss’ κ is 0 for the agreement that chance alone would give.""",
)

# %% tags=["remove-input"]
by_dataset = agreement.rows.set_index("dataset")
footnote = read_published("nie2020_other").set_index("quantity")["value"]
agreeing, unanimous = [], []
for row in agreement.rows.itertuples():
    name = dataset_name(row.dataset)
    agreeing.append(f"{row.mean_pairwise_agreement:.0%} of the time on {name}")
    unanimous.append(f"{row.n_unanimous / row.n_examples:.1%} of the {name} items")
entropies = (
    ""
    if "snli" not in by_dataset.index
    else f" The paper's footnote gives a mean entropy of {footnote['mean_entropy_bits']:.2f} bits for "
    f"SNLI; here it is {by_dataset.loc['snli', 'mean_entropy_bits']:.3f} bits."
)
Markdown(
    "By {numref}`tbl-agreement`, two people who judge the same item agree "
    f"{listed(agreeing)}. All votes are for one label on "
    f"{listed(unanimous)}." + entropies
)

# %% [markdown]
# The release holds counts, not who gave which vote. Statistics that need annotators' identities
# (Cohen's κ between two people, an annotator's bias) cannot be computed from it.
#
# ## Items to read

# %%
chosen = annotations.examples(material, n_each=examples)
labels = dict.fromkeys(listed(one.labels) for one in material.datasets)
result = None
if len(chosen):
    result = publish_table(
        "tbl-examples",
        chosen,
        columns=annotations.EXAMPLES,
        caption=f"""Items on which people agree least, items whose majority changed, and the papers'
        own examples. For each dataset, the {examples} items of highest entropy and the {examples}
        with a changed majority whose new majority is largest; then those that {{cite:t}}`nie2020`
        and {{cite:t}}`baan2022` print. A bar shows the votes, from the left {", or ".join(labels)}.""",
    )
result

# %% tags=["remove-input"]
Markdown(material.left_out("texts", "items are shown without them"))

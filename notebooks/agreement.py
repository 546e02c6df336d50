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
# # How human agreement decides a score
#
# A model's score is a mean over items on which people agree and items on which they do not.
# {cite:t}`nie2020` cut the items into five bins by the {term}`entropy` of their hundred votes. How
# much of a score is decided by human agreement, and is anything left where people disagree most?

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
bins: int = 5  # quantile bins of the entropy; the published numbers have five
resamples: int = 10_000  # bootstrap resamples of each bin's items, for intervals and p-values
seed: int = 0  # seed of the bootstrap

# %%
from IPython.display import Markdown

from chaos_utils.analyses import agreement
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.names import dataset_name
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.bins import plot_accuracy_by_entropy, plot_jsd_by_entropy
from chaos_utils.presentation import agreement as presentation
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table

material = gather(data, predictions)
scores = agreement.binned_scores(
    [*material, *material.pooled()], n_bins=bins, n_resamples=resamples, seed=seed
)
compared = scores.rows
table = agreement.in_bins(scores).rows
shown = agreement.drawn(scores).rows

# %% tags=["remove-input"]
Markdown(notices(material))

# %% [markdown]
# ## How the bins are made
#
# The edges are quantiles of the entropy in bits, so that the bins hold about equally many items.
# A bin takes its lower edge and leaves its upper one to the next; the last bin takes both. Many
# items share an entropy, hence the unequal sizes. αNLI stands alone; SNLI and MNLI are pooled, as
# in the paper's figures, and shown one by one as well, because the numbers that were published
# are per dataset and cannot be pooled.
#
# *Computed* lines come from the available predictions, with 95%
# {term}`intervals <bootstrap interval>` from resampling the items of each bin. *Published* lines
# are the values that the authors printed; they have no intervals. Where a model was trained with
# several seeds, its line is the mean of the seeds' scores, and the interval allows for other seeds as
# well as other items ({term}`interval over seeds`); from two seeds that differ, hardly anything follows
# about others. Where there is one seed, its name says so, and the interval says nothing of other seeds.
# Systems are pooled when they predict both SNLI and MNLI under one name. With the released data,
# RoBERTa-base and BERT-base are runs of {cite:t}`baan2022`, trained on SNLI alone, so that MNLI is out of
# domain for them; MiniLM-L6 is ours.
#
# Four baselines stand beside the models:
#
# * {term}`chance`, for {term}`JSD` and {term}`KL` the uniform distribution, for an accuracy the one
#   label that is most frequent over all items: what the paper compares with, and what we call the
#   guess;
# * the *commonest label of the bin*, the best that a single answer can do there; it is chosen
#   with hindsight, so it is a little too good;
# * the *class prior*, the frequencies of the old labels;
# * the *original votes*: five for most SNLI and MNLI items; for αNLI, which has a single one, that is the old label. Their old
#   accuracy is 100% by construction; their new accuracy is the share of old labels that stand.

# %% [markdown]
# ## Accuracy falls

# %%
publish_figure(
    "fig-accuracy-by-entropy",
    plot_accuracy_by_entropy,
    agreement.drawn(scores, "new_accuracy"),
    caption=f"""Accuracy on the new majority label, by the entropy of the votes. {bins} quantile
    bins, edges on the axis; compare Figure 4 of {{cite:t}}`nie2020`. Heavy lines and baselines are
    computed here, with 95% intervals for the models: over items, and over seeds too where the mean
    of several is shown. Thin grey lines are the published values of the paper's nine models, which
    exist for single datasets only.""",
    alt="""Four panels: αNLI, SNLI and MNLI pooled, SNLI, MNLI. In each, accuracy falls from bin to
    bin. On αNLI and SNLI it starts above ninety per cent for most models and ends near the
    dotted line of the guess; on MNLI it starts lower and falls less.""",
)

# %% tags=["remove-input"]
Markdown(
    "From the first bin to the last bin of {numref}`fig-accuracy-by-entropy`, with 95% intervals in "
    "brackets:\n\n" + presentation.say_ends(shown, compared, "new_accuracy")
)

# %% tags=["remove-input"]
counts = table[(table["system"] == "original votes") & (table["measure"] == "new_accuracy")]
stands = counts.groupby("dataset", sort=False)["value"].agg(["first", "last"])
kept = [
    f"{row['first']:.1%} and {row['last']:.1%} on {dataset_name(dataset)}"
    for dataset, row in stands.iterrows()
]
text = (
    "The old labels, which people gave, can be scored like a model. In the first and the last bin, "
    f"they match the new majority on this share of the items: {'; '.join(kept)}."
    if kept
    else ""
)
Markdown(f"{text}\n\n{material.left_out('old labels')}")

# %% [markdown]
# ### Better than a guess?
#
# The paper says that models barely beat a random guess where people agree least. In the last bin,
# the new accuracy of each model compares with the guess as follows; *indistinguishable* means that
# the p-value of the paired difference, adjusted (Holm) for all comparisons with a guess in this
# chapter, is not below 0.05.

# %% tags=["remove-input"]
Markdown(
    presentation.say_against_guess(shown, compared, "last")
    + "\n\nFor comparison, in the first bin:\n\n"
    + presentation.say_against_guess(shown, compared, "first")
    + "\n\n"
    + presentation.say_family(compared, resamples)
)

# %% tags=["remove-input"]
guesses = table[
    (table["measure"] == "new_accuracy")
    & table["system"].isin(["chance", "commonest label of the bin"])
    & (table["bin"] == table["bin"].max())
].pivot(index="dataset", columns="system", values="value")
apart = guesses[guesses["commonest label of the bin"] > guesses["chance"]]
wide = [
    f"{row['chance']:.1%} against {row['commonest label of the bin']:.1%} on "
    f"{dataset_name(dataset)}"
    for dataset, row in apart.iterrows()
]
Markdown(
    "Which guess is meant can decide the answer: a label that is the commonest overall need not be "
    f"so in the last bin ({'; '.join(wide)})."
    if wide
    else "On each dataset, the label that is the commonest overall is so in the last bin, too."
)

# %% [markdown]
# ## Distance grows for the published models
#
# Accuracy asks for one label. The Jensen–Shannon distance asks for the whole distribution, so a
# split crowd need not cost a model anything, if it splits its probability likewise.

# %%
publish_figure(
    "fig-jsd-by-entropy",
    plot_jsd_by_entropy,
    agreement.drawn(scores, "jsd"),
    caption=f"""Jensen–Shannon distance from the human distribution, by the entropy of the votes;
    lower is better. {bins} quantile bins, edges on the axis; compare Figure 5 of
    {{cite:t}}`nie2020`. Heavy lines and baselines are computed here, with 95% intervals for the
    models: over items, and over seeds too where the mean of several is shown, very wide where there
    are two that differ. Thin grey lines are the published values of the paper's nine models, which
    exist for single datasets only.""",
    alt="""Four panels: αNLI, SNLI and MNLI pooled, SNLI, MNLI. The models' lines rise from bin to
    bin, on MNLI less steeply, while the line of the uniform distribution falls and ends below
    them in every panel.""",
)

# %% tags=["remove-input"]
Markdown(
    "From the first bin to the last bin of {numref}`fig-jsd-by-entropy`:\n\n"
    + presentation.say_ends(shown, compared, "jsd")
    + "\n\nThe uniform distribution goes the other way, since a split crowd is near it. Its JSD is "
    "smaller than a model's, by the same adjusted p-value of the paired difference:\n\n"
    + presentation.say_nearer_uniform(shown, compared)
)

# %% [markdown]
# ## All numbers

# %%
publish_table(
    "tbl-entropy-bins",
    agreement.in_bins(scores),
    shown=agreement.side_by_side(shown),
    caption=f"""Scores in each entropy bin, published beside computed. In brackets, 95% intervals
    from {resamples:,} resamples of the items of a bin, for means of seeds over seeds too; a range of
    published models is from the lowest to the highest value. Seeds are shown as their mean; the
    table's CSV has every seed and every published model, with a source column. JSD is the distance
    in √nats, KL is in nats with the paper's floor of 1e-15.""",
)

# %% tags=["remove-input"]
sizes = table.dropna(subset="published_n").drop_duplicates(["dataset", "bin"])
off = sizes[sizes["difference_n"] != 0]
partial = table[(table["n_scored"] < table["n"]) & (table["role"] != "seed")]
lacking = partial.drop_duplicates(["dataset", "system", "bin"]).groupby(["dataset", "system"])
missing = [
    f"{system} lacks {(rows['n'] - rows['n_scored']).sum()} items of {dataset_name(dataset)}"
    for (dataset, system), rows in lacking
]
parts = [
    f"Of {len(sizes)} published bin sizes, {len(sizes) - len(off)} are reproduced exactly."
    if len(sizes)
    else "These bins are not the published ones, so no published value stands beside them."
]
if missing:
    parts.append(
        f"Edges are cut on all items; a system is scored on those it covers: {'; '.join(missing)}."
    )
Markdown(" ".join(parts))

# %% [markdown]
# ## Items that every model gets right
#
# The paper's script also prints a number of items that all models get right. As released, it
# counts the correct answers of the last model only, an easy slip; so that number is not
# reproduced here. {numref}`tbl-all-correct` has the count that its name promises, for the available
# models; that of the paper's nine models needs their predictions.

# %%
correct = agreement.all_correct(material)
publish_table(
    "tbl-all-correct",
    correct,
    columns=agreement.ALL_CORRECT,
    caption="""Items on which all available models are right, and on which none is. Each seed
    counts as a model; items that some model does not cover are left out. The old label is
    that of the original dataset, the new one the majority of the hundred votes.""",
) if len(correct) else Markdown("This table needs models: pass `-p predictions=FILE`.")

# %% tags=["remove-input"]
new = correct.rows[correct.rows["label"] == "new"]
lines = [
    f"on {dataset_name(row.dataset)} "
    f"{f'all {row.n_systems} are' if row.n_systems > 1 else 'the only one is'} right about the new "
    "majority of "
    f"{row.n_all_correct:,} of {row.n_items:,} items ({row.share_all_correct:.1%}), and none is "
    f"right about {row.n_none_correct:,} ({row.share_none_correct:.1%})"
    for row in new.itertuples()
]
Markdown(
    f"Of the available models, {'; '.join(lines)}. Both counts depend on the company: another model "
    "can only lower them."
    if lines
    else ""
)

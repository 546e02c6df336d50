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
# # How good is good?
#
# A model's distance from human opinion is never zero, but neither is that of people themselves:
# twenty of them would not repeat the votes of a hundred. {cite:t}`baan2022` take a small sample of
# the votes as a yardstick. How far from the crowd is such a sample, how far is a model, and how
# much of the comparison hangs on which votes were drawn?

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
dataset: str = "snli"  # which dataset
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
system: str = ""  # name of a system; the first available when empty
temperature: float = 2.0  # of the flattened version of that system
n_seeds: int = 200  # draws of the two samples of votes, at least 2
seed: int = 0  # the first of them; the figure shows this one

# %%
from IPython.display import Markdown

from chaos_utils.analyses import error_distributions
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.names import dataset_name
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.error_distributions import plot_error_distributions
from chaos_utils.report.columns import number
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table

material = gather(data, predictions, datasets=[dataset])
chosen = {"system": system, "temperature": temperature}
shown = error_distributions.find_systems(material, **chosen, trained=True).rows

# %% tags=["remove-input"]
Markdown(notices(material))

# %% tags=["remove-input"]
names = [error_distributions.title(row) for row in shown.to_dict("records")]
Markdown(
    f"Systems on this page: {'; '.join(names)}. Their errors are on {dataset_name(dataset)}."
    if names
    else "No system's predictions are available, so this page shows samples of human votes alone. To "
    "see a system beside them, pass `-p predictions=FILE`."
)

# %% [markdown]
# ## Two samples of twenty votes
#
# Shuffle an item's votes and cut off twenty, then twenty others: H1 and H2. They are two small
# crowds that were asked the same question. Each is scored as if it were a model, by the total
# variation distance between its shares and those of all votes ({term}`DistCE`).

# %%
publish_figure(
    "fig-error-distributions",
    plot_error_distributions,
    error_distributions.error_histograms(material, **chosen, seed=seed),
    caption="""Distance from all votes, item by item, for twenty human votes and for the systems.
    H1 and H2 are disjoint samples of 20 votes per item, drawn once. Thirty bins; dashed lines are
    means, and the thin outline repeats H1. Compare Figure 2 of {cite:t}`baan2022`.""",
    alt="""Histograms one above the other, on the same axis from 0 to 1. The two human samples look
    alike: nearly all their items lie below 0.2. The model's errors spread from 0 to almost 1; at a
    temperature of 2 its longest errors shrink, and it still looks nothing like the samples.""",
)

# %% [markdown]
# ## The paper's own draw
#
# The notebook that {cite:t}`baan2022` released fixes the seed of its one generator, so its H1 and H2
# can be drawn again: items in the order of the released predictions, the test half of the development
# set first; each item's votes laid out by label, shuffled, and cut into twenties. The samples are
# judged by all hundred votes, and by the sixty in neither of them.

# %%
released = error_distributions.released_draw(material)
publish_table(
    "tbl-released-draw",
    released,
    columns=error_distributions.RELEASED_COLUMNS,
    caption="""The released notebook's draw of H1 and H2, published beside reproduced. *All* votes
    contain the two samples; the sixty *in neither* do not, and also decide the gold label of ECE.
    KL compares histograms of item errors, 30 bins on [0, 1], in nats, unsmoothed. The last column
    says whether our value has the printed digits.""",
)

# %% tags=["remove-input"]
printed = released.rows.dropna(subset="published")
Markdown(
    f"Our values have the printed digits in {int(printed['agrees'].sum())} of {len(printed)} cases. The "
    "values in the paper's *text* come from another draw, whose seed was not kept; where they lie "
    "among many draws is shown next."
    if len(printed)
    else "The notebook's printed values are about other votes; its way of drawing is applied to "
    "these."
)

# %% [markdown]
# ## Many draws
#
# One draw is an accident. {numref}`tbl-error-divergence` repeats it, and compares the shapes too:
# how far the histogram of other errors is from that of H1's errors, by {term}`KL`(H1 ‖ ·) as in the
# paper and by the total variation distance ({term}`TVD`).

# %%
table = error_distributions.error_divergence(material, **chosen, n_seeds=n_seeds, seed=seed)
publish_table(
    "tbl-error-divergence",
    table,
    columns=error_distributions.COLUMNS,
    caption=f"""Errors of human samples and of systems over {n_seeds:,} draws of the samples.
    Means over the draws with a finite value; in brackets, the middle 95% of them, and nothing
    where the value does not depend on the draw. *Below* is the percentage of those draws that
    lie below a published value: its percentile. *All* votes contain the samples; those *not in
    H1*, or *in neither*, do not. ECE has 10 bins (a, b], and its gold label is the first of those
    with most of the votes that it is
    judged against. Histograms have 30 bins on [0, 1], of errors against all
    votes; KL is in nats. The first KL is computed as in the notebook released with
    {{cite:t}}`baan2022`, without smoothing. The second adds one half to every bin; for it and
    for TVD, errors are rounded to ten digits first. The paper’s text differs from its
    notebook.""",
)

# %% tags=["remove-input"]
summary = table.rows
rows = summary.set_index(["measure", "system", "reference"])
h1, h2 = rows.loc[("dist_ce", "H1", "all")], rows.loc[("dist_ce", "H2", "all")]
apart = rows.loc[("dist_ce", "H1", "outside_h1"), "mean"]
both = rows.loc[("dist_ce", "H1", "outside_both"), "mean"]
published = (
    f" The published {h1['published_notebook']:g} and {h2['published_notebook']:g} lie at "
    f"percentile {number(h1['percentile_notebook'], 1)} of the draws of H1 and "
    f"{number(h2['percentile_notebook'], 1)} of those of H2."
    if h1["published_notebook"] == h1["published_notebook"]
    else ""
)
Markdown(
    f"Over {n_seeds:,} draws the mean DistCE is {h1['mean']:.4f} for H1 and {h2['mean']:.4f} for "
    f"H2, with standard deviations of {h1['sd']:.4f} and {h2['sd']:.4f}.{published}\n\n"
    "These errors flatter the samples. Their votes are among those that they are judged by, so "
    "that part of every difference cancels. With the votes outside H1 as the reference, its "
    f"mean DistCE is {apart:.4f}, {apart / h1['mean']:.3f} times as large; with the still "
    f"fewer votes outside both samples, {both:.4f}. Part of that last rise is the noise of the "
    "smaller reference."
)

# %% [markdown]
# ## The systems beside them

# %% tags=["remove-input"]
ece_h1 = rows.loc[("ece", "H1", "all"), "mean"]
lines = []
for one, name in zip(shown.itertuples(), names, strict=True):
    of_system = summary[
        (summary["system"] == one.system) & (summary["temperature"] == one.temperature)
    ].set_index(["measure", "reference"])["mean"]
    ece, dist_ce = of_system["ece", "all"], of_system["dist_ce", "all"]
    fair = of_system["dist_ce", "outside_both"] / both
    lines.append(
        f"* **{name}**: the mean DistCE of {dist_ce:.3f} is {dist_ce / h1['mean']:.1f} times that "
        f"of H1, and {fair:.1f} times when both are judged by the votes outside the samples. The "
        f"ECE of {ece:.3f} is {'lower' if ece < ece_h1 else 'higher'} than the {ece_h1:.3f} of H1. "
        f"The histograms differ in {of_system['tvd', 'all']:.0%} of their mass (TVD), against "
        f"{rows.loc[('tvd', 'H2', 'all'), 'mean']:.1%} for H2."
    )
Markdown("\n".join(lines))

# %% tags=["remove-input"]
oracle = error_distributions.oracle_scores(material).rows["value"].iloc[0]
Markdown(
    "ECE is no yardstick for this. It asks whether confidence matches the majority label, and a "
    "sample of people that repeats their doubts is not meant to: all the votes together, a perfect "
    f"answer, have an ECE of {oracle:.3f}. DistCE puts samples and systems on one scale."
)

# %% [markdown]
# ## What the KL rests on

# %% tags=["remove-input"]
kl = rows.loc[("kl", "H2", "all")]
where = summary[(summary["measure"] == "kl") & summary["published_text"].notna()]
placed = [
    f"{row.published_notebook:g} (notebook) and {row.published_text:g} (text) at percentiles "
    f"{number(row.percentile_notebook, 1)} and {number(row.percentile_text, 1)} for "
    f"{error_distributions.title(row._asdict())}"
    for row in where.itertuples()
]
Markdown(
    f"The KL between H1 and H2 is infinite for {kl['infinite_share']:.1%} of the draws: it is so "
    "whenever one item of H1 falls into a bin where H2 has none, and in the sparse right tail that "
    "is a matter of luck. A mean over the other draws is a mean over the lucky ones. Smoothed, it "
    f"is {rows.loc[('kl_smoothed', 'H2', 'all'), 'mean']:.4f} over all draws, and TVD needs no "
    "remedy."
    + (
        f" Among finite values, the published ones lie at these percentiles: {'; '.join(placed)}."
        if placed
        else ""
    )
)

# %% [markdown]
# Bins have another trap. A sample's errors against a hundred votes are whole hundredths, and some
# fall exactly on an edge, where rounding in the last digit decides the bin. The unsmoothed KL leaves them where
# floating point does, so that it can be compared with the published one; the smoothed KL and TVD
# round the errors first.

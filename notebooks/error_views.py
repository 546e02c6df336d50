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
# # Errors from several sides
#
# One distance per item says how wrong a model is, not how. {cite:t}`baan2022` look, in their
# Appendix B, at the classes, at the ranks that people give them, and at {term}`entropy`. Which
# labels get too much, is the people's first choice overrated, and is the model surer than they are,
# on the kind of data that it was trained on and on another?

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
datasets: list[str] = ["snli", "mnli"]  # which datasets, in this order
system: str = ""  # name of a system; the first available when empty
temperature: float = 2.0  # of the flattened version of that system

# %%
from dataclasses import replace

from IPython.display import Markdown

from chaos_utils.analyses import error_views
from chaos_utils.analyses.error_distributions import title
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.names import dataset_name
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.error_distributions import plot_error_views
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table

material = gather(data, predictions, datasets=datasets)
chosen = {"system": system, "temperature": temperature}
shown = error_views.find_systems(material, **chosen).rows
histograms = error_views.view_histograms(material, **chosen)

# %% tags=["remove-input"]
trained = bool((shown["origin"] == "trained").any())
Markdown(notices(replace(material, trained=trained)))

# %% tags=["remove-input"]
sentences = []
for name in datasets:
    of_dataset = shown[shown["dataset"] == name].to_dict("records")
    missing = [f"{row['n_missing']} for {title(row)}" for row in of_dataset if row["n_missing"]]
    n_items = {row["n_items"] + row["n_missing"] for row in of_dataset}
    sentences.append(
        dataset_name(name)
        + "".join(f" ({n:,} items)" for n in n_items)
        + f": {'; '.join(map(title, of_dataset)) or 'no predictions available'}."
        + (f" Items without a prediction, left out: {', '.join(missing)}." if missing else "")
    )
Markdown(
    "\n".join(f"* {sentence}" for sentence in sentences)
    + "\n\nThe models that {cite:t}`baan2022` released were trained on SNLI. For them SNLI is in "
    "distribution, and MNLI is not."
)

# %% [markdown]
# Every figure has three columns. *Marginal* shows the values of people and of the system, each by
# themselves; *signed* shows the system's minus the people's, item by item; *absolute* shows the
# same without its sign. Markers on the axis are means.
#
# ## Class by class

# %%
publish_figure(
    "fig-error-classes",
    plot_error_views,
    histograms.where(histograms.rows["view"] == "class"),
    caption="""Errors for each class. Share of the people’s votes, and probability that a system
    gives, in 25 bins. An error is the system’s share minus the people’s.""",
    alt="""Six rows of three histograms: the three classes on SNLI, then on MNLI. The model's
    probabilities pile up near 0, and less near 1, more than the people's shares do, most plainly
    for neutral; at a temperature of 2 the piles are lower. Signed errors are most frequent near
    zero, with long arms on both sides.""",
)

# %% tags=["remove-input"]
table = error_views.error_views(material, **chosen)
of_first = table.rows[table.rows["system"] == shown["system"].iloc[0]]
lines = []
for (name, _), group in of_first[of_first["view"] == "class"].groupby(
    ["dataset", "temperature"], sort=False
):
    means = group.set_index("part")["mean"]
    lines.append(
        f"* {dataset_name(name)}, {title(group.iloc[0])}: {means.idxmax()} gets most too much, "
        f"{means.max():+.3f} on average, and {means.idxmin()} most too little, {means.min():+.3f}."
    )
Markdown(
    "The mean errors of a dataset's classes sum to zero, since what one class gets too much the "
    "others lack.\n\n" + "\n".join(lines).replace("-0.", "−0.")
)

# %% [markdown]
# ## Rank by rank
#
# Now the labels are sorted by the people's votes: the label with most votes is first. Labels with
# equally many votes keep their usual order.

# %%
publish_figure(
    "fig-error-ranks",
    plot_error_views,
    histograms.where(histograms.rows["view"] == "rank"),
    caption="""Errors for each human rank. The first label is the one with most votes of an
    item, whatever its class; columns as in {numref}`fig-error-classes`.""",
    alt="""Six rows of three histograms: first, second and third label on SNLI, then on MNLI. For the
    first label the model's probabilities pile up near 1 and near 0, on MNLI equally high, where
    people give it between a third and all of their votes. Second labels mostly get too little, and
    some far too much. Third labels are near zero on both sides.""",
)

# %% tags=["remove-input"]
lines = []
for (name, _), group in of_first[of_first["view"] == "rank"].groupby(
    ["dataset", "temperature"], sort=False
):
    means = group.set_index("part")["mean"]
    medians = group.set_index("part")["median"]
    lines.append(
        f"* {dataset_name(name)}, {title(group.iloc[0])}: the first label gets "
        f"{abs(means['1st']):.3f} too {'much' if means['1st'] > 0 else 'little'} on average "
        f"(median {medians['1st']:+.3f}), the last {abs(means.iloc[-1]):.3f} too "
        f"{'much' if means.iloc[-1] > 0 else 'little'} (median {medians.iloc[-1]:+.3f})."
    )
Markdown("\n".join(lines).replace("-0.", "−0."))

# %% [markdown]
# A system that was only too sure of itself would give the first label too much. Where it is wrong
# about which label is first, it gives that label too little. Mean and median part where the two
# meet.
#
# ## Entropy

# %%
publish_figure(
    "fig-error-entropy",
    plot_error_views,
    histograms.where(histograms.rows["view"] == "entropy"),
    caption="""Errors of entropy, in nats. Entropy of the people’s votes and of a system’s
    distribution; a negative error means that the system is surer than people are.""",
    alt="""Two rows of three histograms, SNLI above MNLI. On SNLI the model's entropies pile up
    near 0, on MNLI they spread evenly up to 0.7 nats; few items are that low by the people's votes.
    At a temperature of 2 they lie where the people's do, a little higher. Signed errors lie mostly
    left of zero, and after flattening on both sides of it.""",
)

# %%
publish_table(
    "tbl-error-views",
    table,
    columns=error_views.COLUMNS,
    caption="""Errors of classes, ranks and entropy. Mean and median of the signed error,
    and mean of its absolute value; shares, and nats for entropy, where the last is EntCE. The
    column *paper* holds what Appendix B of {cite:t}`baan2022` gives for both mean and median.""",
)

# %% tags=["remove-input"]
lines = []
for row in of_first[of_first["view"] == "entropy"].itertuples():
    paper = f" The paper gives {row.published:+.2f}." if row.published == row.published else ""
    lines.append(
        f"* {dataset_name(row.dataset)}, {title(row._asdict())}: "
        f"{'surer' if row.mean < 0 else 'less sure'} than people by {abs(row.mean):.3f} nats on "
        f"average (median error {row.median:+.3f}), and {row.mean_absolute:.3f} nats off "
        f"whatever the sign (n = {row.n_items:,}).{paper}"
    )
far = of_first[of_first["difference_mean"].abs() > 0.02]
note = [
    f"The released predictions do not give the published {row.published:+.2f} for "
    f"{title(row._asdict())}: its mean is {row.mean:+.3f} and its median "
    f"{row.median:+.3f}."
    for row in far.itertuples()
]
Markdown(
    "The last rows of each dataset in {numref}`tbl-error-views` say how sure the system is.\n\n"
    + "\n".join([*lines, "", *note]).replace("-0.", "−0.")
)

# %% [markdown]
# A mean near zero is not agreement. Flattening moves all entropies by one rule, so that errors of
# both signs can cancel while their absolute value stays; that is why both are in the table.

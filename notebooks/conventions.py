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
# # Which JSD was that?
#
# Two papers can report the same measure of the same predictions and print different numbers,
# because a logarithm, a direction, a floor, a tie or a bin was chosen differently. How far do
# such choices move a number, and which of them can be undone afterwards?

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
dataset: str = "snli"  # which dataset
temperature: float = 2.0  # the first system is also shown with its distributions flattened by it

# %%
from IPython.display import Markdown

from chaos_utils.analyses import conventions, conversions
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.names import dataset_name
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.conventions import plot_conventions
from chaos_utils.report.columns import number
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table

material = gather(data, predictions, datasets=[dataset])
table = conventions.under_every_convention(material, temperature=temperature)

# %% tags=["remove-input"]
Markdown(notices(material))

# %% tags=["remove-input"]
systems = list(table.rows["system"].unique())
Markdown(
    f"Shown on {dataset_name(dataset)}: {', '.join(systems)}."
    if len(systems) > 2
    else "Only the uniform guess and the oracle are shown."
)

# %% [markdown]
# The {term}`oracle` predicts exactly the shares of the human votes; the *uniform* guess gives every
# label the same probability. They need no model, and show what a convention does at its ends.
#
# ## The same predictions, under every convention
#
# Nothing changes from row to row of the next table but the convention. Floors matter only where
# a distribution gives a label no probability, or next to none: people often do, models that end
# in a softmax seldom.

# %%
publish_table(
    "tbl-conventions",
    table,
    columns=conventions.columns_for(systems),
    shown=conventions.side_by_side(table.rows),
    caption="""The same predictions under every convention. A ◆ marks the reference: the
    choice of {cite:t}`nie2020` or {cite:t}`baan2022`, and for the Brier score, which neither
    uses, that of its author. The last column names who computes it so, where we know of one;
    KL’s floor raises the second distribution. ∞ is infinity.""",
)

# %%
seen = table.rows[table.rows["relative"].notna() & (table.rows["system"] != "oracle")]
publish_figure(
    "fig-conventions",
    plot_conventions,
    table.having(seen.drop(columns=["n_items", "is_reference", "used_by"])),
    caption="""How far each quantity moves with its convention. Each mark is one row of
    {numref}`tbl-conventions`, divided by the reference convention’s value for the same system;
    the line joins the smallest and the largest. An arrow at the right edge means infinity, one at
    the left edge 0. The oracle is left out, since most of its references are 0.""",
    alt="""A dot plot with one row for each of nine quantities and one line for each system, on a
    logarithmic scale around one. KL spreads furthest and reaches infinity; Jensen–Shannon,
    calibration errors and the Brier score differ by factors of up to about three to four;
    accuracy of the models hardly moves.""",
)

# %% tags=["remove-input"]
ranges = conventions.spread(table).rows.set_index(["system", "quantity"])
first = systems[0]
parts = [
    f"{quantity} runs from {number(row.smallest, 3)} to {number(row.largest, 3)}"
    for quantity, row in ranges.loc[first].iterrows()
]
Markdown(
    f"For {first}, over the conventions of {{numref}}`tbl-conventions`: {'; '.join(parts)}. "
    "So a number that comes without its convention says little, and a comparison across papers "
    "needs the convention of both."
)

# %% [markdown]
# ## Does the choice change who is better?
#
# A factor moves all systems alike, so it never changes an order. The others may.

# %% tags=["remove-input"]
flips = conventions.order_changes(table).rows
found = [
    f"- **{row.quantity}**: {row.behind} overtakes {row.ahead} under {row.n_turned} of the "
    f"conventions, such as *{row.convention}*."
    for row in flips.itertuples()
]
Markdown(
    "\n".join(["Against the order under the reference convention:", "", *found])
    if found
    else "Among the systems above, no convention turns an order round."
)

# %% [markdown]
# ## From one convention to another
#
# Some conventions can be exchanged after the fact, from the printed number alone. Others need each
# item's value, and some cannot be exchanged without the predictions. For those that are not exact,
# the last column shows how wrong the nearest guess would be: the given number taken as it is, or
# the recipe that the row names.

# %%
recipes = conversions.conversions(material, temperature=temperature)
publish_table(
    "tbl-conversion",
    recipes,
    columns=conversions.COLUMNS,
    caption=f"""How to get from one convention to another. The last column holds the largest
    distance, over the systems of this page on {dataset_name(dataset)}, between what the recipe gives and
    what is computed directly.""",
)

# %% tags=["remove-input"]
exact = recipes.rows[recipes.rows["exact"]]
on_means = (exact["applies_to"] == "mean").sum()
Markdown(
    f"Of the {len(recipes)} conversions, {len(exact)} are exact, and {on_means} of these can be "
    "made from a printed mean. The exact ones were tried on every system above; the largest error "
    f"was {exact['largest_error'].max():.0e}."
)

# %% [markdown]
# # Which JSD? Conventions of measures
#
# *Which JSD is that?*
#
# **Four different numbers are called JSD. For one RoBERTa-base on SNLI they run from
# {value}`tbl-convention-spread quantity="Jensen–Shannon" smallest .2f` to
# {value}`tbl-convention-spread quantity="Jensen–Shannon" largest .2f`.** ChaosNLI's is a distance in nats; others print a
# divergence in nats or bits. {doc}`A calculator <../conversions>` reads a published value in the others. Some choices do more
# than change the unit: of {value}`tbl-convention-spread quantity=KL n_pairs` comparisons of two systems, the conventions of KL reverse
# {value}`tbl-convention-spread quantity=KL n_turned`.
#
# Two papers can report the same measure of the same predictions and print different numbers, because a logarithm, a
# direction, a floor, a tie or a bin was chosen differently.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
dataset: str = "snli"  # which dataset
temperature: float = 2.0  # the first system is also shown with its distributions flattened by it

# %%
from IPython.display import Markdown

from chaos_utils.analyses import conventions
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.datasets.catalogue import short_of
from chaos_utils.plots.conventions import plot_conventions
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data, predictions, datasets=[dataset])
table = conventions.under_every_convention(inputs, temperature=temperature)
leading = conventions.leading_system(table.rows)

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# ## How far a number moves

# %%
publish_figure(
    "fig-conventions",
    plot_conventions,
    conventions.drawn_rows(table),
    caption=f"""A measure without its convention can be off by a factor of three. Each mark is
    one convention; its value for {leading} on {short_of(dataset)} is divided by that of the
    reference convention (black), the choice of {{cite:t}}`nie2020` or {{cite:t}}`baan2022`. In
    parentheses: what differs between the conventions. An arrow means infinity.""",
    alt="""A dot plot with one row for each of nine quantities, on a logarithmic scale around
    one, the widest range on top. KL spreads farthest and reaches infinity; Jensen–Shannon and
    the Brier score fall to about a third; calibration errors rise by half; accuracy and RankCS
    hardly move.""",
)

# %% [markdown]
# KL is the least portable number: without a floor for labels of no probability, a single unlucky
# item makes it infinite, and reversing its direction moves it too ({numref}`fig-conventions`).
# The calibration error of the same predictions is
# {value}`tbl-convention-spread quantity=ECE smallest .3f` or
# {value}`tbl-convention-spread quantity=ECE largest .3f`, mostly by whether hits are counted
# against the majority label or against the vote shares. Accuracy moves only by ties.
#
# ## Does the choice change who is better?
#
# A change of unit scales all systems alike, so it never changes an order. Directions, floors, targets and
# bins may. Two of the systems compared here need no model, and show what a convention does at the extremes: the {term}`oracle` predicts
# exactly the shares of the votes, the *uniform guess* gives every label the same probability.

# %%
publish_table(
    "tbl-convention-spread",
    conventions.spread(table),
    columns=conventions.SPREAD_COLUMNS,
    caption=f"""Of the systems here, the order depends on the convention for KL and calibration errors alone. Some
    are two seeds of one model, and two need no model, so this is no general rule. Smallest, reference and largest value are those of {leading}. The last columns count
    the pairs of systems whose order another convention reverses, and name one of them.""",
)

# %% [markdown]
# KL changes the order of {value}`tbl-convention-spread quantity=KL n_turned` of the
# {value}`tbl-convention-spread quantity=ECE n_pairs` pairs with its direction, ECE of
# {value}`tbl-convention-spread quantity=ECE n_turned` and class-wise ECE of
# {value}`tbl-convention-spread quantity="class-wise ECE" n_turned` with their target ({numref}`tbl-convention-spread`). Against
# the majority label, the votes' own shares look worse calibrated than a model; against the vote shares they are perfect
# ({doc}`calibration`).
#
# ## The same predictions, under every convention
#
# In the next table nothing changes from row to row but the convention. Floors matter only where a
# distribution gives a label no probability, or next to none: people often do, models that end in a
# softmax seldom.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Every convention, value by value", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-conventions",
    table,
    columns=conventions.columns_for(list(table.rows["system"].unique())),
    shown=conventions.shown_rows(table.rows),
    groups=["quantity"],
    index=["quantity", "convention"],
    caption="""The same predictions under every convention. A ◆ marks the reference: the choice
    of {cite:t}`nie2020` or {cite:t}`baan2022`, and for the Brier score, which neither uses, that
    of its author. The last column names who computes it so, where we know of one. KL’s floor
    raises the second distribution; the data has more floors, numbers of bins, and KL in bits.""",
)

# %% [markdown]
# ## Limitations
#
# The numbers are those of a few systems on
# {value}`tbl-conventions system=oracle quantity=EntCE convention=nats n_items ,.0f` SNLI items; others move by other
# factors, except where the factor is a unit. The list of conventions is ours, from papers and libraries that we know.

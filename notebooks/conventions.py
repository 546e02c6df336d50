# %% [markdown]
# # Which JSD? Conventions of measures
#
# *Which JSD is that?*
#
# **Four different numbers are called JSD. For one RoBERTa-base model on SNLI, they range from
# {value}`tbl-convention-spread quantity="Jensen–Shannon" smallest .3f` to
# {value}`tbl-convention-spread quantity="Jensen–Shannon" largest .3f`.** ChaosNLI reports a distance computed in nats;
# other papers report a divergence in nats or bits. To be comparable with ChaosNLI and this book, report the distance in
# nats, averaged over items, and say so. Enter a published value below to convert it to the other conventions. Some
# choices do more than change the unit: other conventions for KL reverse the order of
# {value}`tbl-convention-spread quantity=KL n_turned` of the {value}`tbl-convention-spread quantity=KL n_pairs` pairs of
# systems compared below.
#
# (calculator-conventions)=
# ```{calculator} conversions
# ```
#
# Two papers can report the same measure of the same predictions and still print different numbers, because they chose a
# different logarithm, direction, floor, tie rule or set of bins.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files with your own predictions, shown with the other systems
dataset: str = "snli"  # the dataset that is shown
temperature: float = 2.0  # the first system is also shown at this temperature

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
    caption=f"""Unless its convention is stated, a measure can be misread by a factor of three. Each mark shows the
    value of a measure under one convention, divided by the value under the reference convention (at 1×), which is the
    choice of {{cite:t}}`nie2020` or {{cite:t}}`baan2022`. All values are for {leading}, on {short_of(dataset)}. The
    words in parentheses say what differs between the conventions of a measure. An arrow marks an infinite value.""",
    alt="""A dot plot with one row for each of nine quantities, on a logarithmic scale around one, the widest range on
    top. KL spreads farthest and reaches infinity; Jensen–Shannon and the Brier score fall to about a third; calibration
    errors rise by half; accuracy and RankCS hardly move.""",
)

# %% [markdown]
# KL is the least portable measure ({numref}`fig-conventions`). Unless zero probabilities are raised to a floor, a
# single unlucky item makes it infinite. The direction of KL matters, too. For one RoBERTa-base model on SNLI, with a
# floor of 0.001, KL from people to the model is
# {value}`tbl-conventions system="RoBERTa-base, seed 0" quantity=KL convention="human ‖ model, floor 0.001, nats" value .2f`
# nats, but KL from the model to people is
# {value}`tbl-conventions system="RoBERTa-base, seed 0" quantity=KL convention="model ‖ human, floor 0.001, nats" value .2f`
# nats.
#
# The calibration error of the same predictions ranges from {value}`tbl-convention-spread quantity=ECE smallest .3f` to
# {value}`tbl-convention-spread quantity=ECE largest .3f`, depending mostly on whether a prediction is scored against
# the majority label or against the vote shares. Accuracy changes only if ties are treated differently.
#
# (does-the-choice-change-who-is-better)=
# ## Does the choice change which system is better?
#
# A change of unit scales all systems alike, so it never changes their order, but a change of direction, floor, target
# or bins may reverse it. Two of the systems compared here are not models; they show what a convention does at the
# extremes. The {term}`oracle` predicts exactly the vote shares, and the {term}`uniform guess` gives every label the
# same probability.

# %%
quantity, *values, turned, example = conventions.SPREAD_COLUMNS
publish_table(
    "tbl-convention-spread",
    conventions.spread(table),
    columns=[quantity, turned, *values, example],
    caption=f"""Among these systems, the order depends on the convention only for KL and calibration errors. Two of the
    systems are seeds of one model, and two are not models, so this is not a general rule. The smallest, reference and
    largest values are those of {leading}. The second column counts the pairs of systems whose order another convention
    reverses; the last column gives an example.""",
)

# %% [markdown]
# Changing KL's direction reverses the order of {value}`tbl-convention-spread quantity=KL n_turned` of the
# {value}`tbl-convention-spread quantity=KL n_pairs` pairs of systems. Changing the target reverses
# {value}`tbl-convention-spread quantity=ECE n_turned` pairs for ECE and
# {value}`tbl-convention-spread quantity="class-wise ECE" n_turned` for class-wise ECE
# ({numref}`tbl-convention-spread`). For example, the vote shares themselves look worse calibrated than a model if both
# are scored against the majority label, but they are perfectly calibrated to the votes ({doc}`calibration`).
#
# ## The same predictions, under every convention
#
# In the table below, only the convention changes from row to row. Floors matter if a distribution gives a label no
# probability, or hardly any. Vote shares often do, but models that end in a softmax seldom do.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Every convention, value by value, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-conventions",
    table,
    columns=conventions.columns_for(list(table.rows["system"].unique())),
    shown=conventions.shown_rows(table.rows),
    groups=["quantity"],
    index=["quantity", "convention"],
    caption="""Some conventions change the order of systems. The predictions are the same in every row. A ◆ marks the
    reference, which is the choice of {cite:t}`nie2020` or {cite:t}`baan2022`; neither uses the Brier score, so the
    reference for it is Brier's own definition. The last column names papers and libraries that use the convention, as
    far as we know. KL’s floor applies to the second distribution. The downloadable table adds more floors, more numbers
    of bins, and KL in bits.""",
)

# %% [markdown]
# ## What can be converted
#
# The calculator uses the following exact recipes. Each applies to the reported mean unless the recipe names something
# else; *h* stands for an item's vote shares and *m* for the model's probabilities.
#
# | quantity | from | to | recipe |
# | --- | --- | --- | --- |
# | Jensen–Shannon | distance, nats | distance, bits | divide by √ln 2 (× 1.2011) |
# | Jensen–Shannon | divergence, nats | divergence, bits | divide by ln 2 (× 1.4427) |
# | Jensen–Shannon | distance | divergence, same unit | square each item’s value |
# | KL | nats | bits | divide by ln 2 (× 1.4427) |
# | KL | KL(human ‖ model) | soft cross-entropy | add the mean human entropy in the same unit |
# | KL | averaged over all cells (`reduction='mean'`) | averaged over items | multiply by the number of labels |
# | entropy | bits | nats | multiply by ln 2 (× 0.6931) |
# | EntCE | nats | bits | divide by ln 2 (× 1.4427) |
# | DistCE | TVD | L1 distance | multiply by 2 |
# | DistCE | TVD | soft accuracy | subtract from 1 |
# | ECE | mean majority share of the votes | ECE of the oracle against the majority | subtract from 1 |
# | class-wise ECE | divided by the binned items | divided by all items | multiply each class’s value by the share of items that fall into a bin |
# | Brier score | summed over labels (0 to 2) | halved (0 to 1) | divide by 2 |
# | Brier score | against single votes | squared distance to the vote shares | subtract the mean of 1 − Σh² |
#
# An automatic test applies each recipe to randomly drawn votes and predictions and compares the result with what the
# package computes directly.
#
# (what-cannot)=
# ## What cannot be converted
#
# | quantity | from | to | why not |
# | --- | --- | --- | --- |
# | Jensen–Shannon | mean distance | mean divergence | the square of a mean leaves out the variance over items |
# | KL | human ‖ model | model ‖ human | needs the distributions |
# | KL | one floor | another floor | needs the distributions |
# | EntCE | mean signed error | mean absolute error | errors of both signs cancel |
# | accuracy | ties to the last label | label as stated, gold as stored | they differ by at most the share of items with a tie on either side |
# | ECE | against the majority | against the vote shares | needs the distributions |
# | RankCS | equal values by position | tie-aware | they agree only where no two values of an item are equal |
#
# If a mean cannot be converted, it can still be bounded. {numref}`tbl-scoreboard-bounds` lists these bounds and shows
# how tight they are.
#
# ## Limitations
#
# The numbers are for a few systems on
# {value}`tbl-conventions system=oracle quantity=EntCE convention=nats n_items ,.0f` SNLI items. For other systems the
# factors differ, unless only the unit changes. We list only the conventions of papers and libraries that we know.
#
# Next, the {doc}`scoreboard <scoreboard>` compares published results in one unit.

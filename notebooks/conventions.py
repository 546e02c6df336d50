# %% [markdown]
# # Which JSD? Conventions of measures
#
# *Which JSD is that?*
#
# **Four different numbers are called JSD. For one RoBERTa-base on SNLI they run from
# {value}`tbl-convention-spread quantity="Jensen–Shannon" smallest .3f` to
# {value}`tbl-convention-spread quantity="Jensen–Shannon" largest .3f`.** ChaosNLI's is a distance in nats; others print
# a divergence in nats or bits. Type a published value below to read it in the others. Some choices do more than change
# the unit: of {value}`tbl-convention-spread quantity=KL n_pairs` comparisons of two systems, the choice of KL's
# convention reverses {value}`tbl-convention-spread quantity=KL n_turned`.
#
# (calculator-conventions)=
# ```{calculator} conversions
# ```
#
# Two papers can report the same measure of the same predictions and print different numbers, because they chose a
# different logarithm, direction, floor, tie rule or set of bins.

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
    caption=f"""Without its convention, a measure can be off by a factor of three. Each mark is one convention: its
    value for {leading} on {short_of(dataset)}, divided by that of the reference convention (black), the choice of
    {{cite:t}}`nie2020` or {{cite:t}}`baan2022`. In parentheses: what differs between the conventions. An arrow means
    infinity.""",
    alt="""A dot plot with one row for each of nine quantities, on a logarithmic scale around
    one, the widest range on top. KL spreads farthest and reaches infinity; Jensen–Shannon and
    the Brier score fall to about a third; calibration errors rise by half; accuracy and RankCS
    hardly move.""",
)

# %% [markdown]
# KL is the least portable measure ({numref}`fig-conventions`). Without a floor under zero probabilities, a single unlucky
# item makes it infinite. Its direction matters, too: with a floor of 0.001, KL is
# {value}`tbl-conventions system="RoBERTa-base, seed 0" quantity=KL convention="human ‖ model, floor 0.001, nats" value .2f`
# nats from people to one RoBERTa-base on SNLI, and
# {value}`tbl-conventions system="RoBERTa-base, seed 0" quantity=KL convention="model ‖ human, floor 0.001, nats" value .2f`
# nats the other way.
#
# The calibration error of the same predictions is {value}`tbl-convention-spread quantity=ECE smallest .3f` or
# {value}`tbl-convention-spread quantity=ECE largest .3f`, depending mostly on whether a prediction is scored against the
# majority label or against the vote shares. Accuracy changes only through ties.
#
# ## Does the choice change who is better?
#
# A change of unit scales all systems alike, so it never changes their order. Changes of direction, floor, target or
# bins may. Two of the systems compared here are not models; they show what a convention does at the extremes: the
# {term}`oracle` predicts exactly the vote shares, and the {term}`uniform guess` gives every label the same probability.

# %%
publish_table(
    "tbl-convention-spread",
    conventions.spread(table),
    columns=conventions.SPREAD_COLUMNS,
    caption=f"""Among these systems, the order depends on the convention only for KL and calibration errors. Two are
    seeds of one model, and two are not models, so this is no general rule. The smallest, reference and largest values
    are those of {leading}. The last columns count the pairs of systems whose order another convention reverses, and
    name one of them.""",
)

# %% [markdown]
# Changing KL's direction reverses {value}`tbl-convention-spread quantity=KL n_turned` of the
# {value}`tbl-convention-spread quantity=KL n_pairs` pairs. Changing the target reverses
# {value}`tbl-convention-spread quantity=ECE n_turned` for ECE and
# {value}`tbl-convention-spread quantity="class-wise ECE" n_turned` for class-wise ECE ({numref}`tbl-convention-spread`).
# Scored against the majority label, the vote shares themselves look worse calibrated than a model; scored against the
# vote shares, they are perfect ({doc}`calibration`).
#
# ## The same predictions, under every convention
#
# In the next table only the convention changes from row to row. Floors matter where a distribution gives a label no
# probability, or next to none. Vote shares often do this; models that end in a softmax seldom do.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Every convention, value by value, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-conventions",
    table,
    columns=conventions.columns_for(list(table.rows["system"].unique())),
    shown=conventions.shown_rows(table.rows),
    groups=["quantity"],
    index=["quantity", "convention"],
    caption="""Some conventions change the order of systems. The same predictions under each; a ◆ marks the reference: the choice of {cite:t}`nie2020` or
    {cite:t}`baan2022`, and for the Brier score, which neither uses, that of its author. The last column names papers
    and libraries that use this convention, as far as we know. KL’s floor applies to the second distribution; the data
    has more floors, more numbers of bins, and KL in bits.""",
)

# %% [markdown]
# ## What can be converted
#
# The calculator uses these recipes, which are exact. Each applies to the reported mean, unless the recipe names
# something else; *h* stands for an item's vote shares and *m* for the model's probabilities.
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
# A test applies each recipe to randomly drawn votes and predictions, and compares the result with what the package
# computes directly.
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
# Where a mean cannot be converted, bounds remain; {numref}`tbl-scoreboard-bounds` lists them and shows how tight they are.
#
# ## Limitations
#
# The numbers are for a few systems on
# {value}`tbl-conventions system=oracle quantity=EntCE convention=nats n_items ,.0f` SNLI items. Other systems have
# other factors, except where the factor is a change of unit. We list only the conventions of papers and libraries that
# we know.
#
# Next: how published results compare once they are in one unit, on the {doc}`scoreboard <scoreboard>`.

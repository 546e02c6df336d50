# %% [markdown]
# # Which JSD? Conventions of measures
#
# *Which JSD is that?*
#
# **Four different numbers are called JSD (Jensen–Shannon divergence or distance), so a printed value can be compared
# only if its convention is known.** For one RoBERTa-base model on SNLI, the four values range from
# {value}`tbl-convention-spread quantity="Jensen–Shannon" smallest .3f` to
# {value}`tbl-convention-spread quantity="Jensen–Shannon" largest .3f`. ChaosNLI reports the distance, which is the
# square root of the divergence, in nats. Other papers report the divergence, in nats or bits. We recommend the
# convention of ChaosNLI, which this book also uses: report the distance in nats, averaged over items, and say so. The
# calculator below converts a published value to the other conventions. Some choices of convention do more than change
# the unit: they can reverse the order of two systems.
#
# (calculator-conventions)=
# ```{calculator} conversions
# ```
#
# Two papers may print different numbers for the same measure and the same predictions if they use different logarithms,
# directions of KL, floors for small probabilities, rules for ties, or bins.

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
# (how-far-a-number-moves)=
# ## How much a convention changes a value

# %%
publish_figure(
    "fig-conventions",
    plot_conventions,
    conventions.drawn_rows(table),
    caption=f"""A value that is given without its convention can be misread by a factor of three. Each mark shows the
    value of a measure under one convention, as a multiple of its value under the reference convention. The reference is
    the convention of {{cite:t}}`nie2020` or {{cite:t}}`baan2022`, or Brier's own for the Brier score. All values are
    for {leading}, on {short_of(dataset)}. The words in parentheses say in what respects a measure's conventions differ.
    An arrow marks an infinite value.""",
    alt="""A dot plot has one row for each of nine quantities, on a logarithmic scale centred on one. The quantity with
    the widest range is at the top. KL has the widest range and reaches infinity. Jensen–Shannon and the Brier score
    fall to about a third of their reference values. Calibration errors rise by half, and accuracy and RankCS hardly
    change.""",
)

# %% [markdown]
# Of the measures compared here, KL depends most on the convention ({numref}`fig-conventions`). Unless zero
# probabilities are replaced by a small floor, a single item can make the mean KL infinite. The direction of KL also
# matters. With a floor of 0.001, one RoBERTa-base model on SNLI has a KL(human ‖ model) of
# {value}`tbl-conventions system="RoBERTa-base, seed 0" quantity=KL convention="human ‖ model, floor 0.001, nats" value .2f`
# nats, but a KL(model ‖ human) of only
# {value}`tbl-conventions system="RoBERTa-base, seed 0" quantity=KL convention="model ‖ human, floor 0.001, nats" value .2f`
# nats.
#
# The {term}`ECE` of the same RoBERTa-base model ranges from {value}`tbl-convention-spread quantity=ECE smallest .3f` to
# {value}`tbl-convention-spread quantity=ECE largest .3f`, depending mostly on whether its predictions are scored
# against the majority label or against the vote shares. Accuracy depends on the convention only where labels are tied.
#
# (does-the-choice-change-who-is-better)=
# ## Does the choice change which system is better?
#
# A change of unit multiplies the values of all systems by the same factor, so it never changes the order of the
# systems. A change of direction, floor, target or bins can reverse the order of two systems. Two of the systems
# compared here are not models but extreme cases: the {term}`oracle` predicts exactly the vote shares, and the
# {term}`uniform guess` gives every label the same probability.

# %%
quantity, *values, turned, example = conventions.SPREAD_COLUMNS
publish_table(
    "tbl-convention-spread",
    conventions.spread(table),
    columns=[quantity, turned, *values, example],
    caption=f"""The order of the systems compared here depends on the convention only for KL and calibration errors.
    This result may not carry over to other systems: two of the systems compared are the same model at two temperatures,
    and two others are not models. The smallest, reference and largest values are those of {leading}. The second column
    gives the number of pairs of systems whose order under the reference convention is reversed by another convention.
    The last column gives an example of a reversal.""",
)

# %% [markdown]
# Changing the direction of KL reverses the order of {value}`tbl-convention-spread quantity=KL n_turned` of the
# {value}`tbl-convention-spread quantity=KL n_pairs` pairs of systems ({numref}`tbl-convention-spread`). Scoring against
# the vote shares instead of the majority label reverses the order of
# {value}`tbl-convention-spread quantity=ECE n_turned` pairs for ECE and
# {value}`tbl-convention-spread quantity="class-wise ECE" n_turned` for class-wise ECE. For example, judged against the
# majority label, the vote shares look worse calibrated than a model does, but judged against themselves, the vote
# shares are perfectly calibrated ({doc}`calibration`).
#
# ## The same predictions, under every convention
#
# A floor changes KL only where the second distribution gives a label a probability below the floor. Vote shares are
# often exactly 0, but the softmax probabilities of a model hardly ever are.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Every convention, value by value, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-conventions",
    table,
    columns=conventions.columns_for(list(table.rows["system"].unique())),
    shown=conventions.shown_rows(table.rows),
    groups=["quantity"],
    index=["quantity", "convention"],
    caption="""Some conventions change the order of the systems. For a given quantity, only the convention changes from
    row to row. The reference, marked ◆, is the convention of {cite:t}`nie2020` or {cite:t}`baan2022`. Neither paper
    uses the Brier score, for which the reference is Brier's own definition. The last column names the papers and
    libraries that we know to use the convention. The floor used in computing KL is applied to the second distribution.
    The downloadable data also include other floors, other numbers of bins, and KL in bits.""",
)

# %% [markdown]
# ## What can be converted
#
# The calculator uses the exact recipes in the table below. Each recipe applies to the reported mean unless it names
# something else. The symbol *h* stands for an item's vote shares, and *m* for the model's probabilities.
#
# | quantity | from | to | recipe |
# | --- | --- | --- | --- |
# | Jensen–Shannon | distance, nats | distance, bits | divide by √ln 2 (× 1.2011) |
# | Jensen–Shannon | divergence, nats | divergence, bits | divide by ln 2 (× 1.4427) |
# | Jensen–Shannon | distance | divergence, same unit | square each item’s value |
# | KL | nats | bits | divide by ln 2 (× 1.4427) |
# | KL | KL(human ‖ model) | soft cross-entropy | add the mean human entropy in the same unit |
# | KL | averaged over all cells, `reduction='mean'` | averaged over items | multiply by the number of labels |
# | entropy | bits | nats | multiply by ln 2 (× 0.6931) |
# | EntCE | nats | bits | divide by ln 2 (× 1.4427) |
# | DistCE | TVD | L1 distance | multiply by 2 |
# | DistCE | TVD | soft accuracy | subtract from 1 |
# | ECE | mean majority share of the votes | ECE of the oracle against the majority | subtract from 1 |
# | class-wise ECE | divided by the binned items | divided by all items | multiply each class’s value by the share of items that fall into a bin |
# | Brier score | summed over labels (0 to 2) | halved (0 to 1) | divide by 2 |
# | Brier score | against single votes | squared distance to the vote shares | subtract the mean of 1 − Σh² |
#
# An automated test applies each recipe to randomly drawn votes and predictions, and compares the result with the value
# that the package computes directly.
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
# Some means that cannot be converted can still be bounded. {numref}`tbl-scoreboard-bounds` lists the bounds and shows
# how tight they are.
#
# ## Limitations
#
# The numbers on this page are for a few systems on
# {value}`tbl-conventions system=oracle quantity=EntCE convention=nats n_items ,.0f` SNLI items. The ratio between two
# conventions differs from system to system, unless the conventions differ only in the unit. We list only conventions
# that we know from papers and libraries.
#
# Next, the {doc}`scoreboard <scoreboard>` compares published results in one unit.

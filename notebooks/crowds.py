# %% [markdown]
# # An atlas of disagreement
#
# *How divided are ChaosNLI's annotators compared with other crowds?*
#
# We compare {value}`tbl-crowds count:n_items d` datasets with several votes per item: inference in other collections
# and in Chinese, and tasks that are no inference at all. Of those with three labels, the MNLI items of ChaosNLI and DICES-350 are
# the most divided: two people differ on {value}`tbl-crowds dataset=mnli disagreement .0%` of them, and on
# {value}`tbl-crowds dataset=snli disagreement .0%` of the SNLI items.
#
# Much of that may be choice: these items were chosen because five people had been split over them. On OCNLI, whose
# items were not chosen so, quadratic entropy is {value}`tbl-crowds dataset=ocnli evenness .0%` of its maximum; on
# the OCNLI items that would pass the same test, we estimate
# {value}`tbl-crowds-selection dataset=ocnli of_chosen .0%`.
#
# Before votes are read as disagreement, look at who gave them. By its votes RTE would be the most divided of those with
# two labels, at {value}`tbl-crowds dataset=rte disagreement .0%`. But {value}`tbl-crowds-annotators dataset=rte n_near d` of its
# {value}`tbl-crowds-annotators dataset=rte n_annotators d` workers, who gave
# {value}`tbl-crowds-annotators dataset=rte share_of_votes .0%` of the votes, agree with the others hardly more than by
# chance. Without them RTE is at {value}`tbl-crowds-annotators dataset=rte disagreement_without .0%`, between αNLI and MD-Agreement.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
most: int = 3000  # items that the nonparametric prior is fitted on; of more, some are drawn
resamples: int = 2000  # bootstrap resamples of the items, for the 95% intervals
fives: int = 10  # draws of five votes per item
refits: int = 300  # bootstrap resamples on which the prior is fitted anew
seed: int = 0  # seed of all draws

# %%
from IPython.display import Markdown

from chaos_utils.analyses import atlas, your_votes
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.atlas import plot_atlas
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

own_inputs = gather(data)
inputs = atlas.atlas_inputs(data, own_inputs)

# %% tags=["remove-input"]
Markdown(notices(own_inputs))

# %% [markdown]
# ## Who gave the votes
#
# Where annotators are named, the votes themselves show who may label at random: such a person agrees with the
# rest far less than others do. We count as {term}`near chance` who has a hundred votes or more and agrees less than half
# as far beyond chance as the median of those with ten votes, and surely less; by fewer votes, honest people would be
# among them.

# %%
near_chance = your_votes.near_chance(inputs, n_resamples=resamples, seed=seed)
has_judged = near_chance.rows["n_judged"] > 0 if len(near_chance) else []
publish_table(
    "tbl-crowds-annotators",
    near_chance,
    shown=near_chance.rows[has_judged] if any(has_judged) else near_chance.rows,
    columns=your_votes.NEAR_COLUMNS,
    caption="""Five workers make over two fifths of RTE’s disagreement. Annotators near chance, in datasets where some have
    a hundred votes: whose votes they are, and how often two votes on an item differ with and without them. *Beyond chance*: the median annotator’s agreement, the largest of those
    near chance, and the smallest of the others with a hundred votes. In brackets, 95% intervals over items and
    annotators. The data has the other datasets, evenness and {term}`Krippendorff’s α` too.""",
) if len(near_chance) else Markdown("This section needs annotators who are named.")

# %% [markdown]
# On RTE {cite:p}`snow2008` the five are far from the four others with a hundred votes: their agreement beyond chance is at most
# {value}`tbl-crowds-annotators dataset=rte largest_near .2f`, that of those four at least
# {value}`tbl-crowds-annotators dataset=rte smallest_kept .2f` ({numref}`tbl-crowds-annotators`). Without them,
# {term}`Krippendorff’s α` rises from {value}`tbl-crowds-annotators dataset=rte alpha .2f` to
# {value}`tbl-crowds-annotators dataset=rte alpha_without .2f`. That is no effect of leaving out those who disagree:
# found by one half of the items, they change the other half as much.
#
# On MD-Agreement and DICES-350 there is no such gap, and little changes. Who agrees least there may be careless, or a
# careful minority: the votes do not say which, so that everyone stays in the numbers below.
#
# People differ, so they are a sample as items are, and it matters how the votes are shared out. Two *votes* on an RTE
# item differ {value}`tbl-crowds dataset=rte disagreement .0%` of the time, two *people*, each counted alike,
# {value}`tbl-crowds dataset=rte alike .0%`; on MD-Agreement it is
# {value}`tbl-crowds dataset=md-agreement disagreement .0%` and {value}`tbl-crowds dataset=md-agreement alike .0%`.
# Where annotators are named, all intervals of agreement below are over items *and* annotators, by a two-way jackknife
# (see the {term}`glossary <interval over annotators>`).
#
# ## The atlas
#
# The chance that two votes on an item differ, its {term}`quadratic entropy`, can be estimated without bias from two votes
# on, so that datasets with five votes per item and with a hundred compare. Datasets with two labels and with ten do not:
# votes of three to one are 75% of the maximum with two labels, and 56% with three. So each number of labels has a panel
# of its own, and shares of the maximum stand beside.

# %%
datasets = atlas.by_disagreement(atlas.atlas(inputs, most=most, n_resamples=resamples, seed=seed))
publish_figure(
    "fig-atlas",
    plot_atlas,
    atlas.drawn_rows(datasets, atlas.spread(inputs, n_bins=20), near_chance),
    caption="""Of the datasets with three labels, the MNLI items and DICES-350 divide people most. Points are means with 95% intervals,
    over items and annotators where these are named, else over items; hollow, without annotators near chance. Bars show
    how the items spread, where most of them have at least twenty votes; each dataset’s highest bar has the same height.
    A stroke marks an even split over all labels.
    ChaosNLI chose its SNLI and MNLI items for their disagreement.""",
    alt="""Three panels, for two labels, three, and four or more; in each a row for every dataset, with a point for the
    chance that two votes on an item differ, and bars for its items. With two labels RTE and XHateStability stand at the
    top and αNLI at the bottom; a hollow point puts RTE without five workers between the two lowest. With three, MNLI stands at the top,
    SNLI in the lower half, OCNLI far below. With more labels, CSC and WAX stand at the top, and CIFAR-10H is far below all.
    The intervals of RTE and WAX are very wide. The items of SNLI and of the slider data spread over the whole range;
    those of CIFAR-10H are nearly all at the lower end.""",
)

# %% [markdown]
# Inference divides people in every dataset, and by very different amounts ({numref}`fig-atlas`): two people differ on
# {value}`tbl-crowds dataset=ocnli disagreement .0%` of the items of OCNLI {cite:p}`hu2020`, on
# {value}`tbl-crowds dataset=lalor disagreement .0%` of the 180 SNLI pairs that a thousand people judged
# {cite:p}`lalor2016`, and on {value}`tbl-crowds dataset=mnli disagreement .0%` of the MNLI items that ChaosNLI chose.
# AmbiEnt, whose sentences were picked for being ambiguous {cite:p}`liu2023`, and the slider data {cite:p}`pavlick2019` lie
# between.
#
# Two places are hardly known. RTE's rests on five workers, who make up
# {value}`tbl-crowds dataset=rte of_five .0%` of the variance over annotators: even its interval, from
# {value}`tbl-crowds dataset=rte disagreement_low .0%` to {value}`tbl-crowds dataset=rte disagreement_high .0%`, is too short.
# And WAX's eight annotators are too few to speak for others: it may stand anywhere from
# {value}`tbl-crowds dataset=wax disagreement_low .0%` to {value}`tbl-crowds dataset=wax disagreement_high .0%`.
#
# Whether a chatbot's answer is safe (DICES, {cite:alp}`aroyo2023`) divides people about as much as the MNLI items. Whether
# a tweet is offensive (MD-Agreement, {cite:alp}`leonardelli2021`), a reply ironic (MultiPICo, {cite:alp}`casola2024`) or a
# post hateful (XHateStability, {cite:alp}`abercrombie2023`) has two answers, between which
# {value}`tbl-crowds dataset=md-agreement disagreement .0%` to
# {value}`tbl-crowds dataset=xhatestability disagreement .0%` of pairs of people differ, of at most half. On scales of five or
# six points (POPQUORN, {cite:alp}`pei2023`; CSC, {cite:alp}`jang2024`) most pairs do, often by a single step: with the order
# taken into account, CSC's α is {value}`tbl-crowds dataset=csc alpha_ordered .2f` rather than
# {value}`tbl-crowds dataset=csc alpha .2f`. What a small picture shows divides nearly nobody: CIFAR-10H
# {cite:p}`peterson2019` is at {value}`tbl-crowds dataset=cifar10h disagreement .0%`, with a few divided pictures among
# thousands of clear ones.

# %%
publish_table(
    "tbl-crowds",
    datasets,
    columns=atlas.ATLAS_COLUMNS,
    caption="""Which crowd agrees least depends on the measure. How often two votes on an item differ, also as a share
    of its maximum at an even split, and {term}`Krippendorff’s α`. Annotators are counted where the file names them or
    lists them in one order; there, the 95% intervals in brackets are over items and annotators, elsewhere over items.
    Of annotators who judged an item in two rounds, the first counts. The data also has Shannon {term}`entropy` as a
    {term}`nonparametric prior`, fitted to each dataset, expects it, unanimous items and ties.""",
)

# %% [markdown]
# Chance-corrected agreement orders them differently ({numref}`tbl-crowds`). With three labels, α is lowest on the two DICES
# datasets ({value}`tbl-crowds dataset=dices alpha .2f` and {value}`tbl-crowds dataset=dices350 alpha .2f`), well below
# MNLI's {value}`tbl-crowds dataset=mnli alpha .2f`: every conversation there gets a similar mix of answers, so that
# two votes on one conversation agree little more often than votes on two different ones.
#
# Shares of the maximum mislead across numbers of labels: RTE's {value}`tbl-crowds dataset=rte evenness .0%` lies above
# MNLI's {value}`tbl-crowds dataset=mnli evenness .0%`, although two people differ less often there. And they depend on the
# entropy: on WAX, with sixteen labels, it is {value}`tbl-crowds dataset=wax shannon_evenness .0%` of the maximum by Shannon
# entropy and {value}`tbl-crowds dataset=wax evenness .0%` by quadratic entropy.
#
# Unanimous items must not be compared across numbers of votes. All people, five for most items, agree on
# {value}`tbl-crowds dataset=ocnli unanimous .0%` of the OCNLI items, and all hundred on
# {value}`tbl-crowds dataset=snli unanimous .0%` of the SNLI items. More than half of that gap is arithmetic: of
# five votes drawn from SNLI's hundred, all agree on
# {value}`tbl-few-votes dataset=snli quantity=unanimous n_votes=5 value .0%` of the items.
#
# ## What choosing divided items does
#
# The items of SNLI and MNLI in ChaosNLI are those whose old label had just three of five votes
# {cite:p}`nie2020`. What would this rule do to a dataset whose items were not chosen? For each one, a
# {term}`nonparametric prior` says what five people would do, and how divided all people are on the items that
# five would split three to two, or three to one to one. Where items have more than five votes, the same can be
# counted: five votes are drawn and choose, the others judge.

# %%
selection = atlas.selection(inputs, most=most, n_draws=fives, n_resamples=refits, seed=seed)
selection = atlas.by_evenness(selection)
publish_table(
    "tbl-crowds-selection",
    selection,
    columns=atlas.SELECTION_COLUMNS,
    caption="""Items that split five people three to two, or three to one to one, divide all people more,
    too. Shown are datasets of two and three labels: the share of items that are split so, and how divided
    people are on all items and on the split ones. *By votes*: five are drawn at random and choose, the
    others judge; where there are no others, only the prior can say. In brackets, 95% intervals over items;
    five votes do not determine the prior, so that the truth may lie beyond them. SNLI and MNLI had been
    chosen so once already.""",
)

# %% [markdown]
# The rule takes a sixth of OCNLI ({value}`tbl-crowds-selection dataset=ocnli seen .0%`). By the prior it doubles
# the disagreement, from {value}`tbl-crowds-selection dataset=ocnli evenness .0%` to
# {value}`tbl-crowds-selection dataset=ocnli of_chosen .0%` of the maximum ({numref}`tbl-crowds-selection`);
# OCNLI's own votes cannot confirm this, since choosing uses up all five. Where votes are left to judge, they agree
# with the prior.
#
# So the place of SNLI and MNLI in the atlas is that of chosen items, and the whole datasets should lie lower: the
# estimate for OCNLI's chosen items lies between SNLI ({value}`tbl-crowds-selection dataset=snli evenness .0%`) and
# MNLI ({value}`tbl-crowds-selection dataset=mnli evenness .0%`), and αNLI, of which ChaosNLI kept the whole
# development set, is at {value}`tbl-crowds-selection dataset=alphanli evenness .0%`, near OCNLI as it is. How much
# lower cannot be computed from these votes, since items on which five people agreed are missing.
#
# Five votes choose loosely. All of ChaosNLI's SNLI and MNLI items once split five people so; when five
# of the hundred votes are drawn, only {value}`tbl-crowds-selection dataset=snli seen .0%` of the SNLI items and
# {value}`tbl-crowds-selection dataset=mnli seen .0%` of the MNLI items do so again. RTE's
# {value}`tbl-crowds-selection dataset=rte seen .0%` counts all its votes, those of the five workers included.
#
# ## Your crowd in the atlas
#
# `chaos run crowds -p data=my-votes.csv` puts your votes among these datasets, and {doc}`../datasets` explains the
# formats. `chaos run crowd -p data=my-votes.csv` looks at yours alone.
#
# ## How far this goes
#
# The {value}`tbl-crowds count:n_items d` datasets differ in everything at once: task, language, guidelines, who was
# asked, how they were screened, and how items were chosen. The order of the atlas therefore says how divided these
# votes are, and nothing about which task is harder.
#
# A share of the maximum treats all labels alike. Each feature of a skin lesion has a scale of its own, with at
# most six of the {value}`tbl-crowds dataset=lesion n_labels` labels, so its share is too low; with their order
# taken into account, α is {value}`tbl-crowds dataset=lesion alpha_ordered .2f` rather than
# {value}`tbl-crowds dataset=lesion alpha .2f`.
#
# Two datasets rest on little or on a choice of ours. For WAX, with {value}`tbl-crowds dataset=wax n_items` items
# and sixteen labels, the prior has little to go on, and the Shannon entropy above is a guess. The slider's answers
# were cut into equal thirds, and another cut gives other numbers.
#
# Intervals over items alone take the people as they are. Where nobody is named, as in ChaosNLI, no others can be
# computed, and other people may differ more than they allow. Where few people gave all votes, more items do not help:
# {value}`tbl-crowds dataset=lesion n_annotators .0f` judged the skin lesions, and say little of others.

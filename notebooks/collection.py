# %% [markdown]
# # How the votes were collected
#
# *What do tests and hidden checks buy?*
#
# **Up to {value}`tbl-annotators sum:annotators ,.0f` annotators gave these votes, but nothing about who they were was
# released.** We simulate the precautions that were taken against careless votes. With
# {value}`fig-protocol-effect careless=0.6 without=nothing careless .0%` careless applicants,
# {value}`fig-protocol-effect careless=0.6 without=nothing misplaced .0f` of every hundred votes are misplaced under the
# published protocol, and {value}`fig-protocol-effect careless=0.6 without="hidden checks" misplaced .0f` without hidden
# checks. Chance alone would misplace {value}`fig-protocol-effect careless=0.6 without=nothing chance_misplaced .0f`.
# The simulation favours hidden checks, because most of the careless workers that it assumes are attentive in the test
# by definition.
#
# When people may legitimately disagree, no single vote can be marked wrong. {cite:t}`nie2020` still had to keep
# careless votes out of a collection of nearly half a million, and used tests, training and hidden checks. **Everything
# on this page except the published numbers is simulated and rests on the assumptions listed below.** It is not advice
# on how to collect votes.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
unanimous: float = 0.95  # share of votes on one label that a test item must exceed
collections: int = 2  # simulated collections of each dataset
dataset: str = "snli"  # dataset for the experiments with the protocol: snli, mnli or alphanli
items: int = 200  # number of items in these experiments
careless: list[float] = [0.1, 0.3, 0.6]  # shares of careless applicants in these experiments
replicates: int = 2  # simulated collections for each point of the figure on stages
seed: int = 0  # seed of all simulations

# %%
from IPython.display import Markdown

from chaos_utils.analyses import annotations, collection
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.base.errors import ChaosError
from chaos_utils.collection.protocol import load_protocol
from chaos_utils.datasets.catalogue import get_dataset, short_of
from chaos_utils.plots.collection import (
    plot_annotator_accuracy,
    plot_protocol,
    plot_protocol_effect,
)
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data)
with_lenders = collection.with_examples(inputs)
if not with_lenders:
    raise ChaosError("This chapter is on how ChaosNLI was collected; this data holds none of it.")
protocol = load_protocol()

# %% tags=["remove-input"]
Markdown(
    f"{notices(inputs.with_part('published collection'))}\n\n"
    f"{inputs.missing_note('published collection')}"
)

# %% [markdown]
# ## Who was asked
#
# The annotators were workers on Amazon Mechanical Turk: {value}`tbl-annotators dataset=snli annotators ,.0f` people for
# SNLI, {value}`tbl-annotators dataset=mnli annotators ,.0f` for MNLI and
# {value}`tbl-annotators dataset=alphanli annotators ,.0f` for αNLI, although some people may be counted for more than
# one dataset. They saw one English item at a time and chose one label; if they were unsure, they were asked to choose
# the best one. The paper does not report their age, country or first language, and the release contains only counts,
# not who gave which vote. The data therefore cannot show whether groups of annotators disagree with each other.

# %%
publish_table(
    "tbl-annotators",
    annotations.annotators([dataset.name for dataset in inputs.with_part("published collection")]),
    columns=annotations.ANNOTATORS,
    caption="""Thousands of crowdworkers answered within seconds, after a test that many failed. The numbers come from Table 1 of
    {cite:t}`nie2020`. SNLI and MNLI shared one test, so they have the same failure rates. *Annotators* are those whose votes were kept.""",
)

# %% [markdown]
# ## The protocol
#
# Nobody can check an opinion, but one can check whether somebody reads the items. The authors' *unanimous examples* are
# items on which more than 95% of 50 annotators agreed.
#
# 1. **On-boarding test.** Applicants answer a few unanimous examples. Those who make a mistake are turned away.
# 2. **Training.** More unanimous examples follow, and after each mistake the right label is shown. Applicants who make too many mistakes are
#    dismissed.
# 3. **Hidden checks.** Annotators then judge real items in small paid tasks. Now and then, an item is preceded by a unanimous example that
#    is indistinguishable from a regular item. Feedback continues, and annotators who make too many mistakes, or several in a row, are
#    blocked. None of a blocked annotator's votes count.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "The rules, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-protocol",
    collection.rules(protocol),
    columns=collection.RULES,
    caption="""The simulation follows the published rules, with one gap filled. {cite:t}`nie2020` report 10 to 12 training items, but they
    do not say after how many hidden checks accuracy starts to count. Without a minimum, the first mistake would block an annotator.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "The states of an annotator, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-protocol",
    plot_protocol,
    collection.transitions(protocol),
    caption="""Every annotator goes through the same few states. The diagram is drawn from the table of rules that the simulation runs. Each
    arrow is labelled with its event and condition. An annotator's votes count unless the annotator ends in a red state.""",
    alt="""Boxes from top to bottom: start, qualification, training, ready, check, item, finished.
    Qualification, training and check each have an arrow to the right, to rejected, dismissed and blocked.
    From ready, chance decides whether an annotator passes through check to item or goes to item at once;
    from item the way leads back to ready.""",
)

# %% [markdown]
# The rules are in one file, `chaos_utils/collection/protocol.json`. On {doc}`a page of this book <../annotate>`, you
# can be an annotator under these rules. The command `chaos votes merge FILE… --out DATASET` checks and joins the files
# that the annotation page saves; with `-p data=DATASET`, the chapters on votes use them.
#
# ## A simulated crowd
#
# - We take the shares of an item's hundred released votes as its *truth*. A *careful* annotator gives a label drawn from these shares,
#   except in occasional lapses, when the answer is a guess. Feedback on mistakes makes lapses rarer, but only down to a certain level.
# - There are four kinds of *careless* annotators. Hasty annotators are mostly attentive in the tests but mostly guess at work. Others guess
#   everywhere, give one label throughout, or confuse two labels until feedback corrects them.
# - Most annotators stay for a few items, but some stay for hundreds.
# - Items on which nearly all of the hundred agree (the parameter `unanimous`) stand in for the authors' unanimous examples; those of SNLI
#   and MNLI form one pool. These items are not themselves judged, and other items are judged twice in their place.
#
# We make four numerical assumptions about the applicants, each chosen to match a number that the paper reports:
#
# | assumed | SNLI and MNLI | αNLI | chosen for |
# |---|---|---|---|
# | careless applicants | {value}`tbl-collection dataset=snli quantity=careless simulated .0%` | {value}`tbl-collection dataset=alphanli quantity=careless simulated .0%` | failures of the on-boarding test (Table 1) |
# | lapses of careful annotators at work, once taught | {value}`tbl-collection dataset=snli quantity=lapse simulated .1%` | {value}`tbl-collection dataset=alphanli quantity=lapse simulated .1%` | accuracy after 300 items (Figure 2) |
# | their lapses in tests | {value}`tbl-collection dataset=snli quantity=lapse_in_tests simulated .1%` | {value}`tbl-collection dataset=alphanli quantity=lapse_in_tests simulated .1%` | annotators who were filtered out (Table 1) |
# | items that an annotator is ready to judge, mean | {value}`tbl-collection dataset=snli quantity=mean_stay simulated .0f` | {value}`tbl-collection dataset=alphanli quantity=mean_stay simulated .0f` | number of annotators (Table 1) |
#
# The mix of careless annotators, their lapses, and the speed of learning are also assumed.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "The simulation compared with the paper, as a table", "code_prompt_hide": "Fold the table"}
common = {"unanimous": unanimous, "seed": seed}
comparison = collection.against_paper(with_lenders, collections=collections, **common)
publish_table(
    "tbl-collection",
    comparison,
    columns=collection.COLLECTION_COLUMNS,
    shown=collection.reported_rows(comparison.rows),
    caption=f"""The simulation comes close to what the paper reports, because its assumptions were chosen to do so. *Paper* gives the values
    from Table 1 of {{cite:t}}`nie2020`; the accuracy after 300 items is read off their Figure 2, which has one curve for all datasets.
    *Simulated* is the mean of {collections} collections; brackets contain the lowest and the highest value. The downloadable data also
    include what the paper does not report, such as the cost.""",
)

# %% [markdown]
# Four assumptions were chosen to match four reported numbers, so their agreement ({numref}`tbl-collection`) does not
# show that the simulation is right. *In the simulation*,
# {value}`tbl-collection dataset=snli quantity=careless_votes_percent simulated .0f`% of the kept SNLI votes come from
# careless annotators. **This is not an estimate for the real crowd**, because other kinds of carelessness could lead to
# the same published rates.
#
# ## Accuracy over an annotator's items

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Accuracy of simulated annotators, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-annotator-accuracy",
    plot_annotator_accuracy,
    collection.accuracy_curves(with_lenders, collections=collections, **common),
    caption="""On SNLI and MNLI, simulated accuracy rises mainly because careless annotators are blocked; on αNLI, it hardly rises. The curves
    show the share of hidden checks answered correctly, by the number of items judged before, in bins of 50, for one simulated collection per
    dataset. Bands are 95% bootstrap intervals over annotators.""",
    alt="""A panel for each dataset. In each, a curve with a band runs over the items judged before: the share of right answers to hidden
    checks, in percent, of all simulated annotators. A thin line shows only the careful annotators, and a horizontal line marks the level at
    which the paper's curve settles.""",
)

# %% [markdown]
# On SNLI, accuracy rises from {value}`fig-annotator-accuracy dataset=snli who=all items=25 accuracy_percent .0f`% on an
# annotator's first items to {value}`fig-annotator-accuracy dataset=snli who=all items=25 settled_percent .0f`% after
# 300, whereas the accuracy of careful annotators rises by only three percentage points
# ({numref}`fig-annotator-accuracy`). The later level was chosen to match the paper, but the start and the path were
# not. {cite:t}`nie2020` also see a rise in the real collection, where learning and blocking cannot be separated.
#
# ## What each stage buys
#
# In a simulation, we can leave out a stage. The same population, with varying shares of careless applicants, gives a
# hundred votes per item under the published protocol, under the protocol without one of its stages, and without any
# stage. Finally, the population gives ten times as many votes without any stage. The error is the share of an item's
# simulated votes that are misplaced ({term}`TVD`), measured against the truth from which they were drawn.

# %%
name = get_dataset(dataset).name  # a folder of the reader's own may lack it
chosen = with_lenders.named(name) or with_lenders[:1]
effects = collection.stage_effects(
    chosen, items=items, careless=careless, replicates=replicates, **common
)
publish_figure(
    "fig-protocol-effect",
    plot_protocol_effect,
    effects.with_rows(
        effects.rows.assign(
            misplaced=100 * effects.rows["tvd"], chance_misplaced=100 * effects.rows["chance_tvd"]
        )
    ),
    caption=f"""With many careless applicants, hidden checks prevent more error than any other single stage, and they
    are the only stage for which annotators are paid. The panels show {items:,} items of {short_of(chosen[0].name)}, by
    the share of careless applicants. Marks are means of {replicates} simulated collections, and bars run from the
    lowest to the highest value. The vertical line is the error that chance alone leaves in a hundred votes. Hidden
    checks are paid at the same rate as items. The cost axis is logarithmic.""",
    alt="""Two panels of dots: error and cost. Rows are the published protocol, each stage left out, no stage at all, and no stage at all
    with a thousand votes per item, sorted by error; each mark stands for one share of careless applicants. Errors grow from row to row,
    most for the largest share. Without hidden checks, costs do not depend on the share, since no vote is thrown away.""",
)

# %% [markdown]
# Leaving out the hidden checks raises the error more than leaving out the test or the training
# ({numref}`fig-protocol-effect`). The precautions have a price: with
# {value}`fig-protocol-effect careless=0.6 without=nothing careless .0%` careless applicants, these items cost
# {value}`fig-protocol-effect careless=0.6 without=nothing dollars ,.0f` dollars, instead of
# {value}`fig-protocol-effect careless=0.6 without="every stage" dollars ,.0f` without any stage.
#
# Could one skip the tests and simply ask more people? With the same share of careless applicants and without any stage,
# raising the number of votes per item from a hundred to a thousand lowers the error only from
# {value}`fig-protocol-effect careless=0.6 without="every stage" misplaced .0f` to
# {value}`fig-protocol-effect careless=0.6 without="every stage, 1,000 votes per item" misplaced .0f` misplaced votes in
# every hundred. More votes remove sampling error, but not the bias of this crowd.
#
# ## What a simulation cannot show
#
# - The true distribution from which votes are drawn is itself based on a hundred votes per item. Errors in the simulation come *on top* of
#   the errors in the released data, and do not measure them.
# - Simulated annotators differ in care, not in opinion. A protocol that rewards agreement may turn away real people who read a sentence
#   differently.
# - Simulated lapses are random guesses. Real haste has a direction: hurried people respond to a word that stands out, so their careless votes
#   agree with each other.
# - Another mix of careless annotators could fit the paper equally well and produce different errors. For example, training helps more if
#   more applicants must learn what the labels mean. Compare rows and curves rather than single numbers, which come from only a few
#   simulated collections.

# %% [markdown]
# # How the votes were collected
#
# *What do tests and hidden checks buy?*
#
# **In two simulated collections of 200 SNLI items with many careless applicants, hidden checks prevent more error than
# any other single precaution that ChaosNLI's authors took.** With
# {value}`fig-protocol-effect careless=0.6 without=nothing careless .0%` careless applicants,
# {value}`fig-protocol-effect careless=0.6 without=nothing misplaced .0f` of every hundred votes are
# {term}`misplaced <TVD>` under the published protocol, and
# {value}`fig-protocol-effect careless=0.6 without="hidden checks" misplaced .0f` are misplaced without hidden checks.
# The simulation favours hidden checks, because it assumes that most careless annotators pay attention during the tests
# but not afterwards.
#
# If people may legitimately disagree, no single vote can be marked as wrong. Nevertheless, {cite:t}`nie2020` had to
# keep careless votes out of a collection of nearly half a million votes, so they used an on-boarding test, training and
# hidden checks. **Except for the published numbers, everything on this page is simulated and rests on the assumptions
# listed below.** This page is not advice on how to collect votes.

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
# Up to {value}`tbl-annotators sum:annotators ,.0f` workers on Amazon Mechanical Turk gave ChaosNLI's votes:
# {value}`tbl-annotators dataset=snli annotators ,.0f` on SNLI, {value}`tbl-annotators dataset=mnli annotators ,.0f` on
# MNLI and {value}`tbl-annotators dataset=alphanli annotators ,.0f` on αNLI. Some workers may have judged items from
# more than one dataset. The annotators saw one English item at a time and chose one label. If they were unsure, they
# were asked to choose the best label. The paper does not report the annotators' age, country or first language. The
# released data do not say who gave which vote, so they cannot show whether groups of annotators disagree with each
# other.

# %%
publish_table(
    "tbl-annotators",
    annotations.annotators([dataset.name for dataset in inputs.with_part("published collection")]),
    columns=annotations.ANNOTATORS,
    caption="""Thousands of crowdworkers judged the items, usually within seconds. All numbers come from Table 1 of {cite:t}`nie2020`. SNLI and
    MNLI have the same failure rates because they shared one test. *Annotators* counts only people whose votes were kept.""",
)

# %% [markdown]
# ## The protocol
#
# An opinion cannot be checked, but it is possible to check whether somebody reads the items. To check their annotators,
# {cite:t}`nie2020` used *unanimous examples*, which are items on which more than 95% of 50 annotators had agreed.
#
# 1. **On-boarding test.** Applicants answer a few unanimous examples. Applicants who make a mistake are turned away.
# 2. **Training.** Applicants who pass the on-boarding test answer more unanimous examples and are shown the right label after each mistake.
#    Applicants who make too many mistakes are rejected.
# 3. **Hidden checks.** Annotators then judge real items in small paid tasks. Now and then, an item is preceded by a unanimous example that looks
#    like any other item. Annotators also get feedback on hidden checks. Annotators who make too many mistakes, or several in a row, are blocked,
#    and none of their votes count.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "The rules, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-protocol",
    collection.rules(protocol),
    columns=collection.RULES,
    caption="""The simulation follows the published rules, in which we filled one gap. {cite:t}`nie2020` report 10 to 12 training items, but they
    do not say how many hidden checks an annotator had to answer before the required accuracy was checked. Without a minimum number of
    checks, a mistake on the first hidden check would block an annotator.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "The states of an annotator, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-protocol",
    plot_protocol,
    collection.transitions(protocol),
    caption="""An annotator can fail at three points, and then none of the annotator's votes count (red). At any time, an annotator is in one
    of a few states. Each arrow is labelled with an event and, where there is one, a condition.""",
    alt="""Boxes from top to bottom: start, qualification, training, ready, check, item, finished. Arrows to the right lead from qualification to
    rejected, from training to dismissed and from check to blocked. From ready, chance decides whether an annotator passes through check to item
    or goes to item at once. An arrow leads from item back to ready.""",
)

# %% [markdown]
# The rules are stored in `chaos_utils/collection/protocol.json`. You can
# {doc}`annotate items under the same rules <../annotate>` yourself. The command `chaos votes merge FILE… --out DATASET`
# checks and merges the files that the annotation page saves. With `-p data=DATASET`, the chapters on votes analyse the
# merged votes.
#
# ## A simulated crowd
#
# - The *true distribution* of an item is given by the label shares among its hundred released votes. A *careful* annotator draws a label from
#   this distribution, except in occasional lapses, when the annotator guesses. Feedback on mistakes reduces the rate of lapses, but only to a
#   certain level.
# - The simulation has four kinds of *careless* annotators. *Hasty* annotators mostly pay attention in the tests but mostly guess in the paid
#   tasks. Annotators of the other three kinds always guess, always give the same label, or confuse two labels until they are corrected.
# - Most annotators judge only a few items, but some judge hundreds.
# - Items on which nearly all of the hundred people agree stand in for the authors' unanimous examples. SNLI and MNLI share one pool of these
#   test items. Test items are not used as regular items, so some other items are judged twice to make up for them.
#
# We make four numerical assumptions about the applicants, each chosen to match a number that the paper reports:
#
# | assumption | SNLI and MNLI | αNLI | chosen to match |
# |---|---|---|---|
# | share of careless applicants | {value}`tbl-collection dataset=snli quantity=careless simulated .0%` | {value}`tbl-collection dataset=alphanli quantity=careless simulated .0%` | failure rate in the on-boarding test (Table 1) |
# | lapses of careful annotators in paid tasks, after feedback | {value}`tbl-collection dataset=snli quantity=lapse simulated .1%` | {value}`tbl-collection dataset=alphanli quantity=lapse simulated .1%` | accuracy after 300 items (Figure 2) |
# | lapses of careful annotators in tests | {value}`tbl-collection dataset=snli quantity=lapse_in_tests simulated .1%` | {value}`tbl-collection dataset=alphanli quantity=lapse_in_tests simulated .1%` | share of annotators who were filtered out (Table 1) |
# | mean number of items that an annotator is willing to judge | {value}`tbl-collection dataset=snli quantity=mean_stay simulated .0f` | {value}`tbl-collection dataset=alphanli quantity=mean_stay simulated .0f` | number of annotators (Table 1) |
#
# We also make assumptions about the shares of the four kinds of careless annotators, about how often each kind guesses,
# and about how quickly annotators learn.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "The simulation compared with the paper, as a table", "code_prompt_hide": "Fold the table"}
common = {"unanimous": unanimous, "seed": seed}
comparison = collection.against_paper(with_lenders, collections=collections, **common)
publish_table(
    "tbl-collection",
    comparison,
    columns=collection.COLLECTION_COLUMNS,
    shown=collection.reported_rows(comparison.rows),
    caption=f"""The simulation comes close to the numbers in the paper, because we chose its assumptions to match them. *Paper* gives values from
    Table 1 of {{cite:t}}`nie2020`. Only the accuracy after 300 items is read off Figure 2 of the paper, which has a single curve for all
    datasets. *Simulated* is the mean of {collections} simulated collections, with the lowest and the highest value in brackets. The downloadable
    data also include simulated quantities that the paper does not report, such as the cost.""",
)

# %% [markdown]
# Because we chose four assumptions to match four reported numbers, the agreement in {numref}`tbl-collection` does not
# show that the simulation is right. *In the simulation*,
# {value}`tbl-collection dataset=snli quantity=careless_votes_percent simulated .0f`% of the kept SNLI votes come from
# careless annotators. **The simulated share of careless votes is not an estimate for the real crowd**, because other
# kinds of carelessness could lead to the same published rates.
#
# ## Accuracy over an annotator's items

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Accuracy of simulated annotators, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-annotator-accuracy",
    plot_annotator_accuracy,
    collection.accuracy_curves(with_lenders, collections=collections, **common),
    caption="""On SNLI and MNLI, simulated accuracy rises mainly because careless annotators are blocked, whereas on αNLI, it hardly rises. The
    curves show the share of hidden checks that are answered correctly in one simulated collection of each dataset. Checks are grouped into bins
    of 50 by the number of items that the annotator has already judged. Bands are 95% intervals from resampling annotators.""",
    alt="""One panel for each dataset. A curve with a band shows the percentage of hidden checks that all simulated annotators answer correctly,
    by the number of items judged before. A thin line shows only the careful annotators, and a horizontal line marks the level at which the
    paper's curve settles.""",
)

# %% [markdown]
# On SNLI, simulated accuracy rises from
# {value}`fig-annotator-accuracy dataset=snli who=all items=25 accuracy_percent .0f`% on the first items that annotators
# judge to {value}`fig-annotator-accuracy dataset=snli who=all items=25 settled_percent .0f`% after 300 items, whereas
# the accuracy of careful annotators rises by only three percentage points ({numref}`fig-annotator-accuracy`). We chose
# the assumptions so that the level after 300 items matches the paper, but we fitted neither the starting level nor the
# shape of the curve. {cite:t}`nie2020` also observe a rise in the real collection, where learning and blocking cannot
# be separated.
#
# ## What each stage buys
#
# We simulate a hundred votes per item under the published protocol, without each of its stages in turn, and with none
# of the stages. The final variant of the protocol has no stages but collects a thousand votes per item. The error is
# the share of an item's simulated votes that are misplaced, that is, the {term}`TVD` between the simulated vote shares
# and the true distribution.

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
    caption=f"""With many careless applicants, hidden checks prevent more error than any other single stage does. Hidden checks are also the only
    stage for which annotators are paid, at the same rate as for items. The panels show results for {items:,} {short_of(chosen[0].name)} items
    and different shares of careless applicants. Marks are means of {replicates} simulated collections, and bars run from the lowest to the
    highest value. The vertical line marks the error that a hundred votes would have by chance alone if every vote were drawn from the true
    distribution. The cost axis is logarithmic.""",
    alt="""Two panels of dots, for error and for cost. Rows are the published protocol, the protocol without each of its stages, no stage at all,
    and no stage at all with a thousand votes per item, sorted by error. Each mark stands for one share of careless applicants. Errors grow from
    row to row and grow most for the largest share. Without hidden checks, costs do not depend on the share.""",
)

# %% [markdown]
# Even if every vote were drawn from the true distribution,
# {value}`fig-protocol-effect careless=0.6 without=nothing chance_misplaced .0f` of every hundred votes would be
# misplaced by chance ({numref}`fig-protocol-effect`). The precautions cost money. With
# {value}`fig-protocol-effect careless=0.6 without=nothing careless .0%` careless applicants, the simulated collection
# costs {value}`fig-protocol-effect careless=0.6 without=nothing dollars ,.0f` dollars under the published protocol and
# {value}`fig-protocol-effect careless=0.6 without="every stage" dollars ,.0f` dollars with none of the stages.
#
# Would it be enough to skip the precautions and ask more people? With
# {value}`fig-protocol-effect careless=0.6 without=nothing careless .0%` careless applicants and none of the stages,
# collecting a thousand votes per item instead of a hundred lowers the error only from
# {value}`fig-protocol-effect careless=0.6 without="every stage" misplaced .0f` to
# {value}`fig-protocol-effect careless=0.6 without="every stage, 1,000 votes per item" misplaced .0f` misplaced votes in
# every hundred. More votes reduce sampling error, but they do not reduce the bias that careless annotators cause.
#
# ## What a simulation cannot show
#
# - The simulation treats the label shares among a hundred released votes as the truth. Errors in the simulation therefore come on top of the
#   errors in the released data.
# - Simulated annotators differ in how careful they are, but not in their opinions. In reality, a protocol that rewards agreement may turn away
#   people who read a sentence differently from most others.
# - Simulated lapses are random guesses. Real people in a hurry may respond to the same conspicuous word, so their careless votes agree with each
#   other more often than random guesses do.
# - Another mix of careless annotators could match the published numbers equally well but lead to different errors. Each number on this page
#   comes from only a few simulated collections, so compare rows and curves rather than single numbers.

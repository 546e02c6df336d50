# %% [markdown]
# # How the votes were collected
#
# *What do tests and hidden checks buy?*
#
# **Up to {value}`tbl-annotators sum:annotators ,.0f` annotators gave these votes; who they were was not released.** We
# simulate the precautions: with {value}`fig-protocol-effect careless=0.6 without=nothing careless .0%` careless
# applicants the published protocol misplaces {value}`fig-protocol-effect careless=0.6 without=nothing tvd .0%` of the
# votes, and {value}`fig-protocol-effect careless=0.6 without="hidden checks" tvd .0%` without hidden checks; of either,
# chance alone leaves {value}`fig-protocol-effect careless=0.6 without=nothing chance_tvd .0%`. The simulation favours
# such checks: the careless workers that it assumes pass the test by definition.
#
# Where people may rightly disagree, no single vote can be marked wrong. {cite:t}`nie2020` still had
# to keep careless votes out of nearly half a million, with tests, training and hidden checks. **Everything on this page but the
# published numbers is simulated, and rests on assumptions that are named below.** It is no advice on how to collect.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
unanimous: float = 0.95  # share of votes on one label that an item for tests must exceed
collections: int = 2  # simulated collections of each dataset
dataset: str = "snli"  # whose items the experiments with the protocol use: snli, mnli or alphanli
items: int = 200  # items in these experiments
careless: list[float] = [0.1, 0.3, 0.6]  # shares of careless applicants in them
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
# The annotators were workers on Amazon Mechanical Turk:
# {value}`tbl-annotators dataset=snli annotators ,.0f` people for SNLI,
# {value}`tbl-annotators dataset=mnli annotators ,.0f` for MNLI and
# {value}`tbl-annotators dataset=alphanli annotators ,.0f` for αNLI, some perhaps counted for two datasets. They
# saw one English item at a time and chose one label; if unsure, they were asked to choose the
# best. The paper says nothing of their age, country or first language, and the release holds
# counts, not who gave which vote. So nobody can tell from the data whether groups among them
# disagree with each other.

# %%
publish_table(
    "tbl-annotators",
    annotations.annotators([dataset.name for dataset in inputs.with_part("published collection")]),
    columns=annotations.ANNOTATORS,
    caption="""Thousands of crowdworkers answered, in seconds, after a test that many failed.
    From Table 1 of {cite:t}`nie2020`. SNLI and MNLI shared one test and its rates; the
    annotators are those whose votes were kept.""",
)

# %% [markdown]
# ## The protocol
#
# Nobody can check an opinion, but one can check whether somebody reads. Items on which more than 95% of 50
# annotators agreed are the authors' *unanimous examples*.
#
# 1. **On-boarding test.** Applicants answer a few unanimous examples; one mistake, and they are turned away.
# 2. **Training.** More of them follow, and after each mistake the right label is shown. Too many
#    mistakes end it.
# 3. **Hidden checks.** Then real items come, in small paid tasks. Now and then a unanimous example
#    comes first, indistinguishable from regular items. Feedback continues; too many mistakes,
#    or several in a row, block an annotator. No vote of a blocked annotator counts.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "The rules, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-protocol",
    collection.rules(protocol),
    columns=collection.RULES,
    caption="""The simulation follows the published rules, with one gap filled. {cite:t}`nie2020` give
    10 to 12 items of training and do not say from how many hidden checks on their accuracy counts;
    without such a number the first mistake would block.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "The states of an annotator, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-protocol",
    plot_protocol,
    collection.transitions(protocol),
    caption="""Every annotator goes through the same few states. Drawn from the table of rules that
    the simulation runs. An arrow says which event takes it, and on what condition; votes count
    unless an annotator ends in a red state.""",
    alt="""Boxes from top to bottom: start, qualification, training, ready, check, item, finished.
    Qualification, training and check each have an arrow to the right, to rejected, dismissed
    and blocked. From ready the way leads by chance through check to item or to item at once, and
    from item back to ready.""",
)

# %% [markdown]
# The rules are one file, `chaos_utils/collection/protocol.json`. On
# {doc}`a page of this book <../annotate>` you can be an annotator under them. The files that it saves
# are checked and joined by `chaos votes merge FILE… --out DATASET`; `-p data=DATASET` then puts them
# into the chapters on votes.
#
# ## A simulated crowd
#
# - An item's *truth* is taken to be its hundred released votes as shares. A *careful* annotator
#   answers with a draw from it, except for a share of lapses, which are guesses. Feedback on mistakes
#   lowers that share, down to a level that remains.
# - *Careless* annotators are of four kinds. Hasty ones are attentive in the tests and guess at
#   work. Others guess everywhere, give one label throughout, or have confused two labels, which
#   feedback mends.
# - Most annotators stay for few items, some for hundreds.
# - Items on which nearly all of the hundred agree (the parameter `unanimous`) stand in for the
#   authors' unanimous examples, SNLI's and MNLI's in one pool, and are not judged. Others are judged
#   twice in their place.
#
# Four numbers about the applicants are assumed, each chosen to match one that the paper reports:
#
# | assumed | SNLI and MNLI | αNLI | chosen for |
# |---|---|---|---|
# | careless applicants | {value}`tbl-collection dataset=snli quantity=careless simulated .0%` | {value}`tbl-collection dataset=alphanli quantity=careless simulated .0%` | failures of the on-boarding test (Table 1) |
# | lapses of careful annotators at work, once taught | {value}`tbl-collection dataset=snli quantity=lapse simulated .1%` | {value}`tbl-collection dataset=alphanli quantity=lapse simulated .1%` | accuracy after 300 items (Figure 2) |
# | their lapses in tests | {value}`tbl-collection dataset=snli quantity=lapse_in_tests simulated .1%` | {value}`tbl-collection dataset=alphanli quantity=lapse_in_tests simulated .1%` | annotators who were filtered out (Table 1) |
# | items that an annotator is ready to judge, mean | {value}`tbl-collection dataset=snli quantity=mean_stay simulated .0f` | {value}`tbl-collection dataset=alphanli quantity=mean_stay simulated .0f` | number of annotators (Table 1) |
#
# The mix of careless kinds, their lapses and the speed of learning are assumed too.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "The simulation beside the paper, as a table", "code_prompt_hide": "Fold the table"}
common = {"unanimous": unanimous, "seed": seed}
comparison = collection.against_paper(with_lenders, collections=collections, **common)
publish_table(
    "tbl-collection",
    comparison,
    columns=collection.COLLECTION_COLUMNS,
    shown=collection.reported_rows(comparison.rows),
    caption=f"""The simulation comes near what the paper reports, as its assumptions were chosen to. *Paper* is
    Table 1 of {{cite:t}}`nie2020`; the accuracy after 300 items is read off their Figure 2, one curve for all
    datasets. *Simulated* is the mean of {collections} collections, in brackets the lowest and the
    highest. The download adds what the paper does not report, such as the cost.""",
)

# %% [markdown]
# Four assumptions were chosen to match four reported numbers, so their agreement ({numref}`tbl-collection`) says
# nothing about the simulation. *In the simulation*,
# {value}`tbl-collection dataset=snli quantity=careless_votes_percent simulated .0f`% of the kept SNLI votes
# come from careless annotators. **That is no estimate for the real crowd**: other kinds of carelessness
# would lead to the same published rates.
#
# ## Accuracy over an annotator's items

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Accuracy of simulated annotators, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-annotator-accuracy",
    plot_annotator_accuracy,
    collection.accuracy_curves(with_lenders, collections=collections, **common),
    caption="""In the simulation, accuracy rises mainly because careless annotators are blocked. Share of
    hidden checks answered correctly, over the items judged before, in bins of 50; one simulated
    collection per dataset, bands are 95% bootstrap intervals over annotators.""",
    alt="""A panel for each dataset. In each, a curve with a band runs over the items judged before:
    the share of right answers to hidden checks, in percent, of all simulated annotators. A thin
    line shows that of careful annotators alone, a level line where the paper's curve settles.""",
)

# %% [markdown]
# On SNLI, accuracy rises from
# {value}`fig-annotator-accuracy dataset=snli who=all items=25 accuracy_percent .0f`% on an
# annotator's first items to
# {value}`fig-annotator-accuracy dataset=snli who=all items=25 settled_percent .0f`% after 300,
# while that of careful annotators rises by only three points ({numref}`fig-annotator-accuracy`). The later level
# was chosen to match the paper; the start and the path were not. {cite:t}`nie2020` see a rise in the real
# collection, too; there, learning and blocking cannot be separated.
#
# ## What each stage buys
#
# A simulation can leave a stage out. The same population, but with
# other shares of careless applicants, collects a hundred votes per item under the published
# protocol, then without one stage, then without any, and then with ten times the votes. Error is the share of votes that an
# item's simulated votes misplace ({term}`TVD`), judged by the truth they were drawn from.

# %%
name = get_dataset(dataset).name  # a folder of the reader's own may lack it
chosen = with_lenders.named(name) or with_lenders[:1]
publish_figure(
    "fig-protocol-effect",
    plot_protocol_effect,
    collection.stage_effects(
        chosen, items=items, careless=careless, replicates=replicates, **common
    ),
    caption=f"""With many careless applicants, hidden checks prevent the most error of the single stages; they alone are
    paid. {items:,} items of {short_of(chosen[0].name)}, by the share of careless applicants; mean of {replicates}
    simulated collections, bars from the lowest to the highest. The upright line is the error that chance alone leaves
    in a hundred votes. Hidden checks are paid like items; the axis of cost is logarithmic.""",
    alt="""Two panels of dots: error and cost. Rows are the published protocol, each stage left out, no stage
    at all, and none but a thousand votes per item, sorted by error; marks are shares of careless applicants.
    Errors grow from row to row, most for the largest share. Without hidden checks, costs do not depend on the
    share, since no vote is thrown away.""",
)

# %% [markdown]
# Leaving out the hidden checks raises the error more than leaving out the test or the training
# ({numref}`fig-protocol-effect`). The precautions have a price: with
# {value}`fig-protocol-effect careless=0.6 without=nothing careless .0%` careless applicants, these items cost
# {value}`fig-protocol-effect careless=0.6 without=nothing dollars ,.0f` dollars instead of
# {value}`fig-protocol-effect careless=0.6 without="every stage" dollars ,.0f`.
#
# Could one skip the tests and simply ask more people? With as many careless applicants and without any stage, a
# thousand votes per item instead of a hundred lower the error only from
# {value}`fig-protocol-effect careless=0.6 without="every stage" tvd .3f` to
# {value}`fig-protocol-effect careless=0.6 without="every stage, 1,000 votes per item" tvd .3f`. More votes
# remove sampling error, not the bias of this crowd.
#
# ## What a simulation cannot show
#
# - The truth that votes are drawn from is itself made of a hundred votes per item. Errors here come
#   *on top* of those of the released data and do not measure them.
# - Simulated annotators differ in care, not in opinion. A protocol that rewards agreement may turn
#   away real people who read a sentence differently.
# - Lapses are guesses at random. Real haste has a direction: people answer by a word that stands out,
#   and their careless votes then agree with each other.
# - Another mix of careless annotators that fits the paper as well would leave other errors: where more
#   applicants must learn what the labels mean, training buys more. Compare rows and curves rather than
#   single numbers, which come from few simulated collections.

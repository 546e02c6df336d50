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
# # How the opinions were collected
#
# Where people may rightly disagree, no vote can be marked wrong. How did {cite:t}`nie2020` keep
# careless votes out of nearly half a million opinions, and what did each of their precautions buy?
# This chapter runs their protocol on simulated annotators.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
unanimous: float = 0.95  # share of votes on one label that an item for tests must exceed
collections: int = 2  # simulated collections of each dataset
dataset: str = "snli"  # whose items the experiments with the protocol use: snli, mnli or alphanli
items: int = 200  # items in these experiments
careless: list[float] = [0.1, 0.3, 0.6]  # shares of careless applicants in them
replicates: int = 2  # simulated collections for each point of the figure on stages
budget: float = 600.0  # dollars to spend on these items, for the guidance
check_rates: list[float] = [0.0, 0.1, 0.2, 0.4, 0.8]  # chances of a hidden check to compare
thresholds: list[float] = [0.65, 0.75, 0.85]  # accuracies on hidden checks to ask for
seed: int = 0  # seed of all simulations

# %%
from IPython.display import Markdown

from chaos_utils.analyses import collection
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.names import dataset_name, listed
from chaos_utils.analyses.notices import notices
from chaos_utils.base.errors import ChaosError
from chaos_utils.crowd.protocol import load_protocol
from chaos_utils.crowd.tables import SETTLED
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.plots.collection import (
    plot_annotator_accuracy,
    plot_bias_variance,
    plot_protocol,
    plot_protocol_effect,
)
from chaos_utils.presentation import collection as presentation
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table

material = gather(data)
evidence = collection.with_examples(material)
if not evidence:
    raise ChaosError("This chapter is on how ChaosNLI was collected; this data holds none of it.")
protocol = load_protocol()

# %% tags=["remove-input"]
Markdown(
    f"{notices(material.having('published collection'))}\n\n"
    f"{material.left_out('published collection')}"
)

# %% [markdown]
# ## The protocol
#
# Nobody can check an opinion, but one can check whether somebody reads. Some items leave no room
# for opinion: when more than 95% of 50 annotators agreed on one, the authors called it a
# *unanimous example*. All precautions rest on these.
#
# 1. **On-boarding test.** Whoever applies answers a few easy unanimous examples, and one mistake
#    turns them away. It keeps out who guesses and who misread the instructions, before they
#    vote.
# 2. **Training.** More unanimous examples follow, and after each mistake the right label is
#    shown. It teaches what the labels mean; too many mistakes end it.
# 3. **Hidden checks.** Then real items come, in small paid tasks. Now and then a unanimous example
#    comes first, indistinguishable from the rest. It finds who passed the tests attentively and
#    works without care, and its feedback goes on teaching. Too many mistakes, or several in a row,
#    block an annotator; none of the votes of a blocked annotator is kept, and others vote instead.

# %% tags=["remove-input"]
rules = protocol.parameters
Markdown(
    f"In numbers: {rules['qualification_items']} examples, all right, for admission; "
    f"{rules['training_items']} in training (10 to 12 in the paper), at least "
    f"{rules['min_training_accuracy']:.0%} right; a hidden check before each item with a chance of "
    f"{rules['check_rate']:.0%}; blocked under {rules['min_check_accuracy']:.0%} or after "
    f"{rules['max_wrong_in_a_row']} mistakes in a row; {rules['task_size']} items per task, at up to "
    f"${rules['pay_per_task']:.2f}; {rules['votes_per_item']} different annotators on each item. "
    "One number is not published: from how many hidden checks on their accuracy counts. We take "
    f"{rules['min_checks']}, as many as in training, since the first mistake would otherwise block."
)

# %%
publish_figure(
    "fig-protocol",
    plot_protocol,
    collection.open_ways(protocol),
    caption="""The protocol as a state machine. Drawn from the table of rules that the simulation
    interprets. An arrow says which event takes it, and on what condition; *otherwise* is what
    remains when no other arrow of the same event applies. Whoever leaves the frame by stopping is
    finished, and the votes count; red ends keep none.""",
    alt="""Boxes from top to bottom: start, qualification, training, ready, check, item, finished.
    Qualification, training and check each have an arrow to the right, to rejected, dismissed
    and blocked, when too few answers were right. From ready the way leads by chance through check
    to item or to item at once, and from item back to ready.""",
)

# %% [markdown]
# The table is one file, `chaos_utils/crowd/protocol.json`. It holds states, events and thresholds,
# and every answer is an event, so a log of events can be replayed to the same end. On
# {doc}`a page of this book <../annotate>` you can be an annotator under these rules. The files that
# it saves are checked and joined by `chaos votes merge FILE… --out DATASET`;
# `-p data=DATASET` then puts them into the chapters on votes.
#
# ## A simulated crowd
#
# What the annotators did was not released, only how many votes each label got. **All that follows
# is simulated.** It shows how such a protocol can work, not how the real annotators behaved.
#
# - An item's *truth* is taken to be its hundred released votes as shares. A *careful* annotator
#   answers with a draw from it, but for a share of lapses, which are guesses. Feedback on mistakes
#   lowers that share, down to a level that stays.
# - *Careless* annotators are of four kinds. Hasty ones are attentive where they know that they
#   are tested, and guess at work. Others guess everywhere, give one label throughout, or have
#   taken two labels for each other, which feedback mends.
# - Annotators stay for a number of items that varies widely: most for few, some for hundreds.
# - The authors' unanimous examples were not released either. Items on which nearly all of the
#   hundred agree (the parameter `unanimous`) stand in for them, SNLI's and MNLI's in one pool,
#   and are not judged.
#
# Four numbers are not assumed but fitted, for each dataset, to what the paper reports: the share of
# careless applicants, how often careful ones lapse at work and in tests, and how long annotators
# stay. The mix of careless kinds, their lapses and the speed of learning are assumptions.

# %%
common = {"protocol": protocol, "unanimous": unanimous, "seed": seed}
materials = collection.materials(evidence, collections=collections, **common)

# %% tags=["remove-input"]
shown = list(materials.rows.itertuples())
pools = [f"{row.n_examples:,} for {dataset_name(row.dataset)}" for row in shown]
again = [f"{row.n_repeated:,} on {dataset_name(row.dataset)}" for row in shown]
votes = materials.rows["n_votes"].sum()
Markdown(
    f"The available unanimous examples are {listed(pools)}. Where items to judge are lacking, others "
    f"stand in once more: {listed(again)}. So a simulated collection has as many votes as the real "
    f"one, {votes:,} in all. Simulated collections of each dataset: {collections}."
)

# %%
compared = collection.beside_published(evidence, collections=collections, **common)
publish_table(
    "tbl-collection",
    compared,
    columns=collection.COLLECTION_COLUMNS,
    shown=collection.by_quantity(compared.rows),
    caption=f"""The collection, published beside simulated. Published values are those of Table 1
    of {{cite:t}}`nie2020`; the accuracy after 300 items is read off their Figure 2, one curve for
    all datasets. *Simulated* is the mean of {collections} collections, in brackets the lowest and the
    highest; for a free parameter, the fitted value and its 95% interval. Δ is simulated minus
    published. Nothing was fitted to the rows marked *predicted*. Cost counts items and hidden
    checks at the published highest pay; time counts every answer at the published mean.""",
)

# %% tags=["remove-input"]
targets = collection.fit_targets(evidence, **common)
Markdown(presentation.say_fit(compared.rows, targets.rows))

# %% [markdown]
# The same figures could have come about otherwise. An honest but unclear test rejects people too,
# and who fails may try again under another name. The share of careless applicants is what
# *this* model needs to explain the rates, not a finding about people.
#
# ## Accuracy over an annotator's items

# %%
curves = collection.accuracy_curves(evidence, collections=collections, **common)
publish_figure(
    "fig-annotator-accuracy",
    plot_annotator_accuracy,
    curves,
    caption=f"""Accuracy on hidden checks over an annotator's items, simulated. One simulated
    collection a dataset, in bins of 50 items; bands are 95% bootstrap intervals over annotators.
    Dashed: the level at which the paper's Figure 2 settles; dotted, upright: the {SETTLED} items
    after which it does. The thin line is of careful annotators alone. The fewer annotators stay so
    long, the wider a band.""",
    alt="""A panel for each dataset. In each, a curve with a band runs over the items judged before:
    the share of right answers to hidden checks, in percent, of all simulated annotators. A thin
    line shows that of careful annotators alone, a level line where the paper's curve settles,
    an upright line after how many items.""",
)

# %% tags=["remove-input"]
Markdown(presentation.say_accuracy(curves.rows, SETTLED))

# %% [markdown]
# ## What each stage buys
#
# A simulation can do what a collection cannot: leave a stage out and see. The same population, but
# with other shares of careless applicants, collects a hundred votes per item under the published
# protocol, then without one stage, then without any. Error is the {term}`TVD` between an item's
# simulated votes and the truth they were drawn from.

# %%
wanted = get_dataset(dataset).name  # a folder of the reader's own may lack it
chosen = evidence.named(wanted) or evidence[:1]
name = dataset_name(chosen[0].name)
experiment = {"items": items, **common}
effects = collection.stage_effects(chosen, careless=careless, replicates=replicates, **experiment)
publish_figure(
    "fig-protocol-effect",
    plot_protocol_effect,
    effects,
    caption=f"""What each stage does to error, cost and time, simulated. {items:,} items of
    {name}, mean of {replicates} simulated collections, bars from the lowest to the
    highest. Error is the mean total variation distance over items; the grey line is what the chance
    of so many votes alone leaves. Hidden checks are taken to be paid like items, tests not at all.""",
    alt="""Three panels over the share of careless applicants: error, cost, time. In each, a line
    for the published protocol, one for every stage that is left out, and one without any stage.
    A grey line in the panel of errors shows what chance alone leaves. The lines of cost without
    hidden checks are level, since then no vote is thrown away.""",
)

# %% tags=["remove-input"]
fitted = compared.rows.set_index(["dataset", "quantity"])["simulated"]
Markdown(presentation.say_effects(effects.rows, fitted[chosen[0].name, "careless"] / 100))

# %% [markdown]
# ## Why more votes do not help
#
# Could one not skip the tests and simply ask more people?

# %%
sizes = [5, 10, 20, 50, 100, 200, 500, 1000]
errors = collection.errors_with_and_without(
    chosen, careless=[0.0, *careless], n_votes=sizes, **experiment
)
publish_figure(
    "fig-bias-variance",
    plot_bias_variance,
    errors,
    caption=f"""Error against votes per item, and the bias it runs into, expected of simulations.
    Items of {name}; squared error summed over labels, mean over items. Dashed
    lines are the squared bias: what endless votes of the same crowd would leave. Both axes are
    logarithmic.""",
    alt="""Two panels, under the published protocol and without any stage. In each, a curve for
    every share of careless applicants falls as votes are added, and flattens towards a dashed
    level line of its own.""",
)

# %% tags=["remove-input"]
Markdown(presentation.say_bias(errors.rows))

# %% [markdown]
# ## Design guidance
#
# A hidden check costs as much as a vote, and a strict threshold throws votes away that were paid.
# So a budget buys fewer votes where more is checked, but better ones. Which is worth more depends
# on the budget: the parameter `budget` is for your own.

# %%
advice = collection.guidance(
    chosen, budget=budget, check_rates=check_rates, thresholds=thresholds, **experiment
)
publish_table(
    "tbl-collection-guidance",
    advice,
    columns=collection.GUIDANCE_COLUMNS,
    caption=f"""What ${budget:,.0f} buys for {items:,} items, expected of simulations. By the chance
    of a hidden check before an item and the accuracy asked for on them, the rest as published.
    The population is the one fitted to {name}. A kept vote bears the cost of checks
    and of votes thrown away.""",
)

# %% tags=["remove-input"]
published = (rules["check_rate"], rules["min_check_accuracy"])
Markdown(presentation.say_guidance(advice.rows, budget, items, published))

# %% [markdown]
# Two things limit this advice. Every hidden check needs a unanimous example, and they must be
# known beforehand. And all the checks see is whether an annotator agrees where everybody does:
# who is careless only about hard items passes them all.
#
# ## What a simulation cannot show
#
# - The truth that votes are drawn from is itself made of a hundred votes each, with whatever lapses
#   the real annotators had. So errors here come *on top* of those of the released data and do not
#   measure them.
# - Simulated annotators differ in care, not in opinion. Real ones may read a sentence in ways of
#   their own, and a protocol that rewards agreement may send such people away.
# - Only the mis-instructed among them must learn what the labels mean. Where real applicants need
#   that more often, training buys more than it can here.
# - Lapses are guesses at random. Real haste has a direction, such as an answer for a word that
#   stands out, and then careless votes agree with each other.
# - Careless kinds, their mix and their learning are assumed. Another mix that meets the same
#   targets would leave other errors; compare rows and curves rather than reading single numbers.

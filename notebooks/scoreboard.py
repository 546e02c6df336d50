# %% [markdown]
# # Scoreboard
#
# *How does my result compare?*
#
# **{value}`tbl-scoreboard-published-uses sum:numbers .0f` published numbers from 2020 to 2026, and every system that
# we could score, in one unit.** We recomputed {value}`tbl-scoreboard-published-uses sum:recomputed .0f`, read
# {value}`tbl-scoreboard-published-uses sum:read .0f` at the source and know
# {value}`tbl-scoreboard-published-uses sum:secondary .0f` second hand. What converts exactly is converted; the rest
# is bounded, never ranked by a guess. Read side by side, two numbers called JSD can look
# {value}`tbl-scoreboard-units system=roberta-large "prediction=one temperature" apparent_ratio .1f` times apart and
# be about equal: one is in bits, the other in nats.
#
# The unit is {term}`worth`: how many people you would have to ask about each item, on top of how often each label is
# given overall, to learn as much as from the system once it is {term}`recalibrated <worth, recalibrated>`. Few places
# are certain: on SNLI, RoBERTa-large may have any of the places
# {value}`tbl-scoreboard dataset=snli system=roberta-large place_best .0f` to
# {value}`tbl-scoreboard dataset=snli system=roberta-large place_worst .0f` of
# {value}`tbl-scoreboard dataset=snli system=roberta-large n_placed .0f`.
#
# Add yours with one command and a pull request: `chaos submit FILE --name NAME` checks it and shows its row as
# it will appear.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, ranked among the rest
resamples: int = 2000  # bootstrap resamples of the items, for the intervals
seed: int = 0  # seed of draws and resamples

# %%
from IPython.display import Markdown

from chaos_utils.analyses import fitting, published_scoreboard, scoreboard
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import are_our_own, notices
from chaos_utils.datasets.auxiliary_data import JUDGES
from chaos_utils.plots.scoreboard import plot_scoreboard
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data, predictions, submitted=True)
board = scoreboard.scoreboard(
    inputs.with_auxiliary_data(JUDGES),
    variants=fitting.variants(),
    n_resamples=resamples,
    seed=seed,
)

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# ## All items
#
# ```{sortable} tbl-scoreboard
# :by: worth in people ↑
# ```

# %% tags=["remove-input"]
publish_table(
    "tbl-scoreboard",
    scoreboard.on_all_items(board),
    columns=scoreboard.COLUMNS,
    groups=["heading"],
    alone=scoreboard.SAW_NO_VOTES,
    caption=f"""On SNLI and MNLI, one map over all systems is worth more than each of them alone, and no single system
    is worth more than five people. *Place*: the possible places of a system by its {{term}}`worth`, recalibrated, for
    all systems at once. *As it is*: worth without recalibration; people as they are do not know the base rate.
    *Misplaced* (of a hundred votes, {{term}}`TVD`), {{term}}`JSD` (distance, nats) and {{term}}`new accuracy` are also
    without recalibration; a single label has neither worth as it is nor JSD. *Other items’ votes*: fitted on these, out
    of fold. *Recomputed*: from released predictions. In brackets, 95% intervals over items ({resamples:,} resamples).
    The data also has KL and the other intervals.""",
)

# %% [markdown]
# ## What a place means
#
# Had ChaosNLI drawn other items, close systems would have changed places. So a place is a set of ranks. We compare each
# pair of systems on the items that both cover, by their unbiased squared distance to people; a system is placed below
# those that are clearly nearer and above those that are clearly farther. *Clearly* allows for all pairs at once
# {cite:p}`mogstad2024,romano2005`: with 95% confidence, all sets of a dataset contain the true places at the same time
# (4,000 resamples of the items, fitted maps held fixed).
#
# If two sets overlap, the systems need not be equal; these items cannot tell them apart. With more systems, sets widen,
# so quote a place with the number of places. *Only systems not trained on votes* leaves out what was fitted on other
# items' votes and ranks the rest among themselves.
#
# ## Why recalibrated
#
# A system can know more than its probabilities show. On MNLI, RoBERTa-large takes places
# {value}`tbl-scoreboard dataset=mnli system=roberta-large as_it_is_place_best .0f` to
# {value}`tbl-scoreboard dataset=mnli system=roberta-large as_it_is_place_worst .0f` of
# {value}`tbl-scoreboard dataset=mnli system=roberta-large as_it_is_n_placed .0f` as it is, below the {term}`base rate`,
# and places {value}`tbl-scoreboard dataset=mnli system=roberta-large place_best .0f` to
# {value}`tbl-scoreboard dataset=mnli system=roberta-large place_worst .0f` of
# {value}`tbl-scoreboard dataset=mnli system=roberta-large n_placed .0f` recalibrated. Its temperature decides the first
# and hardly changes the second.
#
# Recalibrating also lets labels and probabilities compete: a label then stands for the mean vote on other items with
# that label. Without recalibration the two cannot be compared, so a language model that was asked for one label has no
# worth as it is, and no JSD. We compare a label at temperature 0 with probabilities, not one model with another.
#
# If you use probabilities as they are, read the column *as it is*. Systems fitted on other items' votes lead there,
# since they are already recalibrated.
#
# We give no average over datasets. It would hide that the order differs on αNLI, and it would change with each new
# dataset.
#
# ## Everyone in one unit

# %%
publish_figure(
    "fig-scoreboard",
    plot_scoreboard,
    scoreboard.drawn(board.where(~are_our_own(board.rows["family"]))),
    caption="""Recalibrated, most systems are worth one to four people on SNLI and MNLI, and fewer on αNLI; as they are,
    all single models that were not trained on votes are worth less than the base rate on MNLI. Each mark is a system;
    our own small encoders are left out. Language models, and stacks with them, are judged on the items that they
    labelled, all others on all items. A single label has no worth as it is. A second crowd, worth a hundred, and a
    perfect model lie beyond the axis. Intervals are in the tables.""",
    alt="""A panel for each dataset with a row for each group: people at five and ten; stacks with language models at
    about seven on SNLI and MNLI; stacks at four to five; pooled language models at about six; single labels
    of language models, models of 2020 and others between zero and four; original votes and old labels at one to four;
    guesses at zero. Filled marks, systems as they are, lie left of the hollow ones, on MNLI mostly below zero.""",
)

# %% [markdown]
# Pooled, the labels of 32 language models are worth
# {value}`tbl-scoreboard-parts dataset=snli "system=language models, pooled" people_on_top_recalibrated .1f` people on
# SNLI and {value}`tbl-scoreboard-parts dataset=mnli "system=language models, pooled" people_on_top_recalibrated .1f` on
# MNLI. One label from the best of them is worth
# {value}`tbl-scoreboard-parts dataset=snli asked=label "kind=language model" max:people_on_top_recalibrated .1f` and
# {value}`tbl-scoreboard-parts dataset=mnli asked=label "kind=language model" max:people_on_top_recalibrated .1f`, no more
# than the probabilities of RoBERTa-large of 2020 on the same items
# ({value}`tbl-scoreboard-parts dataset=snli system=roberta-large people_on_top_recalibrated .1f` and
# {value}`tbl-scoreboard-parts dataset=mnli system=roberta-large people_on_top_recalibrated .1f`). The language models may
# have seen the items.
#
# Five people asked about each item, on top of the base rate, come nearer to the crowd than any single system
# ({numref}`fig-scoreboard`). One map over all systems and the language models does better than five people, with
# {value}`tbl-scoreboard-parts dataset=snli "system=all systems + language models, stacked" people_on_top_recalibrated .1f`
# on SNLI and
# {value}`tbl-scoreboard-parts dataset=mnli "system=all systems + language models, stacked" people_on_top_recalibrated .1f`
# on MNLI; it has learned from all votes on the other items.
#
# The five original votes are worth
# {value}`tbl-scoreboard dataset=mnli "system=original votes" people_on_top_recalibrated .1f` people on MNLI and
# {value}`tbl-scoreboard dataset=snli "system=original votes" people_on_top_recalibrated .1f` on SNLI, not five:
# ChaosNLI chose items on which exactly three of the five agree. We do not know why SNLI loses more.
#
# ## The same items
#
# The language models {cite:p}`li2026` labelled about a thousand items of each dataset. A score on these cannot be
# compared with one on all items, so here we score all systems again on the same items.
#
# ```{sortable} tbl-scoreboard-parts
# :by: worth in people ↑
# ```

# %% tags=["remove-input"]
parts = scoreboard.on_fewer_items(board)
publish_table(
    "tbl-scoreboard-parts",
    parts,
    columns=scoreboard.COLUMNS,
    groups=["heading"],
    alone=scoreboard.SAW_NO_VOTES,
    caption="""The pooled labels of 32 language models are worth more than any single system, though not always clearly;
    single models are hard to tell apart. All systems, on the items that the language models labelled. Columns as in
    {numref}`tbl-scoreboard`. The language models may have seen the items and their votes.""",
) if len(parts) else Markdown("*No system here covers a part of the items only.*")

# %% [markdown]
# With fewer items and twice as many systems, sets are wide: Kimi K2.6, asked for one label, may have any of the places
# {value}`tbl-scoreboard-parts dataset=mnli system=kimi-k2.6 place_best .0f` to
# {value}`tbl-scoreboard-parts dataset=mnli system=kimi-k2.6 place_worst .0f` of
# {value}`tbl-scoreboard-parts dataset=mnli system=kimi-k2.6 n_placed .0f` on MNLI.
#
# ```{interactive} tbl-machine-models
# :measures: people_on_top_recalibrated with_people
# :group: maker
# ```

# %% [markdown]
# ## Published elsewhere
#
# From released predictions we can compute {value}`tbl-scoreboard-beside sum:numbers .0f` of the numbers in papers and
# repositories; {value}`tbl-scoreboard-beside sum:agree .0f` agree to the printed digits, and their systems are in the
# tables above. For other systems we know only printed means. A mean distance does not say what a system is worth, so
# these systems have no place. We convert each mean where that is exact, and bound it where it is not.
#
# ### One name, two units
#
# {term}`JSD` measures how different two distributions are; a smaller one is better. A draft of 2026, which we know only
# second hand, prints a JSD of
# {value}`tbl-scoreboard-units system=claude-sonnet-5 "prediction=verbalised distribution" divergence_bits .3f` for the
# distribution that a language model states. RoBERTa-large at one temperature, fitted on other items' votes, has
# {value}`tbl-scoreboard-units system=roberta-large "prediction=one temperature" distance_high .3f`, so the language
# model looks {value}`tbl-scoreboard-units system=roberta-large "prediction=one temperature" apparent_ratio .1f` times
# nearer to people. But the first is a divergence in bits and the second a distance in nats. In bits, RoBERTa-large has
# {value}`tbl-scoreboard-units system=roberta-large "prediction=one temperature" divergence_bits .3f`: the two are about
# equally near ({numref}`tbl-scoreboard-units`).

# %%
all_items = [*inputs, *inputs.pooled()]
published = published_scoreboard.published_rows(
    published_scoreboard.item_sets(all_items),
    published_scoreboard.allowed_by_accuracy(all_items),
    same_votes=inputs.released,
)
means = published_scoreboard.means_of_systems(inputs)
in_bits = published_scoreboard.in_bits(means, published)
tight = published_scoreboard.tightness(means)
beside = published_scoreboard.beside_computed(
    published, published_scoreboard.comparable_scores(inputs)
)
publish_table(
    "tbl-scoreboard-units",
    in_bits,
    columns=published_scoreboard.UNIT_COLUMNS,
    shown=published_scoreboard.chosen_in_bits(in_bits.rows),
    caption="""In one unit, a language model's stated distribution ranks behind models that were fitted on votes and
    ahead of those that were not, and its sampled answers rank behind a uniform guess. All items of SNLI and MNLI,
    nearest first by the divergence in bits, whose mean over both datasets is exact. A published mean divergence bounds
    the mean distance from both sides. *One temperature* and *recalibrated* are fitted on the votes on other texts. The data file has every system that covers both datasets.""",
)

# %% [markdown]
# ### What else is known
#
# A number on {value}`tbl-scoreboard-published min:n_items .0f` items cannot be compared with one on all of them, so the
# next table shows one set of items at a time. Within a set, systems are sorted by their upper bounds.
#
# ```{sortable} tbl-scoreboard-published
# :by: JSD, distance (nats) ↓
# :lowest-first:
# ```

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Systems known only by their means, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-scoreboard-published",
    published_scoreboard.published_systems(published),
    columns=published_scoreboard.SYSTEM_COLUMNS,
    groups=["item_set"],
    caption="""Most sources print one or two means for a system, so its distance is often known only within bounds.
    Systems whose predictions were not released, in the units of {numref}`tbl-scoreboard`. Two numbers in a cell are
    bounds: the value lies between them. *Misplaced*: of a hundred votes ({term}`TVD`). A number is *read* in the source,
    or *secondary*: from a copy, an abstract or a citation.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "How tight the bounds are, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-scoreboard-bounds",
    tight,
    columns=published_scoreboard.tightness_columns(tight.rows["dataset"].unique()[:2]),
    index=["known", "wanted"],
    caption="""A mean distance and a mean divergence bound each other closely from one side; an accuracy bounds
    little. What one published mean says about another; every system lies within every bound. Medians over systems as they
    are, in nats; *g*(V) is ((1 + V) ln(1 + V) + (1 − V) ln(1 − V)) / 2, and *f*(KL) is ln 2 + (t ln t − (1 + t) ln(1 +
    t)) / 2 with t = exp(−KL).""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "What was published, and what can be compared, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-scoreboard-published-uses",
    published_scoreboard.uses(published),
    columns=published_scoreboard.USES_COLUMNS,
    groups=["how"],
    caption="""About half of the published numbers convert exactly, a few within bounds, and the others say nothing
    about a system's distance from people. One row per measure, with the reason where it cannot be compared. We check
    each number against the range of its convention and against what else is printed about the same system and items.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Published and computed, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-scoreboard-beside",
    published_scoreboard.count_agreeing(beside),
    columns=published_scoreboard.BESIDE_COLUMNS,
    caption="""Where predictions were released, we reproduce the printed numbers. The only exceptions are scores of the
    uniform guess on SNLI and MNLI, which differ by one or two units of the last digit: the released votes are not
    exactly those of the paper's tables.""",
)

# %% [markdown]
# ## Limitations
#
# * The items of SNLI and MNLI were chosen for their disagreement; on random items, models and people agree more.
# * Sets allow for other items, but not for other seeds of a model, nor for choosing the best of many attempts.
# * Whether a system has seen the items is taken from its makers' lists of training data; language models *may have*.
#   These systems are listed with the others and marked.
# * Worth depends on the base rate of the dataset: five people on SNLI and five on MNLI are not the same distance.
# * Maps need at least 500 items. Systems on fewer are listed without a place.
# * Printed means are often called by the wrong name. A distance that is called a divergence usually contradicts what
#   else is printed about the system, and is then left out. A divergence that is called a distance contradicts nothing:
#   no lower bound would reveal it.

# %% [markdown]
# # Scoreboard
#
# *How does my result compare?*
#
# **On SNLI and MNLI, no single model that we could score is worth more than five people, and few ranks are certain.** A
# system's {term}`worth` is the number of people whom you would have to ask about each item to learn as much as the
# system tells you, if you already knew how often each label is given overall. We rank systems by their worth after they
# are {term}`recalibrated <worth, recalibrated>`, that is, corrected with the help of the votes on other items. For
# example, RoBERTa-large could be in any place from
# {value}`tbl-scoreboard dataset=snli system=roberta-large place_best .0f` to
# {value}`tbl-scoreboard dataset=snli system=roberta-large place_worst .0f` among
# {value}`tbl-scoreboard dataset=snli system=roberta-large n_placed .0f` systems on SNLI.
#
# To see which places your model could have, choose its file on the page {doc}`../your_model`; nothing is uploaded. To
# {ref}`add it <add-your-result>`, you need one command and a pull request. The command `chaos submit FILE --name NAME`
# asks for what it must know about your system, checks the file, and shows the row that your system will have in the
# table.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files with your own predictions, ranked with the other systems
resamples: int = 2000  # bootstrap resamples of the items, for the intervals
seed: int = 0  # seed of draws and resamples

# %%
from dataclasses import replace

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
columns = [*scoreboard.COLUMNS[:-1], replace(scoreboard.COLUMNS[-1], heading="kind and source")]
publish_table(
    "tbl-scoreboard",
    scoreboard.on_all_items(board),
    columns=columns,
    groups=["heading"],
    alone=scoreboard.SAW_NO_VOTES,
    caption=f"""On SNLI and MNLI, all systems combined in one recalibration map are worth more people than any single
    system is, and no single system is worth more than five people. *Place* gives the range of ranks that a system could
    have by its recalibrated {{term}}`worth`, and each dataset's heading gives the number of ranked systems. *As it is*
    gives the worth without recalibration, and the place in the ranking by it. Without
    recalibration, groups of people are worth less, because their votes are not combined with the base rate. If a system gives
    only one label per item, neither its JSD nor its worth without recalibration is defined, so fewer systems are ranked
    in the column *as it is*. {{term}}`JSD` (distance, √nats), {{term}}`new accuracy` and the number of votes misplaced
    out of a hundred ({{term}}`TVD`) are also computed without recalibration. Systems marked *other items’ votes* were
    fitted to the votes on other items, out of fold. Systems marked *recomputed* were scored from released predictions.
    Brackets show 95% intervals over items ({resamples:,} resamples). The downloadable data also include KL and the
    other intervals.""",
)

# %% [markdown]
# ## What a place means
#
# If ChaosNLI had chosen other items, systems with similar scores might have had different places, so we report each
# place as a range of ranks. We compare each pair of systems by unbiased estimates of their squared distances to people,
# on the items that both systems cover. A system is ranked below every system that is clearly nearer to people and above
# every system that is clearly farther away. The test accounts for all pairs at once {cite:p}`mogstad2024,romano2005`:
# with 95% confidence, every range for a dataset contains the true place (4,000 resamples of the items, with the fitted
# maps held fixed).
#
# Overlapping ranges do not mean that two systems are equally good: these items may simply not show which of the two is
# better. The ranges widen as systems are added, so state the number of ranked systems whenever you quote a place.
# The option *Only systems not trained on votes* removes systems that were fitted to other items' votes and ranks the
# remaining systems among themselves.
#
# ## Why recalibrated
#
# A system may know more than its probabilities show. Without recalibration, RoBERTa-large ranks below the
# {term}`base rate` on MNLI: its place is anywhere from
# {value}`tbl-scoreboard dataset=mnli system=roberta-large as_it_is_place_best .0f` to
# {value}`tbl-scoreboard dataset=mnli system=roberta-large as_it_is_place_worst .0f` among
# {value}`tbl-scoreboard dataset=mnli system=roberta-large as_it_is_n_placed .0f` systems. With recalibration, its place
# is between {value}`tbl-scoreboard dataset=mnli system=roberta-large place_best .0f` and
# {value}`tbl-scoreboard dataset=mnli system=roberta-large place_worst .0f` among
# {value}`tbl-scoreboard dataset=mnli system=roberta-large n_placed .0f` systems.
#
# Recalibration makes it possible to compare labels with probabilities, because each label is replaced by the mean vote
# shares of the other items that received the same label. Such a comparison does not show which model is better, because
# one model gives a single label at temperature 0 and the other gives a full distribution. If you plan to use a model's
# probabilities without recalibration, look at the column *as it is*. Systems that were fitted to other items' votes
# lead the column *as it is*, because they are already recalibrated. We do not average worth over datasets, because
# systems rank differently on αNLI than on SNLI and MNLI.
#
# ## Everyone in one unit

# %%
publish_figure(
    "fig-scoreboard",
    plot_scoreboard,
    scoreboard.drawn(board.where(~are_our_own(board.rows["family"]))),
    caption="""Once recalibrated, most systems are worth one to four people, but on αNLI, the models of 2020 are worth
    at most one. Without recalibration, each individual model that was not trained on votes is worth less than the base
    rate on MNLI. Each mark shows one system, and in some groups, the best system is named. Systems that give only one
    label per item are shown only with recalibration. Our own small encoders are left out. Language models, and stacks
    that include them, are judged on the items that the language models labelled, and all other systems on all items. A
    second crowd, which is worth a hundred people, and a perfect model lie beyond the end of the axis.""",
    alt="""Each dataset has a panel with one row per group of systems. Groups of five and ten people lie at five and
    ten. On SNLI and MNLI, stacks with language models lie at about seven, other stacks at four to five, and pooled
    language models at about six. Single language models, models from 2020 and other models lie between zero and four.
    Original votes and old labels lie at one to four, and guesses at zero. Filled marks, which show systems without
    recalibration, lie to the left of the hollow marks, and mostly below zero on MNLI.""",
)

# %% [markdown]
# One label per item from the best of 32 language models is worth
# {value}`tbl-scoreboard-parts dataset=snli asked=label "kind=language model" max:people_on_top_recalibrated .1f` people
# on SNLI and
# {value}`tbl-scoreboard-parts dataset=mnli asked=label "kind=language model" max:people_on_top_recalibrated .1f` on
# MNLI. On the same items, the probabilities of RoBERTa-large, a model from 2020, are worth at least as many people
# ({value}`tbl-scoreboard-parts dataset=snli system=roberta-large people_on_top_recalibrated .1f` on SNLI and
# {value}`tbl-scoreboard-parts dataset=mnli system=roberta-large people_on_top_recalibrated .1f` on MNLI).
#
# If you know the base rate, asking five people about each item brings you nearer to the crowd than any single model
# does ({numref}`fig-scoreboard`). A recalibration map that combines the language models with all other systems is worth
# {value}`tbl-scoreboard-parts dataset=snli "system=all systems + language models, stacked" people_on_top_recalibrated .1f`
# people on SNLI and
# {value}`tbl-scoreboard-parts dataset=mnli "system=all systems + language models, stacked" people_on_top_recalibrated .1f`
# on MNLI, but this map has learned from all votes on the other items.
#
# The five original votes are worth only
# {value}`tbl-scoreboard dataset=mnli "system=original votes" people_on_top_recalibrated .1f` people on MNLI and
# {value}`tbl-scoreboard dataset=snli "system=original votes" people_on_top_recalibrated .1f` on SNLI, partly because
# ChaosNLI chose items on which exactly three of the five original annotators agreed. We do not know why the original
# votes lose more of their worth on SNLI than on MNLI.
#
# ## The same items
#
# The language models {cite:p}`li2026` labelled about a thousand items of each dataset. Scores on these items cannot be
# compared with scores on all items, so we scored every other system again on the items that the language models
# labelled.
#
# ```{sortable} tbl-scoreboard-parts
# :by: worth in people ↑
# ```

# %% tags=["remove-input"]
parts = scoreboard.on_fewer_items(board)
publish_table(
    "tbl-scoreboard-parts",
    parts,
    columns=columns,
    groups=["heading"],
    alone=scoreboard.SAW_NO_VOTES,
    caption="""The pooled labels of 32 language models are worth more people than any single system is, although the
    difference is not always clear. Most single models cannot be ranked with certainty. The table covers all systems on
    the items that the language models labelled. The columns are the same as in {numref}`tbl-scoreboard`, but the ranges
    are wider, because there are fewer items and about twice as many systems. The language models may have seen the
    items and their votes.""",
) if len(parts) else Markdown("*No system covers only some of the items.*")

# %% [markdown]
# ```{interactive} tbl-machine-models
# :measures: people_on_top_recalibrated with_people
# :group: maker
# ```

# %% [markdown]
# ## Published elsewhere
#
# We collected {value}`tbl-scoreboard-published-uses sum:numbers .0f` numbers that were published from 2020 to 2026. We
# read {value}`tbl-scoreboard-published-uses sum:read .0f` of them in the original source, know
# {value}`tbl-scoreboard-published-uses sum:secondary .0f` only at second hand, and recomputed the other
# {value}`tbl-scoreboard-published-uses sum:recomputed .0f` from released data. Of these,
# {value}`tbl-scoreboard-beside sum:numbers .0f` are scores of single systems, of which
# {value}`tbl-scoreboard-beside sum:agree .0f` agree with ours to the last printed digit. The others describe, for
# example, panels of language models or samples of twenty people.
#
# Systems that are known only from published means have no place on the scoreboard, because a mean distance does not
# show what a system is worth. We convert a published mean to the units of the scoreboard if the conversion is exact,
# and otherwise give bounds where we can.
#
# ### One name, two units
#
# A draft from 2026, which we know only at second hand, reports a JSD of
# {value}`tbl-scoreboard-units system=claude-sonnet-5 "prediction=verbalised distribution" divergence_bits .3f` for the
# distribution that a language model states. For RoBERTa-large with a temperature fitted to other items' votes, the JSD
# is {value}`tbl-scoreboard-units system=roberta-large "prediction=one temperature" distance_high .3f`, which looks
# {value}`tbl-scoreboard-units system=roberta-large "prediction=one temperature" apparent_ratio .1f` times as large as
# the value for the language model.
#
# However, the value for the language model is a divergence in bits, whereas the value for RoBERTa-large is a distance
# in nats. As a divergence in bits, the value for RoBERTa-large is
# {value}`tbl-scoreboard-units system=roberta-large "prediction=one temperature" divergence_bits .3f`, so the two
# systems are about equally near to people ({numref}`tbl-scoreboard-units`).

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
    caption="""In the same unit, a language model's stated distribution ranks behind the best models that were fitted to
    votes and ahead of models that were not. The sampled answers of a language model rank behind a uniform guess. The
    table covers all SNLI and MNLI items and lists the systems that are nearest to people first. Systems are sorted by
    the divergence in bits, because a published mean divergence gives only bounds for the mean distance. *Recalibrated*
    systems and systems with *one temperature* were fitted to the votes on other texts. The downloadable data include
    every system that covers both datasets.""",
)

# %% [markdown]
# ### What else is known
#
# A score on {value}`tbl-scoreboard-published min:n_items .0f` items cannot be compared with a score on the full set, so
# the next table shows one set of items at a time. Within each set, the systems are sorted by the upper bound on their
# JSD.
#
# ```{sortable} tbl-scoreboard-published
# :by: JSD (distance, √nats) ↓
# :lowest-first:
# ```

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Systems known only by their means, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-scoreboard-published",
    published_scoreboard.published_systems(published),
    columns=published_scoreboard.SYSTEM_COLUMNS,
    groups=["item_set"],
    caption="""Most sources print only one or two means for each system, so the distance between a system and people is
    often known only within bounds. The table lists systems whose predictions were not released, in the units of
    {numref}`tbl-scoreboard`. If a cell contains two numbers, the value lies between them. *Read* means that we read the
    number in the original source. *Secondary* means that we found the number in a copy, an abstract or a citation.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Tightness of the bounds, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-scoreboard-bounds",
    tight,
    columns=published_scoreboard.tightness_columns(tight.rows["dataset"].unique()[:2]),
    index=["known", "wanted"],
    caption="""A mean distance gives a fairly tight lower bound on a mean divergence, and a mean divergence gives a
    fairly tight upper bound on a mean distance, whereas an accuracy says little about a mean distance. Each row shows
    the bounds that one published mean gives for another mean. Values and bounds are medians over systems without
    recalibration, in nats, and every system lies within all of its bounds. Here, *g*(V) is ((1 + V) ln(1 + V) + (1 − V)
    ln(1 − V)) / 2, and *f*(KL) is ln 2 + (t ln t − (1 + t) ln(1 + t)) / 2 with t = exp(−KL).""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Published results and what they can be compared with, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-scoreboard-published-uses",
    published_scoreboard.uses(published),
    columns=published_scoreboard.USES_COLUMNS,
    groups=["how"],
    caption="""About half of the published numbers can be converted exactly, and about a tenth give bounds. The
    remaining numbers cannot be compared with those on the scoreboard. The table has one row per measure; if a measure
    cannot be compared, the row says why. We check each number against the range that its convention allows and against
    the other numbers that are printed for the same system and items.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Published and computed, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-scoreboard-beside",
    published_scoreboard.count_agreeing(beside),
    columns=published_scoreboard.BESIDE_COLUMNS,
    caption="""Where predictions were released, we reproduce nearly all printed numbers. The exceptions in the table are
    some scores of the uniform guess on SNLI and MNLI, which differ by one or two units in the last digit, because the
    released votes are not exactly those in the paper's tables. One of them was printed without its final zero, which we
    restore here; {doc}`claims` compares only the printed digits, so this score agrees there. That chapter also lists
    two values in the appendices of {cite:t}`baan2022` that do not follow from the released predictions.""",
)

# %% [markdown]
# ## Limitations
#
# * ChaosNLI chose the SNLI and MNLI items because annotators disagreed on them. Models agree with people more often on
#   randomly chosen items than on these items.
# * The ranges account for the choice of items, but not for a model's training seed or for the selection of the best of
#   many attempts.
# * We rely on developers' lists of training data to judge whether a system has seen the items. Systems that saw or may
#   have seen the items are marked, but they are ranked along with all other systems.
# * Worth depends on the base rate of the dataset, so a worth of five people on SNLI does not correspond to the same
#   distance as a worth of five people on MNLI.
# * A recalibration map needs at least 500 items, so systems that cover fewer items are listed without a place.
# * Published means are often mislabelled. If a Jensen–Shannon distance is reported as a divergence, it usually
#   contradicts other numbers for the same system, and we leave it out. We cannot detect a divergence that is reported
#   as a distance.

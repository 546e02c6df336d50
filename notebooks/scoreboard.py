# %% [markdown]
# # Scoreboard
#
# *How does my result compare?*
#
# **This page ranks every system that we could score by how many people it is worth, and lists
# {value}`tbl-scoreboard-published-uses sum:numbers .0f` numbers published from 2020 to 2026.** We recomputed
# {value}`tbl-scoreboard-published-uses sum:recomputed .0f` of these numbers, read
# {value}`tbl-scoreboard-published-uses sum:read .0f` in the original source, and know
# {value}`tbl-scoreboard-published-uses sum:secondary .0f` only at second hand. We convert a published number to the
# units used here if the conversion is exact. Otherwise we give bounds where we can, and never guess a rank.
#
# A system's {term}`worth` is the number of people you would have to ask about each item, in addition to knowing how
# often each label is given overall, to learn as much as you would from the system once it is
# {term}`recalibrated <worth, recalibrated>`. Few ranks are certain: on SNLI, RoBERTa-large could be in any place from
# {value}`tbl-scoreboard dataset=snli system=roberta-large place_best .0f` to
# {value}`tbl-scoreboard dataset=snli system=roberta-large place_worst .0f` among
# {value}`tbl-scoreboard dataset=snli system=roberta-large n_placed .0f` systems.
#
# You can add your own system with one command and a pull request. The command `chaos submit FILE --name NAME` checks
# your predictions and shows the row that your system will have in the table.

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
    system, and no single system is worth more than five people. *Place* gives the ranks that a system may have by its
    recalibrated {{term}}`worth`. *As it is* gives the worth without recalibration, which is lower for groups of people
    because their votes are then not combined with the base rate. The number of votes misplaced out of a hundred
    ({{term}}`TVD`), {{term}}`JSD` (distance, nats) and {{term}}`new accuracy` are also computed without recalibration.
    A system that gives only one label per item has no JSD and no worth without recalibration. Systems marked *other
    items’ votes* were fitted to the votes on other items, out of fold, and systems marked *recomputed* were scored from
    released predictions. Brackets show 95% intervals over items ({resamples:,} resamples). The downloadable data also
    include KL and the other intervals.""",
)

# %% [markdown]
# ## What a place means
#
# If ChaosNLI had drawn other items, systems with similar scores could have changed places. We therefore report a place
# as a range of ranks. We compare each pair of systems by unbiased estimates of their squared distances to people, on
# the items that both cover. A system is ranked below every system that is clearly nearer to people and above every
# system that is clearly farther away. The test accounts for all pairs at once {cite:p}`mogstad2024,romano2005`: with
# 95% confidence, all ranges for a dataset contain the true places (4,000 resamples of the items, with the fitted maps
# held fixed).
#
# If two ranges overlap, the systems are not necessarily equally good, but these items do not show which one is better.
# The ranges widen as systems are added, so give the number of systems when you quote a place. The option *Only systems
# not trained on votes* removes systems that were fitted to other items' votes and ranks the remaining systems among
# themselves.
#
# ## Why recalibrated
#
# A system may know more than its probabilities show. Without recalibration, RoBERTa-large ranks below the
# {term}`base rate` on MNLI, with possible places from
# {value}`tbl-scoreboard dataset=mnli system=roberta-large as_it_is_place_best .0f` to
# {value}`tbl-scoreboard dataset=mnli system=roberta-large as_it_is_place_worst .0f` among
# {value}`tbl-scoreboard dataset=mnli system=roberta-large as_it_is_n_placed .0f` systems. With recalibration, its
# possible places are {value}`tbl-scoreboard dataset=mnli system=roberta-large place_best .0f` to
# {value}`tbl-scoreboard dataset=mnli system=roberta-large place_worst .0f` among
# {value}`tbl-scoreboard dataset=mnli system=roberta-large n_placed .0f`.
#
# Recalibration also makes it possible to compare labels with probabilities, because each label is replaced by the mean
# vote shares of the other items that received this label. The comparison is between one label at temperature 0 and a
# full distribution, so it does not show which model is better. If you plan to use a model's probabilities without
# recalibration, read the column *as it is*. Systems that were fitted to other items' votes lead in that column because
# they are already recalibrated. We do not average over datasets, because the order of the systems differs on αNLI.
#
# ## Everyone in one unit

# %%
publish_figure(
    "fig-scoreboard",
    plot_scoreboard,
    scoreboard.drawn(board.where(~are_our_own(board.rows["family"]))),
    caption="""Once recalibrated, most systems are worth one to four people on SNLI and MNLI, and fewer on αNLI; without
    recalibration, each individual model that was not trained on votes is worth less than the base rate on MNLI. Each
    mark is a system; the best of some groups is named. Systems that give only one label per item have no mark for their
    predictions without recalibration. Our own small encoders are left out. Language models, and stacks that include
    them, are judged on the items that the language models labelled, and all other systems on all items. A second crowd,
    which is worth a hundred people, and a perfect model lie beyond the axis. The tables give the intervals.""",
    alt="""Each dataset has a panel with one row per group of systems. Groups of five and ten people lie at five and ten.
    On SNLI and MNLI, stacks with language models lie at about seven, other stacks at four to five, and pooled language
    models at about six. Single language models, models of 2020 and other models lie between zero and four. Original votes
    and old labels lie at one to four, and guesses at zero. Filled marks, which show systems without recalibration, lie to
    the left of the hollow marks, and mostly below zero on MNLI.""",
)

# %% [markdown]
# One label per item from the best of 32 language models is worth
# {value}`tbl-scoreboard-parts dataset=snli asked=label "kind=language model" max:people_on_top_recalibrated .1f` people
# on SNLI and
# {value}`tbl-scoreboard-parts dataset=mnli asked=label "kind=language model" max:people_on_top_recalibrated .1f` on
# MNLI. That is no more than the probabilities of RoBERTa-large, a model from 2020, are worth on the same items
# ({value}`tbl-scoreboard-parts dataset=snli system=roberta-large people_on_top_recalibrated .1f` and
# {value}`tbl-scoreboard-parts dataset=mnli system=roberta-large people_on_top_recalibrated .1f`). The language models
# may have seen the items.
#
# Asking five people about each item, in addition to knowing the base rate, brings you nearer to the crowd than any
# single system does ({numref}`fig-scoreboard`). A recalibration map that combines all systems with the language models
# is better still: it is worth
# {value}`tbl-scoreboard-parts dataset=snli "system=all systems + language models, stacked" people_on_top_recalibrated .1f`
# people on SNLI and
# {value}`tbl-scoreboard-parts dataset=mnli "system=all systems + language models, stacked" people_on_top_recalibrated .1f`
# on MNLI. However, this map has learned from all votes on the other items.
#
# The five original votes are not worth five people. They are worth
# {value}`tbl-scoreboard dataset=mnli "system=original votes" people_on_top_recalibrated .1f` people on MNLI and
# {value}`tbl-scoreboard dataset=snli "system=original votes" people_on_top_recalibrated .1f` on SNLI, because ChaosNLI
# chose items on which exactly three of the five annotators agree. We do not know why the loss is larger on SNLI.
#
# ## The same items
#
# The language models {cite:p}`li2026` labelled about a thousand items of each dataset. Scores on these items cannot be
# compared with scores on all items, so we scored every system again on the same items.
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
    caption="""The pooled labels of 32 language models are worth more than any single system, though not always clearly;
    most single models cannot be ranked with certainty. The table covers all systems on the items that the language
    models labelled. The columns are the same as in {numref}`tbl-scoreboard`. The language models may have seen the items
    and their votes.""",
) if len(parts) else Markdown("*No system covers only some of the items.*")

# %% [markdown]
# The ranges in this table are wide because there are fewer items and twice as many systems.
#
# ```{interactive} tbl-machine-models
# :measures: people_on_top_recalibrated with_people
# :group: maker
# ```

# %% [markdown]
# ## Published elsewhere
#
# We can compute {value}`tbl-scoreboard-beside sum:numbers .0f` of the published numbers from released predictions, and
# {value}`tbl-scoreboard-beside sum:agree .0f` of them agree to the last printed digit. Other systems are known only
# from published means. A mean distance does not show what a system is worth, so these systems have no place on the
# scoreboard.
#
# ### One name, two units
#
# Numbers with the same name can be in different units. A draft of 2026, which we know only at second hand, reports a
# JSD of {value}`tbl-scoreboard-units system=claude-sonnet-5 "prediction=verbalised distribution" divergence_bits .3f`
# for the distribution that a language model states. RoBERTa-large with one temperature, fitted to other items' votes,
# has a JSD of {value}`tbl-scoreboard-units system=roberta-large "prediction=one temperature" distance_high .3f`, which
# is {value}`tbl-scoreboard-units system=roberta-large "prediction=one temperature" apparent_ratio .1f` times as large.
# However, the first number is a divergence in bits and the second is a distance in nats. As a divergence in bits, the
# value for RoBERTa-large is
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
    caption="""In the same unit, a language model's stated distribution ranks behind models that were fitted to votes and
    ahead of models that were not, and its sampled answers rank behind a uniform guess. The table covers all items of SNLI
    and MNLI, with the nearest systems first. We sort by the divergence in bits because its mean over both datasets is
    exact; a published mean divergence gives only bounds for the mean distance. Systems with *one temperature* and
    *recalibrated* systems were fitted to the votes on other texts. The data file includes every system that covers both
    datasets.""",
)

# %% [markdown]
# ### What else is known
#
# A score on {value}`tbl-scoreboard-published min:n_items .0f` items cannot be compared with a score on the full set, so
# the next table shows one set of items at a time. Within each set, the systems are sorted by their upper bounds.
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
    caption="""Most sources print only one or two means for a system, so its distance is often known only within bounds.
    The table lists systems whose predictions were not released, in the units of {numref}`tbl-scoreboard`. If a cell
    contains two numbers, the value lies between them. *Read* means that we read the number in the original source, and
    *secondary* that we found it in a copy, an abstract or a citation.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "How tight the bounds are, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-scoreboard-bounds",
    tight,
    columns=published_scoreboard.tightness_columns(tight.rows["dataset"].unique()[:2]),
    index=["known", "wanted"],
    caption="""A mean distance and a mean divergence bound each other closely from one side, while an accuracy says
    little about either. Each row shows the bounds that one published mean gives for another. Values are medians over
    systems without recalibration, in nats, and every system lies within all of its bounds. Here, *g*(V) is ((1 + V)
    ln(1 + V) + (1 − V) ln(1 − V)) / 2, and *f*(KL) is ln 2 + (t ln t − (1 + t) ln(1 + t)) / 2 with t = exp(−KL).""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "What was published, and what can be compared, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-scoreboard-published-uses",
    published_scoreboard.uses(published),
    columns=published_scoreboard.USES_COLUMNS,
    groups=["how"],
    caption="""About half of the published numbers can be converted exactly and a few within bounds; the remaining
    numbers say nothing about a system's distance from people. The table has one row per measure; if a measure cannot be
    compared, the row says why. We check each number against the range of its convention and against the other numbers
    that are printed for the same system and items.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Published and computed, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-scoreboard-beside",
    published_scoreboard.count_agreeing(beside),
    columns=published_scoreboard.BESIDE_COLUMNS,
    caption="""Where predictions were released, we reproduce the printed numbers. The only exceptions are scores of the
    uniform guess on SNLI and MNLI. They differ by one or two units in the last digit because the released votes are not
    exactly those in the paper's tables.""",
)

# %% [markdown]
# ## Limitations
#
# * ChaosNLI chose the SNLI and MNLI items because annotators disagreed on them. On randomly chosen items, models and
#   people agree more closely.
# * The ranges account for the choice of items. They do not account for a model's training seed or for the selection of
#   the best of many attempts.
# * We rely on developers' lists of training data to judge whether a system has seen the items. Language models may have
#   seen them. All systems that have or may have seen the items are listed with the others and marked.
# * Worth depends on the base rate of the dataset. Five people on SNLI and five people on MNLI do not correspond to the
#   same distance.
# * A recalibration map needs at least 500 items. Systems that cover fewer items are listed without a place.
# * Published means are often mislabelled. If a distance is called a divergence, it usually contradicts other numbers for
#   the same system, and we leave it out. If a divergence is called a distance, we cannot detect the error.

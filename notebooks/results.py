# %% [markdown]
# # Nine models and a hundred people
#
# *Do models predict how people split?*
#
# **On MNLI the nine models of 2020 misplace
# {value}`tbl-misplaced dataset=mnli "how=as it is" of_paper=true min:misplaced .0f` to
# {value}`tbl-misplaced dataset=mnli "how=as it is" of_paper=true max:misplaced .0f` of a hundred votes. A
# {term}`uniform guess`, which does not read the item, misplaces
# {value}`tbl-misplaced dataset=mnli "system=uniform guess" misplaced .0f`; five people misplace
# {value}`tbl-misplaced dataset=mnli "system=five people" misplaced .0f`.** None of the nine is nearer to people than
# this guess. How many are clearly farther depends on the distance: by {term}`JSD`,
# {value}`tbl-baselines-against-models dataset=mnli system=chance measure=jsd n_surely_beaten` of the
# {value}`tbl-baselines-against-models dataset=mnli system=chance measure=jsd n_models`; by {term}`KL`,
# {value}`tbl-baselines-against-models dataset=mnli system=chance measure=kl n_surely_beaten`; by squared distance,
# {value}`tbl-baselines-against-models dataset=mnli system=chance measure=brier n_surely_beaten`. On SNLI, where
# people agree more, the models misplace
# {value}`tbl-misplaced dataset=snli "how=as it is" of_paper=true min:misplaced .0f` to
# {value}`tbl-misplaced dataset=snli "how=as it is" of_paper=true max:misplaced .0f`, and the guess
# {value}`tbl-misplaced dataset=snli "system=uniform guess" misplaced .0f`. The models learned from one label per item,
# which never shows where people split.
#
# A model trained on one label per item still outputs a full distribution. Is it the distribution of people's answers?
# {cite:t}`nie2020` asked this of nine models. We recompute their table and add people, guesses and later models. The SNLI
# and MNLI items are those that ChaosNLI chose for their disagreement.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
resamples: int = 2000  # bootstrap resamples of the items, for the 95% intervals
comparisons: int = 100_000  # the same, for paired differences and their p-values
crowds: int = 50  # draws of a crowd and of people who judge it
draws: int = 20  # draws of the items' true distributions, and of cuts into half crowds
seed: int = 0  # seed of folds, drawn crowds and resampling

# %%
from IPython.display import Markdown

from chaos_utils.analyses import ceilings, results
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import are_our_own, notices
from chaos_utils.analyses.references import reference_scores
from chaos_utils.plots.results import plot_misplaced, plot_results, plot_worth
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data, predictions)
equivalents = results.human_equivalents(inputs, n_draws=crowds, n_resamples=resamples, seed=seed)
scores = results.main_results(inputs, n_resamples=resamples, seed=seed)
table = results.add_worth(scores, equivalents)
references = reference_scores(inputs, seed=seed, measures=["jsd", "kl"])

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# ## How many votes a prediction misplaces
# Compare a prediction with the hundred votes on an item. The votes that would have to move to another label for the two
# to agree are *misplaced*. Averaged over items, their number is 100 times the {term}`total variation distance`. Two
# references show what is achievable. A {term}`second crowd <human ceiling>` of a hundred other people misplaces
# {value}`tbl-misplaced dataset=mnli "system=second crowd" misplaced .0f` votes on MNLI, because a hundred people are only
# a sample. Even a {term}`perfect model <noise floor>`, which predicts each item's true distribution, misplaces
# {value}`tbl-misplaced dataset=mnli "system=perfect model" misplaced .0f`. Five people are compared with the others who
# saw the item.

# %%
in_votes = results.misplaced(inputs, n_resamples=resamples, seed=seed)
publish_figure(
    "fig-misplaced",
    plot_misplaced,
    results.drawn_misplaced(in_votes.where(~are_our_own(in_votes.rows["system"])), dataset="mnli"),
    caption="""None of the nine models of 2020 is nearer to people than a uniform guess (MNLI).
    Votes misplaced of a hundred, averaged over the items that ChaosNLI chose for their
    disagreement. The bar is the range of the nine models. RoBERTa-large comes nearest of the nine
    once recalibrated: a map with twelve numbers, fitted to the votes on other items, corrects its
    probabilities. Five people are not recalibrated; that would bring them nearer, too.""",
    alt="""Five rows on one axis of votes misplaced. A second crowd misplaces 6, five people 20. RoBERTa-large misplaces 35
    as it is, and an arrow leads from there to 18, recalibrated. The uniform guess misplaces 34, and the bar of the nine models
    lies just right of it, from 35 to 37.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Votes misplaced by everyone, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-misplaced",
    in_votes,
    shown=in_votes.rows[~are_our_own(in_votes.rows["system"])],
    columns=results.MISPLACED_COLUMNS,
    groups=["dataset"],
    index=["dataset", "system"],
    caption=f"""Five people misplace fewer votes than any model as it is. Votes misplaced of a
    hundred, with 95% intervals over items ({resamples:,} resamples). *Recalibrated*: by a map
    fitted to the votes on other items. One person and five people are compared with the other votes
    on the item. *Majority label* and *old label* give all votes to that label. The data also has
    the small models that we trained.""",
) if len(in_votes) else Markdown(
    "*Votes misplaced need twenty votes per item: fewer would favour predictions that are too sure.*"
)

# %% [markdown]
# One person misplaces {value}`tbl-misplaced dataset=mnli "system=one person" misplaced .0f` votes on MNLI. The
# {term}`base rate`, which predicts for every item how often each label is given overall, misplaces
# {value}`tbl-misplaced dataset=mnli "system=base rate" misplaced .0f`: even that is nearer to people than any of the nine
# as it is. Yet these models know more than their probabilities show. {term}`Recalibrated <worth, recalibrated>` on the
# votes on other items, RoBERTa-large misplaces
# {value}`tbl-misplaced dataset=mnli system=roberta-large how=recalibrated misplaced .0f` votes on MNLI instead of
# {value}`tbl-misplaced dataset=mnli system=roberta-large "how=as it is" misplaced .0f`, and
# {value}`tbl-misplaced dataset=snli system=roberta-large how=recalibrated misplaced .0f` on SNLI instead of
# {value}`tbl-misplaced dataset=snli system=roberta-large "how=as it is" misplaced .0f`. {doc}`fitting` shows how.
#
# ## In the papers' unit
# Both papers use other distances. {term}`JSD` is the Jensen–Shannon *distance* between the human and the predicted
# distribution, with natural logarithms; 0 is perfect.

# %%
figure_rows = results.drawn_results(table, references)
comparison = results.models_against_guesses(inputs, n_resamples=comparisons, seed=seed)
publish_figure(
    "fig-nine-models",
    plot_results,
    results.nine_models(figure_rows, comparison, dataset="mnli"),
    caption="""By JSD, no model of the paper is measurably nearer to people than a uniform
    guess, and two are farther (MNLI). The original votes are nearer, and so is the mean vote on
    other items with the same old label. Bars are 95% intervals of the difference from the
    uniform guess on the same items: where a bar crosses the dashed line, we cannot tell the two
    apart. Corrected for nine comparisons, only the last two models are clearly farther. Dotted:
    a second crowd of a hundred people.""",
    alt="""A dot plot of JSD on MNLI. The second crowd stands far left. The mean vote given the old
    label and the original votes come next, then the uniform guess on a dashed line. All nine
    models of the paper lie close together, right of that line. The bars of the nearest five cross it; those of DistilBERT, BERT-large, ALBERT-xxlarge and BART-large do not.""",
)

# %% [markdown]
# Compared on the same items and corrected for nine comparisons, two models are clearly farther than the uniform guess:
# BART-large by {value}`tbl-paired-with-guesses dataset=mnli system=bart-large baseline=chance measure=jsd value .3f`
# (p = {value}`tbl-paired-with-guesses dataset=mnli system=bart-large baseline=chance measure=jsd p_holm .3f`) and
# ALBERT-xxlarge by
# {value}`tbl-paired-with-guesses dataset=mnli system=albert-xxlarge baseline=chance measure=jsd value .3f` (p =
# {value}`tbl-paired-with-guesses dataset=mnli system=albert-xxlarge baseline=chance measure=jsd p_holm .3f`). JSD
# cannot tell the other seven from the guess. KL and squared distance can: by both, all nine are clearly farther, by KL
# by {value}`tbl-paired-with-guesses dataset=mnli baseline=chance measure=kl min:value .2f` nats or more. By votes
# misplaced only DistilBERT and BERT-large are clearly farther. Nor does one training run settle much: of the
# RoBERTa-base models that {cite:t}`baan2022` trained on SNLI alone, one has a JSD of
# {value}`tbl-main-results dataset=mnli "system=RoBERTa-base, seed 1" jsd .3f` on MNLI, below the guess's
# {value}`tbl-main-results dataset=mnli system=chance jsd .3f`, and another has
# {value}`tbl-main-results dataset=mnli "system=RoBERTa-base, seed 2" jsd .3f`.
#
# By JSD, MNLI is the exception. On SNLI all
# {value}`tbl-baselines-against-models dataset=snli system=chance measure=jsd n_surely_nearer` models are clearly nearer
# to people than the guess, as are
# {value}`tbl-baselines-against-models dataset=alphanli system=chance measure=jsd n_surely_nearer` on αNLI. By KL, only
# {value}`tbl-baselines-against-models dataset=snli system=chance measure=kl n_surely_nearer` are clearly nearer on
# SNLI, and on αNLI all {value}`tbl-baselines-against-models dataset=alphanli system=chance measure=kl n_surely_beaten`
# are clearly farther: KL is hard on a model that is sure and wrong. The MNLI items divide people more: two people agree
# on {value}`tbl-machine-models dataset=mnli model=people with_people .0%` of them, but on
# {value}`tbl-machine-models dataset=snli model=people with_people .0%` of the SNLI items. Where people are divided, a
# uniform guess is near them by definition.
#
# On MNLI and αNLI a table of averages does better than any of the nine. The {term}`mean vote given the old label`,
# learned from other items, predicts the same distribution for all items with the same {term}`old label`. By JSD it is
# nearer to people than all
# {value}`tbl-baselines-against-models dataset=mnli "system=mean vote given the old label" measure=jsd n_surely_beaten`
# models on both. It knows one human label *of the item that it predicts*, and was fitted to votes, which the models never
# saw. The comparison shows how little these probabilities reveal about people's answers. A table of averages does not
# understand language.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "How many models each guess beats, as a table", "code_prompt_hide": "Fold the table"}
beaten = results.baselines_against_models(comparison)
publish_table(
    "tbl-baselines-against-models",
    beaten,
    columns=results.count_columns(beaten.rows),
    index=["system"],
    caption="""The mean vote given the old label is nearer to people than all models of the
    paper on MNLI and αNLI; on MNLI the base rate is, too. The number of models with a higher
    JSD than each guess and, in brackets, of those that are clearly farther (Holm); bold where
    all have a higher JSD. The data also has KL, total variation and squared distance, and how
    many are clearly nearer.""",
) if len(beaten) else Markdown(
    "*No model's predictions are available to compare with the guesses.*"
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Each model compared with two guesses, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-paired-with-guesses",
    comparison,
    shown=results.shown_paired(comparison.rows),
    columns=results.paired_columns(comparisons),
    groups=["dataset"],
    index=["dataset", "system"],
    caption=f"""JSD, model minus guess on the same items, with 95% intervals over items
    ({comparisons:,} resamples); below 0, the model is nearer to people. *p* is adjusted (Holm)
    for the models compared with a guess on a dataset. The data has every guess, and KL, total
    variation and squared distance.""",
) if len(comparison) else None

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Every system on every dataset, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-results",
    plot_results,
    figure_rows.where(~are_our_own(figure_rows.rows["label"])),
    caption="""By JSD, no model of the paper is nearer to people than a uniform guess (dashed)
    on MNLI; on SNLI all are. The rows are people and references, guesses that need no model,
    and models, sorted on a wide screen by their mean rank over the datasets. Bars are 95%
    intervals over items. Dotted: the perfect model and the second crowd. Seeds of a model share
    a row.""",
    alt="""Dot plots of JSD, a panel for each dataset and a row for each system. On SNLI every model
    of the paper lies left of the line of the uniform guess; on MNLI all of them lie right of it. On
    MNLI and αNLI the mean vote given the old label lies left of all models. All are far from the
    second crowd, the perfect model and the estimated human at the left.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All systems by all measures, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-main-results",
    table,
    shown=results.shown_results(table.rows),
    columns=results.COLUMNS,
    groups=("dataset", "kind"),
    caption=f"""Distance from people and accuracy of every system. Rows *from here* are computed,
    with 95% bootstrap intervals over items ({resamples:,} resamples), and over seeds for a mean of
    seeds; the estimated human is *from the paper* (Table 5 of {{cite:t}}`nie2020`), as its votes
    were not released. *Chance* is the uniform guess for distances and the most frequent label for
    accuracies; class prior, base rate and mean vote are fitted on the nine other folds of the
    items. Bold: the best model and the best guess of each dataset.""",
)

# %% [markdown]
# ```{interactive} tbl-main-results
# :without: class prior; MiniLM-L6; MPNet-base
# :measures: jsd kl new_accuracy old_accuracy
# ```
# We reproduce every number of the nine models in Table 5 of {cite:t}`nie2020` to the last digit ({doc}`claims`). We add
# two later encoders {cite:p}`theguy2026`. DeBERTa-v3-large {cite:p}`he2023,laurer2024` has the highest
# {term}`new accuracy` on SNLI, though by no more than chance, and a higher JSD than all nine. ModernBERT-large
# {cite:p}`warner2024,sileo2024` lists MNLI among its training tasks, so it may have seen these items.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Rescaled between the guess and a second crowd, as a table", "code_prompt_hide": "Fold the table"}
between = ceilings.normalised_scores(inputs, n_draws=draws, n_resamples=resamples, seed=seed)
publish_table(
    "tbl-normalised-scores",
    between,
    shown=results.shown_between(between.rows),
    columns=ceilings.SCORE_COLUMNS,
    groups=["dataset", "kind"],
    index=["dataset", "system", "source"],
    caption=f"""Rescaled, no model comes near the second crowd. The guess and the three models that
    are nearest by JSD on each dataset; 0 is the uniform guess and 1 the second crowd (split
    halves). Excess is JSD minus that of a perfect model on the same items. Brackets: 95% intervals
    from {resamples:,} resamples of the items, with system, uniform guess and second crowd resampled
    together; bold, the best model and all models within its interval. A dash: the second crowd is
    not clearly better than the uniform guess. The data has every system, KL, RankCS and a
    calibration error.""",
)

# %% [markdown]
# ## Worth in people
# Anyone who knows the base rate can already make a guess. How many people must you ask about each item, on top of that,
# to come as near to the crowd as a model does? That number is the model's {term}`worth`. The base rate is worth 0; a
# system that is farther from people is worth less than nothing. Worth rests on squared distances, which few votes do not
# bias.
#
# Each system has two values: as it is, and recalibrated. The second shows what the system knows, whatever its
# temperature; the gap shows what its probabilities get wrong.

# %%
publish_figure(
    "fig-human-equivalents",
    plot_worth,
    results.drawn_worth(equivalents.where(~are_our_own(equivalents.rows["system"]))),
    caption="""On MNLI every model is worth less than nothing as it is, and up to four people once
    recalibrated. Worth in people on top of the base rate. Filled: as it is; hollow: recalibrated on
    other items' votes. Bars are 95% intervals over items, with out-of-fold predictions held fixed.
    Seeds of a model share a row.""",
    alt="""A panel for each dataset and a row for each guess and model: a filled circle for the
    system as it is, joined to a hollow circle for the recalibrated system, which is farther right
    for nearly every model. On SNLI the filled circles lie between 0 and one person and the hollow
    circles between one and a little over three; on MNLI all filled circles of models lie below 0
    and their hollow circles between about one and four. On αNLI all circles lie near 0 or 1.""",
) if len(equivalents) else None

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All systems in people, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-human-equivalents",
    equivalents,
    columns=results.equivalent_columns(equivalents.rows),
    index=["dataset", "system"],
    caption=f"""What systems are worth in people, with 95% intervals over items. *Worth*: people to
    ask on top of the base rate, by squared distance, for the system as it is, *recalibrated* by a
    map of 12 numbers fitted out of fold (6 for two labels), and *shrunk* by one number. Intervals
    resample items, with out-of-fold predictions held fixed. *Pooled*: the number of people whose
    shares alone come as near; it has no zero, so even a uniform guess scores above 0. By TVD and
    JSD: against *m* other votes, from {crowds} drawn crowds, with the interval of the paired
    difference inverted.""",
) if len(equivalents) else Markdown(
    "*Some items have a single vote, which cannot show how far people are from each other, "
    "so worth cannot be computed here.*"
)

# %% [markdown]
# Recalibrated, the nine are worth
# {value}`tbl-human-equivalents dataset=snli "system=bert-base|xlnet-base|roberta-base|bert-large|xlnet-large|roberta-large|bart-large|albert-xxlarge|distilbert" measure=people_on_top_recalibrated min:value .1f`
# to
# {value}`tbl-human-equivalents dataset=snli "system=bert-base|xlnet-base|roberta-base|bert-large|xlnet-large|roberta-large|bart-large|albert-xxlarge|distilbert" measure=people_on_top_recalibrated max:value .1f`
# people on SNLI and
# {value}`tbl-human-equivalents dataset=mnli "system=bert-base|xlnet-base|roberta-base|bert-large|xlnet-large|roberta-large|bart-large|albert-xxlarge|distilbert" measure=people_on_top_recalibrated min:value .1f`
# to
# {value}`tbl-human-equivalents dataset=mnli "system=bert-base|xlnet-base|roberta-base|bert-large|xlnet-large|roberta-large|bart-large|albert-xxlarge|distilbert" measure=people_on_top_recalibrated max:value .1f`
# on MNLI ({numref}`fig-human-equivalents`). As they are, all nine are worth less than nothing on MNLI. RoBERTa-large's
# {value}`tbl-human-equivalents dataset=mnli system=roberta-large measure=people_on_top_recalibrated value .1f` there
# comes from a map of twelve numbers, fitted out of fold on all items. {doc}`fitting` reports
# {value}`tbl-fitting dataset=mnli access=text inputs=roberta-large map=affine objective=kl people .1f` for the same map,
# on the {value}`tbl-fitting dataset=mnli access=text inputs=roberta-large map=affine objective=kl n_items ,d` items that
# every system predicts, and
# {value}`tbl-fitting dataset=mnli access=text inputs=roberta-large map=quadratic objective=kl people .1f` for a larger
# map.
#
# The original votes, five on most items, are worth
# {value}`tbl-human-equivalents dataset=snli "system=original votes" measure=people_on_top_recalibrated value .1f` people
# on SNLI and
# {value}`tbl-human-equivalents dataset=mnli "system=original votes" measure=people_on_top_recalibrated value .1f` on
# MNLI, recalibrated. They are not an ordinary sample of people: items were chosen because exactly three of the five
# agreed.
#
# ## Larger is more accurate, not always nearer
# The large model of a family is the more accurate in all {value}`tbl-model-sizes measure=jsd count:value d` pairs, though
# for BERT by no more than chance on SNLI and MNLI. By JSD it is nearer to people in every family on SNLI and αNLI, but in
# none on MNLI.

# %% [markdown]
# ## Limitations
# All results are for {value}`tbl-main-results dataset=snli system=chance n_items ,.0f` SNLI,
# {value}`tbl-main-results dataset=mnli system=chance n_items ,.0f` MNLI and
# {value}`tbl-main-results dataset=alphanli system=chance n_items ,.0f` αNLI items. The SNLI and MNLI items were chosen
# because the original annotators disagreed, so distances are larger than on a random sample. The nine models are single
# runs, and the items seldom settle which one is nearest: on MNLI, RoBERTa-large may have any rank from
# {value}`tbl-main-results dataset=mnli source=computed system=roberta-large rank_best .0f` to
# {value}`tbl-main-results dataset=mnli source=computed system=roberta-large rank_worst .0f` by JSD (ranks that hold for
# all models at once). Their predictions are logits copied by another repository from the released file, which is no
# longer online. The paper's estimated human rests on a second set of annotators, whose votes were not released.

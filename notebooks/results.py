# %% [markdown]
# # Nine models and a hundred people
#
# *Do models predict how people split?*
#
# **On MNLI, the nine models of 2020 misplace
# {value}`tbl-misplaced dataset=mnli "how=as it is" of_paper=true min:misplaced .0f` to
# {value}`tbl-misplaced dataset=mnli "how=as it is" of_paper=true max:misplaced .0f` of a hundred votes. A
# {term}`uniform guess`, which ignores the item, misplaces
# {value}`tbl-misplaced dataset=mnli "system=uniform guess" misplaced .0f`, and five people misplace
# {value}`tbl-misplaced dataset=mnli "system=five people" misplaced .0f`.** None of the nine models is nearer to people
# than this guess. How many of them are clearly farther depends on the measure:
# {value}`tbl-baselines-against-models dataset=mnli system=chance measure=jsd n_surely_beaten` by {term}`JSD`, but all
# {value}`tbl-baselines-against-models dataset=mnli system=chance measure=kl n_surely_beaten` by {term}`KL` and all
# {value}`tbl-baselines-against-models dataset=mnli system=chance measure=brier n_surely_beaten` by squared distance. On
# SNLI, where people agree more, the models misplace
# {value}`tbl-misplaced dataset=snli "how=as it is" of_paper=true min:misplaced .0f` to
# {value}`tbl-misplaced dataset=snli "how=as it is" of_paper=true max:misplaced .0f` votes, and the guess misplaces
# {value}`tbl-misplaced dataset=snli "system=uniform guess" misplaced .0f`. The models learned from one label per item,
# which never shows where people split.
#
# A model trained on one label per item still outputs a full distribution. Is it the distribution of people's answers?
# {cite:t}`nie2020` asked this of nine models. We recompute their table and add rows for people, guesses and later
# models. The SNLI and MNLI items are those that ChaosNLI chose for their disagreement.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files with your own predictions, shown with the other systems
resamples: int = 2000  # bootstrap resamples of the items, for the 95% intervals
comparisons: int = 100_000  # bootstrap resamples for paired differences and their p-values
crowds: int = 50  # draws of a crowd and of the people whom it is evaluated against
draws: int = 20  # draws of the items' true distributions, and of splits into half crowds
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
# A vote is *misplaced* if it would have to move to another label for the votes on an item to match the prediction. The
# mean number of misplaced votes per hundred is 100 times the {term}`total variation distance`. Two references show what
# is achievable. A {term}`second crowd <human ceiling>` of a hundred other people misplaces
# {value}`tbl-misplaced dataset=mnli "system=second crowd" misplaced .0f` votes on MNLI, because a hundred people are
# only a sample. For the same reason, even a {term}`perfect model <noise floor>`, which predicts each item's true
# distribution, misplaces {value}`tbl-misplaced dataset=mnli "system=perfect model" misplaced .0f`.

# %%
in_votes = results.misplaced(inputs, n_resamples=resamples, seed=seed)
publish_figure(
    "fig-misplaced",
    plot_misplaced,
    results.drawn_misplaced(in_votes.where(~are_our_own(in_votes.rows["system"])), dataset="mnli"),
    caption="""None of the nine models of 2020 is nearer to people than a uniform guess (MNLI). The axis shows how many
    of a hundred votes a prediction misplaces, averaged over the items that ChaosNLI chose for their disagreement. The
    bar spans the nine models. After recalibration, RoBERTa-large is the nearest of the nine: a map with twelve numbers,
    fitted to the votes on other items, corrects its probabilities. The five people are not recalibrated, although
    recalibration would bring them nearer, too.""",
    alt="""Five rows on one axis of votes misplaced. A second crowd misplaces 6 and five people 20. RoBERTa-large
    misplaces 35 without recalibration, and an arrow leads from there to 18 after recalibration. The uniform guess
    misplaces 34, and the bar of the nine models lies just right of it, from 35 to 37.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Misplaced votes for people, guesses and models, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-misplaced",
    in_votes,
    shown=in_votes.rows[~are_our_own(in_votes.rows["system"])],
    columns=results.MISPLACED_COLUMNS,
    groups=["dataset"],
    index=["dataset", "system"],
    caption=f"""Five people misplace fewer votes than any model that has not been recalibrated. The table shows the
    number of misplaced votes per hundred, with 95% intervals over items ({resamples:,} resamples). *Recalibrated*
    predictions are corrected by a map fitted to the votes on other items. One person and five people are compared with
    the remaining votes on the item. *Majority label* and *old label* put all votes on one label. The downloadable data
    also include the small models that we trained.""",
) if len(in_votes) else Markdown(
    "*We count misplaced votes only if items have at least twenty votes: with fewer votes, the count would favour overconfident predictions.*"
)

# %% [markdown]
# One person misplaces {value}`tbl-misplaced dataset=mnli "system=one person" misplaced .0f` votes on MNLI. The
# {term}`base rate`, which predicts the same overall share of each label for every item, misplaces
# {value}`tbl-misplaced dataset=mnli "system=base rate" misplaced .0f`, fewer than any of the nine models without
# recalibration. Yet these models know more than their probabilities show. {term}`Recalibrated <worth, recalibrated>`
# with the votes on other items, RoBERTa-large misplaces
# {value}`tbl-misplaced dataset=mnli system=roberta-large how=recalibrated misplaced .0f` votes on MNLI instead of
# {value}`tbl-misplaced dataset=mnli system=roberta-large "how=as it is" misplaced .0f`, and
# {value}`tbl-misplaced dataset=snli system=roberta-large how=recalibrated misplaced .0f` on SNLI instead of
# {value}`tbl-misplaced dataset=snli system=roberta-large "how=as it is" misplaced .0f`. The chapter {doc}`fitting`
# shows how this works.
#
# (in-the-papers-unit)=
# ## By the papers' measure
# {cite:t}`nie2020` report {term}`JSD`, the Jensen–Shannon *distance* between people's distribution and the predicted
# one. It uses natural logarithms, and a perfect prediction scores 0.

# %%
figure_rows = results.drawn_results(table, references)
comparison = results.models_against_guesses(inputs, n_resamples=comparisons, seed=seed)
publish_figure(
    "fig-nine-models",
    plot_results,
    results.nine_models(figure_rows, comparison, dataset="mnli"),
    caption="""By JSD, no model of the paper is measurably nearer to people than a uniform guess, and two are farther
    (MNLI). The original votes are nearer to people than this guess, and so is the mean vote on other items with the
    same old label. Bars are 95% intervals for the difference from the uniform guess on the same items. If a bar crosses
    the dashed line, we cannot tell the system from the guess. After correction for nine comparisons, only the last two
    models are clearly farther. The dotted line marks the JSD of a second crowd of a hundred people.""",
    alt="""A dot plot of JSD on MNLI. The second crowd is far left. The mean vote given the old label and the original
    votes come next, then the uniform guess on a dashed line. All nine models of the paper lie close together, right of
    that line. The bars of the nearest five cross it; those of DistilBERT, BERT-large, ALBERT-xxlarge and BART-large do
    not.""",
)

# %% [markdown]
# On the same items, and after correction for nine comparisons, two models are clearly farther from people than the
# uniform guess is: BART-large by
# {value}`tbl-paired-with-guesses dataset=mnli system=bart-large baseline=chance measure=jsd value .3f` (p =
# {value}`tbl-paired-with-guesses dataset=mnli system=bart-large baseline=chance measure=jsd p_holm .3f`) and
# ALBERT-xxlarge by
# {value}`tbl-paired-with-guesses dataset=mnli system=albert-xxlarge baseline=chance measure=jsd value .3f` (p =
# {value}`tbl-paired-with-guesses dataset=mnli system=albert-xxlarge baseline=chance measure=jsd p_holm .3f`). By JSD,
# we cannot tell the other seven from the guess. By KL and by squared distance, all nine models are clearly farther; the
# difference in KL is at least {value}`tbl-paired-with-guesses dataset=mnli baseline=chance measure=kl min:value .2f`
# nats. Measured in misplaced votes, only DistilBERT and BERT-large are clearly farther. A single training run does not
# settle much, either: of the RoBERTa-base models that {cite:t}`baan2022` trained on SNLI alone, one has a JSD of
# {value}`tbl-main-results dataset=mnli "system=RoBERTa-base, seed 1" jsd .3f` on MNLI, which is lower than the guess's
# {value}`tbl-main-results dataset=mnli system=chance jsd .3f`, and another has a JSD of
# {value}`tbl-main-results dataset=mnli "system=RoBERTa-base, seed 2" jsd .3f`.
#
# By JSD, MNLI is the exception: all
# {value}`tbl-baselines-against-models dataset=snli system=chance measure=jsd n_surely_nearer` models are clearly nearer
# to people than the guess on SNLI, and
# {value}`tbl-baselines-against-models dataset=alphanli system=chance measure=jsd n_surely_nearer` of them on αNLI. By
# KL, only {value}`tbl-baselines-against-models dataset=snli system=chance measure=kl n_surely_nearer` are clearly
# nearer on SNLI, and all
# {value}`tbl-baselines-against-models dataset=alphanli system=chance measure=kl n_surely_beaten` are clearly farther on
# αNLI, because KL heavily penalises a model that is confident and wrong. People also disagree more on the MNLI items:
# two people agree {value}`tbl-machine-models dataset=mnli model=people with_people .0%` of the time, compared with
# {value}`tbl-machine-models dataset=snli model=people with_people .0%` on SNLI. Where people are divided, a uniform
# guess is near them by definition.
#
# On MNLI and αNLI, a table of averages does better than any of the nine models. The
# {term}`mean vote given the old label`, learned from other items, predicts the same distribution for all items with the
# same {term}`old label`. By JSD, it is nearer to people than all
# {value}`tbl-baselines-against-models dataset=mnli "system=mean vote given the old label" measure=jsd n_surely_beaten`
# models on both datasets. It uses one human label *of the very item whose votes it predicts*, and it was fitted to
# votes, which the models never saw. A table of averages does not understand language, so the comparison only shows how
# little the models' probabilities reveal about people's answers.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "How many models each guess beats, as a table", "code_prompt_hide": "Fold the table"}
beaten = results.baselines_against_models(comparison)
publish_table(
    "tbl-baselines-against-models",
    beaten,
    columns=results.count_columns(beaten.rows),
    index=["system"],
    caption="""On MNLI and αNLI, the mean vote given the old label is nearer to people than any of the paper's models;
    on MNLI, so is the base rate. For each guess, the table counts the models that have a higher JSD than the guess and,
    in brackets, the models that are clearly farther from people after correction (Holm). Counts are shown in bold if
    all models have a higher JSD. The downloadable data also include KL, total variation and squared distance, and the
    number of models that are clearly nearer.""",
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
    caption=f"""By JSD, most models are clearly nearer to people than a uniform guess on SNLI and αNLI, but none is on
    MNLI. The values are the JSD of a model minus that of a guess on the same items, with 95% intervals over items
    ({comparisons:,} resamples); below 0, the model is nearer to people. The *p*-values are adjusted (Holm) for
    comparing several models with the same guess on the same dataset. The downloadable data include all guesses, and KL,
    total variation and squared distance.""",
) if len(comparison) else None

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Every system on every dataset, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-results",
    plot_results,
    figure_rows.where(~are_our_own(figure_rows.rows["label"])),
    caption="""By JSD, no model of the paper is nearer to people than a uniform guess (dashed) on MNLI, but all of them
    are nearer on SNLI. From top to bottom, the rows show people and references, guesses that need no model, and models.
    On a wide screen, the rows within each group are sorted by their mean rank over the datasets. Bars are 95% intervals
    over items, and dotted lines mark the perfect model and the second crowd. Seeds of the same model share a row.""",
    alt="""Dot plots of JSD, a panel for each dataset and a row for each system. On SNLI every model of the paper lies
    left of the line of the uniform guess; on MNLI all of them lie right of it. On MNLI and αNLI the mean vote given the
    old label lies left of all models. All are far from the second crowd, the perfect model and the estimated human at
    the left.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All systems by all measures, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-main-results",
    table,
    shown=results.shown_results(table.rows),
    columns=results.COLUMNS,
    groups=("dataset", "kind"),
    caption=f"""Distance from people and accuracy of every system. Rows marked *here* are our own results, with 95%
    bootstrap intervals over items ({resamples:,} resamples), and also over seeds if the row is a mean over seeds. The
    estimated human, a second set of annotators whose votes were not released, is taken from the *paper* (Table 5 of
    {{cite:t}}`nie2020`). *Chance* is the uniform guess for distances and the most frequent label for accuracies. The
    class prior and the mean vote are fitted to the other nine of ten folds of the items, and the base rate to all items
    with other texts. The best model and the best guess on each dataset are shown in bold.""",
)

# %% [markdown]
# ```{interactive} tbl-main-results
# :without: class prior; MiniLM-L6; MPNet-base
# :measures: jsd kl new_accuracy old_accuracy
# ```
# We reproduce every number of the nine models in Table 5 of {cite:t}`nie2020` to the last digit ({doc}`claims`), and we
# add two later encoders {cite:p}`theguy2026`. DeBERTa-v3-large {cite:p}`he2023,laurer2024` has the highest
# {term}`new accuracy` on SNLI, by a margin that may be due to chance, but its JSD is higher than that of all nine
# models. The training tasks of ModernBERT-large {cite:p}`warner2024,sileo2024` include MNLI, so it may have seen these
# items.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Scores between the guess and a second crowd, as a table", "code_prompt_hide": "Fold the table"}
between = ceilings.normalised_scores(inputs, n_draws=draws, n_resamples=resamples, seed=seed)
publish_table(
    "tbl-normalised-scores",
    between,
    shown=results.shown_between(between.rows),
    columns=ceilings.SCORE_COLUMNS,
    groups=["dataset", "kind"],
    index=["dataset", "system", "source"],
    caption=f"""No model comes near the second crowd. Scores are rescaled so that the uniform guess is at 0 and the
    second crowd (split halves) at 1. The table shows the uniform guess and the three models that are nearest by JSD on
    each dataset. *Excess* is the system's JSD minus the JSD of a perfect model on the same items. Brackets contain 95%
    intervals from {resamples:,} resamples of the items, in which the system, the uniform guess and the second crowd are
    resampled together. The best model and all models within its interval are shown in bold. A dash means that the
    second crowd is not clearly better than the uniform guess. The downloadable data include every system, KL, RankCS
    and a calibration error.""",
)

# %% [markdown]
# ## Worth in people
# Anyone who knows the base rate can already make a guess. How many people would someone with this knowledge have to ask
# about each item to get as near to the crowd as a model does? That number is the model's {term}`worth`. The base rate
# is worth 0, and a system that is farther from people than the base rate is worth less than nothing. Worth is computed
# from squared distances, which can be estimated without bias even from few votes.
#
# We report the worth of each system before and after recalibration. The second value shows how much the system knows,
# and the gap between the two values shows how much is lost because its probabilities are off.

# %%
publish_figure(
    "fig-human-equivalents",
    plot_worth,
    results.drawn_worth(equivalents.where(~are_our_own(equivalents.rows["system"]))),
    caption="""On MNLI, every model is worth less than nothing before recalibration, and up to four people afterwards.
    The axis shows how many people someone who knows the base rate would have to ask about each item. Filled circles
    show systems as they are, without recalibration, and hollow circles show them after recalibration to the votes on
    other items. Bars are 95% intervals over items, with out-of-fold predictions held fixed. Seeds of the same model
    share a row.""",
    alt="""A panel for each dataset and a row for each guess and model: a filled circle for the system before
    recalibration, joined to a hollow circle for the recalibrated system, which is farther right for nearly every model.
    On SNLI the filled circles lie between 0 and one person and the hollow ones between one and a little over three; on
    MNLI all filled circles of models lie below 0 and all hollow ones between about one and four. On αNLI all circles
    lie near 0 or 1.""",
) if len(equivalents) else None

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "What every system is worth in people, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-human-equivalents",
    equivalents,
    columns=results.equivalent_columns(equivalents.rows),
    index=["dataset", "system"],
    caption=f"""What systems are worth in people, with 95% intervals over items. *Worth* is the number of people whose
    votes, combined with the base rate, would come as near to the crowd as the system does, in squared distance.
    *Recalibrated* systems are corrected by a map of 12 numbers fitted out of fold (6 for two labels), and *shrunk*
    systems by one number. The intervals resample items, with out-of-fold predictions held fixed. *Pooled* is the number
    of people whose vote shares come as near without the help of the base rate; this measure has no zero point, so even
    a uniform guess scores above 0. For TVD and JSD, systems and people are compared with *m* other votes in each of
    {crowds} randomly drawn crowds; the intervals are derived from the interval for the paired difference.""",
) if len(equivalents) else Markdown(
    "*Some items have a single vote, which cannot show how far people are from each other, "
    "so worth cannot be computed here.*"
)

# %% [markdown]
# After recalibration, the nine models are worth
# {value}`tbl-human-equivalents dataset=snli "system=bert-base|xlnet-base|roberta-base|bert-large|xlnet-large|roberta-large|bart-large|albert-xxlarge|distilbert" measure=people_on_top_recalibrated min:value .1f`
# to
# {value}`tbl-human-equivalents dataset=snli "system=bert-base|xlnet-base|roberta-base|bert-large|xlnet-large|roberta-large|bart-large|albert-xxlarge|distilbert" measure=people_on_top_recalibrated max:value .1f`
# people on SNLI and
# {value}`tbl-human-equivalents dataset=mnli "system=bert-base|xlnet-base|roberta-base|bert-large|xlnet-large|roberta-large|bart-large|albert-xxlarge|distilbert" measure=people_on_top_recalibrated min:value .1f`
# to
# {value}`tbl-human-equivalents dataset=mnli "system=bert-base|xlnet-base|roberta-base|bert-large|xlnet-large|roberta-large|bart-large|albert-xxlarge|distilbert" measure=people_on_top_recalibrated max:value .1f`
# on MNLI ({numref}`fig-human-equivalents`). Without recalibration, all nine are worth less than nothing on MNLI.
# RoBERTa-large is worth
# {value}`tbl-human-equivalents dataset=mnli system=roberta-large measure=people_on_top_recalibrated value .1f` people
# there with a map of twelve numbers, fitted out of fold to the votes on all items. The chapter {doc}`fitting` reports
# {value}`tbl-fitting dataset=mnli access=text inputs=roberta-large map=affine objective=kl people .1f` for the same map
# on the {value}`tbl-fitting dataset=mnli access=text inputs=roberta-large map=affine objective=kl n_items ,d` items
# that every system predicts, and
# {value}`tbl-fitting dataset=mnli access=text inputs=roberta-large map=quadratic objective=kl people .1f` for a larger
# map.
#
# The original votes, of which most items have five, are worth
# {value}`tbl-human-equivalents dataset=snli "system=original votes" measure=people_on_top_recalibrated value .1f`
# people on SNLI and
# {value}`tbl-human-equivalents dataset=mnli "system=original votes" measure=people_on_top_recalibrated value .1f` on
# MNLI after recalibration. They are not an ordinary sample of people, because ChaosNLI chose items on which exactly
# three of the five agreed.
#
# (larger-is-more-accurate-not-always-nearer)=
# Larger models are more accurate, but not always nearer to people. The large model of a family is more accurate than
# the base model in all {value}`tbl-model-sizes measure=jsd count:value d` pairs, although for BERT the difference on
# SNLI and MNLI may be due to chance. By JSD, the large model of every family is nearer to people than the base model on
# SNLI and αNLI; on MNLI, this holds for no family.

# %% [markdown]
# ## Limitations
# All results are for {value}`tbl-main-results dataset=snli system=chance n_items ,.0f` SNLI,
# {value}`tbl-main-results dataset=mnli system=chance n_items ,.0f` MNLI and
# {value}`tbl-main-results dataset=alphanli system=chance n_items ,.0f` αNLI items. The SNLI and MNLI items were chosen
# because the original annotators disagreed, so distances are larger than they would be on a random sample. Each of the
# nine models is a single run, and there are rarely enough items to show which model is nearest to people. On MNLI,
# RoBERTa-large may have any rank from
# {value}`tbl-main-results dataset=mnli source=computed system=roberta-large rank_best .0f` to
# {value}`tbl-main-results dataset=mnli source=computed system=roberta-large rank_worst .0f` by JSD, if we require
# intervals that hold for the ranks of all models at once. The predictions of the nine models are logits that another
# repository copied from the released file, which is no longer online.

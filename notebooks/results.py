# %% [markdown]
# # Nine models and a hundred people
#
# *Do models predict how people split?*
#
# **On the MNLI items of ChaosNLI, none of the nine models of 2020 is nearer to people than a {term}`uniform guess`,
# which ignores the item.** A prediction *misplaces* a vote if the vote would have to move to another label for the
# votes on the item to match the prediction. Of a hundred votes, each of the nine models misplaces
# {value}`tbl-misplaced dataset=mnli "how=as it is" of_paper=true min:misplaced .0f` or more, the guess misplaces
# {value}`tbl-misplaced dataset=mnli "system=uniform guess" misplaced .0f`, and five people misplace only
# {value}`tbl-misplaced dataset=mnli "system=five people" misplaced .0f`.
#
# By {term}`JSD`, only {value}`tbl-baselines-against-models dataset=mnli system=chance measure=jsd n_surely_beaten`
# models are clearly farther from people than the guess is; by {term}`KL`, all
# {value}`tbl-baselines-against-models dataset=mnli system=chance measure=kl n_surely_beaten` are, and by squared
# distance, all {value}`tbl-baselines-against-models dataset=mnli system=chance measure=brier n_surely_beaten`. On
# the SNLI items, where people agree more than on the MNLI items, the models misplace
# {value}`tbl-misplaced dataset=snli "how=as it is" of_paper=true min:misplaced .0f` to
# {value}`tbl-misplaced dataset=snli "how=as it is" of_paper=true max:misplaced .0f` of a hundred votes, and the guess
# misplaces {value}`tbl-misplaced dataset=snli "system=uniform guess" misplaced .0f`. On the αNLI items,
# {value}`tbl-baselines-against-models dataset=alphanli system=chance measure=jsd n_surely_nearer` of the
# {value}`tbl-baselines-against-models dataset=alphanli system=chance measure=jsd n_models` models are clearly nearer to
# people by JSD than the guess is.
#
# A model trained on one label per item still outputs a full distribution, but is it the distribution of people's
# answers? {cite:t}`nie2020` compared the predictions of nine models with people's votes. We recompute the paper's table
# and add rows for people, guesses and later models.

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
# The mean number of misplaced votes per hundred is 100 times the mean {term}`total variation distance`. A
# {term}`second crowd <human ceiling>` of a hundred other people misplaces
# {value}`tbl-misplaced dataset=mnli "system=second crowd" misplaced .0f` of a hundred votes on MNLI, because a hundred
# people are only a sample. Even a {term}`perfect model <noise floor>`, which predicts each item's true distribution,
# misplaces {value}`tbl-misplaced dataset=mnli "system=perfect model" misplaced .0f` of a hundred votes, because the
# votes themselves are only a sample.

# %%
in_votes = results.misplaced(inputs, n_resamples=resamples, seed=seed)
publish_figure(
    "fig-misplaced",
    plot_misplaced,
    results.drawn_misplaced(in_votes.where(~are_our_own(in_votes.rows["system"])), dataset="mnli"),
    caption="""On ChaosNLI's MNLI items, none of the nine models of 2020 is nearer to people than a uniform guess. The
    axis shows how many of a hundred votes a prediction misplaces, averaged over the items, which ChaosNLI chose because people
    disagreed on them. The bar spans the values of the nine models. RoBERTa-large, which of the nine models comes
    nearest to people after recalibration, is shown both with and without recalibration. Recalibration corrects a
    model's probabilities with a map of twelve parameters, which is fitted to the votes on other items. The votes of the
    five people are not recalibrated, although recalibration would bring them nearer to the crowd, too.""",
    alt="""Five rows share one axis of misplaced votes. A second crowd misplaces 6 votes, and five people misplace 20.
    RoBERTa-large misplaces 35 without recalibration, and an arrow leads from there to 18 after recalibration. The
    uniform guess misplaces 34, and the bar of the nine models lies just right of it, from 35 to 37.""",
    meanings=results.DRAWN_MISPLACED,
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
    predictions are corrected with a map fitted to the votes on other items. The votes of one person and of five people
    are compared with the remaining votes on the item. The predictions *majority label* and *old label* put all the
    probability on one label. The downloadable data also include the small models that we trained.""",
) if len(in_votes) else Markdown(
    "*We count misplaced votes only if items have at least twenty votes: with fewer votes, the count would favour overconfident predictions.*"
)

# %% [markdown]
# The answer of one person misplaces {value}`tbl-misplaced dataset=mnli "system=one person" misplaced .0f` of a hundred
# votes on MNLI. The {term}`base rate`, which predicts the same overall share of each label for every item, misplaces
# {value}`tbl-misplaced dataset=mnli "system=base rate" misplaced .0f`, fewer than any of the nine models does without
# recalibration.
#
# Yet the nine models know more about people's votes than the predicted probabilities show. When RoBERTa-large is
# {term}`recalibrated <worth, recalibrated>` with the votes on other items, it misplaces
# {value}`tbl-misplaced dataset=mnli system=roberta-large how=recalibrated misplaced .0f` instead of
# {value}`tbl-misplaced dataset=mnli system=roberta-large "how=as it is" misplaced .0f` of a hundred votes on MNLI, and
# {value}`tbl-misplaced dataset=snli system=roberta-large how=recalibrated misplaced .0f` instead of
# {value}`tbl-misplaced dataset=snli system=roberta-large "how=as it is" misplaced .0f` on SNLI. The chapter
# {doc}`fitting` explains how recalibration works.
#
# (in-the-papers-unit)=
# ## By the papers' measure
# {cite:t}`nie2020` report {term}`JSD`, the Jensen–Shannon *distance* between the distribution of people's votes and the
# predicted distribution. JSD is computed with natural logarithms, and a prediction that matches the votes exactly
# scores 0.

# %%
figure_rows = results.drawn_results(table, references)
comparison = results.models_against_guesses(inputs, n_resamples=comparisons, seed=seed)
publish_figure(
    "fig-nine-models",
    plot_results,
    results.nine_models(figure_rows, comparison, dataset="mnli"),
    caption="""By JSD, none of the nine models is measurably nearer to people on ChaosNLI's MNLI items than a uniform
    guess is, and two of them are measurably farther from people. The original votes are nearer to people than the uniform guess is, and
    so is the mean vote on other items with the same old label. Bars show 95% intervals for the difference from the
    uniform guess on the same items. If a bar crosses the dashed line, the system is indistinguishable from the guess.
    After correction for nine comparisons, only the two models at the bottom are clearly farther from people than the
    guess is. The dotted line marks the JSD of a second crowd of a hundred people.""",
    alt="""A dot plot shows JSD on MNLI. The second crowd is far to the left. The mean vote given the old label and the
    original votes come next, followed by the uniform guess on a dashed line. All nine models of the paper lie close
    together, to the right of the dashed line. The bars of the nearest five models cross the line, and those of
    DistilBERT, BERT-large, ALBERT-xxlarge and BART-large do not.""",
)

# %% [markdown]
# By JSD and after correction for nine comparisons, two models are clearly farther from people than the uniform guess
# is: BART-large by
# {value}`tbl-paired-with-guesses dataset=mnli system=bart-large baseline=chance measure=jsd value .3f` (p =
# {value}`tbl-paired-with-guesses dataset=mnli system=bart-large baseline=chance measure=jsd p_holm .3f`) and
# ALBERT-xxlarge by
# {value}`tbl-paired-with-guesses dataset=mnli system=albert-xxlarge baseline=chance measure=jsd value .3f` (p =
# {value}`tbl-paired-with-guesses dataset=mnli system=albert-xxlarge baseline=chance measure=jsd p_holm .3f`). By KL,
# all nine models are farther from people than the guess is, by at least
# {value}`tbl-paired-with-guesses dataset=mnli baseline=chance measure=kl min:value .2f` nats.
# Measured in misplaced votes, only DistilBERT and BERT-large are clearly farther from people than the guess is. Two
# training runs of the same model can fall on opposite sides of the guess, whose JSD is
# {value}`tbl-main-results dataset=mnli system=chance jsd .3f`. Of the RoBERTa-base models that {cite:t}`baan2022`
# trained on SNLI alone, one has a JSD of {value}`tbl-main-results dataset=mnli "system=RoBERTa-base, seed 1" jsd .3f`
# on MNLI, and another has a JSD of {value}`tbl-main-results dataset=mnli "system=RoBERTa-base, seed 2" jsd .3f`.
#
# On SNLI, all {value}`tbl-baselines-against-models dataset=snli system=chance measure=jsd n_surely_nearer` models are
# clearly nearer to people than the guess is by JSD, but only
# {value}`tbl-baselines-against-models dataset=snli system=chance measure=kl n_surely_nearer` are by KL, which heavily
# penalises a model that is confident but wrong. On αNLI,
# {value}`tbl-baselines-against-models dataset=alphanli system=chance measure=jsd n_surely_nearer` are clearly nearer by
# JSD, but all {value}`tbl-baselines-against-models dataset=alphanli system=chance measure=kl n_surely_beaten` are
# clearly farther away by KL. By definition, a uniform guess is nearer to people where they disagree more, as they do on
# the MNLI items.
#
# By JSD, a table of averages is nearer to people on MNLI and αNLI than any of the
# {value}`tbl-baselines-against-models dataset=mnli "system=mean vote given the old label" measure=jsd n_surely_beaten`
# models. As its prediction for an item, the {term}`mean vote given the old label` uses the mean vote on other items
# with the same {term}`old label`. The table of averages has two advantages over the models: it uses one human label
# *for the very item whose votes it predicts*, and it was fitted to votes, which the models never saw. A table of
# averages does not understand language, so its success shows only how little the models' probabilities reveal about
# people's answers.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "How many models each guess beats, as a table", "code_prompt_hide": "Fold the table"}
beaten = results.baselines_against_models(comparison)
publish_table(
    "tbl-baselines-against-models",
    beaten,
    columns=results.count_columns(beaten.rows),
    index=["system"],
    caption="""On ChaosNLI's MNLI and αNLI items, the mean vote given the old label is nearer to people than any of the
    paper's models is; on the MNLI items, so is the base rate. For each guess, the table counts the models with a higher JSD than the guess
    and, in brackets, the models whose JSD is still clearly higher after Holm's correction. A count is shown in bold if
    all models have a higher JSD than the guess. The downloadable data also include KL, total variation and squared
    distance, and the number of models that are clearly nearer to people than the guess is.""",
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
    caption=f"""On ChaosNLI's SNLI and αNLI items, most models are clearly nearer to people by JSD than a uniform guess
    is, but on its MNLI items, no model is. Each value is a model's JSD minus a guess's JSD on the same items, with a 95% interval over items
    ({comparisons:,} resamples). Negative values mean that the model is nearer to people than the guess is. The
    *p*-values are adjusted by Holm's method for comparing several models with the same guess on the same dataset. The
    downloadable data also include all other guesses, and differences in KL, total variation and squared distance.""",
) if len(comparison) else None

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Every system on every dataset, as a figure", "code_prompt_hide": "Fold the figure"}
publish_figure(
    "fig-results",
    plot_results,
    figure_rows.where(~are_our_own(figure_rows.rows["label"])),
    caption="""On ChaosNLI's SNLI items, all of the paper's models are nearer to people by JSD than a uniform guess is
    (dashed line), but on its MNLI items, none is. From top to bottom, the rows show people and references, guesses that need no model, and models.
    On a wide screen, the rows within each group are sorted by their mean rank over the datasets. Bars are 95% intervals
    over items, and dotted lines mark the perfect model and the second crowd. Seeds of the same model share a row.""",
    alt="""Dot plots show JSD, with a panel for each dataset and a row for each system. On SNLI, every model of the
    paper lies to the left of the line of the uniform guess, and on MNLI, all of them lie to its right. On MNLI and
    αNLI, the mean vote given the old label lies to the left of all models. All models are far from the second crowd,
    the perfect model and the estimated human at the left.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All systems by all measures, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-main-results",
    table,
    shown=results.shown_results(table.rows),
    columns=results.COLUMNS,
    groups=("dataset", "kind"),
    caption=f"""By JSD, most of the nine models are nearer to people than a uniform guess on ChaosNLI's SNLI and αNLI
    items, but none is on its MNLI items. The table gives each system's accuracy and its distance from people. Rows
    marked *here* are our own results, with 95% bootstrap intervals over items ({resamples:,} resamples). If a row shows
    a mean over seeds, its intervals are also over seeds. The values for the estimated human, a second set of annotators
    whose votes were not released, are taken from the *paper* (Table 5 of {{cite:t}}`nie2020`). In the first row of
    each dataset, distances and worth are those of the uniform guess, and accuracies those of the commonest label. The class prior and
    the mean vote are fitted to nine of the ten folds of the items and applied to the tenth. The base rate is computed
    from all items with other texts. The best model and the best guess on each dataset are shown in bold.""",
)

# %% [markdown]
# ```{interactive} tbl-main-results
# :without: class prior; MiniLM-L6; MPNet-base
# :measures: jsd kl new_accuracy old_accuracy
# :opens: mnli
# ```
# We reproduce every number for the nine models in Table 5 of {cite:t}`nie2020` to the last digit ({doc}`claims`), and
# we add two later encoders {cite:p}`theguy2026`. DeBERTa-v3-large {cite:p}`he2023,laurer2024` has the highest
# {term}`new accuracy` on SNLI, by a margin that may be due to chance, but also a higher JSD than any of the nine
# models. ModernBERT-large {cite:p}`warner2024,sileo2024` may have seen the MNLI items of ChaosNLI, because its
# developers list these items among its training data.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Scores between the guess and a second crowd, as a table", "code_prompt_hide": "Fold the table"}
between = ceilings.normalised_scores(inputs, n_draws=draws, n_resamples=resamples, seed=seed)
publish_table(
    "tbl-normalised-scores",
    between,
    shown=results.shown_between(between.rows),
    columns=ceilings.SCORE_COLUMNS,
    groups=["dataset", "kind"],
    index=["dataset", "system", "source"],
    caption=f"""No model comes near the second crowd. Scores are rescaled so that the uniform guess scores 0 and the
    second crowd, estimated from split halves, scores 1. The table shows, for each dataset, the three models and
    the guess, the mean vote given the old label, that are nearest to people by JSD. *Excess* is the system's JSD minus the JSD of a perfect model on the
    same items. Brackets contain 95% intervals from {resamples:,} resamples of the items, in which the system, the
    uniform guess and the second crowd are resampled together. The best model and all models whose scores lie within its
    interval are shown in bold. A dash means that the second crowd is not clearly better than the uniform guess. The
    downloadable data cover every system and also give KL, RankCS and a calibration error.""",
)

# %% [markdown]
# ## Worth in people
# A model's {term}`worth` answers the following question: How many people would someone who knows the base rate have to
# ask about each item to get as near to the crowd as the model does? The base rate is worth 0, and a worth below 0 means
# that a system is farther from people than the base rate is. A system's worth after recalibration shows how much the
# system knows about people's answers.

# %%
publish_figure(
    "fig-human-equivalents",
    plot_worth,
    results.drawn_worth(equivalents.where(~are_our_own(equivalents.rows["system"]))),
    caption="""On ChaosNLI's MNLI items, each individual model that was not trained on votes is worth less than the base
    rate before recalibration, but up to four people afterwards. The axis shows each system's worth in people, on top of
    the base rate. Filled circles show systems as they are, without recalibration, and hollow circles show them after
    recalibration to the votes on other items. Bars are 95% intervals over items, with out-of-fold predictions held
    fixed. Seeds of the same model share a row.""",
    alt="""Each panel is for a dataset, and each row is for a guess or a model. A filled circle for the system before
    recalibration is joined to a hollow circle for the recalibrated system, which is farther right for nearly every
    model. On SNLI, the filled circles lie between 0 and one person, and the hollow ones lie between one and a little
    over three. On MNLI, all filled circles of models lie below 0, and all hollow ones lie between about one and four.
    On αNLI, all circles lie near 0 or 1.""",
) if len(equivalents) else None

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "What every system is worth in people, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-human-equivalents",
    equivalents,
    columns=results.equivalent_columns(equivalents.rows),
    groups=["dataset"],
    index=["dataset", "system"],
    caption=f"""On ChaosNLI, no model is worth more than about four people, even after recalibration by a map of twelve
    parameters. The table gives the worth of every system as a number of people. Brackets contain 95% intervals over
    items, with out-of-fold predictions held fixed. *Worth* is the number of people whose votes, taken together and
    combined with the base rate, would have the same squared distance from the crowd as the system does. *Recalibrated*
    systems are corrected with such a map (of 6 parameters for two labels), fitted out of fold. For *shrunk* systems,
    the correction has a single parameter. *Pooled* is the number of people whose pooled votes would come as near to the
    crowd as the system does, without the help of the base rate. Because 0 on this measure does not stand for chance,
    even a uniform guess scores above 0. For TVD and JSD, systems and people are compared with *m* other votes in each
    of {crowds} randomly drawn crowds, and the intervals are derived from the interval for the paired difference.""",
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
# on MNLI ({numref}`fig-human-equivalents`). With a map of twelve parameters, RoBERTa-large is worth
# {value}`tbl-human-equivalents dataset=mnli system=roberta-large measure=people_on_top_recalibrated value .1f` people
# on all {value}`tbl-main-results dataset=mnli system=chance n_items ,.0f` MNLI items. On the
# {value}`tbl-fitting dataset=mnli access=text inputs=roberta-large map=affine objective=kl n_items ,d` MNLI items that
# every system predicts, RoBERTa-large is worth
# {value}`tbl-fitting dataset=mnli access=text inputs=roberta-large map=affine objective=kl people .1f` people with a
# map of the same size and
# {value}`tbl-fitting dataset=mnli access=text inputs=roberta-large map=quadratic objective=kl people .1f` with a larger
# map ({doc}`fitting`).
#
# After recalibration, an item's original votes (five for most items) are together worth
# {value}`tbl-human-equivalents dataset=snli "system=original votes" measure=people_on_top_recalibrated value .1f`
# people on SNLI and
# {value}`tbl-human-equivalents dataset=mnli "system=original votes" measure=people_on_top_recalibrated value .1f` on
# MNLI. The original votes are not an ordinary sample, because ChaosNLI chose items on which exactly three of the five
# original annotators agreed.
#
# (larger-is-more-accurate-not-always-nearer)=
# In all {value}`tbl-model-sizes measure=jsd count:value d` comparisons of three families on three datasets, the large
# model is more accurate than the base model, although for BERT, the differences on SNLI and MNLI may be due to chance.
# By JSD, the large model of every family is nearer to people than the base model on SNLI and αNLI, but on MNLI, no
# large model is nearer than the base model of its family.

# %% [markdown]
# ## Limitations
# The nine models are evaluated on {value}`tbl-main-results dataset=snli system=chance n_items ,.0f` SNLI,
# {value}`tbl-main-results dataset=mnli system=chance n_items ,.0f` MNLI and
# {value}`tbl-main-results dataset=alphanli system=chance n_items ,.0f` αNLI items. The SNLI and MNLI items were chosen
# because the original annotators disagreed, so distances are larger than they would be on a random sample of each
# dataset. Each of the nine models is represented by a single run, and there are rarely enough items to show which model
# is nearest to people. According to intervals that hold for the ranks of all models at once, RoBERTa-large may have any
# JSD rank from {value}`tbl-main-results dataset=mnli source=computed system=roberta-large rank_best .0f` to
# {value}`tbl-main-results dataset=mnli source=computed system=roberta-large rank_worst .0f` on MNLI. We compute the
# predictions of the nine models from a copy of their logits in another repository, because the released file is no
# longer online.

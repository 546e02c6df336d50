# %% [markdown]
# # Main results
#
# *Do models capture how people’s answers are distributed?*
#
# A model trained on one label per item still outputs a full distribution. Is it the distribution of
# people's answers? {cite:t}`nie2020` measured that for nine models. We recompute their table, and
# set other predictions that were released beside it, and guesses that need no model.
#
# The answer is mostly no. On the MNLI items that ChaosNLI chose for their disagreement, none of the
# {value}`tbl-baselines-against-models dataset=mnli system=chance measure=jsd n_models` models of the paper beats a
# {term}`uniform guess`: compared on the same items,
# {value}`tbl-baselines-against-models dataset=mnli system=chance measure=jsd n_surely_beaten` are farther from people,
# none is nearer, and for the others the items do not decide. {term}`Recalibrated <worth, recalibrated>` on the votes
# on other items, the best model is worth
# {value}`tbl-human-equivalents dataset=mnli kind=model measure=people_on_top_recalibrated max:value .1f` people there,
# and that one, ModernBERT-large, may have seen the items.

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
from chaos_utils.analyses.notices import notices
from chaos_utils.analyses.references import reference_scores
from chaos_utils.plots.results import plot_results, plot_skill
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
# ## Distance from people
#
# {term}`JSD` is the Jensen–Shannon *distance* between the human and the predicted distribution, with
# natural logarithms, averaged over items; 0 is perfect. Two references bound it. A
# {term}`perfect model <noise floor>` predicts each item's true distribution, and still scores above
# zero because the judging votes are a sample. A {term}`second crowd <human ceiling>` of a hundred
# other people shows how well people predict people. {doc}`ceilings` explains how both are computed.

# %%
figure_rows = results.drawn_results(table, references)
publish_figure(
    "fig-results",
    plot_results,
    figure_rows,
    caption="""On the MNLI items that ChaosNLI chose for their disagreement, no model of the paper beats a uniform
    guess (dashed). The rows are people and references, guesses that need no model, and models; on a wide screen they are
    sorted by their mean rank over the datasets. Bars are 95% intervals over items. Dotted: the perfect model and the
    second crowd. Seeds of a model share a row.""",
    alt="""Dot plots of JSD, a panel for each dataset and a row for each system. On SNLI every
    model of the paper lies left of the line of the uniform guess; on MNLI all of them lie right of it.
    On MNLI and αNLI the mean vote given the old label lies left of all models. All are far from the
    second crowd and the perfect model at the left, where the estimated human stands.""",
)

# %% [markdown]
# ```{interactive} tbl-main-results
# :measures: jsd kl new_accuracy old_accuracy
# ```
#
# On MNLI the uniform guess has a JSD of
# {value}`tbl-main-results dataset=mnli system=chance jsd .3f`, and the closest of the nine models of the paper,
# BERT-base, {value}`tbl-main-results dataset=mnli source=computed system=bert-base jsd .3f`
# ({numref}`fig-results`): a tie is not excluded. By single 95% intervals of the difference, four of the nine are farther
# from people than the guess. Corrected for nine comparisons (Holm), two are: BART-large by
# {value}`tbl-paired-with-guesses dataset=mnli system=bart-large baseline=chance measure=jsd value .3f`
# (p = {value}`tbl-paired-with-guesses dataset=mnli system=bart-large baseline=chance measure=jsd p_holm .3f`) and
# ALBERT-xxlarge by {value}`tbl-paired-with-guesses dataset=mnli system=albert-xxlarge baseline=chance measure=jsd value .3f`
# (p = {value}`tbl-paired-with-guesses dataset=mnli system=albert-xxlarge baseline=chance measure=jsd p_holm .3f`). By KL
# the guess surely beats all
# {value}`tbl-baselines-against-models dataset=mnli system=chance measure=kl n_surely_beaten`, and it does so on
# αNLI as well.
#
# By JSD, MNLI is the exception: on SNLI all
# {value}`tbl-baselines-against-models dataset=snli system=chance measure=jsd n_surely_nearer` are surely nearer to
# people than the guess, on αNLI
# {value}`tbl-baselines-against-models dataset=alphanli system=chance measure=jsd n_surely_nearer`. These MNLI items
# divide people more than the SNLI items, though chosen by the same rule: two people agree on
# {value}`tbl-machine-models dataset=mnli model=people with_people .0%` of them, on SNLI on
# {value}`tbl-machine-models dataset=snli model=people with_people .0%`. Where people are divided, a flat guess is near
# by definition.
#
# Models that are not in the paper can be below the guess: of three RoBERTa-base that were trained on SNLI alone, the
# nearest has {value}`tbl-main-results dataset=mnli "system=RoBERTa-base, seed 1" jsd .3f` and the farthest
# {value}`tbl-main-results dataset=mnli "system=RoBERTa-base, seed 2" jsd .3f`, so a single seed decides little. Nor is
# this distance all that a model knows: a temperature fitted on other items' votes takes seed 0 to
# {value}`tbl-fitting dataset=mnli "inputs=RoBERTa-base, seed 0" map=temperature objective=jsd jsd .3f` ({doc}`fitting`).
#
# ## From the guess to a second crowd
#
# There is room for better models. A rescaled score is 0 for the uniform guess and 1 for a second crowd, whichever
# way a measure points; what is worse than the guess is below 0.

# %%
between = ceilings.normalised_scores(inputs, n_draws=draws, n_resamples=resamples, seed=seed)
publish_table(
    "tbl-normalised-scores",
    between,
    shown=results.shown_between(between.rows),
    columns=ceilings.SCORE_COLUMNS,
    groups=["dataset", "kind"],
    index=["dataset", "system", "source"],
    caption=f"""Rescaled, no model comes near the second crowd. The guess and the three models that are nearest by
    JSD on each dataset; 0 is the uniform guess and 1 the second crowd (split halves). Excess is JSD minus what a perfect
    model has on the same items. Brackets: 95% intervals from {resamples:,} resamples of the items, in which system,
    uniform guess and second crowd are resampled together; bold, the best of the models and what its interval holds.
    A dash: the second crowd is not surely better than the uniform guess. The data has every system, KL, RankCS and a
    calibration error.""",
)

# %% [markdown]
# By JSD the best model shown has come
# {value}`tbl-normalised-scores dataset=snli measure=jsd kind=model max:rescaled .0%` of the way on SNLI,
# {value}`tbl-normalised-scores dataset=mnli measure=jsd kind=model max:rescaled .0%` on MNLI and
# {value}`tbl-normalised-scores dataset=alphanli measure=jsd kind=model max:rescaled .0%` on αNLI
# ({numref}`tbl-normalised-scores`). The mean vote given the old label, which needs no model, comes nearly as far on
# SNLI and farther on the other two.
#
# Whether a model was trained on MNLI does not explain how it does there: the best of three seeds of RoBERTa-base, which
# was not, comes to {value}`tbl-normalised-scores dataset=mnli measure=jsd system="RoBERTa-base, seed 1" rescaled .2f`, and
# DeBERTa-v3-large is last with {value}`tbl-normalised-scores dataset=mnli measure=jsd system=DeBERTa-v3-large rescaled .2f`.
#
# A calibration error against vote shares cannot be rescaled: a prediction that says nothing, the uniform one with ties
# broken at random, is perfectly calibrated.
#
# ## Guesses that read no sentence
#
# Predict the same distribution for all items that have one {term}`old label`, without reading a
# sentence: the {term}`mean vote given the old label`, learned from other items. Or take the few
# original votes, where there are several, for the whole distribution.

# %%
comparison = results.models_against_guesses(inputs, n_resamples=comparisons, seed=seed)
beaten = results.baselines_against_models(comparison)
publish_table(
    "tbl-baselines-against-models",
    beaten,
    columns=results.count_columns(beaten.rows),
    index=["system"],
    caption="""The mean vote given the old label beats all models of the paper on MNLI and αNLI; on MNLI the base rate
    does, too. How many of them have a higher JSD than each guess, and in brackets how many surely do, after Holm; bold
    where all have. The data has KL too, and how many are surely nearer.""",
) if len(beaten) else Markdown("*No model's predictions are available to compare with guesses.*")

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Each model beside two guesses, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-paired-with-guesses",
    comparison,
    shown=results.shown_paired(comparison.rows),
    columns=results.paired_columns(comparisons),
    groups=["dataset"],
    index=["dataset", "system"],
    caption=f"""JSD, model minus guess on the same items, with 95% intervals over items ({comparisons:,} resamples);
    below 0, the model is nearer to people. *p* is adjusted (Holm) for the models compared with a guess on a dataset.
    The data has every guess, and KL.""",
) if len(comparison) else None

# %% [markdown]
# The mean vote given the old label surely beats all
# {value}`tbl-baselines-against-models dataset=mnli "system=mean vote given the old label" measure=jsd n_surely_beaten`
# models of the paper on MNLI, with a JSD of
# {value}`tbl-main-results dataset=mnli "system=mean vote given the old label" jsd .3f`, and as many
# on αNLI ({numref}`tbl-baselines-against-models`). On SNLI it has a lower JSD than
# {value}`tbl-baselines-against-models dataset=snli "system=mean vote given the old label" measure=jsd n_beaten` of them,
# and surely beats {value}`tbl-baselines-against-models dataset=snli "system=mean vote given the old label" measure=jsd n_surely_beaten`:
# DistilBERT.
#
# So do five people on MNLI, little as their split says about the hundred on a single item ({doc}`disagreement`): the
# models, as they are, say less. The original votes, taken as a prediction, have a JSD of
# {value}`tbl-main-results dataset=mnli "system=original votes" jsd .3f` and beat all nine
# ({numref}`fig-nine-models`). By KL they beat none, with
# {value}`tbl-main-results dataset=mnli "system=original votes" kl .2f`. JSD
# forgives what KL does not: that none of the few chose a label which some of the many did.

# %%
publish_figure(
    "fig-nine-models",
    plot_results,
    results.nine_models(figure_rows, dataset="mnli"),
    caption="""On the MNLI items that ChaosNLI chose for their disagreement, no model of the paper beats a uniform
    guess. The five original votes do, and so does the mean vote of other items with the same old
    label. Bars are 95% intervals over items. Dashed: the uniform guess; dotted: a second crowd of a hundred
    people.""",
    alt="""A dot plot of JSD on MNLI. The second crowd stands far left. The mean vote given the old
    label and the original votes come next, then the uniform guess on a dashed line. All nine
    models of the paper lie close together, right of that line; the closest, BERT-base, nearly on it.""",
)

# %% [markdown]
# Which of the models is nearest, the items seldom tell. On SNLI
# {value}`tbl-main-results dataset=snli source=computed rank_best=1 count:jsd d` of the
# {value}`tbl-main-results dataset=snli source=computed count:rank_best d` that predict every item may be the first by
# JSD, on αNLI {value}`tbl-main-results dataset=alphanli source=computed rank_best=1 count:jsd d` of
# {value}`tbl-main-results dataset=alphanli source=computed count:rank_best d` (ranks that hold for all of them at once,
# 95%). On MNLI, ModernBERT-large is the first; RoBERTa-large may have any rank from
# {value}`tbl-main-results dataset=mnli source=computed system=roberta-large rank_best .0f` to
# {value}`tbl-main-results dataset=mnli source=computed system=roberta-large rank_worst .0f`.
#
# Two caveats. The old label, the mean vote given it and the original votes use human labels *of the very item*
# that they predict. And the base rate and the mean vote given the old label are fitted on votes, of other items, which
# the models never saw: they learned from one label per item. The comparison
# shows how little these models' probabilities say of people's answers, not that a table of means understands
# language better.
#
# ## Two encoders of today
#
# The model with the highest {term}`new accuracy` on SNLI is among the furthest from people. DeBERTa-v3-large
# {cite:p}`he2023`, as {cite:t}`laurer2024` trained it for NLI, has
# {value}`tbl-main-results dataset=snli system=DeBERTa-v3-large new_accuracy .1%` there, and the most accurate
# of the nine, RoBERTa-large, lies inside its interval. But its JSD is
# {value}`tbl-main-results dataset=snli system=DeBERTa-v3-large jsd .3f`, above that of all nine, and
# {value}`tbl-main-results dataset=mnli system=DeBERTa-v3-large jsd .3f` on the MNLI items: more than a uniform guess.
#
# ModernBERT-large {cite:p}`warner2024`, trained on the tasks of {cite:t}`sileo2024`, has the lowest JSD of all models
# that predict every item:
# {value}`tbl-main-results dataset=mnli system=ModernBERT-large jsd .3f` on MNLI and
# {value}`tbl-main-results dataset=snli system=ModernBERT-large jsd .3f` on SNLI, where the two best of the nine
# lie inside its interval. Its makers' list of training tasks names the MNLI items, so it may have seen them.
#
# {doc}`A small map <fitting>` that is fitted on the votes on other items takes DeBERTa to
# {value}`tbl-fitting dataset=snli access=text inputs=DeBERTa-v3-large map=quadratic objective=jsd jsd .3f` on SNLI and ModernBERT to
# {value}`tbl-fitting dataset=snli access=text inputs=ModernBERT-large map=quadratic objective=jsd jsd .3f`. Each is a single
# run. {cite:t}`theguy2026` released their predictions.
#
# ## The table
#
# {term}`KL` is the divergence from the model to the human distribution, in nats; 0 is perfect.
# {term}`Old accuracy <old accuracy>` counts agreement with the label of the original dataset,
# {term}`new accuracy` with the majority of the hundred votes.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All systems as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-main-results",
    table,
    shown=results.shown_results(table.rows),
    columns=results.COLUMNS,
    groups=("dataset", "kind"),
    caption=f"""Distance from humans and accuracy of every system. Rows *from here* are computed, with
    95% bootstrap intervals over items ({resamples:,} resamples), and over seeds for a mean of seeds;
    the estimated human is *from the paper*, Table 5 of {{cite:t}}`nie2020`: its votes were not released. *Chance* is the uniform guess for
    distances and the most frequent label for accuracies; class prior, base rate and mean vote are fitted on
    nine other folds of the items. Bold: the best of a dataset's models and of its guesses.""",
)

# %% [markdown]
# Every number of the nine models in Table 5 of {cite:t}`nie2020`, on all three datasets, comes out to its last digit
# ({doc}`published`).
#
# ## Worth in people and human equivalents
#
# Someone who knows nothing but how often each label is given overall, the {term}`base rate`, can already
# make a guess. How many people must one ask about each item, on top of that, to come as near to what
# everybody thinks as a model does? That number is the model's {term}`worth`: 0 is the base rate itself, and what is
# further from people is worth less than nothing. {term}`Skill <skill>` puts the same on a scale that ends at 1,
# the population, and has a place for what is below the base rate ({numref}`fig-human-equivalents`). Both rest on
# squared distances, which the votes show without bias.
#
# A model may know much and say it badly. So each has two values: as it is, and
# {term}`recalibrated <worth, recalibrated>`, by an affine map of its log-probabilities that is fitted to the votes on
# other texts (twelve numbers for three labels). The second says what it knows, whatever its temperature; the gap is
# what its probabilities get wrong, most of it overconfidence.

# %%
publish_figure(
    "fig-human-equivalents",
    plot_skill,
    results.drawn_skill(equivalents),
    caption="""Recalibrated on other items' votes, models know more than they say. Skill by squared distance: 0 is
    the base rate, 1 the population. Bars are 95% intervals that resample items, with predictions out of fold held
    fixed. Dotted: the skill of 1, 2, 5 or 10 people who know the base rate, where there is room. Seeds of a model share a row.""",
    alt="""A panel for each dataset and a row for each guess and model, with a filled circle for the model as
    it is and a hollow one for the model recalibrated, further right for every model. On SNLI most
    filled circles lie between the base rate and one person; on MNLI all models lie left of the base rate, and
    their hollow circles right of it, those of the nearest seven beyond two people.""",
) if len(equivalents) else None

# %% [markdown]
# A fine-tuned RoBERTa-base, averaged over three seeds, is worth
# {value}`tbl-human-equivalents dataset=snli family=RoBERTa-base measure=people_on_top mean:value .1f`
# people on SNLI as it is, and
# {value}`tbl-human-equivalents dataset=snli family=RoBERTa-base measure=people_on_top_recalibrated mean:value .1f`
# recalibrated. On MNLI, which it was not trained on, it is below the base rate as it is; recalibrated, it is worth
# {value}`tbl-human-equivalents dataset=mnli family=RoBERTa-base measure=people_on_top_recalibrated mean:value .1f`.
#
# No model, recalibrated, is worth more than
# {value}`tbl-human-equivalents dataset=snli kind=model measure=people_on_top_recalibrated max:value .1f` people on SNLI
# or {value}`tbl-human-equivalents dataset=mnli kind=model measure=people_on_top_recalibrated max:value .1f` on MNLI
# (RoBERTa-large and DeBERTa-v3-large come to
# {value}`tbl-human-equivalents dataset=mnli system=roberta-large measure=people_on_top_recalibrated value .1f` and
# {value}`tbl-human-equivalents dataset=mnli system=DeBERTa-v3-large measure=people_on_top_recalibrated value .1f`
# there). Several models together, and maps of more numbers, come nearer ({doc}`fitting`).
#
# One number that draws a system towards the base rate makes less of it: {term}`shrunk <worth, shrunk>`,
# DeBERTa-v3-large is worth
# {value}`tbl-human-equivalents dataset=mnli system=DeBERTa-v3-large measure=people_on_top_shrunk value .1f` people on
# MNLI, and another number at another temperature. So it stands in only where items are too few for a map, or panels are drawn at random.
#
# The original votes, five on most items, are worth
# {value}`tbl-human-equivalents dataset=snli "system=original votes" measure=people_on_top_recalibrated value .1f`
# people on SNLI and
# {value}`tbl-human-equivalents dataset=mnli "system=original votes" measure=people_on_top_recalibrated value .1f`
# on MNLI, recalibrated. These five are no ordinary sample of people: items were chosen because exactly three of the
# five agreed.
#
# By {term}`TVD` and {term}`JSD` the answer depends on how many votes judge, so a crowd of *v* people
# and the model are judged by the same *m* other votes on each item, both drawn without replacement.
# Values for another *m*, or from another dataset, do not compare. A system that was made from the
# votes that judge it gets no answer.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All systems in people, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-human-equivalents",
    equivalents,
    columns=results.equivalent_columns(equivalents.rows),
    index=["dataset", "system"],
    caption=f"""What systems are worth in people, with 95% intervals over items. *Worth*: people to ask on top
    of the base rate, by squared distance: as it is, *recalibrated* by a map of 12 numbers fitted out of fold (6 for two
    labels), and *shrunk* by one number. Intervals resample items, with predictions out of fold held fixed. *Pooled*: people
    whose shares alone come as near, which has no zero: a uniform guess has some of it. By TVD and JSD against
    *m* other votes, from {crowds} drawn crowds, with the interval of the paired difference inverted.""",
) if len(equivalents) else Markdown(
    "*Some items have a single vote, which cannot show how far people are from each other: "
    "nothing can be said here.*"
)

# %% [markdown]
# ## Do models know where people disagree?
#
# A model may be far from people's distribution and still be less sure where people disagree more; then
# it could say which items need more votes. We measure this {term}`disagreement as a signal` in two
# ways. Spearman's correlation asks whether predicted entropy orders the items as human entropy does;
# the area under the ROC curve (AUROC) whether it separates contested items from the rest.

# %%
threshold = 0.6  # an item is contested where no label has this share of the votes
signal = results.disagreement_signal(inputs, majority_below=threshold, seed=seed)
publish_table(
    "tbl-disagreement-signal",
    signal,
    shown=results.shown_signal(signal.rows),
    columns=results.SIGNAL_COLUMNS,
    groups=("dataset", "kind"),
    caption=f"""Five people show better than any model, as it is, where the others disagree. Guesses, and
    of each dataset's models the one with the highest correlation; the data has all. In brackets, 95% intervals over
    items. *Spearman*:
    rank correlation with the entropy of the votes. *AUROC*: chance that a contested item, on which
    no label has {threshold:.0%} of the votes, gets a higher entropy than another; 0.5 is chance.
    *Five people* are drawn from each item a hundred times, and judged by the others: the mean, and the middle 95%
    of these draws. Guesses that say the same of all items are left out.""",
)

# %% [markdown]
# They do, but less well than five people, whose entropy correlates with that of the others at
# {value}`tbl-disagreement-signal dataset=snli "system=five people" spearman .2f` on SNLI and
# {value}`tbl-disagreement-signal dataset=mnli "system=five people" spearman .2f` on MNLI
# ({numref}`tbl-disagreement-signal`). The best model of each comes to
# {value}`tbl-disagreement-signal dataset=snli kind=model max:spearman .2f` and
# {value}`tbl-disagreement-signal dataset=mnli kind=model max:spearman .2f`. Fitted to the votes of other items, all
# systems together do better than five people:
# {value}`tbl-fitting dataset=snli access=text "inputs=all systems" map=quadratic objective=kl spearman .2f` on SNLI and
# {value}`tbl-fitting dataset=mnli access=text "inputs=all systems" map=quadratic objective=kl spearman .2f` on MNLI,
# but not on αNLI ({value}`tbl-fitting dataset=alphanli access=text "inputs=all systems" map=quadratic objective=kl spearman .2f`
# against {value}`tbl-disagreement-signal dataset=alphanli "system=five people" spearman .2f`; {doc}`fitting`).
#
# On MNLI the old label alone does better than all models but that one, ModernBERT-large: the mean vote given it has
# {value}`tbl-disagreement-signal dataset=mnli "system=mean vote given the old label" spearman .2f`.
# The five original votes say little, with
# {value}`tbl-disagreement-signal dataset=snli "system=original votes" spearman .2f` on SNLI. Their
# items were chosen because exactly three of the five agreed, which leaves only two entropies.

# %% [markdown]
# ## Larger is more accurate, not always nearer
#
# The paper has three models in two sizes.

# %%
sizes = results.size_effects(inputs, n_resamples=comparisons, seed=seed)
publish_table(
    "tbl-model-sizes",
    sizes,
    columns=results.SIZE_COLUMNS,
    index=["dataset", "family"],
    caption=f"""Large models are more accurate, but by KL farther from people on MNLI, and mostly on αNLI. Change from the base to
    the large model of a family of {{cite:t}}`nie2020` on the same items, with 95% intervals over items
    ({comparisons:,} resamples). A distance that falls is better, an accuracy that rises.""",
) if len(sizes) else Markdown("*The models of two sizes are not among the systems here: left out.*")

# %%
publish_table(
    "tbl-rank-correlations",
    results.rank_correlations(),
    columns=results.RANK_COLUMNS,
    caption="""Whether accuracy shows which model is nearer depends on dataset and distance. Spearman's
    rank correlation of new accuracy and distance over nine published models, with 95% intervals for other
    models: −1 if the more accurate model is always the nearer, 1 if always the farther.""",
)

# %% [markdown]
# The large model has the higher new accuracy in all {value}`tbl-model-sizes measure=jsd count:value d` pairs,
# for BERT by no more than chance on SNLI and MNLI ({numref}`tbl-model-sizes`). On SNLI and αNLI it has the lower JSD
# in each family, on MNLI in none: JSD rises there by up to
# {value}`tbl-model-sizes dataset=mnli measure=jsd max:value .3f`, for BERT, and KL for all three.
#
# Whether the more accurate model is the nearer one depends on the dataset. Over the nine models the rank
# correlation of new accuracy with JSD, which is lower for what is nearer, is
# {value}`tbl-rank-correlations dataset=alphanli distance=jsd value +.2f` on αNLI,
# {value}`tbl-rank-correlations dataset=snli distance=jsd value +.2f` on SNLI
# and {value}`tbl-rank-correlations dataset=mnli distance=jsd value +.2f`
# on MNLI ({numref}`tbl-rank-correlations`), so neither number stands for the other.
#
# ## Limitations
#
# All of this is about {value}`tbl-main-results dataset=snli system=chance n_items ,.0f` SNLI,
# {value}`tbl-main-results dataset=mnli system=chance n_items ,.0f` MNLI and
# {value}`tbl-main-results dataset=alphanli system=chance n_items ,.0f` αNLI items. Those of SNLI and MNLI
# were chosen because the original annotators disagreed, so the distances are larger than on a random
# sample. The nine models of the paper are single runs, so that what is said of one of them is said of that run. Of the
# others RoBERTa-base and BERT-base of {cite:t}`baan2022`, trained on SNLI alone, have three and two seeds, MiniLM-L6
# has three, and the rest have one.
#
# The nine models' predictions on SNLI and MNLI are their logits on ChaosNLI's items, as another repository has taken
# them over from the released file, whose address is dead; every number of Table 5 and of the bins comes out of them.
# The estimated human row rests on a second set of annotators that was not released.

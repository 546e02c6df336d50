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
# # Learning distributions
#
# A model trained on one label per item can be too sure, or not sure enough. Its confidence can
# be changed after training, its targets softened during training, its runs averaged; and it can be
# taught on votes. What moves a model toward the human distribution, and how far?

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
model: str = "minilm-l6"  # the encoder whose committed runs are compared
run_seed: int = 0  # seed of the plain run, which all others are set beside
n_folds: int = 10  # folds of the temperature that is fitted on votes, by premise or story
resamples: int = 10000  # bootstrap resamples of the items; Holm needs many
confidence: float = 0.95  # coverage of all intervals
seed: int = 0  # seed of resamples, draws and folds

# %%
from IPython.display import Markdown

from chaos_utils.analyses import learning_distributions as learning
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.metrics.resampling import smallest_p_value
from chaos_utils.plots.learning import plot_learning
from chaos_utils.presentation import learning_distributions as presentation
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table

material = gather(data)
scores, temperatures = learning.compare(
    material,
    model=model,
    run_seed=run_seed,
    predictions=predictions,
    n_folds=n_folds,
    n_resamples=resamples,
    confidence=confidence,
    seed=seed,
)
table = scores.rows

# %% tags=["remove-input"]
Markdown(notices(material))

# %% tags=["remove-input"]
ours = material.synthetic or material.released
Markdown(
    ("The runs on this page are simulated, like the votes. " if material.synthetic else "")
    + presentation.missing_sentence(table)
    if ours
    else "The runs that this page compares predicted the released items, and these are others. So it "
    "shows what any system is set beside, and predictions of your own: `-p predictions=FILE`."
)

# %% [markdown]
# ## The methods
#
# All of them start from one encoder, fine-tuned on gold labels: the **plain** run. It is none of the nine
# models of {cite:t}`nie2020`, and its scores are not to be held against theirs. What counts here is
# the difference that a method makes to it, on the same items.
#
# Some methods use nothing but training labels.
#
# * **T = 2** divides the logits by the {term}`temperature` in the code that {cite:t}`baan2022`
#   released. It was not fitted to this model; {doc}`calibration` shows which fits give such a
#   value.
# * **{term}`Label smoothing <label smoothing>`** trains against a target that gives some of its
#   mass, the share in parentheses, to all labels alike.
# * **The {term}`seed ensemble`** averages the probabilities of runs that differ in their seed alone.
# * **{term}`MC dropout`** averages over passes through the plain run's network with dropout left on.
#
# One uses gold labels of items that neither the training nor ChaosNLI holds.
#
# * **T ({term}`held-out` labels)** is the temperature of least negative log-likelihood on such
#   items of the same dataset; for αNLI, on stories that were held out of the training file, since
#   its whole development set is in ChaosNLI.
#
# Two use ChaosNLI's votes: never those on the item itself, nor on another item with the same premise
# or story, but on others like it. That is supervision from the very data that is then
# predicted, which no other method has.
#
# * **T (votes, out of fold)** is fitted on the vote shares of the other folds' items.
# * **{term}`Soft labels <soft labels>`** trains the plain run further, on those vote shares, and
#   predicts the fold that it did not see.
#
# Both minimise the cross-entropy with votes. Summed over items that is {term}`KL` up to a constant,
# so of all measures KL is the one that they aim at.
#
# ## What each of them gains

# %%
level = f"{100 * confidence:g}%"
publish_table(
    "tbl-distribution-learning",
    scores,
    columns=learning.COLUMNS,
    shown=learning.shown_methods(table),
    caption=f"""Methods that may move a model toward the human distribution, on the same items. Δ is
    the difference from the plain run; in brackets its {level} bootstrap interval over items
    ({resamples:,} resamples, the same for both systems). Each row is one training run, with seed
    {run_seed}, whose interval says nothing of other seeds; only the *mean of seeds* has an interval for
    other seeds and other items. JSD is the distance with natural logarithms,
    KL in nats; both are lower when nearer to people, and so is DistCE, the total variation distance.
    Chance is the uniform distribution, and for accuracy the most frequent label. The floor is a perfect
    model judged by the votes; the ceiling one crowd as a prediction of another, and is undefined
    for KL. The CSV has intervals of the scores too, each seed's scores, two-sided p-values (the smallest
    that {resamples:,} resamples allow is {smallest_p_value(resamples):.1g}) as they are and by Holm's
    method, how often each method is best, and EntCE, RankCS and old accuracy.""",
)

# %% tags=["remove-input"]
level_of = presentation.beside_published(table, "new_accuracy") if material.released else []
by_jsd, by_kl = (presentation.directions(table, one, confidence) for one in ("jsd", "kl"))
at = f"{1 - confidence:.2g}"
Markdown(
    (f"The plain run's new accuracy is {'; '.join(level_of)}.\n\n" if level_of else "")
    + "By the differences from plain in {numref}`tbl-distribution-learning`, with p-values below "
    f"{at} after Holm's correction for all comparisons on a dataset, this is how the methods fare.\n\n"
    f"* By JSD: {'; '.join(by_jsd)}.\n"
    f"* By KL: {'; '.join(by_kl)}.\n"
    if by_jsd
    else ""
)

# %%
publish_figure(
    "fig-distribution-learning",
    plot_learning,
    scores.where(table["measure"].isin(["jsd", "kl", "signed_ent_ce"])),
    caption=f"""Each method's distance from people, and how sure it is, beside chance, ceiling and
    floor. Marks with {level} bootstrap intervals over items; their shape says what the method
    learned from, each kind in addition to training labels. Right: entropy of the prediction minus
    that of the votes; left of 0, the model is surer than people are. KL has no ceiling and is on a
    logarithmic axis.""",
    alt=f"""Dot plots with intervals: for each dataset three panels, JSD, KL and signed entropy error, and
    in each a row for every method. Vertical lines mark chance, ceiling and floor. The methods' JSD
    ranges {"; ".join(presentation.extremes(table, "jsd"))}.""",
)

# %% tags=["remove-input"]
way = presentation.progress(table, "jsd")
below = presentation.against_chance(table, "jsd")
sure = presentation.sureness(table)
Markdown(
    f"The mean entropy of the plain run's predictions is {'; '.join(sure)}. A temperature "
    "can move that mean. It does so by one rule for all items, and cannot tell which of them deserve more "
    f"doubt than the model has.\n\nIn JSD, {'; '.join(way)}.\n\nThe uniform guess knows nothing of an item. "
    f"Below its JSD are {'; '.join(below)}."
    if way
    else ""
)

# %% tags=["remove-input"]
trained = table["method"].isin(["smoothing", "ensemble", "mc", "soft"]).any()
changed = presentation.accuracy_changes(table, "new_accuracy", confidence)
Markdown(
    "A temperature leaves the order of the labels as it is, and so both accuracies and RankCS."
    + (
        f" Of the other methods, these change the new accuracy (p < {at} after Holm's correction): "
        f"{'; '.join(changed)}."
        if changed
        else f" None of the other methods changes the new accuracy (p < {at} after Holm's correction)."
        if trained
        else ""
    )
    if way
    else ""
)

# %% [markdown]
# ## The temperatures

# %%
publish_table(
    "tbl-temperatures-learning",
    temperatures,
    columns=learning.TEMPERATURE_COLUMNS,
    caption=f"""The temperatures of the plain run. Above 1 they flatten its distributions. In brackets, the
    {level} bootstrap interval over the items that it was fitted on, or the range over
    {n_folds} folds by premise or story, for which the mean over items is given.""",
)

# %% tags=["remove-input"]
asked = presentation.compare_temperatures(temperatures.rows)
Markdown(
    f"{asked} A gold label asks how often the model is right; votes ask how far people spread. And on "
    "SNLI and MNLI, ChaosNLI holds items whose old label had just three of the original votes; the "
    "held-out items are the rest of the development sets."
    if asked
    else ""
)

# %% [markdown]
# ## What this does not show
#
# All of it is one encoder, with one seed but for the ensemble. The intervals of the differences are
# over items, not over trainings; another seed may turn a small difference round. Soft labels bring two things at
# once, votes and items of the same kind to learn from; how much either of them gives, this comparison
# does not separate.

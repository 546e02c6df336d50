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
# A model trained on one label per item need not be as confident as it is. Its confidence can be
# changed after training, its targets softened during training, its runs averaged; or it can be
# trained further on votes. What brings a model closer to the human distribution, and how far?
#
# Votes do, on SNLI and MNLI. Training MiniLM-L6, a small encoder, further on the votes of *other* items
# brings its JSD from
# {value}`tbl-distribution-learning dataset=snli method=plain measure=jsd value .3f` to
# {value}`tbl-distribution-learning dataset=snli method=soft_jsd measure=jsd value .3f` on SNLI and from
# {value}`tbl-distribution-learning dataset=mnli method=plain measure=jsd value .3f` to
# {value}`tbl-distribution-learning dataset=mnli method=soft_jsd measure=jsd value .3f` on MNLI. A
# temperature, label smoothing and dropout help less or not at all, and a second crowd, with
# {value}`tbl-distribution-learning dataset=snli method=ceiling measure=jsd value .3f` on SNLI, is
# still far away.
#
# Hardly any of this gain needs further training of the encoder. A map of twelve numbers, fitted on the same kind of
# votes to what the plain run predicts, reaches
# {value}`tbl-fitting dataset=snli "inputs=MiniLM-L6, seed 0" map=affine objective=jsd jsd .3f` on SNLI and
# {value}`tbl-fitting dataset=mnli "inputs=MiniLM-L6, seed 0" map=affine objective=jsd jsd .3f` on MNLI.
# Stacking several systems goes further, down to
# {value}`tbl-fitting dataset=snli "inputs=all systems" map=chosen jsd .3f` and
# {value}`tbl-fitting dataset=mnli "inputs=all systems" map=chosen jsd .3f`; {doc}`fitting` compares them, those
# that see the text alone and those that are given the item's old label each among themselves.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
model: str = "minilm-l6"  # the encoder whose committed runs are compared
run_seed: int = 0  # seed of the plain run, which all others are set beside
n_folds: int = 10  # folds of the temperature that is fitted on votes, by premise, story and image
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

# %% tags=["remove-input"]
Markdown(notices(material))

# %% [markdown]
# ## The methods
#
# All methods start from one encoder, fine-tuned on one label per item: the *plain* run. It is none of the
# nine models of {cite:t}`nie2020`, so its scores should not be compared with theirs; what counts is
# the difference that a method makes to it, on the same items. The runs predicted the released
# items. On other votes there is nothing to compare but the references and predictions of your own
# (`-p predictions=FILE`).
#
# Some methods use nothing but training labels.
#
# * *T = 2* divides the logits by the {term}`temperature` in the code that {cite:t}`baan2022`
#   released. It was not fitted to this model; {doc}`calibration` shows which fits give such a
#   value.
# * *{term}`Label smoothing <label smoothing>`* trains against a target that gives some of its mass,
#   the share in parentheses, to all labels alike.
# * *{term}`MC dropout`* averages over passes through the plain run's network with dropout left on.
#
# One uses the single labels of items that neither the training nor ChaosNLI holds.
#
# * *T ({term}`held-out` labels)* is the temperature of least negative log-likelihood on such items
#   of the same dataset; for αNLI, on stories that were held out of the training file, since its
#   whole development set is in ChaosNLI.
#
# Three use ChaosNLI's votes: never those on the item itself, nor on another item with the same
# premise, story or image, but on others like it. That is supervision from the very data that is then
# predicted, which no other method has.
#
# * *T (votes, out of fold)* is fitted on the vote shares of the other folds' items.
# * *{term}`Soft labels <soft labels>`* trains the plain run further, on those vote shares, and
#   predicts the fold that it did not see. Its last layer is first fitted to the votes, so that
#   training starts at a calibrated model. An inner fold, held out of each training part, says when
#   to stop, and which epoch's weights are kept.
# * *Soft labels, for JSD* are trained for the JSD itself instead of the cross-entropy.
#
# Where the plain run was made with several seeds, their mean score and their {term}`seed ensemble`,
# which averages their probabilities, are shown too.
#
# The temperature and the soft labels minimise the cross-entropy with votes. Summed over items that is {term}`KL`
# up to a constant, so they aim at KL; *soft labels, for JSD* aim at JSD.
#
# ## What each of them gains

# %%
level = f"{100 * confidence:g}%"
publish_figure(
    "fig-distribution-learning",
    plot_learning,
    scores.where(scores.rows["measure"].isin(["jsd", "signed_ent_ce"])),
    caption=f"""Votes on other items help MiniLM most on SNLI and MNLI; on αNLI no method helps it much.
    Left: JSD, the lowest on top, beside the perfect model, the second crowd and the uniform
    guess. Right: entropy of the prediction minus that of the votes; left of 0 the model is
    surer than people. Bars are {level} bootstrap intervals over items; colour and marker say
    what a method learned from.""",
    alt="""Dot plots with intervals: for each dataset two panels, JSD and the error of entropy,
    with a row for every method, sorted by JSD. On SNLI and MNLI soft labels stand well left of
    the other methods; on αNLI all methods lie together, just left of the uniform guess.
    Perfect model and second crowd are far to the left. Most methods have more entropy than
    people.""",
)

# %% [markdown]
# Without votes, the best method on MNLI is the simplest: a temperature of 2, with a JSD of
# {value}`tbl-distribution-learning dataset=mnli method=fixed measure=jsd value .3f`, less than the
# uniform guess has
# ({value}`tbl-distribution-learning dataset=mnli method=chance measure=jsd value .3f`;
# {numref}`fig-distribution-learning`). On SNLI the same temperature changes nothing (Δ =
# {value}`tbl-distribution-learning dataset=snli method=fixed measure=jsd difference .3f`), while
# label smoothing and dropout gain a hundredth or less
# ({value}`tbl-distribution-learning dataset=snli method=smoothing|mc measure=jsd min:difference .3f`).
# On αNLI the largest change is
# {value}`tbl-distribution-learning dataset=alphanli kind=method measure=jsd min:difference .3f`,
# and all stay close to the uniform guess. Another encoder helps more there: MPNet-base, without votes, has
# {value}`tbl-fitting dataset=alphanli "inputs=MPNet-base, 10,000 items, seed 0" "map=as it is" jsd .3f`.
#
# The plain run is already about as unsure as people on SNLI (its mean entropy differs by
# {value}`tbl-distribution-learning dataset=snli method=plain measure=signed_ent_ce value +.2f`
# nats). A temperature can move that mean, but by one rule for all items: it cannot know which of
# them deserve more doubt.

# %%
publish_table(
    "tbl-distribution-learning",
    scores,
    columns=learning.COLUMNS,
    shown=learning.shown_methods(scores.rows),
    groups=["dataset", "group"],
    caption=f"""Soft labels lower every distance on SNLI and MNLI. Δ is the difference from the
    plain run on the same items, in brackets its {level} bootstrap interval over items
    ({resamples:,} resamples); in bold the largest gain and those within its interval. Rows are
    of training seed {run_seed}, except the mean and the ensemble of seeds; only the mean has an
    interval for other seeds too. The accuracy beside the *uniform guess* is that of the most frequent label. The data
    has each interval, p-values (at least {smallest_p_value(resamples):.1g} with so many
    resamples) as they are and by Holm's method, how often each method is best, and more
    measures.""",
)

# %% [markdown]
# KL ranks the methods differently, since it punishes confident mistakes: by it, every method but
# the held-out temperature helps on SNLI, and a temperature of 2 alone lowers it from
# {value}`tbl-distribution-learning dataset=snli method=plain measure=kl value .2f` to
# {value}`tbl-distribution-learning dataset=snli method=fixed measure=kl value .2f`
# ({numref}`tbl-distribution-learning`).
#
# Temperatures leave the order of the labels as it is, and with it accuracy. Only soft labels
# change it beyond the noise of the items: by
# {value}`tbl-distribution-learning dataset=mnli method=soft measure=new_accuracy difference +.3f` on MNLI and,
# barely, by {value}`tbl-distribution-learning dataset=snli method=soft measure=new_accuracy difference +.3f` on SNLI
# (p = {value}`tbl-distribution-learning dataset=snli method=soft measure=new_accuracy p_holm .2f`
# after Holm's correction for all comparisons on a dataset).
#
# ## The temperatures

# %%
publish_table(
    "tbl-temperatures-learning",
    temperatures,
    columns=learning.TEMPERATURE_COLUMNS,
    caption=f"""Votes ask for a higher temperature than single labels do. Above 1, a temperature
    flattens the plain run's distributions. In brackets, the {level} bootstrap interval over the
    items that it was fitted on, or the range over {n_folds} folds by premise, story and image, for
    which the mean over items is given.""",
)

# %% [markdown]
# Votes ask for a temperature of
# {value}`tbl-temperatures-learning dataset=snli method=cross_fitted temperature .1f` on SNLI,
# held-out single labels for
# {value}`tbl-temperatures-learning dataset=snli method=held_out temperature .1f`
# ({numref}`tbl-temperatures-learning`). A single label asks how often the model is right; votes ask
# how far people spread. And the two are fitted on different items: on SNLI and MNLI, ChaosNLI holds
# those whose old label had just three of the original votes, the held-out items are the rest of the
# development sets.
#
# ## Limitations
#
# All of this is MiniLM-L6, with two seeds of the plain run on SNLI and MNLI and one of every other method
# ({value}`tbl-distribution-learning dataset=snli method=plain measure=jsd n_items ,.0f` SNLI
# items).
#
# The intervals are over items, not over trainings; another seed may turn a small difference round.
# Soft labels bring two things at once, votes and items of the same kind to learn from, and this
# comparison does not separate them. A map learns from nine tenths of the items; soft labels, with five folds and an
# inner one, from seven tenths. Label smoothing was trained by an earlier version of the code than the plain run, so
# that a part of its difference may be that of another training.

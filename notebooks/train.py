# %% [markdown]
# # Train a model that disagrees like people
#
# *Can a model learn how people split?*
#
# **On tweets, the small encoder MiniLM-L6 learns from votes how people split, but on NLI, training it on votes achieves
# no more than {term}`recalibrating <worth, recalibrated>` it on the same votes does.** Trained on votes about whether
# tweets are offensive, MiniLM-L6 is {term}`worth` {value}`tbl-trained run=minilm-l6-md-agreement-s0 worth .1f` people:
# if you knew how often each label is given overall (the {term}`base rate`), you would have to ask that many people
# about each tweet to predict the votes as well as MiniLM-L6 does. On SNLI, MiniLM-L6 is worth
# {value}`tbl-trained dataset=snli run=minilm-l6-nli-soft-s0 worth .1f` people if it is trained on labels and then on
# votes, and
# {value}`tbl-human-equivalents dataset=snli "system=MiniLM-L6, seed 0" measure=people_on_top_recalibrated value .1f` if
# it is trained on labels and then recalibrated. Each result for MiniLM-L6 trained on votes comes from a single seed.
#
# This notebook trains an encoder on votes and compares it with people, guesses and the book's other systems. Each item
# is predicted by a model that has seen no votes on that item. The notebook works with any encoder and any dataset that
# has votes and texts, including your own. A cheaper alternative is described in {doc}`fitting`.

# %% tags=["remove-input"]
from typing import Literal

# %% tags=["parameters"]
train: str = "chaosnli"  # votes to learn from: chaosnli, a dataset, or your own votes file
task: Literal["nli", "alphanli"] = "nli"  # task of ChaosNLI: pairs, or a choice between two stories
text: str = ""  # the field that contains the text, if several are possible
pair: str = ""  # the field that contains the second text; empty for single texts
model: str = "minilm-l6"  # an encoder, such as minilm-l6 or roberta-large, or owner/name on the hub
loss: Literal["soft", "jsd", "hard"] = "soft"  # vote shares by KL or JSD, or majority labels
init: str = ""  # an earlier run on the same task and labels, whose weights to start from
n_folds: int = 5  # folds by premise or text; each is predicted by a model that has not seen it
held_out: float = 0.0  # share of your own items to hold out and predict, instead of folds
epochs: int = 0  # maximum number of passes over the data; 0 for the recipe's
learning_rate: float = 0.0  # peak learning rate; 0 for the recipe's
seed: int = 0  # determines the head, the order, the dropout, the folds and the resamples
recorded: bool = True  # show the project's own run with these settings, if there is one
data: str = "auto"  # where to read ChaosNLI's files: auto, released, sample, or a folder
threads: int = 0  # number of CPU threads; 0 for PyTorch's default
precision: Literal["auto", "fp32", "bf16", "fp16"] = "auto"  # number format; auto: the fastest
device: Literal["auto", "cpu", "cuda"] = "auto"  # where to train
resamples: int = 2000  # bootstrap resamples of the items, for the intervals
output: str = ""  # folder for predictions and record; by default inside this run's folder

# %%
from IPython.display import Markdown

from chaos_utils.analyses import finetuning
from chaos_utils.analyses import train as training
from chaos_utils.analyses.notices import notices
from chaos_utils.base import paths
from chaos_utils.plots.training import plot_trained
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table
from chaos_utils.training.data import load_own_votes
from chaos_utils.training.finetune import finetune, recorded_run
from chaos_utils.training.progress import line_report
from chaos_utils.training.settings import chosen, recorded_settings

check_parameters(globals())

# %% [markdown]
# ## Training
#
# The encoder gets a new head that outputs a logit for each label. By default (`loss="soft"`), the loss is the
# cross-entropy with each item's vote shares. The alternatives are the Jensen–Shannon divergence from the vote shares
# (`loss="jsd"`) and, for comparison, the cross-entropy with only the majority label (`loss="hard"`). Items that share a
# premise or text are in the same fold, and the model that predicts a fold is trained on the other folds. Therefore, no
# model has seen votes on an item that it predicts or on any other item with the same text. The loss on an inner fold of
# the training items determines when training stops.

# %%
settings = chosen(globals())
run = recorded_run(settings) if recorded else None
is_new = run is None
if is_new:
    folder = paths.from_reader(output) if output else paths.run_folder() / "trained"
    run = finetune(settings, folder, device=device, report=line_report(print), say=print)

# %% tags=["remove-input"]
Markdown(training.account_of(run, is_new=is_new))

# %%
inputs = training.learnt_votes(run, lambda: load_own_votes(recorded_settings(run.record)))
runs = training.runs_on_votes(run)
shown = inputs if is_new else training.with_other_votes(inputs, runs)
scores = training.beside_systems(shown, runs=runs, n_resamples=resamples, seed=seed)

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# (beside-people-and-models)=
# ## Compared with people and models
#
# Models trained on votes should be compared with models that were {term}`recalibrated <worth, recalibrated>` on votes,
# because both kinds of model have learned how people split on other items, and neither kind has seen the votes on the
# items that it predicts. Without recalibration, the nine models of {cite:t}`nie2020` have seen no votes at all
# ({numref}`fig-trained`). {term}`Skill <skill>` is 0 for the base rate and 1 for a system that knows exactly how people
# split.

# %%
publish_figure(
    "fig-trained",
    plot_trained,
    training.drawn_skill(scores, inputs),
    caption="""Votes alone do not teach MiniLM to judge SNLI and MNLI items, but once it has been trained on labels, training on votes helps
    about as much as a small recalibration map does. The axis shows how many people a system is worth on top of the base rate and is evenly
    spaced in skill, which is computed from squared distances. Bars are 95% intervals from resampling items, with out-of-fold predictions held
    fixed. Squares mark models that were trained on votes. Runs of a model with different seeds share a row. The figure shows the datasets whose
    votes the model was trained on.""",
    alt="""A panel for each dataset and a row for each guess and system, with a filled circle for the system before
    recalibration and a hollow circle for the recalibrated system. Models trained on votes are in the lowest rows:
    without other training, they lie at the base rate, and with other training, they lie near the hollow circles of
    small models.""",
) if len(scores) else Markdown("*No votes and no recorded scores of this run are available.*")

# %% [markdown]
# ## What votes teach
#
# Whether MiniLM learns from votes depends strongly on the dataset ({numref}`tbl-trained`).

# %%
trained = training.trained_table(scores, finetuning.run_table(runs))
dataset, trained_run, *about, misplaced, worth, minutes = training.trained_columns(trained.rows)
publish_table(
    "tbl-trained",
    trained,
    columns=[dataset, trained_run, worth, misplaced, *about, minutes],
    groups=["dataset"],
    caption="""From votes on tweets, MiniLM learns how people's votes split, but from votes on SNLI and MNLI items, it learns this only
    after training on labels. Each item is predicted by a model that has seen no votes on that item. *Items learned* is the number of items
    on which each fold's model was trained. Votes misplaced are shown only for datasets with at least twenty votes per item. Brackets
    contain 95% intervals from resampling items with their votes. Times are in minutes, summed over all folds, and cover only the training steps.""",
)

# %% [markdown]
# If MiniLM is trained on one label per item, it misplaces
# {value}`tbl-misplaced dataset=snli "system=MiniLM-L6, seed 0" "how=as it is" misplaced .0f`% of the votes on SNLI.
# Further training on the votes on other items lowers the share of misplaced votes to
# {value}`tbl-trained dataset=snli run=minilm-l6-nli-soft-s0 misplaced .0%`. Without further training, recalibration by
# a map with twelve parameters lowers the share to
# {value}`tbl-misplaced dataset=snli "system=MiniLM-L6, seed 0" how=recalibrated misplaced .0f`%. With {term}`JSD` as
# the loss, further training lowers the share to
# {value}`tbl-trained dataset=snli run=minilm-l6-nli-jsd-s0 misplaced .0%`, and such a map to
# {value}`tbl-fitting dataset=snli access=text "inputs=MiniLM-L6, seed 0" map=affine objective=jsd dist_ce .0%`, but on
# MNLI, the model trained with JSD is worth fewer people.
#
# On MNLI, MiniLM is worth {value}`tbl-trained dataset=mnli run=minilm-l6-nli-soft-s0 worth .1f` people if it is trained
# on labels and then on votes, and
# {value}`tbl-human-equivalents dataset=mnli "system=MiniLM-L6, seed 0" measure=people_on_top_recalibrated value .1f` if
# it is trained on labels and then recalibrated. Without training on labels, MiniLM learns hardly anything from
# ChaosNLI's votes: on SNLI, it is worth {value}`tbl-trained dataset=snli run=minilm-l6-nli-votes-s0 worth .2f` people.
# On αNLI, where MiniLM is hardly better than a guess, it learns as little from votes even after training on labels.
#
# MD-Agreement has {value}`tbl-crowds dataset=md-agreement n_items ,d` tweets with five votes each. We held out a fifth
# of the tweets and trained MiniLM on the remaining tweets for two epochs. Trained on votes about the comments in
# POPQUORN, MiniLM is worth {value}`tbl-trained run=minilm-l6-popquorn-s0 worth .1f` people. The tweet and NLI datasets
# differ in task, number of items and number of votes per item, so the results do not show which of these differences
# matters.
#
# ## Other ways to learn distributions
#
# Even without votes, a model can be made less confident. The logits can be divided by a {term}`temperature` (*T = 2* in
# the code of {cite:t}`baan2022`), the training targets can be softened ({term}`label smoothing`), and the predictions
# can be averaged over several passes ({term}`MC dropout`) or several training runs ({term}`seed ensemble`). The chapter
# {doc}`fitting` compares these methods, which need no votes, with models that learn from {term}`soft labels` after
# training on one label per item. Once all predictions are recalibrated by a map fitted on other items' votes, the
# methods compared hardly differ. On αNLI, where MiniLM is a negative control, none of the methods helps.
#
# On MNLI, the simplest method without votes is also the best: a temperature of 2 gives a JSD of
# {value}`tbl-fitting dataset=mnli "inputs=MiniLM-L6, seed 0" "map=T = 2" jsd .3f`, compared with
# {value}`tbl-main-results dataset=mnli system=chance jsd .3f` for a uniform guess. JSD ranges from 0 to 0.83, and lower
# is better. On SNLI, a temperature of 2 hardly changes the JSD; label smoothing and dropout reduce it by at most 0.01.
#
# ## What another encoder costs
#
# {numref}`tbl-training-cost` estimates what the training on this page would cost with a larger encoder or with ten
# times as many votes.

# %%
publish_table(
    "tbl-training-cost",
    training.cost_table(run),
    columns=training.COST_COLUMNS,
    index=["model"],
    caption="""By our estimate, training any of the listed encoders on the same votes takes minutes on a GPU, whereas a large encoder needs at
    least half a day on one CPU core. The estimates assume the same number of passes as in the run on this page. GPU times are for one H100 in
    bf16 and include three minutes for reading the data and making predictions. CPU times are for one core and are obtained by scaling the time
    that the run on this page took by the amount of computation in the layers of each encoder.""",
)

# %% [markdown]
# ## Train on your own votes
#
# You can use any file that contains texts and votes in one of the formats described in {doc}`../datasets`. To install
# PyTorch, see {doc}`../rebuild`. Each run gets a page with its figures, its record and its own citation.
#
# ```console
# # single texts, any labels
# $ chaos run train -p train=votes.csv
# # pairs
# $ chaos run train -p train=votes.csv -p text=post -p pair=reply
# # another encoder, on a GPU
# $ chaos run train -p train=md-agreement -p model=roberta-large
# # from weights that know the task
# $ chaos run train -p init=minilm-l6-nli-s0
# # with papermill alone
# $ papermill train.ipynb out.ipynb -p train votes.csv -p loss jsd
# ```
#
# If training is interrupted, run the same command again to resume it. To evaluate the trained model, see
# {doc}`../your_model`. You can submit a model trained on ChaosNLI's votes to the {doc}`scoreboard` with `chaos submit`.
#
# ## Limitations
#
# * We trained one small encoder with only one seed in each setting, and the interval for a single run says nothing about other seeds. The run
#   with label smoothing used an earlier version of the code than the corresponding run without smoothing.
# * ChaosNLI's SNLI and MNLI items were chosen because their five original annotators were split over them.
# * To choose the learning rates for training on ChaosNLI's votes, we used one inner fold, whose items are also among those that the models
#   predict.

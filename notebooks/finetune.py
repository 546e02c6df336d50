# %% [markdown]
# # Fine-tune a model
#
# This notebook trains an encoder on natural language inference, predicts ChaosNLI's items with it, and compares the
# predictions with people. The parameter `train` makes it learn from the votes of any dataset, including your own; each
# item is then predicted by a model that has seen neither the item nor its text in another item. `chaos run finetune`
# runs the notebook (`chaos finetune` for short), and `chaos sweep finetune` runs a grid of settings. Every chapter
# accepts the predictions with `-p predictions=…`. If a run is killed, the same command resumes it from its last
# checkpoint, and on the same hardware it ends with the same predictions. On a GPU we request deterministic algorithms;
# if an operation has none, the record says so.

# %% tags=["remove-input"]
from typing import Literal

# %% tags=["parameters"]
model: str = "minilm-l6"  # a model, such as minilm-l6 or mpnet-base, or owner/name on the hub
task: Literal["nli", "alphanli", "votes"] = "nli"  # pairs, a choice of two stories, own votes
seed: int = 0  # decides the head, the order, the dropout, the subset and the folds
train: str = "corpora"  # the task's corpora; chaosnli: its votes; or votes: a file or a dataset
text: str = ""  # for your own votes: the field of the text, if several are possible
pair: str = ""  # for your own votes: the field of the second text, if any
loss: Literal["auto", "hard", "soft", "jsd"] = "auto"  # gold labels, or shares by KL or by JSD
label_smoothing: float = 0.0  # share of each target that is spread over the labels
teacher: str = ""  # an earlier run whose probabilities are the targets
init: str = ""  # an earlier run whose weights to start from
head: Literal["auto", "kept", "affine"] = "auto"  # last layer: kept, or first fitted to votes
max_train_examples: int = 0  # size of a random, balanced, nested part of the data; 0 for all
n_folds: int = 5  # folds of votes, by premise or text, story and image
held_out: float = 0.0  # share of your own items to hold out and predict, instead of folds
epochs: int = 0  # passes over the data; 0 for the recipe's
batch_size: int = 0  # items per step; 0 for the recipe's
learning_rate: float = 0.0  # peak learning rate; 0 for the recipe's
weight_decay: float = -1.0  # weight decay of AdamW; -1 for the recipe's
warmup_ratio: float = -1.0  # share of the steps in which the rate rises; -1 for the recipe's
max_length: int = 128  # tokens per sequence at most
patience: int = -1  # stop after this many epochs without a gain on dev; 0: never, -1: the recipe's
dev_examples: int = 0  # dev and test items to predict at most; 0 for all
trainer: str = ""  # other arguments of TrainingArguments, as name: value, name: value
threads: int = 0  # threads on a CPU; 0 for as many as PyTorch takes
precision: Literal["auto", "fp32", "bf16", "fp16"] = "auto"  # arithmetic; auto: the fastest here
revision: str = ""  # commit, branch or tag of a model on the hub
data: str = "auto"  # where files come from: auto, released, sample, or a folder
device: Literal["auto", "cpu", "cuda"] = "auto"  # where to compute
checkpoint_seconds: float = 120.0  # least time between two checkpoints
resamples: int = 1000  # of the items, for the intervals beside people
output: str = ""  # folder of predictions and record; by default inside this run's folder

# %%
from IPython.display import Markdown

from chaos_utils.analyses import finetuning
from chaos_utils.base import paths
from chaos_utils.plots.training import plot_training_curves
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.scalars import publish_scalars
from chaos_utils.report.tables import publish_table
from chaos_utils.training.data import load_predicted_votes
from chaos_utils.training.finetune import finetune
from chaos_utils.training.progress import line_report
from chaos_utils.training.settings import chosen

check_parameters(globals())

# %% [markdown]
# ## Training
#
# Losses are in nats; each point is the mean loss since the previous point.

# %%
folder = paths.from_reader(output) if output else paths.run_folder() / "finetuned"
run = finetune(
    chosen(globals()),
    folder,
    device=device,
    checkpoint_seconds=checkpoint_seconds,
    report=line_report(print),
    say=print,
)

# %%
curves = finetuning.curve_table([run]).with_inputs(run.data)
publish_figure(
    "fig-run",
    plot_training_curves,
    curves,
    caption="""What the model learned, and how well this generalises to items that it did not see. The first panel shows
    the smoothed training loss, with the raw loss in grey. The second panel shows the accuracy on development items or,
    if the run uses folds, the loss on the inner fold that decides when to stop. There is one line per fold.""",
    alt="""Two panels against the number of items seen, on a logarithmic axis: the training loss, and the accuracy on
    development items or the loss on the inner fold.""",
)

# %% [markdown]
# ## What came out

# %%
table = finetuning.run_table([run]).with_inputs(run.data)
publish_table(
    "tbl-run",
    table,
    columns=finetuning.RUN_COLUMNS,
    groups=["task"],
    caption="""What the model was trained on, how well it did and what the run cost. Accuracies are on development items
    that are not in ChaosNLI; for runs on your own votes, there are none. The downloadable table adds accuracies on test items. No choice
    was based on the items on which the run is evaluated.""",
)

# %%
votes = load_predicted_votes(chosen(globals()))
people = finetuning.people_comparison(run, votes, n_resamples=resamples, seed=seed)
publish_table(
    "tbl-run-people",
    people.with_inputs(run.data),
    columns=finetuning.PEOPLE_COLUMNS,
    groups=["dataset"],
    caption="""This run compared with people and guesses. A *perfect model* predicts each item's true shares; a *second
    crowd* is the same number of other people; the *base rate* is how often each label is given overall. *Worth* is the
    number of people whom you would have to ask about each item, on top of the base rate, to come as near to all people
    as the system does. Intervals are 95% intervals from resampling items with their votes.""",
)

# %%
accuracies = {f"dev_accuracy_{name}": part.accuracy for name, part in run.record.dev.items()}
publish_scalars(accuracies | {"pairs_per_second": run.record.fits[0].pairs_per_second})

# %% tags=["remove-input"]
Markdown(
    f"The predictions are in `{run.name}/predictions.parquet`, and the record is in `{run.name}/run.json`. On the "
    f"same hardware, this command gives the same predictions:\n\n```console\n$ {run.command}\n```"
)

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
# # Bring your own model
#
# How near does *your* model come to people? This page takes a file of predictions from its format
# to a figure. Every command that stands here with its answer was run when the page was made.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
dataset: str = "snli"  # which dataset
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
system: str = "MiniLM-L6, seed 0"  # who plays your model; where it is not available, the first one
resamples: int = 500  # bootstrap resamples of the items, for the intervals of the figure
seed: int = 0  # seed of all resampling for it

# %%
import shlex

import pandas as pd
from chaos_utils.presentation.results import MODEL_NAMES
from IPython.display import Markdown

from chaos_utils import description
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.base.paths import run_folder
from chaos_utils.datasets.loading import load_votes
from chaos_utils.evaluation import results
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.plots.results import plot_results
from chaos_utils.report.columns import signed
from chaos_utils.report.console import block, show_command
from chaos_utils.report.figures import publish_figure
from chaos_utils.scoring.api import compare
from chaos_utils.scoring.formats import class_columns
from chaos_utils.scoring.predictions import read_predictions
from chaos_utils.scoring.systems import load_systems

votes = load_votes(dataset, data)
others = load_systems(votes, predictions)
if not others:
    raise ChaosError("This page needs a model.", todo="pass -p predictions=FILE")
yours = next((one for one in others if one.name == system), others[0])
folder = run_folder()
option = "" if data == "auto" else f" --data {shlex.quote(data)}"

# %% tags=["remove-input"]
Markdown(description.data_notice([votes]))

# %% [markdown]
# ## A line for each item
#
# The simplest format is CSV: the `uid` of an item as ChaosNLI has it, and a probability for each
# label, in columns named after the labels. On SNLI and MNLI these are `entailment`, `neutral` and
# `contradiction`, on αNLI `hypothesis_1` and `hypothesis_2`. The order of the lines is free. The items
# to predict come from their publishers: `chaos data fetch` brings them.

# %%
columns = class_columns(votes.dataset)
table = pd.DataFrame(yours.probabilities, index=pd.Index(yours.uids, name="uid"), columns=columns)
write_text(folder / "my-model.csv", table.round(4).to_csv())

# %% tags=["remove-input"]
Markdown(
    f"Here {yours.name} plays your model. `my-model.csv` holds its predictions for {len(yours):,} "
    "items, and begins so:"
)

# %% tags=["remove-input"]
block("\n".join([*table.head(4).round(4).to_csv().splitlines(), "…"]), "text")

# %% [markdown]
# ## Every measure, with what it is worth
#
# One command finds out the format and the dataset, and prints every measure of this book.

# %% tags=["remove-input"]
show_command(f"chaos evaluate my-model.csv{option}", folder)

# %% [markdown]
# An arrow shows which way is better. The interval says how far the value would move with other
# items. The {term}`floor <noise floor>` is what a perfect model would score, since a hundred votes
# are only a sample of what people think; the {term}`ceiling <human ceiling>` is what another crowd
# of a hundred would. The rank is the place among the nine models of {cite:t}`nie2020`, where their
# paper has the measure. The {doc}`glossary <../glossary>` defines each of them. `--json`, `--csv`
# and `--markdown` answer for programs and papers, and `--out DIR` writes the table and figures into
# a folder.
#
# ## Is it really better?
#
# Two systems are compared on the same resampled items, so that what is easy or hard about an item
# cancels out. Does it help to flatten the predictions with a
# {term}`temperature <temperature scaling>` of 2?

# %%
softer = pd.DataFrame(yours.at_temperature(2.0).probabilities, index=table.index, columns=columns)
write_text(folder / "softer.csv", softer.round(4).to_csv())

# %% tags=["remove-input"]
show_command(f"chaos evaluate softer.csv my-model.csv --against my-model{option}", folder)

# %% [markdown]
# The second table holds the differences, each with an interval of its own and a two-sided p-value, as
# it is and adjusted for the number of measures (Holm).

# %% tags=["remove-input"]
pair = [read_predictions(folder / file, [votes])[0] for file in ("softer.csv", "my-model.csv")]
compared = compare(*pair, votes, measures=("jsd", "kl", "ece_votes"))
told = [
    f"{MEASURES[row.measure].title} by {signed(row.value, 4)} "
    f"(from {signed(row.low, 4)} to {signed(row.high, 4)})"
    for row in compared.itertuples()
]
Markdown(
    f"Here, flattening moves {told[0]}, {told[1]} and {told[2]}; for all three, lower is better."
)

# %% [markdown]
# ## When the file is wrong
#
# Nothing is repaired in silence. Missing items are an error, unless `--allow-missing` says that
# the rest is to be evaluated.

# %%
write_text(folder / "short.csv", table[:-3].round(4).to_csv())

# %% tags=["remove-input"]
show_command(f"chaos evaluate short.csv{option}", folder, code=2)

# %% [markdown]
# The most treacherous fault is another order of the labels: every line is valid, and every number
# wrong. So the command looks whether another order would fit the old labels far better.

# %%
swapped = table.set_axis([columns[-1], *columns[1:-1], columns[0]], axis=1)
write_text(folder / "swapped.csv", swapped.round(4).to_csv())

# %% tags=["remove-input"]
show_command(f"chaos evaluate swapped.csv{option}", folder, code=2)

# %% [markdown]
# Values that are not probabilities, doubled uids and unknown labels are named with their place, items
# that are not ChaosNLI's are counted, and a stated label that is not the most probable one is noted.
#
# ## Beside the rest
#
# Last, the figure: the file is read once more, and drawn with every other available system.

# %%
beside = [one for one in others if one is not yours]
beside += read_predictions(folder / "my-model.csv", [votes])
scores = results.main_results([votes], [beside], resamples, seed)
drawn = results.drawn_results(scores, [votes], seed)
publish_figure(
    "fig-your-model",
    plot_results,
    drawn.assign(system=drawn["system"].replace(MODEL_NAMES)),
    caption=f"""A model of one's own beside all others on {votes.dataset.short}, from its file. *my-model* is what was read
    from the file of this page. Filled circles are computed, with 95% intervals; hollow diamonds are those
    of {{cite:t}}`nie2020`. Dashed: the uniform guess; dash-dotted: one crowd as a prediction of another;
    dotted: the floor of a perfect model. KL is on a logarithmic axis and has no ceiling.""",
    alt=f"""Dot plots of JSD and KL on {votes.dataset.short} with a row for each system: published models, released and own
    ones, guesses that need no model, and the model of this page's file among them.""",
)

# %% [markdown]
# Every chapter that shows systems takes such a file: `chaos run results -p predictions=my-model.csv`
# puts your model into the main table and its figure, and the other chapters likewise into theirs. This
# page does too, as said at its end.
#
# ## Other formats
#
# The format is recognised from the content of the file.
#
# ChaosNLI's JSON
# : `{model: {uid: {"uid": …, "logits": [e, n, c], "predicted_label": …}}}`, with
#   `predicted_probabilities` instead of `logits` where you have them.
#
# JSON lines
# : one object per line with `uid` and `probs`, in the order of the classes. Files in the format released
#   with {cite:t}`baan2022`, which also has `index` and `pred`, are read in its order: entailment,
#   contradiction, neutral.
#
# CSV
# : as above; with a column `model` where there are several. Columns `family`, `seed`, `trained_on` and
#   `out_of_fold` may say what a system is. One trained on the votes that judge it (`votes of snli`) is
#   refused, unless out of fold.
#
# Parquet
# : the same columns. Training runs of this book leave such a file.
#
# Parts of one system in several files are joined by `--join NAME`. A dataset can be named by `--dataset`, and
# one model of several by `--model`.

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
# One command says how close *your* model comes to people. This page goes from a file of predictions to a
# figure; every command on it was run when the page was made, and is shown with its answer.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
dataset: str = "snli"  # which dataset
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
system: str = "MiniLM-L6, seed 0"  # who plays your model; where it is not available, the first one
resamples: int = 500  # bootstrap resamples of the items, for the intervals of the figure
seed: int = 0  # seed of all resampling for it

# %%
import shlex

from IPython.display import Markdown

from chaos_utils.analyses import results, your_model
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.names import dataset_name
from chaos_utils.analyses.notices import notices
from chaos_utils.analyses.references import reference_scores
from chaos_utils.plots.results import plot_results
from chaos_utils.report.console import block
from chaos_utils.report.figures import publish_figure

material = gather(data, predictions, datasets=[dataset])
options = "" if material.released else f" --data {shlex.quote(data)}"
written = your_model.commands(material, system=system, options=options).rows
player = your_model.flattened(material, system=system).rows


def show(part, language="console"):
    return block("\n".join(written[written["part"] == part]["text"]), language)


# %% tags=["remove-input"]
Markdown(notices(material))

# %% [markdown]
# ## One line per item
#
# The simplest format is CSV: the `uid` of an item as ChaosNLI has it, and a probability for each
# label, in columns named after the labels. On SNLI and MNLI these are `entailment`, `neutral` and
# `contradiction`, on αNLI `hypothesis_1` and `hypothesis_2`. The order of the lines is free. The items
# to predict come from their publishers: `chaos data fetch` brings them.
#
# ```python
# columns = ["entailment", "neutral", "contradiction"]
# table = pd.DataFrame(probabilities, index=uids, columns=columns)
# table.round(4).to_csv("my-model.csv", index_label="uid")
# ```

# %% tags=["remove-input"]
Markdown(
    f"Here {player['system'].iloc[0]} plays your model. `my-model.csv` holds its predictions for "
    f"{player['n_items'].iloc[0]:,} items, and begins like this:"
)

# %% tags=["remove-input"]
show("file", "text")

# %% [markdown]
# ## Every measure, and what it is worth
#
# One command recognises the format and the dataset, and prints the main measures of both papers.

# %% tags=["remove-input"]
show("evaluate")

# %% [markdown]
# Below your system are the {term}`perfect model <noise floor>`, the {term}`second crowd
# <human ceiling>` and five baselines, all on the items that your system covers. The rank is its place
# among the nine models of {cite:t}`nie2020`, where their paper has the measure; a system that covers
# only some of the items has none. The {doc}`glossary <../glossary>` defines the measures:
# `--measures jsd,kl,brier` chooses the columns, `--measures all` shows every one. `--latex` writes the
# table for a paper (with `booktabs`, and bold only where a system is best beyond ties), `--markdown`,
# `--csv` and `--json` write it for other uses, and `--out DIR` adds figures.
#
# ## Is it really better?
#
# Two systems are compared on the same resampled items, so that what is easy or hard about an item
# cancels out. Does it help to flatten the predictions with a
# {term}`temperature <temperature scaling>` of 2? `softer.csv` holds the flattened predictions.

# %% tags=["remove-input"]
show("compare")

# %% [markdown]
# The second table holds the differences, `softer` minus `my-model`, each with its interval and a two-sided
# p-value, raw and adjusted for the number of differences shown (Holm). For all three measures, lower is
# better. Plug-in calibration errors have neither interval nor p-value, since chance alone makes them larger on
# a resample; the squared ones have both.

# %% [markdown]
# ## When the file is wrong
#
# A fault is reported, never silently fixed. Missing items are an error, unless `--allow-missing` says that
# the rest is to be evaluated. `short.csv` lacks the last three lines.

# %% tags=["remove-input"]
show("gaps")

# %% [markdown]
# The most treacherous fault is a wrong order of the labels: every line is valid, and every number
# wrong. So the command checks whether another order would fit the old labels far better. In
# `swapped.csv` the first and the last label have changed places.

# %% tags=["remove-input"]
show("order")

# %% [markdown]
# Values that are not probabilities, repeated uids and unknown labels are reported with their place. Items
# that are not ChaosNLI's are counted, and a stated label that is not the most probable one is noted.
#
# ## Beside the rest
#
# Last, the figure: the same file, among all other available systems.

# %%
beside = your_model.beside_others(material, system=system, n_resamples=resamples, seed=seed)
references = reference_scores(material, seed=seed, measures=["jsd", "kl"])
publish_figure(
    "fig-your-model",
    plot_results,
    results.drawn_results(beside, references),
    caption=f"""Your model among all others on {dataset_name(dataset)}. *my-model* was read from the file of this page.
    Filled circles are computed, with 95% intervals; hollow diamonds are the values printed by
    {{cite:t}}`nie2020`.""",
    alt=f"""A dot plot of JSD on {dataset_name(dataset)} with a row for each system: published models,
    released and own ones, guesses that need no model, and the model of this page's file among them.""",
)

# %% [markdown]
# ## Evaluate in the page
#
# In the book, this page judges your file itself, by the measures of `chaos evaluate` and with its checks:
# choose a file, and it is set among the systems of {numref}`tbl-main-results`.
#
# ```{evaluate-file}
# ```
#
# Where the other datasets of {doc}`../datasets` were available when this book was built, a list offers them:
# choose the one that your predictions are on.

# %% [markdown]
# Every chapter that shows systems takes such a file: `chaos run results -p predictions=my-model.csv`
# puts your model into the main table and its figure, and likewise with the other chapters.
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
# Answers drawn from a language model
# : a row per answer with `uid` (or `item`) and `sample`, JSON lines with a list `samples`, or a column
#   `n_samples` beside how often each label was drawn. They are read as machine votes and smoothed by adding ½
#   to each label (Krichevsky–Trofimov), and a note says how many there are per item.
#
# Parts of one system in several files are joined by `--join NAME`. `--dataset` names a dataset, and `--model`
# one of several models.
#
# ## Limitations
#
# A score says how close your model is to these people on these items, which were chosen because their first
# annotators disagreed. The intervals are for other items of this kind. They leave out the choice of your
# training seed: to include it, put several seeds into one file, with the columns `family` and `seed`. And if
# you have chosen a temperature or a recipe on these very items, the scores are too good.

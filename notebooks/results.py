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
# # Do models capture the distribution?
#
# A model trained on one label per item still outputs a full distribution. Is it the distribution
# of people's answers? {cite:t}`nie2020` measured that for nine models. Here their table
# stands beside everything that can be computed from released predictions, and beside guesses that
# need no model.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
resamples: int = 2000  # bootstrap resamples of the items, for the 95% intervals
seed: int = 0  # seed of all resampling

# %%
from IPython.display import Markdown

from chaos_utils.analyses import results
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.names import SYSTEM_NAMES, dataset_name, listed
from chaos_utils.analyses.notices import notices
from chaos_utils.analyses.references import reference_scores
from chaos_utils.plots.results import plot_results
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table

material = gather(data, predictions)

# %% tags=["remove-input"]
Markdown(notices(material))

# %% [markdown]
# ## The table
#
# {term}`JSD` is the Jensen–Shannon *distance* with natural logarithms, {term}`KL` the divergence
# from model to human distribution in nats; for both, 0 is perfect.
# {term}`Old accuracy <old accuracy>` counts agreement with the label of the original dataset,
# {term}`new accuracy` with the majority of the hundred votes.

# %%
table = results.main_results(material, n_resamples=resamples, seed=seed)
publish_table(
    "tbl-main-results",
    table,
    columns=results.COLUMNS,
    caption=f"""Distance from humans and accuracy of every system, computed and published. Computed
    rows have 95% bootstrap intervals over items ({resamples:,} resamples); the chance row has the
    paper's values and the difference. Rows marked *published* are those of Table 5 in
    {{cite:t}}`nie2020` whose predictions are not available. The paper lacks the class prior (frequency
    of the old labels, from other folds' items), the few original votes as a prediction, and the old
    label taken as certain.""",
)

# %% tags=["remove-input"]
chance = table.rows[table.rows["kind"] == "chance"]
gaps = chance[[f"difference_{measure}" for measure in results.TABLE_5]].abs().max().max()
counts = results.better_than_chance(table).rows.set_index(["dataset", "measure"])
sentences = [
    f"on {dataset_name(dataset)}, {counts.loc[(dataset, 'jsd'), 'n_better']} of "
    f"{counts.loc[(dataset, 'jsd'), 'n_models']} published models are nearer to humans than the uniform "
    f"guess by JSD, and {counts.loc[(dataset, 'kl'), 'n_better']} by KL"
    for dataset in counts.index.unique("dataset")
]
text = (
    f"The chance rows of {{numref}}`tbl-main-results` come within {gaps:.4f} of the paper's; released "
    "votes and those of the paper differ a little.\n\n"
    "Read against the uniform guess, which knows nothing, the published distances are sobering: "
    f"{'; '.join(sentences)}."
)
if "mnli" in counts.index:
    text += (
        f" On MNLI the uniform guess scores {counts.loc[('mnli', 'jsd'), 'chance']:.4f} in JSD and "
        f"{counts.loc[('mnli', 'kl'), 'chance']:.4f} in KL; the best published models have "
        f"{counts.loc[('mnli', 'jsd'), 'best_value']:.4f} "
        f"({SYSTEM_NAMES[counts.loc[('mnli', 'jsd'), 'best']]}) and "
        f"{counts.loc[('mnli', 'kl'), 'best_value']:.4f} "
        f"({SYSTEM_NAMES[counts.loc[('mnli', 'kl'), 'best']]})."
    )
Markdown(text if sentences else "")

# %% [markdown]
# ## Between the guess and the ceiling
#
# How near could a model come at all? Two references bound the scale. The
# {term}`floor <noise floor>` is what a perfect model would score, since a hundred votes are only a
# sample of what people think. The {term}`ceiling <human ceiling>` is one crowd of a hundred as a
# prediction of another. {doc}`ceilings` explains how both are computed.

# %%
references = reference_scores(material, seed=seed, measures=["jsd", "kl"])
drawn = results.drawn_results(table, references)
publish_figure(
    "fig-results",
    plot_results,
    drawn,
    caption="""Distance from humans of every system, beside chance, ceiling and floor. Filled circles
    are computed, with 95% intervals; hollow diamonds are the paper's. Dashed: the uniform guess;
    dash-dotted: the ceiling, one crowd as a prediction of another; dotted: the floor of a perfect
    model. KL is on a logarithmic axis and has no ceiling.""",
    alt="""Dot plots of JSD and KL for SNLI, MNLI and αNLI, a row for each system. On SNLI every
    published model lies left of the line of the uniform guess in JSD; on MNLI all of them lie right
    of it in both distances. All models are far from the ceiling and the floor at the left, where the
    estimated human stands.""",
)

# %% tags=["remove-input"]
at = drawn.rows[drawn.rows["measure"] == "jsd"].set_index(["kind", "dataset"])["value"]
each = {kind: [f"{value:.3f}" for value in at[kind]] for kind in ("floor", "ceiling", "chance")}
several = [one.name for one in material.having("old votes")]
original = table.rows[table.rows["system"] == "original votes"]
original = original.set_index("dataset").loc[several]
text = (
    f"By JSD the floor is {listed(each['floor'])} on "
    f"{listed(one.short for one in material.datasets)}, the ceiling {listed(each['ceiling'])}, and the "
    f"uniform guess {listed(each['chance'])} ({{numref}}`fig-results`)."
)
if several:
    jsd = [f"{row.jsd:.3f} on {dataset_name(dataset)}" for dataset, row in original.iterrows()]
    text += (
        f"\n\nThe original votes, taken as a prediction, have a JSD of {listed(jsd)}, and a KL of "
        f"{listed([f'{kl:.2f}' for kl in original['kl']])}. JSD forgives what KL does not: a label that "
        "nobody among the few chose, and some among the many did."
    )
Markdown(f"{text}\n\n{material.left_out('old votes')}")

# %% [markdown]
# ## Larger is more accurate, not always nearer

# %% tags=["remove-input"]
sizes = results.size_effects().rows
more = (sizes["change_new_accuracy"] > 0).sum()
nearer = (sizes["change_jsd"] < 0).sum()
mnli = sizes[sizes["dataset"] == "mnli"]
ranks = results.rank_correlations().rows
ranks = ranks[ranks["accuracy"] == "new_accuracy"].set_index(["dataset", "distance"])["spearman"]
Markdown(
    f"The paper has three models in two sizes. In {more} of {len(sizes)} pairs of dataset and family the "
    f"large model has the higher new accuracy; in {nearer} it has the lower JSD. On MNLI the large ones "
    f"gain between {mnli['change_new_accuracy'].min():.3f} and {mnli['change_new_accuracy'].max():.3f} in "
    f"new accuracy while their JSD changes by {mnli['change_jsd'].min():+.4f} to "
    f"{mnli['change_jsd'].max():+.4f}.\n\n"
    "Does accuracy show which model is nearer to people? Over the nine published models, Spearman's "
    "rank correlation between new accuracy and nearness (1: the more accurate is always the nearer) is "
    f"{ranks['snli', 'jsd']:.2f} on SNLI, {ranks['mnli', 'jsd']:.2f} on MNLI and "
    f"{ranks['alphanli', 'jsd']:.2f} on αNLI for JSD, and {ranks['snli', 'kl']:.2f}, "
    f"{ranks['mnli', 'kl']:.2f} and {ranks['alphanli', 'kl']:.2f} for KL. The answer depends on the dataset "
    "and on the distance, so neither number stands for the other."
)

# %% [markdown]
# The nine models' predictions are published in an archive that we could not download; where you have
# the file, `chaos run results -p predictions=FILE` computes their rows with
# intervals. The estimated human row rests on a second set of annotators that was not released.

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
# need no model. Some of these guesses beat every published model, and by squared distance the models
# whose predictions are available are worth one or two people.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
resamples: int = 2000  # bootstrap resamples of the items, for the 95% intervals
crowds: int = 50  # draws of a crowd and of people who judge it
seed: int = 0  # seed of folds, drawn crowds and resampling

# %%
from IPython.display import Markdown

from chaos_utils.analyses import results
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.names import SYSTEM_NAMES, dataset_name, listed
from chaos_utils.analyses.notices import notices
from chaos_utils.analyses.references import reference_scores
from chaos_utils.plots.results import plot_human_equivalents, plot_results
from chaos_utils.report.columns import number, signed
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
    rows have 95% bootstrap intervals over items ({resamples:,} resamples), those of one seed for these
    runs alone; a *mean of seeds* has one for other seeds too, by t. The chance row has the
    paper's values and the difference. Rows marked *published* are those of Table 5 in
    {{cite:t}}`nie2020` whose predictions are not available. The paper lacks the baselines. Three of
    them are fitted on the items of nine other folds: the class prior (frequency of the old labels),
    the mean vote, and the mean vote of items with the same old label. The two others are the few
    original votes as a prediction, and the old label taken as certain. *Worth of people*: how many
    people, pooled, come as near to the population by squared distance
    ({{numref}}`tbl-human-equivalents`).""",
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
# ## Simple guesses beat published models
#
# Predict the same distribution for all items that have one {term}`old label`, without reading a
# sentence: this {term}`mean vote given the old label` is one of the strongest predictions in the table.

# %%
against = results.baselines_against_models(table)
beside = results.counts_beside(against.rows)
result = None
if len(against):
    result = publish_table(
        "tbl-baselines-against-models",
        against,
        shown=beside,
        columns=results.count_columns(beside),
        caption="""How many published models each guess beats, by JSD. Values are compared at the four
        decimals of the paper. The data has KL too, and how many models lie beyond the upper end of
        the guess's 95% interval.""",
    )
result

# %% tags=["remove-input"]
by_jsd = against.rows[against.rows["measure"] == "jsd"]
beats_all = by_jsd[by_jsd["n_beaten"] == by_jsd["n_models"]]
winners = [
    f"the {system} on {listed(map(dataset_name, rows['dataset']))}"
    for system, rows in beats_all[beats_all["system"] != "chance"].groupby("system", sort=False)
]
short_of = by_jsd.assign(missed=by_jsd["n_beaten"] - by_jsd["n_beyond"])
close = short_of[short_of.index.isin(beats_all.index) & (short_of["missed"] > 0)]
close = close[close["system"] != "chance"]
Markdown(
    f"By JSD, all {by_jsd['n_models'].max()} published models are beaten by {listed(winners)} "
    "({numref}`tbl-baselines-against-models`). "
    + (
        "All of these models also lie beyond the upper end of the guess's interval"
        + "".join(
            f", but for {row.missed} ({row.system}, {dataset_name(row.dataset)})"
            for row in close.itertuples()
        )
        + "."
    )
    if winners
    else ""
)

# %% [markdown]
# Three caveats. The old label, the mean vote given it and the original votes use human labels *of the
# very item* that they predict, which the models had to do without; only the mean vote and the class prior
# know nothing of the item. The two mean votes are fitted on votes, of other items, which the
# published models never saw: they learned from one label per item. And the published rows are means
# over all items, without predictions for each, so these differences have no paired interval; we know only
# the guess's own. So the comparison shows how little of the distribution of people's answers a model
# picks up from such labels, not that a table of means understands language better.
#
# ## What is a model worth in people?
#
# Ask one person, and take the answer for what everybody thinks: that is a prediction too, and so is
# the pooled answer of two people, or of ten. The {term}`human equivalent` of a model is the number of
# people whose pooled answers predict the rest of the crowd as well as the model does. By squared
# distance it has a closed form: the votes show without bias how far a single person is from the
# population, *v* people are *v* times nearer, and it does not matter how many votes judge.

# %%
curves = results.crowd_curves(material, n_draws=crowds, seed=seed)
equivalents = results.human_equivalents(
    material, temperatures=[1.0, 2.0], n_draws=crowds, n_resamples=resamples, seed=seed
)
worth = equivalents.rows[equivalents.rows["measure"] == "human_equivalent_brier"]
models = worth[(worth["kind"] == "model") & worth["value"].notna()]
result = None
if len(equivalents):
    result = publish_figure(
        "fig-human-equivalents",
        plot_human_equivalents,
        results.drawn_equivalents(curves, equivalents),
        caption=(
            "By squared distance, no available model is worth more than "
            f"{number(models['value'].max(), 1)} people, even flattened."
            if len(models)
            else "What simple guesses are worth in people."
        )
        + """ The curve is the expected squared distance between the pooled votes of *v* people and the
        population; strokes mark 1, 2, 3, 5, 8, 10, 15, 20, 30, 40 and 50 people. Circles: models, a
        circle for each seed; hollow ones are flattened with a {term}`temperature <temperature scaling>`
        of 2, which {cite:t}`baan2022` chose on these very items of SNLI. Squares: guesses that need no
        model. Bars are 95% intervals over items.""",
        alt="""A panel for each dataset. A curve falls steeply from the distance of one person, towards
        zero at fifty. Models and guesses stand on its steep part, at a few people or fewer; flattened
        models stand to the right of the same models as they are. The table beside this figure has every
        value.""",
    )
result


# %% tags=["remove-input"]
def spread(values, digits=1):
    low, high = (number(end, digits) for end in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"


say = []
for dataset, rows in models.groupby("dataset", sort=False):
    at = rows.groupby("temperature")["value"].agg(spread)
    say.append(f"{at[1]} people on {dataset_name(dataset)} ({at[2]} when flattened)")
original = worth[worth["system"] == "original votes"]
few = [f"{row.text} people on {dataset_name(row.dataset)}" for row in original.itertuples()]
Markdown(
    (
        f"The available models are worth {listed(say)} ({{numref}}`fig-human-equivalents`). "
        if say
        else ""
    )
    + (
        f"The few original votes, five on most items, are worth {listed(few)}. These five are no "
        "ordinary sample of people: items were chosen because exactly three of the five agreed."
        if few
        else ""
    )
    + (
        ""
        if len(equivalents)
        else "*Some items have a single vote, which cannot show how far people are from each other: "
        "nothing can be said here.*"
    )
)

# %% [markdown]
# By {term}`TVD` and {term}`JSD` the answer depends on how many votes judge. So a crowd of *v* people
# and the model are judged by the same *m* other votes on each item, both drawn without replacement.
# Values for another *m*, or from another dataset, do not compare. A system that was made from the
# votes that judge it gets no answer. The mean votes do, since no item's own votes went into its
# prediction, but unlike one or two people they have seen thousands of other votes.

# %%
result = None
if len(equivalents):
    result = publish_table(
        "tbl-human-equivalents",
        equivalents,
        shown=results.equivalents_beside(equivalents.rows),
        columns=results.equivalent_columns(equivalents.rows),
        caption=f"""What systems are worth in people, with 95% intervals. By squared distance in closed
        form (Fieller's interval of a ratio); by TVD and JSD against *m* other votes, means over {crowds}
        drawn crowds, interpolated between crowds of 1, 2, 3, 5, 8, … people, with the interval of the
        paired difference inverted ({resamples:,} resamples of the items). T = 2: flattened with that
        temperature.""",
    )
result

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
    are computed, with 95% intervals; hollow diamonds are the paper's. People, guesses that need no
    model, and models are groups, each sorted by JSD. Dashed: the uniform guess; dash-dotted: the
    ceiling, one crowd as a prediction of another; dotted: the floor of a perfect model. KL is on a
    logarithmic axis and has no ceiling.""",
    alt="""Dot plots of JSD and KL for SNLI, MNLI and αNLI, a row for each system. On SNLI every
    published model lies left of the line of the uniform guess in JSD; on MNLI all of them lie right
    of it in both distances. On MNLI and αNLI the mean vote given the old label lies left of all
    models. All are far from the ceiling and the floor at the left, where the estimated human
    stands.""",
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
# ## Do models know where people disagree?

# %% tags=["remove-input"]
threshold = 0.6  # an item is contested where no label has this share of the votes
signal = results.disagreement_signal(material, majority_below=threshold, seed=seed)
knowing = signal.rows[signal.rows["kind"] == "model"].groupby("dataset", sort=False)["spearman"]
guess = signal.rows[signal.rows["system"] == "mean vote given the old label"]
guess = guess.set_index("dataset")["spearman"]
said = [f"{spread(values, 2)} on {dataset_name(name)}" for name, values in knowing]
as_good = guess[guess >= knowing.max().reindex(guess.index)]
unsaid = [one.short for one in material.datasets if one.name not in set(signal.rows["dataset"])]
text = ""
if said:
    only = "only " if knowing.max().max() < 0.5 else ""
    text += (
        f"Spearman's correlation of the models' entropy with people's is {only}{listed(said)} "
        "({numref}`tbl-disagreement-signal`)."
    )
if len(as_good):
    text += (
        f" On {listed(map(dataset_name, as_good.index))} the old label alone does at least as well as any "
        "model: "
        f"the mean vote given it has {listed(number(value, 2) for value in as_good)}."
    )
five = signal.rows[signal.rows["kind"] == "people"]
if len(five):
    each = [
        f"{number(row.spearman, 2)} on {dataset_name(row.dataset)}" for row in five.itertuples()
    ]
    text += f" The votes of five people have {listed(each)} with those of all others."
if unsaid:
    text += f"\n\n*Without predictions of a model, nothing can be said here of {listed(unsaid)}.*"
Markdown(text)

# %% [markdown]
# A model may be far from people's distribution and still be less sure where people disagree more; then
# it could say which items need more votes. We measure this {term}`disagreement as a signal` in two
# ways. Spearman's correlation asks whether predicted entropy orders the items as human entropy does;
# the area under the ROC curve (AUROC) whether it separates contested items from the rest.

# %%
result = None
if len(signal):
    result = publish_table(
        "tbl-disagreement-signal",
        signal,
        columns=results.SIGNAL_COLUMNS,
        caption=f"""Predicted entropy as a signal of human disagreement, with 95% intervals for other
        items. *Spearman*: rank correlation with the entropy of the votes. *AUROC*: chance that a
        contested item, on which no label has {threshold:.0%} of the votes, gets a higher entropy than
        another; 0.5 is chance. Higher is better. *Five people*: five votes drawn from each item, judged
        by the others. The mean vote given the old label is one distribution for each label, here from all
        items. Guesses that say the same of all items are left out.""",
    )
result

# %% [markdown]
# The five original votes of SNLI and MNLI say less than five others would. Their items were chosen
# because exactly three of the five agreed, which leaves two entropies.
#
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
    f"new accuracy while their JSD changes by {signed(mnli['change_jsd'].min(), 4)} to "
    f"{signed(mnli['change_jsd'].max(), 4)}.\n\n"
    "Does accuracy show which model is nearer to people? Over the nine published models, Spearman's "
    "rank correlation between new accuracy and nearness (1: the more accurate is always the nearer) is "
    f"{signed(ranks['snli', 'jsd'], 2)} on SNLI, {signed(ranks['mnli', 'jsd'], 2)} on MNLI and "
    f"{signed(ranks['alphanli', 'jsd'], 2)} on αNLI for JSD, and {signed(ranks['snli', 'kl'], 2)}, "
    f"{signed(ranks['mnli', 'kl'], 2)} and {signed(ranks['alphanli', 'kl'], 2)} for KL. The answer depends on the dataset "
    "and on the distance, so neither number stands for the other."
)

# %% [markdown]
# The nine models' predictions are published in an archive that we could not download; where you have
# the file, `chaos run results -p predictions=FILE` computes their rows with
# intervals. The estimated human row rests on a second set of annotators that was not released.

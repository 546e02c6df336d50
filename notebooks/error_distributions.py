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
# # How good is good?
#
# A model's distance from people is never zero, but neither is that of people themselves. Judged by sixty
# others who labelled the same SNLI item, twenty people are
# {value}`tbl-error-divergence measure=dist_ce system=H1 reference=outside_both mean .3f` away on average (total
# variation, which {cite:t}`baan2022` call {term}`DistCE`). By the same judges, a fine-tuned RoBERTa-base is
# {value}`tbl-error-divergence measure=dist_ce origin=released temperature=1 reference=outside_both mean .3f`
# away; with its logits divided by two, it is
# {value}`tbl-error-divergence measure=dist_ce origin=released temperature=2 reference=outside_both mean .3f`.
#
# {cite:t}`baan2022` use small samples of the votes as a yardstick for models. This chapter reproduces
# their draw, repeats it with many seeds, and asks how much of the comparison depends on which votes
# were drawn and on who judges them.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
dataset: str = "snli"  # which dataset
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
system: str = ""  # name of a system; the first available when empty
temperature: float = 2.0  # of the flattened version of that system
n_seeds: int = 200  # draws of the two samples of votes, at least 2
seed: int = 0  # the first of them; the figure shows this one

# %%
from IPython.display import Markdown

from chaos_utils.analyses import error_distributions
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.error_distributions import plot_error_distributions
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table

material = gather(data, predictions, datasets=[dataset])
chosen = {"system": system, "temperature": temperature}
error_distributions.check_system(material, system)

# %% tags=["remove-input"]
Markdown(notices(material))

# %% [markdown]
# ## Two samples of twenty votes
#
# Shuffle an item's votes and cut off twenty, then twenty others: H1 and H2, two small crowds that were
# asked the same question. Each is scored as if it were a model, by the {term}`total variation distance`
# between its shares and those of all votes. That flatters the samples: their votes are among those
# that judge them.
#
# Nearly all errors of the samples in {numref}`fig-error-distributions` are below 0.2; a model's reach to
# almost 1. The histogram of RoBERTa-base differs from that of H1 in
# {value}`tbl-error-divergence measure=tvd origin=released temperature=1 mean .0%` of its mass, that of the
# second sample in {value}`tbl-error-divergence measure=tvd system=H2 mean .0%`. Flattening shortens the
# model's tail, and it still looks nothing like people.

# %%
publish_figure(
    "fig-error-distributions",
    plot_error_distributions,
    error_distributions.error_histograms(material, **chosen, seed=seed),
    caption="""Twenty people are close to the crowd on nearly every item, models are not. Distance from
    all votes, item by item, for two disjoint samples of 20 votes (H1 and H2, drawn once) and for the
    systems. Thirty bins; dashed lines are means, and the thin outline repeats H1. Compare Figure 2 of
    {cite:t}`baan2022`.""",
    alt="""Histograms one above the other, on the same axis from 0 to 1. The two human samples look
    alike: nearly all their items lie below 0.2. The models' errors spread from 0 to almost 1; at a
    temperature of 2 RoBERTa's longest errors shrink, and it still looks nothing like the samples.""",
)

# %% [markdown]
# ## Many draws
#
# One draw is an accident, so we repeat it, and judge the samples three ways: by all votes, which contain
# them; by the eighty *not in H1*; and by the sixty *in neither*. We also compare the shapes: how far the
# histogram of other errors is from that of H1's errors, by {term}`KL`(H1 ‖ ·) as in the paper and by the
# total variation distance ({term}`TVD`).
#
# Who judges matters more than which votes were drawn. Judged by all votes, H1 has a mean DistCE of
# {value}`tbl-error-divergence measure=dist_ce system=H1 reference=all mean .3f`; judged by the other eighty,
# {value}`tbl-error-divergence measure=dist_ce system=H1 reference=outside_h1 mean .3f`. From draw to draw the
# standard deviation is only {value}`tbl-error-divergence measure=dist_ce system=H1 reference=all sd .4f`. The
# first value is always four fifths of the second, because twenty of the hundred votes cancel against
# themselves. Systems have no votes among the judges, so we compare them with samples that the sixty
# judge.
#
# By DistCE, the published draw makes people look slightly worse than most draws do. The notebook's value for H2,
# {value}`tbl-error-divergence measure=dist_ce system=H2 reference=all published_notebook .3f`, lies at
# percentile {value}`tbl-error-divergence measure=dist_ce system=H2 reference=all percentile_notebook .0f`
# of our draws.

# %%
table = error_distributions.error_divergence(material, **chosen, n_seeds=n_seeds, seed=seed)
publish_table(
    "tbl-error-divergence",
    table,
    columns=error_distributions.COLUMNS,
    shown=error_distributions.beside_published(table.rows[table.rows["measure"] != "kl_smoothed"]),
    caption=f"""By DistCE, models are further from the crowd than twenty people, whoever judges. Means over
    {n_seeds:,} draws of the samples, those with a finite value; in brackets the middle 95% of them,
    where the value depends on the draw. The *percentile* of a published value is the percentage of
    draws below it. ECE has ten bins (a, b] and the judges' first majority as its label; histograms have
    30 bins. KL is in nats and unsmoothed, as in the code of {{cite:t}}`baan2022`.""",
)

# %% [markdown]
# ## Why not ECE
#
# By ECE, a model beats people. RoBERTa-base at a temperature of 2 has an {term}`ECE` of
# {value}`tbl-error-divergence measure=ece origin=released temperature=2 reference=all mean .3f`, a sample of
# twenty people one of {value}`tbl-error-divergence measure=ece system=H1 reference=all mean .3f`. The measure
# is no yardstick here: it asks whether confidence matches the majority label, and people who repeat
# the crowd's doubts are not meant to. {doc}`calibration` takes this up.
#
# ## What the KL rests on
#
# The KL between H1 and H2 is infinite for
# {value}`tbl-error-divergence measure=kl system=H2 infinite_share .0%` of the draws. It is so whenever one item
# of H1 falls into a bin where H2 has none, and in the sparse right tail that is a matter of luck. A mean
# over the other draws is a mean over the lucky ones, and the published values, of single draws, share
# this. With one half added to every bin, the KL is {value}`tbl-error-divergence measure=kl_smoothed system=H2 mean .4f` over all draws,
# against {value}`tbl-error-divergence measure=kl_smoothed origin=released temperature=1 mean .3f` for
# RoBERTa-base; TVD needs no remedy.
#
# Bins have another trap. A sample's errors against a hundred votes are whole hundredths, and some fall
# exactly on an edge, where rounding in the last digit decides the bin. The unsmoothed KL leaves them
# where floating point does, so that it can be compared with the published one; the smoothed KL and TVD
# round the errors first.
#
# ## The paper's own draw
#
# The notebook that {cite:t}`baan2022` released fixes the seed of its one generator, so its H1 and H2 can
# be drawn again: items in the order of the released predictions, the test half of the development set
# first; each item's votes laid out by label, shuffled, and cut into twenties.
#
# All {value}`tbl-released-draw count:published d` values that the notebook prints come out so, among them
# H1's DistCE of {value}`tbl-released-draw measure=dist_ce system=H1 reference=all value .4f`, to every printed
# digit. The values in the paper's *text* come from another draw, whose seed was not kept.

# %%
released = error_distributions.released_draw(material)
publish_table(
    "tbl-released-draw",
    released,
    columns=error_distributions.RELEASED_COLUMNS,
    caption="""The draw of the released notebook is reproduced. *All* votes contain the two samples; the
    sixty *in neither* do not, and also decide the label of ECE. KL compares histograms of item errors,
    30 bins on [0, 1], in nats, unsmoothed. Δ is bold where it exceeds rounding.""",
)

# %% [markdown]
# ## Limitations
#
# Each model is a single seed, judged on
# {value}`fig-error-distributions system=H1 sum:n ,d` SNLI items, chosen because their first five
# votes were split. H1, H2 and their judges come from the same hundred people and the same collection:
# another crowd, asked at another time, may differ more.
#
# The comparison depends on the size of the samples. Fewer people are further from the crowd, and
# {doc}`results` gives the number of people that each model is worth.

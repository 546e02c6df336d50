# %% [markdown]
# # The appendices of Baan et al., number by number
#
# Of the {value}`tbl-published-counts paper=baan2022 sum:ours d` numbers of {cite:t}`baan2022` that can be checked,
# {value}`tbl-published-counts paper=baan2022 sum:same d` come out to the digits printed, among them all of Table 1
# and all that the released notebook prints ({doc}`published`). The
# {value}`tbl-published-counts paper=baan2022 sum:differ d` others, a class-wise error and a signed entropy error at a
# {term}`temperature` of 2, are in the appendices. This page shows what these numbers rest on, and adds
# what {doc}`calibration` leaves out: intervals, and the parts of the Brier score.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
dataset: str = "snli"  # which dataset
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
resamples: int = 2000  # bootstrap resamples of the items, for the 95% intervals
seed: int = 0  # of the bootstrap

# %%
from IPython.display import Markdown

from chaos_utils.analyses import calibration
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

in_table_1 = gather(data, predictions, datasets=calibration.table_1_datasets(data, dataset))
inputs = in_table_1.named(dataset)

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %% [markdown]
# ## Class-wise errors: Appendix D
#
# ECE looks at the predicted label alone; the {term}`class-wise <class-wise ECE>` error does the same for
# every label and averages. Many vote shares are exactly 0; the bins $(a, b]$ leave these out, and it matters
# whether the average divides by all items or by those in a bin, as the released code does.
#
# One of the three published class-wise errors does not come out. For RoBERTa-base at a temperature of
# 2 the paper gives
# {value}`tbl-classwise-ece family=RoBERTa-base temperature=2 max:published_classwise_ece_binned .0%`; its seeds have
# {value}`tbl-classwise-ece family=RoBERTa-base temperature=2 min:classwise_ece_binned .1%` to
# {value}`tbl-classwise-ece family=RoBERTa-base temperature=2 max:classwise_ece_binned .1%`.
#
# The oracle's {value}`tbl-classwise-ece system=oracle n_without_bin ,d` shares of 0 move its error from
# {value}`tbl-classwise-ece system=oracle classwise_ece_all .1%` over all items to
# {value}`tbl-classwise-ece system=oracle classwise_ece_binned .1%` over binned ones.

# %%
publish_table(
    "tbl-classwise-ece",
    calibration.classwise_errors(inputs),
    columns=calibration.CLASSWISE_COLUMNS,
    caption="""The denominator decides the oracle's class-wise ECE. In percent, against the majority
    label, with ten bins $(a, b]$ for each label. Appendix D of {cite:t}`baan2022` gives one value for
    each system, over binned items; Δ is bold where it exceeds rounding.""",
)

# %% [markdown]
# ## Signed entropy errors: Appendix B
#
# {term}`EntCE` ignores the sign of an error. With it, a value below 0 says that a model is surer than
# people are.
#
# RoBERTa-base is surer than people before scaling, where the first seed has the paper's
# {value}`tbl-signed-entropy-error dataset=snli family=RoBERTa-base temperature=1 max:published_mean .2f` nats on SNLI,
# and less sure after it. At T = 2 the seeds lie between
# {value}`tbl-signed-entropy-error dataset=snli family=RoBERTa-base temperature=2 min:mean .2f` and
# {value}`tbl-signed-entropy-error dataset=snli family=RoBERTa-base temperature=2 max:mean .2f`, and none gives the
# value that the paper prints.

# %%
publish_table(
    "tbl-signed-entropy-error",
    calibration.signed_entropy_errors(in_table_1),
    columns=calibration.SIGNED_COLUMNS,
    caption="""By entropy, a temperature of 2 makes RoBERTa-base less sure than people. Signed entropy
    error, H(model) − H(human) in nats, over items, for every seed. Appendix B of {cite:t}`baan2022` gives one
    value for mean and median together; Δ is bold where it exceeds rounding.""",
)

# %% [markdown]
# ## The paper's own draw
#
# The notebook that {cite:t}`baan2022` released fixes the seed of its one generator, so its H1 and H2 can
# be drawn again: items in the order of the released predictions, the test half of the development set
# first; each item's votes laid out by label, shuffled, and cut into twenties.
#
# So every value that the notebook prints comes out. The values in the paper's *text* come from another draw,
# whose seed was not kept.
#
# ### What the KL rests on
#
# In our own draws ({numref}`tbl-error-divergence`) the KL between H1 and H2 is infinite for
# {value}`tbl-error-divergence measure=kl system=H2 reference=all infinite_share .0%`: whenever one item of H1 falls into a
# bin where H2 has none, a matter of luck in the sparse right tail. A mean over the other draws is one over
# the lucky ones, and the published values, of single draws, share this. With one half added to every bin,
# the KL is {value}`tbl-error-divergence measure=kl_smoothed system=H2 reference=all mean .4f` over all draws, against
# {value}`tbl-error-divergence measure=kl_smoothed origin=released temperature=1 reference=all mean .3f` for RoBERTa-base.
#
# By DistCE, the published draw makes people look slightly worse than most draws do: the notebook prints
# {value}`tbl-published-beside-ours paper=baan2022 "table=Table 2, released notebook" row=h2 column=dist_ce published .3f`
# for H2, and 95% of our draws lie between
# {value}`tbl-error-divergence measure=dist_ce system=H2 reference=all low .3f` and
# {value}`tbl-error-divergence measure=dist_ce system=H2 reference=all high .3f`.
#
# A sample's errors against a hundred votes are whole hundredths, and some fall exactly on a bin's edge. The
# unsmoothed KL leaves them where floating point does, as the published one did; the smoothed KL and the
# {term}`TVD` of histograms round the errors first.
#
# ## With intervals
#
# ECE as printed is biased upward: on a finite sample the gaps of the bins are never all 0, and resampling
# moves it further up. In our simulations, nominal 95% intervals of a calibrated model's ECE covered the
# truth about half of the time, so it has no interval here. The *squared* error can be debiased: the
# sampling variance of each bin is subtracted, and the result may be negative for a calibrated system.
#
# At a temperature of 2 the interval of RoBERTa-base on SNLI, against the majority label, holds the 0 of a
# calibrated model. Against the votes it does not: there it begins at
# {value}`tbl-calibration-intervals dataset=snli family=RoBERTa-base temperature=2 measure=sq_ce_votes low .4f`.

# %%
families = calibration.family_scores(in_table_1, n_resamples=resamples, seed=seed)
publish_table(
    "tbl-calibration-intervals",
    families,
    columns=calibration.INTERVAL_COLUMNS,
    index=["dataset", "family", "origin", "temperature"],
    caption=f"""Calibration over seeds, with 95% intervals. Intervals of several seeds allow for
    other seeds and other items (t, with Satterthwaite's degrees of freedom), those of one for other
    items alone ({resamples:,} bootstrap resamples). *Squared* is the debiased squared error in the
    same bins as ECE.""",
)

# %% [markdown]
# ## The parts of the Brier score
#
# The bins say whether probabilities are right on average, not whether they differ where people do.
# {term}`Murphy's decomposition <Murphy decomposition>` separates the two: *reliability* is a squared
# calibration error over all labels, *resolution* what the predictions reveal about the votes.
#
# A temperature decides how far probabilities are from the votes; it hardly adds knowledge of the
# items. The resolution of RoBERTa-base on SNLI goes from
# {value}`tbl-murphy dataset=snli family=RoBERTa-base temperature=1 mean:resolution .3f` to
# {value}`tbl-murphy dataset=snli family=RoBERTa-base temperature=2 mean:resolution .3f` at T = 2; the oracle's
# {value}`tbl-murphy dataset=snli system=oracle resolution .3f` shows how much there is to know.

# %%
parts = calibration.murphy(in_table_1)
publish_table(
    "tbl-murphy",
    parts,
    columns=calibration.MURPHY_COLUMNS,
    shown=calibration.means_over_seeds(parts.rows, calibration.BRIER_PARTS),
    groups=["dataset", "kind"],
    caption="""A temperature improves reliability and leaves resolution almost as it was. The Brier score
    of the votes and its parts; means over the seeds of a model, ten bins for each label's
    probability; the best model on each dataset is bold. *Within bins* is below 0 where finer bins
    would resolve more.""",
)

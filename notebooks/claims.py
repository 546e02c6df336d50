# %% [markdown]
# # The reproduction, claim by claim
#
# *Do both papers hold?*
#
# **Both papers hold up. Of {value}`tbl-claims count:id d` claims,
# {value}`tbl-claims-summary "kind=does not hold in substance" sum:n d` fails in substance and
# {value}`tbl-claims-summary "kind=depends on the reading" sum:n d` depend on how they are read;
# {value}`tbl-claims-summary "kind=slip in print" sum:n d` further faults are slips in print.** The papers print
# {value}`tbl-published-counts sum:printed d` numbers as results. We can check {value}`tbl-published-counts sum:ours d` of them, and
# {value}`tbl-published-counts sum:same d` agree to the last digit. The numbers that we can check include
# {value}`tbl-published-beside-ours "table=Figures 4, 5" dataset=snli|mnli column=jsd|kl|old_accuracy|new_accuracy count:ours d` scores of
# nine models on SNLI and MNLI, from Figures 4 and 5 of {cite:t}`nie2020`; the predictions behind these scores had long been missing.
#
# Another {value}`tbl-claims-summary "kind=holds within noise" sum:n d` claims hold only within noise ([c25](#claim-c25), [c26](#claim-c26) and
# [c27](#claim-c27)). Please do not quote these counts as a score, because they give a single digit in an appendix as much weight as a paper's
# main point.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
dataset: str = "snli"  # which dataset the appendices on calibration are about
predictions: list[str] = []  # files with your own predictions, shown with the other systems
resamples: int = 10_000  # bootstrap resamples of the items, for claims' intervals and p-values
intervals: int = 2000  # bootstrap resamples of the items, for the intervals for calibration
shown_seed: int = 0  # which of the model's seeds the histograms show
n_seeds: int = 200  # draws of the two samples of twenty votes, at least 2
seed: int = 0  # seed of the bootstrap, and of the first draw of votes, which the histograms show

# %%
from IPython.display import Markdown

from chaos_utils.analyses import (
    annotations,
    calibration,
    claims,
    claims_tables,
    error_distributions,
    published_numbers,
    results,
)
from chaos_utils.analyses.claim_cards import ClaimCards
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.plots.error_distributions import plot_error_distributions
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data, predictions, trained=False)
with_trained = gather(data, predictions)  # what other chapters compute of our own models too

# %% tags=["remove-input"]
of_others = (
    "A verdict about votes or predictions says what these data show; it is not a verdict on "
    "the papers, which are about other data."
)
Markdown(f"{notices(inputs)}\n\n{'' if inputs.released else of_others}")

# %%
claim_inputs = inputs.named(*claims.claim_datasets())
tables = claims_tables.tables(claim_inputs, with_trained, n_resamples=resamples, seed=seed)
table = claims.check_claims(**tables)

verdicts = claims.count_verdicts(table)
n_failing = verdicts.rows.loc[verdicts.rows["kind"] == claims.SUBSTANCE, "claims"].sum()
publish_table(
    "tbl-claims-summary",
    verdicts,
    columns=claims.SUM_COLUMNS,
    shown=verdicts.rows[verdicts.rows.groupby("kind")["claims"].transform("sum") > 0],
    index=["kind"],
    caption=f"""Of {len(table)} claims, {n_failing} {"fails" if n_failing == 1 else "fail"} in substance. The table counts the claims of
    {{numref}}`tbl-claims` by verdict; two claims may concern the same slip in print. We decided which of the faults are slips in print.""",
)

# %% [markdown]
# ## What does not hold as written
#
# The first three points matter to anyone who builds on the papers. The remaining points are slips in print, which matter when you compare
# numbers.
#
# - **On αNLI, accuracy and distance from people are related.** The paper says that they are not visibly related. Over the nine models, however,
#   Spearman's ρ of accuracy and {term}`JSD` is {value}`tbl-claims id=c24 value .2f`: more accurate models tend to be nearer to people
#   ([c24](#claim-c24)). If distance is measured by KL, there is no such relation
#   ({value}`tbl-rank-correlations dataset=alphanli distance=kl value .2f`). On SNLI, JSD shows the same relation, though less clearly
#   ({value}`tbl-rank-correlations dataset=snli distance=jsd value .2f`). On MNLI, we see no relation, but nine models are too few to detect a
#   weak correlation.
# - **Whether {term}`DistCE` is a proper score depends on the reading.** Measured against the whole distribution of votes, as in the paper,
#   DistCE is smallest for the true distribution. Measured against single votes, as in a training loss, it is smaller for a model that names only
#   the majority label than for the true distribution ([c61](#claim-c61)).
# - **Whether models are near-perfect where people agree depends on the items.** On the fifth of the SNLI items that people agree on most, the
#   best of the nine models is nearly perfect. On the corresponding fifth of the pooled SNLI and MNLI items, as in the paper's figure, the best
#   model is right on {value}`tbl-claims id=c62 value .0%` of the items ([c62](#claim-c62)).
# - The text of {cite:t}`nie2020` says that 30% of the majorities change on MNLI, but its own Table 2 prints
#   {value}`tbl-claims id=c06 value .1f`%. The rate for αNLI is also rounded down ([c05](#claim-c05) and [c06](#claim-c06), one fault). The text
#   names BART as the model nearest to people on αNLI, but RoBERTa-large is nearer: its JSD minus BART's is {value}`tbl-claims id=c23 value .3f`
#   ([c23](#claim-c23)).
# - The printed JSD is computed with natural logarithms, so its largest possible value is {value}`tbl-claims id=c15 value .3f`, not 1
#   ([c15](#claim-c15)).
# - For each label, the printed tables count up to {value}`tbl-claims id=c14 value .0f` votes fewer than were released ([c14](#claim-c14)), so
#   some scores of the uniform guess differ in the fourth decimal place ([c16](#claim-c16), the same fault).
# - Two values that {cite:t}`baan2022` print for the scaled model in their appendices do not follow from the released predictions. We get a
#   class-wise ECE of {value}`tbl-published-beside-ours "table=appendix D" row=roberta-ts ours .1f`% rather than 5%, and an entropy that is
#   {value}`tbl-published-beside-ours "table=appendix B" row=roberta-ts ours .2f` nats too high rather than 0.12 ([c57](#claim-c57),
#   [c60](#claim-c60)).
#
# (reproduction-record)=
# ## The claims

# %% tags=["remove-input"]
ClaimCards("tbl-claims", table.rows, resamples)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All claims, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-claims",
    table,
    columns=claims.columns_for(resamples),
    caption=f"""Each claim is shown with its verdict and the number on which the verdict is based. Brackets contain 95% intervals over items
    ({resamples:,} bootstrap resamples) or, for c24 and c25, over models. Holm’s correction of the p-values covers every claim that one value is
    larger than another, provided that sampling error can be estimated. The downloadable data also include the rules and the evidence.""",
)

# %% [markdown]
# ## How a verdict comes about
#
# Each card gives its rule. Published values have no interval; where we have no other values, the verdict is based on them alone.
#
# - A claim that a quantity *has* a certain value **holds** if our number agrees to the printed digits, and otherwise **does not hold**. Such a
#   claim is about these items and these votes, so sampling error cannot excuse a difference.
# - A claim that one value is *larger* than another holds if a bootstrap over items shows this at the 5% level, after Holm's correction for all
#   such claims together. If the test is inconclusive, the claim **holds within noise**.
# - A claim about *all* of several cases is refuted by a single exception. A claim that there is *no* correlation can fail, but nine models
#   cannot show that there is none.
# - A claim that fails as we read it, but holds under another possible reading, **depends on the reading**.
#
# Some candidates turned out not to be claims and were left out, so the numbering has gaps.
#
# ## A score that prefers the majority
#
# A score is *proper* if nobody can improve their expected score by stating something other than what they believe. Total variation against
# single votes is not proper: its expected value is $1 - \sum_k h_k m_k$, which is smallest when $m$ puts everything on the most frequent label.
# On SNLI, predicting only the majority label instead of the vote shares changes the expected score by {value}`tbl-claims id=c61 value +.3f` (95%
# interval {value}`tbl-claims id=c61 low .3f` to {value}`tbl-claims id=c61 high .3f`); a lower score is better. A model that is trained on single
# votes with this score is therefore rewarded for ignoring disagreement.
#
# ## Every published number beside ours
#
# A number that cannot be checked with the released files does not count as a failed reproduction. Most of the numbers that differ do so because
# the released votes are not quite those of the printed tables ([c14](#claim-c14)).

# %%
numbers = tables["published_numbers.published_beside_ours"]
publish_table(
    "tbl-published-counts",
    published_numbers.count_numbers(numbers),
    columns=published_numbers.COUNT_COLUMNS,
    caption="""Where a published number can be checked, it nearly always agrees with ours. Each row stands for one place in the papers. Two numbers agree if
    they are the same to the printed digits. Training settings (Table 8 of Nie et al.) are not results, so we leave them out.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Every number, one by one, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-published-beside-ours",
    numbers,
    columns=published_numbers.COLUMNS,
    shown=numbers.rows[numbers.rows["ours"].notna()],
    caption="""Every published number that can be checked is shown beside ours. Δ is our number minus the paper's; it is shown in bold where it
    exceeds the rounding error, and as 0 where we get the printed digits. The downloadable data also include the numbers that cannot be checked.
    Where Baan et al. do not name a seed, our number is for the first seed.""",
)

# %% [markdown]
# ## What the verdicts rest on
#
# Every SNLI and MNLI label has {value}`tbl-label-counts statistic=new_raw_count min:difference .0f` to
# {value}`tbl-label-counts statistic=new_raw_count max:difference .0f` more votes in the released files than in the paper. The totals in the
# paper are not multiples of a hundred. The numbers of old labels, old votes and new majorities ({doc}`annotations`) agree exactly.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Labels before and after, as a table", "code_prompt_hide": "Fold the table"}
counts = annotations.label_counts(inputs)
publish_table(
    "tbl-label-counts",
    counts,
    columns=annotations.label_columns(counts.rows),
    index=["dataset", "label"],
    caption="""The released majority labels are those of the paper, but slightly more votes were released than the
    paper counts. The columns headed *paper* show Table 7 of {cite:t}`nie2020`, which leaves out αNLI. Parentheses contain the change from the
    old majority.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Base and large models, as a table", "code_prompt_hide": "Fold the table"}
sizes = tables["results.size_effects"]
publish_table(
    "tbl-model-sizes",
    sizes,
    columns=results.SIZE_COLUMNS,
    index=["dataset", "family"],
    caption=f"""Large models are more accurate, but, measured by KL, they are farther from people on MNLI and, in most families, on αNLI. The
    table shows the change from the base to the large model in each model family of {{cite:t}}`nie2020`, on the same items, with 95% intervals
    over items ({claims_tables.COMPARISONS:,} resamples). Lower distances and higher accuracies are better.""",
) if len(sizes) else Markdown("*The models of two sizes are not among the systems here: left out.*")

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Accuracy and distance of the nine models, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-rank-correlations",
    tables["results.rank_correlations"],
    columns=results.RANK_COLUMNS,
    caption="""Whether accuracy shows which model is nearer to people depends on the dataset and on the measure of distance. The table shows
    Spearman's rank correlation of new accuracy and distance over nine published models, with 95% intervals over models. The correlation is −1 if
    the more accurate of two models is always nearer to people, and 1 if it is always farther away.""",
)

# %% [markdown]
# ## The appendices of Baan et al., number by number
#
# Of the {value}`tbl-published-counts paper=baan2022 sum:ours d` numbers of {cite:t}`baan2022` that can be checked,
# {value}`tbl-published-counts paper=baan2022 sum:same d` agree to the printed digits, including all of Table 1 and everything that the
# released notebook prints. The other two are in the appendices, at a {term}`temperature` of 2.

# %%
names = calibration.table_1_datasets(data, get_dataset(dataset).name)
in_table_1 = with_trained.named(*names)  # other data may lack them
of_dataset = in_table_1.named(names[0])

# %% [markdown]
# ### Class-wise errors: Appendix D
#
# The {term}`class-wise <class-wise ECE>` error is averaged over all labels. For RoBERTa-base at a temperature of 2, the paper gives
# {value}`tbl-classwise-ece family=RoBERTa-base temperature=2 max:published_classwise_ece_binned .0%`; we find
# {value}`tbl-classwise-ece family=RoBERTa-base temperature=2 min:classwise_ece_binned .1%` to
# {value}`tbl-classwise-ece family=RoBERTa-base temperature=2 max:classwise_ece_binned .1%`, depending on the seed. The oracle's error is
# {value}`tbl-classwise-ece system=oracle classwise_ece_all .1%` if it is divided by the number of all items, but
# {value}`tbl-classwise-ece system=oracle classwise_ece_binned .1%` if it is divided by the number of items that fall into a bin, as in the
# released code.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Class-wise errors, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-classwise-ece",
    calibration.classwise_errors(of_dataset),
    columns=calibration.CLASSWISE_COLUMNS,
    caption="""The oracle's class-wise ECE depends on the denominator. Values are percentages, computed against the majority label with ten bins
    $(a, b]$ for each label. Many vote shares are exactly 0 and fall into none of these bins. Appendix D of {cite:t}`baan2022` gives one value
    for each system, computed over the binned items. Δ is shown in bold where it exceeds the rounding error.""",
)

# %% [markdown]
# ### Signed entropy errors: Appendix B
#
# {term}`EntCE` ignores the sign of an error. If the sign is kept, a value below 0 means that a model is more certain than people are. This is
# true of RoBERTa-base before scaling: its first seed has the paper's value of
# {value}`tbl-signed-entropy-error dataset=snli family=RoBERTa-base temperature=1 max:published_mean .2f` nats on SNLI. At a temperature of 2,
# the values of the seeds lie between {value}`tbl-signed-entropy-error dataset=snli family=RoBERTa-base temperature=2 min:mean .2f` and
# {value}`tbl-signed-entropy-error dataset=snli family=RoBERTa-base temperature=2 max:mean .2f` nats, and none of them is the value that the
# paper prints.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Signed entropy errors, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-signed-entropy-error",
    calibration.signed_entropy_errors(in_table_1),
    columns=calibration.SIGNED_COLUMNS,
    caption="""At a temperature of 2, RoBERTa-base is less certain than people, as measured by entropy. The table shows the signed entropy error,
    H(model) − H(human), in nats, averaged over items, for every seed. Appendix B of {cite:t}`baan2022` gives one value for mean and median
    together. Δ is shown in bold where it exceeds the rounding error.""",
)

# %% [markdown]
# ### The paper's own draw
#
# The paper compares models with two samples of twenty people, H1 and H2. The notebook that {cite:t}`baan2022` released fixes the seed of its
# only random number generator, so we can repeat its draw and reproduce every value that it prints. The values in the *text* of the paper come
# from another draw, whose seed was not kept. {doc}`calibration` compares many draws of our own.

# %% tags=["remove-input"]
Markdown(of_dataset.missing_note(error_distributions.MANY_VOTES))

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Twenty people compared with systems, as a figure", "code_prompt_hide": "Fold the figure"}
histograms = error_distributions.error_histograms(of_dataset, shown_seed=shown_seed, seed=seed)
publish_figure(
    "fig-error-distributions",
    plot_error_distributions,
    histograms.where(histograms.rows["origin"] != "trained"),
    caption=f"""Twenty people are close to the crowd on nearly every item, but models are not. The histograms show the distance from all votes,
    item by item, for two disjoint samples of 20 votes (H1 and H2, drawn once) and for the systems (seed {shown_seed} where a system has
    several). Each histogram has thirty bins. Dashed lines are means, and the thin outline repeats H1. The figure corresponds to Figure 2 of
    {{cite:t}}`baan2022`.""",
    alt="""Histograms one above the other, on the same axis from 0 to 1. The two human samples look alike: nearly all their items lie below 0.2.
    The models' errors spread from 0 to almost 1; at a temperature of 2 RoBERTa's largest errors shrink, but its histogram still looks nothing
    like those of the samples.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Twenty people compared with systems, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-error-divergence",
    error_distributions.error_divergence(
        of_dataset, shown_seed=shown_seed, n_seeds=n_seeds, seed=seed
    ),
    columns=error_distributions.COLUMNS,
    index=error_distributions.SYSTEM_KEYS,
    caption=f"""Measured by DistCE, models are farther from the crowd than twenty people are, whichever votes they are judged against; measured
    by ECE, a model does better than people. {{term}}`TVD` compares a system's histogram of errors, in 30 bins, with H1's. Values are means over
    {n_seeds:,} draws. Where a value depends on the draw, brackets give the range of the middle 95% of the draws.""",
)

# %% [markdown]
# ### What the KL rests on
#
# In {value}`tbl-error-divergence measure=kl system=H2 reference=all infinite_share .0%` of our own draws, the KL between the histograms of H1
# and H2 is infinite, because H1 has an item in a bin that is empty for H2 ({numref}`tbl-error-divergence`). A mean over the remaining draws
# leaves out exactly these cases, and the published values, each from a single draw, happen to be finite. If one half is added to the count in
# every bin, the mean KL over all draws is {value}`tbl-error-divergence measure=kl_smoothed system=H2 reference=all mean .4f`, compared with
# {value}`tbl-error-divergence measure=kl_smoothed origin=released temperature=1 reference=all mean .3f` for RoBERTa-base.
#
# ### With intervals
#
# The printed ECE is biased upward, and we give no interval for it: in our simulations, a nominal 95% interval contained the truth only about
# half of the time. The *squared* error can be debiased, and may then be negative. For RoBERTa-base on SNLI at a temperature of 2, the interval
# of this error against the majority label contains 0, the value of a calibrated model. For the error against the votes, the interval begins at
# {value}`tbl-calibration-intervals dataset=snli family=RoBERTa-base temperature=2 measure=sq_ce_votes low .4f`.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Calibration with intervals, as a table", "code_prompt_hide": "Fold the table"}
families = calibration.family_scores(in_table_1, n_resamples=intervals, seed=seed)
publish_table(
    "tbl-calibration-intervals",
    families,
    columns=calibration.INTERVAL_COLUMNS,
    index=["dataset", "family", "origin", "temperature"],
    caption=f"""Calibration errors are averaged over seeds and shown with 95% intervals. For models with several seeds, the intervals account for
    the choice of seeds and of items (t intervals, with Satterthwaite's degrees of freedom). For a single seed, they account only for the choice
    of items ({intervals:,} bootstrap resamples). *Squared* is the debiased squared error in the same bins as ECE.""",
)

# %% [markdown]
# ### The parts of the Brier score
#
# In {term}`Murphy's decomposition <Murphy decomposition>` of the Brier score, *resolution* is what the predictions reveal about the votes.
# Temperature scaling hardly changes it: for RoBERTa-base on SNLI, resolution is
# {value}`tbl-murphy dataset=snli family=RoBERTa-base temperature=1 mean:resolution .3f` without scaling and
# {value}`tbl-murphy dataset=snli family=RoBERTa-base temperature=2 mean:resolution .3f` at a temperature of 2. The oracle's resolution of
# {value}`tbl-murphy dataset=snli system=oracle resolution .3f` shows how much there is to know.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "The parts of the Brier score, as a table", "code_prompt_hide": "Fold the table"}
parts = calibration.murphy(in_table_1)
publish_table(
    "tbl-murphy",
    parts,
    columns=calibration.MURPHY_COLUMNS,
    shown=calibration.means_over_seeds(parts.rows, calibration.BRIER_PARTS),
    groups=["dataset", "kind"],
    caption="""Temperature scaling improves reliability and leaves resolution almost unchanged. The table shows the Brier score of the votes and
    its parts, averaged over the seeds of a model, with ten bins for each label's probability. The best model on each dataset is shown in bold.
    *Within bins* is below 0 where finer bins would show a higher resolution.""",
)
# %% [markdown]
# ## Limitations
#
# We check the claims of {cite:t}`nie2020` on its nine models ({doc}`results`), and those of {cite:t}`baan2022` about models on the predictions
# released with that paper, from RoBERTa and BERT trained on SNLI. Models that we trained ({doc}`finetuning`) and later models affect only one
# claim ([c35](#claim-c35)). We decided which sentences count as claims and how to read vague words. The intervals show how a value could vary
# with other items of the same kind, and these items were chosen because the original five annotators disagreed on them.

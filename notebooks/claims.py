# %% [markdown]
# # The reproduction, claim by claim
#
# *Do both papers hold?*
#
# **Both papers hold up: only {value}`tbl-claims-summary "kind=does not hold in substance" sum:n d` of the claims that
# we checked fails in substance.** We checked {value}`tbl-claims count:id d` claims. Of these,
# {value}`tbl-claims-summary "kind=depends on the reading" sum:n d` hold under one reading but not under another, and
# {value}`tbl-claims-summary "kind=holds within noise" sum:n d` rest on differences that may be due to chance. Of the
# {value}`tbl-published-counts sum:ours d` printed numbers that can be checked, {value}`tbl-published-counts sum:same d`
# agree with ours to the last printed digit.
#
# The checked numbers include
# {value}`tbl-published-beside-ours "table=Figures 4, 5" dataset=snli|mnli column=jsd|kl|old_accuracy|new_accuracy count:ours d` scores from
# Figures 4 and 5 of {cite:t}`nie2020`, for nine models on SNLI and MNLI. The predictions behind these scores had long been missing. Please
# do not quote our counts as a score, because they give a single digit in an appendix as much weight as a paper's main point.

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
names = calibration.table_1_datasets(data, get_dataset(dataset).name)
in_table_1 = with_trained.named(*names)  # other data may lack them
of_dataset = in_table_1.named(names[0])

# %% tags=["remove-input"]
of_others = "The verdicts are about these data. They do not apply to the papers, which are about other data."
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
    caption=f"""Of {len(table)} claims, {n_failing} {"fails" if n_failing == 1 else "fail"} in substance. The table shows the number of
    claims in {{numref}}`tbl-claims` by verdict. A single error in a paper can make two claims fail. We class errors that we consider minor,
    such as misprints, as *slips in print*.""",
)

# %% [markdown]
# ## What does not hold as written
#
# (a-score-that-prefers-the-majority)=
# The first three points below matter to anyone who builds on the papers. The other points list
# {value}`tbl-claims-summary "kind=slip in print" sum:n d` minor errors in print.
#
# - **On αNLI, accuracy and distance from people are related.** {cite:t}`nie2020` report no visible relation between a model's accuracy and
#   its distance from people. Over their nine models, however, Spearman's ρ between accuracy and {term}`JSD` is
#   {value}`tbl-claims id=c24 value .2f`, so more accurate models tend to be nearer to people ([c24](#claim-c24)). Accuracy and KL show no
#   such relation on αNLI (ρ = {value}`tbl-rank-correlations dataset=alphanli distance=kl value .2f`). On SNLI, the correlation between
#   accuracy and JSD (ρ = {value}`tbl-rank-correlations dataset=snli distance=jsd value .2f`) is weaker than on αNLI and, after Holm's
#   correction, not significant. On MNLI, more accurate models even tend to have a higher KL (ρ =
#   {value}`tbl-rank-correlations dataset=mnli distance=kl value .2f`), but that, too, is not significant: nine models are too few for all
#   but strong correlations to be detected.
# - **Whether {term}`DistCE` is a proper score depends on what serves as the reference.** Computed against the whole distribution of votes,
#   as in {cite:t}`baan2022`, DistCE is smallest for the true distribution. Computed against single votes, as in a training loss, DistCE is
#   smaller for a model that names only the majority label than for a model that predicts the true distribution ([c61](#claim-c61)).
# - **Whether models are near-perfect where people agree depends on the items.** On the 20% of the SNLI items on which people agree most,
#   the best of the nine models is nearly perfect. If SNLI and MNLI are pooled, as in Figure 4 of {cite:t}`nie2020`, the best model is right
#   on only {value}`tbl-claims id=c62 value .0%` of the corresponding items ([c62](#claim-c62)).
# - Section 3 of {cite:t}`nie2020` says that the on-boarding test screens out more than half of the annotators
#   ([c64](#claim-c64)) and that an item takes 10 to 20 seconds ([c65](#claim-c65)), but Table 1 gives at most
#   {value}`tbl-published-beside-ours "table=Table 1" column=qualification_fail_rate_percent max:published .0f`% and, on MNLI, a mean of
#   {value}`tbl-published-beside-ours "table=Table 1" dataset=mnli column=mean_seconds_per_example published .0f` seconds.
# - Section 4 of {cite:t}`nie2020` says that 30% of the majority labels change on MNLI, but Table 2 of the same paper gives
#   {value}`tbl-claims id=c06 value .1f`%. Section 4 also rounds the rate of changes on αNLI down ([c05](#claim-c05) and [c06](#claim-c06),
#   counted as one error).
# - Section 5.3 of {cite:t}`nie2020` names BART as the model nearest to people on αNLI, but RoBERTa-large is nearer ([c23](#claim-c23)).
# - The JSD that {cite:t}`nie2020` print is computed with natural logarithms, so its largest possible value is
#   {value}`tbl-claims id=c15 value .3f`, not 1 ([c15](#claim-c15)).
# - The printed counts for a label are up to {value}`tbl-claims id=c14 value .0f` votes lower than the counts in the released files
#   ([c14](#claim-c14)). Some printed scores of the uniform guess therefore differ from ours in the fourth decimal place ([c16](#claim-c16),
#   counted as the same error).
# - In their appendices, {cite:t}`baan2022` print two values for RoBERTa-base at a {term}`temperature` of 2 that do not follow from the
#   released predictions. For the first seed, we get a class-wise ECE of
#   {value}`tbl-published-beside-ours "table=appendix D" row=roberta-ts ours .1f`% rather than 5% ([c57](#claim-c57)), and an entropy that
#   is too high by {value}`tbl-published-beside-ours "table=appendix B" row=roberta-ts ours .2f` nats rather than by 0.12 nats
#   ([c60](#claim-c60)).
#
# (reproduction-record)=
# ## The claims

# %% tags=["remove-input"]
ClaimCards("tbl-claims", table.rows, resamples)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All claims, as a table", "code_prompt_hide": "Fold the table"}
n_holding = (table.rows["verdict"] == claims.HOLDS).sum()
publish_table(
    "tbl-claims",
    table,
    columns=claims.columns_for(resamples),
    caption=f"""Of {len(table)} claims, {n_holding} hold as written. Each claim is shown with its verdict and the number on which the verdict
    is based. Brackets contain 95% intervals over items ({resamples:,} bootstrap resamples) or, for c24 and c25, over models. Holm’s
    correction is applied to the p-values of all claims that one value is larger than another, where the sampling error can be estimated. The
    numbering has gaps, because some candidates turned out not to be claims. The downloadable data also include the rules and the evidence.""",
)

# %% [markdown]
# ## How a verdict comes about
#
# Each card states the rule for its claim. Published values have no intervals. Where we have no other values, the verdict is based on the
# published values alone.
#
# - A claim that a quantity *has* a certain value **holds** if our number agrees with the paper's to the printed digits, and otherwise
#   **does not hold**. Such a claim is about exactly these items and votes, so sampling error cannot explain a difference.
# - A claim that one value is *larger* than another holds if the difference is significant at the 5% level in a bootstrap over items, after
#   Holm's correction for all such claims. If the test is inconclusive, the claim **holds within noise**.
# - A claim that something holds in *all* cases is refuted by a single exception. A claim that there is *no* correlation can be refuted, but not
#   confirmed, with only nine models.
# - A claim that fails as we read it, but holds under another possible reading, **depends on the reading**.
# - A claim that does not hold is a **slip in print** if we consider the error minor, and otherwise **does not hold in substance**.
#
# ## Every published number beside ours
#
# A number that cannot be checked with the released files does not count as a failed reproduction. Most differences from the printed numbers
# arise because the released votes are not exactly those behind the printed tables ([c14](#claim-c14)).

# %%
numbers = tables["published_numbers.published_beside_ours"]
publish_table(
    "tbl-published-counts",
    published_numbers.count_numbers(numbers),
    columns=published_numbers.COUNT_COLUMNS,
    caption="""Where a published number can be checked, it nearly always agrees with ours. Each row covers one table, figure or passage of a
    paper. A published number agrees with ours if our number, rounded to the printed digits, is the same. We leave out the training settings
    (Table 8 of Nie et al.), which are not results.""",
)

# %% [markdown]
# ```{sortable} tbl-published-beside-ours
# ```

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Every number, one by one, as a table", "code_prompt_hide": "Fold the table"}
checked = numbers.rows[numbers.rows["ours"].notna()]
headline = "None of the published numbers can be checked on these data."
if len(checked):
    n_agreeing = int(checked["agrees"].sum())
    headline = f"Of the {len(checked)} published numbers that can be checked, {n_agreeing} agree with ours in all printed digits."
publish_table(
    "tbl-published-beside-ours",
    numbers,
    columns=published_numbers.COLUMNS,
    shown=checked,
    caption=f"""{headline} Δ is our number minus the paper's. Δ is shown in bold where it exceeds the rounding error, and is shown as 0
    where the two agree in all printed digits. The downloadable data also include the numbers that cannot be checked. Where Baan et al. do
    not name a seed, our number is for the first seed.""",
)

# %% [markdown]
# ## What the verdicts rest on
#
# The next three tables show the numbers behind [c14](#claim-c14) and [c24](#claim-c24) to [c27](#claim-c27).

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Labels before and after, as a table", "code_prompt_hide": "Fold the table"}
counts = annotations.label_counts(inputs)
publish_table(
    "tbl-label-counts",
    counts,
    columns=annotations.label_columns(counts.rows),
    groups=["dataset"],
    index=["dataset", "label"],
    caption="""The released majority labels match the paper, but slightly more votes were released than the paper reports. The columns
    headed *paper* show the values from Table 7 of {cite:t}`nie2020`, which leaves out αNLI. The totals of new votes in Table 7 are not
    multiples of a hundred. Numbers in parentheses are changes from the counts of the old majority labels.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Base and large models, as a table", "code_prompt_hide": "Fold the table"}
sizes = tables["results.size_effects"]
publish_table(
    "tbl-model-sizes",
    sizes,
    columns=results.SIZE_COLUMNS,
    groups=["dataset"],
    index=["dataset", "family"],
    caption=f"""Large models are more accurate than base models (for BERT, clearly so only on αNLI), but on MNLI and, for XLNet and RoBERTa, on
    αNLI, they are farther from people by KL. The table shows the change from the base to the large model in each model family of
    {{cite:t}}`nie2020`, on the same items, with 95% intervals over items ({claims_tables.COMPARISONS:,} resamples). Lower distances and higher
    accuracies are better.""",
) if len(sizes) else Markdown("*No model family is available in two sizes.*")

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Accuracy and distance of the nine models, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-rank-correlations",
    tables["results.rank_correlations"],
    columns=results.RANK_COLUMNS,
    caption="""Whether accuracy shows which model is nearer to people depends on the dataset and on the measure of distance. The table shows
    Spearman's rank correlation between new accuracy and distance over the nine published models, with 95% intervals over models. The
    correlation is −1 if the more accurate of any two models is always nearer to people, and 1 if it is always farther from people.""",
)

# %% [markdown]
# ## The appendices of Baan et al., number by number
#
# Of the {value}`tbl-published-counts paper=baan2022 sum:ours d` numbers of {cite:t}`baan2022` that can be checked,
# {value}`tbl-published-counts paper=baan2022 sum:same d` agree with ours to the printed digits, including all values in
# Table 1 and everything that the released notebook prints.
#
# (the-paper-s-own-draw)=
# {cite:t}`baan2022` compare models with two random samples, H1 and H2, of twenty people each. The released notebook fixes the seed of its
# only random number generator, so we can repeat the notebook's draw and reproduce every value that the notebook prints. The values in the
# *text* of the paper come from another draw, whose seed was not kept.
#
# (what-the-kl-rests-on)=
# In {value}`tbl-error-divergence measure=kl system=H2 reference=all infinite_share .0%` of our own draws, the KL between the error
# histograms of H1 and H2 is infinite, because H1 has an item in a bin in which H2 has none. If one half is added to the count in every
# bin, the mean KL over all draws is
# {value}`tbl-error-divergence measure=kl_smoothed system=H2 reference=all mean .4f` between H1 and H2, compared with
# {value}`tbl-error-divergence measure=kl_smoothed origin=released temperature=1 reference=all mean .3f` between H1 and RoBERTa-base.
#
# (class-wise-errors-appendix-d)=
# (signed-entropy-errors-appendix-b)=
# (the-parts-of-the-brier-score)=
# (with-intervals)=
# We give no interval for ECE, which is biased upward: in our simulations, a nominal 95% interval contained the true value only about half
# of the time. The squared calibration error can be debiased, and may then be negative. For RoBERTa-base on SNLI at a temperature of 2, the
# interval for the squared error against the majority label contains 0, the value of a perfectly calibrated model. The interval for the
# squared error against the votes has a lower limit of
# {value}`tbl-calibration-intervals dataset=snli family=RoBERTa-base temperature=2 measure=sq_ce_votes low .4f`.

# %% tags=["remove-input"]
Markdown(of_dataset.missing_note(error_distributions.MANY_VOTES))

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Class-wise errors (Appendix D), as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-classwise-ece",
    calibration.classwise_errors(of_dataset),
    columns=calibration.CLASSWISE_COLUMNS,
    caption="""The oracle's {term}`class-wise ECE` depends on the denominator. Values are percentages, computed against the majority label
    with ten bins $(a, b]$ for each label. Many vote shares are exactly 0 and fall into none of the bins. Appendix D of {cite:t}`baan2022`
    gives one value for each system, computed over the binned items. Δ is shown in bold where it exceeds the rounding error.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Signed entropy errors (Appendix B), as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-signed-entropy-error",
    calibration.signed_entropy_errors(in_table_1),
    columns=calibration.SIGNED_COLUMNS,
    groups=["dataset"],
    caption="""At a temperature of 2, RoBERTa-base is less certain than people, as measured by entropy. The table shows the signed entropy
    error, H(model) − H(human), in nats, averaged over items, for each seed. Appendix B of {cite:t}`baan2022` gives a single value for both
    the mean and the median. Δ is shown in bold where it exceeds the rounding error.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Twenty people compared with systems, as a figure", "code_prompt_hide": "Fold the figure"}
histograms = error_distributions.error_histograms(of_dataset, shown_seed=shown_seed, seed=seed)
publish_figure(
    "fig-error-distributions",
    plot_error_distributions,
    histograms.where(histograms.rows["origin"] != "trained"),
    caption=f"""Twenty people are close to the whole crowd on nearly every item, but models are not. Each histogram, in thirty bins, shows
    how the DistCE between a prediction and all votes is distributed over items. The predictions come from the systems and from two disjoint
    samples of 20 votes each (H1 and H2, drawn once). Where a system has several seeds, seed {shown_seed} is shown. Dashed lines are means,
    and the thin outline repeats H1. The figure corresponds to Figure 2 of {{cite:t}}`baan2022`.""",
    alt="""Histograms of errors are stacked on a common axis from 0 to 1. The two human samples look alike: for both, nearly all errors lie
    below 0.2. The models' errors spread from 0 to almost 1. At a temperature of 2, RoBERTa's largest errors shrink, but its histogram still
    looks nothing like those of the samples.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Twenty people compared with systems, as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-error-divergence",
    error_distributions.error_divergence(
        of_dataset, shown_seed=shown_seed, n_seeds=n_seeds, seed=seed
    ),
    columns=error_distributions.COLUMNS,
    index=error_distributions.SYSTEM_KEYS,
    caption=f"""By DistCE, models are farther from the crowd than twenty people are, whichever votes serve as the reference. By ECE, a model
    can do better than twenty people. {{term}}`TVD` compares a system's histogram of errors, in 30 bins, with the histogram of H1. Values
    are means over {n_seeds:,} draws. Where a value depends on the draw, brackets give the range of the middle 95% of the draws.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Calibration with intervals, as a table", "code_prompt_hide": "Fold the table"}
families = calibration.family_scores(in_table_1, n_resamples=intervals, seed=seed)
publish_table(
    "tbl-calibration-intervals",
    families,
    columns=calibration.INTERVAL_COLUMNS,
    groups=["dataset"],
    index=["dataset", "family", "origin", "temperature"],
    caption=f"""On SNLI and MNLI, halving the logits (T = 2) lowers the ECE of every model. Calibration errors are averaged over seeds and
    shown with 95% intervals. For models with several seeds, the intervals account for the choice of both seeds and items (t intervals,
    with Satterthwaite's degrees of freedom). For a single seed, the intervals account only for the choice of items ({intervals:,} bootstrap
    resamples). *Squared* is the debiased squared calibration error, computed in the same bins as ECE.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "The parts of the Brier score, as a table", "code_prompt_hide": "Fold the table"}
parts = calibration.murphy(in_table_1)
publish_table(
    "tbl-murphy",
    parts,
    columns=calibration.MURPHY_COLUMNS,
    shown=calibration.means_over_seeds(parts.rows, calibration.BRIER_PARTS),
    groups=["dataset", "kind"],
    caption="""Temperature scaling improves reliability far more than it improves resolution. The table shows the Brier score of the votes
    and its parts ({term}`Murphy decomposition`), averaged over the seeds of a model, with ten bins for each label's probability.
    *Resolution* measures how much the predictions reveal about the votes. A value below 0 for *within bins* means that finer bins would
    show a higher resolution. The best model on each dataset is shown in bold.""",
)

# %% [markdown]
# ## Limitations
#
# We use the nine models of {cite:t}`nie2020` to check the claims of that paper ({doc}`results`). We check the claims of {cite:t}`baan2022`
# about models on the predictions of RoBERTa and BERT, trained on SNLI, that were released with the paper. Models that we trained
# ({doc}`finetuning`) and models published later affect only one claim ([c35](#claim-c35)). We decided which sentences count as claims and
# how to read vague words. The intervals show how much a value could vary if other items of the same kind were used. The SNLI and MNLI items
# were chosen because the original five annotators disagreed on them.

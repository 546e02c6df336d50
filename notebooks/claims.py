# %% [markdown]
# # Reproduction record
#
# *Which claims of the two papers hold?*
#
# Most of what {cite:t}`nie2020` and {cite:t}`baan2022` state holds on the data that they released. Of the
# {value}`tbl-claims count:id d` claims that we found in the two papers,
# {value}`tbl-claims-summary "kind=does not hold in substance" sum:n d` fails **in substance**: that
# accuracy does not visibly go with distance. On αNLI the more accurate model *is* nearer to people
# ([c24](#claim-c24)).
# {value}`tbl-claims-summary "kind=depends on the reading" sum:n d` depend on how they are read
# ([c61](#claim-c61), [c62](#claim-c62)). The other faults are
# {value}`tbl-claims-summary "kind=slip in print" sum:n d` slips in print, such as a rounded rate
# ({numref}`tbl-claims-summary`).
#
# Each claim below is put in our own words and checked by one number. Do not quote a count of them as a score:
# a digit in an appendix counts there as much as a paper's main point.
#
# This part is for those who check. Its other pages set {doc}`every number that the papers print beside ours
# <published>`, with {doc}`what else the appendices of one give <baan_numbers>`; convert
# {doc}`one convention's number into another's <conventions>`; say {doc}`how our models were trained
# <finetuning>`; and {doc}`simulate how the votes were collected <collection>`.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
resamples: int = 10_000  # bootstrap resamples of the items, for the 95% intervals and p-values
seed: int = 0  # seed of the bootstrap

# %%
from IPython.display import Markdown

from chaos_utils.analyses import claims, claims_tables
from chaos_utils.analyses.claim_cards import ClaimCards
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data, predictions, trained=False)

# %% tags=["remove-input"]
of_others = (
    "A verdict about votes or predictions says what these data show; it is no verdict on the "
    "papers, which are about others."
)
Markdown(f"{notices(inputs)}\n\n{'' if inputs.released else of_others}")

# %%
claim_inputs = inputs.named(*claims.claim_datasets())
# What other chapters compute, they compute of our own models too.
tables = claims_tables.tables(
    claim_inputs, gather(data, predictions), n_resamples=resamples, seed=seed
)
table = claims.check_claims(**tables)

publish_table(
    "tbl-claims-summary",
    claims.count_verdicts(table),
    columns=claims.SUM_COLUMNS,
    index=["kind"],
    caption="""Most claims of both papers hold, and one fails in substance. Claims of {numref}`tbl-claims` by what was
    found; a fault that two claims share counts once. What is a slip in print is our judgement.""",
)

# %% [markdown]
# ## What does not hold as written
#
# The first three points matter to anyone who builds on the papers; the others, slips in print, when numbers are
# compared.
#
# - **Accuracy and distance from people do go together on αNLI.** Over the nine models, Spearman's ρ of
#   accuracy and {term}`JSD` is {value}`tbl-claims id=c24 value .2f` there: the more accurate
#   model is nearer to people ([c24](#claim-c24)). The nine point the same way on SNLI, less certainly
#   ({value}`tbl-rank-correlations dataset=snli distance=jsd value .2f`). On MNLI there is no such relation, and nine
#   models could not show a weak one.
# - **Whether {term}`DistCE` is a proper score depends on the reading.** Against the whole distribution of votes, as the
#   paper uses it, it is smallest for the truth. Against single votes, as a training loss would have them, naming only
#   the majority scores better ([c61](#claim-c61)); a section below explains why.
# - **Whether models are near-perfect where people agree depends on the items.** On the fifth of the SNLI items that
#   people agree on most, the best of the nine models nearly is; on that of SNLI and MNLI pooled, as in the paper's
#   figure, it is right on {value}`tbl-claims id=c62 value .0%` ([c62](#claim-c62)).
# - The text of {cite:t}`nie2020` says that 30% of the majorities change on MNLI, where its own Table 2 has
#   {value}`tbl-claims id=c06 value .1f`%; αNLI's rate is rounded down as well ([c05](#claim-c05) and [c06](#claim-c06), one fault). It names
#   BART as closest to people on αNLI, where RoBERTa-large is: its JSD minus BART's is
#   {value}`tbl-claims id=c23 value .3f` ([c23](#claim-c23)).
# - The distance that is printed as JSD uses natural logarithms, so its largest value is
#   {value}`tbl-claims id=c15 value .3f` and not 1 ([c15](#claim-c15)).
# - The released votes are not quite those of the printed tables: up to
#   {value}`tbl-claims id=c14 value .0f` votes per label are missing there ([c14](#claim-c14)),
#   so some scores of the uniform guess move in the fourth decimal ([c16](#claim-c16), the same fault).
# - Two values that {cite:t}`baan2022` print for the scaled model in their appendix do not come out of the
#   released predictions: we get a class-wise ECE of
#   {value}`tbl-published-beside-ours "table=appendix D" row=roberta-ts ours .1f`% and not 5%, and an
#   entropy {value}`tbl-published-beside-ours "table=appendix B" row=roberta-ts ours .2f` nats too high
#   and not 0.12 ([c57](#claim-c57), [c60](#claim-c60)).
#
# ## The claims

# %% tags=["remove-input"]
ClaimCards("tbl-claims", table.rows, resamples)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All claims as a table", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-claims",
    table,
    columns=claims.columns_for(resamples),
    caption=f"""Every claim with its verdict and the number that decides it. In brackets, 95%
    intervals over items ({resamples:,} bootstrap resamples); for c24 and c25, over models. Holm’s p is
    adjusted for all claims that something is larger and has a sampling error. The download has the
    rules and the evidence.""",
)

# %% [markdown]
# ## How a verdict comes about
#
# Each card gives the rule by which its verdict was computed.
#
# - A claim that something *is* a number **holds** where ours agrees to the digits printed, and otherwise
#   **does not hold**: it is about these items and these votes, so sampling is no excuse.
# - A claim that something is *larger* holds where a bootstrap over items says so at the 5% level, after
#   Holm's correction for all such claims together. Where the test leaves it open, it **holds within
#   noise**. Of several numbers the least certain decides.
# - A claim about *all* of several cases fails with one exception. A claim that there is *no* correlation
#   can fail, but nine models cannot show that there is none.
# - A claim that fails as we read it, and holds as it can be read otherwise, **depends on the reading**.
# - Published values come without an interval; where nothing else is to be had, as for the estimated human, the value
#   alone decides.
# - Some claims **cannot be checked with released data**, which is no fault of theirs.
#
# Where a paper uses a word such as *barely*, the rule says how we read it. We checked the wording and the
# place of each claim against the papers; what turned out to be no claim was left out, so the numbers have
# gaps. That a claim can be checked at all is owed to what the authors released.
#
# ## A score that prefers the majority
#
# One claim decides how a model should be trained and judged. A *proper* score is one that nobody can
# improve by saying something else than what they believe. Total variation against single votes is not
# proper: its expected value is $1 - \sum_k h_k m_k$, which is smallest when all of $m$ is on the most
# frequent label. Against the whole distribution of votes, as {cite:t}`baan2022` use it for
# {term}`DistCE`, the problem does not arise: there it is 0 for the true distribution and for no other.
#
# On SNLI, the majority label alone scores {value}`tbl-claims id=c61 value +.3f` against single votes,
# compared with the votes' own shares (95% interval {value}`tbl-claims id=c61 low .3f` to
# {value}`tbl-claims id=c61 high .3f`). Anyone who trains on single votes with this score is rewarded for
# leaving disagreement out.
#
# ## Limitations
#
# Claims of {cite:t}`baan2022` about models are checked on the predictions that were released with that paper, of RoBERTa
# and BERT trained on SNLI, those of {cite:t}`nie2020` on its nine models. Models that this project trained ({doc}`finetuning`) and later ones count
# for one claim alone ([c35](#claim-c35)). Which sentences count as claims, and how a vague word is read, is our choice.
# The intervals are for other items of the same kind, and these items were chosen because the original five annotators
# disagreed on them.

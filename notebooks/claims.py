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
# # Claim by claim
#
# What {cite:t}`nie2020` and {cite:t}`baan2022` say, in our own words, one claim per row, each with
# the number that decides it. Which of them do the released votes and predictions bear out?

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, shown beside the rest
resamples: int = 1000  # bootstrap resamples of the items, for the 95% intervals
splits: int = 200  # times that the votes are split into H1 and H2
seed: int = 0  # seed of the bootstrap and of the splits

# %%
from IPython.display import Markdown

from chaos_utils.analyses import claims, claims_numbers
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.claims import plot_claims
from chaos_utils.presentation.claims import say_counts, say_failed, say_proper
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table

material = gather(data, predictions, trained=False)

# %% tags=["remove-input"]
Markdown(notices(material))

# %%
on = material.named(*claims.wanted_datasets())
drawn = {"n_resamples": resamples, "n_splits": splits, "seed": seed}
of_votes = claims_numbers.vote_numbers(on, **drawn)
of_systems = claims_numbers.system_numbers(on, **drawn)
table = claims.check_claims(of_votes, of_systems, claims_numbers.paper_numbers(), splits=splits)

# %% tags=["remove-input"]
notes = []
if not material.released:
    notes.append(
        "A verdict about votes or predictions says what these data show; it is no verdict on the "
        "papers, which are about others."
    )
if not len(of_systems):
    notes.append(
        "No predictions are available, so claims about models are left open: pass "
        "`-p predictions=FILE` with your own."
    )
Markdown("\n\n".join(notes))

# %% [markdown]
# ## How a verdict comes about
#
# Every verdict is computed from a number and, where the number is a statistic of items or of random
# splits, from its 95% {term}`interval <bootstrap interval>`. A claim that something *is* a number
# **holds** where ours agrees to the digits printed, **holds within noise** where the printed number
# lies in the interval, and **does not hold** otherwise. A claim that something is *larger* holds
# where the whole interval lies above the threshold, holds within noise where the interval reaches
# to both sides, and does not hold where none of it does. A claim about *all* of several cases holds
# where there is no exception. Published values come without an interval; there, the value alone
# decides. Where a claim uses a word such as *barely*, the row says what we took it to mean. Some
# claims **cannot be checked with released data**, which is no fault of theirs.
#
# Claims about models are checked on models that others trained, the papers' or some like them;
# those that this project trained ({doc}`finetuning`) are left out.
#
# The wording is ours. Numbers, tables and figures were checked against the papers' published values
# and released files; what each claim says, and where, was checked against the papers' text. The copy
# of {cite:t}`baan2022` that was read lacks the formulas, so the temperature of claim c48, in appendix
# C, is the one of the released code.

# %%
counts = claims.count_verdicts(table)
publish_figure(
    "fig-claims",
    plot_claims,
    counts,
    caption="""How many claims of each paper got which verdict. Each claim of
    {numref}`tbl-claims` counts once, however large or small it is.""",
    alt="""Two horizontal stacked bars, one for each paper, divided by verdict. In both, the claims
    that hold make up most of the bar; smaller parts do not hold, hold within noise, or cannot be
    checked.""",
)

# %% tags=["remove-input"]
Markdown(
    f"Of {len(table)} claims, {say_counts(counts.rows)}. The count weighs nothing: a digit in an "
    "appendix counts as much as a paper's main point."
)

# %% [markdown]
# ## The claims

# %%
publish_table(
    "tbl-claims",
    table,
    columns=claims.COLUMNS,
    caption=f"""Every claim with its verdict and what decides it. The wording of the claims is
    ours. In brackets, 95% intervals: over items ({resamples:,} bootstrap resamples), or, where the
    row says so, over {splits:,} random splits of the votes.""",
)

# %% [markdown]
# ## Those that do not hold as written
#
# A row here is a note for readers who compare numbers across papers, not a judgement of one. Each
# says what was held against what, so that it can be argued with. That it can be said at all is
# owed to what the authors released.

# %% tags=["remove-input"]
Markdown(say_failed(table.rows))

# %% [markdown]
# ## A score that prefers the majority
#
# One of them deserves a word, because it decides how a model should be trained and judged. A
# *proper* score is one that nobody can improve by saying something else than what they believe.
# Total variation against single votes is not proper: its expected value is $1 - \sum_k h_k m_k$,
# which is smallest when all of $m$ is on the most frequent label. Against the whole distribution of
# votes, as {cite:t}`baan2022` use it for {term}`DistCE`, this does not arise: there it is 0 for the
# true distribution and for no other.

# %% tags=["remove-input"]
Markdown(say_proper(table.rows))

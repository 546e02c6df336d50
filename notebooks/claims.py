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
resamples: int = 10_000  # bootstrap resamples of the items, for the 95% intervals and p-values
seed: int = 0  # seed of the bootstrap

# %%
from IPython.display import Markdown

from chaos_utils.analyses import annotations, claims, claims_numbers, published_numbers
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
drawn = {"n_resamples": resamples, "seed": seed}
of_votes = claims_numbers.vote_numbers(on, **drawn)
of_systems = claims_numbers.system_numbers(on, **drawn)
# What other chapters compute, they compute of our own models too.
others = published_numbers.of_chapters(gather(data, predictions))
table = claims.check_claims(of_votes, of_systems, others.numbers(), claims_numbers.paper_numbers())

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
# Every verdict is computed from a number by the rule that {numref}`tbl-claims` states beside it. A
# claim that something *is* a number **holds** where ours agrees to the digits printed, and else **does
# not hold**: it is about these items and these votes, so their sampling excuses nothing. A claim that
# something is *larger* holds where it is so beyond the sampling of items, by a bootstrap p-value that is
# corrected (Holm) for all such claims together; it **holds within noise** where that leaves it open. Of
# several numbers the least certain decides, or, where some lie on the other side, the surest of
# these, with its p-value times their number. A claim about *all* of several cases holds where there is no exception. A claim that there is *no*
# correlation can fail, but nine models cannot show that there is none. Published values come without an
# interval; there, the value alone decides. Where a claim uses a word such as *barely*, the rule says
# how we read it. Some claims **cannot be checked with released data**, which is no fault of theirs.
#
# Claims about models are checked on models that others trained, the papers' or some like them;
# those that this project trained ({doc}`finetuning`) are left out.
#
# The wording is ours; what each claim says, and where, was checked against the papers' text. Numbers of
# claims that turned out not to be claims are left out, so the numbering has gaps.

# %%
counts = claims.count_verdicts(table)
publish_figure(
    "fig-claims",
    plot_claims,
    counts,
    caption="""How many claims of each paper got which verdict. Each claim of
    {numref}`tbl-claims` counts once, however large or small it is.""",
    alt="""Two horizontal stacked bars, one for each paper, divided by verdict. In both, the claims
    that hold make up most of the bar; smaller parts do not hold, and of Nie et al. one or two hold
    within noise or cannot be checked.""",
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
    columns=claims.columns_for(resamples),
    caption=f"""Every claim with its verdict and what decides it. The wording of the claims is
    ours. In brackets, 95% intervals over items ({resamples:,} bootstrap resamples); for the
    correlations of c24 and c25, over models. Holm’s p is adjusted for all claims that something is
    larger and has a sampling error.""",
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
# ## Every published number beside ours
#
# The claims above are a choice. Here is every number that the two papers print in their tables, or in
# the text where it is a result, with ours where the released data has what it takes.

# %%
beside = published_numbers.published_beside_ours(
    of_votes,
    annotations.data_statistics(on.having("old labels")),
    annotations.label_counts(on),
    published_numbers.bin_edges(on),
    others.table_1,
    others.classwise,
    others.signed,
    others.released,
    same_votes=material.released,
)
publish_table(
    "tbl-published-beside-ours",
    beside,
    columns=published_numbers.COLUMNS,
    shown=published_numbers.in_short(beside.rows),
    caption="""Every published number beside ours. Δ is here minus paper, 0 where we get the
    printed digits. Where many numbers of a table have none of ours, they are counted in one row; the
    download lists each. Where Baan et al. name no seed, ours is that of
    the first. Settings of the training (Table 8 of Nie et al.) are no results and are left out.""",
)

# %% tags=["remove-input"]
counted = published_numbers.count_numbers(beside.rows)
Markdown(
    " ".join(
        f"Of the {row.printed:,} numbers of {{cite:t}}`{row.paper}`, {row.ours:,} have one of ours, and "
        f"{row.same:,} of these agree to the digits printed."
        for row in counted.itertuples()
    )
    if material.released
    else "These votes are others than the papers', so no number of theirs has one of ours."
)

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

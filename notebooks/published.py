# %% [markdown]
# # Every published number beside ours
#
# Nearly every number of the two papers that can be checked on what was released comes out to the digits printed:
# {value}`tbl-published-counts sum:same ,d` of {value}`tbl-published-counts sum:ours ,d`. The papers print
# {value}`tbl-published-counts sum:printed ,d` in a table, or in the text where it is a result
# ({numref}`tbl-published-counts`).

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
resamples: int = 10_000  # bootstrap resamples of the items, as for the claims
seed: int = 0  # seed of the bootstrap

# %%
from IPython.display import Markdown

from chaos_utils.analyses import claims, claims_tables, published_numbers
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data, [], trained=False)

# %% tags=["remove-input"]
Markdown(notices(inputs))

# %%
claim_inputs = inputs.named(*claims.claim_datasets())
tables = claims_tables.tables(claim_inputs, gather(data, []), n_resamples=resamples, seed=seed)
numbers = tables["published_numbers.published_beside_ours"]
publish_table(
    "tbl-published-counts",
    published_numbers.count_numbers(numbers),
    columns=published_numbers.COUNT_COLUMNS,
    caption="""Where a published number can be checked, it nearly always agrees. One row for each place
    in the papers; two numbers agree if they are the same to the digits printed. Settings of the
    training (Table 8 of Nie et al.) are no results and are left out.""",
)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Every number, one by one", "code_prompt_hide": "Fold the table"}
publish_table(
    "tbl-published-beside-ours",
    numbers,
    columns=published_numbers.COLUMNS,
    shown=numbers.rows[numbers.rows["ours"].notna()],
    caption="""Every published number that can be checked, beside ours. Δ is here minus paper: bold where it
    exceeds rounding, 0 where we get the printed digits. The download lists the others too. Where Baan et al. name no
    seed, ours is that of the first.""",
)

# %% [markdown]
# ## Limitations
#
# A number that nothing released can check is not a failed reproduction.
#
# The votes that were released are not vote for vote those of the printed tables: there, up to
# {value}`tbl-claims id=c14 value .0f` votes per label are missing ({doc}`claims`). Some of the differences are due
# to that.

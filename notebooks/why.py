# %% [markdown]
# # Reasons for disagreement
#
# *Why do people disagree?*
#
# Even labels that were judged to be errors get votes. Where four annotators of ChaosNLI's
# MNLI items had to explain their labels and judge the explanations, a minority label that they took back has
# {value}`tbl-why-errors judges=authors status=error holder=people each .0%` of its item's votes on average, one
# with an explanation that holds {value}`tbl-why-errors judges=authors status=plausible holder=people each .0%`,
# and one that none of the four gave
# {value}`tbl-why-errors judges=authors "status=not given" holder=people each .0%`.
#
# Errors hold {value}`tbl-why-errors judges=authors status=error holder=people minority_share .0%` of the votes
# against the majority. Among the minority labels that one of the four gave, they are
# {value}`tbl-why-errors judges=authors status=error holder=people given_labels .0%` and get
# {value}`tbl-why-errors judges=authors status=error holder=people given_share .0%` of the votes: less than their
# share, but not few ({numref}`tbl-why-errors`).
#
# The kind of reason says little about how much people disagree, and more about which labels they choose. Ten
# reasons explain {value}`tbl-why-explained holder=people quantity=entropy by_reason .1%` of the variance of
# {term}`entropy` between items, indistinguishable from none, and
# {value}`tbl-why-explained holder=people quantity=contradiction by_reason .0%` of that of the votes for
# contradiction. Models' errors follow the same pattern: they are not clearly larger for any reason, but lean to
# different labels.
#
# Where a sentence is ambiguous, rewriting it as one of its readings lowers the entropy from
# {value}`fig-why-readings "shown=as written" majority=9 bits .2f` to
# {value}`fig-why-readings "shown=a reading" majority=9 bits .2f` bits; but rewriting it as a sentence that is none
# of its readings does nearly as much ({value}`fig-why-readings "shown=a distractor" majority=9 bits .2f`).

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, compared beside the rest
resamples: int = 2000  # bootstrap resamples of the items, for the shares of the minority's votes
confidence: float = 0.95  # coverage of the intervals
seed: int = 0  # seed of resamples

# %%
from IPython.display import Markdown

from chaos_utils.analyses import why
from chaos_utils.analyses.inputs import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.why import plot_readings, plot_reasons
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.parameters import check_parameters
from chaos_utils.report.tables import publish_table

check_parameters(globals())

inputs = gather(data, predictions)
items = why.explained_inputs(inputs.named("mnli"))
pairs = gather(datasets=["ambient"]) if len(items) else []

# %% tags=["remove-input"]
without = (
    "*For the items here, no explanations are available: there is nothing to show on this page.*"
)
Markdown(f"{notices(inputs)}\n\n{'' if len(items) else without}")

# %% [markdown]
# Votes show that people disagree, not why. Two datasets that share items with ChaosNLI-MNLI hold more: VariErr
# {cite:p}`weber2024` and the taxonomy of {cite:t}`jiang2022`. AmbiEnt {cite:p}`liu2023` has pairs of its own. The
# explanations themselves are not reprinted here, since most come without a licence; {doc}`/datasets` says where to
# get them.
#
# ## Error or variation
#
# In VariErr, four people labelled each of 500 items, with an explanation for each label. In a second round they
# judged all explanations of an item, their own and the others'. A label counts as an *error* if nobody who gave it
# stands by an explanation of it. We compare these judgements with the hundred votes of ChaosNLI, which are by
# other people.

# %%
errors = why.errors(items, n_resamples=resamples, confidence=confidence, seed=seed)
publish_table(
    "tbl-why-errors",
    errors,
    shown=errors.rows[errors.rows["holder"] == why.PEOPLE],
    columns=why.ERROR_COLUMNS,
    caption=f"""Labels called errors draw more minority votes than labels nobody gave, and fewer than labels with an
    explanation that holds. Labels of items by
    what VariErr's four annotators made of them, and ChaosNLI's votes on them. *Judged by* says whose word
    decides whether an explanation holds: that of its author, or that of the author's peers, more than half
    of whom must accept it. The minority is every label but an item's majority, and the votes on it; the last
    two columns leave out labels that none of the four gave. In brackets, {100 * confidence:g}% bootstrap
    intervals over items ({resamples:,} resamples). The data also has the models' probabilities.""",
)

# %% [markdown]
# Of the minority's labels, {value}`tbl-why-errors judges=authors "status=not given" holder=people minority_labels .0%`
# were given by none of the four, and {value}`tbl-why-errors judges=authors "status=not given" holder=people minority_share .0%`
# of its votes are on these. Beside the rest, labels called errors get fewer votes than their share: the difference is
# {value}`tbl-why-errors judges=authors status=error holder=people given_excess .1%`, with an interval from
# {value}`tbl-why-errors judges=authors status=error holder=people given_excess_low .1%` to
# {value}`tbl-why-errors judges=authors status=error holder=people given_excess_high .1%`
# ({numref}`tbl-why-errors`).
#
# A label can even be called an error and be the majority's: this happens on
# {value}`tbl-why-errors judges=authors status=error holder=people n_majority .0f` of
# {value}`tbl-why-errors judges=authors status=error holder=people n_items .0f` items. A vote on a label that
# somebody else could not defend need not be a mistake.
#
# How many errors there are depends on who judges. When peers decide, more labels are called errors,
# {value}`tbl-why-errors judges=peers status=error holder=people given_labels .0%` of those that were given, with
# {value}`tbl-why-errors judges=peers status=error holder=people given_share .0%` of the votes: again less than their
# share. Beside all labels, those that nobody gave included, peers' errors get more than theirs
# ({value}`tbl-why-errors judges=peers status=error holder=people minority_share .0%` of the votes for
# {value}`tbl-why-errors judges=peers status=error holder=people minority_labels .0%` of the labels).
#
# Much of the dissent was never judged:
# {value}`tbl-why-errors judges=authors "status=not given" holder=people minority_share .0%` of the votes against
# the majority are on labels that none of the four gave. They may be errors, or readings that four people did not
# think of.
#
# Models put about as much on labels called errors as people do: RoBERTa-base
# {value}`tbl-why-errors judges=authors status=error holder=RoBERTa-base minority_share .0%` of the probability
# that it puts against the majority. They differ from each other on labels that none of the four gave, on which
# RoBERTa-base puts
# {value}`tbl-why-errors judges=authors "status=not given" holder=RoBERTa-base minority_share .0%` and
# DeBERTa-v3-large
# {value}`tbl-why-errors judges=authors "status=not given" holder=DeBERTa-v3-large minority_share .0%`.
#
# ## Ten reasons
#
# {cite:t}`jiang2022` read disputed items and sorted them by ten reasons, one or several for each item:
#
# * **The meaning is uncertain**: that of a word (*lexical*), what is implied or presupposed
#   (*implicature*, *presupposition*), how likely the hypothesis is (*probabilistic*), or the text has flaws
#   (*imperfection*).
# * **The guidelines leave it open**: whether premise and hypothesis refer to the same thing (*coreference*) or
#   the same time (*temporal*), or how to treat a question (*interrogative*).
# * **Annotators have habits**: they accept small additions to what is said (*accommodating*), or are
#   led by shared words (*high overlap*).

# %%
publish_figure(
    "fig-why-reasons",
    plot_reasons,
    why.reasons(items, confidence=confidence),
    caption=f"""People disagree about as much for each reason, but between different labels. Means over
    the items of each reason (their number in brackets; an item may have several), with
    {100 * confidence:g}% intervals over items by Student's t. Reasons of at least {why.FEWEST_ITEMS} items, by the share of
    contradiction; the data has rarer ones, and what models do on each.""",
    alt="""Two dot plots with a row for each frequent reason. The entropies lie close together, around
    one bit. The shares of the three labels differ widely between rows: contradiction leads where it is
    unclear what is referred to, and is rare where people accommodate small additions.""",
)

# %% [markdown]
# People disagree about as much for each reason. For the more frequent ones, mean entropy lies between
# {value}`tbl-why-explained holder=people quantity=entropy low .2f` and
# {value}`tbl-why-explained holder=people quantity=entropy high .2f` bits ({numref}`fig-why-reasons`); only the few
# items to which none of the ten applies are clearer, at
# {value}`fig-why-reasons holder=people quantity=entropy "reason=none of the ten" mean .2f` bits.
#
# What differs is the direction. Where it is unclear whether premise and hypothesis refer to the same thing,
# {value}`fig-why-reasons holder=people quantity=contradiction reason=coreference mean .0%` of the votes are for
# contradiction; where people accommodate small additions,
# {value}`fig-why-reasons holder=people quantity=contradiction reason=accommodating mean .0%`.

# %%
explained = why.explained(items)
publish_table(
    "tbl-why-explained",
    explained,
    shown=explained.rows if predictions else explained.rows.head(12),
    columns=why.EXPLAINED_COLUMNS,
    groups=["holder"],
    caption=f"""Reasons go with which labels people choose and models miss, and hardly with how much
    people disagree or models err. Share of the variance between items that the ten reasons explain
    (adjusted R² of a linear regression), with p of the F test, adjusted by Holm for all rows. Lowest and
    highest are the reasons with the extreme means, among those of at least {why.FEWEST_ITEMS} items. *Above people's*: the
    model's share of a label minus that of the votes. The data has the other models.""",
)

# %% [markdown]
# The size of models' errors hardly goes with reasons. These explain
# {value}`tbl-why-explained holder=RoBERTa-base quantity=jsd by_reason .1%` of the variance of RoBERTa-base's JSD,
# and for no model more than {value}`tbl-why-explained quantity=jsd max:by_reason .1%` (p at least
# {value}`tbl-why-explained quantity=jsd min:p_holm .2f`; {numref}`tbl-why-explained`).
#
# The direction of their errors does. RoBERTa-base's share of neutral lies above people's where these accommodate
# additions ({value}`fig-why-reasons holder=RoBERTa-base quantity=neutral reason=accommodating mean +.2f`), and far
# below where the text has flaws
# ({value}`fig-why-reasons holder=RoBERTa-base quantity=neutral reason=imperfection mean +.2f`), for which people
# vote neutral more often than for any other frequent reason. The other models lean the same way. Part of this
# mirrors the votes: a model that overlooks the reason falls short of whichever label people choose for it.
#
# ## Once the sentence is disambiguated
#
# AmbiEnt's pairs were chosen because one of the two sentences is ambiguous. Nine people labelled each pair as it is
# written, and then with the sentence rewritten so that it has one meaning: each of its readings, and a
# *distractor*, a similar sentence that is none of them.

# %%
publish_figure(
    "fig-why-readings",
    plot_readings,
    why.readings(pairs, confidence=confidence),
    caption="""Once the reading is given, unanimity is twice as frequent, and with a distractor nearly so.
    Pairs by how many of nine votes the majority label has: as written, with the sentence rewritten as one
    of its readings, and with a distractor.""",
    alt="""Three lines over the size of the majority, from three to nine of nine votes. As written, the
    shares are about equal from five votes to nine. For readings and for distractors they rise, and more
    than a third of the pairs have all nine votes on one label.""",
)

# %% [markdown]
# All nine agree on {value}`fig-why-readings "shown=as written" majority=9 share .0%` of the pairs as written and
# on {value}`fig-why-readings "shown=a reading" majority=9 share .0%` of their readings. The mean entropy falls by
# {value}`fig-why-readings "shown=a reading" majority=9 removed .2f` bits per pair, a third of what there was
# ({numref}`fig-why-readings`).
#
# What is left is not ambiguity of this kind. By a measure that few votes do not bias, the chance that two people
# differ falls from {value}`fig-why-readings "shown=as written" majority=9 apart .2f` to
# {value}`fig-why-readings "shown=a reading" majority=9 apart .2f`.
#
# A distractor lowers the entropy nearly as much, by
# {value}`fig-why-readings "shown=a distractor" majority=9 removed .2f` bits. So most of the drop need not come
# from knowing which reading is meant: the new sentences may just be more explicit, and people judged them second.
#
# ## Limitations
#
# * The reasons were judged by one or two people per item, on
#   {value}`fig-why-reasons holder=people quantity=entropy reason=lexical n_coded .0f` disputed items, and some of
#   the ten have too few of these to stand in {numref}`fig-why-reasons`; a difference between two such reasons is
#   no finding.
# * An item may have several reasons, and nothing here shows that a reason causes the votes. That reasons explain
#   little of the entropy may also come from the choice of items, which were disputed to begin with.
# * VariErr's judges are four people.
# * The models are few, and most are single runs; RoBERTa-base was trained on SNLI alone, and MPNet on 10,000 pairs.
# * AmbiEnt's pairs are not ChaosNLI's, so what disambiguation removes there need not hold here.

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
# # A crowd of machines beside a crowd of people
#
# Asking many machines is not like asking many people. Six large language models, pooled, predict the rest of the
# crowd as well as {value}`tbl-machine-crowds dataset=snli "crowd=language models" worth .1f` people on SNLI
# (95% interval {value}`tbl-machine-crowds dataset=snli "crowd=language models" low .1f` to
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" high .1f`) and
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" worth .1f` on MNLI
# ({value}`tbl-machine-crowds dataset=mnli "crowd=language models" low .1f` to
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" high .1f`). A hundred BERTs that differ in
# their random seed alone predict how many people give MNLI's own label as well as
# {value}`fig-machine-worth "panel=MNLI, gold or not" crowd=BERT-base whole=true worth .1f` people.
#
# Machines share errors that a larger crowd of them does not average away. On SNLI and MNLI they also repeat each
# other more often than people do. Two runs of RoBERTa give the same label to
# {value}`tbl-machine-crowds dataset=mnli crowd=RoBERTa-base agreement .0%` of the MNLI items, two language
# models to {value}`tbl-machine-crowds dataset=mnli "crowd=language models" agreement .0%`, two people to
# {value}`tbl-machine-crowds dataset=mnli crowd=RoBERTa-base people_agreement .0%`. The two need not
# go together: on pictures of skin lesions, language models agree with each other
# ({value}`tbl-machine-stand-ins dataset=lesion "model=all of them, plurality" with_models .0%`) a little less than
# people do ({value}`tbl-machine-stand-ins dataset=lesion model=people with_people .0%`), and all of them are still
# worth only {value}`tbl-machine-stand-ins dataset=lesion "model=all of them, plurality" worth .1f` people.

# %% tags=["parameters"]
data: str = "auto"  # auto, released, sample, a dataset, a votes file, or a folder
predictions: list[str] = []  # files of predictions of your own, counted among the machines
resamples: int = 1000  # bootstrap resamples of the items, for the intervals
confidence: float = 0.95  # coverage of the intervals
seed: int = 0  # seed of draws and resamples

# %%
from IPython.display import Markdown

from chaos_utils.analyses import machine_crowds
from chaos_utils.analyses.evidence import gather
from chaos_utils.analyses.notices import notices
from chaos_utils.plots.machine_crowds import plot_gold_shares, plot_machine_worth, plot_unanimity
from chaos_utils.report.figures import publish_figure
from chaos_utils.report.tables import publish_table

given = gather(data, predictions)
machines = machine_crowds.beside(given)
material, judges, berts = machines.material, machines.judges, machines.berts
resampling = {"n_resamples": resamples, "confidence": confidence, "seed": seed}
growth = machine_crowds.growth(material, judges=judges, berts=berts, confidence=confidence)

# %% tags=["remove-input"]
invented = "*The other answers beside the synthetic votes are invented as well.*"
Markdown(f"{notices(given)}\n\n{invented if given.synthetic else ''}")

# %% [markdown]
# ## Four kinds of crowd
#
# Each machine gives one label per item, and a crowd's labels are counted like people's votes.
#
# * **Seeds**: models of one recipe that differ in their random seed alone. {cite:t}`mccoy2020` fine-tuned a
#   hundred BERTs on MNLI, and released how many of them gave MNLI's own label, the *gold label* (this book's
#   {term}`old label`), to each item. {cite:t}`baan2022` released the predictions of three RoBERTa and two BERT
#   models.
# * **Fine-tuned models**: those of {cite:t}`baan2022` together with the models that this project trained, MiniLM
#   (two seeds) and an MPNet that saw 10,000 items only; on αNLI, one of each of the last two.
# * **Large language models** (LLMs): six with open weights, by five makers, whose labels of 500 items of SNLI and 500
#   of MNLI were published {cite:p}`ai4he2026`. Most answers of one of them (Qwen3.5-9B) were cut off before their
#   end.
# * **Ensembles**: the mean of the models' probabilities in place of their votes.
#
# We ask of each: how often do two of its members, or all of them, agree; how far are its votes from people's;
# and how many people is it worth, that is, how many people's pooled votes would come as near
# ({term}`human equivalent`, by squared distance unless stated otherwise)?

# %%
crowds = machine_crowds.crowds(material, judges=judges, **resampling)
result = None
if len(crowds):
    crowds = machine_crowds.with_worth(crowds, growth)
    result = publish_table(
        "tbl-machine-crowds",
        crowds,
        columns=machine_crowds.CROWD_COLUMNS,
        groups=["dataset"],
        caption=f"""On SNLI and MNLI, machines agree with each other more often than people do; everywhere, a crowd
        of them is worth few people. Each crowd on the items that all its members answered, beside people's
        votes on the same items. *As many people*: drawn from the votes. *That finished*: most of whose answers were
        not cut off. *JSD*: from the machines' pooled votes to people's. In brackets,
        {100 * confidence:g}% intervals over items ({resamples:,} resamples; Fieller's for people). The data
        has entropy, TVD, and the worth of one member, of the mean probabilities, and of endlessly many
        members.""",
    )
result

# %% [markdown]
# Two language models agree on {value}`tbl-machine-crowds dataset=snli "crowd=language models" agreement .0%` of
# the SNLI items ({value}`tbl-machine-crowds dataset=snli "crowd=language models" agreement_low .0%` to
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" agreement_high .0%`), two people on
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" people_agreement .0%`
# ({value}`tbl-machine-crowds dataset=snli "crowd=language models" people_agreement_low .0%` to
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" people_agreement_high .0%`). Seeds agree more
# still. All three RoBERTas give the same label to
# {value}`tbl-machine-crowds dataset=snli crowd=RoBERTa-base unanimous .0%` of the SNLI items; three people
# would to {value}`tbl-machine-crowds dataset=snli crowd=RoBERTa-base people_unanimous .0%`. The six language
# models all agree on {value}`tbl-machine-crowds dataset=snli "crowd=language models" unanimous .0%`, and
# six people on {value}`tbl-machine-crowds dataset=snli "crowd=language models" people_unanimous .0%`
# ({numref}`tbl-machine-crowds`). Without the model whose answers were cut
# off, the other five all agree on
# {value}`tbl-machine-crowds dataset=snli "crowd=language models that finished" unanimous .0%`, and five people on
# {value}`tbl-machine-crowds dataset=snli "crowd=language models that finished" people_unanimous .0%`.
#
# The entropy of machines' votes is lower accordingly: for the language models on MNLI it is
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" entropy .2f` bits, for six people
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_entropy .2f`. Their votes differ from
# people's by a {term}`JSD` of
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" jsd .3f` and a {term}`TVD` of
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" tvd .3f`; six people differ from the rest of
# the crowd by {value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_jsd .3f` and
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_tvd .3f`. On SNLI the language models
# have {value}`tbl-machine-crowds dataset=snli "crowd=language models" jsd .3f` and
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" tvd .3f`, and six people
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" people_jsd .3f` and
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" people_tvd .3f`.
#
# ## Where machines agree and people do not

# %%
unanimity = machine_crowds.unanimity(material, judges=judges, berts=berts, **resampling)
unanimity = unanimity.where(machine_crowds.drawn(unanimity.rows))
result = None
if len(unanimity):
    result = publish_figure(
        "fig-machine-unanimity",
        plot_unanimity,
        unanimity,
        caption=f"""Machines often agree where people are split. The share of items on which all
        members of a crowd give one label, by the share of people with the majority, with
        {100 * confidence:g}% intervals over items. *LLMs*: large language models. Dashed: as many people as LLMs. The
        BERTs count as agreeing where all hundred give the gold label; where they agree on another is not known.""",
        alt="""Line plots, one for SNLI and one for MNLI. The line of people rises steeply from near zero to about
        two thirds or more. Those of seeds start above sixty percent; they rise to above ninety on SNLI, and little on
        MNLI. The language models lie between; on MNLI their line rises slowly. The hundred BERTs lie near
        the language models.""",
    )
result

# %% [markdown]
# On MNLI, how far people agree says little about whether machines do. Where half to three fifths of the people
# have the majority, six people would all agree on
# {value}`fig-machine-unanimity dataset=mnli "crowd=language models" bin=1 people .0%` of the items; the six
# language models do on {value}`fig-machine-unanimity dataset=mnli "crowd=language models" bin=1 unanimous .0%`
# ({value}`fig-machine-unanimity dataset=mnli "crowd=language models" bin=1 low .0%` to
# {value}`fig-machine-unanimity dataset=mnli "crowd=language models" bin=1 high .0%`), and a hundred BERTs
# all give the gold label to {value}`fig-machine-unanimity dataset=mnli crowd=BERT-base bin=1 unanimous .0%`
# ({numref}`fig-machine-unanimity`). Where eight in ten people or more, but fewer than nine, have the majority, these
# shares are {value}`fig-machine-unanimity dataset=mnli "crowd=language models" bin=4 people .0%`,
# {value}`fig-machine-unanimity dataset=mnli "crowd=language models" bin=4 unanimous .0%` and
# {value}`fig-machine-unanimity dataset=mnli crowd=BERT-base bin=4 unanimous .0%`. On SNLI the language models follow
# people much more closely, from
# {value}`fig-machine-unanimity dataset=snli "crowd=language models" bin=1 unanimous .0%` with half to three fifths
# to {value}`fig-machine-unanimity dataset=snli "crowd=language models" bin=5 unanimous .0%` with nine tenths or more.
#
# ## A hundred BERTs
#
# Of the hundred BERTs only the number that gave the gold label was released, so they are compared with people
# by the share of that label alone.

# %%
old = material.having("old labels")
hundred = machine_crowds.hundred(old, berts=berts, **resampling)
result = None
if len(hundred):
    result = publish_figure(
        "fig-machine-gold",
        plot_gold_shares,
        machine_crowds.gold_shares(old, berts=berts),
        caption="""A hundred BERTs mostly agree whether a pair has its gold label, where people do not. Left:
        items of MNLI by the share of each crowd that gave the gold label, in tenths. Right: the same two shares
        item by item; the stronger the colour, the more items, with their share where it is 3% or more.""",
        alt="""Left, bars: people's shares of the gold label have one broad hump around sixty percent; those of
        the BERTs stand at the two ends, half of the items above ninety percent and a quarter below ten.
        Right, a map of people's against BERTs' shares: three quarters of the items lie in the left and right
        columns, spread over most of the height.""",
    )
result

# %%
result = None
if len(hundred):
    result = publish_table(
        "tbl-machine-berts",
        hundred,
        columns=machine_crowds.BERT_COLUMNS,
        caption=f"""The gold label is settled among BERTs, and open among people. ChaosNLI's items of MNLI, with
        {100 * confidence:g}% bootstrap intervals over items ({resamples:,} resamples).""",
    )
result

# %% [markdown]
# All hundred BERTs give the gold label to {value}`tbl-machine-berts crowd=BERT-base all .0%` of the
# {value}`tbl-machine-berts crowd=BERT-base n_items ,d` items, and all hundred people to none. At least 95 BERTs do so
# on {value}`tbl-machine-berts crowd=BERT-base nearly_all .0%`, at least 95 people on
# {value}`tbl-machine-berts crowd=people nearly_all .1%` ({numref}`tbl-machine-berts`). What share of the
# BERTs gave it says little about the share of people: the rank correlation is
# {value}`tbl-machine-berts crowd=people rho .2f` ({value}`tbl-machine-berts crowd=people rho_low .2f` to
# {value}`tbl-machine-berts crowd=people rho_high .2f`), and the two shares differ by
# {value}`tbl-machine-berts crowd=people distance .2f` on average. Noise from
# training seeds is no model of human disagreement here.
#
# ## How many people a crowd of machines is worth
#
# Pooling helps where members err independently. People who are drawn from the population do, by definition:
# *k* of them are worth *k* people. Where machines share an error, more of them only confirm it.

# %%
grown = machine_crowds.grown(growth) if len(growth) else growth
result = None
if len(grown):
    result = publish_figure(
        "fig-machine-worth",
        plot_machine_worth,
        grown,
        caption=f"""More machines help less than more people, and seeds soon stop helping. How many people, pooled,
        come as near to the population as the votes of some members of a crowd, on average over all ways to draw
        them, by squared distance, with
        {100 * confidence:g}% intervals over items. *LLMs*: large language models; *fine-tuned*: all fine-tuned
        models. Dashed: people, each worth one. Where there is a panel
        *gold or not*, all answers but the gold label count as one, since no more is known of the
        hundred BERTs.""",
        alt="""Line plots of worth in people against the number of machines pooled. The line of people rises
        steeply on the diagonal. Language models rise to between three and four on SNLI and to two on
        MNLI; seeds and fine-tuned models flatten below two, MiniLM's below one; the hundred BERTs stay at one.
        On αNLI two fine-tuned models are worth less than half a person.""",
    )
result

# %% [markdown]
# One BERT is worth {value}`fig-machine-worth "panel=MNLI, gold or not" crowd=BERT-base n_members=1 worth .2f`
# people on the question whether a pair has its gold label, ten are worth
# {value}`fig-machine-worth "panel=MNLI, gold or not" crowd=BERT-base n_members=10 worth .2f`, and a hundred
# {value}`fig-machine-worth "panel=MNLI, gold or not" crowd=BERT-base n_members=100 worth .2f`
# ({value}`fig-machine-worth "panel=MNLI, gold or not" crowd=BERT-base n_members=100 low .2f` to
# {value}`fig-machine-worth "panel=MNLI, gold or not" crowd=BERT-base n_members=100 high .2f`). More seeds would
# hardly change that ({numref}`fig-machine-worth`).
#
# Different language models add more to each other. One alone is worth, on average,
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" one .1f` people on SNLI, six
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" worth .1f`. By JSD, six are worth
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" worth_jsd .1f`, by TVD
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" worth_tvd .1f`; on MNLI
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" worth_jsd .1f` and
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" worth_tvd .1f`. Were these six a sample of all
# such models, endlessly many would be worth
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" limit .1f` people on MNLI
# ({value}`tbl-machine-crowds dataset=mnli "crowd=language models" limit_low .1f` to
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" limit_high .1f`) and
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" limit .1f` on SNLI
# ({value}`tbl-machine-crowds dataset=snli "crowd=language models" limit_low .1f` to
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" limit_high .1f`). These
# intervals are over items alone, and six models are a small sample. Part of the worth may be noise that happens to
# look like disagreement: without the model whose answers were cut off, the limit is
# {value}`tbl-machine-crowds dataset=snli "crowd=language models that finished" limit .1f` on SNLI.
#
# A model's probabilities say more than its label. The mean probabilities of three RoBERTas are worth
# {value}`tbl-machine-crowds dataset=mnli crowd=RoBERTa-base soft .1f` people on MNLI, their three votes
# {value}`tbl-machine-crowds dataset=mnli crowd=RoBERTa-base worth .1f`; all fine-tuned models reach
# {value}`tbl-machine-crowds dataset=mnli "crowd=all fine-tuned models" soft .1f` by probabilities.
# {doc}`fitting` shows what votes on other items add to that.
#
# ## In an annotator's place
#
# {cite:t}`calderon2025` released the labels of named language models beside those of individual annotators: six
# models on word associations (WAX {cite:p}`liu2022`; sixteen relations), four on skin lesions (ratings of
# pictures {cite:p}`cheplygina2018`). Their
# alternative annotator test ({term}`replacement test`) asks whether a model agrees with the other annotators as
# well as the annotator does whom it would replace. *ρ* is how often it is at least as close; *ω* is the share
# of annotators that it beats when it may be behind by ε, and from 0.5 on it passes. The test judges one model
# in place of one person, not a crowd of models in place of a crowd.

# %%
annotated, labelled = machine_crowds.annotated(given)
stand_ins = machine_crowds.stand_ins(annotated, answers=labelled, **resampling)
result = None
if len(stand_ins):
    result = publish_table(
        "tbl-machine-stand-ins",
        stand_ins,
        columns=machine_crowds.STAND_IN_COLUMNS,
        groups=["dataset"],
        caption=f"""Whether a model may replace an annotator depends on the model and on the margin ε that is
        allowed. *A person* and *a model*: how often another one gave the same label. *All of them, plurality*:
        the label that most of the models gave (the first of those that tie); its worth is that of all their
        votes, pooled, and *a model* the agreement of two models. *People*: the agreement of two people. In brackets,
        {100 * confidence:g}% intervals over items, by Fieller.""",
    )
result

# %% [markdown]
# On WAX, Gemini Pro passes at ε = 0.1, the margin proposed for crowd workers, with ω =
# {value}`tbl-machine-stand-ins dataset=wax model=gemini_pro wins_10 .2f`; Mistral fails even at ε = 0.2
# ({value}`tbl-machine-stand-ins dataset=wax model=mistral-v03 wins_20 .2f`). There, too, models agree with
# each other more often than people do,
# {value}`tbl-machine-stand-ins dataset=wax "model=all of them, plurality" with_models .0%` against
# {value}`tbl-machine-stand-ins dataset=wax model=people with_people .0%` (a difference of
# {value}`tbl-machine-stand-ins dataset=wax "model=all of them, plurality" beyond_low .2f` to
# {value}`tbl-machine-stand-ins dataset=wax "model=all of them, plurality" beyond_high .2f`). On the skin
# lesions they do not
# ({value}`tbl-machine-stand-ins dataset=lesion "model=all of them, plurality" with_models .0%` against
# {value}`tbl-machine-stand-ins dataset=lesion model=people with_people .0%`; a difference of
# {value}`tbl-machine-stand-ins dataset=lesion "model=all of them, plurality" beyond_low .2f` to
# {value}`tbl-machine-stand-ins dataset=lesion "model=all of them, plurality" beyond_high .2f`), and GPT-4o
# beats none of the annotators at ε = 0.2 ({value}`tbl-machine-stand-ins dataset=lesion model=gpt-4o wins_20 .2f`).
#
# Passing is no proof that models can replace a crowd. All models together are worth
# {value}`tbl-machine-stand-ins dataset=wax "model=all of them, plurality" worth .1f` people on WAX
# ({value}`tbl-machine-stand-ins dataset=wax "model=all of them, plurality" low .1f` to
# {value}`tbl-machine-stand-ins dataset=wax "model=all of them, plurality" high .1f`) and
# {value}`tbl-machine-stand-ins dataset=lesion "model=all of them, plurality" worth .1f` on the lesions
# ({value}`tbl-machine-stand-ins dataset=lesion "model=all of them, plurality" low .1f` to
# {value}`tbl-machine-stand-ins dataset=lesion "model=all of them, plurality" high .1f`), fewer than judged each
# item ({numref}`tbl-machine-stand-ins`).
#
# ## What language models may have seen
#
# :::{warning}
# SNLI, MNLI and ChaosNLI were public years before these language models were trained. Items, gold labels and
# even vote counts may be in their training text, and nobody outside their makers can check. If so, they
# may agree with each other and with people because they remember the same answers, and the numbers on language
# models here may overstate what they would be worth on new items.
# :::
#
# One trace would be a preference for the old label where people's majority is another. On the
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" n_contested .0f` such items of SNLI there is none:
# language models give the old label in
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" old_label .0%` of their answers, people in
# {value}`tbl-machine-crowds dataset=snli "crowd=language models" people_old_label .0%`. On the
# {value}`tbl-machine-crowds dataset=mnli "crowd=language models" n_contested .0f` of MNLI they give it
# more often than people, in {value}`tbl-machine-crowds dataset=mnli "crowd=language models" old_label .0%`
# instead of {value}`tbl-machine-crowds dataset=mnli "crowd=language models" people_old_label .0%`. RoBERTa,
# which was trained on such labels though on SNLI's alone, is at
# {value}`tbl-machine-crowds dataset=snli crowd=RoBERTa-base old_label .0%` and
# {value}`tbl-machine-crowds dataset=mnli crowd=RoBERTa-base old_label .0%`. No intervals are
# given here. And this rules out neither that the votes were seen, nor another reason for the difference.
#
# ## Limitations
#
# * ChaosNLI's items of SNLI and MNLI were chosen because their first five labels were split
#   (two people agree on {value}`tbl-machine-crowds dataset=mnli crowd=RoBERTa-base people_agreement .0%` of
#   MNLI); on other items, people agree more.
# * Every language model was asked once, with one prompt, for one label. Another prompt, sampling several
#   answers, or asking for a distribution would make other crowds.
# * A crowd of two, three or six machines says little about the population of machines that it stands for.
#   Intervals are over items,
#   with the machines as they are.
# * Fine-tuned models are few, and small: three seeds of RoBERTa and two of BERT, trained on SNLI alone, and our
#   own MiniLM and MPNet. On αNLI two models of ours are all there is: they agree on
#   {value}`tbl-machine-crowds dataset=alphanli "crowd=all fine-tuned models" agreement .0%` of the items, less often
#   than two people ({value}`tbl-machine-crowds dataset=alphanli "crowd=all fine-tuned models" people_agreement .0%`);
#   MiniLM is little better than chance there.
# * WAX has five or six votes per item and {value}`tbl-machine-stand-ins dataset=wax model=gpt-4o n_annotators .0f`
#   annotators with enough items, the lesions
#   {value}`tbl-machine-stand-ins dataset=lesion model=gpt-4o n_annotators .0f`: ω can take few values.

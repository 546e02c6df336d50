"""The findings of a crowd's page in sentences, and warnings where its votes are too few."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from chaos_utils.analyses.names import join_names
from chaos_utils.analyses.persons import (
    ALL,
    BY_LABEL,
    EVERYONE,
    FEWEST_IN_GROUP,
    SAME,
    vote_repeatedly,
)
from chaos_utils.analyses.your_votes import OVER_BOTH
from chaos_utils.base.errors import counted
from chaos_utils.base.table import Table
from chaos_utils.datasets.votes import BY_PLACE, Votes
from chaos_utils.metrics.groups import FEWEST_PAIRS
from chaos_utils.report.columns import number
from chaos_utils.report.literal import in_markdown
from chaos_utils.scoring import worth as worths
from chaos_utils.scoring.annotators import ENOUGH_VOTES
from chaos_utils.scoring.evaluate import copy_warning, note_on_few
from chaos_utils.scoring.replacement import COMMONEST, ONE_MORE, PASSES
from chaos_utils.scoring.system import System

_WIDEST_INTERVAL = 0.2  # of the disagreement; a wider one says too little
_FEW_PEOPLE = 8  # annotators; so few say nothing of others
# The largest share of the annotators' variance that may come from five of them.
_LARGEST_OF_FIVE = 0.9
_LEVEL = 0.05
_PRIOR_TOLERANCE = 0.02  # difference between the disagreement and the prior's that is ignored


def findings(
    votes: Votes,
    *,
    agreement: Table,
    majorities: Table,
    budget: Table,
    near_chance: Table,
    again: Table,
    shares: Table,
    groups: Table,
    replacement: Table | None,
    scores: Table,
    detectable: Table,
    systems: Sequence[System] = (),
) -> str:
    """Return sentences in Markdown that sum up the page's tables, the verdict on systems first.

    `systems` are those of the tables: who copied the votes is warned of beside the verdict.
    """
    warnings = (copy_warning(votes, system) for system in systems)
    copied = in_markdown(" ".join(filter(None, warnings)))
    verdict = " ".join(_replacement_sentences(replacement, len(votes)))
    if replacement is None and systems and votes.annotations is not None:
        verdict = not_tested(votes)
    sentences = [
        f"{copied} {verdict}".strip(),
        _annotator_sentence(near_chance.rows),
        _agreement_sentence(agreement.rows.set_index("quantity")),
        *_person_sentences(again.rows, shares.rows, groups.rows),
        _majority_sentence(majorities.rows.set_index("quantity")),
        _budget_sentence(votes, budget.rows),
        " ".join(_system_sentences(votes, scores.rows, detectable.rows)),
    ]
    return "\n".join(f"* {sentence}" for sentence in sentences if sentence)


def not_tested(votes: Votes) -> str:
    """Say in Markdown why the replacement test was not run."""
    if votes.annotations is None:
        return "Whether a model may replace an annotator was not tested: it is not known who voted."
    return (
        "Whether a model may replace an annotator was not tested: pass `-p epsilon=…` and "
        "`-p why=…`, chosen before you look."
    )


def vote_warnings(votes: Votes, *, agreement: Table, majorities: Table, near_chance: Table) -> str:
    """Say in Markdown what these votes are too few for; empty where they are enough."""
    by_quantity = agreement.rows.set_index("quantity")
    disagreement = by_quantity.loc["disagreement"]
    warnings = [note_on_few(votes)] if votes.are_few else []
    warnings += _annotator_warnings(near_chance.rows, disagreement)
    warnings += _interval_warnings(by_quantity)
    expected = majorities.rows.set_index("quantity")["value"]["disagreement"]
    is_inside = (
        pd.isna(disagreement["low"]) or disagreement["low"] <= expected <= disagreement["high"]
    )
    if not is_inside and abs(expected - disagreement["value"]) > _PRIOR_TOLERANCE:
        certainty = "sure" if expected < disagreement["value"] else "unsure"
        warnings.append(
            f"with so many labels, the votes are too few for the prior: it expects two votes to "
            f"differ {_percent(expected)} of the time, not {_percent(disagreement['value'])}; what "
            f"this page says about all people below is too {certainty}"
        )
    if not warnings:
        return ""
    points = [f"> * {in_markdown(text[0].upper() + text[1:])}." for text in warnings]
    return "\n".join(["> **What these votes are too few for**", ">", *points])


def data_needed(
    votes: Votes, *, again: Table, shares: Table, groups: Table, near_chance: Table
) -> str:
    """List in Markdown which data would say more about noise, persons and groups; empty if none."""
    lines = list(_data_needed(votes, again.rows, shares.rows, groups.rows, near_chance.rows))
    return "\n".join(f"* **{aim}**: {text}." for aim, text in lines)


def _data_needed(
    votes: Votes,
    again: pd.DataFrame,
    shares: pd.DataFrame,
    groups: pd.DataFrame,
    near_chance: pd.DataFrame,
) -> Iterator[tuple[str, str]]:
    """Yield what could be known, and the data for it."""
    annotations = votes.annotations
    what_they_are = "Groups", "describe the annotators (`annotator_fields:`, `about_annotators:`)"
    ask_again = "ask some people again about some of the same items, and give `round:`"
    if annotations is None:
        by_place = f"; {BY_PLACE}" if votes.dataset.reader.format == "columns" else ""
        yield "Persons", f"say who gave each vote (`annotator:`); running numbers will do{by_place}"
        yield "Noise or opinion", ask_again
        yield what_they_are
        return
    if vote_repeatedly(votes):
        yield (
            "Noise, or groups",
            "somebody gave several votes on an item: say in which round each was given (`round:`), "
            "or keep one of them",
        )
    elif not len(again):
        no_overlap = (
            "nobody judged an item in two rounds that others also judged: ask the same people"
        )
        has_rounds = annotations.round is not None
        yield "Noise or opinion", f"{no_overlap} again" if has_rounds else ask_again
    if not shares["rest"].notna().any():
        yield "Persons", "let each person judge several items that others also judge"
    n_annotators = near_chance["n_annotators"].iloc[0]
    n_few = n_annotators - near_chance["n_judged"].iloc[0]
    if n_few:
        yield (
            "Who is careless",
            f"ask each annotator for {ENOUGH_VOTES} votes or more on items that others also judge "
            f"({n_few:,} of {counted(n_annotators, 'annotator')} have fewer)",
        )
    if not annotations.fields:
        yield what_they_are
    left_out = groups["field"][groups["share"].isna()] if len(groups) else ()
    if len(left_out):
        yield (
            f"Groups by {', '.join(map(in_markdown, left_out))}",
            f"ask at least {FEWEST_IN_GROUP} people of each of two groups about the same items, "
            f"for {FEWEST_PAIRS} pairs of votes within each and between them",
        )


def _annotator_warnings(near: pd.DataFrame, disagreement: pd.Series) -> Iterator[str]:
    """Yield why an interval over annotators is too short, or missing."""
    if not len(near) or pd.isna(disagreement["low"]):
        return
    n_people = near.iloc[0]["n_annotators"]
    people = f"{counted(n_people, 'annotator')} gave these votes"
    if disagreement["over"] != OVER_BOTH:
        yield f"{people}, so the votes cannot say how far others would agree"
    elif n_people <= _FEW_PEOPLE:
        yield f"{people}, too few to speak for others: the intervals are only a guess"
    elif disagreement["of_five"] > _LARGEST_OF_FIVE:
        yield (
            f"{_percent(disagreement['of_five'])} of what other annotators would change depends on "
            "five of these annotators: even the interval over annotators is too short"
        )


def _interval_warnings(agreement: pd.DataFrame) -> Iterator[str]:
    """Yield what intervals of agreement leave open."""
    disagreement, alpha = agreement.loc["disagreement"], agreement.loc["alpha"]
    items = f"{counted(disagreement['n_items'], 'item')} with two votes"
    if pd.isna(disagreement["low"]):
        alike = "people disagree equally on each"
        if not disagreement["value"]:
            alike = "nobody disagrees on any"
        yield f"{alike} of {items}, so how far they agree on other items has no interval"
    if disagreement["high"] - disagreement["low"] > _WIDEST_INTERVAL:
        yield (
            f"{items} are too few to say how far people agree"
            if disagreement["over"] != OVER_BOTH
            else "these items and annotators are too few to say how far people agree"
        )
    if agreement.loc["evenness", "value"] > 1:
        most = disagreement["value"] / agreement.loc["evenness", "value"]
        yield (
            f"these votes differ more often ({_percent(disagreement['value'])}, corrected for "
            f"their number) than people can ({_percent(most)} at most), which is due to chance"
            + ("" if pd.isna(disagreement["low"]) else ", and the interval is too short")
        )
    if alpha["low"] > 0 or (pd.isna(alpha["low"]) and alpha["value"] > 0):
        return
    if alpha["over"] == OVER_BOTH and alpha["value"] > 0:
        yield "the interval of α includes 0: other annotators might agree no more than by chance"
        return
    yield (
        "the votes do not show that items differ in what people say about them: neither items nor "
        "systems can be ranked"
    )


def _agreement_sentence(agreement: pd.DataFrame) -> str:
    """Say how often two votes, and two people, differ, and give α."""
    disagreement, alpha = agreement.loc["disagreement"], agreement.loc["alpha"]
    differ = f"{_percent(disagreement['value'])}{_interval(disagreement)} of the time"
    sentence = f"Two votes on the same item differ {differ}"
    if not pd.isna(alpha["value"]):
        sentence += f"; corrected for chance, their agreement is α = {number(alpha['value'], 2)}"
        if not pd.isna(alpha["low"]):
            sentence += f" [{number(alpha['low'], 2)}, {number(alpha['high'], 2)}]"
        sentence += ", where 1 is full agreement"
    if "alike" in agreement.index:
        alike = agreement.loc["alike"]
        differ = f"{_percent(alike['value'])}{_interval(alike)} of the time"
        sentence += f". Two people differ {differ}, if each annotator counts equally"
    over = "" if pd.isna(disagreement["low"]) else f" Intervals are over {disagreement['over']}."
    return f"{sentence}.{over}"


def _with_interval(row: pd.Series) -> str:
    """Return a share with its interval."""
    return f"{_percent(row['value'])}{_interval(row)}"


def _interval(row: pd.Series) -> str:
    """Return the interval of a share in brackets, or an empty text."""
    return "" if pd.isna(row["low"]) else f" [{_percent(row['low'])}, {_percent(row['high'])}]"


def _person_sentences(
    again: pd.DataFrame, shares: pd.DataFrame, groups: pd.DataFrame
) -> Iterator[str]:
    """Yield what is found of noise, persons and groups, a sentence or two each."""
    if len(again):
        part = SAME if (again["part"] == SAME).any() else ALL
        in_one = "In the same language, the" if part == SAME else "The"
        yield f"{in_one} {_noise_sentence(again[again['part'] == part].set_index('quantity'))}"
    if len(shares) and shares["rest"].notna().any():
        is_whole = (shares["people"] == EVERYONE) & (shares["by"] == BY_LABEL)
        yield _share_sentence(shares[is_whole].iloc[0])
    if len(groups) and groups["share"].notna().any():
        yield _group_sentence(groups[groups["share"].notna()])


def _noise_sentence(again: pd.DataFrame) -> str:
    """Say how often *the* same person, and two people, differ, and what this is not."""
    same, two = (_with_interval(again.loc[name]) for name in ("same", "two"))
    sentence = (
        f"same person, asked again, gives another label {same} of the time; two people, in "
        f"different rounds, differ {two} of the time."
    )
    if "ratio" not in again.index:
        return sentence
    return (
        f"{sentence} About {_with_interval(again.loc['ratio'])} of the disagreement would remain "
        "if one person answered twice; this includes changes of mind, and memory hides slips."
    )


def _share_sentence(shares: pd.Series) -> str:
    """Say which shares of a vote's variance go with the text, the person and neither."""
    last = f"and {_percent(shares['rest'])} to neither"
    if not pd.isna(shares["again"]):
        last = (
            f"{_percent(shares['opinion'])} to the person’s own view of the text, and "
            f"{_percent(shares['again'])} to the occasion (asked again, the same person answers "
            "differently)"
        )
    text, person = _percent(shares["text"]), _percent(shares["person"])
    return f"Of a vote’s variance, {text} is due to the text, {person} to the person, {last}."


def _group_sentence(groups: pd.DataFrame) -> str:
    """Say between which groups a part of the disagreement lies, or that none is shown to.

    A difference has an interval above 0 and p below 0.05: of two groups, one that only varies more
    can have either.
    """
    found = groups[(groups["share_low"] > 0) & (groups["p_holm"] < _LEVEL)]
    if len(found):
        ends = {"share": "value", "share_low": "low", "share_high": "high"}
        parts = [
            f"{_with_interval(row)} by {in_markdown(row['field'])}"
            for _, row in found.rename(columns=ends).iterrows()
        ]
        return (
            f"A part of the disagreement lies between groups of people: {', '.join(parts)}. It is "
            "a mean over texts, and says nothing about a single text or person."
        )
    many = len(groups) > 1
    which = f"any of {len(groups)} fields" if many else "the one field that can be judged"
    sentence = f"We cannot show that any of the disagreement lies between groups, by {which}"
    if groups["joint_high"].notna().any():
        most = _percent(min(max(groups["joint_high"].max(), 0), 1))
        until = "intervals, corrected for all, reach" if many else "interval reaches"
        sentence += f"; the {until} up to {most}"
    return f"{sentence}. That does not show that groups agree."


def _majority_sentence(majorities: pd.DataFrame) -> str:
    right, sure = (majorities.loc[name, "value"] for name in ("right", "sure"))
    return (
        f"The majority label is also the commonest among all people on about {_percent(right)} of "
        f"the items; on {_percent(sure)} of the items, this is 95% sure."
    )


def _budget_sentence(votes: Votes, budget: pd.DataFrame) -> str:
    """Say how near the votes come to all people, and how near more votes would come."""
    error_rows = budget[(budget["quantity"] == "error") & (budget["measure"] == "dist_ce")]
    errors = error_rows.set_index("n_votes")["value"]
    usual = votes.n_votes_each or float(pd.Series(votes.n_votes).median())
    n_votes = max(n for n in errors.index if n <= max(usual, 1))
    more = next((n for n in errors.index if n > n_votes), None)
    sentence = f"{counted(n_votes, 'vote')} per item come within {errors[n_votes]:.2f} (TVD)"
    if more is None:
        return f"{sentence} of all people."
    by_prior = ", as far as the prior knows" if more > votes.n_votes.max() else ""
    return f"{sentence} of all people; {more} would come within {errors[more]:.2f}{by_prior}."


def _annotator_sentence(near: pd.DataFrame) -> str:
    """Say how many annotators are near chance, how many votes they gave, and what these change."""
    if not len(near):
        return (
            "It is not known who gave which vote: we cannot find people who labelled at random, "
            "intervals are over items only, and no model can be tested in an annotator's place."
        )
    row = near.iloc[0]
    annotators = counted(row["n_annotators"], "annotator")
    if not row["n_usual"]:
        return f"None of {annotators} has enough votes to be judged."
    if pd.isna(row["median"]):
        return (
            f"Beyond chance, the {annotators} do not clearly agree, so nobody stands out: "
            "these votes cannot show who labels at random."
        )
    if not row["n_judged"]:
        return (
            f"None of {annotators} has a hundred votes; with fewer, we cannot say who labels at "
            "random."
        )
    judged = f"{counted(row['n_judged'], 'annotator')} with a hundred votes or more"
    if row["n_judged"] < row["n_annotators"]:
        judged = f"{judged} ({row['n_annotators']:,} in all)"
    if not row["n_near"]:
        return f"None of {judged} is near chance."
    return (
        f"Of {judged}, {row['n_near']} {'agree' if row['n_near'] > 1 else 'agrees'} with the rest "
        f"hardly more than by chance. They gave {_percent(row['share_of_votes'])} of the votes. "
        f"Two votes differ {_percent(row['disagreement'])} of the time with them, and "
        f"{_percent(row['disagreement_without'])} without them "
        f"({_percent(row['disagreement_elsewhere'])} on items that were not used to find them)."
    )


def _replacement_sentences(replacement: Table | None, n_items: int) -> Iterator[str]:
    """Yield which systems pass the replacement test, and how much this says."""
    if replacement is None:
        return
    rows = replacement.rows.to_dict("records")
    yardsticks = {row["system"]: row for row in rows if row["origin"] in ("baseline", "reference")}
    constant, person = yardsticks[COMMONEST], yardsticks[ONE_MORE]
    systems = [row for row in rows if row["origin"] not in ("baseline", "reference")]
    if pd.isna(person["passed"]):
        yield "There are too few annotators for a verdict on whether a model may replace one."
        return
    passing = [row for row in systems if row["passed"]]
    if systems:
        yield _verdict(systems, passing, n_items)
    else:
        yield "No system was tested: pass `-p predictions=FILE`."
    if passing:
        which = "it" if len(passing) == 1 else "they"
        yield f"The test does not show that {which} may replace all of them."
    sentence = f"One more person would pass in {_percent(person['passed'])} of simulations"
    if person["passed"] < 0.5 and len(passing) < len(systems):
        sentence += ", so failing says little here"
    yield f"{sentence}."
    if constant["verdict"] == PASSES:
        yield "Giving each item the most frequent label also passes: passing says nothing here."


def _verdict(
    systems: Sequence[Mapping[str, Any]], passing: Sequence[Mapping[str, Any]], n_items: int
) -> str:
    """Say which systems pass, with which margin and items, and against how many annotators.

    The votes are on `n_items`; the test may be on fewer.
    """
    names = [in_markdown(row["system"]) for row in passing]
    is_single = len(systems) == 1
    shown = zip(["it"], systems, strict=True) if is_single else zip(names, passing, strict=True)
    wins = [f"{name} won against {row['wins']:g} of {row['n_annotators']:,}" for name, row in shown]
    items = _on_items(systems[0]["n_items"], n_items)
    setting = "; ".join([f"ε = {systems[0]['epsilon']:g}", items, *wins])
    return (
        f"{_passing_phrase(names, len(systems))} the test of replacing one annotator ({setting})."
    )


def _on_items(n: int, n_items: int) -> str:
    """Return how many items something was computed on, and of how many, if not of all."""
    return counted(n, "item") if n == n_items else f"{n:,} of {counted(n_items, 'item')}"


def _passing_phrase(passing: Sequence[str], n_systems: int) -> str:
    if n_systems == 1:
        return f"{passing[0]} passed" if passing else "The system did not pass"
    if passing:
        return f"Of the {n_systems} systems, {join_names(passing)} passed"
    none = "Neither of the two" if n_systems == 2 else f"None of the {n_systems}"
    return f"{none} systems passed"


def _system_sentences(
    votes: Votes, scores: pd.DataFrame, detectable: pd.DataFrame
) -> Iterator[str]:
    """Yield the worth of the nearest system or, without one, the smallest detectable difference."""
    systems = scores[~scores["origin"].isin(["baseline", "reference"])]
    worth = systems[systems["measure"].isin(worths.NAMES)]
    names = list(dict.fromkeys(worth["system"]))
    if names:
        rows = worth[worth["system"] == names[0]].to_dict("records")
        n_items, where = rows[0]["n_items"], votes.dataset.short
        if n_items < len(votes):
            where = f"{_on_items(int(n_items), len(votes))} of {where}"
        yield in_markdown(worths.in_a_sentence(rows, where))
    if len(names) > 1:
        yield f"Of the {len(names)} systems, it comes nearest to people by squared distance."
    if not names and len(detectable):
        row = detectable[detectable["measure"] == "sq_distance"].iloc[-1]
        yield (
            "To tell the base rate from a uniform guess, their squared distances must differ by "
            f"{number(row['difference'], 3)} (detected in 80% of studies). Two models usually need "
            "a larger difference: see the chapter *How many votes, how many items*."
        )
    elif not names:
        yield "There are too few items to tell two systems apart."


def _percent(share: float) -> str:
    return f"{number(100 * share)}%"

"""What the page of a crowd finds, in five sentences made for its votes, and what it leaves open."""

from collections.abc import Iterator, Sequence

import pandas as pd

from chaos_utils.analyses.names import listed
from chaos_utils.analyses.notices import in_markdown
from chaos_utils.base.errors import counted
from chaos_utils.base.table import Table
from chaos_utils.datasets.votes import Votes
from chaos_utils.report.columns import number
from chaos_utils.scoring import worth as worths
from chaos_utils.scoring.judging import note_on_few
from chaos_utils.scoring.replacement import COMMONEST, ONE_MORE, PASSES

_WIDEST = 0.2  # interval of how often two people differ that still says something
_PRIOR_OFF = 0.02  # of the same, by the prior: less is no matter


def findings(
    votes: Votes,
    *,
    agreed: Table,
    majorities: Table,
    budget: Table,
    annotators: Table,
    replaced: Table | None,
    judged: Table,
    detectable: Table,
) -> str:
    """Return five sentences in Markdown, from the page's tables, which say more."""
    agreement = agreed.rows.set_index("quantity")
    sentences = [
        _on_agreement(agreement),
        _on_majorities(majorities.rows.set_index("quantity")),
        _on_numbers(votes, budget.rows),
        " ".join([_on_annotators(annotators.rows), *_on_replacement(replaced)]),
        " ".join(_on_systems(votes, judged.rows, detectable.rows)),
    ]
    return "\n".join(f"* {sentence}" for sentence in sentences)


def too_few(votes: Votes, *, agreed: Table, majorities: Table) -> str:
    """Say in Markdown what these votes are too few for; nothing where they are enough."""
    agreement = agreed.rows.set_index("quantity")
    apart, alpha = agreement.loc["disagreement"], agreement.loc["alpha"]
    said = [note_on_few(votes)] if votes.are_few else []
    if apart["high"] - apart["low"] > _WIDEST:
        said.append(
            f"{counted(apart['n_items'], 'item')} with two votes are too few to say how far people "
            "agree"
        )
    if agreement.loc["evenness", "value"] > 1:
        most = apart["value"] / agreement.loc["evenness", "value"]
        said.append(
            f"people differ more often in these votes ({_percent(apart['value'])}, corrected for "
            f"their number) than they can ({_percent(most)} at most): that is chance, and the "
            "interval is too short"
        )
    if not alpha["low"] > 0:
        said.append(
            "the votes do not show that items differ in what people say of them: neither items "
            "nor systems can be ranked"
        )
    expected = majorities.rows.set_index("quantity")["value"]["disagreement"]
    is_inside = apart["low"] <= expected <= apart["high"]
    if not is_inside and abs(expected - apart["value"]) > _PRIOR_OFF:
        said.append(
            f"for so many labels, the votes are too few for the prior: it expects two people to "
            f"differ {_percent(expected)} of the time, not {_percent(apart['value'])}; what is "
            f"said of all people below is too {'sure' if expected < apart['value'] else 'unsure'}"
        )
    if not said:
        return ""
    points = [f"> * {in_markdown(one[0].upper() + one[1:])}." for one in said]
    return "\n".join(["> **What these votes are too few for**", ">", *points])


def _on_agreement(agreement: pd.DataFrame) -> str:
    apart, alpha = agreement.loc["disagreement"], agreement.loc["alpha"]
    chance = ""
    if not pd.isna(alpha["value"]):
        chance = (
            f"; beyond chance they agree by α = {number(alpha['value'], 2)}"
            f" [{number(alpha['low'], 2)}, {number(alpha['high'], 2)}], where 1 is full agreement"
        )
    return (
        f"Asked about the same item, two people give different labels {_percent(apart['value'])}"
        f" [{_percent(apart['low'])}, {_percent(apart['high'])}] of the time{chance}."
    )


def _on_majorities(majorities: pd.DataFrame) -> str:
    right, sure = (majorities.loc[name, "value"] for name in ("right", "sure"))
    return (
        f"The majority label is also the commonest of all people on about {_percent(right)} of "
        f"the items; on {_percent(sure)}, that is 95% sure."
    )


def _on_numbers(votes: Votes, budget: pd.DataFrame) -> str:
    """Say what as many votes as there are are worth, and what more would be."""
    shown = budget[(budget["quantity"] == "error") & (budget["measure"] == "dist_ce")]
    errors = shown.set_index("n_votes")["value"]
    usual = votes.n_votes_each or float(pd.Series(votes.n_votes).median())
    here = max(n for n in errors.index if n <= max(usual, 1))
    more = next((n for n in errors.index if n > here), None)
    said = f"{counted(here, 'vote')} per item come within {errors[here]:.2f} (TVD) of all people"
    if more is None:
        return f"{said}."
    by_prior = ", as far as the prior knows" if more > votes.n_votes.max() else ""
    return f"{said}; {more} would come within {errors[more]:.2f}{by_prior}."


def _on_annotators(annotators: pd.DataFrame) -> str:
    if not len(annotators):
        return (
            "It is not known who gave which vote, so nothing can be said of single annotators, nor "
            "whether a model may replace one."
        )
    row = annotators.iloc[0]
    if not row["n_usual"]:
        return f"None of {counted(row['n_annotators'], 'annotator')} has votes enough to be judged."
    known, n_clear = counted(row["n_usual"], "annotator"), row["n_usual"] - row["at_chance"]
    return (
        f"Of {known} with ten votes or more, {n_clear} clearly agree with the rest beyond chance."
    )


def _on_replacement(replaced: Table | None) -> Iterator[str]:
    """Yield which systems pass the test, and what that is worth here."""
    if replaced is None:
        return
    rows = replaced.rows.to_dict("records")
    of_name = {row["system"]: row for row in rows if row["origin"] in ("baseline", "reference")}
    constant, person = of_name[COMMONEST], of_name[ONE_MORE]
    systems = [row for row in rows if row["origin"] not in ("baseline", "reference")]
    if pd.isna(person["passed"]):
        yield "They are too few for a verdict on whether a model may replace one."
        return
    passing = [in_markdown(row["system"]) for row in systems if row["passed"]]
    if systems:
        yield (
            f"{_who_passed(passing, len(systems))} the test of replacing one "
            f"(ε = {person['epsilon']:g})."
        )
    said = f"One more person would pass in {_percent(person['passed'])} of simulations"
    if person["passed"] < 0.5 and len(passing) < len(systems):
        said += ", so that not to pass says little here"
    yield f"{said}."
    if constant["verdict"] == PASSES:
        yield "To give each item the most frequent label passes, too: passing says nothing here."


def _who_passed(passing: Sequence[str], n_systems: int) -> str:
    if n_systems == 1:
        return f"{passing[0]} passed" if passing else "The system did not pass"
    if passing:
        return f"Of the {n_systems} systems, {listed(passing)} passed"
    none = "Neither of the two" if n_systems == 2 else f"None of the {n_systems}"
    return f"{none} systems passed"


def _on_systems(votes: Votes, judged: pd.DataFrame, detectable: pd.DataFrame) -> Iterator[str]:
    """Yield what the nearest system is worth, or which differences these items find."""
    asked = judged[~judged["origin"].isin(["baseline", "reference"])]
    worth = asked[asked["measure"].isin(worths.NAMES)]
    names = list(dict.fromkeys(worth["system"]))
    if names:
        rows = worth[worth["system"] == names[0]].to_dict("records")
        yield in_markdown(worths.in_a_sentence(rows, votes.dataset.short))
    if len(names) > 1:
        yield f"Of the {len(names)} systems, it comes nearest to people by squared distance."
    if not names and len(detectable):
        row = detectable[detectable["measure"] == "sq_distance"].iloc[-1]
        yield (
            f"To tell two systems apart, their squared distance must differ by "
            f"{number(row['difference'], 3)} (found in 80% of studies)."
        )
    elif not names:
        yield "The items are too few to tell two systems apart."


def _percent(share: float) -> str:
    return f"{share:.0%}"

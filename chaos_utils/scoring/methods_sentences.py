"""The sentences on an evaluation that a paper owes: what was measured, how, and beside what.

The wordings are data, ``methods_sentences.yml``: the page that judges files fills the same. What
they name in braces are facts, texts by name; here they are made of an `Answer` and the votes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from chaos_utils.base import paths
from chaos_utils.base.authorship import read_citation
from chaos_utils.base.numbers import true_minus
from chaos_utils.base.yaml_files import read_yaml
from chaos_utils.datasets.votes import ENOUGH_VOTES, Ints, Votes
from chaos_utils.metrics.agreement import agreement_columns, mean_disagreement, quadratic_entropy
from chaos_utils.metrics.resampling import bootstrap_means, percentile_interval
from chaos_utils.scoring import worth as worths
from chaos_utils.scoring.annotators import over_people
from chaos_utils.scoring.evaluate import (
    RESAMPLES,
    Answer,
    base_rate_misleads,
    copy_warning,
    part_of,
    references,
)
from chaos_utils.scoring.references import UNSETTLED
from chaos_utils.scoring.scores import ScoreRow, available
from chaos_utils.scoring.system import System, votes_of

Facts = Mapping[str, str]
_FILE = "methods_sentences.yml"
_NAME = re.compile(r"\{(\w+)\}")
_PERCENT = {"times": 100, "digits": 1}
_SAME = 1e-12  # items' disagreements that differ by less differ by rounding alone


@cache
def wordings() -> Mapping[str, Any]:
    """Return the sentences' wordings, and how measures are written, as the file has them."""
    content: Mapping[str, Any] = read_yaml(Path(__file__).with_name(_FILE), _FILE)
    return content


def fill(facts: Facts) -> str:
    """Return the sentences that these facts allow, as one paragraph."""
    sentences = []
    for alternatives in wordings()["sentences"]:
        allowed = (words for words in alternatives if facts.keys() >= set(_NAME.findall(words)))
        if words := next(allowed, ""):
            sentences.append(_NAME.sub(lambda match: facts[match[1]], words))
    return " ".join(sentences)


def methods_sentences(
    answer: Answer,
    systems: Mapping[str, Sequence[System]],
    all_votes: Sequence[Votes],
    *,
    seed: int = 0,
) -> list[str]:
    """Return a paragraph on each system, by dataset and in the order of `systems`.

    `answer` is what `evaluate_files` answers about these systems and votes, by the usual measures.
    `seed` is for the interval of how often two votes differ. Before the paragraph on a system that
    seems to be a copy of the votes is the warning that says so, a paragraph of its own.
    """
    votes_on = {votes.dataset.name: votes for votes in all_votes}
    return [
        "\n\n".join(filter(None, [
            copy_warning(votes_on[dataset], system),
            fill(_facts(answer, system, votes_on[dataset], seed)),
        ]))
        for dataset, dataset_systems in systems.items()
        for system in dataset_systems
    ]  # fmt: skip


def sentences_on_votes(votes: Votes, n_resamples: int, seed: int = 0) -> str:
    """Return the paragraph on votes alone: how many there are, and how often two differ."""
    facts = facts_of_items(votes, np.arange(len(votes)))
    return fill(facts | facts_of_votes(votes, n_resamples, seed) | facts_of_book())


def _facts(answer: Answer, system: System, votes: Votes, seed: int) -> dict[str, str]:
    rows = [row for row in answer.rows if row["dataset"] == votes.dataset.name]
    rows = [row for row in rows if not row.get("reference")]
    own = {
        row["measure"]: row
        for row in rows
        if row["system"] == system.name and not _is_reference(row)
    }
    group = next((row["group"] for row in own.values()), "")
    beside = {
        (row["system"], row["measure"]): row["value"]
        for row in rows
        if _is_reference(row) and row["group"] == group and _is_number(row)
    }
    items = system.rows_in(votes)
    facts = facts_of_items(votes, items)
    facts |= facts_of_votes(part_of(votes, items), answer.n_resamples, seed)
    facts |= _facts_of_measures(own, beside) | _facts_of_worth(own)
    facts |= {"system": system.name} | facts_of_book()
    if system.one_label:
        facts["labels"] = ""
        facts.pop("few", None)  # which is about distances
    if system.n_samples:
        facts["answers"] = _range(system.n_samples)
    if system.out_of_fold and votes_of(votes.dataset) in system.trained_on:
        facts["fitted"] = ""
    k = votes.dataset.n_classes
    facts["map_numbers"] = str(k * (k + 1))
    if any(facts.get(f"{name}_interval") for name in (*wordings()["measures"], *worths.NAMES)):
        facts |= _resampled(answer.n_resamples)
    return facts


def _is_reference(row: ScoreRow) -> bool:
    return row["origin"] in ("reference", "baseline")


def facts_of_items(votes: Votes, items: Ints) -> dict[str, str]:
    """Return how many items there are, and how many votes they have; `items` are rows."""
    n_votes = votes.n_votes[items]
    are_few = np.median(n_votes) < ENOUGH_VOTES
    part = "" if len(items) == len(votes) else f"{len(items):,} of the "
    return {
        "dataset": votes.dataset.title,
        "synthetic": wordings()["synthetic"] * votes.source.synthetic,
        "items": f"{part}{len(votes):,} items",
        "votes": _votes_in_words(n_votes),
        "few" if are_few else "enough": "",
        "enough_votes": str(ENOUGH_VOTES),
    }


def _votes_in_words(n_votes: Ints) -> str:
    """Return the numbers of votes per item: ``1 vote``, ``100 votes``, ``3 to 5 votes``."""
    fewest, most = int(n_votes.min()), int(n_votes.max())
    if fewest == most:
        return f"{most:,} vote{'' if most == 1 else 's'}"
    median = f"{np.median(n_votes):,.1f}".removesuffix(".0")
    return f"{_range((fewest, most))} votes (median {median})"


def _range(numbers: Iterable[int]) -> str:
    return " to ".join(f"{number:,}" for number in sorted(set(numbers)))


def facts_of_votes(votes: Votes, n_resamples: int, seed: int) -> dict[str, str]:
    """Return how many annotators there are, and how often two votes on an item differ.

    The interval is over items and annotators where annotators are named, else over items; there is
    none where nothing varies. Without an item that has two votes, nobody can differ.
    """
    facts = {"annotators": ""}
    several = votes.counts[votes.n_votes >= 2]
    if votes.annotations is not None:
        n_annotators = len(np.unique(votes.annotations.annotator))
        facts = {"annotators": f" from {n_annotators:,} annotators"}
    if not len(several):
        return facts
    by_item = quadratic_entropy(several)
    value, low, high = by_item.mean(), np.nan, np.nan
    if votes.annotations is not None:
        jackknife = over_people(votes, agreement_columns, mean_disagreement)
        low, high = jackknife.interval(0, max(1 - 1 / votes.dataset.n_classes, jackknife.value))
        facts |= {} if np.isnan(low) else {"by_annotator": ""}
    elif n_resamples and np.ptp(by_item) > _SAME:
        rng = np.random.default_rng([seed, 0])
        means = bootstrap_means(np.sort(by_item)[:, np.newaxis], n_resamples, rng)
        low, high = (float(end[0]) for end in percentile_interval(means))
        facts |= _resampled(n_resamples)
    return facts | _value_and_interval("differ", (value, low, high), _PERCENT)


def _resampled(n_resamples: int) -> dict[str, str]:
    return {"resampled": "", "resamples": f"{n_resamples:,}"}


def facts_of_book() -> dict[str, str]:
    """Return the version of the book, and its citation; outside a checkout, the version alone."""
    if paths.find_project() is None:
        return {"version": version("chaos-utils"), "citation": ""}
    book = read_citation()
    address = book.resolver or book.url
    source = [f"{', '.join(book.authors)}, {book.year}", *([address] if address else [])]
    return {"version": book.version, "citation": f" ({'; '.join(source)})"}


def page_facts(votes: Votes) -> dict[str, Any]:
    """Return what a page must know of votes, since it draws nothing: for files that cover all.

    * ``facts``: see `facts_of_votes`, with the command's defaults
    * ``references``: by measure, the values of references that are numbers, by name
    """
    names = available(votes, wordings()["measures"])
    values: dict[str, dict[str, float]] = {name: {} for name in names}
    for row in references(votes, names):
        if _is_number(row) and row["system"] in wordings()["references"]:
            values[row["measure"]][row["system"]] = row["value"]
    return {"facts": facts_of_votes(votes, RESAMPLES, seed=0), "references": values}


def _is_number(row: ScoreRow) -> bool:
    return row.get("text") != UNSETTLED and not np.isnan(row["value"])


def _facts_of_measures(
    own: Mapping[str, ScoreRow], beside: Mapping[tuple[str, str], float]
) -> dict[str, str]:
    facts: dict[str, str] = {}
    accuracy_of = {
        other: value for (other, name), value in beside.items() if name == "new_accuracy"
    }
    hidden = [("base rate", "new_accuracy")] if base_rate_misleads(accuracy_of) else []
    for name, entry in wordings()["measures"].items():
        if (row := own.get(name)) and not np.isnan(row["value"]):
            numbers = (row["value"], row.get("low", np.nan), row.get("high", np.nan))
            facts |= _value_and_interval(name, numbers, entry)
            phrases = [
                wordings()["references"][other].replace(
                    "{value}", _formatted(beside[other, name], entry)
                )
                for other in entry["beside"]
                if (other, name) in beside and (other, name) not in hidden
            ]
            facts[f"{name}_beside"] = f"; {', '.join(phrases)}" if phrases else ""
    return facts


def _formatted(value: float, entry: Mapping[str, Any]) -> str:
    return true_minus(f"{entry['times'] * value:.{entry['digits']}f}")


def _facts_of_worth(own: Mapping[str, ScoreRow]) -> dict[str, str]:
    rows = [own[name] for name in worths.NAMES if name.startswith(worths.PEOPLE) and name in own]
    known = [row for row in rows if worths.is_number(row["text"])]
    if rows and not known:
        return {"no_worth": rows[0]["text"].partition(": ")[2]}
    if any(np.isposinf(row["value"]) for row in known):
        return {"endless": ""}
    facts: dict[str, str] = {}
    for row in known:
        name = row["measure"]
        facts[name] = worths.people_in_words(row["value"])
        ends = [worths.people_in_words(row[end]) for end in ("low", "high")]
        facts[f"{name}_interval"] = "" if np.isnan(row["low"]) else f" [{', '.join(ends)}]"
    if worths.PEOPLE_RECALIBRATED in facts:
        facts["mapped"] = ""
    elif worths.PEOPLE_SHRUNK in facts:
        facts["shrunk"] = ""
    return facts


def _value_and_interval(
    name: str, numbers: tuple[float, float, float], entry: Mapping[str, Any]
) -> dict[str, str]:
    value, low, high = (_formatted(number, entry) for number in numbers)
    return {name: value, f"{name}_interval": "" if np.isnan(numbers[1]) else f" [{low}, {high}]"}

"""May a system replace an annotator? The test, and what else passes it on the same votes."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.datasets.splits import item_groups, one_text_error
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.agreement import kappa_from_means, pairwise_agreement
from chaos_utils.metrics.priors import fit_dirichlet
from chaos_utils.metrics.replacement import (
    FEWEST_ITEMS,
    Replacement,
    alternative_annotator_test,
)
from chaos_utils.scoring.annotators import annotations_of
from chaos_utils.scoring.human_equivalents import check_seed, refusal
from chaos_utils.scoring.system import System, check_names, shared_rows

Row = dict[str, Any]
COMMONEST = "most frequent label"
ONE_MORE = "one more person, simulated"
PASSES, FAILS = "passes", "does not pass"
_PEOPLE = 100  # who are simulated
_FOR_A_VERDICT = 3  # annotators
_CUSTOMS = "0.2 beside experts, 0.15 beside skilled annotators, 0.1 beside crowd workers"


def replacement(
    votes: Votes,
    systems: Sequence[System],
    *,
    epsilon: float,
    reason: str,
    n_people: int = _PEOPLE,
    seed: int = 0,
) -> list[Row]:
    """Test whether systems may replace an annotator, on the items that all of them cover.

    A row for each system; for the label that is most frequent on these items; and for one more
    person, whose labels are drawn as people's are expected to be, given an item's votes and a
    Dirichlet prior (one on a grid keeps too close to the votes where labels are many): the means
    over `n_people` of them, of whom a share has ``passed``. Items that share a text are averaged
    first. A second vote of an annotator on an item is left out.
    """
    check_margin(epsilon, reason)
    check_seed(seed)
    check_names(systems)
    items = _common_items(votes, systems)
    groups = item_groups([votes])[0][items]
    if (groups == groups[0]).all():
        raise one_text_error(votes)
    annotations = annotations_of(votes)
    voted = annotations.item * (annotations.annotator.max() + 1) + annotations.annotator
    _, first = np.unique(voted, return_index=True)
    first = first[np.isin(annotations.item[first], items)]
    item = np.searchsorted(items, annotations.item[first])
    annotator, label = annotations.annotator[first], annotations.label[first]
    counts = np.zeros((len(items), votes.dataset.n_classes), dtype=np.int64)
    np.add.at(counts, (item, label), 1)
    several = counts.sum(axis=1) > 1
    test = partial(
        alternative_annotator_test, item, annotator, label, n_classes=votes.dataset.n_classes,
        epsilon=epsilon, ordered=votes.dataset.ordered, groups=groups,
    )  # fmt: skip
    commonest = np.full(len(items), counts.sum(axis=0).argmax())
    try:
        of_commonest = test(commonest)
    except ValueError as fault:
        raise ChaosError(
            "The votes are too few to say whether a system may replace an annotator.",
            where=votes.dataset.title,
            found=str(fault),
            expected=f"{_FOR_A_VERDICT} annotators for a verdict; items of one text count as one",
            todo="collect more votes of the same people; no test is made of fewer",
        ) from fault
    shares = counts[several] / counts[several].sum(axis=1, keepdims=True)
    kappa = kappa_from_means(pairwise_agreement(counts[several]).mean(), shares.mean(axis=0))
    about: Row = {
        "dataset": votes.dataset.name,
        "n_items": int(several.sum()),
        "n_annotators": len(of_commonest.annotator),
        "epsilon": epsilon,
        "reason": reason.strip(" ."),
        "kappa": float(kappa),
        "annotators_left_out": len(np.unique(annotations.annotator)) - len(of_commonest.annotator),
        "votes_left_out": len(annotations.item) - int(counts[several].sum()),
    }
    rows = [
        about
        | {"system": system.name, "origin": system.origin}
        | _found([test(_labels(system, votes, items))])
        for system in systems
    ]
    rows.append(about | {"system": COMMONEST, "origin": "baseline"} | _found([of_commonest]))
    people = _people(counts, several, n_people, np.random.default_rng([seed, 6]))
    simulated = _found([test(person) for person in people])
    return [*rows, about | {"system": ONE_MORE, "origin": "reference"} | simulated]


def check_margin(epsilon: float, reason: str) -> None:
    """Raise a ChaosError if the margin is none, or nobody says why it is this one."""
    if not 0 <= epsilon < 1:
        raise ChaosError(
            "The margin of the replacement test is no share.", found=f"epsilon={epsilon}",
            expected=f"0 to 1; its authors propose {_CUSTOMS}, and less where agreement is low",
        )  # fmt: skip
    if not reason.strip():
        raise ChaosError(
            "The margin of the replacement test needs a reason.",
            found=f"epsilon={epsilon}, and no reason",
            expected="what a system saves that makes up for being so far behind a person",
            todo=f"state it before you look; its authors propose {_CUSTOMS}, and less where "
            "agreement is low",
        )


def _common_items(votes: Votes, systems: Sequence[System]) -> Ints:
    for system in systems:
        if reason := refusal(votes, system):
            raise ChaosError(
                f"{system.name!r} cannot be tested beside annotators: it was {reason}.",
                where=votes.dataset.title,
                expected="a system that has not seen these votes, or predictions out of fold",
            )
    items = shared_rows(votes, systems)
    if not len(items):
        raise ChaosError("No item is covered by all systems.", where=votes.dataset.title)
    return items


def _labels(system: System, votes: Votes, items: Ints) -> Ints:
    """Return a system's labels on these items: those it states, or its first likeliest."""
    places = np.searchsorted(system.rows_in(votes), items)
    return system.aligned_to(votes).predicted[places]


def _people(
    counts: Ints, several: npt.NDArray[np.bool_], n_people: int, rng: np.random.Generator
) -> Iterator[Ints]:
    """Yield the labels of people who are simulated, on the items with several votes."""
    expected = counts[several] + fit_dirichlet(counts[several])
    upto = expected.cumsum(axis=1) / expected.sum(axis=1, keepdims=True)
    labels = np.zeros(len(counts), dtype=np.int64)
    for _ in range(n_people):
        labels[several] = (rng.random((len(upto), 1)) > upto[:, :-1]).sum(axis=1)
        yield labels


def _found(tests: Sequence[Replacement]) -> Row:
    """Return what one test says, or several of the same kind on average, in numbers and words."""
    passed = float(np.mean([test.passed for test in tests]))
    verdict = PASSES if passed else FAILS
    if len(tests) > 1:
        verdict = f"{passed:.0%} pass"
    n_annotators = len(tests[0].annotator)
    if n_annotators < _FOR_A_VERDICT:
        passed, verdict = np.nan, f"none: needs {_FOR_A_VERDICT} annotators"
    return {
        "wins": float(np.mean([test.won.sum() for test in tests])),
        "winning_rate": float(np.mean([test.winning_rate for test in tests])),
        "advantage": float(np.mean([test.advantage_probability for test in tests])),
        "passed": passed,
        "verdict": verdict,
    }


def setting(row: Row) -> str:
    """Say with what margin, and on which votes, a row of `replacement` was found."""
    n_left_out, n_known = row["annotators_left_out"], row["n_annotators"]
    sentences = [
        f"ε is {row['epsilon']:g}, for this reason: {row['reason']}.",
        f"{counted(n_known, 'annotator')} with {FEWEST_ITEMS} items or more that others labelled "
        f"too {'is' if n_known == 1 else 'are'} tested, on {counted(row['n_items'], 'item')}; "
        f"people agree on them with κ = {row['kappa']:.2f}.",
    ]
    if n_left_out:
        sentences.append(
            f"{counted(n_left_out, 'annotator')} with fewer "
            f"{'is' if n_left_out == 1 else 'are'} left out, and only judge."
        )
    if row["votes_left_out"]:
        sentences.append(
            f"{counted(row['votes_left_out'], 'vote')} left out: on items without a prediction or "
            "another annotator's vote, or an annotator's second vote on an item."
        )
    return " ".join(sentences)

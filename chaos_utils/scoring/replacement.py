"""May a system replace an annotator? The test, and which baselines pass it on the same votes."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.datasets.splits import item_groups, one_text_error
from chaos_utils.datasets.votes import FOR_A_VERDICT, Ints, Votes
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
_PEOPLE = 100  # simulated people
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

    There is a row for each system; for the label that is most frequent on these items; and for one
    more person. That person is simulated `n_people` times, and the row has the means; ``passed`` is
    the share that passes. A simulated person's labels are drawn from the expected shares, given the
    item's votes and a Dirichlet prior (a prior on a grid keeps too close to the votes if labels are
    many). Items that share a text are averaged first. An annotator's second vote on an item is left
    out.
    """
    check_margin(epsilon, reason)
    check_seed(seed)
    check_names(systems)
    items = _common_items(votes, systems)
    groups = item_groups([votes])[0][items]
    if (groups == groups[0]).all():
        raise one_text_error(votes)
    annotations = annotations_of(votes)
    item_and_annotator = (
        annotations.item * (annotations.annotator.max() + 1) + annotations.annotator
    )
    _, first = np.unique(item_and_annotator, return_index=True)
    first = first[np.isin(annotations.item[first], items)]
    item = np.searchsorted(items, annotations.item[first])
    annotator, label = annotations.annotator[first], annotations.label[first]
    counts = np.zeros((len(items), votes.dataset.n_classes), dtype=np.int64)
    np.add.at(counts, (item, label), 1)
    has_several = counts.sum(axis=1) > 1
    test = partial(
        alternative_annotator_test, item, annotator, label, n_classes=votes.dataset.n_classes,
        epsilon=epsilon, ordered=votes.dataset.ordered, groups=groups,
    )  # fmt: skip
    commonest = np.full(len(items), counts.sum(axis=0).argmax())
    try:
        commonest_result = test(commonest)
    except ValueError as fault:
        raise ChaosError(
            "The votes are too few to say whether a system may replace an annotator.",
            where=votes.dataset.title,
            found=str(fault),
            expected=f"{FOR_A_VERDICT} annotators for a verdict; items of one text count as one",
            todo="collect more votes by the same people",
        ) from fault
    shares = counts[has_several] / counts[has_several].sum(axis=1, keepdims=True)
    kappa = kappa_from_means(pairwise_agreement(counts[has_several]).mean(), shares.mean(axis=0))
    common_columns: Row = {
        "dataset": votes.dataset.name,
        "n_items": int(has_several.sum()),
        "n_annotators": len(commonest_result.annotator),
        "epsilon": epsilon,
        "reason": reason.strip(" ."),
        "kappa": float(kappa),
        "annotators_left_out": len(np.unique(annotations.annotator))
        - len(commonest_result.annotator),
        "votes_left_out": len(annotations.item) - int(counts[has_several].sum()),
    }
    rows = [
        common_columns
        | {"system": system.name, "origin": system.origin}
        | _result([test(_labels(system, votes, items))])
        for system in systems
    ]
    rows.append(
        common_columns | {"system": COMMONEST, "origin": "baseline"} | _result([commonest_result])
    )
    people = _simulated_people(counts, has_several, n_people, np.random.default_rng([seed, 6]))
    simulated = _result([test(person) for person in people])
    return [*rows, common_columns | {"system": ONE_MORE, "origin": "reference"} | simulated]


def check_margin(epsilon: float, reason: str) -> None:
    """Raise a ChaosError if the margin is not in [0, 1), or there is no reason for it."""
    if not 0 <= epsilon < 1:
        raise ChaosError(
            "The margin of the replacement test is not a share.", found=f"epsilon={epsilon}",
            expected=f"0 to 1; its authors propose {_CUSTOMS}, and less where agreement is low",
        )  # fmt: skip
    if not reason.strip():
        raise ChaosError(
            "The margin of the replacement test needs a reason.",
            found=f"epsilon={epsilon}, and no reason",
            expected="what the system saves, to make up for being this far behind a person",
            todo=f"state it before you look; its authors propose {_CUSTOMS}, and less where "
            "agreement is low",
        )


def _common_items(votes: Votes, systems: Sequence[System]) -> Ints:
    """Return the rows of the items that all systems cover; raise if a system has seen the votes."""
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
    """Return a system's labels on items: the stated labels, or the first of the likeliest."""
    indices = np.searchsorted(system.rows_in(votes), items)
    return system.aligned_to(votes).predicted[indices]


def _simulated_people(
    counts: Ints, has_several: npt.NDArray[np.bool_], n_people: int, rng: np.random.Generator
) -> Iterator[Ints]:
    """Yield the labels of each simulated person, drawn on the items with several votes."""
    expected = counts[has_several] + fit_dirichlet(counts[has_several])
    cumulative_shares = expected.cumsum(axis=1) / expected.sum(axis=1, keepdims=True)
    labels = np.zeros(len(counts), dtype=np.int64)
    for _ in range(n_people):
        labels[has_several] = (
            rng.random((len(cumulative_shares), 1)) > cumulative_shares[:, :-1]
        ).sum(axis=1)
        yield labels


def _result(tests: Sequence[Replacement]) -> Row:
    """Return the result of a test as columns, or the mean result of several of the same kind."""
    passed = float(np.mean([test.passed for test in tests]))
    verdict = PASSES if passed else FAILS
    if len(tests) > 1:
        verdict = f"{passed:.0%} pass"
    n_annotators = len(tests[0].annotator)
    if n_annotators < FOR_A_VERDICT:
        passed, verdict = np.nan, f"none: needs {FOR_A_VERDICT} annotators"
    return {
        "wins": float(np.mean([test.won.sum() for test in tests])),
        "winning_rate": float(np.mean([test.winning_rate for test in tests])),
        "advantage": float(np.mean([test.advantage_probability for test in tests])),
        "passed": passed,
        "verdict": verdict,
    }


def setting(row: Row) -> str:
    """Say with which margin, and on which votes, a row of `replacement` was computed."""
    n_left_out, n_annotators = row["annotators_left_out"], row["n_annotators"]
    sentences = [
        f"ε is {row['epsilon']:g}, for this reason: {row['reason']}.",
        f"{counted(n_annotators, 'annotator')} with {FEWEST_ITEMS} items or more that others "
        f"labelled too {'is' if n_annotators == 1 else 'are'} tested, "
        f"on {counted(row['n_items'], 'item')}; "
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

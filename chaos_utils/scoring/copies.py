"""Predictions that copy: the votes that judge them, or predictions that are there already."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chaos_utils.base.numbers import true_minus
from chaos_utils.datasets.splits import folds_of, item_groups
from chaos_utils.datasets.votes import ENOUGH_VOTES, Ints, Votes
from chaos_utils.metrics.divergence import Floats, entropy, squared_distance
from chaos_utils.metrics.skill import FEWEST_DISPUTED, distances, people_on_top
from chaos_utils.scoring.system import System, votes_of

# Correlation of log-probabilities or of ranks, from which on predictions are the same. Two known
# systems reach 0.993: one model, fitted on vote shares by two losses.
ALIKE = 0.995
LABELS_ALIKE = 0.97  # share of the items with the same label, from which on labels are the same
_DISPUTED = 0.5  # bits of entropy
_EXACT = 0.005  # largest difference from the share of votes, on every label
# Share of disputed items that may be so exact. With two labels one number is exact by chance more
# often: another hundred people come to 7%, and a mean vote given a label to 3%.
_MOST_EXACT, _MOST_EXACT_OF_TWO = 0.02, 0.2
# Share of disputed items with the majority's label. On ChaosNLI the truth itself has up to 0.96,
# the best system 0.75.
_MOST_OF_MAJORITY = 0.97
# With few votes, an easy item's truth has its majority: what shows a copy are items that a single
# vote decides, of which even a model that knows the truth gets some wrong.
_FEWEST_DECIDED_BY_ONE = 10
_HARDLY_VARIES = 0.02  # standard deviation of probabilities over the items of one label
_SMALLEST = 1e-300  # probability: logarithms need one, and released ones go down to 1e-35
_NO_SPREAD = 1e-9
_FLOOR = 1e-4  # the same in a regression, which a single item must not decide
_RIDGE = 3.0
COPIED = "copied from these votes?"
_WARNING = (
    f"{COPIED.capitalize()} On {{dataset}}, {{system}} has {{found}}. "
    "If so, none of these numbers is a result."
)
# What shows a copy, by the rule that found it.
_FOUND = {
    "distance": "an unbiased squared distance of {value}, where the truth is expected to have 0",
    "majority": "the majority's label on {value} of the disputed items",
    "exact": f"shares of the votes within {_EXACT} on {{value}} of the disputed items",
}


def copied_votes(votes: Votes, system: System) -> str:
    """Say what shows that predictions were copied from the votes that judge them.

    Parameters
    ----------
    votes : Votes
        Those that judge.
    system : System
        On at least one of their items.

    Returns
    -------
    str
        In words, with the number; empty where nothing shows it. Nothing can where people disagree
        on fewer than 30 items. An unbiased squared distance of 0 or less is nearer than the truth
        is expected to be. Where votes are many, on items with an entropy above 0.5 bits, labels may
        not be the majority's on 97%, nor probabilities within 0.005 of the votes on 2% (with two
        labels, 20%). Where they are few, labels may not be the majority's on all items on which
        people disagree, if a single vote decides 10 of these. A label that ties is the majority's.
    """
    batch = system.aligned_to(votes, in_sample=True)
    n_votes = votes.n_votes[system.rows_in(votes)]
    is_split = (batch.human.max(axis=1) < 1) & (n_votes > 1)
    if is_split.sum() < FEWEST_DISPUTED:
        return ""
    has_two = n_votes > 1
    distance = squared_distance(batch.human[has_two], batch.model[has_two], n_votes[has_two])
    if distance.mean() <= 0:
        value = true_minus(f"{distance.mean():.4f}")
        return _FOUND["distance"].format(value=value)
    top, second = np.sort(batch.human, axis=1)[:, :-3:-1].T
    has_most = batch.human[np.arange(len(top)), batch.predicted] == top
    if votes.are_few:
        decided_by_one = is_split & (np.rint((top - second) * n_votes) == 1)
        if decided_by_one.sum() < _FEWEST_DECIDED_BY_ONE or not has_most[is_split].all():
            return ""
        return _FOUND["majority"].format(value=f"{1:.0%}")
    disputed = np.flatnonzero(entropy(batch.human, unit="bits") > _DISPUTED)
    if len(disputed) < FEWEST_DISPUTED:
        return ""
    agreement = has_most[disputed].mean()
    if agreement >= _MOST_OF_MAJORITY:
        return _FOUND["majority"].format(value=f"{agreement:.0%}")
    if system.one_label:
        return ""
    differences = np.abs(batch.model[disputed] - batch.human[disputed])
    exact = (differences <= _EXACT).all(axis=1).mean()
    most = _MOST_EXACT_OF_TWO if votes.dataset.n_classes == 2 else _MOST_EXACT
    if exact > most:
        return _FOUND["exact"].format(value=f"{exact:.0%}")
    return ""


def warning(system: str, dataset: str, found: str) -> str:
    """Return the warning that a system, by its name, is a copy; `found` is why, if anything.

    `dataset` is the short name of the dataset whose votes it would be a copy of.
    """
    return _WARNING.format(system=system, dataset=dataset, found=found) if found else ""


def page_rule() -> Mapping[str, Any]:
    """Return the numbers and words by which the page that judges files looks for copies."""
    return {
        "enough_votes": ENOUGH_VOTES, "fewest": FEWEST_DISPUTED, "disputed": _DISPUTED,
        "most_of_majority": _MOST_OF_MAJORITY, "fewest_by_one": _FEWEST_DECIDED_BY_ONE,
        "exact": _EXACT, "most_exact": _MOST_EXACT, "most_exact_of_two": _MOST_EXACT_OF_TWO,
        "warning": _WARNING, "found": _FOUND,
    }  # fmt: skip


def people_added(votes: Votes, system: System, known: Sequence[System]) -> float:
    """Return by how many people known systems are worth more together with this one.

    Vote shares are regressed on the predictions of all, by ridge regression, out of fold by text.
    No check of a single sample of votes can tell its noise from the truth; but who has seen a part
    of the votes knows much that all others do not.

    Parameters
    ----------
    votes : Votes
        At least two on each item.
    system : System
        Covers at least one item.
    known : sequence of System
        Those that lack an item of the system are left out, and so are those that were fitted on the
        votes: the mean of all other items' votes gives an item's own away.

    Returns
    -------
    float
        In people on top of the base rate; NaN with fewer than 30 items, or in a single fold.

    Notes
    -----
    On ChaosNLI, a model of one family adds 0.6 at most to the others, a stack of all of them 0.2,
    and 32 language models, pooled, 2.3 to 3.5. A model with 30% of the votes mixed in adds 1.5 or
    more on SNLI and MNLI; on αNLI, where models know less, 0.3 or more, and with 60% 2.3.
    """
    rows = system.rows_in(votes)
    groups = item_groups([votes])[0][rows]
    folds = folds_of(groups)
    if len(rows) < FEWEST_DISPUTED or (folds == folds[0]).all():
        return np.nan
    fitted_on = votes_of(votes.dataset)
    others = [
        other
        for other in known
        if fitted_on not in other.trained_on and np.isin(rows, other.rows_in(votes)).all()
    ]
    # Labels are pooled: one by one they are too many for the items.
    label_givers = [_on_rows(votes, other, rows) for other in others if gives_labels(other)]
    tables = [
        _features(_on_rows(votes, other, rows)) for other in others if not gives_labels(other)
    ]
    tables += [_features(np.mean(label_givers, axis=0))] if label_givers else []
    counts, shares = votes.counts[rows], votes.shares[rows]

    def worth(features: Sequence[Floats]) -> float:
        fitted = _regressed(shares, features, folds)
        by_item = distances(counts, fitted, groups)
        parts = (by_item.of_person, by_item.of_base_rate, by_item.of_system)
        return float(people_on_top(*(part.mean() for part in parts)))

    return worth([*tables, _features(_on_rows(votes, system, rows))]) - worth(tables)


def _on_rows(votes: Votes, system: System, rows: Ints) -> Floats:
    """Return the predictions of a system on rows of the votes, all of which it covers."""
    model = system.aligned_to(votes, in_sample=True).model
    covered: Floats = model[np.searchsorted(system.rows_in(votes), rows)]
    return covered


def _features(shares: Floats) -> Floats:
    logs = np.log(np.maximum(shares, _FLOOR))
    logs -= logs.mean(axis=1, keepdims=True)
    return np.concatenate([shares[:, :-1], logs[:, :-1]], axis=1)


def _regressed(shares: Floats, features: Sequence[Floats], folds: Ints) -> Floats:
    """Return shares regressed on features, each fold's by the others."""
    table = np.concatenate([np.ones((len(shares), 1)), *features], axis=1)
    spreads = table[:, 1:].std(axis=0)
    table[:, 1:] = (table[:, 1:] - table[:, 1:].mean(axis=0)) / np.where(spreads > 0, spreads, 1)
    penalty = _RIDGE * np.diag(np.append(0.0, np.ones(table.shape[1] - 1)))
    fitted = np.empty_like(shares)
    for fold in np.unique(folds):
        own, others = folds == fold, folds != fold
        system = table[others].T @ table[others] + penalty
        fitted[own] = table[own] @ np.linalg.solve(system, table[others].T @ shares[others])
    fitted = np.maximum(fitted, 1e-3)
    return fitted / fitted.sum(axis=1, keepdims=True)


def gives_labels(system: System) -> bool:
    """Return whether a system gives one label per item, as labels or with probability 1."""
    return system.one_label or bool((system.probabilities.max(axis=1) == 1).all())


def likeness(first: System, second: System) -> float:
    """Return how alike two systems on one dataset are, on the items that both cover.

    Probabilities are compared with probabilities, by the correlation of their logarithms, each
    item's and then each label's centred, or by that of their ranks within each label, whichever is
    larger: no temperature, factor for each label, or share of a uniform guess, which recalibration
    would undo, makes another system. Where either system gives labels, it is the share of items
    with the same label. NaN where fewer than 30 items are common.
    """
    own_rows, rows = _common_rows(first, second)
    if len(rows) < FEWEST_DISPUTED:
        return np.nan
    if gives_labels(first) or gives_labels(second):
        return float((first.predicted[own_rows] == second.predicted[rows]).mean())
    shares = first.probabilities[own_rows], second.probabilities[rows]
    logs = [_centred_logs(part) for part in shares]
    by_logs = [part - part.mean(axis=0) for part in logs]
    spreads = [float((part**2).sum()) for part in by_logs]
    if min(spreads) < _NO_SPREAD:  # uniform everywhere
        return float(max(spreads) < _NO_SPREAD)
    correlation = float((by_logs[0] * by_logs[1]).sum() / np.sqrt(spreads[0] * spreads[1]))
    return max(correlation, _rank_correlation(*shares), _rank_correlation(*logs))


def _rank_correlation(first: Floats, second: Floats) -> float:
    """Return Spearman's rho, averaged over labels; 0 for a label that has one value everywhere."""
    import pandas as pd

    ranks = [pd.DataFrame(part).rank().to_numpy() for part in (first, second)]
    ranks = [part - part.mean(axis=0) for part in ranks]
    spreads = np.sqrt((ranks[0] ** 2).sum(axis=0) * (ranks[1] ** 2).sum(axis=0))
    return float(((ranks[0] * ranks[1]).sum(axis=0) / np.maximum(spreads, 1)).mean())


def softens_labels(system: System) -> bool:
    """Return whether probabilities say little more than the label that they make likeliest."""
    labels = np.unique(system.predicted)
    parts = (system.probabilities[system.predicted == label] for label in labels)
    return max(float(part.std(axis=0).max()) for part in parts) < _HARDLY_VARIES


def are_alike(first: System, second: System) -> bool:
    """Return whether two systems are the same but for a temperature or a few labels."""
    labels = gives_labels(first) or gives_labels(second)
    return likeness(first, second) >= (LABELS_ALIKE if labels else ALIKE)


def _common_rows(first: System, second: System) -> tuple[Ints, Ints]:
    """Return the rows of the items that two systems cover, in each of them."""
    row_of_uid = {uid: row for row, uid in enumerate(second.uids)}
    pairs = [(row, row_of_uid[uid]) for row, uid in enumerate(first.uids) if uid in row_of_uid]
    own_rows, rows = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return own_rows, rows


def _centred_logs(probabilities: Floats) -> Floats:
    logs = np.log(np.maximum(probabilities, _SMALLEST))
    centred: Floats = logs - logs.mean(axis=1, keepdims=True)
    return centred

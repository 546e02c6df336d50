"""Panels of judges: each quantity against sums that are written out."""

from itertools import combinations

import numpy as np
import pytest

from chaos_utils.metrics.agreement import majority_agreement
from chaos_utils.metrics.panels import one_hot, panel_values, panel_variance
from chaos_utils.metrics.skill import distances

LABELS = np.array([[0, 0, 1], [1, 1, 1], [2, 0, 2], [0, 1, 2], [1, 1, 0]])
VOTES = np.array([[6, 3, 1], [1, 8, 1], [2, 2, 6], [5, 4, 1], [3, 3, 4]])
MAJORITY = np.array([0, 1, 2, 0, 2])


def test_published_quantities_of_a_tiny_panel():
    n, k = LABELS.shape
    shares = VOTES / 10
    r = np.eye(3)[LABELS] - shares[:, np.newaxis]  # of each item, judge and label
    j = sum(1 - sum(p**2) for p in shares) / n
    e = (r.mean(axis=1) ** 2).sum()
    flat = [r[:, a].ravel() for a in range(k)]
    alike = sum((a @ b) ** 2 / (a @ a) / (b @ b) for a in flat for b in flat)
    wrong = MAJORITY[:, np.newaxis] != LABELS
    phi = np.mean([np.corrcoef(wrong[:, a], wrong[:, b])[0, 1]
                   for a, b in combinations(range(k), 2)])  # fmt: skip
    q = r - r.mean(axis=0)
    of_all, of_each = (q.sum(axis=1) ** 2).sum(), (q**2).sum()
    expected = {
        "J": j, "E": e / n, "nu_MSE": j / (e / n), "PR": k**2 / alike,
        "n_eff": k / (1 + (k - 1) * phi), "gamma_co_all": of_all / (k * of_each),
    }  # fmt: skip
    assert panel_values(LABELS, shares, MAJORITY) == pytest.approx(expected)
    # A judge who is never wrong cannot be correlated with another.
    assert np.isnan(panel_values(np.stack([MAJORITY, LABELS[:, 0]], 1), shares, MAJORITY)["n_eff"])


def test_expected_distances_are_means_over_all_panels_of_a_size():
    labels = np.random.default_rng(0).integers(3, size=(5, 4))
    groups, members = np.arange(5), one_hot(labels, 3)
    for size in range(1, 5):
        several = [distances(VOTES, members[list(some)].mean(axis=0), groups)
                   for some in combinations(range(4), size)]  # fmt: skip
        found = distances(VOTES, members.mean(axis=0), groups, panel_variance(labels, size))
        for name in ("of_system", "square", "product"):
            expected = np.mean([getattr(one, name) for one in several], axis=0)
            assert np.allclose(getattr(found, name), expected)
    # Endlessly many are as far as two of them together, whose errors are their own.
    found = distances(VOTES, members.mean(axis=0), groups, panel_variance(labels, np.inf))
    shares, n = VOTES / 10, 10
    pairs = [((a - shares) * (b - shares)).sum(axis=1) for a, b in combinations(members, 2)]
    noise = (shares * (1 - shares)).sum(axis=1) / (n - 1)
    assert np.allclose(found.of_system, np.mean(pairs, axis=0) - noise)


def test_one_person_against_the_majority_of_the_others():
    for counts in (*VOTES, [2, 2, 0], [1, 1, 1], [2, 1, 1], [1, 1, 0], [3, 3, 2]):
        people = np.repeat(np.arange(3), counts)
        hits = []
        for place, label in enumerate(people):
            others = np.bincount(np.delete(people, place), minlength=3)
            top = np.flatnonzero(others == others.max())
            hits.append((label in top) / len(top))
        assert majority_agreement([counts])[0] == pytest.approx(np.mean(hits))
    with pytest.raises(ValueError, match="one vote"):
        majority_agreement([[1, 0]])

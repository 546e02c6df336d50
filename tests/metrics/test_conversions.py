"""The chapter's conversions: each that is called exact gives what is computed directly."""

import re

import numpy as np
import pytest
from helpers.checkout import PROJECT

from chaos_utils.metrics import calibration, divergence, scores
from chaos_utils.metrics.measures import BAAN_BINS, NIE_FLOOR

LOG_2 = np.log(2)


def distance(h, m, unit="nats"):
    return divergence.jensen_shannon_distance(h, m, unit=unit)


def jensen_shannon(h, m, unit="nats"):
    return divergence.jensen_shannon_divergence(h, m, unit=unit)


def kl(h, m, unit="nats"):
    return divergence.kl_divergence(h, m, unit=unit, floor=NIE_FLOOR)


def entropy_gap(h, m, unit):
    return np.abs(divergence.entropy(m, unit=unit) - divergence.entropy(h, unit=unit))


def tvd(h, m):
    return divergence.total_variation(h, m)


def brier(h, m):
    return scores.brier_of_votes(h, m)


def misses(h, m):
    """Return the squared misses of each single vote, summed over labels."""
    of_label = ((m[:, np.newaxis, :] - np.eye(m.shape[1])) ** 2).sum(axis=2)
    return (h * of_label).sum(axis=1)


def by_class(h, m):
    """Return class-wise errors over the binned times their share, and over all items."""
    probabilities, hits = calibration.classwise_hits(m, h.argmax(axis=1))
    pairs = zip(probabilities.T, hits.T, strict=True)
    sums = np.array([calibration.bin_sums(p, hit, BAAN_BINS) for p, hit in pairs])
    gaps, binned = np.abs(sums[..., 2] - sums[..., 1]).sum(axis=1), sums[..., 0].sum(axis=1)
    return gaps / np.maximum(binned, 1) * (binned / len(m)), gaps / len(m)


# From the shares and a model's probabilities: what the recipe gives, and what is computed.
EXACT = {
    ("Jensen–Shannon", "distance, bits"): lambda h, m: (
        distance(h, m).mean() / np.sqrt(LOG_2), distance(h, m, "bits").mean()),
    ("Jensen–Shannon", "divergence, bits"): lambda h, m: (
        jensen_shannon(h, m).mean() / LOG_2, jensen_shannon(h, m, "bits").mean()),
    ("Jensen–Shannon", "divergence, same unit"): lambda h, m: (
        distance(h, m) ** 2, jensen_shannon(h, m)),
    ("KL", "bits"): lambda h, m: (kl(h, m).mean() / LOG_2, kl(h, m, "bits").mean()),
    ("KL", "soft cross-entropy"): lambda h, m: (
        kl(h, m).mean() + divergence.entropy(h, unit="nats").mean(),
        scores.soft_cross_entropy(h, m, unit="nats", floor=NIE_FLOOR).mean()),
    ("KL", "averaged over items"): lambda h, m: (
        (h * np.log(np.where(h > 0, h, 1) / m)).mean() * h.shape[1], kl(h, m).mean()),
    ("entropy", "nats"): lambda h, m: (
        divergence.entropy(m, unit="bits").mean() * LOG_2,
        divergence.entropy(m, unit="nats").mean()),
    ("EntCE", "bits"): lambda h, m: (
        np.abs(calibration.entropy_error(h, m)).mean() / LOG_2, entropy_gap(h, m, "bits").mean()),
    ("DistCE", "L1 distance"): lambda h, m: (
        tvd(h, m).mean() * 2, np.abs(h - m).sum(axis=1).mean()),
    ("DistCE", "soft accuracy"): lambda h, m: (
        1 - tvd(h, m).mean(), scores.soft_accuracy(h, m).mean()),
    ("ECE", "ECE of the oracle against the majority"): lambda h, m: (
        1 - h.max(axis=1).mean(),
        calibration.expected_calibration_error(h, h.argmax(axis=1), BAAN_BINS)),
    ("class-wise ECE", "divided by all items"): by_class,
    ("Brier score", "halved (0 to 1)"): lambda h, m: (
        brier(h, m).mean() / 2, misses(h, m).mean() / 2),
    ("Brier score", "squared distance to the vote shares"): lambda h, m: (
        brier(h, m).mean() - (1 - (h**2).sum(axis=1)).mean(),
        ((m - h) ** 2).sum(axis=1).mean()),
}  # fmt: skip


def test_every_recipe_of_the_chapter_is_tested():
    chapter = (PROJECT / "notebooks" / "conventions.py").read_text("utf-8")
    exact, _ = chapter.split("## What cannot")
    rows = re.findall(r"^# \| ([^|-].*?) \| (?:.*?) \| (.*?) \| .* \|$", exact, re.M)
    assert rows[1:] == list(EXACT)


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("recipe", EXACT, ids=": ".join)
def test_a_recipe_gives_what_is_computed_directly(recipe, n_labels):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        votes = rng.multinomial(100, rng.dirichlet(np.full(n_labels, 0.5), 200))
        model = rng.dirichlet(np.ones(n_labels), size=200)
        converted, direct = EXACT[recipe](votes / 100, model)
        np.testing.assert_allclose(converted, direct, rtol=0, atol=1e-9)

"""Bounds of a mean by another: any predictions keep them, and some reach them."""

import numpy as np
import pytest
from helpers.strategies import distributions
from hypothesis import given, settings
from hypothesis import strategies as st

from chaos_utils.metrics import bounds, divergence, scores
from chaos_utils.metrics.bounds import GREATEST_DISTANCE, LOG_2

ROUNDING = 1e-9
FLOOR = 1e-15


def means(h, m):
    """Return every mean that bounds speak of, by its name there."""
    return {
        "distance": divergence.jensen_shannon_distance(h, m, unit="nats").mean(),
        "divergence": divergence.jensen_shannon_divergence(h, m, unit="nats").mean(),
        "variation": divergence.total_variation(h, m).mean(),
        "squared_distance": ((h - m) ** 2).sum(axis=1).mean(),
        "kl": divergence.kl_divergence(h, m, unit="nats", floor=0).mean(),
    }


def alike(p, q):
    """Return one item."""
    return np.array([p], dtype=float), np.array([q], dtype=float)


def parted(share):
    """Return items of which a share is missed altogether, and the others hit."""
    n = 100
    h, m = np.tile([1.0, 0.0], (n, 1)), np.tile([1.0, 0.0], (n, 1))
    m[: round(share * n)] = [0.0, 1.0]
    return h, m


def mirrored(v):
    return alike([(1 + v) / 2, (1 - v) / 2], [(1 - v) / 2, (1 + v) / 2])


def elsewhere(v):
    """Return an item whose moved mass goes from a label to one that had none."""
    return alike([1 - v, v, 0], [1 - v, 0, v])


V = 0.37
# From, to: items and predictions that reach the lower end, and the upper end.
REACHED = {
    ("distance", "divergence"): (mirrored(V), parted(V)),
    ("divergence", "distance"): (parted(V), mirrored(V)),
    ("variation", "divergence"): (mirrored(V), elsewhere(V)),
    ("divergence", "variation"): (elsewhere(V), mirrored(V)),
    ("variation", "distance"): (mirrored(V), elsewhere(V)),
    ("distance", "variation"): (elsewhere(V), mirrored(V)),
    ("variation", "squared_distance"): (alike([V, 0, 1 - V], [0, V / 2, 1 - V / 2]), None),
    ("kl", "divergence"): (None, alike([1, 0], [V, 1 - V])),
    ("kl", "distance"): (None, alike([1, 0], [V, 1 - V])),
}


def bounds_of(known, wanted, found, n_classes):
    function = getattr(bounds, f"{wanted}_from_{known}")
    sizes = (n_classes,) if wanted == "squared_distance" else ()
    return function(min(found[known], {"divergence": LOG_2}.get(known, np.inf)), *sizes)


@given(pair=distributions(n_arrays=2))
def test_every_mean_lies_within_the_bounds_by_every_other(pair):
    found = means(*pair)
    for known, wanted in REACHED:
        low, high = bounds_of(known, wanted, found, pair[0].shape[1])
        assert low - ROUNDING <= found[wanted] <= high + ROUNDING, (known, wanted)


@pytest.mark.parametrize("ends", REACHED.items(), ids=lambda one: " to ".join(one[0]))
def test_some_predictions_reach_each_end(ends):
    (known, wanted), pairs = ends
    for end, pair in enumerate(pairs):
        if pair is not None:
            found = means(*pair)
            reached = bounds_of(known, wanted, found, pair[0].shape[1])[end]
            assert found[wanted] == pytest.approx(reached, abs=1e-9)


def test_the_squared_distance_reaches_both_ends():
    h, m = parted(V)  # the upper one: all of a label's mass goes to another
    found = means(h, m)
    high = bounds.squared_distance_from_variation(found["variation"], 2)[1]
    assert found["squared_distance"] == pytest.approx(high)
    assert bounds.squared_distance_from_variation(V, 3)[0] == pytest.approx(1.5 * V**2)


@given(pair=distributions(n_arrays=2), unit=st.sampled_from(["bits", "nats"]))
def test_units_are_exchanged_exactly(pair, unit):
    kinds = {
        "distance": divergence.jensen_shannon_distance,
        "divergence": divergence.jensen_shannon_divergence,
    }
    for kind, measure in kinds.items():
        converted = bounds.in_nats(measure(*pair, unit=unit).mean(), kind=kind, unit=unit)
        assert converted == pytest.approx(measure(*pair, unit="nats").mean(), abs=1e-12)


@given(
    pair=distributions(n_arrays=2),
    floors=st.tuples(*[st.sampled_from([FLOOR, 1e-10, 1e-3, 0.05])] * 2),
)
def test_kl_under_another_floor_lies_within_its_bounds(pair, floors):
    floor, wanted = floors
    known, asked = (
        divergence.kl_divergence(*pair, unit="nats", floor=one).mean() for one in floors
    )
    low, high = bounds.kl_at_floor(known, floor=floor, wanted=wanted, n_classes=pair[0].shape[1])
    assert low - ROUNDING <= asked <= high + ROUNDING
    assert (low == high) == (floor == wanted)


def test_a_higher_floor_costs_as_much_as_its_bound_says():
    h, m = alike([1, 0, 0], [1, 0, 0])
    known, asked = (
        divergence.kl_divergence(h, m, unit="nats", floor=one).mean() for one in (0, 0.05)
    )
    assert asked == pytest.approx(
        bounds.kl_at_floor(known, floor=0, wanted=0.05, n_classes=3)[1], rel=1e-12
    )


@given(pair=distributions(n_arrays=2), cut=st.integers(0, 20))
def test_parts_are_pooled_and_entropies_taken_off_exactly(pair, cut):
    h, m = pair
    parts = [one for one in (slice(0, cut), slice(cut, None)) if len(h[one])]
    values = divergence.total_variation(h, m)
    pooled = bounds.pooled_mean(
        [values[one].mean() for one in parts], [len(values[one]) for one in parts]
    )
    assert pooled == pytest.approx(values.mean(), abs=1e-12)
    crossed = scores.soft_cross_entropy(h, m, unit="nats", floor=FLOOR).mean()
    entropy = divergence.entropy(h, unit="nats").mean()
    known = divergence.kl_divergence(h, m, unit="nats", floor=FLOOR).mean()
    assert bounds.kl_from_cross_entropy(crossed, entropy) == pytest.approx(known, abs=1e-9)


@settings(max_examples=200)
@given(pair=distributions(n_arrays=2))
def test_what_an_accuracy_allows_holds_for_labels_and_for_distributions(pair):
    h, m = pair
    majority, label = h.argmax(axis=1), m.argmax(axis=1)
    accuracy = (label == majority).mean()
    low, high = bounds.agreement_from_accuracy(h, majority, accuracy)
    assert low - ROUNDING <= h[np.arange(len(h)), label].mean() <= high + ROUNDING
    low, high = bounds.distance_from_accuracy(h, majority, accuracy)
    assert low - ROUNDING <= means(h, m)["distance"] <= high + ROUNDING


def test_wrong_labels_stand_where_they_lose_least_or_most():
    h = np.array([[0.5, 0.4, 0.1], [0.9, 0.1, 0.0]])
    majority, wrong = np.array([0, 0]), {"least": [1, 0], "most": [0, 2]}
    low, high = bounds.agreement_from_accuracy(h, majority, 0.5)
    shares = {name: h[[0, 1], labels].mean() for name, labels in wrong.items()}
    assert (low, high) == pytest.approx((shares["most"], shares["least"]))
    # A system that is right on the first item alone, and as far as it can be.
    farthest = means(h, np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]))["distance"]
    assert bounds.distance_from_accuracy(h, majority, 0.0)[1] == pytest.approx(farthest)
    # Always right, and certain: no one is farther from all three labels alike.
    h = np.full((2, 3), 1 / 3)
    certain = means(h, np.eye(3)[[0, 0]])["distance"]
    assert bounds.distance_from_accuracy(h, majority, 1.0) == pytest.approx((0, certain))


@pytest.mark.parametrize(
    ("function", "value"),
    [
        (bounds.divergence_from_distance, GREATEST_DISTANCE + 1e-6),
        (bounds.distance_from_divergence, LOG_2 + 1e-6),
        (bounds.divergence_from_variation, 1.01),
        (bounds.divergence_from_kl, -0.1),
        (bounds.distance_from_variation, float("nan")),
    ],
)
def test_a_value_outside_its_range_is_refused(function, value):
    with pytest.raises(ValueError, match=r"expected a value in \[0, "):
        function(value)

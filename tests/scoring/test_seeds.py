from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from chaos_utils.metrics.resampling import bootstrap_means
from chaos_utils.scoring import systems
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.seeds import families_of, over_seeds, score_over_seeds


@pytest.fixture
def votes(sample):
    return sample[0]


AT_LENGTH = [
    *((n, ratio, 4000) for n in (3, 5) for ratio in (0, 0.2, 1, 5, 30)),
    *((2, ratio, 1500) for ratio in (0, 0.3, 1)),  # where items matter as much
]


SLOW = [pytest.param(*given, marks=pytest.mark.slow) for given in AT_LENGTH]


@pytest.mark.parametrize(("n_seeds", "ratio", "n_samples"), [(3, 1, 250), *SLOW])
def test_intervals_over_seeds_hold_the_truth(n_seeds, ratio, n_samples):
    """On 200 items; `ratio`: the variance between seeds, over their number, to that over items."""
    rng, hits = np.random.default_rng(0), 0
    spread = np.sqrt(ratio * n_seeds / 200)
    for _ in range(n_samples):
        hard = rng.exponential(size=(200, 1))  # skewed difficulties
        shifts = rng.normal(scale=spread, size=n_seeds)
        # What differs between items for the family alone.
        own = 0.3 * rng.normal(size=(200, 1)) + 0.3 * rng.normal(size=(200, n_seeds))
        table = hard + shifts + own
        draws, values = bootstrap_means(table, 300, rng), table.mean(axis=0)
        found = over_seeds(values, draws, n_items=200)
        hits += found.low <= 1 <= found.high
    assert hits / n_samples >= 0.92


def test_the_difference_of_two_families_is_as_unsure_as_both():
    values, others = np.array([0.2, 0.5, 0.4]), np.array([0.1, 0.3])
    draws = [np.broadcast_to(one, (10, len(one))) for one in (values, others)]
    found = over_seeds(values, draws[0], n_items=100, against=(others, draws[1]))
    expected = stats.ttest_ind(values, others, equal_var=False)  # Welch's
    assert found.p == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval()
    assert [found.low, found.high] == pytest.approx([interval.low, interval.high])


def test_seeds_alone_give_the_t_test():
    values = np.array([0.2, 0.5, 0.4])
    found = over_seeds(values, np.broadcast_to(values, (10, 3)), n_items=100)
    expected = stats.ttest_1samp(values, 0)
    assert found.p == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval()
    assert [found.low, found.high] == pytest.approx([interval.low, interval.high])


def test_seeds_that_agree_leave_the_items():
    rng = np.random.default_rng(0)
    table = rng.normal(1, 1, size=(400, 1))
    draws = np.repeat(bootstrap_means(table, 4000, rng), 3, axis=1)
    found = over_seeds(np.repeat(table.mean(), 3), draws, n_items=400)
    expected = stats.ttest_1samp(table[:, 0], 0).confidence_interval()
    assert [found.low, found.high] == pytest.approx([expected.low, expected.high], abs=0.01)
    assert found.degrees == pytest.approx(399)


@given(st.integers(1, 4), st.integers(0, 500))
def test_p_and_interval_are_one_inversion(n_seeds, seed):
    rng = np.random.default_rng(seed)
    values, draws = rng.normal(0.3, 0.3, n_seeds), rng.normal(0.3, 0.2, size=(60, n_seeds))
    for level in (0.9, 0.95):
        found = over_seeds(values, draws, n_items=50, level=level)
        out = bool(found.low > 0 or found.high < 0)
        assert (found.p < round(1 - level, 9)) == out


def test_families_are_what_differs_in_the_seed_alone(votes):
    models = systems.load_systems(votes)
    by_item = np.linspace(1, 2, len(votes))
    scaled = [replace(one.at_temperature(2.0), name=f"{one.name}, T = 2") for one in models]
    each = [one.at_temperature(by_item, name=f"{one.name}, T by item") for one in models]
    assert families_of([*models, *scaled, *each, systems.uniform(votes)]) == {
        "synthetic model, mean of 3 seeds": [0, 1, 2],
        "synthetic model at T = 2, mean of 3 seeds": [3, 4, 5],
        "synthetic model at T by item, mean of 3 seeds": [6, 7, 8],
        "uniform guess": [9],
    }


def test_a_family_is_scored_as_the_mean_of_its_seeds(votes):
    models = systems.load_systems(votes)
    given = {"measures": ["jsd", "new_accuracy", "ece"], "n_resamples": 300}
    both = [*models, systems.uniform(votes)]
    table = score_over_seeds(votes, both, **given)
    alone = score(votes, models, measures=given["measures"])
    family = table[table["n_seeds"] == 3].set_index("measure")
    for measure, rows in alone.groupby("measure"):
        assert family.loc[measure, "value"] == pytest.approx(rows["value"].mean())
        assert family.loc[measure, "seed_sd"] == pytest.approx(rows["value"].std())
        assert len(family.loc[measure, "seed_values"].split()) == 3
    assert np.isnan(family.loc["ece", "low"])  # as everywhere


def test_an_interval_over_two_seeds_that_differ_much_stays_in_the_measure_s_range(votes):
    given = {"family": "family", "origin": "yours"}
    near = replace(systems.oracle(votes), name="family, seed 0", seed=0, **given)
    far = replace(systems.uniform(votes), name="family, seed 1", seed=1, **given)
    table = score_over_seeds(votes, [near, far], measures=["kl"], n_resamples=50)
    assert table.loc[0, "n_seeds"] == 2
    assert table.loc[0, "low"] == 0 < table.loc[0, "value"] < table.loc[0, "high"]

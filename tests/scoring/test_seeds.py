from dataclasses import replace

import numpy as np
import pytest
from helpers.predictions import part_of
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from chaos_utils.base.errors import ChaosError
from chaos_utils.metrics.resampling import bootstrap_means, holm
from chaos_utils.scoring import systems
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.seeds import families_of, over_seeds, score_over_seeds


@pytest.fixture
def votes(sample):
    return sample[0]


def covered(n_seeds, ratio, n_samples, n_items=200, paired=None):
    """Return how often intervals hold the truth of families of seeds on samples of items.

    The variance between seeds over their number is `ratio` times that over items. An item's
    difficulty is skewed, and each seed's error on it varies too. `paired` is the number of seeds of
    a second family, on the same items, which is subtracted.
    """
    rng = np.random.default_rng(3)
    spread = np.sqrt(ratio * n_seeds / n_items)
    hits = 0
    for _ in range(n_samples):
        hard = rng.exponential(size=n_items)
        columns = []
        for number in (n_seeds, paired or 0):
            shifts = rng.normal(scale=spread, size=number)
            # What differs between items for one family alone.
            own = 0.3 * rng.normal(size=(n_items, 1)) + 0.3 * rng.normal(size=(n_items, number))
            columns.append(hard[:, np.newaxis] + shifts + own)
        table = np.concatenate(columns, axis=1)
        draws = bootstrap_means(table, 300, rng)
        values = table.mean(axis=0)
        of_first = values[:n_seeds], draws[:, :n_seeds]
        others = None if paired is None else (values[n_seeds:], draws[:, n_seeds:])
        found = over_seeds(*of_first, n_items=n_items, against=others)
        hits += found.low <= (1 if paired is None else 0) <= found.high
    return hits / n_samples


AT_LENGTH = [
    *((n, ratio, 4000, None) for n in (3, 5) for ratio in (0, 0.2, 1, 5, 30)),
    *((n, ratio, 2000, n) for n in (3, 5) for ratio in (0, 0.2, 1, 5, 30)),
    *((2, ratio, 1500, None) for ratio in (0, 0.3, 1)),  # where items matter as much
]


@pytest.mark.parametrize(
    ("n_seeds", "ratio", "n_samples", "paired"),
    [
        (3, 1, 250, None),
        (3, 1, 250, 2),
        *(pytest.param(*given, marks=pytest.mark.slow) for given in AT_LENGTH),
    ],
)
def test_intervals_over_seeds_hold_the_truth(n_seeds, ratio, n_samples, paired):
    assert covered(n_seeds, ratio, n_samples, paired=paired) >= 0.92


def test_seeds_alone_give_the_t_test():
    values = np.array([0.2, 0.5, 0.4])
    found = over_seeds(values, np.broadcast_to(values, (10, 3)), n_items=100)
    expected = stats.ttest_1samp(values, 0)
    assert found.p == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval()
    assert [found.low, found.high] == pytest.approx([interval.low, interval.high])
    other = np.array([0.9, 0.1])
    both = over_seeds(values, np.broadcast_to(values, (10, 3)), n_items=100,
                      against=(other, np.broadcast_to(other, (10, 2))))  # fmt: skip
    welch = stats.ttest_ind(values, other, equal_var=False)
    assert both.p == pytest.approx(welch.pvalue)
    assert both.degrees == pytest.approx(welch.df)


def test_seeds_that_agree_leave_the_items():
    rng = np.random.default_rng(0)
    table = rng.normal(1, 1, size=(400, 1))
    draws = np.repeat(bootstrap_means(table, 4000, rng), 3, axis=1)
    found = over_seeds(np.repeat(table.mean(), 3), draws, n_items=400)
    expected = stats.ttest_1samp(table[:, 0], 0).confidence_interval()
    assert [found.low, found.high] == pytest.approx([expected.low, expected.high], abs=0.01)
    assert found.degrees == pytest.approx(399)


@given(st.integers(1, 4), st.integers(0, 3), st.integers(0, 500))
def test_p_and_interval_are_one_inversion(n_seeds, n_others, seed):
    rng = np.random.default_rng(seed)
    first, second = rng.normal(0.3, 0.3, n_seeds), rng.normal(0, 0.3, n_others)
    draws = rng.normal(0.3, 0.2, size=(60, n_seeds)), rng.normal(0, 0.2, size=(60, n_others))
    against = (second, draws[1]) if n_others else None
    for level in (0.9, 0.95):
        found = over_seeds(first, draws[0], n_items=50, against=against, level=level)
        out = bool(found.low > 0 or found.high < 0)
        assert (found.p < round(1 - level, 9)) == out


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="at least 1 seed"):
        over_seeds([1.0, 2.0], np.ones((5, 3)), n_items=10)


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
    assert list(families_of(models[:1])) == [models[0].name]


def test_differences_over_seeds_are_adjusted_together(votes):
    models = systems.load_systems(votes)
    some = [*models, systems.uniform(votes), models[0].at_temperature(1.1, name="scaled")]
    table = score_over_seeds(
        votes, some, measures=["jsd", "new_accuracy", "ece"], reference="uniform guess",
        n_resamples=100,
        groups={"first": range(150), "rest": range(150, 300)},
    )  # fmt: skip
    known = table["p"].notna()
    assert known.sum() == 8  # 2 families, 2 groups, 2 measures
    np.testing.assert_array_equal(table["p_holm"], holm(table["p"]))
    assert (table["p_holm"] >= table["p"])[known].all()


def test_a_family_is_scored_as_the_mean_of_its_seeds(votes):
    models = systems.load_systems(votes)
    measures = ["jsd", "new_accuracy", "ece"]
    options = {"measures": measures, "n_resamples": 300}
    even = systems.uniform(votes)
    table = score_over_seeds(votes, [*models, even], reference="uniform guess", **options)
    alone = score(votes, models, measures=measures)
    family = table[(table["n_seeds"] == 3) & (table["reference"] == "")].set_index("measure")
    for measure, rows in alone.groupby("measure"):
        assert family.loc[measure, "value"] == pytest.approx(rows["value"].mean())
        assert family.loc[measure, "seed_sd"] == pytest.approx(rows["value"].std())
        assert len(family.loc[measure, "seed_values"].split()) == 3
    assert np.isnan(family.loc["ece", "low"])  # as everywhere
    one_seed = table[(table["system"] == "uniform guess") & (table["measure"] == "jsd")].iloc[0]
    gap = table[(table["reference"] == "uniform guess") & (table["measure"] == "jsd")].iloc[0]
    difference = family.loc["jsd", "value"] - one_seed["value"]
    assert gap["value"] == pytest.approx(difference)
    assert gap["p"] < 0.05


def test_the_same_runs_at_two_temperatures_are_compared_seed_by_seed(votes):
    models = systems.load_systems(votes)
    scaled = [replace(one.at_temperature(1.5), name=f"{one.name}, T = 1.5") for one in models]
    name = "synthetic model, mean of 3 seeds"
    table = score_over_seeds(
        votes, [*models, *scaled], measures=["jsd"], reference=name, n_resamples=300
    )
    gap = table[table["reference"] == name].iloc[0]
    values = score(votes, [*models, *scaled], measures=["jsd"])["value"].to_numpy()
    differences = values[3:] - values[:3]
    assert gap["value"] == pytest.approx(differences.mean())
    assert gap["seed_sd"] == pytest.approx(differences.std(ddof=1))


def test_what_cannot_be_compared_over_seeds(votes):
    models = systems.load_systems(votes)
    with pytest.raises(ChaosError, match="no such family"):
        score_over_seeds(votes, models, reference="other", n_resamples=50)
    with pytest.raises(ChaosError, match="Too few resamples"):
        score_over_seeds(votes, models, n_resamples=1)
    part = part_of(models[0], slice(9))
    with pytest.raises(ChaosError, match="cover other items"):
        score_over_seeds(votes, [part, *models[1:]], measures=["jsd"], n_resamples=50)


def test_an_interval_over_two_seeds_that_differ_much_stays_in_the_measure_s_range(votes):
    near, far = systems.oracle(votes), systems.uniform(votes)
    two = [
        replace(one, name=f"family, seed {seed}", family="family", seed=seed, origin="yours")
        for seed, one in enumerate((near, far))
    ]
    table = score_over_seeds(votes, two, measures=["kl"], n_resamples=50)
    assert table.loc[0, "n_seeds"] == 2
    assert table.loc[0, "low"] == 0 < table.loc[0, "value"] < table.loc[0, "high"]

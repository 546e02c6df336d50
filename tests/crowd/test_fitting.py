"""Calibration and design: the quick expectations, recovery, and what follows from them."""

import numpy as np
import pandas as pd
import pytest

from chaos_utils.crowd.annotators import mixture
from chaos_utils.crowd.design import bias_variance, stage_effects
from chaos_utils.crowd.expected import Expectation
from chaos_utils.crowd.fitting import FREE, TARGETS, fit
from chaos_utils.crowd.materials import cut
from chaos_utils.crowd.protocol import load_protocol
from chaos_utils.crowd.simulate import simulate
from chaos_utils.crowd.tables import summary

TRUE = {"careless": 0.4, "lapse": 0.08, "lapse_in_tests": 0.04, "mean_stay": 100.0}


@pytest.fixture(scope="module")
def expectation(sample):
    many_votes = load_protocol(votes_per_item=300)
    return Expectation(many_votes, cut(sample[0], sample, n_items=500))


@pytest.fixture(scope="module")
def small(sample):
    return cut(sample[0], sample, n_items=60)


def test_what_is_expected_is_what_simulations_come_to(expectation):
    expected = expectation.summary(mixture(**TRUE))
    made = (simulate(expectation.protocol, expectation.materials, mixture(**TRUE), seed)
            for seed in range(4))  # fmt: skip
    found = pd.DataFrame(map(summary, made))
    for name in TARGETS:
        error = found[name].std() / np.sqrt(len(found))
        assert abs(found[name].mean() - expected[name]) < 5 * error, name


def test_a_simulated_population_is_found_again(expectation):
    made = simulate(expectation.protocol, expectation.materials, mixture(**TRUE), seed=0)
    found = fit(expectation, summary(made))
    assert len(FREE) <= len(TARGETS)
    assert found.targets["within"].all()
    for row in found.parameters.itertuples():
        assert row.low <= TRUE[row.parameter] <= row.high, row
        assert row.high - row.low < 0.5 * (FREE[row.parameter][2] - FREE[row.parameter][0])


def test_the_stages_lower_the_error_and_cost_time(small):
    table = stage_effects(small, mixture(), careless=(0.5,)).set_index("without")
    assert table["tvd"].idxmax() == "every stage"
    assert table["tvd"].min() > table["floor_tvd"].iloc[0]
    assert table.loc["nothing", "hours"] > table.loc["every stage", "hours"]
    assert table.loc["every stage", "dollars"] == pytest.approx(60 * 100 * 0.05)


def test_more_votes_remove_the_variance_and_not_the_bias(expectation):
    table = bias_variance(expectation, mixture(), careless=(0.1, 0.6), n_votes=(10, 1000))
    few, many, few_careless, many_careless = table.to_dict("records")
    assert few["variance"] == pytest.approx(100 * many["variance"])
    assert few["bias_squared"] == many["bias_squared"]
    assert many_careless["tvd"] > many["tvd"]
    assert few_careless["tvd"] > many_careless["tvd"] > np.sqrt(few["bias_squared"]) / 2

"""Forecasts from few votes, beside what many others say."""

import numpy as np
import pytest
from helpers.evidence import drawn

from chaos_utils.analyses import forecasts
from chaos_utils.analyses.inputs import gather
from chaos_utils.report.columns import lay_out

forecast = forecasts.forecasts.function


@pytest.fixture(scope="module")
def rows(sample, truth):
    votes = drawn(sample[0], truth[::4], 1000)
    return forecast(votes, n_draws=2, seed=0).set_index(["quantity", "n_votes"])


def test_means_are_forecast_from_few_votes(rows, truth):
    entropy = -(truth * np.log(truth.clip(1e-300))).sum(axis=1).mean()
    for size in forecasts.SIZES:
        shares = np.random.default_rng(5).multinomial(size, truth) / size
        distance = np.abs(shares - truth).sum(axis=1).mean() / 2
        by_size = rows.xs(size, level="n_votes")
        for quantity in ("perfect_model", "second_crowd", "majority", "entropy"):
            row = by_size.loc[quantity]
            assert row["forecast"] == pytest.approx(row["seen"], rel=0.08, abs=0.005), quantity
        assert by_size.loc["perfect_model", "seen"] == pytest.approx(distance, rel=0.1)
        assert by_size.loc["entropy", "seen"] == pytest.approx(entropy, rel=0.05)
        assert by_size.loc["entropy_plain", "gap_high"] < 0  # shares of few votes are too sure
        assert by_size.loc["interval_dirichlet", "forecast"] == pytest.approx(0.95)


def test_intervals_of_differences_are_over_items(rows):
    gap = rows["forecast"] - rows["seen"]
    assert ((rows["gap_low"] < gap) & (gap < rows["gap_high"])).all()


def test_votes_on_sure_majorities_alone_count_for_them(sample):
    certain = np.tile([[1.0, 0, 0]], (40, 1))
    even = np.tile([[0.36, 0.34, 0.3]], (40, 1))
    for truth, seen in ((certain, 1.0), (even, np.nan)):
        votes = drawn(sample[0], truth, 600)
        row = forecast(votes, n_draws=1, seed=0).set_index(["quantity", "n_votes"]).loc["sure", 5]
        assert row["seen"] == pytest.approx(seen, nan_ok=True)


def test_without_many_votes_there_is_nothing_to_test(sample, truth):
    few = gather("sample")
    assert forecasts.inputs_of_many_votes(few) is few
    assert not len(forecast(drawn(sample[0], truth, 499), n_draws=1, seed=0))


def test_shares_are_shown_in_percent_and_the_rest_as_it_is(rows):
    _, cells = lay_out(rows.reset_index(), forecasts.COLUMNS, index=forecasts.INDEX)
    by_quantity = {row[0]: row[1:] for row in cells}
    assert by_quantity["the same, by a Dirichlet prior"][0] == "95.0"
    entropies = by_quantity["Shannon entropy (nats)"]
    assert entropies[0] == f"{rows.loc[('entropy', 5), 'forecast']:.3f}"


@pytest.mark.published("lalor2016/irt_file_*")
def test_a_thousand_people_bear_out_what_five_votes_foretell_of_means_not_of_items():
    (votes,) = forecasts.inputs_of_many_votes(gather("auto")).votes
    found = forecast(votes, n_draws=5, seed=0).set_index(["quantity", "n_votes"])
    seen, foretold = found["seen"], found["forecast"]
    assert seen["perfect_model"].tolist() == pytest.approx([0.151, 0.077, 0.036], abs=0.004)
    assert foretold["perfect_model"].tolist() == pytest.approx([0.143, 0.076, 0.036], abs=0.006)
    assert seen["majority"].tolist() == pytest.approx([0.877, 0.935, 0.968], abs=0.015)
    # Of entropies in bits; .765 is true.
    assert (foretold["entropy"] / np.log(2)).tolist() == pytest.approx(
        [0.728, 0.752, 0.762], abs=0.03
    )
    assert (seen["interval"] < 0.9).all()
    assert (seen["interval_dirichlet"] > 0.93).all()
    assert seen["interval_early"].tolist() == pytest.approx([0.96, 0.95, 0.90], abs=0.02)

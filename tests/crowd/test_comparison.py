"""Simulated collections beside the published one, and the ways that a protocol leaves open."""

import numpy as np
import pytest

from chaos_utils.base.errors import ChaosError
from chaos_utils.crowd.annotators import mixture
from chaos_utils.crowd.comparison import (
    accuracy_curves,
    beside_published,
    collect,
    errors_with_and_without,
    open_ways,
    published_size,
)
from chaos_utils.crowd.materials import cut
from chaos_utils.crowd.protocol import load_protocol
from chaos_utils.datasets.loading import load_votes
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.presentation import collection as presentation


@pytest.fixture(scope="module")
def collected():
    votes = load_votes("alphanli", "sample")
    return collect(cut(votes, [votes], n_items=500), n_runs=1, seed=3)


@pytest.fixture(scope="module")
def compared(collected):
    return beside_published([collected])


def ways(**parameters):
    table = open_ways(load_protocol(**parameters))
    return set(zip(table["from"], table["to"], strict=True))


def test_the_published_protocol_has_every_stage_and_no_way_round_it():
    found = ways()
    assert {
        ("start", "qualification"),
        ("qualification", "training"),
        ("training", "ready"),
    } < found
    assert not {("start", "training"), ("start", "ready"), ("qualification", "ready")} & found


@pytest.mark.parametrize(
    ("parameters", "opened", "closed"),
    [
        ({"qualification_items": 0}, ("start", "training"), ("start", "qualification")),
        ({"training_items": 0}, ("qualification", "ready"), ("qualification", "training")),
        (
            {"qualification_items": 0, "training_items": 0},
            ("start", "ready"),
            ("start", "training"),
        ),
    ],
)
def test_a_stage_that_is_left_out_opens_the_way_round_it(parameters, opened, closed):
    found = ways(**parameters)
    assert opened in found
    assert closed not in found


def test_conditions_carry_the_thresholds():
    table = open_ways(load_protocol(min_training_accuracy=0.6, check_rate=0.3)).set_index("to")
    assert table.loc["dismissed", "condition"].endswith("< 0.6")
    assert table.loc["check", "condition"] == "check, chance 0.3"
    assert table.loc["blocked", "discards_votes"].all()


def test_published_figures_stand_beside_simulated_ones(collected, compared):
    paper = read_published("nie2020_table1").set_index("dataset").loc["alphanli"]
    table = compared.set_index("figure")
    for name in ("qualification_fail_rate_percent", "filter_rate_percent", "annotators"):
        assert table.loc[name, "published"] == paper[name]
        assert table.loc[name, "role"] == "fitted"
    fitted = table[table["role"] == "fitted"]
    np.testing.assert_allclose(fitted["difference"], fitted["simulated"] - fitted["published"])
    assert (table["role"] == "free").sum() <= len(fitted)
    predicted = table[table["role"] == "predicted"]
    assert predicted["published"].isna().all()
    assert predicted["simulated"].notna().all()
    people = collected.runs[0].annotators
    blocked = (people["state"] == "blocked").sum() / (people["state"] != "rejected").sum()
    assert table.loc["blocked_percent", "simulated"] == pytest.approx(100 * blocked)
    parts = table.loc[["dismissed_percent", "blocked_percent"], "simulated"].sum()
    assert parts == pytest.approx(table.loc["filter_rate_percent", "simulated"])


def test_the_table_says_what_was_fitted_and_what_predicted(compared):
    shown = presentation.show_collection(compared).set_index("figure")
    assert len(shown) == len(compared)
    assert shown.loc["annotators", "role"] == "fitted target"
    assert shown.loc["annotators", "published"] == "1,903"
    assert shown.loc["cost (dollars)", "role"] == "predicted"
    assert shown.loc["cost (dollars)", ["published", "Δ"]].tolist() == ["–", "–"]
    assert shown.loc["seconds for an answer, mean", "simulated"] == "–"


def test_a_missed_target_is_named(collected, compared):
    targets = collected.fit.targets.assign(dataset="alphanli").drop(columns="difference")
    near, far = (
        presentation.say_fit(compared, targets.assign(tolerance=allowed)) for allowed in (1e-9, 1e9)
    )
    assert "is not in: fail the on-boarding test (%) on αNLI" in near
    assert "for 4 of the 4 targets" in far
    assert "is for all of them" in far


def test_careful_annotators_answer_checks_better_than_all(collected):
    curves = accuracy_curves([collected])
    first = curves[curves["items"] == curves["items"].min()].set_index("who")["accuracy_percent"]
    assert first["careful"] >= first["all"]
    assert set(curves["plateau_percent"]) == {92.0}


def test_the_settled_accuracy_that_is_told_is_that_of_the_table(collected, compared):
    curves = accuracy_curves([collected])
    row = compared.set_index("figure").loc["plateau_percent"]
    assert row["low"] == row["high"] == row["simulated"]  # of the only collection
    told = presentation.say_accuracy(curves, 300)
    assert f"to {row['simulated']:.1f}% on αNLI. The later level" in told


def test_nothing_to_simulate_is_refused(collected):
    with pytest.raises(ChaosError, match="Nothing would be simulated"):
        collect(collected.expectation.materials, 0)


def test_tasks_with_the_same_labels_share_their_pool(sample):
    snli, mnli, alphanli = sample
    both = cut(snli, sample)
    assert len(both.pool) > len(cut(snli, [snli]).pool)
    assert set(both.pool_uids) == set(cut(mnli, sample).pool_uids)
    assert set(both.pool_uids).isdisjoint(cut(alphanli, sample).pool_uids)


def test_published_sizes_are_those_of_the_464_500_votes():
    assert 100 * sum(map(published_size, ("snli", "mnli", "alphanli"))) == 464_500


def test_without_any_stage_the_bias_is_larger(collected):
    snli = load_votes("snli", "sample")
    materials = cut(snli, [snli])
    table = errors_with_and_without(materials, mixture(), [0.3], [10, 100])
    bias = table.groupby("without")["bias_squared"].first()
    assert bias["every stage"] > bias["nothing"]
    told = presentation.say_bias(table)
    full, spread = table.iloc[0]["bias_squared"], table.iloc[0]["variance"] * 10
    assert f"from {np.ceil(spread / full):,.0f} votes with 30%" in told

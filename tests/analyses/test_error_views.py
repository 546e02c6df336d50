from dataclasses import replace

import numpy as np
import pytest
from helpers.evidence import evidence_of, evidence_on, on_items

from chaos_utils.analyses import error_views as analysis
from chaos_utils.analyses.error_views import ordinal, views
from chaos_utils.analyses.evidence import Evidence, Material
from chaos_utils.base.errors import ChaosError
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.systems import computed, load_systems

CHOSEN = {"system": "", "temperature": 2.0}


@pytest.fixture(scope="module")
def material(sample):
    return evidence_on(sample[:2], load_systems)


@pytest.fixture(scope="module")
def statistics(material):
    return analysis.error_views(material, **CHOSEN).rows


def test_views_of_a_hand_made_item(sample):
    human, model = np.array([[0.2, 0.5, 0.3]]), np.array([[0.5, 0.5, 0]])
    errors = {part: error[0] for _, part, _, _, error in views(sample[0].dataset, human, model)}
    expected = {
        "entailment": 0.3, "neutral": 0, "contradiction": -0.3, "1st": 0, "2nd": -0.3, "3rd": 0.3,
        "entropy": np.log(2) + sum(p * np.log(p) for p in (0.2, 0.5, 0.3)),
    }  # fmt: skip
    assert errors == pytest.approx(expected, abs=1e-12)
    assert [ordinal(number) for number in (4, 11, 21)] == ["4th", "11th", "21st"]


def test_half_the_absolute_class_errors_are_dist_ce(material, statistics):
    (votes,), (systems,) = material[0].votes, material[0].systems
    both = [systems[0], systems[0].at_temperature(2.0, "flat")]
    expected = score(votes, both, measures=["dist_ce"])["value"]
    classes = statistics[(statistics["view"] == "class") & (statistics["dataset"] == "snli")]
    sums = classes.groupby("temperature")["mean_absolute"].sum() / 2
    assert sums.tolist() == pytest.approx(expected.tolist())


def test_people_are_counted_on_the_items_that_a_system_predicts(sample):
    votes = sample[0]
    whole = computed("part", votes, votes.shares, origin="yours")
    part = on_items(whole, range(50))
    other = replace(on_items(whole, range(50, 60)), name="other", family="other")
    table = analysis.view_histograms(evidence_of(votes, [part, other]), **CHOSEN).rows
    n_items = table.groupby(["system", "temperature"])["n_items"].unique().map(list)
    expected = {("people", 1): [60], ("part", 1): [50], ("part", 2): [50], ("other", 1): [10]}
    assert n_items.to_dict() == expected


def test_a_page_needs_a_system(sample):
    with pytest.raises(ChaosError, match="predictions=FILE"):
        analysis.check_systems(Material((evidence_of(sample[0]),)), "")
    without_files = Evidence((sample[0].dataset,), (sample[0],), None)
    analysis.check_systems(Material((without_files,)), "")  # its tables may be recorded
    # A dataset without systems is left out beside one that has some.
    material = Material((evidence_of(sample[0], load_systems(sample[0])), evidence_of(sample[1])))
    analysis.check_systems(material, "")
    assert set(analysis.error_views(material, **CHOSEN).rows["dataset"]) == {"snli"}

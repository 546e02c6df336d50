import pandas as pd
import pytest
from helpers.evidence import evidence_on, first_items

from chaos_utils.analyses.evidence import Evidence
from chaos_utils.analyses.recorded import FOLDER
from chaos_utils.analyses.references import (
    baseline_scores,
    reference_scores,
    write_package_data,
)
from chaos_utils.base.errors import ChaosError
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.scoring import references
from chaos_utils.scoring.references import SECOND_CROWD, known_rows
from chaos_utils.scoring.scores import available


@pytest.fixture
def tables(sample, run_folder, monkeypatch):
    """Records of two datasets of the sample, taken for the book's own."""
    monkeypatch.setattr(Evidence, "recordable", True)
    evidence = evidence_on([first_items(votes, 40) for votes in sample[:2]])
    reference_scores(evidence, seed=0, measures=["jsd"])
    reference_scores(evidence, seed=0)
    baseline_scores(evidence, seed=0)
    return run_folder / FOLDER


def test_the_package_s_data_are_the_records(tables, sample, tmp_path, monkeypatch):
    target = tmp_path / "reference_scores"
    target.mkdir()
    (target / "gone.csv").write_text("a dataset of earlier")
    written = write_package_data(tables, target)
    assert [path.name for path in written] == ["mnli.csv", "snli.csv"]
    assert sorted(target.iterdir()) == written

    monkeypatch.setattr(references, "KNOWN", target)
    votes = first_items(sample[0], 40)
    known = pd.DataFrame(known_rows(votes))
    assert set(known["sha256"]) == {votes.source.sha256}
    assert not known.duplicated(["system", "measure"]).any()
    of_uniform = known[known["system"] == "uniform"]
    assert set(of_uniform["measure"]) == set(available(votes, MEASURES))
    drawn = reference_scores.function(votes, seed=0, measures=["jsd"])
    value = drawn.set_index("system").loc[SECOND_CROWD, "value"]
    of_jsd = known[known["measure"] == "jsd"].set_index("system")["value"]
    assert of_jsd[SECOND_CROWD] == pytest.approx(value)
    assert not known_rows(sample[2])


def test_a_record_that_was_changed_by_hand_is_refused(tables, tmp_path):
    path = next((tables / baseline_scores.name).glob("snli*.csv"))
    path.write_text(path.read_text().replace("uniform", "Uniform"))
    with pytest.raises(ChaosError, match="damaged"):
        write_package_data(tables, tmp_path / "target")
    assert not (tmp_path / "target").exists()


def test_every_measure_of_the_votes_alone_has_a_floor(sample):
    votes = first_items(sample[2], 40)
    counts = reference_scores.function(votes, seed=0).groupby("system")["measure"].nunique()
    alone = [name for name in available(votes, MEASURES) if name != "old_accuracy"]
    assert counts["perfect model"] == len(alone)

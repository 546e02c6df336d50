import shutil

import pandas as pd
import pytest
from helpers.evidence import as_released, first_items

from chaos_utils.analyses.references import baseline_scores, reference_scores, write_package_data
from chaos_utils.base.errors import ChaosError
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.recorded import FOLDER
from chaos_utils.scoring import references
from chaos_utils.scoring.references import SECOND_CROWD, known_rows
from chaos_utils.scoring.scores import available


@pytest.fixture(scope="module")
def votes(sample):
    return [first_items(one, 40) for one in sample[:2]]


@pytest.fixture(scope="module")
def recorded(votes, tmp_path_factory):
    """Records of two datasets of the sample, taken for the book's own."""
    folder = tmp_path_factory.mktemp("run")
    evidence = [as_released(one) for one in votes]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHAOS_RUN", str(folder))
        reference_scores(evidence, seed=0, measures=["jsd"])
        reference_scores(evidence, seed=0)
        baseline_scores(evidence, seed=0)
    return folder / FOLDER


def test_the_package_s_data_are_the_records(recorded, votes, sample, tmp_path, monkeypatch):
    target = tmp_path / "reference_scores"
    target.mkdir()
    (target / "gone.csv").write_text("a dataset of earlier")
    written = write_package_data(recorded, target)
    assert [path.name for path in written] == ["mnli.csv", "snli.csv"]
    assert sorted(target.iterdir()) == written

    monkeypatch.setattr(references, "KNOWN", target)
    known = pd.DataFrame(known_rows(votes[0]))
    assert set(known["sha256"]) == {votes[0].source.sha256}
    assert not known.duplicated(["system", "measure"]).any()
    measures = known.groupby("system")["measure"].apply(set)
    assert measures["uniform guess"] == set(available(votes[0], MEASURES))
    assert measures["perfect model"] == measures["uniform guess"] - {"old_accuracy"}
    drawn = reference_scores.function(votes[0], seed=0, measures=["jsd"])
    (value,) = drawn.loc[drawn["system"] == SECOND_CROWD, "value"]
    found = known.set_index(["measure", "system"]).loc[("jsd", SECOND_CROWD), "value"]
    assert found == pytest.approx(value)
    assert not known_rows(sample[2])


def test_a_record_that_was_changed_by_hand_is_refused(recorded, tmp_path):
    tables = shutil.copytree(recorded, tmp_path / "tables")
    path = next((tables / baseline_scores.name).glob("snli*.csv"))
    path.write_text(path.read_text().replace("uniform guess", "Uniform"))
    with pytest.raises(ChaosError, match="damaged"):
        write_package_data(tables, tmp_path / "target")
    assert not (tmp_path / "target").exists()

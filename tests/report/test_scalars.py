import numpy as np
import pytest

from chaos_utils.base.errors import ChaosError
from chaos_utils.report.scalars import publish_scalars, read_scalars


def test_scalars_are_kept_with_the_run(run_folder):
    assert read_scalars(run_folder) == {}
    publish_scalars({"loss": 0.5, "steps": 3, "model": "a", "best": None})
    publish_scalars({"loss": np.float64(0.25)})
    assert read_scalars(run_folder) == {"loss": 0.25, "steps": 3, "model": "a", "best": None}
    (run_folder / "scalars.json").write_text("[1]")  # broken: it counts as nothing published
    assert read_scalars(run_folder) == {}


@pytest.mark.parametrize("value", [float("nan"), [1]])
def test_what_no_table_could_show_is_refused(run_folder, value):
    with pytest.raises(ChaosError, match="'loss'"):
        publish_scalars({"loss": value})
    assert not list(run_folder.iterdir())

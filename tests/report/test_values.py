import numpy as np
import pytest
from helpers.manifests import make_manifest

from chaos_utils.base.errors import ChaosError
from chaos_utils.report.scalars import publish_scalars, read_scalars
from chaos_utils.report.values import fill_values, value

COLUMNS = ("dataset", "system", "seed", "jsd", "n", "new")
ROWS = [
    ("snli", "mean vote", 0, 0.2534, 1514, True),
    ("snli", "chance", 1, 0.2, 1514, False),
    ("mnli", "chance", 1, None, 1599, False),
    ("alphanli", "worse", 0, -0.2534, -1532, False),
    ("alphanli", "even", 0, -0.004, 1532, False),
]
RESULTS = make_manifest("tbl-results", data=[dict(zip(COLUMNS, row, strict=True)) for row in ROWS])
BOOK = {"tbl-results": RESULTS}
SAMPLE = {"tbl-results": RESULTS.model_copy(update={"synthetic": True})}
OWN = {"tbl-results": RESULTS.model_copy(update={"parameters": {"data": "votes.csv"}})}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('tbl-results "system=mean vote" jsd .2f', "0.25"),
        ("tbl-results new=true n ,d", "1,514"),
        ("tbl-results dataset=snli|mnli min:n d", "1514"),
        ("tbl-results dataset=snli new=false system", "chance"),
        ("tbl-results dataset=snli seed=1.0 jsd .1f", "0.2"),
        ("tbl-results count:system", "5"),
        ("tbl-results dataset=mnli system", "chance"),
        ("tbl-results dataset=snli seed=1 jsd +.2f", "+0.20"),
        ("tbl-results system=worse jsd .2f", "−0.25"),
        ("tbl-results system=worse jsd +.1%", "−25.3%"),
        ("tbl-results system=worse n ,d", "−1,532"),
        ("tbl-results system=even jsd .2f", "0.00"),
        ("tbl-results system=even jsd +.0%", "0%"),
        ("tbl-results system=even jsd", "−0.004"),
    ],
)
def test_a_value_is_found_and_formatted(text, written):
    assert value(BOOK, text) == written


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tbl-results", "an id and a column"),
        ("tbl-none x", "no notebook made tbl-none"),
        ("tbl-results dataset=xnli n", "0 rows fit"),
        ("tbl-results dataset=snli n", "2 rows fit"),
        ("tbl-results dataset=mnli jsd .2f", "no value there"),
        ("tbl-results data=mnli jsd .2f", "no column 'data'"),
        ("tbl-results seed=1 median:jsd", "no such aggregate"),
    ],
)
def test_what_is_not_there_is_an_error(text, said):
    with pytest.raises(ValueError, match=said):
        value(BOOK, text)


PROSE = """# Title

One paragraph of method.

A finding: {value}`tbl-results dataset=snli seed=1 jsd .1f` is small,
and so on.

- a point with {value}`tbl-results dataset=snli seed=1 n ,d`
- a point without"""


def test_prose_gets_its_numbers_and_findings_of_other_data_are_left_out():
    shown = fill_values(BOOK, PROSE)
    assert "A finding: 0.2 is small,\nand so on." in shown
    assert "- a point with 1,514\n- a point without" in shown
    left = "# Title\n\nOne paragraph of method.\n\n- a point without"
    for manifests in (SAMPLE, OWN, {}):
        assert fill_values(manifests, PROSE) == left


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

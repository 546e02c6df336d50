import json
import shutil

import pytest
from helpers.manifests import make_manifest
from typer.testing import CliRunner

from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.__main__ import app
from chaos_utils.publish.diff import ChangedValue, compare

NAMES = ("dataset", "system", "value", "n")
ROWS = [("snli", "b", 0.25, 3), ("snli", "a", 0.1, 4), ("mnli", "a", 0.0, 5)]
KEYS = ["dataset", "system"]


def write(site, id, rows=ROWS, names=NAMES, **more):
    """Write a figure or table into a site."""
    data = [dict(zip(names, row, strict=True)) for row in rows]
    make_manifest(id, **{"keys": KEYS, "data": data} | more).write(site / "figures")


@pytest.fixture
def sites(tmp_path):
    """Two sites that are the same."""
    write(tmp_path / "old", "fig-a")
    write(tmp_path / "old", "fig-b")
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    return tmp_path / "old", tmp_path / "new"


def test_rows_are_matched_by_their_keys_and_what_differs_most_is_first(sites):
    write(sites[1], "fig-a", [("snli", "a", 0.11, 4), ("snli", "b", 0.5, 3), ("x", "a", 1, 1)])
    gone, came = "dataset=mnli, system=a", "dataset=x, system=a"
    a, b = "dataset=snli, system=a", "dataset=snli, system=b"
    found = compare(*sites)
    assert {(one.row, one.column, one.old, one.new) for one in found[:-2]} == {
        *((gone, column, value, "") for column, value in
          (("dataset", "mnli"), ("system", "a"), ("value", "0.0"), ("n", "5"))),
        *((came, column, "", value) for column, value in
          (("dataset", "x"), ("system", "a"), ("value", "1"), ("n", "1"))),
    }  # fmt: skip
    assert found[-2:] == [
        ChangedValue("fig-a", b, "value", "0.25", "0.5"),
        ChangedValue("fig-a", a, "value", "0.1", "0.11"),
    ]


def test_rows_whose_keys_are_unknown_or_shared_go_by_their_position(sites):
    for keys in ([], ["dataset"]):
        for site, value in zip(sites, (0.1, 0.2), strict=True):
            write(site, "fig-a", [ROWS[0], ("snli", "a", value, 4)], keys=keys)
        assert compare(*sites) == [ChangedValue("fig-a", "row 2", "value", "0.1", "0.2")]


def test_numbers_are_exact_unless_a_tolerance_is_given(sites):
    rows = [("snli", "b", 0.25000000000000006, 3), ROWS[1], ("mnli", "a", 1e-300, 5)]
    write(sites[1], "fig-a", rows)
    assert len(compare(*sites)) == 2
    assert [one.new for one in compare(*sites, tolerance=1e-9)] == ["1e-300"]
    write(sites[1], "fig-a", [("snli", "b", 0.25, 3.0), *ROWS[1:]])
    assert not compare(*sites)  # written otherwise, the same numbers


def test_missing_values_and_columns_are_compared(sites):
    rows = [("snli", "b", None), ("snli", "a", 0.5)]
    for site, name in zip(sites, ("value", "m"), strict=True):
        write(site, "fig-a", rows, ("dataset", "system", name))
    found = [(one.column, one.old, one.new) for one in compare(*sites, tolerance=1)]
    assert found == [("value", "0.5", ""), ("m", "", "0.5")]


def test_the_command_tells_the_difference_by_its_code(sites):
    write(sites[1], "fig-a", [(*row[:2], 7, row[3] + 1) for row in ROWS])
    write(sites[1], "fig-c")
    (sites[1] / "figures" / "fig-b.json").unlink()
    done = CliRunner().invoke(app, ["figures", "diff", *map(str, sites)])
    assert done.exit_code == 1, done.stderr
    for line in (
        "  n, dataset=snli, system=b: 3 → 4",
        "  published → –",
        "  – → published",
        "… and",
        "--json",
    ):
        assert line in done.stdout
    same = CliRunner().invoke(app, ["figures", "diff", str(sites[0]), str(sites[0]), "--json"])
    assert (same.exit_code, json.loads(same.stdout)) == (0, [])


def damage(**fields):
    def spoil(site):
        path = site / "figures" / "fig-a.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | fields))

    return spoil


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (damage(synthetic=True), r"Only one of the two(?s:.)*new"),
        (damage(keys=[1]), r"cannot be read(?s:.)*fig-a\.json(?s:.)*keys"),
        (shutil.rmtree, "no such folder"),
        (lambda site: shutil.rmtree(site / "figures"), "not a built site"),
    ],
)
def test_what_is_no_site_or_damaged_is_reported(sites, spoil, message):
    spoil(sites[1])
    with pytest.raises(ChaosError, match=message):
        compare(*sites)

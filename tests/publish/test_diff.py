import json
import shutil

import pytest
from PIL import Image
from typer.testing import CliRunner

from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.__main__ import app
from chaos_utils.publish import diff

ROWS = [("snli", "b", "0.25", 3), ("snli", "a", "0.1", 4), ("mnli", "a", "0.0", 5)]


def write(site, id, rows=ROWS, header="dataset,system,value,n", colour=255, **more):
    """Write a figure or table into a site."""
    folder = site / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    (folder / f"{id}.csv").write_text("\n".join(lines) + "\n")
    manifest = {
        "id": id, "kind": "figure", "title": f"Title of *{id}*", "caption": "A caption.",
        "synthetic": False, "keys": ["dataset", "system"], "notebook": "one",
        "parameters": {"seed": 0}, "software": {"numpy": "2.0"}, "formats": ["png", "csv", "json"],
        "inputs": [{"name": "votes", "sha256": "aa", "synthetic": False}],
    } | more  # fmt: skip
    (folder / f"{id}.json").write_text(json.dumps(manifest))
    picture = Image.new("RGB", (10, 10), (255, 255, 255))
    picture.putpixel((0, 0), (colour, 255, 255))
    picture.save(folder / f"{id}.png")


@pytest.fixture
def sites(tmp_path):
    """Two sites that are the same."""
    write(tmp_path / "old", "fig-a")
    write(tmp_path / "old", "fig-b")
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    return tmp_path / "old", tmp_path / "new"


def only_change(sites, **options):
    found = diff.compare(*sites, **options)
    assert not found.added
    assert not found.removed
    (change,) = found.changed
    return change


def test_rows_are_matched_by_their_keys_and_the_largest_change_is_first(sites):
    write(sites[1], "fig-a", [("snli", "a", "0.11", 4), ("mnli", "a", "0.5", 5), ("x", "a", 1, 1)])
    change = only_change(sites)
    assert change.rows_added == ["dataset=x, system=a"]
    assert change.rows_removed == ["dataset=snli, system=b"]
    zero, tenth = change.cells
    assert (zero.row, zero.column) == ("dataset=mnli, system=a", "value")
    assert (zero.old, zero.new, zero.absolute, zero.relative) == ("0.0", "0.5", 0.5, None)
    assert (tenth.absolute, tenth.relative) == pytest.approx((0.01, 0.1))


def test_numbers_may_be_keys(sites):
    rows = [("none", n, seed, n / 10 + seed) for n in (1, 2, 3) for seed in (0, 1)]
    header, keys = "group,n_votes,seed,value", ["group", "n_votes", "seed"]
    write(sites[0], "fig-a", rows, header=header)  # of the first edition: without keys
    write(sites[1], "fig-a", [*rows[:2], ("none", 2, 0, 9), *rows[4:]], header=header, keys=keys)
    change = only_change(sites)
    assert change.rows_removed == ["group=none, n_votes=2, seed=1"]
    (cell,) = change.cells
    assert (cell.row, cell.column, cell.new) == ("group=none, n_votes=2, seed=0", "value", "9")


def test_numbers_are_exact_unless_a_tolerance_is_given(sites):
    rows = [*ROWS[:2], ("mnli", "a", "1e-300", 5)]
    write(sites[1], "fig-a", [("snli", "b", "0.25000000000000006", 3), *rows[1:]])
    assert len(only_change(sites).cells) == 2
    assert [cell.new for cell in only_change(sites, tolerance=1e-9).cells] == ["1e-300"]
    write(sites[1], "fig-a", [("snli", "b", "0.250", "3.0"), *ROWS[1:]])
    assert not diff.compare(*sites)  # written otherwise, the same numbers


def test_missing_values_columns_words_and_what_it_was_made_from_are_compared(sites):
    rows = [("snli", "b", "", 3, 1), *((*row, 1) for row in ROWS[1:])]
    write(
        sites[1], "fig-a", rows, header="dataset,system,value,m,k", caption="Another.",
        inputs=[{"name": "votes", "sha256": "bb", "synthetic": False}], software={"numpy": "2.1"},
        parameters={"seed": 1, "more": True},
    )  # fmt: skip
    change = only_change(sites)
    assert (change.columns_added, change.columns_removed) == (["m", "k"], ["n"])
    (cell,) = change.cells
    assert (cell.old, cell.new, cell.absolute) == ("0.25", "", None)
    assert {fact.name: (fact.old, fact.new) for fact in change.facts} == {
        "caption": ("A caption.", "Another."),
        "parameter seed": ("0", "1"),
        "parameter more": ("", "True"),
        "version of numpy": ("2.0", "2.1"),
        "input votes": ("aa", "bb"),
    }


def test_pictures_are_compared_by_pixel(sites):
    write(sites[1], "fig-a", colour=0)
    assert only_change(sites).picture.share == 0.01
    write(sites[1], "fig-a", colour=254)
    assert only_change(sites).picture.share == 0  # different, but not to be seen
    Image.new("RGB", (5, 10)).save(sites[1] / "figures" / "fig-a.png")
    picture = only_change(sites).picture
    assert (picture.old_size, picture.new_size, picture.share) == ((10, 10), (5, 10), None)


def test_the_command_tells_the_difference_by_its_code_and_writes_a_page(sites, tmp_path):
    evil = "<script>alert(1)</script>"
    write(sites[0], "fig-a", [("snli", evil, "0.25", 3)], caption=evil)
    write(sites[1], "fig-a", [("snli", evil, "0.5", 3)], title=evil, colour=0)
    write(sites[1], "fig-c")
    (sites[1] / "figures" / "fig-b.json").unlink()
    out = tmp_path / "diff.html"
    done = CliRunner().invoke(app, ["figures", "diff", *map(str, sites), "--html", str(out)])
    assert done.exit_code == 1, done.stderr
    assert "1 changed, 1 added, 1 removed, 0 the same" in done.stdout
    assert "0.25 → 0.5  (+0.25, +100.000%)" in done.stdout
    page = out.read_text("utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert page.count("data:image/png;base64,") == 2
    assert "http" not in page.replace("http-equiv", "")
    same = CliRunner().invoke(app, ["figures", "diff", str(sites[0]), str(sites[0]), "--json"])
    assert (same.exit_code, json.loads(same.stdout)["same"]) == (0, 2)


def damage(**fields):
    def spoil(site):
        path = site / "figures" / "fig-a.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | fields))

    return spoil


def with_text(name, text):
    return lambda site: (site / "figures" / name).write_text(text)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (damage(synthetic=True), r"Only one of the two(?s:.)*new"),
        (damage(id="../fig-b"), r"damaged(?s:.)*id: \"../fig-b\""),
        (with_text("fig-a.json", "{"), r"damaged(?s:.)*fig-a\.json"),
        (with_text("fig-a.png", "x"), r"picture(?s:.)*fig-a\.png"),
        (shutil.rmtree, "no such folder"),
        (lambda site: shutil.rmtree(site / "figures"), "not a built site"),
        (lambda site: (site / "figures/fig-a.csv").unlink(), r"cannot be read(?s:.)*fig-a\.csv"),
    ],
)
def test_what_is_no_site_or_damaged_is_reported(sites, spoil, message):
    spoil(sites[1])
    with pytest.raises(ChaosError, match=message):
        diff.compare(*sites)

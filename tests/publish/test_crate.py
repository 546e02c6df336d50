import json

import pytest
from rocrate.rocrate import ROCrate

from chaos_utils.base.errors import ChaosError
from chaos_utils.publish import crate, dependencies


@pytest.fixture
def site(finished):
    return finished / "_build" / "html"


def edit_record(finished, **changes):
    path = finished / "_build" / "chapters" / "one" / "record.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_the_library_reads_back_what_was_run_with_what_and_what_came_of_it(site):
    read = ROCrate(site)
    assert read.description == "What it is <about>."
    assert read.root_dataset["conformsTo"].id == crate.PROFILE
    (action,) = read.root_dataset["mentions"]
    assert action["instrument"].id == "notebooks/one.py"
    versions = {
        entity["name"]: entity["softwareVersion"]
        for entity in action["instrument"]["softwareRequirements"]
    }
    assert versions["numpy"] == "2.0.0"
    values = {e["name"]: e["value"] for e in action["object"] if e.type == "PropertyValue"}
    assert values == {"data": "auto", "seed": 3}
    files = {e["name"]: e["sha256"] for e in action["object"] if e.type != "PropertyValue"}
    assert set(files) == {"chaosNLI_v1.0/chaosNLI_snli.jsonl", "results/run/run.json"}
    assert {e.id for e in action["result"]} == {
        "figures/fig-a.json",
        "figures/fig-a.csv",
        "figures/fig-a.png",
        "_sources/chapters/one.ipynb",
    }
    for name in ("chapters/one.html", "items.js"):
        assert "by-nc" in read.get(name)["license"].id
    crate.check(site)


def test_a_synthetic_build_says_so(finished, site):
    entry = {"name": "chaosNLI_v1.0/chaosNLI_snli.jsonl", "sha256": "0", "synthetic": True}
    edit_record(finished, inputs=[entry])
    crate.write(site)
    read = ROCrate(site)
    assert read.name == "Synthetic sample: A book"
    assert read.get("#input-chaosNLI_v1.0/chaosNLI_snli.jsonl")["description"] == (
        "Synthetic sample."
    )


def test_a_file_that_is_missing_is_reported_when_writing_and_when_checking(site):
    (site / "figures" / "fig-a.csv").unlink()
    with pytest.raises(ChaosError, match=r"(?s)is missing.*figures/fig-a\.csv"):
        crate.write(site)
    with pytest.raises(ChaosError, match=r"figures/fig-a\.csv is missing"):
        crate.check(site)


def change_a_figure(site):
    (site / "figures" / "fig-a.csv").write_text("x,y\n1,3\n")


def lead_outside(site):
    text = (site / crate.FILE).read_text()
    (site / crate.FILE).write_text(text.replace("figures/fig-a.csv", "../../LICENSE"))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (change_a_figure, r"figures/fig-a\.csv was changed"),
        (lead_outside, "LICENSE is missing"),
        (lambda site: (site / crate.FILE).unlink(), "crate cannot be read"),
        (lambda site: (site / crate.FILE).write_text("{"), "crate cannot be read"),
    ],
)  # fmt: skip
def test_a_site_that_is_not_what_its_crate_says_is_reported(site, spoil, message):
    spoil(site)
    with pytest.raises(ChaosError, match=message):
        crate.check(site)


def test_a_chapter_that_was_not_run_is_reported(finished, site):
    (finished / "_build" / "chapters" / "one" / "record.json").unlink()
    with pytest.raises(ChaosError, match="chapter one was not run"):
        crate.write(site)


def test_a_built_site_has_a_crate_with_one_run_for_each_chapter(small_checkout, monkeypatch):
    monkeypatch.chdir(small_checkout)
    site = small_checkout / "_build" / "html"
    crate.check(site)
    actions = ROCrate(site).get_by_type("CreateAction")
    assert [action.id for action in actions] == [f"#run-{name}" for name in dependencies.chapters()]
    made = {entity.id for action in actions for entity in action["result"]}
    figures = (path for path in (site / "figures").iterdir() if path.suffix != ".html")
    assert {path.relative_to(site).as_posix() for path in figures} <= made

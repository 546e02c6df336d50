import json

import pytest
from rocrate.rocrate import ROCrate

from chaos_utils.base.errors import ChaosError
from chaos_utils.publish import crate, dependencies


@pytest.fixture
def site(finished):
    return finished / "_build" / "html"


@pytest.mark.filterwarnings("error")
def test_the_library_reads_back_what_was_run_with_what_and_what_came_of_it(site):
    read = ROCrate(site)
    assert read.description == "What it is <about>."
    assert read.root_dataset["conformsTo"].id == crate.PROFILE
    (action,) = read.root_dataset["mentions"]
    assert action["instrument"].id == "notebooks/one.py"
    needed = action["instrument"]["softwareRequirements"]
    assert ("numpy", "2.0.0") in {(one["name"], one["softwareVersion"]) for one in needed}
    values = {e["name"]: e["value"] for e in action["object"] if e.type == "PropertyValue"}
    assert values == {"data": "auto", "seed": 3}
    files = {e["name"] for e in action["object"] if "sha256" in e}
    assert files == {"chaosNLI_v1.0/chaosNLI_snli.jsonl", "results/run/run.json"}
    figures = {f"figures/fig-a.{format}" for format in ("json", "csv", "png")}
    assert {e.id for e in action["result"]} == figures | {"_sources/chapters/one.ipynb"}
    for name in ("chapters/one.html", "items.js"):
        assert "by-nc" in read.get(name)["license"].id


def test_a_synthetic_build_says_so(finished, site):
    path = finished / "_build" / "chapters" / "one" / "record.json"
    record = json.loads(path.read_text())
    record["inputs"][0] |= {"sha256": "0", "synthetic": True}
    path.write_text(json.dumps(record))
    crate.write(site)
    read = ROCrate(site)
    assert read.name == "Synthetic sample: A book"
    votes = read.get("#input-chaosNLI_v1.0/chaosNLI_snli.jsonl")
    assert votes["description"] == "Synthetic sample."


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("chapters/one/record.json", "chapter one was not run"),
        ("html/figures/fig-a.csv", r"is missing(?s:.)*figures/fig-a\.csv"),
    ],
)
def test_no_crate_is_made_of_what_is_not_there(finished, site, name, message):
    (finished / "_build" / name).unlink()
    with pytest.raises(ChaosError, match=message):
        crate.write(site)


def test_a_built_site_has_a_crate_with_one_run_for_each_chapter(small_checkout, monkeypatch):
    monkeypatch.chdir(small_checkout)
    site = small_checkout / "_build" / "html"
    actions = ROCrate(site).get_by_type("CreateAction")
    assert [action.id for action in actions] == [f"#run-{name}" for name in dependencies.chapters()]
    made = {entity.id for action in actions for entity in action["result"]}
    figures = (path for path in (site / "figures").iterdir() if path.suffix != ".html")
    assert {path.relative_to(site).as_posix() for path in figures} <= made

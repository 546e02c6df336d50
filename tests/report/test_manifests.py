import json

import pytest
from helpers.faults import refused
from helpers.manifests import make_manifest, make_record

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_json
from chaos_utils.report.manifests import read_manifest
from chaos_utils.report.provenance import read_run_record


@pytest.mark.parametrize("id", ["fig-x", "tbl-x"])
def test_what_is_written_is_read_and_says_what_its_kind_has(tmp_path, id):
    made = make_manifest(id)
    made.write(tmp_path)
    assert read_manifest(tmp_path / f"{id}.json") == made
    written = json.loads((tmp_path / f"{id}.json").read_text("utf-8"))
    of_its_kind = {"display"} if id == "tbl-x" else {"alt", "size", "narrow_size"}
    assert written.keys() & {"display", "alt", "size", "narrow_size"} == of_its_kind
    assert set(made.file_names) == {f"{id}.{one}" for one in made.formats} | {
        f"{id}-{end}.svg" for end in ("dark", "narrow", "narrow-dark") if id == "fig-x"
    }


ROWS = [["1"], ["1", "2"]]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"panels": 2}, "panels: no such field"),  # of a later version
        ({"keys": ...}, "keys: is missing"),  # of an earlier one
        ({"synthetic": "no"}, "synthetic: found 'no'; expected true or false"),
        ({"id": "../fig-x"}, "id: found '../fig-x'; expected an id such as fig-entropy"),
        ({"formats": ["exe"]}, "formats.0: found 'exe'; expected 'svg', 'png', 'pdf', 'csv'"),
        ({"data": [{"y": 1}]}, "a row of its data has other columns"),
        ({"alt": ...}, "a figure has alt, narrow_size, size"),
        ({"display": {"header": [["a"]], "rows": ROWS}}, "a row has more or fewer cells"),
        ({"display": {"header": [["a"], ["b", "c"]], "rows": []}}, "some headings have one name"),
        ({"display": {"header": [["a"]], "rows": [[3]]}}, "display.rows.0.0: found 3"),
    ],
)
def test_one_that_is_damaged_or_of_another_version_is_to_be_built_again(tmp_path, changes, said):
    content = make_manifest().model_dump(exclude_unset=True) | changes
    path = tmp_path / "fig-x.json"
    write_json(path, {name: value for name, value in content.items() if value is not ...})
    with refused(where=str(path), found=said, todo="build it again"):
        read_manifest(path)


@pytest.mark.parametrize("text", ["{", "[]", "", '{"schema": 1}', "\x00", "[" * 5000])
def test_what_cannot_be_read_is_named_and_a_run_without_a_record_is_none(tmp_path, text):
    (tmp_path / "fig-x.json").write_text(text)
    with pytest.raises(ChaosError, match=r"cannot be read(?s:.)*fig-x\.json"):
        read_manifest(tmp_path / "fig-x.json")
    (tmp_path / "record.json").write_text(text)
    assert read_run_record(tmp_path) is None
    write_json(tmp_path / "record.json", make_record())
    assert read_run_record(tmp_path).parameters == {"data": "auto"}

"""Renewing the recorded tables, and comparing them with what a build computed."""

import json
from dataclasses import replace

import pytest
from helpers.checkout import PROJECT
from helpers.manifests import make_record
from typer.testing import CliRunner

from chaos_utils.analyses import references
from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.base.inputs import Input
from chaos_utils.base.record_keys import Key, key_digest, read_keys, write_keys
from chaos_utils.base.table import as_text, from_text
from chaos_utils.cli import extras
from chaos_utils.cli.__main__ import app
from chaos_utils.publish import crate, dependencies, records, staleness
from chaos_utils.recorded import FOLDER, Record, read_record
from chaos_utils.report.provenance import RunRecord

ROWS = ["snli,e,0.5,3", "snli,n,0.25,4"]


def record(rows=ROWS, analysis="one.shares", dataset="snli", code="1"):
    types = {"dataset": "str", "label": "str", "share": "float", "n": "int"}
    text = "dataset,label,share,n\n" + "".join(f"{row}\n" for row in rows)
    inputs, keys = (Input("votes", "0"),), ("dataset", "label")
    return Record(analysis, dataset, {}, keys, types, inputs, text, Key(code, "parsed"))


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A checkout of two chapters that were built, and computed one table each."""
    monkeypatch.setattr(paths, "build", lambda: tmp_path / "_build")
    monkeypatch.setattr(paths, "results", lambda: tmp_path / "results")
    monkeypatch.setattr(dependencies, "chapters", lambda: ["one", "two"])
    monkeypatch.setattr(staleness, "changed_since", lambda chapter: [])
    shown = [RunRecord.model_validate(make_record(notebook=name)) for name in ("one", "two")]
    monkeypatch.setattr(crate, "run_records", lambda: shown)
    monkeypatch.setattr(extras, "require", lambda extra: None)
    packaged = []
    monkeypatch.setattr(references, "write_package_data", packaged.append)
    compute(tmp_path, "one", record())
    compute(tmp_path, "two", record(analysis="two.counts"))
    records.renew()
    assert packaged == [tmp_path / "results" / FOLDER]
    return tmp_path


def compute(project, chapter, *made):
    """Let a chapter compute these tables, and ask for no others."""
    ask(project, chapter, **{one.name: "computed" for one in made})
    folder = project / "_build" / "chapters" / chapter / FOLDER
    for one in made:
        write_text(folder / one.name, one.written())
    write_keys(folder, {one.name: one.key for one in made})


def ask(project, chapter, **how):
    """Let a chapter ask for tables that were computed, read or shown."""
    folder = project / "_build" / "chapters" / chapter / FOLDER
    for path in folder.glob("*/*.csv"):
        path.unlink()
    lines = [json.dumps({"name": name, "how": one}) + "\n" for name, one in how.items()]
    write_text(folder / "table_usage.jsonl", "".join(lines))


def stored(project, name="one.shares/snli.csv"):
    return project / "results" / FOLDER / name


def test_a_table_edited_by_hand_is_named_cell_by_cell(project):
    path = stored(project)
    assert records.compare() == ([], [], [])
    assert records.renew() == []
    path.write_text(path.read_text().replace("0.25,4", "0.26,5"))
    done = CliRunner().invoke(app, ["verify"])
    assert done.exit_code == 2
    for said in ("n: recorded 5, computed 4", "share: recorded 0.26, computed 0.25"):
        assert f"one.shares/snli.csv, snli, n, {said}" in done.stdout
    assert "1 of 2 recorded tables are as computed" in done.stdout
    assert records.renew() == ["one.shares/snli.csv: 2 cells"]
    assert read_record(path) == replace(record(), key=Key())


def test_the_digits_of_another_processor_change_nothing(project):
    compute(project, "one", record(["snli,e,0.500000001,3", ROWS[1]]))
    before = stored(project).read_text()
    made = read_record(project / "_build/chapters/one" / FOLDER / "one.shares/snli.csv")
    of_shares = Key("1", "parsed", {"shares": key_digest(made.text)})
    compute(project, "two", replace(record(analysis="two.counts"), key=of_shares))
    assert records.compare() == ([], [], [])
    assert records.renew() == []
    assert stored(project).read_text() == before
    of_two = read_keys(project / "results" / FOLDER)["two.counts/snli.csv"]
    assert of_two.tables == {"shares": key_digest(read_record(stored(project)).text)}


def test_new_numbers_are_recorded_and_what_no_chapter_asks_for_is_removed(project):
    compute(project, "one", record(["snli,e,0.75,3", ROWS[1]]))
    compute(project, "two", record(analysis="two.more"))
    found = [str(one) for one in records.compare()[0]]
    assert found == [
        "one.shares/snli.csv, snli, e, share: recorded 0.5, computed 0.75",
        "two.counts/snli.csv: recorded a table, computed no chapter makes it",
        "two.more/snli.csv: recorded no table, computed a table",
    ]
    done = CliRunner().invoke(app, ["record", "--json"])
    assert json.loads(done.stdout)["changed"] == [
        "one.shares/snli.csv: 1 cell", "two.counts/snli.csv: gone", "two.more/snli.csv: new",
    ]  # fmt: skip
    assert records.compare() == ([], [], [])


def test_what_a_chapter_has_read_stays_as_it_is_and_verifies_nothing(project):
    before = stored(project, "two.counts/snli.csv").read_bytes()
    compute(project, "one", record(["snli,e,0.75,3", ROWS[1]]))
    ask(project, "two", **{"two.counts/snli.csv": "read"})
    with pytest.raises(ChaosError, match=r"1 table read, 1 computed(?s:.)*--recompute"):
        records.compare()
    assert records.renew() == ["one.shares/snli.csv: 1 cell"]
    assert stored(project, "two.counts/snli.csv").read_bytes() == before
    ask(project, "one", **{"one.shares/snli.csv": "read"})
    assert records.renew() == []  # nothing was computed: nothing changes


def test_code_that_changes_no_number_changes_the_keys_alone(project):
    folder = project / "results" / FOLDER
    before = {path: path.read_bytes() for path in folder.glob("*/*.csv")}
    compute(project, "one", record(code="2"))
    assert records.compare() == ([], [], ["one.shares/snli.csv"])
    done = CliRunner().invoke(app, ["verify"])
    assert done.exit_code == 0
    assert "made by other code" in done.stdout
    assert records.renew() == []
    assert {path: path.read_bytes() for path in folder.glob("*/*.csv")} == before
    keys = {name: key.made_by for name, key in read_keys(folder).items()}
    assert keys == {"one.shares/snli.csv": "2", "two.counts/snli.csv": "1"}


def test_damaged_keys_are_an_error_until_all_is_computed_and_recorded(project):
    path = project / "results" / FOLDER / "keys.json"
    text = path.read_text()
    path.write_text(text.replace("{", "<<<<<<< HEAD\n{", 1))
    with pytest.raises(ChaosError, match=r"keys(?s:.)*damaged(?s:.)*make record"):
        records.compare()
    assert records.renew() == []
    assert path.read_text() == text


def test_what_could_not_be_computed_is_not_compared_nor_renewed(project):
    ask(project, "two", **{"two.counts/snli.csv": "shown"})
    crate.run_records()[1].recorded.append("snli")
    assert records.compare() == ([], ["two.counts/snli.csv"], [])
    with pytest.raises(ChaosError, match=r"Only a build from all of the data(?s:.)*two"):
        records.renew()
    assert stored(project, "two.counts/snli.csv").is_file()


def test_two_chapters_must_agree_on_one_table(project):
    compute(project, "two", record(["snli,e,0.4,3", ROWS[1]]))
    with pytest.raises(ChaosError, match="Two chapters computed different numbers"):
        records.renew()
    ask(project, "one", **{"one.shares/snli.csv": "read"})
    with pytest.raises(ChaosError, match="Two chapters computed different numbers"):
        records.renew()


def test_a_chapter_behind_its_sources_or_damaged_is_refused(project, monkeypatch):
    monkeypatch.setattr(staleness, "changed_since", lambda chapter: ["tables/table_usage.jsonl"])
    for work in (records.compare, records.renew):
        with pytest.raises(ChaosError, match=r"one: tables/table_usage\.jsonl(?s:.)*chaos build"):
            work()


def test_a_damaged_record_is_an_error_until_it_is_computed_and_recorded(project):
    path = stored(project)
    path.write_text(path.read_text()[:50])
    with pytest.raises(ChaosError, match="damaged"):
        records.compare()
    ask(project, "one")
    with pytest.raises(ChaosError, match="damaged"):
        records.renew()
    assert len(path.read_text()) == 50
    compute(project, "one", record())
    records.renew()
    assert read_record(path) == replace(record(), key=Key())


def test_the_committed_records_hold_aggregates_alone():
    files = [path for path in (PROJECT / "results" / FOLDER).rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".csv", ".json"}
    assert len(files) > 40
    assert sum(path.stat().st_size for path in files) < 5_000_000
    of_items = {"premise", "hypothesis", "obs1", "obs2", "hyp1", "hyp2", "uid", "uids", "item"}
    tables = [path for path in files if path.suffix == ".csv"]
    by_item = [path.parent.name for path in tables if of_items & read_record(path).types.keys()]
    assert set(by_item) == {"annotations.examples"}


def test_columns_in_another_order_are_written_anew(project):
    made = record()
    columns = [*made.types][::-1]
    text, _ = as_text(from_text(made.text, made.types)[columns])
    compute(project, "one", replace(made, text=text, types={k: made.types[k] for k in columns}))
    assert records.renew() == []
    assert [*read_record(stored(project)).types] == columns

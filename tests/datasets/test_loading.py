"""What the parameter `data` may be, and a dataset's YAML file."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml
from helpers.checkout import PROJECT
from helpers.rows import row, write_rows

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import dataset as d
from chaos_utils.datasets.catalogue import (
    bundled_datasets,
    get_dataset,
    known_datasets,
    known_files,
    register_user_dataset,
)
from chaos_utils.datasets.dataset import read_dataset
from chaos_utils.datasets.loading import load_all_votes, load_votes

CSV = "item,label\na,red\na,blue\nb,red\n"
SYSTEM = {"family": "a", "seeds": [1], "files": ["a-{seed}.json"], "trained_on": []}
DESCRIBED = {
    "name": "colours",
    "title": "Colours",
    "labels": ["red", "green", "blue"],
    "files": [{"name": "votes.csv"}],
    "reader": {"format": "long"},
}


def described(folder, file="colours.yml", **fields):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "votes.csv").write_text(CSV)
    (folder / file).write_text(yaml.safe_dump(DESCRIBED | fields, sort_keys=False))
    return folder / file


def fault_of(load, *given):
    with pytest.raises(ChaosError) as fault:
        load(*map(str, given))
    return f"{fault.value}\n"


def test_a_yaml_file_of_ones_own(tmp_path, reader_in):
    path = described(tmp_path / "mine")
    (votes,) = load_all_votes(str(path))
    assert votes.counts.tolist() == [[1, 0, 1], [1, 0, 0]]
    assert votes.source.name == "own-data/votes.csv"
    assert get_dataset("colours").title == "Colours"
    assert known_datasets()[-1].name == "colours"
    assert load_votes("colours", str(path)).uids == votes.uids
    reader_in(tmp_path)
    assert load_votes("colours", "mine").uids == votes.uids
    assert "did you mean 'colours'" in fault_of(load_votes, "colour", "mine/colours.yml")
    assert "no votes on 'snli' in this data" in fault_of(load_votes, "snli", "mine/colours.yml")


def test_a_file_with_a_digest_is_verified_and_may_stand_where_data_is_looked_for(
    tmp_path, monkeypatch
):
    path = described(tmp_path / "a", files=[{"name": "votes.csv", "sha256": "0" * 64}])
    assert "SHA-256 differs" in fault_of(load_all_votes, path)
    path = described(tmp_path / "b")
    (tmp_path / "data").mkdir()
    shutil.move(path.parent / "votes.csv", tmp_path / "data")
    assert "votes.csv of this dataset is not available" in fault_of(load_all_votes, path)
    monkeypatch.setenv("CHAOS_DATA", str(tmp_path / "data"))
    assert len(load_all_votes(str(path))) == 1


@pytest.mark.parametrize("kind", ["long", "wide", "parquet"])
def test_a_votes_file_needs_no_yaml(tmp_path, kind):
    path = tmp_path / "My Colours (2).CSV"
    if kind == "parquet":
        pd.DataFrame({"uid": ["a", "b"], "blue": [1, 0], "red": [1, 1]}).to_parquet(path)
    else:
        path.write_text(CSV if kind == "long" else "\ufeffuid;blue;red\na;1;1\nb;0;1\n")
    (votes,) = load_all_votes(str(path))
    assert votes.dataset.name == "my-colours-2"
    assert votes.dataset.labels == ("blue", "red")
    assert votes.counts.tolist() == [[1, 1], [0, 1]]
    assert get_dataset("my-colours-2") == votes.dataset


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", "item,label\na,red\n", "expected:  two labels at least"),
        ("a.csv", "item,red,blue,n_votes\na,1,2,4\n", "found '4'; expected 3, the sum"),
        ("a.csv", "item,worker_name,choice\n1,WORKER_A,yes\n2,WORKER_B,no\n", "not recognised"),
        ("snli.csv", CSV, "This name is taken"),
        ("äö.csv", CSV, "No dataset can be named"),
    ],
)
def test_files_that_are_none(tmp_path, name, text, expected):
    (tmp_path / name).write_text(text)
    fault = fault_of(load_all_votes, tmp_path / name)
    assert expected in fault
    assert "WORKER" not in fault  # values of columns that are no numbers are never shown


def test_a_folder_holds_what_it_holds(tmp_path):
    described(tmp_path)
    write_rows(tmp_path / "chaosNLI_snli.jsonl", [row(uid="mine")])
    snli, colours = load_all_votes(str(tmp_path))
    assert (snli.dataset.name, colours.dataset.name) == ("snli", "colours")
    assert load_votes("snli", str(tmp_path)).uids == ("mine",)
    assert "no chaosNLI_mnli_m.jsonl" in fault_of(load_votes, "mnli", tmp_path)
    assert load_all_votes(str(tmp_path / "chaosNLI_snli.jsonl"))[0].uids == ("mine",)
    described(tmp_path, "again.yaml")
    assert "Two dataset files have the same name" in fault_of(load_all_votes, tmp_path)
    (tmp_path / "empty").mkdir()
    assert "no votes in this data folder" in fault_of(load_all_votes, tmp_path / "empty")


def test_a_base_name_that_two_datasets_share_says_too_little(tmp_path):
    wax, lesion = (Path(get_dataset(name).file) for name in ("wax", "lesion"))
    assert wax.name == lesion.name
    (tmp_path / wax).parent.mkdir(parents=True)
    (tmp_path / wax).write_text('{"w9": {"a": "Time", "b": "Action"}}')
    for data in (tmp_path, tmp_path / wax):
        assert [one.dataset.name for one in load_all_votes(str(data))] == ["wax"]
    assert "no votes in this data folder" in fault_of(load_all_votes, (tmp_path / wax).parent)


def test_data_that_is_not_there_names_the_closest_or_says_what_is_lacking():
    assert "did you mean 'ocnli'" in fault_of(load_all_votes, "ocnl")
    assert "There is no such data" in fault_of(load_votes, "snli", "")
    assert "no synthetic sample" in fault_of(load_votes, "ocnli", "sample")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"name": "sample"}, "another name"),
        ({"in_book": 1}, "remove in_book"),
        ({"titel": "x"}, "titel: no such field; did you mean 'title'?"),
        ({"name": "Not a name"}, "name: found 'Not a name'; expected lower-case letters, digits"),
        ({"labels": [True, False]}, "put 'Yes' and 'No' in quotation marks"),
        ({"labels": [{"name": True}, {"name": False}]}, "put 'Yes' and 'No' in quotation marks"),
        ({"labels": [{"name": "a", "spellings": ["b"]}, "b"]}, "'b' stands for two labels"),
        ({"files": [{"name": "f", "url": "https://x"}]}, "has a url but no sha256"),
        ({"files": [{"name": "../f"}]}, "no path below a data folder"),
        ({"task": "nil"}, "task: found 'nil'; did you mean 'nli'?"),
        ({"systems": [SYSTEM | {"files": ["a-{sed}.json"]}]}, "only {seed} may stand in them"),
        ({"reader": {"format": "wide", "values": "shares"}}, "shares need n_votes"),
        ({"reader": {"format": "long", "texts": {"a": "b"}}}, "reader.texts names 'a'"),
        ({"reader": {"format": "long", "texts_by": "id"}}, "needs a second file"),
    ],
)
def test_faults_of_a_yaml_file_name_the_field(tmp_path, fields, expected):
    path = described(tmp_path, **fields)
    fault = fault_of(load_all_votes, path)
    assert expected in fault
    assert str(path) in fault


def test_a_reader_s_file_does_not_replace_a_published_digest(tmp_path):
    name = get_dataset("snli").file
    published = known_files()[name].sha256
    register_user_dataset(read_dataset(described(tmp_path, files=[{"name": name}])))
    assert known_files()[name].sha256 == published


PARTS = {
    "labels": [d.Label],
    "files": [d.DataFile],
    "release": [d.Release],
    "reader": [d.ChaosNLIReader, d.LongReader, d.WideReader, d.ColumnsReader],
    "reader.about_annotators": [d.AboutAnnotators],
    "annotate": [d.Annotate],
    "systems": [d.ReleasedSystem],
}


def test_every_field_is_explained_once_on_the_book_s_page_and_no_other():
    known = d.Dataset.model_fields.items()
    fields = {"files", *(field.alias or name for name, field in known if name not in PARTS)}
    fields |= {
        f"{part}.{name}"
        for part, models in PARTS.items()
        for model in models
        for name in model.model_fields
    }
    fields.discard("files.release")  # filled in by `known_files`
    page = (PROJECT / "book" / "datasets.md").read_text("utf-8")
    section = page.split("## Fields of a YAML file\n")[1].split("\n## ")[0]
    assert sorted(re.findall(r"^\| `(\S+)`", section, re.M)) == sorted(fields)


def test_the_page_lists_every_dataset_that_comes_with_the_package():
    page = (PROJECT / "book" / "datasets.md").read_text("utf-8")
    section = page.split("## Datasets that come with the package\n")[1].split("\n## ")[0]
    names = [dataset.name for dataset in bundled_datasets()]
    assert sorted(re.findall(r"^\| `(\S+)`", section, re.M)) == sorted(names)

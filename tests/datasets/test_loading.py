import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml
from helpers.rows import row, write_dataset, write_rows

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import catalogue
from chaos_utils.datasets.catalogue import bring, get_dataset, known_datasets
from chaos_utils.datasets.dataset import read_dataset
from chaos_utils.datasets.loading import load_all_votes, load_votes
from chaos_utils.datasets.registry import registry

CSV = "item,label\na,red\na,blue\nb,red\n"
SYSTEM = {"family": "a", "seeds": [1], "files": ["a-{seed}.json"], "trained_on": []}
DESCRIBED = {
    "name": "colours",
    "title": "Colours",
    "labels": ["red", "green", "blue"],
    "files": [{"name": "votes.csv"}],
    "reader": {"format": "long"},
}


@pytest.fixture(autouse=True)
def _nothing_was_brought(monkeypatch):
    monkeypatch.setattr(catalogue, "_brought", {})


def described(folder, file="colours.yml", **fields):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "votes.csv").write_text(CSV)
    (folder / file).write_text(yaml.safe_dump(DESCRIBED | fields, sort_keys=False))
    return folder / file


def test_a_yaml_file_of_ones_own(tmp_path, reader_in):
    path = described(tmp_path / "mine")
    (votes,) = load_all_votes(str(path))
    assert votes.counts.tolist() == [[1, 0, 1], [1, 0, 0]]
    assert votes.source.name == "own-data/votes.csv"
    assert get_dataset("colours").title == "Colours"
    assert load_votes("colours", str(path)).uids == votes.uids
    reader_in(tmp_path)
    assert load_votes("colours", "mine").uids == votes.uids
    with pytest.raises(ChaosError, match="did you mean 'colours'"):
        load_votes("colour", "mine/colours.yml")
    with pytest.raises(ChaosError, match="no votes on 'snli' in this data"):
        load_votes("snli", "mine/colours.yml")


def test_a_file_with_a_digest_is_verified_and_may_stand_where_data_is_looked_for(
    tmp_path, monkeypatch
):
    path = described(tmp_path / "a", files=[{"name": "votes.csv", "sha256": "0" * 64}])
    with pytest.raises(ChaosError, match="SHA-256 differs"):
        load_all_votes(str(path))
    path = described(tmp_path / "b")
    (tmp_path / "data").mkdir()
    shutil.move(path.parent / "votes.csv", tmp_path / "data")
    with pytest.raises(ChaosError, match=r"votes\.csv of this dataset is not available"):
        load_all_votes(str(path))
    monkeypatch.setenv("CHAOS_DATA", str(tmp_path / "data"))
    assert len(load_all_votes(str(path))) == 1


@pytest.mark.parametrize("kind", ["long", "wide", "wide shares", "json lines", "parquet"])
def test_a_votes_file_needs_no_yaml(tmp_path, kind):
    path = tmp_path / "My Colours (2).CSV"
    wide = "uid;blue;red\na;1;1\nb;0;1\n"
    if kind == "parquet":
        pd.DataFrame({"uid": ["a", "b"], "blue": [1, 0], "red": [1, 1]}).to_parquet(path)
    elif kind == "json lines":
        rows = [line.split(",") for line in CSV.splitlines()[1:]]
        path.write_text(
            "".join(json.dumps({"item": item, "vote": label}) + "\n" for item, label in rows)
        )
    else:
        shares = "uid,n_votes,blue,red\na,2,0.5,0.5\nb,1,0,1\n"
        path.write_text({"long": CSV, "wide": "\ufeff" + wide, "wide shares": shares}[kind])
    (votes,) = load_all_votes(str(path))
    assert votes.dataset.name == "my-colours-2"
    assert votes.dataset.labels == ("blue", "red")
    assert votes.counts.tolist() == [[1, 1], [0, 1]]
    assert get_dataset("my-colours-2") == votes.dataset


def test_labels_of_a_long_file_are_in_an_order_that_rows_do_not_decide(tmp_path):
    (tmp_path / "scale.csv").write_text("id,worker,answer\na,1,10\na,2,9\nb,1,2\n")
    (votes,) = load_all_votes(str(tmp_path / "scale.csv"))
    assert votes.dataset.labels == ("2", "9", "10")
    assert votes.annotations.annotator.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", "item,label\na,red\n", "expected:  two labels at least"),
        ("a.csv", "item,label\n", "This votes file holds no votes"),
        ("a.csv", "item,red,blue\na,0.5,0.5\nb,1,0\n", "a column n_votes"),
        ("a.csv", "item,red,blue,n_votes\na,1,2,4\n", "found '4'; expected 3, the sum"),
        ("a.csv", "item,red,blue\na,1,-2\n", "to do:     correct the file\n"),
        ("b.csv", "x,y\n1,2\n", "This is not a votes file in a known format"),
        ("c.csv", "item,red,blue,text\na,1,1,hello\n", "not a votes file in a known format"),
        ("d.csv", "", "empty"),
        ("snli.csv", CSV, "This name is taken"),
        ("äö.csv", CSV, "makes no name for a dataset"),
        ("e.yml", "name: [", "cannot be read as YAML"),
        ("e.yml", "a: 1\nb: [\n", "found:     line 3: "),
        ("e.yml", "\na: 1\na: 2\n", "found:     line 3: 'a' occurs twice"),
        ("f.yml", "just text", "found:     'just text'; expected names with values"),
        ("g.yml", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "an alias, which is not supp"),
        ("f.yml", "", "found:     nothing; expected names with values"),
    ],
)
def test_files_that_are_none(tmp_path, name, text, expected):
    (tmp_path / name).write_text(text)
    with pytest.raises(ChaosError) as fault:
        load_all_votes(str(tmp_path / name))
    assert expected in f"{fault.value}\n"


def test_a_folder_holds_what_it_holds(tmp_path):
    described(tmp_path)
    write_rows(tmp_path / "chaosNLI_snli.jsonl", [row(uid="mine")])
    snli, colours = load_all_votes(str(tmp_path))
    assert (snli.dataset.name, colours.dataset.name) == ("snli", "colours")
    assert load_votes("snli", str(tmp_path)).uids == ("mine",)
    assert load_all_votes(str(tmp_path / "chaosNLI_snli.jsonl"))[0].uids == ("mine",)
    described(tmp_path, "again.yaml")
    with pytest.raises(ChaosError, match="Two dataset files have the same name"):
        load_all_votes(str(tmp_path))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ChaosError, match="no votes in this data folder"):
        load_all_votes(str(tmp_path / "empty"))


def test_a_file_that_a_yaml_names_is_not_taken_for_another_s(tmp_path):
    described(tmp_path, files=[{"name": "dev.json"}])
    (tmp_path / "votes.csv").rename(tmp_path / "dev.json")  # as OCNLI's is called
    (votes,) = load_all_votes(str(tmp_path))
    assert votes.dataset.name == "colours"


def test_a_base_name_that_two_datasets_share_says_too_little(tmp_path):
    wax, lesion = (Path(get_dataset(name).file) for name in ("wax", "lesion"))
    assert wax.name == lesion.name
    (tmp_path / wax).parent.mkdir(parents=True)
    (tmp_path / wax).write_text('{"w9": {"a": "Time", "b": "Action"}}')
    for data in (tmp_path, tmp_path / wax):
        assert [one.dataset.name for one in load_all_votes(str(data))] == ["wax"]
    with pytest.raises(ChaosError, match="no votes in this data folder"):
        load_all_votes(str((tmp_path / wax).parent))


def test_one_of_the_three_files_loads_alone(tmp_path):
    write_dataset(tmp_path)
    (tmp_path / get_dataset("mnli").file).unlink()
    assert [one.dataset.name for one in load_all_votes(str(tmp_path))] == ["snli", "alphanli"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("relesed", "did you mean 'released'"),
        ("ocnl", "did you mean 'ocnli'"),
        ("no/such/folder", "one of: auto, released, sample"),
        ("", "There is no such data"),
    ],
)
def test_a_misspelt_value_names_the_closest(data, expected):
    for load in (load_all_votes, lambda data: load_votes("snli", data)):
        with pytest.raises(ChaosError) as fault:
            load(data)
        assert expected in str(fault.value)


def test_a_dataset_s_name_is_data(sample, released_root, monkeypatch):
    monkeypatch.setenv("CHAOS_DATA", str(released_root))
    (votes,) = load_all_votes("mnli")
    assert votes.is_released
    assert votes.dataset.name == "mnli"
    with pytest.raises(ChaosError, match="no votes on 'snli'"):
        load_votes("snli", "mnli")


def test_a_dataset_without_a_sample_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "find_project", lambda: None)
    monkeypatch.setenv("CHAOS_CACHE", str(tmp_path))
    with pytest.raises(ChaosError, match="no synthetic sample"):
        load_votes("ocnli", "sample")
    with pytest.raises(ChaosError, match="is not available") as fault:
        load_votes("ocnli")
    assert "chaos data fetch" in str(fault.value)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"titel": "x"}, "titel: no such field; did you mean 'title'?"),
        ({"labels": ["red"]}, "list should have at least 2 items"),
        ({"labels": ["red", "red"]}, "the label name 'red' occurs twice"),
        ({"labels": [True, False]}, "put 'Yes' and 'No' in quotation marks"),
        ({"labels": [{"name": "a", "spellings": ["b"]}, "b"]}, "'b' stands for two labels"),
        ({"labels": [{"nmae": "a"}, "b"]}, "labels.0.nmae: no such field; did you mean 'name'?"),
        ({"labels": None}, "labels"),
        ({"files": [{"name": "f", "url": "https://x"}]}, "has an address and no sha256"),
        (
            {"files": [{"name": "f", "sha256": "12"}]},
            "files.0.sha256: found '12'; expected 64 hexadecimal digits",
        ),
        ({"colour": "red"}, "colour: found 'red'; expected names with values\n"),
        ({"colour": {"light": "red", "dark": "#000000"}}, "found 'red'; expected #rrggbb\n"),
        (
            {"reader": {"format": "wide", "n_votes": [1]}},
            "reader.wide.n_votes: found [1]; expected a whole number, or text",
        ),
        ({"task": "nil"}, "task: found 'nil'; did you mean 'nli'?"),
        ({"sample": "scene"}, "sample: found 'scene'; did you mean 'scenes'?"),
        ({"systems": [SYSTEM | {"files": ["a-{sed}.json"]}]}, "only {seed} may stand in them"),
        ({"systems": [SYSTEM | {"outside": "a-{"}]}, "only {seed} may stand in them"),
        ({"files": [{"name": "../f"}]}, "no path below a data folder"),
        ({"files": []}, "files: found []"),
        ({"reader": {"format": "lnog"}}, "reader.format: found 'lnog'; did you mean 'long'?"),
        ({"reader": {}}, "reader.format: found ''; one of: chaosnli, long, wide, columns"),
        ({"reader": {"format": "long", "lable": "x"}}, "did you mean 'label'?"),
        ({"reader": {"format": "wide", "values": "shares"}}, "shares need n_votes"),
        ({"reader": {"format": "long", "texts": {"a": "b"}}}, "reader.texts names 'a'"),
        ({"reader": {"format": "long", "texts_by": "id"}}, "needs a second file"),
        ({"name": "Not a name"}, "name: found 'Not a name'; expected lower-case letters, digits"),
    ],
)
def test_faults_of_a_yaml_file_name_the_field(tmp_path, fields, expected):
    path = described(tmp_path, **fields)
    with pytest.raises(ChaosError) as fault:
        read_dataset(path)
    assert expected in str(fault.value)
    assert str(path) in str(fault.value)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "- " * 100_000, "a: 1\na: 2\n", "a: 2020-99-99", "a: " + "9" * 5000, "\x00"],
)  # fmt: skip
def test_what_is_no_yaml(tmp_path, text):
    (tmp_path / "a.yml").write_text(text)
    with pytest.raises(ChaosError, match="cannot be read as YAML"):
        read_dataset(tmp_path / "a.yml")


def test_numbers_may_be_labels(tmp_path):
    assert read_dataset(described(tmp_path, labels=[1, 2])).codes == ("1", "2")


def test_keywords_name_no_dataset(tmp_path):
    path = described(tmp_path, name="sample")
    with pytest.raises(ChaosError, match="name of its own") as fault:
        load_all_votes(str(path))
    assert f"where:     {path}" in str(fault.value)


def test_a_reader_s_dataset_has_no_place_in_the_book(tmp_path):
    with pytest.raises(ChaosError, match="remove in_book"):
        load_all_votes(str(described(tmp_path, in_book=1)))


def test_what_is_brought_comes_after_what_is_bundled(tmp_path):
    bring(read_dataset(described(tmp_path)))
    assert known_datasets()[-1].name == "colours"


def test_datasets_without_a_colour_get_the_next_ones_in_the_order_in_which_they_come(tmp_path):
    names = ["one", "two", "three"]
    loaded = [
        load_all_votes(str(described(tmp_path / name, name=name)))[0].dataset
        for name in [*names, "one"]
    ]
    assert loaded[0] == loaded[3] == get_dataset("one")
    looks = {(one.colour, one.dash) for one in [*known_datasets()]}
    assert len(looks) == len(known_datasets())
    of_book = {one.colour for one in known_datasets() if one.in_book}
    assert not of_book & {one.colour for one in loaded}
    own = {"colour": {"light": "#0072b2", "dark": "#5ab4e6"}, "dash": "dotted"}
    (votes,) = load_all_votes(str(described(tmp_path / "own", name="own", **own)))
    assert (votes.dataset.colour.light, votes.dataset.dash) == ("#0072b2", "dotted")


def test_the_yaml_file_of_one_of_the_package_may_be_given(tmp_path):
    source = Path(catalogue.__file__).with_name("dices.yml")
    bundled = get_dataset("dices")
    assert bring(read_dataset(source)) == bundled
    with pytest.raises(ChaosError, match="This name is taken"):
        bring(read_dataset(source).model_copy(update={"title": "Another"}))


def test_a_file_is_not_read_as_another_one_of_its_name(tmp_path):
    for folder, labels in (("a", "xy"), ("b", "pq")):
        (tmp_path / folder).mkdir()
        lines = ["item,label", *(f"{i},{label}" for i in range(2) for label in labels)]
        (tmp_path / folder / "votes.csv").write_text("\n".join(lines))
    first, second = (load_all_votes(str(tmp_path / one / "votes.csv"))[0] for one in "ab")
    assert first.dataset.labels == ("x", "y")
    assert second.dataset.labels == ("p", "q")


def test_a_reader_s_file_does_not_replace_a_published_digest(tmp_path):
    name = get_dataset("snli").file
    published = registry()[name].sha256
    (tmp_path / "mine.yml").write_text(
        f"name: mine\ntitle: Mine\nlabels: [a, b]\nfiles: [{{name: {name}}}]\n"
        "reader: {format: long}\n"
    )
    bring(read_dataset(tmp_path / "mine.yml"))
    assert registry()[name].sha256 == published


def test_columns_that_are_no_numbers_are_never_shown(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("item,worker_name,choice\n1,WORKER_A123,yes\n2,WORKER_B4,no\n")
    with pytest.raises(ChaosError) as fault:
        load_all_votes(str(path))
    assert "WORKER" not in str(fault.value)

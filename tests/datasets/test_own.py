"""Votes of a reader's own: checked, described and read, however they are damaged."""

import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.__main__ import app
from chaos_utils.datasets import catalogue, tables
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.findings import check_file
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.datasets.readers import read_file

GOOD = """Item ID,Text,Rater,Label,age
1,the cat sat,ann,yes,30
1,the cat sat,bob,no,40
2,a dog ran,ann,no,30
2,a dog ran,bob,no,40
2,a dog ran,cyd,yes,50
"""


@pytest.fixture(autouse=True)
def _no_other_datasets(monkeypatch):
    monkeypatch.setattr(catalogue, "_brought", {})


@pytest.fixture
def check(tmp_path):
    def found(content, name="votes.csv", **columns):
        path = tmp_path / name
        path.write_text(content, "utf-8")
        return check_file(path, **columns)[0]

    return found


def run(*arguments):
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code in (0, 2), done.output
    return done


def able(found):
    return {one.what.split(",")[0].split(":")[0]: one.possible for one in found.abilities}


def test_what_a_long_file_holds(check):
    found = check(GOOD)
    assert found.columns == {"item": "Item ID", "annotator": "Rater", "label": "Label"}
    assert (found.rows, found.items, found.votes) == (5, 2, 5)
    assert found.labels == {"no": 3, "yes": 2}
    assert found.votes_per_item == {2: 1, 3: 1}
    assert (found.unanimous, found.ties) == (0, 1)
    assert found.annotators == {
        "number": 3, "fewest": 1, "median": 2.0, "most": 2, "pairs": 1.0, "median_common": 1.0
    }  # fmt: skip
    assert found.text_columns == ["Text"]
    assert found.other_columns == ["age"]
    assert not found.faults
    assert not found.remarks
    can = able(found)
    assert can["predictions judged by `chaos evaluate`"]
    assert can["annotators"]
    assert can["items shown with their text"]
    assert not can["comparison with an old gold label"]


def test_what_a_wide_file_holds(check):
    found = check("uid,text,red,blue\na,a dot here,3,0\nb,a line,1,1\nc,a line,1,0\n")
    assert found.format == "wide"
    assert found.columns == {"item": "uid", "votes": "red, blue"}
    assert found.labels == {"red": 5, "blue": 1}
    assert found.votes_per_item == {1: 1, 2: 1, 3: 1}
    assert (found.unanimous, found.ties) == (1, 1)
    assert found.text_columns == ["text"]
    assert found.remarks == ["1 item with the texts of another item", "one vote on 1 item"]
    can = able(found)
    assert not can["annotators"]
    assert not can["human equivalents"]
    assert can["agreement"]


def test_columns_may_be_named(check, tmp_path):
    content = "thing,who,picked\n1,a,x\n1,b,y\n"
    with pytest.raises(ChaosError, match="--item, --label"):
        check(content)
    found = check(content, item="thing", label="picked")
    assert found.labels == {"x": 1, "y": 1}
    assert not found.annotators
    assert check(content, item="thing", label="picked", annotator="who").annotators["number"] == 2
    with pytest.raises(ChaosError, match=r"no column 'thin'(.|\n)*did you mean 'thing'"):
        check(content, item="thin")


@pytest.mark.parametrize(
    ("changed", "fault", "remark"),
    [
        (GOOD + "2,a dog ran,dan,2,30\n", "", "labels are numbers ('2') and words ('no', 'yes')"),
        (GOOD.replace("ran,cyd", "ran,"), "no annotator in the column 'Rater' of 1 of 5", ""),
        (GOOD + "3,fish,ann,yes,30\n", "", "one vote on 1 item"),
        (GOOD + "2,a dog ran,dan,Yes,3\n", "", "kept apart: 'Yes', 'yes'"),
        (GOOD + "2,a dog ran,dan, yes,3\n", "", "1 label with blanks around, read without them"),
        (GOOD + "2,a dog ran,ann,yes,3\n", "1 vote by an annotator who had judged the item", ""),
        (GOOD + "2,a dog ran,dan,,3\n", "no label in the column 'Label' of 1 of 6 rows", ""),
    ],
    ids=["kinds", "annotators", "one vote", "case", "blanks", "twice", "no label"],
)  # fmt: skip
def test_what_is_odd_is_said_and_never_mended(check, tmp_path, changed, fault, remark):
    found = check(changed)
    assert (fault in " ".join(found.faults)) if fault else not found.faults
    assert (remark in " ".join(found.remarks)) if remark else not found.remarks
    assert able(found)["predictions judged by `chaos evaluate`"] == (not fault)
    # `chaos evaluate` reads what has no fault as it stands, and refuses the rest.
    path = tmp_path / "votes.csv"
    if fault:
        with pytest.raises(ChaosError):
            load_all_votes(str(path))
        return
    (votes,) = load_all_votes(str(path))
    assert dict(zip(votes.dataset.labels, votes.counts.sum(axis=0), strict=True)) == found.labels
    notes = " ".join(votes.notes)
    if "labels" in remark:
        assert remark.split(" are ")[0] in notes
    if "blanks" in remark:
        assert "1 of 6 labels have blanks around them" in notes


def test_a_slider_needs_a_rule_that_is_named(check, tmp_path):
    rows = [f"{i // 4},w{i % 4},{(i * 37 % 101) / 1:.1f}" for i in range(80)]
    content = "item,annotator,rating\n" + "\n".join(rows) + "\n"
    found = check(content)
    assert "numbers on a scale" in found.faults[0]
    path = tmp_path / "votes.csv"
    for command in (("dataset", "init", path), ("evaluate", path, "--data", path)):
        done = run(*command)
        assert done.exit_code == 2
        assert "numbers on a scale" in done.output
        assert "--cut" in done.output
    done = run("dataset", "init", path, "--cut", "0,40,60,100")
    assert done.exit_code == 0, done.output
    (votes,) = load_all_votes(str(tmp_path / "votes.yml"))
    assert votes.dataset.labels == ("0 to below 40", "40 to below 60", "60 to 100")
    ratings = np.array([float(row.split(",")[2]) for row in rows])
    below = [(ratings < 40).sum(), ((ratings >= 40) & (ratings < 60)).sum(), (ratings >= 60).sum()]
    assert votes.counts.sum(axis=0).tolist() == below
    assert "by this rule: cut at 40, 60" in votes.notes[0]
    assert run("dataset", "init", path, "--cut", "0,60,40", "--force").exit_code == 2


def test_four_hundred_labels_are_read_and_remarked_on(check, tmp_path):
    rows = [f"{i // 4},label-{i * 7 % 400}" for i in range(1600)]
    found = check("item,label\n" + "\n".join(rows) + "\n")
    assert found.remarks[0].startswith("400 different labels")
    (votes,) = load_all_votes(str(tmp_path / "votes.csv"))
    assert votes.counts.shape == (400, 400)
    assert "400 different labels" in votes.notes[0]


def test_init_writes_what_evaluate_reads_and_never_over_another_file(tmp_path):
    path = tmp_path / "My votes.csv"
    path.write_text(GOOD, "utf-8")
    out = tmp_path / "mine.yml"
    assert run("dataset", "init", path, "--out", out).exit_code == 0
    (votes,) = load_all_votes(str(out))
    assert votes.counts.tolist() == [[1, 1], [2, 1]]
    assert votes.texts[1]["text"] == "a dog ran"
    assert votes.annotations is not None
    before = out.read_text()
    done = run("dataset", "init", path, "--out", out, "--annotator", "age")
    assert done.exit_code == 2
    assert "exists already" in done.output
    assert out.read_text() == before
    assert run("dataset", "init", path, "--out", out, "--force").exit_code == 0
    assert run("dataset", "init", path, "--out", tmp_path / "a" / "mine.yml").exit_code == 2


def test_init_leaves_out_annotators_that_are_missing(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(GOOD.replace("dog ran,cyd", "dog ran,"), "utf-8")
    done = run("dataset", "init", path)
    assert "annotators are missing on some rows" in done.output
    (votes,) = load_all_votes(str(tmp_path / "votes.yml"))
    assert votes.annotations is None
    assert votes.counts.sum() == 5


def test_check_answers_for_people_and_programs(tmp_path):
    (tmp_path / "a.csv").write_text(GOOD, "utf-8")
    (tmp_path / "b.csv").write_text("item,red,blue\n1,3,1\n", "utf-8")
    shown = run("dataset", "check", tmp_path / "a.csv").output
    assert "2 items, 5 votes" in shown
    assert "█ 1" in shown
    assert "cannot be computed" in shown
    both = json.loads(run("dataset", "check", tmp_path, "--json").output)
    assert [one["file"] for one in both] == ["a.csv", "b.csv"]
    assert both[1]["votes_per_item"] == {"4": 1}
    run("dataset", "init", tmp_path / "a.csv")
    (described,) = json.loads(run("dataset", "check", tmp_path / "a.yml", "--json").output)
    assert described["labels"] == both[0]["labels"]
    assert described["annotators"] == both[0]["annotators"]


@pytest.mark.parametrize("kind", ["csv", "tsv", "quoted", "parquet"])
def test_large_files_are_read_at_once_and_alike(tmp_path, monkeypatch, kind):
    rng = np.random.default_rng(0)
    item = rng.permutation(np.repeat(np.arange(50), 6))
    table = pd.DataFrame(
        {"item": item, "who": np.arange(300) // 50, "label": rng.integers(0, 4, 300)}
    )
    table = table.drop_duplicates(["item", "who"])
    table["label"] = np.array(["red", " red ", "blue", "skipped"])[table["label"]]
    table["text"] = [f"text, {i}" for i in table["item"]]
    path = tmp_path / "votes"
    if kind == "parquet":
        table.to_parquet(path)
    else:
        separator = "\t" if kind == "tsv" else ","
        table.to_csv(path, sep=separator, index=False, quoting=int(kind == "quoted"))
    described = Dataset.model_validate(
        {
            "name": "large", "title": "Large", "labels": ["blue", "red"], "texts": ["text"],
            "files": [{"name": "votes"}],
            "reader": {"format": "long", "annotator": "who", "ignore": ["skipped"]},
        }
    )  # fmt: skip
    slow = read_file([path], described)
    monkeypatch.setattr(tables, "LARGE", 1)
    content = tables.Content.of(path)
    fast = tables.votes_at_once(content, described, path.name, 0)
    assert fast.uids == slow.uids
    assert fast.counts.tolist() == slow.counts.tolist()
    assert fast.majority.tolist() == slow.majority.tolist()
    assert fast.texts == slow.texts
    assert fast.source == slow.source
    assert fast.notes == slow.notes
    for name in ("item", "annotator", "label"):
        of_both = [getattr(votes.annotations, name).tolist() for votes in (fast, slow)]
        assert of_both[0] == of_both[1]
    assert any("left out" in note for note in fast.notes)
    assert any("have blanks around them" in note for note in fast.notes)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("item,label\n1,red\n1,green\n", "line 3, field 'label'"),
        ("item,label\n1,red\n,blue\n", "line 3, field 'item'"),
        ('item,label\n1,red\n1,"blue\n', "quotation mark"),
        ("item,label\n1,red\n1\n", "line 3, found 1 fields"),
    ],
)
def test_faults_of_large_files_are_named_by_line(tmp_path, monkeypatch, content, message):
    monkeypatch.setattr(tables, "LARGE", 1)
    path = tmp_path / "votes"
    path.write_text(content)
    described = Dataset.model_validate(
        {"name": "large", "title": "Large", "labels": ["blue", "red"],
         "files": [{"name": "votes"}], "reader": {"format": "long"}}
    )  # fmt: skip
    with pytest.raises(ChaosError, match=message):
        read_file([path], described)


def test_large_wide_files_are_read_alike(tmp_path, monkeypatch):
    path = tmp_path / "votes.csv"
    path.write_text("item,blue,red\na,1,2\nb,0,5\n")
    (slow,) = load_all_votes(str(path))
    monkeypatch.setattr(tables, "LARGE", 1)
    fast = tables.votes_at_once(tables.Content.of(path), slow.dataset, slow.source.name, 0)
    assert (fast.uids, fast.counts.tolist()) == (slow.uids, slow.counts.tolist())
    path.write_text("item,blue,red\na,1,2\nb,0,-5\n")
    assert tables.votes_at_once(tables.Content.of(path), slow.dataset, "x", 0) is None


LINES = "item,rater,label\n" + "".join(f"{k // 3},w{k % 3},{'ab'[k % 2]}\n" for k in range(12))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "The data file is empty"),
        (b"item,label\n", "holds no votes"),
        (b"item,annotator,label\na,b,\n", "holds no votes"),
        (gzip.compress(LINES.encode(), mtime=0), "compressed(.|\n)*unpack it"),
        (LINES.replace("a\n", "für\n").encode("latin-1"), "not UTF-8(.|\n)*save it as UTF-8"),
        (LINES.encode("utf-16"), "not UTF-8"),
        (bytes(range(256)), "not UTF-8"),
        (b"item,label,label\n1,a,a\n", "appears twice(.|\n)*'label'(.|\n)*each column once"),
        (b"item,label\n1,a\n1,b,c\n", "line 3, found 3 fields"),
        (b"item|label\n1|a\n", "not recognised(.|\n)*--item"),
        (b"item,one,two\n1,a,b\n", "reader.format: columns"),
        (b"item,a,b\n1,0.5,0.5\n", "hold shares(.|\n)*a column n_votes"),
    ],
)
def test_a_file_that_cannot_be_checked_ends_in_one_message(tmp_path, content, said):
    path = tmp_path / "votes.csv"
    path.write_bytes(content)
    for command in ("check", "init"):
        done = run("dataset", command, path)
        assert done.exit_code == 2
        assert re.search(said, done.output), done.output
        assert "votes.csv" in done.output
    assert not (tmp_path / "votes.yml").exists()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-8"])
@pytest.mark.parametrize(("old", "new"), [(",", ";"), (",", "\t"), ("\n", "\r\n"), ("\n", "\n")])
def test_marks_delimiters_and_ends_of_lines_make_no_difference(tmp_path, encoding, old, new):
    path = tmp_path / "votes.csv"
    path.write_bytes(LINES.replace(old, new).encode(encoding))
    found = check_file(path)[0]
    assert found.columns == {"item": "item", "annotator": "rater", "label": "label"}
    assert (found.items, found.labels) == (4, {"a": 6, "b": 6})
    (votes,) = load_all_votes(str(path))
    assert votes.counts.sum(axis=0).tolist() == [6, 6]


def test_single_cells_of_a_wide_file_are_faults_and_hide_no_other_votes(check, tmp_path):
    found = check("item,a,b\n1,2,0\n2,-1,3\n3,1,\n")
    assert found.labels == {"a": 3, "b": 3}
    assert found.faults == [
        "no number of votes in the column 'a' of 1 of 3 rows (first: row 2)",
        "no number of votes in the column 'b' of 1 of 3 rows (first: row 3)",
    ]
    with pytest.raises(ChaosError, match=r"line 3, field 'a'(.|\n)*row 3, line 4, field 'b'"):
        load_all_votes(str(tmp_path / "votes.csv"))


def test_shares_beside_the_number_of_votes_are_votes(check, tmp_path):
    found = check("item,n_votes,a,b\n1,4,0.25,0.75\n2,3,0.333,0.667\n")
    assert found.labels == {"a": 2, "b": 5}
    assert not found.faults
    assert run("dataset", "init", tmp_path / "votes.csv").exit_code == 0
    for name in ("votes.csv", "votes.yml"):
        (votes,) = load_all_votes(str(tmp_path / name))
        assert votes.counts.tolist() == [[1, 3], [1, 2]]
        catalogue._brought.clear()
    assert "first: row 2" in check("item,n_votes,a,b\n1,3,1,2\n2,3,1,1\n").faults[0]


def test_a_column_beside_the_votes_of_a_wide_file_needs_a_description(check, tmp_path):
    found = check("item,text,a,b\n1,a text,2,0\n2,more text,1,1\n")
    assert "chaos dataset init" in found.abilities[0].why
    with pytest.raises(ChaosError, match=r"columns that hold no votes(.|\n)*'text'"):
        load_all_votes(str(tmp_path / "votes.csv"))
    run("dataset", "init", tmp_path / "votes.csv")
    (votes,) = load_all_votes(str(tmp_path / "votes.yml"))
    assert votes.texts[1]["text"] == "more text"


def test_labels_that_look_like_missing_votes_are_remarked_on(check):
    remarks = " ".join(check("item,label\n1,nan\n1,yes\n2,N/A\n2,no\n").remarks)
    assert "may stand for a missing vote are kept: 'N/A', 'nan'" in remarks


def test_init_says_what_remains_to_be_done(tmp_path):
    path = tmp_path / "snli.csv"
    path.write_text(LINES + "0,w0,a\n")
    done = run("dataset", "init", path)
    assert "the name 'snli' is taken: the dataset is called 'my-snli'" in done.output
    assert "fault: 1 vote by an annotator" in done.output
    assert "next: correct snli.csv" in done.output
    path.write_text(LINES)
    (votes,) = load_all_votes(str(tmp_path / "snli.yml"))
    assert votes.dataset.name == "my-snli"


def test_a_rule_must_cover_the_numbers_and_cuts_no_words(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(LINES)
    done = run("dataset", "init", path, "--cut", "0,1,2")
    assert done.exit_code == 2
    assert "Only a column of numbers can be cut" in done.output
    path.write_text("item,label\n1,5\n1,70\n")
    done = run("dataset", "init", path, "--cut", "0,25,50")
    assert done.exit_code == 2
    assert "--cut 0,25,50, and numbers from 5 to 70" in done.output
    assert not (tmp_path / "votes.yml").exists()
    done = run("dataset", "init", path, "--cut", "0,25,100")
    assert done.exit_code == 0
    assert "fault" not in done.output


def test_a_folder_and_a_place_that_cannot_be_used(tmp_path):
    done = run("dataset", "check", tmp_path)
    assert done.exit_code == 2
    assert "This folder holds no votes" in done.output
    assert "There is no such file" in run("dataset", "check", tmp_path / "none.csv").output
    (tmp_path / "votes.csv").write_text(LINES)
    (tmp_path / "taken.yml").mkdir()
    command = ("dataset", "init", tmp_path / "votes.csv", "--out", tmp_path / "taken.yml")
    assert "exists already" in run(*command).output
    assert run(*command, "--force").exit_code == 2
    assert sorted(one.name for one in tmp_path.iterdir()) == ["taken.yml", "votes.csv"]


def test_check_ends_with_code_2_on_faults_and_still_reports(tmp_path):
    (tmp_path / "good.csv").write_text(GOOD)
    assert run("dataset", "check", tmp_path / "good.csv").exit_code == 0
    (tmp_path / "bad.csv").write_text(GOOD + "2,a dog ran,ann,yes,30\n")  # her second vote on it
    for more in ([], ["--json"]):
        done = run("dataset", "check", tmp_path / "bad.csv", *more)
        assert done.exit_code == 2
        assert "faults" in done.stdout

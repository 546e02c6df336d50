"""Votes of a reader's own: what a file holds is said, described in a YAML file, and read."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.__main__ import app
from chaos_utils.datasets.cells import as_number
from chaos_utils.datasets.findings import check_file, check_votes
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.datasets.words import questions_on_spelling

GOOD = """Item ID,Text,Rater,Label,age
1,the cat sat,ann,yes,30
1,the cat sat,bob,no,40
2,a dog ran,ann,no,30
2,a dog ran,bob,no,40
2,a dog ran,cyd,yes,50
"""
LINES = "item,rater,label\n" + "".join(f"{k // 3},w{k % 3},{'ab'[k % 2]}\n" for k in range(30))
FIRST_VOTE = LINES.partition("\n")[2]  # without the header


@pytest.fixture
def path(tmp_path):
    return tmp_path / "votes.csv"


@pytest.fixture
def check(path):
    def found(content, **columns):
        path.write_text(content, "utf-8")
        return check_file(path, **columns)[0]

    return found


def run(*arguments):
    """Call `chaos dataset`; return its exit code and what it says."""
    done = CliRunner().invoke(app, ["dataset", *map(str, arguments)])
    assert done.exit_code in (0, 2), done.output
    return done.exit_code, done.output


def able(found):
    return {one.what for one in found.abilities if one.possible}


def test_what_a_long_file_holds(check):
    found = check(GOOD)
    assert found.columns == {"item": "Item ID", "annotator": "Rater", "label": "Label"}
    assert found.labels == {"no": 3, "yes": 2}
    assert found.votes_per_item == {2: 1, 3: 1}
    assert (found.unanimous, found.ties) == (0, 1)
    assert list(found.annotators.values()) == [3, 1, 2, 2, 0, 1, 1]
    assert (found.text_columns, found.other_columns) == (["Text"], ["age"])
    assert (found.faults, found.remarks) == ([], [])
    assert any("annotators" in what for what in able(found))


def test_votes_in_columns_may_be_said_to_be_of_the_same_people(path):
    rows = [f"{k},{'ab'[k % 2]},{'ab'[k % 3 > 0]},a" for k in range(12)]
    path.write_text("\n".join(["item,rater_1,rater_2,rater_3", *rows]))
    assert "set reader.annotators_by_place: true" in run("check", path)[1]
    described = path.with_suffix(".yml")
    run("init", path)
    described.write_text(f"{described.read_text()}\n  annotators_by_place: true\n")
    said = run("check", described)[1]
    assert "3 annotators with 12 votes each" in said
    assert "annotators_by_place" not in said


def test_a_verdict_needs_three_annotators_with_thirty_shared_items_each(check):
    refused = "a verdict needs 3 annotators with 30 shared items each"
    for n_people, n_items, why in ((2, 30, refused), (3, 29, refused), (3, 30, "")):
        rows = [f"{k},w{j},{'ab'[k % 2]}\n" for k in range(n_items) for j in range(n_people)]
        rows += [f"{k},w0,a\n" for k in range(90, 95)]  # which nobody else labelled
        found = check("item,annotator,label\n" + "".join(rows))
        (one,) = (one for one in found.abilities if "replacement test" in one.what)
        assert (one.possible, one.why) == (not why, why)


def test_items_of_one_text_count_as_one_for_a_verdict(path):
    rows = [f"{k},text {max(k, 1)},w{j},{'ab'[k % 2]}\n" for k in range(30) for j in range(3)]
    path.write_text("item,text,annotator,label\n" + "".join(rows))
    run("init", path)
    (votes,) = load_all_votes(str(path.with_suffix(".yml")))
    assert votes.dataset.text_fields == ("text",)
    assert check_votes(votes).annotators["tested"] == 0
    assert check_file(path)[0].annotators["tested"] == 3  # texts are read by a YAML file alone


def test_the_next_command_reads_the_file_as_the_check_did(path):
    path.write_text(LINES)
    assert run("check", path)[1].endswith(f"next: chaos run crowd -p data={path}\n")
    chosen = run("check", path, "--annotator", "rater")[1]
    assert chosen.endswith(f"next: chaos dataset init {path} --annotator rater\n")
    folder = path.parent
    assert run("check", folder)[1].endswith(f"next: chaos run crowd -p data={path}\n")
    chosen = run("check", folder, "--annotator", "rater")[1]
    assert chosen.endswith(f"next: chaos dataset init {path} --annotator rater\n")
    for unfit in (LINES + "1,w0,\n", LINES[: LINES.index("9,w1")]):
        path.write_text(unfit)
        assert "next:" not in run("check", path)[1]


def test_what_to_do_about_faults_follows_them(path):
    path.write_text(LINES)
    assert "to do:" not in run("check", path)[1]
    path.write_text(LINES + "1,w0,\n")
    faults = run("check", path)[1].partition("faults:\n")[2].partition("\n\n")[0]
    assert faults.endswith("\n  to do: correct votes.csv, and check it again")


def test_what_a_wide_file_holds(check):
    found = check("uid,text,red,blue\na,a dot here,3,0\nb,a line,1,1\nc,a line,1,0\n")
    assert found.columns == {"item": "uid", "votes": "red, blue"}
    assert found.remarks == ["1 item with the texts of another item", "one vote on 1 item"]


@pytest.mark.parametrize(
    ("rare", "usual", "is_asked"),
    [("Biling", "billing", True), ("billign", "billing", True), ("bulling", "billing", True),
     ("ratings", "billing", False), ("no", "not", False), ("grade 12", "grade 1", False)],
)  # fmt: skip
def test_a_rare_label_like_another_may_be_misspelt(check, rare, usual, is_asked):
    labels = [rare, *["other", usual] * 60]
    rows = (f"{k // 3},w{k % 3},{label}\n" for k, label in enumerate(labels[:120]))
    remarks = check("item,annotator,label\n" + "".join(rows)).remarks
    question = f"the label {rare!r} is given once: is it a misspelling of {usual!r}?"
    assert any(one.startswith(question) for one in remarks) == is_asked


def test_two_frequent_labels_are_no_misspellings_of_each_other():
    assert not questions_on_spelling({"moral": 400, "amoral": 9})
    assert questions_on_spelling({"moral": 4000, "amoral": 9})
    assert not questions_on_spelling({"moral": 0, "amoral": 9})


def test_columns_may_be_named(check):
    content = "thing,who,picked\n1,a,x\n1,b,y\n"
    with pytest.raises(ChaosError, match="--item, --label"):
        check(content)
    found = check(content, item="thing", label="picked")
    assert not found.annotators
    assert check(content, item="thing", label="picked", annotator="who").annotators["number"] == 2
    with pytest.raises(ChaosError, match=r"no column 'thin'(.|\n)*did you mean 'thing'"):
        check(content, item="thin")


def test_columns_named_by_the_first_vote_are_no_header(check):
    with pytest.raises(ChaosError, match=r"no header(.|\n)*add a first line"):
        check(FIRST_VOTE, item="0", annotator="w0", label="a")
    joined = "item,who,label\n1,a,x\n1,b,y\nitem,who,label\n2,a,x\n"
    assert "two files joined" in check(joined).faults[0]


@pytest.mark.parametrize(
    ("changed", "fault", "remark"),
    [
        (GOOD + "2,a dog ran,dan,2,30\n", "", "labels are numbers ('2') and words ('no', 'yes')"),
        (GOOD.replace("ran,cyd", "ran,"), "field 'Rater': found an empty cell; expected an", ""),
        (GOOD + "2,a dog ran,dan, yes,3\n", "", "1 of 6 labels have blanks around them"),
        (GOOD + "2,a dog ran,ann,yes,3\n", "second vote on item '2' by the annotator of line", ""),
        (GOOD + "2,a dog ran,dan,,3\n", "line 7, field 'Label': found ''; expected", ""),
        ("item,label\n1,unknown\n1,yes\n2,no\n", "", "may stand for no answer are kept: 'unk"),
        ("item,label\n" + "".join(f"{i // 2},l{i}\n" for i in range(400)), "", "400 different lab"),
    ],
    ids=["kinds", "annotators", "blanks", "twice", "no label", "missing", "many"],
)  # fmt: skip
def test_what_is_odd_is_said_and_never_mended(check, path, changed, fault, remark):
    found = check(changed)
    assert (fault in " ".join(found.faults)) if fault else not found.faults
    assert (remark in " ".join(found.remarks)) if remark else not found.remarks
    assert any("chaos evaluate" in what for what in able(found)) == (not fault)
    if fault:
        with pytest.raises(ChaosError):
            load_all_votes(str(path))
        return
    (votes,) = load_all_votes(str(path))
    assert dict(zip(votes.dataset.labels, votes.counts.sum(axis=0), strict=True)) == found.labels
    if "blanks" in remark:
        assert "1 of 6 labels have blanks around them" in " ".join(votes.notes)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("item,annotator,label\na,b,\n", "holds no votes"),
        ("item|label\n1|a\n", "not recognised(.|\n)*--item"),
        ("T1,x\nT2,x\nT3,y\n", "no header(.|\n)*'T1,x'(.|\n)*add a first line"),
        (FIRST_VOTE, "no header(.|\n)*'0,w0,a'"),
        (
            "participant,post_id,response\nann,17,yes\nben,17,no\n",
            "if 'post_id' identifies the items, run `chaos dataset check FILE --item post_id "
            "--label response --annotator participant`",
        ),
        ("participant,one,two\nann,17,yes\nben,17,no\n", "FILE --item COLUMN --label COLUMN --ann"),
        ("item,one,two\n1,a,b\n", "reader.format: columns"),
        ("item,a,b\n1,0.5,0.5\n", "hold shares(.|\n)*a column n_votes"),
        ('item,label\n1,"a\n', "quotation mark is never closed"),
    ],
)
def test_a_file_that_cannot_be_described_ends_in_one_message(path, content, said):
    path.write_text(content)
    for command in ("check", "init"):
        code, answer = run(command, path)
        assert code == 2
        assert re.search(said, answer), answer
        assert "votes.csv" in answer
    assert not path.with_suffix(".yml").exists()


FEW = "id,text,sentiment,annotator,annotation_id,lead_time\n"
FEW += "1,a b,pos,7,100,1.5\n1,a b,neg,8,101,2.5\n2,c d,pos,7,102,3.5\n2,c d,pos,8,103,1.0\n"


@pytest.mark.parametrize(
    ("content", "readings"),
    [
        (FEW, ["label: sentiment"]),
        ("id,label,rating\n1,x,2\n1,y,3\n2,x,2\n", ["label: label", "label: rating"]),
        ("id,label_0,label_1\n1,3,2\n2,1,2\n", ["labels: [label_0, label_1]", "format: wide"]),
        ('{"id": 1, "label": ["a", "b"]}\n{"id": 2, "label": ["b", "a"]}\n',
         ["format: columns", "each: [label]"]),
        ("id,ann,bob\n" + "".join(f"{k},{k % 5 + 1},{k % 3 + 1}\n" for k in range(20)),
         ["format: wide", "labels: [ann, bob]"]),
        ("id,a,b\n" + "".join(f"{k},{k % 2},{(k + 1) % 3 % 2}\n" for k in range(20)),
         ["format: wide", "labels: [a, b]"]),
        ("id,age,yes,no\n1,30,2,1\n2,40,0,3\n", ["label: age", "labels: ['yes', 'no']"]),
        ('{"id": 1, "votes": [60, 30, 10]}\n{"id": 2, "votes": [5, 5, 90]}\n',
         ["[votes.0, votes.1, votes.2]", "format: columns"]),
        ("task_id,id,label\n1,a,x\n1,b,y\n2,a,x\n2,b,x\n", ["item: task_id", "item: id"]),
    ],
    ids=["no label", "two labels", "numbered", "lists", "ratings", "0 or 1", "measures", "counts",
         "items"],
)  # fmt: skip
def test_what_may_be_read_in_two_ways_is_refused_with_both(path, content, readings):
    path.write_text(content)
    for load in (check_file, lambda at: load_all_votes(str(at))):
        with pytest.raises(ChaosError, match="It is unclear") as fault:
            load(path)
        for reading in readings:
            assert reading in str(fault.value)


def test_a_list_of_counts_is_read_by_its_places(path):
    path.with_suffix(".jsonl").write_text('{"id": 1, "n": [6, 3]}\n{"id": 2, "n": [0, 9]}\n')
    labels = "[{name: a, code: n.0}, {name: b, code: n.1}]"
    path.with_suffix(".yml").write_text(
        f"name: n\ntitle: n\nlabels: {labels}\nfiles: [{{name: {path.stem}.jsonl}}]\n"
        "reader: {format: wide, item: id}\n"
    )
    (votes,) = load_all_votes(str(path.with_suffix(".yml")))
    assert votes.counts.tolist() == [[6, 3], [0, 9]]


@pytest.mark.parametrize(
    ("content", "labels"),
    [
        ("item,label\n1,-3\n1,-1\n2,1\n2,0\n3,-2\n", ["-3", "-2", "-1", "0", "1"]),
        ("item,label\n1,Agree\n1,Strongly agree\n2,Disagree\n2,Neutral\n",
         ["Disagree", "Neutral", "Agree", "Strongly agree"]),
        ("id,rater_1,rater_2\n1,5,1\n2,2,5\n", ["1", "2", "5"]),
        ("item,label\n1,10 - high\n1,9\n2,1 - low\n2,2\n", ["1 - low", "2", "9", "10 - high"]),
    ],
)  # fmt: skip
def test_scales_are_in_their_order_and_only_proposed_as_such(path, content, labels):
    path.write_text(content)
    assert list(check_file(path)[1].labels) == labels
    assert run("init", path)[0] == 0
    assert "# ordered: true" in path.with_suffix(".yml").read_text()
    (votes,) = load_all_votes(str(path.with_suffix(".yml")))
    assert list(votes.dataset.labels) == labels
    assert not votes.dataset.ordered


@pytest.mark.parametrize("label", ["9" * 400, "1e400"])
def test_a_number_of_hundreds_of_digits_is_a_label_like_any_other(path, label):
    path.write_text(f"item,label\n1,{label}\n1,2\n2,3\n")
    assert check_file(path)[1].labels == ("2", "3", label)
    assert as_number(label) is None
    assert as_number(10**400) is None


def test_drafts_and_what_was_discarded_are_left_out_and_counted(path):
    rows = "1,x,a,submitted\n1,y,b,Draft\n2,x,b,submitted\n2,y,a,discarded\n2,z,b,validated\n"
    path.write_text("item,annotator,label,status\n" + rows)
    (votes,) = load_all_votes(str(path))
    assert votes.counts.tolist() == [[1, 0], [0, 2]]
    assert "2 rows where 'status' is not submitted or validated" in " ".join(votes.notes)
    path.write_text(path.read_text().replace("submitted", ""))  # some rows do not say it
    assert load_all_votes(str(path))[0].counts.sum() == 5


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"1": {"label": "a"}, "2": {"label": "b"}}', r"reader\.keys: \[item\]"),
        (b'{"item": {"0": 1, "1": 2}, "label": {"0": "a", "1": "b"}}', 'orient="records"'),
        (b'{"item": [1, 2], "label": ["a", "b"]}', 'orient="records"'),
        (b'{"all":\n [{"id": 1}]}', r"reader\.records: all"),
        (b'{"data": {"items": [{"id": 1}]}}', r"reader\.records: data\.items"),
        (b"[[1, 2]]", "a list of lists"),
        (b"item,label\n1,a\nitem,label\n2,b\n", "are two files joined"),
        (b"item,label,n\n1,a,1\nlabel,worker,item\nb,3,2\n", "are two files joined"),
        (b"item,label\n" + (1 << 18) * b"1,a\n" + b"label,item\nb,2\n", "are two files joined"),
        (b'[{"id": 1}][{"id": 2}]', "are two files joined"),
        ("item,label\n1,a\n".encode("utf-16"), "UTF-16"),
        (b"\x1f\x8b\x08", "^The data file is packed with gzip"),
        (b"PK\x03\x04", "Excel"),
        (b"\x80\x04\x95", "a pickle"),
        (b'[{"id": 1, "label": {"a": 1}}]', "holds objects, not labels"),
    ],
)
def test_what_kind_of_file_it_is_not(path, content, said):
    path.write_bytes(content)
    with pytest.raises(ChaosError, match=said):
        load_all_votes(str(path))


def test_a_table_with_an_index_of_its_own(path):
    rows = [("x y", "a b", "1 0 2"), ("y z", "b", "2 1 1"), ("z x", "b a b", "0 2 1")]
    text = "".join(f'{k},{t},"{",".join(v.split())}",{n.replace(" ", "")}\n'
                   for k, (t, v, n) in enumerate(rows, start=7))  # fmt: skip
    path.write_text(",sentence,votes,seconds\n" + text)
    assert run("init", path)[0] == 0
    (votes,) = load_all_votes(str(path.with_suffix(".yml")))
    assert votes.uids == ("7", "8", "9")
    assert votes.dataset.text_fields == ("sentence",)  # and no numbers
    assert votes.counts.tolist() == [[1, 1], [0, 1], [1, 2]]


def test_a_slider_needs_a_rule_that_is_named(check, path):
    ratings = [(i * 37 % 101) / 1 for i in range(80)]
    rows = [f"{i // 4},w{i % 4},{rating:.1f}\n" for i, rating in enumerate(ratings)]
    assert "numbers on a scale" in check("item,annotator,rating\n" + "".join(rows)).faults[0]
    assert re.search(r"numbers on a scale(.|\n)*--cut", run("init", path)[1])
    with pytest.raises(ChaosError, match=r"numbers on a scale(.|\n)*--cut"):
        load_all_votes(str(path))
    answer = run("init", path, "--cut", "0,40,60")[1]
    assert "--cut 0,40,60, and numbers from 0 to 100" in answer
    assert run("init", path, "--cut", "0,60,40")[0] == 2
    assert not path.with_suffix(".yml").exists()
    assert run("init", path, "--cut", "0,40,60,100")[0] == 0
    (votes,) = load_all_votes(str(path.with_suffix(".yml")))
    assert votes.dataset.labels == ("0 to below 40", "40 to below 60", "60 to 100")
    expected = np.histogram(ratings, [0, 40, 60, 101])[0]
    assert votes.counts.sum(axis=0).tolist() == expected.tolist()
    assert "by this rule: cut at 40, 60" in votes.notes[0]
    path.write_text(LINES)
    assert "Only a column of numbers" in run("init", path, "--cut", "0,1,2", "--force")[1]


def test_init_writes_what_is_read_and_never_over_another_file(path):
    path.write_text(GOOD, "utf-8")
    out = path.with_name("mine.yml")
    assert run("init", path, "--out", out)[0] == 0
    (votes,) = load_all_votes(str(out))
    assert votes.counts.tolist() == [[1, 1], [2, 1]]
    assert votes.texts[1]["text"] == "a dog ran"
    assert votes.annotations is not None
    before = out.read_text()
    assert "exists already" in run("init", path, "--out", out, "--annotator", "age")[1]
    assert out.read_text() == before
    assert run("init", path, "--out", out, "--force")[0] == 0
    assert run("init", path, "--out", path.with_name("a") / "mine.yml")[0] == 2


def test_check_answers_for_people_and_programs(path, tmp_path):
    assert "This folder holds no votes" in run("check", tmp_path)[1]
    assert "There is no such file" in run("check", tmp_path / "none.csv")[1]
    path.write_text(GOOD)
    assert "2 items, 5 votes" in run("check", path)[1]
    (tmp_path / "wide.csv").write_text("item,red,blue\n1,3,1\n")
    both = json.loads(run("check", tmp_path, "--json")[1])
    assert [one["file"] for one in both] == ["votes.csv", "wide.csv"]
    run("init", path)
    path.write_text(GOOD + "2,a dog ran,ann,yes,30\n")  # her second vote on it
    for more in (
        ["check"],
        ["check", "--json"],
        ["init", "--force"],
        ["init", "--force", "--json"],
    ):
        code, shown = run(more[0], path, *more[1:])
        assert code == 2
        assert "fault" in shown

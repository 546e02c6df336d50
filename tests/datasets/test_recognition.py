"""Layouts of votes files: each recogniser has a reason, and a doubt names its two best readings."""

import json

import pytest

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.faults import Faults
from chaos_utils.datasets.findings import check_file
from chaos_utils.datasets.frame import FileContent, read_frame
from chaos_utils.datasets.layout import layout_of
from chaos_utils.datasets.people import VOTERS, names_annotators
from chaos_utils.datasets.recognition.columns import Columns
from chaos_utils.datasets.recognition.search import candidates
from chaos_utils.datasets.words import words_of

LAYOUTS = {
    "a vote in each row of 'label'": "item,annotator,label\n1,u,a\n1,v,b\n2,u,b\n2,v,b\n",
    "lists of votes in 'labels'": '[{"id": 1, "labels": ["a", "a"]}, {"id": 2, "labels": ["b"]}]',
    "a vote each in 'rater_1', 'rater_2'": "id,rater_1,rater_2\n1,a,b\n2,b,b\n3,a,a\n",
    "one of 'answer_x', 'answer_y' is set": "id,answer_x,answer_y\n1,0,1\n1,1,0\n2,1,0\n",
    "numbers in 'a', 'b'": "id,a,b\n1,3,0\n2,1,2\n3,0,9\n",
    "objects in 'votes', with the votes for each label": (
        '[{"id": 1, "votes": {"a": 4, "b": 0}}, {"id": 2, "votes": {"a": 3, "b": 1}},'
        ' {"id": 3, "votes": {"a": 2, "b": 2}}]'
    ),
    "objects in 'annotations', with a label by each annotator": (
        '[{"id": 1, "annotations": {"u": "a", "v": "b"}}, {"id": 2, "annotations": {"u": "b"}}]'
    ),
    "a list of votes in 'annotations'": (
        '[{"id": 1, "annotations": [{"label": "a"}]}, {"id": 2, "annotations": [{"label": "b"}]}]'
    ),
    "the columns of Prodigy's export": (
        '{"_input_hash": 1, "accept": ["a"], "answer": "accept"}\n'
        '{"_input_hash": 2, "accept": ["b"], "answer": "ignore"}\n'
    ),
}


def columns_of_file(path, text):
    path.write_text(text, "utf-8")
    faults = Faults(path, "votes", expected="", todo="")
    return Columns(read_frame(FileContent.of(path), faults))


@pytest.mark.parametrize("reason", LAYOUTS)
def test_each_layout_is_recognised_with_a_reason(tmp_path, reason):
    best, *_ = candidates(columns_of_file(tmp_path / "votes", LAYOUTS[reason]))
    assert (best.reason, best.is_clear, len(best.readers)) == (reason, True, 1)


def test_a_doubt_names_the_second_best_reading_of_another_recogniser(tmp_path):
    path = tmp_path / "votes.jsonl"
    rows = [{"id": k, "certain": k % 3 - 1, "label_counts": {"yes": k % 4, "no": 5 - k % 4}}
            for k in range(12)]  # fmt: skip
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.raises(ChaosError) as fault:
        layout_of(path)
    said = str(fault.value)
    assert (
        "numbers below 0 in 'certain': the vote of a person in each column?; or objects in "
        "'label_counts', with the votes for each label?"
    ) in said
    by_person, by_count = said.split("# or\n")
    assert "labels: [certain]" in by_person
    assert "code: label_counts.yes" in by_count
    assert "save the one that is meant" in said


def test_a_question_about_one_reading_stays_alone_where_no_other_makes_a_dataset(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("id,a,b\n1,-1,1\n2,1,0\n3,0,1\n")
    with pytest.raises(ChaosError) as fault:
        layout_of(path)
    assert "this YAML file:" in str(fault.value)


@pytest.mark.parametrize(
    ("round_of", "expected"),
    [
        (lambda item, again: str(again), "round"),
        (lambda item, again: ["before", "after"][again], ""),  # no number says which is first
    ],
)
def test_rounds_are_read_where_a_column_numbers_them(tmp_path, round_of, expected):
    path = tmp_path / "votes.csv"
    rows = [
        f"{item},{who},{round_of(item, again)},{'ab'[(item + who * again) % 2]}"
        for item in range(9)
        for who in range(4)
        for again in (0, 1)
    ]
    path.write_text("\n".join(["item,annotator,round,label", *rows]))
    if expected:
        layout = layout_of(path)[0]
        assert (layout.reader["round"], layout.others) == (expected, ())
        assert check_file(path)[0].votes == 9 * 4
    else:
        with pytest.raises(ChaosError, match="do several columns name an item"):
            layout_of(path)


def test_the_turns_of_a_dialogue_are_no_rounds(tmp_path):
    path = tmp_path / "votes.csv"
    rows = [
        f"{item},{who},{turn},turn {turn} of dialogue {item} is long,{'ab'[(item + who) % 2]}"
        for item in range(9)
        for turn in range(3)
        for who in range(4)
    ]
    path.write_text("\n".join(["item,annotator,round,text,label", *rows]))
    with pytest.raises(ChaosError) as fault:
        layout_of(path)
    assert "item: [item, round]" in str(fault.value)
    assert "round: round" not in str(fault.value)


def test_a_label_called_key_is_counted(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("id,key,lock,door\n1,3,0,5\n2,1,2,1\n3,0,9,0\n")
    assert layout_of(path)[0].labels == ("key", "lock", "door")


def test_columns_of_voters_name_annotators():
    assert [name for name in VOTERS if not names_annotators(name, ["w1", "w2"])] == []


def test_names_are_compared_by_their_words():
    assert words_of(" Worker ID ") == "worker_id"
    assert words_of("WorkerId") == "workerid"
    assert words_of("WorkerId", humps=True) == words_of("HIT-WorkerID"[4:], humps=True)
    assert words_of("Don't know!", " ") == "don t know"
    assert words_of(" Non-toxic. ", " ", marks_inside=True) == "non-toxic"
    assert words_of("-1", " ", marks_inside=True) == "-1"

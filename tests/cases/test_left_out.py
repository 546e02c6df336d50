"""Rows that do not count are left out, with a word; and numbers of votes are what they say."""

import pytest
import yaml
from helpers.commands import call
from helpers.rows import write_rows

import chaos_utils as chaos

STATED = {
    "name": "mine", "title": "Mine", "labels": ["calm", "cross"],
    "files": [{"name": "votes.csv"}],
}  # fmt: skip
TURK = "HITId,WorkerId,AssignmentStatus,Answer.mood.label\n"
STUDIO = "item,annotator,was_cancelled,label\n"


def write(folder, text, **described):
    (folder / "votes.csv").write_text(text)
    if not described:
        return folder / "votes.csv"
    (folder / "mine.yml").write_text(yaml.safe_dump(STATED | described))
    return folder / "mine.yml"


@pytest.mark.parametrize(
    ("header", "kept", "dropped"),
    [(TURK, "Approved", "Rejected"), (TURK, "Submitted", "Rejected"), (STUDIO, "false", "true"),
     (STUDIO, "False", "True")],
)  # fmt: skip
def test_what_was_cancelled_or_rejected_counts_nothing(tmp_path, header, kept, dropped):
    rows = [f"{i},w{k},{dropped if k == 3 else kept},{'calm' if k % 2 else 'cross'}"
            for i in range(8) for k in range(4)]  # fmt: skip
    votes = chaos.load("votes", write(tmp_path, header + "\n".join(rows) + "\n"))
    assert votes.counts.sum(axis=0).tolist() == [8, 16]
    assert "8 rows" in " ".join(votes.notes)


@pytest.mark.parametrize(("header", "dropped"), [(TURK, "Rejected"), (STUDIO, "true")])
def test_where_nothing_is_left_it_is_said(tmp_path, header, dropped):
    rows = [f"{i},w{k},{dropped},{'calm' if k % 2 else 'cross'}"
            for i in range(8) for k in range(4)]  # fmt: skip
    path = write(tmp_path, header + "\n".join(rows) + "\n")
    done = call("dataset", "check", path, code=2)
    assert "32 rows, none of them where" in done.stderr


LONG = "item,label\na,calm\na,cross\nb,calm\nb,calm\n"
WIDE = "item,calm,cross,n\na,1,1,2\nb,2,0,2\n"


@pytest.mark.parametrize(
    ("text", "described"),
    [
        (LONG, {"reader": {"format": "long"}, "n_votes": 2}),
        (WIDE, {"reader": {"format": "wide"}, "n_votes": 2}),
        (WIDE, {"reader": {"format": "wide", "n_votes": 2}}),
        (WIDE, {"reader": {"format": "wide", "n_votes": "n"}}),
    ],
)
def test_a_stated_number_of_votes_is_neither_missed_nor_exceeded(tmp_path, text, described):
    call("dataset", "check", write(tmp_path, text, **described))
    more = text.replace("b,2,0", "b,2,1") if text == WIDE else text + "b,cross\n"
    fewer = text.replace("b,2,0", "b,1,0") if text == WIDE else text.removesuffix("b,calm\n")
    for changed in (more, fewer):
        done = call("dataset", "check", write(tmp_path, changed, **described), code=2)
        assert "b" in done.stderr or "line" in done.stderr


def test_the_number_of_answers_is_what_the_columns_add_up_to(tmp_path):
    votes = chaos.load("votes", write(tmp_path, LONG))
    answers = tmp_path / "answers.csv"
    for n, is_right in ((3, True), (2, False), (4, False)):
        answers.write_text(f"uid,calm,cross,n_samples\na,2,1,3\nb,3,0,{n}\n")
        if is_right:
            assert chaos.read_predictions(answers, votes)[0].n_samples == (3, 3)
        else:
            with pytest.raises(chaos.ChaosError, match=f"n_samples is '?{n}.*add up to 3"):
                chaos.read_predictions(answers, votes)


def test_items_that_lose_all_their_votes_are_named(tmp_path):
    rows = [
        {"_input_hash": k, "_task_hash": -k, "label": "spam", "_annotator_id": f"w{v}",
         "answer": "ignore" if k in (3, 5) else ["accept", "reject"][(k + v) % 2],
         "text": "" if k in (3, 5) else f"The text of {k} is short"}
        for k in range(1, 12) for v in range(3)
    ]  # fmt: skip
    said = call("dataset", "check", write_rows(tmp_path / "votes.jsonl", rows)).stdout
    assert "9 items, 27 votes" in said
    assert "2 items with no vote left ('-3', '-5')" in said
    assert "texts: 'text' (9 different on 9 items)" in said

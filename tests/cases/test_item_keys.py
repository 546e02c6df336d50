"""One identifier, several items: keys of two columns, rounded identifiers, what differs within."""

import numpy as np
import pytest
from helpers.commands import load
from helpers.faults import refused
from helpers.rows import write_rows

import chaos_utils as chaos
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.findings import check_file

POSTS, REPLIES, PEOPLE = 8, 2, 4


def thread(votes_on=lambda post, reply, who: ["no", "yes"][(post + reply + who) % 3 == 0]):
    """Return votes on replies to posts: a reply's number begins anew under each post."""
    return [
        {"post_id": f"p{post}", "reply_id": reply, "who": f"w{who}", "label": votes_on(*key),
         "post": f"The post {post} says a word", "reply": f"No, {post} and {reply} are not"}
        for post in range(POSTS) for reply in range(REPLIES) for who in range(PEOPLE)
        for key in [(post, reply, who)]
    ]  # fmt: skip


def describe(folder, item):
    (folder / "votes.yml").write_text(
        "name: thread\ntitle: Thread\nlabels: ['no', 'yes']\ntexts: [post, reply]\n"
        f"files: [{{name: votes.jsonl}}]\nreader: {{format: long, item: {item}}}\n"
    )
    return folder / "votes.yml"


def test_two_columns_that_may_name_an_item_are_asked_about(tmp_path):
    path = write_rows(tmp_path / "votes.jsonl", thread())
    asked = ("--item post_id,reply_id", "item: [post_id, reply_id]", "item: post_id")
    with refused(problem="unclear", any=asked):
        check_file(path)


def test_an_item_is_named_by_two_columns(tmp_path):
    path = write_rows(tmp_path / "votes.jsonl", thread())
    found, layout = check_file(path, item="post_id,reply_id")
    assert (found.items, found.votes_per_item) == (POSTS * REPLIES, {PEOPLE: POSTS * REPLIES})
    assert layout.reader["item"] == ["post_id", "reply_id"]
    assert found.text_columns == ["post", "reply"]
    assert not found.remarks
    votes = load(describe(tmp_path, "[post_id, reply_id]"))
    assert votes.uids[:3] == ("p0/0", "p0/1", "p1/0")
    assert votes.counts.sum(axis=1).tolist() == [PEOPLE] * (POSTS * REPLIES)


@pytest.mark.parametrize("item", ["post_id", "post"])
def test_what_differs_within_an_item_is_remarked_on(tmp_path, item):
    found = check_file(write_rows(tmp_path / "votes.jsonl", thread()), item=item)[0]
    assert found.items == POSTS
    assert f"--item {item},reply_id" in found.remarks[0]
    assert found.reasons["reply"] == "differs within items"


@pytest.mark.parametrize("part", ["passage_id", "docno", "pid", "doc", "system"])
@pytest.mark.parametrize("who", ["annotator", None])
def test_a_column_of_short_names_may_be_a_part_of_the_key(tmp_path, part, who):
    rows = [{"question_id": row["post_id"], part: row["post_id"] + "d" + str(row["reply_id"]),
             "label": row["label"]} | ({who: row["who"]} if who else {})
            for row in thread()]  # fmt: skip
    with pytest.raises(ChaosError, match=f"--item question_id,{part}"):
        check_file(write_rows(tmp_path / "votes.jsonl", rows))


@pytest.mark.parametrize("drop", [["post_id"], ["reply_id", "post"]])
def test_items_that_a_usual_name_makes_one_are_asked_about(tmp_path, drop):
    rows = [{"id": row["post_id"]} | row for row in thread()]
    rows = [{key: value for key, value in row.items() if key not in ("post_id", *drop)}
            for row in rows]  # fmt: skip
    path = write_rows(tmp_path / "votes.jsonl", rows)
    for read in (check_file, load):
        with pytest.raises(ChaosError, match=r"differs within 'id'(.|\n)*item: \[id, repl"):
            read(path)


@pytest.mark.parametrize(
    "beside",
    [
        lambda item, who: {"comment": f"I think that {item} and {who} differ"},
        lambda item, who: {"explanation": ["because it is rude", "it made me laugh"][who % 2]},
        lambda item, who: {"country_id": who % 2},
        lambda item, who: {"session_id": f"s{who}"},
        lambda item, who: {"prolific_pid": f"p{who}"},
        lambda item, who: {"chosen": f"option{item}{(item + who) % 3 == 0}"},
        lambda item, who: {"assignment_id": f"a{item}{who}"},
        lambda item, who: {"age": 20 + who % 2, "gender": "fm"[who % 2]},
        lambda item, who: {"submitted at": f"2024-01-{who + 1:02d} 10:00"},
    ],
)  # fmt: skip
def test_what_people_say_or_are_makes_no_item_of_its_own(tmp_path, beside):
    rows = [
        {"id": item, "worker": who, "label": ["no", "yes"][(item + who) % 3 == 0],
         "text": f"The text of {item}", **beside(item, who)}
        for item in range(12) for who in range(4)
    ]  # fmt: skip
    found = check_file(write_rows(tmp_path / "votes.jsonl", rows))[0]
    assert (found.items, found.text_columns, found.remarks) == (12, ["text"], [])


@pytest.mark.parametrize("form", ["columns", "joined"])
def test_predictions_name_items_by_the_columns_or_by_the_joined_identifier(tmp_path, form):
    write_rows(tmp_path / "votes.jsonl", thread())
    votes = load(describe(tmp_path, "[post_id, reply_id]"))
    head = "post_id,reply_id" if form == "columns" else "uid"
    rows = [uid.replace("/", ",") if form == "columns" else uid for uid in votes.uids]
    table = "\n".join(f"{uid},{k / 20},{1 - k / 20}" for k, uid in enumerate(rows))
    (tmp_path / "model.csv").write_text(f"{head},no,yes\n{table}\n")
    (system,) = chaos.read_predictions(tmp_path / "model.csv", votes)
    assert system.uids == votes.uids
    np.testing.assert_allclose(system.probabilities[:, 0], np.arange(len(votes)) / 20)


def test_joined_identifiers_are_the_same_for_no_two_items(tmp_path):
    rows = [{"a": a, "b": b, "label": label} for a, b in (("x/y", "z"), ("x", "y/z"))
            for label in ("no", "yes")]  # fmt: skip
    path = write_rows(tmp_path / "votes.jsonl", rows)
    with pytest.raises(ChaosError, match=r"are the same for two items(.|\n)*x/y/z"):
        check_file(path, item="a,b")


@pytest.mark.parametrize("ids", [["1.82306E+18", "1.82307E+18"], ["1,82306E+18", "1,82307E+18"],
                                 [1823061234567890123.0, 1823061234567892123.0]])  # fmt: skip
def test_identifiers_that_lost_digits_are_a_fault(tmp_path, ids):
    rows = [{"tweet_id": one, "label": label} for one in ids for label in ("no", "yes")]
    found = check_file(write_rows(tmp_path / "votes.jsonl", rows), item="tweet_id")[0]
    assert "this number is rounded" in found.faults[0]


@pytest.mark.parametrize(
    ("ids", "are_rounded"),
    [
        ([f"18230612345678{k}000" for k in range(11, 20)], True),
        ([f"182306123456789{k}00" for k in range(11, 20)], True),  # as JavaScript rounds them
        ([f"182306123456789{k}{k}{k}" for k in range(11, 20)], False),
        ([f"{k}000" for k in range(11, 20)], False),
    ],
)
def test_long_identifiers_that_end_in_zeros_are_remarked_on(tmp_path, ids, are_rounded):
    rows = [{"item": one, "label": label} for one in ids for label in ("no", "yes")]
    path = write_rows(tmp_path / "votes.jsonl", rows)
    said = check_file(path)[0].remarks, load(path).notes
    for remarks in said:
        assert any("end in zeros" in one for one in remarks) == are_rounded


def posts(changed=None, n_items=12, **beside):
    """Return votes on posts; `changed` returns the text that one person of an item judged."""
    return [
        {"item": item, "text": changed(item, text) if changed and who == 2 else text,
         "worker": f"w{who}", "label": ["no", "yes"][(item + who) % 3 == 0]}
        | {name: make(item, who) for name, make in beside.items()}
        for item in range(n_items) for who in range(3)
        for text in [f"Caf\u00e9 number {item} had no table"]
    ]  # fmt: skip


@pytest.mark.parametrize(
    "changed",
    [
        lambda item, text: text[:12] if item in (2, 7) else text,
        lambda item, text: text + '"' if item in (2, 7) else text,
        lambda item, text: text.upper() if item in (2, 7) else text,
    ],
)
def test_a_text_that_differs_within_few_items_is_asked_about(tmp_path, changed):
    path = write_rows(tmp_path / "votes.jsonl", posts(changed))
    for read in (check_file, load):
        with refused(any=("2 of 12 items ('2', '7')", "item: item", "item: [item, text]")):
            read(path)
    assert check_file(path, item="item")[0].items == 12
    assert check_file(path, item="item,text")[0].items == 14


def test_a_text_that_differs_by_white_space_or_its_form_in_unicode_is_one(tmp_path):
    def changed(item, text):
        return {
            2: text + " ",
            7: text.replace("\u00e9", "e\u0301"),
            8: text.replace(" ", "\n"),
        }.get(item, text)

    path = write_rows(tmp_path / "votes.jsonl", posts(changed))
    found = check_file(path)[0]
    assert found.text_columns == ["text"]
    assert "alone differ within 3 items" in found.reasons["text"]
    (tmp_path / "votes.yml").write_text(
        "name: cafes\ntitle: Cafes\nlabels: ['no', 'yes']\ntexts: [text]\n"
        "files: [{name: votes.jsonl}]\nreader: {format: long, annotator: worker}\n"
    )
    votes = load(tmp_path / "votes.yml")
    assert [texts["text"] for texts in votes.texts] == [row["text"] for row in posts()[::3]]


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("comment", lambda item, who: "I am not sure at all" if item == who == 2 else ""),
        ("comment", lambda item, who: "I am not sure at all" if item == who == 2 else "no comment"),
        ("rationale", lambda item, who: f"This is rude to {item} by {who}" if item else "No idea"),
        ("note", lambda item, who: f"n{item}" + "x" * (item == who == 2)),
    ],
)
def test_what_people_say_is_not_asked_about(tmp_path, name, make):
    found = check_file(write_rows(tmp_path / "votes.jsonl", posts(**{name: make})))[0]
    assert found.text_columns == ["text"]


@pytest.mark.parametrize("n_again", [12, 3])
@pytest.mark.parametrize("part", ["batch", "doc", "split"])
def test_a_shorter_column_that_tells_items_apart_is_named_before_the_text(tmp_path, part, n_again):
    rows = [{part: 1} | row for row in posts()]
    rows += [{part: 2} | row | {"text": row["text"] + " nor chair"} for row in posts()
             if row["item"] < n_again]  # fmt: skip
    path = write_rows(tmp_path / "votes.jsonl", rows)
    with refused(any=(f"--item {part},item", f"item: [{part}, item]")):
        check_file(path)
    assert check_file(path, item=f"{part},item")[0].items == 12 + n_again

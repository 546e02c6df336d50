"""Texts are what tells items apart: which columns are taken for texts, and why others are not."""

import numpy as np
import pytest
from helpers.commands import call, load
from helpers.rows import write_rows

from chaos_utils.datasets.findings import check_file
from chaos_utils.scoring.systems import base_rate

N = 60  # items, of three votes each
WORDS = "stone river cloud garden engine window market forest candle bridge".split()  # noqa: SIM905


def message(k):
    return f"Please send the {WORDS[k % 10]} to number {k} again"


TEXTS = {
    "message": message,
    "premise of three hypotheses": lambda k: f"A man with a {WORDS[k // 3 % 10]} walks, {k // 3}",
    "word": lambda k: WORDS[k % 10] + "aeiouy"[k // 10],
    "emoji": lambda k: chr(0x1F600 + k),
    "tweet with address": lambda k: f"@someone look at this {WORDS[k % 10]} http://t.co/{k}x",
    "Chinese": lambda k: "他昨天在市场买了" + chr(0x4E00 + k),
    "Chinese premise of three": lambda k: "他昨天在市场买了" + chr(0x4E00 + k // 3),
    "user": lambda k: f"How do I repair the old {WORDS[k % 10]} of {k} people?",
    "reviewer 1": lambda k: f"The paper about the {WORDS[k % 10]} needs {k} more pages",
    "judgement by expert_answer": lambda k: f"The {WORDS[k % 10]} is safe for {k} days",
    "some share a text": lambda k: message(max(k, 10)),
}
NO_TEXTS = {
    "question": lambda k: "Is this message rude, neutral or friendly?",
    "instruction in turn": lambda k: [
        "Judge the tone of the message.", "How does the message sound to you?",
        "Think about the tone of what is said."][k % 3],
    "mostly one question": lambda k: "Is it rude?" if k % 5 else f"Is it rude of {k} people?",
    "lang": lambda k: ["English (UK)", "English (US)"][k % 2],
    "topic": lambda k: ["world news", "sport at home", "money and work"][k % 3],
    "group": lambda k: f"batch {k // 10}",
    "gold": lambda k: ["yes", "no"][k % 2],
    "url": lambda k: f"https://example.org/posts/{k}",
    "image": lambda k: f"images/{WORDS[k % 10]}-{k}.jpg",
    "picture": lambda k: f"our pictures/the {WORDS[k % 10]} {k}.png",
    "sha": lambda k: f"{k * 7919 + 13:040x}",
    "uuid": lambda k: f"123e4567-e89b-12d3-a456-{k:012d}",
    "made": lambda k: f"2024-03-{k % 28 + 1:02d}T10:{k:02d}:00Z",
    "when": lambda k: f"{k % 28 + 1:02d}/03/2024 10:{k:02d}",
    "on": lambda k: f"Mar {k % 28 + 1}, 2024 10:{k:02d}",
    "post_id": lambda k: f"t3_ab{k}",
    "pair_id": lambda k: WORDS[k % 10] + "aeiouy"[k // 10],
    "seconds": lambda k: str(k / 7),
    "scores": lambda k: f"[0.{k:02d}, 0.5]",
    "email": lambda k: f"{WORDS[k % 10]}{k}@example.org",
    "contact": lambda k: f"{WORDS[k % 10]}@mail{'x' * k}.org",
    "ip address": lambda k: f"10.1.2.{k}",
    "handle": lambda k: f"@{WORDS[k % 10]}{'y' * k}",
    "author": lambda k: WORDS[k % 10] + "aeiouy"[k // 10],
    "gender": lambda k: "prefers to describe it as " + WORDS[k % 10] + str(k),
    "missing on some": lambda k: message(k) if k else "",
    "Approve": lambda k: "",
}  # fmt: skip


def rows_with(make):
    return [
        {"item": f"m{k}", "annotator": f"w{v}", "label": ["no", "yes"][(k + v) % 3 == 0],
         "column": make(k)}
        for k in range(N) for v in range(3)
    ]  # fmt: skip


def write(path, rows, name):
    rows = [{(name if key == "column" else key): value for key, value in row.items()}
            for row in rows]  # fmt: skip
    return write_rows(path, rows)


@pytest.mark.parametrize("name", [*TEXTS, *NO_TEXTS])
def test_a_text_tells_items_apart(tmp_path, name):
    rows = rows_with((TEXTS | NO_TEXTS)[name])
    found = check_file(write(tmp_path / "votes.jsonl", rows, name))[0]
    assert (found.text_columns == [name]) == (name in TEXTS), found.reasons
    assert found.reasons[name]


@pytest.mark.parametrize(
    ("name", "groups"), {"gender": "xy", "age_group": "xy", "email": "xy"}.items()
)
def test_a_column_of_groups_says_how_they_are_compared(tmp_path, name, groups):
    rows = [row | {name: groups[int(row["annotator"][1:]) % 2]} for row in rows_with(message)]
    found = check_file(write(tmp_path / "votes.jsonl", rows, "message"))[0]
    cure = f"; to compare groups, add annotator_fields: [{name!r}] to reader"
    assert found.reasons[name] == "about people" + cure * (name != "email")


def test_init_says_what_it_took_for_a_text_and_why(tmp_path):
    rows = [row | {"question": "Is it rude?"} for row in rows_with(message)]
    path = write(tmp_path / "votes.jsonl", rows, "message")
    done = call("dataset", "init", path)
    assert "texts: 'message' (60 different on 60 items)" in done.output
    assert "not used: 'question' (the same on all items)" in done.output
    votes = load(path.with_suffix(".yml"))
    assert votes.dataset.text_fields == ("message",)
    # Each item's base rate is the mean of the others: no uniform guess.
    others = (votes.shares.sum(axis=0) - votes.shares) / (N - 1)
    np.testing.assert_allclose(base_rate(votes).probabilities, others)
    assert not votes.notes


@pytest.mark.parametrize("name", ["question", "instruction in turn"])
def test_a_text_that_was_chosen_by_hand_and_tells_nothing_apart_is_remarked_on(tmp_path, name):
    rows = [row | {"message": message(k // 3)} for k, row in enumerate(rows_with(NO_TEXTS[name]))]
    write(tmp_path / "votes.jsonl", rows, "question")
    (tmp_path / "votes.yml").write_text(
        "name: tone\ntitle: Tone\nlabels: ['no', 'yes']\ntexts: [question, message]\n"
        "files: [{name: votes.jsonl}]\nreader: {format: long, annotator: annotator}\n"
    )
    votes = load(tmp_path / "votes.yml")
    assert any("the text 'question' does not tell items apart" in note for note in votes.notes)


def test_an_empty_column_is_called_so(tmp_path):
    path = tmp_path / "votes.csv"
    rows = [f"{row['item']},{row['label']}, ," for row in rows_with(message)]
    path.write_text("item,label,Reject,GOLDEN:result\n" + "\n".join(rows) + "\n")
    reasons = check_file(path)[0].reasons
    assert reasons == {"Reject": "empty", "GOLDEN:result": "empty"}


def test_texts_beside_no_item_tell_none_apart(tmp_path):
    (tmp_path / "votes.csv").write_text('item\ttext\tlabel\n1\t"so\n\t1"\ta\n1\tso\n\t1"\tb\n')
    said = call("dataset", "check", tmp_path / "votes.csv", code=2)
    assert "'text' (on no item)" in said.stdout
    assert "expected an identifier" in said.stdout + said.stderr

"""Recorded votes: into ChaosNLI's format, and every way in which a file can be wrong."""

import json
import re
from pathlib import Path

import pytest
from helpers.commands import call
from helpers.faults import refused
from helpers.logs import log_of
from helpers.rows import row, write_dataset

from chaos_utils.base.errors import ChaosError
from chaos_utils.collection.annotators import mixture
from chaos_utils.collection.materials import cut
from chaos_utils.collection.protocol import load_protocol
from chaos_utils.collection.simulate import simulate
from chaos_utils.collection.votes import merge, read_votes
from chaos_utils.datasets.loading import load_all_votes, load_votes

OPEN = {"qualification_items": 0, "training_items": 0, "check_rate": 0.0}


def content_of(events, annotator="invented-01", dataset="snli", parameters=OPEN):
    """Return the content of a votes file, as the book's page saves it."""
    items = [event for event in events if event.get("kind") == "item"]
    return {
        "protocol": load_protocol().version,
        "parameters": parameters,
        "dataset": dataset,
        "annotator": annotator,
        "events": events,
        "votes": [{"item": event["item"], "label": event["answer"]} for event in items],
    }


def judged(*votes, **given):
    """Return the content of the file of someone who judges at once, without any stage."""
    events = [{"type": "begin"}]
    for item, label in votes:
        events += [{"type": "draw", "check": False}, example(item, label, None, "item")]
    return content_of([*events, {"type": "stop"}], **given)


def example(item, answer="e", expected="e", kind="check"):
    return {"type": "answer", "kind": kind, "item": item, "answer": answer, "expected": expected}


@pytest.fixture
def data(tmp_path):
    return str(write_dataset(tmp_path / "data"))


@pytest.fixture
def save(tmp_path):
    def write(content, name="votes"):
        path = tmp_path / f"{name}.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


def test_votes_of_many_become_opinions(tmp_path, data, save):
    paths = [
        save(judged(("snli-1", "e"), ("snli-0", "n"), annotator="b"), "first"),
        save(judged(("snli-1", "c"), annotator="a"), "second"),
        save(judged(("alphanli-2", "2"), annotator="a", dataset="alphanli"), "third"),
        save(judged(annotator="c"), "fourth"),
    ]
    said = merge(paths, tmp_path / "made", data)
    assert said == {
        "snli": {"annotators": 2, "items": 2, "votes": 3},
        "alphanli": {"annotators": 1, "items": 1, "votes": 1},
    }
    snli, alphanli = load_all_votes(str(tmp_path / "made"))
    source = load_votes("snli", data)
    assert snli.uids == ("snli-0", "snli-1")
    assert snli.counts.tolist() == [[0, 1, 0], [1, 0, 1]]
    assert snli.majority.tolist() == [1, 2]  # a tie: annotator a comes before b
    assert snli.old_label.tolist() == source.old_label[:2].tolist()
    assert snli.texts == source.texts[:2]
    assert alphanli.counts.tolist() == [[0, 1]]


def test_votes_of_a_blocked_annotator_do_not_count(tmp_path, save):
    log = json.loads((Path(__file__).parent / "logs" / "blocked-accuracy.json").read_text())["log"]
    path = save(log)
    assert read_votes(path).votes == ()
    known = {event["item"]: event.get("expected") for event in log["events"] if "item" in event}
    rows = [
        row("snli", uid, [98 if code == label else 1 for code in "enc"] if label else (60, 30, 10))
        for uid, label in known.items()
    ]
    data = write_dataset(tmp_path / "data", snli=rows)
    with pytest.raises(ChaosError, match="No votes count"):
        merge([path], tmp_path / "made", str(data))


def test_a_simulated_collection_merges_to_its_counts(tmp_path, sample, save):
    materials = cut(sample[1], sample, 12)
    protocol = load_protocol(votes_per_item=8)
    made = simulate(protocol, materials, mixture(careless=0.5, mean_stay=10), seed=0)
    paths = [
        save(
            content_of(log_of(made, materials, row), f"n{row}", "mnli", {"votes_per_item": 8}),
            f"n{row}",
        )
        for row in range(len(made.annotators))
    ]
    merge(paths, tmp_path / "made", "sample")
    (merged,) = load_all_votes(str(tmp_path / "made"))
    counts = dict(zip(materials.item_uids, made.counts.tolist(), strict=True))
    assert dict(zip(merged.uids, merged.counts.tolist(), strict=True)) == counts


def _edit(**changes):
    return judged(("snli-0", "e")) | changes


BOTH = "votes.json and ", "votes1.json"  # of two files
WRONG = {
    "cut off": (json.dumps(judged(("snli-0", "e")))[:-40], {"found": "JSON", "todo": "cut off"}),
    "no object": ("[1]", {"found": "[1]; expected names with values"}),
    "a field missing": ({"protocol": "x"}, {"found": "parameters: is missing"}),
    "another version": (_edit(protocol="nie2020-0"),
                        {"found": "nie2020-0", "expected": "nie2020-1"}),
    "an unknown dataset": (_edit(dataset="anli"), {"found": "anli", "expected": "snli"}),
    "an unknown label": (judged(("snli-0", "x")),
                         {"where": "event 3, item snli-0", "found": "x", "expected": "e or n"}),
    "twice on an item": (judged(("snli-0", "e"), ("snli-0", "n")),
                         {"problem": "twice", "where": "event 5, item snli-0"}),
    "votes cut": (_edit(votes=[]), {"found": "0 votes", "expected": "1 vote"}),
    "votes that are none": (_edit(votes=["snli-0"]), {"todo": "save the file again"}),
    "an impossible event": (_edit(events=[{"type": "stop"}]),
                            {"where": "votes.json, event 1", "found": "stop", "expected": "begin"}),
    "a begin that looks like a vote": (
        _edit(events=[{"type": "begin", "kind": "item"}]),
        {"where": "votes.json, event 1, type 'begin'", "found": "kind"},
    ),
    "a check that is no example": (
        content_of(
            [{"type": "begin"}, {"type": "draw", "check": True}, example("snli-2")],
            parameters=OPEN | {"check_rate": 0.5},
        ),
        {"where": "check, item snli-2", "found": "e", "todo": "--data"},
    ),
    "an unknown item": (judged(("snli-9", "e")), {"found": "snli-9", "todo": "--data"}),
    "one id of two annotators": (
        [judged(("snli-0", "e")), judged(("snli-1", "n"))], {"where": BOTH, "found": "invented-01"},
    ),
    "other parameters": (
        [judged(("snli-0", "e")), content_of([{"type": "begin"}], annotator="b", parameters={})],
        {"where": "votes1.json and ", "found": "training_items: 12 and 0"},
    ),
    "a copy under another name": (
        [judged(("snli-0", "e"), annotator=name) for name in "ab"],
        {"where": BOTH, "found": "1 answer", "todo": "keep one"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("content", "fields"), WRONG.values(), ids=WRONG)
def test_wrong_files_are_reported_and_nothing_is_written(tmp_path, data, save, content, fields):
    contents = content if isinstance(content, list) else [content]
    paths = [save(one, f"votes{n or ''}") for n, one in enumerate(contents)]
    with refused(**fields) as fault:
        merge(paths, tmp_path / "made", data)
    assert str(fault.value).count("where:") == 1
    assert not re.search(r"char \d", str(fault.value))
    assert not (tmp_path / "made").exists()


def test_what_a_test_expects_is_what_nearly_all_people_answer(tmp_path, save):
    data = write_dataset(tmp_path / "data", mnli=[row("mnli", "easy", (1, 98, 1))])
    parameters = {**OPEN, "qualification_items": 1}

    def merged(label, name):
        passed = example("easy", label, label, "qualification")
        events = [{"type": "begin"}, passed, *judged(("snli-0", "e"))["events"][1:]]
        path = save(content_of(events, parameters=parameters))
        return merge([path], tmp_path / name, str(data))

    with refused(where="qualification, item easy", found="c"):
        merged("c", "refused")
    assert merged("n", "made")["snli"]["votes"] == 1


def test_what_is_doubtful_is_reported_and_the_protocol_is_named(tmp_path, save):
    data = write_dataset(tmp_path / "data", snli=[row("snli", f"i{n}") for n in range(40)])
    order = [f"i{n}" for n in range(40)]
    answers = {
        "a": [(item, "e") for item in order[:20]],
        "b": [(item, "n" if item == "i9" else "e") for item in order[2:20]],
        "c": [(item, "e") for item in order[::-1]],  # the same answers in another order
        "g": [(item, "n" if n % 5 else "e") for n, item in enumerate(order[:20])],
    }
    paths = [save(judged(*one, annotator=name), name) for name, one in answers.items()]
    said = []
    merge(paths, tmp_path / "made", str(data), said.append)
    assert len(said) == 2
    assert "no test, no training and no hidden checks" in said[0]
    assert all(text in said[1] for text in (str(paths[0]), str(paths[1]), "may be copies"))
    named = json.loads((tmp_path / "made" / "protocol.json").read_text())
    assert named["protocol"] == load_protocol().version
    assert named["parameters"] == dict(load_protocol(**OPEN).parameters)


def test_the_command_merges_and_tells_of_faults(tmp_path, data, save):
    path = save(judged(("snli-0", "e")))
    given = ["votes", "merge", path, "--data", data, "--out", tmp_path / "made"]
    assert json.loads(call(*given, "--json").stdout)["datasets"]["snli"]["votes"] == 1
    again = call(*given, code=2)
    assert again.stdout == ""
    assert "folder is not empty" in again.stderr

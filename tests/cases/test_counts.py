"""Counts in objects and lists, shares and how many votes they are of, and ChaosNLI's format."""

import json
from collections import Counter

import numpy as np
import pytest
import yaml
from helpers.commands import call, check, readings
from helpers.rows import write_table

import chaos_utils as chaos

LABELS = ["no", "unsure", "yes"]


def drawn(labels=LABELS, n_votes=(5, 6), n_items=30):
    """Return the votes on each item."""
    rng = np.random.default_rng(3)
    return [rng.choice(labels, rng.choice(n_votes)).tolist() for _ in range(n_items)]


VOTES = drawn()
COUNTERS = [dict(Counter(votes)) for votes in VOTES]
COUNTS = [[votes.count(label) for label in LABELS] for votes in VOTES]
SHARES = [[round(n / sum(row), 3) for n in row] for row in COUNTS]
N_VOTES = [len(votes) for votes in VOTES]
TOTALS = dict(Counter(vote for votes in VOTES for vote in votes))
TEXTS = [f"The {k}th of the letters came late." for k in range(30)]


def rows(**columns):
    return [dict(zip(["id", *columns], [f"x{k}", *one], strict=True))
            for k, one in enumerate(zip(*columns.values(), strict=True))]  # fmt: skip


def asked(path):
    """Return what each reading that a doubt shows gives, saved beside the votes."""
    return [check(one) for one in readings(path)]


@pytest.mark.parametrize("name", ["votes", "counts", "label_counter", "human_distribution"])
@pytest.mark.parametrize(
    ("suffix", "spelled"),
    [
        ("jsonl", dict),
        ("csv", json.dumps),
        ("csv", str),
        ("csv", lambda one: str(Counter(one))),
        ("parquet", dict),
    ],
)
def test_objects_of_counts_are_votes_for_their_keys(tmp_path, name, suffix, spelled):
    table = rows(text=TEXTS, **{name: map(spelled, COUNTERS)})
    path = write_table(tmp_path / f"v.{suffix}", table)
    assert check(path).labels == TOTALS
    call("dataset", "init", path, "--out", tmp_path / "v.yml")
    votes = chaos.load("v", tmp_path / "v.yml")
    assert votes.dataset.labels == tuple(LABELS)
    assert votes.counts.tolist() == COUNTS


def test_votes_for_what_no_label_names_are_a_fault(tmp_path):
    write_table(tmp_path / "v.jsonl", rows(votes=COUNTERS))
    labels = [{"name": name, "code": f"votes.{name}"} for name in LABELS[:2]]
    about = {"name": "v", "title": "v", "labels": labels, "files": [{"name": "v.jsonl"}]}
    about["reader"] = {"item": "id", "format": "wide"}
    (tmp_path / "v.yml").write_text(yaml.safe_dump(about))
    assert "labels alone" in check(tmp_path / "v.yml", 2)


def by_people(names, n_each=3):
    rng = np.random.default_rng(4)
    return [
        {str(who): int(rng.integers(1, 6)) for who in rng.choice(names, n_each, replace=False)}
        for _ in range(30)
    ]


@pytest.mark.parametrize("names", [["Anna", "Ben", "Cleo", "Dora"], ["r1", "r2", "r3", "r4"]])
@pytest.mark.parametrize("name", ["votes", "ratings"])
def test_ratings_by_people_under_a_name_of_counts_are_asked_about(tmp_path, names, name):
    table = rows(**{name: by_people(names)})
    table = [row | {"total": sum(row[name].values())} for row in table]
    path = write_table(tmp_path / "v.jsonl", table)
    (by_person,) = asked(path)
    assert (by_person.votes, by_person.annotators["number"]) == (90, 4)
    assert not any(who in check(path, 2) for who in names)


def test_annotations_keyed_by_annotators_stay_theirs(tmp_path):
    given = by_people(["Ann1", "Ann2", "Ann3", "Ann4", "Ann5"])
    assert check(write_table(tmp_path / "v.jsonl", rows(annotations=given))).votes == 90
    same = [{"Ann1": 1, "Ann2": 4}, {"Ann1": 2, "Ann2": 3}, {"Ann1": 4, "Ann2": 1}]
    listed = write_table(tmp_path / "w.jsonl", rows(annotations=same, annotators=["Ann1,Ann2"] * 3))
    assert check(listed).annotators["number"] == 2


@pytest.mark.parametrize("name", ["annotations", "labels", "said"])
def test_objects_whose_numbers_add_up_may_be_counts(tmp_path, name):
    counters = [dict(Counter(votes)) for votes in drawn(n_votes=(5,))]
    counts, by_person = asked(write_table(tmp_path / "v.jsonl", rows(**{name: counters})))
    assert (counts.votes, by_person.votes) == (150, sum(map(len, counters)))


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
@pytest.mark.parametrize("name", ["labels", "counts"])
def test_lists_that_add_up_to_another_column_may_be_counts(tmp_path, name, suffix):
    table = rows(**{name: COUNTS}, n_annotators=N_VOTES)
    counts, ratings = asked(write_table(tmp_path / f"v.{suffix}", table))
    assert (counts.votes, ratings.votes) == (sum(N_VOTES), 90)


def test_flags_that_a_column_counts_are_labels(tmp_path):
    flags = [[k % 2, 1, k % 3 % 2] for k in range(30)]
    table = rows(labels=flags, n_toxic=map(sum, flags))
    assert check(write_table(tmp_path / "v.jsonl", table)).votes == 90


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
@pytest.mark.parametrize("of", ["n", "n_annotators", "count"])
@pytest.mark.parametrize("name", ["soft_label", "labels", "columns"])
def test_shares_are_of_the_column_that_makes_them_whole(tmp_path, name, of, suffix):
    columns = {name: SHARES}
    if name == "columns":
        columns = dict(zip(LABELS, zip(*SHARES, strict=True), strict=True))
    table = rows(**columns, **{of: N_VOTES})
    (found,) = asked(write_table(tmp_path / f"v.{suffix}", table))
    assert list(found.labels.values()) == [TOTALS[label] for label in LABELS]


@pytest.mark.parametrize(
    "shares", [SHARES, [dict(zip(LABELS, row, strict=True)) for row in SHARES]]
)
def test_shares_of_nothing_are_refused_as_such(tmp_path, shares):
    table = rows(soft_label=shares, hour=[k % 7 + 20 for k in range(30)])
    assert "how many votes" in check(write_table(tmp_path / "v.jsonl", table), 2)


@pytest.mark.parametrize("of", ["n", "n_annotators"])
def test_a_column_of_sums_is_no_label(tmp_path, of):
    columns = dict(zip(LABELS, zip(*COUNTS, strict=True), strict=True))
    assert check(write_table(tmp_path / "v.csv", rows(**columns, **{of: N_VOTES}))).labels == TOTALS


def in_format(codes=("e", "n", "c"), order=None, old=False):
    """Return rows in ChaosNLI's format, whose lists are in this order."""
    order, table = order or codes, []
    for k, votes in enumerate(drawn(list(codes), (5,))):
        tally = Counter(votes)
        shares = [tally[code] / 5 for code in order]
        table.append(
            {
                "uid": f"x{k}",
                "label_counter": dict(tally),
                "majority_label": tally.most_common(1)[0][0],
                "label_dist": shares,
                "label_count": [tally[code] for code in order],
                "entropy": -sum(share * np.log2(share) for share in shares if share),
                "example": {"uid": f"x{k}", "premise": TEXTS[k], "hypothesis": f"Late by {k}"},
            }
            | ({"old_label": codes[0], "old_labels": [codes[0]] * 5} if old else {})
        )
    return table


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize(
    ("codes", "names"),
    [
        ("enc", ("entailment", "neutral", "contradiction")),
        (["entailment", "neutral", "contradiction"], ("entailment", "neutral", "contradiction")),
        ("12", ("1", "2")),
        ("bad", ("b", "a", "d")),
    ],
)
def test_chaosnlis_format_is_known_under_any_name(tmp_path, codes, names, old):
    table = in_format(codes, old=old)
    path = write_table(tmp_path / "garden.jsonl", table)
    assert check(path).format == "chaosnli"
    uniform = ",".join(["0"] * (len(names) - 1) + ["1"])
    lines = [f"x{k},{uniform}" for k in range(30)]
    (tmp_path / "model.csv").write_text("\n".join([f"uid,{','.join(names)}", *lines]))
    done = call("evaluate", tmp_path / "model.csv", "--data", path, "--bootstrap", "0")
    assert "garden" in done.output
    assert "ChaosNLI" not in done.output
    call("dataset", "init", path, "--out", tmp_path / "own.yml")
    votes = chaos.load("garden", tmp_path / "own.yml")
    assert votes.dataset.labels == names
    assert votes.counts.tolist() == [row["label_count"] for row in table]
    assert votes.has_old_labels == old
    assert votes.texts[0]["premise"] == TEXTS[0]


def test_a_counter_that_says_otherwise_is_named_by_its_line(tmp_path):
    table = in_format()
    for k in (4, 19):
        table[k]["label_counter"]["e"] = table[k]["label_counter"].get("e", 0) + 1
    found = check(write_table(tmp_path / "v.jsonl", table), 2)
    assert [fault.partition(",")[0] for fault in found.faults] == ["line 5", "line 20"]
    assert all("label_counter" in fault for fault in found.faults)


def test_counts_in_another_order_than_the_formats_are_asked_about(tmp_path):
    path = write_table(tmp_path / "v.jsonl", in_format(order="ecn"))
    (found,) = asked(path)
    right = check(write_table(tmp_path / "w.jsonl", in_format()))
    assert found.labels == right.labels
    assert "label_count" in check(path, 2)


def test_labels_that_no_counter_names_are_refused(tmp_path):
    table = in_format("xy", order="xyz")
    assert "label_counter" in check(write_table(tmp_path / "v.jsonl", table), 2)


ANSWERS = [["good", "bad", "good", "bad"][k % 3 :] + ["bad"] * (k % 3) for k in range(30)]


@pytest.mark.parametrize("text", ["response", "answer", "annotation"])
@pytest.mark.parametrize("lists", ["labels", "votes", "ratings"])
@pytest.mark.parametrize("user", [False, True])
def test_texts_beside_lists_of_votes_are_texts(tmp_path, text, lists, user):
    columns = {"user": [f"u{k % 2}" for k in range(30)]} if user else {}
    table = rows(**columns, **{text: TEXTS, lists: ANSWERS})
    found = check(write_table(tmp_path / "v.jsonl", table))
    assert found.columns["labels"] == lists
    assert found.text_columns == [text]


@pytest.mark.parametrize("label", ["label", "rating"])
def test_texts_beside_a_column_of_labels_are_texts(tmp_path, label):
    table = [
        {"id": f"x{k}", "annotator": who, "response": TEXTS[k], label: vote}
        for k in range(30)
        for who, vote in zip("abcd", ANSWERS[k], strict=True)
    ]
    found = check(write_table(tmp_path / "v.csv", table))
    assert found.columns["label"] == label
    assert found.text_columns == ["response"]


def test_texts_beside_columns_of_counts_are_asked_about(tmp_path):
    columns = {"good": [k % 4 for k in range(30)], "bad": [k % 3 + 1 for k in range(30)]}
    table = rows(response=TEXTS, **columns)
    (found,) = asked(write_table(tmp_path / "v.csv", table))
    assert set(found.labels) == {"good", "bad"}


def test_two_lists_of_votes_are_asked_about(tmp_path):
    table = rows(labels=ANSWERS, ratings=[[k % 5, 1, 2, 2] for k in range(30)])
    first, second = asked(write_table(tmp_path / "v.jsonl", table))
    assert set(first.labels) == {"good", "bad"}
    assert set(second.labels) == set("01234")


def test_a_doubt_shows_a_reading_or_is_none(tmp_path):
    table = [{"id": f"x{k}", "entropy": k / 60} for k in range(60)]
    said = check(write_table(tmp_path / "v.csv", table), 2)
    assert "It is unclear" not in said
    assert "--label" in said

"""Votes as a dataset's YAML file describes them: every format, and every fault of a file."""

import csv
import gzip
import json
import re
from collections import Counter
from io import BytesIO, StringIO

import numpy as np
import pandas as pd
import pytest

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import csv_file, sources
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.findings import check_file, check_votes
from chaos_utils.datasets.loading import load_votes
from chaos_utils.datasets.readers import read_file
from chaos_utils.scoring.annotators import agreement_with_rest, annotations_of, votes_kept

COLOURS = {"name": "colours", "title": "Colours", "labels": ["red", "green", "blue"]}
LONG = {"format": "long", "annotator": "who"}
WIDE = {"format": "wide"}
SHARES = WIDE | {"values": "shares", "n_votes": 5}
COLUMNS = {"format": "columns", "labels": "given"}
INSIDE = COLUMNS | {"records": "all.items"}
PEOPLE = COLUMNS | {"annotators": "who"}
BY_PLACE = COLUMNS | {"annotators_by_place": True}
BY_KEYS = LONG | {"keys": ["who", "item"], "label": "value"}
LONG_ROWS = "item,who,label\na,w9,red\nb,w9,blue\na,w7,green\na,w8,red\n"
WIDE_ROWS = "item,blue,red,green\na,1,2,0\nb,0,0,5\n"


def dataset(reader, *, names=("votes",), **fields):
    files = [{"name": name} for name in names]
    return Dataset.model_validate(COLOURS | {"files": files, "reader": reader} | fields)


def read(tmp_path, content, reader, **fields):
    contents = content if isinstance(content, tuple) else (content,)
    found = []
    for i, one in enumerate(contents):
        found.append(tmp_path / f"votes{i}")
        found[-1].write_bytes(one if isinstance(one, bytes) else one.encode())
    known = dataset(reader, names=[path.name for path in found], **fields)
    return read_file(found, known)


def npy(*rows):
    buffer = BytesIO()
    np.save(buffer, rows)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        LONG_ROWS,
        LONG_ROWS.replace(",", "\t"),
        "\ufeff" + LONG_ROWS.replace(",", ";").replace("\n", "\r\n"),
        pd.read_csv(StringIO(LONG_ROWS)).to_json(orient="records", lines=True),
    ],
    ids=["csv", "tsv", "excel", "json lines"],
)
def test_long_files(tmp_path, content):
    votes = read(tmp_path, content, LONG)
    assert votes.uids == ("a", "b")
    assert votes.counts.tolist() == [[2, 1, 0], [0, 0, 1]]
    assert votes.annotations.item.tolist() == [0, 0, 0, 1]
    assert votes.annotations.annotator.tolist() == [0, 1, 2, 0]
    assert votes.annotations.label.tolist() == [0, 1, 0, 2]
    assert "w9" not in repr([getattr(votes, name) for name in votes.__slots__])


@pytest.mark.parametrize(
    ("content", "uids"),
    [
        (WIDE_ROWS, ("a", "b")),
        (pd.read_csv(StringIO(WIDE_ROWS)).astype({"blue": float}).to_parquet(), ("a", "b")),
        (npy([2, 0, 1], [0, 5, 0]), ("0", "1")),
    ],
    ids=["csv", "parquet", "npy"],
)
def test_wide_files(tmp_path, content, uids):
    votes = read(tmp_path, content, WIDE)
    assert votes.uids == uids
    assert votes.counts.tolist() == [[2, 0, 1], [0, 5, 0]]


def test_old_labels_and_texts_from_the_same_file_or_from_another(tmp_path):
    reader = {"format": "long", "old_label": "gold", "texts": {"scene": "what is seen"}}
    rows = "item,label,gold,what is seen\n7,red,blue,a dot\n7,blue,blue,a dot\n8,red,red,a line\n"
    one = read(tmp_path, rows, reader, texts=["scene"])
    assert one.old_label.tolist() == [2, 0]
    assert one.old_votes.tolist() == [[0, 0, 1], [1, 0, 0]]
    assert not one.has_old_votes
    others = "id\twhat is seen\n8\ta&#32;line\n7\ta dot\n9\tunused\n"
    by_id = reader | {"texts_by": "id", "texts_escaped": True}
    two = read(tmp_path, (rows, others), by_id, texts=["scene"])
    assert [text["scene"] for text in (*one.texts, *two.texts)] == ["a dot", "a line"] * 2
    with pytest.raises(ChaosError, match="no text of item '8'"):
        read(tmp_path, (rows, "id,what is seen\n7,x\n"), by_id, texts=["scene"])
    with pytest.raises(ChaosError, match=r"field 'gold': found 'red'; expected the label that"):
        read(tmp_path, rows.replace("7,blue,blue", "7,blue,red"), reader, texts=["scene"])


def test_shares_become_votes_by_their_number(tmp_path):
    content = "item,n,red,green,blue\na,3,.33,0.67,0\nb,100,1e-2,.99,0\n"
    votes = read(tmp_path, content, SHARES | {"n_votes": "n"})
    assert votes.counts.tolist() == [[1, 2, 0], [1, 99, 0]]
    votes = read(tmp_path, "item,red,green,blue\na,.2,.4,.4\n", SHARES)
    assert votes.counts.tolist() == [[1, 2, 2]]


def test_columns_of_labels(tmp_path):
    reader = {"format": "columns", "labels": ["l0", "l1", "l2"], "majority": "gold"}
    votes = read(tmp_path, "item,l0,l1,l2,gold\na,red,blue,,blue\nb,red,,,-\n", reader)
    assert votes.counts.tolist() == [[1, 0, 1], [1, 0, 0]]
    assert votes.majority.tolist() == [2, 0]


@pytest.mark.parametrize("given", ["red,blue, red", '[""red"", ""blue"", ""red""]'])
def test_one_column_that_lists_the_labels(tmp_path, given):
    votes = read(tmp_path, f'item;given;who\na;"{given}";"x,y,z"\n', PEOPLE)
    assert votes.counts.tolist() == [[2, 0, 1]]
    assert votes.annotations.annotator.tolist() == [0, 1, 2]


def test_json_with_a_path_to_its_records_and_answers_that_are_no_votes(tmp_path):
    reader = INSIDE | {"item": "id", "labels": "votes.people", "missing": ["none"]}
    reader |= {"texts": {"scene": "text.scene"}}
    item = {"id": 3, "votes": {"people": ["red", "none", "blue"]}, "text": {"scene": "a\u2028b"}}
    content = json.dumps({"all": {"items": [item]}}, indent=1)
    votes = read(tmp_path, content, reader, texts=["scene"])
    assert votes.uids == ("3",)
    assert votes.counts.tolist() == [[1, 0, 1]]
    assert votes.texts[0]["scene"] == "a\u2028b"
    assert "1 of 3 answers are for none of the labels and left out (1 'none')" in votes.notes[0]


def test_keys_of_nested_objects_are_columns(tmp_path):
    given = {"w9": {"a": "red", "b": "blue"}, "w7": {"a": "green"}}
    votes = read(tmp_path, json.dumps(given, indent=1), BY_KEYS)
    assert votes.uids == ("a", "b")
    assert votes.counts.tolist() == [[1, 1, 0], [0, 0, 1]]
    assert votes.annotations.annotator.tolist() == [0, 1, 0]
    numbered = read(tmp_path, json.dumps(given), BY_KEYS | {"numbered": True})
    assert (numbered.uids, numbered.counts.tolist()) == (("0", "1"), votes.counts.tolist())


NUMBERED, FIRST = COLUMNS | {"item": ""}, "id,given\n1,red\n"


def test_votes_in_several_files_whose_items_are_numbered(tmp_path):
    votes = read(tmp_path, (FIRST, 'id,given\n1,"blue,red"\n'), NUMBERED)
    assert votes.uids == ("0", "1")
    assert votes.counts.tolist() == [[1, 0, 0], [1, 0, 1]]
    assert [one.name for one in votes.inputs] == ["votes0", "votes1"]


CUT = {"rule": "thirds", "edges": [-3, -1, 1, 3], "labels": ["blue", "red", "green"]}


def test_a_named_rule_cuts_a_slider_into_labels(tmp_path):
    votes = read(tmp_path, 'item,given\na,"-3,-1.01,-1,0.5,1,3"\n', COLUMNS | {"cut": CUT})
    assert votes.counts.tolist() == [[2, 2, 2]]  # an edge belongs to the label above it
    assert "thirds" in votes.notes[0]
    long = {"format": "long", "cut": CUT}
    assert read(tmp_path, "item,label\na,2\na,-2\n", long).counts.tolist() == [[0, 1, 1]]
    for wrong, expected in (
        ({"edges": [-3, 1, -1, 3]}, "edges must be one more than the labels"),
        ({"labels": ["blue", "rde", "green"]}, r"reader\.cut names 'rde'"),
    ):
        with pytest.raises(ValueError, match=expected):
            dataset(COLUMNS | {"cut": CUT | wrong})


def test_groups_of_annotators_are_kept_where_the_yaml_file_names_them(tmp_path):
    by_gender = LONG | {"annotator_fields": ["gender"]}
    rows = "item,who,gender,label\na,w9,f,red\na,w7,,blue\nb,w9,f,red\n"
    votes = read(tmp_path, rows, by_gender)
    assert votes.annotations.fields == {"gender": ("f", "")}
    assert "votes by 'gender': f (2), not stated (1)" in check_votes(votes).remarks
    with pytest.raises(
        ChaosError, match="line 4, field 'gender': found 'm'; expected what an earl"
    ):
        read(tmp_path, rows.replace("b,w9,f", "b,w9,m"), by_gender)


AGAIN = "item,who,day,label\na,w9,2,red\na,w7,2,blue\na,w9,9,green\nb,w7,9,red\n"


@pytest.mark.parametrize(
    ("reader", "content"),
    [
        (LONG | {"round": "day"}, AGAIN),
        (
            LONG | {"rounds": ["first", "then"]},
            "item,who,first,then\na,w9,red,green\na,w7,blue,\nb,w7,,red\n",
        ),
    ],
    ids=["a column", "a column each"],
)
def test_the_same_person_asked_again_is_kept_and_does_not_count_twice(tmp_path, reader, content):
    votes = read(tmp_path, content, reader)
    assert votes.counts.tolist() == [[1, 0, 1], [1, 0, 0]]
    known = votes.annotations
    in_order = sorted(zip(known.item, known.annotator, known.round, known.label, strict=True))
    assert in_order == [(0, 0, 0, 0), (0, 0, 1, 1), (0, 1, 0, 2), (1, 1, 1, 0)]
    assert known.first.round.tolist() == [0, 0, 1]
    assert "1 of 4 votes, in 2 rounds, are an annotator's on an item" in votes.notes[0]
    first = annotations_of(votes)
    assert np.bincount(first.item).tolist() == votes.n_votes.tolist()
    assert agreement_with_rest(votes).observed[0] == 0  # green agrees with nobody, but is no vote


ACROSS = LONG | {"items_across": True, "annotator_fields": ["town"]}


def test_a_row_may_hold_all_votes_of_an_annotator(tmp_path):
    files = ("who,b,town,a\nw9,red,Bonn,blue\nw7,green,Rome,\n", "who,town,c\nw3,,blue\n")
    votes = read(tmp_path, files, ACROSS | {"item_fields": ["file"]})
    assert votes.uids == ("b", "a", "c")
    assert votes.counts.tolist() == [[1, 1, 0], [0, 0, 1], [0, 0, 1]]
    assert votes.annotations.annotator.tolist() == [0, 1, 0, 2]
    assert votes.annotations.fields == {"town": ("Bonn", "Rome", "")}
    assert votes.fields == {"file": ("votes0", "votes0", "votes1")}


@pytest.mark.parametrize("times", ["1 0 5 7", "2026-01-02 2026-01-01T23:00 2026-02-01 2026-01-01"])
def test_rounds_may_follow_from_times(tmp_path, times):
    given = zip(["a,w9", "a,w9", "a,w7", "b,w9"], times.split(), strict=True)
    rows = "".join(f"{pair},{time},{'red' if k % 2 else 'blue'}\n"
                   for k, (pair, time) in enumerate(given))  # fmt: skip
    votes = read(tmp_path, "item,who,at,label\n" + rows, LONG | {"time": "at"})
    assert votes.annotations.round.tolist() == [1, 0, 0, 0]
    assert votes.counts.tolist() == [[1, 0, 1], [1, 0, 0]]


def test_rounds_in_which_nobody_is_asked_again(tmp_path):
    content = AGAIN.replace("a,w9,9,green", "b,w9,11,green")
    votes = read(tmp_path, content, LONG | {"round": "day"})
    assert votes.counts.sum() == 4
    assert "4 votes in 3 rounds; nobody judged an item again" in votes.notes[0]


def test_what_items_are_is_kept_and_is_the_same_in_all_rows(tmp_path):
    reader = LONG | {"item_fields": ["tongue"]}
    rows = "item,who,tongue,label\na,w9,en,red\na,w7,en,blue\nb,w9,,red\n"
    votes = read(tmp_path, rows, reader)
    assert votes.fields == {"tongue": ("en", "")}
    assert votes_kept(votes, votes.annotations.item == 1).fields == {"tongue": ("",)}
    with pytest.raises(ChaosError, match="line 3, field 'tongue': found 'de'; expected the value"):
        read(tmp_path, rows.replace("w7,en", "w7,de"), reader)
    with pytest.raises(ChaosError, match="column 'who' names annotators"):
        read(tmp_path, rows, LONG | {"item_fields": ["who"]})


ABOUT = {"file": "votes1", "fields": ["gender", "age"]}
BY_ID = LONG | {"about_annotators": ABOUT | {"key": "id"}}
WHO_IS_WHO = "id,gender,age\nw8,f,31\nw9,m,\nw7,expired,45\nw9,m,\n"


@pytest.mark.parametrize(
    ("about", "content"),
    [
        ({"key": "id"}, WHO_IS_WHO),
        ({"key": "id", "prefix": "w"}, WHO_IS_WHO.replace("w", "")),
        ({}, '{"w7": {"gender": "expired", "age": 45.0}, "w8": {"gender": "f", "age": "31"}, '
             '"w9": {"gender": "m"}}'),
    ],
    ids=["a row each", "without the prefix", "an object"],
)  # fmt: skip
def test_what_annotators_are_is_joined_from_a_second_file(tmp_path, about, content):
    reader = LONG | {"about_annotators": ABOUT | {"missing": ["expired"]} | about}
    votes = read(tmp_path, (LONG_ROWS, content), reader)
    assert votes.annotations.fields == {"gender": ("m", "", "f"), "age": ("", "45", "31")}
    assert [one.name for one in votes.inputs] == ["votes0", "votes1"]


def test_annotators_that_the_second_file_lacks_are_refused_or_unknown(tmp_path):
    with pytest.raises(ChaosError, match="1 of 3 annotators") as fault:
        read(tmp_path, (LONG_ROWS, WHO_IS_WHO.replace("w8", "w3")), BY_ID)
    assert "`incomplete: true`" in str(fault.value)
    allowed = LONG | {"about_annotators": ABOUT | {"key": "id", "incomplete": True}}
    votes = read(tmp_path, (LONG_ROWS, WHO_IS_WHO.replace("w8", "w3")), allowed)
    assert votes.annotations.fields["gender"] == ("m", "expired", "")
    assert "1 of 3 annotators are missing from the file about annotators" in votes.notes[0]


def test_second_votes_count_only_where_the_yaml_file_says_so(tmp_path):
    content = 'item,given,who\na,"red,blue","w9,w9"\n'
    votes = read(tmp_path, content, PEOPLE | {"second_votes": True})
    assert votes.counts.tolist() == [[1, 0, 1]]
    assert votes.annotations.annotator.tolist() == [0, 0]
    assert "1 of 2 votes" in votes.notes[0]


def test_second_votes_in_rows_of_their_own_count_as_well(tmp_path):
    rows = "item,who,given\na,w9,red\na,w9,blue\na,w1,red\n"
    twice = "item,who,given\na,w9,red\na,w1,red\na,w9,red\n"
    reader = {"format": "long", "annotator": "who", "label": "given"}
    with pytest.raises(ChaosError, match=r"a second vote on item 'a'.*; expected one per item"):
        read(tmp_path, rows, reader)
    with pytest.raises(ChaosError, match="of line 2; the two rows are identical: delete one"):
        read(tmp_path, twice, reader)
    votes = read(tmp_path, rows, reader | {"second_votes": True})
    assert votes.counts.tolist() == [[2, 0, 1]]
    assert votes.annotations.annotator.tolist() == [0, 0, 1]
    with pytest.raises(ValueError, match="without rounds"):
        dataset(reader | {"second_votes": True, "round": "round"})


def test_places_in_a_list_and_columns_may_each_be_an_annotator(tmp_path):
    votes = read(tmp_path, 'item,given\na,"red,blue"\nb,"green,red"\n', BY_PLACE)
    assert votes.annotations.annotator.tolist() == [0, 1, 0, 1]
    assert votes.annotations.label.tolist() == [0, 2, 1, 0]
    columns = BY_PLACE | {"labels": ["ana", "ben", "cleo"]}
    votes = read(tmp_path, "item,ana,ben,cleo\na,red,,blue\nb,,green,red\n", columns)
    assert votes.annotations.item.tolist() == [0, 0, 1, 1]
    assert votes.annotations.annotator.tolist() == [0, 2, 1, 2]
    with pytest.raises(ValueError, match="not both"):
        dataset(PEOPLE | {"annotators_by_place": True})


@pytest.mark.parametrize(
    ("reader", "expected"),
    [
        ({"format": "long", "round": "day"}, "round needs the column of the annotator"),
        (LONG | {"rounds": ["a", "b"], "round": "day"}, "leave out label, round and time"),
        (LONG | {"time": "at", "round": "day"}, "not both"),
        (LONG | {"rounds": ["a", "a"]}, "names a column twice"),
        (LONG | {"items_across": True, "label": "x"}, "leave out item and label"),
        (
            {"format": "long", "annotator": "item", "items_across": True},
            "needs columns that are not",
        ),
        (LONG | {"rounds": ["a"]}, "rounds"),
        (COLUMNS | {"about_annotators": ABOUT}, "needs annotators, or annotators_by_place"),
        (
            LONG | {"about_annotators": ABOUT | {"file": "votes"}},
            "not one of the files after those",
        ),
        (LONG | {"about_annotators": ABOUT, "annotator_fields": ["age"]}, "'age' is in"),
    ],
)
def test_rounds_and_second_files_that_the_yaml_file_describes_wrongly(reader, expected):
    with pytest.raises(ValueError, match=expected):
        dataset(reader, names=("votes", "votes1"))


# What is refused whether a YAML file describes it or not: it cannot be described either.
DAMAGED = [
    (LONG, "", "The data file is empty"),
    (LONG, "item,who,label,label\na,w,red,red\n", "A column appears twice"),
    (LONG, b"item,who,label\n\xff,w,red\n", "not UTF-8"),
    (LONG, gzip.compress(LONG_ROWS.encode(), mtime=0), "unpack it"),
    (LONG, "item,who,label\na,w,red,x\n", "line 2, found 4 fields; expected 3"),
    (LONG, "item,who,label\n", "holds no votes"),
    (LONG, '{"item": 1, "item": 2}\n', "line 1, found the key 'item' twice"),
]
FAULTS = [
    *DAMAGED,
    (LONG, "item,who,label\na,w,purple\n", "line 2, field 'label': found 'purple'; expected"),
    (LONG, "item,who,label\n,w9,red\n", "field 'item': found ''; expected an identifier"),
    (LONG, "item,label\na,red\n", "no column 'who'"),
    (LONG, LONG_ROWS + "a,w9,blue\n", "by the annotator of line 2"),
    (LONG, LONG_ROWS + "a,w9,blue\n", "asked again, name the column of the `round` in YAML"),
    (LONG | {"round": "day"}, AGAIN + "a,w7,2,red\n", "per item and annotator in each"),
    (LONG | {"round": "day"}, AGAIN + "b,w9,later,red\n", "found 'later'; expected a whole number"),
    (LONG | {"round": "dya"}, AGAIN, "no column 'dya'"),
    (LONG | {"time": "day"}, AGAIN + "a,w7,2,red\n", "per item and annotator in each"),
    (LONG | {"time": "day"}, AGAIN + "b,w9,2026-01-01,red\n", "found '2026-01-01'; expected a"),
    (LONG | {"time": "day"}, AGAIN + "b,w9,monday,red\n", "found 'monday'; expected a time"),
    (ACROSS, "who,town,a\nw9,Bonn,grey\n", "line 2, column 'a', field 'label': found 'grey'"),
    (ACROSS, "who,town,a\nw9,Bonn,red\nw9,Bonn,red\n", "a second vote on item 'a' by the annot"),
    (ACROSS, "who,a\nw9,red\n", "no column 'town'"),
    (LONG | {"annotator_fields": ["age"]},
     '{"item": 1, "who": "w9", "label": "red", "age": 1.5}\n', "found 1.5; expected text"),
    (BY_ID, (LONG_ROWS, WHO_IS_WHO + "w9,f,\n"), "line 6, field 'gender': found 'f'; expected"),
    (BY_ID, (LONG_ROWS, WHO_IS_WHO + ",f,\n"), "does not name each annotator"),
    (BY_ID, (LONG_ROWS, '[{"id": "w9", "gender": "f", "age": 3.5}]'), "field 'age': found 3.5"),
    (BY_ID, (LONG_ROWS, WHO_IS_WHO.replace("gender", "sex")), "no column 'gender'"),
    (BY_ID, (LONG_ROWS, WHO_IS_WHO.replace("id,", "name,")), "no column 'id'"),
    (LONG, LONG_ROWS + "b,,red\n", "line 6, field 'who': found an empty cell; expected an"),
    (LONG, 'item,who,label\na,w,"red\n', "not valid CSV"),
    (LONG, b"PAR1 is not enough", "damaged"),
    (LONG, '{"a": 1', "column 8: found '{\"a\": 1'; expected JSON (a comma or a closing bracket"),
    (INSIDE, "[" * 100_000, "nested too deeply"),
    (LONG, '{"item": ' + "9" * 5000 + "}", "a number is too long"),
    (LONG, '{"item": "\\ud800"}', "half of a surrogate pair"),
    (LONG, '{"item": 1.5, "who": 1, "label": "red"}\n', "field 'item': found 1.5"),
    (WIDE, "item,red,green,blue\na,1,1_0,0\n", "field 'green': found '1_0'; expected a whole"),
    (WIDE, "item,red,green,blue\na,0,0,0\n", "line 2, found no votes; expected at least 1"),
    (WIDE, "item,red,green,blue\na,1,0,0\na,1,0,0\n", "found item 'a', as on line 2"),
    (SHARES, "item,red,green,blue\na,.33,.33,.34\n", "found shares of 5 votes that are 1.65"),
    (SHARES, "item,red,green,blue\na,1.2,0,0\n", "found '1.2'; expected a share from 0 to 1"),
    (NUMBERED, (FIRST, "id,given\n1,purple\n"), "votes1, line 2, field 'given': found 'pur"),
    (COLUMNS | {"item": "id"}, (FIRST, FIRST), "found item '1', as on votes0, line 2"),
    (INSIDE, "{}", "no list of records at this place"),
    (COLUMNS, 'item,given\na,"[1, "\n', "expected a list of labels"),
    (COLUMNS | {"majority": "gold"}, "item,given,gold\na,red,green\n",
     "majority label 'green' with 0 votes"),
    (PEOPLE, 'item,given,who\na,"red,blue",w9\n', "field 'who': expected a list of 2, one per"),
    (PEOPLE, 'item,given,who\na,"red,blue","w9,w9"\n', "found two votes by one annotator"),
    (BY_PLACE, 'item,given\na,"red,blue"\nb,red\n', "found a list of 1, expected 2, one per"),
    (COLUMNS | {"cut": CUT}, "item,given\na,3.01\n", "expected a number from -3 to 3"),
    (BY_KEYS, '{"w9": "red"}', "expected:  objects by who, by item"),
    (BY_KEYS, '{"w9": {"a": "red"}, "w9": {"b": "red"}}', "not valid JSON"),
    (WIDE, npy([1, 2]), "expected"),
]  # fmt: skip


@pytest.mark.parametrize(("reader", "content", "expected"), FAULTS)
def test_every_fault_ends_in_one_message_that_names_no_annotator(
    tmp_path, monkeypatch, reader, content, expected
):
    for block in (csv_file.BLOCK, 16):  # large files are read in blocks, and refused alike
        monkeypatch.setattr(csv_file, "BLOCK", block)
        with pytest.raises(ChaosError) as fault:
            read(tmp_path, content, reader)
        assert expected in str(fault.value)
        assert "w9" not in str(fault.value)
        assert len(str(fault.value)) < 1500
    if (reader, content, expected) in DAMAGED:
        with pytest.raises(ChaosError, match=re.escape(expected)):
            check_file(tmp_path / "votes0")


def test_a_number_of_votes_that_is_not_the_published_one(tmp_path):
    with pytest.raises(ChaosError, match="line 3, found 5 votes; expected 3 per item"):
        read(tmp_path, WIDE_ROWS, WIDE, n_votes=3)


def large_table():
    rng = np.random.default_rng(0)
    item = rng.permutation(np.repeat(np.arange(50), 6))
    labels = np.array(["red", " red ", "blue", "skipped"])[rng.integers(0, 4, 300)]
    table = pd.DataFrame({"item": item, "who": np.arange(300) // 50, "label": labels})
    table["text"] = [f"text, {i}" for i in item]
    return table.drop_duplicates(["item", "who"])


LARGE = large_table()
SKIPPING = LONG | {"missing": ["skipped"]}


@pytest.mark.parametrize(
    ("content", "reader"),
    [
        (LARGE.to_csv(index=False), SKIPPING),
        (LARGE.to_csv(index=False, sep="\t"), SKIPPING),
        (LARGE.to_csv(index=False, quoting=csv.QUOTE_ALL), SKIPPING),
        (LARGE.to_parquet(), SKIPPING),
        ("item,text,blue,red,green\na,x,1,2,0\nb,y,0,0,5\n", WIDE),
    ],
    ids=["csv", "tsv", "quoted", "parquet", "wide"],
)
def test_large_files_are_read_in_blocks_and_alike(tmp_path, monkeypatch, content, reader):
    whole = read(tmp_path, content, reader, texts=["text"])
    monkeypatch.setattr(csv_file, "BLOCK", 64)
    parts = read(tmp_path, content, reader, texts=["text"])
    for name in ("uids", "texts", "source", "notes"):
        assert getattr(parts, name) == getattr(whole, name)
    assert parts.counts.tolist() == whole.counts.tolist()
    assert parts.majority.tolist() == whole.majority.tolist()
    if reader is SKIPPING:
        for name in ("item", "annotator", "label"):
            assert (getattr(parts.annotations, name) == getattr(whole.annotations, name)).all()
        assert "left out" in "".join(parts.notes)
        assert "have blanks around them" in "".join(parts.notes)


@pytest.mark.published(
    "ocnli/*", "pavlick_kwiatkowski/*", "lewidi2023/*", "alttest/wax/*", "snow2008/*"
)
def test_ocnli_and_other_published_datasets_are_as_their_papers_say():
    names = ("ocnli", "pavlick", "md-agreement", "wax", "rte")
    ocnli, pavlick, md_agreement, wax, rte = (load_votes(name, "released") for name in names)
    # With any answer counted as a label, one more item of OCNLI has a top count of three: the one
    # that three people called unrelated.
    assert Counter(ocnli.counts.max(axis=1).tolist()) == {5: 1736, 4: 716, 3: 499 - 1, 2: 49, 1: 1}
    assert "46 of 15,000" in ocnli.notes[0]
    assert pavlick.counts.sum(axis=0).tolist() == [8_932, 4_121, 6_307]
    assert "equal thirds" in pavlick.notes[0]
    assert md_agreement.counts.shape == (10_753, 2)  # in three files
    assert md_agreement.majority.sum() == 1_962 + 388 + 1_018
    assert (wax.counts.shape, wax.n_votes.sum()) == ((246, 16), 1_380)
    assert (rte.old_label == 0).sum() == 400


@pytest.mark.published("lalor2016/*", "xhatestability/*", "popquorn/*", "lewidi2025/*")
def test_datasets_whose_annotators_are_known_are_as_their_papers_say():
    names = ("lalor", "xhatestability", "popquorn", "multipico", "csc")
    all_votes = [load_votes(name, "released") for name in names]
    people = [len(np.unique(votes.annotations.annotator)) for votes in all_votes]
    assert people == [976 + 983, 22, 262, 506, 872]
    lalor, xhate, popquorn, multipico, csc = all_votes
    assert [len(votes) for votes in (lalor, popquorn, multipico)] == [2 * 90, 1_500, 3_005 + 3_756]
    assert Counter(lalor.fields["file"]) == {"irt_file_4": 90, "irt_file_5": 90}
    for group, expected in (("4", 73), ("5", 84)):
        lines = sources.locate(f"lalor2016/group_{group}.txt").read_text("utf-8").split("\n")
        gold = dict(line.split() for line in lines if line)
        right = [lalor.dataset.labels[lalor.majority[lalor.index(uid)]] == label
                 for uid, label in gold.items()]  # fmt: skip
        assert (len(right), sum(right)) == (90, expected)
    # The same person gives the same label again, by the languages of the two rounds.
    known = xhate.annotations
    in_order = np.lexsort((known.round, known.annotator, known.item))
    first, then = known.label[in_order].reshape(-1, 2).T
    condition = np.array(xhate.fields["condition"])[known.item[in_order][::2]]
    again = {name: (first == then)[condition == name].mean().round(3) for name in set(condition)}
    assert again == {"en-en": 0.765, "de-de": 0.781, "en-de": 0.810, "de-en": 0.818}
    votes_by = [Counter(np.array(popquorn.annotations.fields[name])[popquorn.annotations.annotator])
                for name in ("gender", "race")]  # fmt: skip
    assert votes_by[0] == {"Woman": 6_520, "Man": 6_166, "Non-binary": 350}
    assert (votes_by[1]["White"], votes_by[1]["Black or African American"]) == (9_804, 1_685)
    assert len(set(multipico.fields["lang"])) == 9
    assert multipico.annotations.fields["Student status"].count("") == 81  # DATA_EXPIRED
    assert "32 of 872 annotators are missing" in csc.notes[0]
    assert csc.annotations.fields["Gender"].count("") == 32 + 17 + 5 + 3

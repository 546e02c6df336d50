"""Valid files are read, however their lists, objects and truth values are written."""

import json

import pandas as pd
import pytest
from helpers.commands import check

VOTES = [["yes", "no", "yes"], ["no", "no", "yes"], ["yes", "yes", "no"], ["no", "yes", "yes"]]
FLAGS = [[int(vote == "yes") for vote in votes] for votes in VOTES]


def listed(rows, spelled):
    cells = ['"' + spelled(row).replace('"', '""') + '"' for row in rows]
    return "id,labels\n" + "".join(f"x{k},{cell}\n" for k, cell in enumerate(cells))


def checked(path, content):
    path.write_text(content)
    return check(path).labels


@pytest.mark.parametrize(
    "spelled",
    [
        str,
        json.dumps,
        lambda row: str(row).replace(", ", " "),
        lambda row: str(row).replace(", ", "\n "),
        lambda row: str(tuple(row)),
        lambda row: f"array({row}, dtype='<U3')",
        lambda row: f"[{', '.join(row)}]",
        lambda row: f"[{', '.join(f'np.str_({one!r})' for one in row)}]",
    ],
)
def test_lists_of_words_in_any_spelling_are_votes(tmp_path, spelled):
    assert checked(tmp_path / "v.csv", listed(VOTES, spelled)) == {"no": 5, "yes": 7}


@pytest.mark.parametrize(
    "spelled",
    [
        str,
        lambda row: str(row).replace(", ", " "),
        lambda row: f"[{'. '.join(map(str, row))}.]",
        lambda row: f"array({[float(one) for one in row]})",
        lambda row: f"({', '.join(map(str, row))},)",
    ],
)
def test_lists_of_numbers_in_any_spelling_are_votes(tmp_path, spelled):
    assert checked(tmp_path / "v.csv", listed(FLAGS, spelled)) == {"0": 5, "1": 7}


def test_an_array_that_numpy_has_shortened_is_no_list(tmp_path):
    (tmp_path / "v.csv").write_text(listed(VOTES, str) + "y,\"['yes' 'no' ... 'yes' 'no']\"\n")
    found = check(tmp_path / "v.csv", 2)
    assert "line 6" in "".join(found.faults)


def test_truth_values_are_labels(tmp_path):
    rows = [
        {"item": f"x{k}", "annotator": who, "label": bool(flag)}
        for k, row in enumerate(FLAGS)
        for who, flag in zip("abc", row, strict=True)
    ]
    expected = {"false": 5, "true": 7}
    assert checked(tmp_path / "v.json", json.dumps(rows)) == expected
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    assert checked(tmp_path / "v.jsonl", lines) == expected
    pd.DataFrame(rows).to_parquet(tmp_path / "v.parquet")
    assert check(tmp_path / "v.parquet").labels == expected
    assert checked(tmp_path / "v.csv", listed([[bool(f) for f in row] for row in FLAGS], str))
    items = {f"x{k}": {"annotations": dict(zip("abc", map(bool, row), strict=True))}
             for k, row in enumerate(FLAGS)}  # fmt: skip
    assert checked(tmp_path / "o.json", json.dumps(items)) == expected


@pytest.mark.parametrize("indent", [None, 0, 1, 4, "\t"])
def test_an_object_of_items_is_read_however_it_is_indented(tmp_path, indent):
    items = {
        f"x{k}": {
            "text": "so",
            "why": ["it is", {"said": ["that"]}, {}, "null"],
            "annotations": dict(zip("abc", votes, strict=True)),
        }
        for k, votes in enumerate(VOTES)
    }
    assert checked(tmp_path / "v.json", json.dumps(items, indent=indent)) == {"no": 5, "yes": 7}


def test_an_object_that_is_cut_off_is_one_fault(tmp_path):
    whole = json.dumps({"x": {"why": ["it is"], "annotations": {"a": "no"}}}, indent=1)
    (tmp_path / "v.json").write_text(whole[:-6])
    assert "not valid JSON" in check(tmp_path / "v.json", 2)

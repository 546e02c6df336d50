"""Rows never vanish: there are as many as lines, or the answer says why not."""

import pytest
from helpers.commands import check

from chaos_utils.datasets import csv_file
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.scoring.predictions import read_predictions

ROWS = [
    ("item", "annotator", "text", "label"),
    *((f"x{k // 2}", "uv"[k % 2], f"so {k // 2}", ["yes", "no"][k % 3 % 2]) for k in range(12)),
]


def written(path, rows, delimiter="\t", start=""):
    path.write_text(start + "".join(delimiter.join(row) + "\n" for row in rows))
    return path


def with_marks(*cells):
    """Return the rows with texts that begin or end with a quotation mark."""
    return [
        (*row[:2], cells[k] if k < len(cells) else row[2], row[3]) if k else row
        for k, row in enumerate(ROWS)
    ]


@pytest.fixture(params=[csv_file.BLOCK, 64])
def block(request, monkeypatch):
    """How many bytes are looked at together: all, or less than two rows."""
    monkeypatch.setattr(csv_file, "BLOCK", request.param)


@pytest.mark.parametrize(
    "cells",
    [("", '"so', "so", 'so"'), ("", '"'), ("", "so", 'a " b', '"'), ("", '"so" they', 'said"')],
)
def test_marks_in_tsv_are_characters_and_no_row_is_lost(tmp_path, block, cells):
    items = [(f"x{k}", *row[1:]) if k else row for k, row in enumerate(with_marks(*cells))]
    found = check(written(tmp_path / "v.tsv", items))
    assert (found.rows, found.votes, found.faults) == (12, 12, [])
    votes = load_all_votes(str(tmp_path / "v.tsv"))[0]
    assert votes.counts.sum() == 12


def test_tsv_with_marks_around_fields_is_read_without_them(tmp_path, block):
    rows = [tuple(f'"{cell}"' for cell in row) for row in ROWS]
    found = check(written(tmp_path / "v.tsv", rows))
    assert (found.votes, found.labels) == (12, {"no": 4, "yes": 8})
    assert found.columns["label"] == "label"


@pytest.mark.parametrize(
    ("delimiter", "cells"),
    [(",", ("", '"so', "so", 'so"')), (";", ("", "so", '"', '"')),
     ("\t", ("", '"so', "so", 'so"', '"a\tb"'))],
)  # fmt: skip
def test_rows_that_one_reading_loses_are_a_doubt(tmp_path, block, delimiter, cells):
    fault = check(written(tmp_path / "v.csv", with_marks(*cells), delimiter), 2)
    assert "in doubt what quotation marks mean" in fault


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_texts_of_several_lines_are_read_and_said(tmp_path, block, delimiter):
    rows = [(*row[:2], f'"{row[2]}, so\n""it"" is"', row[3]) if k else row
            for k, row in enumerate(ROWS)]  # fmt: skip
    found = check(written(tmp_path / "v.csv", rows, delimiter))
    assert (found.votes, found.text_columns) == (12, ["text"])
    assert "12 rows on 24 lines" in "".join(found.remarks)


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_separator_that_excel_names_is_taken(tmp_path, block, delimiter, end):
    path = written(tmp_path / "v.csv", ROWS, delimiter, f"sep={delimiter}{end}")
    found = check(path)
    assert found.labels == {"no": 4, "yes": 8}
    path.write_text(path.read_text() + "x\n")
    assert "line 15" in "".join(check(path, 2).faults)
    rows = [("uid", "yes", "no"), *((f"x{k}", "0.75", "0.25") for k in range(6))]
    predicted = written(tmp_path / "p.csv", rows, delimiter, f"sep={delimiter}{end}")
    votes = load_all_votes(str(written(tmp_path / "w.csv", ROWS, ",")))
    assert read_predictions(predicted, votes)[0].probabilities.shape == (6, 2)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_columns_without_name_and_value_and_rows_without_value_are_left_out(
    tmp_path, block, delimiter
):
    plain = check(written(tmp_path / "v.csv", ROWS, delimiter))
    blank = [("", "", " ", "", "", "", "")] * 3
    rows = [("", *row, "", "") for row in ROWS]
    found = check(written(tmp_path / "v.csv", rows[:5] + blank + rows[5:] + blank, delimiter))
    assert found.remarks == [*plain.remarks, "v: left out: 6 rows without any value."]
    assert (found.labels, found.other_columns) == (plain.labels, plain.other_columns)
    found = check(written(tmp_path / "v.csv", [(*row, "") for row in ROWS], delimiter))
    assert (found.remarks, found.other_columns) == (plain.remarks, plain.other_columns)


def test_columns_without_name_are_told_by_their_place(tmp_path, block):
    head, *rows = [("", *row, "", "") for row in ROWS]
    numbered = [(str(k), *row[1:]) for k, row in enumerate(rows)]
    assert check(written(tmp_path / "v.csv", [head, *numbered], ",")).other_columns == ["unnamed"]
    several = [(*row[:-1], "x") for row in numbered]
    said = check(written(tmp_path / "v.csv", [head, *several], ","), code=2)
    assert "columns 1, 7" in said
    assert "twice" not in said


def test_line_ends_in_fields_are_kept_where_a_block_ends(tmp_path, block):
    path = tmp_path / "v.csv"
    rows = [(*row[:2], f'"{row[2]}\r\nso\rit is"', row[3]) if k else row
            for k, row in enumerate(ROWS)]  # fmt: skip
    path.write_bytes("".join(",".join(row) + "\n" for row in rows).encode())
    assert check(path).reasons["text"] == "6 different on 6 items"


def test_a_separator_that_is_not_ascii_is_taken(tmp_path, block):
    plain = check(written(tmp_path / "v.csv", ROWS, ","))
    assert check(written(tmp_path / "v.csv", ROWS, "§", "sep=§\n")).labels == plain.labels


@pytest.mark.parametrize("content", ['"",', "sep=;\n;;;\n", "\n,\n , \n"])
def test_a_file_without_any_value_holds_no_votes(tmp_path, content):
    (tmp_path / "v.csv").write_text(content)
    assert "This votes file holds no votes" in check(tmp_path / "v.csv", 2)

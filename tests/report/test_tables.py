import json

import pandas as pd
import pytest
from bs4 import BeautifulSoup

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.table import Table
from chaos_utils.report.columns import Column
from chaos_utils.report.manifests import (
    Display,
    ItemCell,
    ItemText,
    VotesBar,
    WebLink,
    read_manifest,
)
from chaos_utils.report.tables import Alone, publish_table, table_html


def parse(html):
    return BeautifulSoup(html, "html.parser")


def display(run_folder):
    return read_manifest(run_folder / "figures" / "tbl-one.json").display


def test_a_table_is_written_and_set(run_folder):
    data = Table(pd.DataFrame({"dataset": ["snli"], "value": [0.25]}), ("dataset",))
    shown = publish_table("tbl-one", data, caption="One. More.")
    manifest = json.loads((run_folder / "figures" / "tbl-one.json").read_text())
    assert manifest["display"] == {"header": [["dataset"], ["value"]], "rows": [["snli", "0.25"]]}
    assert "{published} tbl-one" in shown._repr_mimebundle_()["text/markdown"]
    with pytest.raises(ChaosError, match="same id"):
        publish_table("tbl-one", data, caption="One.")


def test_headings_say_what_columns_of_the_data_are(run_folder):
    data = pd.DataFrame({"n": [1], "gap": [0.2], "low": [0.1], "high": [0.3], "x": [1], "y": [2]})
    data = data.assign(name="a")
    columns = [
        Column("from", "name"),
        Column("items", "n"),
        Column("JSD ↓", "gap", 3, "low", "high", group="distance", percent=True),
        Column("a", "x"), Column("b", "x"), Column("c", "y", at={"n": 1}),
    ]  # fmt: skip
    publish_table("tbl-one", Table(data, ("n",)), caption="One.", columns=columns)
    assert read_manifest(run_folder / "figures" / "tbl-one.json").meanings == {
        "n": "items",
        "gap": "distance: JSD; in the data a share, not a percentage",
        "low": "lower end of its interval (gap)",
        "high": "upper end of its interval (gap)",
    }


def test_what_the_book_says_of_columns_comes_before_their_headings(run_folder):
    data = pd.DataFrame({"dataset": ["snli"], "jsd": [0.2], "jsd_low": [0.1], "share": [0.3]})
    table = Table(data, ("dataset",))
    publish_table("tbl-one", table, caption="One.", columns=[Column("JSD: model", "jsd", 3)])
    meanings = read_manifest(run_folder / "figures" / "tbl-one.json").meanings
    assert set(meanings) == {"dataset", "jsd", "jsd_low"}
    assert "in nats), from 0 to 0.83; lower is better" in meanings["jsd"]
    assert meanings["jsd_low"] == "lower end of its interval (jsd)"
    publish_table("tbl-groups", table, caption="Two.", columns=[Column("between", "share", 3)])
    meanings = read_manifest(run_folder / "figures" / "tbl-groups.json").meanings
    assert meanings["share"].startswith("share of the disagreement that lies between groups")


def test_grouped_headings_span_their_columns():
    header = [["dataset", ""], ["a", "x"], ["a", "y"], ["b", "x"]]
    table = parse(table_html(Display(header=header, rows=[["s", "1", "2", "3"]])))
    heads = [dict(head.attrs) for head in table.find_all("th")]
    assert heads[0] == {"scope": "col", "rowspan": "2"}
    assert heads[1] == {"scope": "colgroup", "colspan": "2"}
    assert heads[-1] == {"scope": "row", "class": ["short"]}
    assert len(table.find_all("td", "number")) == 3


def test_a_bound_is_set_as_a_number():
    rows = [["a", "≤ 0.00018"], ["b", "< 0.001"], ["c", "0.906"], ["d", "< as said"]]
    table = parse(table_html(Display(header=[["name"], ["p"]], rows=rows)))
    numbers = [cell.text for cell in table.find_all("td", "number")]
    assert numbers == ["≤ 0.00018", "< 0.001", "0.906"]


def test_what_rows_share_heads_them(run_folder):
    rows = pd.DataFrame({"dataset": ["a", "a", "b"], "name": list("xyz"), "value": [1.5, 2, 3]})
    columns = [Column("dataset", "dataset"), Column("name", "name"), Column("value", "value", 1)]
    table = Table(rows, ("dataset", "name"))
    publish_table("tbl-one", table, caption="One.", columns=columns, groups=["dataset"])
    heads = [head["scope"] for head in parse(table_html(display(run_folder))).find_all("th")]
    assert heads == ["col", "col", "rowgroup", "row", "row", "rowgroup", "row"]


def test_some_rows_may_be_shown_alone_with_other_texts(run_folder):
    rows = pd.DataFrame({"dataset": ["snli", "snli"], "name": ["a", "b"], "all": [2, 1]})
    rows = rows.assign(few=["1", "-"], is_kept=[True, False])
    columns = [Column("dataset", "dataset"), Column("name", "name"), Column("place", "all")]
    alone = Alone(
        "Only <some>",
        lambda row: row["is_kept"],
        [Column("place", "few"), Column("dataset", lambda row: f"few of {row['dataset']}")],
    )
    table = Table(rows, ("name",))
    publish_table(
        "tbl-one", table, caption="One.", columns=columns, groups=["dataset"], alone=alone
    )
    found = display(run_folder)
    assert found.alone.label == "Only <some>"
    assert found.alone.columns == [2, 0]
    assert found.alone.rows == [["1", "few of snli"], None]
    assert "few" not in table_html(found)
    with pytest.raises(ValueError, match="not every row says"):
        Display(header=[["a"]], rows=[["1"]], alone=found.alone)


def test_everything_is_escaped():
    evil = "<script>alert(1)</script>"
    shown = Display(header=[[evil], ["b"]], rows=[[ItemCell(item=ItemText("snli", evil)), evil]])
    html = table_html(shown, lambda *_: {"premise": evil})
    assert parse(html).script is None
    assert sum(evil in text for text in parse(html).strings) == 4


def test_a_link_leads_out_of_the_book_and_nowhere_else(run_folder):
    data = Table(pd.DataFrame({"name": ["a"]}), ("name",))
    link = WebLink("<b>paper</b>", "https://example.org/a?b=1&c=2")
    publish_table("tbl-one", data, caption="One.", columns=[Column("source", lambda _: link)])
    (made,) = parse(table_html(display(run_folder))).find_all("a")
    assert (made["href"], made.text) == (link.address, link.text)
    for address in ("http://a.org", "javascript:alert(1)", 'https://a.org/"><script>', "https://"):
        with pytest.raises(ValueError, match="expected an address"):
            WebLink("paper", address)


def test_no_formula_and_no_role_is_read_in_the_data_s_texts():
    text = "$x$ and {math}`y`"
    shown = Display(header=[["a"], ["b"]], rows=[[ItemCell(item=ItemText("snli", text)), "b"]])
    html = table_html(shown, lambda *_: {text: text})
    assert not set("${") & set(html)
    assert parse(html).get_text().count(text) == 3


def test_items_take_their_text_only_where_it_is_given_and_votes_are_a_bar_with_words(run_folder):
    shown = pd.DataFrame(
        {"item": [ItemText("snli", "u1")], "votes": [VotesBar("snli", (70, 30, 0))]}
    )
    table = Table(pd.DataFrame({"uid": ["u1"]}), ("uid",))
    publish_table("tbl-one", table, caption="Items.", shown=shown)
    html = table_html(display(run_folder))
    assert "A man sleeps" not in html
    assert "A man sleeps" in table_html(display(run_folder), lambda *_: {"premise": "A man sleeps"})
    assert 'aria-label="entailment 70, neutral 30, contradiction 0"' in html
    assert html.count('class="vote"') == 2
    assert '<span class="vote" style="--light:#0072b2;--dark:#5ab4e6;width:70%">70</span>' in html


def test_no_spreadsheet_computes_what_a_table_says(run_folder):
    texts = ["=1+1", "+a", "-b", "@c", "d", None]
    rows = pd.DataFrame({"name": texts, "n": pd.Series([1, None, -3, 4, 5, 6], dtype=object)})
    publish_table("tbl-one", Table(rows, ("name",)), caption="Names.")
    folder = run_folder / "figures"
    lines = (folder / "tbl-one.csv").read_text().split("\n")
    assert lines == ["name,n", "'=1+1,1", "'+a,", "'-b,-3", "'@c,4", "d,5", ",6", ""]
    manifest = json.loads((folder / "tbl-one.json").read_text())
    assert [row["name"] for row in manifest["data"]] == texts

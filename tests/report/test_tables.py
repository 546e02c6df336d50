import json
from html.parser import HTMLParser

import pandas as pd
import pytest

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.table import Table
from chaos_utils.report.columns import Column
from chaos_utils.report.tables import Item, Votes, publish_table, table_html

EVIL = "<script>alert(1)</script>"


class Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def parse(html):
    cells = Cells()
    cells.feed(html)
    return cells


def test_a_table_is_written_and_set(run_folder):
    data = Table(pd.DataFrame({"dataset": ["snli"], "value": [0.25]}), ("dataset",))
    shown = publish_table("tbl-one", data, caption="One. More.")
    assert {path.name for path in (run_folder / "figures").iterdir()} == {
        "tbl-one.csv",
        "tbl-one.json",
    }
    manifest = json.loads((run_folder / "figures" / "tbl-one.json").read_text())
    assert manifest["display"] == {"header": [["dataset"], ["value"]], "rows": [["snli", "0.25"]]}
    assert "{published} tbl-one" in shown._repr_mimebundle_()["text/markdown"]
    with pytest.raises(ChaosError, match="same id"):
        publish_table("tbl-one", data, caption="One.")


def test_grouped_headings_span_their_columns():
    header = [["dataset", ""], ["a", "x"], ["a", "y"], ["b", "x"]]
    tags = parse(table_html({"header": header, "rows": [["s", "1", "2", "3"]]})).tags
    heads = [attributes for tag, attributes in tags if tag == "th"]
    assert heads[0] == {"scope": "col", "rowspan": "2"}
    assert heads[1] == {"scope": "colgroup", "colspan": "2"}
    assert heads[-1] == {"scope": "row", "class": "short"}
    assert sum(tag == "td" and a.get("class") == "number" for tag, a in tags) == 3


def test_what_rows_share_heads_them(run_folder):
    rows = pd.DataFrame({"dataset": ["a", "a", "b"], "name": list("xyz"), "value": [1.5, 2, 3]})
    columns = [Column("dataset", "dataset"), Column("name", "name"), Column("value", "value", 1)]
    table = Table(rows, ("dataset", "name"))
    publish_table("tbl-one", table, caption="One.", columns=columns, groups=["dataset"])
    stored = (run_folder / "figures" / "tbl-one.json").read_text()
    cells = parse(table_html(json.loads(stored)["display"]))
    heads = [known["scope"] for tag, known in cells.tags if tag == "th"]
    assert heads == ["col", "col", "rowgroup", "row", "row", "rowgroup", "row"]
    assert cells.text.count("a") == 1


def test_everything_is_escaped():
    rows = [[{"item": {"dataset": "snli", "uid": EVIL}}, EVIL]]
    html = table_html(
        {"header": [[EVIL], ["b"]], "rows": rows}, lambda dataset, uid: {"premise": EVIL}
    )
    parsed = parse(html)
    assert "script" not in {tag for tag, _ in parsed.tags}
    assert sum(EVIL in text for text in parsed.text) == 4


def test_no_formula_and_no_role_is_read_in_the_data_s_texts():
    text = "$x$ and {math}`y`"
    rows = [[{"item": {"dataset": "snli", "uid": text}}, "b"]]
    html = table_html({"header": [["a"], ["b"]], "rows": rows}, lambda *_: {text: text})
    assert not set("${") & set(html)
    assert parse(html).text.count(text) == 2


def test_items_take_their_text_only_where_it_is_given(run_folder):
    shown = pd.DataFrame({"item": [Item("snli", "u1")], "votes": [Votes("snli", (70, 30, 0))]})
    table = Table(pd.DataFrame({"uid": ["u1"]}), ("uid",))
    publish_table("tbl-items", table, caption="Items.", shown=shown)
    stored = (run_folder / "figures" / "tbl-items.json").read_text()
    display = json.loads(stored)["display"]
    assert "A man sleeps" not in table_html(display)
    assert "A man sleeps" in table_html(display, lambda dataset, uid: {"premise": "A man sleeps"})


def test_votes_are_a_bar_with_words():
    html = table_html(
        {
            "header": [["a"], ["b"]],
            "rows": [["x", {"votes": {"dataset": "snli", "counts": [70, 30, 0]}}]],
        }
    )
    assert 'aria-label="entailment 70, neutral 30, contradiction 0"' in html
    assert html.count('class="vote"') == 2
    assert '<span class="vote" style="--light:#0072b2;--dark:#5ab4e6;width:70%">70</span>' in html


def test_no_spreadsheet_computes_what_a_table_says(run_folder):
    texts = ["=1+1", "+a", "-b", "@c", "d", None]
    rows = pd.DataFrame({"name": texts, "n": pd.Series([1, None, -3, 4, 5, 6], dtype=object)})
    publish_table("tbl-names", Table(rows, ("name",)), caption="Names.")
    folder = run_folder / "figures"
    lines = (folder / "tbl-names.csv").read_text().split("\n")
    assert lines == ["name,n", "'=1+1,1", "'+a,", "'-b,-3", "'@c,4", "d,5", ",6", ""]
    manifest = json.loads((folder / "tbl-names.json").read_text())
    assert [row["name"] for row in manifest["data"]] == texts

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaos_utils.base.inputs import Input
from chaos_utils.base.table import Origin, Table, as_text, from_text, rounded, together

ONE, TWO, PAPER = (Input(name, "0" * 64) for name in ("one", "two", "paper"))


def table(*datasets, origins):
    rows = pd.DataFrame({"dataset": list(datasets), "value": [0.5] * len(datasets)})
    return Table(rows, ("dataset",), origins)


texts = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
cells = st.fixed_dictionaries(
    {
        "text": texts.filter(lambda text: text != "\\N" and "\r" not in (text or "")),
        "number": st.floats(),
        "whole": st.integers(-(2**62), 2**62),
        "few": st.none() | st.integers(-1000, 1000),
        "yes": st.booleans(),
        "perhaps": st.none() | st.booleans(),
    }
)


@settings(max_examples=40)
@given(st.lists(cells, min_size=1, max_size=5))
def test_what_is_written_is_read_again(rows):
    before = pd.DataFrame(rows).astype(
        {"few": "Int64", "perhaps": "boolean", "text": object, "number": float}
    )
    text, types = as_text(before)
    after = from_text(text, types)
    assert as_text(after) == (text, types)
    assert after["number"].to_numpy() == pytest.approx(before["number"], rel=1e-8, nan_ok=True)
    others = (one.drop(columns="number").astype(object) for one in (after, before))
    one, other = (table.where(table.notna(), None).to_dict() for table in others)
    assert one == other


def test_numbers_keep_nine_digits_so_that_processors_agree():
    noisy = pd.DataFrame({"x": [0.1 + 0.2, 1 / 3]}), pd.DataFrame({"x": [0.3, 1 / 3 + 1e-17]})
    assert rounded(noisy[0]).equals(rounded(noisy[1]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("other,n\na,1\n", "columns are"),
        ("dataset,n\na,1.5\n", "safely"),
        ("dataset,n\na\n", "NA|missing"),
    ],
)
def test_a_text_that_is_not_the_table_is_refused(text, message):
    with pytest.raises((ValueError, TypeError), match=message):
        from_text(text, {"dataset": "str", "n": "int"})
    with pytest.raises(TypeError, match="column 'x' holds"):  # what no text could hold
        as_text(pd.DataFrame({"x": [(1, 2)]}))


def test_keys_tell_all_rows_apart():
    with pytest.raises(ValueError, match="two rows have one key"):
        table("snli", "snli", origins={})
    with pytest.raises(ValueError, match="no key columns"):
        Table(pd.DataFrame({"a": [1]}), ("b",))


def test_only_the_inputs_of_the_rows_that_are_there_count():
    origins = {"snli": Origin((ONE,)), "mnli": Origin((TWO,), recorded=True), "": Origin((PAPER,))}
    both = table("snli", "mnli", origins=origins)
    assert both.inputs == (ONE, PAPER, TWO)
    assert both.recorded == ["mnli"]
    assert both.on("snli").inputs == (ONE, PAPER)
    assert both.where(both.rows["dataset"] == "mnli").inputs == (PAPER, TWO)
    empty = table(origins={"dices": Origin((Input("unused", "0" * 64),))})
    joined = together([both.on("snli"), empty, both.on("mnli")])
    assert joined.rows.equals(both.rows)
    assert joined.inputs == both.inputs

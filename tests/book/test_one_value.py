"""One quantity has one value, whichever table of the book shows it."""

import json
import math

import pytest

from chaos_utils.metrics.measures import MEASURES
from chaos_utils.scoring.worth import NAMES, PEOPLE, PEOPLE_RECALIBRATED

WHO = ("system", "model", "inputs", "stacked", "crowd")
KNOWN = {*MEASURES, *NAMES}
# What says nothing of which quantity it is: as it is, by these votes, for all items.
PLAIN = {
    "source": "computed",
    "temperature": 1,
    "map": "as it is",
    "access": "text",
    "group": "all",
}
FIT = {"map": "affine", "objective": "kl"}  # that which recalibrates
APART = ("value", "text", "note", "kind", "family", "origin", "label", "first", "by", "maker")
SAID_BY_ITEMS = ("dataset", "measure", "pool")  # keys of rows that differ in their items, too
NEAR = 2e-5  # that two ways to find one map come to


def values_of(manifest):
    """Yield what each row says: which quantity it is, as one key, and its value.

    A row of a long table has a measure; one of a wide table has a column for each of several. Rows
    that do not say how many items they are of are left out.
    """
    keys = [name for name in manifest["keys"] if name not in (*SAID_BY_ITEMS, *WHO)]
    for row in manifest["data"]:
        who = next((row[name] for name in WHO if row.get(name)), None)
        if who is None or row.get("n_items") is None:
            continue
        about = {name: row[name] for name in keys if name in row}
        about = {
            name: value for name, value in about.items()
            if value not in ("", None) and PLAIN.get(name) != value
        }  # fmt: skip
        if "stacked" in row:  # by one map, whatever it takes
            about["map"] = "stack"
        found = {row["measure"]: row["value"]} if "measure" in row else row
        for name, value in found.items():
            measure, told = name, dict(about)
            if name == "people":
                measure = PEOPLE
                if FIT.items() <= told.items() and len(told) == len(FIT):
                    measure, told = PEOPLE_RECALIBRATED, {}
            if measure in KNOWN and isinstance(value, int | float) and math.isfinite(value):
                which = tuple(sorted((key, str(one)) for key, one in told.items()))
                yield (row["dataset"], row["n_items"], who, which, measure), float(value)


def conflicts(manifests):
    """Return the quantities that have two values, each with the tables that show them."""
    seen, found = {}, {}
    for manifest in manifests:
        for key, value in values_of(manifest):
            other, where = seen.setdefault(key, (value, manifest["id"]))
            if abs(value - other) > NEAR * max(1, abs(other)):
                found.setdefault(key, {where: other})[manifest["id"]] = value
    return found


def table(id, keys, *rows):
    return {"id": id, "keys": keys, "data": list(rows)}


def test_two_values_are_found_and_what_differs_in_its_fit_is_not():
    common = {"dataset": "snli", "n_items": 9}
    of_map = common | {"inputs": "a", "access": "text", "map": "affine", "objective": "kl"}
    keys = ["dataset", "access", "inputs", "map", "objective"]
    wide = table("wide", keys, of_map | {"people": 2.7, "jsd": 0.2},
                 of_map | {"objective": "jsd", "people": None, "jsd": 0.1})  # fmt: skip
    long = table("long", ["dataset", "system", "measure"],
                 common | {"system": "a", "measure": PEOPLE_RECALIBRATED, "value": 2.7},
                 common | {"system": "a", "measure": "jsd", "value": 0.3})  # fmt: skip
    assert not conflicts([wide, long])
    board = common | {"system": "a", "pool": "all", PEOPLE_RECALIBRATED: 2.8}
    assert conflicts([wide, table("board", ["dataset", "pool", "system"], board)])
    long["data"][0]["value"] = 3.0
    ((key, where),) = conflicts([wide, long]).items()
    assert key[-1] == PEOPLE_RECALIBRATED
    assert where == {"wide": 2.7, "long": 3.0}


@pytest.mark.slow
def test_no_table_of_the_book_says_another_value_than_another(real_checkout):
    paths = sorted((real_checkout / "_build" / "chapters").glob("*/figures/*.json"))
    manifests = [json.loads(path.read_text("utf-8")) for path in paths]
    everything = [key for one in manifests for key, _ in values_of(one)]
    assert len(everything) - len(set(everything)) > 100  # shown in more than one table
    assert not conflicts(manifests)
    # Neither says of how many items it is: how often k votes show the right label.
    by_id = {one["id"]: one["data"] for one in manifests}
    budget = {
        (row["dataset"], row["n_votes"]): row["value"]
        for row in by_id["fig-annotation-budget"]
        if (row["measure"], row["quantity"]) == ("new_accuracy", "error")
    }
    for row in by_id["tbl-crowds-votes"]:
        key = row["dataset"], row["n_votes"]
        if row["quantity"] == "label" and key in budget:
            assert row["value"] == pytest.approx(budget[key], abs=1e-9), key

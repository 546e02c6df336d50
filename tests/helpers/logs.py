"""Logs of annotators, as the book's page saves them: recorded ones, and those of a simulation."""

from pathlib import Path

LOGS = sorted((Path(__file__).parents[1] / "collection" / "logs").glob("*.json"))


def log_of(made, materials, annotator):
    """Return the events of one annotator of a simulated collection."""
    codes, expected = materials.dataset.codes, materials.expected

    def answer(kind, uids, row):
        known = kind != "item"
        return {"type": "answer", "kind": kind, "item": uids[row.item], "answer": codes[row.label],
                "expected": codes[expected[row.item]] if known else None}  # fmt: skip

    known, votes = (
        table[table["annotator"] == annotator].itertuples() for table in (made.known, made.votes)
    )
    tests = [(row, answer(row.asked, materials.pool_uids, row)) for row in known]
    checks = {row.place: event for row, event in tests if row.asked == "check"}
    items = {row.place: answer("item", materials.item_uids, row) for row in votes}
    events = [{"type": "begin"}, *(event for row, event in tests if row.asked != "check")]
    for place in sorted(checks.keys() | items.keys()):
        events.append({"type": "draw", "check": place in checks})
        events += [found[place] for found in (checks, items) if place in found]
    is_finished = made.annotators["state"].iloc[annotator] == "finished"
    return [*events, {"type": "stop"}] if is_finished else events

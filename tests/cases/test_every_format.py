"""Votes and predictions in every format: the same rows are read, the same faults are found."""

import gzip

import pytest
from helpers.commands import load
from helpers.faults import fields_of, refused
from helpers.rows import write_table

import chaos_utils as chaos

# What the sixth row is called in a fault: what an editor, or who counts, finds it by.
FORMATS = {
    "csv": "line 7", "tsv": "line 7", "json": "record[5]", "jsonl": "line 6",
    "parquet": "row 6",
}  # fmt: skip
N = 12
VOTES = [
    {"item": f"m{k}", "annotator": f"Zora{v}", "label": ["no", "yes"][(k * v) % 3 == 0]}
    for k in range(N) for v in range(4)
]  # fmt: skip
PREDICTED = [{"uid": f"m{k}", "no": 0.25 + k / 64, "yes": 0.75 - k / 64} for k in range(N)]
DATASET = """
name: v
title: V
labels: ['no', 'yes']
files: [{name: votes.FORMAT}]
reader: {format: long, annotator: annotator}
"""


def changed(rows, k, **values):
    return [row | values if i == k else row for i, row in enumerate(rows)]


def without(rows, *names):
    return [{name: value for name, value in row.items() if name not in names} for row in rows]


# Rows, and what stands in the fields of the fault, PLACE for what the format calls the sixth row.
OF_VOTES = {
    "no identifier": (changed(VOTES, 5, item=""), {"any": ("item", "identifier")}),
    "nobody": (changed(VOTES, 5, annotator=""), {"any": ("annotator", "identifier")}),
    "twice": ([*VOTES, VOTES[5]], {"any": "second vote on item 'm1'"}),
    "no label of these": (changed(VOTES, 5, label="purple"), {"found": ("'purple'", "PLACE")}),
    "no column": (without(VOTES, "label"), {"any": "no column 'label'"}),
}
OF_PREDICTIONS = {
    "no identifier": (changed(PREDICTED, 5, uid=""), {"any": "uid"}),
    "twice": ([*PREDICTED, PREDICTED[5]], {"any": "uid 'm5' again"}),
    "not a number": (changed(PREDICTED, 5, no=float("nan")), {"found": "PLACE"}),
    "below zero": (changed(PREDICTED, 5, no=-0.25, yes=1.25), {"found": ("-0.25", "PLACE")}),
    "sum": (changed(PREDICTED, 5, yes=0.5), {"any": "sum"}),
    "percent": ([row | {"no": 25, "yes": 75} for row in PREDICTED], {"todo": "divide by 100"}),
    "a part": (PREDICTED[:9], {"any": ("3 of 12", "m9")}),
    "others": ([row | {"uid": f"x{k}"} for k, row in enumerate(PREDICTED)], {"any": ("x0", "m0")}),
    "no column": (without(PREDICTED, "yes"), {"any": "yes"}),
}
DAMAGED = {
    "empty": lambda content: b"",
    "cut off": lambda content: content[: len(content) * 2 // 3],
    "packed": lambda content: gzip.compress(content, mtime=0),
    "another encoding": lambda content: content.decode("latin-1").encode("utf-16"),
}


def fields_in(form, fields):
    """Return what a format's fault holds, field by field."""
    texts = {name: (one,) if isinstance(one, str) else one for name, one in fields.items()}
    return {
        name: tuple(text.replace("PLACE", FORMATS[form]) for text in each)
        for name, each in texts.items()
    }


def described(folder, form, rows):
    """Write votes and the YAML file that describes them; return that."""
    write_table(folder / f"votes.{form}", rows)
    (folder / "votes.yml").write_text(DATASET.replace("FORMAT", form))
    return folder / "votes.yml"


@pytest.fixture
def votes(tmp_path):
    return load(described(tmp_path, "csv", VOTES))


def check_fault(fault, name):
    """Hold a fault against what each keeps: its file, a place in it, and nobody's name."""
    message = str(fault.value)
    assert name in message
    assert "Zora" not in message
    assert len(message) < 1500
    assert fields_of(message)["problem"]
    assert any(fields_of(message)[one] for one in ("found", "expected", "todo")), message


@pytest.mark.parametrize("form", FORMATS)
def test_rows_are_the_same_in_every_format(tmp_path, form, votes):
    again = load(described(tmp_path, form, VOTES))
    assert (again.uids, again.counts.tolist()) == (votes.uids, votes.counts.tolist())
    assert again.annotations.annotator.tolist() == votes.annotations.annotator.tolist()
    path = write_table(tmp_path / f"model.{form}", PREDICTED)
    (system,) = chaos.read_predictions(path, votes)
    assert system.probabilities[:, 0].tolist() == [row["no"] for row in PREDICTED]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("case", OF_VOTES)
def test_a_fault_of_votes_is_the_same_in_every_format(tmp_path, form, case):
    rows, fields = OF_VOTES[case]
    with refused(**fields_in(form, fields)) as fault:
        load(described(tmp_path, form, rows))
    check_fault(fault, f"votes.{form}")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("case", OF_PREDICTIONS)
def test_a_fault_of_predictions_is_the_same_in_every_format(tmp_path, form, case, votes):
    rows, fields = OF_PREDICTIONS[case]
    path = write_table(tmp_path / f"model.{form}", rows)
    with refused(**fields_in(form, fields)) as fault:
        chaos.read_predictions(path, votes)
    check_fault(fault, f"model.{form}")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_file_is_refused_in_every_format(tmp_path, form, case, votes):
    path, model = described(tmp_path, form, VOTES), tmp_path / f"model.{form}"
    write_table(model, PREDICTED)
    for file in (tmp_path / f"votes.{form}", model):
        file.write_bytes(DAMAGED[case](file.read_bytes()))
    with refused() as fault:
        load(path)
    check_fault(fault, f"votes.{form}")
    with refused() as fault:
        chaos.read_predictions(model, votes)
    check_fault(fault, f"model.{form}")

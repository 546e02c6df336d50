"""Votes as other tools export them: what the book's table says of each is what reads it."""

import json
import re

import pandas as pd
import pytest
from helpers.checkout import PROJECT
from typer.testing import CliRunner

from chaos_utils.cli.__main__ import app
from chaos_utils.datasets.loading import load_all_votes

COUNTS = [[2, 0], [1, 1]]  # what the files below hold: ham, spam
LABELS = {"ham", "spam"}


def task(number, *votes, cancelled=False):
    """Return a task of Label Studio with who gave which label."""
    annotations = [
        {
            "id": 10 * number + k,
            "completed_by": who,
            "was_cancelled": cancelled and k == 2,
            "lead_time": 3.1,
            "result": [
                {
                    "id": f"r{k}", "from_name": "kind", "to_name": "text", "type": "choices",
                    "origin": "manual", "value": {"choices": [label]},
                }
            ],
        }
        for k, (who, label) in enumerate(votes)
    ]  # fmt: skip
    return {"id": number, "data": {"text": f"text {number}"}, "annotations": annotations,
            "drafts": [], "predictions": [], "meta": {}}  # fmt: skip


TASKS = [task(1, (7, "ham"), (8, "ham"), (9, "spam"), cancelled=True),
         task(2, (7, "spam"), (8, "ham"))]  # fmt: skip
ROWS = [(1, "w1", "ham"), (1, "w2", "ham"), (2, "w1", "spam"), (2, "w2", "ham")]


def table(*columns, rows=ROWS, sep=","):
    return "\n".join(sep.join(map(str, row)) for row in [columns, *rows]) + "\n"


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def parquet(**columns):
    return pd.DataFrame(columns).to_parquet()


# The columns are those that label-studio-sdk 2.1.2's converter makes of `TASKS`.
MIN = [
    {"text": f"text {item}", "id": item, "kind": label, "annotator": who, "annotation_id": k,
     "created_at": None, "updated_at": None, "lead_time": 3.1}
    for k, (item, who, label) in enumerate(ROWS)
]  # fmt: skip
PRODIGY = [
    {"text": f"text {item}", "_input_hash": item, "_task_hash": -item, "options": [],
     "accept": [label], "answer": "accept", "_annotator_id": who}
    for item, who, label in ROWS
] + [{"_input_hash": 2, "accept": [], "answer": "ignore", "_annotator_id": "w3"}]  # fmt: skip
MTURK = [(item, f"a{k}", who, "Approved", f"text {item}", label)
         for k, (item, who, label) in enumerate(ROWS)]  # fmt: skip
MTURK += [(2, "a9", "w3", "Rejected", "text 2", "spam")]
ONE_HOT = [(item, who, *(str(label == one).lower() for one in ("ham", "spam")))
           for item, who, label in ROWS]  # fmt: skip
FILES = {
    "Label Studio, JSON": {"export.json": json.dumps(TASKS)},
    "Label Studio, JSON-MIN": {"export.json": json.dumps(MIN)},
    "Label Studio, CSV": {"export.csv": pd.DataFrame(MIN).sort_index(axis=1).to_csv(index=False)},
    "Argilla": {
        "records.json": json.dumps(
            [
                {"id": "1", "text": "text 1", "label.responses": ["ham", "ham", "spam"],
                 "label.responses.users": ["u1", "u2", "u3"],
                 "label.responses.status": ["submitted", "submitted", "draft"]},
                {"id": "2", "text": "text 2", "label.responses": ["spam", "ham"],
                 "label.responses.users": ["u1", "u2"],
                 "label.responses.status": ["submitted", "submitted"]},
            ]
        )
    },
    "Prodigy": {"votes.jsonl": lines(*PRODIGY)},
    "doccano, a list of annotations": {
        "export.jsonl": lines(
            *({"id": n, "text": f"text {n}", "annotations": [
                {"label": label, "user": who} for item, who, label in ROWS if item == n
            ]} for n in (1, 2))
        )
    },
    "doccano, a file per user": {
        f"{who}.jsonl": lines(
            *({"id": item, "text": f"text {item}", "label": [label]}
              for item, one, label in ROWS if one == who)
        )
        for who in ("w1", "w2")
    },
    "Potato, Parquet": {
        "annotations.parquet": parquet(
            instance_id=[row[0] for row in ROWS], user_id=[row[1] for row in ROWS],
            kind=[row[2] for row in ROWS],
        )
    },
    "Potato, CSV": {
        "annotations.csv": table("instance_id", "user_id", "kind.ham", "kind.spam", rows=ONE_HOT)
    },
    "Mechanical Turk": {
        "batch.csv": table("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Input.text",
                           "Answer.kind.label", rows=MTURK)
    },
    "crowd-kit": {"votes.csv": table("task", "worker", "label")},
    "Toloka": {
        "assignments.tsv": table("INPUT:text", "ASSIGNMENT:worker_id", "OUTPUT:result",
                                 rows=[(f"text {i}", *row) for i, *row in ROWS], sep="\t")
    },
    "datasets with list columns": {
        "train.parquet": parquet(text=["text 1", "text 2"],
                                 labels=[["ham", "ham"], ["spam", "ham"]])
    },
    "LeWiDi 2023": {
        "train.json": json.dumps(
            {"1": {"text": "text 1", "annotations": "ham,ham", "annotators": "Ann1,Ann2"},
             "2": {"text": "text 2", "annotations": "spam,ham", "annotators": "Ann1,Ann3"}}
        )
    },
    "LeWiDi 2025": {
        "train.json": json.dumps(
            {"0": {"text": "text 1", "annotations": {"Ann1": "ham", "Ann2": "ham"},
                   "soft_label": {"ham": 1.0}},
             "1": {"text": "text 2", "annotations": {"Ann1": "spam", "Ann2": "ham"}}}
        )
    },
    "JUDGE-BENCH": {
        "data.json": json.dumps(
            {"dataset": "mail", "instances": [
                {"id": 1, "instance": "text 1", "annotations": {"kind": {
                    "individual_human_scores": ["ham", "ham"]}}},
                {"id": 2, "instance": "text 2", "annotations": {"kind": {
                    "individual_human_scores": ["spam", "ham"]}}},
            ]}
        )
    },
}  # fmt: skip
ROW = re.compile(r"^\| ([^|]+) \| `+([^`|]+)`+ \|", re.MULTILINE)
PAGE = (PROJECT / "book" / "datasets.md").read_text("utf-8")
FROM_YOUR_TOOL = dict(ROW.findall(PAGE.partition("## From your tool")[2].partition("\n## ")[0]))


def test_the_table_names_every_tool_that_is_read():
    assert list(FROM_YOUR_TOOL) == list(FILES)


@pytest.mark.parametrize("tool", FILES)
def test_the_page_says_how_a_tool_s_votes_are_read(tmp_path, tool):
    for name, content in FILES[tool].items():
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
    said = FROM_YOUR_TOOL[tool]
    first = next(iter(FILES[tool]))
    dataset = tmp_path / "mine.yml"
    if said.startswith("chaos dataset init"):
        words = said.split()[1:]
        done = CliRunner().invoke(
            app, [str(tmp_path / word) if word == first else word for word in words]
            + ["--out", str(dataset)],
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        assert "fault" not in done.output
    else:
        files = ", ".join(f"{{name: {name}}}" for name in FILES[tool])
        labels = "[ham, spam]"
        if "kind.ham" in said:
            labels = "[{name: ham, code: kind.ham}, {name: spam, code: kind.spam}]"
        dataset.write_text(
            f"name: mine\ntitle: Mine\nlabels: {labels}\nfiles: [{files}]\nreader: {said}\n"
        )
    (votes,) = load_all_votes(str(dataset))
    order = [votes.dataset.labels.index(name) for name in ("ham", "spam")]
    assert votes.counts[:, order].tolist() == COUNTS
    if tool not in ("datasets with list columns", "JUDGE-BENCH"):
        assert votes.annotations is not None
    if tool in ("Label Studio, JSON", "Argilla", "Prodigy", "Mechanical Turk"):
        assert "left out: 1 row where" in " ".join(votes.notes)

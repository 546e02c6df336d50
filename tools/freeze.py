"""Run some 150 commands on good and bad input, and write what each prints, for a comparison.

    python tools/freeze.py BEFORE; git switch …; python tools/freeze.py AFTER; diff -r BEFORE AFTER

Each command runs in a process of its own, in a folder of small files that this program makes, the
same in every run. In the output folder, `<number>-<command>.txt` has the command, its exit code,
and what it printed.
"""

import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

LABELS = ["friendly", "neutral", "rude"]
N_ITEMS, N_PEOPLE = 40, 6
_PREDICTION_OPTIONS = (
    "", "--bootstrap 0", "--json", "--csv --bootstrap 0", "--markdown --bootstrap 0",
    "--latex --bootstrap 0", "--measures all --bootstrap 0", "--measures jsd,kl --seed 3",
    "--measures people_on_top,sq_distance", "--dataset nothing", "--measures nothing",
    "--bootstrap -1",
)  # fmt: skip


def votes() -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table with a row per vote, and the counts, of shape (n_items, n_labels)."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet([1.0, 0.7, 0.5], N_ITEMS)
    rows = [
        (f"m{i}", f"w{a}", LABELS[rng.choice(3, p=truth[i])], f"message number {i}")
        for i in range(N_ITEMS)
        for a in rng.permutation(9)[:N_PEOPLE]
    ]
    table = pd.DataFrame(rows, columns=["item", "annotator", "label", "text"])
    counts = table.groupby(["item", "label"]).size().unstack(fill_value=0)
    return table, counts.loc[[f"m{i}" for i in range(N_ITEMS)], LABELS].to_numpy()


def write_votes(folder: Path) -> Iterator[str]:
    """Write votes in every layout, and yield the files' names."""
    table, counts = votes()
    plain = table.drop(columns="text")
    plain.to_csv(folder / "long.csv", index=False)
    plain.to_csv(folder / "long.tsv", index=False, sep="\t")
    plain.to_csv(folder / "semicolons.csv", index=False, sep=";")
    table.to_csv(folder / "texts.csv", index=False)
    plain.to_json(folder / "long.jsonl", orient="records", lines=True)
    plain.to_json(folder / "long.json", orient="records", indent=2)
    table.to_parquet(folder / "texts.parquet", index=False)
    uids = [f"m{i}" for i in range(N_ITEMS)]
    wide = pd.DataFrame(counts, columns=LABELS)
    wide.insert(0, "uid", uids)
    wide.to_csv(folder / "counts.csv", index=False)
    by_item = table.groupby("item", sort=False)
    lists = by_item.agg(labels=("label", list), annotators=("annotator", list)).reset_index()
    lists.to_json(folder / "lists.jsonl", orient="records", lines=True)
    lists.drop(columns="annotators").to_parquet(folder / "lists.parquet", index=False)
    annotator_columns = pd.DataFrame(
        lists["labels"].tolist(), columns=[f"rater_{k}" for k in range(N_PEOPLE)]
    )
    annotator_columns.insert(0, "id", uids)
    annotator_columns.to_csv(folder / "columns.csv", index=False)
    by_uid = {
        uid: {"text": f"message {uid}", "annotations": dict(zip(annotators, labels, strict=True))}
        for uid, labels, annotators in lists.itertuples(index=False)
    }
    (folder / "keyed.json").write_text(json.dumps(by_uid))
    yield from (
        "long.csv", "long.tsv", "semicolons.csv", "texts.csv", "long.jsonl", "long.json",
        "texts.parquet", "counts.csv", "lists.jsonl", "lists.parquet", "columns.csv", "keyed.json",
    )  # fmt: skip


def write_bad_votes(folder: Path) -> Iterator[str]:
    """Write faulty files of votes, and yield their names."""
    lines = (folder / "long.csv").read_text().splitlines()
    texts = {
        "empty.csv": "",
        "header.csv": lines[0] + "\n",
        "short_row.csv": "\n".join([*lines[:9], "m1,w1", *lines[9:]]),
        "long_row.csv": "\n".join([*lines[:9], "m1,w1,rude,more", *lines[9:]]),
        "no_label.csv": "\n".join([*lines[:9], "m39,w8,", *lines[9:]]),
        "no_item.csv": "\n".join([*lines[:9], ",w8,rude", *lines[9:]]),
        "no_annotator.csv": "\n".join([*lines[:9], "m39,,rude", *lines[9:]]),
        "twice.csv": "\n".join([*lines, lines[1], lines[2]]),
        "one_label.csv": "item,label\n" + "a,x\n" * 4 + "b,x\n" * 4,
        "quote.csv": "\n".join([*lines[:5], 'm1,w1,"rude', *lines[5:]]),
        "unknown_columns.csv": "one,two\n1,2\n3,4\n",
        "two_columns.csv": "item,label,answer\na,x,y\na,y,x\n",
        "case.csv": "\n".join([*lines, "m0,w0x,Friendly"]),
        "nan.csv": "\n".join([*lines, "m0,w0x,nan"]),
        "shares.csv": "uid,a,b\nu1,0.25,0.75\nu2,0.5,0.5\n",
        "negative.csv": "uid,a,b\nu1,-1,3\nu2,2,2\n",
        "ratings.csv": "item,label\n" + "".join(f"i{k},{k * 1.37:.2f}\n" for k in range(60)),
        "cut_off.json": (folder / "long.json").read_text()[:900],
        "cut_off.jsonl": (folder / "long.jsonl").read_text()[:900],
        "twice_a_key.json": '[{"item": 1, "item": 2, "label": "a"}]',
        "not_utf8.csv": None,
        "packed.csv": None,
    }
    for name, text in texts.items():
        if text is not None:
            (folder / name).write_text(text)
    (folder / "not_utf8.csv").write_bytes("item,label\na,né\nb,x\n".encode("latin-1"))
    (folder / "packed.csv").write_bytes(b"\x1f\x8b\x08\x00abc")
    yield from texts
    yield "missing.csv"


def write_predictions(folder: Path) -> Iterator[str]:
    """Write predictions in every format, and yield the files' names."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.dirichlet([2.0, 1.0, 1.0], N_ITEMS), columns=LABELS)
    table.insert(0, "uid", [f"m{i}" for i in range(N_ITEMS)])
    table.to_csv(folder / "model.csv", index=False)
    table.to_parquet(folder / "model.parquet", index=False)
    records = table.to_dict("records")
    two_models = [{"model": name} | row for name in ("first", "second") for row in records]
    pd.DataFrame(two_models).to_csv(folder / "two_models.csv", index=False)
    probs = {row["uid"]: {"uid": row["uid"], "probs": [row[label] for label in LABELS]}
             for row in records}  # fmt: skip
    (folder / "release.json").write_text(json.dumps({"some-model": probs}))
    lines = "".join(json.dumps(entry) + "\n" for entry in probs.values())
    (folder / "probs.jsonl").write_text(lines)
    samples = [{"uid": f"m{i}", "sample": LABELS[rng.integers(3)]} for i in range(N_ITEMS)
               for _ in range(4)]  # fmt: skip
    pd.DataFrame(samples).to_csv(folder / "drawn.csv", index=False)
    batch = "".join(
        json.dumps({"custom_id": f"m{i}", "error": None, "response": {"status_code": 200, "body": {
            "model": "lm", "choices": [{"index": 0, "message": {"content": LABELS[i % 3]}}]}}})
        + "\n"
        for i in range(N_ITEMS)
    )  # fmt: skip
    (folder / "batch.jsonl").write_text(batch)
    yield from (
        "model.csv", "model.parquet", "two_models.csv", "release.json", "probs.jsonl",
        "drawn.csv", "batch.jsonl",
    )  # fmt: skip


def write_bad_predictions(folder: Path) -> Iterator[str]:
    """Write faulty predictions, and yield the files' names."""
    lines = (folder / "model.csv").read_text().splitlines()
    head, rows = lines[0], lines[1:]
    texts = {
        "p_empty.csv": "",
        "p_short.csv": "\n".join([head, *rows[:-3]]),
        "p_twice.csv": "\n".join([head, *rows, rows[0]]),
        "p_unknown.csv": "\n".join([head, *rows, "other,.2,.3,.5"]),
        "p_sum.csv": "\n".join([head, *rows[1:], "m0,.2,.3,.9"]),
        "p_text.csv": "\n".join([head, *rows[1:], "m0,a,.3,.7"]),
        "p_negative.csv": "\n".join([head, *rows[1:], "m0,-.2,.5,.7"]),
        "p_columns.csv": "\n".join([head.replace("rude", "ruder"), *rows]),
        "p_no_uid.csv": "\n".join([head.replace("uid", "name"), *rows]),
        "p_order.csv": "\n".join(["uid,rude,friendly,neutral", *rows]),
        "p_cut_off.json": (folder / "release.json").read_text()[:700],
        "p_answers.csv": "uid,sample\n" + "".join(f"m{i},maybe\n" for i in range(N_ITEMS)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    yield from texts
    yield "p_missing.csv"


def commands(folder: Path) -> Iterator[str]:
    """Write the files that commands read, and yield the commands."""
    for name in [*write_votes(folder), *write_bad_votes(folder)]:
        yield f"dataset check {name}"
    for name in ("long.csv", "texts.parquet", "keyed.json", "lists.jsonl", "twice.csv"):
        yield f"dataset check {name} --json"
        yield f"dataset init {name} --out made-{name}.yml"
    yield "dataset init long.csv --out made-long.csv.yml"  # the file exists by now
    yield "dataset init ratings.csv --cut 0,20,50,90"
    yield "dataset check unknown_columns.csv --item one --label two"
    yield "dataset check long.csv --item nothing"
    yield "dataset check snli"
    for name in [*write_predictions(folder), *write_bad_predictions(folder)]:
        yield f"evaluate {name} --data long.csv --bootstrap 100"
    for options in _PREDICTION_OPTIONS:
        yield f"evaluate model.csv --data texts.csv {options}"
    for name in ("counts.csv", "lists.jsonl", "keyed.json", "columns.csv", "twice.csv", "nan.csv"):
        yield f"evaluate model.csv --data {name} --bootstrap 100 --json"
    yield "evaluate p_short.csv --data long.csv --allow-missing --bootstrap 0"
    yield "evaluate model.csv p_order.csv two_models.csv --data long.csv --bootstrap 200 --pairs"
    yield "evaluate two_models.csv --data long.csv --model first --bootstrap 0"
    yield "evaluate two_models.csv --data long.csv --model third --bootstrap 0"
    yield "evaluate two_models.csv --data long.csv --against first"
    yield "evaluate p_columns.csv --data long.csv --answers ruder=rude --bootstrap 0"
    yield "evaluate batch.jsonl --data long.csv --answers nothing=rude"
    yield "evaluate model.csv model.parquet --data long.csv --join both --bootstrap 0"
    yield "evaluate model.csv --data sample"
    yield "export batch texts.csv --model m --out requests.jsonl"
    yield "export batch long.csv --model m --out requests.jsonl"
    yield "export lm-eval texts.csv --out task"
    yield "export prompt texts.csv"
    yield "export prompt snli"
    for name in ("fig-entropy", "fig-results", "fig-nothing"):
        for kind in ("plain", "bibtex", "ris", "csl"):
            yield f"cite {name} --format {kind}"
    for name in ("annotations", "results", "crowd", "nothing"):
        yield f"params {name}"
        yield f"params {name} --json"
    yield from ("data status", "data verify", "data status --json", "runs", "runs --json", "--help")
    for name in ("evaluate", "dataset check", "dataset init", "export batch", "run", "build"):
        yield f"{name} --help"
    yield from (
        "nothing",
        "evaluate",
        "run nothing",
        "run crowd -p nothing=1",
        "run crowd -p data=x",
    )
    yield from ("votes merge missing.json --out x", "predict nothing", "finetune -p model=nothing")
    yield from ("sweep crowd -p seed=", "release missing.zip", "figures diff a b")


def run(command: str, folder: Path) -> str:
    """Run a command in a process of its own; return its exit code and what it prints."""
    output = folder / ".printed"
    if (child := os.fork()) == 0:
        code = 99  # for a crash; Python's own code, 1, is also that of a refusal
        stream = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(stream, 1)
        os.dup2(stream, 2)
        try:
            from chaos_utils.cli.__main__ import app

            app(shlex.split(command), prog_name="chaos")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return f"[exit code {code}]\n{output.read_text()}"


def freeze(out: Path) -> int:
    """Run all commands, write what they print, and return how many there are."""
    root = Path(__file__).resolve().parent.parent
    os.environ |= {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "OMP_NUM_THREADS": "1"}
    sys.path.insert(0, str(root))
    import chaos_utils.cli.__main__  # noqa: F401 - imported once, for all forked processes

    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        os.chdir(folder)
        all_commands = list(commands(folder))
        for number, command in enumerate(all_commands):
            printed = run(command, folder).replace(str(folder), "FOLDER").replace(str(root), "ROOT")
            slug = re.sub(r"\W+", "-", command)[:60].strip("-")
            (out / f"{number:03}-{slug}.txt").write_text(f"$ chaos {command}\n{printed}")
        for path in sorted(folder.glob("*.yml")) + sorted(folder.glob("requests.jsonl")):
            shutil.copy(path, out / f"made-{path.name}")
    return len(all_commands)


if __name__ == "__main__":
    print(f"{freeze(Path(sys.argv[1]).resolve())} commands")

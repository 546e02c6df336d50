"""Damage files that readers bring or are given, and read them: `loaders.py NUMBER SEED`.

Only a `ChaosError` may come of it, within five seconds and a gigabyte. Prints each other fault once
as a line of JSON, with the file that raises it; then how many files were read.
"""

import io
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from helpers.checkout import PROJECT
from helpers.datasets import write_four_labels
from helpers.manifests import make_manifest, make_record
from helpers.predictions import made_votes, released, table_of, write_chaosnli, write_csv
from helpers.predictions import write_lines as write_predicted
from helpers.rows import write_dataset

from chaos_utils.base.authorship import read_citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import UNREADABLE
from chaos_utils.base.yaml_files import read_yaml
from chaos_utils.collection.protocol import load_protocol
from chaos_utils.collection.votes import read_votes
from chaos_utils.datasets import auxiliary_data, catalogue
from chaos_utils.datasets.corpora import load_corpus
from chaos_utils.datasets.findings import check_file
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.datasets.sources import SAMPLE, extract_member
from chaos_utils.publish import landing, metadata, registry, release
from chaos_utils.recorded import read_record
from chaos_utils.report import citations
from chaos_utils.report.manifests import read_manifest
from chaos_utils.report.parameters import read_parameters, resolve
from chaos_utils.report.provenance import read_run_record
from chaos_utils.scoring.predictions import read_predictions
from chaos_utils.scoring.training_records import find_run
from chaos_utils.training.settings import complete, read_settings, recorded_settings

SECONDS, BYTES = 5, 1 << 30  # of the processor: others may need it too
_SCALAR = re.compile(rb'"[^"\n]*"|-?\d+(?:\.\d+)?|\b[a-z_]+\b')
_HOSTILE = (
    b"", b"\x00", b"\xff", b"\xef\xbb\xbf", b'"', b"'", b"\n", b"\r", b",", b"\t", b":", b"#",
    b"- ", b"[]", b"{}", b'""', b"null", b"true", b"~", b"NaN", b"-Infinity", b"-1", b"0", b"0.5",
    b"1e400", b"-1e-400", b"9" * 30, b"9" * 5000, b"[" * 5000, b'{"a":' * 2000, b"(" * 500,
    b'"\\ud800"', b'"\\u0000"', b"../../x", b"/etc", b"2026-13-45", b"2026-01-02", b"0x1f",
    b"1_000", b"&a [*a]", b"*a", b"!!python/name:os.system", b"!!binary x", b"<<: {a: 1}", b"? [a]",
    b"[1, [2]]", b'{"a": [1]}', b"\xe2\x80\xae", b"a" * 100_000, b"[" * 90, b'{"text": [' * 60,
    b"['a', 'b']", b"[0 1]", b"(" * 99, b"['" * 900, b"array([", b'"a\tb\nc"', b"sep=;\n",
    b"\xff\xfe", b"\xe4", b"\xed\xa0\x80", b"e\xcc\x81", b"\xef\xbc\x91", b"True", b"nan", b"-inf",
)  # fmt: skip
REASONS = (
    b'{"id": "1", "error_labels": ["neutral"], "neutral": [], "contradiction": [], "entailment": '
    b'[{"annotator": "1", "reason": "so", "judgments": [{"annotator": "1", "makes_sense": true}]}]}'
)


# Runs of language models: lm-evaluation-harness twice, a batch, Inspect.
RUNS = (
    b'{"doc": {"uid": "u1"}, "arguments": {"gen_args_0": {"arg_0": "Q", "arg_1": " entailment"}, '
    b'"gen_args_1": {"arg_1": " neutral"}, "gen_args_2": {"arg_1": " contradiction"}}, "resps": '
    b'[[["-1.5", "False"]]], "filtered_resps": [["-1.5", "False"], ["-0.5", "True"], ["-2", "0"]], '
    b'"filter": "none", "metrics": ["acc"]}\n',
    b'{"doc": {"uid": "u1"}, "arguments": {}, "resps": [["neutral", "maybe"]], "filtered_resps": '
    b'["neutral"], "filter": "first"}\n',
    b'{"custom_id": "u1", "response": {"status_code": 200, "body": {"model": "m", "choices": '
    b'[{"message": {"content": "neutral"}, "logprobs": {"content": [{"top_logprobs": [{"token": '
    b'"A", "logprob": -0.1}, {"token": "B", "logprob": -2.5}, {"token": "C", "logprob": -4}]}]}}]}}'
    b', "error": null}\n{"custom_id": "u2", "response": {"choices": [{"text": "A"}]}}\n',
    b'{"status": "success", "eval": {"model": "m"}, "samples": [{"id": "u1", "epoch": 1, "choices":'
    b' ["entailment", "neutral"], "output": {"choices": [{"message": {"content": "B"}}]}, "scores":'
    b' {"choice": {"answer": "B"}}, "metadata": {}}]}',
)


class Hang(BaseException):
    """It takes too long."""


def _hang(number: int, frame: object) -> None:
    raise Hang


def damaged(content: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return a file in which one to four things are wrong."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        start = rng.randrange(len(content) + 1)
        end = min(len(content), start + rng.choice((1, 1, 8, 64, 1024)))
        part = content[start:end]
        how = rng.randrange(11)
        if how == 0:
            put = bytes(byte ^ 1 << rng.randrange(8) for byte in part)
        elif how == 1:
            put = b""
        elif how == 2:
            put = part * rng.choice((2, 3, 50))
        elif how == 3:
            put = part + rng.choice(_HOSTILE)
        elif how == 4:
            put = other[start:end]
        elif how == 5:
            end, put = len(content), b""
        elif how == 6:
            start, end, put = 0, len(content), _encoded(content, rng)
        elif how == 7:
            opening, closing = rng.choice(((b"[", b"]"), (b'{"a": ', b"}"), (b"{\n", b"\n}")))
            depth = rng.choice((1, 2, 60, 150, 1200))
            start, end, put = 0, len(content), opening * depth + content + closing * depth
        else:  # a value becomes another one, mostly
            found = list(_SCALAR.finditer(content))
            put = rng.choice(_HOSTILE)
            if found:
                start, end = rng.choice(found).span()
                put = rng.choice((put, put, rng.choice(found)[0]))
        content = content[:start] + put + content[end:]
    return content


def _encoded(content: bytes, rng: random.Random) -> bytes:
    """Return a text in another encoding, or what is none with other ends of lines."""
    with suppress(ValueError):
        return content.decode().encode(rng.choice(("utf-16", "utf-8-sig", "utf-7", "latin-1")))
    return content.replace(b"\n", rng.choice((b"\r", b"\r\n", b"\x00")))


def _seeds(folder: Path) -> Iterator[tuple[str, Path, list[bytes], Callable[[Path], object]]]:
    """Yield kinds of files: a name, where a file goes, sound ones, and what reads it."""
    made, data, sample = folder / "made", folder / "data", folder / "sample"
    made.mkdir()
    write_dataset(data)
    shutil.copytree(SAMPLE, sample)
    four = write_four_labels(made)
    table = pd.read_csv(four.with_suffix(".csv"))
    wide = pd.crosstab(table["item"], table["label"]).reset_index()
    np.save(made / "array.npy", wide.iloc[:, 1:].to_numpy())
    arrays = (made / "array.npy").read_bytes()
    votes_files = [
        arrays, wide.head(9).to_csv(index=False).encode(),
        table.head(9).to_csv(index=False, sep="\t").encode(),
        table.head(9).to_json(orient="records", lines=True).encode(),
        table.head(9).to_json(orient="records").encode(), table.to_parquet(), wide.to_parquet(),
        table.head(12).to_csv(index=False).encode(),
    ]  # fmt: skip
    votes_files += [
        json.dumps(
            [
                {
                    "id": n,
                    "data": {"text": f"t {n}"},
                    "annotations": [
                        {
                            "completed_by": k,
                            "was_cancelled": False,
                            "result": [
                                {"from_name": "q", "type": "choices", "value": {"choices": [one]}}
                            ],
                        }
                        for k, one in enumerate(("a", "b"))
                    ],
                }
                for n in range(3)
            ]
        ).encode(),
        json.dumps(
            [
                {
                    "id": n,
                    "l.responses": ["a", "b"],
                    "l.responses.users": ["u", "v"],
                    "l.responses.status": ["submitted", "draft"],
                }
                for n in range(3)
            ]
        ).encode(),
        b"id,rater_1,rater_2\n1,a,b\n2,b,b\n",
        b'{"text": "t", "labels": [0, 1, 1]}\n{"text": "u", "labels": [1, 1, 1]}\n',
        json.dumps(
            {
                str(n): {
                    "text": {"context": f"c {n}", "said": ["b, so", "c"]},
                    "annotators": "u,v",
                    "annotations": {"u": "a", "v": "a,b"[: 1 + 2 * n]},
                }
                for n in range(2)
            },
            indent=4,
        ).encode(),
        b"id,labels\n1,\"['a', 'b']\"\n2,\"['b', 'b']\"\n",
        b'id,labels\n1,[0 1 1]\n2,[1 1 1]\n3,"array([0., 1.], dtype=float32)"\n',
        b'[{"item": 1, "label": true}, {"item": 1, "label": false}, {"item": 2, "label": true}]',
        pd.DataFrame({"item": [1, 1, 2], "label": [True, False, True]}).to_parquet(),
        b'item\ttext\tlabel\n1\t"so\ta\n1\tso\tb\n2\tso"\tb\n2\tso\ta\n',
        b'item\ttext\tlabel\n1\t"so\n\t1"\ta\n1\t"so\n\t1"\tb\n',
        b'sep=;\r\nitem;text;label\r\n1;"so; so";a\r\n1;"so; so";b\r\n',
        b'item,text,label\n1,"a, b\nc",a\n1,"a, b\nc",b\n',
    ]
    votes = folder / "own" / "votes.csv"
    yield "dataset check", votes, votes_files, check_file
    yield "votes", votes, votes_files, lambda path: load_all_votes(str(path))
    array = made / "array.yml"
    array.write_text("name: array\ntitle: An array\nlabels: [none, mild, strong, extreme]\n"
                     "files: [{name: array.npy}]\nreader: {format: wide}\n")  # fmt: skip
    yield "array", made / "array.npy", [arrays], lambda path: load_all_votes(str(array))
    nested = made / "nested.yml"
    nested.write_text("name: nested\ntitle: Nested\nlabels: [a, b]\nfiles: [{name: nested.json}]\n"
                      "reader: {format: long, keys: [item], each: given, annotator: key, "
                      "annotator_fields: [status], "
                      "label: given.x.0, where: {status: [ok, 1]}}\n")  # fmt: skip
    sound = (
        b'{"1": {"given": {"u": {"x": ["a"]}, "v": {"x": ["b"]}}, "status": "ok"}, "2": '
        b'{"given": {"u": {"x": ["b", "a"]}}, "status": "ok"}, "3": {"status": "no"}}'
    )
    at = made / "nested.json"
    yield "nested", at, [sound], lambda path: load_all_votes(str(nested))
    chaosnli = (data / "chaosNLI_v1.0" / "chaosNLI_snli.jsonl").read_bytes()
    rows = folder / "rows" / "chaosNLI_snli.jsonl"
    yield "ChaosNLI", rows, [chaosnli], lambda path: load_all_votes(str(path.parent))
    described = [path.read_bytes() for path in (PROJECT / "chaos_utils/datasets").glob("*.yml")]
    described += [four.read_bytes()] * len(described)
    yield "dataset", made / "some.yml", described, lambda path: load_all_votes(str(path))

    judged = made_votes(catalogue.get_dataset("snli"))
    predicted = [
        write_chaosnli(made / "p", n=5).read_bytes(), write_csv(made / "p").read_bytes(),
        write_predicted(made / "p").read_bytes(), table_of(judged).to_parquet(),
        write_predicted(made / "p", released).read_bytes(),
        b"uid,sample\nu1,neutral\nu1,entailment\nu2,neutral\n",
        b"item,n_samples,entailment,neutral,contradiction\nu1,5,2,2,1\nu2,4,4,0,0\n",
        b'{"uid": "u1", "samples": ["neutral", "entailment"]}\n', *RUNS,
        b"sep=;\nuid;entailment;neutral;contradiction\nu1;0,5;0,25;0,25\n",
        b'uid\tprobs\nu1\t"[0.5 0.25 0.25]"\nu2\t[0.4, 0.6, 0]\n',
        json.dumps({f"u{n}": [0.5, 0.25, 0.25] for n in range(3)}, indent=2).encode(),
        json.dumps([{"uid": "u1", "probs": {"entailment": 1, "neutral": 0, "contradiction": 0}}],
                   indent=1).encode(),
    ]  # fmt: skip
    read = partial(read_predictions, all_votes=[judged], allow_missing=True)
    yield "predictions", folder / "predicted" / "file", [*predicted[:8], *predicted[-4:]], read
    lettered = partial(read, answers={"A": "entailment", "B": "neutral", "C": "contradiction"})
    yield "answers", folder / "predicted" / "samples_a.jsonl", predicted, lettered
    run = PROJECT / "results" / "minilm-l6-nli-s0"
    at = folder / "run" / "run.json"
    yield (
        "run",
        at,
        [(run / "run.json").read_bytes()],
        lambda path: recorded_settings(find_run(str(path.parent)).record),
    )
    usual = b"model: tiny-bert\nseed: 3\ntrain: chaosnli\nloss: soft\nlearning_rate: 1.0e-4\n"
    yield "settings", folder / "settings.yml", [usual], _settings
    events = b"""{"protocol": "%s", "parameters": {"qualification_items": 0, "training_items": 0,
"check_rate": 0.0}, "dataset": "snli", "annotator": "a", "events": [{"type": "begin"}, {"type":
"draw", "check": false}, {"type": "answer", "kind": "item", "item": "snli-1", "answer": "e",
"expected": null}, {"type": "stop"}], "votes": [{"item": "snli-1", "label": "e"}]}"""
    events = events % load_protocol().version.encode()
    yield "votes of one's own", folder / "votes.json", [events], read_votes

    for train in sample.rglob("*train.jsonl"):
        train.write_bytes(b"".join(train.read_bytes().splitlines(keepends=True)[:8]))
    labels = sample / "alphanli" / "train-labels.lst"
    labels.write_text("1\n2\n" * 4)
    pairs, stories = sample.rglob("snli*train.jsonl"), (sample / "alphanli").glob("train.jsonl")
    for task, place in (("nli", next(pairs)), ("alphanli", next(stories)), ("alphanli", labels)):
        load = partial(load_corpus, task, "train", str(sample))
        yield f"corpus {task}", place, [place.read_bytes()], lambda path, load=load: load()
    beside = folder / "beside"
    path = beside / "varierr" / "varierr.json"
    yield "reasons", path, [REASONS], lambda path: auxiliary_data.read_varierr(str(beside))

    book = folder / "book"  # a checkout: the working directory
    (book / "notebooks").mkdir(parents=True)
    (book / "_toc.yml").write_text("root: index\n")
    os.chdir(book)
    (book / "book").mkdir()
    citation = (PROJECT / "CITATION.cff").read_bytes()
    yield "citation", book / "CITATION.cff", [citation], read_citation
    for name, read_it in (
        ("figures", registry.read_registry),
        ("redirects", registry.read_redirects),
    ):
        file = PROJECT / "book" / f"{name}.yml"
        yield (
            name,
            book / "book" / file.name,
            [file.read_bytes()],
            lambda path, read=read_it: read(),
        )
    notebook = (PROJECT / "notebooks" / "disagreement.py").read_bytes()
    yield "notebook", book / "notebooks" / "one.py", [notebook], read_parameters
    values = b"seed=1\nresamples=10\ndata=auto\nexamples=2\n"
    yield "parameters", folder / "values", [values], _resolved
    records = [p.read_bytes() for p in sorted((PROJECT / "results/tables").rglob("*.csv"))[:20]]
    yield "record", folder / "record.csv", records, read_record

    shown = [[{"item": {"dataset": "snli", "uid": "u1"}}, {"votes": {"dataset": "snli", "counts":
             [3, 2, 0]}}, "0.5"]]  # fmt: skip
    header = [["item", ""], ["people", "votes"], ["people", "share"]]
    made_from = [{"name": "a", "sha256": "0" * 64}]
    manifests = [
        make_manifest("fig-x", inputs=made_from, recorded=["snli"]),
        make_manifest("tbl-x", display={"header": header, "rows": shown, "headed": True}),
    ]
    written = [one.model_dump_json(exclude_unset=True).encode() for one in manifests]
    yield "manifest", folder / "figures" / "any.json", written, _set
    run = json.dumps(make_record(inputs=made_from, made_from={"a": "0"})).encode()
    yield (
        "record of a run",
        folder / "a-run" / "record.json",
        [run],
        lambda path: read_run_record(path.parent),
    )

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SHA256SUMS", "0  CITATION.cff\n")
        archive.writestr("CITATION.cff", (PROJECT / "CITATION.cff").read_bytes())
    yield "release", folder / "release.zip", [packed.getvalue()], release.check
    yield "archive", folder / "data.zip", [packed.getvalue()], lambda path: _arrived(path, made)


def _set(path: Path) -> None:
    """Read a manifest, and cite what it is of; make the page of a figure."""
    manifest = read_manifest(path)
    book = read_citation(PROJECT / "CITATION.cff")
    metadata.meta_tags(book, manifest, manifest.caption)
    for form in citations.FORMATS.values():
        form(book, manifest)
    if manifest.kind == "figure":
        place = landing.FigurePlace("A chapter", "../chapters/a.html", "Fig. 1", manifest.caption)
        landing.body(manifest, book, place, "chaos run a", dict.fromkeys(manifest.file_names, 1))


def _settings(path: Path) -> None:
    values = read_yaml(path)
    complete(read_settings(values if isinstance(values, dict) else {}))


def _resolved(path: Path) -> None:
    lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    given = dict(line.split("=", 1) for line in lines if "=" in line)
    resolve(PROJECT / "notebooks" / "disagreement.py", given)


def _arrived(archive: Path, folder: Path) -> None:
    with suppress(*UNREADABLE):  # as the download does
        extract_member(archive, "CITATION.cff", folder)


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def fuzz(number: int, seed: int, folder: Path) -> int:
    """Read as many damaged files, of each kind as many; print the faults; return how many."""
    rng = random.Random(seed)
    signal.signal(signal.SIGPROF, _hang)
    signal.signal(signal.SIGALRM, _hang)
    kinds = list(_seeds(folder))
    for kind, path, sound, load in kinds:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sound[-1])
        if kind != "release":  # whose sums are wrong
            load(path)
        catalogue._user_datasets.clear()
    everything = [one for _, _, sound, _ in kinds for one in sound]
    seen: set[str] = set()
    peak = _memory()
    for n in range(number):
        kind, path, sound, load = kinds[n % len(kinds)]
        content = damaged(rng.choice(sound), rng.choice(everything), rng)
        path.write_bytes(content)
        fault = ""
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.setitimer(signal.ITIMER_REAL, 20 * SECONDS)  # it may wait for something
        try:
            load(path)
        except ChaosError:
            pass
        except (Exception, Hang) as raised:
            calls = traceback.extract_tb(raised.__traceback__)
            *_, last = [one for one in calls if "chaos_utils" in one.filename] or calls
            fault = f"{kind}: {type(raised).__name__} at {last.filename}:{last.lineno}"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
        catalogue._user_datasets.clear()
        path.write_bytes(sound[-1])  # others may need it
        if _memory() - peak > BYTES:
            fault, peak = f"{kind}: {_memory() - peak:,} bytes", _memory()
        if fault and fault not in seen:
            seen.add(fault)
            kept = Path(tempfile.gettempdir()) / f"fuzz-{seed}-{n}"
            kept.write_bytes(content)
            print(json.dumps({"fault": fault, "file": str(kept)}), flush=True)
    return number


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps({"read": fuzz(int(sys.argv[1]), int(sys.argv[2]), Path(scratch))}))
        os.chdir("/")

"""What language models' runs leave behind, as rows with uid, and answers or log-likelihoods.

Samples of lm-evaluation-harness, results of an OpenAI-compatible batch, and logs of Inspect.
Answers are the model's own words: what they mean is said by a dataset's labels.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import Any

from chaos_utils.base.errors import counted
from chaos_utils.datasets.cells import as_number, dig
from chaos_utils.datasets.faults import Faults, shorten
from chaos_utils.datasets.frame import Frame

DRAWN, WEIGHTS = "samples", "tokens"  # times each answer was given; chances of each first token
UIDS = ("uid", "item", "id")  # the first that is there names the item
_LETTER = re.compile(r"[A-Z]")
Placed = Sequence[tuple[str, Mapping[str, Any]]]  # places, and what stands there by key


@dataclass(frozen=True, slots=True)
class ModelRun:
    """The rows of a run, and what is to be said of those that failed."""

    rows: Placed
    notes: tuple[str, ...] = ()
    are_logits: bool = False  # by choice

    @property
    def frame(self) -> Frame:
        """Its rows as those of a file."""
        return Frame.of_records([fields for _, fields in self.rows], lambda row: self.rows[row][0])


def read_run(path: Path, frame: Frame, faults: Faults) -> ModelRun | None:
    """Return the run that a file of JSON holds; None for any other file."""
    records = frame.records()
    keys = set(records[0]) if records else set()
    rows = [(frame.place(i), fields) for i, fields in enumerate(records)]
    for needed, read in _READERS.items():
        if keys >= set(needed):
            return read(path, rows, faults)
    if {"custom_id", "body"} <= keys:
        raise faults.fatal(
            "These are the requests of a batch, not what was answered.",
            expected="lines with `custom_id` and `response`",
            todo="send them, and give the file of responses",
        )
    if {"results", "configs"} <= keys:
        raise faults.fatal(
            "These are the results of lm-evaluation-harness, without its samples.",
            expected="samples_*.jsonl",
            todo="run it with --log_samples, and give samples_*.jsonl",
        )
    return None


def _text(content: Any) -> str:
    """Return a message's text, which may stand in parts."""
    if isinstance(content, list):
        return "".join(_text(dig(part, "text")) for part in content)
    return content if isinstance(content, str) else ""


def _name(model: str) -> str:
    """Return a model's name; one that is a path on a machine is its last part."""
    return model.rstrip("/").rpartition("/")[2] if model.startswith("/") else model


def _failed(what: str, n: int, reasons: Sequence[str]) -> tuple[str, ...]:
    if not reasons:
        return ()
    return (f"{len(reasons):,} of {counted(n, what)} failed ({shorten(reasons[0])})",)


def _of_harness(path: Path, rows: Placed, faults: Faults) -> ModelRun:
    filters = list(dict.fromkeys(str(fields.get("filter", "none")) for _, fields in rows))
    # The model is named by the folder alone, where marks as in owner/name are two underscores.
    is_of_model = path.name.startswith("samples_")
    model = _name(path.absolute().parent.name.replace("__", "/") if is_of_model else path.stem)
    found, seen = [], set()
    for place, fields in rows:
        doc = fields.get("doc")
        uid = next((one for one in (dig(doc, name) for name in UIDS) if one is not None), None)
        if uid is None:
            raise faults.fatal(
                "These samples do not say which item each is about.",
                f"{place}: doc with {', '.join(doc) if isinstance(doc, dict) else shorten(doc)}",
                "doc.uid, the uid of the item",
                "run the task that `chaos export` writes",
            )
        if fields.get("filter", "none") != filters[0]:
            continue  # the same answers, read in another way
        answers = fields.get("filtered_resps")
        if (pairs := _likelihoods(answers)) is not None:
            choices = _choices(fields.get("arguments"))
            if "acc_mutual_info" in (dig(fields, "metrics") or ()) or "acc_mutual_info" in fields:
                choices, pairs = choices[: len(choices) // 2], pairs[: len(pairs) // 2]
            if len(set(choices)) != len(pairs):
                what = f"{counted(len(choices), 'choice')}, {len(pairs)} log-likelihoods"
                faults.add(place, [f"found {what}; expected one for each choice"])
                continue
            seen.add(tuple(sorted(choices)))
            given: dict[str, Any] = dict(zip(choices, pairs, strict=True))
        else:
            raw, kept = list(_texts(fields.get("resps"))), list(_texts(answers))
            given = {DRAWN: Counter(raw if kept == raw[:1] else kept)}  # not the first alone
        found.append((place, {**given, "uid": uid, "model": model}))
    if len(seen) > 1:
        raise faults.fatal(
            "The choices differ from item to item.",
            "; ".join(", ".join(map(shorten, choices)) for choices in sorted(seen)[:2]),
            "the same choices for each item: its labels, or letters for them",
            "run the task that `chaos export` writes",
        )
    notes = ["the softmax of the choices' log-likelihoods, each summed over its tokens"]
    if not seen:
        notes = [f"answers of the filter {filters[0]}, one of {', '.join(filters)}"]
    return ModelRun(found, tuple(notes[: bool(seen) or len(filters) > 1]), bool(seen))


def _likelihoods(answers: Any) -> list[float] | None:
    """Return log-likelihoods of pairs [number, is greedy]; numbers are texts in files."""
    if not isinstance(answers, list) or len(answers) < 2:
        return None
    numbers = [as_number(one[0]) if isinstance(one, list) and len(one) == 2 else None
               for one in answers]  # fmt: skip
    return None if None in numbers else [float(one) for one in numbers if one is not None]


def _choices(arguments: Any) -> list[str]:
    """Return the continuations that were scored, in order."""
    if isinstance(arguments, Mapping):
        ordered = sorted(arguments, key=lambda name: (len(name), name))  # gen_args_2, gen_args_10
        found = [dig(arguments[name], "arg_1") for name in ordered]
    else:
        found = [dig(one, "1") for one in arguments] if isinstance(arguments, list) else []
    return [str(one).strip() for one in found]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield from _texts(one)
    else:
        yield _text(value)


def _of_batch(path: Path, rows: Placed, faults: Faults) -> ModelRun:
    found, failed = [], []
    for place, fields in rows:
        response = fields.get("response")
        body = dig(response, "body") or response  # which vLLM may leave out
        choices = dig(body, "choices")
        if fields.get("error") or not isinstance(choices, list) or not choices:
            error = fields.get("error") or dig(body, "error") or response
            failed.append(_text(dig(error, "message")) or str(error))
            continue
        answers = Counter(
            _text(dig(one, "message.content")) or _text(dig(one, "message.refusal"))
            or _text(dig(one, "text"))
            for one in choices
        )  # fmt: skip
        model = _name(_text(dig(body, "model"))) or path.stem
        tokens = _first_token(choices[0])
        given = {"uid": fields.get("custom_id"), "model": model, DRAWN: answers, WEIGHTS: tokens}
        found.append((place, given))
    return ModelRun(found, _failed("request", len(rows), failed))


def _first_token(choice: Any) -> dict[str, float] | None:
    """Return what the first token of an answer may have been, and its probability."""
    listed = dig(choice, "logprobs.content.0.top_logprobs")
    if isinstance(listed, list):
        pairs = [(dig(one, "token"), dig(one, "logprob")) for one in listed]
    else:
        older = dig(choice, "logprobs.top_logprobs.0")
        pairs = list(older.items()) if isinstance(older, Mapping) else []
    known = [(text, as_number(log)) for text, log in pairs if isinstance(text, str)]
    return {text: exp(min(log, 0)) for text, log in known if log is not None} or None


def _of_inspect(path: Path, rows: Placed, faults: Faults) -> ModelRun:
    log = rows[0][1]
    samples = log["samples"]
    if not isinstance(samples, list) or not samples:
        raise faults.fatal(
            "This log of Inspect holds no samples.", shorten(log.get("status")),
            todo="convert the whole log: inspect log convert FILE --to json --output-dir DIR",
        )  # fmt: skip
    model = _name(_text(dig(log, "eval.model"))) or path.stem
    found, failed = [], []
    for i, sample in enumerate(samples):
        if (error := dig(sample, "error")) is not None:
            failed.append(_text(dig(error, "message")) or str(error))
            continue
        scores = dig(sample, "scores")
        by_scorer = [dig(one, "answer") for one in scores.values()] if scores else []
        output = dig(sample, "output")
        said = _text(dig(output, "choices.0.message.content"))
        answer = next((one for one in by_scorer if isinstance(one, str)), said).strip()
        if isinstance(choices := dig(sample, "choices"), list) and _LETTER.fullmatch(answer):
            answer = _text(dig(choices, str(ord(answer) - ord("A")))) or answer
        uid = dig(sample, "metadata.uid")
        given = {"uid": dig(sample, "id") if uid is None else uid, "model": model}
        found.append((f"samples[{i}]", given | {DRAWN: Counter([answer])}))
    return ModelRun(found, _failed("sample", len(samples), failed))


_READERS: dict[tuple[str, ...], Callable[[Path, Placed, Faults], ModelRun]] = {
    ("doc", "arguments", "filtered_resps"): _of_harness,
    ("custom_id", "response"): _of_batch,
    ("eval", "samples"): _of_inspect,
}

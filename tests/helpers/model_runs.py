"""Runs of language models as their tools write them, made by hand."""

import json
from math import log

from helpers.predictions import shares

LABELS = ["entailment", "neutral", "contradiction"]


def sample_of(i, choices=LABELS, sure=0.8, **changes):
    """Return a line of lm-evaluation-harness: numbers are texts."""
    logs = [str(log(p) - 2) for p in shares(i, 3, sure)]
    arguments = {f"gen_args_{k}": {"arg_0": "Q:", "arg_1": f" {c}"} for k, c in enumerate(choices)}
    answers = [[one, "False"] for one in logs]
    return {
        "doc_id": i, "doc": {"uid": f"u{i}", "premise": "…"}, "target": "1",
        "arguments": arguments, "resps": [[one] for one in answers], "filtered_resps": answers,
        "filter": "none", "metrics": ["acc"], "acc": 1.0,
    } | changes  # fmt: skip


def generated(i, *texts, **changes):
    given = {"gen_args_0": {"arg_0": "Q:", "arg_1": {"until": ["\n"]}}}
    answers = {"resps": [list(texts)], "filtered_resps": [texts[0]]}
    return sample_of(i, arguments=given, **answers, **changes)


def answered(i, *texts, **changes):
    """Return a line of an OpenAI-compatible batch."""
    choices = [{"index": k, "message": {"content": one}} for k, one in enumerate(texts)]
    body = {"model": "some-model", "choices": choices}
    response = {"status_code": 200, "body": body}
    return {"custom_id": f"u{i}", "response": response, "error": None} | changes


def with_tokens(i, tokens):
    line = answered(i, LABELS[i % 3])
    listed = [{"token": text, "logprob": log(p)} for text, p in tokens.items()]
    logprobs = {"content": [{"token": next(iter(tokens)), "top_logprobs": listed}]}
    line["response"]["body"]["choices"][0]["logprobs"] = logprobs
    return line


def log_of(samples, **changes):
    """Return a log of Inspect."""
    log = {"version": 2, "status": "success", "eval": {"model": "openai/some"}, "samples": samples}
    return json.dumps(log | changes)


def inspected(i, answer, epoch=1, **changes):
    return {
        "id": f"u{i}", "epoch": epoch, "choices": LABELS, "target": "A",
        "output": {"choices": [{"message": {"content": f"ANSWER: {answer}"}}]},
        "scores": {"choice": {"value": "I", "answer": answer}}, "metadata": {},
    } | changes  # fmt: skip


def places(value, path=()):
    """Yield the path of each part of a value of JSON, the whole first."""
    yield path
    keys = range(len(value)) if isinstance(value, list) else value
    for key in keys if isinstance(value, dict | list) else ():
        yield from places(value[key], (*path, key))


def put(value, path, odd):
    """Return a copy with another value at a path."""
    if not path:
        return odd
    copy = value.copy()
    copy[path[0]] = put(value[path[0]], path[1:], odd)
    return copy

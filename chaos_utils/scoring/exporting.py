"""What a run of a language model needs: a task or a batch of requests, with the reader's texts.

The answers are read as any predictions are: each request carries the item's uid, and so does its
answer. How the model is asked, one of `asking.WAYS`, decides the question and the request.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import yaml

from chaos_utils.base.errors import ChaosError, check_known, counted
from chaos_utils.base.files import check_free, write_text
from chaos_utils.base.inputs import OWN
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.votes import Votes
from chaos_utils.scoring.asking import LABEL, LOGPROBS, PERCENTAGES, SAMPLES

_FIELD = re.compile(r'\{([^{}"\n]+)\}')  # other braces, such as JSON's, are left as text
OPTIONS = "options"  # in a prompt: the labels, a line each, with their letters

# What is asked below the texts and labels. Drawn answers and probabilities of the first token are
# about the model's own answer, a single label about the likeliest, and percentages about people.
_QUESTIONS = {
    LABEL: "Which label would most people choose? Answer with its letter alone.\nAnswer:",
    SAMPLES: "Which label fits? Answer with its letter alone.\nAnswer:",
    LOGPROBS: "Which label fits? Answer with its letter alone.\nAnswer:",
    PERCENTAGES: "How many of a hundred people would choose each label? Answer with a line for "
    "each letter: the letter, a colon and the percentage, and nothing else. The percentages sum to "
    "100.",
}
_ANSWER_TOKENS = 16  # at most, per answer, and per label of stated percentages
_MOST_LOGPROBS = 20  # servers return no more


def letters(dataset: Dataset) -> dict[str, str]:
    """Return the label that each letter stands for, from A; a model answers with a letter.

    Letters have one length and labels do not: a longer label would be a less likely continuation.
    """
    if dataset.n_classes > len(ascii_uppercase):
        raise ChaosError(
            "There are more labels than letters.",
            where=dataset.title,
            found=counted(dataset.n_classes, "label"),
            expected=f"{len(ascii_uppercase)} at most",
        )
    return dict(zip(ascii_uppercase, dataset.labels, strict=False))


def default_prompt(dataset: Dataset, way: str) -> str:
    """Return the prompt that is used where the reader has none, for a way of asking."""
    titled_fields = zip(dataset.text_titles, dataset.text_fields, strict=True)
    texts = "\n".join(
        f"{title[0].upper()}{title[1:]}: {{{field}}}" for title, field in titled_fields
    )
    return f"{texts}\n\n{{{OPTIONS}}}\n\n{_QUESTIONS[way]}"


def fill(votes: Votes, way: str, prompt: str = "", where: object = None) -> list[str]:
    """Return the prompt for each item, with the item's texts in place of ``{field}``.

    An empty `prompt` stands for that of the `way` of asking; `where` names its file in messages.
    """
    dataset, votes_file = votes.dataset, votes.source.name.removeprefix(OWN)
    if not dataset.text_fields or not votes.texts:
        raise ChaosError(
            f"{dataset.title} has no texts, and a language model needs them.",
            where=votes_file,
            expected="the items' texts",
            todo="if its files hold them, name their columns in its YAML file: `texts: [text]`; "
            "`chaos dataset init` writes one",
        )
    for uid, texts in zip(votes.uids, votes.texts, strict=True):
        if not any(texts.get(field, "").strip() for field in dataset.text_fields):
            raise ChaosError(
                "An item has no text.", where=votes_file, found=uid,
                expected=f"a text as {' or '.join(dataset.text_fields)}",
            )  # fmt: skip
    prompt = prompt or default_prompt(dataset, way)
    fields_in_prompt = _FIELD.findall(prompt)
    known = [*dataset.text_fields, OPTIONS]
    for name in fields_in_prompt:
        problem, field = "The prompt names a field that there is not.", f"{{{name}}}"
        check_known(problem, name, known, where=where, found=field)
    if not set(fields_in_prompt) & set(dataset.text_fields):
        raise ChaosError(
            "The prompt shows none of the item's texts.", where=where,
            expected=" or ".join(f"{{{field}}}" for field in dataset.text_fields),
        )  # fmt: skip
    options = "\n".join(f"{letter}. {label}" for letter, label in letters(dataset).items())
    return [_fill_fields(prompt, {OPTIONS: options, **texts}) for texts in votes.texts]


def _fill_fields(prompt: str, values: Mapping[str, str]) -> str:
    return _FIELD.sub(lambda match: values[match[1]], prompt)


def write_task(votes: Votes, prompts: Sequence[str], to: Path, force: bool) -> str:
    """Write a task of lm-evaluation-harness into a folder, and return its name.

    Its ``doc`` holds the uid, the prompt and, for the harness's own accuracy, the majority label.
    """
    name = f"chaos_{votes.dataset.name.replace('-', '_')}"
    items, task = to / f"{name}.jsonl", to / f"{name}.yaml"
    for path in (items, task):
        check_free(path, force)
    rows = zip(votes.uids, prompts, votes.majority.tolist(), strict=True)
    docs = [{"uid": uid, "prompt": prompt, "majority": k} for uid, prompt, k in rows]
    _write_lines(items, docs)
    content = {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(items.absolute())}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "{{prompt}}",
        "doc_to_choice": list(letters(votes.dataset)),
        "doc_to_target": "majority",
        "metric_list": [{"metric": "acc"}],
        "metadata": {"version": 1},
    }
    write_text(task, yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
    return name


def request_body(way: str, n_labels: int, n_answers: int) -> dict[str, Any]:
    """Return what a request holds apart from model and message, for a way of asking.

    Labels and percentages are the likeliest answer (temperature 0); of samples, `n_answers` are
    drawn.
    """
    tokens = {LOGPROBS: 1, PERCENTAGES: _ANSWER_TOKENS * n_labels}.get(way, _ANSWER_TOKENS)
    is_drawn = way in (SAMPLES, LOGPROBS)
    body: dict[str, Any] = {"temperature": 1 if is_drawn else 0, "max_tokens": tokens}
    if way == SAMPLES:
        body["n"] = n_answers
    elif way == LOGPROBS:
        body |= {"logprobs": True, "top_logprobs": _MOST_LOGPROBS}
    return body


def write_batch(
    votes: Votes, prompts: Sequence[str], body: Mapping[str, Any], to: Path, force: bool
) -> None:
    """Write a file of requests, as OpenAI-compatible servers take it: ``custom_id`` is the uid.

    `body` has what each request holds apart from its message, such as the model.
    """
    check_free(to, force)
    requests = [
        {
            "custom_id": uid,
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {**body, "messages": [{"role": "user", "content": prompt}]},
        }
        for uid, prompt in zip(votes.uids, prompts, strict=True)
    ]
    _write_lines(to, requests)


def _write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    write_text(path, "".join(f"{json.dumps(row)}\n" for row in rows))

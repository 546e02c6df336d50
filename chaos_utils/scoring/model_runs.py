"""Files of language models' runs as rows with uid, and answers or log-likelihoods.

Samples of lm-evaluation-harness, results of an OpenAI-compatible batch, and logs of Inspect.
Answers are the model's own words; a dataset's labels give them a meaning later.
"""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import exp, isfinite
from pathlib import Path
from typing import Any

from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.datasets.cells import as_identifier, as_number, dig
from chaos_utils.datasets.faults import Faults, shorten
from chaos_utils.datasets.frame import Frame
from chaos_utils.scoring.asking import MOST_LOGPROB

DRAWN, WEIGHTS = "samples", "tokens"  # counts of answers; probabilities of first tokens
UIDS = ("uid", "item", "id", "item_uid", "item_id")  # the first that exists names the item
_LETTER = re.compile(r"[A-Z]")
_NEVER = -1e9  # log-likelihood of a choice that the model cannot give; its softmax is 0
_UNREAD: Sequence[Any] = (
    ["[invalid]"],
    "[invalid]",
    [""],
    "",
    [],
    None,
)  # what a filter makes of other answers
_SHOWN = 12  # names in a message
Lines = dict[str, tuple[str, Mapping[str, Any]]]  # by uid: place in the file, and fields
Placed = Sequence[tuple[str, Mapping[str, Any]]]  # place in the file, and fields


@dataclass(frozen=True, slots=True)
class ModelRun:
    """The rows of a run, and notes, such as on requests that failed."""

    rows: Placed
    notes: tuple[str, ...] = ()
    are_logits: bool = False  # whether rows have a log-likelihood for each choice
    parts: str = ""  # what the run may have several of: ``filter`` or ``scorer``

    @property
    def frame(self) -> Frame:
        """The rows as a frame, as from a file."""
        return Frame.of_records([fields for _, fields in self.rows], lambda row: self.rows[row][0])


def read_run(
    path: Path, frame: Frame, faults: Faults, wanted: Mapping[str, str]
) -> ModelRun | None:
    """Return the run in a JSON file; None for any other file.

    `wanted` names the ``filter`` or the ``scorer`` whose answers are read, where a run has several.
    """
    records = frame.records()
    keys = set(records[0]) if records else set()
    rows = [(frame.place(i), fields) for i, fields in enumerate(records)]
    for needed, read in _READERS.items():
        if keys >= set(needed):
            return read(path, rows, faults, wanted)
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
    """Return a message's text, which may be split into parts."""
    parts = [dig(part, "text") for part in content] if isinstance(content, list) else [content]
    return "".join(part for part in parts if isinstance(part, str))


def _model_name(model: str) -> str:
    """Return a model's name; the last part of a name that is an absolute path."""
    return model.rstrip("/").rpartition("/")[2] if model.startswith("/") else model


def _failure_note(what: str, n: int, reasons: Sequence[str]) -> tuple[str, ...]:
    """Return a note on how many of n requests or samples failed, with the first reason."""
    if not reasons:
        return ()
    return (f"{len(reasons):,} of {counted(n, what)} failed ({shorten(reasons[0])})",)


def _choose_part(
    kind: str,
    answers: Mapping[str, Mapping[str, Any]],
    wanted: Mapping[str, str],
    faults: Faults,
    unread: Sequence[Any] = (),
) -> str:
    """Return the filter or scorer to read: the wanted one, or one with which all others agree.

    `answers` has the reading of every answer, by filter or scorer. A reading in `unread` means that
    the answer could not be read, and so disagrees with none.
    """
    wanted_name, known_names = wanted.get(kind), _first_names(answers) or f"no {kind} with answers"
    if wanted_name is not None and wanted_name in answers:
        return wanted_name
    if wanted_name is not None:
        todo = f"name one that is there, or leave --{kind} out"
        raise faults.fatal(f"There is no such {kind}.", shorten(wanted_name), known_names, todo)
    first_read: dict[str, tuple[str, Any]] = {}  # by answer: the first to read it, and its reading
    for name, readings in answers.items():
        for key, answer in readings.items():
            if answer not in unread and first_read.setdefault(key, (name, answer))[1] != answer:
                first, first_answer = first_read[key]
                where = f"item {shorten(key)}" if kind == "filter" else key
                raise faults.fatal(
                    f"The {kind}s disagree.",
                    f"{known_names}; for {where}, {kind} {shorten(first)} returns "
                    f"{shorten(first_answer)}, "
                    f"{kind} {shorten(name)} {shorten(answer)}",
                    f"the {kind} that is meant",
                    f"name it: --{kind} {shlex.quote(first)}, or --{kind} {shlex.quote(name)}",
                )
    n_read = {
        name: sum(answer not in unread for answer in readings.values())
        for name, readings in answers.items()
    }
    if max(n_read.values()) < len(first_read):
        raise faults.fatal(
            f"Each {kind} could read answers that another could not.",
            known_names,
            f"one {kind} of one run",
            f"name it: --{kind} {shlex.quote(next(iter(answers)))}; or give each file by itself, "
            "if several are joined",
        )
    return max(n_read, key=n_read.__getitem__)


def _first_names(names: Iterable[str]) -> str:
    """Return at most `_SHOWN` names, in one line."""
    first_names = list(islice(names, _SHOWN + 1))
    return ", ".join(first_names[:_SHOWN]) + " …" * (len(first_names) > _SHOWN)


def _twice_error(found: str, todo: str, faults: Faults) -> ChaosError:
    """Return the error for a run in which an item is answered twice."""
    return faults.fatal(
        "An item is answered twice.", found,
        "one line for each item; drawn answers stand there together, or in columns uid and sample",
        todo,
    )  # fmt: skip


def _harness_run(path: Path, rows: Placed, faults: Faults, wanted: Mapping[str, str]) -> ModelRun:
    """Return the run in samples of lm-evaluation-harness: log-likelihoods by choice, or answers."""
    # Only the folder names the model; there, the slash of owner/name is two underscores.
    is_of_model = path.name.startswith("samples_")
    model = _model_name(
        path.absolute().parent.name.replace("__", "/") if is_of_model else path.stem
    )
    by_filter, is_named = _by_filter(rows, faults)
    name = _choose_part(
        "filter",
        {name: {uid: fields.get("filtered_resps") for uid, (_, fields) in lines.items()}
         for name, lines in by_filter.items()},
        wanted, faults, () if is_named else _UNREAD,
    )  # fmt: skip
    run_rows, choice_sets, n_never = [], set(), 0
    for uid, (place, fields) in by_filter[name].items():
        answers = fields.get("filtered_resps")
        if (pairs := _likelihoods(answers)) is not None:
            choices = _choices(fields.get("arguments"))
            half = len(pairs) // 2
            is_doubled = "acc_mutual_info" in (*fields, *_texts(fields.get("metrics")))
            # With mutual information, the second half is the choices scored without the question.
            if is_doubled and choices[:half] == choices[half:]:
                choices, pairs = choices[:half], pairs[:half]
            if len(set(choices)) != len(pairs):
                what = f"{counted(len(choices), 'choice')}, {len(pairs)} log-likelihoods"
                faults.add(place, [f"found {what}; expected one for each choice"])
                continue
            known = [log for log in pairs if log is not None]
            if len(known) < len(pairs) or set(known) == {_NEVER} or max(known) > MOST_LOGPROB:
                what = "finite ones, none above 0, or -inf for a choice that cannot be"
                faults.add(place, [f"found log-likelihoods {shorten(answers)}; expected {what}"])
                continue
            n_never += pairs.count(_NEVER)
            choice_sets.add(tuple(sorted(choices)))
            values: dict[str, Any] = dict(zip(choices, pairs, strict=True))
        else:
            all_answers, filtered_answers = list(_texts(fields.get("resps"))), list(_texts(answers))
            # A filter may keep only the first of several answers; all are read then.
            values = {
                DRAWN: Counter(
                    all_answers if filtered_answers == all_answers[:1] else filtered_answers
                )
            }
        run_rows.append((place, {**values, "uid": uid, "model": model}))
    if len(choice_sets) > 1:
        raise faults.fatal(
            "The choices differ from item to item.",
            "; ".join(", ".join(map(shorten, choices)) for choices in sorted(choice_sets)[:2]),
            "the same choices for each item: its labels, or letters for them",
            "run the task that `chaos export` writes",
        )
    notes = []
    if choice_sets:
        notes.append("the softmax of the choices' log-likelihoods, each summed over its tokens")
    if n_never:
        notes.append(f"{counted(n_never, 'choice')} of log-likelihood -inf: their probability is 0")
    if len(by_filter) > 1:
        how = "" if is_named else ", by the order of their lines, which name none"
        if "filter" not in wanted:
            how += "; no other filter could read an answer that it could not"
        notes.append(f"answers of the filter {name}, one of {_first_names(by_filter)}{how}")
    return ModelRun(run_rows, tuple(notes), bool(choice_sets), "filter")


def _by_filter(rows: Placed, faults: Faults) -> tuple[dict[str, Lines], bool]:
    """Return the lines of each filter by uid, and whether filters are named.

    Until November 2024, filters have no names: each has a line for the same answers to an item, in
    the order of the filters.
    """
    is_named = any("filter" in fields for _, fields in rows)
    lines_by_filter: dict[str, Lines] = {}
    times: Counter[tuple[str, str]] = Counter()
    for place, fields in rows:
        doc = fields.get("doc")
        identifiers = (dig(doc, name) for name in UIDS)
        identifier = next((value for value in identifiers if value is not None), None)
        if (uid := as_identifier(identifier)) is None:
            raise faults.fatal(
                "These samples do not say which item each is about.",
                f"{place}: doc with {', '.join(doc) if isinstance(doc, dict) else shorten(doc)}",
                "doc.uid, the uid of the item",
                "run the task that `chaos export` writes",
            )
        name = str(fields.get("filter", "none")) if is_named else ""
        times[name, uid] += 1
        if (again := times[name, uid]) > 1:
            earlier, earlier_fields = lines_by_filter[name or "1"][uid]
            if is_named or earlier_fields.get("resps") != fields.get("resps"):
                raise _twice_error(
                    f"{place}: {uid} again, first in {earlier}",
                    "give each file by itself, if several are joined here; or keep one line",
                    faults,
                )
        lines_by_filter.setdefault(name or str(again), {})[uid] = (place, fields)
    return lines_by_filter, is_named


def _likelihoods(answers: Any) -> list[float | None] | None:
    """Return the log-likelihoods in pairs [log-likelihood, is greedy]; files have them as texts."""
    if not isinstance(answers, list) or len(answers) < 2:
        return None
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in answers):
        return None
    numbers = [_log_likelihood(pair[0]) for pair in answers]
    return None if set(numbers) == {None} else numbers


def _log_likelihood(value: Any) -> float | None:
    """Return a log-likelihood, `_NEVER` for -inf, which JSON may have as null."""
    if value is None or str(value).casefold() in ("-inf", "-infinity"):
        return _NEVER
    number = as_number(value)
    return number if number is not None and isfinite(number) else None


def _choices(arguments: Any) -> list[str]:
    """Return the choices that were scored, in order."""
    if isinstance(arguments, Mapping):
        ordered = sorted(arguments, key=lambda name: (len(name), name))  # gen_args_2, gen_args_10
        continuations = [dig(arguments[name], "arg_1") for name in ordered]
    else:
        continuations = (
            [dig(argument, "1") for argument in arguments] if isinstance(arguments, list) else []
        )
    return [str(continuation).strip() for continuation in continuations]


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in lists of lists."""
    waiting = [value]
    while waiting:
        content = waiting.pop()
        if isinstance(content, list):
            waiting += reversed(content)
        else:
            yield _text(content)


def _batch_run(path: Path, rows: Placed, faults: Faults, _: Mapping[str, str]) -> ModelRun:
    """Return the run in results of an OpenAI-compatible batch."""
    run_rows, failed = [], []
    place_of_answer: dict[tuple[str | None, str], str] = {}
    n_answers_by_model: dict[str, Counter[str | None]] = {}  # how often each item was answered
    n_failed: Counter[str | None] = Counter()
    for place, fields in rows:
        uid = as_identifier(fields.get("custom_id"))
        response = fields.get("response")
        body = dig(response, "body") or response  # vLLM may leave out `body`
        choices = dig(body, "choices")
        if fields.get("error") or not isinstance(choices, list) or not choices:
            error = fields.get("error") or dig(body, "error") or response
            failed.append(_text(dig(error, "message")) or str(error))
            n_failed[uid] += 1
            continue
        answers = Counter(
            _text(dig(choice, "message.content")) or _text(dig(choice, "message.refusal"))
            or _text(dig(choice, "text"))
            for choice in choices
        )  # fmt: skip
        model = _model_name(_text(dig(body, "model"))) or path.stem
        key = (uid, _text(dig(body, "id")))
        if key[1] and place_of_answer.setdefault(key, place) != place:
            where = f"{place}: the same answer to {uid} as in {place_of_answer[key]}"
            raise _twice_error(where, "remove one of the two", faults)
        n_answers_by_model.setdefault(model, Counter())[uid] += 1
        tokens = _first_token(choices[0])
        if tokens and max(tokens.values()) > exp(MOST_LOGPROB):
            faults.add(place, ["found a log-probability above 0; expected none"])
            continue
        run_rows.append((place, {"uid": uid, "model": model, DRAWN: answers, WEIGHTS: tokens}))
    # Joined batches repeat every item equally often; an item with more lines was sent again.
    for counts in n_answers_by_model.values():
        most, n_most = counts.most_common(1)[0]
        with_fewer = [uid for uid, n in counts.items() if n + n_failed[uid] < n_most]
        if with_fewer:
            uid = with_fewer[0]
            raise _twice_error(
                f"{counted(n_most, 'line')} with custom_id {most}, {counts[uid]} with {uid}",
                "keep the answer that counts, if requests were sent again",
                faults,
            )
    return ModelRun(run_rows, _failure_note("request", len(rows), failed))


def _first_token(choice: Any) -> dict[str, float] | None:
    """Return the probabilities of an answer's likeliest first tokens; None if there are none."""
    listed = dig(choice, "logprobs.content.0.top_logprobs")
    if isinstance(listed, list):
        pairs = [(dig(token, "token"), dig(token, "logprob")) for token in listed]
    else:
        older = dig(choice, "logprobs.top_logprobs.0")
        pairs = list(older.items()) if isinstance(older, Mapping) else []
    known = [(text, as_number(log)) for text, log in pairs if isinstance(text, str)]
    return {text: exp(min(log, 1)) for text, log in known if log is not None and log == log} or None


def _inspect_run(path: Path, rows: Placed, faults: Faults, wanted: Mapping[str, str]) -> ModelRun:
    """Return the run in a log of Inspect: the answers, as a scorer reads them if there is one."""
    log = rows[0][1]
    samples = log["samples"]
    if not isinstance(samples, list) or not samples:
        raise faults.fatal(
            "This log of Inspect holds no samples.", shorten(log.get("status")),
            todo="convert the whole log: inspect log convert FILE --to json --output-dir DIR",
        )  # fmt: skip
    model = _model_name(_text(dig(log, "eval.model"))) or path.stem
    run_rows: list[tuple[str, dict[str, Any]]] = []
    failed: list[str] = []
    place_of_sample: dict[str, str] = {}
    by_scorer: dict[str, dict[str, str]] = {}
    for i, sample in enumerate(samples):
        if (error := dig(sample, "error")) is not None:
            failed.append(_text(dig(error, "message")) or str(error))
            continue
        place, stated_uid = f"samples[{i}]", dig(sample, "metadata.uid")
        uid = as_identifier(dig(sample, "id") if stated_uid is None else stated_uid)
        key = f"{uid}, epoch {shorten(dig(sample, 'epoch'))}"
        if uid and place_of_sample.setdefault(key, place) != place:
            raise _twice_error(
                f"{place}: {key} again, first in {place_of_sample[key]}",
                "keep one sample for each epoch; or give each log by itself, if several are joined",
                faults,
            )
        scores = dig(sample, "scores")
        for name, score in scores.items() if isinstance(scores, Mapping) else ():
            if isinstance(answer := dig(score, "answer"), str):
                by_scorer.setdefault(name, {})[place] = _in_words(answer, sample)
        answer = _in_words(_text(dig(sample, "output.choices.0.message.content")), sample)
        run_rows.append((place, {"uid": uid, "model": model, DRAWN: answer}))
    notes = []
    if by_scorer or "scorer" in wanted:
        name = _choose_part("scorer", by_scorer, wanted, faults)
        run_rows = [
            (place, row | {DRAWN: by_scorer[name].get(place, row[DRAWN])})
            for place, row in run_rows
        ]
        if len(by_scorer) > 1:
            notes.append(f"answers of the scorer {name}, one of {_first_names(by_scorer)}")
    run_rows = [(place, row | {DRAWN: Counter([row[DRAWN]])}) for place, row in run_rows]
    return ModelRun(
        run_rows, (*_failure_note("sample", len(samples), failed), *notes), parts="scorer"
    )


def _in_words(answer: str, sample: Any) -> str:
    """Return an answer; the choice if the answer is a choice's letter."""
    answer, choices = answer.strip(), dig(sample, "choices")
    if isinstance(choices, list) and _LETTER.fullmatch(answer):
        index = ord(answer) - ord("A")
        answer = _text(choices[index] if index < len(choices) else None) or answer
    return answer


_READERS: dict[tuple[str, ...], Callable[[Path, Placed, Faults, Mapping[str, str]], ModelRun]] = {
    ("doc", "arguments", "filtered_resps"): _harness_run,
    ("custom_id", "response"): _batch_run,
    ("eval", "samples"): _inspect_run,
}

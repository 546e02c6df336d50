"""Of a language model's run, that part is read which was meant, and each answer once."""

import json
from contextlib import suppress
from math import exp, log

import pytest
from helpers.commands import call
from helpers.faults import assert_fields, refused
from helpers.model_runs import answered, generated, inspected, log_of, places, put, sample_of

import chaos_utils as chaos

N = 30
WORDS = ["no", "yes"]
LETTERS = "abcdefghijkl"


def said(i):
    return WORDS[i % 3 == 0]


def other(i):
    return WORDS[i % 3 != 0]


def lines(*makes, n=N):
    return "".join(json.dumps(make(i)) + "\n" for make in makes for i in range(n))


def read_by(answer, **more):
    """Return what makes a line of lm-evaluation-harness: what a filter makes of an answer."""
    return lambda i: generated(i, f"I say {said(i)}") | {"filtered_resps": [answer(i)]} | more


def nameless(answer, **more):
    def make(i):
        line = read_by(answer, **more)(i)
        del line["filter"], line["metrics"]
        return line

    return make


def strict(i):
    return "[invalid]" if i in (4, 7) else said(i)


def scored(*answers, epoch=1, **more):
    """Return what makes a sample of Inspect: the answer that each of some scorers took."""
    scores = [{f"scorer_{k}": {"value": "C", "answer": one}} for k, one in enumerate(answers)]
    merged = {name: score for one in scores for name, score in one.items()}
    return lambda i: inspected(i, "B", epoch, choices=WORDS, **{"scores": merged} | more)


def log_with(*makes):
    return log_of([make(i) for make in makes for i in range(N)])


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.csv"
    rows = [f"u{i},{WORDS[(i + k) % 4 < 2]}" for i in range(N) for k in range(5)]
    path.write_text("\n".join(["item,label", *rows]) + "\n")
    return chaos.load("votes", path)


@pytest.fixture
def read(tmp_path, votes):
    def read_text(text, **given):
        path = tmp_path / "run.jsonl"
        path.write_text(text)
        return chaos.read_predictions(path, votes, **given)

    return read_text


def shares_of(system):
    """Return the probability of "yes", by uid."""
    yes = system.dataset.labels.index("yes")
    return dict(zip(system.uids, system.probabilities[:, yes].tolist(), strict=True))


def drawn(answer, n=1):
    """Return the probability of "yes" after n answers, all alike, each label with ½ more."""
    return {f"u{i}": ((n if answer(i) == "yes" else 0) + 0.5) / (n + 1) for i in range(N)}


READ = [
    # lines of one filter alone, whatever the file's order
    ("named", lines(read_by(said, filter="loose"), read_by(other, filter="tight")),
     {"filter": "loose"}, drawn(said)),
    ("named, the other", lines(read_by(said, filter="loose"), read_by(other, filter="tight")),
     {"filter": "tight"}, drawn(other)),
    ("alike", lines(read_by(said, filter="loose"), read_by(said, filter="tight")), {}, drawn(said)),
    # until November 2024: one has read whatever the other has, or the choice is by place
    ("nameless", lines(nameless(strict), nameless(said)), {}, drawn(said)),
    ("nameless, and by turns", "".join(
        lines(nameless(said), nameless(strict)).splitlines(keepends=True)[k + N * filter]
        for k in range(N) for filter in (0, 1)), {}, drawn(said)),
    ("nameless, one hash", lines(nameless(strict, doc_hash="a"), nameless(said, doc_hash="a")),
     {}, drawn(said)),
    ("nameless, by place", lines(nameless(said), nameless(other)), {"filter": "2"}, drawn(other)),
    ("several answers", lines(lambda i: generated(i, *[said(i)] * 4)), {}, drawn(said, 4)),
    ("batches", lines(*[lambda i: answered(i, said(i))] * 3), {}, drawn(said, 3)),
    ("a batch of several", lines(lambda i: answered(i, *[said(i)] * 3)), {}, drawn(said, 3)),
    ("sent again after a failure",
     lines(lambda i: answered(i, said(i), error={"message": "late"} if i == 3 else None))
     + json.dumps(answered(3, said(3))), {}, drawn(said)),
    ("two models", lines(lambda i: answered(i, said(i))) + lines(lambda i: answered(
        i, other(i), response={"body": answered(i, other(i))["response"]["body"]
                               | {"model": "late"}})),
     {"model": "late"}, drawn(other)),
    ("epochs", log_with(*(scored("B", epoch=k) for k in (1, 2, 3))), {}, drawn(lambda i: "yes", 3)),
    ("one scorer", log_with(scored("A", "B")), {"scorer": "scorer_1"}, drawn(lambda i: "yes")),
    ("scorers alike", log_with(scored("B", "yes", None)), {}, drawn(lambda i: "yes")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "given", "expected"), [one[1:] for one in READ],
                         ids=[one[0] for one in READ])  # fmt: skip
def test_the_part_that_is_meant(read, text, given, expected):
    (system,) = read(text, **given)
    assert shares_of(system) == pytest.approx(expected)


def test_a_filter_that_was_taken_is_said(read):
    (system,) = read(lines(nameless(strict), nameless(said)))
    assert "the filter 2, one of 1, 2" in " ".join(system.notes)
    (system,) = read(log_with(scored("B")), filter="strict")
    assert "--filter has no effect" in " ".join(system.notes)


def test_a_failed_request_is_no_answer_even_with_choices(read):
    def make(i):
        return answered(i, said(i), error={"message": "cut off"} if i == 5 else None)

    (system,) = read(lines(make), allow_missing=True)
    assert "u5" not in system.uids
    assert f"1 of {N} requests failed ('cut off')" in " ".join(system.notes)


def test_all_choices_have_their_own_likelihood(tmp_path):
    """Twelve, so that gen_args_10 stands before gen_args_2 where names are sorted as texts."""
    path = tmp_path / "letters.csv"
    rows = [f"u{i},{letter}" for i in range(N) for letter in LETTERS]
    path.write_text("\n".join(["item,label", *rows]) + "\n")
    shares = [(k + 1) / 78 for k in range(12)]

    def make(i, doubled=False):
        names = sorted(f"gen_args_{k}" for k in range(12 * (1 + doubled)))
        arguments = {name: {"arg_0": "Q:", "arg_1": LETTERS[int(name[9:]) % 12]} for name in names}
        answers = [[str(log(p)), "False"] for p in shares] + [["-3", "False"]] * 12 * doubled
        more = {"metrics": ["acc_mutual_info"]} if doubled else {}
        return sample_of(i, arguments=arguments, filtered_resps=answers, **more)

    for text in (lines(make), lines(lambda i: make(i, True))):
        (tmp_path / "run.jsonl").write_text(text)
        (system,) = chaos.read_predictions(tmp_path / "run.jsonl", chaos.load("letters", path))
        by_label = dict(zip(system.dataset.labels, system.probabilities[0], strict=True))
        assert [by_label[letter] for letter in LETTERS] == pytest.approx(shares)


def likely(*logs):
    arguments = [["Q:", f" {word}"] for word in WORDS]
    return lambda i: sample_of(
        i, arguments=arguments, filtered_resps=[[one, "False"] for one in logs]
    )


@pytest.mark.parametrize("never", ["-inf", "-Infinity", -float("inf"), None])
def test_what_cannot_be_said_has_no_probability(read, never):
    (system,) = read(lines(likely("-2.5", never)))
    assert set(shares_of(system).values()) == {0}
    assert "their probability is 0" in " ".join(system.notes)
    (system,) = read(lines(likely("-1", "-3")))
    assert shares_of(system)["u0"] == pytest.approx(1 / (1 + exp(2)))


def test_choices_that_are_no_label_are_said(read):
    def make(i):
        logs = [["-1", "False"], ["-2", "False"], ["-1", "False"]]
        return sample_of(i, [*WORDS, "maybe"], filtered_resps=logs)

    (system,) = read(lines(make))
    assert shares_of(system)["u0"] == pytest.approx(1 / (1 + exp(1)))
    share = (1 + exp(-1)) / (2 + exp(-1))
    assert f"labels have {share:.1%}" in " ".join(system.notes)
    assert "'maybe'" in " ".join(system.notes)


ANSWERED = answered(3, said(3))
ANSWERED["response"]["body"]["id"] = "one"
REFUSED = [
    (lines(read_by(said, filter="loose"), read_by(other, filter="tight")),
     ("loose, tight", "--filter loose, or --filter tight")),
    (lines(read_by(strict, filter="strict match"), read_by(said, filter="loose")),
     ("for item 'u4'", "--filter 'strict match'")),
    (lines(nameless(said), nameless(other)), ("1, 2", "--filter 1, or --filter 2")),
    (lines(nameless(said), nameless(said, resps=[["none"]])), "answered twice"),
    (lines(*[read_by(said)] * 2), ("u0 again, first in line 1", "give each file by itself")),
    (lines(read_by(said, filter="loose")).replace('"u1"', '"w1"')
     + lines(read_by(said, filter="tight")).replace('"u3"', '"w3"'),
     "give each file by itself"),
    (log_with(scored("A", "B")), "--scorer scorer_0, or --scorer scorer_1"),
    (log_with(scored("B"), scored("B")), "epoch 1 again, first in samples[0]"),
    (lines(lambda i: answered(i, said(i))) + lines(lambda i: answered(i, other(i)), n=3),
     ("2 lines with custom_id u0, 1 with u3", "if requests were sent again")),
    ((lines(lambda i: answered(i, said(i))).replace(json.dumps(answered(3, said(3))),
                                                    json.dumps(ANSWERED)) * 2),
     "the same answer to u3"),
    (lines(likely("-inf", None)), ("30 faults", "-inf")),
    (lines(likely("-1", "nan")), "nan"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_in_doubt_the_choice_is_asked_for(read, text, words):
    with refused(any=words):
        read(text)


@pytest.mark.parametrize(("given", "word"), [({"filter": "x"}, "loose"), ({"filter": 3}, "name")])
def test_a_filter_that_is_not_there(read, given, word):
    with pytest.raises(chaos.ChaosError, match=word):
        read(lines(read_by(said, filter="loose")), **given)


def test_the_command_takes_the_same_options(tmp_path, votes):
    for name, text, option in (
        ("run.jsonl", lines(read_by(said, filter="loose"), read_by(other, filter="tight")),
         ("--filter", "tight")),
        ("log.json", log_with(scored("A", "B")), ("--scorer", "scorer_1")),
    ):  # fmt: skip
        path = tmp_path / name
        path.write_text(text)
        words = ("evaluate", path, "--data", tmp_path / "votes.csv", "--bootstrap", "0")
        assert_fields(call(*words, code=2).stderr, todo=option[1])
        assert option[1] in call(*words, *option, "--measures", "jsd").stderr


# Any field may hold anything.
ODD = [None, True, 3, "AB", [1, 2], [["x"]], {"a": None}]
DEEP = [json.loads("[" * 90 + "]" * 90), json.loads('{"a":' * 90 + "1" + "}" * 90)]
TYPICAL = {
    "samples": lambda i: generated(i, said(i)),
    "choices": likely("-1", "-2"),
    "batch": lambda i: answered(i, said(i)),
}


@pytest.mark.parametrize("kind", [*TYPICAL, "log"])
def test_any_field_may_hold_anything(read, kind):
    if kind == "log":
        whole = json.loads(log_of([scored("A", "B")(i) for i in range(2)]))
    else:
        whole = [TYPICAL[kind](i) for i in range(2)]
    for path in places(whole):
        for odd in ODD + DEEP:
            with suppress(chaos.ChaosError):
                read(json.dumps(put(whole, path, odd)), allow_missing=True)

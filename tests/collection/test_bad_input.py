"""What the protocol and the simulation refuse."""

import pytest

from chaos_utils.base.errors import ChaosError
from chaos_utils.collection.annotators import mixture
from chaos_utils.collection.materials import cut
from chaos_utils.collection.protocol import load_protocol
from chaos_utils.collection.simulate import simulate

BEGIN = {"type": "begin"}
ENDLESS = load_protocol(qualification_items=60)  # whoever guesses fails this test


def answer(kind, **changes):
    given = {"answer": "e", "expected": None if kind == "item" else "e"}
    return {"type": "answer", "kind": kind, "item": "an-item", **given, **changes}


PASSED = [BEGIN, *[answer("qualification")] * 5, *[answer("training")] * 12]


def small(sample):
    return cut(sample[0], sample, 60)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        # parameters of the protocol
        (lambda _: load_protocol(min_check_accuracy=1.1), r"\[0, 1\]"),
        (lambda _: load_protocol(check_rate=float("nan")), r"\[0, 1\]"),
        (lambda _: load_protocol(min_training_accuracy="high"), r"\[0, 1\]"),
        (lambda _: load_protocol(training_items=2.5), "an integer"),
        (lambda _: load_protocol(max_wrong_in_a_row=0), "at least 1"),
        (lambda _: load_protocol(training_item=3), "training_items"),
        # events
        (lambda _: load_protocol().replay([*PASSED, {"type": "draw"}]), "whether a check comes"),
        (lambda _: load_protocol().replay([*PASSED, {"type": "answer"}]),
         "expected: *draw or stop"),
        (lambda _: load_protocol().replay([BEGIN, answer("item")]), "kind 'item'"),
        (lambda _: load_protocol().replay([BEGIN, answer("qualification", expected=None)]),
         "incomplete"),
        (lambda _: load_protocol().replay([BEGIN, BEGIN]), "where: +event 2, state"),
        # populations and items
        (lambda _: mixture(careless=1.2), r"careless.*\[0, 1\]"),
        (lambda _: mixture(lapse_in_tests=-0.1), r"lapse_in_tests.*\[0, 1\]"),
        (lambda _: mixture(mean_stay=0), "mean stay.*above 0 items"),
        (lambda sample: simulate(ENDLESS, small(sample), mixture(careless=1)), "never ends"),
        (lambda sample: cut(sample[1], sample[1:2], 9, bar=0.99), "0 items with more than 99%"),
        (lambda sample: cut(sample[0], sample, 0), "nothing to judge"),
    ],
)  # fmt: skip
def test_what_there_cannot_be_is_one_error(sample, call, message):
    with pytest.raises(ChaosError, match=f"(?s){message}"):
        call(sample)

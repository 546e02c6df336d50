"""How a language model is asked about an item, and how its answer becomes a distribution.

`WAYS` has the four ways, by the words that requests, readers and pages share. `read_predictions`
applies the rules below; labels and samples need none of their own.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import check_known
from chaos_utils.datasets.cells import as_number, parse
from chaos_utils.metrics.divergence import Floats

LABEL, SAMPLES, LOGPROBS, PERCENTAGES = WAYS = ("label", "samples", "logprobs", "percentages")
MEANINGS = {
    LABEL: "one label per item",
    SAMPLES: "several labels per item, drawn at random",
    LOGPROBS: "log-probabilities of the labels' tokens",
    PERCENTAGES: "stated percentages",
}
LEAST_SUM, GREATEST_SUM = 95, 105  # of percentages that are divided by their sum; others are unread
# A label that is not among the likeliest tokens counts as 0 where it can have no more than this.
NEGLIGIBLE = 1e-3
# Rounding takes log-probabilities of nearly certain tokens a little above 0, and their sum above 1.
MOST_LOGPROB, MOST_MASS = 1e-3, 1.01
_PERCENT_SIGN = r"(?:%|percent|per cent)"
_PERCENTAGE = re.compile(
    rf"(\d+(?:\.\d*)?|\.\d+)\s*({_PERCENT_SIGN})?\.?", re.ASCII | re.IGNORECASE
)
_BETWEEN = re.compile(r"[\n;]|,(?!\d)")  # a comma before a digit is part of a number
_STATED = re.compile(r"(?s)(.*\S)\s*[:=]\s*(\S.*)")
_DECORATION = " \t\r*_`\"'{}•-"
_FENCE = re.compile(r"```\w*")


def check_way(way: str | None, where: str) -> None:
    """Raise a ChaosError if `way` is neither None nor one of `WAYS`; `where` names the option."""
    if way is not None:
        check_known("There is no such way to ask.", way, WAYS, where=where)


def percentage(cell: Any) -> tuple[float, bool]:
    """Return a stated percentage, and whether it has a percent sign or word; NaN for no number."""
    if (number := as_number(cell)) is not None and not isinstance(cell, str):
        return float(number), False
    match = _PERCENTAGE.fullmatch(cell.strip()) if isinstance(cell, str) else None
    return (float(match[1]), match[2] is not None) if match else (np.nan, False)


def stated_percentages(
    text: str, label_of: Callable[[str], int | None], n_labels: int
) -> list[Any] | None:
    """Return what an answer states of each label, in order; None if it states anything else.

    An answer is JSON, or has a line (or a part, between commas) for each label: its name, a colon
    or an equals sign, and a number. Nothing is taken from the rest of a sentence.
    """
    text = _FENCE.sub("", text)
    pairs: list[tuple[Any, Any]] = []
    with suppress(ValueError):
        content = parse(text)
        pairs = list(content.items()) if isinstance(content, dict) else []
    if not pairs:
        parts = [part.strip(_DECORATION) for part in _BETWEEN.split(text)]
        matches = [_STATED.fullmatch(part) for part in parts if part]
        pairs = [(match[1].strip(_DECORATION), match[2].strip(_DECORATION)) if match else ("", "")
                 for match in matches]  # fmt: skip
    by_label = {label_of(name): cell for name, cell in pairs}
    if len(pairs) != n_labels or by_label.keys() != set(range(n_labels)):
        return None
    return [by_label[k] for k in range(n_labels)]


def from_percentages(cells: npt.ArrayLike) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the distribution that percentages state, and whether their sum was not 100.

    Percentages are from 0 to 100, or shares from 0 to 1: their sum says which. They are divided by
    it if it is from 95 to 105 (0.95 to 1.05), and are unread otherwise, as with a cell that is no
    number, is negative, or has a percent sign where the sum is about 1.

    Parameters
    ----------
    cells : array of shape (n, k)
        Numbers, or texts such as ``60%``.

    Returns
    -------
    array of shape (n, k), array of bool
        Probabilities, NaN in rows that are unread; and a mask of rows that were divided by another
        sum than 100 (or 1), beyond rounding.
    """
    table = np.asarray(cells, dtype=object)
    read = [[percentage(cell) for cell in row] for row in table]
    numbers = np.array([[number for number, _ in row] for row in read]).reshape(table.shape)
    has_sign = np.array([any(sign for _, sign in row) for row in read], dtype=bool)
    sums = numbers.sum(axis=1)
    is_share = ~has_sign & (sums < 2)
    of_hundred = np.where(is_share, 100 * sums, sums).round(6)
    is_read = (numbers >= 0).all(axis=1) & (of_hundred >= LEAST_SUM) & (of_hundred <= GREATEST_SUM)
    shares = np.full(numbers.shape, np.nan)
    shares[is_read] = numbers[is_read] / sums[is_read, np.newaxis]
    return shares, is_read & (np.abs(of_hundred - 100) > 0.1)


def is_negligible(tokens: Mapping[str, float]) -> bool:
    """Return whether a token that is not among the likeliest can have next to no probability."""
    return bool(tokens) and min(tokens.values()) <= NEGLIGIBLE

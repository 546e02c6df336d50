"""ChaosNLI's JSON lines: a table that says of each item's votes the same thing in several ways."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import counted
from chaos_utils.base.inputs import Input
from chaos_utils.datasets.cells import MOST_VOTES, as_count, as_number
from chaos_utils.datasets.dataset import ChaosNLIReader, Dataset, WideReader
from chaos_utils.datasets.faults import Faults, wrong_value_message
from chaos_utils.datasets.frame import Column, Frame
from chaos_utils.datasets.labels import in_order, label_of
from chaos_utils.datasets.rows import Rows, Texts, known_labels, or_nan
from chaos_utils.datasets.votes import Ints, Votes

SYNTHETIC = "synthetic_sample"  # in an item's `source` field, marks the bundled sample
_TOLERANCE = 1e-6
FIELDS = {"uid", "label_counter", "label_count", "label_dist", "majority_label"}
_LABEL_NAMES = {  # of labels in the order of the format, after a column that tells what they are
    ("e", "n", "c"): ("label_count", "entailment", "neutral", "contradiction"),
    ("1", "2"): ("example.hyp2", "hypothesis 1", "hypothesis 2"),
}
_MOST_LABELS = 50
Floats = npt.NDArray[np.float64]


def as_table(dataset: Dataset) -> WideReader:
    """Return what the fields of the format are."""
    return WideReader(
        format="wide",
        item="uid",
        majority="majority_label",
        old_label="old_label",
        texts={field: f"example.{field}" for field in dataset.text_fields},
    )


def order_of(frame: Frame, faults: Faults) -> tuple[list[str], list[str], int]:
    """Return the labels in the order of ``label_count``, in that of the format, and a row apart.

    The counters name the labels; the order is the one in which most rows agree with them, and the
    row is the first that does not agree with the format's.
    """
    from scipy.optimize import linear_sum_assignment  # slow to import

    counters, lists = frame.column("label_counter"), frame.column("label_count")
    keys = list(dict.fromkeys(key for cell in counters.values if isinstance(cell, dict)
                              for key in cell))  # fmt: skip
    lengths = Counter(len(cell) for cell in lists.values if isinstance(cell, list))
    n_labels = lengths.most_common(1)[0][0] if lengths else 0
    fitting = (
        codes for codes in _LABEL_NAMES if set(keys) <= set(codes) and n_labels == len(codes)
    )
    usual = list(next(fitting, in_order(keys)))
    if not 2 <= n_labels == len(usual) <= _MOST_LABELS:
        raise faults.fatal(
            "'label_count' has another number of labels than 'label_counter' names.",
            f"{counted(n_labels, 'number')}, and {counted(len(usual), 'label')}",
            f"two to {_MOST_LABELS} labels, in one order throughout",
            "name the labels in a dataset's YAML file (reader.format: chaosnli), or correct the "
            "file",
        )
    named, placed = (_numbers(cells, as_count, usual, n_labels) for cells in (counters, lists))
    agrees = (placed[:, :, np.newaxis] == named[:, np.newaxis, :]).sum(axis=0)
    order = linear_sum_assignment(agrees + np.eye(n_labels) / (n_labels + 1), maximize=True)[1]
    apart = (placed != named).any(axis=1)
    if usual not in map(list, _LABEL_NAMES):  # whose order is the file's own
        usual = [usual[k] for k in order]
        return usual, usual, 0
    return [usual[k] for k in order], usual, int(apart.argmax())


def names_of(codes: Sequence[str], frame: Frame) -> dict[str, str]:
    """Return the names of labels that the format spells by a letter, or by a hypothesis' number."""
    labels = next((one for one in _LABEL_NAMES if set(codes) == set(one)), ())
    if not labels or len(frame.column(_LABEL_NAMES[labels][0]).values) == 0:
        return {}
    names = dict(zip(labels, _LABEL_NAMES[labels][1:], strict=True))
    return {code: names[code] for code in codes}


class ChaosNLIRows(Rows):
    """Rows in this format: the counts are one list, and other fields must agree with it."""

    no_majority = ()

    def votes(self, read: Sequence[Input], texts: Texts | None = None) -> Votes:
        """Return the votes; the bundled sample is known by its items."""
        votes = super().votes(read, texts)
        if SYNTHETIC not in self.frame.column("example.source").values:
            return votes
        name = f"synthetic-sample/{Path(votes.source.name).name}"
        return replace(votes, source=replace(votes.source, name=name, synthetic=True))

    def _counts(self, reader: WideReader) -> Ints:
        uid, inner = self.frame.column("uid"), self.frame.column("example.uid")
        is_other = np.not_equal(inner.map(str), uid.map(str)).astype(bool)
        self.wrong(is_other & (inner.codes >= 0), "example.uid", inner, "what 'uid' is")
        n_labels = self.dataset.n_classes
        cells = self.frame.column("label_count")
        counts = _numbers(cells, as_count, self.dataset.codes, n_labels)
        expected = f"{n_labels} whole numbers from 0 to {MOST_VOTES:,}"
        self.wrong(np.isnan(counts.sum(axis=1)), "label_count", cells, expected)
        total = counts.sum(axis=1, keepdims=True)
        is_number = total == self.n_votes if self.n_votes else total > 0
        sound = np.where(is_number, counts, np.nan)  # of others, their number is said
        shares = sound / total
        bits = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=1, keepdims=True)
        self._compare("label_counter", sound, "label_count")
        self._compare("label_dist", shares, "label_count divided by its sum")
        if "entropy" in self.frame:
            self._compare("entropy", bits, "that of label_count in bits", required=False)
        item_counts: Ints = np.nan_to_num(counts[self.first]).astype(np.int64)
        return item_counts

    def _compare(
        self, path: str, expected: Floats, description: str, *, required: bool = True
    ) -> None:
        """Note cells that do not say what the counts do."""
        cells = self.frame.column(path)
        numbers = _numbers(cells, as_number, self.dataset.codes, expected.shape[1])
        agrees = (np.abs(numbers - expected) <= _TOLERANCE).all(axis=1)
        agrees |= np.isnan(expected).any(axis=1)  # which is noted elsewhere
        self.note(
            ~agrees & (required | (cells.codes >= 0)),
            lambda row: wrong_value_message(
                path, cells[row], f"{description}: {', '.join(f'{n:.6g}' for n in expected[row])}"
            ),
        )

    def _old_votes(self, old: Ints) -> Ints:
        dataset = self.dataset
        if not dataset.n_old_labels:
            return super()._old_votes(old)
        cells = self.frame.column("old_labels")
        votes = np.zeros((len(cells.values) + 1, dataset.n_classes), dtype=np.int64)
        for row, value in zip(votes, cells.values, strict=False):
            for label in value if isinstance(value, list) else ():
                k = label_of(label, dataset)
                if k is not None:
                    row[k] += 1
        item_votes = votes[cells.codes]
        n_given = cells.map(lambda value: len(value) if isinstance(value, list) else 0, np.int64)
        expected = f"{' or '.join(map(str, dataset.n_old_labels))} labels"
        has_number = np.isin(n_given, dataset.n_old_labels)
        self.wrong(~has_number, "old_labels", cells, expected)
        is_known = item_votes.sum(axis=1) == n_given
        self.wrong(has_number & ~is_known, "old_labels", cells, known_labels(dataset))
        of_items = item_votes[self.first]
        is_rarer = of_items[np.arange(len(old)), np.maximum(old, 0)] < of_items.max(axis=1)
        rarer = self.first_rows(is_rarer & (old >= 0)) & is_known
        column = self.frame.column("old_label")
        self.wrong(rarer, "old_label", column, "a label that most of 'old_labels' are")
        return of_items


def _numbers(
    cells: Column, read: Callable[[object], float | None], codes: Sequence[str], n_numbers: int
) -> Floats:
    """Return the numbers in a column's cells, shape (n, n_numbers); NaN where they are none."""
    table = np.full((len(cells.values) + 1, n_numbers), np.nan)
    for row, value in zip(table, cells.values, strict=False):
        found = _numbers_in(value, codes)
        if len(found) == n_numbers:
            row[:] = list(map(or_nan(read), found))
    return table[cells.codes]


def _numbers_in(value: object, codes: Sequence[str]) -> list[object]:
    """Return the numbers of a cell: of each label in an object by code, or of a list."""
    if isinstance(value, dict):
        return [value.get(code, 0) for code in codes] if set(value) <= set(codes) else []
    return value if isinstance(value, list) else [value]


def tallied(dataset: Dataset, votes: Sequence[str]) -> dict[str, Any]:
    """Return what a row in this format says of the votes on its item, which are labels' codes.

    Of labels that are as common, the one that was voted first is the majority's.
    """
    tally = Counter(votes)
    counts = [tally[code] for code in dataset.codes]
    shares = [count / len(votes) for count in counts]
    return {
        "label_counter": dict(tally),
        "majority_label": as_stored(dataset, tally.most_common(1)[0][0]),
        "label_dist": shares,
        "label_count": counts,
        "entropy": -sum(share * math.log2(share) for share in shares if share) + 0.0,
    }


def as_stored(dataset: Dataset, code: str) -> str | int:
    """Return a label's code as a row has it: a number in some datasets."""
    is_integer = isinstance(dataset.reader, ChaosNLIReader) and dataset.reader.integer_labels
    return int(code) if is_integer else code

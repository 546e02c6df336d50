"""ChaosNLI's JSON lines: a row per item, whose fields state the same votes in several ways."""

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
# By the codes in the order of the format: a column that only files with such labels have, and the
# labels' names.
_LABEL_NAMES = {
    ("e", "n", "c"): ("label_count", "entailment", "neutral", "contradiction"),
    ("1", "2"): ("example.hyp2", "hypothesis 1", "hypothesis 2"),
}
_MOST_LABELS = 50
Floats = npt.NDArray[np.float64]


def wide_reader_of(dataset: Dataset) -> WideReader:
    """Return the reader of a wide table that knows the fields of the format."""
    return WideReader(
        format="wide",
        item="uid",
        majority="majority_label",
        old_label="old_label",
        texts={field: f"example.{field}" for field in dataset.text_fields},
    )


def order_of(frame: Frame, faults: Faults) -> tuple[list[str], list[str], int]:
    """Return the labels' codes in the file's order and in the format's, and a row as evidence.

    ``label_counter`` names the labels, ``label_count`` only lists numbers: the file's order is the
    one in which most rows of the two agree. The row is the first that contradicts the format's
    order; 0 where the format states no order for these labels.
    """
    from scipy.optimize import linear_sum_assignment  # slow to import

    counters, lists = frame.column("label_counter"), frame.column("label_count")
    keys = list(dict.fromkeys(key for cell in counters.values if isinstance(cell, dict)
                              for key in cell))  # fmt: skip
    lengths = Counter(len(cell) for cell in lists.values if isinstance(cell, list))
    n_labels = lengths.most_common(1)[0][0] if lengths else 0
    known_codes = (
        codes for codes in _LABEL_NAMES if set(keys) <= set(codes) and n_labels == len(codes)
    )
    usual = list(next(known_codes, in_order(keys)))
    if not 2 <= n_labels == len(usual) <= _MOST_LABELS:
        raise faults.fatal(
            "'label_count' has another number of labels than 'label_counter' names.",
            f"{counted(n_labels, 'number')}, and {counted(len(usual), 'label')}",
            f"two to {_MOST_LABELS} labels, in one order throughout",
            "name the labels in a dataset's YAML file (reader.format: chaosnli), or correct the "
            "file",
        )
    # Both have shape (rows, labels): by the counters' keys, and by position in the lists.
    by_key, by_position = (
        _numbers(cells, as_count, usual, n_labels) for cells in (counters, lists)
    )
    n_equal = (by_position[:, :, np.newaxis] == by_key[:, np.newaxis, :]).sum(axis=0)
    tie_break = np.eye(n_labels) / (n_labels + 1)  # in favour of the usual order
    order = linear_sum_assignment(n_equal + tie_break, maximize=True)[1]
    in_file_order = [usual[k] for k in order]
    if usual not in map(list, _LABEL_NAMES):  # the format states no order for these labels
        return in_file_order, in_file_order, 0
    differs = (by_position != by_key).any(axis=1)
    return in_file_order, usual, int(differs.argmax())


def names_of(codes: Sequence[str], frame: Frame) -> dict[str, str]:
    """Return the full names of codes that the format defines: letters, or hypothesis numbers."""
    known = next((known for known in _LABEL_NAMES if set(codes) == set(known)), ())
    if not known:
        return {}
    column, *names = _LABEL_NAMES[known]
    if len(frame.column(column).values) == 0:
        return {}
    name_of = dict(zip(known, names, strict=True))
    return {code: name_of[code] for code in codes}


class ChaosNLIRows(Rows):
    """Rows in this format: the counts are one list, and other fields must agree with it."""

    no_majority = ()

    def votes(self, read: Sequence[Input], texts: Texts | None = None) -> Votes:
        """Return the votes, marked as synthetic if an item says that it is from the sample."""
        votes = super().votes(read, texts)
        if SYNTHETIC not in self.frame.column("example.source").values:
            return votes
        name = f"synthetic-sample/{Path(votes.source.name).name}"
        return replace(votes, source=replace(votes.source, name=name, synthetic=True))

    def _counts(self, reader: WideReader) -> Ints:
        """Return the counts from ``label_count``, and compare the other fields with them."""
        uid, inner = self.frame.column("uid"), self.frame.column("example.uid")
        is_other = np.not_equal(inner.map(str), uid.map(str)).astype(bool)
        self.wrong(is_other & (inner.codes >= 0), "example.uid", inner, "what 'uid' is")
        n_labels = self.dataset.n_classes
        cells = self.frame.column("label_count")
        counts = _numbers(cells, as_count, self.dataset.codes, n_labels)
        expected = f"{n_labels} whole numbers from 0 to {MOST_VOTES:,}"
        self.wrong(np.isnan(counts.sum(axis=1)), "label_count", cells, expected)
        total = counts.sum(axis=1, keepdims=True)
        has_total = total == self.n_votes if self.n_votes else total > 0
        sound = np.where(has_total, counts, np.nan)  # a wrong total is noted elsewhere
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
        """Note the cells of a column whose numbers differ from those expected, shape (n, k)."""
        cells = self.frame.column(path)
        numbers = _numbers(cells, as_number, self.dataset.codes, expected.shape[1])
        agrees = (np.abs(numbers - expected) <= _TOLERANCE).all(axis=1)
        agrees |= np.isnan(expected).any(axis=1)  # wrong counts are noted elsewhere
        self.note(
            ~agrees & (required | (cells.codes >= 0)),
            lambda row: wrong_value_message(
                path, cells[row], f"{description}: {', '.join(f'{n:.6g}' for n in expected[row])}"
            ),
        )

    def _old_votes(self, old: Ints) -> Ints:
        """Return the old votes on each item, shape (n, k), from ``old_labels``."""
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
        row_votes = votes[cells.codes]
        n_stated = cells.map(lambda value: len(value) if isinstance(value, list) else 0, np.int64)
        expected = f"{' or '.join(map(str, dataset.n_old_labels))} labels"
        has_number = np.isin(n_stated, dataset.n_old_labels)
        self.wrong(~has_number, "old_labels", cells, expected)
        are_known = row_votes.sum(axis=1) == n_stated
        self.wrong(has_number & ~are_known, "old_labels", cells, known_labels(dataset))
        item_votes = row_votes[self.first]
        votes_for_old = item_votes[np.arange(len(old)), np.maximum(old, 0)]
        is_outvoted = votes_for_old < item_votes.max(axis=1)
        mask = self.first_rows(is_outvoted & (old >= 0)) & are_known
        column = self.frame.column("old_label")
        self.wrong(mask, "old_label", column, "a label that most of 'old_labels' are")
        return item_votes


def _numbers(
    cells: Column, read: Callable[[object], float | None], codes: Sequence[str], n_numbers: int
) -> Floats:
    """Return the numbers in a column's cells, shape (n, n_numbers); NaN for other cells."""
    table = np.full((len(cells.values) + 1, n_numbers), np.nan)
    for row, value in zip(table, cells.values, strict=False):
        numbers = _numbers_in(value, codes)
        if len(numbers) == n_numbers:
            row[:] = list(map(or_nan(read), numbers))
    return table[cells.codes]


def _numbers_in(value: object, codes: Sequence[str]) -> list[object]:
    """Return the numbers in a cell: an object's in the order of `codes`, or a list's."""
    if isinstance(value, dict):
        return [value.get(code, 0) for code in codes] if set(value) <= set(codes) else []
    return value if isinstance(value, list) else [value]


def tallied(dataset: Dataset, votes: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a row in this format that state the votes on its item.

    `votes` are labels' codes. Where labels tie for the majority, the one that was voted first is
    the majority label.
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

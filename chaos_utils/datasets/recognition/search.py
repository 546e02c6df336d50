"""All recognisers of layouts, each with how much it is worth to meet what it looks for."""

from collections.abc import Callable
from dataclasses import replace

from chaos_utils.datasets.recognition.ballots import (
    column_for_each_label,
    column_of_another_name,
    column_of_labels,
    lists_of_labels,
    named_label,
    numbered_columns,
)
from chaos_utils.datasets.recognition.candidates import Candidate
from chaos_utils.datasets.recognition.columns import Columns
from chaos_utils.datasets.recognition.counts import (
    counts_in_columns,
    counts_inside,
    numbers_below_zero,
)
from chaos_utils.datasets.recognition.exports import (
    annotations_inside,
    argilla,
    chaosnli,
    prodigy,
)
from chaos_utils.datasets.recognition.item_keys import several_columns_of_items, unknown_columns

RECOGNISERS: tuple[tuple[float, Callable[[Columns], Candidate | None]], ...] = (
    (1.0, chaosnli),  # all fields of a published format
    (0.95, prodigy),  # the columns of a tool, which say who and what
    (0.9, several_columns_of_items),  # without the items nothing else is sure
    (0.85, named_label),
    (0.85, argilla),
    (0.8, annotations_inside),
    (0.7, numbered_columns),  # columns by name and values
    (0.6, lists_of_labels),
    (0.55, column_for_each_label),
    (0.5, column_of_labels),
    (0.4, column_of_another_name),  # by values alone
    (0.3, numbers_below_zero),  # what is left: numbers
    (0.25, counts_inside),
    (0.2, counts_in_columns),
    (0.0, unknown_columns),
)


def candidates(columns: Columns) -> list[Candidate]:
    """Return the layouts that a file may have, the surest first."""
    found = (
        replace(candidate, score=score)
        for score, recognise in RECOGNISERS
        if (candidate := recognise(columns))
    )
    return sorted(found, key=lambda candidate: -candidate.score)

"""All recognisers of layouts, the surest first."""

from chaos_utils.datasets.recognition import ballots, counts, exports, item_keys
from chaos_utils.datasets.recognition.candidates import Candidate
from chaos_utils.datasets.recognition.columns import Columns

RECOGNISERS = (
    exports.chaosnli,  # all fields of a published format
    exports.prodigy,  # the columns of a tool
    item_keys.several_columns_of_items,  # as long as the items are in doubt, nothing else is sure
    ballots.named_label,
    exports.argilla,
    exports.annotations_inside,
    ballots.numbered_columns,  # columns by name and values
    ballots.lists_of_labels,
    ballots.column_for_each_label,
    ballots.column_of_labels,
    ballots.column_of_another_name,  # by values alone
    counts.numbers_below_zero,  # what is left: numbers
    counts.counts_inside,
    counts.counts_in_columns,
    item_keys.unknown_columns,
)


def candidates(columns: Columns) -> list[Candidate]:
    """Return the layouts that a file may have, the surest first."""
    return [candidate for recognise in RECOGNISERS if (candidate := recognise(columns))]

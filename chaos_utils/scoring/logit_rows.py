"""Logits of several models in one JSON file, ``{model: [[…], …]}``, whose rows name no items."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from chaos_utils.base import inputs
from chaos_utils.base.errors import counted
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.cells import parse
from chaos_utils.datasets.faults import Faults, shorten
from chaos_utils.datasets.frame import FileContent
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.divergence import Floats
from chaos_utils.scoring.system import System
from chaos_utils.scoring.temperature_scaling import softmax


def read_logit_rows(path: Path, votes: Votes, rows_of: Sequence[str]) -> list[System]:
    """Return the predictions of each model in a file on one dataset.

    Parameters
    ----------
    path : path
    votes : Votes
        On one of the datasets, all of its items in the order of its file.
    rows_of : sequence of str
        Names of datasets: each model has a row for each of their items, in the order of the files.

    Raises
    ------
    ChaosError
        If the file is not such JSON, for example because it was cut off; if a model's number of
        rows is not the datasets' number of items; or if a row is not a finite number per label.
    """
    sizes = {name: sum(file.items for file in get_dataset(name).files) for name in rows_of}
    items = ", then ".join(f"{get_dataset(name).title} ({n:,})" for name, n in sizes.items())
    faults = Faults(
        path,
        "logits",
        expected=f"{{model: rows}} with {sum(sizes.values()):,} rows for each model: those of "
        f"{items}; in each row one finite number for each label",
        todo="remove the file and run `chaos data fetch`",
    )
    content = FileContent.of(path)
    try:
        content_by_model = parse(content.text())
    except ValueError as fault:
        raise faults.fatal("The file of logits is not valid JSON.", fault) from fault
    if not isinstance(content_by_model, dict) or not all(
        isinstance(rows, list) for rows in content_by_model.values()
    ):
        raise faults.fatal("This is no file of logits by model.", shorten(content_by_model))
    first = sum(sizes[name] for name in rows_of[: rows_of.index(votes.dataset.name)])
    read_from = (inputs.of_predictions(path, content.sha256),)
    systems = []
    for model, rows in content_by_model.items():
        if len(rows) != sum(sizes.values()):
            faults.add(shorten(model), [counted(len(rows), "row")])
            continue
        logits = _numbers(rows[first : first + len(votes)], votes.dataset.n_classes)
        for row in np.flatnonzero(~np.isfinite(logits).all(axis=1)).tolist():
            faults.add(f"{shorten(model)}, row {first + row + 1}", [shorten(rows[first + row])])
        shares = softmax(logits)
        systems.append(
            System(
                model, votes.dataset, votes.uids, shares, shares.argmax(axis=1), inputs=read_from
            )
        )
    faults.check()
    return systems


def _numbers(rows: Sequence[object], k: int) -> Floats:
    """Return rows of k numbers as an array; a row that is anything else is NaN."""
    numbers = np.full((len(rows), k), np.nan)
    for index, row in enumerate(rows):
        if isinstance(row, list) and [type(number) in (int, float) for number in row] == [True] * k:
            numbers[index] = row
    return numbers

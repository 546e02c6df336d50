"""Which recorded tables a run asked for: its chapter depends on those that it read."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from chaos_utils.base import paths
from chaos_utils.base.validation import StrictModel

_FILE = "table_usage.jsonl"  # in the folder of the run's own tables, a line each


class TableAccess(StrictModel):
    """A recorded table, by its place in ``results/tables/``, that a run asked for.

    It was `read` since it is what would be computed, `computed` since it is not, or `shown` since
    what it was made from is not available. `sha256` is that of the file that was read or shown;
    `damaged` says of one that was computed that its file was cut off, or changed by hand.
    """

    name: str
    how: Literal["read", "computed", "shown"]
    sha256: str = ""
    damaged: bool = False


def log_access(access: TableAccess) -> None:
    """Add a table to those that the running notebook asked for; elsewhere, do nothing."""
    if not paths.in_runner():
        return
    path = paths.run_folder() / paths.TABLES / _FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(access.model_dump(), ensure_ascii=False) + "\n")


def accesses_of(run: Path) -> Iterator[TableAccess]:
    """Yield the tables that a finished run asked for; none where its list cannot be read."""
    try:
        lines = (run / paths.TABLES / _FILE).read_text("utf-8").splitlines()
        yield from [TableAccess.model_validate_json(line, strict=True) for line in lines]
    except (OSError, ValueError):
        return

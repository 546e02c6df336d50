"""Which recorded tables a run asked for: a chapter depends on the tables that its run read."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from chaos_utils.base import paths
from chaos_utils.base.validation import StrictModel

_FILE = "table_usage.jsonl"  # in a run's folder for tables; one line for each access


class TableAccess(StrictModel):
    """A recorded table that a run asked for.

    `name` is the path of its file below ``results/tables/``. `how` says what the run did: ``read``
    it, since its key shows that it is current; ``computed`` it, since it is not; or has ``shown``
    it, current or not, since the data that it was made from is not available. `sha256` is the
    digest of the file that was read or shown; `damaged` says that the file of a table that was
    computed had been cut off, or changed by hand.
    """

    name: str
    how: Literal["read", "computed", "shown"]
    sha256: str = ""
    damaged: bool = False


def log_access(access: TableAccess) -> None:
    """Note that the running notebook asked for a table; outside the runner, do nothing."""
    if not paths.in_runner():
        return
    path = paths.run_folder() / paths.TABLES / _FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(access.model_dump(), ensure_ascii=False) + "\n")


def accesses_of(run: Path) -> Iterator[TableAccess]:
    """Yield the tables that a finished run asked for; none if the list of them cannot be read."""
    try:
        lines = (run / paths.TABLES / _FILE).read_text("utf-8").splitlines()
        yield from [TableAccess.model_validate_json(line, strict=True) for line in lines]
    except (OSError, ValueError):
        return

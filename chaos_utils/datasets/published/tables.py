"""Read the papers' numbers."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from chaos_utils.base.errors import ChaosError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

FOLDER = Path(__file__).parent


def read_published(name: str) -> "pd.DataFrame":
    """Return a table of published numbers.

    Parameters
    ----------
    name : str
        The name of the table's file, such as ``nie2020_table2``.

    Returns
    -------
    DataFrame
        The file's columns.

    Raises
    ------
    ChaosError
        If there is no such table; the message names the closest.
    """
    import pandas as pd  # slow to import

    return pd.read_csv(_path_of(name))


def published_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of such a table as texts, read without pandas, which is slow to import."""
    with _path_of(name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _path_of(name: str) -> Path:
    known = sorted(path.stem for path in FOLDER.glob("*.csv"))
    if name not in known:
        raise ChaosError("No such published table.", found=name, expected=did_you_mean(name, known))
    return FOLDER / f"{name}.csv"

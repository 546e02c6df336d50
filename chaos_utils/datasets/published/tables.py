"""Read the papers' numbers."""

from pathlib import Path

import pandas as pd

from chaos_utils.base import inputs
from chaos_utils.base.errors import ChaosError, did_you_mean

FOLDER = Path(__file__).parent


def read_published(name: str) -> pd.DataFrame:
    """Return a table of published numbers, and note that it was read.

    Parameters
    ----------
    name : str
        Of its file, such as ``nie2020_table2``.

    Returns
    -------
    DataFrame
        With the columns of the file.

    Raises
    ------
    ChaosError
        If there is none; the message names the closest.
    """
    known = sorted(path.stem for path in FOLDER.glob("*.csv"))
    if name not in known:
        raise ChaosError("No such published table.", found=name, expected=did_you_mean(name, known))
    path = FOLDER / f"{name}.csv"
    inputs.record(f"published/{path.name}", inputs.digest(path))
    return pd.read_csv(path)

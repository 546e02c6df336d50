"""Read the papers' numbers."""

from pathlib import Path

import pandas as pd

from chaos_utils.base import inputs
from chaos_utils.base.errors import ChaosError, did_you_mean

FOLDER = Path(__file__).parent


def read_published(name: str) -> pd.DataFrame:
    """Return a table of published numbers.

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
    return pd.read_csv(_place(name))


def published_input(name: str) -> inputs.Input:
    """Return the entry of a table of published numbers among the inputs of what it went into."""
    path = _place(name)
    return inputs.Input(f"published/{path.name}", inputs.digest(path))


def _place(name: str) -> Path:
    known = sorted(path.stem for path in FOLDER.glob("*.csv"))
    if name not in known:
        raise ChaosError("No such published table.", found=name, expected=did_you_mean(name, known))
    return FOLDER / f"{name}.csv"

"""Single numbers that a run publishes under names of its own, for tables of many runs."""

import math
from collections.abc import Mapping
from pathlib import Path

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import read_mapping, write_json

FILE = "scalars.json"
Scalar = float | int | str | None


def publish_scalars(values: Mapping[str, Scalar]) -> None:
    """Leave named numbers with the run; `chaos sweep` shows them as columns.

    Names that the run published before take the new value, others stay.

    Parameters
    ----------
    values : mapping of str to float, int, str or None
        The numbers, or short texts, by name.

    Raises
    ------
    ChaosError
        If a value is of another kind, or not finite.
    """
    for name, value in values.items():
        finite = not isinstance(value, float) or math.isfinite(value)
        if not finite or not (value is None or isinstance(value, float | int | str)):
            raise ChaosError(
                f"Scalar {name!r} cannot be published.",
                found=repr(value),
                expected="a finite number, a text or None",
            )
    folder = paths.run_folder()
    write_json(folder / FILE, {**read_scalars(folder), **values})


def read_scalars(run: Path) -> dict[str, Scalar]:
    """Return what a run published; nothing where it published nothing."""
    return read_mapping(run / FILE)

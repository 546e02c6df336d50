"""A ledger of the data files that this process has read, with their digests.

Figures, tables and run records name the inputs behind them. A loader that opens a file
records it here, so that no author has to remember it, and a synthetic input can never
be left unmarked.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, order=True)
class Input:
    """One data file.

    Attributes
    ----------
    name : str
        Its name in the registry or the project; never a path on a machine.
    sha256 : str
        Hexadecimal digest of its bytes.
    synthetic : bool
        Whether its content is the bundled synthetic sample.
    """

    name: str
    sha256: str
    synthetic: bool = False


_opened: dict[str, Input] = {}


def digest(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal.

    Returns
    -------
    str
        64 digits.
    """
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def record(name: str, sha256: str, *, synthetic: bool = False) -> Input:
    """Note that a file was read, and return its entry.

    Parameters
    ----------
    name : str
        Its name in the registry or the project; a later record of this name replaces it.
    sha256 : str
        Hexadecimal.
    synthetic : bool
        Whether its content is the synthetic sample.
    """
    entry = Input(name, sha256, synthetic)
    _opened[name] = entry
    return entry


def opened() -> tuple[Input, ...]:
    """Return what was read so far, by name."""
    return tuple(sorted(_opened.values()))


def any_synthetic() -> bool:
    """Return whether anything that was read so far is synthetic."""
    return any(entry.synthetic for entry in _opened.values())

"""Data files by name and digest: what figures, tables and run records say that they were made from.

Whatever is read from a file carries its entry along (``votes.inputs``, ``system.inputs``), and so
does a table that is made from it: a figure names its own inputs and no others.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

OF_DESKTOPS = (".DS_Store", "Thumbs.db", "desktop.ini")  # written wherever a folder is looked at
OWN = "own-data/"  # begins the names of files that a reader brought


@dataclass(frozen=True, slots=True, order=True)
class Input:
    """One data file.

    `name` is its name among known data files or in the project, never a path on a machine.
    `synthetic` says whether it is the bundled synthetic sample.
    """

    name: str
    sha256: str
    synthetic: bool = False

    @property
    def is_own(self) -> bool:
        """Whether a reader brought it, as votes or in the place of votes."""
        return self.name.startswith(OWN)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file as 64 hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def of_predictions(path: Path, sha256: str | None = None) -> Input:
    """Return the entry of a file of predictions, by its digest where that is known."""
    return Input(f"predictions/{path.name}", sha256 or digest(path))


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of each file below a folder, by name, in order, but for `OF_DESKTOPS`."""
    files = (path for path in folder.rglob("*") if path.is_file())
    found = sorted(path for path in files if path.name not in OF_DESKTOPS)
    return {path.relative_to(folder).as_posix(): digest(path) for path in found}


def merged(*groups: Iterable[Input]) -> tuple[Input, ...]:
    """Return the inputs of several things, each once, by name."""
    return tuple(sorted({entry for group in groups for entry in group}))

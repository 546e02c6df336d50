"""Data files by name and digest: the inputs that figures, tables and run records name.

Whatever is read from a file carries the file's `Input` along (``votes.inputs``,
``system.inputs``), and so does a table that is made from it: a figure names its own inputs and no
others.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

OF_DESKTOPS = (".DS_Store", "Thumbs.db", "desktop.ini")  # written wherever a folder is looked at
OWN = "own-data/"  # the names of files that a reader brought begin so


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
        """Whether a reader brought the file, as votes or in the place of votes."""
        return self.name.startswith(OWN)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file as 64 hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def of_predictions(path: Path, sha256: str | None = None) -> Input:
    """Return the input that a file of predictions is; `sha256` is its digest, where known."""
    return Input(f"predictions/{path.name}", sha256 or digest(path))


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of each file below a folder but `OF_DESKTOPS`, sorted by relative path."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    files = sorted(path for path in paths if path.name not in OF_DESKTOPS)
    return {path.relative_to(folder).as_posix(): digest(path) for path in files}


def merged(*groups: Iterable[Input]) -> tuple[Input, ...]:
    """Return the inputs of all groups, each once, sorted by name."""
    return tuple(sorted({entry for group in groups for entry in group}))

"""The keys of the recorded tables: all that decides the rows of each, in one file beside them.

So code that changes no number changes this file alone.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.base.inputs import digest

_FILE = "keys.json"  # in a folder of recorded tables


@dataclass(frozen=True, slots=True)
class Key:
    """All that decides the rows of a recorded table, as digests of 16 hexadecimal digits.

    `made_by` is that of the parameters, the files of votes and predictions, the datasets' YAML
    files, the code with its data, and the libraries that compute; `tables` has that of the rows of
    each table that was given.
    """

    made_by: str = ""
    tables: Mapping[str, str] = field(default_factory=dict)


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text, such as the rows of a record."""
    return hashlib.sha256(text.encode()).hexdigest()


def key_digest(text: str) -> str:
    """Return the digest of a text as keys have it, of 16 digits."""
    return digest_of(text)[:16]


def read_keys(folder: Path) -> dict[str, Key]:
    """Return the keys of a folder of records, by the records' names; none where it has no file.

    Raises a ChaosError if the file is damaged, such as by two branches that were merged.
    """
    path = folder / _FILE
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_bytes().decode())
        return {name: Key(one["made_by"], one["tables"]) for name, one in found.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        raise ChaosError(
            "The keys of the recorded tables are damaged.",
            where=path,
            found=str(fault),
            expected='{"<table>": {"made_by": "<digest>", "tables": {}}, …}',
            todo="restore it with git, or run `make record`, which writes it anew",
        ) from fault


def write_keys(folder: Path, keys: Mapping[str, Key]) -> None:
    """Write the keys of a folder of records, a line each, in the order of their names."""
    lines = [f"{json.dumps(name)}: {json.dumps(asdict(key))}" for name, key in sorted(keys.items())]
    write_text(folder / _FILE, "{\n" + ",\n".join(lines) + "\n}\n")


def digest_of_record(folder: Path, name: str) -> str:
    """Return a digest of a record with its key; empty where it is missing."""
    if not (folder / name).is_file():
        return ""
    try:
        key = read_keys(folder).get(name)
    except ChaosError:
        key = None
    return digest_of(f"{digest(folder / name)} {key}")

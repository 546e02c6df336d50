"""The keys of the recorded tables: all that decides the rows of each, in one file beside them.

So code that changes no number changes this file alone.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from pydantic import BaseModel

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.base.inputs import digest

_FILE = "keys.json"  # in a folder of recorded tables
_DIGEST = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Key:
    """All that decides the rows of a recorded table, as digests of 16 hexadecimal digits.

    `made_by` is the digest of the parameters, the files of votes and predictions, the datasets'
    YAML files, the code that computes with its data, and the libraries. `parsed` is the digest of
    the votes and predictions as read, whatever code reads them. `tables` has the digest of the rows
    of each table that is an argument.
    """

    made_by: str = ""
    parsed: str = ""
    tables: Mapping[str, str] = field(default_factory=dict)


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text, such as the rows of a record."""
    return hashlib.sha256(text.encode()).hexdigest()


def key_digest(text: str) -> str:
    """Return the digest of a text in the short form of keys, 16 digits."""
    return digest_of(text)[:16]


def digest_of_parsed(value: object) -> str:
    """Return a digest of texts, numbers and arrays in dataclasses, tuples and mappings.

    Arrays of floats count with seven digits: the last digits of a result depend on the processor.
    """
    sha256 = hashlib.sha256()
    for part in _parts(value):
        sha256.update(part)
    return sha256.hexdigest()[:16]


def _parts(value: object) -> Iterator[bytes]:
    """Yield the bytes of a value's parts, to be hashed."""
    if isinstance(value, np.ndarray):
        array = value.astype(np.float32) if value.dtype.kind == "f" else value
        yield f"{array.dtype.str} {array.shape}".encode()
        yield array.tobytes()
    elif isinstance(value, BaseModel):
        yield value.model_dump_json().encode()
    elif is_dataclass(value):
        yield from _parts({part.name: getattr(value, part.name) for part in fields(value)})
    elif isinstance(value, Mapping):
        yield from _parts([*value.items()])
    elif isinstance(value, list | tuple):
        yield f"{len(value)} parts".encode()
        for element in value:
            yield from _parts(element)
    elif value is None or isinstance(value, str | int | float):
        yield repr(value).encode()
    else:
        raise TypeError(f"no digest holds all of a {type(value).__name__}")


def cached_digest(folder: Path, made_from: object, compute: Callable[[], str]) -> str:
    """Return what `compute` returns, computed once for a value of `made_from`, kept in a folder."""
    path = folder / key_digest(json.dumps(made_from, default=asdict))
    result = path.read_text("utf-8") if path.is_file() else ""
    if not _DIGEST.fullmatch(result):
        result = compute()
        with suppress(ChaosError):  # if it cannot be written, it is computed again
            write_text(path, result)
    return result


def read_keys(folder: Path) -> dict[str, Key]:
    """Return the keys of a folder of records, by the records' names; none if there is no file.

    Raises a ChaosError if the file is damaged, such as by two branches that were merged.
    """
    path = folder / _FILE
    if not path.is_file():
        return {}
    try:
        return dict(_parse(path.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        raise ChaosError(
            "The keys of the recorded tables are damaged.",
            where=path,
            found=str(fault),
            expected='{"<table>": {"made_by": "<digest>", "parsed": "<digest>", "tables": {}}, …}',
            todo="restore it with git, or run `make record`, which writes it anew",
        ) from fault


@lru_cache(maxsize=2)  # a chapter reads the keys once for each table
def _parse(content: bytes) -> dict[str, Key]:
    return {name: Key(**digests) for name, digests in json.loads(content.decode()).items()}


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

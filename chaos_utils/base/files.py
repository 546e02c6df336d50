"""Writing files so that a killed run never leaves half of one."""

import csv
import gc
import io
import json
import lzma
import os
import secrets
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chaos_utils.base.errors import ChaosError

# Errors of a failed download, and of an archive that is damaged, encrypted or packed oddly.
UNREADABLE = (
    OSError, EOFError, RuntimeError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile,
)  # fmt: skip


def read_regular(path: Path) -> bytes:
    """Return the content of a file; refuse a pipe or a device, which may have no end."""
    mode = path.stat().st_mode
    # A folder is left to `read_bytes`, whose error says that it is one.
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ChaosError(
            "Only regular files are read.",
            where=path,
            found="a pipe" if stat.S_ISFIFO(mode) else "a device",
            expected="a regular file",
            todo="save it to a file",
        )
    return path.read_bytes()


@contextmanager
def _readable_errors(target: Path) -> Iterator[None]:
    """Turn an OSError of the block, which writes to `target`, into a ChaosError."""
    try:
        yield
    except OSError as fault:  # a full disk, a quota, a limit of the process, a read-only place, …
        raise ChaosError(
            "Cannot write here.",
            where=target,
            found=fault.strerror,
            expected="a folder that this user may write to, with space left",
            todo="change its permissions or choose another place",
        ) from fault


def check_replaceable(path: Path) -> None:
    """Refuse to put a file in the place of anything but a regular file."""
    if path.is_symlink():
        kind = "a link"
    elif path.is_dir():
        kind = "a folder"
    elif path.exists() and not path.is_file():
        kind = "a pipe or device"
    else:
        return
    raise ChaosError(
        "Only a regular file is replaced by a file.",
        where=path,
        found=kind,
        todo="choose another place, or name the file that a link leads to",
    )


def check_free(path: Path, replace: bool) -> None:
    """Raise a ChaosError if there is a folder at `path`, or a file, unless `replace` allows it."""
    if path.is_dir():
        raise ChaosError("This is a folder.", where=path, expected="a file to write: --out")
    check_replaceable(path)
    if path.exists() and not replace:
        raise ChaosError(
            "This file exists already.", where=path, todo="choose another: --out, or pass --force"
        )


def _temporary_path(path: Path) -> Path:
    """Return an unused path beside a file or folder, for the one that will replace it."""
    return path.with_name(f".{path.name}-{secrets.token_hex(8)}")


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; make its folder if there is none."""
    with _readable_errors(path):
        check_replaceable(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = _temporary_path(path)
        try:
            with new.open("xb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())  # else a power cut may leave the name without the bytes
            new.replace(path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise


def write_text(path: Path, content: str) -> None:
    """Write a text file, UTF-8, whole or not at all."""
    write_bytes(path, content.encode())


def write_json(path: Path, content: Any) -> None:
    """Write readable JSON whole or not at all."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV, one line each."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause garbage collection while a file is read: it is slow, and would free nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def decode_text(content: bytes, name: str, where: object) -> str:
    """Return the text of a file, without a byte-order mark; the error calls the file `name`."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise ChaosError(
            f"{name} is not UTF-8 text.",
            where=where,
            found=f"byte {fault.start}: {fault.reason}",
            todo="save it as UTF-8",
        ) from fault


def read_mapping(path: Path) -> dict[str, Any]:
    """Return a JSON object that the project has written; an empty one if it cannot be read."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


@contextmanager
def fresh_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder that takes the place of `target` when the block succeeds.

    The new folder stands beside `target`, which need not exist. When the block raises, `target`
    stays as it was, and the new folder is removed.
    """
    with _readable_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        new = _temporary_path(target)
        new.mkdir()
    try:
        yield new
        with _readable_errors(target):
            swap_in(new, target)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def swap_in(new: Path, target: Path) -> None:
    """Move the folder `new` to `target`; a folder that is there already is removed.

    Both paths must be on the same file system.
    """
    if target.exists() and not target.is_dir():
        raise ChaosError("Only a folder is replaced by a folder.", where=target, todo="remove it")
    for path in new.rglob("*"):
        if path.is_file():
            with path.open("rb") as stream:
                os.fsync(stream.fileno())
    old = target.with_name(f".{target.name}-old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    new.rename(target)
    shutil.rmtree(old, ignore_errors=True)

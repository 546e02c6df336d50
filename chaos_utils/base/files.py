"""Writing files so that a killed run never leaves half of one."""

import gc
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chaos_utils.base.errors import ChaosError


def read_regular(path: Path) -> bytes:
    """Return what a file holds; a pipe or a device, which may have no end, is refused."""
    kind = path.stat().st_mode
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):  # reading a folder says what it is
        raise ChaosError(
            "Only regular files are read.",
            where=path,
            found="a pipe" if stat.S_ISFIFO(kind) else "a device",
            expected="a regular file",
            todo="save it to a file",
        )
    return path.read_bytes()


@contextmanager
def _readable_errors(target: Path) -> Iterator[None]:
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
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise ChaosError(
            "Only a regular file is replaced by a file.",
            where=path,
            found="a link"
            if path.is_symlink()
            else "a folder"
            if path.is_dir()
            else "a pipe or device",
            todo="choose another place, or name the file that a link leads to",
        )


def _temporary_path(path: Path) -> Path:
    """Return a name for what is to take the place of a file or folder."""
    return path.with_name(f".{path.name}-{secrets.token_hex(8)}")


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; its folder is made where it is not there."""
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


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause garbage collection while a file is read: nothing is freed, and scanning is slow."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def decode_text(content: bytes, name: str, where: object) -> str:
    """Return what a file holds as text, without a byte-order mark; `name` names it in the error."""
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
    """Return a JSON object that the project has written; empty where none can be read."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


@contextmanager
def fresh_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder that takes the place of `target` when the block succeeds.

    It stands beside `target`, which need not exist. When the block raises, `target` stays as it was
    and the new folder is removed.
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
    """Put a folder in the place of another, or of nothing; what was there is removed.

    Both must be on the same file system.
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

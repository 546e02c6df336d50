"""What the commands share: where they print, and how a fault ends."""

import errno
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from chaos_utils.base.errors import ChaosError

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# Control characters of both kinds, but for tabs and ends of lines, and those that turn text round.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """Return a text without colours, its control characters written as JSON writes them."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", _COLOUR.sub("", text))


class _Console:
    """A console of rich that is made when it is first used: importing rich takes a while.

    What it prints is `harmless`.
    """

    def __init__(self, **options: Any) -> None:
        self._options = options

    @cached_property
    def made(self) -> Any:
        from rich.console import Console

        return Console(highlight=False, soft_wrap=True, **self._options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.made, name)

    def print(self, what: Any, **options: Any) -> None:
        """Print a text, or a table of rich."""
        self.made.print(harmless(what) if isinstance(what, str) else what, **options)


# A pipe has no width of its own; a table there is not to be cut off.
out = _Console(width=None if sys.stdout and sys.stdout.isatty() else 150)
err = _Console(stderr=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class Commands(TyperGroup):
    """Commands whose faults end in one message: code 2, or 130 and 143 when stopped by a signal.

    SIGTERM is taken as Ctrl-C is, so that steps and kernels end with the command that runs them.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was called."""
        with suppress(ValueError):  # only the main thread may set it
            signal.signal(signal.SIGTERM, _stop)
        try:
            _check_working_directory()
            return super().invoke(ctx)
        except ChaosError as fault:
            err.print(str(fault), style="red", markup=False)
            raise typer.Exit(2) from fault
        except OSError as fault:
            if fault.filename is None:
                raise
            err.print(str(_unusable_file(fault)), style="red", markup=False)
            raise typer.Exit(2) from fault
        except KeyboardInterrupt as stop:
            err.print("Interrupted. Nothing is left half-written; run the same command again.")
            raise typer.Exit(128 + (stop.args or (signal.SIGINT,))[0]) from stop

    def main(self, *args: Any, **options: Any) -> Any:
        """Run what was called, `--help` too; fail where its answer cannot be written."""
        try:
            if sys.stdout is None:  # closed
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            try:
                return super().main(*args, **options)
            finally:
                sys.stdout.flush()
        except OSError as fault:
            if fault.errno not in (errno.ENOSPC, errno.EBADF) or fault.filename is not None:
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left unsaid
            full = ChaosError(
                "The answer cannot be written.",
                where="standard output",
                found=fault.strerror,
                todo="send the answer elsewhere, or make room where the disk is full",
            )
            err.print(str(full), style="red", markup=False)
            raise SystemExit(2) from fault


def _check_working_directory() -> None:
    try:
        Path.cwd()
    except FileNotFoundError as fault:
        raise ChaosError(
            "The working directory was deleted.", todo="change into a folder that exists"
        ) from fault


def _stop(number: int, frame: object) -> None:
    raise KeyboardInterrupt(number)


def _unusable_file(fault: OSError) -> ChaosError:
    return ChaosError(
        "A file or folder cannot be used.",
        where=fault.filename,
        found=fault.strerror,
        todo="check its permissions and what is there",
    )


def print_json(answer: Any) -> None:
    """Print an answer for programs."""
    print(harmless(json.dumps(answer, indent=1, ensure_ascii=False)))


@contextmanager
def steps_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Draw a bar on a terminal, and yield what to call with the steps done, and of how many."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=err.made,
        disable=not err.is_terminal, transient=True,
    ) as bar:  # fmt: skip
        steps = bar.add_task(what, total=None)
        yield lambda done, of: bar.update(steps, completed=done, total=of)

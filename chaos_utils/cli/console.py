"""What the commands share: how they answer, how they show progress, and how a fault ends."""

import errno
import inspect
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from chaos_utils.base.errors import ChaosError
from chaos_utils.cli import extras
from chaos_utils.cli.arguments import refuse_several

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# Control characters (C0 and C1), except tabs and ends of lines, and marks of text direction.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")
# A full disk, a quota, a limit of the process, a device that fails, a stream that is closed.
_WRITE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
_PIPE_WIDTH = 150  # columns: a pipe has no width of its own, and tables must not be cut off


def strip_control_characters(text: str) -> str:
    """Return a text without colours, its control characters written as JSON writes them."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", _COLOUR.sub("", text))


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: headings, rows of cells, and the headings whose columns are right-aligned."""

    headings: Sequence[str]
    rows: Iterable[Sequence[object]]
    right: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a command: `data` for programs, and `parts` that are printed for readers."""

    data: Any
    parts: Iterable[str | Grid]


Replies = Iterator[Reply]
_FORMATS = {
    "json": "Print JSON.",
    "csv": "Print CSV.",
    "markdown": "Print a Markdown table.",
    "latex": "Print a LaTeX table (booktabs).",
}


def command(
    *, needs: str = "", formats: Sequence[str] = ("json",)
) -> Callable[[Callable[..., Replies]], Callable[..., None]]:
    """Make a command of a function that yields its replies.

    The extra that the command `needs`, ``book`` or ``train``, is checked first. The command has an
    option for each of the `formats`; with several, the function gets the reader's choice, or
    ``text``, as its `form`.
    """

    def decorate(work: Callable[..., Replies]) -> Callable[..., None]:
        @wraps(work)
        def run(**arguments: Any) -> None:
            chosen_formats = [name for name in formats if arguments.pop(f"as_{name}")]
            refuse_several(**{name: name in chosen_formats for name in formats})
            if needs:
                extras.require(needs)
            if len(formats) > 1:
                arguments["form"] = [*chosen_formats, "text"][0]
            for reply in work(**arguments):
                _show(reply, as_json=chosen_formats == ["json"])

        parameters = inspect.signature(work).parameters
        options = [
            inspect.Parameter(
                f"as_{name}",
                inspect.Parameter.KEYWORD_ONLY,
                default=False,
                annotation=Annotated[bool, typer.Option(f"--{name}", help=_FORMATS[name])],
            )
            for name in formats
        ]
        arguments = (
            parameter
            for name, parameter in parameters.items()
            if name != "form" and parameter.kind is not parameter.VAR_KEYWORD
        )
        set_parameters(run, [*arguments, *options])
        return run

    return decorate


def set_parameters(function: Callable[..., Any], parameters: Sequence[inspect.Parameter]) -> None:
    """Give a function that takes any keywords the signature by which typer reads its options."""
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    setattr(function, "__signature__", inspect.Signature(parameters))  # noqa: B010 – mypy knows no such


def _show(reply: Reply, as_json: bool) -> None:
    if as_json:
        typer.echo(strip_control_characters(json.dumps(reply.data, indent=1, ensure_ascii=False)))
        return
    for part in reply.parts:
        if isinstance(part, Grid):
            _print_grid(part)
        else:
            typer.echo(strip_control_characters(part), nl=not part.endswith("\n"))


def _print_grid(grid: Grid) -> None:
    from rich.console import Console  # these three are slow to import
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in grid.headings:
        justify: Any = "right" if heading in grid.right else "left"
        table.add_column(Text(strip_control_characters(heading)), justify=justify, overflow="fold")
    for row in grid.rows:
        table.add_row(*(Text(strip_control_characters(str(cell))) for cell in row))
    Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH).print(table)


def say(text: str) -> None:
    """Print a line beside the answer."""
    typer.echo(strip_control_characters(text), err=True)


@contextmanager
def progress(title: str = "") -> Iterator[Callable[..., None]]:
    """Draw a progress bar on a terminal; yield the function that updates it.

    The function takes a text, the number of steps done and the number of all steps.
    """
    if not is_terminal():
        yield lambda *arguments: None
        return
    from rich.console import Console  # these two are slow to import
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[counts]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(title, total=None, visible=bool(title), counts="")

        def tell(text: str, done: int = 0, n_steps: int | None = None) -> None:
            counts = f"{done:,} of {n_steps:,}" if n_steps else ""
            bars.update(
                bar,
                description=strip_control_characters(text),
                completed=done,
                total=n_steps,
                counts=counts,
                visible=True,
            )

        yield tell


@contextmanager
def progress_lines() -> Iterator[Callable[[str, str], None]]:
    """Yield what shows a text in a line of its own for each name, on a terminal."""
    from rich.console import Console  # these two are slow to import
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as lines:
        places: dict[str, Any] = {}

        def show(name: str, text: str) -> None:
            text = strip_control_characters(text)
            if name not in places:
                places[name] = lines.add_task(text, total=None)
            lines.update(places[name], description=text)

        yield show


def is_terminal() -> bool:
    """Return whether standard error is a terminal, where progress can be drawn."""
    return sys.stderr is not None and sys.stderr.isatty()


class Commands(TyperGroup):
    """Commands whose faults end in one message: code 2, or 130 and 143 when stopped by a signal.

    SIGTERM is handled like Ctrl-C, so that steps and kernels end with the command that runs them.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was called."""
        with suppress(ValueError):  # only the main thread may set a handler
            signal.signal(signal.SIGTERM, _stop)
        try:
            _check_working_directory()
            return super().invoke(ctx)
        except ChaosError as fault:
            _print_fault(fault)
            raise typer.Exit(2) from fault
        except OSError as fault:
            if fault.filename is None:
                raise
            unusable = ChaosError(
                "A file or folder cannot be used.",
                where=fault.filename,
                found=fault.strerror,
                todo="check its permissions and what is there",
            )
            _print_fault(unusable)
            raise typer.Exit(2) from fault
        except MemoryError as fault:
            shortage = ChaosError(
                "There is too little memory for this.",
                todo="give it a smaller file, or more memory (`ulimit -v` says what is allowed)",
            )
            typer.echo(str(shortage), err=True)  # colours would need more memory
            raise typer.Exit(2) from fault
        except KeyboardInterrupt as stop:
            say("Interrupted. Nothing is left half-written; run the same command again.")
            raise typer.Exit(128 + (stop.args or (signal.SIGINT,))[0]) from stop

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line, `--help` too; fail where the answer cannot be written."""
        try:
            if sys.stdout is None:  # closed
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            for stream in (sys.stdout, sys.stderr):
                if isinstance(stream, TextIOWrapper):  # escape what the locale cannot write
                    stream.reconfigure(errors="backslashreplace")
            try:
                return super().main(*args, **options)
            finally:
                sys.stdout.flush()
        except OSError as fault:
            if fault.errno not in _WRITE_ERRORS or fault.filename is not None:
                raise
            # The interpreter flushes the rest at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            full = ChaosError(
                "The answer cannot be written.",
                where="standard output",
                found=fault.strerror,
                todo="send the answer elsewhere, or make room where the disk is full",
            )
            _print_fault(full)
            raise SystemExit(2) from fault


def _print_fault(fault: ChaosError) -> None:
    from rich.console import Console  # slow to import; it respects NO_COLOR

    text = strip_control_characters(str(fault))
    Console(stderr=True, soft_wrap=True).print(
        text, style="red", markup=False, emoji=False, highlight=False
    )


def _check_working_directory() -> None:
    try:
        Path.cwd()
    except FileNotFoundError as fault:
        raise ChaosError(
            "The working directory was deleted.", todo="change into a folder that exists"
        ) from fault


def _stop(number: int, frame: object) -> None:
    raise KeyboardInterrupt(number)

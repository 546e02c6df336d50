"""How far a training is, for whoever watches it: a bar, or lines in a notebook or a log."""

import time
from collections.abc import Callable
from typing import Protocol

_SILENT_SECONDS = 10  # what takes less, beside training, is done without a line

Say = Callable[[str], None]  # what a reader must know


class Report(Protocol):
    """Is called while something is done: what, how much of it is done, and of how much.

    While a model is trained, with the mean loss since the last point of its curve, in nats.
    """

    def __call__(self, what: str, done: int, total: int, loss: float | None = None) -> None:
        """Take a report."""


def silent(what: str, done: int, total: int, loss: float | None = None) -> None:
    """Report nothing."""


def in_lines(say: Say) -> Report:
    """Return what reports by lines: one for each tenth of a training, and of what takes long."""
    tenths: dict[str, int] = {}
    spoken = time.monotonic()

    def report(what: str, done: int, total: int, loss: float | None = None) -> None:
        nonlocal spoken
        tenth = 10 * done // max(1, total)
        if tenth == tenths.get(what, 0):
            return
        tenths[what] = tenth
        is_training, now = loss is not None, time.monotonic()
        if is_training or now - spoken >= _SILENT_SECONDS:
            spoken = now
            unit = "steps" if is_training else "items"
            shown = f", loss {loss:.3f}" if is_training else ""
            say(f"{what}: {done:,} of {total:,} {unit}{shown}")

    return report

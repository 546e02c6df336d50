"""How far a training is, for whoever watches it: a bar, or lines in a notebook or a log."""

import time
from collections.abc import Callable
from typing import Protocol

SILENT_SECONDS = 10  # what takes less, beside training, is done without a line
TRAINING_SECONDS = 60  # between two lines of a training

Say = Callable[[str], None]  # what a reader must know


class Report(Protocol):
    """Is called while something is done: what, how much of it is done, and of how much.

    While a model is trained, with a note: the mean loss since the last point of its curve, in
    nats, the learning rate, items in a second, and memory.
    """

    def __call__(self, title: str, done: int, total: int, note: str | None = None) -> None:
        """Take a report."""


def silent(title: str, done: int, total: int, note: str | None = None) -> None:
    """Report nothing."""


def line_report(say: Say) -> Report:
    """Return what reports by lines: one for each tenth of what is done, if that takes long.

    Of a training one for each tenth, however long that takes, and one a minute.
    """
    tenths: dict[str, int] = {}
    due: dict[str, float] = {}  # when a line of it is next said

    def report(title: str, done: int, total: int, note: str | None = None) -> None:
        tenth, now = 10 * done // max(1, total), time.monotonic()
        before = tenths.get(title, -1)
        if title not in due or tenth < before:  # it begins, maybe again
            due[title], before = now + SILENT_SECONDS, -1
        tenths[title] = tenth
        if note is not None:
            if tenth != before or now >= due[title]:
                due[title] = now + TRAINING_SECONDS
                say(f"{title}: {done:,} of {total:,} steps" + (f", {note}" if note else ""))
        elif tenth != before and now >= due[title]:
            due[title] = now + SILENT_SECONDS
            say(f"{title}: {done:,} of {total:,} items")

    return report

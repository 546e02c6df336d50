"""The package's faults, as Sphinx reports those of extensions: by their first line."""

from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import shorten

from sphinx.errors import ExtensionError

from chaos_utils.base.errors import ChaosError


@contextmanager
def on_one_line() -> Iterator[None]:
    """Let Sphinx end with a fault of the block, written on one line and cut where it is long."""
    try:
        yield
    except ChaosError as fault:
        raise ExtensionError(shorten(str(fault), 300, placeholder=" …")) from fault

"""The package's errors, on one line: Sphinx reports only the first line of an extension's error."""

from collections.abc import Iterator
from contextlib import contextmanager

from sphinx.errors import ExtensionError

from chaos_utils.base.errors import ChaosError


@contextmanager
def on_one_line() -> Iterator[None]:
    """Turn a ChaosError of the block into an error with which Sphinx ends."""
    try:
        yield
    except ChaosError as fault:
        raise ExtensionError(" ".join(str(fault).split())) from fault

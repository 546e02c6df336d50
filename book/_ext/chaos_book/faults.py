"""The package's faults, on one line: Sphinx reports only the first of an extension's fault."""

from collections.abc import Iterator
from contextlib import contextmanager

from sphinx.errors import ExtensionError

from chaos_utils.base.errors import ChaosError


@contextmanager
def on_one_line() -> Iterator[None]:
    """Let Sphinx end with a fault of the block."""
    try:
        yield
    except ChaosError as fault:
        raise ExtensionError(" ".join(str(fault).split())) from fault

"""The environment variables that processes are started with."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from chaos_utils.base import paths


def python_path() -> str:
    """Return a PYTHONPATH that puts this checkout's package before an installed one."""
    return os.pathsep.join(filter(None, (str(paths.project()), os.environ.get("PYTHONPATH"))))


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set variables for the processes that are started within the block."""
    old_values = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in old_values.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

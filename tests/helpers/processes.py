"""Processes of tests."""

import os
import time


def has_ended(pid):
    """Wait up to ten seconds for a process to end, and say whether it has."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False

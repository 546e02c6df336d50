"""Find a Chromium for the tests of the built pages."""

import os
import shutil
import sys
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    """Return the system's Chromium or Chrome, else Playwright's own, else None."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    for name in _NAMES:
        if found := shutil.which(name):
            return found
    return _playwrights_own()


def _playwrights_own() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


if __name__ == "__main__":
    sys.exit(0 if find_chromium() else 1)

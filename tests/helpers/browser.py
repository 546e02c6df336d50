"""Find a Chromium for the tests of the built pages."""

import sys
from pathlib import Path

from chaos_utils.publish import pdf


def find_chromium() -> str | None:
    """Return the system's Chromium or Chrome, else Playwright's own, else None."""
    from playwright.sync_api import sync_playwright

    if path := pdf.find_chromium():
        return path
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


if __name__ == "__main__":
    sys.exit(0 if find_chromium() else 1)

"""How fast the item explorer is, in Chromium, on the site that was built last.

Run with `make bench-explorer` or `python benchmarks/explorer.py [SITE]` after `make book`. Each
number is the median of several tries on this machine.
"""

import gzip
import sys
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.browser import find_chromium

TRIES = 5
FIRST_PAINT_TARGET, FILTER_TARGET = 1000, 100  # milliseconds
_FIELDS = ("q=woman", "q=-woman", "q=", "axes=entropy", "axes=", "dataset=mnli", "low=1",
           "majority=neutral", "verdict=wrong", "far=0.4")  # fmt: skip

# From the change of a field until the frame that shows it was handed over.
_CHANGE = """([name, value]) => new Promise((done) => {
  const field = document.querySelector(`#explorer [name=${name}]`);
  const start = performance.now();
  field.value = value;
  field.dispatchEvent(new Event("input", {bubbles: true}));
  const worked = performance.now() - start;
  requestAnimationFrame(() => setTimeout(() => done([worked, performance.now() - start])));
})"""
_SORT = """(key) => new Promise((done) => {
  const start = performance.now();
  document.querySelector(`#explorer [data-sort=${key}]`).click();
  const worked = performance.now() - start;
  requestAnimationFrame(() => setTimeout(() => done([worked, performance.now() - start])));
})"""


def opened(page: Page, address: str) -> tuple[float, float, float]:
    """Open the page; return when it was painted, when its items were there, and its points."""
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#explorer tbody tr")
    items = page.evaluate("performance.now()")
    page.wait_for_function("!document.querySelector('.explorer-drawing').hidden || "
                           "!document.querySelector('.explorer-undrawn').hidden")  # fmt: skip
    drawn = page.evaluate("performance.now()")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    return paint, items, drawn


def main() -> None:
    """Measure and print."""
    site = Path(sys.argv[1] if len(sys.argv) > 1 else "_build/html").resolve()
    for file in ("explorer.html", *(f"_static/explorer/{name}.js" for name in ("items", "texts"))):
        content = (site / file).read_bytes()
        print(f"{file:28} {len(content) / 1e6:.2f} MB, {len(gzip.compress(content)) / 1e6:.2f} zip")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox"]
        )
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        times = zip(
            *(opened(page, (site / "explorer.html").as_uri()) for _ in range(TRIES)), strict=True
        )
        paint, items, drawn = map(median, times)
        print(f"first paint {paint:.0f} ms (target {FIRST_PAINT_TARGET}), "
              f"items {items:.0f} ms, points {drawn:.0f} ms")  # fmt: skip
        worked: dict[str, list[float]] = {}
        for _ in range(TRIES):
            for step in _FIELDS:
                worked.setdefault(step, []).append(max(page.evaluate(_CHANGE, step.split("=", 1))))
            worked.setdefault("sort by JSD", []).append(max(page.evaluate(_SORT, "jsd")))
            page.click("#explorer [type=reset]")
        for step, values in worked.items():
            print(f"{step:14} {median(values):4.0f} ms until shown (target {FILTER_TARGET})")
        chromium.close()


if __name__ == "__main__":
    main()

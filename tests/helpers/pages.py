"""What is asked of every page of the site, looked at in a browser."""

import json
import time
import zlib
from base64 import b64decode
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from chaos_utils.publish import scripts

# Bytes of a page and of all that it loads before anybody scrolls or clicks, as the files are.
HEAVIEST = 1_500_000
HEAVIEST_FIRST_PAGE = 500_000

_AXE = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
_VIOLATIONS = """async ([place, rules]) => {
  const options = {resultTypes: ['violations'], preload: false};
  const found = await axe.run(place ?? document, rules ? {...options, runOnly: rules} : options);
  return found.violations
    .filter(fault => ['serious', 'critical'].includes(fault.impact))
    .flatMap(fault => fault.nodes.slice(0, 3).map(node =>
      `${fault.id}: ${node.target} ${node.html.slice(0, 120)} ${node.failureSummary}`));
}"""
# Pictures are loaded as they come into view.
_UNFOLD = """() => {
  document.querySelectorAll('details').forEach(d => d.open = true);
  document.querySelectorAll('img').forEach(i => i.loading = 'eager');
}"""
# Scripts of these bring more files when the page is there.
LOADS_MORE = "document.querySelector('#explorer, #evaluate, #annotate') !== null"
_LOADED = "[...document.images].every(i => i.complete || !i.offsetParent)"
_TOO_WIDE = """() => {
  const {scrollWidth} = document.scrollingElement;
  return scrollWidth > innerWidth ? [`${scrollWidth} px wide in ${innerWidth} px`] : [];
}"""
_BETWEEN = (1100, 1024, 1000)  # widths of tablets and of windows on half a screen, in pixels
_STRUCTURE = """() => {
  const faults = [], name = e => e.outerHTML.slice(0, 120);
  for (const i of document.images)
    if (i.offsetParent && !i.naturalWidth) faults.push(`missing picture: ${i.src}`);
  if (innerWidth >= 1200)
    for (const t of document.querySelectorAll('.table-scroll'))
      if (t.scrollWidth > t.clientWidth + 1)
        faults.push(`clipped: ${t.ariaLabel}: ${t.scrollWidth} px in ${t.clientWidth} px`);
  if (document.querySelectorAll('h1').length !== 1) faults.push('not one h1');
  for (const t of document.querySelectorAll('table:not([role=presentation])')) {
    const headings = [...t.querySelectorAll('th')];
    if (!headings.length || !headings.every(h => h.scope)) faults.push(`no scopes: ${name(t)}`);
    const figure = t.closest('figure.published');
    if (!t.caption && !figure?.querySelector('figcaption')) faults.push(`no caption: ${name(t)}`);
  }
  return faults;
}"""


def pages(site: Path) -> list[Path]:
    """Return all pages of a site, without what the theme ships, and those that lead on at once."""
    return [
        path
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.parts and 'http-equiv="refresh"' not in path.read_text("utf-8")
    ]


def watch(page: Any, troubles: list[str]) -> None:
    """Note what goes wrong on a page: errors, dialogs, requests that fail or lead elsewhere."""

    def note(trouble: str, is_fault: bool = True) -> None:
        if is_fault:
            troubles.append(trouble)

    def failed(request: Any) -> None:
        # What the browser itself gives up, as a picture that is no longer shown, is no fault.
        note(f"failed: {request.url}", request.failure != "net::ERR_ABORTED")

    def asked(request: Any) -> None:
        own = ("file:", "data:", "blob:", "about:")
        note(f"remote: {request.url}", not request.url.startswith(own))

    page.on("console", lambda said: note(said.text, said.type in ("error", "warning")))
    page.on("pageerror", lambda error: note(str(error)))
    page.on("dialog", lambda dialog: (note(dialog.message), dialog.dismiss()))
    page.on("requestfailed", failed)
    page.on("request", asked)


def open_page(context: Any, path: Path) -> tuple[Any, list[str]]:
    """Open a page from its file; return it with what goes wrong, which may grow."""
    page, troubles = context.new_page(), []
    watch(page, troubles)
    page.goto(path.as_uri(), wait_until="load")
    return page, troubles


def wait_until(page: Any, condition: str) -> None:
    """Wait until a condition in JavaScript holds.

    Playwright's own way evaluates a text inside the page again and again, which policies forbid.
    """
    end = time.monotonic() + 15
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(20)


def instead(name: str, value: object) -> str:
    """Return a script that keeps a global from being set otherwise than to a value, packed."""
    script = scripts.packed_script(f"{name}_KEPT", value, "Changed.")
    kept = f"{{get: () => window.{name}_KEPT, set: () => {{}}}}"
    return f"{script} Object.defineProperty(window, '{name}', {kept});"


def unpacked(script: str) -> Any:
    """Return what a script sets that holds packed data, as a browser would read it."""
    return json.loads(zlib.decompress(b64decode(script.partition(' = "')[2])))


def look_over(
    context: Any, site: Path, paths: list[Path], *, closely: bool = True
) -> Iterator[str]:
    """Yield what is wrong with pages: requests, weight, pictures, width, structure, accessibility.

    Each is loaded once, and looked at wide in the light look, then narrow in the dark one; at the
    widths between, only for what does not fit. Unless `closely`, axe-core does not look, which
    takes longest. The context asks for reduced motion, so
    that nothing is judged while it fades in.
    """
    page, troubles = open_page(context, paths[0])
    loaded: set[str] = set()
    page.on("request", lambda request: loaded.add(request.url))
    for path in paths:
        page.goto("about:blank")  # what the page before still asks for is not this one's
        loaded.clear()
        page.set_viewport_size({"width": 1280, "height": 900})
        page.emulate_media(color_scheme="light")
        page.goto(path.as_uri(), wait_until="load")
        loads_more = page.evaluate(LOADS_MORE)
        if loads_more:
            page.wait_for_load_state("networkidle")
        weight = sum(map(_size, loaded))
        is_first = path == site / "index.html" and not loads_more
        heaviest = HEAVIEST_FIRST_PAGE if is_first else HEAVIEST
        faults = [f"weighs {weight:,} bytes"] if weight > heaviest else []
        for width, look, rules in ((1280, "light", None), (390, "dark", ["color-contrast"])):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=look)  # for pages that stand alone
            page.evaluate("look => { document.documentElement.dataset.theme = look; }", look)
            page.evaluate(_UNFOLD)
            wait_until(page, _LOADED)
            faults += page.evaluate(_TOO_WIDE) + page.evaluate(_STRUCTURE)
            if closely:
                faults += violations(page, rules=rules)
        for width in _BETWEEN:
            page.set_viewport_size({"width": width, "height": 900})
            faults += page.evaluate(_TOO_WIDE)
        faults += troubles
        troubles.clear()
        yield from (f"{path.relative_to(site)}: {fault}" for fault in faults)
    page.close()


def violations(page: Any, place: str | None = None, rules: list[str] | None = None) -> list[str]:
    """Return what keeps people from using a page, or a place on it, by some of axe-core's rules."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_AXE)
    return page.evaluate(_VIOLATIONS, [place, rules])


def _size(url: str) -> int:
    path = Path(unquote(urlsplit(url).path))
    return path.stat().st_size if path.is_file() else 0


_OUTLINE = """() => {
  const e = document.activeElement;
  if (e === document.body) return null;
  const style = getComputedStyle(e), box = e.getBoundingClientRect();
  let behind = e.parentElement;
  const clear = c => c === 'rgba(0, 0, 0, 0)';
  while (behind && clear(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement;
  const page = getComputedStyle(document.body).backgroundColor;
  e.dataset.reached = '';
  return {
    name: e.outerHTML.slice(0, 120),
    seen: box.width > 0 && box.height > 0 && style.visibility !== 'hidden',
    outline: style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth),
    colour: style.outlineColor,
    behind: behind ? getComputedStyle(behind).backgroundColor : page,
  };
}"""
_UNREACHED = """() => [...document.querySelectorAll(
    'a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter(e => e.checkVisibility({visibilityProperty: true}) && !e.disabled && e.tabIndex >= 0)
  .filter(e => e.dataset.reached === undefined)
  .map(e => e.outerHTML.slice(0, 120))"""


def tab_through(page: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """Press Tab through a page; return each stop, and what was never reached."""
    stops = []
    for _ in range(1000):
        page.keyboard.press("Tab")
        stop = page.evaluate(_OUTLINE)
        if stop is None:
            break
        stops.append(stop)
    return stops, page.evaluate(_UNREACHED)

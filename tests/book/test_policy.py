"""The policy on each page of the short book: it is there, and nothing of the book breaks it."""

import re
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from helpers.pages import LOADS_MORE, pages

pytestmark = pytest.mark.browser

# Of each kind a page: what scripts ask for there is what may differ from a page that is a file.
EACH_KIND = (
    "index", "chapters/disagreement", "chapters/annotations", "figures/fig-simplex",
    "figures/tbl-agreement", "explorer", "annotate", "404",
)  # fmt: skip


@pytest.fixture(scope="module")
def address(site):
    """Where the short book is served."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_every_page_has_its_policy_before_all_else_and_no_script_in_an_attribute(site):
    for path in pages(site):
        page = path.read_text("utf-8")
        begins = (
            r'(?s)<!doctype html>.{,200}?<meta charset="utf-8" ?/?>\n<meta http-equiv="Content-S'
        )
        assert re.match(begins, page.lstrip(), re.IGNORECASE), path
        policy = re.search(r'Policy" content="([^"]*)', page)[1]
        assert policy.count("unsafe") == policy.count("style-src 'self' 'unsafe-inline'"), path
        assert not re.search(r'<[a-z][^>]*\son\w+\s*=|="\s*javascript:', page), path


def test_no_page_that_is_served_breaks_its_policy(browser, site, address):
    context = browser.new_context(reduced_motion="reduce")
    page, said = context.new_page(), []
    page.on("console", lambda one: said.append(one.text))
    page.on("pageerror", lambda fault: said.append(f"error: {fault}"))
    # Other tests open every page from its file, and let none say anything on the console.
    for name in EACH_KIND:
        page.goto(f"{address}/{name}.html", wait_until="load")
        if page.evaluate(LOADS_MORE):
            page.wait_for_load_state("networkidle")
        faults = [one for one in said if re.search("Security Policy|^error", one)]
        assert not faults, name
        said.clear()
    page.goto(f"{address}/search.html?q=entropy")
    page.get_by_text("Search finished").wait_for()
    assert page.locator("#search-results li").count()
    page.goto(page.url.replace("search.html?q=entropy", "chapters/disagreement.html"))
    page.evaluate("window.print = () => { window.printed = true; }")
    page.evaluate("document.querySelector('[data-prints]').click()")
    assert page.evaluate("window.printed")
    context.close()
    assert not [one for one in said if "Security Policy" in one]

"""What a page may run and load, asked of a browser."""

import pytest

from chaos_utils.report import policy

pytestmark = pytest.mark.browser

EVIL = """<script>window.RUN = 1</script><script src="https://evil.example/x.js"></script>
<img src=x onerror="window.RUN = 1"><img src="https://evil.example/x.png">
<iframe srcdoc="x"></iframe><a href="javascript:window.RUN = 1">a link</a>
<button onclick="window.RUN = 1">a button</button>
<base href="https://evil.example/"><object data="own.js"></object>"""
FRAME = '<!doctype html>\n<meta charset="utf-8"><script>window.FRAME = 1</script><p>'


@pytest.fixture
def opened(browser, tmp_path):
    (tmp_path / "own.js").write_text("window.OWN = 1")
    page, asked = browser.new_page(), []
    page.route(
        lambda url: url.startswith("https:"),
        lambda route: (asked.append(route.request.url), route.abort()),
    )

    def open_page(html):
        (tmp_path / "page.html").write_text(html, "utf-8")
        asked.clear()
        page.goto((tmp_path / "page.html").as_uri())
        return page, list(asked)

    yield open_page
    page.close()


def test_a_page_of_a_site_runs_its_frame_and_files_and_nothing_in_its_content(
    opened,
):
    html = f'{FRAME}{EVIL}<script src="own.js"></script>'
    page, asked = opened(html)
    assert page.evaluate("[window.FRAME, window.RUN]") == [1, 1]  # without a policy
    assert asked
    page, asked = opened(policy.with_site_policy(html, EVIL))
    page.get_by_text("a link").click()
    page.get_by_text("a button").click()
    assert page.evaluate("[window.FRAME, window.OWN, window.RUN]") == [1, 1, None]
    assert page.evaluate("document.baseURI").startswith("file:")
    assert not asked


def test_a_page_of_one_file_runs_nothing_and_shows_its_own_pictures(opened):
    dot = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
    page, asked = opened(policy.with_single_page_policy(f'{FRAME}{EVIL}<img id="own" src="{dot}">'))
    page.get_by_text("a link").click()
    assert page.evaluate("[window.FRAME, window.RUN]") == [None, None]
    assert page.evaluate("document.getElementById('own').naturalWidth") == 1
    assert not asked

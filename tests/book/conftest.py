"""A built book that a test may change, and one to look at."""

import pytest
from helpers.checkout import copy_built
from helpers.pages import watch


@pytest.fixture
def checkout(small_checkout, tmp_path):
    """A copy of a built checkout, to be changed."""
    return copy_built(small_checkout, tmp_path / "book")


@pytest.fixture(scope="session")
def site(small_checkout):
    """The site of the short book."""
    return small_checkout / "_build" / "html"


@pytest.fixture(scope="module")
def open_at(browser, site):
    """Open a page of the short book at an address; fails when anything went wrong on any of them.

    All are opened in one context, in the light look, without motion.
    """
    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, color_scheme="light", reduced_motion="reduce",
        permissions=["clipboard-read", "clipboard-write"],
    )  # fmt: skip
    troubles = []

    def opened(name, place="", script=""):
        page = context.new_page()
        watch(page, troubles)
        page.add_init_script(script)
        page.goto((site / f"{name}.html").as_uri() + place)
        return page

    yield opened
    context.close()
    assert not troubles

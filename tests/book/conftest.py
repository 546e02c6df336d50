"""A built book that a test may change, and one to look at."""

import numpy as np
import pandas as pd
import pytest
from chaos_book import calculators
from helpers.checkout import copy_built
from helpers.pages import watch
from helpers.widgets import manifest, recorded


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


@pytest.fixture(scope="session")
def known():
    """What the page on votes knows, from the recorded tables."""
    spread = recorded("power.spread_of_differences").assign(judged_items=1000)
    bought = recorded("ceilings.items_by_votes")
    shifted = pd.DataFrame({"dataset": bought["dataset"].unique()})
    shifts = pd.DataFrame({"n_votes": [1, 5], "median": [0.02, 0.01], "largest": [0.05, 0.03]})
    shifted = shifted.merge(shifts, how="cross")
    budgets = manifest(recorded("ceilings.annotation_budget"), draws=20)
    crowds = manifest(recorded("atlas.by_votes"), draws=20)
    of_atlas = manifest(recorded("atlas.atlas"))
    return calculators.votes_data(budgets, manifest(spread), manifest(shifted), crowds, of_atlas)


@pytest.fixture(scope="session")
def converted():
    """What the page on conventions knows, from the recorded table."""
    table = recorded("conventions.under_every_convention").fillna({"used_by": ""})
    table["value"] = table["value"].replace(np.inf, np.nan)
    return calculators.conversions_data(manifest(table))

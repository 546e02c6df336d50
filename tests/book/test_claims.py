"""The cards of claims in a small book, in a real browser."""

import shutil

import pytest
from helpers.checkout import chaos, copy_built
from helpers.pages import violations

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # they build a small book of their own

# Claims of every verdict about made-up numbers, some of whose words are markup.
CHAPTER = """\
# %% [markdown]
# # Claims of a test
#
# See {numref}`tbl-claims` and [the third](#claim-c03), and {term}`majority label`.

# %% tags=["parameters"]
data: str = "auto"  # nothing here depends on it
resamples: int = 1000  # stands for nothing

# %%
import pandas as pd

from chaos_utils.analyses import claims
from chaos_utils.presentation.claims import Cards
from chaos_utils.report.tables import publish_table

evil = "<script>document.title = 'harm'</script> <b>so</b> & so."
several = [
    ("c01", "nie2020", {"rule": "above", "above": 0}),
    ("c02", "nie2020", {"rule": "above", "above": 5, "explorer": {
        "words": "The <items> & more", "selection": "dataset=snli&change=changed"}}),
    ("c03", "baan2022", {"rule": "equals", "to": 7, "claim": evil}),
    ("c04", "baan2022", {"rule": "open", "numbers": None}),
]
several = [
    claims.Claim.model_validate(
        {"id": id, "paper": paper, "place": "Table 1", "claim": "It is so."}
        | {"numbers": {"quantity": "mean_entropy"}, "note": f"It is what it is. {evil}"}
        | fields
    )
    for id, paper, fields in several
]
numbers = pd.DataFrame(
    [("snli", "mean_entropy", "", 2.0, 1.0, 3.0, 0.001)],
    columns=["dataset", "quantity", "case", "value", "low", "high", "p"],
)
nothing = numbers.head(0)
table = claims.check_claims(numbers, nothing, nothing, nothing, claims=several)

# %%
Cards("tbl-claims", table.rows, resamples)

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "All claims as a table"}
publish_table("tbl-claims", table, columns=claims.columns_for(resamples), caption="All claims.")
"""
CARDS = "article.claim"


@pytest.fixture(scope="module")
def site(small_checkout, tmp_path_factory):
    """The small book with a chapter of claims."""
    checkout = copy_built(small_checkout, tmp_path_factory.mktemp("claims") / "book")
    (checkout / "notebooks" / "claims.py").write_text(CHAPTER, "utf-8")
    toc, registry = checkout / "_toc.yml", checkout / "book" / "figures.yml"
    toc.write_text(toc.read_text().replace("  - file: annotate\n", "  - file: chapters/claims\n"))
    (checkout / "book" / "annotate.md").unlink()
    registry.write_text(registry.read_text() + "tbl-claims: 0.1.0\n")
    done = chaos("build", "--sample", cwd=checkout)
    assert done.returncode == 0, done.stderr
    yield checkout / "_build" / "html"
    shutil.rmtree(checkout)


@pytest.fixture
def visit(browser, site):
    """Open the page at an address of its own; fails when anything went wrong on it."""
    contexts, troubles = [], []

    def open_at(place="", width=1280, **options):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, reduced_motion="reduce", **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto((site / "chapters" / "claims.html").as_uri() + place)
        return page

    yield open_at
    for context in contexts:
        context.close()
    assert not troubles


def shown(page):
    return [one.get_attribute("id") for one in page.locator(CARDS).all() if one.is_visible()]


def box(page, name):
    return page.get_by_role("checkbox", name=name)


def test_a_card_says_its_verdict_claim_place_and_evidence_and_folds_the_rule(visit):
    page = visit()
    first = page.locator("#claim-c01")
    assert first.locator(".claim-verdict").inner_text() == "✓ holds"
    assert first.locator("h3").inner_text().startswith("It is so.")
    assert first.locator(".claim-place").inner_text() == "Nie et al. 2020, Table 1"
    assert first.locator(".claim-found").inner_text() == "It is what it is."
    assert not first.get_by_text("is above 0").is_visible()
    first.locator("summary").click()
    assert first.get_by_text("is above 0").is_visible()
    assert first.get_by_text("2.00 [1.00, 3.00]").is_visible()
    verdicts = page.locator(f"{CARDS} .claim-verdict").all_inner_texts()
    assert verdicts == [
        "✓ holds", "✗ does not hold", "✗ does not hold", "? cannot be checked with released data",
    ]  # fmt: skip


def test_words_stay_words(visit):
    page = visit()
    assert page.locator("#claim-c03 h3").inner_text().startswith("<script>document.title")
    assert page.title() != "harm"
    assert page.locator(f"{CARDS} script, {CARDS} b").count() == 0


def test_claims_lead_to_their_items_in_the_explorer(visit):
    page = visit()
    link = page.locator(f"{CARDS} .claim-items a")
    assert link.count() == 1
    link.click()
    page.wait_for_url("**/explorer.html?dataset=snli&change=changed")


def test_the_filter_counts_and_the_address_remembers(visit):
    page = visit()
    status = page.locator("#claims-filter [role=status]")
    assert status.inner_text() == "4 of 4 claims shown"
    box(page, "holds").uncheck()
    assert shown(page) == ["claim-c02", "claim-c03", "claim-c04"]
    box(page, "Nie et al. 2020").uncheck()
    assert shown(page) == ["claim-c03", "claim-c04"]
    assert status.inner_text() == "2 of 4 claims shown"
    assert page.url.endswith("?verdict=fails+open&paper=baan2022")
    page.reload()
    assert shown(page) == ["claim-c03", "claim-c04"]
    assert not box(page, "Nie et al. 2020").is_checked()
    page.get_by_role("button", name="Show all").click()
    assert len(shown(page)) == 4
    assert page.url.endswith("claims.html")
    assert page.get_by_role("button", name="Show all").count() == 0


def test_the_filter_works_by_keyboard(visit):
    page = visit()
    box(page, "does not hold").focus()
    page.keyboard.press("Space")
    assert shown(page) == ["claim-c01", "claim-c04"]
    for _ in range(8):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Show all":
            break
    page.keyboard.press("Enter")
    assert len(shown(page)) == 4
    assert page.evaluate("document.activeElement.name") == "verdict"


def test_a_link_to_a_claim_shows_it_whatever_is_filtered(visit):
    page = visit("?verdict=holds#claim-c03")
    assert len(shown(page)) == 4
    page.wait_for_function(
        "Math.abs(document.getElementById('claim-c03').getBoundingClientRect().top) < 200"
    )
    box(page, "does not hold").uncheck()
    assert "claim-c03" not in shown(page)
    page.get_by_role("link", name="the third").click()
    page.wait_for_function("document.getElementById('claim-c03').offsetParent !== null")
    own = page.locator("#claim-c02").get_by_role("link", name="Link to claim c02")
    own.click()
    assert page.url.endswith("#claim-c02")


def test_without_scripts_all_claims_show_and_no_control_does(visit):
    page = visit("?verdict=holds", java_script_enabled=False)
    assert len(shown(page)) == 4
    assert not page.locator("#claims-filter").is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_cards_are_open_to_all(visit, width, scheme):
    page = visit(width=width, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert violations(page) == []
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


def test_other_pages_do_without_the_script(site):
    assert "claims.js" in (site / "chapters" / "claims.html").read_text("utf-8")
    assert "claims.js" not in (site / "index.html").read_text("utf-8")

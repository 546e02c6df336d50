"""The page on which a reader annotates, in a real browser."""

import json
from functools import cache

import pytest
from helpers.logs import LOGS
from helpers.pages import wait_until

from chaos_utils.base.errors import ChaosError
from chaos_utils.collection.protocol import load_protocol
from chaos_utils.collection.votes import read_votes
from chaos_utils.datasets.loading import load_votes

pytestmark = pytest.mark.browser

REPLAY = """logs => logs.map(log => {
  const rules = ChaosAnnotate.protocol(CHAOS_ANNOTATE.protocol, log.parameters);
  try {
    const state = rules.replay(log.events);
    return [state.name, state.counters, rules.countsVotes(state)];
  } catch { return "refused"; }
})"""


def replay(log):
    """Return what REPLAY returns for a log, from Python's machine."""
    protocol = load_protocol(**log["parameters"])
    try:
        end = protocol.replay(log["events"])
    except ChaosError:
        return "refused"
    counters = {name: int(counter[0]) for name, counter in end.counters.items()}
    return [end.states[0], counters, bool(end.counted[0])]


@cache
def known():
    """Return the key of what most of the hundred said on every pair of the sample."""
    return {
        (texts["premise"], texts["hypothesis"]): votes.argmax() + 1
        for opinions in (load_votes("snli", "sample"), load_votes("mnli", "sample"))
        for texts, votes in zip(opinions.texts, opinions.counts, strict=True)
    }


KEPT = "Object.entries(localStorage).sort()"


class Reader:
    """Somebody at the page, who knows what the hundred said."""

    def __init__(self, page, another):
        self.page, self.another = page, another

    @property
    def title(self):
        return self.page.inner_text("#annotate h2")

    def answer(self, *, right=True):
        """Choose by a key what most people chose, or something else."""
        read = self.page.locator("#annotate .text").all_inner_texts()
        key = known()[tuple(read)]
        self.page.keyboard.press(str(key if right else key % 3 + 1))

    def reload(self):
        """Load the page again, once another one sees what it has kept: the browser has it then."""
        kept = json.dumps(self.page.evaluate(KEPT))
        wait_until(self.another, f"JSON.stringify({KEPT}) === JSON.stringify({kept})")
        self.page.reload()

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()


@pytest.fixture(scope="module")
def loaded(open_at):
    """The page, for its scripts alone."""
    return open_at("annotate")


@pytest.fixture
def visit(open_at, loaded):
    """Return a function that opens the page in a browser that has kept nothing of it."""
    loaded.evaluate("localStorage.clear()")
    return lambda place="?seed=7#snli", script="": Reader(
        open_at("annotate", place, script), loaded
    )


def test_the_page_s_machine_replays_every_log_as_python_s(loaded):
    recorded = [json.loads(path.read_text()) for path in LOGS]
    logs = [one["log"] for one in recorded]
    damaged = [
        log | {"events": [*log["events"][:k], *instead, *log["events"][k + 1 :]]}
        for log in logs
        for k, event in list(enumerate(log["events"]))[::4]
        for instead in ([], [event, event], [{"type": event["type"]}])
    ]
    found = loaded.evaluate(REPLAY, [*logs, *damaged])
    for one, (state, counters, counts) in zip(recorded, found[: len(logs)], strict=True):
        final = one["final"]
        assert (final["state"], final["counters"]) == (state, counters)
        assert final["votes_counted"] == (len(one["log"]["votes"]) if counts else 0)
    assert found[len(logs) :] == [replay(log) for log in damaged]
    assert "refused" in found


def test_scores_are_what_the_page_says_they_are(loaded):
    scored = loaded.evaluate(
        "ChaosAnnotate.score({codes: ['e', 'n', 'c']}, ["
        "{entry: {votes: [70, 20, 10]}, answer: 'n'}, {entry: {votes: [50, 50, 0]}, answer: 'n'}])"
    )
    person = ((70 * 69 + 20 * 19 + 10 * 9) / 9900 + 2 * 50 * 49 / 9900) / 2
    expected = {"n": 2, "yours": 0.35, "person": person, "most": 0.6, "majority": 1}
    assert scored == pytest.approx(expected)
    of_models = loaded.evaluate(
        "ChaosAnnotate.scoreModels({models: [{name: 'a'}, {name: 'b'}, {name: 'c'}]}, ["
        "{entry: {votes: [70, 20, 10], said: [0, null, null]}},"
        "{entry: {votes: [2, 5, 3], said: [1, 2, null]}}, {entry: {votes: [1, 0, 0]}}])"
    )
    assert of_models == [
        {"name": "a", "n": 2, "share": pytest.approx(0.6)},
        {"name": "b", "n": 1, "share": pytest.approx(0.3)},
    ]


def test_through_test_training_and_work_to_a_file(visit, tmp_path):
    reader = visit("?seed=7")
    page = reader.page
    page.get_by_role("link", name="Begin MNLI").click()
    reader.press("Start the test")
    for _ in range(5):
        reader.answer()
    reader.answer(right=False)
    message = page.locator("#annotate [role=status]")
    assert "Most people see it differently" in message.inner_text()
    reader.answer()  # that question is over
    page.keyboard.press("Enter")
    for number in range(2, 13):
        assert reader.title == f"Training: question {number} of 12"
        reader.answer()
    assert "11 of 12 right" in page.inner_text("#annotate")
    reader.press("Start the first task")
    while reader.title == "Task 1":
        reader.answer()
    assert "$0.50" in page.inner_text("#annotate")
    reader.press("Next task")
    reader.answer()

    reader.reload()
    assert reader.title == "Task 2"  # goes on where it was
    reader.press("Results so far")
    assert page.locator(".annotate-judgements:visible > li .chosen").count() == 11
    page.get_by_label("Your name in the file").fill("<b>")
    reader.press("Finish and save my votes")
    assert "letters of any script" in page.inner_text("#annotate")
    page.get_by_label("Your name in the file").fill(" Zoë O’Łuk 李 ")
    with page.expect_download() as download:
        reader.press("Finish and save my votes")
    assert download.value.suggested_filename == "votes-mnli-Zoë-O-Łuk-李.json"
    download.value.save_as(tmp_path / "votes.json")
    log = json.loads((tmp_path / "votes.json").read_text("utf-8"))
    name = "Zoë O’Łuk 李"
    assert (log["protocol"], log["dataset"], log["annotator"]) == ("nie2020-1", "mnli", name)
    assert read_votes(tmp_path / "votes.json").annotator == name
    state, counters, counts = replay(log)
    assert (state, counts) == ("finished", True)
    assert (counters["items"], counters["training_right"]) == (11, 11)
    items = [event for event in log["events"] if event.get("kind") == "item"]
    assert log["votes"] == [{"item": e["item"], "label": e["answer"]} for e in items]
    assert {vote["item"] for vote in log["votes"]} <= set(load_votes("mnli", "sample").uids)
    assert reader.title == "Your results"

    reader.press("Start again")
    assert reader.title == "MNLI: before you begin"


def test_who_fails_the_test_is_not_admitted_but_may_look_around(visit):
    reader = visit()
    reader.press("Start the test")
    for k in range(5):
        reader.answer(right=k != 2)
    text = reader.page.inner_text("#annotate")
    assert "4 of 5 right" in text
    reader.page.get_by_role("link", name="Look around").first.click()
    reader.page.wait_for_selector("text=item 1, to look at")
    reader.answer()
    assert "of 100" in reader.page.inner_text("#annotate [role=status]")


def test_a_keyboard_is_enough_and_keys_stay_out_of_the_way(visit):
    reader = visit("")
    page = reader.page

    def tab_to(name):
        for _ in range(80):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent.trim()") == name:
                return
        raise AssertionError(f"no way to {name}")

    tab_to("Begin SNLI")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=before you begin")
    tab_to("Start the test")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "H2"
    page.keyboard.press("Control+1")
    page.keyboard.press("9")
    assert reader.title == "Test: question 1 of 5"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert reader.title == "Test: question 2 of 5"
    page.keyboard.press("3")
    assert reader.title == "Test: question 3 of 5"
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("3")  # not for this part of the page
    assert reader.title == "Test: question 3 of 5"


def test_texts_are_shown_and_never_run(visit):
    evil = "<script>window.ran = 1</script><img src=x onerror='window.ran = 1'>"
    page = visit(
        "?seed=7#alphanli",
        "let data; Object.defineProperty(window, 'CHAOS_ANNOTATE', {get: () => data, set(value) {"
        " for (const one of [...Object.values(value.datasets).flatMap(dataset => dataset.items),"
        " ...Object.values(value.pools).flat()]) one.texts = one.texts.map(() => "
        f"{json.dumps(evil)}); data = value; }}}})",
    ).page
    page.click("text=Start the test")
    assert page.locator("#annotate .choice").first.inner_text().endswith(evil)
    for _ in range(5):
        page.click("#annotate .choice >> nth=0")
    assert page.locator(".annotate-judgements .text").first.inner_text() == evil
    assert page.evaluate("window.ran") is None


def test_what_was_kept_and_is_damaged_is_left_aside(visit):
    reader = visit()
    reader.press("Start the test")
    reader.answer()
    reader.page.evaluate("""() => {
      for (const key of Object.keys(localStorage))
        localStorage[key] = localStorage[key].replace('qualification', 'item');
    }""")
    reader.reload()
    assert reader.title == "SNLI: before you begin"


@pytest.mark.parametrize("name", ["squad", "look-toString"])
def test_a_link_to_what_is_no_dataset_shows_all(visit, name):
    page = visit(f"#{name}").page
    assert page.locator(".annotate-cards li").count() == 3

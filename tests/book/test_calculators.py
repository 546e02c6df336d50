"""The calculators: what they know is what tables say, and their scripts compute as Python does."""

import json
import re
from itertools import combinations, permutations, product

import numpy as np
import pytest
from chaos_book.conventions import UNMEASURED, form_of, forms
from helpers.pages import watch
from helpers.widgets import calculator_page, recorded

from chaos_utils.analyses import conventions
from chaos_utils.datasets.loading import load_votes
from chaos_utils.metrics import divergence, scores
from chaos_utils.metrics.agreement import quadratic_entropy
from chaos_utils.metrics.measures import EvalBatch
from chaos_utils.metrics.resampling import split_votes
from chaos_utils.scoring.power import items_needed, smallest_difference

COMPUTED = """([reach, variance]) =>
  [Calculators.itemsFor(reach, variance, 0.02), Calculators.detected(reach, variance, 1000)]"""


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(3)
    human = rng.multinomial(100, rng.dirichlet(np.full(3, 0.5), 200)) / 100
    model = rng.dirichlet(np.ones(3), size=200)
    top = human.argmax(axis=1)
    return EvalBatch(human, model, model.argmax(axis=1), top, top)


def unmeasured(j):
    """Return what the conventions are that the chapter does not compute."""
    ratio = (j.human * np.log(np.where(j.human > 0, j.human, 1) / j.model)).mean()
    gap = (
        divergence.entropy(j.model, unit="nats") - divergence.entropy(j.human, unit="nats")
    ).mean()
    cross = {unit: scores.soft_cross_entropy(j.human, j.model, unit=unit, floor=0.0).mean()
             for unit in ("nats", "bits")}  # fmt: skip
    tvd = divergence.total_variation(j.human, j.model).mean()
    values = [ratio, cross["nats"], cross["bits"], gap, gap / np.log(2), tvd, 2 * tvd, 1 - tvd]
    return dict(zip([pair[:2] for pair in UNMEASURED], values, strict=True))


def test_conventions_of_a_group_are_converted_to_what_is_computed(judged):
    found = {
        (one.quantity, one.convention): one.value for one in conventions.every_convention(judged)
    }
    found |= unmeasured(judged)
    every = forms(found)
    assert len({form.key for form in every}) == len(every) == len(found)
    of_group = {}
    for form in every:
        scale = form.scale / (3 if form.per_label else 1)
        base = (found[form.quantity, form.convention] - form.offset) / scale
        assert base == pytest.approx(
            of_group.setdefault((form.quantity, form.group), base), abs=1e-9
        )
    assert len(of_group) < len(every)


def test_what_no_rule_knows_is_a_group_of_its_own():
    form = form_of("ECE", "of another kind")
    assert (form.group, form.scale, form.high) == ("of another kind", 1.0, 1.0)


def test_the_pages_hold_the_recorded_rows(known, converted):
    rows = recorded("ceilings.annotation_budget").set_index(["dataset", "measure", "quantity"])
    of_crowds = recorded("atlas.by_votes").query("dataset not in ['snli', 'mnli', 'alphanli']")
    of_crowds = of_crowds.set_index(["dataset", "quantity"])
    for one in known["datasets"][3:]:
        for kind in ("label", "shares"):
            expected = of_crowds.loc[(one["name"], kind)][["n_votes", "value", "sd"]]
            np.testing.assert_array_equal(one[kind], expected.to_numpy(float))
    for one in known["datasets"][:3]:
        for kind, measured in {
            "label": ("new_accuracy", "perfect_model"),
            "shares": ("dist_ce", "error"),
        }.items():
            expected = rows.loc[(one["name"], *measured)][["n_votes", "value", "sd"]]
            np.testing.assert_array_equal(one[kind], expected.to_numpy(float))
    assert [one["name"] for one in known["datasets"]][3:] == [*of_crowds.index.unique("dataset")]
    by_key = {form["key"]: form for form in converted["forms"]}
    assert len(by_key["jensen-shannon.distance-nats"]["measured"]) == len(converted["systems"])
    assert set().union(*converted["used_by"].values()) <= by_key.keys()
    assert any("ChaosNLI" in name for name in converted["used_by"])
    json.dumps([known, converted], allow_nan=False)


@pytest.fixture(scope="module")
def opened(browser, known, converted, tmp_path_factory):
    """Open a calculator's page, with an address' hash; fails when anything went wrong on any."""
    folder, troubles = tmp_path_factory.mktemp("calculators"), []
    addresses = {
        "votes": calculator_page(folder, "votes", known),
        "conversions": calculator_page(folder, "conversions", converted),
    }
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")

    def open_page(kind, place=""):
        page = context.new_page()
        watch(page, troubles)
        page.goto(addresses[kind] + place)
        return page

    yield open_page
    context.close()
    assert not troubles


def answer(page):
    return page.locator(".answer").inner_text()


@pytest.mark.browser
def test_the_script_reads_tables_as_python_does(opened, known):
    page = opened("votes")
    sizes = np.arange(1, 101)
    script = """([rows, column, kind, sizes]) =>
      sizes.map((k) => Calculators.between(rows, column, k, Calculators.WAYS[kind]))"""
    for one in known["datasets"]:
        for kind, (over, into, back) in {
            "label": (np.log, np.array, np.array),
            "shares": (np.log, np.log, np.exp),
        }.items():
            k, value, _ = np.transpose(one[kind])
            within = sizes[sizes <= k.max()]
            expected = back(np.interp(over(within), over(k), into(value)))
            found = page.evaluate(script, [one[kind], 1, kind, within.tolist()])
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    spread = recorded("power.spread_of_differences")
    for row in spread[spread["pair"] == "models"].itertuples():
        (one,) = (one for one in known["datasets"] if one["name"] == row.dataset)
        rows = one["models"]["models"][row.measure]["rows"]
        assert page.evaluate(script, [rows, 1, "models", [row.n_votes]]) == [
            pytest.approx(row.variance, abs=1e-12)
        ]
        n_items, detected = page.evaluate(COMPUTED, [known["reach"], row.variance])
        assert n_items == np.ceil(items_needed(row.variance, 0.02))
        assert detected == pytest.approx(smallest_difference(row.variance, 1000), abs=1e-9)
    assert page.evaluate(script, [known["datasets"][0]["label"], 1, "label", [0.5, 101]]) == [
        None,
        None,
    ]
    page.close()


@pytest.mark.browser
def test_the_script_converts_as_was_computed(opened, converted):
    page = opened("conversions")
    about = {"labels": 3, "scope": "mean", "shifts": converted["shifts"]}
    measured = [form for form in converted["forms"] if form["measured"]]
    pairs = [
        (one, other) for one, other in permutations(measured, 2)
        if one["quantity"] == other["quantity"] and one["measured"][0] is not None
    ]  # fmt: skip
    script = """([pairs, about]) => pairs.map(
      ([one, other]) => Calculators.convert(one.measured[0], one, other, about))"""
    n_exact = 0
    for (_, other), found in zip(pairs, page.evaluate(script, [pairs, about]), strict=True):
        expected = other["measured"][0]
        if "value" in found:
            n_exact += 1
            assert found["value"] == pytest.approx(expected, abs=1e-6)
        if "least" in found:
            assert found["least"] <= found["here"][0] - 1e-9 <= expected
            assert expected <= found["here"][1] + 1e-9 <= found["most"]
        if "shifted" in found:
            assert found["shifted"] == pytest.approx(expected, abs=1e-6)
    assert n_exact > 20
    page.close()


def thinned(counts, k):
    """Return what k of an item's votes give, over all ways of drawing them: agreement, distance."""
    votes = np.repeat(np.arange(len(counts)), counts)
    drawn = np.array(
        [np.bincount(one, minlength=len(counts)) for one in map(list, combinations(votes, k))]
    )
    tops = drawn == drawn.max(axis=1, keepdims=True)
    top = np.array(counts) == max(counts)
    right = (tops / tops.sum(axis=1, keepdims=True) * (top / top.sum())).sum(axis=1).mean()
    gap = np.abs(drawn / k - np.array(counts) / sum(counts)).sum(axis=1).mean() / 2
    return [right, gap / np.sqrt(1 - k / sum(counts))]


@pytest.mark.browser
def test_a_reader_s_own_votes_are_thinned_exactly(opened):
    page = opened("votes")
    for counts, k in product(
        [[6, 3, 1], [4, 4, 2], [5, 0, 5], [3, 3, 2, 2], [7, 0, 0]], [1, 2, 3, 5]
    ):
        item = sorted(counts, reverse=True)
        found = page.evaluate(
            "([i, k]) => [Calculators.agreement(i, k), Calculators.distance(i, k)]", [item, k]
        )
        assert found == pytest.approx(thinned(counts, k), abs=1e-9), (counts, k)
    page.close()


@pytest.mark.browser
def test_the_curve_of_own_votes_ends_at_a_third_of_them(opened):
    page = opened("votes")
    for n, last in ((30, 10), (10, 3), (6, 2), (5, None)):
        counts = [[n - k % 3, k % 3] for k in range(12)]
        found = page.evaluate("(counts) => Calculators.curvesOf(counts)", counts)
        assert found.get("label", [[None]])[-1][0] == last
        assert ("differ" in found) == (last is None)
    page.close()


@pytest.mark.browser
def test_few_votes_of_a_reader_lead_to_the_dataset_that_is_nearest(opened, known):
    page, rng = opened("votes", "#data=own"), np.random.default_rng(0)
    counts = rng.multinomial(3, rng.dirichlet(np.full(3, 0.5), 200))
    counts[:20] = [1, 0, 0]
    several = quadratic_entropy(counts[20:])
    found = page.evaluate("(counts) => Calculators.differing(counts)", counts.tolist())
    error = several.std(ddof=1) / np.sqrt(len(several))
    assert found == pytest.approx([several.mean(), error], abs=1e-12)
    drop(page, "a,b,c\n" + "\n".join(",".join(map(str, item)) for item in counts))
    alike = [one for one in known["datasets"] if one["n_labels"] == 3]
    nearest = min(alike, key=lambda one: abs(one["disagreement"] - several.mean()))
    page.get_by_role("button", name=f"Show the answer for {nearest['short']}").click()
    assert f"data={nearest['name']}" in page.url
    assert f"like those of {nearest['short']}." in answer(page)
    page.get_by_label("Votes like those on").select_option("own")
    assert f"two people differ on {several.mean():.0%} of the items" in answer(page)
    drop(page, "a,b,c,d\n" + "1,1,1,0\n" * 10)
    page.get_by_text("No dataset here has 4 labels").wait_for()
    page.close()


@pytest.mark.browser
def test_the_answer_says_how_many_votes_on_the_reader_s_items_are_enough(opened, known):
    page = opened("votes", "#data=mnli&for=models&measure=sq_distance&items=3000&target=0.02")
    (mnli,) = (one for one in known["datasets"] if one["name"] == "mnli")
    k, variance, *_ = np.transpose(mnli["models"]["models"]["sq_distance"]["rows"])
    sizes = np.arange(1, 101)
    needed = items_needed(np.interp(1 / sizes, 1 / k[::-1], variance[::-1]), 0.02)
    few = sizes[needed <= 3000].min()
    assert f"With 3,000 items, {few} votes per item are enough." in answer(page)
    least = int(np.ceil(needed.min()))
    for items, words in {
        least: "are enough",
        least - 1: f"With {least - 1:,} items, even 100 votes per item do not detect 0.02.",
    }.items():
        page.get_by_label("How many items you have").fill(str(items))
        assert words in answer(page), items
    page.get_by_label("By").select_option("jsd")  # from five votes on, shifted by at most 0.03
    for target, words in (("0.06", "one vote per item is enough"),
                          ("0.04", "5 votes per item are enough"),
                          ("0.03", "even 100 votes per item do not detect 0.03")):  # fmt: skip
        page.get_by_label("Difference to detect").fill(target)
        assert words in answer(page), target
    page.close()


def test_ten_of_mnli_s_votes_find_their_own_majority_more_often_than_the_hundred_s(released_root):
    """What the page says of own votes: why the curve ends at a third of them."""
    votes, rng = load_votes("mnli"), np.random.default_rng(0)
    found = {3: [], 5: []}
    for k, rows in found.items():
        for _ in range(20):
            ten = split_votes(votes.counts, (10,), rng)[0]
            top = scores.shared_top(split_votes(ten, (k,), rng)[0] / k)
            judges = [scores.shared_top(one) for one in (ten / 10, votes.shares)]
            rows.append([(top * one).sum(axis=1).mean() for one in judges])
    right = {k: np.mean(rows, axis=0) for k, rows in found.items()}
    assert right[3] == pytest.approx([0.77, 0.72], abs=0.008)
    assert right[5] == pytest.approx([0.84, 0.77], abs=0.008)


_RANGE = "Right on at least (% of items): enter a number above 0 and at most 100"
BAD = {
    "": f"{_RANGE}.", "0": f"{_RANGE}, not “0”", "-5": "not “-5”", "many": "not “many”",
    "1e999": "not “1e999”", "0,95": "Write decimals with a point", "101": "not “101”",
    "NaN": "not “NaN”",
}  # fmt: skip


@pytest.mark.browser
@pytest.mark.slow
def test_bad_input_gets_a_clear_word(opened):
    page = opened("votes")
    for text, words in BAD.items():
        page.get_by_label("Right on at least").fill(text)
        assert words in answer(page), text
        assert not page.locator(".drawing").is_visible()
    page.get_by_label("Right on at least").fill("95")
    right = answer(page)
    for text in ("1000000000", "0", "2.5"):
        page.get_by_label("How many items you have").fill(text)
        words = f"How many items you have: enter a whole number from 1 to 10,000,000, not “{text}”."
        assert page.get_by_text(words).is_visible(), text
        assert answer(page) == right  # which needs no such number
    page.get_by_label("How many items you have").fill("")
    assert not page.locator(".field .fault:visible").count()
    assert answer(page) == right
    page.get_by_label("Votes like those on").select_option("mnli")
    assert "we do not extrapolate" in answer(page)
    page.get_by_label("What for").select_option("models")
    page.get_by_label("Difference to detect").fill("1e-9")
    assert "more than 10,000,000 items" in answer(page)
    assert "NaN" not in page.locator(".calculator").inner_text()
    page = opened("conversions")
    for text, words in {
        "0.9": "possible under distance, bits",
        "-1": "is impossible: Jensen–Shannon",
        "x": "Value: enter a number, not “x”.",
        "0": "is exactly 0 (distance, bits), 0 (divergence, nats)",
    }.items():
        page.get_by_label("Value").fill(text)
        assert words in answer(page), text
    page.get_by_label("Measure").select_option("ECE")
    page.get_by_label("Value").fill("14.7")
    assert "divide it by 100" in answer(page)
    page.close()


def drop(page, content):
    file = {"name": "secret.csv", "mimeType": "text/csv", "buffer": content.encode()}
    page.locator("#calculator-file").set_input_files(file)


FILES = {
    "uid,text\na,b\n": "and two are needed",
    "": "is empty",
    "[1, 2]": "a JSON list",
    "item,annotator,label\nm1,ana,<b>\nm1,ben,no\n": "needs at least 10 items",
    "item,annotator,label\nm1,ana,yes\nm1,ana,no\n": "Row 2 is another vote by one annotator",
    "item,annotator,label\nm1,ana,yes\nm1,ben,N/A\n": "Row 2 lacks an item or a label",
    "item,annotator,label\nm1,ana,yes\nm1,ben,<b>\nm1,c,<B>\n": "“<B>” is written in several ways",
    "item,annotator,label\nm1,ana,yes\nm1,ben,yes\n": "All votes are for one label",
    "post_id,reply_id,label\n1,1,yes\n1,1,no\n": "Several columns may hold the items",
    "uid,a,b\n1,-3,4\n": "a negative number",
    "uid,a,b\n1,0.3,0.7\n": "to hold shares",
    "uid,a,b\n1,0,0\n": "has no vote",
    "uid,a,b\n1,2\n": "Row 1 has 2 cells",
    "uid,a,b\n1,2,1\n": "needs at least 10 items",
    "uid,a,b\n" + "1,2,1\n" * 3_400_000: "larger than 20 MB",
    ",".join(f"c{k}" for k in range(3000)) + ("\n" + ",".join(["1"] * 3000)) * 60: "100 labels",
}


@pytest.mark.browser
@pytest.mark.slow
def test_a_file_is_read_here_or_says_why_not_and_is_in_no_link(opened):
    page = opened("votes")
    page.get_by_label("Votes like those on").select_option("own")
    for content, words in FILES.items():
        drop(page, content)
        page.locator(".file .fault", has_text=words).wait_for(timeout=5000)
        assert not answer(page)  # said once
    rng = np.random.default_rng(0)
    rows = "\n".join(f"i{i},{a},{20 - a}" for i, a in enumerate(rng.integers(0, 21, 40)))
    drop(page, f"uid,yes,no\n{rows}")
    page.locator(
        ".file .note", has_text="Counts in yes, no; not used: uid. 40 of 40 items"
    ).wait_for()
    assert "like those of your file" in answer(page)
    cited = page.locator(".calculator-cite").text_content()
    assert "data=own" in page.url
    assert "secret" not in page.url + cited
    assert "yes" not in cited
    assert "your file" not in cited
    page.get_by_label("What for").select_option("models")
    assert "chaos run ceilings" in answer(page)
    page.close()


@pytest.mark.browser
def test_rows_of_votes_are_counted_by_item_and_label(opened):
    page = opened("votes")
    votes = [f"{w},p{k},{'no' if w % 3 < k % 3 else 'yes'},x" for w in range(9) for k in range(12)]
    rows = "\n".join(["worker_id,post_id,label,note", *votes])
    read = page.evaluate("text => Calculators.readVotes(text)", rows)
    assert (read["columns"], read["unused"]) == (["no", "yes"], ["note"])
    assert read["counts"] == [[3 * (k % 3), 9 - 3 * (k % 3)] for k in range(12)]
    page.get_by_label("Votes like those on").select_option("own")
    drop(page, rows)
    page.locator(".file .note", has_text="One row per vote, with the labels no, yes").wait_for()
    page.close()


@pytest.mark.browser
def test_a_column_of_ids_holds_no_counts(opened):
    page = opened("votes")
    for name, ids in (
        ("post_id", [7] * 30),
        ("Post ID", [7] * 30),
        ("docId", [7] * 30),
        ("post", range(500, 530)),
        ("post", range(7, 19)),
        ("post", [7 * k % 101 for k in range(30)]),
    ):
        rows = "\n".join(f"{id},{k % 7},{9 - k % 7}" for k, id in enumerate(ids))
        read = "text => Calculators.readVotes(text).columns"
        assert page.evaluate(read, f"{name},yes,no\n{rows}") == ["yes", "no"], (name, ids)
    page.close()


@pytest.mark.browser
def test_the_file_that_was_chosen_last_is_the_one_that_is_shown(opened):
    page = opened("votes", "#data=own")
    page.evaluate("""() => {
      const read = File.prototype.text;
      window.slow = Promise.withResolvers();
      File.prototype.text = function () {
        return this.name === "slow.csv" ? window.slow.promise : read.call(this);
      };
    }""")
    rows = "\n".join(f"{k % 7},{9 - k % 7}" for k in range(30))
    place = page.locator("#calculator-file")
    for name, columns in (("slow", "a,b"), ("fast", "c,d")):
        content = f"{columns}\n{rows}".encode()
        file = {"name": f"{name}.csv", "mimeType": "text/csv", "buffer": content}
        place.set_input_files(file)
    page.locator(".file .note", has_text="Counts in c, d").wait_for()
    page.evaluate("text => { slow.resolve(text); }", f"a,b\n{rows}")
    page.evaluate("() => new Promise(setTimeout)")
    assert "Counts in c, d" in page.locator(".file").inner_text()
    page.close()


@pytest.mark.browser
@pytest.mark.slow
def test_links_hold_the_input_and_those_of_another_edition_are_understood_in_part(opened):
    link = "#data=mnli&for=shares&target=0.1&items=500&price=0.1&votes=20"
    page = opened("votes", link)
    first = answer(page)
    assert first.startswith("20 votes per item")
    assert "MNLI" in first
    assert "they cost 1,000" in page.locator(".more").inner_text()
    assert f"https://example.org/x.html{link}" in page.locator(".calculator-cite").text_content()
    nonsense = "#data=squad&for=label&target=<b>&votes=1e9&edition=1&price=%00"
    page = opened("votes", nonsense)
    said = page.locator(".calculator").inner_text()
    assert "does not know “data=squad”, “votes=1e9”, “edition”" in said
    assert "not “<b>”" in answer(page)
    assert "NaN" not in said
    assert "undefined" not in said
    page = opened("votes", "#for=models&items=7")
    assert "differ by 0.02" in answer(page)
    page.evaluate("location.hash = '#for=label'")
    page.get_by_text("1,000 items with").wait_for()
    page = opened("conversions", "#convention=kl.of-old&value=0.3")
    assert "does not know “convention=kl.of-old”" in page.locator(".calculator").inner_text()
    assert answer(page).startswith("0.3 as Jensen–Shannon (distance, nats)")
    page.close()


@pytest.mark.browser
@pytest.mark.slow
def test_the_keyboard_does_all_of_it(opened):
    page = opened("votes")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert "MNLI" in answer(page)
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert "TVD" in answer(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type("0.1")
    assert answer(page).startswith("20 votes per item")
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert page.locator("output").inner_text().startswith("21: TVD 0.09")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.get_by_role("table").is_visible()
    page = opened("conversions")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type("0.3")
    page.keyboard.press("Tab")
    page.keyboard.type("Lin")
    assert "divergence, bits" in answer(page)
    page.close()


@pytest.mark.browser
@pytest.mark.slow
def test_a_mean_of_roots_is_not_the_root_of_a_mean(opened):
    page = opened("conversions", "#convention=jensen-shannon.distance-nats&value=0.25")
    row = page.get_by_role("row", name=re.compile("^divergence, nats"))
    assert "Between 0.0625 and 0.2081" in row.inner_text()
    assert page.get_by_text("Cannot be converted", exact=True).is_visible()
    page.get_by_label("Reported as", exact=True).select_option("item")
    assert "0.0625" in row.inner_text()
    assert "exact" in row.inner_text()
    page.close()

"""A file of predictions, evaluated in a real browser as `chaos evaluate` does."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from chaos_book import evaluate
from helpers.checkout import PROJECT
from helpers.pages import instead, open_page, violations
from helpers.predictions import (
    N,
    made_dataset,
    made_votes,
    shares,
    table_of,
    write_chaosnli,
    write_csv,
    write_lines,
)
from helpers.predictions import released as released_entry

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.votes import frozen
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.resampling import percentile_interval
from chaos_utils.publish import explorer
from chaos_utils.publish.scripts import packed
from chaos_utils.scoring.human_equivalents import BRIER, brier_equivalent
from chaos_utils.scoring.predictions import read_predictions
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.systems import computed, load_systems

pytestmark = pytest.mark.browser

SCRIPTS = ("reading.js", "measures.js", "results.js")
NAMES = ("jsd", "kl", "dist_ce", "ent_ce", "old_accuracy", "new_accuracy", "ece")
READ = """([text, name, known, allowMissing]) => {
  try {
    return {found: Evaluate.read(text, name, known, allowMissing)};
  } catch (fault) {
    if (!(fault instanceof Evaluate.Fault)) throw fault;
    const {message, found, expected, todo} = fault;
    return {message, found, expected, todo};
  }
}"""
MEASURED = """([text, name, known, resamples]) => {
  const [found] = Evaluate.read(text, name, known, true);
  const values = Evaluate.measured(found, resamples);
  const half = found.dataset.half;
  const {human_equivalent_brier: worth} = values;
  return {values, people: worth && Evaluate.inPeople(worth, half),
    finite: worth && Object.fromEntries(Object.entries(worth).filter(([, v]) => isFinite(v)))};
}"""
FEW = 60  # resamples


def known_of(all_votes, rows=()):
    """Return what the page knows of votes, as its data files and the page itself say it."""
    said = evaluate.known(all_votes, rows)
    datasets = [
        explorer.columns(votes, ())
        | said["datasets"][votes.dataset.name]
        | {"half": int(votes.n_votes.min()) // 2}
        for votes in all_votes
    ]
    synthetic = any(votes.source.synthetic for votes in all_votes)
    return said | {"datasets": datasets, "synthetic": synthetic}


@pytest.fixture(scope="module")
def scripts(browser):
    """A page that has the scripts, and nothing to show."""
    page = browser.new_page()
    for name in SCRIPTS:
        page.add_script_tag(path=PROJECT / "book" / "_evaluate" / name)
    yield page
    page.close()


@pytest.fixture
def votes():
    """Forty items whose old label goes round, in the order of their uids, as the page has them."""
    made = made_votes(get_dataset("snli"))
    order = np.argsort(made.uids)
    return replace(
        made,
        uids=tuple(sorted(made.uids)),
        counts=frozen(made.counts[order]),
        majority=frozen(made.majority[order]),
        given_old_label=frozen(made.old_label[order]),
    )


def drawn(n_items, seed):
    """Return how often each of `FEW` resamples holds each item, as `score` draws them."""
    rng = np.random.default_rng([seed, 0])
    places = rng.integers(n_items, size=(FEW, n_items), dtype=np.int32)
    return np.stack([np.bincount(row, minlength=n_items) for row in places])


def check_like_python(scripts, path, votes):
    """Hold all that the page says of a file against what Python says."""
    (system,) = read_predictions(path, [votes], allow_missing=True)
    names = [name for name in NAMES if votes.has_old_labels or name != "old_accuracy"]
    rows = score(votes, [system], measures=names, n_resamples=FEW, seed=7)
    expected = rows.set_index("measure")
    covered = [i for i, uid in enumerate(votes.uids) if uid in set(system.uids)]
    # The page's items are in the order of their uids, the resamples in that of the votes.
    order = sorted(range(len(covered)), key=lambda j: votes.uids[covered[j]])
    times = drawn(len(votes), 7)[:, covered][:, order]
    # Python resamples the items of the dataset, the page those of the file: the same if whole.
    whole = len(covered) == len(votes)
    content = [path.read_text("utf-8"), path.name, known_of([votes]), times.tolist()]
    found = scripts.evaluate(MEASURED, content)
    values = found["values"]
    assert set(values) - {BRIER} == set(names)
    for name in names:
        assert values[name]["value"] == pytest.approx(expected.loc[name, "value"], abs=1e-9), name
        assert ("low" in values[name]) == MEASURES[name].has_interval == (name != "ece")
        if whole and "low" in values[name]:
            for end in ("low", "high"):
                ours = expected.loc[name, end]
                assert values[name][end] == pytest.approx(ours, abs=1e-9), (name, end)
    worth = brier_equivalent(votes, system)
    for end in ("value", "low", "high"):
        ours = getattr(worth, end)
        if np.isfinite(ours):
            assert found["finite"][end] == pytest.approx(ours, rel=1e-9, abs=1e-9)
        else:
            assert end not in found["finite"]
    assert found["people"] == worth.text
    return values


def write_system(path, system):
    """Write a system's predictions to the last digit."""
    header = ",".join(["uid", *(label.replace(" ", "_") for label in system.dataset.labels)])
    rows = zip(system.uids, system.probabilities.tolist(), strict=True)
    lines = [",".join([uid, *map(repr, values)]) for uid, values in rows]
    path.write_text("\n".join([header, *lines]) + "\n", "utf-8")
    return path


def test_numbers_and_intervals_are_python_s_on_every_dataset(scripts, sample, tmp_path):
    for votes in sample:
        system, *_ = load_systems(votes)
        path = write_system(tmp_path / f"{votes.dataset.name}.csv", system)
        check_like_python(scripts, path, votes)


@pytest.mark.slow
def test_numbers_and_intervals_are_python_s_on_the_released_data(scripts, released, tmp_path):
    for votes in released:
        for system in load_systems(votes)[:1]:
            path = write_system(tmp_path / f"{votes.dataset.name}.csv", system)
            values = check_like_python(scripts, path, votes)
            assert 0.2 < values["jsd"]["value"] < 0.4


@pytest.mark.parametrize("case", ["one hot", "uniform", "tied", "rounded", "on an edge", "part"])
def test_numbers_are_python_s_at_the_edges(scripts, votes, tmp_path, case):
    rows = {
        "one hot": lambda i: np.eye(3)[i % 3],
        "uniform": lambda i: [1 / 3] * 3,
        "tied": lambda i: [0.5, 0.5, 0] if i % 2 else [0.3, 0.35, 0.35],
        "rounded": lambda i: [0.7001, 0.2, 0.1002],
        "on an edge": lambda i: ([0.5, 0.3, 0.2], [0.55, 0.45, 0], [0.45, 0.35, 0.2])[i % 3],
        "part": lambda i: [0.6, 0.3, 0.1],
    }[case]
    n = N - 7 if case == "part" else N
    lines = [f"u{i},{','.join(map(str, rows(i)))}" for i in range(n)]
    check_like_python(scripts, write_csv(tmp_path / "m.csv", lines), votes)


def test_stated_labels_and_few_votes_without_old_labels(scripts, tmp_path):
    votes = made_votes(get_dataset("snli"), old_labels=False)
    entry = {"probs": [0.4, 0.3, 0.3], "predicted_label": "n"}
    path = write_lines(tmp_path / "m.jsonl", lambda i: entry)
    values = check_like_python(scripts, path, votes)
    assert "old_accuracy" not in values


def test_who_is_exactly_right_is_worth_any_number_of_people(scripts, votes, tmp_path):
    lines = [f"{uid},{','.join(map(repr, row))}" for uid, row in
             zip(votes.uids, votes.shares.tolist(), strict=True)]  # fmt: skip
    path = write_csv(tmp_path / "m.csv", lines)
    check_like_python(scripts, path, votes)


def test_four_labels_of_a_reader_s_own(scripts, others, tmp_path):
    for votes in others:
        path = tmp_path / "m.csv"
        table_of(votes).to_csv(path, index=False)
        check_like_python(scripts, path, votes)


def test_every_format_is_read_as_python_reads_it(scripts, votes, tmp_path):
    semicolons = "\n".join(
        ["uid;entailment;neutral;contradiction"]
        + [f'"u{i}";' + ";".join(str(p).replace(".", ",") for p in shares(i)) for i in range(N)]
    )
    (tmp_path / "s.csv").write_text("\ufeff" + semicolons.replace("\n", "\r\n"), "utf-8")
    files = [
        write_csv(tmp_path / "c.csv"),
        tmp_path / "s.csv",
        write_lines(tmp_path / "p.jsonl"),
        write_lines(tmp_path / "l.jsonl", lambda i: {"logits": np.log(shares(i)).tolist()}),
        write_lines(tmp_path / "r.json", released_entry),
        write_chaosnli(tmp_path / "j.json"),
    ]
    for path in files:
        (system,) = read_predictions(path, [votes])
        answer = scripts.evaluate(
            READ, [path.read_bytes().decode(), path.name, known_of([votes]), False]
        )
        (one,) = answer["found"]
        uids = [one["dataset"]["uids"][i] for i in one["places"]]
        of = dict(zip(uids, one["probabilities"], strict=True))
        for uid, ours in zip(system.uids, system.probabilities, strict=True):
            np.testing.assert_allclose(of[uid], ours, rtol=0, atol=1e-12)
        assert one["model"] == system.name
        assert one["notes"] == list(system.notes)


def lines_with(i, text):
    lines = [f"u{j}," + ",".join(map(str, shares(j))) for j in range(N)]
    return [*lines[:i], text, *lines[i + 1 :]]


FAULTS = {
    "another order": lambda path: write_csv(path, header="uid,neutral,contradiction,entailment"),
    "another order, lines": lambda path: write_lines(
        path, lambda i: {"probs": [shares(i)[c] for c in (1, 2, 0)]}
    ),
    "another order, released": lambda path: write_lines(
        path, lambda i: released_entry(i, order=(0, 1, 2))
    ),
    "missing": lambda path: write_csv(path, lines_with(0, "")[:-3]),
    "not summing": lambda path: write_csv(path, lines_with(3, "u3,0.5,0.25,0.125")),
    "negative": lambda path: write_csv(path, lines_with(3, "u3,1.5,-0.25,-0.25")),
    "percentages": lambda path: write_csv(
        path, [f"u{i}," + ",".join(str(100 * p) for p in shares(i)) for i in range(N)]
    ),
    "not a number": lambda path: write_csv(path, lines_with(5, "u5,0.5,high,0.25")),
    "doubled": lambda path: write_csv(path, lines_with(4, "u3,0.5,0.25,0.25")),
    "no uid": lambda path: write_csv(path, lines_with(4, ",0.5,0.25,0.25")),
    "too few fields": lambda path: write_csv(path, lines_with(4, "u4,0.5,0.5")),
    "open quotation": lambda path: write_csv(path, lines_with(4, 'u4,"0.5,0.25,0.25')),
    "unknown columns": lambda path: write_csv(path, header="id,a,b,c"),
    "lacking column": lambda path: write_csv(path, header="uid,entailment,neutral,other"),
    "column twice": lambda path: write_csv(path, header="uid,entailment,neutral,neutral"),
    "too many columns": lambda path: write_csv(
        path, [f"u{i},0.5,0.25,0.25,0.5" for i in range(N)],
        header="uid,entailment,neutral,contradiction,hidden",
    ),
    "another dataset": lambda path: write_csv(path, lines_with(0, "")[1:4]).write_text(
        path.read_text().replace("u", "x").replace("xid", "uid").replace("nextral", "neutral")
    ),
    "stated label": lambda path: write_csv(
        path, [f"u{i},0.5,0.25,0.25,n" for i in range(N)],
        header="uid,entailment,neutral,contradiction,predicted_label",
    ),
    "unknown label": lambda path: write_csv(
        path, [f"u{i},0.5,0.25,0.25,maybe" for i in range(N)],
        header="uid,entailment,neutral,contradiction,predicted_label",
    ),
    "contradiction": lambda path: write_lines(path, lambda i: released_entry(i, pred=2)),
    "two values": lambda path: write_lines(
        path, lambda i: {"probs": [0.5, 0.5] if i == 2 else shares(i)}
    ),
    "mixed": lambda path: write_lines(
        path, lambda i: {"logits": [1, 2, 3]} if i == 2 else {"probs": shares(i)}
    ),
    "said otherwise": lambda path: write_csv(
        path, [f"u{i},0.5,0.25,0.25,{i % 2}" for i in range(N)],
        header="uid,entailment,neutral,contradiction,seed",
    ),
    "empty": lambda path: path.write_text("\n"),
    "only a header": lambda path: write_csv(path, []),
    "a list": lambda path: path.write_text("[1, 2]"),
}  # fmt: skip
# What a page cannot do as a command can, and formats that it does not read.
OTHERWISE = (
    ("or pass --allow-missing to evaluate the rest", "or tick “Evaluate a part of the items”"),
    ("CSV or parquet with", "CSV with"),
    ("; or drawn answers in columns uid and sample", ""),
    ("fields of less than 131,072 characters, and a closing", "a closing"),
)


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_reported_in_the_words_of_the_command(scripts, votes, tmp_path, fault):
    path = tmp_path / "m.csv"
    FAULTS[fault](path)
    with pytest.raises(ChaosError) as raised:
        _read_checked(path, votes)
    expected = str(raised.value)
    for words, other in OTHERWISE:
        expected = expected.replace(words, other)
    expected = re.sub(r"(\d)\.0\b", r"\1", expected)  # a page writes whole numbers without
    told = scripts.evaluate(READ, [path.read_text(), path.name, known_of([votes]), False])
    said = {name: told.get(name) for name in ("found", "expected", "todo")}
    assert str(ChaosError(told["message"], where=path, **said)) == expected


def _read_checked(path, votes):
    for system in read_predictions(path, [votes]):
        system.aligned_to(votes)


def test_who_learned_from_the_votes_is_refused_unless_out_of_fold(scripts, votes, tmp_path):
    header = "uid,entailment,neutral,contradiction,trained_on,out_of_fold"
    for out_of_fold in ("false", "true"):
        lines = [f"u{i}," + ",".join(map(str, shares(i))) + f",snli; votes of SNLI,{out_of_fold}"
                 for i in range(N)]  # fmt: skip
        path = write_csv(tmp_path / "m.csv", lines, header)
        told = scripts.evaluate(READ, [path.read_text(), path.name, known_of([votes]), False])
        assert ("found" in told and isinstance(told["found"], list)) == (out_of_fold == "true")
        if out_of_fold == "false":
            with pytest.raises(ChaosError) as raised:
                _read_checked(path, votes)
            assert str(raised.value).startswith(told["message"])


def test_doubts_and_leftovers_are_noted_as_the_command_notes_them(scripts, votes, tmp_path):
    lines = [*lines_with(0, "x1,0.5,0.25,0.25"), "x2,0.5,0.25,0.25"]
    path = write_csv(tmp_path / "m.csv", lines)
    some = write_csv(tmp_path / "few.csv", lines[1:4])
    for file in (path, some):
        (system,) = read_predictions(file, [votes], allow_missing=True)
        told = scripts.evaluate(READ, [file.read_text(), file.name, known_of([votes]), True])
        assert told["found"][0]["notes"] == list(system.notes)
        assert system.notes


def test_a_file_of_several_datasets_has_results_for_each(scripts, sample, tmp_path):
    lines = [f"{uid},0.6,0.3,0.1" for votes in sample[:2] for uid in votes.uids]
    path = write_csv(tmp_path / "m.csv", lines)
    told = scripts.evaluate(READ, [path.read_text(), path.name, known_of(sample), False])
    assert [one["dataset"]["name"] for one in told["found"]] == ["snli", "mnli"]


def test_uids_of_two_datasets_are_distinguished_by_the_classes(scripts, votes, tmp_path):
    other = made_votes(made_dataset())
    path = write_csv(tmp_path / "m.csv")
    told = scripts.evaluate(READ, [path.read_text(), path.name, known_of([other, votes]), False])
    assert [one["dataset"]["name"] for one in told["found"]] == ["snli"]


def test_drawn_answers_are_left_to_the_command(scripts, votes, tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("uid,sample\n" + "".join(f"{uid},neutral\n" for uid in votes.uids))
    told = scripts.evaluate(READ, [path.read_text(), path.name, known_of([votes]), False])
    assert told["message"] == "This page cannot read answers drawn from a language model."
    assert "chaos evaluate" in told["todo"]


def test_many_models_in_a_file_are_not_mixed(scripts, votes, tmp_path):
    path = write_chaosnli(tmp_path / "m.json", models=("a", "b"))
    told = scripts.evaluate(READ, [path.read_text(), path.name, known_of([votes]), False])
    assert told["message"] == "This file holds the predictions of 2 models."
    assert told["found"] == "a, b"


def test_resamples_hold_every_item_about_as_often_and_come_again(scripts):
    times = np.array(scripts.evaluate("Evaluate.draw(50, 2000, 3).map(one => [...one])"))
    again = np.array(scripts.evaluate("Evaluate.draw(50, 2000, 3).map(one => [...one])"))
    other = np.array(scripts.evaluate("Evaluate.draw(50, 2000, 4).map(one => [...one])"))
    assert (times == again).all()
    assert (times != other).any()
    assert (times.sum(axis=1) == 50).all()
    # Of each item's number: mean 1, variance 49 / 50.
    assert np.abs(times.mean(axis=0) - 1).max() < 5 / np.sqrt(2000)
    assert abs(times.var() - 0.98) < 0.02
    assert abs(np.corrcoef(times[:-1].ravel(), times[1:].ravel())[0, 1]) < 0.02
    apart = np.corrcoef(times.T)[~np.eye(50, dtype=bool)]
    assert abs(apart.mean() + 1 / 49) < 0.005


@pytest.mark.parametrize("n", [40, 41, 60, 999, 1000])
def test_the_percentile_interval_takes_python_s_order_statistics(scripts, n):
    rng = np.random.default_rng(n)
    values, times = rng.random(30), rng.integers(3, size=(n, 30))
    found = scripts.evaluate(
        "([values, times]) => Evaluate.interval(values, times)", [values.tolist(), times.tolist()]
    )
    low, high = percentile_interval((times @ values / 30)[:, np.newaxis])
    assert found == pytest.approx({"low": low[0], "high": high[0]}, abs=1e-12)


# The page


@pytest.fixture
def visit(browser, small_checkout):
    """Open the page; fails when anything went wrong on it, or it asked for something."""
    site = small_checkout / "_build" / "html"
    opened = []

    def open_at(width=1280, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        page, troubles = open_page(context, site / "index.html")
        page.locator("#evaluate").scroll_into_view_if_needed()
        page.get_by_role("button", name="Show an example").wait_for()
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        opened.append((context, troubles, asked))
        return page

    yield open_at
    for context, troubles, asked in opened:
        assert not troubles
        assert not asked
        context.close()


@pytest.fixture
def file(sample, tmp_path):
    votes = sample[0]
    return write_system(tmp_path / "my-model.csv", load_systems(votes)[0])


def choose(page, path):
    page.get_by_label("Choose a file of predictions").set_input_files(path)


# Gives the short book, which has no main table, three systems to be set among.
OTHERS = """document.addEventListener("readystatechange", () => {
  const place = document.getElementById("evaluate-known");
  if (document.readyState !== "interactive") return; // before any script runs
  const known = JSON.parse(place.textContent);
  known.datasets.snli.others = [
    {system: "est-human", kind: "human", source: "published", jsd: [0.001, null, null]},
    {system: "guess", kind: "baseline", source: "computed", jsd: [0.8, 0.79, 0.81],
     new_accuracy: [0.99, 0.98, 1]},
    {system: "other <b>", kind: "model", source: "computed", jsd: [0.3, 0.2, 0.4]},
  ];
  place.textContent = JSON.stringify(known);
});"""


def test_a_file_is_measured_and_placed_without_a_request(visit, file, sample):
    page = visit()
    choose(page, file)
    table = page.locator("#evaluate table").first
    table.wait_for()
    votes = sample[0]
    (system,) = read_predictions(file, [votes])
    expected = score(votes, [system], measures=NAMES).set_index("measure")["value"]
    for name in NAMES:
        row = table.get_by_role("row", name=MEASURES[name].title)
        assert f"{expected[name]:.3f}" in row.inner_text()
    assert "human equivalent" in table.inner_text()
    status = page.locator(".evaluate-status")
    assert status.get_attribute("aria-live") == "polite"
    assert "my-model on SNLI, 300 items: JSD" in status.inner_text()
    assert "synthetic sample" in table.inner_text()
    assert "never uploaded" in page.locator("#evaluate").inner_text()
    # There is no main table in this book, and no dataset beside the sample's.
    assert page.locator("#evaluate select:visible").count() == 0


def test_a_system_stands_among_the_others_by_any_measure_they_have(browser, small_checkout, file):
    context = browser.new_context()
    context.add_init_script(OTHERS)
    page, troubles = open_page(context, small_checkout / "_build" / "html" / "index.html")
    choose(page, file)
    places = page.locator(".evaluate-places tbody tr")
    places.first.wait_for()
    order = page.locator(".evaluate-places tbody th").evaluate_all(
        "all => all.map(one => one.firstChild.textContent)"
    )
    assert set(order) == {"est-human", "guess", "other <b>", "my-model"}
    values = [float(re.match(r"[\d.]+", text)[0]) for text in
              page.locator(".evaluate-places td.number").all_inner_texts()]  # fmt: skip
    assert values == sorted(values)
    said = page.locator(".evaluate-said").inner_text()
    assert f"takes place {order.index('my-model') + 1} of 4" in said
    page.get_by_label("Place by").select_option("new_accuracy")
    assert page.locator(".evaluate-places tbody th").all_inner_texts()[0].startswith("guess")
    assert "takes place 2 of 2" in page.locator(".evaluate-said").inner_text()
    assert not troubles
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        wide = page.evaluate("document.scrollingElement.scrollWidth")
        assert wide <= width
    for scheme in ("light", "dark"):
        page.evaluate("scheme => document.documentElement.dataset.theme = scheme", scheme)
        assert not violations(page)
    context.close()


def test_a_dataset_beside_the_book_s_is_judged_when_it_is_chosen(browser, small_checkout, tmp_path):
    votes = made_votes(get_dataset("rte"))
    # Any script of the page stands in for the file, which sets what is set already.
    more = {"name": "rte", "title": "RTE", "file": "items.js", "global": "CHAOS_MORE_rte"}
    content = packed("CHAOS_MORE_rte", {"numbers": explorer.columns(votes, ())}, "")
    context = browser.new_context()
    context.add_init_script(instead("CHAOS_OTHERS", [more]) + content)
    page, troubles = open_page(context, small_checkout / "_build" / "html" / "index.html")
    path = write_system(tmp_path / "mine.csv", computed("mine", votes, votes.shares))
    choose(page, path)
    page.locator(".evaluate-fault").get_by_text("No uid of 'mine' occurs in").wait_for()
    page.get_by_label("Dataset").select_option("rte")
    table = page.locator("#evaluate table").first
    table.wait_for()
    assert f"mine on {len(votes)} items of RTE" in table.inner_text()
    assert "0.000" in table.get_by_role("row", name=MEASURES["jsd"].title).inner_text()
    assert not page.locator(".evaluate-fault").is_visible()
    assert not troubles
    page.get_by_role("button", name="Show an example").click()
    page.get_by_text("items of SNLI").first.wait_for()
    assert page.get_by_label("Dataset").input_value() == ""
    context.close()


def test_a_fault_is_one_message_and_the_next_file_takes_its_place(visit, file, tmp_path):
    page = visit()
    _, *lines = file.read_text().splitlines()
    swapped = tmp_path / "swapped.csv"
    swapped.write_text("\n".join(["uid,contradiction,neutral,entailment", *lines]))
    choose(page, swapped)
    message = page.get_by_role("alert")
    message.wait_for()
    text = message.inner_text()
    assert "The classes of 'swapped' seem to be in another order." in text
    assert "correct the header" in text
    assert "swapped.csv" in text
    assert page.locator("#evaluate table").count() == 0
    assert not violations(page)
    choose(page, file)
    page.locator("#evaluate table").first.wait_for()
    assert not message.is_visible()


def test_a_part_is_evaluated_when_that_is_asked_for(visit, file, tmp_path):
    short = tmp_path / "short.csv"
    short.write_text("\n".join(file.read_text().splitlines()[:-3]))
    page = visit()
    choose(page, short)
    page.get_by_role("alert").wait_for()
    assert "3 of 300 items" in page.get_by_role("alert").inner_text()
    page.get_by_label("Evaluate a part of the items").check()
    page.locator("#evaluate table").first.wait_for()
    assert "evaluated on the other 297" in page.locator("#evaluate").inner_text()


@pytest.mark.parametrize("content", [b"PAR1....", b"\xff\xfe\x00u"])
def test_what_is_no_text_is_said_to_be_none(visit, tmp_path, content):
    path = tmp_path / "file.csv"
    path.write_bytes(content)
    page = visit()
    choose(page, path)
    page.get_by_role("alert").wait_for()
    assert re.search("cannot read parquet|not UTF-8 text", page.get_by_role("alert").inner_text())


def test_a_file_can_be_dropped_and_its_words_stay_words(visit):
    page = visit()
    page.evaluate("""() => {
      const transfer = new DataTransfer();
      const evil = 'uid,entailment,neutral,contradiction\\n<img src=x onerror=alert(1)>,1,0,0';
      transfer.items.add(new File([evil], "<b>evil.csv"));
      const drop = document.querySelector(".evaluate-drop");
      drop.dispatchEvent(new DragEvent("drop", {dataTransfer: transfer, cancelable: true}));
    }""")
    message = page.get_by_role("alert")
    message.wait_for()
    assert "<img src=x" in message.inner_text()
    assert message.locator("img, b").count() == 0


def test_the_keyboard_alone_shows_the_example(visit):
    page = visit(width=390, scheme="dark")
    page.get_by_label("Choose a file of predictions").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("#evaluate table").first.wait_for()
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    assert not violations(page)


def test_the_page_holds_no_votes_and_a_part_of_the_main_table():
    rows = [
        {"dataset": "snli", "system": "est-human", "source": "published", "kind": "human",
         "jsd": 0.0614, "jsd_low": float("nan"), "jsd_high": None},
        {"dataset": "snli", "system": "a, mean of 2 seeds", "source": "computed", "kind": "model",
         "jsd": 0.2, "n_seeds": 2},
        {"dataset": "mnli", "system": "a", "source": "computed", "kind": "model", "jsd": 0.2},
    ]  # fmt: skip
    votes = made_votes(get_dataset("snli"), prefix="item-")
    known = evaluate.known([votes], rows)
    assert known["datasets"]["snli"]["others"] == [
        {"system": "estimated human", "kind": "human", "source": "published",
         "jsd": [0.0614, None, None]}
    ]  # fmt: skip
    assert "item-" not in json.dumps(known)


def test_the_site_loads_it_on_its_page_alone(small_checkout):
    site: Path = small_checkout / "_build" / "html"
    assert "evaluate/main.js" in (site / "index.html").read_text()
    assert "evaluate/main.js" not in (site / "explorer.html").read_text()
    assert "explorer/items.js" not in (site / "index.html").read_text()  # once it is in view

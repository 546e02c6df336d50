"""A file of predictions, evaluated in a real browser as `chaos evaluate` does."""

import json
import re
from dataclasses import astuple, replace

import numpy as np
import pytest
from chaos_book import evaluate
from helpers.checkout import PROJECT
from helpers.pages import instead, violations
from helpers.predictions import (
    N,
    csv_text,
    lines_text,
    made_dataset,
    made_votes,
    shares,
    table_of,
    write_chaosnli,
    write_csv,
    write_lines,
    write_shares,
)
from helpers.predictions import released as released_entry

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.votes import frozen
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.publish import explorer
from chaos_utils.publish.scripts import packed
from chaos_utils.scoring.predictions import read_predictions
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.systems import base_rate, load_systems, uniform
from chaos_utils.scoring.worth import worth

pytestmark = pytest.mark.browser

NAMES = ("jsd", "kl", "dist_ce", "ent_ce", "old_accuracy", "new_accuracy", "ece")
READ = """([cases, known]) => cases.map(([text, name, allowMissing]) => {
  try {
    return {found: Evaluate.read(text, name, known, allowMissing)};
  } catch (fault) {
    if (!(fault instanceof Evaluate.Fault)) throw fault;
    const {message, found, expected, todo} = fault;
    return {message, found, expected, todo};
  }
})"""
MEASURED = """([text, name, known, resamples]) => {
  const [found] = Evaluate.read(text, name, known, true);
  const words = (one) => Object.keys(one.estimates).map((name) => Evaluate.inWords(name, one));
  return {values: Evaluate.measured(found, resamples), worth: Evaluate.worths(found, resamples)
    .map((one) => ({...one, words: words(one), ends: Object.values(one.estimates).flatMap(
      ({value, low, high}) => [value, low, high].map((end) => String(end ?? NaN)))}))};
}"""
FEW = 60  # resamples


def known_of(all_votes):
    """Return what the page knows of votes, as its data files and the page itself say it."""
    said = evaluate.known(all_votes, ())
    datasets = [
        explorer.columns(votes, ()) | said["datasets"][votes.dataset.name] for votes in all_votes
    ]
    return said | {"datasets": datasets, "synthetic": False}


def told(scripts, paths, all_votes, *, allow_missing=False):
    """Return what the page's scripts say of files, in the order of their paths."""
    cases = [(path.read_bytes().decode(), path.name, allow_missing) for path in paths]
    return scripts.evaluate(READ, [cases, known_of(all_votes)])


@pytest.fixture(scope="module")
def scripts(browser):
    """A page that has the scripts, and nothing to show."""
    page = browser.new_page()
    scripts = [f"_evaluate/{name}.js" for name in ("reading", "measures", "results")]
    for name in ("_shared/page.js", *scripts):
        page.add_script_tag(path=PROJECT / "book" / name)
    yield page
    page.close()


@pytest.fixture
def votes():
    """Forty items whose old label goes round, in the order of their uids, as the page has them."""
    made = made_votes(get_dataset("snli"))
    order = np.argsort(made.uids)
    return replace(
        made, uids=tuple(sorted(made.uids)), counts=frozen(made.counts[order]),
        majority=frozen(made.majority[order]), given_old_label=frozen(made.old_label[order]),
    )  # fmt: skip


def check_like_python(scripts, path, votes):
    """Hold all that the page says of a file against what Python says."""
    (system,) = read_predictions(path, [votes], allow_missing=True)
    names = [name for name in NAMES if votes.has_old_labels or name != "old_accuracy"]
    expected = score(votes, [system], measures=names, n_resamples=FEW, seed=7).set_index("measure")
    covered = [i for i, uid in enumerate(votes.uids) if uid in set(system.uids)]
    # The page's items are in the order of their uids, the resamples in that of the votes.
    order = sorted(range(len(covered)), key=lambda j: votes.uids[covered[j]])
    places = np.random.default_rng([7, 0]).integers(len(votes), size=(FEW, len(votes)), dtype="i4")
    times = np.stack([np.bincount(row, minlength=len(votes))[covered] for row in places])[:, order]
    # Python resamples the items of the dataset, the page those of the file: the same if whole.
    whole = len(covered) == len(votes)
    content = [path.read_text("utf-8"), path.name, known_of([votes]), times.tolist()]
    found = scripts.evaluate(MEASURED, content)
    values = found["values"]
    assert set(values) == set(names)
    for name in names:
        assert ("low" in values[name]) == MEASURES[name].has_interval == (name != "ece")
        for end in values[name] if whole else ["value"]:
            assert values[name][end] == pytest.approx(expected.loc[name, end], abs=1e-9), name
    if whole:
        everyone = (system, uniform(votes), base_rate(votes))
        for one, answer in zip(everyone, found["worth"], strict=True):
            check_worth(worth(votes, one, n_resamples=FEW, seed=7), answer)
    return values


def check_worth(ours, answer):
    every = {**ours.estimates, "people_on_top": ours.people, "skill": ours.skill}
    expected = [end for name in answer["estimates"] for end in astuple(every[name])]
    ends = [float(end.replace("Infinity", "inf")) for end in answer["ends"]]
    np.testing.assert_allclose(ends, expected, atol=1e-7)
    assert answer["isHard"] == ours.is_hard
    said = dict(zip(answer["estimates"], answer["words"], strict=True))
    for name in said.keys() & ours.estimates:
        assert said[name] == ours.text(name)


def check_systems(scripts, all_votes, folder):
    for votes in all_votes:
        system = load_systems(votes)[0]
        path = write_shares(folder / f"{votes.dataset.name}.csv", system, system.probabilities)
        check_like_python(scripts, path, votes)


def test_numbers_and_intervals_are_python_s_on_every_dataset(scripts, sample, tmp_path):
    check_systems(scripts, sample, tmp_path)


@pytest.mark.slow
def test_numbers_and_intervals_are_python_s_on_the_released_data(scripts, released, tmp_path):
    check_systems(scripts, released, tmp_path)


EDGES = {
    "one hot": lambda i: np.eye(3)[i % 3],
    "uniform": lambda i: [1 / 3] * 3,
    "tied": lambda i: [0.5, 0.5, 0] if i % 2 else [0.3, 0.35, 0.35],
    "rounded": lambda i: [0.7001, 0.2, 0.1002],
    "on an edge": lambda i: ([0.5, 0.3, 0.2], [0.55, 0.45, 0], [0.45, 0.35, 0.2])[i % 3],
}


@pytest.mark.parametrize("case", [*EDGES, "part", "exactly right"])
def test_numbers_are_python_s_at_the_edges(scripts, votes, tmp_path, case):
    row = EDGES.get(case, lambda i: [0.6, 0.3, 0.1])
    values = votes.shares if case == "exactly right" else np.array([row(i) for i in range(N)])
    uids = votes.uids[:-7] if case == "part" else votes.uids
    check_like_python(scripts, write_shares(tmp_path / "m.csv", votes, values, uids), votes)


def test_other_labels_stated_labels_and_votes_without_old_labels(scripts, others, tmp_path):
    votes = made_votes(get_dataset("snli"), old_labels=False)
    entry = {"probs": [0.4, 0.3, 0.3], "predicted_label": "n"}
    path = write_lines(tmp_path / "m.jsonl", lambda i: entry)
    assert "old_accuracy" not in check_like_python(scripts, path, votes)
    for votes in others:
        table_of(votes).to_csv(tmp_path / "m.csv", index=False)
        check_like_python(scripts, tmp_path / "m.csv", votes)


def test_every_format_is_read_as_python_reads_it(scripts, votes, tmp_path):
    semicolons = "\ufeff" + csv_text().replace(",", ";").replace(".", ",").replace("\n", "\r\n")
    (tmp_path / "s.csv").write_bytes(semicolons.replace("u3;", '"u3";').encode())
    files = [
        write_csv(tmp_path / "c.csv"),
        tmp_path / "s.csv",
        write_lines(tmp_path / "p.jsonl"),
        write_lines(tmp_path / "l.jsonl", lambda i: {"logits": np.log(shares(i)).tolist()}),
        write_lines(tmp_path / "r.json", released_entry),
        write_chaosnli(tmp_path / "j.json"),
    ]
    for path, answer in zip(files, told(scripts, files, [votes]), strict=True):
        (system,) = read_predictions(path, [votes])
        (one,) = answer["found"]
        uids = [one["dataset"]["uids"][i] for i in one["places"]]
        of = dict(zip(uids, one["probabilities"], strict=True))
        found = [of[uid] for uid in system.uids]
        np.testing.assert_allclose(found, system.probabilities, rtol=0, atol=1e-12)
        assert one["model"] == system.name
        assert one["notes"] == list(system.notes)


def lines_with(i, text):
    lines = [f"u{j}," + ",".join(map(str, shares(j))) for j in range(N)]
    return [*lines[:i], text, *lines[i + 1 :]]


CLASSES = "entailment,neutral,contradiction"
PLAIN = [f"u{i},0.5,0.25,0.25" for i in range(N)]
# Files of faults: lines and, where it is another, the header.
CSV_FAULTS = {
    "another order": (None, "neutral,contradiction,entailment"),
    "missing": (lines_with(0, "")[:-3], CLASSES),
    "not summing": (lines_with(3, "u3,0.5,0.25,0.125"), CLASSES),
    "negative": (lines_with(3, "u3,1.5,-0.25,-0.25"), CLASSES),
    "percentages": ([f"u{i},50,25,25" for i in range(N)], CLASSES),
    "not a number": (lines_with(5, "u5,0.5,high,0.25"), CLASSES),
    "doubled": (lines_with(4, "u3,0.5,0.25,0.25"), CLASSES),
    "no uid": (lines_with(4, ",0.5,0.25,0.25"), CLASSES),
    "too few fields": (lines_with(4, "u4,0.5,0.5"), CLASSES),
    "open quotation": (lines_with(4, 'u4,"0.5,0.25,0.25'), CLASSES),
    "lacking column": (None, "entailment,neutral,other"),
    "column twice": (None, "entailment,neutral,neutral"),
    "too many columns": ([f"{line},0.5" for line in PLAIN], f"{CLASSES},hidden"),
    "another dataset": ([f"x{i},0.5,0.25,0.25" for i in range(1, 4)], CLASSES),
    "stated label": ([f"{line},n" for line in PLAIN], f"{CLASSES},predicted_label"),
    "unknown label": ([f"{line},maybe" for line in PLAIN], f"{CLASSES},predicted_label"),
    "said otherwise": ([f"{line},{len(line) % 2}" for line in PLAIN], f"{CLASSES},seed"),
    "only a header": ([], CLASSES),
}
FAULTS = {
    "unknown columns": csv_text(header="id,a,b,c"),
    "contradiction": lines_text(lambda i: released_entry(i, pred=2)),
    "two values": lines_text(lambda i: {"probs": [0.5, 0.5] if i == 2 else shares(i)}),
    "mixed": lines_text(lambda i: {"logits" if i == 2 else "probs": shares(i)}),
    "empty": "\n",
    "a list": "[1, 2]",
} | {name: csv_text(lines, f"uid,{header}") for name, (lines, header) in CSV_FAULTS.items()}
# What a page cannot do as a command can, and formats that it does not read.
OTHERWISE = (
    ("or pass --allow-missing to evaluate the rest", "or tick “Evaluate a part of the items”"),
    ("CSV or parquet with", "CSV with"),
    ("; or drawn answers in columns uid and sample", ""),
    ("fields of less than 131,072 characters, and a closing", "a closing"),
)


def words_of_the_command(path, votes):
    """Return how `chaos evaluate` refuses a file, but for what a page says otherwise."""
    with pytest.raises(ChaosError) as raised:
        read_predictions(path, [votes])[0].aligned_to(votes)
    words = str(raised.value)
    for here, there in OTHERWISE:
        words = words.replace(here, there)
    return re.sub(r"(\d)\.0\b", r"\1", words)  # a page writes whole numbers without


def test_faults_are_reported_in_the_words_of_the_command(scripts, votes, tmp_path):
    paths = [tmp_path / str(number) / "m.csv" for number in range(len(FAULTS))]
    for path, text in zip(paths, FAULTS.values(), strict=True):
        write_text(path, text)
    for name, path, said in zip(FAULTS, paths, told(scripts, paths, [votes]), strict=True):
        parts = {part: said.get(part) for part in ("found", "expected", "todo")}
        answer = str(ChaosError(said["message"], where=path, **parts))
        assert answer == words_of_the_command(path, votes), name


def test_who_learned_from_the_votes_is_refused_unless_out_of_fold(scripts, votes, tmp_path):
    header = f"uid,{CLASSES},trained_on,out_of_fold"
    paths = [tmp_path / "false.csv", tmp_path / "true.csv"]
    for path in paths:
        write_csv(path, [f"{line},snli; votes of SNLI,{path.stem}" for line in PLAIN], header)
    refused, taken = told(scripts, paths, [votes])
    assert isinstance(taken["found"], list)
    assert words_of_the_command(paths[0], votes).startswith(refused["message"])


def test_doubts_and_leftovers_are_noted_as_the_command_notes_them(scripts, votes, tmp_path):
    lines = [*lines_with(0, "x1,0.5,0.25,0.25"), "x2,0.5,0.25,0.25"]
    paths = [write_csv(tmp_path / "m.csv", lines), write_csv(tmp_path / "few.csv", lines[1:4])]
    paths.append(tmp_path / "untold.jsonl")  # no label stands out
    rows = [{"uid": uid, "probs": shares(i // 3)} for i, uid in enumerate(votes.uids)]
    paths[-1].write_text("\n".join(map(json.dumps, rows)))
    for path, said in zip(paths, told(scripts, paths, [votes], allow_missing=True), strict=True):
        (system,) = read_predictions(path, [votes], allow_missing=True)
        assert said["found"][0]["notes"] == list(system.notes)
        assert system.notes


def test_which_dataset_and_which_model_a_file_is_of(scripts, votes, sample, tmp_path):
    def names(path, all_votes):
        (said,) = told(scripts, [path], all_votes)
        return [one["dataset"]["name"] for one in said["found"]]

    lines = [f"{uid},0.6,0.3,0.1" for one in sample[:2] for uid in one.uids]
    assert names(write_csv(tmp_path / "m.csv", lines), sample) == ["snli", "mnli"]
    # The same uids, told apart by the classes.
    other = made_votes(made_dataset())
    assert names(write_csv(tmp_path / "m.csv"), [other, votes]) == ["snli"]
    twin = replace(votes, dataset=get_dataset("mnli"))
    (twofold,) = told(scripts, [write_csv(tmp_path / "m.csv")], [votes, twin])
    with pytest.raises(ChaosError, match=re.escape(twofold["message"])) as raised:
        read_predictions(tmp_path / "m.csv", [votes, twin])
    assert twofold["found"] in str(raised.value)
    several = write_chaosnli(tmp_path / "m.json", models=("a", "b"))
    drawn = tmp_path / "drawn.csv"
    drawn.write_text("uid,sample\n" + "".join(f"{uid},neutral\n" for uid in votes.uids))
    mixed, answers = told(scripts, [several, drawn], [votes])
    assert mixed["message"] == "This file holds the predictions of 2 models."
    assert mixed["found"] == "a, b"
    assert answers["message"] == "This page cannot read answers drawn from a language model."


def test_resamples_hold_every_item_about_as_often_and_come_again(scripts):
    draws = "[3, 3, 4].map(seed => Evaluate.draw(50, 2000, seed).map(one => [...one]))"
    times, again, other = np.array(json.loads(scripts.evaluate(f"JSON.stringify({draws})")))
    assert (times == again).all()
    assert (times != other).any()
    assert (times.sum(axis=1) == 50).all()
    # Of each item's number: mean 1, variance 49 / 50.
    assert np.abs(times.mean(axis=0) - 1).max() < 5 / np.sqrt(2000)
    assert abs(times.var() - 0.98) < 0.02
    assert abs(np.corrcoef(times[:-1].ravel(), times[1:].ravel())[0, 1]) < 0.02
    apart = np.corrcoef(times.T)[~np.eye(50, dtype=bool)]
    assert abs(apart.mean() + 1 / 49) < 0.005


# The page


@pytest.fixture(scope="module")
def page(open_at):
    """The title page, which asks for nothing more once it is loaded."""
    page = open_at("index")
    page.locator("#evaluate").scroll_into_view_if_needed()
    page.get_by_role("button", name="Show an example").wait_for()
    asked = []
    page.on("request", lambda one: asked.append(one.url))
    yield page
    assert not asked


@pytest.fixture(scope="module")
def files(sample, tmp_path_factory):
    """A folder of files on SNLI: whole, without three items, and no text."""
    folder, votes = tmp_path_factory.mktemp("files"), sample[0]
    system = load_systems(votes)[0]
    whole = write_shares(folder / "my-model.csv", system, system.probabilities)
    (folder / "short.csv").write_text("\n".join(whole.read_text().splitlines()[:-3]))
    (folder / "parquet.csv").write_bytes(b"PAR1....")
    (folder / "bytes.csv").write_bytes(b"\xff\xfe\x00u")
    return folder


def choose(page, path):
    page.get_by_label("Choose a file of predictions").set_input_files(path)


def test_a_file_is_measured_and_placed_without_a_request(page, files, sample):
    choose(page, files / "my-model.csv")
    table = page.locator("#evaluate table").first
    table.wait_for()
    votes = sample[0]
    (system,) = read_predictions(files / "my-model.csv", [votes])
    expected = score(votes, [system], measures=NAMES).set_index("measure")["value"]
    for name in NAMES:
        row = table.get_by_role("row", name=MEASURES[name].title)
        assert f"{expected[name]:.3f}" in row.inner_text()
    worth = page.locator("#evaluate .evaluate-worth").inner_text()
    assert re.search("my-model.*uniform guess.*base rate\t0.0\n", worth, re.DOTALL)
    status = page.locator(".evaluate-status[aria-live=polite]").inner_text()
    assert "my-model on SNLI, 300 items: JSD" in status
    assert "synthetic sample" in table.inner_text()


def test_a_fault_is_one_message_and_the_next_file_takes_its_place(page, files):
    message = page.get_by_role("alert")
    for name, words in {
        "parquet": "cannot read parquet",
        "bytes": "not UTF-8 text",
        "short": "3 of 300 items",
    }.items():
        choose(page, files / f"{name}.csv")
        page.locator("#evaluate [role=alert]", has_text=words).wait_for()
        assert f"{name}.csv" in message.inner_text()
        assert page.locator("#evaluate table").count() == 0
    page.get_by_label("Evaluate a part of the items").check()
    page.locator("#evaluate table").first.wait_for()
    assert not message.is_visible()
    assert "evaluated on the other 297" in page.locator("#evaluate").inner_text()
    page.get_by_label("Evaluate a part of the items").uncheck()


def test_a_file_can_be_dropped_and_its_words_stay_words(page):
    page.evaluate("""() => {
      const transfer = new DataTransfer();
      const evil = 'uid,entailment,neutral,contradiction\\n<img src=x onerror=alert(1)>,1,0,0';
      transfer.items.add(new File([evil], "<b>evil.csv"));
      const drop = document.querySelector(".evaluate-drop");
      drop.dispatchEvent(new DragEvent("drop", {dataTransfer: transfer, cancelable: true}));
    }""")
    message = page.locator("#evaluate [role=alert]", has_text="<img src=x")
    message.wait_for()
    assert message.locator("img, b").count() == 0


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


RTE = made_votes(get_dataset("rte"))


@pytest.fixture(scope="module")
def among(open_at):
    """The title page of a book that has other systems, and a dataset beside its own."""
    # Any script of the page stands in for the file, which sets what is set already.
    more = {"name": "rte", "title": "RTE", "file": "items.js", "global": "CHAOS_MORE_rte"}
    content = packed("CHAOS_MORE_rte", {"numbers": explorer.columns(RTE, ())}, "")
    return open_at("index", script=OTHERS + instead("CHAOS_OTHERS", [more]) + content)


def test_a_system_stands_among_the_others_by_any_measure_they_have(among, files):
    page = among
    choose(page, files / "my-model.csv")
    page.locator(".evaluate-places tbody tr").first.wait_for()
    order = page.locator(".evaluate-places tbody th").evaluate_all(
        "all => all.map(one => one.firstChild.textContent)"
    )
    assert set(order) == {"est-human", "guess", "other <b>", "my-model"}
    numbers = page.locator(".evaluate-places td.number").all_inner_texts()
    values = [float(re.match(r"[\d.]+", text)[0]) for text in numbers]
    assert values == sorted(values)
    said = page.locator(".evaluate-said").inner_text()
    assert f"takes place {order.index('my-model') + 1} of 4" in said
    page.get_by_label("Place by").select_option("new_accuracy")
    assert page.locator(".evaluate-places tbody th").all_inner_texts()[0].startswith("guess")
    assert "takes place 2 of 2" in page.locator(".evaluate-said").inner_text()
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert not violations(page, "#evaluate")


def test_a_dataset_beside_the_book_s_is_judged_when_it_is_chosen(among, tmp_path):
    page = among
    choose(page, write_shares(tmp_path / "mine.csv", RTE, RTE.shares))
    page.locator(".evaluate-fault").get_by_text("No uid of 'mine' occurs in").wait_for()
    page.get_by_label("Dataset").select_option("rte")
    table = page.locator("#evaluate table").first
    table.wait_for()
    assert f"mine on {len(RTE)} items of RTE" in table.inner_text()
    assert "0.000" in table.get_by_role("row", name=MEASURES["jsd"].title).inner_text()
    assert not page.locator(".evaluate-fault").is_visible()


def test_the_page_holds_no_votes_and_a_part_of_the_main_table():
    human = {"dataset": "snli", "system": "est-human", "source": "published", "kind": "human"}
    model = human | {"system": "a", "source": "computed", "kind": "model", "jsd": 0.2}
    rows = [
        human | {"jsd": 0.0614, "jsd_low": float("nan"), "jsd_high": None},
        model | {"n_seeds": 2},
        model | {"dataset": "mnli"},
    ]
    known = evaluate.known([made_votes(get_dataset("snli"), prefix="item-")], rows)
    (other,) = known["datasets"]["snli"]["others"]
    assert (other["system"], other["jsd"]) == ("estimated human", [0.0614, None, None])
    assert "item-" not in json.dumps(known)

"""A file of predictions, evaluated in a real browser as `chaos evaluate` does."""

import json
import re
from base64 import b64encode
from dataclasses import astuple, replace
from itertools import permutations

import numpy as np
import pytest
from chaos_book import evaluate
from helpers.checkout import PROJECT
from helpers.pages import instead, violations
from helpers.predictions import (
    N,
    csv_text,
    made_votes,
    part_of,
    shares,
    table_of,
    write_csv,
    write_shares,
)

from chaos_utils.analyses import scoreboard
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.votes import frozen
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.ranks import rank_sets
from chaos_utils.metrics.skill import skill_of_people
from chaos_utils.pages import explorer
from chaos_utils.publish.scripts import packed_script
from chaos_utils.publish.templating import ASSETS
from chaos_utils.scoring.evaluate import (
    RESAMPLES,
    copy_warning,
    evaluate_files,
    in_places,
    references,
)
from chaos_utils.scoring.methods_sentences import facts_of_votes, methods_sentences
from chaos_utils.scoring.places import (
    RANKINGS,
    CountedDraws,
    Pool,
    by_uid,
    distances,
    page_pool,
    place,
)
from chaos_utils.scoring.predictions import read_predictions
from chaos_utils.scoring.references import SECOND_CROWD
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.systems import base_rate, computed, load_systems, uniform
from chaos_utils.scoring.temperature_scaling import temper
from chaos_utils.scoring.worth import (
    PEOPLE,
    PEOPLE_RECALIBRATED,
    PEOPLE_SHRUNK,
    SKILL_SHRUNK,
    people_in_words,
    worth,
)

pytestmark = pytest.mark.browser

NAMES = ("jsd", "kl", "dist_ce", "ent_ce", "old_accuracy", "new_accuracy", "ece")
READ = """([cases, known]) => cases.map(([content, name, allowMissing]) => {
  const bytes = Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0));
  try {
    return {systems: Evaluate.read(bytes.buffer, name, known, allowMissing)};
  } catch (fault) {
    if (!(fault instanceof Evaluate.Fault)) throw fault;
    const all = (part) => [part, [fault, ...fault.others].map((one) => one[part]).join("\\n")];
    return Object.fromEntries(["message", "found", "expected", "todo"].map(all));
  }
})"""
MEASURED = """([text, name, known, resamples]) => {
  const [system] = Evaluate.read(new TextEncoder().encode(text).buffer, name, known, true);
  const words = (one) => Object.keys(one.estimates).map((name) => Evaluate.inWords(name, one));
  return {values: Evaluate.measured(system, resamples), worth: Evaluate.worths(system, resamples)
    .map((one) => ({...one, words: words(one), ends: Object.values(one.estimates).flatMap(
      ({value, low, high}) => [value, low, high].map((end) => String(end ?? NaN)))}))};
}"""
SENTENCES = """([text, name, known, resamples]) => {
  const [system] = Evaluate.read(new TextEncoder().encode(text).buffer, name, known, true);
  const values = Evaluate.measured(system, resamples), worths = Evaluate.worths(system, resamples);
  const all = Evaluate.valuesForSentences(system, values, resamples);
  const facts = Evaluate.factsOf(system, all, worths, resamples.length, known);
  const warning = Evaluate.copyWarning(system, known.copies)?.join(" ");
  return [warning, Evaluate.sentences(facts, known.wordings)].filter(Boolean).join("\\n\\n");
}"""
SUMMARY = """([text, name, known]) => {
  const [system] = Evaluate.read(new TextEncoder().encode(text).buffer, name, known);
  const values = Evaluate.measured(system, []);
  const {guesses} = Evaluate.valuesForSentences(system, values, []);
  return Evaluate.summary(system, values, guesses, known);
}"""
COPIED = """([text, name, known]) => {
  const [system] = Evaluate.read(new TextEncoder().encode(text).buffer, name, known);
  return Evaluate.copyWarning(system, known.copies)?.join(" ") ?? "";
}"""
PLACED = """async ([text, name, known, pool]) => {
  const [system] = Evaluate.read(new TextEncoder().encode(text).buffer, name, known, true);
  const placing = await Evaluate.placeIn(system, pool);
  return placing && {
    worth: Evaluate.inWords("people_on_top_recalibrated", placing.worth),
    sets: Object.fromEntries(Object.entries(placing.sets).map(([name, ranks]) =>
      [name, [...ranks.values()].map(({best, worst, of}) => [best, worst, of])])),
  };
}"""
FEW = 60  # resamples
SCRIPTS = (
    "reading", "recalibration", "measures", "strip", "sentences", "copies", "places", "results",
)  # fmt: skip


def known_of(all_votes):
    """Return what the page knows of votes, as its data files and the page itself say it."""
    datasets = [explorer.columns(votes, ()) for votes in all_votes]
    return evaluate.page_data(all_votes, ()) | {"datasets": datasets, "synthetic": False}


def told(scripts, contents, all_votes, *, allow_missing=False):
    """Return what the page's scripts say of files with these contents, in their order."""
    cases = [
        (b64encode(content).decode(), "m.csv", allow_missing)
        for content in (one.encode() if isinstance(one, str) else one for one in contents)
    ]
    return scripts.evaluate(READ, [cases, known_of(all_votes)])


@pytest.fixture(scope="module")
def scripts(browser):
    """A page that has the scripts, and nothing to show."""
    page = browser.new_page()
    scripts = [f"_evaluate/{name}.js" for name in SCRIPTS]
    for name in (ASSETS / "shared/page.js", ASSETS / "shared/axes.js", *scripts):
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
        texts=tuple({name: f"{name} {i}" for name in made.dataset.text_fields} for i in range(N)),
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
    expected = [end for name in answer["estimates"] for end in astuple(ours.estimates[name])]
    ends = [float(end.replace("Infinity", "inf")) for end in answer["ends"]]
    np.testing.assert_allclose(ends, expected, atol=1e-6)
    assert answer["isHard"] == ours.is_hard
    said = dict(zip(answer["estimates"], answer["words"], strict=True))
    for name in said.keys() & ours.shown:
        assert said[name] == ours.text(name)


def check_systems(scripts, all_votes, folder):
    for votes in all_votes:
        system = load_systems(votes)[0]
        path = write_shares(folder / f"{votes.dataset.name}.csv", system, system.probabilities)
        check_like_python(scripts, path, votes)


def test_numbers_and_intervals_are_python_s_on_every_dataset(scripts, sample, tmp_path):
    check_systems(scripts, sample, tmp_path)


def drawn_votes(n=520, n_votes=30, text=None):
    """Return votes on items that differ, in the order of their uids, and sharpened predictions."""
    rng = np.random.default_rng(8)
    truths = rng.dirichlet((0.9, 0.7, 0.5), n)
    votes = made_votes(get_dataset("snli"), n=n)
    order = np.argsort(votes.uids)
    votes = replace(
        votes, uids=tuple(sorted(votes.uids)), counts=frozen(rng.multinomial(n_votes, truths)),
        majority=frozen(votes.majority[order]), given_old_label=frozen(votes.old_label[order]),
        texts=() if text is None else (dict.fromkeys(votes.dataset.text_fields, text),) * n,
    )  # fmt: skip
    values = (truths**2 + 0.05) / (truths**2 + 0.05).sum(axis=1, keepdims=True)
    return votes, values


def balanced_votes():
    """Return five votes per item, as many for each label, and the predictions of `drawn_votes`."""
    votes, values = drawn_votes(n=60, n_votes=5)
    counts = np.tile([[4, 1, 0], [0, 4, 1], [1, 0, 4]], (20, 1))
    return replace(votes, counts=frozen(counts), majority=frozen(counts.argmax(axis=1))), values


@pytest.mark.parametrize("labels", [False, True])
def test_what_is_recalibrated_is_python_s(scripts, tmp_path, labels):
    votes, values = drawn_votes(n_votes=9)
    if labels:
        values = np.eye(3)[values.argmax(axis=1)]
    path = write_shares(tmp_path / "m.csv", votes, values)
    (system,) = read_predictions(path, [votes])
    assert worth(votes, system).estimates[PEOPLE_RECALIBRATED].value > 0.5
    check_like_python(scripts, path, votes)


# Votes and predictions, and words that the sentences on them hold or lack.
PARAGRAPHS = {
    "a distribution": (drawn_votes(), "misplaces; distance of; map with 12 parameters"),
    "labels": (drawn_votes(), "one label per item; mean vote shares of the items; second crowd"),
    "balanced labels": (balanced_votes(), "in percent; second crowd"),
    "labels, few votes": (drawn_votes(n_votes=9), "one label per item; mean vote shares of the"),
    "few votes": (drawn_votes(n_votes=9), "favour overconfident; unbiased estimate; map with"),
    "few items": (drawn_votes(n=300), "shrinkage towards the base rate; fitted again"),
    "one vote each": (drawn_votes(n_votes=1), "1 vote per item; KL(human ‖ model)"),
    "one text": (drawn_votes(text="the same"), "not reported: a base rate needs items of at least"),
    "a copy": (drawn_votes(), "so near to the votes"),
    "a part": (drawn_votes(), "on 100 of the 520 items; one parameter fitted on other texts"),
}


@pytest.mark.parametrize("case", PARAGRAPHS)
def test_the_page_writes_the_command_s_sentences(scripts, tmp_path, case):
    (votes, values), words = PARAGRAPHS[case]
    of_labels = "labels" in case
    if of_labels:
        values = np.eye(3)[values.argmax(axis=1)]
    if case == "a copy":
        values = votes.shares
    uids = votes.uids[:100] if case == "a part" else votes.uids
    path = write_shares(tmp_path / "<b>$1.csv", votes, values, uids)
    if of_labels:
        names = np.array(votes.dataset.labels)[values.argmax(axis=1)]
        path.write_text("\n".join(["uid,label", *map(",".join, zip(uids, names, strict=True))]))
    (system,) = read_predictions(path, [votes], allow_missing=True)
    systems = {votes.dataset.name: [system]}
    answer = evaluate_files(systems, [votes], n_resamples=FEW, seed=7)
    (expected,) = methods_sentences(answer, systems, [votes], seed=7)
    known = known_of([votes])
    known["datasets"][0]["report"]["facts"] = facts_of_votes(votes, FEW, 7)
    places = np.random.default_rng([7, 0]).integers(len(votes), size=(FEW, len(votes)), dtype="i4")
    times = np.stack([np.bincount(row, minlength=len(votes))[: len(uids)] for row in places])
    content = [path.read_text("utf-8"), path.name, known, times.tolist()]
    found = scripts.evaluate(SENTENCES, content)
    if case == "a part":  # what the command draws anew, and intervals over other resamples
        drawn = r", second crowd: [\d.]+, perfect model: [\d.]+| \[[^]]*\]"
        found, expected = re.sub(drawn, "", found), re.sub(drawn, "", expected)
    assert found == expected
    *warnings, found = found.split("\n\n")
    assert found.startswith("<b>$1 was evaluated")
    assert [one for one in warnings if "<b>$1 has" in one] == warnings
    assert not [word for word in words.split("; ") if word not in found]
    assert ("base rate: " in found) == (case not in ("balanced labels", "one text"))
    are_few = case in ("few votes", "one vote each")
    assert ("favour overconfident" in found) == are_few
    assert ("Jensen–Shannon distance of" in found) != (are_few or of_labels)


def test_a_base_rate_below_a_uniform_guess_is_not_the_most_frequent_label_s_accuracy(scripts):
    for (votes, values), is_named in ((balanced_votes(), False), (drawn_votes(), True)):
        names = np.array(votes.dataset.labels)[values.argmax(axis=1)]
        text = "\n".join(["uid,label", *map(",".join, zip(votes.uids, names, strict=True))])
        said = scripts.evaluate(SUMMARY, [text, "m.csv", known_of([votes])])
        assert "m gives the majority label on" in said
        assert ("the most frequent label: " in said) == is_named


def test_copies_are_found_as_the_command_finds_them(scripts, tmp_path):
    votes, honest = drawn_votes(n_votes=100)
    few, of_few = drawn_votes(n_votes=9)
    votes, few = (
        replace(those, majority=frozen(those.counts.argmax(axis=1))) for those in (votes, few)
    )
    shares, rng = votes.shares, np.random.default_rng(2)
    sharper = temper(0.98 * shares + 0.02 / 3, 3.0)
    mixed = np.where(rng.random((len(votes), 1)) < 0.1, shares, honest)
    most = few.counts == few.counts.max(axis=1, keepdims=True)
    last_of_ties = np.eye(3)[2 - most[:, ::-1].argmax(axis=1)]
    assert (most.sum(axis=1) > 1).any()
    found = []
    for k, (those, values) in enumerate([
        (votes, shares), (votes, sharper), (votes, mixed), (few, few.shares),
        (few, np.eye(3)[few.majority]), (few, last_of_ties),
        (votes, honest), (few, of_few), (few, np.eye(3)[of_few.argmax(axis=1)]),
    ]):  # fmt: skip
        path = write_shares(tmp_path / f"<b>{k}.csv", those, values)
        (system,) = read_predictions(path, [those])
        answer = scripts.evaluate(COPIED, [path.read_text(), path.name, known_of([those])])
        answer = answer.replace("’", "'")
        assert answer == copy_warning(those, system)
        found.append(answer)
    words = ["squared distance of −", "the majority's label on", "within 0.005 on", "distance of −",
             "majority's label on 100%", "majority's label on 100%"]  # fmt: skip
    assert all(f"{k} has " in one for k, one in enumerate(found[:6]))
    assert all(one in answer for one, answer in zip(words, found, strict=False))
    assert not any(found[6:])


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


def test_other_labels_and_votes_without_old_labels(scripts, others, tmp_path):
    votes = made_votes(get_dataset("snli"), old_labels=False)
    path = write_csv(tmp_path / "m.csv")
    assert "old_accuracy" not in check_like_python(scripts, path, votes)
    for votes in others:
        table_of(votes).to_csv(tmp_path / "m.csv", index=False)
        check_like_python(scripts, tmp_path / "m.csv", votes)


def test_whether_a_number_is_below_the_base_rate_is_as_it_is_shown(scripts):
    below, not_below = "[-Infinity, -0.97, -0.06]", "[-0.04, 0, 2.4, Infinity, NaN]"
    assert scripts.evaluate(f"() => {below}.every(Evaluate.isBelow)")
    assert not scripts.evaluate(f"() => {not_below}.some(Evaluate.isBelow)")


CLASSES = "entailment,neutral,contradiction"
SEMICOLONS = csv_text().replace(",", ";").replace(".", ",")


@pytest.mark.parametrize(
    ("content", "note"),
    [
        ("\ufeff" + csv_text().replace("\n", "\r\n") + ",,,\r\n", None),
        (re.sub(r"^(\w+)", r'"\1"', csv_text(), flags=re.MULTILINE), None),
        (SEMICOLONS, "fields are separated by semicolons"),
        (csv_text().replace(",", "\t"), "fields are separated by tabs"),
        ("\n" + csv_text(header=f"uid, {CLASSES.replace(',', ' , ')}").replace("\n", "\n\n"), None),
        (csv_text(header=f",uid,{CLASSES}").replace("\nu", "\n1,u"), None),
    ],
    ids=["Excel’s", "quoted", "semicolons", "tabs", "spaces", "pandas’ index"],
)
def test_a_csv_is_read_however_it_was_written(scripts, votes, content, note):
    ((system,),) = [one["systems"] for one in told(scripts, [content], [votes])]
    uids = [system["dataset"]["uids"][i] for i in system["places"]]
    expected = [shares(int(uid.removeprefix("u"))) for uid in uids]
    np.testing.assert_allclose(system["probabilities"], expected, rtol=0, atol=1e-12)
    assert (len(uids), system["model"], system["notes"]) == (N, "m", [note] if note else [])


def of_labels(i):
    return ("entailment", "neutral", "contradiction")[i % 3]


def in_pipeline(i):
    pairs = zip(CLASSES.split(","), shares(i), strict=True)
    return sorted(
        ({"label": label, "score": one} for label, one in pairs), key=lambda one: -one["score"]
    )


def lines(header, line):
    return "\n".join([*header, *map(line, range(N))]) + "\n"


# The header of the explorer's download, and what it says of an item.
OF_EXPLORER = (
    "dataset,uid,votes: entailment,votes: neutral,votes: contradiction,n_votes,entropy_bits,"
    "majority,old_label,language models: neutral,label: bert,share: bert: neutral,Premise"
)
IN_EXPLORER = "60,30,10,100,1.3,entailment,neutral,3,neutral,0.5,Two dogs."

# Files that hold the same predictions as `csv_text`, or the same labels.
SPELLED = {
    "a submission": lines([], lambda i: f"u{i}\t{shares(i)}"),
    "numpy's lists": lines(["uid,probs"], lambda i: f"u{i},{np.array(shares(i))}"),
    "Python's lists": lines(["uid;prediction"], lambda i: f"u{i};array({shares(i)}, dtype=f4)"),
    "a pipeline": lines([], lambda i: json.dumps({"uid": f"u{i}", "scores": in_pipeline(i)})),
    "by uid": json.dumps({f"u{i}": [in_pipeline(i)] for i in range(N)}, indent=1),
    "side by side": lines([], lambda i: json.dumps(
        {"uid": f"u{i}", "labels": [one["label"] for one in in_pipeline(i)],
         "scores": [one["score"] for one in in_pipeline(i)]})),
    "rows": lines(["uid,text,label,probability"], lambda i: "\n".join(
        f"u{i},text of {i},{one['label']},{one['score']}" for one in in_pipeline(i))),
    "shares as percentages": lines([], lambda i: json.dumps(
        {"uid": f"u{i}", "percentages": shares(i)})),
    "labels": lines(["uid,label,why"], lambda i: f"u{i},{of_labels(i)},because"),
    "labels beside much": lines(["uid,sure,label,q,p,r,s,t,v,w"], lambda i:
        f"u{i},{0.5 + i / 100},{of_labels(i)},why,1,2,3,4,5,6"),
    "lists beside lists": lines(["uid;probs;later;day"], lambda i:
        f"u{i};{shares(i)};{shares(i + 1)};Monday"),
    "rows of ranks": lines(["uid,rank,label,score"], lambda i: "\n".join(
        f"u{i},{k},{one['label']},{one['score']}" for k, one in enumerate(in_pipeline(i)))),
    "labels by item": lines(["item_id,label"], lambda i: f"u{i},{of_labels(i)}"),
    "by id": lines([], lambda i: json.dumps({"id": f"u{i}", "label": of_labels(i)})),
    "the explorer's download": lines(
        [f"{OF_EXPLORER},label,day"], lambda i: f"snli,u{i},{IN_EXPLORER},{of_labels(i)},Monday"),
    "the explorer's with people": lines(
        [f"{OF_EXPLORER},Alice Miller,predicted_label,empty"],
        lambda i: f"snli,u{i},{IN_EXPLORER},neutral,{of_labels(i)},"),
    "codes": lines(["uid\tanswer"], lambda i: f"u{i}\t{of_labels(i)[0]}"),
    "labels by uid": json.dumps({f"u{i}": of_labels(i).title() for i in range(N)}),
    "the likeliest alone": lines([], lambda i: json.dumps({"uid": f"u{i}", **in_pipeline(i)[0]})),
    "named": lines([], lambda i: json.dumps(
        {"uid": f"u{i}", "label": of_labels(i), "model": "<b>mine"})),
    "names that do not print": lines([], lambda i: json.dumps(
        {"uid": f"u{i}", "probs": shares(i), "new\nnote: read": 1, "\u202e\\\U000e0001": 1,
         "\xa0": 1})),
    "much in JSON": lines([], lambda i: json.dumps(
        {"uid": f"u{i}", "probs": shares(i), "meta": {"a": 1}, "ids": [1, 2, 3, 4], "tokens": [1],
         "before": dict(zip(CLASSES.split(","), shares(i), strict=True)), "text": None,
         "day": " "})),
    "nothing beside labels": lines(["uid,label,comment,score"], lambda i: f"u{i},{of_labels(i)},,"),
    "people": lines(["uid,Alice Miller,label,Bob Smith,predicted_label,day"], lambda i:
        f"u{i},neutral,neutral,{of_labels(i + 1)},{of_labels(i)},Monday"),
    "beside gold": lines(["uid,label,predicted_label"], lambda i: f"u{i},neutral,{of_labels(i)}"),
}  # fmt: skip


ONE_CHANCE = "since one probability is no distribution"
NOT_READ = {
    "rows": ["not read: text"],
    "labels": ["not read: why"],
    "labels beside much": [
        f"not read: sure, p, {ONE_CHANCE}", "not read: q, r, s, t, v and 1 more"],
    "lists beside lists": [
        "not read: later, of several with a value for each label", "not read: day"],
    "rows of ranks": ["not read: rank, not the same for all labels of an item"],
    "the explorer's download": ["not read: the item explorer's own columns", "not read: day"],
    "the explorer's with people": [
        "not read: the item explorer's own columns", "not read: 1 column of labels"],
    "the likeliest alone": [f"not read: score, {ONE_CHANCE}"],
    "names that do not print": [r"not read: 'new\nnote: read', '\u202e\\\U000e0001', ''"],
    "much in JSON": [
        "not read: before, of several with a value for each label", "not read: meta, ids"],
    "people": ["not read: 3 columns of labels, day"],
    "beside gold": ["not read: 1 column of labels"],
}  # fmt: skip


def test_what_the_command_reads_the_page_reads_alike(scripts, votes, tmp_path):
    said = told(scripts, SPELLED.values(), [votes])
    for (name, content), one in zip(SPELLED.items(), said, strict=True):
        assert "systems" in one, (name, one)
        (system,) = one["systems"]
        (tmp_path / "m.csv").write_text(content)
        (ours,) = read_predictions(tmp_path / "m.csv", [votes])
        np.testing.assert_allclose(system["probabilities"], ours.probabilities, atol=1e-12)
        assert bool(system.get("isOfLabels")) == ours.one_label
        assert system["model"] == ours.name == ("<b>mine" if name == "named" else "m")
        for words in ("are read in the order", "one label per item", "did the model give them"):
            assert (words in " ".join(system["notes"])) == (words in " ".join(ours.notes)), name
        unread, expected = (
            [note.replace("’", "'") for note in notes if note.startswith("not read: ")]
            for notes in (system["notes"], ours.notes)
        )
        assert unread == expected == NOT_READ.get(name, []), name


def test_of_a_file_over_datasets_with_other_labels_one_file_each_is_asked_for(scripts, sample):
    def labels(all_votes):
        pairs = (f"{uid},{one.dataset.labels[0]}" for one in all_votes for uid in one.uids)
        return "\n".join(["uid,label", *pairs])

    read, refused = told(scripts, [labels(sample[:2]), labels(sample)], sample)
    assert [one["dataset"]["name"] for one in read["systems"]] == ["snli", "mnli"]
    assert refused["todo"].startswith("write one file per dataset; ")


def test_one_label_per_item_has_accuracies_and_worth_alone(scripts, votes):
    answer = scripts.evaluate(
        MEASURED, [SPELLED["labels"], "m.csv", known_of([votes]), [[1] * N] * FEW]
    )
    assert set(answer["values"]) == {"old_accuracy", "new_accuracy"}
    assert answer["values"]["new_accuracy"]["value"] == 1
    assert answer["worth"][0]["isHard"]


def rows_with(i, *lines):
    """Return a CSV with other lines in place of line i."""
    plain = csv_text().splitlines()
    return "\n".join([*plain[: i + 1], *lines, *plain[i + 2 :]])


def rows_of(*values, header=CLASSES):
    return csv_text([f"u{i},{','.join(map(str, values))}" for i in range(N)], f"uid,{header}")


# Contents of files, and what is said of each: among it all of these words.
FAULTS = {
    "order": (csv_text(header="uid,neutral,contradiction,entailment"), "another order; 0%; 100%"),
    "missing": (csv_text()[:-100], "have no prediction; missing: u; tick"),
    "sum": (rows_with(3, "u3,0.5,0.25,0.125"), "line 5; 0.875; divide each row by its sum"),
    "rounded": (rows_of(0.51, 0.25, 0.25), "line 2; 1.01; and 35 more; divide each row by its sum"),
    "counts": (rows_of(70, 20, 3), "the sum is 93; divide each row by its sum, if"),
    "percentages": (rows_of(50, 25, 25), "the sum is 100; divide by 100; --asked samples"),
    "percentages and one that is off": (
        rows_of(50, 25, 25, header="neutral,contradiction,entailment").replace("u3,50", "u3,51"),
        "line 2: uid u0: neutral 50, contradiction 25, entailment 25: the sum is 100; "
        "(1 row not by 100, such as line 5 by 101)"),
    "percentages that sum to 95": (rows_of(50, 25, 20), "the sum is 95; --asked percentages"),
    "log-probabilities": (rows_of(-0.5, -1.5, -2), "-0.5; chaos evaluate --asked logprobs"),
    "logits": (rows_of(1.5, -0.25, -0.25), "-0.25; apply a softmax"),
    "NaN": (rows_with(5, "u5,NaN,0.5,0.5"), "line 7: uid u5: entailment NaN, n; not numbers"),
    "empty": (rows_with(5, "u5,,0.5,0.5"), "line 7: uid u5: entailment nothing, n"),
    "sign": (rows_of("50%", "25%", "25%"), "50%; such as 0.25; --asked percentages"),
    "huge": (rows_with(5, "u5,1e999,0.5,0.5"), "not numbers; 1e999"),
    "doubled": (rows_with(4, "u3,0.5,0.25,0.25"), "uid u3 again, first on line 5; line 6"),
    "no uid": (rows_with(4, ",0.5,0.25,0.25"), "line 6; no uid"),
    "several": (
        re.sub(r"\nu5,.*\nu6,", "\nu5,x,0,1\nu6,2", rows_with(4, "u3,0.5", ",NaN,0,1")),
        "line 6: 2 fields; no uid; again; first on line 5; line 8: uid u5: entailment x; "
        "line 9: uid u6: entailment 2; sum is; u4",
    ),
    "short row": (rows_with(4, "u4,0.5,0.5"), "line 6: 3 fields; 4 fields; cut off"),
    "open quotation": (rows_with(4, 'u4,"0.5,0.25,0.25'), 'entailment "0.5, neutral; not numbers'),
    "case": (csv_text(header=f"uid,{CLASSES.upper()}"), "rename ENTAILMENT to entailment, NEUTRAL"),
    "numbered": (csv_text(header="uid,LABEL_0,LABEL_1,LABEL_2"), "rename LABEL_0; id2label"),
    "other labels": (csv_text(header="uid,e,n,c"), "columns uid, e, n, c; expected; entailment"),
    "twice": (csv_text(header="uid,entailment,neutral,neutral"), "columns uid; neutral, neutral"),
    "more": (rows_of(0.5, 0.25, 0.25, "snli", header=f"{CLASSES},dataset"), "chaos evaluate"),
    "other uids": (csv_text().replace("\nu", "\nx"),
                   "No uid of the file occurs in; x0; u0; --data VOTES"),
    "key": (csv_text(header=f"key,{CLASSES}"),
            "no column uid; columns key, entailment; one column `label`; to `uid`; --data VOTES"),
    "header": (csv_text([]), "holds no prediction"),
    "nothing": ("\n", "holds no prediction"),
    "latin 1": (csv_text().replace("u3", "ü3").encode("latin-1"), "not UTF-8"),
    "UTF-16": (csv_text().encode("utf-16"), "not UTF-8"),
    "JSON lines": ('{"uid": "u0", "index": 0, "probs": [1, 0, 0]}',
                   "JSON; the key index; remove it; chaos evaluate"),
    "JSON": ('\ufeff\n{"m": {"u0": {}}}', "JSON; chaos evaluate"),
    "list": ("[1, 2]", "a JSON list; chaos evaluate"),
    "parquet": (b"PAR1....", "Parquet; chaos evaluate"),
    "npy": (b"\x93NUMPY\x01", "a NumPy array; uid"),
    "zip": (b"PK\x03\x04..", "zip; unpack"),
    "gzip": (b"\x1f\x8b\x08", "gzip; unpack"),
    "no ids": (json.dumps([[{"label": "neutral", "score": 1}]]), "names no items; write the uid"),
    "no header": ("u0,0.1,0.2,0.7\nu1,0.1,0.2,0.7", "no header; add the columns"),
    "no header of labels": ("u0,neutral\nu1,entailment\nu2,neutral", "no header; u0,neutral"),
    "two labels": ("uid,label,prediction\nu0,neutral,neutral",
                   "which column; label, prediction; --asked label"),
    "three models": ("uid,gpt,claude,llama\nu0,neutral,neutral,neutral",
                     "labels in gpt, claude, llama; keep `uid`; per file; --asked label"),
    "the explorer's alone": (f"{OF_EXPLORER}\nsnli,u0,{IN_EXPLORER}",
                             "explorer’s download; its own columns; keep only the column `uid`"),
    "the explorer's and another": (
        f"{OF_EXPLORER},judge\nsnli,u0,{IN_EXPLORER},neutral",
        "own columns, and judge; rename the column with your labels to `label`"),
    "gold": ("uid,gold\nu0,neutral", "which column; labels in gold; predicted_label"),
    "no label": ("uid,label\nu0,LABEL_0", "line 2: LABEL_0; delete; --answers"),
    "votes": ("uid,label\nu0,neutral\nu0,neutral", "uid u0 again; sample; chaos dataset check"),
    "annotators": ("uid,annotator,label\nu0,Ann,neutral", "chaos dataset check"),
    "a list too long": ("u0\t[0.1, 0.2, 0.3, 0.4]", "line 1: [0.1, 0.2, 0.3, 0.4]; a list for"),
    "two lists": ('uid;a;b\nu0;[1 0 0];[0 1 0]', "Several columns; a, b; probs"),
    "a row too few": ("uid,label,p\nu0,neutral,1\nu0,entailment,0\nu1,neutral,1",
                      "line 4: uid u1 has no row for entailment"),
    "a field too many": ("uid,label\nu0,neutral\nu1,neutral,neutral", "line 3: 3 fields; 2 fields"),
    "a row too many": ("uid,label,p\nu0,neutral,1\nu0,entailment,0\nu0,neutral,1", "neutral again"),
}  # fmt: skip


def test_a_fault_is_named_with_what_to_do(scripts, votes):
    said = told(scripts, [content for content, _ in FAULTS.values()], [votes])
    for (name, (_, words)), fault in zip(FAULTS.items(), said, strict=True):
        whole = " ".join(f"{part} {text}" for part, text in fault.items())
        lacking = [word for word in words.split("; ") if word not in whole]
        assert not lacking, (name, whole)


# What `chaos evaluate` reads only if it is told how a language model was asked, and the page never.
ASKED = {
    "percentages": FAULTS["percentages that sum to 95"][0],
    "percentages ": FAULTS["sign"][0],
    "samples": FAULTS["percentages"][0],
    "logprobs": FAULTS["log-probabilities"][0],
    "label": lines(["uid,a,b"], lambda i: f"u{i},{of_labels(i)},{of_labels(i)}"),
}


def test_what_the_command_must_be_told_the_page_leaves_to_it(scripts, votes, tmp_path):
    said = told(scripts, ASKED.values(), [votes])
    for (way, content), fault in zip(ASKED.items(), said, strict=True):
        assert f"--asked {way.strip()}" in fault["todo"]
        (tmp_path / "m.csv").write_text(content)
        with pytest.raises(ChaosError):
            read_predictions(tmp_path / "m.csv", [votes])
        assert read_predictions(tmp_path / "m.csv", [votes], asked=way.strip())


def is_refused(path, votes):
    try:
        read_predictions(path, [votes])
    except ChaosError as fault:
        return "another order" in str(fault)
    return False


def test_columns_in_another_order_are_refused_where_the_command_refuses_them(
    scripts, sample, tmp_path
):
    votes = sample[0]
    paths = [
        write_shares(tmp_path / f"{n}-{k}.csv", system, system.probabilities[:, order])
        for n, system in enumerate(load_systems(votes)[:3])
        for k, order in enumerate(permutations(range(3)))
    ]
    answers = told(scripts, [path.read_bytes() for path in paths], [votes])
    by_command = [is_refused(path, votes) for path in paths]
    assert ["another order" in one.get("message", "") for one in answers] == by_command
    assert len(paths) > sum(by_command) > len(paths) / 2


def test_doubts_and_leftovers_are_noted(scripts, votes, sample):
    plain = csv_text().splitlines()
    more = "\n".join([plain[0], "x1,0.5,0.25,0.25", *plain[2:], "x2,0.5,0.25,0.25"])
    few = "\n".join(plain[:4])
    whole, part = (one["systems"][0]["notes"] for one in told(
        scripts, [more, few], [votes], allow_missing=True
    ))  # fmt: skip
    assert whole[0].endswith("has no prediction; evaluated on the other 39")
    assert whole[1] == "2 uids of the file are no items of the dataset (x1, x2)"
    assert part[1] == "3 items are too few to check the order of the classes"
    lines = [f"{uid},0.6,0.3,0.1" for one in sample[:2] for uid in one.uids]
    ((snli, mnli),) = [one["systems"] for one in told(scripts, [csv_text(lines)], sample)]
    assert [one["dataset"]["name"] for one in (snli, mnli)] == ["snli", "mnli"]


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


# Places among all systems


def check_places(scripts, path, votes, pool):
    """Hold the places that the page gives to a file, and to all others, against Python's."""
    (system,) = read_predictions(path, [votes], allow_missing=True)
    known = known_of([votes])
    in_page = page_pool(pool, known["datasets"][0]["uids"])
    found = scripts.evaluate(PLACED, [path.read_text("utf-8"), path.name, known, in_page])
    assert (found is not None) == pool.is_covered_by(system)
    if found is None:
        return None
    placing = place(pool, system)
    assert set(found["sets"]) == set(placing.sets)
    for name, ranks in placing.sets.items():
        expected = [[*ends, len(ranks.best)] for ends in zip(ranks.best, ranks.worst, strict=True)]
        assert found["sets"][name] == expected, name
    assert found["worth"].split(" [")[0] == placing.worth.text(PEOPLE_RECALIBRATED)
    return placing


def made_pool(votes, truths_like):
    """Return a pool of made systems: better and worse, with one label, and without some items."""
    rng = np.random.default_rng(2)
    systems = []
    for k, spread in enumerate((0.2, 0.5, 0.55, 0.6, 1, 2)):
        values = truths_like * np.exp(spread * rng.normal(size=truths_like.shape))
        values /= values.sum(axis=1, keepdims=True)
        systems.append(computed(f"system <b>{k}", votes, values, origin="released"))
    labels = computed("gpt-4.1", votes, np.eye(3)[systems[3].predicted])
    systems += [
        replace(labels, one_label=True),
        part_of(systems[2], range(20, len(votes)), name="p"),
    ]
    worths = [worth(votes, system, n_resamples=0) for system in systems]
    return Pool("all", votes, systems, worths, [
        {"name": system.name, "how": "language model, label" if system.one_label else "model"}
        for system in systems
    ])  # fmt: skip


@pytest.mark.parametrize("case", ["probabilities", "labels", "a part", "too few", "a copy"])
def test_places_are_those_of_the_command(scripts, tmp_path, case):
    votes, values = drawn_votes()
    pool = made_pool(votes, values)
    rng = np.random.default_rng(5)
    values *= np.exp(0.5 * rng.normal(size=values.shape))
    values /= values.sum(axis=1, keepdims=True)
    if case == "labels":
        values = np.eye(3)[values.argmax(axis=1)]
    if case == "a copy":
        values = pool.systems[2].probabilities
    uids = votes.uids[: {"a part": 500, "too few": 490}.get(case, len(votes))]
    path = write_shares(tmp_path / "m.csv", votes, values, uids)
    placing = check_places(scripts, path, votes, pool)
    assert (placing is None) == (case == "too few")
    if placing is not None:
        columns = placing.columns(PEOPLE_RECALIBRATED)
        assert 1 < columns["place_best"] <= columns["place_worst"] < columns["n_placed"] == 9
        assert bool(placing.columns(PEOPLE)) == (case != "labels")


def test_resamples_are_those_of_the_command(scripts):
    times = scripts.evaluate("Evaluate.draw(37, 5, 4).map(one => [...one])")
    drawn = CountedDraws(4).integers(37, size=(5, 37), dtype=np.int32)
    assert times == [np.bincount(row, minlength=37).tolist() for row in drawn]


@pytest.mark.slow
def test_places_of_real_systems_are_those_of_the_command_and_rounding_moves_none(
    scripts, released, tmp_path
):
    for votes in released:
        for pool in scoreboard.pools(votes):
            for index in (5, len(pool.systems) // 2):
                system = pool.systems[index]
                path = write_shares(tmp_path / "m.csv", system, system.probabilities)
                ours = check_places(scripts, path, votes, pool)
                exact = distances(pool.votes, [*pool.systems, system], [*pool.worths, ours.worth],
                                  PEOPLE_RECALIBRATED)[by_uid(pool.votes)]  # fmt: skip
                ranks = rank_sets(exact, RANKINGS, CountedDraws(0), highest_first=False)
                safe = ranks.margin > 0.005
                rounded = ours.sets[PEOPLE_RECALIBRATED]
                assert safe.mean() > 0.5
                assert (ranks.best == rounded.best)[safe].all()
                assert (ranks.worst == rounded.worst)[safe].all()


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
    misplaced = f"misplaces {100 * expected['dist_ce']:.1f} ["
    assert f"On 300 SNLI items, my-model {misplaced}" in status
    guess = score(votes, [uniform(votes)], measures=["dist_ce"])["value"].item()
    (crowd,) = (
        row["value"] for row in references(votes, ["dist_ce"]) if row["system"] == SECOND_CROWD
    )
    assert f"(a uniform guess: {100 * guess:.0f}, a second crowd: {100 * crowd:.0f})." in status
    assert "synthetic sample" in table.inner_text()


def test_of_labels_the_most_frequent_one_is_named_beside(page, sample, tmp_path):
    votes = sample[0]
    labels = np.array(votes.dataset.labels)[load_systems(votes)[0].predicted]
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(["uid,label,sure", *(f"{uid},{label},no" for uid, label in zip(
        votes.uids, labels, strict=True))]))  # fmt: skip
    choose(page, path)
    rate = score(votes, [base_rate(votes)], measures=["new_accuracy"])["value"].item()
    status = page.locator(".evaluate-status", has_text=f"(the most frequent label: {rate:.0%}, a ")
    status.wait_for()
    assert page.get_by_text("Note: not read: sure.").is_visible()
    assert page.get_by_role("link", name="votes with named annotators").is_visible()


def test_a_copy_of_the_votes_is_warned_of_and_has_no_sentences(among, sample, tmp_path):
    page, path = among, write_shares(tmp_path / "<b>copy.csv", sample[0], sample[0].shares)
    choose(page, path)
    warning = page.locator(".evaluate-copied")
    warning.wait_for()
    assert warning.inner_text() == copy_warning(*_read_on(sample[0], path))
    assert warning.bounding_box()["y"] < page.locator(".evaluate-answer").first.bounding_box()["y"]
    assert page.locator(".evaluate-sentences").count() == 0
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert not violations(page, "#evaluate")


def _read_on(votes, path):
    return votes, *read_predictions(path, [votes])


def too_sure(values):
    """Return certain predictions of which every other one is that of another item."""
    sharp = temper(values, 0.05)
    return np.where(np.arange(len(sharp))[:, None] % 2, sharp, np.roll(sharp, 7, axis=0))


def test_the_button_copies_the_sentences_of_the_command(page, files, sample, tmp_path):
    path = tmp_path / "<b>&lt;.csv"
    path.write_bytes((files / "my-model.csv").read_bytes())
    choose(page, path)
    page.get_by_role("button", name="Copy the sentences for your paper").click()
    page.get_by_text("Copied").wait_for()
    text = page.evaluate("navigator.clipboard.readText()")
    assert text == page.locator(".evaluate-sentences pre").inner_text()
    assert text.startswith("<b>&lt; was evaluated")
    assert f"({RESAMPLES:,} resamples)" in text
    systems = {"snli": read_predictions(path, sample[:1])}
    answer = evaluate_files(systems, sample[:1], n_resamples=FEW)
    (expected,) = methods_sentences(answer, systems, sample[:1])
    intervals = r"\[[^]]*\]|\([\d,]+ resamples\)"  # by other resamples
    assert re.sub(intervals, "", text) == re.sub(intervals, "", expected)
    assert "synthetic sample" in text


def test_a_fault_is_one_message_and_the_next_file_takes_its_place(page, files):
    message = page.get_by_role("alert")
    for name, words in {
        "parquet": "a Parquet file",
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
    answer = page.locator(".evaluate-answer").inner_text()
    assert re.fullmatch(
        r"Shrunk towards the base rate, short is worth .+\] people on these 297 items\.", answer
    )
    link = page.get_by_role("link", name="votes with named annotators")
    assert link.get_attribute("href") == "datasets.html#replace-an-annotator"
    page.get_by_label("Evaluate a part of the items").uncheck()


def test_a_file_that_is_too_large_is_refused_and_the_last_that_was_chosen_is_shown(page, files):
    page.evaluate("""() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(20_000_001).fill(48)], "large.csv"));
      const drop = document.querySelector(".evaluate-drop");
      drop.dispatchEvent(new DragEvent("drop", {dataTransfer: transfer, cancelable: true}));
    }""")
    page.locator("#evaluate [role=alert]", has_text="20 MB at most").wait_for()
    page.evaluate("""() => {
      const read = File.prototype.arrayBuffer;
      window.slow = Promise.withResolvers();
      File.prototype.arrayBuffer = async function () {
        if (this.name === "parquet.csv") await window.slow.promise;
        return read.call(this);
      };
    }""")
    choose(page, files / "parquet.csv")
    choose(page, files / "bytes.csv")
    page.locator("#evaluate [role=alert]", has_text="not UTF-8 text").wait_for()
    page.evaluate("() => { slow.resolve(); return new Promise((done) => setTimeout(done, 50)); }")
    assert "bytes.csv" in page.get_by_role("alert").inner_text()


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
    assert message.locator("code").inner_text() == "chaos evaluate FILE --data VOTES"
    name = page.get_by_label("Choose a file of predictions").evaluate("one => one.files[0].name")
    assert name == "<b>evil.csv"
    assert message.bounding_box()["y"] < 200  # what became of it is in sight


# Gives the short book, which has no main table, three systems to be set among.
OTHERS = """document.addEventListener("readystatechange", () => {
  const place = document.getElementById("evaluate-known");
  if (document.readyState !== "interactive") return; // before any script runs
  const known = JSON.parse(place.textContent);
  known.others.snli = [
    {system: "est-human", kind: "human", source: "published", jsd: [0.001, null, null]},
    {system: "guess", kind: "baseline", source: "computed", jsd: [0.8, 0.79, 0.81],
     new_accuracy: [0.99, 0.98, 1]},
    {system: "other <b>", kind: "model", source: "computed", jsd: [0.01, 0.009, 0.02]},
    {system: "bert", kind: "model", source: "published", of_paper: true, jsd: [0.7, null, null]},
  ];
  const skill = (lane, name, plain, recalibrated) =>
    ({lane, name, plain, recalibrated, words: ["–", "–"]});
  known.five_people = {snli: 0.204};
  known.skills = {snli: [
    skill("baseline", "uniform guess", [-0.2, -0.3, -0.1], [0, 0, 0.1]),
    skill("published", "<b>bert", [-9, -10, -8], [0.01, 0.005, 0.02]),
    skill("trained", "better", [0.98, 0.97, 0.99], [0.99, 0.98, 1]),
  ]};
  place.textContent = JSON.stringify(known);
});"""


RTE = made_votes(get_dataset("rte"))


@pytest.fixture(scope="module")
def among(open_at):
    """The title page of a book that has other systems, and a dataset beside its own."""
    # Any script of the page stands in for the file, which sets what is set already.
    more = {"name": "rte", "listed": "RTE", "file": "items.js", "global": "CHAOS_MORE_rte"}
    content = packed_script("CHAOS_MORE_rte", {"numbers": explorer.columns(RTE, ())}, "")
    return open_at("index", script=OTHERS + instead("CHAOS_OTHERS", [more]) + content)


def test_a_system_stands_among_the_others_by_any_measure_they_have(among, files):
    page = among
    choose(page, files / "my-model.csv")
    page.locator(".evaluate-places tbody tr").first.wait_for()
    order = page.locator(".evaluate-places tbody th").evaluate_all(
        "all => all.map(one => one.firstChild.textContent)"
    )
    assert set(order) == {"est-human", "guess", "other <b>", "bert", "my-model"}
    numbers = page.locator(".evaluate-places td.number").all_inner_texts()
    values = [float(re.match(r"[\d.]+", text)[0]) for text in numbers]
    assert values == sorted(values)
    said = page.locator(".evaluate-said").inner_text()
    assert order.index("my-model") == 2
    assert said.startswith(f"By {MEASURES['jsd'].title}, my-model takes place 1 of 2 among the")
    page.get_by_label("Place by").select_option("new_accuracy")
    assert page.locator(".evaluate-places tbody th").all_inner_texts()[0].startswith("guess")
    assert page.locator(".evaluate-said").inner_text() == ""  # the paper has no such number
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert not violations(page, "#evaluate")


def test_worth_is_drawn_on_the_scale_of_the_book_s_systems(among, files, sample, tmp_path):
    choose(among, files / "my-model.csv")
    (system,) = read_predictions(files / "my-model.csv", [sample[0]])
    ours = worth(sample[0], system, n_resamples=FEW)
    answer = among.locator(".evaluate-answer").inner_text()
    assert f"my-model is worth {ours.estimates[PEOPLE_SHRUNK].value:.1f} [" in answer
    assert "on SNLI, more than 1 of the 2 fine-tuned models in the figure." in answer
    assert ", five people: 20, a second " in among.locator(".evaluate-status").inner_text()
    strip = among.locator(".evaluate-strip")
    lines = {
        one.locator("text").text_content(): float(one.locator("line").get_attribute("x1"))
        for one in strip.locator(".reference").all()
    }
    at = float(strip.locator(".of-yours circle.recalibrated").get_attribute("cx"))
    five = skill_of_people(5, ours.credibility)
    found = (at - lines["base rate"]) / (lines["five people"] - lines["base rate"])
    assert found == pytest.approx(ours.estimates[SKILL_SHRUNK].value / five, abs=1e-6)
    assert lines["uniform guess"] < lines["base rate"] < lines["five people"]
    assert strip.locator(".of-published title").first.text_content() == "<b>bert: –"
    among.get_by_text("The same as a table").click()
    assert "my-model" in among.locator("#evaluate details .yours").inner_text()
    choose(among, write_shares(tmp_path / "even.csv", sample[0], uniform(sample[0]).probabilities))
    answer = among.locator(".evaluate-answer", has_text="even is worth 0.0 [")
    assert ", no more than any of the 2 fine-tuned models in the figure." in answer.inner_text()
    path = write_shares(tmp_path / "sharp.csv", system, too_sure(system.probabilities))
    worse = worth(*_read_on(sample[0], path), n_resamples=0).estimates[PEOPLE].value
    choose(among, path)
    assert among.locator(".evaluate-answer", has_text="sharp is worth").inner_text().endswith(
        f" As it is, without shrinkage, sharp is worth {people_in_words(worse)} people, less than "
        "the base rate. Shrinkage needs people’s votes on other items."
    )  # fmt: skip


def test_a_dataset_beside_the_book_s_is_judged_when_it_is_chosen(among, tmp_path):
    page = among
    choose(page, write_shares(tmp_path / "mine.csv", RTE, RTE.shares))
    page.locator(".evaluate-fault").get_by_text("No uid of the file occurs in").wait_for()
    assert "choose the dataset in the list Dataset, or" in page.get_by_role("alert").inner_text()
    choice = page.get_by_label("Dataset")
    assert choice.locator("option").first.inner_text() == "found by the items (SNLI, MNLI, αNLI)"
    choice.select_option("rte")
    table = page.locator("#evaluate table").first
    table.wait_for()
    assert f"mine on {len(RTE)} items of RTE" in table.inner_text()
    assert "0.000" in table.get_by_role("row", name=MEASURES["jsd"].title).inner_text()
    assert not page.locator(".evaluate-fault").is_visible()


@pytest.fixture(scope="module")
def ranking(open_at):
    """The title page of a book that has the scoreboard of a dataset."""
    votes, values = drawn_votes()
    pool = made_pool(votes, values)
    fewer = replace(pool, name="520 items")
    script = evaluate.scoreboard_script(votes, [pool, fewer], "")
    # Any script of the page stands in for the file, which sets what is set already.
    known = {"file": "strip.js", "global": "CHAOS_SCOREBOARD_snli"}
    items = {"datasets": [explorer.columns(votes, ())], "scale": 10_000, "synthetic": False}
    given = f"""document.addEventListener("readystatechange", () => {{
      const place = document.getElementById("evaluate-known");
      if (document.readyState !== "interactive") return; // before any script runs
      const known = JSON.parse(place.textContent);
      known.scoreboards = {{snli: {json.dumps(known)}}};
      place.textContent = JSON.stringify(known);
    }});"""
    page = open_at("index", script=given + script + instead("CHAOS_ITEMS", items))
    page.set_viewport_size({"width": 390, "height": 844})
    return page, votes, pool, values


def test_a_file_is_set_among_all_systems_of_the_scoreboard(ranking, tmp_path):
    page, votes, pool, values = ranking
    noise = np.random.default_rng(5).normal(size=values.shape)
    values = values * np.exp(0.5 * noise)
    values /= values.sum(axis=1, keepdims=True)
    path = write_shares(tmp_path / "<i>mine.csv", votes, values)
    choose(page, path)
    answer = page.locator(".evaluate-among [role=status]", has_text="Among all systems of")
    answer.wait_for()
    (system,) = read_predictions(path, [votes])
    placing = place(pool, system)
    plain, recalibrated = (
        in_places(placing.columns(name)) for name in (PEOPLE, PEOPLE_RECALIBRATED)
    )
    assert answer.inner_text() == (
        f"Among all systems of the scoreboard on SNLI, <i>mine has {recalibrated} on all 520 "
        f"items, and {recalibrated.removeprefix('places ')} on the 520 items that a language model "
        "labelled, by its recalibrated worth. Without recalibration, it has "
        f"{plain} and {plain.removeprefix('places ')}, respectively. "
        "Your file is counted as one of the systems."
    )
    rows = page.locator(".evaluate-board tbody tr")
    names = [" ".join(text.split()) for text in rows.locator("th").all_inner_texts()]
    assert {"5 people people", "10 people people", "second crowd people"} < set(names)
    folded = rows.count() - rows.filter(visible=True).count()
    assert folded > 0
    page.get_by_role("button", name=f"Show all {rows.count()}").press("Enter")
    assert rows.filter(visible=True).count() == rows.count() == len(pool.systems) + 4
    assert page.evaluate("document.activeElement.getAttribute('role')") == "region"
    plain = rows.filter(has_text="language model, label").locator("td").last
    assert plain.inner_text() == "–"  # as it is, a label has no worth
    found = dict(zip(names, rows.locator("td:nth-child(2)").all_inner_texts(), strict=True))
    ranks = placing.sets[PEOPLE_RECALIBRATED]
    for one, best, worst in zip(pool.systems, ranks.best, ranks.worst, strict=False):
        shown = "GPT-4.1" if one.one_label else one.name
        (cell,) = (text for name, text in found.items() if name.startswith(f"{shown} "))
        assert cell == (str(best) if best == worst else f"{best}–{worst}")
    page.get_by_label("Compare on", exact=True).select_option("520 items")
    page.get_by_text("Systems on SNLI (520 items, with 1 language model)").wait_for()
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert not violations(page, "#evaluate")
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    assert page.locator(".evaluate-among :is(b, i)").count() == 0
    sharp = write_shares(tmp_path / "sharp.csv", votes, too_sure(values))
    worse = worth(*_read_on(votes, sharp), n_resamples=0).estimates[PEOPLE].value
    choose(page, sharp)
    assert page.locator(".evaluate-answer", has_text="sharp is worth").inner_text().endswith(
        f" As it is, without recalibration, sharp is worth {people_in_words(worse)} people, less "
        "than the base rate. Recalibration needs people’s votes on at least 500 other items."
    )  # fmt: skip


def test_the_page_holds_no_votes_and_a_part_of_the_main_table():
    human = {"dataset": "snli", "system": "est-human", "source": "published", "kind": "human"}
    model = human | {"system": "a", "source": "computed", "kind": "model", "jsd": 0.2}
    rows = [
        human | {"jsd": 0.0614, "jsd_low": float("nan"), "jsd_high": None},
        model | {"n_seeds": 2},
        model | {"dataset": "mnli"},
        model | {"system": "bert-base", "jsd": 0.3},
        model | {"system": "bert-base", "jsd": 0.31, "source": "published"},
    ]
    known = evaluate.page_data([made_votes(get_dataset("snli"), prefix="item-")], rows)
    other, of_paper = known["others"]["snli"]
    assert (other["system"], other["jsd"]) == ("estimated human", [0.0614, None, None])
    assert (of_paper["of_paper"], of_paper["source"], of_paper["jsd"][0]) == (True, "computed", 0.3)
    assert "item-" not in json.dumps(known)


def test_what_is_fitted_is_worth_the_skill_of_as_many_people():
    common = {"dataset": "snli", "system": "a", "kind": "model", "n_items": 9, "credibility": 2.0}
    worths = [
        common | {"measure": "people_on_top_shrunk", "text": "2.0 [1.0, 3.0]"},
        common | {"measure": "skill_shrunk", "value": 0.5, "low": 0.4, "high": float("inf")},
        common | {"measure": "human_equivalent_jsd", "value": 3, "credibility": None},
    ]
    fitted = {
        "dataset": "snli", "inputs": "all systems", "access": "text", "map": "quadratic",
        "n_items": 9, "objective": "kl", "people": 2.0, "people_low": -0.5, "people_high": 6.0,
    }  # fmt: skip
    found = evaluate.skills(
        worths, [fitted, fitted | {"map": "affine"}], {("snli", "a"): "trained"}
    )
    system, of_fitted = found["snli"]
    assert (system["lane"], system["plain"], system["recalibrated"]) == (
        "trained",
        None,
        [0.5, 0.4, None],
    )
    assert system["words"] == ["–", "2.0 [1.0, 3.0]"]
    assert (of_fitted["lane"], of_fitted["name"]) == ("fitted", "all systems, fitted")
    assert of_fitted["plain"] == pytest.approx([0.5, -1 / 3, 0.75], abs=1e-4)
    assert of_fitted["words"][0] == "2.0 [−0.5, 6.0]"

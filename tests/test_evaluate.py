"""`chaos evaluate`, as a reader calls it."""

import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers.checkout import PROJECT, chaos_environment
from helpers.predictions import blurred, write_shares

from chaos_utils.analyses.scoreboard import pools
from chaos_utils.cli import evaluation_tables
from chaos_utils.cli.__main__ import app
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.resampling import fewest_resamples
from chaos_utils.scoring import evaluate as evaluation
from chaos_utils.scoring.api import make_system
from chaos_utils.scoring.places import place
from chaos_utils.scoring.references import PERFECT_MODEL, SECOND_CROWD
from chaos_utils.scoring.systems import computed
from chaos_utils.scoring.worth import PEOPLE, PEOPLE_RECALIBRATED, PEOPLE_SHRUNK, RECALIBRATED

QUICK = ("--bootstrap", "40", "--measures", "jsd,ece")


@pytest.fixture(scope="module")
def mine(sample, tmp_path_factory):
    """A model's predictions for all items of the sample, in a CSV for each dataset."""
    folder = tmp_path_factory.mktemp("mine")
    for votes in sample:
        write_shares(folder / f"{votes.dataset.name}.csv", votes, blurred(votes))
    snli = sample[0]
    write_shares(folder / "even.csv", snli, np.full(snli.shares.shape, 1 / 3))
    write_shares(folder / "twin_1.csv", snli, blurred(snli, seed=1))
    write_shares(folder / "few.csv", snli, blurred(snli, seed=3), snli.uids[:90])
    return folder


@pytest.fixture(scope="module")
def named(mine):
    """Write the predictions on αNLI once for each of some names of models."""

    def write_names(path, *names):
        header, *lines = (mine / "alphanli.csv").read_text().splitlines()
        rows = [f'"{name}",{line}' for name in names for line in lines]
        path.write_text("\n".join([f"model,{header}", *rows]))
        return str(path)

    return write_names


@pytest.fixture
def evaluate(mine, monkeypatch, capsys):
    """Call the command in this process, in the folder of the predictions."""
    monkeypatch.chdir(mine)

    def call(*arguments, data="sample"):
        with pytest.raises(SystemExit) as stop:
            app(["evaluate", *arguments, "--data", data], prog_name="chaos")
        out, err = capsys.readouterr()
        return SimpleNamespace(returncode=stop.value.code or 0, stdout=out, stderr=err)

    return call


def rows_of(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["results"]


def value_of(rows, system, measure):
    named = (system, measure, "")
    (row,) = (one for one in rows if (one["system"], one["measure"], one["reference"]) == named)
    return row["value"]


def test_systems_references_and_baselines_by_measure(evaluate):
    rows = rows_of(evaluate("snli.csv", "--bootstrap", "100", "--json"))
    ours = {row["measure"]: row for row in rows if row["system"] == "snli"}
    assert set(ours) == set(evaluation.USUAL) - set(RECALIBRATED)  # of 300 items
    assert ours["jsd"]["low"] < ours["jsd"]["value"] < ours["jsd"]["high"]
    assert ours["ece"]["low"] is None
    assert ours[PEOPLE]["low"] < ours[PEOPLE]["value"]
    assert value_of(rows, "base rate", PEOPLE) == 0 > value_of(rows, "uniform guess", PEOPLE)
    floor, ceiling = (value_of(rows, one, "jsd") for one in (PERFECT_MODEL, SECOND_CROWD))
    assert floor < ceiling < 0.1
    base = value_of(rows, "base rate", "jsd")
    assert value_of(rows, "mean vote given the old label", "jsd") < base


def test_the_answer_begins_with_what_a_system_is_worth(evaluate, named, tmp_path):
    done = evaluate("snli.csv", "--bootstrap", "0", "--measures", PEOPLE_SHRUNK)
    assert done.stdout.startswith(
        "On ChaosNLI-SNLI (synthetic sample), snli is worth ∞ people on top of the base"
    )
    path = named(tmp_path / "many.csv", *"abcd")
    table = evaluate(path, "--bootstrap", "0", "--measures", PEOPLE_SHRUNK, "--markdown").stdout
    first, _, title, *_ = table.splitlines()
    assert first.endswith(" No other of the 4 is worth more shrunk.")
    assert title.startswith("**")


@pytest.mark.parametrize(
    ("counts", "why"),
    [(np.tile([2, 2, 1], (10, 1)), "disagree on 10 of 10"),
     (np.eye(3, dtype=int)[np.arange(80) % 3] * 5, "disagree on 0 of 80")],
    ids=["ten items", "unanimous"],
)  # fmt: skip
def test_of_few_items_worth_and_intervals_are_not_made_up(evaluate, tmp_path, counts, why):
    uids = [f"i{i}" for i in range(len(counts))]
    table = pd.DataFrame(counts, columns=["good", "fair", "bad"], index=pd.Index(uids, name="uid"))
    table.to_csv(tmp_path / "own.csv")
    model = np.random.default_rng(0).dirichlet(np.ones(3), len(counts))
    pd.DataFrame(model, columns=table.columns, index=table.index).to_csv(tmp_path / "mine.csv")
    done = evaluate(str(tmp_path / "mine.csv"), "--json", data=str(tmp_path / "own.csv"))
    rows = {row["measure"]: row for row in rows_of(done) if row["system"] == "mine"}
    assert why in rows[PEOPLE]["text"]
    assert rows[PEOPLE]["value"] is None
    assert rows["sq_distance"]["value"] is not None
    assert rows["sq_distance"]["low"] is None


def test_seed_changes_intervals_and_nothing_else(evaluate):
    given = ("snli.csv", "--bootstrap", "40", "--csv", "--measures", "jsd,human_equivalent_tvd")
    first, same, second = (evaluate(*given, "--seed", seed).stdout for seed in "112")
    assert first == same
    one, two = (pd.read_csv(io.StringIO(text)) for text in (first, second))
    assert (one["low"] != two["low"])[one["low"].notna()].all()
    pd.testing.assert_series_equal(one["value"], two["value"])  # of references too


def test_text_fits_any_terminal_and_names_every_measure(sample):
    systems = [computed("snli", sample[0], blurred(sample[0]))]
    names = [*evaluation.available(sample[0], MEASURES), *evaluation.IN_PEOPLE]
    answer = evaluation.evaluate_files({"snli": systems}, sample, measures=names, n_resamples=0)
    assert {row["measure"] for row in answer.rows} == set(names)
    for columns in (60, 140):
        text = evaluation_tables.as_text(answer, columns)
        assert max(map(len, text.splitlines())) <= columns
        assert text.startswith("ChaosNLI-SNLI (synthetic sample), 300 items\n")
        titles = [MEASURES[name].title for name in names if name in MEASURES]
        assert all(word in text for title in titles for word in title.split())
        assert "…" not in text


@pytest.mark.parametrize(
    ("options", "mark"),
    [
        ([], "ChaosNLI-SNLI (synthetic sample)"),
        (["--json"], '"synthetic": true'),
        (["--csv"], ",True"),
        (["--markdown"], "ChaosNLI-SNLI (synthetic sample)"),
        (["--latex"], r"\caption{ChaosNLI-SNLI (synthetic sample)"),
    ],
)
def test_the_sample_is_marked_in_every_output(evaluate, options, mark):
    done = evaluate("snli.csv", "--measures", "jsd", "--bootstrap", "0", *options)
    assert mark in done.stdout
    assert "ChaosNLI-SNLI here is the synthetic sample" in done.stdout + done.stderr


def test_released_votes_are_unmarked_and_ranked_whole(released_root, released, evaluate, tmp_path):
    votes = released[0]
    write_shares(tmp_path / "whole.csv", votes, blurred(votes))
    given = ("--allow-missing", "--dataset", "snli", "--bootstrap", "40", "--json")

    def answer(name):
        path = str(tmp_path / f"{name}.csv")
        done = evaluate(path, *given, "--measures", "jsd,dist_ce", data=str(released_root))
        return json.loads(done.stdout)

    whole = answer("whole")
    assert (whole["synthetic"], whole["notes"]) == (False, [])
    ranks = {(r["system"], r["measure"]): (r["rank"], r["ranked"]) for r in whole["results"]}
    assert ranks["whole", "jsd"] == (1, 10)
    assert ranks["whole", "dist_ce"][0] is None
    write_shares(tmp_path / "part.csv", votes, blurred(votes), votes.uids[:452])
    assert {(r["rank"], r["n_items"]) for r in answer("part")["results"]} == {(None, 452)}


def test_places_are_those_among_all_systems_of_the_scoreboard(
    released_root, released, evaluate, tmp_path
):
    votes = released[0]
    path = write_shares(tmp_path / "mine.csv", votes, blurred(votes, by=0.6, seed=1))
    names = f"{PEOPLE},{PEOPLE_RECALIBRATED},jsd"
    options = ("--places", "--dataset", "snli", "--bootstrap", "40", "--measures", names)
    done = evaluate(str(path), *options, "--json", data=str(released_root))
    answer = json.loads(done.stdout)
    rows = {row["measure"]: row for row in answer["results"] if row["system"] == "mine"}
    system = computed("mine", votes, blurred(votes, by=0.6, seed=1), origin="yours")
    first, *others = (place(pool, system) for pool in pools(votes))
    for name in (PEOPLE, PEOPLE_RECALIBRATED):
        expected = first.columns(name)
        assert {column: rows[name][column] for column in expected} == expected
    assert rows["jsd"]["n_placed"] is None
    for placing in others:
        places = evaluation.in_places(placing.columns(PEOPLE_RECALIBRATED))
        where = f"SNLI, {placing.pool.name} of the scoreboard: mine has "
        assert any(note.startswith(f"{where}{places} recalibrated") for note in answer["notes"])
    shown = evaluate(str(path), *options, data=str(released_root)).stdout
    assert evaluation.in_places(first.columns(PEOPLE_RECALIBRATED)) in shown
    assert "“places A–B of N”: " in shown


def test_there_are_no_places_on_the_sample(evaluate):
    done = evaluate("snli.csv", "--places", *QUICK)
    assert "note: snli has no places: the scoreboard ranks systems on released" in done.stderr
    refused = evaluate("snli.csv", "--places", "--report")
    assert (refused.returncode, "leave --places out" in refused.stderr) == (2, True)


def test_systems_that_cover_other_items_stand_in_tables_of_their_own(evaluate):
    files = ("snli.csv", "few.csv", "--allow-missing", *QUICK)
    done = evaluate(*files, "--pairs")
    assert "ChaosNLI-SNLI (synthetic sample), 90 items (items of few)\n" in done.stdout
    assert "snli − few" in done.stdout
    assert "note: few: 210 of 300 items" in done.stderr
    rows = rows_of(evaluate(*files, "--json"))
    counts = {(row["group"], row["n_items"]) for row in rows}
    assert counts == {("all", 300), ("items of few", 90)}
    floors = [row for row in rows if (row["system"], row["measure"]) == (PERFECT_MODEL, "jsd")]
    assert len({row["value"] for row in floors}) == 2


def test_other_systems_against_one(evaluate):
    files = ("snli.csv", "even.csv", "twin_1.csv")
    rows = rows_of(evaluate(*files, "--against", "even", *QUICK, "--json"))
    jsd, ece, *_ = (row for row in rows if row["reference"])
    assert (jsd["system"], jsd["measure"], jsd["reference"]) == ("snli", "jsd", "even")
    expected = value_of(rows, "snli", "jsd") - value_of(rows, "even", "jsd")
    assert jsd["value"] == pytest.approx(expected)
    assert jsd["low"] < jsd["high"] < 0
    assert jsd["p"] == pytest.approx(2 / 41)
    assert jsd["p_holm"] == pytest.approx(2 * jsd["p"])  # two have an interval
    assert (ece["low"], ece["p"], ece["p_holm"]) == (None, None, None)
    text = evaluate(*files, "--against", "even", *QUICK).stdout
    for shown in ("snli − even", "p ≤ 0.049", "Holm ≤ 0.098", "No interval: ECE"):
        assert shown in text


def test_many_comparisons_get_the_resamples_that_they_need(sample):
    votes = sample[0]
    systems = [computed(f"s{k}", votes, blurred(votes, seed=k)) for k in range(9)]
    found = {votes.dataset.name: systems}
    answer = evaluation.evaluate_files(found, sample, measures=["jsd", "kl", "ece"], pairs=True)
    assert answer.n_resamples == fewest_resamples(0.95, 36 * 2) > evaluation.RESAMPLES
    few = evaluation.evaluate_files(
        found, sample, measures=["jsd", "kl"], n_resamples=50, pairs=True
    )
    assert "50 resamples are too few for 72 comparisons" in few.notes[-1]


def test_bold_is_best_beyond_ties(evaluate, sample):
    votes = sample[0]
    alike = [computed(f"twin {k}", votes, blurred(votes, seed=k)) for k in (1, 2)]
    clear = computed("near", votes, blurred(votes, 0.05))

    def best(*systems):
        names = ["jsd", "soft_accuracy", "ece", "signed_ent_ce"]
        found = {votes.dataset.name: list(systems)}
        return evaluation.evaluate_files(found, sample, measures=names, n_resamples=200,
                                   seek_best=True).best  # fmt: skip

    assert best(*alike) == best(clear) == set()
    expected = {("snli", "all", name, "near") for name in ("jsd", "soft_accuracy")}
    assert best(clear, *alike) == expected


@pytest.mark.parametrize(("option", "bold"), [("--markdown", "**"), ("--latex", r"\textbf{")])
def test_tables_of_papers_have_a_row_for_each_system(evaluate, option, bold):
    text = evaluate("snli.csv", "even.csv", *QUICK, option).stdout
    names = ["snli", "even", PERFECT_MODEL, SECOND_CROWD, *evaluation.BASELINES]
    lines = [line.lstrip("| ") for line in text.splitlines()]
    rows = [line for line in lines if line.startswith(tuple(names))]
    for name, row in zip(names, rows, strict=True):
        assert row.startswith(f"{name} ")
        assert (bold in row) == (name == "snli")


def test_latex_is_well_formed_and_names_are_escaped(evaluate, named, tmp_path):
    path = named(tmp_path / "m.csv", r"a$\frac_b$", "50%_{x}", "#1 & [best] ~^")
    text = evaluate(path, *QUICK, "--latex").stdout
    assert r"a\$\textbackslash{}frac\_b\$ & " in text
    assert r"50\%\_\{x\} & " in text
    assert r"\#1 \& [best] \textasciitilde{}\textasciicircum{} & " in text
    table = text[text.index(r"\begin{tabular}") : text.index(r"\end{tabular}")]
    rules = [r"\toprule", r"\midrule", r"\midrule", r"\bottomrule"]
    assert re.findall(r"\\(?:top|mid|bottom)rule", table) == rules
    body = [line for line in table.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in body} == {2}  # two measures
    plain = re.sub(r"\\[{}]", "", text)
    assert plain.count("{") == plain.count("}")


def test_parts_are_joined_and_gaps_reported(evaluate, mine, tmp_path):
    header, *lines = (mine / "snli.csv").read_text().splitlines()
    for name, part in {"a": lines[:100], "b": lines[100:], "c": lines[150:]}.items():
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *part]))
    a, b, c = (str(tmp_path / f"{name}.csv") for name in "abc")
    rows = rows_of(evaluate(a, b, "--join", "whole", "--bootstrap", "0", "--json"))
    assert {row["n_items"] for row in rows if row["system"] == "whole"} == {300}
    assert "50 of 300 items" in evaluate(a, c, "--join", "whole", "--bootstrap", "0").stderr


def test_report_prints_sentences_in_place_of_tables(evaluate, sample):
    done = evaluate("snli.csv", "few.csv", "--allow-missing", "--report", "--bootstrap", "40")
    assert done.returncode == 0, done.stderr
    warning, whole, part = done.stdout.split("\n\n")
    assert (whole.split(" was ")[0], part.split(" was ")[0]) == ("snli", "few")
    assert "on 300 items of ChaosNLI-SNLI (a synthetic sample" in whole
    assert "on 90 of the 300 items of" in part
    assert warning.startswith("Copied from these votes? On SNLI, snli has ")
    assert warning not in done.stderr
    assert "note: few: 210 of 300 items" in done.stderr
    assert "whether it may have seen these items" in done.stderr
    answer = evaluate("snli.csv", "--report", "--bootstrap", "40", "--json")
    assert json.loads(answer.stdout)["report"] == [f"{warning}\n\n{whole}"]


@pytest.mark.parametrize("option", ["--measures=jsd", "--pairs", "--against=even", "--latex"])
def test_report_has_measures_and_a_form_of_its_own(evaluate, option):
    done = evaluate("snli.csv", "even.csv", "--report", option)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"leave {option.partition('=')[0]} out" in done.stderr


def test_out_writes_the_table_and_figures(evaluate, tmp_path):
    out, figures = tmp_path / "out", tmp_path / "out" / "figures"
    figures.mkdir(parents=True)
    kept = [out / "notes.txt", figures / "fig-distce-mine.png"]
    left = [figures / f"fig-distce-other{end}" for end in (".json", ".png", "-dark.svg")]
    for path in (*kept, *left):  # as a run on another dataset leaves three of them
        path.write_text("{}")
    done = evaluate("snli.csv", "few.csv", "--allow-missing", *QUICK, "--out", str(out))
    assert f"wrote {out}/evaluation.csv, and 3 figures in {figures}" in done.stderr
    assert [path.exists() for path in (*kept, *left)] == [True] * 2 + [False] * 3
    table = pd.read_csv(out / "evaluation.csv")
    assert set(table["measure"]) == {"jsd", "ece"}
    assert table["synthetic"].all()
    for end in (".svg", "-dark.svg", ".png", ".pdf", ".csv", ".json"):
        for name in ("reliability", "distce", "entropy-bins"):
            assert (figures / f"fig-{name}-snli{end}").stat().st_size > 0


def test_what_is_slow_to_import_is_not_imported(mine):
    """Of files that come through a pipe, too."""
    code = """
import sys
from chaos_utils.cli.__main__ import app

def imported(*options):
    try:
        app(["evaluate", *options, "--data", "sample"])
    except SystemExit as stop:
        assert not stop.code, stop.code
    return {"torch", "matplotlib", "pandas", "scipy.stats", "scipy.optimize"} & set(sys.modules)

assert not imported(*sys.argv[1:], "--bootstrap", "0", "--csv")
assert not {"torch", "matplotlib"} & imported(
    "snli.csv", "--bootstrap", "40", "--measures", "jsd", "--latex")
"""
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -c '{code}' /dev/stdin <(cat snli.csv) < snli.csv"],
        cwd=mine, env=chaos_environment(PROJECT), check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "snli,all,stdin," in done.stdout
    assert "snli,all,63," in done.stdout


def test_a_system_s_name_is_shown_as_it_is_or_folded(evaluate, named, tmp_path):
    names = ("[/red]", "bert [large]", r"a$\frac$b", "模型")
    long = "a model whose name is a whole sentence, which goes on " + 40 * "x"
    given = (named(tmp_path / "m.csv", *names, long), "--bootstrap", "0", "--measures", "jsd,kl")
    lines = evaluate(*given).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("a model whose name is a") for line in lines)
    for name in names:
        (line,) = (one for one in lines if one.startswith(name + " "))
        wide = sum(not one.isascii() for one in name)
        assert len(line) + wide == len(lines[3])  # below the arrows


@pytest.mark.parametrize(
    ("name", "option", "shown"),
    [
        ("a|b", "--markdown", "\n| a&#124;b "),
        ("=1+1", "--csv", "\nalphanli,all,'=1+1,"),  # no spreadsheet computes it
        ("=1+1", "--json", '"system": "=1+1"'),
    ],
)
def test_a_name_stays_a_name(evaluate, named, tmp_path, name, option, shown):
    assert shown in evaluate(named(tmp_path / "m.csv", name), *QUICK, option).stdout


def test_a_system_that_saw_no_votes_is_worth_people_and_others_are_not(sample):
    votes = sample[0]
    own = replace(computed("mine", votes, blurred(votes)), origin="yours")
    made = replace(own, name="made of votes", origin="simulated")
    answer = evaluation.evaluate_files({"snli": [own, made]}, sample, n_resamples=0)
    worth = {row["system"]: row for row in answer.rows if row["measure"] == PEOPLE}
    assert set(worth) == {"mine", *evaluation.BASELINES} - {"old label"}  # one label per item
    assert any("made of votes is worth no number of people" in note for note in answer.notes)
    assert "base rate" in evaluation_tables.as_text(answer, 80)


def test_where_a_system_might_replace_a_person_its_test_is_named(sample, tmp_path):
    """It is for labels, and for votes of a reader's own; worth does not answer it."""
    rows = [f"m{k},w{j},{'ab'[k % (j + 2) > 0]}\n" for k in range(40) for j in range(3)]
    (tmp_path / "votes.csv").write_text("item,annotator,label\n" + "".join(rows))
    votes, (own,) = sample[0], load_all_votes(str(tmp_path / "votes.csv"))
    labels = make_system("a judge", votes, np.array(votes.dataset.labels)[votes.majority])
    shares = make_system("mine", own, own.shares)
    for judged, system, n_labels, words in (
        (votes, labels, 1, "on votes with annotators: chaos run crowd -p data=VOTES"),
        (own, shares, 0, "to test this: chaos run crowd"),
        (votes, computed("mine", votes, blurred(votes)), 0, ""),
    ):
        name = judged.dataset.name
        notes = evaluation.evaluate_files({name: [system]}, [judged], n_resamples=0).notes
        named = [note for note in notes if "replace an annotator" in note]
        assert [words in note for note in named] == [True] * bool(words)
        assert sum("cannot show where people disagree" in note for note in notes) == n_labels


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["few.csv"], "210 of 300 items"),
        (["snli.csv", "--bootstrap", "39"], "The number of resamples"),
        (["snli.csv", "--bootstrap", "1000000000"], "0 for no intervals, or 40 to 1,000,000"),
        (["snli.csv", "--out", ""], "No folder is named"),
        (["none.csv", "--out", "snli.csv/out"], "Cannot write here"),
        (["snli.csv", "--json", "--csv"], "exclude each other"),
        (["snli.csv", "even.csv", "--against", "evn"], "did you mean 'even'? One of: "),
        (["snli.csv", "--against", "snli"], "no pair of systems"),
        (["snli.csv", "even.csv", "--against", "even", "--bootstrap", "0"], "needs resamples"),
        (["snli.csv", "even.csv", "--pairs", "--measures", "people_on_top"],
         "cannot be compared by how many people"),
        (["snli.csv", "--measures", "all,jsd"], "all by itself"),
        (["snli.csv", "--answers", "A"], "An answer has no label"),
        (["snli.csv", "--answers", "A=neutral,A=entailment"], "An answer is named twice"),
        (["snli.csv", "--answers", "A=neutrl"], "did you mean 'neutral'"),
    ],
)  # fmt: skip
def test_bad_input(evaluate, arguments, reported):
    done = evaluate(*arguments)
    assert done.returncode == 2
    assert reported in done.stderr
    assert done.stdout == ""


def test_without_votes_one_error_says_what_to_do(evaluate, tmp_path, monkeypatch):
    monkeypatch.setenv("CHAOS_CACHE", str(tmp_path / "none"))
    for named, data in (((), "auto"), (("--task", "snli"), "released")):  # --dataset of earlier
        done = evaluate("snli.csv", *named, data=data)
        assert done.stderr.startswith("The votes to judge your predictions by are not available.")
        for words in ("run `chaos data fetch`", "--data sample"):
            assert words in done.stderr
    assert not (tmp_path / "none").exists()


def test_references_of_very_many_items_are_those_of_some(mine, sample, monkeypatch):
    votes = sample[0]
    found = evaluation.read_files([mine / "even.csv"], [votes])
    some_of = evaluation.at_most
    monkeypatch.setattr(evaluation, "known_rows", lambda votes, seed: [])
    monkeypatch.setattr(evaluation, "at_most", lambda votes, most, seed: some_of(votes, 50, seed))
    answer = evaluation.evaluate_files(found, [votes], measures=["jsd"], n_resamples=40)
    items = {row["system"]: row["n_items"] for row in answer.rows}
    assert items["even"] == len(votes)
    assert items[PERFECT_MODEL] == items[SECOND_CROWD] == 50
    assert any(f"those of 50 of the {len(votes)} items" in note for note in answer.notes)


def test_references_that_are_recorded_for_few_measures_are_drawn_for_others(sample, monkeypatch):
    votes, names = sample[0], ["jsd", "brier", "old_accuracy"]
    drawn = evaluation.references(votes, names, recorded=False)
    few = [row for row in drawn if row["measure"] == "jsd" or row["origin"] == "baseline"]
    monkeypatch.setattr(evaluation, "known_rows", lambda votes, seed: few)
    keys = [(row["system"], row["measure"]) for row in evaluation.references(votes, names)]
    assert keys == [(row["system"], row["measure"]) for row in drawn]
    assert (PERFECT_MODEL, "brier") in keys
    assert evaluation.references(votes, ["jsd"]) == [row for row in few if row["measure"] == "jsd"]

"""Plans of the next votes, files of votes in batches, and soft labels: as a reader meets them."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from helpers.commands import call, check, load
from helpers.faults import fields_of

from chaos_utils.metrics.agreement import quadratic_entropy
from chaos_utils.metrics.allocation import RULES, spend
from chaos_utils.metrics.scores import shared_top
from chaos_utils.scoring import next_votes

N_ITEMS = 200


def truth(item):
    return np.random.default_rng([5, item]).beta(0.6, 0.6)


def vote(item, k):
    return "ab"[int(np.random.default_rng([6, item, k]).random() < truth(item))]


def write(path, rows, head="item,annotator,label"):
    path.write_text("\n".join([head, *rows]) + "\n", "utf-8")
    return path


def first_votes(n_votes, n_items=N_ITEMS):
    return [f"m{i},w{k},{vote(i, k)}" for i in range(n_items) for k in range(n_votes)]


@pytest.fixture
def votes(tmp_path):
    return write(tmp_path / "votes.csv", first_votes(3))


def planned(path, *options):
    done = call("plan", path, "--force", "--json", *options)
    reply = json.loads(done.stdout)
    return reply, list(csv.DictReader(Path(reply["file"]).read_text("utf-8").splitlines()))


def collected(rows, plan):
    """Return rows with batches: those of before are of the first, the plan's as it says."""
    new = [
        f"{row['item']},v{row['batch']}-{k},{vote(int(row['item'][1:]), 100 + k)},{row['batch']}"
        for row in plan
        for k in range(int(row["votes"]))
    ]
    return [row if row.count(",") == 3 else f"{row},1" for row in rows] + new


def test_a_plan_is_collected_round_by_round(tmp_path, votes):
    rows = first_votes(3)
    reply, plan = planned(votes, "--votes", 200, "--round-size", 100)
    assert reply["votes"] == sum(int(row["votes"]) for row in plan) == 100
    assert (reply["batch"], reply["rounds"]) == (2, 2)
    outlook = [reply[way]["right"] for way in ("now", "spread evenly", "as planned")]
    assert outlook[0] < outlook[1] + 0.01
    assert outlook[1] < outlook[2]
    rows = collected(rows, plan)
    batched = write(tmp_path / "batched.csv", rows, "item,annotator,label,batch")
    reply, plan = planned(batched, "--votes", 100)
    assert {row["batch"] for row in plan} == {"3"}
    gap = [row.removesuffix(",2") + ",4" * row.endswith(",2") for row in rows]
    gap = write(tmp_path / "gap.csv", gap, "item,annotator,label,batch")
    assert planned(gap, "--votes", 100)[0]["batch"] == 5
    assert load(batched).batches == (1, 2)
    found = check(batched)
    assert (found.columns["batch"], found.votes) == ("batch", 3 * N_ITEMS)
    assert "100 of 700 votes are of later batches" in found.remarks[0]
    read = load(batched)
    assert read.all_counts.sum() == 700
    assert read.counts.tolist() == load(votes).counts.tolist()
    assert len(read.annotations.item) == 600
    assert quadratic_entropy(read.all_counts).mean() < quadratic_entropy(read.counts).mean()


def test_a_plan_depends_on_no_order_and_is_the_same_again(tmp_path, votes):
    turned = write(tmp_path / "turned.csv", first_votes(3)[::-1])
    plans = [planned(path, "--votes", 30)[1] for path in (votes, turned, votes)]
    by_item = [{row["item"]: row["votes"] for row in plan} for plan in plans]
    assert by_item[0] == by_item[1] == by_item[2]


def test_for_shares_it_says_that_even_votes_do(votes):
    reply, _ = planned(votes, "--votes", 400, "--for", "shares")
    assert "evenly spread votes are nearly as good" in " ".join(reply["notes"])
    even, own = (reply[way]["misplaced"] for way in ("spread evenly", "as planned"))
    assert own == pytest.approx(even, rel=0.1)
    assert own < 0.9 * reply["now"]["misplaced"]


def test_a_crowd_of_one_vote_each_gets_three_first(tmp_path):
    rows = first_votes(1, 60)
    alone = write(tmp_path / "alone.csv", rows)
    reply, plan = planned(alone, "--votes", 150, "--round-size", 120)
    assert reply["batch"] == 1
    assert reply["rounds"] == 2
    assert {row["votes"] for row in plan} == {"2"}
    assert len(plan) == 60
    done = call("plan", alone, "--votes", 119, "--out", tmp_path / "none.csv", code=2)
    fields = fields_of(done.stderr)
    assert "at least 120 votes" in fields["expected"]
    assert not (tmp_path / "none.csv").exists()


def test_few_items_have_no_prior_and_an_order_changes_no_majority(tmp_path):
    write(tmp_path / "few.csv", first_votes(3, 20))
    plans = []
    for ordered in ("true", "false"):
        described = tmp_path / f"few-{ordered}.yml"
        described.write_text(
            f"name: few\ntitle: Few\nlabels: [a, b, c]\nordered: {ordered}\n"  # nobody said c
            "files: [{name: few.csv}]\nreader: {format: long, annotator: annotator}\n"
        )
        reply, plan = planned(described, "--votes", 5)
        assert reply["rule"] == "margin"
        plans.append(plan)
    assert plans[0] == plans[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--votes", 0), "--votes 0"),
        (("--votes", 10, "--round-size", 11), "--round-size 11"),
        (("--votes", 10, "--round-size", 0), "--round-size 0"),
        (("--votes", 10**12), "at most 1,000 votes per item"),
        (("--votes", 10**23), "at most 1,000 votes per item"),
        (("--votes", 10, "--seed", -1), "--seed"),
        (("--votes", 10, "--out", "plan.parquet"), "ends in .csv"),
        (("--votes", 10, "--for", "share"), "did you mean 'shares'?"),
    ],
)
def test_a_plan_that_cannot_be_made_is_one_error(votes, options, message):
    done = call("plan", votes, *options, code=2)
    assert message in done.stderr
    assert not votes.with_name("votes-plan.csv").exists()


@pytest.mark.parametrize("command", ["plan --votes 50", "dataset export"])
def test_the_votes_are_never_replaced(tmp_path, votes, command):
    described = tmp_path / "described.csv"  # a file of votes that a YAML file names
    described.write_bytes(votes.read_bytes())
    write(
        tmp_path / "votes.yml",
        ["title: Some", "labels: [a, b]", "files: [{name: described.csv}]",
         "reader: {format: long, annotator: annotator}"],
        "name: some",
    )  # fmt: skip
    for read, target in ((votes, votes), (tmp_path / "votes.yml", described)):
        before = target.read_bytes()
        done = call(*command.split(), read, "--out", target, "--force", code=2)
        assert "The votes are in this file." in done.stderr
        assert target.read_bytes() == before


def test_more_votes_that_show_no_gain_are_said_to_show_none(tmp_path):
    rows = first_votes(30, 60)
    reply, _ = planned(write(tmp_path / "many.csv", rows), "--votes", 60)
    even, now = reply["spread evenly"], reply["now"]
    assert now["right_error"] == 0
    assert 0 < abs(even["right"] - now["right"]) < 2 * even["right_error"]
    assert any("spread evenly: the forecast shows no change" in note for note in reply["notes"])


def test_the_forecast_comes_true(tmp_path):
    expected, actual = [], []
    for population in range(12):
        rng = np.random.default_rng(population)
        share = rng.beta(0.6, 0.6, 95)
        truths = np.column_stack([share, 1 - share])
        counts = rng.multinomial(22, truths)
        rows = [f"m{i},{a},{b}" for i, (a, b) in enumerate(counts)]
        votes = load(write(tmp_path / f"{population}.csv", rows, "item,a,b"))
        expected.append(next_votes.plan(votes, 200, "majority", 40, seed=0).planned.right)
        *_, spent = spend(
            counts, 200, 40, RULES["majority"], lambda n, rng=rng, p=truths: rng.multinomial(n, p)
        )
        right = shared_top(spent / spent.sum(axis=1, keepdims=True)) * shared_top(truths)
        actual.append(right.sum(axis=1).mean())
    assert np.mean(expected) == pytest.approx(np.mean(actual), abs=0.01)


@pytest.mark.parametrize(
    ("head", "row", "advice"),
    [
        ("item,a,b", "m{i},2,1", "with a row per vote"),
        ("item,annotator,label,round", "m{i},w{k},a,1\nm{i},w{k},a,2", "batches exclude rounds"),
        ("item,annotator,label,batch", "m{i},w{k},a,0", "by batch 0 alone"),
    ],
)
def test_how_to_add_votes_depends_on_their_file(tmp_path, head, row, advice):
    rows = [row.format(i=i, k=k) for i in range(60) for k in range(1 if "a,b" in head else 3)]
    if head.endswith("batch"):
        rows += ["m0,z,b,1", "m1,z,b,3"]
    else:
        rows[0] = rows[0].replace(",a,", ",b,")
    path = write(tmp_path / "some.csv", rows, head)
    assert advice in " ".join(planned(path, "--votes", 50)[0]["notes"])
    remarks = " ".join(check(path).remarks)
    assert (
        ("with gaps" in remarks) == ("which may have been" in remarks) == (head.endswith("batch"))
    )


@pytest.mark.parametrize("command", ["plan {} --votes 9", "dataset export {}"])
def test_what_to_do_names_only_what_the_commands_have(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "odd.csv", first_votes(3, 20), "Äußerung,Prüfer,Urteil")
    done = call(*command.format("odd.csv").split(), code=2)
    assert "`chaos dataset init`" in fields_of(done.stderr)["todo"]
    done = call(*command.format("sample").split(), code=2)
    assert fields_of(done.stderr)["todo"] == "name one of them, or its file"


@pytest.fixture
def without_batches(tmp_path, votes):
    """Return a file of votes that were asked where the vote is close, and nothing says so."""
    plan = planned(votes, "--votes", 100)[1]
    rows = [row.rpartition(",")[0] for row in collected(first_votes(3), plan)]
    return write(tmp_path / "close.csv", rows)


@pytest.mark.parametrize("command", ["plan {} --votes 50", "evaluate {model} --data {}",
                                     "dataset export {} --out soft.csv"])  # fmt: skip
def test_votes_where_the_vote_is_close_are_refused_without_batches(
    tmp_path, monkeypatch, without_batches, command
):
    monkeypatch.chdir(tmp_path)
    model = write(tmp_path / "m.csv", [f"m{i},0.5,0.5" for i in range(N_ITEMS)], "uid,a,b")
    before = sorted(tmp_path.iterdir())
    words = command.format(without_batches, model=model).split()
    fields = fields_of(call(*words, code=2).stderr)
    assert "more where people disagree" in fields["found"]
    assert "`batch`" in fields["expected"]
    assert sorted(tmp_path.iterdir()) == before
    # Their owner may know better, and says so; or says that they are such.
    for adaptive, code in (("true", 2), ("false", 0)):
        described = tmp_path / f"{adaptive}.yml"
        described.write_text(
            f"name: close\ntitle: Close\nlabels: [a, b]\nadaptive: {adaptive}\n"
            "files: [{name: close.csv}]\nreader: {format: long, annotator: annotator}\n"
        )
        words = command.format(described, model=model).split()
        done = call(*words, code=code)
        assert ("`adaptive: true`" in done.stderr) == (code == 2)


def test_the_check_says_that_such_votes_cannot_judge_and_why(without_batches):
    abilities = {one["what"]: one for one in check(without_batches).abilities}
    judged = abilities["predictions judged by `chaos evaluate`"]
    assert not judged["possible"]
    assert "more where people disagree" in judged["why"]
    assert "`reader.batch`" in judged["why"]
    unbiased = "agreement, quadratic entropy and squared distance, unbiased"
    assert not abilities[unbiased]["possible"]
    assert not abilities["replacement test: whether a model may replace an annotator"]["possible"]
    assert abilities["annotators: agreement with the rest, Dawid–Skene"]["possible"]


@pytest.mark.parametrize("words", ["dataset export {}", "plan {} --votes 600"])
def test_names_that_a_spreadsheet_would_compute_stay_and_are_said(tmp_path, votes, words):
    text = votes.read_text()
    formula = write(tmp_path / "formula.csv", text.replace("\nm", "\n=m").splitlines()[1:])
    done = call(*words.format(formula).split())
    assert "names in this file for formulas" in done.stdout
    target = next(tmp_path.glob("formula-*.csv"))
    assert "\n=m7," in target.read_text()
    assert "by a spreadsheet" not in call(*words.format(votes).split(), "--force").stdout


def test_numbers_of_votes_that_chance_made_are_no_plan(tmp_path):
    sizes = np.random.default_rng(3).integers(3, 7, N_ITEMS)
    rows = [f"m{i},w{k},{vote(i, k)}" for i in range(N_ITEMS) for k in range(sizes[i])]
    planned(write(tmp_path / "any.csv", rows), "--votes", 50)


def test_batches_of_items_are_no_batches_of_votes(tmp_path):
    rows = [f"{row},{1 + int(row[1:].partition(',')[0]) // 100}" for row in first_votes(3)]
    path = write(tmp_path / "parts.csv", rows, "item,annotator,label,batch")
    assert "batch" not in check(path).columns
    assert load(path).later_counts is None


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("m0,z,a,2.5", "item 'm0', field 'batch': found '2.5'; expected a whole number"),
        ("new,z,a,2", "item 'new': found no votes of the first batch"),
    ],
)
def test_faults_of_batches_are_found(tmp_path, row, message):
    rows = [f"{line},1" for line in first_votes(3)] + ["m1,z,a,2", row]
    write(tmp_path / "votes.csv", rows, "item,annotator,label,batch")
    described = tmp_path / "votes.yml"
    described.write_text(
        "name: some\ntitle: Some\nlabels: [a, b]\nfiles: [{name: votes.csv}]\n"
        "reader: {format: long, annotator: annotator, batch: batch}\n"
    )
    assert message in call("plan", described, "--votes", 50, code=2).stderr


def test_soft_labels_are_raw_shares_unless_shrunken_ones_are_asked_for(tmp_path, votes):
    written = {}
    for options in ((), ("--shrunk",)):
        done = call("dataset", "export", votes, "--force", *options)
        assert ("worse to train on" in done.stdout) == bool(options)
        rows = list(csv.DictReader(votes.with_name("votes-soft.csv").read_text().splitlines()))
        assert [row["uid"] for row in rows] == [f"m{i}" for i in range(N_ITEMS)]
        written[options] = np.array([[float(row["a"]), float(row["b"])] for row in rows])
        np.testing.assert_allclose(written[options].sum(axis=1), 1, atol=1e-5)
    raw, shrunken = written.values()
    np.testing.assert_allclose(raw, load(votes).shares, atol=1e-5)
    known = np.array([[1 - truth(i), truth(i)] for i in range(N_ITEMS)])
    assert ((shrunken - known) ** 2).sum() < 0.9 * ((raw - known) ** 2).sum()
    # They are read as predictions.
    call("evaluate", votes.with_name("votes-soft.csv"), "--data", votes, "--bootstrap", 0)

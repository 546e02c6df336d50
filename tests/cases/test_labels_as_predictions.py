"""One label per item, as a judge gives it: what it is worth, and what it cannot say."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.faults import refused

import chaos_utils as chaos
from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.__main__ import app
from chaos_utils.datasets.splits import folds_of, item_groups

LABELS = ["agree", "doubt", "deny"]
N = 510  # enough for a map of three labels


@pytest.fixture(scope="module")
def crowd():
    """Votes on each item, and a judge who answers as one more person."""
    rng = np.random.default_rng(3)
    truths = rng.dirichlet((0.9, 0.7, 0.5), N)
    counts = rng.multinomial(9, truths)
    return counts, np.array([rng.choice(3, p=one) for one in truths])


@pytest.fixture
def votes(crowd, tmp_path):
    path = tmp_path / "stances.csv"
    table = pd.DataFrame(crowd[0], columns=LABELS)
    table.insert(0, "uid", [f"s{i}" for i in range(N)])
    table.to_csv(path, index=False)
    return chaos.load("stances", data=path)


@pytest.fixture
def read(votes, tmp_path):
    def call(content, **given):
        (tmp_path / "judge.csv").write_text(content)
        return chaos.read_predictions(tmp_path / "judge.csv", votes, **given)

    return call


def lines(header, line):
    return "\n".join([header, *map(line, range(N))]) + "\n"


def test_every_form_of_labels_is_the_same_judge(read, crowd, votes, tmp_path):
    given = [LABELS[k] for k in crowd[1]]
    contents = [
        lines("uid,label", lambda i: f"s{i},{given[i]}"),
        lines("id;answer;explanation", lambda i: f"s{i};{given[i].upper()};since"),
        lines("uid\tverdict of the judge", lambda i: f"s{i}\t{given[i]}."),
        lines("uid,label,predicted_label", lambda i: f"s{i},agree,{given[i]}"),
        "".join(json.dumps({"uid": f"s{i}", "prediction": given[i]}) + "\n" for i in range(N)),
        json.dumps({f"s{i}": given[i] for i in range(N)}),
        json.dumps([{"uid": f"s{i}", "output": [{"label": given[i], "score": 0.9}]}
                    for i in range(N)]),
    ]  # fmt: skip
    systems = [one for content in contents for one in read(content)]
    pd.DataFrame({"uid": [f"s{i}" for i in range(N)], "pred": given}).to_parquet(tmp_path / "p")
    systems += chaos.read_predictions(tmp_path / "p", votes)
    systems.append(chaos.make_system("judge", votes, given))
    for one in systems:
        assert one.one_label
        assert one.predicted.tolist() == crowd[1].tolist()
        assert "one label per item" in one.notes[0]


def test_a_label_has_accuracies_and_no_distances(read, crowd, votes):
    counts, labels = crowd
    (judge,) = read(lines("uid,label", lambda i: f"s{i},{LABELS[labels[i]]}"))
    found = chaos.evaluate(votes, judge, resamples=0).set_index("measure")["value"]
    most = counts == counts.max(axis=1, keepdims=True)
    right = (most / most.sum(axis=1, keepdims=True))[np.arange(N), labels]
    agree = (counts / counts.sum(axis=1, keepdims=True))[np.arange(N), labels]
    assert found["new_accuracy"] == pytest.approx(right.mean())
    assert found["soft_accuracy"] == pytest.approx(agree.mean())
    assert set(found.dropna().index) == {"new_accuracy", "soft_accuracy"}


def squared(models, shares, n):
    """Return the unbiased squared distance of predictions from the population."""
    noise = (shares * (1 - shares)).sum(axis=1) / (n - 1)
    return (((models - shares) ** 2).sum(axis=1) - noise).mean()


def test_a_label_is_worth_the_mean_vote_on_others_with_it(read, crowd, votes):
    counts, labels = crowd
    (judge,) = read(lines("uid,label", lambda i: f"s{i},{LABELS[labels[i]]}"))
    shares, folds = counts / 9, folds_of(item_groups([votes])[0])
    models = np.array([
        shares[(folds != folds[i]) & (labels == labels[i])].mean(axis=0) for i in range(N)
    ])  # fmt: skip
    base = (shares.sum(axis=0) - shares) / (N - 1)
    person = (1 - (counts * (counts - 1)).sum(axis=1) / (9 * 8)).mean()
    expected = person / squared(models, shares, 9) - person / squared(base, shares, 9)
    worth = chaos.worth(votes, judge, resamples=0).set_index(["system", "measure"])["value"]
    assert worth["judge", "people_on_top_recalibrated"] == pytest.approx(expected)
    assert ("judge", "people_on_top") not in worth.index


def test_the_command_says_what_a_label_cannot_say(crowd, votes, tmp_path, capsys):
    counts, labels = crowd
    table = pd.DataFrame(counts, columns=LABELS, index=pd.Index(votes.uids, name="uid"))
    table.to_csv(tmp_path / "stances.csv")
    (tmp_path / "judge.csv").write_text(lines("uid,label", lambda i: f"s{i},{LABELS[labels[i]]}"))
    call = ["evaluate", str(tmp_path / "judge.csv"), "--data", str(tmp_path / "stances.csv")]

    def values(*options):
        with pytest.raises(SystemExit) as stop:
            app([*call, "--bootstrap", "0", "--json", *options], prog_name="chaos")
        out, err = capsys.readouterr()
        assert not stop.value.code, err
        answer = json.loads(out)
        rows = [row for row in answer["results"] if row["system"] == "judge"]
        return {row["measure"]: row["value"] for row in rows}, answer["notes"]

    found, notes = values()
    assert {"jsd", "kl", "ece"}.isdisjoint(found)
    assert found["new_accuracy"] > 0.5
    assert found["people_on_top_recalibrated"] > 0
    assert any("calibration need a" in note for note in notes)
    asked, _ = values("--measures", "jsd,new_accuracy")
    assert asked == {"jsd": None, "new_accuracy": found["new_accuracy"]}


FAULTS = {
    "gold": (lines("uid,label,prediction", lambda i: f"s{i},agree,{LABELS[i % 3]}"),
             "which column holds the model's labels", "predicted_label"),
    "gold alone": (lines("uid,gold_label", lambda i: f"s{i},agree"),
                   "suggests that people gave these labels"),
    "votes": (lines("uid,label", lambda i: f"s{i // 2},{LABELS[i % 3]}"),
              "uid 's0' again", "'sample'", "chaos dataset check"),
    "numbered draws": (lines("uid,label,draw", lambda i: f"s{i // 2},{LABELS[i % 2]},{i % 2}"),
                       "uid 's0' again", "'sample'"),
    "people": (lines("uid,annotator,label", lambda i: f"s{i},ann{i % 4},agree"), "a file of votes"),
    "refusals": (lines("uid,label", lambda i: f"s{i},{'I cannot' if i == 7 else 'deny'}"),
                 "line 9, label 'I cannot'", "--allow-missing"),
    "none given": (lines("uid,label", lambda i: f"s{i},{'' if i == 7 else 'deny'}"), "line 9"),
    "numbers": (lines("uid,label", lambda i: f"s{i},{i % 3}"), "'0', '1', '2'",
                "--answers '0=…,1=…,2=…'"),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS.values(), ids=FAULTS.keys())
def test_what_may_be_no_model_s_labels_is_asked(read, case):
    content, *words = case
    with refused(any=tuple(words)):
        read(content)


def test_numbers_stand_for_the_labels_that_the_reader_names(read, crowd):
    content = lines("uid,label", lambda i: f"s{i},{crowd[1][i]}")
    (judge,) = read(content, answers={"0": "agree", "1": "doubt", "2": "deny"})
    assert judge.predicted.tolist() == crowd[1].tolist()
    with pytest.raises(ChaosError, match="another order"):
        read(content, answers={"1": "agree", "2": "doubt", "0": "deny"})


@pytest.mark.parametrize(
    ("names", "given"),
    [
        (("1", "2", "3"), lambda k: float(k + 1)),
        (("1", "2", "3"), lambda k: f"{k + 1}.0"),
        (("1.0", "2.0", "3.0"), lambda k: k + 1),
        (("true", "false"), lambda k: k == 0),
        (("True", "False"), lambda k: str(k == 0).lower()),
    ],
)
def test_numbers_and_truth_values_are_labels_however_they_are_typed(tmp_path, names, given):
    n = 40
    people = [f"{i},{names[i % len(names)]}\n" * 3 + f"{i},{names[(i + 1) % len(names)]}\n"
              for i in range(n)]  # fmt: skip
    (tmp_path / "own.csv").write_text("uid,label\n" + "".join(people))
    labels = [(i + (i < 3)) % len(names) for i in range(n)]
    (tmp_path / "m.jsonl").write_text(
        "".join(json.dumps({"uid": str(i), "label": given(labels[i])}) + "\n" for i in range(n))
    )
    votes = chaos.load("own", data=tmp_path / "own.csv")
    (judge,) = chaos.read_predictions(tmp_path / "m.jsonl", votes)
    expected = [names[k] for k in labels]
    assert [votes.dataset.labels[k] for k in judge.predicted] == expected

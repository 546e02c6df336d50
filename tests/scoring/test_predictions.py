"""Files of predictions that are read, what a system is, and what is noted of it."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers import predictions as made
from helpers.runs import write_run

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import catalogue
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.scoring import systems
from chaos_utils.scoring.predictions import join, read_predictions, write_predictions

NAMES = ["entailment", "neutral", "contradiction"]


@pytest.fixture
def votes():
    return made.made_votes(get_dataset("snli"))


def check(one, name="m", k=3):
    """Compare predictions with those that every helper writes."""
    assert one.name == name
    assert one.uids == tuple(f"u{i}" for i in range(made.N))
    np.testing.assert_allclose(one.probabilities, [made.shares(i, k) for i in range(made.N)])
    assert one.predicted.tolist() == [i % k for i in range(made.N)]
    assert not one.notes
    with pytest.raises(ValueError, match="read-only"):
        one.probabilities[0, 0] = 1


@pytest.mark.parametrize(("dataset", "k"), [("snli", 3), ("alphanli", 2)])
def test_every_format_gives_the_same_predictions(tmp_path, dataset, k):
    votes = made.made_votes(get_dataset(dataset))
    table = made.table_of(votes)
    texts = {
        "p": made.entries_text(lambda i: {"predicted_probabilities": made.shares(i, k)}),
        "l": made.entries_text(lambda i: {"logits": np.log(made.shares(i, k)).tolist()}),
        "lines": made.lines_text(lambda i: {"probs": made.shares(i, k)}),
        "csv": table.to_csv(index=False),
    }
    if k == 3:
        texts["released"] = made.lines_text(made.released)
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    table.to_parquet(tmp_path / "parquet")
    table.assign(model="bert").to_parquet(tmp_path / "named")
    table.set_index("uid").to_parquet(tmp_path / "index")
    table.assign(model="bert").set_index(["model", "uid"]).to_parquet(tmp_path / "both")
    write_predictions(tmp_path / "written", read_predictions(tmp_path / "csv", [votes]))
    stated = {"p": "m", "l": "m", "named": "bert", "both": "bert", "written": "csv"}
    for path in tmp_path.iterdir():
        (one,) = read_predictions(path, [votes])
        check(one, stated.get(path.name, path.name), k)


@pytest.mark.parametrize(("delimiter", "comma"), [(",", "."), (";", "."), (";", ","), ("\t", ".")])
def test_csv_as_spreadsheets_write_it(tmp_path, votes, delimiter, comma):
    rows = [["uid", *NAMES]]
    rows += [
        [f"u{i}", *(str(v).replace(".", comma) for v in made.shares(i))] for i in range(made.N)
    ]
    text = "\r\n".join(delimiter.join(row) for row in rows)
    (tmp_path / "m.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    check(read_predictions(tmp_path / "m.csv", [votes])[0])


def test_json_lines_end_at_line_feeds_alone(tmp_path, votes):
    lines = [json.dumps({"uid": f"u{i}", "probs": made.shares(i), "text": "a\u2028b\x85c"},
                        ensure_ascii=False) for i in range(made.N)]  # fmt: skip
    (tmp_path / "m.jsonl").write_bytes("\r\n".join(lines).encode())
    (one,) = read_predictions(tmp_path / "m.jsonl", [votes])
    assert one.notes == ("not read: text",)
    check(replace(one, notes=()))


@pytest.mark.parametrize(
    "content",
    [
        "item,model,sample\n1,m,yes\n1,m,yes\n1,m,no\n2,m,no\n",
        "uid,n_samples,no,yes\n1,3,1,2\n2,1,1,0\n",
        '{"uid": 1, "samples": ["yes", "yes", "no"]}\n{"uid": 2, "samples": ["no"]}\n',
    ],
    ids=["rows", "counts", "lists"],
)
def test_answers_drawn_from_a_model_are_smoothed_and_marked(tmp_path, monkeypatch, content):
    monkeypatch.setattr(catalogue, "_user_datasets", {})
    (tmp_path / "answers.csv").write_text("item,label\n1,yes\n1,no\n2,no\n2,no\n")
    (tmp_path / "m").write_text(content)
    (system,) = read_predictions(tmp_path / "m", load_all_votes(str(tmp_path / "answers.csv")))
    # (count + 1/2) / (samples + labels / 2)
    assert system.probabilities == pytest.approx(np.array([[1.5 / 4, 2.5 / 4], [1.5 / 2, 0.5 / 2]]))
    assert system.n_samples == (1, 3)
    assert "machine votes: 1–3 samples per item" in system.notes[0]


def test_a_file_of_many_models_and_one_of_them(tmp_path, votes):
    path = made.write_chaosnli(tmp_path / "p.json", models=("bert", "roberta"))
    assert [one.name for one in read_predictions(path, [votes])] == ["bert", "roberta"]
    assert [one.name for one in read_predictions(path, [votes], model="bert")] == ["bert"]
    with pytest.raises(ChaosError, match="did you mean 'roberta'"):
        read_predictions(path, [votes], model="robert")


@pytest.mark.parametrize(
    ("content", "votes_on", "note", "predicted"),
    [
        (made.entries_text(lambda i: {"predicted_probabilities": made.shares(i),
                                 "predicted_label": NAMES[0 if i else 1]}), {},
         "27 stated labels are not the most probable ones", lambda i: 0 if i else 1),
        (made.csv_text([f"u{i},0.4,0.4,0.2,{NAMES[i % 2]}" for i in range(made.N)],
                  ",".join(["uid", *NAMES, "predicted_label"])), {}, "", lambda i: i % 2),
        (made.lines_text(lambda i: {"probs": made.shares(i)}, made.N + 3), {},
         "3 uids of the file are no items of the dataset ('u40', 'u41', 'u42')", lambda i: i % 3),
        (made.csv_text(), {"n": 20}, "20 items are too few to check the order of the classes",
         lambda i: i % 3),
        (made.csv_text([f"u{i},0.2,0.5,0.3" for i in range(40)]), {"labels": [0] * 24 + [1, 2] * 8},
         "the classes may be in another order: read as entailment, n", lambda i: 1),
    ],
    ids=["stated", "tied", "extra", "few", "doubtful"],
)  # fmt: skip
def test_what_is_odd_but_may_be_meant_is_a_note(tmp_path, content, votes_on, note, predicted):
    votes = made.made_votes(get_dataset("snli"), votes_on.get("n", made.N))
    if "labels" in votes_on:
        votes = replace(votes, given_old_label=np.array(votes_on["labels"]))
    (tmp_path / "m").write_text(content)
    (one,) = read_predictions(tmp_path / "m", [votes], allow_others=True)
    assert one.uids == votes.uids
    assert one.predicted.tolist() == [predicted(i) for i in range(len(votes))]
    assert "".join(one.notes).startswith(note)
    assert bool(one.notes) == bool(note)


def test_the_released_order_needs_the_released_codes(tmp_path):
    """Three labels of another dataset stand in its own order, index and pred or not."""
    votes = made.made_votes(made.made_dataset(labels=("one", "two", "three")))
    path = made.write_lines(tmp_path / "b.json", lambda i: made.released(i, order=(0, 1, 2)))
    check(read_predictions(path, [votes])[0], "b")


def test_a_file_may_have_the_columns_of_several_datasets(tmp_path, votes):
    alphanli = made.made_votes(get_dataset("alphanli"), prefix="a")
    pd.concat([made.table_of(votes), made.table_of(alphanli)]).to_csv(
        tmp_path / "m.csv", index=False
    )
    first, second = read_predictions(tmp_path / "m.csv", [votes, alphanli])
    check(first)
    assert second.dataset.name == "alphanli"
    np.testing.assert_allclose(second.probabilities, [made.shares(i, 2) for i in range(made.N)])


def test_the_dataset_that_a_row_names(tmp_path, votes):
    mnli = made.made_votes(get_dataset("mnli"), prefix="m")
    table = pd.concat([made.table_of(votes), made.table_of(mnli)])

    def named(names):
        table.assign(dataset=names).to_csv(tmp_path / "m.csv", index=False)
        return read_predictions(tmp_path / "m.csv", [votes, mnli])

    for names in (["snli"] * made.N + ["mnli"] * made.N, "anything"):
        assert [one.dataset.name for one in named(names)] == ["snli", "mnli"]
    with pytest.raises(ChaosError, match="line 2, dataset is mnli, but uid 'u0' is in snli"):
        named("mnli")


def test_parts_are_joined_unless_they_overlap(tmp_path, votes):
    lines, parts = made.csv_text().splitlines()[1:], []
    for chosen in (lines[:25], lines[25:]):
        path = made.write_csv(tmp_path / "part.csv", chosen)
        parts += read_predictions(path, [votes], allow_missing=True)
    check(join(parts, "both"), "both")
    with pytest.raises(ChaosError, match="25 items twice"):
        join([*parts, parts[0]], "both")


def test_a_joined_system_was_trained_on_what_its_parts_were(votes):
    whole = replace(
        systems.computed("part", votes, [made.shares(i) for i in range(made.N)]), seed=1
    )
    corpus = made.part_of(whole, slice(20), trained_on=("SNLI",), origin="released")
    folded = made.part_of(whole, slice(20, made.N), trained_on=("votes of snli",), out_of_fold=True)
    both = join([corpus, folded], "both")
    assert (both.trained_on, both.seed) == (("SNLI", "votes of snli"), 1)
    assert (both.origin, both.family) == ("yours", "both")
    assert len(both.aligned_to(votes).human) == made.N
    with pytest.raises(ChaosError, match="trained or fitted"):
        join([corpus, replace(folded, out_of_fold=False)], "both").aligned_to(votes)


def test_columns_may_say_what_a_system_is(tmp_path, votes):
    def described(**columns):
        made.table_of(votes).assign(**columns).to_csv(tmp_path / "m.csv", index=False)
        return read_predictions(tmp_path / "m.csv", [votes])[0]

    assert described(note="odd", count=7).trained_on == ()  # what is no share is left alone
    one = described(family="BERT", seed=3, trained_on="SNLI; votes of ChaosNLI-SNLI")
    assert (one.family, one.seed, one.trained_on) == ("BERT", 3, ("SNLI", "votes of snli"))
    with pytest.raises(ChaosError, match="trained or fitted on the votes"):
        one.aligned_to(votes)
    assert len(one.aligned_to(votes, in_sample=True).human) == made.N
    for trained_on, out_of_fold in (("votes of snli", True), ("votes of mnli", False)):
        allowed = described(trained_on=trained_on, out_of_fold=out_of_fold)
        assert len(allowed.aligned_to(votes).human) == made.N


def test_a_file_in_a_run_s_folder_is_what_the_record_says(tmp_path):
    votes, folder = made.made_votes(get_dataset("alphanli")), tmp_path / "soft"
    write_run(
        folder, [votes], [np.array([made.shares(i, 2) for i in range(made.N)])],
        system="Ours, vote made.shares, seed 2", settings={"train": "chaosnli", "seed": 2},
    )  # fmt: skip
    path = folder / "predictions.parquet"
    (one,) = read_predictions(path, [votes])
    assert (one.origin, one.family, one.seed) == ("trained", "Ours, vote made.shares", 2)
    assert (one.trained_on, one.out_of_fold) == (("votes of alphanli",), True)
    assert "results/soft/predictions.parquet" in [entry.name for entry in one.inputs]
    assert "trained by this project" in one.notes[0]
    assert len(one.aligned_to(votes).human) == made.N
    with pytest.raises(ChaosError, match="trained or fitted on the votes"):
        replace(one, out_of_fold=False).aligned_to(votes)
    path.write_bytes((folder / "dev.parquet").read_bytes())
    with pytest.raises(ChaosError, match="not the one that its record names"):
        read_predictions(path, [votes])

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
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
from helpers.rows import row, write_rows
from helpers.runs import write_run

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.chaosnli import read_chaosnli
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.scoring import systems
from chaos_utils.scoring.predictions import join, read_predictions, write_predictions
from chaos_utils.scoring.scores import score

NAMES = ["entailment", "neutral", "contradiction"]


@pytest.fixture
def votes():
    """Forty items whose old label goes round."""
    return made_votes(get_dataset("snli"))


def test_every_format_gives_the_same_predictions(tmp_path, votes):
    logits = write_chaosnli(
        tmp_path / "logits.json", lambda i: {"logits": np.log(shares(i)).tolist()}
    )
    files = [
        write_chaosnli(tmp_path / "p.json"),
        logits,
        write_csv(tmp_path / "c.csv"),
        write_lines(tmp_path / "b.json"),
        write_lines(tmp_path / "r.json", released_entry),
    ]
    read = [read_predictions(path, [votes])[0] for path in files]
    write_predictions(tmp_path / "w.parquet", read[:1])
    read += read_predictions(tmp_path / "w.parquet", [votes])
    for one in read:
        assert one.uids == votes.uids
        np.testing.assert_allclose(one.probabilities, [shares(i) for i in range(N)])
        assert one.predicted.tolist() == [i % 3 for i in range(N)]
        assert not one.notes
        with pytest.raises(ValueError, match="read-only"):
            one.probabilities[0, 0] = 1
    assert [one.name for one in read] == ["m", "m", "c", "b", "r", "m"]


def test_a_file_of_many_models_and_one_of_them(tmp_path, votes):
    path = write_chaosnli(tmp_path / "p.json", models=("bert", "roberta"))
    assert [one.name for one in read_predictions(path, [votes])] == ["bert", "roberta"]
    assert [one.name for one in read_predictions(path, [votes], model="bert")] == ["bert"]
    with pytest.raises(ChaosError, match="did you mean 'roberta'"):
        read_predictions(path, [votes], model="robert")


def test_alphanli_labels_are_integers(tmp_path):
    rows = [row("alphanli", f"u{i}", (70, 30), old=i % 2) for i in range(N)]
    dataset = read_chaosnli(write_rows(tmp_path / "a.jsonl", rows), get_dataset("alphanli"))
    path = write_chaosnli(
        tmp_path / "p.json", lambda i: {"logits": [1 - i % 2, i % 2], "predicted_label": 1 + i % 2}
    )
    (one,) = read_predictions(path, [dataset])
    assert one.predicted.tolist() == [i % 2 for i in range(N)]
    assert one.probabilities.shape == (N, 2)


def test_stated_labels_count_and_a_note_says_when_they_are_not_the_most_probable(tmp_path, votes):
    path = write_chaosnli(
        tmp_path / "p.json",
        lambda i: {"predicted_probabilities": shares(i), "predicted_label": NAMES[0 if i else 1]},
    )
    (one,) = read_predictions(path, [votes])
    assert one.predicted.tolist() == [1] + [0] * (N - 1)
    assert one.notes[0].startswith("27 stated labels")


def test_missing_items_are_counted_and_may_be_allowed(tmp_path, votes):
    path = write_chaosnli(tmp_path / "p.json", n=N - 4)
    with pytest.raises(ChaosError) as fault:
        read_predictions(path, [votes])
    assert "4 of 40 items" in str(fault.value)
    assert "u36, u37, u38, u39" in str(fault.value)
    assert "--allow-missing" in str(fault.value)
    (one,) = read_predictions(path, [votes], allow_missing=True)
    assert len(one) == N - 4
    assert "evaluated on the other 36" in one.notes[0]


def test_extra_items_are_reported(tmp_path, votes):
    path = write_chaosnli(tmp_path / "p.json", n=N + 3)
    (one,) = read_predictions(path, [votes])
    assert one.uids == votes.uids
    assert one.notes == ("3 uids of the file are no items of the dataset (u40, u41, u42)",)
    path = write_chaosnli(tmp_path / "p.json", n=N + 1)
    (one,) = read_predictions(path, [votes])
    assert one.notes == ("1 uid of the file is no item of the dataset (u40)",)


def test_a_file_of_another_dataset(tmp_path, votes):
    path = write_csv(tmp_path / "c.csv", [f"other{i},0.2,0.3,0.5" for i in range(5)])
    with pytest.raises(ChaosError, match="No uid of 'c' occurs in ChaosNLI-SNLI"):
        read_predictions(path, [votes])
    assert read_predictions(path, [votes], allow_others=True) == []


def test_another_order_of_the_columns_is_reported(tmp_path, votes):
    lines = [f"u{i}," + ",".join(str(shares(i)[k]) for k in (2, 0, 1)) for i in range(N)]
    with pytest.raises(ChaosError) as fault:
        read_predictions(write_csv(tmp_path / "c.csv", lines), [votes])
    message = str(fault.value)
    assert "seem to be in another order" in message
    assert "read as contradiction, entailment, neutral, 100%" in message
    assert "to do:     correct the header" in message


def entries(**entry):
    return lambda i: entry if i == 3 else {"predicted_probabilities": shares(i)}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (entries(predicted_probabilities=[0.2, 0.8]), "m, u3: 2 values"),
        (entries(predicted_probabilities=[0.2, 0.8, 0.5]), "sums to 1.5"),
        (entries(predicted_probabilities=[-0.2, 0.7, 0.5]), "[-0.2, 0.7, 0.5] has a negative"),
        (entries(predicted_probabilities=[float("nan"), 0.5, 0.5]), "is not finite"),
        (entries(predicted_probabilities=[float("inf"), 0, 0]), "is not finite"),
        (entries(predicted_probabilities=["0.2", 0.3, 0.5]), "m, u3: ['0.2'"),
        (entries(predicted_probabilities=None), "m, u3: None"),
    ],
)
def test_values_that_are_no_probabilities(tmp_path, votes, entry, said):
    with pytest.raises(ChaosError) as fault:
        read_predictions(write_chaosnli(tmp_path / "p.json", entry), [votes])
    assert said in str(fault.value)
    assert "1 fault in the predictions of 'm'" in str(fault.value)


def test_percentages(tmp_path, votes):
    path = write_lines(tmp_path / "m.json", lambda i: {"probs": [80, 15, 5]})
    with pytest.raises(ChaosError, match="divide by 100"):
        read_predictions(path, [votes])


def test_an_unknown_label(tmp_path, votes):
    path = write_chaosnli(
        tmp_path / "p.json",
        lambda i: {"predicted_probabilities": shares(i), "predicted_label": "maybe"},
    )
    with pytest.raises(ChaosError, match="40 faults"):
        read_predictions(path, [votes])


def test_parts_are_joined_unless_they_overlap(tmp_path, votes):
    lines = write_csv(tmp_path / "c.csv").read_text().splitlines()[1:]
    parts = []
    for name, chosen in (("a", lines[:25]), ("b", lines[25:])):
        path = write_csv(tmp_path / f"{name}.csv", chosen)
        parts += read_predictions(path, [votes], allow_missing=True)
    whole = join(parts, "both")
    assert len(whole) == N
    assert whole.name == "both"
    with pytest.raises(ChaosError, match="25 items twice"):
        join([*parts, parts[0]], "both")


def test_a_joined_system_was_trained_on_what_its_parts_were(votes):
    def part(places, **fields):
        values = [shares(i) for i in places]
        one = systems.computed("part", made_votes(votes.dataset), [shares(i) for i in range(N)])
        return replace(
            one, uids=tuple(f"u{i}" for i in places), probabilities=np.array(values),
            predicted=one.predicted[list(places)], **fields,
        )  # fmt: skip

    corpus = part(range(20), trained_on=("SNLI",), seed=1, origin="released")
    folded = part(range(20, N), trained_on=("votes of snli",), out_of_fold=True, seed=1)
    whole = join([corpus, folded], "both")
    assert (whole.trained_on, whole.seed) == (("SNLI", "votes of snli"), 1)
    assert (whole.origin, whole.family) == ("yours", "both")
    assert len(whole.aligned_to(votes).human) == N
    with pytest.raises(ChaosError, match="trained or fitted"):
        join([corpus, replace(folded, out_of_fold=False)], "both").aligned_to(votes)


# What contradicts itself


def shifted(i):
    return {"uid": f"u{i + 1}", "predicted_probabilities": shares(i)}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (lambda i: {"logits" if i == 0 else "predicted_probabilities": shares(i)},
         "m, u0: logits; most entries have probabilities"),
        (lambda i: {"uid": "u7" if i == 3 else f"u{i}", "predicted_probabilities": shares(i)},
         "m, u3: the uid inside is u7"),
        (shifted, "40 faults"),
        (lambda i: {"predicted_probabilities": shares(i), "logits": [5, 0, 0]},
         "are not the softmax of"),
    ],
)  # fmt: skip
def test_chaosnli_entries_that_contradict_themselves(tmp_path, votes, entry, said):
    with pytest.raises(ChaosError) as fault:
        read_predictions(write_chaosnli(tmp_path / "p.json", entry), [votes])
    assert said in str(fault.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"logits": [1, 2, 3]}, "are not the softmax of [1, 2, 3]"),
        ({"logits": [1, 2]}, "are not the softmax of [1, 2]"),
        ({"conf": 0.7}, "conf is 0.7, the largest probability 0.8"),
        ({"conf": True}, "conf is True"),
        ({"pred": 1}, "pred is 1, the largest probability stands at 0"),
        ({"pred": 3}, "pred is 3, no place in a list of 3"),
        ({"pred": True}, "pred is True"),
    ],
)
def test_released_lines_that_contradict_themselves(tmp_path, votes, changes, said):
    path = write_lines(
        tmp_path / "b.json", lambda i: released_entry(i, **(changes if i == 3 else {}))
    )
    with pytest.raises(ChaosError) as fault:
        read_predictions(path, [votes])
    assert "1 fault" in str(fault.value)
    assert f"line 4: {said}" in str(fault.value) or said in str(fault.value)


def test_probabilities_rounded_to_three_digits_do_not_contradict_their_logits(tmp_path, votes):
    def entry(i):
        probs = [round(v, 3) for v in (0.56789, 0.12345, 0.30866)]
        logits = np.log([0.56789, 0.12345, 0.30866]).tolist()
        return {"index": i, "pred": 0, "conf": 0.56789, "probs": probs, "logits": logits}

    (one,) = read_predictions(write_lines(tmp_path / "b.json", entry), [votes])
    np.testing.assert_allclose(one.probabilities[0], [0.568, 0.309, 0.123], atol=1e-3)


def test_lines_of_two_kinds(tmp_path, votes):
    path = write_lines(
        tmp_path / "b.json", lambda i: released_entry(i) if i else {"probs": shares(i)}
    )
    with pytest.raises(ChaosError, match="line 1: probabilities; most entries have"):
        read_predictions(path, [votes])


def test_a_column_of_labels_must_not_contradict_the_probabilities(tmp_path, votes):
    table = table_of(votes).assign(predicted_label=[NAMES[i % 3] for i in range(N)])
    table.to_csv(tmp_path / "m.csv", index=False)
    (one,) = read_predictions(tmp_path / "m.csv", [votes])
    assert not one.notes
    table.loc[4, "predicted_label"] = "c"
    table.to_csv(tmp_path / "m.csv", index=False)
    with pytest.raises(ChaosError, match="row 5, line 6: predicted_label c, but another"):
        read_predictions(tmp_path / "m.csv", [votes])
    table.loc[4, "predicted_label"] = None
    table.to_parquet(tmp_path / "m.parquet")
    with pytest.raises(ChaosError, match="row 5: predicted_label 'None'"):
        read_predictions(tmp_path / "m.parquet", [votes])


def test_a_stated_label_decides_a_tie(tmp_path, votes):
    lines = [f"u{i},0.4,0.4,0.2,{NAMES[i % 2]}" for i in range(N)]
    header = "uid,entailment,neutral,contradiction,predicted_label"
    (one,) = read_predictions(write_csv(tmp_path / "m.csv", lines, header), [votes])
    assert one.predicted.tolist() == [i % 2 for i in range(N)]


# Which order, which dataset


def test_an_order_that_is_not_the_format_s_is_named(tmp_path, votes):
    ours = write_lines(tmp_path / "a.json", lambda i: released_entry(i, order=(0, 1, 2)))
    with pytest.raises(ChaosError) as fault:
        read_predictions(ours, [votes])
    message = str(fault.value)
    assert "read as entailment, contradiction, neutral, 35% of the labels are the old" in message
    assert "read as entailment, neutral, contradiction, 100%" in message
    assert "expected:  the order entailment, contradiction, neutral" in message
    assert "leave index and pred out" in message
    theirs = write_lines(
        tmp_path / "b.json", lambda i: {"probs": [shares(i)[c] for c in (0, 2, 1)]}
    )
    with pytest.raises(ChaosError) as fault:
        read_predictions(theirs, [votes])
    message = str(fault.value)
    assert "read as entailment, contradiction, neutral, 100%" in message
    assert "expected:  the order entailment, neutral, contradiction" in message


def test_the_released_order_needs_the_released_codes(tmp_path):
    """Three labels of another dataset stand in its own order, index and pred or not."""
    votes = made_votes(made_dataset(labels=("one", "two", "three")))
    path = write_lines(tmp_path / "b.json", lambda i: released_entry(i, order=(0, 1, 2)))
    (one,) = read_predictions(path, [votes])
    np.testing.assert_allclose(one.probabilities, [shares(i) for i in range(N)])


@pytest.mark.parametrize("old_labels", [True, False])
@pytest.mark.parametrize("k", [2, 4, 9])
def test_the_order_is_checked_for_any_number_of_labels(tmp_path, k, old_labels):
    votes = made_votes(made_dataset(labels=[f"label {c}" for c in range(k)]), old_labels=old_labels)
    table = table_of(votes)
    table.to_csv(tmp_path / "m.csv", index=False)
    (one,) = read_predictions(tmp_path / "m.csv", [votes])
    assert not one.notes
    classes = list(table.columns[1:])
    table.columns = ["uid", *classes[1:], classes[0]]
    table.to_csv(tmp_path / "m.csv", index=False)
    with pytest.raises(ChaosError, match="another order") as fault:
        read_predictions(tmp_path / "m.csv", [votes])
    assert ("the old ones" if old_labels else "the majority's") in str(fault.value)
    assert f"read as label {k - 1}, label 0" in str(fault.value)


def test_a_doubt_about_the_order_is_a_note(tmp_path, votes):
    some = made_votes(votes.dataset, 20)
    (one,) = read_predictions(
        write_csv(tmp_path / "m.csv"), [some], allow_missing=True, allow_others=True
    )
    assert one.notes[0] == "20 items are too few to check the order of the classes"
    uneven = replace(votes, given_old_label=np.array([0] * 24 + [1] * 8 + [2] * 8))
    lines = [f"u{i},0.2,0.5,0.3" for i in range(N)]
    (one,) = read_predictions(write_csv(tmp_path / "m.csv", lines), [uneven])
    assert one.notes[0].startswith("the classes may be in another order: read as entailment, n")


def test_no_order_is_read_into_guesses_at_many_labels(tmp_path):
    rng = np.random.default_rng(0)
    labels = [f"l{k}" for k in range(200)]
    votes_of_200 = tmp_path / "many.csv"
    lines = [f"u{i},{labels[i % 200]}" for i in range(400) for _ in range(2)]
    votes_of_200.write_text("\n".join(["item,label", *lines]))
    path = tmp_path / "m.csv"
    guesses = rng.dirichlet(np.full(200, 0.1), 400).tolist()
    rows = [",".join([f"u{i}", *map(str, row)]) for i, row in enumerate(guesses)]
    path.write_text("\n".join([f"uid,{','.join(labels)}", *rows]))
    (one,) = read_predictions(path, load_all_votes(str(votes_of_200)))
    assert not one.notes
    path.write_text(path.read_text().replace(",l199\n", ",l200\n"))
    with pytest.raises(ChaosError) as fault:
        read_predictions(path, load_all_votes(str(votes_of_200)))
    assert len(str(fault.value)) < 1000


def test_too_few_and_too_many_values_or_columns(tmp_path):
    votes = made_votes(made_dataset())
    for k in (3, 5):
        path = write_lines(tmp_path / "m.json", lambda i, k=k: {"probs": shares(i, k)})
        with pytest.raises(ChaosError, match=f"line 1: {k} values") as fault:
            read_predictions(path, [votes])
        assert "4 finite numbers for each item of Moods: happy, sad, in between" in str(fault.value)
    table_of(votes).drop(columns="in_between").to_csv(tmp_path / "m.csv", index=False)
    with pytest.raises(ChaosError, match="no column in_between"):
        read_predictions(tmp_path / "m.csv", [votes])
    table = table_of(votes)
    table["neither"] = 0.05
    table.assign(angry=0.2).to_csv(tmp_path / "m.csv", index=False)
    with pytest.raises(ChaosError, match="too many columns for Moods") as fault:
        read_predictions(tmp_path / "m.csv", [votes])
    assert "probabilities of angry" in str(fault.value)
    table_of(votes).assign(note="odd", count=7).to_csv(tmp_path / "m.csv", index=False)
    assert len(read_predictions(tmp_path / "m.csv", [votes])) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "^Unrecognised predictions format"),
        ('{"uid": "a", "logit": [1, 2, 3]}', "line 1, no `probs`; keys found: uid, logit"),
        ('{"m": {"a": {"x": "ab', "a string is never closed"),
    ],
)
def test_what_is_no_prediction_is_said_in_words(tmp_path, votes, text, said):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(ChaosError, match=said):
        read_predictions(tmp_path / "m.json", [votes])


@pytest.mark.parametrize(
    ("part", "name"),
    [("settings", "seed"), ("settings", "init"), ("data", "trained_on"), ("data", "n_train"),
     ("device", "title"), ("outputs", None), ("fits", None), ("dev", None)],
)  # fmt: skip
def test_a_field_of_a_record_of_another_kind_is_named(tmp_path, part, name):
    votes = made_votes(get_dataset("alphanli"))
    values = [np.array([shares(i, 2) for i in range(N)])]
    write_run(tmp_path / "run", [votes], values, system="Ours", settings={"seed": 2})
    path = tmp_path / "run" / "run.json"
    record = json.loads(path.read_text())
    if name:
        del record[part][name]
    else:
        record[part] = "predictions.parquet"
    path.write_text(json.dumps(record))
    with pytest.raises(ChaosError, match=f"{part}.{name}" if name else part):
        read_predictions(tmp_path / "run" / "predictions.parquet", [votes])


def test_genuine_uids_without_the_released_data(tmp_path, votes):
    sample = made_votes(votes.dataset, prefix="sample-", synthetic=True)
    with pytest.raises(ChaosError, match="chaos data fetch"):
        read_predictions(write_csv(tmp_path / "m.csv"), [sample])
    other = made_votes(votes.dataset, prefix="other-")
    with pytest.raises(ChaosError) as fault:
        read_predictions(write_csv(tmp_path / "m.csv"), [other])
    assert "fetch" not in str(fault.value)
    with pytest.raises(ChaosError, match="no dataset"):
        read_predictions(write_csv(tmp_path / "m.csv"), [])


@pytest.mark.parametrize("column", ["dataset", "task"])
def test_the_dataset_that_a_row_names(tmp_path, votes, column):
    mnli = made_votes(get_dataset("mnli"), prefix="m")
    table = pd.concat([table_of(votes), table_of(mnli)])
    table[column] = ["snli"] * N + ["mnli"] * N
    table.to_csv(tmp_path / "m.csv", index=False)
    found = read_predictions(tmp_path / "m.csv", [votes, mnli])
    assert [one.dataset.name for one in found] == ["snli", "mnli"]
    assert not any(one.notes for one in found)
    table[column] = "mnli"
    table.to_csv(tmp_path / "m.csv", index=False)
    with pytest.raises(ChaosError, match="line 2: dataset is mnli, but uid 'u0' is in snli"):
        read_predictions(tmp_path / "m.csv", [votes, mnli])
    table[column] = "anything"
    table.to_csv(tmp_path / "m.csv", index=False)
    assert len(read_predictions(tmp_path / "m.csv", [votes, mnli])) == 2


def test_datasets_that_share_their_uids(tmp_path, votes):
    mnli = made_votes(get_dataset("mnli"))
    moods = made_votes(made_dataset())
    found = read_predictions(write_csv(tmp_path / "m.csv"), [votes, mnli, moods])
    assert [one.dataset.name for one in found] == ["snli", "mnli"]
    write_predictions(tmp_path / "m.parquet", [replace(one, name="m") for one in found])
    again = read_predictions(tmp_path / "m.parquet", [votes, mnli, moods])
    assert [one.dataset.name for one in again] == ["snli", "mnli"]
    assert [len(one) for one in again] == [N, N]


# What a system is


def described(tmp_path, votes, **columns):
    table_of(votes).assign(**columns).to_csv(tmp_path / "m.csv", index=False)
    return read_predictions(tmp_path / "m.csv", [votes])[0]


def test_columns_may_say_what_a_system_is(tmp_path, votes):
    plain = described(tmp_path, votes)
    assert (plain.family, plain.seed, plain.trained_on, plain.origin) == ("m", None, (), "yours")
    one = described(
        tmp_path, votes, family="BERT", seed=3, trained_on="SNLI; votes of ChaosNLI-SNLI"
    )
    assert (one.family, one.seed, one.trained_on) == ("BERT", 3, ("SNLI", "votes of snli"))
    with pytest.raises(ChaosError, match="trained or fitted on the votes"):
        one.aligned_to(votes)
    assert len(one.aligned_to(votes, in_sample=True).human) == N
    write_predictions(tmp_path / "m.parquet", [one])
    (again,) = read_predictions(tmp_path / "m.parquet", [votes])
    assert (again.family, again.seed, again.trained_on) == (one.family, 3, one.trained_on)
    folded = described(tmp_path, votes, trained_on="votes of snli", out_of_fold=True)
    assert len(folded.aligned_to(votes).human) == N
    corpus = described(tmp_path, votes, trained_on="SNLI")
    assert len(corpus.aligned_to(votes).human) == N
    other = described(tmp_path, votes, trained_on="votes of mnli")
    assert len(other.aligned_to(votes).human) == N


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"seed": [0] * 39 + [1]}, "The column seed contradicts itself for 'm'"),
        ({"seed": [0] * 39 + [None]}, "contradicts itself"),
        ({"trained_on": ["SNLI"] * 39 + ["MNLI"]}, "The column trained_on contradicts"),
        ({"seed": -1}, "a whole number, 0 or more"),
        ({"seed": "one"}, "a whole number, 0 or more"),
        ({"out_of_fold": "perhaps"}, "true or false"),
    ],
)
def test_columns_that_contradict_themselves(tmp_path, votes, columns, said):
    with pytest.raises(ChaosError, match=said):
        described(tmp_path, votes, **columns)


def test_a_file_in_a_run_s_folder_is_what_the_record_says(tmp_path):
    votes = made_votes(get_dataset("alphanli"))
    values = [np.array([shares(i, 2) for i in range(N)])]
    write_run(
        tmp_path / "soft", [votes], values, system="Ours, vote shares, seed 2",
        settings={"train": "chaosnli", "seed": 2},
    )  # fmt: skip
    path = tmp_path / "soft" / "predictions.parquet"
    (one,) = read_predictions(path, [votes])
    assert (one.origin, one.family, one.seed) == ("trained", "Ours, vote shares", 2)
    assert (one.trained_on, one.out_of_fold) == (("votes of alphanli",), True)
    assert "results/soft/predictions.parquet" in [entry.name for entry in one.inputs]
    assert "trained by this project" in one.notes[0]
    assert len(one.aligned_to(votes).human) == N
    with pytest.raises(ChaosError, match="trained or fitted on the votes"):
        replace(one, out_of_fold=False).aligned_to(votes)
    (tmp_path / "link").symlink_to(path)
    assert read_predictions(tmp_path / "link", [votes])[0].seed == 2
    path.write_bytes((tmp_path / "soft" / "dev.parquet").read_bytes())
    with pytest.raises(ChaosError, match="not the one that its record names"):
        read_predictions(path, [votes])


def test_a_record_that_is_not_ours_or_damaged(tmp_path, votes):
    path = write_csv(tmp_path / "m.csv")
    (tmp_path / "run.json").write_text('{"outputs": ["other.csv"], "epochs": 3}')
    assert read_predictions(path, [votes])[0].origin == "yours"
    (tmp_path / "run.json").write_text('{"outputs": {"m.csv": ""}}')
    with pytest.raises(ChaosError, match="record cannot be read"):
        read_predictions(path, [votes])


def test_released_predictions_are_those_that_the_dataset_names(released):
    snli, mnli, alphanli = map(systems.released_systems, released)
    assert [len(system) for system in snli] == [1514] * 5
    assert [len(system) for system in mnli] == [1569] * 3
    assert alphanli == []
    if snli:
        assert {(one.family, one.seed, one.trained_on) for one in snli} == {
            *(("RoBERTa-base", seed, ("SNLI",)) for seed in range(3)),
            *(("BERT-base", seed, ("SNLI",)) for seed in range(2)),
        }


# Baselines


def test_baselines_of_four_labels_without_old_ones():
    votes = made_votes(made_dataset(), old_labels=False)
    table = score(votes, [systems.uniform(votes)], measures=["jsd"])
    assert table["value"].between(0.1, 1).all()
    assert systems.uniform(votes).predicted.tolist() == [0] * N
    for lacking in (systems.class_prior, systems.old_label):
        with pytest.raises(ChaosError, match="old labels"):
            lacking(votes)
    with pytest.raises(ChaosError, match="old votes"):
        systems.original_votes(votes)
    assert systems.load_systems(votes) == []


def test_systems_are_immutable(votes):
    values = np.full((N, 3), 1 / 3)
    one = systems.computed("even", votes, values)
    values[0] = 1
    for system in (one, one.at_temperature(2.0)):
        assert system.probabilities[0, 0] == pytest.approx(1 / 3)
        for array in (system.probabilities, system.predicted):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0

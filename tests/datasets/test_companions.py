"""Reasons and machines beside the votes: published facts where the files are, and bad files."""

import numpy as np
import pandas as pd
import pytest
from helpers.rows import write_rows

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import companions
from chaos_utils.datasets.companions import LABELS
from chaos_utils.datasets.loading import load_votes
from chaos_utils.metrics.divergence import entropy, jensen_shannon_distance, total_variation


@pytest.mark.usefixtures("released_root")
def test_reasons_are_as_published():
    rows = companions.read_varierr()
    assert (len(rows), rows["uid"].nunique()) == (1_933, 500)
    assert rows["peers"].sum() + rows["stands"].notna().sum() == 7_574
    # A label is an error where nobody who gave it stands by it.
    by_label = rows.groupby(["uid", "label"])
    stands = by_label["stands"].any()
    assert (by_label["error"].first() == ~stands).all()
    assert (~stands).sum() == 129

    rows = companions.read_livenli()
    assert (len(rows), rows["uid"].nunique(), rows["annotator"].nunique()) == (1_405, 122, 48)
    assert np.allclose(rows[list(LABELS)].sum(axis=1), 1)
    assert (rows[list(LABELS)].max(axis=1) < 1).sum() == 118 + 86 + 22 + 11

    rows = companions.read_taxonomy()
    assert rows.groupby("round")["uid"].nunique().to_dict() == {1: 400, 2: 110}
    assert rows["reason"].value_counts()["Probabilistic"] == 145 + 39


@pytest.mark.usefixtures("released_root")
def test_people_agree_more_on_ambient_once_it_is_disambiguated():
    rows = companions.read_ambient()
    counts = rows[list(LABELS)].to_numpy()
    assert len(rows) == 4 * 542
    assert (counts.sum(axis=1) == 9).all()
    written = rows["reading"] == 0
    assert counts[written].tolist() == load_votes("ambient").counts.tolist()
    bits = entropy(counts / 9, unit="bits")
    assert round(bits[written].mean(), 3) == 0.647
    assert round(bits[~written & ~rows["distractor"]].mean(), 3) == 0.423
    accepted = rows[~written].groupby("distractor")["accepted"].mean()
    assert accepted[False] > 8 > 5 > accepted[True]
    linguists = companions.read_ambient_linguists()
    assert (linguists["id"].nunique(), linguists["annotator"].nunique()) == (2_020, 28)


# The complete run; with the trials on SNLI, total variation is 0.196.
@pytest.mark.parametrize(("name", "jsd", "tvd"), [("snli", 0.227, 0.195), ("mnli", 0.320, 0.332)])
@pytest.mark.usefixtures("released_root")
def test_six_language_models_pooled(name, jsd, tvd):
    rows = companions.read_llm_judges().query("dataset == @name")
    counts = pd.crosstab(rows["uid"], rows["label"])[list(LABELS)]
    assert counts.shape == (500, 3)
    assert (counts.sum(axis=1) == 6).all()
    votes = load_votes(name)
    people = votes.shares[[votes.index(uid) for uid in counts.index]]
    machines = counts.to_numpy() / 6
    assert round(jensen_shannon_distance(people, machines, unit="nats").mean(), 3) == jsd
    assert round(total_variation(people, machines).mean(), 3) == tvd


def write(folder, name, content):
    write_rows(folder / name, [content])
    return str(folder)


# Readers, and the files that they read.
VARIERR = (companions.read_varierr, "varierr/varierr.json")
LIVENLI = (companions.read_livenli, "livenli/livenli.csv")
BERTS = (
    lambda data: companions.read_berts(data=data),
    "berts_of_a_feather/mnli_development_set_number_of_correct_responses.txt",
)
JUDGES = (companions.read_llm_judges, "llm_as_a_judge/chaosnli_snli.judgments.jsonl")
LESION = (
    lambda data: companions.read_llm_annotators("lesion", data),
    "alttest/lesion/llm_annotations.json",
)
UNSAID = {"id": "a", "error_labels": [], **{label: [{}] for label in LABELS}}
ASKED = "uid,worker_id,multilabel,explanation,taxonomy\n"
HEAD = "index\tpremise\thypothesis\tgold_label\tnumber of correct responses (out of 100)\n"
JUDGED = {"item_id": "a", "model": "m", "run_id": "full", "pred": "e", "finish": "stop"}


@pytest.mark.parametrize(
    ("of", "content", "expected"),
    [
        (VARIERR, '{"id": ', "expected JSON"),
        (VARIERR, {"id": "a"}, "no column 'error_labels'"),
        (VARIERR, UNSAID, "found:     'annotator'"),
        (LIVENLI, "uid,x\n1,2\n", "no column 'worker_id'"),
        (LIVENLI, ASKED + "1,w,maybe,x,y\n", "found:     'maybe'"),
        (BERTS, HEAD + "0\ta\tb\tneutral\t101\n", "found:     '101'"),
        (JUDGES, JUDGED | {"pred": "x"}, "found:     'x'"),
        (LESION, {"gpt": {"a": 9}}, "found:     '9'"),
    ],
)
def test_bad_files_end_in_one_clear_error(tmp_path, of, content, expected):
    read, name = of
    with pytest.raises(ChaosError) as fault:
        read(write(tmp_path, name, content))
    assert expected in str(fault.value)
    assert f"chaos data fetch {name}" in str(fault.value)
    assert len(str(fault.value)) < 1500


def test_what_is_not_the_published_file_is_read_from_a_folder_of_ones_own(tmp_path, monkeypatch):
    read, name = BERTS
    rows = read(write(tmp_path, name, HEAD + '0\ta "quoted\tb\tneutral\t97\n'))
    assert rows.loc[0, ["label", "premise"]].tolist() == ["neutral", 'a "quoted']
    read, name = VARIERR
    monkeypatch.setenv("CHAOS_DATA", write(tmp_path, name, JUDGED))
    with pytest.raises(ChaosError, match="SHA-256 differs"):
        read()
    with pytest.raises(ChaosError, match="No language models' labels"):
        companions.read_llm_annotators("rte")

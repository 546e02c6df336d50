"""Reasons and machines beside the votes: published facts where the files are, and bad files."""

import numpy as np
import pandas as pd
import pytest
from helpers.rows import write_rows

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import auxiliary_data, sources
from chaos_utils.datasets.auxiliary_data import LABELS
from chaos_utils.datasets.loading import load_votes
from chaos_utils.metrics.divergence import entropy


@pytest.mark.published("varierr/*", "livenli/*", "nli_disagreement_taxonomy/*")
def test_reasons_are_as_published():
    rows = auxiliary_data.read_varierr()
    assert (len(rows), rows["uid"].nunique()) == (1_933, 500)
    assert rows["peers"].sum() + rows["stands"].notna().sum() == 7_574
    # A label is an error where nobody who gave it stands by it.
    by_label = rows.groupby(["uid", "label"])
    stands = by_label["stands"].any()
    assert (by_label["error"].first() == ~stands).all()
    assert (~stands).sum() == 129

    rows = auxiliary_data.read_livenli()
    assert (len(rows), rows["uid"].nunique(), rows["annotator"].nunique()) == (1_405, 122, 48)
    assert np.allclose(rows[list(LABELS)].sum(axis=1), 1)
    assert (rows[list(LABELS)].max(axis=1) < 1).sum() == 118 + 86 + 22 + 11

    rows = auxiliary_data.read_taxonomy()
    assert rows.groupby("round")["uid"].nunique().to_dict() == {1: 400, 2: 110}
    assert rows["reason"].value_counts()["Probabilistic"] == 145 + 39


@pytest.mark.published("ambient/*")
def test_people_agree_more_on_ambient_once_it_is_disambiguated():
    rows = auxiliary_data.read_ambient()
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


def write(folder, name, content):
    write_rows(folder / name, [content])
    return str(folder)


# Readers, and the files that they read.
VARIERR = (auxiliary_data.read_varierr, "varierr/varierr.json")
LIVENLI = (auxiliary_data.read_livenli, "livenli/livenli.csv")
JUDGES = (lambda data: auxiliary_data.read_judges("snli", data), "judges32/snli.csv")
LESION = (
    lambda data: auxiliary_data.read_llm_annotators("lesion", data),
    "alttest/lesion/llm_annotations.json",
)
UNSAID = {"id": "a", "error_labels": [], **{label: [{}] for label in LABELS}}
ASKED = "uid,worker_id,multilabel,explanation,taxonomy\n"
HEAD = "item_uid,gold," + ",".join(f"j{k:02}" for k in range(1, 33)) + "\n"
JUDGED = "a,e" + 31 * ",n"


CANARY = {"type": "canary", "canary_hex": "00"}


def answers_on_a_scale(tmp_path, people, models):
    write(tmp_path, "probcopa/probcopa_CANARY.jsonl", people)
    header = "model,setting,value,UID,run_or_persona,answer\n"
    folder = write(tmp_path, "probcopa/ablations_30_items.csv", header + models)
    return auxiliary_data.read_probcopa(folder)


def test_answers_on_a_scale_are_read_without_canaries_and_unreadable_replies(tmp_path):
    people = [CANARY, {"UID": 7, "response": 30}, CANARY, {"UID": 7, "response": 0}]
    models = "m,temperature,0.8,7,0,72.0\nm,temperature,0.8,7,1,error\nm,temperature,0.8,7,2,\n"
    rows = answers_on_a_scale(tmp_path, people, models)
    assert rows["answer"].dropna().tolist() == [30, 0, 72]
    assert rows["model"].tolist() == ["", "", "m", "m", "m"]
    assert set(rows["uid"]) == {"7"}
    for wrong in ("101", "-1", "many"):
        with pytest.raises(ChaosError, match=rf"(?s)not on the scale.*ablations.*'{wrong}'"):
            answers_on_a_scale(tmp_path, people, models + f"m,temperature,0.8,7,3,{wrong}\n")
    with pytest.raises(ChaosError, match=r"(?s)not on the scale.*CANARY.*101"):
        answers_on_a_scale(tmp_path, [*people, {"UID": 7, "response": 101}], models)


@pytest.mark.published("probcopa/*")
def test_answers_on_a_scale_are_as_published():
    rows = auxiliary_data.read_probcopa()
    people = rows[rows["model"] == ""]
    assert (len(people), people["uid"].nunique()) == (5_858, 210)
    by_setting = rows[rows["model"] != ""].groupby(["model", "setting", "value"])
    assert by_setting.size().tolist() == [900] * 35
    assert rows["answer"].isna().sum() == 1_305
    assert set(rows["uid"]) == set(load_votes("probcopa", "released").uids)


def unli(tmp_path, *rows):
    sample = sources.locate("chaosNLI_v1.0/chaosNLI_snli.jsonl", "sample")
    write(tmp_path, "chaosNLI_v1.0/chaosNLI_snli.jsonl", sample.read_text("utf-8"))
    table = pd.DataFrame(rows, columns=["pre", "hyp", "unli"])
    return auxiliary_data.read_unli("snli", write(tmp_path, "unli/dev.csv", table.to_csv()))


def test_probabilities_are_joined_to_items_by_their_texts(tmp_path):
    votes = load_votes("snli", "sample")
    text = votes.texts[3]
    pair = (text["premise"].upper() + " !", text["hypothesis"])
    rows = unli(tmp_path, (*pair, "1.0"), ("another", "pair", "3e-5"))
    assert rows.to_numpy().tolist() == [[votes.uids[3], 1], ["", 3e-5]]
    for wrong in ("1.1", "-0.1", "", "often"):
        with pytest.raises(ChaosError, match="no probability") as fault:
            unli(tmp_path, (*pair, wrong))
        assert repr(wrong) in str(fault.value)
    with pytest.raises(ChaosError, match="twice"):
        unli(tmp_path, (*pair, "1"), (*pair, "0"))


@pytest.mark.published("unli/*")
def test_probabilities_follow_the_share_of_entailment():
    rows = auxiliary_data.read_unli("snli", "released")
    votes = load_votes("snli", "released")
    joined = rows[rows["uid"] != ""]
    assert (len(rows), joined["uid"].nunique()) == (3_040, 614)
    items = [votes.index(uid) for uid in joined["uid"]]
    r = np.corrcoef(joined["probability"], votes.shares[items, 0])[0, 1]
    assert r.round(3) == 0.682


def test_a_reply_that_could_not_be_read_is_no_answer(tmp_path):
    read, name = JUDGES
    rows = read(write(tmp_path, name, HEAD + JUDGED + ",c\n" + "b,e" + 31 * ",e" + ",\n"))
    assert rows.groupby("uid").size().to_dict() == {"a": 32, "b": 31}
    assert rows.iloc[-1].to_dict() == {
        "uid": "a", "model": "claude-sonnet-4-6", "maker": "Anthropic", "label": "contradiction"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("of", "content", "expected"),
    [
        (VARIERR, '{"id": ', "expected JSON"),
        (VARIERR, {"id": "a"}, "no column 'error_labels'"),
        (VARIERR, UNSAID, "found:     'annotator'"),
        (LIVENLI, "uid,x\n1,2\n", "no column 'worker_id'"),
        (LIVENLI, ASKED + "1,w,maybe,x,y\n", "found:     'maybe'"),
        (JUDGES, HEAD + JUDGED + ",x\n", "column 'j32' holds an unknown value"),
        (JUDGES, HEAD + 2 * (JUDGED + ",c\n"), "stands in the data file twice"),
        (JUDGES, "item_uid,gold,j01\na,e,e\n", "no column 'j02'"),
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


def test_what_is_not_the_published_file_is_refused(tmp_path, monkeypatch):
    _, name = JUDGES
    monkeypatch.setenv("CHAOS_DATA", write(tmp_path, name, HEAD))
    with pytest.raises(ChaosError, match="SHA-256 differs"):
        auxiliary_data.read_judges("snli")
    for read in (auxiliary_data.read_llm_annotators, auxiliary_data.read_judges):
        with pytest.raises(ChaosError, match="no language models' labels"):
            read("rte")

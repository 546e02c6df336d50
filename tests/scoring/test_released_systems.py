"""What was released on a dataset: models in one file, what must be said of them, absent files."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_of
from helpers.predictions import made_votes, shares

from chaos_utils.analyses import claims_numbers, fitting, published_numbers
from chaos_utils.analyses.baan import agrees
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.availability import missing_predictions
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.dataset import Kept, ReleasedSystem
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.registry import prediction_files
from chaos_utils.report.captions import cautioned
from chaos_utils.scoring.predictions import read_predictions
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.systems import computed, load_systems, released_systems

NINE = ReleasedSystem(
    models=("one", "two"), files=("both.json",), trained_on=("SNLI",), paper="p", optional=True
)
LATER = ReleasedSystem(family="Later", files=("later.csv",), trained_on=(), caution="may know them")


def on(votes, *known):
    return replace(votes, dataset=votes.dataset.model_copy(update={"systems": known}))


@pytest.fixture
def votes():
    return made_votes(get_dataset("snli"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    def find(name):
        return tmp_path / name if (tmp_path / name).exists() else None

    monkeypatch.setattr(sources, "find", find)
    monkeypatch.setattr(sources, "locate", lambda name, data: find(name))
    return tmp_path


def write_models(path, uids, names):
    def entry(i, uid):
        logits = np.log(shares(i)).tolist()
        label = ["entailment", "neutral", "contradiction"][int(np.argmax(logits))]
        return {"uid": uid, "logits": logits, "predicted_label": label}

    entries = {uid: entry(i, uid) for i, uid in enumerate(uids)}
    path.write_text(json.dumps(dict.fromkeys(names, entries)))


def write_csv(path, uids, more=""):
    head = "uid,entailment,neutral,contradiction" + (",dataset" if more else "")
    rows = [",".join([uid, *map(str, shares(i)), *filter(None, [more])])
            for i, uid in enumerate(uids)]  # fmt: skip
    path.write_text("\n".join([head, *rows, ""]))


def test_a_file_of_several_models_and_of_two_datasets_gives_those_that_are_named(votes, folder):
    write_models(folder / "both.json", [*votes.uids, "of another dataset"], ["two", "one", "more"])
    write_csv(folder / "later.csv", votes.uids)
    found = released_systems(on(votes, NINE, LATER))
    about = [(s.name, s.family, s.seed, s.origin, s.paper, s.caution, len(s)) for s in found]
    n = len(votes)
    assert about == [
        ("one", "one", None, "released", "p", "", n),
        ("two", "two", None, "released", "p", "", n),
        ("Later", "Later", None, "released", "", "may know them", n),
    ]


def test_a_file_that_lacks_a_model_is_a_fault_and_an_absent_one_is_none(votes, folder):
    described = on(votes, NINE, LATER)
    assert released_systems(described) == []
    assert missing_predictions(described.dataset) == ["later.csv"]  # nobody can fetch the other
    write_models(folder / "both.json", votes.uids, ["one"])
    with pytest.raises(ChaosError, match=r"(?s)lacks predictions.*one.*two"):
        released_systems(described)
    nine = {f"model_predictions/model_predictions_for_{of}.json" for of in ("snli_mnli", "abdnli")}
    assert nine <= set(prediction_files())
    assert nine & set(prediction_files(optional=False)) == {
        "model_predictions/model_predictions_for_abdnli.json"
    }


def test_a_file_with_another_digest_is_refused(votes, tmp_path, monkeypatch):
    path = tmp_path / "encoders2026" / "deberta-v3-large-snli.csv"
    path.parent.mkdir()
    write_csv(path, votes.uids)
    monkeypatch.setenv("CHAOS_DATA", str(tmp_path))
    with pytest.raises(ChaosError, match="SHA-256 differs"):
        released_systems(votes)


def test_of_a_list_with_texts_numbers_alone_are_kept(tmp_path):
    path = tmp_path / "list.json"
    entry = {"uid": "a", "premise": "a text", "p": [0.99951171875, 0.00029118, 0.00019710064]}
    path.write_text(json.dumps([entry, {"uid": "b", "p": [1.0, 7.677e-05, 0.8125]}]))
    kept = sources.keep_numbers(path, Kept(key="p", columns=("x", "y", "z")))
    assert kept.read_text() == "uid,x,y,z\na,0.999512,0.0002912,0.0001971\nb,1,7.677e-05,0.8125\n"
    with pytest.raises(ValueError, match="no list of entries"):
        sources.keep_numbers(path, Kept(key="other", columns=("x",)))


def test_a_file_that_fits_two_datasets_is_refused_unless_it_says_which(votes, tmp_path):
    other = made_votes(get_dataset("ocnli"))
    write_csv(tmp_path / "m.csv", votes.uids)
    with pytest.raises(ChaosError, match=r"fit two datasets(?s:.*)ChaosNLI-SNLI and OCNLI"):
        read_predictions(tmp_path / "m.csv", [votes, other])
    write_csv(tmp_path / "m.csv", votes.uids, "snli")
    (found,) = read_predictions(tmp_path / "m.csv", [votes, other])
    assert found.dataset == votes.dataset


def test_labels_whose_order_the_votes_cannot_tell_are_noted_where_none_names_it(votes, tmp_path):
    sure = np.eye(3)[votes.old_label] * 0.7 + 0.1
    rng = np.random.default_rng(0)
    blind = sure.copy()  # what is not neutral, by chance
    of_two = np.flatnonzero(votes.old_label != 1)
    blind[of_two] = np.eye(3)[rng.choice([0, 2], len(of_two))] * 0.7 + 0.1
    path = tmp_path / "m.jsonl"
    for table, said in ((sure, ()), (blind, ("entailment and contradiction",))):
        rows = zip(votes.uids, table.tolist(), strict=True)
        path.write_text("\n".join(json.dumps({"uid": uid, "probs": p}) for uid, p in rows))
        (found,) = read_predictions(path, [votes])
        assert len(found.notes) == len(said)
        assert all(one in note for one, note in zip(said, found.notes, strict=True))


def test_what_must_be_said_of_a_system_stands_below_what_names_it():
    names = {"system": ["RoBERTa-base", "ModernBERT-large, affine"]}
    assert "may have seen them" in cautioned("A title.", pd.DataFrame(names))
    assert cautioned("A title.", pd.DataFrame({"system": ["DeBERTa-v3-large"]})) == "A title."


def test_the_stack_without_doubtful_systems_stands_beside_the_whole(votes):
    systems = [computed(name, votes, votes.shares, origin="released") for name in "abc"]
    systems[1] = replace(systems[1], caution="may know them")
    found = fitting.stacks(systems)
    assert (found["all systems"], found["all but b"]) == ([0, 1, 2], [0, 2])


def test_claims_of_the_papers_are_not_checked_on_later_models(votes):
    systems = [computed(name, votes, votes.shares, origin="released") for name in "ab"]
    systems[0] = replace(systems[0], paper="baan2022")
    both, alone = (
        claims_numbers.system_numbers(evidence_of(votes, some), n_resamples=20, seed=0).rows
        for some in (systems, systems[:1])
    )
    pd.testing.assert_frame_equal(both, alone)


def test_the_nine_models_scores_on_alphanli_are_those_printed(released):
    (alphanli,) = [one for one in released if one.dataset.name == "alphanli"]
    ours = published_numbers.model_scores(evidence_of(alphanli, load_systems(alphanli))).rows
    printed = [
        read_published("nie2020_table5").assign(bin=0),
        read_published("nie2020_entropy_bins"),
    ]
    theirs = pd.concat(printed).query("dataset == 'alphanli'").rename(columns={"model": "system"})
    measures = ["jsd", "kl", "old_accuracy", "new_accuracy"]
    long = theirs.melt(["system", "bin"], measures, "measure", "printed")
    both = ours.merge(long, on=["system", "bin", "measure"])
    assert len(both) == len(ours) == 9 * 6 * 4
    assert all(map(agrees, both["value"], both["printed"]))


def test_the_two_encoders_scores_are_their_publisher_s_and_stand_at_either_end(released):
    wanted = {  # JSD, KL, old and new accuracy, as the README of the predictions has them
        ("snli", "DeBERTa-v3-large"): (0.2778, 0.8575, 0.7087, 0.7933),
        ("snli", "ModernBERT-large"): (0.2144, 0.3776, 0.7081, 0.7682),
        ("mnli", "DeBERTa-v3-large"): (0.3641, 1.465, None, 0.6335),
        ("mnli", "ModernBERT-large"): (0.2853, 0.638, None, 0.6235),
    }
    published = read_published("nie2020_table5").query("model not in ('chance', 'est-human')")
    for votes in released[:2]:
        name = votes.dataset.name
        of_dataset = published[published["dataset"] == name]["jsd"]
        systems = {one.name: one for one in load_systems(votes, trained=False)}
        for (of, model), values in wanted.items():
            if of != name:
                continue
            table = score(
                votes,
                [systems[model]],
                measures=("jsd", "kl", "old_accuracy", "new_accuracy"),
                n_resamples=0,
            )
            for value, expected in zip(table["value"], values, strict=True):
                assert expected is None or agrees(value, expected)
            ahead = int((of_dataset < table["value"].iloc[0]).sum())
            assert ahead == (9 if model.startswith("DeBERTa") else 0)


def test_every_digest_of_released_predictions_is_known():
    known = [sources.get(name).sha256 for name in prediction_files()]
    assert all(len(one) == len(hashlib.sha256().hexdigest()) for one in known)

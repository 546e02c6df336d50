import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.pages import unpacked
from helpers.predictions import part_of

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.datasets import auxiliary_data, sources
from chaos_utils.datasets.auxiliary_data import AuxiliaryData
from chaos_utils.datasets.dataset import Release
from chaos_utils.metrics.divergence import jensen_shannon_distance
from chaos_utils.pages import explorer
from chaos_utils.publish import licences, scripts
from chaos_utils.scoring.systems import synthetic_systems


def test_columns_hold_every_item_s_votes_and_the_project_s_measures(sample):
    for votes in sample:
        systems = synthetic_systems(votes)
        made = explorer.columns(votes, systems)
        assert made["uids"] == sorted(votes.uids)
        rows = [votes.index(uid) for uid in made["uids"]]
        assert np.array_equal(np.transpose(made["votes"]), votes.counts[rows])
        assert made["majority"] == votes.majority[rows].tolist()
        assert made["old_label"] == votes.old_label[rows].tolist()
        if votes.dataset.name == "alphanli":
            assert made["old_votes"] is None
        else:
            assert np.array_equal(np.transpose(made["old_votes"]), votes.old_votes[rows])
        for system, found in zip(systems, made["systems"], strict=True):
            assert (found["name"], found["origin"]) == (system.name, "simulated")
            assert found["label"] == system.predicted[rows].tolist()
            shares = system.probabilities[rows]
            jsd = jensen_shannon_distance(votes.shares[rows], shares, unit="nats")
            for name, values in {"shares": shares.T[:-1], "jsd": jsd}.items():
                assert np.abs(np.array(found[name]) / explorer.SCALE - values).max() <= 0.50001e-4


def test_what_a_system_does_not_cover_is_empty_and_the_rest_in_its_place(sample):
    votes = sample[0]
    whole = synthetic_systems(votes)[0]
    part = part_of(whole, range(10, 5, -1))
    found, all_ = explorer.columns(votes, [part, whole])["systems"]
    uids = sorted(votes.uids)
    for name in ("label", "jsd"):
        of = dict(zip(uids, all_[name], strict=True))
        assert found[name] == [of[uid] if uid in part.uids else None for uid in uids]


def test_a_label_alone_has_no_distance_from_the_votes(sample):
    votes = sample[0]
    whole = synthetic_systems(votes)[0]
    (found,) = explorer.columns(votes, [replace(whole, one_label=True)])["systems"]
    rows = [votes.index(uid) for uid in sorted(votes.uids)]
    assert found["label"] == whole.predicted[rows].tolist()
    assert (found["mean_jsd"], set(found["jsd"])) == (None, {None})


def test_language_models_labels_are_counted_where_all_were_asked(sample):
    votes = sample[0]
    source = replace(votes.source, synthetic=False, sha256=votes.dataset.files[0].sha256)
    released = replace(votes, source=source, other_sources=())
    uids = sorted(votes.uids)
    labels = votes.dataset.labels
    rows = [
        {"uid": uid, "model": f"m{k}", "maker": "them", "label": labels[label]}
        for uid, chosen in ((uids[4], (0, 0, 2)), (uids[1], (1, 1, 1)), (uids[2], (0, 1)))
        for k, label in enumerate(chosen)
    ]
    judges = AuxiliaryData("invented/*", lambda dataset: pd.DataFrame(rows))
    made = explorer.columns(released, [], judges)["machines"]
    assert (made["n"], made["source"]) == (3, "Labels of 32 language models")
    counts = dict(zip(uids, zip(*made["votes"], strict=True), strict=True))
    assert counts.pop(uids[4]) == (2, 0, 1)
    assert counts.pop(uids[1]) == (0, 3, 0)
    assert set(counts.values()) == {(None, None, None)}
    for other in (explorer.columns(votes, [], judges), explorer.columns(released, [])):
        assert other["machines"] is None


def test_the_nine_and_what_was_submitted_are_loaded_when_needed_and_named_before(sample):
    votes = sample[0]
    one, other, last = synthetic_systems(votes)
    other = replace(other, name="roberta-large", paper="nie2020")
    systems = [one, other, replace(last, origin="submitted")]
    made = explorer.columns(votes, systems)
    rest, files = explorer.split_systems(made, systems, "A notice.")
    here, there, submitted = rest["systems"]
    assert here == made["systems"][0]
    assert list(files) == [there["file"], submitted["file"]]
    assert there["file"] == "system-snli-1.js"
    assert (there["name"], there["title"]) == ("roberta-large", "RoBERTa-large")
    assert here["title"] == here["name"] == one.name
    assert there["global"] in files[there["file"]]
    found = there | unpacked(files[there["file"]])
    assert made["systems"][1] == {name: found[name] for name in made["systems"][1]}


def test_scripts_keep_any_text():
    odd = ["</script><script>alert(1)</script>", "*/ \u2028 \\ \" ' αé"]
    script = scripts.packed_script("X", odd, "A notice.")
    assert script.startswith('/* A notice. */\nwindow.X = "')
    assert unpacked(script) == odd


def test_a_selection_is_an_address_and_one_that_cannot_be_shown_is_refused():
    assert explorer.selection("q=two words&sort=-jsd#1") == "?q=two+words&sort=-jsd#1"
    assert explorer.selection("#a b#c") == "#a%20b%23c"
    for asked in ("", "dataset=snli&chnage=kept", "snli"):
        with pytest.raises(ChaosError, match=r"cannot show this selection(?s:.)*dataset"):
            explorer.selection(asked)


@pytest.fixture
def collected(sample, monkeypatch):
    """Votes that pass as collected, with reasons for the first four by uid."""
    votes = replace(sample[1], source=replace(sample[1].source, synthetic=False))
    a, b, c, d = sorted(votes.uids)[:4]
    tables = {
        "TAXONOMY": {"uid": [a, a, a, d, "other"],
                     "reason": ["High Overlap", "Lexical", "Lexical", "N/A", "Temporal"]},
        "VARIERR": {"uid": [a, a, b, "other"], "error": [True, True, False, True],
                    "label": ["neutral", "neutral", "contradiction", "neutral"]},
        "LIVENLI": {"uid": [b, c, c, "other"]},
    }  # fmt: skip
    for name, table in tables.items():
        made = AuxiliaryData("invented/*", lambda table=table: pd.DataFrame(table))
        monkeypatch.setattr(auxiliary_data, name, made)
    return votes


def test_reasons_are_joined_to_items_by_uid(collected, sample):
    made = explorer.reasons(collected)
    assert len(made["items"]) == len(collected)
    assert not any(made["items"][4:])
    assert made["labels"] == ("entailment", "neutral", "contradiction")
    found = [
        ([made["names"][k] for k in reasons], [made["statuses"][k] for k in judged], explained)
        for reasons, judged, explained in made["items"][:4]
    ]
    assert found == [
        (["lexical", "high overlap"], ["not given", "error", "not given"], 0),
        ([], ["not given", "not given", "plausible"], 1),
        ([], [], 1),
        (["none of the ten"], [], 0),
    ]
    assert explorer.reasons(sample[1]) == {}
    others = replace(collected, uids=tuple(f"own-{uid}" for uid in collected.uids))
    assert explorer.reasons(others) == {}


def test_reasons_whose_files_are_missing_are_not_there(collected, monkeypatch):
    whole = explorer.reasons(collected)["items"]
    monkeypatch.setattr(sources, "find", lambda name: None)
    monkeypatch.setattr(auxiliary_data, "LIVENLI", AuxiliaryData("livenli/*", lambda: 1 / 0))
    made = explorer.reasons(collected)["items"]
    assert made[:4] == [whole[0], [*whole[1][:2], 0], None, whole[3]]
    for name in ("TAXONOMY", "VARIERR"):
        monkeypatch.setattr(auxiliary_data, name, AuxiliaryData("varierr/*", lambda: 1 / 0))
    assert explorer.reasons(collected) == {}
    assert explorer.reasons_script([collected], "why.html") == ""


def test_reasons_are_not_passed_on(collected, sample, tmp_path):
    script = explorer.reasons_script([sample[0], collected], "why.html")
    expected = json.loads(json.dumps(explorer.reasons(collected)))
    assert unpacked(script) == {
        "chapter": "why.html", "datasets": {collected.dataset.name: expected}
    }  # fmt: skip
    file = tmp_path / "_static" / "explorer" / explorer.OTHER_DATASETS
    write_text(file, script)
    explorer.leave_out_other_datasets(tmp_path)
    assert file.read_text("utf-8") == explorer.other_datasets_script([])


@pytest.mark.published("ocnli/*", "pavlick_kwiatkowski/*")
def test_other_datasets_are_offered_beside_the_book_s_own_where_they_are_here(
    sample, released, others, monkeypatch
):
    found = explorer.other_datasets(released)
    assert {one.name for one in found} == {"ocnli", "pavlick"}
    monkeypatch.setattr(sources, "find", lambda name: name)
    assert len(explorer.other_datasets(released)) > 1
    assert explorer.other_datasets(sample) == []
    assert explorer.other_datasets([*released, others[0]]) == []
    # A page is a copy without canary lines.
    assert "probcopa" not in {one.name for one in explorer.other_datasets(released)}


def test_texts_without_a_stated_licence_stay_out(sample):
    votes = sample[0]
    assert explorer.without_unlicensed_texts(votes) is votes
    unstated = votes.dataset.model_copy(update={"release": Release()})
    bare = explorer.without_unlicensed_texts(replace(votes, dataset=unstated))
    assert explorer.texts(bare) == explorer.columns(bare, [])["fields"] == []


def test_a_site_that_is_passed_on_holds_the_book_s_datasets_alone(others, tmp_path):
    folder = tmp_path / "_static" / "explorer"
    votes = others[0]
    write_text(folder / explorer.OTHER_DATASETS, explorer.other_datasets_script([votes.dataset]))
    script = explorer.other_dataset_script(votes, [], "")
    write_text(folder / explorer.other_dataset_file(votes.dataset), script)
    write_text(folder / "items.js", "kept")
    assert licences.files_with_votes(tmp_path) == ["_static/explorer/more-severity.js"]
    listed = unpacked((folder / explorer.OTHER_DATASETS).read_text("utf-8"))
    assert [one["name"] for one in listed] == ["severity"]
    held = unpacked((folder / listed[0]["file"]).read_text("utf-8"))
    assert held["numbers"]["uids"] == sorted(votes.uids)
    assert held["numbers"]["notice"].startswith("Votes on items: Severity")
    explorer.leave_out_other_datasets(tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == ["items.js", explorer.OTHER_DATASETS]
    assert unpacked((folder / explorer.OTHER_DATASETS).read_text("utf-8")) == []
    explorer.leave_out_other_datasets(tmp_path / "site without an explorer")

"""The items and examples that the page `annotate` shows."""

import json
from dataclasses import replace

import pytest
from helpers.predictions import part_of
from pydantic import ValidationError

from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.metrics.divergence import jensen_shannon_distance
from chaos_utils.pages.annotate import material, two_models
from chaos_utils.publish.scripts import script
from chaos_utils.scoring.systems import computed, load_systems, synthetic_systems


def check_examples(all_votes):
    """Hold that examples are unanimous, enough for the protocol, and none to be judged."""
    made = material(all_votes, {})
    pools = {name: dataset["pool"] for name, dataset in made["datasets"].items()}
    assert pools == {"snli": "snli", "mnli": "snli", "alphanli": "alphanli"}
    for votes in all_votes:
        dataset = made["datasets"][votes.dataset.name]
        known = {entry["uid"]: entry for entry in made["pools"][dataset["pool"]]}
        of_most = dict(zip(votes.uids, votes.counts.max(axis=1), strict=True))
        assert {uid for uid, most in of_most.items() if most > 95} <= set(known)
        assert all(max(entry["votes"]) > 95 for entry in known.values())
        assert not {entry["uid"] for entry in dataset["items"]} & set(known)
    for pool in made["pools"].values():
        assert len(pool) >= 5 + 12 + 20  # test, training, and the checks among 200 items
    return made


def test_examples_are_unanimous_and_the_script_is_small(sample):
    made = check_examples(sample)
    text = script("CHAOS_ANNOTATE", made, "A notice.")
    start = "/* A notice. */\nwindow.CHAOS_ANNOTATE = "
    assert text.startswith(start)
    assert len(text.encode()) < 1_000_000
    assert json.loads(text.removeprefix(start)[:-2])["digest"] == made["digest"]


def test_released_examples_models_and_the_sessions_that_browsers_kept(released):
    made = check_examples(released)
    assert made["digest"] == "68428a055c15b4c9"  # the first edition's
    models = two_models(released[0], load_systems(released[0]))
    assert [model.name for model in models] == ["bart-large", "roberta-large"]


def test_only_datasets_with_texts_and_a_way_to_be_asked_are_offered(sample):
    snli, mnli, alphanli = sample
    unasked = snli.dataset.model_copy(update={"annotate": None})
    given = [replace(snli, dataset=unasked), mnli, replace(alphanli, texts=())]
    made = material(given, {})
    assert list(made["datasets"]) == list(made["pools"]) == ["mnli"]


@pytest.mark.parametrize(("name", "kind"), [("snli", "stories"), ("alphanli", "pairs")])
def test_a_way_to_be_asked_fits_the_texts_and_labels(name, kind):
    content = get_dataset(name).model_dump(by_alias=True)
    with pytest.raises(ValidationError, match=r"needs \d texts and \d labels"):
        Dataset.model_validate(content | {"annotate": {"kind": kind, "invitation": "?"}})


def test_two_models_stand_beside_the_reader(sample):
    votes = sample[0]

    def names(*systems):
        return [model.name for model in two_models(votes, systems)]

    systems = synthetic_systems(votes)
    distance = {
        system.name: jensen_shannon_distance(votes.shares, system.probabilities, unit="nats").mean()
        for system in systems
    }
    closest = names(*systems)
    assert closest == sorted(distance, key=distance.__getitem__)[:2]
    far = computed("far", votes, votes.shares[:, ::-1], origin="trained")
    near = computed("near", votes, votes.shares, origin="trained")
    assert names(*systems, far) == [closest[0], "far"]
    released = replace(far, name="released", family="far", origin="released")
    assert names(near, far, released) == ["released", "near"]
    assert names(near) == ["near"]
    assert names() == []


def test_a_model_s_labels_stand_in_the_order_of_the_items(sample):
    part = part_of(synthetic_systems(sample[0])[0], range(100, 0, -1))
    made = material(sample, {"snli": [part]})["datasets"]
    assert made["mnli"]["models"] == []
    (model,) = made["snli"]["models"]
    stated = dict(zip(part.uids, part.predicted.tolist(), strict=True))
    assert model["labels"] == [stated.get(entry["uid"]) for entry in made["snli"]["items"]]
    assert 0 < sum(label is not None for label in model["labels"]) < len(model["labels"])

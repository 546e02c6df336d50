"""May a system replace an annotator: what is tested, refused and said, and who else passes."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.predictions import made_dataset, made_votes, part_of

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import Annotations, frozen
from chaos_utils.scoring.replacement import COMMONEST, ONE_MORE, replacement, setting
from chaos_utils.scoring.systems import base_rate, computed

WHY = {"epsilon": 0.1, "reason": "crowd workers"}


def named(item, annotator, label, n_classes=3):
    """Return votes whose annotators are known."""
    counts = np.zeros((item.max() + 1, n_classes), dtype=int)
    np.add.at(counts, (item, label), 1)
    dataset = made_dataset(labels=[f"label {k}" for k in range(n_classes)])
    return replace(
        made_votes(dataset, len(counts), old_labels=False),
        annotations=Annotations(item, annotator, label), counts=frozen(counts),
    )  # fmt: skip


def crowd(rng, n_items=60, n_annotators=5, n_classes=3):
    """Return votes of annotators who are all alike, and what all people would say."""
    truth = rng.dirichlet(np.full(n_classes, 0.5), n_items)
    item = np.repeat(np.arange(n_items), n_annotators)
    annotator = np.tile(np.arange(n_annotators), n_items)
    return named(item, annotator, labels_of(rng, truth[item]), n_classes), truth


def labels_of(rng, shares):
    return (rng.random((len(shares), 1)) > shares.cumsum(axis=1)[:, :-1]).sum(axis=1)


def system_of(votes, labels, name="mine"):
    return computed(name, votes, np.eye(votes.dataset.n_classes)[labels], origin="yours")


def test_beside_systems_stand_the_most_frequent_label_and_one_more_person():
    votes, truth = crowd(np.random.default_rng(0), n_items=200)
    best = system_of(votes, truth.argmax(axis=1))
    mine, constant, person = replacement(votes, [best], **WHY)
    assert [row["system"] for row in (mine, constant, person)] == ["mine", COMMONEST, ONE_MORE]
    assert (mine["verdict"], constant["verdict"]) == ("passes", "does not pass")
    assert (mine["passed"], mine["wins"], mine["n_annotators"]) == (1, 5, 5)
    assert 0 < person["passed"] < 1
    assert person["verdict"] == f"{person['passed']:.0%} pass"
    again = replacement(votes, [best], **WHY, seed=1)
    assert again[:2] == [mine, constant]
    assert again[2] != person
    assert 0.2 < mine["kappa"] < 0.8


def test_who_and_what_is_left_out_is_counted_and_said():
    votes, truth = crowd(np.random.default_rng(1))
    known = votes.annotations
    # A sixth annotator with ten items, a second vote, and an item that one person saw.
    item = np.concatenate([known.item, np.arange(10), [0, 60]])
    annotator = np.concatenate([known.annotator, np.full(10, 7), [0, 0]])
    label = np.concatenate([known.label, np.zeros(12, dtype=int)])
    more = named(item, annotator, label)
    labels = np.append(truth.argmax(axis=1), 0)
    row = replacement(more, [system_of(more, labels)], **WHY)[0]
    assert (row["n_items"], row["n_annotators"], row["annotators_left_out"]) == (60, 5, 1)
    assert row["votes_left_out"] == 2
    said = setting(row)
    assert said.startswith("ε is 0.1, for this reason: crowd workers. 5 annotators with 30 items")
    assert f"κ = {row['kappa']:.2f}" in said
    assert "1 annotator with fewer is left out" in said
    assert "2 votes left out" in said
    # What no system predicts is left out, too.
    half = part_of(system_of(more, labels), slice(0, 40))
    given = [half, system_of(more, labels, "whole")]
    assert [row["n_items"] for row in replacement(more, given, **WHY)] == [40] * 4


def test_items_that_share_a_text_count_as_one():
    votes, truth = crowd(np.random.default_rng(2))
    fields = made_dataset(labels=votes.dataset.labels, texts=["premise"])
    texts = tuple({"premise": str(k // 2)} for k in range(60))
    paired = replace(votes, dataset=fields, texts=texts)
    found = replacement(paired, [system_of(paired, truth.argmax(axis=1))], **WHY)
    assert found[0]["n_annotators"] == 5
    in_fours = replace(paired, texts=tuple({"premise": str(k // 4)} for k in range(60)))
    with pytest.raises(ChaosError, match="0 annotators labelled 30 items"):
        replacement(in_fours, [], **WHY)


def test_two_annotators_are_tested_and_have_no_verdict():
    votes, truth = crowd(np.random.default_rng(3), n_annotators=2)
    rows = replacement(votes, [system_of(votes, truth.argmax(axis=1))], **WHY)
    assert {row["verdict"] for row in rows} == {"none: needs 3 annotators"}
    assert all(np.isnan(row["passed"]) and row["winning_rate"] >= 0 for row in rows)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"epsilon": -0.1}, "is not a share"),
        ({"epsilon": float("nan")}, "is not a share"),
        ({"epsilon": 10}, "is not a share"),
        ({"reason": " "}, "needs a reason"),
        ({"seed": -1}, "seed is out of range"),
    ],
)
def test_a_margin_needs_a_share_and_a_reason(change, found):
    votes, _ = crowd(np.random.default_rng(4))
    with pytest.raises(ChaosError, match=found):
        replacement(votes, [], **(WHY | change))


def test_what_cannot_be_tested_is_refused():
    votes, truth = crowd(np.random.default_rng(5), n_items=29)
    with pytest.raises(ChaosError, match=r"0 annotators labelled 30 items(.|\n)*collect more"):
        replacement(votes, [system_of(votes, truth.argmax(axis=1))], **WHY)
    with pytest.raises(ChaosError, match="not known who gave which vote"):
        replacement(replace(votes, annotations=None), [], **WHY)
    in_sample = replace(base_rate(votes), trained_on=("votes of moods",), out_of_fold=False)
    with pytest.raises(ChaosError, match="trained or fitted on the votes"):
        replacement(votes, [in_sample], **WHY)
    halves = [part_of(system_of(votes, truth.argmax(axis=1), name), part)
              for name, part in (("a", slice(0, 9)), ("b", slice(9, 29)))]  # fmt: skip
    with pytest.raises(ChaosError, match="No item is covered by all systems"):
        replacement(votes, halves, **WHY)


@pytest.mark.slow
@pytest.mark.parametrize(("n_items", "k", "n_annotators"), [(100, 3, 3), (300, 3, 5), (200, 10, 6)])
def test_one_more_person_passes_as_often_as_real_ones_do(n_items, k, n_annotators):
    """Real ones are drawn from the known truth; the simulated ones know the votes alone."""
    for epsilon, (least, most) in {0.0: (0, 0.06), 0.1: (0.2, 1), 0.2: (0.85, 1)}.items():
        real, simulated, of_commonest = [], [], []
        for seed in range(100):
            rng = np.random.default_rng([seed, n_items])
            votes, truth = crowd(rng, n_items, n_annotators, k)
            person = system_of(votes, labels_of(rng, truth))
            rows = replacement(votes, [person], epsilon=epsilon, reason="why", n_people=10)
            for found, row in zip((real, of_commonest, simulated), rows, strict=True):
                found.append(row["passed"])
        assert least <= np.mean(real) <= most
        assert np.mean(simulated) == pytest.approx(np.mean(real), abs=0.12)
        assert np.mean(of_commonest) < 0.1

"""Reasons beside the votes: small cases by hand, published facts where the files are."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_on, on_items, with_counts

from chaos_utils.analyses import why
from chaos_utils.analyses.inputs import AnalysisInputs, DatasetInputs, gather
from chaos_utils.datasets.auxiliary_data import AuxiliaryData
from chaos_utils.datasets.votes import frozen
from chaos_utils.metrics.divergence import entropy, jensen_shannon_distance
from chaos_utils.scoring.systems import computed

E, N, C = "entailment", "neutral", "contradiction"
DRAWN = {"confidence": 0.95, "seed": 0}


@pytest.fixture
def votes(sample):
    """Four items of a hundred votes."""
    counts = np.array([[60, 30, 10], [20, 70, 10], [0, 50, 50], [5, 5, 90]])
    return replace(with_counts(sample[1], counts), uids=("a", "b", "c", "d"))


def beside(rows, columns):
    return AuxiliaryData("invented/*", lambda: pd.DataFrame(rows, columns=columns))


def test_minority_votes_on_errors(votes):
    columns = ["uid", "label", "stands", "peers", "peers_agree", "error"]
    given = beside(
        [("a", E, True, 3, 3, False), ("a", N, False, 3, 2, True), ("b", N, True, 3, 1, False),
         ("b", E, True, 3, 0, False), ("elsewhere", E, False, 3, 0, True)],
        columns,
    )  # fmt: skip
    found = why.errors.function(votes, [], n_resamples=50, companion=given, **DRAWN)
    found = found.set_index(["judges", "status"])
    # Against the majority stand 30 + 10 votes on a, 20 + 10 on b.
    authors = found.loc["authors", "minority_share"][["error", "plausible", "not given"]]
    assert authors.tolist() == pytest.approx([30 / 70, 20 / 70, 20 / 70])
    assert found.loc[("peers", "error"), "minority_share"] == pytest.approx(20 / 70)
    assert found.loc[("peers", "error"), "n_majority"] == 1
    assert found.loc[("peers", "error"), "share"] == pytest.approx((20 + 70) / 200)
    assert (found["n_items"] == 2).all()
    assert (found["minority_low"] <= found["minority_share"]).all()


def test_means_by_reason_of_people_and_of_a_family_s_seeds(votes):
    rows = [("a", "Lexical"), ("b", "Lexical"), ("b", "Temporal"), ("d", "N/A")]
    coded = beside(rows, ["uid", "reason"])
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([1, 1, 1], (2, 4))
    seeds = [replace(computed(f"m{k}", votes, shares[k]), family="m") for k in (0, 1)]
    part = on_items(seeds[1], [1, 0])
    found = why.reasons.function(votes, [seeds[0], part], confidence=0.95, companion=coded)
    by = found.set_index(["holder", "quantity", "reason"]).sort_index()
    bits = entropy(votes.shares, unit="bits")
    people = by.loc[("people", "entropy")]
    expected = {"lexical": bits[:2].mean(), "temporal": bits[1], why.NONE: bits[3]}
    assert people["mean"].to_dict() == pytest.approx(expected)
    assert people["overall"].tolist() == pytest.approx([bits[:2].mean()] * 3)
    assert np.isnan(people.loc["temporal", "low"])
    far = [jensen_shannon_distance(votes.shares, s.probabilities, unit="nats") for s in seeds]
    assert by.loc[("m", "jsd", "lexical"), "mean"] == pytest.approx(np.mean(far, axis=0)[:2].mean())
    above = np.mean([s.probabilities for s in seeds], axis=0) - votes.shares
    assert by.loc[("m", N, "temporal"), "mean"] == pytest.approx(above[1, 1])
    assert ("m", "jsd", why.NONE) not in by.index  # not all seeds predict d


def test_reasons_explain_what_follows_them_and_nothing_else(sample):
    votes, rng = sample[1], np.random.default_rng(0)
    reason = rng.integers(3, size=len(votes))
    truth = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])[reason]
    counts = rng.multinomial(100, truth)
    held = replace(votes, counts=frozen(counts), majority=frozen(counts.argmax(axis=1)))
    names = np.array(["Lexical", "Temporal", "Imperfection"])[reason]
    coded = beside(list(zip(votes.uids, names, strict=True)), ["uid", "reason"])
    found = why.explained.function(held, [], companion=coded).set_index("quantity")
    assert found.loc[E, "by_reason"] > 0.9
    assert found.loc[E, "p_holm"] < 1e-6
    assert (found.loc[E, "highest"], found.loc[N, "highest"]) == ("lexical", "temporal")
    assert abs(found.loc["entropy", "by_reason"]) < 0.03
    assert found.loc["entropy", "p_holm"] > 0.01
    assert (found["p_holm"] >= found["p"]).all()


def test_what_disambiguation_removes(votes):
    rows = [("a", 0, False, 5, 4, 0), ("a", 1, False, 9, 0, 0), ("a", 2, False, 0, 9, 0),
            ("a", 3, True, 3, 3, 3)]  # fmt: skip
    rows += [("b", 0, False, 9, 0, 0), ("b", 1, False, 9, 0, 0)]
    read = beside(rows, ["uid", "reading", "distractor", E, N, C])
    found = why.readings.function(votes, confidence=0.95, companion=read)
    by = found.set_index(["shown", "majority"])
    one = entropy(np.array([[5, 4, 0]]) / 9, unit="bits")[0]
    assert by.loc[("a reading", 9), "removed"] == pytest.approx(one / 2)
    assert by.loc[("as written", 9), "share"] == 0.5
    assert by.loc[("a reading", 9), "share"] == 1
    assert by.loc[("a distractor", 3), "bits"] == pytest.approx(np.log2(3))
    assert by.loc[("as written", 5), "apart"] == pytest.approx(5 / 9 / 2)


def test_a_stated_probability_is_worth_the_votes_that_say_as_much(sample):
    """Each item has a probability that is the share of entailment in two other votes."""
    rng, n_items = np.random.default_rng(1), len(sample[1])
    truth = np.tile(rng.dirichlet([0.6, 0.6, 0.6], n_items), 1)
    votes = with_counts(sample[1], rng.multinomial(100, truth))
    read = AuxiliaryData("invented/*", lambda name: pd.DataFrame(
        {"uid": [*votes.uids, ""], "probability": [*rng.binomial(2, truth[:, 0]) / 2, 0.5]}
    ))  # fmt: skip
    rows = why.stated.function(votes, n_resamples=400, companion=read, **DRAWN)
    rows = rows.set_index("predictor")
    stated = rows.loc["stated"]
    assert stated["n_items"] == n_items
    assert stated["votes_worth_low"] < 2 < stated["votes_worth_high"]
    assert stated["correlation_low"] < rows.loc["2", "correlation"] < stated["correlation_high"]
    shares = rng.binomial(3, truth[:, 0], (200, n_items)) / 3
    drawn = np.mean([np.corrcoef(one, votes.shares[:, 0])[0, 1] for one in shares])
    assert rows.loc["3", "correlation"] == pytest.approx(drawn, abs=0.02)
    assert rows["votes_worth"].isna().tolist() == [False, True, True, True]


@pytest.mark.published("unli/*")
def test_unli_says_as_much_as_nearly_two_votes():
    (part,) = why.stated_inputs(gather(datasets=["snli"]))
    rows = why.stated.function(part.votes[0], n_resamples=200, companion=why.UNLI, **DRAWN)
    assert rows["n_items"].unique().tolist() == [614]
    assert rows["correlation"][0] == pytest.approx(0.682, abs=5e-4)
    assert rows["votes_worth"][0] == pytest.approx(1.7, abs=0.05)


def test_votes_on_other_items_are_left_out_and_recorded_tables_stand_in(votes, monkeypatch):
    own = replace(votes, source=replace(votes.source, synthetic=False))
    here = AuxiliaryData("invented/*", lambda: pd.DataFrame({"uid": ["a"]}))
    monkeypatch.setattr(why, "TAXONOMY", here)
    monkeypatch.setattr(why, "VARIERR", AuxiliaryData("invented/*", lambda: pd.DataFrame()))
    assert len(why.explained_inputs(evidence_on([own]))) == 1
    assert len(why.explained_inputs(evidence_on([replace(own, uids=tuple("pqrs"))]))) == 0
    monkeypatch.setattr(AuxiliaryData, "files", property(lambda self: ["gone"]))
    assert (
        len(why.explained_inputs(evidence_on([own]))) == 0
    )  # a reader's own votes have no records
    (released,) = why.explained_inputs(
        AnalysisInputs((DatasetInputs((votes.dataset,), None, None),))
    )
    assert released.votes is None


@pytest.mark.published("varierr/*", "nli_disagreement_taxonomy/*")
def test_published_files():
    items = why.explained_inputs(gather(datasets=["mnli"]))
    votes = items.votes[0]
    errors = why.errors.function(votes, [], n_resamples=20, companion=why.VARIERR, **DRAWN)
    errors = errors.set_index(["judges", "status"])
    assert errors.loc[("authors", "error"), "n_labels"] == 129
    assert errors.loc[("authors", "error"), "minority_share"] == pytest.approx(0.098, abs=5e-4)
    reasons = why.reasons.function(votes, [], confidence=0.95, companion=why.TAXONOMY)
    assert reasons["n_coded"].unique().tolist() == [439]  # of 450, 11 have none of the ten
    given = why.VARIERR.read()["explanation"]
    text = errors.to_csv() + reasons.to_csv()
    assert not any(one in text for one in given[given.str.len() > 20])

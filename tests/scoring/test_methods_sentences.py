"""The sentences for a paper: all numbers are the evaluation's; what it does not allow is out."""

import re
from dataclasses import replace

import numpy as np
import pytest
from helpers.checkout import PROJECT
from helpers.predictions import made_votes, part_of, write_shares

import chaos_utils as chaos
from chaos_utils.base.authorship import read_citation
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.votes import Annotations, frozen
from chaos_utils.metrics.agreement import quadratic_entropy
from chaos_utils.scoring import methods_sentences as sentences
from chaos_utils.scoring.annotators import agreement_over_people
from chaos_utils.scoring.evaluate import evaluate_files
from chaos_utils.scoring.predictions import read_predictions
from chaos_utils.scoring.references import PERFECT_MODEL, SECOND_CROWD
from chaos_utils.scoring.system import votes_of
from chaos_utils.scoring.systems import computed

FEW = 60  # resamples


def votes_of_crowd(n=520, n_votes=30, *, same_text=False):
    rng = np.random.default_rng(3)
    truths = rng.dirichlet((0.9, 0.7, 0.5), n)
    made = made_votes(get_dataset("snli"), n=n)
    texts = (dict.fromkeys(made.dataset.text_fields, "the same"),) * n if same_text else ()
    counts = frozen(rng.multinomial(n_votes, truths))
    votes = replace(made, counts=counts, majority=frozen(counts.argmax(axis=1)), texts=texts)
    return votes, (truths + 0.2) / 1.6


def with_annotators(votes, n=12):
    """Return the same votes, each item's given by different annotators in any order."""
    places = np.indices(votes.counts.shape).reshape(2, -1)
    item, label = (part.repeat(votes.counts.ravel()) for part in places)
    rng = np.random.default_rng(4)
    annotator = np.concatenate([rng.permutation(n)[:count] for count in votes.n_votes])
    return replace(votes, annotations=Annotations(item, annotator, label))


def answered(votes, system):
    by_dataset = {votes.dataset.name: [system]}
    answer = evaluate_files(by_dataset, [votes], n_resamples=FEW)
    (paragraph,) = sentences.methods_sentences(answer, by_dataset, [votes])
    return answer, paragraph


def of_system(votes, values, **changes):
    return replace(computed("mine", votes, values, origin="yours"), **changes)


@pytest.fixture(scope="module")
def crowd():
    return votes_of_crowd()


def test_each_number_is_the_evaluation_s(crowd):
    votes, values = crowd
    answer, paragraph = answered(votes, of_system(votes, values))
    rows = {(row["system"], row["measure"]): row for row in answer.rows}

    def value(measure, times, digits, who="mine"):
        return f"{times * rows[who, measure]['value']:.{digits}f}"

    def interval(measure, times, digits):
        low, high = (times * rows["mine", measure][end] for end in ("low", "high"))
        return f"[{low:.{digits}f}, {high:.{digits}f}]"

    jsd, misplaced = ("jsd", 1, 3), ("dist_ce", 100, 1)
    assert f"misplaces {value(*misplaced)} out of 100 votes {interval(*misplaced)} (" in paragraph
    assert f"distance of {value(*jsd)} {interval(*jsd)} (" in paragraph
    for who, name in {
        "uniform guess": "uniform guess", "base rate": "base rate",
        SECOND_CROWD: "second crowd", PERFECT_MODEL: "perfect model",
    }.items():  # fmt: skip
        assert f"{name}: {value(*jsd, who)}" in paragraph
        assert f"{name}: {value(*misplaced, who)}" in paragraph
    for measure, start in {
        "people_on_top": "Without recalibration, mine is worth",
        "people_on_top_recalibrated": "on other texts, mine is worth",
    }.items():
        number, ends = rows["mine", measure]["text"].removesuffix(", more than voted").split(" ", 1)
        assert f"{start} {number} people {ends}" in paragraph
    assert f"differ {100 * quadratic_entropy(votes.counts).mean():.1f}% of the time" in paragraph
    assert f"({FEW} resamples)" in paragraph


def test_annotators_are_a_sample_where_they_are_named():
    votes, values = votes_of_crowd(n_votes=5)
    votes = with_annotators(votes)
    _, paragraph = answered(votes, of_system(votes, values))
    low, high = agreement_over_people(votes)["disagreement"].interval(0, 1)
    assert "with 5 votes per item from 12 annotators" in paragraph
    assert f"% of the time [{100 * low:.1f}, {100 * high:.1f}]" in paragraph
    assert "how often two votes differ is over items and annotators" in paragraph
    alone = sentences.sentences_on_votes(votes, FEW)
    assert alone.startswith("We used the votes on 520 items")
    assert "Brackets show the 95% interval over items and annotators." in alone


def test_few_votes_rank_nothing_by_jsd(crowd):
    votes, values = votes_of_crowd(n_votes=19)
    _, paragraph = answered(votes, of_system(votes, values))
    assert "fewer than 20 votes per item" in paragraph
    assert "Jensen–Shannon distance of" not in paragraph
    assert "misplaces" not in paragraph
    assert "Jensen–Shannon distance of" in answered(crowd[0], of_system(*crowd))[1]


def test_what_is_known_of_a_system_is_said(crowd):
    votes, values = crowd
    fitted = {"trained_on": (votes_of(votes.dataset),), "out_of_fold": True}
    _, of_fitted = answered(votes, of_system(votes, values, **fitted))
    assert "each item was predicted without its own votes" in of_fitted
    assert "map with" not in of_fitted
    _, of_samples = answered(votes, of_system(votes, values, n_samples=(8, 10)))
    assert "shares of 8 to 10 sampled answers per item" in of_samples
    _, of_part = answered(votes, part_of(of_system(votes, values), np.arange(100)))
    assert "100 of the 520 items" in of_part
    assert (
        f"differ {100 * quadratic_entropy(votes.counts[:100]).mean():.1f}% of the time" in of_part
    )


def test_two_systems_have_a_paragraph_each_on_their_own_items(crowd):
    votes, values = crowd
    systems = [
        of_system(votes, values),
        replace(part_of(of_system(votes, values), np.arange(60)), name="base rate"),
    ]
    first, second = chaos.methods_sentences(votes, systems, resamples=FEW)
    assert first == answered(votes, systems[0])[1]
    assert second.startswith("base rate was evaluated against the votes on 60 of the 520 items")
    with pytest.raises(chaos.ChaosError, match="same name"):
        chaos.methods_sentences(votes, [systems[0]] * 2)
    (alone,) = chaos.methods_sentences(votes, resamples=FEW)
    assert alone == sentences.sentences_on_votes(votes, FEW)


def is_filled(words, paragraph):
    """Say whether a paragraph holds some words, with anything in the place of names in braces."""
    place = 0
    for part in re.split(r"\{\w+\}", words):
        found = paragraph.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return True


def test_every_wording_is_used_and_no_brace_is_left(crowd, tmp_path):
    votes, values = crowd
    labels = np.eye(3)[values.argmax(axis=1)]
    few, single, one_text = (
        votes_of_crowd(n_votes=9), votes_of_crowd(n_votes=1), votes_of_crowd(same_text=True)
    )  # fmt: skip
    path = write_shares(tmp_path / "m.csv", votes, values)
    fitted = {"trained_on": (votes_of(votes.dataset),), "out_of_fold": True}
    part = np.arange(300)
    one_label = of_system(votes, labels, one_label=True)
    paragraphs = [
        answered(votes, system)[1]
        for system in (
            *read_predictions(path, [votes]), one_label, part_of(one_label, part),
            of_system(votes, votes.shares), of_system(votes, values, n_samples=(5, 5), **fitted),
            part_of(of_system(votes, values), part),
        )
    ]  # fmt: skip
    paragraphs += [answered(which[0], of_system(*which))[1] for which in (few, single, one_text)]
    named = with_annotators(few[0])
    paragraphs += [answered(named, of_system(named, few[1]))[1]]
    paragraphs += [sentences.sentences_on_votes(named, FEW)]
    for alternatives in sentences.wordings()["sentences"]:
        for words in alternatives:
            assert any(is_filled(words, one) for one in paragraphs), words
    assert not [one for one in paragraphs if re.search(r"[{}]|nan|  | ,| \.", one)]


def test_the_book_is_cited_as_in_its_citation(monkeypatch, tmp_path, crowd):
    book = read_citation(PROJECT / "CITATION.cff")
    whole = sentences.sentences_on_votes(crowd[0], 0)
    assert f"computed with {book.title}, version {book.version} (" in whole
    assert book.year in whole
    monkeypatch.setattr(sentences.paths, "find_project", lambda: None)
    assert sentences.sentences_on_votes(crowd[0], 0).endswith(f"version {chaos.__version__}.")

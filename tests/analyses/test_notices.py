from dataclasses import replace

import pandas as pd
from helpers.evidence import evidence_of, evidence_on

from chaos_utils.analyses.inputs import AnalysisInputs, DatasetInputs
from chaos_utils.analyses.notices import are_our_own, notices
from chaos_utils.datasets.catalogue import book_datasets
from chaos_utils.scoring.systems import uniform


def test_released_data_has_no_notice(released):
    assert notices(evidence_on(released)) == ""


def test_other_data_than_the_release_is_named(few, sample):
    assert "<code>own-data/chaosNLI_snli&#46;jsonl</code>" in notices(few)
    assert "<code>synthetic-sample/" in notices(evidence_on(sample))


def test_a_recorded_page_has_no_notice():
    unavailable = tuple(DatasetInputs((one,), None, None) for one in book_datasets()[:2])
    assert notices(AnalysisInputs(unavailable, trained=True)) == ""


def test_small_encoders_of_our_own_are_found_with_all_seeds_and_sizes():
    names = ["MiniLM-L6, seed 0", "MPNet-base, 10,000 items, seed 0", "MiniLM-L6", "roberta-large"]
    assert are_our_own(pd.Series(names)).tolist() == [True, True, True, False]


def test_datasets_without_a_model_are_named(others, sample):
    four, two = others
    evidence = (evidence_of(four, own=True), evidence_of(two, (uniform(two),), own=True))
    said = notices(AnalysisInputs(evidence))
    assert "*No model's predictions are available for Severity: what" in said
    # Our own runs, left out, are not called missing.
    evidence = tuple(evidence_of(one, (), own=True) for one in sample)
    for trained in (False, True):
        said = notices(AnalysisInputs(evidence, trained=trained))
        assert ("No model's predictions are available" in said) == trained


def test_what_a_dataset_lacks_is_left_out_and_named(others, sample):
    both = evidence_on([*sample, *others])
    assert [one.name for one in both.with_part("old labels")] == ["snli", "mnli", "alphanli"]
    assert (
        both.missing_note("old labels")
        == "*Severity and Pairs have no old labels, so they are left out here.*"
    )
    assert evidence_on(sample).missing_note("old labels") == ""
    assert (
        evidence_on(others).missing_note("annotators")
        == "*Pairs has no annotators, so it is left out here.*"
    )
    assert [one.name for one in both.with_part("three labels")] == ["snli", "mnli"]
    several = (evidence_on(sample), evidence_on(sample[:1]), both)
    assert [one.is_book for one in several] == [True, False, False]


def test_machine_votes_of_a_reader_s_are_marked_and_names_shown_as_they_are(others):
    four, _ = others
    one = replace(uniform(four), name="<b>my_llm*", origin="yours", n_samples=(3, 3),
                  notes=("machine votes: 3 samples per item",))  # fmt: skip
    evidence = evidence_of(four, (one, uniform(four)), own=True)
    said = notices(AnalysisInputs((evidence,)))
    assert "> &#60;b&#62;my_llm&#42;: machine votes: 3 samples per item." in said
    assert said.count("machine votes") == 1

"""ChaosNLI's own files as votes, every fault of them, and the sample that stands in for them."""

import runpy
from dataclasses import replace

import numpy as np
import pytest
from helpers.checkout import PROJECT
from helpers.rows import row, write_rows

from chaos_utils.base import inputs
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.readers import read_file
from chaos_utils.datasets.sources import SAMPLE
from chaos_utils.datasets.votes import frozen
from chaos_utils.metrics.divergence import entropy


def read(tmp_path, rows, dataset="snli", **options):
    return read_file([write_rows(tmp_path / "file.jsonl", rows)], get_dataset(dataset), **options)


def test_a_file_becomes_votes(tmp_path):
    tie = row(uid="b", counts=(50, 50, 0), majority=1, old=0)
    votes = read(tmp_path, [row(counts=(10, 60, 30), old=0), tie])
    assert votes.uids == ("item-1", "b")
    assert votes.counts.tolist() == [[10, 60, 30], [50, 50, 0]]
    assert votes.majority.tolist() == [1, 1]  # the stored majority decides a tie
    assert votes.old_label.tolist() == [0, 0]
    assert votes.old_votes.tolist() == [[3, 2, 0], [3, 2, 0]]
    assert votes.texts[0]["premise"] == "premise of item-1"
    assert votes.index("b") == 1
    with pytest.raises(ChaosError, match="No such item"):
        votes.index("c")
    # the labels of αNLI are integers, and its one old label is one vote
    votes = read(tmp_path, [row("alphanli", counts=(30, 70), old=0)], "alphanli")
    assert votes.majority.tolist() == [1]
    assert votes.old_votes.tolist() == [[1, 0]]


def changed(**fields):
    """Return a row with other values; None takes a field out."""
    return {name: value for name, value in (row() | fields).items() if value is not None}


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        ("{not json", "line 2, column 2: found '{not json'; expected JSON"),
        (changed(uid=None), "line 2, field 'uid': found nothing; expected an identifier"),
        (row(uid="first"), "line 2, found item 'first', as on line 1; expected each item once"),
        (changed(label_count=[110, -10, 0]), "expected 3 whole numbers from 0"),
        (changed(label_count=[70, 20, 11]), "line 2, found 101 votes; expected 100 per item"),
        (changed(label_counter={"e": 70, "n": 30}), "field 'label_counter'"),
        (changed(label_dist=[0.7, 0.1, 0.2]), "field 'label_dist'"),
        (changed(majority_label="x"), "field 'majority_label': found 'x'; expected one of e, n, c"),
        (
            changed(majority_label="n"),
            "label 'neutral' with 20 votes; expected a label with the",
        ),
        (changed(old_label="c"), "field 'old_label': found 'c'"),
        (
            changed(old_labels=["neutral"]),
            "found ['neutral']; expected 4 or 5 labels",
        ),
        (changed(example={"premise": "p"}), "field 'example.hypothesis': found nothing"),
        (changed(example=None), "field 'example.premise': found nothing"),
        (changed(example={**row()["example"], "uid": "b"}), "field 'example.uid': found 'b'"),
        (changed(entropy=0.802), "field 'entropy': found 0.802; expected that of label_count"),
    ],
)
def test_every_fault_is_named_with_line_field_found_and_expected(tmp_path, bad, expected):
    with pytest.raises(ChaosError) as fault:
        read(tmp_path, [row(uid="first"), bad])
    for words in (expected, "line 2", "file.jsonl"):
        assert words in str(fault.value)


def test_all_faults_are_counted_and_the_first_few_shown(tmp_path):
    with pytest.raises(ChaosError, match="empty"):
        read(tmp_path, [])
    wrong = changed(majority_label="x")
    with pytest.raises(ChaosError, match=r"^2 faults"):  # the doubled uid, too
        read(tmp_path, [wrong, wrong])
    with pytest.raises(ChaosError, match=r"^40 faults(.|\n)*line 6(.|\n)*and 35 more") as fault:
        read(tmp_path, [row(), *["oops"] * 40])
    assert "line 7" not in str(fault.value)


def test_what_need_not_be_there(tmp_path):
    made = changed(entropy=None)
    del made["example"]["uid"]
    assert len(read(tmp_path, [made])) == 1
    assert len(read(tmp_path, [row(counts=(3, 1, 1))], any_number=True)) == 1


@pytest.mark.parametrize(("most", "are_few"), [((5, 5, 30), True), ((5, 30, 30), False)])
def test_votes_are_few_where_half_of_the_items_have_few(sample, most, are_few):
    counts = frozen([[n, 0, 0] for n in most])
    assert replace(sample[0], counts=counts).are_few is are_few


def test_votes_are_released_byte_for_byte_or_not_at_all(sample):
    (file,) = sample[0].dataset.files
    for sha256, is_released in ((file.sha256, True), ("0" * 64, False), ("", False)):
        source = inputs.Input(file.name, sha256)
        assert bool(replace(sample[0], source=source).is_released) is is_released


def test_the_sample_is_what_its_generator_writes(tmp_path):
    runpy.run_path(str(PROJECT / "tools" / "make_sample.py"))["write"](tmp_path)
    assert inputs.digests(tmp_path) == inputs.digests(SAMPLE)


def test_the_sample_is_marked_and_of_use(sample):
    for votes in sample:
        assert votes.source.synthetic
        assert votes.source.name.startswith("synthetic-sample/")
        assert len(votes) == 300
        assert (votes.counts.sum(axis=1) == 100).all()
        # People agree on some items and are divided on others.
        entropies = entropy(votes.shares, unit="bits")
        assert (entropies < 0.5).mean() > 0.03
        assert (entropies > 0.9).mean() > 0.1
        assert 0.05 < (votes.majority != votes.old_label).mean() < 0.5
        if votes.dataset.n_old_labels:  # its items were selected like the released ones
            assert (votes.old_votes.max(axis=1) == 3).all()
            assert (votes.old_votes[np.arange(len(votes)), votes.old_label] == 3).all()

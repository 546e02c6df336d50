from dataclasses import replace

import numpy as np
import pytest
from helpers.predictions import made_votes
from helpers.rows import write_rows
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import corpora, splits
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.corpora import Corpus, choose_data, load_chaosnli, load_corpus
from chaos_utils.datasets.tasks import get_task, tasks

TASKS = [name for name, task in tasks().items() if task.corpora]


def pairs(n, n_classes=3, per_premise=2, start=0):
    """A corpus of n pairs, of which some share a premise."""
    rng = np.random.default_rng(n)
    return Corpus(
        get_task("nli"),
        tuple(f"u{start + i}" for i in range(n)),
        tuple((f"premise {start + i // per_premise}", f"hypothesis {i}") for i in range(n)),
        np.eye(n_classes)[rng.integers(n_classes, size=n)],
        ("snli",) * n,
    )


def write_pairs(folder, rows):
    for name in get_task("nli").files:
        write_rows(folder / name, rows)


def row(label="neutral", **more):
    return {"gold_label": label, "sentence1": "A.", "sentence2": "B.", "pairID": "1"} | more


@pytest.mark.parametrize("task", TASKS)
def test_the_sample_has_training_data_that_shares_nothing_with_what_is_evaluated(task):
    train, (chaosnli, _) = load_corpus(task, "train", "sample"), load_chaosnli(task, "sample")
    splits.refuse_contamination(train, chaosnli)
    assert len(train) > 500
    assert set(np.unique(train.gold)) == set(range(train.targets.shape[1]))


def test_development_items_of_chaosnli_are_taken_out():
    dev, (chaosnli, _) = load_corpus("nli", "dev", "sample"), load_chaosnli("nli", "sample")
    assert set(chaosnli.uids) < set(dev.uids)
    assert not set(chaosnli.uids) & set(splits.without(dev, chaosnli).uids)


@pytest.mark.published("snli_1.0/*", "multinli_1.0/*")
def test_the_released_data_has_the_known_sizes():
    dev, (chaosnli, _) = load_corpus("nli", "dev"), load_chaosnli("nli")
    assert len(chaosnli) == 1514 + 1599
    assert not len(splits.without_groups(chaosnli, chaosnli))
    # every item of ChaosNLI has a gold label in the development sets
    assert len(dev) - len(splits.without(dev, chaosnli)) == len(chaosnli)
    train = load_corpus("nli", "train")
    splits.refuse_contamination(train, chaosnli)
    assert len(train) <= 942_854


def test_pairs_without_a_majority_label_are_dropped_and_counted(tmp_path):
    write_pairs(tmp_path, [row(), row("-"), row("entailment"), row("-")])
    found = load_corpus("nli", "dev", str(tmp_path))
    assert len(found) == 4  # two files, two pairs each
    assert found.dropped == 4


STORY = {"story_id": "s", "obs1": "a", "obs2": "b", "hyp1": "c", "hyp2": "d"}


@pytest.mark.parametrize(
    ("task", "rows", "labels", "message"),
    [
        ("nli", [row(), row("maybe")], "", "line 2(.|\n)*'maybe'(.|\n)*entailment"),
        ("nli", [row(sentence1=3)], "", "line 1(.|\n)*sentence1"),
        ("nli", ['"x"'], "", "no column 'sentence1'"),
        ("alphanli", [STORY], "1\n2\n", "2 labels for 1 stories"),
        ("alphanli", [STORY], "3\n", "line 1"),
    ],
)
def test_a_fault_in_a_training_file_is_named(tmp_path, task, rows, labels, message):
    write_pairs(tmp_path, rows)
    write_rows(tmp_path / "train.jsonl", rows)
    (tmp_path / "train-labels.lst").write_text(labels)
    with pytest.raises(ChaosError, match=message):
        load_corpus(task, "train", str(tmp_path))


def test_training_data_that_is_missing_is_never_replaced_by_the_sample(tmp_path, monkeypatch):
    monkeypatch.setattr(corpora.sources, "find", lambda name: None)
    with pytest.raises(ChaosError, match=r"chaos data fetch snli_1\.0/snli_1\.0_train\.jsonl"):
        choose_data("nli")


def test_a_training_premise_that_is_evaluated_is_refused_however_it_is_spelt():
    evaluated = pairs(4)
    train = pairs(6, start=100)
    splits.refuse_contamination(train, evaluated)
    spelt = (("PREMISE,  1 !", "hypothesis"), *train.texts[1:])
    with pytest.raises(ChaosError, match="1 training item"):
        splits.refuse_contamination(replace(train, texts=spelt), evaluated)


# Two sentences of each item, by their numbers; a story is both, a premise the first.
FRAMES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 1)), max_size=30)
WIDE = {code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)}  # full-width forms
SPELLINGS = (
    str, str.upper, lambda text: f" {text} !", lambda text: text.replace(" ", ", "),
    lambda text: text.translate(WIDE),
)  # fmt: skip


def framed(task, frames, prefix):
    """A corpus with an item for each frame, spelt in turn in several ways."""
    texts = []
    for number, frame in enumerate(frames):
        first, last = (
            SPELLINGS[number % len(SPELLINGS)](f"{place} sentence {one}")
            for place, one in zip(("first", "last"), frame, strict=True)
        )
        between = (f"this {number}", f"that {number}")
        texts.append((first, *between, last) if task == "alphanli" else (first, between[0]))
    known, n = get_task(task), len(frames)
    uids = tuple(f"{prefix}{number}" for number in range(n))
    return Corpus(known, uids, tuple(texts), np.ones((n, len(known.labels))), ("",) * n)


@pytest.mark.parametrize("task", TASKS)
@example(trained=[(n % 9, 0) for n in range(30)], evaluated=[(n, 0) for n in range(8)])
@given(trained=FRAMES, evaluated=FRAMES)
def test_no_training_item_is_kept_that_shares_a_text_with_what_is_evaluated(
    task, trained, evaluated
):
    def key(frame):
        return frame if task == "alphanli" else frame[0]

    known = set(map(key, evaluated))
    train, others = framed(task, trained, "t"), framed(task, evaluated[::-1], "e")
    expected = [f"t{n}" for n, frame in enumerate(trained) if key(frame) not in known]
    kept = splits.without_groups(train, others)
    assert list(kept.uids) == expected
    splits.refuse_contamination(kept, others)
    if n_shared := len(train) - len(expected):
        with pytest.raises(ChaosError, match=f"^{n_shared} training items"):
            splits.refuse_contamination(train, others)


@pytest.mark.parametrize("task", TASKS)
def test_of_chaosnli_itself_nothing_is_left_to_train_on_however_it_is_spelt(task):
    chaosnli, _ = load_chaosnli(task, "sample")
    spelt = tuple(tuple(f"{text.upper()} !" for text in item) for item in chaosnli.texts)
    copied = replace(chaosnli, uids=tuple(f"copy {uid}" for uid in chaosnli.uids), texts=spelt)
    assert not len(splits.without_groups(copied, chaosnli))
    with pytest.raises(ChaosError, match=f"^{len(chaosnli)} training items"):
        splits.refuse_contamination(copied, chaosnli)


sizes = st.tuples(st.integers(1, 9), st.integers(1, 9))


@given(n=st.integers(9, 60), sizes=sizes, seed=st.integers(0, 9))
def test_a_larger_subset_holds_the_smaller_and_both_are_balanced(n, sizes, seed):
    corpus = pairs(n)
    small, large = sorted(sizes)
    first, second = splits.subset(corpus, small, seed), splits.subset(corpus, large, seed)
    assert second.uids[:small] == first.uids
    counts, available = second.targets.sum(axis=0), corpus.targets.sum(axis=0)
    behind = counts < counts.max() - 1
    assert (counts[behind] == available[behind]).all()  # a class that ran out
    for size in (0, n + 1):
        with pytest.raises(ChaosError, match=f"1 to {n}"):
            splits.subset(corpus, size, seed)


def test_what_is_held_out_shares_no_story_with_what_is_kept():
    corpus = load_corpus("alphanli", "train", "sample")
    kept, held = splits.hold_out(corpus, 0.05, 0)
    assert len(kept) + len(held) == len(corpus)
    assert 0.02 < len(held) / len(corpus) < 0.1
    assert not set(kept.groups()) & set(held.groups())


@given(st.lists(st.integers(0, 30), min_size=8, max_size=60), st.integers(0, 99))
def test_folds_keep_groups_together_and_deal_them_evenly(groups, seed):
    n_groups = len(set(groups))
    if n_groups < 3:
        with pytest.raises(ChaosError, match="folds"):
            splits.grouped_folds(groups, 3, seed)
        return
    folds = splits.grouped_folds(groups, 3, seed)
    fold_of = {}
    for group, fold in zip(groups, folds, strict=True):
        assert fold_of.setdefault(group, fold) == fold
    sizes = np.bincount(list(fold_of.values()), minlength=3)
    assert sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(folds, splits.grouped_folds(groups, 3, seed))


def test_another_seed_deals_other_folds():
    one, other = (splits.grouped_folds(np.arange(100), 10, seed) for seed in (0, 1))
    assert (one != other).any()


def with_texts(name, texts, **fields):
    votes = made_votes(get_dataset(name), len(texts))
    known = tuple(dict(zip(votes.dataset.text_fields, text, strict=True)) for text in texts)
    return replace(votes, texts=known, **fields)


def test_items_share_a_group_by_premise_or_image_and_through_others_in_any_dataset(others):
    texts = [("A dog.", "h"), ("a  DOG", "i"), ("A cat.", "j"), ("A cow.", "k"), ("A hen.", "l")]
    uids = ("1.jpg#0r1", "2.jpg#0r1", "2.jpg#3r1", "3.jpg#0r1", "x")
    other = with_texts("mnli", [("A hen", "h"), ("A fox", "h")])
    groups = splits.item_groups([with_texts("snli", texts, uids=uids), other])
    # 0 and 1 by the premise, 1 and 2 by the image
    assert [one.tolist() for one in groups] == [[0, 0, 0, 1, 2], [2, 3]]
    # a story is its first and its last sentence
    (groups,) = splits.item_groups([with_texts("alphanli", ["ahiz", "ajkZ", "ahiy", "bhiz"])])
    assert groups.tolist() == [0, 0, 1, 2]
    for votes in others:  # without texts, each is alone
        (groups,) = splits.item_groups([votes])
        assert len(set(groups)) == len(votes)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40))
def test_groups_of_items_are_the_connected_components_of_a_graph(links):
    premises, images = np.transpose(links)
    votes = with_texts(
        "snli", [(f"premise {premise}", "h") for premise in premises],
        uids=tuple(f"{image}.jpg#{item}r1" for item, image in enumerate(images)),
    )  # fmt: skip
    (groups,) = splits.item_groups([votes])
    alike = (premises[:, np.newaxis] == premises) | (images[:, np.newaxis] == images)
    np.testing.assert_array_equal(groups, connected_components(alike)[1])

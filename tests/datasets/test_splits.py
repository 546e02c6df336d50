from dataclasses import replace

import numpy as np
import pytest
from helpers.predictions import made_votes
from hypothesis import given
from hypothesis import strategies as st

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.splits import grouped_folds, item_groups


@given(st.lists(st.integers(0, 30), min_size=8, max_size=60), st.integers(0, 99))
def test_folds_keep_groups_together_and_deal_them_evenly(groups, seed):
    n_groups = len(set(groups))
    if n_groups < 3:
        with pytest.raises(ChaosError, match="folds"):
            grouped_folds(groups, 3, seed)
        return
    folds = grouped_folds(groups, 3, seed)
    fold_of = {}
    for group, fold in zip(groups, folds, strict=True):
        assert fold_of.setdefault(group, fold) == fold
    sizes = np.bincount(list(fold_of.values()), minlength=3)
    assert sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(folds, grouped_folds(groups, 3, seed))


# Premises, stories, images


def with_texts(name, texts, **fields):
    votes = made_votes(get_dataset(name), len(texts))
    known = tuple(dict(zip(votes.dataset.text_fields, text, strict=True)) for text in texts)
    return replace(votes, texts=known, **fields)


def test_items_share_a_group_by_premise_or_image_and_through_others_in_any_dataset():
    texts = [("A dog.", "h"), ("a  DOG", "i"), ("A cat.", "j"), ("A cow.", "k"), ("A hen.", "l")]
    uids = ("1.jpg#0r1", "2.jpg#0r1", "2.jpg#3r1", "3.jpg#0r1", "x")
    other = with_texts("mnli", [("A hen", "h"), ("A fox", "h")])
    groups = item_groups([with_texts("snli", texts, uids=uids), other])
    # 0 and 1 by the premise, 1 and 2 by the image
    assert [one.tolist() for one in groups] == [[0, 0, 0, 1, 2], [2, 3]]


def test_a_story_is_its_first_and_last_sentence():
    (groups,) = item_groups([with_texts("alphanli", ["ahiz", "ajkZ", "ahiy", "bhiz"])])
    assert groups.tolist() == [0, 0, 1, 2]


def test_without_texts_each_item_is_alone(others):
    for votes in others:
        (groups,) = item_groups([votes])
        assert len(set(groups)) == len(votes)

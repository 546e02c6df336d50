import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos_utils.datasets.corpora import load_corpus
from chaos_utils.training.encoders import find_encoder, load_tokenizer
from chaos_utils.training.encoding import encode, plan_batches, split_by_budget
from chaos_utils.training.recipes import get_model


def letters(text):
    return "".join(filter(str.isalpha, text.lower()))


lengths = st.lists(st.integers(3, 90), min_size=1, max_size=200).map(np.array)


@given(lengths, st.integers(1, 40), st.integers(1, 3), st.integers(0, 5))
def test_every_epoch_holds_every_item_once(sizes, batch_size, epochs, seed):
    plan = plan_batches(sizes, batch_size, epochs, seed)
    per_epoch = -(-len(sizes) // batch_size)
    assert len(plan) == epochs * per_epoch
    assert max(map(len, plan)) <= batch_size
    for epoch in range(epochs):
        seen = np.concatenate(plan[epoch * per_epoch : (epoch + 1) * per_epoch])
        assert sorted(seen) == list(range(len(sizes)))


def test_the_plan_follows_the_seed_and_hardly_pads():
    sizes = np.random.default_rng(0).integers(10, 100, size=3200)
    first, again, other = (plan_batches(sizes, 32, 1, seed) for seed in (0, 0, 1))
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert any((a != b).any() for a, b in zip(first, other, strict=True))
    padded = sum(len(batch) * sizes[batch].max() for batch in first)
    assert padded < 1.1 * sizes.sum()
    # like lengths stand together, but the steps are not sorted by length
    means = [sizes[batch].mean() for batch in first]
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.3


@given(lengths, st.integers(1, 2), st.integers(1, 400))
def test_parts_of_a_batch_keep_to_the_budget(sizes, per_item, budget):
    items = np.arange(len(sizes))
    parts = list(split_by_budget(items, sizes, per_item, budget))
    assert (np.concatenate(parts) == items).all()
    for part in parts:
        assert len(part) == 1 or len(part) * per_item * sizes[part].max() <= budget


@pytest.mark.parametrize("family", ["bert", "xlnet", "bart"])
def test_an_alphanli_item_is_two_stories_with_one_hypothesis_each(family):
    corpus = load_corpus("alphanli", "train", "sample").take([0, 1])
    tokenizer = load_tokenizer(find_encoder(get_model(f"tiny-{family}")).folder)
    encoded = encode(tokenizer, corpus, 128)
    assert encoded.batch([0, 1])["input_ids"].shape[0] == 4
    for k in (0, 1):
        text = tokenizer.decode(encoded.sequences[k]["input_ids"], skip_special_tokens=True)
        assert letters(corpus.texts[0][1 + k]) in letters(text)
        assert letters(corpus.texts[0][2 - k]) not in letters(text)


def test_longer_pairs_are_cut():
    corpus = load_corpus("nli", "train", "sample").take(range(5))
    tokenizer = load_tokenizer(find_encoder(get_model("tiny-bert")).folder)
    assert encode(tokenizer, corpus, 10).lengths.max() == 10
    assert encode(tokenizer, corpus, 10).n_full == 5
    assert encode(tokenizer, corpus, 128).n_full == 0

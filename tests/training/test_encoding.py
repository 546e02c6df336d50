import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.corpora import load_corpus
from chaos_utils.training.encoders import find_encoder, load_tokenizer
from chaos_utils.training.encoding import BatchPlan, encode, micro_batch_size
from chaos_utils.training.recipes import get_model


def letters(text):
    return "".join(filter(str.isalpha, text.lower()))


lengths = st.lists(st.integers(3, 90), min_size=1, max_size=200).map(np.array)


@given(lengths, st.integers(1, 40), st.integers(0, 3), st.integers(0, 5))
def test_every_epoch_holds_every_item_once_in_full_batches(sizes, batch_size, epoch, seed):
    plan = BatchPlan(sizes, batch_size, seed)
    found = plan.epoch(epoch)
    assert found.shape == (-(-len(sizes) // batch_size), batch_size)
    assert sorted(found[found >= 0]) == list(range(len(sizes)))
    fillers = found[found < 0]
    assert len(fillers) < batch_size
    assert len(set(fillers)) <= 1
    steps = epoch * plan.steps_per_epoch
    assert plan.seen(steps) == epoch * len(sizes)
    assert plan.seen(steps + 1) == epoch * len(sizes) + (found[0] >= 0).sum()


def test_the_plan_follows_the_seed_and_hardly_pads():
    sizes = np.random.default_rng(0).integers(10, 100, size=3200)
    plan = BatchPlan(sizes, 32, 0)
    first, again, later = plan.epoch(0), plan.epoch(0), plan.epoch(1)
    assert (first == again).all()
    assert (first != later).any()
    assert (first != BatchPlan(sizes, 32, 1).epoch(0)).any()
    padded = sum(len(batch) * sizes[batch].max() for batch in first)
    assert padded < 1.1 * sizes.sum()
    # like lengths stand together, but the steps are not sorted by length
    means = [sizes[batch].mean() for batch in first]
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.3


@pytest.mark.parametrize(
    ("processes", "parts", "expected"), [(1, 1, 32), (2, 1, 16), (2, 4, 4), (4, 8, 1)]
)
def test_a_step_s_items_are_shared_out_evenly(processes, parts, expected):
    assert micro_batch_size(32, processes, parts) == expected
    with pytest.raises(ChaosError, match="divides 32"):
        micro_batch_size(32, 3 * processes, parts)


@pytest.mark.parametrize("family", ["bert", "xlnet", "bart"])
def test_an_alphanli_item_is_two_stories_with_one_hypothesis_each(family):
    corpus = load_corpus("alphanli", "train", "sample").take([0, 1])
    tokenizer = load_tokenizer(find_encoder(get_model(f"tiny-{family}")).folder)
    encoded = encode(tokenizer, corpus, 128)
    assert encoded.batch([0, 1])["input_ids"].shape[0] == 4
    for k in (0, 1):
        text = tokenizer.decode(encoded.batch([0])["input_ids"][k], skip_special_tokens=True)
        assert letters(corpus.texts[0][1 + k]) in letters(text)
        assert letters(corpus.texts[0][2 - k]) not in letters(text)


@pytest.mark.parametrize("family", ["bert", "roberta", "xlnet"])
@pytest.mark.parametrize("multiple", [1, 8])
def test_a_batch_is_what_the_tokenizer_pads_and_takes_few_bytes(family, multiple):
    corpus = load_corpus("nli", "train", "sample").take(range(40))
    tokenizer = load_tokenizer(find_encoder(get_model(f"tiny-{family}")).folder)
    encoded = encode(tokenizer, corpus, 24)
    chosen = [3, 17, 5]
    texts = [corpus.texts[k] for k in chosen]
    expected = tokenizer(
        [text[0] for text in texts], [text[1] for text in texts], truncation=True, max_length=24,
        padding=True, pad_to_multiple_of=multiple, return_tensors="np",
    )  # fmt: skip
    found = encoded.batch(chosen, multiple)
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert (found[name].numpy() == values).all(), name
    arrays = (encoded.ids, encoded.types, encoded.starts, encoded.lengths)
    n_bytes = sum(one.nbytes for one in arrays if one is not None)
    assert n_bytes <= 3 * encoded.lengths.sum() + 16 * (len(corpus) + 1)


def test_longer_pairs_are_cut():
    corpus = load_corpus("nli", "train", "sample").take(range(5))
    tokenizer = load_tokenizer(find_encoder(get_model("tiny-bert")).folder)
    assert encode(tokenizer, corpus, 10).lengths.max() == 10
    assert encode(tokenizer, corpus, 10).n_full == 5
    assert encode(tokenizer, corpus, 128).n_full == 0

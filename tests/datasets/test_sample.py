import numpy as np

from chaos_utils.base import inputs
from chaos_utils.datasets import sample as generator
from chaos_utils.metrics.divergence import entropy


def test_it_is_the_same_at_every_call(tmp_path):
    first = [inputs.digest(path) for path in generator.write(tmp_path / "a")]
    assert first == [inputs.digest(path) for path in generator.write(tmp_path / "b")]


def test_it_is_marked_and_of_use(sample):
    for opinions in sample:
        assert opinions.source.synthetic
        assert opinions.source.name.startswith("synthetic-sample/")
        assert len(opinions) == generator.N_ITEMS
        assert (opinions.votes.sum(axis=1) == generator.N_VOTES).all()
        # People agree on some items and are divided on others.
        entropies = entropy(opinions.shares, unit="bits")
        assert (entropies < 0.5).mean() > 0.03
        assert (entropies > 0.9).mean() > 0.1
        assert 0.05 < (opinions.majority != opinions.old_label).mean() < 0.5


def test_its_items_were_selected_like_the_released_ones(sample):
    for opinions in sample:
        if opinions.task.n_old_labels:
            largest = opinions.old_votes.max(axis=1)
            assert (largest == 3).all()
            assert (opinions.old_votes[np.arange(len(opinions)), opinions.old_label] == 3).all()


def test_its_sentences_are_whole(sample):
    for opinions in sample:
        for text in opinions.texts:
            for sentence in text.values():
                assert sentence[0].isupper()
                assert sentence.endswith(".")
                assert "|" not in sentence
                assert "{" not in sentence

import numpy as np

from chaos_utils.base import inputs
from chaos_utils.datasets import sample as generator
from chaos_utils.metrics.divergence import entropy


def test_it_is_the_same_at_every_call(tmp_path):
    first = [inputs.digest(path) for path in generator.write(tmp_path / "a")]
    assert first == [inputs.digest(path) for path in generator.write(tmp_path / "b")]


def test_it_is_marked_and_of_use(sample):
    for votes in sample:
        assert votes.source.synthetic
        assert votes.source.name.startswith("synthetic-sample/")
        assert len(votes) == generator.N_ITEMS
        assert (votes.counts.sum(axis=1) == generator.N_VOTES).all()
        # People agree on some items and are divided on others.
        entropies = entropy(votes.shares, unit="bits")
        assert (entropies < 0.5).mean() > 0.03
        assert (entropies > 0.9).mean() > 0.1
        assert 0.05 < (votes.majority != votes.old_label).mean() < 0.5
        if votes.dataset.n_old_labels:  # its items were selected like the released ones
            assert (votes.old_votes.max(axis=1) == 3).all()
            assert (votes.old_votes[np.arange(len(votes)), votes.old_label] == 3).all()

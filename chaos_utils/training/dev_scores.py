"""How well labels are hit, for choosing a model: on development items, never on ChaosNLI's."""

from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.datasets.corpora import Corpus


def dev_scores(shares: npt.NDArray[np.float64], corpus: Corpus) -> dict[str, dict[str, Any]]:
    """Return number, accuracy and cross-entropy (nats) against the gold label.

    Each for ``all`` items, and for those of each dataset.
    """
    right = shares.argmax(axis=1) == corpus.gold
    own = shares[np.arange(len(shares)), corpus.gold]
    loss = -np.log(np.maximum(own, 1e-12))
    names = np.array(corpus.datasets)
    parts = {"all": np.ones(len(names), dtype=bool)}
    parts |= {str(name): names == name for name in np.unique(names)}
    return {
        name: {
            "n": int(part.sum()),
            "accuracy": round(float(right[part].mean()), 6),
            "loss": round(float(loss[part].mean()), 6),
        }
        for name, part in parts.items()
        if part.any()
    }


def balanced_subset(corpus: Corpus, n: int) -> Corpus:
    """Return at most `n` items of a corpus, always the same, as evenly over datasets as can be."""
    names = np.array(corpus.datasets)
    turn = np.empty(len(names), dtype=np.int64)
    order = np.random.default_rng(0).permutation(len(names))
    for name in np.unique(names):
        mine = order[names[order] == name]
        turn[mine] = np.arange(len(mine))
    return corpus.take(np.sort(np.argsort(turn, kind="stable")[:n]))

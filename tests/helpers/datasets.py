"""Datasets unlike ChaosNLI, made by hand: other numbers of labels and votes, parts lacking."""

from dataclasses import replace

import numpy as np

from chaos_utils.base.inputs import Input
from chaos_utils.datasets.catalogue import bring
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.votes import Annotations, Votes, frozen

_N_ITEMS = 40


def _dataset(name, labels, **more):
    return bring(
        Dataset.model_validate(
            {
                "name": name,
                "title": name.title(),
                "labels": labels,
                "release": {},
                "files": [{"name": f"{name}.csv"}],
                "reader": {"format": "chaosnli"},
            }
            | more
        )
    )


def _votes(dataset, annotations):
    counts = np.zeros((_N_ITEMS, dataset.n_classes), dtype=np.int64)
    np.add.at(counts, (annotations.item, annotations.label), 1)
    return Votes(
        dataset=dataset,
        uids=tuple(f"{dataset.name}-{i}" for i in range(_N_ITEMS)),
        counts=frozen(counts),
        majority=frozen(counts.argmax(axis=1)),
        source=Input(dataset.file, "0" * 64),
        annotations=annotations,
    )


def _annotate(dataset, sizes, n_annotators):
    """Let people with opinions of their own judge each item, from split ones to unanimous ones."""
    rng = np.random.default_rng(4)
    leaning = rng.dirichlet(np.full(dataset.n_classes, 0.6), size=_N_ITEMS)
    leaning[0] = np.eye(dataset.n_classes)[-1]  # all say the last label
    item = np.repeat(np.arange(_N_ITEMS), sizes)
    annotator = np.concatenate([rng.permutation(n_annotators)[:n] for n in sizes])
    label = np.array([rng.choice(dataset.n_classes, p=leaning[i]) for i in item])
    return Annotations(frozen(item), frozen(annotator), frozen(label))


def four_labels():
    """Four labels, 7 to 20 votes per item, annotators; no old labels and no texts."""
    dataset = _dataset("severity", ["none", "mild", "strong", "extreme"])
    sizes = 7 + np.arange(_N_ITEMS) % 14
    return _votes(dataset, _annotate(dataset, sizes, n_annotators=30))


def two_labels():
    """Two labels and 5 votes per item; counts alone."""
    dataset = _dataset("pairs", ["yes", "no"], n_votes=5)
    known = _annotate(dataset, np.full(_N_ITEMS, 5), n_annotators=12)
    return replace(_votes(dataset, known), annotations=None)

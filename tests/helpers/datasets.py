"""Datasets unlike ChaosNLI, as files: other numbers of labels and votes, parts lacking."""

import csv
from pathlib import Path

import numpy as np

_N_ITEMS = 60


def _judged(n_classes, sizes, n_annotators):
    """Yield (item, annotator, label): people of opinions of their own, from split to unanimous."""
    rng = np.random.default_rng(4)
    leaning = rng.dirichlet(np.full(n_classes, 0.6), size=_N_ITEMS)
    leaning[0] = np.eye(n_classes)[-1]  # all say the last label
    for item, n in enumerate(sizes):
        for annotator in rng.permutation(n_annotators)[:n]:
            yield item, annotator, rng.choice(n_classes, p=leaning[item])


def _write(folder, name, dataset, rows):
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    path = folder / f"{name}.yml"
    path.write_text(f"name: {name}\nfiles: [{{name: {name}.csv}}]\n{dataset}", "utf-8")
    return path


def write_four_labels(folder: Path) -> Path:
    """Write four labels, 7 to 20 votes per item, annotators; no old labels and no texts."""
    labels = ["none", "mild", "strong", "extreme"]
    sizes = 7 + np.arange(_N_ITEMS) % 14
    rows = [
        (f"item-{item}", f"worker-{annotator}", labels[label])
        for item, annotator, label in _judged(4, sizes, n_annotators=30)
    ]
    return _write(
        folder,
        "severity",
        "title: Severity\nlabels: [none, mild, strong, extreme]\n"
        "reader: {format: long, annotator: annotator}\n",
        [("item", "annotator", "label"), *rows],
    )


def write_two_labels(folder: Path) -> Path:
    """Write two labels and 5 votes per item; counts alone."""
    counts = np.zeros((_N_ITEMS, 2), dtype=int)
    for item, _, label in _judged(2, np.full(_N_ITEMS, 5), n_annotators=12):
        counts[item, label] += 1
    return _write(
        folder,
        "pairs",
        'title: Pairs\nlabels: ["yes", "no"]\nn_votes: 5\nreader: {format: wide}\n',
        [("item", "yes", "no"), *((f"item-{i}", *row) for i, row in enumerate(counts.tolist()))],
    )

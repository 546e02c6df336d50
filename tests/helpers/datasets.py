"""Datasets unlike ChaosNLI, as files: other numbers of labels and votes, parts lacking."""

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
    lines = (",".join(map(str, row)) for row in rows)
    (folder / f"{name}.csv").write_text("\n".join(lines), "utf-8")
    path = folder / f"{name}.yml"
    path.write_text(f"name: {name}\nfiles: [{{name: {name}.csv}}]\n{dataset}", "utf-8")
    return path


def write_four_labels(folder: Path) -> Path:
    """Write four labels, 7 to 20 votes per item, annotators; no old labels and no texts."""
    labels = ["none", "mild", "strong", "extreme"]
    sizes = 7 + np.arange(_N_ITEMS) % 14
    rows = [("item", "annotator", "label")]
    for item, annotator, label in _judged(4, sizes, n_annotators=30):
        rows.append((f"item-{item}", f"worker-{annotator}", labels[label]))
    dataset = f"title: Severity\nlabels: [{', '.join(labels)}]\n"
    reader = "reader: {format: long, annotator: annotator}\n"
    return _write(folder, "severity", dataset + reader, rows)


def write_two_labels(folder: Path) -> Path:
    """Write two labels and 5 votes per item; counts alone."""
    counts = np.zeros((_N_ITEMS, 2), dtype=int)
    for item, _, label in _judged(2, np.full(_N_ITEMS, 5), n_annotators=12):
        counts[item, label] += 1
    rows = [("item", "yes", "no"), *((f"item-{i}", *row) for i, row in enumerate(counts))]
    dataset = 'title: Pairs\nlabels: ["yes", "no"]\nn_votes: 5\nreader: {format: wide}\n'
    return _write(folder, "pairs", dataset, rows)

"""Prediction files, made by hand, on items whose old label goes round."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd

from chaos_utils.base import inputs
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.votes import Votes, frozen
from chaos_utils.scoring.formats import class_columns

N = 40


def shares(i, k=3, sure=0.8):
    """Return a distribution that favours label i mod k."""
    rest = (1 - sure) / (k - 1)
    return [sure if c == i % k else rest for c in range(k)]


def made_votes(dataset, n=N, *, old_labels=True, prefix="u", synthetic=False):
    """Return votes with seven votes per item, whose majority and old label go round."""
    k = dataset.n_classes
    labels = frozen([i % k for i in range(n)])
    counts = frozen(np.eye(k)[labels] * 6 + np.eye(k)[(labels + 1) % k])
    uids = tuple(f"{prefix}{i}" for i in range(n))
    source = inputs.Input("made by hand", "0" * 64, synthetic)
    given = labels if old_labels else None
    return Votes(dataset, uids, counts, labels, source, given_old_label=given)


def votes_from(like, counts):
    """Return votes on items of the labels of others, with these counts and nothing else."""
    return replace(
        like, uids=tuple(map(str, range(len(counts)))), counts=frozen(counts),
        majority=frozen(np.argmax(counts, axis=1)), given_old_label=None, given_old_votes=None,
        texts=(), annotations=None, source=replace(like.source, sha256=""),
    )  # fmt: skip


def part_of(system, rows, **changes):
    """Return a system that covers these items alone."""
    return replace(
        system, uids=tuple(np.array(system.uids)[rows].tolist()),
        probabilities=system.probabilities[rows], predicted=system.predicted[rows], **changes,
    )  # fmt: skip


def made_dataset(name="moods", labels=("happy", "sad", "in between", "neither"), **more):
    """Return a dataset that the package does not have."""
    files, reader = [{"name": f"{name}.jsonl"}], {"format": "chaosnli"}
    known = {"name": name, "title": name.title(), "labels": list(labels), "release": {}}
    return Dataset.model_validate(known | {"files": files, "reader": reader} | more)


def entries_text(entry, models=("m",), n=N):
    """Return ChaosNLI's JSON; an entry may replace the uid."""
    content = {name: {f"u{i}": {"uid": f"u{i}", **entry(i)} for i in range(n)} for name in models}
    return json.dumps(content)


def csv_text(lines=None, header="uid,entailment,neutral,contradiction"):
    if lines is None:
        lines = [f"u{i}," + ",".join(map(str, shares(i))) for i in range(N)]
    return "\n".join([header, *lines]) + "\n"


def lines_text(entry, n=N):
    """Return JSON lines; an entry may replace the uid."""
    return "".join(json.dumps({"uid": f"u{i}", **entry(i)}) + "\n" for i in range(n))


def write_chaosnli(path, entry=None, models=("m",), n=N):
    entry = entry or (lambda i: {"predicted_probabilities": shares(i)})
    path.write_text(entries_text(entry, models, n))
    return path


def write_csv(path, *content, **header):
    path.write_text(csv_text(*content, **header))
    return path


def write_lines(path, entry=lambda i: {"probs": shares(i)}, n=N):
    path.write_text(lines_text(entry, n))
    return path


def blurred(votes, by=0.3, seed=None):
    """Return the vote shares, mixed with the uniform distribution, and perhaps with noise."""
    mixed = (1 - by) * votes.shares + by / votes.dataset.n_classes
    if seed is not None:
        mixed *= np.exp(np.random.default_rng(seed).normal(scale=0.5, size=mixed.shape))
    return mixed / mixed.sum(axis=1, keepdims=True)


def write_shares(path, votes, values, uids=None):
    """Write predictions of these items, or of some, as CSV."""
    index = pd.Index(votes.uids, name="uid")
    table = pd.DataFrame(values, index=index, columns=class_columns(votes.dataset))
    table.loc[list(uids or votes.uids)].to_csv(path)
    return path


def released(i, order=(0, 2, 1), **changes):
    """Return an entry in the format of Baan et al. (2022)."""
    probs = [shares(i)[c] for c in order]
    pred = probs.index(max(probs))
    made = {"index": i, "true": 0, "pred": pred, "conf": max(probs), "probs": probs}
    return made | {"logits": np.log(probs).tolist()} | changes


def table_of(votes):
    """Return a table of predictions: uid and a column per class."""
    values = [shares(i, votes.dataset.n_classes) for i in range(len(votes))]
    table = pd.DataFrame(values, columns=class_columns(votes.dataset))
    table.insert(0, "uid", votes.uids)
    return table

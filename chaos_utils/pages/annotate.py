"""The data of the page on which a reader annotates: items to judge, and examples for its test.

The papers' pool of unanimous examples was not released. Items on which nearly all votes agree
take its place, and are left out of the items to judge.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.collection.materials import is_unanimous
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.divergence import entropy, jensen_shannon_distance
from chaos_utils.plots.systems import SYSTEM_NAMES
from chaos_utils.publish.scripts import compact
from chaos_utils.scoring.system import System

N_ITEMS = 300


def material(all_votes: Sequence[Votes], systems: Mapping[str, Sequence[System]]) -> dict[str, Any]:
    """Return the items of each dataset, and the pools of unanimous examples.

    Votes are left out where they have no texts, or where their dataset does not say how to ask
    readers (``Dataset.annotate``). Datasets with the same labels share a pool. `systems` has the
    systems that predict a dataset, by its name: two of them (`two_models`) are shown beside the
    reader. Where a dataset has more than `N_ITEMS` items, that many are taken, at equal distances
    in order of entropy.

    Returns
    -------
    dict
        * ``datasets``: by name, a dict of ``short``, ``labels``, ``codes``; ``fields`` of the
          texts; ``pool``, the name of its pool; ``items``; ``colours`` of the labels, each for
          light and dark pages; ``kind`` and ``invitation`` (see `Annotate`); ``models``, each with
          its ``name`` and ``labels``: for each item the index of the predicted label, or None.
        * ``pools``: by name, a list of examples.
        * ``digest`` of the items and examples.

        An item or example has a ``uid``, ``votes`` (counts by label) and ``texts`` (by field).
    """
    annotatable = [votes for votes in all_votes if votes.dataset.annotate and votes.texts]
    pool_by_codes = {votes.dataset.codes: votes.dataset.name for votes in reversed(annotatable)}
    pools: dict[str, list[Any]] = {name: [] for name in pool_by_codes.values()}
    datasets: dict[str, Any] = {}
    for votes in annotatable:
        dataset, unanimous = votes.dataset, is_unanimous(votes)
        pool = pool_by_codes[dataset.codes]
        pools[pool] += _item_entries(votes, np.flatnonzero(unanimous))
        datasets[dataset.name] = {
            "short": dataset.short,
            "labels": dataset.labels,
            "codes": dataset.codes,
            "fields": dataset.text_fields,
            "pool": pool,
            "items": _item_entries(votes, _spread_rows(votes, ~unanimous)),
        }
    # Browsers store answers under this digest, so its keys stay those of the first edition.
    digest_source = compact({"tasks": datasets, "pools": pools})
    for votes in annotatable:
        annotate = votes.dataset.annotate
        assert annotate is not None
        dataset_entry = datasets[votes.dataset.name]
        dataset_entry |= {
            "colours": [[label.colour.light, label.colour.dark] for label in votes.dataset.classes],
            "kind": annotate.kind,
            "invitation": annotate.invitation,
            "models": [
                _predicted_labels(system, [entry["uid"] for entry in dataset_entry["items"]])
                for system in two_models(votes, systems.get(votes.dataset.name, ()))
            ],
        }
    return {
        "datasets": datasets,
        "pools": pools,
        "digest": hashlib.sha256(digest_source.encode()).hexdigest()[:16],
    }


def two_models(votes: Votes, systems: Sequence[System]) -> list[System]:
    """Return the system that is closest to the votes, and the closest of another family.

    Released systems come before others, and systems that may have seen the items come last. If
    there is only one family, its two closest systems are returned; if there is only one system,
    that one.
    """

    def rank(system: System) -> tuple[bool, bool, float]:
        batch = system.aligned_to(votes)
        distances = jensen_shannon_distance(batch.human, batch.model, unit="nats")
        mean_distance = float(distances.mean().round(9))
        return bool(system.caution), system.origin != "released", mean_distance  # False first

    ranked = sorted(systems, key=rank)
    other_families = [system for system in ranked if system.family != ranked[0].family]
    return ranked[:1] + (other_families or ranked[1:])[:1]


def _predicted_labels(system: System, uids: Sequence[str]) -> dict[str, Any]:
    """Return a system's name, and the index of its label for each item; None where it has none."""
    label_by_uid = dict(zip(system.uids, system.predicted.tolist(), strict=True))
    name = SYSTEM_NAMES.get(system.name, system.name)
    return {"name": name, "labels": [label_by_uid.get(uid) for uid in uids]}


def _spread_rows(votes: Votes, eligible: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """Return up to `N_ITEMS` eligible rows, at equal distances in order of entropy."""
    rows = np.flatnonzero(eligible)
    # Equal numbers of votes may differ in the last digit of their entropy.
    entropies = entropy(votes.shares[rows], unit="bits").round(10)
    rows = rows[np.argsort(entropies, kind="stable")]
    n_items = min(N_ITEMS, len(rows))
    start = np.random.default_rng(0).random()
    positions = (np.arange(n_items) + start) * len(rows) / n_items
    return rows[positions.astype(int)]


def _item_entries(votes: Votes, rows: npt.NDArray[np.intp]) -> list[dict[str, Any]]:
    """Return the uid, votes and texts of the items in these rows."""
    return [
        {
            "uid": votes.uids[row],
            "votes": votes.counts[row].tolist(),
            "texts": [votes.texts[row][field].strip() for field in votes.dataset.text_fields],
        }
        for row in rows
    ]

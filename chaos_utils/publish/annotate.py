"""What the page that lets a reader annotate shows: items to judge, and examples to be tested with.

The papers' pool of unanimous examples was not released. Items on which nearly all votes agree
stand in for it, and are kept out of the items to judge.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.style import SYSTEM_NAMES
from chaos_utils.collection.materials import is_unanimous
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.divergence import entropy, jensen_shannon_distance
from chaos_utils.publish.scripts import compact
from chaos_utils.scoring.system import System

N_ITEMS = 300


def material(all_votes: Sequence[Votes], systems: Mapping[str, Sequence[System]]) -> dict[str, Any]:
    """Return the items of each dataset, and the pools of unanimous examples.

    Votes without texts or without a way to be asked (``Dataset.annotate``) are left out. Datasets
    that share their labels share a pool. `systems` are those that predict a dataset, by its name:
    two of them (`two_models`) stand beside the reader. Where a dataset has more than `N_ITEMS`,
    those drawn lie at equal distances along its items in order of entropy.

    Returns
    -------
    dict
        ``datasets``: by name ``short``, ``labels``, ``codes``, ``fields`` (of the texts), ``pool``
        and ``items``, ``colours`` (of the labels, in the light and in the dark look), ``kind`` and
        ``invitation`` (see `Annotate`), ``models`` (``name`` and ``labels``, a position in
        ``labels`` for each of the items, None where it predicts none); ``pools``: by name the
        examples; ``digest`` of what is asked. An item or example is ``uid``, ``votes`` (by label)
        and ``texts`` (by field).
    """
    offered = [votes for votes in all_votes if votes.dataset.annotate and votes.texts]
    pool_of = {votes.dataset.codes: votes.dataset.name for votes in reversed(offered)}
    pools: dict[str, list[Any]] = {name: [] for name in pool_of.values()}
    datasets: dict[str, Any] = {}
    for votes in offered:
        dataset, unanimous = votes.dataset, is_unanimous(votes)
        pool = pool_of[dataset.codes]
        pools[pool] += _entries(votes, np.flatnonzero(unanimous))
        datasets[dataset.name] = {
            "short": dataset.short,
            "labels": dataset.labels,
            "codes": dataset.codes,
            "fields": dataset.text_fields,
            "pool": pool,
            "items": _entries(votes, _draw(votes, ~unanimous)),
        }
    # Browsers keep sessions by this digest: its spelling stays that of the first edition.
    digest_source = compact({"tasks": datasets, "pools": pools})
    for votes in offered:
        annotate = votes.dataset.annotate
        assert annotate is not None
        dataset_entry = datasets[votes.dataset.name]
        dataset_entry |= {
            "colours": [[label.colour.light, label.colour.dark] for label in votes.dataset.classes],
            "kind": annotate.kind,
            "invitation": annotate.invitation,
            "models": [
                _answers_of(system, [entry["uid"] for entry in dataset_entry["items"]])
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

    Released systems come before others, and those last that may have seen the items. Where there
    is one family alone, its two closest are taken; where there is one system alone, it stands by
    itself.
    """

    def rank(system: System) -> tuple[bool, bool, float]:
        judged = system.aligned_to(votes)
        distances = jensen_shannon_distance(judged.human, judged.model, unit="nats")
        last = (bool(system.caution), system.origin != "released")
        return *last, float(distances.mean().round(9))

    ranked = sorted(systems, key=rank)
    others = [system for system in ranked if system.family != ranked[0].family] or ranked[1:]
    return ranked[:1] + others[:1]


def _answers_of(system: System, uids: Sequence[str]) -> dict[str, Any]:
    stated = dict(zip(system.uids, system.predicted.tolist(), strict=True))
    name = SYSTEM_NAMES.get(system.name, system.name)
    return {"name": name, "labels": [stated.get(uid) for uid in uids]}


def _draw(votes: Votes, eligible: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    rows = np.flatnonzero(eligible)
    # Equal numbers of votes may differ in the last digit of their entropy.
    bits = entropy(votes.shares[rows], unit="bits").round(10)
    rows = rows[np.argsort(bits, kind="stable")]
    n = min(N_ITEMS, len(rows))
    start = np.random.default_rng(0).random()
    places = (np.arange(n) + start) * len(rows) / n
    return rows[places.astype(int)]


def _entries(votes: Votes, rows: npt.NDArray[np.intp]) -> list[dict[str, Any]]:
    return [
        {
            "uid": votes.uids[row],
            "votes": votes.counts[row].tolist(),
            "texts": [votes.texts[row][field].strip() for field in votes.dataset.text_fields],
        }
        for row in rows
    ]

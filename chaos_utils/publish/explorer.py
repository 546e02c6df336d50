"""What the item explorer shows: every item's votes, predictions and distances, in columns.

The columns travel as packed scripts. Numbers and texts are apart, each under a notice of its own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import numpy as np
import numpy.typing as npt

from chaos_utils.analyses import why
from chaos_utils.base.authorship import Citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.datasets import auxiliary_data, sources
from chaos_utils.datasets.auxiliary_data import LABELS, AuxiliaryData
from chaos_utils.datasets.catalogue import bundled_datasets
from chaos_utils.datasets.dataset import Dataset, Release
from chaos_utils.datasets.splits import folds_of, item_groups
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.divergence import jensen_shannon_distance
from chaos_utils.publish import licences, scripts
from chaos_utils.report import citations
from chaos_utils.scoring.system import System

_COLUMNS = ("shares", "label", "jsd")  # of a system, by item
OTHERS = "others.js"  # names the datasets beside the book's, and why people disagree on its items
SCALE = 10_000  # shares and distances are whole ten-thousandths, which are short
# What an address of the explorer may ask for: see the page.
QUERY_NAMES = ("q", "dataset", "low", "high", "majority", "change", "old", "reason", "system",
               "verdict", "far", "other", "axes", "sort", "page", "pin")  # fmt: skip


def columns(votes: Votes, systems: Sequence[System]) -> dict[str, Any]:
    """Return a dataset's items as columns, in the order of their uids.

    An item that a system does not cover is None in its columns.

    Returns
    -------
    dict
        ``name``, ``title``, ``short``, ``labels``, their ``codes`` and ``colours`` (in the light
        and in the dark look), ``fields`` (titles of the texts), ``data`` (what a citation of an
        item says of its source); ``warning`` (to readers, may be empty); ``uids``; ``votes`` and
        ``old_votes`` (a column of counts for each label; ``old_votes`` None where there are none,
        or only the label was released); ``majority`` and ``old_label`` (positions in ``labels``;
        ``old_label`` None where there are none); ``ties_share`` (whether labels that tie for most
        votes share an item, for want of a stated majority); ``groups`` of items that share a text,
        and ``folds``, a digit for each item's; and ``systems``: ``name``, ``origin``, ``caution``
        (see `System`), ``n_items`` and ``mean_jsd`` (of those it covers), ``shares`` (a column for
        each label but the last, whose share is the rest), ``label`` (stated, a position) and
        ``jsd`` (Jensen–Shannon distance from the votes, nats). Shares and distances are in units of
        1 / `SCALE`, the mean is not.
    """
    dataset = votes.dataset
    order, groups = _order(votes), item_groups([votes])[0]
    return {
        "name": dataset.name,
        "title": dataset.title,
        "short": dataset.short,
        "labels": list(dataset.labels),
        "codes": list(dataset.codes),
        "colours": [[label.colour.light, label.colour.dark] for label in dataset.classes],
        "fields": list(dataset.text_titles) if votes.texts else [],
        "data": licences.source(dataset.release) or dataset.title,
        "warning": dataset.warning,
        "uids": [votes.uids[i] for i in order],
        "votes": votes.counts[order].T.tolist(),
        "old_votes": votes.old_votes[order].T.tolist() if votes.has_old_votes else None,
        "majority": votes.majority[order].tolist(),
        "ties_share": not dataset.states_majority,
        "groups": groups[order].tolist(),
        "folds": "".join(map(str, folds_of(groups)[order])),
        "old_label": votes.old_label[order].tolist() if votes.has_old_labels else None,
        "systems": [_system(system, votes, order) for system in systems],
    }


def split_systems(
    data: dict[str, Any], systems: Sequence[System], notice: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """Take the columns of some systems out of `columns`: they are loaded when they are needed.

    These are the models of Nie et al. (2020), nine on each dataset. In their place stand the names
    of a ``file`` and of the ``global`` that it sets. Returned are the rest, and the scripts by
    name.
    """
    entries, files = [], {}
    for place, (system, entry) in enumerate(zip(systems, data["systems"], strict=True)):
        if system.paper != "nie2020":
            entries.append(entry)
            continue
        place_of = {
            "file": f"system-{data['name']}-{place}.js",
            "global": f"CHAOS_SYSTEM_{data['name'].replace('-', '_')}_{place}",
        }
        held = {name: entry[name] for name in _COLUMNS}
        files[place_of["file"]] = scripts.packed_script(place_of["global"], held, notice)
        entries.append({name: of for name, of in entry.items() if name not in _COLUMNS} | place_of)
    return data | {"systems": entries}, files


def texts(votes: Votes) -> list[list[str]]:
    """Return a dataset's texts, a column for each field, in the order of `columns`.

    Empty where the items have no texts.
    """
    if not votes.texts:
        return []
    return [
        [votes.texts[i][field].strip() for i in _order(votes)]
        for field in votes.dataset.text_fields
    ]


def reasons(votes: Votes) -> dict[str, Any]:
    """Return why people disagree on a dataset's items, where others' files on that are available.

    Returns
    -------
    dict
        ``names`` of the reasons, ``labels`` and ``statuses`` (VariErr's, by the word of a reason's
        authors); and ``items``, in the order of `columns`: None, or the positions of the item's
        reasons, those of its labels' statuses (none where they are unknown), and whether LiveNLI
        has people's explanations. Empty where no item has any, or the votes are synthetic.
    """
    if votes.source.synthetic:
        return {}
    named = {(row.uid, row.reason) for row in _rows(auxiliary_data.TAXONOMY)}
    errors = {(row.uid, row.label): row.error for row in _rows(auxiliary_data.VARIERR)}
    judged = {uid for uid, _ in errors}
    explained = {row.uid for row in _rows(auxiliary_data.LIVENLI)}
    statuses = {False: "plausible", True: "error", None: "not given"}
    items: list[list[Any] | None] = []
    for uid in (votes.uids[i] for i in _order(votes)):
        has = [k for k, code in enumerate(why.REASONS) if (uid, code) in named]
        status = [why.STATUSES.index(statuses[errors.get((uid, label))]) for label in LABELS]
        item = [has, status if uid in judged else [], int(uid in explained)]
        items.append(item if any(item) else None)
    if not any(items):
        return {}
    return {
        "names": [*why.REASONS.values()],
        "labels": LABELS,
        "statuses": why.STATUSES,
        "items": items,
    }


def _rows(companion: AuxiliaryData) -> Iterable[Any]:
    return companion.read().itertuples() if companion.available else ()


def reasons_script(shown: Sequence[Votes], chapter: str) -> str:
    """Return the script that says why people disagree on items; empty where nothing does.

    `chapter` is the address of the chapter about it, or empty.
    """
    by_dataset = {votes.dataset.name: made for votes in shown if (made := reasons(votes))}
    content = {"chapter": chapter, "datasets": by_dataset}
    notice = "Labels and reasons of VariErr, LiveNLI and a taxonomy: licences not stated."
    return scripts.packed_script("CHAOS_REASONS", content, notice) if by_dataset else ""


def other_datasets(shown: Sequence[Votes]) -> list[Dataset]:
    """Return the package's datasets that a reader's book may offer beside its own.

    Those whose files are all available, where the book shows its own datasets as released: not
    beside the sample, nor beside a dataset that the reader chose.
    """
    if any(votes.source.synthetic or not votes.dataset.in_book for votes in shown):
        return []
    return [
        dataset
        for dataset in bundled_datasets()
        if not dataset.in_book and all(sources.find(file.name) for file in dataset.files)
    ]


def others_index_script(datasets: Sequence[Dataset]) -> str:
    """Return the script that names datasets beside the book's, and the files that hold them."""
    listed = [
        {
            "name": dataset.name,
            "title": dataset.title,
            "file": others_file(dataset),
            "global": _others_global(dataset),
        }
        for dataset in datasets
    ]
    return scripts.packed_script(
        "CHAOS_OTHERS", listed, "Datasets that are loaded when they are chosen."
    )


def others_file(dataset: Dataset) -> str:
    """Return the name of the script that holds a dataset beside the book's."""
    return f"more-{dataset.name}.js"


def others_script(votes: Votes, systems: Sequence[System], paper: str) -> str:
    """Return the script that holds a dataset beside the book's.

    Without its texts where the publisher states no licence for them. `paper` is its BibTeX entry.
    """
    groups = columns(votes, ())["groups"]  # by texts, shown or not
    votes = without_unlicensed_texts(votes)
    notice = (licences.notice if votes.texts else licences.votes_notice)([votes.dataset])
    numbers = columns(votes, systems) | {"paper": paper, "notice": notice, "groups": groups}
    content = {"numbers": numbers, "texts": texts(votes)}
    return scripts.packed_script(_others_global(votes.dataset), content, notice)


def _others_global(dataset: Dataset) -> str:
    return f"CHAOS_MORE_{dataset.name.replace('-', '_')}"


def leave_out_others(site: Path) -> None:
    """Take the datasets beside the book's, and the reasons, out of a site.

    Not all may be passed on.
    """
    folder = site / "_static" / "explorer"
    for path in folder.glob("more-*.js"):
        path.unlink()
    if (folder / OTHERS).is_file():
        write_text(folder / OTHERS, others_index_script([]))


def without_unlicensed_texts(votes: Votes) -> Votes:
    """Return votes without their texts where the publisher states no licence for them."""
    stated = votes.dataset.release.licence != Release().licence
    return votes if stated else replace(votes, texts=())


def selection(address: str) -> str:
    """Return the end of an address that leads to a selection of items, or to one item.

    The `address` is a query such as ``dataset=snli&change=changed``, a ``#`` and a uid, or both.
    """
    query, _, uid = address.partition("#")
    pairs = parse_qsl(query, keep_blank_values=True)
    unknown = [name for name, _ in pairs if name not in QUERY_NAMES]
    if unknown or bool(query) != bool(pairs) or not (pairs or uid):
        raise ChaosError(
            "The explorer cannot show this selection.",
            found=address,
            expected=f"name=value pairs joined by &, of {', '.join(QUERY_NAMES)}; or # and a uid",
        )
    return (f"?{urlencode(pairs)}" if pairs else "") + (f"#{quote(uid, safe='')}" if uid else "")


def citation(book: Citation, *, synthetic: bool) -> dict[str, Any]:
    """Return templates for citing one item, to be filled in where it is shown.

    In ``plain`` and ``bibtex``, ``<uid>``, ``<title>`` (of the dataset) and ``<data>`` (its
    source), in ``bibtex`` also ``<key>``, stand for the item's; ``<place>`` stands for the uid as
    part of an address. ``latex`` is what replaces the characters that LaTeX takes as its own. The
    title says so where the items are the sample's (`synthetic`).
    """
    title = "Item <uid> of <title>"
    if synthetic:
        title = f"Synthetic sample: {title}"
    url = f"{book.url.rstrip('/')}/explorer.html#<place>" if book.url else ""
    return {
        "plain": citations.item_plain(book, title, url),
        "bibtex": citations.item_bibtex(book, title, url),
        "latex": dict(citations.LATEX),
    }


def _order(votes: Votes) -> list[int]:
    return sorted(range(len(votes)), key=lambda i: votes.uids[i])


def _system(system: System, votes: Votes, order: Sequence[int]) -> dict[str, Any]:
    judged = system.aligned_to(votes, in_sample=True)
    place_of = {row: place for place, row in enumerate(system.rows_in(votes).tolist())}

    def in_order_of_items(values: npt.NDArray[Any]) -> list[int | None]:
        return [int(values[place_of[i]]) if i in place_of else None for i in order]

    jsd = jensen_shannon_distance(judged.human, judged.model, unit="nats")
    return {
        "name": system.name,
        "origin": system.origin,
        "caution": system.caution,
        "n_items": len(jsd),
        "mean_jsd": round(float(jsd.mean()), 6),
        "shares": [
            in_order_of_items(column) for column in _in_ten_thousandths(judged.model).T[:-1]
        ],
        "label": in_order_of_items(judged.predicted),
        "jsd": in_order_of_items(_in_ten_thousandths(jsd)),
    }


def _in_ten_thousandths(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    return np.rint(values * SCALE).astype(np.int64)

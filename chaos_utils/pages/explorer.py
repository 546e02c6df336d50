"""The data of the item explorer: every item's votes, predictions and distances, in columns.

Pages load them as packed scripts: numbers and texts apart, each with its own licence notice.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import numpy as np
import numpy.typing as npt

from chaos_utils.analyses import why
from chaos_utils.analyses.machine_crowds import judges_on
from chaos_utils.base.authorship import Citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.book import group_of
from chaos_utils.datasets import auxiliary_data, sources
from chaos_utils.datasets.auxiliary_data import LABELS, AuxiliaryData, judges_file
from chaos_utils.datasets.catalogue import bundled_datasets
from chaos_utils.datasets.dataset import Dataset, Release
from chaos_utils.datasets.splits import folds_of, item_groups
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.divergence import jensen_shannon_distance
from chaos_utils.plots.systems import SYSTEM_NAMES
from chaos_utils.publish import licences, scripts
from chaos_utils.report import citations
from chaos_utils.scoring.methods_sentences import page_facts
from chaos_utils.scoring.system import System

_SYSTEM_COLUMNS = ("shares", "label", "jsd")  # a value for each item
# The file that names the datasets which are not the book's, and has the reasons for disagreement.
OTHER_DATASETS = "others.js"
SCALE = 10_000  # shares and distances are whole ten-thousandths, which are short
# What an address of the explorer may ask for: see the page.
QUERY_NAMES = ("q", "dataset", "low", "high", "majority", "change", "old", "reason", "system",
               "verdict", "far", "other", "axes", "sort", "page", "pin")  # fmt: skip


def columns(
    votes: Votes, systems: Sequence[System], judges: AuxiliaryData | None = None
) -> dict[str, Any]:
    """Return a dataset's items as columns, in the order of their uids.

    Shares and distances are in units of 1 / `SCALE`; means of distances are not. In a system's
    columns, an item that it does not predict is None. A label is given by its index in ``labels``.

    Parameters
    ----------
    votes : Votes
    systems : sequence of System
    judges : AuxiliaryData, optional
        Language models' labels on some items of the released votes.

    Returns
    -------
    dict
        * ``name``, ``title``, ``short``, ``labels`` and their ``codes``
        * ``listed``: see `name_in_lists`
        * ``colours``: of the labels, each for light and dark pages
        * ``fields``: the titles of the texts; empty without texts
        * ``data``: the dataset's source, as a citation of an item names it
        * ``warning``: to readers; may be empty
        * ``uids``
        * ``votes``, ``old_votes``: a column of counts for each label; ``old_votes`` is None if
          there are none, or if only the old label was released
        * ``majority``, ``old_label``: a column of labels; ``old_label`` is None if there are none
        * ``ties_share``: whether labels that tie for most votes share an item, since the dataset
          states no majority
        * ``groups``: a column of numbers, equal for items that share a text
        * ``folds``: the digit of each item's fold, as a string
        * ``report``: what sentences on systems say of these votes, see
          `chaos_utils.scoring.methods_sentences.page_facts`
        * ``machines``: how many language models ``n`` labelled some of the items, whose they are
          (``source``), and a column for each label of how many chose it, None for the other items;
          None if there are no such labels
        * ``systems``: for each system ``name``, ``origin``, ``caution`` (see `System`); its
          ``title``, as figures spell it; ``n_items`` that it predicts, and ``mean_jsd`` over them;
          ``shares``, a column for each label but the last, whose share is the rest; ``label``, the
          predicted label; ``jsd``, the
          Jensen–Shannon distance from the votes in nats, None for a system that gives one label
    """
    dataset = votes.dataset
    order, groups = _rows_by_uid(votes), item_groups([votes])[0]
    return {
        "name": dataset.name,
        "title": dataset.title,
        "short": dataset.short,
        "listed": name_in_lists(dataset),
        "labels": list(dataset.labels),
        "codes": list(dataset.codes),
        "colours": [[label.colour.light, label.colour.dark] for label in dataset.classes],
        "fields": list(dataset.text_titles) if votes.texts else [],
        "data": str(group_of(dataset).source) or dataset.title,
        "warning": dataset.warning,
        "uids": [votes.uids[row] for row in order],
        "votes": votes.counts[order].T.tolist(),
        "old_votes": votes.old_votes[order].T.tolist() if votes.has_old_votes else None,
        "majority": votes.majority[order].tolist(),
        "ties_share": not dataset.states_majority,
        "groups": groups[order].tolist(),
        "folds": "".join(map(str, folds_of(groups)[order])),
        "report": page_facts(votes),
        "old_label": votes.old_label[order].tolist() if votes.has_old_labels else None,
        "machines": _machines(votes, order, judges),
        "systems": [_system_entry(system, votes, order) for system in systems],
    }


def _machines(
    votes: Votes, order: Sequence[int], judges: AuxiliaryData | None
) -> dict[str, Any] | None:
    """Return language models' labels as `columns` has them; `order` has the rows of the votes."""
    is_judged = judges and votes.is_released and judges_file(votes.dataset)
    if not (judges and is_judged and judges.available):
        return None
    crowd = judges_on(votes, judges)
    row_of_uid = {uid: row for row, uid in enumerate(crowd.votes.uids)}
    rows = [row_of_uid.get(votes.uids[i]) for i in order]
    counts = [[None if row is None else int(of[row]) for row in rows] for of in crowd.counts.T]
    release = sources.get(judges_file(votes.dataset)).release
    return {"n": crowd.n_members, "source": release.title, "votes": counts}


def split_systems(
    data: dict[str, Any], systems: Sequence[System], notice: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """Move the columns of some systems out of `columns`, to scripts that are loaded when needed.

    The systems are the models of Nie et al. (2020), nine on each dataset, and what was submitted.
    Instead of its columns,
    the entry of such a system has the names of a ``file`` and of the ``global`` that it sets.
    Return the data with these entries, and the scripts by their files' names.
    """
    entries, files = [], {}
    for number, (system, entry) in enumerate(zip(systems, data["systems"], strict=True)):
        if system.paper != "nie2020" and system.origin != "submitted":
            entries.append(entry)
            continue
        source = {
            "file": f"system-{data['name']}-{number}.js",
            "global": f"CHAOS_SYSTEM_{data['name'].replace('-', '_')}_{number}",
        }
        system_columns = {name: entry[name] for name in _SYSTEM_COLUMNS}
        files[source["file"]] = scripts.packed_script(source["global"], system_columns, notice)
        about = {name: value for name, value in entry.items() if name not in _SYSTEM_COLUMNS}
        entries.append(about | source)
    return data | {"systems": entries}, files


def texts(votes: Votes) -> list[list[str]]:
    """Return a dataset's texts, a column for each field, in the order of `columns`.

    The list is empty if the items have no texts.
    """
    if not votes.texts:
        return []
    return [
        [votes.texts[i][field].strip() for i in _rows_by_uid(votes)]
        for field in votes.dataset.text_fields
    ]


def reasons(votes: Votes) -> dict[str, Any]:
    """Return why people disagree on a dataset's items, by others' files where they are available.

    Returns
    -------
    dict
        * ``names`` of the reasons
        * ``labels``, and the ``statuses`` that VariErr may give a label, by its reasons' authors
        * ``items``, in the order of `columns`: None if nothing is known of an item, else the
          indices of its reasons; those of its labels' statuses, empty if unknown; and 1 if LiveNLI
          has people's explanations, else 0

        It is empty if no item has any of these, or if the votes are synthetic.
    """
    if votes.source.synthetic:
        return {}
    item_reasons = {(row.uid, row.reason) for row in _rows(auxiliary_data.TAXONOMY)}
    errors = {(row.uid, row.label): row.error for row in _rows(auxiliary_data.VARIERR)}
    validated = {uid for uid, _ in errors}
    explained = {row.uid for row in _rows(auxiliary_data.LIVENLI)}
    statuses = {False: "plausible", True: "error", None: "not given"}
    items: list[list[Any] | None] = []
    for uid in (votes.uids[i] for i in _rows_by_uid(votes)):
        indices = [k for k, code in enumerate(why.REASONS) if (uid, code) in item_reasons]
        status = [why.STATUSES.index(statuses[errors.get((uid, label))]) for label in LABELS]
        item = [indices, status if uid in validated else [], int(uid in explained)]
        items.append(item if any(item) else None)
    if not any(items):
        return {}
    return {
        "names": [*why.REASONS.values()],
        "labels": LABELS,
        "statuses": why.STATUSES,
        "items": items,
    }


def _rows(auxiliary: AuxiliaryData) -> Iterable[Any]:
    return auxiliary.read().itertuples() if auxiliary.available else ()


def reasons_script(book_votes: Sequence[Votes], chapter: str) -> str:
    """Return the script with the reasons for disagreement; empty if none are known.

    `chapter` is the address of the chapter about them, or empty.
    """
    by_dataset = {votes.dataset.name: found for votes in book_votes if (found := reasons(votes))}
    content = {"chapter": chapter, "datasets": by_dataset}
    notice = "Labels and reasons of VariErr, LiveNLI and a taxonomy: licences not stated."
    return scripts.packed_script("CHAOS_REASONS", content, notice) if by_dataset else ""


def other_datasets(book_votes: Sequence[Votes]) -> list[Dataset]:
    """Return the package's datasets that a reader's book may offer in addition to its own.

    All files of such a dataset are available, and its publisher allows copies. There are none if
    the book shows the sample, or a dataset that the reader chose.
    """
    if any(votes.source.synthetic or not votes.dataset.in_book for votes in book_votes):
        return []
    return [
        dataset
        for dataset in bundled_datasets()
        if not dataset.in_book and dataset.release.copies
        if all(sources.find(file.name) for file in dataset.files)
    ]


def name_in_lists(dataset: Dataset) -> str:
    """Return what lists to choose from call a dataset: ``CSC (conversational sarcasm)``.

    The title explains the short name unless it has one of its words, as ``ChaosNLI-SNLI`` has.
    """
    first, *_ = words = dataset.title.split()
    known = set(re.findall(r"\w+", dataset.short.casefold()))
    if known & set(re.findall(r"\w+", dataset.title.casefold())):
        return dataset.short
    words[0] = first.lower() if first.istitle() else first
    return f"{dataset.short} ({' '.join(words)})"


def other_datasets_script(datasets: Sequence[Dataset]) -> str:
    """Return the script that names datasets which are not the book's, and their files."""
    entries = [
        {
            "name": dataset.name,
            "listed": name_in_lists(dataset),
            "file": other_dataset_file(dataset),
            "global": _other_dataset_global(dataset),
        }
        for dataset in datasets
    ]
    return scripts.packed_script(
        "CHAOS_OTHERS", entries, "Datasets that are loaded when they are chosen."
    )


def other_dataset_file(dataset: Dataset) -> str:
    """Return the name of the script that holds a dataset which is not the book's."""
    return f"more-{dataset.name}.js"


def other_dataset_script(votes: Votes, systems: Sequence[System], paper: str) -> str:
    """Return the script that holds a dataset which is not the book's.

    It has no texts if their publisher states no licence for them. `paper` is the BibTeX entry of
    the dataset's paper.
    """
    # By the texts, which may be removed next.
    groups = item_groups([votes])[0][_rows_by_uid(votes)].tolist()
    votes = without_unlicensed_texts(votes)
    notice = (licences.notice if votes.texts else licences.votes_notice)([group_of(votes.dataset)])
    numbers = columns(votes, systems) | {"paper": paper, "notice": notice, "groups": groups}
    content = {"numbers": numbers, "texts": texts(votes)}
    return scripts.packed_script(_other_dataset_global(votes.dataset), content, notice)


def _other_dataset_global(dataset: Dataset) -> str:
    return f"CHAOS_MORE_{dataset.name.replace('-', '_')}"


def leave_out_other_datasets(site: Path) -> None:
    """Take the datasets that are not the book's, and the reasons, out of a site.

    The licences of some do not let others pass them on.
    """
    folder = site / "_static" / "explorer"
    for path in folder.glob("more-*.js"):
        path.unlink()
    if (folder / OTHER_DATASETS).is_file():
        write_text(folder / OTHER_DATASETS, other_datasets_script([]))


def without_unlicensed_texts(votes: Votes) -> Votes:
    """Return votes without their texts where the publisher states no licence for them."""
    has_licence = votes.dataset.release.licence != Release().licence
    return votes if has_licence else replace(votes, texts=())


def selection(address: str) -> str:
    """Return the query and fragment that lead to a selection of items, or to one item, encoded.

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

    The templates ``plain`` and ``bibtex`` have these gaps: ``<uid>``; ``<title>`` and ``<data>``,
    the title and source of the dataset; ``<place>``, the uid as part of an address; and, in
    ``bibtex``, ``<key>``. ``latex`` has the replacements of characters that LaTeX reserves. The
    title says if the items are the sample's (`synthetic`).
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


def _rows_by_uid(votes: Votes) -> list[int]:
    """Return the rows of votes in the order of their uids."""
    return sorted(range(len(votes)), key=lambda i: votes.uids[i])


def _system_entry(system: System, votes: Votes, order: Sequence[int]) -> dict[str, Any]:
    """Return a system's entry in `columns`; `order` has the rows of the votes."""
    batch = system.aligned_to(votes, in_sample=True)
    batch_rows = {row: index for index, row in enumerate(system.rows_in(votes).tolist())}

    def in_order(values: npt.NDArray[Any]) -> list[int | None]:
        """Return the values of a batch's items in the order of all items; None where missing."""
        return [int(values[batch_rows[row]]) if row in batch_rows else None for row in order]

    jsd = jensen_shannon_distance(batch.human, batch.model, unit="nats")
    return {
        "name": system.name,
        "title": SYSTEM_NAMES.get(system.name, system.name),
        "origin": system.origin,
        "caution": system.caution,
        "n_items": len(jsd),
        "mean_jsd": None if system.one_label else round(float(jsd.mean()), 6),
        "shares": [in_order(column) for column in _in_ten_thousandths(batch.model).T[:-1]],
        "label": in_order(batch.predicted),
        "jsd": [None] * len(order) if system.one_label else in_order(_in_ten_thousandths(jsd)),
    }


def _in_ten_thousandths(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    return np.rint(values * SCALE).astype(np.int64)

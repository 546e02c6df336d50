"""Splits of items into training, development and test: nested subsets, folds, contamination."""

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.datasets.corpora import Corpus, normalise
from chaos_utils.datasets.tasks import get_task
from chaos_utils.datasets.votes import Votes, frozen

Ints = npt.NDArray[np.int64]
FOLDS = 10  # number of folds of everything that is fitted on votes
_UIDS_SHOWN = 5
_IMAGE = re.compile(r"(.+\.(?:jpe?g|png))#")  # uids of captions begin with their image


def without(corpus: Corpus, excluded: Corpus) -> Corpus:
    """Return the items of a corpus whose uid is not in another, to keep ChaosNLI out of dev."""
    uids = set(excluded.uids)
    return corpus.take([i for i, uid in enumerate(corpus.uids) if uid not in uids])


def without_groups(corpus: Corpus, excluded: Corpus) -> Corpus:
    """Return the items of a corpus whose premise, or story, does not occur in another."""
    groups = set(excluded.groups())
    return corpus.take([i for i, group in enumerate(corpus.groups()) if group not in groups])


def refuse_contamination(train: Corpus, evaluated: Corpus, name: str = "ChaosNLI") -> None:
    """Fail when a training item's premise, or story, occurs among the items evaluated later."""
    groups = set(evaluated.groups())
    uids = [uid for uid, group in zip(train.uids, train.groups(), strict=True) if group in groups]
    if uids:
        texts = "stories" if train.task.kind == "stories" else "premises"
        first_uids = ", ".join(uids[:_UIDS_SHOWN]) + (" …" if uids[_UIDS_SHOWN:] else "")
        raise ChaosError(
            f"{len(uids)} training items have {texts} that occur in {name}.",
            found=first_uids,
            expected=f"no item of {name} among the {len(train):,} that are trained on",
            todo="remove them from the training file; to train on the votes that judge, out of "
            "fold, say so: train=chaosnli, or your file",
        )


def subset(corpus: Corpus, size: int, seed: int) -> Corpus:
    """Return a random, class-balanced part of a corpus; a larger part contains a smaller one.

    Items are shuffled once, and classes take turns: with the same seed, a smaller part is the
    beginning of a larger one. Where a class runs out, the other classes go on.
    """
    if not 0 < size <= len(corpus):
        raise ChaosError(
            "There is no training set of this size.",
            found=f"max_train_examples={size}",
            expected=f"1 to {len(corpus):,}, or 0 for all",
            todo="ask for fewer, or fetch the publishers' whole files with `chaos data fetch`",
        )
    order = np.random.default_rng([seed, 20]).permutation(len(corpus))
    gold = corpus.gold[order]
    round_number = np.empty(len(order), dtype=np.int64)  # in each round, every class has one item
    for label in range(corpus.targets.shape[1]):
        round_number[gold == label] = np.arange((gold == label).sum())
    return corpus.take(order[np.lexsort((gold, round_number))][:size])


def hold_out(corpus: Corpus, share: float, seed: int) -> tuple[Corpus, Corpus]:
    """Split a corpus by premise or story into the part that is kept and a random held-out share."""
    numbers: dict[tuple[str, ...], int] = {}
    groups = [numbers.setdefault(group, len(numbers)) for group in corpus.groups()]
    folds = grouped_folds(groups, max(2, round(1 / share)), seed)
    return corpus.take(np.flatnonzero(folds != 0)), corpus.take(np.flatnonzero(folds == 0))


def item_groups(all_votes: Sequence[Votes]) -> list[Ints]:
    """Return the group of each item: items that share a premise, a story or an image are in one.

    A story is its first and last sentence; else the premise is the first of the dataset's texts.
    An image is named by the beginning of the uid, as in ``4705552913.jpg#2r1n``. Items that are
    linked through others share a group too. Texts are compared without case and punctuation.
    """
    return list(_linked_groups(tuple(all_votes)))


@lru_cache(maxsize=4)  # each baseline and each system's worth needs the groups of the same votes
def _linked_groups(all_votes: tuple[Votes, ...]) -> list[Ints]:
    """Return the group of each item, where items with a shared key are linked."""
    # Union-find: SciPy's connected components take longer to import than items to link.
    first_with: dict[tuple[str, ...], int] = {}
    parent: list[int] = []

    def root(item: int) -> int:
        while parent[item] != item:
            parent[item] = item = parent[parent[item]]
        return item

    for item, keys in enumerate(keys for votes in all_votes for keys in _shared_keys(votes)):
        parent.append(item)
        for key in keys:
            low, high = sorted((root(item), root(first_with.setdefault(key, item))))
            parent[high] = low
    numbers: dict[int, int] = {}  # of groups, by their first item
    group = [numbers.setdefault(root(item), len(numbers)) for item in range(len(parent))]
    ends = np.cumsum([len(votes) for votes in all_votes])[:-1]
    return np.split(frozen(np.array(group, dtype=np.int64)), ends)


def has_several_groups(votes: Votes) -> bool:
    """Return whether anything can be fitted on other items: not all items are of one group."""
    return len(set(item_groups([votes])[0].tolist())) > 1


def one_text_error(votes: Votes) -> ChaosError:
    """Return the error for votes of one group, where nothing can be fitted on other items."""
    return ChaosError(
        "All items share one text, so that nothing can be fitted on other texts.",
        where=votes.source.name,
        found=f"{counted(len(votes), 'item')} in one group",
        expected="at least two different texts, for instance for the base rate",
        todo="begin `texts` in the dataset's YAML file with a text that tells items apart",
    )


def _shared_keys(votes: Votes) -> list[list[tuple[str, ...]]]:
    """Return the keys that link each item to others: its text, and its image."""
    fields, task = votes.dataset.text_fields, votes.dataset.task
    stories = bool(task) and get_task(task).kind == "stories"
    shared = (fields[0], fields[-1]) if stories else fields[:1]
    shared_keys: list[list[tuple[str, ...]]] = []
    for row, uid in enumerate(votes.uids):
        keys = []
        if votes.texts and shared:
            texts = [normalise(votes.texts[row][field]) for field in shared]
            keys += [("text", *texts)] if any(texts) else []  # no text is not the same text
        if image := _IMAGE.match(uid):
            keys.append(("image", image[1]))
        shared_keys.append(keys)
    return shared_keys


def grouped_folds(groups: npt.ArrayLike, n_folds: int, seed: int) -> Ints:
    """Return the fold of each item; items of one group are in one fold."""
    names, group = np.unique(np.asarray(groups), return_inverse=True)
    if not 2 <= n_folds <= len(names):
        raise ChaosError(
            "The items cannot be split into so many folds.",
            found=f"{n_folds} folds for {len(names)} different texts, stories or images",
            expected="at least 2 folds, with at least one of these in each",
            todo="take fewer folds (n_folds), or more items",
        )
    fold_of_group = np.random.default_rng([seed, 5]).permutation(len(names)) % n_folds
    return np.asarray(fold_of_group[group], dtype=np.int64)


def held_out_part(groups: npt.ArrayLike, share: float) -> Ints:
    """Return 0 for the items of a share that is held out, always the same, and -1 for the rest.

    Items of one group are on one side; at least one group is on each.
    """
    names, group, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    order = np.random.default_rng([0, 6]).permutation(len(names))
    n_held = int((np.cumsum(sizes[order]) <= share * len(group)).sum())
    held = order[: min(max(1, n_held), len(names) - 1)]
    return np.where(np.isin(group, held), 0, -1).astype(np.int64)


def folds_of(groups: npt.ArrayLike) -> Ints:
    """Return the fold of each item that all fits on votes share: ten folds by text, seed 0.

    There are as many folds as groups if there are fewer than ten groups.
    """
    group = np.asarray(groups)
    n_groups = len(set(group.tolist()))
    if n_groups < 2:
        return np.zeros(len(group), dtype=np.int64)
    return grouped_folds(group, min(FOLDS, n_groups), 0)

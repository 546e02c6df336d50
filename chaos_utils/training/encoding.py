"""Texts as token ids, and which of them stand together in a batch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.datasets.corpora import Corpus

Integers = npt.NDArray[np.int64]
_WINDOW = 50  # batches among which items are sorted by length


@dataclass(frozen=True, slots=True, eq=False)
class EncodedItems:
    """Items as token ids: one sequence for a pair, two for an αNLI item, which is two stories.

    `sequences` holds them item after item, and `lengths` the tokens in each item's longest one.
    `n_full` counts sequences of the greatest length allowed: all but a few of these were cut.
    """

    tokenizer: Any
    sequences: list[dict[str, list[int]]]
    per_item: int
    lengths: Integers
    n_full: int

    def __len__(self) -> int:
        return len(self.lengths)

    def batch(self, items: Sequence[int] | Integers) -> dict[str, Any]:
        """Return items, by position, as tensors: `per_item` rows each, padded to the longest."""
        chosen = [
            self.sequences[self.per_item * int(item) + k]
            for item in items
            for k in range(self.per_item)
        ]
        return dict(self.tokenizer.pad(chosen, return_tensors="pt"))


def encode(tokenizer: Any, corpus: Corpus, max_length: int) -> EncodedItems:
    """Tokenise a corpus.

    A pair is the premise and the hypothesis. A story of αNLI is its first observation with one of
    the hypotheses, and its second observation; each is scored by a single logit, so that every
    architecture can judge it. Of what has more than `max_length` tokens, the longer part is cut.
    """
    stories = corpus.task.kind == "stories"
    if stories:
        firsts = [f"{text[0]} {text[1 + k]}" for text in corpus.texts for k in (0, 1)]
        seconds = [text[3] for text in corpus.texts for _ in (0, 1)]
    else:
        firsts = [text[0] for text in corpus.texts]
        seconds = [text[1] for text in corpus.texts]
    per_item = 2 if stories else 1
    if not firsts:
        return EncodedItems(tokenizer, [], per_item, np.empty(0, dtype=np.int64), 0)
    coded = tokenizer(firsts, seconds, truncation=True, max_length=max_length)
    names = [name for name in tokenizer.model_input_names if name in coded]
    sequences = [
        dict(zip(names, values, strict=True))
        for values in zip(*(coded[name] for name in names), strict=True)
    ]
    sizes = np.array([len(one["input_ids"]) for one in sequences], dtype=np.int64)
    lengths = sizes.reshape(-1, per_item).max(axis=1)
    return EncodedItems(tokenizer, sequences, per_item, lengths, int((sizes >= max_length).sum()))


def plan_batches(lengths: Integers, batch_size: int, epochs: int, seed: int) -> list[Integers]:
    """Return the items of every step: a new seeded order each epoch, batches of like length.

    Items are shuffled, sorted by length within windows of fifty batches, cut into batches, and
    the batches shuffled: hardly any padding, and still a random order. The plan knows nothing of
    processes or memory, so it is the same on every machine.
    """
    rng = np.random.default_rng([seed, 8])
    plan: list[Integers] = []
    for _ in range(epochs):
        order = rng.permutation(len(lengths))
        window = batch_size * _WINDOW
        batches = []
        for start in range(0, len(order), window):
            part = order[start : start + window]
            part = part[np.argsort(lengths[part], kind="stable")]
            batches += [part[i : i + batch_size] for i in range(0, len(part), batch_size)]
        plan += [batches[i] for i in rng.permutation(len(batches))]
    return plan


def split_by_budget(
    items: Integers, lengths: Integers, per_item: int, token_budget: int
) -> Iterator[Integers]:
    """Cut a batch into parts of few enough padded tokens, in order; an item is never cut.

    `lengths` are those of the whole corpus, as in `EncodedItems`. One item may exceed the budget.
    """
    part: list[int] = []
    longest = 0
    for item in items:
        wider = max(longest, int(lengths[item]))
        if part and wider * per_item * (len(part) + 1) > token_budget:
            yield np.array(part, dtype=np.int64)
            part, wider = [], int(lengths[item])
        part.append(int(item))
        longest = wider
    if part:
        yield np.array(part, dtype=np.int64)

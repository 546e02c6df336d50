"""Texts as token ids, and which of them stand together in a batch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.corpora import Corpus

Integers = npt.NDArray[np.int64]
_WINDOW = 50  # batches among which items are sorted by length
_AT_ONCE = 20_000  # texts that are tokenised at once: more would be lists of numbers meanwhile


@dataclass(frozen=True, slots=True, eq=False)
class EncodedItems:
    """Items as token ids: one sequence for a pair, two for an αNLI item, which is two stories.

    `ids` holds the tokens of all sequences, item after item, in as few bytes as the vocabulary
    allows, and `types` their token types where the model has such; sequence number i reaches from
    ``starts[i]`` to ``starts[i + 1]``. `lengths` are the tokens in each item's longest sequence.
    `n_full` counts sequences of the greatest length allowed: all but a few of these were cut.
    """

    tokenizer: Any
    ids: npt.NDArray[np.unsignedinteger[Any]]
    types: npt.NDArray[np.uint8] | None
    starts: Integers
    per_item: int
    lengths: Integers
    n_full: int

    def __len__(self) -> int:
        return len(self.lengths)

    def batch(self, items: Sequence[int] | Integers, multiple: int = 1) -> dict[str, Any]:
        """Return items, by position, as tensors: `per_item` rows each, padded to the longest.

        The width is a multiple of `multiple`.
        """
        import torch

        firsts = self.per_item * np.asarray(items, dtype=np.int64)
        rows = (firsts[:, np.newaxis] + np.arange(self.per_item)).ravel()
        starts, ends = self.starts[rows], self.starts[rows + 1]
        width = -(-int((ends - starts).max()) // multiple) * multiple
        padded = {
            "input_ids": np.full((len(rows), width), self.tokenizer.pad_token_id, dtype=np.int64),
            "attention_mask": np.zeros((len(rows), width), dtype=np.int64),
        }
        if self.types is not None:
            filler = self.tokenizer.pad_token_type_id
            padded["token_type_ids"] = np.full((len(rows), width), filler, dtype=np.int64)
        on_left = self.tokenizer.padding_side == "left"
        for row, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            place = slice(width - (end - start), width) if on_left else slice(0, end - start)
            padded["input_ids"][row, place] = self.ids[start:end]
            padded["attention_mask"][row, place] = 1
            if self.types is not None:
                padded["token_type_ids"][row, place] = self.types[start:end]
        return {name: torch.from_numpy(values) for name, values in padded.items()}


def encode(tokenizer: Any, corpus: Corpus, max_length: int) -> EncodedItems:
    """Tokenise a corpus.

    A pair is the premise and the hypothesis; a text may also stand alone. A story of αNLI is its
    first observation with one of the hypotheses, and its second observation; each is scored by a
    single logit, so that every architecture can judge it. Of what has more than `max_length`
    tokens, the longer part is cut.
    """
    stories = corpus.task.kind == "stories"
    if stories:
        firsts = [f"{text[0]} {text[1 + k]}" for text in corpus.texts for k in (0, 1)]
        seconds = [text[3] for text in corpus.texts for _ in (0, 1)]
    else:
        firsts = [text[0] for text in corpus.texts]
        seconds = [text[1] for text in corpus.texts if len(text) > 1]
    if _glues_pairs(tokenizer):
        seconds = [f"\n{text}" for text in seconds]
    number = np.uint16 if len(tokenizer) <= np.iinfo(np.uint16).max else np.uint32
    has_types = "token_type_ids" in tokenizer.model_input_names
    ids, types, sizes = [np.empty(0, number)], [np.empty(0, np.uint8)], [np.empty(0, np.int64)]
    for start in range(0, len(firsts), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        coded = tokenizer(
            firsts[part], seconds[part] or None, truncation=True, max_length=max_length
        )
        ids.append(np.concatenate(coded["input_ids"]).astype(number))
        if has_types:
            types.append(np.concatenate(coded["token_type_ids"]).astype(np.uint8))
        sizes.append(np.array([len(one) for one in coded["input_ids"]], dtype=np.int64))
    of_all = np.concatenate(sizes)
    per_item = 2 if stories else 1
    return EncodedItems(
        tokenizer,
        np.concatenate(ids),
        np.concatenate(types) if has_types else None,
        np.concatenate([[0], np.cumsum(of_all)]).astype(np.int64),
        per_item,
        of_all.reshape(-1, per_item).max(axis=1),
        int((of_all >= max_length).sum()),
    )


def _glues_pairs(tokenizer: Any) -> bool:
    """Whether a tokenizer puts nothing between two texts, as those of some decoders do."""
    added = tokenizer.num_special_tokens_to_add
    return bool(added(pair=True) == added(pair=False))


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """Which items stand together in each step: a new seeded order each epoch, of like length.

    Items are shuffled, sorted by length within windows of fifty batches, cut into batches, and
    the batches shuffled: hardly any padding, and still a random order. The plan knows nothing of
    processes or memory, so it is the same on every machine.
    """

    lengths: Integers
    batch_size: int
    seed: int

    @property
    def steps_per_epoch(self) -> int:
        """How many steps an epoch has."""
        return -(-len(self.lengths) // self.batch_size)

    def epoch(self, number: int) -> Integers:
        """Return the items of every step of an epoch, of shape (steps, batch size).

        Every item stands there once. Of a last batch that is not full the rest is filled by its
        shortest item's complement, ``~item``, which is negative: it has no weight.
        """
        rng = np.random.default_rng([self.seed, 8, number])
        order = rng.permutation(len(self.lengths))
        window = self.batch_size * _WINDOW
        for start in range(0, len(order), window):
            part = order[start : start + window]
            order[start : start + window] = part[np.argsort(self.lengths[part], kind="stable")]
        size = self.batch_size * self.steps_per_epoch
        last = order[size - self.batch_size :]
        filled = np.concatenate([order, np.full(size - len(order), ~last[0])])
        return rng.permutation(filled.reshape(-1, self.batch_size))

    def seen(self, steps: int) -> int:
        """Return how many items, repeated ones too, so many steps from the first one see."""
        epochs, rest = divmod(steps, self.steps_per_epoch)
        more = int((self.epoch(epochs)[:rest] >= 0).sum()) if rest else 0
        return epochs * len(self.lengths) + more


def micro_batch_size(batch_size: int, processes: int, accumulation: int) -> int:
    """Return how many items a process takes at once, so that a step has as many as it should."""
    if batch_size % (processes * accumulation):
        raise ChaosError(
            "A step's items cannot be shared out evenly.",
            found=f"batch_size={batch_size} over processes × gradient_accumulation_steps = "
            f"{processes} × {accumulation}",
            expected=f"a product that divides {batch_size}",
            todo="take another number of processes or of gradient_accumulation_steps",
        )
    return batch_size // (processes * accumulation)

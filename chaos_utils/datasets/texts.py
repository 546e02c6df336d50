"""Which columns hold the texts of items, and which name the items: what tells them apart."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from chaos_utils.base.errors import counted
from chaos_utils.datasets.cells import as_number, dig
from chaos_utils.datasets.frame import Codes, Column, Frame
from chaos_utils.datasets.people import (
    LISTED,
    holds_names,
    is_about_people,
    look_like_people,
    names_annotators,
    names_in,
)
from chaos_utils.datasets.words import words_of

_LIKE_IDS = re.compile(r"(^|_)(ids?|uu?ids?|guid|hash|sha[0-9]*|ur[li]s?|links?|paths?|file_?names?"
                       r"|files?|images?|img|dates?|times?|timestamps?)$")  # fmt: skip
_PART = re.compile(r"(^|_)([a-z]{0,3}ids?|idx|index|nr|(doc_?)?no|doc(ument)?|turn|position)$")
_MAYBE_PART = re.compile(r"(^|_)pid$")  # a paragraph or a post, or who took part
# Cells that no one reads: addresses, files, digests, dates, identifiers, lists of numbers.
_MACHINE = re.compile(
    r"""\w+://\S+ | www\.\S+ | data:\S+ | @\w+ | [^@\s]+@[^@\s]+\.\w+
    | [^\n]+\.(jpe?g|png|gif|webp|bmp|svg|tiff?|mp[34]|wav|ogg|flac|m4a|avi|mov|webm|pdf|html?|txt
      |jsonl?|csv|xml)([#?]\S*)?
    | (?=[^\d]*\d)[A-Za-z0-9_.\#:/,;|+=~%*-]+
    | [0-9a-f]{1,4}(:[0-9a-f]{0,4}){2,7}
    | \d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(,?\s.*\d.*)?
    | ((mon|tue|wed|thu|fri|sat|sun)\w*,?\s)?(\d{1,2}\.?\s)?
      (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s\d{1,4}(,?\s.*\d.*)?
    | [\[({][-\d.,:;\s'"eE]*[\])}]""",
    re.VERBOSE | re.IGNORECASE,
)
_MOST = 0.8  # of the values
_OFTEN = 4  # items for each different text: instructions and groups repeat more often
_DIFFERENT, _SENTENCE = 20, 4  # texts, of so many words: documents that several items share
_MANY_ITEMS = 10
_WORD, _LONG = 5, 300  # characters: of a word in a script without blanks, of an address
_ROUNDED = re.compile(r"[0-9]([.,][0-9]+)?[eE]\+[0-9]{2,3}")
_EXACT, _DIGITS = 2**53, 15  # from which on numbers are rounded, and spreadsheets' digits
_FEW, _NEARLY_ALL = 3, 0.9


def why_no_text(
    name: str, cells: Column, items: Column, people: Collection[str], labels: Collection[str]
) -> str:
    """Say why a column is no text of the items; empty where it is one, which tells them apart.

    `people` are the annotators' identifiers, as far as they are known.
    """
    values = [value for value in cells.values if value is not None and str(value).strip()]
    if not values:
        return "empty"
    if names_annotators(name, values) or holds_names(values, people, name):
        return "names annotators"
    if is_about_people(name):
        return "about people"
    if look_like_people(values):
        return "like names or addresses of people"
    if all(as_number(value) is not None for value in values):
        return "numbers"
    if not all(isinstance(value, str) for value in values):
        return "no text"
    texts, there = cells.identifiers, items.codes >= 0
    is_machine = sum(map(_is_machine, texts.values))
    by_name = _LIKE_IDS.search(words_of(name, humps=True)) and not any(map(_is_wordy, texts.values))
    if is_machine >= _MOST * len(texts.values) or by_name:
        return "identifiers, addresses, files or dates"
    n_missing = len(np.unique(items.codes[there & (texts.codes < 0)]))
    if n_missing:
        return f"missing on {counted(n_missing, 'item')}"
    if not (texts.is_same_within(items).all() or one_spelling(cells).is_same_within(items).all()):
        return "differs within items"
    if set(texts.values) <= set(labels):
        return "labels"
    return why_not_apart(texts, texts.codes[items.first])


def one_spelling(cells: Column) -> Column:
    """Return texts; those that differ by white space or by their form in Unicode are the same."""
    texts = cells.identifiers
    names = [" ".join(unicodedata.normalize("NFC", text).split()) for text in texts.values]
    return texts if len(set(names)) == len(names) else texts.renamed(names)


def differs_in(
    name: str, cells: Column, items: Column, people: Collection[str], labels: Collection[str]
) -> list[str]:
    """Return the few items that have several texts in a column with one text of each other."""
    if cells.identifiers.is_same_within(items).all():
        return []
    texts = one_spelling(cells)
    is_same = texts.is_same_within(items)
    if is_same.all():
        return []
    several = np.bincount(items.codes[items.codes >= 0]) > 1
    differ = np.unique(items.codes[~is_same])
    if several.sum() < _FEW or 2 * len(differ) > several.sum():
        return []  # what people say of the items, or items that another column names
    if not any(map(_is_wordy, texts.values)):
        return []
    codes = np.where(is_same, texts.codes, texts.codes[np.append(items.first, 0)[items.codes]])
    if why_no_text(name, Column(codes, texts.values), items, people, labels):
        return []
    return [items.values[k] for k in differ.tolist()]


def why_not_apart(texts: Column, of_items: Codes) -> str:
    """Say why texts do not tell items apart: one for all, or for most, or a few that return."""
    n_items = len(of_items)
    times = np.bincount(of_items)
    n_texts = int((times > 0).sum())
    if n_texts == 1 and n_items > 1:
        return "the same on all items"
    if n_items >= _MANY_ITEMS and 2 * times.max() > n_items:
        return f"the same on {times.max():,} of {n_items:,} items"
    is_wordy = any(map(_is_wordy, texts.values))
    if 2 * n_texts > n_items or (is_wordy and _OFTEN * n_texts >= n_items):
        return ""
    words = [len(text.split()) for text in texts.values]
    if is_wordy and n_texts >= _DIFFERENT and np.median(words) >= _SENTENCE:
        return ""
    return f"{n_texts:,} different on {n_items:,} items"


def _is_machine(text: str) -> bool:
    """Return whether a text is for machines; a long one is where it has no blanks."""
    if len(text) > _LONG:
        return text.isascii() and not any(map(str.isspace, text))
    return _MACHINE.fullmatch(text) is not None


def _is_wordy(text: str) -> bool:
    """Return whether a text is more than a word, also in a script without blanks."""
    return " " in text or (len(text) > _WORD and not text.isascii())


def is_part_of_key(
    name: str, cells: Column, items: Column, people: Column | None, labels: Column
) -> bool:
    """Return whether a column tells apart what one item holds: several votes on each of its values.

    Such as a reply, where items are named by the post. Each value stands in one item, or numbers
    what is in it, and then `people` vote on an item again; what annotators say of an item, or are,
    is on single rows or on many items. Where each value has one of the `labels`, it is its name.
    """
    values, there = cells.identifiers, items.codes >= 0
    there &= values.codes >= 0
    is_person = names_annotators(name, cells.values) and not _MAYBE_PART.search(
        words_of(name, humps=True)
    )
    if not there.any() or is_person or is_about_people(name):
        return False
    pairs = items.codes[there].astype(np.int64) * len(values.values) + values.codes[there]
    kinds, times = np.unique(pairs, return_counts=True)
    n_values = len(np.unique(values.codes[there]))
    n_items = len(np.unique(items.codes[there]))
    several = np.bincount(kinds // len(values.values)) > 1
    if 2 * several.sum() < n_items or np.median(times) < 2 or (times > 1).mean() < _MOST:
        return False
    is_nested = len(kinds) == n_values
    if not _PART.search(words_of(name, humps=True)):
        return is_nested and not labels.is_same_within(values).all()
    if is_nested or people is None:
        return is_nested or len(np.unique(times)) == 1
    voters = items.codes[there].astype(np.int64) * (len(people.values) + 1) + people.codes[there]
    return bool(np.median(np.unique(voters, return_counts=True)[1]) >= 2)


def shorter_part(finer: str, names: Sequence[str], item: Sequence[str], frame: Frame) -> str:
    """Return the first column that tells apart what `finer` does, in shorter words; or itself.

    Such as the number of a batch, within which items are numbered anew.
    """
    texts = frame.column(finer).identifiers
    n_pairs = len(frame.key([*item, finer]).values)
    for name in names:
        cells = frame.column(name).identifiers
        if name == finer or len(cells.values) >= len(texts.values) or (cells.codes < 0).any():
            continue
        if names_annotators(name, cells.values) or is_about_people(name):
            continue
        both = frame.key([*item, name])
        if len(both.values) == n_pairs and texts.is_same_within(both).all():
            return name
    return finer


def is_rounded(value: Any) -> bool:
    """Return whether an identifier is a number that has lost digits, such as 1.82306E+18."""
    if isinstance(value, float):
        return abs(value) > _EXACT
    if not isinstance(value, str) or "+" not in value:
        return False
    return _ROUNDED.fullmatch(value.strip()) is not None


def are_rounded(identifiers: Sequence[str]) -> bool:
    """Return whether long identifiers end in zeros, as spreadsheets and JavaScript round them."""
    long = [one for one in identifiers if len(one) > _DIGITS and one.isdecimal()]
    ended = sum(one.endswith("0" if len(one) == _DIGITS + 1 else "00") for one in long)
    return len(long) >= _FEW and ended >= _NEARLY_ALL * len(long)


def annotators_of(frame: Frame, reader: Mapping[str, Any]) -> set[str]:
    """Return the identifiers of annotators that a file holds, by its reader as in a YAML file."""
    column = reader.get("annotator") or reader.get("annotators") or ""
    each = reader.get("each") or ()
    first = each if isinstance(each, str) else next(iter(each), "")
    if column == "key" and first:
        values: list[Any] = frame.column(first).values
    elif first and column not in frame.names and column.startswith(f"{first}."):
        inside = column.removeprefix(f"{first}.")
        who = inside.rpartition(".")[0]  # what else stands beside an identifier is theirs as well
        lists = [cell for cell in frame.column(first).values if isinstance(cell, list)]
        votes = [vote for votes in lists for vote in votes]
        values = [dig(vote, inside) for vote in votes]
        if who:
            people = [dig(vote, who) for vote in votes]
            values += [text for person in people if isinstance(person, dict)
                       for text in person.values() if isinstance(text, str)]  # fmt: skip
    else:
        values = frame.column(column).values if column else []
    separated = LISTED if reader.get("annotators") else ""
    return {part for value in values for part in names_in(value, separated)}

"""Recognition of columns that hold the texts of items, and of columns that name the items."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from chaos_utils.base.errors import counted
from chaos_utils.datasets.cells import as_number, dig
from chaos_utils.datasets.frame import Codes, Column, Frame
from chaos_utils.datasets.people import (
    NAME_SEPARATORS,
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
_MOST_ITEMS_PER_TEXT = 4  # on average: instructions and groups repeat more often
# So many different texts of so many words are documents, which several items may share.
_MANY_TEXTS, _SENTENCE = 20, 4
_MANY_ITEMS = 10
# Characters at most: of a word in a script without blanks, and of an address or a file's name.
_LONGEST_WORD, _LONGEST_ADDRESS = 5, 300
_ROUNDED = re.compile(r"[0-9]([.,][0-9]+)?[eE]\+[0-9]{2,3}")
_LARGEST_EXACT = 2**53  # larger whole numbers are rounded as floating-point numbers
_SPREADSHEET_DIGITS = 15  # further digits become zeros
_FEW, _NEARLY_ALL = 3, 0.9


def why_no_text(
    name: str, cells: Column, items: Column, people: Collection[str], labels: Collection[str]
) -> str:
    """Return why a column is no text that tells items apart; empty where it is one.

    `items` has the item of each row; `people` are the annotators' identifiers, if they are known.
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
    texts, has_item = cells.identifiers, items.codes >= 0
    n_machine = sum(map(_is_for_machines, texts.values))
    by_name = _LIKE_IDS.search(words_of(name, humps=True)) and not any(map(_is_wordy, texts.values))
    if n_machine >= _MOST * len(texts.values) or by_name:
        return "identifiers, addresses, files or dates"
    n_missing = len(np.unique(items.codes[has_item & (texts.codes < 0)]))
    if n_missing:
        return f"missing on {counted(n_missing, 'item')}"
    if not (texts.is_same_within(items).all() or one_spelling(cells).is_same_within(items).all()):
        return "differs within items"
    if set(texts.values) <= set(labels):
        return "labels"
    return why_not_apart(texts, texts.codes[items.first])


def one_spelling(cells: Column) -> Column:
    """Return a column of texts, where white space and Unicode forms make no difference."""
    texts = cells.identifiers
    names = [" ".join(unicodedata.normalize("NFC", text).split()) for text in texts.values]
    return texts if len(set(names)) == len(names) else texts.renamed(names)


def differs_in(
    name: str, cells: Column, items: Column, people: Collection[str], labels: Collection[str]
) -> list[str]:
    """Return the items with several texts, if they are few and all others have one text each.

    Empty where the column is no text of the items, or where many items have several texts.
    """
    if cells.identifiers.is_same_within(items).all():
        return []
    texts = one_spelling(cells)
    is_same = texts.is_same_within(items)
    if is_same.all():
        return []
    has_several_rows = np.bincount(items.codes[items.codes >= 0]) > 1
    differ = np.unique(items.codes[~is_same])
    if has_several_rows.sum() < _FEW or 2 * len(differ) > has_several_rows.sum():
        return []  # annotators' own texts about the items, or items that another column names
    if not any(map(_is_wordy, texts.values)):
        return []
    # Were the first text of each item its only one, would the column be a text of the items?
    codes = np.where(is_same, texts.codes, texts.codes[np.append(items.first, 0)[items.codes]])
    if why_no_text(name, Column(codes, texts.values), items, people, labels):
        return []
    return [items.values[k] for k in differ.tolist()]


def why_not_apart(texts: Column, item_texts: Codes) -> str:
    """Return why texts do not tell items apart; empty where they do.

    One text is on all items or on most, or few texts repeat. `item_texts` has the code of each
    item's text, shape (items,).
    """
    n_items = len(item_texts)
    if not n_items:
        return "on no item"
    n_items_of_text = np.bincount(item_texts)
    n_texts = int((n_items_of_text > 0).sum())
    if n_texts == 1 and n_items > 1:
        return "the same on all items"
    most = n_items_of_text.max()
    if n_items >= _MANY_ITEMS and 2 * most > n_items:
        return f"the same on {most:,} of {n_items:,} items"
    is_wordy = any(map(_is_wordy, texts.values))
    if 2 * n_texts > n_items or (is_wordy and _MOST_ITEMS_PER_TEXT * n_texts >= n_items):
        return ""
    words = [len(text.split()) for text in texts.values]
    if is_wordy and n_texts >= _MANY_TEXTS and np.median(words) >= _SENTENCE:
        return ""
    return f"{n_texts:,} different on {n_items:,} items"


def _is_for_machines(text: str) -> bool:
    """Return whether a text is not for people to read, such as an address or a digest.

    A long text counts if it has no blanks.
    """
    if len(text) > _LONGEST_ADDRESS:
        return text.isascii() and not any(map(str.isspace, text))
    return _MACHINE.fullmatch(text) is not None


def _is_wordy(text: str) -> bool:
    """Return whether a text has more than one word, also in a script without blanks."""
    return " " in text or (len(text) > _LONGEST_WORD and not text.isascii())


def is_part_of_key(
    name: str, cells: Column, items: Column, people: Column | None, labels: Column
) -> bool:
    """Return whether a column divides what is read as one item into several items.

    An example is the reply, where items are named by the post. There must be several votes on each
    value within an item; a column about annotators, or with their remarks, has single rows or the
    same values on many items. Either each value stands in one item only, and has more than one
    label; or the column is called a number within the item, and people vote repeatedly on an item.

    `items`, `people` and `labels` have the item, the annotator and the label of each row.
    """
    values = cells.identifiers
    is_filled = (items.codes >= 0) & (values.codes >= 0)
    is_person = names_annotators(name, cells.values) and not _MAYBE_PART.search(
        words_of(name, humps=True)
    )
    if not is_filled.any() or is_person or is_about_people(name):
        return False
    item, value = items.codes[is_filled].astype(np.int64), values.codes[is_filled]
    pairs, n_votes = np.unique(item * len(values.values) + value, return_counts=True)
    has_several_values = np.bincount(pairs // len(values.values)) > 1  # by item
    if 2 * has_several_values.sum() < len(np.unique(item)):
        return False
    if np.median(n_votes) < 2 or (n_votes > 1).mean() < _MOST:
        return False
    is_nested = len(pairs) == len(np.unique(value))  # each value stands in one item
    if not _PART.search(words_of(name, humps=True)):
        return is_nested and not labels.is_same_within(values).all()
    if is_nested:
        return True
    if people is None:
        return len(np.unique(n_votes)) == 1
    voters = item * (len(people.values) + 1) + people.codes[is_filled]  # on an item, as one number
    return bool(np.median(np.unique(voters, return_counts=True)[1]) >= 2)


def shorter_part(finer: str, names: Sequence[str], item: Sequence[str], frame: Frame) -> str:
    """Return the first column that divides items as `finer` does, with fewer values; or `finer`.

    An example is the number of a batch, if items are numbered from 0 in each batch.
    """
    texts = frame.column(finer).identifiers
    n_pairs = len(frame.key([*item, finer]).values)
    for name in names:
        cells = frame.column(name).identifiers
        if name == finer or len(cells.values) >= len(texts.values) or (cells.codes < 0).any():
            continue
        if names_annotators(name, cells.values) or is_about_people(name):
            continue
        key = frame.key([*item, name])
        if len(key.values) == n_pairs and texts.is_same_within(key).all():
            return name
    return finer


def is_rounded(value: Any) -> bool:
    """Return whether an identifier is a number that has lost digits, such as 1.82306E+18."""
    if isinstance(value, float):
        return abs(value) > _LARGEST_EXACT
    if not isinstance(value, str) or "+" not in value:
        return False
    return _ROUNDED.fullmatch(value.strip()) is not None


def are_rounded(identifiers: Sequence[str]) -> bool:
    """Return whether long identifiers end in zeros, as spreadsheets and JavaScript round them."""
    long = [name for name in identifiers if name.isdecimal() and len(name) > _SPREADSHEET_DIGITS]
    one_more = _SPREADSHEET_DIGITS + 1
    n_rounded = sum(name.endswith("0" if len(name) == one_more else "00") for name in long)
    return len(long) >= _FEW and n_rounded >= _NEARLY_ALL * len(long)


def annotators_of(frame: Frame, reader: Mapping[str, Any]) -> set[str]:
    """Return all names of annotators in a file; `reader` is as in a dataset's YAML file.

    Where an annotator is an object, all its texts are names.
    """
    column = reader.get("annotator") or reader.get("annotators") or ""
    each = reader.get("each") or ()
    first = each if isinstance(each, str) else next(iter(each), "")
    if column == "key" and first:
        values: list[Any] = frame.column(first).values
    elif first and column not in frame.names and column.startswith(f"{first}."):
        inside = column.removeprefix(f"{first}.")
        person_path = inside.rpartition(".")[0]  # of the annotator's object; empty for none
        lists = [cell for cell in frame.column(first).values if isinstance(cell, list)]
        votes = [vote for votes in lists for vote in votes]
        values = [dig(vote, inside) for vote in votes]
        if person_path:
            people = [dig(vote, person_path) for vote in votes]
            values += [text for person in people if isinstance(person, dict)
                       for text in person.values() if isinstance(text, str)]  # fmt: skip
    else:
        values = frame.column(column).values if column else []
    separators = NAME_SEPARATORS if reader.get("annotators") else ""
    return {part for value in values for part in names_in(value, separators)}

"""The numbers in the prose: each is taken from a published table, none is typed.

``{value}`tbl-main-results dataset=mnli system=chance jsd .3f``` names a figure or table, the row
(``column=key``, ``column=one|other`` for any of several; quoted where it has blanks), the column
and a Python format. Where several rows fit, ``min:``, ``max:``, ``mean:``, ``sum:`` or ``count:``
before the column says which number is meant.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from chaos_utils.base.numbers import true_minus
from chaos_utils.report.manifests import Manifest

Manifests = Mapping[str, Manifest]
_FORMAT = re.compile(r"[+]?,?(\.\d+)?[dfg%]?")
_AGGREGATES = ("min", "max", "mean", "sum", "count")
_ROLE = re.compile(r"\{value\}`([^`]+)`")
_ITEM = re.compile(r"\n(?=\s*(?:[-*]|\d+\.) )")


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a number: the table's id, the values that its row has, and its column.

    `where` has the accepted values of each of some columns. If several rows fit, the number is an
    `aggregate` of the column, such as ``max``; else, `aggregate` is empty.
    """

    table: str
    where: Mapping[str, tuple[str, ...]]
    aggregate: str
    column: str

    def rows(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of the table that fit; ValueError if it lacks a column."""
        for name, keys in self.where.items():
            rows = rows[_is_any_of(_column(rows, name), keys)]
        _column(rows, self.column)
        return rows


def parse_address(text: str) -> Address:
    """Read ``<table> <column>=<value>|<value> … <column>``, with or without an aggregate."""
    return _address_of_words(shlex.split(text))


def _address_of_words(words: list[str]) -> Address:
    if len(words) < 2:
        raise ValueError("expected an id and a column")
    table, *keys, column = words
    conditions = {}
    for key in keys:
        name, equals, alternatives = key.partition("=")
        if not equals:
            raise ValueError(f"expected a condition such as dataset=mnli, found {key!r}")
        conditions[name] = tuple(alternatives.split("|"))
    aggregate, colon, name = column.partition(":")
    if colon and aggregate not in _AGGREGATES:
        raise ValueError(f"no such aggregate: {aggregate}, one of {', '.join(_AGGREGATES)}")
    return Address(table, conditions, aggregate if colon else "", name if colon else column)


def is_released(manifests: Manifests) -> bool:
    """Return whether all figures and tables show the released data, which the prose is about."""
    return not any(
        manifest.synthetic or manifest.parameters.get("data", "auto") not in ("auto", "released")
        for manifest in manifests.values()
    )


def value(manifests: Manifests, text: str) -> str:
    """Return the number that the text of a ``{value}`` names, formatted.

    Parameters
    ----------
    manifests : mapping
        The figures and tables of the chapters, by id.
    text : str
        ``<id> <column>=<value> … <column> <format>``: the id of a figure or table; conditions that
        one row of its data meets; the column; and a format of Python's, such as ``.2f`` or ``d``.
        With an aggregate before the column, as in ``max:value``, several rows may meet them.

    Returns
    -------
    str
        With a true minus sign; without a sign if it shows as 0.

    Raises
    ------
    ValueError
        If no figure or table has that id, its data lacks a column, or not exactly one row fits.
    """
    words = shlex.split(text)
    format = words.pop() if len(words) > 2 and _FORMAT.fullmatch(words[-1]) else ""
    address = _address_of_words(words)
    if address.table not in manifests:
        raise ValueError(f"no notebook made {address.table}")
    column = address.rows(manifests[address.table].rows)[address.column]
    if address.aggregate:
        number = getattr(column, address.aggregate)()
    elif len(column) == 1:
        number = column.iloc[0]
    else:
        raise ValueError(f"{len(column)} rows fit, expected 1")
    if pd.isna(number):
        raise ValueError(f"{address.column} has no value there")
    if isinstance(number, str):
        return f"{number:{format}}"
    return true_minus(f"{number:{format}}")


def _column(rows: pd.DataFrame, name: str) -> "pd.Series[Any]":
    if name not in rows:
        raise ValueError(f"no column {name!r}, only {', '.join(map(str, rows))}")
    return rows[name]


def _is_any_of(column: "pd.Series[Any]", keys: tuple[str, ...]) -> "pd.Series[bool]":
    """Return which rows have one of the keys; numbers are compared as numbers."""
    if pd.api.types.is_bool_dtype(column):
        return column.isin([word.lower() == "true" for word in keys])
    if pd.api.types.is_numeric_dtype(column):
        return column.isin(map(float, keys))
    return column.isin(keys)


def fill_values(manifests: Manifests, markdown: str) -> str:
    """Put the numbers that Markdown names into it, for a page outside the book.

    A paragraph or list item is left out if the run did not publish its numbers, or published them
    for other data than the prose is about.
    """
    blocks = re.split(r"\n{2,}", markdown)
    filled = ("\n".join(filter(None, _parts(manifests, block))) for block in blocks)
    return "\n\n".join(filter(None, filled))


def _parts(manifests: Manifests, block: str) -> list[str]:
    """Return a paragraph, or the items of a list, with its numbers; without those left out."""

    def fill(role: re.Match[str]) -> str:
        return value(manifests, role[1])

    parts = []
    for part in _ITEM.split(block):
        if _ROLE.search(part) and not is_released(manifests):
            continue
        try:
            parts.append(_ROLE.sub(fill, part))
        except ValueError:
            continue
    return parts

"""Parsers of cells: numbers, shares, identifiers, JSON; a cell of another kind gives None."""

import json
import re
from ast import literal_eval
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from math import inf
from typing import Any

from chaos_utils.datasets.faults import shorten

_TOO_LARGE = 10**300  # whole numbers from here on do not fit an array
_DEEPEST = 100  # nested objects and lists; the functions that read them are recursive
_MOST_QUOTED = 12  # characters
MOST_VOTES = 10**9  # for one label of one item; more is a mistake, or overflows
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_WHOLE = re.compile(r"[0-9]{1,18}(\.0*)?")
_NUMBER = re.compile(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
# What Python and NumPy write, such as ['a', 'b'], (1, 2), [0 1 1] and Counter({'a': 2}), in pieces.
_ESCAPE = r"""\\[\\'"abfnrtvxuUN0-7]"""
_PIECE = re.compile(
    rf"""\s*('(?:[^'\\]|{_ESCAPE})*'|"(?:[^"\\]|{_ESCAPE})*"|[][(){{}},:]|[^]\s,:'"[(){{}}]+)"""
)
_CALL = re.compile(r"array|tensor|Counter|(np|numpy|torch)\.\w+")
_MARKS = re.compile(r"""['"\[\](){}]""")
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_LITERAL = re.compile(
    r"-?(0|[1-9]\d{0,17})|[-+]?(\d{1,18}\.\d{0,40}|\.\d{1,40}|\d{1,18}(?=[eE]))([eE][-+]?\d{1,3})?",
    re.ASCII,
)
_TRUTH = {"True": True, "False": False, "true": True, "false": False, "None": None, "nan": None}
_JSON_MESSAGES = {  # in the user's words, by Python's
    "Unterminated string starting at": "a string is never closed",
    "Expecting property name enclosed in double quotes": "a name in double quotes is missing",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting value": "a value is missing",
    "Extra data": "something follows its end; are two files joined?",
}


def parse(text: str) -> Any:
    """Return the value of a JSON text; a ValueError says what was found and expected.

    A key that occurs twice in an object is also a ValueError, as are a number that is too long,
    nesting that is too deep, and half of a surrogate pair.
    """
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as fault:
        # A line of votes may name the annotator: only a text too short for a name is quoted.
        found = f"found {shorten(text)}; " if len(text) <= _MOST_QUOTED else ""
        where = f"column {fault.colno}: " if fault.lineno == 1 else f"JSON line {fault.lineno}: "
        raise ValueError(
            f"{where}{found}expected JSON ({_JSON_MESSAGES.get(fault.msg, fault.msg)})"
        ) from fault
    except RecursionError as fault:
        raise NestedError from fault
    except _DoubledKeyError as fault:
        raise ValueError(
            f"found the key {shorten(fault.args[0])} twice in one object; expected it once"
        ) from fault
    except ValueError as fault:  # an integer of thousands of digits
        raise ValueError("expected JSON (a number is too long)") from fault
    if text.count("[") + text.count("{") > _DEEPEST and not _is_shallow(value):
        raise NestedError
    if _SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as fault:
            raise ValueError("found half of a surrogate pair; expected Unicode text") from fault
    return value


def _is_shallow(value: Any) -> bool:
    """Return whether objects and lists are nested at most so many levels deep."""
    level = [value]
    for _ in range(_DEEPEST):
        nested = [part for part in level if isinstance(part, dict | list)]
        if not nested:
            return True
        level = [*chain.from_iterable(part.values() if isinstance(part, dict) else part
                                      for part in nested)]  # fmt: skip
    return not any(isinstance(part, dict | list) for part in level)


class NestedError(ValueError):
    """JSON is nested too deeply."""

    def __init__(self) -> None:
        super().__init__("expected JSON (it is nested too deeply)")


class _DoubledKeyError(ValueError):
    pass


def _with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object's pairs as a dictionary; a key that occurs twice is an error."""
    content = dict(pairs)
    if len(content) < len(pairs):
        number = Counter(key for key, _ in pairs)
        raise _DoubledKeyError(next(key for key in number if number[key] > 1))
    return content


_DECODER = json.JSONDecoder(object_pairs_hook=_with_unique_keys)


def dig(value: Any, path: str) -> Any:
    """Return the value at a dotted path of keys and positions, or None.

    A key may contain dots: the longest key that fits is taken. On the way, a list of one element
    stands for that element, and a text that spells a list or an object for that list or object.
    """
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = as_list(value)
    if isinstance(value, str) and value.endswith(("}", "})")):
        value = as_object(value)
    if isinstance(value, list):
        position, _, path_below = path.partition(".")
        if position.isdecimal() and len(position) < 9:
            value = value[int(position)] if int(position) < len(value) else None
            return dig(value, path_below) if path_below else value
        return dig(value[0], path) if len(value) == 1 else None
    if not isinstance(value, Mapping):
        return None
    end = len(path)
    while end > 0:
        if path[:end] in value:
            below = value[path[:end]]
            return dig(below, path[end + 1 :]) if end < len(path) else below
        end = path.rfind(".", 0, end)
    return None


def spelled(text: str) -> list[Any] | dict[Any, Any] | None:
    """Return the list or object that a text spells, in JSON or as Python or NumPy write it.

    None where the text spells neither.
    """
    text = text.strip()
    if text.startswith(("[", "{")):
        with suppress(ValueError):
            found: list[Any] | dict[str, Any] = parse(text)
            return found
    elif not text.endswith(")"):  # a tuple, or a call such as Counter({'a': 2})
        return None
    pieces, end = [], 0
    while piece := _PIECE.match(text, end):
        pieces.append(piece[1])
        end = piece.end()
    if end < len(text):  # a quotation mark that is never closed
        return None
    with suppress(ValueError, SyntaxError, IndexError, RecursionError):
        value, next_piece = _value(pieces, 0)
        return value if next_piece == len(pieces) and isinstance(value, list | dict) else None
    return None


def _value(pieces: Sequence[str], k: int) -> tuple[Any, int]:
    """Return the value that begins at piece `k`, and the index of the piece after the value.

    A piece that begins no value is a ValueError.
    """
    piece = pieces[k]
    if piece[0] in "'\"":
        return literal_eval(piece), k + 1
    if _CALL.fullmatch(piece) and pieces[k + 1] == "(":  # np.int64(1), array([0., 1.], dtype=…)
        value, k = _value(pieces, k + 2)
        return value, pieces.index(")", k) + 1
    if piece in _CLOSING:
        return _values(pieces, k + 1, _CLOSING[piece])
    value = _literal(piece)
    if isinstance(value, str):
        raise ValueError(piece)
    return value, k + 1


def _values(pieces: Sequence[str], k: int, closing: str) -> tuple[list[Any] | dict[Any, Any], int]:
    """Return a list or an object whose first element is piece `k`, and the index after its end."""
    keys: list[Any] = []
    values: list[Any] = []
    n_commas = 0
    while pieces[k] != closing:
        value, k = _value(pieces, k)
        if closing == "}":
            if pieces[k] != ":" or isinstance(value, list | dict):
                raise ValueError(pieces[k])
            keys.append(value)
            value, k = _value(pieces, k + 1)
        values.append(value)
        n_commas += pieces[k] == ","
        k += pieces[k] == ","
    by_key = dict(zip(keys, values, strict=False))
    if n_commas not in (0, len(values) - 1, len(values)) or len(by_key) < len(keys):
        raise ValueError(closing)
    return (by_key if closing == "}" else values), k + 1


def as_list(value: object) -> list[Any] | None:
    """Return the list that a cell holds: in JSON, as Python writes it, or separated by commas.

    Words without quotation marks may stand in square brackets. None where the cell is no list.
    """
    if not isinstance(value, str):
        return value if isinstance(value, list) else None
    text = value.strip()
    found = spelled(text)
    if isinstance(found, list):
        return found
    if text.startswith("["):
        inside = text[1:].removesuffix("]").strip().removesuffix(",")
        are_words = text.endswith("]") and "," in text and not _MARKS.search(inside)
        return [_literal(part.strip()) for part in inside.split(",")] if are_words else None
    return [part.strip() for part in text.split(",") if part.strip()]


def as_object(value: object) -> dict[str, Any] | None:
    """Return the object that a cell holds; None where it holds none.

    A text, in JSON or as Python writes it, counts only if all values in the object are numbers.
    """
    if not isinstance(value, str):
        return value if isinstance(value, dict) else None
    found = spelled(value)
    if not isinstance(found, dict):
        return None
    are_numbers = all(type(n) in (int, float) and 0 <= n < inf for n in found.values())
    return {str(name): n for name, n in found.items()} if are_numbers else None


def _literal(word: str) -> Any:
    """Return the value of a word without quotation marks: a number, a truth value or a text."""
    if _LITERAL.fullmatch(word):
        return int(word) if word.lstrip("-").isdecimal() else float(word)
    return _TRUTH.get(word, word)


def unwrap_single(value: object) -> object:
    """Return the element of a list that has only one; any other value as it is."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def as_count(value: object) -> int | None:
    """Return a number of votes, from 0 to `MOST_VOTES`; None for any other value."""
    if isinstance(value, str):
        value = float(value) if _WHOLE.fullmatch(value.strip()) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= MOST_VOTES or value != int(value):
        return None
    return int(value)


def as_number(value: object) -> float | int | None:
    """Return a number; None where the value is no number, or has hundreds of digits."""
    if isinstance(value, str):
        text = value.strip()
        value = float(text) if _NUMBER.fullmatch(text.removeprefix("-")) else None
        value = None if value in (inf, -inf) else value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, float) or abs(value) < _TOO_LARGE else None


def as_time(value: object) -> float | None:
    """Return a time in seconds, or the number that it is; None where the value is no time.

    Texts are dates and times as ISO 8601 writes them, in UTC where they name no other zone.
    """
    number = as_number(value)
    if number is not None or not isinstance(value, str):
        return number
    with suppress(ValueError):
        time = datetime.fromisoformat(value.strip())
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    return None


def as_share(value: object) -> float | None:
    """Return a share, from 0 to 1; None for any other value."""
    number = as_number(value)
    return float(number) if number is not None and 0 <= number <= 1 else None


def as_identifier(value: object) -> str | None:
    """Return an identifier, or a label, as text; None where the value is neither.

    Truth values are ``true`` and ``false``, as JSON spells them.
    """
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, int) else None

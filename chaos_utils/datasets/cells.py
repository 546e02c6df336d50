"""What a cell of a file holds: a number, a share, an identifier, JSON; or nothing of the kind."""

import json
import re
from ast import literal_eval
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import inf
from typing import Any

from chaos_utils.datasets.faults import shorten

_BEYOND = 10**300  # whole numbers from here on have no place in an array
_DEEPEST = 100  # objects and lists within each other; what looks into them calls itself
_QUOTED = 12  # characters
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
_IN_WORDS = {
    "Unterminated string starting at": "a string is never closed",
    "Expecting property name enclosed in double quotes": "a name in double quotes is missing",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting value": "a value is missing",
    "Extra data": "something follows its end; are two files joined?",
}


def parse(text: str) -> Any:
    """Return the value of a JSON text; a ValueError says what was found and expected.

    A key that is twice in an object, and what nothing can use, are such errors too.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as fault:
        # A line of votes may name the annotator: only what is too short for that is quoted.
        found = f"found {shorten(text)}; " if len(text) <= _QUOTED else ""
        at = f"column {fault.colno}: " if fault.lineno == 1 else f"JSON line {fault.lineno}: "
        raise ValueError(
            f"{at}{found}expected JSON ({_IN_WORDS.get(fault.msg, fault.msg)})"
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


def _is_shallow(value: Any, deepest: int = _DEEPEST) -> bool:
    if not isinstance(value, dict | list):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return deepest > 0 and all(_is_shallow(part, deepest - 1) for part in inside)


class NestedError(ValueError):
    """JSON is nested too deeply."""

    def __init__(self) -> None:
        super().__init__("expected JSON (it is nested too deeply)")


class _DoubledKeyError(ValueError):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        number = Counter(key for key, _ in pairs)
        raise _DoubledKeyError(next(key for key in number if number[key] > 1))
    return content


def dig(value: Any, path: str) -> Any:
    """Return what stands at a dotted path of keys and positions, or None.

    A key may have dots of its own; a list of one element stands for that element.
    """
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = as_list(value)
    if isinstance(value, str) and value.endswith(("}", "})")):
        value = as_object(value)
    if isinstance(value, list):
        first, _, rest = path.partition(".")
        if first.isdecimal() and len(first) < 9:
            value = value[int(first)] if int(first) < len(value) else None
            return dig(value, rest) if rest else value
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
    """Return the list or object that a text holds, in JSON or as Python or NumPy write it.

    None where it holds neither.
    """
    text = text.strip()
    if not text.startswith(("[", "{")):
        if not text.endswith(")"):
            return None
    else:
        with suppress(ValueError):
            found: list[Any] | dict[str, Any] = parse(text)
            return found
    pieces, end = [], 0
    while piece := _PIECE.match(text, end):
        pieces.append(piece[1])
        end = piece.end()
    if end < len(text):  # a quotation mark that is never closed
        return None
    with suppress(ValueError, SyntaxError, IndexError, RecursionError):
        value, end = _value(pieces, 0)
        return value if end == len(pieces) and isinstance(value, list | dict) else None
    return None


def _value(pieces: Sequence[str], k: int) -> tuple[Any, int]:
    """Return the value that begins at a piece, and where the next begins; else a ValueError."""
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
    """Return a list or an object from its first element on, and where the next value begins."""
    keys: list[Any] = []
    found: list[Any] = []
    n_commas = 0
    while pieces[k] != closing:
        value, k = _value(pieces, k)
        if closing == "}":
            if pieces[k] != ":" or isinstance(value, list | dict):
                raise ValueError(pieces[k])
            keys.append(value)
            value, k = _value(pieces, k + 1)
        found.append(value)
        n_commas += pieces[k] == ","
        k += pieces[k] == ","
    by_key = dict(zip(keys, found, strict=False))
    if n_commas not in (0, len(found) - 1, len(found)) or len(by_key) < len(keys):
        raise ValueError(closing)
    return (by_key if closing == "}" else found), k + 1


def as_list(value: object) -> list[Any] | None:
    """Return a list that a cell holds: in JSON, as Python writes it, or separated by commas.

    Words without quotation marks may stand in square brackets. None where it is none.
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
    """Return an object that a cell holds; of texts, those with numbers, in JSON or Python's way.

    None where it is none.
    """
    if not isinstance(value, str):
        return value if isinstance(value, dict) else None
    found = spelled(value)
    if not isinstance(found, dict):
        return None
    are_numbers = all(type(one) in (int, float) and 0 <= one < inf for one in found.values())
    return {str(name): n for name, n in found.items()} if are_numbers else None


def _literal(word: str) -> Any:
    """Return what a word without quotation marks stands for: a number, a truth value, a text."""
    if _LITERAL.fullmatch(word):
        return int(word) if word.lstrip("-").isdecimal() else float(word)
    return _TRUTH.get(word, word)


def unwrap_single(value: object) -> object:
    """Return the element of a list of one; anything else as it is."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def as_count(value: object) -> int | None:
    """Return a number of votes, from 0 to `MOST_VOTES`; None where the value is none."""
    if isinstance(value, str):
        value = float(value) if _WHOLE.fullmatch(value.strip()) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= MOST_VOTES or value != int(value):
        return None
    return int(value)


def as_number(value: object) -> float | int | None:
    """Return a number; None where the value is none, or is written with hundreds of digits."""
    if isinstance(value, str):
        text = value.strip()
        value = float(text) if _NUMBER.fullmatch(text.removeprefix("-")) else None
        value = None if value in (inf, -inf) else value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, float) or abs(value) < _BEYOND else None


def as_share(value: object) -> float | None:
    """Return a share, from 0 to 1; None where the value is none."""
    found = as_number(value)
    return float(found) if found is not None and 0 <= found <= 1 else None


def as_identifier(value: object) -> str | None:
    """Return an identifier, or a label, as text; None where the value is none.

    Truth values are ``true`` and ``false``, as JSON spells them.
    """
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, int) else None

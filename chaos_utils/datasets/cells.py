"""What a cell of a file holds: a number, a share, an identifier, JSON; or nothing of the kind."""

import json
import re
from ast import literal_eval
from collections import Counter
from collections.abc import Mapping
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
# Lists as Python and NumPy write them, such as ['a', 'b'], (1, 2), [0 1 1] and array([0., 1.]).
_PYTHON = re.compile(r"\((.*)\)|(?:array\(\s*)?\[(.*)\](?:,\s*dtype=[\w<'.]+)?\)?", re.DOTALL)
_ELEMENT = re.compile(
    r"""\s*(?:np\.\w+\()?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s,'"\[\](){}]+)\)?"""
    r"""(?:\s*,|(?=\s)|$)""",
    re.DOTALL,
)
_LITERAL = re.compile(
    r"-?(0|[1-9]\d{0,17})|-?\d{0,18}(\d\.|\.\d)\d{0,18}(e[-+]?\d{1,2})?", re.ASCII
)
_COUNTS = re.compile(r"(?:Counter\()?\{(.*)\}\)?", re.DOTALL)
_COUNT = re.compile(
    r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|-?\d{1,18})\s*:\s*(\d{1,18}(?:\.\d{1,18})?)"""
    r"""\s*(?:,|$)""",
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


def _is_shallow(value: Any) -> bool:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(_DEEPEST):
        level = [
            one for above in level for one in (above.values() if isinstance(above, dict) else above)
            if isinstance(one, dict | list)
        ]  # fmt: skip
        if not level:
            return True
    return False


class NestedError(ValueError):
    """JSON is nested too deeply."""

    def __init__(self) -> None:
        super().__init__("expected JSON (it is nested too deeply)")


class _DoubledKeyError(ValueError):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        number = Counter(key for key, _ in pairs)
        raise _DoubledKeyError(next(key for key in number if number[key] > 1))
    return made


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


def as_list(value: object) -> list[Any] | None:
    """Return a list that a cell holds: in JSON, as Python writes it, or separated by commas.

    None where it is none.
    """
    if not isinstance(value, str):
        return value if isinstance(value, list) else None
    text = value.strip()
    if text.startswith("["):
        with suppress(ValueError):
            found = parse(text)
            return found if isinstance(found, list) else None
    in_python = _python_list(text)
    if in_python is not None or text.startswith("["):
        return in_python
    return [part.strip() for part in text.split(",") if part.strip()]


def _python_list(text: str) -> list[Any] | None:
    """Return a list that Python or NumPy wrote; None for any other text.

    Words without quotation marks are separated by commas, and stand in square brackets.
    """
    whole = _PYTHON.fullmatch(text)
    if whole is None:
        return None
    inside = (whole[1] or whole[2] or "").rstrip()
    found: list[Any] = []
    end = 0
    if whole[1] is None and "," in inside and not re.search(r"""['"\[\](){}]""", inside):
        return [_literal(part.strip()) for part in inside.removesuffix(",").split(",")]
    while end < len(inside):
        element = _ELEMENT.match(inside, end)
        if element is None:
            return None
        end = element.end()
        try:
            is_text = element[1][0] in "'\""
            found.append(literal_eval(element[1]) if is_text else _literal(element[1]))
        except (ValueError, SyntaxError):  # an escape that is none
            return None
        if not is_text and isinstance(found[-1], str):
            return None
    return found


def as_object(value: object) -> dict[str, Any] | None:
    """Return an object that a cell holds; of texts, those with numbers, in JSON or Python's way.

    None where it is none.
    """
    if not isinstance(value, str):
        return value if isinstance(value, dict) else None
    whole = _COUNTS.fullmatch(value.strip())
    found: dict[str, Any] = {}
    inside, end = (whole[1].rstrip() if whole else ""), 0
    while end < len(inside):
        pair = _COUNT.match(inside, end)
        if pair is None:
            return None
        end = pair.end()
        with suppress(ValueError, SyntaxError):  # an escape that is none
            found[str(literal_eval(pair[1]))] = _literal(pair[2])
    return found if whole else None


def _literal(word: str) -> Any:
    """Return what a word without quotation marks stands for: a number, a truth value, a text."""
    if _LITERAL.fullmatch(word):
        return float(word) if "." in word else int(word)
    return _TRUTH.get(word, word)


def alone(value: object) -> object:
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

"""Data as a script: a page that was opened from a file may fetch nothing."""

import json
from collections.abc import Mapping, Sequence
from typing import Any


def script(name: str, value: Mapping[str, Any] | Sequence[Any], notice: str) -> str:
    """Return a script that sets a global, with a notice of the data's licence before it.

    Parameters
    ----------
    name : str
        Of the global.
    value : mapping or sequence
        What JSON can hold.
    notice : str
        On the licence of the data.

    Returns
    -------
    str
        JavaScript.
    """
    return f"/* {notice} */\nwindow.{name} = {compact(value)};\n"


def compact(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """Return JSON without spaces; the same value gives the same text.

    Parameters
    ----------
    value : mapping or sequence
        What JSON can hold.

    Returns
    -------
    str
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

"""Data as a script, since a page that was opened from a file cannot fetch data."""

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any


def script(name: str, value: Mapping[str, Any] | Sequence[Any], notice: str) -> str:
    """Return a script that sets a global, with a notice of the data's licence before it."""
    return f"{_comment(notice)}\nwindow.{name} = {compact(value)};\n"


def packed_script(name: str, value: Mapping[str, Any] | Sequence[Any], notice: str) -> str:
    """Return a script that sets a global to compressed data, for data that are large.

    The data are JSON, compressed by zlib, in base64 since a script is text. The notice of their
    licence stays readable.
    """
    data = b64encode(zlib.compress(compact(value).encode(), level=9)).decode()
    return f'{_comment(notice)}\nwindow.{name} = "{data}";\n'


def _comment(notice: str) -> str:
    """Return a comment of JavaScript, which no text in it can end."""
    return f"/* {notice.replace('*/', '* /')} */"


def compact(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """Return JSON without spaces, always the same for the same value."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

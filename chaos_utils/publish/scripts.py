"""Data as a script: a page that was opened from a file may fetch nothing."""

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any


def script(name: str, value: Mapping[str, Any] | Sequence[Any], notice: str) -> str:
    """Return a script that sets a global, with a notice of the data's licence before it."""
    return f"{_comment(notice)}\nwindow.{name} = {compact(value)};\n"


def packed_script(name: str, value: Mapping[str, Any] | Sequence[Any], notice: str) -> str:
    """Return a script that sets a global to packed data, where these would weigh most.

    A script holds text alone: the data are JSON, made smaller by zlib, and written in base64. The
    notice of their licence stays readable.
    """
    data = b64encode(zlib.compress(compact(value).encode(), level=9)).decode()
    return f'{_comment(notice)}\nwindow.{name} = "{data}";\n'


def _comment(notice: str) -> str:
    return f"/* {notice.replace('*/', '* /')} */"


def compact(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """Return JSON without spaces; the same value gives the same text."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

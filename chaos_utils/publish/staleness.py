"""Stale chapters: what they were made from has changed since.

A build makes every chapter anew that has changed. A site can still be made with a chapter
that is behind its sources, by ``chaos site``; what such a chapter published says so then.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from chaos_utils.base import paths
from chaos_utils.publish import dependencies
from chaos_utils.report.runner import RECORD_FILE

# A PNG or PDF cannot be marked after it was drawn, not simply: a stale figure has none.
SITE_FILE = "site.json"  # below _build: what the site was made from
_MARKED = ("svg", "csv", "json")


def changed_since(chapter: str) -> list[str]:
    """Return the names of what has changed or vanished since a chapter was made.

    They are such as ``chaos_utils/base/style.py``; there are none when the chapter is current. A
    chapter whose record is missing is behind in everything.
    """
    record = paths.build() / "chapters" / chapter / RECORD_FILE
    if not record.is_file():
        return [RECORD_FILE]
    made = json.loads(record.read_text("utf-8"))
    now = dependencies.digests(paths.notebooks() / f"{chapter}.py", made["parameters"]["data"])
    return _changed(made.get("made_from", {}), now)


def pages_changed_since() -> list[str]:
    """Return the names of what has changed or vanished since the site was made.

    They are as in `changed_since`, without what chapters are made from.
    """
    record = paths.build() / SITE_FILE
    if not record.is_file():
        return [SITE_FILE]
    return _changed(json.loads(record.read_text("utf-8")), dependencies.digests_of_pages())


def _changed(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))


def marked(manifest: Mapping[str, Any], changed: Sequence[str]) -> dict[str, Any]:
    """Return a copy of a manifest that says what has changed, and offers only marked files.

    Where nothing has changed, the copy is the same.
    """
    if not changed:
        return dict(manifest)
    some = ", ".join(f"`{name}`" for name in changed[:3]) + (" and others" * (len(changed) > 3))
    return dict(manifest) | {
        "stale": list(changed),
        "caption": f"Stale, made before {some} changed. {manifest['caption']}",
        "formats": [format for format in manifest["formats"] if format in _MARKED],
    }

"""What a page may load and run: the last guard, where a text of others is no mere text after all.

A page takes nothing from elsewhere, and runs no script but files of its own site and the scripts
that stand in its frame, by their digests.
"""

import base64
import hashlib
import re

_HEAD = re.compile(r'<meta charset="utf-8" ?/?>', re.IGNORECASE)
_SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script>", re.DOTALL | re.IGNORECASE)
_IS_RUN = re.compile(r"^(?!.*\b(?:src|type)=)|type=.text/javascript", re.DOTALL)
_SINGLE_PAGE = {
    "default-src": "'none'",
    "style-src": "'unsafe-inline'",
    "img-src": "data:",
    "font-src": "data:",
    "base-uri": "'none'",
    "form-action": "'none'",
}
_OF_SITE = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
}


def with_single_page_policy(page: str) -> str:
    """Return a page of one file with its policy: it runs no script and loads nothing."""
    return _insert_policy(page, _SINGLE_PAGE)


def with_site_policy(page: str, content: str = "") -> str:
    """Return a page of a site with its policy.

    `content` is the part of the page in which texts of others may stand: a script in it does not
    run.
    """
    frame = _inline(page) - _inline(content)
    digests = sorted(f"'sha256-{_digest(script)}'" for script in frame)
    return _insert_policy(
        page, _OF_SITE | {"script-src": " ".join([_OF_SITE["script-src"], *digests])}
    )


def _inline(html: str) -> set[str]:
    return {script for about, script in _SCRIPT.findall(html) if _IS_RUN.search(about)}


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _insert_policy(page: str, policy: dict[str, str]) -> str:
    """Set a policy before all that it is about; a page without a place for it is an error."""
    said = "; ".join(f"{name} {sources}" for name, sources in policy.items())
    meta = f'<meta http-equiv="Content-Security-Policy" content="{said}">'
    changed, n = _HEAD.subn(lambda charset: f"{charset[0]}\n{meta}", page, count=1)
    if not n:
        raise ValueError('a page has no `<meta charset="utf-8">`, behind which its policy stands')
    return changed

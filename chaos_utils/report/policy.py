"""What a page may load and run: the last guard, should a text of others turn out to be markup.

A page loads nothing from elsewhere. It runs the script files of its own site, and the inline
scripts of its frame, which the policy allows by their digests.
"""

import base64
import hashlib
import re

_CHARSET = re.compile(r'<meta charset="utf-8" ?/?>', re.IGNORECASE)
_SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script>", re.DOTALL | re.IGNORECASE)
_IS_JAVASCRIPT = re.compile(r"^(?!.*\b(?:src|type)=)|type=.text/javascript", re.DOTALL)
_SINGLE_PAGE = {
    "default-src": "'none'",
    "style-src": "'unsafe-inline'",
    "img-src": "data:",
    "font-src": "data:",
    "base-uri": "'none'",
    "form-action": "'none'",
}
_SITE = {
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
    """Return a page that is one file with its policy: it runs no script and loads nothing."""
    return _insert_policy(page, _SINGLE_PAGE)


def with_site_policy(page: str, content: str = "") -> str:
    """Return a page of a site with its policy.

    `content` is the part of the page in which texts of others may stand: a script in it does not
    run.
    """
    frame_scripts = _inline_scripts(page) - _inline_scripts(content)
    digests = sorted(f"'sha256-{_digest(script)}'" for script in frame_scripts)
    return _insert_policy(page, _SITE | {"script-src": " ".join([_SITE["script-src"], *digests])})


def _inline_scripts(html: str) -> set[str]:
    return {
        script for attributes, script in _SCRIPT.findall(html) if _IS_JAVASCRIPT.search(attributes)
    }


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _insert_policy(page: str, policy: dict[str, str]) -> str:
    """Put a policy at the head of a page, before all that it governs; ValueError without a head."""
    directives = "; ".join(f"{name} {sources}" for name, sources in policy.items())
    meta = f'<meta http-equiv="Content-Security-Policy" content="{directives}">'
    changed, n = _CHARSET.subn(lambda charset: f"{charset[0]}\n{meta}", page, count=1)
    if not n:
        raise ValueError('a page has no `<meta charset="utf-8">`, behind which its policy stands')
    return changed

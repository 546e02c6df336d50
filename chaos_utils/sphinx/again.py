"""Which pages an incremental build reads again, and which it writes again.

A page is read again when the bytes of its source, or of a file that it depends on, have changed,
whatever their time. It is written again when it was read again; all pages are written again when
what pages show of each other has changed.
"""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from chaos_utils.base.files import read_mapping, write_json
from chaos_utils.base.inputs import digest

_FILE = "sources.json"  # beside the doctrees: a digest for each page, and one for `_SHARED`
_SHARED = "what pages show of others"  # a key, which is no page's name
_GLOSSARY = "glossary"  # whose terms other pages explain
# Data of Sphinx's domains that hold what other pages refer to.
_REFERENCE_DATA = {
    "py": ("objects",), "std": ("objects", "labels", "anonlabels", "terms"), "math": ("objects",),
}  # fmt: skip


def _digest_file(app: Sphinx) -> Path:
    return Path(app.doctreedir) / _FILE


def _source_digests(env: BuildEnvironment, names: Iterable[str]) -> dict[str, str]:
    """Return a digest of the source and dependencies of each of these pages, by its name."""
    digests = {}
    for name in names:
        dependencies = sorted(Path(env.srcdir, path) for path in env.dependencies[name])
        files = [path for path in (Path(env.doc2path(name)), *dependencies) if path.is_file()]
        lines = "".join(f"{path} {digest(path)}\n" for path in files)
        digests[name] = hashlib.sha256(lines.encode()).hexdigest()
    return digests


def _outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Return the pages that must be read again.

    Take out of `changed` those whose files have another time but the same content.
    """
    then, now = read_mapping(_digest_file(app)), _source_digests(env, env.all_docs.keys() - removed)
    same = {name for name in now if then.get(name) == now[name]} - env.reread_always
    changed -= {name for name in same if Path(env.doctreedir, f"{name}.doctree").is_file()}
    return [name for name in now if name not in same]


def _forget_pages(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Remove the digests of pages that are read now: they are written when the build succeeds."""
    then = read_mapping(_digest_file(app))
    write_json(_digest_file(app), {name: then[name] for name in then if name not in docnames})


def _write_digests(app: Sphinx, exception: Exception | None) -> None:
    """Write the digests of all pages, if the build has succeeded."""
    if exception is None and app.statuscode == 0:
        env = app.env
        write_json(
            _digest_file(app), _source_digests(env, env.all_docs) | {_SHARED: _shared_digest(env)}
        )


def _rewritten_pages(app: Sphinx, env: BuildEnvironment) -> Iterable[str]:
    """Return all pages if what pages show of each other has changed, else none."""
    return (
        ()
        if read_mapping(_digest_file(app)).get(_SHARED) == _shared_digest(env)
        else env.found_docs
    )


def _shared_digest(env: BuildEnvironment) -> str:
    """Return a digest of what pages show of others: titles, numbers, targets, terms."""
    references = env.domaindata.get("cite", {"citation_refs": (), "citations": ()})
    cited = {target.key for ref in references["citation_refs"] for target in ref.targets}
    ids = [(citation.key, citation.citation_id) for citation in references["citations"]]
    glossary = _source_digests(env, {_GLOSSARY} & env.found_docs)
    shared: list[Any] = [env.titles, env.longtitles, env.toc_fignumbers, env.toc_secnumbers]
    shared += [env.toctree_includes, cited, ids, glossary]
    shared += [env.domaindata[domain].get(kind) for domain in _REFERENCE_DATA
               for kind in _REFERENCE_DATA[domain]]  # fmt: skip
    return hashlib.sha256("\n".join(_texts(shared)).encode()).hexdigest()


def _texts(value: object) -> Iterator[str]:
    """Yield the parts of a nested value as text, in an order that does not depend on insertion."""
    if isinstance(value, dict):
        for key, part in sorted(value.items(), key=repr):
            yield repr(key)
            yield from _texts(part)
    elif isinstance(value, set):
        yield repr(sorted(value))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
    else:
        yield value.pformat() if isinstance(value, nodes.Node) else repr(value)


def _remove_leftovers(app: Sphinx) -> None:
    """Remove what MyST-NB left at the last build's end: pages are then those of a first build."""
    for path in (Path(app.outdir) / "_static").glob("mystnb.*.css"):
        path.unlink()


def setup(app: Sphinx) -> None:
    """Connect to Sphinx's events; `_rewritten_pages` after figures and sections have numbers."""
    app.connect("builder-inited", _remove_leftovers)
    app.connect("env-get-outdated", _outdated)
    app.connect("env-before-read-docs", _forget_pages)
    app.connect("env-get-updated", _rewritten_pages, priority=900)
    app.connect("build-finished", _write_digests, priority=950)
